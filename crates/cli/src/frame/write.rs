//! Encoding of frames from JSON.

use super::{Layout, Member, counted, evaluate, expected, integer};
use crate::describe::nearest::did_you_mean;
use crate::value::{self, Wrong};
use obvia_idl::model::{Arith, Base, Extent, Field, Pointer, PointerClass, Type, Union, UnionId, round_up};
use obvia_idl::plan::{KIND_TEXT8, KIND_TEXT16, is_plain};
use serde_json::{Map, Value};
use std::collections::{HashMap, VecDeque};

type Result<T> = std::result::Result<T, Wrong>;

/// The alignment of objects in a frame, in bytes.
const ALIGN: usize = 8;

/// A writer of one frame. Objects follow in the order of their pointers, as a reader from the start
/// meets them.
pub(crate) struct Writer<'a, 'v> {
    layout: Layout<'a>,
    frame: Vec<u8>,
    /// The queue of objects that have their place but not yet their values.
    empty: VecDeque<Empty<'a, 'v>>,
    /// The path of the value that is being written, for errors.
    path: String,
    /// The offsets of structures with an `$id`.
    named: HashMap<String, usize>,
    /// The slots of pointers to such structures, to be filled in at the end.
    waiting: Vec<(usize, String)>,
}

/// A frame object without its values.
struct Empty<'a, 'v> {
    ty: &'a Type,
    body: usize,
    given: Contents<'v>,
    path: String,
}

