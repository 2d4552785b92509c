//! The attendant: a thread that serves VIs while their owners compute, because acknowledgements and
//! RDMA must not wait for the owners.
//!
//! In each round, the thread spends time only on the VIs that must be served: those that have rung,
//! those whose files are readable, and those that are due. The other VIs of the NIC cost nothing.

use crate::Deadline;
use crate::notice::poll_fds;
use crate::spi::Sleep;
use crate::sync::lock;
use rustix::buffer::spare_capacity;
use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::fd::OwnedFd;
use rustix::time::Timespec;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};
use std::time::{Duration, Instant};

/// The pause after a failed wait, and the interval at which a VI is served if its file cannot be
/// watched.
const TICK: Duration = Duration::from_millis(2);
/// The longest sleep of the thread when it has nothing to do.
const IDLE: Duration = Duration::from_secs(60);
/// The maximum number of file events in one round. The next round takes the remaining events.
const EVENTS: usize = 64;
/// The number that an event of the bell has. An event of a VI's file has the number of the VI, and
/// numbers of VIs begin with 1.
const BELL: u64 = 0;

/// The time at which the attendant next serves a VI.
pub(crate) enum Attention {
    /// When the file is readable, or at the given instant at the latest.
    Sleep(Sleep),
    /// After the given time.
    Later(Duration),
    /// Not before the VI is added again, because it has no port.
    Never,
}

/// A VI, as the attendant sees it.
pub(crate) trait Attended: Send + Sync + fmt::Debug {
    /// Serves the VI, unless another thread does. Returns the time at which the VI is to be served
    /// next.
    fn attend(&self, now: Instant) -> Attention;
}

/// The calls to the attendant's thread, and the bell that wakes the thread.
#[derive(Debug)]
pub(crate) struct Attendant {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    calls: Mutex<Calls>,
    // The bell. The attendant's thread makes it before it takes the first calls.
    bell: OnceLock<OwnedFd>,
    // Whether no thread takes calls, because the NIC is gone, the thread could not be started, or a
    // port has panicked in the thread.
    is_over: AtomicBool,
}

/// The calls that the thread has not taken yet.
///
/// No call is lost. The thread resets the bell before it takes the calls, and unsets `is_rung` when
/// it takes them. So the next call rings the bell, which ends the thread's next wait.
#[derive(Debug, Default)]
struct Calls {
    /// Whether a call was noted since the thread last took the calls. Further calls need no ring.
    is_rung: bool,
    added: Vec<(u64, Weak<dyn Attended>)>,
    rung: Vec<u64>,
    /// Whether the next round must serve all VIs.
    all: bool,
}

impl Attendant {
    /// Starts the thread. The thread ends when the NIC is gone.
    pub(crate) fn start() -> Self {
        let shared =
            Arc::new(Shared { calls: Mutex::default(), bell: OnceLock::new(), is_over: AtomicBool::new(false) });
        let end = EndOfThread(Arc::clone(&shared));
        let thread = std::thread::Builder::new().name("obvia-nic".to_owned()).spawn(move || {
            let mut rota = Rota::new(Arc::clone(&end.0));
            while !rota.shared.is_over.load(Ordering::Acquire) {
                rota.round();
            }
        });
        // If the thread cannot be started, its closure is dropped, and `end` with it, so the thread
        // counts as ended. VIs then make progress only when they are called.
        drop(thread);
        Self { shared }
    }

    /// Adds the VI of this number, or adds it again after it was connected.
    pub(crate) fn add(&self, number: u64, vi: Weak<dyn Attended>) {
        self.shared.call(|calls| calls.added.push((number, vi)));
    }

    /// Makes the thread serve the VI of this number.
    pub(crate) fn ring(&self, number: u64) {
        self.shared.call(|calls| calls.rung.push(number));
    }

    /// Makes the thread serve all its VIs.
    pub(crate) fn ring_for_all(&self) {
        self.shared.call(|calls| calls.all = true);
    }
}

impl Drop for Attendant {
    fn drop(&mut self) {
        // The flag is set before the bell is rung, because the thread resets the bell first and
        // then looks at the flag.
        self.shared.is_over.store(true, Ordering::Release);
        self.shared.ring(lock(&self.shared.calls));
    }
}

