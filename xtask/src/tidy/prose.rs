//! Comments in plain English: their first words, and their width.

use super::Finding;
use crate::repo::{File, Repo};
use crate::rust::{Kind, tokens};

/// The endings of the names of other files whose comments are checked.
const OTHERS: &[&str] = &[".c", ".cc", ".h", ".hh", ".hpp", ".java"];

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
    "Such",
    "That",
    "Theirs",
    "These",
    "They",
    "This",
    "Those",
    "What",
    "Whatever",
    "Which",
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
    // The comments of these languages are Rust's as far as their openings go.
    let is_other = |file: &&File| OTHERS.iter().any(|end| file.path.ends_with(end)) && !is_generated(file);
    repo.files.iter().filter(is_other).for_each(|file| check_openings(file, &mut findings));
    findings
}

/// Whether the compiler writes the file, and a test compares it.
fn is_generated(file: &File) -> bool {
    file.path.contains("tests/golden/") || file.name().starts_with("ocidl") || file.path.contains("/test/java/trees/")
}

/// Finds comments, and paragraphs of documentation, that begin with a pronoun.
fn check_openings(file: &File, findings: &mut Vec<Finding>) {
    // The line behind the comment before and its kind, if that comment had any text.
    let mut before = None;
    for token in tokens(&file.text).iter().filter(|token| token.is_comment()) {
        let is_mark = |letter: char| matches!(letter, '/' | '!' | '*') || letter.is_whitespace();
        let text = token.text.trim_matches(is_mark);
        let goes_on = before == Some((token.line, token.kind));
        let first = text.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
        if !goes_on && PRONOUNS.contains(&first) {
            let message =
                format!("the comment begins with `{first}`: begin with the noun, or with what the function does");
            findings.push(Finding::new(file, token.line, message));
        }
        before = (!text.is_empty()).then(|| (token.line + token.text.lines().count(), token.kind));
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

    /// The files and lines with findings.
    fn places(path: &str, text: &str) -> Vec<String> {
        let place = |finding: String| finding.split(": ").next().unwrap_or_default().to_owned();
        said(check, &[(path, text)]).into_iter().map(place).collect()
    }

    #[test]
    fn a_comment_does_not_begin_with_a_pronoun() {
        let text = "//! What it is.\n\n/// Returns what\n/// It was.\n///\n/// They are wrong.\nfn f() {\n    // Whoever\n    g(); // this is small\n}\n";
        assert_eq!(places("x.rs", text), ["x.rs:1", "x.rs:6", "x.rs:8"]);
        let text = "/**\n * What it is.\n */\nclass A {\n    /** Returns what. */\n    // Who\n}\n";
        assert_eq!(places("A.java", text), ["A.java:1", "A.java:6"]);
        assert!(places("tests/golden/a.h", "/* What it is. */").is_empty());
    }

    #[test]
    fn comments_are_not_wide() {
        let wide = "a word ".repeat(20);
        let text =
            format!("//! {wide}\n//! | {wide} |\n//! ```\n//! {wide}\n//! ```\n/// Small.\nfn f() {{}}\n// {wide}\n");
        assert_eq!(places("x.rs", &text), ["x.rs:1", "x.rs:8"]);
    }
}
