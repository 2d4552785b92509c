//! Ephemeral keys: the two ends of a connection agree on a secret that does not depend on the
//! password (X25519, RFC 7748).
//!
//! Each end makes a key pair and sends the public key. [`Ephemeral::agree`] wipes the private key.
//! An attacker who learns the password later cannot compute the secret from the recorded legs of a
//! proof.
//!
//! Secrets stay in their boxes, since a move would leave a copy behind that is not wiped.

use super::SecurityError;
use super::ntlm::NtlmError;
use rustix::rand::{GetRandomFlags, getrandom};
use std::fmt;
use x25519_dalek::{SharedSecret, StaticSecret};
use zeroize::Zeroizing;

/// The length of a public key, in bytes.
pub(super) const PUBLIC_KEY: usize = 32;

/// A public key.
pub(super) type PublicKey = [u8; PUBLIC_KEY];

/// A key pair for one connection.
pub(super) struct Ephemeral(Box<StaticSecret>);

impl Ephemeral {
    /// Draws a key pair.
    ///
    /// # Errors
    ///
    /// [`SecurityError::Mechanism`] if the kernel provides no random numbers.
    pub(super) fn draw() -> Result<Self, SecurityError> {
        let mut bytes = Zeroizing::new([0; PUBLIC_KEY]);
        // For so few bytes, the kernel fills the buffer completely or fails.
        getrandom(&mut *bytes, GetRandomFlags::empty()).map_err(|_| NtlmError::NoRandomness)?;
        Ok(Self(Box::new((*bytes).into())))
    }

    pub(super) fn public_key(&self) -> PublicKey {
        x25519_dalek::PublicKey::from(&*self.0).to_bytes()
    }

    /// Computes the secret that both ends can compute from their own pair and the peer's public
    /// key.
    ///
    /// # Errors
    ///
    /// [`SecurityError::Token`] if the peer's key has a low order: every key pair would have the
    /// same secret with it (RFC 7748, 6.1).
    pub(super) fn agree(self, peers: PublicKey) -> Result<AgreedSecret, SecurityError> {
        let secret = Box::new(self.0.diffie_hellman(&peers.into()));
        if !secret.was_contributory() {
            return Err(SecurityError::Token(
                "the peer's ephemeral key has a low order, so that the secret would not be secret",
            ));
        }
        Ok(AgreedSecret(secret))
    }
}

/// The secret that two ends have computed from their ephemeral keys.
pub(super) struct AgreedSecret(Box<SharedSecret>);

impl AgreedSecret {
    pub(super) fn bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for Ephemeral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ephemeral(..)")
    }
}

impl fmt::Debug for AgreedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AgreedSecret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_key_pairs_agree_and_a_third_does_not() {
        let [one, other, third] = [(); 3].map(|()| Ephemeral::draw().unwrap());
        let [keys, others, thirds] = [&one, &other, &third].map(Ephemeral::public_key);
        let secret = *one.agree(others).unwrap().bytes();
        assert_eq!(secret, *other.agree(keys).unwrap().bytes());
        assert_ne!(secret, *third.agree(keys).unwrap().bytes());
        assert_ne!(keys, thirds);
    }

    /// The example of RFC 7748, 6.1.
    #[test]
    fn keys_and_secrets_equal_the_published_ones() {
        let key = |text: &str| {
            let byte = |at: usize| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap();
            std::array::from_fn::<u8, PUBLIC_KEY, _>(byte)
        };
        let bob = Ephemeral(Box::new(key("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb").into()));
        assert_eq!(bob.public_key(), key("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"));
        let alice = key("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
        let secret = key("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
        assert_eq!(*bob.agree(alice).unwrap().bytes(), secret);
    }

    /// Two points of low order, with which every key pair has the secret 0 (RFC 7748, 6.1).
    #[test]
    fn keys_that_lead_to_a_known_secret_are_refused() {
        let mut one = [0; PUBLIC_KEY];
        one[0] = 1;
        for weak in [[0; PUBLIC_KEY], one] {
            assert!(matches!(Ephemeral::draw().unwrap().agree(weak), Err(SecurityError::Token(_))));
        }
    }
}
