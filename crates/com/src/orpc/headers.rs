//! ORPCTHIS and ORPCTHAT (MS-DCOM 2.2.13.3, 2.2.13.4): the headers of a call's parameters and of
//! its results.

use super::extents::Extents;
use super::stub_data::{Body, Decoder, Encoder, Malformed};
use windows_core::GUID;

/// COMVERSION (MS-DCOM 2.2.11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ComVersion {
    /// The major version.
    pub major: u16,
    /// The minor version.
    pub minor: u16,
}

impl ComVersion {
    /// The version of this implementation: 5.7.
    pub const OURS: Self = Self { major: 5, minor: 7 };

    /// Whether a server of this version performs calls of a client: the major version must be equal
    /// and the client's minor version no higher (MS-DCOM 1.7). Otherwise the server answers
    /// RPC_E_VERSION_MISMATCH.
    pub fn performs(self, client: Self) -> bool {
        client.major == self.major && client.minor <= self.minor
    }
}

impl Body for ComVersion {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        Ok(Self { major: from.u16("MajorVersion")?, minor: from.u16("MinorVersion")? })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        to.u16(self.major);
        to.u16(self.minor);
    }
}

/// The header of a call's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrpcThis {
    /// The client's version of DCOM.
    pub version: ComVersion,
    /// The flags: 0 in the header of a call of an object. If the header is a parameter of an
    /// activation, any value is permitted.
    pub flags: u32,
    /// The causality identifier, which a call shares with all calls that it causes.
    pub causality: GUID,
    /// The extents of the call.
    pub extents: Extents,
}

impl OrpcThis {
    /// Makes a header of this version without extents.
    pub fn new(causality: GUID) -> Self {
        Self { version: ComVersion::OURS, flags: 0, causality, extents: Extents::default() }
    }
}

impl Body for OrpcThis {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let version = ComVersion::read(from)?;
        let flags = from.u32("ORPCTHIS.flags")?;
        from.u32("ORPCTHIS.reserved1")?;
        let causality = from.guid("cid")?;
        let has_extents = from.pointer("extensions")?;
        Ok(Self { version, flags, causality, extents: Extents::read_pointer(from, has_extents)? })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        self.version.write(to);
        to.u32(self.flags);
        to.u32(0);
        to.guid(&self.causality);
        to.pointer(self.extents.is_there());
        if self.extents.is_there() {
            self.extents.write(to);
        }
    }
}

/// The header of a call's results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrpcThat {
    /// The flags, which are unused.
    pub flags: u32,
    /// The extents of the answer.
    pub extents: Extents,
}

impl Body for OrpcThat {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let flags = from.u32("ORPCTHAT.flags")?;
        let has_extents = from.pointer("extensions")?;
        Ok(Self { flags, extents: Extents::read_pointer(from, has_extents)? })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        to.u32(self.flags);
        to.pointer(self.extents.is_there());
        if self.extents.is_there() {
            self.extents.write(to);
        }
    }
}
