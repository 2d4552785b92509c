//! Plans as words, as the compiler writes them for every language.
//!
//! A plan consists of its types, its kinds and its methods. Each entry is followed by its parts. A
//! list is preceded by its length, and an optional part by 0 or 1. Integers, pointer classes and
//! expressions are numbered as in [`crate::flat::words`].
//!
//! | entry | words |
//! |---|---|
//! | type | 0 number: bytes; 1 boolean; 2 enumeration; 3 GUID; 4 array: count, type; 5 structure: bytes, members, tail?; 6 union; 7 pointer: class, target; 8 varying array: count, type, length? |
//! | member | offset, type |
//! | tail | offset, type, size, length? |
//! | union | bytes, discriminant's type, integer, `switch_is`?, offset of the arms, arms, default? |
//! | arm | discriminants, type?; the default arm: type? |
//! | target | 0 one: kind; 1 array: kind, size, length?; 2 string; 3 string of 16-bit characters; 4 interface; 5 array that holds a string: kind, size |
//! | kind | type |
//! | method | opnum, flags (1: it returns an HRESULT; 2: it is idempotent; 4: its failures of FACILITY_DISPATCH have results), request, response, outer values |
//! | request, response | bytes of the block, parameters |
//! | parameter | offset; 0 value: type; 1 reference: target; 2 lent: kind, size |
//! | outer value | offset in the request's block, integer |

use super::plan::{Message, Method, Param, Passing, Plan, Tail, Target, Type, TypeId, Union, What};
use super::wire;
use crate::flat::words::{CLASSES, INTS, Reader};
use crate::flat::{FRAME_MAX, KIND_FIRST};

/// The greatest depth of types that contain each other by value.
const DEPTH_MAX: usize = 64;
/// The size of a slot, in bytes.
const SLOT: u32 = 8;

impl Plan {
    /// Reads a plan. Returns `None` if the words are malformed.
    ///
    /// The expressions live as long as the process.
    pub fn read(words: &[i64]) -> Option<Self> {
        Reader(words).all(|reader| {
            let mut types = Types::default();
            let count = reader.number::<usize>()?;
            (0..count).try_for_each(|_| types.add(reader))?;
            let kinds = reader.list(|reader| types.id(reader))?;
            let methods = reader.list(|reader| types.method(reader))?;
            let is_ordered = methods.is_sorted_by(|one, other| one.opnum < other.opnum);
            let is_kind = |kind: &u32| kind.checked_sub(KIND_FIRST).is_some_and(|at| (at as usize) < kinds.len());
            let is_text = |kind: &u32| is_character(&types.known[kinds[(*kind - KIND_FIRST) as usize] as usize]);
            let is_whole = is_ordered && types.named.iter().all(is_kind) && types.texts.iter().all(is_text);
            is_whole.then_some(Self { types: types.known, kinds, methods })
        })
    }
}

/// The types read so far.
#[derive(Default)]
struct Types {
    known: Vec<Type>,
    /// For each type, how deep other types are nested in it by value; 0 for a type that contains
    /// none.
    depths: Vec<usize>,
    /// The type numbers of the objects that pointers refer to.
    named: Vec<u32>,
    /// The type numbers of the arrays that hold strings.
    texts: Vec<u32>,
}

/// Whether strings consist of elements of this type.
fn is_character(ty: &Type) -> bool {
    matches!(ty.what, What::Number) && ty.size <= 2
}

impl Types {
    /// Reads the number of a type that was read before.
    fn id(&self, reader: &mut Reader<'_>) -> Option<TypeId> {
        let id = reader.number::<TypeId>()?;
        ((id as usize) < self.known.len()).then_some(id)
    }

    fn size(&self, id: TypeId) -> u32 {
        self.known[id as usize].size
    }

    /// Whether a value of the type `id` at offset `at` ends within the first `within` bytes.
    fn fits(&self, at: u32, id: TypeId, within: u32) -> bool {
        at.checked_add(self.size(id)).is_some_and(|end| end <= within)
    }

    fn add(&mut self, reader: &mut Reader<'_>) -> Option<()> {
        let (size, what) = self.what(reader)?;
        let mut depth = 0;
        for_each_part(&what, |id| depth = depth.max(self.depths[id as usize] + 1));
        if depth > DEPTH_MAX || size as usize > FRAME_MAX {
            return None;
        }
        let wire = [false, true].map(|is_wide| wire::of(&self.known, size, &what, is_wide));
        self.known.push(Type { size, what, wire });
        self.depths.push(depth);
        Some(())
    }

