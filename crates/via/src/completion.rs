//! Completion queues: one place to learn of the completions of many work queues.
//!
//! VI Architecture 1.0, "Completion Queues". An entry says which queue of which VI completed a descriptor; the descriptor is then taken
//! from that queue. Entries of one work queue come in its order; the VIs are served in turn.

use crate::memory::InUse;
use crate::notice::{Notice, poll_fds};
use crate::spi::Sleep;
use crate::vi::state::{Queue, ViId};
use crate::wait::SpinBudget;
use crate::{Deadline, Error, Waiting};
use rustix::buffer::spare_capacity;
use rustix::event::epoll;
use rustix::fd::OwnedFd;
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// A descriptor of this queue completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Completion {
    /// The VI.
    pub vi: ViId,
    /// Which of its queues.
    pub queue: Queue,
}

/// A completion queue. It belongs to one thread; VIs may be made for it by any.
pub struct CompletionQueue {
    core: Arc<CqCore>,
    // The number of its NIC.
    nic: u64,
    budget: SpinBudget,
    rounded: Instant,
    // Empty between two calls; kept for their room.
    due: Vec<Arc<dyn Member>>,
    ready: Vec<epoll::Event>,
}

/// A VI, as the completion queues of its work queues know it.
pub(crate) trait Member: Send + Sync + fmt::Debug {
    /// Looks whether anything came, and does what time demands.
    fn progress(&self, now: Instant);

    /// Prepares for a sleep of a completion queue's owner. Outer `None`: there is something to do now.
    /// The number is for [`Self::end_sleep`].
    fn prepare_sleep(&self, now: Instant) -> Option<Option<(Sleep, u64)>>;

    /// Ends what a successful `prepare_sleep` began.
    fn end_sleep(&self, connection: u64);
}

/// Time is of little account to VIs that are busy, so all of them get their turn for its sake only so often.
const ROUND: Duration = Duration::from_millis(1);
/// Files that are looked at in one go.
const EVENTS: usize = 64;

#[derive(Debug)]
pub(crate) struct CqCore {
    capacity: usize,
    entries: Mutex<Entries>,
    members: Mutex<Members>,
    // VIs that have it. References are no measure: the attendant keeps some for a while.
    users: AtomicUsize,
}

#[derive(Debug, Default)]
struct Entries {
    entries: VecDeque<Completion>,
    missed: u64,
    notice: Notice,
}

#[derive(Debug, Default)]
struct Members {
    vis: Vec<Entry>,
    epoll: Option<Arc<OwnedFd>>,
}

#[derive(Debug)]
struct Entry {
    id: ViId,
    vi: Weak<dyn Member>,
    // Kept so that the file stays what it was registered as; none where only calling tells whether something came.
    readiness: Option<Arc<OwnedFd>>,
}

impl CqCore {
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn members(&self) -> MutexGuard<'_, Members> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A descriptor completed.
    pub(crate) fn enter(&self, vi: ViId, queue: Queue) {
        let mut entries = self.entries();
        if entries.entries.len() < self.capacity {
            entries.entries.push_back(Completion { vi, queue });
        } else {
            entries.missed += 1;
        }
        entries.notice.ring();
    }

    pub(crate) fn add(&self, id: ViId, vi: Weak<dyn Member>) {
        self.users.fetch_add(1, Ordering::AcqRel);
        let mut members = self.members();
        members.vis.push(Entry { id, vi, readiness: None });
    }

    /// A VI was connected: its messages announce themselves by this file, if it has one.
    pub(crate) fn watch(&self, vi: ViId, readiness: Option<Arc<OwnedFd>>) {
        let mut members = self.members();
        let watched = readiness.filter(|fd| {
            let epoll = match &members.epoll {
                Some(epoll) => Arc::clone(epoll),
                None => {
                    let Ok(fresh) = epoll::create(epoll::CreateFlags::CLOEXEC) else { return false };
                    Arc::clone(members.epoll.insert(Arc::new(fresh)))
                }
            };
            epoll::add(&*epoll, &**fd, epoll::EventData::new_u64(vi.0), epoll::EventFlags::IN).is_ok()
        });
        if let Some(member) = members.vis.iter_mut().find(|member| member.id == vi) {
            member.readiness = watched;
        }
        drop(members);
        // An owner that sleeps does so on what it saw when it lay down.
        self.entries().notice.ring();
    }

    /// A VI's connection is over: nothing is to be learned from its file any more, and it is not kept open.
    pub(crate) fn unwatch(&self, vi: ViId) {
        let mut members = self.members();
        let Members { vis, epoll } = &mut *members;
        let file = vis.iter_mut().find(|member| member.id == vi).and_then(|member| member.readiness.take());
        if let (Some(file), Some(epoll)) = (file, epoll) {
            // Fails only when it is not there.
            let _ = epoll::delete(&**epoll, &*file);
        }
    }

    /// A VI is gone, and what it completed that nobody asked for.
    pub(crate) fn remove(&self, vi: ViId) {
        self.unwatch(vi);
        self.members().vis.retain(|member| member.id != vi);
        self.entries().entries.retain(|entry| entry.vi != vi);
        self.users.fetch_sub(1, Ordering::AcqRel);
    }
}

