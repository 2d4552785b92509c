//! The receiving half of a connection: waits for the peer's messages.

use super::area::{Place, ReceiveArea};
use super::{Mapping, Wire};
use crate::layout::{self, AREA, INLINE_MAX, SLOT_FRAME, slot_offset};
use crate::wait::{IDLE, SpinBudget, breathe};
use crate::{Counters, Deadline, Error, Header, Kind, Limit, RegionView, Violation};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The number of polls of the slot between two checks for the end of the connection, interruptions
/// and the deadline.
const POLLS_BETWEEN_LOOKS: u32 = 1 << 10;
/// The cost of one fetch, in polls.
const POLLS_PER_FETCH: u32 = 32;
/// The number of fetches between two checks for the end of the connection, interruptions and the
/// deadline.
const FETCHES_BETWEEN_LOOKS: u32 = 64;
/// The time for which a wait under [`Waiting::Poll`] polls a relay before it sleeps. A relay's
/// messages come over sockets, and a server has a waiting thread for each idle connection. If these
/// threads polled for ever, they would take the processors from threads that serve calls.
const RELAY_POLL_MAX: Duration = Duration::from_millis(2);

/// The receiving half. One thread uses it, without locks.
#[derive(Debug)]
pub struct Rx {
    // Invariant: the start of `wire.peer`, which the peer may write at any time.
    start: NonNull<u8>,
    next: u32,
    budget: SpinBudget,
    area: ReceiveArea,
    sleeps: u64,
    // Whether the carrier has to fetch the peer's messages: the result of `Carrier::is_remote`.
    is_remote: bool,
    wire: Arc<Wire>,
}

// SAFETY: the pointer is to the mapping that `wire` keeps, and is used for loads alone.
unsafe impl Send for Rx {}

/// A message in the peer's segment. The peer does not reuse the bytes before it learns that the
/// message was taken.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    // The slot's first two words, loaded once.
    first: u64,
    second: u64,
    frame: RegionView<'a>,
}

impl<'a> Message<'a> {
    /// Returns the header's words.
    ///
    /// # Errors
    ///
    /// As [`Self::kind`].
    pub fn header(&self) -> Result<Header, Violation> {
        let (first, second) = (self.second as u32, (self.second >> 32) as u32);
        Ok(Header { kind: self.kind()?, opnum: self.opnum(), first, second })
    }

    /// Returns the kind of the message.
    ///
    /// # Errors
    ///
    /// [`Violation::BadKind`] for a kind that does not exist.
    #[inline]
    pub fn kind(&self) -> Result<Kind, Violation> {
        let kind = (self.first >> 48) as u8;
        Kind::from_wire(kind).ok_or(Violation::BadKind(kind))
    }

    /// Whether the message is of this kind.
    #[inline(always)]
    pub fn is(&self, kind: Kind) -> bool {
        (self.first >> 48) as u8 == kind as u8
    }

    /// Returns the header's opnum.
    #[inline(always)]
    pub fn opnum(&self) -> u16 {
        (self.first >> 32) as u16
    }

    /// Returns the header's words `first` (low half) and `second` (high half) as one word.
    #[inline(always)]
    pub fn target_word(&self) -> u64 {
        self.second
    }

    /// Returns the sequence number: the call id of a request.
    #[inline(always)]
    pub fn sequence(&self) -> u32 {
        self.first as u32
    }

    /// Returns the frame.
    #[inline(always)]
    pub fn frame(&self) -> RegionView<'a> {
        self.frame
    }
}

impl Rx {
    pub(super) fn new(wire: Arc<Wire>, area: Option<Mapping>, budget: SpinBudget, limit: usize) -> Self {
        let start = wire.peer.start();
        let area = area.unwrap_or_else(|| {
            // SAFETY: a segment with its area in it is longer than AREA, which is a multiple of 8.
            // `wire` keeps the segment mapped.
            unsafe { wire.peer.behind(AREA) }
        });
        let is_remote = wire.carrier.is_remote();
        Self { start, next: 1, budget, area: ReceiveArea::new(area, limit), sleeps: 0, is_remote, wire }
    }

    pub(super) fn count(&self, counters: &mut Counters) {
        counters.received = self.next.wrapping_sub(1);
        counters.sleeps = self.sleeps;
    }

