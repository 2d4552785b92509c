//! The context that calls carry beside their arguments: an object that returns this context, and a
//! client that checks it.

use obvia::dcom::{TraceContext, trace, with_trace};
use obvia::{U16CString, caller_deadline, code, is_cancelled, with_timeout};
use obvia_hostile::contexts::{IContexts, IContexts_Impl};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

const HOUR: Duration = Duration::from_secs(3600);
/// The deadline of the calls that set a deadline, in milliseconds. Half of it is more than the
/// default timeout, so that a callee cannot confuse the two. Calls do not transmit the default
/// timeout.
const TIME: i64 = 100_000;
/// The first timeout of a waiting call. On a busy machine, the call may not have begun by then.
const SHORT: Duration = Duration::from_millis(500);
/// The time after which a waiting call fails because its cancellation was not noticed.
const WAIT_MAX: Duration = Duration::from_secs(60);

#[obvia::object(IContexts)]
#[derive(Default)]
pub(crate) struct ContextServer {
    cancelled: AtomicI32,
}

impl IContexts_Impl for ContextServer_Impl {
    fn Context(&self) -> obvia::Result<(i64, U16CString)> {
        let left = caller_deadline().map(|end| end.saturating_duration_since(Instant::now()).as_millis() as i64);
        let trace = trace().map(|trace| format!("{trace} {}", trace.state)).unwrap_or_default();
        Ok((left.unwrap_or(-1), U16CString::from_str(trace).map_err(|_| code::E_UNEXPECTED)?))
    }

    fn ContextOf(&self, other: Option<&IContexts>) -> obvia::Result<(i64, U16CString)> {
        let other = other.ok_or(code::E_POINTER)?;
        with_timeout(HOUR, || other.Context())
    }

    fn AwaitCancel(&self, other: Option<&IContexts>) -> obvia::Result<()> {
        if let Some(other) = other {
            return with_timeout(HOUR, || other.AwaitCancel(None));
        }
        let begun = Instant::now();
        while begun.elapsed() < WAIT_MAX {
            if is_cancelled() {
                self.cancelled.fetch_add(1, Ordering::SeqCst);
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(code::E_FAIL.into())
    }

    fn Cancelled(&self) -> obvia::Result<i32> {
        Ok(self.cancelled.load(Ordering::SeqCst))
    }
}

/// Makes calls with and without a deadline and a trace, and compares the call contexts that the
/// callee reports. For calls without a deadline of their own, the reported milliseconds must be in
/// `usual`.
fn check(usual: RangeInclusive<i64>, call: &dyn Fn() -> obvia::Result<(i64, U16CString)>) -> obvia::Result<()> {
    let check_one = |waits: bool, trace: &str| {
        let (left, trace_text) = call()?;
        let expected = if waits { &(TIME / 2..=TIME) } else { &usual };
        assert!(expected.contains(&left), "{left} ms left, not {expected:?}");
        assert_eq!(trace_text.to_string_lossy(), trace);
        Ok::<_, obvia::Error>(())
    };
    let short: TraceContext =
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().map_err(|_| code::E_UNEXPECTED)?;
    let long = TraceContext { state: "s".repeat(512), ..short.clone() };
    let timed = |calls: &dyn Fn() -> obvia::Result<()>| with_timeout(Duration::from_millis(TIME as u64), calls);
    for _ in 0..3 {
        check_one(false, "")?;
        timed(&|| check_one(true, ""))?;
        timed(&|| with_trace(short.clone(), || check_one(true, &format!("{short} "))))?;
        with_trace(long.clone(), || timed(&|| check_one(true, &format!("{long} {}", long.state))))?;
        check_one(false, "")?;
    }
    Ok(())
}

/// Calls the server `by`, and makes it call the server `last`. The server `last` must notice when
/// the caller of a waiting call gives up.
pub(crate) fn run(by: &str, last: &str) -> obvia::Result<()> {
    let (by, last): (IContexts, IContexts) = (obvia::connect(by)?, obvia::connect(last)?);
    // The number -1 means that the call has no deadline. `ContextOf` sets a deadline of an hour.
    let hour = HOUR.as_millis() as i64;
    check(-1..=-1, &|| by.Context())?;
    check(hour / 2..=hour, &|| by.ContextOf(Some(&last)))?;
    check(hour / 2..=hour, &|| last.ContextOf(Some(&by)))?;
    let before = last.Cancelled()?;
    let (begun, mut short) = (Instant::now(), SHORT);
    while last.Cancelled()? == before {
        assert!(begun.elapsed() < WAIT_MAX, "the cancelled call was not noticed");
        let late = with_timeout(short, || by.AwaitCancel(Some(&last)));
        assert_eq!(late.map_err(|error| error.code()), Err(code::RPC_E_TIMEOUT));
        short *= 2;
        let given_up = Instant::now();
        while last.Cancelled()? == before && given_up.elapsed() < short {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    println!("good");
    Ok(())
}
