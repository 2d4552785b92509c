//! The subcommand `obvia manual`: pages for man(1), one for the command and one for each
//! subcommand.

use crate::print;
use anyhow::Context;
use clap::{Args, Command};
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments of `obvia manual`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia manual ~/.local/share/man/man1
  man obvia-call")]
pub(crate) struct Arguments {
    /// The directory to write to; created if missing
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Writes the pages of the command `obvia`.
pub(crate) fn main(Arguments { directory }: &Arguments, obvia: Command) -> anyhow::Result<ExitCode> {
    std::fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    clap_mangen::generate_to(obvia, directory)
        .with_context(|| format!("cannot write manual pages to {}", directory.display()))?;
    print::line(&format!("wrote obvia.1 and a page for each subcommand to {}", directory.display()))?;
    Ok(ExitCode::SUCCESS)
}
