//! Interface pointers that go from thread to thread.

use crate::error::{Error, Result, code};
use crate::proxy::look_behind;
use windows_core::{GUID, IUnknown, Interface};

/// IAgileObject: an object that answers for it may be used by any thread.
pub const IID_AGILE_OBJECT: GUID = GUID::from_u128(0x94ea_2b94_e9cc_49e0_c0ff_ee64_ca8f_5b90);

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

// SAFETY: `new` lets only objects pass that say of themselves that any thread may use them.
unsafe impl<I: Interface> Send for Agile<I> {}
// SAFETY: as above: COM's rule for such objects is that several threads may call them at once.
unsafe impl<I: Interface> Sync for Agile<I> {}

impl<I: Interface> Agile<I> {
    /// Keeps a pointer to an object that any thread may use: a proxy, or an object that has IAgileObject, as those made
    /// by `#[implement]` do.
    ///
    /// # Errors
    ///
    /// E_INVALIDARG for other objects.
    pub fn new(pointer: &I) -> Result<Self> {
        let object: IUnknown = pointer.cast()?;
        if look_behind(&object).is_some() || is_agile(&object) {
            return Ok(Self(pointer.clone()));
        }
        Err(Error::new(code::E_INVALIDARG, "the object belongs to a thread: it has no IAgileObject"))
    }

    /// The pointer.
    pub fn get(&self) -> &I {
        &self.0
    }
}

fn is_agile(object: &IUnknown) -> bool {
    let mut found = std::ptr::null_mut();
    // SAFETY: a QueryInterface with a place for one pointer.
    let result = unsafe { object.query(&IID_AGILE_OBJECT, &mut found) };
    if result.is_err() || found.is_null() {
        return false;
    }
    // SAFETY: the query succeeded, so this is a counted interface pointer.
    drop(unsafe { IUnknown::from_raw(found) });
    true
}
