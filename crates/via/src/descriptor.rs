//! Descriptors: what a VI is asked to do, and how it went.
//!
//! VI Architecture 1.0, "Descriptors": a control segment (operation, status, length, immediate data), an address segment
//! for RDMA, and data segments to gather from or scatter to.

use crate::memory::{Memory, MemoryHandle, Region};
use std::fmt;
use std::sync::Arc;

/// What a descriptor does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Sends its segments to a receive descriptor of the peer.
    Send,
    /// Takes one message.
    Receive,
    /// Writes its segments to the peer's memory.
    RdmaWrite,
    /// Reads the peer's memory into its segments.
    RdmaRead,
}

/// A place in a peer's region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteAddress {
    /// The region, as the peer named it.
    pub handle: MemoryHandle,
    /// Bytes from its start.
    pub offset: u64,
}

/// A stretch of a registered region of this process.
#[derive(Clone, Debug)]
pub struct Segment {
    pub(crate) region: Arc<Region>,
    /// Bytes from the region's start.
    pub offset: u64,
    /// Bytes.
    pub length: u32,
}

impl Segment {
    /// The region's memory.
    pub fn region(&self) -> &Arc<Region> {
        &self.region
    }
}

/// How a descriptor went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// It has not been posted, or is not finished.
    #[default]
    Pending,
    /// It was done.
    Done,
    /// The message was longer than the receive descriptor has room for.
    TooLong,
    /// The peer had posted no receive descriptor.
    ReceiverNotReady,
    /// The peer's memory does not allow it: no such region, out of bounds, another tag, or without the right.
    RemoteProtection,
    /// The VI was not connected.
    NotConnected,
    /// The connection was lost, or an earlier descriptor broke it.
    Flushed,
    /// The connection broke while this one was being done: the peer is gone or does not answer.
    ConnectionLost,
}

impl Status {
    /// Whether the operation was performed.
    pub fn is_done(self) -> bool {
        self == Self::Done
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pending => "not finished",
            Self::Done => "done",
            Self::TooLong => "the message was longer than the posted receive",
            Self::ReceiverNotReady => "the peer had no receive posted",
            Self::RemoteProtection => "the peer's memory does not allow it",
            Self::NotConnected => "the VI was not connected",
            Self::Flushed => "flushed, since the connection ended before it",
            Self::ConnectionLost => "the connection was lost",
        })
    }
}

/// An order to a VI. It is posted by value and comes back completed.
#[derive(Debug)]
pub struct Descriptor {
    pub(crate) operation: Operation,
    pub(crate) immediate: Option<u32>,
    pub(crate) remote: Option<RemoteAddress>,
    pub(crate) segments: Vec<Segment>,
    pub(crate) status: Status,
    pub(crate) transferred: u32,
    /// Whatever its owner wants to find it by.
    pub context: u64,
    claimed: bool,
    keeps_claim: bool,
}

impl Descriptor {
    fn new(operation: Operation, remote: Option<RemoteAddress>) -> Box<Self> {
        Box::new(Self {
            operation,
            immediate: None,
            remote,
            segments: Vec::new(),
            status: Status::Pending,
            transferred: 0,
            context: 0,
            claimed: false,
            keeps_claim: false,
        })
    }

    /// A send.
    pub fn send() -> Box<Self> {
        Self::new(Operation::Send, None)
    }

    /// A receive.
    pub fn receive() -> Box<Self> {
        Self::new(Operation::Receive, None)
    }

    /// An RDMA write.
    pub fn rdma_write(to: RemoteAddress) -> Box<Self> {
        Self::new(Operation::RdmaWrite, Some(to))
    }

    /// An RDMA read.
    pub fn rdma_read(from: RemoteAddress) -> Box<Self> {
        Self::new(Operation::RdmaRead, Some(from))
    }

    /// Adds a data segment.
    #[must_use]
    pub fn with_segment(mut self: Box<Self>, region: &crate::MemoryRegion, offset: u64, length: u32) -> Box<Self> {
        self.segments.push(Segment { region: Arc::clone(&region.core), offset, length });
        self
    }

    /// Sends 32 bits along, which the peer finds in the receive descriptor that this one consumes.
    #[must_use]
    pub fn with_immediate(mut self: Box<Self>, data: u32) -> Box<Self> {
        self.immediate = Some(data);
        self
    }

    /// Notes what its owner wants to find it by.
    #[must_use]
    pub fn with_context(mut self: Box<Self>, context: u64) -> Box<Self> {
        self.context = context;
        self
    }

    /// What it does.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// The data segments.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The data segments, for the next time it is posted.
    pub fn segments_mut(&mut self) -> &mut Vec<Segment> {
        &mut self.segments
    }

