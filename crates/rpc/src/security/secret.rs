//! Secrets: the hash that stands for a password, and keys. They are wiped when they are dropped and never shown.

use hmac::{Hmac, KeyInit, Mac};
use md4::{Digest, Md4};
use md5::Md5;
use std::fmt;
use zeroize::Zeroizing;

/// A key of 128 bits.
pub(super) type Key = Zeroizing<[u8; 16]>;

/// The hash of a password that NTLM knows users by, NTOWFv1 (MS-NLMP 3.3.1). Whoever has it can log in as the user.
#[derive(Clone)]
pub struct NtHash(Key);

impl NtHash {
    /// Of a password. The password itself is not kept.
    #[must_use]
    pub fn of_password(password: &str) -> Self {
        let text = Zeroizing::new(utf16(password));
        Self::from_bytes(Md4::digest(&*text).into())
    }

    /// As it is stored elsewhere.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    pub(super) fn bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Debug for NtHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NtHash(..)")
    }
}

/// HMAC-MD5 over the parts one after the other, to be compared in constant time or taken.
pub(super) fn hmac(key: &[u8; 16], parts: &[&[u8]]) -> Hmac<Md5> {
    // A key of 16 bytes lies at the front of a block of zeros (RFC 2104 2), which is what a key in full is.
    let mut block = Zeroizing::new([0; 64]);
    block[..16].copy_from_slice(key);
    let mut mac = Hmac::new((&*block).into());
    parts.iter().for_each(|part| mac.update(part));
    mac
}

/// The value of [`hmac`].
pub(super) fn hmac_value(key: &[u8; 16], parts: &[&[u8]]) -> Key {
    Zeroizing::new(hmac(key, parts).finalize().into_bytes().into())
}

/// UTF-16, little endian.
pub(super) fn utf16(text: &str) -> Vec<u8> {
    // No character has more bytes in UTF-16 than twice those in UTF-8: nothing is moved, so no copy of a secret is left.
    let mut bytes = Vec::with_capacity(2 * text.len());
    bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    bytes
}
