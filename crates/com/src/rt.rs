//! The runtime of generated code. Handwritten code must not use it: it changes with the compiler.

pub use crate::client::proxy::{Proxy, UNKNOWN, Wanted};
pub use crate::hierarchy;
pub use crate::marshal::automation::dispatch::IDispatch_Vtbl;
pub use crate::marshal::automation::dual::{Absent, Dual, Member, Param as MemberParam, Table, look};
pub use crate::marshal::automation::glue::{clear_result, free_wire, from_wire, to_wire, wire_result};
pub use crate::marshal::automation::remote::{
    IDispatch_GetIDsOfNames_stub, IDispatch_GetTypeInfo_stub, IDispatch_GetTypeInfoCount_stub, INFO as IDispatch_INFO,
    PROXY_VTABLE as IDispatch_PROXY, invoke_stub as IDispatch_Invoke_stub,
};
pub use crate::marshal::automation::wire::{Automation, Wires, lent as lent_value};
pub use crate::marshal::elements::Borrowing;
pub use crate::marshal::graph::{
    Arguments, Array, Graph, Held, Image, Layout, Lifted, Owned, OwnedSlice, Results, Text, Wide, elements_after,
    lower, lower_slice, nested, object_at, object_of, open, place_count, place_for, places_for, put_owned, take_place,
    take_places,
};
pub use crate::marshal::parameters::{
    OwnedArray, OwnedObject, OwnedText, given_in_range, put_array, put_optional, put_reference, put_text, put_values,
    reference_for_caller, text_count,
};
pub use crate::marshal::proxy_call::{PlainCall, ProxyCall, reference_for_peer};
pub use crate::marshal::reply::ReplyView;
pub use crate::marshal::stub::{
    Received, ReplyFrame, StubCall, lend, lend_again, no_results, results, results_unpadded, serve,
};
pub use crate::protocol::frame::{Arrays, Measure, Scalar, Value, zero};
pub use crate::types::agile::IID_CHECKED;
pub use crate::types::error::{Failed, check, code, guard};
pub use crate::types::memory::{slice, slice_mut, text, vtable, wide};
pub use crate::types::object;
pub use crate::types::registry::{
    Declared, DeclaredInterface, Description, InterfaceInfo, Remote, StubFn, Stubs, VtablePointer, declare, pad, refuse,
};
pub use crate::types::utf8::{Utf8Room, refuse_zero, take_utf8, utf8_argument};
pub use obvia_ndr::flat::{self, shape};
pub use obvia_rpc::status::Status;
pub use obvia_rpc::vi_call::{Answer, ServerCall};
pub use obvia_via::RegionView;
pub use std::ffi::c_void;
pub use windows_core::{self, GUID, HRESULT, IUnknown, IUnknown_Vtbl, IUnknownImpl, Interface};

use crate::types::error::{Error, Result, invalid_reply};
use crate::types::memory::{allocate, release};
use std::ffi::{CStr, CString};
use widestring::{U16CStr, U16CString};

/// Converts a method's error to the HRESULT of a vtable's method.
#[cold]
pub fn fail(error: crate::Error) -> HRESULT {
    crate::types::error::leave(error)
}

/// Returns the error for a caller whose array must lie in shared memory but does not.
#[cold]
pub fn not_shared() -> HRESULT {
    let words = "the array of a [map] parameter has to lie in shared memory that its method may use";
    crate::types::error::leave(Error::new(code::E_INVALIDARG, words))
}

/// Returns the error for a caller of a `[local]` method whose object is in another process.
#[cold]
pub fn refuse_local(method: &str) -> HRESULT {
    let words = format!("`{method}` is [local]: only programs in the object's own process can call it");
    crate::types::error::leave(Error::new(code::E_NOTIMPL, words))
}

/// Makes room, in the caller, for the `room` elements of an array that a method lends. Returns the
/// room and a pointer to it. If `is_proxy` is true, the called object is a proxy, which needs no
/// room.
#[inline(always)]
pub fn borrowing<T: Scalar>(is_proxy: bool, room: usize) -> (Borrowing<T>, *mut T) {
    let mut borrowing = Borrowing::new(is_proxy, room);
    let first = borrowing.first();
    (borrowing, first)
}

