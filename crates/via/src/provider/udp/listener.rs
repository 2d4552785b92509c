//! Listening on a UDP port: requests arrive here, and each accepted one gets a socket of its own on
//! the same port.

use super::Options;
use super::connections::Connections;
use super::link::UdpLink;
use super::socket::{Arrived, ListeningSocket};
use crate::notice::poll_fds;
use crate::random::random;
use crate::reliable::{Admission, AdmittedRequest, accept, packet};
use crate::spi::{Incoming, Listening, Offer, Port, Revocation};
use crate::wrap::FaultLink;
use crate::{Deadline, Error};
use std::net::SocketAddr;
use std::sync::Arc;

/// A listening socket.
#[derive(Debug)]
pub(super) struct UdpListener {
    socket: Arc<ListeningSocket>,
    options: Options,
    admission: Admission,
    connections: Arc<Connections>,
}

impl UdpListener {
    pub(super) fn bind(address: SocketAddr, options: &Options) -> Result<Self, Error> {
        let socket = Arc::new(ListeningSocket::bind(address, options.buffer)?);
        let (options, admission) = (options.clone(), Admission::new(options.refusal_observer)?);
        Ok(Self { socket, options, admission, connections: Arc::default() })
    }

    /// Returns a new request of a peer whose address is proved. Answers any other datagram, if an
    /// answer is due.
    fn take(&mut self, datagram: &[u8], Arrived { from, at, .. }: Arrived) -> Option<UdpIncoming> {
        let Self { socket, options, admission, connections } = self;
        let send = |answer: &[u8]| socket.send(answer, from, at);
        let judge = |ids, seal| connections.judge(ids, from, (seal, datagram));
        if let Some((own, time)) = admission.moved(from, datagram, judge, send) {
            connections.move_to(own, from, time);
        }
        let request = admission.take(from, datagram, send);
        admission.report();
        let request = request?;
        let (socket, options, connections) = (Arc::clone(socket), options.clone(), Arc::clone(connections));
        Some(UdpIncoming { socket, options, at, request, connections })
    }
}

impl Listening for UdpListener {
    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Incoming>, Error> {
        let deadline = deadline.start();
        let mut bytes = [0; packet::HANDSHAKE_MAX];
        loop {
            while let Some(arrived) = self.socket.receive(&mut bytes) {
                if let Some(incoming) = self.take(&bytes[..arrived.length], arrived) {
                    return Ok(Box::new(incoming));
                }
                if deadline.is_over() {
                    break;
                }
            }
            if deadline.is_over() {
                return Err(Error::TimedOut);
            }
            poll_fds(&[self.socket.file()], deadline, None)?;
        }
    }

    fn address(&self) -> String {
        self.socket.local().to_string()
    }
}

/// A peer's connection request.
#[derive(Debug)]
struct UdpIncoming {
    socket: Arc<ListeningSocket>,
    options: Options,
    // The address of this host that the peer has used.
    at: SocketAddr,
    request: AdmittedRequest,
    connections: Arc<Connections>,
}

impl UdpIncoming {
    fn refuse(&mut self, why: &str) {
        let Self { socket, at, request, .. } = self;
        let from = request.source();
        request.refuse(why, |answer| socket.send(answer, from, *at));
    }
}

impl Incoming for UdpIncoming {
    fn offer(&self) -> &Offer {
        self.request.offer()
    }

    fn peer(&self) -> String {
        self.request.source().to_string()
    }

    fn accept(mut self: Box<Self>, own: &Offer, deadline: Deadline) -> Result<Box<dyn Port>, Error> {
        let Self { socket, options, at, request, connections } = &mut *self;
        let from = request.source();
        request.accept(
            |answering, is_wanted| {
                let link = UdpLink::to_client(from, *at, options.buffer, Arc::clone(connections))?;
                let settings = options.settings(link.window());
                let id = u64::from_le_bytes(random()?);
                match &options.fault {
                    None => {
                        accept(link, &settings, id, answering, own, deadline, is_wanted).map(|port| Box::new(port) as _)
                    }
                    // The last argument is the number of this end. The two ends have different
                    // numbers, so that they lose different datagrams.
                    Some(fault) => {
                        let link = FaultLink::new(link, fault, 1)?;
                        accept(link, &settings, id, answering, own, deadline, is_wanted).map(|port| Box::new(port) as _)
                    }
                }
            },
            |answer| socket.send(answer, from, *at),
        )
    }

    fn revocation(&self) -> Option<Arc<Revocation>> {
        Some(self.request.revocation())
    }

    fn reject(mut self: Box<Self>, why: &str) {
        self.refuse(why);
    }
}

impl Drop for UdpIncoming {
    fn drop(&mut self) {
        self.refuse("the request was dropped");
    }
}

#[cfg(test)]
mod tests;
