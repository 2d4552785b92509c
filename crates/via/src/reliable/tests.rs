//! Two engines, and a network between them with the faults that the test wants, in virtual time.

mod bad_networks;
mod ecn;
mod fast_path;
mod handshakes;
mod long_lines;
mod losses;
mod operations;
mod pacing;
mod path_length;
mod slow_start;
mod tokens;

use super::handshake::{Answer, Answering, Requesting};
use super::packet::{self, Body};
use super::{Engine, Marks, Settings};
use crate::attributes::Reliability;
use crate::descriptor::{Descriptor, Operation, RemoteAddress, Segment, Status};
use crate::error::Ended;
use crate::memory::{Access, Hold, Memory, MemoryHandle, Region, Tag};
use crate::spi::{Intent, Offer, Refusal, Sink};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};

pub(super) const MTU: usize = 1472;
const MILLISECOND: u64 = 1_000_000;

/// The random number generator xorshift64*: Vigna, ACM TOMS 42, 2016.
#[derive(Debug)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    pub(super) fn one_in(&mut self, times: u64) -> bool {
        times > 0 && self.next().is_multiple_of(times)
    }
}

pub(super) fn region(length: usize, access: Access) -> Arc<Region> {
    let handle = OnceLock::new();
    handle.set(MemoryHandle([7, 8])).unwrap();
    Arc::new(Region {
        memory: Memory::new(length).unwrap(),
        tag: Arc::new(Tag { nic: 0, number: 0, users: AtomicUsize::new(0) }),
        access,
        handle,
        hold: Hold::default(),
        provider: OnceLock::new(),
    })
}

/// Queues like those of a VI, and one region that the peer may reach.
#[derive(Debug)]
pub(super) struct Queues {
    pub(super) send: VecDeque<Box<Descriptor>>,
    pub(super) receive: VecDeque<Box<Descriptor>>,
    pub(super) sent: Vec<Descriptor>,
    pub(super) received: Vec<Descriptor>,
    posted: u64,
    completed: u64,
    message: Option<u32>,
    pub(super) exposed: Arc<Region>,
    pub(super) ended: Option<Ended>,
}

impl Queues {
    fn new() -> Self {
        Self {
            send: VecDeque::new(),
            receive: VecDeque::new(),
            sent: Vec::new(),
            received: Vec::new(),
            posted: 0,
            completed: 0,
            message: None,
            exposed: region(1 << 20, Access::BOTH),
            ended: None,
        }
    }

    fn received(&mut self, status: Status, length: u32, immediate: Option<u32>) {
        let mut descriptor = self.receive.pop_front().unwrap();
        (descriptor.status, descriptor.transferred, descriptor.immediate) = (status, length, immediate);
        self.received.push(*descriptor);
    }
}

impl Sink for Queues {
    fn sending(&self, index: u64) -> Option<&Descriptor> {
        self.send.get(usize::try_from(index.checked_sub(self.completed)?).unwrap()).map(|descriptor| &**descriptor)
    }

    fn posted(&self) -> u64 {
        self.posted
    }

    fn completed(&self) -> u64 {
        self.completed
    }

    fn complete(&mut self, status: Status, transferred: u32) {
        let mut descriptor = self.send.pop_front().unwrap();
        (descriptor.status, descriptor.transferred) = (status, transferred);
        self.sent.push(*descriptor);
        self.completed += 1;
    }

    fn receives(&self) -> usize {
        self.receive.len()
    }

    fn receiving(&self, index: usize) -> Option<&Descriptor> {
        self.receive.get(index).map(|descriptor| &**descriptor)
    }

    fn begin_message(&mut self, length: u32) -> Result<(), Refusal> {
        assert!(self.message.is_none());
        let room = self.receive.front().ok_or(Refusal::ReceiverNotReady)?.total();
        if room < u64::from(length) {
            self.received(Status::TooLong, 0, None);
            return Err(Refusal::TooLong);
        }
        self.message = Some(length);
        Ok(())
    }

    fn fill_message(&mut self, offset: u32, bytes: &[u8]) {
        assert!(self.message.is_some());
        self.receive[0].scatter(u64::from(offset), bytes).unwrap();
    }

    fn end_message(&mut self, immediate: Option<u32>) {
        let length = self.message.take().unwrap();
        self.received(Status::Done, length, immediate);
    }

