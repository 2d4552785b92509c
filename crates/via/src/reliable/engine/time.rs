//! Timers: signs of life, and the time of the next call.

use super::{CLOSED_SILENT, Engine, Phase};
use crate::descriptor::Status;
use crate::error::Ended;
use crate::spi::Sink;

/// The minimum and the maximum time for the peer to contradict a hint that it is gone, in
/// nanoseconds. The time is also at most a quarter of the silence, even if that is less than the
/// minimum, but never shorter than the round trip. While no round trip is known, the time is a
/// quarter of the silence.
const HINT_LIMITS: (u64, u64) = (400_000_000, 1_000_000_000);
/// The number of pings during the time in which the peer can contradict a hint.
const HINT_PINGS: u64 = 4;

impl Engine {
    /// Processes a hint that nothing listens at the other end. The hint may be forged, so the peer
    /// is asked for a sign of life at once. If none arrives, the peer soon counts as gone. Returns
    /// whether this is the first hint since the peer's last packet.
    pub fn hint_gone(&mut self, now: u64) -> bool {
        let is_first = self.liveness.hinted.is_none();
        if is_first {
            self.liveness.hinted = Some(now);
            self.liveness.waiting.get_or_insert(now);
            self.liveness.ping = now;
        }
        is_first
    }

    /// Whether, since the last call of this function, the peer was asked for a sign of life because
    /// an answer is outstanding.
    pub(in super::super) fn take_silence(&mut self) -> bool {
        std::mem::take(&mut self.liveness.is_silent)
    }

    /// Performs all work that is due, except sending.
    pub fn tick(&mut self, now: u64, sink: &mut dyn Sink) {
        self.catch_up(now, sink);
        self.sending.tick(now);
        if self.dead_at().is_some_and(|dead| dead <= now) {
            self.over(Some(CLOSED_SILENT), Status::ConnectionLost, Ended::Silent, sink);
        }
    }

    /// Returns the time at which the peer counts as gone if nothing arrives.
    fn dead_at(&self) -> Option<u64> {
        if matches!(self.phase, Phase::Over(_)) {
            return None;
        }
        if let Some(hinted) = self.liveness.hinted {
            return Some(hinted + self.hint_limit());
        }
        let waiting = self.liveness.waiting?;
        Some((self.liveness.last_received + self.silence).max(waiting + self.silence / 2))
    }

    /// Returns the time for the peer to contradict a hint that it is gone.
    fn hint_limit(&self) -> u64 {
        let (least, most) = HINT_LIMITS;
        let trip = &self.sending.trip;
        let answer = if trip.smoothed() == 0 { self.silence / 4 } else { trip.once() };
        (4 * answer).clamp(least, most).min(self.silence / 4).max(answer)
    }

    /// Notes that a ping is sent. As long as no data follows, the pings become rarer.
    pub(super) fn pinged(&mut self, now: u64) {
        let liveness = &mut self.liveness;
        liveness.is_silent = liveness.waiting.is_some() || liveness.hinted.is_some();
        liveness.waiting.get_or_insert(now);
        liveness.pause = (liveness.pause + liveness.pause / 32).min(self.silence / 4);
        let again = self.silence / 16;
        let again = if self.liveness.hinted.is_some() { again.min(self.hint_limit() / HINT_PINGS) } else { again };
        self.liveness.ping = now + again.max(1);
    }

    /// Returns the time by which `tick` and `transmit` have to be called next, or `None` if no time
    /// is set.
    pub fn due(&self) -> Option<u64> {
        if self.deferred.is_some() {
            return Some(0);
        }
        match &self.phase {
            Phase::Opening(_, repeat) => return [Some(repeat.due), self.dead_at()].into_iter().flatten().min(),
            Phase::Over(Some(_)) => return (self.closes > 0).then_some(0),
            Phase::Over(None) => return self.receiving.ack_due(),
            Phase::Open | Phase::Refusing => {}
        }
        let times = [
            self.receiving.ack_due(),
            self.sending.expires(),
            self.path.due(),
            self.ping_at(),
            self.dead_at(),
            self.paced_until(),
        ];
        times.into_iter().flatten().min()
    }

    pub(super) fn ping_at(&self) -> Option<u64> {
        let is_waiting = !self.own.reads.is_empty() || !self.sending.is_idle();
        let wants = self.keep_alive || is_waiting || self.liveness.hinted.is_some();
        wants.then_some(self.liveness.ping)
    }
}
