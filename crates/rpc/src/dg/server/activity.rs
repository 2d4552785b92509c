//! A server's state of a client's activity: its last call, and the call's progress.

use super::CallKey;
use crate::dg::pdu::Header;
use crate::dg::receiving::Assembly;
use crate::dg::sending::{Receiver, Sending};
use crate::uuid::Uuid;
use obvia_via::datagram::Place;
use std::time::Instant;

/// An activity of a client that has identified itself by its answer to a callback.
#[derive(Debug)]
pub(super) struct Activity {
    /// The address that requests come from and responses go to.
    pub(super) place: Place,
    /// The sequence number of the current call.
    pub(super) sequence: u32,
    /// The header of the current call's first received unit.
    pub(super) head: Header,
    pub(super) state: State,
    /// The UUID of the client's address space.
    pub(super) client: Uuid,
    /// The time at which a unit of the activity last arrived.
    pub(super) last_received: Instant,
    pub(super) receiver: Receiver,
    /// Whether the call was cancelled.
    pub(super) is_cancelled: bool,
    /// The sequence number of a call whose response the client has not acknowledged in time, so
    /// that the response is not kept any more. The client may still wait for it.
    pub(super) unacknowledged: Option<u32>,
    /// Whether a call of the activity has been executed. If not, the server can forget the activity
    /// at any time, and will not execute a call twice.
    pub(super) has_performed: bool,
}

/// The progress of a call.
#[derive(Debug)]
pub(super) enum State {
    /// The arguments are incomplete.
    Arriving(Assembly),
    /// The call is being executed.
    Performed,
    /// The response is being sent, or kept until the client has acknowledged it.
    Answered(Sending),
    /// The call is over. Its arguments and its response are no longer kept.
    Over,
}

impl Activity {
    /// Creates the activity of a client that has confirmed a call. No fragment of the call has
    /// arrived since the confirmation.
    pub(super) fn new(
        place: Place,
        client: Uuid,
        head: Header,
        window: usize,
        has_performed: bool,
        now: Instant,
    ) -> Self {
        Self {
            place,
            sequence: head.sequence,
            head,
            state: State::Arriving(Assembly::new(window)),
            client,
            last_received: now,
            receiver: Receiver::UNKNOWN,
            is_cancelled: false,
            unacknowledged: None,
            has_performed,
        }
    }

    /// Returns the number of bytes of the messages that the activity holds.
    pub(super) fn held(&self) -> usize {
        match &self.state {
            State::Arriving(assembly) => assembly.held(),
            State::Answered(sending) => sending.length(),
            State::Performed | State::Over => 0,
        }
    }

    /// Returns the key of the current call.
    pub(super) fn key(&self) -> CallKey {
        CallKey { activity: self.head.activity, sequence: self.sequence }
    }

    /// Whether the path to the client stays within the host.
    pub(super) fn is_near(&self) -> bool {
        self.place.host().is_loopback()
    }

    /// Whether the client may still wait for the response to the current call, although the
    /// response is not kept any more.
    pub(super) fn may_wait(&self) -> bool {
        self.unacknowledged == Some(self.sequence)
    }

    /// Whether the server may forget the activity: it executes no call, and keeps no response.
    pub(super) fn may_yield(&self) -> bool {
        matches!(self.state, State::Arriving(_) | State::Over)
    }

    /// Whether the only timer of the activity is the time after which it is forgotten.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.state, State::Over)
    }
}
