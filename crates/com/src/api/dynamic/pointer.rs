//! Calls of interface pointers by frames, and objects that are called by frames, for languages
//! without vtables.
//!
//! The frames are FLAT, regardless of the calls' transfer syntax. This module also marshals the
//! references for frames, and unmarshals the references in frames.

use super::{exchange, put};
use crate::api::names::connect_object;
use crate::client::channels;
use crate::client::own_target;
use crate::client::proxy::{Imported, Wanted, look_behind};
use crate::marshal::parameters::unmarshal;
use crate::marshal::proxy_call::Unsent;
use crate::marshal::reply::settle_return;
use crate::marshal::stub::{no_results, results, serve};
use crate::protocol::objref::{ObjRef, parse};
use crate::protocol::own_calls;
use crate::runtime::response;
use crate::runtime::returned::Sender;
use crate::server;
use crate::server::exports;
use crate::services::process;
use crate::types::deadline::ThreadLimit;
use crate::types::error::{Error, Result, code, leave};
use crate::types::registry::InterfaceInfo;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, ServerCall, Words};
use windows_core::{GUID, HRESULT, IUnknown};

/// Connects to the object of a name or of a string binding, as [`crate::connect`] does.
///
/// # Errors
///
/// As [`crate::connect`].
pub fn connect(name: &str, info: &'static InterfaceInfo) -> Result<IUnknown> {
    exports::query(&connect_object(name, info)?, info)
}

/// Returns the IID of a reference's interface.
///
/// # Errors
///
/// RPC_E_INVALID_OBJREF for malformed bytes.
pub fn iid_of(reference: &[u8]) -> Result<GUID> {
    Ok(ObjRef::from_wire(reference)?.iid)
}

/// Returns the link, OID and target of a proxy; E_NOTIMPL for an object of this process.
fn imported(object: &IUnknown) -> Result<Imported> {
    let here = || Error::new(code::E_NOTIMPL, "the object lives in this process, so it cannot be called by frames");
    look_behind(object).ok_or_else(here)
}

/// Calls a method: sends the frame of a request, and returns the method's HRESULT and the frame of
/// its reply, which the caller must check.
///
/// A failed method has no results. `references` are the results of [`reference()`] that the request
/// contains. If the server does not receive the request, these references are taken back.
///
/// # Errors
///
/// E_NOTIMPL for an object of this process. If the server answers with a fault, the connection
/// fails, or the deadline passes.
pub fn call(object: &IUnknown, opnum: u16, request: &[u8], references: &[&[u8]]) -> Result<(HRESULT, Vec<u8>)> {
    let Imported { link, target, .. } = imported(object)?;
    let unsent = Unsent::of(references, &link)?;
    exchange(&link, target, opnum, request, unsent)
}

/// Sends the request of a one-way method.
///
/// # Errors
///
/// As for [`call`].
pub fn call_oneway(object: &IUnknown, opnum: u16, request: &[u8], references: &[&[u8]]) -> Result<()> {
    let Imported { link, target, .. } = imported(object)?;
    let mut unsent = Unsent::of(references, &link)?;
    channels::with_channel(&link, |channel| {
        let length = put(channel, request, ThreadLimit)?;
        channel.oneway(target, opnum, length);
        unsent.is_published_oneway(channel, &link);
        Ok(())
    })
}

/// Queries an object for another interface.
///
/// # Errors
///
/// E_NOINTERFACE where the object does not have the interface.
pub fn query(object: &IUnknown, info: &'static InterfaceInfo) -> Result<IUnknown> {
    let Some(Imported { link, oid, target }) = look_behind(object) else { return exports::query(object, info) };
    // The description is passed on, because a query by the IID alone would find only a registered
    // description.
    let found = own_target::query_interface(&link, target, info)?;
    let reference = ObjRef {
        iid: info.iid,
        public_refs: own_calls::REFS_PER_QUERY,
        oxid: link.oxid(),
        oid,
        target: found,
        bindings: link.bindings(),
        securities: Vec::new(),
    };
    process::runtime()?.import(&link, &reference, info)
}

