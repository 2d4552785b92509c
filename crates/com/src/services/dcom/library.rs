//! Shared libraries that make objects in their client's process: loading such libraries, and
//! exporting classes from one.

#![allow(non_snake_case, missing_docs, reason = "names are COM's; the macro hands on no documentation of methods")]

use super::classes::Activated;
use super::factory::{IClassFactory, IClassFactory_Impl, hand_out};
use crate::runtime::Runtime;
use crate::server::exports::query_by;
use crate::services::process;
use crate::types::error::{Error, Result, code};
use crate::types::threads::lock;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::collections::HashMap;
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, MutexGuard};
use windows_core::{GUID, HRESULT, IUnknown, Interface};

type GetClassObject = unsafe extern "system" fn(*const GUID, *const GUID, *mut *mut c_void) -> HRESULT;
type CanUnloadNow = unsafe extern "system" fn() -> HRESULT;

/// A loaded library.
struct Loaded {
    get_class_object: GetClassObject,
    can_unload: Option<CanUnloadNow>,
    // Invariant: the functions above belong to this library.
    _library: Library,
}

/// The libraries that this process has loaded.
#[derive(Default)]
pub(crate) struct Libraries(Mutex<HashMap<PathBuf, Arc<Loaded>>>);

impl Loaded {
    fn new(path: &Path) -> Result<Self> {
        let failed = |code, error: libloading::Error| Error::new(code, format!("{}: {error}", path.display()));
        // SAFETY: the library's initialisation is trusted like the registration of the class. Only
        // this user or root can write the registration's file.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
        let library = library.map_err(|error| failed(code::CO_E_DLLNOTFOUND, error))?;
        // SAFETY: COM defines the function with this signature.
        let get = unsafe { library.get::<GetClassObject>("DllGetClassObject") };
        let get_class_object = *get.map_err(|error| failed(code::CO_E_ERRORINDLL, error))?;
        // SAFETY: COM defines the function with this signature.
        let can_unload = unsafe { library.get::<CanUnloadNow>("DllCanUnloadNow") }.ok().map(|found| *found);
        Ok(Self { get_class_object, can_unload, _library: library })
    }

    /// Returns an interface of a class object.
    fn class_object(&self, class: &GUID, iid: &GUID) -> Result<IUnknown> {
        // SAFETY: the library is loaded, and the pointers are valid during the call.
        pointer(|object| unsafe { (self.get_class_object)(class, iid, object) })
    }

    /// Whether no object of the library is in use.
    fn is_unused(&self) -> bool {
        // SAFETY: the library is loaded, and the function takes no argument.
        self.can_unload.is_some_and(|can_unload| unsafe { can_unload() } == code::S_OK)
    }
}

/// Returns the interface pointer that a COM function stores in its out parameter.
fn pointer(get: impl FnOnce(*mut *mut c_void) -> HRESULT) -> Result<IUnknown> {
    let mut object = null_mut();
    get(&mut object).ok()?;
    if object.is_null() {
        return Err(code::E_NOINTERFACE.into());
    }
    // SAFETY: the function succeeded, so the pointer is a counted interface pointer; every
    // interface begins with IUnknown's methods.
    Ok(unsafe { IUnknown::from_raw(object) })
}

impl Libraries {
    /// Returns the loaded libraries of this process.
    pub(crate) fn of(runtime: &Runtime) -> &'static Self {
        runtime.extension()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Arc<Loaded>>> {
        lock(&self.0)
    }

    fn load(&self, path: &Path) -> Result<Arc<Loaded>> {
        if let Some(known) = self.lock().get(path) {
            return Ok(Arc::clone(known));
        }
        // Loading runs the library's code, which must not run under the lock. If two threads load
        // the same library at once, the system still loads it only once.
        let loaded = Arc::new(Loaded::new(path)?);
        Ok(Arc::clone(self.lock().entry(path.to_owned()).or_insert(loaded)))
    }

    /// Returns an interface of a new object of a class, or of the class object.
    pub(super) fn activate(&self, path: &Path, class: &GUID, wanted: Activated, iid: &GUID) -> Result<IUnknown> {
        let loaded = self.load(path)?;
        if wanted == Activated::ClassObject {
            return loaded.class_object(class, iid);
        }
        let factory: IClassFactory = loaded.class_object(class, &IClassFactory::IID)?.cast()?;
        // SAFETY: the pointers are valid during the call, and no outer object is passed.
        pointer(|object| unsafe { factory.CreateInstance(null_mut(), iid, object) })
    }

