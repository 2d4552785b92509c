//! RDMA with several outstanding operations: the client writes or reads the server's region, and
//! the server takes no part.
//!
//! Each operation of the window has a place of its own at either side, unless the places would take
//! too much memory (see [`places`]). To have the server fill or check its region, the client sends
//! an *order*: a message that the server executes and then answers:
//!
//! ```text
//! order:  u32 code (FILL or CHECK), u32 seed
//! answer: u32 expected word, u32 found word; equal if the order succeeded
//! ```

use super::{Ask, End, failed, post, start, wait};
use crate::{Error, Exchange, Parent, Placement, ServerProcess, places};
use obvia_via::{Access, Descriptor, MemoryHandle, MemoryRegion, RemoteAddress};
use std::collections::VecDeque;
use std::convert::Infallible;

/// The direction of the bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Direction {
    /// From the client to the server: RDMA write.
    Write,
    /// From the server to the client: RDMA read.
    Read,
}

impl Direction {
    /// Returns the name of the case in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
        }
    }
}

const FILL: u32 = 1;
const CHECK: u32 = 2;
const MESSAGE: usize = 8;

/// The client: its window, and its region.
pub(super) struct Rdma {
    end: End,
    region: MemoryRegion,
    control: Control,
    direction: Direction,
    bytes: usize,
    // The descriptors that are not posted. The next one to post is the first.
    idle: VecDeque<Box<Descriptor>>,
    posted: usize,
    seed: u32,
    server: ServerProcess,
}

/// A region and two descriptors for orders and answers.
struct Control {
    region: MemoryRegion,
    // The two descriptors while no order uses them.
    idle: Option<(Box<Descriptor>, Box<Descriptor>)>,
}

impl Control {
    /// Creates the region: sent messages are at its start, and received messages after them.
    fn new(end: &End) -> Result<Self, Error> {
        let region = end.region(2 * MESSAGE, Access::LOCAL)?;
        let send = Descriptor::send().with_segment(&region, 0, MESSAGE as u32);
        let receive = Descriptor::receive().with_segment(&region, MESSAGE as u64, MESSAGE as u32);
        Ok(Self { region, idle: Some((send, receive)) })
    }

    fn received(&self) -> [u32; 2] {
        let mut bytes = [0; MESSAGE];
        // The region has room for two messages, so the access stays in bounds.
        let _ = self.region.memory().read(MESSAGE as u64, &mut bytes);
        let [a, b, c, d, e, f, g, h] = bytes;
        [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
    }

    fn set_sent(&self, [first, second]: [u32; 2]) {
        let bytes = [first.to_le_bytes(), second.to_le_bytes()].concat();
        // The region has room for two messages, so the access stays in bounds.
        let _ = self.region.memory().write(0, &bytes);
    }
}

impl Rdma {
    pub(super) fn start(ask: Ask, direction: Direction, placement: Placement) -> Result<Self, Error> {
        let length = places::length(ask.bytes, ask.depth)?;
        if ask.bytes == 0 || ask.depth == 0 {
            return Err(Error::Usage { message: "nothing cannot be moved: give a size and a depth".to_owned() });
        }
        let prepare = |end: &mut End| {
            let can = end.nic.attributes();
            let has = if direction == Direction::Write { can.rdma_write } else { can.rdma_read };
            if !has {
                let message = format!("the provider {} has no RDMA {}", can.provider, direction.name());
                return Err(Error::Usage { message });
            }
            Ok((end.region(length, Access::LOCAL)?, Control::new(end)?))
        };
        let (end, (region, control), private, server) = start(ask, placement, prepare)?;
        let handle = private.try_into().map(MemoryHandle::from_bytes);
        let handle = handle.map_err(|_| Error::Failed { message: "the server named no region".to_owned() })?;
        let descriptor = |index: u32| {
            let offset = (index as usize % places::count(ask.bytes, ask.depth) * ask.bytes) as u64;
            let remote = RemoteAddress { handle, offset };
            let descriptor = match direction {
                Direction::Write => Descriptor::rdma_write(remote),
                Direction::Read => Descriptor::rdma_read(remote),
            };
            descriptor.with_segment(&region, offset, ask.bytes as u32)
        };
        let idle = (0..ask.depth).map(descriptor).collect();
        let mut rdma = Self { end, region, control, direction, bytes: ask.bytes, idle, posted: 0, seed: 0, server };
        rdma.server.resume()?;
        rdma.fill()?;
        rdma.server.suspend()?;
        Ok(rdma)
    }

    /// Waits for the completion of the window's oldest operation.
    #[inline]
    fn take(&mut self) -> Result<(), Error> {
        let descriptor = wait(&mut self.end.vi.send, self.bytes, &mut self.server)?;
        self.posted -= 1;
        self.idle.push_back(descriptor);
        Ok(())
    }

    /// Writes new bytes to the source of the operations.
    fn fill(&mut self) -> Result<(), Error> {
        self.seed = self.seed.wrapping_add(1);
        match self.direction {
            Direction::Write => fill(&self.region, self.seed),
            Direction::Read => self.order(FILL),
        }
    }

