//! The three messages of an exchange: where in them what lies (MS-NLMP 2.2.1).

use super::{NtlmError, TOKEN_MAX};
use crate::security::secret::utf16;
use std::ops::{BitAnd, BitOr, Range};

/// What all messages begin with.
const SIGNATURE: [u8; 8] = *b"NTLMSSP\0";
const NEGOTIATE: u32 = 1;
const CHALLENGE: u32 = 2;
const AUTHENTICATE: u32 = 3;
/// Bytes of the fixed parts, with version and without the integrity code.
const NEGOTIATE_FIXED: usize = 32;
const CHALLENGE_FIXED: usize = 56;
const AUTHENTICATE_FIXED: usize = 64;
/// Where AUTHENTICATE has its integrity code, if it has one, behind eight bytes of version.
const MIC: Range<usize> = 72..88;
/// Code units that a name may have: more than users, hosts and domains do.
const NAME_MAX: usize = 512;

/// What a side can do, or both agreed to (MS-NLMP 2.2.2.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u32);

impl Flags {
    /// Names are UTF-16.
    pub const UNICODE: Self = Self(0x0000_0001);
    /// The client asks for the server's name.
    pub const REQUEST_TARGET: Self = Self(0x0000_0004);
    /// Messages may be signed.
    pub const SIGN: Self = Self(0x0000_0010);
    /// Messages may be encrypted.
    pub const SEAL: Self = Self(0x0000_0020);
    /// NTLM is spoken.
    pub const NTLM: Self = Self(0x0000_0200);
    /// The client says nothing about who it is.
    pub const ANONYMOUS: Self = Self(0x0000_0800);
    /// Keys to sign with are made in any case.
    pub const ALWAYS_SIGN: Self = Self(0x0000_8000);
    /// The target is a server, not a domain.
    pub const TARGET_IS_SERVER: Self = Self(0x0002_0000);
    /// Signatures and keys are those of extended security.
    pub const EXTENDED: Self = Self(0x0008_0000);
    /// The server says more about itself.
    pub const TARGET_INFO: Self = Self(0x0080_0000);
    /// Keys have 128 bits.
    pub const BITS_128: Self = Self(0x2000_0000);
    /// The client chooses the key, and hands it over.
    pub const KEY_EXCHANGE: Self = Self(0x4000_0000);
    /// Keys have 56 bits, where they cannot have 128.
    pub const BITS_56: Self = Self(0x8000_0000);

    /// What no exchange is made without.
    pub(super) const REQUIRED: Self =
        Self(Self::UNICODE.0 | Self::NTLM.0 | Self::EXTENDED.0 | Self::TARGET_INFO.0 | Self::BITS_128.0);

    /// Whether all of `these` are there.
    #[must_use]
    pub const fn has(self, these: Self) -> bool {
        self.0 & these.0 == these.0
    }

    /// # Errors
    ///
    /// Which of `these` are not there.
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

/// The first message: what the client can do (MS-NLMP 2.2.1.1). What else may be in it is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Negotiate {
    /// What the client can do.
    pub flags: Flags,
}

/// The second message: the server's (MS-NLMP 2.2.1.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge<'a> {
    /// What the server takes of what the client can do.
    pub flags: Flags,
    /// A number never used before.
    pub challenge: [u8; 8],
    /// The server's name, in UTF-16.
    pub target: &'a [u8],
    /// What else there is to know about the server, as a list of attributes.
    pub target_info: &'a [u8],
}

/// The third message: who the client is, and proof of it (MS-NLMP 2.2.1.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authenticate<'a> {
    /// What is agreed to.
    pub flags: Flags,
    /// The response of LM. It is not looked at but to tell an anonymous client.
    pub lm_response: &'a [u8],
    /// The response of NTLM.
    pub nt_response: &'a [u8],
    /// The user's domain.
    pub domain: String,
    /// The user.
    pub user: String,
    /// The client's host.
    pub workstation: String,
    /// The key that the client chose, encrypted.
    pub key: &'a [u8],
    /// The code over the three messages, if the message has room for one.
    pub mic: Option<[u8; 16]>,
}

