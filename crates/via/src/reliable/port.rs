//! Ports over links: one end of a connection, as a VI uses it.

use super::SHORT_MAX;
use super::guard::{self, Guard, Guarded};
use super::{Engine, Link};
use crate::Error;
use crate::spi::{Port, Sink, Sleep};
use rustix::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The maximum number of datagrams taken in one call, so that sending gets its turn.
const BATCH: usize = 32;
/// The number of predicted packets after which a call takes the full path.
const EXPECTED: u32 = 64;
/// The time after which a datagram that the link had no room for is offered again.
const FULL: Duration = Duration::from_micros(200);
/// The number of short datagrams in a row after which marks stay unread.
const UNREAD_AFTER: u8 = 16;

/// An [`Engine`] and the [`Link`] that it works over.
#[derive(Debug)]
pub struct LinkPort<L> {
    engine: Box<Engine>,
    link: Guarded<L>,
    start: Instant,
    incoming: Box<[u8]>,
    outgoing: Box<[u8]>,
    // The length of the datagram in `outgoing` that the link had no room for.
    held: Option<usize>,
    // The result of the last full check. As long as it is valid, there is nothing to do until a
    // datagram arrives.
    rest: Rest,
    // The number of predicted packets that may still arrive before a call takes the full path,
    // which checks everything else.
    expected: u32,
    // Whether the link sends marks.
    sends_marks: bool,
    // The number of short datagrams since the last long one: the link reads marks while this number
    // is less than `UNREAD_AFTER`.
    short_in_row: u8,
    // Whether the link has got a report that the peer is gone, and the NIC's other VIs have not
    // been checked since.
    concerns_others: bool,
}

/// The time of the engine's next timer, and the number of posted descriptors at the last full
/// check. Until that time, and as long as no further descriptor is posted, an idle connection is
/// not checked again.
#[derive(Clone, Copy, Debug)]
struct Rest {
    until: u64,
    posted: u64,
}

impl Rest {
    const NONE: Self = Self { until: 0, posted: 0 };
}

impl<L: Link> LinkPort<L> {
    /// Makes a port. The engine's times count from `start`.
    pub fn new(engine: Box<Engine>, mut link: L, start: Instant) -> Self {
        link.opened(engine.ids());
        let mtu = link.mtu();
        let buffer = || vec![0; mtu].into_boxed_slice();
        Self {
            engine,
            link: Guarded::new(link),
            start,
            incoming: buffer(),
            outgoing: buffer(),
            held: None,
            rest: Rest::NONE,
            expected: EXPECTED,
            sends_marks: false,
            short_in_row: UNREAD_AFTER,
            concerns_others: false,
        }
    }

    /// Returns the engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the link.
    pub fn link_mut(&mut self) -> &mut L {
        &mut self.link.link
    }

    fn time(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.start).as_nanos() as u64
    }

    /// Returns the next datagram as the peer's engine made it, without a seal.
    #[inline]
    fn take(&mut self) -> Result<Option<usize>, Error> {
        let Self { engine, link, incoming, short_in_row, .. } = self;
        let taken = link.take(incoming, || engine.next_numbers()[0]);
        if let Ok(Some(length)) = taken {
            // Reading marks takes longer, and a peer that sends only short datagrams marks none.
            *short_in_row = if length > SHORT_MAX { 0 } else { short_in_row.saturating_add(1) };
            link.read_marks(*short_in_row < UNREAD_AFTER);
        }
        taken
    }

    /// Takes datagrams, beginning with `first`, until none is left or a descriptor completes: the
    /// VI's owner has to learn of the completion before more datagrams are taken. Returns whether
    /// any datagram arrived.
    fn receive(&mut self, now: u64, first: Result<Option<usize>, Error>, sink: &mut dyn Sink) -> bool {
        let before = self.engine.completions();
        let (mut next, mut has_received) = (first, false);
        for left in (0..BATCH).rev() {
            match next {
                Ok(Some(length)) => {
                    has_received = true;
                    // Dropped datagrams are counted by the engine.
                    let _ = self.engine.handle(now, &self.incoming[..length], sink);
                    if self.engine.completions() != before {
                        break;
                    }
                }
                Ok(None) => break,
                Err(Error::NotFound { .. }) => {
                    has_received = true;
                    self.hint_gone(now);
                }
                // Other errors need no action: the engine notices which packets do not get through.
                Err(_) => break,
            }
            if left == 0 {
                break;
            }
            next = self.take();
        }
        if has_received {
            self.engine.received_marks_are(self.link.marks());
        }
        has_received
    }

    /// Takes the link's hint that the peer is gone.
    fn hint_gone(&mut self, now: u64) {
        let is_report = self.link.link.take_report();
        if self.engine.hint_gone(now) {
            self.concerns_others |= is_report;
        }
    }

    /// Has the NIC look at its other VIs if the link has hinted that the peer is gone. The threads
    /// of these VIs may sleep, and do not look for hints themselves.
    fn pass_on_hint(&mut self, sink: &mut dyn Sink) {
        if self.take_concern() {
            sink.look_at_all();
        }
    }

    /// Does the work that is due after the check for datagrams.
    fn received(&mut self, now: u64, has_received: bool, sink: &mut dyn Sink) {
        if !has_received && now < self.rest.until && sink.posted() == self.rest.posted {
            return;
        }
        if has_received && self.held.is_none() && self.engine.owes_nothing(now, sink.posted()) {
            self.rest = Rest::NONE;
            return;
        }
        self.engine.tick(now, sink);
        self.send(now, sink);
        if !has_received && self.held.is_none() {
            // Computed here, because an idle connection has time for the computation.
            self.rest = Rest { until: self.engine.due().unwrap_or(u64::MAX), posted: sink.posted() };
        }
    }

    /// Offers the datagram in `outgoing` to the link. Returns whether the link took it.
    fn offer(&mut self, now: u64, length: usize) -> bool {
        let sent = self.link.send(&self.outgoing[..length]);
        self.offered(now, length, sent)
    }

    fn offered(&mut self, now: u64, length: usize, sent: Result<bool, Error>) -> bool {
        match sent {
            Ok(true) => {}
            Ok(false) => {
                self.held = Some(length);
                return false;
            }
            Err(Error::NotFound { .. }) => self.hint_gone(now),
            Err(Error::TooLong { .. }) => self.engine.is_too_long(now, length),
            // The datagram counts as lost.
            Err(_) => {}
        }
        self.held = None;
        true
    }

    fn send(&mut self, now: u64, sink: &mut dyn Sink) {
        self.rest = Rest::NONE;
        if self.sends_marks != self.engine.sends_marks() {
            self.sends_marks = !self.sends_marks;
            self.link.send_marks(self.sends_marks);
        }
        if let Some(length) = self.held
            && !self.offer(now, length)
        {
            return;
        }
        while let Some(length) = self.engine.transmit(now, sink, &mut self.outgoing) {
            if !self.offer(now, length) {
                return;
            }
        }
        if self.engine.take_silence() {
            self.link.find_moved();
        }
    }

    /// Does the part of the handshake that needs no VI. Returns `false` until the peer has
    /// confirmed.
    pub(super) fn open(&mut self, now: Instant, nobody: &mut dyn Sink) -> bool {
        let now = self.time(now);
        self.send(now, nobody);
        while !self.engine.is_open() && !self.engine.is_over() {
            let Ok(Some(length)) = self.take() else { break };
            let _ = self.engine.handle(now, &self.incoming[..length], nobody);
        }
        self.engine.tick(now, nobody);
        self.engine.is_open()
    }

    pub(super) fn due(&self, now: Instant) -> Option<Instant> {
        if self.held.is_some() {
            return now.checked_add(FULL);
        }
        self.engine.due().and_then(|due| self.start.checked_add(Duration::from_nanos(due)))
    }
}

