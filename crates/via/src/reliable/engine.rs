//! Engines: one end of one connection.
//!
//! Data packets are numbered, and processed in the order of their numbers. Packets that arrive
//! ahead of their turn are kept. A packet is acknowledged after it was processed, so acknowledged
//! data are in the peer's memory. Packets carry parts of operations, which are numbered as the sink
//! numbers descriptors. A part is made anew from its descriptor for every transmission, so the only
//! copy is the one into the packet.

mod perform;
mod predict;
mod receive;
mod time;
mod transmit;

use super::packet::{self, BadPacket};
use super::path::Path;
use super::receiving::Receiving;
use super::repeat::Repeat;
use super::sending::Sending;
use super::timing::RoundTrip;
use super::{Marks, Settings, nanoseconds};
use crate::descriptor::Status;
use crate::error::Ended;
use crate::spi::{Offer, Refusal, Sink};
use perform::Target;
use predict::Deferred;
use std::collections::VecDeque;

/// The maximum number of RDMA reads without an answer.
pub(super) const READS_MAX: usize = 64;
/// The number of unsolicited transmissions of a close.
const CLOSES: u8 = 3;

/// The reasons of a close, on the wire.
const CLOSED_BY_USER: u8 = 0;
const CLOSED_SILENT: u8 = 1;
const CLOSED_VIOLATION: u8 = 2;

/// One end of a connection, as the module's documentation describes it.
#[derive(Debug)]
pub struct Engine {
    // Times are in nanoseconds.
    silence: u64,
    ack_delay: u64,
    keep_alive: bool,
    is_reliable: bool,
    max_transfer: u32,
    own_id: u64,
    peer_id: u64,
    phase: Phase,
    sending: Sending,
    receiving: Receiving,
    path: Path,
    // The packet that is being sent in fragments, and the index of its next fragment.
    fragment: (u64, u32),
    own: Own,
    target: Target,
    // Whether the last part that was sent answered a read of the peer. Parts of answers and parts
    // of this side's operations alternate.
    answers_next: bool,
    liveness: Liveness,
    // The length of the last received probe, if it still has to be confirmed to the peer.
    probed: Option<u32>,
    // The number of close packets that are still to be sent.
    closes: u8,
    // For unreliable delivery: the number of bytes that may still be sent until `budget_until`.
    budget: u64,
    // For unreliable delivery: the time at which `budget` is renewed.
    budget_until: u64,
    is_held_up: bool,
    // The deferred part of the processing of the last predicted packet.
    deferred: Option<Deferred>,
    statistics: Statistics,
}

/// The counters of an engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// The number of datagrams received that were packets of this connection.
    pub received: u64,
    /// The number of datagrams dropped: damaged, malformed, or of another connection.
    pub dropped: u64,
    /// The number of data packets received a second time.
    pub duplicates: u64,
    /// The number of data packets received that matched the prediction and took the fast path.
    pub expected: u64,
    /// The number of data packets made, for the first time or again.
    pub sent: u64,
    /// The number of data packets made by the fast path, because nothing else had to be sent.
    pub sent_at_once: u64,
    /// The number of data packets sent again.
    pub retransmitted: u64,
    /// The number of completed descriptors of either queue.
    pub completions: u64,
    /// The smoothed round trip, in nanoseconds; 0 while none is known.
    pub round_trip_ns: u64,
    /// The current length of packets, in bytes.
    pub packet: usize,
}

#[derive(Debug)]
enum Phase {
    /// The request is accepted, but the peer has not confirmed. Holds the acceptance and the timer
    /// of its repetition.
    Opening(Box<[u8]>, Repeat),
    Open,
    /// The local side has refused an operation of the peer, and the peer has not acknowledged the
    /// refusal yet.
    Refusing,
    /// The connection is over. If there is a reason, each packet of the peer is answered by a close
    /// with this reason.
    Over(Option<u8>),
}

