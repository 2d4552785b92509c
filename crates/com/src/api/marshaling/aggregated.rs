//! The virtual interface marshaler as a part of objects in other languages, by COM's aggregation.

use super::Specialised;
use super::{IMarshal, IMarshal_Vtbl};
use crate::transport::network;
use crate::types::error::{Result, code};
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use windows_core::{ComObject, ComObjectInner, GUID, HRESULT, IUnknown, IUnknown_Vtbl, IUnknownImpl, Interface};

/// A marshaler as a part of an object that was not made by `#[obvia::object]`. The object forwards
/// queries for IMarshal to the marshaler.
#[repr(C)]
struct Inner {
    // The inner unknown, which only the outer object uses, and which counts the part's own
    // references.
    unknown: &'static IUnknown_Vtbl,
    // The vtable of the IMarshal that all other code uses. Its methods of IUnknown forward to the
    // outer object.
    marshal: &'static IMarshal_Vtbl,
    references: AtomicU32,
    // The pointer is not counted, because the outer object keeps this part exactly as long as
    // itself.
    outer: ManuallyDrop<IUnknown>,
    endpoint: String,
}

// SAFETY: the caller of `vi_marshaler` promises that any thread may use the object; all other
// fields are `Send`.
unsafe impl Send for Inner {}
// SAFETY: the caller of `vi_marshaler` promises that any thread may use the object; all other
// fields are `Sync`.
unsafe impl Sync for Inner {}

static UNKNOWN: IUnknown_Vtbl =
    IUnknown_Vtbl { QueryInterface: query_interface, AddRef: add_ref, Release: release_inner };
static MARSHAL: IMarshal_Vtbl = IMarshal_Vtbl::new::<Inner, -1>();

/// Makes a marshaler for an object that was not made by `#[obvia::object]`. In COM's terms the
/// marshaler is an inner object that `outer` aggregates. The outer object keeps the marshaler, and
/// forwards queries for IMarshal to it. `endpoint` is as for [`Specialised::endpoint`].
///
/// # Safety
///
/// `outer` must be a pointer to the object, which any thread may use. The object must keep the
/// result exactly as long as itself, and must not hand the result out.
///
/// # Errors
///
/// E_INVALIDARG for an endpoint that is not of virtual interfaces; E_POINTER for a null pointer.
pub unsafe fn vi_marshaler(outer: *mut c_void, endpoint: &str) -> Result<IUnknown> {
    if !endpoint.is_empty() {
        network::parse_vi(endpoint)?;
    }
    if outer.is_null() {
        return Err(code::E_POINTER.into());
    }
    // SAFETY: the pointer is not null, so the caller promises that it is a pointer to the object.
    // `ManuallyDrop` does not release the object's reference.
    let outer = ManuallyDrop::new(unsafe { IUnknown::from_raw(outer) });
    let (references, endpoint) = (AtomicU32::new(1), endpoint.to_owned());
    let inner = Box::new(Inner { unknown: &UNKNOWN, marshal: &MARSHAL, references, outer, endpoint });
    // SAFETY: the box begins with a vtable of IUnknown, whose last release frees the box.
    Ok(unsafe { IUnknown::from_raw(Box::into_raw(inner).cast()) })
}

/// # Safety
///
/// `this` must be the inner unknown, alive for `'a`.
unsafe fn inner<'a>(this: *mut c_void) -> &'a Inner {
    // SAFETY: the caller promises the inner unknown, which is alive for `'a`.
    unsafe { &*this.cast::<Inner>() }
}

unsafe extern "system" fn query_interface(this: *mut c_void, iid: *const GUID, out: *mut *mut c_void) -> HRESULT {
    if iid.is_null() || out.is_null() {
        return code::E_POINTER;
    }
    // SAFETY: the function is in the vtable of the inner unknown only, and its caller holds a
    // reference to it.
    let part = unsafe { inner(this) };
    // SAFETY: the pointer is not null, so by the contract of QueryInterface it is readable.
    let (pointer, result) = match unsafe { *iid } {
        IUnknown::IID => {
            part.references.fetch_add(1, Ordering::Relaxed);
            (this, code::S_OK)
        }
        IMarshal::IID => {
            part.AddRef();
            ((&raw const part.marshal).cast_mut().cast(), code::S_OK)
        }
        _ => (std::ptr::null_mut(), code::E_NOINTERFACE),
    };
    // SAFETY: the pointer is not null, so by the contract of QueryInterface it is writable.
    unsafe { out.write(pointer) };
    result
}

unsafe extern "system" fn add_ref(this: *mut c_void) -> u32 {
    // SAFETY: the function is in the vtable of the inner unknown only, and its caller holds a
    // reference to it.
    unsafe { inner(this) }.references.fetch_add(1, Ordering::Relaxed) + 1
}

unsafe extern "system" fn release_inner(this: *mut c_void) -> u32 {
    // SAFETY: the function is in the vtable of the inner unknown only, and its caller holds a
    // reference to it until this call.
    let left = unsafe { inner(this) }.references.fetch_sub(1, Ordering::Release) - 1;
    if left == 0 {
        fence(Ordering::Acquire);
        // SAFETY: the pointer was made by `Box::into_raw`, and the last reference was just
        // released.
        drop(unsafe { Box::from_raw(this.cast::<Inner>()) });
    }
    left
}

/// The IUnknown of the part's IMarshal: all methods forward to the outer object.
impl IUnknownImpl for Inner {
    type Impl = Self;

