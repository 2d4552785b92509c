//! Connection points without their interface's type: the sinks, and the calls of sinks.

use super::idl::INTERFACES;
use crate::client::link::Link;
use crate::client::proxy::look_behind;
use crate::server::exports::query;
use crate::types::agile::Agile;
use crate::types::deadline::{caller_deadline, with_timeout};
use crate::types::error::{Error, Result, code, guard};
use crate::types::registry::{InterfaceInfo, register, register_module};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use windows_core::IUnknown;

/// The time for which a sink's thread waits for further events before it ends.
const LINGER: Duration = Duration::from_secs(1);

/// An event: the call of a sink.
pub type Event<'a> = dyn Fn(&IUnknown) -> Result<()> + 'a;
/// A posted event.
pub type Posted = Arc<dyn Fn(&IUnknown) -> Result<()> + Send + Sync>;

/// A connection point, with the description of its interface.
pub struct Point {
    pub(crate) info: &'static InterfaceInfo,
    limits: Limits,
    sinks: Mutex<Sinks>,
}

#[derive(Default)]
struct Sinks {
    all: Vec<Arc<Sink>>,
    last_cookie: u32,
}

struct Sink {
    cookie: u32,
    /// The sink's pointer to the interface of the connection point.
    pointer: Agile<IUnknown>,
    /// The link to the sink's process, if that is another process.
    link: Option<Arc<Link>>,
    is_connected: AtomicBool,
    /// The number of consecutive calls that the sink did not answer in time.
    unanswered: AtomicU32,
    queue: Mutex<Queue>,
    is_more: Condvar,
}

/// The posted events of a sink.
#[derive(Default)]
struct Queue {
    events: VecDeque<Posted>,
    /// Whether a thread that calls the sink is running.
    has_thread: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a call failed because the sink is gone.
fn is_gone(error: &Error) -> bool {
    [code::RPC_E_DISCONNECTED, code::RPC_S_SERVER_UNAVAILABLE, code::CO_E_OBJNOTCONNECTED].contains(&error.code())
}

/// The outcome of the call of a sink.
enum Told {
    Success,
    Failure,
    /// The sink did not answer in time.
    Late {
        /// Whether the missing answer counts against the sink: true if the sink had the whole time
        /// of its own limit, and false if the deadline of this thread's caller ended the call.
        counts: bool,
    },
}

impl Point {
    /// Makes a connection point without sinks, for the described interface.
    pub fn new(info: &'static InterfaceInfo, limits: Limits) -> Arc<Self> {
        register_module(info);
        // Registers the interfaces of connection points, because clients query them in a process
        // with events.
        register(INTERFACES);
        Arc::new(Self { info, limits, sinks: Mutex::default() })
    }

    pub(crate) fn advise(&self, sink: &IUnknown) -> Result<u32> {
        let cannot = |error: Error| {
            let name = self.info.name;
            Error::new(
                code::CONNECT_E_CANNOTCONNECT,
                format!("the sink cannot be called through interface {name}: {error}"),
            )
        };
        // The sink may be in another process, so the query runs without a lock.
        let pointer = query(sink, self.info)
            .map_err(|error| if error.code() == code::E_NOINTERFACE { cannot(error) } else { error })?;
        let link = look_behind(&pointer).map(|imported| imported.link);
        let pointer = Agile::new(&pointer).map_err(cannot)?;
        // `dead` is dropped after the guard `sinks`, so the dead sinks are released without the
        // lock.
        let dead: Vec<Arc<Sink>>;
        let mut sinks = lock(&self.sinks);
        // Sinks whose processes have ended stay connected until the next event, so they are removed
        // here.
        let is_full = sinks.all.len() >= self.limits.sinks;
        dead = sinks.all.extract_if(.., |sink| is_full && sink.is_dead()).collect();
        if sinks.all.len() >= self.limits.sinks {
            let text = format!("the connection point has {} sinks, and accepts no more", sinks.all.len());
            return Err(Error::new(code::CONNECT_E_ADVISELIMIT, text));
        }
        let cookie = sinks.new_cookie();
        sinks.all.push(Arc::new(Sink {
            cookie,
            pointer,
            link,
            is_connected: AtomicBool::new(true),
            unanswered: AtomicU32::new(0),
            queue: Mutex::default(),
            is_more: Condvar::new(),
        }));
        drop(sinks);
        dead.iter().for_each(|sink| sink.disconnect());
        Ok(cookie)
    }

