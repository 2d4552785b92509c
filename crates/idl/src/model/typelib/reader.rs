//! The reader. Files are untrusted: every place is checked before its contents are read. The total
//! output is bounded, since many places may refer to the same contents.

use super::layout::{self, NONE, SEGMENT, SEGMENTS, Segment, vt};
use super::{
    Foreign, ForeignId, Function, Help, Import, Kind, Parameter, Place, TypeDesc, TypeInfo, TypeLibrary, TypeRef,
    Value, Variable, flags, values,
};
use obvia_ndr::vartype;
use std::fmt;

/// The maximum size of a file in bytes.
const FILE_MAX: usize = 32 << 20;
/// The maximum number of bytes of output for each byte of the file. Names and texts count at each
/// use.
const MADE_MAX: usize = 64;
/// The number of bytes of output that small files may produce.
const MADE_LEAST: usize = 1 << 16;
/// The maximum depth of pointers to pointers and of arrays of arrays.
const DEPTH_MAX: usize = 16;
/// The maximum number of dimensions of an array.
const DIMENSIONS_MAX: u16 = 64;

/// An error in a file, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLibrary {
    at: usize,
    what: String,
}

impl fmt::Display for BadLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no type library: {}, at byte {:#x}", self.what, self.at)
    }
}

impl std::error::Error for BadLibrary {}

type Taken<T> = Result<T, BadLibrary>;

/// Reads a type library.
///
/// # Errors
///
/// Any violation of the format, with its place. Files of the older format, SLTG, are refused.
pub fn read(file: &[u8]) -> Result<TypeLibrary, BadLibrary> {
    Reader::new(file)?.library()
}

struct Reader<'a> {
    file: &'a [u8],
    /// The place and the length of each segment.
    segments: [(usize, usize); SEGMENTS],
    types: usize,
    foreign: usize,
    /// The number of bytes of output that remain.
    left: usize,
}

fn bad<T>(at: usize, what: impl Into<String>) -> Taken<T> {
    Err(BadLibrary { at, what: what.into() })
}

/// Returns the two halves of a word.
fn halves(word: u32) -> (u16, u16) {
    (word as u16, (word >> 16) as u16)
}

impl<'a> Reader<'a> {
    fn new(file: &'a [u8]) -> Taken<Self> {
        let left = file.len().saturating_mul(MADE_MAX).max(MADE_LEAST);
        let mut reader = Self { file, segments: [(0, 0); SEGMENTS], types: 0, foreign: 0, left };
        if file.len() > FILE_MAX {
            return bad(FILE_MAX, "it is too long");
        }
        match reader.word(0) {
            Ok(layout::MAGIC) => {}
            Ok(layout::OLD_MAGIC) => return bad(0, "it has the older format SLTG, which is not read"),
            _ => return bad(0, "it does not begin with MSFT"),
        }
        if reader.word(4)? != layout::FORMAT {
            return bad(4, "its format has another version");
        }
        let types = reader.word(0x20)? as usize;
        let help_dll = if reader.word(0x14)? & layout::HAS_HELP_DLL == 0 { 0 } else { 4 };
        let places = types.checked_mul(4).filter(|bytes| *bytes <= file.len());
        let Some(places) = places else { return bad(0x20, "its table of types is longer than its segment") };
        let directory = layout::HEADER + help_dll + places;
        for at in 0..SEGMENTS {
            let entry = directory + at * SEGMENT;
            let (start, length) = (reader.word(entry)?, reader.word(entry + 4)? as usize);
            let start = if length == 0 { 0 } else { start as usize };
            if start.checked_add(length).is_none_or(|end| end > file.len()) {
                return bad(entry, "a segment goes beyond the end");
            }
            reader.segments[at] = (start, length);
        }
        if reader.segments[Segment::Types as usize].1 / layout::TYPE < types {
            return bad(0x20, "its table of types is longer than its segment");
        }
        reader.types = types;
        reader.foreign = reader.segments[Segment::Foreign as usize].1 / layout::FOREIGN;
        Ok(reader)
    }

    // --- bytes --------------------------------------------------------------------------------------------------

