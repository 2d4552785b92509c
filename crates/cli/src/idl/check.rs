//! The subcommand `obvia idl check`: finds changes that break programs made from an older version
//! of a file.

use super::findings;
use super::input::Input;
use crate::{exit, print};
use clap::Args;
use clap::builder::PossibleValuesParser;
use obvia_idl::source::Sources;
use obvia_idl::tools::compatibility::{Finding, Kind, breaking_changes};
use serde_json::{Value, json};
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
  git show main:calc.idl | obvia idl check calc.idl --against -")]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,
    /// The older version of the file; `-` for the standard input. Imports are looked for beside
    /// OLD, or beside FILE for the standard input
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
        input.check_text(&String::from_utf8_lossy(&bytes))
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
    if arguments.json {
        print::document(&json!({
            "compatible": found.is_empty(),
            "changes": changes(&found, &new.sources),
            "allowed": changes(&allowed, &new.sources),
        }))?;
    } else {
        for change in &found {
            print::note(&format!("{}\n\n", change.diagnostic().render(&new.sources)));
        }
        if !found.is_empty() {
            print::note(&format!("breaking changes: {}", found.len()));
        }
    }
    Ok(ExitCode::from(u8::from(!found.is_empty())))
}

fn changes(found: &[Finding], sources: &Sources) -> Value {
    found
        .iter()
        .map(|change| {
            json!({
                "code": change.kind.code(),
                "message": change.message,
                "file": change.span.map(|span| sources.file(span.file).path.display().to_string()),
                "line": change.span.map(|span| sources.line(span)),
                "breaks": change.kind.why(),
                "mend": change.kind.mend(),
            })
        })
        .collect()
}
