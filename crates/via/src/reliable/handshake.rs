//! The handshake that makes a connection: request, accept or reject, confirm.
//!
//! Each side chooses a random connection id. The id tells the peer's packets from those of
//! strangers and of the peer's earlier connections. The requesting side repeats its request until
//! it gets an answer. The accepting side repeats its acceptance until a packet arrives that only
//! the peer can have sent. So duplicates have no effect. Where anyone can send to the accepting
//! side, this side first asks for the request again, with a token (`token.rs`).

use super::packet::{self, Body, HANDSHAKE_MAX, Header, REASON_MAX, TOKEN, Token};
use super::repeat::Repeat;
use super::{Engine, Settings};
use crate::Error;
use crate::spi::Offer;

/// The side that requests a connection.
#[derive(Debug)]
pub struct Requesting {
    settings: Settings,
    own_id: u64,
    offer: Offer,
    request: Box<[u8]>,
    has_token: bool,
    repeat: Repeat,
}

/// The outcome of a request.
#[derive(Debug)]
pub enum Answer {
    /// A connection, and the peer's offer.
    Accepted(Box<Engine>, Offer),
    /// A rejection, with the peer's reason.
    Rejected(String),
}

impl Requesting {
    /// Makes a request. `id` is a random number.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] when the discriminator or the private data do not fit.
    pub fn new(settings: &Settings, id: u64, discriminator: &str, offer: &Offer) -> Result<Self, Error> {
        let own_id = id.max(1);
        let mut bytes = [0; HANDSHAKE_MAX];
        let header = Header { to: 0, number: 0, ack: 0, sack: 0, window: settings.window };
        let body = Body::Request { from: own_id, token: [0; TOKEN], discriminator, offer: offer.clone() };
        let length = packet::write(&mut bytes, &header, &body)?;
        let request = bytes[..length].into();
        let (settings, offer) = (settings.clone(), offer.clone());
        Ok(Self { settings, own_id, offer, request, has_token: false, repeat: Repeat::new() })
    }

    /// Returns the datagram to send now, if it is time for one.
    pub fn transmit(&mut self, now: u64) -> Option<&[u8]> {
        self.repeat.is_due(now).then_some(&self.request)
    }

    /// Returns the time of the next call of `transmit`.
    pub fn due(&self) -> u64 {
        self.repeat.due
    }

    /// Processes a datagram. `mtu` is the maximum length of the link's datagrams. Returns `None`
    /// for any datagram other than the answer to the request.
    pub fn handle(&mut self, now: u64, datagram: &[u8], mtu: usize) -> Option<Answer> {
        let (header, body) = packet::parse(datagram).ok()?;
        if header.to != self.own_id {
            return None;
        }
        match body {
            Body::Reject { why } => Some(Answer::Rejected(why.to_owned())),
            Body::Retry { token } => {
                self.take_token(now, &token);
                None
            }
            Body::Accept { from, offer } if offer.reliability == self.offer.reliability => {
                let mut engine = Engine::new(&self.settings, now, mtu, (self.own_id, from), &self.offer, &offer);
                engine.confirm(now, header.window, self.repeat.round_trip(now));
                Some(Answer::Accepted(Box::new(engine), offer))
            }
            _ => None,
        }
    }

    /// Puts a token into the request. The first token makes the request due at once. The first
    /// token answers a request without a token, so the time until its arrival bounds the round
    /// trip. A later token waits for the next repetition, so a peer that sends tokens without end
    /// cannot speed this side up.
    fn take_token(&mut self, now: u64, token: &Token) {
        packet::set_token(&mut self.request, token);
        if !self.has_token {
            (self.has_token, self.repeat) = (true, Repeat::within(now, self.repeat.bound(now).unwrap_or(0)));
        }
    }
}

/// The side that was asked for a connection and has not answered yet.
#[derive(Debug)]
pub struct Answering {
    peer_id: u64,
    window: u32,
    discriminator: String,
    offer: Offer,
    // An upper bound of the round trip, in nanoseconds; 0 if none is known.
    trip_bound: u64,
}

impl Answering {
    /// Reads a request. Returns `None` for any other datagram.
    pub fn from_datagram(datagram: &[u8]) -> Option<Self> {
        let (header, body) = packet::parse(datagram).ok()?;
        Self::from_packet(&header, body, 0)
    }

    /// Reads a request whose peer was sent a token `trip_bound` nanoseconds ago.
    pub(super) fn from_packet(header: &Header, body: Body<'_>, trip_bound: u64) -> Option<Self> {
        let Body::Request { from, discriminator, offer, .. } = body else { return None };
        let (window, discriminator) = (header.window, discriminator.to_owned());
        Some(Self { peer_id: from, window, discriminator, offer, trip_bound })
    }

    /// Returns the connection id that the peer chose. A request with the same id from the same
    /// address is a repetition.
    pub fn id(&self) -> u64 {
        self.peer_id
    }

    /// Returns the discriminator of the request.
    pub fn discriminator(&self) -> &str {
        &self.discriminator
    }

    /// Returns the peer's offer.
    pub fn offer(&self) -> &Offer {
        &self.offer
    }

    /// Accepts the request. The engine repeats the acceptance until the peer confirms. `id` is a
    /// random number.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] for private data that do not fit; [`Error::BadState`] when the
    /// reliability levels differ.
    pub fn accept(&self, settings: &Settings, now: u64, id: u64, own: &Offer, mtu: usize) -> Result<Engine, Error> {
        if own.reliability != self.offer.reliability {
            return Err(Error::BadState { what: "the reliability levels of the two VIs differ" });
        }
        let own_id = id.max(1);
        let mut bytes = [0; HANDSHAKE_MAX];
        let header = Header { to: self.peer_id, number: 0, ack: 0, sack: 0, window: settings.window };
        let length = packet::write(&mut bytes, &header, &Body::Accept { from: own_id, offer: own.clone() })?;
        let mut engine = Engine::new(settings, now, mtu, (own_id, self.peer_id), own, &self.offer);
        engine.open(bytes[..length].into(), self.window, self.trip_bound);
        Ok(engine)
    }

    /// Returns the datagram that rejects the request.
    pub fn reject(&self, why: &str) -> Vec<u8> {
        let mut end = why.len().min(REASON_MAX);
        while !why.is_char_boundary(end) {
            end -= 1;
        }
        let mut bytes = vec![0; HANDSHAKE_MAX];
        let header = Header { to: self.peer_id, number: 0, ack: 0, sack: 0, window: 0 };
        // The reason was cut to fit, so the write succeeds.
        let length = packet::write(&mut bytes, &header, &Body::Reject { why: &why[..end] }).unwrap_or(0);
        bytes.truncate(length);
        bytes
    }
}