    fn abandon_message(&mut self) {
        assert!(self.message.take().is_some());
    }

    fn complete_receive(&mut self, operation: Operation, length: u32, immediate: Option<u32>) -> Result<(), Refusal> {
        assert_eq!(operation, Operation::RdmaWrite);
        if self.receive.is_empty() {
            return Err(Refusal::ReceiverNotReady);
        }
        self.received(Status::Done, length, immediate);
        Ok(())
    }

    fn remote(&self, place: RemoteAddress, length: u64, intent: Intent) -> Result<Arc<Region>, Refusal> {
        let may = if intent == Intent::Write { self.exposed.access.write } else { self.exposed.access.read };
        let is_right = place.handle == MemoryHandle([7, 8]) && self.exposed.memory.holds(place.offset, length);
        if may && is_right { Ok(Arc::clone(&self.exposed)) } else { Err(Refusal::Protection) }
    }

    fn broken(&mut self, status: Status, why: Ended) {
        assert_eq!(self.ended.replace(why), None);
        let mut status = status;
        while !self.send.is_empty() {
            self.complete(std::mem::replace(&mut status, Status::Flushed), 0);
        }
        self.message = None;
        while !self.receive.is_empty() {
            self.received(Status::Flushed, 0, None);
        }
    }
}

/// One end: the equivalent of a port, in virtual time.
#[derive(Debug)]
pub(super) struct End {
    pub(super) engine: Box<Engine>,
    pub(super) queues: Queues,
}

/// The faults of a network. In the first three fields, a value of *n* means that one in *n*
/// datagrams has the fault; 0 means that none has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Faults {
    pub(super) loses: u64,
    pub(super) doubles: u64,
    pub(super) damages: u64,
    /// The variation of the delay, in nanoseconds.
    pub(super) jitter: u64,
    /// The maximum length of a datagram that gets through; 0 for any length.
    pub(super) most: usize,
    /// Whether datagrams with marks never get through.
    pub(super) loses_marks: bool,
    /// The maximum length of a datagram that the link takes; 0 for any length.
    pub(super) refuses_above: usize,
    /// Whether datagrams from end 0, or end 1, never get through.
    pub(super) cut: [bool; 2],
}

/// The line between the two ends, the same in both directions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// The delay of a datagram, in nanoseconds.
    pub(super) delay: u64,
    /// The rate in bits per second; 0 for no limit.
    pub(super) rate: u64,
    /// The number of bytes that may wait for a line with a rate. Further datagrams are lost.
    pub(super) queue: u64,
    /// The number of waiting bytes from which on the line marks datagrams; 0 for no marks.
    pub(super) marks_from: u64,
}

impl Default for Line {
    fn default() -> Self {
        Self { delay: 20_000, rate: 0, queue: 0, marks_from: 0 }
    }
}

/// Two ends and the network.
#[derive(Debug)]
pub(super) struct Net {
    pub(super) ends: [End; 2],
    pub(super) now: u64,
    pub(super) faults: Faults,
    /// The numbers of end 0's data packets whose next transmission gets lost.
    pub(super) lost: BTreeSet<u32>,
    pub(super) line: Line,
    // The time at which each direction of the line has sent all datagrams.
    pub(super) line_free: [u64; 2],
    pub(super) chance: Chance,
    in_flight: BTreeMap<(u64, u64), (usize, Vec<u8>, Marks)>,
    // The marks that each end has received.
    marks: [Marks; 2],
    serial: u64,
    idle: u32,
    /// The number of datagrams sent.
    pub(super) datagrams: u64,
    /// The number of datagrams for which the line's queue had no room.
    pub(super) overflowed: u64,
    /// Whether predicted packets take the fast path.
    pub(super) predicts: bool,
}

pub(super) fn offer(reliability: Reliability) -> Offer {
    Offer { reliability, max_transfer: 1 << 20, private: b"hello".to_vec() }
}

impl Net {
    pub(super) fn new(reliability: Reliability) -> Self {
        Self::with(reliability, &Settings::default(), MTU)
    }

    pub(super) fn with(reliability: Reliability, settings: &Settings, mtu: usize) -> Self {
        Self::over(reliability, settings, mtu, Line::default())
    }

