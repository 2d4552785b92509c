//! The orders of tests (see `orders`) about objects in calls that fail on their way or at the
//! server.

#![expect(clippy::unit_arg, reason = "orders without a result of their own are answered all the same")]

use crate::answer::{Answer, done};
use crate::process::{self, LATEST};
use crate::state::State;
use crate::{Counter, ICounter, ILabeller, IListener, ITaker, Making};
use obvia::{Error, GUID, IUnknown, Interface, code};
use std::time::{Duration, Instant};

/// The minimum time for which the last list of references has to wait for room.
const WAIT_MIN: Duration = Duration::from_millis(500);

/// A number of values that makes a frame longer than its limit of 256 MiB.
const TOO_MANY: usize = 80 << 20;

/// Passes an object of this process twice in one call. `what` says how the call ends.
pub(crate) fn give(state: &mut State, what: &str) -> Answer {
    let taker: ITaker = state.factory()?.cast()?;
    // The server may hold a reference to this object already.
    let own = state.own.get_or_insert_with(Counter::new).clone();
    let other: IUnknown = own.cast()?;
    let take = |iid: GUID, values: &[i32], code: i32| taker.Take(Some(&own), &iid, Some(&other), values, code);
    done(match what {
        "all" => take(ICounter::IID, &[1, 2, 3], 0)?,
        "one-without-its-interface" => take(IListener::IID, &[], 0)?,
        "too-much" => take(ICounter::IID, &vec![0; TOO_MANY], 0)?,
        "oneway" => taker.TakeSoon(Some(&own), &ICounter::IID, Some(&other))?,
        "to-fail" => take(ICounter::IID, &[], code::E_UNEXPECTED.0)?,
        _ => return Err(code::E_INVALIDARG.into()),
    })
}

/// Gets labels with a room of `room` characters, from each method that makes labels. `how` says how
/// they are made.
pub(crate) fn label(state: &mut State, room: usize, how: &str) -> Answer {
    let labeller: ILabeller = state.factory()?.cast()?;
    let how = match how {
        "ended" => Making::ENDED,
        "without-end" => Making::WITHOUT_END,
        _ => Making::FAILED,
    };
    let (mut label, mut labels) = (vec![0; room], 5);
    let results = [labeller.Label(how, &mut label), labeller.LabelNext(how, &mut label, Some(&mut labels))];
    let told = |result: obvia::Result<ICounter>| result.map_or_else(|error| format!("{error}"), |_| "done".to_owned());
    Ok(format!("{} {labels}", results.map(told).join(" ")))
}

/// Stops the server with the process ID `server`. Passes objects to it in oneway calls until the
/// window, which has `slots` slots, has room for only one more call. Makes this last call; the
/// window then has no room for the list of references that follows the call. Lets the server go on.
pub(crate) fn give_to_stopped(state: &mut State, server: u32, slots: u32) -> Answer {
    let taker: ITaker = state.factory()?.cast()?;
    let own = state.own.get_or_insert_with(Counter::new).clone();
    let other: IUnknown = own.cast()?;
    // Once the server has answered this call, it has taken all earlier messages.
    taker.Take(None, &ICounter::IID, None, &[], 0)?;
    process::stop(server);
    let soon = |own, other| taker.TakeSoon(own, &ICounter::IID, other);
    // The timeout is longer than the time limit of the test. Since it is not the default timeout, a
    // message with the deadline precedes each call and takes a slot, too.
    let outcome: obvia::Result<_> = obvia::with_timeout(2 * LATEST, || {
        soon(None, None)?;
        let mut last = Duration::ZERO;
        for _ in (2..slots).step_by(3) {
            let begun = Instant::now();
            soon(Some(&own), Some(&other))?;
            last = begun.elapsed();
        }
        Ok(last)
    });
    process::go_on(server);
    if outcome? < WAIT_MIN {
        return Err(Error::new(code::E_UNEXPECTED, "the window had room for the last list"));
    }
    done(())
}

/// Disconnects the exported factory from all clients.
pub(crate) fn disconnect(state: &State) -> Answer {
    done(obvia::marshaling::disconnect(state.exported.as_ref().ok_or(code::E_POINTER)?)?)
}
