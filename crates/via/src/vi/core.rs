//! What the two queues of a VI share: the connection, the lock, and sleeping.

use super::queues::{Line, Queues};
use super::{PostError, Queue, State, ViAttributes, ViId};
use crate::completion::{CompletionQueue, CqCore};
use crate::descriptor::{Descriptor, Status};
use crate::memory::Tag;
use crate::nic::{NicCore, Reliability};
use crate::spi::{Port, Sleep};
use crate::{Deadline, Error};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::time::Timespec;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A VI, shared by its queues, its completion queues and its NIC's attendant.
pub(crate) struct ViCore {
    pub(crate) id: ViId,
    pub(crate) nic: Arc<NicCore>,
    pub(crate) reliability: Reliability,
    pub(crate) own_max_transfer: u32,
    inner: Mutex<Inner>,
    // Whether somebody made progress since the attendant looked last.
    attended: AtomicBool,
    // Threads that sleep on this VI: they look after it when they are woken.
    sleepers: AtomicU32,
}

struct Inner {
    port: Option<Box<dyn Port>>,
    queues: Queues,
}

impl fmt::Debug for ViCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vi").field("id", &self.id).field("reliability", &self.reliability).finish_non_exhaustive()
    }
}

impl ViCore {
    pub(super) fn new(
        nic: Arc<NicCore>,
        attributes: &ViAttributes,
        tag: Arc<Tag>,
        send: Option<&CompletionQueue>,
        receive: Option<&CompletionQueue>,
    ) -> Result<Arc<Self>, Error> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let can = nic.provider.attributes();
        if !can.reliability.contains(&attributes.reliability) {
            return Err(Error::Unsupported { provider: can.provider, what: "that reliability level" });
        }
        if attributes.max_transfer > can.max_transfer {
            let (length, limit) = (u64::from(attributes.max_transfer), u64::from(can.max_transfer));
            return Err(Error::TooLong { length, limit });
        }
        let own_max_transfer = if attributes.max_transfer == 0 { can.max_transfer } else { attributes.max_transfer };
        let id = ViId(NEXT.fetch_add(1, Ordering::Relaxed));
        let line = |queue: Option<&CompletionQueue>| Line {
            announced_by: queue.map(|queue| Arc::clone(queue.core())),
            ..Line::default()
        };
        let queues = Queues {
            id,
            nic: Arc::clone(&nic),
            tag,
            state: State::Idle,
            max_transfer: own_max_transfer,
            send: line(send),
            receive: line(receive),
            posted: 0,
            completed: 0,
            message: None,
        };
        let core = Arc::new(Self {
            id,
            nic,
            reliability: attributes.reliability,
            own_max_transfer,
            inner: Mutex::new(Inner { port: None, queues }),
            attended: AtomicBool::new(false),
            sleepers: AtomicU32::new(0),
        });
        for queue in core.completion_queues() {
            queue.add(&core);
        }
        Ok(core)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The completion queues that announce completions of this VI, each once.
    fn completion_queues(&self) -> Vec<Arc<CqCore>> {
        let inner = self.lock();
        let mut queues: Vec<_> =
            [&inner.queues.send, &inner.queues.receive].iter().filter_map(|line| line.announced_by.clone()).collect();
        queues.dedup_by(|one, other| Arc::ptr_eq(one, other));
        queues
    }

    pub(super) fn state(&self) -> State {
        self.lock().queues.state
    }

    /// The number of its protection tag.
    pub(crate) fn tag(&self) -> u64 {
        self.lock().queues.tag.number
    }

    pub(super) fn max_transfer(&self) -> u32 {
        self.lock().queues.max_transfer
    }

    pub(super) fn posted(&self, which: Queue) -> usize {
        self.lock().queues.line(which).posted.len()
    }

    pub(super) fn completes_elsewhere(&self, which: Queue) -> bool {
        self.lock().queues.line(which).announced_by.is_some()
    }

    pub(super) fn is_unused(&self) -> bool {
        let inner = self.lock();
        let lines = [&inner.queues.send, &inner.queues.receive];
        inner.queues.state == State::Idle && lines.iter().all(|line| line.posted.is_empty() && line.done.is_empty())
    }

    /// Takes over a connection.
    pub(crate) fn connected(self: &Arc<Self>, port: Box<dyn Port>, max_transfer: u32) {
        let readiness = port.readiness();
        let mut inner = self.lock();
        inner.port = Some(port);
        let queues = &mut inner.queues;
        (queues.state, queues.max_transfer) = (State::Connected, max_transfer);
        (queues.posted, queues.completed, queues.message) = (0, 0, None);
        // Receives that were posted before.
        if let Inner { port: Some(port), queues } = &mut *inner {
            port.receive_posted(queues);
        }
        drop(inner);
        for queue in self.completion_queues() {
            queue.watch(self, readiness.clone());
        }
        if self.nic.provider.needs_attendance() {
            self.nic.attend().add(self);
        }
    }

