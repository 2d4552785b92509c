//! The attendant's service of VIs, with a port that the test controls.

use super::core::ViCore;
use super::{State, Vi, ViAttributes};
use crate::attributes::{Attributes, Reliability};
use crate::completion::Member as _;
use crate::error::Ended;
use crate::nic::Nic;
use crate::spi::{Listening, Offer, Port, Provider, Sink, Sleep};
use crate::{Access, Deadline, Descriptor, Error, PostFault, Status, Waiting};
use ground::until;
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

const SOON: Deadline = Deadline::Within(ground::LATEST);

/// The test's controls and counters of its port.
#[derive(Debug)]
struct TestControls {
    calls: AtomicUsize,
    prepared: AtomicUsize,
    ended: AtomicUsize,
    breaks: AtomicBool,
    // Whether the next call of `progress` completes a receive.
    brings: AtomicBool,
    // The only thread whose calls of `progress` complete receives; `None` if the calls of all
    // threads do.
    bringer: Mutex<Option<ThreadId>>,
    // Whether the next call of `progress` asks the NIC to look at all its VIs.
    hints: AtomicBool,
    // Whether the port always has work to do.
    is_busy: AtomicBool,
    file: Mutex<Option<Arc<OwnedFd>>>,
    peers_level: Reliability,
}

impl TestControls {
    fn new(peers_level: Reliability) -> Arc<Self> {
        let file = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).unwrap();
        Arc::new(Self {
            calls: AtomicUsize::new(0),
            prepared: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            breaks: AtomicBool::new(false),
            brings: AtomicBool::new(false),
            bringer: Mutex::new(None),
            hints: AtomicBool::new(false),
            is_busy: AtomicBool::new(false),
            file: Mutex::new(Some(Arc::new(file))),
            peers_level,
        })
    }

    fn ring(&self) {
        let file = self.file.lock().unwrap().clone().unwrap();
        rustix::io::write(&*file, &1_u64.to_ne_bytes()).unwrap();
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// Asserts that the port is called less than once in three milliseconds while `during` runs.
    fn is_seldom_called(&self, during: impl FnOnce()) {
        let (before, began) = (self.calls(), Instant::now());
        during();
        let (calls, took) = (self.calls() - before, began.elapsed());
        assert!((calls as u128) < took.as_millis() / 3, "{calls} calls in {took:?}");
    }
}

/// A provider whose addresses are the indices of the controls; an empty address means 0.
#[derive(Debug)]
struct TestProvider(Vec<Arc<TestControls>>);

static ATTRIBUTES: Attributes = Attributes {
    provider: "puppet",
    max_transfer: 1000,
    max_segments: 4,
    queue_depth: 16,
    rdma_write: true,
    rdma_read: true,
    reliability: &[Reliability::Unreliable, Reliability::ReliableDelivery],
};

impl Provider for TestProvider {
    fn attributes(&self) -> &Attributes {
        &ATTRIBUTES
    }

    fn listen(&self, _: &str) -> Result<Box<dyn Listening>, Error> {
        Err(Error::BadState { what: "puppets do not listen" })
    }

    fn connect(&self, address: &str, own: &Offer, _: Deadline) -> Result<(Box<dyn Port>, Offer), Error> {
        let controls = &self.0[address.parse().unwrap_or(0)];
        let offer = Offer { reliability: controls.peers_level, ..own.clone() };
        Ok((Box::new(TestPort(Arc::clone(controls))), offer))
    }
}

#[derive(Debug)]
struct TestPort(Arc<TestControls>);

impl Port for TestPort {
    fn submit(&mut self, _: Instant, _: &mut dyn Sink) {}

    fn progress(&mut self, _: Instant, sink: &mut dyn Sink) {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
        let may_bring = self.0.bringer.lock().unwrap().is_none_or(|bringer| bringer == std::thread::current().id());
        if may_bring && self.0.brings.swap(false, Ordering::SeqCst) && sink.begin_message(0).is_ok() {
            sink.end_message(None);
        }
        if self.0.hints.swap(false, Ordering::SeqCst) {
            sink.look_at_all();
        }
        if self.0.breaks.load(Ordering::SeqCst) {
            sink.broken(Status::ConnectionLost, Ended::Silent);
        }
    }

