//! A log of the events of providers and links, for debugging.
//!
//! A [`Trace`] keeps the latest events. If it has a stream, it also writes each event to the
//! stream. [`TracedProvider`] records connections, descriptors, messages and RDMA; [`TracedLink`]
//! records datagrams. Both can use the same trace.
//!
//! ```
//! use obvia_via::wrap::{EventKind, Trace};
//!
//! let trace = Trace::new(100);
//! // Around a provider: `Nic::open(Box::new(TracedProvider::new(provider, trace.clone())))`. By hand:
//! trace.note("me", EventKind::Disconnected);
//! println!("{trace}");
//! assert!(trace.to_string().ends_with(" me: disconnects\n"));
//! ```

mod link;
mod provider;

pub use link::TracedLink;
pub use provider::TracedProvider;

use crate::descriptor::{Operation, RemoteAddress, Status};
use crate::error::Ended;
use crate::spi::{Intent, Refusal};
use crate::sync::lock;
use std::collections::VecDeque;
use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// The latest events. Clones record into the same log.
#[derive(Clone)]
pub struct Trace {
    log: Arc<Mutex<Log>>,
    began: Instant,
}

struct Log {
    capacity: usize,
    events: VecDeque<Event>,
    forgotten: u64,
    stream: Option<Box<dyn Write + Send>>,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The time since the trace was made.
    pub at: Duration,
    /// The subject: a provider, a connection, a link.
    pub who: Arc<str>,
    /// The kind of event.
    pub what: EventKind,
}

/// The kinds of events.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// A listener was made, with this address.
    Listens(String),
    /// A connection to this address was requested.
    Asks(String),
    /// A request arrived from this peer.
    IsAsked(String),
    /// A connection was made.
    Connected,
    /// A request was rejected, or a connection failed, for this reason.
    NotConnected(String),
    /// A descriptor of the send queue reached the port.
    Posted {
        /// The descriptor's number.
        index: u64,
        /// The operation.
        operation: Operation,
        /// The length in bytes.
        length: u64,
        /// The immediate data.
        immediate: Option<u32>,
        /// The place in the peer's memory.
        remote: Option<RemoteAddress>,
    },
    /// A receive descriptor was posted. The number counts the receives that are posted and not
    /// completed.
    ReceivePosted(usize),
    /// A descriptor of the send queue completed.
    Completed {
        /// The descriptor's number.
        index: u64,
        /// The outcome.
        status: Status,
        /// The number of bytes transferred.
        transferred: u32,
    },
    /// A message of this length began to arrive, and was taken or refused.
    MessageBegan(u32, Result<(), Refusal>),
    /// The message is complete.
    MessageEnded(Option<u32>),
    /// The message lost a part and was given up.
    MessageAbandoned,
    /// A receive descriptor completed without an earlier [`Self::MessageBegan`].
    Received {
        /// The operation that completed the descriptor.
        operation: Operation,
        /// The length in bytes.
        length: u32,
        /// The immediate data.
        immediate: Option<u32>,
        /// Whether a receive descriptor was posted.
        outcome: Result<(), Refusal>,
    },
    /// The peer accessed memory by RDMA.
    Reached {
        /// The kind of access.
        intent: Intent,
        /// The place in this side's memory.
        place: RemoteAddress,
        /// The length in bytes.
        length: u64,
        /// Whether the access is allowed.
        outcome: Result<(), Refusal>,
    },
    /// The connection broke.
    Broke(Status, Ended),
    /// The local side disconnected.
    Disconnected,
    /// A datagram was sent.
    DatagramSent(Datagram),
    /// A datagram found no room.
    DatagramRefused(Datagram),
    /// A datagram arrived.
    DatagramCame(Datagram),
    /// The link failed, for this reason.
    LinkFailed(String),
}

/// The recorded part of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    length: usize,
    start: [u8; Self::START],
}

impl Datagram {
    /// The maximum number of a datagram's first bytes that are recorded.
    pub const START: usize = 40;

    /// Records a datagram.
    pub fn of(bytes: &[u8]) -> Self {
        let mut start = [0; Self::START];
        let shown = bytes.len().min(Self::START);
        start[..shown].copy_from_slice(&bytes[..shown]);
        Self { length: bytes.len(), start }
    }

    /// Returns the length of the datagram in bytes.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the datagram's first bytes, at most [`Self::START`] of them.
    pub fn start(&self) -> &[u8] {
        &self.start[..self.length.min(Self::START)]
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let log = self.log();
        f.debug_struct("Trace").field("events", &log.events.len()).field("forgotten", &log.forgotten).finish()
    }
}

impl Trace {
    /// Makes a trace that keeps the latest `capacity` events.
    pub fn new(capacity: usize) -> Self {
        let log = Log { capacity, events: VecDeque::new(), forgotten: 0, stream: None };
        Self { log: Arc::new(Mutex::new(log)), began: Instant::now() }
    }

