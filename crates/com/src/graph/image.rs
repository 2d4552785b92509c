//! Parameters as structures in memory, on both sides of a call.

use super::Layout;
use super::memory::Allocations;
use super::private::{Private, Wide};
use super::survey::{Reference, Root, Survey};
use crate::error::{Error, Result, code};
use crate::frame::Measure;
use crate::marshal::{Wanted, fault_of, release};
use crate::orpc::Client;
use crate::proxy::ProxyCall;
use crate::reply::ReplyView;
use crate::server::caller;
use crate::stub::{StubCall, no_results, results};
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::Answer;
use std::mem::MaybeUninit;
use windows_core::{GUID, HRESULT, IUnknown, Interface};

/// The parameters of a request or a reply, at the offsets that they have in a frame, with pointers for offsets.
pub struct Image {
    words: Box<[MaybeUninit<u64>]>,
}

/// Whether so many bytes at an offset are within others.
fn is_within(at: usize, bytes: usize, length: usize) -> bool {
    at.checked_add(bytes).is_some_and(|end| end <= length)
}

impl Image {
    /// Parameters of so many bytes, all zero.
    pub fn new(layout: Layout) -> Self {
        let count = (layout.block.size as usize).div_ceil(8);
        Self { words: vec![MaybeUninit::new(0); count].into() }
    }

    pub(super) fn base(&self) -> *const u8 {
        self.words.as_ptr().cast()
    }

    pub(super) fn root(&self, layout: Layout) -> Root {
        Root { base: self.base(), shape: &layout.block.shape }
    }

    /// Where the parameter at `at` is.
    ///
    /// # Panics
    ///
    /// When the parameters are shorter.
    pub fn place<T>(&mut self, at: usize) -> *mut T {
        assert!(is_within(at, size_of::<T>(), self.words.len() * 8), "a parameter lies within the block");
        self.words.as_mut_ptr().cast::<u8>().wrapping_add(at).cast()
    }

    /// Sets a parameter.
    ///
    /// # Panics
    ///
    /// When the parameters are shorter.
    pub fn put<T>(&mut self, at: usize, value: T) {
        // SAFETY: within the words.
        unsafe { self.place::<T>(at).write_unaligned(value) };
    }

    /// Copies a parameter that is given by a pointer.
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
            return Err(Error::new(code::E_POINTER, "a parameter that may not be null is null"));
        }
        assert!(is_within(at, bytes, self.words.len() * 8), "a parameter lies within the block");
        // SAFETY: the caller's promise; within the words.
        unsafe { self.place::<u8>(at).copy_from_nonoverlapping(from.cast(), bytes) };
        Ok(())
    }

    /// Room for `count` elements that the method fills and that are freed with the image; its address is set at `at`.
    ///
    /// # Errors
    ///
    /// Out of memory.
    pub fn room<T>(&mut self, at: usize, count: usize) -> std::result::Result<*mut T, Status> {
        let bytes = count.checked_mul(size_of::<T>()).filter(|bytes| *bytes <= obvia_ndr::flat::FRAME_MAX);
        let mut memory = Allocations::default();
        let first = memory.add(bytes.ok_or(Status::REMOTE_NO_MEMORY)?).map_err(|_| Status::REMOTE_NO_MEMORY)?;
        memory.keep();
        self.put(at, first);
        Ok(first.cast())
    }

    /// Frees what the parameters lead to.
    ///
    /// # Safety
    ///
    /// All of it must be owned by the caller, and not be used again.
    pub unsafe fn free(&self, layout: Layout, outer: &[i64]) {
        // SAFETY: the caller's promise.
        let survey = unsafe { Survey::to_free(self.root(layout), layout.types, outer) };
        // SAFETY: the caller's promise.
        unsafe { survey.free() };
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
    /// The image must be what the layout says, with pointers to what it says.
    ///
    /// # Errors
    ///
    /// As for [`ProxyCall::send`], and when the parameters are not possible.
    pub unsafe fn send_graph(&mut self, opnum: u16, image: &Image, layout: Layout) -> Result<ReplyView<'_>> {
        // SAFETY: the caller's promise.
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
    /// When the parameters are not possible, or the connection is gone or full.
    pub unsafe fn send_graph_oneway(&mut self, opnum: u16, image: &Image, layout: Layout) -> Result<()> {
        // SAFETY: the caller's promise.
        let length = unsafe { self.write_graph(image, layout) }?;
        self.send_oneway(opnum, length);
        Ok(())
    }

    /// # Safety
    ///
    /// As for [`Self::send_graph`].
    unsafe fn write_graph(&mut self, image: &Image, layout: Layout) -> Result<usize> {
        let (root, block) = (image.root(layout), layout.block.size as usize);
        // SAFETY: the caller's promise.
        let survey = unsafe { Survey::of(root, layout.types, block, &[]) }?;
        let marshal = |reference: &Reference| {
            // SAFETY: the caller's promise: interface pointers are alive.
            let object = unsafe { IUnknown::from_raw_borrowed(&reference.object) }.ok_or(code::E_POINTER)?;
            self.reference(object, wanted(reference.iid).info()?)
        };
        let references = survey.references.iter().map(marshal).collect::<Result<Vec<_>>>()?;
        let laid = survey.lay_out(&references)?;
        let frame = self.request(Measure::with_objects(block, laid.length))?;
        // SAFETY: just surveyed.
        unsafe { survey.write(root, &references, &laid, &mut frame[..laid.length], &[]) };
        Ok(laid.length)
    }
}

