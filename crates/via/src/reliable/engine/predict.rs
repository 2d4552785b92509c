//! Prediction of the next packet, like TCP's header prediction, for the request and the answer of a
//! call.
//!
//! Where each side waits for the other, nearly every packet is the next one in order, carries a
//! short RDMA write with immediate data, and acknowledges everything under way. A comparison of
//! words recognizes such a packet. Only the part of the processing that the waiting thread needs is
//! done at once; [`Engine::catch_up`] does the remaining work after the answer is sent, when no
//! thread waits for that work. All other packets take the full path.

use super::{Engine, Phase};
use crate::descriptor::Operation;
use crate::reliable::SHORT_MAX;
use crate::reliable::packet::{Expected, Sack, WRITE_HEADER};
use crate::reliable::sending::Piece;
use crate::spi::Sink;

/// The deferred part of a predicted packet's processing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deferred {
    // The acknowledgement in the packet, which covers all packets that this side sent before.
    ack: u32,
    // The peer's window, in bytes.
    window: u32,
}

/// A packet that was made, and does not count as sent until [`Engine::sent_expected`].
#[derive(Clone, Copy, Debug)]
pub(in crate::reliable) struct Made {
    /// The length of the datagram, in bytes.
    pub(in crate::reliable) length: usize,
    total: u32,
}

impl Engine {
    /// Whether the connection is open, reliable and has nothing to do but to receive or send the
    /// predicted packet: no packet has to be sent again, and no operation of the peer is in
    /// progress.
    #[inline]
    fn is_plain(&self) -> bool {
        matches!(self.phase, Phase::Open) && self.is_reliable && !self.sending.has_repeats() && self.target.is_plain()
    }

    /// Processes a datagram that matches the prediction. Returns `false`, with nothing changed, for
    /// any other datagram.
    #[inline]
    pub(in crate::reliable) fn take_expected(&mut self, datagram: &[u8], sink: &mut dyn Sink) -> bool {
        if datagram.len() > SHORT_MAX
            || !self.is_plain()
            || !self.receiving.is_plain()
            || self.liveness.hinted.is_some()
            || self.deferred.is_some()
        {
            return false;
        }
        let expected = Expected {
            to: self.own_id,
            number: self.receiving.expected() as u32,
            ack: self.sending.next() as u32,
            operation: self.target.begun(),
        };
        let Some((write, payload)) = expected.parse(datagram) else { return false };
        if payload.len() > self.max_transfer as usize || sink.take_write(write.place, payload, write.immediate).is_err()
        {
            return false;
        }
        self.target.begin_next();
        self.receiving.took_expected(datagram.len());
        self.statistics.completions += 1;
        self.deferred = Some(Deferred { ack: expected.ack, window: write.window });
        true
    }

    /// Makes the next packet, if nothing else has to be sent and the packet is one that the peer
    /// predicts. The packet does not count as sent: see [`Self::sent_expected`].
    #[inline]
    pub(in crate::reliable) fn make_expected(&self, sink: &dyn Sink, into: &mut [u8]) -> Option<Made> {
        let is_acknowledged = self.deferred.is_some() || self.sending.is_idle();
        let index = self.own.next;
        if !is_acknowledged
            || !self.is_plain()
            || !self.receiving.has_no_gaps()
            || self.own.offset != 0
            || self.probed.is_some()
            || index + 1 != sink.posted()
        {
            return None;
        }
        let descriptor = sink.sending(index).filter(|descriptor| descriptor.operation() == Operation::RdmaWrite)?;
        let total = descriptor.total() as u32;
        let length = WRITE_HEADER + total as usize;
        let into = into.get_mut(..length).filter(|_| length <= SHORT_MAX && length <= self.path.current())?;
        let next = Expected {
            to: self.peer_id,
            number: self.sending.next() as u32,
            ack: self.receiving.expected() as u32,
            operation: index as u32,
        };
        next.put(into, self.receiving.window, descriptor)?;
        Some(Made { length, total })
    }

    /// Notes that the made packet is sent.
    pub(in crate::reliable) fn sent_expected(&mut self, now: u64, made: Made) {
        let piece = Piece::Own { index: self.own.next, offset: 0, length: made.total, is_last: true };
        self.sending.sent(now, piece, made.length);
        self.statistics.sent_at_once += 1;
        self.made(now);
        self.advance(made.total, true);
    }

    /// Does the deferred part of a predicted packet's processing.
    #[inline]
    pub(in crate::reliable) fn catch_up(&mut self, now: u64, sink: &mut dyn Sink) {
        if let Some(deferred) = self.deferred.take() {
            self.process_deferred(now, deferred, sink);
        }
    }

    fn process_deferred(&mut self, now: u64, deferred: Deferred, sink: &mut dyn Sink) {
        self.statistics.received += 1;
        self.statistics.expected += 1;
        self.note_received(now);
        self.sending.window_is(deferred.window);
        let known = self.acknowledged(now, deferred.ack, Sack::NONE, sink);
        debug_assert!(known.is_some(), "only sent packets are acknowledged");
        self.expect_more(now);
        self.receiving.answer_by(now + self.ack_delay);
    }
}
