//! Comments in plain English: their first words, and the width of their lines.

use super::Finding;
use crate::repo::{File, Repo};
use crate::rust::{Kind, tokens};

/// The extensions of the files in other languages whose comments are checked.
const OTHERS: &[&str] = &[".c", ".cc", ".h", ".hh", ".hpp", ".java"];

/// The maximum number of columns of a line with a comment.
const WIDTH_MAX: usize = 100;

/// Pronouns that must not begin a comment, because the reader would have to look for the noun. A
/// comment begins with a noun, or with a verb that says what a function does.
const PRONOUNS: &[&str] = &[
    "Anybody",
    "Anyone",
    "Anything",
    "Everybody",
    "Everyone",
    "Everything",
    "He",
    "It",
    "Its",
    "Nobody",
    "None",
    "Nothing",
    "Others",
    "She",
    "Somebody",
    "Someone",
    "Something",
    "Such",
    "That",
    "Their",
    "Theirs",
    "These",
    "They",
    "This",
    "Those",
    "We",
    "What",
    "Whatever",
    "Which",
    "Who",
    "Whoever",
    "Whom",
    "Whose",
    "You",
];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.rust() {
        check_openings(file, &mut findings);
        check_widths(file, &mut findings);
    }
    // The comments of these languages begin like Rust's.
    let is_other = |file: &&File| OTHERS.iter().any(|end| file.path.ends_with(end)) && !is_generated(file);
    repo.files.iter().filter(is_other).for_each(|file| check_openings(file, &mut findings));
    findings
}

/// Whether the IDL compiler writes the file, and a test compares the file with the compiler's
/// output.
fn is_generated(file: &File) -> bool {
    file.path.contains("tests/golden/") || file.name().starts_with("ocidl") || file.path.contains("/test/java/trees/")
}

/// Finds comments, and paragraphs of comments, that begin with a pronoun.
fn check_openings(file: &File, findings: &mut Vec<Finding>) {
    // The line after the last comment, and the comment's kind; `None` if the comment's last line
    // was empty.
    let mut before = None;
    let lines: Vec<&str> = file.text.lines().collect();
    for token in tokens(&file.text).iter().filter(|token| token.is_comment()) {
        let mut goes_on = before == Some((token.line, token.kind)) && is_alone(&lines, token.line);
        for (line, text) in (token.line..).zip(token.text.lines()) {
            let is_mark = |letter: char| matches!(letter, '/' | '!' | '*') || letter.is_whitespace();
            let text = text.trim_matches(is_mark);
            let paragraph = text.strip_prefix("<p>");
            let text = paragraph.unwrap_or(text).trim_start();
            let first = text.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
            if (!goes_on || paragraph.is_some()) && PRONOUNS.contains(&first) {
                let message =
                    format!("the comment begins with `{first}`: begin with the noun, or with what the function does");
                findings.push(Finding::new(file, line, message));
            }
            goes_on = !text.is_empty();
        }
        before = goes_on.then(|| (token.line + token.text.lines().count(), token.kind));
    }
}

/// Whether a comment has its line to itself, so that no code precedes it. No code can follow it,
/// because a `//` comment ends with its line.
fn is_alone(lines: &[&str], number: usize) -> bool {
    lines.get(number - 1).is_some_and(|line| line.trim_start().starts_with("//"))
}

/// Finds lines of comments that are too wide. Tables, rulers, code in documentation, and single
/// words may be wider.
fn check_widths(file: &File, findings: &mut Vec<Finding>) {
    let lines: Vec<&str> = file.text.lines().collect();
    let (mut is_code, mut before) = (false, 0);
    for token in tokens(&file.text).iter().filter(|token| token.text.starts_with("//")) {
        let text = token.text.trim_start_matches(['/', '!']).trim_start();
        // A block of code in documentation ends at the end of the comment at the latest.
        is_code &= token.line == before + 1;
        before = token.line;
        if token.kind == Kind::Doc && text.starts_with("```") {
            is_code = !is_code;
        }
        let may_be_wide = is_code || text.starts_with('|') || text.starts_with("---") || !text.contains(' ');
        // A comment after code may be as wide as rustfmt permits.
        if !may_be_wide && is_alone(&lines, token.line) && lines[token.line - 1].chars().count() > WIDTH_MAX {
            let message = format!("a comment has at most {WIDTH_MAX} columns");
            findings.push(Finding::new(file, token.line, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::said;
    use super::check;

    /// Returns the files and lines of the findings.
    fn places(path: &str, text: &str) -> Vec<String> {
        let place = |finding: String| finding.split(": ").next().unwrap_or_default().to_owned();
        said(check, &[(path, text)]).into_iter().map(place).collect()
    }

    #[test]
    fn comments_that_begin_with_a_pronoun_are_found() {
        let text = "//! What it is.\n\n/// Returns what\n/// It was.\n///\n/// They are wrong.\nfn f() {\n    // Whoever\n    g(); // this is small\n}\n";
        assert_eq!(places("x.rs", text), ["x.rs:1", "x.rs:6", "x.rs:8"]);
        let text = "/**\n * What it is.\n */\nclass A {\n    /** Returns what. */\n    // Who\n}\n";
        assert_eq!(places("A.java", text), ["A.java:2", "A.java:6"]);
        let text = "/**\n * A class.\n * It goes on.\n *\n * It begins.\n *\n * <p>They, too.\n */\nint a; // The first\nint b; // It is the second\n";
        assert_eq!(places("A.java", text), ["A.java:5", "A.java:7", "A.java:10"]);
        assert!(places("tests/golden/a.h", "/* What it is. */").is_empty());
    }

    #[test]
    fn wide_comments_are_found() {
        let wide = "a word ".repeat(20);
        let text =
            format!("//! {wide}\n//! | {wide} |\n//! ```\n//! {wide}\n//! ```\n/// Small.\nfn f() {{}}\n// {wide}\n");
        assert_eq!(places("x.rs", &text), ["x.rs:1", "x.rs:8"]);
    }
}
