//! Statements 43 and 45: processes that die, and the resources that connections leave behind.

use crate::ends::{End, Pair, Plan, next, until, well, within_ms};
use crate::process::{Other, Task};
use crate::{Run, Side, soon, wanted};
use obvia_via::{Deadline, Descriptor, Ended, Error, State, Status, Waiting};
use std::time::{Duration, Instant};

/// The number of times that two NICs are opened and closed.
const NICS: usize = 60;
/// The default number of connections that are made and ended.
const CYCLES: usize = 250;
/// The number of mappings by which a process may grow without a leak, because allocators make
/// mappings.
const MAPPINGS: usize = 50;

/// 43. A peer whose process was killed, or whose wire was cut, is noticed within the configured
///     time. This holds for a busy connection, for an idle connection with a waiting owner, and for
///     a connection that is not used until the time is over.
pub fn s43_dead_peers_are_detected(run: &Run) {
    assert!(run.crosses_processes || run.fixture.wire().is_some(), "a fixture can kill its peers or cut the wire");
    if run.crosses_processes {
        for activity in [Activity::Waits, Activity::Sends, Activity::Sleeps] {
            check_killed_peer(run, activity);
        }
    }
    if let Some(wire) = run.fixture.wire() {
        let mut pairs: Vec<_> = run.reliable_levels().into_iter().map(|level| run.pair(level)).collect();
        for pair in &mut pairs {
            pair.check_both(43);
            pair.b.receive(0, 10);
            // Of the two ends, only one has a message to send when the wire is cut.
            pair.a.receive(0, 10);
        }
        wire.cut();
        let cut = Instant::now();
        for pair in &mut pairs {
            pair.a.send(0, 10);
        }
        for Pair { a, b } in &mut pairs {
            for end in [b, a] {
                assert_eq!(next(&mut end.vi.receive).status(), Status::Flushed);
                assert_eq!(end.vi.state(), State::Broken(Ended::Silent));
            }
            println!("of {:?} it took {:?}", run.silence, cut.elapsed());
            assert!(!next(&mut a.vi.send).status().is_done());
        }
    }
}

/// The survivor's activity when its peer is killed.
#[derive(Clone, Copy, Debug)]
enum Activity {
    Waits,
    Sends,
    Sleeps,
}

