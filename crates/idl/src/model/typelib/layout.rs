//! The layout of a type library file. All numbers are little-endian. The place of an entry is its
//! offset in its segment, or -1 if the entry is missing.

/// The first four bytes of a file: `MSFT`.
pub(super) const MAGIC: u32 = 0x5446_534d;
/// The first four bytes of a file in the older format: `SLTG`.
pub(super) const OLD_MAGIC: u32 = 0x4754_4c53;
/// The version of the format.
pub(super) const FORMAT: u32 = 0x0001_0002;
/// The place of a missing entry.
pub(super) const NONE: u32 = u32::MAX;
/// The byte that fills gaps.
pub(super) const FILL: u8 = 0x57;

/// The size of the header in bytes. The places of the types follow the header.
pub(super) const HEADER: usize = 0x54;
/// The flag of a file for 64-bit Windows, with the other bits that are always set.
pub(super) const SYSTEM: u32 = 0x43;
/// Flag: there is a help file.
pub(super) const HAS_HELP_FILE: u32 = 0x10;
/// Flag: there is a library with help texts. The place of the library's name follows the header.
pub(super) const HAS_HELP_DLL: u32 = 0x100;

/// The segments, in the order of the directory. The directory has two further segments, whose
/// contents are unknown.
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

/// The number of segments in the directory.
pub(super) const SEGMENTS: usize = 15;
/// The size of a directory entry in bytes.
pub(super) const SEGMENT: usize = 16;
/// The segments, in their order in the file.
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

/// The size in bytes of an entry for a type.
pub(super) const TYPE: usize = 0x64;
/// The size in bytes of an entry for a type of another library.
pub(super) const FOREIGN: usize = 12;
/// The size in bytes of an entry for an interface of a class.
pub(super) const REFERENCE: usize = 16;
/// The size in bytes of an entry with a UUID, the UUID's owner, and the place of the next entry in
/// the hash chain.
pub(super) const UUID: usize = 24;
/// The number of bytes before a name's characters.
pub(super) const NAME: usize = 12;
/// The size in bytes of a type description.
pub(super) const DESCRIPTION: usize = 8;
/// The size in bytes of a function without optional parts and parameters.
pub(super) const FUNCTION: usize = 24;
/// The size in bytes of a parameter.
pub(super) const PARAMETER: usize = 12;
/// The size in bytes of a variable without optional parts.
pub(super) const VARIABLE: usize = 20;

/// The number of hash chains of UUIDs.
pub(super) const UUID_CHAINS: usize = 32;
/// The number of hash chains of names.
pub(super) const NAME_CHAINS: usize = 128;

/// Flags in the word with a function's kinds. `HAS_DEFAULTS`: some parameters have default values.
/// `HAS_RESULT`: one parameter is the result or takes the locale. `HAS_BOTH`: one parameter is the
/// result, and another takes the locale.
pub(super) const HAS_DEFAULTS: u32 = 0x1000;
pub(super) const HAS_RESULT: u32 = 0x4000;
pub(super) const HAS_BOTH: u32 = 0x8000;

/// Flag: a type of another library is identified by its UUID.
pub(super) const BY_UUID: u32 = 0x1_0000;

/// VARTYPEs that only type libraries use.
pub(super) mod vt {
    pub(in crate::model::typelib) const VOID: u16 = 24;
    pub(in crate::model::typelib) const PTR: u16 = 26;
    pub(in crate::model::typelib) const SAFEARRAY: u16 = 27;
    pub(in crate::model::typelib) const CARRAY: u16 = 28;
    pub(in crate::model::typelib) const USERDEFINED: u16 = 29;
    pub(in crate::model::typelib) const LPSTR: u16 = 30;
    pub(in crate::model::typelib) const LPWSTR: u16 = 31;
}

/// Returns the hash of a name. The hash selects the chain of the name, and is half of the key by
/// which names are compared. The hash ignores case. With `folds` it also equates W with V and Y
/// with U.
pub(super) fn name_hash(name: &str, folds: bool) -> u16 {
    let fold = |byte: u8| match byte.to_ascii_uppercase() {
        b'W' if folds => b'V',
        b'Y' if folds => b'U',
        byte => byte,
    };
    let sum = |sum: u32, byte: u8| sum.wrapping_mul(37).wrapping_add(fold(byte).into());
    (name.bytes().fold(0x0dea_dbee, sum) % 65599) as u16
}

/// Returns the index of the hash chain that has a UUID.
pub(super) fn uuid_chain(bytes: &[u8; 16]) -> usize {
    let words = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    usize::from(words.fold(0, |all, word| all ^ word)) % UUID_CHAINS
}

/// Returns the bytes of a UUID in a file. The first three parts are little-endian numbers.
pub(super) fn uuid_bytes(uuid: u128) -> [u8; 16] {
    let mut bytes = uuid.to_be_bytes();
    bytes[..4].reverse();
    bytes[4..6].reverse();
    bytes[6..8].reverse();
    bytes
}

/// Returns the UUID that these bytes of a file represent.
pub(super) fn uuid_of(mut bytes: [u8; 16]) -> u128 {
    bytes[..4].reverse();
    bytes[4..6].reverse();
    bytes[6..8].reverse();
    u128::from_be_bytes(bytes)
}
