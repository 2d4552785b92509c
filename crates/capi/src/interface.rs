//! Interface descriptions of C stubs, which are registered with the runtime.

use crate::errors::{guarded, text};
use com::abi::{Description, InterfaceInfo, StubFn, Stubs, VtablePointer, declare_copy};
use com::{Error, GUID, Result, code};
use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null;
use std::sync::{Mutex, PoisonError};

/// `obvia_interface` in obvia_stub.h.
#[repr(C)]
pub struct Interface {
    size: usize,
    name: *const c_char,
    iid: GUID,
    major: u16,
    minor: u16,
    fingerprint: [u8; 16],
    base: *const Self,
    proxy: *const c_void,
    stubs: *const StubFn,
    stub_count: usize,
    idl: *const c_char,
    ndr: *const i64,
    ndr_count: usize,
    module: *const *const Self,
    plain: c_int,
    endpoints: *const *const c_char,
}

// SAFETY: the values and the targets of their pointers are constants.
unsafe impl Sync for Interface {}

impl Interface {
    /// Creates the C description of an interface that the runtime itself describes: it contains
    /// only the name and the IID.
    pub(crate) const fn of_runtime(name: &'static CStr, iid: GUID) -> Self {
        Self {
            size: size_of::<Self>(),
            name: name.as_ptr(),
            iid,
            major: 0,
            minor: 0,
            fingerprint: [0; 16],
            base: null(),
            proxy: null(),
            stubs: null(),
            stub_count: 0,
            idl: null(),
            ndr: null(),
            ndr_count: 0,
            module: null(),
            plain: 0,
            endpoints: null(),
        }
    }
}

/// `obvia_declared_interface` in obvia_stub.h.
#[repr(C)]
pub struct DeclaredInterface {
    name: *const c_char,
    iid: GUID,
    fingerprint: [u8; 16],
    vtable: [u8; 16],
}

/// `obvia_declare_interfaces` in obvia_stub.h.
///
/// # Safety
///
/// `file` and the names must be null or end in NUL, and `interfaces` must lead to `count`
/// interfaces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_declare_interfaces(
    file: *const c_char,
    interfaces: *const DeclaredInterface,
    count: usize,
) {
    // The function has no result for errors.
    let _ = guarded(|| {
        // SAFETY: the caller's promise.
        let interfaces = unsafe { com::rt::slice(interfaces, count) };
        let interface = |one: &DeclaredInterface| {
            // SAFETY: the caller's promise.
            let name = unsafe { text(one.name) }?;
            Ok((name, one.iid, u128::from_le_bytes(one.fingerprint), u128::from_le_bytes(one.vtable)))
        };
        // SAFETY: the caller's promise.
        declare_copy(unsafe { text(file) }?, &interfaces.iter().map(interface).collect::<Result<Vec<_>>>()?);
        Ok(())
    });
}

/// Prevents the unloading of the library that contains an address.
fn keep_loaded(address: *const c_void) {
    let mut found = Place { file: null(), base: null(), symbol: null(), start: null() };
    // SAFETY: `found` is writable, and `dladdr` only compares the address.
    if unsafe { dladdr(address, &raw mut found) } != 0 && !found.file.is_null() {
        // SAFETY: the loader owns the string. The call loads nothing, and prevents the unloading of
        // a library that is loaded. The call does not find the program itself, which is never
        // unloaded.
        unsafe { dlopen(found.file, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) };
    }
}

/// The C library's `Dl_info`.
#[repr(C)]
struct Place {
    file: *const c_char,
    base: *const c_void,
    symbol: *const c_char,
    start: *const c_void,
}

const RTLD_LAZY: c_int = 1;
const RTLD_NOLOAD: c_int = 4;
const RTLD_NODELETE: c_int = 0x1000;

// SAFETY: the C library has the functions with these signatures.
unsafe extern "C" {
    fn dladdr(address: *const c_void, found: *mut Place) -> c_int;
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
}

/// The runtime's descriptions of interfaces, by the addresses of the interfaces' C descriptions.
static KNOWN: Mutex<Option<HashMap<usize, &'static InterfaceInfo>>> = Mutex::new(None);

/// Returns the runtime's description of an interface, and registers the descriptions of the
/// interface's module. The description is made once and kept, since the C description is a
/// constant.
///
/// # Safety
///
/// `interface` must be null, or a constant that the compiler generated, with all constants that it
/// refers to.
pub(crate) unsafe fn describe(interface: *const Interface) -> Result<&'static InterfaceInfo> {
    if let Some(info) = with_known(|known| known.get(&interface.addr()).copied()) {
        return Ok(info);
    }
    // The call below takes the loader's lock, so it comes before the lock of KNOWN is taken. The
    // reverse order could deadlock: a thread that loads a library holds the loader's lock, and a
    // constructor of the library may call `describe`.
    // SAFETY: the caller's promise.
    unsafe { keep_all_loaded(interface) };
    with_known(|known| {
        // SAFETY: the caller's promise.
        let info = unsafe { made(known, interface) }?;
        // SAFETY: the caller's promise; `interface` is not null, because `made` has succeeded.
        let first = unsafe { (*interface).module };
        // SAFETY: the caller's promise.
        com::register(&unsafe { module(known, first) }?);
        Ok(info)
    })
}

