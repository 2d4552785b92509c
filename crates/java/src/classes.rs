//! Classes: those of which Java makes objects for who is on networks, and objects that others make.

use crate::cancelling::{Canceller, Said, within};
use crate::handles::{Found, Handle, get};
use crate::interfaces::{Halves, described};
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

/// Has others make objects of a class who reach this process over networks. `maker` is Java's number for what makes them; `object` stands for the
/// class itself, where it is not 0.
///
/// # Safety
///
/// `class` must be null or readable, `interface` be a described one, and `registration` be null or writable.
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

/// Ends a registration.
///
/// # Safety
///
/// `registration` must come from [`obvia_java_register_class`], and not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_revoke_class(registration: *mut ClassRegistration) {
    // SAFETY: the caller's promise.
    guarded_or((), || drop(unsafe { Box::from_raw(registration) }));
}

/// Has an object of a class made where a string binding leads; or finds what stands for the class, where `wants_class` is not 0.
///
/// # Safety
///
/// `class` must be null or readable, `server` be null or end in NUL, `credentials` be null or come from [`crate::security`], `interface` be a described one, `said` be null or readable, `canceller` be null or one of
/// this library's, and `found` be null or writable.
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

/// How many interface pointers of objects of this process others refer to over networks.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_java_exported() -> u64 {
    guarded_or(0, || com::exported().map_or(0, |count| count as u64))
}

/// Says how often peers have to ping that are no processes of obvia's, and how many pings in a row may not arrive.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_java_set_pinging(nanoseconds: u64, missed: u32) -> HRESULT {
    guarded(|| {
        if nanoseconds == 0 || missed == 0 {
            return Err(Error::new(code::E_INVALIDARG, "without a period, or a ping, nobody would be there"));
        }
        set_pinging(Pinging { period: Duration::from_nanos(nanoseconds), missed })?;
        Ok(code::S_OK)
    })
}
