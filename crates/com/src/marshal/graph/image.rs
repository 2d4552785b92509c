//! Parameters as structures in memory, on both sides of a call.

use super::Layout;
use super::memory::Allocations;
use super::private::{PrivateFrame, Wide};
use super::survey::{Reference, Root, Survey};
use crate::client::proxy::Wanted;
use crate::marshal::proxy_call::ProxyCall;
use crate::marshal::reply::ReplyView;
use crate::marshal::stub::{StubCall, no_results, results};
use crate::protocol::frame::Measure;
use crate::runtime::response;
use crate::runtime::returned::Sender;
use crate::server::caller;
use crate::types::error::{Error, Result, code, fault_of, invalid_reply};
use crate::types::memory::release;
use obvia_ndr::flat::FRAME_MAX;
use obvia_ndr::flat::check::Checked;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::Answer;
use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::NonNull;
use windows_core::{GUID, HRESULT, IUnknown, Interface};

/// The parameters of a request or a reply at their offsets in a frame, with pointers in place of
/// offsets.
pub struct Image {
    // Invariant: a leaked box that the drop frees. The field is not a `Box`, because each use of a
    // `Box` makes earlier pointers into it invalid.
    words: NonNull<[MaybeUninit<u64>]>,
    /// The places of the structures that were copied into this image, each with the address from
    /// which the structure was copied. Rings of pointers can lead to that address.
    sources: Vec<(Range<usize>, *const u8)>,
    /// The arrays for the method to fill, which the drop frees unless [`Self::free`] did.
    rooms: RefCell<Vec<*mut u8>>,
}

/// Whether a range of bytes is within a length.
fn is_within(at: usize, bytes: usize, length: usize) -> bool {
    at.checked_add(bytes).is_some_and(|end| end <= length)
}

impl Image {
    /// Makes parameters with all bytes zero.
    pub fn new(layout: Layout) -> Self {
        let words = vec![MaybeUninit::new(0); (layout.block.size as usize).div_ceil(8)].into_boxed_slice();
        let words = NonNull::from(Box::leak(words));
        Self { words, sources: Vec::new(), rooms: RefCell::default() }
    }

    pub(super) fn base(&self) -> *const u8 {
        self.start().cast_const()
    }

    fn start(&self) -> *mut u8 {
        self.words.cast().as_ptr()
    }

    pub(super) fn root(&self, layout: Layout) -> Root {
        Root { base: self.base(), shape: &layout.block.shape }
    }

    /// Returns the address of the parameter at offset `at`.
    ///
    /// # Panics
    ///
    /// If the parameter extends beyond the block.
    pub fn place<T>(&mut self, at: usize) -> *mut T {
        assert!(is_within(at, size_of::<T>(), self.words.len() * 8), "a parameter lies within the block");
        self.start().wrapping_add(at).cast()
    }

    /// Stores a parameter.
    ///
    /// # Panics
    ///
    /// If the parameter extends beyond the block.
    pub fn put<T>(&mut self, at: usize, value: T) {
        // SAFETY: `place` checks that the parameter is within the words.
        unsafe { self.place::<T>(at).write_unaligned(value) };
    }

    /// Copies a parameter from a pointer.
    ///
    /// # Safety
    ///
    /// `from` must be readable for `bytes` bytes.
    ///
    /// # Errors
    ///
    /// E_POINTER for a null pointer.
    pub unsafe fn put_from<T>(&mut self, at: usize, from: *const T, bytes: usize) -> Result<()> {
        if from.is_null() {
            return Err(Error::new(code::E_POINTER, "a parameter that must not be null is null"));
        }
        assert!(is_within(at, bytes, self.words.len() * 8), "a parameter lies within the block");
        // SAFETY: the caller promises that `from` is readable for `bytes` bytes. The assertion
        // checks that the parameter is within the words.
        unsafe { self.place::<u8>(at).copy_from_nonoverlapping(from.cast(), bytes) };
        self.sources.push((at..at + bytes, from.cast()));
        Ok(())
    }

