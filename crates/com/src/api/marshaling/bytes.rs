//! Interface pointers as bytes.

use super::{Context, Flags};
use crate::orpc::ObjRef as Any;
use crate::protocol::objref::parse;
use crate::runtime::marshaling::custom;
use crate::runtime::marshaling::received::{release, unmarshal_custom};
use crate::services::process;
use crate::types::error::{Error, Result, code};
use crate::types::registry::{InterfaceInfo, Remote};
use windows_core::{IUnknown, Interface};

/// Marshals an interface of an object to bytes (CoMarshalInterface).
///
/// # Errors
///
/// E_NOINTERFACE when the object lacks the interface; E_INVALIDARG for table marshaling of an
/// object of another process, and for contradictory flags; E_NOTIMPL for weak table marshaling of
/// an object without weak references; RPC_S_NO_BINDINGS when the destination cannot reach this
/// process.
pub fn marshal<I: Remote>(object: &I, context: Context, flags: Flags) -> Result<Vec<u8>> {
    marshal_object(&object.cast()?, I::INFO, context, flags)
}

/// As [`marshal`], for an interface that is known by its description only.
pub(crate) fn marshal_object(
    object: &IUnknown,
    info: &'static InterfaceInfo,
    context: Context,
    flags: Flags,
) -> Result<Vec<u8>> {
    if Flags::from_number(flags.number()).is_none() {
        return Err(Error::new(code::E_INVALIDARG, "the flags ask for both a strong and a weak table"));
    }
    // An object can have a marshaler of its own, which perhaps does not need the runtime. So an
    // error in making the runtime is returned only if the object has no such marshaler.
    let runtime = process::runtime();
    match custom::marshal(object, info, context, flags)? {
        Some(bytes) => Ok(bytes),
        None => runtime?.marshal_data(object, info, context, flags),
    }
}

/// Unmarshals an interface pointer from [`marshal`]ed bytes (CoUnmarshalInterface). In the object's
/// process the result is the object itself.
///
/// Data that was not marshaled for a table is consumed, even if the object lacks the interface.
///
/// # Errors
///
/// RPC_E_INVALID_OBJREF for bytes that are no reference; CO_E_OBJNOTCONNECTED for consumed or
/// released data; the error of the connection where the object's process cannot be reached.
pub fn unmarshal<I: Remote>(bytes: &[u8]) -> Result<I> {
    Ok(unmarshal_object(bytes, I::INFO)?.cast()?)
}

/// As [`unmarshal`], for an interface that is known by its description only.
pub(crate) fn unmarshal_object(bytes: &[u8], info: &'static InterfaceInfo) -> Result<IUnknown> {
    let (any, runtime) = (parse(bytes)?, process::runtime());
    match any {
        Any::Custom { clsid, data, .. } => unmarshal_custom(&clsid, data, info),
        any => runtime?.unmarshal_data(&any, info),
    }
}

/// Releases [`marshal`]ed data (CoReleaseMarshalData). A program calls this function for data that
/// no process is going to unmarshal, and for the data of a table entry that it removes. Any process
/// can make this call.
///
/// # Errors
///
/// As for [`unmarshal`].
pub fn release_marshal_data(bytes: &[u8]) -> Result<()> {
    // An error in making the runtime is ignored here, because some custom data needs no runtime.
    // For all other data, `release` reports this error.
    let _ = process::runtime();
    release(bytes)
}

/// Disconnects an object from all other processes (CoDisconnectObject): their calls fail with
/// RPC_E_DISCONNECTED, and marshaled data becomes invalid. The object may be marshaled again, with
/// a new identity for other processes.
///
/// # Errors
///
/// E_INVALIDARG for an object of another process.
pub fn disconnect<I: Interface>(object: &I) -> Result<()> {
    let object = object.cast()?;
    let runtime = process::runtime();
    custom::disconnect(&object)?;
    runtime?.disconnect(&object)
}