/// A value whose drop notes the end of the thread, even if a port has panicked.
struct EndOfThread(Arc<Shared>);

impl Drop for EndOfThread {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Release);
        let left = std::mem::take(&mut *lock(&self.0.calls));
        // The calls are dropped after the lock is released, because this can drop VIs, too.
        drop(left);
    }
}

impl Shared {
    fn call(&self, note: impl FnOnce(&mut Calls)) {
        let mut calls = lock(&self.calls);
        // The flag is read under the lock, so that no call is noted after the thread has dropped
        // the last calls.
        if self.is_over.load(Ordering::Acquire) {
            return;
        }
        note(&mut calls);
        self.ring(calls);
    }

    fn ring(&self, mut calls: MutexGuard<'_, Calls>) {
        let was_rung = std::mem::replace(&mut calls.is_rung, true);
        drop(calls);
        if let Some(bell) = self.bell.get().filter(|_| !was_rung) {
            // The write fails only when the bell is readable already.
            let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
        }
    }
}

/// The attendant's thread: its VIs, and the events that it waits for.
struct Rota {
    shared: Arc<Shared>,
    // The files of the VIs, and the bell. `None` while the system has no files left.
    epoll: Option<OwnedFd>,
    vis: HashMap<u64, Entry>,
    // The times at which VIs are to be served, each with the VI's number. A VI without such a time
    // has no entry.
    due: BTreeSet<(Instant, u64)>,
    // The numbers of the VIs to serve in a round. The vector is empty between two rounds, and is a
    // field only to keep its memory for the next round.
    turn: Vec<u64>,
    // The events of files, kept in a field for the same reason as `turn`.
    ready: Vec<epoll::Event>,
}

#[derive(Debug)]
struct Entry {
    vi: Weak<dyn Attended>,
    due: Option<Instant>,
    // The watched file. The reference keeps the file open, so that its registration stays valid.
    file: Option<Arc<OwnedFd>>,
}

