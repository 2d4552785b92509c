//! Ephemeral keys: a secret of the two ends of one connection, which does not follow from a
//! password (X25519, RFC 7748).
//!
//! Each end makes a key pair, sends the public key, and forgets the private one after
//! [`Ephemeral::agree`]. Whoever learns the password later cannot compute the secret from recorded
//! legs.

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
pub(super) struct Ephemeral(StaticSecret);

impl Ephemeral {
    /// Draws a key pair.
    ///
    /// # Errors
    ///
    /// [`SecurityError::Mechanism`] if the kernel provides no random numbers.
    pub(super) fn draw() -> Result<Self, SecurityError> {
        let mut bytes = Zeroizing::new([0; PUBLIC_KEY]);
        getrandom(&mut *bytes, GetRandomFlags::empty()).map_err(|_| NtlmError::NoRandomness)?;
        Ok(Self((*bytes).into()))
    }

    pub(super) fn public_key(&self) -> PublicKey {
        x25519_dalek::PublicKey::from(&self.0).to_bytes()
    }

    /// Computes the secret that this pair and the peer's pair have in common.
    ///
    /// # Errors
    ///
    /// [`SecurityError::Token`] for a public key that leads to the same secret with every pair
    /// (RFC 7748, 6.1).
    pub(super) fn agree(self, peers: PublicKey) -> Result<AgreedSecret, SecurityError> {
        let secret = self.0.diffie_hellman(&peers.into());
        if !secret.was_contributory() {
            return Err(SecurityError::Token("the peer's ephemeral key leads to a known secret"));
        }
        Ok(AgreedSecret(secret))
    }
}

/// The secret that two key pairs have in common.
pub(super) struct AgreedSecret(SharedSecret);

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

    /// The points of low order that RFC 7748 warns of.
    #[test]
    fn keys_that_lead_to_a_known_secret_are_refused() {
        let mut one = [0; PUBLIC_KEY];
        one[0] = 1;
        for weak in [[0; PUBLIC_KEY], one] {
            assert!(matches!(Ephemeral::draw().unwrap().agree(weak), Err(SecurityError::Token(_))));
        }
    }
}
