//! What a connection point is whatever its interface: sinks, and how they are called.

use super::idl::INTERFACES;
use super::point::Limits;
use crate::agile::Agile;
use crate::error::{Error, Result, code};
use crate::exports::query;
use crate::link::Link;
use crate::proxy::look_behind;
use crate::registry::{InterfaceInfo, register, register_module};
use crate::stub::guard;
use crate::thread::with_timeout;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use windows_core::IUnknown;

/// How long a thread that calls a sink waits for more to tell it.
const LINGER: Duration = Duration::from_secs(1);

/// What is done with a sink for one event.
pub type Event<'a> = dyn Fn(&IUnknown) -> Result<()> + 'a;
/// The same, where nobody waits.
pub type Posted = Arc<dyn Fn(&IUnknown) -> Result<()> + Send + Sync>;

/// A connection point, by the description of its interface.
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
    /// Its pointer to the point's interface.
    pointer: Agile<IUnknown>,
    /// The way to its process, where that is another.
    link: Option<Arc<Link>>,
    is_connected: AtomicBool,
    /// Calls, up to the last, that it did not answer in time.
    unanswered: AtomicU32,
    queue: Mutex<Queue>,
    is_more: Condvar,
}

/// What a sink has still to be told.
#[derive(Default)]
struct Queue {
    events: VecDeque<Posted>,
    /// Whether a thread is there that tells it.
    has_thread: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a call failed because nobody is there any more who could take it.
fn is_gone(error: &Error) -> bool {
    [code::RPC_E_DISCONNECTED, code::RPC_S_SERVER_UNAVAILABLE, code::CO_E_OBJNOTCONNECTED].contains(&error.code())
}

impl Point {
    /// One without sinks, for the interface described.
    pub fn new(info: &'static InterfaceInfo, limits: Limits) -> Arc<Self> {
        register_module(info);
        // Every process knows them, and one with events says so.
        register(INTERFACES);
        Arc::new(Self { info, limits, sinks: Mutex::default() })
    }

    pub(crate) fn advise(&self, sink: &IUnknown) -> Result<u32> {
        let cannot = |error: Error| {
            let name = self.info.name;
            Error::new(code::CONNECT_E_CANNOTCONNECT, format!("the sink cannot be called by {name}: {error}"))
        };
        // The sink may be in another process, so nothing is locked while it is asked.
        let pointer = query(sink, self.info)
            .map_err(|error| if error.code() == code::E_NOINTERFACE { cannot(error) } else { error })?;
        let link = look_behind(&pointer).map(|imported| imported.link);
        let pointer = Agile::new(&pointer).map_err(cannot)?;
        // They are released when nothing is locked.
        let dead: Vec<Arc<Sink>>;
        let mut sinks = lock(&self.sinks);
        // Nobody may have called them since their processes ended.
        let is_full = sinks.all.len() >= self.limits.sinks;
        dead = sinks.all.extract_if(.., |sink| is_full && sink.is_dead()).collect();
        if sinks.all.len() >= self.limits.sinks {
            let text = format!("the connection point has {} sinks, and takes no more", sinks.all.len());
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
        // The pointer may be released with it, which nobody has to wait for.
        drop(sinks);
        sink.disconnect();
        Ok(())
    }

    /// The sinks that are there: their pointers and cookies.
    pub(crate) fn connections(&self) -> Vec<(Agile<IUnknown>, u32)> {
        lock(&self.sinks).all.iter().map(|sink| (sink.pointer.clone(), sink.cookie)).collect()
    }

    /// How many sinks are connected.
    pub fn count(&self) -> usize {
        lock(&self.sinks).all.len()
    }

    /// Calls every sink, one after the other. Returns how many took it.
    pub fn fire(&self, event: &Event<'_>) -> usize {
        let sinks = lock(&self.sinks).all.clone();
        sinks.iter().filter(|sink| self.tell(sink, event)).count()
    }

    /// Has every sink called by a thread of its own. Returns how many lost an event by that.
    pub fn post(self: &Arc<Self>, event: &Posted) -> usize {
        let sinks = lock(&self.sinks).all.clone();
        sinks.iter().filter(|sink| self.enqueue(sink, Arc::clone(event))).count()
    }

    /// Calls a sink, unless its connection has ended, and ends that where nobody answers. Returns whether the sink took it.
    fn tell(&self, sink: &Sink, event: &Event<'_>) -> bool {
        if !sink.is_connected.load(Ordering::Acquire) {
            return false;
        }
        let Err(error) = with_timeout(self.limits.timeout, || event(sink.pointer.get())) else {
            sink.unanswered.store(0, Ordering::Relaxed);
            return true;
        };
        let is_lost = if error.code() == code::RPC_E_TIMEOUT {
            sink.unanswered.fetch_add(1, Ordering::Relaxed) + 1 >= self.limits.unanswered
        } else {
            sink.unanswered.store(0, Ordering::Relaxed);
            is_gone(&error)
        };
        if is_lost {
            // Another thread may have found out, too.
            let _ = self.unadvise(sink.cookie);
        }
        false
    }

    /// Adds an event to what a sink is to be told. Returns whether an event was lost.
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
        // The system has no more threads.
        *lock(&sink.queue) = Queue::default();
        true
    }

    /// Tells a sink what it has to be told, until there has been nothing for a while.
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
    /// A cookie that no sink has.
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
    /// Whether its process has ended.
    fn is_dead(&self) -> bool {
        self.link.as_ref().is_some_and(|link| link.is_dead())
    }

    fn disconnect(&self) {
        self.is_connected.store(false, Ordering::Release);
        let events = std::mem::take(&mut lock(&self.queue).events);
        // They may hold anything, so they end when nothing is locked.
        drop(events);
        self.is_more.notify_one();
    }

    /// What it is to be told next; `None` when its thread is to end.
    fn next(&self) -> Option<Posted> {
        let is_idle = |queue: &mut Queue| queue.events.is_empty() && self.is_connected.load(Ordering::Acquire);
        let (mut queue, _) =
            self.is_more.wait_timeout_while(lock(&self.queue), LINGER, is_idle).unwrap_or_else(PoisonError::into_inner);
        let event = queue.events.pop_front();
        queue.has_thread = event.is_some();
        event
    }
}
