//! The interface descriptions that the compiler generates, and the interfaces that this process
//! knows.

mod declared;
mod proxies;
mod stubs;

pub use declared::{Declared, DeclaredInterface, declare, declare_copy};
pub(crate) use proxies::{is_proxy, note_proxies};
pub use stubs::{StubFn, Stubs, pad, refuse};

use crate::types::error::{Error, Result, code};
use obvia_ndr::ndr::Plan;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ffi::c_void;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};
use windows_core::{GUID, Interface};

/// An interface's description.
#[derive(Clone, Copy)]
pub struct Description {
    /// The name of the interface.
    pub name: &'static str,
    /// The IID of the interface.
    pub iid: GUID,
    /// The version of the interface: major and minor.
    pub version: (u16, u16),
    /// The first 16 bytes of SHA-256 over the canonical text, which must be the same on both sides
    /// of a binding.
    pub fingerprint: u128,
    /// Whether the interface has functions without objects, for [`crate::serve_interface`] and
    /// [`crate::bind`].
    pub plain: bool,
    /// The default endpoints of servers of the interface: string bindings without hosts.
    pub endpoints: &'static [&'static str],
    /// The base interface; `None` for IUnknown itself.
    pub base: Option<&'static InterfaceInfo>,
    /// The vtable of the proxies.
    pub proxy: VtablePointer,
    /// The stubs, including those of inherited methods.
    pub stubs: Stubs,
    /// The IDL text of the interface and of the types that it uses.
    pub idl: &'static str,
    /// The messages in NDR, as words that `obvia_ndr::ndr::Plan` reads.
    pub ndr: &'static [i64],
    /// All interfaces of the same IDL file and of the files that it imports.
    pub module: &'static [&'static InterfaceInfo],
}

/// The compiler's description of an interface: one `static` for each interface, in the generated
/// module. Calls use the vtable and the stubs of the description, so only generated code may make a
/// description.
// Invariant: the description meets the requirements of `new`.
pub struct InterfaceInfo {
    description: Description,
    /// Whether programs call the interface by frames. Proxies and objects then have the vtable of
    /// IUnknown.
    by_frames: bool,
}

impl InterfaceInfo {
    /// Makes the description of an interface.
    ///
    /// # Safety
    ///
    /// `proxy` must be a vtable in the binary form of the interface with this `iid` and
    /// `fingerprint`. The vtable must be made for [`crate::rt::Proxy`] and for nothing else. The
    /// stubs must call methods of vtables of the same form. The vtable and the stubs must live as
    /// long as the program.
    pub const unsafe fn new(description: Description) -> Self {
        Self { description, by_frames: false }
    }

    /// Makes the description of an interface that is called by frames.
    ///
    /// # Safety
    ///
    /// As for [`Self::new`], with the vtable of IUnknown. No code may call the interface through a
    /// longer vtable.
    pub(crate) const unsafe fn by_frames(description: Description) -> Self {
        Self { description, by_frames: true }
    }

    /// Whether `self` and the other description are of the same interface, so that their vtables
    /// are interchangeable.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.iid == other.iid && self.fingerprint == other.fingerprint
    }
}

impl Deref for InterfaceInfo {
    type Target = Description;

    fn deref(&self) -> &Description {
        &self.description
    }
}

/// A pointer to a vtable that lives as long as the program.
#[derive(Clone, Copy)]
pub struct VtablePointer(pub *const c_void);

// SAFETY: vtables are immutable statics.
unsafe impl Sync for VtablePointer {}
// SAFETY: vtables are immutable statics.
unsafe impl Send for VtablePointer {}

/// An interface for calls across processes, implemented by generated code.
///
/// # Safety
///
/// `INFO` must describe this interface: the vtable of its proxies must be a `Self::Vtable` made for
/// [`crate::rt::Proxy`], and its stubs must call methods of a `Self::Vtable`.
pub unsafe trait Remote: Interface {
    /// The interface description.
    const INFO: &'static InterfaceInfo;
}

/// A registered interface.
struct Known {
    info: &'static InterfaceInfo,
    /// The name of another interface of this process that has the same IID, if there is one.
    rival: Option<&'static str>,
}

static KNOWN: RwLock<Option<HashMap<u128, Known>>> = RwLock::new(None);
/// Whether two interfaces of this process have the same IID.
static HAS_RIVALS: AtomicBool = AtomicBool::new(false);

/// Registers the interfaces of an IDL file, so that objects can be queried for them.
///
/// When a program exports, connects to or passes an interface, all interfaces of its IDL file and
/// of the imported files are registered. Programs need this function only if they `cast` to
/// interfaces of other files.
///
/// If two interfaces in one process have the same IID, both become unusable, and every use reports
/// the conflict.
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

/// The interfaces of the runtime itself, which need not be registered.
static OWN: OnceLock<Vec<&'static InterfaceInfo>> = OnceLock::new();

/// Sets the interfaces of the runtime itself. Only the first call has an effect.
pub(crate) fn set_own(interfaces: impl IntoIterator<Item = &'static InterfaceInfo>) {
    OWN.get_or_init(|| interfaces.into_iter().collect());
}

/// Returns an error for an IID that two interfaces of this process have, since their vtables must
/// not be confused.
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
            "this process has two different interfaces with the IID {{{iid:?}}}, {} and {rival}: give one of them a \
                new uuid",
            info.name
        ),
    ))
}

/// Registers all interfaces of an interface's file.
pub(crate) fn register_module(info: &'static InterfaceInfo) {
    register(&[info]);
    register(info.module);
}

/// Registers all interfaces of an interface's file, because callers may query objects of this
/// interface for the other interfaces of the file. Does nothing for an interface that is called by
/// frames: its description may come from a server, and must not be used for other servers.
pub(crate) fn register_for_calls(info: &'static InterfaceInfo) {
    if !info.by_frames {
        register_module(info);
    }
}

/// Returns an interface by its IID.
pub(crate) fn find(iid: &GUID) -> Result<&'static InterfaceInfo> {
    refuse_rivals(iid)?;
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    let found = known.as_ref().and_then(|known| known.get(&iid.to_u128())).map(|known| known.info);
    let own = || OWN.get().into_iter().flatten().copied();
    found.or_else(|| own().find(|own| own.iid == *iid)).ok_or_else(|| {
        Error::new(
            code::REGDB_E_IIDNOTREG,
            format!("this process has no proxy for interface {{{iid:?}}}: register it by obvia::register"),
        )
    })
}

/// Returns all registered interfaces.
pub(crate) fn known() -> Vec<&'static InterfaceInfo> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    known.as_ref().map(|known| known.values().map(|known| known.info).collect()).unwrap_or_default()
}

/// Returns the plan for an interface's messages in NDR, which is read at first use. `None` if the
/// interface has no valid plan.
pub(crate) fn plan(info: &'static InterfaceInfo) -> Option<&'static Plan> {
    static PLANS: Mutex<BTreeMap<usize, Option<&'static Plan>>> = Mutex::new(BTreeMap::new());
    let mut plans = PLANS.lock().unwrap_or_else(PoisonError::into_inner);
    // The plan is leaked on purpose: there is one for each description, and descriptions live as
    // long as the program.
    let read = || Plan::read(info.ndr).map(|plan| &*Box::leak(Box::new(plan)));
    *plans.entry((&raw const *info).addr()).or_insert_with(read)
}
