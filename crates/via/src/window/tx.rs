//! The sending half of a connection: builds frames in place and publishes them.

use super::area::SendArea;
use super::{PeerRegions, Wire};
use crate::doorbell::must_ring;
use crate::layout::{self, AREA, INLINE_MAX, SLOT_COUNT, SLOT_FRAME, slot_offset};
use crate::reliable::Guard;
use crate::{Counters, Deadline, Error, Header, Limit, Violation};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The sending half. One thread uses it, without locks. C code reads the first fields of its area.
#[derive(Debug)]
#[repr(C)]
pub struct Tx {
    area: SendArea,
    // Invariant: the start of `wire.own`, a writable mapping to which no other code in this process
    // writes frames.
    start: NonNull<u8>,
    next: u32,
    taken: u32,
    peer_may_sleep: bool,
    wakes: u64,
    credit_waits: u64,
    wire: Arc<Wire>,
    // The last refusal of a longer area, and the number of the message that needed the area. The
    // field is the last, so that it is not in the cache lines that calls use.
    refused: Option<Box<(u32, Error)>>,
}

// SAFETY: the pointer is to the mapping that `wire` keeps, and only this value writes slots and
// areas through it.
unsafe impl Send for Tx {}

impl Tx {
    pub(super) fn new(wire: Arc<Wire>, peer_may_sleep: bool, limit: usize) -> Self {
        let start = wire.own.start();
        // SAFETY: every segment is longer than AREA.
        let area = unsafe { start.add(AREA) };
        // SAFETY: the area is the part of the own segment behind AREA. `wire` keeps the segment
        // mapped, and only this value writes frames.
        let area = unsafe { SendArea::new(area, wire.own.length() - AREA, limit) };
        Self { start, next: 1, taken: 0, peer_may_sleep, area, wakes: 0, credit_waits: 0, wire, refused: None }
    }

    pub(super) fn count(&self, counters: &mut Counters) {
        counters.sent = self.next.wrapping_sub(1);
        counters.wakes = self.wakes;
        counters.credit_waits = self.credit_waits;
        counters.areas = self.area.number();
    }

    pub(super) fn peer_may_sleep(&self) -> bool {
        self.peer_may_sleep
    }

    /// Returns the sequence number of the next message: the call id of a request.
    #[inline(always)]
    pub fn next_sequence(&self) -> u32 {
        self.next
    }

    /// Maps a region that the peer passed before its last message.
    ///
    /// # Errors
    ///
    /// [`Error::Violation`] if a region with this number is mapped already, or if the peer has
    /// passed another region or too many regions.
    pub fn admit_region(&self, regions: &mut PeerRegions, number: u16) -> Result<(), Error> {
        regions.admit(&self.wire, number)
    }

    /// As [`super::Window::guard`], for callers that hold the window's sending half, because they
    /// are answering a message.
    ///
    /// # Errors
    ///
    /// As [`super::Window::guard`].
    pub fn guard(&self, guard: Guard) -> Result<(), Error> {
        self.wire.carrier.guard(guard)
    }

    /// Returns the maximum length of a frame to send, in bytes.
    #[inline]
    pub fn frame_max(&self) -> usize {
        self.area.limit()
    }

    /// Notes that the peer has taken every message up to `sequence`, because it answered that
    /// message.
    #[inline(always)]
    pub fn taken_through(&mut self, sequence: u32) {
        self.taken = sequence;
    }

    /// Notes that the peer has taken every message. The caller must have received a message that
    /// the peer sends only after it has taken all messages.
    #[inline(always)]
    pub fn taken_all(&mut self) {
        self.taken = self.next.wrapping_sub(1);
    }

    /// Returns the bytes of the next message's frame, in the slot itself. [`Self::send_inline`]
    /// publishes them.
    ///
    /// The bytes still hold the frame of an earlier message. While messages without a response
    /// occupy all slots, the function waits for credit.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] without credit at the deadline; another error when the peer is gone or
    /// breaks the rules.
    #[inline(always)]
    pub fn inline_frame(&mut self, limit: impl Limit) -> Result<&mut [u8; INLINE_MAX], Error> {
        if !self.has_credit() {
            self.await_credit(limit.deadline(), |tx| tx.has_credit())?;
        }
        // SAFETY: the bytes are own memory by the invariant. They are initialised, because fresh
        // shared memory is zero. They are exclusive by &mut self, and no other process can map them
        // writable.
        Ok(unsafe { self.slot_frame().as_mut() })
    }

