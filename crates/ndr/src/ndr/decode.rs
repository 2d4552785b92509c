//! The translation from NDR to FLAT. The stub data is untrusted.
//!
//! An object is allocated only on two conditions. The remaining stub data is at least as long as
//! the object's minimum size on the wire, and the object fits the limit of the frame. Counts and
//! discriminants are read first. Each is compared with the interface's expression for it as soon as
//! the members in that expression have been read.

mod pointees;

use super::plan::{Message, Param, Passing, Plan, Target, Type, TypeId, Union, What};
use super::{Error, Result, order, wire};
use crate::flat::shape::Expr;
use crate::flat::{FRAME_MAX, OBJECT_ALIGN, OBJECT_HEADER};
use std::collections::HashMap;

/// A pointer whose referent is still to be read.
struct Pending<'a> {
    /// The slot's offset.
    at: usize,
    target: &'a Target,
    /// The offset of the structure that contains the pointer.
    base: usize,
    /// The referent identifier of a full pointer, which other pointers may share.
    full: Option<u64>,
}

/// A value in the stub data that must equal the value of an expression.
struct Claim<'a> {
    /// The offset of the structure that the expression reads.
    base: usize,
    expr: &'a Expr,
    value: i64,
    /// The union, if the value is a union's discriminant.
    union: Option<&'a Union>,
    /// The error if the two values differ.
    error: Error,
}

/// The decoder of one message.
pub(super) struct Decoder<'a, const WIDE: bool, const BIG: bool> {
    plan: &'a Plan,
    stub: &'a [u8],
    at: usize,
    outer: &'a [i64],
    frame: &'a mut Vec<u8>,
    frame_max: usize,
    // Invariant: the last entry is the next to be read.
    pending: Vec<Pending<'a>>,
    claims: Vec<Claim<'a>>,
    /// The objects that full pointers refer to, by referent identifier. Each entry has the object's
    /// number and its type number.
    full: HashMap<u64, (u32, u32)>,
    /// The objects and their slots.
    found: order::Found,
}