fn with_known<R>(work: impl FnOnce(&mut HashMap<usize, &'static InterfaceInfo>) -> R) -> R {
    work(KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// Prevents the unloading of the libraries that contain the description of an interface, of the
/// other interfaces of its module, or of their bases.
///
/// # Safety
///
/// As for [`describe`].
unsafe fn keep_all_loaded(interface: *const Interface) {
    // SAFETY: the caller's promise.
    let Some(given) = (unsafe { known_form(interface) }) else { return };
    // SAFETY: the caller's promise.
    let module = unsafe { list(given.module) };
    let mut seen = HashSet::new();
    for one in module.into_iter().chain([interface]) {
        let mut at = one;
        while seen.insert(at.addr()) {
            // SAFETY: the caller's promise.
            let Some(given) = (unsafe { known_form(at) }) else { break };
            // The description is in libobvia itself.
            if given.stubs.is_null() {
                break;
            }
            keep_loaded(at.cast());
            at = given.base;
        }
    }
}

/// Returns the C description of an interface if the description has the layout of this library's
/// version.
///
/// # Safety
///
/// `interface` must be null, or a constant that a compiler wrote.
unsafe fn known_form<'a>(interface: *const Interface) -> Option<&'a Interface> {
    // SAFETY: the caller's promise. The size is the first field in each version.
    unsafe { interface.as_ref() }.filter(|given| given.size == size_of::<Interface>())
}

/// # Safety
///
/// As for [`describe`].
unsafe fn made(
    known: &mut HashMap<usize, &'static InterfaceInfo>,
    interface: *const Interface,
) -> Result<&'static InterfaceInfo> {
    if let Some(info) = known.get(&interface.addr()) {
        return Ok(info);
    }
    // SAFETY: the caller's promise.
    let Some(given) = (unsafe { interface.as_ref() }) else { return Err(code::E_POINTER.into()) };
    if given.size != size_of::<Interface>() {
        return Err(Error::new(code::E_INVALIDARG, "the stubs were compiled for another version of libobvia"));
    }
    if given.stubs.is_null() {
        // The description is in libobvia itself.
        let own = com::events::idl::INTERFACES.iter().copied().find(|own| own.iid == given.iid);
        return own.ok_or_else(|| code::REGDB_E_IIDNOTREG.into());
    }
    if !given.stub_count.is_power_of_two() {
        return Err(Error::new(code::E_INVALIDARG, "the stubs were compiled for another version of libobvia"));
    }
    let base = if given.base.is_null() {
        None
    } else {
        // SAFETY: the caller's promise.
        Some(unsafe { made(known, given.base) }?)
    };
    // SAFETY: the caller's promise: a table of `stub_count` stubs.
    let stubs: &'static [StubFn] = unsafe { std::slice::from_raw_parts(given.stubs, given.stub_count) };
    // SAFETY: the caller's promise.
    let name = unsafe { text(given.name) }?;
    // SAFETY: the caller's promise.
    let idl = unsafe { text(given.idl) }?;
    // SAFETY: the caller's promise: `ndr_count` words.
    let ndr: &'static [i64] = unsafe { std::slice::from_raw_parts(given.ndr, given.ndr_count) };
    // SAFETY: the caller's promise.
    let endpoints = unsafe { list(given.endpoints) };
    // SAFETY: the caller's promise.
    let endpoints = endpoints.into_iter().map(|one| unsafe { text(one) }).collect::<Result<Vec<&'static str>>>()?;
    let description = Description {
        name,
        iid: given.iid,
        version: (given.major, given.minor),
        fingerprint: u128::from_le_bytes(given.fingerprint),
        plain: given.plain != 0,
        endpoints: Vec::leak(endpoints),
        base,
        proxy: VtablePointer(given.proxy),
        stubs: Stubs::new(stubs),
        idl,
        ndr,
        // Empty, because the interfaces of a module refer to one another. `describe` registers them
        // instead.
        module: &[],
    };
    // SAFETY: the caller's promise: the compiler wrote proxies and stubs for the interface.
    let info: &'static InterfaceInfo = Box::leak(Box::new(unsafe { InterfaceInfo::new(description) }));
    known.insert(interface.addr(), info);
    Ok(info)
}

/// # Safety
///
/// `module` must be null, or lead to pointers to constants, ending with a null pointer.
unsafe fn module(
    known: &mut HashMap<usize, &'static InterfaceInfo>,
    module: *const *const Interface,
) -> Result<Vec<&'static InterfaceInfo>> {
    let mut all = Vec::new();
    // SAFETY: the caller's promise.
    for one in unsafe { list(module) } {
        // SAFETY: the caller's promise.
        all.push(unsafe { made(known, one) }?);
    }
    Ok(all)
}

/// Returns the elements of a list that ends with a null pointer; none for null.
///
/// # Safety
///
/// `first` must be null or lead to such a list.
unsafe fn list<T>(first: *const *const T) -> Vec<*const T> {
    let mut all = Vec::new();
    let mut at = first;
    while !at.is_null() {
        // SAFETY: the caller's promise.
        let next = unsafe { at.read() };
        if next.is_null() {
            break;
        }
        all.push(next);
        // SAFETY: the pointer just read was not the last one.
        at = unsafe { at.add(1) };
    }
    all
}