/// The results of a call, in memory of the caller's.
pub struct Results {
    private: Private,
    copies: Allocations,
    /// Arrays that were copied to where the caller has room for them.
    spent: Vec<*mut u8>,
}

impl ReplyView<'_> {
    /// Copies and checks the reply's frame.
    ///
    /// # Errors
    ///
    /// RPC_E_INVALID_DATA when it is not what the layout says; when an object cannot be reached.
    pub fn graph(&self, layout: Layout, outer: &[i64]) -> Result<Results> {
        let (mut private, found) = Private::of(self.whole(), layout, outer)?;
        let copies = private.copy_objects(&found, layout.types, Some(Client::Process(self.peer())))?;
        Ok(Results { private, copies, spent: Vec::new() })
    }
}

impl Results {
    /// Whether the slot at `at` leads somewhere.
    pub(super) fn has(&mut self, at: usize) -> bool {
        !self.pointer(at).is_null()
    }

    /// Where the slot at `at` leads.
    ///
    /// # Panics
    ///
    /// When the results are shorter.
    pub fn pointer(&mut self, at: usize) -> *mut u8 {
        assert!(is_within(at, 8, self.private.length), "the check has seen the block");
        // SAFETY: within the frame; the slot holds a pointer by now.
        unsafe { self.private.base().wrapping_add(at).cast::<*mut u8>().read_unaligned() }
    }

    /// Hands a result to the caller.
    ///
    /// # Safety
    ///
    /// `to` must be writable for `bytes` bytes, and `bytes` be the parameter's size.
    ///
    /// # Errors
    ///
    /// E_POINTER for a null pointer.
    pub unsafe fn give<T>(&mut self, at: usize, to: *mut T, bytes: usize) -> Result<()> {
        if to.is_null() {
            return Err(code::E_POINTER.into());
        }
        assert!(is_within(at, bytes, self.private.length), "the check has seen the block");
        // SAFETY: within the frame.
        let from = unsafe { self.private.base().add(at) };
        // SAFETY: the caller's promise.
        unsafe { to.cast::<u8>().copy_from_nonoverlapping(from, bytes) };
        Ok(())
    }

    /// Copies an array to where the caller has room for it.
    ///
    /// # Safety
    ///
    /// `to` must be writable for `count` elements, `T` be the elements' type, and the array have as many.
    pub unsafe fn fill<T>(&mut self, at: usize, to: *mut T, count: usize) {
        let from = self.pointer(at);
        if from.is_null() {
            return;
        }
        self.spent.push(from);
        // There may be none where an array has no elements.
        if !to.is_null() {
            // SAFETY: the caller's promise.
            unsafe { to.cast::<u8>().copy_from_nonoverlapping(from, count * size_of::<T>()) };
        }
    }

    /// Leaves everything to the caller.
    pub fn keep(mut self) {
        self.copies.keep();
        for memory in &self.spent {
            // SAFETY: an allocation of its own, whose content the caller has.
            unsafe { release(memory.cast()) };
        }
    }
}

/// The arguments of a call, in private memory of the server's.
pub struct Arguments {
    private: Private,
    /// Objects that need more room than they have in the frame.
    _wider: Vec<Wide>,
    /// Interface pointers that the arguments show.
    _references: Vec<IUnknown>,
    /// What to free when the call is over, found before the method could set pointers in it: the method may have freed the rest.
    owned: Option<Survey>,
}

fn refused(error: &Error) -> Status {
    match error.code() {
        code::RPC_E_INVALID_DATA => Status::BAD_STUB_DATA,
        _ => fault_of(error),
    }
}

impl StubCall<'_, '_> {
    /// Copies and checks the request's frame, for a method that only reads what it gets.
    ///
    /// # Errors
    ///
    /// Bad stub data when it is not what the layout says; the reason when an object cannot be reached.
    pub fn arguments(&mut self, layout: Layout) -> std::result::Result<Arguments, Status> {
        let made = (|| {
            let (mut private, found) = Private::of(self.inner().frame, layout, &[])?;
            let (wider, references) = private.link(&found, layout.types)?;
            Ok(Arguments { private, _wider: wider, _references: references, owned: None })
        })();
        made.map_err(|error: Error| refused(&error))
    }