    fn prepare_sleep(&mut self, _: Instant) -> Option<Sleep> {
        if self.0.is_busy.load(Ordering::SeqCst) {
            return None;
        }
        self.0.prepared.fetch_add(1, Ordering::SeqCst);
        Some(Sleep { fd: self.readiness(), until: None })
    }

    fn end_sleep(&mut self) {
        self.0.ended.fetch_add(1, Ordering::SeqCst);
    }

    fn readiness(&self) -> Option<Arc<OwnedFd>> {
        self.0.file.lock().unwrap().clone()
    }

    fn disconnect(&mut self) {}

    fn take_concern(&mut self) -> bool {
        self.0.hints.swap(false, Ordering::SeqCst)
    }

    fn peer(&self) -> String {
        "nobody".to_owned()
    }
}

fn connected(controls: &Arc<TestControls>, waiting: Waiting) -> (Nic, Vi) {
    let nic = Nic::open(Box::new(TestProvider(vec![Arc::clone(controls)])));
    let tag = nic.protection_tag();
    let mut vi = nic.vi(ViAttributes { waiting, ..ViAttributes::default() }, &tag, None, None).unwrap();
    vi.request("", b"", SOON).unwrap();
    (nic, vi)
}

/// Waits until the attendant sleeps and leaves the VI alone.
fn lull(core: &ViCore) {
    until("the attendant sleeps", || core.is_left_alone());
}

#[test]
fn connections_accepted_at_another_reliability_level_are_refused() {
    let controls = TestControls::new(Reliability::Unreliable);
    let nic = Nic::open(Box::new(TestProvider(vec![Arc::clone(&controls)])));
    let mut vi = nic.vi(ViAttributes::default(), &nic.protection_tag(), None, None).unwrap();
    let refused = vi.request("", b"", SOON);
    assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
    assert_eq!(vi.state(), State::Idle);
}

#[test]
fn posting_wakes_the_attendant() {
    let controls = TestControls::new(Reliability::ReliableDelivery);
    let (_nic, mut vi) = connected(&controls, Waiting::Block);
    lull(&vi.core);
    let before = controls.calls();
    vi.send.post(Descriptor::send()).unwrap();
    until("some thread serves what was posted", || controls.calls() > before);
}

/// Makes connected VIs of one NIC, and waits until the attendant leaves these VIs alone.
fn many_connected(count: usize) -> (Vec<Vi>, Vec<Arc<TestControls>>) {
    let controls: Vec<_> = (0..count).map(|_| TestControls::new(Reliability::ReliableDelivery)).collect();
    let nic = Nic::open(Box::new(TestProvider(controls.clone())));
    let tag = nic.protection_tag();
    let connect = |at: usize| {
        let mut vi = nic.vi(ViAttributes::default(), &tag, None, None).unwrap();
        vi.request(&at.to_string(), b"", SOON).unwrap();
        vi
    };
    let vis: Vec<_> = (0..count).map(connect).collect();
    vis.iter().for_each(|vi| lull(&vi.core));
    (vis, controls)
}

fn calls_of(controls: &[Arc<TestControls>]) -> Vec<usize> {
    controls.iter().map(|controls| controls.calls()).collect()
}

#[test]
fn service_of_one_vi_costs_the_others_nothing() {
    const TURNS: usize = 100;
    let (vis, controls) = many_connected(100);
    let before = calls_of(&controls);
    for _ in 0..TURNS {
        // A look by another thread wakes the attendant.
        let _ = vis[0].state();
        lull(&vis[0].core);
    }
    let made: Vec<_> = calls_of(&controls).iter().zip(before).map(|(now, before)| now - before).collect();
    assert!(made[0] >= 2 * TURNS, "the attendant looks in every turn: {made:?}");
    assert!(made[1..].iter().all(|made| *made < TURNS / 10), "{made:?}");
}

#[test]
fn a_hint_of_one_port_leads_to_a_look_at_every_vi() {
    let (vis, controls) = many_connected(20);
    let before = calls_of(&controls);
    controls[7].hints.store(true, Ordering::SeqCst);
    let _ = vis[7].state();
    until("all are looked at", || calls_of(&controls).iter().zip(&before).all(|(now, before)| now > before));
}

