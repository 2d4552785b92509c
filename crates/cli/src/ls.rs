//! `obvia ls`: what the processes of this user export by name.

use crate::json;
use clap::Args;
use obvia::Listed;
use serde_json::{Value, json};
use std::process::ExitCode;

/// The protocol sequence by which names of this host are reached.
const PROTOCOL: &str = "ncacn_vi_shm";
/// What stands for something that is not known.
const UNKNOWN: &str = "?";

/// The arguments of `obvia ls`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Show the interfaces' IIDs too
    #[arg(short, long)]
    verbose: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let listed = obvia::list()?;
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
    let Listed { name, pid, interface, iid } = listed;
    let iid = iid.as_ref().map(|iid| iid.to_ascii_lowercase());
    json!({ "name": name, "pid": pid, "interface": interface, "iid": iid, "protocol": PROTOCOL })
}

fn table(listed: &[Listed], verbose: bool) -> anyhow::Result<()> {
    let mut rows = vec![["NAME", "PID", "INTERFACE", "PROTOCOL", "IID"].map(str::to_owned)];
    for listed in listed {
        let or_unknown = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
        rows.push([
            listed.name.clone(),
            or_unknown(listed.pid.map(|pid| pid.to_string())),
            or_unknown(listed.interface.clone()),
            PROTOCOL.to_owned(),
            or_unknown(listed.iid.as_ref().map(|iid| iid.to_ascii_lowercase())),
        ]);
    }
    let shown = if verbose { 5 } else { 4 };
    let widths: Vec<usize> =
        (0..shown).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    for row in &rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
        json::line(cells.join("  ").trim_end())?;
    }
    Ok(())
}
