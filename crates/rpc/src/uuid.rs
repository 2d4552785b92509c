//! UUIDs and syntax identifiers in the format of C706: the first three fields of a UUID are in the
//! sender's byte order.

use std::fmt;

/// A UUID. Its value is the number that the hexadecimal digits of its text form.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uuid(pub u128);

impl Uuid {
    /// Returns the UUID in wire format, little endian.
    pub const fn to_wire(self) -> [u8; 16] {
        let mut bytes = self.0.to_be_bytes();
        [bytes[0], bytes[1], bytes[2], bytes[3]] = [bytes[3], bytes[2], bytes[1], bytes[0]];
        [bytes[4], bytes[5], bytes[6], bytes[7]] = [bytes[5], bytes[4], bytes[7], bytes[6]];
        bytes
    }

    /// Returns the UUID for bytes in wire format, little endian.
    pub const fn from_wire(bytes: [u8; 16]) -> Self {
        // The byte permutation is its own inverse.
        Self(u128::from_be_bytes(Self(u128::from_be_bytes(bytes)).to_wire()))
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = format!("{:032x}", self.0);
        write!(f, "{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An abstract syntax (an interface) or a transfer syntax: UUID and version (C706 12.6.3.1,
/// p_syntax_id_t).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SyntaxId {
    /// The UUID.
    pub uuid: Uuid,
    /// The major version in the lower half, the minor version in the upper half.
    pub version: u32,
}

/// FLAT, version 1: see docs/flat.md.
pub const FLAT: SyntaxId = SyntaxId { uuid: Uuid(0x8f3c_51d2_7a0e_4d6b_b1e4_90c7_25ad_6e18), version: 1 };

/// NDR 2.0 (C706 chapter 14).
pub const NDR: SyntaxId = SyntaxId { uuid: Uuid(0x8a88_5d04_1ceb_11c9_9fe8_0800_2b10_4860), version: 2 };

/// NDR64 (MS-RPCE 2.2.5).
pub const NDR64: SyntaxId = SyntaxId { uuid: Uuid(0x7171_0533_beba_4937_8319_b5db_ef9c_cc36), version: 1 };
