//! Mutations: rules broken on purpose, to show that the judge notices.

use crate::descriptor::{Descriptor, Operation, RemoteAddress, Status};
use crate::error::Ended;
use crate::memory::Region;
use crate::reliable::packet::{self, Body};
use crate::spi::{Intent, Port, Refusal, Sink, Sleep};
use crate::wrap::Random;
use rustix::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

/// A deliberate fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// The network changes payloads, and corrects the checksums.
    Payload,
    /// The network changes immediate data, and corrects the checksums.
    Immediate,
    /// The network acknowledges packets that have not arrived, and corrects the checksums.
    Acknowledgement,
    /// A port loses messages after it has acknowledged them.
    Loss,
    /// A port delivers messages twice.
    Repetition,
    /// A port completes sends before it sends them.
    Haste,
    /// The network passes signs of life, but no data.
    Famine,
    /// A port reports a flushed send as done.
    Lie,
    /// A port ends connections for no reason.
    Whim,
}

impl Mutation {
    /// All mutations.
    pub const ALL: [Self; 9] = [
        Self::Payload,
        Self::Immediate,
        Self::Acknowledgement,
        Self::Loss,
        Self::Repetition,
        Self::Haste,
        Self::Famine,
        Self::Lie,
        Self::Whim,
    ];

    /// Whether the network breaks the rule, and not a port.
    pub(super) fn is_of_network(self) -> bool {
        matches!(self, Self::Payload | Self::Immediate | Self::Acknowledgement | Self::Famine)
    }

    /// Returns a forged version of a datagram, or `None` to leave the datagram as it is. `Famine`
    /// forges every data packet; the other mutations forge some packets at random.
    pub(super) fn forge(self, random: &mut Random, datagram: &[u8]) -> Option<Vec<u8>> {
        let (mut header, mut body) = packet::parse(datagram).ok()?;
        let mut forged_payload;
        if self == Self::Famine {
            return matches!(body, Body::Data(..)).then(|| vec![0]);
        }
        if random.below(4) > 0 {
            return None;
        }
        match (self, &mut body) {
            (Self::Payload, Body::Data(_, payload)) if !payload.is_empty() => {
                forged_payload = payload.to_vec();
                let at = random.below(forged_payload.len() as u64) as usize;
                forged_payload[at] ^= 0x10;
                *payload = &forged_payload;
            }
            (Self::Immediate, Body::Data(data, _)) if data.refusal().is_none() => {
                data.immediate = Some(data.immediate? ^ 1);
            }
            (Self::Acknowledgement, Body::Ack { .. } | Body::Data(..)) => header.ack = header.ack.wrapping_add(1),
            _ => return None,
        }
        let mut bytes = vec![0; datagram.len() + 64];
        let length = packet::write(&mut bytes, &header, &body).ok()?;
        bytes.truncate(length);
        Some(bytes)
    }
}

/// A port that breaks the rules.
#[derive(Debug)]
pub(super) struct MutantPort {
    pub(super) inner: Box<dyn Port>,
    pub(super) mutation: Mutation,
    pub(super) random: Random,
}

impl MutantPort {
    fn call(&mut self, sink: &mut dyn Sink, then: impl FnOnce(&mut dyn Port, &mut dyn Sink)) {
        let Self { inner, mutation, random } = self;
        if *mutation == Mutation::Haste && sink.completed() < sink.posted() && random.below(4) == 0 {
            let length = sink.sending(sink.completed()).map_or(0, |descriptor| descriptor.total() as u32);
            sink.complete(Status::Done, length);
        }
        if *mutation == Mutation::Whim && random.below(64) == 0 {
            sink.broken(Status::ConnectionLost, Ended::Silent);
        }
        then(&mut **inner, &mut MutantSink { inner: sink, mutation: *mutation, random, length: 0 });
    }
}

impl Port for MutantPort {
    fn receive_posted(&mut self, sink: &mut dyn Sink) {
        self.call(sink, |port, sink| port.receive_posted(sink));
    }

    fn progress(&mut self, now: Instant, sink: &mut dyn Sink) {
        self.call(sink, |port, sink| port.progress(now, sink));
    }

    fn prepare_sleep(&mut self, now: Instant) -> Option<Sleep> {
        self.inner.prepare_sleep(now)
    }

    fn readiness(&self) -> Option<Arc<OwnedFd>> {
        self.inner.readiness()
    }

    fn disconnect(&mut self) {
        self.inner.disconnect();
    }

    fn peer(&self) -> String {
        self.inner.peer()
    }
}

struct MutantSink<'a> {
    inner: &'a mut dyn Sink,
    mutation: Mutation,
    random: &'a mut Random,
    // The length of the message that has begun.
    length: u32,
}

impl Sink for MutantSink<'_> {
    fn sending(&self, index: u64) -> Option<&Descriptor> {
        self.inner.sending(index)
    }

    fn posted(&self) -> u64 {
        self.inner.posted()
    }

    fn completed(&self) -> u64 {
        self.inner.completed()
    }

    fn complete(&mut self, status: Status, transferred: u32) {
        self.inner.complete(status, transferred);
    }

    fn receives(&self) -> usize {
        self.inner.receives()
    }

    fn receiving(&self, index: usize) -> Option<&Descriptor> {
        self.inner.receiving(index)
    }

    fn begin_message(&mut self, length: u32) -> Result<(), Refusal> {
        self.length = length;
        self.inner.begin_message(length)
    }

    fn fill_message(&mut self, offset: u32, bytes: &[u8]) {
        self.inner.fill_message(offset, bytes);
    }

    fn end_message(&mut self, immediate: Option<u32>) {
        if self.mutation == Mutation::Loss && self.random.below(4) == 0 {
            return self.inner.abandon_message();
        }
        self.inner.end_message(immediate);
        if self.mutation == Mutation::Repetition && self.inner.begin_message(self.length).is_ok() {
            self.inner.end_message(immediate);
        }
    }

    fn abandon_message(&mut self) {
        self.inner.abandon_message();
    }

    fn complete_receive(&mut self, operation: Operation, length: u32, immediate: Option<u32>) -> Result<(), Refusal> {
        self.inner.complete_receive(operation, length, immediate)
    }

    fn remote(&self, place: RemoteAddress, length: u64, intent: Intent) -> Result<Arc<Region>, Refusal> {
        self.inner.remote(place, length, intent)
    }

    fn broken(&mut self, status: Status, why: Ended) {
        let lies = self.mutation == Mutation::Lie && self.inner.completed() + 1 < self.inner.posted();
        let status = if lies { Status::Done } else { status };
        self.inner.broken(status, why);
    }
}
