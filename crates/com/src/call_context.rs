//! The context of a call: how long its caller still waits, and the trace that the call belongs to.
//!
//! Only what somebody has said travels. In the standard's transfer syntaxes these are extents of ORPCTHIS ([`crate::dcom`]). In FLAT only callers
//! that have said something pay for it: a connection in memory is told the context of the next call by a call of the runtime's own, and over a stream it stands
//! before the frame (docs/flat.md).

use crate::orpc::{CallContext, TraceContext};
use crate::thread::{self, channels};
use std::cell::RefCell;
use std::time::{Duration, Instant};

thread_local! {
    /// The trace that calls of this thread belong to, if any.
    static TRACE: RefCell<Option<TraceContext>> = const { RefCell::new(None) };
}

/// Runs `calls` as a part of a trace (W3C Trace Context): calls of objects that they make say so to the peer. A state that is longer than 512 bytes, or is
/// not printable ASCII, is left out, and a trace one of whose numbers is 0 is none.
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

/// The trace that [`with_trace`] has named, or that the method which runs on this thread belongs to. Calls that this thread makes belong to it, too.
/// `None` where nobody has named one.
pub fn trace() -> Option<TraceContext> {
    TRACE.try_with(|own| own.borrow().clone()).ok().flatten()
}

fn set_trace(trace: Option<TraceContext>) -> Option<TraceContext> {
    let is_none = trace.is_none();
    let before = TRACE.try_with(|own| own.replace(trace)).ok().flatten();
    if !is_none || before.is_some() {
        channels::prepare_again();
    }
    before
}

/// The thread performs a call from here on. Its caller waits so long, if it has said so, and the call belongs to this trace.
pub(crate) fn enter(left: Option<Duration>, trace: Option<TraceContext>) {
    set_trace(trace);
    thread::limit_to(left.and_then(|left| Instant::now().checked_add(left)));
}

/// The thread performs no call any more.
pub(crate) fn leave() {
    set_trace(None);
    thread::limit_to(None);
}

/// Whether calls of this thread have a context. The time-out that every call has by default makes none.
pub(crate) fn is_set() -> bool {
    thread::said_deadline().is_some() || TRACE.try_with(|own| own.borrow().is_some()).unwrap_or(false)
}

/// The context of calls that this thread makes now.
pub(crate) fn current() -> CallContext {
    CallContext { left: thread::said_deadline().map(|deadline| deadline.start().remaining()), trace: trace() }
}

/// See [`entered`].
pub(crate) struct Entered(());

impl Drop for Entered {
    fn drop(&mut self) {
        leave();
    }
}

/// The thread performs a call with this context until what is returned is dropped.
pub(crate) fn entered(CallContext { left, trace }: CallContext) -> Entered {
    enter(left, trace);
    Entered(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DEFAULT_TIMEOUT;

    #[test]
    fn a_time_that_was_said_is_a_context_whatever_its_length() {
        assert!(!is_set() && current() == CallContext::NONE);
        let said = crate::with_timeout(DEFAULT_TIMEOUT, || (is_set(), current().left));
        assert!(said.0 && said.1.is_some_and(|left| left <= DEFAULT_TIMEOUT), "{said:?}");
        assert!(!is_set());
    }

    #[test]
    fn a_method_waits_no_longer_than_its_caller() {
        let own = |timeout| crate::with_timeout(timeout, || thread::deadline().start().remaining());
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
            // The usual time limits the method's calls, and is not told to their callees.
            assert!(thread::deadline().start().remaining() <= DEFAULT_TIMEOUT);
            assert!(current().left.is_some_and(|left| left > hour / 2), "{:?}", current());
        }
        assert!(own(Duration::from_secs(3600)) > Duration::from_secs(100));
        assert!(crate::caller_deadline().is_none() && !is_set());
    }
}
