//! A case: one measured operation, over any path.

use crate::{Error, Histogram, ServerProcess};
use serde::Serialize;
use std::time::{Duration, Instant};

/// The path of the measured operation.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Path {
    /// An obvia call over shared memory between C++ programs.
    CppViShm,
    /// An obvia call over shared memory. The process of the object listens only on TCP, and the
    /// object has obvia's marshaler.
    CustomViShm,
    /// A DCOM object call over TCP: ORPC in NDR.
    DcomIpTcp,
    /// A DCOM object call over a Unix socket, as to a local server without obvia's own transports.
    DcomLrpc,
    /// A call of Java's RMI over TCP.
    JavaRmi,
    /// An obvia call over shared memory from a Java to a Rust program.
    JavaRustViShm,
    /// An obvia call over shared memory between Java programs.
    JavaViShm,
    /// libfabric messages over TCP without obvia, by libfabric's program `fi_pingpong`.
    FiPingpong,
    /// A copy within the client.
    Memcpy,
    /// An obvia call over UDP in the PDUs of the standard's connectionless protocol, like those of
    /// the first version of DCOM: ORPC in NDR.
    NcadgIpUdp,
    /// An obvia call over TCP in the PDUs of the standard's connection-oriented protocol.
    NcacnIpTcp,
    /// An obvia call over a Unix socket in the PDUs of the standard's connection-oriented protocol.
    Ncalrpc,
    /// An obvia call over shared memory.
    NcacnViShm,
    /// An obvia call over libfabric and TCP.
    NcacnViFabric,
    /// An obvia call over UDP.
    NcacnViUdp,
    /// An obvia call over AF_XDP sockets.
    NcacnViXdp,
    /// A file read by pread(2).
    Pread,
    /// A payload copied through shared memory, three times for each call.
    RawCopy,
    /// Shared memory and a futex for each direction.
    RawFutex,
    /// One cache line in each direction.
    RawLine,
    /// A call of the system with this name, in `bench/peers`.
    System(&'static str),
    /// A TCP message in each direction.
    Tcp,
    /// A one-way TCP stream.
    TcpStream,
    /// UDP datagrams.
    Udp,
    /// A Unix stream socket.
    Unix,
    /// VI descriptors over libfabric and TCP.
    ViFabric,
    /// VI descriptors over shared memory.
    ViShm,
    /// VI descriptors over UDP.
    ViUdp,
    /// VI descriptors over AF_XDP sockets.
    ViXdp,
}

impl Path {
    /// All paths of this crate, baselines last.
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

    /// Returns the name in reports.
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
            Self::System(name) => name,
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

    /// Whether the path is a baseline.
    pub fn is_baseline(self) -> bool {
        use Path::{FiPingpong, Memcpy, Pread, RawCopy, RawFutex, RawLine, Tcp, TcpStream, Udp, Unix};
        matches!(self, FiPingpong | Memcpy | Pread | RawCopy | RawFutex | RawLine | Tcp | TcpStream | Udp | Unix)
    }

    /// Whether the path uses the machine's network.
    pub fn is_network(self) -> bool {
        use Path::{CppViShm, CustomViShm, DcomLrpc, JavaRmi, JavaRustViShm, JavaViShm, Memcpy, NcacnViShm};
        use Path::{Ncalrpc, Pread, RawCopy, RawFutex, RawLine, System, Unix, ViShm};
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
                | System(_)
                | Unix
                | ViShm
        )
    }
}

/// The waiting policy of both sides.
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
    /// All policies.
    pub const ALL: [Self; 4] = [Self::Poll, Self::PollPause, Self::Adaptive, Self::Block];

    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Adaptive => "adaptive",
            Self::Block => "block",
            Self::Poll => "poll",
            Self::PollPause => "poll_pause",
        }
    }
}

