//! Ports of the simulated network: an engine, the end of a wire, and virtual time.

use super::net::SimLink;
use crate::reliable::{Engine, Link};
use crate::spi::{Port, Sink, Sleep};
use rustix::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time after which a datagram that found no room is offered again.
const RETRY: Duration = Duration::from_micros(20);
/// The maximum number of datagrams sent in one call, so that an engine that never stops is noticed.
const BURST: usize = 4096;

/// One end of a connection. Real time has no effect on it.
#[derive(Debug)]
pub(super) struct SimPort {
    engine: Box<Engine>,
    link: SimLink,
    datagram: Vec<u8>,
    // The length of the datagram in `unsent` that found no room.
    refused: Option<usize>,
    unsent: Vec<u8>,
}

/// Converts virtual time to the engine's nanoseconds.
pub(super) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl SimPort {
    /// Runs an engine over an attached end.
    pub(super) fn new(engine: Box<Engine>, link: SimLink) -> Self {
        let room = vec![0; link.mtu()];
        Self { engine, link, datagram: room.clone(), refused: None, unsent: room }
    }

    /// Does everything that is due now.
    fn work(&mut self, sink: &mut dyn Sink) {
        let time = self.link.net().now();
        let now = nanoseconds(time);
        // A simulated link fails only for a datagram that is too long, which the engine's MTU
        // excludes.
        while let Ok(Some(length)) = self.link.receive(&mut self.datagram) {
            // The engine's statistics count dropped datagrams.
            let _ = self.engine.handle(now, &self.datagram[..length], sink);
        }
        self.engine.tick(now, sink);
        let due = self.send(now, sink).or_else(|| self.engine.due().map(Duration::from_nanos));
        self.link.settle(due.map(|due| if self.refused.is_some() { time + RETRY } else { due }));
    }

    /// Sends everything that is due. Returns the time of the next attempt if there is no room.
    fn send(&mut self, now: u64, sink: &mut dyn Sink) -> Option<Duration> {
        for _ in 0..BURST {
            let length = match self.refused.take() {
                Some(length) => length,
                None => self.engine.transmit(now, sink, &mut self.unsent)?,
            };
            if !self.link.send(&self.unsent[..length]).unwrap_or(true) {
                self.refused = Some(length);
                return Some(Duration::from_nanos(now) + RETRY);
            }
        }
        self.link.net().report_fault("an engine sends more at one time than its limit");
        Some(Duration::from_nanos(now) + RETRY)
    }
}

impl Port for SimPort {
    fn receive_posted(&mut self, sink: &mut dyn Sink) {
        self.work(sink);
    }

    fn progress(&mut self, _: Instant, sink: &mut dyn Sink) {
        self.work(sink);
    }

    fn prepare_sleep(&mut self, _: Instant) -> Option<Sleep> {
        self.link.clear_bell();
        let until = self.link.settled()?;
        Some(Sleep { fd: Some(Arc::clone(self.link.bell())), until })
    }

    fn readiness(&self) -> Option<Arc<OwnedFd>> {
        // The virtual clock advances only while users call their ports, so waiting for a file alone
        // would never end.
        None
    }

    fn disconnect(&mut self) {
        self.engine.disconnect();
        while let Some(length) = self.engine.transmit_close(&mut self.unsent) {
            // The datagram may get lost like any other.
            let _ = self.link.send(&self.unsent[..length]);
        }
        self.link.settle(None);
    }

    fn peer(&self) -> String {
        self.link.peer()
    }
}
