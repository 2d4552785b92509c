//! The value of a context handle (C706 4.2.16.6).

use windows_core::GUID;

/// A `[context_handle]`: the server gives the client a handle for a state, and the client passes
/// the handle in further calls.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextHandle {
    attributes: u32,
    uuid: GUID,
}

impl ContextHandle {
    /// The null handle.
    pub const NULL: Self = Self { attributes: 0, uuid: GUID::zeroed() };

    /// Makes a handle from its wire form.
    pub const fn from_wire(attributes: u32, uuid: GUID) -> Self {
        Self { attributes, uuid }
    }

    /// Returns the attributes and the UUID of the wire form.
    pub const fn to_wire(self) -> (u32, GUID) {
        (self.attributes, self.uuid)
    }

    /// Whether the handle is null.
    pub fn is_null(&self) -> bool {
        *self == Self::NULL
    }
}
