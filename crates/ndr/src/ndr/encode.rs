//! The translation from FLAT to NDR.
//!
//! Referents of pointers are deferred (C706 14.3.12.3). They wait on a stack, so that chains of any
//! length need no recursion. Only types that contain each other by value are written recursively.

use super::plan::{Message, Param, Passing, Plan, Tail, Target, Type, TypeId, Union, What};
use super::{Error, Result, wire};
use crate::flat::shape::{Class, Expr};
use crate::flat::{KIND_INTERFACE, KIND_TEXT8, KIND_TEXT16, OBJECT_HEADER};
use std::collections::HashMap;

/// The first referent identifier, and the distance between identifiers.
const REFERENT: (u32, u32) = (0x0002_0000, 4);
/// The maximum length of an array of zeros that is encoded in the results of a failed method, in
/// bytes.
const ZEROS_MAX: usize = 1 << 16;

/// A referent that is still to be written.
struct Pending<'a> {
    /// The referent's offset in the frame.
    body: usize,
    target: &'a Target,
    /// The offset of the structure that contains the pointer.
    base: usize,
    /// Whether the pointer is full, so that its referent may be written already.
    is_full: bool,
}

/// The encoder of one message.
pub(super) struct Encoder<'a, const WIDE: bool, const BIG: bool> {
    plan: &'a Plan,
    frame: &'a [u8],
    outer: &'a [i64],
    out: &'a mut Vec<u8>,
    /// The offset in `out` at which the message's headers begin.
    start: usize,
    // Invariant: the last entry is the next to be written.
    pending: Vec<Pending<'a>>,
    /// The referents of full pointers, by their offset in the frame. Each entry has the referent's
    /// identifier, and whether the referent is written.
    full: HashMap<usize, (u32, bool)>,
    referents: u32,
}

impl<'a, const WIDE: bool, const BIG: bool> Encoder<'a, WIDE, BIG> {
    /// Creates an encoder that appends the stub data of `frame` to `out`. The last `headers` bytes
    /// of `out` are the message's headers.
    pub(super) fn new(plan: &'a Plan, frame: &'a [u8], outer: &'a [i64], out: &'a mut Vec<u8>, headers: usize) -> Self {
        let start = out.len().saturating_sub(headers);
        Self { plan, frame, outer, out, start, pending: Vec::new(), full: HashMap::new(), referents: REFERENT.0 }
    }

    /// Writes all parameters.
    pub(super) fn message(&mut self, message: &'a Message) -> Result<()> {
        for param in &message.params {
            self.param(param, message.block as usize)?;
            self.drain()?;
        }
        Ok(())
    }

    /// Writes a 32-bit number, such as a response's HRESULT.
    pub(super) fn number(&mut self, value: u32) {
        self.align(4);
        self.put(&if BIG { value.to_be_bytes() } else { value.to_le_bytes() });
    }

    fn param(&mut self, param: &'a Param, block: usize) -> Result<()> {
        let at = param.at as usize;
        match &param.what {
            Passing::Value(id) => self.value(*id, at, 0),
            Passing::Direct(target) => match self.slot(at)? {
                0 => self.absent(at, target),
                body => self.pointee(body, target, 0),
            },
            Passing::Lent { kind, size } => {
                let count = self.evaluate(0, size)?;
                let id = self.next_referent();
                self.referent(id);
                self.count(count)?;
                self.elements(self.plan.kind(*kind), block.next_multiple_of(8), count as usize)
            }
        }
    }

    /// Writes the deferred referents.
    fn drain(&mut self) -> Result<()> {
        self.pending.reverse();
        while let Some(next) = self.pending.pop() {
            if next.is_full
                && let Some((_, is_written)) = self.full.get_mut(&next.body)
                && std::mem::replace(is_written, true)
            {
                continue;
            }
            let mark = self.pending.len();
            self.pointee(next.body, next.target, next.base)?;
            self.pending[mark..].reverse();
        }
        Ok(())
    }

    fn align(&mut self, to: u32) {
        let length = self.out.len() - self.start;
        self.out.resize(self.start + length.next_multiple_of(to as usize), 0);
    }

