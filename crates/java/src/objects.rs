//! The objects of Java. Each has a number, by which Java finds the object, and interface pointers,
//! by which the runtime refers to it.

use crate::cancelling::Said;
use crate::halves::Halves;
use crate::handles::{self, Handle};
use crate::outcome::{bytes, give, guarded, guarded_or};
use com::abi::{self, ObjectTable, Performer, with_performer};
use com::rt::Status;
use com::{Error, GUID, HRESULT, IUnknown, Result, code};
use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

/// The results of a method: in memory of Java, or in bytes of this library.
#[derive(Debug)]
#[repr(C)]
pub struct Reply {
    frame: *const u8,
    length: usize,
    /// The results, if Java has written them to bytes of
    /// [`obvia_java_room`](crate::outcome::obvia_java_room); otherwise null.
    own: *mut Vec<u8>,
}

/// The functions of Java. Any thread may call these functions. They do not unwind.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Callbacks {
    /// Performs a call. The arguments are the object's number, the interface's IID, the opnum, the
    /// request's frame and its length, the context that the caller has sent, or null, and the place
    /// for the results. A results' frame in memory of Java must stay valid until this thread's next
    /// call. The frame of a failed method contains the error's description, if there is one.
    /// Returns the method's HRESULT, or a fault's status with the bit `FAULT`.
    perform: unsafe extern "C" fn(u64, *const Halves, u32, *const u8, usize, *const Said, *mut Reply) -> u64,
    /// Returns a value other than 0 if an object has an interface. The arguments are the object's
    /// number and the IID.
    implements: unsafe extern "C" fn(u64, *const Halves) -> u32,
    /// Reports, with an object's number, that the last reference to the object was released. Java
    /// keeps the object if a new reference has been made since the release.
    released: unsafe extern "C" fn(u64),
    /// Creates an object with a factory, whose number is the first argument. Stores a handle of the
    /// object, which this library then owns.
    make: unsafe extern "C" fn(u64, *mut Handle) -> HRESULT,
    /// Returns a value other than 0 if the rule with a number permits a caller. The further
    /// arguments describe the caller: its process, its level, and the strings of
    /// [`told`](crate::security::told).
    pub(crate) permits: unsafe extern "C" fn(u64, u32, u32, *const u8, usize) -> u32,
    /// Reports that a rule is not used any more.
    pub(crate) drop_rule: unsafe extern "C" fn(u64),
}

static CALLBACKS: OnceLock<Callbacks> = OnceLock::new();

/// An object of Java, which other processes call by frames.
struct Object {
    id: u64,
}

/// The objects of Java with references, by Java's numbers.
static HELD: LazyLock<ObjectTable<u64>> = LazyLock::new(ObjectTable::default);

/// Sets the functions of Java. Java calls this function once, before all others except
/// [`obvia_java_abi`](crate::obvia_java_abi).
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

/// The bit that marks a fault's status.
const FAULT: u64 = 1 << 32;

impl Performer for Object {
    fn implements(&self, iid: &GUID) -> bool {
        let has = |callbacks: &Callbacks| {
            // SAFETY: `implements` is a function of Java. The GUID that it reads outlives the call.
            unsafe { (callbacks.implements)(self.id, &Halves::of(iid.to_u128())) != 0 }
        };
        callbacks().is_ok_and(has)
    }

    fn perform(&self, iid: &GUID, opnum: u16, request: &[u8]) -> std::result::Result<(HRESULT, Cow<'_, [u8]>), Status> {
        let callbacks = callbacks().map_err(|_| Status::OP_RNG_ERROR)?;
        let mut reply = Reply { frame: std::ptr::null(), length: 0, own: std::ptr::null_mut() };
        let iid = Halves::of(iid.to_u128());
        let (first, length) = (request.as_ptr(), request.len());
        let said = Said::of_call();
        let said = said.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: `perform` is a function of Java. The memory that it reads and writes outlives the
        // call.
        let answer = unsafe { (callbacks.perform)(self.id, &iid, opnum.into(), first, length, said, &mut reply) };
        let own = (!reply.own.is_null()).then(|| {
            // SAFETY: the box is from `obvia_java_room`. Java returns each box only once, and does
            // not use it afterwards.
            unsafe { Box::from_raw(reply.own) }
        });
        if answer & FAULT != 0 {
            return Err(Status(answer as u32));
        }
        let result = HRESULT((answer as u32).cast_signed());
        if let Some(own) = own {
            return Ok((result, Cow::Owned(*own)));
        }
        // SAFETY: Java promises that the frame stays valid until this thread's next call.
        let reply = unsafe { bytes(reply.frame, reply.length) };
        Ok((result, reply.into()))
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        HELD.forget(&self.id);
        if let Ok(callbacks) = callbacks() {
            // SAFETY: `released` is a function of Java that accepts the number of any object.
            unsafe { (callbacks.released)(self.id) };
        }
    }
}

/// Returns a new handle of an object of Java, for the object's existing interface pointer or else
/// for a new one.
///
/// # Safety
///
/// `handle` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_wrap(id: u64, handle: *mut Handle) -> HRESULT {
    guarded(|| {
        // SAFETY: this library calls the interfaces of objects by frames, and not through vtables.
        let identity = HELD.get(id, || unsafe { abi::object(Object { id }) });
        // SAFETY: the caller's promise.
        unsafe { give(handle, handles::keep(&identity)?) }
    })
}

/// Whether an object of Java is referenced: 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_java_is_held(id: u64) -> u32 {
    guarded_or(1, || HELD.has(&id).into())
}

/// Creates an object with the factory of Java that has the number `maker`.
pub(crate) fn make(maker: u64) -> Result<IUnknown> {
    let mut handle = 0;
    // SAFETY: `make` is a function of Java. The handle that it writes outlives the call.
    let result = unsafe { (callbacks()?.make)(maker, &raw mut handle) };
    com::rt::check(result)?;
    let made = handles::get(handle);
    handles::obvia_java_release(handle);
    made
}

/// Returns the number of the object of Java that an interface pointer leads to; 0 for other
/// objects.
pub(crate) fn number(pointer: &IUnknown) -> u64 {
    with_performer(pointer, |object: &Object| object.id).unwrap_or(0)
}
