//! A case: one thing that is measured, whatever path it takes.

use crate::{Error, Histogram, ServerProcess};
use serde::Serialize;
use std::time::{Duration, Instant};

/// The way that what is measured takes.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Path {
    /// A call of obvia over shared memory between programs in C++.
    CppViShm,
    /// A call of an object over shared memory, of a process that listens on TCP alone: the object has a marshaler of obvia's.
    CustomViShm,
    /// A call of an object as DCOM has it, over TCP: ORPC in NDR.
    DcomIpTcp,
    /// The same over a Unix socket: what calls of local servers are without obvia's own ways.
    DcomLrpc,
    /// A call of Java's own, over TCP: RMI.
    JavaRmi,
    /// A call of obvia over shared memory from a program in Java to one in Rust.
    JavaRustViShm,
    /// A call of obvia over shared memory between programs in Java.
    JavaViShm,
    /// Messages of libfabric over TCP, without obvia: its program `fi_pingpong`.
    FiPingpong,
    /// Copying within the client.
    Memcpy,
    /// A call of obvia over UDP, in the standard's connectionless units, and so as DCOM first had it: ORPC in NDR.
    NcadgIpUdp,
    /// A call of obvia over TCP, in the standard's units.
    NcacnIpTcp,
    /// A call of obvia over a Unix socket, in the standard's units.
    Ncalrpc,
    /// A call of obvia over shared memory.
    NcacnViShm,
    /// A call of obvia over libfabric and TCP.
    NcacnViFabric,
    /// A call of obvia over UDP.
    NcacnViUdp,
    /// A call of obvia over AF_XDP sockets.
    NcacnViXdp,
    /// Reading a file by pread(2).
    Pread,
    /// Copying a payload through shared memory, three times each call.
    RawCopy,
    /// Shared memory and a futex for each direction.
    RawFutex,
    /// One cache line each way.
    RawLine,
    /// TCP, a message there and one back.
    Tcp,
    /// TCP, one way.
    TcpStream,
    /// UDP datagrams.
    Udp,
    /// A Unix stream socket.
    Unix,
    /// Descriptors of a virtual interface over libfabric and TCP.
    ViFabric,
    /// Descriptors of a virtual interface over shared memory.
    ViShm,
    /// Descriptors of a virtual interface over UDP.
    ViUdp,
    /// Descriptors of a virtual interface over AF_XDP sockets.
    ViXdp,
}

impl Path {
    /// All of them, baselines last.
    pub const ALL: [Self; 28] = [
        Self::NcacnViShm,
        Self::CustomViShm,
        Self::CppViShm,
        Self::JavaViShm,
        Self::JavaRustViShm,
        Self::JavaRmi,
        Self::NcacnViFabric,
        Self::NcacnViXdp,
        Self::NcacnViUdp,
        Self::Ncalrpc,
        Self::NcacnIpTcp,
        Self::NcadgIpUdp,
        Self::DcomIpTcp,
        Self::DcomLrpc,
        Self::ViShm,
        Self::ViFabric,
        Self::ViXdp,
        Self::ViUdp,
        Self::RawLine,
        Self::RawCopy,
        Self::RawFutex,
        Self::Unix,
        Self::Udp,
        Self::Tcp,
        Self::FiPingpong,
        Self::TcpStream,
        Self::Memcpy,
        Self::Pread,
    ];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::CppViShm => "cpp_vi_shm",
            Self::CustomViShm => "custom_vi_shm",
            Self::DcomIpTcp => "dcom_ip_tcp",
            Self::DcomLrpc => "dcom_lrpc",
            Self::FiPingpong => "fi_pingpong",
            Self::JavaRmi => "java_rmi",
            Self::JavaRustViShm => "java_rust_vi_shm",
            Self::JavaViShm => "java_vi_shm",
            Self::Memcpy => "memcpy",
            Self::NcacnIpTcp => "ncacn_ip_tcp",
            Self::NcadgIpUdp => "ncadg_ip_udp",
            Self::Ncalrpc => "ncalrpc",
            Self::NcacnViShm => "ncacn_vi_shm",
            Self::NcacnViUdp => "ncacn_vi_udp",
            Self::NcacnViFabric => "ncacn_vi_fabric",
            Self::NcacnViXdp => "ncacn_vi_xdp",
            Self::Pread => "pread",
            Self::RawCopy => "raw_copy",
            Self::RawFutex => "raw_futex",
            Self::RawLine => "raw_line",
            Self::Tcp => "tcp",
            Self::TcpStream => "tcp_stream",
            Self::Udp => "udp",
            Self::Unix => "unix",
            Self::ViFabric => "vi_fabric",
            Self::ViShm => "vi_shm",
            Self::ViUdp => "vi_udp",
            Self::ViXdp => "vi_xdp",
        }
    }

    /// Whether this is something to compare with.
    pub fn is_baseline(self) -> bool {
        use Path::{FiPingpong, Memcpy, Pread, RawCopy, RawFutex, RawLine, Tcp, TcpStream, Udp, Unix};
        matches!(self, FiPingpong | Memcpy | Pread | RawCopy | RawFutex | RawLine | Tcp | TcpStream | Udp | Unix)
    }

    /// Whether it goes through the machine's network.
    pub fn is_network(self) -> bool {
        use Path::{CppViShm, CustomViShm, DcomLrpc, JavaRmi, JavaRustViShm, JavaViShm, Memcpy, NcacnViShm};
        use Path::{Ncalrpc, Pread, RawCopy, RawFutex, RawLine, Unix, ViShm};
        !matches!(
            self,
            CppViShm
                | CustomViShm
                | DcomLrpc
                | JavaRmi
                | JavaRustViShm
                | JavaViShm
                | Memcpy
                | NcacnViShm
                | Ncalrpc
                | Pread
                | RawCopy
                | RawFutex
                | RawLine
                | Unix
                | ViShm
        )
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
    /// What is done: a method called (`null`, `pfs_open`, `MoveData`), or `send`, `write`, `read`.
    pub case: &'static str,
    /// Bytes of payload: each way, of what goes both ways.
    pub bytes: usize,
    /// Operations under way at once: threads that call, or the window of outstanding descriptors.
    pub at_once: u32,
    /// The way taken.
    pub path: Path,
    /// The waiting policy of both sides.
    pub wait: Wait,
}

