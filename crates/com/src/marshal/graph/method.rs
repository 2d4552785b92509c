//! Methods that tables describe completely, for languages whose proxies and stubs only call this
//! module.
//!
//! A proxy passes the addresses of its arguments in the order of the parameters in the source. A
//! stub passes a function that calls the method with such addresses. For a pointer that is never
//! null, the address is the pointer itself; for every other parameter it is the address of the
//! parameter.

use super::Layout;
use super::image::Image;
use super::survey::{Root, Survey, bytes, evaluate};
use crate::client::proxy::Proxy;
use crate::marshal::parameters::given_in_range;
use crate::marshal::proxy_call::ProxyCall;
use crate::marshal::stub::{self, StubCall, no_results};
use crate::types::error::{Error, Result, code, forget, leave};
use obvia_ndr::flat::shape::{Block, Class, Element, ElementType, Expr, Extent, Part, Shape, What};
use obvia_ndr::flat::words::{self, Half, Outer, Param};
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, ServerCall};
use std::ffi::c_void;
use windows_core::{GUID, HRESULT};

/// A function that calls a method of an object with the addresses of its arguments.
pub type Invoke = unsafe extern "C-unwind" fn(object: *mut c_void, arguments: *mut *mut c_void) -> HRESULT;

/// A method described by tables.
pub struct Method {
    words: words::Method,
    types: &'static [ElementType],
    /// The parts of the request: `kept` has the `[in]` parameters, which the method must not free,
    /// and `given` the `[in, out]` parameters, which it may free.
    kept: Block,
    given: Block,
    /// Whether the method may free and replace arguments.
    changes: bool,
}

/// Whether a part contains a pointer.
fn leads(part: &Part) -> bool {
    let any = |shape: &Shape| shape.parts.iter().any(leads);
    match &part.what {
        What::Boolean | What::Enum(_) | What::Range(..) | What::Utf8 | What::Ended => false,
        What::Pointer { .. } | What::Object(_) => true,
        What::Inner { shape, .. } => any(shape),
        What::Union { arms, default, .. } => arms.iter().map(|(_, arm)| arm).chain(default).any(any),
    }
}

/// Returns the parts of a block within `size` bytes from `at`.
fn parts_at(block: &Block, at: u32, size: u32) -> impl Iterator<Item = Part> {
    let parts = block.shape.parts.iter().copied();
    parts.filter(move |part| part.at >= at && part.at - at < size)
}