    /// Allocates `count` elements for the method to fill, and stores their address at offset `at`.
    /// The elements are freed by [`Self::free`], or else when the image is dropped.
    ///
    /// # Errors
    ///
    /// REMOTE_NO_MEMORY, also for more than `most` bytes: a small request must not make this
    /// process allocate gigabytes.
    pub fn room<T>(&mut self, at: usize, count: usize, most: usize) -> std::result::Result<*mut T, Status> {
        let bytes = count.checked_mul(size_of::<T>()).filter(|bytes| *bytes <= FRAME_MAX.min(most));
        let mut memory = Allocations::default();
        let first = memory.add(bytes.ok_or(Status::REMOTE_NO_MEMORY)?).map_err(|_| Status::REMOTE_NO_MEMORY)?;
        memory.keep();
        self.rooms.get_mut().push(first);
        self.put(at, first);
        Ok(first.cast())
    }

    /// Frees everything that the parameters reach.
    ///
    /// # Safety
    ///
    /// `layout` must be the image's layout, or a part of it. The caller must own everything that
    /// the parameters reach, and must not use it again.
    pub unsafe fn free(&self, layout: Layout, outer: &[i64]) {
        // SAFETY: the caller promises that the image has the parameters of this layout, whose
        // pointers have valid targets.
        let survey = unsafe { Survey::to_free(self.root(layout), layout.types, outer) };
        let images = self.images(layout, &survey);
        let is_reached = |room: *mut u8| survey.objects.iter().any(|found| found.from == room.cast_const());
        for room in self.rooms.take().into_iter().filter(|room| !is_reached(*room)) {
            // SAFETY: the array is an allocation of its own. The survey has not found the array, so
            // `free_but` does not free it.
            unsafe { release(room.cast()) };
        }
        // SAFETY: the caller promises to own everything that the parameters reach, and the images
        // in the block are not freed.
        unsafe { survey.free_but(&images, |_| false) };
    }

    /// Returns those objects of a survey that are structures of the block, either in this image or
    /// at the address from which a structure was copied into it. Full pointers that form a ring
    /// lead to such objects. The objects must not be freed, because they are not allocations of
    /// their own.
    pub(super) fn images(&self, layout: Layout, survey: &Survey) -> Vec<usize> {
        let start = self.start().addr();
        let block = start..start + self.words.len() * 8;
        let is_surveyed = |place: &Range<usize>| {
            let mut parts = layout.block.shape.parts.iter();
            parts.any(|part| place.contains(&(part.at as usize)))
        };
        let sources: Vec<*const u8> =
            self.sources.iter().filter(|(place, _)| is_surveyed(place)).map(|(_, from)| *from).collect();
        let is_image = |from: *const u8| block.contains(&from.addr()) || sources.contains(&from);
        let objects = survey.objects.iter().enumerate();
        objects.filter(|(_, found)| is_image(found.from)).map(|(index, _)| index).collect()
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        for room in self.rooms.get_mut() {
            // SAFETY: the array is an allocation of its own that nothing has freed, and no method
            // has filled it.
            unsafe { release(room.cast()) };
        }
        // SAFETY: by the invariant, `words` is a leaked box, which is not used again.
        drop(unsafe { Box::from_raw(self.words.as_ptr()) });
    }
}

fn wanted(iid: u128) -> Wanted {
    Wanted::Iid(GUID::from_u128(iid))
}

