//! References in frames: marshaling and unmarshaling of interface pointers.

use crate::cancelling::{Canceller, Said, within};
use crate::found::Found;
use crate::handles::{Handle, get};
use crate::interfaces::described;
use crate::outcome::{Bytes, bytes, give, give_bytes, guarded};
use com::abi::InterfaceInfo;
use com::dynamic::pointer;
use com::marshaling::{Context, Flags, release_marshal_data};
use com::{Error, HRESULT, IUnknown, Result, abi, code};

/// Returns the interface pointer through which a call goes. `None` if `through` is 0, which means
/// the caller of the call that this thread performs.
fn whom(through: Handle) -> Result<Option<IUnknown>> {
    (through != 0).then(|| get(through)).transpose()
}

/// Splits a list of references. Each reference is preceded by its length in bytes, a little-endian
/// word of 8 bytes.
pub(crate) fn references_in(mut list: &[u8]) -> Result<Vec<&[u8]>> {
    let mut references = Vec::new();
    while !list.is_empty() {
        let (length, rest) = list.split_first_chunk().ok_or(code::E_INVALIDARG)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| code::E_INVALIDARG)?;
        let (reference, rest) = rest.split_at_checked(length).ok_or(code::E_INVALIDARG)?;
        references.push(reference);
        list = rest;
    }
    Ok(references)
}

/// Takes back references that were marshaled for a call through an interface pointer. The caller
/// calls this function if it does not make that call.
///
/// # Safety
///
/// `given` must be readable for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_take_back(through: Handle, given: *const u8, length: usize) -> HRESULT {
    guarded(|| {
        // SAFETY: the caller's promise.
        let given = references_in(unsafe { bytes(given, length) })?;
        pointer::take_back(&get(through)?, &given)?;
        Ok(code::S_OK)
    })
}

/// Marshals a reference: into the arguments of a call through an interface pointer, or, if
/// `through` is 0, into the results of the call that this thread performs.
///
/// # Safety
///
/// `interface` must be a described interface, `said` must be null or readable, `canceller` must be
/// null or a canceller of this library, and `reference` must meet the conditions of [`give_bytes`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_reference(
    through: Handle,
    object: Handle,
    interface: *const InterfaceInfo,
    said: *const Said,
    canceller: *const Canceller,
    reference: *mut Bytes,
) -> HRESULT {
    guarded(|| {
        let through = whom(through)?;
        let object = get(object)?;
        // SAFETY: the caller's promise.
        let info = unsafe { described(interface) }?;
        let make = || match &through {
            Some(through) => pointer::reference(through, &object, info),
            None => pointer::reference_for_caller(&object, info),
        };
        // SAFETY: the caller's promise.
        let made = unsafe { within(said, canceller, make) }?;
        // SAFETY: the caller's promise.
        unsafe { give_bytes(reference, made) }?;
        Ok(code::S_OK)
    })
}

/// Unmarshals a reference: from the results of a call through an interface pointer, or, if
/// `through` is 0, from the arguments of the call that this thread performs.
///
/// # Safety
///
/// `reference` must be readable for `length` bytes, `interface` must be a described interface,
/// `said` must be null or readable, `canceller` must be null or a canceller of this library, and
/// `found` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_adopt(
    through: Handle,
    reference: *const u8,
    length: usize,
    interface: *const InterfaceInfo,
    said: *const Said,
    canceller: *const Canceller,
    found: *mut Found,
) -> HRESULT {
    guarded(|| {
        let through = whom(through)?;
        // SAFETY: the caller's promise.
        let reference = unsafe { bytes(reference, length) };
        // SAFETY: the caller's promise.
        let info = unsafe { described(interface) }?;
        let adopt = || match &through {
            Some(through) => pointer::object(through, reference, info),
            None => pointer::object_of_caller(reference, info),
        };
        // SAFETY: the caller's promise.
        let object = unsafe { within(said, canceller, adopt) }?;
        // SAFETY: the caller's promise.
        unsafe { give(found, Found::of(&object)?) }
    })
}

/// Marshals a reference as an OBJREF. The destination context (MSHCTX) and the flags (MSHLFLAGS)
/// are COM's numbers.
///
/// # Safety
///
/// `interface` must be a described interface, `said` must be null or readable, `canceller` must be
/// null or a canceller of this library, and `reference` must meet the conditions of [`give_bytes`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_marshal(
    object: Handle,
    interface: *const InterfaceInfo,
    context: u32,
    flags: u32,
    said: *const Said,
    canceller: *const Canceller,
    reference: *mut Bytes,
) -> HRESULT {
    guarded(|| {
        let object = get(object)?;
        // SAFETY: the caller's promise.
        let info = unsafe { described(interface) }?;
        let wrong = |what: &str| Error::new(code::E_INVALIDARG, format!("unknown {what}"));
        let context = Context::from_number(context).ok_or_else(|| wrong("context"))?;
        let flags = Flags::from_number(flags).ok_or_else(|| wrong("combination of flags"))?;
        // SAFETY: the caller's promise.
        let made = unsafe { within(said, canceller, || abi::marshal(&object, info, context, flags)) }?;
        // SAFETY: the caller's promise.
        unsafe { give_bytes(reference, made) }?;
        Ok(code::S_OK)
    })
}

/// Unmarshals an OBJREF.
///
/// # Safety
///
/// `reference` must be readable for `length` bytes, `interface` must be a described interface,
/// `said` must be null or readable, `canceller` must be null or a canceller of this library, and
/// `found` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_unmarshal(
    reference: *const u8,
    length: usize,
    interface: *const InterfaceInfo,
    said: *const Said,
    canceller: *const Canceller,
    found: *mut Found,
) -> HRESULT {
    guarded(|| {
        // SAFETY: the caller's promise.
        let reference = unsafe { bytes(reference, length) };
        // SAFETY: the caller's promise.
        let info = unsafe { described(interface) }?;
        // SAFETY: the caller's promise.
        let object = unsafe { within(said, canceller, || abi::unmarshal(reference, info)) }?;
        // SAFETY: the caller's promise.
        unsafe { give(found, Found::of(&object)?) }
    })
}

/// Releases an OBJREF that will not be unmarshaled.
///
/// # Safety
///
/// `reference` must be readable for `length` bytes, `said` must be null or readable, and
/// `canceller` must be null or a canceller of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_release_marshal_data(
    reference: *const u8,
    length: usize,
    said: *const Said,
    canceller: *const Canceller,
) -> HRESULT {
    guarded(|| {
        // SAFETY: the caller's promise.
        let reference = unsafe { bytes(reference, length) };
        // SAFETY: the caller's promise.
        unsafe { within(said, canceller, || release_marshal_data(reference)) }?;
        Ok(code::S_OK)
    })
}
