//! The `obvia` command: compiles interfaces, looks at and calls running objects, measures.

#![forbid(unsafe_code)]

mod bench;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Objects in other processes, called through shared memory.
#[derive(Debug, Parser)]
#[command(name = "obvia", version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure calls against the best that the machine can do
    Bench(bench::Arguments),
    /// Call a method of an exported object
    Call(Rest),
    /// Show an interface of an exported object as IDL
    Describe(Rest),
    /// Compile an interface
    Idl(Rest),
    /// List exported objects
    Ls(Rest),
}

/// Whatever follows on the command line.
#[derive(Debug, clap::Args)]
struct Rest {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _arguments: Vec<String>,
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Bench(arguments) => bench::main(arguments),
        Command::Call(_) => not_built("call"),
        Command::Describe(_) => not_built("describe"),
        Command::Idl(_) => not_built("idl"),
        Command::Ls(_) => not_built("ls"),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("obvia: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn not_built(command: &str) -> anyhow::Result<ExitCode> {
    anyhow::bail!("`{command}` is not built yet")
}
