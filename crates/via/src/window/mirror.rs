//! Windows over any provider with RDMA write: each side keeps an image of the peer's segment, and the peer keeps it up.
//!
//! A message goes as an RDMA write of its frame, where that lies in an area, and an RDMA write of its slot with the sequence
//! number as immediate data. The receive descriptor that this consumes tells the receiver that the slot is whole; it copies the slot
//! to where only it writes, checks it as it checks shared memory, and posts the descriptor again. Areas are the
//! receiver's: a sender that needs a larger one asks for it by a message.
//!
//! Messages about areas, by send and receive: u32 what (1 wanted, 2 given), u32 number, u64 bytes, 16 bytes memory handle (zeros when wanted).

mod making;

pub use making::{accept, connect};

use super::{Carrier, Mapping, Peer, Wire};
use crate::descriptor::{Descriptor, RemoteAddress, Segment};
use crate::layout::{self, AREA, CONSUMED, SLOT_COUNT, SLOT_FRAME, SLOT_SIZE, slot_offset};
use crate::vi::{Ending, Queue, State, ViCore};
use crate::{
    Access, Deadline, Ended, Error, MemoryHandle, MemoryRegion, Nic, Operation, PostFault, ProtectionTag, Region,
    Violation, WorkQueue,
};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Bytes of a message about areas.
const NOTE: usize = 32;
const WANTED: u32 = 1;
const GIVEN: u32 = 2;
/// Receives that are posted: for all slots, and some for messages about areas.
const RECEIVES: u32 = SLOT_COUNT + 8;
/// How long the peer may take to make an area, or to take what was sent.
const PATIENCE: Duration = Duration::from_secs(10);

fn unposted(fault: PostFault) -> Error {
    match fault {
        PostFault::Unsupported => Error::Unsupported { provider: "of this window", what: "RDMA write" },
        _ => Error::BadState { what: "a descriptor of a window was refused" },
    }
}

#[derive(Debug)]
struct Mirror {
    nic: Nic,
    tag: ProtectionTag,
    peer: String,
    local: Option<String>,
    area_max: usize,
    max_transfer: u32,
    // How often the waiting thread was woken for something else than a message.
    rings: AtomicU32,
    sender: Mutex<Sender>,
    receiver: Mutex<Receiver>,
    core: Arc<ViCore>,
    _ending: Ending,
}

/// Where frames go that do not fit a slot.
#[derive(Debug)]
struct SendPlace {
    number: u32,
    // None for area 0, which lies behind the slots.
    region: Option<MemoryRegion>,
    handle: MemoryHandle,
}

#[derive(Debug)]
struct Sender {
    queue: WorkQueue,
    // Descriptors that have been used, all of them RDMA writes.
    #[expect(clippy::vec_box, reason = "descriptors are posted by their boxes")]
    spare: Vec<Box<Descriptor>>,
    // How many of them there are, those that are posted or completed included.
    made: u32,
    segment: MemoryRegion,
    image: MemoryHandle,
    area: SendPlace,
    // The place behind those of the receives is for messages that are sent.
    notes: Arc<Region>,
}

