//! Windows over any provider with RDMA write: each side has an image of the peer's segment, and the
//! peer updates it.
//!
//! A message is an RDMA write of its slot, with the sequence number as immediate data. If the frame
//! lies in an area, RDMA writes of the frame come first. The write of the slot consumes a receive
//! descriptor, which tells the receiver that the slot is whole. The receiver copies the slot to
//! memory that the peer cannot write, checks the copy as it checks shared memory, and posts the
//! descriptor again. Areas belong to the receiver: a sender that needs a larger area asks for it by
//! a message.
//!
//! Messages about areas travel by send and receive. A message has these fields: u32 kind (1 wanted,
//! 2 given, 3 refused), u32 number of the area, u64 length of the area in bytes, and 16 bytes with
//! the area's memory handle (zeros unless the kind is 2).

mod making;

pub use making::{accept, connect};

use super::{Carrier, Mapping, Peer, Wire};
use crate::budget::{Budget, Reservation};
use crate::descriptor::{Descriptor, RemoteAddress};
use crate::layout::{self, AREA, CONSUMED, SLOT_COUNT, SLOT_FRAME, SLOT_SIZE, slot_offset};
use crate::reliable::Guard;
use crate::sync::lock;
use crate::vi::{Ending, Queue, State, ViCore};
use crate::{
    Access, Deadline, Ended, Error, Memory, MemoryHandle, MemoryRegion, Nic, Operation, PostFault, ProtectionTag,
    Violation,
};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// The length of a message about areas, in bytes.
const AREA_MESSAGE: usize = 32;
const WANTED: u32 = 1;
const GIVEN: u32 = 2;
const REFUSED: u32 = 3;
/// The number of posted receives: one for each slot, and some for messages about areas.
const RECEIVES: u32 = SLOT_COUNT + 8;
/// The time that the peer may take to make an area, or to acknowledge a descriptor while the send
/// queue is full.
const PEER_TIMEOUT: Duration = Duration::from_secs(10);

fn unposted(fault: PostFault) -> Error {
    match fault {
        PostFault::Unsupported => Error::Unsupported { provider: "of this window", what: "RDMA write" },
        _ => Error::BadState { what: "a descriptor of the window was refused" },
    }
}

/// Registers memory that the peer writes.
///
/// The memory has no huge pages, because a single byte that the peer writes would take up a whole
/// huge page.
fn register_for_peer(nic: &Nic, tag: &ProtectionTag, memory: Memory) -> Result<MemoryRegion, Error> {
    nic.register(memory.without_huge_pages(), tag, Access::WRITE)
}

#[derive(Debug)]
struct Mirror {
    nic: Nic,
    tag: ProtectionTag,
    peer: String,
    local: Option<String>,
    // The terms on which the peer gets areas. Empty until the user of the window calls
    // `grant_areas`.
    grant: OnceLock<Grant>,
    max_transfer: u32,
    // The number of times that the waiting thread was woken for a reason other than a message.
    rings: AtomicU32,
    // Whether an alarm has ended the connection.
    is_abandoned: AtomicBool,
    // The own segment.
    segment: MemoryRegion,
    // The handle of the peer's image of the own segment.
    their_image: MemoryHandle,
    // The image of the peer's segment, which the peer writes.
    image: MemoryRegion,
    // The sequence number of the peer's next message, which is stored with the VI locked.
    next: AtomicU32,
    // The memory of messages about areas: one element for each receive, then one for each kind of
    // message to send.
    area_messages: MemoryRegion,
    send_place: Mutex<SendPlace>,
    areas: Mutex<Areas>,
    core: Arc<ViCore>,
    _ending: Ending,
}

/// The terms on which the user of the window grants the peer areas.
#[derive(Debug)]
struct Grant {
    /// The length of the largest area that is made for the peer.
    most: usize,
    /// The memory for larger areas in both directions; `None` if it is not limited.
    budget: Option<Arc<dyn Budget>>,
}

