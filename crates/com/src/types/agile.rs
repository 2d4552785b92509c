//! Interface pointers that may move between threads.

use crate::types::error::{Error, Result, code};
use crate::types::registry::is_proxy;
use windows_core::{GUID, IInspectable, IUnknown, Interface};

/// IAgileObject, the interface of objects that any thread may use.
pub const IID_AGILE_OBJECT: GUID = GUID::from_u128(0x94ea_2b94_e9cc_49e0_c0ff_ee64_ca8f_5b90);

/// The interface of Rust objects whose type the Rust compiler has checked. Such an object has an
/// interface of an IDL file, and the vtable of such an interface exists only for types that are
/// `Send`, `Sync` and `'static`. The interface has no methods of its own.
pub const IID_CHECKED: GUID = GUID::from_u128(0xac70_c40a_fe8b_47e2_8821_d46b_5b34_6354);

pub(crate) mod sealed {
    pub trait Sealed: Sized {
        /// Returns a copy of the value. Fails if an object in the value belongs to a thread.
        fn shared(&self) -> crate::types::error::Result<Self>;
    }
}

/// The types that [`Agile`] accepts: interface pointers, and VARIANT and SAFEARRAY, which may
/// contain interface pointers.
pub trait Shareable: sealed::Sealed {}

impl<T: sealed::Sealed> Shareable for T {}

/// An interface pointer that any thread may use, or a value whose objects any thread may use. An
/// object can keep an `Agile` in a field, and a program can move an `Agile` to another thread.
///
/// Several threads call objects at once, so the fields of an object must be `Send` and `Sync`.
/// Interface pointers are neither, since some objects belong to the thread that made them.
/// [`Agile::new`] checks the object once.
///
/// ```
/// # use obvia::{Agile, IUnknown};
/// fn keep(pointer: &IUnknown) -> obvia::Result<std::thread::JoinHandle<()>> {
///     let kept = Agile::new(pointer)?;
///     Ok(std::thread::spawn(move || drop(kept.get().clone())))
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agile<T>(
    // Invariant: `check` has accepted all objects in the value.
    T,
);

// SAFETY: by the invariant, any thread may use and drop the objects in the value. The value is an
// interface pointer, or owns data and interface pointers.
unsafe impl<T> Send for Agile<T> {}
// SAFETY: by the invariant any thread may use the objects, and by COM's rules several threads may
// call such objects at once. Values are not changed through `&`.
unsafe impl<T> Sync for Agile<T> {}

impl<T: Shareable> Agile<T> {
    /// Keeps a pointer to an object that any thread may use. Any thread may use proxies, objects of
    /// `obvia::object`, objects of windows-core's `implement` that have an interface of an IDL
    /// file, and objects in other languages that have IAgileObject. A VARIANT or a SAFEARRAY with
    /// such objects is copied.
    ///
    /// # Errors
    ///
    /// E_INVALIDARG for any other object; E_OUTOFMEMORY.
    pub fn new(value: &T) -> Result<Self> {
        value.shared().map(Self)
    }

    /// Returns the pointer or the value.
    pub fn get(&self) -> &T {
        &self.0
    }
}

impl<I: Interface> sealed::Sealed for I {
    fn shared(&self) -> Result<Self> {
        check(self)?;
        Ok(self.clone())
    }
}

/// Verifies that an object does not belong to a thread.
pub(crate) fn check<I: Interface>(pointer: &I) -> Result<()> {
    if is_proxy(pointer) {
        return Ok(());
    }
    let object: IUnknown = pointer.cast()?;
    if may_be_shared(&object) {
        return Ok(());
    }
    let why = if is_of_implement(&object) {
        "it has no interface of an IDL file, so its type was not checked to be Send and Sync"
    } else {
        "it has no IAgileObject"
    };
    Err(Error::new(code::E_INVALIDARG, format!("the object belongs to one thread: {why}")))
}

/// Whether any thread may use an object that is no proxy.
///
/// Every object of windows-core's `implement` has IAgileObject, regardless of its fields, and has
/// IInspectable. For objects with IInspectable, IAgileObject therefore proves nothing, and only
/// [`IID_CHECKED`] counts. Other objects are trusted if they have IAgileObject: those of
/// `obvia::object`, whose types were checked, and those in other languages.
fn may_be_shared(object: &IUnknown) -> bool {
    answers(object, &IID_CHECKED) || answers(object, &IID_AGILE_OBJECT) && !is_of_implement(object)
}

/// Whether an object is one of windows-core's `implement` or `implement_decl`, which alone have
/// IInspectable.
pub(super) fn is_of_implement(object: &IUnknown) -> bool {
    answers(object, &IInspectable::IID)
}

fn answers(object: &IUnknown, iid: &GUID) -> bool {
    let mut found = std::ptr::null_mut();
    // SAFETY: `found` has room for the pointer that QueryInterface stores.
    let result = unsafe { object.query(iid, &mut found) };
    if result.is_err() || found.is_null() {
        return false;
    }
    // SAFETY: the query succeeded, so the pointer is a counted interface pointer.
    drop(unsafe { IUnknown::from_raw(found) });
    true
}
