//! Tokens: proofs that a requesting side receives datagrams at the address that it sends from.
//!
//! The source of a datagram can be forged. An accepting side with tokens therefore answers a
//! request by a token for the request's source. The answer is not longer than the request, and the
//! accepting side keeps no state. Only a request with that token makes the accepting side keep a
//! state. This scheme is the address validation of RFC 9000, 8.1.2.
//!
//! A token contains the number of its key's period, the time at which the token was made, and a
//! code. The code covers the period, the time, the source of the request and the requesting side's
//! connection id. So the token is valid for this source, for this connection, and for some seconds.
//! When the token comes back, its age is an upper bound of the round trip.

use super::handshake::Answering;
use super::packet::{self, Body, Header, RETRY_LENGTH, TOKEN, Token};
use crate::host::mapped;
use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{ChaCha20Poly1305, Key, KeyInit};
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// The time for which a key makes tokens, in nanoseconds. The tokens are accepted in the next
/// period, too.
const PERIOD: u64 = 5_000_000_000;
/// The maximum time for which a token is accepted.
pub const TOKEN_LIFETIME: Duration = Duration::from_nanos(2 * PERIOD);
/// The length in bytes of the period and the time, with which a token begins. Both together are the
/// nonce of the token's authentication code.
const NUMBERS: usize = 12;
/// The nonce by which a key makes the next key. No token has this nonce: it would be a token of the
/// period `u32::MAX`, which `rotate` never reaches.
const NEXT_KEY: [u8; NUMBERS] = [0xff; NUMBERS];

/// The accepting side's verdict about a request.
#[derive(Debug)]
pub enum Judged {
    /// The request has a valid token: its sender receives at its address.
    Proved(Answering),
    /// The request has no valid token. This datagram asks for a repetition with a token.
    Unproved([u8; RETRY_LENGTH]),
}

/// The accepting side's verdict about a client that claims to have moved.
#[derive(Debug)]
pub enum Moved {
    /// The client receives at its new address. The time of the client's token, in nanoseconds,
    /// distinguishes later claims from earlier ones.
    Proved(u64),
    /// The client has not shown so far that it receives at its new address. This datagram asks the
    /// client for that proof.
    Unproved([u8; RETRY_LENGTH]),
}

/// The keys of an accepting side's tokens.
pub struct Tokens {
    // The first period is 1, so a token of zeros belongs to no period.
    period: u32,
    key: ChaCha20Poly1305,
    // The key of the previous period, if that period had one.
    previous: Option<ChaCha20Poly1305>,
    // The earliest time of the next token. No two tokens have the same time, because the period and
    // the time are the nonce of the token's code.
    next: u64,
}

impl Tokens {
    /// Makes the keys of tokens. `key`, which must be random, is the first of them.
    pub fn new(key: [u8; 32]) -> Self {
        Self { period: 1, key: ChaCha20Poly1305::new(&Key::from(key)), previous: None, next: 0 }
    }

    /// Judges a datagram from `from`. `now` is the time since `new`, in nanoseconds. Returns `None`
    /// for a datagram that is no request, which gets no answer.
    pub fn judge(&mut self, now: u64, from: SocketAddr, datagram: &[u8]) -> Option<Judged> {
        let (header, body) = packet::parse(datagram).ok()?;
        let Body::Request { from: id, token, .. } = body else { return None };
        self.rotate(now);
        let subject = subject(Purpose::Request, from, id);
        if self.is_valid(&token, &subject) {
            let age = now.saturating_sub(time(&token)?);
            return Answering::from_packet(&header, body, age).map(Judged::Proved);
        }
        self.retry(now, id, &subject).map(Judged::Unproved)
    }

