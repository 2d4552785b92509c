//! One side of a trial: its VI, its memory, and the progress of its descriptors.

use super::plan::{Fault, Kind, Operation, Receive, Round};
use crate::error::Ended;
use crate::memory::{MemoryHandle, MemoryRegion};
use crate::provider::sim::net::SimLink;
use crate::reliable::{Answering, Requesting, Tokens};
use crate::wrap::Random;
use crate::{Access, Descriptor, Error, Nic, ProtectionTag, Reliability, RemoteAddress, State, Vi, ViAttributes};
use std::time::Duration;

/// The length of the guard between two stretches, in bytes. The bytes of a guard must stay
/// untouched.
const GUARD: u64 = 64;
/// The length of the guard at the end of a region, in bytes.
const TAIL: u64 = 1 << 16;

/// One side of a trial.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) number: usize,
    pub(super) nic: Nic,
    pub(super) tag: ProtectionTag,
    pub(super) vi: Vi,
    pub(super) stage: Stage,
    /// The keys of the tokens that the side gives to its peers. They stay the same in all rounds of
    /// a trial.
    pub(super) tokens: Tokens,
    pub(super) memory: Option<Areas>,
    /// The number of operations posted.
    pub(super) posted: usize,
    /// The number of operations whose descriptors have left the send queue.
    pub(super) completed: usize,
    /// The first operation that was not done, and whether the peer refused it.
    pub(super) failed: Option<(usize, bool)>,
    /// The number of receives posted.
    pub(super) receives: usize,
    /// The number of receives that had been posted when the connection ended.
    pub(super) receives_at_end: Option<usize>,
    /// The number of receives whose descriptors have left the receive queue.
    pub(super) received: usize,
    /// The number of the peer's operations checked so far: the next receive holds the data of a
    /// later operation.
    pub(super) taken: usize,
    pub(super) ended: Option<Ended>,
    /// The number of receives that hold data.
    pub(super) messages: u64,
}

/// The state of a side's connection.
#[derive(Debug)]
pub(super) enum Stage {
    /// The side has no connection, and will have none in this round.
    Out,
    /// The side requests a connection.
    Asks(Box<Requesting>, SimLink),
    /// The side waits for a request.
    Listens(SimLink),
    /// The side got a request, and waits until this time before it answers.
    Thinks(Answering, SimLink, Duration),
    /// The side has been connected since this time.
    Connected(Duration),
}

/// The memory of one side in one round.
#[derive(Debug)]
pub(super) struct Areas {
    /// The bytes of the side's sends and writes, one stretch for each of its operations. Peers have
    /// no access.
    pub(super) source: Area,
    /// The destination of the side's RDMA reads.
    pub(super) landing: Area,
    /// The target of the peer's RDMA, one stretch for each of the peer's operations.
    pub(super) target: Area,
    /// The destination of messages, one stretch for each receive.
    pub(super) inbox: Area,
}

/// A region of stretches with guards between them.
#[derive(Debug)]
pub(super) struct Area {
    pub(super) region: MemoryRegion,
    stretches: Vec<(u64, u32)>,
}

impl Area {
    fn new(nic: &Nic, tag: &ProtectionTag, access: Access, lengths: impl Iterator<Item = u32>) -> Result<Self, Error> {
        let mut end = GUARD;
        let stretches: Vec<_> = lengths
            .map(|length| {
                let start = end;
                end += u64::from(length) + GUARD;
                (start, length)
            })
            .collect();
        let region = nic.register(nic.memory((end + TAIL) as usize)?, tag, access)?;
        Ok(Self { region, stretches })
    }

    /// Returns the remote address of a stretch: the region's handle, and the stretch's offset.
    pub(super) fn place(&self, index: usize) -> RemoteAddress {
        RemoteAddress { handle: self.region.handle(), offset: self.stretches[index].0 }
    }

    /// Returns the bytes of a stretch.
    pub(super) fn bytes(&self, index: usize, length: u32) -> Vec<u8> {
        let mut bytes = vec![0; length as usize];
        // The read fails for bytes outside of the region. These bytes stay zero, so the judge finds
        // them wrong.
        let _ = self.region.memory().read(self.stretches[index].0, &mut bytes);
        bytes
    }

    pub(super) fn fill(&self, index: usize, bytes: &[u8]) {
        let _ = self.region.memory().write(self.stretches[index].0, bytes);
    }

    /// Whether bytes that must stay untouched have changed.
    pub(super) fn is_overrun(&self) -> bool {
        let memory = self.region.memory();
        let is_dirty = |offset: u64, length: u64| {
            let mut bytes = vec![0xff; length as usize];
            memory.read(offset, &mut bytes).is_none() || bytes.iter().any(|byte| *byte != 0)
        };
        is_dirty(0, GUARD)
            || self.stretches.iter().any(|(start, length)| is_dirty(start + u64::from(*length), GUARD))
            || is_dirty(memory.len() as u64 - TAIL, TAIL)
    }

    /// Adds `count` segments for a stretch to a descriptor, some of them empty.
    fn segments(&self, mut descriptor: Box<Descriptor>, index: usize, length: u32, count: u32) -> Box<Descriptor> {
        let (start, _) = self.stretches[index];
        let (mut offset, part) = (0, length / count);
        for number in 0..count {
            let length = match number {
                _ if number + 1 == count => length - offset,
                1 => 0,
                _ => part,
            };
            descriptor = descriptor.with_segment(&self.region, start + u64::from(offset), length);
            offset += length;
        }
        descriptor
    }
}

