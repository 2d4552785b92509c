//! `obvia tlb`: a type library as IDL.

use crate::json;
use anyhow::Context;
use clap::Args;
use obvia_idl::typelib;
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments of `obvia tlb`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The type library: NAME.tlb
    file: PathBuf,
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let shown = arguments.file.display();
    let bytes = std::fs::read(&arguments.file).with_context(|| format!("{shown} cannot be read"))?;
    let library = typelib::read(&bytes).with_context(|| format!("{shown} is not understood"))?;
    json::line(typelib::idl(&library).trim_end())?;
    Ok(ExitCode::SUCCESS)
}
