//! `obvia wizard`: makes a project of an interface: an object whose methods are to be written, a server, a client, and a test. Or has an object that is
//! there already called over virtual interfaces.

mod answers;
mod cpp;
mod fill;
mod idl;
mod names;
mod origin;
mod project;
mod questions;
mod rust;
mod specialise;
mod write;

use crate::print;
use anyhow::Context;
use clap::{Args, ValueEnum};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments of `obvia wizard`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia wizard calc.idl --language cpp
  obvia wizard --new greeter --example --language rust --obvia ~/src/obvia")]
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
    /// Write the project to this directory; with --specialise, the file to this one, and not over itself
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// How other hosts reach the server, besides other processes of this one; several with commas
    #[arg(long, value_enum, value_name = "TRANSPORT", value_delimiter = ',')]
    transport: Vec<Transport>,
    /// Have the object called over virtual interfaces, wherever the server is reached
    #[arg(long)]
    over_vi: bool,
    /// Make no project: have a class of this file, in Rust or C++, called over virtual interfaces. With an IDL file, one that has an interface of
    /// that
    #[arg(long, value_name = "FILE", conflicts_with_all = ["new", "interface", "name", "transport", "over_vi", "obvia"])]
    specialise: Option<PathBuf>,
    /// Where obvia is: a checkout, or for C++ an installation. Where nothing is said, the one that this command belongs to, or for C++ what
    /// is installed
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
    let output = match &arguments.specialise {
        Some(path) => {
            specialise::main(arguments, path, &mut asking)?;
            None
        }
        None => Some(project(arguments, &mut asking)?),
    };
    if let Some(line) = asking.command_line() {
        print::line(&format!("the same again: {line}"))?;
    }
    if let Some(output) = output {
        print::line(&format!("{} says how to build and run it", output.join("README.md").display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes a project, and returns where it is.
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
    write::write(&answers.output, &files, arguments.force)?;
    answers.idl.check(&answers.output)?;
    Ok(answers.output)
}
