//! VARTYPE: the types of VARIANTs, of elements of SAFEARRAYs and of parameters, and operations on
//! their values in memory.

use super::bstr::Bstr;
use super::safearray::SafeArray;
use super::variant::Variant;
use crate::error::{Error, Result, code};
pub use obvia_ndr::vartype::*;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use windows_core::{IUnknown, Interface};

/// Returns the size of a value in memory; `None` for an invalid type.
pub(crate) fn size(vt: u16) -> Option<usize> {
    if vt & (ARRAY | BYREF) != 0 {
        return Some(8).filter(|_| is_known(vt));
    }
    Some(match vt {
        I1 | UI1 => 1,
        I2 | UI2 | BOOL => 2,
        I4 | UI4 | INT | UINT | R4 | ERROR => 4,
        I8 | UI8 | R8 | CY | DATE | BSTR | UNKNOWN | DISPATCH => 8,
        DECIMAL => 16,
        VARIANT => size_of::<Variant>(),
        _ => return None,
    })
}

/// Whether a VARIANT can have this type.
pub(crate) fn is_known(vt: u16) -> bool {
    let base = vt & !(ARRAY | BYREF);
    match base {
        _ if base & 0xf000 != 0 => false,
        EMPTY | NULL => vt == base,
        // A VARIANT cannot hold another one directly.
        VARIANT => vt != base,
        _ => size(base).is_some(),
    }
}

/// Returns the error for an invalid type.
pub(crate) fn unknown(vt: u16) -> Error {
    Error::new(code::DISP_E_BADVARTYPE, format!("no value has the type {vt:#x}"))
}

/// Returns a copy of a value in memory.
///
/// # Safety
///
/// A value of that type must be at `from`, aligned.
pub(crate) unsafe fn read(vt: u16, from: *const u8) -> Result<Variant> {
    if vt == VARIANT {
        // SAFETY: the caller's promise.
        return unsafe { (*from.cast::<Variant>()).copy() };
    }
    let mut made = Variant::zero(vt);
    let bytes = size(vt).ok_or_else(|| unknown(vt))?;
    // SAFETY: a variant has room for every value except another variant; the new one owns nothing
    // yet.
    unsafe { made.place(vt).copy_from_nonoverlapping(from, bytes) };
    // The copy of a DECIMAL overwrote the variant's type with the DECIMAL's unused first two bytes.
    made.set_type(vt);
    // SAFETY: the view of a value that it does not own is not dropped.
    let borrowed = ManuallyDrop::new(made);
    borrowed.copy()
}

/// Stores a value in uninitialised memory.
///
/// # Safety
///
/// `to` must be aligned and writable for as many bytes as the type has.
///
/// # Errors
///
/// DISP_E_TYPEMISMATCH when the value has another type.
pub(crate) unsafe fn write(vt: u16, to: *mut u8, value: Variant) -> Result<()> {
    if vt == VARIANT {
        // SAFETY: the caller's promise.
        unsafe { to.cast::<Variant>().write(value) };
        return Ok(());
    }
    if value.vt() != vt {
        return Err(Error::new(code::DISP_E_TYPEMISMATCH, "a value is of another type than its place"));
    }
    let bytes = size(vt).ok_or_else(|| unknown(vt))?;
    let mut value = ManuallyDrop::new(value);
    // SAFETY: the caller's promise; the variant has that many bytes at `place`.
    unsafe { to.copy_from_nonoverlapping(value.place(vt), bytes) };
    Ok(())
}

/// Frees the resources of a value, and leaves zeros.
///
/// # Safety
///
/// There must be a value of that type at `at`, aligned, which the caller owns.
pub(crate) unsafe fn clear(vt: u16, at: *mut u8) {
    match vt {
        VARIANT => {
            // SAFETY: the caller's promise.
            drop(unsafe { at.cast::<Variant>().read() });
        }
        BSTR => {
            // SAFETY: the caller's promise.
            drop(unsafe { at.cast::<Bstr>().read() });
        }
        UNKNOWN | DISPATCH => {
            // SAFETY: the caller's promise.
            drop(unsafe { at.cast::<Option<IUnknown>>().read() });
        }
        _ if vt & BYREF == 0 && vt & ARRAY != 0 => {
            // SAFETY: the caller's promise.
            drop(unsafe { at.cast::<SafeArray>().read() });
        }
        _ => {}
    }
    // SAFETY: the caller's promise.
    unsafe { at.write_bytes(0, size(vt).unwrap_or(0)) };
}

/// Whether values of a type own resources.
pub(crate) fn owns(vt: u16) -> bool {
    vt & BYREF == 0 && (vt & ARRAY != 0 || matches!(vt, VARIANT | BSTR | UNKNOWN | DISPATCH))
}

/// Returns the memory form of an object: its address, with a reference of its own.
pub(crate) fn into_raw(object: Option<IUnknown>) -> *mut c_void {
    object.map_or(std::ptr::null_mut(), Interface::into_raw)
}
