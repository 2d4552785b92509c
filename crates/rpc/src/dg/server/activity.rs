//! A server's state of a client's activity: its last call, and the call's progress.

use crate::dg::pdu::Header;
use crate::dg::receiving::Assembly;
use crate::dg::sending::{Receiver, Sending};
use crate::uuid::Uuid;
use obvia_via::datagram::Place;
use std::time::Instant;

/// An activity of a client.
#[derive(Debug)]
pub(super) struct Activity {
    /// The address that requests come from and responses go to.
    pub(super) place: Place,
    /// The sequence number of the current call.
    pub(super) sequence: u32,
    /// The header of the current call's first received unit.
    pub(super) head: Header,
    pub(super) state: State,
    /// Whether the client has confirmed the call. Before that, the call is not executed, and few of
    /// its bytes are kept.
    pub(super) is_known: bool,
    /// The client's address space, if the client has told it.
    pub(super) client: Option<Uuid>,
    pub(super) callback: Option<Callback>,
    /// The time at which a unit of the activity last arrived.
    pub(super) last_received: Instant,
    pub(super) receiver: Receiver,
    /// Whether the call was cancelled.
    pub(super) is_cancelled: bool,
}

/// The progress of a call.
#[derive(Debug)]
pub(super) enum State {
    /// The arguments are incomplete, or the client has not confirmed the call.
    Arriving(Assembly),
    /// The call is being executed.
    Performed,
    /// The response is being sent, or kept until the client has acknowledged it.
    Answered(Sending),
    /// The call is over. Only its sequence number is kept.
    Over,
}

/// An unanswered callback that asks for the client's identity.
#[derive(Debug)]
pub(super) struct Callback {
    /// The activity that asks.
    pub(super) own_activity: Uuid,
    pub(super) again_at: Instant,
    pub(super) times: u32,
    /// Whether the older operation is used, which all clients implement.
    pub(super) is_simple: bool,
}

impl Activity {
    pub(super) fn new(place: Place, head: Header, window: usize, now: Instant) -> Self {
        Self {
            place,
            sequence: head.sequence,
            head,
            state: State::Arriving(Assembly::new(window)),
            is_known: false,
            client: None,
            callback: None,
            last_received: now,
            receiver: Receiver::UNKNOWN,
            is_cancelled: false,
        }
    }

    /// Returns the bytes of the messages that the activity holds.
    pub(super) fn held(&self) -> usize {
        match &self.state {
            State::Arriving(assembly) => assembly.held(),
            State::Answered(sending) => sending.length(),
            State::Performed | State::Over => 0,
        }
    }

    /// Whether the path to the client stays within the host.
    pub(super) fn is_near(&self) -> bool {
        self.place.host().is_loopback()
    }

    /// Whether the activity has no timer except the one that forgets it.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.state, State::Over)
    }
}
