//! The objects of the torture tests: counters, a factory of counters, and methods that report the
//! state of the process.

mod access;
mod activation;
pub mod allocations;
mod answer;
mod context;
mod error_info;
mod events;
mod failed_calls;
pub mod hosts;
pub mod lockdown;
pub mod orders;
mod poll_path;
pub mod process;
pub mod registered;
mod soak;
mod state;
mod usage;

pub use state::CLASS;

mod tally {
    obvia::include_idl!("tally");
}

obvia::include_idl!("torture");

use obvia::security::{Authenticated, Caller, Peer};
use obvia::{Agile, GUID, HRESULT, IUnknown, Interface, code};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

static LIVE: AtomicI64 = AtomicI64::new(0);
static NOTICED: AtomicI64 = AtomicI64::new(0);
static SLEEPING: AtomicI64 = AtomicI64::new(0);
static BEGUN: AtomicI64 = AtomicI64::new(0);
static WAKES: AtomicI64 = AtomicI64::new(0);

/// Returns the number of live counters in this process.
pub fn live() -> i64 {
    LIVE.load(Ordering::SeqCst)
}

/// Returns the number of running sleeps in this process.
pub fn sleeping() -> i64 {
    SLEEPING.load(Ordering::SeqCst)
}

/// Returns the number of sleeps that this process has ever begun.
pub fn begun() -> i64 {
    BEGUN.load(Ordering::SeqCst)
}

/// Returns the number of sleeps in this process that noticed a cancelled call.
pub fn noticed() -> i64 {
    NOTICED.load(Ordering::SeqCst)
}

/// Ends the sleeps that run in this process.
pub(crate) fn wake() {
    WAKES.fetch_add(1, Ordering::SeqCst);
}

/// A counter. The process counts its live counters.
#[obvia::object(ICounter)]
pub struct Counter(AtomicI64);

