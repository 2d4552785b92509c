//! The subcommand `obvia idl doc`: writes a reference of IDL files in HTML.

use super::findings;
use crate::{exit, print};
use clap::Args;
use obvia_idl::tools::doc::{pages, write};
use obvia_idl::{Compilation, Compiler};
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments of `obvia idl doc`.
#[derive(Debug, Args)]
#[command(after_help = "\
DIR must be new, empty, or made by an earlier run, whose files are then replaced. The pages
need no server and no network.

Exit codes:
  0  the pages were written
  2  a file has errors or cannot be read, the folder cannot be written, or the usage is wrong

Example:
  obvia idl doc calc.idl notes.idl -o reference    writes reference/index.html and the other pages")]
pub(super) struct Arguments {
    /// The IDL files. Files that they import are included, except built-in ones
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Look for imports in this directory too
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Define a macro before each file: NAME=TEXT, or NAME, which stands for 1
    #[arg(short = 'D', long = "define", value_name = "MACRO")]
    define: Vec<String>,
    /// Accept what other compilers accept
    #[arg(long)]
    permissive: bool,
    /// Write the pages to this folder
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: PathBuf,
}

pub(super) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let compiler = arguments.include.iter().fold(Compiler::new().permissive(arguments.permissive), Compiler::include);
    let compiler = arguments.define.iter().fold(compiler, Compiler::define);
    let mut compilations: Vec<Compilation> = Vec::new();
    let mut is_faulty = false;
    for file in &arguments.files {
        match compiler.check(file) {
            Ok(compilation) => {
                findings::print(&compilation.warnings, &compilation.sources);
                compilations.push(compilation);
            }
            Err(failure) => {
                findings::report(&failure, false)?;
                is_faulty = true;
            }
        }
    }
    if is_faulty {
        return Ok(ExitCode::from(2));
    }
    let (pages, output) = (pages(&compilations), &arguments.output);
    write(&pages, output).map_err(|error| exit::usage(error.to_string()))?;
    print::line(&format!("wrote {} files: open {}", pages.len(), output.join("index.html").display()))?;
    Ok(ExitCode::SUCCESS)
}
