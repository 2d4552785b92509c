//! Calls that must neither allocate nor make system calls.

use crate::allocations::counts;
use crate::answer::Answer;
use crate::lockdown::{leave, lock_down};
use crate::state::State;
use crate::{ICounter, IFactory};
use ground::LATEST;
use obvia::dynamic::{self, Identity};
use obvia::{Error, Interface, Remote, code};
use std::hint::black_box;

/// The number of calls before the measurement. These calls establish connections, and fill tables
/// and caches.
const WARM_UP: i32 = 100;

fn calls(counter: &ICounter, number: i32, mut each: impl FnMut(i32)) -> obvia::Result<()> {
    let before = counter.Get()?;
    for turn in 0..number {
        counter.Nothing()?;
        let sum = counter.Sum4(turn, 2, 3, 4)?;
        let total = counter.Add(1)?;
        if sum != turn + 9 || total != before + i64::from(turn) + 1 {
            return Err(code::E_UNEXPECTED.into());
        }
        each(turn);
    }
    Ok(())
}

/// Counts the allocations of calls, in the calling thread and in the serving thread.
///
/// The fault "here" makes one allocation in the calling thread. The fault "there" makes a call
/// whose method allocates in the serving thread.
pub(crate) fn measure(state: &mut State, number: i32, fault: Option<&str>) -> Answer {
    let (counter, factory) = (state.counter()?, state.factory()?);
    calls(counter, WARM_UP, |_| ())?;
    factory.Allocations()?;
    let there = factory.Allocations()?.1;
    let here = counts().1;
    let mut failed = Ok(Vec::new());
    calls(counter, number, |turn| match fault {
        Some("here") if turn == number / 2 => drop(black_box(Box::new(turn))),
        Some("there") if turn == number / 2 => failed = counter.Echo(&[turn]),
        _ => {}
    })?;
    failed?;
    let here = counts().1 - here;
    let there = factory.Allocations()?.1 - there;
    Ok(format!("{here} {there}"))
}

/// The opnum of `IFactory::Live`.
const LIVE: u16 = 4;

/// Makes calls by frames, and counts the allocations in the calling thread. The calls reuse the
/// memory of their results, and have a time limit that is not sent.
pub(crate) fn repeat(name: &str, number: i32) -> Answer {
    let identity = Identity { iid: IFactory::IID, fingerprint: <IFactory as Remote>::INFO.fingerprint };
    let object = dynamic::Object::connect(name, identity)?;
    let mut results = Vec::new();
    let mut calls = |number| (0..number).try_for_each(|_| object.call_into(LIVE, &[], &mut results)?.ok());
    let here = dynamic::with_unsent_timeout(LATEST, || {
        calls(WARM_UP)?;
        let before = counts().1;
        calls(number).map(|()| counts().1 - before)
    })?;
    Ok(here.to_string())
}

/// Makes calls while neither the calling nor the serving thread may make system calls. Then the
/// process ends.
///
/// The fault "here" makes a system call in the calling thread. The fault "there" makes a call whose
/// method makes a system call in the serving thread.
pub(crate) fn locked(state: &mut State, number: i32, fault: Option<&str>) -> Answer {
    let (counter, factory) = (state.counter()?, state.factory()?);
    calls(counter, WARM_UP, |_| ())?;
    factory.Lockdown()?;
    lock_down().map_err(|error| Error::new(code::E_FAIL, error.to_string()))?;
    let mut failed = Ok(());
    let outcome = calls(counter, number, |turn| match fault {
        // SAFETY: `getppid` has no preconditions.
        Some("here") if turn == number / 2 => drop(unsafe { libc::getppid() }),
        Some("there") if turn == number / 2 => failed = counter.Sleep(1),
        _ => {}
    });
    match outcome.and(failed) {
        Ok(()) => leave("ok\n", 0),
        Err(_) => leave("error\n", 0),
    }
}
