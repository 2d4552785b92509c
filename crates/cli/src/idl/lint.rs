//! The subcommand `obvia idl lint`: reports declarations that are likely to cause trouble.

use super::findings;
use super::input::Input;
use crate::print;
use clap::Args;
use clap::builder::PossibleValuesParser;
use obvia_idl::Diagnostic;
use obvia_idl::tools::lint::{Rule, lint};
use serde_json::json;
use std::process::ExitCode;

/// The arguments of `obvia idl lint`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  no findings
  1  findings
  2  the file has errors or cannot be read, or the usage is wrong

Example:
  obvia idl lint calc.idl --allow layout-hole")]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,
    /// Turn a rule off, such as layout-hole
    #[arg(long, value_name = "CODE", value_parser = codes(), hide_possible_values = true)]
    allow: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn codes() -> PossibleValuesParser {
    PossibleValuesParser::new(Rule::ALL.iter().map(|rule| rule.code()))
}

pub(super) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let checked = match arguments.input.check() {
        Ok(checked) => checked,
        Err(failure) => {
            findings::report(&failure, arguments.json)?;
            return Ok(ExitCode::from(2));
        }
    };
    let found =
        lint(&checked).into_iter().filter(|found| !arguments.allow.iter().any(|code| code == found.rule.code()));
    let found: Vec<Diagnostic> = found.map(|found| found.diagnostic()).collect();
    if arguments.json {
        print::document(&json!({ "diagnostics": findings::json(&found, &checked.sources) }))?;
    } else {
        for finding in &found {
            print::note(&format!("{}\n\n", finding.render(&checked.sources)));
        }
    }
    Ok(ExitCode::from(u8::from(!found.is_empty())))
}
