//! Measures: facts that follow from a type's members.
//!
//! The measure of a structure or a union is computed once, when its members are known, from the
//! measures of its members.

/// The measure of a type: facts that follow from its members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measure {
    /// The size in bytes in memory and in FLAT: C's size on a 64-bit machine.
    pub size: u32,
    /// The alignment in memory and in FLAT.
    pub align: u32,
    /// Whether the type has no pointers, so that its bytes are its value.
    pub is_plain: bool,
    /// Whether every bit pattern of the type's size is a valid value.
    pub is_any_bits: bool,
    /// The depth of nested structures and unions, the type itself included.
    pub depth: u32,
    /// The number of members, including nested members. An enumeration with many values counts as
    /// several members.
    pub weight: u32,
}

impl Measure {
    pub(super) const fn value(size: u32, align: u32) -> Self {
        Self { size, align, is_plain: true, is_any_bits: true, depth: 0, weight: 1 }
    }

    /// Returns the measure of two values, of which `next` follows the first one like a structure's
    /// next member. `None` on overflow.
    pub(super) fn followed_by(self, next: Self) -> Option<Self> {
        let at = self.size.checked_next_multiple_of(next.align.max(1))?;
        Some(Self { size: at.checked_add(next.size)?, ..self.beside(next)? })
    }

    /// Returns the measure of two values that begin at the same place, like a union's arms. `None`
    /// on overflow.
    pub(super) fn beside(self, other: Self) -> Option<Self> {
        Some(Self {
            size: self.size.max(other.size),
            align: self.align.max(other.align),
            is_plain: self.is_plain && other.is_plain,
            is_any_bits: self.is_any_bits && other.is_any_bits,
            depth: self.depth.max(other.depth),
            weight: self.weight.checked_add(other.weight)?,
        })
    }

    /// Returns the measure of a structure or a union whose contents have this measure. `None` on
    /// overflow.
    pub(super) fn closed(self) -> Option<Self> {
        let size = self.size.checked_next_multiple_of(self.align)?;
        Some(Self { size, depth: self.depth + 1, ..self })
    }
}

/// The measure of a type without members.
pub(super) const NOTHING: Measure = Measure { weight: 1, ..Measure::value(0, 1) };

/// Rounds a value up to a multiple of an alignment.
pub fn round_up(value: u32, align: u32) -> u32 {
    value.div_ceil(align.max(1)).saturating_mul(align.max(1))
}
