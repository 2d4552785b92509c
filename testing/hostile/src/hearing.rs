//! Context of calls beside their arguments: an object that returns it, and a client that checks it.

use obvia::dcom::{TraceContext, trace, with_trace};
use obvia::{U16CString, caller_deadline, code, is_cancelled, with_timeout};
use obvia_hostile::hearing::{IHearer, IHearer_Impl};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};
use windows_core::implement;

const HOUR: Duration = Duration::from_secs(3600);
/// The deadline of the calls that set one, in milliseconds. Half of it is more than the default
/// timeout, so that a callee cannot take the default for this deadline. Calls do not transmit the
/// default.
const TIME: i64 = 100_000;
/// The first timeout of a lingering call. On a busy machine, the call may not have begun by then.
const SHORT: Duration = Duration::from_millis(500);
/// The time after which a lingering call fails because its cancellation was not noticed.
const LINGERS_MAX: Duration = Duration::from_secs(60);

#[implement(IHearer)]
#[derive(Default)]
pub(crate) struct Hearer {
    lingered: AtomicI32,
}

impl IHearer_Impl for Hearer_Impl {
    fn Hear(&self) -> obvia::Result<(i64, U16CString)> {
        let left = caller_deadline().map(|end| end.saturating_duration_since(Instant::now()).as_millis() as i64);
        let trace = trace().map(|trace| format!("{trace} {}", trace.state)).unwrap_or_default();
        Ok((left.unwrap_or(-1), U16CString::from_str(trace).map_err(|_| code::E_UNEXPECTED)?))
    }

    fn Pass(&self, other: Option<&IHearer>) -> obvia::Result<(i64, U16CString)> {
        let other = other.ok_or(code::E_POINTER)?;
        with_timeout(HOUR, || other.Hear())
    }

    fn Linger(&self, other: Option<&IHearer>) -> obvia::Result<()> {
        if let Some(other) = other {
            return with_timeout(HOUR, || other.Linger(None));
        }
        let begun = Instant::now();
        while begun.elapsed() < LINGERS_MAX {
            if is_cancelled() {
                self.lingered.fetch_add(1, Ordering::SeqCst);
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(code::E_FAIL.into())
    }

    fn Lingered(&self) -> obvia::Result<i32> {
        Ok(self.lingered.load(Ordering::SeqCst))
    }
}

/// Makes calls with and without a deadline and a trace, and compares the call contexts that the
/// callee reports. For calls without a deadline of their own, the reported milliseconds must be in
/// `usual`.
fn check(usual: RangeInclusive<i64>, call: &dyn Fn() -> obvia::Result<(i64, U16CString)>) -> obvia::Result<()> {
    let hears = |waits: bool, trace: &str| {
        let (left, heard) = call()?;
        let expected = if waits { &(TIME / 2..=TIME) } else { &usual };
        assert!(expected.contains(&left), "{left} ms left, not {expected:?}");
        assert_eq!(heard.to_string_lossy(), trace);
        Ok::<_, obvia::Error>(())
    };
    let short: TraceContext =
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().map_err(|_| code::E_UNEXPECTED)?;
    let long = TraceContext { state: "s".repeat(512), ..short.clone() };
    let timed = |calls: &dyn Fn() -> obvia::Result<()>| with_timeout(Duration::from_millis(TIME as u64), calls);
    for _ in 0..3 {
        hears(false, "")?;
        timed(&|| hears(true, ""))?;
        timed(&|| with_trace(short.clone(), || hears(true, &format!("{short} "))))?;
        with_trace(long.clone(), || timed(&|| hears(true, &format!("{long} {}", long.state))))?;
        hears(false, "")?;
    }
    Ok(())
}

/// Calls the server `by`, and has it call the server `last`, which is in Rust and notices when the
/// caller of a lingering call gives up.
pub(crate) fn listen(by: &str, last: &str) -> obvia::Result<()> {
    let (by, last): (IHearer, IHearer) = (obvia::connect(by)?, obvia::connect(last)?);
    // -1 stands for no deadline. `Pass` sets one of an hour.
    let hour = HOUR.as_millis() as i64;
    check(-1..=-1, &|| by.Hear())?;
    check(hour / 2..=hour, &|| by.Pass(Some(&last)))?;
    check(hour / 2..=hour, &|| last.Pass(Some(&by)))?;
    let before = last.Lingered()?;
    let (begun, mut short) = (Instant::now(), SHORT);
    while last.Lingered()? == before {
        assert!(begun.elapsed() < LINGERS_MAX, "it does not hear that nobody waits");
        let late = with_timeout(short, || by.Linger(Some(&last)));
        assert_eq!(late.map_err(|error| error.code()), Err(code::RPC_E_TIMEOUT));
        short *= 2;
        let given_up = Instant::now();
        while last.Lingered()? == before && given_up.elapsed() < short {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    println!("good");
    Ok(())
}
