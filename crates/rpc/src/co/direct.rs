//! Calls whose stub data the caller marshals: an association over a stream with one interface, in
//! NDR, one call at a time.

use super::pdu::{ACCEPTED, Context};
use super::{AssociationError, ClientAssociation, ClientEvent, ClientOptions, Limits, OutgoingCall};
use crate::octets::ByteOrder;
use crate::status::Status;
use crate::uuid::{NDR, SyntaxId, Uuid};
use obvia_via::stream::Stream;
use obvia_via::{Deadline, Error as ViError};
use std::fmt;
use std::sync::Arc;

/// The longest accepted response, in bytes.
const ANSWER_MAX: usize = 1 << 20;
/// The identifier of the only presentation context.
const CONTEXT: u16 = 0;

/// The reason why a call has no results.
#[derive(Debug)]
#[non_exhaustive]
pub enum DirectError {
    /// The connection failed, or the deadline passed.
    Connection(ViError),
    /// The peer broke the protocol or refused this client.
    Association(AssociationError),
    /// The server does not support the interface in NDR.
    NoInterface(SyntaxId),
    /// The server answered with a fault.
    Fault(Status),
}

impl fmt::Display for DirectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connection(error) => error.fmt(f),
            Self::Association(error) => error.fmt(f),
            Self::NoInterface(interface) => write!(f, "the server does not have interface {}", interface.uuid),
            Self::Fault(status) => write!(f, "the server answered with a fault: {status}"),
        }
    }
}

impl std::error::Error for DirectError {}

impl From<ViError> for DirectError {
    fn from(error: ViError) -> Self {
        Self::Connection(error)
    }
}

impl From<AssociationError> for DirectError {
    fn from(error: AssociationError) -> Self {
        Self::Association(error)
    }
}

/// An association with one interface.
#[derive(Debug)]
pub struct DirectCalls {
    stream: Arc<Stream>,
    association: ClientAssociation,
}

impl DirectCalls {
    /// Binds to an interface over a new connection.
    ///
    /// # Errors
    ///
    /// [`DirectError::NoInterface`] if the server does not support the interface in NDR; otherwise
    /// the reason why the association failed.
    pub fn bind(stream: Arc<Stream>, interface: SyntaxId, deadline: Deadline) -> Result<Self, DirectError> {
        let deadline = deadline.start();
        let limits = Limits { message_max: ANSWER_MAX, calls_max: 1, ..Limits::default() };
        let mut calls = Self { stream, association: ClientAssociation::new(ClientOptions { limits }) };
        let number = calls.association.bind(vec![Context { id: CONTEXT, interface, transfers: vec![NDR] }], None)?;
        let is_accepted = calls.next(deadline, |event| match event {
            ClientEvent::Bound(id, outcomes) if id == number => {
                Some(Ok(outcomes.first().is_some_and(|outcome| outcome.result == ACCEPTED)))
            }
            ClientEvent::Fault(fault) if fault.id == number => Some(Err(DirectError::Fault(fault.status))),
            _ => None,
        })?;
        if is_accepted { Ok(calls) } else { Err(DirectError::NoInterface(interface)) }
    }

    /// Calls a method with arguments in NDR little endian. Returns the results in NDR, and their
    /// byte order.
    ///
    /// # Errors
    ///
    /// [`DirectError::Fault`]; otherwise the reason why the association has failed.
    pub fn call(&mut self, call: (u16, Vec<u8>), deadline: Deadline) -> Result<(ByteOrder, Vec<u8>), DirectError> {
        self.call_of(None, call, deadline)
    }

    /// Calls a method of the object with the UUID `object`.
    ///
    /// # Errors
    ///
    /// As for [`Self::call`].
    pub fn call_object(
        &mut self,
        object: Uuid,
        call: (u16, Vec<u8>),
        deadline: Deadline,
    ) -> Result<(ByteOrder, Vec<u8>), DirectError> {
        self.call_of(Some(object), call, deadline)
    }

    fn call_of(
        &mut self,
        object: Option<Uuid>,
        (opnum, stub): (u16, Vec<u8>),
        deadline: Deadline,
    ) -> Result<(ByteOrder, Vec<u8>), DirectError> {
        let deadline = deadline.start();
        let call = OutgoingCall { context_id: CONTEXT, opnum, object, is_maybe: false, security: None, stub: &stub };
        let number = self.association.call(&call)?;
        self.next(deadline, |event| match event {
            ClientEvent::Response(response) if response.id == number => {
                Some(Ok((response.order, response.stub.to_vec())))
            }
            ClientEvent::Fault(fault) if fault.id == number => Some(Err(DirectError::Fault(fault.status))),
            _ => None,
        })
    }

    /// Returns the connection. The caller can share it, for example to wait for its end.
    pub fn stream(&self) -> &Arc<Stream> {
        &self.stream
    }

    /// Waits for an event that `answer` accepts, and returns the result of `answer`.
    fn next<T>(
        &mut self,
        deadline: Deadline,
        mut answer: impl FnMut(ClientEvent<'_>) -> Option<Result<T, DirectError>>,
    ) -> Result<T, DirectError> {
        let Self { stream, association } = self;
        loop {
            // Interpreting the input may produce output as well: a bind may take several exchanges.
            if !association.output().is_empty() {
                stream.send(association.output(), deadline)?;
                association.output().clear();
            }
            match association.poll()? {
                Some(event) => {
                    if let Some(answer) = answer(event) {
                        return answer;
                    }
                }
                // The deadline is checked here as well, because a peer may endlessly send units
                // that `answer` does not accept.
                None if deadline.is_over() => return Err(ViError::TimedOut.into()),
                None => {
                    let count = stream.receive(association.input.room(), deadline)?;
                    association.input.filled(count);
                }
            }
        }
    }
}