    fn get_impl(&self) -> &Self {
        self
    }

    fn get_impl_mut(&mut self) -> &mut Self {
        self
    }

    fn into_inner(self) -> Self {
        self
    }

    unsafe fn QueryInterface(&self, iid: *const GUID, interface: *mut *mut c_void) -> HRESULT {
        // SAFETY: the caller passes the arguments of a QueryInterface, which are forwarded
        // unchanged.
        unsafe { self.outer.query(iid, interface) }
    }

    fn AddRef(&self) -> u32 {
        // SAFETY: the outer object lives as long as its part.
        unsafe { (self.outer.vtable().AddRef)(self.outer.as_raw()) }
    }

    unsafe fn Release(this: *mut Self) -> u32 {
        // SAFETY: the caller holds a reference to the outer object until the release, and the outer
        // object keeps its part.
        let outer = unsafe { &(*this).outer };
        let (vtable, object) = (outer.vtable(), outer.as_raw());
        // SAFETY: the caller gives up one reference to the outer object, which is released here.
        unsafe { (vtable.Release)(object) }
    }

    fn is_reference_count_one(&self) -> bool {
        false
    }

    unsafe fn GetTrustLevel(&self, _: *mut i32) -> HRESULT {
        code::E_NOTIMPL
    }

    fn to_object(&self) -> ComObject<Self> {
        unreachable!("the inner object of an aggregate has no identity of its own")
    }
}

impl ComObjectInner for Inner {
    type Outer = Self;

    fn into_object(self) -> ComObject<Self> {
        unreachable!("the inner object of an aggregate has no identity of its own")
    }
}

impl Specialised for Inner {
    fn endpoint(&self) -> &str {
        &self.endpoint
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An object that counts its references and aggregates a marshaler.
    #[repr(C)]
    struct Outer {
        unknown: &'static IUnknown_Vtbl,
        references: AtomicU32,
        part: Option<IUnknown>,
    }

    unsafe extern "system" fn ask(this: *mut c_void, iid: *const GUID, out: *mut *mut c_void) -> HRESULT {
        // SAFETY: the function is in the vtable of the object only.
        let outer = unsafe { &*this.cast::<Outer>() };
        // SAFETY: the tests pass an IID and room for a pointer.
        if unsafe { *iid } == IUnknown::IID {
            outer.references.fetch_add(1, Ordering::Relaxed);
            // SAFETY: the tests pass an IID and room for a pointer.
            unsafe { out.write(this) };
            return code::S_OK;
        }
        // SAFETY: the tests pass an IID and room for a pointer.
        outer.part.as_ref().map_or(code::E_NOINTERFACE, |part| unsafe { part.query(iid, out) })
    }

    unsafe extern "system" fn count(this: *mut c_void) -> u32 {
        // SAFETY: the function is in the vtable of the object only.
        unsafe { &*this.cast::<Outer>() }.references.fetch_add(1, Ordering::Relaxed) + 1
    }

    unsafe extern "system" fn uncount(this: *mut c_void) -> u32 {
        // SAFETY: the function is in the vtable of the object only; the test frees the object.
        unsafe { &*this.cast::<Outer>() }.references.fetch_sub(1, Ordering::Relaxed) - 1
    }

    static VTABLE: IUnknown_Vtbl = IUnknown_Vtbl { QueryInterface: ask, AddRef: count, Release: uncount };

    #[test]
    #[cfg_attr(miri, ignore = "windows-core derives interface pointers from `&self`")]
    fn the_aggregated_marshaler_is_part_of_its_object() {
        let mut outer = Outer { unknown: &VTABLE, references: AtomicU32::new(1), part: None };
        let object = (&raw mut outer).cast::<c_void>();
        // SAFETY: the object lives until the end of the test, and drops its part before.
        let part = unsafe { vi_marshaler(object, "") }.unwrap();
        // SAFETY: no other code uses the object now.
        unsafe { (*object.cast::<Outer>()).part = Some(part.clone()) };
        // SAFETY: the uncounted interface pointer is never dropped.
        let own = ManuallyDrop::new(unsafe { IUnknown::from_raw(object) });
        let marshal: IMarshal = own.cast().unwrap();
        assert_eq!(marshal.cast::<IUnknown>().unwrap().as_raw(), object);
        assert_eq!(marshal.cast::<IMarshal>().unwrap().as_raw(), marshal.as_raw());
        // The inner unknown has an identity of its own, which only the object uses.
        assert_eq!(part.cast::<IUnknown>().unwrap().as_raw(), part.as_raw());
        assert_ne!(part.as_raw(), object);
        assert_eq!(part.cast::<crate::runtime::marshaling::IStream>().unwrap_err().code(), code::E_NOINTERFACE);
        assert_eq!(outer.references.load(Ordering::Relaxed), 2);
        drop(marshal);
        assert_eq!(outer.references.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn marshaler_endpoints_other_than_virtual_interfaces_are_refused() {
        for wrong in ["ncacn_ip_tcp:[5555]", "5555", "ncacn_vi_udp:h[5555,nothing=1]"] {
            let outer = (&raw const VTABLE).cast_mut().cast();
            // SAFETY: the object is not used.
            let made = unsafe { vi_marshaler(outer, wrong) };
            assert_eq!(made.err().map(|error| error.code()), Some(code::E_INVALIDARG), "{wrong}");
        }
    }
}