impl Method {
    /// Makes a method from its tables. `types` has the types of the objects to which its parameters
    /// lead. Returns `None` if the tables are inconsistent.
    ///
    /// The tables made here are leaked and live as long as the process.
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
        let fits = rooms.all(|at| made.elements(at).is_some())
            && made.words.outer.iter().all(|outer| outer.param < made.words.params.len());
        fits.then_some(made)
    }

    const fn layout(&'static self, block: &'static Block) -> Layout {
        Layout { block, types: self.types }
    }

    /// Finds the elements to which a slot of the reply's block leads. Returns the class of the
    /// pointer, the expression for the number of elements, and their type. `None` if the slot leads
    /// to neither one value nor a counted array.
    fn elements(&self, at: u32) -> Option<(Class, Expr, Element)> {
        let part = self.words.reply.shape.parts.iter().find(|part| part.at == at)?;
        match part.what {
            What::Pointer { class, to, extent: Extent::Counted { size, .. } } => Some((class, size, to)),
            What::Pointer { class, to, extent: Extent::One } => Some((class, Expr::Const(1), to)),
            _ => None,
        }
    }

    /// Returns the size in bytes of the caller's elements for a slot of the reply's block. The size
    /// follows from the arguments before the call, even if the method changes the number of
    /// elements.
    ///
    /// # Errors
    ///
    /// E_INVALIDARG where the number is invalid; E_OUTOFMEMORY where the array exceeds the size of
    /// a frame.
    fn room(&self, at: u32, outer: &[i64]) -> Result<usize> {
        let none = || Error::new(code::E_INVALIDARG, "an array's size is invalid");
        let (_, size, element) = self.elements(at).ok_or_else(none)?;
        let count = size.evaluate(&|_, _| None, outer).and_then(|count| usize::try_from(count).ok());
        bytes(element, count.ok_or_else(none)?, self.types)
            .ok_or_else(|| Error::new(code::E_OUTOFMEMORY, "an array exceeds the size of a frame"))
    }

    /// Returns the values of those arguments that the reply does not contain, but that expressions
    /// in the reply's layout use. The second result is false if an unsigned value is too large for
    /// the sizes and lengths of arrays, which are signed.
    ///
    /// # Safety
    ///
    /// The addresses must be those of the arguments.
    unsafe fn outer(&self, arguments: &[*mut c_void]) -> (Vec<i64>, bool) {
        let mut fit = true;
        let number = |(at, outer): (usize, &Outer)| {
            let from = arguments[outer.param].cast_const();
            match outer.half {
                Half::Whole(int) => {
                    // SAFETY: the caller promises that this is the address of the argument, which
                    // is an integer.
                    let value = unsafe { evaluate(from.cast(), &Expr::Member(0, int), &[]) };
                    // A value that is too large becomes `i64::MAX`. As a discriminant it selects
                    // the default arm, because no case is `i64::MAX`.
                    fit &= value.is_some() || !self.words.reply.counts_by(at as u32);
                    value.unwrap_or(i64::MAX)
                }
                half => {
                    // SAFETY: the caller promises that this is the address of the argument, which
                    // is an IID.
                    let iid = unsafe { from.cast::<GUID>().read_unaligned() }.to_u128();
                    let bits = if half == Half::Upper { iid >> 64 } else { iid };
                    (bits as u64).cast_signed()
                }
            }
        };
        let values = self.words.outer.iter().enumerate().map(number).collect();
        (values, fit)
    }

    /// Whether a result in the caller's memory contains a pointer.
    fn result_leads(&self, at: u32, size: u32) -> bool {
        parts_at(&self.words.reply, at, size).any(|part| leads(&part))
    }
}

/// An array or a value in the caller's memory, for results.
struct Room {
    /// The offset of the slot in the reply.
    at: u32,
    /// The address of the caller's memory, and its size in bytes.
    to: *mut u8,
    bytes: usize,
    /// Whether the address may be null.
    is_optional: bool,
}

impl Method {
    /// Calls the method of an object through its proxy.
    ///
    /// # Safety
    ///
    /// `proxy` must be an interface pointer to a proxy. `arguments` must have one address for each
    /// parameter of the method. At each address there must be an argument as the tables describe
    /// it.
    pub unsafe fn call(&'static self, proxy: *mut c_void, arguments: *const *mut c_void) -> HRESULT {
        // SAFETY: the caller promises one address for each parameter.
        let arguments = unsafe { std::slice::from_raw_parts(arguments, self.words.params.len()) };
        // SAFETY: the caller promises that the addresses are those of the arguments.
        if let Err(error) = unsafe { self.clear_results(arguments) } {
            return leave(error);
        }
        // SAFETY: the caller promises an interface pointer to a proxy.
        let proxy = unsafe { Proxy::from_raw(proxy) };
        // SAFETY: the caller promises that the addresses are those of the arguments.
        ProxyCall::make(proxy, |call| unsafe { self.exchange(call, arguments) })
    }

