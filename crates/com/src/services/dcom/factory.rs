//! IClassFactory: makes objects of a class, for its own process and for others.
//!
//! Programs call CreateInstance and LockServer. Two other methods are marshaled in their place:
//! RemoteCreateInstance and RemoteLockServer (Windows' unknwn.idl). This module converts between
//! both pairs.

#![allow(non_snake_case, missing_docs, reason = "names are COM's; the macro hands on no documentation of methods")]

use super::classes::{Activated, ServerLock};
use crate::client::proxy::Wanted;
use crate::marshal::stub::Adapter;
use crate::runtime::Runtime;
use crate::server::caller;
use crate::server::exports::query_by;
use crate::services::dcom::classes::Classes;
use crate::types::error::{Result, check, code, guard, leave};
use crate::types::registry::{self, Description, InterfaceInfo, Remote, Stubs, VtablePointer, pad};
use obvia_rpc::vi_call::{Answer, ServerCall};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};
use windows_core::{GUID, HRESULT, IUnknown, IUnknownImpl as _, Interface, interface};

/// COM's IClassFactory.
#[interface("00000001-0000-0000-c000-000000000046")]
pub unsafe trait IClassFactory: IUnknown {
    /// Makes an object, as part of an aggregate where `outer` is not null.
    pub unsafe fn CreateInstance(&self, outer: *mut c_void, iid: *const GUID, object: *mut *mut c_void) -> HRESULT;
    /// Adds or removes a lock on the server.
    pub unsafe fn LockServer(&self, lock: i32) -> HRESULT;
}

impl IClassFactory {
    /// Makes an object.
    ///
    /// # Errors
    ///
    /// E_NOINTERFACE when the object has no such interface; the server's error where it made no
    /// object; otherwise as for every call.
    pub fn create_instance<I: Remote>(&self) -> Result<I> {
        registry::register_module(I::INFO);
        let mut object = null_mut();
        // SAFETY: the pointers are valid during the call, and no outer object is passed.
        check(unsafe { self.CreateInstance(null_mut(), &I::IID, &mut object) })?;
        if object.is_null() {
            return Err(code::E_NOINTERFACE.into());
        }
        // SAFETY: the call succeeded, so the pointer is a counted pointer of the requested
        // interface.
        Ok(unsafe { I::from_raw(object) })
    }

    /// Adds or removes a lock on the server. The server stays until each lock has been removed.
    ///
    /// # Errors
    ///
    /// As for every call.
    pub fn lock_server(&self, stays: bool) -> Result<()> {
        // SAFETY: the method takes no pointer.
        check(unsafe { self.LockServer(stays.into()) })
    }
}

crate::include_idl! {
    /// The code that the compiler generates from `class_factory.idl`.
    mod made = "class_factory"
}

/// The description of IClassFactory, written by hand in the form that the compiler generates.
// SAFETY: the vtable and the stubs are made for this interface.
pub(crate) static INFO: InterfaceInfo = unsafe { InterfaceInfo::new(DESCRIPTION) };

const DESCRIPTION: Description = Description {
    name: "IClassFactory",
    iid: IClassFactory::IID,
    version: (0, 0),
    fingerprint: made::FINGERPRINT,
    plain: false,
    endpoints: &[],
    base: None,
    proxy: VtablePointer((&raw const PROXY).cast()),
    stubs: Stubs::new(&pad::<8>(&[create_stub, lock_stub])),
    // Clients get no IDL text: the text in `class_factory.idl` has another UUID than IClassFactory.
    idl: "",
    ndr: made::NDR,
    module: &[],
};

// SAFETY: the vtable and the stubs are made for this interface.
unsafe impl Remote for IClassFactory {
    const INFO: &'static InterfaceInfo = &INFO;
}

static PROXY: IClassFactory_Vtbl = IClassFactory_Vtbl {
    base__: crate::client::proxy::UNKNOWN,
    CreateInstance: create_proxy,
    LockServer: made::IClassFactory_RemoteLockServer_proxy,
};

