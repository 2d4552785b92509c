//! Objects of Java's, as the runtime has them: each a number, by which Java finds it, behind interface pointers.

use crate::cancelling::Said;
use crate::handles::{self, Handle};
use crate::interfaces::Halves;
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

/// The results of a method, in memory of Java's.
#[derive(Debug)]
#[repr(C)]
pub struct Reply {
    frame: *const u8,
    length: usize,
}

/// What Java does. Each may be called by any thread, and none unwinds.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Callbacks {
    /// Performs a call of an object by an interface: the method's number, the request's frame, and what the caller has said beside it, or null. The reply's frame has to stay until this thread
    /// calls again; of a method that failed it is the frame of its words, if there are any. Returns what the method returned, or a fault's status with
    /// the bit above it.
    perform: unsafe extern "C" fn(u64, *const Halves, u32, *const u8, usize, *const Said, *mut Reply) -> u64,
    /// Whether an object has an interface: not 0.
    implements: unsafe extern "C" fn(u64, *const Halves) -> u32,
    /// Nobody holds the object any more, unless it was wrapped again.
    released: unsafe extern "C" fn(u64),
    /// Makes an object of a class, by the number of what makes them: gives a handle, which is this library's then.
    make: unsafe extern "C" fn(u64, *mut Handle) -> HRESULT,
    /// Whether a rule permits a caller, by the rule's number: not 0. The process, the level, and the words of [`told`](crate::security::told).
    pub(crate) permits: unsafe extern "C" fn(u64, u32, u32, *const u8, usize) -> u32,
    /// A rule is not asked any more.
    pub(crate) drop_rule: unsafe extern "C" fn(u64),
}

static CALLBACKS: OnceLock<Callbacks> = OnceLock::new();

/// Only objects of Java's answer for it: with the interface pointer that is their identity.
const IID_JAVA: GUID = GUID::from_u128(0x0d8f_6b31_52c4_4e97_b1a6_7c3e_90f2_d45b);

/// What serves every method of every interface.
pub(crate) const STUBS: Stubs = Stubs::new(&[stub as StubFn]);

static VTABLE: IUnknown_Vtbl = IUnknown_Vtbl { QueryInterface: query_interface, AddRef: add_ref, Release: release };

/// An interface pointer of an object.
#[repr(C)]
struct Facet {
    vtable: *const IUnknown_Vtbl,
    // Invariant: the object that owns it.
    object: NonNull<Object>,
    iid: GUID,
}

struct Object {
    id: u64,
    references: AtomicU32,
    // Boxed, since interface pointers are their addresses. The first is the identity.
    #[expect(clippy::vec_box, reason = "an interface pointer must not move")]
    facets: Mutex<Vec<Box<Facet>>>,
}

/// An object that is alive, or about to end.
#[derive(Clone, Copy)]
struct Pointer(NonNull<Object>);

// SAFETY: an object may be used by any thread: its count is atomic, its facets are behind a lock.
unsafe impl Send for Pointer {}

/// The objects that somebody holds, by Java's number.
static HELD: Mutex<Option<HashMap<u64, Pointer>>> = Mutex::new(None);

fn held() -> MutexGuard<'static, Option<HashMap<u64, Pointer>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells who performs calls: once, before anything else.
///
/// # Safety
///
/// `callbacks` must be null, or lead to functions that stay for ever.
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
        // SAFETY: just made, and nobody else knows it.
        unsafe { object.as_ref() }.facet(object, IUnknown::IID);
        object
    }

    /// The interface pointer by an interface that the object has.
    fn facet(&self, own: NonNull<Self>, iid: GUID) -> *mut c_void {
        let mut facets = self.facets.lock().unwrap_or_else(PoisonError::into_inner);
        let at = facets.iter().position(|facet| facet.iid == iid).unwrap_or_else(|| {
            facets.push(Box::new(Facet { vtable: &raw const VTABLE, object: own, iid }));
            facets.len() - 1
        });
        (&raw mut *facets[at]).cast()
    }

    /// Takes a reference, unless the last one is gone.
    fn try_add_ref(&self) -> bool {
        let more = |count: u32| (count > 0).then_some(count + 1);
        self.references.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }
}