/// Returns the bytes of an operation: those sent or written, or those to be read.
pub(super) fn pattern(key: u64, side: usize, index: usize, length: u32) -> Vec<u8> {
    let mut bytes = vec![0; length as usize];
    Random::stream(key, (side as u64) << 32 | index as u64).fill(&mut bytes);
    bytes
}

impl Side {
    pub(super) fn new(number: usize, nic: Nic, reliability: Reliability) -> Result<Self, Error> {
        let tag = nic.protection_tag();
        let vi = nic.vi(ViAttributes { reliability, ..ViAttributes::default() }, &tag, None, None)?;
        Ok(Self {
            number,
            nic,
            tag,
            vi,
            stage: Stage::Out,
            tokens: Tokens::new([number as u8; 32]),
            memory: None,
            posted: 0,
            completed: 0,
            failed: None,
            receives: 0,
            receives_at_end: None,
            received: 0,
            taken: 0,
            ended: None,
            messages: 0,
        })
    }

    /// Prepares for a round.
    pub(super) fn prepare(&mut self, key: u64, round: &Round) -> Result<(), Error> {
        let (own, peers) = (&round.sides[self.number], &round.sides[1 - self.number]);
        let area = |access, lengths: &mut dyn Iterator<Item = u32>| Area::new(&self.nic, &self.tag, access, lengths);
        let lengths =
            |operations: &[Operation]| operations.iter().map(|one| one.length).collect::<Vec<_>>().into_iter();
        let memory = Areas {
            source: area(Access::LOCAL, &mut lengths(&own.operations))?,
            landing: area(Access::LOCAL, &mut lengths(&own.operations))?,
            target: area(Access::BOTH, &mut lengths(&peers.operations))?,
            inbox: area(Access::LOCAL, &mut own.receives.iter().map(|receive| receive.room))?,
        };
        for (index, operation) in own.operations.iter().enumerate() {
            memory.source.fill(index, &pattern(key, self.number, index, operation.length));
        }
        for (index, operation) in peers.operations.iter().enumerate().filter(|(_, one)| one.kind == Kind::Read) {
            memory.target.fill(index, &pattern(key, 1 - self.number, index, operation.length));
        }
        self.memory = Some(memory);
        (self.posted, self.completed, self.failed) = (0, 0, None);
        (self.receives, self.receives_at_end, self.received, self.taken) = (0, None, 0, 0);
        (self.ended, self.stage) = (None, Stage::Out);
        Ok(())
    }

    /// Posts the next operation. RDMA goes to the peer's memory.
    pub(super) fn post(&mut self, operation: &Operation, peers: &Areas) -> Result<(), String> {
        let Some(memory) = &self.memory else { return Ok(()) };
        let index = self.posted;
        let place = match operation.fault {
            None => peers.target.place(index),
            Some(Fault::Handle) => RemoteAddress { handle: MemoryHandle([77, 77]), offset: 0 },
            Some(Fault::Bounds) => {
                let length = peers.target.region.memory().len() as u64;
                RemoteAddress { handle: peers.target.region.handle(), offset: length - u64::from(operation.length / 2) }
            }
            Some(Fault::Access) => RemoteAddress { handle: peers.source.region.handle(), offset: 0 },
        };
        let (descriptor, area) = match operation.kind {
            Kind::Send => (Descriptor::send(), &memory.source),
            Kind::Write => (Descriptor::rdma_write(place), &memory.source),
            Kind::Read => (Descriptor::rdma_read(place), &memory.landing),
        };
        let mut descriptor = area.segments(descriptor, index, operation.length, operation.segments);
        descriptor.set_immediate(operation.immediate);
        descriptor.context = index as u64;
        self.posted += 1;
        self.vi.send.post(descriptor).map_err(|error| format!("operation {index} was not posted: {error}"))
    }

    pub(super) fn post_receive(&mut self, receive: &Receive) -> Result<(), String> {
        let Some(memory) = &self.memory else { return Ok(()) };
        let index = self.receives;
        let descriptor = memory.inbox.segments(Descriptor::receive(), index, receive.room, receive.segments);
        self.receives += 1;
        let descriptor = descriptor.with_context(index as u64);
        self.vi.receive.post(descriptor).map_err(|error| format!("receive {index} was not posted: {error}"))
    }

    /// Whether the side's connection is over, or the side has given up.
    pub(super) fn is_over(&self) -> bool {
        self.ended.is_some()
    }

    pub(super) fn is_connected(&self) -> bool {
        matches!(self.stage, Stage::Connected(_))
    }

    /// Notes the end of the connection. Returns the reason if it ended just now.
    pub(super) fn look(&mut self) -> Option<Ended> {
        if self.ended.is_some() || !self.is_connected() {
            return None;
        }
        let State::Broken(why) = self.vi.state() else { return None };
        (self.ended, self.receives_at_end) = (Some(why), Some(self.receives));
        Some(why)
    }

    /// Disconnects, as an accident of the round or at its end.
    pub(super) fn disconnect(&mut self) {
        self.vi.disconnect();
        if self.ended.is_none() {
            (self.ended, self.receives_at_end) = (Some(Ended::Here), Some(self.receives));
        }
    }
}
