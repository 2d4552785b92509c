//! The functions that proxies and stubs call: obvia_stub.h.

use crate::errors::guarded;
use com::abi::{self, Answer, Calls, Proxy, REGION_CACHES, RawReply, ServerCall, UNKNOWN};
use com::rt::{Status, refuse_local};
use com::{Error, GUID, HRESULT, code};
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// `obvia_prepare` in obvia_stub.h.
///
/// # Safety
///
/// `proxy` must be an interface pointer to a proxy, and `calls` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_prepare(proxy: *mut c_void, calls: *mut *const Calls) -> HRESULT {
    guarded(|| {
        // SAFETY: the caller's promise.
        let proxy = unsafe { Proxy::from_raw(proxy) };
        let at_hand = abi::prepare(proxy)?;
        // SAFETY: the caller's promise.
        unsafe { calls.write(at_hand) };
        Ok(())
    })
}

/// `obvia_request` in obvia_stub.h.
///
/// # Safety
///
/// `calls` must be the state of this thread's calls, with a selected channel: see
/// [`obvia_prepare`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_request(calls: *const Calls, length: usize, bulk: usize) -> *mut c_void {
    // SAFETY: the caller's promise: the value belongs to this thread.
    let calls = unsafe { &*calls };
    // SAFETY: as above.
    match unsafe { calls.request(length, bulk) } {
        Ok(frame) => frame.as_ptr().cast(),
        Err(error) => {
            // The error is left for `obvia_refusal`.
            let _ = abi::fail(error);
            std::ptr::null_mut()
        }
    }
}

/// `obvia_exchange` in obvia_stub.h.
///
/// # Safety
///
/// `calls` must be the state of this thread's calls, with a selected channel: see
/// [`obvia_prepare`]. The request's frame must be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_exchange(calls: *const Calls, request: u64, target: u64) -> RawReply {
    // SAFETY: the caller's promise: the value belongs to this thread.
    let calls = unsafe { &*calls };
    // SAFETY: as above.
    unsafe { calls.exchange_inline(request as u16, (request >> 32) as usize, target) }
}

/// `obvia_send` in obvia_stub.h.
///
/// # Safety
///
/// As for [`obvia_exchange`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_send(calls: *const Calls, request: u64, target: u64) {
    // SAFETY: the caller's promise: the value belongs to this thread.
    let calls = unsafe { &*calls };
    // SAFETY: as above.
    unsafe { calls.send(request as u16, (request >> 32) as usize, target) }
}

/// `obvia_fail_plain` in obvia_stub.h.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_fail_plain(result: HRESULT) -> HRESULT {
    abi::fail(result.into())
}

/// `obvia_refusal` in obvia_stub.h.
///
/// # Safety
///
/// The reply must be the last reply of the thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_refusal(reply: RawReply) -> HRESULT {
    // SAFETY: the caller's promise.
    unsafe { abi::refusal(reply) }
}

/// `obvia_reply_frame` in obvia_stub.h.
///
/// # Safety
///
/// `call` must be the call that the stub received.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_reply_frame(call: *mut ServerCall<'_>, length: usize, bulk: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    let call = unsafe { &mut *call };
    call.reply(length, bulk).map_or(std::ptr::null_mut(), |frame| frame.as_mut_ptr().cast())
}

/// `obvia_make_room` in obvia_stub.h.
///
/// # Safety
///
/// `call` must be the call that the stub received.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_make_room(call: *mut ServerCall<'_>, length: usize) -> i32 {
    // SAFETY: the caller's promise.
    let call = unsafe { &mut *call };
    i32::from(call.reply_in_area(length).is_some())
}

