//! The exports of this process and its endpoints.

use crate::handles::{Handle, get};
use crate::interfaces::described;
use crate::outcome::{Bytes, give, give_bytes, guarded, guarded_or, text};
use com::abi::{self, InterfaceInfo};
use com::{HRESULT, code};
use std::ffi::c_char;

/// An exported name.
pub struct Entry(#[expect(dead_code, reason = "dropping it ends the export")] abi::Export);

/// Exports an object to networks under a name.
///
/// # Safety
///
/// `name` must be null or NUL-terminated, `interface` must be a described interface, and `entry`
/// must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_export(
    name: *const c_char,
    object: Handle,
    interface: *const InterfaceInfo,
    entry: *mut *mut Entry,
) -> HRESULT {
    guarded(|| {
        // SAFETY: the caller's promise.
        let name = unsafe { text(name) }?;
        let object = get(object)?;
        // SAFETY: the caller's promise.
        let info = unsafe { described(interface) }?;
        let made = Box::new(Entry(abi::export_to_networks(name, &object, info)?));
        // SAFETY: the caller's promise.
        unsafe { give(entry, Box::into_raw(made)) }
    })
}

/// Ends an export.
///
/// # Safety
///
/// `entry` must come from [`obvia_java_export`], and must not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_unexport(entry: *mut Entry) {
    // SAFETY: the caller's promise.
    guarded_or((), || drop(unsafe { Box::from_raw(entry) }));
}

/// Listens on a string binding, as `obvia::listen` does, and returns the binding with its actual
/// endpoint.
///
/// # Safety
///
/// `binding` must be null or NUL-terminated, and `taken` must meet the conditions of
/// [`give_bytes`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_listen(binding: *const c_char, taken: *mut Bytes) -> HRESULT {
    guarded(|| {
        // SAFETY: the caller's promise.
        let binding = unsafe { text(binding) }?;
        let heard = com::listen(binding)?;
        // SAFETY: the caller's promise.
        unsafe { give_bytes(taken, heard.into_bytes()) }?;
        Ok(code::S_OK)
    })
}