/// Returns the array that a method has lent.
///
/// # Safety
///
/// The method must just have succeeded on this thread, and returned these elements.
///
/// # Errors
///
/// RPC_E_INVALID_DATA for an invalid number of elements.
#[inline(always)]
pub unsafe fn lent<T: Scalar>(
    borrowing: Borrowing<T>,
    first: *const T,
    count: Option<usize>,
) -> Result<crate::Lent<T>> {
    let count = count.ok_or_else(invalid_reply)?;
    // SAFETY: the caller promises that the method has just succeeded on this thread, and returned
    // these elements.
    Ok(unsafe { borrowing.lent(first, count) })
}

/// Makes the value by which a method lends an array to its caller.
///
/// # Safety
///
/// `first` must point to a null pointer, or to a pointer to room for `room` elements that no other
/// code writes for the lifetime of the result.
#[inline(always)]
pub unsafe fn lending<'a, T: Scalar + 'static>(first: *mut *mut T, room: usize) -> crate::Lending<'a, T> {
    // SAFETY: the caller promises that `first` points to a pointer.
    let first = unsafe { first.read() };
    // SAFETY: the caller promises that the pointer is null or leads to room for `room` elements,
    // which no other code writes for the lifetime of the result.
    unsafe { crate::Lending::new(first, room) }
}

/// Completes the lending after the method has returned. Returns the address of the lent elements.
#[inline(always)]
pub fn finish_lending<T: Scalar + 'static>(lending: crate::Lending<'_, T>) -> *mut T {
    lending.finish()
}

/// Converts the outcome of a method without results to the HRESULT of a vtable's method.
#[inline(always)]
pub fn finish(outcome: Result<()>) -> HRESULT {
    match outcome {
        Ok(()) => code::S_OK,
        Err(error) => fail(error),
    }
}

/// Converts an array's length to the type of its count parameter.
///
/// # Errors
///
/// E_INVALIDARG when the length exceeds the type.
#[inline(always)]
pub fn count<T: TryFrom<usize>>(length: usize) -> Result<T> {
    T::try_from(length).map_err(|_| code::E_INVALIDARG.into())
}

/// Returns the object to which the `this` pointer of a vtable of `#[obvia::object]` belongs.
///
/// # Safety
///
/// `this` must be a live interface pointer, and its `Identity` must start `OFFSET` pointers after
/// it.
#[inline(always)]
pub unsafe fn identity<'a, Identity, const OFFSET: isize>(this: *mut c_void) -> &'a Identity {
    // SAFETY: the caller promises that the `Identity` starts `OFFSET` pointers after `this`, so the
    // result is within the object.
    let start = unsafe { this.cast::<*mut c_void>().offset(OFFSET) };
    // SAFETY: the caller promises that the `Identity` starts at this address. The object is alive.
    unsafe { &*start.cast::<Identity>() }
}

/// Loads an argument from the block of a request.
///
/// # Errors
///
/// BAD_STUB_DATA when the bytes are not a valid value.
#[inline(always)]
pub fn argument<T: Value>(frame: RegionView<'_>, at: usize) -> std::result::Result<T, Status> {
    T::load(frame, at).ok_or(Status::BAD_STUB_DATA)
}

/// Verifies that an argument is within its `[range]`.
///
/// # Errors
///
/// BAD_STUB_DATA if the argument is out of range.
#[inline]
pub fn argument_in_range(value: i64, least: i64, most: i64) -> std::result::Result<(), Status> {
    if (least..=most).contains(&value) { Ok(()) } else { Err(Status::BAD_STUB_DATA) }
}

/// Loads a result from the block of a reply.
///
/// # Errors
///
/// RPC_E_INVALID_DATA when the bytes are not a valid value.
#[inline(always)]
pub fn value<T: Value>(frame: RegionView<'_>, at: usize) -> Result<T> {
    T::load(frame, at).ok_or_else(invalid_reply)
}

/// Verifies that a result is within its `[range]`.
///
/// # Errors
///
/// RPC_E_INVALID_DATA if the result is out of range.
#[inline]
pub fn in_range(value: i64, least: i64, most: i64) -> Result<()> {
    if (least..=most).contains(&value) { Ok(()) } else { Err(invalid_reply()) }
}

/// Converts a count to a number of elements; `None` where it is negative or too large.
#[inline(always)]
pub fn elements<T: TryInto<usize>>(count: T) -> Option<usize> {
    count.try_into().ok()
}