#[test]
fn what_a_port_learns_at_its_end_leads_to_a_look_at_every_other_vi() {
    let (mut vis, controls) = many_connected(20);
    let before = calls_of(&controls);
    controls[0].hints.store(true, Ordering::SeqCst);
    vis[0].disconnect();
    let are_looked_at = || calls_of(&controls[1..]).iter().zip(&before[1..]).all(|(now, before)| now > before);
    until("the others are looked at", are_looked_at);
}

#[test]
fn a_broken_vi_does_not_keep_the_attendant_polling() {
    let controls = TestControls::new(Reliability::ReliableDelivery);
    let nic = Nic::open(Box::new(TestProvider(vec![Arc::clone(&controls)])));
    let tag = nic.protection_tag();
    let mut queue = nic.completion_queue(4).with_waiting(Waiting::Block);
    let mut vi = nic.vi(ViAttributes::default(), &tag, None, Some(&queue)).unwrap();
    vi.request("", b"", SOON).unwrap();
    lull(&vi.core);
    controls.breaks.store(true, Ordering::SeqCst);
    controls.ring();
    until("the connection is over", || vi.state() == State::Broken(Ended::Silent));
    // The attendant looks at the VI once more, to close the VI's file.
    std::thread::sleep(Duration::from_millis(10));
    controls.is_seldom_called(|| std::thread::sleep(Duration::from_millis(300)));
    controls.is_seldom_called(|| {
        assert!(matches!(queue.wait(Deadline::Within(Duration::from_millis(300))), Err(Error::TimedOut)));
    });
}

#[test]
fn waiting_without_a_receive_ends_with_the_connection() {
    let controls = TestControls::new(Reliability::ReliableDelivery);
    let (_nic, mut vi) = connected(&controls, Waiting::Block);
    let core = Arc::clone(&vi.core);
    let (send, receive) = vi.queues();
    std::thread::scope(|scope| {
        let (tell, number) = std::sync::mpsc::channel();
        let waiter = scope.spawn(move || {
            tell.send(ground::thread_number()).unwrap();
            receive.wait(SOON)
        });
        let number = number.recv().unwrap();
        until("it waits", || ground::is_asleep(number));
        lull(&core);
        controls.breaks.store(true, Ordering::SeqCst);
        // The VI's file does not announce the end of the connection. A look by another thread
        // notices the end.
        assert!(send.done().is_none());
        let outcome = waiter.join().unwrap();
        assert!(matches!(outcome, Err(Error::Disconnected { why: Ended::Silent, .. })), "{outcome:?}");
    });
}

#[test]
fn a_sleeper_that_wakes_returns_the_vi_to_the_attendant() {
    let controls = TestControls::new(Reliability::ReliableDelivery);
    let (_nic, vi) = connected(&controls, Waiting::Block);
    // The test prepares a sleep as the owner of a completion queue does. The attendant leaves the
    // VI to that owner.
    let (_, connection) = vi.core.prepare_sleep(Instant::now()).unwrap().unwrap();
    // The attendant may have begun its sleep before the owner did. This call makes the attendant
    // look at the VI again.
    vi.core.look_after(Instant::now());
    lull(&vi.core);
    let before = controls.calls();
    controls.ring();
    std::thread::sleep(Duration::from_millis(40));
    assert_eq!(controls.calls(), before, "the attendant serves a VI whose owner sleeps");
    // The owner's sleep ends, and the owner does not serve the VI.
    vi.core.end_sleep(connection);
    until("some thread serves what arrived", || controls.calls() > before);
}

