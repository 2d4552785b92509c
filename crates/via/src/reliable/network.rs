//! A provider over any datagram network with addresses and ports: UDP, or a similar one.
//!
//! A listener has a port, and so has each end of a connection. A peer sends its request to the
//! listener's port. The acceptance comes from the port of the new connection, and has the request's
//! random id.

use super::packet::{self, Body};
use super::{Admission, AdmittedRequest, Link, RefusalObserver, Settings, accept, connect};
use crate::attributes::Attributes;
use crate::notice::poll_fds;
use crate::random::random;
use crate::spi::{Incoming, Listening, Offer, Port, Provider, Revocation};
use crate::sync::lock;
use crate::wrap::{Conditions, FaultLink};
use crate::{Deadline, Error};
use rustix::fd::OwnedFd;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

/// The maximum number of unusable datagrams dropped in one call, so that the caller can do other
/// work and look at the clock.
const UNUSABLE_MAX: usize = 32;

/// A network with ports.
pub trait Network: Send + Sync + fmt::Debug + 'static {
    /// The socket of a port.
    type Socket: DatagramSocket + 'static;

    /// Opens a port; 0 means any free port.
    ///
    /// # Errors
    ///
    /// [`Error::NameInUse`] for a port that is taken; an error of the system.
    fn socket(&self, port: u16) -> Result<Self::Socket, Error>;

    /// Returns the capabilities of VIs over the network.
    fn attributes(&self) -> &Attributes;

    /// Returns the settings of engines over the network.
    fn settings(&self) -> &Settings;

    /// Returns the artificial faults of the network at this end, if there are any.
    fn fault(&self) -> Option<&Conditions> {
        None
    }

    /// Returns the observer of refused connection requests, if there is one.
    fn refusal_observer(&self) -> Option<RefusalObserver> {
        None
    }
}

/// The socket of a port of a network.
pub trait DatagramSocket: Send + fmt::Debug {
    /// Returns the maximum length of a datagram, in bytes.
    fn mtu(&self) -> usize;

    /// Returns the socket's address and port.
    fn address(&self) -> SocketAddr;

    /// Restricts the socket to datagrams to and from this peer.
    fn set_peer(&mut self, peer: SocketAddr);

    /// Sends one datagram, which may get lost. Returns `false` when there is no room now, and the
    /// caller has to try again later.
    ///
    /// # Errors
    ///
    /// As [`Link::send`].
    fn send_to(&mut self, datagram: &[u8], to: SocketAddr) -> Result<bool, Error>;

    /// Receives the next datagram, if one has arrived, and returns its length and its sender.
    ///
    /// # Errors
    ///
    /// As [`Link::receive`].
    fn receive_from(&mut self, into: &mut [u8]) -> Result<Option<(usize, SocketAddr)>, Error>;

    /// Returns a file that is readable from now on whenever a datagram has arrived. `None` if the
    /// socket has to be polled.
    fn file(&self) -> Option<Arc<OwnedFd>>;

    /// As [`Link::prepare_sleep`].
    fn prepare_sleep(&mut self) -> Option<Arc<OwnedFd>> {
        self.file()
    }

    /// As [`Link::end_sleep`].
    fn end_sleep(&mut self) {}
}

/// A provider of VIs over a network.
#[derive(Debug)]
pub struct NetworkProvider<N> {
    network: Arc<N>,
}

impl<N: Network> NetworkProvider<N> {
    /// Makes a provider over this network.
    pub fn new(network: N) -> Self {
        Self { network: Arc::new(network) }
    }
}

impl<N: Network> Provider for NetworkProvider<N> {
    fn attributes(&self) -> &Attributes {
        self.network.attributes()
    }

    /// Listens on a port. The discriminator is the port's number; 0 or an empty discriminator means
    /// any free port.
    fn listen(&self, discriminator: &str) -> Result<Box<dyn Listening>, Error> {
        let port = if discriminator.is_empty() { Ok(0) } else { discriminator.parse() };
        let port = port
            .map_err(|_| bad_address(discriminator, "expected the number of a port as the listener's discriminator"))?;
        let socket = self.network.socket(port)?;
        let (address, file, datagram) = (socket.address(), socket.file(), vec![0; socket.mtu()]);
        let admission = Admission::new(self.network.refusal_observer())?;
        let (network, socket) = (Arc::clone(&self.network), Arc::new(Mutex::new(socket)));
        Ok(Box::new(Listener { network, socket, admission, address, file, datagram }))
    }

    fn connect(&self, address: &str, own: &Offer, deadline: Deadline) -> Result<(Box<dyn Port>, Offer), Error> {
        let peer = address.parse().map_err(|_| bad_address(address, "expected an IP address, a colon and a port"))?;
        let (socket, id) = (self.network.socket(0)?, u64::from_le_bytes(random()?));
        let link = NetworkLink { socket, peer, request_id: Some(id) };
        let settings = self.network.settings();
        match self.network.fault() {
            None => connect(link, settings, id, "", own, deadline).map(boxed),
            Some(fault) => connect(FaultLink::new(link, fault, 0)?, settings, id, "", own, deadline).map(boxed),
        }
    }
}

fn boxed<P: Port + 'static>((port, offer): (P, Offer)) -> (Box<dyn Port>, Offer) {
    (Box::new(port), offer)
}

fn bad_address(text: &str, why: &'static str) -> Error {
    Error::BadAddress { text: text.to_owned(), why }
}