    /// Returns the address of the bytes that [`Self::inline_frame`] returns. The memory is writable
    /// and exclusive to the caller while the connection has credit, until the next message is
    /// published.
    #[inline(always)]
    pub fn slot_frame(&self) -> NonNull<[u8; INLINE_MAX]> {
        // SAFETY: slots lie inside every segment.
        unsafe { self.start.add(slot_offset(self.next) + SLOT_FRAME) }.cast()
    }

    /// As [`Self::slot_frame`], but also writes to the slot, so that this processor gets the slot's
    /// cache line while the caller builds the message.
    ///
    /// The slot must be free. Call this shortly before the message is sent, because the peer may
    /// poll the slot and so take the cache line away again.
    #[inline(always)]
    pub fn claim_slot(&mut self) -> NonNull<[u8; INLINE_MAX]> {
        let frame = self.slot_frame();
        // SAFETY: the frame is own memory by the invariant, and no peer relies on a frame before it
        // is published. The write is volatile, so that it is not delayed.
        unsafe { frame.cast::<u64>().write_volatile(0) };
        frame
    }

    /// Whether [`Self::inline_frame`] returns without a wait.
    #[inline(always)]
    pub fn has_credit(&self) -> bool {
        self.next.wrapping_sub(self.taken) <= SLOT_COUNT
    }

    /// Publishes the frame that [`Self::inline_frame`] returned.
    #[inline(always)]
    pub fn send_inline(&mut self, header: Header, length: usize) {
        debug_assert!(length <= INLINE_MAX);
        self.publish(header, length as u8);
    }

    /// Returns the bytes of the next message's frame, in an area. [`Self::send_area`] publishes
    /// them.
    ///
    /// `bulk` is the offset of the frame's largest part, a multiple of 8.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] for a frame over the connection's limit; [`Error::AreaRefused`] if a
    /// limit on memory leaves no room for it; otherwise as [`Self::inline_frame`].
    pub fn area_frame(&mut self, length: usize, bulk: usize, limit: impl Limit) -> Result<&mut [u8], Error> {
        self.place_frame(length, bulk, limit.deadline(), Self::enlarge_area)
    }

    /// As [`Self::area_frame`], for a response. If the alarm rings during the wait for a larger
    /// area, that wait continues, and the next wait for a message ends at once.
    ///
    /// # Errors
    ///
    /// As for [`Self::area_frame`].
    pub fn response_frame(&mut self, length: usize, bulk: usize, limit: impl Limit) -> Result<&mut [u8], Error> {
        self.place_frame(length, bulk, limit.deadline(), Self::enlarge_for_response)
    }

    #[inline(always)]
    fn place_frame(
        &mut self,
        length: usize,
        bulk: usize,
        deadline: Deadline,
        enlarge: impl FnOnce(&mut Self, usize, Deadline) -> Result<(), Error>,
    ) -> Result<&mut [u8], Error> {
        self.inline_frame(deadline)?;
        if self.area.is_too_small(length) {
            enlarge(self, length, deadline)?;
        }
        if !self.area.has_room(length, bulk, self.taken, self.next) {
            self.await_credit(deadline, |tx| tx.area.has_room(length, bulk, tx.taken, tx.next))?;
        }
        Ok(self.area.frame(length))
    }

    #[cold]
    fn enlarge_for_response(&mut self, length: usize, deadline: Deadline) -> Result<(), Error> {
        let (deadline, mut is_rung) = (deadline.start(), false);
        let outcome = loop {
            match self.enlarge_area(length, deadline) {
                Err(Error::Cancelled) => is_rung = true,
                outcome => break outcome,
            }
            if deadline.is_over() {
                break Err(Error::TimedOut);
            }
        };
        if is_rung {
            self.wire.keep_ring();
        }
        outcome
    }

    /// Makes the area long enough for frames of this length.
    #[cold]
    fn enlarge_area(&mut self, length: usize, deadline: Deadline) -> Result<(), Error> {
        while self.area.is_too_small(length) {
            self.await_credit(deadline, |tx| tx.area.is_free(tx.taken, tx.next))?;
            let grown = self.area.grow(length, &self.wire);
            if let Err(Error::AreaRefused { length, by_peer }) = grown {
                self.refused = Some(Box::new((self.next, Error::AreaRefused { length, by_peer: !by_peer })));
            }
            grown?;
        }
        Ok(())
    }

