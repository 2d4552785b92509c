//! Decoding of frames. The frame has been checked, but each offset and count is checked again on
//! use.

use super::{Checked, Layout, Member, counted, evaluate, integer};
use crate::model::{Arith, Base, EnumId, Extent, Pointer, PointerClass, StructId, Type, UnionId, round_up};
use crate::plan::is_plain;
use obvia_ndr::flat::check::Slot;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The greatest number of bytes that are read more than once. An array to which several pointers
/// lead is read once for each pointer, so a small frame could produce any number of values.
const REPEATED_MAX: usize = 1 << 20;

/// The greatest number of values that are made from a frame. A value may need a hundred times as
/// many bytes in memory as in the frame.
pub(super) const VALUES_MAX: usize = 1 << 24;

/// A maker of values from a frame's contents. Its functions return `None` for bytes that do not
/// represent a value.
pub trait Make {
    /// A value.
    type Value;
    /// A structure whose members are being read.
    type Structure;
    /// The greatest depth of structures, unions, arrays and pointers that is read.
    const DEPTH_MAX: usize;

    /// Makes the null value.
    fn null(&mut self) -> Option<Self::Value>;
    /// Makes the value of a base type from the beginning of `bytes`.
    fn base(&mut self, base: Base, bytes: &[u8]) -> Option<Self::Value>;
    /// Makes the value of an enumeration.
    fn enumeration(&mut self, id: EnumId, number: i32) -> Option<Self::Value>;
    /// Makes a text.
    fn text(&mut self, text: String) -> Option<Self::Value>;
    /// Makes an array from its elements.
    fn list(&mut self, elements: Vec<Self::Value>) -> Option<Self::Value>;
    /// Makes an array from the bytes of all its elements. Returns `None` to get the elements one by
    /// one.
    fn bytes(&mut self, element: Base, bytes: &[u8]) -> Option<Self::Value>;
    /// Begins a structure. `label` is the number of a structure to which several pointers lead.
    fn structure(&mut self, id: StructId, label: Option<usize>) -> Option<Self::Structure>;
    /// Sets a structure's next member.
    fn member(&mut self, structure: &mut Self::Structure, name: &str, value: Self::Value) -> Option<()>;
    /// Ends a structure.
    fn finish(&mut self, structure: Self::Structure) -> Option<Self::Value>;
    /// Makes another reference to the structure with this label.
    fn again(&mut self, label: usize) -> Option<Self::Value>;
    /// Makes a value in place of a value that is nested too deeply.
    fn too_deep(&mut self) -> Option<Self::Value>;
    /// Makes the value of a union. `is_clear` says whether the arm alone implies the discriminant.
    fn union(&mut self, id: UnionId, tag: i64, is_clear: bool, arm: Option<(&str, Self::Value)>)
    -> Option<Self::Value>;
    /// Makes the value of an object, and takes ownership of the object reference.
    fn object(&mut self, reference: &[u8]) -> Option<Self::Value>;
}

/// A reader of the parameters in one frame.
pub struct Reading<'f, 'a, M> {
    layout: &'f Layout<'a>,
    members: &'f [Member<'a>],
    frame: &'f [u8],
    make: &'f mut M,
    /// The labels of frame objects with more than one pointer to them, by the offset of the body.
    shared: HashMap<usize, usize>,
    shown: HashSet<usize>,
    /// The offsets of the object references that the maker has not received.
    references: BTreeSet<usize>,
    /// The values of parameters outside of the frame, by index: expressions of a reply read
    /// parameters of the request.
    outer: &'f dyn Fn(usize) -> Option<i64>,
    depth: usize,
    /// The number of bytes in the targets of pointers that may still be read.
    left: usize,
    /// The number of values that may still be made.
    values_left: usize,
}

