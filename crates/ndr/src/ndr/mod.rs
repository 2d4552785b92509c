//! NDR: the standard's transfer syntaxes, as translations of FLAT.
//!
//! Proxies and stubs of every language use FLAT frames. For a peer that speaks NDR 2.0 (C706
//! chapter 14) or NDR64 (MS-RPCE 2.2.5), the frames are translated. A [`Plan`], which the
//! compiler makes for each interface, describes the translation:
//!
//! ```text
//! client   Method::encode_request   -> stub data ->  Method::decode_request   server
//!          Method::decode_response  <- stub data <-  Method::encode_response
//! ```
//!
//! Both sides keep [`Method::numbers`] of the request's frame: the sizes of results can depend on
//! the request.
//!
//! Frames to encode come from this process. Stub data to decode is untrusted, and may have either
//! byte order. Before memory is allocated, counts are compared with each other and with the length
//! of the remaining stub data. The resulting frame has the form that a FLAT writer would have
//! produced, and the stub or proxy checks it like any other frame. See `docs/ndr.md`.

mod decode;
mod encode;
mod order;
mod plan;
mod wire;
mod words;

pub use plan::{Method, Plan};

use crate::flat::shape::{Expr, Int};
use decode::Decoder;
use encode::Encoder;
use std::fmt;

/// A transfer syntax of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// NDR 2.0: C706 chapter 14.
    Ndr,
    /// NDR64: MS-RPCE 2.2.5.
    Ndr64,
}

impl Syntax {
    /// Returns the UUID.
    pub const fn uuid(self) -> u128 {
        match self {
            Self::Ndr => 0x8a88_5d04_1ceb_11c9_9fe8_0800_2b10_4860,
            Self::Ndr64 => 0x7171_0533_beba_4937_8319_b5db_ef9c_cc36,
        }
    }

    /// Returns the major and the minor version.
    pub const fn version(self) -> (u16, u16) {
        match self {
            Self::Ndr => (2, 0),
            Self::Ndr64 => (1, 0),
        }
    }
}

/// The byte order of numbers: the integer representation in a PDU's data representation label, C706
/// 14.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// The least significant byte first. This side always writes data in this order.
    Little,
    /// The most significant byte first.
    Big,
}

/// The format of stub data: the negotiated transfer syntax, and the sender's byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// The transfer syntax.
    pub syntax: Syntax,
    /// The byte order.
    pub order: Order,
    /// The length of headers before the parameters or results, such as ORPCTHIS, in bytes.
    /// Alignment counts from the start of the headers.
    pub headers: usize,
}

impl Format {
    /// Returns the format in which this side writes a syntax.
    pub const fn ours(syntax: Syntax) -> Self {
        Self { syntax, order: Order::Little, headers: 0 }
    }

    /// Returns the format with headers of this length.
    #[must_use]
    pub const fn behind(self, headers: usize) -> Self {
        Self { headers, ..self }
    }
}

/// The values of a request that a response's sizes depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers(Vec<i64>);

impl Numbers {
    /// Returns the values in the plan's order.
    pub fn values(&self) -> &[i64] {
        &self.0
    }
}

impl FromIterator<i64> for Numbers {
    fn from_iter<T: IntoIterator<Item = i64>>(numbers: T) -> Self {
        Self(numbers.into_iter().collect())
    }
}

