//! Methods that tables describe whole: for languages whose proxies and stubs are nothing but a call of this.
//!
//! A proxy gives the addresses of its arguments, in the order of the source; a stub is given a function that calls the method
//! with such addresses. What the caller has behind a pointer that is never null is named by that pointer, everything else by
//! the address of the parameter.

use super::Layout;
use super::image::Image;
use super::survey::{Root, Survey, bytes, evaluate};
use crate::error::{Error, Result, code, forget, leave};
use crate::proxy::{Proxy, ProxyCall};
use crate::reply::invalid_reply;
use crate::rt::given_in_range;
use crate::stub::{self, StubCall, no_results};
use obvia_ndr::flat::shape::{Block, Element, ElementType, Expr, Extent, Part, Shape, What};
use obvia_ndr::flat::words::{self, Half, Outer, Param};
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, ServerCall};
use std::ffi::c_void;
use windows_core::{GUID, HRESULT};

/// Calls a method of an object with its arguments.
pub type Invoke = unsafe extern "C-unwind" fn(object: *mut c_void, arguments: *mut *mut c_void) -> HRESULT;

/// A method as its tables describe it.
pub struct Method {
    words: words::Method,
    types: &'static [ElementType],
    /// What of a request the method must not free, and what it may have freed.
    kept: Block,
    given: Block,
    /// Whether it may free and replace some of what it gets.
    changes: bool,
}

/// Whether something leads elsewhere.
fn leads(part: &Part) -> bool {
    let any = |shape: &Shape| shape.parts.iter().any(leads);
    match &part.what {
        What::Boolean | What::Enum(_) | What::Range(..) => false,
        What::Pointer { .. } | What::Object(_) => true,
        What::Inner { shape, .. } => any(shape),
        What::Union { arms, default, .. } => arms.iter().map(|(_, arm)| arm).chain(default).any(any),
    }
}

/// The parts of a block that lie in `size` bytes from `at`.
fn parts_at(block: &Block, at: u32, size: u32) -> impl Iterator<Item = Part> {
    let parts = block.shape.parts.iter().copied();
    parts.filter(move |part| part.at >= at && part.at - at < size)
}

impl Method {
    /// A method whose objects have these types. `None` where the tables do not fit together.
    ///
    /// What is made lives as long as the process.
    pub fn new(words: words::Method, types: &'static [ElementType]) -> Option<Self> {
        let of_request = |is_wanted: fn(&Param) -> bool| {
            let wanted = words.params.iter().filter(|param| is_wanted(param));
            let parts = wanted.flat_map(|param| parts_at(&words.request, param.request.unwrap_or(0), param.size));
            let parts: &'static [Part] = Vec::leak(parts.collect());
            Block { size: words.request.size, shape: Shape { runs: &[], parts } }
        };
        let kept = of_request(|param| param.request.is_some() && param.reply.is_none());
        let given = of_request(|param| param.request.is_some() && param.reply.is_some());
        let changes = given.shape.parts.iter().any(leads);
        let made = Self { words, types, kept, given, changes };
        let mut rooms = made.words.params.iter().filter(|param| !param.is_place).filter_map(|param| param.reply);
        let fits = rooms.all(|at| made.array(at).is_some())
            && made.words.outer.iter().all(|outer| outer.param < made.words.params.len());
        fits.then_some(made)
    }

    const fn layout(&'static self, block: &'static Block) -> Layout {
        Layout { block, types: self.types }
    }

    /// The array that a slot of the reply's block leads to: how many elements there are, and what they are.
    fn array(&self, at: u32) -> Option<(Expr, Element)> {
        let part = self.words.reply.shape.parts.iter().find(|part| part.at == at)?;
        match part.what {
            What::Pointer { to, extent: Extent::Counted { size, .. }, .. } => Some((size, to)),
            _ => None,
        }
    }

    /// Bytes of the array in the caller's room that a slot of the reply's block leads to. How many elements it has was said before the
    /// call: what the method makes of the number does not count.
    ///
    /// # Errors
    ///
    /// E_INVALIDARG when there is no such number; E_OUTOFMEMORY when no frame has as many.
    fn room(&self, at: u32, outer: &[i64]) -> Result<usize> {
        let none = || Error::new(code::E_INVALIDARG, "an array has no possible size");
        let (size, element) = self.array(at).ok_or_else(none)?;
        let count = size.evaluate(&|_, _| None, outer).and_then(|count| usize::try_from(count).ok());
        bytes(element, count.ok_or_else(none)?, self.types)
            .ok_or_else(|| Error::new(code::E_OUTOFMEMORY, "no frame has so many elements"))
    }

