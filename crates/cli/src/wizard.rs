//! The subcommand `obvia wizard`: generates a project for an interface, with an object whose
//! methods are to be written, a server, a client, and a test; or adds a marshaler to an existing
//! class, so that its objects are called over virtual interfaces.

mod answers;
mod c;
mod cpp;
mod fill;
mod idl;
mod java;
mod names;
pub(crate) mod new;
pub(crate) mod origin;
mod project;
mod questions;
mod rust;
mod specialise;
mod write;

use crate::print;
use answers::Answers;
use anyhow::Context;
use clap::{Args, ValueEnum};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The arguments of `obvia wizard`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia wizard calc.idl --language cpp
  obvia wizard calc.idl --language rust --transport udp --obvia ~/src/obvia

`obvia new` begins a project without an IDL file.")]
pub(crate) struct Arguments {
    /// The IDL file that has the interface
    file: Option<PathBuf>,
    /// Look for imports in this directory too
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    include: Vec<PathBuf>,
    /// The interface, if the file has several
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,
    /// The name of the object's class
    #[arg(long, value_name = "NAME")]
    class: Option<String>,
    /// The language of the project
    #[arg(short, long, value_enum)]
    language: Option<Language>,
    /// The name of the project, under which the object is exported, and the prefix of the programs'
    /// names
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Write the project to this directory; with --specialise, write to this file instead of the
    /// same one
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Transports for clients on other hosts, beside those on this host; several with commas
    #[arg(long, value_enum, value_name = "TRANSPORT", value_delimiter = ',')]
    transport: Vec<Transport>,
    /// Let clients call the object over virtual interfaces, on every transport of the server
    #[arg(long)]
    over_vi: bool,
    /// Instead of a project, rewrite this file so that objects of one class, in Rust or C++, are
    /// called over virtual interfaces. With an IDL file, only classes with one of its interfaces
    /// count
    #[arg(long, value_name = "FILE", conflicts_with_all = ["interface", "name", "transport", "over_vi", "obvia"])]
    specialise: Option<PathBuf>,
    /// The directory of obvia: a checkout, or for C++ an installation [default: the one that this
    /// command belongs to, or for C++ an installed one]
    #[arg(long, value_name = "DIR")]
    obvia: Option<PathBuf>,
    /// Replace existing files
    #[arg(long)]
    force: bool,
    /// Ask no questions, as without a terminal
    #[arg(short, long)]
    yes: bool,
}

/// The language of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Language {
    /// Rust, with cargo
    Rust,
    /// C++, with CMake
    Cpp,
}

/// A transport for clients on other hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Transport {
    /// No other hosts: this host alone, through shared memory
    Shm,
    /// A virtual interface over UDP, ncacn_vi_udp
    Udp,
    /// DCE/RPC over TCP, ncacn_ip_tcp
    Tcp,
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut asking = questions::Asking::new(!arguments.yes && std::io::stdin().is_terminal());
    let output = match &arguments.specialise {
        Some(path) => {
            specialise::main(arguments, path, &mut asking)?;
            None
        }
        None => Some(project(arguments, &mut asking)?),
    };
    if let Some(line) = asking.command_line() {
        print::line(&format!("to repeat this: {line}"))?;
    }
    output.iter().try_for_each(|output| name_readme(output))?;
    Ok(ExitCode::SUCCESS)
}

/// Generates a project, and returns its directory.
fn project(arguments: &Arguments, asking: &mut questions::Asking) -> anyhow::Result<PathBuf> {
    let answers = answers::answers(arguments, asking)?;
    let mut files = match answers.language {
        Language::Rust => rust::files(&answers)?,
        Language::Cpp => cpp::files(&answers),
    };
    if answers.is_over_vi {
        let component = files
            .iter_mut()
            .find(|file| file.path.starts_with("src") && file.path.file_stem() == Some("component".as_ref()));
        let component = component.context("there is no component")?;
        let text = std::str::from_utf8(&component.bytes)?;
        let specialised = specialise::component(text, &answers.class, answers.language);
        component.bytes = specialised.map_err(anyhow::Error::msg)?.into_bytes();
    }
    write(&answers, &files, arguments.force)?;
    Ok(answers.output)
}

/// Writes the files of a project, and checks that its IDL files compile there.
fn write(answers: &Answers, files: &[write::File], force: bool) -> anyhow::Result<()> {
    write::write(&answers.output, files, force)?;
    answers.idl.check(&answers.output)
}

/// Prints the place where a project's commands are described.
fn name_readme(output: &Path) -> anyhow::Result<()> {
    print::line(&format!("{} describes how to build and run the project", output.join("README.md").display()))
}
