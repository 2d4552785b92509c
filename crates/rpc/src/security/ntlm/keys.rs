//! Key derivation: from a user's hash to the response and the key of an exchange (MS-NLMP 3.3.2),
//! and to the keys of each direction (3.4.5).

use super::Side;
use crate::security::credentials::uppercase;
use crate::security::secret::{Key, NtHash, hmac_value, utf16};
use md5::{Digest, Md5};
use rc4::{KeyInit, Rc4, StreamCipher};
use zeroize::Zeroizing;

/// Derives the key of responses, NTOWFv2, for a user in a domain.
pub(super) fn response_key(hash: &NtHash, domain: &str, user: &str) -> Key {
    hmac_value(hash.bytes(), &[&utf16(&uppercase(user)), &utf16(domain)])
}

/// Derives the base key from the proof in a response, NTProofStr.
pub(super) fn base_key(response_key: &Key, proof: &[u8; 16]) -> Key {
    hmac_value(response_key, &[proof])
}

/// Encrypts or decrypts the key that a client has chosen.
pub(super) fn exchange(base_key: &Key, key: &[u8; 16]) -> Key {
    let mut key = Zeroizing::new(*key);
    rc4(base_key).apply_keystream(&mut *key);
    key
}

/// Derives the signing key of a direction.
pub(super) fn signing(key: &Key, sender: Side) -> Key {
    derived(key, sender, "signing")
}

/// Creates the cipher stream of a direction.
pub(super) fn sealing(key: &Key, sender: Side) -> Rc4 {
    rc4(&derived(key, sender, "sealing"))
}

fn derived(key: &Key, sender: Side, purpose: &str) -> Key {
    let (from, to) = match sender {
        Side::Client => ("client", "server"),
        Side::Server => ("server", "client"),
    };
    let mut hash = Md5::new_with_prefix(**key);
    hash.update(format!("session key to {from}-to-{to} {purpose} key magic constant\0"));
    Zeroizing::new(hash.finalize().into())
}

/// Creates RC4 with a key of 16 bytes. RC4 repeats its key, so the doubled key is equivalent.
fn rc4(key: &Key) -> Rc4 {
    let mut twice = Zeroizing::new([0; 32]);
    twice[..16].copy_from_slice(&**key);
    twice[16..].copy_from_slice(&**key);
    Rc4::new((&*twice).into())
}
