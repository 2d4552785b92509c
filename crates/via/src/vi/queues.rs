//! A VI's two queues of descriptors, as the VI's port sees them.

use super::state::{PostFault, Queue, State, ViId};
use crate::RegionView;
use crate::attributes::{Attributes, Reliability};
use crate::completion::CqCore;
use crate::descriptor::{Descriptor, Operation, RemoteAddress, Status};
use crate::error::Ended;
use crate::memory::{Region, Tag};
use crate::nic::NicCore;
use crate::notice::Notice;
use crate::spi::{Intent, Refusal, Sink};
use std::collections::VecDeque;
use std::sync::Arc;

/// The descriptors of one queue.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) posted: VecDeque<Box<Descriptor>>,
    pub(super) done: VecDeque<Box<Descriptor>>,
    pub(super) announced_by: Option<Arc<CqCore>>,
    pub(super) notice: Notice,
}

/// Both queues, and the state of the connection.
#[derive(Debug)]
pub(super) struct Queues {
    pub(super) id: ViId,
    pub(super) nic: Arc<NicCore>,
    // A copy of the provider's capabilities, since every post needs them.
    pub(super) can: Attributes,
    pub(super) tag: Arc<Tag>,
    pub(super) reliability: Reliability,
    pub(super) state: State,
    pub(super) max_transfer: u32,
    pub(super) send: Line,
    pub(super) receive: Line,
    // The number of send descriptors posted since the VI was connected.
    pub(super) posted: u64,
    // The number of send descriptors completed since the VI was connected.
    pub(super) completed: u64,
    // The length of the message that is being received into the oldest receive descriptor.
    pub(super) message: Option<u32>,
    // The completed receive that `ViCore::next_receive` passed to its caller last. The next call
    // posts it again.
    pub(super) looked_at: Option<Box<Descriptor>>,
    // The region that the peer wrote to last, if the region is small. Keeping the region saves
    // look-ups, because most peers write to the same region again and again.
    // Invariant: peers may write the region, and it has the VI's tag.
    pub(super) reached: Option<Arc<Region>>,
}

/// The maximum size in bytes of a region that `reached` keeps. Such a region stays in memory beyond
/// its registration until the peer writes to another region.
const REACHED_MAX: usize = 1 << 20;

impl Queues {
    pub(super) fn line(&mut self, which: Queue) -> &mut Line {
        match which {
            Queue::Send => &mut self.send,
            Queue::Receive => &mut self.receive,
        }
    }

    /// Returns the completion queues that announce completions of this VI, without duplicates.
    pub(super) fn completion_queues(&self) -> Vec<Arc<CqCore>> {
        let mut queues: Vec<_> =
            [&self.send, &self.receive].iter().filter_map(|line| line.announced_by.clone()).collect();
        queues.dedup_by(|one, other| Arc::ptr_eq(one, other));
        queues
    }

    /// Checks whether a descriptor may be posted.
    pub(super) fn check(&self, which: Queue, descriptor: &Descriptor) -> Result<(), PostFault> {
        let can = &self.can;
        let operation = descriptor.operation;
        let fits = match which {
            Queue::Receive => operation == Operation::Receive,
            Queue::Send => operation != Operation::Receive,
        };
        let is_rdma = matches!(operation, Operation::RdmaWrite | Operation::RdmaRead);
        // A used receive still has the immediate data of its last message. Posting the receive
        // clears these data.
        let may_have_immediate = operation != Operation::RdmaRead;
        if !fits || is_rdma != descriptor.remote.is_some() || (descriptor.immediate.is_some() && !may_have_immediate) {
            return Err(PostFault::Malformed);
        }
        // VI Architecture 1.0: unreliable delivery has no RDMA read, as the loss of an answer would
        // stay unnoticed.
        if (operation == Operation::RdmaWrite && !can.rdma_write)
            || (operation == Operation::RdmaRead && !(can.rdma_read && self.reliability.is_reliable()))
        {
            return Err(PostFault::Unsupported);
        }
        if descriptor.segments.len() > can.max_segments {
            return Err(PostFault::TooManySegments);
        }
        let mut total = 0;
        for segment in &descriptor.segments {
            total += u64::from(segment.length);
            if !Arc::ptr_eq(&segment.region.tag, &self.tag) || !segment.region.is_registered() {
                return Err(PostFault::Protection);
            }
            if !segment.region.memory.holds(segment.offset, u64::from(segment.length)) {
                return Err(PostFault::OutOfBounds);
            }
        }
        let most = if which == Queue::Send { u64::from(self.max_transfer) } else { u64::from(u32::MAX) };
        if total > most {
            return Err(PostFault::TooLong);
        }
        let line = if which == Queue::Send { &self.send } else { &self.receive };
        if line.posted.len() >= can.queue_depth { Err(PostFault::QueueFull) } else { Ok(()) }
    }

