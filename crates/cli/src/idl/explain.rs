//! The option `obvia idl --explain`: explains the codes of findings.

use crate::{exit, print};
use obvia_idl::most_like;
use obvia_idl::tools::explanations::{codes, explain};
use std::process::ExitCode;

/// Prints the explanation of a code.
pub(super) fn main(code: &str) -> anyhow::Result<ExitCode> {
    let Some(text) = explain(code) else {
        let meant = most_like(code, codes()).map_or_else(String::new, |meant| format!(": did you mean `{meant}`?"));
        return Err(exit::usage(format!("no finding has the code `{code}`{meant}")));
    };
    print::line(&text)?;
    Ok(ExitCode::SUCCESS)
}
