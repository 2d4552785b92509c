//! ORPCTHIS and ORPCTHAT (MS-DCOM 2.2.13) around calls of objects in the standard's transfer syntaxes: the causality that a call belongs to, and
//! why a method failed, in words.

use crate::error::{self, Error};
use crate::orpc::{Body, ComVersion, Decoder, Encoder, ErrorInfo, Extents, OrpcThat, OrpcThis};
use obvia_rpc::ByteOrder;
use obvia_rpc::co::relay::CallHeaders;
use obvia_rpc::status::Status;
use std::cell::Cell;
use windows_core::{GUID, HRESULT};

thread_local! {
    /// The causality of the call that this thread performs, or of those that it makes; 0 for none yet.
    static CAUSALITY: Cell<u128> = const { Cell::new(0) };
}

/// What stands before arguments and results of calls.
#[derive(Debug)]
pub(crate) struct Headers;

/// The only one.
pub(crate) static HEADERS: Headers = Headers;

/// Takes up what a call says beside its arguments: calls that its method makes belong to its causality.
pub(super) fn enter(this: &OrpcThis) -> Result<(), Status> {
    if !ComVersion::OURS.performs(this.version) {
        return Err(Status(error::code::RPC_E_VERSION_MISMATCH.0.cast_unsigned()));
    }
    CAUSALITY.set(this.causality.to_u128());
    // What went wrong for somebody else is no business of this caller's.
    error::forget();
    Ok(())
}

/// The causality of calls that this thread makes now.
fn causality() -> GUID {
    if CAUSALITY.get() == 0 {
        // Without random numbers all calls of the thread are of none.
        CAUSALITY.set(obvia_rpc::dg::relay::draw().map_or(0, |drawn| drawn.0));
    }
    GUID::from_u128(CAUSALITY.get())
}

fn append(header: &impl Body, stub: &mut Vec<u8>) {
    // It has no more extents than were put in here.
    if let Ok(bytes) = Encoder::encode(ByteOrder::Little, |to| header.write(to)) {
        stub.extend_from_slice(&bytes);
    }
}

impl CallHeaders for Headers {
    fn write_request(&self, stub: &mut Vec<u8>) {
        append(&OrpcThis::new(causality()), stub);
    }

    fn read_request(&self, order: ByteOrder, stub: &[u8]) -> Result<usize, Status> {
        let from = &mut Decoder::new(stub, order);
        enter(&OrpcThis::read(from)?)?;
        Ok(from.at())
    }

    fn write_response(&self, result: u32, stub: &mut Vec<u8>) {
        let mut that = OrpcThat::default();
        let result = HRESULT(result.cast_signed());
        if result.is_err() {
            that.extents = words(result).unwrap_or_default();
        }
        append(&that, stub);
    }

    fn read_response(&self, order: ByteOrder, stub: &[u8]) -> Result<usize, Status> {
        let from = &mut Decoder::new(stub, order);
        let that = OrpcThat::read(from)?;
        if let Ok(Some(info)) = ErrorInfo::find(&that.extents)
            && let Some(last) = stub.last_chunk::<4>()
        {
            let result = if order == ByteOrder::Big { i32::from_be_bytes(*last) } else { i32::from_le_bytes(*last) };
            if let Some(text) = info.description.filter(|_| result < 0) {
                // Whoever sees the result asks for the words.
                let _ = error::leave(Error::new(HRESULT(result), text));
            }
        }
        Ok(from.at())
    }
}

/// The words that the method left for its result.
fn words(result: HRESULT) -> Option<Extents> {
    let description = error::words(result).detail().map(str::to_owned)?;
    let info = ErrorInfo { description: Some(description), ..ErrorInfo::default() };
    info.to_extent().ok().map(|extent| Extents(vec![extent]))
}
