//! Custom marshaling: objects that write their own references (IMarshal), and the classes that
//! unmarshal them.

use super::interfaces::{IMarshal, IMarshal_Impl, ISequentialStream, IStream};
use super::stream::Memory;
use super::{Context, Flags};
use crate::orpc::{ObjRef as Any, ViReference, com_guid};
use crate::protocol::objref::DATA_MAX;
use crate::server::exports::query;
use crate::types::error::{Error, Result, code, guard, guarded, leave, result_of};
use crate::types::memory::put;
use crate::types::registry::{self, InterfaceInfo, is_proxy};
use std::collections::HashMap;
use std::ffi::c_void;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use windows_core::{ComObject, GUID, HRESULT, IUnknown, Interface};

/// The class for standard marshaling (CLSID_StdMarshal).
pub const STANDARD: GUID = com_guid(0x17);

/// The interface that is marshaled, and its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passing {
    /// The IID of the interface.
    pub iid: GUID,
    /// The destination of the reference.
    pub context: Context,
    /// The manner in which the reference is unmarshaled.
    pub flags: Flags,
}

/// IMarshal for objects in Rust. A type `#[obvia::object(IPoint, IMarshal)] struct Point;`
/// implements IMarshal by `impl Marshaler for Point_Impl`. The runtime calls [`Self::class`],
/// [`Self::marshal`] and [`Self::disconnect`] of the passed object, and [`Self::unmarshal`] and
/// [`Self::release`] of an object that was made for [`register_unmarshaler`].
///
/// Any thread may call the methods, and several threads may do so at once.
pub trait Marshaler: Send + Sync + 'static {
    /// Returns the class that unmarshals the data of [`Self::marshal`]; [`STANDARD`] where the
    /// object is marshaled in the standard way.
    ///
    /// # Errors
    ///
    /// If the object cannot be marshaled.
    fn class(&self, passing: &Passing) -> Result<GUID>;

    /// Returns the data that the class unmarshals: at most [`DATA_MAX`] bytes.
    ///
    /// # Errors
    ///
    /// If the object cannot be marshaled.
    fn marshal(&self, passing: &Passing) -> Result<Vec<u8>>;

    /// Unmarshals an object from data. The data comes from another process and can be arbitrary
    /// bytes.
    ///
    /// # Errors
    ///
    /// If the data is not from [`Self::marshal`].
    fn unmarshal(&self, data: &[u8]) -> Result<IUnknown> {
        let _ = data;
        Err(code::E_NOTIMPL.into())
    }

    /// Releases data that will not be unmarshaled.
    ///
    /// # Errors
    ///
    /// As for [`Self::unmarshal`].
    fn release(&self, data: &[u8]) -> Result<()> {
        let _ = data;
        Ok(())
    }

    /// Disconnects the object from all other processes.
    ///
    /// # Errors
    ///
    /// If the object cannot be disconnected.
    fn disconnect(&self) -> Result<()> {
        Ok(())
    }
}

/// # Safety
///
/// `iid` must be null or readable.
unsafe fn passing(iid: *const GUID, context: u32, flags: u32) -> Result<Passing> {
    // SAFETY: the caller promises that `iid` is null or readable.
    let iid = *unsafe { iid.as_ref() }.ok_or(code::E_POINTER)?;
    let context = Context::from_number(context).ok_or(code::E_INVALIDARG)?;
    Ok(Passing { iid, context, flags: Flags::from_number(flags).ok_or(code::E_INVALIDARG)? })
}

/// # Safety
///
/// `stream` must be null or a live pointer to a stream.
unsafe fn read_all(stream: *mut c_void) -> Result<Vec<u8>> {
    // SAFETY: the caller promises that `stream` is null or a live stream; every IStream is an
    // ISequentialStream.
    let stream = unsafe { ISequentialStream::from_raw_borrowed(&stream) }.ok_or(code::E_POINTER)?;
    let mut data = vec![0; DATA_MAX + 1];
    let mut length = 0;
    loop {
        let (place, mut read) = (&mut data[length..], 0);
        // SAFETY: `place` has room for `place.len()` bytes, and `read` for their number.
        unsafe { stream.Read(place.as_mut_ptr().cast(), place.len() as u32, &mut read) }.ok()?;
        length += (read as usize).min(place.len());
        if length > DATA_MAX {
            return Err(too_long());
        }
        if read == 0 {
            data.truncate(length);
            return Ok(data);
        }
    }
}