/// A socket with a peer.
#[derive(Debug)]
struct NetworkLink<S> {
    socket: S,
    peer: SocketAddr,
    // The id of the request, until the port of the peer's connection is known.
    request_id: Option<u64>,
}

impl<S: DatagramSocket> Link for NetworkLink<S> {
    fn mtu(&self) -> usize {
        self.socket.mtu()
    }

    fn send(&mut self, datagram: &[u8]) -> Result<bool, Error> {
        self.socket.send_to(datagram, self.peer)
    }

    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Error> {
        for _ in 0..UNUSABLE_MAX {
            let Some((length, from)) = self.socket.receive_from(into)? else { return Ok(None) };
            if let Some(id) = self.request_id
                && from.ip() == self.peer.ip()
                && is_acceptance(&into[..length], id)
            {
                (self.peer, self.request_id) = (from, None);
                self.socket.set_peer(from);
            }
            if from == self.peer {
                return Ok(Some(length));
            }
        }
        Ok(None)
    }

    fn file(&self) -> Option<Arc<OwnedFd>> {
        self.socket.file()
    }

    fn prepare_sleep(&mut self) -> Option<Arc<OwnedFd>> {
        self.socket.prepare_sleep()
    }

    fn end_sleep(&mut self) {
        self.socket.end_sleep();
    }

    fn peer(&self) -> String {
        self.peer.to_string()
    }

    fn local(&self) -> Option<String> {
        Some(self.socket.address().to_string())
    }
}

/// Whether the datagram accepts the request `id`. Only hosts that have seen the request can know
/// the id.
fn is_acceptance(datagram: &[u8], id: u64) -> bool {
    packet::parse(datagram).is_ok_and(|(header, body)| header.to == id && matches!(body, Body::Accept { .. }))
}

#[derive(Debug)]
struct Listener<N: Network> {
    network: Arc<N>,
    socket: Arc<Mutex<N::Socket>>,
    admission: Admission,
    address: SocketAddr,
    file: Option<Arc<OwnedFd>>,
    datagram: Vec<u8>,
}

impl<N: Network> Listener<N> {
    /// Returns the next new request of a peer with a proved address, if one is among the next
    /// datagrams.
    fn next(&mut self) -> Option<AdmittedRequest> {
        for _ in 0..UNUSABLE_MAX {
            let mut socket = lock(&self.socket);
            // An error concerns a single datagram. Later calls receive the other datagrams.
            let Ok(Some((length, from))) = socket.receive_from(&mut self.datagram) else { break };
            let send = |answer: &[u8]| drop(socket.send_to(answer, from));
            let request = self.admission.take(from, &self.datagram[..length], send);
            drop(socket);
            self.admission.report();
            if request.is_some() {
                return request;
            }
        }
        None
    }
}

impl<N: Network> Listening for Listener<N> {
    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Incoming>, Error> {
        let deadline = deadline.start();
        loop {
            if let Some(request) = self.next() {
                let (network, socket) = (Arc::clone(&self.network), Arc::clone(&self.socket));
                return Ok(Box::new(ReceivedRequest { network, socket, request }));
            }
            if deadline.is_over() {
                return Err(Error::TimedOut);
            }
            match &self.file {
                Some(file) => poll_fds(&[file], deadline, None)?,
                None => std::thread::sleep(super::open::POLL_INTERVAL),
            }
        }
    }

    fn address(&self) -> String {
        self.address.to_string()
    }
}

/// A received request.
#[derive(Debug)]
struct ReceivedRequest<N: Network> {
    network: Arc<N>,
    // The listener's socket.
    socket: Arc<Mutex<N::Socket>>,
    request: AdmittedRequest,
}

impl<N: Network> ReceivedRequest<N> {
    fn refuse(&mut self, why: &str) {
        let Self { socket, request, .. } = self;
        let from = request.source();
        request.refuse(why, |answer| drop(lock(socket).send_to(answer, from)));
    }
}

impl<N: Network> Incoming for ReceivedRequest<N> {
    fn offer(&self) -> &Offer {
        self.request.offer()
    }

    fn peer(&self) -> String {
        self.request.source().to_string()
    }

    fn accept(mut self: Box<Self>, own: &Offer, deadline: Deadline) -> Result<Box<dyn Port>, Error> {
        let Self { network, socket: listening, request } = &mut *self;
        let from = request.source();
        request.accept(
            |answering, is_wanted| {
                let (mut socket, id) = (network.socket(0)?, u64::from_le_bytes(random()?));
                socket.set_peer(from);
                let link = NetworkLink { socket, peer: from, request_id: None };
                let settings = network.settings();
                match network.fault() {
                    None => {
                        accept(link, settings, id, answering, own, deadline, is_wanted).map(|port| Box::new(port) as _)
                    }
                    // The last argument is the number of this end. The two ends have different
                    // numbers, so that they lose different datagrams.
                    Some(fault) => {
                        let link = FaultLink::new(link, fault, 1)?;
                        accept(link, settings, id, answering, own, deadline, is_wanted).map(|port| Box::new(port) as _)
                    }
                }
            },
            |answer| drop(lock(listening).send_to(answer, from)),
        )
    }

    fn revocation(&self) -> Option<Arc<Revocation>> {
        Some(self.request.revocation())
    }

    fn reject(mut self: Box<Self>, why: &str) {
        self.refuse(why);
    }
}

impl<N: Network> Drop for ReceivedRequest<N> {
    fn drop(&mut self) {
        self.refuse("the request was dropped");
    }
}

#[cfg(test)]
mod tests;