unsafe extern "system" fn create_proxy(
    this: *mut c_void,
    outer: *mut c_void,
    iid: *const GUID,
    object: *mut *mut c_void,
) -> HRESULT {
    // SAFETY: by the contract of IClassFactory, `iid` is null or points to an IID, and `object` is
    // null or has room for a pointer.
    match unsafe { begin(outer, iid, object) } {
        // SAFETY: `this` and `object` are the arguments of this function. `begin` has succeeded, so
        // `object` is not null and has room for a pointer. `iid` is a local variable.
        Ok(iid) => unsafe { made::IClassFactory_RemoteCreateInstance_proxy(this, &raw const iid, object) },
        Err(refused) => refused,
    }
}

/// Begins IClassFactory::CreateInstance: checks the arguments, sets the result to null, and returns
/// the requested IID, or the HRESULT of the refusal. Refuses aggregation for proxies as well: an
/// object of another process cannot be a part of an object of this process.
///
/// # Safety
///
/// `iid` must be null or point to an IID; `object` must be null or have room for a pointer.
unsafe fn begin(outer: *mut c_void, iid: *const GUID, object: *mut *mut c_void) -> std::result::Result<GUID, HRESULT> {
    if iid.is_null() || object.is_null() {
        return Err(code::E_POINTER);
    }
    // SAFETY: the pointer is not null, so the caller promises that it has room for a pointer.
    unsafe { object.write(null_mut()) };
    if !outer.is_null() {
        return Err(code::CLASS_E_NOAGGREGATION);
    }
    // SAFETY: the pointer is not null, so the caller promises that it points to an IID.
    Ok(unsafe { iid.read() })
}

/// The vtable through which the generated stubs call a class factory. The vtable has the marshaled
/// methods.
static METHODS: made::IClassFactory_Vtbl = made::IClassFactory_Vtbl {
    // The methods in `base__` are never called: the stubs do not call IUnknown's methods of an
    // adapter.
    base__: crate::client::proxy::UNKNOWN,
    RemoteCreateInstance: remote_create,
    RemoteLockServer: remote_lock,
};

/// Returns the class factory to which an adapter belongs; `None` if it is null. The factory is
/// alive during the call.
///
/// # Safety
///
/// `this` must be an adapter that one of the stubs below has made.
unsafe fn factory(this: *mut c_void) -> Option<IClassFactory> {
    // SAFETY: the caller promises that `this` is an adapter that one of the stubs has made.
    let object = unsafe { Adapter::<made::IClassFactory_Vtbl>::object(this) };
    // SAFETY: the stubs receive class factories, which are alive during the call.
    unsafe { IClassFactory::from_raw_borrowed(&object) }.cloned()
}

unsafe extern "C-unwind" fn create_stub(object: *mut c_void, call: &mut ServerCall<'_>) -> Answer {
    let mut adapter = Adapter::new(&METHODS, object);
    // SAFETY: the stub calls only the method that it marshals, and the adapter's vtable has it.
    unsafe { made::IClassFactory_RemoteCreateInstance_stub(adapter.as_raw(), call) }
}

unsafe extern "C-unwind" fn lock_stub(object: *mut c_void, call: &mut ServerCall<'_>) -> Answer {
    let mut adapter = Adapter::new(&METHODS, object);
    // SAFETY: the stub calls only the method that it marshals, and the adapter's vtable has it.
    unsafe { made::IClassFactory_RemoteLockServer_stub(adapter.as_raw(), call) }
}

unsafe extern "system" fn remote_create(this: *mut c_void, iid: *const GUID, object: *mut *mut c_void) -> HRESULT {
    // SAFETY: only `create_stub` calls this function, with the adapter that it has made.
    let Some(factory) = (unsafe { self::factory(this) }) else {
        return code::E_POINTER;
    };
    // SAFETY: the stub passes a pointer to an IID.
    let wanted = unsafe { iid.read() };
    // If the interface is not known here, it cannot be marshaled, and no object is made.
    if Wanted::Iid(wanted).info().is_err() {
        return code::E_NOINTERFACE;
    }
    let Ok(own) = factory.cast_object_ref::<Factory>() else {
        // SAFETY: the stub passes a pointer to an IID and room for a pointer, and no outer object
        // is passed.
        return unsafe { factory.CreateInstance(null_mut(), iid, object) };
    };
    // SAFETY: the stub passes a pointer to an IID and room for a pointer.
    unsafe { hand_out(null_mut(), iid, object, |iid| own.make_for_caller(iid)) }
}

