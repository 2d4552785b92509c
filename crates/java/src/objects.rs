//! The objects of Java: each has a number, by which Java finds it, and interface pointers for the
//! runtime.

use crate::cancelling::Said;
use crate::halves::Halves;
use crate::handles::{self, Handle};
use crate::outcome::{bytes, give, guarded, guarded_or};
use com::abi::{Answer, IID_AGILE_OBJECT, ServerCall, StubFn, Stubs};
use com::dynamic::pointer;
use com::rt::Status;
use com::windows_core::IUnknown_Vtbl;
use com::{Error, GUID, HRESULT, IUnknown, Interface as _, Result, code};
use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The results of a method, in memory of Java.
#[derive(Debug)]
#[repr(C)]
pub struct Reply {
    frame: *const u8,
    length: usize,
}

/// The functions of Java. Any thread may call them, and none unwinds.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Callbacks {
    /// Performs a call of an object by an interface, with the opnum, the request's frame, and the
    /// context that the caller has sent, or null. The reply's frame must stay valid until this
    /// thread's next call; for a failed method it is the frame of the description, if any. Returns
    /// the method's HRESULT, or a fault's status with the bit above it.
    perform: unsafe extern "C" fn(u64, *const Halves, u32, *const u8, usize, *const Said, *mut Reply) -> u64,
    /// Whether an object has an interface: not 0.
    implements: unsafe extern "C" fn(u64, *const Halves) -> u32,
    /// Reports that the last reference to an object was released. Java keeps the object if a new
    /// reference was made meanwhile.
    released: unsafe extern "C" fn(u64),
    /// Creates an object of a class by the number of its factory, and stores a handle, which this
    /// library then owns.
    make: unsafe extern "C" fn(u64, *mut Handle) -> HRESULT,
    /// Whether a rule, by its number, permits a caller: not 0. The caller is described by its
    /// process, its level, and the strings of [`told`](crate::security::told).
    pub(crate) permits: unsafe extern "C" fn(u64, u32, u32, *const u8, usize) -> u32,
    /// Reports that a rule is not used any more.
    pub(crate) drop_rule: unsafe extern "C" fn(u64),
}

static CALLBACKS: OnceLock<Callbacks> = OnceLock::new();

/// The IID that only objects of Java support. The query returns the interface pointer that is the
/// object's identity.
const IID_JAVA: GUID = GUID::from_u128(0x0d8f_6b31_52c4_4e97_b1a6_7c3e_90f2_d45b);

/// The stub of every method of every interface.
pub(crate) const STUBS: Stubs = Stubs::new(&[stub as StubFn]);

static VTABLE: IUnknown_Vtbl = IUnknown_Vtbl { QueryInterface: query_interface, AddRef: add_ref, Release: release };

/// An interface pointer of an object.
#[repr(C)]
struct Facet {
    vtable: *const IUnknown_Vtbl,
    // Invariant: the object that owns this facet.
    object: NonNull<Object>,
    iid: GUID,
}

struct Object {
    id: u64,
    references: AtomicU32,
    // Boxed, since interface pointers are addresses of facets. The first facet is the identity.
    #[expect(clippy::vec_box, reason = "an interface pointer must not move")]
    facets: Mutex<Vec<Box<Facet>>>,
}

/// An object that is alive, or about to end.
#[derive(Clone, Copy)]
struct Pointer(NonNull<Object>);

// SAFETY: any thread may use an object: its reference count is atomic, and its facets are behind a
// lock.
unsafe impl Send for Pointer {}

/// The referenced objects, by Java's number.
static HELD: Mutex<Option<HashMap<u64, Pointer>>> = Mutex::new(None);