    pub(crate) fn unadvise(&self, cookie: u32) -> Result<()> {
        let mut sinks = lock(&self.sinks);
        let Some(at) = sinks.all.iter().position(|sink| sink.cookie == cookie) else {
            let text = format!("the connection point has no connection {cookie}");
            return Err(Error::new(code::CONNECT_E_NOCONNECTION, text));
        };
        let sink = sinks.all.remove(at);
        // The release of the pointer may take time, so it happens without the lock.
        drop(sinks);
        sink.disconnect();
        Ok(())
    }

    /// Returns the pointers and cookies of the connected sinks.
    pub(crate) fn connections(&self) -> Vec<(Agile<IUnknown>, u32)> {
        lock(&self.sinks).all.iter().map(|sink| (sink.pointer.clone(), sink.cookie)).collect()
    }

    /// Returns the number of connected sinks.
    pub fn count(&self) -> usize {
        lock(&self.sinks).all.len()
    }

    /// Calls every sink in turn. Returns the number of successes.
    ///
    /// If a process does not answer in time, its other sinks are not called, because each of them
    /// could take as long, and one process can have all sinks of a connection point.
    pub fn fire(&self, event: &Event<'_>) -> usize {
        let sinks = lock(&self.sinks).all.clone();
        // The processes that did not answer in time, and whether the missing answer counts against
        // their sinks.
        let mut late = HashMap::new();
        let mut successes = 0;
        for sink in &sinks {
            let process = sink.link.as_ref().map(Arc::as_ptr);
            match process.and_then(|process| late.get(&process)) {
                Some(true) => self.miss(sink),
                Some(false) => {}
                None => match self.tell(sink, event) {
                    Told::Success => successes += 1,
                    Told::Late { counts } => late.extend(process.map(|process| (process, counts))),
                    Told::Failure => {}
                },
            }
        }
        successes
    }

    /// Queues an event for every sink. Each sink has its own thread, which makes the calls. Returns
    /// the number of sinks that lost an event.
    pub fn post(self: &Arc<Self>, event: &Posted) -> usize {
        let sinks = lock(&self.sinks).all.clone();
        sinks.iter().filter(|sink| self.enqueue(sink, Arc::clone(event))).count()
    }

    /// Calls a sink unless its connection has ended, and ends the connection if the sink is gone.
    fn tell(&self, sink: &Sink, event: &Event<'_>) -> Told {
        if !sink.is_connected.load(Ordering::Acquire) {
            return Told::Failure;
        }
        let start = Instant::now();
        let Err(error) = with_timeout(self.limits.timeout, || event(sink.pointer.get())) else {
            sink.unanswered.store(0, Ordering::Relaxed);
            return Told::Success;
        };
        if error.code() == code::RPC_E_TIMEOUT {
            // If the deadline of this thread's caller has passed, the sink perhaps had less time
            // than its own limit.
            let now = Instant::now();
            let counts = caller_deadline().is_none_or(|end| end > now);
            if counts {
                self.miss(sink);
            }
            // If the call failed before the sink's limit, the method itself returned RPC_E_TIMEOUT.
            // The process has then answered, so its other sinks are called.
            let is_answer = counts && now - start < self.limits.timeout;
            return if is_answer { Told::Failure } else { Told::Late { counts } };
        }
        sink.unanswered.store(0, Ordering::Relaxed);
        if is_gone(&error) {
            self.lose(sink);
        }
        Told::Failure
    }

