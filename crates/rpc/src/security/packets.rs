//! Protection of a connection's packets: ChaCha20 and Poly1305 (RFC 8439), with separate keys for
//! each direction.
//!
//! The keys follow from the key of a security context and from an ephemeral secret, by HKDF with
//! SHA-256 (RFC 5869). Each key protects a *phase* of 2^20 packets. With each phase, the secret
//! from which the next key follows is replaced, too. So an attacker who steals the secrets of an
//! end cannot decrypt packets of earlier phases, except for the previous phase, whose key is kept
//! until its last packets have arrived or count as lost. The stolen secrets decrypt the packets of
//! every later phase, since the ends never exchange new keys. Secrets stay in their boxes, since a
//! move would leave a copy in memory that is not wiped.

use super::ephemeral::AgreedSecret;
use super::secret::hmac_of;
use super::{CODE_LENGTH, Level, SecurityContext, SecurityError};
use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{ChaCha20Poly1305, KeyInit};
use hmac::{Hmac, Mac};
use obvia_via::reliable::{Cipher, MoveKey, Nonce, TAG};
use sha2::Sha256;
use std::fmt;
use zeroize::Zeroizing;

/// The first part of the codes that serve as HKDF's salt. It distinguishes these codes from other
/// codes of the context.
const SALT: &[u8] = b"obvia packets, salt\0";
/// The purpose of the first secret for packets to the server.
const TO_SERVER: &[u8] = b"obvia packets, client to server";
/// The purpose of the first secret for packets to the client.
const TO_CLIENT: &[u8] = b"obvia packets, server to client";
/// The purpose of the [`MoveKey`]: the key of the packets by which a client announces that its
/// address may have changed.
const MOVES: &[u8] = b"obvia packets, moves";
/// The purpose of the key that follows from a phase's secret.
const KEY: &[u8] = b"obvia packets, key";
/// The purpose of the next phase's secret, which follows from a phase's secret.
const NEXT: &[u8] = b"obvia packets, next secret";

/// The binary logarithm of the number of packets that a phase has.
const PHASE_BITS: u32 = 20;
/// The index of a packet in its phase. Once a packet with this or a higher index has arrived,
/// packets of the previous phase count as lost, since far fewer packets are in flight.
const LATE: u64 = 1 << 16;

/// A side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

/// The secret from which the keys of a phase and of later phases follow.
type Secret = Zeroizing<[u8; 32]>;

/// The key of one direction's packets in one phase.
struct Phase {
    number: u64,
    key: ChaCha20Poly1305,
    next: Secret,
}

impl Phase {
    fn new(number: u64, secret: &Secret) -> Box<Self> {
        let key = ChaCha20Poly1305::new((&*expanded(secret, KEY)).into());
        Box::new(Self { number, key, next: expanded(secret, NEXT) })
    }

    fn following(&self) -> Box<Self> {
        Self::new(self.number + 1, &self.next)
    }
}

/// Computes HMAC-SHA-256.
fn hmac(key: &[u8; 32], parts: &[&[u8]]) -> Secret {
    Zeroizing::new(hmac_of::<Hmac<Sha256>>(key, parts).finalize().into_bytes().into())
}

/// Expands a secret to one of the same length: the first block of HKDF-Expand.
fn expanded(secret: &Secret, purpose: &[u8]) -> Secret {
    hmac(secret, &[purpose, &[1]])
}

/// The keys of a connection, and their level.
pub(super) struct Packets {
    level: Level,
    own: Box<Phase>,
    peers: Box<Phase>,
    // The peer's previous phase, until the packets that are missing from it count as lost.
    previous: Option<Box<Phase>>,
    // The phase after the peer's current phase, once a packet has claimed to belong to that next
    // phase.
    coming: Option<Box<Phase>>,
}

impl Packets {
    /// Derives the keys from an established context, from `secret`, and from `legs`, the transcript
    /// of the proof. Also returns the key of the packets by which the client announces that its
    /// address may have changed.
    pub(super) fn new(
        context: &dyn SecurityContext,
        secret: &AgreedSecret,
        legs: &[u8],
        side: Side,
        level: Level,
    ) -> Result<(Self, MoveKey), SecurityError> {
        let mut salt = Zeroizing::new([0; 2 * CODE_LENGTH]);
        for (half, number) in salt.chunks_exact_mut(CODE_LENGTH).zip([1, 2]) {
            half.copy_from_slice(&context.code(&[SALT, &[number], legs])?);
        }
        let secret = hmac(&salt, &[secret.bytes()]);
        let (own, peers) = match side {
            Side::Client => (TO_SERVER, TO_CLIENT),
            Side::Server => (TO_CLIENT, TO_SERVER),
        };
        let moves = MoveKey::new(&expanded(&secret, MOVES));
        Ok((Self::from_secrets(&expanded(&secret, own), &expanded(&secret, peers), level), moves))
    }

