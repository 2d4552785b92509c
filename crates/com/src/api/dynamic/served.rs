//! Objects without vtables, which other processes call by frames.
//!
//! An object of this kind has an interface pointer for each of its interfaces, all with the vtable
//! of IUnknown. A single stub serves all methods, and passes the frames to a [`Performer`].

use super::pointer::answer;
use crate::client::proxy::UNKNOWN_POINTER;
use crate::types::agile::IID_AGILE_OBJECT;
use crate::types::error::code;
use crate::types::registry::{Description, InterfaceInfo, StubFn, Stubs};
use obvia_ndr::reserved::owner_of;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, ServerCall};
use std::any::Any;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::c_void;
use std::hash::Hash;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use windows_core::{GUID, HRESULT, IUnknown, IUnknown_Vtbl, Interface};

/// The methods of an object that is called by frames. The performer is dropped with the last
/// reference to the object.
pub trait Performer: Any + Send + Sync {
    /// Whether the object has an interface.
    fn implements(&self, iid: &GUID) -> bool;

    /// Performs a call of the interface with this IID. `request` is a copy of the request's frame,
    /// which the performer must check. Returns the method's HRESULT and the frame of the results,
    /// as for [`answer`].
    ///
    /// # Errors
    ///
    /// The status of a fault.
    fn perform(&self, iid: &GUID, opnum: u16, request: &[u8]) -> Result<(HRESULT, Cow<'_, [u8]>), Status>;
}

static VTABLE: IUnknown_Vtbl = IUnknown_Vtbl { QueryInterface: query_interface, AddRef: add_ref, Release: release };

const STUBS: Stubs = Stubs::new(&[stub as StubFn]);

/// The structure to which one of an object's interface pointers leads.
#[repr(C)]
struct Facet {
    vtable: *const IUnknown_Vtbl,
    // Invariant: the address of the object that owns this facet. The object is in an `Arc`.
    object: *const Object,
    iid: GUID,
}

/// An object. The strong references of its `Arc` are COM's references.
struct Object {
    performer: Box<dyn Performer>,
    // The facets are boxed, because interface pointers are their addresses. The first facet is the
    // identity.
    #[expect(clippy::vec_box, reason = "an interface pointer must not move")]
    facets: Mutex<Vec<Box<Facet>>>,
}

// SAFETY: the performer is `Send`, and the pointer in a facet leads only to the object that owns
// the facet.
unsafe impl Send for Object {}
// SAFETY: the performer is `Sync`. A lock guards the list of facets, and a facet is never changed.
unsafe impl Sync for Object {}

/// A weak reference to the object of a performer.
#[derive(Clone)]
pub struct WeakObject(Weak<Object>);

impl WeakObject {
    fn upgrade(&self) -> Option<IUnknown> {
        self.0.upgrade().map(identity)
    }

    /// Whether there is a strong reference to the object.
    fn is_alive(&self) -> bool {
        self.0.strong_count() > 0
    }
}

/// Objects that are called by frames, each under a key that the language binding chooses. A key has
/// at most one live object.
pub struct ObjectTable<K>(Mutex<HashMap<K, WeakObject>>);

impl<K> Default for ObjectTable<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash> ObjectTable<K> {
    fn objects(&self) -> MutexGuard<'_, HashMap<K, WeakObject>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the IUnknown of the object with a key. If the key has no live object, `make` makes
    /// one by [`object`].
    pub fn get(&self, key: K, make: impl FnOnce() -> (IUnknown, WeakObject)) -> IUnknown {
        let mut objects = self.objects();
        objects.get(&key).and_then(WeakObject::upgrade).unwrap_or_else(|| {
            let (made, weak) = make();
            objects.insert(key, weak);
            made
        })
    }

    /// Whether there is an object with a key.
    pub fn has(&self, key: &K) -> bool {
        self.objects().contains_key(key)
    }

