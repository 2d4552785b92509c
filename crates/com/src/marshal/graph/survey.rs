//! Finds everything that a structure in memory reaches.

mod rings;
mod texts;

use crate::types::error::{Error, Result, code};
use obvia_ndr::flat::shape::{Class, Element, ElementType, Expr, Extent, Iid, Int, Part, Shape, What};
use obvia_ndr::flat::{FRAME_MAX, KIND_FIRST, KIND_TEXT8, KIND_TEXT16, OBJECT_ALIGN, OBJECT_HEADER};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::c_void;

/// The structure at which a survey starts.
#[derive(Clone, Copy)]
pub(crate) struct Root {
    /// The structure's address.
    pub(crate) base: *const u8,
    /// The structure's shape.
    pub(crate) shape: &'static Shape,
}

/// An object: the target of a pointer.
pub(crate) struct Found {
    pub(crate) from: *const u8,
    pub(crate) element: Element,
    /// The number of used elements, which a frame contains.
    pub(crate) count: usize,
    /// The number of elements for which there is room in memory.
    pub(crate) room: usize,
    /// The size in a frame, in bytes.
    pub(crate) bytes: usize,
}

/// The identity of an object that several pointers may share: its address, its type, the number of
/// its used elements, and the number of all its elements. Pointers that state different numbers
/// lead to separate objects. In a survey of memory to free, both numbers are 0, because each
/// allocation must be found once.
type Target = (usize, Element, (usize, usize));

/// The position of a pointer: the object that contains it, and its offset in that object.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// The number of the object; `None` for the root.
    pub(crate) holder: Option<usize>,
    pub(crate) at: usize,
}

/// An interface pointer.
pub(crate) struct Reference {
    pub(crate) place: Place,
    pub(crate) object: *mut c_void,
    pub(crate) iid: u128,
    /// The number of objects that precede the reference in a frame.
    pub(crate) before: usize,
}

/// The result of a survey: everything that the surveyed structure reaches.
pub(crate) struct Survey {
    pub(crate) types: &'static [ElementType],
    pub(crate) objects: Vec<Found>,
    /// The pointers, each with the number of its target.
    pub(crate) slots: Vec<(Place, usize)>,
    pub(crate) references: Vec<Reference>,
    /// The number of bytes in a frame before the objects.
    pub(crate) block: usize,
    /// The length of a frame with the objects but without references.
    length: usize,
    /// The objects that several pointers may share.
    shared: HashMap<Target, usize>,
    /// Whether invalid values are ignored instead of reported.
    is_tolerant: bool,
    /// The full pointers, including null ones: the address and the value of each. Safe code can
    /// change these pointers.
    pub(crate) full: Vec<(*mut *const u8, *const u8)>,
    /// The number of objects at which the survey next looks for a ring.
    look_at: usize,
}

/// Returns the number by which an object's header states a type.
pub(crate) const fn kind(element: Element) -> u32 {
    match element {
        Element::Char => KIND_TEXT8,
        Element::Wide => KIND_TEXT16,
        Element::Own(own) => KIND_FIRST + own as u32,
    }
}

/// Returns the description of a type of the interface; `None` for characters.
pub(crate) fn own(element: Element, types: &'static [ElementType]) -> Option<&'static ElementType> {
    match element {
        Element::Own(own) => types.get(usize::from(own)),
        _ => None,
    }
}

/// Returns the size of an object with `count` elements; `None` where the object exceeds a frame.
pub(crate) fn bytes(element: Element, count: usize, types: &'static [ElementType]) -> Option<usize> {
    match element {
        Element::Char => Some(count),
        Element::Wide => count.checked_mul(2),
        Element::Own(_) => own(element, types)?.bytes(count),
    }
}

/// Evaluates an expression over a structure in memory. `None` if the expression has no value.
///
/// # Safety
///
/// There must be a structure at `base` that has the members of the expression.
pub(crate) unsafe fn evaluate(base: *const u8, expr: &Expr, outer: &[i64]) -> Option<i64> {
    let load = |at: u32, int: Int| {
        let mut bytes = [0; 8];
        // SAFETY: the caller promises a structure with this member, of `int.size()` bytes.
        unsafe { base.wrapping_add(at as usize).copy_to_nonoverlapping(bytes.as_mut_ptr(), int.size()) };
        int.extend(u64::from_le_bytes(bytes))
    };
    expr.evaluate(&load, outer)
}

/// Returns the shape of the active arm of a union in memory. `None` if the union has no arm for its
/// discriminant.
///
/// # Safety
///
/// As for [`evaluate`].
pub(crate) unsafe fn arm(
    base: *const u8,
    tag: &Expr,
    arms: &'static [(&'static [i64], Shape)],
    default: &'static Option<Shape>,
    outer: &[i64],
) -> Option<&'static Shape> {
    // SAFETY: the caller promises a structure that has the union's discriminant.
    let tag = unsafe { evaluate(base, tag, outer) }?;
    let chosen = arms.iter().find(|(cases, _)| cases.contains(&tag)).map(|(_, shape)| shape);
    chosen.or(default.as_ref())
}

