//! Functions that generated proxies and stubs call for Automation's types.

use super::wire::{Automation, Wires};
use crate::marshal::graph::free_elements;
use crate::types::error::fault_of;
use crate::types::error::{Error, Result, code};
use obvia_ndr::flat::shape::{Element, ElementType};
use obvia_rpc::status::Status;
use windows_core::HRESULT;

fn null_pointer() -> Error {
    Error::new(code::E_POINTER, "a parameter that must not be null is null")
}

/// Initialises a result to the default, which remains if the call fails.
///
/// # Safety
///
/// `to` must be null or writable. An earlier value at `to` is not freed.
///
/// # Errors
///
/// E_POINTER for a null pointer.
pub unsafe fn clear_result<T: Automation>(to: *mut T) -> Result<()> {
    if to.is_null() {
        return Err(null_pointer());
    }
    // SAFETY: `to` is not null, so the caller promises that it is writable.
    unsafe { to.write(T::default()) };
    Ok(())
}

/// Converts an argument to its wire form.
///
/// # Safety
///
/// `from` must be null or lead to a value.
///
/// # Errors
///
/// E_POINTER for a null pointer; the error of the conversion.
pub unsafe fn to_wire<T: Automation>(from: *const T, wires: &mut Wires) -> Result<*mut u8> {
    // SAFETY: the caller promises that `from` is null or leads to a value.
    unsafe { from.as_ref() }.ok_or_else(null_pointer)?.to_wire(wires)
}

fn status(error: &Error) -> Status {
    match error.code() {
        code::RPC_E_INVALID_DATA => Status::BAD_STUB_DATA,
        _ => fault_of(error),
    }
}

/// Converts an argument from its wire form.
///
/// # Safety
///
/// As for [`Automation::from_wire`].
///
/// # Errors
///
/// BAD_STUB_DATA for an invalid value; otherwise the fault for the error of the conversion.
pub unsafe fn from_wire<T: Automation>(wire: *const u8) -> std::result::Result<T, Status> {
    // SAFETY: the caller promises that `wire` is null or leads to the wire form of a `T`.
    unsafe { T::from_wire(wire) }.map_err(|error| status(&error))
}

/// Converts a result to its wire form. The caller sends the wire form and then frees it. Returns
/// null if the method failed.
///
/// # Errors
///
/// The error of the conversion.
pub fn wire_result<T: Automation>(result: HRESULT, value: &T) -> std::result::Result<*mut u8, Status> {
    if result.0 < 0 {
        return Ok(std::ptr::null_mut());
    }
    let mut wires = Wires::owned();
    let made = value.to_wire(&mut wires).map_err(|error| status(&error))?;
    wires.keep();
    Ok(made)
}

/// Frees the wire form of a result.
///
/// # Safety
///
/// `wire` must be null, or lead to an element that the caller owns. `kind` must be the index of the
/// element's type in `types`.
pub unsafe fn free_wire(wire: *mut u8, kind: u16, types: &'static [ElementType]) {
    if !wire.is_null() {
        // SAFETY: the caller promises that `wire` is null, or leads to an element of this type that
        // the caller owns.
        unsafe { free_elements(wire, Element::Own(kind), 1, types) };
    }
}
