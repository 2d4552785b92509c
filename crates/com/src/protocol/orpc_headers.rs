//! ORPCTHIS and ORPCTHAT (MS-DCOM 2.2.13) around calls of objects in the NDR transfer syntaxes: the
//! causality and the trace of a call, the time for which the caller still waits, and the error
//! information of a failed method.

use crate::orpc::{
    Body, CallContext, ComVersion, Decoder, Encoder, ErrorInfo, Extents, OrpcThat, OrpcThis, TimeLeft, TraceContext,
};
use crate::protocol::call_context;
use crate::types::deadline;
use crate::types::error;
use obvia_rpc::ByteOrder;
use obvia_rpc::co::relay::CallHeaders;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::Words;
use std::cell::Cell;
use windows_core::{GUID, HRESULT};

thread_local! {
    /// The causality of the call that this thread performs; 0 if it performs none.
    static CAUSALITY: Cell<u128> = const { Cell::new(0) };
    /// The causality of the last call that this thread has made while it performed no call itself;
    /// 0 before the first such call.
    static OWN_CAUSALITY: Cell<u128> = const { Cell::new(0) };
}

/// The headers before the arguments and results of calls.
#[derive(Debug)]
pub(crate) struct Headers;

/// The only instance of [`Headers`].
pub(crate) static HEADERS: Headers = Headers;

/// Applies the header of a request to this thread: the calls that the method makes get the
/// causality, the deadline and the trace of the request.
pub(crate) fn enter(this: &OrpcThis) -> Result<(), Status> {
    if !ComVersion::OURS.performs(this.version) {
        return Err(Status(error::code::RPC_E_VERSION_MISMATCH.0.cast_unsigned()));
    }
    CAUSALITY.set(this.causality.to_u128());
    // The calls that the method makes must end while its caller still waits.
    let left = TimeLeft::find(&this.extents)?;
    call_context::enter(left.map(|TimeLeft(left)| left), TraceContext::find(&this.extents));
    // An error that another call left on this thread must not reach this caller.
    error::forget();
    Ok(())
}

/// Ends the call that this thread performs.
pub(crate) fn leave() {
    CAUSALITY.set(0);
    call_context::leave();
}

/// Returns the causality of a call that this thread makes now: the causality of the call that the
/// thread performs, or else a new one (MS-DCOM 1.3.5).
fn causality() -> GUID {
    if CAUSALITY.get() != 0 {
        return GUID::from_u128(CAUSALITY.get());
    }
    // The thread's first causality is a random number, and each further causality is the next
    // number. Without a random number the first causality is 0.
    let next = match OWN_CAUSALITY.get() {
        0 => obvia_rpc::dg::relay::draw().map_or(0, |drawn| drawn.0),
        last => last.wrapping_add(1),
    };
    OWN_CAUSALITY.set(next);
    GUID::from_u128(next)
}

fn append(header: &impl Body, stub: &mut Vec<u8>) {
    // Encoding cannot fail, since the number of extents is limited by the caller.
    if let Ok(bytes) = Encoder::encode(ByteOrder::Little, |to| header.write(to)) {
        stub.extend_from_slice(&bytes);
    }
}

impl CallHeaders for Headers {
    fn write_request(&self, stub: &mut Vec<u8>) {
        let CallContext { left, trace } = call_context::current();
        let extents = [left.map(|left| TimeLeft(left).to_extent()), trace.as_ref().map(TraceContext::to_extent)];
        let extents = Extents(extents.into_iter().flatten().collect());
        append(&OrpcThis { extents, ..OrpcThis::new(causality()) }, stub);
    }

    fn read_request(&self, order: ByteOrder, stub: &[u8]) -> Result<usize, Status> {
        let from = &mut Decoder::new(stub, order);
        enter(&OrpcThis::read(from)?)?;
        Ok(from.at())
    }

    fn context_length(&self) -> usize {
        if call_context::is_set() { call_context::current().length() } else { 0 }
    }

    fn write_context(&self, context: &mut [u8]) {
        call_context::current().write(context);
    }

    fn read_context(&self, context: &[u8]) -> Result<(), Status> {
        let CallContext { left, trace } = CallContext::read(context).ok_or(Status::BAD_STUB_DATA)?;
        call_context::enter(left, trace);
        error::forget();
        Ok(())
    }

    fn forget(&self) {
        // The caller of a one-way call does not wait.
        deadline::limit_to(None);
    }

    fn end(&self) {
        leave();
    }

    fn write_response(&self, result: u32, words: Option<Words>, stub: &mut Vec<u8>) {
        leave();
        let mut that = OrpcThat::default();
        let result = HRESULT(result.cast_signed());
        if result.is_err() {
            that.extents = words.and_then(extents).unwrap_or_default();
        }
        append(&that, stub);
    }

    fn read_response(&self, order: ByteOrder, stub: &[u8]) -> Result<(usize, Option<Words>), Status> {
        let from = &mut Decoder::new(stub, order);
        let that = OrpcThat::read(from)?;
        // The response is also accepted if its error information cannot be decoded.
        Ok((from.at(), ErrorInfo::find(&that.extents).ok().flatten().map(words)))
    }
}

