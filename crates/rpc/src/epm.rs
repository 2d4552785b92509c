//! The endpoint mapper (C706 appendix O): resolves interfaces to the endpoints of a host.
//!
//! Stub data is marshalled by hand, since this layer lies below the code that is generated from
//! IDL.

mod client;
mod mapper;
#[cfg(test)]
mod tests;
mod tower;

pub use client::{Change, Lookup, MapError, change_request, changed, looked_up, lookup_request, map_request, mapped};
pub use mapper::{Caller, ENTRIES_MAX, Entry, Mapper, REGISTERED_MAX, Registrant};
pub use tower::{ANY_HOST, Tower, TowerError, Way};

use crate::status::Status;
use crate::uuid::{SyntaxId, Uuid};

/// The endpoint mapper's interface.
pub const INTERFACE: SyntaxId = SyntaxId { uuid: Uuid(0xe1af_8308_5d1f_11c9_91a4_0800_2b14_a0fa), version: 3 };
/// The well-known TCP and UDP port of endpoint mappers.
pub const PORT: u16 = 135;

/// The methods' opnums.
mod op {
    pub(super) const INSERT: u16 = 0;
    pub(super) const DELETE: u16 = 1;
    pub(super) const LOOKUP: u16 = 2;
    pub(super) const MAP: u16 = 3;
    pub(super) const LOOKUP_HANDLE_FREE: u16 = 4;
}

/// No entry, or no further entry, matches (ept_s_not_registered).
pub const NOT_REGISTERED: Status = Status(0x16c9_a0d6);
/// The caller may not change the entry, or the mapper has no room for it (ept_s_cant_perform_op).
pub const CANNOT_PERFORM: Status = Status(0x16c9_a0cd);
/// A tower is invalid (ept_s_invalid_entry).
pub const INVALID_ENTRY: Status = Status(0x16c9_a0d3);

/// The length of a context handle, in bytes.
const HANDLE: usize = 20;
/// The longest accepted tower, in bytes: a tower of five floors has 75.
const TOWER_MAX: usize = 512;

/// The referent identifier of non-null pointers. Readers only check whether an identifier is 0.
const REFERENT: u32 = 0x0002_0000;

impl From<crate::octets::Short> for Status {
    fn from(_: crate::octets::Short) -> Self {
        Self::BAD_STUB_DATA
    }
}