/// The reason why a message cannot be translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The stub data ends too early.
    Short {
        /// The offset in the stub data where more was expected.
        at: usize,
    },
    /// A count contradicts another count or the interface.
    Count {
        /// The position in the stub data up to which it had been read, at or after the end of the
        /// count.
        at: usize,
        /// The count in the stub data.
        found: u64,
    },
    /// The offset of a varying array is not 0.
    Offset {
        /// The offset in the stub data.
        at: usize,
    },
    /// A reference pointer is null.
    Null {
        /// The offset in the stub data, or in the frame.
        at: usize,
    },
    /// A union's discriminant selects no arm, or contradicts the interface.
    Arm {
        /// The offset in the stub data, or in the frame.
        at: usize,
        /// The discriminant.
        tag: i64,
    },
    /// A string does not end with a zero.
    Text {
        /// The offset in the stub data, or in the frame.
        at: usize,
    },
    /// Full pointers with the same referent have different types.
    Alias {
        /// The offset in the stub data.
        at: usize,
    },
    /// The value of an enumeration does not fit NDR's 16 bits.
    Enum {
        /// The offset in the frame.
        at: usize,
        /// The enumeration's value.
        value: i32,
    },
    /// The frame would exceed its limit, or the stub data would exceed the limit of NDR.
    TooLong {
        /// The offset in the stub data.
        at: usize,
    },
    /// The frame to be encoded does not match the interface.
    Frame {
        /// The offset in the frame.
        at: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { at } => write!(f, "at offset {at}: the stub data ends too early"),
            Self::Count { at, found } => {
                write!(f, "at offset {at}: the array has an invalid number of elements: {found}")
            }
            Self::Offset { at } => write!(f, "at offset {at}: the array does not begin with its first element"),
            Self::Null { at } => write!(f, "at offset {at}: a pointer that must not be null is null"),
            Self::Arm { at, tag } => write!(f, "at offset {at}: the union has no arm for its discriminant, {tag}"),
            Self::Text { at } => write!(f, "at offset {at}: the string does not end with a zero"),
            Self::Alias { at } => write!(f, "at offset {at}: two pointers to the same referent have different types"),
            Self::Enum { at, value } => {
                write!(f, "at offset {at}: the enumeration's value {value} does not fit into 16 bits")
            }
            Self::TooLong { at } => write!(f, "at offset {at}: the message is too long"),
            Self::Frame { at } => write!(f, "at offset {at}: the frame to be sent does not match the interface"),
        }
    }
}

impl std::error::Error for Error {}

/// The result of a translation.
pub type Result<T> = std::result::Result<T, Error>;

/// Reads the integer at an offset of a frame. `None` if the frame is too short, or the integer is
/// beyond `i64`.
fn load(frame: &[u8], at: usize, int: Int) -> Option<i64> {
    let bytes = frame.get(at..at.checked_add(int.size())?)?;
    let mut eight = [0; 8];
    eight[..bytes.len()].copy_from_slice(bytes);
    int.extend(u64::from_le_bytes(eight))
}

/// Evaluates an expression over the structure at `base` of a frame, as [`Expr::evaluate`] does.
fn evaluate(frame: &[u8], base: usize, expr: &Expr, outer: &[i64]) -> Option<i64> {
    expr.evaluate(&|at, int| load(frame, base.checked_add(at as usize)?, int), outer)
}

/// Calls a function of the coder for the syntax and the byte order.
macro_rules! coder {
    ($format:expr, $coder:ident::new($($argument:expr),*), |$it:ident| $run:expr) => {
        match ($format.syntax, $format.order) {
            (Syntax::Ndr, Order::Little) => { let mut $it = $coder::<false, false>::new($($argument),*); $run }
            (Syntax::Ndr, Order::Big) => { let mut $it = $coder::<false, true>::new($($argument),*); $run }
            (Syntax::Ndr64, Order::Little) => { let mut $it = $coder::<true, false>::new($($argument),*); $run }
            (Syntax::Ndr64, Order::Big) => { let mut $it = $coder::<true, true>::new($($argument),*); $run }
        }
    };
}

impl Method {
    /// Reads the values of a request's frame that the response's sizes depend on.
    ///
    /// # Errors
    ///
    /// [`Error::Frame`] if the frame is shorter than its block.
    pub fn numbers(&self, request: &[u8]) -> Result<Numbers> {
        let number =
            |(at, int): &(u32, Int)| load(request, *at as usize, *int).ok_or(Error::Frame { at: *at as usize });
        self.outer.iter().map(number).collect::<Result<_>>().map(Numbers)
    }

