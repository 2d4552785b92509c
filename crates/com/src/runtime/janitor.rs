//! The janitor: a thread that gives references back in batches, closes links that are unused or
//! whose peer ended, and collects state of clients that are gone.

use super::Runtime;
use crate::client::link::{Link, RELEASE_TIMEOUT};
use crate::types::upkeep;
use obvia_via::Deadline;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time for which the first release of a batch waits, so that further releases join the batch.
const BATCH: Duration = Duration::from_millis(5);
/// The time until the next attempt to give references back to a process that could not be reached.
/// Also the interval of the checks whether the processes of lost clients have ended.
const RETRY: Duration = Duration::from_secs(1);
/// The interval between searches for unused links, and for links whose mark is not known.
const ROUND: Duration = Duration::from_secs(10);
/// The greatest number of processes that the janitor asks for their marks in one round. A process
/// that does not answer delays the janitor by up to a second.
const MARKS_PER_ROUND: usize = 4;
/// The time after which expected processes without references are forgotten. The time is long
/// enough: after a process is registered as expected, a reference for it is counted at once.
const UNUSED: Duration = ROUND;

/// Returns the time until the next references expire for lack of pings, or the next lost client
/// expires.
fn until_due() -> Duration {
    let Ok(runtime) = Runtime::current() else { return Duration::MAX };
    let exports = runtime.exports();
    let due = [exports.due(), runtime.clients().due(exports.patience())].into_iter().flatten().min();
    due.map_or(Duration::MAX, |due| due.saturating_duration_since(Instant::now()))
}

/// Returns the time until the next round. `None` if a round would find no work before the janitor
/// is woken: other processes cannot call this process, and each link has proxies.
fn until_round(runtime: &Runtime) -> Option<Duration> {
    let is_needed = runtime.is_served() || !runtime.links().iter().all(|link| link.has_proxies());
    is_needed.then_some(ROUND)
}

/// Drops the references of processes that have not connected in time, and may have ended before
/// they used the references.
fn drop_unconnected(runtime: &Runtime) {
    let (now, exports, clients) = (Instant::now(), runtime.exports(), runtime.clients());
    let holders = exports.processes();
    drop(clients.expire_expected(&holders, now, exports.patience(), |number| exports.drop_client(number)));
    clients.forget_expected(now, UNUSED, |number| exports.held_by(number) == 0);
}

/// Gives back the references that this process no longer holds, and then, if all of them were sent,
/// the references in calls that this process has refused. Unsent references of refused calls wait
/// for the next link to the client. Returns whether the link has nothing more to send.
fn give_back(runtime: &Runtime, link: &Link) -> bool {
    let limit = Deadline::Within(RELEASE_TIMEOUT).start();
    if !link.flush_releases(limit) {
        return false;
    }
    let place = link.place();
    while let Some((client, to_return)) = runtime.clients().take_references_to_return(link.oxid(), &place) {
        let unsent = link.release(&to_return, limit);
        runtime.clients().add_references_to_return(client, unsent.iter().copied());
        if !unsent.is_empty() {
            return link.is_dead();
        }
    }
    true
}

/// Drops the references of the process at the other end of a dead link if the process has ended and
/// is no client of this process. Such a process never read the calls that contained the references.
/// Returns false if the process is still running and has references, so that the janitor must look
/// again.
///
/// The end of a process that was reached over a network is never proved. Its references expire as
/// those of any process without a connection: see [`drop_unconnected`].
fn has_settled(runtime: &Runtime, link: &Link) -> bool {
    // A client of this process is gone only when its own connections end.
    let number = runtime.number_behind(link);
    let Some(number) = number.filter(|number| !runtime.clients().has(*number)) else { return true };
    match link.has_process_ended() {
        Some(true) => drop(runtime.exports().drop_client(number)),
        Some(false) => return runtime.exports().held_by(number) == 0,
        None => {}
    }
    true
}

/// Asks processes for their marks. Processes beyond [`MARKS_PER_ROUND`] are asked in later rounds.
fn learn_marks(runtime: &Runtime) {
    let links = runtime.links();
    let unmarked = links.iter().filter(|link| !link.is_dead() && link.wants_mark());
    unmarked.take(MARKS_PER_ROUND).for_each(|link| link.learn_mark());
}

/// Does the work of the janitor until the process ends.
pub(crate) fn work() {
    let (mut looked, mut is_done) = (Instant::now(), true);
    loop {
        let round = Runtime::current().map_or(Some(ROUND), until_round);
        let until_round = round.unwrap_or(Duration::MAX);
        let was_woken = upkeep::wait(if is_done { until_round } else { RETRY }.min(until_due()));
        if round.is_none() {
            looked = Instant::now();
        }
        let Ok(runtime) = Runtime::current() else {
            return;
        };
        if was_woken {
            std::thread::sleep(BATCH);
        }
        // The connections of a killed process close a moment before the descriptor of the process
        // reports its end. If the closing connections have woken the janitor, it has waited for
        // `BATCH` since, so that the descriptor now reports the end.
        drop(runtime.exporter().give_up_clients());
        is_done = !runtime.clients().awaits_processes();
        // The links that are dead and are closed below. A link that dies during this loop is closed
        // in the next iteration.
        let mut ended = Vec::new();
        let links = runtime.links();
        for link in &links {
            let is_dead = link.is_dead();
            // If a live link leads to the same process as a dead one, the process lives. References
            // to its objects are then given back over the live link.
            let leads_there = |other: &Arc<Link>| other.leads_where(link) && !other.is_dead();
            if !is_dead || !links.iter().any(leads_there) {
                is_done &= give_back(runtime, link);
                if is_dead && !has_settled(runtime, link) {
                    is_done = false;
                    continue;
                }
            }
            if is_dead {
                ended.push(Arc::downgrade(link));
            }
        }
        // Rounds follow the clock. If a round followed each wait that timed out, a janitor that is
        // woken often would make no rounds.
        let is_round = looked.elapsed() >= ROUND;
        drop(links);
        drop(runtime.exports().collect());
        runtime.close_links(|link| {
            let has_ended = ended.iter().any(|ended| std::ptr::eq(ended.as_ptr(), link));
            has_ended || is_round && link.is_unused() && !link.is_dead()
        });
        if is_round {
            drop_unconnected(runtime);
            learn_marks(runtime);
            looked = Instant::now();
        }
    }
}
