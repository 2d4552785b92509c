//! Translation of frames to stub data and back, in the transfer syntax of a presentation context.
//!
//! In FLAT, stub data is the frame. If the call has a context, it precedes the request's frame. The
//! method's return value follows the response's frame. In the standard's transfer syntaxes the
//! interface's plan translates the frame, and object calls have ORPC headers. Stub data that is
//! marshalled by hand is passed on unchanged.

use super::{CallHeaders, Form, Interface};
use crate::octets::ByteOrder;
use crate::status::Status;
use crate::uuid::{FLAT, NDR, NDR64, SyntaxId};
use crate::vi_call::Words;
use obvia_ndr::ndr::{Format, Method, Numbers, Order, Plan, Syntax};

/// The length of the return value that follows a response's frame in FLAT, in bytes.
const STATUS: usize = 4;

/// The marshalling of an interface's calls in a presentation context.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Translation {
    /// FLAT. Requests may have a context if the interface is an interface of objects.
    Flat(Option<&'static dyn CallHeaders>),
    /// NDR or NDR64. Calls have ORPC headers if the interface is an interface of objects.
    Ndr(Syntax, &'static Plan, Option<&'static dyn CallHeaders>),
    Octets,
}

/// The length of the header before a call's context in FLAT, in bytes: the context's length and
/// four zeros.
const CONTEXT: usize = 8;

/// The bit of an opnum in FLAT units that marks a request with a context.
const HAS_CONTEXT: u16 = 1 << 15;

/// The length of the header before octets in a frame, in bytes: the number of the octets and their
/// byte order.
const OCTETS: usize = 8;

/// Replaces a frame by a frame that contains octets.
pub fn put_octets(order: ByteOrder, octets: &[u8], frame: &mut Vec<u8>) {
    frame.clear();
    let is_big = u8::from(order == ByteOrder::Big);
    frame.extend((octets.len() as u32).to_le_bytes());
    frame.extend([is_big, 0, 0, 0]);
    frame.extend(octets);
    frame.resize(frame.len().next_multiple_of(8), 0);
}

/// Returns the octets in a frame, and the byte order of the data in them. `None` for a malformed
/// frame.
pub fn octets(frame: &[u8]) -> Option<(ByteOrder, &[u8])> {
    let (&[a, b, c, d, is_big, ..], rest) = frame.split_first_chunk::<OCTETS>()?;
    let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).ok()?;
    let order = if is_big == 0 { ByteOrder::Little } else { ByteOrder::Big };
    Some((order, rest.get(..length)?))
}

/// The vtable slot of opnum 0 in an interface of functions. IUnknown's three methods have the slots
/// before it.
const FIRST_FUNCTION: u16 = 3;

/// The properties of a request on which the response depends.
#[derive(Debug, Default)]
pub(crate) struct Request {
    /// The method's vtable slot.
    opnum: u16,
    numbers: Numbers,
    /// Whether the stub data of the request, in FLAT, begins with a context.
    pub(crate) has_context: bool,
}

fn order(order: ByteOrder) -> Order {
    match order {
        ByteOrder::Little => Order::Little,
        ByteOrder::Big => Order::Big,
    }
}

impl Translation {
    /// Creates the translation for an interface and a transfer syntax, or `None` if the interface
    /// does not support the syntax.
    pub(crate) fn new(transfer: SyntaxId, interface: Interface) -> Option<Self> {
        match (interface.form, transfer) {
            (Form::Frames | Form::Planned(_), FLAT) => Some(Self::Flat(interface.objects)),
            (Form::Planned(plan), NDR) => Some(Self::Ndr(Syntax::Ndr, plan, interface.objects)),
            (Form::Planned(plan), NDR64) => Some(Self::Ndr(Syntax::Ndr64, plan, interface.objects)),
            (Form::Octets, NDR) => Some(Self::Octets),
            _ => None,
        }
    }

    /// Creates the translation for units without contexts: NDR 2.0, or FLAT for an interface that
    /// supports no other syntax.
    pub(crate) fn without_context(interface: Interface) -> Option<Self> {
        let transfer = if matches!(interface.form, Form::Frames) { FLAT } else { NDR };
        Self::new(transfer, interface)
    }

    /// Returns the vtable slot of opnum 0.
    fn first_slot(&self) -> u16 {
        if let Self::Ndr(_, _, None) = self { FIRST_FUNCTION } else { 0 }
    }

