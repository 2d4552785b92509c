//! The `obvia` command: compiles interfaces, looks at and calls running objects, measures.

#![forbid(unsafe_code)]

mod bench;
mod call;
mod describe;
mod epmapper;
mod frame;
mod idl;
mod json;
mod ls;
mod trace;
mod value;

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
    Call(call::Arguments),
    /// Show an interface of an exported object as IDL
    Describe(describe::Arguments),
    /// Be the endpoint mapper of this host: say where interfaces of functions are found
    Epmapper(epmapper::Arguments),
    /// Compile an interface
    Idl(idl::Arguments),
    /// List exported objects, and functions
    Ls(ls::Arguments),
    /// Run a program, and write what it says by the standard's protocols to a file for Wireshark
    Trace(trace::Arguments),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Bench(arguments) => bench::main(arguments),
        Command::Call(arguments) => call::main(&arguments),
        Command::Describe(arguments) => describe::main(&arguments),
        Command::Epmapper(arguments) => epmapper::main(&arguments),
        Command::Idl(arguments) => idl::main(&arguments),
        Command::Ls(arguments) => ls::main(&arguments),
        Command::Trace(arguments) => trace::main(&arguments),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("obvia: {error:#}");
            ExitCode::FAILURE
        }
    }
}
