//! The subcommand `obvia bench pfs_reread`: the cost of reading a file through a file server.

use super::measuring::{Extent, Policy};
use clap::Args;
use obvia_bench::report::Measurement;
use obvia_bench::{Case, Path, Placement, reread, size};
use std::process::ExitCode;

/// Measures reads of a file that is in the page cache, block after block: by pread(2) in the
/// process that wants the bytes, by a file server over obvia, and by the same server over a Unix
/// socket. Over obvia the server copies the bytes to the caller (pfs_read), or reads the file
/// straight into the caller's shared memory (pfs_read_shared), or into memory that it lends to the
/// caller (pfs_read_lent). All cases take turns in one run, and each is compared with pread(2).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia bench pfs_reread                            blocks of 4 and 64 KiB
  obvia bench pfs_reread --quick --sizes 4K --wait poll
  obvia bench pfs_reread --json out.json --plot out.svg

Compare only results of the same run: absolute times vary with the state of the machine.")]
pub(super) struct Arguments {
    /// Sizes of the blocks, in bytes; K and M are understood [default: 4K,64K]
    #[arg(long, value_delimiter = ',', value_name = "BYTES", value_parser = size)]
    sizes: Option<Vec<usize>>,
    /// Waiting policies of both sides
    #[arg(long, value_delimiter = ',', value_name = "POLICY", default_value = "poll,adaptive,block")]
    wait: Vec<Policy>,
    /// Paths to measure: pread, ncacn_vi_shm, unix [default: all]
    #[arg(long, value_delimiter = ',', value_name = "PATH", value_parser = path)]
    paths: Option<Vec<Path>>,
    /// CPUs of client and server [default: the first two]
    #[arg(long, value_name = "CLIENT,SERVER")]
    cpus: Option<Placement>,
    #[command(flatten)]
    extent: Extent,
}

impl Arguments {
    fn cases(&self, placement: Placement) -> anyhow::Result<Vec<Box<dyn Case>>> {
        let paths = self.paths.as_deref().unwrap_or(&reread::PATHS);
        let sizes = self.sizes.as_deref().unwrap_or(&reread::SIZES);
        let waits: Vec<_> = self.wait.iter().map(|policy| policy.wait()).collect();
        Ok(reread::cases(paths, sizes, &waits, placement)?)
    }
}

/// Measures and reports. Fails after the report when any case failed.
pub(super) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let placement = arguments.cpus.map_or_else(Placement::first_two, Ok)?;
    arguments.extent.measure(Measurement::Reread, Some(placement), || arguments.cases(placement))
}

fn path(text: &str) -> Result<Path, String> {
    let names = || reread::PATHS.map(Path::name).join(", ");
    reread::PATHS.into_iter().find(|path| path.name() == text).ok_or_else(|| format!("expected one of {}", names()))
}
