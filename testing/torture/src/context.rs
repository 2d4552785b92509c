//! The context that calls carry beside their arguments: the caller's deadline, and the trace.

use crate::IFactory;
use crate::answer::Answer;
use crate::state::State;
use obvia::dcom::{TraceContext, trace, with_trace};
use obvia::{DEFAULT_TIMEOUT, U16CString, caller_deadline, code, with_deadline, with_timeout};
use std::thread::sleep;
use std::time::{Duration, Instant};

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/// The longest trace state, in bytes.
const STATE: usize = 512;
const TIMEOUT: Duration = Duration::from_secs(100);

/// Returns the context of the method that runs on this thread: the milliseconds left, and the
/// trace.
pub(crate) fn heard() -> obvia::Result<(i64, U16CString)> {
    let left = caller_deadline().map(|end| end.saturating_duration_since(Instant::now()).as_millis() as i64);
    let trace = trace().map(|trace| format!("{trace} {}", trace.state)).unwrap_or_default();
    let trace = U16CString::from_str(trace).map_err(|_| code::E_UNEXPECTED)?;
    Ok((left.unwrap_or(-1), trace))
}

/// Fails unless the call context is empty.
fn has_none((left, heard): (i64, U16CString)) -> obvia::Result<()> {
    if left == -1 && heard.is_empty() {
        return Ok(());
    }
    Err(obvia::Error::new(
        code::E_FAIL,
        format!("{left} ms left, trace {:?} where there is none", heard.to_string_lossy()),
    ))
}

/// Returns the context of the client's oneway call. Waits for the call, because later calls over
/// datagrams may overtake it.
fn overheard(factory: &IFactory) -> obvia::Result<(i64, U16CString)> {
    let end = Instant::now() + TIMEOUT;
    loop {
        match factory.Overheard() {
            Err(error) if error.code() == code::E_UNEXPECTED && Instant::now() < end => sleep(Duration::from_millis(1)),
            heard => return heard,
        }
    }
}

/// Checks that calls whose deadline has passed are refused, and do not reach the server.
fn late_calls_are_not_sent(factory: &IFactory) -> obvia::Result<()> {
    let counter = factory.Make()?;
    let late: [(&str, &dyn Fn() -> obvia::Result<()>); 3] = [
        ("a call", &|| counter.Add(1).map(drop)),
        ("a call with an object", &|| factory.Keep(Some(&counter))),
        ("a one-way call", &|| factory.Overhear()),
    ];
    for (what, call) in late {
        let code = with_deadline(Instant::now(), call).err().map(|error| error.code());
        if code != Some(code::RPC_E_TIMEOUT) {
            return Err(obvia::Error::new(code::E_FAIL, format!("{what} after its deadline returned {code:?}")));
        }
    }
    let (total, kept, overheard) = (counter.Get()?, factory.Kept().is_ok(), factory.Overheard().is_ok());
    if (total, kept, overheard) == (0, false, false) {
        return Ok(());
    }
    let text = format!("late calls reached the server: total {total}, kept {kept}, overheard {overheard}");
    Err(obvia::Error::new(code::E_FAIL, text))
}

/// Makes calls with and without a context. Fails if the server saw a context that differs from the
/// client's.
pub(crate) fn check(state: &State) -> Answer {
    let factory = state.factory()?;
    let hears = |waits: bool, trace: &str| {
        let (left, heard) = factory.Context()?;
        let is_left = if waits { 1..=TIMEOUT.as_millis() as i64 } else { -1..=-1 };
        let heard = heard.to_string_lossy();
        let wrong =
            || obvia::Error::new(code::E_FAIL, format!("{left} ms left, trace {heard:?} where it was {trace:?}"));
        if is_left.contains(&left) && heard == trace { Ok(()) } else { Err(wrong()) }
    };
    let short: TraceContext = TRACE.parse().map_err(|_| code::E_UNEXPECTED)?;
    let long = TraceContext { state: "obvia=".to_owned() + &"s".repeat(STATE - 6), ..short.clone() };
    let (short_text, long_text) = (format!("{TRACE} "), format!("{TRACE} {}", long.state));
    for _ in 0..3 {
        // A call also sends its context if it comes after a call with objects, or while earlier
        // results are still lent.
        with_timeout(TIMEOUT, || factory.Make().and_then(|_| hears(true, "")))?;
        let lent = factory.Make()?.Lend(7, 3)?;
        with_timeout(TIMEOUT, || {
            drop(lent);
            hears(true, "")
        })?;
        // A oneway call sends no deadline, and leaves no context behind.
        with_trace(short.clone(), || with_timeout(TIMEOUT, || factory.Overhear()))?;
        has_none(factory.Context()?)?;
        let (left, heard) = overheard(factory)?;
        let heard = heard.to_string_lossy();
        if left != -1 || heard != short_text {
            return Err(obvia::Error::new(
                code::E_FAIL,
                format!("{left} ms left of a call that nobody waits for, trace {heard:?}"),
            ));
        }
        with_timeout(TIMEOUT, || hears(true, ""))?;
        with_timeout(TIMEOUT, || {
            with_trace(short.clone(), || hears(true, &short_text).and_then(|()| hears(true, &short_text)))
        })?;
        with_trace(long.clone(), || with_timeout(TIMEOUT, || hears(true, &long_text)))?;
        // A trace state that is too long is left out; the rest of the trace is sent.
        for length in [STATE + 1, 1 << 16] {
            let longer = TraceContext { state: "s".repeat(length), ..short.clone() };
            with_trace(longer, || with_timeout(TIMEOUT, || hears(true, &short_text)))?;
        }
        // An explicit deadline is transferred, even if it equals the default timeout.
        with_timeout(DEFAULT_TIMEOUT, || hears(true, ""))?;
        has_none(factory.Context()?)?;
        // A failed call leaves no context behind.
        with_timeout(TIMEOUT, || factory.Kept().map(drop)).err().ok_or(code::E_UNEXPECTED)?;
        has_none(factory.Context()?)?;
        late_calls_are_not_sent(factory)?;
        has_none(factory.Context()?)?;
    }
    Ok(String::new())
}