    /// What expressions over the reply read that is not in it.
    ///
    /// # Safety
    ///
    /// The addresses must be those of arguments.
    unsafe fn outer(&self, arguments: &[*mut c_void]) -> Vec<i64> {
        let number = |outer: &Outer| {
            let from = arguments[outer.param].cast_const();
            match outer.half {
                Half::Whole(int) => {
                    // SAFETY: the caller's promise.
                    let value = unsafe { evaluate(from.cast(), &Expr::Member(0, int), &[]) };
                    value.unwrap_or(i64::MAX)
                }
                half => {
                    // SAFETY: the caller's promise.
                    let iid = unsafe { from.cast::<GUID>().read_unaligned() }.to_u128();
                    let bits = if half == Half::Upper { iid >> 64 } else { iid };
                    (bits as u64).cast_signed()
                }
            }
        };
        self.words.outer.iter().map(number).collect()
    }

    /// Whether a result in the caller's place leads elsewhere.
    fn result_leads(&self, at: u32, size: u32) -> bool {
        parts_at(&self.words.reply, at, size).any(|part| leads(&part))
    }
}

/// An array that the caller has room for.
struct Room {
    /// Its slot in the reply.
    at: u32,
    /// Where the caller has it, and how many bytes.
    to: *mut u8,
    bytes: usize,
}

impl Method {
    /// Calls the method of an object elsewhere.
    ///
    /// # Safety
    ///
    /// `proxy` must be an interface pointer to a proxy, and there must be as many addresses as the method has parameters, each
    /// of an argument that is what the tables say.
    pub unsafe fn call(&'static self, proxy: *mut c_void, arguments: *const *mut c_void) -> HRESULT {
        // SAFETY: the caller's promise.
        let arguments = unsafe { std::slice::from_raw_parts(arguments, self.words.params.len()) };
        // SAFETY: the caller's promise.
        if let Err(error) = unsafe { self.clear_results(arguments) } {
            return leave(error);
        }
        // SAFETY: the caller's promise.
        let proxy = unsafe { Proxy::from_raw(proxy) };
        // SAFETY: the caller's promise.
        proxy.call_with_objects(|call| unsafe { self.exchange(call, arguments) })
    }

    /// Has results that lead elsewhere lead nowhere: by COM's rules they do when the call fails.
    ///
    /// # Safety
    ///
    /// As for [`Self::call`].
    unsafe fn clear_results(&self, arguments: &[*mut c_void]) -> Result<()> {
        for (param, to) in self.words.params.iter().zip(arguments) {
            if to.is_null() {
                return Err(Error::new(code::E_POINTER, "a parameter that may not be null is null"));
            }
            if let (true, None, Some(at)) = (param.is_place, param.request, param.reply)
                && self.result_leads(at, param.size)
            {
                // SAFETY: the caller's promise: the place of a result.
                unsafe { to.cast::<u8>().write_bytes(0, param.size as usize) };
            }
        }
        Ok(())
    }

    /// # Safety
    ///
    /// As for [`Self::call`].
    unsafe fn exchange(&'static self, call: &mut ProxyCall<'_>, arguments: &[*mut c_void]) -> Result<HRESULT> {
        let (request, reply) = (self.layout(&self.words.request), self.layout(&self.words.reply));
        let mut image = Image::new(request);
        for (param, from) in self.words.params.iter().zip(arguments) {
            if let Some(at) = param.request {
                // SAFETY: the caller's promise: an argument of that size.
                unsafe { image.put_from(at as usize, from.cast::<u8>(), param.size as usize) }?;
            }
        }
        self.check_ranges(&image)?;
        if self.words.oneway {
            // SAFETY: the caller's promise.
            unsafe { call.send_graph_oneway(self.words.opnum, &image, request) }?;
            return Ok(code::S_OK);
        }
        // SAFETY: the caller's promise.
        let outer = unsafe { self.outer(arguments) };
        // SAFETY: the caller's promise.
        let rooms = unsafe { self.rooms(arguments, &outer) }?;
        // SAFETY: the caller's promise.
        let answer = unsafe { call.send_graph(self.words.opnum, &image, request) }?;
        if answer.failed() {
            // The method said no words, and those of an earlier call are none of this one's.
            forget();
            return Ok(answer.result());
        }
        let mut results = answer.graph(reply, &outer)?;
        let result = answer.result();
        if rooms.iter().any(|room| room.bytes > 0 && room.to.is_null() && results.has(room.at as usize)) {
            return Err(invalid_reply());
        }
        // SAFETY: by COM's rules what is passed [in, out] is the method's to free.
        unsafe { self.free_given(&image) };
        for (param, to) in self.words.params.iter().zip(arguments).filter(|(param, _)| param.is_place) {
            if let Some(at) = param.reply {
                // SAFETY: the caller's promise: the place of a result of that size.
                unsafe { results.give(at as usize, to.cast::<u8>(), param.size as usize) }?;
            }
        }
        for room in &rooms {
            // SAFETY: the caller's promise; the results were checked to be as many.
            unsafe { results.fill::<u8>(room.at as usize, room.to, room.bytes) };
        }
        results.keep();
        Ok(result)
    }

    /// Refuses parameters that the server would refuse.
    fn check_ranges(&self, image: &Image) -> Result<()> {
        for part in self.words.request.shape.parts {
            if let What::Range(int, least, most) = part.what {
                // SAFETY: an integer of the block.
                let value = unsafe { evaluate(image.base(), &Expr::Member(part.at, int), &[]) };
                given_in_range(value.unwrap_or(i64::MAX), least, most)?;
            }
        }
        Ok(())
    }

