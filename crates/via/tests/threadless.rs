//! Parked connections where the system starts no threads. The limit of threads holds for the whole
//! process, so this test runs in a process of its own.

use obvia_via::provider::shm::Directory;
use obvia_via::window::{Options, Window};
use obvia_via::{Deadline, Header, Kind};
use rustix::process::{Resource, Rlimit, Uid, getrlimit, getuid, setrlimit};
use rustix::thread::set_thread_uid;
use std::fs;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

const REQUEST: Header = Header { kind: Kind::Request, opnum: 3, first: 7, second: 9 };
const LIMIT: Deadline = Deadline::Within(ground::LATEST);
/// The time in which a connection would be resumed.
const BRIEF: Duration = Duration::from_millis(300);

/// Returns the client's end and the server's end of a connection.
fn connection(directory: &Directory) -> (Window, Window) {
    let listener = directory.bind("parked").unwrap();
    std::thread::scope(|scope| {
        let server = scope.spawn(|| listener.accept(LIMIT).unwrap().complete(&Options::default()).unwrap());
        let client = directory.connect("parked", &Options::default(), LIMIT).unwrap();
        (client, server.join().unwrap())
    })
}

/// Limits the number of threads of this thread's user to `most`.
fn limit_threads(most: Option<u64>) {
    setrlimit(Resource::Nproc, Rlimit { current: most, ..getrlimit(Resource::Nproc) }).unwrap();
}

fn park(window: Window) -> Receiver<Window> {
    let (tell, resumed) = channel();
    let resume = |window, tell: Sender<_>, _| tell.send(window).unwrap();
    assert!(window.try_park(tell, resume).is_ok());
    resumed
}

fn call(client: &mut Window) {
    client.tx.inline_frame(LIMIT).unwrap()[..4].fill(9);
    client.tx.send_inline(REQUEST, 4);
}

/// Waits until two threads wait for parked connections.
fn await_threads() {
    let name = |task: std::io::Result<fs::DirEntry>| fs::read_to_string(task.ok()?.path().join("comm")).ok();
    let is_two =
        || fs::read_dir("/proc/self/task").unwrap().filter_map(name).filter(|name| name == "obvia-pool\n").count() == 2;
    ground::until("two threads wait", is_two);
}

/// Gives this thread a user whose threads can be limited. Returns false if that is not possible.
fn is_limitable() -> bool {
    // No limit holds for the superuser. The threads that this thread starts inherit its user.
    if getuid().is_root() && set_thread_uid(Uid::from_raw(64_321)).is_err() {
        return false;
    }
    let before = getrlimit(Resource::Nproc).current;
    limit_threads(Some(0));
    let started = std::thread::Builder::new().spawn(|| ());
    limit_threads(before);
    started.is_err()
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn parked_connections_wait_for_threads() {
    let folder = ground::Folder::new("via-threadless");
    let directory = Directory::at(folder.path()).unwrap();
    let ends = [(); 2].map(|()| connection(&directory));
    // Runs on a separate thread, because only the first user of this thread can remove the folder.
    std::thread::scope(|scope| scope.spawn(|| take_threads_away(ends)).join()).unwrap();
}

fn take_threads_away([(mut first, first_end), (mut second, second_end)]: [(Window, Window); 2]) {
    if !is_limitable() {
        return println!("skipped: the threads of this user cannot be limited");
    }
    let before = getrlimit(Resource::Nproc).current;
    limit_threads(Some(0));
    first_end.begin_parking();
    let unparked = first_end.try_park((), |_, (), _| unreachable!("no thread waits")).unwrap_err();
    assert!(unparked.outcome.is_ok());
    limit_threads(before);
    unparked.window.begin_parking();
    let [first_end, second_end] = [unparked.window, second_end].map(park);
    await_threads();
    limit_threads(Some(0));
    // One thread resumes the first connection, and the other thread waits for the second
    // connection.
    call(&mut first);
    let _first_end = first_end.recv_timeout(ground::LATEST).unwrap();
    call(&mut second);
    assert!(second_end.recv_timeout(BRIEF).is_err());
    limit_threads(before);
    let mut end = second_end.recv_timeout(ground::LATEST).unwrap();
    end.rx.receive(LIMIT).unwrap();
}
