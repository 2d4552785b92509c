//! What the compiler tells the runtime about each interface, and which interfaces this process knows.

use crate::error::{Error, Result, code};
use crate::events::idl::INTERFACES;
use crate::stub::Stubs;
use obvia_ndr::ndr::Plan;
use std::collections::{BTreeMap, HashMap};
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError, RwLock};
use windows_core::{GUID, Interface};

/// An interface as the compiler describes it: one `static` for each, in the generated module.
pub struct InterfaceInfo {
    /// The interface's name.
    pub name: &'static str,
    /// Its IID.
    pub iid: GUID,
    /// Its version, major and minor.
    pub version: (u16, u16),
    /// The first 16 bytes of SHA-256 over its canonical text: both sides of a binding must have the same.
    pub fingerprint: u128,
    /// Whether it is one of functions, without objects, which [`crate::serve_interface`] and [`crate::bind`] are for.
    pub plain: bool,
    /// Where its servers are found if nobody says otherwise: string bindings without hosts.
    pub endpoints: &'static [&'static str],
    /// The interface that it extends; `None` for IUnknown itself.
    pub base: Option<&'static Self>,
    /// The vtable of its proxies.
    pub proxy: VtablePointer,
    /// Its stubs, inherited methods included.
    pub stubs: Stubs,
    /// Its text in IDL, with the types that it uses.
    pub idl: &'static str,
    /// What its messages are in NDR, as words: `obvia_ndr::ndr::Plan` reads them.
    pub ndr: &'static [i64],
    /// Every interface of the same IDL file and of the files it imports.
    pub module: &'static [&'static Self],
}

/// A pointer to a vtable that lives as long as the program.
#[derive(Clone, Copy)]
pub struct VtablePointer(pub *const c_void);

// SAFETY: vtables are immutable statics.
unsafe impl Sync for VtablePointer {}
// SAFETY: as above.
unsafe impl Send for VtablePointer {}

/// An interface that calls can cross processes by: the compiler implements it for each interface it sees.
///
/// # Safety
///
/// `INFO` must describe this interface: its proxy vtable must be a `Self::Vtable` made for
/// [`crate::rt::Proxy`], and its stubs must call methods of that vtable.
pub unsafe trait Remote: Interface {
    /// What the compiler knows about the interface.
    const INFO: &'static InterfaceInfo;
}

static KNOWN: RwLock<Option<HashMap<u128, &'static InterfaceInfo>>> = RwLock::new(None);

/// Makes the interfaces of an IDL file known, so that objects can be asked for them.
///
/// Exporting, connecting and passing an interface do this for the whole file that declares it, and for the files it
/// imports. It is needed only for interfaces of other files that an object is asked for by `cast`.
pub fn register(interfaces: &[&'static InterfaceInfo]) {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    let has = |info: &&InterfaceInfo| known.as_ref().is_some_and(|known| known.contains_key(&info.iid.to_u128()));
    if interfaces.iter().all(has) {
        return;
    }
    drop(known);
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    for info in interfaces {
        known.entry(info.iid.to_u128()).or_insert(info);
    }
}

/// Makes known what one interface's file declares.
pub(crate) fn register_module(info: &'static InterfaceInfo) {
    register(&[info]);
    register(info.module);
}

/// Finds an interface by its IID.
pub(crate) fn find(iid: &GUID) -> Result<&'static InterfaceInfo> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    let found = known.as_ref().and_then(|known| known.get(&iid.to_u128()).copied());
    found.or_else(|| INTERFACES.iter().copied().find(|own| own.iid == *iid)).ok_or_else(|| {
        Error::new(
            code::REGDB_E_IIDNOTREG,
            format!("this process has no proxy for interface {{{iid:?}}}; obvia::register makes it known"),
        )
    })
}

/// Every interface that was made known.
pub(crate) fn known() -> Vec<&'static InterfaceInfo> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    known.as_ref().map(|known| known.values().copied().collect()).unwrap_or_default()
}

/// The plan for an interface's messages in NDR, read when it is first asked for. `None` where the interface has none.
pub(crate) fn plan(info: &'static InterfaceInfo) -> Option<&'static Plan> {
    static PLANS: Mutex<BTreeMap<usize, Option<&'static Plan>>> = Mutex::new(BTreeMap::new());
    let mut plans = PLANS.lock().unwrap_or_else(PoisonError::into_inner);
    // Descriptions live as long as the program, and so do their plans.
    let read = || Plan::read(info.ndr).map(|plan| &*Box::leak(Box::new(plan)));
    *plans.entry((&raw const *info).addr()).or_insert_with(read)
}
