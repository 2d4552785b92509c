//! Authenticated datagrams: only the two ends can make them, change them, or repeat them.
//!
//! The two ends derive the keys from messages over the existing connection. From then on, an end
//! takes no datagram without a seal. The end that received the last of these messages knows that
//! its peer has the keys, and seals every datagram that it sends. The end that sent the last
//! message does not know whether the message arrived. This end seals its datagrams as soon as it
//! has received a sealed one. Until it does, the peer's address may also change by a claim without
//! a seal (`moved.rs`), because the peer may not have the keys. Datagrams dropped meanwhile are
//! sent again.
//!
//! A sealed datagram ends with its *sequence*, which goes up by one with each datagram, and a code.
//! The code also covers the number of the sender's first data packet under the keys, although the
//! datagram does not contain it. If an end has taken a forged packet before, the two ends differ in
//! this number, and the connection cannot go on.

use super::Link;
use super::link::{forward_sleep, forward_wire};
use super::move_key::MoveKey;
use crate::Error;
use std::fmt;

/// The length of the code of a sealed datagram, in bytes.
pub const TAG: usize = 16;
/// The length that the seal adds to a datagram, in bytes.
pub(super) const OVERHEAD: usize = 8 + TAG;
/// The maximum number of datagrams dropped in one call.
const DROPS: usize = 32;
/// The number of words that note the sequences received. At most 4,096 packets may be in flight.
/// The words have twice as many bits, because repeated packets and acknowledgements take sequences
/// too.
const WORDS: usize = 128;
/// The number of latest sequences for which the guard knows whether each was received. Earlier
/// sequences count as received. The window has one word less than the ring, because it seldom
/// begins at the start of a word.
const WINDOW: u64 = (WORDS as u64 - 1) * 64;

/// The nonce of a datagram: unique among all datagrams of one sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nonce {
    /// The number of the sender's first data packet under the key.
    pub base: u32,
    /// The number of datagrams that the sender has sealed before.
    pub sequence: u64,
}

/// The keys of a connection. Each direction has its own key, which may change with the sequence.
pub trait Cipher: Send + fmt::Debug {
    /// Seals a datagram of this end, and encrypts it if the cipher encrypts. Sequences go up by one
    /// from call to call, so a cipher can change its keys with them.
    fn seal(&mut self, nonce: Nonce, datagram: &mut [u8]) -> [u8; TAG];

    /// Whether the peer sealed the datagram. If so, decrypts it.
    fn open(&mut self, nonce: Nonce, datagram: &mut [u8], tag: &[u8; TAG]) -> bool;
}

/// The keys of a connection, and whether they can be used at once.
#[derive(Debug)]
pub struct Guard {
    /// The keys.
    pub cipher: Box<dyn Cipher>,
    /// Whether the peer is known to have its keys. If not, this end sends unsealed datagrams until
    /// it receives a sealed one.
    pub peer_has_keys: bool,
    /// The key of a client's claims to have moved. The key is separate from the cipher because the
    /// listener, which has no cipher, also verifies these claims.
    pub moves: MoveKey,
}

/// A link whose datagrams a guard may protect.
#[derive(Debug)]
pub(super) struct Guarded<L> {
    pub(super) link: L,
    guarding: Option<Box<Guarding>>,
}

#[derive(Debug)]
struct Guarding {
    cipher: Box<dyn Cipher>,
    // The number of this end's first data packet under the key; `None` until the peer has shown
    // that it has the keys.
    own_base: Option<u32>,
    peer_base: u32,
    next: u64,
    seen: Seen,
    sealed: Vec<u8>,
}

/// The sequences received: a ring with a bit for each sequence of the window.
#[derive(Debug)]
struct Seen {
    // The sequence after the highest one received. Sequences before the window count as received.
    next: u64,
    // Bit *s* mod 64 of word *s* / 64 mod `WORDS` says that *s* was received.
    words: [u64; WORDS],
}

impl Seen {
    const fn new() -> Self {
        Self { next: 0, words: [0; WORDS] }
    }

    /// Returns the position of a sequence in the ring: the word's index, and the bit.
    const fn place(sequence: u64) -> (usize, u64) {
        ((sequence / 64) as usize % WORDS, 1 << (sequence % 64))
    }

