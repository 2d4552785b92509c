//! The parts of objects that `obvia::object` makes: counting references, and finding interfaces.

use std::any::Any;
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::{Ordering, fence};
use std::sync::{Mutex, PoisonError};
use windows_core::imp::{E_NOINTERFACE, E_POINTER, IAgileObject, IWeakReferenceSource, WeakRefCount};
use windows_core::{DYNAMIC_CAST_IID, GUID, HRESULT, IUnknown, Interface};

pub use windows_core::{ComObject, ComObjectInner, ComObjectInterface, IUnknown_Vtbl, IUnknownImpl, InterfaceRef};

/// An object's reference count. Safe code can add references, but cannot make a count or release a
/// reference, so it cannot end an object that is in use.
pub struct Count(WeakRefCount);

impl Count {
    /// Returns a reference count of 1.
    ///
    /// # Safety
    ///
    /// The count must become the count of an object that is passed to [`boxed`].
    pub const unsafe fn new() -> Self {
        Self(WeakRefCount::new())
    }

    /// Adds a reference, and returns the number of references. Ends the process if there are more
    /// than can be counted, as `Arc` does: if the count wrapped, the object would be freed while
    /// it is in use.
    #[inline]
    pub fn add_ref(&self) -> u32 {
        let count = self.0.add_ref();
        if count > i32::MAX as u32 {
            std::process::abort();
        }
        count
    }

    /// Returns a reference to the object's weak reference source if `iid` is that of
    /// IWeakReferenceSource, and otherwise null.
    ///
    /// # Safety
    ///
    /// `identity` must be that of the object.
    unsafe fn query(&self, iid: &GUID, identity: *mut c_void) -> *mut c_void {
        /// The lock under which an object's weak reference source is made. Without it, if two
        /// threads made the source at once, windows-core 0.100 would release the object in the
        /// second thread.
        static FIRST: Mutex<()> = Mutex::new(());
        if *iid != IWeakReferenceSource::IID {
            return ptr::null_mut();
        }
        let _first = FIRST.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the caller promises that `identity` is that of the object.
        unsafe { self.0.query(iid, identity) }
    }

    /// Whether the object has only one reference.
    pub fn is_one(&self) -> bool {
        self.0.is_one()
    }
}

/// Moves an object to the heap, and returns its only reference. The object has IAgileObject, so any
/// thread may call it and release its last reference. Therefore the type must be `Send`, `Sync` and
/// `'static`.
///
/// # Safety
///
/// The object must have a new [`Count`].
pub unsafe fn boxed<T: ComObjectInner>(object: T::Outer) -> ComObject<T>
where
    T::Outer: Send + Sync + 'static,
{
    let object = NonNull::from(Box::leak(Box::new(object)));
    // SAFETY: the box is alive. The caller promises that its count is new, so there is one
    // reference.
    unsafe { ComObject::from_raw(object) }
}

/// Releases a reference of an object, frees the object if it was the last reference, and returns
/// the number of references left.
///
/// # Safety
///
/// The object must come from [`boxed`], and the caller must own a reference. `count` must return
/// the object's own count.
pub unsafe fn release<T>(object: *mut T, count: impl FnOnce(&T) -> &Count) -> u32 {
    // SAFETY: the caller's reference keeps the object alive.
    let left = count(unsafe { &*object }).0.release();
    if left == 0 {
        // The uses of the object by other threads happen before the drop.
        fence(Ordering::Acquire);
        // SAFETY: the object is in a box, and there is no reference to it any more.
        drop(unsafe { Box::from_raw(object) });
    }
    left
}

/// Whether a query for this interface returns the pointer that is the object's identity.
pub fn is_identity(iid: &GUID) -> bool {
    [IUnknown::IID, IAgileObject::IID].contains(iid)
}

/// Performs QueryInterface. `find` returns the object's pointer for an IID, or null.
///
/// # Safety
///
/// The parameters must be those of QueryInterface, the count and the identity those of the object,
/// and `find` must return pointers of the object alone.
pub unsafe fn query<T: Any>(
    object: &T,
    count: &Count,
    identity: *const c_void,
    iid: *const GUID,
    interface: *mut *mut c_void,
    find: impl FnOnce(&GUID) -> *const c_void,
) -> HRESULT {
    if interface.is_null() {
        return E_POINTER;
    }
    // SAFETY: the caller promises that the parameters are those of QueryInterface: `iid` is null or
    // points to an IID.
    let Some(&iid) = (unsafe { iid.as_ref() }) else {
        // SAFETY: the pointer is not null, so by the contract of QueryInterface it is writable.
        unsafe { interface.write(ptr::null_mut()) };
        return E_POINTER;
    };
    let mut found = find(&iid).cast_mut();
    if !found.is_null() {
        count.add_ref();
    } else if iid == DYNAMIC_CAST_IID {
        // The protocol of windows-core's `cast_object`: a reference that is not counted.
        // SAFETY: callers that pass this IID provide room for the reference.
        unsafe { interface.cast::<*const dyn Any>().write(ptr::from_ref(object)) };
        return HRESULT(0);
    } else {
        // SAFETY: the caller promises that the count and the identity are those of the object. The
        // result, if any, has a reference of its own.
        found = unsafe { count.query(&iid, identity.cast_mut()) };
    }
    // SAFETY: the pointer is not null, so by the contract of QueryInterface it is writable.
    unsafe { interface.write(found) };
    if found.is_null() { E_NOINTERFACE } else { HRESULT(0) }
}

