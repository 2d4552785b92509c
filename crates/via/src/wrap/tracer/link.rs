//! A link whose datagrams are recorded.

use super::{Datagram, EventKind, Trace};
use crate::Error;
use crate::reliable::{Link, forward_sleep, forward_wire};
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
    forward_wire!(link => link.inner);
    forward_sleep!(link => link.inner);

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
}