impl<'a, const WIDE: bool, const BIG: bool> Decoder<'a, WIDE, BIG> {
    /// Creates a decoder that makes a frame of at most `frame_max` bytes from stub data with
    /// `headers` bytes of headers.
    pub(super) fn new(
        plan: &'a Plan,
        (stub, headers): (&'a [u8], usize),
        outer: &'a [i64],
        frame: &'a mut Vec<u8>,
        frame_max: usize,
    ) -> Self {
        frame.clear();
        Self {
            plan,
            stub,
            at: headers.min(stub.len()),
            outer,
            frame,
            frame_max: frame_max.min(FRAME_MAX),
            pending: Vec::new(),
            claims: Vec::new(),
            full: HashMap::new(),
            found: order::Found::default(),
        }
    }

    /// Reads all parameters.
    pub(super) fn message(&mut self, message: &'a Message) -> Result<()> {
        self.extend((message.block as usize).next_multiple_of(OBJECT_ALIGN))?;
        for param in &message.params {
            self.param(param)?;
            self.drain()?;
        }
        self.settle(0)?;
        order::restore(self.frame, message.block as usize, &mut self.found);
        Ok(())
    }

    fn param(&mut self, param: &'a Param) -> Result<()> {
        let at = param.at as usize;
        match &param.what {
            Passing::Value(id) => self.value(*id, at, 0),
            Passing::Direct(target) => {
                let object = self.pointee(target, 0)?;
                self.lead(at, object);
                Ok(())
            }
            Passing::Lent { kind, size } => {
                let id = self.plan.kind(*kind);
                let count = if self.word()? == 0 { 0 } else { self.word()? };
                self.claim(0, size, count, Error::Count { at: self.at, found: count });
                let bytes = self.room(id, count)?;
                let body = self.frame.len();
                self.extend(bytes)?;
                self.frame.truncate(body + bytes);
                self.elements(id, body, count as usize)
            }
        }
    }

    /// Reads the deferred referents.
    fn drain(&mut self) -> Result<()> {
        self.pending.reverse();
        while let Some(next) = self.pending.pop() {
            let mark = self.pending.len();
            let object = self.referent(&next)?;
            self.lead(next.at, object);
            self.pending[mark..].reverse();
        }
        Ok(())
    }

    /// Returns the object of a pointer. Aliases of a full pointer share the object.
    fn referent(&mut self, pending: &Pending<'a>) -> Result<u32> {
        let Some(id) = pending.full else { return self.deferred(pending) };
        let kind = pending.target.kind();
        match self.full.get(&id) {
            Some((object, known)) if *known == kind => Ok(*object),
            Some(_) => Err(Error::Alias { at: self.at }),
            None => {
                let object = self.deferred(pending)?;
                self.full.insert(id, (object, kind));
                Ok(object)
            }
        }
    }

    /// Reads a referent. If the pointer lies in a structure, that structure is complete by now, so
    /// the referent's claims are checked at once. If the pointer lies in the parameters' block, the
    /// block is not complete yet, so [`Self::message`] checks the claims at the end.
    fn deferred(&mut self, pending: &Pending<'a>) -> Result<u32> {
        let mark = self.claims.len();
        let object = self.pointee(pending.target, pending.base)?;
        if pending.base != 0 {
            self.settle(mark)?;
        }
        Ok(object)
    }

    fn lead(&mut self, at: usize, object: u32) {
        let body = u64::from(self.found.objects[object as usize]);
        self.frame[at..at + 8].copy_from_slice(&body.to_le_bytes());
        self.found.slots.push((at as u32, object));
    }

    fn claim(&mut self, base: usize, expr: &'a Expr, value: u64, error: Error) {
        // Values of expressions are within `i64`. A greater count becomes -1, which is no valid
        // count.
        let value = i64::try_from(value).unwrap_or(-1);
        self.claims.push(Claim { base, expr, value, union: None, error });
    }

    /// Compares the value of each claim, from the index `mark` on, with the value of the claim's
    /// expression. Removes these claims.
    fn settle(&mut self, mark: usize) -> Result<()> {
        for claim in self.claims.drain(mark..) {
            let value = super::evaluate(self.frame, claim.base, claim.expr, self.outer);
            let holds = |value| match claim.union {
                Some(union) => union.is_same(value, claim.value),
                None => value == claim.value,
            };
            if !value.is_some_and(holds) {
                return Err(claim.error);
            }
        }
        Ok(())
    }

    fn bytes(&mut self, size: usize) -> Result<&'a [u8]> {
        let found = self.stub[self.at..].get(..size).ok_or(Error::Short { at: self.at })?;
        self.at += size;
        Ok(found)
    }

    fn align(&mut self, to: u32) -> Result<()> {
        let at = self.at.next_multiple_of(to as usize);
        if at > self.stub.len() {
            return Err(Error::Short { at: self.at });
        }
        self.at = at;
        Ok(())
    }

    fn number(&mut self, size: usize) -> Result<u64> {
        self.align(size as u32)?;
        let found = self.bytes(size)?;
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(found);
        if BIG {
            bytes[..size].reverse();
        }
        Ok(u64::from_le_bytes(bytes))
    }

    /// Reads a referent identifier or a count.
    fn word(&mut self) -> Result<u64> {
        self.number(wire::word(WIDE) as usize)
    }

    /// Extends the frame by `bytes` zeros, and then up to a multiple of [`OBJECT_ALIGN`]. Fails if
    /// the frame would exceed its limit.
    fn extend(&mut self, bytes: usize) -> Result<()> {
        let length = self.frame.len().checked_add(bytes).map(|length| length.next_multiple_of(OBJECT_ALIGN));
        match length.filter(|length| *length <= self.frame_max) {
            Some(length) => self.frame.resize(length, 0),
            None => return Err(Error::TooLong { at: self.at }),
        }
        Ok(())
    }

