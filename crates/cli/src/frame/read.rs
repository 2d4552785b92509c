//! Decoding of frames to JSON. The frame has been checked, but each offset and count is checked
//! again on use.

use super::{Layout, Member, counted, evaluate, integer};
use crate::value;
use obvia::dynamic::Checked;
use obvia_idl::model::{Arith, Base, Extent, Pointer, PointerClass, Type, UnionId, round_up};
use obvia_idl::plan::is_plain;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// The greatest depth of structures that is decoded.
const DEPTH_MAX: usize = 120;

/// A sink for the object references in a frame.
pub(crate) trait Objects {
    /// Takes ownership of the reference in these bytes, and describes it.
    fn object(&mut self, reference: &[u8]) -> Option<Value>;
}

/// A reader of one frame.
pub(crate) struct Reader<'a> {
    layout: Layout<'a>,
    frame: &'a [u8],
    objects: &'a mut dyn Objects,
    /// Frame objects with more than one pointer to them, by the offset of the body, with their
    /// `$id`.
    shared: HashMap<usize, String>,
    shown: HashSet<usize>,
    /// The values of parameters outside of the frame, by index: expressions of a reply use those of
    /// the request.
    outer: &'a dyn Fn(usize) -> Option<i64>,
    depth: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(
        layout: Layout<'a>,
        frame: &'a [u8],
        checked: &Checked,
        objects: &'a mut dyn Objects,
        outer: &'a dyn Fn(usize) -> Option<i64>,
    ) -> Self {
        let mut pointers: HashMap<usize, usize> = HashMap::new();
        for slot in checked.slots.iter().filter(|slot| slot.iid.is_none()) {
            *pointers.entry(checked.objects[slot.object as usize].body as usize).or_insert(0) += 1;
        }
        let shared: HashSet<usize> =
            pointers.into_iter().filter(|(_, count)| *count > 1).map(|(body, _)| body).collect();
        let mut shared: Vec<usize> = shared.into_iter().collect();
        shared.sort_unstable();
        let shared = shared.into_iter().enumerate().map(|(number, body)| (body, (number + 1).to_string())).collect();
        Self { layout, frame, objects, shared, shown: HashSet::new(), outer, depth: 0 }
    }

    fn word(&self, at: usize) -> Option<usize> {
        usize::try_from(u64::from_le_bytes(*self.frame.get(at..)?.first_chunk()?)).ok()
    }

    /// Returns the count in the header of an object in the frame.
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

    /// Returns the bytes of an interface pointer's object reference; none for null.
    pub(crate) fn reference(&self, member: &Member<'_>) -> Option<&'a [u8]> {
        let body = self.word(member.at?).filter(|body| *body > 0)?;
        self.frame.get(body..body + self.count(body)?)
    }

    /// Decodes a member's value.
    pub(crate) fn member(&mut self, base: usize, members: &[Member<'a>], member: &Member<'a>) -> Option<Value> {
        let at = base + member.at?;
        let (element, size, length) = match member.tail.or_else(|| counted(member.ty)) {
            Some(counted) => counted,
            None => {
                return match member.ty {
                    Type::Union(id) if self.layout.model.unions[id.0].encapsulated.is_none() => {
                        let tag = self.number(base, members, member.switch?)?;
                        self.union(*id, tag, at)
                    }
                    ty => self.value(ty, at),
                };
            }
        };
        let first = if member.tail.is_some() { at } else { self.word(at)? };
        if first == 0 {
            return Some(Value::Null);
        }
        let count = usize::try_from(self.number(base, members, length.unwrap_or(size))?).ok()?;
        self.elements(element, count, first)
    }

    fn elements(&mut self, element: &'a Type, count: usize, at: usize) -> Option<Value> {
        if is_plain(self.layout.model, element) {
            return value::read_elements(self.layout.model, element, count, self.frame.get(at..)?);
        }
        let size = self.layout.size(element);
        (0..count).map(|index| self.value(element, at + index * size)).collect::<Option<Vec<_>>>().map(Value::Array)
    }

    fn value(&mut self, ty: &'a Type, at: usize) -> Option<Value> {
        let model = self.layout.model;
        match ty {
            ty if is_plain(model, ty) => value::read(model, ty, self.frame.get(at..)?),
            Type::Struct(id) => {
                let members = self.layout.members(*id);
                let mut shown = Map::new();
                for member in &members {
                    shown.insert(member.name.to_owned(), self.member(at, &members, member)?);
                }
                Some(Value::Object(shown))
            }
            Type::Union(id) => {
                let union = &model.unions[id.0];
                let base = if let Type::Base(base) = union.tag { base } else { Base::I32 };
                let tag = integer(self.frame, at, base)?;
                let (_, align) = model.union_body(union);
                self.union(*id, tag, at + round_up(base.size(), align) as usize)
            }
            Type::Fixed(element, count) => self.elements(element, *count as usize, at),
            Type::Pointer(pointer) => self.pointer(pointer, at),
            Type::Interface(_) => match self.word(at)? {
                0 => Some(Value::Null),
                body => self.objects.object(self.frame.get(body..body + self.count(body)?)?),
            },
            _ => None,
        }
    }

    fn pointer(&mut self, pointer: &'a Pointer, at: usize) -> Option<Value> {
        let body = self.word(at)?;
        if body == 0 {
            return Some(Value::Null);
        }
        match (&pointer.extent, &pointer.to) {
            (Extent::Text, Type::Base(base)) => self.text(*base, body),
            (Extent::One, to) => {
                let name = self.shared.get(&body).filter(|_| pointer.class == PointerClass::Full).cloned();
                if let Some(name) = &name
                    && !self.shown.insert(body)
                {
                    return Some(json!({ "$ref": name }));
                }
                self.depth += 1;
                let value = if self.depth > DEPTH_MAX { Some(json!("...")) } else { self.value(to, body) };
                self.depth -= 1;
                match (value?, name) {
                    (Value::Object(mut members), Some(name)) => {
                        members.shift_insert(0, "$id".to_owned(), json!(name));
                        Some(Value::Object(members))
                    }
                    (value, _) => Some(value),
                }
            }
            _ => None,
        }
    }

    fn text(&self, base: Base, body: usize) -> Option<Value> {
        let bytes = self.frame.get(body..body + self.count(body)? * base.size() as usize)?;
        if base.size() == 2 {
            let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
            return Some(json!(String::from_utf16_lossy(units.split_last()?.1)));
        }
        Some(json!(String::from_utf8_lossy(bytes.split_last()?.1)))
    }

    fn union(&mut self, id: UnionId, tag: i64, at: usize) -> Option<Value> {
        let model = self.layout.model;
        let union = &model.unions[id.0];
        let arm = union.arms.iter().find(|arm| arm.cases.contains(&tag));
        let field = arm.map_or_else(|| union.default.as_ref(), |arm| Some(&arm.field))?;
        let mut shown = Map::new();
        if arm.is_none_or(|arm| arm.cases.len() > 1) || field.is_none() {
            let case = match union.tag {
                Type::Enum(id) => value::read(model, &Type::Enum(id), &(tag as i32).to_le_bytes())?,
                _ => json!(tag),
            };
            shown.insert("case".to_owned(), case);
        }
        if let Some(field) = field {
            shown.insert(field.name.clone(), self.value(&field.ty, at)?);
        }
        Some(Value::Object(shown))
    }
}