/// The area for frames to send that do not fit a slot.
#[derive(Debug)]
struct SendPlace {
    number: u32,
    // `None` for area 0, which lies behind the slots.
    region: Option<MemoryRegion>,
    handle: MemoryHandle,
}

/// The areas that the two sides have asked each other for.
#[derive(Debug, Default)]
struct Areas {
    // The area that the peer uses, unless that is area 0.
    current: Option<(u32, MemoryRegion)>,
    // The area that was made for the peer's last request.
    pending: Option<(u32, MemoryRegion)>,
    // The area that this side has asked for, if the wait for the peer's answer has failed.
    wanted: Option<(u32, MemoryRegion)>,
    // The area that the peer has made for this side's last request; `None` in place of the handle
    // if the peer has refused the request.
    given: Option<(u32, Option<MemoryHandle>)>,
}

/// The content of a completed receive descriptor.
enum Received {
    /// A message of the window, which has been copied to its slot.
    Slot,
    /// A message about areas.
    AreaMessage([u8; AREA_MESSAGE]),
    /// No message: the connection is over.
    Nothing,
}

impl Mirror {
    fn ended(&self, why: Ended) -> Error {
        Error::Disconnected { peer: self.peer.clone(), why }
    }

    /// Makes memory for an area. Returns `None` if the budget has too little left.
    ///
    /// The area counts with all of its bytes. Pages take up memory only when they are first
    /// touched, but the peer can have all of them touched at any time.
    fn memory_for_area(&self, bytes: usize) -> Result<Option<Memory>, Error> {
        let reservation = match self.grant.get().and_then(|grant| grant.budget.as_ref()) {
            Some(budget) => match Reservation::new(budget, bytes) {
                None => return Ok(None),
                reserved => reserved,
            },
            None => None,
        };
        // The memory outlives its region while descriptors of earlier writes point to it, so the
        // reservation belongs to the memory.
        Ok(Some(self.nic.memory(bytes)?.with_reservation(reservation)))
    }

    /// Posts the descriptor that `prepare` makes. `prepare` gets a completed descriptor to reuse,
    /// if there is one. Sleeps while the queue is full.
    fn post(&self, prepare: impl Fn(Option<Box<Descriptor>>) -> Box<Descriptor>) -> Result<(), Error> {
        let mut deadline = None;
        loop {
            match self.core.post_again(&prepare) {
                Ok(()) => return Ok(()),
                Err(refused) if refused.fault == PostFault::QueueFull => {
                    let deadline = *deadline.get_or_insert_with(|| Deadline::Within(PEER_TIMEOUT).start());
                    if deadline.is_over() {
                        return Err(Error::TimedOut);
                    }
                    // If an acknowledgement has arrived, this call completes a descriptor, and the
                    // thread does not sleep.
                    self.core.look_after(Instant::now());
                    self.core.sleep(Queue::Send, deadline)?;
                }
                Err(refused) => return Err(unposted(refused.fault)),
            }
        }
    }

    /// Posts an RDMA write of bytes of a region to the same offset in the peer's region with this
    /// handle.
    fn write(
        &self,
        region: &MemoryRegion,
        (offset, length): (u64, u32),
        handle: MemoryHandle,
        immediate: Option<u32>,
    ) -> Result<(), Error> {
        let remote = RemoteAddress { handle, offset };
        self.post(|used| {
            let used = used.filter(|used| used.operation() == Operation::RdmaWrite);
            let mut descriptor = used.unwrap_or_else(|| Descriptor::rdma_write(remote));
            descriptor.keep_claim();
            descriptor.set_remote(remote);
            descriptor.set_immediate(immediate);
            descriptor.point_to(&region.core, offset, length);
            descriptor
        })
    }

    /// Writes a frame in an area to the peer. The parameters are the slot's reference to the frame:
    /// area number, offset and length.
    fn write_frame(&self, [number, offset, bytes]: [u32; 3]) -> Result<(), Error> {
        let place = lock(&self.send_place);
        debug_assert_eq!(number, place.number);
        let (region, base) = match &place.region {
            Some(region) => (region, 0),
            None => (&self.segment, AREA as u64),
        };
        let mut at = 0;
        while at < bytes {
            let part = (bytes - at).min(self.max_transfer);
            self.write(region, (base + u64::from(offset) + u64::from(at), part), place.handle, None)?;
            at += part;
        }
        Ok(())
    }

