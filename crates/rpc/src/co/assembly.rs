//! Reassembly of messages from their fragments, by call.

use super::pdu::{Header, flags};
use super::{AssociationError, Budget, CallSecurity, Input, Reservation};
use crate::octets::{ByteOrder, shrink};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

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

    /// Cuts the stub data to its first `length` bytes.
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
    /// The stub data's bytes of the budget.
    memory: Option<Reservation>,
    began: Instant,
    /// The time of the last fragment.
    last: Instant,
}

/// The slowest accepted pace of a message, in bytes per second.
const PACE: usize = 16 << 10;

impl<H> Assembly<H> {
    /// Returns the time from which on the message counts as slow; `None` for a time that never
    /// comes.
    fn due(&self, silence_max: Duration) -> Option<Instant> {
        let whole = silence_max.saturating_add(Duration::from_secs((self.stub.len() / PACE) as u64));
        let last = self.last.checked_add(silence_max)?;
        Some(self.began.checked_add(whole).map_or(last, |whole| whole.min(last)))
    }
}

/// The incomplete messages. `H` is the head of a message, from its first fragment.
#[derive(Debug)]
pub(super) struct Assemblies<H> {
    partial: Vec<Assembly<H>>,
    // The bytes held by all incomplete messages together.
    held: usize,
    held_max: usize,
    count_max: usize,
    silence_max: Duration,
    /// The budget from which the bytes of messages are taken.
    budget: Option<Arc<dyn Budget>>,
    /// The stub data of the message completed last.
    whole: Vec<u8>,
    /// The bytes of the budget for that message, unless the message's owner has taken them over.
    memory: Option<Reservation>,
}

impl<H> Assemblies<H> {
    pub(super) fn new(limits: &super::Limits, budget: Option<Arc<dyn Budget>>) -> Self {
        let super::Limits { message_max: held_max, calls_max: count_max, silence_max, .. } = *limits;
        let (partial, whole, memory) = Default::default();
        Self { partial, held: 0, held_max, count_max, silence_max, budget, whole, memory }
    }

    /// Discards the message completed last, and shrinks its buffer.
    pub(super) fn end_last(&mut self) {
        shrink(&mut self.whole);
        self.memory = None;
    }

    /// Returns the bytes of the budget for the message completed last, which is copied: they count
    /// until the caller drops them.
    pub(super) fn take_memory(&mut self) -> Option<Reservation> {
        self.memory.take()
    }

    /// Returns the time from which on an incomplete message counts as slow, if there is one.
    pub(super) fn due(&self) -> Option<Instant> {
        self.partial.iter().filter_map(|partial| partial.due(self.silence_max)).min()
    }

    /// Adds a fragment that is not a whole message. With the last fragment, returns the message's
    /// origin and head, and [`Stub::Assembled`] refers to the message's stub data. Otherwise
    /// returns `None`.
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
        if at.is_some_and(|at| self.partial[at].origin != origin) {
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
                self.end_last();
                let (stub, began) = (std::mem::take(&mut self.whole), Instant::now());
                let memory = self.budget.as_ref().and_then(|budget| Reservation::new(budget, 0));
                self.partial.push(Assembly { call_id, origin, head, stub, memory, began, last: began });
                self.partial.len() - 1
            }
        };
        let assembly = &mut self.partial[at];
        if assembly.memory.as_mut().is_some_and(|memory| !memory.grow(stub.len())) {
            return Err(AssociationError::NoMemory);
        }
        assembly.stub.extend_from_slice(stub);
        self.held += stub.len();
        assembly.last = Instant::now();
        if !header.has(flags::LAST) {
            return Ok(None);
        }
        let Assembly { origin, head, stub, memory, .. } = self.partial.swap_remove(at);
        self.held -= stub.len();
        (self.whole, self.memory) = (stub, memory);
        Ok(Some((origin, head)))
    }

    /// Drops an incomplete message.
    pub(super) fn remove(&mut self, call_id: u32) {
        if let Some(at) = self.partial.iter().position(|partial| partial.call_id == call_id) {
            self.held -= self.partial.swap_remove(at).stub.len();
        }
    }

    /// Returns the identifier and the head of an incomplete message of another call, if there is
    /// one.
    pub(super) fn other(&self, call_id: u32) -> Option<(u32, &H)> {
        let other = self.partial.iter().find(|partial| partial.call_id != call_id)?;
        Some((other.call_id, &other.head))
    }

    /// Whether a call's message is incomplete.
    pub(super) fn has(&self, call_id: u32) -> bool {
        self.partial.iter().any(|partial| partial.call_id == call_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_message_may_take_longer() {
        let began = Instant::now();
        let origin = Origin { order: ByteOrder::Little, security: None };
        let due = |length, last| {
            let last = began + Duration::from_secs(last);
            let assembly = Assembly { call_id: 1, origin, head: (), stub: vec![0; length], memory: None, began, last };
            (assembly.due(Duration::from_secs(30)).unwrap() - began).as_secs()
        };
        assert_eq!((due(100, 0), due(100, 30)), (30, 30));
        assert_eq!((due(10 * PACE, 10), due(10 * PACE, 30)), (40, 40));
        // No fragment has arrived for half a minute.
        assert_eq!(due(10 * PACE, 5), 35);
    }
}
