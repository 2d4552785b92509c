//! References in frames: made of interface pointers, and taken up.

use crate::cancelling::{Canceller, Said, within};
use crate::handles::{Found, Handle, get};
use crate::interfaces::described;
use crate::outcome::{Bytes, bytes, give, give_bytes, guarded};
use com::abi::InterfaceInfo;
use com::dynamic::pointer;
use com::marshaling::{Context, Flags, release_marshal_data};
use com::{Error, HRESULT, IUnknown, Result, abi, code};

/// Whom a call goes to; `None` for the caller of the one that this thread performs.
fn whom(through: Handle) -> Result<Option<IUnknown>> {
    (through != 0).then(|| get(through)).transpose()
}

/// The bytes of a reference: in the arguments of a call through an interface pointer, or, where that is 0, in the results of the call that
/// this thread performs.
///
/// # Safety
///
/// `interface` must be a described one, `said` be null or readable, `canceller` be null or one of this library's,
/// and `reference` as [`give_bytes`] has it.
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

/// The interface pointer that a reference stands for: in the results of a call through an interface pointer, or, where that is 0, in the
/// arguments of the call that this thread performs.
///
/// # Safety
///
/// `reference` must be readable for `length` bytes, `interface` be a described one, `said` be null or readable, `canceller` be
/// null or one of this library's, and `found` be null or writable.
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

/// The bytes of a reference for whoever gets them: where they go (MSHCTX) and how often they are taken up (MSHLFLAGS) are COM's numbers.
///
/// # Safety
///
/// `interface` must be a described one, `said` be null or readable, `canceller` be null or one of this library's, and `reference` as [`give_bytes`] has it.
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
        let wrong = |what: &str| Error::new(code::E_INVALIDARG, format!("there is no such {what}"));
        let context = Context::from_number(context).ok_or_else(|| wrong("context"))?;
        let flags = Flags::from_number(flags).ok_or_else(|| wrong("combination of flags"))?;
        // SAFETY: the caller's promise.
        let made = unsafe { within(said, canceller, || abi::marshal(&object, info, context, flags)) }?;
        // SAFETY: the caller's promise.
        unsafe { give_bytes(reference, made) }?;
        Ok(code::S_OK)
    })
}

/// The interface pointer that such bytes stand for.
///
/// # Safety
///
/// `reference` must be readable for `length` bytes, `interface` be a described one, `said` be null or readable, `canceller` be
/// null or one of this library's, and `found` be null or writable.
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

/// Gives up such bytes, which are not going to be taken up.
///
/// # Safety
///
/// `reference` must be readable for `length` bytes, `said` be null or readable, and `canceller` be null or one of this library's.
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
