//! An outgoing message, cut into fragments. The receiver's window, and losses in the network, limit
//! the number of fragments that are under way.
//!
//! Facks report the fragments that have arrived. A fragment that has not arrived counts as lost if
//! its serial number comes before the serial number of the unit that the fack answers. Lost
//! fragments are retransmitted at once. Other unacknowledged fragments are retransmitted by a
//! timer.

use super::output::Output;
use super::pdu::{Fack, Header, flags};
use super::{FIRST_FRAGMENT, Limits};
use std::time::{Duration, Instant};

/// The time until an unacknowledged fragment is first retransmitted.
const FIRST_REPEAT: Duration = Duration::from_millis(250);
/// The longest time between two retransmissions.
const LAST_REPEAT: Duration = Duration::from_secs(4);
/// The number of fragments that may be under way at the beginning of a message.
const UNDER_WAY_FIRST: usize = 4;
/// The maximum number of fragments that may be under way.
const UNDER_WAY_MAX: usize = 64;
/// The interval of fragments that ask for a fack: a fragment asks for one if its number is one less
/// than a multiple of this interval. The last fragment of a burst always asks.
const FACK_EVERY: usize = 4;

/// The properties of the receiver, as far as they are known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Receiver {
    /// The longest unit that both sides support, in bytes.
    pub(super) fragment: usize,
    /// The receive window in bytes.
    pub(super) window: usize,
}

impl Receiver {
    /// The assumptions until the first fack.
    pub(super) const UNKNOWN: Self = Self { fragment: FIRST_FRAGMENT, window: UNDER_WAY_FIRST * FIRST_FRAGMENT };

    fn learn(&mut self, fack: &Fack, limits: &Limits, is_near: bool) {
        let own = limits.fragment_max(is_near);
        let theirs = fack.fragment_max.min(fack.datagram_max) as usize;
        self.fragment = theirs.clamp(FIRST_FRAGMENT, own.max(FIRST_FRAGMENT));
        // The window may be zero. One fragment is under way even then, and asks for a fack, which
        // may announce a larger window.
        self.window = usize::from(fack.window) << 10;
    }

    /// Returns the length of a unit's stub data in bytes: a multiple of 8, as the standard demands
    /// (C706 12.5.2.13).
    fn body(&self) -> usize {
        (self.fragment - Header::SIZE) & !7
    }
}

/// A fragment that was sent.
#[derive(Clone, Debug)]
struct Sent {
    at: usize,
    length: usize,
    /// The serial number of the last transmission.
    serial: u16,
    has_arrived: bool,
}

/// A message that is being sent.
#[derive(Debug)]
pub(super) struct Sending {
    head: Header,
    stub: Vec<u8>,
    /// The sent fragments, by number. Retransmissions do not change their boundaries.
    sent: Vec<Sent>,
    /// The number of the first unacknowledged fragment.
    first: usize,
    /// The offset of the first unsent byte.
    next: usize,
    is_cut: bool,
    serial: u16,
    under_way_max: usize,
    /// Whether the message fits one unit.
    is_whole: bool,
    repeat_at: Instant,
    /// The number of timed retransmissions since the last progress.
    repeats: u32,
}

impl Sending {
    /// Creates a message. `head` is the header of all fragments; the fields that differ between
    /// fragments are replaced.
    pub(super) fn new(head: Header, stub: Vec<u8>, receiver: &Receiver, now: Instant) -> Self {
        let is_whole = stub.len() <= receiver.body();
        Self {
            head,
            stub,
            sent: Vec::new(),
            first: 0,
            next: 0,
            is_cut: false,
            serial: 0,
            under_way_max: UNDER_WAY_FIRST,
            is_whole,
            repeat_at: now + FIRST_REPEAT,
            repeats: 0,
        }
    }

    /// Whether the message is one unit.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Returns the header of all fragments. The fields that differ between fragments have no
    /// meaning.
    pub(super) fn head(&self) -> &Header {
        &self.head
    }

    /// Returns the length of the message in bytes.
    pub(super) fn length(&self) -> usize {
        self.stub.len()
    }

    /// Whether all fragments are acknowledged.
    pub(super) fn has_arrived(&self) -> bool {
        self.is_cut && self.first == self.sent.len()
    }

    /// Whether the 16-bit fragment numbers suffice for a message of this length.
    pub(super) fn fits(length: usize, receiver: &Receiver) -> bool {
        length / receiver.body() < usize::from(u16::MAX)
    }

    /// Returns the time of the next retransmission, or `None` if all fragments are acknowledged.
    pub(super) fn due(&self) -> Option<Instant> {
        (!self.has_arrived()).then_some(self.repeat_at)
    }

    /// Sends as many fragments as the window allows.
    pub(super) fn advance<T: Copy>(&mut self, to: T, receiver: &Receiver, output: &mut Output<T>) {
        let missing = || self.sent[self.first..].iter().filter(|sent| !sent.has_arrived);
        let (mut count, mut bytes) = (missing().count(), missing().map(|sent| sent.length).sum::<usize>());
        while !self.is_cut {
            // One fragment is sent in any case: if the window is closed, this fragment probes it.
            let length = receiver.body().min(self.stub.len() - self.next);
            if count > 0 && (count >= self.under_way_max || bytes + length > receiver.window) {
                break;
            }
            // The caller has checked that the 16-bit fragment numbers suffice for the message.
            self.sent.push(Sent { at: self.next, length, serial: 0, has_arrived: false });
            self.next += length;
            self.is_cut = self.next == self.stub.len();
            (count, bytes) = (count + 1, bytes + length);
            let number = self.sent.len() - 1;
            let more = receiver.body().min(self.stub.len() - self.next);
            let is_pause = self.is_cut || count >= self.under_way_max || bytes + more > receiver.window;
            self.send(number, is_pause || number % FACK_EVERY == FACK_EVERY - 1, to, output);
        }
    }