impl<'f, 'a, M: Make> Reading<'f, 'a, M> {
    pub(super) fn new(
        layout: &'f Layout<'a>,
        members: &'f [Member<'a>],
        frame: &'f [u8],
        checked: &Checked,
        outer: &'f dyn Fn(usize) -> Option<i64>,
        make: &'f mut M,
    ) -> Self {
        let mut pointers: HashMap<usize, usize> = HashMap::new();
        for slot in checked.slots.iter().filter(|slot| slot.iid.is_none()) {
            *pointers.entry(checked.objects[slot.object as usize].body as usize).or_insert(0) += 1;
        }
        let mut shared: Vec<usize> =
            pointers.into_iter().filter(|(_, count)| *count > 1).map(|(body, _)| body).collect();
        shared.sort_unstable();
        let shared = shared.into_iter().enumerate().map(|(number, body)| (body, number + 1)).collect();
        let is_reference = |slot: &&Slot| slot.iid.is_some();
        let references = checked.slots.iter().filter(is_reference);
        let references = references.map(|slot| checked.objects[slot.object as usize].body as usize).collect();
        let left = frame.len() + REPEATED_MAX;
        Self {
            layout,
            members,
            frame,
            make,
            shared,
            shown: HashSet::new(),
            references,
            outer,
            depth: 0,
            left,
            values_left: VALUES_MAX,
        }
    }

    /// Returns the object references of the frame that the maker has not received: the references
    /// after a refused value.
    pub fn remaining(&self) -> impl Iterator<Item = &'f [u8]> {
        let of = |body: &usize| self.frame.get(*body..body.checked_add(self.count(*body)?)?);
        self.references.iter().filter_map(of)
    }

    /// Counts bytes of an object that are about to be read. `None` if the limit is exceeded.
    fn spend(&mut self, bytes: usize) -> Option<()> {
        self.left = self.left.checked_sub(bytes)?;
        Some(())
    }

    /// Counts values that are about to be made. `None` if the limit is exceeded.
    fn make(&mut self, values: usize) -> Option<()> {
        self.values_left = self.values_left.checked_sub(values)?;
        Some(())
    }

    /// Reads the value of a parameter, by its index. `None` if the frame does not have the
    /// parameter, or the maker refuses the value.
    pub fn value(&mut self, index: usize) -> Option<M::Value> {
        let members = self.members;
        self.member(0, members, members.get(index)?)
    }

    fn word(&self, at: usize) -> Option<usize> {
        usize::try_from(u64::from_le_bytes(*self.frame.get(at..)?.first_chunk()?)).ok()
    }

    /// Returns the count in the header of an object in the frame. `None` outside of the frame.
    fn count(&self, body: usize) -> Option<usize> {
        let header = self.frame.get(body.checked_sub(4)?..body)?;
        Some(u32::from_le_bytes(*header.first_chunk()?) as usize)
    }

    fn number(&self, base: usize, members: &[Member<'_>], expression: &Arith) -> Option<i64> {
        let load = |index: usize, ty: Base| match members.get(index)?.at {
            Some(at) => integer(self.frame, base + at, ty),
            None => (self.outer)(index),
        };
        evaluate(expression, &load)
    }

    /// Decodes a member's value. `None` if the frame does not have the member, or the maker refuses
    /// the value.
    fn member(&mut self, base: usize, members: &'f [Member<'a>], member: &'f Member<'a>) -> Option<M::Value> {
        let at = base + member.at?;
        let (element, size, length) = match member.tail.or_else(|| counted(member.ty)) {
            Some(counted) => counted,
            None => {
                return match member.ty {
                    Type::Union(id) if self.layout.model.unions[id.0].encapsulated.is_none() => {
                        let tag = self.number(base, members, member.switch?)?;
                        self.union(*id, tag, at)
                    }
                    ty => self.at(ty, at),
                };
            }
        };
        let first = if member.tail.is_some() { at } else { self.word(at)? };
        if first == 0 {
            return self.make.null();
        }
        let number = match length {
            None if member.is_sized_by_request => evaluate(size, &|index, _| (self.outer)(index)),
            _ => self.number(base, members, length.unwrap_or(size)),
        };
        let count = usize::try_from(number?).ok()?;
        self.spend(count.checked_mul(self.layout.size(element))?)?;
        self.elements(element, count, first)
    }

    fn object(&mut self, at: usize) -> Option<M::Value> {
        let body = self.word(at)?;
        if body == 0 {
            return self.make.null();
        }
        let reference = self.frame.get(body..body.checked_add(self.count(body)?)?)?;
        // If several pointers lead to one array of references, the array is read several times.
        // Each reference can have only one owner, so the second reading of a reference is refused.
        self.references.remove(&body).then(|| self.make.object(reference))?
    }

    fn elements(&mut self, element: &'f Type, count: usize, at: usize) -> Option<M::Value> {
        let size = self.layout.size(element);
        // An array cannot have more elements than the frame has bytes.
        if is_plain(self.layout.model, element) {
            let bytes = self.frame.get(at..at.checked_add(count.checked_mul(size)?)?)?;
            let values = if size > 1 { count } else { 1 };
            self.make(values)?;
            if let Type::Base(base) = element
                && let Some(value) = self.make.bytes(*base, bytes)
            {
                return Some(value);
            }
            // The elements are counted one by one below, so the count of all elements is added
            // back.
            self.values_left += values;
        }
        self.deeper(|reader| {
            let values = (0..count).map(|index| reader.at(element, at + index * size)).collect::<Option<Vec<_>>>()?;
            reader.make.list(values)
        })
    }

    fn at(&mut self, ty: &'f Type, at: usize) -> Option<M::Value> {
        self.make(1)?;
        match ty {
            Type::Base(base) => self.make.base(*base, self.frame.get(at..)?),
            Type::Enum(id) => self.make.enumeration(*id, i32::from_le_bytes(*self.frame.get(at..)?.first_chunk()?)),
            Type::Struct(id) => self.structure(*id, at, None),
            Type::Union(id) => {
                let union = &self.layout.model.unions[id.0];
                let base = if let Type::Base(base) = union.tag { base } else { Base::I32 };
                let tag = integer(self.frame, at, base)?;
                let (_, align) = self.layout.model.union_body(union);
                self.union(*id, tag, at + round_up(base.size(), align) as usize)
            }
            Type::Fixed(element, count) => self.elements(element, *count as usize, at),
            Type::Pointer(pointer) => self.pointer(pointer, at),
            Type::Interface(_) => self.object(at),
            Type::Void => None,
        }
    }

    fn structure(&mut self, id: StructId, at: usize, label: Option<usize>) -> Option<M::Value> {
        let members = self.layout.members(id);
        self.deeper(|reader| {
            let mut made = reader.make.structure(id, label)?;
            for member in members {
                let value = reader.member(at, members, member)?;
                reader.make.member(&mut made, member.name, value)?;
            }
            reader.make.finish(made)
        })
    }

    fn pointer(&mut self, pointer: &'f Pointer, at: usize) -> Option<M::Value> {
        let body = self.word(at)?;
        if body == 0 {
            return self.make.null();
        }
        match (&pointer.extent, &pointer.to) {
            (Extent::Text, Type::Base(base)) => self.text(*base, body),
            (Extent::One, Type::Struct(id)) => {
                let label = self.shared.get(&body).filter(|_| pointer.class == PointerClass::Full).copied();
                if let Some(label) = label
                    && !self.shown.insert(body)
                {
                    return self.make.again(label);
                }
                self.spend(self.layout.size(&pointer.to))?;
                self.structure(*id, body, label)
            }
            (Extent::One, to) => {
                self.spend(self.layout.size(to))?;
                self.deeper(|reader| reader.at(to, body))
            }
            _ => None,
        }
    }

    /// Runs `read` one level deeper in a value. Beyond the maximum depth, `read` does not run, and
    /// the maker makes a value in its place.
    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Option<M::Value>) -> Option<M::Value> {
        self.depth += 1;
        let value = if self.depth > M::DEPTH_MAX { self.make.too_deep() } else { read(self) };
        self.depth -= 1;
        value
    }

    fn text(&mut self, base: Base, body: usize) -> Option<M::Value> {
        let length = self.count(body)?.checked_mul(base.size() as usize)?;
        let bytes = self.frame.get(body..body.checked_add(length)?)?;
        self.spend(length)?;
        let text = if base.size() == 2 {
            let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
            String::from_utf16_lossy(units.split_last()?.1)
        } else {
            String::from_utf8_lossy(bytes.split_last()?.1).into_owned()
        };
        self.make.text(text)
    }

    fn union(&mut self, id: UnionId, tag: i64, at: usize) -> Option<M::Value> {
        let union = &self.layout.model.unions[id.0];
        let arm = union.arms.iter().find(|arm| arm.cases.contains(&tag));
        let field = arm.map_or_else(|| union.default.as_ref(), |arm| Some(&arm.field))?;
        let is_clear = arm.is_some_and(|arm| arm.cases.len() == 1) && field.is_some();
        let value = match field {
            Some(field) => Some((field.name.as_str(), self.deeper(|reader| reader.at(&field.ty, at))?)),
            None => None,
        };
        self.make.union(id, tag, is_clear, value)
    }
}
