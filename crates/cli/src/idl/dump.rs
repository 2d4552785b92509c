//! The subcommand `obvia idl dump`: prints the checked declarations of a file as JSON, for programs
//! that write code or documents of their own. docs/idl-dump.md describes the form.

mod declarations;
mod interfaces;
mod libraries;
mod types;

use super::findings;
use super::input::Input;
use crate::print;
use clap::Args;
use obvia_idl::Compilation;
use obvia_idl::source::Role;
use serde_json::{Value, json};
use std::process::ExitCode;

/// The version of the form. The number increases with each change that programs have to know.
const FORMAT: u32 = 1;

/// The arguments of `obvia idl dump`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  the declarations were printed
  2  the file has errors or cannot be read, or the usage is wrong

Example:
  obvia idl dump --json calc.idl | jq '.interfaces[].methods[].name'")]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,
    /// Print JSON, which is the only form
    #[arg(long, required = true)]
    json: bool,
}

pub(super) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    match arguments.input.check() {
        Ok(compilation) => {
            print::document(&document(&compilation))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(failure) => {
            findings::report(&failure, arguments.json)?;
            Ok(ExitCode::from(2))
        }
    }
}

fn document(compilation: &Compilation) -> Value {
    let model = &compilation.model;
    let files = compilation.sources.files().iter().filter(|file| file.role != Role::BuiltIn);
    json!({
        "format": FORMAT,
        "name": compilation.name,
        "files": files.map(|file| file.path.display().to_string()).collect::<Vec<_>>(),
        "diagnostics": findings::json(&compilation.warnings, &compilation.sources),
        "constants": declarations::constants(model),
        "typedefs": declarations::typedefs(model),
        "enums": declarations::enums(model),
        "structs": declarations::structs(model),
        "unions": declarations::unions(model),
        "interfaces": interfaces::all(model),
        "dispinterfaces": libraries::dispinterfaces(model),
        "coclasses": libraries::coclasses(model),
        "libraries": libraries::all(model),
    })
}