    fn from_secrets(own: &Secret, peers: &Secret, level: Level) -> Self {
        Self { level, own: Phase::new(0, own), peers: Phase::new(0, peers), previous: None, coming: None }
    }

    /// Updates the phases after a packet with this sequence number was opened: follows the peer to
    /// its next phase, or forgets the previous phase.
    fn note(&mut self, sequence: u64) {
        if sequence >> PHASE_BITS > self.peers.number
            && let Some(coming) = self.coming.take()
        {
            self.previous = Some(std::mem::replace(&mut self.peers, coming));
        } else if sequence >> PHASE_BITS == self.peers.number && sequence % (1 << PHASE_BITS) >= LATE {
            self.previous = None;
        }
    }
}

/// Verifies a packet with a key, and decrypts the packet at the privacy level. Returns whether the
/// tag is right.
fn open(key: &ChaCha20Poly1305, level: Level, number: Nonce, datagram: &mut [u8], tag: [u8; TAG]) -> bool {
    let (nonce, tag) = (nonce(number), tag.into());
    if level == Level::Privacy {
        key.decrypt_inout_detached(&nonce, &[], datagram.into(), &tag).is_ok()
    } else {
        key.decrypt_inout_detached(&nonce, datagram, [].as_mut_slice().into(), &tag).is_ok()
    }
}

fn nonce(Nonce { base, sequence }: Nonce) -> chacha20poly1305::Nonce {
    let mut bytes = [0; 12];
    bytes[..4].copy_from_slice(&base.to_le_bytes());
    bytes[4..].copy_from_slice(&sequence.to_le_bytes());
    bytes.into()
}

impl Cipher for Packets {
    fn seal(&mut self, number: Nonce, datagram: &mut [u8]) -> [u8; TAG] {
        while self.own.number < number.sequence >> PHASE_BITS {
            self.own = self.own.following();
        }
        let sealed = if self.level == Level::Privacy {
            self.own.key.encrypt_inout_detached(&nonce(number), &[], datagram.into())
        } else {
            self.own.key.encrypt_inout_detached(&nonce(number), datagram, [].as_mut_slice().into())
        };
        // Encryption fails only for messages of many gigabytes. The packet then gets a tag of
        // zeros, which no receiver accepts.
        sealed.map_or([0; TAG], Into::into)
    }

    fn open(&mut self, number: Nonce, datagram: &mut [u8], tag: &[u8; TAG]) -> bool {
        let phase = number.sequence >> PHASE_BITS;
        let key = if phase == self.peers.number {
            Some(&self.peers.key)
        } else if phase == self.peers.number + 1 {
            Some(&self.coming.get_or_insert_with(|| self.peers.following()).key)
        } else if phase + 1 == self.peers.number {
            self.previous.as_ref().map(|previous| &previous.key)
        } else {
            None
        };
        let is_open = key.is_some_and(|key| open(key, self.level, number, datagram, *tag));
        if is_open {
            self.note(number.sequence);
        }
        is_open
    }
}

