//! The subcommands `obvia bench write_bw` and `read_bw`: the bandwidth of RDMA.

use super::measuring::{Extent, Policy};
use clap::Args;
use obvia_bench::report::Measurement;
use obvia_bench::vi::{self, Direction, Provider};
use obvia_bench::{Case, Path, Placement, raw, size};
use std::process::ExitCode;

/// Measures RDMA between the registered memory of two processes. Each process is pinned to a CPU,
/// and a window of operations is in flight. A baseline, the best that any program could do, takes
/// turns with RDMA in the same run. The baseline of shm is a memcpy between two buffers of one
/// process. The baseline of providers for networks is a TCP stream over the same link. Baselines
/// move pieces of the same size, and have a place for each operation of the window, too.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia bench write_bw                              RDMA writes through shared memory, all sizes
  obvia bench read_bw --sizes 64K,1M --depth 4      RDMA reads, four at once
  obvia bench write_bw --provider fabric --cable    libfabric over TCP, between two hosts
  obvia bench write_bw --provider udp --quick --json out.json --plot out.svg

Compare only results of the same run: absolute times vary with the state of the machine.")]
pub(super) struct Arguments {
    /// Provider of the virtual interfaces: shm, udp, fabric (libfabric's tcp), xdp (needs --cable)
    /// [fabric and xdp: features of the build]
    #[arg(long, value_name = "NAME", default_value = "shm")]
    provider: Provider,
    /// Sizes of the operations, in bytes; K and M are understood [default: 64 to 1M]
    #[arg(long, value_delimiter = ',', value_name = "BYTES", value_parser = size)]
    sizes: Option<Vec<usize>>,
    /// Operations in flight at once
    #[arg(long, value_name = "N", default_value = "16", value_parser = clap::value_parser!(u32).range(1..=4096))]
    depth: u32,
    /// Waiting policies of both sides
    #[arg(long, value_delimiter = ',', value_name = "POLICY", default_value = "poll")]
    wait: Vec<Policy>,
    /// CPUs of client and server [default: the first two]
    #[arg(long, value_name = "CLIENT,SERVER")]
    cpus: Option<Placement>,
    #[command(flatten)]
    extent: Extent,
}

impl Arguments {
    fn cases(&self, direction: Direction, placement: Placement) -> anyhow::Result<Vec<Box<dyn Case>>> {
        let sizes = self.extent.sizes(self.sizes.as_deref());
        let baseline = if self.provider.path().is_network() { Path::TcpStream } else { Path::Memcpy };
        let mut cases = raw::one_way_baselines(direction.name(), &[baseline], &sizes, self.depth, placement)?;
        let waits: Vec<_> = self.wait.iter().map(|policy| policy.wait()).collect();
        cases.extend(vi::transfers(self.provider, direction, &sizes, self.depth, &waits, placement)?);
        Ok(cases)
    }
}

/// Measures and reports. Fails after the report when any case failed.
pub(super) fn main(arguments: &Arguments, direction: Direction) -> anyhow::Result<ExitCode> {
    let placement = arguments.cpus.map_or_else(Placement::first_two, Ok)?;
    arguments.extent.measure(Measurement::Bandwidth, Some(placement), || arguments.cases(direction, placement))
}
