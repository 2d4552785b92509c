//! Received references: unmarshaling them, and releasing those that are not wanted.

use super::custom::find;
use super::interfaces::IStream;
use super::stream::Memory;
use super::vi_reference;
use crate::orpc::{ObjRef as Any, ViReference};
use crate::protocol::objref::parse;
use crate::runtime::Runtime;
use crate::types::error::{Result, code};
use crate::types::registry::InterfaceInfo;
use windows_core::{GUID, IUnknown, Interface};

/// Releases marshaled data, in a process that has a runtime.
pub(crate) fn release(bytes: &[u8]) -> Result<()> {
    match parse(bytes)? {
        Any::Custom { clsid, data, .. } => release_custom(&clsid, data),
        any => Runtime::current()?.release_data(&any),
    }
}

/// Unmarshals a custom reference.
pub(crate) fn unmarshal_custom(class: &GUID, data: Vec<u8>, info: &'static InterfaceInfo) -> Result<IUnknown> {
    if *class == ViReference::CLASS {
        return vi_reference::unmarshal(&data, info);
    }
    let marshaler = find(class)?;
    let stream: IStream = Memory::of(data).into();
    let mut object = std::ptr::null_mut();
    // SAFETY: by the contract of IMarshal. The arguments are a live stream, an IID, and room for a
    // pointer.
    unsafe { marshaler.UnmarshalInterface(stream.as_raw(), &info.iid, &mut object) }.ok()?;
    if object.is_null() {
        return Err(code::E_UNEXPECTED.into());
    }
    // SAFETY: the call succeeded, so the pointer is a counted interface pointer; every interface
    // begins with IUnknown's methods.
    Ok(unsafe { IUnknown::from_raw(object) })
}

/// Releases custom data.
pub(crate) fn release_custom(class: &GUID, data: Vec<u8>) -> Result<()> {
    if *class == ViReference::CLASS {
        return vi_reference::release(&data);
    }
    let marshaler = find(class)?;
    let stream: IStream = Memory::of(data).into();
    // SAFETY: by the contract of IMarshal; the stream is live.
    Ok(unsafe { marshaler.ReleaseMarshalData(stream.as_raw()) }.ok()?)
}