fn refused(what: &str) -> Error {
    Error::new(code::E_INVALIDARG, what.to_owned())
}

impl Survey {
    fn new(types: &'static [ElementType], block: usize) -> Self {
        let block = block.next_multiple_of(OBJECT_ALIGN);
        Self {
            types,
            objects: Vec::new(),
            slots: Vec::new(),
            references: Vec::new(),
            block,
            length: block,
            shared: HashMap::new(),
            is_tolerant: false,
            full: Vec::new(),
            look_at: rings::FIRST_LOOK,
        }
    }

    /// Finds everything that a structure reaches. In a frame the objects follow `block` bytes.
    ///
    /// # Safety
    ///
    /// The structure at `root` must have its shape: each pointer must be null or lead to a target
    /// as the shape describes it.
    ///
    /// # Errors
    ///
    /// E_POINTER for a null pointer where null is not allowed; E_INVALIDARG for an invalid size,
    /// length or discriminant, and for a ring of pointers that must not share objects;
    /// E_OUTOFMEMORY when the result exceeds a frame.
    pub(crate) unsafe fn of(root: Root, types: &'static [ElementType], block: usize, outer: &[i64]) -> Result<Self> {
        let mut survey = Self::new(types, block);
        // SAFETY: the caller promises that the structure at `root` has its shape.
        unsafe { survey.shape(root.base, Place { holder: None, at: 0 }, root.shape, outer) }?;
        survey.rest(outer)?;
        Ok(survey)
    }

    /// Finds all memory to free. Invalid values are ignored, and no object is found twice.
    ///
    /// # Safety
    ///
    /// As for [`Self::of`].
    pub(crate) unsafe fn to_free(root: Root, types: &'static [ElementType], outer: &[i64]) -> Self {
        let mut survey = Self { is_tolerant: true, ..Self::new(types, 0) };
        // SAFETY: the caller promises that the structure at `root` has its shape.
        let found = unsafe { survey.shape(root.base, Place { holder: None, at: 0 }, root.shape, outer) };
        // A tolerant survey does not fail.
        let _ = found.and_then(|()| survey.rest(outer));
        survey
    }

    /// Finds the elements of an array and everything that they reach.
    ///
    /// # Safety
    ///
    /// As for [`Self::of`]; `first` must lead to `count` elements.
    pub(crate) unsafe fn of_elements(
        first: *const u8,
        element: Element,
        count: usize,
        types: &'static [ElementType],
    ) -> Result<Self> {
        let mut survey = Self::new(types, 0);
        // SAFETY: the caller promises `count` elements at `first`.
        unsafe { survey.begin(first, element, count) }?;
        Ok(survey)
    }

    /// Finds all memory to free for an array. The array's elements are object 0.
    ///
    /// # Safety
    ///
    /// As for [`Self::of_elements`].
    pub(crate) unsafe fn elements_to_free(
        first: *const u8,
        element: Element,
        count: usize,
        types: &'static [ElementType],
    ) -> Self {
        let mut survey = Self { is_tolerant: true, ..Self::new(types, 0) };
        // An array that exceeds a frame cannot have come from a frame, so an error is ignored.
        // SAFETY: the caller promises `count` elements at `first`.
        let _ = unsafe { survey.begin(first, element, count) };
        survey
    }

    /// # Safety
    ///
    /// As for [`Self::of_elements`].
    unsafe fn begin(&mut self, first: *const u8, element: Element, count: usize) -> Result<()> {
        if count == 0 && own(element, self.types).is_some_and(|found| found.tail.is_some()) {
            return Ok(());
        }
        // SAFETY: the caller promises `count` elements at `first`.
        let counts @ (used, room) = unsafe { self.elements(first, element, count) }?;
        // A full pointer back to the first element counts as a pointer to object 0.
        self.shared.insert(self.target(first, element, counts), 0);
        self.push(first, element, used, room)?;
        self.rest(&[])
    }

    /// Returns the identity of an object with these numbers of elements.
    fn target(&self, at: *const u8, element: Element, counts: (usize, usize)) -> Target {
        // The numbers of a string need no comparison: two strings at one address have the same
        // length.
        let is_text = matches!(element, Element::Char | Element::Wide);
        (at.addr(), element, if self.is_tolerant || is_text { (0, 0) } else { counts })
    }

