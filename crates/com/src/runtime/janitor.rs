//! The janitor: a thread that gives references back in batches, and closes links that nobody uses, or whose peer ended.

use super::Runtime;
use crate::link::Link;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

/// How long releases wait for others to join them.
const BATCH: Duration = Duration::from_millis(5);
/// When to try again where a process could not be told.
const RETRY: Duration = Duration::from_secs(1);
/// How often unused links are looked for.
const ROUND: Duration = Duration::from_secs(10);

static PENDING: Mutex<bool> = Mutex::new(false);
static SIGNAL: Condvar = Condvar::new();
static START: Once = Once::new();

/// Tells the janitor that there is something to give back, or that a peer has ended.
pub(crate) fn wake() {
    START.call_once(|| {
        // Without the thread references are given back when the process ends.
        let _ = std::thread::Builder::new().name("obvia-janitor".to_owned()).spawn(work);
    });
    let mut pending = PENDING.lock().unwrap_or_else(PoisonError::into_inner);
    if !*pending {
        *pending = true;
        SIGNAL.notify_one();
    }
}

/// How long until what peers hold may have to be collected, or a lost client to be given up.
fn until_due() -> Duration {
    let Ok(runtime) = Runtime::of_process() else { return Duration::MAX };
    let exports = runtime.exports();
    let due = [exports.due(), runtime.clients().due(exports.patience())].into_iter().flatten().min();
    due.map_or(Duration::MAX, |due| due.saturating_duration_since(Instant::now()))
}

/// Processes that have references and no connection, with when that was first seen: somebody handed them the references, and they ended before they
/// could use them.
#[derive(Default)]
struct Absent(HashMap<u64, Instant>);

impl Absent {
    /// Takes back what those refer to that have not come for too long.
    fn collect(&mut self, runtime: &Runtime) {
        let (now, patience) = (Instant::now(), runtime.exports().patience());
        let is_here = |oxid: &u64| *oxid == runtime.oxid() || runtime.clients().has(*oxid);
        let absent: HashSet<u64> = runtime.exports().processes().into_iter().filter(|oxid| !is_here(oxid)).collect();
        self.0.retain(|oxid, _| absent.contains(oxid));
        for oxid in absent {
            if now.duration_since(*self.0.entry(oxid).or_insert(now)) >= patience {
                drop(runtime.exports().drop_client(oxid));
                runtime.clients().wake_all();
            }
        }
    }
}

fn work() {
    let (mut looked, mut is_done, mut absent) = (Instant::now(), true, Absent::default());
    loop {
        let pending = PENDING.lock().unwrap_or_else(PoisonError::into_inner);
        let span = if is_done { ROUND } else { RETRY }.min(until_due());
        let waited = SIGNAL.wait_timeout_while(pending, span, |pending| !*pending);
        let (mut pending, outcome) = waited.unwrap_or_else(PoisonError::into_inner);
        *pending = false;
        drop(pending);
        let Ok(runtime) = Runtime::of_process() else {
            return;
        };
        if !outcome.timed_out() {
            std::thread::sleep(BATCH);
        }
        is_done = true;
        let links = runtime.links();
        for link in &links {
            // Where another way leads there, the process goes on, and what it has to be given back is told there.
            let leads_there = |other: &Arc<Link>| other.leads_where(link) && !other.is_dead();
            if link.is_dead() && links.iter().any(leads_there) {
                continue;
            }
            is_done &= link.flush_releases();
            // A client of this process is gone when its own connections say so.
            if link.take_failure() && !runtime.clients().has(link.oxid()) {
                drop(runtime.exports().drop_client(link.oxid()));
            }
        }
        drop(links);
        let (unpinged, patience) = (runtime.exports().collect(), runtime.exports().patience());
        let given_up = runtime.clients().give_up(Instant::now(), patience, |oxid| runtime.end_client(oxid));
        if !unpinged.is_empty() || !given_up.is_empty() {
            drop((unpinged, given_up));
            runtime.clients().wake_all();
        }
        // Somebody may always have something to give back, so a round is not told by that.
        let is_round = looked.elapsed() >= ROUND;
        runtime.close_links(|link| link.is_dead() || is_round && link.is_unused());
        if is_round {
            absent.collect(runtime);
            looked = Instant::now();
        }
    }
}
