//! Small changes of the repository's own files: each change of a fingerprint has a finding that
//! names the cause.

use obvia_idl::model::{Interface, InterfaceId};
use obvia_idl::syntax::{SyntaxKind, parse};
use obvia_idl::tools::compatibility::{Kind, breaking_changes};
use obvia_idl::{Compilation, Compiler, canonical};
use std::path::{Path, PathBuf};

/// The files to change, from the root of the repository.
const FILES: [&str; 9] = [
    "testing/matrix/idl/values.idl",
    "testing/matrix/idl/shapes.idl",
    "testing/matrix/idl/functions.idl",
    "testing/soundness/idl/soundness.idl",
    "testing/torture/torture.idl",
    "testing/interop/idl/rpcecho.idl",
    "testing/interop/idl/script.idl",
    "examples/notes/notes.idl",
    "examples/pfs/pfs.idl",
];

/// Words, each of which may replace another word of its row.
const WORDS: [&[&str]; 8] = [
    &["long", "short", "hyper", "float", "byte", "unsigned long", "wchar_t"],
    &["in", "out", "in, out"],
    &["unique", "ref", "ptr", "string"],
    &["size_is", "length_is", "max_is"],
    &["HRESULT", "void"],
    &["BSTR", "VARIANT", "IUnknown *"],
    &["short", "VARIANT_BOOL"],
    &["double", "DATE"],
];

/// A quick run tests one in this number of changes. All changes take minutes.
const STEP: usize = 29;

/// Returns changed texts: without a token, with a token extended, or with another token in its
/// place.
fn changed(text: &str) -> Vec<String> {
    let (tree, _) = parse(text);
    let mut made = Vec::new();
    for token in tree.tokens().filter(|token| !token.kind().is_trivia()) {
        let (span, word) = (token.span(), token.text());
        let mut with = |other: &str| made.push([&text[..span.start], other, &text[span.end..]].concat());
        match token.kind() {
            SyntaxKind::Number => ["0", "1", "7"].iter().for_each(|other| with(other)),
            SyntaxKind::Ident => {
                with("");
                with(&format!("{word}2"));
                for row in WORDS.iter().filter(|row| row.contains(&word)) {
                    row.iter().filter(|other| **other != word).for_each(|other| with(other));
                }
            }
            SyntaxKind::Punct => {
                with("");
                if word == "*" {
                    with("**");
                }
            }
            _ => {}
        }
    }
    made
}

/// Whether an interface of the old file is unchanged in the new file.
fn is_unchanged(old: &Compilation, found: &Interface, new: &Compilation) -> bool {
    let text = |of: &Compilation, found: &Interface| {
        let at = of.model.interfaces.iter().position(|other| other.name == found.name).expect("in the model");
        canonical::text(&of.model, InterfaceId(at))
    };
    let other = new.model.interfaces.iter().find(|other| other.uuid == found.uuid);
    other.is_some_and(|other| text(old, found) == text(new, other))
}

#[test]
fn each_change_of_a_fingerprint_has_a_finding_that_names_the_cause() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut compiled, mut unknown) = (0, Vec::new());
    for file in FILES {
        let path: PathBuf = root.join(file);
        let text = std::fs::read_to_string(&path).expect("readable");
        let old = Compiler::new().check_text(&path, &text).unwrap_or_else(|failure| panic!("{failure}"));
        assert!(breaking_changes(&old, &old).is_empty(), "{file}");
        for text in changed(&text).into_iter().step_by(if ground::is_wide() { 1 } else { STEP }) {
            let Ok(new) = Compiler::new().check_text(&path, &text) else { continue };
            compiled += 1;
            let mut own = old.model.interfaces.iter().filter(|found| !found.imported);
            let is_same = own.all(|found| is_unchanged(&old, found, &new));
            let found = breaking_changes(&old, &new);
            let is_named = found.iter().all(|finding| finding.kind != Kind::InterfaceChanged);
            if !is_named || !is_same && found.is_empty() {
                unknown.push(format!("{file}:\n{text}"));
            }
        }
    }
    assert!(compiled > 70, "{compiled}");
    assert!(unknown.is_empty(), "{} of {compiled}: {}", unknown.len(), unknown[0]);
}
