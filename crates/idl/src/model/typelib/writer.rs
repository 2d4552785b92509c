//! The writer. The output is deterministic.

mod members;

use super::layout::{self, FILL, NONE, ORDER, SEGMENT, SEGMENTS, Segment, vt};
use super::{Foreign, ForeignId, Kind, TypeDesc, TypeInfo, TypeLibrary, TypeRef, Value};
use super::{flags, values};
use obvia_ndr::vartype;
use std::collections::HashMap;
use std::fmt;

/// An error: the library does not fit the format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritable(String);

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unwritable {}

type Written<T = ()> = Result<T, Unwritable>;

/// Returns the bytes of a file with this library.
///
/// # Errors
///
/// Fails if a text is too long for the format, if there are too many entries of a kind, if a text
/// has characters outside Latin-1, or if the rules for the lookup of names in the library's locale
/// are unknown.
pub fn write(library: &TypeLibrary) -> Result<Vec<u8>, Unwritable> {
    let folds = folds(library.lcid);
    let folds = folds
        .ok_or_else(|| Unwritable(format!("type libraries in the language {:#x} cannot be written", library.lcid)))?;
    let (uuid_chains, name_chains) = (vec![NONE; layout::UUID_CHAINS], vec![NONE; layout::NAME_CHAINS]);
    Writer { folds, uuid_chains, name_chains, ..Writer::default() }.library(library)
}

/// Whether the hash of names equates some Latin letters, by locale. `None` for locales with unknown
/// rules.
fn folds(lcid: u32) -> Option<bool> {
    Some(match lcid & 0x3ff {
        // Czech, Spanish, Hebrew, Hungarian, Polish and Slovak.
        0x05 | 0x0a | 0x0d | 0x0e | 0x15 | 0x1b => false,
        // Arabic, Chinese, Greek, Icelandic, Japanese, Korean, Norwegian, Russian, Turkish and
        // Persian.
        0x01 | 0x04 | 0x08 | 0x0f | 0x11 | 0x12 | 0x14 | 0x19 | 0x1f | 0x29 => return None,
        _ => true,
    })
}

#[derive(Default)]
struct Writer {
    /// The segments, in the order of the directory.
    segments: [Vec<u8>; SEGMENTS],
    /// The functions and variables of each type, which follow the segments.
    members: Vec<u8>,
    uuid_chains: Vec<u32>,
    name_chains: Vec<u32>,
    folds: bool,
    uuids: HashMap<u128, u32>,
    /// The places of names, by the name in lower case.
    names: HashMap<String, u32>,
    texts: HashMap<String, u32>,
    descriptions: HashMap<TypeDesc, u32>,
}

/// The use of a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Type,
    Function,
    /// A variable outside enumerations.
    Variable,
    Value,
    Other,
}

