//! Ports of the reference provider: one end of a connection within a process.

use super::Flaw;
use obvia_via::spi::{Intent, Port, Refusal, Sink, Sleep};
use obvia_via::{Ended, Error, Operation, Reliability, RemoteAddress, Status};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The maximum number of descriptors under way.
const WINDOW: u64 = 16;
/// The interval at which an end checks whether the wire is cut.
const PULSE: Duration = Duration::from_millis(20);
/// The time for which the wire must be cut before the connection is over.
const SILENCE: Duration = Duration::from_millis(100);

#[derive(Clone, Debug)]
pub(super) enum Packet {
    Message { bytes: Vec<u8>, immediate: Option<u32> },
    Write { place: RemoteAddress, bytes: Vec<u8>, immediate: Option<u32> },
    Read { place: RemoteAddress, length: u32 },
    Acknowledged { bytes: Option<Vec<u8>> },
    Refused(Refusal),
    Left,
}

/// The packets on their way to one end.
#[derive(Debug)]
pub(super) struct Direction {
    packets: Mutex<VecDeque<Packet>>,
    bell: Arc<OwnedFd>,
}

impl Direction {
    pub(super) fn new() -> Result<Arc<Self>, Error> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|errno| Error::System { doing: "making an event", source: errno.into() })?;
        Ok(Arc::new(Self { packets: Mutex::default(), bell: Arc::new(bell) }))
    }

    fn packets(&self) -> MutexGuard<'_, VecDeque<Packet>> {
        self.packets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, packet: Packet) {
        self.packets().push_back(packet);
        let _ = rustix::io::write(&*self.bell, &1_u64.to_ne_bytes());
    }
}

#[derive(Debug)]
pub(crate) struct MemoryPort {
    own: Arc<Direction>,
    peers: Arc<Direction>,
    level: Reliability,
    flaw: Flaw,
    number: u64,
    is_cut: Arc<AtomicBool>,
    cut_since: Option<Instant>,
    // The number of descriptors sent; those that are not completed are under way.
    sent: u64,
    acknowledged: u64,
    received: u64,
    lost_credit: u64,
    held: Option<Packet>,
    last_read: Option<Vec<u8>>,
    late: Vec<(RemoteAddress, Vec<u8>)>,
    is_over: bool,
}

impl MemoryPort {
    pub(super) fn new(
        own: Arc<Direction>,
        peers: Arc<Direction>,
        level: Reliability,
        flaw: Flaw,
        number: u64,
        is_cut: Arc<AtomicBool>,
    ) -> Self {
        Self {
            own,
            peers,
            level,
            flaw,
            number,
            is_cut,
            cut_since: None,
            sent: 0,
            acknowledged: 0,
            received: 0,
            lost_credit: 0,
            held: None,
            last_read: None,
            late: Vec::new(),
            is_over: false,
        }
    }

    fn tell(&self, packet: Packet) {
        if !self.is_cut.load(Ordering::Acquire) {
            self.peers.push(packet);
        }
    }

    /// Sends descriptors, as long as the window has room.
    fn send(&mut self, sink: &mut dyn Sink) {
        while !self.is_over && self.sent - self.acknowledged + self.lost_credit < WINDOW {
            let Some(descriptor) = sink.sending(self.sent) else { break };
            let gather = || {
                let mut bytes = vec![0; usize::try_from(descriptor.total()).ok()?];
                descriptor.gather(0, &mut bytes).map(|()| bytes)
            };
            let bytes = if descriptor.operation() == Operation::RdmaRead { None } else { gather() };
            let immediate = descriptor.immediate().filter(|_| self.flaw != Flaw::DropsImmediate);
            let packet = match (descriptor.operation(), descriptor.remote(), bytes) {
                (Operation::RdmaWrite, Some(place), Some(bytes)) => Packet::Write { place, bytes, immediate },
                (Operation::RdmaRead, Some(place), _) => Packet::Read { place, length: descriptor.total() as u32 },
                (_, _, bytes) => Packet::Message { bytes: bytes.unwrap_or_default(), immediate },
            };
            self.sent += 1;
            self.put(packet);
            if !self.level.is_reliable() || self.flaw == Flaw::AcknowledgesEarly {
                self.acknowledged += 1;
                complete(sink);
            }
        }
    }