    /// Sends an order to the server, and checks its answer.
    fn order(&mut self, code: u32) -> Result<(), Error> {
        let Some((send, receive)) = self.control.idle.take() else {
            return Err(Error::Failed { message: "an earlier order failed".to_owned() });
        };
        self.control.set_sent([code, self.seed]);
        post(&mut self.end.vi.receive, receive)?;
        post(&mut self.end.vi.send, send)?;
        let send = wait(&mut self.end.vi.send, MESSAGE, &mut self.server)?;
        let receive = wait(&mut self.end.vi.receive, MESSAGE, &mut self.server)?;
        self.control.idle = Some((send, receive));
        let [expected, found] = self.control.received();
        if expected == found {
            return Ok(());
        }
        Err(Error::Corrupt { what: "a word of the server's region", expected: expected.into(), found: found.into() })
    }
}

impl Exchange for Rdma {
    #[inline]
    fn call(&mut self) -> Result<(), Error> {
        if self.idle.is_empty() {
            self.take()?;
        }
        if let Some(descriptor) = self.idle.pop_front() {
            post(&mut self.end.vi.send, descriptor)?;
            self.posted += 1;
        }
        Ok(())
    }

    fn complete(&mut self) -> Result<(), Error> {
        while self.posted > 0 {
            self.take()?;
        }
        Ok(())
    }

    fn verify(&mut self, calls: u32) -> Result<(), Error> {
        // Further operations are made, so that each place is used at least once after it was
        // filled.
        for _ in calls as usize..self.idle.len() {
            self.call()?;
        }
        self.complete()?;
        match self.direction {
            Direction::Write => self.order(CHECK)?,
            Direction::Read => check(&self.region, self.seed)?,
        }
        self.fill()
    }

    fn server(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.server)
    }
}

fn fill(region: &MemoryRegion, seed: u32) -> Result<(), Error> {
    let mut bytes = vec![0; region.memory().len()];
    places::fill(&mut bytes, seed);
    region.memory().write(0, &bytes).ok_or_else(too_small)
}

fn check(region: &MemoryRegion, seed: u32) -> Result<(), Error> {
    let mut bytes = vec![0; region.memory().len()];
    region.memory().read(0, &mut bytes).ok_or_else(too_small)?;
    places::check(&bytes, seed)
}

#[cold]
fn too_small() -> Error {
    Error::Failed { message: "a region is shorter than asked for".to_owned() }
}

/// Runs the server: offers a region, and executes orders.
pub(super) fn serve(ask: Ask, mut end: End, address: &str, mut parent: Parent) -> Result<Infallible, Error> {
    let can = end.nic.attributes();
    let access = Access { write: can.rdma_write, read: can.rdma_read };
    let region = end.region(places::length(ask.bytes, ask.depth)?, access)?;
    let mut control = Control::new(&end)?;
    let (mut send, receive) = control.idle.take().ok_or_else(too_small)?;
    post(&mut end.vi.receive, receive)?;
    end.vi.request(address, &region.handle().to_bytes(), super::PATIENCE).map_err(failed)?;
    parent.ready()?;
    loop {
        let received = wait(&mut end.vi.receive, MESSAGE, &mut parent)?;
        let [code, seed] = control.received();
        let outcome = if code == FILL { fill(&region, seed) } else { check(&region, seed) };
        control.set_sent(match outcome {
            Ok(()) => [0, 0],
            Err(Error::Corrupt { expected, found, .. }) => [expected as u32, found as u32],
            Err(error) => return Err(error),
        });
        post(&mut end.vi.receive, received)?;
        post(&mut end.vi.send, send)?;
        send = wait(&mut end.vi.send, MESSAGE, &mut parent)?;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Provider, Task};
    use super::*;
    use crate::Wait;
    use crate::cable::Link;

    #[test]
    fn region_checks_cover_every_byte() {
        let ask = Ask { provider: Provider::Udp, wait: Wait::Block, task: Task::Target, bytes: 100, depth: 3 };
        let end = End::open(&ask, Link::Loopback).unwrap();
        let region = end.region(300, Access::BOTH).unwrap();
        fill(&region, 5).unwrap();
        check(&region, 5).unwrap();
        assert!(check(&region, 6).is_err());
        region.memory().write(299, &[0xee]).unwrap();
        assert!(check(&region, 5).is_err(), "the last place was not written");
    }

    #[test]
    fn control_requests_and_responses_use_separate_memory() {
        let ask = Ask { provider: Provider::Udp, wait: Wait::Block, task: Task::Target, bytes: 4, depth: 1 };
        let control = Control::new(&End::open(&ask, Link::Loopback).unwrap()).unwrap();
        control.set_sent([FILL, 7]);
        assert_eq!(control.received(), [0, 0]);
        control.region.memory().write(8, &[1, 0, 0, 0, 2, 0, 0, 0]).unwrap();
        assert_eq!(control.received(), [1, 2]);
    }

    #[test]
    fn rdma_beyond_the_limits_of_a_provider_is_refused() {
        let ask = Ask { provider: Provider::Udp, wait: Wait::Block, task: Task::Target, bytes: 64, depth: 1 };
        for ask in [Ask { bytes: 5 << 30, ..ask }, Ask { depth: 1 << 20, ..ask }] {
            assert!(matches!(End::open(&ask, Link::Loopback), Err(Error::Usage { .. })), "{ask:?}");
        }
    }
}
