//! The admission of connection requests, for listeners over any datagrams.
//!
//! A request whose source may be forged is answered by a token and forgotten. So a datagram of a
//! peer whose address is not proved costs processing time, but no memory.

use super::handshake::Answering;
use super::moved::{self, Claimed};
use super::packet::{self, Body, MOVED_LENGTH, MoveSeal, SEALED_MOVED_LENGTH};
use super::requests::{Requests, Treatment};
use super::token::{Judged, Moved, Tokens};
use crate::Error;
use crate::random::random;
use crate::spi::{Offer, Revocation};
use crate::sync::lock;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A function that gets the host of each connection request that a listener refuses because too
/// many requests are being answered.
pub type RefusalObserver = fn(IpAddr);

/// The state by which a listener admits or refuses requests and claims.
#[derive(Debug)]
pub(crate) struct Admission {
    tokens: Tokens,
    // The instant from which the tokens' times count.
    start: Instant,
    requests: Arc<Mutex<Requests>>,
    observer: Option<RefusalObserver>,
    // The host of a refused request that has not been reported to the observer yet.
    refused: Option<IpAddr>,
}

impl Admission {
    /// Creates the admission of a listener that has received no request.
    pub(crate) fn new(observer: Option<RefusalObserver>) -> Result<Self, Error> {
        let (tokens, start, requests) = (Tokens::new(random()?), Instant::now(), Arc::default());
        Ok(Self { tokens, start, requests, observer, refused: None })
    }

    /// Processes a client's claim to have moved to `from`. `judge` gets the ids of the connection
    /// at this end and at the client, and the claim's seal. Returns this end's id and the time of
    /// the client's token if the client has moved. Otherwise, an answer may be sent by `send`.
    pub(crate) fn moved(
        &mut self,
        from: SocketAddr,
        datagram: &[u8],
        judge: impl FnOnce([u64; 2], Option<MoveSeal>) -> Claimed,
        send: impl FnOnce(&[u8]),
    ) -> Option<(u64, u64)> {
        if ![MOVED_LENGTH, SEALED_MOVED_LENGTH].contains(&datagram.len()) {
            return None;
        }
        let Ok((header, Body::Moved { from: client, token, seal })) = packet::parse(datagram) else { return None };
        let ids = [header.to, client];
        match judge(ids, seal) {
            Claimed::Allowed => {}
            Claimed::Forbidden => return None,
            Claimed::Unknown => {
                send(&moved::rejection(client)?);
                return None;
            }
        }
        match self.tokens.judge_moved(self.start.elapsed().as_nanos() as u64, from, &token, ids)? {
            Moved::Proved(number) => Some((header.to, number)),
            Moved::Unproved(retry) => {
                send(&retry);
                None
            }
        }
    }

    /// Returns a new request of a peer whose address is proved. Answers any other datagram by
    /// `send`, if an answer is due.
    pub(crate) fn take(
        &mut self,
        from: SocketAddr,
        datagram: &[u8],
        send: impl FnOnce(&[u8]),
    ) -> Option<AdmittedRequest> {
        let answering = match self.tokens.judge(self.start.elapsed().as_nanos() as u64, from, datagram)? {
            Judged::Proved(answering) => answering,
            Judged::Unproved(retry) => {
                send(&retry);
                return None;
            }
        };
        let treatment = lock(&self.requests).arrived(Instant::now(), (from, answering.id()));
        match treatment {
            Treatment::Answer(revocation) => {
                let (requests, observer) = (Arc::clone(&self.requests), self.observer);
                return Some(AdmittedRequest { requests, observer, from, revocation, answering: Some(answering) });
            }
            Treatment::Repeat(rejection) => {
                if let Some(rejection) = rejection {
                    send(&rejection);
                }
            }
            Treatment::Refuse(why) => {
                send(&answering.reject(why));
                self.refused = Some(from.ip());
            }
        }
        None
    }

    /// Tells the observer of the last refusal, unless the observer was told already. The observer
    /// may be slow, so the caller holds no lock.
    pub(crate) fn report(&mut self) {
        if let (Some(host), Some(observe)) = (self.refused.take(), self.observer) {
            observe(host);
        }
    }

    /// Lets time pass for the tokens.
    #[cfg(test)]
    pub(crate) fn age(&mut self, span: std::time::Duration) {
        self.start = self.start.checked_sub(span).unwrap();
    }

    /// Returns the number of requests that the listener knows.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        lock(&self.requests).count()
    }
}

/// A request that is to be answered, of a peer whose address is proved.
#[derive(Debug)]
pub(crate) struct AdmittedRequest {
    requests: Arc<Mutex<Requests>>,
    observer: Option<RefusalObserver>,
    from: SocketAddr,
    revocation: Arc<Revocation>,
    // `None` once the request is answered.
    answering: Option<Answering>,
}

impl AdmittedRequest {
    /// Returns the peer's address.
    pub(crate) fn source(&self) -> SocketAddr {
        self.from
    }

    /// Returns the peer's offer.
    pub(crate) fn offer(&self) -> &Offer {
        const NONE: &Offer =
            &Offer { reliability: crate::Reliability::Unreliable, max_transfer: 0, private: Vec::new() };
        self.answering.as_ref().map_or(NONE, Answering::offer)
    }

    /// Returns the handle by which another thread makes the request yield its place.
    pub(crate) fn revocation(&self) -> Arc<Revocation> {
        Arc::clone(&self.revocation)
    }

    /// Makes the connection by `open`, unless the request has to yield its place meanwhile. `open`
    /// gets a function that tells whether the connection is still wanted. A failure is sent to the
    /// peer.
    pub(crate) fn accept<P>(
        &mut self,
        open: impl FnOnce(&Answering, &dyn Fn() -> bool) -> Result<P, Error>,
        send: impl FnOnce(&[u8]),
    ) -> Result<P, Error> {
        let Some(answering) = self.answering.take() else {
            return Err(Error::BadState { what: "the request was already answered" });
        };
        let is_wanted = || self.revocation.reason().is_none();
        let opened = if is_wanted() { open(&answering, &is_wanted) } else { Err(Error::TimedOut) };
        let failed = match opened {
            Ok(port) => {
                lock(&self.requests).answered(Instant::now(), (self.from, answering.id()), None);
                return Ok(port);
            }
            Err(error) => error,
        };
        if let Some(why) = self.revocation.reason() {
            self.reject(&answering, why, send);
            if let Some(observe) = self.observer {
                observe(self.from.ip());
            }
            return Err(Error::Refused { why: why.to_owned() });
        }
        self.reject(&answering, &failed.to_string(), send);
        Err(failed)
    }

    /// Rejects the request, unless it is answered already.
    pub(crate) fn refuse(&mut self, why: &str, send: impl FnOnce(&[u8])) {
        if let Some(answering) = self.answering.take() {
            self.reject(&answering, why, send);
        }
    }

    /// Sends a rejection. If it gets lost, the next repetition of the request is rejected again.
    fn reject(&self, answering: &Answering, why: &str, send: impl FnOnce(&[u8])) {
        let rejection = Arc::<[u8]>::from(answering.reject(why));
        send(&rejection);
        lock(&self.requests).answered(Instant::now(), (self.from, answering.id()), Some(rejection));
    }
}