impl<'c> ProxyCall<'c> {
    /// Writes a request's frame, publishes it, and waits for the reply.
    ///
    /// # Safety
    ///
    /// The image must have this layout, and its pointers must have valid targets.
    ///
    /// # Errors
    ///
    /// As for [`ProxyCall::send`], and if the parameters are invalid.
    pub unsafe fn send_graph(&mut self, opnum: u16, image: &Image, layout: Layout) -> Result<ReplyView<'_>> {
        // SAFETY: the caller promises an image with this layout and valid targets.
        let length = unsafe { self.write_graph(image, layout) }?;
        self.send(opnum, length)
    }

    /// As [`Self::send_graph`], for a request that has no reply.
    ///
    /// # Safety
    ///
    /// As for [`Self::send_graph`].
    ///
    /// # Errors
    ///
    /// If the parameters are invalid, or if the connection is gone or full.
    pub unsafe fn send_graph_oneway(&mut self, opnum: u16, image: &Image, layout: Layout) -> Result<()> {
        // SAFETY: the caller promises an image with this layout and valid targets.
        let length = unsafe { self.write_graph(image, layout) }?;
        self.send_oneway(opnum, length);
        Ok(())
    }

    /// # Safety
    ///
    /// As for [`Self::send_graph`].
    unsafe fn write_graph(&mut self, image: &Image, layout: Layout) -> Result<usize> {
        let (root, block) = (image.root(layout), layout.block.size as usize);
        // SAFETY: the caller promises an image with this layout and valid targets.
        let survey = unsafe { Survey::of(root, layout.types, block, &[]) }?;
        let marshal = |reference: &Reference| {
            // SAFETY: the caller promises valid targets, so interface pointers are null or alive.
            let object = unsafe { IUnknown::from_raw_borrowed(&reference.object) }.ok_or(code::E_POINTER)?;
            self.reference(object, wanted(reference.iid).info()?)
        };
        let references = survey.references.iter().map(marshal).collect::<Result<Vec<_>>>()?;
        let layout = survey.lay_out(&references)?;
        let frame = self.request(Measure::with_objects(block, layout.length))?;
        // SAFETY: the root has just been surveyed and has not changed.
        unsafe { survey.write(root, &references, &layout, &mut frame[..layout.length], &[]) };
        Ok(layout.length)
    }
}

/// The results of a call, in the private memory of the caller's process.
pub struct Results {
    private: PrivateFrame,
    copies: Allocations,
    /// Arrays whose elements were copied to the caller's own memory. [`Self::keep`] frees these
    /// arrays.
    spent: Vec<*mut u8>,
}

impl ReplyView<'_> {
    /// Copies and checks the reply's frame.
    ///
    /// # Errors
    ///
    /// RPC_E_INVALID_DATA when the frame does not have the layout; the error of an object reference
    /// that cannot be unmarshaled.
    pub fn graph(&self, layout: Layout, outer: &[i64]) -> Result<Results> {
        let (mut private, found) = PrivateFrame::of(self.whole(), layout, outer)?;
        // Each result has an owner of its own.
        let copies = private.copy_objects(&found, layout, &[], self.sender())?;
        Ok(Results { private, copies, spent: Vec::new() })
    }
}

impl Results {
    /// Verifies that the caller has memory for a result, before the caller's other values are
    /// freed.
    ///
    /// # Errors
    ///
    /// E_POINTER for a null pointer.
    pub fn verify<T>(&self, to: *mut T) -> Result<()> {
        if to.is_null() { Err(code::E_POINTER.into()) } else { Ok(()) }
    }

    /// Verifies that the pointer at offset `at` is null exactly if the caller's pointer is.
    ///
    /// # Errors
    ///
    /// RPC_E_INVALID_DATA when only one of them is null.
    pub fn verify_presence<T>(&mut self, at: usize, to: *mut T) -> Result<()> {
        if to.is_null() == self.has(at) { Err(invalid_reply()) } else { Ok(()) }
    }

    /// Whether the pointer at offset `at` is not null.
    pub(super) fn has(&mut self, at: usize) -> bool {
        !self.pointer(at).is_null()
    }

    /// Returns the pointer at offset `at`.
    ///
    /// # Panics
    ///
    /// If the offset is beyond the block.
    pub fn pointer(&mut self, at: usize) -> *mut u8 {
        assert!(is_within(at, 8, self.private.length), "the check has seen the block");
        // SAFETY: the slot is within the frame, and `copy_objects` has converted it to a pointer.
        unsafe { self.private.base().wrapping_add(at).cast::<*mut u8>().read_unaligned() }
    }

    /// Copies a result to the caller.
    ///
    /// # Safety
    ///
    /// `to` must be writable for `bytes` bytes, and `bytes` must be the size of the parameter.
    ///
    /// # Errors
    ///
    /// E_POINTER for a null pointer.
    pub unsafe fn give<T>(&mut self, at: usize, to: *mut T, bytes: usize) -> Result<()> {
        if to.is_null() {
            return Err(code::E_POINTER.into());
        }
        assert!(is_within(at, bytes, self.private.length), "the check has seen the block");
        // SAFETY: the assertion checks that the parameter is within the frame.
        let from = unsafe { self.private.base().add(at) };
        // SAFETY: the caller promises that `to` is writable for `bytes` bytes.
        unsafe { to.cast::<u8>().copy_from_nonoverlapping(from, bytes) };
        Ok(())
    }

