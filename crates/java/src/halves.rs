//! GUIDs in Java's form.

/// A GUID in Java's form: two halves in the order of the textual form.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Halves {
    /// The first eight bytes.
    pub high: u64,
    /// The last eight bytes.
    pub low: u64,
}

impl Halves {
    pub(crate) fn of(value: u128) -> Self {
        Self { high: (value >> 64) as u64, low: value as u64 }
    }

    pub(crate) fn join(self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }
}
