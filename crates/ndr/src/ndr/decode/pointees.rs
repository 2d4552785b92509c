//! The targets of pointers: structures, arrays, strings and object references.

use super::{Decoder, Pending};
use crate::flat::shape::{Class, Expr};
use crate::flat::{KIND_INTERFACE, KIND_TEXT8, KIND_TEXT16, OBJECT_ALIGN};
use crate::ndr::plan::{Tail, Target, Type, TypeId, What};
use crate::ndr::{Error, Result, wire};

impl<'a, const WIDE: bool, const BIG: bool> Decoder<'a, WIDE, BIG> {
    /// Reads a pointer and defers its referent.
    pub(super) fn pointer(&mut self, at: usize, class: Class, target: &'a Target, base: usize) -> Result<()> {
        let id = self.word()?;
        if id == 0 {
            return if class == Class::Ref { Err(Error::Null { at: self.at }) } else { Ok(()) };
        }
        let full = (class == Class::Full).then_some(id);
        self.pending.push(Pending { at, target, base, full });
        Ok(())
    }

    pub(super) fn pointee(&mut self, target: &'a Target, base: usize) -> Result<u32> {
        match target {
            Target::One(kind) => {
                let id = self.plan.kind(*kind);
                let ty = self.plan.ty(id);
                if let What::Struct { members, tail: Some(tail) } = &ty.what {
                    return self.open(*kind, ty, members, tail);
                }
                let bytes = self.room(id, 1)?;
                let (object, body) = self.object(*kind, 1, bytes)?;
                self.value(id, body, body)?;
                Ok(object)
            }
            Target::Counted { kind, size, length } => {
                let id = self.plan.kind(*kind);
                let most = self.size(base, size)?;
                let count = self.length(base, most, length.as_ref())?;
                let bytes = self.room(id, count)?;
                let (object, body) = self.object(*kind, count, bytes)?;
                self.elements(id, body, count as usize)?;
                Ok(object)
            }
            Target::Filled { kind, size } => self.filled(*kind, size, base),
            Target::Text8 => self.text::<1>(KIND_TEXT8),
            Target::Text16 => self.text::<2>(KIND_TEXT16),
            Target::Interface => self.interface(),
        }
    }

    /// Reads an array that holds a string. The elements after the string become zero.
    fn filled(&mut self, kind: u32, size: &'a Expr, base: usize) -> Result<u32> {
        let (id, mark) = (self.plan.kind(kind), self.claims.len());
        let most = self.size(base, size)?;
        // The whole array takes memory, although the stub data has only a part of it.
        self.settle(mark)?;
        let used = self.variance(most)?;
        self.room(id, used)?;
        let bytes = usize::try_from(most).ok().and_then(|most| most.checked_mul(self.plan.ty(id).size as usize));
        let (object, body) = self.object(kind, most, bytes.ok_or(Error::TooLong { at: self.at })?)?;
        self.elements(id, body, used as usize)?;
        if most > 0 {
            self.end_text(id, body, used as usize)?;
        }
        Ok(object)
    }

    /// Reads the conformance of an array.
    fn size(&mut self, base: usize, size: &'a Expr) -> Result<u64> {
        let most = self.word()?;
        self.claim(base, size, most, Error::Count { at: self.at, found: most });
        Ok(most)
    }

    /// Returns the number of an array's elements: `most`, or for a varying array the number on the
    /// wire (C706 14.3.3.3).
    fn length(&mut self, base: usize, most: u64, length: Option<&'a Expr>) -> Result<u64> {
        let Some(length) = length else { return Ok(most) };
        let count = self.variance(most)?;
        self.claim(base, length, count, Error::Count { at: self.at, found: count });
        Ok(count)
    }

    /// Reads the offset of a varying array's elements, which must be 0, and their number.
    pub(super) fn variance(&mut self, most: u64) -> Result<u64> {
        if self.word()? != 0 {
            return Err(Error::Offset { at: self.at });
        }
        let count = self.word()?;
        if count <= most { Ok(count) } else { Err(Error::Count { at: self.at, found: count }) }
    }

    /// Reads a structure that ends in an array. The conformance precedes the structure: C706
    /// 14.3.7.2.
    fn open(&mut self, kind: u32, ty: &Type, members: &'a [(u32, TypeId)], tail: &'a Tail) -> Result<u32> {
        let most = self.word()?;
        let error = Error::Count { at: self.at, found: most };
        let fixed = ty.size.max(tail.at) as usize;
        let (object, body) = self.object(kind, 0, fixed)?;
        self.members(ty, members, body)?;
        let mark = self.claims.len();
        self.claim(body, &tail.size, most, error);
        let count = self.length(body, most, tail.length.as_ref())?;
        self.settle(mark)?;
        let begin = tail.at as usize;
        let end = self.room(tail.element, count)?.checked_add(begin).ok_or(Error::TooLong { at: self.at })?;
        self.extend(end.next_multiple_of(OBJECT_ALIGN).saturating_sub(self.frame.len() - body))?;
        self.frame[body - 4..body].copy_from_slice(&(count as u32).to_le_bytes());
        self.elements(tail.element, body + begin, count as usize)?;
        self.end(ty.wire(WIDE).align);
        Ok(object)
    }

    /// Reads a string: C706 14.3.4.2.
    fn text<const SIZE: usize>(&mut self, kind: u32) -> Result<u32> {
        let most = self.word()?;
        let count = self.variance(most)?;
        let bytes = count.checked_mul(SIZE as u64).filter(|bytes| *bytes <= (self.stub.len() - self.at) as u64);
        let Some(bytes) = bytes else { return Err(Error::Count { at: self.at, found: count }) };
        let (object, body) = self.object(kind, count, bytes as usize)?;
        if BIG {
            self.swapped::<SIZE>(body, count as usize)?;
        } else {
            self.align(SIZE as u32)?;
            let found = self.bytes(bytes as usize)?;
            self.frame[body..body + bytes as usize].copy_from_slice(found);
        }
        let last = self.frame[body..body + bytes as usize].last_chunk();
        if last == Some(&[0; SIZE]) { Ok(object) } else { Err(Error::Text { at: self.at }) }
    }

    /// Reads an `MInterfacePointer`, a structure that ends in an array of bytes.
    fn interface(&mut self) -> Result<u32> {
        let most = self.word()?;
        let count = self.number(4)?;
        let bytes = self.bytes(usize::try_from(count).unwrap_or(usize::MAX))?;
        if most != count {
            return Err(Error::Count { at: self.at, found: count });
        }
        let (object, body) = self.object(KIND_INTERFACE, count, bytes.len())?;
        self.frame[body..body + bytes.len()].copy_from_slice(bytes);
        self.end(wire::MINTERFACEPOINTER_ALIGN);
        Ok(object)
    }
}
