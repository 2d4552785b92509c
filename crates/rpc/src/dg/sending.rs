//! A message on its way: cut into fragments, of which so many are under way as the other side takes and the network carries.
//!
//! Facks say which have arrived. Serial numbers tell what was sent before the unit that a fack answers and has not come: that is
//! lost, and sent again at once. What nobody says anything about is sent again by the clock.

use super::output::Output;
use super::pdu::{Fack, Header, flags};
use super::{FIRST_FRAGMENT, Limits};
use std::time::{Duration, Instant};

/// When what nobody has answered is sent again for the first time.
const FIRST_REPEAT: Duration = Duration::from_millis(250);
/// The longest time between two repetitions.
const LAST_REPEAT: Duration = Duration::from_secs(4);
/// Fragments under way to begin with, and after a loss that the clock told.
const UNDER_WAY_FIRST: usize = 4;
const UNDER_WAY_MAX: usize = 64;
/// A fack is asked for by each fragment with a number that is one less than a multiple of this, and by the last one sent at a time.
const FACK_EVERY: usize = 4;

/// What is known of who receives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Receiver {
    /// The longest unit that it takes, and that this side sends.
    pub(super) fragment: usize,
    /// Bytes that may be under way.
    pub(super) window: usize,
}

impl Receiver {
    /// What holds until somebody has said more.
    pub(super) const UNKNOWN: Self = Self { fragment: FIRST_FRAGMENT, window: UNDER_WAY_FIRST * FIRST_FRAGMENT };

    fn learn(&mut self, fack: &Fack, limits: &Limits, is_near: bool) {
        let own = limits.fragment_max(is_near);
        let theirs = fack.fragment_max.min(fack.datagram_max) as usize;
        self.fragment = theirs.clamp(FIRST_FRAGMENT, own.max(FIRST_FRAGMENT));
        // An empty window is opened again by another fack, which the one fragment that is always under way asks for.
        self.window = usize::from(fack.window) << 10;
    }

    /// Bytes of a message that go into a unit: a multiple of 8, as the standard wants it (C706 12.5.2.13).
    fn body(&self) -> usize {
        (self.fragment - Header::SIZE) & !7
    }
}

/// A fragment that was sent.
#[derive(Clone, Debug)]
struct Sent {
    at: usize,
    length: usize,
    /// The serial number with which it was sent last.
    serial: u16,
    has_arrived: bool,
}

/// A message that is being sent.
#[derive(Debug)]
pub(super) struct Sending {
    head: Header,
    stub: Vec<u8>,
    /// What was sent, by number: a message is cut once, whatever is sent again.
    sent: Vec<Sent>,
    /// The number of the first that has not arrived.
    first: usize,
    /// What has not been sent.
    next: usize,
    is_cut: bool,
    serial: u16,
    under_way_max: usize,
    /// Its first unit is the last.
    is_whole: bool,
    repeat_at: Instant,
    repeats: u32,
}

impl Sending {
    /// A message that is to be sent: its header, without what differs between fragments.
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

    /// Whether it is one unit.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The header without what differs between fragments.
    pub(super) fn head(&self) -> &Header {
        &self.head
    }

    /// Bytes of the message.
    pub(super) fn length(&self) -> usize {
        self.stub.len()
    }

    /// Whether all of it has arrived, as far as facks say.
    pub(super) fn has_arrived(&self) -> bool {
        self.is_cut && self.first == self.sent.len()
    }

    /// Whether the message can be cut for this receiver: fragments have 16-bit numbers.
    pub(super) fn fits(length: usize, receiver: &Receiver) -> bool {
        length / receiver.body() < usize::from(u16::MAX)
    }

    /// When something is to be sent again; `None` where nothing waits for a fack.
    pub(super) fn due(&self) -> Option<Instant> {
        (!self.has_arrived()).then_some(self.repeat_at)
    }

    /// How often the clock has had something sent again since anything was heard.
    pub(super) fn repeats(&self) -> u32 {
        self.repeats
    }

    /// Sends what may be under way.
    pub(super) fn advance<T: Copy>(&mut self, to: T, receiver: &Receiver, output: &mut Output<T>) {
        let missing = || self.sent[self.first..].iter().filter(|sent| !sent.has_arrived);
        let (mut count, mut bytes) = (missing().count(), missing().map(|sent| sent.length).sum::<usize>());
        while !self.is_cut {
            // One is always under way: where the window is shut, it asks whether that is still so.
            let length = receiver.body().min(self.stub.len() - self.next);
            if count > 0 && (count >= self.under_way_max || bytes + length > receiver.window) {
                break;
            }
            // The message fits, so there are as many numbers.
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

    /// Sends all at once, without asking whether it arrives.
    pub(super) fn send_all<T: Copy>(&mut self, to: T, receiver: &Receiver, output: &mut Output<T>) {
        self.under_way_max = usize::MAX;
        self.head.flags |= flags::NO_FACK;
        self.advance(to, &Receiver { window: usize::MAX, ..*receiver }, output);
    }

    /// Sends one that was cut.
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

    /// Notes which fragments have arrived, and sends what is lost and what may follow.
    pub(super) fn acknowledged<T: Copy>(
        &mut self,
        (fragment, fack): (u16, Option<&Fack>),
        (receiver, limits): (&mut Receiver, &Limits),
        now: Instant,
        (to, is_near, output): (T, bool, &mut Output<T>),
    ) {
        let through = usize::from(fragment.wrapping_add(1));
        if through > self.sent.len() {
            // That was never sent.
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

    /// Sends again what was sent before the unit with a serial number, and has not arrived with it.
    fn repeat_lost<T: Copy>(&mut self, serial: u16, to: T, output: &mut Output<T>) {
        let is_lost = |sent: &Sent| !sent.has_arrived && (serial.wrapping_sub(sent.serial) as i16) > 0;
        let lost: Vec<usize> = (self.first..self.sent.len()).filter(|at| is_lost(&self.sent[*at])).collect();
        if let Some((last, others)) = lost.split_last() {
            self.under_way_max = (self.under_way_max / 2).max(1);
            others.iter().for_each(|number| self.send(*number, false, to, output));
            self.send(*last, true, to, output);
        }
    }

    /// Sends the first of what has not arrived again. Where all has been acknowledged, nothing.
    pub(super) fn repeat<T: Copy>(&mut self, to: T, output: &mut Output<T>) {
        self.send(self.first, true, to, output);
    }

    /// Whether more was acknowledged than what has arrived with this fragment.
    pub(super) fn is_ahead_of(&self, fragment: u16) -> bool {
        self.first > usize::from(fragment.wrapping_add(1))
    }

    /// Begins anew: who receives has nothing of it, whatever was acknowledged.
    pub(super) fn restart<T: Copy>(&mut self, to: T, output: &mut Output<T>) {
        self.first = 0;
        self.sent.iter_mut().for_each(|sent| sent.has_arrived = false);
        let again = self.sent.len().min(UNDER_WAY_FIRST);
        (0..again).for_each(|number| self.send(number, number + 1 == again, to, output));
    }

    /// Sends something again if it is time. Whether it was.
    pub(super) fn tick<T: Copy>(&mut self, now: Instant, to: T, output: &mut Output<T>) -> bool {
        if self.has_arrived() || now < self.repeat_at {
            return false;
        }
        self.repeats += 1;
        self.under_way_max = 1;
        self.repeat_at = now + (FIRST_REPEAT * 2_u32.saturating_pow(self.repeats.min(8))).min(LAST_REPEAT);
        self.repeat(to, output);
        true
    }
}
