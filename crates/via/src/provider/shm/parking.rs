//! Parked connections: after a silence of the peer, a connection waits for the next message without
//! a thread.
//!
//! The sockets of all parked connections are in one epoll instance, for which a few threads wait.
//! The peer knows from the sleep flag that it has to *call* the connection over the socket: see
//! [`crate::doorbell`]. Threads of this process resume a connection by [`ring`].
//!
//! The thread that gets an event looks for a message. If there is none, the connection stays
//! parked. Otherwise the thread resumes the connection, and ends when the connection ends or parks
//! again. The other waiting thread starts a successor, since calls may wait for calls of other
//! connections. So no thread serves two connections, and no thread is started by a thread that has
//! served a connection. Each serving thread has new thread-local variables, and inherits nothing
//! from a thread that has served.
//!
//! While the system starts no further thread, connections to be resumed wait for a thread, and the
//! last thread goes on waiting for all connections. A client's call still ends at its deadline.

use super::pulse::Number;
use super::sanitizer;
use crate::Error;
use crate::sync::lock;
use crate::window::{Resume, Window, Wire};
use rustix::buffer::spare_capacity;
use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use std::collections::{BTreeMap, VecDeque};
use std::ptr;
use std::sync::Mutex;
use std::time::Duration;

/// The pause before the next attempt when the system starts no thread, or a wait for events fails.
const BREATHER: Duration = Duration::from_millis(50);
/// The number by which epoll reports events of [`Lot::rung`].
const RUNG: u64 = u64::MAX;

/// A connection without a thread, and the function that resumes the connection.
pub(super) struct Parked {
    window: Window,
    resume: Resume,
    /// The reason for which the connection has to end, if any.
    outcome: Result<(), Box<Error>>,
}

impl Parked {
    pub(super) fn new(window: Window, resume: Resume) -> Self {
        Self { window, resume, outcome: Ok(()) }
    }
}

/// The files on which threads wait for events of parked connections.
struct Lot {
    epoll: OwnedFd,
    /// An eventfd that is readable while [`Places::rung`] has connections, or while a waiting
    /// thread has to start a successor.
    rung: OwnedFd,
}

/// The parked connections of this process.
struct Places {
    /// The files on which threads wait. They are made when the first connection parks.
    lot: Option<&'static Lot>,
    parked: BTreeMap<Number, Parked>,
    /// The connections to be resumed whose socket has no event, in the order in which they are to
    /// be resumed.
    rung: VecDeque<Parked>,
    /// The number of threads that wait for events, at most two. While one of them resumes a
    /// connection, the second one waits, so the next connection need not wait until a thread has
    /// started.
    // Invariant: at least one, once there is a parked connection. A thread counts before it runs.
    waiting: usize,
}

static PLACES: Mutex<Places> =
    Mutex::new(Places { lot: None, parked: BTreeMap::new(), rung: VecDeque::new(), waiting: 0 });

/// Ensures that a thread waits for parked connections. The calling thread must not have served a
/// connection, since threads inherit its attributes.
pub(super) fn begin() -> Result<(), Error> {
    let mut places = lock(&PLACES);
    let lot = match places.lot {
        Some(lot) => lot,
        None => *places.lot.insert(Box::leak(Box::new(Lot::new()?))),
    };
    if places.waiting == 0 {
        lot.start()?;
        places.waiting = 1;
    }
    Ok(())
}

/// Ensures that the connection with this socket can be parked, after [`begin`].
pub(super) fn prepare(socket: &OwnedFd, number: Number) -> Result<(), Error> {
    let places = lock(&PLACES);
    let Some(lot) = places.lot.filter(|_| places.waiting > 0) else {
        return Err(Error::BadState { what: "no thread waits for parked connections" });
    };
    drop(places);
    // If a hang-up is reported before the connection is parked, the hang-up is reported again once
    // the connection is parked.
    let data = epoll::EventData::new_u64(number.0);
    match epoll::add(&lot.epoll, socket.as_fd(), data, epoll::EventFlags::ONESHOT) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(Error::system("watching a connection")(errno)),
    }
}

/// Parks a connection, after [`prepare`], until its socket is readable or [`ring`] is called for
/// it.
pub(super) fn park(socket: &OwnedFd, number: Number, wire: &Wire, parked: Parked) {
    sanitizer::release(ptr::from_ref(wire).cast());
    let mut places = lock(&PLACES);
    places.parked.insert(number, parked);
    let lot = places.lot;
    drop(places);
    let data = epoll::EventData::new_u64(number.0);
    let events = epoll::EventFlags::IN | epoll::EventFlags::ONESHOT;
    // `prepare` has added the socket, so the kernel can change its events. A connection that the
    // kernel does not watch would never be resumed.
    if lot.is_none_or(|lot| epoll::modify(&lot.epoll, socket.as_fd(), data, events).is_err()) {
        wire.close();
    }
    // If the connection was interrupted before it was inserted above, the interrupting thread found
    // no parked connection. The connection is then resumed here.
    if wire.is_interrupted() {
        ring(number);
    }
}