#[derive(Debug)]
struct Receiver {
    queue: WorkQueue,
    // The receive that was taken last. It is posted again when the next message is waited for: the answer goes out first.
    used: Option<Box<Descriptor>>,
    next: u32,
    image: MemoryRegion,
    notes: MemoryRegion,
    // The peer's current area, where that is not area 0, and the one that it asked for last.
    area: Option<MemoryRegion>,
    pending: Option<(u32, MemoryRegion)>,
    // What the peer gave last.
    given: Option<(u32, MemoryHandle)>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sender {
    /// Keeps a used descriptor for the next RDMA write.
    fn keep(&mut self, used: Box<Descriptor>) {
        if used.operation() == Operation::RdmaWrite {
            self.spare.push(used);
        }
    }

    /// Posts an RDMA write of a stretch of a region to the same stretch of the peer's.
    fn write(
        &mut self,
        region: &Arc<Region>,
        (offset, length): (u64, u32),
        handle: MemoryHandle,
        immediate: Option<u32>,
    ) -> Result<(), Error> {
        let remote = RemoteAddress { handle, offset };
        let mut descriptor = self.spare.pop().unwrap_or_else(|| {
            self.made += 1;
            Descriptor::rdma_write(remote)
        });
        descriptor.set_remote(remote);
        descriptor.set_immediate(immediate);
        descriptor.segments_mut().clear();
        descriptor.segments_mut().push(Segment { region: Arc::clone(region), offset, length });
        self.post(descriptor)?;
        if self.spare.is_empty() && self.made >= SLOT_COUNT {
            // Now that the message is on its way.
            while let Some(used) = self.queue.done_already() {
                self.keep(used);
            }
        }
        Ok(())
    }

    /// Posts, and waits while the queue is full.
    fn post(&mut self, mut descriptor: Box<Descriptor>) -> Result<(), Error> {
        let deadline = Deadline::Within(PATIENCE).start();
        loop {
            match self.queue.post(descriptor) {
                Ok(()) => return Ok(()),
                Err(refused) if refused.fault == PostFault::QueueFull => {
                    if deadline.is_over() {
                        return Err(Error::TimedOut);
                    }
                    descriptor = refused.descriptor;
                    if let Some(used) = self.queue.done() {
                        self.keep(used);
                    }
                }
                Err(refused) => return Err(unposted(refused.fault)),
            }
        }
    }

    /// Sends the message in a slot of the own segment.
    fn carry(&mut self, wire: &Wire, slot: usize, max_transfer: u32) -> Result<(), Error> {
        let word = |at: usize| wire.own.word(slot + at).load(Ordering::Relaxed);
        let (sequence, mut length) = (word(0), word(4) >> 24);
        if length == u32::from(layout::IN_AREA) {
            let [number, offset, bytes] = [0, 4, 8].map(|at| word(SLOT_FRAME + at));
            debug_assert_eq!(number, self.area.number);
            let (region, base) = match &self.area.region {
                Some(region) => (Arc::clone(&region.core), 0),
                None => (Arc::clone(&self.segment.core), AREA as u64),
            };
            let handle = self.area.handle;
            let mut at = 0;
            while at < bytes {
                let part = (bytes - at).min(max_transfer);
                self.write(&region, (base + u64::from(offset) + u64::from(at), part), handle, None)?;
                at += part;
            }
            length = 12;
        }
        let (region, image) = (Arc::clone(&self.segment.core), self.image);
        self.write(&region, (slot as u64, SLOT_FRAME as u32 + length), image, Some(sequence))
    }

    /// Sends a message about areas.
    fn tell(&mut self, what: u32, number: u32, bytes: u64, handle: MemoryHandle) -> Result<(), Error> {
        let mut note = [0; NOTE];
        note[0..4].copy_from_slice(&what.to_le_bytes());
        note[4..8].copy_from_slice(&number.to_le_bytes());
        note[8..16].copy_from_slice(&bytes.to_le_bytes());
        note[16..].copy_from_slice(&handle.to_bytes());
        // The last one was answered, or was an answer to what the peer has asked since: it is sent by now.
        let place = u64::from(RECEIVES) * NOTE as u64;
        let written = self.notes.memory.write(place, &note);
        debug_assert!(written.is_some());
        let mut descriptor = Descriptor::send();
        descriptor.segments_mut().push(Segment { region: Arc::clone(&self.notes), offset: place, length: NOTE as u32 });
        self.post(descriptor)
    }
}

impl Mirror {
    fn ended(&self, why: Ended) -> Error {
        Error::Disconnected { peer: self.peer.clone(), why }
    }

    /// Takes what a receive descriptor says.
    fn take(&self, receiver: &mut Receiver, wire: &Wire, descriptor: &Descriptor) -> Result<(), Error> {
        if !descriptor.status().is_done() {
            return Err(match self.core.state() {
                State::Broken(why) => self.ended(why),
                _ => self.ended(Ended::ByPeer),
            });
        }
        match descriptor.immediate() {
            Some(sequence) => receiver.take_slot(wire, sequence),
            None => self.take_note(receiver, descriptor),
        }
    }

    fn take_note(&self, receiver: &mut Receiver, descriptor: &Descriptor) -> Result<(), Error> {
        let mut note = [0; NOTE];
        let read = receiver.notes.memory().read(descriptor.context, &mut note);
        let word = |at: usize| u32::from_le_bytes([note[at], note[at + 1], note[at + 2], note[at + 3]]);
        let (what, number) = (word(0), word(4));
        let bytes = usize::try_from(u64::from(word(8)) | u64::from(word(12)) << 32).unwrap_or(usize::MAX);
        let is_whole = read.is_some() && descriptor.length() == NOTE as u32;
        match what {
            WANTED if is_whole => {
                if bytes == 0 || bytes > self.area_max {
                    return Err(Error::TooLong { length: bytes as u64, limit: self.area_max as u64 });
                }
                let region = self.nic.register(self.nic.memory(bytes)?, &self.tag, Access::WRITE)?;
                let handle = region.handle();
                receiver.pending = Some((number, region));
                lock(&self.sender).tell(GIVEN, number, bytes as u64, handle)
            }
            GIVEN if is_whole => {
                let mut handle = [0; 16];
                handle.copy_from_slice(&note[16..]);
                receiver.given = Some((number, MemoryHandle::from_bytes(handle)));
                Ok(())
            }
            _ => Err(Violation::BadKind(what as u8).into()),
        }
    }
}

impl Receiver {
    /// Posts the receive that was taken last.
    fn post_again(&mut self) -> Result<(), Error> {
        match self.used.take() {
            Some(used) => self.queue.post(used).map_err(|refused| unposted(refused.fault)),
            None => Ok(()),
        }
    }

