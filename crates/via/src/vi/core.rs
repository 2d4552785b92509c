//! What the two queues of a VI share: the connection, the lock, and sleeping.

use super::queues::{Line, Queues};
use super::state::{PostError, PostFault, Queue, State, ViAttributes, ViId};
use crate::attributes::Reliability;
use crate::completion::{CompletionQueue, CqCore, Member};
use crate::descriptor::{Descriptor, Status};
use crate::error::Ended;
use crate::memory::Tag;
use crate::nic::NicCore;
use crate::nic::attendant::{Attended, Attention};
use crate::notice::poll_fds;
use crate::reliable::Guard;
use crate::spi::{Port, Sleep};
use crate::{Deadline, Error};
use rustix::fd::OwnedFd;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
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
    // How often in a row the attendant has found somebody at work.
    busy: AtomicU32,
    // Threads that sleep on this VI: they look after it when they are woken.
    sleepers: AtomicU32,
}

struct Inner {
    port: Option<Box<dyn Port>>,
    queues: Queues,
    // Counts connections, so that a sleep that a connection did not survive ends none of the next one's.
    connection: u64,
    attendance: Attendance,
}

/// How the NIC's attendant stands to a VI.
#[derive(Default)]
struct Attendance {
    /// It does not look at the VI by time: whoever comes to look after the VI calls it.
    dormant: bool,
    /// It prepared the port for a sleep.
    sleeps: bool,
    /// Looks since somebody was last found at work on the VI.
    quiet: u32,
}

