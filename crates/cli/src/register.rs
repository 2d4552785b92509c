//! The subcommands `obvia register` and `obvia unregister`: registrations of classes, in plain
//! files.

use crate::{exit, print};
use anyhow::{Context, bail};
use clap::Args;
use obvia::GUID;
use obvia::dynamic::guid;
use obvia::scm::{self, Class, Program, Remote};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// The arguments of `obvia register`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia register calc.class
  obvia register --class 0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20 --name Calc --idle-timeout 60 -- ./calc-server --quiet")]
pub(crate) struct Arguments {
    /// Files with registrations: lines such as `class = CLSID` and `program = /usr/libexec/server`
    #[arg(value_name = "FILE", conflicts_with = "class", required_unless_present = "class")]
    files: Vec<PathBuf>,
    /// The class to register, without a file
    #[arg(long, value_name = "CLSID")]
    class: Option<String>,
    /// The class's ProgID, its name for people and scripts
    #[arg(long, requires = "class")]
    name: Option<String>,
    /// The shared library that makes objects of the class in the client's process
    #[arg(long, requires = "class", value_name = "FILE")]
    library: Option<PathBuf>,
    /// The host that makes objects of the class, or a string binding of its SCM
    #[arg(long, requires = "class", value_name = "HOST")]
    host: Option<String>,
    /// A variable of the program's environment
    #[arg(long, requires = "class", value_name = "NAME=VALUE")]
    environment: Vec<String>,
    /// The time within which the program has to serve, in seconds
    #[arg(long, requires = "class", value_name = "SECONDS")]
    start_timeout: Option<u64>,
    /// Seconds after which the program ends if it has no clients; programs may ignore it
    #[arg(long, requires = "class", value_name = "SECONDS")]
    idle_timeout: Option<u64>,
    /// Clients of other hosts that may start the program: everybody, authenticated, or
    /// `account NAME` [default: none]
    #[arg(long, requires = "class", value_name = "WHO")]
    remote: Vec<Remote>,
    /// The program that makes objects of the class in a process of its own, and its arguments
    #[arg(last = true, requires = "class", value_name = "PROGRAM")]
    program: Vec<String>,
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let classes = match &arguments.class {
        Some(class) => vec![class_of(class, arguments)?],
        None => arguments.files.iter().map(|path| read(path)).collect::<anyhow::Result<_>>()?,
    };
    // All registrations are parsed before the first is installed.
    for class in &classes {
        print::line(&format!("{} by {}", guid::to_text(&class.id), scm::install(class)?.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> anyhow::Result<Class> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{}", path.display()))?;
    text.parse().map_err(|error: obvia::Error| anyhow::anyhow!("{}: {error}", path.display()))
}

/// Builds the registration that the arguments describe.
fn class_of(class: &str, arguments: &Arguments) -> anyhow::Result<Class> {
    let Arguments { name, library, host, environment, start_timeout, idle_timeout, remote, program, .. } = arguments;
    let absolute = |path: &Path| std::path::absolute(path).with_context(|| format!("{}", path.display()));
    let program = match program.split_first() {
        None if start_timeout.is_some() || idle_timeout.is_some() || !environment.is_empty() || !remote.is_empty() => {
            return Err(exit::usage(
                "environment, remote clients and timeouts need a program: write it last, after `--`",
            ));
        }
        None => None,
        Some((path, arguments)) => {
            let path = absolute(Path::new(path))?;
            check_program(&path)?;
            let mut program = Program::new(path);
            program.arguments = arguments.to_vec();
            for variable in environment {
                let parts = variable.split_once('=').with_context(|| format!("`{variable}`: write NAME=VALUE"))?;
                program.environment.push((parts.0.to_owned(), parts.1.to_owned()));
            }
            program.start_timeout = start_timeout.map_or(program.start_timeout, Duration::from_secs);
            program.idle_timeout = idle_timeout.map(Duration::from_secs);
            Some(program)
        }
    };
    let library = library.as_deref().map(absolute).transpose()?;
    if let Some(library) = library.as_deref().filter(|library| !library.is_file()) {
        return Err(exit::usage(format!("the library {} does not exist", library.display())));
    }
    if library.is_none() && program.is_none() && host.is_none() {
        return Err(exit::usage(
            "no option says where objects of the class are created: write --library FILE, --host HOST, or -- PROGRAM",
        ));
    }
    let (name, host, remote) = (name.clone(), host.clone(), remote.clone());
    Ok(Class { id: class_id(class)?, name, library, program, host, remote })
}

fn class_id(text: &str) -> anyhow::Result<GUID> {
    let wrong = || exit::usage(format!("`{text}` is not a CLSID: write it as 0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20"));
    guid::parse(text).ok_or_else(wrong)
}

/// Refuses a program that is not executable, so that the mistake is noticed at registration instead
/// of at activation.
fn check_program(path: &Path) -> anyhow::Result<()> {
    let found =
        std::fs::metadata(path).map_err(|error| exit::usage(format!("the program {}: {error}", path.display())))?;
    if found.is_file() && found.permissions().mode() & 0o111 != 0 {
        return Ok(());
    }
    Err(exit::usage(format!("the program {} is not executable", path.display())))
}

/// The arguments of `obvia unregister`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia unregister Calc
  obvia unregister 0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20")]
pub(crate) struct Unregister {
    /// The classes, by CLSID or name
    #[arg(required = true, value_name = "CLASS")]
    classes: Vec<String>,
}

pub(crate) fn unregister(arguments: &Unregister) -> anyhow::Result<ExitCode> {
    for text in &arguments.classes {
        let class = guid::parse(text).map_or_else(|| obvia::dcom::class_named(text), Ok)?;
        let Some(path) = scm::remove(&class)? else {
            let elsewhere =
                scm::find(&class).ok().flatten().map(|(_, path)| format!("; another one is {}", path.display()));
            bail!("this user has no registration of `{text}`{}", elsewhere.unwrap_or_default());
        };
        print::line(&format!("{} is no longer registered by {}", guid::to_text(&class), path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}
