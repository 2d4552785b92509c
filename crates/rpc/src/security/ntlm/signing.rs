//! Signing and encryption of messages with extended security (MS-NLMP 3.4.2 to 3.4.4). Each
//! direction has its own keys, cipher stream and sequence numbers.

use super::keys;
use super::{Flags, NtlmError, Side};
use crate::security::secret::{Key, hmac};
use hmac::Mac;
use rc4::{Rc4, StreamCipher};
use std::fmt;
use std::ops::Range;

/// The length of a signature in bytes (MS-NLMP 2.2.2.9.2): version, checksum, sequence number.
pub const SIGNATURE_LENGTH: usize = 16;
/// The version of signatures.
const VERSION: [u8; 4] = 1_u32.to_le_bytes();

/// The state of one direction. It stays in a box, because moves would leave copies of its secrets
/// in memory.
struct Direction {
    sender: Side,
    flags: Flags,
    key: Key,
    signing: Key,
    stream: Rc4,
    /// The next sequence number, or the error that all further messages get.
    next: Result<u32, NtlmError>,
}

impl Direction {
    fn new(flags: Flags, key: &Key, sender: Side) -> Self {
        let signing = keys::signing(key, sender);
        Self { sender, flags, key: key.clone(), signing, stream: keys::sealing(key, sender), next: Ok(0) }
    }

    fn rewind(&mut self) {
        self.stream = keys::sealing(&self.key, self.sender);
    }

    /// Checks that encryption was negotiated, if there is a range to encrypt. Signing needs no
    /// check, because it is always possible.
    fn require(&self, sealed: &Option<Range<usize>>) -> Result<(), NtlmError> {
        if sealed.is_some() { self.flags.require(Flags::SEAL) } else { Ok(()) }
    }

    /// Takes the next sequence number.
    fn count(&mut self) -> Result<[u8; 4], NtlmError> {
        let count = self.next?;
        self.next = count.checked_add(1).ok_or(NtlmError::Exhausted);
        Ok(count.to_le_bytes())
    }

    /// If a key exchange was negotiated, encrypts or decrypts the checksum of a signature.
    fn cover(&mut self, code: &mut [u8; 8]) {
        if self.flags.has(Flags::KEY_EXCHANGE) {
            self.stream.apply_keystream(code);
        }
    }
}

/// Signs and encrypts the messages of one direction in the order of sending.
pub struct Outgoing(Box<Direction>);

/// Verifies and decrypts the messages of one direction in the order in which the peer has sent
/// them.
pub struct Incoming(Box<Direction>);

impl Outgoing {
    pub(super) fn new(flags: Flags, key: &Key, sender: Side) -> Self {
        Self(Box::new(Direction::new(flags, key, sender)))
    }

    /// Signs a message, and encrypts its range `sealed` in place.
    ///
    /// # Errors
    ///
    /// [`NtlmError::Flags`] if the peer did not agree to encryption, and [`NtlmError::Exhausted`]
    /// if no sequence numbers are left.
    ///
    /// # Panics
    ///
    /// If `sealed` is outside of the message.
    pub fn protect(
        &mut self,
        message: &mut [u8],
        sealed: Option<Range<usize>>,
    ) -> Result<[u8; SIGNATURE_LENGTH], NtlmError> {
        let direction = &mut self.0;
        direction.require(&sealed)?;
        let count = direction.count()?;
        let mut code = [0; 8];
        let mac = hmac(&direction.signing, &[&count, message]);
        code.copy_from_slice(&mac.finalize().into_bytes()[..8]);
        if let Some(sealed) = sealed {
            direction.stream.apply_keystream(&mut message[sealed]);
        }
        direction.cover(&mut code);
        let mut signature = [0; SIGNATURE_LENGTH];
        signature[..4].copy_from_slice(&VERSION);
        signature[4..12].copy_from_slice(&code);
        signature[12..].copy_from_slice(&count);
        Ok(signature)
    }

    /// Restarts the cipher stream but not the sequence numbers. SPNEGO demands this after the
    /// signature of its list (MS-SPNG 3.3.5.1).
    pub(in crate::security) fn rewind(&mut self) {
        self.0.rewind();
    }
}

impl Incoming {
    pub(super) fn new(flags: Flags, key: &Key, sender: Side) -> Self {
        Self(Box::new(Direction::new(flags, key, sender)))
    }

    /// Decrypts the range `sealed` of a message in place, and verifies its signature.
    ///
    /// # Errors
    ///
    /// [`NtlmError::Signature`] if the signature does not match the message and its sequence
    /// number. The message's contents are unspecified then, and all later messages of this
    /// direction fail. Other errors are as for [`Outgoing::protect`].
    ///
    /// # Panics
    ///
    /// If `sealed` is outside of the message.
    pub fn unprotect(
        &mut self,
        message: &mut [u8],
        sealed: Option<Range<usize>>,
        signature: &[u8],
    ) -> Result<(), NtlmError> {
        let direction = &mut self.0;
        direction.require(&sealed)?;
        let count = direction.count()?;
        if let Some(sealed) = sealed {
            direction.stream.apply_keystream(&mut message[sealed]);
        }
        let expected = hmac(&direction.signing, &[&count, message]);
        let mut code = [0; 8];
        let is_right = signature.len() == SIGNATURE_LENGTH && {
            code.copy_from_slice(&signature[4..12]);
            direction.cover(&mut code);
            // Only the checksum is compared in constant time, since the version and the sequence
            // number are public.
            signature[..4] == VERSION && signature[12..] == count && expected.verify_truncated_left(&code).is_ok()
        };
        if is_right {
            return Ok(());
        }
        direction.next = Err(NtlmError::Signature);
        Err(NtlmError::Signature)
    }

    /// Restarts the cipher stream but not the sequence numbers. SPNEGO demands this after the
    /// signature of its list (MS-SPNG 3.3.5.1).
    pub(in crate::security) fn rewind(&mut self) {
        self.0.rewind();
    }
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Outgoing(next: {:?})", self.0.next)
    }
}

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Incoming(next: {:?})", self.0.next)
    }
}
