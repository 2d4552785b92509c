//! Connection points: obvia_events.h, and what ocidl.h declares.

use crate::errors::guarded;
use crate::interface::{Interface, describe};
use crate::runtime::not_null;
use com::abi::{self, Point};
use com::events::{CONNECTDATA, Connection, IConnectionPointContainer, Limits, idl};
use com::rt::Graph;
use com::{GUID, HRESULT, IUnknown, Interface as _, Result, code};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;
use std::time::Duration;

/// What `ocidl.h` declares of an interface.
macro_rules! interface {
    ($interface:ident, $iid:ident, $info:ident, $name:literal) => {
        #[doc = concat!("`", stringify!($iid), "` in ocidl.h.")]
        // SAFETY: the name is the standard's, and means nothing else.
        #[unsafe(no_mangle)]
        pub static $iid: GUID = idl::$interface::IID;
        #[doc = concat!("`", stringify!($info), "` in ocidl.h.")]
        // SAFETY: the compiler writes no definition of it, only the declaration in ocidl.h.
        #[unsafe(no_mangle)]
        pub static $info: Interface = Interface::of_runtime($name, idl::$interface::IID);
    };
}

interface!(IConnectionPoint, IID_IConnectionPoint, IConnectionPoint_INFO, c"IConnectionPoint");
interface!(
    IConnectionPointContainer,
    IID_IConnectionPointContainer,
    IConnectionPointContainer_INFO,
    c"IConnectionPointContainer"
);
interface!(IEnumConnectionPoints, IID_IEnumConnectionPoints, IEnumConnectionPoints_INFO, c"IEnumConnectionPoints");
interface!(IEnumConnections, IID_IEnumConnections, IEnumConnections_INFO, c"IEnumConnections");

type Data = CONNECTDATA<'static>;

/// `CONNECTDATA_free` in ocidl.h.
///
/// # Safety
///
/// `first` must be null or lead to so many structures in one allocation, owned by the caller.
// SAFETY: as above: the compiler writes only its declaration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CONNECTDATA_free(first: *mut c_void, count: usize) {
    if !first.is_null() {
        // SAFETY: the caller's promise.
        unsafe { abi::free_elements(first.cast(), Data::ELEMENT, count, Data::TYPES) };
    }
}

/// `CONNECTDATA_clear` in ocidl.h.
///
/// # Safety
///
/// `first` must be null or lead to so many structures, owned by the caller.
// SAFETY: as above: the compiler writes only its declaration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CONNECTDATA_clear(first: *mut c_void, count: usize) {
    if !first.is_null() {
        // SAFETY: the caller's promise.
        unsafe { abi::clear_elements(first.cast(), Data::ELEMENT, count, Data::TYPES) };
        // SAFETY: the caller's promise.
        unsafe { first.cast::<Data>().write_bytes(0, count) };
    }
}

/// `CONNECTDATA_copy` in ocidl.h.
///
/// # Safety
///
/// `first` must be null or lead to so many structures, and `copy` be null or writable.
// SAFETY: as above: the compiler writes only its declaration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CONNECTDATA_copy(first: *const c_void, count: usize, copy: *mut *mut c_void) -> HRESULT {
    guarded(|| {
        not_null(copy)?;
        // SAFETY: the caller's promise.
        unsafe { copy.write(null_mut()) };
        if first.is_null() {
            return if count == 0 { Ok(()) } else { Err(code::E_POINTER.into()) };
        }
        // SAFETY: the caller's promise.
        let made = unsafe { abi::copy_elements(first.cast(), Data::ELEMENT, count, Data::TYPES) }?;
        // SAFETY: the caller's promise.
        unsafe { copy.write(made.cast()) };
        Ok(())
    })
}

/// `obvia_event_limits` in obvia_events.h.
#[repr(C)]
pub struct EventLimits {
    sinks: u32,
    timeout_ms: u32,
    unanswered: u32,
    queued: u32,
}

/// `obvia_event` in obvia_events.h.
type Event = unsafe extern "C" fn(context: *mut c_void, sink: *mut c_void) -> HRESULT;