    /// Sets the results that contain pointers to null. By COM's rules such results stay null when
    /// the call fails.
    ///
    /// # Safety
    ///
    /// As for [`Self::call`].
    unsafe fn clear_results(&self, arguments: &[*mut c_void]) -> Result<()> {
        for (param, to) in self.words.params.iter().zip(arguments) {
            if to.is_null() {
                return Err(Error::new(code::E_POINTER, "a parameter that must not be null is null"));
            }
            if let (true, None, Some(at)) = (param.is_place, param.request, param.reply)
                && self.result_leads(at, param.size)
            {
                // SAFETY: the caller promises that the address is that of a result of this size.
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
                // SAFETY: the caller promises that the argument has this size.
                unsafe { image.put_from(at as usize, from.cast::<u8>(), param.size as usize) }?;
            }
        }
        self.check_ranges(&image)?;
        if self.words.oneway {
            // SAFETY: the image has the request's layout, and its pointers are those of the
            // arguments, which the caller promises to be valid.
            unsafe { call.send_graph_oneway(self.words.opnum, &image, request) }?;
            return Ok(code::S_OK);
        }
        // SAFETY: the caller promises that the addresses are those of the arguments.
        let (outer, fit) = unsafe { self.outer(arguments) };
        if !fit {
            return Err(Error::new(code::E_INVALIDARG, "a number exceeds the signed 64-bit integers"));
        }
        // SAFETY: the caller promises that the addresses are those of the arguments.
        let rooms = unsafe { self.rooms(arguments, &outer) }?;
        // SAFETY: the image has the request's layout, and its pointers are those of the arguments,
        // which the caller promises to be valid.
        let answer = unsafe { call.send_graph(self.words.opnum, &image, request) }?;
        if answer.failed() {
            // The method left no error text. The text of an earlier call must not be taken for the
            // text of this call.
            forget();
            return Ok(answer.result());
        }
        let mut results = answer.graph(reply, &outer)?;
        let result = answer.result();
        // The caller may pass null for an array without elements.
        for room in rooms.iter().filter(|room| room.is_optional || room.bytes > 0) {
            results.verify_presence(room.at as usize, room.to)?;
        }
        // SAFETY: by COM's rules the caller gives up its [in, out] arguments, which the results
        // replace.
        unsafe { self.free_given(&image) };
        for (param, to) in self.words.params.iter().zip(arguments).filter(|(param, _)| param.is_place) {
            if let Some(at) = param.reply {
                // SAFETY: the caller promises that the address is that of a result of this size.
                unsafe { results.give(at as usize, to.cast::<u8>(), param.size as usize) }?;
            }
        }
        for room in &rooms {
            // SAFETY: the caller promises an array of this size, and the check of the reply has
            // verified the number of elements.
            unsafe { results.fill::<u8>(room.at as usize, room.to, room.bytes) };
        }
        results.keep();
        Ok(result)
    }

    /// Verifies the ranges of parameters, which the server would verify as well.
    fn check_ranges(&self, image: &Image) -> Result<()> {
        for part in self.words.request.shape.parts {
            if let What::Range(int, least, most) = part.what {
                // SAFETY: the block contains an integer at this offset.
                let value = unsafe { evaluate(image.base(), &Expr::Member(part.at, int), &[]) };
                given_in_range(value.unwrap_or(i64::MAX), least, most)?;
            }
        }
        Ok(())
    }

    /// Returns the caller's memory for results, apart from the results in the block.
    ///
    /// # Safety
    ///
    /// As for [`Self::call`].
    unsafe fn rooms(&'static self, arguments: &[*mut c_void], outer: &[i64]) -> Result<Vec<Room>> {
        let mut rooms = Vec::new();
        for (param, from) in self.words.params.iter().zip(arguments).filter(|(param, _)| !param.is_place) {
            let Some(at) = param.reply else { continue };
            // SAFETY: the caller promises that the address is that of the parameter, which is a
            // pointer.
            let to = unsafe { from.cast::<*mut u8>().read() };
            let is_optional = self.elements(at).is_some_and(|(class, ..)| class != Class::Ref);
            // The size of an array that the caller does not pass may be invalid.
            let bytes = if to.is_null() && is_optional { 0 } else { self.room(at, outer)? };
            if to.is_null() && bytes > 0 && param.request.is_none() {
                return Err(Error::new(code::E_POINTER, "a parameter that must not be null is null"));
            }
            rooms.push(Room { at, to, bytes, is_optional });
        }
        Ok(rooms)
    }