impl fmt::Debug for CompletionQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompletionQueue").field("core", &self.core).finish_non_exhaustive()
    }
}

impl CompletionQueue {
    pub(crate) fn new(nic: u64, capacity: usize) -> Self {
        let core =
            CqCore { capacity, entries: Mutex::default(), members: Mutex::default(), users: AtomicUsize::new(0) };
        let budget = SpinBudget::new(Waiting::Adaptive);
        let (due, ready) = (Vec::new(), Vec::with_capacity(EVENTS));
        Self { core: Arc::new(core), nic, budget, rounded: Instant::now(), due, ready }
    }

    /// Sets how its owner waits; adaptively if nothing is said.
    #[must_use]
    pub fn with_waiting(mut self, waiting: Waiting) -> Self {
        self.budget = SpinBudget::new(waiting);
        self
    }

    pub(crate) fn core(&self) -> &Arc<CqCore> {
        &self.core
    }

    /// The number of its NIC.
    pub(crate) fn nic(&self) -> u64 {
        self.nic
    }

    /// The oldest entry, if there is one. Never blocks.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`], once after completions that found the queue full: they are only in the queues of their VIs.
    pub fn done(&mut self) -> Result<Option<Completion>, Error> {
        if let Some(entry) = self.pop()? {
            return Ok(Some(entry));
        }
        self.progress(Instant::now());
        self.pop()
    }

    fn pop(&self) -> Result<Option<Completion>, Error> {
        let mut entries = self.core.entries();
        if let Some(entry) = entries.entries.pop_front() {
            return Ok(Some(entry));
        }
        match std::mem::take(&mut entries.missed) {
            0 => Ok(None),
            missed => Err(Error::Overflow { missed }),
        }
    }

    /// Looks after the VIs that something came for; after all of them when their time has come.
    fn progress(&mut self, now: Instant) {
        let all = now.duration_since(self.rounded) >= ROUND;
        let Self { core, due, ready, .. } = self;
        {
            let members = core.members();
            if let Some(epoll) = members.epoll.as_ref().filter(|_| !all) {
                let at_once = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
                // An error is a signal, and the next turn looks again.
                let _ = epoll::wait(&**epoll, spare_capacity(ready), Some(&at_once));
            }
            for member in &members.vis {
                let called = ready.iter().any(|event| event.data.u64() == member.id.0);
                if (all || called || member.readiness.is_none())
                    && let Some(vi) = member.vi.upgrade()
                {
                    due.push(vi);
                }
            }
        }
        ready.clear();
        for vi in due.drain(..) {
            vi.progress(now);
        }
        if all {
            self.rounded = now;
        }
    }

    /// Waits for the next entry.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`], or as [`Self::done`].
    pub fn wait(&mut self, deadline: Deadline) -> Result<Completion, Error> {
        let deadline = deadline.start();
        let mut polls = self.budget.begin();
        loop {
            if let Some(entry) = self.done()? {
                self.budget.came(polls);
                return Ok(entry);
            }
            if deadline.is_over() {
                return Err(Error::TimedOut);
            }
            if !polls.go_on() {
                let began = Instant::now();
                self.sleep(began, deadline)?;
                self.budget.slept(began.elapsed());
            }
        }
    }

    fn sleep(&mut self, now: Instant, deadline: Deadline) -> Result<(), Error> {
        let (vis, epoll): (Vec<_>, _) = {
            let members = self.core.members();
            let vis = members.vis.iter().filter_map(|member| Some((member.vi.upgrade()?, member.readiness.is_some())));
            (vis.collect(), members.epoll.clone())
        };
        let notice = self.core.entries().notice.prepare()?;
        let mut asleep = Vec::with_capacity(vis.len());
        let (mut files, mut until, mut quiet) = (vec![notice], None::<Instant>, true);
        files.extend(epoll);
        for (vi, is_watched) in &vis {
            match vi.prepare_sleep(now) {
                Some(Some((sleep, connection))) => {
                    asleep.push((vi, connection));
                    files.extend(sleep.fd.filter(|_| !is_watched));
                    until = [until, sleep.until].into_iter().flatten().min();
                }
                Some(None) => {}
                None => {
                    quiet = false;
                    break;
                }
            }
        }
        let is_empty = {
            let entries = self.core.entries();
            entries.entries.is_empty() && entries.missed == 0
        };
        let outcome = if quiet && is_empty {
            let files: Vec<&OwnedFd> = files.iter().map(|file| &**file).collect();
            poll_fds(&files, deadline, until)
        } else {
            Ok(())
        };
        for (vi, connection) in asleep {
            vi.end_sleep(connection);
        }
        self.core.entries().notice.end();
        // Whoever was due is found by time as well as by file.
        self.rounded = now.checked_sub(ROUND).unwrap_or(now);
        outcome
    }

    /// Destroys the queue.
    ///
    /// # Errors
    ///
    /// The queue itself, unchanged, while a VI has it.
    pub fn destroy(self) -> Result<(), InUse<Self>> {
        if self.core.users.load(Ordering::Acquire) == 0 { Ok(()) } else { Err(InUse(self)) }
    }
}
