//! The state of a port's connection, and its end.

use super::super::contexts::PostedOperation;
use super::super::endpoint::Endpoint;
use super::super::objects::ConnectionEvent;
use super::super::side_channel::{Question, SideChannel};
use super::{COMPLETIONS_MAX, FabricPort};
use crate::descriptor::{Operation, Status};
use crate::error::Ended;
use crate::spi::{Intent, Sink};
use std::time::{Duration, Instant};

/// The time that an RDMA may take before the peer is asked whether the RDMA is allowed. The time
/// doubles with each question.
pub(super) const FIRST_QUESTION_AFTER: Duration = Duration::from_millis(4);

impl FabricPort {
    /// Checks whether the connection has ended, and if so, ends it on this side. Also answers the
    /// peer's questions, and asks for a sign of life when one is due.
    pub(super) fn check_connection(&mut self, now: Instant, sink: &mut dyn Sink) {
        self.checked = now;
        let is_over = |endpoint: &mut Endpoint| loop {
            match endpoint.events.as_ref().map_or(Ok(None), |events| events.next()) {
                Ok(Some(ConnectionEvent::Shutdown | ConnectionEvent::Failed(..))) | Err(_) => break true,
                Ok(Some(_)) => {}
                Ok(None) => break false,
            }
        };
        self.is_lost |= self.endpoint.with(is_over).unwrap_or(true);
        self.is_lost |= self.side_channel.receive();
        self.is_lost |= self.side_channel.end_reason().is_some();
        self.side_channel.answer(|asked| sink.remote(asked.place, asked.length, asked.intent).is_ok());
        self.ask_for_life(now);
        if !self.is_lost && self.is_refused(now, sink) {
            return self.end(sink, Status::RemoteProtection, Ended::Protection, true);
        }
        if !self.is_lost {
            return;
        }
        // Operations that completed before the end of the connection still count.
        while self.is_open && self.take(COMPLETIONS_MAX) > 0 {
            self.deliver(sink);
        }
        if !self.is_open {
            return;
        }
        match self.side_channel.end_reason() {
            Some(why) => self.end(sink, status_of(why), why, false),
            None => self.end(sink, Status::ConnectionLost, Ended::Silent, false),
        }
    }

    /// Whether the oldest RDMA is not allowed: its handle is invalid, or the peer says so. Asks the
    /// peer if the RDMA takes long, because shm of libfabric 1.17 drops a refused RDMA without
    /// telling either side.
    fn is_refused(&mut self, now: Instant, sink: &dyn Sink) -> bool {
        let number = self.sends_done;
        if self.refused == Some(number) {
            return true;
        }
        let (oldest, since, span) = self.oldest;
        let operation = self.sends.front().map(|send| send.operation);
        let intent = match operation {
            Some(Operation::RdmaWrite) => Intent::Write,
            Some(Operation::RdmaRead) => Intent::Read,
            _ => return false,
        };
        if oldest != number {
            self.oldest = (number, now, FIRST_QUESTION_AFTER);
        } else if now.saturating_duration_since(since) >= span
            && let Some(descriptor) = sink.sending(number)
            && let Some(place) = descriptor.remote()
        {
            let length = descriptor.total();
            if self.side_channel.question(Question { number, place, length, intent }) {
                self.oldest.2 = span.saturating_mul(2);
            }
        }
        self.side_channel.is_refused(number)
    }

    /// Asks the peer for a sign of life at intervals, where the network does not report that a peer
    /// is gone.
    fn ask_for_life(&mut self, now: Instant) {
        let Some(page) = &self.tag.page else { return };
        let silence = self.nic.options.silence;
        if self.waiting {
            self.is_lost |= now.duration_since(self.asked) >= silence / 2;
            return;
        }
        if now.duration_since(self.asked) < silence / 2 {
            return;
        }
        self.asked = now;
        let context = self.contexts.context_of(PostedOperation::Control);
        // SAFETY: the page stays registered and the contexts stay allocated as long as this port,
        // whose endpoint is closed first.
        let post = |endpoint: &mut Endpoint| unsafe { self.side_channel.post_write(endpoint, page, None, context) };
        self.waiting = self.endpoint.with(post).unwrap_or_default();
    }

    /// Ends the connection. The peer is told the reason `why` if `tell` is true. The endpoint is
    /// closed first, so that no operation touches the memory of descriptors any more. Then the
    /// descriptors are flushed.
    pub(super) fn end(&mut self, sink: &mut dyn Sink, status: Status, why: Ended, tell: bool) {
        self.close(tell.then_some(why));
        sink.broken(status, why);
    }

    pub(super) fn close(&mut self, why: Option<Ended>) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        let context = self.contexts.context_of(PostedOperation::Control);
        self.endpoint.close(|endpoint| {
            if let Some(why) = why {
                // SAFETY: as in `ask_for_life`; the endpoint is closed when this function returns.
                unsafe { self.side_channel.send_end_reason(endpoint, self.tag.page.as_ref(), why, context) };
            }
        });
        self.side_channel = SideChannel::None;
        (self.readiness, self.has_bell) = (None, false);
    }
}

/// Returns the status of the oldest descriptor, by the reason that the peer gave for the end.
fn status_of(why: Ended) -> Status {
    match why {
        Ended::Here | Ended::ByPeer => Status::Flushed,
        Ended::ReceiverNotReady => Status::ReceiverNotReady,
        Ended::TooLong => Status::TooLong,
        Ended::Protection => Status::RemoteProtection,
        _ => Status::ConnectionLost,
    }
}
