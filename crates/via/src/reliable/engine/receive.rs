//! Received packets: the phase of the connection, acknowledgements, and the order of data packets.

use super::perform::Fault;
use super::{CLOSED_SILENT, CLOSED_VIOLATION, Dropped, Engine, Phase};
use crate::descriptor::{Operation, Status};
use crate::error::Ended;
use crate::reliable::packet::{self, Body, HEADER, Header, Sack};
use crate::reliable::receiving::Position;
use crate::reliable::sending::Piece;
use crate::spi::Sink;

impl Engine {
    /// Processes a received datagram.
    ///
    /// # Errors
    ///
    /// The reason, when the datagram was dropped.
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
            Body::Request { .. } | Body::Reject { .. } | Body::Retry { .. } | Body::Moved { .. } => {
                return Err(Dropped::Stray);
            }
            // The confirmation got lost. An acknowledgement confirms again.
            Body::Accept { from, .. } if *from == self.peer_id => self.receiving.hurry(now),
            Body::Accept { .. } => return Err(Dropped::Stray),
            body => self.of_peer(now, header, body, datagram, sink),
        }
        Ok(())
    }

    /// Processes a packet that only the peer can have sent.
    fn of_peer(&mut self, now: u64, header: &Header, body: &Body<'_>, datagram: &[u8], sink: &mut dyn Sink) {
        self.note_received(now);
        match &self.phase {
            Phase::Opening(_, repeat) => {
                repeat.round_trip(now).into_iter().for_each(|took| self.sending.trip.sample_handshake(took));
                self.phase = Phase::Open;
                self.liveness.waiting = None;
                self.sending.window_is(header.window);
                if matches!(body, Body::Data(..) | Body::Fragment { .. }) {
                    // The confirmation got lost. There may be no VI yet to take the data, so the
                    // peer has to send the packet again.
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
        let further = match body {
            Body::Ack { further } => further,
            Body::Marked { marks, further } => {
                self.sending.ecn.reported(*marks);
                further
            }
            _ => &[][..],
        };
        let sack = Sack { first: header.sack, further };
        if self.is_reliable && self.acknowledged(now, header.ack, sack, sink).is_none() {
            return self.violated(sink);
        }
        self.expect_more(now);
        self.path.received(now);
        match body {
            Body::Data(data, payload) if self.is_reliable => {
                self.data(now, header.number, (data, payload), datagram, sink);
            }
            Body::Data(data, payload) => self.unreliable_data(header.number, data, payload, sink),
            Body::Ping => self.receiving.hurry(now),
            Body::Probe => self.probed = u32::try_from(datagram.len()).ok(),
            Body::Probed { length } => {
                let (length, trip) = (*length as usize, &mut self.sending.trip);
                self.path.round_trip(now, length).into_iter().for_each(|took| trip.sample(took));
                if self.path.confirmed(now, length) {
                    self.sending.packet_is(self.path.current());
                }
            }
            Body::Close { reason } => self.closed(*reason, sink),
            Body::Fragment { index, length, bytes } => {
                self.fragment(now, header.number, (*index, *length), bytes, sink);
            }
            Body::Ack { .. }
            | Body::Marked { .. }
            | Body::Request { .. }
            | Body::Accept { .. }
            | Body::Reject { .. }
            | Body::Retry { .. }
            | Body::Moved { .. } => {}
        }
    }

    /// Ends the connection, which the peer has ended for this reason.
    fn closed(&mut self, reason: u8, sink: &mut dyn Sink) {
        let (status, why) = match reason {
            CLOSED_SILENT => (Status::ConnectionLost, Ended::Silent),
            CLOSED_VIOLATION => (Status::ConnectionLost, Ended::Violation),
            _ => (Status::Flushed, Ended::ByPeer),
        };
        self.over(None, status, why, sink);
    }

    pub(super) fn note_received(&mut self, now: u64) {
        self.liveness.last_received = now;
        self.liveness.hinted = None;
        self.liveness.ping = now + self.liveness.pause;
    }

    pub(super) fn expect_more(&mut self, now: u64) {
        let expects_more = !self.sending.is_idle() || !self.own.reads.is_empty();
        self.liveness.waiting = expects_more.then_some(now);
    }

    /// Processes the peer's acknowledgements. Returns `None` when the peer claims to have packets
    /// that it cannot have.
    pub(super) fn acknowledged(&mut self, now: u64, ack: u32, sack: Sack<'_>, sink: &mut dyn Sink) -> Option<()> {
        let ahead = ack.wrapping_sub(self.sending.first() as u32).cast_signed();
        // The acknowledgement is old: newer acknowledgements have overtaken it.
        let Ok(ahead) = u64::try_from(ahead) else { return Some(()) };
        let ack = self.sending.first() + ahead;
        let (own, target) = (&mut self.own, &mut self.target);
        self.sending.acknowledged(now, ack, sack, |piece| match piece {
            Piece::Own { index, is_last: true, .. } => own.acknowledged = index + 1,
            Piece::Answer { is_last: true, .. } => target.answered(),
            _ => {}
        })?;
        self.complete_finished(sink);
        Some(())
    }

    /// Completes the descriptors that are finished.
    pub(super) fn complete_finished(&mut self, sink: &mut dyn Sink) {
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

    /// Processes a data packet, whether or not earlier packets are missing.
    fn data(
        &mut self,
        now: u64,
        number: u32,
        (data, payload): (&packet::DataHeader, &[u8]),
        datagram: &[u8],
        sink: &mut dyn Sink,
    ) {
        match self.receiving.position(number) {
            Position::Next => {}
            Position::Early(number) => {
                if !matches!(self.phase, Phase::Refusing) {
                    self.receiving.keep(number, datagram);
                }
                return self.receiving.hurry(now);
            }
            Position::Past => {
                self.statistics.duplicates += 1;
                return self.receiving.hurry(now);
            }
            Position::TooFar(_) => return,
        }
        if !self.process_next(now, data, payload, datagram.len(), sink) {
            return;
        }
        while let Some(early) = self.receiving.take() {
            // The packet parses, because it was parsed before it was kept.
            let Ok((_, Body::Data(data, payload))) = packet::parse(&early) else { return };
            if !self.process_next(now, &data, payload, early.len(), sink) {
                return;
            }
        }
    }

    /// Processes a fragment of a data packet. The packet is processed when all of its fragments
    /// have arrived.
    fn fragment(&mut self, now: u64, number: u32, part: (u32, u32), bytes: &[u8], sink: &mut dyn Sink) {
        let whole = match self.receiving.position(number) {
            Position::Next => self.receiving.expected(),
            Position::Early(number) => number,
            Position::Past if self.is_reliable => return self.receiving.hurry(now),
            Position::Past | Position::TooFar(_) => return,
        };
        if !self.is_reliable || matches!(self.phase, Phase::Refusing) {
            return;
        }
        let Some(mut datagram) = self.receiving.keep_fragment(whole, part, bytes) else { return };
        // The packet was made anew for each fragment, perhaps with other acknowledgements, so its
        // checksum is made again. The checksum of each fragment was verified on arrival.
        if datagram.len() > HEADER {
            packet::seal(&mut datagram);
        }
        if let Ok((header, Body::Data(data, payload))) = packet::parse(&datagram)
            && header.number == number
        {
            self.data(now, number, (&data, payload), &datagram, sink);
        }
    }

    /// Processes the next data packet. Returns whether the packet after it may be processed.
    fn process_next(
        &mut self,
        now: u64,
        data: &packet::DataHeader,
        payload: &[u8],
        length: usize,
        sink: &mut dyn Sink,
    ) -> bool {
        let done = match self.phase {
            Phase::Open => self.perform(data, payload, sink),
            // Refused operations and the operations after them are not performed, and no
            // acknowledgement may claim that they were.
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

    /// Processes a data packet of unreliable delivery, which does not wait for missing packets.
    fn unreliable_data(&mut self, number: u32, data: &packet::DataHeader, payload: &[u8], sink: &mut dyn Sink) {
        let number = match self.receiving.position(number) {
            Position::Past => {
                self.statistics.duplicates += 1;
                return;
            }
            Position::Next => self.receiving.expected(),
            Position::Early(number) | Position::TooFar(number) => {
                self.target.abandon(sink);
                number
            }
        };
        self.receiving.skip_to(number + 1);
        if self.is_open() && self.perform(data, payload, sink).is_err() {
            self.target.abandon(sink);
        }
    }
}
