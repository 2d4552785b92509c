//! The sending direction: the packets under way, their times, and those that have to be sent again.

use super::timing::{Congestion, RoundTrip};
use std::collections::VecDeque;

/// The maximum number of packets under way. A receiver need not keep packets that are further ahead
/// of the next expected one.
pub(super) const PACKETS_MAX: u64 = 256;
/// The number of bytes that a packet takes of the receiver's window beside its length: its
/// bookkeeping in a socket's buffer.
pub(super) const OVERHEAD: u64 = 512;
/// The distance of overtaking after which a packet counts as lost: a packet that was sent this many
/// transmissions later has arrived. RFC 9002, 6.1.1.
const REORDERING: u64 = 3;

/// The content of a data packet: enough to make it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A part of the descriptor numbered `index`.
    Own { index: u64, offset: u32, length: u32, is_last: bool },
    /// A part of the answer to the peer's RDMA read numbered `serial` in this side's count.
    Answer { serial: u64, offset: u32, length: u32, is_last: bool },
    /// The refusal.
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
    is_retransmission: bool,
    // The number of the packet's last transmission, counted over the connection, and its time.
    transmission: u64,
    sent: u64,
}

/// The new information in an acknowledgement: packets that were not known to have arrived.
#[derive(Default)]
struct NewlyAcked {
    bytes: u64,
    // The bytes of packets that were in flight, and the number of packets that counted as lost.
    in_flight: u64,
    lost: usize,
    // The number and the time of the newest transmission among packets that were sent only once; 0
    // if there is none.
    transmission: u64,
    sent: u64,
}

impl NewlyAcked {
    fn count(&mut self, packet: &mut Packet) {
        let length = u64::from(packet.length);
        match packet.state {
            State::InFlight => self.in_flight += length,
            State::Lost => self.lost += 1,
            State::Arrived => return,
        }
        packet.state = State::Arrived;
        self.bytes += length;
        if !packet.is_retransmission && self.transmission < packet.transmission {
            (self.transmission, self.sent) = (packet.transmission, packet.sent);
        }
    }
}

/// The packets of one direction that are not acknowledged.
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
    newest_arrived: u64,
    // The number of transmissions at the last reduction of the congestion window. Losses of packets
    // that were sent before belong to that reduction and cause no further one.
    reduced_at: u64,
    // The receiver's window from `first` on, in bytes.
    window: u64,
    // The time at which the oldest packet in flight counts as lost.
    expires: Option<u64>,
    pub(super) trip: RoundTrip,
    congestion: Congestion,
    /// The number of packets sent again.
    pub(super) retransmitted: u64,
}