    /// Makes a trace that also writes every event to a stream, one line each. After a failure, the
    /// stream is not used any more.
    pub fn to(capacity: usize, stream: Box<dyn Write + Send>) -> Self {
        let trace = Self::new(capacity);
        trace.log().stream = Some(stream);
        trace
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        lock(&self.log)
    }

    /// Records an event.
    pub fn note(&self, who: impl Into<Arc<str>>, what: EventKind) {
        let event = Event { at: self.began.elapsed(), who: who.into(), what };
        let mut log = self.log();
        if let Some(stream) = &mut log.stream
            && writeln!(stream, "{event}").is_err()
        {
            log.stream = None;
        }
        if log.events.len() >= log.capacity {
            log.forgotten += 1;
            log.events.pop_front();
        }
        if log.capacity > 0 {
            log.events.push_back(event);
        }
    }

    /// Returns the kept events, the oldest first.
    pub fn events(&self) -> Vec<Event> {
        self.log().events.iter().cloned().collect()
    }

    /// Returns the number of recorded events that are not kept.
    pub fn forgotten(&self) -> u64 {
        self.log().forgotten
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let log = self.log();
        if log.forgotten > 0 {
            writeln!(f, "({} earlier events)", log.forgotten)?;
        }
        log.events.iter().try_for_each(|event| writeln!(f, "{event}"))
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.at.as_nanos() as f64 / 1000.0;
        write!(f, "{micros:>14.3} us {}: {}", Line(&self.who), self.what)
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listens(address) => write!(f, "listens at {}", Line(address)),
            Self::Asks(address) => write!(f, "requests a connection to {}", Line(address)),
            Self::IsAsked(peer) => write!(f, "receives a connection request from {}", Line(peer)),
            Self::Connected => f.write_str("is connected"),
            Self::NotConnected(why) => write!(f, "fails to connect: {}", Line(why)),
            Self::Posted { index, operation, length, immediate, remote } => {
                write!(
                    f,
                    "#{index} {operation:?} of {length} bytes posted{}{}",
                    WithImmediate(*immediate),
                    AtAddress(*remote)
                )
            }
            Self::ReceivePosted(count) => write!(f, "receive posted, {count} in the queue"),
            Self::Completed { index, status, transferred } => write!(f, "#{index} {status}, {transferred} bytes"),
            Self::MessageBegan(length, outcome) => write!(f, "message of {length} bytes: {}", Answer(*outcome)),
            Self::MessageEnded(immediate) => write!(f, "message received{}", WithImmediate(*immediate)),
            Self::MessageAbandoned => f.write_str("message abandoned"),
            Self::Received { operation, length, immediate, outcome } => {
                let (also, answer) = (WithImmediate(*immediate), Answer(*outcome));
                write!(f, "{operation:?} of {length} bytes completes a receive{also}: {answer}")
            }
            Self::Reached { intent, place, length, outcome } => {
                write!(f, "peer's {intent:?} of {length} bytes{}: {}", AtAddress(Some(*place)), Answer(*outcome))
            }
            Self::Broke(status, why) => write!(f, "the connection is broken: {why}; {status}"),
            Self::Disconnected => f.write_str("disconnects"),
            Self::DatagramSent(datagram) => write!(f, "-> {datagram}"),
            Self::DatagramRefused(datagram) => write!(f, "no room for {datagram}"),
            Self::DatagramCame(datagram) => write!(f, "<- {datagram}"),
            Self::LinkFailed(why) => write!(f, "the link failed: {}", Line(why)),
        }
    }
}

impl fmt::Display for Datagram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.length)?;
        for (index, byte) in self.start().iter().enumerate() {
            write!(f, "{}{byte:02x}", if index % 4 == 0 { " " } else { "" })?;
        }
        f.write_str(if self.length > Self::START { " ..." } else { "" })
    }
}

/// A text that a peer may have written, on one line and without control characters.
struct Line<'a>(&'a str);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| match letter.is_control() {
            true => write!(f, "{}", letter.escape_default()),
            false => write!(f, "{letter}"),
        })
    }
}

/// Immediate data, if present.
struct WithImmediate(Option<u32>);

impl fmt::Display for WithImmediate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |data| write!(f, " with {data:#010x}"))
    }
}

/// A place in registered memory, if present.
struct AtAddress(Option<RemoteAddress>);

impl fmt::Display for AtAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(RemoteAddress { handle, offset }) = self.0 else { return Ok(()) };
        write!(f, " at {:x}:{:x}+{offset:#x}", handle.0[0], handle.0[1])
    }
}

struct Answer(Result<(), Refusal>);

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Ok(()) => f.write_str("taken"),
            Err(refusal) => write!(f, "refused, {}", refusal.status()),
        }
    }
}

#[cfg(test)]
mod tests;