/// Performs IClassFactory::CreateInstance: makes an object and stores the requested interface.
///
/// # Safety
///
/// `iid` must be null or point to an IID; `object` must be null or have room for a pointer.
pub(super) unsafe fn hand_out(
    outer: *mut c_void,
    iid: *const GUID,
    object: *mut *mut c_void,
    make: impl FnOnce(&GUID) -> Result<IUnknown>,
) -> HRESULT {
    // SAFETY: the caller promises for `iid` and `object` what `begin` requires.
    let iid = match unsafe { begin(outer, iid, object) } {
        Ok(iid) => iid,
        Err(refused) => return refused,
    };
    // The program's code can panic.
    guard(|| match make(&iid) {
        Ok(made) => {
            // SAFETY: the pointer is not null, so the caller promises that it has room for a
            // pointer.
            unsafe { object.write(made.into_raw()) };
            code::S_OK
        }
        Err(error) => leave(error),
    })
}

unsafe extern "system" fn remote_lock(this: *mut c_void, lock: i32) -> HRESULT {
    // SAFETY: only `lock_stub` calls this function, with the adapter that it has made.
    let Some(factory) = (unsafe { self::factory(this) }) else {
        return code::E_POINTER;
    };
    match factory.cast_object_ref::<Factory>() {
        Ok(own) => own.lock_for_caller(lock != 0).map_or_else(leave, |()| code::S_OK),
        // SAFETY: the method takes no pointer.
        Err(_) => unsafe { factory.LockServer(lock) },
    }
}

/// The default class object, for a class that the program has registered without a class object.
#[obvia::object(IClassFactory)]
pub(super) struct Factory {
    runtime: &'static Runtime,
    class: GUID,
    /// The locks that this process itself has added.
    locks: Mutex<Vec<ServerLock>>,
}

impl Factory {
    pub(super) fn of(runtime: &'static Runtime, class: GUID) -> IUnknown {
        IClassFactory::from(Self { runtime, class, locks: Mutex::default() }).into()
    }

    fn make(&self, iid: &GUID) -> Result<IUnknown> {
        query_by(Classes::of(self.runtime).activate(&self.class, Activated::Instance)?.get(), iid)
    }

    /// Makes an object for another process. Access is checked on each call, since the rules may
    /// change.
    fn make_for_caller(&self, iid: &GUID) -> Result<IUnknown> {
        let caller = caller().ok_or(code::E_UNEXPECTED)?;
        self.runtime.rules().check_class(&self.class, || caller.shown())?;
        self.make(iid)
    }
}

impl Factory_Impl {
    /// Adds or removes a lock of another process. The lock is a reference to this object that is
    /// counted for that process. Thus no other client can remove the lock, and the lock ends with
    /// the process.
    fn lock_for_caller(&self, stays: bool) -> Result<()> {
        let holder = caller().ok_or(code::E_UNEXPECTED)?.holder();
        let exports = self.runtime.exports();
        let own: IUnknown = self.to_interface();
        if stays {
            return exports.lock_for(&own, &INFO, holder);
        }
        exports.unlock_for(&own, &INFO, holder);
        Ok(())
    }
}

impl IClassFactory_Impl for Factory_Impl {
    unsafe fn CreateInstance(&self, outer: *mut c_void, iid: *const GUID, object: *mut *mut c_void) -> HRESULT {
        // SAFETY: by the contract of IClassFactory, `iid` is null or points to an IID, and `object`
        // is null or has room for a pointer.
        unsafe { hand_out(outer, iid, object, |iid| self.make(iid)) }
    }

    unsafe fn LockServer(&self, lock: i32) -> HRESULT {
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        if lock == 0 {
            drop(locks.pop());
            return code::S_OK;
        }
        match Runtime::current() {
            Ok(runtime) => locks.push(ServerLock::new(runtime)),
            Err(error) => return leave(error),
        }
        code::S_OK
    }
}
