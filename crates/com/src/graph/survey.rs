//! Finds what can be reached from some structure in memory.

use crate::error::{Error, Result, code};
use obvia_ndr::flat::shape::{Class, Element, ElementType, Expr, Extent, Iid, Int, Part, Shape, What};
use obvia_ndr::flat::{FRAME_MAX, KIND_FIRST, KIND_TEXT8, KIND_TEXT16, OBJECT_ALIGN, OBJECT_HEADER};
use std::collections::HashMap;
use std::ffi::c_void;

/// Where a survey begins.
#[derive(Clone, Copy)]
pub(crate) struct Root {
    /// The structure's address.
    pub(crate) base: *const u8,
    /// What it is made of.
    pub(crate) shape: &'static Shape,
}

/// An object: what some pointer leads to.
pub(crate) struct Found {
    pub(crate) from: *const u8,
    pub(crate) element: Element,
    /// Elements that hold something: those that a frame has.
    pub(crate) count: usize,
    /// Elements that there is room for in memory.
    pub(crate) room: usize,
    /// Bytes in a frame.
    pub(crate) bytes: usize,
}

/// Where a pointer is: in which object, and how far from its start.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// The object, by its number; none for the root.
    pub(crate) holder: Option<usize>,
    pub(crate) at: usize,
}

/// An interface pointer.
pub(crate) struct Reference {
    pub(crate) place: Place,
    pub(crate) object: *mut c_void,
    pub(crate) iid: u128,
    /// How many objects come before it in a frame.
    pub(crate) before: usize,
}

/// Everything that can be reached.
pub(crate) struct Survey {
    pub(crate) types: &'static [ElementType],
    pub(crate) objects: Vec<Found>,
    /// Pointers, and which object each leads to.
    pub(crate) slots: Vec<(Place, usize)>,
    pub(crate) references: Vec<Reference>,
    /// Bytes of a frame before its objects.
    pub(crate) block: usize,
    /// Bytes of a frame with the objects alone.
    length: usize,
    /// Objects that several pointers may lead to, by address and type.
    shared: HashMap<(usize, Element), usize>,
    /// Whether what is not possible is passed over.
    is_tolerant: bool,
    /// Full pointers, null ones too, and where they are: those that safe code can set.
    pub(crate) full: Vec<(*mut *const u8, *const u8)>,
}

/// The number of a type in an object's header.
pub(crate) const fn kind(element: Element) -> u32 {
    match element {
        Element::Char => KIND_TEXT8,
        Element::Wide => KIND_TEXT16,
        Element::Own(own) => KIND_FIRST + own as u32,
    }
}