impl Counter {
    /// Creates a counter at zero.
    #[expect(clippy::new_ret_no_self, reason = "a counter is used through its interface")]
    pub fn new() -> ICounter {
        LIVE.fetch_add(1, Ordering::SeqCst);
        Self(AtomicI64::new(0)).into()
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A guard that counts a sleep as running until the guard is dropped.
struct Sleeper;

impl Sleeper {
    fn new() -> Self {
        SLEEPING.fetch_add(1, Ordering::SeqCst);
        BEGUN.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        SLEEPING.fetch_sub(1, Ordering::SeqCst);
    }
}

impl ICounter_Impl for Counter_Impl {
    fn Nothing(&self) -> obvia::Result<()> {
        Ok(())
    }

    fn Sum4(&self, a: i32, b: i32, c: i32, d: i32) -> obvia::Result<i32> {
        Ok(a.wrapping_add(b).wrapping_add(c).wrapping_add(d))
    }

    fn Add(&self, by: i32) -> obvia::Result<i64> {
        let by = i64::from(by);
        Ok(self.0.fetch_add(by, Ordering::SeqCst) + by)
    }

    fn Get(&self) -> obvia::Result<i64> {
        Ok(self.0.load(Ordering::SeqCst))
    }

    fn Echo(&self, values: &[i32]) -> obvia::Result<Vec<i32>> {
        Ok(values.to_vec())
    }

    fn Lend(&self, first: i32, count: u32, numbers: &mut obvia::Lending<'_, i32>) -> obvia::Result<()> {
        (0..count as i32).for_each(|at| numbers.push(first.wrapping_add(at)));
        Ok(())
    }

    fn Fail(&self, code: i32) -> obvia::Result<()> {
        assert!(code != 0, "the counter was told to panic");
        let text = format!("the counter was told to fail by {code}");
        Err(obvia::Error::new(obvia::HRESULT(code), text).with_source("counter").with_help("counter.chm", 7))
    }

    fn Sleep(&self, milliseconds: u32) -> obvia::Result<()> {
        let wakes = WAKES.load(Ordering::SeqCst);
        let _sleeper = Sleeper::new();
        let end = Instant::now() + Duration::from_millis(milliseconds.into());
        while Instant::now() < end && WAKES.load(Ordering::SeqCst) == wakes {
            if obvia::is_cancelled() {
                NOTICED.fetch_add(1, Ordering::SeqCst);
                return Err(code::RPC_E_CALL_CANCELED.into());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    fn Halve(&self, n: &mut u32, numbers: &mut [i32]) -> obvia::Result<()> {
        *n /= 2;
        (0..).zip(numbers).take(*n as usize).for_each(|(number, place)| *place = number);
        Ok(())
    }

    fn Shrink(&self, n: &mut u32, numbers: &mut [i32]) -> obvia::Result<()> {
        self.Halve(n, numbers)
    }

    fn Callback(&self, listener: Option<&IListener>, value: i32) -> obvia::Result<i32> {
        listener.ok_or(code::E_POINTER)?.Heard(value)
    }
}

/// A factory of counters.
#[obvia::object(IFactory, ITaker, ILabeller)]
#[derive(Default)]
pub struct Factory {
    kept: Mutex<Option<Agile<ICounter>>>,
    overheard: Mutex<Option<(i64, obvia::U16CString)>>,
}

impl Factory {
    fn kept(&self) -> obvia::Result<Agile<ICounter>> {
        Ok(self.kept.lock().unwrap().clone().ok_or(code::E_POINTER)?)
    }
}

impl IFactory_Impl for Factory_Impl {
    fn Make(&self) -> obvia::Result<ICounter> {
        Ok(Counter::new())
    }

    fn Live(&self) -> obvia::Result<i64> {
        Ok(live())
    }

    fn Noticed(&self) -> obvia::Result<i64> {
        Ok(noticed())
    }

    fn Allocations(&self) -> obvia::Result<(i64, i64)> {
        Ok(allocations::counts())
    }

    fn Lockdown(&self) -> obvia::Result<()> {
        lockdown::lock_down().map_err(|error| obvia::Error::new(code::E_FAIL, error.to_string()))
    }

    fn Pass(&self, counter: Option<&ICounter>) -> obvia::Result<(ICounter, bool)> {
        let counter = counter.ok_or(code::E_POINTER)?;
        Ok((counter.clone(), counter.is_object::<Counter>()))
    }

    fn AddTo(&self, counter: Option<&ICounter>, by: i32) -> obvia::Result<i64> {
        counter.ok_or(code::E_POINTER)?.Add(by)
    }

    fn Keep(&self, counter: Option<&ICounter>) -> obvia::Result<()> {
        let kept = counter.map(Agile::new).transpose()?;
        let before = std::mem::replace(&mut *self.kept.lock().unwrap(), kept);
        drop(before);
        Ok(())
    }

    fn Kept(&self) -> obvia::Result<ICounter> {
        Ok(self.kept()?.get().clone())
    }

    fn AddToKept(&self, by: i32) -> obvia::Result<i64> {
        self.kept()?.get().Add(by)
    }

    fn Who(&self) -> obvia::Result<obvia::U16CString> {
        let Caller { peer, authenticated, .. } = obvia::caller().ok_or(code::E_UNEXPECTED)?;
        let from = match peer {
            Peer::Process { pid, .. } => format!("process {pid}"),
            Peer::Host(host) => host,
        };
        let text = match authenticated {
            Some(Authenticated { principal, level, .. }) => format!("{from} {} {level}", principal.user),
            None => from,
        };
        obvia::U16CString::from_str(text).map_err(|_| code::E_UNEXPECTED.into())
    }

    fn Context(&self) -> obvia::Result<(i64, obvia::U16CString)> {
        context::heard()
    }

    fn Overhear(&self) -> obvia::Result<()> {
        *self.overheard.lock().unwrap() = Some(context::heard()?);
        Ok(())
    }

    fn Overheard(&self) -> obvia::Result<(i64, obvia::U16CString)> {
        Ok(self.overheard.lock().unwrap().take().ok_or(code::E_UNEXPECTED)?)
    }

    fn KeptSleeps(&self, milliseconds: u32) -> obvia::Result<()> {
        obvia::with_timeout(Duration::from_secs(3600), || self.kept()?.get().Sleep(milliseconds))
    }
}

impl ITaker_Impl for Factory_Impl {
    fn Take(&self, _: Option<&ICounter>, _: &GUID, _: Option<&IUnknown>, _: &[i32], code: i32) -> obvia::Result<()> {
        if code < 0 { Err(HRESULT(code).into()) } else { Ok(()) }
    }

    fn TakeSoon(&self, _: Option<&ICounter>, _: &GUID, _: Option<&IUnknown>) -> obvia::Result<()> {
        Ok(())
    }
}

impl ILabeller_Impl for Factory_Impl {
    fn Label(&self, how: Making, label: &mut [u16]) -> obvia::Result<ICounter> {
        self.LabelNext(how, label, None)
    }

    fn LabelNext(&self, how: Making, label: &mut [u16], labels: Option<&mut i32>) -> obvia::Result<ICounter> {
        label.fill(b'x'.into());
        if let (Making::ENDED, [.., last]) = (how, label) {
            *last = 0;
        }
        if how == Making::FAILED {
            return Err(obvia::Error::new(code::E_UNEXPECTED, "there are no labels left"));
        }
        if let Some(labels) = labels {
            *labels += 1;
        }
        Ok(Counter::new())
    }
}

/// A listener that multiplies the value by the listener's number, and adds one.
#[obvia::object(IListener)]
pub struct Listener(pub i32);

impl IListener_Impl for Listener_Impl {
    fn Heard(&self, value: i32) -> obvia::Result<i32> {
        Ok(value.wrapping_mul(self.0).wrapping_add(1))
    }
}
