//! A provider whose connections are recorded.

use super::{EventKind, Trace};
use crate::attributes::Attributes;
use crate::descriptor::{Descriptor, Operation, RemoteAddress, Status};
use crate::error::Ended;
use crate::memory::{MemoryHandle, Region};
use crate::reliable::Guard;
use crate::spi::{Incoming, Intent, Listening, Offer, Port, Provider, Refusal, Revocation, Sink, Sleep};
use crate::{Deadline, Error, Memory};
use rustix::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

/// A provider whose connections, and all their events, are recorded in a trace.
#[derive(Debug)]
pub struct TracedProvider {
    inner: Box<dyn Provider>,
    note: Note,
}

/// A trace, and the subject of the events to record.
#[derive(Clone, Debug)]
struct Note {
    trace: Trace,
    who: Arc<str>,
}

impl Note {
    fn note(&self, what: EventKind) {
        self.trace.note(Arc::clone(&self.who), what);
    }

    fn named(&self, who: String) -> Self {
        Self { trace: self.trace.clone(), who: who.into() }
    }

    /// Records a request for a connection, and its outcome.
    fn asks(
        &self,
        address: &str,
        ask: impl FnOnce() -> Result<(Box<dyn Port>, Offer), Error>,
    ) -> Result<(Box<dyn Port>, Offer), Error> {
        self.note(EventKind::Asks(address.to_owned()));
        let (port, offer) = match ask() {
            Ok((port, offer)) => (Ok(port), Some(offer)),
            Err(error) => (Err(error), None),
        };
        let port = self.port(port)?;
        // An offer exists whenever a port does.
        offer.map(|offer| (port, offer)).ok_or(Error::TimedOut)
    }

    /// Records whether a connection was made, and wraps its port.
    fn port(&self, made: Result<Box<dyn Port>, Error>) -> Result<Box<dyn Port>, Error> {
        match made {
            Ok(inner) => {
                let note = self.named(format!("port to {}", inner.peer()));
                note.note(EventKind::Connected);
                Ok(Box::new(TracedPort { inner, note, seen: 0 }))
            }
            Err(error) => {
                self.note(EventKind::NotConnected(error.to_string()));
                Err(error)
            }
        }
    }
}

impl TracedProvider {
    /// Records the events of a provider.
    pub fn new(inner: Box<dyn Provider>, trace: Trace) -> Self {
        let who = inner.attributes().provider.into();
        Self { inner, note: Note { trace, who } }
    }
}

impl Provider for TracedProvider {
    fn attributes(&self) -> &Attributes {
        self.inner.attributes()
    }

    fn listen(&self, discriminator: &str) -> Result<Box<dyn Listening>, Error> {
        let inner = self.inner.listen(discriminator)?;
        self.note.note(EventKind::Listens(inner.address()));
        Ok(Box::new(TracedListening { inner, note: self.note.clone() }))
    }

    fn connect(&self, address: &str, own: &Offer, deadline: Deadline) -> Result<(Box<dyn Port>, Offer), Error> {
        self.note.asks(address, || self.inner.connect(address, own, deadline))
    }

    fn connect_tagged(
        &self,
        tag: u64,
        address: &str,
        own: &Offer,
        deadline: Deadline,
    ) -> Result<(Box<dyn Port>, Offer), Error> {
        self.note.asks(address, || self.inner.connect_tagged(tag, address, own, deadline))
    }

    fn memory(&self, length: usize) -> Result<Memory, Error> {
        self.inner.memory(length)
    }

    fn register(&self, region: &Region) -> Result<Option<MemoryHandle>, Error> {
        self.inner.register(region)
    }

    fn deregister(&self, region: &Arc<Region>) {
        self.inner.deregister(region);
    }

    fn needs_attendance(&self) -> bool {
        self.inner.needs_attendance()
    }
}

#[derive(Debug)]
struct TracedListening {
    inner: Box<dyn Listening>,
    note: Note,
}

impl Listening for TracedListening {
    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Incoming>, Error> {
        let inner = self.inner.accept(deadline)?;
        self.note.note(EventKind::IsAsked(inner.peer()));
        Ok(Box::new(TracedIncoming { inner, note: self.note.clone() }))
    }

    fn address(&self) -> String {
        self.inner.address()
    }
}

#[derive(Debug)]
struct TracedIncoming {
    inner: Box<dyn Incoming>,
    note: Note,
}

impl Incoming for TracedIncoming {
    fn offer(&self) -> &Offer {
        self.inner.offer()
    }

    fn peer(&self) -> String {
        self.inner.peer()
    }

    fn accept(self: Box<Self>, own: &Offer, deadline: Deadline) -> Result<Box<dyn Port>, Error> {
        self.note.port(self.inner.accept(own, deadline))
    }

    fn accept_tagged(self: Box<Self>, tag: u64, own: &Offer, deadline: Deadline) -> Result<Box<dyn Port>, Error> {
        self.note.port(self.inner.accept_tagged(tag, own, deadline))
    }