impl<L: Link> Port for LinkPort<L> {
    fn submit(&mut self, now: Instant, sink: &mut dyn Sink) {
        let now = self.time(now);
        self.send(now, sink);
    }

    fn submit_at_once(&mut self, sink: &mut dyn Sink) -> bool {
        if self.held.is_some() {
            return false;
        }
        let Some(made) = self.engine.make_expected(sink, &mut self.outgoing) else { return false };
        let sent = self.link.send(&self.outgoing[..made.length]);
        // The packet is on its way, so no thread waits for the rest of this function.
        let now = self.time(Instant::now());
        self.engine.sent_expected(now, made);
        self.engine.catch_up(now, sink);
        self.rest = Rest::NONE;
        self.offered(now, made.length, sent);
        true
    }

    fn progress(&mut self, now: Instant, sink: &mut dyn Sink) {
        let now = self.time(now);
        let first = self.take();
        let has_received = self.receive(now, first, sink);
        self.received(now, has_received, sink);
        self.pass_on_hint(sink);
    }

    fn progress_to_answer(&mut self, now: Instant, sink: &mut dyn Sink) {
        let now = self.time(now);
        self.engine.catch_up(now, sink);
        let first = self.take();
        if let Ok(Some(length)) = first
            && self.expected > 0
            && self.held.is_none()
            && self.engine.take_expected(&self.incoming[..length], sink)
        {
            self.expected -= 1;
            self.rest = Rest::NONE;
            return;
        }
        self.expected = EXPECTED;
        let has_received = self.receive(now, first, sink);
        self.received(now, has_received, sink);
        self.pass_on_hint(sink);
    }

    fn prepare_sleep(&mut self, now: Instant) -> Option<Sleep> {
        let time = self.time(now);
        self.rest = Rest::NONE;
        if self.held.is_none()
            && let Some(length) = self.engine.acknowledge_now(&mut self.outgoing)
        {
            // A thread that goes to sleep will not answer soon, so no answer will carry the
            // acknowledgement.
            self.offer(time, length);
        }
        let until = self.due(now);
        if until.is_some_and(|until| until <= now) {
            return None;
        }
        Some(Sleep { fd: self.link.prepare_sleep(), until })
    }

    fn end_sleep(&mut self) {
        self.link.end_sleep();
    }

    fn readiness(&self) -> Option<Arc<OwnedFd>> {
        self.link.file()
    }

    fn disconnect(&mut self) {
        self.engine.disconnect();
        (self.held, self.rest) = (None, Rest::NONE);
        while let Some(length) = self.engine.transmit_close(&mut self.outgoing) {
            if let Err(Error::NotFound { .. }) = self.link.send(&self.outgoing[..length]) {
                self.hint_gone(self.time(Instant::now()));
            }
        }
    }

    fn take_concern(&mut self) -> bool {
        std::mem::take(&mut self.concerns_others)
    }

    fn guard(&mut self, guard: Guard) -> Result<(), Error> {
        if !self.engine.is_reliable() {
            return Err(Error::Unsupported {
                provider: "of unreliable delivery",
                what: "packets that are protected by a \
                key",
            });
        }
        self.link.guard(guard, self.engine.next_numbers())?;
        self.engine.is_guarded_by(guard::OVERHEAD);
        Ok(())
    }

    fn peer(&self) -> String {
        self.link.peer()
    }

    fn local(&self) -> Option<String> {
        self.link.local()
    }
}