fn put(to: &mut Vec<u8>, words: &[u32]) {
    to.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

fn pad(to: &mut Vec<u8>) {
    to.resize(to.len().next_multiple_of(4), FILL);
}

fn set(at: &mut [u8], place: usize, word: u32) {
    at[place..place + 4].copy_from_slice(&word.to_le_bytes());
}

fn pair(low: u16, high: u16) -> u32 {
    u32::from(low) | u32::from(high) << 16
}

/// Converts a number to 16 bits.
fn short<T: TryInto<u16>>(number: T, what: &str, of: &str) -> Written<u16> {
    number.try_into().map_err(|_| Unwritable(format!("`{of}` has {what} that do not fit in a type library")))
}

/// Returns the bytes of a text in Latin-1.
fn latin(text: &str) -> Written<Vec<u8>> {
    let bytes = text.chars().map(|c| u8::try_from(u32::from(c)));
    bytes
        .collect::<Result<_, _>>()
        .map_err(|_| Unwritable(format!("a type library has no letters but those of Latin-1, and none for {text:?}")))
}

impl Writer {
    fn segment(&mut self, which: Segment) -> &mut Vec<u8> {
        &mut self.segments[which as usize]
    }

    /// Returns the place at which the next entry of a segment begins.
    fn next(&self, which: Segment) -> u32 {
        self.segments[which as usize].len() as u32
    }

    fn library(mut self, library: &TypeLibrary) -> Written<Vec<u8>> {
        let uuid = self.uuid(library.uuid, 0xffff_fffe);
        let name = self.name(&library.name, Use::Other, NONE)?;
        let help = self.text(library.help.text.as_deref())?;
        let help_file = self.text(library.help_file.as_deref())?;
        self.foreign(library)?;
        // Names that differ only in case share the first spelling. The library's name comes first,
        // then the names of types, then the names of their members and parameters.
        for (at, ty) in library.types.iter().enumerate() {
            self.name(&ty.name, Use::Type, place_of(at))?;
        }
        let mut ends = Vec::new();
        for (at, ty) in library.types.iter().enumerate() {
            self.type_info(library, at, ty)?;
            ends.push(self.members.len());
        }
        let system = layout::SYSTEM | if library.help_file.is_some() { layout::HAS_HELP_FILE } else { 0 };
        let is_dispatch = |one: &Foreign| one.what == ForeignId::Uuid(IDISPATCH);
        let dispatch = library.foreign.iter().position(is_dispatch).map_or(NONE, foreign_place);
        let lcid = if library.lcid == 0 { 0x409 } else { library.lcid };
        let letters: usize = self.names.keys().map(String::len).sum();
        let mut file = Vec::new();
        put(&mut file, &[layout::MAGIC, layout::FORMAT, uuid, lcid, library.lcid, system]);
        put(&mut file, &[pair(library.version.0, library.version.1), library.flags, library.types.len() as u32]);
        put(&mut file, &[help, 0, library.help.context, self.names.len() as u32, letters as u32, name, help_file]);
        put(&mut file, &[NONE, 0x20, 0x80, dispatch, library.foreign.len() as u32]);
        put(&mut file, &(0..library.types.len()).map(place_of).collect::<Vec<_>>());
        self.finish(file, &ends)
    }

    /// Appends the directory, the segments and the members to the header. The directory gets the
    /// places of the segments, and each type gets the place of its members.
    fn finish(mut self, mut file: Vec<u8>, ends: &[usize]) -> Written<Vec<u8>> {
        for (which, chains) in [(Segment::UuidHash, &self.uuid_chains), (Segment::NameHash, &self.name_chains)] {
            put(&mut self.segments[which as usize], chains);
        }
        let mut at = file.len() + SEGMENTS * SEGMENT;
        let mut directory = vec![[NONE, 0, NONE, 0x0f]; SEGMENTS];
        for which in ORDER {
            let length = self.segments[which as usize].len();
            if length > 0 {
                directory[which as usize][..2].copy_from_slice(&[at as u32, length as u32]);
                at += length;
            }
        }
        if i32::try_from(at + self.members.len()).is_err() {
            return Err(Unwritable("the type library is too long".to_owned()));
        }
        let mut start = 0;
        for (index, end) in ends.iter().enumerate() {
            set(&mut self.segments[Segment::Types as usize], index * layout::TYPE + 4, (at + start) as u32);
            start = *end;
        }
        directory.iter().for_each(|entry| put(&mut file, entry));
        ORDER.iter().for_each(|which| file.extend(&self.segments[*which as usize]));
        file.extend(&self.members);
        Ok(file)
    }

    // --- tables -------------------------------------------------------------------------------------------------

    /// Adds a UUID and returns its place. `of` is the owner of the UUID.
    fn uuid(&mut self, uuid: u128, of: u32) -> u32 {
        if let Some(known) = self.uuids.get(&uuid) {
            return *known;
        }
        let at = self.next(Segment::Uuids);
        let bytes = layout::uuid_bytes(uuid);
        let next = std::mem::replace(&mut self.uuid_chains[layout::uuid_chain(&bytes)], at);
        let segment = self.segment(Segment::Uuids);
        segment.extend(bytes);
        put(segment, &[of, next]);
        self.uuids.insert(uuid, at);
        at
    }

    /// Adds a name and returns its place. `of` is the type that has the name, or that has the
    /// member with the name.
    fn name(&mut self, name: &str, used: Use, of: u32) -> Written<u32> {
        let bytes = latin(name)?;
        let length = u8::try_from(bytes.len())
            .map_err(|_| Unwritable(format!("the name `{name}` is longer than 255 letters")))?;
        let key = name.to_ascii_lowercase();
        if let Some(&at) = self.names.get(&key) {
            let segment = &mut self.segments[Segment::Names as usize];
            let entry = &mut segment[at as usize..][..layout::NAME];
            let is_free = entry[..4] == NONE.to_le_bytes();
            if is_free && used != Use::Other {
                set(entry, 0, of);
                entry[9] = uses(used);
            } else if matches!(used, Use::Function | Use::Variable | Use::Value) {
                // Clears the flag that says that the name belongs to a single variable.
                entry[9] &= !0x10;
            }
            return Ok(at);
        }
        let at = self.next(Segment::Names);
        let hash = layout::name_hash(name, self.folds);
        let next = std::mem::replace(&mut self.name_chains[usize::from(hash) % layout::NAME_CHAINS], at);
        let of = if used == Use::Other { NONE } else { of };
        let segment = self.segment(Segment::Names);
        put(segment, &[of, next, pair(u16::from_le_bytes([length, uses(used)]), hash)]);
        segment.extend(bytes);
        pad(segment);
        self.names.insert(key, at);
        Ok(at)
    }

    fn text(&mut self, text: Option<&str>) -> Written<u32> {
        let Some(text) = text else { return Ok(NONE) };
        if let Some(known) = self.texts.get(text) {
            return Ok(*known);
        }
        let bytes = latin(text)?;
        let length = short(bytes.len(), "letters in a text", text.get(..20).unwrap_or(text))?;
        let at = self.next(Segment::Texts);
        let segment = self.segment(Segment::Texts);
        segment.extend(length.to_le_bytes());
        segment.extend(&bytes);
        // A text of fewer than three letters takes the space of a text with six letters.
        let least = if bytes.len() < 3 { at as usize + 8 } else { 0 };
        segment.resize(segment.len().max(least), FILL);
        pad(segment);
        self.texts.insert(text.to_owned(), at);
        Ok(at)
    }

    fn foreign(&mut self, library: &TypeLibrary) -> Written {
        let mut files = Vec::new();
        for import in &library.imports {
            let uuid = self.uuid(import.uuid, 2);
            let name = latin(&import.file)?;
            // The two low bits are flags.
            let length = short(name.len() << 2, "letters", &import.file)?;
            files.push(self.next(Segment::Imports));
            let segment = self.segment(Segment::Imports);
            put(segment, &[uuid, import.lcid, pair(import.version.0, import.version.1)]);
            segment.extend((length | 1).to_le_bytes());
            segment.extend(name);
            pad(segment);
        }
        for (at, one) in library.foreign.iter().enumerate() {
            let (by, id) = match one.what {
                ForeignId::Uuid(uuid) => (layout::BY_UUID, self.uuid(uuid, foreign_place(at))),
                ForeignId::At(index) => (0, index),
            };
            let number = short(at, "types of other libraries", &library.name)?;
            let words = [(one.kind as u32) << 24 | by | u32::from(number), files[one.library], id];
            put(self.segment(Segment::Foreign), &words);
        }
        Ok(())
    }

    // --- types --------------------------------------------------------------------------------------------------

    /// Returns the word that refers to a type. The word contains the VARTYPE of a type without
    /// parts. For other types it is the place of the type's description.
    fn description(&mut self, of: &TypeDesc) -> Written<u32> {
        if let TypeDesc::Simple(kind) = of {
            let in_variant = match *kind {
                vt::VOID => vartype::EMPTY,
                vartype::INT => vartype::I4,
                vartype::UINT => vartype::UI4,
                vt::LPSTR | vt::LPWSTR => 0x7ffe,
                kind => kind,
            };
            return Ok(0x8000_0000 | pair(*kind, in_variant));
        }
        if let Some(known) = self.descriptions.get(of) {
            return Ok(*known);
        }
        // The upper half of the first word is the VARTYPE in a VARIANT.
        let words = match of {
            TypeDesc::Simple(_) => return Ok(NONE),
            TypeDesc::Named(to) => [pair(vt::USERDEFINED, 0x7fff), place(*to)],
            TypeDesc::Array(element, bounds) => {
                let element = self.description(element)?;
                let at = self.next(Segment::Arrays);
                let count = short(bounds.len(), "dimensions", "an array")?;
                let bytes = short(bounds.len() * 8, "dimensions", "an array")?;
                let segment = self.segment(Segment::Arrays);
                put(segment, &[element, pair(count, bytes)]);
                bounds.iter().for_each(|&(count, first)| put(segment, &[count, first.cast_unsigned()]));
                [pair(vt::CARRAY, 0x7ffe), at]
            }
            TypeDesc::Pointer(inner) | TypeDesc::SafeArray(inner) => {
                let (kind, bit) = match of {
                    TypeDesc::Pointer(_) => (vt::PTR, vartype::BYREF),
                    _ => (vt::SAFEARRAY, vartype::ARRAY),
                };
                let target = self.description(inner)?;
                [pair(kind, self.in_variant(inner, target, bit)), target]
            }
        };
        let at = self.next(Segment::Descriptions);
        put(self.segment(Segment::Descriptions), &words);
        self.descriptions.insert(of.clone(), at);
        Ok(at)
    }

    /// Returns the VARTYPE in a VARIANT for a pointer or an array. `bit` is the VARTYPE's flag for
    /// pointers or for arrays. The description of the inner type is at `target`.
    fn in_variant(&self, inner: &TypeDesc, target: u32, bit: u16) -> u16 {
        match inner {
            TypeDesc::Simple(_) => (target >> 16) as u16 & 0x3fff | bit,
            _ => {
                let at = target as usize + 2;
                let half = &self.segments[Segment::Descriptions as usize][at..at + 2];
                match u16::from_le_bytes([half[0], half[1]]) {
                    of_array if of_array >> 12 == vartype::ARRAY >> 12 => of_array | bit,
                    0x7fff => 0x7fff,
                    _ => 0x7ffe,
                }
            }
        }
    }

    fn value(&mut self, value: &Value) -> Written<u32> {
        let at = self.next(Segment::Custom);
        match value {
            // Small values are stored in the word itself.
            Value::Number(kind, bits) if *bits < 1 << 26 && values::size(*kind) != Some(8) => {
                return Ok(0x8000_0000 | u32::from(*kind) << 26 | *bits as u32);
            }
            Value::Number(kind, bits) => {
                let bytes = values::size(*kind).unwrap_or(4).max(4);
                let segment = self.segment(Segment::Custom);
                segment.extend(kind.to_le_bytes());
                segment.extend(&bits.to_le_bytes()[..bytes]);
            }
            Value::Text(text) => {
                let bytes = latin(text)?;
                let segment = self.segment(Segment::Custom);
                segment.extend(vartype::BSTR.to_le_bytes());
                put(segment, &[bytes.len() as u32]);
                segment.extend(bytes);
            }
        }
        pad(self.segment(Segment::Custom));
        Ok(at)
    }

    fn type_info(&mut self, library: &TypeLibrary, at: usize, ty: &TypeInfo) -> Written {
        let here = place_of(at);
        let name = self.name(&ty.name, Use::Type, here)?;
        let uuid = ty.uuid.map_or(NONE, |uuid| self.uuid(uuid, here));
        let help = self.text(ty.help.text.as_deref())?;
        let functions = short(ty.functions.len(), "methods", &ty.name)?;
        let variables = short(ty.variables.len(), "members", &ty.name)?;
        let interfaces = short(ty.interfaces.len(), "interfaces", &ty.name)?;
        let (target, bases) = match ty.kind {
            Kind::Coclass => (self.references(&ty.interfaces), 0),
            Kind::Alias => (ty.alias.as_ref().map_or(Ok(NONE), |alias| self.description(alias))?, self.decoded(ty)),
            _ => {
                let base = ty.interfaces.first().map_or(NONE, |(base, _)| place(*base));
                (base, pair(ty.inherited.1, ty.inherited.0))
            }
        };
        // An interface that is called by name only: its vtable has only IDispatch's methods.
        let is_by_name = ty.kind == Kind::Dispatch && ty.flags & flags::DUAL == 0;
        let extended = if is_by_name && ty.interfaces.is_empty() { 1 } else { interfaces };
        let slots = match ty.kind {
            Kind::Interface | Kind::Dispatch => ty.inherited.0.saturating_add(functions),
            _ => 0,
        };
        let vtable = short(usize::from(slots) * 8, "methods", &ty.name)?;
        let index = short(at, "types", &library.name)?;
        let align = u32::from(ty.align) << 11 | u32::from(ty.align) << 6;
        let has_base = if ty.kind == Kind::Dispatch && !ty.interfaces.is_empty() { 0x10 } else { 0 };
        let kind = pair(0, index) | align | 0x20 | has_base | ty.kind as u32;
        let members = ty.functions.len() + ty.variables.len();
        let words = [kind, 0, members as u32 * 0x40, self.decoded_members(ty), 3, 0, pair(functions, variables)];
        let rest = [0, 0, 0, 0, uuid, ty.flags, name, pair(ty.version.0, ty.version.1), help, 0, ty.help.context, NONE];
        let segment = self.segment(Segment::Types);
        put(segment, &words);
        put(segment, &rest);
        put(segment, &[pair(extended, vtable), ty.size, target, bases, 0, NONE]);
        if members > 0 { self.members_of(here, ty) } else { Ok(()) }
    }

    /// Adds the interfaces of a class and returns the place of the first interface.
    fn references(&mut self, interfaces: &[(TypeRef, u32)]) -> u32 {
        let first = self.next(Segment::References);
        for (at, (interface, flags)) in interfaces.iter().enumerate() {
            let is_last = at + 1 == interfaces.len();
            let next = if is_last { NONE } else { first + ((at + 1) * layout::REFERENCE) as u32 };
            put(self.segment(Segment::References), &[place(*interface), *flags, NONE, next]);
        }
        if interfaces.is_empty() { NONE } else { first }
    }

    /// Returns the size in memory of the description of a typedef's type, without the description's
    /// first word. Pointers count as four bytes.
    fn decoded(&self, ty: &TypeInfo) -> u32 {
        ty.alias.as_ref().map_or(0, decoded)
    }
}

/// The IID of IDispatch, to which the header refers separately.
const IDISPATCH: u128 = 0x0002_0400_0000_0000_c000_0000_0000_0046;

fn uses(used: Use) -> u8 {
    match used {
        Use::Type => 0x38,
        Use::Function | Use::Other => 0,
        Use::Variable => 0x10,
        Use::Value => 0x30,
    }
}

fn place_of(index: usize) -> u32 {
    (index * layout::TYPE) as u32
}

fn foreign_place(index: usize) -> u32 {
    (index * layout::FOREIGN) as u32 | 1
}

fn place(of: TypeRef) -> u32 {
    match of {
        TypeRef::Own(index) => place_of(index),
        TypeRef::Foreign(index) => foreign_place(index),
    }
}

/// Returns the size in memory of a description without its first word.
fn decoded(of: &TypeDesc) -> u32 {
    match of {
        TypeDesc::Simple(_) | TypeDesc::Named(_) => 0,
        TypeDesc::Pointer(inner) | TypeDesc::SafeArray(inner) => 8 + decoded(inner),
        TypeDesc::Array(_, bounds) => 12 + 8 * bounds.len() as u32,
    }
}
