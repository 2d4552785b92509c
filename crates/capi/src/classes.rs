//! Classes: having objects made, and making them for others: obvia.h.

use crate::errors::{guarded, text};
use crate::interface::{Interface, describe};
use crate::runtime::not_null;
use com::abi::{self, Activated};
use com::dcom::{ClassContext, ClassRegistration, ServerLock};
use com::{Error, GUID, HRESULT, IUnknown, Interface as _, Result, code};
use std::ffi::{c_char, c_void};
use std::ptr::null_mut;
use std::time::Duration;

/// `obvia_make` in obvia.h.
type Make = unsafe extern "C" fn(context: *mut c_void, object: *mut *mut c_void) -> HRESULT;

/// What a program makes objects with; released when its class is registered no more.
struct Maker {
    make: Make,
    context: *mut c_void,
    release: Option<unsafe extern "C" fn(context: *mut c_void)>,
}

// SAFETY: who registers a class promises that any thread may call what makes its objects.
unsafe impl Send for Maker {}
// SAFETY: as above, and several at once.
unsafe impl Sync for Maker {}

impl Maker {
    fn make(&self) -> Result<IUnknown> {
        let mut object = null_mut();
        // SAFETY: who registered the class promises that it can be called with its context.
        let result = unsafe { (self.make)(self.context, &raw mut object) };
        com::rt::check(result)?;
        if object.is_null() {
            return Err(Error::new(code::E_POINTER, "what makes the class's objects has made none"));
        }
        // SAFETY: as above: it gave an interface pointer, which is the caller's.
        Ok(unsafe { IUnknown::from_raw(object) })
    }
}

impl Drop for Maker {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: as above; it is not used any more.
            unsafe { release(self.context) };
        }
    }
}

/// `obvia_register_class` in obvia.h.
///
/// # Safety
///
/// `class` must be null or readable, `object` null or an interface pointer, `interface` one that the compiler described, `make` null or a
/// function that any thread can call with `context` until `release`, unless it is null, is called, and `registration` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_register_class(
    class: *const GUID,
    object: *mut c_void,
    interface: *const Interface,
    make: Option<Make>,
    context: *mut c_void,
    release: Option<unsafe extern "C" fn(context: *mut c_void)>,
    registration: *mut *mut ClassRegistration,
) -> HRESULT {
    guarded(|| {
        // From here on the context is released in any case.
        let maker = make.map(|make| Maker { make, context, release });
        not_null(registration)?;
        // SAFETY: the caller's promise.
        unsafe { registration.write(null_mut()) };
        let maker = maker.ok_or(code::E_POINTER)?;
        // SAFETY: the caller's promise.
        let class = unsafe { class.as_ref() }.ok_or(code::E_POINTER)?;
        // SAFETY: the caller's promise.
        let object = unsafe { IUnknown::from_raw_borrowed(&object) };
        // SAFETY: the caller's promise.
        let info = unsafe { describe(interface) }?;
        let made = Box::new(abi::register_class_by(*class, object, info, move || maker.make())?);
        // SAFETY: the caller's promise.
        unsafe { registration.write(Box::into_raw(made)) };
        Ok(())
    })
}

/// `obvia_revoke_class` in obvia.h.
///
/// # Safety
///
/// `registration` must be null, or come from [`obvia_register_class`] and not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_revoke_class(registration: *mut ClassRegistration) {
    if !registration.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(registration) });
    }
}

/// Has something of a class made or found.
///
/// # Safety
///
/// As for [`obvia_create_instance`].
unsafe fn create(
    class: *const GUID,
    server: *const c_char,
    interface: *const Interface,
    object: *mut *mut c_void,
    wanted: Activated,
    context: ClassContext,
) -> HRESULT {
    guarded(|| {
        not_null(object)?;
        // SAFETY: the caller's promise.
        unsafe { object.write(null_mut()) };
        // SAFETY: the caller's promise.
        let class = unsafe { class.as_ref() }.ok_or(code::E_POINTER)?;
        let server = if server.is_null() {
            None
        } else {
            // SAFETY: the caller's promise.
            Some(unsafe { text(server) }?)
        };
        // SAFETY: the caller's promise.
        let info = unsafe { describe(interface) }?;
        let made = abi::create(*class, server, wanted, context, info)?;
        // SAFETY: the caller's promise.
        unsafe { object.write(made.into_raw()) };
        Ok(())
    })
}

/// `obvia_create_instance` in obvia.h.
///
/// # Safety
///
/// `class` must be null or readable, `server` null or end in NUL, `interface` one that the compiler described, and `object` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_create_instance(
    class: *const GUID,
    server: *const c_char,
    interface: *const Interface,
    object: *mut *mut c_void,
) -> HRESULT {
    // SAFETY: the caller's promise.
    unsafe { create(class, server, interface, object, Activated::Instance, ClassContext::ALL) }
}

/// `obvia_create_instance_in` in obvia.h.
///
/// # Safety
///
/// As for [`obvia_create_instance`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_create_instance_in(
    class: *const GUID,
    contexts: u32,
    interface: *const Interface,
    object: *mut *mut c_void,
) -> HRESULT {
    let context = ClassContext::from_bits(contexts);
    // SAFETY: the caller's promise.
    unsafe { create(class, std::ptr::null(), interface, object, Activated::Instance, context) }
}

/// `obvia_get_class_object` in obvia.h.
///
/// # Safety
///
/// As for [`obvia_create_instance`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_get_class_object(
    class: *const GUID,
    server: *const c_char,
    interface: *const Interface,
    object: *mut *mut c_void,
) -> HRESULT {
    // SAFETY: the caller's promise.
    unsafe { create(class, server, interface, object, Activated::ClassObject, ClassContext::ALL) }
}

/// `obvia_class_named` in obvia.h.
///
/// # Safety
///
/// `name` must be null or end in NUL, and `class` be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_class_named(name: *const c_char, class: *mut GUID) -> HRESULT {
    guarded(|| {
        not_null(class)?;
        // SAFETY: the caller's promise.
        let found = com::dcom::class_named(unsafe { text(name) }?)?;
        // SAFETY: the caller's promise.
        unsafe { class.write(found) };
        Ok(())
    })
}

/// `obvia_serve_until_idle` in obvia.h.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_serve_until_idle(milliseconds: u32) -> HRESULT {
    guarded(|| com::dcom::serve_until_idle(Duration::from_millis(milliseconds.into())))
}

/// `obvia_lock_server` in obvia.h.
///
/// # Safety
///
/// `lock` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_lock_server(lock: *mut *mut ServerLock) -> HRESULT {
    guarded(|| {
        not_null(lock)?;
        // SAFETY: the caller's promise.
        unsafe { lock.write(null_mut()) };
        let made = Box::new(com::dcom::lock_server()?);
        // SAFETY: the caller's promise.
        unsafe { lock.write(Box::into_raw(made)) };
        Ok(())
    })
}

/// `obvia_unlock_server` in obvia.h.
///
/// # Safety
///
/// `lock` must be null, or come from [`obvia_lock_server`] and not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_unlock_server(lock: *mut ServerLock) {
    if !lock.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(lock) });
    }
}