    /// Returns the number of used elements and the number for which there is room. For a structure
    /// with an array at its end, both numbers count the array's elements.
    ///
    /// # Safety
    ///
    /// There must be `count` elements at `first`.
    unsafe fn elements(&self, first: *const u8, element: Element, count: usize) -> Result<(usize, usize)> {
        let Some(tail) = own(element, self.types).and_then(|found| found.tail.as_ref()) else {
            return Ok((count, count));
        };
        if count != 1 {
            return Err(refused("structures that end in an array have different sizes, so they form no array"));
        }
        // SAFETY: the caller promises a structure at `first` with the members for the array's size.
        unsafe { counts(first, &tail.count, tail.length.as_ref(), &[]) }
    }

    fn rest(&mut self, outer: &[i64]) -> Result<()> {
        let mut next = 0;
        while let Some(found) = self.objects.get(next) {
            let (from, count) = (found.from, found.count);
            if let Some(found) = own(found.element, self.types) {
                let mut elements = (0, found.size as usize, &found.shape);
                if let Some(tail) = &found.tail {
                    // SAFETY: by the promise to `of`, the target of a pointer has the pointer's
                    // type.
                    unsafe { self.shape(from, Place { holder: Some(next), at: 0 }, &found.shape, outer) }?;
                    elements = (tail.at as usize, tail.size as usize, &tail.shape);
                }
                let (start, size, shape) = elements;
                for element in (0..count).take_while(|_| !shape.parts.is_empty()) {
                    let at = start + element * size;
                    // SAFETY: the offset is within the object, which has at least `count` elements.
                    let base = unsafe { from.add(at) };
                    // SAFETY: `base` is an element of the object, which has the shape of the
                    // element type.
                    unsafe { self.shape(base, Place { holder: Some(next), at }, shape, outer) }?;
                }
            }
            next += 1;
        }
        Ok(())
    }

    /// # Safety
    ///
    /// There must be a structure of this shape at `base`.
    unsafe fn shape(&mut self, base: *const u8, place: Place, shape: &'static Shape, outer: &[i64]) -> Result<()> {
        for part in shape.parts {
            // SAFETY: the caller promises a structure of this shape at `base`, and `part` is a part
            // of the shape.
            let found = unsafe { self.part(base, place, part, outer) };
            if !self.is_tolerant {
                found?;
            }
        }
        Ok(())
    }

    /// # Safety
    ///
    /// As for [`Self::shape`].
    unsafe fn part(&mut self, base: *const u8, place: Place, part: &'static Part, outer: &[i64]) -> Result<()> {
        let place = Place { at: place.at + part.at as usize, ..place };
        // SAFETY: the caller promises a structure that has this part, so the part is within it.
        let here = unsafe { base.add(part.at as usize) };
        match &part.what {
            What::Boolean | What::Enum(_) | What::Range(..) | What::Utf8 => Ok(()),
            What::Ended if self.is_tolerant => Ok(()),
            // SAFETY: the caller promises valid targets of all pointers.
            What::Ended => unsafe { self.ended(place) },
            What::Pointer { class, to, extent } => {
                // SAFETY: the caller promises a structure that has a pointer at `here`.
                let pointer = unsafe { here.cast::<*const u8>().read() };
                if *class == Class::Full {
                    self.full.push((here.cast_mut().cast(), pointer));
                }
                if pointer.is_null() && *class != Class::Ref {
                    return Ok(());
                }
                // SAFETY: the caller promises a structure at `base` that has the members for the
                // array's size.
                if pointer.is_null() && !unsafe { is_empty(base, extent, outer) } {
                    return Err(Error::new(code::E_POINTER, "a pointer that must not be null is null"));
                }
                // SAFETY: the pointer is not null, or its array has no elements. In both cases the
                // caller promises an object of this type and size at `pointer`.
                let index = unsafe { self.follow(base, pointer, (*class, *to), extent, outer) }?;
                self.slots.push((place, index));
                Ok(())
            }
            What::Object(iid) => {
                // SAFETY: the caller promises a structure that has an interface pointer, or null,
                // at `here`.
                let object = unsafe { here.cast::<*mut c_void>().read() };
                if !object.is_null() {
                    // SAFETY: the caller promises a structure at `base` that has the member for the
                    // IID, if `iid` is a member.
                    let iid = unsafe { iid_of(base, *iid, outer) };
                    self.references.push(Reference { place, object, iid, before: self.objects.len() });
                }
                Ok(())
            }
            What::Inner { count, stride, shape } => {
                for element in 0..*count as usize {
                    let offset = element * *stride as usize;
                    let place = Place { at: place.at + offset, ..place };
                    // SAFETY: the caller promises a part with `count` inner structures.
                    let base = unsafe { here.add(offset) };
                    // SAFETY: `base` is an inner structure of this shape.
                    unsafe { self.shape(base, place, shape, outer) }?;
                }
                Ok(())
            }
            What::Union { tag, arms, default } => {
                // SAFETY: the caller promises a structure at `base` that has the union's
                // discriminant.
                let shape = unsafe { arm(base, tag, arms, default, outer) };
                let shape = shape.ok_or_else(|| refused("the union has no arm for its discriminant"))?;
                // SAFETY: the discriminant selects this shape, so the union at `here` has it.
                unsafe { self.shape(here, place, shape, outer) }
            }
        }
    }

