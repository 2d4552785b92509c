//! IClassFactory: what makes objects of a class, for its own process and for others.
//!
//! Programs call two methods; two others travel (Windows' unknwn.idl: RemoteCreateInstance, RemoteLockServer). They are converted here.

#![allow(non_snake_case, missing_docs, reason = "names are COM's; the macro hands on no documentation of methods")]

use super::classes::{Activated, ServerLock, lock_server};
use crate::agile::{IChecked, IChecked_Impl};
use crate::error::{Result, code, leave};
use crate::exports::query_by;
use crate::marshal::Wanted;
use crate::registry::{self, Description, InterfaceInfo, Remote, VtablePointer};
use crate::rt::{Answer, ServerCall, check, pad};
use crate::runtime::Runtime;
use crate::server::caller;
use crate::stub::{Adapter, Stubs, guard};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};
use windows_core::{GUID, HRESULT, IUnknown, IUnknownImpl as _, Interface, implement, interface};

/// COM's IClassFactory.
#[interface("00000001-0000-0000-c000-000000000046")]
pub unsafe trait IClassFactory: IUnknown {
    /// Makes an object, as a part of another one where `outer` is not null.
    pub unsafe fn CreateInstance(&self, outer: *mut c_void, iid: *const GUID, object: *mut *mut c_void) -> HRESULT;
    /// Keeps the server, or no longer.
    pub unsafe fn LockServer(&self, lock: i32) -> HRESULT;
}

impl IClassFactory {
    /// Has an object made.
    ///
    /// # Errors
    ///
    /// E_NOINTERFACE when it has no such interface; why there is no object; otherwise as for every call.
    pub fn create_instance<I: Remote>(&self) -> Result<I> {
        registry::register_module(I::INFO);
        let mut object = null_mut();
        // SAFETY: the pointers are good for the call, and the object is to be a part of none.
        check(unsafe { self.CreateInstance(null_mut(), &I::IID, &mut object) })?;
        if object.is_null() {
            return Err(code::E_NOINTERFACE.into());
        }
        // SAFETY: the call succeeded, so this is a counted pointer of the interface that was asked for.
        Ok(unsafe { I::from_raw(object) })
    }

    /// Has the server stay, or lets it end. It stays until it has been let go as often as it was told to stay.
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
    /// What the compiler writes of `class_factory.idl`.
    mod made = "class_factory"
}

/// What the compiler would know about the interface.
// SAFETY: vtable and stubs are this interface's.
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
    // The text has a uuid of nobody's.
    idl: "",
    ndr: made::NDR,
    module: &[],
};

// SAFETY: vtable and stubs were made for this interface.
unsafe impl Remote for IClassFactory {
    const INFO: &'static InterfaceInfo = &INFO;
}

static PROXY: IClassFactory_Vtbl = IClassFactory_Vtbl {
    base__: crate::proxy::UNKNOWN,
    CreateInstance: create_proxy,
    LockServer: made::IClassFactory_RemoteLockServer_proxy,
};

unsafe extern "system" fn create_proxy(
    this: *mut c_void,
    outer: *mut c_void,
    iid: *const GUID,
    object: *mut *mut c_void,
) -> HRESULT {
    // SAFETY: by the contract of IClassFactory.
    match unsafe { begin(outer, iid, object) } {
        // SAFETY: what this function was called with.
        Ok(iid) => unsafe { made::IClassFactory_RemoteCreateInstance_proxy(this, &raw const iid, object) },
        Err(refused) => refused,
    }
}

/// Begins IClassFactory::CreateInstance: checks the arguments, sets the result to null, and returns the
/// requested IID, or the HRESULT of the refusal. Refuses aggregation for proxies as well: an object of
/// another process cannot be a part of an object of this process.
///
/// # Safety
///
/// `iid` must be null or point to an IID, `object` be null or have room for a pointer.
unsafe fn begin(outer: *mut c_void, iid: *const GUID, object: *mut *mut c_void) -> std::result::Result<GUID, HRESULT> {
    if iid.is_null() || object.is_null() {
        return Err(code::E_POINTER);
    }
    // SAFETY: it is not null, and the caller promises the rest.
    unsafe { object.write(null_mut()) };
    if !outer.is_null() {
        return Err(code::CLASS_E_NOAGGREGATION);
    }
    // SAFETY: as above.
    Ok(unsafe { iid.read() })
}

/// A class factory as the stubs that the compiler writes see it: with the methods that travel.
static METHODS: made::IClassFactory_Vtbl = made::IClassFactory_Vtbl {
    // No stub calls these.
    base__: crate::proxy::UNKNOWN,
    RemoteCreateInstance: remote_create,
    RemoteLockServer: remote_lock,
};

/// The class factory, which the call keeps.
///
/// # Safety
///
/// `this` must be what a stub below has made.
unsafe fn factory(this: *mut c_void) -> Option<IClassFactory> {
    // SAFETY: the caller's promise.
    let object = unsafe { Adapter::<made::IClassFactory_Vtbl>::object(this) };
    // SAFETY: the stubs are given class factories, which are alive for the call.
    unsafe { IClassFactory::from_raw_borrowed(&object) }.cloned()
}