    /// Makes a connection over a line. The time begins when the requesting side has the acceptance.
    pub(super) fn over(reliability: Reliability, settings: &Settings, mtu: usize, line: Line) -> Self {
        let mut requesting = Requesting::new(settings, 0x1111, "there", &offer(reliability)).unwrap();
        let answering = Answering::from_datagram(requesting.transmit(0).unwrap()).unwrap();
        let mut one = answering.accept(settings, line.delay, 0x2222, &offer(reliability), mtu).unwrap();
        let (mut queues, mut bytes) = (Queues::new(), vec![0; mtu]);
        let length = one.transmit(line.delay, &mut queues, &mut bytes).unwrap();
        let now = 2 * line.delay;
        while requesting.due() < now {
            let due = requesting.due();
            assert!(requesting.transmit(due).is_some());
        }
        let Some(Answer::Accepted(other, peers)) = requesting.handle(now, &bytes[..length], mtu) else { panic!() };
        assert_eq!(peers, offer(reliability));
        let ends = [End { engine: other, queues: Queues::new() }, End { engine: Box::new(one), queues }];
        Self {
            ends,
            now,
            faults: Faults::default(),
            lost: BTreeSet::new(),
            line,
            line_free: [0; 2],
            chance: Chance(0x9e37_79b9),
            in_flight: BTreeMap::new(),
            marks: [Marks::default(); 2],
            serial: 0,
            idle: 0,
            datagrams: 0,
            overflowed: 0,
            predicts: true,
        }
    }

    pub(super) fn deliver(&mut self, from: usize, datagram: &[u8]) {
        self.datagrams += 1;
        let marks = self.mark(from);
        let Some(sent) = self.serialise(from, datagram.len()) else { return };
        if from == 0
            && !self.lost.is_empty()
            && let Ok((header, Body::Data(..))) = packet::parse(datagram)
            && self.lost.remove(&header.number)
        {
            return;
        }
        let faults = self.faults;
        if faults.loses_marks && self.ends[from].engine.sends_marks() {
            return;
        }
        if faults.cut[from] || (faults.most > 0 && datagram.len() > faults.most) || self.chance.one_in(faults.loses) {
            return;
        }
        for _ in 0..=u64::from(self.chance.one_in(faults.doubles)) {
            let mut bytes = datagram.to_vec();
            if self.chance.one_in(faults.damages) {
                let at = self.chance.next() as usize % bytes.len();
                bytes[at] ^= 1 << (self.chance.next() % 8);
            }
            let jitter = if faults.jitter > 0 { self.chance.next() % faults.jitter } else { 0 };
            self.serial += 1;
            self.in_flight.insert((sent + self.line.delay + jitter, self.serial), (1 - from, bytes, marks));
        }
    }

    /// Returns the mark that a datagram has after it has passed the line.
    fn mark(&self, from: usize) -> Marks {
        let Line { rate, marks_from, .. } = self.line;
        let capable = u32::from(marks_from > 0 && self.ends[from].engine.sends_marks());
        let waits = self.line_free[from].saturating_sub(self.now) * rate / 8 / 1_000_000_000;
        Marks { capable, congested: if waits >= marks_from { capable } else { 0 } }
    }

    /// Returns the time at which the line has sent a datagram. `None` when too much is waiting.
    fn serialise(&mut self, from: usize, length: usize) -> Option<u64> {
        let Line { rate, queue, .. } = self.line;
        if rate == 0 {
            return Some(self.now);
        }
        let takes = |bytes: u64| bytes * 8 * 1_000_000_000 / rate;
        let start = self.line_free[from].max(self.now);
        if start - self.now > takes(queue) {
            self.overflowed += 1;
            return None;
        }
        self.line_free[from] = start + takes(length as u64);
        Some(self.line_free[from])
    }

    /// Sends all packets that either end has to send.
    pub(super) fn flush(&mut self) {
        for at in 0..2 {
            let mut bytes = vec![0; 1 << 16];
            let now = self.now;
            let End { engine, queues } = &mut self.ends[at];
            if self.predicts
                && let Some(made) = engine.make_expected(queues, &mut bytes)
            {
                engine.sent_expected(now, made);
                self.deliver(at, &bytes[..made.length]);
            }
            loop {
                let End { engine, queues } = &mut self.ends[at];
                engine.tick(now, queues);
                let Some(length) = engine.transmit(now, queues, &mut bytes) else { break };
                if self.faults.refuses_above > 0 && length > self.faults.refuses_above {
                    engine.is_too_long(now, length);
                    continue;
                }
                self.deliver(at, &bytes[..length]);
            }
        }
    }