    /// Counts a call that a sink's process did not answer in time. Ends the connection when the
    /// number of such calls in a row reaches the limit.
    fn miss(&self, sink: &Sink) {
        if sink.unanswered.fetch_add(1, Ordering::Relaxed) + 1 >= self.limits.unanswered {
            self.lose(sink);
        }
    }

    fn lose(&self, sink: &Sink) {
        // Another thread may have disconnected the sink already.
        let _ = self.unadvise(sink.cookie);
    }

    /// Adds an event to a sink's queue. Returns whether an event was lost.
    fn enqueue(self: &Arc<Self>, sink: &Arc<Sink>, event: Posted) -> bool {
        let mut queue = lock(&sink.queue);
        let oldest = if queue.events.len() >= self.limits.queued { queue.events.pop_front() } else { None };
        queue.events.push_back(event);
        let needs_thread = !std::mem::replace(&mut queue.has_thread, true);
        drop(queue);
        if !needs_thread {
            sink.is_more.notify_one();
            return oldest.is_some();
        }
        let (point, called) = (Arc::clone(self), Arc::clone(sink));
        let name = format!("obvia {}", self.info.name);
        if std::thread::Builder::new().name(name).spawn(move || point.tell_all(&called)).is_ok() {
            return oldest.is_some();
        }
        // The system has refused to start a thread, so the queued events are lost.
        let lost = std::mem::take(&mut *lock(&sink.queue));
        // The events are dropped after the lock is released, because their drop can run code of the
        // program.
        drop(lost);
        true
    }

    /// Calls a sink with its queued events, until the queue has been empty for a while.
    fn tell_all(&self, sink: &Sink) {
        while let Some(event) = sink.next() {
            let _ = guard(|| {
                self.tell(sink, &*event);
                code::S_OK
            });
        }
    }
}

impl Sinks {
    /// Returns an unused cookie.
    fn new_cookie(&mut self) -> u32 {
        loop {
            self.last_cookie = self.last_cookie.wrapping_add(1);
            let cookie = self.last_cookie;
            if cookie != 0 && !self.all.iter().any(|sink| sink.cookie == cookie) {
                return cookie;
            }
        }
    }
}

impl Sink {
    /// Whether the sink's process has ended.
    fn is_dead(&self) -> bool {
        self.link.as_ref().is_some_and(|link| link.is_dead())
    }

    fn disconnect(&self) {
        self.is_connected.store(false, Ordering::Release);
        let events = std::mem::take(&mut lock(&self.queue).events);
        // The drop of the events can run code of the program, which must not run under the lock.
        drop(events);
        self.is_more.notify_one();
    }

    /// Waits for the next event and returns it. `None` if no event comes within [`LINGER`], or if
    /// the connection has ended; the sink's thread then ends.
    fn next(&self) -> Option<Posted> {
        let is_idle = |queue: &mut Queue| queue.events.is_empty() && self.is_connected.load(Ordering::Acquire);
        let (mut queue, _) =
            self.is_more.wait_timeout_while(lock(&self.queue), LINGER, is_idle).unwrap_or_else(PoisonError::into_inner);
        let event = queue.events.pop_front();
        queue.has_thread = event.is_some();
        event
    }
}

/// The limits of a connection point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The greatest number of sinks. A further sink is refused with CONNECT_E_ADVISELIMIT. The
    /// default is 1024.
    pub sinks: usize,
    /// The time that a sink may take for one event. The default is 5 seconds.
    pub timeout: Duration,
    /// The number of consecutive events without a timely answer after which a sink is disconnected.
    /// The default is 3.
    pub unanswered: u32,
    /// The greatest number of [posted](super::ConnectionPoint::post) events that wait for a sink.
    /// If there are more, the oldest event is lost. The default is 256.
    pub queued: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { sinks: 1024, timeout: Duration::from_secs(5), unanswered: 3, queued: 256 }
    }
}
