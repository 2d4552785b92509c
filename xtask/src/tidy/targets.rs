//! Programs and libraries without tests disable the test harness in their manifests. They must not
//! have tests then.

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
    }
    findings
}

/// Whether a source file of a package belongs to a program.
fn is_program(path: &str) -> bool {
    path == "main.rs" || path.starts_with("bin/")
}

fn first_test(file: &File) -> Option<usize> {
    let at = file.text.lines().position(|line| line.trim_start().starts_with("#[test]"))?;
    Some(at + 1)
}

/// Returns the kinds of targets with `test = false`.
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
}