impl Sending {
    pub(super) fn new(trip: RoundTrip, packet: usize) -> Self {
        Self {
            first: 0,
            packets: VecDeque::with_capacity(PACKETS_MAX as usize),
            in_flight: 0,
            occupied: 0,
            lost: 0,
            transmissions: 0,
            newest_arrived: 0,
            reduced_at: 0,
            window: 0,
            expires: None,
            trip,
            congestion: Congestion::new(packet as u64),
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
    pub(super) fn has_lost(&self) -> bool {
        self.lost > 0
    }

    pub(super) fn expires(&self) -> Option<u64> {
        self.expires
    }

    pub(super) fn packet_is(&mut self, length: usize) {
        self.congestion.packet_is(length as u64);
    }

    /// Sets the peer's window.
    pub(super) fn window_is(&mut self, window: u32) {
        self.window = u64::from(window);
    }

    /// Whether a new packet of that length may be sent now.
    pub(super) fn has_room(&self, length: usize) -> bool {
        let length = length as u64;
        let is_first = self.packets.is_empty();
        let fits_peer = self.occupied + length + OVERHEAD <= self.window;
        let fits_network = self.in_flight + length <= self.congestion.window();
        self.lost == 0
            && (self.packets.len() as u64) < PACKETS_MAX
            && (fits_peer || is_first)
            && (fits_network || self.in_flight == 0)
    }

    /// Notes that a new packet was sent.
    pub(super) fn sent(&mut self, now: u64, piece: Piece, length: usize) {
        self.transmissions += 1;
        let packet = Packet {
            piece,
            length: length as u32,
            state: State::InFlight,
            is_retransmission: false,
            transmission: self.transmissions,
            sent: now,
        };
        self.packets.push_back(packet);
        self.in_flight += length as u64;
        self.occupied += length as u64 + OVERHEAD;
        self.expires.get_or_insert_with(|| now + self.trip.timeout());
    }

    /// Returns the oldest lost packet, if it may be sent again now: its number and its content.
    pub(super) fn lost(&self) -> Option<(u64, Piece)> {
        if self.lost == 0 {
            return None;
        }
        let at = self.packets.iter().position(|packet| packet.state == State::Lost)?;
        let packet = &self.packets[at];
        let fits = self.in_flight == 0 || self.in_flight + u64::from(packet.length) <= self.congestion.window();
        fits.then_some((self.first + at as u64, packet.piece))
    }

    /// Notes that packet `number` was sent again.
    pub(super) fn sent_again(&mut self, now: u64, number: u64) {
        self.transmissions += 1;
        self.retransmitted += 1;
        let at = (number - self.first) as usize;
        let packet = &mut self.packets[at];
        debug_assert_eq!(packet.state, State::Lost);
        (packet.state, packet.is_retransmission) = (State::InFlight, true);
        (packet.transmission, packet.sent) = (self.transmissions, now);
        self.lost -= 1;
        self.in_flight += u64::from(packet.length);
        self.expires.get_or_insert_with(|| now + self.trip.timeout());
    }

    /// Processes an acknowledgement: the peer has all packets before `ack`, and the packets whose
    /// bits are set in `sack`. The packets before `ack` are removed and passed to `each`. Returns
    /// `None` if the peer claims a packet that was never sent.
    pub(super) fn acknowledged(&mut self, now: u64, ack: u64, sack: u64, mut each: impl FnMut(Piece)) -> Option<()> {
        let beyond = 64 - u64::from(sack.leading_zeros());
        if ack > self.next() || (beyond > 0 && ack + beyond >= self.next()) {
            return None;
        }
        if ack < self.first || (ack == self.first && sack == 0) {
            return Some(());
        }
        let was_full = 2 * self.in_flight >= self.congestion.window();
        let mut newly = NewlyAcked::default();
        while self.first < ack
            && let Some(mut packet) = self.packets.pop_front()
        {
            self.first += 1;
            self.occupied -= u64::from(packet.length) + OVERHEAD;
            newly.count(&mut packet);
            each(packet.piece);
        }
        if sack != 0 {
            for (at, packet) in self.packets.iter_mut().skip(1).take(64).enumerate() {
                if (sack >> at) & 1 == 1 {
                    newly.count(packet);
                }
            }
        }
        self.in_flight -= newly.in_flight;
        self.lost -= newly.lost;
        if newly.transmission > 0 {
            self.newest_arrived = self.newest_arrived.max(newly.transmission);
            self.trip.sample(now.saturating_sub(newly.sent));
        }
        if newly.bytes > 0 {
            self.trip.answered();
            if was_full && self.lost == 0 {
                self.congestion.acknowledged(newly.bytes);
            }
        }
        if sack != 0 {
            self.find_losses();
        }
        // Only an acknowledgement of further packets postpones the timeout (RFC 6298, 5.3).
        // Otherwise, two ends that repeat their acknowledgements to each other would never notice a
        // loss.
        if newly.bytes > 0 || self.in_flight == 0 {
            self.expires = (self.in_flight > 0).then(|| now + self.trip.timeout());
        }
        Some(())
    }

    /// Marks packets as lost that were overtaken by later packets.
    fn find_losses(&mut self) {
        let mut is_fresh = false;
        for packet in &mut self.packets {
            if packet.state == State::InFlight && packet.transmission + REORDERING <= self.newest_arrived {
                packet.state = State::Lost;
                self.lost += 1;
                self.in_flight -= u64::from(packet.length);
                is_fresh |= packet.transmission > self.reduced_at;
            }
        }
        if is_fresh {
            self.congestion.lost();
            self.reduced_at = self.transmissions;
        }
    }

    /// Marks every packet in flight as lost, if the timeout has passed.
    pub(super) fn tick(&mut self, now: u64) {
        if self.expires.is_none_or(|expires| now < expires) {
            return;
        }
        self.expires = None;
        for packet in self.packets.iter_mut().filter(|packet| packet.state == State::InFlight) {
            packet.state = State::Lost;
            self.lost += 1;
        }
        self.in_flight = 0;
        self.congestion.expired(self.trip.expirations() == 0);
        self.trip.expired();
        self.reduced_at = self.transmissions;
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
