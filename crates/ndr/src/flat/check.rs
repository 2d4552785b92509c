//! The check of a frame with pointers in it: once, before anything in it is used.
//!
//! First the objects are found by their headers, from the block's end to the frame's. Then the slots are followed from the
//! block on, without recursion, each object once. What the check passes is safe to be used as memory: every slot is null, or
//! leads to an object of the slot's type with as many elements as the slot's structure says; a reference pointer is not
//! null; an object that a reference or a unique pointer leads to has no other pointer to it; booleans, enumerations,
//! ranges and discriminants are what they may be.

use super::shape::{Block, Class, Element, ElementType, Expr, Extent, Iid, Int, Part, Shape, What};
use super::{FRAME_MAX, KIND_FIRST, KIND_INTERFACE, KIND_TEXT8, KIND_TEXT16, OBJECT_ALIGN, OBJECT_HEADER};
use std::fmt;

/// Why a frame is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The offset of the bytes at fault.
    pub at: usize,
    /// What is wrong with them.
    pub what: &'static str,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at offset {} of the frame: {}", self.at, self.what)
    }
}

impl std::error::Error for Flaw {}

/// An object of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// Where its elements begin.
    pub body: u32,
    /// Bytes of its elements.
    pub bytes: u32,
    /// How many elements there are.
    pub count: u32,
    /// The number of their type.
    pub kind: u32,
}

/// A slot that is not null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Where it is.
    pub at: u32,
    /// The object that it leads to, by its place in [`Checked::objects`].
    pub object: u32,
    /// How many elements the array in memory has room for: as many as the object has, or more.
    pub room: u32,
    /// The IID that an interface pointer must have; none for other pointers.
    pub iid: Option<u128>,
}

/// A frame that is what it should be.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// The objects, in the order in which they lie.
    pub objects: Vec<Object>,
    /// The slots, in the order in which they were followed.
    pub slots: Vec<Slot>,
    /// How many elements the arrays at structures' ends have room for where that is more than there are: by object.
    pub tails: Vec<(u32, u32)>,
}

/// Bytes that the arrays of one frame may have room for beyond what they hold.
pub const ROOM_MAX: usize = 256 << 20;

/// Who points to an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Referrer {
    Nobody,
    One,
    /// Any number of full pointers, which agree on how many elements there is room for.
    Full(u32),
}

struct Check<'a> {
    frame: &'a [u8],
    types: &'static [ElementType],
    outer: &'a [i64],
    found: Checked,
    referrers: Vec<Referrer>,
    /// Objects to look into.
    waiting: Vec<u32>,
    /// Bytes of room beyond what arrays hold.
    spare: usize,
}

/// Checks a frame against what its block is and the types that its objects may have.
///
/// `outer` holds what expressions read that is not in the frame: a reply's sizes may depend on what was asked.
///
/// # Errors
///
/// What is wrong, and where.
pub fn check(
    frame: &[u8],
    block: &'static Block,
    types: &'static [ElementType],
    outer: &[i64],
) -> Result<Checked, Flaw> {
    let (found, referrers, waiting) = (Checked::default(), Vec::new(), Vec::with_capacity(16));
    let mut check = Check { frame, types, outer, found, referrers, waiting, spare: 0 };
    check.find_objects(block)?;
    check.shape(0, &block.shape)?;
    while let Some(object) = check.waiting.pop() {
        check.object(object)?;
    }
    Ok(check.found)
}

/// The little-endian integer of `size` bytes at `at`.
fn load(frame: &[u8], at: usize, size: usize) -> Option<u64> {
    let bytes = frame.get(at..at.checked_add(size)?)?;
    let mut eight = [0; 8];
    eight[..size].copy_from_slice(bytes);
    Some(u64::from_le_bytes(eight))
}

const fn flaw<T>(at: usize, what: &'static str) -> Result<T, Flaw> {
    Err(Flaw { at, what })
}