fn too_long() -> Error {
    Error::new(code::E_OUTOFMEMORY, format!("the marshaler's data exceeds the limit of {DATA_MAX} bytes"))
}

impl<T: Marshaler> IMarshal_Impl for T
where
    T: windows_core::IUnknownImpl,
{
    unsafe fn GetUnmarshalClass(
        &self,
        iid: *const GUID,
        _: *const c_void,
        context: u32,
        _: *const c_void,
        flags: u32,
        class: *mut GUID,
    ) -> HRESULT {
        guard(|| {
            // SAFETY: by the contract of IMarshal, `iid` is null or readable.
            let named = unsafe { passing(iid, context, flags) }.and_then(|passing| self.class(&passing));
            // SAFETY: by the contract of IMarshal, `class` is null or writable.
            result_of(named.and_then(|named| unsafe { put(class, named) }))
        })
    }

    unsafe fn GetMarshalSizeMax(
        &self,
        _: *const GUID,
        _: *const c_void,
        _: u32,
        _: *const c_void,
        _: u32,
        size: *mut u32,
    ) -> HRESULT {
        // SAFETY: by the contract of IMarshal, `size` is null or writable.
        result_of(unsafe { put(size, DATA_MAX as u32) })
    }

    unsafe fn MarshalInterface(
        &self,
        stream: *mut c_void,
        iid: *const GUID,
        _: *const c_void,
        context: u32,
        _: *const c_void,
        flags: u32,
    ) -> HRESULT {
        guard(|| {
            // SAFETY: by the contract of IMarshal, `iid` is null or readable.
            let data = unsafe { passing(iid, context, flags) }.and_then(|passing| self.marshal(&passing));
            // SAFETY: by the contract of IMarshal, `stream` is null or a live stream; every IStream
            // is an ISequentialStream.
            let Some(stream) = (unsafe { ISequentialStream::from_raw_borrowed(&stream) }) else {
                return code::E_POINTER;
            };
            // SAFETY: the pointer and the length are those of the data.
            let write = |data: Vec<u8>| unsafe { stream.Write(data.as_ptr().cast(), data.len() as u32, &mut 0) };
            data.map_or_else(leave, write)
        })
    }

    unsafe fn UnmarshalInterface(&self, stream: *mut c_void, iid: *const GUID, object: *mut *mut c_void) -> HRESULT {
        guard(|| {
            // SAFETY: by the contract of IMarshal, `stream` is null or a live stream.
            let made = unsafe { read_all(stream) }.and_then(|data| self.unmarshal(&data));
            match made {
                Err(error) => leave(error),
                Ok(_) if iid.is_null() || object.is_null() => code::E_POINTER,
                // SAFETY: neither pointer is null. By the contract of IMarshal, `iid` is readable
                // and `object` is writable.
                Ok(made) => unsafe { made.query(iid, object) },
            }
        })
    }

    unsafe fn ReleaseMarshalData(&self, stream: *mut c_void) -> HRESULT {
        // SAFETY: by the contract of IMarshal, `stream` is null or a live stream.
        guard(|| result_of(unsafe { read_all(stream) }.and_then(|data| self.release(&data))))
    }

    unsafe fn DisconnectObject(&self, _: u32) -> HRESULT {
        guard(|| result_of(self.disconnect()))
    }
}

type Maker = Arc<dyn Fn() -> Result<IMarshal> + Send + Sync>;

static CLASSES: Mutex<Option<HashMap<u128, Maker>>> = Mutex::new(None);

fn classes() -> MutexGuard<'static, Option<HashMap<u128, Maker>>> {
    CLASSES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The registration of an unmarshaler class, which lasts as long as this value lives.
#[must_use = "references of the class cannot be unmarshaled any more when this is dropped"]
pub struct UnmarshalerRegistration(GUID);

impl fmt::Debug for UnmarshalerRegistration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UnmarshalerRegistration").field(&self.0).finish()
    }
}

impl Drop for UnmarshalerRegistration {
    fn drop(&mut self) {
        let removed = classes().as_mut().and_then(|classes| classes.remove(&self.0.to_u128()));
        // The drop of the program's function must not run under the lock.
        drop(removed);
    }
}