    /// Copies an array, or one value, to the caller's memory. A null pointer in the results is
    /// ignored.
    ///
    /// # Safety
    ///
    /// `to` must be writable for `count` elements, `T` must be the type of the elements, and the
    /// array in the results must have `count` elements, or be null.
    pub unsafe fn fill<T>(&mut self, at: usize, to: *mut T, count: usize) {
        let from = self.pointer(at);
        if from.is_null() {
            return;
        }
        self.spent.push(from);
        // The caller may pass null for an array without elements.
        if !to.is_null() {
            // SAFETY: the caller promises that both arrays have `count` elements of type `T`.
            unsafe { to.cast::<u8>().copy_from_nonoverlapping(from, count * size_of::<T>()) };
        }
    }

    /// Releases ownership of all results to the caller.
    pub fn keep(mut self) {
        self.copies.keep();
        for memory in &self.spent {
            // SAFETY: the array is an allocation of its own whose content has been copied.
            unsafe { release(memory.cast()) };
        }
    }
}

/// The arguments of a call, in the server's private memory.
pub struct Arguments {
    private: PrivateFrame,
    /// Copies of the objects that need more memory than they have in the frame.
    _wider: Vec<Wide>,
    /// The interface pointers that the arguments refer to.
    _references: Vec<IUnknown>,
    /// The survey of the kept arguments' objects, which are freed after the call. The survey is
    /// made before the method runs, because the method can change pointers and free other
    /// arguments.
    owned: Option<Survey>,
    /// The allocations of all objects; `None` after [`Self::release`].
    copies: Option<Allocations>,
}

fn refused(error: &Error) -> Status {
    match error.code() {
        code::RPC_E_INVALID_DATA => Status::BAD_STUB_DATA,
        code::E_OUTOFMEMORY => Status::REMOTE_NO_MEMORY,
        _ => fault_of(error),
    }
}

impl StubCall<'_, '_> {
    /// Copies and checks the request's frame, for a method that only reads its arguments.
    ///
    /// # Safety
    ///
    /// The layout must be that of the method's request, as the compiler generated it.
    ///
    /// # Errors
    ///
    /// BAD_STUB_DATA when the frame does not have the layout; REMOTE_NO_MEMORY when the arguments
    /// need too much memory; the error of an object reference that cannot be unmarshaled.
    pub unsafe fn arguments(&mut self, layout: Layout) -> std::result::Result<Arguments, Status> {
        let made = (|| {
            let (mut private, found) = PrivateFrame::of(self.inner().frame, layout, &[])?;
            let (wider, references) = private.link(&found, layout.types)?;
            Ok(Arguments { private, _wider: wider, _references: references, owned: None, copies: None })
        })();
        made.map_err(|error: Error| refused(&error))
    }

    /// Copies and checks the request's frame, for a method that may free and replace arguments. The
    /// arguments of `kept` are freed when the call is over; the method owns all other arguments
    /// after [`Arguments::release`].
    ///
    /// # Safety
    ///
    /// As for [`Self::arguments`], also for `kept`.
    ///
    /// # Errors
    ///
    /// As for [`Self::arguments`].
    pub unsafe fn arguments_to_change(
        &mut self,
        layout: Layout,
        kept: Layout,
    ) -> std::result::Result<Arguments, Status> {
        let made = PrivateFrame::of(self.inner().frame, layout, &[]);
        // SAFETY: the caller promises the layout of the method's request, with which the frame was
        // checked. It also promises that `kept` is a part of that layout.
        let made = made.and_then(|frame| unsafe { Arguments::to_change(frame, layout, kept) });
        made.map_err(|error| refused(&error))
    }

