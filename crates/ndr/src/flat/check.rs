//! The check of a frame with pointers, made once before the frame is used.
//!
//! The block, which has the parameters, is the start of the frame. First the check finds the
//! objects by their headers, from the end of the block to the end of the frame. Then the check
//! follows the slots, which are the places of pointers. It begins with the slots of the block,
//! needs no recursion, and checks each object once. A frame that passes is safe to use as memory:
//!
//! - Every slot is null or refers to an object. The object has the slot's type, and the number of
//!   elements that the slot's structure demands.
//! - Reference pointers are not null.
//! - No second pointer refers to the object of a reference or unique pointer.
//! - Booleans, enumerations, ranges and discriminants are valid.

use super::shape::{Block, Class, Element, ElementType, Expr, Extent, Iid, Int, Part, Shape, What};
use super::{FRAME_MAX, KIND_FIRST, KIND_INTERFACE, KIND_TEXT8, KIND_TEXT16, OBJECT_ALIGN, OBJECT_HEADER};
use std::fmt;

/// The reason why a frame is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The offset of the invalid bytes.
    pub at: usize,
    /// The description of the error.
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
    /// The offset of the elements.
    pub body: u32,
    /// The size of the elements, in bytes.
    pub bytes: u32,
    /// The number of elements.
    pub count: u32,
    /// The type number.
    pub kind: u32,
}

/// A slot that is not null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The offset of the slot.
    pub at: u32,
    /// The index of the slot's object in [`Checked::objects`].
    pub object: u32,
    /// The number of elements for which the array in memory needs room. This number is at least the
    /// object's count.
    pub room: u32,
    /// The required IID of an interface pointer; `None` for other pointers.
    pub iid: Option<u128>,
}

/// The contents of a valid frame.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// The objects in the order of their offsets.
    pub objects: Vec<Object>,
    /// The slots in the order in which the check followed them.
    pub slots: Vec<Slot>,
    /// An entry for each object whose structure ends in an array with more room than elements: the
    /// index of the object, and the number of elements for which the array needs room.
    pub tails: Vec<(u32, u32)>,
}

/// The maximum room that all arrays of a frame together have beyond their elements, in bytes.
pub const ROOM_MAX: usize = 256 << 20;

/// The pointers to an object, among the slots that the check has followed so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Referrer {
    Nobody,
    One,
    /// One or more full pointers. All of them need room for this number of elements.
    Full(u32),
}

struct Check<'a> {
    frame: &'a [u8],
    types: &'static [ElementType],
    outer: &'a [i64],
    found: Checked,
    referrers: Vec<Referrer>,
    /// The objects that are still to be checked.
    waiting: Vec<u32>,
    /// The room that the arrays checked so far have beyond their elements, in bytes.
    spare: usize,
}

/// Checks a frame against the description of its block and of the interface's types.
///
/// `outer` holds the values outside of the frame that expressions read: a response's sizes can
/// depend on the request.
///
/// # Errors
///
/// The first [`Flaw`] of the frame.
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