    /// Forgets a key's object. The object's performer calls this function while the performer is
    /// dropped. If the key already has a new object, the new object stays.
    pub fn forget(&self, key: &K) {
        let mut objects = self.objects();
        if objects.get(key).is_some_and(|known| !known.is_alive()) {
            objects.remove(key);
        }
    }
}

/// Returns the description of an interface whose proxies in this process have no methods, and whose
/// objects are called by frames.
pub(crate) fn by_frames(description: Description) -> InterfaceInfo {
    let proxy = UNKNOWN_POINTER;
    // SAFETY: the stub verifies that it is called for an object of this module. Callers outside of
    // this crate get the description by `abi::describe` only, whose caller promises that no
    // generated code uses the proxies.
    unsafe { InterfaceInfo::by_frames(Description { proxy, stubs: STUBS, ..description }) }
}

/// Makes an object whose calls `performer` performs, and returns its identity and a weak reference.
///
/// # Safety
///
/// No code of this process may call the object's interfaces through their vtables, except the
/// methods of IUnknown.
pub unsafe fn object(performer: impl Performer) -> (IUnknown, WeakObject) {
    let object = Arc::new(Object { performer: Box::new(performer), facets: Mutex::default() });
    let weak = WeakObject(Arc::downgrade(&object));
    (identity(object), weak)
}

/// Runs `work` with the performer of an interface pointer; `None` if the object has no performer of
/// type `P`.
pub fn with_performer<P: Performer, R>(object: &IUnknown, work: impl FnOnce(&P) -> R) -> Option<R> {
    // SAFETY: the interface pointer is alive during this function.
    let facet = unsafe { Facet::checked(object.as_raw()) }?;
    let performer: &dyn Any = &*facet.object().performer;
    performer.downcast_ref().map(work)
}

/// Returns the identity of an object: its interface pointer for IUnknown, which takes over the
/// reference `object`.
fn identity(object: Arc<Object>) -> IUnknown {
    let facet = object.facet(Arc::as_ptr(&object), IUnknown::IID);
    let _ = Arc::into_raw(object);
    // SAFETY: the facet is an interface pointer of the object, and `into_raw` has left one
    // reference to the object for it.
    unsafe { IUnknown::from_raw(facet) }
}

impl Object {
    /// Returns the interface pointer for an interface, without counting a reference. `own` is the
    /// address of this object in its `Arc`.
    fn facet(&self, own: *const Self, iid: GUID) -> *mut c_void {
        let mut facets = self.facets.lock().unwrap_or_else(PoisonError::into_inner);
        let at = facets.iter().position(|facet| facet.iid == iid).unwrap_or_else(|| {
            facets.push(Box::new(Facet { vtable: &raw const VTABLE, object: own, iid }));
            facets.len() - 1
        });
        (&raw mut *facets[at]).cast()
    }
}

impl Facet {
    /// Returns the facet to which an interface pointer leads. `None` if the pointer does not lead
    /// to a facet.
    ///
    /// # Safety
    ///
    /// `this` must be an interface pointer that is alive for `'a`.
    unsafe fn checked<'a>(this: *mut c_void) -> Option<&'a Self> {
        // SAFETY: every interface pointer begins with a pointer to a vtable.
        let vtable = unsafe { this.cast::<*const IUnknown_Vtbl>().read() };
        // SAFETY: only facets have this vtable, so `this` is a facet. The caller promises that it
        // is alive for `'a`, and facets are never written.
        ptr::eq(vtable, &raw const VTABLE).then(|| unsafe { &*this.cast::<Self>() })
    }

    /// Returns the facet to which the `this` pointer of a facet's method leads.
    ///
    /// # Safety
    ///
    /// `this` must be a facet that is alive for `'a`.
    unsafe fn of<'a>(this: *mut c_void) -> &'a Self {
        // SAFETY: the caller promises a facet that is alive for `'a`, and facets are never written.
        unsafe { &*this.cast::<Self>() }
    }

    fn object(&self) -> &Object {
        // SAFETY: by the invariant of `object`, the pointer is that of the facet's object, which
        // lives as long as its facets.
        unsafe { &*self.object }
    }

    /// Returns the object as an `Arc` that does not own a reference.
    fn references(&self) -> ManuallyDrop<Arc<Object>> {
        // SAFETY: by the invariant of `object`, the pointer is that of an `Arc`. While a facet is
        // in use, the `Arc` has a reference, and `ManuallyDrop` does not release that reference
        // here.
        ManuallyDrop::new(unsafe { Arc::from_raw(self.object) })
    }
}

unsafe extern "system" fn query_interface(this: *mut c_void, iid: *const GUID, result: *mut *mut c_void) -> HRESULT {
    if iid.is_null() || result.is_null() {
        return code::E_POINTER;
    }
    // SAFETY: by COM's rules, a caller passes an interface pointer to which it holds a reference.
    let facet = unsafe { Facet::of(this) };
    // SAFETY: `iid` is not null, and by COM's rules it then leads to an IID.
    let iid = unsafe { iid.read() };
    let object = facet.object();
    // A facet has the vtable of IUnknown. The runtime calls interfaces with reserved IIDs through
    // longer vtables, so no facet is made for such an IID.
    let found = if [IUnknown::IID, IID_AGILE_OBJECT].contains(&iid) {
        object.facet(facet.object, IUnknown::IID)
    } else if owner_of(iid.to_u128()).is_none() && object.performer.implements(&iid) {
        object.facet(facet.object, iid)
    } else {
        ptr::null_mut()
    };
    // SAFETY: `result` is not null, and by COM's rules it then leads to room for a pointer.
    unsafe { result.write(found) };
    if found.is_null() {
        return code::E_NOINTERFACE;
    }
    let _ = Arc::into_raw(Arc::clone(&facet.references()));
    code::S_OK
}

unsafe extern "system" fn add_ref(this: *mut c_void) -> u32 {
    // SAFETY: by COM's rules, a caller passes an interface pointer to which it holds a reference.
    let references = unsafe { Facet::of(this) }.references();
    let _ = Arc::into_raw(Arc::clone(&references));
    u32::try_from(Arc::strong_count(&references)).unwrap_or(u32::MAX)
}

unsafe extern "system" fn release(this: *mut c_void) -> u32 {
    // SAFETY: by COM's rules, a caller passes an interface pointer to which it holds a reference,
    // and gives up the reference by this call.
    let references = ManuallyDrop::into_inner(unsafe { Facet::of(this) }.references());
    // The count is approximate, since other threads can change it. By COM's rules, callers use it
    // only for tests.
    let left = Arc::strong_count(&references) - 1;
    drop(references);
    u32::try_from(left).unwrap_or(u32::MAX)
}

unsafe extern "C-unwind" fn stub(object: *mut c_void, call: &mut ServerCall<'_>) -> Answer {
    // SAFETY: callers of a stub pass a live interface pointer.
    let facet = unsafe { Facet::checked(object) };
    answer(call, |opnum, request| {
        let facet = facet.ok_or(Status::OP_RNG_ERROR)?;
        facet.object().performer.perform(&facet.iid, opnum, request)
    })
}

#[cfg(test)]
mod tests {
    use super::super::pointer::{reference, take_back};
    use super::*;
    use crate::client::link::Link;
    use crate::client::proxy::UNKNOWN_INFO;
    use crate::protocol::objref::{ObjRef, parse};
    use crate::services::process;
    use std::sync::atomic::{AtomicBool, Ordering};