fn held() -> MutexGuard<'static, Option<HashMap<u64, Pointer>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the functions of Java: once, before any other call.
///
/// # Safety
///
/// `callbacks` must be null, or refer to functions that are never unloaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_start(callbacks: *const Callbacks) -> HRESULT {
    guarded(|| {
        // SAFETY: the caller's promise.
        let callbacks = unsafe { callbacks.as_ref() }.ok_or(code::E_POINTER)?;
        let twice = |_| Error::new(code::E_UNEXPECTED, "the library is used by another class loader of this process");
        CALLBACKS.set(*callbacks).map_err(twice)?;
        Ok(code::S_OK)
    })
}

pub(crate) fn callbacks() -> Result<&'static Callbacks> {
    CALLBACKS.get().ok_or_else(|| code::E_UNEXPECTED.into())
}

impl Object {
    fn create(id: u64) -> NonNull<Self> {
        let object = Box::new(Self { id, references: AtomicU32::new(1), facets: Mutex::default() });
        let object = NonNull::from(Box::leak(object));
        // SAFETY: the object was just created, and no other thread has a pointer to it.
        unsafe { object.as_ref() }.facet(object, IUnknown::IID);
        object
    }

    /// Returns the interface pointer for an interface that the object has.
    fn facet(&self, own: NonNull<Self>, iid: GUID) -> *mut c_void {
        let mut facets = self.facets.lock().unwrap_or_else(PoisonError::into_inner);
        let at = facets.iter().position(|facet| facet.iid == iid).unwrap_or_else(|| {
            facets.push(Box::new(Facet { vtable: &raw const VTABLE, object: own, iid }));
            facets.len() - 1
        });
        (&raw mut *facets[at]).cast()
    }

    /// Adds a reference, unless the last one is gone.
    fn try_add_ref(&self) -> bool {
        let more = |count: u32| (count > 0).then_some(count + 1);
        self.references.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }
}

/// # Safety
///
/// `this` must be an interface pointer of an object of this module, alive for `'a`.
unsafe fn facet<'a>(this: *mut c_void) -> &'a Facet {
    // SAFETY: the caller's promise; facets are never written.
    unsafe { &*this.cast::<Facet>() }
}

impl Facet {
    fn object(&self) -> &Object {
        // SAFETY: by the invariant; the object lives as long as its facets.
        unsafe { self.object.as_ref() }
    }
}

unsafe extern "system" fn query_interface(this: *mut c_void, iid: *const GUID, result: *mut *mut c_void) -> HRESULT {
    guarded(|| {
        // SAFETY: COM's rule for callers.
        let facet = unsafe { facet(this) };
        // SAFETY: as above.
        let iid = *unsafe { iid.as_ref() }.ok_or(code::E_POINTER)?;
        let object = facet.object();
        let is_own = [IUnknown::IID, IID_AGILE_OBJECT, IID_JAVA].contains(&iid);
        // SAFETY: a function of Java; the halves outlive the call.
        let has = is_own || unsafe { (callbacks()?.implements)(object.id, &Halves::of(iid.to_u128())) } != 0;
        let found = if !has {
            std::ptr::null_mut()
        } else if is_own {
            object.facet(facet.object, IUnknown::IID)
        } else {
            object.facet(facet.object, iid)
        };
        // SAFETY: COM's rule for callers.
        let given = unsafe { give(result, found) }?;
        if !has {
            return Ok(code::E_NOINTERFACE);
        }
        object.references.fetch_add(1, Ordering::AcqRel);
        Ok(given)
    })
}

unsafe extern "system" fn add_ref(this: *mut c_void) -> u32 {
    // SAFETY: COM's rule for callers.
    let object = unsafe { facet(this) }.object();
    object.references.fetch_add(1, Ordering::AcqRel) + 1
}

unsafe extern "system" fn release(this: *mut c_void) -> u32 {
    // SAFETY: COM's rule for callers.
    let own = unsafe { facet(this) }.object;
    // SAFETY: the reference that is being released keeps the object alive.
    let object = unsafe { own.as_ref() };
    let (id, left) = (object.id, object.references.fetch_sub(1, Ordering::AcqRel) - 1);
    if left == 0 {
        end(own, id);
    }
    left
}