/// The operations of this side.
#[derive(Debug, Default)]
struct Own {
    // The number of the descriptor that is being sent.
    next: u64,
    // The number of bytes of that descriptor that have been sent.
    offset: u32,
    // Descriptors below this number are acknowledged.
    acknowledged: u64,
    // The unanswered reads, by the numbers of their descriptors.
    reads: VecDeque<u64>,
    // The number of bytes received for the first unanswered read.
    read: u32,
    // Reads below this number have been answered.
    reads_done: u64,
}

/// The state of the exchange of signs of life with the peer.
#[derive(Debug)]
struct Liveness {
    last_received: u64,
    // The time since which an answer of the peer is outstanding.
    waiting: Option<u64>,
    ping: u64,
    // Whether, since the last call of `take_silence`, a ping was made because an answer is
    // outstanding.
    is_silent: bool,
    // The time without a packet of the peer after which a ping is sent.
    pause: u64,
    // The time of the first hint that the peer is gone, unless a packet of the peer arrived since.
    hinted: Option<u64>,
}

impl Liveness {
    fn new(now: u64, silence: u64) -> Self {
        Self {
            last_received: now,
            waiting: None,
            ping: now + silence / 4,
            pause: silence / 4,
            is_silent: false,
            hinted: None,
        }
    }
}

/// The reason why a datagram was dropped. The dropped datagram has changed nothing in the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// The datagram is not a packet.
    Bad(BadPacket),
    /// The packet belongs to another connection.
    Stray,
}

impl Engine {
    pub(super) fn new(
        settings: &Settings,
        now: u64,
        mtu: usize,
        (own_id, peer_id): (u64, u64),
        own: &Offer,
        peers: &Offer,
    ) -> Self {
        let path = Path::new(settings.first_packet.max(packet::HANDSHAKE_MAX), mtu.min(packet::FRAGMENTED_MAX));
        let silence = nanoseconds(settings.silence);
        let most = nanoseconds(settings.timeout_max);
        // Doubling raises the timeout to at most a quarter of the silence, so several packets must
        // get lost before the peer counts as gone.
        let trip = RoundTrip::new(nanoseconds(settings.timeout_min).min(most), most, most.min(silence / 4));
        Self {
            silence,
            ack_delay: nanoseconds(settings.ack_delay),
            keep_alive: settings.keep_alive,
            is_reliable: own.reliability.is_reliable(),
            max_transfer: own.max_transfer.min(peers.max_transfer),
            own_id,
            peer_id,
            phase: Phase::Open,
            sending: Sending::new(trip, path.current()),
            receiving: Receiving::new(settings.window),
            path,
            fragment: (0, 0),
            own: Own::default(),
            target: Target::default(),
            answers_next: false,
            liveness: Liveness::new(now, silence),
            probed: None,
            closes: 0,
            budget: 0,
            budget_until: 0,
            is_held_up: false,
            deferred: None,
            statistics: Statistics::default(),
        }
    }

    /// Repeats the acceptance `accept` until the peer confirms. The round trip is at most
    /// `trip_bound` nanoseconds; 0 if no bound is known.
    pub(super) fn open(&mut self, accept: Box<[u8]>, peers_window: u32, trip_bound: u64) {
        self.sending.window_is(peers_window);
        self.liveness.waiting = Some(self.liveness.last_received);
        self.phase = Phase::Opening(accept, Repeat::within(0, trip_bound));
    }

    /// Confirms the peer's acceptance. `round_trip` is the time that the acceptance took, if it is
    /// known.
    pub(super) fn confirm(&mut self, now: u64, peers_window: u32, round_trip: Option<u64>) {
        self.sending.window_is(peers_window);
        round_trip.into_iter().for_each(|took| self.sending.trip.sample_handshake(took));
        self.receiving.hurry(now);
    }