impl fmt::Debug for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packets").field("level", &self.level).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cipher(own: u8, peers: u8, level: Level) -> Packets {
        let [own, peers] = [own, peers].map(|byte| Zeroizing::new([byte; 32]));
        Packets::from_secrets(&own, &peers, level)
    }

    const NUMBER: Nonce = Nonce { base: 7, sequence: 9 };
    const PHASE: u64 = 1 << PHASE_BITS;

    #[test]
    fn packet_tags_cover_every_bit_the_number_and_the_direction() {
        for level in [Level::Integrity, Level::Privacy] {
            let (mut one, mut other) = (cipher(1, 2, level), cipher(2, 1, level));
            let mut sealed = *b"datagram";
            let tag = one.seal(NUMBER, &mut sealed);
            assert_eq!(sealed != *b"datagram", level == Level::Privacy);
            let opened = |by: &mut Packets, number, mut datagram: [u8; 8], tag| {
                let is_open = by.open(number, &mut datagram, &tag);
                assert!(!is_open || datagram == *b"datagram");
                is_open
            };
            assert!(opened(&mut other, NUMBER, sealed, tag));
            assert!(!opened(&mut one, NUMBER, sealed, tag), "its own, given back");
            assert!(!opened(&mut other, Nonce { base: 8, ..NUMBER }, sealed, tag));
            assert!(!opened(&mut other, Nonce { sequence: 10, ..NUMBER }, sealed, tag));
            for bit in 0..64 {
                let mut changed = sealed;
                changed[bit / 8] ^= 1 << (bit % 8);
                assert!(!opened(&mut other, NUMBER, changed, tag), "bit {bit}");
            }
            for bit in 0..8 * TAG {
                let mut changed = tag;
                changed[bit / 8] ^= 1 << (bit % 8);
                assert!(!opened(&mut other, NUMBER, sealed, changed), "bit {bit} of the code");
            }
        }
        let (mut sealed, mut other) = (*b"datagram", cipher(2, 1, Level::Privacy));
        let tag = cipher(1, 2, Level::Integrity).seal(NUMBER, &mut sealed);
        assert!(!other.open(NUMBER, &mut sealed, &tag), "of another level");
    }

    /// The two ends of a connection. The tests send packets from the first end to the second.
    struct Ends(Packets, Packets);

    impl Ends {
        fn sealed(&mut self, sequence: u64) -> (Nonce, [u8; 8], [u8; TAG]) {
            let (number, mut datagram) = (Nonce { base: 7, sequence }, sequence.to_le_bytes());
            let tag = self.0.seal(number, &mut datagram);
            (number, datagram, tag)
        }

        fn opened(&mut self, (number, mut datagram, tag): (Nonce, [u8; 8], [u8; TAG])) -> bool {
            let is_open = self.1.open(number, &mut datagram, &tag);
            assert!(!is_open || datagram == number.sequence.to_le_bytes());
            is_open
        }
    }

    #[test]
    fn keys_change_with_each_phase_and_late_packets_are_still_opened() {
        for level in [Level::Integrity, Level::Privacy] {
            let mut ends = Ends(cipher(1, 2, level), cipher(2, 1, level));
            let [early, late, lost] = [0, PHASE - 1, PHASE - 2].map(|sequence| ends.sealed(sequence));
            let after = [PHASE, PHASE + 1, PHASE + LATE].map(|sequence| ends.sealed(sequence));
            assert!(ends.opened(early) && ends.opened(after[1]) && ends.opened(after[0]) && ends.opened(late));
            assert!(ends.opened(after[2]), "from here on the previous phase is over");
            assert!(!ends.opened(lost));
            for sequence in [2 * PHASE - 1, 2 * PHASE, 3 * PHASE] {
                let next = ends.sealed(sequence);
                assert!(ends.opened(next), "{sequence}");
            }
            let skipped = ends.sealed(5 * PHASE);
            assert!(!ends.opened(skipped), "a phase without any packet");
        }
    }

    #[test]
    fn packets_of_one_phase_do_not_open_with_the_key_of_another() {
        let mut first = cipher(1, 2, Level::Privacy);
        let mut of_phase = |sequence| {
            let mut zeros = [0; 64];
            first.seal(Nonce { base: 0, sequence }, &mut zeros);
            zeros
        };
        let keys = [0, 1, 2].map(|phase| Phase::new(0, &Zeroizing::new([1; 32])).after(phase));
        for (phase, key) in (0..).zip(&keys) {
            let number = Nonce { base: 0, sequence: phase << PHASE_BITS };
            let sealed = of_phase(number.sequence);
            for (other, other_key) in (0..).zip(&keys) {
                let mut zeros = [0; 64];
                other_key.key.encrypt_inout_detached(&nonce(number), &[], zeros.as_mut_slice().into()).unwrap();
                assert_eq!(zeros == sealed, other == phase, "key {other} for phase {phase}");
            }
            assert_eq!(key.number, phase);
        }
    }

    impl Phase {
        fn after(self: Box<Self>, phases: u64) -> Box<Self> {
            (0..phases).fold(self, |phase, _| phase.following())
        }
    }

    /// The expected secret was computed with Python's `hmac`.
    #[test]
    fn phases_follow_from_a_secret_as_the_documentation_says() {
        let phase = Phase::new(0, &Zeroizing::new([1; 32])).following();
        let expected = [
            0x45, 0xb2, 0xc4, 0x97, 0x98, 0x0e, 0x55, 0x33, 0xbc, 0x8c, 0x98, 0x98, 0x64, 0xdd, 0x26, 0x2c, 0x8c, 0xba,
            0x58, 0x92, 0x54, 0x21, 0x7d, 0xb3, 0x6d, 0x2f, 0x65, 0xd6, 0x24, 0x3d, 0xdd, 0x77,
        ];
        assert_eq!(*phase.next, expected);
    }

    #[test]
    fn a_forged_packet_of_the_next_phase_changes_no_key() {
        let mut ends = Ends(cipher(1, 2, Level::Integrity), cipher(2, 1, Level::Integrity));
        for sequence in [PHASE, 2 * PHASE, u64::MAX] {
            assert!(!ends.1.open(Nonce { base: 7, sequence }, &mut [0; 8], &[0; TAG]));
        }
        for sequence in [1, PHASE - 1, PHASE, 2 * PHASE] {
            let sealed = ends.sealed(sequence);
            assert!(ends.opened(sealed), "{sequence}");
        }
    }
}
