//! The lengths of files and functions. Tests are not counted.

use super::Finding;
use crate::repo::{File, Repo};
use crate::rust::{functions, is_in, tests, tokens};

/// The length in lines from which on a file causes a warning.
const FILE_WANTED: usize = 500;
const FILE_LIMIT: usize = 800;
const FUNCTION_LIMIT: usize = 70;
/// The maximum length in lines of tests in the file that they test. Longer tests need a file of
/// their own.
const TESTS_LIMIT: usize = 150;

/// The files and functions that may be longer, as `path` or `path:function`, each with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.rust() {
        check_file(file, &mut findings);
    }
    for (exception, _) in EXCEPTIONS {
        let path = exception.split(':').next().unwrap_or_default();
        if let Some(table) = repo.file("xtask/src/tidy/sizes.rs").filter(|_| !repo.has(path)) {
            findings.push(Finding::new(table, 1, format!("the exception {exception} is no longer needed")));
        }
    }
    findings
}

fn is_excepted(name: &str) -> bool {
    EXCEPTIONS.iter().any(|(exception, _)| *exception == name)
}

fn check_file(file: &File, findings: &mut Vec<Finding>) {
    if file.is_test() {
        return;
    }
    let tokens = tokens(&file.text);
    let test_lines = tests(&tokens);
    let in_tests: usize = test_lines.iter().map(|lines| lines.clone().count()).sum();
    let length = file.text.lines().count() - in_tests;
    if length > FILE_LIMIT && !is_excepted(&file.path) {
        let message = format!("{length} lines without tests, {FILE_LIMIT} is the limit; divide it");
        findings.push(Finding::new(file, 1, message));
    } else if length > FILE_WANTED {
        let message = format!("{length} lines without tests, {FILE_WANTED} is wanted");
        findings.push(Finding::new(file, 1, message).warning());
    }
    for lines in test_lines.iter().filter(|lines| (*lines).clone().count() > TESTS_LIMIT) {
        let stem = file.path.trim_end_matches(".rs");
        let count = lines.clone().count();
        let message = format!("{count} lines of tests, {TESTS_LIMIT} is the limit; move them to {stem}/tests.rs");
        findings.push(Finding::new(file, *lines.start(), message));
    }
    for function in functions(&tokens) {
        let length = function.lines.clone().count();
        let name = format!("{}:{}", file.path, function.name);
        if length > FUNCTION_LIMIT && !is_in(&test_lines, *function.lines.start()) && !is_excepted(&name) {
            let message = format!("fn {} has {length} lines, {FUNCTION_LIMIT} is the limit", function.name);
            findings.push(Finding::new(file, *function.lines.start(), message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::said;
    use super::check;

    #[test]
    fn long_functions_are_found() {
        let fits = format!("fn a() {{\n{}}}\n", "x();\n".repeat(68));
        let long = format!("fn b() {{\n{}}}\n", "x();\n".repeat(69));
        let test = long.replace("fn b", "#[test]\nfn c");
        assert_eq!(
            said(check, &[("x.rs", &format!("{fits}{long}{test}"))]),
            ["x.rs:71: error: fn b has 71 lines, 70 is the limit"]
        );
    }

    #[test]
    fn long_files_are_found() {
        let lines = |count| "// x\n".repeat(count);
        let with_tests = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", lines(500), lines(147));
        let files = [
            ("a.rs", lines(801)),
            ("b.rs", lines(501)),
            ("c.rs", with_tests),
            ("d/tests.rs", lines(900)),
            ("d/tests/e.rs", lines(900)),
        ];
        let files: Vec<_> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        assert_eq!(
            said(check, &files),
            [
                "a.rs:1: error: 801 lines without tests, 800 is the limit; divide it",
                "b.rs:1: warning: 501 lines without tests, 500 is wanted",
            ]
        );
    }

    #[test]
    fn long_tests_in_a_source_file_are_found() {
        let text = format!("//! x\n#[cfg(test)]\nmod tests {{\n{}}}\n", "// x\n".repeat(148));
        assert_eq!(
            said(check, &[("a/b.rs", &text)]),
            ["a/b.rs:2: error: 151 lines of tests, 150 is the limit; move them to a/b/tests.rs"]
        );
    }
}
