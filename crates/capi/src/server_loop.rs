//! Server loops that the program provides: obvia_server.h.

use com::abi::{Answer, Loop, Served, ServerCall, set_loop};
use std::ffi::c_void;

/// `obvia_server_loop` in obvia_server.h.
pub type ServerLoop = unsafe extern "C-unwind" fn(connection: *mut Served, context: *mut c_void);

/// `obvia_set_server_loop` in obvia_server.h.
///
/// # Safety
///
/// `function` must be null, or a function that any thread can call with a connection and `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_set_server_loop(function: Option<ServerLoop>, context: *mut c_void) {
    let own = function.map(|function| Loop { function, context });
    // SAFETY: the caller's promise.
    unsafe { set_loop(own) };
}

/// `obvia_reply_and_wait` in obvia_server.h.
///
/// # Safety
///
/// `connection` must be a connection that the loop received, and only one thread at a time may use
/// it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_reply_and_wait(
    connection: *mut Served,
    answer: Answer,
) -> Option<&'static mut ServerCall<'static>> {
    // SAFETY: the caller's promise. By obvia_server.h, the caller uses the returned call only until
    // the next call of this function.
    let connection: &'static mut Served = unsafe { &mut *connection };
    connection.reply_and_wait(answer)
}

/// `obvia_enter` in obvia_server.h.
///
/// # Safety
///
/// As for [`obvia_reply_and_wait`]; `connection` may also be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_enter(connection: *const Served) {
    // SAFETY: the caller's promise.
    match unsafe { connection.as_ref() } {
        Some(connection) => connection.enter(),
        None => com::abi::leave_caller(),
    }
}

/// `obvia_dispatch_slowly` in obvia_server.h.
///
/// # Safety
///
/// As for [`obvia_reply_and_wait`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_dispatch_slowly(connection: *mut Served) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { &mut *connection }.dispatch_slowly()
}

/// `obvia_close` in obvia_server.h.
///
/// # Safety
///
/// `connection` must be null or a connection that the loop received, and must not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_close(connection: *mut Served) {
    if !connection.is_null() {
        // SAFETY: the caller's promise: a box that the runtime passed to the loop.
        let connection = unsafe { Box::from_raw(connection) };
        connection.close();
    }
}
