//! Encoding of frames.

use super::plain::{self, Given, Items, Label, Named, did_you_mean, expected, fields};
use super::{DEPTH_MAX, Layout, Member, Wrong, counted, evaluate, iid, integer};
use crate::model::{Arith, Base, Extent, Field, Object, Pointer, PointerClass, Type, Union, UnionId, round_up};
use crate::plan::{KIND_INTERFACE, KIND_TEXT8, KIND_TEXT16};
use std::collections::{HashMap, VecDeque};

type Result<T> = std::result::Result<T, Wrong>;

/// The alignment of objects in a frame, in bytes.
const ALIGN: usize = 8;

/// The greatest length of a frame, in bytes.
const BYTES_MAX: usize = 1 << 30;

/// The maximum work for one frame: the number of values that pointers lead to, plus the number of
/// steps in the paths to these values. A value to which several pointers lead is written once for
/// each pointer, so a small value could need any number of steps.
const STEPS_MAX: usize = 1 << 24;

/// A source of object references.
pub trait References<V> {
    /// Marshals the reference to an object, for a pointer to the interface with this IID.
    ///
    /// # Errors
    ///
    /// If the value is not an object, or if no reference to the object can be made.
    fn reference(&mut self, object: &V, iid: u128) -> Result<Vec<u8>>;
}

/// A writer of one frame. Objects follow the block in the order in which a reader meets their
/// pointers.
pub(super) struct Writer<'a, 'v, V> {
    layout: &'v Layout<'a>,
    references: &'v mut dyn References<V>,
    /// The values of parameters outside of the frame, by their indices.
    outer: &'v dyn Fn(usize) -> Option<i64>,
    frame: Vec<u8>,
    /// The queue of objects that have their place but not yet their values.
    empty: VecDeque<Empty<'v, V>>,
    /// The path of the value that is being written, for errors.
    path: Vec<Step<'v>>,
    /// The offsets of objects with a label, and their values. The values are kept so that no other
    /// value gets the same label.
    labelled: HashMap<String, (usize, V)>,
    /// The places of pointers to labels, each with its label. They are filled in at the end.
    waiting: Vec<(usize, String)>,
    /// The number of steps and values that may still be queued.
    left: usize,
}

/// A frame object without its values.
struct Empty<'v, V> {
    ty: &'v Type,
    body: usize,
    given: Contents<V>,
    path: Vec<Step<'v>>,
}

/// The value of an object: one value, or the elements of an array.
enum Contents<V> {
    One(V),
    Many(Vec<V>),
}

/// A part of a path.
#[derive(Clone, Copy)]
enum Step<'v> {
    Member(&'v str),
    Element(usize),
}

