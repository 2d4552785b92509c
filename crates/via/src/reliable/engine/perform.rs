//! Performing the operations of data packets.

use super::{Engine, Phase, READS_MAX, why};
use crate::descriptor::{Operation, Status};
use crate::error::Ended;
use crate::memory::Region;
use crate::reliable::packet::{Action, DataHeader};
use crate::spi::{Intent, Refusal, Sink};
use std::collections::VecDeque;
use std::sync::Arc;

/// The reason why an operation was not performed.
#[derive(Debug)]
pub(super) enum Fault {
    /// The peer may not perform the operation, or not now.
    Refused(Refusal),
    /// The peer broke the rules.
    Violation,
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// The operations of the peer.
#[derive(Debug, Default)]
pub(super) struct Target {
    // The number of operations begun.
    begun: u32,
    current: Option<Part>,
    /// Reads to answer, and reads whose answer is not acknowledged.
    pub(super) reads: VecDeque<Served>,
    /// The number of the first entry of `reads`, in this side's count of the peer's reads.
    pub(super) first_read: u64,
    /// The position in `reads` of the read that is being answered.
    pub(super) read: usize,
    /// The number of bytes of the answer that have been sent.
    pub(super) offset: u32,
    /// The refused operation, if any.
    pub(super) refused: Option<(u32, Refusal)>,
    /// Whether the refusal has been sent.
    pub(super) has_refused: bool,
    // Whether the peer's connection is broken, so that the peer's begun operations stay unfinished.
    is_void: bool,
}

/// An operation of which only some parts have arrived.
#[derive(Debug)]
struct Part {
    number: u32,
    received: u32,
    total: u32,
    // The target of an RDMA write; `None` for a message.
    write: Option<(Arc<Region>, u64)>,
}

/// A read of the peer that is being answered.
#[derive(Debug)]
pub(super) struct Served {
    pub(super) number: u32,
    pub(super) region: Arc<Region>,
    pub(super) at: u64,
    pub(super) total: u32,
}

impl Target {
    /// Notes that the answer to the oldest read is acknowledged.
    pub(super) fn answered(&mut self) {
        if self.reads.pop_front().is_some() {
            self.first_read += 1;
            self.read = self.read.saturating_sub(1);
        }
    }

    /// Whether all answers have been sent.
    pub(super) fn is_served(&self) -> bool {
        self.read >= self.reads.len()
    }

    /// Whether no operation of the peer is in progress: none has arrived in part, none was refused,
    /// no read waits for its answer or for the answer's acknowledgement, and the peer's connection
    /// is not broken.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.current.is_none() && !self.is_void && self.reads.is_empty() && self.refused.is_none()
    }

    /// Returns the number of the peer's next operation.
    pub(super) fn begun(&self) -> u32 {
        self.begun
    }

    /// Counts the peer's next operation, which arrived whole.
    pub(super) fn begin_next(&mut self) {
        self.begun = self.begun.wrapping_add(1);
    }

    /// Gives up an operation that has arrived in part.
    pub(super) fn abandon(&mut self, sink: &mut dyn Sink) {
        if self.current.take().is_some_and(|part| part.write.is_none()) {
            sink.abandon_message();
        }
    }
}

impl Engine {
    pub(super) fn perform(&mut self, data: &DataHeader, payload: &[u8], sink: &mut dyn Sink) -> Result<(), Fault> {
        // If the peer's connection is broken, the peer's own begun operations stay unfinished. The
        // peer's answers and refusals still count, because they belong to operations of this side.
        let is_own = data.action == Action::Refuse || (data.action == Action::Answer && self.is_awaited(data));
        if self.target.is_void && !is_own {
            return Ok(());
        }
        match data.action {
            Action::Send | Action::Write => self.part(data, payload, sink),
            Action::Read => self.read(data, sink),
            Action::Answer => self.answer(data, payload, sink),
            Action::Refuse => self.refused(data, sink),
            Action::Void => {
                self.target.is_void = true;
                Ok(())
            }
        }
    }

    /// Counts a new operation of the peer.
    fn begin(&mut self, data: &DataHeader) -> Result<(), Fault> {
        let is_next = data.operation == self.target.begun || !self.is_reliable;
        if self.target.current.is_some() || !is_next || data.total > self.max_transfer {
            return Err(Fault::Violation);
        }
        self.target.begun = data.operation.wrapping_add(1);
        Ok(())
    }