    /// Returns the time of the next event, if nothing is to be sent before it.
    pub(super) fn next_event(&self) -> Option<u64> {
        let due = self.ends.iter().filter_map(|end| end.engine.due()).min();
        let comes = self.in_flight.keys().next().map(|(time, _)| *time);
        due.into_iter().chain(comes).min()
    }

    /// Sends all due packets, and advances the time to the next event. Returns `false` when no
    /// event is left.
    pub(super) fn step(&mut self) -> bool {
        self.step_to(u64::MAX)
    }

    /// As [`Self::step`], but advances the time to `limit` at most.
    pub(super) fn step_to(&mut self, limit: u64) -> bool {
        self.flush();
        let Some(next) = self.next_event() else { return false };
        let next = next.min(limit);
        self.idle = if next > self.now { 0 } else { self.idle + 1 };
        assert!(self.idle < 1000, "something is due and not done: {:#?}", self.ends);
        self.now = self.now.max(next);
        while let Some(entry) = self.in_flight.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let (to, bytes, marks) = entry.remove();
            let all = &mut self.marks[to];
            *all = Marks { capable: all.capable + marks.capable, congested: all.congested + marks.congested };
            self.ends[to].engine.received_marks_are(*all);
            let End { engine, queues } = &mut self.ends[to];
            if !self.predicts || !engine.take_expected(&bytes, queues) {
                let _ = engine.handle(self.now, &bytes, queues);
            }
        }
        true
    }

    /// Lets time pass until the condition holds, for a minute at most.
    pub(super) fn until(&mut self, what: impl Fn(&[End; 2]) -> bool) {
        let limit = self.now + 60_000 * MILLISECOND;
        while !what(&self.ends) {
            let goes_on = self.step() && self.now < limit;
            assert!(goes_on || what(&self.ends), "it does not come about: {:#?}", self.ends);
        }
    }

    /// Lets a span of time pass.
    pub(super) fn pass(&mut self, span: u64) {
        let limit = self.now + span;
        while self.now < limit && self.step_to(limit) {}
        self.now = limit;
    }

    pub(super) fn post(&mut self, at: usize, descriptor: Box<Descriptor>) {
        let queues = &mut self.ends[at].queues;
        queues.send.push_back(descriptor);
        queues.posted += 1;
    }

    pub(super) fn post_receive(&mut self, at: usize, length: u32) {
        self.ends[at].queues.receive.push_back(with(
            Descriptor::receive(),
            &region(length as usize, Access::LOCAL),
            length,
        ));
    }
}

/// Adds a segment of `region` to a descriptor.
pub(super) fn with(mut descriptor: Box<Descriptor>, region: &Arc<Region>, length: u32) -> Box<Descriptor> {
    descriptor.segments_mut().push(Segment { region: Arc::clone(region), offset: 0, length });
    descriptor
}

/// Returns bytes that depend on `number` and on their position.
pub(super) fn pattern(number: u64, length: u32) -> Vec<u8> {
    (0..length).map(|at| (number as u32).wrapping_mul(31).wrapping_add(at.wrapping_mul(at) >> 5) as u8).collect()
}

/// Adds a segment with these bytes to a descriptor.
pub(super) fn carrying(descriptor: Box<Descriptor>, bytes: &[u8]) -> Box<Descriptor> {
    let region = region(bytes.len(), Access::LOCAL);
    region.memory.write(0, bytes).unwrap();
    with(descriptor, &region, bytes.len() as u32)
}

/// Returns the bytes of a completed receive or read.
pub(super) fn got(descriptor: &Descriptor) -> Vec<u8> {
    let mut bytes = vec![0; descriptor.length() as usize];
    descriptor.gather(0, &mut bytes).unwrap();
    bytes
}

pub(super) fn place(offset: u64) -> RemoteAddress {
    RemoteAddress { handle: MemoryHandle([7, 8]), offset }
}

pub(super) fn statuses(descriptors: &[Descriptor]) -> Vec<Status> {
    descriptors.iter().map(|descriptor| descriptor.status()).collect()
}

pub(super) fn deregister(region: &Region) {
    region.hold.end();
}