/// Marshals a reference for the arguments of a call through an interface pointer.
///
/// # Errors
///
/// If the object lacks the interface, or belongs to a process that is gone.
pub fn reference(through: &IUnknown, object: &IUnknown, info: &'static InterfaceInfo) -> Result<Vec<u8>> {
    let mut unsent = Unsent::default();
    let reference = unsent.reference(object, info, &imported(through)?.link)?;
    // From here on, the drop of `unsent` does not take the reference back. If no call passes the
    // reference, the caller of this function must take the reference back.
    unsent.is_published(None);
    Ok(reference)
}

/// Takes back references that were marshaled for a call through an interface pointer. A program
/// that has marshaled references and then does not make the call must call this function.
///
/// # Errors
///
/// As for [`reference()`], and if a reference is malformed.
pub fn take_back(through: &IUnknown, references: &[&[u8]]) -> Result<()> {
    Unsent::of(references, &imported(through)?.link).map(drop)
}

/// Unmarshals a reference from the results of a call through another interface pointer.
///
/// # Errors
///
/// If the reference is malformed, or its object cannot be reached.
pub fn object(through: &IUnknown, reference: &[u8], info: &'static InterfaceInfo) -> Result<IUnknown> {
    let (runtime, link) = (process::runtime()?, imported(through)?.link);
    let object = unmarshal(runtime, reference, Wanted::Known(info), Sender::Callee(Some(&link)));
    settle_return(Sender::Callee(Some(&link)));
    object
}

/// Gives back a reference from the results of a call through an interface pointer. A program calls
/// this function for a reference that it does not unmarshal.
///
/// # Errors
///
/// If the reference is malformed.
pub fn refuse(through: &IUnknown, reference: &[u8]) -> Result<()> {
    let (runtime, link) = (process::runtime()?, imported(through)?.link);
    runtime.refuse(&parse(reference)?);
    settle_return(Sender::Callee(Some(&link)));
    Ok(())
}

/// Gives back a reference from the arguments of the call that this thread performs. A program calls
/// this function for a reference that it does not unmarshal.
///
/// # Errors
///
/// If the reference is malformed.
pub fn refuse_of_caller(reference: &[u8]) -> Result<()> {
    process::runtime()?.refuse(&parse(reference)?);
    settle_return(Sender::Caller);
    Ok(())
}

/// Marshals a reference for the results of the call that this thread performs.
///
/// # Errors
///
/// As for [`reference()`]; E_UNEXPECTED where the thread performs no call.
pub fn reference_for_caller(object: &IUnknown, info: &'static InterfaceInfo) -> Result<Vec<u8>> {
    response::reference(&*server::caller().ok_or(code::E_UNEXPECTED)?, object, info)
}

/// Unmarshals a reference from the arguments of the call that this thread performs.
///
/// # Errors
///
/// As for [`object`].
pub fn object_of_caller(reference: &[u8], info: &'static InterfaceInfo) -> Result<IUnknown> {
    let object = unmarshal(process::runtime()?, reference, Wanted::Known(info), Sender::Caller);
    settle_return(Sender::Caller);
    object
}

/// Answers a call by frames. `perform` receives the opnum and a copy of the request's frame, and
/// must check the frame. It returns the method's HRESULT and the frame of the results. For a failed
/// method, the frame is empty or has the error information (docs/flat.md).
pub fn answer<R: AsRef<[u8]>>(
    call: &mut ServerCall<'_>,
    perform: impl FnOnce(u16, &[u8]) -> std::result::Result<(HRESULT, R), Status>,
) -> Answer {
    serve(call, |call| {
        let frame = call.frame(0)?;
        let mut request = vec![0; frame.len()];
        frame.copy_to(0, &mut request).ok_or(Status::BAD_STUB_DATA)?;
        let (result, reply) = perform(call.inner().opnum(), &request)?;
        let reply = reply.as_ref();
        if result.is_err() {
            // A failed method sends no results, so the references that were marshaled for the
            // results are taken back.
            server::take_back_sent();
            let words = Words::from_frame(reply).unwrap_or_default();
            return Ok(no_results(leave(Error::of_words(result, words))));
        }
        if reply.is_empty() {
            return Ok(no_results(result));
        }
        let length = reply.len().next_multiple_of(8);
        let frame = call.inner().reply(length, 0).map_err(|_| Status::REMOTE_NO_MEMORY)?;
        frame[..reply.len()].copy_from_slice(reply);
        frame[reply.len()..].fill(0);
        Ok(results(result, length))
    })
}
