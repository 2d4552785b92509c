//! COM's interfaces for marshaling.

#![allow(non_snake_case, missing_docs, reason = "names are COM's; the macro hands on no documentation of methods")]

use std::ffi::c_void;
use windows_core::{GUID, HRESULT, IUnknown, interface};

/// COM's ISequentialStream.
#[interface("0c733a30-2a1c-11ce-ade5-00aa0044773d")]
pub unsafe trait ISequentialStream: IUnknown {
    /// Reads up to `count` bytes.
    pub unsafe fn Read(&self, to: *mut c_void, count: u32, read: *mut u32) -> HRESULT;
    /// Writes `count` bytes.
    pub unsafe fn Write(&self, from: *const c_void, count: u32, written: *mut u32) -> HRESULT;
}

/// COM's IStream.
#[interface("0000000c-0000-0000-c000-000000000046")]
pub unsafe trait IStream: ISequentialStream {
    /// Sets the position: from the beginning (0), the current position (1), or the end (2).
    pub unsafe fn Seek(&self, by: i64, from: u32, place: *mut u64) -> HRESULT;
    /// Sets the length of the stream.
    pub unsafe fn SetSize(&self, size: u64) -> HRESULT;
    /// Copies bytes to another stream.
    pub unsafe fn CopyTo(&self, to: *mut c_void, count: u64, read: *mut u64, written: *mut u64) -> HRESULT;
    /// Commits a transaction.
    pub unsafe fn Commit(&self, flags: u32) -> HRESULT;
    /// Reverts a transaction.
    pub unsafe fn Revert(&self) -> HRESULT;
    /// Locks a range of bytes.
    pub unsafe fn LockRegion(&self, at: u64, count: u64, kind: u32) -> HRESULT;
    /// Unlocks a range of bytes.
    pub unsafe fn UnlockRegion(&self, at: u64, count: u64, kind: u32) -> HRESULT;
    /// Returns the properties of the stream (STATSTG).
    pub unsafe fn Stat(&self, what: *mut c_void, flags: u32) -> HRESULT;
    /// Returns another stream over the same bytes.
    pub unsafe fn Clone(&self, stream: *mut *mut c_void) -> HRESULT;
}

/// COM's IMarshal. Objects in Rust have it by [`Marshaler`](super::Marshaler).
#[interface("00000003-0000-0000-c000-000000000046")]
pub unsafe trait IMarshal: IUnknown {
    /// Returns the class that unmarshals the data of [`Self::MarshalInterface`].
    pub unsafe fn GetUnmarshalClass(
        &self,
        iid: *const GUID,
        object: *const c_void,
        context: u32,
        reserved: *const c_void,
        flags: u32,
        class: *mut GUID,
    ) -> HRESULT;
    /// Returns the greatest length of the marshaled data.
    pub unsafe fn GetMarshalSizeMax(
        &self,
        iid: *const GUID,
        object: *const c_void,
        context: u32,
        reserved: *const c_void,
        flags: u32,
        size: *mut u32,
    ) -> HRESULT;
    /// Marshals a reference.
    pub unsafe fn MarshalInterface(
        &self,
        stream: *mut c_void,
        iid: *const GUID,
        object: *const c_void,
        context: u32,
        reserved: *const c_void,
        flags: u32,
    ) -> HRESULT;
    /// Unmarshals an interface pointer.
    pub unsafe fn UnmarshalInterface(&self, stream: *mut c_void, iid: *const GUID, object: *mut *mut c_void)
    -> HRESULT;
    /// Releases marshaled data.
    pub unsafe fn ReleaseMarshalData(&self, stream: *mut c_void) -> HRESULT;
    /// Disconnects the object from all other processes.
    pub unsafe fn DisconnectObject(&self, reserved: u32) -> HRESULT;
}

/// COM's IStdMarshalInfo, for objects with standard references and a handler class in clients.
#[interface("00000018-0000-0000-c000-000000000046")]
pub unsafe trait IStdMarshalInfo: IUnknown {
    /// Returns the handler class.
    pub unsafe fn GetClassForHandler(&self, context: u32, reserved: *const c_void, class: *mut GUID) -> HRESULT;
}
