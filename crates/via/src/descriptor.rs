//! Descriptors: the work that is posted to a VI, and its outcome.
//!
//! A descriptor has a control segment (operation, status, length, immediate data), an address
//! segment for RDMA, and data segments. Data are gathered from the data segments, or scattered to
//! them: VI Architecture 1.0, "Descriptors".

use crate::memory::{Memory, MemoryHandle, Region};
use std::fmt;
use std::sync::Arc;

/// The operation of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Sends the bytes of the descriptor's segments to a receive descriptor of the peer.
    Send,
    /// Receives one message.
    Receive,
    /// Writes the bytes of the descriptor's segments to the peer's memory.
    RdmaWrite,
    /// Reads the peer's memory into the descriptor's segments.
    RdmaRead,
}

/// A position in a peer's region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteAddress {
    /// The handle of the peer's region.
    pub handle: MemoryHandle,
    /// The offset from the region's start, in bytes.
    pub offset: u64,
}

/// A data segment: a stretch of a registered region of this process.
#[derive(Clone, Debug)]
pub struct Segment {
    pub(crate) region: Arc<Region>,
    /// The offset from the region's start, in bytes.
    pub offset: u64,
    /// The length in bytes.
    pub length: u32,
}

impl Segment {
    /// Returns the segment's region.
    pub fn region(&self) -> &Arc<Region> {
        &self.region
    }
}

/// The outcome of a descriptor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// The descriptor was not posted, or is not finished.
    #[default]
    Pending,
    /// The operation was performed.
    Done,
    /// The message was longer than the room of the receive descriptor.
    TooLong,
    /// The peer had posted no receive descriptor.
    ReceiverNotReady,
    /// The peer's memory does not allow the RDMA: the region does not exist, has another protection
    /// tag or does not grant the right, or the range exceeds the region.
    RemoteProtection,
    /// The VI was not connected.
    NotConnected,
    /// The connection ended before the operation: a side disconnected, the peer was lost, or
    /// another descriptor broke the connection.
    Flushed,
    /// The connection broke during this descriptor's operation: the peer is gone or does not
    /// answer.
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
            Self::RemoteProtection => "the peer's memory does not allow the access",
            Self::NotConnected => "the VI was not connected",
            Self::Flushed => "flushed, because the connection ended first",
            Self::ConnectionLost => "the connection was lost",
        })
    }
}

/// A unit of work for a VI. A descriptor is posted by value, and the queue hands it back completed.
#[derive(Debug)]
pub struct Descriptor {
    pub(crate) operation: Operation,
    pub(crate) immediate: Option<u32>,
    pub(crate) remote: Option<RemoteAddress>,
    pub(crate) segments: Vec<Segment>,
    pub(crate) status: Status,
    pub(crate) transferred: u32,
    /// A value of the owner's choice, for instance to recognize the descriptor.
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

    /// Makes a send.
    pub fn send() -> Box<Self> {
        Self::new(Operation::Send, None)
    }

    /// Makes a receive.
    pub fn receive() -> Box<Self> {
        Self::new(Operation::Receive, None)
    }

    /// Makes an RDMA write.
    pub fn rdma_write(to: RemoteAddress) -> Box<Self> {
        Self::new(Operation::RdmaWrite, Some(to))
    }

    /// Makes an RDMA read.
    pub fn rdma_read(from: RemoteAddress) -> Box<Self> {
        Self::new(Operation::RdmaRead, Some(from))
    }

    /// Adds a data segment.
    #[must_use]
    pub fn with_segment(mut self: Box<Self>, region: &crate::MemoryRegion, offset: u64, length: u32) -> Box<Self> {
        self.segments.push(Segment { region: Arc::clone(&region.core), offset, length });
        self
    }

    /// Adds 32 bits of immediate data. The peer finds them in the receive descriptor that this
    /// descriptor consumes.
    #[must_use]
    pub fn with_immediate(mut self: Box<Self>, data: u32) -> Box<Self> {
        self.immediate = Some(data);
        self
    }

    /// Sets the owner's value, `context`.
    #[must_use]
    pub fn with_context(mut self: Box<Self>, context: u64) -> Box<Self> {
        self.context = context;
        self
    }

    /// Returns the operation.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// Returns the data segments.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns the data segments, to be changed before the descriptor is posted again.
    pub fn segments_mut(&mut self) -> &mut Vec<Segment> {
        &mut self.segments
    }

    /// Makes a stretch of `region` the only segment, for the next time that the descriptor is
    /// posted.
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

    /// Returns the position of the RDMA in the peer's memory. `None` for operations other than
    /// RDMA.
    pub fn remote(&self) -> Option<RemoteAddress> {
        self.remote
    }

    /// Sets the position of the RDMA in the peer's memory, for the next time that the descriptor is
    /// posted.
    pub fn set_remote(&mut self, remote: RemoteAddress) {
        self.remote = Some(remote);
    }

    /// Returns the outcome.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Returns the number of bytes transferred. For a receive that an RDMA write consumed, returns
    /// the number of bytes of that write.
    pub fn length(&self) -> u32 {
        self.transferred
    }

    /// Returns the immediate data that are to be sent or were received, if there are any.
    pub fn immediate(&self) -> Option<u32> {
        self.immediate
    }

    /// Sets or clears immediate data, for the next time that the descriptor is posted.
    pub fn set_immediate(&mut self, data: Option<u32>) {
        self.immediate = data;
    }

    /// Returns the sum of the segments' lengths in bytes.
    pub fn total(&self) -> u64 {
        self.segments.iter().map(|segment| u64::from(segment.length)).sum()
    }

    /// Copies bytes of the message to send, from `offset` on. Returns `None` if some of them lie
    /// outside of the segments.
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

    /// Copies received bytes into the segments, to `offset` of the message. Returns `None` if the
    /// segments have no room for all of them.
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

    /// Calls `each` for every contiguous stretch of the `length` bytes from `offset` on. The
    /// arguments are the memory, the stretch's offset in the memory, the number of bytes before the
    /// stretch, and the stretch's length. Returns `None` if some bytes lie outside of the segments,
    /// or if `each` returns `None`.
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

    /// Keeps the claim on the regions after the descriptor's completion, until the descriptor is
    /// dropped or gets other segments. This function is for descriptors that are posted again and
    /// again while their regions stay registered.
    pub(crate) fn keep_claim(&mut self) {
        self.keeps_claim = true;
    }

    /// Claims the regions of all segments for a posted descriptor. Returns `false`, with nothing
    /// claimed, when a region's registration has ended, or when too many posted segments point to
    /// the region.
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

    /// Ends the claim of a completed descriptor, except after [`Self::keep_claim`].
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
