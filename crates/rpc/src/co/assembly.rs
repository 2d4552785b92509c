//! Reassembly of messages from their fragments, by call.

use super::pdu::{Header, flags};
use super::{AssociationError, CallSecurity, Input};
use crate::octets::ByteOrder;
use std::ops::Range;

/// The properties that all fragments of a message share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) order: ByteOrder,
    pub(super) security: Option<CallSecurity>,
}

/// The place of a complete message's stub data.
pub(super) enum Stub {
    /// In the message's only fragment.
    InPlace(Range<usize>),
    /// In the reassembly buffer: the message is the one completed last.
    Assembled,
}

impl Stub {
    pub(super) fn bytes<'a, H>(&self, input: &'a Input, assemblies: &'a Assemblies<H>) -> &'a [u8] {
        match self {
            Self::InPlace(range) => input.bytes(range.clone()),
            Self::Assembled => &assemblies.whole,
        }
    }

    /// Drops the bytes of the stub data behind its first `length`.
    pub(super) fn truncate<H>(&mut self, assemblies: &mut Assemblies<H>, length: usize) {
        match self {
            Self::InPlace(range) => range.end = range.end.min(range.start + length),
            Self::Assembled => assemblies.whole.truncate(length),
        }
    }
}

#[derive(Debug)]
struct Assembly<H> {
    call_id: u32,
    origin: Origin,
    head: H,
    stub: Vec<u8>,
}

/// The incomplete messages. `H` is the head of a message, from its first fragment.
#[derive(Debug)]
pub(super) struct Assemblies<H> {
    partial: Vec<Assembly<H>>,
    // The bytes held by all messages together.
    held: usize,
    held_max: usize,
    count_max: usize,
    /// The stub data of the message completed last.
    whole: Vec<u8>,
}

impl<H> Assemblies<H> {
    pub(super) fn new(limits: &super::Limits) -> Self {
        let (held_max, count_max) = (limits.message_max, limits.calls_max);
        Self { partial: Vec::new(), held: 0, held_max, count_max, whole: Vec::new() }
    }

    /// Adds a fragment that is not a whole message. With the last fragment, returns the message's
    /// origin and head; [`Stub::Assembled`] then refers to its stub data.
    pub(super) fn add(
        &mut self,
        header: &Header,
        origin: Origin,
        head: H,
        stub: &[u8],
    ) -> Result<Option<(Origin, H)>, AssociationError> {
        let call_id = header.call_id;
        let at = self.partial.iter().position(|partial| partial.call_id == call_id);
        if header.has(flags::FIRST) != at.is_none() {
            return Err(AssociationError::Fragment { call_id });
        }
        if self.held + stub.len() > self.held_max {
            return Err(AssociationError::TooLong { limit: self.held_max });
        }
        let at = match at {
            Some(at) => at,
            None if self.partial.len() == self.count_max => {
                return Err(AssociationError::TooManyCalls { limit: self.count_max });
            }
            None => {
                // The previous message's buffer is reused: it has grown to the length that such
                // messages need.
                let space = std::mem::take(&mut self.whole);
                self.partial.push(Assembly { call_id, origin, head, stub: emptied(space) });
                self.partial.len() - 1
            }
        };
        let assembly = &mut self.partial[at];
        if assembly.origin != origin {
            return Err(AssociationError::Fragment { call_id });
        }
        assembly.stub.extend_from_slice(stub);
        self.held += stub.len();
        if !header.has(flags::LAST) {
            return Ok(None);
        }
        let Assembly { origin, head, stub, .. } = self.partial.swap_remove(at);
        self.held -= stub.len();
        self.whole = stub;
        Ok(Some((origin, head)))
    }

    /// Drops an incomplete message.
    pub(super) fn remove(&mut self, call_id: u32) {
        if let Some(at) = self.partial.iter().position(|partial| partial.call_id == call_id) {
            self.held -= self.partial.swap_remove(at).stub.len();
        }
    }

    /// Returns an incomplete message of another call.
    pub(super) fn other(&self, call_id: u32) -> Option<(u32, &H)> {
        let other = self.partial.iter().find(|partial| partial.call_id != call_id)?;
        Some((other.call_id, &other.head))
    }

    /// Whether a call's message is incomplete.
    pub(super) fn has(&self, call_id: u32) -> bool {
        self.partial.iter().any(|partial| partial.call_id == call_id)
    }
}

/// The greatest buffer that is kept for the next message, in bytes.
const KEPT_MAX: usize = 1 << 20;

fn emptied(mut space: Vec<u8>) -> Vec<u8> {
    space.clear();
    space.shrink_to(KEPT_MAX);
    space
}
