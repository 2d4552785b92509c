//! Objects that are called over virtual interfaces, and the bindings of objects: obvia.h.

use crate::errors::{guarded, text};
use crate::runtime::{give, not_null};
use com::marshaling::{IMarshal, vi_marshaler};
use com::{GUID, HRESULT, IUnknown, Interface as _, abi, code};
use std::ffi::{c_char, c_void};

/// `IID_IMarshal` in obvia.h.
#[unsafe(no_mangle)]
pub static IID_IMarshal: GUID = IMarshal::IID;

/// `obvia_vi_marshaler` in obvia.h.
///
/// # Safety
///
/// As for [`vi_marshaler`]; `endpoint` must be null or end in NUL, and `marshaler` must be null or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_vi_marshaler(
    outer: *mut c_void,
    endpoint: *const c_char,
    marshaler: *mut *mut c_void,
) -> HRESULT {
    guarded(|| {
        not_null(marshaler)?;
        // SAFETY: the caller's promise.
        unsafe { marshaler.write(std::ptr::null_mut()) };
        let endpoint = if endpoint.is_null() { c"".as_ptr() } else { endpoint };
        // SAFETY: the caller's promise.
        let endpoint = unsafe { text(endpoint) }?;
        // SAFETY: the caller's promise.
        let made = unsafe { vi_marshaler(outer, endpoint) }?;
        // SAFETY: the caller's promise.
        unsafe { marshaler.write(made.into_raw()) };
        Ok(())
    })
}

/// `obvia_binding_of` in obvia.h.
///
/// # Safety
///
/// `object` must be null or an interface pointer, and `binding` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_binding_of(object: *mut c_void, binding: *mut *mut c_char) -> HRESULT {
    guarded(|| {
        not_null(binding)?;
        // SAFETY: the caller's promise.
        unsafe { binding.write(std::ptr::null_mut()) };
        // SAFETY: the caller's promise.
        let object = unsafe { IUnknown::from_raw_borrowed(&object) }.ok_or(code::E_POINTER)?;
        match abi::binding_of(object) {
            // SAFETY: the caller's promise.
            Some(way) => unsafe { give(binding, way) },
            None => Ok(()),
        }
    })
}
