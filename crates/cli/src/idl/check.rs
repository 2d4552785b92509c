//! The subcommand `obvia idl check`: finds changes that break programs made from an older version
//! of a file.

use super::findings;
use super::input::Input;
use crate::{exit, print};
use clap::Args;
use clap::builder::PossibleValuesParser;
use obvia_idl::Diagnostic;
use obvia_idl::tools::compatibility::{Finding, Kind, breaking_changes};
use serde_json::json;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The arguments of `obvia idl check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  programs that were made from OLD work with programs that are made from FILE
  1  a change breaks them
  2  the comparison is not possible: a file has errors or cannot be read, or the usage is wrong

Example:
  git worktree add --detach ../old main
  obvia idl check calc.idl --against ../old/calc.idl")]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,
    /// The older version of the file, with its imports and its .acf beside it, as in a checkout of
    /// the older version. With `-`, OLD is read from the standard input, with the imports of FILE
    /// and without an .acf. --acf applies to both files
    #[arg(long, value_name = "OLD")]
    against: PathBuf,
    /// Accept changes of this kind, such as method-added
    #[arg(long, value_name = "CODE", value_parser = codes(), hide_possible_values = true)]
    allow: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn codes() -> PossibleValuesParser {
    PossibleValuesParser::new(Kind::ALL.iter().map(|kind| kind.code()))
}

pub(super) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let (input, against) = (&arguments.input, &arguments.against);
    let old = if against == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map_err(|error| exit::usage(format!("no old file: {error}")))?;
        input.check_bytes(bytes)
    } else {
        input.check_other(against)
    };
    let (old, new) = match old.and_then(|old| Ok((old, input.check()?))) {
        Ok(checked) => checked,
        Err(failure) => {
            findings::report(&failure, arguments.json)?;
            return Ok(ExitCode::from(2));
        }
    };
    let is_allowed = |found: &Finding| arguments.allow.iter().any(|code| code == found.kind.code());
    let (allowed, found): (Vec<Finding>, Vec<Finding>) = breaking_changes(&old, &new).into_iter().partition(is_allowed);
    let diagnostics = |found: &[Finding]| found.iter().map(Finding::diagnostic).collect::<Vec<Diagnostic>>();
    if arguments.json {
        print::document(&json!({
            "compatible": found.is_empty(),
            "changes": findings::json(&diagnostics(&found), &new.sources),
            "allowed": findings::json(&diagnostics(&allowed), &new.sources),
            "warnings": findings::json(&new.warnings, &new.sources),
        }))?;
    } else {
        findings::print(&new.warnings, &new.sources);
        findings::print(&diagnostics(&found), &new.sources);
        if !found.is_empty() {
            print::note(&format!("breaking changes: {}", found.len()));
        }
    }
    Ok(ExitCode::from(u8::from(!found.is_empty())))
}