/// `obvia_lend` in obvia_stub.h.
///
/// # Safety
///
/// `call` must be the call that the stub received, `results` must have `end` bytes, and `array`
/// must be null or have `count` elements of `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_lend(
    call: *mut ServerCall<'_>,
    result: HRESULT,
    results: *const u8,
    end: u64,
    array: *const u8,
    count: u64,
    size: usize,
) -> Answer {
    if result.is_err() {
        return Answer::results(result.0.cast_unsigned(), 0);
    }
    // SAFETY: the caller's promise.
    let call = unsafe { &mut *call };
    let bytes = count.checked_mul(size as u64).filter(|bytes| bytes.saturating_add(end) <= call.reply_max() as u64);
    let Some(bytes) = bytes else { return Answer::fault(Status::REMOTE_NO_MEMORY) };
    let (end, bytes) = (end as usize, bytes as usize);
    if array.is_null() && bytes != 0 {
        return Answer::results(code::E_POINTER.0.cast_unsigned(), 0);
    }
    if array.addr() == results.addr() + end {
        // The array begins at the end of the results, where the stub gave the method memory for it,
        // but is longer than this memory.
        return Answer::results(code::E_UNEXPECTED.0.cast_unsigned(), 0);
    }
    let mut frame = Vec::<u8>::new();
    if frame.try_reserve_exact(end + bytes).is_err() {
        return Answer::fault(Status::REMOTE_NO_MEMORY);
    }
    // The bytes are copied before `reply_in_area`, which may replace the area by a larger one:
    // `results` and `array` may lie in the old area.
    let first = frame.as_mut_ptr();
    // SAFETY: the caller's promise; the vector has room for all bytes.
    unsafe { first.copy_from_nonoverlapping(results, end) };
    // SAFETY: as above.
    let rest = unsafe { first.add(end) };
    // Other processes may write the array, so no reference to it is made.
    // SAFETY: as above; a null array has no bytes.
    unsafe { rest.copy_from_nonoverlapping(array, bytes) };
    // SAFETY: all bytes are written.
    unsafe { frame.set_len(end + bytes) };
    match call.reply_in_area(frame.len()) {
        Some(place) => {
            place.copy_from_slice(&frame);
            Answer::results(result.0.cast_unsigned(), frame.len())
        }
        None => Answer::fault(Status::REMOTE_NO_MEMORY),
    }
}

/// `obvia_select_region` in obvia_stub.h.
///
/// # Safety
///
/// `calls` must be the state of this thread's calls, with a selected channel whose slot is free:
/// see [`obvia_prepare`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_select_region(calls: *const Calls, region: u32, address: *const c_void) -> HRESULT {
    // SAFETY: the caller's promise: the value belongs to this thread.
    let calls = unsafe { &*calls };
    let (at, is_written) = array_of(region);
    // SAFETY: as above.
    let select = || unsafe { calls.select_region(at, is_written, address.addr()) };
    match catch_unwind(AssertUnwindSafe(select)) {
        Ok(Ok(is_selected)) => HRESULT(is_selected.into()),
        Ok(Err(error)) => abi::fail(error),
        Err(_) => code::E_UNEXPECTED,
    }
}

/// `obvia_select_call_region` in obvia_stub.h.
///
/// # Safety
///
/// `call` must be the call that the stub received.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_select_call_region(call: *mut ServerCall<'_>, region: u32, reference: u64) -> i32 {
    // SAFETY: the caller's promise.
    let call = unsafe { &mut *call };
    let (at, is_written) = array_of(region);
    i32::from(call.select_region(at, is_written, reference))
}

/// Returns the number of the array in the method's parameters that a region is for, and whether the
/// method writes that array.
fn array_of(region: u32) -> (usize, bool) {
    let region = region as usize;
    (region % REGION_CACHES, region >= REGION_CACHES)
}

/// `obvia_shares_memory` in obvia_stub.h.
///
/// # Safety
///
/// `calls` must be the state of this thread's calls, with a selected channel: see
/// [`obvia_prepare`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_shares_memory(calls: *const Calls) -> i32 {
    // SAFETY: the caller's promise: the value belongs to this thread.
    i32::from(unsafe { &*calls }.shares_memory())
}

/// `obvia_not_shared` in obvia_stub.h.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_not_shared() -> HRESULT {
    let words = "the array of a [map] parameter has to lie in memory of obvia_share() that its method may use";
    abi::fail(Error::new(code::E_INVALIDARG, words))
}

/// `obvia_refuse_local` in obvia_stub.h.
///
/// # Safety
///
/// `method` must end in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_refuse_local(method: *const c_char) -> HRESULT {
    // SAFETY: the caller's promise.
    refuse_local(&unsafe { CStr::from_ptr(method) }.to_string_lossy())
}

/// `obvia_refuse` in obvia_stub.h.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_refuse(_: *mut c_void, _: *mut c_void) -> Answer {
    Answer::fault(Status::OP_RNG_ERROR)
}

/// `obvia_proxy_query_interface` in obvia_stub.h.
///
/// # Safety
///
/// As COM requires for QueryInterface.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_proxy_query_interface(
    this: *mut c_void,
    iid: *const GUID,
    object: *mut *mut c_void,
) -> HRESULT {
    // SAFETY: the caller's promise.
    let query = || unsafe { (UNKNOWN.QueryInterface)(this, iid, object) };
    catch_unwind(AssertUnwindSafe(query)).unwrap_or(code::E_UNEXPECTED)
}

/// `obvia_proxy_add_ref` in obvia_stub.h.
///
/// # Safety
///
/// As COM requires for AddRef.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_proxy_add_ref(this: *mut c_void) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { (UNKNOWN.AddRef)(this) }
}

/// `obvia_proxy_release` in obvia_stub.h.
///
/// # Safety
///
/// As COM requires for Release.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_proxy_release(this: *mut c_void) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { (UNKNOWN.Release)(this) }
}
