//! Tests with two processes: this one, and one started from the same program.

use super::scene::{End, Place, Random, SOON, attributes, connect, pair, pattern};
use obvia_via::provider::shm::{Directory, NicOptions, open};
use obvia_via::{
    Access, Deadline, Descriptor, Ended, Error, MemoryHandle, Nic, Reliability, RemoteAddress, State, Status, Waiting,
};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const LENGTH: usize = 16 << 20;
/// The maximum number of receives of the child.
const RECEIVES: usize = 1000;

struct Process(Child);

impl Process {
    /// Starts the part of the test that runs in the other process.
    fn start(place: &Place, role: &str, waiting: Waiting) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([
            "--ignored",
            "--exact",
            "shm::processes::role_of_the_other_process",
            "--nocapture",
            "--test-threads=1",
        ]);
        command
            .env("VIA_SHM_ROLE", role)
            .env("VIA_SHM_PLACE", place.path())
            .env("VIA_SHM_WAITING", format!("{waiting:?}"));
        let child = command.stdout(Stdio::piped()).spawn().unwrap();
        Self(child)
    }

    /// Waits until the child prints a line that contains `begin`. Returns the text after `begin`.
    fn await_line(&mut self, begin: &str) -> String {
        let out = BufReader::new(self.0.stdout.as_mut().unwrap());
        let mut lines = out.lines().map_while(Result::ok);
        lines.find_map(|line| line.split_once(begin).map(|(_, rest)| rest.to_owned())).expect("the child said so")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[ignore = "the other process of other tests"]
fn role_of_the_other_process() {
    let (Ok(role), Ok(path)) = (std::env::var("VIA_SHM_ROLE"), std::env::var("VIA_SHM_PLACE")) else { return };
    let waiting = match std::env::var("VIA_SHM_WAITING").as_deref() {
        Ok("Poll") => Waiting::Poll,
        Ok("Block") => Waiting::Block,
        _ => Waiting::Adaptive,
    };
    let directory = Some(Directory::at(path).unwrap());
    let nic = open(&NicOptions { directory, ..NicOptions::default() }).unwrap();
    if role == "leaks" {
        return leaks(&nic);
    }
    let mut end = End::new(&nic, attributes(Reliability::ReliableReception, waiting), LENGTH, Access::BOTH);
    for _ in 0..8 {
        end.post_receive(0, (LENGTH / 2) as u32);
    }
    let mut listener = nic.listen("other").unwrap();
    println!("listening.");
    let handle = end.region.handle().to_bytes();
    listener.wait(SOON).unwrap().accept(&mut end.vi, &handle, SOON).unwrap();
    for _ in 0..RECEIVES {
        let received = end.vi.receive.wait(SOON).unwrap();
        if received.status() != Status::Done {
            println!("ended: {:?}", end.vi.state());
            return;
        }
        match role.as_str() {
            "echo" => {
                end.post_receive(0, (LENGTH / 2) as u32);
                end.post_send(0, received.length());
                if end.sent().0 != Status::Done {
                    return;
                }
            }
            "hold" => std::thread::sleep(Duration::from_secs(600)),
            "vanish" => std::process::exit(0),
            _ => return,
        }
    }
}

/// Connects to the child. Returns the handle of its memory.
fn reach(end: &mut End) -> MemoryHandle {
    let private = end.vi.request("other", b"", SOON).unwrap();
    MemoryHandle::from_bytes(private.try_into().unwrap())
}

fn start(role: &str, waiting: Waiting) -> (Place, Process, End, MemoryHandle) {
    let place = Place::new();
    let mut process = Process::start(&place, role, waiting);
    process.await_line("listening.");
    let mut end = End::new(&place.nic(), attributes(Reliability::ReliableReception, waiting), LENGTH, Access::BOTH);
    let handle = reach(&mut end);
    (place, process, end, handle)
}

#[test]
fn messages_and_rdma_work_between_processes() {
    for waiting in [Waiting::Block, Waiting::Adaptive] {
        let (_place, mut process, mut one, handle) = start("echo", waiting);
        let mut random = Random(11);
        for round in 0..200_u64 {
            let length = if round % 20 == 19 { LENGTH / 2 } else { random.below(20_000) as usize };
            one.fill(0, &pattern(length, round + 1));
            one.post_receive(LENGTH as u64 / 2, (LENGTH / 2) as u32);
            one.post_send(0, length as u32);
            assert_eq!(one.sent(), (Status::Done, length as u32));
            assert_eq!(one.received(), (Status::Done, length as u32, None));
            assert!(one.bytes(LENGTH as u64 / 2, length) == pattern(length, round + 1), "round {round}");
        }
        for round in 0..50_u64 {
            let length = random.below(LENGTH as u64 / 4) as usize;
            let remote = RemoteAddress { handle, offset: LENGTH as u64 / 2 + random.below(1000) };
            one.fill(0, &pattern(length, round + 1));
            let (half, length32) = (LENGTH as u64 / 2, length as u32);
            one.vi.send.post(Descriptor::rdma_write(remote).with_segment(&one.region, 0, length32)).unwrap();
            one.vi.send.post(Descriptor::rdma_read(remote).with_segment(&one.region, half, length32)).unwrap();
            assert_eq!((one.sent(), one.sent()), ((Status::Done, length32), (Status::Done, length32)));
            assert!(one.bytes(half, length) == pattern(length, round + 1), "round {round}");
        }
        one.vi.disconnect();
        assert_eq!(process.await_line("ended: "), "Broken(ByPeer)");
    }
}

/// Returns the VI's state and the status of its receive after the child has ended, and the time
/// that passed until then.
fn end_of(role: &str, waiting: Waiting, kill: bool) -> (State, Status, Duration) {
    let (_place, mut process, mut one, _) = start(role, waiting);
    one.post_receive(0, 8);
    one.post_send(0, 8);
    assert_eq!(one.sent(), (Status::Done, 8));
    let began = Instant::now();
    if kill {
        process.0.kill().unwrap();
    }
    let status = one.received().0;
    (one.vi.state(), status, began.elapsed())
}

#[test]
fn a_killed_peer_is_detected_at_once() {
    for waiting in [Waiting::Poll, Waiting::Block, Waiting::Adaptive] {
        let (state, status, took) = end_of("hold", waiting, true);
        assert_eq!((state, status), (State::Broken(Ended::Silent), Status::Flushed));
        println!("{waiting:?}: {took:?}");
    }
}

#[test]
fn exited_peers_count_as_silent_and_disconnected_ones_do_not() {
    assert_eq!(end_of("vanish", Waiting::Block, false).0, State::Broken(Ended::Silent));
    assert_eq!(end_of("leave", Waiting::Block, false).0, State::Broken(Ended::ByPeer));
}

/// Waits until none of a process's threads runs any more.
fn await_stop(pid: u32) {
    ground::until("it is stopped", || ground::thread_states(pid).chars().all(|state| state == 'T'));
}

#[test]
fn operations_to_a_killed_peer_fail_or_are_flushed() {
    let (_place, mut process, mut one, handle) = start("hold", Waiting::Block);
    // The child takes this message and no other, but its NIC continues to serve the VI.
    one.post_send(0, 8);
    assert_eq!(one.sent(), (Status::Done, 8));
    let remote = RemoteAddress { handle, offset: 0 };
    one.vi.send.post(Descriptor::rdma_write(remote).with_segment(&one.region, 0, 8)).unwrap();
    assert_eq!(one.sent(), (Status::Done, 8), "its NIC looks after the VI while it sleeps");
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(process.0.id().cast_signed()).unwrap(),
        rustix::process::Signal::STOP,
    )
    .unwrap();
    await_stop(process.0.id());
    for _ in 0..3 {
        one.post_send(0, 8);
    }
    assert!(matches!(one.vi.send.wait(Deadline::Within(Duration::from_millis(50))), Err(Error::TimedOut)));
    process.0.kill().unwrap();
    let statuses: Vec<_> = (0..3).map(|_| one.sent().0).collect();
    assert_eq!(statuses, [Status::ConnectionLost, Status::Flushed, Status::Flushed]);
    assert_eq!(one.vi.state(), State::Broken(Ended::Silent));
}