    fn free_unused(&self) {
        // If only the table refers to a library, no thread is about to ask the library for an
        // object. Such a library is taken out of the table, so that no thread can get a reference
        // to it.
        let is_idle = |loaded: &Arc<Loaded>| Arc::strong_count(loaded) == 1;
        let idle: Vec<_> = self.lock().extract_if(|_, loaded| is_idle(loaded)).collect();
        for (path, loaded) in idle {
            if !loaded.is_unused() {
                self.lock().entry(path).or_insert(loaded);
            }
        }
    }
}

/// Unloads each library of classes whose function DllCanUnloadNow reports that the library is
/// unused (CoFreeUnusedLibraries).
///
/// # Errors
///
/// If the runtime of the process cannot be made.
pub fn free_unused_libraries() -> Result<()> {
    Libraries::of(process::runtime()?).free_unused();
    Ok(())
}

/// The function by which [`export_classes`](crate::export_classes) makes objects of a class.
#[doc(hidden)]
pub type Make = fn() -> Result<IUnknown>;

/// Converts a new object to the result of [`Make`].
#[doc(hidden)]
pub fn made<I: Interface>(object: Result<I>) -> Result<IUnknown> {
    Ok(object?.cast()?)
}

/// The class object of a class in this library.
#[obvia::object(IClassFactory)]
struct Factory(Make);

impl IClassFactory_Impl for Factory_Impl {
    unsafe fn CreateInstance(&self, outer: *mut c_void, iid: *const GUID, object: *mut *mut c_void) -> HRESULT {
        // SAFETY: by the contract of IClassFactory, `iid` is null or points to an IID, and `object`
        // is null or has room for a pointer.
        unsafe { hand_out(outer, iid, object, |iid| query_by(&(self.0)()?, iid)) }
    }

    unsafe fn LockServer(&self, _: i32) -> HRESULT {
        // A library in Rust is never unloaded.
        code::S_OK
    }
}

/// Performs DllGetClassObject for a library with these classes.
///
/// # Safety
///
/// As COM requires: `class` and `iid` must be null or point to GUIDs; `object` must be null or have
/// room for a pointer.
#[doc(hidden)]
pub unsafe fn provide(
    classes: &[(GUID, Make)],
    class: *const GUID,
    iid: *const GUID,
    object: *mut *mut c_void,
) -> HRESULT {
    if class.is_null() {
        return code::E_POINTER;
    }
    // SAFETY: the pointer is not null, so the caller promises that it points to a GUID.
    let class = unsafe { class.read() };
    let Some(&(_, make)) = classes.iter().find(|(known, _)| *known == class) else {
        return code::CLASS_E_CLASSNOTAVAILABLE;
    };
    // SAFETY: the caller promises for `iid` and `object` what `hand_out` requires.
    unsafe { hand_out(null_mut(), iid, object, |iid| query_by(&IClassFactory::from(Factory(make)).into(), iid)) }
}

/// Exports DllGetClassObject and DllCanUnloadNow, by which COM finds classes in a shared library
/// (`crate-type = ["cdylib"]`). For each class, the macro takes a function that makes an object. A
/// library in Rust reports that it must stay loaded.
///
/// ```ignore
/// obvia::export_classes! {
///     CALC => || Ok(ICalc::from(Calc::default())),
/// }
/// ```
#[macro_export]
macro_rules! export_classes {
    ($($class:expr => $make:expr),+ $(,)?) => {
        /// Returns the class object of a class.
        ///
        /// # Safety
        ///
        /// As COM requires.
        // SAFETY: the name is defined by COM, and no other symbol has it.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)]
        pub unsafe extern "system" fn DllGetClassObject(
            class: *const $crate::GUID,
            iid: *const $crate::GUID,
            object: *mut *mut ::std::ffi::c_void,
        ) -> $crate::HRESULT {
            let classes: &[($crate::GUID, $crate::dcom::Make)] = &[$(($class, || $crate::dcom::made(($make)()))),+];
            // SAFETY: the caller fulfils COM's contract.
            unsafe { $crate::dcom::provide(classes, class, iid, object) }
        }

        /// Whether the library may be unloaded: never.
        // SAFETY: the name is defined by COM, and no other symbol has it.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)]
        pub extern "system" fn DllCanUnloadNow() -> $crate::HRESULT {
            $crate::code::S_FALSE
        }
    };
}
