//! Connections over shared memory that wait for messages without a thread.

use super::{BRIEF, REQUEST, TIMEOUT, send};
use obvia_via::provider::shm::Directory;
use obvia_via::window::{Options, Window};
use obvia_via::{Error, Waiting};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::cell::Cell;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};

/// Returns the client's end and the server's end of a connection.
fn connection(folder: &ground::Folder, waiting: Waiting) -> (Window, Window) {
    let options = Options { waiting, ..Options::default() };
    let directory = Directory::at(folder.path()).unwrap();
    let listener = directory.bind("parked").unwrap();
    std::thread::scope(|scope| {
        let server = scope.spawn(|| listener.accept(TIMEOUT).unwrap().complete(&options).unwrap());
        let client = directory.connect("parked", &options, TIMEOUT).unwrap();
        let server = server.join().unwrap();
        server.begin_parking();
        (client, server)
    })
}

/// A connection that is parked, until it is resumed.
struct Parked(Receiver<(Window, Result<(), Box<Error>>)>);

impl Parked {
    /// Parks a connection without messages.
    fn new(window: Window) -> Self {
        assert!(window.is_parkable());
        let (tell, resumed) = channel();
        let resume = |window, tell: Sender<_>, outcome| tell.send((window, outcome)).unwrap();
        assert!(window.try_park(tell, resume).is_ok());
        Self(resumed)
    }

    fn resumed(self) -> Window {
        let (window, outcome) = self.0.recv_timeout(ground::LATEST).unwrap();
        outcome.unwrap();
        window
    }

    /// Returns the reason for which the connection has to end.
    fn ended(self) -> Error {
        *self.0.recv_timeout(ground::LATEST).unwrap().1.unwrap_err()
    }

    fn is_parked(&self) -> bool {
        self.0.recv_timeout(BRIEF.remaining()).is_err()
    }
}

/// Asserts that a connection cannot be parked now. Returns the connection.
fn unparked(window: Window) -> Window {
    let unparked = window.try_park((), |_, (), _| unreachable!("it is not parked")).unwrap_err();
    unparked.outcome.unwrap();
    unparked.window
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn messages_rings_and_the_end_of_the_peer_resume_parked_connections() {
    let folder = ground::Folder::new("via-parking");
    let (mut client, mut server) = connection(&folder, Waiting::Adaptive);
    // Every second frame is in an area that is passed over the socket while the server is parked.
    for length in [4, 300 << 10, 5, 2 << 20, 6] {
        let parked = Parked::new(server);
        assert!(parked.is_parked());
        send(&mut client, REQUEST, length, 9);
        server = parked.resumed();
        assert_eq!(server.rx.receive(TIMEOUT).unwrap().frame().len(), length);
        server.rx.release();
    }
    let (alarm, parked) = (server.alarm(), Parked::new(server));
    alarm.ring();
    server = parked.resumed();
    assert!(matches!(server.rx.receive(TIMEOUT), Err(Error::Cancelled)));
    let parked = Parked::new(server);
    drop(client);
    assert!(matches!(parked.ended(), Error::PeerGone { .. }));
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn connections_with_a_message_or_a_ring_or_that_poll_do_not_park() {
    let folder = ground::Folder::new("via-parking");
    let (mut client, mut server) = connection(&folder, Waiting::Block);
    send(&mut client, REQUEST, 4, 9);
    server = unparked(server);
    server.rx.receive(TIMEOUT).unwrap();
    server.alarm().ring();
    server = unparked(server);
    assert!(matches!(server.rx.receive(TIMEOUT), Err(Error::Cancelled)));
    assert!(!client.is_parkable(), "it connected");
    drop((unparked(client), server));
    let (_client, server) = connection(&folder, Waiting::Poll);
    assert!(!server.is_parkable());
}

fn processors() -> CpuSet {
    sched_getaffinity(None).unwrap()
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn each_resumption_has_a_thread_of_its_own() {
    thread_local! {
        static IS_USED: Cell<bool> = const { Cell::new(false) };
    }
    let folder = ground::Folder::new("via-parking");
    let (mut client, mut server) = connection(&folder, Waiting::Adaptive);
    for _ in 0..20 {
        let (tell, resumed) = channel();
        let resume = |window, tell: Sender<_>, _| {
            tell.send((window, IS_USED.replace(true), processors())).unwrap();
            // Binds this thread to a processor, as a method may do. Threads that this thread starts
            // inherit the binding.
            let mut one = CpuSet::new();
            one.set((0..CpuSet::MAX_CPU).find(|cpu| processors().is_set(*cpu)).unwrap());
            sched_setaffinity(None, &one).unwrap();
        };
        assert!(server.try_park(tell, resume).is_ok());
        send(&mut client, REQUEST, 4, 9);
        let (window, is_used, found) = resumed.recv_timeout(ground::LATEST).unwrap();
        assert!(!is_used, "a variable of another resumption");
        assert_eq!(found, processors(), "an attribute of another resumption's thread");
        server = window;
        server.rx.receive(TIMEOUT).unwrap();
        server.rx.release();
    }
}

/// Each resumed connection waits until all the others are resumed, too.
#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn resumed_connections_may_wait_for_each_other() {
    const COUNT: usize = 20;
    let folder = ground::Folder::new("via-parking");
    let mut clients = Vec::new();
    let (tell, resumed) = channel();
    let all = Arc::new(Barrier::new(COUNT));
    for _ in 0..COUNT {
        let (client, server) = connection(&folder, Waiting::Adaptive);
        let resume = |mut window: Window, (tell, all): (Sender<_>, Arc<Barrier>), _| {
            window.rx.receive(TIMEOUT).unwrap();
            all.wait();
            tell.send(window).unwrap();
        };
        assert!(server.try_park((tell.clone(), Arc::clone(&all)), resume).is_ok());
        clients.push(client);
    }
    clients.iter_mut().for_each(|client| send(client, REQUEST, 4, 9));
    for _ in 0..COUNT {
        resumed.recv_timeout(ground::LATEST).unwrap();
    }
}