    /// Reads a type. Returns its size in memory, and the type.
    fn what(&mut self, reader: &mut Reader<'_>) -> Option<(u32, What)> {
        Some(match reader.word()? {
            0 => (reader.one_of(&[0, 1, 2, 0, 4, 0, 0, 0, 8]).filter(|size| *size > 0)?, What::Number),
            1 => (1, What::Boolean),
            2 => (4, What::Enum),
            3 => (16, What::Guid),
            4 => {
                let (count, element) = (reader.number::<u32>()?, self.id(reader)?);
                (self.size(element).checked_mul(count).filter(|_| count > 0)?, What::Array { count, element })
            }
            5 => {
                let size = reader.number()?;
                let members = reader.list(|reader| Some((reader.number()?, self.id(reader)?)))?;
                let tail = reader.optional(|reader| self.tail(reader))?;
                let is_something = !members.is_empty() || tail.is_some();
                let fits = members.iter().all(|(at, id)| self.fits(*at, *id, size));
                (is_something && fits).then_some((size, What::Struct { members, tail }))?
            }
            6 => self.union(reader)?,
            7 => (SLOT, What::Pointer(reader.one_of(&CLASSES)?, self.target(reader)?)),
            8 => {
                let (count, element) = (reader.number::<u32>()?, self.id(reader)?);
                let size = self.size(element).checked_mul(count).filter(|_| count > 0)?;
                let length = reader.optional(Reader::expr)?;
                let is_sound = length.is_some() || is_character(&self.known[element as usize]);
                is_sound.then_some((size, What::Varying { count, element, length }))?
            }
            _ => return None,
        })
    }

    fn tail(&self, reader: &mut Reader<'_>) -> Option<Tail> {
        let (at, element) = (reader.number()?, self.id(reader)?);
        Some(Tail { at, element, size: reader.expr()?, length: reader.optional(Reader::expr)? })
    }

    fn union(&self, reader: &mut Reader<'_>) -> Option<(u32, What)> {
        let size = reader.number()?;
        let (tag, int) = (self.id(reader)?, reader.one_of(&INTS)?);
        let switch = reader.optional(Reader::expr)?;
        let body = reader.number()?;
        let arms =
            reader.list(|reader| Some((reader.list(Reader::word)?, reader.optional(|reader| self.id(reader))?)))?;
        let default = reader.optional(|reader| reader.optional(|reader| self.id(reader)))?;
        let found = Union { tag, int, switch, body, arms, default };
        let is_tag = matches!(self.known[tag as usize].what, What::Number | What::Boolean | What::Enum)
            && int.size() == self.size(tag) as usize;
        let has_place = found.switch.is_some() || self.fits(0, tag, size);
        let fits = found.all_arms().flatten().all(|arm| self.fits(body, arm, size)) && body <= size;
        (is_tag && has_place && fits).then_some((size, What::Union(found)))
    }

    fn kind(&mut self, reader: &mut Reader<'_>) -> Option<u32> {
        let kind = reader.number()?;
        self.named.push(kind);
        Some(kind)
    }

    fn target(&mut self, reader: &mut Reader<'_>) -> Option<Target> {
        Some(match reader.word()? {
            0 => Target::One(self.kind(reader)?),
            1 => {
                let kind = self.kind(reader)?;
                Target::Counted { kind, size: reader.expr()?, length: reader.optional(Reader::expr)? }
            }
            2 => Target::Text8,
            3 => Target::Text16,
            4 => Target::Interface,
            5 => {
                let kind = self.kind(reader)?;
                self.texts.push(kind);
                Target::Filled { kind, size: reader.expr()? }
            }
            _ => return None,
        })
    }

    fn method(&mut self, reader: &mut Reader<'_>) -> Option<Method> {
        let opnum = reader.number()?;
        let flags = reader.number::<u8>().filter(|flags| flags >> 3 == 0)?;
        Some(Method {
            opnum,
            has_status: flags & 1 != 0,
            is_idempotent: flags & 2 != 0,
            fails_with_results: flags & 4 != 0,
            request: self.message(reader)?,
            response: self.message(reader)?,
            outer: reader.list(|reader| Some((reader.number()?, reader.one_of(&INTS)?)))?,
        })
    }

    fn message(&mut self, reader: &mut Reader<'_>) -> Option<Message> {
        let block = reader.number::<u32>().filter(|block| *block as usize <= FRAME_MAX)?;
        let params = reader.list(|reader| {
            let at = reader.number::<u32>()?;
            let what = match reader.word()? {
                0 => Passing::Value(self.id(reader)?),
                1 => Passing::Direct(self.target(reader)?),
                2 => Passing::Lent { kind: self.kind(reader)?, size: reader.expr()? },
                _ => return None,
            };
            let fits = match &what {
                Passing::Value(id) => self.fits(at, *id, block),
                Passing::Direct(_) => at.checked_add(SLOT).is_some_and(|end| end <= block),
                Passing::Lent { .. } => true,
            };
            fits.then_some(Param { at, what })
        })?;
        Some(Message { block, params })
    }
}

/// Calls `f` for the types that a type contains by value.
fn for_each_part(what: &What, mut f: impl FnMut(TypeId)) {
    match what {
        What::Number | What::Boolean | What::Enum | What::Guid | What::Pointer(..) => {}
        What::Array { element, .. } | What::Varying { element, .. } => f(*element),
        What::Struct { members, tail } => {
            members.iter().for_each(|(_, id)| f(*id));
            tail.iter().for_each(|tail| f(tail.element));
        }
        What::Union(union) => {
            f(union.tag);
            union.all_arms().flatten().for_each(f);
        }
    }
}