fn end(own: NonNull<Object>, id: u64) {
    let mut held = held();
    if let Some(held) = held.as_mut()
        && held.get(&id).is_some_and(|known| known.0 == own)
    {
        held.remove(&id);
    }
    drop(held);
    // SAFETY: no reference is left, and none can be added: the object is in no table.
    drop(unsafe { Box::from_raw(own.as_ptr()) });
    if let Ok(callbacks) = callbacks() {
        // SAFETY: a function of Java.
        unsafe { (callbacks.released)(id) };
    }
}

/// Returns a handle of an object of Java: on its existing interface pointer or a new one.
///
/// # Safety
///
/// `handle` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_wrap(id: u64, handle: *mut Handle) -> HRESULT {
    guarded(|| {
        let mut held = held();
        let known = held.get_or_insert_default();
        // SAFETY: an object is removed from this table, under its lock, before it is freed.
        let alive = known.get(&id).copied().filter(|known| unsafe { known.0.as_ref() }.try_add_ref());
        let object = alive.map_or_else(|| Object::create(id), |known| known.0);
        known.insert(id, Pointer(object));
        // SAFETY: the reference just taken keeps the object alive.
        let identity = unsafe { object.as_ref() }.facet(object, IUnknown::IID);
        // SAFETY: the reference is transferred to the pointer.
        let identity = unsafe { IUnknown::from_raw(identity) };
        drop(held);
        // SAFETY: the caller's promise.
        unsafe { give(handle, handles::keep(&identity)?) }
    })
}

/// Whether an object of Java is referenced: 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_java_is_held(id: u64) -> u32 {
    guarded_or(1, || held().as_ref().is_some_and(|held| held.contains_key(&id)).into())
}

/// Returns an object of a class that Java creates.
pub(crate) fn make(maker: u64) -> Result<IUnknown> {
    let mut handle = 0;
    // SAFETY: a function of Java; `handle` outlives the call.
    let result = unsafe { (callbacks()?.make)(maker, &raw mut handle) };
    com::rt::check(result)?;
    let made = handles::get(handle);
    handles::obvia_java_release(handle);
    made
}

/// Returns the number of the object of Java that an interface pointer leads to; 0 for other
/// objects.
pub(crate) fn number(pointer: &IUnknown) -> u64 {
    let mut found = std::ptr::null_mut();
    // SAFETY: a QueryInterface with room for one pointer.
    let result = unsafe { pointer.query(&IID_JAVA, &mut found) };
    if result.is_err() || found.is_null() {
        return 0;
    }
    // SAFETY: only `query_interface` above answers this IID, with a facet.
    let id = unsafe { facet(found) }.object().id;
    // SAFETY: the query returned a counted interface pointer.
    drop(unsafe { IUnknown::from_raw(found) });
    id
}

/// The bit that marks a fault's status.
const FAULT: u64 = 1 << 32;

unsafe extern "C-unwind" fn stub(object: *mut c_void, call: &mut ServerCall<'_>) -> Answer {
    // SAFETY: callers of a stub pass an interface pointer of its interface.
    let facet = unsafe { facet(object) };
    pointer::answer(call, |opnum, request| {
        let callbacks = callbacks().map_err(|_| Status::OP_RNG_ERROR)?;
        let mut reply = Reply { frame: std::ptr::null(), length: 0 };
        let (id, iid) = (facet.object().id, Halves::of(facet.iid.to_u128()));
        let (first, length) = (request.as_ptr(), request.len());
        let said = Said::of_call();
        let said = said.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: a function of Java; the arguments outlive the call.
        let answer = unsafe { (callbacks.perform)(id, &iid, opnum.into(), first, length, said, &mut reply) };
        if answer & FAULT != 0 {
            return Err(Status(answer as u32));
        }
        // SAFETY: Java's promise: the frame stays valid until this thread's next call.
        Ok((HRESULT((answer as u32).cast_signed()), unsafe { bytes(reply.frame, reply.length) }))
    })
}
