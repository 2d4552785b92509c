//! Copies and frees surveyed objects, and writes them to frames.

use super::survey::{Found, Place, Root, Survey, arm, bytes, kind, own};
use crate::protocol::frame::Value;
use crate::types::error::{Error, Result, code};
use crate::types::memory::{allocate_zeroed, release};
use obvia_ndr::flat::shape::{Shape, What};
use obvia_ndr::flat::{FRAME_MAX, KIND_INTERFACE, OBJECT_ALIGN, OBJECT_HEADER};
use std::ffi::c_void;
use windows_core::{IUnknown, Interface};

/// Copies the bytes of values; padding and pointers at `to` stay unchanged.
///
/// # Safety
///
/// There must be a structure of this shape at `from`, and `to` must be writable for as many bytes.
pub(super) unsafe fn copy(from: *const u8, to: *mut u8, shape: &'static Shape, outer: &[i64]) {
    for &(at, length) in shape.runs {
        let (from, to) = (from.wrapping_add(at as usize), to.wrapping_add(at as usize));
        // SAFETY: the caller promises a structure of this shape at `from`, and room for it at `to`.
        // The ranges do not overlap, since `to` is fresh memory.
        unsafe { to.copy_from_nonoverlapping(from, length as usize) };
    }
    for part in shape.parts {
        let (from_part, to_part) = (from.wrapping_add(part.at as usize), to.wrapping_add(part.at as usize));
        match &part.what {
            What::Inner { count, stride, shape } => {
                for at in (0..*count as usize).map(|element| element * *stride as usize) {
                    let (from, to) = (from_part.wrapping_add(at), to_part.wrapping_add(at));
                    // SAFETY: the inner structure at `from` is a part of the structure that the
                    // caller promises.
                    unsafe { copy(from, to, shape, outer) };
                }
            }
            What::Union { tag, arms, default } => {
                // SAFETY: the caller promises a structure of this shape, which has the union's
                // discriminant.
                if let Some(shape) = unsafe { arm(from, tag, arms, default, outer) } {
                    // SAFETY: the discriminant selects this shape, so the union at `from_part` has
                    // it.
                    unsafe { copy(from_part, to_part, shape, outer) };
                }
            }
            _ => {}
        }
    }
}

impl Survey {
    /// Copies the values of an object.
    ///
    /// # Safety
    ///
    /// The surveyed structure must not have changed. `to` must be zeroed memory that is writable
    /// for the object's bytes. Bytes without values stay zero.
    unsafe fn copy_object(&self, found: &Found, to: *mut u8, outer: &[i64]) {
        let Some(ty) = own(found.element, self.types) else {
            // SAFETY: the caller promises an unchanged object, and room for its bytes at `to`.
            // Characters have no padding.
            return unsafe { to.copy_from_nonoverlapping(found.from, found.bytes) };
        };
        let (start, size, shape) = match &ty.tail {
            None => (0, ty.size as usize, &ty.shape),
            Some(tail) => {
                // SAFETY: the caller promises an unchanged object of this type, and room for its
                // bytes at `to`.
                unsafe { copy(found.from, to, &ty.shape, outer) };
                (tail.at as usize, tail.size as usize, &tail.shape)
            }
        };
        let (from, to) = (found.from.wrapping_add(start), to.wrapping_add(start));
        if shape.parts.is_empty() && matches!(shape.runs, [(0, length)] if *length as usize == size) {
            // SAFETY: the caller promises an unchanged object of `count` elements, and room for
            // them at `to`. The elements have no padding and no pointers.
            return unsafe { to.copy_from_nonoverlapping(from, found.count * size) };
        }
        for at in (0..found.count).map(|element| element * size) {
            let (from, to) = (from.wrapping_add(at), to.wrapping_add(at));
            // SAFETY: `from` is an element of the object that the caller promises, and `to` has
            // room for the element.
            unsafe { copy(from, to, shape, outer) };
        }
    }

    /// Lays out a frame for the survey's objects, and for these references as bytes.
    pub(crate) fn lay_out(&self, references: &[Vec<u8>]) -> Result<FrameLayout> {
        let mut layout = FrameLayout { length: self.block, objects: Vec::new(), references: Vec::new() };
        let mut waiting = self.references.iter().zip(references).peekable();
        for index in 0..=self.objects.len() {
            while let Some((_, bytes)) = waiting.next_if(|(reference, _)| reference.before == index) {
                let body = layout.add(bytes.len());
                layout.references.push(body);
            }
            if let Some(found) = self.objects.get(index) {
                let body = layout.add(found.bytes);
                layout.objects.push(body);
            }
        }
        if layout.length > FRAME_MAX {
            return Err(Error::new(code::E_OUTOFMEMORY, "the parameters exceed the size of a frame"));
        }
        Ok(layout)
    }

    /// Writes a frame: the block, the objects, and the references as bytes.
    ///
    /// # Safety
    ///
    /// `root` must be the surveyed structure, and the structure must not have changed.
    pub(crate) unsafe fn write(
        &self,
        root: Root,
        references: &[Vec<u8>],
        layout: &FrameLayout,
        frame: &mut [u8],
        outer: &[i64],
    ) {
        frame.fill(0);
        // SAFETY: the caller promises the surveyed structure at `root`, which has this shape. The
        // frame begins with room for the block.
        unsafe { copy(root.base, frame.as_mut_ptr(), root.shape, outer) };
        for (found, &at) in self.objects.iter().zip(&layout.objects) {
            let header = u64::from(kind(found.element)) | (found.count as u64) << 32;
            header.store(frame, at - OBJECT_HEADER);
            let body = frame[at..at + found.bytes].as_mut_ptr();
            // SAFETY: the caller promises that the surveyed structure has not changed, and the body
            // has room for the object.
            unsafe { self.copy_object(found, body, outer) };
        }
        let at = |place: Place| place.holder.map_or(0, |holder| layout.objects[holder]) + place.at;
        for (place, object) in &self.slots {
            (layout.objects[*object] as u64).store(frame, at(*place));
        }
        for ((reference, bytes), body) in self.references.iter().zip(references).zip(&layout.references) {
            (*body as u64).store(frame, at(reference.place));
            (u64::from(KIND_INTERFACE) | (bytes.len() as u64) << 32).store(frame, body - OBJECT_HEADER);
            frame[*body..body + bytes.len()].copy_from_slice(bytes);
        }
    }

