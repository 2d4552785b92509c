//! Exporting, connecting, and how a process waits: obvia.h.

use crate::errors::{guarded, text};
use crate::interface::{Interface, describe};
use com::{GUID, HRESULT, IUnknown, Interface as _, Result, Waiting, abi, code};
use std::ffi::{CString, c_char, c_void};
use std::time::Duration;

/// `IID_IUnknown` in obvia.h.
#[unsafe(no_mangle)]
pub static IID_IUnknown: GUID = IUnknown::IID;

/// `IID_IAgileObject` in obvia.h.
#[unsafe(no_mangle)]
pub static IID_IAgileObject: GUID = abi::IID_AGILE_OBJECT;

/// `obvia_export_entry` in obvia.h.
pub struct Entry(#[expect(dead_code, reason = "dropping it ends the export")] abi::Export);

pub(crate) fn not_null<T>(pointer: *mut T) -> Result<()> {
    if pointer.is_null() { Err(code::E_POINTER.into()) } else { Ok(()) }
}

/// `obvia_export` in obvia.h.
///
/// # Safety
///
/// `name` must be null or end in NUL, `interface` be one that the compiler described, `object` be null or an interface
/// pointer, and `entry` be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_export(
    name: *const c_char,
    interface: *const Interface,
    object: *mut c_void,
    entry: *mut *mut Entry,
) -> HRESULT {
    guarded(|| {
        not_null(entry)?;
        // SAFETY: the caller's promise.
        unsafe { entry.write(std::ptr::null_mut()) };
        // SAFETY: the caller's promise.
        let name = unsafe { text(name) }?;
        // SAFETY: the caller's promise.
        let info = unsafe { describe(interface) }?;
        // SAFETY: the caller's promise.
        let object = unsafe { IUnknown::from_raw_borrowed(&object) }.ok_or(code::E_POINTER)?;
        let made = Box::new(Entry(abi::export(name, object, info)?));
        // SAFETY: the caller's promise.
        unsafe { entry.write(Box::into_raw(made)) };
        Ok(())
    })
}

/// `obvia_unexport` in obvia.h.
///
/// # Safety
///
/// `entry` must be null, or come from [`obvia_export`] and not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_unexport(entry: *mut Entry) {
    if !entry.is_null() {
        // There is nobody to tell.
        let _ = guarded(|| {
            // SAFETY: the caller's promise.
            drop(unsafe { Box::from_raw(entry) });
            Ok(())
        });
    }
}

/// `obvia_connect` in obvia.h.
///
/// # Safety
///
/// `name` must be null or end in NUL, `interface` be one that the compiler described, and `object` be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_connect(
    name: *const c_char,
    interface: *const Interface,
    object: *mut *mut c_void,
) -> HRESULT {
    guarded(|| {
        not_null(object)?;
        // SAFETY: the caller's promise.
        unsafe { object.write(std::ptr::null_mut()) };
        // SAFETY: the caller's promise.
        let name = unsafe { text(name) }?;
        // SAFETY: the caller's promise.
        let info = unsafe { describe(interface) }?;
        let found = abi::connect(name, info)?;
        // SAFETY: the caller's promise.
        unsafe { object.write(com::Interface::into_raw(found)) };
        Ok(())
    })
}

/// `obvia_serving` in obvia.h.
pub struct Serving(#[expect(dead_code, reason = "dropping it ends the service")] com::Serving);

/// `obvia_serve_interface` in obvia.h.
///
/// # Safety
///
/// `uuid` must be null or a UUID, `interface` be one that the compiler described, `object` be null or an interface pointer, and `serving`
/// be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_serve_interface(
    uuid: *const GUID,
    interface: *const Interface,
    object: *mut c_void,
    serving: *mut *mut Serving,
) -> HRESULT {
    guarded(|| {
        not_null(serving)?;
        // SAFETY: the caller's promise.
        unsafe { serving.write(std::ptr::null_mut()) };
        // SAFETY: the caller's promise.
        let uuid = unsafe { uuid.as_ref() }.copied().unwrap_or_default();
        // SAFETY: the caller's promise.
        let info = unsafe { describe(interface) }?;
        // SAFETY: the caller's promise.
        let object = unsafe { IUnknown::from_raw_borrowed(&object) }.ok_or(code::E_POINTER)?;
        let made = Box::new(Serving(abi::serve_interface(uuid, object, info)?));
        // SAFETY: the caller's promise.
        unsafe { serving.write(Box::into_raw(made)) };
        Ok(())
    })
}

/// `obvia_end_serving` in obvia.h.
///
/// # Safety
///
/// `serving` must be null, or come from [`obvia_serve_interface`] and not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_end_serving(serving: *mut Serving) {
    if !serving.is_null() {
        // There is nobody to tell.
        let _ = guarded(|| {
            // SAFETY: the caller's promise.
            drop(unsafe { Box::from_raw(serving) });
            Ok(())
        });
    }
}

