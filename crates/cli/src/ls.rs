//! The subcommand `obvia ls`: lists exported names and interfaces of functions, of this user's
//! processes or at a binding.

use crate::credentials::User;
use crate::limit::Limit;
use crate::{exit, print, table};
use clap::Args;
use obvia::dynamic::guid;
use obvia::{Listed, Performed, code};
use serde_json::{Value, json};
use std::process::ExitCode;

/// The text for unknown values.
const UNKNOWN: &str = "?";

/// The arguments of `obvia ls`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia ls                                     what this user's processes export
  obvia ls -v 'ncacn_vi_udp:10.0.0.1[5555]'    what a process of another host does
  obvia ls ncacn_ip_tcp:10.0.0.1               what that host's endpoint mapper knows")]
pub(crate) struct Arguments {
    /// A string binding, such as ncacn_vi_udp:HOST[PORT]: lists the exported objects and the
    /// functions there; without an endpoint, as in ncacn_ip_tcp:HOST, the entries of the host's
    /// endpoint mapper
    #[arg(value_name = "BINDING")]
    binding: Option<String>,
    /// Show IIDs, string bindings, and the protocol sequence that was used as well
    #[arg(short, long)]
    verbose: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    user: User,
}

pub(crate) fn main(arguments: Arguments) -> anyhow::Result<ExitCode> {
    arguments.user.set()?;
    arguments.limit.run(move || run(&arguments))
}

fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let (listed, performed) = match &arguments.binding {
        Some(binding) if !obvia::is_string_binding(binding) => {
            return Err(exit::usage(format!(
                "`{binding}` is not a string binding: write PROTOCOL:HOST[ENDPOINT], as in ncacn_vi_udp:10.0.0.1[5555]"
            )));
        }
        Some(binding) => at(binding)?,
        None => (obvia::list()?, Vec::new()),
    };
    if arguments.json {
        print::document(&listed.iter().map(entry).chain(performed.iter().map(functions)).collect::<Value>())?;
    } else if listed.is_empty() && performed.is_empty() {
        print::note("no name is exported: servers export names by obvia::export");
    } else {
        if !listed.is_empty() {
            objects_table(&listed, arguments.verbose)?;
        }
        if !performed.is_empty() {
            functions_table(&performed, arguments.verbose)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the exported objects and the interfaces of functions at a string binding.
fn at(binding: &str) -> obvia::Result<(Vec<Listed>, Vec<Performed>)> {
    let performed = obvia::performed_at(binding)?;
    // Servers of other implementations, and endpoint mappers, have no exported names.
    let listed = match obvia::list_at(binding) {
        Err(error) if error.code() == code::RPC_S_SERVER_UNAVAILABLE => return Err(error),
        listed => listed.unwrap_or_default(),
    };
    Ok((listed, performed))
}

fn functions(performed: &Performed) -> Value {
    let Performed { uuid, version: (major, minor), interface, object, annotation, binding } = performed;
    json!({
        "interface": interface, "iid": guid::to_text(uuid), "version": format!("{major}.{minor}"),
        "object": object.as_ref().map(guid::to_text), "annotation": annotation, "bindings": [binding],
    })
}

fn entry(listed: &Listed) -> Value {
    let Listed { name, pid, interface, iid, bindings, over } = listed;
    let iid = iid.as_ref().map(|iid| iid.to_ascii_lowercase());
    json!({
        "name": name, "pid": pid, "interface": interface, "iid": iid, "protocols": protocols(listed),
        "bindings": bindings, "over": over,
    })
}

/// Returns the protocol sequences that a process offers.
fn protocols(listed: &Listed) -> Vec<&str> {
    listed.bindings.iter().filter_map(|binding| binding.split(':').next()).collect()
}

fn objects_table(listed: &[Listed], verbose: bool) -> anyhow::Result<()> {
    let mut rows = vec![["NAME", "PID", "INTERFACE", "PROTOCOL", "IID", "OVER", "BINDINGS"].map(str::to_owned)];
    for listed in listed {
        let or_unknown = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
        let list = |texts: Vec<&str>| or_unknown((!texts.is_empty()).then(|| texts.join(",")));
        rows.push([
            listed.name.clone(),
            or_unknown(listed.pid.map(|pid| pid.to_string())),
            or_unknown(listed.interface.clone()),
            list(protocols(listed)),
            or_unknown(listed.iid.as_ref().map(|iid| iid.to_ascii_lowercase())),
            or_unknown(listed.over.clone()),
            list(listed.bindings.iter().map(String::as_str).collect()),
        ]);
    }
    table::print(&rows, if verbose { 7 } else { 4 })
}

fn functions_table(performed: &[Performed], verbose: bool) -> anyhow::Result<()> {
    let mut rows = vec![["FUNCTIONS", "VERSION", "UUID", "BINDING", "OBJECT", "ANNOTATION"].map(str::to_owned)];
    for performed in performed {
        let Performed { uuid, version: (major, minor), interface, object, annotation, binding } = performed;
        rows.push([
            interface.clone().unwrap_or_else(|| UNKNOWN.to_owned()),
            format!("{major}.{minor}"),
            guid::to_text(uuid),
            binding.clone(),
            object.as_ref().map_or_else(|| "-".to_owned(), guid::to_text),
            annotation.clone(),
        ]);
    }
    table::print(&rows, if verbose { 6 } else { 4 })
}
