//! What a VARIANT, an element of a SAFEARRAY or a parameter holds: VARTYPE, and values of it in memory.

use super::bstr::Bstr;
use super::safearray::SafeArray;
use super::variant::Variant;
use crate::error::{Error, Result, code};
pub use obvia_ndr::vartype::*;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use windows_core::{IUnknown, Interface};

/// Bytes of a value in memory; `None` where nothing has that type.
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

/// Whether a VARIANT may say that this is what it holds.
pub(crate) fn is_known(vt: u16) -> bool {
    let base = vt & !(ARRAY | BYREF);
    match base {
        _ if base & 0xf000 != 0 => false,
        EMPTY | NULL => vt == base,
        // What a VARIANT holds is no VARIANT itself.
        VARIANT => vt != base,
        _ => size(base).is_some(),
    }
}

/// What is said of a type that this is none of.
pub(crate) fn unknown(vt: u16) -> Error {
    Error::new(code::DISP_E_BADVARTYPE, format!("no value has the type {vt:#x}"))
}

/// A copy of a value in memory.
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
    // SAFETY: a variant has room for every value but itself; it owns nothing yet.
    unsafe { made.place(vt).copy_from_nonoverlapping(from, bytes) };
    // The bits of a DECIMAL are everything but the first two bytes, which say what the variant is.
    made.set_type(vt);
    // SAFETY: not dropped: a view of what somebody else owns.
    let borrowed = ManuallyDrop::new(made);
    borrowed.copy()
}

/// Puts a value where there is none.
///
/// # Safety
///
/// As many bytes as the type has must be writable at `to`, aligned.
///
/// # Errors
///
/// DISP_E_TYPEMISMATCH when the value is of another type.
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
    // SAFETY: the caller's promise; a variant has as many bytes there.
    unsafe { to.copy_from_nonoverlapping(value.place(vt), bytes) };
    Ok(())
}

/// Frees what a value owns, and leaves zeros.
///
/// # Safety
///
/// A value of that type must be at `at`, aligned, and the caller's.
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

/// Whether values of a type own something.
pub(crate) fn owns(vt: u16) -> bool {
    vt & BYREF == 0 && (vt & ARRAY != 0 || matches!(vt, VARIANT | BSTR | UNKNOWN | DISPATCH))
}

/// An object as it lies in memory: its address, with a reference of its own.
pub(crate) fn into_raw(object: Option<IUnknown>) -> *mut c_void {
    object.map_or(std::ptr::null_mut(), Interface::into_raw)
}
