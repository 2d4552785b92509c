//! Tests of windows whose peer acknowledges nothing for a while, and of the memory that peers
//! write.

use super::*;
use crate::attributes::{Attributes, Reliability};
use crate::spi::{Listening, Offer, Port, Provider, Sink, Sleep};
use crate::window::{Options, Window, connect};
use crate::{Header, Kind};
use rustix::fd::OwnedFd;
use std::sync::atomic::AtomicUsize;

const LIMIT: Deadline = Deadline::Within(ground::LATEST);

/// The time between two sleeps of a port.
const NAP: Duration = Duration::from_millis(5);

/// The calls of a port.
#[derive(Debug, Default)]
struct Calls {
    progress: AtomicUsize,
    sleeps: AtomicUsize,
    // The number of sleeps after which the peer acknowledges all messages.
    sleeps_max: usize,
}

impl Calls {
    /// Asserts that the port made progress at most twice for each sleep, so that no thread polled.
    /// Returns the number of sleeps.
    fn checked_sleeps(&self) -> usize {
        let (progress, sleeps) = (self.progress.load(Ordering::SeqCst), self.sleeps.load(Ordering::SeqCst));
        assert!(progress <= 2 * sleeps, "the port was called {progress} times in {sleeps} sleeps");
        sleeps
    }
}

/// A provider whose peer accepts every connection.
#[derive(Debug)]
struct Slow(Arc<Calls>);

static ATTRIBUTES: Attributes = Attributes {
    provider: "slow",
    max_transfer: 1 << 20,
    max_segments: 4,
    queue_depth: RECEIVES as usize,
    rdma_write: true,
    rdma_read: false,
    reliability: &[Reliability::ReliableDelivery],
};

impl Provider for Slow {
    fn attributes(&self) -> &Attributes {
        &ATTRIBUTES
    }

    fn listen(&self, _: &str) -> Result<Box<dyn Listening>, Error> {
        Err(Error::BadState { what: "the provider only connects" })
    }

    fn connect(&self, _: &str, own: &Offer, _: Deadline) -> Result<(Box<dyn Port>, Offer), Error> {
        // The peer's greeting equals this side's greeting.
        Ok((Box::new(SlowPort(Arc::clone(&self.0))), own.clone()))
    }

    fn needs_attendance(&self) -> bool {
        false
    }
}

#[derive(Debug)]
struct SlowPort(Arc<Calls>);

impl Port for SlowPort {
    fn submit(&mut self, _: Instant, _: &mut dyn Sink) {}

    fn progress(&mut self, _: Instant, sink: &mut dyn Sink) {
        self.0.progress.fetch_add(1, Ordering::SeqCst);
        if self.0.sleeps.load(Ordering::SeqCst) >= self.0.sleeps_max {
            while sink.completed() < sink.posted() {
                sink.complete(crate::Status::Done, 0);
            }
        }
    }

    fn prepare_sleep(&mut self, now: Instant) -> Option<Sleep> {
        self.0.sleeps.fetch_add(1, Ordering::SeqCst);
        Some(Sleep { fd: None, until: Some(now + NAP) })
    }

    fn readiness(&self) -> Option<Arc<OwnedFd>> {
        None
    }

    fn disconnect(&mut self) {}

    fn peer(&self) -> String {
        "slow:1".to_owned()
    }
}

/// Sends more messages than the send queue holds. The sender has credit for all of them, but the
/// peer acknowledges no message before the sender has slept `sleeps_max` times.
fn send_too_many(sleeps_max: usize) -> (Window, Arc<Calls>) {
    let calls = Arc::new(Calls { sleeps_max, ..Calls::default() });
    let nic = Nic::open(Box::new(Slow(Arc::clone(&calls))));
    let mut window = connect(&nic, "slow:1", &Options::default(), LIMIT).unwrap();
    for _ in 0..=RECEIVES {
        window.tx.taken_all();
        window.tx.inline_frame(LIMIT).unwrap();
        window.tx.send_inline(Header { kind: Kind::Oneway, opnum: 3, first: 0, second: 0 }, 0);
    }
    (window, calls)
}

#[test]
#[cfg_attr(miri, ignore = "gives the kernel advice")]
fn a_sender_sleeps_until_the_peer_acknowledges() {
    const SLEEPS: usize = 20;
    let (window, calls) = send_too_many(SLEEPS);
    let sleeps = calls.checked_sleeps();
    assert!(sleeps >= SLEEPS, "the thread slept {sleeps} times");
    assert!(!window.is_closed());
}

#[test]
#[cfg_attr(miri, ignore = "gives the kernel advice")]
fn a_peer_that_never_acknowledges_is_disconnected_after_ten_seconds() {
    let began = Instant::now();
    let (mut window, calls) = send_too_many(usize::MAX);
    let waited = began.elapsed();
    assert!((Duration::from_secs(10)..ground::LATEST).contains(&waited), "the thread waited for {waited:?}");
    assert!(calls.checked_sleeps() > 0);
    assert!(window.is_closed());
    let error = window.rx.wait(LIMIT).unwrap_err();
    assert!(matches!(*error, Error::Disconnected { .. }), "{error}");
}

/// Returns the flags of the mapping that begins at an address.
fn flags_of(start: usize) -> String {
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let lines = maps.lines().skip_while(|line| {
        let range = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
        let [from, to] =
            range.map_or([0; 2], |(from, to)| [from, to].map(|end| usize::from_str_radix(end, 16).unwrap_or(0)));
        !(from..to).contains(&start)
    });
    let mut flags = lines.filter_map(|line| line.strip_prefix("VmFlags:"));
    flags.next().expect("the address is mapped").to_owned()
}

#[test]
#[cfg_attr(miri, ignore = "gives the kernel advice")]
fn memory_that_peers_write_has_no_huge_pages() {
    if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
        return eprintln!("skipped: the kernel has no transparent huge pages");
    }
    let nic = Nic::open(Box::new(Slow(Arc::default())));
    let region = register_for_peer(&nic, &nic.protection_tag(), nic.memory(4 << 20).unwrap()).unwrap();
    let flags = flags_of(region.memory().start().as_ptr().addr());
    assert!(flags.split_whitespace().any(|flag| flag == "nh"), "{flags}");
}

#[test]
#[cfg_attr(miri, ignore = "gives the kernel advice")]
fn an_abandoned_connection_ends_as_if_its_peer_were_silent() {
    let nic = Nic::open(Box::new(Slow(Arc::default())));
    let mut window = connect(&nic, "slow:1", &Options::default(), LIMIT).unwrap();
    let alarm = window.alarm();
    let abandon = std::thread::spawn(move || alarm.abandon());
    let error = window.rx.wait(LIMIT).unwrap_err();
    abandon.join().unwrap();
    assert!(matches!(*error, Error::Disconnected { why: Ended::Silent, .. }), "{error}");
    assert!(window.is_closed());
}