    pub(super) fn disconnect(&self) {
        let mut inner = self.lock();
        if let Some(mut port) = inner.port.take() {
            port.disconnect();
        }
        inner.queues.flush(Status::Flushed);
        inner.queues.state = State::Idle;
        inner.queues.max_transfer = self.own_max_transfer;
    }

    pub(super) fn post(&self, which: Queue, descriptor: Box<Descriptor>) -> Result<(), PostError> {
        let mut inner = self.lock();
        let inner = &mut *inner;
        if let Err(fault) = inner.queues.check(which, &descriptor) {
            return Err(PostError { descriptor, fault });
        }
        inner.queues.post(which, descriptor);
        if let (State::Connected, Some(port)) = (inner.queues.state, &mut inner.port) {
            match which {
                Queue::Send => port.submit(Instant::now(), &mut inner.queues),
                Queue::Receive => port.receive_posted(&mut inner.queues),
            }
        }
        Ok(())
    }

    pub(super) fn done(&self, which: Queue, now: Instant) -> Option<Box<Descriptor>> {
        let mut inner = self.lock();
        if let Some(done) = inner.queues.line(which).done.pop_front() {
            return Some(done);
        }
        self.attended.store(true, Ordering::Relaxed);
        inner.progress(now);
        inner.queues.line(which).done.pop_front()
    }

    pub(crate) fn progress(&self, now: Instant) {
        self.attended.store(true, Ordering::Relaxed);
        self.lock().progress(now);
    }

    /// The attendant's progress: what to sleep on until it is due again. `None` where somebody else looks after the VI.
    pub(crate) fn attend(&self, now: Instant) -> Option<Sleep> {
        if self.attended.swap(false, Ordering::Relaxed) || self.sleepers.load(Ordering::Relaxed) > 0 {
            return None;
        }
        let mut inner = self.inner.try_lock().ok()?;
        inner.progress(now);
        inner.port.as_mut()?.prepare_sleep(now)
    }

    /// Whether there is a port to look after.
    pub(crate) fn has_port(&self) -> bool {
        self.inner.try_lock().map_or(true, |inner| inner.port.is_some())
    }

    /// Prepares for a sleep of a completion queue's owner. Outer `None`: there is something to do now.
    pub(crate) fn prepare_sleep(&self, now: Instant) -> Option<Option<Sleep>> {
        let mut inner = self.lock();
        let Some(port) = &mut inner.port else { return Some(None) };
        let sleep = port.prepare_sleep(now)?;
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        Some(Some(sleep))
    }

    /// Ends what a successful `prepare_sleep` began.
    pub(crate) fn end_sleep(&self) {
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
        if let Some(port) = &mut self.lock().port {
            port.end_sleep();
        }
    }

    /// Sleeps until something may have completed.
    pub(super) fn sleep(&self, which: Queue, deadline: Deadline) -> Result<(), Error> {
        let mut inner = self.lock();
        let notice = inner.queues.line(which).notice.prepare()?;
        let has_done = !inner.queues.line(which).done.is_empty();
        let sleep = match &mut inner.port {
            Some(port) => port.prepare_sleep(Instant::now()),
            None => Some(Sleep { fd: None, until: None }),
        };
        let has_port = inner.port.is_some();
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        drop(inner);
        if let Some(sleep) = sleep
            && !has_done
        {
            let fds: Vec<&OwnedFd> = sleep.fd.as_deref().into_iter().chain([&*notice]).collect();
            poll_fds(&fds, deadline, sleep.until)?;
        }
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
        let mut inner = self.lock();
        if has_port && let Some(port) = &mut inner.port {
            port.end_sleep();
        }
        inner.queues.line(which).notice.end();
        Ok(())
    }
}

impl Inner {
    fn progress(&mut self, now: Instant) {
        if let Some(port) = &mut self.port {
            port.progress(now, &mut self.queues);
        }
    }
}

/// Sleeps until one of the files is readable, the deadline is over or `until` has come.
pub(crate) fn poll_fds(fds: &[&OwnedFd], deadline: Deadline, until: Option<Instant>) -> Result<(), Error> {
    let left = deadline.remaining();
    let left = until.map_or(left, |until| left.min(until.saturating_duration_since(Instant::now())));
    // A day at most: the callers look again whenever they are woken.
    let left = left.min(Duration::from_secs(24 * 3600));
    let timeout = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
    let mut polled: Vec<_> = fds.iter().map(|fd| PollFd::new(*fd, PollFlags::IN)).collect();
    match poll(&mut polled, Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(errno) => Err(Error::system("waiting for a completion")(errno)),
    }
}
