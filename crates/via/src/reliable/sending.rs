//! The sending direction: the packets under way, their times, and those that have to be sent again.

use super::SHORT_MAX;
use super::congestion::Congestion;
use super::ecn::Ecn;
use super::overtaking::Overtaking;
use super::pacing::{BURST_TIME, Pacing, Rate};
use super::packet::{PACKETS_MAX, Sack};
use super::timing::RoundTrip;
use std::collections::VecDeque;

/// The number of packets in flight for which memory is reserved from the start.
const PACKETS_RESERVED: usize = 256;
/// The number of bytes that a packet takes of the receiver's window in addition to its length, for
/// the system's bookkeeping in a socket's buffer.
pub(super) const OVERHEAD: u64 = 512;
/// The number of timeouts in a row after which losses show persistent congestion. Together these
/// timeouts last three times as long as the first of them. RFC 9002, 7.6.1.
const PERSISTENT: u32 = 2;

/// The number of times in a row that long packets must be found lost before they count as too long
/// for the path.
const LONG_LOSSES: u32 = 3;

/// The round trip, in nanoseconds, below which packets are not paced.
const PACED_TRIP_MIN: u64 = 1_000_000;
/// The round trip, in nanoseconds, that is assumed while none is known: RFC 9002, 6.2.2.
const ASSUMED_TRIP: u64 = 333_000_000;

/// The assumed interval between the receiver's reads of its socket, in nanoseconds. Over longer
/// round trips, packets arrive spread out, so only a fraction of the packets in flight waits in the
/// socket at a time.
const LOOK: u64 = 10_000_000;

/// The content of a data packet: enough to make it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A part of the descriptor numbered `index`.
    Own { index: u64, offset: u32, length: u32, is_last: bool },
    /// A part of the answer to the peer's RDMA read numbered `serial` in this side's count.
    Answer { serial: u64, offset: u32, length: u32, is_last: bool },
    /// The refusal of an operation of the peer.
    Refuse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    Lost,
    Arrived,
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    piece: Piece,
    // The length on the wire, in bytes.
    length: u32,
    state: State,
    // Whether the packet was sent more than once, and whether it was sent in fragments.
    is_repeated: bool,
    is_fragmented: bool,
    // `transmission` and `sent` are the number and the time of the first transmission or, if the
    // packet counted as lost, of its last transmission. See `Overtaking`.
    transmission: u64,
    sent: u64,
}

/// The new information in an acknowledgement: the packets whose arrival was not known before.
#[derive(Default)]
struct NewlyAcked {
    bytes: u64,
    // `in_flight` is the number of bytes of the packets that were in flight. `lost` is the number
    // of packets that counted as lost.
    in_flight: u64,
    lost: usize,
    // The number of bytes of the packets sent after the last reduction of the congestion window.
    fresh: u64,
    // `transmission` and `sent` are the number and the time of the newest transmission among
    // packets that were sent only once; 0 if there is none.
    transmission: u64,
    sent: u64,
    // An upper bound of the round trip, from packets that were sent several times.
    bound: u64,
    // The maximum length of the packets that were never sent in fragments.
    longest: u32,
    // The number of long packets, whose marks the peer reads.
    long: u32,
}

impl NewlyAcked {
    fn count(&mut self, packet: &mut Packet, reduced_at: u64, arrived: &mut impl FnMut(&Packet)) {
        let length = u64::from(packet.length);
        match packet.state {
            State::InFlight => self.in_flight += length,
            State::Lost => self.lost += 1,
            State::Arrived => return,
        }
        packet.state = State::Arrived;
        self.bytes += length;
        self.long += u32::from(packet.length as usize > SHORT_MAX);
        self.longest = self.longest.max(if packet.is_fragmented { 0 } else { packet.length });
        if packet.transmission > reduced_at {
            self.fresh += length;
        }
        arrived(packet);
        if !packet.is_repeated && self.transmission < packet.transmission {
            (self.transmission, self.sent) = (packet.transmission, packet.sent);
        }
    }
}

