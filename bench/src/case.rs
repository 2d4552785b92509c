//! A case: one thing that is measured, whatever path it takes.

use crate::{Error, Histogram, ServerProcess};
use serde::Serialize;
use std::time::Instant;

/// The way a call takes.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Path {
    /// A call of obvia over shared memory.
    NcacnViShm,
    /// A call of obvia over UDP and the loopback device.
    NcacnViUdp,
    /// Copying a payload through shared memory, three times each call.
    RawCopy,
    /// Shared memory and a futex for each direction.
    RawFutex,
    /// One cache line each way.
    RawLine,
    /// UDP over the loopback device.
    Udp,
    /// A Unix stream socket.
    Unix,
}

impl Path {
    /// All of them, baselines last.
    pub const ALL: [Self; 7] =
        [Self::NcacnViShm, Self::NcacnViUdp, Self::RawLine, Self::RawCopy, Self::RawFutex, Self::Unix, Self::Udp];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::NcacnViShm => "ncacn_vi_shm",
            Self::NcacnViUdp => "ncacn_vi_udp",
            Self::RawCopy => "raw_copy",
            Self::RawFutex => "raw_futex",
            Self::RawLine => "raw_line",
            Self::Udp => "udp",
            Self::Unix => "unix",
        }
    }

    /// Whether this is something to compare with.
    pub fn is_baseline(self) -> bool {
        !matches!(self, Self::NcacnViShm | Self::NcacnViUdp)
    }
}

/// How both sides wait for the other.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// Spin for a bounded time, then sleep.
    Adaptive,
    /// Sleep in the kernel.
    Block,
    /// Spin.
    Poll,
    /// Spin with the processor's pause instruction in the loop.
    PollPause,
}

impl Wait {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Poll, Self::PollPause, Self::Adaptive, Self::Block];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Adaptive => "adaptive",
            Self::Block => "block",
            Self::Poll => "poll",
            Self::PollPause => "poll_pause",
        }
    }
}

/// What a case is called in reports.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Label {
    /// The method called: `null`, `pfs_open`, `MoveData`.
    pub case: &'static str,
    /// Bytes of payload, each way.
    pub bytes: usize,
    /// The way taken.
    pub path: Path,
    /// The waiting policy of both sides.
    pub wait: Wait,
}

/// One thing that is measured.
///
/// The run calls `resume`, then `batch` and `stamped` any number of times, `verify`, and `rest`. Between `rest` and
/// the next `resume` the case takes no processor time.
pub trait Case {
    /// What it is called.
    fn label(&self) -> &Label;

    /// Makes calls one after the other, with nothing else in between. The caller reads the clock before and after.
    fn batch(&mut self, calls: u32) -> Result<(), Error>;

    /// Makes calls and records the time of each.
    fn stamped(&mut self, calls: u32, into: &mut Histogram) -> Result<(), Error>;

    /// Checks the results of all calls since the last time. Not timed.
    fn verify(&mut self) -> Result<(), Error>;

    /// Has the server run.
    fn resume(&mut self) -> Result<(), Error>;

    /// Has the server take no more processor time.
    fn rest(&mut self) -> Result<(), Error>;
}

/// A call and its server: all that a case consists of, except for its name and its loops.
pub trait Exchange {
    /// One call. A wrong answer that is seen for next to nothing may be an error here.
    fn call(&mut self) -> Result<(), Error>;

    /// Checks the results of the `calls` calls since the last time.
    fn verify(&mut self, calls: u32) -> Result<(), Error>;

    /// The process that answers.
    fn server(&mut self) -> &mut ServerProcess;
}

/// The case that makes the calls of an exchange.
#[derive(Debug)]
pub struct Calls<E> {
    label: Label,
    exchange: E,
    unverified: u32,
}

impl<E: Exchange> Calls<E> {
    /// A case of this name.
    pub fn new(label: Label, exchange: E) -> Self {
        Self { label, exchange, unverified: 0 }
    }
}

impl<E: Exchange> Case for Calls<E> {
    fn label(&self) -> &Label {
        &self.label
    }

    fn batch(&mut self, calls: u32) -> Result<(), Error> {
        self.unverified += calls;
        for _ in 0..calls {
            self.exchange.call()?;
        }
        Ok(())
    }

    fn stamped(&mut self, calls: u32, into: &mut Histogram) -> Result<(), Error> {
        self.unverified += calls;
        for _ in 0..calls {
            let before = Instant::now();
            self.exchange.call()?;
            into.record(before.elapsed());
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.exchange.verify(std::mem::take(&mut self.unverified))
    }

    fn resume(&mut self) -> Result<(), Error> {
        self.exchange.server().resume()
    }

    fn rest(&mut self) -> Result<(), Error> {
        self.exchange.server().rest()
    }
}

impl std::str::FromStr for Wait {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL
            .into_iter()
            .find(|wait| wait.name() == text)
            .ok_or_else(|| Error::Usage { message: format!("there is no waiting policy `{text}`") })
    }
}
