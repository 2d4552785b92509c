//! The state that the two queues of a VI share: the connection, the lock, and the attendance.

mod sleeping;

use super::queues::{Line, Queues};
use super::state::{PostError, PostFault, Queue, State, ViAttributes, ViId};
use crate::Error;
use crate::attributes::Reliability;
use crate::completion::{CompletionQueue, CqCore, Member};
use crate::descriptor::{Descriptor, Status};
use crate::error::Ended;
use crate::memory::Tag;
use crate::nic::NicCore;
use crate::nic::attendant::{Attended, Attention};
use crate::reliable::Guard;
use crate::spi::{Port, Sleep};
use crate::sync::lock;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

/// A VI, shared by its queues, its completion queues and its NIC's attendant.
pub(crate) struct ViCore {
    pub(crate) id: ViId,
    pub(crate) nic: Arc<NicCore>,
    pub(crate) reliability: Reliability,
    pub(crate) own_max_transfer: u32,
    inner: Mutex<Inner>,
    // Whether a thread other than the attendant has served the VI since the attendant last looked
    // at the VI.
    attended: AtomicBool,
    // The number of looks in a row at which the attendant found another thread at work on the VI.
    busy: AtomicU32,
    // The number of threads that sleep on this VI, and serve it when they are woken.
    sleepers: AtomicU32,
}

struct Inner {
    port: Option<Box<dyn Port>>,
    queues: Queues,
    // The number of times that the VI was connected or disconnected. Each connection has a port of
    // its own. If the number is the same when a sleep ends, the port is still the one that was
    // prepared for the sleep.
    connection: u64,
    attendance: Attendance,
}

/// The attendant's state for one VI.
#[derive(Default)]
struct Attendance {
    /// Whether the attendant waits for the VI's file or timers instead of looking at the VI at
    /// intervals. The next thread that serves the VI then wakes the attendant.
    dormant: bool,
    /// Whether the attendant has prepared the port for a sleep that has not ended.
    sleeps: bool,
    /// The number of looks since the attendant last found another thread at work on the VI.
    quiet: u32,
    /// The time at which a thread that sleeps on the VI will wake up and serve the VI. `Some(None)`
    /// if only an event will wake that thread. `None` if no thread is known to sleep on the VI.
    covered: Option<Option<Instant>>,
}

