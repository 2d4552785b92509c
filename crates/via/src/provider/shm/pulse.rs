//! The pulse: one thread of the process that notices when a peer hangs up, and wakes the threads
//! that wait for that peer.

use crate::Error;
use crate::sync::lock;
use crate::window::Wire;
use rustix::buffer::spare_capacity;
use rustix::event::epoll;
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// The number by which the pulse thread knows a connection. The socket's file descriptor cannot
/// replace this number: an event may be handled after its connection has ended, when another
/// connection has the same descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Number(pub(super) u64);

impl Number {
    /// Draws a number that no other connection of this process has had.
    fn draw() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The connections of this process.
struct Watch {
    epoll: OwnedFd,
    wires: Mutex<HashMap<Number, Weak<Wire>>>,
}

impl Watch {
    /// Closes a connection whose peer has hung up, unless [`forget`] was called for the connection.
    fn close(&self, number: Number) {
        let wires = lock(&self.wires);
        let wire = wires.get(&number).and_then(Weak::upgrade);
        // Dropping the last reference closes the socket, which must not happen under the lock.
        drop(wires);
        if let Some(wire) = wire {
            wire.close();
        }
    }
}

/// The watch of this process, once its thread has started.
static WATCH: Mutex<Option<Arc<Watch>>> = Mutex::new(None);

/// Returns the watch of this process. If the watch cannot be started, the next call tries again,
/// because the system may be at a limit only for a while.
fn watch_of_process() -> Result<Arc<Watch>, Error> {
    let mut own = lock(&WATCH);
    if let Some(watch) = &*own {
        return Ok(Arc::clone(watch));
    }
    let start = Error::system("starting the pulse thread");
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(&start)?;
    let watch = Arc::new(Watch { epoll, wires: Mutex::default() });
    let watched = Arc::clone(&watch);
    let thread = std::thread::Builder::new().name("obvia-pulse".to_owned());
    thread.spawn(move || listen(&watched)).map_err(|_| start(Errno::AGAIN))?;
    Ok(Arc::clone(own.insert(watch)))
}

/// Takes the resources that [`watch`] needs for a connection, and draws the connection's number.
pub(super) fn prepare(socket: &OwnedFd) -> Result<Number, Error> {
    let number = Number::draw();
    // If a hang-up is reported before the connection is watched, the hang-up is reported again once
    // the connection is watched.
    let data = epoll::EventData::new_u64(number.0);
    epoll::add(&watch_of_process()?.epoll, socket, data, epoll::EventFlags::ONESHOT)
        .map_err(Error::system("watching a connection"))?;
    Ok(number)
}

/// Has the pulse thread call [`Wire::close`] when the peer hangs up, after [`prepare`].
pub(super) fn watch(socket: &OwnedFd, number: Number, wire: &Arc<Wire>) -> Result<(), Error> {
    let watch = watch_of_process()?;
    lock(&watch.wires).insert(number, Arc::downgrade(wire));
    // Without `IN`: larger areas arrive on the socket, and the threads that need them receive them.
    let events = epoll::EventFlags::RDHUP | epoll::EventFlags::ONESHOT;
    epoll::modify(&watch.epoll, socket, epoll::EventData::new_u64(number.0), events)
        .map_err(Error::system("watching a connection"))
}

/// Forgets a connection that this side ends.
pub(super) fn forget(socket: &OwnedFd, number: Number) {
    if let Ok(watch) = watch_of_process() {
        let _ = epoll::delete(&watch.epoll, socket.as_fd());
        lock(&watch.wires).remove(&number);
    }
}

fn listen(watch: &Watch) {
    let mut events: Vec<epoll::Event> = Vec::with_capacity(64);
    loop {
        events.clear();
        match epoll::wait(&watch.epoll, spare_capacity(&mut events), None) {
            Ok(_) | Err(Errno::INTR) => {}
            // Without an epoll instance there is no pulse; waits still end at their deadlines.
            Err(_) => return,
        }
        for event in &events {
            watch.close(Number(event.data.u64()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Number, watch, watch_of_process};
    use crate::layout;
    use crate::provider::shm::{carrier, mapping};
    use crate::window::{Ends, Options, Window};
    use rustix::fd::OwnedFd;
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
    use std::sync::Arc;

    /// Makes a watched connection, and its peer's end of the socket.
    fn connection() -> (Window, Number, OwnedFd) {
        let (socket, peer) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
        let socket = Arc::new(socket);
        let carrier =
            carrier::Socket::new(Arc::clone(&socket), carrier::Sleep::OnWord, carrier::Side::Connector).unwrap();
        let number = carrier.number;
        let options = Options::default();
        let segment = || mapping::create(layout::AREA + options.area).unwrap().0;
        let ends = Ends { own: segment(), peer: segment(), area: None, carrier: Box::new(carrier) };
        let window = Window::new(ends, true, &options);
        watch(&socket, number, window.wire()).unwrap();
        (window, number, peer)
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn a_late_hang_up_event_ends_no_other_connection() {
        let (first, number, _hung_up) = connection();
        drop(first);
        // The second socket has the descriptor of the first, unless another test has taken it.
        let (second, _, _peer) = connection();
        watch_of_process().unwrap().close(number);
        assert!(!second.alarm().is_closed());
    }
}
