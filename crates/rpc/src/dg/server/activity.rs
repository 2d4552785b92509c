//! What a server knows of a client's activity: its last call, and how far that is.

use crate::dg::pdu::Header;
use crate::dg::receiving::Assembly;
use crate::dg::sending::{Receiver, Sending};
use crate::uuid::Uuid;
use obvia_via::datagram::Place;
use std::time::Instant;

/// An activity of a client.
#[derive(Debug)]
pub(super) struct Activity {
    /// Where its requests come from, and answers go.
    pub(super) place: Place,
    /// Which call it is at.
    pub(super) sequence: u32,
    /// The header of the first unit of that which came.
    pub(super) head: Header,
    pub(super) state: State,
    /// Whether the client has said that it makes this call. Nothing is performed before, and little is kept.
    pub(super) is_known: bool,
    /// The client's address space, if it has said so.
    pub(super) client: Option<Uuid>,
    pub(super) asking: Option<Asking>,
    /// When something came of it last.
    pub(super) heard: Instant,
    pub(super) receiver: Receiver,
    /// A cancel has come for the call.
    pub(super) is_cancelled: bool,
}

/// How far a call is.
#[derive(Debug)]
pub(super) enum State {
    /// Its arguments are coming, or are there and nobody knows whether the client makes it.
    Arriving(Assembly),
    /// It is being performed.
    Performed,
    /// Its answer is on the way, or is kept until the client has it.
    Answered(Sending),
    /// It is over, and nothing is kept of it but its number.
    Over,
}

/// A question to the client that is not answered: who are you?
#[derive(Debug)]
pub(super) struct Asking {
    /// The activity that asks.
    pub(super) asker: Uuid,
    pub(super) again_at: Instant,
    pub(super) times: u32,
    /// Whether it is the question that all clients know.
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
            asking: None,
            heard: now,
            receiver: Receiver::UNKNOWN,
            is_cancelled: false,
        }
    }

    /// Bytes of messages that it keeps.
    pub(super) fn held(&self) -> usize {
        match &self.state {
            State::Arriving(assembly) => assembly.held(),
            State::Answered(sending) => sending.length(),
            State::Performed | State::Over => 0,
        }
    }

    /// Whether its way does not leave the host.
    pub(super) fn is_near(&self) -> bool {
        self.place.host().is_loopback()
    }

    /// Whether something of it is due sooner or later, besides that it is forgotten.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.state, State::Over)
    }
}
