//! One end of one connection.
//!
//! Data packets are numbered, and processed in the order of their numbers; those that come early are kept. A packet is
//! acknowledged when it was processed, so what is acknowledged is in the peer's memory. Packets carry parts of operations, the
//! operations are numbered as the sink numbers descriptors, and a part is made anew from its descriptor whenever it is
//! sent, so nothing is copied but into the packet itself.

mod perform;
mod predict;
mod time;
mod transmit;

use super::packet::{self, BadPacket, Body, Header};
use super::path::Path;
use super::receiving::{Receiving, Turn};
use super::repeat::Repeat;
use super::sending::{Piece, Sending};
use super::timing::RoundTrip;
use super::{Settings, nanoseconds};
use crate::descriptor::{Operation, Status};
use crate::error::Ended;
use crate::spi::{Offer, Refusal, Sink};
use perform::{Fault, Target};
use predict::Late;
use std::collections::VecDeque;

/// RDMA reads that may be unanswered at once.
pub(super) const READS_MAX: usize = 64;
/// How often a close is sent when nobody asks for it.
const CLOSES: u8 = 3;

/// Why a connection is closed, on the wire.
const CLOSED_BY_USER: u8 = 0;
const CLOSED_SILENT: u8 = 1;
const CLOSED_VIOLATION: u8 = 2;

/// One end of a connection: see the module.
#[derive(Debug)]
pub struct Engine {
    // Nanoseconds.
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
    own: Own,
    target: Target,
    // Which of two that have something to send is next: own operations, or answers to the peer's reads.
    answers_next: bool,
    alive: Alive,
    // The length of a probe that is to be confirmed.
    probed: Option<u32>,
    // How many closes are to be sent.
    closes: u8,
    // Unreliable delivery: what is left of the bytes of this millisecond, and when the next begins.
    budget: u64,
    budget_until: u64,
    is_held_up: bool,
    // What is left to be done about the packet that came last.
    late: Option<Late>,
    statistics: Statistics,
}

/// What happened to an engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Datagrams that came and were packets of this connection.
    pub received: u64,
    /// Datagrams that came and were dropped: damaged, malformed, or of somebody else.
    pub dropped: u64,
    /// Data packets that came a second time.
    pub duplicates: u64,
    /// Of the data packets that came, those that took the short way: each was just what was expected.
    pub expected: u64,
    /// Data packets that were made, for the first time or again.
    pub sent: u64,
    /// Of these, those that took the short way: there was nothing else to send.
    pub sent_at_once: u64,
    /// Data packets that were sent again.
    pub retransmitted: u64,
    /// Descriptors of either queue that were completed.
    pub completions: u64,
    /// The smoothed round trip, in nanoseconds; 0 while none is known.
    pub round_trip_ns: u64,
    /// The length of packets, in bytes.
    pub packet: usize,
}

#[derive(Debug)]
enum Phase {
    /// Accepted, and not confirmed: what repeats that.
    Opening(Box<[u8]>, Repeat),
    Open,
    /// An operation of the peer was refused; the peer is being told.
    Refusing,
    /// Over. Whoever does not know that gets a close with this reason, where there is one.
    Over(Option<u8>),
}

/// Operations of this side.
#[derive(Debug, Default)]
struct Own {
    // The descriptor that is being sent, and how much of it has been.
    next: u64,
    offset: u32,
    // Descriptors below are acknowledged.
    acknowledged: u64,
    // Reads that are not answered, and how much of the first has come.
    reads: VecDeque<u64>,
    read: u32,
    // Reads below have come.
    reads_done: u64,
}

/// Signs of life.
#[derive(Debug)]
struct Alive {
    heard: u64,
    // Since when something is expected of the peer.
    waiting: Option<u64>,
    ping: u64,
    // Since when there are hints that the peer is gone.
    hinted: Option<u64>,
}

