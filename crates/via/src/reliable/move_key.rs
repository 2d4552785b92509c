//! The key by which a client seals its claims to have moved.

use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{ChaCha20Poly1305, KeyInit};
use std::fmt;
use std::sync::Arc;

/// The length, in bytes, of the code that authenticates a claim to have moved.
pub(super) const CODE: usize = 16;

/// The key by which a client seals its claims to have moved. Both ends have the key.
// Clones share the key, so that no unwiped copy of it remains in memory.
#[derive(Clone)]
pub struct MoveKey(Arc<ChaCha20Poly1305>);

impl MoveKey {
    /// Makes the key from these bytes, which must not be used for another purpose.
    pub fn new(key: &[u8; 32]) -> Self {
        Self(Arc::new(ChaCha20Poly1305::new(key.into())))
    }

    /// Returns the code of claim `number`. No two claims may have the same number.
    pub fn seal(&self, number: u64, claim: &[u8]) -> [u8; CODE] {
        let code = self.0.encrypt_inout_detached(&nonce(number), claim, [].as_mut_slice().into());
        // Encryption fails only for messages of many gigabytes. A listener rejects the code of
        // zeros.
        code.map_or([0; CODE], Into::into)
    }

    /// Whether the code of claim `number` is right. The time of the comparison does not depend on
    /// the code.
    pub(super) fn has_sealed(&self, number: u64, claim: &[u8], code: &[u8; CODE]) -> bool {
        self.0.decrypt_inout_detached(&nonce(number), claim, [].as_mut_slice().into(), &(*code).into()).is_ok()
    }
}

impl fmt::Debug for MoveKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MoveKey").finish_non_exhaustive()
    }
}

fn nonce(number: u64) -> chacha20poly1305::Nonce {
    let mut bytes = [0; 12];
    bytes[4..].copy_from_slice(&number.to_le_bytes());
    bytes.into()
}
