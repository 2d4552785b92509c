//! Orders about objects in calls that come to nothing, on their way or at the other end.

#![expect(clippy::unit_arg, reason = "orders without a result of their own are answered all the same")]

use crate::answer::{Answer, done};
use crate::state::State;
use crate::{Counter, ICounter, IListener, ITaker};
use obvia::{GUID, IUnknown, code};
use windows_core::Interface;

/// More than a frame has room for: 256 MiB.
const TOO_MANY: usize = 80 << 20;

/// Gives the server an object of this process, twice, in a call that does as it is told.
pub(crate) fn give(state: &mut State, what: &str) -> Answer {
    let taker: ITaker = state.factory()?.cast()?;
    // The one that the server may keep already.
    let own = state.own.get_or_insert_with(Counter::new).clone();
    let other: IUnknown = own.cast()?;
    let take = |iid: GUID, values: &[i32], code: i32| taker.Take(Some(&own), &iid, Some(&other), values, code);
    done(match what {
        "all" => take(ICounter::IID, &[1, 2, 3], 0)?,
        "one-without-its-interface" => take(IListener::IID, &[], 0)?,
        "too-much" => take(ICounter::IID, &vec![0; TOO_MANY], 0)?,
        "to-fail" => take(ICounter::IID, &[], code::E_UNEXPECTED.0)?,
        _ => return Err(code::E_INVALIDARG.into()),
    })
}
