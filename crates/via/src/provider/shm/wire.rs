//! The state that the two halves of a port share: the segments, the socket, and the functions that
//! inform and wake the peer.

use super::mapping::Mapping;
use super::packet;
use super::record::{self, Answer, ConnectionState, Record};
use super::ring::{Publisher, Taker};
use crate::attributes::Reliability;
use crate::doorbell;
use crate::error::Ended;
use crate::spi::Refusal;
use rustix::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The reason why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The peer broke the rules.
    Violation,
    /// An operation of the peer was refused, and delivery is reliable.
    Refused(Refusal),
    /// The peer ended the connection, and published the reason.
    ByPeer(ConnectionState),
    /// The peer hung up without a reason.
    HungUp,
}

impl From<crate::Violation> for Fault {
    fn from(_: crate::Violation) -> Self {
        Self::Violation
    }
}

/// Both directions of a connection.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) socket: Arc<OwnedFd>,
    pub(super) level: Reliability,
    /// The agreed maximum length of a message or RDMA, in bytes.
    pub(super) most: u32,
    pub(super) out: Publisher,
    pub(super) from: Taker,
    /// The peer's table of registrations.
    pub(super) table: Mapping,
    // The number of the peer's sleep that this side's last call ended.
    called: u32,
    // Whether this side has published a record, or changed a word that the peer reads, since it
    // last checked whether the peer has to be called.
    has_published: bool,
}

/// The peer's words, each loaded once. The order of the loads guarantees that the effects that a
/// word reports are visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) state: ConnectionState,
    pub(super) answers: u64,
    pub(super) taken: u64,
}

impl Wire {
    pub(super) fn new(
        socket: OwnedFd,
        level: Reliability,
        most: u32,
        out: Publisher,
        from: Taker,
        table: Mapping,
    ) -> Self {
        Self { socket: Arc::new(socket), level, most, out, from, table, called: 0, has_published: false }
    }

    /// Returns the state of the connection, as the peer's segment shows it.
    pub(super) fn peer_state(&self) -> ConnectionState {
        ConnectionState(self.from.segment().word(record::STATE).load(Ordering::Acquire))
    }

    /// Returns the number of regions that the peer has opened.
    pub(super) fn opened(&self) -> u32 {
        self.from.segment().word(record::OPENED).load(Ordering::Acquire)
    }

    pub(super) fn see(&self) -> Seen {
        let state = self.peer_state();
        let answers = self.from.segment().word64(record::ANSWERS).load(Ordering::Acquire);
        let taken = self.from.segment().word64(record::TAKEN).load(Ordering::Acquire);
        Seen { state, answers, taken }
    }

    /// Publishes a record, as [`Publisher::publish`] does.
    pub(super) fn publish(&mut self, record: Record, fill: impl FnOnce(&mut [u8]) -> Option<()>) {
        let outcome = self.out.publish(record, fill);
        // The callers have checked that all bytes which `fill` copies lie within their memory.
        debug_assert!(outcome.is_some());
        self.has_published = true;
    }

    /// Tells the peer how many of its records were taken: their slots and pieces are free again,
    /// and their operations are done.
    pub(super) fn publish_taken(&mut self) {
        self.publish_taken_up_to(self.from.taken());
    }

    /// Tells the peer how many of its records were taken, not counting the last one, which was
    /// refused.
    pub(super) fn publish_refused(&mut self) {
        self.publish_taken_up_to(self.from.taken().saturating_sub(1));
    }

    fn publish_taken_up_to(&mut self, taken: u64) {
        let word = self.out.segment().word64(record::TAKEN);
        if word.load(Ordering::Relaxed) != taken {
            word.store(taken, Ordering::Release);
            self.has_published = true;
        }
    }

    /// Answers the peer's RDMA of this number, after telling the peer which records were taken.
    pub(super) fn answer(&mut self, number: u64, answer: Answer) {
        self.publish_taken();
        self.out.segment().word64(record::ANSWERS).store(number << 8 | u64::from(answer.0), Ordering::Release);
        self.has_published = true;
    }

    /// Tells the peer that a packet with a region is on the socket.
    pub(super) fn publish_opened(&mut self) {
        let word = self.out.segment().word(record::OPENED);
        word.store(word.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    /// Tells the peer that the connection is over, unless a reason has been published before.
    pub(super) fn publish_state(&mut self, state: ConnectionState) {
        let word = self.out.segment().word(record::STATE);
        if word.load(Ordering::Relaxed) == ConnectionState::OPEN.0 {
            word.store(state.0, Ordering::Release);
            self.has_published = true;
        }
    }

    /// Wakes the peer if it sleeps and this side has published a record, or changed a word that the
    /// peer reads.
    pub(super) fn call(&mut self) {
        if std::mem::take(&mut self.has_published)
            && doorbell::must_call(self.from.segment().word(record::SLEEP), &mut self.called)
        {
            packet::wake(&self.socket);
        }
    }
}

/// Returns the reason for the end of a connection that ends because of a refusal.
pub(super) fn ended(refusal: Refusal) -> Ended {
    match refusal {
        Refusal::ReceiverNotReady => Ended::ReceiverNotReady,
        Refusal::TooLong => Ended::TooLong,
        Refusal::Protection => Ended::Protection,
    }
}