    fn put(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    fn count(&mut self, count: u64) -> Result<()> {
        self.align(wire::word(WIDE));
        match (u32::try_from(count), WIDE, BIG) {
            (_, true, true) => self.put(&count.to_be_bytes()),
            (_, true, false) => self.put(&count.to_le_bytes()),
            (Ok(count), false, true) => self.put(&count.to_be_bytes()),
            (Ok(count), false, false) => self.put(&count.to_le_bytes()),
            (Err(_), ..) => return Err(Error::TooLong { at: self.out.len() - self.start }),
        }
        Ok(())
    }

    fn next_referent(&mut self) -> u32 {
        let id = self.referents;
        // An identifier must not become 0, which means null.
        self.referents = id.checked_add(REFERENT.1).unwrap_or(REFERENT.0);
        id
    }

    /// Returns the `size` bytes at `at` of the frame. Fails if the frame is too short, although
    /// this process's own stub or proxy has made the frame.
    fn bytes(&self, at: usize, size: usize) -> Result<&'a [u8]> {
        let found = at.checked_add(size).and_then(|end| self.frame.get(at..end));
        found.ok_or(Error::Frame { at })
    }

    fn load<const N: usize>(&self, at: usize) -> Result<[u8; N]> {
        self.bytes(at, N)?.first_chunk().copied().ok_or(Error::Frame { at })
    }

    fn slot(&self, at: usize) -> Result<usize> {
        usize::try_from(u64::from_le_bytes(self.load(at)?)).map_err(|_| Error::Frame { at })
    }

    /// Evaluates an expression over the structure at `base` as a count.
    fn evaluate(&self, base: usize, expr: &Expr) -> Result<u64> {
        let value = super::evaluate(self.frame, base, expr, self.outer);
        value.and_then(|value| u64::try_from(value).ok()).ok_or(Error::Frame { at: base })
    }

    /// Writes a value. `base` is the offset of the structure that contains the value.
    fn value(&mut self, id: TypeId, at: usize, base: usize) -> Result<()> {
        let ty = self.plan.ty(id);
        match &ty.what {
            What::Number | What::Boolean | What::Enum | What::Guid => self.elements(id, at, 1),
            What::Array { count, element } => self.elements(*element, at, *count as usize),
            What::Varying { count, element, length } => {
                self.varying(at, (*element, *count as usize), length.as_ref(), base)
            }
            What::Struct { .. } if ty.wire(WIDE).is_copied && !BIG => self.elements(id, at, 1),
            What::Struct { members, .. } => {
                self.members(ty, members, at)?;
                self.end(ty.wire(WIDE).align);
                Ok(())
            }
            What::Union(union) => self.union(union, ty, at, base),
            What::Pointer(class, target) => self.pointer(at, *class, target, base),
        }
    }

    /// Writes the valid elements of an array of fixed size.
    fn varying(&mut self, at: usize, (id, most): (TypeId, usize), length: Option<&Expr>, base: usize) -> Result<()> {
        let count = match length {
            Some(length) => usize::try_from(self.evaluate(base, length)?).unwrap_or(usize::MAX),
            None => self.characters(id, at, most)?,
        };
        if count > most {
            return Err(Error::Frame { at });
        }
        self.variance(count, true)?;
        self.elements(id, at, count)
    }

    /// Returns the number of a string's characters with the final zero, which must be one of the
    /// first `most` characters.
    fn characters(&self, id: TypeId, at: usize, most: usize) -> Result<usize> {
        let size = self.plan.ty(id).size as usize;
        let characters = self.bytes(at, most.checked_mul(size).ok_or(Error::Frame { at })?)?;
        let zero = characters.chunks_exact(size).position(|character| character.iter().all(|byte| *byte == 0));
        Ok(zero.ok_or(Error::Text { at })? + 1)
    }

    /// Aligns the position, and writes a structure's members.
    fn members(&mut self, ty: &Type, members: &'a [(u32, TypeId)], at: usize) -> Result<()> {
        self.align(ty.wire(WIDE).align);
        members.iter().try_for_each(|(offset, member)| self.value(*member, at + *offset as usize, at))
    }

    /// Writes the trailing gap that a structure has in NDR64: MS-RPCE 2.2.5.3.4.1.
    fn end(&mut self, align: u32) {
        if WIDE {
            self.align(align);
        }
    }

