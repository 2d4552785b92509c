//! `tidy`: checks the rules for the source that the documents state. Each rule consists of a table
//! and of a function over the files.

mod circles;
mod documents;
mod floors;
mod formats;
mod order;
mod picture;
mod prose;
mod sizes;
mod targets;
mod unsafety;
mod words;

use crate::outcome::{Outcome, Problem};
use crate::repo::load;
use crate::repo::{File, Repo};
use crate::workspace;
use std::fmt;

pub(crate) use unsafety::is_unsafe;

/// A violation of a rule, found in a line.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    path: String,
    line: usize,
    message: String,
    /// Whether the finding is only a warning, which does not fail the check.
    is_warning: bool,
}

impl Finding {
    fn new(file: &File, line: usize, message: impl Into<String>) -> Self {
        Self { path: file.path.clone(), line, message: message.into(), is_warning: false }
    }

    fn warning(self) -> Self {
        Self { is_warning: true, ..self }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, message, is_warning } = self;
        let kind = if *is_warning { "warning" } else { "error" };
        write!(f, "{path}:{line}: {kind}: {message}")
    }
}

/// A rule: a function from the repository to findings.
type Rule = fn(&Repo) -> Vec<Finding>;

const RULES: &[(&str, Rule)] = &[
    ("floors", floors::check),
    ("circles", circles::check),
    ("order", order::check),
    ("picture", picture::check),
    ("prose", prose::check),
    ("sizes", sizes::check),
    ("targets", targets::check),
    ("unsafe", unsafety::check),
    ("words", words::check),
    ("documents", documents::check),
];

/// Checks the rules, rustfmt and clippy, as a part of a test run.
pub(crate) fn quick() -> Outcome {
    all([("rules", rules()), ("rustfmt", formats::rustfmt()), ("clippy", workspace::lint())])
}

/// Checks the rules, rustfmt, clippy and rustdoc. With `--rules`, checks only the rules. With
/// `--draw`, draws the picture of the floors instead.
pub(crate) fn main(arguments: &[String]) -> Outcome {
    let only_rules = match arguments {
        [] => false,
        [option] if option == "--rules" => true,
        [option] if option == "--draw" => return picture::write(),
        _ => return Err(Problem::failed("usage: cargo xtask tidy [--rules|--draw]")),
    };
    let rules = rules();
    if only_rules {
        return rules;
    }
    all([
        ("rules", rules),
        ("rustfmt", formats::rustfmt()),
        ("clippy", workspace::lint()),
        ("rustdoc", workspace::document()),
    ])
}

/// Returns an error that names the steps that failed, if any did.
fn all<const N: usize>(steps: [(&str, Outcome); N]) -> Outcome {
    let failed: Vec<String> =
        steps.into_iter().filter_map(|(name, outcome)| Some(format!("{name}: {}", outcome.err()?))).collect();
    if failed.is_empty() {
        return Ok(());
    }
    Err(Problem::Failed(failed.join("; ")))
}

fn rules() -> Outcome {
    let repo = load()?;
    let mut errors = 0;
    for (name, rule) in RULES {
        let findings = rule(&repo);
        for finding in &findings {
            println!("{finding} [{name}]");
        }
        errors += findings.iter().filter(|finding| !finding.is_warning).count();
    }
    let proofs = unsafety::count(&repo);
    println!("tidy: {} files, {} rules, {proofs}", repo.files.len(), RULES.len());
    match errors {
        0 => Ok(()),
        1 => Err(Problem::failed("one thing to put right")),
        _ => Err(Problem::Failed(format!("{errors} things to put right"))),
    }
}

/// Returns a rule's findings about a test's files.
#[cfg(test)]
fn said(rule: Rule, files: &[(&str, &str)]) -> Vec<String> {
    let findings = rule(&Repo::of(files));
    let said = findings.iter().map(ToString::to_string);
    said.collect()
}

#[cfg(test)]
mod tests {
    use super::{RULES, Repo};

    #[test]
    fn tidy_reads_the_repository() {
        let repo = Repo::load().unwrap();
        assert!(repo.has("xtask/src/tidy.rs") && repo.has("crates/via/src"));
        assert!(!repo.has("target") && !repo.has("crates/vi"));
    }

    #[test]
    fn an_empty_repository_has_only_findings_of_missing_files() {
        let repo = Repo::of(&[]);
        for (name, rule) in RULES {
            let missing = rule(&repo);
            let is_named = |message: &str| message.contains("missing") || message.contains("not there");
            assert!(missing.iter().all(|finding| is_named(&finding.message)), "{name}: {missing:?}");
        }
    }
}