    /// Writes the reply's frame, and frees the method's results.
    ///
    /// # Safety
    ///
    /// The image must have this layout, and the caller must own everything it reaches. By COM's
    /// rules the caller owns a method's results.
    ///
    /// # Errors
    ///
    /// REMOTE_NO_MEMORY for results that exceed a frame or the connection. Else a fault with the
    /// HRESULT of the failure: E_POINTER or E_INVALIDARG for invalid results; E_UNEXPECTED without
    /// a caller; the error of an object that cannot be marshaled.
    pub unsafe fn respond_graph(
        &mut self,
        result: HRESULT,
        image: &Image,
        layout: Layout,
        outer: &[i64],
    ) -> std::result::Result<Answer, Status> {
        let (root, block) = (image.root(layout), layout.block.size as usize);
        if result.0 < 0 {
            // SAFETY: the caller promises to own everything that the image reaches. A failed method
            // has left its results null.
            unsafe { image.free(layout, outer) };
            return Ok(no_results(result));
        }
        // SAFETY: the caller promises an image with this layout, which reaches valid results.
        let survey = match unsafe { Survey::of(root, layout.types, block, outer) } {
            Ok(survey) => survey,
            Err(error) => {
                // SAFETY: the caller promises to own everything that the image reaches.
                unsafe { image.free(layout, outer) };
                return Err(refused(&error));
            }
        };
        // SAFETY: the root has just been surveyed and has not changed.
        let sent = unsafe { self.write_graph(&survey, root, block, outer) };
        // `free` makes a survey of its own. Where several pointers lead to one object, `survey` may
        // contain the object several times, since the frame needs a copy for each pointer. The
        // object was allocated once, and must be freed once.
        // SAFETY: the caller promises to own everything that the image reaches.
        unsafe { image.free(layout, outer) };
        let length = sent.map_err(|error| refused(&error))?;
        Ok(results(result, length))
    }

    /// # Safety
    ///
    /// `survey` must be a survey of `root`.
    unsafe fn write_graph(&mut self, survey: &Survey, root: Root, block: usize, outer: &[i64]) -> Result<usize> {
        let caller = caller().ok_or(code::E_UNEXPECTED)?;
        let marshal = |reference: &Reference| {
            // SAFETY: by the promise to the survey, interface pointers are alive and not null.
            let object = unsafe { IUnknown::from_raw_borrowed(&reference.object) }.ok_or(code::E_POINTER)?;
            response::reference(&caller, object, wanted(reference.iid).info()?)
        };
        let references = survey.references.iter().map(marshal).collect::<Result<Vec<_>>>()?;
        let layout = survey.lay_out(&references)?;
        let too_long = |_| Error::from(code::E_OUTOFMEMORY);
        let measure = Measure::with_objects(block, layout.length);
        let frame = self.inner().reply(measure.length(), measure.bulk()).map_err(too_long)?;
        // SAFETY: the caller promises a survey of `root`, which has not changed since.
        unsafe { survey.write(root, &references, &layout, &mut frame[..layout.length], outer) };
        Ok(layout.length)
    }
}

impl Arguments {
    /// Makes the arguments of a frame without a call, for tests.
    ///
    /// # Safety
    ///
    /// The layout must be one that the compiler generated.
    ///
    /// # Errors
    ///
    /// RPC_E_INVALID_DATA when the frame does not have the layout; the error of an object reference
    /// that cannot be unmarshaled.
    #[doc(hidden)]
    pub unsafe fn of_bytes(frame: &[u8], layout: Layout) -> Result<Self> {
        let (mut private, found) = PrivateFrame::of_bytes(frame, layout, &[])?;
        let (wider, references) = private.link(&found, layout.types)?;
        Ok(Self { private, _wider: wider, _references: references, owned: None, copies: None })
    }

    /// As [`Self::of_bytes`], for a method that may free and replace the arguments that are not
    /// `kept`.
    ///
    /// # Safety
    ///
    /// As for [`Self::of_bytes`], also for `kept`.
    ///
    /// # Errors
    ///
    /// As for [`Self::of_bytes`], and E_OUTOFMEMORY when the arguments need too much memory.
    #[doc(hidden)]
    pub unsafe fn of_bytes_to_change(frame: &[u8], layout: Layout, kept: Layout) -> Result<Self> {
        let frame = PrivateFrame::of_bytes(frame, layout, &[])?;
        // SAFETY: the caller promises that `kept` is a part of `layout`, with which the frame was
        // just checked.
        unsafe { Self::to_change(frame, layout, kept) }
    }