    fn has(&self, sequence: u64) -> bool {
        let Some(behind) = self.next.checked_sub(sequence).and_then(|behind| behind.checked_sub(1)) else {
            return false;
        };
        let (word, bit) = Self::place(sequence);
        behind >= WINDOW || self.words[word] & bit != 0
    }

    /// Notes a sequence that was not received before.
    fn note(&mut self, sequence: u64) {
        if sequence >= self.next {
            // Words that begin at `next` or later still have the bits of the sequences that they
            // held before.
            for word in (self.next.div_ceil(64)..=sequence / 64).take(WORDS) {
                self.words[Self::place(word * 64).0] = 0;
            }
            // The highest sequence is never reached: that would take centuries.
            self.next = sequence.saturating_add(1);
        }
        let (word, bit) = Self::place(sequence);
        self.words[word] |= bit;
    }
}

impl<L: Link> Guarded<L> {
    pub(super) fn new(link: L) -> Self {
        Self { link, guarding: None }
    }

    /// Guards the link from now on. `own` and `peers` are the numbers of the next data packets of
    /// this end and of the peer.
    ///
    /// # Errors
    ///
    /// [`Error::BadState`] where the link has a guard already.
    pub(super) fn guard(&mut self, guard: Guard, [own, peers]: [u32; 2]) -> Result<(), Error> {
        if self.guarding.is_some() {
            return Err(Error::BadState { what: "a connection is given its guard once" });
        }
        let Guard { cipher, peer_has_keys, moves } = guard;
        self.link.seal_moves(&moves);
        if peer_has_keys {
            self.link.require_seals();
        }
        self.guarding = Some(Box::new(Guarding {
            cipher,
            own_base: peer_has_keys.then_some(own),
            peer_base: peers,
            next: 0,
            seen: Seen::new(),
            sealed: Vec::new(),
        }));
        Ok(())
    }

    /// Returns the next datagram that the peer sealed. `next` is the number of this end's next data
    /// packet.
    pub(super) fn take(&mut self, into: &mut [u8], next: impl FnOnce() -> u32) -> Result<Option<usize>, Error> {
        let Some(guarding) = &mut self.guarding else { return self.link.receive(into) };
        for _ in 0..DROPS {
            let Some(length) = self.link.receive(into)? else { return Ok(None) };
            if let Some(length) = guarding.open(&mut into[..length]) {
                if guarding.own_base.is_none() {
                    guarding.own_base = Some(next());
                    self.link.require_seals();
                }
                return Ok(Some(length));
            }
        }
        Ok(None)
    }
}

impl Guarding {
    /// Opens a sealed datagram and returns the length of its content. `None` for any other
    /// datagram.
    fn open(&mut self, datagram: &mut [u8]) -> Option<usize> {
        let (rest, tag) = datagram.split_last_chunk_mut::<TAG>()?;
        let (inner, sequence) = rest.split_last_chunk_mut::<8>()?;
        let sequence = u64::from_le_bytes(*sequence);
        let nonce = Nonce { base: self.peer_base, sequence };
        if self.seen.has(sequence) || !self.cipher.open(nonce, inner, tag) {
            return None;
        }
        self.seen.note(sequence);
        Some(inner.len())
    }
}

impl<L: Link> Link for Guarded<L> {
    forward_wire!(guarded => guarded.link);
    forward_sleep!(guarded => guarded.link);

    fn send(&mut self, datagram: &[u8]) -> Result<bool, Error> {
        let Some(guarding) = &mut self.guarding else { return self.link.send(datagram) };
        let Some(base) = guarding.own_base else { return self.link.send(datagram) };
        let nonce = Nonce { base, sequence: guarding.next };
        guarding.next += 1;
        let sealed = &mut guarding.sealed;
        sealed.clear();
        sealed.extend(datagram);
        let tag = guarding.cipher.seal(nonce, sealed);
        sealed.extend(nonce.sequence.to_le_bytes());
        sealed.extend(tag);
        self.link.send(sealed)
    }

    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Error> {
        self.link.receive(into)
    }
}

#[cfg(test)]
mod tests;