    /// Copies every object to an allocation of its own, and returns the address of the first.
    ///
    /// # Safety
    ///
    /// The surveyed structure must not have changed.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY where an object exceeds a frame or no memory is left; all copies are freed
    /// then.
    pub(crate) unsafe fn duplicate(&self) -> Result<*mut u8> {
        let mut copies = Allocations::default();
        for found in &self.objects {
            let room = bytes(found.element, found.room, self.types).ok_or(code::E_OUTOFMEMORY)?;
            let to = copies.add(own(found.element, self.types).map_or(room, |own| own.memory(room)))?;
            // SAFETY: the caller promises that the surveyed structure has not changed, and the
            // memory is fresh and zeroed.
            unsafe { self.copy_object(found, to, &[]) };
        }
        for (place, object) in &self.slots {
            let target = copies.memory[*object];
            // SAFETY: a slot lies within its holder.
            unsafe { copies.slot(*place, std::ptr::null_mut()).write(target) };
        }
        for reference in &self.references {
            // SAFETY: the caller of the survey has promised that interface pointers are alive.
            let object = unsafe { IUnknown::from_raw_borrowed(&reference.object) };
            // SAFETY: a reference's slot lies within its holder.
            unsafe { copies.slot(reference.place, std::ptr::null_mut()).write(reference.object.cast()) };
            copies.references.extend(object.cloned());
        }
        let first = copies.memory.first().copied().unwrap_or(std::ptr::null_mut());
        copies.keep();
        Ok(first)
    }

    /// Frees every object, and releases every reference.
    ///
    /// # Safety
    ///
    /// Each object must be an allocation of its own that the caller owns, and none may be used
    /// again.
    pub(crate) unsafe fn free(self) {
        // SAFETY: the caller promises to own each object, which is an allocation of its own.
        unsafe { self.free_but(&[], |_| false) };
    }

    /// Frees every object, with two exceptions: objects whose number `is_spared` accepts, and
    /// objects whose number is in `images`. The images are structures of the block to which full
    /// pointers lead: see `Image::images`. An object to which a spared object leads is freed unless
    /// its own number is spared. The references in spared objects are released. The references in
    /// images are not, since they would be released twice.
    ///
    /// # Safety
    ///
    /// As for [`Self::free`].
    pub(crate) unsafe fn free_but(self, images: &[usize], is_spared: impl Fn(usize) -> bool) {
        let is_in_image = |place: Place| place.holder.is_some_and(|holder| images.contains(&holder));
        for reference in self.references.iter().filter(|reference| !is_in_image(reference.place)) {
            // SAFETY: the caller promises to own the references.
            drop(unsafe { IUnknown::from_raw(reference.object) });
        }
        for (_, found) in
            self.objects.iter().enumerate().filter(|(index, _)| !is_spared(*index) && !images.contains(index))
        {
            // SAFETY: the caller promises to own the object, which is an allocation of its own.
            unsafe { release(found.from.cast_mut().cast::<c_void>()) };
        }
    }
}

/// The layout of a frame with objects and references.
pub(crate) struct FrameLayout {
    /// The length of the frame in bytes.
    pub(crate) length: usize,
    /// The offsets of the bodies of objects.
    objects: Vec<usize>,
    /// The offsets of the bodies of references.
    references: Vec<usize>,
}

impl FrameLayout {
    /// Adds a body at the end and returns its offset.
    fn add(&mut self, bytes: usize) -> usize {
        let body = self.length + OBJECT_HEADER;
        self.length = (body + bytes).next_multiple_of(OBJECT_ALIGN);
        body
    }
}

/// Allocations and references. The drop frees them unless [`Self::keep`] was called.
#[derive(Default)]
pub(super) struct Allocations {
    pub(super) memory: Vec<*mut u8>,
    /// The references that the interface pointers in the memory own.
    pub(super) references: Vec<IUnknown>,
}

impl Allocations {
    /// Allocates zeroed memory.
    pub(super) fn add(&mut self, bytes: usize) -> Result<*mut u8> {
        let memory = allocate_zeroed(bytes)?.cast::<u8>();
        self.memory.push(memory);
        Ok(memory)
    }

    /// Returns the address of the pointer at a place. `root` is the address of the root structure.
    pub(super) fn slot(&self, place: Place, root: *mut u8) -> *mut *mut u8 {
        place.holder.map_or(root, |holder| self.memory[holder]).wrapping_add(place.at).cast()
    }

    /// Releases ownership of all allocations to the holder of the addresses.
    pub(super) fn keep(&mut self) {
        self.memory.clear();
        self.references.drain(..).for_each(std::mem::forget);
    }
}

impl Drop for Allocations {
    fn drop(&mut self) {
        for memory in &self.memory {
            // SAFETY: the memory is from `allocate_zeroed` and has not been released.
            unsafe { release(memory.cast::<c_void>()) };
        }
    }
}
