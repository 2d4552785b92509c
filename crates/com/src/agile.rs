//! Interface pointers that go from thread to thread.

use crate::automation::{SafeArray, Variant};
use crate::error::{Error, Result, code};
use crate::proxy::look_behind;
use windows_core::{GUID, IInspectable, IUnknown, Interface, interface};

/// IAgileObject: an object that answers for it may be used by any thread.
pub const IID_AGILE_OBJECT: GUID = GUID::from_u128(0x94ea_2b94_e9cc_49e0_c0ff_ee64_ca8f_5b90);

/// An interface that those objects in Rust alone answer for whose type the compiler has checked: there are vtables of an IDL file's interfaces for
/// types alone that are `Send`, `Sync` and `'static`. It has no methods of its own.
pub const IID_CHECKED: GUID = GUID::from_u128(0xac70_c40a_fe8b_47e2_8821_d46b_5b34_6354);

/// [`IID_CHECKED`] for objects of the runtime's own, whose interfaces are in no IDL file. Beside the `implement` of each stands an assertion that its type is
/// `Send`, `Sync` and `'static`.
#[interface("ac70c40a-fe8b-47e2-8821-d46b5b346354")]
pub(crate) unsafe trait IChecked: IUnknown {}

const _: () = assert!(IChecked::IID.to_u128() == IID_CHECKED.to_u128());

mod sealed {
    pub trait Sealed: Sized {
        /// A copy of what is to be kept, none of whose objects belongs to a thread.
        fn shared(&self) -> crate::error::Result<Self>;
    }
}

/// What [`Agile`] can keep: interface pointers, and the values that may have some in them, VARIANT and SAFEARRAY.
pub trait Shareable: sealed::Sealed {}

impl<T: sealed::Sealed> Shareable for T {}

/// An interface pointer that any thread may use, or a value whose objects any thread may use: to be kept in an object, or given to another thread.
///
/// Objects are called by several threads at once, so what they keep must be `Send` and `Sync`, which interface pointers are not: some objects
/// belong to the thread that made them. Whether this one does is asked once, when it is made agile.
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
    // Invariant: its objects are those that `check` lets pass.
    T,
);

// SAFETY: by the invariant any thread may use, and drop, what is kept: it is a pointer, or owns values beside such pointers.
unsafe impl<T> Send for Agile<T> {}
// SAFETY: as above: COM's rule for such objects is that several threads may call them at once; values are not changed through `&`.
unsafe impl<T> Sync for Agile<T> {}

impl<T: Shareable> Agile<T> {
    /// Keeps a pointer to an object that any thread may use: a proxy, an object in Rust that has an interface of an IDL file's, or one in
    /// another language that has IAgileObject. Of a VARIANT or a SAFEARRAY a copy is kept, with such objects in it.
    ///
    /// # Errors
    ///
    /// E_INVALIDARG for other objects; E_OUTOFMEMORY.
    pub fn new(value: &T) -> Result<Self> {
        value.shared().map(Self)
    }

    /// The pointer, or the value.
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

impl sealed::Sealed for Variant {
    fn shared(&self) -> Result<Self> {
        let copy = self.copy()?;
        copy.check_objects()?;
        Ok(copy)
    }
}

impl sealed::Sealed for SafeArray {
    fn shared(&self) -> Result<Self> {
        let copy = self.copy()?;
        copy.check_objects()?;
        Ok(copy)
    }
}

/// Refuses an object that belongs to a thread.
pub(crate) fn check<I: Interface>(pointer: &I) -> Result<()> {
    if look_behind(pointer).is_some() {
        return Ok(());
    }
    let object: IUnknown = pointer.cast()?;
    if may_be_shared(&object) {
        return Ok(());
    }
    let why = if answers(&object, &IInspectable::IID) {
        "it has no interface of an IDL file, so nobody has checked that its type is Send and Sync"
    } else {
        "it has no IAgileObject"
    };
    Err(Error::new(code::E_INVALIDARG, format!("the object belongs to a thread: {why}")))
}

/// Whether an object that is no proxy may be used by any thread.
///
/// Every object that `#[implement]` makes says IAgileObject, whatever is in it: its word counts for nothing, that of the compiler does. Such objects
/// have IInspectable, too. Objects of other languages are what their authors say.
fn may_be_shared(object: &IUnknown) -> bool {
    answers(object, &IID_CHECKED) || answers(object, &IID_AGILE_OBJECT) && !answers(object, &IInspectable::IID)
}

fn answers(object: &IUnknown, iid: &GUID) -> bool {
    let mut found = std::ptr::null_mut();
    // SAFETY: a QueryInterface with a place for one pointer.
    let result = unsafe { object.query(iid, &mut found) };
    if result.is_err() || found.is_null() {
        return false;
    }
    // SAFETY: the query succeeded, so this is a counted interface pointer.
    drop(unsafe { IUnknown::from_raw(found) });
    true
}