/// Fewest calls of a batch, and of the stamped calls after it.
pub(crate) const CALLS_MIN: u32 = 4;

/// One thing that is measured.
///
/// The run calls `resume`, then `batch` and `stamped` any number of times, `verify`, and `rest`. Between `rest` and
/// the next `resume` the case takes no processor time.
pub trait Case {
    /// What it is called.
    fn label(&self) -> &Label;

    /// Fewest calls of which a batch says something.
    fn calls_min(&self) -> u32 {
        CALLS_MIN
    }

    /// Whether it is measured in a round; the first is 0.
    fn is_due(&self, _round: u32) -> bool {
        true
    }

    /// Makes calls that are not counted.
    fn warm_up(&mut self, calls: u32) -> Result<(), Error> {
        self.batch(calls).map(drop)
    }

    /// Makes calls one after the other, with nothing else in between. Returns how long they took.
    fn batch(&mut self, calls: u32) -> Result<Duration, Error>;

    /// Makes calls and records the time of each, where that can be had.
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
    /// One call. A wrong answer that is seen for next to nothing may be an error here. Where several operations are under
    /// way at once this begins one, after it has waited for the oldest if the window was full.
    fn call(&mut self) -> Result<(), Error>;

    /// Waits for the end of every operation that is under way: the last thing in a batch, and part of its time.
    fn settle(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Checks the results of the `calls` calls since the last time.
    fn verify(&mut self, calls: u32) -> Result<(), Error>;

    /// The process that answers, where there is one.
    fn server(&mut self) -> Option<&mut ServerProcess>;
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

    /// A window that is filled and emptied only once or twice says little about how it moves.
    fn calls_min(&self) -> u32 {
        CALLS_MIN.max(2 * self.label.at_once)
    }

    fn batch(&mut self, calls: u32) -> Result<Duration, Error> {
        self.unverified += calls;
        let before = Instant::now();
        for _ in 0..calls {
            self.exchange.call()?;
        }
        self.exchange.settle()?;
        Ok(before.elapsed())
    }

    fn stamped(&mut self, calls: u32, into: &mut Histogram) -> Result<(), Error> {
        // With a full window each call takes as long as one operation; until then it waits for nothing.
        let filling = self.label.at_once - 1;
        self.unverified += filling + calls;
        for _ in 0..filling {
            self.exchange.call()?;
        }
        for _ in 0..calls {
            let before = Instant::now();
            self.exchange.call()?;
            into.record(before.elapsed());
        }
        self.exchange.settle()
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.exchange.verify(std::mem::take(&mut self.unverified))
    }

    fn resume(&mut self) -> Result<(), Error> {
        self.exchange.server().map_or(Ok(()), ServerProcess::resume)
    }

    fn rest(&mut self) -> Result<(), Error> {
        self.exchange.server().map_or(Ok(()), ServerProcess::rest)
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