    /// Writes elements of an array. Runs of numbers are copied at once.
    fn elements(&mut self, id: TypeId, at: usize, count: usize) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let ty = self.plan.ty(id);
        let size = ty.size as usize;
        let bytes = self.bytes(at, count.checked_mul(size).ok_or(Error::Frame { at })?)?;
        let wire = ty.wire(WIDE);
        if wire.is_copied && (!BIG || size == 1) {
            self.align(wire.align);
            self.put(bytes);
            return Ok(());
        }
        match &ty.what {
            What::Number if size == 2 => self.swapped::<2>(bytes),
            What::Number if size == 4 => self.swapped::<4>(bytes),
            What::Number => self.swapped::<8>(bytes),
            What::Boolean => self.put(bytes),
            What::Enum if WIDE => self.swapped::<4>(bytes),
            What::Enum => self.enumerations(bytes, at)?,
            What::Guid => self.guids(bytes),
            _ => {
                // The expressions in an element read the element's own members.
                (0..count).try_for_each(|element| self.value(id, at + element * size, at + element * size))?;
            }
        }
        Ok(())
    }

    /// Writes numbers in reverse byte order.
    fn swapped<const N: usize>(&mut self, bytes: &[u8]) {
        self.align(N as u32);
        for number in bytes.chunks_exact(N) {
            let mut swapped = [0; N];
            swapped.copy_from_slice(number);
            swapped.reverse();
            self.put(&swapped);
        }
    }

    /// Writes enumerations, which have 16 bits in NDR: C706 14.2.5.
    fn enumerations(&mut self, bytes: &[u8], at: usize) -> Result<()> {
        self.align(2);
        for value in bytes.as_chunks::<4>().0 {
            let value = i32::from_le_bytes(*value);
            let Ok(value) = i16::try_from(value) else { return Err(Error::Enum { at, value }) };
            self.put(&if BIG { value.to_be_bytes() } else { value.to_le_bytes() });
        }
        Ok(())
    }

    /// Writes GUIDs in reverse byte order. Their first three fields are numbers: C706 A.1.
    fn guids(&mut self, bytes: &[u8]) {
        for guid in bytes.chunks_exact(16) {
            self.swapped::<4>(&guid[..4]);
            self.swapped::<2>(&guid[4..8]);
            self.put(&guid[8..]);
        }
    }

    fn union(&mut self, union: &'a Union, ty: &Type, at: usize, base: usize) -> Result<()> {
        let tag = match &union.switch {
            Some(switch) => {
                let value = super::evaluate(self.frame, base, switch, self.outer);
                value.ok_or(Error::Frame { at: base })?
            }
            None => super::load(self.frame, at, union.int).ok_or(Error::Frame { at })?,
        };
        let align = if WIDE { ty.wire(WIDE).align } else { 1 };
        self.align(align);
        self.tag(union, tag)?;
        self.align(align);
        let Some(arm) = union.arm(tag) else { return Err(Error::Arm { at, tag }) };
        arm.map_or(Ok(()), |arm| self.value(arm, at + union.body as usize, at))
    }

    /// Writes a union's discriminant. NDR has the discriminant even if it is outside of the union
    /// in memory: C706 14.3.8.
    fn tag(&mut self, union: &Union, tag: i64) -> Result<()> {
        let bytes = tag.to_le_bytes();
        match (&self.plan.ty(union.tag).what, union.int.size()) {
            (What::Enum, _) if !WIDE => return self.enumerations(&bytes[..4], self.out.len()),
            (_, size) => {
                self.align(size as u32);
                let mut bytes = bytes;
                if BIG {
                    bytes[..size].reverse();
                }
                self.put(&bytes[..size]);
            }
        }
        Ok(())
    }

    fn referent(&mut self, id: u32) {
        self.align(wire::word(WIDE));
        match (WIDE, BIG) {
            (true, true) => self.put(&u64::from(id).to_be_bytes()),
            (true, false) => self.put(&u64::from(id).to_le_bytes()),
            (false, true) => self.put(&id.to_be_bytes()),
            (false, false) => self.put(&id.to_le_bytes()),
        }
    }

    /// Writes a pointer and defers its referent.
    fn pointer(&mut self, at: usize, class: Class, target: &'a Target, base: usize) -> Result<()> {
        let body = self.slot(at)?;
        if body == 0 {
            self.referent(0);
            return if class == Class::Ref { Err(Error::Null { at }) } else { Ok(()) };
        }
        let is_full = class == Class::Full;
        let known = if is_full { self.full.get(&body).map(|(id, _)| *id) } else { None };
        let id = known.unwrap_or_else(|| self.next_referent());
        if is_full && known.is_none() {
            self.full.insert(body, (id, false));
        }
        self.referent(id);
        self.pending.push(Pending { body, target, base, is_full });
        Ok(())
    }

    /// Checks an object's type, and returns its count.
    fn object(&self, body: usize, kind: u32) -> Result<usize> {
        let at = body.checked_sub(OBJECT_HEADER).ok_or(Error::Frame { at: body })?;
        let header = u64::from_le_bytes(self.load(at)?);
        if header as u32 == kind { Ok((header >> 32) as usize) } else { Err(Error::Frame { at }) }
    }

    fn pointee(&mut self, body: usize, target: &'a Target, base: usize) -> Result<()> {
        match target {
            Target::One(kind) => {
                let count = self.object(body, *kind)?;
                let id = self.plan.kind(*kind);
                match &self.plan.ty(id).what {
                    What::Struct { members, tail: Some(tail) } => {
                        self.open(self.plan.ty(id), members, tail, body, count)
                    }
                    _ => self.value(id, body, body),
                }
            }
            Target::Counted { kind, size, length } => {
                let count = self.object(body, *kind)?;
                self.counts(base, count, size)?;
                self.variance(count, length.is_some())?;
                self.elements(self.plan.kind(*kind), body, count)
            }
            Target::Filled { kind, size } => {
                let (count, id) = (self.object(body, *kind)?, self.plan.kind(*kind));
                self.counts(base, count, size)?;
                let used = if count == 0 { 0 } else { self.characters(id, body, count)? };
                self.variance(used, true)?;
                self.elements(id, body, used)
            }
            Target::Text8 => self.text::<1>(body, KIND_TEXT8),
            Target::Text16 => self.text::<2>(body, KIND_TEXT16),
            Target::Interface => {
                let count = self.object(body, KIND_INTERFACE)?;
                self.count(count as u64)?;
                self.number(count as u32);
                self.put(self.bytes(body, count)?);
                self.end(wire::MINTERFACEPOINTER_ALIGN);
                Ok(())
            }
        }
    }

    /// Writes the conformance of an array, the value of `size`. Fails if that is less than `count`,
    /// the number of the array's elements.
    fn counts(&mut self, base: usize, count: usize, size: &Expr) -> Result<()> {
        let most = self.evaluate(base, size)?;
        if most < count as u64 {
            return Err(Error::Frame { at: base });
        }
        self.count(most)
    }

    /// Writes the offset and the number of the elements if the array is varying: C706 14.3.3.3.
    fn variance(&mut self, count: usize, varies: bool) -> Result<()> {
        if varies {
            self.count(0)?;
            self.count(count as u64)?;
        }
        Ok(())
    }

    /// Writes a structure that ends in an array. The conformance precedes the structure: C706
    /// 14.3.7.2.
    fn open(
        &mut self,
        ty: &Type,
        members: &'a [(u32, TypeId)],
        tail: &'a Tail,
        body: usize,
        count: usize,
    ) -> Result<()> {
        self.counts(body, count, &tail.size)?;
        self.members(ty, members, body)?;
        self.variance(count, tail.length.is_some())?;
        self.elements(tail.element, body + tail.at as usize, count)?;
        self.end(ty.wire(WIDE).align);
        Ok(())
    }

    /// Writes a string: C706 14.3.4.2.
    fn text<const SIZE: usize>(&mut self, body: usize, kind: u32) -> Result<()> {
        let count = self.object(body, kind)?;
        self.count(count as u64)?;
        self.variance(count, true)?;
        let bytes = self.bytes(body, count * SIZE)?;
        if BIG {
            self.swapped::<SIZE>(bytes);
        } else {
            self.align(SIZE as u32);
            self.put(bytes);
        }
        Ok(())
    }

    /// Writes an array that holds an empty string. An array without elements holds nothing, and any
    /// other array holds the string's zero.
    fn empty_text(&mut self, kind: u32, size: &Expr) -> Result<()> {
        let count = self.evaluate(0, size)?;
        self.count(count)?;
        self.variance(count.min(1) as usize, true)?;
        if count == 0 {
            return Ok(());
        }
        let ty = self.plan.ty(self.plan.kind(kind));
        self.align(ty.wire(WIDE).align);
        self.out.resize(self.out.len() + ty.size as usize, 0);
        Ok(())
    }

    /// Writes an array of zeros as the referent of a reference pointer that is null in the frame,
    /// because the method has failed.
    fn absent(&mut self, at: usize, target: &'a Target) -> Result<()> {
        if let Target::Filled { kind, size } = target {
            return self.empty_text(*kind, size);
        }
        let Target::Counted { kind, size, length } = target else { return Err(Error::Null { at }) };
        let count = self.evaluate(0, size)?;
        self.count(count)?;
        if length.is_some() {
            return self.variance(0, true);
        }
        let element = self.plan.ty(self.plan.kind(*kind)).wire(WIDE);
        let bytes = usize::try_from(count).ok().and_then(|count| count.checked_mul(element.least as usize));
        let Some(bytes) = bytes.filter(|bytes| element.is_copied && *bytes <= ZEROS_MAX) else {
            return Err(Error::Null { at });
        };
        if bytes > 0 {
            self.align(element.align);
            self.out.resize(self.out.len() + bytes, 0);
        }
        Ok(())
    }
}
