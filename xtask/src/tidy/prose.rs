//! Comments in plain English: their first words, and their width.

use super::Finding;
use crate::repo::{File, Repo};
use crate::rust::{Kind, tokens};

/// The maximum number of columns of a line with a comment.
const WIDTH_MAX: usize = 100;

/// Pronouns that must not begin a comment, since the reader has to look for the noun. A comment
/// begins with a noun, or with the verb that says what a function does.
const PRONOUNS: &[&str] = &[
    "Everybody",
    "He",
    "It",
    "Nobody",
    "None",
    "Others",
    "Somebody",
    "That",
    "Theirs",
    "These",
    "They",
    "This",
    "Those",
    "What",
    "Whatever",
    "Who",
    "Whoever",
    "Whom",
    "Whose",
];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.rust() {
        check_openings(file, &mut findings);
        check_widths(file, &mut findings);
    }
    findings
}

/// Finds comments, and paragraphs of documentation, that begin with a pronoun.
fn check_openings(file: &File, findings: &mut Vec<Finding>) {
    // The line behind the comment before, and whether that comment had any text.
    let (mut next, mut is_within) = (0, false);
    for token in tokens(&file.text).iter().filter(|token| token.is_comment()) {
        let text = token.text.trim_start_matches(['/', '!', '*']).trim();
        let goes_on = token.line == next && is_within;
        let first = text.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
        if !goes_on && PRONOUNS.contains(&first) {
            let message =
                format!("the comment begins with `{first}`: begin with the noun, or with what the function does");
            findings.push(Finding::new(file, token.line, message));
        }
        (next, is_within) = (token.line + token.text.lines().count(), !text.is_empty());
    }
}

/// Finds lines of comments that are too wide. Tables, rulers and code in documentation may be
/// wider.
fn check_widths(file: &File, findings: &mut Vec<Finding>) {
    let mut is_code = false;
    for token in tokens(&file.text).iter().filter(|token| token.text.starts_with("//")) {
        let text = token.text.trim_start_matches(['/', '!']).trim_start();
        if token.kind == Kind::Doc && text.starts_with("```") {
            is_code = !is_code;
        }
        let may_be_wide = is_code || text.starts_with('|') || text.starts_with("---") || !text.contains(' ');
        let line = file.text.lines().nth(token.line - 1).unwrap_or_default();
        // A comment behind code has a line of rustfmt's.
        let is_alone = line.trim_start().starts_with("//");
        if is_alone && !may_be_wide && line.chars().count() > WIDTH_MAX {
            let message = format!("a comment has at most {WIDTH_MAX} columns");
            findings.push(Finding::new(file, token.line, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::said;
    use super::check;

    #[test]
    fn a_comment_does_not_begin_with_a_pronoun() {
        let text = "//! What it is.\n\n/// Returns what\n/// It was.\n///\n/// They are wrong.\nfn f() {\n    // Whoever\n    g(); // this is small\n}\n";
        let lines: Vec<_> = said(check, &[("crates/x/src/lib.rs", text)])
            .iter()
            .map(|finding| finding.split(": ").take(1).collect::<String>())
            .collect();
        assert_eq!(lines, ["crates/x/src/lib.rs:1", "crates/x/src/lib.rs:6", "crates/x/src/lib.rs:8"]);
    }

    #[test]
    fn comments_are_not_wide() {
        let wide = "a word ".repeat(20);
        let text =
            format!("//! {wide}\n//! | {wide} |\n//! ```\n//! {wide}\n//! ```\n/// Small.\nfn f() {{}}\n// {wide}\n");
        let lines: Vec<_> = said(check, &[("crates/x/src/lib.rs", &text)])
            .iter()
            .map(|finding| finding.split(": ").take(1).collect::<String>())
            .collect();
        assert_eq!(lines, ["crates/x/src/lib.rs:1", "crates/x/src/lib.rs:8"]);
    }
}