/// Registers a class for unmarshaling: `make` makes an object for each reference that names the
/// class. Every caller and callee of this process can send arbitrary bytes to any registered class.
///
/// # Errors
///
/// E_INVALIDARG for a class that is registered already, or whose references the runtime itself
/// handles.
pub fn register_unmarshaler(
    class: GUID,
    make: impl Fn() -> Result<IMarshal> + Send + Sync + 'static,
) -> Result<UnmarshalerRegistration> {
    let mut classes = classes();
    let classes = classes.get_or_insert_default();
    if is_own(&class) || classes.contains_key(&class.to_u128()) {
        return Err(Error::new(code::E_INVALIDARG, format!("the class {{{class:?}}} is already registered")));
    }
    classes.insert(class.to_u128(), Arc::new(make));
    Ok(UnmarshalerRegistration(class))
}

/// Whether the runtime itself unmarshals the references of a class.
fn is_own(class: &GUID) -> bool {
    [STANDARD, ViReference::CLASS].contains(class)
}

pub(super) fn find(class: &GUID) -> Result<IMarshal> {
    let found = classes().as_ref().and_then(|classes| classes.get(&class.to_u128()).cloned());
    let unknown = || {
        let text = format!(
            "the reference has to be unmarshaled by the class {{{class:?}}}, which is not registered in \
            this process"
        );
        Error::new(code::REGDB_E_CLASSNOTREG, text)
    };
    let make = found.ok_or_else(unknown)?;
    // The program's code can panic.
    guarded(|| make())
}

/// Returns the IMarshal of an object of this process, if the object has that interface.
pub(super) fn marshaler_of(object: &IUnknown) -> Option<IMarshal> {
    if is_proxy(object) { None } else { object.cast().ok() }
}

/// Returns the custom reference of an object of this process, if it marshals itself.
pub(crate) fn marshal(
    object: &IUnknown,
    info: &'static InterfaceInfo,
    context: Context,
    flags: Flags,
) -> Result<Option<Vec<u8>>> {
    marshal_where(object, info, context, flags, |class| class != STANDARD)
}

/// Returns the custom reference of an object that is called over virtual interfaces; `None` for all
/// other objects.
pub(crate) fn marshal_specialised(
    object: &IUnknown,
    info: &'static InterfaceInfo,
    context: Context,
    flags: Flags,
) -> Result<Option<Vec<u8>>> {
    marshal_where(object, info, context, flags, |class| class == ViReference::CLASS)
}

fn marshal_where(
    object: &IUnknown,
    info: &'static InterfaceInfo,
    context: Context,
    flags: Flags,
    is_wanted: impl FnOnce(GUID) -> bool,
) -> Result<Option<Vec<u8>>> {
    let Some(marshaler) = marshaler_of(object) else { return Ok(None) };
    // The object's marshaler gets only the IID of the interface. The registered description is
    // found by this IID.
    registry::register_module(info);
    let interface = query(object, info)?;
    let (iid, pointer, context, flags) = (&raw const info.iid, interface.as_raw(), context as u32, flags.number());
    let (nothing, mut clsid) = (std::ptr::null(), GUID::zeroed());
    // SAFETY: by the contract of IMarshal. The arguments are an IID, a live pointer of that
    // interface, and room for the class.
    unsafe { marshaler.GetUnmarshalClass(iid, pointer, context, nothing, flags, &mut clsid) }.ok()?;
    if !is_wanted(clsid) {
        return Ok(None);
    }
    let memory = ComObject::new(Memory::with_room(DATA_MAX));
    let stream: IStream = memory.to_interface();
    // SAFETY: by the contract of IMarshal. The stream is live, and the other arguments are valid as
    // above.
    unsafe { marshaler.MarshalInterface(stream.as_raw(), iid, pointer, context, nothing, flags) }.ok()?;
    Ok(Some(Any::Custom { iid: info.iid, clsid, data: memory.take_bytes() }.to_bytes()?))
}

/// Disconnects an object from other processes by its own marshaler, if it has one.
pub(crate) fn disconnect(object: &IUnknown) -> Result<()> {
    let Some(marshaler) = marshaler_of(object) else { return Ok(()) };
    // SAFETY: by the contract of IMarshal. The method takes no pointer.
    Ok(unsafe { marshaler.DisconnectObject(0) }.ok()?)
}