    /// Appends a request's parameters to `out`. At the call, the last `format.headers` bytes of
    /// `out` are the message's headers.
    ///
    /// # Errors
    ///
    /// [`Error`] if the frame is malformed or NDR cannot express its values. `out` is unchanged
    /// then.
    pub fn encode_request(&self, plan: &Plan, format: Format, frame: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        let outcome =
            coder!(format, Encoder::new(plan, frame, &[], out, format.headers), |it| it.message(&self.request));
        outcome.inspect_err(|_| out.truncate(start))
    }

    /// Appends a response's results to `out`, which ends with the headers as in
    /// [`Self::encode_request`]. Also appends the method's status, if the method has one. The
    /// `frame` of a failed method is empty: the results become zeros and null pointers.
    ///
    /// # Errors
    ///
    /// As for [`Self::encode_request`]. Also an error if the results of a failed method cannot be
    /// zeros: the caller then has to send a fault with the status.
    pub fn encode_response(
        &self,
        plan: &Plan,
        format: Format,
        numbers: &Numbers,
        status: u32,
        frame: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let start = out.len();
        let status =
            if self.fails_with_results && status & !CODE == DISPATCH_SUCCESS { status | FAILURE } else { status };
        let zeros;
        let frame = if frame.is_empty() && status.cast_signed() < 0 {
            zeros = vec![0; self.response.block as usize];
            &zeros
        } else {
            frame
        };
        let outcome = coder!(format, Encoder::new(plan, frame, &numbers.0, out, format.headers), |it| {
            it.message(&self.response).map(|()| {
                if self.has_status {
                    it.number(status);
                }
            })
        });
        outcome.inspect_err(|_| out.truncate(start))
    }

    /// Translates a request's stub data into a frame. `frame` is emptied first, and gets at most
    /// `frame_max` bytes.
    ///
    /// # Errors
    ///
    /// [`Error`] if the stub data is malformed, or its frame would be too long. The frame is empty
    /// then.
    pub fn decode_request(
        &self,
        plan: &Plan,
        format: Format,
        stub: &[u8],
        frame_max: usize,
        frame: &mut Vec<u8>,
    ) -> Result<()> {
        let outcome = coder!(format, Decoder::new(plan, (stub, format.headers), &[], frame, frame_max), |it| it
            .message(&self.request));
        outcome.inspect_err(|_| frame.clear())
    }

    /// Translates a response's stub data into a frame, and returns the method's status, or 0 for a
    /// method without status. The frame of a failed method is empty.
    ///
    /// # Errors
    ///
    /// As for [`Self::decode_request`].
    pub fn decode_response(
        &self,
        plan: &Plan,
        format: Format,
        numbers: &Numbers,
        stub: &[u8],
        frame_max: usize,
        frame: &mut Vec<u8>,
    ) -> Result<u32> {
        let status = if self.has_status { status(stub, format.order)? } else { 0 };
        let has_results = self.fails_with_results && status & !CODE == DISPATCH_SUCCESS | FAILURE;
        let status = if has_results { status & !FAILURE } else { status };
        if status.cast_signed() < 0 {
            frame.clear();
            return Ok(status);
        }
        let results = &stub[..stub.len() - if self.has_status { size_of::<u32>() } else { 0 }];
        let outcome =
            coder!(format, Decoder::new(plan, (results, format.headers), &numbers.0, frame, frame_max), |it| {
                it.message(&self.response)
            });
        outcome.map(|()| status).inspect_err(|_| frame.clear())
    }
}

/// The severity bit of an HRESULT.
const FAILURE: u32 = 1 << 31;
/// The code bits of an HRESULT.
const CODE: u32 = 0xffff;
/// The HRESULT of a success of FACILITY_DISPATCH, with zeros as code bits.
const DISPATCH_SUCCESS: u32 = 2 << 16;

/// Reads the HRESULT at the end of a response.
fn status(stub: &[u8], order: Order) -> Result<u32> {
    let Some(last) = stub.last_chunk() else { return Err(Error::Short { at: stub.len() }) };
    Ok(if order == Order::Big { u32::from_be_bytes(*last) } else { u32::from_le_bytes(*last) })
}
