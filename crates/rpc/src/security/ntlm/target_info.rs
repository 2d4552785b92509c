//! Target information: a list of attributes of the server, to which the client adds its own
//! (MS-NLMP 2.2.2.1).

use super::NtlmError;

/// The attributes and their values, in the order of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetInfo(Vec<(u16, Vec<u8>)>);

/// The identifier that ends the list.
const END: u16 = 0;
/// The maximum number of attributes in a list; eleven are defined.
const ATTRIBUTES_MAX: usize = 32;

impl TargetInfo {
    /// The server's NetBIOS name.
    pub const COMPUTER: u16 = 1;
    /// The NetBIOS name of the server's domain.
    pub const DOMAIN: u16 = 2;
    /// The server's DNS name.
    pub const DNS_COMPUTER: u16 = 3;
    /// The flags, four bytes.
    pub const FLAGS: u16 = 6;
    /// The time, eight bytes.
    pub const TIME: u16 = 7;
    /// The principal name that the client expects of the server.
    pub const PRINCIPAL: u16 = 9;
    /// The channel binding to an outer secure channel, 16 bytes; zeros if there is none.
    pub const CHANNEL: u16 = 10;

    /// A bit of [`FLAGS`](Self::FLAGS): the third message has an integrity code.
    pub const HAS_MIC: u32 = 2;

    /// Reads the list. Bytes behind its end are ignored.
    ///
    /// # Errors
    ///
    /// If the list has no end, too many attributes or a duplicate.
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

    /// Returns the list's bytes.
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

    /// Returns an attribute's value, if the list has the attribute.
    #[must_use]
    pub fn attribute(&self, id: u16) -> Option<&[u8]> {
        self.0.iter().find(|(other, _)| *other == id).map(|(_, value)| &value[..])
    }

    /// Adds an attribute, or replaces its value.
    pub fn set(&mut self, id: u16, value: Vec<u8>) {
        match self.0.iter_mut().find(|(other, _)| *other == id) {
            Some((_, old)) => *old = value,
            None => self.0.push((id, value)),
        }
    }

    /// Returns the flags, or 0 if the attribute is missing.
    ///
    /// # Errors
    ///
    /// [`NtlmError::TargetInfoLength`] if the attribute does not have four bytes.
    pub fn flags(&self) -> Result<u32, NtlmError> {
        Ok(self.array(Self::FLAGS)?.map_or(0, u32::from_le_bytes))
    }

    /// Returns the server's time in units of 100 ns since the year 1601, if the list has it.
    ///
    /// # Errors
    ///
    /// [`NtlmError::TargetInfoLength`] if the attribute does not have eight bytes.
    pub fn time(&self) -> Result<Option<u64>, NtlmError> {
        Ok(self.array(Self::TIME)?.map(u64::from_le_bytes))
    }

    fn array<const N: usize>(&self, id: u16) -> Result<Option<[u8; N]>, NtlmError> {
        let wrong = |value: &[u8]| NtlmError::TargetInfoLength { id, length: value.len() };
        self.attribute(id).map(|value| value.try_into().map_err(|_| wrong(value))).transpose()
    }
}