    /// Judges whether the client of a connection has moved to `from`. `token` is the token in the
    /// client's packet. `ids` are the connection ids of this end and of the client. Returns `None`
    /// if no answer can be made.
    pub fn judge_moved(&mut self, now: u64, from: SocketAddr, token: &Token, ids: [u64; 2]) -> Option<Moved> {
        self.rotate(now);
        let subject = subject(Purpose::Move, from, ids[0]);
        if self.is_valid(token, &subject) {
            return time(token).map(Moved::Proved);
        }
        self.retry(now, ids[1], &subject).map(Moved::Unproved)
    }

    /// Returns the datagram that gives a client a token.
    fn retry(&mut self, now: u64, to: u64, subject: &[u8]) -> Option<[u8; RETRY_LENGTH]> {
        let header = Header { to, number: 0, ack: 0, sack: 0, window: 0 };
        let mut retry = [0; RETRY_LENGTH];
        packet::write(&mut retry, &header, &Body::Retry { token: self.token(now, subject)? }).ok()?;
        Some(retry)
    }

    /// Changes to the key of the period of `now`.
    fn rotate(&mut self, now: u64) {
        let period = u32::try_from(now / PERIOD).unwrap_or(u32::MAX - 2) + 1;
        if period <= self.period {
            return;
        }
        let mut next = [0; 32];
        if self.key.encrypt_inout_detached(&NEXT_KEY.into(), &[], next.as_mut_slice().into()).is_err() {
            return;
        }
        let key = std::mem::replace(&mut self.key, ChaCha20Poly1305::new(&Key::from(next)));
        self.previous = (period == self.period + 1).then_some(key);
        self.period = period;
    }

    fn token(&mut self, now: u64, subject: &[u8]) -> Option<Token> {
        let time = now.max(self.next);
        let mut numbers = [0; NUMBERS];
        numbers[..4].copy_from_slice(&self.period.to_le_bytes());
        numbers[4..].copy_from_slice(&time.to_le_bytes());
        self.next = time.checked_add(1)?;
        let code = self.key.encrypt_inout_detached(&numbers.into(), subject, [].as_mut_slice().into()).ok()?;
        let mut token = [0; TOKEN];
        token[..NUMBERS].copy_from_slice(&numbers);
        token[NUMBERS..].copy_from_slice(&code);
        Some(token)
    }

    /// Whether this side made the token for this subject, not too long ago. The time of the
    /// comparison does not depend on the code.
    fn is_valid(&self, token: &Token, subject: &[u8]) -> bool {
        let Some((numbers, code)) = token.split_first_chunk::<NUMBERS>() else { return false };
        let Ok(code) = <[u8; TOKEN - NUMBERS]>::try_from(code) else { return false };
        let period = u32::from_le_bytes([numbers[0], numbers[1], numbers[2], numbers[3]]);
        let key = match self.period.checked_sub(period) {
            Some(0) => Some(&self.key),
            Some(1) => self.previous.as_ref(),
            _ => None,
        };
        let Some(key) = key else { return false };
        key.decrypt_inout_detached(&(*numbers).into(), subject, [].as_mut_slice().into(), &code.into()).is_ok()
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").field("period", &self.period).finish_non_exhaustive()
    }
}

/// Returns the time at which a token was made, in nanoseconds.
fn time(token: &Token) -> Option<u64> {
    token[4..NUMBERS].first_chunk().map(|time| u64::from_le_bytes(*time))
}

/// The purpose of a token.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Purpose {
    /// A connection. The client chose the connection id.
    Request,
    /// The move of a connection to another address. The accepting side chose the connection id.
    Move,
}

/// Returns the statement that a token proves: this connection id belongs to this source.
fn subject(purpose: Purpose, from: SocketAddr, id: u64) -> [u8; 27] {
    let mut subject = [0; 27];
    subject[..16].copy_from_slice(&mapped(from.ip()).octets());
    subject[16..18].copy_from_slice(&from.port().to_le_bytes());
    subject[18..26].copy_from_slice(&id.to_le_bytes());
    subject[26] = purpose as u8;
    subject
}
