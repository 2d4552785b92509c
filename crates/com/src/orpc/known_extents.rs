//! The known extents: COM's error information, and two extents of obvia's own, for the remaining
//! time of a call and for its trace.

use super::com_guid;
use super::extents::{Extent, Extents};
use super::objref::ObjRef;
use super::stub_data::{self, Decoder, Encoder, Malformed};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use windows_core::GUID;

/// The time that the caller still waits, in microseconds, as 64 bits, little endian. A point in
/// time would be meaningless on another host, whose clock differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLeft(pub Duration);

impl TimeLeft {
    /// The GUID of the extent's format.
    pub const ID: GUID = GUID::from_u128(0x5d2b_9e57_63c1_4f0a_9c55_1b0e_7f3a_2d41);

    /// Encodes the extent. A time that exceeds 64 bits becomes the greatest value of 64 bits.
    pub fn to_extent(self) -> Extent {
        let microseconds = u64::try_from(self.0.as_micros()).unwrap_or(u64::MAX);
        Extent { id: Self::ID, data: microseconds.to_le_bytes().to_vec() }
    }

    /// Returns this extent of a call, if the call has one. A longer extent comes from a later
    /// version, and begins with the same fields.
    ///
    /// # Errors
    ///
    /// If the extent is too short.
    pub fn find(extents: &Extents) -> Result<Option<Self>, Malformed> {
        let Some(data) = extents.find(&Self::ID) else { return Ok(None) };
        let microseconds = Decoder::packed(data).u64("the remaining time")?;
        Ok(Some(Self(Duration::from_micros(microseconds))))
    }
}

/// The trace of a call, as in W3C Trace Context. The extent contains the version 0, the flags, the
/// trace and the parent (both big endian), then the state as ASCII text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// The number of the trace; never 0.
    pub trace: u128,
    /// The number of the part of the trace from which the call comes; never 0.
    pub parent: u64,
    /// Bit 0: the trace is recorded.
    pub flags: u8,
    /// The state that tracing systems add, as in the header `tracestate`: printable ASCII.
    pub state: String,
}

impl TraceContext {
    /// The GUID of the extent's format.
    pub const ID: GUID = GUID::from_u128(0xa17c_44e0_0b8d_4e6f_8a31_d5c9_26f0_7be3);
    /// The greatest length of the state in bytes. W3C requires support for at least this length.
    pub(crate) const STATE_MAX: usize = 512;

    /// Makes a trace context; `None` where one of the numbers is 0. An invalid state is left out.
    pub(crate) fn new(trace: u128, parent: u64, flags: u8, state: &[u8]) -> Option<Self> {
        let state = std::str::from_utf8(state).ok().filter(|state| Self::is_state(state)).unwrap_or_default();
        (trace != 0 && parent != 0).then(|| Self { trace, parent, flags, state: state.to_owned() })
    }

    /// Returns the context without an invalid state; `None` where one of the numbers is 0.
    pub(crate) fn checked(self) -> Option<Self> {
        Self::new(self.trace, self.parent, self.flags, self.state.as_bytes())
    }

    /// Encodes the extent.
    pub fn to_extent(&self) -> Extent {
        let mut data = vec![0, self.flags];
        data.extend(self.trace.to_be_bytes());
        data.extend(self.parent.to_be_bytes());
        data.extend(self.state.as_bytes());
        Extent { id: Self::ID, data }
    }

    /// Returns this extent of a call, if the call has a valid one. Another version is ignored, and
    /// an invalid state is left out: tracing is no reason to refuse a call (Trace Context 3.2.2,
    /// 3.3).
    pub fn find(extents: &Extents) -> Option<Self> {
        let ([0, flags], data) = extents.find(&Self::ID)?.split_first_chunk()? else { return None };
        let (trace, data) = data.split_first_chunk()?;
        let (parent, state) = data.split_first_chunk()?;
        Self::new(u128::from_be_bytes(*trace), u64::from_be_bytes(*parent), *flags, state)
    }

    fn is_state(state: &str) -> bool {
        state.len() <= Self::STATE_MAX && state.bytes().all(|byte| (b' '..=b'~').contains(&byte))
    }
}

/// Formats the header `traceparent`, without the state.
impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace, self.parent, self.flags)
    }
}

/// The error for a text that is no header `traceparent` of version 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadTraceParent;

impl fmt::Display for BadTraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the text is not a traceparent of version 00")
    }
}

impl std::error::Error for BadTraceParent {}

impl FromStr for TraceContext {
    type Err = BadTraceParent;

