//! The subcommand `obvia classes`: registered classes, and the processes that serve them.

use crate::{print, table};
use clap::Args;
use obvia::dynamic::guid;
use obvia::scm::{self, Class};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments of `obvia classes`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia classes -v                                      with the files of the registrations
  obvia classes --json | jq '.[] | select(.pid)'        the classes that a process serves")]
pub(crate) struct Arguments {
    /// Show the files too
    #[arg(short, long)]
    verbose: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The registration and the server process of a class.
#[derive(Default)]
struct Known {
    registered: Option<(PathBuf, obvia::Result<Class>)>,
    /// The process ID of the server, 0 if it could not be read.
    running: Option<u32>,
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    for (path, class) in scm::classes() {
        let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        known.entry(id).or_default().registered = Some((path, class));
    }
    for running in scm::running()? {
        known.entry(guid::to_text(&running.class)).or_default().running = Some(running.pid.unwrap_or_default());
    }
    if arguments.json {
        print::document(&known.iter().map(|(id, known)| entry(id, known)).collect::<Value>())?;
    } else if known.is_empty() {
        print::note("no class is registered: use `obvia register`");
    } else {
        let mut rows = vec![["CLASS", "NAME", "PID", "BY", "FILE"].map(str::to_owned)];
        rows.extend(known.iter().map(|(id, known)| row(id, known)));
        table::print(&rows, if arguments.verbose { 5 } else { 4 })?;
    }
    let has_wrong = known.values().any(|known| matches!(known.registered, Some((_, Err(_)))));
    Ok(if has_wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Describes where a class's objects are created: the registered library, program and host.
fn by(class: &Class) -> String {
    let library = class.library.as_ref().map(|path| format!("library {}", path.display()));
    let program = class.program.as_ref().map(|program| format!("program {}", program.path.display()));
    let host = class.host.as_ref().map(|host| format!("host {host}"));
    [library, program, host].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn row(id: &str, known: &Known) -> [String; 5] {
    let none = || "-".to_owned();
    let pid = known.running.map_or_else(none, |pid| pid.to_string());
    let (name, by, path) = match &known.registered {
        None => (none(), none(), none()),
        Some((path, Ok(class))) => (class.name.clone().unwrap_or_else(none), by(class), path.display().to_string()),
        Some((path, Err(error))) => (none(), format!("error: {error}"), path.display().to_string()),
    };
    [id.to_owned(), name, pid, by, path]
}

fn entry(id: &str, known: &Known) -> Value {
    let (path, class, error) = match &known.registered {
        None => (None, None, None),
        Some((path, Ok(class))) => (Some(path), Some(class), None),
        Some((path, Err(error))) => (Some(path), None, Some(error.to_string())),
    };
    let program = class.and_then(|class| class.program.as_ref()).map(|program| {
        json!({
            "path": program.path, "arguments": program.arguments, "environment": program.environment,
            "start_timeout": program.start_timeout.as_secs(), "idle_timeout": program.idle_timeout.map(|idle| idle.as_secs()),
        })
    });
    let remote = class.map(|class| class.remote.iter().map(ToString::to_string).collect::<Vec<_>>());
    json!({
        "class": id, "name": class.and_then(|class| class.name.as_ref()), "pid": known.running, "file": path,
        "library": class.and_then(|class| class.library.as_ref()), "program": program,
        "host": class.and_then(|class| class.host.as_ref()), "remote": remote, "error": error,
    })
}