    /// Copies a slot from where the peer writes to where only this side does.
    fn take_slot(&mut self, wire: &Wire, sequence: u32) -> Result<(), Error> {
        let mut slot = [0; SLOT_SIZE];
        let offset = slot_offset(sequence);
        let read = self.image.memory().read(offset as u64, &mut slot);
        let (words, _) = slot.as_chunks::<8>();
        let first = u64::from_le_bytes(words[0]);
        if sequence != self.next || first as u32 != sequence || read.is_none() {
            return Err(Violation::BadSequence(sequence).into());
        }
        self.next = self.next.wrapping_add(1);
        // As many as the frame has; what the length says that is no length is found out behind.
        let used = (SLOT_FRAME + (first >> 56) as usize).min(SLOT_SIZE).div_ceil(8);
        // The first word last: with it the message is there.
        for (at, bytes) in words[..used].iter().enumerate().rev() {
            wire.peer.word64(offset + at * 8).store(u64::from_le_bytes(*bytes), Ordering::Release);
        }
        Ok(())
    }
}

impl Carrier for Mirror {
    fn is_remote(&self) -> bool {
        true
    }

    fn carry(&self, wire: &Wire, slot: usize) {
        if lock(&self.sender).carry(wire, slot, self.max_transfer).is_err() {
            wire.close();
        }
    }

    fn carry_credit(&self, wire: &Wire) {
        let mut sender = lock(&self.sender);
        let (segment, image) = (Arc::clone(&sender.segment.core), sender.image);
        if sender.write(&segment, (CONSUMED as u64, 4), image, None).is_err() {
            wire.close();
        }
    }

    fn fetch(&self, wire: &Wire) -> Result<(), Error> {
        let mut receiver = lock(&self.receiver);
        receiver.post_again()?;
        // One at a time: whoever has no use for it fetches again.
        if let Some(descriptor) = receiver.queue.done() {
            self.take(&mut receiver, wire, &descriptor)?;
            receiver.used = Some(descriptor);
        }
        Ok(())
    }

    fn fetch_credit(&self, wire: &Wire) -> Result<(), Error> {
        self.fetch(wire)?;
        let mut credit = [0; 4];
        if lock(&self.receiver).image.memory().read(CONSUMED as u64, &mut credit).is_some() {
            wire.peer.word(CONSUMED).store(u32::from_le_bytes(credit), Ordering::Release);
        }
        Ok(())
    }

    fn prepare_sleep(&self, _: &Wire) -> u32 {
        self.rings.load(Ordering::Acquire)
    }

    fn sleep(&self, wire: &Wire, ticket: u32, span: Duration) -> Result<(), Error> {
        if self.rings.load(Ordering::Acquire) == ticket {
            self.core.sleep(Queue::Receive, Deadline::Within(span))?;
        }
        self.fetch(wire)
    }

    fn end_sleep(&self, _: &Wire) {}

    fn wake(&self, _: &Wire) {
        self.rings.fetch_add(1, Ordering::AcqRel);
        self.core.ring(Queue::Receive);
    }

    fn make_area(&self, wire: &Wire, number: u32, length: usize) -> Result<Mapping, Error> {
        let region = self.nic.register(self.nic.memory(length)?, &self.tag, Access::LOCAL)?;
        lock(&self.sender).tell(WANTED, number, length as u64, MemoryHandle([0; 2]))?;
        let deadline = Deadline::Within(PATIENCE).start();
        let handle = loop {
            self.fetch(wire)?;
            match lock(&self.receiver).given.take() {
                Some((given, handle)) if given == number => break handle,
                Some((given, _)) => return Err(Violation::UnknownArea(given).into()),
                None => {}
            }
            wire.check()?;
            if deadline.is_over() {
                return Err(Error::TimedOut);
            }
            self.core.sleep(Queue::Receive, Deadline::Within(Duration::from_millis(1)))?;
        };
        // SAFETY: the sender keeps the region until the next one takes its place, and the mapping goes with it.
        let mapping = unsafe { Mapping::of(region.memory()) };
        lock(&self.sender).area = SendPlace { number, region: Some(region), handle };
        Ok(mapping)
    }

    fn take_area(&self, number: u32, _: usize) -> Result<Mapping, Error> {
        let mut receiver = lock(&self.receiver);
        let pending = receiver.pending.take().filter(|(pending, _)| *pending == number);
        let (_, region) = pending.ok_or(Violation::UnknownArea(number))?;
        // SAFETY: the receiver keeps the region until the next one takes its place, and the mapping goes with it.
        let mapping = unsafe { Mapping::of(region.memory()) };
        receiver.area = Some(region);
        Ok(mapping)
    }

    fn check(&self) -> Result<(), Error> {
        match self.core.state() {
            State::Broken(why) => Err(self.ended(why)),
            State::Idle => Err(self.ended(Ended::Here)),
            State::Connected => Ok(()),
        }
    }

    fn peer(&self) -> Peer {
        Peer::Host(self.peer.clone())
    }

    fn local(&self) -> Option<&str> {
        self.local.as_deref()
    }

    fn end(&self, _: &Wire) {
        self.core.disconnect();
    }
}