#[test]
fn every_sleep_that_was_prepared_ends_once() {
    let controls = TestControls::new(Reliability::ReliableDelivery);
    let (_nic, mut vi) = connected(&controls, Waiting::Block);
    // In some rounds no thread sleeps, because the thread that should sleep runs too late. So the
    // test runs until 50 sleeps were prepared.
    let mut rounds = 0;
    while rounds < 50 || controls.prepared.load(Ordering::SeqCst) < 50 {
        rounds += 1;
        assert!(rounds < 10_000, "nobody sleeps");
        vi.receive.post(Descriptor::receive()).unwrap();
        let (send, receive) = vi.queues();
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(send.wait(Deadline::Within(Duration::from_millis(4))).is_err()));
            std::thread::sleep(Duration::from_millis(1));
            controls.brings.store(true, Ordering::SeqCst);
            controls.ring();
            receive.wait(SOON).unwrap();
        });
        let file = controls.file.lock().unwrap().clone().unwrap();
        let _ = rustix::io::read(&*file, &mut [0; 8]);
    }
    // The attendant's own sleep ends when a thread serves the VI.
    until("all are over", || {
        let _ = vi.state();
        controls.prepared.load(Ordering::SeqCst) == controls.ended.load(Ordering::SeqCst)
    });
}

#[test]
fn a_thread_that_completes_its_own_receive_does_not_ring_its_bell() {
    let controls = TestControls::new(Reliability::ReliableDelivery);
    let (_nic, mut vi) = connected(&controls, Waiting::Block);
    *controls.bringer.lock().unwrap() = Some(std::thread::current().id());
    for _ in 0..100 {
        vi.receive.post(Descriptor::receive()).unwrap();
        let rings = vi.core.rings();
        controls.brings.store(true, Ordering::SeqCst);
        controls.ring();
        vi.core.await_receive(SOON, || false).unwrap();
        while vi.receive.done().is_none() {}
        assert_eq!(vi.core.rings(), rings);
        let file = controls.file.lock().unwrap().clone().unwrap();
        let _ = rustix::io::read(&*file, &mut [0; 8]);
    }
}

#[test]
fn a_port_with_endless_work_does_not_keep_the_vi_locked() {
    let controls = TestControls::new(Reliability::ReliableDelivery);
    let (_nic, vi) = connected(&controls, Waiting::Block);
    controls.is_busy.store(true, Ordering::SeqCst);
    let looks = Cell::new(0);
    let is_over = || looks.replace(looks.get() + 1) == 1000;
    vi.core.await_receive(SOON, is_over).unwrap();
    assert_eq!(looks.get(), 1, "the caller gets the thread back after each look");
}

#[test]
fn disconnected_ports_and_their_files_are_released() {
    let controls = TestControls::new(Reliability::ReliableDelivery);
    let nic = Nic::open(Box::new(TestProvider(vec![Arc::clone(&controls)])));
    let queue = nic.completion_queue(4);
    let mut vi = nic.vi(ViAttributes::default(), &nic.protection_tag(), Some(&queue), Some(&queue)).unwrap();
    vi.request("", b"", SOON).unwrap();
    lull(&vi.core);
    vi.disconnect();
    let file = controls.file.lock().unwrap().take().unwrap();
    until("nobody else has the file", || Arc::strong_count(&file) == 1);
    let queue = queue.destroy().unwrap_err().0;
    drop(vi);
    queue.destroy().unwrap();
}

#[test]
fn a_region_is_not_posted_while_it_is_deregistered() {
    let controls = TestControls::new(Reliability::ReliableDelivery);
    let nic = Nic::open(Box::new(TestProvider(vec![controls])));
    let tag = nic.protection_tag();
    let mut vi = nic.vi(ViAttributes::default(), &tag, None, None).unwrap();
    let mut refused = 0;
    for _ in 0..300 {
        let region = nic.register(nic.memory(64).unwrap(), &tag, Access::LOCAL).unwrap();
        let descriptor = Descriptor::receive().with_segment(&region, 0, 64);
        let (posted, kept) = std::thread::scope(|scope| {
            let deregistering = scope.spawn(move || region.deregister().err());
            let posted = vi.receive.post(descriptor);
            (posted, deregistering.join().unwrap())
        });
        // Either the descriptor was posted first and the deregistration failed, or the region was
        // deregistered first and the post failed.
        assert_eq!(posted.is_ok(), kept.is_some());
        if let Err(error) = posted {
            assert_eq!(error.fault, PostFault::Protection);
            refused += 1;
        }
        vi.disconnect();
        while vi.receive.done().is_some() {}
    }
    assert!(refused < 300, "posting was first at least once");
}
