//! The context of a call: the time for which the caller still waits, and the trace of the call.
//!
//! Only explicitly set contexts are sent. In NDR the context is in extents of ORPCTHIS
//! ([`crate::dcom`]). In FLAT a call without a context has no additional cost. On a connection in
//! memory, the runtime sends the context of the next call by a call of its own. Over a stream, the
//! context precedes the frame (docs/flat.md).

use crate::orpc::{CallContext, TraceContext};
use crate::types::deadline;
use std::cell::RefCell;
use std::time::{Duration, Instant};

thread_local! {
    /// The trace of this thread's calls, if any.
    static TRACE: RefCell<Option<TraceContext>> = const { RefCell::new(None) };
}

/// Runs `calls` as a part of a trace (W3C Trace Context). Calls of objects send the trace to the
/// peers. A trace state that is longer than 512 bytes or not printable ASCII is left out. If the
/// number of the trace or of the parent is 0, `calls` run without a trace.
pub fn with_trace<R>(trace: TraceContext, calls: impl FnOnce() -> R) -> R {
    struct Restore(Option<TraceContext>);
    impl Drop for Restore {
        fn drop(&mut self) {
            set_trace(self.0.take());
        }
    }
    let _restore = Restore(set_trace(trace.checked()));
    calls()
}

/// Returns the trace to which the calls of this thread belong: the trace of [`with_trace`], or of
/// the call that the thread performs. `None` without a trace.
pub fn trace() -> Option<TraceContext> {
    TRACE.try_with(|own| own.borrow().clone()).ok().flatten()
}

fn set_trace(trace: Option<TraceContext>) -> Option<TraceContext> {
    let is_none = trace.is_none();
    let before = TRACE.try_with(|own| own.replace(trace)).ok().flatten();
    if !is_none || before.is_some() {
        deadline::prepare_again();
    }
    before
}

/// Begins a call on this thread, with the time for which the caller waits, and with the trace, if
/// any.
pub(crate) fn enter(left: Option<Duration>, trace: Option<TraceContext>) {
    set_trace(trace);
    deadline::limit_to(left.and_then(|left| Instant::now().checked_add(left)));
}

/// Ends the call on this thread.
pub(crate) fn leave() {
    set_trace(None);
    deadline::limit_to(None);
}

/// Whether calls of this thread have a context. The default time limit does not count as a context.
pub(crate) fn is_set() -> bool {
    deadline::said_deadline().is_some() || TRACE.try_with(|own| own.borrow().is_some()).unwrap_or(false)
}

/// Returns the context that is sent with the calls that this thread makes now.
pub(crate) fn current() -> CallContext {
    CallContext { left: deadline::said_deadline().map(|deadline| deadline.start().remaining()), trace: trace() }
}

/// A call that [`entered`] has begun on this thread. Dropping this value ends the call.
pub(crate) struct Entered(());

impl Drop for Entered {
    fn drop(&mut self) {
        leave();
    }
}

/// Sets the context of a performed call, until the returned value is dropped.
pub(crate) fn entered(CallContext { left, trace }: CallContext) -> Entered {
    enter(left, trace);
    Entered(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DEFAULT_TIMEOUT;

    #[test]
    fn an_explicit_timeout_is_a_call_context_of_any_length() {
        assert!(!is_set() && current() == CallContext::NONE);
        let said = crate::with_timeout(DEFAULT_TIMEOUT, || (is_set(), current().left));
        assert!(said.0 && said.1.is_some_and(|left| left <= DEFAULT_TIMEOUT), "{said:?}");
        assert!(!is_set());
    }

    #[test]
    fn the_default_timeout_is_not_sent_with_the_steps_of_an_operation() {
        assert!(!deadline::for_all_steps(is_set));
        let hour = Duration::from_secs(3600);
        let said = crate::with_timeout(hour, || deadline::for_all_steps(|| current().left));
        assert!(said.is_some_and(|left| left > hour / 2), "{said:?}");
        let _entered = entered(CallContext { left: Some(hour), trace: None });
        let left = deadline::for_all_steps(|| current().left);
        assert!(left.is_some_and(|left| left > hour / 2), "{left:?}");
    }

    #[test]
    fn calls_of_a_method_end_at_its_callers_deadline() {
        let own = |timeout| crate::with_timeout(timeout, || deadline::of_thread().start().remaining());
        let short = Duration::from_secs(1);
        {
            let _entered = entered(CallContext { left: Some(Duration::from_secs(100)), trace: None });
            assert!(own(Duration::from_secs(3600)) <= Duration::from_secs(100));
            assert!(own(short) <= short);
            assert!(crate::caller_deadline().is_some() && is_set());
        }
        {
            let hour = Duration::from_secs(3600);
            let _entered = entered(CallContext { left: Some(hour), trace: None });
            // The calls that the method makes end after the default timeout. The time limit that is
            // sent with these calls is that of the method's caller.
            assert!(deadline::of_thread().start().remaining() <= DEFAULT_TIMEOUT);
            assert!(current().left.is_some_and(|left| left > hour / 2), "{:?}", current());
        }
        assert!(own(Duration::from_secs(3600)) > Duration::from_secs(100));
        assert!(crate::caller_deadline().is_none() && !is_set());
    }
}
