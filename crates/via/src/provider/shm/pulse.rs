//! The pulse: one thread of the process that learns when a peer hangs up, and wakes who waits for it.

use crate::Error;
use crate::window::Wire;
use rustix::buffer::spare_capacity;
use rustix::event::epoll;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::io::Errno;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// The connections of this process, by the number of their socket.
struct Watch {
    epoll: OwnedFd,
    wires: Mutex<HashMap<u64, Weak<Wire>>>,
}

static WATCH: OnceLock<Result<Watch, Errno>> = OnceLock::new();

fn watch_of_process() -> Result<&'static Watch, Error> {
    let watch = WATCH.get_or_init(|| {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let thread = std::thread::Builder::new().name("obvia-pulse".to_owned());
        thread.spawn(listen).map_err(|_| Errno::AGAIN)?;
        Ok(Watch { epoll, wires: Mutex::default() })
    });
    watch.as_ref().map_err(|&errno| Error::system("starting the pulse thread")(errno))
}

fn key(socket: &OwnedFd) -> u64 {
    u64::from(socket.as_raw_fd().unsigned_abs())
}

/// Has the pulse thread call [`Wire::close`] when the peer hangs up.
pub(super) fn watch(socket: &OwnedFd, wire: &Arc<Wire>) -> Result<(), Error> {
    let watch = watch_of_process()?;
    let key = key(socket);
    let mut wires = watch.wires.lock().unwrap_or_else(PoisonError::into_inner);
    wires.insert(key, Arc::downgrade(wire));
    drop(wires);
    // Not IN: larger areas arrive on the socket, and are read by who needs them.
    let events = epoll::EventFlags::RDHUP | epoll::EventFlags::ONESHOT;
    epoll::add(&watch.epoll, socket, epoll::EventData::new_u64(key), events)
        .map_err(Error::system("watching a connection"))
}

/// Forgets a connection that this side ends.
pub(super) fn forget(socket: &OwnedFd) {
    if let Ok(watch) = watch_of_process() {
        // Removed while the socket is open, so the number cannot yet belong to another connection.
        let _ = epoll::delete(&watch.epoll, socket.as_fd());
        watch.wires.lock().unwrap_or_else(PoisonError::into_inner).remove(&key(socket));
    }
}

fn listen() {
    // `get_or_init` returns soon after it has started this thread.
    let Ok(watch) = watch_of_process() else {
        return;
    };
    let mut events: Vec<epoll::Event> = Vec::with_capacity(64);
    loop {
        events.clear();
        match epoll::wait(&watch.epoll, spare_capacity(&mut events), None) {
            Ok(_) | Err(Errno::INTR) => {}
            // Without an epoll instance there is no pulse; waits still end by their deadlines.
            Err(_) => return,
        }
        for event in &events {
            let wires = watch.wires.lock().unwrap_or_else(PoisonError::into_inner);
            let wire = wires.get(&event.data.u64()).and_then(Weak::upgrade);
            // Dropping the last reference closes the socket; never under the lock.
            drop(wires);
            if let Some(wire) = wire {
                wire.close();
            }
        }
    }
}
