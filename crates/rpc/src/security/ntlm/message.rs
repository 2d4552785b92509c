//! The layout of an exchange's three messages (MS-NLMP 2.2.1).

use super::{NtlmError, TOKEN_MAX};
use crate::security::secret::utf16;
use std::ops::{BitAnd, BitOr, Range};

/// The signature at the front of all messages.
const SIGNATURE: [u8; 8] = *b"NTLMSSP\0";
const NEGOTIATE: u32 = 1;
const CHALLENGE: u32 = 2;
const AUTHENTICATE: u32 = 3;
/// The lengths of the messages' fixed parts, in bytes. The integrity code is not included. The
/// version is included only in CHALLENGE.
const NEGOTIATE_FIXED: usize = 32;
const CHALLENGE_FIXED: usize = 56;
const AUTHENTICATE_FIXED: usize = 64;
/// The range of the integrity code in AUTHENTICATE, if the message has one. The eight bytes of the
/// version precede it.
const MIC: Range<usize> = 72..88;
/// The greatest length of NEGOTIATE in bytes. The limit is low, because servers keep this message
/// for clients that have proved nothing yet.
const NEGOTIATE_MAX: usize = 1024;
/// The greatest length of a name in code units, more than users, hosts and domains need.
const NAME_MAX: usize = 512;

/// The capabilities of a side, or the negotiated capabilities (MS-NLMP 2.2.2.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u32);

impl Flags {
    /// Names are UTF-16.
    pub const UNICODE: Self = Self(0x0000_0001);
    /// The client requests the server's name.
    pub const REQUEST_TARGET: Self = Self(0x0000_0004);
    /// Messages can be signed.
    pub const SIGN: Self = Self(0x0000_0010);
    /// Messages can be encrypted.
    pub const SEAL: Self = Self(0x0000_0020);
    /// NTLM is used.
    pub const NTLM: Self = Self(0x0000_0200);
    /// The client is anonymous.
    pub const ANONYMOUS: Self = Self(0x0000_0800);
    /// Signing keys are always derived.
    pub const ALWAYS_SIGN: Self = Self(0x0000_8000);
    /// The target is a server, not a domain.
    pub const TARGET_IS_SERVER: Self = Self(0x0002_0000);
    /// Extended security is used for signatures and keys.
    pub const EXTENDED: Self = Self(0x0008_0000);
    /// The challenge contains target information.
    pub const TARGET_INFO: Self = Self(0x0080_0000);
    /// Keys have 128 bits.
    pub const BITS_128: Self = Self(0x2000_0000);
    /// The client chooses the key and sends it encrypted.
    pub const KEY_EXCHANGE: Self = Self(0x4000_0000);
    /// Keys have 56 bits if 128 are not supported.
    pub const BITS_56: Self = Self(0x8000_0000);

    /// The flags that every exchange requires.
    pub(super) const REQUIRED: Self =
        Self(Self::UNICODE.0 | Self::NTLM.0 | Self::EXTENDED.0 | Self::TARGET_INFO.0 | Self::BITS_128.0);

    /// Whether all flags in `these` are set in this value.
    #[must_use]
    pub const fn has(self, these: Self) -> bool {
        self.0 & these.0 == these.0
    }

    /// Checks that all flags in `these` are set.
    ///
    /// # Errors
    ///
    /// [`NtlmError::Flags`] with the missing flags.
    pub(super) fn require(self, these: Self) -> Result<(), NtlmError> {
        let missing = Self(these.0 & !self.0);
        if missing == Self::default() { Ok(()) } else { Err(NtlmError::Flags { missing }) }
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Flags {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// The first message: the client's capabilities (MS-NLMP 2.2.1.1). Other fields are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Negotiate {
    /// The client's capabilities.
    pub flags: Flags,
}

/// The second message: the server's challenge (MS-NLMP 2.2.1.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge<'a> {
    /// The capabilities that the server has chosen.
    pub flags: Flags,
    /// The server's nonce.
    pub challenge: [u8; 8],
    /// The server's name in UTF-16.
    pub target: &'a [u8],
    /// The target information: a list of attributes of the server.
    pub target_info: &'a [u8],
}

/// The third message: the client's identity and its proof (MS-NLMP 2.2.1.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authenticate<'a> {
    /// The negotiated capabilities.
    pub flags: Flags,
    /// The LM response. It is used only to recognize anonymous clients.
    pub lm_response: &'a [u8],
    /// The NTLM response.
    pub nt_response: &'a [u8],
    /// The user's domain.
    pub domain: String,
    /// The user's name.
    pub user: String,
    /// The client's host.
    pub workstation: String,
    /// The client's session key, encrypted.
    pub key: &'a [u8],
    /// The integrity code over the three messages, if the message has room for it.
    pub mic: Option<[u8; 16]>,
}