impl Check<'_> {
    fn load(&self, at: usize, size: usize) -> Result<u64, Flaw> {
        load(self.frame, at, size).ok_or(Flaw { at, what: "the frame ends too early" })
    }

    /// Bytes of an object, from what its header says.
    fn bytes(&self, kind: u32, count: usize) -> Option<usize> {
        match kind {
            KIND_INTERFACE | KIND_TEXT8 => Some(count),
            KIND_TEXT16 => count.checked_mul(2),
            own => self.types.get(own.checked_sub(KIND_FIRST)? as usize)?.bytes(count),
        }
    }

    fn find_objects(&mut self, block: &Block) -> Result<(), Flaw> {
        let length = self.frame.len();
        if length > FRAME_MAX {
            return flaw(0, "the frame is too long");
        }
        let mut at = (block.size as usize).next_multiple_of(OBJECT_ALIGN);
        if length < at {
            return flaw(length, "the frame is shorter than its block");
        }
        while at < length {
            let header = self.load(at, OBJECT_HEADER)?;
            let (kind, count) = (header as u32, (header >> 32) as u32);
            let body = at + OBJECT_HEADER;
            let Some(bytes) = self.bytes(kind, count as usize) else {
                return flaw(at, "no object has this type and count");
            };
            if bytes > length - body {
                return flaw(at, "the object does not fit the frame");
            }
            // Within FRAME_MAX, as the frame's length is.
            self.found.objects.push(Object { body: body as u32, bytes: bytes as u32, count, kind });
            at = body + bytes.next_multiple_of(OBJECT_ALIGN);
        }
        self.referrers.resize(self.found.objects.len(), Referrer::Nobody);
        if at == length { Ok(()) } else { flaw(length, "the last object is not padded") }
    }

    fn object(&mut self, index: u32) -> Result<(), Flaw> {
        let object = self.found.objects[index as usize];
        let body = object.body as usize;
        let Some(own) = object.kind.checked_sub(KIND_FIRST) else {
            return self.text(object);
        };
        let found = &self.types[own as usize];
        let (elements, size, shape) = match &found.tail {
            None => (body, found.size, &found.shape),
            Some(tail) => {
                self.shape(body, &found.shape)?;
                let room = self.room(body, body, object.count, &tail.count, tail.length.as_ref(), tail.size)?;
                if room > object.count {
                    self.found.tails.push((index, room));
                }
                (body + tail.at as usize, tail.size, &tail.shape)
            }
        };
        if shape.parts.is_empty() {
            return Ok(());
        }
        (0..object.count as usize).try_for_each(|element| self.shape(elements + element * size as usize, shape))
    }

    /// Checks the count of an array against the structure at `base`, and says how many elements it has room for.
    fn room(
        &mut self,
        at: usize,
        base: usize,
        count: u32,
        size: &Expr,
        length: Option<&Expr>,
        element: u32,
    ) -> Result<u32, Flaw> {
        let room = self.evaluate(base, size)?;
        let used = length.map_or(Ok(room), |length| self.evaluate(base, length))?;
        if used != i64::from(count) {
            return flaw(at, "the object has another number of elements than the structure says");
        }
        let Some(room) = u32::try_from(room).ok().filter(|room| *room >= count) else {
            return flaw(at, "an array's length is not within its size");
        };
        self.spare = self.spare.saturating_add((room - count) as usize * element as usize);
        if self.spare > ROOM_MAX { flaw(at, "arrays have too much room that holds nothing") } else { Ok(room) }
    }

    fn text(&self, object: Object) -> Result<(), Flaw> {
        let size = match object.kind {
            KIND_TEXT8 => 1,
            KIND_TEXT16 => 2,
            // The bytes of an OBJREF are for those who know OBJREFs.
            _ => return Ok(()),
        };
        let body = &self.frame[object.body as usize..(object.body + object.bytes) as usize];
        let end = body.chunks_exact(size).position(|character| character.iter().all(|byte| *byte == 0));
        // A zero before the last character would give C another length than others see.
        if end.is_some_and(|end| end + 1 == object.count as usize) {
            return Ok(());
        }
        flaw(object.body as usize, "the string does not end with its first zero")
    }

    fn evaluate(&self, base: usize, expr: &Expr) -> Result<i64, Flaw> {
        let load = |at: u32, int: Int| int.extend(load(self.frame, base + at as usize, int.size())?);
        expr.evaluate(&load, self.outer)
            .ok_or(Flaw { at: base, what: "an expression over this structure has no value" })
    }

    fn shape(&mut self, base: usize, shape: &'static Shape) -> Result<(), Flaw> {
        shape.parts.iter().try_for_each(|part| self.part(base, part))
    }

    fn part(&mut self, base: usize, part: &'static Part) -> Result<(), Flaw> {
        let at = base + part.at as usize;
        match &part.what {
            What::Boolean if self.load(at, 1)? > 1 => flaw(at, "a boolean is neither 0 nor 1"),
            What::Boolean => Ok(()),
            What::Enum(values) => match values.binary_search(&(self.load(at, 4)? as u32).cast_signed()) {
                Ok(_) => Ok(()),
                Err(_) => flaw(at, "the enumeration has no such value"),
            },
            What::Range(int, least, most) => match int.extend(self.load(at, int.size())?) {
                Some(value) if (*least..=*most).contains(&value) => Ok(()),
                _ => flaw(at, "the value is out of its range"),
            },
            What::Pointer { class, to, extent } => self.pointer(base, at, (*class, *to), extent),
            What::Object(iid) => self.interface(base, at, *iid),
            What::Inner { count, stride, shape } => {
                (0..*count as usize).try_for_each(|element| self.shape(at + element * *stride as usize, shape))
            }
            What::Union { tag, arms, default } => {
                let tag = self.evaluate(base, tag)?;
                let arm = arms.iter().find(|(cases, _)| cases.contains(&tag)).map(|(_, shape)| shape);
                match arm.or(default.as_ref()) {
                    Some(shape) => self.shape(at, shape),
                    None => flaw(at, "the union has no arm for its discriminant"),
                }
            }
        }
    }

    /// The object that a slot leads to; `None` for null.
    fn target(&self, at: usize, kind: u32, class: Class) -> Result<Option<usize>, Flaw> {
        let offset = self.load(at, 8)?;
        if offset == 0 {
            return if class == Class::Ref { flaw(at, "a pointer that may not be null is null") } else { Ok(None) };
        }
        let place = u32::try_from(offset).ok();
        let found = place.and_then(|place| self.found.objects.binary_search_by_key(&place, |object| object.body).ok());
        match found.filter(|index| self.found.objects[*index].kind == kind) {
            Some(index) => Ok(Some(index)),
            None => flaw(at, "the slot leads to no object of its type"),
        }
    }

    /// Notes that the slot at `at` leads to an object, and says whether it is the first that does.
    fn refer(&mut self, at: usize, index: usize, class: Class, room: u32) -> Result<bool, Flaw> {
        let now = if class == Class::Full { Referrer::Full(room) } else { Referrer::One };
        let before = std::mem::replace(&mut self.referrers[index], now);
        match before {
            Referrer::Nobody => Ok(true),
            Referrer::Full(_) if before == now => Ok(false),
            _ => flaw(at, "another pointer leads to the same object"),
        }
    }

    fn pointer(
        &mut self,
        base: usize,
        at: usize,
        (class, to): (Class, Element),
        extent: &'static Extent,
    ) -> Result<(), Flaw> {
        let kind = match to {
            Element::Char => KIND_TEXT8,
            Element::Wide => KIND_TEXT16,
            Element::Own(own) => KIND_FIRST + u32::from(own),
        };
        let Some(index) = self.target(at, kind, class)? else { return Ok(()) };
        let count = self.found.objects[index].count;
        let room = match extent {
            Extent::Counted { size, length } => {
                let element = self.bytes(kind, 1).unwrap_or(0) as u32;
                self.room(at, base, count, size, length.as_ref(), element)?
            }
            // One structure with an array at its end counts the array's elements, which are looked at with it.
            Extent::One if count != 1 && !self.has_tail(to) => return flaw(at, "the object has more than one element"),
            Extent::One | Extent::Text => count,
        };
        if self.refer(at, index, class, room)? {
            self.waiting.push(index as u32);
        }
        self.found.slots.push(Slot { at: at as u32, object: index as u32, room, iid: None });
        Ok(())
    }

    fn has_tail(&self, to: Element) -> bool {
        matches!(to, Element::Own(own) if self.types[usize::from(own)].tail.is_some())
    }

    fn interface(&mut self, base: usize, at: usize, iid: Iid) -> Result<(), Flaw> {
        let Some(index) = self.target(at, KIND_INTERFACE, Class::Unique)? else { return Ok(()) };
        self.refer(at, index, Class::Unique, 0)?;
        let iid = match iid {
            Iid::Known(iid) => iid,
            Iid::Member(member) => {
                let at = base + member as usize;
                let (data1, data2) = (self.load(at, 4)?, self.load(at + 4, 2)?);
                let (data3, data4) = (self.load(at + 6, 2)?, self.load(at + 8, 8)?);
                let upper = data1 << 32 | data2 << 16 | data3;
                u128::from(upper) << 64 | u128::from(data4.swap_bytes())
            }
            Iid::Outer(number) => Iid::outer(self.outer, number).ok_or(Flaw { at, what: "the IID is not known" })?,
        };
        let room = self.found.objects[index].count;
        self.found.slots.push(Slot { at: at as u32, object: index as u32, room, iid: Some(iid) });
        Ok(())
    }
}
