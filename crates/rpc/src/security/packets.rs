//! Protection of a connection's packets with the keys of a security context: ChaCha20 and Poly1305
//! (RFC 8439), with a key for each direction.

use super::{CODE_LENGTH, Level, SecurityContext, SecurityError};
use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{ChaCha20Poly1305, Key, KeyInit};
use obvia_via::reliable::{Cipher, Nonce, TAG};
use std::fmt;
use zeroize::Zeroizing;

/// The purposes of the keys, which distinguish them from other codes of the context.
const TO_SERVER: &[u8] = b"obvia packets, client to server\0";
const TO_CLIENT: &[u8] = b"obvia packets, server to client\0";

/// A side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

/// The keys of a connection, and their level.
pub(super) struct Packets {
    level: Level,
    own: ChaCha20Poly1305,
    peers: ChaCha20Poly1305,
}

impl Packets {
    /// Derives the keys from an established context and from `said`, the transcript of its proof.
    pub(super) fn new(
        context: &dyn SecurityContext,
        said: &[u8],
        side: Side,
        level: Level,
    ) -> Result<Self, SecurityError> {
        let key = |purpose| key(context, purpose, said);
        let (to_server, to_client) = (key(TO_SERVER)?, key(TO_CLIENT)?);
        let (own, peers) = match side {
            Side::Client => (to_server, to_client),
            Side::Server => (to_client, to_server),
        };
        Ok(Self { level, own, peers })
    }
}

/// Derives a key from two codes.
fn key(context: &dyn SecurityContext, purpose: &[u8], said: &[u8]) -> Result<ChaCha20Poly1305, SecurityError> {
    let mut key = Zeroizing::new([0; 2 * CODE_LENGTH]);
    for (half, number) in key.chunks_exact_mut(CODE_LENGTH).zip([1, 2]) {
        half.copy_from_slice(&context.code(&[purpose, &[number], said])?);
    }
    Ok(ChaCha20Poly1305::new(&Key::from(*key)))
}

fn nonce(Nonce { base, sequence }: Nonce) -> chacha20poly1305::Nonce {
    let mut bytes = [0; 12];
    bytes[..4].copy_from_slice(&base.to_le_bytes());
    bytes[4..].copy_from_slice(&sequence.to_le_bytes());
    bytes.into()
}

impl Cipher for Packets {
    fn seal(&self, number: Nonce, datagram: &mut [u8]) -> [u8; TAG] {
        let sealed = if self.level == Level::Privacy {
            self.own.encrypt_inout_detached(&nonce(number), &[], datagram.into())
        } else {
            self.own.encrypt_inout_detached(&nonce(number), datagram, [].as_mut_slice().into())
        };
        // Encryption fails only for messages of many gigabytes. No receiver accepts this tag.
        sealed.map_or([0; TAG], Into::into)
    }

    fn open(&self, number: Nonce, datagram: &mut [u8], tag: &[u8; TAG]) -> bool {
        let (nonce, tag) = (nonce(number), (*tag).into());
        if self.level == Level::Privacy {
            self.peers.decrypt_inout_detached(&nonce, &[], datagram.into(), &tag).is_ok()
        } else {
            self.peers.decrypt_inout_detached(&nonce, datagram, [].as_mut_slice().into(), &tag).is_ok()
        }
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
        let key = |byte| ChaCha20Poly1305::new(&Key::from([byte; 32]));
        Packets { level, own: key(own), peers: key(peers) }
    }

    const NUMBER: Nonce = Nonce { base: 7, sequence: 9 };

    #[test]
    fn packet_tags_cover_every_bit_the_number_and_the_direction() {
        for level in [Level::Integrity, Level::Privacy] {
            let (one, other) = (cipher(1, 2, level), cipher(2, 1, level));
            let mut sealed = *b"datagram";
            let tag = one.seal(NUMBER, &mut sealed);
            assert_eq!(sealed != *b"datagram", level == Level::Privacy);
            let opened = |by: &Packets, number, mut datagram: [u8; 8], tag| {
                let is_open = by.open(number, &mut datagram, &tag);
                assert!(!is_open || datagram == *b"datagram");
                is_open
            };
            assert!(opened(&other, NUMBER, sealed, tag));
            assert!(!opened(&one, NUMBER, sealed, tag), "its own, given back");
            assert!(!opened(&other, Nonce { base: 8, ..NUMBER }, sealed, tag));
            assert!(!opened(&other, Nonce { sequence: 10, ..NUMBER }, sealed, tag));
            for bit in 0..64 {
                let mut changed = sealed;
                changed[bit / 8] ^= 1 << (bit % 8);
                assert!(!opened(&other, NUMBER, changed, tag), "bit {bit}");
            }
            for bit in 0..8 * TAG {
                let mut changed = tag;
                changed[bit / 8] ^= 1 << (bit % 8);
                assert!(!opened(&other, NUMBER, sealed, changed), "bit {bit} of the code");
            }
        }
        let (mut sealed, other) = (*b"datagram", cipher(2, 1, Level::Privacy));
        let tag = cipher(1, 2, Level::Integrity).seal(NUMBER, &mut sealed);
        assert!(!other.open(NUMBER, &mut sealed, &tag), "of another level");
    }
}
