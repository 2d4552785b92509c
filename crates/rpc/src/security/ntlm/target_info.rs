//! What a server says about itself, and the client about what it makes of it: a list of attributes (MS-NLMP 2.2.2.1).

use super::NtlmError;

/// Attributes and their bytes, in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetInfo(Vec<(u16, Vec<u8>)>);

/// The end of the list.
const END: u16 = 0;
/// Attributes that a list may have; there are eleven.
const ATTRIBUTES_MAX: usize = 32;

impl TargetInfo {
    /// The server's host, as NetBIOS has it.
    pub const COMPUTER: u16 = 1;
    /// The server's domain, as NetBIOS has it.
    pub const DOMAIN: u16 = 2;
    /// The server's host, as DNS has it.
    pub const DNS_COMPUTER: u16 = 3;
    /// Four bytes of flags.
    pub const FLAGS: u16 = 6;
    /// Eight bytes of time.
    pub const TIME: u16 = 7;
    /// The principal name that the client believes the server to have.
    pub const PRINCIPAL: u16 = 9;
    /// 16 bytes that say inside which other secured channel the exchange takes place, zeros for none.
    pub const CHANNEL: u16 = 10;

    /// Of [`FLAGS`](Self::FLAGS): there is a code over the three messages.
    pub const HAS_MIC: u32 = 2;

    /// Reads the list. What is behind its end is not looked at.
    ///
    /// # Errors
    ///
    /// When it has no end, too many attributes, or one twice.
    pub fn from_wire(bytes: &[u8]) -> Result<Self, NtlmError> {
        let mut rest = bytes;
        let mut info = Self::default();
        loop {
            let (id, after) = rest.split_first_chunk().ok_or(NtlmError::TargetInfoShort)?;
            let (length, after) = after.split_first_chunk().ok_or(NtlmError::TargetInfoShort)?;
            let (id, length) = (u16::from_le_bytes(*id), u16::from_le_bytes(*length));
            if id == END {
                return Ok(info);
            }
            let (value, after) = after.split_at_checked(length.into()).ok_or(NtlmError::TargetInfoShort)?;
            if info.attribute(id).is_some() {
                return Err(NtlmError::TargetInfoTwice { id });
            }
            if info.0.len() == ATTRIBUTES_MAX {
                return Err(NtlmError::TargetInfoMany);
            }
            info.0.push((id, value.to_vec()));
            rest = after;
        }
    }

    /// The list's bytes.
    #[must_use]
    pub fn to_wire(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (id, value) in &self.0 {
            bytes.extend_from_slice(&id.to_le_bytes());
            bytes.extend_from_slice(&u16::try_from(value.len()).unwrap_or(u16::MAX).to_le_bytes());
            bytes.extend_from_slice(value);
        }
        bytes.extend_from_slice(&[0; 4]);
        bytes
    }

    /// An attribute's bytes.
    #[must_use]
    pub fn attribute(&self, id: u16) -> Option<&[u8]> {
        self.0.iter().find(|(other, _)| *other == id).map(|(_, value)| &value[..])
    }

    /// Adds an attribute, or puts another value in its place.
    pub fn set(&mut self, id: u16, value: Vec<u8>) {
        match self.0.iter_mut().find(|(other, _)| *other == id) {
            Some((_, old)) => *old = value,
            None => self.0.push((id, value)),
        }
    }

    /// The flags; none where they are not there.
    ///
    /// # Errors
    ///
    /// When they have not four bytes.
    pub fn flags(&self) -> Result<u32, NtlmError> {
        Ok(self.array(Self::FLAGS)?.map_or(0, u32::from_le_bytes))
    }

    /// The server's time, in intervals of 100 ns since the year 1601.
    ///
    /// # Errors
    ///
    /// When it has not eight bytes.
    pub fn time(&self) -> Result<Option<u64>, NtlmError> {
        Ok(self.array(Self::TIME)?.map(u64::from_le_bytes))
    }

    fn array<const N: usize>(&self, id: u16) -> Result<Option<[u8; N]>, NtlmError> {
        let wrong = |value: &[u8]| NtlmError::TargetInfoLength { id, length: value.len() };
        self.attribute(id).map(|value| value.try_into().map_err(|_| wrong(value))).transpose()
    }
}
