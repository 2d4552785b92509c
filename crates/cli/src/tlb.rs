//! The subcommand `obvia tlb`: shows a type library as IDL.

use crate::print;
use anyhow::Context;
use clap::Args;
use obvia_idl::typelib::{self, TypeLibrary};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The arguments of `obvia tlb`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  obvia tlb notes.tlb")]
pub(crate) struct Arguments {
    /// The type library: NAME.tlb
    file: PathBuf,
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    print::line(typelib::idl(&load(&arguments.file)?).trim_end())?;
    Ok(ExitCode::SUCCESS)
}

/// Reads a type library from a file.
pub(crate) fn load(file: &Path) -> anyhow::Result<TypeLibrary> {
    let bytes = std::fs::read(file).with_context(|| format!("{} cannot be read", file.display()))?;
    typelib::read(&bytes).with_context(|| format!("{} is not a valid type library", file.display()))
}
