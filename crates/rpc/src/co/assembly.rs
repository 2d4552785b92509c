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
    /// In [`Assemblies`], which keep the stub data of the message that was completed last.
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
    /// The reservation of the stub data's bytes in the budget.
    memory: Option<Reservation>,
    began: Instant,
    /// The time of the last fragment.
    last: Instant,
}

/// The number of bytes that extend the time for a whole message by a second: see
/// [`Limits::silence_max`](super::Limits::silence_max).
const PACE: usize = 16 << 10;

impl<H> Assembly<H> {
    /// Returns the time from which on the message counts as slow; `None` if an `Instant` cannot
    /// represent the time.
    fn due(&self, silence_max: Duration) -> Option<Instant> {
        let whole = silence_max.saturating_add(Duration::from_secs((self.stub.len() / PACE) as u64));
        let last = self.last.checked_add(silence_max)?;
        Some(self.began.checked_add(whole).map_or(last, |whole| whole.min(last)))
    }
}

/// The result of adding a fragment.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Added<H> {
    /// The message is incomplete, or was refused before.
    Incomplete,
    /// The message is complete, and [`Stub::Assembled`] refers to its stub data.
    Whole(Origin, H),
    /// The budget has no room for the fragment, and the message is dropped. Its further fragments
    /// will be dropped, too.
    Refused(H),
}

/// The incomplete messages. `H` is the head of a message, from its first fragment.
#[derive(Debug)]
pub(super) struct Assemblies<H> {
    partial: Vec<Assembly<H>>,
    /// The calls of refused messages whose last fragment has not arrived.
    refused: Vec<u32>,
    // The number of bytes that all incomplete messages together hold.
    held: usize,
    held_max: usize,
    count_max: usize,
    silence_max: Duration,
    /// The budget from which the bytes of incomplete messages are reserved.
    budget: Option<Arc<dyn Budget>>,
    /// The stub data of the message completed last.
    whole: Vec<u8>,
    /// The reservation of that message's bytes in the budget, unless [`Assemblies::take_memory`]
    /// has handed the reservation over.
    memory: Option<Reservation>,
}

impl<H> Assemblies<H> {
    pub(super) fn new(limits: &super::Limits, budget: Option<Arc<dyn Budget>>) -> Self {
        let super::Limits { message_max: held_max, calls_max: count_max, silence_max, .. } = *limits;
        let (partial, refused, whole, memory) = Default::default();
        Self { partial, refused, held: 0, held_max, count_max, silence_max, budget, whole, memory }
    }

    /// Discards the message completed last, and shrinks its buffer.
    pub(super) fn end_last(&mut self) {
        shrink(&mut self.whole);
        self.memory = None;
    }

    /// Returns the reservation for the message completed last, which then belongs to the caller.
    /// For a caller that has copied the message.
    pub(super) fn take_memory(&mut self) -> Option<Reservation> {
        self.memory.take()
    }

    /// Returns the time from which on an incomplete message counts as slow, if there is one.
    pub(super) fn due(&self) -> Option<Instant> {
        self.partial.iter().filter_map(|partial| partial.due(self.silence_max)).min()
    }

    /// Adds a fragment that is not a whole message.
    pub(super) fn add(
        &mut self,
        header: &Header,
        origin: Origin,
        head: H,
        stub: &[u8],
    ) -> Result<Added<H>, AssociationError> {
        let call_id = header.call_id;
        if self.is_refused(header) {
            return Ok(Added::Incomplete);
        }
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
                // The new message gets the buffer of the message completed last, which probably has
                // the necessary length already.
                self.end_last();
                let (stub, began) = (std::mem::take(&mut self.whole), Instant::now());
                let memory = self.budget.as_ref().and_then(|budget| Reservation::new(budget, 0));
                self.partial.push(Assembly { call_id, origin, head, stub, memory, began, last: began });
                self.partial.len() - 1
            }
        };
        let assembly = &mut self.partial[at];
        if assembly.memory.as_mut().is_some_and(|memory| !memory.grow(stub.len())) {
            return Ok(Added::Refused(self.refuse(at, header)));
        }
        assembly.stub.extend_from_slice(stub);
        self.held += stub.len();
        assembly.last = Instant::now();
        if !header.has(flags::LAST) {
            return Ok(Added::Incomplete);
        }
        let Assembly { origin, head, stub, memory, .. } = self.partial.swap_remove(at);
        self.held -= stub.len();
        (self.whole, self.memory) = (stub, memory);
        Ok(Added::Whole(origin, head))
    }

    /// Whether a fragment belongs to a refused message. A client may give up a refused call before
    /// the last fragment. A later first fragment with the same call identifier begins a new call.
    fn is_refused(&mut self, header: &Header) -> bool {
        let Some(at) = self.refused.iter().position(|refused| *refused == header.call_id) else { return false };
        let begins = header.has(flags::FIRST);
        if begins || header.has(flags::LAST) {
            self.refused.remove(at);
        }
        !begins
    }

    /// Drops an incomplete message, because there is no memory for its fragment. Returns the
    /// message's head.
    fn refuse(&mut self, at: usize, header: &Header) -> H {
        let Assembly { call_id, head, stub, .. } = self.partial.swap_remove(at);
        self.held -= stub.len();
        if !header.has(flags::LAST) {
            // The list is full. The client has probably given up the oldest refused call, so this
            // call is forgotten.
            if self.refused.len() == self.count_max {
                self.refused.remove(0);
            }
            self.refused.push(call_id);
        }
        head
    }

    /// Drops an incomplete message whose further fragments will not arrive.
    pub(super) fn remove(&mut self, call_id: u32) {
        self.refused.retain(|refused| *refused != call_id);
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
    use crate::co::pdu::PduType;

    /// A budget without bytes.
    #[derive(Debug)]
    struct Nothing;

    impl Budget for Nothing {
        fn take(&self, bytes: usize) -> bool {
            bytes == 0
        }

        fn give_back(&self, _: usize) {}
    }

    #[test]
    fn the_fragments_of_refused_messages_are_dropped_up_to_the_last() {
        let limits = crate::co::Limits { calls_max: 2, ..crate::co::Limits::default() };
        let mut assemblies = Assemblies::new(&limits, Some(Arc::new(Nothing)));
        let origin = Origin { order: ByteOrder::Little, security: None };
        let mut add = |call_id, flags| assemblies.add(&Header::new(PduType::REQUEST, flags, call_id), origin, (), &[1]);
        let fragment = |call_id| Err(AssociationError::Fragment { call_id });
        assert_eq!(add(1, flags::FIRST), Ok(Added::Refused(())));
        assert_eq!((add(1, 0), add(1, flags::LAST)), (Ok(Added::Incomplete), Ok(Added::Incomplete)));
        assert_eq!(add(1, 0), fragment(1));
        // The client gives up a call, and uses its number again.
        assert_eq!((add(2, flags::FIRST), add(2, flags::FIRST)), (Ok(Added::Refused(())), Ok(Added::Refused(()))));
        assert_eq!(add(2, 0), Ok(Added::Incomplete));
        // The oldest refused calls are forgotten.
        assert_eq!((add(3, flags::FIRST), add(4, flags::FIRST)), (Ok(Added::Refused(())), Ok(Added::Refused(()))));
        assert_eq!((add(2, 0), add(3, 0), add(4, 0)), (fragment(2), Ok(Added::Incomplete), Ok(Added::Incomplete)));
        assemblies.remove(4);
        assert_eq!((assemblies.refused.as_slice(), assemblies.held), (&[3][..], 0));
    }

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
