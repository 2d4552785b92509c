//! Parked connections: where the peer has been silent for a while, a connection waits for the next
//! message without a thread.
//!
//! The sockets of all parked connections are in one epoll instance. A few threads wait for it. The
//! thread that gets an event resumes the connection, serves it until it parks again or ends, and
//! then waits for the next event. The peer knows from the sleep flag that it has to *call* the
//! connection over the socket: see [`crate::doorbell`]. Threads of this process resume a connection
//! by [`ring`].

use super::pulse::Number;
use crate::Error;
use crate::sync::lock;
use crate::window::{Resume, Window};
use rustix::buffer::spare_capacity;
use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, OnceLock};

/// The greatest number of threads that wait for events. Further ones end.
const WAITING_MAX: usize = 8;

/// The number by which epoll reports that connections were rung.
const RUNG: u64 = u64::MAX;

/// A connection without a thread, and the function that goes on with it.
struct Parked {
    window: Window,
    resume: Resume,
}

/// The parked connections of this process.
struct Lot {
    epoll: OwnedFd,
    /// An eventfd that counts the connections in `Places::rung`.
    rung: OwnedFd,
    places: Mutex<Places>,
}

#[derive(Default)]
struct Places {
    parked: HashMap<Number, Parked>,
    /// The connections that threads of this process have rung.
    rung: VecDeque<Parked>,
    /// The number of threads that wait for events.
    waiting: usize,
}

static LOT: OnceLock<Result<Lot, Errno>> = OnceLock::new();

fn lot_of_process() -> Result<&'static Lot, Error> {
    let lot = LOT.get_or_init(|| {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let rung = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK | EventfdFlags::SEMAPHORE)?;
        epoll::add(&epoll, &rung, epoll::EventData::new_u64(RUNG), epoll::EventFlags::IN)?;
        Ok(Lot { epoll, rung, places: Mutex::default() })
    });
    lot.as_ref().map_err(|&errno| Error::system("preparing to wait without a thread")(errno))
}

/// Ensures that connections can be parked.
pub(super) fn prepare() -> Result<(), Error> {
    let lot = lot_of_process()?;
    if lock(&lot.places).waiting > 0 || lot.start_waiting() {
        return Ok(());
    }
    Err(Error::system("starting a thread")(Errno::AGAIN))
}

/// Parks a connection until its socket is readable or ends, or [`ring`] is called for it.
pub(super) fn park(socket: &OwnedFd, number: Number, window: Window, resume: Resume) {
    let Ok(lot) = lot_of_process() else { return resume(window) };
    lock(&lot.places).parked.insert(number, Parked { window, resume });
    let data = epoll::EventData::new_u64(number.0);
    let events = epoll::EventFlags::IN | epoll::EventFlags::RDHUP | epoll::EventFlags::ONESHOT;
    let watched = match epoll::modify(&lot.epoll, socket.as_fd(), data, events) {
        Err(Errno::NOENT) => epoll::add(&lot.epoll, socket.as_fd(), data, events),
        outcome => outcome,
    };
    if watched.is_err() {
        ring(number);
    }
}

/// Resumes a connection of this process, if it is parked.
pub(super) fn ring(number: Number) {
    let Some(Ok(lot)) = LOT.get() else { return };
    let mut places = lock(&lot.places);
    let Some(parked) = places.parked.remove(&number) else { return };
    places.rung.push_back(parked);
    drop(places);
    // The write fails only at a count that no number of connections reaches.
    let _ = rustix::io::write(&lot.rung, &1_u64.to_ne_bytes());
}

impl Lot {
    /// Starts a thread that waits for events. Returns whether it could be started.
    fn start_waiting(&'static self) -> bool {
        lock(&self.places).waiting += 1;
        let thread = std::thread::Builder::new().name("obvia-pool".to_owned());
        let is_started = thread.spawn(move || self.attend()).is_ok();
        if !is_started {
            lock(&self.places).waiting -= 1;
        }
        is_started
    }

    /// Resumes connections while this thread is needed.
    fn attend(&'static self) {
        while let Ok(number) = self.next_event() {
            let Some(Parked { window, resume }) = self.take(number) else { continue };
            // Another thread waits while this one serves, since a call may take long and need
            // another connection's call.
            if self.leave() == 0 {
                self.start_waiting();
            }
            window.end_sleep();
            resume(window);
            if !self.is_back() {
                return;
            }
        }
        self.leave();
    }

    fn next_event(&self) -> Result<u64, Errno> {
        let mut events: Vec<epoll::Event> = Vec::with_capacity(1);
        loop {
            match epoll::wait(&self.epoll, spare_capacity(&mut events), None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
            if let Some(event) = events.first() {
                return Ok(event.data.u64());
            }
        }
    }

    /// Takes the connection of an event, unless another thread has taken it.
    fn take(&self, number: u64) -> Option<Parked> {
        if number != RUNG {
            return lock(&self.places).parked.remove(&Number(number));
        }
        rustix::io::read(&self.rung, &mut [0; 8]).ok()?;
        lock(&self.places).rung.pop_front()
    }

    /// Counts this thread as one that does not wait. Returns the number of those that do.
    fn leave(&self) -> usize {
        let mut places = lock(&self.places);
        places.waiting -= 1;
        places.waiting
    }

    /// Counts this thread as waiting again, unless enough threads wait.
    fn is_back(&self) -> bool {
        let mut places = lock(&self.places);
        let is_needed = places.waiting < WAITING_MAX;
        places.waiting += usize::from(is_needed);
        is_needed
    }
}