impl Negotiate {
    /// Returns the message's bytes.
    #[must_use]
    pub fn to_wire(self) -> Vec<u8> {
        let mut bytes = start(NEGOTIATE, NEGOTIATE_FIXED);
        put(&mut bytes, 12, self.flags.0.to_le_bytes());
        bytes
    }

    /// Reads the message.
    ///
    /// # Errors
    ///
    /// [`NtlmError`] if the message is malformed.
    pub fn from_wire(bytes: &[u8]) -> Result<Self, NtlmError> {
        let message = Message::open(bytes, NEGOTIATE, NEGOTIATE_FIXED)?;
        Ok(Self { flags: Flags(message.u32(12)) })
    }
}

impl<'a> Challenge<'a> {
    /// Returns the message's bytes.
    #[must_use]
    pub fn to_wire(&self) -> Vec<u8> {
        let mut bytes = start(CHALLENGE, CHALLENGE_FIXED);
        put(&mut bytes, 20, self.flags.0.to_le_bytes());
        put(&mut bytes, 24, self.challenge);
        append(&mut bytes, 12, self.target);
        append(&mut bytes, 40, self.target_info);
        bytes
    }

    /// Reads the message.
    ///
    /// # Errors
    ///
    /// [`NtlmError`] if the message is malformed.
    pub fn from_wire(bytes: &'a [u8]) -> Result<Self, NtlmError> {
        // The version is optional, because the first implementations do not send it.
        let mut message = Message::open(bytes, CHALLENGE, CHALLENGE_FIXED - 8)?;
        let (target, target_info) = (message.field(12)?, message.field(40)?);
        message.check_overlap()?;
        Ok(Self { flags: Flags(message.u32(20)), challenge: message.array(24), target, target_info })
    }
}

impl<'a> Authenticate<'a> {
    /// Returns the message's bytes. The integrity code is zero, since it is computed over these
    /// bytes.
    #[must_use]
    pub fn to_wire(&self) -> Vec<u8> {
        let mut bytes = start(AUTHENTICATE, if self.mic.is_some() { MIC.end } else { MIC.start });
        put(&mut bytes, 60, self.flags.0.to_le_bytes());
        for (at, name) in [(28, &self.domain), (36, &self.user), (44, &self.workstation)] {
            append(&mut bytes, at, &utf16(name));
        }
        for (at, field) in [(12, self.lm_response), (20, self.nt_response), (52, self.key)] {
            append(&mut bytes, at, field);
        }
        bytes
    }

    /// Reads the message.
    ///
    /// # Errors
    ///
    /// [`NtlmError`] if the message is malformed.
    pub fn from_wire(bytes: &'a [u8]) -> Result<Self, NtlmError> {
        let mut message = Message::open(bytes, AUTHENTICATE, AUTHENTICATE_FIXED)?;
        let read = Self {
            flags: Flags(message.u32(60)),
            lm_response: message.field(12)?,
            nt_response: message.field(20)?,
            domain: message.name(28)?,
            user: message.name(36)?,
            workstation: message.name(44)?,
            key: message.field(52)?,
            mic: None,
        };
        let payload = message.check_overlap()?;
        Ok(Self { mic: (payload >= MIC.end).then(|| message.array(MIC.start)), ..read })
    }
}

/// Stores the integrity code in the third message.
pub(super) fn set_mic(authenticate: &mut [u8], mic: &[u8; 16]) {
    authenticate[MIC].copy_from_slice(mic);
}