/// The JSON value of an object: one value, or the elements of an array.
enum Contents<'v> {
    One(&'v Value),
    Many(&'v [Value]),
}

impl<'a, 'v> Writer<'a, 'v> {
    /// Writes a block of `block` bytes with the members' values, and the objects that they point
    /// to.
    pub(crate) fn frame(
        layout: Layout<'a>,
        block: usize,
        members: &[Member<'a>],
        values: &'v Map<String, Value>,
    ) -> Result<Vec<u8>> {
        let frame = vec![0; block.next_multiple_of(ALIGN)];
        let (empty, named) = (VecDeque::new(), HashMap::new());
        let mut writer = Self { layout, frame, empty, path: String::new(), named, waiting: Vec::new() };
        writer.all(members, values).map_err(|wrong| wrong.within(&writer.path))?;
        for (slot, name) in std::mem::take(&mut writer.waiting) {
            let target = writer.named.get(&name).copied();
            let target = target.ok_or_else(|| Wrong::new(format!("no value has \"$id\": \"{name}\"")))?;
            writer.put(slot, &(target as u64).to_le_bytes());
        }
        Ok(writer.frame)
    }

    /// Writes the block and all objects. After an error, `path` names the value that caused it.
    fn all(&mut self, members: &[Member<'a>], values: &'v Map<String, Value>) -> Result<()> {
        self.members(0, members, values)?;
        while let Some(Empty { ty, body, given, path }) = self.empty.pop_front() {
            self.path = path;
            match given {
                Contents::One(value) => self.value(ty, body, value)?,
                Contents::Many(items) => self.elements(ty, body, items)?,
            }
        }
        Ok(())
    }

    /// Runs `work` with `part` appended to the path.
    fn within<R>(&mut self, part: &str, work: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        let length = self.path.len();
        self.path.push_str(part);
        let done = work(self)?;
        self.path.truncate(length);
        Ok(done)
    }

    /// Queues an object, to be written in its turn.
    fn later(&mut self, ty: &'a Type, body: usize, given: Contents<'v>) {
        self.empty.push_back(Empty { ty, body, given, path: self.path.clone() });
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.frame[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Appends a zeroed object, and returns the offset of its body.
    fn object(&mut self, kind: u32, count: usize, bytes: usize) -> Result<usize> {
        let count = u32::try_from(count).map_err(|_| Wrong::new("the value is too long for a frame"))?;
        self.frame.extend(kind.to_le_bytes());
        self.frame.extend(count.to_le_bytes());
        let body = self.frame.len();
        self.frame.resize((body + bytes).next_multiple_of(ALIGN), 0);
        Ok(body)
    }

    fn number(&self, base: usize, members: &[Member<'_>], value: &Arith) -> Option<i64> {
        let load = |index: usize, ty: Base| integer(&self.frame, base + members.get(index)?.at?, ty);
        evaluate(value, &load)
    }

    /// Writes plain values before pointers, because counts among them determine the sizes of
    /// arrays.
    fn members(&mut self, base: usize, members: &[Member<'a>], values: &'v Map<String, Value>) -> Result<()> {
        for member in members.iter().filter(|member| member.at.is_some()) {
            if is_plain(self.layout.model, member.ty) && *member.ty != Type::Void {
                self.value_member(base, members, member, values)?;
            }
        }
        for member in members.iter().filter(|member| member.at.is_some()) {
            if is_plain(self.layout.model, member.ty) && *member.ty != Type::Void {
                continue;
            }
            let Some(given) = values.get(member.name) else {
                return Err(missing(member, members));
            };
            self.within(&part(member), |writer| writer.member(base, members, member, given))?;
        }
        Ok(())
    }

    fn value_member(
        &mut self,
        base: usize,
        members: &[Member<'a>],
        member: &Member<'a>,
        values: &Map<String, Value>,
    ) -> Result<()> {
        let implied;
        let value = match values.get(member.name) {
            Some(given) => given,
            None => {
                let found = self.implied(members, member, values)?;
                implied = found.ok_or_else(|| missing(member, members))?;
                &implied
            }
        };
        let at = base + member.at.unwrap_or(0);
        let size = self.layout.size(member.ty);
        self.within(&part(member), |writer| {
            value::write(writer.layout.model, member.ty, value, &mut writer.frame[at..at + size])
        })
    }

    /// Returns the value that a counted array or a union implies for a member: its count or
    /// discriminant.
    fn implied(
        &mut self,
        members: &[Member<'a>],
        member: &Member<'a>,
        values: &Map<String, Value>,
    ) -> Result<Option<Value>> {
        let is_it = |value: &Arith| {
            value.plain().is_some_and(|operand| members.get(operand.index).is_some_and(|it| std::ptr::eq(it, member)))
        };
        for other in members {
            let Some(given) = values.get(other.name) else { continue };
            let size = other.tail.or_else(|| counted(other.ty)).map(|(_, size, _)| size);
            if size.is_some_and(is_it) {
                match given {
                    Value::Array(items) => return Ok(Some(Value::from(items.len()))),
                    Value::Null => return Ok(Some(Value::from(0))),
                    _ => return self.within(&part(other), |_| Err(expected("an array", given))),
                }
            }
            if let Type::Union(id) = other.ty
                && other.switch.is_some_and(is_it)
            {
                return Ok(Some(Value::from(self.arm(*id, given)?.0)));
            }
        }
        Ok(None)
    }

    fn member(&mut self, base: usize, members: &[Member<'a>], member: &Member<'a>, given: &'v Value) -> Result<()> {
        let at = base + member.at.unwrap_or(0);
        if let Some((element, ..)) = member.tail {
            let items = given.as_array().ok_or_else(|| expected("an array", given))?;
            return self.elements(element, at, items);
        }
        match (member.ty, counted(member.ty)) {
            (_, Some((element, size, length))) if !given.is_null() => {
                let items = given.as_array().ok_or_else(|| expected("an array", given))?;
                let wanted = self.number(base, members, length.unwrap_or(size));
                let wanted = wanted
                    .ok_or_else(|| Wrong::new("its number of elements cannot be computed from the other arguments"))?;
                if i64::try_from(items.len()) != Ok(wanted) {
                    let given = items.len();
                    let wrong = format!("the other arguments require {wanted} elements, but {given} are given");
                    return Err(Wrong::new(wrong));
                }
                let bytes = items.len() * self.layout.size(element);
                let body = self.object(self.layout.kind(element), items.len(), bytes)?;
                self.put(at, &(body as u64).to_le_bytes());
                self.later(element, body, Contents::Many(items));
                Ok(())
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
                field.map_or(Ok(()), |field| self.value(&field.ty, at, value))
            }
            _ => self.value(member.ty, at, given),
        }
    }

    fn elements(&mut self, element: &'a Type, at: usize, items: &'v [Value]) -> Result<()> {
        let size = self.layout.size(element);
        for (index, item) in items.iter().enumerate() {
            self.within(&format!("[{index}]"), |writer| writer.value(element, at + index * size, item))?;
        }
        Ok(())
    }

    fn value(&mut self, ty: &'a Type, at: usize, given: &'v Value) -> Result<()> {
        let model = self.layout.model;
        match ty {
            ty if is_plain(model, ty) => {
                let size = self.layout.size(ty);
                value::write(model, ty, given, &mut self.frame[at..at + size])
            }
            Type::Struct(id) => {
                let values = given.as_object().ok_or_else(|| expected("an object", given))?;
                let members = self.layout.members(*id);
                let known = |name: &str| name == "$id" || members.iter().any(|member| member.name == name);
                if let Some(other) = values.keys().find(|name| !known(name)) {
                    let names = members.iter().map(|member| member.name);
                    let meant = did_you_mean(other, names);
                    return Err(Wrong::new(format!("{} has no member `{other}`{meant}", model.structs[id.0].name)));
                }
                self.members(at, &members, values)
            }
            Type::Union(id) => self.encapsulated(*id, at, given),
            Type::Fixed(element, count) => {
                let items = given.as_array().ok_or_else(|| expected(&format!("an array of {count}"), given))?;
                if items.len() != *count as usize {
                    return Err(Wrong::new(format!("expected {count} elements, found {}", items.len())));
                }
                self.elements(element, at, items)
            }
            Type::Pointer(pointer) => self.pointer(pointer, at, given),
            Type::Interface(_) if given.is_null() => Ok(()),
            Type::Interface(_) => Err(Wrong::new("an object cannot be passed here, only null")),
            _ => Err(Wrong::new("a value of this type cannot be passed")),
        }
    }

    fn pointer(&mut self, pointer: &'a Pointer, at: usize, given: &'v Value) -> Result<()> {
        if given.is_null() {
            let missing = pointer.class == PointerClass::Ref;
            return if missing { Err(Wrong::new("must not be null")) } else { Ok(()) };
        }
        if let Some(name) = given.get("$ref").and_then(Value::as_str) {
            self.waiting.push((at, name.to_owned()));
            return Ok(());
        }
        let body = match (&pointer.extent, &pointer.to) {
            (Extent::Text, Type::Base(base)) => self.text(*base, given)?,
            (Extent::One, to) => {
                let mut bytes = self.layout.size(to);
                let mut count = 1;
                if let Type::Struct(id) = to
                    && let Some(tail) = self.layout.members(*id).last().filter(|member| member.tail.is_some())
                {
                    count = given.get(tail.name).and_then(Value::as_array).map_or(0, Vec::len);
                    let element = tail.tail.map_or(0, |(element, ..)| self.layout.size(element));
                    bytes = bytes.max(tail.at.unwrap_or(0) + count * element);
                }
                self.object(self.layout.kind(to), count, bytes)?
            }
            _ => return Err(Wrong::new("a pointer of this form cannot be passed")),
        };
        self.put(at, &(body as u64).to_le_bytes());
        if let Some(name) = given.get("$id").and_then(Value::as_str) {
            self.named.insert(name.to_owned(), body);
        }
        if pointer.extent != Extent::Text {
            self.later(&pointer.to, body, Contents::One(given));
        }
        Ok(())
    }

    fn text(&mut self, base: Base, given: &Value) -> Result<usize> {
        let text = given.as_str().ok_or_else(|| expected("a string", given))?;
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

    /// Returns the discriminant, the arm's member, and the value of a union's JSON object.
    fn arm<'w>(&self, id: UnionId, given: &'w Value) -> Result<(i64, Option<&'a Field>, &'w Value)> {
        let union: &'a Union = &self.layout.model.unions[id.0];
        let names = || union.arms.iter().filter_map(|arm| arm.field.as_ref()).chain(union.default.iter().flatten());
        let names = || names().map(|field| field.name.as_str());
        let form = || format!("an object with one of {} or \"case\"", names().collect::<Vec<_>>().join(", "));
        let values = given.as_object().ok_or_else(|| expected(&form(), given))?;
        let named = values.iter().find(|(name, _)| *name != "case");
        let case = values.get("case").map(|case| self.case(union, case)).transpose()?;
        let is_named = |field: &&Field| named.is_some_and(|(name, _)| field.name == *name);
        let arm = match (named, case) {
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
                let meant = named.map_or_else(String::new, |(name, _)| did_you_mean(name, names()));
                return Err(Wrong::new(format!("{} has no such arm{meant}; write {}", union.name, form())));
            }
        };
        let tag =
            tag.ok_or_else(|| Wrong::new("several discriminants select this arm: add \"case\" with one of them"))?;
        Ok((tag, field, named.map_or(&Value::Null, |(_, value)| value)))
    }

    fn case(&self, union: &Union, given: &Value) -> Result<i64> {
        match union.tag {
            Type::Enum(id) => value::enum_number(self.layout.model, id, given).map(i64::from),
            _ => given.as_i64().ok_or_else(|| expected("an integer", given)),
        }
    }

    fn encapsulated(&mut self, id: UnionId, at: usize, given: &'v Value) -> Result<()> {
        let model = self.layout.model;
        let union = &model.unions[id.0];
        let (tag, field, value) = self.arm(id, given)?;
        let size = self.layout.size(&union.tag);
        self.put(at, &tag.to_le_bytes()[..size]);
        let (_, align) = model.union_body(union);
        let body = at + round_up(size as u32, align) as usize;
        field.map_or(Ok(()), |field| self.value(&field.ty, body, value))
    }
}

fn part(member: &Member<'_>) -> String {
    format!(".{}", member.name)
}

fn missing(member: &Member<'_>, members: &[Member<'_>]) -> Wrong {
    let names: Vec<&str> = members.iter().map(|member| member.name).collect();
    Wrong::new(format!("`{}` is missing; the members are {}", member.name, names.join(", ")))
}