/// The packets of one direction, from the oldest unacknowledged one on, and the state of their
/// transmission.
#[derive(Debug)]
pub(super) struct Sending {
    first: u64,
    packets: VecDeque<Packet>,
    // Invariant: `in_flight` is the sum of the lengths of the packets in flight; `occupied` is the
    // sum over all packets, with their overhead; `lost` is the number of lost packets.
    in_flight: u64,
    occupied: u64,
    lost: usize,
    transmissions: u64,
    overtaking: Overtaking,
    // Whether the congestion window had no room at the last attempt to send a new packet.
    was_window_full: bool,
    // The number of transmissions at the last reduction of the congestion window. Losses of packets
    // that were sent before that reduction cause no further reduction.
    reduced_at: u64,
    // The receiver's window, in bytes.
    window: u64,
    // The time at which the next overtaken packet counts as lost.
    loss_due: Option<u64>,
    // The time of the next search for lost packets, or if there is none, the time at which an
    // acknowledgement is overdue.
    expires: Option<u64>,
    // `timeouts` is the number of overdue acknowledgements in a row. `probes` is the number of
    // packets that are to be sent again because of the last overdue one.
    timeouts: u32,
    probes: u8,
    pub(super) trip: RoundTrip,
    congestion: Congestion,
    // `packet` is the length of a packet, in bytes. `base` is the length that every path takes.
    packet: u64,
    base: u64,
    // The number of times in a row that packets longer than `base` were found lost.
    long_losses: u32,
    pacing: Pacing,
    // The time until which the next packet waits, if only pacing delays it.
    paced_until: Option<u64>,
    pub(super) ecn: Ecn,
    /// The number of packets sent again.
    pub(super) retransmitted: u64,
}

impl Sending {
    pub(super) fn new(trip: RoundTrip, packet: usize) -> Self {
        Self {
            first: 0,
            packets: VecDeque::with_capacity(PACKETS_RESERVED),
            in_flight: 0,
            occupied: 0,
            lost: 0,
            was_window_full: false,
            transmissions: 0,
            overtaking: Overtaking::default(),
            reduced_at: 0,
            window: 0,
            loss_due: None,
            expires: None,
            timeouts: 0,
            probes: 0,
            trip,
            congestion: Congestion::new(packet as u64),
            packet: packet as u64,
            base: packet as u64,
            long_losses: 0,
            pacing: Pacing::default(),
            paced_until: None,
            ecn: Ecn::default(),
            retransmitted: 0,
        }
    }

    /// Returns the number of the next new packet.
    pub(super) fn next(&self) -> u64 {
        self.first + self.packets.len() as u64
    }