    const IID: GUID = GUID::from_u128(0x0d8f_6b31_52c4_4e97_b1a6_7c3e_90f2_d45c);

    /// IMarshal, which the runtime calls through its vtable.
    const IID_MARSHAL: GUID = GUID::from_u128(0x0000_0003_0000_0000_c000_0000_0000_0046);

    struct Echo(Arc<AtomicBool>);

    impl Performer for Echo {
        fn implements(&self, iid: &GUID) -> bool {
            [IID, IID_MARSHAL].contains(iid)
        }

        fn perform(&self, _: &GUID, _: u16, request: &[u8]) -> Result<(HRESULT, Cow<'_, [u8]>), Status> {
            Ok((code::S_OK, request.to_vec().into()))
        }
    }

    impl Drop for Echo {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    fn query(object: &IUnknown, iid: &GUID) -> Option<IUnknown> {
        let mut found = ptr::null_mut();
        // SAFETY: the call passes an IID and room for one pointer, as QueryInterface requires.
        let result = unsafe { object.query(iid, &mut found) };
        // SAFETY: a successful query returns a counted interface pointer.
        result.is_ok().then(|| unsafe { IUnknown::from_raw(found) })
    }

    #[test]
    fn an_object_has_one_identity_and_ends_with_its_last_reference() {
        let ended = Arc::new(AtomicBool::new(false));
        // SAFETY: the test calls methods of IUnknown only.
        let (first, weak) = unsafe { object(Echo(Arc::clone(&ended))) };
        let facet = query(&first, &IID).unwrap();
        assert_eq!(query(&first, &GUID::from_u128(1)), None);
        assert_eq!(query(&first, &IID_MARSHAL), None);
        assert_ne!(facet.as_raw(), first.as_raw());
        assert_eq!(query(&facet, &IUnknown::IID).unwrap().as_raw(), first.as_raw());
        assert_eq!(weak.upgrade().unwrap().as_raw(), first.as_raw());
        assert_eq!(with_performer(&facet, |echo: &Echo| echo.implements(&IID)), Some(true));
        drop(first);
        assert!(!ended.load(Ordering::SeqCst), "the other interface pointer keeps the object");
        drop(facet);
        assert!(ended.load(Ordering::SeqCst));
        assert!(weak.upgrade().is_none());
    }

    #[test]
    fn a_key_has_one_object_until_its_last_reference_is_released() {
        let objects = ObjectTable::default();
        // SAFETY: the test calls methods of IUnknown only.
        let made = || unsafe { object(Echo(Arc::default())) };
        let first = objects.get(7, made);
        assert_eq!(objects.get(7, || panic!("there is one")).as_raw(), first.as_raw());
        objects.forget(&7);
        assert!(objects.has(&7) && !objects.has(&8));
        drop(first);
        // The entry of the key still leads to the first object, which has been dropped. `get`
        // replaces the entry.
        let second = objects.get(7, made);
        objects.forget(&7);
        assert!(objects.has(&7));
        drop(second);
        objects.forget(&7);
        assert!(!objects.has(&7));
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn a_reference_for_a_call_is_counted_until_it_is_taken_back() {
        // SAFETY: the test calls methods of IUnknown only.
        let made = || unsafe { object(Echo(Arc::default())) }.0;
        let (runtime, link) = (process::runtime().unwrap(), Arc::new(Link::to_itself()));
        let known = runtime.marshal_own(&made(), &UNKNOWN_INFO, runtime.receiver_behind(&link)).unwrap();
        let through = runtime.import(&link, &known, &UNKNOWN_INFO).unwrap();
        let given = reference(&through, &made(), &UNKNOWN_INFO).unwrap();
        let target = ObjRef::from_any(&parse(&given).unwrap()).unwrap().target;
        assert!(runtime.exports().get(target).is_ok());
        take_back(&through, &[&given]).unwrap();
        assert!(runtime.exports().get(target).is_err());
    }
}
