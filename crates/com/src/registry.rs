//! What the compiler tells the runtime about each interface, and which interfaces this process knows.

mod declared;

pub use declared::{Declared, Meaning, declare, declare_copy};

use crate::dcom::factory;
use crate::error::{Error, Result, code};
use crate::events::idl::INTERFACES;
use crate::stub::Stubs;
use obvia_ndr::ndr::Plan;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ffi::c_void;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};
use windows_core::{GUID, Interface};

/// An interface's description.
#[derive(Clone, Copy)]
pub struct Description {
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
    pub base: Option<&'static InterfaceInfo>,
    /// The vtable of its proxies.
    pub proxy: VtablePointer,
    /// Its stubs, inherited methods included.
    pub stubs: Stubs,
    /// Its text in IDL, with the types that it uses.
    pub idl: &'static str,
    /// What its messages are in NDR, as words: `obvia_ndr::ndr::Plan` reads them.
    pub ndr: &'static [i64],
    /// Every interface of the same IDL file and of the files it imports.
    pub module: &'static [&'static InterfaceInfo],
}

/// An interface as the compiler describes it: one `static` for each, in the generated module. Calls are made by the vtable, and served by the
/// stubs, that it names, so nothing but what the compiler writes makes one.
// Invariant: what `new` asks for.
pub struct InterfaceInfo(Description);

impl InterfaceInfo {
    /// An interface that is described so.
    ///
    /// # Safety
    ///
    /// `proxy` must be a vtable of the interface that `iid` and `fingerprint` stand for, in its binary form, made for [`crate::rt::Proxy`] and for
    /// nothing else; the stubs must call methods of that vtable. Both must live as long as the program.
    pub const unsafe fn new(description: Description) -> Self {
        Self(description)
    }

    /// An interface of which there are no proxies here, and that nothing here performs: what servers are asked for by frames.
    pub(crate) fn without_vtables(description: Description) -> Self {
        let (proxy, stubs) = (crate::proxy::UNKNOWN_POINTER, Stubs::NONE);
        // SAFETY: whoever has it makes no proxies by it, as a target's frames are all that it is asked for.
        unsafe { Self::new(Description { proxy, stubs, ..description }) }
    }

    /// Whether both stand for the same interface: then the vtable of one is as good as the other's.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.iid == other.iid && self.fingerprint == other.fingerprint
    }
}

impl Deref for InterfaceInfo {
    type Target = Description;

    fn deref(&self) -> &Description {
        &self.0
    }
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

/// An interface that was made known.
struct Known {
    info: &'static InterfaceInfo,
    /// Another interface of this process that has its IID.
    rival: Option<&'static str>,
}

static KNOWN: RwLock<Option<HashMap<u128, Known>>> = RwLock::new(None);
/// Whether any interface has a rival.
static HAS_RIVALS: AtomicBool = AtomicBool::new(false);

/// Makes the interfaces of an IDL file known, so that objects can be asked for them.
///
/// Exporting, connecting and passing an interface do this for the whole file that declares it, and for the files it
/// imports. It is needed only for interfaces of other files that an object is asked for by `cast`.
///
/// An IID that stands for two interfaces in one process leads to neither of them from then on: whoever asks for it is told so.
pub fn register(interfaces: &[&'static InterfaceInfo]) {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    let has = |info: &&InterfaceInfo| {
        let found = known.as_ref().and_then(|known| known.get(&info.iid.to_u128()));
        found.is_some_and(|found| found.info.is_same(info))
    };
    if interfaces.iter().all(has) {
        return;
    }
    drop(known);
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    for info in interfaces {
        let rival = match known.entry(info.iid.to_u128()) {
            Entry::Vacant(place) => place.insert(Known { info, rival: declared::rival_of(info) }).rival,
            Entry::Occupied(place) if place.get().info.is_same(info) => None,
            Entry::Occupied(mut place) => {
                place.get_mut().rival = Some(info.name);
                place.get().rival
            }
        };
        if rival.is_some() {
            HAS_RIVALS.store(true, Ordering::Release);
        }
    }
}

/// Refuses an IID that stands for two interfaces in this process: a vtable of one must not be taken for the other's.
pub(crate) fn refuse_rivals(iid: &GUID) -> Result<()> {
    if !HAS_RIVALS.load(Ordering::Acquire) {
        return Ok(());
    }
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    let Some(Known { info, rival: Some(rival) }) = known.as_ref().and_then(|known| known.get(&iid.to_u128())) else {
        return Ok(());
    };
    Err(Error::new(
        code::RPC_E_VERSION_MISMATCH,
        format!(
            "this process has two interfaces with the IID {{{iid:?}}} that differ, {} and {rival}; one of them needs a uuid of its own",
            info.name
        ),
    ))
}

/// Makes known what one interface's file declares.
pub(crate) fn register_module(info: &'static InterfaceInfo) {
    register(&[info]);
    register(info.module);
}

/// Finds an interface by its IID.
pub(crate) fn find(iid: &GUID) -> Result<&'static InterfaceInfo> {
    refuse_rivals(iid)?;
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    let found = known.as_ref().and_then(|known| known.get(&iid.to_u128())).map(|known| known.info);
    let mut brought = INTERFACES.iter().copied().chain([&factory::INFO]);
    found.or_else(|| brought.find(|own| own.iid == *iid)).ok_or_else(|| {
        Error::new(
            code::REGDB_E_IIDNOTREG,
            format!("this process has no proxy for interface {{{iid:?}}}; obvia::register makes it known"),
        )
    })
}

/// Every interface that was made known.
pub(crate) fn known() -> Vec<&'static InterfaceInfo> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    known.as_ref().map(|known| known.values().map(|known| known.info).collect()).unwrap_or_default()
}

/// The plan for an interface's messages in NDR, read when it is first asked for. `None` where the interface has none.
pub(crate) fn plan(info: &'static InterfaceInfo) -> Option<&'static Plan> {
    static PLANS: Mutex<BTreeMap<usize, Option<&'static Plan>>> = Mutex::new(BTreeMap::new());
    let mut plans = PLANS.lock().unwrap_or_else(PoisonError::into_inner);
    // Descriptions live as long as the program, and so do their plans.
    let read = || Plan::read(info.ndr).map(|plan| &*Box::leak(Box::new(plan)));
    *plans.entry((&raw const *info).addr()).or_insert_with(read)
}