/// # Safety
///
/// `this` must be an interface pointer of an object here, alive for `'a`.
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
        // SAFETY: Java's function; the halves stay for the call.
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
    // SAFETY: the reference that is given back keeps it.
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
    // SAFETY: nobody has a reference, nor gets one: it is in no table.
    drop(unsafe { Box::from_raw(own.as_ptr()) });
    if let Ok(callbacks) = callbacks() {
        // SAFETY: Java's function.
        unsafe { (callbacks.released)(id) };
    }
}

/// The interface pointer of an object of Java's: the one that there is, or a new one.
///
/// # Safety
///
/// `handle` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_wrap(id: u64, handle: *mut Handle) -> HRESULT {
    guarded(|| {
        let mut held = held();
        let known = held.get_or_insert_default();
        // SAFETY: an object leaves this table, under its lock, before it is freed.
        let alive = known.get(&id).copied().filter(|known| unsafe { known.0.as_ref() }.try_add_ref());
        let object = alive.map_or_else(|| Object::create(id), |known| known.0);
        known.insert(id, Pointer(object));
        // SAFETY: the reference just taken keeps it.
        let identity = unsafe { object.as_ref() }.facet(object, IUnknown::IID);
        // SAFETY: it goes with the pointer.
        let identity = unsafe { IUnknown::from_raw(identity) };
        drop(held);
        // SAFETY: the caller's promise.
        unsafe { give(handle, handles::keep(&identity)?) }
    })
}

/// Whether anybody holds an object of Java's: 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_java_is_held(id: u64) -> u32 {
    guarded_or(1, || held().as_ref().is_some_and(|held| held.contains_key(&id)).into())
}

/// An object that Java makes of a class.
pub(crate) fn make(maker: u64) -> Result<IUnknown> {
    let mut handle = 0;
    // SAFETY: Java's function; the place stays for the call.
    let result = unsafe { (callbacks()?.make)(maker, &raw mut handle) };
    com::rt::check(result)?;
    let made = handles::get(handle);
    handles::obvia_java_release(handle);
    made
}

/// Which object of Java's an interface pointer leads to; 0 where it is none.
pub(crate) fn number(pointer: &IUnknown) -> u64 {
    let mut found = std::ptr::null_mut();
    // SAFETY: a QueryInterface with a place for one pointer.
    let result = unsafe { pointer.query(&IID_JAVA, &mut found) };
    if result.is_err() || found.is_null() {
        return 0;
    }
    // SAFETY: only `query_interface` above knows the IID.
    let id = unsafe { facet(found) }.object().id;
    // SAFETY: the query returned a counted interface pointer.
    drop(unsafe { IUnknown::from_raw(found) });
    id
}

/// A fault's status has this bit above it.
const FAULT: u64 = 1 << 32;

unsafe extern "C-unwind" fn stub(object: *mut c_void, call: &mut ServerCall<'_>) -> Answer {
    // SAFETY: whoever calls a stub has an interface pointer of its interface.
    let facet = unsafe { facet(object) };
    pointer::answer(call, |opnum, request| {
        let callbacks = callbacks().map_err(|_| Status::OP_RNG_ERROR)?;
        let mut reply = Reply { frame: std::ptr::null(), length: 0 };
        let (id, iid) = (facet.object().id, Halves::of(facet.iid.to_u128()));
        let (first, length) = (request.as_ptr(), request.len());
        let said = Said::of_call();
        let said = said.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: Java's function; what it is given stays for the call.
        let answer = unsafe { (callbacks.perform)(id, &iid, opnum.into(), first, length, said, &mut reply) };
        if answer & FAULT != 0 {
            return Err(Status(answer as u32));
        }
        // SAFETY: Java's promise.
        Ok((HRESULT((answer as u32).cast_signed()), unsafe { bytes(reply.frame, reply.length) }))
    })
}