    /// # Safety
    ///
    /// The frame must have been checked with `layout`; `kept` must be a part of `layout`.
    unsafe fn to_change(frame: (PrivateFrame, Checked), layout: Layout, kept: Layout) -> Result<Self> {
        let (mut private, found) = frame;
        let copies = private.copy_objects(&found, layout, kept.block.shape.parts, Sender::Caller)?;
        let root = Root { base: private.base(), shape: &kept.block.shape };
        // SAFETY: the memory was made from a checked frame with the same layout.
        let owned = unsafe { Survey::to_free(root, kept.types, &[]) };
        let (owned, copies) = (Some(owned), Some(copies));
        Ok(Self { private, _wider: Vec::new(), _references: Vec::new(), owned, copies })
    }

    /// Transfers ownership of the arguments that are not kept to the method, which is about to run.
    /// Without this call the drop frees all arguments.
    pub fn release(&mut self) {
        self.copies.take().iter_mut().for_each(Allocations::keep);
    }

    /// Returns the address of the parameter at offset `at`.
    ///
    /// # Panics
    ///
    /// If the parameter extends beyond the block.
    pub fn place<T>(&mut self, at: usize) -> *mut T {
        assert!(is_within(at, size_of::<T>(), self.private.length), "the check has seen the block");
        self.private.base().wrapping_add(at).cast()
    }

    /// Returns the parameter at offset `at`.
    ///
    /// # Safety
    ///
    /// The parameter must have this type.
    ///
    /// # Panics
    ///
    /// If the parameter extends beyond the block.
    pub unsafe fn get<T>(&mut self, at: usize) -> T {
        // SAFETY: `place` checks that the parameter is within the aligned frame; the caller
        // promises its type.
        unsafe { self.place::<T>(at).read() }
    }
}

impl Drop for Arguments {
    fn drop(&mut self) {
        // If the arguments were not released, the drop of `copies` frees the kept arguments, too.
        if self.copies.is_none()
            && let Some(survey) = self.owned.take()
        {
            // SAFETY: every object of a kept argument is an allocation of its own, and the method
            // has only read these arguments.
            unsafe { survey.free() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use obvia_ndr::flat::KIND_FIRST;
    use obvia_ndr::flat::shape::{Block, Class, Element, ElementType, Extent, Part, Shape, What};

    const NUMBERS: &[ElementType] =
        &[ElementType { size: 8, shape: Shape { runs: &[(0, 8)], parts: &[] }, tail: None }];
    const PARTS: &[Part] =
        &[Part { at: 0, what: What::Pointer { class: Class::Unique, to: Element::Own(0), extent: Extent::One } }];
    /// A parameter that leads to a number, or is null.
    static OPTIONAL: Block = Block { size: 8, shape: Shape { runs: &[], parts: PARTS } };

    #[test]
    fn results_that_appear_or_vanish_are_refused() {
        let layout = Layout { block: &OPTIONAL, types: NUMBERS };
        let header = u64::from(KIND_FIRST) | 1 << 32;
        for (words, is_given) in [(&[16, header, 7][..], true), (&[0], false)] {
            let frame: Vec<u8> = words.iter().flat_map(|word: &u64| word.to_le_bytes()).collect();
            let (mut private, found) = PrivateFrame::of_bytes(&frame, layout, &[]).unwrap();
            let copies = private.copy_objects(&found, layout, &[], Sender::Caller).unwrap();
            let mut results = Results { private, copies, spent: Vec::new() };
            let (mut number, null) = (5_u64, std::ptr::null_mut());
            let (good, bad) = if is_given { (&raw mut number, null) } else { (null, &raw mut number) };
            results.verify_presence(0, good).unwrap();
            assert_eq!(results.verify_presence(0, bad).unwrap_err().code(), code::RPC_E_INVALID_DATA);
            // SAFETY: the pointer is null, or leads to one number, as the result does.
            unsafe { results.fill(0, good, 1) };
            results.keep();
            assert_eq!(number, if is_given { 7 } else { 5 });
        }
    }

    #[test]
    fn overlong_results_get_the_status_of_plain_stubs() {
        assert_eq!(refused(&code::E_OUTOFMEMORY.into()), Status::REMOTE_NO_MEMORY);
        assert_eq!(refused(&code::E_INVALIDARG.into()), Status(0x8007_0057));
    }
}