    /// Copies and checks the request's frame, for a method that may free and replace what it gets. What `kept` says is
    /// freed when the call is over; the rest is the method's.
    ///
    /// # Errors
    ///
    /// As for [`Self::arguments`].
    pub fn arguments_to_change(&mut self, layout: Layout, kept: Layout) -> std::result::Result<Arguments, Status> {
        let made = (|| {
            let (mut private, found) = Private::of(self.inner().frame, layout, &[])?;
            private.copy_objects(&found, layout.types, None)?.keep();
            let root = Root { base: private.base(), shape: &kept.block.shape };
            // SAFETY: made of a frame that was checked, by the same layout.
            let owned = unsafe { Survey::to_free(root, kept.types, &[]) };
            Ok(Arguments { private, _wider: Vec::new(), _references: Vec::new(), owned: Some(owned) })
        })();
        made.map_err(|error: Error| refused(&error))
    }

    /// Writes the reply's frame, and frees what the method returned.
    ///
    /// # Safety
    ///
    /// The image must be what the layout says, and what it leads to must be owned by the caller: by COM's rules, what a
    /// method returned.
    ///
    /// # Errors
    ///
    /// Bad stub data when results are not possible; when the caller is gone.
    pub unsafe fn respond_graph(
        &mut self,
        result: HRESULT,
        image: &Image,
        layout: Layout,
        outer: &[i64],
    ) -> std::result::Result<Answer, Status> {
        let (root, block) = (image.root(layout), layout.block.size as usize);
        if result.0 < 0 {
            // SAFETY: the caller's promise. A method that failed has left its results null.
            unsafe { image.free(layout, outer) };
            return Ok(no_results(result));
        }
        // SAFETY: the caller's promise.
        let survey = match unsafe { Survey::of(root, layout.types, block, outer) } {
            Ok(survey) => survey,
            Err(error) => {
                // SAFETY: as above.
                unsafe { image.free(layout, outer) };
                return Err(refused(&error));
            }
        };
        // SAFETY: just surveyed.
        let sent = unsafe { self.write_graph(&survey, root, block, outer) };
        // By a survey of its own: what is written twice, as it is where pointers of several kinds lead there, was allocated once.
        // SAFETY: the caller's promise.
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
            // SAFETY: by the promise to the survey, interface pointers are alive, and not null.
            let object = unsafe { IUnknown::from_raw_borrowed(&reference.object) }.ok_or(code::E_POINTER)?;
            caller.reference(object, wanted(reference.iid).info()?)
        };
        let references = survey.references.iter().map(marshal).collect::<Result<Vec<_>>>()?;
        let laid = survey.lay_out(&references)?;
        let too_long = |_| Error::from(code::E_OUTOFMEMORY);
        let measure = Measure::with_objects(block, laid.length);
        let frame = self.inner().reply(measure.length(), measure.bulk()).map_err(too_long)?;
        // SAFETY: the caller's promise.
        unsafe { survey.write(root, &references, &laid, &mut frame[..laid.length], outer) };
        Ok(laid.length)
    }
}

impl Arguments {
    /// The arguments in a frame that came some other way than a call, for tests.
    ///
    /// # Errors
    ///
    /// RPC_E_INVALID_DATA when it is not what the layout says; when an object cannot be reached.
    #[doc(hidden)]
    pub fn of_bytes(frame: &[u8], layout: Layout) -> Result<Self> {
        let (mut private, found) = Private::of_bytes(frame, layout, &[])?;
        let (wider, references) = private.link(&found, layout.types)?;
        Ok(Self { private, _wider: wider, _references: references, owned: None })
    }

    /// Where the parameter at `at` is.
    ///
    /// # Panics
    ///
    /// When the parameters are shorter.
    pub fn place<T>(&mut self, at: usize) -> *mut T {
        assert!(is_within(at, size_of::<T>(), self.private.length), "the check has seen the block");
        self.private.base().wrapping_add(at).cast()
    }

    /// The parameter at `at`.
    ///
    /// # Safety
    ///
    /// It must be of this type.
    ///
    /// # Panics
    ///
    /// When the parameters are shorter.
    pub unsafe fn get<T>(&mut self, at: usize) -> T {
        // SAFETY: within the frame, which is aligned; the caller's promise.
        unsafe { self.place::<T>(at).read() }
    }
}

impl Drop for Arguments {
    fn drop(&mut self) {
        if let Some(survey) = self.owned.take() {
            // SAFETY: every object is an allocation of its own; the method only read what is kept.
            unsafe { survey.free() };
        }
    }
}