    /// Whether the interface's plan declares the method with a number idempotent. Returns false if
    /// the interface has no plan.
    pub(crate) fn is_idempotent(&self, opnum: u16) -> bool {
        matches!(self, Self::Ndr(_, plan, _) if plan.method(opnum).is_some_and(Method::is_idempotent))
    }

    /// Notes that the request decoded last has no response.
    pub(crate) fn forget(&self) {
        if let Self::Flat(Some(headers)) | Self::Ndr(.., Some(headers)) = self {
            headers.forget();
        }
    }

    /// Notes that the call of this request has ended. The thread that executed the call has to call
    /// this function.
    pub(crate) fn end(&self, request: &Request) {
        match self {
            Self::Flat(Some(headers)) if request.has_context => headers.end(),
            Self::Ndr(.., Some(headers)) => headers.end(),
            _ => {}
        }
    }

    /// Splits the opnum field of a unit. Returns the method's opnum, and whether the request has a
    /// context.
    pub(crate) fn split_opnum(&self, opnum: u16) -> (u16, bool) {
        match self {
            Self::Flat(_) => (opnum & !HAS_CONTEXT, opnum & HAS_CONTEXT != 0),
            _ => (opnum, false),
        }
    }

    /// Reads the context of a request, and returns the stub data after it.
    pub(crate) fn take_context<'a>(&self, stub: &'a [u8]) -> Result<&'a [u8], Status> {
        let Self::Flat(Some(headers)) = self else { return Err(Status::OP_RNG_ERROR) };
        let split = stub.split_first_chunk::<CONTEXT>().and_then(|(&[a, b, c, d, ..], rest)| {
            rest.split_at_checked(usize::try_from(u32::from_le_bytes([a, b, c, d])).ok()?)
        });
        let (context, frame) =
            split.filter(|(context, _)| context.len().is_multiple_of(8)).ok_or(Status::BAD_STUB_DATA)?;
        headers.read_context(context)?;
        Ok(frame)
    }

    /// Converts an opnum of a unit to a vtable slot.
    pub(crate) fn opnum_from_wire(&self, opnum: u16) -> Result<u16, Status> {
        opnum.checked_add(self.first_slot()).ok_or(Status::OP_RNG_ERROR)
    }

    /// Returns the value of a unit's opnum field for a request.
    pub(crate) fn opnum_to_wire(&self, request: &Request) -> Result<u16, Status> {
        let opnum = request.opnum.checked_sub(self.first_slot()).ok_or(Status::OP_RNG_ERROR)?;
        match self.split_opnum(opnum) {
            (_, true) => Err(Status::OP_RNG_ERROR),
            (_, false) if request.has_context => Ok(opnum | HAS_CONTEXT),
            (_, false) => Ok(opnum),
        }
    }

    fn method(plan: &'static Plan, opnum: u16) -> Result<&'static Method, Status> {
        plan.method(opnum).ok_or(Status::OP_RNG_ERROR)
    }

    /// Encodes a request as stub data. The result is in `scratch`, or is the frame itself.
    pub(crate) fn encode_request<'a>(
        &self,
        opnum: u16,
        frame: &'a [u8],
        scratch: &'a mut Vec<u8>,
    ) -> Result<(Request, &'a [u8]), Status> {
        let whole = |stub| Ok((Request { opnum, ..Request::default() }, stub));
        let (syntax, plan, headers) = match *self {
            Self::Flat(headers) => {
                let context = headers.map_or(0, CallHeaders::context_length);
                let Some(headers) = headers.filter(|_| context != 0) else { return whole(frame) };
                scratch.clear();
                scratch.extend((context as u64).to_le_bytes());
                scratch.resize(CONTEXT + context, 0);
                headers.write_context(&mut scratch[CONTEXT..]);
                scratch.extend_from_slice(frame);
                return Ok((Request { opnum, has_context: true, ..Request::default() }, scratch));
            }
            Self::Octets => return whole(octets(frame).ok_or(Status::BAD_STUB_DATA)?.1),
            Self::Ndr(syntax, plan, headers) => (syntax, plan, headers),
        };
        let method = Self::method(plan, opnum)?;
        scratch.clear();
        if let Some(headers) = headers {
            headers.write_request(scratch);
        }
        let encoded = method.encode_request(plan, Format::ours(syntax).behind(scratch.len()), frame, scratch);
        let numbers = encoded.and_then(|()| method.numbers(frame)).map_err(|_| Status::BAD_STUB_DATA)?;
        Ok((Request { opnum, numbers, has_context: false }, scratch))
    }

    /// Decodes a request into a frame. The result is in `scratch`, or is the stub data itself.
    pub(crate) fn decode_request<'a>(
        &self,
        opnum: u16,
        from: ByteOrder,
        stub: &'a [u8],
        frame_max: usize,
        scratch: &'a mut Vec<u8>,
    ) -> Result<(Request, &'a [u8]), Status> {
        let request = Request { opnum, ..Request::default() };
        let (syntax, plan, headers) = match *self {
            Self::Flat(_) => return Ok((request, stub)),
            Self::Octets => {
                put_octets(from, stub, scratch);
                return if scratch.len() <= frame_max { Ok((request, scratch)) } else { Err(Status::BAD_STUB_DATA) };
            }
            Self::Ndr(syntax, plan, headers) => (syntax, plan, headers),
        };
        let method = Self::method(plan, opnum)?;
        let headers = headers.map_or(Ok(0), |headers| headers.read_request(from, stub))?;
        let format = Format { syntax, order: order(from), headers };
        let decoded = method.decode_request(plan, format, stub, frame_max, scratch);
        match decoded.and_then(|()| method.numbers(scratch)) {
            Ok(numbers) => Ok((Request { numbers, ..request }, scratch)),
            Err(_) => {
                self.end(&request);
                Err(Status::BAD_STUB_DATA)
            }
        }
    }

    /// Encodes a response as stub data in `scratch`.
    ///
    /// The frame of a failed method holds its error information or is empty. If a response cannot
    /// express the outcome, fails with the status of the fault that expresses it.
    pub(crate) fn encode_response(
        &self,
        request: &Request,
        status: u32,
        frame: &[u8],
        scratch: &mut Vec<u8>,
    ) -> Result<(), Status> {
        scratch.clear();
        let has_failed = status.cast_signed() < 0;
        let (syntax, plan, headers) = match *self {
            Self::Flat(_) => {
                self.end(request);
                scratch.extend_from_slice(frame);
                scratch.extend_from_slice(&status.to_le_bytes());
                return Ok(());
            }
            Self::Octets => {
                let (_, octets) = octets(frame).filter(|_| !has_failed).ok_or(Status(status))?;
                scratch.extend_from_slice(octets);
                return Ok(());
            }
            Self::Ndr(syntax, plan, headers) => (syntax, plan, headers),
        };
        let (frame, words) = if has_failed { (&[][..], Words::from_frame(frame)) } else { (frame, None) };
        match headers {
            Some(headers) => headers.write_response(status, words, scratch),
            None if has_failed => return Err(Status(status)),
            None => {}
        }
        let method = Self::method(plan, request.opnum)?;
        let format = Format::ours(syntax).behind(scratch.len());
        let encoded = method.encode_response(plan, format, &request.numbers, status, frame, scratch);
        encoded.map_err(|_| if has_failed { Status(status) } else { Status::BAD_STUB_DATA })
    }

    /// Decodes a response. Returns the method's return value and the frame. The frame is in
    /// `scratch`, unless it is part of the stub data. The frame of a failed method holds error
    /// information or is empty.
    pub(crate) fn decode_response<'a>(
        &self,
        request: &Request,
        from: ByteOrder,
        stub: &'a [u8],
        frame_max: usize,
        scratch: &'a mut Vec<u8>,
    ) -> Result<(u32, &'a [u8]), Status> {
        let (syntax, plan, headers) = match *self {
            Self::Flat(_) => {
                let (frame, status) = stub.split_last_chunk::<STATUS>().ok_or(Status::BAD_STUB_DATA)?;
                return Ok((u32::from_le_bytes(*status), frame));
            }
            Self::Octets => {
                put_octets(from, stub, scratch);
                return if scratch.len() <= frame_max { Ok((0, scratch)) } else { Err(Status::BAD_STUB_DATA) };
            }
            Self::Ndr(syntax, plan, headers) => (syntax, plan, headers),
        };
        let method = Self::method(plan, request.opnum)?;
        let (headers, words) = headers.map_or(Ok((0, None)), |headers| headers.read_response(from, stub))?;
        let format = Format { syntax, order: order(from), headers };
        let decoded = method.decode_response(plan, format, &request.numbers, stub, frame_max, scratch);
        let status = decoded.map_err(|_| Status::BAD_STUB_DATA)?;
        if status.cast_signed() < 0
            && let Some(frame) = words.filter(|words| !words.is_empty()).map(|words| words.to_frame())
            && frame.len() <= frame_max
        {
            *scratch = frame;
        }
        Ok((status, scratch))
    }
}