    /// Waits for the next message.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] at the deadline, [`Error::PeerGone`] or [`Error::Disconnected`] when the
    /// connection has ended, [`Error::Cancelled`] when an [`super::Alarm`] was rung,
    /// [`Error::Violation`] when the message breaks the rules.
    pub fn receive(&mut self, limit: impl Limit) -> Result<Message<'_>, Error> {
        self.receive_or_why(limit).map_err(|error| *error)
    }

    /// As [`Self::receive`], with an error that fits a register, for callers that pass the error
    /// on.
    ///
    /// # Errors
    ///
    /// As [`Self::receive`].
    #[inline(always)]
    pub fn receive_or_why(&mut self, limit: impl Limit) -> Result<Message<'_>, Box<Error>> {
        // A look at the slot takes the slot's cache line away from the peer, and the peer then has
        // to wait for the line before it can write. No answer arrives right after its request, so
        // the first look is delayed a little.
        if self.budget.is_patient() {
            breathe();
            breathe();
        }
        let mut first = self.slot().load(Ordering::Acquire);
        if first as u32 != self.next {
            first = self.await_slot(limit)?;
        }
        self.accept(first)
    }

    /// Waits until the next message has arrived, without taking the message.
    ///
    /// # Errors
    ///
    /// As [`Self::receive`].
    pub fn wait(&mut self, limit: impl Limit) -> Result<(), Box<Error>> {
        if self.slot().load(Ordering::Acquire) as u32 != self.next {
            self.await_slot(limit)?;
        }
        Ok(())
    }

    /// Returns the next message if it has arrived already.
    ///
    /// # Errors
    ///
    /// [`Error::Violation`] when the message breaks the rules.
    pub fn try_receive(&mut self) -> Result<Option<Message<'_>>, Error> {
        let first = self.slot().load(Ordering::Acquire);
        if first as u32 != self.next {
            return Ok(None);
        }
        self.accept(first).map(Some).map_err(|error| *error)
    }

    /// Whether the policy lets waits sleep.
    pub(super) fn may_sleep(&self) -> bool {
        self.budget.polls().is_some()
    }

    /// Announces to the peer that the connection will wait without a thread. Returns false if the
    /// connection has a message or an interruption, or cannot be parked now or ever.
    ///
    /// # Errors
    ///
    /// If the connection has to end, and has no message left.
    pub(super) fn prepare_to_park(&self) -> Result<bool, Box<Error>> {
        let wire = &*self.wire;
        let prepared = wire.carrier.parking().map_or(Ok(false), |parking| parking.prepare(wire, self.next));
        let has_message = self.slot().load(Ordering::Acquire) as u32 == self.next;
        let is_quiet = matches!(prepared, Ok(true)) && !has_message && !wire.is_interrupted();
        if !is_quiet {
            wire.carrier.end_sleep(wire);
        }
        match prepared {
            Err(why) if !has_message => Err(why.into()),
            Err(_) => {
                // The message that has arrived can still be received. After that, the connection
                // ends.
                wire.close();
                Ok(false)
            }
            Ok(_) => Ok(is_quiet),
        }
    }

    /// Tells the peer that every message received so far has been taken. The peer may then reuse
    /// the places of these messages.
    ///
    /// A response tells the peer the same. So only messages without a response need this call.
    pub fn release(&mut self) {
        self.wire.own.word(layout::CONSUMED).store(self.next.wrapping_sub(1), Ordering::Release);
        self.wire.carrier.carry_credit(&self.wire);
    }

    #[inline]
    fn slot(&self) -> &AtomicU64 {
        // SAFETY: slots lie inside every segment.
        let slot = unsafe { self.start.add(slot_offset(self.next)) };
        // SAFETY: the slot is mapped as long as `wire` lives, and aligned to 128. The word is
        // loaded as an atomic only.
        unsafe { slot.cast::<AtomicU64>().as_ref() }
    }

    #[inline(always)]
    fn accept(&mut self, first: u64) -> Result<Message<'_>, Box<Error>> {
        let slot = NonNull::from(self.slot());
        // SAFETY: the second eight bytes are inside the slot.
        let second = unsafe { slot.add(1) };
        // SAFETY: the proof in `slot` applies to this word as well.
        let second = unsafe { second.as_ref() }.load(Ordering::Relaxed);
        let length = first >> 56;
        self.next = self.next.wrapping_add(1);
        // SAFETY: the slot is longer than SLOT_FRAME, so the result is inside the slot.
        let frame = unsafe { slot.cast::<u8>().add(SLOT_FRAME) };
        let frame = if length <= INLINE_MAX as u64 {
            // SAFETY: the frame is inside the slot by the check, mapped as long as `wire` lives,
            // and aligned to 16.
            unsafe { RegionView::new(frame.as_ptr(), length as usize) }
        } else {
            self.frame_in_area(frame, length as u8)?
        };
        Ok(Message { first, second, frame })
    }

    /// Returns a frame in an area. `note` is the place in the slot that says where the frame lies.
    #[inline(never)]
    fn frame_in_area(&mut self, note: NonNull<u8>, length: u8) -> Result<RegionView<'_>, Box<Error>> {
        if length != layout::IN_AREA {
            return Err(broken(Violation::BadInlineLength(length)));
        }
        // SAFETY: `note` is the slot's frame: 112 bytes, mapped as long as `wire` lives, and
        // aligned to 16.
        let note = unsafe { RegionView::new(note.as_ptr(), INLINE_MAX) };
        let [number, offset, length] = [0, 4, 8].map(|at| note.load_u32(at).unwrap_or(0));
        self.area.frame(Place { number, offset }, length, &self.wire).map_err(Box::new)
    }

    /// Polls, then sleeps, until the next message has arrived.
    ///
    /// The function is out of line, and its result fits two registers, because a call spends most
    /// of its time here.
    #[inline(never)]
    fn await_slot(&mut self, limit: impl Limit) -> Result<u64, Box<Error>> {
        if self.is_remote {
            return Ok(self.await_remote(limit)?);
        }
        let budget = self.budget.polls();
        let mut left = budget.unwrap_or(u32::MAX);
        let mut deadline = None;
        while left > 0 {
            let round = left.min(POLLS_BETWEEN_LOOKS);
            if let Some(first) = self.poll_slot(round) {
                self.budget.polling_paid();
                return Ok(first);
            }
            left = if budget.is_none() { u32::MAX } else { left - round };
            if round == POLLS_BETWEEN_LOOKS {
                let started = *deadline.get_or_insert_with(|| limit.deadline().start());
                self.look_around(started)?;
            }
        }
        Ok(self.sleep_and_learn(deadline.unwrap_or_else(|| limit.deadline()))?)
    }

    fn sleep_and_learn(&mut self, deadline: Deadline) -> Result<u64, Error> {
        let began = Instant::now();
        let outcome = self.sleep(deadline);
        let took = began.elapsed();
        // A short sleep without a message does not show whether polling pays.
        if outcome.is_ok() || took >= IDLE {
            self.budget.slept(took);
        }
        outcome
    }

    #[inline]
    fn poll_slot(&self, polls: u32) -> Option<u64> {
        let (slot, next) = (self.slot(), self.next);
        for _ in 0..polls {
            let first = slot.load(Ordering::Acquire);
            if first as u32 == next {
                return Some(first);
            }
            breathe();
        }
        None
    }

    /// Checks for the events that end a wait without a message. If the peer has ended, its last
    /// message is still received first. If a message ends the wait, a rung alarm stays set and ends
    /// the next wait.
    fn look_around(&self, deadline: Deadline) -> Result<(), Error> {
        let outcome = self.wire.check();
        if self.slot().load(Ordering::Acquire) as u32 == self.next {
            if matches!(outcome, Err(Error::Cancelled)) {
                self.wire.keep_ring();
            }
            return Ok(());
        }
        outcome?;
        if deadline.is_over() { Err(Error::TimedOut) } else { Ok(()) }
    }

    /// As [`Self::await_slot`], where the peer's messages have to be fetched. One fetch costs as
    /// much as some tens of looks at memory.
    #[cold]
    #[inline(never)]
    fn await_remote(&mut self, limit: impl Limit) -> Result<u64, Error> {
        let budget = self.budget.polls();
        let began = Instant::now();
        let mut deadline = None;
        for look in 0.. {
            // A thread that sleeps at once must not pay for a fetch, which costs a system call.
            if budget == Some(0) {
                break;
            }
            self.wire.carrier.fetch(&self.wire)?;
            let first = self.slot().load(Ordering::Acquire);
            if first as u32 == self.next {
                self.budget.polling_paid();
                return Ok(first);
            }
            if look % FETCHES_BETWEEN_LOOKS == 0 {
                let started = *deadline.get_or_insert_with(|| limit.deadline().start());
                self.look_around(started)?;
                if self.wire.carrier.is_relayed() && began.elapsed() >= RELAY_POLL_MAX {
                    break;
                }
            }
            if budget.is_some_and(|polls| look >= polls / POLLS_PER_FETCH) {
                break;
            }
        }
        self.sleep_and_learn(deadline.unwrap_or_else(|| limit.deadline()))
    }

    fn sleep(&mut self, deadline: Deadline) -> Result<u64, Error> {
        let deadline = deadline.start();
        let wire = &*self.wire;
        let outcome = loop {
            let ticket = wire.carrier.prepare_sleep(wire);
            let first = self.slot().load(Ordering::Acquire);
            if first as u32 == self.next {
                break Ok(first);
            }
            if let Err(error) = self.look_around(deadline) {
                break Err(error);
            }
            self.sleeps += 1;
            if let Err(error) = wire.carrier.sleep(wire, ticket, deadline.remaining()) {
                break Err(error);
            }
        };
        wire.carrier.end_sleep(wire);
        outcome
    }
}

