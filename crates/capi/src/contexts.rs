//! Context handles: obvia.h.

use crate::errors::guarded;
use com::{ContextHandle, Error, HRESULT, code};
use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    /// The states in use by the method that this thread performs for another process. Other calls
    /// may end the handles of these states during the method.
    static USED: RefCell<Vec<Arc<State>>> = const { RefCell::new(Vec::new()) };
}

/// A function of the program that ends a state.
type Rundown = unsafe extern "C" fn(state: *mut c_void);

/// A state of the program, with the function that ends it.
struct State {
    state: *mut c_void,
    rundown: Rundown,
    /// Whether the runtime owns the state, and so calls `rundown`. Until a handle has been made,
    /// the program owns the state.
    is_kept: AtomicBool,
}

// SAFETY: the program promises that any thread may use the state.
unsafe impl Send for State {}
// SAFETY: as above.
unsafe impl Sync for State {}

impl Drop for State {
    fn drop(&mut self) {
        if *self.is_kept.get_mut() {
            // SAFETY: the program promised that the function may be called once with the state.
            unsafe { (self.rundown)(self.state) };
        }
    }
}

/// `obvia_new_context` in obvia.h.
///
/// # Safety
///
/// Any thread must be able to call `rundown` with `state`, and `handle` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_new_context(
    state: *mut c_void,
    rundown: Option<Rundown>,
    handle: *mut ContextHandle,
) -> HRESULT {
    guarded(|| {
        let rundown = rundown.filter(|_| !handle.is_null()).ok_or(code::E_POINTER)?;
        let made = ContextHandle::new(State { state, rundown, is_kept: AtomicBool::new(false) })?;
        let kept = made.state::<State>()?;
        kept.is_kept.store(true, Ordering::Relaxed);
        use_during_method(kept);
        // SAFETY: the caller's promise.
        unsafe { handle.write(made) };
        Ok(())
    })
}

/// `obvia_context_state` in obvia.h.
///
/// # Safety
///
/// `handle` must be null or a handle, and `state` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_context_state(
    handle: *const ContextHandle,
    rundown: Option<Rundown>,
    state: *mut *mut c_void,
) -> HRESULT {
    guarded(|| {
        let rundown = rundown.filter(|_| !state.is_null()).ok_or(code::E_POINTER)?;
        // SAFETY: the caller's promise.
        let handle = unsafe { handle.as_ref() }.ok_or(code::E_POINTER)?;
        let found = handle.state::<State>()?;
        if !std::ptr::fn_addr_eq(found.rundown, rundown) {
            return Err(Error::new(code::RPC_X_SS_CONTEXT_MISMATCH, "the context handle is of another kind"));
        }
        // SAFETY: the caller's promise.
        unsafe { state.write(found.state) };
        use_during_method(found);
        Ok(())
    })
}

/// Keeps a state alive until the method that this thread performs for another process has ended.
fn use_during_method(state: Arc<State>) {
    if com::caller().is_some() {
        // A thread that is ending has no list of states in use any more.
        let _ = USED.try_with(|used| {
            let mut used = used.borrow_mut();
            if !used.iter().any(|used| Arc::ptr_eq(used, &state)) {
                used.push(state);
            }
        });
    }
}

/// `obvia_context_used` in obvia_stub.h.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_context_used() {
    // The drop may run program code that calls this function again.
    let used = USED.try_with(RefCell::take);
    // The function has no result for errors.
    let _ = guarded(|| {
        drop(used);
        Ok(())
    });
}

/// `obvia_end_context` in obvia.h.
///
/// # Safety
///
/// `handle` must be null or a writable handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_end_context(handle: *mut ContextHandle) -> HRESULT {
    guarded(|| {
        // SAFETY: the caller's promise.
        let handle = unsafe { handle.as_mut() }.ok_or(code::E_POINTER)?;
        let state = handle.state::<State>();
        handle.end()?;
        if let Ok(state) = &state {
            // The method that ends a handle no longer uses the handle's state.
            let _ = USED.try_with(|used| used.borrow_mut().retain(|used| !Arc::ptr_eq(used, state)));
        }
        drop(state);
        Ok(())
    })
}