/// What an event is made with; released when no sink is to be told of it any more.
struct Context {
    event: Option<Event>,
    context: *mut c_void,
    release: Option<unsafe extern "C" fn(context: *mut c_void)>,
}

// SAFETY: who posts an event promises that any thread may call it.
unsafe impl Send for Context {}
// SAFETY: as above, and several at once.
unsafe impl Sync for Context {}

impl Context {
    fn tell(&self, sink: &IUnknown) -> Result<()> {
        let event = self.event.ok_or(code::E_POINTER)?;
        // SAFETY: who gave the event promises that it can be called with its context and a pointer to the point's interface.
        let result = unsafe { event(self.context, sink.as_raw()) };
        com::rt::check(result)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: as above; it is not used any more.
            unsafe { release(self.context) };
        }
    }
}

/// `obvia_new_connection_point` in obvia_events.h.
///
/// # Safety
///
/// `interface` must be one that the compiler described, `limits` be null or readable, and `point` be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_new_connection_point(
    interface: *const Interface,
    limits: *const EventLimits,
    point: *mut *mut Arc<Point>,
) -> HRESULT {
    guarded(|| {
        not_null(point)?;
        // SAFETY: the caller's promise.
        unsafe { point.write(null_mut()) };
        // SAFETY: the caller's promise.
        let info = unsafe { describe(interface) }?;
        // SAFETY: the caller's promise.
        let limits = unsafe { limits.as_ref() }.map_or_else(Limits::default, |limits| Limits {
            sinks: limits.sinks as usize,
            timeout: Duration::from_millis(limits.timeout_ms.into()),
            unanswered: limits.unanswered,
            queued: limits.queued as usize,
        });
        let made = Box::new(Point::new(info, limits));
        // SAFETY: the caller's promise.
        unsafe { point.write(Box::into_raw(made)) };
        Ok(())
    })
}

/// `obvia_free_connection_point` in obvia_events.h.
///
/// # Safety
///
/// `point` must be null, or come from [`obvia_new_connection_point`] and not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_free_connection_point(point: *mut Arc<Point>) {
    if !point.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(point) });
    }
}

/// Connection points that a program passed.
///
/// # Safety
///
/// `points` must lead to `count` of them, or be null for none, and they must stay for `'a`.
unsafe fn points<'a>(points: *const *const Arc<Point>, count: usize) -> Result<Vec<&'a Arc<Point>>> {
    // SAFETY: the caller's promise.
    let points = unsafe { com::rt::slice(points, count) };
    // SAFETY: as above.
    points.iter().map(|point| Ok(unsafe { point.as_ref() }.ok_or(code::E_POINTER)?)).collect()
}

/// `obvia_find_connection_point` in obvia_events.h.
///
/// # Safety
///
/// `container` must be null or an interface pointer of its interface, `all` lead to `count` connection points, `iid` be null or readable, and
/// `found` be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_find_connection_point(
    container: *mut c_void,
    all: *const *const Arc<Point>,
    count: usize,
    iid: *const GUID,
    found: *mut *mut c_void,
) -> HRESULT {
    guarded(|| {
        not_null(found)?;
        // SAFETY: the caller's promise.
        unsafe { found.write(null_mut()) };
        // SAFETY: the caller's promise.
        let container = unsafe { IConnectionPointContainer::from_raw_borrowed(&container) }.ok_or(code::E_POINTER)?;
        // SAFETY: the caller's promise.
        let iid = unsafe { iid.as_ref() }.ok_or(code::E_POINTER)?;
        // SAFETY: the caller's promise.
        let all = unsafe { points(all, count) }?;
        let point = abi::find_point(container, all.into_iter(), iid)?;
        // SAFETY: the caller's promise.
        unsafe { found.write(point.into_raw()) };
        Ok(())
    })
}