    /// Returns the reason why a frame of the next message got no area. The error is from the peer's
    /// point of view: `by_peer` is true if this side's limit was the reason.
    pub fn refusal(&self) -> Option<&Error> {
        self.refused.as_deref().filter(|(sequence, _)| *sequence == self.next).map(|(_, why)| why)
    }

    /// As [`Self::area_frame`], for a message whose slot is free. Never waits: returns `None` if
    /// the frame does not fit behind the area's last frame.
    #[inline(always)]
    pub fn next_area_frame(&mut self, length: usize) -> Option<&mut [u8]> {
        if self.area.goes_on(length) { Some(self.area.frame(length)) } else { None }
    }

    /// Publishes the frame that [`Self::area_frame`] returned, or its first `length` bytes.
    pub fn send_area(&mut self, header: Header, length: usize) {
        let place = self.area.commit(length, self.next);
        // SAFETY: slots lie inside every segment.
        let frame = unsafe { self.start.add(slot_offset(self.next) + SLOT_FRAME) };
        // SAFETY: the 12 bytes are inside the slot's 112 bytes. They are own memory, exclusive by
        // &mut self, and aligned to 16.
        unsafe { frame.cast::<[u32; 3]>().write([place.number, place.offset, length as u32]) };
        self.publish(header, layout::IN_AREA);
    }

    #[inline(always)]
    fn publish(&mut self, header: Header, length: u8) {
        let sequence = self.next;
        let first = header.leading_word(sequence, length);
        // SAFETY: slots lie inside every segment.
        let slot = unsafe { self.start.add(slot_offset(sequence)) }.cast::<AtomicU64>();
        // SAFETY: the second eight bytes are inside the slot.
        let second = unsafe { slot.add(1) };
        // SAFETY: the word is mapped and aligned to 8. Words of headers are accessed as atomics
        // only.
        unsafe { second.as_ref() }.store(header.target_word(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { slot.as_ref() }.store(first, Ordering::Release);
        self.next = sequence.wrapping_add(1);
        if self.peer_may_sleep {
            // SAFETY: the control words are aligned, and lie before the slots, which lie inside
            // every segment.
            let peer_sleeps = unsafe { self.wire.peer.word_unchecked(layout::SLEEP) };
            // SAFETY: as above.
            let own_bell = unsafe { self.wire.own.word_unchecked(layout::BELL) };
            if must_ring(peer_sleeps, own_bell) {
                self.carry(sequence);
            }
        }
    }

    /// Whether the peer's flag says that the peer sleeps, or is about to.
    #[cfg(test)]
    pub(crate) fn peer_sleeps(&self) -> bool {
        self.wire.peer.word(layout::SLEEP).load(Ordering::Acquire) != 0
    }

    #[cold]
    #[inline(never)]
    fn carry(&mut self, sequence: u32) {
        self.wakes += 1;
        self.wire.carrier.carry(&self.wire, slot_offset(sequence));
    }

    /// Waits until the peer has consumed enough messages, as its credit word shows.
    #[cold]
    fn await_credit(&mut self, deadline: Deadline, enough: impl Fn(&mut Self) -> bool) -> Result<(), Error> {
        let deadline = deadline.start();
        self.credit_waits += 1;
        loop {
            self.wire.carrier.fetch_credit(&self.wire)?;
            let consumed = self.wire.peer.word(layout::CONSUMED).load(Ordering::Acquire);
            // A valid count is at least `taken`, the count known so far, and at most the number of
            // the last message sent.
            if consumed.wrapping_sub(self.taken) >= self.next.wrapping_sub(self.taken) && consumed != self.taken {
                // A count below `taken` is stale, but no violation: a response has already reported
                // the newer count.
                if self.taken.wrapping_sub(consumed).cast_signed() < 0 {
                    return Err(Violation::BadCredit(consumed).into());
                }
            } else {
                self.taken = consumed;
            }
            if enough(self) {
                return Ok(());
            }
            self.wire.check()?;
            if deadline.is_over() {
                return Err(Error::TimedOut);
            }
            // The wait sleeps for a fixed time: a lack of credit is rare, and the peer does not
            // ring when it takes messages.
            std::thread::sleep(Duration::from_micros(50));
        }
    }
}
