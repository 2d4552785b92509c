//! The subcommand `obvia bench send_lat`: the latency of messages by descriptors.

use super::measuring::{Extent, Policy};
use clap::Args;
use obvia_bench::raw::{self, Load};
use obvia_bench::report::Measurement;
use obvia_bench::vi::{self, Provider};
use obvia_bench::{Case, Path, Placement, size};
use std::process::ExitCode;

/// Measures round trips of messages between two processes. Each process is pinned to a CPU. The
/// messages go from registered memory to registered memory, by send and receive descriptors of two
/// virtual interfaces. Baselines, the best that any program could do, take turns with the messages
/// in the same run. With shm, poll and adaptive are compared with a copy of the bytes through
/// shared memory (raw_copy), and block with a futex (raw_futex). If both sides share a CPU, the
/// baseline is a Unix socket. Providers for networks are compared with a datagram of the same size
/// on the same link, or with TCP if the message is too long for a datagram. fabric is also compared
/// with libfabric's own fi_pingpong if that is installed (Debian: libfabric-bin).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia bench send_lat                              shared memory, all sizes
  obvia bench send_lat --provider udp --quick       datagrams, in seconds
  obvia bench send_lat --provider xdp --cable       AF_XDP sockets, between two hosts
  obvia bench send_lat --sizes 64,8K --wait poll --json out.json --plot out.svg

Compare only results of the same run: absolute times vary with the state of the machine.")]
pub(super) struct Arguments {
    /// Provider of the virtual interfaces: shm, udp, fabric (libfabric's tcp), xdp (needs --cable)
    /// [fabric and xdp: features of the build]
    #[arg(long, value_name = "NAME", default_value = "shm")]
    provider: Provider,
    /// Sizes of the messages, in bytes; K and M are understood [default: 64 to 1M]
    #[arg(long, value_delimiter = ',', value_name = "BYTES", value_parser = size)]
    sizes: Option<Vec<usize>>,
    /// Waiting policies of both sides
    #[arg(long, value_delimiter = ',', value_name = "POLICY", default_value = "poll,adaptive,block")]
    wait: Vec<Policy>,
    /// CPUs of client and server [default: the first two]
    #[arg(long, value_name = "CLIENT,SERVER")]
    cpus: Option<Placement>,
    #[command(flatten)]
    extent: Extent,
}

/// The load for messages that fit into one cache line together with their header. Their baseline
/// has no payload.
const IN_LINE: Load = Load { case: "null", bytes: 0 };

impl Arguments {
    fn cases(&self, placement: Placement) -> anyhow::Result<Vec<Box<dyn Case>>> {
        let sizes = self.extent.sizes(self.sizes.as_deref());
        let network = self.provider.path().is_network();
        let paths: &[Path] = match (network, placement.is_one_cpu()) {
            (true, _) => &[Path::Udp, Path::Tcp],
            (false, true) => &[Path::Unix],
            (false, false) => &[Path::RawLine, Path::RawCopy, Path::RawFutex],
        };
        let loads = sizes.iter().map(|bytes| Load { case: "send", bytes: *bytes });
        let in_line = sizes.iter().any(|bytes| *bytes < 64).then_some(IN_LINE);
        let mut cases = raw::cases(paths, &in_line.into_iter().chain(loads).collect::<Vec<_>>(), placement)?;
        if self.provider == Provider::Fabric {
            match raw::pingpongs(&sizes, placement)? {
                Some(pingpongs) => cases.extend(pingpongs),
                None => crate::print::note(
                    "fi_pingpong is left out: it is not installed (Debian: apt install libfabric-bin)",
                ),
            }
        }
        let waits: Vec<_> = self.wait.iter().map(|policy| policy.wait()).collect();
        cases.extend(vi::pings(self.provider, &sizes, &waits, placement)?);
        Ok(cases)
    }
}

/// Measures and reports. Fails after the report when any case failed.
pub(super) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let placement = arguments.cpus.map_or_else(Placement::first_two, Ok)?;
    arguments.extent.measure(Measurement::SendLatency, Some(placement), || arguments.cases(placement))
}