    fn revocation(&self) -> Option<Arc<Revocation>> {
        self.inner.revocation()
    }

    fn reject(self: Box<Self>, why: &str) {
        self.note.note(EventKind::NotConnected(why.to_owned()));
        self.inner.reject(why);
    }
}

#[derive(Debug)]
struct TracedPort {
    inner: Box<dyn Port>,
    note: Note,
    // The number of send descriptors recorded.
    seen: u64,
}

impl TracedPort {
    /// Records the descriptors posted since the last call of this function.
    fn look(&mut self, sink: &dyn Sink) {
        for index in self.seen..sink.posted() {
            if let Some(descriptor) = sink.sending(index) {
                self.note.note(EventKind::Posted {
                    index,
                    operation: descriptor.operation(),
                    length: descriptor.total(),
                    immediate: descriptor.immediate(),
                    remote: descriptor.remote(),
                });
            }
        }
        self.seen = sink.posted();
    }
}

impl Port for TracedPort {
    fn submit(&mut self, now: Instant, sink: &mut dyn Sink) {
        self.look(sink);
        self.inner.submit(now, &mut TracedSink { inner: sink, note: &self.note });
    }

    fn submit_at_once(&mut self, sink: &mut dyn Sink) -> bool {
        self.look(sink);
        self.inner.submit_at_once(&mut TracedSink { inner: sink, note: &self.note })
    }

    fn receive_posted(&mut self, sink: &mut dyn Sink) {
        self.note.note(EventKind::ReceivePosted(sink.receives()));
        self.inner.receive_posted(&mut TracedSink { inner: sink, note: &self.note });
    }

    fn progress(&mut self, now: Instant, sink: &mut dyn Sink) {
        self.look(sink);
        self.inner.progress(now, &mut TracedSink { inner: sink, note: &self.note });
    }

    fn progress_to_answer(&mut self, now: Instant, sink: &mut dyn Sink) {
        self.look(sink);
        self.inner.progress_to_answer(now, &mut TracedSink { inner: sink, note: &self.note });
    }

    fn prepare_sleep(&mut self, now: Instant) -> Option<Sleep> {
        self.inner.prepare_sleep(now)
    }

    fn end_sleep(&mut self) {
        self.inner.end_sleep();
    }

    fn readiness(&self) -> Option<Arc<OwnedFd>> {
        self.inner.readiness()
    }

    fn disconnect(&mut self) {
        self.note.note(EventKind::Disconnected);
        self.inner.disconnect();
    }

    fn take_concern(&mut self) -> bool {
        self.inner.take_concern()
    }

    fn guard(&mut self, guard: Guard) -> Result<(), Error> {
        self.inner.guard(guard)
    }

    fn peer(&self) -> String {
        self.inner.peer()
    }

    fn local(&self) -> Option<String> {
        self.inner.local()
    }
}

/// A VI's queues, with a recorder between them and the port.
struct TracedSink<'a> {
    inner: &'a mut dyn Sink,
    note: &'a Note,
}

impl Sink for TracedSink<'_> {
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
        self.note.note(EventKind::Completed { index: self.inner.completed(), status, transferred });
        self.inner.complete(status, transferred);
    }

    fn receives(&self) -> usize {
        self.inner.receives()
    }

    fn receiving(&self, index: usize) -> Option<&Descriptor> {
        self.inner.receiving(index)
    }

    fn begin_message(&mut self, length: u32) -> Result<(), Refusal> {
        let outcome = self.inner.begin_message(length);
        self.note.note(EventKind::MessageBegan(length, outcome));
        outcome
    }

    fn fill_message(&mut self, offset: u32, bytes: &[u8]) {
        self.inner.fill_message(offset, bytes);
    }

    fn end_message(&mut self, immediate: Option<u32>) {
        self.note.note(EventKind::MessageEnded(immediate));
        self.inner.end_message(immediate);
    }

    fn abandon_message(&mut self) {
        self.note.note(EventKind::MessageAbandoned);
        self.inner.abandon_message();
    }

    fn complete_receive(&mut self, operation: Operation, length: u32, immediate: Option<u32>) -> Result<(), Refusal> {
        let outcome = self.inner.complete_receive(operation, length, immediate);
        self.note.note(EventKind::Received { operation, length, immediate, outcome });
        outcome
    }

    fn remote(&self, place: RemoteAddress, length: u64, intent: Intent) -> Result<Arc<Region>, Refusal> {
        let found = self.inner.remote(place, length, intent);
        let outcome = found.as_ref().map(drop).map_err(|refusal| *refusal);
        self.note.note(EventKind::Reached { intent, place, length, outcome });
        found
    }

    fn look_at_all(&mut self) {
        self.inner.look_at_all();
    }

    fn broken(&mut self, status: Status, why: Ended) {
        self.note.note(EventKind::Broke(status, why));
        self.inner.broken(status, why);
    }
}