/// `obvia_bind` in obvia.h.
///
/// # Safety
///
/// `binding` must be null or end in NUL, `interface` be one that the compiler described, and `server` be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_bind(
    binding: *const c_char,
    interface: *const Interface,
    server: *mut *mut c_void,
) -> HRESULT {
    guarded(|| {
        not_null(server)?;
        // SAFETY: the caller's promise.
        unsafe { server.write(std::ptr::null_mut()) };
        // SAFETY: the caller's promise.
        let binding = unsafe { text(binding) }?;
        // SAFETY: the caller's promise.
        let info = unsafe { describe(interface) }?;
        let found = abi::bind(binding, info)?;
        // SAFETY: the caller's promise.
        unsafe { server.write(com::Interface::into_raw(found)) };
        Ok(())
    })
}

/// `obvia_listen` in obvia.h.
///
/// # Safety
///
/// `binding` must be null or end in NUL, and `bound` be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_listen(binding: *const c_char, bound: *mut *mut c_char) -> HRESULT {
    guarded(|| {
        // SAFETY: the caller's promise.
        let heard = com::listen(unsafe { text(binding) }?)?;
        // SAFETY: the caller's promise.
        unsafe { give(bound, heard) }
    })
}

/// `obvia_listen_for` in obvia.h.
///
/// # Safety
///
/// `interface` must be one that the compiler described, and `bound` be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_listen_for(interface: *const Interface, bound: *mut *mut c_char) -> HRESULT {
    guarded(|| {
        // SAFETY: the caller's promise.
        let heard = abi::listen_for(unsafe { describe(interface) }?)?;
        // SAFETY: the caller's promise.
        unsafe { give(bound, heard.join("\n")) }
    })
}

/// Gives the caller a text to be freed, where it is wanted.
///
/// # Safety
///
/// `place` must be null or writable.
pub(crate) unsafe fn give(place: *mut *mut c_char, said: String) -> Result<()> {
    if place.is_null() {
        return Ok(());
    }
    let said = abi::give_text(CString::new(said)?);
    if said.is_null() {
        return Err(code::E_OUTOFMEMORY.into());
    }
    // SAFETY: the caller's promise.
    unsafe { place.write(said.cast()) };
    Ok(())
}

/// `obvia_registration` in obvia.h.
pub struct Registration(#[expect(dead_code, reason = "dropping it ends the registration")] com::Registration);

/// `obvia_register_endpoints` in obvia.h.
///
/// # Safety
///
/// `mapper` and `annotation` must be null or end in NUL, and `registration` be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_register_endpoints(
    mapper: *const c_char,
    annotation: *const c_char,
    registration: *mut *mut Registration,
) -> HRESULT {
    guarded(|| {
        not_null(registration)?;
        // SAFETY: the caller's promise.
        unsafe { registration.write(std::ptr::null_mut()) };
        let said = |words: *const c_char| {
            if words.is_null() {
                return Ok(None);
            }
            // SAFETY: the caller's promise; not null.
            unsafe { text(words) }.map(Some)
        };
        let made = com::register_endpoints(said(mapper)?, said(annotation)?.unwrap_or_default())?;
        // SAFETY: the caller's promise.
        unsafe { registration.write(Box::into_raw(Box::new(Registration(made)))) };
        Ok(())
    })
}

/// `obvia_unregister_endpoints` in obvia.h.
///
/// # Safety
///
/// `registration` must be null, or come from [`obvia_register_endpoints`] and not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_unregister_endpoints(registration: *mut Registration) {
    if !registration.is_null() {
        // There is nobody to tell.
        let _ = guarded(|| {
            // SAFETY: the caller's promise.
            drop(unsafe { Box::from_raw(registration) });
            Ok(())
        });
    }
}

/// `obvia_wait` in obvia.h.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_wait() {
    com::wait()
}

/// `obvia_set_waiting` in obvia.h.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_set_waiting(waiting: i32) {
    com::set_waiting(match waiting {
        0 => Waiting::Poll,
        1 => Waiting::Block,
        _ => Waiting::Adaptive,
    });
}

/// `OBVIA_DEFAULT_TIMEOUT` in obvia.h.
const DEFAULT_TIMEOUT: u32 = u32::MAX;

/// `obvia_set_timeout` in obvia.h.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_set_timeout(milliseconds: u32) -> u32 {
    let said = (milliseconds != DEFAULT_TIMEOUT).then(|| Duration::from_millis(milliseconds.into()));
    let before = abi::set_timeout(said).map(|before| before.as_millis().min((DEFAULT_TIMEOUT - 1).into()) as u32);
    before.unwrap_or(DEFAULT_TIMEOUT)
}

/// `obvia_share` in obvia.h.
///
/// # Safety
///
/// `memory` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_share(bytes: usize, access: i32, memory: *mut *mut c_void) -> HRESULT {
    guarded(|| {
        not_null(memory)?;
        // SAFETY: the caller's promise.
        unsafe { memory.write(std::ptr::null_mut()) };
        let access = match access {
            0 => abi::Access::Read,
            1 => abi::Access::Write,
            _ => return Err(code::E_INVALIDARG.into()),
        };
        let made = abi::share(bytes, access)?;
        // SAFETY: the caller's promise.
        unsafe { memory.write(made.cast()) };
        Ok(())
    })
}

/// `obvia_unshare` in obvia.h.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_unshare(memory: *mut c_void) {
    // There is nobody to tell.
    let _ = guarded(|| {
        abi::unshare(memory.cast());
        Ok(())
    });
}
