//! What calls say beside their arguments: how long their callers wait, and the trace that they belong to.

use crate::answer::Answer;
use crate::state::State;
use obvia::dcom::{TraceContext, trace, with_trace};
use obvia::{DEFAULT_TIMEOUT, U16CString, caller_deadline, code, with_timeout};
use std::time::{Duration, Instant};

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/// As long as a state may be.
const STATE: usize = 512;
const TIMEOUT: Duration = Duration::from_secs(100);

/// What the method that runs on this thread has heard of its call.
pub(crate) fn heard() -> obvia::Result<(i64, U16CString)> {
    let left = caller_deadline().map(|end| end.saturating_duration_since(Instant::now()).as_millis() as i64);
    let trace = trace().map(|trace| format!("{trace} {}", trace.state)).unwrap_or_default();
    let trace = U16CString::from_str(trace).map_err(|_| code::E_UNEXPECTED)?;
    Ok((left.unwrap_or(-1), trace))
}

/// Refuses what a call has heard whose caller has said nothing.
fn has_none((left, heard): (i64, U16CString)) -> obvia::Result<()> {
    if left == -1 && heard.is_empty() {
        return Ok(());
    }
    Err(obvia::Error::new(
        code::E_FAIL,
        format!("{left} ms left, trace {:?} where there is none", heard.to_string_lossy()),
    ))
}

/// Makes calls with and without, and says what the server has heard that is not what it was told.
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
        // Also where the call before it had objects, or its results are still lent.
        with_timeout(TIMEOUT, || factory.Make().and_then(|_| hears(true, "")))?;
        let lent = factory.Make()?.Lend(7, 3)?;
        with_timeout(TIMEOUT, || {
            drop(lent);
            hears(true, "")
        })?;
        // Nobody waits for a call without an answer, and it leaves nothing behind.
        with_trace(short.clone(), || with_timeout(TIMEOUT, || factory.Overhear()))?;
        has_none(factory.Context()?)?;
        let (left, heard) = factory.Overheard()?;
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
        // A state that is too long is left out, and nothing else.
        for length in [STATE + 1, 1 << 16] {
            let longer = TraceContext { state: "s".repeat(length), ..short.clone() };
            with_trace(longer, || with_timeout(TIMEOUT, || hears(true, &short_text)))?;
        }
        // A time that is said travels, even if it is the one that calls have anyway.
        with_timeout(DEFAULT_TIMEOUT, || hears(true, ""))?;
        has_none(factory.Context()?)?;
        // One that fails leaves nothing behind.
        with_timeout(TIMEOUT, || factory.Kept().map(drop)).err().ok_or(code::E_UNEXPECTED)?;
        has_none(factory.Context()?)?;
    }
    Ok(String::new())
}
