//! `obvia wizard`: makes a project of an interface: an object whose methods are to be written, a server, a client, and a test.

mod answers;
mod cpp;
mod fill;
mod idl;
mod names;
mod origin;
mod project;
mod questions;
mod rust;
mod write;

use crate::json;
use clap::{Args, ValueEnum};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments of `obvia wizard`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The IDL file that has the interface
    file: Option<PathBuf>,
    /// Begin without an IDL file: a small interface of this name is written, too
    #[arg(long, value_name = "NAME", conflicts_with_all = ["file", "interface", "include"])]
    new: Option<String>,
    /// Write the methods of the new interface, too, which has its callers called back
    #[arg(long, requires = "new", conflicts_with = "file")]
    example: bool,
    /// Look for imports in this directory too
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    include: Vec<PathBuf>,
    /// The interface, where the file has several
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,
    /// What the object's class is called
    #[arg(long, value_name = "NAME")]
    class: Option<String>,
    /// The language of the project
    #[arg(short, long, value_enum)]
    language: Option<Language>,
    /// What the project is called, its programs begin with, and the object is exported by
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Write the project to this directory
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// How other hosts reach the server, besides other processes of this one; several with commas
    #[arg(long, value_enum, value_name = "TRANSPORT", value_delimiter = ',')]
    transport: Vec<Transport>,
    /// Where obvia is: a checkout, or for C++ an installation. Where nothing is said, the one that this command belongs to, or what is
    /// published or installed as this version
    #[arg(long, value_name = "DIR")]
    obvia: Option<PathBuf>,
    /// Replace files that are there already
    #[arg(long)]
    force: bool,
    /// Ask nothing, as where there is no terminal
    #[arg(short, long)]
    yes: bool,
}

/// A language that projects are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Language {
    /// Rust, with cargo
    Rust,
    /// C++, with CMake
    Cpp,
}

/// How other hosts reach a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Transport {
    /// Not at all: this host alone, through shared memory
    Shm,
    /// A virtual interface over UDP, ncacn_vi_udp
    Udp,
    /// DCE/RPC over TCP, ncacn_ip_tcp
    Tcp,
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut asking = questions::Asking::new(!arguments.yes && std::io::stdin().is_terminal());
    let answers = answers::answers(arguments, &mut asking)?;
    let files = match answers.language {
        Language::Rust => rust::files(&answers),
        Language::Cpp => cpp::files(&answers),
    };
    write::write(&answers.output, &files, arguments.force)?;
    answers.idl.check(&answers.output)?;
    if let Some(line) = asking.command_line() {
        json::line(&format!("the same again: {line}"))?;
    }
    json::line(&format!("{} says how to build and run it", answers.output.join("README.md").display()))?;
    Ok(ExitCode::SUCCESS)
}
