//! Interface pointers that go from thread to thread.

use crate::error::{Error, Result, code};
use crate::proxy::look_behind;
use windows_core::{GUID, IInspectable, IUnknown, Interface};

/// IAgileObject: an object that answers for it may be used by any thread.
pub const IID_AGILE_OBJECT: GUID = GUID::from_u128(0x94ea_2b94_e9cc_49e0_c0ff_ee64_ca8f_5b90);

/// An interface that those objects in Rust alone answer for whose type the compiler has checked: there are vtables of an IDL file's interfaces for
/// types alone that are `Send`, `Sync` and `'static`. It has no methods of its own.
pub const IID_CHECKED: GUID = GUID::from_u128(0xac70_c40a_fe8b_47e2_8821_d46b_5b34_6354);

/// An interface pointer that any thread may use: to be kept in an object, or given to another thread.
///
/// ```
/// # use obvia::{Agile, IUnknown};
/// fn keep(pointer: &IUnknown) -> obvia::Result<std::thread::JoinHandle<()>> {
///     let kept = Agile::new(pointer)?;
///     Ok(std::thread::spawn(move || drop(kept.get().clone())))
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agile<I: Interface>(I);

// SAFETY: `new` lets only objects pass that any thread may use: see `may_be_shared`.
unsafe impl<I: Interface> Send for Agile<I> {}
// SAFETY: as above: COM's rule for such objects is that several threads may call them at once.
unsafe impl<I: Interface> Sync for Agile<I> {}

impl<I: Interface> Agile<I> {
    /// Keeps a pointer to an object that any thread may use: a proxy, an object in Rust that has an interface of an IDL file's, or one in
    /// another language that has IAgileObject.
    ///
    /// # Errors
    ///
    /// E_INVALIDARG for other objects.
    pub fn new(pointer: &I) -> Result<Self> {
        if look_behind(pointer).is_some() || may_be_shared(&pointer.cast()?) {
            return Ok(Self(pointer.clone()));
        }
        let why = if answers(&pointer.cast()?, &IInspectable::IID) {
            "it has no interface of an IDL file, so nobody has checked that its type is Send and Sync"
        } else {
            "it has no IAgileObject"
        };
        Err(Error::new(code::E_INVALIDARG, format!("the object belongs to a thread: {why}")))
    }

    /// The pointer.
    pub fn get(&self) -> &I {
        &self.0
    }
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