fn check_killed_peer(run: &Run, activity: Activity) {
    let plan = Plan { waiting: Waiting::Block, ..Plan::of(run.reliable_levels()[0]) };
    let mut end = run.end(Side::Server, &plan);
    let mut listener = end.nic.listen(&run.fixture.discriminator()).expect("the discriminator is free");
    let task = Task::Stay { place: run.fixture.place(), address: run.fixture.address(&listener) };
    let mut other = Other::start(run.module, &task);
    end.receive(0, 100);
    listener
        .wait(soon())
        .expect("the other process asks")
        .accept(&mut end.vi, b"", soon())
        .expect("it can be accepted");
    assert_eq!(end.received().length(), 4, "the other process says hello");
    end.receive(0, 100);
    other.kill();
    let killed = Instant::now();
    match activity {
        Activity::Waits => assert_eq!(next(&mut end.vi.receive).status(), Status::Flushed),
        Activity::Sends => {
            // The loop ends with an error. A send may fail at once, or only when the send queue is
            // full.
            let deadline = soon().start();
            while end.vi.state() == State::Connected {
                let _ = end.vi.send.post(Descriptor::send().with_segment(&end.area, 0, 50));
                let _ = end.vi.send.done();
                assert!(!deadline.is_over(), "it is never noticed");
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        Activity::Sleeps => {
            std::thread::sleep(run.silence);
            until("it is noticed", || end.vi.receive.posted() == 0);
        }
    }
    println!("{activity:?}: of {:?} it took {:?}", run.silence, killed.elapsed());
    let State::Broken(why) = end.vi.state() else { panic!("{activity:?}: {:?}", end.vi.state()) };
    assert!(matches!(why, Ended::Silent | Ended::ByPeer), "{activity:?}: {why:?}");
    // The survivor's VI can be connected again.
    end.vi.disconnect();
    while end.vi.receive.done().is_some() || end.vi.send.done().is_some() {}
    let mut pair = Pair { a: run.end(Side::Client, &plan), b: end };
    run.connect(&mut pair);
    pair.check_both(43);
}

/// Does the work of the other process of statement 43: connects, sends a message, and stays until
/// it is killed.
pub fn stay(run: &Run, address: &str) {
    let mut end = run.end_of(&run.fixture.nic(Side::Client), &Plan::of(run.reliable_levels()[0]), None, None);
    for _ in 0..100 {
        end.vi.receive.post(Descriptor::receive()).expect("it can be posted");
    }
    end.vi.request(address, b"", soon()).expect("the connection is accepted");
    end.send(0, 4);
    end.sent();
    let ended = end.vi.receive.wait(within_ms(80_000));
    assert!(matches!(ended, Ok(_) | Err(Error::TimedOut)), "{ended:?}");
}

/// 45. Hundreds of connections leave no file, no thread and no memory behind in the process, and
///     NICs leave no resources when they are gone. The variable `OBVIA_CONFORMANCE_CONNECTIONS`
///     sets the number of connections.
pub fn s45_connections_leak_nothing(run: &Run) {
    let mut other = Other::start(run.module, &Task::Cycles);
    // The limit allows for a thousand connections of libfabric's shm, which touches 4 MiB for each
    // endpoint. These connections take seventeen seconds of processor time in all, and minutes on a
    // busy machine. Each step of the other process has a shorter limit of its own.
    let status = other.ended(Duration::from_secs(480)).expect("the connections take less than that");
    assert!(status.success(), "something was left behind, as the other process says: {status}");
}

/// The resources of a process: files, threads, mappings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Holdings {
    files: usize,
    threads: usize,
    mappings: usize,
}

impl Holdings {
    fn now() -> Self {
        let count = |folder: &str| std::fs::read_dir(folder).map_or(0, Iterator::count);
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        Self { files: count("/proc/self/fd"), threads: count("/proc/self/task"), mappings: maps.lines().count() }
    }

    /// Whether the process has no more resources than `other`. Allocators make mappings now and
    /// then, but not as many as there were connections.
    fn is_within(self, other: Self) -> bool {
        self.files <= other.files && self.threads <= other.threads && self.mappings <= other.mappings + MAPPINGS
    }
}

/// Returns the number of connections that are made and ended.
fn wanted_cycles() -> usize {
    wanted("OBVIA_CONFORMANCE_CONNECTIONS").unwrap_or(CYCLES)
}

/// Makes and ends the connections of statement 45, in a process that does no other work. Checks
/// that no resources are left behind.
pub fn cycles(run: &Run) {
    // The first NIC may load a library, which stays loaded and is not counted.
    drop(run.fixture.nic(Side::Client));
    let before = Holdings::now();
    assert!(before.files > 0 && before.threads > 0 && before.mappings > 0, "the system says what a process has");
    let (asking, listening) = (run.fixture.nic(Side::Client), run.fixture.nic(Side::Server));
    let plan = Plan { area: 8192, ..Plan::of(run.reliable_levels()[0]) };
    // A completion queue opens a file at its first sleep, and keeps it. The wait blocks at once,
    // because a wait that polls first might reach its deadline before it sleeps.
    let mut queue = listening.completion_queue(64).with_waiting(Waiting::Block);
    let nothing = queue.wait(Deadline::Within(Duration::from_millis(200)));
    assert!(matches!(nothing, Err(Error::TimedOut)), "{nothing:?}");
    let mut cycle = |number: usize| {
        let b = run.end_of(&listening, &plan, None, Some(&queue));
        let mut pair = Pair { a: run.end_of(&asking, &plan, None, None), b };
        run.connect(&mut pair);
        pair.b.receive(0, 10);
        pair.a.send(0, 10);
        queue.wait(soon()).expect("a completion is entered");
        well(pair.b.vi.receive.done().expect("an entry has its descriptor"));
        pair.a.sent();
        pair.b.receive(0, 10);
        match number % 3 {
            0 => pair.a.vi.disconnect(),
            1 => pair.b.vi.disconnect(),
            _ => {}
        }
        let Pair { a: End { area, vi, .. }, b } = pair;
        drop((b, vi));
        area.deregister().expect("nothing uses it");
    };
    (0..50).for_each(&mut cycle);
    let warm = Holdings::now();
    (0..wanted_cycles()).for_each(&mut cycle);
    let left_by_connections = || Holdings::now().is_within(warm);
    let deadline = soon().start();
    while !left_by_connections() {
        assert!(!deadline.is_over(), "connections left something: {warm:?} before, {:?} after", Holdings::now());
        std::thread::sleep(Duration::from_millis(5));
    }
    drop((asking, listening, queue));
    // NICs are opened and closed as well.
    for _ in 0..NICS {
        let mut pair = run.pair_by(&plan);
        pair.check(45);
    }
    let deadline = soon().start();
    while !Holdings::now().is_within(before) {
        assert!(!deadline.is_over(), "NICs left something: {before:?} before, {:?} after", Holdings::now());
        std::thread::sleep(Duration::from_millis(5));
    }
}