/// Why a datagram was dropped. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// It is not a packet.
    Bad(BadPacket),
    /// It is not of this connection.
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
        let path = Path::new(settings.first_packet.max(packet::HANDSHAKE_MAX), mtu);
        let silence = nanoseconds(settings.silence);
        // Several packets get lost before the peer is taken for gone.
        let most = nanoseconds(settings.timeout_max).min(silence / 8);
        let trip = RoundTrip::new(nanoseconds(settings.timeout_min).min(most), most);
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
            own: Own::default(),
            target: Target::default(),
            answers_next: false,
            alive: Alive { heard: now, waiting: None, ping: now + silence / 4, hinted: None },
            probed: None,
            closes: 0,
            budget: 0,
            budget_until: 0,
            is_held_up: false,
            late: None,
            statistics: Statistics::default(),
        }
    }

    /// Accepts with these bytes, until the peer confirms.
    pub(super) fn open(&mut self, accept: Box<[u8]>, peers_window: u32) {
        self.sending.window_is(peers_window);
        self.alive.waiting = Some(self.alive.heard);
        self.phase = Phase::Opening(accept, Repeat::new());
    }

    /// Confirms that the peer has accepted.
    pub(super) fn confirm(&mut self, now: u64, peers_window: u32) {
        self.sending.window_is(peers_window);
        self.receiving.hurry(now);
    }

    /// Whether both sides know of the connection, as far as this one can tell.
    pub fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open)
    }

    /// Whether the connection is over.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Refusing | Phase::Over(_))
    }

    /// The connection id of this side.
    pub fn id(&self) -> u64 {
        self.own_id
    }

    /// The numbers of the next data packets: of this side, and of the peer.
    pub(super) fn next_numbers(&self) -> [u32; 2] {
        [self.sending.next() as u32, self.receiving.expected() as u32]
    }

    /// Whether every packet gets through, or the connection ends.
    pub(super) fn is_reliable(&self) -> bool {
        self.is_reliable
    }

    /// From now on datagrams are guarded, which makes them longer by so much. What came before its turn may be anybody's.
    pub(super) fn is_guarded_by(&mut self, overhead: usize) {
        self.receiving.forget();
        self.path.reserve(overhead);
        self.sending.packet_is(self.path.current());
    }

    /// The longest operation, in bytes: the smaller of the two offers.
    pub fn max_transfer(&self) -> u32 {
        self.max_transfer
    }

    /// Descriptors that were completed so far.
    pub(super) fn completions(&self) -> u64 {
        self.statistics.completions
    }

    /// What happened so far.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            retransmitted: self.sending.retransmitted,
            round_trip_ns: self.sending.trip.smoothed(),
            packet: self.path.current(),
            ..self.statistics
        }
    }

    /// Takes a datagram.
    ///
    /// # Errors
    ///
    /// When it was dropped.
    pub fn handle(&mut self, now: u64, datagram: &[u8], sink: &mut dyn Sink) -> Result<(), Dropped> {
        self.catch_up(now, sink);
        let taken = match packet::parse(datagram) {
            Ok((header, body)) => self.take(now, &header, &body, datagram, sink),
            Err(bad) => Err(Dropped::Bad(bad)),
        };
        match taken {
            Ok(()) => self.statistics.received += 1,
            Err(_) => self.statistics.dropped += 1,
        }
        taken
    }

    fn take(
        &mut self,
        now: u64,
        header: &Header,
        body: &Body<'_>,
        datagram: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), Dropped> {
        match body {
            Body::Request { from, .. } if *from == self.peer_id => {
                if let Phase::Opening(_, repeat) = &mut self.phase {
                    repeat.due = now;
                }
            }
            _ if header.to != self.own_id => return Err(Dropped::Stray),
            Body::Request { .. } | Body::Reject { .. } => return Err(Dropped::Stray),
            // The confirmation got lost.
            Body::Accept { from, .. } if *from == self.peer_id => self.receiving.hurry(now),
            Body::Accept { .. } => return Err(Dropped::Stray),
            body => self.of_peer(now, header, body, datagram, sink),
        }
        Ok(())
    }

    /// Something that only the peer can have sent.
    fn of_peer(&mut self, now: u64, header: &Header, body: &Body<'_>, datagram: &[u8], sink: &mut dyn Sink) {
        self.heard(now);
        match &self.phase {
            Phase::Opening(..) => {
                self.phase = Phase::Open;
                self.alive.waiting = None;
                self.sending.window_is(header.window);
                if matches!(body, Body::Data(..)) {
                    // The confirmation got lost. Nobody may be there yet to take data, so it has to come again.
                    return;
                }
            }
            Phase::Over(Some(_)) => {
                if !matches!(body, Body::Close { .. }) {
                    self.closes = self.closes.max(1);
                }
                return;
            }
            _ => {}
        }
        self.sending.window_is(header.window);
        if self.is_reliable && self.acknowledged(now, (header.ack, header.sack), sink).is_none() {
            return self.violated(sink);
        }
        self.expect_more(now);
        match body {
            Body::Data(data, payload) if self.is_reliable => {
                self.data(now, header.number, (data, payload), datagram, sink);
            }
            Body::Data(data, payload) => self.unreliable_data(header.number, data, payload, sink),
            Body::Ping => self.receiving.hurry(now),
            Body::Probe => self.probed = u32::try_from(datagram.len()).ok(),
            Body::Probed { length } => {
                if self.path.confirmed(now, *length as usize) {
                    self.sending.packet_is(self.path.current());
                }
            }
            Body::Close { reason } => {
                let (status, why) = match *reason {
                    CLOSED_SILENT => (Status::ConnectionLost, Ended::Silent),
                    CLOSED_VIOLATION => (Status::ConnectionLost, Ended::Violation),
                    _ => (Status::Flushed, Ended::ByPeer),
                };
                self.over(None, status, why, sink);
            }
            Body::Ack | Body::Request { .. } | Body::Accept { .. } | Body::Reject { .. } => {}
        }
    }

    fn heard(&mut self, now: u64) {
        self.alive.heard = now;
        self.alive.hinted = None;
        self.alive.ping = now + self.silence / 4;
    }

    fn expect_more(&mut self, now: u64) {
        let expects_more = !self.sending.is_idle() || !self.own.reads.is_empty();
        self.alive.waiting = expects_more.then_some(now);
    }

    /// What the peer has. `None` when it claims what it cannot have.
    fn acknowledged(&mut self, now: u64, (ack, sack): (u32, u64), sink: &mut dyn Sink) -> Option<()> {
        let ahead = ack.wrapping_sub(self.sending.first() as u32).cast_signed();
        // An old one, which others have overtaken.
        let Ok(ahead) = u64::try_from(ahead) else { return Some(()) };
        let ack = self.sending.first() + ahead;
        let (own, target) = (&mut self.own, &mut self.target);
        self.sending.acknowledged(now, ack, sack, |piece| match piece {
            Piece::Own { index, is_last: true, .. } => own.acknowledged = index + 1,
            Piece::Answer { is_last: true, .. } => target.answered(),
            _ => {}
        })?;
        self.settle(sink);
        Some(())
    }

    /// Completes what can be completed.
    fn settle(&mut self, sink: &mut dyn Sink) {
        if !self.is_open() {
            return;
        }
        let mut index = sink.completed();
        while index < self.own.acknowledged
            && let Some(descriptor) = sink.sending(index)
            && (descriptor.operation() != Operation::RdmaRead || index < self.own.reads_done)
        {
            let total = descriptor.total() as u32;
            sink.complete(Status::Done, total);
            self.statistics.completions += 1;
            index += 1;
        }
    }

    /// A data packet, in its turn or not.
    fn data(
        &mut self,
        now: u64,
        number: u32,
        (data, payload): (&packet::DataHeader, &[u8]),
        datagram: &[u8],
        sink: &mut dyn Sink,
    ) {
        match self.receiving.turn(number) {
            Turn::Now => {}
            Turn::Early(number) => {
                if !matches!(self.phase, Phase::Refusing) {
                    self.receiving.keep(number, datagram);
                }
                return self.receiving.hurry(now);
            }
            Turn::Past => {
                self.statistics.duplicates += 1;
                return self.receiving.hurry(now);
            }
            Turn::TooFar(_) => return,
        }
        if !self.in_turn(now, data, payload, datagram.len(), sink) {
            return;
        }
        while let Some(early) = self.receiving.take() {
            // It was whole when it was kept.
            let Ok((_, Body::Data(data, payload))) = packet::parse(&early) else { return };
            if !self.in_turn(now, &data, payload, early.len(), sink) {
                return;
            }
        }
    }

    /// The next data packet. Whether the one after it may be processed.
    fn in_turn(
        &mut self,
        now: u64,
        data: &packet::DataHeader,
        payload: &[u8],
        length: usize,
        sink: &mut dyn Sink,
    ) -> bool {
        let done = match self.phase {
            Phase::Open => self.perform(data, payload, sink),
            // What was refused, or comes after it, is not performed, and nobody shall think that it was.
            Phase::Refusing => return false,
            Phase::Opening(..) | Phase::Over(_) => Ok(()),
        };
        match done {
            Ok(()) => {
                self.receiving.processed(now, length, self.ack_delay);
                true
            }
            Err(Fault::Refused(refusal)) => {
                self.refuse(data.operation, refusal, sink);
                self.receiving.hurry(now);
                false
            }
            Err(Fault::Violation) => {
                self.violated(sink);
                false
            }
        }
    }

    /// A data packet of unreliable delivery: gaps are not waited for.
    fn unreliable_data(&mut self, number: u32, data: &packet::DataHeader, payload: &[u8], sink: &mut dyn Sink) {
        let number = match self.receiving.turn(number) {
            Turn::Past => {
                self.statistics.duplicates += 1;
                return;
            }
            Turn::Now => self.receiving.expected(),
            Turn::Early(number) | Turn::TooFar(number) => {
                self.target.abandon(sink);
                number
            }
        };
        self.receiving.skip_to(number + 1);
        if self.is_open() && self.perform(data, payload, sink).is_err() {
            self.target.abandon(sink);
        }
    }

    /// Refuses an operation of the peer: the connection is broken here, and will be there.
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

    /// Ends the connection. The peer is told by what [`Engine::farewell`] gives, or by `transmit`.
    pub fn disconnect(&mut self) {
        if !matches!(self.phase, Phase::Over(_)) {
            self.phase = Phase::Over(Some(CLOSED_BY_USER));
            self.closes = CLOSES;
        }
        (self.target, self.late) = (Target::default(), None);
    }
}

/// What the user is told of a refusal.
fn why(refusal: Refusal) -> Ended {
    match refusal {
        Refusal::ReceiverNotReady => Ended::ReceiverNotReady,
        Refusal::TooLong => Ended::TooLong,
        Refusal::Protection => Ended::Protection,
    }
}
