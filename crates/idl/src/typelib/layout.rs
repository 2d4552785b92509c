//! Where things are in a file: all numbers are little-endian, and a place that is none is -1.

/// `MSFT`.
pub(super) const MAGIC: u32 = 0x5446_534d;
/// `SLTG`, of the format before.
pub(super) const OLD_MAGIC: u32 = 0x4754_4c53;
/// The version of the format.
pub(super) const FORMAT: u32 = 0x0001_0002;
/// No place.
pub(super) const NONE: u32 = u32::MAX;
/// What fills gaps.
pub(super) const FILL: u8 = 0x57;

/// Bytes of the header, behind which the places of the types stand.
pub(super) const HEADER: usize = 0x54;
/// A file of Windows on 64 bits; the rest of the bits is always set.
pub(super) const SYSTEM: u32 = 0x43;
/// There is a help file.
pub(super) const HAS_HELP_FILE: u32 = 0x10;
/// There is a library with help texts, whose name's place stands behind the header.
pub(super) const HAS_HELP_DLL: u32 = 0x100;

/// The segments, in the order of the directory. There are two more, which nobody has seen anything in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    Types,
    Foreign,
    Imports,
    References,
    UuidHash,
    Uuids,
    NameHash,
    Names,
    Texts,
    Descriptions,
    Arrays,
    Custom,
    CustomUuids,
}

/// How many segments the directory has.
pub(super) const SEGMENTS: usize = 15;
/// Bytes of one in the directory.
pub(super) const SEGMENT: usize = 16;
/// The segments in the order in which a file has them.
pub(super) const ORDER: [Segment; 13] = [
    Segment::Types,
    Segment::UuidHash,
    Segment::Uuids,
    Segment::References,
    Segment::Foreign,
    Segment::Imports,
    Segment::NameHash,
    Segment::Names,
    Segment::Texts,
    Segment::Descriptions,
    Segment::Arrays,
    Segment::Custom,
    Segment::CustomUuids,
];

/// Bytes of a type in its segment.
pub(super) const TYPE: usize = 0x64;
/// Bytes of a type of another library.
pub(super) const FOREIGN: usize = 12;
/// Bytes of an interface of a class.
pub(super) const REFERENCE: usize = 16;
/// Bytes of a UUID with what belongs to it.
pub(super) const UUID: usize = 24;
/// Bytes before a name's characters.
pub(super) const NAME: usize = 12;
/// Bytes of a description of a type.
pub(super) const DESCRIPTION: usize = 8;
/// Bytes of a function without what may be left out and its parameters.
pub(super) const FUNCTION: usize = 24;
/// Bytes of a parameter.
pub(super) const PARAMETER: usize = 12;
/// Bytes of a variable without what may be left out.
pub(super) const VARIABLE: usize = 20;

/// Chains of UUIDs and of names.
pub(super) const UUID_CHAINS: usize = 32;
pub(super) const NAME_CHAINS: usize = 128;

/// In the word of a function's kinds: parameters have defaults; there is one that is the result, or takes the language, or both.
pub(super) const HAS_DEFAULTS: u32 = 0x1000;
pub(super) const HAS_RESULT: u32 = 0x4000;
pub(super) const HAS_BOTH: u32 = 0x8000;

/// A type of another library is named by its UUID.
pub(super) const BY_UUID: u32 = 0x1_0000;

/// VARTYPEs that only type libraries have.
pub(super) mod vt {
    pub(in crate::typelib) const VOID: u16 = 24;
    pub(in crate::typelib) const PTR: u16 = 26;
    pub(in crate::typelib) const SAFEARRAY: u16 = 27;
    pub(in crate::typelib) const CARRAY: u16 = 28;
    pub(in crate::typelib) const USERDEFINED: u16 = 29;
    pub(in crate::typelib) const LPSTR: u16 = 30;
    pub(in crate::typelib) const LPWSTR: u16 = 31;
}

/// What chains a name is found in, and half of what it is compared by: without regard to case, and for languages written in Latin
/// letters to accents, of which names have none.
pub(super) fn name_hash(name: &str, folds: bool) -> u16 {
    let fold = |byte: u8| match byte.to_ascii_uppercase() {
        b'W' if folds => b'V',
        b'Y' if folds => b'U',
        byte => byte,
    };
    let sum = |sum: u32, byte: u8| sum.wrapping_mul(37).wrapping_add(fold(byte).into());
    (name.bytes().fold(0x0dea_dbee, sum) % 65599) as u16
}

/// What chain a UUID is found in.
pub(super) fn uuid_chain(bytes: &[u8; 16]) -> usize {
    let words = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    usize::from(words.fold(0, |all, word| all ^ word)) % UUID_CHAINS
}

/// A UUID as a file has it: the first three parts are numbers.
pub(super) fn uuid_bytes(uuid: u128) -> [u8; 16] {
    let mut bytes = uuid.to_be_bytes();
    bytes[..4].reverse();
    bytes[4..6].reverse();
    bytes[6..8].reverse();
    bytes
}

/// The UUID that a file has in these bytes.
pub(super) fn uuid_of(mut bytes: [u8; 16]) -> u128 {
    bytes[..4].reverse();
    bytes[4..6].reverse();
    bytes[6..8].reverse();
    u128::from_be_bytes(bytes)
}