/// Reads the little-endian integer of `size` bytes at `at`, if the frame has these bytes.
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

    /// Returns the length in bytes of an object whose header has this type number and this count.
    /// Returns `None` if the type is unknown. For the interface's own types, also returns `None` if
    /// the length exceeds [`FRAME_MAX`].
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
                return flaw(at, "the object's header has an unknown type or an invalid count");
            };
            if bytes > length - body {
                return flaw(at, "the object does not fit the frame");
            }
            // The values fit 32 bits, since the frame's length is within FRAME_MAX.
            self.found.objects.push(Object { body: body as u32, bytes: bytes as u32, count, kind });
            at = body + bytes.next_multiple_of(OBJECT_ALIGN);
        }
        self.referrers.resize(self.found.objects.len(), Referrer::Nobody);
        if at == length { Ok(()) } else { flaw(length, "the padding after the last object is missing") }
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

    /// Checks `count`, the number of an array's elements, against the expressions `size` and
    /// `length` over the structure at `base`. Returns the number of elements for which the array
    /// needs room.
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
            return flaw(at, "the object's number of elements differs from its structure's count");
        }
        let Some(room) = u32::try_from(room).ok().filter(|room| *room >= count) else {
            return flaw(at, "an array's length is not within its size");
        };
        self.spare = self.spare.saturating_add((room - count) as usize * element as usize);
        if self.spare > ROOM_MAX { flaw(at, "the arrays have too many unused elements") } else { Ok(room) }
    }

    fn text(&self, object: Object) -> Result<(), Flaw> {
        let size = match object.kind {
            KIND_TEXT8 => 1,
            KIND_TEXT16 => 2,
            // The contents of OBJREFs are checked where they are unmarshalled.
            _ => return Ok(()),
        };
        let end = self.body(object).chunks_exact(size).position(|character| character.iter().all(|byte| *byte == 0));
        // If there were a zero before the last character, C would see a shorter string than other
        // languages.
        if end.is_some_and(|end| end + 1 == object.count as usize) {
            return Ok(());
        }
        flaw(object.body as usize, "the string does not end at its first zero")
    }

    /// Checks the string to which the slot at `at` points. The caller has checked the pointer
    /// itself. The function is out of line, so that it adds no instruction to the checks of other
    /// parts.
    #[cold]
    #[inline(never)]
    fn utf8(&self, at: usize) -> Result<(), Flaw> {
        let Some(object) = self.target_object(at)? else { return Ok(()) };
        match std::str::from_utf8(self.body(object)) {
            Ok(_) => Ok(()),
            Err(wrong) => flaw(object.body as usize + wrong.valid_up_to(), "the string is not in UTF-8"),
        }
    }

    /// Checks that the array to which the slot at `at` points contains a zero. The caller has
    /// checked the pointer itself.
    #[cold]
    #[inline(never)]
    fn ended(&self, at: usize) -> Result<(), Flaw> {
        let Some(object) = self.target_object(at)?.filter(|object| object.count > 0) else { return Ok(()) };
        let mut characters = self.body(object).chunks_exact((object.bytes / object.count).max(1) as usize);
        if characters.any(|character| character.iter().all(|byte| *byte == 0)) {
            return Ok(());
        }
        flaw(object.body as usize, "the string does not end within its array")
    }

    /// Returns the object to which the slot at `at` points; `None` for a null pointer.
    fn target_object(&self, at: usize) -> Result<Option<Object>, Flaw> {
        let offset = self.load(at, 8)?;
        if offset == 0 {
            return Ok(None);
        }
        match self.found.objects.binary_search_by_key(&offset, |object| object.body.into()) {
            Ok(index) => Ok(Some(self.found.objects[index])),
            Err(_) => flaw(at, "the slot of a string leads to no object"),
        }
    }

    fn body(&self, object: Object) -> &[u8] {
        &self.frame[object.body as usize..(object.body + object.bytes) as usize]
    }

    fn evaluate(&self, base: usize, expr: &Expr) -> Result<i64, Flaw> {
        let load = |at: u32, int: Int| int.extend(load(self.frame, base + at as usize, int.size())?);
        expr.evaluate(&load, self.outer)
            .ok_or(Flaw { at: base, what: "an expression over this structure cannot be evaluated" })
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
            What::Utf8 => self.utf8(at),
            What::Ended => self.ended(at),
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

    /// Returns the index of the object to which the slot at `at` points, or `None` for a null
    /// pointer.
    fn target(&self, at: usize, kind: u32, class: Class) -> Result<Option<usize>, Flaw> {
        let offset = self.load(at, 8)?;
        if offset == 0 {
            return if class == Class::Ref { flaw(at, "a pointer that must not be null is null") } else { Ok(None) };
        }
        let place = u32::try_from(offset).ok();
        let found = place.and_then(|place| self.found.objects.binary_search_by_key(&place, |object| object.body).ok());
        match found.filter(|index| self.found.objects[*index].kind == kind) {
            Some(index) => Ok(Some(index)),
            None => flaw(at, "the pointer does not lead to an object of its type"),
        }
    }

    /// Records the slot at `at` as a pointer to an object. Returns whether this slot is the first
    /// that refers to the object.
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
            // If the structure ends in an array, the object's count is the array's count, which is
            // checked with the structure.
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
            Iid::Outer(number) => Iid::outer(self.outer, number).ok_or(Flaw { at, what: "the IID is unknown" })?,
        };
        let room = self.found.objects[index].count;
        self.found.slots.push(Slot { at: at as u32, object: index as u32, room, iid: Some(iid) });
        Ok(())
    }
}
