//! Tests of programs that the compiler must refuse. Each is a file of `refused/`, with `//~ `
//! before each expected error of a line.

use native_programs::cargo::libraries;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The mark before an expected error. The text after the mark is the error's text with
/// `--error-format=short`.
const EXPECTED: &str = " //~ ";

#[test]
fn unsound_programs_do_not_compile() {
    let libraries = libraries("soundness");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refused");
    let mut programs: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    programs.sort();
    assert!(!programs.is_empty());
    for program in programs {
        // The errors are those of rustc, because clippy's driver formats the names of types
        // differently.
        let mut rustc = Command::new("rustc");
        rustc.args(["--edition=2024", "--emit=metadata", "--error-format=short", "--crate-type=bin"]);
        rustc.arg("--out-dir").arg(env!("CARGO_TARGET_TMPDIR"));
        libraries.give(&mut rustc, &["soundness", "obvia", "windows_core"]);
        let output = rustc.arg(&program).output().expect("rustc is found");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{} compiles", program.display());
        compare(&program, &said);
    }
}

/// Checks that each error is expected, and that each expected error occurs.
fn compare(program: &Path, said: &str) {
    let text = std::fs::read_to_string(program).unwrap();
    let expected: BTreeSet<(usize, &str)> = (1..)
        .zip(text.lines())
        .flat_map(|(line, text)| text.split(EXPECTED).skip(1).map(move |error| (line, error)))
        .collect();
    let place = format!("{}:", program.display());
    let mut met = BTreeSet::new();
    for error in said.lines().filter(|line| line.contains(": error") && line.starts_with(&place)) {
        let (line, rest) = error[place.len()..].split_once(':').unwrap();
        let (_column, error) = rest.split_once(": ").unwrap();
        let line = line.parse::<usize>().unwrap();
        let known = expected.iter().find(|(at, text)| *at == line && error.starts_with(text));
        met.insert(*known.unwrap_or_else(|| panic!("{place}{line}: {error}: not expected, in\n{said}")));
    }
    let missing: Vec<_> = expected.difference(&met).collect();
    assert!(missing.is_empty() && !met.is_empty(), "{place} {missing:?} are missing in\n{said}");
}
