//! Listening on a UDP port: requests arrive here, and each accepted one gets a socket of its own on
//! the same port.

use super::Options;
use super::link::UdpLink;
use crate::notice::poll_fds;
use crate::reliable::{Answering, accept, packet};
use crate::spi::{Incoming, Listening, Offer, Port};
use crate::sync::lock;
use crate::wrap::FaultLink;
use crate::{Deadline, Error};
use rustix::fd::OwnedFd;
use rustix::net::sockopt;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The time for which a request is remembered, to recognize its repetitions: longer than any peer
/// repeats one.
const KNOWN: Duration = Duration::from_secs(60);
/// The maximum number of requests remembered; further ones are dropped, and will be repeated.
const KNOWN_MAX: usize = 4096;

/// A listening socket.
#[derive(Debug)]
pub(super) struct UdpListener {
    shared: Arc<Shared>,
    options: Options,
}

#[derive(Debug)]
struct Shared {
    socket: UdpSocket,
    file: OwnedFd,
    local: SocketAddr,
    known: Mutex<HashMap<(SocketAddr, u64), Known>>,
}

/// A received request.
#[derive(Debug)]
struct Known {
    came: Instant,
    rejection: Option<Vec<u8>>,
}

impl UdpListener {
    pub(super) fn bind(address: SocketAddr, options: &Options) -> Result<Self, Error> {
        let socket = UdpSocket::bind(address).map_err(|source| match source.kind() {
            std::io::ErrorKind::AddrInUse => Error::NameInUse { name: address.to_string(), pid: None },
            _ => Error::System { doing: "binding a UDP socket", source },
        })?;
        // Set after the bind: before, the bind would have joined another listener's port. From now
        // on only sockets of this user may join.
        sockopt::set_socket_reuseport(&socket, true).map_err(Error::system("sharing a UDP port"))?;
        socket.set_nonblocking(true).map_err(Error::io("making a UDP socket non-blocking"))?;
        let local = socket.local_addr().map_err(Error::io("reading a socket's address"))?;
        let file = socket.try_clone().map_err(Error::io("duplicating a socket"))?.into();
        let shared = Shared { socket, file, local, known: Mutex::default() };
        Ok(Self { shared: Arc::new(shared), options: options.clone() })
    }
}

impl Shared {
    /// Whether a request is new. Repetitions of a rejected request are rejected again.
    fn is_new(&self, from: SocketAddr, id: u64) -> bool {
        let mut known = lock(&self.known);
        if let Some(before) = known.get(&(from, id)) {
            if let Some(rejection) = &before.rejection {
                let _ = self.socket.send_to(rejection, from);
            }
            return false;
        }
        if known.len() >= KNOWN_MAX {
            known.retain(|_, request| request.came.elapsed() < KNOWN);
        }
        if known.len() >= KNOWN_MAX {
            return false;
        }
        known.insert((from, id), Known { came: Instant::now(), rejection: None });
        true
    }

    fn reject(&self, from: SocketAddr, answering: &Answering, why: &str) {
        let rejection = answering.reject(why);
        // If the rejection gets lost, the next repetition of the request is answered.
        let _ = self.socket.send_to(&rejection, from);
        let mut known = lock(&self.known);
        if let Some(request) = known.get_mut(&(from, answering.id())) {
            request.rejection = Some(rejection);
        }
    }

    /// Returns the local address of the socket for a peer that requested a connection with
    /// `wanted`. If the listener is bound to the wildcard address, `wanted` shows which address of
    /// this host the peer has used.
    fn own_address(&self, wanted: &str) -> SocketAddr {
        let mut own = self.local;
        if own.ip().is_unspecified()
            && let Ok(wanted) = wanted.parse::<SocketAddr>()
        {
            match (own, wanted.ip()) {
                (SocketAddr::V4(_), IpAddr::V4(ip)) => own.set_ip(ip.into()),
                (SocketAddr::V6(_), IpAddr::V6(ip)) => own.set_ip(ip.into()),
                (SocketAddr::V6(_), IpAddr::V4(ip)) => own.set_ip(ip.to_ipv6_mapped().into()),
                (SocketAddr::V4(_), IpAddr::V6(_)) => {}
            }
        }
        own
    }
}

impl Listening for UdpListener {
    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Incoming>, Error> {
        let deadline = deadline.start();
        let mut bytes = [0; packet::HANDSHAKE_MAX];
        loop {
            while let Ok((length, from)) = self.shared.socket.recv_from(&mut bytes) {
                if let Some(answering) = Answering::from_datagram(&bytes[..length])
                    && self.shared.is_new(from, answering.id())
                {
                    let (shared, options) = (Arc::clone(&self.shared), self.options.clone());
                    return Ok(Box::new(UdpIncoming { shared, options, from, answering: Some(answering) }));
                }
                if deadline.is_over() {
                    break;
                }
            }
            if deadline.is_over() {
                return Err(Error::TimedOut);
            }
            poll_fds(&[&self.shared.file], deadline, None)?;
        }
    }

    fn address(&self) -> String {
        self.shared.local.to_string()
    }
}

/// A peer's connection request.
#[derive(Debug)]
struct UdpIncoming {
    shared: Arc<Shared>,
    options: Options,
    from: SocketAddr,
    // `None` once the request is answered.
    answering: Option<Answering>,
}

impl Incoming for UdpIncoming {
    fn offer(&self) -> &Offer {
        const NONE: &Offer =
            &Offer { reliability: crate::Reliability::Unreliable, max_transfer: 0, private: Vec::new() };
        self.answering.as_ref().map_or(NONE, Answering::offer)
    }

    fn peer(&self) -> String {
        self.from.to_string()
    }

    fn accept(mut self: Box<Self>, own: &Offer, deadline: Deadline) -> Result<Box<dyn Port>, Error> {
        let Some(answering) = self.answering.take() else {
            return Err(Error::BadState { what: "the request was already answered" });
        };
        let wanted = self.shared.own_address(answering.discriminator());
        let link = UdpLink::connect(self.from, Some(wanted), self.options.buffer)
            // Address translation may have changed the address on the way. Then the system chooses
            // one.
            .or_else(|_| UdpLink::connect(self.from, Some(self.shared.local), self.options.buffer));
        let opened = link.and_then(|link| {
            let settings = self.options.settings(link.window());
            let id = super::random()?;
            match &self.options.fault {
                None => {
                    accept(link, &settings, id, &answering, own, deadline).map(|port| Box::new(port) as Box<dyn Port>)
                }
                // The number differs from the peer's, so that the two ends lose different
                // datagrams.
                Some(fault) => accept(FaultLink::new(link, fault, 1)?, &settings, id, &answering, own, deadline)
                    .map(|port| Box::new(port) as Box<dyn Port>),
            }
        });
        if let Err(error) = &opened {
            self.shared.reject(self.from, &answering, &error.to_string());
        }
        opened
    }

    fn reject(mut self: Box<Self>, why: &str) {
        if let Some(answering) = self.answering.take() {
            self.shared.reject(self.from, &answering, why);
        }
    }
}

impl Drop for UdpIncoming {
    fn drop(&mut self) {
        if let Some(answering) = self.answering.take() {
            self.shared.reject(self.from, &answering, "the request was dropped");
        }
    }
}
