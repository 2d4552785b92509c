//! Parked connections where the system starts no threads. The limit holds for the whole process, so
//! this test has one of its own.

use obvia_via::provider::shm::Directory;
use obvia_via::window::{Options, Window};
use obvia_via::{Deadline, Error, Header, Kind};
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

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn connections_wait_for_threads_and_are_hung_up_in_the_end() {
    let folder = ground::Folder::new("via-threadless");
    let directory = Directory::at(folder.path()).unwrap();
    let mut connections = [(); 3].map(|()| connection(&directory)).into_iter();
    let [(mut first, first_end), (mut second, second_end), (mut third, third_end)] =
        std::array::from_fn(|_| connections.next().unwrap());
    if getuid().is_root() {
        // No limit holds for the superuser. The threads that this one starts have its user.
        set_thread_uid(Uid::from_raw(64_321)).unwrap();
    }
    let before = getrlimit(Resource::Nproc).current;
    limit_threads(Some(0));
    first_end.begin_parking();
    let unparked = first_end.try_park((), |_, (), _| unreachable!("no thread waits")).unwrap_err();
    assert!(unparked.outcome.is_ok());
    limit_threads(before);
    unparked.window.begin_parking();
    let [first_end, second_end, third_end] = [unparked.window, second_end, third_end].map(park);
    await_threads();
    limit_threads(Some(0));
    // One thread resumes the first connection, and the other one waits for the rest.
    call(&mut first);
    let _first_end = first_end.recv_timeout(ground::LATEST).unwrap();
    call(&mut second);
    assert!(second_end.recv_timeout(BRIEF).is_err());
    limit_threads(before);
    let mut end = second_end.recv_timeout(ground::LATEST).unwrap();
    end.rx.receive(LIMIT).unwrap();
    let second_end = park(end);
    await_threads();
    limit_threads(Some(0));
    call(&mut second);
    second_end.recv_timeout(ground::LATEST).unwrap();
    call(&mut third);
    assert!(matches!(third.rx.receive(LIMIT), Err(Error::PeerGone { .. })));
    assert!(third_end.try_recv().is_err());
    limit_threads(before);
    // A thread of its own drops the connection.
    third_end.recv_timeout(ground::LATEST).unwrap();
}