/// `obvia_enumerate_connection_points` in obvia_events.h.
///
/// # Safety
///
/// As for [`obvia_find_connection_point`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_enumerate_connection_points(
    container: *mut c_void,
    all: *const *const Arc<Point>,
    count: usize,
    enumerator: *mut *mut c_void,
) -> HRESULT {
    guarded(|| {
        not_null(enumerator)?;
        // SAFETY: the caller's promise.
        unsafe { enumerator.write(null_mut()) };
        // SAFETY: the caller's promise.
        let container = unsafe { IConnectionPointContainer::from_raw_borrowed(&container) }.ok_or(code::E_POINTER)?;
        // SAFETY: the caller's promise.
        let all = unsafe { points(all, count) }?;
        let made = abi::enumerate_points(container, all.into_iter())?;
        // SAFETY: the caller's promise.
        unsafe { enumerator.write(made.into_raw()) };
        Ok(())
    })
}

/// `obvia_sinks` in obvia_events.h.
///
/// # Safety
///
/// `point` must be null or a connection point.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_sinks(point: *const Arc<Point>) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { point.as_ref() }.map_or(0, |point| point.count() as u32)
}

/// `obvia_fire` in obvia_events.h.
///
/// # Safety
///
/// `point` must be null or a connection point, and `event` be null or a function that can be called with `context` and a pointer to the point's
/// interface.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_fire(point: *const Arc<Point>, event: Option<Event>, context: *mut c_void) -> u32 {
    let context = Context { event, context, release: None };
    // SAFETY: the caller's promise.
    let Some(point) = (unsafe { point.as_ref() }) else { return 0 };
    let mut told = 0;
    let _ = guarded(|| {
        told = point.fire(&|sink| context.tell(sink)) as u32;
        Ok(())
    });
    told
}

/// `obvia_post` in obvia_events.h.
///
/// # Safety
///
/// As for [`obvia_fire`], by any thread and several at once, until `release` is called, unless it is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_post(
    point: *const Arc<Point>,
    event: Option<Event>,
    context: *mut c_void,
    release: Option<unsafe extern "C" fn(context: *mut c_void)>,
) -> u32 {
    let context = Context { event, context, release };
    // SAFETY: the caller's promise.
    let Some(point) = (unsafe { point.as_ref() }) else { return 0 };
    let mut lost = 0;
    let _ = guarded(|| {
        let event: abi::Posted = Arc::new(move |sink: &IUnknown| context.tell(sink));
        lost = point.post(&event) as u32;
        Ok(())
    });
    lost
}

/// `obvia_advise` in obvia_events.h.
///
/// # Safety
///
/// `source` and `sink` must be null or interface pointers, `interface` one that the compiler described, and `connection` be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_advise(
    source: *mut c_void,
    interface: *const Interface,
    sink: *mut c_void,
    connection: *mut *mut Connection,
) -> HRESULT {
    guarded(|| {
        not_null(connection)?;
        // SAFETY: the caller's promise.
        unsafe { connection.write(null_mut()) };
        // SAFETY: the caller's promise.
        let source = unsafe { IUnknown::from_raw_borrowed(&source) }.ok_or(code::E_POINTER)?;
        // SAFETY: the caller's promise.
        let sink = unsafe { IUnknown::from_raw_borrowed(&sink) }.ok_or(code::E_POINTER)?;
        // SAFETY: the caller's promise.
        let info = unsafe { describe(interface) }?;
        let made = Box::new(abi::advise_by(source, info, sink)?);
        // SAFETY: the caller's promise.
        unsafe { connection.write(Box::into_raw(made)) };
        Ok(())
    })
}

/// `obvia_unadvise` in obvia_events.h.
///
/// # Safety
///
/// `connection` must be null, or come from [`obvia_advise`] and not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_unadvise(connection: *mut Connection) -> HRESULT {
    guarded(|| {
        if connection.is_null() {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        let connection = unsafe { Box::from_raw(connection) };
        connection.unadvise()
    })
}

/// `obvia_free_connection` in obvia_events.h.
///
/// # Safety
///
/// As for [`obvia_unadvise`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_free_connection(connection: *mut Connection) {
    if !connection.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(connection) });
    }
}