/// Converts a received count to a number of elements, which the caller compares with an upper
/// bound. A negative count becomes a number that exceeds every upper bound, so the comparison
/// refuses it, too.
#[inline(always)]
pub fn claimed<T: Into<i128>>(count: T) -> usize {
    const { assert!(usize::BITS == 64, "counts would be truncated") };
    count.into() as usize
}

/// Converts a count, the value of an expression, as [`claimed`] does. `None` means that the
/// expression has no value. Such a count exceeds every upper bound.
#[inline]
pub fn claimed_of(count: Option<i64>) -> usize {
    count.map_or(usize::MAX, claimed)
}

/// Converts a count, the value of an expression, to a number of elements. `None` if the expression
/// has no value, or if the value is negative.
#[inline]
pub fn elements_of(count: Option<i64>) -> Option<usize> {
    usize::try_from(count?).ok()
}

/// Converts a union's discriminant to `i64`.
#[inline]
pub fn discriminant<T: TryInto<i64>>(value: T) -> i64 {
    // No arm has a discriminant beyond `i64`.
    value.try_into().unwrap_or(i64::MAX)
}

/// Returns the error for a union whose active arm does not match its discriminant.
#[cold]
pub fn wrong_arm() -> Error {
    Error::new(code::E_INVALIDARG, "the union's arm does not match its discriminant")
}

/// Returns the number of used elements of an array, after the check that it does not exceed the
/// array's room.
///
/// # Errors
///
/// RPC_E_INVALID_DATA if the number is `None` or exceeds the room.
#[inline]
pub fn at_most(used: Option<usize>, room: usize) -> Result<usize> {
    used.filter(|&used| used <= room).ok_or_else(invalid_reply)
}

/// Verifies that a string that a method has written to the caller's array ends within the array.
///
/// # Safety
///
/// `first` must be null, or readable for `count` elements.
///
/// # Errors
///
/// RPC_E_INVALID_DATA if no element is zero, unless the array has none.
pub unsafe fn check_ended<T: Default + PartialEq>(first: *const T, count: usize) -> Result<()> {
    // SAFETY: the caller promises a readable array.
    if unsafe { is_ended(first, count) } { Ok(()) } else { Err(invalid_reply()) }
}

/// Returns the result of a method that has written a string to the caller's array: a failure if the
/// method succeeded and the string does not end within the array, and otherwise `result`.
///
/// # Safety
///
/// `first` must be null, or readable for `count` elements.
pub unsafe fn text_result<T: Default + PartialEq>(result: HRESULT, first: *const T, count: usize) -> HRESULT {
    // SAFETY: the caller promises a readable array.
    if result.0 < 0 || unsafe { is_ended(first, count) } {
        return result;
    }
    fail(Error::new(code::E_INVALIDARG, "the string does not end within its array"))
}

/// Whether an array contains a zero, or has no elements.
///
/// # Safety
///
/// `first` must be null, or readable for `count` elements.
unsafe fn is_ended<T: Default + PartialEq>(first: *const T, count: usize) -> bool {
    // SAFETY: the caller promises a readable array.
    let characters = unsafe { slice(first, count) };
    characters.is_empty() || characters.contains(&T::default())
}

/// Verifies that an array's length agrees with the other parameters.
///
/// # Errors
///
/// E_INVALIDARG if the length differs from `wanted`.
#[inline]
pub fn check_length(length: usize, wanted: Option<usize>) -> Result<()> {
    if wanted == Some(length) {
        return Ok(());
    }
    Err(Error::new(code::E_INVALIDARG, "an array's length does not match the other parameters"))
}

/// Verifies the length of an array as [`check_length`] does. The array may be missing: a missing
/// array agrees with every length.
///
/// # Errors
///
/// As for [`check_length`].
#[inline]
pub fn check_length_or_none(length: Option<usize>, wanted: Option<usize>) -> Result<()> {
    length.map_or(Ok(()), |length| check_length(length, wanted))
}

/// Verifies that the used length of an array is within its size.
///
/// # Errors
///
/// E_INVALIDARG if the used length exceeds the size, or if one of them is `None`.
pub fn check_used(used: Option<usize>, room: Option<usize>) -> Result<()> {
    match (used, room) {
        (Some(used), Some(room)) if used <= room => Ok(()),
        _ => Err(Error::new(code::E_INVALIDARG, "an array's length is not within its size")),
    }
}