/// One of the interface's own types; none for characters.
pub(crate) fn own(element: Element, types: &'static [ElementType]) -> Option<&'static ElementType> {
    match element {
        Element::Own(own) => types.get(usize::from(own)),
        _ => None,
    }
}

/// Bytes of an object with so many elements. `None` where they are more than a frame can have.
pub(crate) fn bytes(element: Element, count: usize, types: &'static [ElementType]) -> Option<usize> {
    match element {
        Element::Char => Some(count),
        Element::Wide => count.checked_mul(2),
        Element::Own(_) => own(element, types)?.bytes(count),
    }
}

/// Evaluates an expression over a structure in memory.
///
/// # Safety
///
/// The structure at `base` must be what the expression's shape says.
pub(crate) unsafe fn evaluate(base: *const u8, expr: &Expr, outer: &[i64]) -> Option<i64> {
    let load = |at: u32, int: Int| {
        let mut bytes = [0; 8];
        // SAFETY: the caller's promise: a member of that many bytes is there.
        unsafe { base.wrapping_add(at as usize).copy_to_nonoverlapping(bytes.as_mut_ptr(), int.size()) };
        int.extend(u64::from_le_bytes(bytes))
    };
    expr.evaluate(&load, outer)
}

/// The shape of the arm that a union in memory has.
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
    // SAFETY: the caller's promise.
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
        }
    }

    /// Finds everything that can be reached from a structure. In a frame it would lie behind `block` bytes.
    ///
    /// # Safety
    ///
    /// The structure at `root` must be what its shape says: pointers that it calls pointers must be null or lead to what the
    /// shape says they lead to.
    ///
    /// # Errors
    ///
    /// E_POINTER for a null pointer where there must be none; E_INVALIDARG when a size, a length or a discriminant is not
    /// possible; E_OUTOFMEMORY when there is more than a frame can hold.
    pub(crate) unsafe fn of(root: Root, types: &'static [ElementType], block: usize, outer: &[i64]) -> Result<Self> {
        let mut survey = Self::new(types, block);
        // SAFETY: the caller's promise.
        unsafe { survey.shape(root.base, Place { holder: None, at: 0 }, root.shape, outer) }?;
        survey.rest(outer)?;
        Ok(survey)
    }

    /// Finds what there is to free: what is not possible is passed over, and nothing is found twice.
    ///
    /// # Safety
    ///
    /// As for [`Self::of`].
    pub(crate) unsafe fn to_free(root: Root, types: &'static [ElementType], outer: &[i64]) -> Self {
        let mut survey = Self { is_tolerant: true, ..Self::new(types, 0) };
        // SAFETY: the caller's promise.
        let found = unsafe { survey.shape(root.base, Place { holder: None, at: 0 }, root.shape, outer) };
        // Neither can fail.
        let _ = found.and_then(|()| survey.rest(outer));
        survey
    }

    /// Finds everything that can be reached from some elements, and the elements themselves.
    ///
    /// # Safety
    ///
    /// As for [`Self::of`]; `first` must lead to so many elements.
    pub(crate) unsafe fn of_elements(
        first: *const u8,
        element: Element,
        count: usize,
        types: &'static [ElementType],
    ) -> Result<Self> {
        let mut survey = Self::new(types, 0);
        // SAFETY: the caller's promise.
        unsafe { survey.begin(first, element, count) }?;
        Ok(survey)
    }

    /// Finds what there is to free of some elements, the first of which is the first object.
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
        // Elements that fit no frame cannot have come from one.
        // SAFETY: the caller's promise.
        let _ = unsafe { survey.begin(first, element, count) };
        survey
    }

    /// # Safety
    ///
    /// As for [`Self::of_elements`].
    unsafe fn begin(&mut self, first: *const u8, element: Element, count: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        let (count, room) = unsafe { self.elements(first, element, count) }?;
        // What is pointed to from within by a full pointer is the same object.
        self.shared.insert((first.addr(), element), 0);
        self.push(first, element, count, room)?;
        self.rest(&[])
    }

    /// How many elements hold something, and how many there is room for: a structure with an array at its end counts the array's.
    ///
    /// # Safety
    ///
    /// `count` elements must be at `first`.
    unsafe fn elements(&self, first: *const u8, element: Element, count: usize) -> Result<(usize, usize)> {
        let Some(tail) = own(element, self.types).and_then(|found| found.tail.as_ref()) else {
            return Ok((count, count));
        };
        // SAFETY: the caller's promise.
        unsafe { counts(first, &tail.count, tail.length.as_ref(), &[]) }
    }

    fn rest(&mut self, outer: &[i64]) -> Result<()> {
        let mut next = 0;
        while let Some(found) = self.objects.get(next) {
            let (from, count) = (found.from, found.count);
            if let Some(found) = own(found.element, self.types) {
                let mut elements = (0, found.size as usize, &found.shape);
                if let Some(tail) = &found.tail {
                    // SAFETY: by the promise to `of`, what a pointer leads to is what its type says.
                    unsafe { self.shape(from, Place { holder: Some(next), at: 0 }, &found.shape, outer) }?;
                    elements = (tail.at as usize, tail.size as usize, &tail.shape);
                }
                let (start, size, shape) = elements;
                for element in (0..count).take_while(|_| !shape.parts.is_empty()) {
                    let at = start + element * size;
                    // SAFETY: within the object: it has at least `count` elements.
                    let base = unsafe { from.add(at) };
                    // SAFETY: as above.
                    unsafe { self.shape(base, Place { holder: Some(next), at }, shape, outer) }?;
                }
            }
            next += 1;
        }
        Ok(())
    }

    /// # Safety
    ///
    /// A structure of this shape must be at `base`.
    unsafe fn shape(&mut self, base: *const u8, place: Place, shape: &'static Shape, outer: &[i64]) -> Result<()> {
        for part in shape.parts {
            // SAFETY: the caller's promise.
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
        // SAFETY: the caller's promise: the part is within the structure.
        let here = unsafe { base.add(part.at as usize) };
        match &part.what {
            What::Boolean | What::Enum(_) | What::Range(..) => Ok(()),
            What::Pointer { class, to, extent } => {
                // SAFETY: the caller's promise: a pointer is there.
                let pointer = unsafe { here.cast::<*const u8>().read() };
                if *class == Class::Full {
                    self.full.push((here.cast_mut().cast(), pointer));
                }
                if pointer.is_null() && *class != Class::Ref {
                    return Ok(());
                }
                // SAFETY: the caller's promise.
                if pointer.is_null() && !unsafe { is_empty(base, extent, outer) } {
                    return Err(Error::new(code::E_POINTER, "a pointer that may not be null is null"));
                }
                // SAFETY: as above; not null, or to nothing.
                let index = unsafe { self.follow(base, pointer, (*class, *to), extent, outer) }?;
                self.slots.push((place, index));
                Ok(())
            }
            What::Object(iid) => {
                // SAFETY: the caller's promise: an interface pointer is there.
                let object = unsafe { here.cast::<*mut c_void>().read() };
                if !object.is_null() {
                    // SAFETY: as above.
                    let iid = unsafe { iid_of(base, *iid, outer) };
                    self.references.push(Reference { place, object, iid, before: self.objects.len() });
                }
                Ok(())
            }
            What::Inner { count, stride, shape } => {
                for element in 0..*count as usize {
                    let offset = element * *stride as usize;
                    let place = Place { at: place.at + offset, ..place };
                    // SAFETY: the caller's promise: so many are there.
                    let base = unsafe { here.add(offset) };
                    // SAFETY: as above.
                    unsafe { self.shape(base, place, shape, outer) }?;
                }
                Ok(())
            }
            What::Union { tag, arms, default } => {
                // SAFETY: the caller's promise.
                let shape = unsafe { arm(base, tag, arms, default, outer) };
                let shape = shape.ok_or_else(|| refused("a union has no arm for its discriminant"))?;
                // SAFETY: as above.
                unsafe { self.shape(here, place, shape, outer) }
            }
        }
    }

    /// The object that a pointer leads to.
    ///
    /// # Safety
    ///
    /// As for [`Self::shape`]; `pointer` must lead to what the rest says.
    unsafe fn follow(
        &mut self,
        base: *const u8,
        pointer: *const u8,
        (class, to): (Class, Element),
        extent: &Extent,
        outer: &[i64],
    ) -> Result<usize> {
        let is_shared = class == Class::Full || self.is_tolerant;
        if is_shared && let Some(known) = self.shared.get(&(pointer.addr(), to)) {
            return Ok(*known);
        }
        let (count, room) = match extent {
            Extent::Counted { size, length } => {
                // SAFETY: the caller's promise.
                unsafe { counts(base, size, length.as_ref(), outer) }?
            }
            Extent::Text => {
                // SAFETY: the caller's promise: a string ends in a zero.
                let count = unsafe { text_count(pointer, to) };
                (count, count)
            }
            // SAFETY: the caller's promise.
            Extent::One => unsafe { self.elements(pointer, to, 1) }?,
        };
        let index = self.objects.len();
        if is_shared {
            self.shared.insert((pointer.addr(), to), index);
        }
        self.push(pointer, to, count, room)?;
        Ok(index)
    }

    fn push(&mut self, from: *const u8, element: Element, count: usize, room: usize) -> Result<()> {
        let bytes = bytes(element, count, self.types);
        let body = self.length + OBJECT_HEADER;
        let end = bytes.and_then(|bytes| body.checked_add(bytes)?.checked_next_multiple_of(OBJECT_ALIGN));
        // Also ends what goes in circles by pointers that nobody else may share.
        match (bytes, end.filter(|end| *end <= FRAME_MAX)) {
            (Some(bytes), Some(end)) => {
                self.objects.push(Found { from, element, count, room, bytes });
                self.length = end;
                Ok(())
            }
            _ => Err(Error::new(code::E_OUTOFMEMORY, "there is more to pass than a frame can hold")),
        }
    }
}

