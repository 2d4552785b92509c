//! The subcommand `obvia idl check`: finds changes that break programs made from an older version
//! of a file.

use super::findings;
use super::input::Input;
use crate::print;
use clap::Args;
use clap::builder::PossibleValuesParser;
use obvia_idl::source::Sources;
use obvia_idl::tools::compatibility::{Finding, Kind, breaking_changes};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments of `obvia idl check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  programs that were made from OLD work with programs that are made from FILE
  1  a change breaks them
  2  the comparison is not possible: a file has errors or cannot be read, or the usage is wrong

Example:
  git show main:calc.idl > /tmp/old.idl
  obvia idl check calc.idl --against /tmp/old.idl")]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,
    /// The older version of the file. Its imports are looked for beside it
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
    let checked = arguments.input.check_other(&arguments.against).and_then(|old| Ok((old, arguments.input.check()?)));
    let (old, new) = match checked {
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
