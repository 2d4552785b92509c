//! Formatting of IDL files: the same tokens and comments, with the project's white space.
//!
//! Only blanks and line ends change. A file with syntax errors is refused, and the tokens of the
//! result are compared with the tokens of the source before the result is returned. Branches that a
//! condition excludes, and preprocessor lines, stay as they are.

mod builder;
mod printer;
mod spacing;

use crate::syntax::{SyntaxKind, Tree, parse};
use crate::text::diagnostic::{Diagnostic, Failure, Severity};
use builder::Builder;
use std::path::Path;

/// Returns an IDL text in normal form. The path is for messages.
///
/// # Errors
///
/// The syntax errors of the text, or `not-formatted` if the tokens of the result would differ.
pub fn format(path: &Path, text: &str) -> Result<String, Failure> {
    let (mark, rest) = match text.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest),
        None => ("", text),
    };
    let has_returns = rest.contains("\r\n");
    let source = if has_returns { rest.replace("\r\n", "\n") } else { rest.to_owned() };
    let (tree, diagnostics) = parse(&source);
    if diagnostics.iter().any(|found| found.severity == Severity::Error) {
        return Err(Failure::new(diagnostics, tree.sources(path)));
    }
    let made = printer::print(&Builder::build(&tree));
    let (again, _) = parse(&made);
    if significant(&tree) != significant(&again) {
        let text = format!("{} cannot be formatted without a change of its meaning", path.display());
        let error = Diagnostic::without_place("not-formatted", text).help("the file stays as it is");
        return Err(Failure::new(vec![error], tree.sources(path)));
    }
    let made = if has_returns { made.replace('\n', "\r\n") } else { made };
    Ok(mark.to_owned() + &made)
}

/// Returns all tokens but blanks. The lines of comments and directives are trimmed, because
/// formatting moves them.
fn significant(tree: &Tree) -> Vec<(SyntaxKind, Vec<&str>)> {
    let tokens = tree.tokens().filter(|token| token.kind() != SyntaxKind::Space);
    tokens.map(|token| (token.kind(), token.text().trim_end().lines().map(str::trim).collect())).collect()
}
