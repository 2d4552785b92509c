//! The subcommand `obvia bench call_lat`: the latency of a call.

use super::measuring::{Extent, Policy};
use clap::{Args, ValueEnum};
use obvia_bench::calls::{self, Method as Called};
use obvia_bench::raw::{self, Load};
use obvia_bench::report::Measurement;
use obvia_bench::{Case, Path, Placement, size, vi};
use std::process::ExitCode;

/// Measures round trips of calls between two processes. Each process is pinned to a CPU. The
/// baselines are the best that any program could do with bare memory, futexes and sockets. All
/// cases take turns in one run, and each has its own baseline. Poll and adaptive are compared with
/// the round trip of a cache line (raw_line), which also copies the array if there is one
/// (raw_copy). Block is compared with a futex (raw_futex). If both sides share a CPU, the baseline
/// is a Unix socket. Networks are compared with a UDP socket on the same link.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia bench call_lat                              everything, in a minute or two
  obvia bench call_lat --quick --sizes 8K           a first impression, in seconds
  obvia bench call_lat --cpus 0,0                   both sides on one CPU
  obvia bench call_lat --cases null --wait poll --paths raw_line,ncacn_vi_shm,cpp_vi_shm
                                                    in C++ as well
  obvia bench call_lat --cable --paths ncacn_vi_xdp,ncacn_vi_udp,udp
                                                    between two hosts
  obvia bench call_lat --cable --cases MoveData --paths ncacn_vi_udp,vi_udp,udp,tcp
                                                    calls, messages of virtual interfaces, and sockets
  obvia bench call_lat --json out.json --plot out.svg

Compare only results of the same run: absolute times vary with the state of the machine.")]
pub(super) struct Arguments {
    /// Methods to call; the baselines use the same cases
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "CASE",
        default_value = "null,pfs_open,MoveData",
        ignore_case = true
    )]
    cases: Vec<Method>,
    /// Sizes of the array that MoveData carries, and MoveShared passes by reference, in bytes; K
    /// and M are understood [default: 64 to 1M]
    #[arg(long, value_delimiter = ',', value_name = "BYTES", value_parser = size)]
    sizes: Option<Vec<usize>>,
    /// Waiting policies of the calls
    #[arg(long, value_delimiter = ',', value_name = "POLICY", default_value = "poll,adaptive,block")]
    wait: Vec<Policy>,
    /// Paths to measure: ncacn_vi_shm, cpp_vi_shm (both sides in C++; `cargo xtask bench-cpp`
    /// builds them), java_vi_shm, java_rust_vi_shm, java_rmi (both sides in Java, the client alone,
    /// and Java's own RMI; `cargo xtask bench-java`), ncacn_vi_fabric, ncacn_vi_xdp, ncacn_vi_udp,
    /// ncalrpc, ncacn_ip_tcp, ncadg_ip_udp; messages of the same sizes without calls: vi_shm,
    /// vi_fabric, vi_xdp, vi_udp; baselines: raw_line, raw_copy, raw_futex, unix, udp, tcp
    /// [default: calls and all baselines within one host]
    #[arg(long, value_delimiter = ',', value_name = "PATH", value_parser = path)]
    paths: Option<Vec<Path>>,
    /// CPUs of client and server [default: the first two]
    #[arg(long, value_name = "CLIENT,SERVER")]
    cpus: Option<Placement>,
    #[command(flatten)]
    extent: Extent,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Method {
    #[value(name = "null")]
    Null,
    #[value(name = "pfs_open", alias = "open")]
    PfsOpen,
    #[value(name = "MoveData", alias = "move")]
    MoveData,
    #[value(name = "MoveShared", alias = "shared")]
    MoveShared,
    #[value(name = "visit")]
    Visit,
}

impl Method {
    fn called(self) -> Called {
        match self {
            Self::Null => Called::Null,
            Self::PfsOpen => Called::PfsOpen,
            Self::MoveData => Called::MoveData,
            Self::MoveShared => Called::MoveShared,
            Self::Visit => Called::Visit,
        }
    }
}

impl Arguments {
    /// Returns the sizes to measure. There are none if no requested method has an array.
    fn sizes(&self) -> Vec<usize> {
        if !self.cases.iter().any(|case| matches!(case, Method::MoveData | Method::MoveShared)) {
            return Vec::new();
        }
        self.extent.sizes(self.sizes.as_deref())
    }

    fn cases(&self, placement: Placement) -> anyhow::Result<Vec<Box<dyn Case>>> {
        let paths = self.paths.clone().unwrap_or_else(usual);
        let sizes = self.sizes();
        let null = Load { case: "null", bytes: 0 };
        let arrays = sizes.iter().map(|bytes| Load { case: "MoveData", bytes: *bytes });
        let loads: Vec<_> = [null].into_iter().chain(arrays).collect();
        let mut cases = raw::cases(&paths, &loads, placement)?;
        let methods: Vec<_> = self.cases.iter().map(|method| method.called()).collect();
        let waits: Vec<_> = self.wait.iter().map(|policy| policy.wait()).collect();
        for path in paths.into_iter().filter(|path| !path.is_baseline()) {
            cases.extend(match path.name().strip_prefix("vi_") {
                Some(provider) => vi::pings(provider.parse()?, &sizes, &waits, placement)?,
                None => calls::cases(path, &methods, &sizes, &waits, placement)?,
            });
        }
        Ok(cases)
    }
}

/// Measures and reports. Fails after the report when any case failed.
pub(super) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let placement = arguments.cpus.map_or_else(Placement::first_two, Ok)?;
    arguments.extent.measure(Measurement::CallLatency, Some(placement), || arguments.cases(placement))
}

/// The paths of calls, of messages, and their baselines.
const PATHS: [Path; 21] = [
    Path::NcacnViShm,
    Path::CppViShm,
    Path::JavaViShm,
    Path::JavaRustViShm,
    Path::JavaRmi,
    Path::NcacnViFabric,
    Path::NcacnViXdp,
    Path::NcacnViUdp,
    Path::Ncalrpc,
    Path::NcacnIpTcp,
    Path::NcadgIpUdp,
    Path::ViShm,
    Path::ViFabric,
    Path::ViXdp,
    Path::ViUdp,
    Path::RawLine,
    Path::RawCopy,
    Path::RawFutex,
    Path::Unix,
    Path::Udp,
    Path::Tcp,
];

/// Returns the default paths: calls within the host and their baselines.
fn usual() -> Vec<Path> {
    PATHS.into_iter().filter(|path| (path.is_baseline() && *path != Path::Tcp) || *path == Path::NcacnViShm).collect()
}

fn path(text: &str) -> Result<Path, String> {
    let names = || PATHS.map(Path::name).join(", ");
    PATHS.into_iter().find(|path| path.name() == text).ok_or_else(|| format!("expected one of {}", names()))
}
