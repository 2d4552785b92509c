//! The contexts of calls, which contain the calls' deadlines, and the cancellation of calls from
//! another thread.

use com::dcom::{TraceContext, trace, with_trace};
use com::orpc::CallContext;
use com::{Result, caller_deadline, code, with_timeout};
use std::time::{Duration, Instant};

/// A canceller. Calls are made with a canceller, which can then cancel them.
#[derive(Debug, Default)]
pub struct Canceller(com::Canceller);

/// The context of a call: a [`CallContext`] as bytes. Java sets it for its own calls, and receives
/// it with calls of its objects.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Said {
    length: usize,
    context: [u8; CallContext::LENGTH_MAX],
}

impl Said {
    /// Returns the context that the caller of this thread's method has sent, if any.
    pub(crate) fn of_call() -> Option<Self> {
        let left = caller_deadline().map(|end| end.saturating_duration_since(Instant::now()));
        let said = CallContext { left, trace: trace() };
        if said == CallContext::NONE {
            return None;
        }
        let mut bytes = Self { length: said.length(), context: [0; CallContext::LENGTH_MAX] };
        said.write(&mut bytes.context[..bytes.length]);
        Some(bytes)
    }

    fn read(&self) -> Result<CallContext> {
        let context = self.context.get(..self.length).and_then(CallContext::read);
        context.ok_or_else(|| code::E_INVALIDARG.into())
    }
}

fn limited<R>(left: Option<Duration>, calls: impl FnOnce() -> R) -> R {
    match left {
        Some(left) => with_timeout(left, calls),
        None => calls(),
    }
}

fn traced<R>(trace: Option<TraceContext>, calls: impl FnOnce() -> R) -> R {
    match trace {
        Some(trace) => with_trace(trace, calls),
        None => calls(),
    }
}

/// Runs `calls` with the context `said`: its deadline and its trace apply to all calls that `calls`
/// makes on this thread. If the context has no deadline, the default deadline applies, or the
/// deadline of the call that the thread performs. `canceller` can cancel the calls.
///
/// # Safety
///
/// `said` must be null or readable, `canceller` must be null or a canceller of this library, and
/// both must outlive the call.
pub(crate) unsafe fn within<R>(
    said: *const Said,
    canceller: *const Canceller,
    calls: impl FnOnce() -> Result<R>,
) -> Result<R> {
    // SAFETY: the caller's promise.
    let said = unsafe { said.as_ref() }.map(Said::read).transpose()?.unwrap_or(CallContext::NONE);
    let limited = || limited(said.left, || traced(said.trace, calls));
    // SAFETY: the caller's promise.
    match unsafe { canceller.as_ref() } {
        Some(canceller) => canceller.0.run(limited),
        None => limited(),
    }
}

/// Creates a canceller.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_java_canceller() -> *mut Canceller {
    Box::into_raw(Box::default())
}

/// Cancels the calls that are made with a canceller, including later calls.
///
/// # Safety
///
/// `canceller` must be a canceller of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_cancel(canceller: *const Canceller) {
    // SAFETY: the caller's promise.
    let canceller = unsafe { &*canceller };
    crate::outcome::guarded_or((), || canceller.0.cancel());
}

/// Frees a canceller.
///
/// # Safety
///
/// `canceller` must be a canceller of this library, and must not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_free_canceller(canceller: *mut Canceller) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(canceller) });
}

/// Whether the caller of the method that this thread performs has given up: 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_java_is_cancelled() -> u32 {
    crate::outcome::guarded_or(0, || com::is_cancelled().into())
}
