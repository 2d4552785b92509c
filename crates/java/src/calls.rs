//! Interface pointers to objects of other processes: obtaining, calling and querying them.

use crate::cancelling::{Canceller, Said, within};
use crate::found::Found;
use crate::handles::{Handle, get};
use crate::interfaces::described;
use crate::outcome::{Bytes, bytes, give, give_bytes, guarded, text};
use crate::references::references_in;
use crate::security::{Shown, showing};
use com::abi::{self, InterfaceInfo};
use com::dynamic::pointer;
use com::{Error, HRESULT, Result, code};
use std::ffi::c_char;

/// Connects to the object that a string binding names, as `obvia::connect` does, with `credentials`
/// or else with the credentials of the process.
///
/// # Safety
///
/// `binding` must be null or NUL-terminated, `credentials` must be null or come from
/// [`crate::security`], `interface` must be a described interface, `said` must be null or readable,
/// `canceller` must be null or a canceller of this library, and `found` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_connect(
    binding: *const c_char,
    credentials: *const Shown,
    interface: *const InterfaceInfo,
    said: *const Said,
    canceller: *const Canceller,
    found: *mut Found,
) -> HRESULT {
    guarded(|| {
        // SAFETY: the caller's promise.
        let binding = unsafe { text(binding) }?;
        // SAFETY: the caller's promise.
        let info = unsafe { described(interface) }?;
        // SAFETY: the caller's promise.
        let connect = || unsafe { showing(credentials, || abi::connect(binding, info)) };
        // SAFETY: the caller's promise.
        let object = unsafe { within(said, canceller, connect) }?;
        // SAFETY: the caller's promise.
        unsafe { give(found, Found::of(&object)?) }
    })
}

/// Calls a method: sends a request's frame and returns the reply's frame, which the caller must
/// verify. The method's HRESULT is stored in `returned`; if it is a failure, there are no results.
///
/// `given` is the list of the references that [`obvia_java_reference`] has made for the request, in
/// the format of [`references_in`]. If the server does not receive these references, the runtime
/// takes them back.
///
/// # Safety
///
/// `request` and `given` must be readable for their lengths in bytes, `said` must be null or
/// readable, `canceller` must be null or a canceller of this library, `returned` must be null or
/// writable, and `results` must meet the conditions of [`give_bytes`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_call(
    object: Handle,
    opnum: u32,
    request: *const u8,
    length: usize,
    given: *const u8,
    given_length: usize,
    said: *const Said,
    canceller: *const Canceller,
    returned: *mut HRESULT,
    results: *mut Bytes,
) -> HRESULT {
    guarded(|| {
        let object = get(object)?;
        // SAFETY: the caller's promise.
        let request = unsafe { bytes(request, length) };
        // SAFETY: the caller's promise.
        let given = references_in(unsafe { bytes(given, given_length) })?;
        let call = || pointer::call(&object, number(opnum)?, request, &given);
        // SAFETY: the caller's promise.
        let made = unsafe { within(said, canceller, call) };
        let (result, reply) = made?;
        // SAFETY: the caller's promise.
        unsafe { give_bytes(results, reply) }?;
        // SAFETY: the caller's promise.
        unsafe { give(returned, result) }
    })
}

/// Sends the request of a call without response, with references as in [`obvia_java_call`].
///
/// # Safety
///
/// `request` and `given` must be readable for their lengths in bytes, `said` must be null or
/// readable, and `canceller` must be null or a canceller of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_call_oneway(
    object: Handle,
    opnum: u32,
    request: *const u8,
    length: usize,
    given: *const u8,
    given_length: usize,
    said: *const Said,
    canceller: *const Canceller,
) -> HRESULT {
    guarded(|| {
        let object = get(object)?;
        // SAFETY: the caller's promise.
        let request = unsafe { bytes(request, length) };
        // SAFETY: the caller's promise.
        let given = references_in(unsafe { bytes(given, given_length) })?;
        let call = || pointer::call_oneway(&object, number(opnum)?, request, &given);
        // SAFETY: the caller's promise.
        unsafe { within(said, canceller, call) }?;
        Ok(code::S_OK)
    })
}

fn number(opnum: u32) -> Result<u16> {
    u16::try_from(opnum).map_err(|_| Error::new(code::E_INVALIDARG, format!("opnum {opnum} is out of range")))
}

/// Queries an object for another interface.
///
/// # Safety
///
/// `interface` must be a described interface, `said` must be null or readable, `canceller` must be
/// null or a canceller of this library, and `found` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_query(
    object: Handle,
    interface: *const InterfaceInfo,
    said: *const Said,
    canceller: *const Canceller,
    found: *mut Found,
) -> HRESULT {
    guarded(|| {
        let object = get(object)?;
        // SAFETY: the caller's promise.
        let info = unsafe { described(interface) }?;
        // SAFETY: the caller's promise.
        let other = unsafe { within(said, canceller, || pointer::query(&object, info)) }?;
        // SAFETY: the caller's promise.
        unsafe { give(found, Found::of(&other)?) }
    })
}
