//! A few calls, which show that a path works on this host.

use super::interface::IBench;
use super::{failed, start};
use crate::{Error, Path, Payload, Wait};
use std::time::{Duration, Instant};

/// Starts a server process, sends an array of `bytes` there and back, and makes `calls` calls
/// without arguments. Returns the median time of the calls without arguments.
///
/// # Errors
///
/// [`Error::Failed`] if the object cannot be reached or a call fails, [`Error::Corrupt`] if a
/// result is wrong, and the errors of [`ServerProcess::start`](crate::ServerProcess::start).
pub fn attempt(path: Path, calls: u32, bytes: usize) -> Result<Duration, Error> {
    // The object is dropped before the server ends.
    let (_server, address) = start(path, Wait::Adaptive, None)?;
    let object: IBench = obvia::connect(&address).map_err(failed)?;
    let mut payload = Payload::new(bytes)?;
    object.MoveData(payload.words_mut()).map_err(failed)?;
    payload.verify(1)?;
    let mut times = Vec::new();
    for _ in 0..calls {
        let before = Instant::now();
        object.Null().map_err(failed)?;
        times.push(before.elapsed());
    }
    let found = object.Calls().map_err(failed)?;
    if found != i64::from(calls) {
        return Err(Error::Corrupt { what: "the count of calls", expected: calls.into(), found: found as u64 });
    }
    times.sort();
    Ok(times.get(times.len() / 2).copied().unwrap_or_default())
}