/// Takes a string that a method returned, and frees its memory.
///
/// # Safety
///
/// `text` must be null, or come from the C library's allocator and end in a zero, and the caller
/// must own it.
pub unsafe fn take_text(text: *mut u8) -> CString {
    // SAFETY: the caller promises that `text` is null or ends in a zero.
    let taken = unsafe { self::text(text) }.map(CStr::to_owned).unwrap_or_default();
    // SAFETY: the caller promises that it owns this memory of the C library, which is not used
    // again.
    unsafe { release(text.cast()) };
    taken
}

/// Takes a string of 16-bit characters that a method returned, and frees its memory.
///
/// # Safety
///
/// As for [`take_text`].
pub unsafe fn take_wide(text: *mut u16) -> U16CString {
    // SAFETY: the caller promises that `text` is null or ends in a zero.
    let taken = unsafe { wide(text) }.map(U16CStr::to_owned).unwrap_or_default();
    // SAFETY: the caller promises that it owns this memory of the C library, which is not used
    // again.
    unsafe { release(text.cast()) };
    taken
}

/// Takes an array that a method returned, and frees its memory.
///
/// # Safety
///
/// `first` must be null, or an array of `count` elements from the C library's allocator that the
/// caller owns. A negative `count` counts as 0 here.
///
/// # Errors
///
/// E_INVALIDARG for a negative count, unless the array is null.
pub unsafe fn take_array<T: Value, N: TryInto<usize>>(first: *mut T, count: N) -> Result<Vec<T>> {
    let count = count.try_into().ok();
    // SAFETY: the caller promises that it owns the array, which is null or has `count` elements
    // from the C library's allocator. A negative `count` counts as 0.
    let array = unsafe { OwnedArray::adopt(first, count.unwrap_or(0)) };
    if count.is_none() && !first.is_null() {
        return Err(Error::new(code::E_INVALIDARG, "the method returned an array with a negative count"));
    }
    Ok(array.as_slice().to_vec())
}

/// Takes an interface pointer that a method returned.
///
/// # Safety
///
/// `object` must be null, or an interface pointer of interface `I` that the caller owns.
///
/// # Errors
///
/// E_POINTER for a null pointer.
pub unsafe fn take_object<I: Interface>(object: *mut c_void) -> Result<I> {
    if object.is_null() {
        return Err(Error::new(code::E_POINTER, "the method returned no object"));
    }
    // SAFETY: the pointer is not null. The caller promises that it owns the pointer, which is an
    // interface pointer of `I`.
    Ok(unsafe { I::from_raw(object) })
}

/// Allocates a string for the caller, who frees it; null when memory is exhausted.
pub fn give_text(text: CString) -> *mut u8 {
    give_array(text.as_bytes_with_nul())
}

/// Allocates a string of 16-bit characters for the caller, who frees it; null when memory is
/// exhausted.
pub fn give_wide(text: U16CString) -> *mut u16 {
    give_array(text.as_slice_with_nul())
}

/// Allocates a string in UTF-8 for the caller, who frees it; null when memory is exhausted.
pub fn give_utf8(mut text: String) -> *mut u8 {
    if text.try_reserve_exact(1).is_err() {
        return std::ptr::null_mut();
    }
    text.push('\0');
    give_array(text.as_bytes())
}

/// Allocates an array for the caller, who frees it; null when memory is exhausted.
pub fn give_array<T: Value>(values: &[T]) -> *mut T {
    let Ok(first) = allocate(size_of_val(values)) else {
        return std::ptr::null_mut();
    };
    let first = first.cast::<T>();
    // SAFETY: the allocation has room for all values, is aligned for every value, and is fresh, so
    // the ranges do not overlap.
    unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), first, values.len()) };
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_with_a_negative_count_is_an_error() {
        let taken = |count: i32, first: *mut u32| {
            // SAFETY: the test owns the array, which has as many elements as the count says.
            unsafe { take_array(first, count) }.map_err(|error| error.code())
        };
        let array = || OwnedArray::from_iter(2, |at| Ok(at as u32)).unwrap().into_raw();
        assert_eq!(taken(2, array()), Ok(vec![0, 1]));
        assert_eq!(taken(-2, array()), Err(code::E_INVALIDARG));
        assert_eq!(taken(-2, std::ptr::null_mut()), Ok(vec![]));
    }
}