    /// Writes the message in a slot of the own segment to the peer.
    fn write_slot(&self, wire: &Wire, slot: usize) -> Result<(), Error> {
        let word = |at: usize| wire.own.word(slot + at).load(Ordering::Relaxed);
        let (sequence, mut length) = (word(0), word(4) >> 24);
        if length == u32::from(layout::IN_AREA) {
            self.write_frame([0, 4, 8].map(|at| word(SLOT_FRAME + at)))?;
            length = 12;
        }
        self.write(&self.segment, (slot as u64, SLOT_FRAME as u32 + length), self.their_image, Some(sequence))
    }

    /// Sends a message about areas.
    fn send_area_message(&self, what: u32, number: u32, bytes: u64, handle: MemoryHandle) -> Result<(), Error> {
        let mut message = [0; AREA_MESSAGE];
        message[0..4].copy_from_slice(&what.to_le_bytes());
        message[4..8].copy_from_slice(&number.to_le_bytes());
        message[8..16].copy_from_slice(&bytes.to_le_bytes());
        message[16..].copy_from_slice(&handle.to_bytes());
        // The element is free, because the peer has received the last message of this kind. For a
        // request, the peer has answered it. For an answer, the peer has sent a further request.
        let place = u64::from(RECEIVES + what - WANTED) * AREA_MESSAGE as u64;
        let written = self.area_messages.memory().write(place, &message);
        debug_assert!(written.is_some());
        self.post(|_| Descriptor::send().with_segment(&self.area_messages, place, AREA_MESSAGE as u32))
    }

    /// Waits until the peer has made the area `number`, for which this side has asked. Returns
    /// `None` if the peer refuses.
    fn await_area(&self, wire: &Wire, number: u32) -> Result<Option<MemoryHandle>, Error> {
        let deadline = Deadline::Within(PEER_TIMEOUT).start();
        loop {
            self.fetch_for_sender(wire)?;
            match lock(&self.areas).given.take() {
                Some((given, handle)) if given == number => return Ok(handle),
                Some((given, _)) => return Err(Violation::UnknownArea(given).into()),
                None => {}
            }
            wire.check()?;
            if deadline.is_over() {
                return Err(Error::TimedOut);
            }
            self.core.sleep(Queue::Receive, Deadline::Within(Duration::from_millis(1)))?;
        }
    }

    /// Takes the next completed receive, if there is one. Returns whether a message was copied to
    /// its slot.
    fn fetch_next(&self, wire: &Wire) -> Result<bool, Error> {
        // One completion is taken at a time. A caller that needs more completions calls again.
        let received = self.core.next_receive(Instant::now(), |receive| self.take(wire, receive));
        match received.map_err(unposted)?.transpose()? {
            None => Ok(false),
            Some(Received::Slot) => Ok(true),
            Some(Received::AreaMessage(message)) => self.take_area_message(&message).map(|()| false),
            Some(Received::Nothing) => {
                self.check()?;
                Err(self.ended(Ended::ByPeer))
            }
        }
    }

    /// As [`Carrier::fetch`], for the sending half. The call consumes the message's completion, so
    /// it has to wake the thread that waits for messages.
    fn fetch_for_sender(&self, wire: &Wire) -> Result<(), Error> {
        if self.fetch_next(wire)? {
            self.wake(wire);
        }
        Ok(())
    }