/// Resumes a connection of this process, if it is parked. The caller has interrupted it before.
///
/// The lock orders the interruption and the parking: either the connection is found here, or
/// [`park`] sees the interruption.
pub(super) fn ring(number: Number) {
    let mut places = lock(&PLACES);
    if let (Some(parked), Some(lot)) = (places.parked.remove(&number), places.lot) {
        lot.enqueue(&mut places, parked);
    }
}

impl Lot {
    fn new() -> Result<Self, Error> {
        let make = || {
            let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
            let rung = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK | EventfdFlags::SEMAPHORE)?;
            epoll::add(&epoll, &rung, epoll::EventData::new_u64(RUNG), epoll::EventFlags::IN)?;
            Ok(Self { epoll, rung })
        };
        make().map_err(Error::system("preparing to wait without a thread"))
    }

    fn enqueue(&self, places: &mut Places, parked: Parked) {
        places.rung.push_back(parked);
        self.wake();
    }

    /// Wakes a waiting thread.
    fn wake(&self) {
        // The write fails only if the count would exceed 2^64 - 2, and there are never so many
        // connections.
        let _ = rustix::io::write(&self.rung, &1_u64.to_ne_bytes());
    }

    /// Starts a thread that waits for events.
    fn start(&'static self) -> Result<(), Error> {
        let thread = std::thread::Builder::new().name("obvia-pool".to_owned());
        let work = move || {
            let Parked { window, resume, outcome } = self.next();
            resume(window, outcome);
        };
        thread.spawn(work).map(drop).map_err(|_| Error::system("starting a thread")(Errno::AGAIN))
    }

    /// Starts a second waiting thread, if this one waits alone. The lock is not held during the
    /// start, which takes longer than a call, because other connections need the lock.
    fn start_second(&'static self) {
        let mut places = lock(&PLACES);
        if places.waiting != 1 {
            return;
        }
        // Counted before the start, because the new thread may resume a connection before this one
        // goes on.
        places.waiting = 2;
        drop(places);
        if self.start().is_err() {
            lock(&PLACES).waiting -= 1;
        }
    }

    /// Waits for a connection that is to be resumed, and counts this thread as one that no longer
    /// waits.
    fn next(&'static self) -> Parked {
        loop {
            self.start_second();
            let Some(mut parked) = self.event().and_then(|number| self.take(number)) else { continue };
            // A hostile peer can call without a message. The connection then parks again.
            if parked.outcome.is_ok() {
                match parked.window.prepare_to_park() {
                    Ok(true) => {
                        parked.window.park(parked.resume);
                        continue;
                    }
                    prepared => parked.outcome = prepared.map(drop),
                }
            }
            if self.leave() {
                return parked;
            }
            // The connection is queued again, so that a later attempt resumes it.
            self.enqueue(&mut lock(&PLACES), parked);
            std::thread::sleep(BREATHER);
        }
    }

    /// Counts this thread as one that no longer waits, and has the other waiting thread start a
    /// successor. Returns false, and changes nothing, if this is the last waiting thread and the
    /// system starts no other.
    fn leave(&'static self) -> bool {
        self.start_second();
        let mut places = lock(&PLACES);
        let is_last = places.waiting == 1;
        if !is_last {
            places.waiting -= 1;
            drop(places);
            // The other waiting thread starts a successor, while this thread performs the call.
            self.wake();
        }
        !is_last
    }

    /// Waits for the next event. `None` if the wait was interrupted.
    fn event(&self) -> Option<u64> {
        let mut events: Vec<epoll::Event> = Vec::with_capacity(1);
        if let Err(errno) = epoll::wait(&self.epoll, spare_capacity(&mut events), None)
            && errno != Errno::INTR
        {
            std::thread::sleep(BREATHER);
        }
        events.first().map(|event| event.data.u64())
    }

    /// Takes the connection of an event, unless another thread has taken it.
    fn take(&self, number: u64) -> Option<Parked> {
        let parked = if number == RUNG {
            rustix::io::read(&self.rung, &mut [0; 8]).ok()?;
            lock(&PLACES).rung.pop_front()?
        } else {
            lock(&PLACES).parked.remove(&Number(number))?
        };
        sanitizer::acquire(parked.window.address());
        Some(parked)
    }
}