    /// Returns the number of the object that a pointer leads to. If the survey does not have the
    /// object yet, adds it.
    ///
    /// # Safety
    ///
    /// As for [`Self::shape`]; `pointer` must lead to an object of type `to` and size `extent`.
    unsafe fn follow(
        &mut self,
        base: *const u8,
        pointer: *const u8,
        (class, to): (Class, Element),
        extent: &Extent,
        outer: &[i64],
    ) -> Result<usize> {
        let is_shared = class == Class::Full || self.is_tolerant;
        if is_shared
            && matches!(extent, Extent::Text)
            && let Some(known) = self.shared.get(&self.target(pointer, to, (0, 0)))
        {
            return Ok(*known);
        }
        let counts @ (count, room) = match extent {
            Extent::Counted { size, length } => {
                // SAFETY: the caller promises a structure at `base` that has the members for the
                // array's size.
                unsafe { counts(base, size, length.as_ref(), outer) }?
            }
            Extent::Text => {
                // SAFETY: the caller promises a string at `pointer`, which ends in a zero.
                let count = unsafe { texts::count(pointer, to) };
                (count, count)
            }
            // SAFETY: the caller promises an object of type `to` at `pointer`.
            Extent::One => unsafe { self.elements(pointer, to, 1) }?,
        };
        let index = self.objects.len();
        if is_shared {
            match self.shared.entry(self.target(pointer, to, counts)) {
                Entry::Occupied(known) => return Ok(*known.get()),
                Entry::Vacant(place) => place.insert(index),
            };
        }
        self.push(pointer, to, count, room)?;
        Ok(index)
    }

    fn push(&mut self, from: *const u8, element: Element, count: usize, room: usize) -> Result<()> {
        if self.objects.len() == self.look_at {
            self.look_at *= rings::LATER_LOOK;
            rings::check(self)?;
        }
        let bytes = bytes(element, count, self.types);
        let body = self.length + OBJECT_HEADER;
        let end = bytes.and_then(|bytes| body.checked_add(bytes)?.checked_next_multiple_of(OBJECT_ALIGN));
        match (bytes, end.filter(|end| *end <= FRAME_MAX)) {
            (Some(bytes), Some(end)) => {
                self.objects.push(Found { from, element, count, room, bytes });
                self.length = end;
                Ok(())
            }
            _ => Err(Error::new(code::E_OUTOFMEMORY, "the parameters exceed the size of a frame")),
        }
    }
}

const SIZE: &str = "an array's size is invalid";
const LENGTH: &str = "an array's length is not within its size";

/// Returns the number of used elements of an array and the number for which there is room.
///
/// # Safety
///
/// As for [`evaluate`].
unsafe fn counts(base: *const u8, size: &Expr, length: Option<&Expr>, outer: &[i64]) -> Result<(usize, usize)> {
    let number = |expr: &Expr| {
        // SAFETY: the caller promises a structure at `base` that has the members of the expression.
        let value = unsafe { evaluate(base, expr, outer) };
        value.and_then(|value| usize::try_from(value).ok())
    };
    let room = number(size).ok_or_else(|| refused(SIZE))?;
    let used = length.map_or(Some(room), number).filter(|used| *used <= room);
    Ok((used.ok_or_else(|| refused(LENGTH))?, room))
}

/// Whether an array has no elements, so that a null pointer is valid.
///
/// # Safety
///
/// As for [`evaluate`].
unsafe fn is_empty(base: *const u8, extent: &Extent, outer: &[i64]) -> bool {
    let Extent::Counted { size, .. } = extent else { return false };
    // SAFETY: the caller promises a structure at `base` that has the members of the expression.
    unsafe { evaluate(base, size, outer) == Some(0) }
}

/// # Safety
///
/// There must be a GUID at the member's offset, if `iid` is a member.
unsafe fn iid_of(base: *const u8, iid: Iid, outer: &[i64]) -> u128 {
    match iid {
        Iid::Known(iid) => iid,
        Iid::Member(at) => {
            // SAFETY: the caller promises a GUID at the member's offset.
            let member = unsafe { base.add(at as usize) };
            // SAFETY: `member` leads to the GUID that the caller promises.
            unsafe { member.cast::<windows_core::GUID>().read_unaligned() }.to_u128()
        }
        // An unknown IID matches no interface.
        Iid::Outer(number) => Iid::outer(outer, number).unwrap_or(0),
    }
}