/// Returns the parts of the third message before and after the integrity code. When the code is
/// computed, its own bytes count as zeros.
pub(super) fn around_mic(authenticate: &[u8]) -> (&[u8], &[u8]) {
    (&authenticate[..MIC.start], &authenticate[MIC.end..])
}

fn start(kind: u32, fixed: usize) -> Vec<u8> {
    let mut bytes = vec![0; fixed];
    put(&mut bytes, 0, SIGNATURE);
    put(&mut bytes, 8, kind.to_le_bytes());
    bytes
}

fn put<const N: usize>(bytes: &mut [u8], at: usize, value: [u8; N]) {
    bytes[at..at + N].copy_from_slice(&value);
}

/// Appends a field and writes its descriptor at `at`: length, allocated length and offset.
fn append(bytes: &mut Vec<u8>, at: usize, field: &[u8]) {
    let length = u16::try_from(field.len()).unwrap_or(u16::MAX).to_le_bytes();
    let offset = (bytes.len() as u32).to_le_bytes();
    put(bytes, at, length);
    put(bytes, at + 2, length);
    put(bytes, at + 4, offset);
    bytes.extend_from_slice(field);
}

/// A message with a complete fixed part, and the ranges of the fields read so far.
struct Message<'a> {
    bytes: &'a [u8],
    fixed: usize,
    fields: Vec<Range<usize>>,
}

impl<'a> Message<'a> {
    fn open(bytes: &'a [u8], expected: u32, fixed: usize) -> Result<Self, NtlmError> {
        let length = bytes.len();
        let limit = if expected == NEGOTIATE { NEGOTIATE_MAX } else { TOKEN_MAX };
        if length > limit {
            return Err(NtlmError::Long { length, limit });
        }
        if !bytes.starts_with(&SIGNATURE) {
            return Err(NtlmError::NotNtlm);
        }
        if length < fixed {
            return Err(NtlmError::Short { length });
        }
        let message = Self { bytes, fixed, fields: Vec::new() };
        match message.u32(8) {
            found if found != expected => Err(NtlmError::Type { found, expected }),
            _ => Ok(message),
        }
    }

    /// Reads an array in the fixed part.
    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut value = [0; N];
        value.copy_from_slice(&self.bytes[at..at + N]);
        value
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.array(at))
    }

    /// Reads the field whose descriptor is at `at`.
    fn field(&mut self, at: usize) -> Result<&'a [u8], NtlmError> {
        let length = u16::from_le_bytes(self.array(at));
        let offset = self.u32(at + 4);
        if length == 0 {
            // The offset of an empty field is arbitrary.
            return Ok(&[]);
        }
        let range = offset as usize..(offset as usize).saturating_add(length.into());
        match self.bytes.get(range.clone()) {
            Some(field) if range.start >= self.fixed => {
                self.fields.push(range);
                Ok(field)
            }
            _ => Err(NtlmError::Field { at, offset, length }),
        }
    }

    /// Reads the name whose descriptor is at `at`.
    fn name(&mut self, at: usize) -> Result<String, NtlmError> {
        name(self.field(at)?).ok_or(NtlmError::Name { at })
    }

    /// Checks that no two fields overlap. Returns the offset of the first field.
    fn check_overlap(&mut self) -> Result<usize, NtlmError> {
        self.fields.sort_by_key(|field| field.start);
        match self.fields.windows(2).find(|two| two[0].end > two[1].start) {
            Some(two) => Err(NtlmError::Overlap { offset: two[1].start }),
            None => Ok(self.fields.first().map_or(self.bytes.len(), |first| first.start)),
        }
    }
}

/// Decodes a UTF-16 name, or returns `None` if the name is invalid or too long.
pub(super) fn name(bytes: &[u8]) -> Option<String> {
    let (units, rest) = bytes.as_chunks::<2>();
    if units.len() > NAME_MAX || !rest.is_empty() {
        return None;
    }
    char::decode_utf16(units.iter().map(|unit| u16::from_le_bytes(*unit))).collect::<Result<_, _>>().ok()
}