    fn bytes(&self, at: usize, count: usize) -> Taken<&'a [u8]> {
        match at.checked_add(count).and_then(|end| self.file.get(at..end)) {
            Some(bytes) => Ok(bytes),
            None => bad(at.min(self.file.len()), "it ends too early"),
        }
    }

    fn word(&self, at: usize) -> Taken<u32> {
        let bytes = self.bytes(at, 4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn short(&self, at: usize) -> Taken<u16> {
        let bytes = self.bytes(at, 2)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    /// Returns the position in the file of `count` bytes at a place in a segment. `from` is the
    /// position of the word that holds the place, for the error.
    fn inside(&self, which: Segment, place: u32, count: usize, from: usize) -> Taken<usize> {
        let (start, length) = self.segments[which as usize];
        match (place as usize).checked_add(count) {
            Some(end) if end <= length => Ok(start + place as usize),
            _ => bad(from, format!("the place {place:#x} is outside of its segment")),
        }
    }

    /// Counts bytes of output, and fails when the limit is exceeded.
    fn make(&mut self, bytes: usize, at: usize) -> Taken<()> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => bad(at, "its records and texts are repeated too often"),
        }
    }

    // --- tables -------------------------------------------------------------------------------------------------

    /// Returns the text that `count` bytes in Latin-1 represent.
    fn letters(&mut self, at: usize, count: usize) -> Taken<String> {
        self.make(count, at)?;
        Ok(self.bytes(at, count)?.iter().copied().map(char::from).collect())
    }

    /// Returns the name whose place is at `from`.
    fn name(&mut self, from: usize) -> Taken<String> {
        match self.optional_name(from)? {
            Some(name) => Ok(name),
            None => bad(from, "a name is missing"),
        }
    }

    fn optional_name(&mut self, from: usize) -> Taken<Option<String>> {
        let place = self.word(from)?;
        // Some files have -2 instead of a parameter's name that equals another name.
        if place.cast_signed() < 0 {
            return Ok(None);
        }
        let at = self.inside(Segment::Names, place, layout::NAME, from)?;
        let length = usize::from(self.bytes(at + 8, 1)?[0]);
        self.inside(Segment::Names, place, layout::NAME + length, from)?;
        let name = self.letters(at + layout::NAME, length)?;
        if is_identifier(&name) { Ok(Some(name)) } else { bad(at, format!("{name:?} is not a name")) }
    }

    /// Returns the text whose place is at `from`. `None` if `from` holds no place.
    fn text(&mut self, from: usize) -> Taken<Option<String>> {
        let place = self.word(from)?;
        if place == NONE {
            return Ok(None);
        }
        let at = self.inside(Segment::Texts, place, 2, from)?;
        let length = usize::from(self.short(at)?);
        self.inside(Segment::Texts, place, 2 + length, from)?;
        self.letters(at + 2, length).map(Some)
    }

    /// Returns the UUID whose place is at `from`. `None` if `from` holds no place.
    fn uuid(&self, from: usize) -> Taken<Option<u128>> {
        let place = self.word(from)?;
        if place == NONE {
            return Ok(None);
        }
        let at = self.inside(Segment::Uuids, place, layout::UUID, from)?;
        let mut bytes = [0; 16];
        bytes.copy_from_slice(self.bytes(at, 16)?);
        Ok(Some(layout::uuid_of(bytes)))
    }

    fn library(mut self) -> Taken<TypeLibrary> {
        let uuid = self.uuid(8)?.unwrap_or(0);
        let has_name = self.word(0x38)? != NONE;
        let name = if has_name { self.name(0x38)? } else { String::new() };
        let help = Help { text: self.text(0x24)?, context: self.word(0x2c)? };
        let (imports, foreign) = self.imports()?;
        let types = (0..self.types).map(|at| self.type_info(at)).collect::<Taken<_>>()?;
        Ok(TypeLibrary {
            name,
            uuid,
            version: halves(self.word(0x18)?),
            lcid: self.word(0x10)?,
            flags: self.word(0x1c)?,
            help,
            help_file: self.text(0x3c)?,
            imports,
            foreign,
            types,
        })
    }

    /// Returns the imported libraries, and the types that this library uses from them.
    fn imports(&mut self) -> Taken<(Vec<Import>, Vec<Foreign>)> {
        let (start, length) = self.segments[Segment::Imports as usize];
        let (mut imports, mut places, mut at) = (Vec::new(), Vec::new(), 0);
        while at + 14 <= length {
            let here = start + at;
            let letters = usize::from(self.short(here + 12)? >> 2);
            self.inside(Segment::Imports, at as u32, 14 + letters, here + 12)?;
            let Some(uuid) = self.uuid(here)? else { return bad(here, "a library that is used has no UUID") };
            let (lcid, version) = (self.word(here + 4)?, halves(self.word(here + 8)?));
            imports.push(Import { file: self.letters(here + 14, letters)?, uuid, version, lcid });
            places.push(at);
            at += (14 + letters).next_multiple_of(4);
        }
        let start = self.segments[Segment::Foreign as usize].0;
        let mut foreign = Vec::new();
        for index in 0..self.foreign {
            let at = start + index * layout::FOREIGN;
            let (words, file) = (self.word(at)?, self.word(at + 4)? as usize);
            let Ok(library) = places.binary_search(&file) else { return bad(at + 4, "no library is at this place") };
            let what = if words & layout::BY_UUID == 0 {
                ForeignId::At(self.word(at + 8)?)
            } else {
                ForeignId::Uuid(self.uuid(at + 8)?.unwrap_or(0))
            };
            foreign.push(Foreign { library, kind: kind(words >> 24, at)?, what });
        }
        Ok((imports, foreign))
    }

    // --- types --------------------------------------------------------------------------------------------------

    /// Returns the type to which the word at `from` refers.
    fn type_ref(&self, from: usize) -> Taken<TypeRef> {
        let place = self.word(from)? as usize;
        let (at, size, count, made): (_, _, _, fn(usize) -> TypeRef) = if place & 1 == 0 {
            (place, layout::TYPE, self.types, TypeRef::Own)
        } else {
            // The two low bits mark a type of another library.
            (place & !3, layout::FOREIGN, self.foreign, TypeRef::Foreign)
        };
        if !at.is_multiple_of(size) || at / size >= count {
            return bad(from, format!("no type is at the place {place:#x}"));
        }
        Ok(made(at / size))
    }

    /// Returns the type that is described at `from`, directly or by the place of its description.
    fn description(&mut self, from: usize, depth: usize) -> Taken<TypeDesc> {
        let word = self.word(from)?;
        if word & 0x8000_0000 != 0 {
            return Ok(TypeDesc::Simple(word as u16 & 0x0fff));
        }
        if depth == DEPTH_MAX {
            return bad(from, "its types are nested too deeply");
        }
        self.make(size_of::<TypeDesc>(), from)?;
        let at = self.inside(Segment::Descriptions, word, layout::DESCRIPTION, from)?;
        Ok(match self.short(at)? & 0x0fff {
            vt::PTR => TypeDesc::Pointer(Box::new(self.description(at + 4, depth + 1)?)),
            vt::SAFEARRAY => TypeDesc::SafeArray(Box::new(self.description(at + 4, depth + 1)?)),
            vt::USERDEFINED => TypeDesc::Named(self.type_ref(at + 4)?),
            vt::CARRAY => {
                let place = self.word(at + 4)?;
                let array = self.inside(Segment::Arrays, place, 8, at + 4)?;
                let element = self.description(array, depth + 1)?;
                let count = self.short(array + 4)?;
                if !(1..=DIMENSIONS_MAX).contains(&count) {
                    return bad(array + 4, format!("an array has {count} dimensions"));
                }
                self.inside(Segment::Arrays, place, 8 + 8 * usize::from(count), at + 4)?;
                self.make(8 * usize::from(count), array)?;
                let bound = |at: usize| Ok((self.word(at)?, self.word(at + 4)?.cast_signed()));
                let bounds = (0..usize::from(count)).map(|at| bound(array + 8 + 8 * at)).collect::<Taken<_>>()?;
                TypeDesc::Array(Box::new(element), bounds)
            }
            simple => TypeDesc::Simple(simple),
        })
    }

    /// Returns the value at `from`, which is stored directly or by its place.
    fn value(&mut self, from: usize) -> Taken<Value> {
        let word = self.word(from)?;
        let number = |kind: u16, bits: u64| match Value::number(kind, bits) {
            Some(value) => Ok(value),
            None => bad(from, format!("a value has the VARTYPE {kind}")),
        };
        if word & 0x8000_0000 != 0 {
            return number((word >> 26) as u16 & 0x1f, u64::from(word & 0x03ff_ffff));
        }
        let at = self.inside(Segment::Custom, word, 6, from)?;
        let kind = self.short(at)?;
        let low = self.word(at + 2)?;
        if kind == vartype::BSTR {
            // A negative length means an empty text.
            let length = if low.cast_signed() < 0 { 0 } else { low as usize };
            let Some(room) = length.checked_add(6) else { return bad(at, "a text is too long") };
            self.inside(Segment::Custom, word, room, from)?;
            return self.letters(at + 6, length).map(Value::Text);
        }
        if values::size(kind) != Some(8) {
            return number(kind, low.into());
        }
        self.inside(Segment::Custom, word, 10, from)?;
        number(kind, u64::from(low) | u64::from(self.word(at + 6)?) << 32)
    }

    fn type_info(&mut self, index: usize) -> Taken<TypeInfo> {
        let at = self.segments[Segment::Types as usize].0 + index * layout::TYPE;
        self.make(size_of::<TypeInfo>(), at)?;
        let first = self.word(at)?;
        let kind = kind(first & 0xf, at)?;
        let (extended, _) = halves(self.word(at + 0x4c)?);
        let (bases, inherited) = halves(self.word(at + 0x58)?);
        let mut found = TypeInfo {
            name: self.name(at + 0x34)?,
            kind,
            uuid: self.uuid(at + 0x2c)?,
            version: halves(self.word(at + 0x38)?),
            flags: self.word(at + 0x30)?,
            help: Help { text: self.text(at + 0x3c)?, context: self.word(at + 0x44)? },
            size: self.word(at + 0x50)?,
            align: (first >> 11 & 0x1f) as u8,
            inherited: (0, 0),
            functions: Vec::new(),
            variables: Vec::new(),
            interfaces: Vec::new(),
            alias: None,
        };
        let has_target = self.word(at + 0x54)? != NONE;
        match kind {
            Kind::Coclass => found.interfaces = self.references(at + 0x54, extended)?,
            Kind::Alias => found.alias = Some(self.description(at + 0x54, 0)?),
            Kind::Interface | Kind::Dispatch => {
                found.inherited = (inherited, bases);
                if has_target {
                    found.interfaces.push((self.type_ref(at + 0x54)?, 0));
                }
            }
            _ => {}
        }
        self.members(at, &mut found)?;
        Ok(found)
    }

    /// Returns the interfaces of a class, which form a chain.
    fn references(&mut self, from: usize, count: u16) -> Taken<Vec<(TypeRef, u32)>> {
        let (mut found, mut from) = (Vec::new(), from);
        for _ in 0..count {
            let place = self.word(from)?;
            let at = self.inside(Segment::References, place, layout::REFERENCE, from)?;
            self.make(layout::REFERENCE, at)?;
            found.push((self.type_ref(at)?, self.word(at + 4)?));
            from = at + 12;
        }
        Ok(found)
    }

    /// Reads the functions and variables of a type. Their records are contiguous, followed by their
    /// numbers, names and places.
    fn members(&mut self, ty: usize, found: &mut TypeInfo) -> Taken<()> {
        let (functions, variables) = halves(self.word(ty + 0x18)?);
        let (functions, variables) = (usize::from(functions), usize::from(variables));
        let count = functions + variables;
        if count == 0 {
            return Ok(());
        }
        let start = self.word(ty + 4)? as usize;
        let length = self.word(start)? as usize;
        self.bytes(start + 4, length)?;
        let lists = start + 4 + length;
        self.bytes(lists, 12 * count)?;
        let end = start + 4 + length;
        let mut at = start + 4;
        for index in 0..count {
            let number = self.word(lists + 4 * index)?.cast_signed();
            let name = self.name(lists + 4 * (count + index))?;
            let size = usize::from(self.short(at)?);
            let is_function = index < functions;
            let least = if is_function { layout::FUNCTION } else { layout::VARIABLE };
            if size < least || size > end.saturating_sub(at) {
                return bad(at, format!("`{name}` of `{}` does not fit", found.name));
            }
            self.make(size_of::<Function>(), at)?;
            if is_function {
                let made = self.function(at, size, name, number)?;
                found.functions.push(made);
            } else {
                let made = self.variable(at, size, name, number, found.kind)?;
                found.variables.push(made);
            }
            at += size;
        }
        Ok(())
    }

    fn function(&mut self, at: usize, size: usize, name: String, id: i32) -> Taken<Function> {
        let kinds = self.word(at + 16)?;
        let (count, optional) = halves(self.word(at + 20)?);
        let count = usize::from(count);
        let defaults = if kinds & layout::HAS_DEFAULTS == 0 { 0 } else { 4 * count };
        let params = count * layout::PARAMETER;
        let Some(extra) = size.checked_sub(layout::FUNCTION + params + defaults) else {
            return bad(at, format!("the parameters of `{name}` do not fit"));
        };
        let help = self.help(at + layout::FUNCTION, extra)?;
        let start = at + layout::FUNCTION + extra;
        let mut function = Function {
            name,
            id,
            kind: (kinds & 7) as u8,
            invoke: (kinds >> 3 & 15) as u8,
            convention: (kinds >> 8 & 15) as u8,
            flags: self.word(at + 8)?,
            slot: self.short(at + 12)? & !3,
            returns: self.description(at + 4, 0)?,
            params: Vec::new(),
            optional: optional.cast_signed(),
            help,
        };
        for index in 0..count {
            let param = start + defaults + index * layout::PARAMETER;
            self.make(size_of::<Parameter>(), param)?;
            let (flags, _) = halves(self.word(param + 8)?);
            let has_default = flags & flags::HAS_DEFAULT != 0 && defaults > 0 && self.word(start + 4 * index)? != NONE;
            function.params.push(Parameter {
                name: self.optional_name(param + 4)?,
                ty: self.description(param, 0)?,
                flags,
                default: if has_default { Some(self.value(start + 4 * index)?) } else { None },
            });
        }
        Ok(function)
    }

    /// Returns the help context and the help text, which are optional parts at the end of a record.
    /// `bytes` is the size of the optional parts that the record has.
    fn help(&mut self, at: usize, bytes: usize) -> Taken<Help> {
        let context = if bytes >= 4 { self.word(at)? } else { 0 };
        let text = if bytes >= 8 { self.text(at + 4)? } else { None };
        // -1 marks a missing help context in a record with later parts.
        Ok(Help { context: if context == NONE { 0 } else { context }, text })
    }

    fn variable(&mut self, at: usize, size: usize, name: String, id: i32, of: Kind) -> Taken<Variable> {
        let place = match (self.short(at + 12)?, of) {
            (0, _) => Place::Member(self.word(at + 16)?),
            (1, _) => Place::Static(self.word(at + 16)?),
            (2, _) => Place::Const(self.value(at + 16)?),
            (3, Kind::Dispatch) => Place::Property,
            (kind, _) => return bad(at + 12, format!("`{name}` is a variable of the unknown kind {kind}")),
        };
        let help = self.help(at + layout::VARIABLE, size - layout::VARIABLE)?;
        Ok(Variable { name, id, flags: self.word(at + 8)?, ty: self.description(at + 4, 0)?, place, help })
    }
}

/// Whether a name is an identifier or empty. The name of a library can be empty. Letters outside
/// ASCII are accepted, because libraries have names in many languages. IDL's syntax does not use
/// such letters, so they cannot change the meaning of IDL source that contains the name.
fn is_identifier(name: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || c == '_' || c > '\u{a0}';
    !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(is_inner)
}

fn kind(number: u32, at: usize) -> Taken<Kind> {
    match Kind::ALL.get(number as usize) {
        Some(kind) => Ok(*kind),
        None => bad(at, format!("types have no kind {number}")),
    }
}
