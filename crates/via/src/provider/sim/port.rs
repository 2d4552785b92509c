//! A port of the simulated network: an engine, the end of a wire, and virtual time.

use super::net::SimLink;
use crate::reliable::{Engine, Link};
use crate::spi::{Port, Sink, Sleep};
use rustix::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How soon a datagram that found no room is tried again.
const RETRY: Duration = Duration::from_micros(20);
/// Datagrams that a port sends in one go, lest one that has too much to say stops the world.
const BURST: usize = 4096;

/// One end of a connection. What it is told of real time does not matter to it.
#[derive(Debug)]
pub(super) struct SimPort {
    engine: Box<Engine>,
    link: SimLink,
    datagram: Vec<u8>,
    // The length of a datagram in `unsent` that found no room.
    refused: Option<usize>,
    unsent: Vec<u8>,
}

/// Virtual time as the engine counts it.
pub(super) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl SimPort {
    /// Runs an engine over an end that is attached.
    pub(super) fn new(engine: Box<Engine>, link: SimLink) -> Self {
        let room = vec![0; link.mtu()];
        Self { engine, link, datagram: room.clone(), refused: None, unsent: room }
    }

    /// Everything that is to be done now.
    fn work(&mut self, sink: &mut dyn Sink) {
        let time = self.link.net().now();
        let now = nanoseconds(time);
        // A link that is simulated does not fail but by being asked for too much, which the engine's MTU excludes.
        while let Ok(Some(length)) = self.link.receive(&mut self.datagram) {
            // Why it was dropped is in the engine's statistics.
            let _ = self.engine.handle(now, &self.datagram[..length], sink);
        }
        self.engine.tick(now, sink);
        let due = self.send(now, sink).or_else(|| self.engine.due().map(Duration::from_nanos));
        self.link.settle(due.map(|due| if self.refused.is_some() { time + RETRY } else { due }));
    }

    /// Sends what is to be sent; when to go on if there is no room.
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
        self.link.net().complain("an engine has more to send at one time than anybody may");
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
        self.link.hush();
        let until = self.link.settled()?;
        Some(Sleep { fd: Some(Arc::clone(self.link.bell())), until })
    }

    fn readiness(&self) -> Option<Arc<OwnedFd>> {
        // Time passes for who calls, not for who waits for a file.
        None
    }

    fn disconnect(&mut self) {
        self.engine.disconnect();
        while let Some(length) = self.engine.farewell(&mut self.unsent) {
            // Whether it gets through is as uncertain as with any other datagram.
            let _ = self.link.send(&self.unsent[..length]);
        }
        self.link.settle(None);
    }

    fn peer(&self) -> String {
        self.link.peer()
    }
}
