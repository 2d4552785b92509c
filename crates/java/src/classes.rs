//! The classes that Java registers for clients on networks, and the creation of objects in other
//! processes.

use crate::cancelling::{Canceller, Said, within};
use crate::found::Found;
use crate::halves::Halves;
use crate::handles::{Handle, get};
use crate::interfaces::described;
use crate::objects::make;
use crate::outcome::{give, guarded, guarded_or, text};
use crate::security::{Shown, showing};
use com::abi::{self, Activated, InterfaceInfo};
use com::dcom::{ClassContext, ClassRegistration, Pinging, set_pinging};
use com::{Error, GUID, HRESULT, Result, code};
use std::ffi::c_char;
use std::time::Duration;

/// # Safety
///
/// `class` must be null or readable.
pub(crate) unsafe fn class_of(class: *const Halves) -> Result<GUID> {
    // SAFETY: the caller's promise.
    let halves = unsafe { class.as_ref() }.ok_or(code::E_POINTER)?;
    Ok(GUID::from_u128(halves.join()))
}

/// Registers a class for clients on networks. `maker` is the number by which Java finds the
/// factory; `object` is the class object, or 0.
///
/// # Safety
///
/// `class` must be null or readable, `interface` must be a described interface, and `registration`
/// must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_register_class(
    class: *const Halves,
    interface: *const InterfaceInfo,
    maker: u64,
    object: Handle,
    registration: *mut *mut ClassRegistration,
) -> HRESULT {
    guarded(|| {
        // SAFETY: the caller's promise.
        let class = unsafe { class_of(class) }?;
        // SAFETY: the caller's promise.
        let info = unsafe { described(interface) }?;
        let object = (object != 0).then(|| get(object)).transpose()?;
        let made = abi::register_class_to_networks(class, object.as_ref(), info, move || make(maker))?;
        // SAFETY: the caller's promise.
        unsafe { give(registration, Box::into_raw(Box::new(made))) }
    })
}

/// Revokes a class.
///
/// # Safety
///
/// `registration` must come from [`obvia_java_register_class`], and must not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_revoke_class(registration: *mut ClassRegistration) {
    // SAFETY: the caller's promise.
    guarded_or((), || drop(unsafe { Box::from_raw(registration) }));
}

/// Creates an object of a class at the endpoint of a string binding, or returns the class object if
/// `wants_class` is not 0.
///
/// # Safety
///
/// `class` must be null or readable, `server` must be null or NUL-terminated, `credentials` must be
/// null or come from [`crate::security`], `interface` must be a described interface, `said` must be
/// null or readable, `canceller` must be null or a canceller of this library, and `found` must be
/// null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_create(
    class: *const Halves,
    wants_class: u32,
    server: *const c_char,
    credentials: *const Shown,
    interface: *const InterfaceInfo,
    said: *const Said,
    canceller: *const Canceller,
    found: *mut Found,
) -> HRESULT {
    guarded(|| {
        // SAFETY: the caller's promise.
        let class = unsafe { class_of(class) }?;
        // SAFETY: the caller's promise.
        let server = unsafe { text(server) }?;
        // SAFETY: the caller's promise.
        let info = unsafe { described(interface) }?;
        let wanted = if wants_class == 0 { Activated::Instance } else { Activated::ClassObject };
        let create = || abi::create(class, Some(server), wanted, ClassContext::ALL, info);
        // SAFETY: the caller's promise.
        let create = || unsafe { showing(credentials, create) };
        // SAFETY: the caller's promise.
        let object = unsafe { within(said, canceller, create) }?;
        // SAFETY: the caller's promise.
        unsafe { give(found, Found::of(&object)?) }
    })
}

/// Returns the number of this process's interface pointers that clients reference over networks.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_java_exported() -> u64 {
    guarded_or(0, || com::exported().map_or(0, |count| count as u64))
}

/// Sets the ping period for clients that are not obvia processes, and the number of consecutive
/// pings that may be lost before a client counts as gone.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_java_set_pinging(nanoseconds: u64, missed: u32) -> HRESULT {
    guarded(|| {
        if nanoseconds == 0 || missed == 0 {
            return Err(Error::new(code::E_INVALIDARG, "the period and the number of pings must not be 0"));
        }
        set_pinging(Pinging { period: Duration::from_nanos(nanoseconds), missed })?;
        Ok(code::S_OK)
    })
}