/// The number of looks in a row that find no other thread at work on a VI, before the attendant
/// leaves the VI to the threads that sleep on it. The attendant then serves only the VI's timers.
const QUIET: u32 = 8;
/// The first and the longest interval between the attendant's looks at a VI on which it finds other
/// threads at work.
///
/// The first interval limits how late the attendant notices that no thread serves the VI any more.
/// At each further look that finds a thread at work, the interval doubles, up to the longest,
/// because each look costs a wake-up. If the attendant wakes on the processor of a thread that
/// polls a socket, the kernel may defer the processing of received packets to a kernel thread. The
/// kernel thread waits for some milliseconds, until the polling thread's time slice ends.
const TICK: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(64));
/// The interval between looks at a VI whose connection has ended. The VI's file is not used then,
/// because it may stay readable for ever.
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
            return Err(Error::Unsupported { provider: can.provider, what: "the VI's reliability level" });
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

    /// Releases the resources of a destroyed VI. Its completion queues and the attendant may still
    /// look at the VI.
    pub(super) fn retire(&self) {
        self.disconnect();
        for queue in self.completion_queues() {
            queue.remove(self.id);
        }
        self.lock().queues.tag.users.fetch_sub(1, Ordering::AcqRel);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }

    /// Returns the completion queues that announce completions of this VI, without duplicates.
    fn completion_queues(&self) -> Vec<Arc<CqCore>> {
        self.lock().queues.completion_queues()
    }

    pub(crate) fn state(&self) -> State {
        self.lock().queues.state
    }

    /// Returns the number of the VI's protection tag.
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

    /// Connects the VI. `port` is the VI's end of the new connection, and `max_transfer` is the
    /// length on which both sides have agreed.
    pub(crate) fn connected(self: &Arc<Self>, port: Box<dyn Port>, max_transfer: u32) {
        let mut inner = self.lock();
        let queues = inner.queues.completion_queues();
        // The readiness file is only requested for completion queues, because the port may have to
        // do extra work for it.
        let readiness = if queues.is_empty() { None } else { port.readiness() };
        inner.port = Some(port);
        inner.connection += 1;
        inner.attendance = Attendance::default();
        let lines = &mut inner.queues;
        (lines.state, lines.max_transfer) = (State::Connected, max_transfer);
        (lines.posted, lines.completed, lines.message) = (0, 0, None);
        // Receives may have been posted before the VI was connected.
        if let Inner { port: Some(port), queues, .. } = &mut *inner {
            port.receive_posted(queues);
        }
        // The completion queues begin to watch the connection while the lock is held. As soon as
        // the lock is released, another thread may find the connection broken and end the watch.
        for queue in queues {
            queue.watch(self.id, readiness.clone());
        }
        drop(inner);
        if self.nic.provider.needs_attendance() {
            let vi: Weak<Self> = Arc::downgrade(self);
            self.nic.attend().add(self.id.0, vi);
        }
    }

    /// Returns the address of this end, where the provider knows it.
    pub(crate) fn local(&self) -> Option<String> {
        self.lock().port.as_ref()?.local()
    }

    /// Authenticates the connection's packets with `guard` from now on.
    pub(crate) fn guard(&self, guard: Guard) -> Result<(), Error> {
        let mut inner = self.lock();
        inner.port.as_mut().ok_or(Error::BadState { what: "the VI is not connected" })?.guard(guard)
    }

    /// Wakes the threads that sleep on a queue.
    pub(crate) fn ring(&self, which: Queue) {
        self.lock().queues.line(which).notice.ring();
    }

    pub(crate) fn disconnect(&self) {
        let mut inner = self.lock();
        for queue in inner.queues.completion_queues() {
            queue.unwatch(self.id);
        }
        if inner.attendance.dormant {
            // An attendant that sleeps keeps the port's file open. So the attendant is woken, to
            // close the file.
            self.nic.attend().ring(self.id.0);
        }
        if let Some(mut port) = inner.port.take() {
            port.disconnect();
            if port.take_concern() {
                self.nic.look_at_all();
            }
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

    /// Calls `prepare`, and posts the descriptor that it returns to the send queue. `prepare` gets
    /// the oldest completed descriptor of that queue, if there is one.
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
        // The attendant is woken, because the descriptor may need further work when no thread calls
        // the VI any more.
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

    /// Passes the next completed receive to `look`, if there is one, with the VI locked. The next
    /// call posts the descriptor again, so the caller has to deal with `look`'s result first.
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

    /// Returns the oldest completed descriptor of a queue, if there is one. If the connection is
    /// over and the queue has no more completed descriptors, returns the reason as an error.
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

    /// Returns the peer's name, or "nobody" if the VI has no port.
    pub(crate) fn peer(&self) -> String {
        self.lock().port.as_ref().map_or_else(|| "nobody".to_owned(), |port| port.peer())
    }

    /// Takes the messages that have arrived for the VI, and does the work of timers that have
    /// expired.
    pub(crate) fn look_after(&self, now: Instant) {
        let mut inner = self.lock();
        self.relieve(&mut inner);
        inner.progress(now);
    }

    /// Notes that a thread serves the VI. If the attendant sleeps on the VI's file or timers, wakes
    /// it. The attendant then looks at intervals again, to see whether threads still serve the VI.
    fn relieve(&self, inner: &mut Inner) {
        self.attended.store(true, Ordering::Relaxed);
        if inner.attendance.dormant {
            inner.end_attendants_sleep();
            self.nic.attend().ring(self.id.0);
        }
    }

    /// Serves a VI that no other thread serves. Returns the file and the time that end the
    /// attendant's sleep. Returns `None` if the attendant has to look at the VI at intervals.
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
            // The sleeping threads take the messages that arrive, so the attendant does not sleep
            // on the file. The attendant serves only those timers of the port that expire before a
            // sleeping thread wakes.
            sleep.fd = None;
            if inner.attendance.covered.is_some_and(|known| sleeping::is_covered(known, sleep.until)) {
                sleep.until = None;
            }
        }
        if inner.queues.state != State::Connected {
            let soon = now + BROKEN_TICK;
            sleep = Sleep { fd: None, until: Some(sleep.until.map_or(soon, |until| until.min(soon))) };
        }
        Some(sleep)
    }

    /// Returns the number of system calls that have rung the bell of the receive queue.
    #[cfg(test)]
    pub(super) fn rings(&self) -> u32 {
        self.lock().queues.receive.notice.writes()
    }

    /// Whether the attendant sleeps and does not look at the VI at intervals.
    #[cfg(test)]
    pub(super) fn is_left_alone(&self) -> bool {
        self.lock().attendance.dormant
    }
}

impl Attended for ViCore {
    fn attend(&self, now: Instant) -> Attention {
        if let Ok(mut inner) = self.inner.try_lock() {
            if inner.port.is_none() {
                return Attention::Never;
            }
            if let Some(sleep) = self.attend_idle(&mut inner, now) {
                return Attention::Sleep(sleep);
            }
        }
        let (soon, most) = TICK;
        let busy = self.busy.fetch_add(1, Ordering::Relaxed).min(16);
        Attention::Later(soon.saturating_mul(1 << busy).min(most))
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
        inner.attendance.covered = Some(sleep.until);
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
