//! The cases of virtual interfaces: round trips of messages by descriptors, and RDMA with several
//! outstanding operations.
//!
//! The client's process listens, and the server's process connects. The client therefore passes its
//! address at the server's start, and needs no address from the server. Each case has a NIC, a VI
//! and a server process of its own.

mod ping;
mod provider;
mod rdma;
mod serve;

pub use provider::Provider;
pub use rdma::Direction;
pub use serve::{Task, serve};

use crate::cable::Link;
use crate::{Calls, Case, Error, Exchange, Label, Placement, ServerProcess, Stalling, Wait, Watch, calls};
use obvia_via::{
    Access, Deadline, Descriptor, Memory, MemoryRegion, Nic, ProtectionTag, Reliability, Request, Status, Vi,
    ViAttributes, WorkQueue,
};

/// The subcommand of [`serve`].
pub const SERVE: [&str; 2] = ["bench", "serve-vi"];

/// The time limit for establishing a connection.
const PATIENCE: Deadline = Deadline::Within(crate::server::PATIENCE);
/// The interval at which a waiting side checks whether the other end still exists.
const LOOK: Deadline = Deadline::after_secs(1);

/// Starts the cases of message round trips of the given sizes.
pub fn pings(
    provider: Provider,
    sizes: &[usize],
    waits: &[Wait],
    placement: Placement,
) -> Result<Vec<Box<dyn Case>>, Error> {
    let mut cases = Vec::new();
    for wait in possible(waits, placement) {
        for bytes in sizes.iter().copied() {
            let ask = Ask { provider, wait, task: Task::Echo, bytes, depth: 1 };
            let label = Label { case: "send", bytes, at_once: 1, path: provider.path(), wait };
            cases.push(boxed(label, ping::Ping::start(ask, placement)?));
        }
    }
    Ok(cases)
}

/// Starts the cases of RDMA in one direction, with operations of the given sizes and a window of
/// `depth`.
pub fn transfers(
    provider: Provider,
    direction: Direction,
    sizes: &[usize],
    depth: u32,
    waits: &[Wait],
    placement: Placement,
) -> Result<Vec<Box<dyn Case>>, Error> {
    let mut cases = Vec::new();
    for wait in possible(waits, placement) {
        for bytes in sizes.iter().copied() {
            let ask = Ask { provider, wait, task: Task::Target, bytes, depth };
            let label = Label { case: direction.name(), bytes, at_once: depth, path: provider.path(), wait };
            cases.push(boxed(label, rdma::Rdma::start(ask, direction, placement)?));
        }
    }
    Ok(cases)
}

fn boxed(label: Label, exchange: impl Exchange + 'static) -> Box<dyn Case> {
    Box::new(Calls::new(label, exchange))
}

/// Returns the policies that work at a placement. Two sides that spin on the same processor would
/// only wait for the end of each other's time slice.
fn possible(waits: &[Wait], placement: Placement) -> impl Iterator<Item = Wait> {
    waits.iter().copied().filter(move |wait| *wait != Wait::Poll || !placement.is_one_cpu())
}

/// The parameters of a case that both ends need.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// The provider.
    pub provider: Provider,
    /// The waiting policy of both ends.
    pub wait: Wait,
    /// The server's task.
    pub task: Task,
    /// The bytes of an operation.
    pub bytes: usize,
    /// The number of outstanding operations.
    pub depth: u32,
}

/// A connected VI with its NIC and protection tag.
#[derive(Debug)]
struct End {
    vi: Vi,
    tag: ProtectionTag,
    nic: Nic,
}

impl End {
    /// Creates an idle VI with a NIC of its own, for either end of a link.
    fn open(ask: &Ask, link: Link) -> Result<Self, Error> {
        let nic = ask.provider.open(link)?;
        let can = nic.attributes();
        let too_much = |what: &str, limit: u64| Error::Usage {
            message: format!("the provider {} has {limit} {what} at most", can.provider),
        };
        if ask.bytes as u64 > u64::from(can.max_transfer) {
            return Err(too_much("bytes in one transfer", can.max_transfer.into()));
        }
        if ask.depth as usize > can.queue_depth {
            return Err(too_much("descriptors in a queue", can.queue_depth as u64));
        }
        // When an RDMA operation completes, the data must have arrived at the target. A message
        // needs a weaker guarantee, because its reply proves its arrival.
        let best = match ask.task {
            Task::Echo => Reliability::ReliableDelivery,
            Task::Target => Reliability::ReliableReception,
        };
        let found = [best, Reliability::ReliableDelivery].into_iter().find(|level| can.reliability.contains(level));
        let reliability = found.ok_or_else(|| Error::Usage {
            message: format!("the provider {} has no reliable delivery", can.provider),
        })?;
        let tag = nic.protection_tag();
        let attributes = ViAttributes { reliability, max_transfer: 0, waiting: calls::policy(ask.wait) };
        let vi = nic.vi(attributes, &tag, None, None).map_err(failed)?;
        Ok(Self { vi, tag, nic })
    }