    fn from_str(text: &str) -> Result<Self, BadTraceParent> {
        // The text must equal its own canonical form: lower-case digits, as many as the format has.
        let mut parts = text.split('-').skip(1).map(|part| u128::from_str_radix(part, 16).unwrap_or_default());
        let mut part = || parts.next().unwrap_or_default();
        let (trace, parent, flags) = (part(), part() as u64, part() as u8);
        let context = Self { trace, parent, flags, state: String::new() };
        if trace != 0 && parent != 0 && context.to_string() == text { Ok(context) } else { Err(BadTraceParent) }
    }
}

/// COM's error information (MS-DCOM 2.2.21.1 to 2.2.21.3): the reason why a method failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorInfo {
    /// The interface whose method failed.
    pub iid: GUID,
    /// The source of the error.
    pub source: Option<String>,
    /// The description of the error.
    pub description: Option<String>,
    /// The name of the help file.
    pub help_file: Option<String>,
    /// The context number in the help file.
    pub help_context: u32,
}

impl ErrorInfo {
    /// The GUID of the extent's format: CLSID_ERROR_EXTENSION.
    pub const ID: GUID = com_guid(0x31c);
    /// The class of the reference in the extent: CLSID_ErrorObject.
    const CLSID: GUID = com_guid(0x31b);
    /// The interface of the reference in the extent: IErrorInfo.
    const IID: GUID = GUID::from_u128(0x1cf2_b120_547d_101b_8e65_0800_2b2b_d119);
    /// The greatest length of a text in words of 16 bits; longer texts are truncated.
    const TEXT_MAX: usize = 4096;

    /// Encodes the extent: a custom reference.
    ///
    /// # Errors
    ///
    /// No error in practice: only texts that are too long cannot be encoded, and texts are
    /// truncated before.
    pub fn to_extent(&self) -> Result<Extent, Malformed> {
        let data = Encoder::pack(|to| {
            to.u32(0);
            to.u32(self.help_context);
            to.guid(&self.iid);
            for text in [&self.source, &self.description, &self.help_file] {
                put_text(to, text.as_deref());
            }
        })?;
        let reference = ObjRef::Custom { iid: Self::IID, clsid: Self::CLSID, data };
        Ok(Extent { id: Self::ID, data: reference.to_bytes()? })
    }

    /// Returns this extent of an answer, if the answer has one. A reference to an error object of
    /// another class is ignored.
    ///
    /// # Errors
    ///
    /// If the extent is malformed.
    pub fn find(extents: &Extents) -> Result<Option<Self>, Malformed> {
        let Some(data) = extents.find(&Self::ID) else { return Ok(None) };
        let ObjRef::Custom { clsid: Self::CLSID, data, .. } = ObjRef::from_bytes(data)? else { return Ok(None) };
        let from = &mut Decoder::packed(&data);
        from.expect(0, "dwVersion")?;
        let (help_context, iid) = (from.u32("dwHelpContext")?, from.guid("ErrorInfo.iid")?);
        let (source, description) = (take_text(from, "Source")?, take_text(from, "Description")?);
        let help_file = take_text(from, "HelpFile")?;
        Ok(Some(Self { iid, source, description, help_file, help_context }))
    }
}

/// The marker before a text that is present.
const PRESENT: u32 = 0xffff_ffff;

fn put_text(to: &mut Encoder<'_>, text: Option<&str>) {
    let Some(text) = text else { return to.u32(0) };
    let mut words: Vec<u16> = text.encode_utf16().take_while(|&word| word != 0).take(ErrorInfo::TEXT_MAX).collect();
    // A truncated text must not end in the first half of a surrogate pair.
    if words.last().is_some_and(|last| (0xd800..0xdc00).contains(last)) {
        words.pop();
    }
    // One or two zeros at the end make the number of words even. The next field is then aligned, so
    // decoders find it whether or not they skip padding.
    words.resize((words.len() + 1).next_multiple_of(2), 0);
    to.u32(PRESENT);
    to.u32(words.len() as u32);
    to.u32(0);
    to.u32(words.len() as u32);
    words.iter().for_each(|&word| to.u16(word));
}

fn take_text(from: &mut Decoder<'_>, what: &'static str) -> Result<Option<String>, Malformed> {
    match from.u32(what)? {
        0 => return Ok(None),
        PRESENT => {}
        other => return Err(from.wrong(what, other)),
    }
    let max = from.count(ErrorInfo::TEXT_MAX + 2, what)?;
    from.expect(0, what)?;
    let count = from.count(max, what)?;
    let words = from.elements(count, 2, what, |from| from.u16(what))?;
    stub_data::text(&words, what).map(Some)
}