impl Negotiate {
    /// The message's bytes.
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
    /// What is wrong with it.
    pub fn from_wire(bytes: &[u8]) -> Result<Self, NtlmError> {
        let message = Message::open(bytes, NEGOTIATE, NEGOTIATE_FIXED)?;
        Ok(Self { flags: Flags(message.u32(12)) })
    }
}

impl<'a> Challenge<'a> {
    /// The message's bytes.
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
    /// What is wrong with it.
    pub fn from_wire(bytes: &'a [u8]) -> Result<Self, NtlmError> {
        // Those of the first servers have no version.
        let mut message = Message::open(bytes, CHALLENGE, CHALLENGE_FIXED - 8)?;
        let (target, target_info) = (message.field(12)?, message.field(40)?);
        message.check_overlap()?;
        Ok(Self { flags: Flags(message.u32(20)), challenge: message.array(24), target, target_info })
    }
}

impl<'a> Authenticate<'a> {
    /// The message's bytes, with zeros for the code if there is to be one: it is made over these bytes.
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
    /// What is wrong with it.
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

/// Puts the code over the three messages into the third.
pub(super) fn set_mic(authenticate: &mut [u8], mic: &[u8; 16]) {
    authenticate[MIC].copy_from_slice(mic);
}

/// What is before and behind the code in the third message. The code itself counts as zeros when it is made.
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

/// Appends a field, and describes it at `at`: its length, the room it has, its offset.
fn append(bytes: &mut Vec<u8>, at: usize, field: &[u8]) {
    let length = u16::try_from(field.len()).unwrap_or(u16::MAX).to_le_bytes();
    let offset = (bytes.len() as u32).to_le_bytes();
    put(bytes, at, length);
    put(bytes, at + 2, length);
    put(bytes, at + 4, offset);
    bytes.extend_from_slice(field);
}

/// A message whose fixed part is there, and where the fields are that have been read.
struct Message<'a> {
    bytes: &'a [u8],
    fixed: usize,
    fields: Vec<Range<usize>>,
}

impl<'a> Message<'a> {
    fn open(bytes: &'a [u8], expected: u32, fixed: usize) -> Result<Self, NtlmError> {
        let length = bytes.len();
        if length > TOKEN_MAX {
            return Err(NtlmError::Long { length });
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

    /// Of the fixed part.
    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut value = [0; N];
        value.copy_from_slice(&self.bytes[at..at + N]);
        value
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.array(at))
    }

    /// The field that is described at `at`.
    fn field(&mut self, at: usize) -> Result<&'a [u8], NtlmError> {
        let length = u16::from_le_bytes(self.array(at));
        let offset = self.u32(at + 4);
        if length == 0 {
            // The offset of a field that has no bytes may be anything.
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

    /// The name that is described at `at`.
    fn name(&mut self, at: usize) -> Result<String, NtlmError> {
        name(self.field(at)?).ok_or(NtlmError::Name { at })
    }

    /// Checks that no two fields share bytes, and returns where the first begins.
    fn check_overlap(&mut self) -> Result<usize, NtlmError> {
        self.fields.sort_by_key(|field| field.start);
        match self.fields.windows(2).find(|two| two[0].end > two[1].start) {
            Some(two) => Err(NtlmError::Overlap { offset: two[1].start }),
            None => Ok(self.fields.first().map_or(self.bytes.len(), |first| first.start)),
        }
    }
}

/// A name of UTF-16 bytes, if it is one.
pub(super) fn name(bytes: &[u8]) -> Option<String> {
    let (units, rest) = bytes.as_chunks::<2>();
    if units.len() > NAME_MAX || !rest.is_empty() {
        return None;
    }
    char::decode_utf16(units.iter().map(|unit| u16::from_le_bytes(*unit))).collect::<Result<_, _>>().ok()
}
