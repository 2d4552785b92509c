//! Findings of the compiler and its tools, as JSON and as text.

use crate::print;
use obvia_idl::source::Sources;
use obvia_idl::{Diagnostic, Failure, Severity};
use serde_json::{Value, json};

/// Returns findings as JSON.
pub(super) fn json(diagnostics: &[Diagnostic], sources: &Sources) -> Value {
    diagnostics
        .iter()
        .map(|finding| {
            let file = finding.span.map(|span| sources.file(span.file).path.display().to_string());
            json!({
                "severity": match finding.severity { Severity::Error => "error", Severity::Warning => "warning" },
                "code": finding.code,
                "message": finding.message,
                "file": file,
                "line": finding.span.map(|span| sources.line(span)),
                "help": finding.help,
            })
        })
        .collect()
}

/// Reports the errors of a file.
pub(super) fn report(failure: &Failure, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        print::document(&json!({ "diagnostics": json(&failure.diagnostics, &failure.sources) }))
    } else {
        print::note(&failure.to_string());
        Ok(())
    }
}