    /// The arrays that the caller has room for.
    ///
    /// # Safety
    ///
    /// As for [`Self::call`].
    unsafe fn rooms(&'static self, arguments: &[*mut c_void], outer: &[i64]) -> Result<Vec<Room>> {
        let mut rooms = Vec::new();
        for (param, from) in self.words.params.iter().zip(arguments).filter(|(param, _)| !param.is_place) {
            let Some(at) = param.reply else { continue };
            let bytes = self.room(at, outer)?;
            // SAFETY: the caller's promise: the parameter is a pointer.
            let to = unsafe { from.cast::<*mut u8>().read() };
            if to.is_null() && bytes > 0 && param.request.is_none() {
                return Err(Error::new(code::E_POINTER, "a parameter that may not be null is null"));
            }
            rooms.push(Room { at, to, bytes });
        }
        Ok(rooms)
    }

    /// Frees what the caller gave to be changed; arrays that it has room for are freed as far as they lead elsewhere.
    ///
    /// # Safety
    ///
    /// All of it must be owned by the caller, and not be used again.
    unsafe fn free_given(&'static self, image: &Image) {
        if !self.changes {
            return;
        }
        let root = Root { shape: &self.given.shape, ..image.root(self.layout(&self.given)) };
        // SAFETY: the caller's promise.
        let survey = unsafe { Survey::to_free(root, self.types, &[]) };
        let is_room = |at: usize| {
            let mut rooms = self.words.params.iter().filter(|param| !param.is_place && param.reply.is_some());
            rooms.any(|param| param.request.is_some_and(|room| room as usize == at))
        };
        let of_root = survey.slots.iter().filter(|(place, _)| place.holder.is_none() && is_room(place.at));
        let spared: Vec<usize> = of_root.map(|(_, object)| *object).collect();
        // SAFETY: the caller's promise.
        unsafe { survey.free_but(|object| spared.contains(&object)) };
    }
}

impl Method {
    /// Serves a call: checks the request, calls the method, and answers.
    ///
    /// # Safety
    ///
    /// `object` must be what `invoke` takes.
    pub unsafe fn serve(&'static self, object: *mut c_void, call: &mut ServerCall<'_>, invoke: Invoke) -> Answer {
        // SAFETY: the caller's promise.
        stub::serve(call, |call| unsafe { self.answer(object, call, invoke) })
    }

    /// # Safety
    ///
    /// As for [`Self::serve`].
    unsafe fn answer(
        &'static self,
        object: *mut c_void,
        call: &mut StubCall<'_, '_>,
        invoke: Invoke,
    ) -> std::result::Result<Answer, Status> {
        let (request, reply) = (self.layout(&self.words.request), self.layout(&self.words.reply));
        let mut arguments = if self.changes {
            call.arguments_to_change(request, self.layout(&self.kept))?
        } else {
            call.arguments(request)?
        };
        let mut image = Image::new(reply);
        let mut addresses = Vec::with_capacity(self.words.params.len());
        for param in self.words.params {
            let given = param.request.map(|at| arguments.place::<u8>(at as usize));
            let place = param.reply.map(|at| image.place::<u8>(at as usize));
            if let (Some(given), Some(place)) = (given, place) {
                // SAFETY: as many bytes in both blocks.
                unsafe { place.copy_from_nonoverlapping(given, param.size as usize) };
            }
            addresses.push(place.or(given).unwrap_or(std::ptr::null_mut()).cast());
        }
        // SAFETY: the addresses of arguments that were checked.
        let outer = unsafe { self.outer(&addresses) };
        if let Err(status) = self.make_rooms(&mut image, &outer, call.reply_max()) {
            // SAFETY: nobody else has seen what the method was to change.
            unsafe { image.free(reply, &outer) };
            return Err(status);
        }
        // SAFETY: the caller's promise; arguments that were checked.
        let result = unsafe { invoke(object, addresses.as_mut_ptr()) };
        if self.words.oneway {
            return Ok(no_results(result));
        }
        // SAFETY: by COM's rules results are what the interface says, and the caller's.
        unsafe { call.respond_graph(result, &image, reply, &outer) }
    }

    /// Makes room for the arrays that the method fills.
    fn make_rooms(&self, image: &mut Image, outer: &[i64], most: usize) -> std::result::Result<(), Status> {
        for param in self.words.params.iter().filter(|param| !param.is_place && param.request.is_none()) {
            let Some(at) = param.reply else { continue };
            let bytes = self.room(at, outer).map_err(|error| match error.code() {
                code::E_OUTOFMEMORY => Status::REMOTE_NO_MEMORY,
                _ => Status::BAD_STUB_DATA,
            })?;
            // A few bytes of a caller's do not make this process fill gigabytes.
            if bytes > most {
                return Err(Status::REMOTE_NO_MEMORY);
            }
            image.room::<u8>(at as usize, bytes)?;
        }
        Ok(())
    }
}