    /// Returns the number of the oldest packet that is not acknowledged.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    pub(super) fn is_idle(&self) -> bool {
        self.packets.is_empty()
    }

    /// Whether packets have to be sent again.
    pub(super) fn has_repeats(&self) -> bool {
        self.lost > 0 || self.probes > 0
    }

    pub(super) fn expires(&self) -> Option<u64> {
        self.expires
    }

    /// Sets the length of packets.
    pub(super) fn packet_is(&mut self, length: usize) {
        self.packet = length as u64;
        self.long_losses = 0;
        self.congestion.packet_is(self.packet);
    }

    /// Returns the time until which pacing alone holds back a packet, as [`Self::has_room`] or
    /// [`Self::repeat`] has found. `None` if pacing holds back no packet.
    pub(super) fn paced_until(&self) -> Option<u64> {
        self.paced_until
    }

    /// Forgets that pacing has held packets back, before the caller tries to send again.
    pub(super) fn look_again(&mut self) {
        self.paced_until = None;
    }

    /// Returns the rate of the connection; `None` if its packets are not paced.
    #[inline]
    fn rate(&self) -> Option<Rate> {
        let time = match self.trip.smoothed() {
            0 => ASSUMED_TRIP,
            // The shortest round trip is compared, because the smoothed one includes times in which
            // the peer did not read its socket.
            _ if self.trip.shortest() < PACED_TRIP_MIN => return None,
            smoothed => smoothed,
        };
        Some(Rate { bytes: self.congestion.pace(), time })
    }

    /// Whether pacing lets a packet pass now. If not, notes how long the packet has to wait.
    fn passes(&mut self, now: u64, length: u64) -> bool {
        let Some(rate) = self.rate() else { return true };
        let wait = self.pacing.wait(now, (length, self.packet), rate);
        self.paced_until = self.paced_until.or(wait);
        wait.is_none()
    }

    fn pace(&mut self, now: u64, length: u64) {
        if let Some(rate) = self.rate() {
            self.pacing.sent(now, length, rate);
        }
    }

    /// Sets the peer's window.
    pub(super) fn window_is(&mut self, window: u32) {
        self.window = u64::from(window);
    }

    /// Whether a new packet of `length` bytes may be sent now.
    pub(super) fn has_room(&mut self, now: u64, length: usize) -> bool {
        let length = length as u64;
        let is_first = self.packets.is_empty();
        let looks = (self.trip.shortest() / LOOK).max(1);
        let fits_peer = self.occupied + length + OVERHEAD <= self.window * looks;
        self.lost == 0
            && (self.packets.len() as u64) < PACKETS_MAX
            && (fits_peer || is_first)
            && self.fits_network(length)
            && self.passes(now, length)
    }

    /// Whether the congestion window has room for a new packet. The full window of a fast
    /// connection opens again once several packets fit. Senders of TCP send several at a time, too,
    /// and a full queue drops mostly packets that arrive close together. A sender of single packets
    /// would lose fewer packets than a TCP sender, and gain a part of that sender's share.
    fn fits_network(&mut self, length: u64) -> bool {
        let window = self.congestion.window();
        let needed = if self.was_window_full { length.max(self.several(window)) } else { length };
        let fits = self.in_flight + needed <= window || self.in_flight == 0;
        self.was_window_full = !fits;
        fits
    }

    /// Returns the number of free bytes at which a full window opens: as many as the connection
    /// sends in [`BURST_TIME`], but at most a quarter of the window. If the result is less than a
    /// packet, the window opens for each packet. The result is 0 without pacing, and in slow start,
    /// where several packets at once would overfill the queue further.
    fn several(&self, window: u64) -> u64 {
        let Some(rate) = self.rate().filter(|_| !self.congestion.is_in_slow_start()) else { return 0 };
        Rate { bytes: window, ..rate }.bytes_in(BURST_TIME).min(window / 4)
    }

    /// Notes that a new packet was sent.
    pub(super) fn sent(&mut self, now: u64, piece: Piece, length: usize) {
        self.transmissions += 1;
        let packet = Packet {
            piece,
            length: length as u32,
            state: State::InFlight,
            is_repeated: false,
            is_fragmented: false,
            transmission: self.transmissions,
            sent: now,
        };
        self.packets.push_back(packet);
        self.ecn.sent(length);
        self.in_flight += length as u64;
        self.occupied += length as u64 + OVERHEAD;
        self.pace(now, length as u64);
        self.expires.get_or_insert_with(|| now + self.trip.timeout());
    }

    /// Returns the packet to send again now: its number and its content. Lost packets come first.
    /// When an acknowledgement is overdue, two packets are sent again: the oldest in flight, which
    /// lets the peer go on, and the newest, whose acknowledgement shows which packets got lost (RFC
    /// 8985, 7.3; RFC 9002, 6.2.4). The congestion window and pacing do not limit these two
    /// packets.
    pub(super) fn repeat(&mut self, now: u64) -> Option<(u64, Piece)> {
        let is_in_flight = |packet: &Packet| packet.state == State::InFlight;
        let mut packets = self.packets.iter();
        let at = match self.probes {
            _ if self.lost > 0 => packets.position(|packet| packet.state == State::Lost)?,
            0 => return None,
            1 => packets.rposition(is_in_flight)?,
            _ => packets.position(is_in_flight)?,
        };
        let Packet { piece, length, .. } = self.packets[at];
        let length = u64::from(length);
        let fits = self.in_flight == 0 || self.in_flight + length <= self.congestion.window();
        let passes = self.probes > 0 || (fits && self.passes(now, length));
        passes.then_some((self.first + at as u64, piece))
    }

    /// Whether the packets to be sent again may be too long for the path: two acknowledgements in a
    /// row are overdue, or long packets were found lost several times and none has arrived. RFC
    /// 8899, 4.3.
    pub(super) fn suspects_length(&self) -> bool {
        self.long_losses >= LONG_LOSSES || self.timeouts >= PERSISTENT
    }

    /// Notes that packet `number` was sent again, perhaps in fragments.
    pub(super) fn sent_again(&mut self, now: u64, number: u64, is_fragmented: bool) {
        self.retransmitted += 1;
        self.probes = self.probes.saturating_sub(1);
        let packet = &mut self.packets[(number - self.first) as usize];
        let length = u64::from(packet.length);
        packet.is_repeated = true;
        packet.is_fragmented |= is_fragmented;
        if packet.state == State::Lost {
            self.transmissions += 1;
            packet.state = State::InFlight;
            (packet.transmission, packet.sent) = (self.transmissions, now);
            self.lost -= 1;
            self.in_flight += length;
            self.expires.get_or_insert_with(|| now + self.trip.timeout());
        }
        self.pace(now, length);
    }

    /// Processes an acknowledgement: the peer has all packets before `ack`, and the packets whose
    /// bits are set in `sack`. The packets before `ack` are removed and passed to `each`. Returns
    /// `None` if the peer claims a packet that was never sent.
    pub(super) fn acknowledged(
        &mut self,
        now: u64,
        ack: u64,
        sack: Sack<'_>,
        mut each: impl FnMut(Piece),
    ) -> Option<()> {
        let beyond = sack.end();
        if ack > self.next() || (beyond > 0 && ack + beyond >= self.next()) {
            return None;
        }
        if ack < self.first || (ack == self.first && beyond == 0) {
            return Some(());
        }
        let was_full = 2 * self.in_flight >= self.congestion.window();
        let Self { overtaking, trip, .. } = self;
        overtaking.begin();
        let mut bound = u64::MAX;
        let mut arrived = |packet: &Packet| {
            let is_answer = overtaking.arrived(now, (packet.transmission, packet.sent), packet.is_repeated, trip);
            if is_answer && packet.is_repeated {
                bound = bound.min(now.saturating_sub(packet.sent));
            }
        };
        let mut newly = NewlyAcked::default();
        while self.first < ack
            && let Some(mut packet) = self.packets.pop_front()
        {
            self.first += 1;
            self.occupied -= u64::from(packet.length) + OVERHEAD;
            newly.count(&mut packet, self.reduced_at, &mut arrived);
            each(packet.piece);
        }
        if beyond > 0 {
            for (begin, mut word) in sack.words() {
                while word != 0 {
                    let at = begin as usize + 1 + word.trailing_zeros() as usize;
                    word &= word - 1;
                    newly.count(&mut self.packets[at], self.reduced_at, &mut arrived);
                }
            }
        }
        newly.bound = bound;
        if newly.bytes > 0 {
            self.progressed(now, &newly, was_full);
        }
        Some(())
    }

    /// Evaluates the packets that have arrived. Only the arrival of packets postpones the timeout
    /// (RFC 6298, 5.3). If any acknowledgement postponed it, two ends that repeat their
    /// acknowledgements to each other would never notice a loss.
    fn progressed(&mut self, now: u64, newly: &NewlyAcked, was_full: bool) {
        self.in_flight -= newly.in_flight;
        self.lost -= newly.lost;
        (self.probes, self.paced_until) = (0, None);
        if u64::from(newly.longest) > self.base {
            self.long_losses = 0;
        }
        let timeouts = std::mem::take(&mut self.timeouts);
        // There is no sample after a timeout. Either an earlier acknowledgement was lost, or this
        // one answers a repeated packet. In both cases, the packets that were sent once have
        // arrived earlier than this acknowledgement suggests.
        let sample = (newly.transmission > 0 && timeouts == 0).then(|| now.saturating_sub(newly.sent));
        if let Some(took) = sample {
            self.trip.sample(took);
        }
        self.trip.answered_within(newly.bound);
        self.ecn.acknowledged(newly.long);
        if self.ecn.take_congestion() && newly.fresh > 0 {
            self.reduce();
        } else if was_full && newly.fresh > 0 {
            if let Some(took) = sample {
                self.congestion.sample(took, newly.transmission, self.transmissions);
            }
            self.congestion.acknowledged(now, newly.fresh, self.trip.smoothed());
        }
        if self.find_losses(now) && timeouts >= PERSISTENT {
            self.congestion.collapsed();
        }
        self.start_timer(now);
    }

    /// Marks packets as lost that were overtaken by later packets. Returns whether the congestion
    /// window was reduced for any of them.
    #[inline]
    fn find_losses(&mut self, now: u64) -> bool {
        self.loss_due = None;
        let is_behind = |first: &Packet| first.is_repeated || self.overtaking.has_overtaken(first.transmission);
        self.packets.front().is_some_and(is_behind) && self.find_overtaken(now)
    }

    fn find_overtaken(&mut self, now: u64) -> bool {
        let (mut is_fresh, mut is_long) = (false, false);
        for packet in &mut self.packets {
            let is_overtaken = self.overtaking.has_overtaken(packet.transmission);
            if !is_overtaken && !packet.is_repeated {
                // All further packets were sent even later, so they were not overtaken either.
                break;
            }
            if !is_overtaken || packet.state != State::InFlight {
                continue;
            }
            let due = self.overtaking.lost_at((packet.transmission, packet.sent), &self.trip);
            if due > now {
                self.loss_due = Some(self.loss_due.map_or(due, |earlier| earlier.min(due)));
                continue;
            }
            packet.state = State::Lost;
            self.lost += 1;
            self.in_flight -= u64::from(packet.length);
            is_fresh |= packet.transmission > self.reduced_at;
            is_long |= u64::from(packet.length) > self.base && !packet.is_fragmented;
        }
        self.long_losses += u32::from(is_long);
        if is_fresh {
            self.reduce();
        }
        is_fresh
    }

    /// Reduces the congestion window. Further losses among the packets in flight do not reduce it
    /// again.
    fn reduce(&mut self) {
        self.congestion.lost();
        self.reduced_at = self.transmissions;
    }

    fn start_timer(&mut self, now: u64) {
        let overdue = (self.in_flight > 0).then(|| now + self.trip.timeout());
        self.expires = self.loss_due.or(overdue);
    }

    /// Performs the work that is due: looks for lost packets, or prepares to repeat packets whose
    /// acknowledgement is overdue.
    pub(super) fn tick(&mut self, now: u64) {
        if self.expires.is_none_or(|expires| now < expires) {
            return;
        }
        if self.loss_due.is_some() {
            self.find_losses(now);
        } else {
            let is_in_flight = |packet: &Packet| packet.state == State::InFlight;
            let mut packets = self.packets.iter();
            let (newest, oldest) = (packets.clone().rposition(is_in_flight), packets.position(is_in_flight));
            self.probes = if newest == oldest { 1 } else { 2 };
            self.timeouts += 1;
            if self.timeouts >= PERSISTENT {
                self.ecn.overdue();
            }
            self.trip.expired();
        }
        self.start_timer(now);
    }

    /// Returns the peer's window, in bytes.
    pub(super) fn window(&self) -> u64 {
        self.window
    }

    /// Counts a packet that the peer does not acknowledge.
    pub(super) fn skipped(&mut self) {
        debug_assert!(self.packets.is_empty());
        self.first += 1;
    }
}

#[cfg(test)]
mod tests;