    /// Sends all fragments at once, without asking for facks.
    pub(super) fn send_all<T: Copy>(&mut self, to: T, receiver: &Receiver, output: &mut Output<T>) {
        self.under_way_max = usize::MAX;
        self.head.flags |= flags::NO_FACK;
        self.advance(to, &Receiver { window: usize::MAX, ..*receiver }, output);
    }

    /// Sends the fragment with this number, for the first time or again.
    fn send<T: Copy>(&mut self, number: usize, asks: bool, to: T, output: &mut Output<T>) {
        let Some(sent) = self.sent.get_mut(number) else { return };
        self.serial = self.serial.wrapping_add(1);
        sent.serial = self.serial;
        let body = &self.stub[sent.at..sent.at + sent.length];
        let is_last = sent.at + sent.length == self.stub.len();
        let mut header = Header { serial: self.serial, fragment: number as u16, ..self.head };
        if !self.is_whole {
            let last = if is_last { flags::LAST } else { 0 };
            header.flags |= flags::FRAGMENT | last | if asks { 0 } else { flags::NO_FACK };
        }
        output.put(to, |bytes| header.write(bytes, body));
    }

    /// Processes an acknowledgement: retransmits lost fragments and sends further ones.
    pub(super) fn acknowledged<T: Copy>(
        &mut self,
        (fragment, fack): (u16, Option<&Fack>),
        (receiver, limits): (&mut Receiver, &Limits),
        now: Instant,
        (to, is_near, output): (T, bool, &mut Output<T>),
    ) {
        let through = usize::from(fragment.wrapping_add(1));
        if through > self.sent.len() {
            // The fragment was never sent.
            return;
        }
        let arrived = through.saturating_sub(self.first);
        self.first += arrived;
        let mut is_new = arrived > 0;
        if let Some(fack) = fack {
            receiver.learn(fack, limits, is_near);
            for (behind, sent) in (0..).zip(&mut self.sent[through..]) {
                is_new |= fack.has(behind) && !sent.has_arrived;
                sent.has_arrived |= fack.has(behind);
            }
            self.repeat_lost(fack.serial, to, output);
        }
        if is_new {
            self.under_way_max = (self.under_way_max + arrived).min(UNDER_WAY_MAX);
            (self.repeats, self.repeat_at) = (0, now + FIRST_REPEAT);
        }
        self.advance(to, receiver, output);
    }

    /// Retransmits the fragments that were sent before the unit with `serial` and have not arrived.
    fn repeat_lost<T: Copy>(&mut self, serial: u16, to: T, output: &mut Output<T>) {
        let is_lost = |sent: &Sent| !sent.has_arrived && (serial.wrapping_sub(sent.serial) as i16) > 0;
        let lost: Vec<usize> = (self.first..self.sent.len()).filter(|at| is_lost(&self.sent[*at])).collect();
        if let Some((last, others)) = lost.split_last() {
            self.under_way_max = (self.under_way_max / 2).max(1);
            others.iter().for_each(|number| self.send(*number, false, to, output));
            self.send(*last, true, to, output);
        }
    }

    /// Retransmits the first unacknowledged fragment, if there is one.
    pub(super) fn repeat<T: Copy>(&mut self, to: T, output: &mut Output<T>) {
        self.send(self.first, true, to, output);
    }

    /// Whether the receiver has already acknowledged fragments with higher numbers than `fragment`.
    pub(super) fn is_ahead_of(&self, fragment: u16) -> bool {
        self.first > usize::from(fragment.wrapping_add(1))
    }

    /// Sends the message again from the beginning, because the receiver has lost all fragments,
    /// including acknowledged ones.
    pub(super) fn restart<T: Copy>(&mut self, to: T, output: &mut Output<T>) {
        self.first = 0;
        self.sent.iter_mut().for_each(|sent| sent.has_arrived = false);
        let again = self.sent.len().min(UNDER_WAY_FIRST);
        (0..again).for_each(|number| self.send(number, number + 1 == again, to, output));
    }

    /// Retransmits a fragment if the timer has expired. Returns `false` if the timer has expired
    /// after `repeats_max` retransmissions without progress.
    pub(super) fn tick<T: Copy>(&mut self, now: Instant, repeats_max: u32, to: T, output: &mut Output<T>) -> bool {
        if self.has_arrived() || now < self.repeat_at {
            return true;
        }
        if self.repeats == repeats_max {
            return false;
        }
        self.repeats += 1;
        self.under_way_max = 1;
        self.repeat_at = now + (FIRST_REPEAT * 2_u32.saturating_pow(self.repeats.min(8))).min(LAST_REPEAT);
        self.repeat(to, output);
        true
    }
}