    /// Returns the content of a completed receive descriptor. A message of the window is copied to
    /// its slot. The VI is locked during the call.
    fn take(&self, wire: &Wire, receive: &Descriptor) -> Result<Received, Error> {
        if !receive.status().is_done() {
            return Ok(Received::Nothing);
        }
        if let Some(sequence) = receive.immediate() {
            return self.take_slot(wire, sequence);
        }
        let mut message = [0; AREA_MESSAGE];
        let read = self.area_messages.memory().read(receive.context, &mut message);
        if read.is_none() || receive.length() != AREA_MESSAGE as u32 {
            return Err(Violation::BadKind(message[0]).into());
        }
        Ok(Received::AreaMessage(message))
    }

    /// Copies a slot from memory that the peer writes to memory that only this side writes.
    fn take_slot(&self, wire: &Wire, sequence: u32) -> Result<Received, Error> {
        let offset = slot_offset(sequence);
        // Each word is loaded once: the value that was checked is the value that is stored.
        let slot = self.image.memory().view().part(offset, SLOT_SIZE).ok_or(Violation::BadSequence(sequence))?;
        let first = slot.load_u64(0).unwrap_or(0);
        if sequence != self.next.load(Ordering::Relaxed) || first as u32 != sequence {
            return Err(Violation::BadSequence(sequence).into());
        }
        self.next.store(sequence.wrapping_add(1), Ordering::Relaxed);
        // The number of words of the slot that the header and the frame use. A length byte that is
        // not the length of an inline frame is checked later.
        let used = (SLOT_FRAME + (first >> 56) as usize).min(SLOT_SIZE).div_ceil(8);
        // The first word is stored last, because it publishes the message.
        for at in 1..used {
            let word = slot.load_u64(at * 8).unwrap_or(0);
            wire.peer.word64(offset + at * 8).store(word, Ordering::Relaxed);
        }
        wire.peer.word64(offset).store(first, Ordering::Release);
        Ok(Received::Slot)
    }

    /// Processes a message about areas: makes the area that the peer wants, or notes the peer's
    /// answer.
    fn take_area_message(&self, message: &[u8; AREA_MESSAGE]) -> Result<(), Error> {
        let word = |at: usize| u32::from_le_bytes([message[at], message[at + 1], message[at + 2], message[at + 3]]);
        let (what, number) = (word(0), word(4));
        let bytes = usize::try_from(u64::from(word(8)) | u64::from(word(12)) << 32).unwrap_or(usize::MAX);
        match what {
            WANTED => {
                let most = self.grant.get().map_or(0, |grant| grant.most);
                if bytes == 0 || bytes > most {
                    return Err(Error::TooLong { length: bytes as u64, limit: most as u64 });
                }
                let Some(memory) = self.memory_for_area(bytes)? else {
                    return self.send_area_message(REFUSED, number, bytes as u64, MemoryHandle([0; 2]));
                };
                let region = register_for_peer(&self.nic, &self.tag, memory)?;
                let handle = region.handle();
                let earlier = lock(&self.areas).pending.replace((number, region));
                // The lock is released before this drop, which unmaps the memory.
                drop(earlier);
                self.send_area_message(GIVEN, number, bytes as u64, handle)
            }
            GIVEN => {
                let mut handle = [0; 16];
                handle.copy_from_slice(&message[16..]);
                lock(&self.areas).given = Some((number, Some(MemoryHandle::from_bytes(handle))));
                Ok(())
            }
            REFUSED => {
                lock(&self.areas).given = Some((number, None));
                Ok(())
            }
            _ => Err(Violation::BadKind(what as u8).into()),
        }
    }
}

impl Carrier for Mirror {
    fn is_remote(&self) -> bool {
        true
    }

    fn carry(&self, wire: &Wire, slot: usize) {
        if self.write_slot(wire, slot).is_err() {
            wire.close();
        }
    }

    fn carry_credit(&self, wire: &Wire) {
        if self.write(&self.segment, (CONSUMED as u64, 4), self.their_image, None).is_err() {
            wire.close();
        }
    }

    fn fetch(&self, wire: &Wire) -> Result<(), Error> {
        self.fetch_next(wire).map(drop)
    }