    /// Whether the connection is established, as far as this side can tell.
    pub fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open)
    }

    /// Whether the connection is over.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Refusing | Phase::Over(_))
    }

    /// Returns the connection ids of this end and of the peer.
    pub(super) fn ids(&self) -> [u64; 2] {
        [self.own_id, self.peer_id]
    }

    /// Returns the connection id of this side.
    pub fn id(&self) -> u64 {
        self.own_id
    }

    /// Returns the numbers of the next data packets of this side and of the peer.
    pub(super) fn next_numbers(&self) -> [u32; 2] {
        [self.sending.next() as u32, self.receiving.expected() as u32]
    }

    /// Whether delivery is reliable: every packet gets through, or the connection ends.
    pub(super) fn is_reliable(&self) -> bool {
        self.is_reliable
    }

    /// Takes note that datagrams are guarded from now on, and therefore longer by `overhead` bytes.
    /// Drops the packets that arrived ahead of their turn, because they may be forged.
    pub(super) fn is_guarded_by(&mut self, overhead: usize) {
        self.receiving.forget();
        self.path.reserve(overhead);
        self.sending.packet_is(self.path.current());
    }

    /// Takes note that the link refused a packet because of its length. The packet counts as lost.
    pub(super) fn is_too_long(&mut self, now: u64, length: usize) {
        if self.path.refused(now, length) {
            self.sending.packet_is(self.path.current());
        }
    }

    /// Sets the marks that the link has received so far.
    pub(super) fn received_marks_are(&mut self, marks: Marks) {
        self.sending.ecn.received_are(marks);
    }

    /// Whether datagrams are sent with marks. Unreliable delivery sends none, because it would not
    /// learn of congestion. A handshake sends none, because it would not learn whether the network
    /// loses datagrams with marks.
    pub(super) fn sends_marks(&self) -> bool {
        self.is_reliable && self.is_open() && self.sending.ecn.is_on()
    }

    /// Returns the maximum length of an operation, in bytes: the smaller of the two offers.
    pub fn max_transfer(&self) -> u32 {
        self.max_transfer
    }

    /// Returns the number of descriptors completed so far.
    pub(super) fn completions(&self) -> u64 {
        self.statistics.completions
    }

    /// Returns the counters so far.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            retransmitted: self.sending.retransmitted,
            round_trip_ns: self.sending.trip.smoothed(),
            packet: self.path.current(),
            ..self.statistics
        }
    }

    /// Refuses an operation of the peer. The connection is broken on this side, and soon on the
    /// peer's.
    fn refuse(&mut self, operation: u32, refusal: Refusal, sink: &mut dyn Sink) {
        self.target.refused = Some((operation, refusal));
        self.phase = Phase::Refusing;
        self.receiving.forget();
        self.statistics.completions += 1;
        sink.broken(Status::Flushed, why(refusal));
    }

    fn violated(&mut self, sink: &mut dyn Sink) {
        self.over(Some(CLOSED_VIOLATION), Status::ConnectionLost, Ended::Violation, sink);
        self.closes = 1;
    }

    fn over(&mut self, answer: Option<u8>, status: Status, why: Ended, sink: &mut dyn Sink) {
        let was_over = self.is_over();
        self.phase = Phase::Over(answer);
        self.target = Target::default();
        self.receiving.forget();
        if !was_over {
            self.statistics.completions += 1;
            sink.broken(status, why);
        }
    }

    /// Ends the connection. The datagrams of [`Engine::transmit_close`], or of `transmit`, tell the
    /// peer.
    pub fn disconnect(&mut self) {
        if !matches!(self.phase, Phase::Over(_)) {
            self.phase = Phase::Over(Some(CLOSED_BY_USER));
            self.closes = CLOSES;
        }
        (self.target, self.deferred) = (Target::default(), None);
    }
}

/// Returns the reason that the user is given when a refusal ends the connection.
fn why(refusal: Refusal) -> Ended {
    match refusal {
        Refusal::ReceiverNotReady => Ended::ReceiverNotReady,
        Refusal::TooLong => Ended::TooLong,
        Refusal::Protection => Ended::Protection,
    }
}