unsafe extern "C-unwind" fn create_stub(object: *mut c_void, call: &mut ServerCall<'_>) -> Answer {
    let mut adapter = Adapter::new(&METHODS, object);
    // SAFETY: the stub calls its one method of an object whose vtable has it.
    unsafe { made::IClassFactory_RemoteCreateInstance_stub(adapter.as_raw(), call) }
}

unsafe extern "C-unwind" fn lock_stub(object: *mut c_void, call: &mut ServerCall<'_>) -> Answer {
    let mut adapter = Adapter::new(&METHODS, object);
    // SAFETY: as above.
    unsafe { made::IClassFactory_RemoteLockServer_stub(adapter.as_raw(), call) }
}

unsafe extern "system" fn remote_create(this: *mut c_void, iid: *const GUID, object: *mut *mut c_void) -> HRESULT {
    // SAFETY: only the stub above calls this.
    let Some(factory) = (unsafe { self::factory(this) }) else {
        return code::E_POINTER;
    };
    // SAFETY: the stub has an IID.
    let wanted = unsafe { iid.read() };
    // Nothing is made that could not travel.
    if Wanted::Iid(wanted).info().is_err() {
        return code::E_NOINTERFACE;
    }
    let Ok(own) = factory.cast_object_ref::<Factory>() else {
        // SAFETY: what this function was called with, and an object that is a part of none.
        return unsafe { factory.CreateInstance(null_mut(), iid, object) };
    };
    // SAFETY: what this function was called with.
    unsafe { hand_out(null_mut(), iid, object, |iid| own.make_for_caller(iid)) }
}

/// Has an object made, and hands out the interface that is asked for: what IClassFactory::CreateInstance does.
///
/// # Safety
///
/// `iid` must be null or point to an IID, `object` be null or have room for a pointer.
pub(super) unsafe fn hand_out(
    outer: *mut c_void,
    iid: *const GUID,
    object: *mut *mut c_void,
    make: impl FnOnce(&GUID) -> Result<IUnknown>,
) -> HRESULT {
    // SAFETY: the caller's promise.
    let iid = match unsafe { begin(outer, iid, object) } {
        Ok(iid) => iid,
        Err(refused) => return refused,
    };
    // What panics is the author's code.
    guard(|| match make(&iid) {
        Ok(made) => {
            // SAFETY: it is not null, and the caller promises the rest.
            unsafe { object.write(made.into_raw()) };
            code::S_OK
        }
        Err(error) => leave(error),
    })
}

unsafe extern "system" fn remote_lock(this: *mut c_void, lock: i32) -> HRESULT {
    // SAFETY: only the stub above calls this.
    let Some(factory) = (unsafe { self::factory(this) }) else {
        return code::E_POINTER;
    };
    match factory.cast_object_ref::<Factory>() {
        Ok(own) => own.lock_for_caller(lock != 0).map_or_else(leave, |()| code::S_OK),
        // SAFETY: the method takes no pointer.
        Err(_) => unsafe { factory.LockServer(lock) },
    }
}

/// What stands for a class that this process has registered without an object for that.
#[implement(IClassFactory, IChecked)]
pub(super) struct Factory {
    runtime: &'static Runtime,
    class: GUID,
    /// The locks of this process itself.
    locks: Mutex<Vec<ServerLock>>,
}

const _: () = {
    const fn is_shared<T: Send + Sync + 'static>() {}
    is_shared::<Factory_Impl>();
};

impl Factory {
    pub(super) fn of(runtime: &'static Runtime, class: GUID) -> IUnknown {
        IClassFactory::from(Self { runtime, class, locks: Mutex::default() }).into()
    }

    fn make(&self, iid: &GUID) -> Result<IUnknown> {
        query_by(self.runtime.classes().activate(&self.class, Activated::Instance)?.get(), iid)
    }

    /// The same for another process. Whether it may have objects made is looked at each time, since rules change.
    fn make_for_caller(&self, iid: &GUID) -> Result<IUnknown> {
        let caller = caller().ok_or(code::E_UNEXPECTED)?;
        self.runtime.rules().check_class(&self.class, || caller.shown())?;
        self.make(iid)
    }
}

impl Factory_Impl {
    /// Has another process keep this one, or no longer. What keeps it are references to this object: nobody else can give them back, and they end with
    /// that process.
    fn lock_for_caller(&self, stays: bool) -> Result<()> {
        let holder = caller().ok_or(code::E_UNEXPECTED)?.holder();
        let exports = self.runtime.exports();
        let own: IUnknown = self.to_interface();
        if stays {
            return exports.lock_for(&own, &INFO, holder);
        }
        exports.unlock_for(&own, &INFO, holder);
        self.runtime.clients().wake_all();
        Ok(())
    }
}

impl IChecked_Impl for Factory_Impl {}

impl IClassFactory_Impl for Factory_Impl {
    unsafe fn CreateInstance(&self, outer: *mut c_void, iid: *const GUID, object: *mut *mut c_void) -> HRESULT {
        // SAFETY: by the contract of IClassFactory.
        unsafe { hand_out(outer, iid, object, |iid| self.make(iid)) }
    }

    unsafe fn LockServer(&self, lock: i32) -> HRESULT {
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        if lock == 0 {
            drop(locks.pop());
            return code::S_OK;
        }
        match lock_server() {
            Ok(lock) => locks.push(lock),
            Err(error) => return leave(error),
        }
        code::S_OK
    }
}