    /// Frees the [in, out] arguments. Arrays in the caller's own memory are not freed, but
    /// everything that their elements reach is freed.
    ///
    /// # Safety
    ///
    /// The caller must own everything that is freed, and must not use it again.
    unsafe fn free_given(&'static self, image: &Image) {
        if !self.changes {
            return;
        }
        let root = Root { shape: &self.given.shape, ..image.root(self.layout(&self.given)) };
        // SAFETY: the image has the layout of the arguments, whose pointers have valid targets.
        let survey = unsafe { Survey::to_free(root, self.types, &[]) };
        let is_room = |at: usize| {
            let mut rooms = self.words.params.iter().filter(|param| !param.is_place && param.reply.is_some());
            rooms.any(|param| param.request.is_some_and(|room| room as usize == at))
        };
        let of_root = survey.slots.iter().filter(|(place, _)| place.holder.is_none() && is_room(place.at));
        let spared: Vec<usize> = of_root.map(|(_, object)| *object).collect();
        let images = image.images(self.layout(&self.given), &survey);
        // SAFETY: the caller promises to own everything that is freed.
        unsafe { survey.free_but(&images, |object| spared.contains(&object)) };
    }
}

impl Method {
    /// Serves a call: checks the request, calls the method, and answers.
    ///
    /// # Safety
    ///
    /// `object` must be an object that `invoke` accepts.
    pub unsafe fn serve(&'static self, object: *mut c_void, call: &mut ServerCall<'_>, invoke: Invoke) -> Answer {
        // SAFETY: the caller promises an object that `invoke` accepts.
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
            // SAFETY: the compiler has generated the tables, so the layouts are those of the
            // method's request.
            unsafe { call.arguments_to_change(request, self.layout(&self.kept)) }?
        } else {
            // SAFETY: the compiler has generated the tables, so the layout is that of the method's
            // request.
            unsafe { call.arguments(request) }?
        };
        // From here on, the image frees the arguments that may change. It receives copies of their
        // pointers.
        arguments.release();
        let mut image = Image::new(reply);
        let mut addresses = Vec::with_capacity(self.words.params.len());
        for param in self.words.params {
            let given = param.request.map(|at| arguments.place::<u8>(at as usize));
            let place = param.reply.map(|at| image.place::<u8>(at as usize));
            if let (Some(given), Some(place)) = (given, place) {
                // SAFETY: both blocks have `param.size` bytes for the parameter.
                unsafe { place.copy_from_nonoverlapping(given, param.size as usize) };
            }
            addresses.push(place.or(given).unwrap_or(std::ptr::null_mut()).cast());
        }
        // SAFETY: the addresses are those of checked arguments.
        let (outer, fit) = unsafe { self.outer(&addresses) };
        let prepared =
            if fit { self.make_rooms(&mut image, &outer, call.reply_max()) } else { Err(Status::BAD_STUB_DATA) };
        if let Err(status) = prepared {
            // SAFETY: the method has not been called, so the arguments are still owned here.
            unsafe { image.free(reply, &outer) };
            return Err(status);
        }
        // SAFETY: the caller promises an object that `invoke` accepts, and the arguments have been
        // checked.
        let result = unsafe { invoke(object, addresses.as_mut_ptr()) };
        if self.words.oneway {
            return Ok(no_results(result));
        }
        // SAFETY: by COM's rules the results are as the interface describes them, and owned by the
        // caller.
        unsafe { call.respond_graph(result, &image, reply, &outer) }
    }

    /// Allocates the arrays that the method fills.
    fn make_rooms(&self, image: &mut Image, outer: &[i64], most: usize) -> std::result::Result<(), Status> {
        for param in self.words.params.iter().filter(|param| !param.is_place && param.request.is_none()) {
            let Some(at) = param.reply else { continue };
            let bytes = self.room(at, outer).map_err(|error| match error.code() {
                code::E_OUTOFMEMORY => Status::REMOTE_NO_MEMORY,
                _ => Status::BAD_STUB_DATA,
            })?;
            image.room::<u8>(at as usize, bytes, most)?;
        }
        Ok(())
    }
}