    /// Returns the size in memory of `count` elements, after checking that the rest of the stub
    /// data can hold them.
    fn room(&self, id: TypeId, count: u64) -> Result<usize> {
        let ty = self.plan.ty(id);
        let left = self.stub.len() - self.at;
        let least = count.checked_mul(u64::from(ty.wire(WIDE).least));
        if least.is_none_or(|least| least > left as u64) {
            return Err(Error::Count { at: self.at, found: count });
        }
        (count as usize).checked_mul(ty.size as usize).ok_or(Error::TooLong { at: self.at })
    }

    /// Begins an object. Returns its number and the offset of its body.
    fn object(&mut self, kind: u32, count: u64, bytes: usize) -> Result<(u32, usize)> {
        let header = self.frame.len();
        let body = header + OBJECT_HEADER;
        self.extend(bytes.checked_add(OBJECT_HEADER).ok_or(Error::TooLong { at: self.at })?)?;
        // Offsets and counts within a frame fit 32 bits.
        self.frame[header..body].copy_from_slice(&(u64::from(kind) | count << 32).to_le_bytes());
        self.found.objects.push(body as u32);
        Ok((self.found.objects.len() as u32 - 1, body))
    }

    /// Reads a value. `base` is the offset of the structure that contains the value.
    fn value(&mut self, id: TypeId, at: usize, base: usize) -> Result<()> {
        let ty = self.plan.ty(id);
        match &ty.what {
            What::Number | What::Boolean | What::Enum | What::Guid => self.elements(id, at, 1),
            What::Array { count, element } => self.elements(*element, at, *count as usize),
            What::Varying { count, element, length } => self.varying(at, (*element, *count), length.as_ref(), base),
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

    /// Reads the valid elements of an array of fixed size.
    fn varying(&mut self, at: usize, (id, most): (TypeId, u32), length: Option<&'a Expr>, base: usize) -> Result<()> {
        let count = self.variance(u64::from(most))?;
        self.elements(id, at, count as usize)?;
        if let Some(length) = length {
            self.claim(base, length, count, Error::Count { at: self.at, found: count });
            return Ok(());
        }
        self.end_text(id, at, count as usize)
    }

    /// Checks that the last of a string's `count` characters is zero. Clears the characters after
    /// the first zero, which are not part of the string.
    fn end_text(&mut self, id: TypeId, at: usize, count: usize) -> Result<()> {
        let size = self.plan.ty(id).size as usize;
        let characters = &mut self.frame[at..at + count * size];
        let is_zero = |character: &[u8]| character.iter().all(|byte| *byte == 0);
        if !characters.rchunks_exact(size).next().is_some_and(is_zero) {
            return Err(Error::Text { at: self.at });
        }
        let zero = characters.chunks_exact(size).position(is_zero).unwrap_or(count);
        characters[zero * size..].fill(0);
        Ok(())
    }

    /// Aligns the position, and reads a structure's members.
    fn members(&mut self, ty: &Type, members: &'a [(u32, TypeId)], at: usize) -> Result<()> {
        self.align(ty.wire(WIDE).align)?;
        let mark = self.claims.len();
        members.iter().try_for_each(|(offset, member)| self.value(*member, at + *offset as usize, at))?;
        self.settle(mark)
    }

    /// Skips the trailing gap that a structure has in NDR64: MS-RPCE 2.2.5.3.4.1. The stub data may
    /// end without the gap.
    fn end(&mut self, align: u32) {
        if WIDE {
            self.at = self.at.next_multiple_of(align as usize).min(self.stub.len());
        }
    }

    /// Reads elements of an array. Runs of numbers are copied at once.
    fn elements(&mut self, id: TypeId, at: usize, count: usize) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let ty = self.plan.ty(id);
        let size = ty.size as usize;
        let wire = ty.wire(WIDE);
        let all = at..at + count * size;
        if wire.is_copied && (!BIG || size == 1) {
            self.align(wire.align)?;
            let bytes = self.bytes(count * size)?;
            self.frame[all].copy_from_slice(bytes);
            return Ok(());
        }
        match &ty.what {
            What::Number if size == 2 => self.swapped::<2>(at, count),
            What::Number if size == 4 => self.swapped::<4>(at, count),
            What::Number => self.swapped::<8>(at, count),
            What::Boolean => {
                let bytes = self.bytes(count)?;
                self.frame[all].iter_mut().zip(bytes).for_each(|(to, from)| *to = u8::from(*from != 0));
                Ok(())
            }
            What::Enum if WIDE => self.swapped::<4>(at, count),
            What::Enum => self.enumerations(at, count),
            What::Guid => (0..count).try_for_each(|element| self.guid(at + element * size)),
            _ => (0..count).try_for_each(|element| self.value(id, at + element * size, at + element * size)),
        }
    }

    /// Reads numbers in reverse byte order.
    fn swapped<const N: usize>(&mut self, at: usize, count: usize) -> Result<()> {
        self.align(N as u32)?;
        let bytes = self.bytes(count * N)?;
        for (to, from) in self.frame[at..at + count * N].chunks_exact_mut(N).zip(bytes.chunks_exact(N)) {
            to.copy_from_slice(from);
            to.reverse();
        }
        Ok(())
    }

    /// Reads enumerations, which have 16 bits in NDR: C706 14.2.5.
    fn enumerations(&mut self, at: usize, count: usize) -> Result<()> {
        self.align(2)?;
        let bytes = self.bytes(count * 2)?;
        let to = self.frame[at..at + count * 4].as_chunks_mut::<4>().0;
        for (to, from) in to.iter_mut().zip(bytes.as_chunks::<2>().0) {
            let value = if BIG { i16::from_be_bytes(*from) } else { i16::from_le_bytes(*from) };
            *to = i32::from(value).to_le_bytes();
        }
        Ok(())
    }

    /// Reads a GUID in reverse byte order. Its first three fields are numbers: C706 A.1.
    fn guid(&mut self, at: usize) -> Result<()> {
        self.swapped::<4>(at, 1)?;
        self.swapped::<2>(at + 4, 2)?;
        let last = self.bytes(8)?;
        self.frame[at + 8..at + 16].copy_from_slice(last);
        Ok(())
    }

    fn union(&mut self, union: &'a Union, ty: &Type, at: usize, base: usize) -> Result<()> {
        let align = if WIDE { ty.wire(WIDE).align } else { 1 };
        self.align(align)?;
        let tag = self.tag(union)?;
        self.align(align)?;
        let error = Error::Arm { at: self.at, tag };
        match &union.switch {
            Some(expr) => self.claims.push(Claim { base, expr, value: tag, union: Some(union), error }),
            None => {
                let size = union.int.size();
                self.frame[at..at + size].copy_from_slice(&tag.to_le_bytes()[..size]);
            }
        }
        match union.arm(tag) {
            Some(Some(arm)) => self.value(arm, at + union.body as usize, at),
            Some(None) => Ok(()),
            None => Err(error),
        }
    }

    /// Reads a union's discriminant. NDR has the discriminant even if it is outside of the union in
    /// memory: C706 14.3.8.
    fn tag(&mut self, union: &Union) -> Result<i64> {
        let bits = match self.plan.ty(union.tag).what {
            What::Enum if !WIDE => return Ok(i64::from(self.number(2)? as i16)),
            What::Boolean => u64::from(self.number(1)? != 0),
            _ => self.number(union.int.size())?,
        };
        let error = Error::Arm { at: self.at, tag: bits.cast_signed() };
        union.int.extend(bits).ok_or(error)
    }
}
