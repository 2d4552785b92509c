//! Orders about cancelled calls.

use super::{cast, keep_waiting, text};
use crate::answer::{Answer, done};
use crate::state::{CLASS, State};
use crate::tally::Tally;
use crate::{ICounter, IFactory, IListener, IListener_Impl};
use obvia::dcom::create_instance;
use obvia::marshaling::{Context, Handled, IStdMarshalInfo};
use obvia::{Agile, Canceller, GUID, code};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Starts a thread with a cancellable sleep, another cancellable call, and a call that cannot be
/// cancelled.
pub(super) fn cancellable(state: &mut State, _: &[&str]) -> Answer {
    state.canceller = Canceller::new();
    let (canceller, counter) = (state.canceller.clone(), Agile::new(state.counter()?)?);
    std::thread::spawn(move || {
        let counter = counter.get();
        let outcome = canceller.run(|| counter.Sleep(600_000));
        println!("ended {}", text(outcome.map(done).and_then(|done| done)));
        let later = canceller.run(|| counter.Nothing());
        println!("later {}", text(later.map(done).and_then(|done| done)));
        println!("after {}", text(counter.Add(1).map(|total| total.to_string())));
    });
    done(())
}

/// Runs `work` with a new canceller on a thread of its own, which prints the outcome. Returns once
/// the thread waits or has ended, so that a later cancellation cannot come before the wait.
fn cancellably(state: &mut State, work: impl FnOnce() -> Answer + Send + 'static) -> Answer {
    state.canceller = Canceller::new();
    let (canceller, timeout) = (state.canceller.clone(), state.timeout);
    let (sender, number) = channel();
    let thread = std::thread::spawn(move || {
        let _ = sender.send(ground::thread_number());
        let outcome = canceller.run(|| match timeout {
            Some(timeout) => obvia::with_timeout(timeout, work),
            None => work(),
        });
        println!("ended {}", text(outcome));
    });
    let number = number.recv().map_err(|_| code::E_UNEXPECTED)?;
    ground::until("the thread waits", || ground::is_asleep(number) || thread.is_finished());
    done(())
}

/// Sleeps inside a scope of another canceller, or after such a scope.
pub(super) fn cancellable_sleep(state: &mut State, place: &str) -> Answer {
    let (counter, is_inside) = (Agile::new(state.counter()?)?, place == "inside");
    cancellably(state, move || {
        let (counter, inner) = (counter.get(), Canceller::new());
        let sleep = || counter.Sleep(600_000);
        if is_inside {
            return inner.run(sleep).map(done)?;
        }
        inner.run(|| counter.Nothing())?;
        sleep().map(done)?
    })
}

/// A listener that makes a call while it is marshaled, in the scope of a canceller of its own. The
/// listener keeps its caller waiting.
#[obvia::object(IListener, IStdMarshalInfo)]
struct Calling(Agile<ICounter>);

impl IListener_Impl for Calling_Impl {
    fn Heard(&self, _: i32) -> obvia::Result<i32> {
        keep_waiting()
    }
}

impl Handled for Calling_Impl {
    fn handler(&self, _: Context) -> obvia::Result<GUID> {
        Canceller::new().run(|| self.0.get().Nothing())?;
        Err(code::E_NOTIMPL.into())
    }
}

/// Passes a `Calling` listener.
pub(super) fn cancellable_callback(state: &mut State, _: &[&str]) -> Answer {
    let counter = Agile::new(state.counter()?)?;
    cancellably(state, move || {
        let listener = IListener::from(Calling(counter.clone()));
        counter.get().Callback(Some(&listener), 1).map(|answer| answer.to_string())
    })
}

pub(super) fn cancellable_connect(state: &mut State, name: &str) -> Answer {
    let name = name.to_owned();
    cancellably(state, move || obvia::connect::<IFactory>(&name).map(drop).and_then(done))
}

pub(super) fn cancellable_cast(state: &mut State, _: &[&str]) -> Answer {
    let counter = Agile::new(state.counter()?)?;
    cancellably(state, move || cast(counter.get()))
}

/// Makes the process at a name or binding, or the registered server, create a factory.
pub(super) fn cancellable_create(state: &mut State, server: Option<&str>) -> Answer {
    let server = server.map(str::to_owned);
    cancellably(state, move || create_instance::<IFactory>(CLASS, server.as_deref()).map(drop).and_then(done))
}

/// Asks the endpoint mapper of a binding for an interface.
pub(super) fn cancellable_lookup(state: &mut State, binding: &str) -> Answer {
    let binding = binding.to_owned();
    cancellably(state, move || obvia::bind::<Tally>(&binding).map(drop).and_then(done))
}

/// Cancels calls at about the time when they end. All calls without the canceller must succeed.
pub(super) fn cancel_race(counter: &ICounter, turns: u32) -> Answer {
    let mut cancelled = 0;
    for turn in 0..turns {
        let canceller = Canceller::new();
        let other = {
            let canceller = canceller.clone();
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_micros(u64::from(turn % 50)));
                canceller.cancel();
                canceller.cancel();
            })
        };
        while !other.is_finished() {
            match canceller.run(|| counter.Nothing()) {
                Err(error) if error.code() == code::RPC_E_CALL_CANCELED => cancelled += 1,
                outcome => outcome?,
            }
            counter.Nothing()?;
        }
        counter.Nothing()?;
        let _ = other.join();
    }
    Ok(cancelled.to_string())
}

/// Cancels after the last call of the thread that used the canceller, when that thread's channel
/// may belong to another thread.
pub(super) fn cancel_late(counter: &ICounter, turns: u32) -> Answer {
    let agile = Agile::new(counter)?;
    for _ in 0..turns {
        let (canceller, counter) = (Canceller::new(), agile.clone());
        canceller.cancel();
        let refused = {
            let canceller = canceller.clone();
            let call = move || canceller.run(|| counter.get().Nothing()).map_err(|error| error.code());
            std::thread::spawn(call).join()
        };
        if !matches!(refused, Ok(Err(code::RPC_E_CALL_CANCELED))) {
            return Err(code::E_UNEXPECTED.into());
        }
        canceller.cancel();
        let counter = agile.clone();
        let later = std::thread::spawn(move || counter.get().Nothing()).join();
        later.map_err(|_| code::E_UNEXPECTED)??;
    }
    done(())
}
