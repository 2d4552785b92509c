//! Completion queues: one place to learn of the completions of many work queues.
//!
//! VI Architecture 1.0, "Completion Queues". An entry names the VI and the work queue that
//! completed a descriptor. The owner then takes the descriptor from that work queue. The entries of
//! one work queue are in the order of its completions; the VIs are served in turn.

use crate::memory::InUse;
use crate::notice::{Notice, poll_fds};
use crate::spi::Sleep;
use crate::sync::lock;
use crate::vi::state::{Queue, ViId};
use crate::wait::SpinBudget;
use crate::{Deadline, Error, Waiting};
use rustix::buffer::spare_capacity;
use rustix::event::epoll;
use rustix::fd::OwnedFd;
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

/// An entry of a completion queue: the notice that a work queue completed a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Completion {
    /// The VI.
    pub vi: ViId,
    /// The VI's work queue.
    pub queue: Queue,
}

/// A completion queue. One thread owns the queue. Any thread may make VIs that use the queue.
pub struct CompletionQueue {
    core: Arc<CqCore>,
    // The number of the queue's NIC.
    nic: u64,
    budget: SpinBudget,
    rounded: Instant,
    // The VIs that a call of `progress` serves. The vector is empty between two calls, and is a
    // field only to keep its memory for the next call.
    due: Vec<Arc<dyn Member>>,
    // The events of VIs' files, kept in a field for the same reason as `due`.
    ready: Vec<epoll::Event>,
}

/// A VI, as its completion queues see it.
pub(crate) trait Member: Send + Sync + fmt::Debug {
    /// Takes the messages that have arrived at the VI, and does the work of timers that have
    /// expired.
    fn progress(&self, now: Instant);

    /// Prepares a sleep of a completion queue's owner. The outer `None` says that the VI has work
    /// now; the inner `None` says that the VI has no connection. The number identifies the
    /// connection, for [`Self::end_sleep`].
    fn prepare_sleep(&self, now: Instant) -> Option<Option<(Sleep, u64)>>;

    /// Ends a sleep that a successful `prepare_sleep` began.
    fn end_sleep(&self, connection: u64);
}

/// The interval at which all VIs are served, so that their timers run. The interval can be long,
/// because busy VIs seldom depend on timers.
const ROUND: Duration = Duration::from_millis(1);
/// The maximum number of file events taken by one `epoll_wait`.
const EVENTS: usize = 64;

#[derive(Debug)]
pub(crate) struct CqCore {
    capacity: usize,
    entries: Mutex<Entries>,
    members: Mutex<Members>,
    // The number of VIs that use the completion queue. The reference count cannot replace this
    // number, because the attendant keeps references for a while.
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
    // The VI's readiness file. The reference keeps the file descriptor open, so that its epoll
    // registration stays valid. `None` where only a call of the port shows whether a message
    // arrived.
    readiness: Option<Arc<OwnedFd>>,
}

impl CqCore {
    fn entries(&self) -> MutexGuard<'_, Entries> {
        lock(&self.entries)
    }

    fn members(&self) -> MutexGuard<'_, Members> {
        lock(&self.members)
    }

    /// Enters the completion of a descriptor.
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

    /// Watches a newly connected VI by its readiness file, if it has one.
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
        // A sleeping owner polls only the files that the queue had when the sleep began. So the
        // owner is woken, and then polls this file, too.
        self.entries().notice.ring();
    }

    /// Stops watching the file of a VI whose connection is over, and drops the reference to the
    /// file.
    pub(crate) fn unwatch(&self, vi: ViId) {
        let mut members = self.members();
        let Members { vis, epoll } = &mut *members;
        let file = vis.iter_mut().find(|member| member.id == vi).and_then(|member| member.readiness.take());
        if let (Some(file), Some(epoll)) = (file, epoll) {
            // The call fails only when the file is not registered.
            let _ = epoll::delete(&**epoll, &*file);
        }
    }

    /// Removes a destroyed VI, and its entries that the owner has not taken.
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

    /// Sets how the owner waits. The default is adaptive.
    #[must_use]
    pub fn with_waiting(mut self, waiting: Waiting) -> Self {
        self.budget = SpinBudget::new(waiting);
        self
    }

    pub(crate) fn core(&self) -> &Arc<CqCore> {
        &self.core
    }

    /// Returns the number of the queue's NIC.
    pub(crate) fn nic(&self) -> u64 {
        self.nic
    }

    /// Returns the oldest entry, if there is one. Never blocks.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`], once, if descriptors completed while the queue was full. Their
    /// completions are only in the queues of their VIs.
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

    /// Serves the VIs whose files are readable, and the VIs without a file. Once every [`ROUND`],
    /// serves all VIs.
    fn progress(&mut self, now: Instant) {
        let all = now.duration_since(self.rounded) >= ROUND;
        let Self { core, due, ready, .. } = self;
        {
            let members = core.members();
            if let Some(epoll) = members.epoll.as_ref().filter(|_| !all) {
                let at_once = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
                // The call fails only if a signal interrupts it. The next call of this function
                // then reads the events.
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
    /// [`Error::TimedOut`] at the deadline; otherwise as [`Self::done`].
    pub fn wait(&mut self, deadline: Deadline) -> Result<Completion, Error> {
        let deadline = deadline.start();
        let mut polls = self.budget.begin();
        loop {
            if let Some(entry) = self.done()? {
                self.budget.succeeded(polls);
                return Ok(entry);
            }
            if deadline.is_over() {
                return Err(Error::TimedOut);
            }
            if !polls.go_on(Instant::now) {
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
        // A VI's timer or its file may have ended the sleep, so the next round serves all VIs.
        self.rounded = now.checked_sub(ROUND).unwrap_or(now);
        outcome
    }

    /// Destroys the queue.
    ///
    /// # Errors
    ///
    /// The queue itself, unchanged, while a VI uses it.
    pub fn destroy(self) -> Result<(), InUse<Self>> {
        if self.core.users.load(Ordering::Acquire) == 0 { Ok(()) } else { Err(InUse(self)) }
    }
}