    /// Allocates and registers memory.
    fn region(&self, length: usize, access: Access) -> Result<MemoryRegion, Error> {
        let memory = self.nic.memory(length).map_err(failed)?;
        self.nic.register(memory, &self.tag, access).map_err(failed)
    }
}

/// Creates the client's end and waits for the server process to connect. `prepare` runs before the
/// connection is established. Returns the end, the result of `prepare`, the server's private data,
/// and the server.
fn start<T>(
    ask: Ask,
    placement: Placement,
    prepare: impl FnOnce(&mut End) -> Result<T, Error>,
) -> Result<(End, T, Vec<u8>, ServerProcess), Error> {
    let link = ask.provider.link()?;
    let mut end = End::open(&ask, link)?;
    let prepared = prepare(&mut end)?;
    let mut listener = end.nic.listen(&ask.provider.discriminator(link)).map_err(failed)?;
    let [bench, serve] = SERVE;
    let (bytes, depth, cpu) = (ask.bytes.to_string(), ask.depth.to_string(), placement.server.to_string());
    let address = listener.address();
    let arguments = [bench, serve, ask.provider.name(), ask.wait.name(), ask.task.name(), &address];
    let arguments = [&arguments[..], &["--bytes", &bytes, "--depth", &depth, "--cpu", &cpu]].concat();
    let connect = || {
        let request: Request = listener.wait(PATIENCE).map_err(failed)?;
        let private = request.private().to_vec();
        request.accept(&mut end.vi, &[], PATIENCE).map_err(failed)?;
        Ok(private)
    };
    let (mut server, private) = ServerProcess::start_with(&arguments, None, connect)?;
    server.suspend()?;
    Ok((end, prepared, private, server))
}

/// Waits for the next completion, as long as the other end exists. The completion must be
/// successful and have `bytes` bytes.
fn wait(queue: &mut WorkQueue, bytes: usize, peer: &mut impl Watch) -> Result<Box<Descriptor>, Error> {
    let mut stalling = Stalling::default();
    let error = loop {
        match queue.wait(LOOK) {
            Ok(descriptor) => match done(descriptor, bytes) {
                Err(error) => break error,
                good => return good,
            },
            Err(obvia_via::Error::TimedOut) => stalling.check(peer)?,
            Err(error) => break failed(error),
        }
    };
    // If the peer has ended, report its end, which explains the failure better.
    peer.check()?;
    Err(error)
}

/// Checks a completed descriptor.
fn done(descriptor: Box<Descriptor>, bytes: usize) -> Result<Box<Descriptor>, Error> {
    if descriptor.status() != Status::Done {
        return Err(Error::Failed { message: format!("a descriptor completed in error: {}", descriptor.status()) });
    }
    if descriptor.length() as usize == bytes {
        return Ok(descriptor);
    }
    let (expected, found) = (bytes as u64, u64::from(descriptor.length()));
    Err(Error::Corrupt { what: "the length of a transfer", expected, found })
}

pub(crate) fn post(queue: &mut WorkQueue, descriptor: Box<Descriptor>) -> Result<(), Error> {
    queue.post(descriptor).map_err(|error| Error::Failed { message: format!("posting a descriptor: {error}") })
}

/// Reads the word at the start of registered memory.
fn first_word(memory: &Memory) -> u32 {
    let mut word = [0; 4];
    // The memory has at least one word: sizes are multiples of four, from four on.
    memory.read(0, &mut word).map_or(0, |()| u32::from_le_bytes(word))
}

fn set_first_word(memory: &Memory, word: u32) {
    let written = memory.write(0, &word.to_le_bytes());
    debug_assert!(written.is_some(), "as above");
}

#[cold]
pub(crate) fn failed(error: obvia_via::Error) -> Error {
    Error::Failed { message: error.to_string() }
}