/// Returns the numbers of open files and of mappings of this process.
fn held() -> (usize, usize) {
    let files = std::fs::read_dir("/proc/self/fd").unwrap().count();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    (files, maps.lines().filter(|line| line.contains("obvia")).count())
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// Runs in a process of its own, where no other test opens or maps files.
fn leaks(nic: &Nic) {
    let cycle = |count: u32| {
        for number in 0..count {
            let attributes = attributes(Reliability::ReliableDelivery, Waiting::Adaptive);
            let (mut one, mut other) = pair(nic, &attributes, 8192);
            other.post_receive(0, 64);
            one.post_send(0, 8);
            assert_eq!((one.sent().0, other.received().0), (Status::Done, Status::Done));
            let remote = RemoteAddress { handle: other.region.handle(), offset: 0 };
            for _ in 0..2 {
                one.vi.send.post(Descriptor::rdma_write(remote).with_segment(&one.region, 0, 8)).unwrap();
                assert_eq!(one.sent().0, Status::Done);
            }
            if number % 2 == 0 {
                // The same VIs make a second connection.
                one.vi.disconnect();
                other.vi.disconnect();
                connect(&mut one.vi, nic, &mut other.vi);
            }
        }
    };
    cycle(20);
    let before = (held(), threads());
    cycle(1000);
    // The NIC's thread may still hold the files of the last connection. The first count may include
    // such files, too.
    let is_more = || {
        let (((files, maps), threads), ((files_before, maps_before), threads_before)) = ((held(), threads()), before);
        files > files_before || maps > maps_before || threads > threads_before
    };
    let begun = Instant::now();
    while is_more() {
        assert!(begun.elapsed() < ground::LATEST, "{:?} instead of {before:?}", (held(), threads()));
        std::thread::sleep(Duration::from_millis(5));
    }
    println!("nothing was left.");
}

#[test]
fn a_thousand_connections_leak_nothing() {
    let place = Place::new();
    let mut process = Process::start(&place, "leaks", Waiting::Adaptive);
    process.await_line("nothing was left.");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "names");
}