    fn finish(&mut self, which: Queue, mut descriptor: Box<Descriptor>, status: Status, transferred: u32) {
        descriptor.release_completed();
        descriptor.status = status;
        descriptor.transferred = transferred;
        let id = self.id;
        let line = self.line(which);
        line.done.push_back(descriptor);
        match &line.announced_by {
            Some(queue) => queue.enter(id, which),
            None => line.notice.ring(),
        }
    }

    /// Posts a descriptor that `check` accepted. Hands the descriptor back when a region cannot be
    /// claimed: the region's registration has ended since the check, or too many posted segments
    /// point to the region.
    pub(super) fn post(&mut self, which: Queue, mut descriptor: Box<Descriptor>) -> Result<(), Box<Descriptor>> {
        if !descriptor.claim() {
            return Err(descriptor);
        }
        descriptor.status = Status::Pending;
        descriptor.transferred = 0;
        if which == Queue::Receive {
            descriptor.immediate = None;
        }
        match self.state {
            State::Idle if which == Queue::Send => self.finish(which, descriptor, Status::NotConnected, 0),
            State::Broken(_) => self.finish(which, descriptor, Status::Flushed, 0),
            _ => {
                self.line(which).posted.push_back(descriptor);
                if which == Queue::Send {
                    self.posted += 1;
                }
            }
        }
        Ok(())
    }

    fn complete_oldest_receive(&mut self, status: Status, transferred: u32, immediate: Option<u32>) {
        if let Some(mut descriptor) = self.receive.posted.pop_front() {
            descriptor.immediate = immediate;
            self.finish(Queue::Receive, descriptor, status, transferred);
        }
    }

    /// Completes all posted descriptors, in order: the oldest send with `status`, the others as
    /// flushed.
    pub(super) fn flush(&mut self, status: Status) {
        let mut status = status;
        while let Some(descriptor) = self.send.posted.pop_front() {
            self.completed += 1;
            self.finish(Queue::Send, descriptor, std::mem::replace(&mut status, Status::Flushed), 0);
        }
        self.message = None;
        self.reached = None;
        while !self.receive.posted.is_empty() {
            self.complete_oldest_receive(Status::Flushed, 0, None);
        }
    }

    fn is_connected(&self) -> bool {
        self.state == State::Connected
    }
}

impl Sink for Queues {
    fn sending(&self, index: u64) -> Option<&Descriptor> {
        let at = usize::try_from(index.checked_sub(self.completed)?).ok()?;
        self.send.posted.get(at).map(|descriptor| &**descriptor)
    }

    fn posted(&self) -> u64 {
        self.posted
    }

    fn completed(&self) -> u64 {
        self.completed
    }

    fn complete(&mut self, status: Status, transferred: u32) {
        if let Some(descriptor) = self.send.posted.pop_front() {
            self.completed += 1;
            self.finish(Queue::Send, descriptor, status, transferred);
        }
    }

    fn receives(&self) -> usize {
        self.receive.posted.len()
    }

    fn receiving(&self, index: usize) -> Option<&Descriptor> {
        self.receive.posted.get(index).map(|descriptor| &**descriptor)
    }