/// The identity of a case in reports.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Label {
    /// The operation: a called method (`null`, `pfs_open`, `MoveData`), or `send`, `write`, `read`.
    pub case: &'static str,
    /// The size of the payload in bytes. If a payload travels in both directions, the size in one
    /// direction.
    pub bytes: usize,
    /// The number of outstanding operations: calling threads, or the window of descriptors.
    pub at_once: u32,
    /// The path.
    pub path: Path,
    /// The waiting policy of both sides.
    pub wait: Wait,
}

/// The minimum number of calls in a batch, and of the stamped calls after it.
pub(crate) const CALLS_MIN: u32 = 4;

/// One measured operation.
///
/// The run calls `resume`, then `batch` and `stamped` any number of times, `verify`, and `suspend`.
/// Between `suspend` and the next `resume` the case takes no processor time.
pub trait Case {
    /// Returns the case's identity.
    fn label(&self) -> &Label;

    /// Returns the minimum number of calls in a meaningful batch.
    fn calls_min(&self) -> u32 {
        CALLS_MIN
    }

    /// Whether the case is measured in the given round. The first round is 0.
    fn is_due(&self, _round: u32) -> bool {
        true
    }

    /// Makes calls that are not measured.
    fn warm_up(&mut self, calls: u32) -> Result<(), Error> {
        self.batch(calls).map(drop)
    }

    /// Makes calls one after the other without interruption. Returns their total time.
    fn batch(&mut self, calls: u32) -> Result<Duration, Error>;

    /// Makes calls and records the time of each, if the case supports that.
    fn stamped(&mut self, calls: u32, into: &mut Histogram) -> Result<(), Error>;

    /// Checks the results of all calls since the last check. The check is not timed.
    fn verify(&mut self) -> Result<(), Error>;

    /// Resumes the server.
    fn resume(&mut self) -> Result<(), Error>;

    /// Suspends the server, so that it takes no processor time.
    fn suspend(&mut self) -> Result<(), Error>;
}

/// A call and its server: everything of a case except its identity and its loops.
pub trait Exchange {
    /// Makes one call. May return an error for a wrong result if detecting it costs next to
    /// nothing. With a window of several operations, the call begins one operation. If the window
    /// was full, the call first waits until the oldest operation has completed.
    fn call(&mut self) -> Result<(), Error>;

    /// Waits for all outstanding operations. This is the last step of a batch, and its time is a
    /// part of the batch's time.
    fn complete(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Checks the results of the `calls` calls since the last check.
    fn verify(&mut self, calls: u32) -> Result<(), Error>;

    /// Returns the server process, if there is one.
    fn server(&mut self) -> Option<&mut ServerProcess>;
}

/// A case that makes the calls of an exchange.
#[derive(Debug)]
pub struct Calls<E> {
    label: Label,
    exchange: E,
    unverified: u32,
}

impl<E: Exchange> Calls<E> {
    /// Creates a case.
    pub fn new(label: Label, exchange: E) -> Self {
        Self { label, exchange, unverified: 0 }
    }
}

impl<E: Exchange> Case for Calls<E> {
    fn label(&self) -> &Label {
        &self.label
    }

    /// A window has to be filled and emptied several times for a meaningful batch.
    fn calls_min(&self) -> u32 {
        CALLS_MIN.max(2 * self.label.at_once)
    }

    fn batch(&mut self, calls: u32) -> Result<Duration, Error> {
        self.unverified += calls;
        let before = Instant::now();
        for _ in 0..calls {
            self.exchange.call()?;
        }
        self.exchange.complete()?;
        Ok(before.elapsed())
    }

    fn stamped(&mut self, calls: u32, into: &mut Histogram) -> Result<(), Error> {
        // With a full window each call takes as long as one operation; the calls that fill the
        // window do not wait.
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
        self.exchange.complete()
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.exchange.verify(std::mem::take(&mut self.unverified))
    }

    fn resume(&mut self) -> Result<(), Error> {
        self.exchange.server().map_or(Ok(()), ServerProcess::resume)
    }

    fn suspend(&mut self) -> Result<(), Error> {
        self.exchange.server().map_or(Ok(()), ServerProcess::suspend)
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
