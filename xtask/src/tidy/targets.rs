//! Programs and libraries with `test = false` in their manifest must not have tests. A package
//! whose tests are modules of one program must name each of them, because neither cargo nor rustc
//! notices a file that is left out.

use super::Finding;
use crate::repo::{File, Repo};

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in repo.files.iter().filter(|file| file.name() == "Cargo.toml") {
        let sources = format!("{}src/", manifest.path.trim_end_matches("Cargo.toml"));
        let untested = untested(&manifest.text);
        for file in repo.rust().filter(|file| file.path.starts_with(&sources)) {
            let kind = if is_program(&file.path[sources.len()..]) { "[[bin]]" } else { "[lib]" };
            if let Some(line) = first_test(file).filter(|_| untested.contains(&kind)) {
                let message = format!("{} has `test = false` for its {kind}: this is not run", manifest.path);
                findings.push(Finding::new(file, line, message));
            }
        }
        if manifest.text.lines().any(|line| line == "autotests = false") {
            find_left_out(repo, manifest, &mut findings);
        }
    }
    findings
}

/// Finds files in the folder `tests` of a package that are neither test programs nor modules of the
/// folder's `main.rs`.
fn find_left_out(repo: &Repo, manifest: &File, findings: &mut Vec<Finding>) {
    let tests = format!("{}tests/", manifest.path.trim_end_matches("Cargo.toml"));
    let main = repo.files.iter().find(|file| file.path == format!("{tests}main.rs"));
    for file in repo.rust() {
        let name = file.path.strip_prefix(&tests).and_then(|path| path.strip_suffix(".rs"));
        let Some(name) = name.filter(|name| !name.contains('/') && *name != "main") else { continue };
        let is_module = main.is_some_and(|main| main.text.lines().any(|line| line == format!("mod {name};")));
        if !is_module && !manifest.text.contains(&format!("[[test]]\nname = \"{name}\"\n")) {
            let message =
                format!("neither {tests}main.rs nor {} names this file: its tests are not run", manifest.path);
            findings.push(Finding::new(file, 1, message));
        }
    }
}

/// Whether a source file of a package belongs to a program of the package.
fn is_program(path: &str) -> bool {
    path == "main.rs" || path.starts_with("bin/")
}

fn first_test(file: &File) -> Option<usize> {
    let at = file.text.lines().position(|line| line.trim_start().starts_with("#[test]"))?;
    Some(at + 1)
}

/// Returns the kinds of targets that have `test = false`.
fn untested(manifest: &str) -> Vec<&str> {
    let mut section = "";
    let mut found = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        } else if line == "test = false" {
            found.push(section);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::said;

    #[test]
    fn tests_of_targets_without_a_harness_are_found() {
        let manifest = "[lib]\nname = \"x\"\ntest = false\n[[bin]]\nname = \"y\"\n";
        let test = "//! X\n    #[test]\nfn x() {}\n";
        let files =
            [("x/Cargo.toml", manifest), ("x/src/a.rs", test), ("x/src/bin/y.rs", test), ("x/tests/t.rs", test)];
        let message = "x/src/a.rs:2: error: x/Cargo.toml has `test = false` for its [lib]: this is not run";
        assert_eq!(said(check, &files), [message]);
        let other = [("x/Cargo.toml", "[[bin]]\ntest = false\n"), ("x/src/a.rs", test), ("x/src/main.rs", test)];
        assert!(said(check, &other)[0].starts_with("x/src/main.rs:2: "));
    }

    #[test]
    fn tests_that_no_program_has_are_found() {
        let manifest = "[package]\nautotests = false\n[[test]]\nname = \"x\"\npath = \"tests/main.rs\"\n\n[[test]]\nname = \"b\"\n";
        let files = [
            ("x/Cargo.toml", manifest),
            ("x/tests/main.rs", "//! X\n\nmod a;\n"),
            ("x/tests/a.rs", "//! A\n"),
            ("x/tests/a/part.rs", "//! A\n"),
            ("x/tests/b.rs", "//! B\n"),
            ("x/tests/c.rs", "//! C\n"),
            ("y/tests/c.rs", "//! C\n"),
        ];
        let message =
            "x/tests/c.rs:1: error: neither x/tests/main.rs nor x/Cargo.toml names this file: its tests are not run";
        assert_eq!(said(check, &files), [message]);
    }
}