const SIZE: &str = "an array has no possible size";
const LENGTH: &str = "an array's length is not within its size";

/// How many elements of an array hold something, and how many there is room for.
///
/// # Safety
///
/// As for [`evaluate`].
unsafe fn counts(base: *const u8, size: &Expr, length: Option<&Expr>, outer: &[i64]) -> Result<(usize, usize)> {
    let number = |expr: &Expr| {
        // SAFETY: the caller's promise.
        let value = unsafe { evaluate(base, expr, outer) };
        value.and_then(|value| usize::try_from(value).ok())
    };
    let room = number(size).ok_or_else(|| refused(SIZE))?;
    let used = length.map_or(Some(room), number).filter(|used| *used <= room);
    Ok((used.ok_or_else(|| refused(LENGTH))?, room))
}

/// Whether an array has no elements: then it needs no address.
///
/// # Safety
///
/// As for [`evaluate`].
unsafe fn is_empty(base: *const u8, extent: &Extent, outer: &[i64]) -> bool {
    let Extent::Counted { size, .. } = extent else { return false };
    // SAFETY: the caller's promise.
    unsafe { evaluate(base, size, outer) == Some(0) }
}

/// # Safety
///
/// A GUID or what the shape says must be there.
unsafe fn iid_of(base: *const u8, iid: Iid, outer: &[i64]) -> u128 {
    match iid {
        Iid::Known(iid) => iid,
        Iid::Member(at) => {
            // SAFETY: the caller's promise.
            let member = unsafe { base.add(at as usize) };
            // SAFETY: as above.
            unsafe { member.cast::<windows_core::GUID>().read_unaligned() }.to_u128()
        }
        // One that is not known is nobody's.
        Iid::Outer(number) => Iid::outer(outer, number).unwrap_or(0),
    }
}

/// The characters of a string, the final zero included.
///
/// # Safety
///
/// It must end in a zero.
unsafe fn text_count(text: *const u8, element: Element) -> usize {
    let counted = if element == Element::Wide {
        // SAFETY: the caller's promise.
        unsafe { crate::marshal::text_count(text.cast::<u16>(), false) }
    } else {
        // SAFETY: as above.
        unsafe { crate::marshal::text_count(text, false) }
    };
    // Not null, so there is no error.
    counted.unwrap_or(1)
}