    /// Makes this stretch of a region its only segment, for the next time it is posted.
    pub(crate) fn point_to(&mut self, region: &Arc<Region>, offset: u64, length: u32) {
        match self.segments.as_mut_slice() {
            [segment] if Arc::ptr_eq(&segment.region, region) => (segment.offset, segment.length) = (offset, length),
            _ => {
                self.release();
                self.segments.clear();
                self.segments.push(Segment { region: Arc::clone(region), offset, length });
            }
        }
    }

    /// The peer's place, of an RDMA.
    pub fn remote(&self) -> Option<RemoteAddress> {
        self.remote
    }

    /// Points an RDMA to another place, for the next time it is posted.
    pub fn set_remote(&mut self, remote: RemoteAddress) {
        self.remote = Some(remote);
    }

    /// How it went.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Bytes transferred. Of a receive that an RDMA write consumed: the bytes that it wrote.
    pub fn length(&self) -> u32 {
        self.transferred
    }

    /// Immediate data: what is to be sent, or what was received.
    pub fn immediate(&self) -> Option<u32> {
        self.immediate
    }

    /// Sets or clears immediate data, for the next time it is posted.
    pub fn set_immediate(&mut self, data: Option<u32>) {
        self.immediate = data;
    }

    /// Bytes in its segments.
    pub fn total(&self) -> u64 {
        self.segments.iter().map(|segment| u64::from(segment.length)).sum()
    }

    /// Copies what it sends, from `offset` of the message on. `None` when that is not all inside.
    pub fn gather(&self, mut offset: u64, mut into: &mut [u8]) -> Option<()> {
        for segment in &self.segments {
            let length = u64::from(segment.length);
            if offset >= length {
                offset -= length;
                continue;
            }
            let take = (into.len() as u64).min(length - offset) as usize;
            let (now, later) = into.split_at_mut(take);
            segment.region.memory.read(segment.offset.checked_add(offset)?, now)?;
            (into, offset) = (later, 0);
            if into.is_empty() {
                break;
            }
        }
        into.is_empty().then_some(())
    }

    /// Copies what it receives, to `offset` of the message. `None` when that is not all inside.
    pub fn scatter(&self, mut offset: u64, mut from: &[u8]) -> Option<()> {
        for segment in &self.segments {
            let length = u64::from(segment.length);
            if offset >= length {
                offset -= length;
                continue;
            }
            let take = (from.len() as u64).min(length - offset) as usize;
            let (now, later) = from.split_at(take);
            segment.region.memory.write(segment.offset.checked_add(offset)?, now)?;
            (from, offset) = (later, 0);
            if from.is_empty() {
                break;
            }
        }
        from.is_empty().then_some(())
    }

    /// Goes through the `length` bytes from `offset` on, a stretch of memory at a time: `each` gets the memory, the place in it, how
    /// many bytes came before, and how many there are. `None` when they are not all inside, or `each` says so.
    pub(crate) fn stretches(
        &self,
        mut offset: u64,
        length: u64,
        mut each: impl FnMut(&Memory, u64, usize, usize) -> Option<()>,
    ) -> Option<()> {
        let mut done = 0;
        for segment in &self.segments {
            if done == length {
                break;
            }
            let whole = u64::from(segment.length);
            if offset >= whole {
                offset -= whole;
                continue;
            }
            let take = (length - done).min(whole - offset);
            each(&segment.region.memory, segment.offset.checked_add(offset)?, done as usize, take as usize)?;
            (done, offset) = (done + take, 0);
        }
        (done == length).then_some(())
    }

    /// From now on the regions are noted as pointed to for as long as the descriptor lives and does so, posted or not: for
    /// descriptors that go round and regions that nobody takes the registration of back meanwhile.
    pub(crate) fn keep_claim(&mut self) {
        self.keeps_claim = true;
    }

    /// Notes in the regions that a posted descriptor points to them. `false`, and nothing is noted, when the registration of one
    /// has ended.
    pub(crate) fn claim(&mut self) -> bool {
        debug_assert!(self.keeps_claim || !self.claimed);
        if self.claimed {
            return true;
        }
        for (at, segment) in self.segments.iter().enumerate() {
            if !segment.region.hold.claim() {
                self.segments[..at].iter().for_each(|segment| segment.region.hold.release());
                return false;
            }
        }
        self.claimed = true;
        true
    }

    /// Ends what `claim` began, now that it is completed.
    pub(crate) fn release_completed(&mut self) {
        if !self.keeps_claim {
            self.release();
        }
    }

    fn release(&mut self) {
        if std::mem::take(&mut self.claimed) {
            self.segments.iter().for_each(|segment| segment.region.hold.release());
        }
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        self.release();
    }
}