/// Returns the interface pointer that points to a field of an object.
///
/// # Safety
///
/// The field must contain the interface's vtable, and the object must outlive the result.
pub unsafe fn pointer_to<'a, I: Interface>(field: *const c_void) -> InterfaceRef<'a, I> {
    // SAFETY: a field's address is not null.
    let pointer = unsafe { NonNull::new_unchecked(field.cast_mut()) };
    // SAFETY: the caller promises that the field contains the interface's vtable, and that the
    // object outlives the result.
    unsafe { InterfaceRef::from_raw(pointer) }
}

/// Implements the conversions of an interface pointer to each interface that its interface extends.
/// The vtable must begin with the vtables of those interfaces.
#[doc(hidden)]
#[macro_export]
macro_rules! hierarchy {
    // SAFETY: the invocation contains `unsafe`, and its comment proves that the interface's vtable
    // begins with the vtables of the others.
    (unsafe $interface:ident: $($base:ty),+) => {
        $(
            impl $crate::windows_core::imp::CanInto<$base> for $interface {}

            impl ::core::convert::From<&$interface> for &$base {
                #[inline]
                fn from(value: &$interface) -> Self {
                    // SAFETY: both types are transparent wrappers of an interface pointer, and the
                    // vtable of the interface begins with that of the base.
                    unsafe { ::core::mem::transmute(value) }
                }
            }

            impl ::core::convert::From<$interface> for $base {
                #[inline]
                fn from(value: $interface) -> Self {
                    // SAFETY: as in the conversion of references above.
                    unsafe { ::core::mem::transmute(value) }
                }
            }
        )+
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[windows_core::interface("1f6f7c9e-7d0a-4a55-8f0e-6a7f0c3b2d15")]
    unsafe trait INumber: IUnknown {
        fn number(&self) -> i32;
    }

    #[windows_core::interface("1f6f7c9e-7d0a-4a55-8f0e-6a7f0c3b2d16")]
    unsafe trait IOther: IUnknown {
        fn other(&self) -> i32;
    }

    #[crate::object(INumber, IOther)]
    struct Thing {
        number: i32,
        alive: Arc<()>,
    }

    impl INumber_Impl for Thing_Impl {
        unsafe fn number(&self) -> i32 {
            self.number
        }
    }

    impl IOther_Impl for Thing_Impl {
        unsafe fn other(&self) -> i32 {
            -self.number
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "windows-core derives interface pointers from `&self`")]
    fn each_interface_pointer_keeps_the_object_and_may_end_it() {
        let alive = Arc::new(());
        let thing = || ComObject::new(Thing { number: 5, alive: Arc::clone(&alive) });
        let object = thing();
        let number: INumber = object.to_interface();
        drop(object);
        let other: IOther = number.cast().unwrap();
        drop(number);
        // SAFETY: the method has no requirements.
        assert_eq!(unsafe { other.other() }, -5);
        let unknown: IUnknown = other.cast().unwrap();
        let again: ComObject<Thing> = other.cast_object().unwrap();
        drop((other, unknown));
        assert_eq!(Arc::strong_count(&again.alive), 2);
        drop(again.to_object());
        drop(again);
        assert_eq!(Arc::strong_count(&alive), 1);
        drop((INumber::from(thing().take().ok().unwrap()), IUnknown::from(thing().take().ok().unwrap())));
        assert_eq!(Arc::strong_count(&alive), 1);
    }

    #[test]
    fn queries_without_room_fail() {
        let object = ComObject::new(Thing { number: 5, alive: Arc::default() });
        let mut found = ptr::dangling_mut();
        // SAFETY: a null argument is permitted, and makes the call fail.
        assert_eq!(unsafe { object.QueryInterface(ptr::null(), &raw mut found) }, E_POINTER);
        assert!(found.is_null());
        // SAFETY: a null argument is permitted, and makes the call fail.
        assert_eq!(unsafe { object.QueryInterface(&IUnknown::IID, ptr::null_mut()) }, E_POINTER);
        assert!(object.is_reference_count_one());
    }
}
