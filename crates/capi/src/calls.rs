//! What proxies and stubs call: obvia_stub.h.

use crate::errors::guarded;
use com::abi::{self, Answer, Calls, Proxy, RawReply, ServerCall, UNKNOWN};
use com::rt::Status;
use com::{GUID, HRESULT, code};
use std::ffi::c_void;
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
/// A channel must be at hand for this thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_request(calls: *const Calls, length: usize, bulk: usize) -> *mut c_void {
    // SAFETY: the caller's promise: the thread's own.
    let calls = unsafe { &*calls };
    // SAFETY: as above.
    match unsafe { calls.request(length, bulk) } {
        Ok(frame) => frame.as_ptr().cast(),
        Err(error) => {
            // The words wait for obvia_refusal.
            let _ = abi::fail(error);
            std::ptr::null_mut()
        }
    }
}

/// `obvia_exchange` in obvia_stub.h.
///
/// # Safety
///
/// A channel must be at hand for this thread, and the request's frame be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_exchange(calls: *const Calls, request: u64, target: u64) -> RawReply {
    // SAFETY: the caller's promise: the thread's own.
    let calls = unsafe { &*calls };
    // SAFETY: as above.
    unsafe { calls.exchange(request as u16, (request >> 32) as usize, target) }
}

/// `obvia_send` in obvia_stub.h.
///
/// # Safety
///
/// As for [`obvia_exchange`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_send(calls: *const Calls, request: u64, target: u64) {
    // SAFETY: the caller's promise: the thread's own.
    let calls = unsafe { &*calls };
    // SAFETY: as above.
    unsafe { calls.send(request as u16, (request >> 32) as usize, target) }
}

/// `obvia_refusal` in obvia_stub.h.
///
/// # Safety
///
/// The reply must be the thread's last.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_refusal(reply: RawReply) -> HRESULT {
    // SAFETY: the caller's promise.
    unsafe { abi::refusal(reply) }
}

/// `obvia_reply_frame` in obvia_stub.h.
///
/// # Safety
///
/// `call` must be the call that the stub was called with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_reply_frame(call: *mut ServerCall<'_>, length: usize, bulk: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    let call = unsafe { &mut *call };
    call.reply(length, bulk).map_or(std::ptr::null_mut(), |frame| frame.as_mut_ptr().cast())
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
/// COM's rules for QueryInterface.
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
/// COM's rules for AddRef.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_proxy_add_ref(this: *mut c_void) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { (UNKNOWN.AddRef)(this) }
}

/// `obvia_proxy_release` in obvia_stub.h.
///
/// # Safety
///
/// COM's rules for Release.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_proxy_release(this: *mut c_void) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { (UNKNOWN.Release)(this) }
}
