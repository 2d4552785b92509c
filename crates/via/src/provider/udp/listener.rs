//! Listening on a UDP port: requests arrive here, and each accepted one gets a socket of its own on
//! the same port.
//!
//! A request whose source may be forged is answered by a token and forgotten. So datagrams of
//! unproved peers cost their processing, and nothing that lasts.

use super::Options;
use super::link::UdpLink;
use super::reports::PortReports;
use super::requests::{RequestName, Requests, Revocation, Treatment};
use super::socket::{Arrived, ListeningSocket};
use crate::notice::poll_fds;
use crate::reliable::{Answering, Judged, Tokens, accept_while, packet};
use crate::spi::{Incoming, Listening, Offer, Port};
use crate::sync::lock;
use crate::wrap::FaultLink;
use crate::{Deadline, Error};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A listening socket.
#[derive(Debug)]
pub(super) struct UdpListener {
    shared: Arc<Shared>,
    options: Options,
    tokens: Tokens,
    // The start of the tokens' time.
    start: Instant,
}

#[derive(Debug)]
struct Shared {
    socket: ListeningSocket,
    requests: Mutex<Requests>,
}

impl UdpListener {
    pub(super) fn bind(address: SocketAddr, options: &Options) -> Result<Self, Error> {
        let socket = ListeningSocket::bind(address, options.buffer)?;
        let shared = Arc::new(Shared { socket, requests: Mutex::default() });
        let tokens = Tokens::new(super::random()?);
        Ok(Self { shared, options: options.clone(), tokens, start: Instant::now() })
    }

    /// Answers a datagram, unless it is a new request of a proved peer, which is returned.
    fn take(&mut self, datagram: &[u8], Arrived { from, at, .. }: Arrived) -> Option<UdpIncoming> {
        let socket = &self.shared.socket;
        let answering = match self.tokens.judge(self.start.elapsed().as_nanos() as u64, from, datagram)? {
            Judged::Proved(answering) => answering,
            Judged::Unproved(retry) => {
                socket.send(&retry, from, at);
                return None;
            }
        };
        let treatment = lock(&self.shared.requests).arrived(Instant::now(), (from, answering.id()));
        match treatment {
            Treatment::Answer(revocation) => {
                let (shared, options) = (Arc::clone(&self.shared), self.options.clone());
                return Some(UdpIncoming { shared, options, from, at, revocation, answering: Some(answering) });
            }
            Treatment::Repeat(rejection) => {
                if let Some(rejection) = rejection {
                    socket.send(&rejection, from, at);
                }
            }
            Treatment::Refuse(why) => {
                socket.send(&answering.reject(why), from, at);
                if let Some(observe) = self.options.refusal_observer {
                    observe(from.ip());
                }
            }
        }
        None
    }
}

impl Listening for UdpListener {
    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Incoming>, Error> {
        let deadline = deadline.start();
        let mut bytes = [0; packet::HANDSHAKE_MAX];
        loop {
            while let Some(arrived) = self.shared.socket.receive(&mut bytes) {
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
            poll_fds(&[self.shared.socket.file()], deadline, None)?;
        }
    }

    fn address(&self) -> String {
        self.shared.socket.local().to_string()
    }
}

/// A peer's connection request.
#[derive(Debug)]
struct UdpIncoming {
    shared: Arc<Shared>,
    options: Options,
    from: SocketAddr,
    // The address of this host that the peer has used.
    at: SocketAddr,
    revocation: Arc<Revocation>,
    // `None` once the request is answered.
    answering: Option<Answering>,
}

impl UdpIncoming {
    /// Makes the connection, unless the request has to yield meanwhile.
    fn open(&self, answering: &Answering, own: &Offer, deadline: Deadline) -> Result<Box<dyn Port>, Error> {
        let revoked = || self.revocation.get().map(|why| Error::Refused { why: (*why).to_owned() });
        if let Some(revoked) = revoked() {
            return Err(revoked);
        }
        let is_wanted = || self.revocation.get().is_none();
        let link = UdpLink::connect(self.from, Some(self.at), self.options.buffer, PortReports::default())?;
        let settings = self.options.settings(link.window());
        let id = u64::from_le_bytes(super::random()?);
        let opened = match &self.options.fault {
            None => accept_while(link, &settings, id, answering, own, deadline, is_wanted).map(boxed),
            // The number differs from the peer's, so that the two ends lose different datagrams.
            Some(fault) => {
                let link = FaultLink::new(link, fault, 1)?;
                accept_while(link, &settings, id, answering, own, deadline, is_wanted).map(boxed)
            }
        };
        opened.map_err(|error| revoked().unwrap_or(error))
    }

    fn name(&self, answering: &Answering) -> RequestName {
        (self.from, answering.id())
    }

    /// Rejects the request. If the rejection gets lost, the next repetition of the request is
    /// rejected again.
    fn refuse(&self, answering: &Answering, why: &str) {
        let rejection = Arc::<[u8]>::from(answering.reject(why));
        self.shared.socket.send(&rejection, self.from, self.at);
        lock(&self.shared.requests).answered(Instant::now(), self.name(answering), Some(rejection));
    }
}

fn boxed(port: impl Port + 'static) -> Box<dyn Port> {
    Box::new(port)
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
        let opened = self.open(&answering, own, deadline);
        match &opened {
            Ok(_) => lock(&self.shared.requests).answered(Instant::now(), self.name(&answering), None),
            Err(Error::Refused { why }) => self.refuse(&answering, why),
            Err(error) => self.refuse(&answering, &error.to_string()),
        }
        opened
    }

    fn reject(mut self: Box<Self>, why: &str) {
        if let Some(answering) = self.answering.take() {
            self.refuse(&answering, why);
        }
    }
}

impl Drop for UdpIncoming {
    fn drop(&mut self) {
        if let Some(answering) = self.answering.take() {
            self.refuse(&answering, "the request was dropped");
        }
    }
}

#[cfg(test)]
mod tests;