    fn part(&mut self, data: &DataHeader, payload: &[u8], sink: &mut dyn Sink) -> Result<(), Fault> {
        match data.place {
            Some(place) if data.is_last => {
                self.begin(data)?;
                sink.write_remote(place, payload)?;
            }
            _ => self.one_of_parts(data, payload, sink)?,
        }
        if !data.is_last {
            return Ok(());
        }
        if data.action == Action::Send {
            sink.end_message(data.immediate);
        } else if data.immediate.is_some() {
            sink.complete_receive(Operation::RdmaWrite, data.total, data.immediate)?;
        } else {
            return Ok(());
        }
        self.statistics.completions += 1;
        Ok(())
    }

    /// Processes a part of a message, or of an RDMA write of several parts.
    fn one_of_parts(&mut self, data: &DataHeader, payload: &[u8], sink: &mut dyn Sink) -> Result<(), Fault> {
        if data.offset == 0 {
            self.begin(data)?;
            let write = match data.place {
                None => {
                    let begun = sink.begin_message(data.total);
                    // A receive descriptor with too little room was completed.
                    self.statistics.completions += u64::from(begun == Err(Refusal::TooLong));
                    begun?;
                    None
                }
                Some(place) => Some((sink.remote(place, u64::from(data.total), Intent::Write)?, place.offset)),
            };
            self.target.current = Some(Part { number: data.operation, received: 0, total: data.total, write });
        }
        let part = self.target.current.as_mut().ok_or(Fault::Violation)?;
        let is_write = data.action == Action::Write;
        if (part.number, part.received, part.total, part.write.is_some())
            != (data.operation, data.offset, data.total, is_write)
        {
            return Err(Fault::Violation);
        }
        match &part.write {
            None => sink.fill_message(data.offset, payload),
            Some((region, at)) => {
                let is_allowed = region.is_registered();
                let at = at.checked_add(u64::from(data.offset)).filter(|_| is_allowed);
                at.and_then(|at| region.memory().write(at, payload)).ok_or(Refusal::Protection)?;
            }
        }
        // Neither the cast nor the sum overflows: both values are lengths within the same message.
        part.received += payload.len() as u32;
        if data.is_last {
            self.target.current = None;
        }
        Ok(())
    }

    /// Processes the peer's request for an RDMA read.
    fn read(&mut self, data: &DataHeader, sink: &mut dyn Sink) -> Result<(), Fault> {
        self.begin(data)?;
        if self.target.reads.len() >= READS_MAX || !self.is_reliable {
            return Err(Fault::Violation);
        }
        let place = data.place.ok_or(Fault::Violation)?;
        let region = sink.remote(place, u64::from(data.total), Intent::Read)?;
        let served = Served { number: data.operation, region, at: place.offset, total: data.total };
        self.target.reads.push_back(served);
        Ok(())
    }

    /// Whether a part of an answer is the next part that this side expects.
    fn is_awaited(&self, data: &DataHeader) -> bool {
        self.own.reads.front().is_some_and(|index| (data.operation, data.offset) == (*index as u32, self.own.read))
    }

    /// Processes a part of the answer to an RDMA read of this side.
    fn answer(&mut self, data: &DataHeader, payload: &[u8], sink: &mut dyn Sink) -> Result<(), Fault> {
        let index = *self.own.reads.front().filter(|_| self.is_awaited(data)).ok_or(Fault::Violation)?;
        let descriptor = sink.sending(index).filter(|descriptor| descriptor.total() == u64::from(data.total));
        let placed = descriptor.ok_or(Fault::Violation)?.scatter(u64::from(data.offset), payload);
        placed.ok_or(Fault::Violation)?;
        self.own.read += payload.len() as u32;
        if data.is_last {
            self.own.reads.pop_front();
            (self.own.read, self.own.reads_done) = (0, index + 1);
            // An answered read has been performed, whether or not it was acknowledged.
            self.complete_finished(sink);
        }
        Ok(())
    }

    /// Processes the peer's refusal of an operation. The operations before the refused one were
    /// performed.
    fn refused(&mut self, data: &DataHeader, sink: &mut dyn Sink) -> Result<(), Fault> {
        let refusal = data.refusal().ok_or(Fault::Violation)?;
        let index = sink.completed() + u64::from(data.operation.wrapping_sub(sink.completed() as u32));
        let begun = self.own.next + u64::from(self.own.offset > 0);
        if index >= begun {
            return Err(Fault::Violation);
        }
        self.own.acknowledged = self.own.acknowledged.max(index);
        self.complete_finished(sink);
        if sink.completed() != index {
            return Err(Fault::Violation);
        }
        self.phase = Phase::Over(None);
        self.statistics.completions += 1;
        let status: Status = refusal.status();
        let ended: Ended = why(refusal);
        sink.broken(status, ended);
        Ok(())
    }
}