fn words(info: ErrorInfo) -> Words {
    let ErrorInfo { description, source, help_file, help_context, .. } = info;
    let [description, source, help_file] = [description, source, help_file].map(Option::unwrap_or_default);
    Words { description, source, help_file, help_context }
}

/// Encodes the texts of an error, and its help context, as COM's error information. `None` if they
/// cannot be encoded.
fn extents(words: Words) -> Option<Extents> {
    let Words { description, source, help_file, help_context } = words;
    let [description, source, help_file] =
        [description, source, help_file].map(|text| Some(text).filter(|text| !text.is_empty()));
    let info = ErrorInfo { description, source, help_file, help_context, ..ErrorInfo::default() };
    info.to_extent().ok().map(|extent| Extents(vec![extent]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::dcom::{trace, with_trace};
    use crate::types::error::code;
    use obvia_via::Deadline;
    use std::time::Duration;

    const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    /// Performs a request on another thread. Returns the time limit, the trace and the causality
    /// that the thread has during the request, and the answer.
    fn performed(stub: &[u8], result: HRESULT) -> (Duration, Option<String>, u128, Vec<u8>) {
        let perform = || {
            let length = HEADERS.read_request(ByteOrder::Little, stub).unwrap();
            assert_eq!(length, stub.len());
            let left = deadline::of_thread().start().remaining();
            let found = (left, trace().map(|trace| trace.to_string()), CAUSALITY.get());
            let description = "no such luck".to_owned();
            let words = result.is_err().then(|| Words { description, ..Words::default() });
            let mut answer = Vec::new();
            HEADERS.write_response(result.0.cast_unsigned(), words, &mut answer);
            // After the performed call, the thread's own calls no longer have its time limit and
            // its trace.
            assert!(matches!(deadline::of_thread(), Deadline::Within(deadline::DEFAULT_TIMEOUT)) && trace().is_none());
            answer.extend(result.0.to_le_bytes());
            (found.0, found.1, found.2, answer)
        };
        std::thread::scope(|scope| scope.spawn(perform).join().unwrap())
    }

    fn request() -> Vec<u8> {
        let mut stub = Vec::new();
        HEADERS.write_request(&mut stub);
        stub
    }

    #[test]
    fn requests_carry_deadline_trace_and_causality() {
        let stub = crate::with_timeout(Duration::from_secs(5), || with_trace(TRACE.parse().unwrap(), request));
        let (left, trace, causality, answer) = performed(&stub, code::S_OK);
        assert!(left <= Duration::from_secs(5) && left > Duration::from_secs(3), "{left:?}");
        assert_eq!((trace.as_deref(), causality), (Some(TRACE), OWN_CAUSALITY.get()));
        assert_eq!(HEADERS.read_response(ByteOrder::Little, &answer), Ok((answer.len() - 4, None)));
        let unsaid = request();
        assert!(
            unsaid.len() < stub.len()
                && OrpcThis::read(&mut Decoder::new(&unsaid, ByteOrder::Little)).unwrap().extents.0.is_empty()
        );
        let (_, trace, again, _) = performed(&unsaid, code::S_OK);
        assert_eq!(trace, None);
        assert_ne!(again, causality, "each call has one of its own");
    }

    #[test]
    fn a_fault_clears_the_deadline_and_trace_of_its_call() {
        let stub = crate::with_timeout(Duration::from_secs(5), || with_trace(TRACE.parse().unwrap(), request));
        let fail = || {
            HEADERS.read_request(ByteOrder::Little, &stub).unwrap();
            assert!(trace().is_some());
            HEADERS.end();
            (deadline::of_thread(), trace())
        };
        let left = std::thread::scope(|scope| scope.spawn(fail).join().unwrap());
        assert!(matches!(left, (Deadline::Within(deadline::DEFAULT_TIMEOUT), None)), "{left:?}");
    }

    #[test]
    fn failed_results_carry_the_error_text() {
        let (.., answer) = performed(&request(), code::E_INVALIDARG);
        let (_, words) = HEADERS.read_response(ByteOrder::Little, &answer).unwrap();
        assert_eq!(words.map(|words| words.description).as_deref(), Some("no such luck"));
        let (.., answer) = performed(&request(), code::S_OK);
        assert_eq!(HEADERS.read_response(ByteOrder::Little, &answer).unwrap().1, None);
    }

    #[test]
    fn malformed_orpc_headers_are_refused() {
        let stub = request();
        for length in 0..stub.len() {
            assert_eq!(
                HEADERS.read_request(ByteOrder::Little, &stub[..length]),
                Err(Status::BAD_STUB_DATA),
                "{length}"
            );
        }
        let mut other = stub.clone();
        other[0] = 6;
        let mismatch = Status(code::RPC_E_VERSION_MISMATCH.0.cast_unsigned());
        assert_eq!(HEADERS.read_request(ByteOrder::Little, &other), Err(mismatch));
    }
}
