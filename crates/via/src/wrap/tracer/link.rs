//! A link whose datagrams are recorded.

use super::{Datagram, EventKind, Trace};
use crate::Error;
use crate::reliable::{Link, Marks};
use rustix::fd::OwnedFd;
use std::sync::Arc;

/// A link whose datagrams are recorded in a trace.
#[derive(Debug)]
pub struct TracedLink<L> {
    inner: L,
    trace: Trace,
    who: Arc<str>,
}

impl<L: Link> TracedLink<L> {
    /// Records the datagrams of a link, under the name of its peer.
    pub fn new(inner: L, trace: Trace) -> Self {
        let who = format!("link to {}", inner.peer()).into();
        Self { inner, trace, who }
    }

    fn note(&self, what: EventKind) {
        self.trace.note(Arc::clone(&self.who), what);
    }
}

impl<L: Link> Link for TracedLink<L> {
    fn mtu(&self) -> usize {
        self.inner.mtu()
    }

    fn send(&mut self, datagram: &[u8]) -> Result<bool, Error> {
        let outcome = self.inner.send(datagram);
        self.note(match &outcome {
            Ok(true) => EventKind::DatagramSent(Datagram::of(datagram)),
            Ok(false) => EventKind::DatagramRefused(Datagram::of(datagram)),
            Err(error) => EventKind::LinkFailed(error.to_string()),
        });
        outcome
    }

    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Error> {
        let outcome = self.inner.receive(into);
        match &outcome {
            Ok(Some(length)) => self.note(EventKind::DatagramCame(Datagram::of(&into[..(*length).min(into.len())]))),
            Ok(None) => {}
            Err(error) => self.note(EventKind::LinkFailed(error.to_string())),
        }
        outcome
    }

    fn file(&self) -> Option<Arc<OwnedFd>> {
        self.inner.file()
    }

    fn opened(&mut self, ids: [u64; 2]) {
        self.inner.opened(ids);
    }

    fn find_moved(&mut self) {
        self.inner.find_moved();
    }

    fn send_marks(&mut self, sends: bool) {
        self.inner.send_marks(sends);
    }

    fn read_marks(&mut self, reads: bool) {
        self.inner.read_marks(reads);
    }

    fn marks(&self) -> Marks {
        self.inner.marks()
    }

    fn peer(&self) -> String {
        self.inner.peer()
    }

    fn local(&self) -> Option<String> {
        self.inner.local()
    }
}