impl<'v, V: Given> Writer<'_, 'v, V> {
    /// Writes a block of `block` bytes with the members' values, and the objects that they point
    /// to.
    pub(super) fn frame(
        layout: &'v Layout<'_>,
        block: usize,
        members: &'v [Member<'_>],
        values: &[Option<V>],
        references: &'v mut dyn References<V>,
        outer: &'v dyn Fn(usize) -> Option<i64>,
    ) -> Result<Vec<u8>> {
        let (frame, empty, path, labelled, waiting) =
            (Vec::new(), VecDeque::new(), Vec::new(), HashMap::new(), Vec::new());
        let mut writer = Writer { layout, references, outer, frame, empty, path, labelled, waiting, left: STEPS_MAX };
        writer.extend(block)?;
        writer.all(members, values).map_err(|wrong| wrong.within(&writer.place()))?;
        for (slot, label) in std::mem::take(&mut writer.waiting) {
            let target = writer.labelled.get(&label).map(|(body, _)| *body);
            let target = target.ok_or_else(|| Wrong::new(format!("no value has \"$id\": \"{label}\"")))?;
            writer.put(slot, &(target as u64).to_le_bytes());
        }
        Ok(writer.frame)
    }

    /// Writes the block and all objects. After an error, `path` leads to the value that caused it.
    fn all(&mut self, members: &'v [Member<'_>], values: &[Option<V>]) -> Result<()> {
        self.members(0, members, values)?;
        while let Some(Empty { ty, body, given, path }) = self.empty.pop_front() {
            self.path = path;
            match given {
                Contents::One(value) => self.value(ty, body, &value)?,
                Contents::Many(items) => self.elements(ty, body, &items)?,
            }
        }
        Ok(())
    }

    fn place(&self) -> String {
        let step = |step: &Step<'_>| match step {
            Step::Member(name) => format!(".{name}"),
            Step::Element(at) => format!("[{at}]"),
        };
        self.path.iter().map(step).collect()
    }

    /// Runs `work` with `step` appended to the path.
    fn within<R>(&mut self, step: Step<'v>, work: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        if self.path.len() > DEPTH_MAX {
            self.path.truncate(3);
            return Err(Wrong::new("the value is nested too deeply"));
        }
        self.path.push(step);
        let done = work(self)?;
        self.path.pop();
        Ok(done)
    }

    /// Queues an object, to be written in its turn.
    fn later(&mut self, ty: &'v Type, body: usize, given: Contents<V>) -> Result<()> {
        let values = if let Contents::Many(values) = &given { values.len() } else { 1 };
        let left = self.left.checked_sub(self.path.len() + values);
        self.left = left.ok_or_else(|| Wrong::new("the value has too many parts"))?;
        self.empty.push_back(Empty { ty, body, given, path: self.path.clone() });
        Ok(())
    }

    /// Appends zeroed bytes, and fills up the frame to its alignment.
    fn extend(&mut self, bytes: usize) -> Result<()> {
        let end = self.frame.len().checked_add(bytes).filter(|end| *end <= BYTES_MAX);
        let end = end.ok_or_else(|| Wrong::new(format!("the values are longer than {BYTES_MAX} bytes")))?;
        let end = end.next_multiple_of(ALIGN);
        let reserved = self.frame.try_reserve(end - self.frame.len());
        reserved.map_err(|_| Wrong::new("there is not enough memory for the values"))?;
        self.frame.resize(end, 0);
        Ok(())
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.frame[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Appends a zeroed object, and returns the offset of its body.
    fn object(&mut self, kind: u32, count: usize, bytes: usize) -> Result<usize> {
        let count = u32::try_from(count).map_err(|_| Wrong::new("the value is too long for a frame"))?;
        let (start, body) = (self.frame.len(), self.frame.len() + ALIGN);
        self.extend(bytes.saturating_add(ALIGN))?;
        self.put(start, &kind.to_le_bytes());
        self.put(start + 4, &count.to_le_bytes());
        Ok(body)
    }

    /// Returns the number of elements for which the object with a structure at `body` has room.
    /// `None` outside of the frame.
    fn room(&self, body: usize) -> Option<usize> {
        let header = self.frame.get(body.checked_sub(4)?..body)?;
        Some(u32::from_le_bytes(*header.first_chunk()?) as usize)
    }

    fn number(&self, base: usize, members: &[Member<'_>], value: &Arith) -> Option<i64> {
        let load = |index: usize, ty: Base| match members.get(index)?.at {
            Some(at) => integer(&self.frame, base + at, ty),
            None => (self.outer)(index),
        };
        evaluate(value, &load)
    }

    /// Writes plain values before pointers, because counts among them determine the sizes of
    /// arrays.
    fn members(&mut self, base: usize, members: &'v [Member<'_>], values: &[Option<V>]) -> Result<()> {
        let placed = || members.iter().enumerate().filter(|(_, member)| member.at.is_some());
        for (index, member) in placed().filter(|(_, member)| member.is_plain) {
            match values.get(index).and_then(Option::as_ref) {
                Some(given) => {
                    let place = base + member.at.unwrap_or(0);
                    let out = &mut self.frame[place..place + member.size];
                    let written = plain::write(self.layout, member.ty, given, out);
                    written.map_err(|wrong| wrong.within(&format!(".{}", member.name)))?;
                }
                None => self.implied_member(base, members, member, values)?,
            }
        }
        for (index, member) in placed().filter(|(_, member)| !member.is_plain) {
            let given = values.get(index).and_then(Option::as_ref).ok_or_else(|| missing(member, members))?;
            self.within(Step::Member(member.name), |writer| writer.member(base, members, member, given))?;
        }
        Ok(())
    }

    /// Writes the value that a counted array or a union implies for a member: its count or
    /// discriminant.
    fn implied_member(
        &mut self,
        base: usize,
        members: &'v [Member<'_>],
        member: &Member<'_>,
        values: &[Option<V>],
    ) -> Result<()> {
        let number = self.implied(members, member, values)?.ok_or_else(|| missing(member, members))?;
        let range = match member.ty {
            Type::Base(base) => base.range(),
            _ => Base::I32.range(),
        };
        if range.is_some_and(|(least, most)| !(least..=most).contains(&i128::from(number))) {
            return Err(Wrong::new(format!("{number} is outside of the range of {}", member.name)));
        }
        let size = member.size.min(8);
        self.put(base + member.at.unwrap_or(0), &number.to_le_bytes()[..size]);
        Ok(())
    }

    /// Returns the value that a counted array or a union implies for a member. A null array implies
    /// 0 unless another array has the same count.
    fn implied(&mut self, members: &'v [Member<'_>], member: &Member<'_>, values: &[Option<V>]) -> Result<Option<i64>> {
        let is_it = |value: &Arith| {
            value.plain().is_some_and(|operand| members.get(operand.index).is_some_and(|it| std::ptr::eq(it, member)))
        };
        let mut of_null = None;
        for (other, given) in members.iter().zip(values) {
            let Some(given) = given else { continue };
            if let Some((element, size, _)) = other.tail.or_else(|| counted(other.ty))
                && is_it(size)
            {
                if given.is_null() {
                    of_null = Some(0);
                    continue;
                }
                let count = self.count(element, given);
                let missing = |_: &mut Self| count.ok_or_else(|| expected("an array", given));
                return self.within(Step::Member(other.name), missing).map(Some);
            }
            if let Type::Union(id) = other.ty
                && other.switch.is_some_and(is_it)
            {
                return Ok(Some(self.arm(*id, given)?.0));
            }
        }
        Ok(of_null)
    }

    /// Returns the number of elements of an array's value. `None` for other values.
    fn count(&self, element: &Type, given: &V) -> Option<i64> {
        let bytes = if let Type::Base(base) = element { given.bytes(*base) } else { None };
        let count = bytes.map(|bytes| bytes.len() / self.layout.size(element).max(1)).or_else(|| given.length());
        count.and_then(|count| i64::try_from(count).ok())
    }

    fn member(&mut self, base: usize, members: &'v [Member<'_>], member: &'v Member<'_>, given: &V) -> Result<()> {
        let at = base + member.at.unwrap_or(0);
        if let Some((element, ..)) = member.tail {
            let items = Items::of(element, given).ok_or_else(|| expected("an array", given))?;
            let (room, found) = (self.room(base), items.len(self.layout.size(element)));
            if room != Some(found) {
                return Err(Wrong::new(format!(
                    "the length of this array requires {} elements, but {found} are given",
                    room.unwrap_or(0)
                )));
            }
            return self.array(element, at, items);
        }
        match (member.ty, counted(member.ty)) {
            (_, Some((element, size, length))) if !given.is_null() => {
                let items = Items::of(element, given).ok_or_else(|| expected("an array", given))?;
                let wanted = match length {
                    None if member.is_sized_by_request => evaluate(size, &|index, _| (self.outer)(index)),
                    _ => self.number(base, members, length.unwrap_or(size)),
                };
                let wanted = wanted
                    .ok_or_else(|| Wrong::new("its number of elements cannot be computed from the other arguments"))?;
                let (stride, found) = (self.layout.size(element), items.len(self.layout.size(element)));
                if i64::try_from(found) != Ok(wanted) {
                    let wrong = format!("the other arguments require {wanted} elements, but {found} are given");
                    return Err(Wrong::new(wrong));
                }
                let body = self.object(self.layout.kind(element), found, found.saturating_mul(stride))?;
                self.put(at, &(body as u64).to_le_bytes());
                match items {
                    Items::Values(values) if !self.is_plain(element) => {
                        self.later(element, body, Contents::Many(values))
                    }
                    items => items.write(self.layout, element, &mut self.frame[body..body + found * stride]),
                }
            }
            (Type::Union(id), _) if self.layout.model.unions[id.0].encapsulated.is_none() => {
                let (tag, field, value) = self.arm(*id, given)?;
                if let Some(said) = member.switch.and_then(|switch| self.number(base, members, switch))
                    && said != tag
                {
                    return Err(Wrong::new(format!(
                        "the arm belongs to discriminant {tag}, but the discriminant is {said}"
                    )));
                }
                self.arm_value(field, at, value)
            }
            (Type::Interface(object), _) => self.reference(object, base, members, at, given),
            _ => self.value(member.ty, at, given),
        }
    }

    fn is_plain(&self, ty: &Type) -> bool {
        crate::plan::is_plain(self.layout.model, ty)
    }

    fn reference(&mut self, object: &Object, base: usize, members: &[Member<'_>], at: usize, given: &V) -> Result<()> {
        if given.is_null() {
            return Ok(());
        }
        let iid = iid(self.layout.model, object, &self.frame, base, members);
        let iid = iid.ok_or_else(|| Wrong::new("the interface of this object is unknown"))?;
        let reference = self.references.reference(given, iid)?;
        let body = self.object(KIND_INTERFACE, reference.len(), reference.len())?;
        self.put(body, &reference);
        self.put(at, &(body as u64).to_le_bytes());
        Ok(())
    }

    /// Writes the elements of an array into the room for them.
    fn array(&mut self, element: &'v Type, at: usize, items: Items<'_, V>) -> Result<()> {
        match items {
            Items::Values(values) => self.elements(element, at, &values),
            items => {
                let end = at + items.len(self.layout.size(element)) * self.layout.size(element);
                items.write(self.layout, element, &mut self.frame[at..end])
            }
        }
    }

    fn elements(&mut self, element: &'v Type, at: usize, items: &[V]) -> Result<()> {
        let size = self.layout.size(element);
        for (index, item) in items.iter().enumerate() {
            self.within(Step::Element(index), |writer| writer.value(element, at + index * size, item))?;
        }
        Ok(())
    }

    fn value(&mut self, ty: &'v Type, at: usize, given: &V) -> Result<()> {
        match ty {
            ty if self.is_plain(ty) => {
                let size = self.layout.size(ty);
                plain::write(self.layout, ty, given, &mut self.frame[at..at + size])
            }
            Type::Struct(id) => {
                let members = self.layout.members(*id);
                let values = fields(self.layout, *id, members, given)?;
                self.members(at, members, &values)
            }
            Type::Union(id) => self.encapsulated(*id, at, given),
            Type::Fixed(element, count) => {
                let items = given.elements().ok_or_else(|| expected(&format!("an array of {count}"), given))?;
                if items.len() != *count as usize {
                    return Err(Wrong::new(format!("expected {count} elements, found {}", items.len())));
                }
                self.elements(element, at, &items)
            }
            Type::Pointer(pointer) => self.pointer(pointer, at, given),
            Type::Interface(object) => self.reference(object, 0, &[], at, given),
            _ => Err(Wrong::new("a value of this type cannot be passed")),
        }
    }

    fn pointer(&mut self, pointer: &'v Pointer, at: usize, given: &V) -> Result<()> {
        if given.is_null() {
            let missing = pointer.class == PointerClass::Ref;
            return if missing { Err(Wrong::new("must not be null")) } else { Ok(()) };
        }
        let label = match given.label() {
            Label::None => None,
            Label::To(label) => {
                self.waiting.push((at, label));
                return Ok(());
            }
            Label::Of(label) => match self.labelled.get(&label) {
                Some(_) if pointer.class == PointerClass::Full => {
                    self.waiting.push((at, label));
                    return Ok(());
                }
                _ => Some(label),
            },
        };
        let body = match (&pointer.extent, &pointer.to) {
            (Extent::Text, Type::Base(base)) => self.text(*base, given)?,
            (Extent::One, to) => {
                let mut bytes = self.layout.size(to);
                let mut count = 1;
                if let Type::Struct(id) = to
                    && let Some(tail) = self.layout.members(*id).last()
                    && let Some((element, ..)) = tail.tail
                {
                    count = given.member(tail.name).and_then(|items| self.count(element, &items)).unwrap_or(0) as usize;
                    let end = count.saturating_mul(self.layout.size(element)).saturating_add(tail.at.unwrap_or(0));
                    bytes = bytes.max(end);
                }
                self.object(self.layout.kind(to), count, bytes)?
            }
            _ => return Err(Wrong::new("a pointer of this form cannot be passed")),
        };
        self.put(at, &(body as u64).to_le_bytes());
        if let Some(label) = label {
            self.labelled.insert(label, (body, given.clone()));
        }
        if pointer.extent != Extent::Text {
            self.later(&pointer.to, body, Contents::One(given.clone()))?;
        }
        Ok(())
    }

    fn text(&mut self, base: Base, given: &V) -> Result<usize> {
        let text = given.text().ok_or_else(|| expected("a string", given))?;
        if text.contains('\0') {
            return Err(Wrong::new("a string must not contain a zero, because it would end there"));
        }
        let bytes: Vec<u8> = if base.size() == 2 {
            text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()
        } else {
            text.bytes().chain([0]).collect()
        };
        let kind = if base.size() == 2 { KIND_TEXT16 } else { KIND_TEXT8 };
        let body = self.object(kind, bytes.len() / base.size() as usize, bytes.len())?;
        self.put(body, &bytes);
        Ok(body)
    }

    /// Returns the discriminant, the arm's member, and the value of a union.
    fn arm(&self, id: UnionId, given: &V) -> Result<(i64, Option<&'v Field>, Option<V>)> {
        let union: &'v Union = &self.layout.model.unions[id.0];
        let names = || union.arms.iter().filter_map(|arm| arm.field.as_ref()).chain(union.default.iter().flatten());
        let names = || names().map(|field| field.name.as_str());
        let form = || format!("an object with one of {} or \"case\"", names().collect::<Vec<_>>().join(", "));
        let Some(Named { arm: named, case }) = given.arm() else { return Err(expected(&form(), given)) };
        let case = case.map(|case| self.case(union, &case)).transpose()?;
        let is_named = |field: &&Field| named.as_ref().is_some_and(|(name, _)| field.name == *name);
        let arm = match (&named, case) {
            (Some(_), _) => union.arms.iter().find(|arm| arm.field.as_ref().filter(is_named).is_some()),
            (None, Some(case)) => union.arms.iter().find(|arm| arm.cases.contains(&case)),
            (None, None) => return Err(expected(&form(), given)),
        };
        let default =
            union.default.as_ref().filter(|field| named.is_none() || field.as_ref().filter(is_named).is_some());
        let (field, tag) = match (arm, default) {
            (Some(arm), _) => (arm.field.as_ref(), case.or_else(|| (arm.cases.len() == 1).then_some(arm.cases[0]))),
            (None, Some(field)) => (field.as_ref(), case),
            (None, None) => {
                let meant = named.as_ref().map_or_else(String::new, |(name, _)| did_you_mean(name, names()));
                return Err(Wrong::new(format!("{} has no such arm{meant}; write {}", union.name, form())));
            }
        };
        let tag =
            tag.ok_or_else(|| Wrong::new("several discriminants select this arm: add \"case\" with one of them"))?;
        Ok((tag, field, named.map(|(_, value)| value)))
    }

    fn case(&self, union: &Union, given: &V) -> Result<i64> {
        match union.tag {
            Type::Enum(id) => plain::enum_number(self.layout.model, id, given).map(i64::from),
            _ => given.integer().and_then(|tag| i64::try_from(tag).ok()).ok_or_else(|| expected("an integer", given)),
        }
    }

    /// Writes the value of a union's arm, if the arm has one.
    fn arm_value(&mut self, field: Option<&'v Field>, at: usize, value: Option<V>) -> Result<()> {
        let Some(field) = field else { return Ok(()) };
        match (value, &field.ty) {
            (Some(value), ty) => self.within(Step::Member(&field.name), |writer| writer.value(ty, at, &value)),
            (None, Type::Interface(_)) => Ok(()),
            (None, Type::Pointer(pointer)) if pointer.class != PointerClass::Ref => Ok(()),
            (None, _) => Err(Wrong::new(format!("the arm `{}` has no value", field.name))),
        }
    }

    fn encapsulated(&mut self, id: UnionId, at: usize, given: &V) -> Result<()> {
        let model = self.layout.model;
        let union = &model.unions[id.0];
        let (tag, field, value) = self.arm(id, given)?;
        let size = self.layout.size(&union.tag);
        self.put(at, &tag.to_le_bytes()[..size]);
        let (_, align) = model.union_body(union);
        self.arm_value(field, at + round_up(size as u32, align) as usize, value)
    }
}

fn missing(member: &Member<'_>, members: &[Member<'_>]) -> Wrong {
    let names: Vec<&str> = members.iter().map(|member| member.name).collect();
    Wrong::new(format!("`{}` is missing; the members are {}", member.name, names.join(", ")))
}
