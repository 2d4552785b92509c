//! The judge: checks completions against the promises of the VI Architecture. Each finding is a
//! sentence that names the broken promise.

use super::plan::{Accident, Kind, Operation, Plan, Round};
use super::side::{Side, pattern};
use crate::error::Ended;
use crate::{Descriptor, Reliability, Status};

/// The facts by which completions are judged.
pub(super) struct Judge<'a> {
    pub(super) plan: &'a Plan,
    pub(super) round: &'a Round,
    pub(super) key: u64,
    /// Whether the accident of the round has happened.
    pub(super) had_accident: bool,
}

impl Judge<'_> {
    fn is_reliable(&self) -> bool {
        self.plan.reliability.is_reliable()
    }

    fn expected(&self, side: usize, index: usize) -> Vec<u8> {
        pattern(self.key, side, index, self.round.sides[side].operations[index].length)
    }

    /// Judges a descriptor that has left the send queue.
    pub(super) fn sent(&self, sides: &mut [Side; 2], side: usize, descriptor: &Descriptor) -> Result<(), String> {
        let index = sides[side].completed;
        let operation = &self.round.sides[side].operations[index];
        let status = descriptor.status();
        if descriptor.context != index as u64 {
            return Err(format!("operation {} came back before operation {index}", descriptor.context));
        }
        sides[side].completed += 1;
        if status.is_done() {
            return self.done(&sides[side], &sides[1 - side], index, descriptor.length());
        }
        if sides[side].failed.is_some() {
            return match status {
                Status::Flushed => Ok(()),
                _ => Err(format!("operation {index} came back with {status:?} after one that had failed")),
            };
        }
        let is_refused = matches!(status, Status::ReceiverNotReady | Status::TooLong | Status::RemoteProtection);
        sides[side].failed = Some((index, is_refused));
        match (status, sides[side].ended) {
            (Status::ReceiverNotReady, Some(Ended::ReceiverNotReady)) if operation.consumes() => {}
            (Status::TooLong, Some(Ended::TooLong)) if operation.kind == Kind::Send => {}
            (Status::RemoteProtection, Some(Ended::Protection)) if operation.fault.is_some() => {}
            // The judged side refused an operation of the peer, or either side gave up the
            // connection.
            (Status::Flushed, Some(Ended::ReceiverNotReady | Ended::TooLong | Ended::Protection)) => {}
            (Status::Flushed, Some(Ended::Here | Ended::ByPeer)) => {}
            (Status::ConnectionLost, Some(Ended::Silent)) => {}
            (status, ended) => {
                return Err(format!("operation {index} came back with {status:?}; the VI ended with {ended:?}"));
            }
        }
        let peer = &sides[1 - side];
        if is_refused && self.is_reliable() && peer.taken > index {
            return Err(format!("operation {index} was refused, but operation {} was received", peer.taken - 1));
        }
        if is_refused && self.is_reliable() && self.consuming(1 - side, peer.taken, index) > 0 {
            return Err(format!("operation {index} was refused, but not all before it were received"));
        }
        Ok(())
    }

    /// Returns how many of the operations from number `from` on, and below number `before`, consume
    /// a receive of `side`.
    fn consuming(&self, side: usize, from: usize, before: usize) -> usize {
        let operations = &self.round.sides[1 - side].operations;
        operations[from.min(before)..before].iter().filter(|operation| operation.consumes()).count()
    }

    fn done(&self, own: &Side, peer: &Side, index: usize, length: u32) -> Result<(), String> {
        let operation = &self.round.sides[own.number].operations[index];
        if let Some((failed, _)) = own.failed {
            return Err(format!("operation {index} was done after operation {failed} had failed"));
        }
        if length != operation.length {
            return Err(format!("operation {index} of {} bytes was done with {length}", operation.length));
        }
        if operation.fault.is_some() && self.is_reliable() && (operation.length > 0 || is_refused_when_empty(operation))
        {
            return Err(format!("operation {index} was done, although {:?} is wrong", operation.fault));
        }
        let (Some(memory), Some(peers)) = (&own.memory, &peer.memory) else { return Ok(()) };
        if operation.kind == Kind::Read && operation.fault.is_none() {
            let is_right = memory.landing.bytes(index, length) == self.expected(own.number, index);
            return if is_right { Ok(()) } else { Err(format!("operation {index} read other bytes than expected")) };
        }
        if self.plan.reliability != Reliability::ReliableReception {
            return Ok(());
        }
        if operation.consumes() && peer.taken <= index {
            return Err(format!("operation {index} was done before it was received: reliable reception"));
        }
        let is_there = || peers.target.bytes(index, length) == self.expected(own.number, index);
        if operation.kind == Kind::Write && operation.fault.is_none() && !is_there() {
            return Err(format!("operation {index} was done before it was written: reliable reception"));
        }
        Ok(())
    }

    /// Judges a descriptor that has left the receive queue.
    pub(super) fn received(&self, sides: &mut [Side; 2], side: usize, descriptor: &Descriptor) -> Result<(), String> {
        let index = sides[side].received;
        if descriptor.context != index as u64 {
            return Err(format!("receive {} came back before receive {index}", descriptor.context));
        }
        sides[side].received += 1;
        match descriptor.status() {
            Status::Done => self.taken(sides, side, index, descriptor),
            Status::TooLong => self.too_long(sides, side, index),
            Status::Flushed if sides[side].ended.is_some() => Ok(()),
            status => {
                Err(format!("receive {index} came back with {status:?}; the VI ended with {:?}", sides[side].ended))
            }
        }
    }

    /// Returns the number of the operation whose data a completed receive holds.
    fn which(&self, sides: &[Side; 2], side: usize, descriptor: &Descriptor) -> Option<usize> {
        let (own, peer) = (&sides[side], &sides[1 - side]);
        let index = own.received - 1;
        let operations = self.round.sides[1 - side].operations[..peer.posted].iter().enumerate().skip(own.taken);
        let mut consuming = operations.filter(|(_, operation)| operation.consumes());
        let memory = own.memory.as_ref()?;
        let fits = |(number, operation): &(usize, &Operation)| {
            let area = if operation.kind == Kind::Send { &memory.inbox } else { &memory.target };
            let place = if operation.kind == Kind::Send { index } else { *number };
            operation.length == descriptor.length()
                && operation.immediate == descriptor.immediate()
                && area.bytes(place, operation.length) == self.expected(1 - side, *number)
        };
        if self.is_reliable() {
            return consuming.next().filter(fits).map(|(number, _)| number);
        }
        consuming.find(fits).map(|(number, _)| number)
    }

    fn taken(&self, sides: &mut [Side; 2], side: usize, index: usize, descriptor: &Descriptor) -> Result<(), String> {
        let Some(number) = self.which(sides, side, descriptor) else {
            let (length, immediate, after) = (descriptor.length(), descriptor.immediate(), sides[side].taken);
            return Err(format!(
                "receive {index} has {length} bytes with {immediate:x?}, which is not what comes after operation {after}: \
                 lost, doubled, out of order or damaged"
            ));
        };
        if let Some((failed, true)) = sides[1 - side].failed
            && number >= failed
        {
            return Err(format!("operation {number} was received after operation {failed} had failed"));
        }
        sides[side].taken = number + 1;
        sides[side].messages += 1;
        Ok(())
    }

    fn too_long(&self, sides: &mut [Side; 2], side: usize, index: usize) -> Result<(), String> {
        let room = self.round.sides[side].receives[index].room;
        let posted = sides[1 - side].posted;
        let operations = self.round.sides[1 - side].operations[..posted].iter().enumerate().skip(sides[side].taken);
        let mut consuming = operations.filter(|(_, operation)| operation.consumes());
        let is_longer = |operation: &Operation| operation.kind == Kind::Send && operation.length > room;
        let found = if self.is_reliable() {
            consuming.next().filter(|(_, operation)| is_longer(operation))
        } else {
            consuming.find(|(_, operation)| is_longer(operation))
        };
        let Some((number, _)) = found else {
            return Err(format!(
                "receive {index} of {room} bytes reports a message that is too long, and none was sent"
            ));
        };
        if self.is_reliable() {
            return match sides[side].ended {
                Some(Ended::TooLong) => Ok(()),
                ended => Err(format!("receive {index} was too small, and the VI ended with {ended:?}")),
            };
        }
        sides[side].taken = number + 1;
        Ok(())
    }

    /// Judges the end of a side's connection.
    pub(super) fn ended(&self, sides: &[Side; 2], side: usize, why: Ended) -> Result<(), String> {
        let (own, peer) = (&sides[side], &sides[1 - side]);
        let peers = |why: Ended| peer.ended == Some(why);
        let was_given_up = peer.is_over() || !peer.is_connected();
        let is_plausible = match why {
            Ended::Here => true,
            Ended::ByPeer => peers(Ended::Here),
            Ended::Silent => was_given_up || self.plan.may_seem_silent() || self.is_severed(),
            _ if !self.is_reliable() => false,
            // One of the two sides refused an operation of the other.
            Ended::ReceiverNotReady => self.has_no_receive(own) || (peers(why) && self.has_no_receive(peer)),
            Ended::TooLong => self.has_short_receive(own) || (peers(why) && self.has_short_receive(peer)),
            Ended::Protection => {
                let has_fault = |side: &Side| {
                    let operations = &self.round.sides[side.number].operations[..side.posted];
                    operations.iter().any(|operation| operation.fault.is_some())
                };
                has_fault(own) || has_fault(peer)
            }
            _ => false,
        };
        if is_plausible {
            Ok(())
        } else {
            Err(format!("the connection ended with {why:?}; the peer's with {:?}", peer.ended))
        }
    }

    fn is_severed(&self) -> bool {
        self.had_accident && matches!(self.round.accident, Some((_, Accident::Kill(_) | Accident::Cut)))
    }

    /// Whether all receives that were posted before the end of the connection were also taken
    /// before that end.
    fn has_no_receive(&self, side: &Side) -> bool {
        let posted = side.receives_at_end.unwrap_or(side.receives);
        // Each receive that came back, unless it was flushed, was consumed by one of the first
        // `taken` operations of the peer.
        let before = self.consuming(side.number, 0, side.taken);
        before >= posted
    }

    fn has_short_receive(&self, side: &Side) -> bool {
        let before = self.consuming(side.number, 0, side.taken);
        let next = self.round.sides[1 - side.number].operations.iter().skip(side.taken).find(|one| one.consumes());
        let receive = self.round.sides[side.number].receives.get(before);
        matches!((next, receive), (Some(next), Some(receive)) if next.length > receive.room)
    }

    /// Judges the memory at the end, when both connections are over or everything is done.
    pub(super) fn finally(&self, sides: &[Side; 2]) -> Result<(), String> {
        for side in sides {
            let (own, peer) = (&sides[side.number], &sides[1 - side.number]);
            let (Some(memory), Some(peers)) = (&own.memory, &peer.memory) else { continue };
            let areas = [
                ("source", &memory.source),
                ("landing", &memory.landing),
                ("target", &memory.target),
                ("inbox", &memory.inbox),
            ];
            if let Some((name, _)) = areas.iter().find(|(_, area)| area.is_overrun()) {
                return Err(format!(
                    "side {}: bytes outside of the stretches of the {name} area were written",
                    side.number
                ));
            }
            for (index, operation) in self.round.sides[side.number].operations.iter().enumerate() {
                let expected = self.expected(side.number, index);
                if memory.source.bytes(index, operation.length) != expected {
                    return Err(format!("side {}: the bytes to be sent of operation {index} changed", side.number));
                }
                let is_after = own.failed.is_some_and(|(failed, is_refused)| is_refused && index > failed);
                if operation.kind == Kind::Write && self.is_reliable() && is_after {
                    let bytes = peers.target.bytes(index, operation.length);
                    if bytes.iter().any(|byte| *byte != 0) {
                        return Err(format!(
                            "side {}: operation {index} was performed after one that failed",
                            side.number
                        ));
                    }
                }
                let is_there = || peers.target.bytes(index, operation.length) == expected;
                let must_be = self.is_reliable() && !own.is_over() && !peer.is_over();
                if must_be && operation.kind == Kind::Write && !is_there() {
                    return Err(format!("side {}: the bytes that operation {index} wrote are missing", side.number));
                }
            }
        }
        Ok(())
    }

    /// Whether a side whose connection goes on has no outstanding operation or message.
    pub(super) fn is_satisfied(&self, sides: &[Side; 2], side: usize) -> bool {
        let own = &sides[side];
        let work = &self.round.sides[side];
        let all = work.operations.len();
        let is_received =
            !self.is_reliable() || self.consuming(side, own.taken, self.round.sides[1 - side].operations.len()) == 0;
        own.posted == all && own.completed == all && own.receives == work.receives.len() && is_received
    }
}

/// Whether an RDMA of no bytes with this fault is refused. Such an RDMA touches no memory, so it
/// cannot be out of bounds, but its handle and its rights are checked.
fn is_refused_when_empty(operation: &Operation) -> bool {
    operation.fault != Some(super::plan::Fault::Bounds)
}