impl Rota {
    fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            epoll: None,
            vis: HashMap::new(),
            due: BTreeSet::new(),
            turn: Vec::new(),
            ready: Vec::with_capacity(EVENTS),
        }
    }

    /// Waits until a VI needs the attendant, and serves each VI that does.
    fn round(&mut self) {
        let has_files = self.epoll.is_some() || self.open().is_some();
        if has_files {
            self.wait();
        } else {
            std::thread::sleep(TICK);
        }
        let all = self.take_calls() || !has_files;
        let now = Instant::now();
        if all {
            self.turn.extend(self.vis.keys());
        } else {
            self.turn.extend(self.due.iter().take_while(|(due, _)| *due <= now).map(|(_, number)| number));
        }
        let mut turn = std::mem::take(&mut self.turn);
        turn.sort_unstable();
        turn.dedup();
        for number in turn.drain(..) {
            self.serve(number, now);
        }
        self.turn = turn;
    }

    /// Makes the files that the thread waits for. All VIs must be served afterwards, because their
    /// files are not watched yet.
    fn open(&mut self) -> Option<()> {
        let bell = match self.shared.bell.get() {
            Some(bell) => bell,
            None => {
                // Calls may have been noted before there was a bell, so the bell is readable at
                // first.
                let made = eventfd(1, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok()?;
                self.shared.bell.get_or_init(|| made)
            }
        };
        let made = epoll::create(epoll::CreateFlags::CLOEXEC).ok()?;
        epoll::add(&made, bell, epoll::EventData::new_u64(BELL), epoll::EventFlags::IN).ok()?;
        self.epoll = Some(made);
        lock(&self.shared.calls).all = true;
        Some(())
    }

    /// Waits until a file is readable, the bell is rung, or a VI is due. Adds the VIs of the
    /// readable files to the turn.
    fn wait(&mut self) {
        let Self { epoll: Some(epoll), due, turn, ready, .. } = self else { return };
        let until = due.first().map_or_else(|| Instant::now() + IDLE, |(due, _)| *due);
        // The limit of `poll_fds` is in nanoseconds. The limit of `epoll_wait` is in milliseconds,
        // which is too coarse for pacing.
        if poll_fds(&[epoll], Deadline::At(until), None).is_err() {
            std::thread::sleep(TICK);
        }
        // The call fails only if a signal interrupts it. The next round then takes the events.
        let _ = epoll::wait(&*epoll, spare_capacity(ready), Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
        for event in ready.drain(..) {
            match event.data.u64() {
                BELL => {
                    let mut count = [0; 8];
                    // The read fails only if the bell was not rung.
                    let _ = self.shared.bell.get().map(|bell| rustix::io::read(bell, &mut count));
                }
                number => turn.push(number),
            }
        }
    }

    /// Takes the calls. Returns whether all VIs must be served.
    fn take_calls(&mut self) -> bool {
        let mut calls = lock(&self.shared.calls);
        calls.is_rung = false;
        self.turn.append(&mut calls.rung);
        let added = std::mem::take(&mut calls.added);
        let all = std::mem::take(&mut calls.all);
        drop(calls);
        for (number, vi) in added {
            self.turn.push(number);
            match self.vis.get_mut(&number) {
                Some(entry) => entry.vi = vi,
                None => drop(self.vis.insert(number, Entry { vi, due: None, file: None })),
            }
        }
        all
    }

    /// Serves a VI. Notes the time at which the VI is to be served next, and watches the VI's file:
    /// if the file becomes readable earlier, the VI is served then.
    fn serve(&mut self, number: u64, now: Instant) {
        let Self { epoll, vis, due, .. } = self;
        let Some(entry) = vis.get_mut(&number) else { return };
        if let Some(passed) = entry.due.take() {
            due.remove(&(passed, number));
        }
        let attention = entry.vi.upgrade().map_or(Attention::Never, |vi| vi.attend(now));
        let (file, mut until) = match attention {
            Attention::Sleep(Sleep { fd, until }) => (fd, until),
            Attention::Later(after) => (None, Some(now + after)),
            Attention::Never => {
                entry.watch(epoll.as_ref(), number, None);
                vis.remove(&number);
                return;
            }
        };
        if !entry.watch(epoll.as_ref(), number, file) {
            let soon = now + TICK;
            until = Some(until.map_or(soon, |until| until.min(soon)));
        }
        if let Some(until) = until {
            entry.due = Some(until);
            due.insert((until, number));
        }
    }
}

impl Entry {
    /// Watches this file from now on, instead of the VI's previous file. Returns `false` if the
    /// system cannot watch the file.
    fn watch(&mut self, epoll: Option<&OwnedFd>, number: u64, file: Option<Arc<OwnedFd>>) -> bool {
        let is_same = match (&self.file, &file) {
            (Some(last), Some(next)) => Arc::ptr_eq(last, next),
            (last, next) => last.is_none() && next.is_none(),
        };
        if is_same {
            return true;
        }
        if let (Some(last), Some(epoll)) = (self.file.take(), epoll) {
            // The call fails only when the file is not registered.
            let _ = epoll::delete(epoll, &*last);
        }
        let Some(file) = file else { return true };
        let Some(epoll) = epoll else { return false };
        let data = epoll::EventData::new_u64(number);
        let is_watched = epoll::add(epoll, &*file, data, epoll::EventFlags::IN).is_ok();
        self.file = Some(file).filter(|_| is_watched);
        is_watched
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ground::until;

    #[derive(Debug)]
    struct Panicking;

    impl Attended for Panicking {
        fn attend(&self, _: Instant) -> Attention {
            panic!("a port fails");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "makes files")]
    fn an_attendant_whose_thread_has_panicked_keeps_no_vis() {
        let attendant = Attendant::start();
        let vi: Arc<dyn Attended> = Arc::new(Panicking);
        attendant.add(1, Arc::downgrade(&vi));
        until("the thread is over", || attendant.shared.is_over.load(Ordering::Acquire));
        attendant.add(2, Arc::downgrade(&vi));
        until("nothing keeps the VI", || Arc::weak_count(&vi) == 0);
    }
}