    fn put(&mut self, packet: Packet) {
        let is_message = matches!(packet, Packet::Message { .. });
        match self.flaw {
            Flaw::Reorders if is_message && self.held.is_none() => self.held = Some(packet),
            Flaw::DeliversTwice if is_message && self.sent % 10 == 5 => {
                self.tell(packet.clone());
                self.tell(packet);
            }
            _ => {
                self.tell(packet);
                if let Some(held) = self.held.take() {
                    self.tell(held);
                }
            }
        }
    }

    fn handle(&mut self, packet: Packet, sink: &mut dyn Sink) {
        match packet {
            Packet::Acknowledged { bytes } => self.acknowledge(bytes, sink),
            Packet::Refused(refusal) => {
                self.is_over = true;
                sink.broken(refusal.status(), why(refusal));
            }
            Packet::Left => {
                self.is_over = true;
                sink.broken(Status::ConnectionLost, Ended::ByPeer);
            }
            request => {
                self.received += 1;
                match self.perform(request, sink) {
                    Ok(bytes) if self.level.is_reliable() => self.tell(Packet::Acknowledged { bytes }),
                    Err(refusal) if self.level.is_reliable() => {
                        self.tell(Packet::Refused(refusal));
                        if !matches!(self.flaw, Flaw::EndsOneSide | Flaw::GoesOn) {
                            self.is_over = true;
                            sink.broken(Status::Flushed, why(refusal));
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    fn acknowledge(&mut self, bytes: Option<Vec<u8>>, sink: &mut dyn Sink) {
        if self.flaw == Flaw::AcknowledgesEarly {
            return;
        }
        self.acknowledged += 1;
        if self.flaw == Flaw::LosesCredit && self.acknowledged.is_multiple_of(10) {
            self.lost_credit += 1;
        }
        if let (Some(mut bytes), Some(descriptor)) = (bytes, sink.sending(sink.completed())) {
            if self.flaw == Flaw::ReadsStale {
                let last = self.last_read.replace(bytes.clone());
                bytes = last.filter(|last| last.len() == bytes.len()).unwrap_or(bytes);
            }
            let _ = descriptor.scatter(0, &bytes);
        }
        complete(sink);
    }

    /// Carries out a request of the peer. Returns the bytes of a read.
    fn perform(&mut self, request: Packet, sink: &mut dyn Sink) -> Result<Option<Vec<u8>>, Refusal> {
        match request {
            Packet::Message { mut bytes, immediate } => {
                if self.flaw == Flaw::Truncates
                    && let Some(receive) = sink.receiving(0)
                {
                    bytes.truncate(receive.total() as usize);
                }
                sink.begin_message(bytes.len() as u32 + u32::from(self.flaw == Flaw::Miscounts))?;
                sink.fill_message(0, &bytes);
                sink.end_message(immediate);
            }
            Packet::Write { place, bytes, .. } if self.flaw == Flaw::WritesLate => self.late.push((place, bytes)),
            Packet::Write { place, bytes, immediate } => {
                if immediate.is_some() && sink.receives() == 0 {
                    return Err(Refusal::ReceiverNotReady);
                }
                self.write(place, &bytes, sink)?;
                if immediate.is_some() || (self.flaw == Flaw::ConsumesAlways && sink.receives() > 0) {
                    sink.complete_receive(Operation::RdmaWrite, bytes.len() as u32, immediate)?;
                }
            }
            Packet::Read { place, length } => {
                let region = sink.remote(place, u64::from(length), Intent::Read)?;
                let mut bytes = vec![0; length as usize];
                region.memory().read(place.offset, &mut bytes).ok_or(Refusal::Protection)?;
                return Ok(Some(bytes));
            }
            _ => {}
        }
        Ok(None)
    }

    fn write(&self, place: RemoteAddress, bytes: &[u8], sink: &mut dyn Sink) -> Result<(), Refusal> {
        let intent = if self.flaw == Flaw::ChecksNoRight { Intent::Read } else { Intent::Write };
        let piece = if self.flaw == Flaw::WritesBeforeCheck { 64 } else { bytes.len().max(1) };
        sink.remote(place, (bytes.len().min(piece)) as u64, intent)?;
        for (at, some) in (0..).step_by(piece).zip(bytes.chunks(piece)) {
            let offset = place.offset.checked_add(at).ok_or(Refusal::Protection)?;
            let region = sink.remote(RemoteAddress { offset, ..place }, some.len() as u64, intent)?;
            region.memory().write(offset, some).ok_or(Refusal::Protection)?;
        }
        Ok(())
    }

    fn look_at_wire(&mut self, now: Instant, sink: &mut dyn Sink) {
        if !self.is_cut.load(Ordering::Acquire) || self.flaw == Flaw::WaitsForEver {
            return;
        }
        let since = *self.cut_since.get_or_insert(now);
        if now.duration_since(since) >= SILENCE && self.level.is_reliable() {
            self.is_over = true;
            sink.broken(Status::ConnectionLost, Ended::Silent);
        }
    }
}

fn why(refusal: Refusal) -> Ended {
    match refusal {
        Refusal::ReceiverNotReady => Ended::ReceiverNotReady,
        Refusal::TooLong => Ended::TooLong,
        Refusal::Protection => Ended::Protection,
    }
}

/// Completes the oldest descriptor as done.
fn complete(sink: &mut dyn Sink) {
    let total = sink.sending(sink.completed()).map_or(0, obvia_via::Descriptor::total);
    sink.complete(Status::Done, total as u32);
}

impl Port for MemoryPort {
    fn submit(&mut self, _: Instant, sink: &mut dyn Sink) {
        self.send(sink);
    }

    fn progress(&mut self, now: Instant, sink: &mut dyn Sink) {
        if self.flaw == Flaw::Starves && self.number % 4 == 3 && self.received >= 2 {
            return;
        }
        for (place, bytes) in std::mem::take(&mut self.late) {
            let _ = self.write(place, &bytes, sink);
        }
        loop {
            let waits = self.flaw == Flaw::WaitsForReceive && sink.receives() == 0;
            let mut packets = self.own.packets();
            if waits && matches!(packets.front(), Some(Packet::Message { .. })) {
                break;
            }
            let Some(packet) = packets.pop_front() else { break };
            drop(packets);
            self.handle(packet, sink);
        }
        self.look_at_wire(now, sink);
        self.send(sink);
        if let Some(held) = self.held.take() {
            self.tell(held);
        }
    }

    fn prepare_sleep(&mut self, now: Instant) -> Option<Sleep> {
        let mut count = [0; 8];
        // The read fails if the bell was not rung, which is no error here.
        let _ = rustix::io::read(&*self.own.bell, &mut count);
        let is_quiet = self.own.packets().is_empty();
        is_quiet.then(|| Sleep { fd: self.readiness(), until: Some(now + PULSE) })
    }

    fn readiness(&self) -> Option<Arc<OwnedFd>> {
        Some(Arc::clone(&self.own.bell))
    }

    fn disconnect(&mut self) {
        if self.flaw == Flaw::LeaksFiles {
            std::mem::forget(Arc::clone(&self.own));
        }
        if self.flaw != Flaw::LeavesQuietly {
            self.tell(Packet::Left);
        }
    }

    fn peer(&self) -> String {
        "this process".to_owned()
    }
}