/// Makes the error for a rule that the peer broke.
#[cold]
#[inline(never)]
fn broken(violation: Violation) -> Box<Error> {
    Box::new(violation.into())
}

#[cfg(test)]
mod tests {
    use crate::provider::shm::Directory;
    use crate::wait::IDLE;
    use crate::window::{Options, Window};
    use crate::{Deadline, Error, Header, Kind};
    use std::time::{Duration, Instant};

    const LATEST: Deadline = Deadline::Within(ground::LATEST);

    /// Returns both ends of a connection over shared memory.
    fn connection(folder: &ground::Folder) -> (Window, Window) {
        let directory = Directory::at(folder.path()).unwrap();
        let listener = directory.bind("rung").unwrap();
        let server =
            std::thread::spawn(move || listener.accept(LATEST).unwrap().complete(&Options::default()).unwrap());
        let window = directory.connect("rung", &Options::default(), LATEST).unwrap();
        (window, server.join().unwrap())
    }

    fn send(window: &mut Window) {
        window.tx.inline_frame(LATEST).unwrap();
        window.tx.send_inline(Header { kind: Kind::Oneway, opnum: 3, first: 0, second: 0 }, 0);
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn rings_and_messages_end_a_sleep_of_any_length() {
        let folder = ground::Folder::new("via-rx");
        let (mut window, mut server) = connection(&folder);
        let alarm = window.alarm();
        let (thread, begun) = (ground::thread_number(), Instant::now());
        let until_asleep = || ground::until("the thread sleeps", || ground::is_asleep(thread));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                until_asleep();
                alarm.ring();
            });
            assert!(matches!(window.rx.receive(LATEST), Err(Error::Cancelled)));
            scope.spawn(|| {
                until_asleep();
                send(&mut server);
            });
            window.rx.receive(LATEST).unwrap();
        });
        assert!(begun.elapsed() < ground::LATEST);
        assert_eq!(window.counters().sleeps, 2, "no sleep ended before its event");
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn waits_without_a_message_do_not_show_that_polling_is_in_vain() {
        let folder = ground::Folder::new("via-rx");
        let (mut window, _server) = connection(&folder);
        let fails = |window: &mut Window, limit| {
            assert!(matches!(window.rx.receive(Deadline::Within(limit)), Err(Error::TimedOut)));
        };
        let at_first = window.rx.budget.polls();
        // On a busy machine the polls can use up the whole wait, so that it ends without a sleep.
        ground::until("a wait has slept for long", || {
            fails(&mut window, IDLE * 2);
            window.rx.budget.polls() != at_first
        });
        let idle = window.rx.budget.polls();
        // The waits are longer than the polls. On a busy machine, some of them are as long as waits
        // for an idle peer.
        for _ in 0..20 {
            fails(&mut window, Duration::from_micros(500));
        }
        assert_eq!(window.rx.budget.polls(), idle);
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn an_alarm_preceded_by_a_message_ends_the_next_wait() {
        let folder = ground::Folder::new("via-rx");
        let (mut window, mut server) = connection(&folder);
        send(&mut server);
        window.alarm().ring();
        // A waiting thread makes this call. The call finds both the message and the alarm.
        window.rx.look_around(LATEST.start()).unwrap();
        window.rx.receive(LATEST).unwrap();
        assert!(matches!(window.rx.receive(LATEST), Err(Error::Cancelled)));
    }
}
