//! From frames to stub data and back, in the transfer syntax of a presentation context.
//!
//! In FLAT stub data is the frame. Before a request's frame stands the call's context, where there is one; behind a response's frame stands what the
//! method returned. The standard's transfer syntaxes are translated, by the plan of the interface; calls of objects have headers there. What is
//! written by hand goes as it is.

use super::{CallHeaders, Form, Interface};
use crate::octets::ByteOrder;
use crate::status::Status;
use crate::uuid::{FLAT, NDR, NDR64, SyntaxId};
use crate::vi_call::Words;
use obvia_ndr::ndr::{Format, Method, Numbers, Order, Plan, Syntax};

/// Bytes behind the frame of a response in FLAT: what the method returned.
const STATUS: usize = 4;

/// How calls of an interface are laid out in a presentation context.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Translation {
    /// With what says the contexts of calls, if the interface is one of objects.
    Flat(Option<&'static dyn CallHeaders>),
    /// With what stands before arguments and results, if the interface is one of objects.
    Ndr(Syntax, &'static Plan, Option<&'static dyn CallHeaders>),
    Octets,
}

/// Bytes before a call's context in FLAT: how many it has, and four zeros.
const CONTEXT: usize = 8;

/// The bit of an opnum in units that says that the request has a context, in FLAT.
const HAS_CONTEXT: u16 = 1 << 15;

/// Bytes in a frame before octets: how many there are, and their byte order.
const OCTETS: usize = 8;

/// Has a frame be these octets.
pub fn put_octets(order: ByteOrder, octets: &[u8], frame: &mut Vec<u8>) {
    frame.clear();
    let is_big = u8::from(order == ByteOrder::Big);
    frame.extend((octets.len() as u32).to_le_bytes());
    frame.extend([is_big, 0, 0, 0]);
    frame.extend(octets);
    frame.resize(frame.len().next_multiple_of(8), 0);
}

/// The octets that a frame has, and the byte order of what is in them. `None` for a frame that has none.
pub fn octets(frame: &[u8]) -> Option<(ByteOrder, &[u8])> {
    let (&[a, b, c, d, is_big, ..], rest) = frame.split_first_chunk::<OCTETS>()?;
    let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).ok()?;
    let order = if is_big == 0 { ByteOrder::Little } else { ByteOrder::Big };
    Some((order, rest.get(..length)?))
}

/// The slot in the vtable of opnum 0, where the interface is one of functions: behind IUnknown's methods.
const FIRST_FUNCTION: u16 = 3;

/// What the response to a request depends on.
#[derive(Debug, Default)]
pub(crate) struct Request {
    /// The method's number in the vtable.
    opnum: u16,
    numbers: Numbers,
    /// Of one in FLAT.
    pub(crate) has_context: bool,
}

fn order(order: ByteOrder) -> Order {
    match order {
        ByteOrder::Little => Order::Little,
        ByteOrder::Big => Order::Big,
    }
}

impl Translation {
    /// How calls of an interface are laid out in a transfer syntax. `None` where there is no way.
    pub(crate) fn new(transfer: SyntaxId, interface: Interface) -> Option<Self> {
        match (interface.form, transfer) {
            (Form::Frames | Form::Planned(_), FLAT) => Some(Self::Flat(interface.objects)),
            (Form::Planned(plan), NDR) => Some(Self::Ndr(Syntax::Ndr, plan, interface.objects)),
            (Form::Planned(plan), NDR64) => Some(Self::Ndr(Syntax::Ndr64, plan, interface.objects)),
            (Form::Octets, NDR) => Some(Self::Octets),
            _ => None,
        }
    }

    /// How they are where units have no contexts: in NDR 2.0, but for what has nothing but frames.
    pub(crate) fn without_context(interface: Interface) -> Option<Self> {
        let transfer = if matches!(interface.form, Form::Frames) { FLAT } else { NDR };
        Self::new(transfer, interface)
    }

    /// The slot in the vtable of opnum 0.
    fn first_slot(&self) -> u16 {
        if let Self::Ndr(_, _, None) = self { FIRST_FUNCTION } else { 0 }
    }

    /// Whether performing a method twice does no harm, as far as the interface says.
    pub(crate) fn is_idempotent(&self, opnum: u16) -> bool {
        matches!(self, Self::Ndr(_, plan, _) if plan.method(opnum).is_some_and(Method::is_idempotent))
    }

    /// The request that was decoded last waits for no response.
    pub(crate) fn forget(&self) {
        if let Self::Flat(Some(headers)) | Self::Ndr(.., Some(headers)) = self {
            headers.forget();
        }
    }

    /// The call of this request has ended, on the thread that performed it.
    pub(crate) fn end(&self, request: &Request) {
        match self {
            Self::Flat(Some(headers)) if request.has_context => headers.end(),
            Self::Ndr(.., Some(headers)) => headers.end(),
            _ => {}
        }
    }

    /// The opnum of a request in units without the bit for a context, and whether the request has a context.
    pub(crate) fn split_opnum(&self, opnum: u16) -> (u16, bool) {
        match self {
            Self::Flat(_) => (opnum & !HAS_CONTEXT, opnum & HAS_CONTEXT != 0),
            _ => (opnum, false),
        }
    }

    /// Takes up the context of a request, and returns what is behind it in the stub data.
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

    /// The vtable's number of a method, of that in units.
    pub(crate) fn opnum_from_wire(&self, opnum: u16) -> Result<u16, Status> {
        opnum.checked_add(self.first_slot()).ok_or(Status::OP_RNG_ERROR)
    }

    /// The number in units of a request's method.
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

    /// The stub data of a request, in `scratch` where it is not the frame.
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

    /// The frame of a request, in `scratch` where it is not the stub data.
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

    /// The stub data of a response, in `scratch`.
    ///
    /// Of a method that failed the frame has words, or there is none. What cannot be said in results is said by a fault.
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

    /// What the method returned, and the frame of a response, in `scratch` where it is not the stub data. Where the method failed, the frame has words
    /// or is empty.
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