    fn fetch_credit(&self, wire: &Wire) -> Result<(), Error> {
        self.fetch_for_sender(wire)?;
        let mut credit = [0; 4];
        if self.image.memory().read(CONSUMED as u64, &mut credit).is_some() {
            wire.peer.word(CONSUMED).store(u32::from_le_bytes(credit), Ordering::Release);
        }
        Ok(())
    }

    fn prepare_sleep(&self, _: &Wire) -> u32 {
        self.rings.load(Ordering::Acquire)
    }

    fn sleep(&self, wire: &Wire, ticket: u32, span: Duration) -> Result<(), Error> {
        self.core.await_receive(Deadline::Within(span), || self.rings.load(Ordering::Acquire) != ticket)?;
        self.fetch(wire)
    }

    fn end_sleep(&self, _: &Wire) {}

    fn wake(&self, _: &Wire) {
        self.rings.fetch_add(1, Ordering::AcqRel);
        self.core.ring(Queue::Receive);
    }

    fn grant_areas(&self, most: usize, budget: Option<Arc<dyn Budget>>) {
        self.grant.get_or_init(|| Grant { most, budget });
    }

    fn make_area(&self, wire: &Wire, number: u32, length: usize) -> Result<Mapping, Error> {
        let wanted = lock(&self.areas).wanted.take();
        let region = match wanted {
            Some((asked, region)) if asked == number => region,
            _ => {
                let refused = || Error::AreaRefused { length: length as u64, by_peer: false };
                let memory = self.memory_for_area(length)?.ok_or_else(refused)?;
                let region = self.nic.register(memory, &self.tag, Access::LOCAL)?;
                self.send_area_message(WANTED, number, length as u64, MemoryHandle([0; 2]))?;
                region
            }
        };
        let handle = match self.await_area(wire, number) {
            Ok(Some(handle)) => handle,
            Ok(None) => return Err(Error::AreaRefused { length: region.memory().len() as u64, by_peer: true }),
            Err(error) => {
                lock(&self.areas).wanted = Some((number, region));
                return Err(error);
            }
        };
        // SAFETY: `send_place` keeps the region until the next area replaces the region. From that
        // time on, `SendArea` does not use this mapping, but the mapping of the next area.
        let mapping = unsafe { Mapping::of(region.memory()) };
        *lock(&self.send_place) = SendPlace { number, region: Some(region), handle };
        Ok(mapping)
    }

    fn take_area(&self, number: u32, _: usize) -> Result<Mapping, Error> {
        let mut areas = lock(&self.areas);
        // For the number of an earlier area, this function returns the current area: no message
        // lies in an earlier area any more.
        let is_passed = |(last, _): &(u32, MemoryRegion)| number.wrapping_sub(*last).cast_signed() <= 0;
        let mut earlier = None;
        if areas.pending.as_ref().is_some_and(is_passed) {
            let pending = areas.pending.take();
            earlier = std::mem::replace(&mut areas.current, pending);
        }
        let (_, region) =
            areas.current.as_ref().filter(|last| is_passed(last)).ok_or(Violation::UnknownArea(number))?;
        // SAFETY: `areas` keeps the region until the next call of this function. `ReceiveArea`
        // replaces this mapping by the result of that call, and does not use this mapping during
        // the call.
        let mapping = unsafe { Mapping::of(region.memory()) };
        // The lock is released before this drop, which unmaps the memory.
        drop(areas);
        drop(earlier);
        Ok(mapping)
    }

    fn guard(&self, guard: Guard) -> Result<(), Error> {
        self.core.guard(guard)
    }

    fn check(&self) -> Result<(), Error> {
        match self.core.state() {
            State::Broken(why) => Err(self.ended(why)),
            State::Idle if self.is_abandoned.load(Ordering::Relaxed) => Err(self.ended(Ended::Silent)),
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

    fn abandon(&self) {
        // `disconnect` takes the lock of the VI afterwards. So a thread that finds the VI idle,
        // under the same lock, sees this value.
        self.is_abandoned.store(true, Ordering::Relaxed);
        self.core.disconnect();
    }
}

#[cfg(test)]
mod tests;
