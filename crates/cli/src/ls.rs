//! `obvia ls`: what the processes of this user, or a process elsewhere, export by name.

use crate::json;
use clap::Args;
use obvia::Listed;
use serde_json::{Value, json};
use std::process::ExitCode;

/// What stands for something that is not known.
const UNKNOWN: &str = "?";

/// The arguments of `obvia ls`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A string binding, such as ncacn_vi_udp:HOST[PORT]: lists what is exported there
    #[arg(value_name = "BINDING")]
    binding: Option<String>,
    /// Show the interfaces' IIDs and the string bindings too, and the protocol sequence that was used of them
    #[arg(short, long)]
    verbose: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let listed = match &arguments.binding {
        Some(binding) if !obvia::is_string_binding(binding) => {
            anyhow::bail!(
                "`{binding}` is no string binding: write PROTOCOL:HOST[ENDPOINT], as in ncacn_vi_udp:10.0.0.1[5555]"
            )
        }
        Some(binding) => obvia::list_at(binding)?,
        None => obvia::list()?,
    };
    if arguments.json {
        json::document(&listed.iter().map(entry).collect::<Value>())?;
    } else if listed.is_empty() {
        eprintln!("nothing is exported: a server does so with obvia::export");
    } else {
        table(&listed, arguments.verbose)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn entry(listed: &Listed) -> Value {
    let Listed { name, pid, interface, iid, bindings, over } = listed;
    let iid = iid.as_ref().map(|iid| iid.to_ascii_lowercase());
    json!({
        "name": name, "pid": pid, "interface": interface, "iid": iid, "protocols": protocols(listed),
        "bindings": bindings, "over": over,
    })
}

/// The protocol sequences that a process offers.
fn protocols(listed: &Listed) -> Vec<&str> {
    listed.bindings.iter().filter_map(|binding| binding.split(':').next()).collect()
}

fn table(listed: &[Listed], verbose: bool) -> anyhow::Result<()> {
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
    let shown = if verbose { 7 } else { 4 };
    let widths: Vec<usize> =
        (0..shown).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    for row in &rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
        json::line(cells.join("  ").trim_end())?;
    }
    Ok(())
}