/// Looks after which the attendant leaves a VI to those who sleep on it, but for what time demands.
const QUIET: u32 = 8;
/// How soon a VI is looked at again that somebody was found at work on. That is how soon it is noticed that nobody calls any more;
/// each further time that somebody is, it is twice as long, up to the second. A look wakes a thread, and where that happens on
/// the processor of a thread that polls a socket, the kernel may leave what it has just received to a thread of its own,
/// which then waits until the poller's time is up: milliseconds.
const TICK: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(64));
/// How often a VI is looked at whose connection has ended: its file may be readable for ever, and says nothing.
const BROKEN_TICK: Duration = Duration::from_millis(10);

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
            can: can.clone(),
            tag,
            reliability: attributes.reliability,
            state: State::Idle,
            max_transfer: own_max_transfer,
            send: line(send),
            receive: line(receive),
            posted: 0,
            completed: 0,
            message: None,
            looked_at: None,
            reached: None,
        };
        let core = Arc::new(Self {
            id,
            nic,
            reliability: attributes.reliability,
            own_max_transfer,
            inner: Mutex::new(Inner { port: None, queues, connection: 0, attendance: Attendance::default() }),
            attended: AtomicBool::new(false),
            busy: AtomicU32::new(0),
            sleepers: AtomicU32::new(0),
        });
        core.lock().queues.tag.users.fetch_add(1, Ordering::AcqRel);
        let member: Weak<dyn Member> = Arc::<Self>::downgrade(&core);
        for queue in core.completion_queues() {
            queue.add(id, Weak::clone(&member));
        }
        Ok(core)
    }

    /// The VI is gone: it uses nothing any more, though its completion queues or the attendant may still look at it.
    pub(super) fn retire(&self) {
        self.disconnect();
        for queue in self.completion_queues() {
            queue.remove(self.id);
        }
        self.lock().queues.tag.users.fetch_sub(1, Ordering::AcqRel);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The completion queues that announce completions of this VI, each once.
    fn completion_queues(&self) -> Vec<Arc<CqCore>> {
        self.lock().queues.completion_queues()
    }

    pub(crate) fn state(&self) -> State {
        self.lock().queues.state
    }

    /// The number of its protection tag.
    pub(crate) fn tag(&self) -> u64 {
        self.lock().queues.tag.number
    }

    pub(crate) fn max_transfer(&self) -> u32 {
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
        let mut inner = self.lock();
        let queues = inner.queues.completion_queues();
        // Nobody else asks for it, and whoever is asked may have to keep it up.
        let readiness = if queues.is_empty() { None } else { port.readiness() };
        inner.port = Some(port);
        inner.connection += 1;
        inner.attendance = Attendance::default();
        let lines = &mut inner.queues;
        (lines.state, lines.max_transfer) = (State::Connected, max_transfer);
        (lines.posted, lines.completed, lines.message) = (0, 0, None);
        // Receives that were posted before.
        if let Inner { port: Some(port), queues, .. } = &mut *inner {
            port.receive_posted(queues);
        }
        // Before anybody else looks at the port, and may find the connection broken.
        for queue in queues {
            queue.watch(self.id, readiness.clone());
        }
        drop(inner);
        if self.nic.provider.needs_attendance() {
            let vi: Weak<Self> = Arc::downgrade(self);
            self.nic.attend().add(vi);
        }
    }

    /// The address of this end, where the provider knows it.
    pub(crate) fn local(&self) -> Option<String> {
        self.lock().port.as_ref()?.local()
    }

    /// Has nobody but the two ends send packets of the connection from now on.
    pub(crate) fn guard(&self, guard: Guard) -> Result<(), Error> {
        let mut inner = self.lock();
        inner.port.as_mut().ok_or(Error::BadState { what: "the VI is not connected" })?.guard(guard)
    }

    /// Wakes whoever sleeps on a queue.
    pub(crate) fn ring(&self, which: Queue) {
        self.lock().queues.line(which).notice.ring();
    }

    pub(crate) fn disconnect(&self) {
        let mut inner = self.lock();
        for queue in inner.queues.completion_queues() {
            queue.unwatch(self.id);
        }
        if inner.attendance.dormant {
            // It keeps the port's file open while it sleeps.
            self.nic.attend().ring();
        }
        if let Some(mut port) = inner.port.take() {
            port.disconnect();
        }
        inner.connection += 1;
        inner.attendance = Attendance::default();
        inner.queues.flush(Status::Flushed);
        inner.queues.state = State::Idle;
        inner.queues.max_transfer = self.own_max_transfer;
    }

    pub(super) fn post(&self, which: Queue, descriptor: Box<Descriptor>) -> Result<(), PostError> {
        self.post_locked(&mut self.lock(), which, descriptor)
    }

    /// Posts to the send queue what `prepare` makes, of the oldest completed descriptor of that queue where there is one.
    pub(crate) fn post_again(
        &self,
        prepare: impl FnOnce(Option<Box<Descriptor>>) -> Box<Descriptor>,
    ) -> Result<(), PostError> {
        let mut inner = self.lock();
        let descriptor = prepare(inner.queues.send.done.pop_front());
        self.post_locked(&mut inner, Queue::Send, descriptor)
    }

    fn post_locked(&self, inner: &mut Inner, which: Queue, descriptor: Box<Descriptor>) -> Result<(), PostError> {
        if let Err(fault) = inner.queues.check(which, &descriptor) {
            return Err(PostError { descriptor, fault });
        }
        if let Err(descriptor) = inner.queues.post(which, descriptor) {
            return Err(PostError { descriptor, fault: PostFault::Protection });
        }
        if inner.queues.state != State::Connected {
            return Ok(());
        }
        // What is posted may be due for a second look when nobody calls any more.
        self.relieve(inner);
        if let Some(port) = &mut inner.port {
            match which {
                Queue::Send if port.submit_at_once(&mut inner.queues) => {}
                Queue::Send => port.submit(Instant::now(), &mut inner.queues),
                Queue::Receive => port.receive_posted(&mut inner.queues),
            }
        }
        Ok(())
    }

    /// Has `look` look at the next completed receive, if there is one, with the VI locked. The descriptor is posted again by the next
    /// such call: what `look` found is dealt with first.
    pub(crate) fn next_receive<R>(
        &self,
        now: Instant,
        look: impl FnOnce(&Descriptor) -> R,
    ) -> Result<Option<R>, PostFault> {
        let mut inner = self.lock();
        if let Some(used) = inner.queues.looked_at.take() {
            self.post_locked(&mut inner, Queue::Receive, used).map_err(|refused| refused.fault)?;
        }
        if inner.queues.receive.done.is_empty() {
            self.relieve(&mut inner);
            inner.progress_to_answer(now);
        }
        let queues = &mut inner.queues;
        queues.looked_at = queues.receive.done.pop_front();
        Ok(queues.looked_at.as_deref().map(look))
    }

    /// The oldest completed descriptor of a queue. An error: there is none, and there will be none, since the connection is over.
    pub(super) fn done(&self, which: Queue, now: Instant) -> Result<Option<Box<Descriptor>>, Ended> {
        let mut inner = self.lock();
        if let Some(done) = inner.queues.line(which).done.pop_front() {
            return Ok(Some(done));
        }
        self.relieve(&mut inner);
        inner.progress(now);
        match (inner.queues.line(which).done.pop_front(), inner.queues.state) {
            (None, State::Broken(why)) => Err(why),
            (done, _) => Ok(done),
        }
    }

    /// Who is at the other end, as far as there is one.
    pub(crate) fn peer(&self) -> String {
        self.lock().port.as_ref().map_or_else(|| "nobody".to_owned(), |port| port.peer())
    }

    /// Looks whether anything came, and does what time demands.
    pub(crate) fn look_after(&self, now: Instant) {
        let mut inner = self.lock();
        self.relieve(&mut inner);
        inner.progress(now);
    }

    /// Somebody looks after the VI. The attendant, if it sleeps until something comes, has to look by time again, whether that goes on.
    fn relieve(&self, inner: &mut Inner) {
        self.attended.store(true, Ordering::Relaxed);
        if inner.attendance.dormant {
            inner.end_attendants_sleep();
            self.nic.attend().ring();
        }
    }

    /// Looks after the VI, if nobody else does: what to sleep on until it is due again.
    fn attend_idle(&self, inner: &mut Inner, now: Instant) -> Option<Sleep> {
        inner.end_attendants_sleep();
        if self.attended.swap(false, Ordering::Relaxed) {
            inner.attendance.quiet = 0;
            return None;
        }
        self.busy.store(0, Ordering::Relaxed);
        inner.progress(now);
        let is_watched = self.sleepers.load(Ordering::Relaxed) > 0;
        if is_watched && inner.attendance.quiet < QUIET {
            inner.attendance.quiet += 1;
            return None;
        }
        let mut sleep = inner.port.as_mut()?.prepare_sleep(now)?;
        inner.attendance.dormant = true;
        inner.attendance.sleeps = true;
        if is_watched {
            // They look after what comes; what time demands they know as of when they went to sleep.
            sleep.fd = None;
        }
        if inner.queues.state != State::Connected {
            let soon = now + BROKEN_TICK;
            sleep = Sleep { fd: None, until: Some(sleep.until.map_or(soon, |until| until.min(soon))) };
        }
        Some(sleep)
    }

    /// Whether the attendant sleeps, and looks at the VI by time no more.
    #[cfg(test)]
    pub(super) fn is_left_alone(&self) -> bool {
        self.lock().attendance.dormant
    }

    /// One who slept is awake. The connection's number, if its port was prepared.
    fn wake(&self, connection: Option<u64>) -> MutexGuard<'_, Inner> {
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
        let mut inner = self.lock();
        if let Some(connection) = connection {
            inner.end_sleep(connection);
        }
        // The attendant may have left the VI to this thread, which need not look after it: what it waited for can be there already.
        self.relieve(&mut inner);
        inner
    }

    /// Sleeps until something may have completed.
    pub(crate) fn sleep(&self, which: Queue, deadline: Deadline) -> Result<(), Error> {
        let mut inner = self.lock();
        let notice = inner.queues.line(which).notice.prepare()?;
        let is_over = !inner.queues.line(which).done.is_empty() || matches!(inner.queues.state, State::Broken(_));
        let sleep = match &mut inner.port {
            Some(port) => port.prepare_sleep(Instant::now()),
            None => Some(Sleep { fd: None, until: None }),
        };
        // Nothing was prepared where there is something to do.
        let connection = sleep.as_ref().filter(|_| inner.port.is_some()).map(|_| inner.connection);
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        drop(inner);
        let outcome = match sleep {
            Some(sleep) if !is_over => {
                let fds: Vec<&OwnedFd> = sleep.fd.as_deref().into_iter().chain([&*notice]).collect();
                poll_fds(&fds, deadline, sleep.until)
            }
            _ => Ok(()),
        };
        self.wake(connection).queues.line(which).notice.end();
        outcome
    }
}

