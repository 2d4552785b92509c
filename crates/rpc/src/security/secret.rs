//! Secrets: password hashes and keys. They are wiped when dropped, and `Debug` does not show them.

use hmac::digest::consts::U64;
use hmac::{Hmac, KeyInit, Mac};
use md4::{Digest, Md4};
use md5::Md5;
use std::fmt;
use zeroize::Zeroizing;

/// A key of 128 bits.
pub(super) type Key = Zeroizing<[u8; 16]>;

/// The password hash by which NTLM authenticates users, NTOWFv1 (MS-NLMP 3.3.1). An attacker can
/// use the hash in place of the password.
#[derive(Clone)]
pub struct NtHash(Key);

impl NtHash {
    /// Computes the hash of a password. The password is not kept.
    #[must_use]
    pub fn of_password(password: &str) -> Self {
        let text = Zeroizing::new(utf16(password));
        Self::from_bytes(Md4::digest(&*text).into())
    }

    /// Creates a hash from its stored bytes.
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

/// Computes HMAC-MD5 over the concatenated parts, to be verified in constant time or finalized.
pub(crate) fn hmac(key: &[u8; 16], parts: &[&[u8]]) -> Hmac<Md5> {
    hmac_of(key, parts)
}

/// Computes HMAC over the concatenated parts, with a hash whose blocks have 64 bytes, such as MD5
/// and SHA-256.
pub(super) fn hmac_of<M>(key: &[u8], parts: &[&[u8]]) -> M
where
    M: Mac + KeyInit<KeySize = U64>,
{
    // HMAC pads a shorter key with zeros to a block (RFC 2104 2). So the padded block is an
    // equivalent key, of full length.
    let mut block = Zeroizing::new([0; 64]);
    block[..key.len()].copy_from_slice(key);
    let mut mac = <M as KeyInit>::new((&*block).into());
    parts.iter().for_each(|part| mac.update(part));
    mac
}

/// Returns the value of [`hmac`].
pub(super) fn hmac_value(key: &[u8; 16], parts: &[&[u8]]) -> Key {
    Zeroizing::new(hmac(key, parts).finalize().into_bytes().into())
}

/// Returns a code of the concatenated parts (HMAC-MD5). It cannot be computed without the key.
pub fn code_of(key: &[u8; 16], parts: &[&[u8]]) -> u128 {
    u128::from_le_bytes(hmac(key, parts).finalize().into_bytes().into())
}

/// Converts a text to UTF-16, little endian.
pub(super) fn utf16(text: &str) -> Vec<u8> {
    // UTF-16 needs at most twice the bytes of UTF-8. The vector is never reallocated, so no copy of
    // a secret is left behind.
    let mut bytes = Vec::with_capacity(2 * text.len());
    bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    bytes
}
