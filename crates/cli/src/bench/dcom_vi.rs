//! The subcommand `obvia bench dcom_vi`: the cost of an object's call over virtual interfaces and
//! over DCOM's transports.

use super::measuring::{Extent, Policy};
use clap::Args;
use obvia_bench::calls::{self, Method};
use obvia_bench::report::Measurement;
use obvia_bench::{Case, Path, Placement, size};
use std::process::ExitCode;

/// Measures round trips of MoveData, which sends an array there and back, by one client of one
/// object. The standard's transports (ORPC in NDR) are UDP, TCP, and a Unix socket of the same
/// host. The transports over virtual interfaces are their protocol sequences, and custom marshaling
/// of an object whose process listens on TCP alone. All cases take turns in one run. Each is
/// compared with the standard's transport to a local server, dcom_lrpc, with the same waiting
/// policy. One direction costs half of the round trip.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia bench dcom_vi                               4 bytes to 64 KiB
  obvia bench dcom_vi --quick --sizes 4,4K --wait block
  obvia bench dcom_vi --json out.json --plot out.svg

Compare only results of the same run: absolute times vary with the state of the machine.")]
pub(super) struct Arguments {
    /// Sizes of the array, in bytes; K is understood [default: 4 to 64K]
    #[arg(long, value_delimiter = ',', value_name = "BYTES", value_parser = size)]
    sizes: Option<Vec<usize>>,
    /// Waiting policies of both sides
    #[arg(long, value_delimiter = ',', value_name = "POLICY", default_value = "poll,block")]
    wait: Vec<Policy>,
    /// Paths to measure: ncacn_vi_shm, custom_vi_shm, ncacn_vi_fabric, ncacn_vi_xdp, ncacn_vi_udp,
    /// ncadg_ip_udp, dcom_ip_tcp, dcom_lrpc [default: all but fabric and xdp]
    #[arg(long, value_delimiter = ',', value_name = "PATH", value_parser = path)]
    paths: Option<Vec<Path>>,
    /// CPUs of client and server [default: the first two]
    #[arg(long, value_name = "CLIENT,SERVER")]
    cpus: Option<Placement>,
    #[command(flatten)]
    extent: Extent,
}

/// The default sizes in bytes: from one number to arrays too long for one fragment.
const SIZES: [usize; 8] = [4, 64, 256, 1 << 10, 4 << 10, 8 << 10, 16 << 10, 64 << 10];

/// The paths that can be measured.
const PATHS: [Path; 8] = [
    Path::NcacnViShm,
    Path::CustomViShm,
    Path::NcacnViFabric,
    Path::NcacnViXdp,
    Path::NcacnViUdp,
    Path::NcadgIpUdp,
    Path::DcomIpTcp,
    Path::DcomLrpc,
];

impl Arguments {
    fn cases(&self, placement: Placement) -> anyhow::Result<Vec<Box<dyn Case>>> {
        let has_all = |path: &Path| !matches!(path, Path::NcacnViFabric | Path::NcacnViXdp);
        let paths = self.paths.clone().unwrap_or_else(|| PATHS.into_iter().filter(has_all).collect());
        let sizes = self.sizes.as_deref().unwrap_or(&SIZES);
        let waits: Vec<_> = self.wait.iter().map(|policy| policy.wait()).collect();
        let mut cases = Vec::new();
        for path in paths {
            cases.extend(calls::cases(path, &[Method::MoveData], sizes, &waits, placement)?);
        }
        Ok(cases)
    }
}

/// Measures and reports. Fails after the report when any case failed.
pub(super) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let placement = arguments.cpus.map_or_else(Placement::first_two, Ok)?;
    arguments.extent.measure(Measurement::DcomOverVi, Some(placement), || arguments.cases(placement))
}

fn path(text: &str) -> Result<Path, String> {
    let names = || PATHS.map(Path::name).join(", ");
    PATHS.into_iter().find(|path| path.name() == text).ok_or_else(|| format!("expected one of {}", names()))
}