    fn begin_message(&mut self, length: u32) -> Result<(), Refusal> {
        debug_assert!(self.message.is_none(), "one message at a time");
        if !self.is_connected() {
            return Err(Refusal::ReceiverNotReady);
        }
        let room = self.receive.posted.front().ok_or(Refusal::ReceiverNotReady)?.total();
        if room < u64::from(length) {
            self.complete_oldest_receive(Status::TooLong, 0, None);
            return Err(Refusal::TooLong);
        }
        self.message = Some(length);
        Ok(())
    }

    fn fill_message(&mut self, offset: u32, bytes: &[u8]) {
        let inside = self.message.is_some_and(|length| u64::from(offset) + bytes.len() as u64 <= u64::from(length));
        if let Some(descriptor) = self.receive.posted.front().filter(|_| inside) {
            // The descriptor has room for the whole message, and its segments were checked when it
            // was posted.
            let placed = descriptor.scatter(u64::from(offset), bytes);
            debug_assert!(placed.is_some());
        }
    }

    fn fill_message_from(&mut self, offset: u32, view: RegionView<'_>, at: usize, length: usize) {
        let inside = self.message.is_some_and(|whole| u64::from(offset) + length as u64 <= u64::from(whole));
        if let Some(descriptor) = self.receive.posted.front().filter(|_| inside) {
            let placed = descriptor.stretches(u64::from(offset), length as u64, |memory, offset, done, length| {
                memory.write_view(offset, view, at.checked_add(done)?, length)
            });
            debug_assert!(placed.is_some());
        }
    }

    fn end_message(&mut self, immediate: Option<u32>) {
        if let Some(length) = self.message.take() {
            self.complete_oldest_receive(Status::Done, length, immediate);
        }
    }

    fn abandon_message(&mut self) {
        self.message = None;
    }

    fn complete_receive(&mut self, operation: Operation, length: u32, immediate: Option<u32>) -> Result<(), Refusal> {
        debug_assert!(operation != Operation::RdmaRead, "an RDMA read consumes no receive");
        if !self.is_connected() || self.receive.posted.is_empty() {
            return Err(Refusal::ReceiverNotReady);
        }
        self.complete_oldest_receive(Status::Done, length, immediate);
        Ok(())
    }

    fn remote(&self, place: RemoteAddress, length: u64, intent: Intent) -> Result<Arc<Region>, Refusal> {
        if !self.is_connected() {
            return Err(Refusal::Protection);
        }
        let region = self.nic.remote(&self.tag, place, length, intent)?;
        if region.is_registered() { Ok(region) } else { Err(Refusal::Protection) }
    }

    fn write_remote(&mut self, place: RemoteAddress, bytes: &[u8]) -> Result<(), Refusal> {
        let again = self.reached.as_ref().filter(|region| region.handle.get() == Some(&place.handle));
        if let Some(region) = again
            && region.is_registered()
            && self.is_connected()
        {
            return region.memory.write(place.offset, bytes).ok_or(Refusal::Protection);
        }
        let region = self.remote(place, bytes.len() as u64, Intent::Write)?;
        let written = region.memory.write(place.offset, bytes).ok_or(Refusal::Protection);
        self.reached = Some(region).filter(|region| region.memory.len() <= REACHED_MAX);
        written
    }

    fn look_at_all(&mut self) {
        self.nic.look_at_all();
    }

    fn broken(&mut self, status: Status, why: Ended) {
        if self.is_connected() {
            self.state = State::Broken(why);
            self.flush(status);
            for line in [&mut self.send, &mut self.receive] {
                // The file of a broken connection may stay readable for ever, so the completion
                // queue stops watching it.
                if let Some(queue) = &line.announced_by {
                    queue.unwatch(self.id);
                }
                // A thread that waits while no descriptor is posted would otherwise sleep until its
                // deadline.
                line.notice.ring();
            }
        }
    }
}