impl Attended for ViCore {
    fn has_port(&self) -> bool {
        self.inner.try_lock().map_or(true, |inner| inner.port.is_some())
    }

    fn attend(&self, now: Instant) -> Attention {
        let (soon, most) = TICK;
        let looked_after = self.inner.try_lock().ok().and_then(|mut inner| self.attend_idle(&mut inner, now));
        match looked_after {
            Some(sleep) => Attention::Sleep(sleep),
            None => {
                let busy = self.busy.fetch_add(1, Ordering::Relaxed).min(16);
                Attention::Later(soon.saturating_mul(1 << busy).min(most))
            }
        }
    }
}

impl Member for ViCore {
    fn progress(&self, now: Instant) {
        self.look_after(now);
    }

    fn prepare_sleep(&self, now: Instant) -> Option<Option<(Sleep, u64)>> {
        let mut inner = self.lock();
        if inner.queues.state != State::Connected {
            return Some(None);
        }
        let Some(port) = &mut inner.port else { return Some(None) };
        let sleep = port.prepare_sleep(now)?;
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        Some(Some((sleep, inner.connection)))
    }

    fn end_sleep(&self, connection: u64) {
        drop(self.wake(Some(connection)));
    }
}

impl Inner {
    fn progress(&mut self, now: Instant) {
        if let Some(port) = &mut self.port {
            port.progress(now, &mut self.queues);
        }
    }

    fn progress_to_answer(&mut self, now: Instant) {
        if let Some(port) = &mut self.port {
            port.progress_to_answer(now, &mut self.queues);
        }
    }

    fn end_sleep(&mut self, connection: u64) {
        if let Some(port) = self.port.as_mut().filter(|_| self.connection == connection) {
            port.end_sleep();
        }
    }

    fn end_attendants_sleep(&mut self) {
        self.attendance.dormant = false;
        if std::mem::take(&mut self.attendance.sleeps)
            && let Some(port) = &mut self.port
        {
            port.end_sleep();
        }
    }
}
