//! The messages for wrong files: `wrong/NAME.idl` has one mistake, and `wrong/messages.txt` has all
//! messages.
//!
//! After an intended change of a message, run the test with `OBVIA_BLESS=1` to write the messages
//! anew, and review the differences.

use obvia_idl::{Compiler, Diagnostic, Failure, emit};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Returns the errors of a file. They are the errors of the compiler, or else the errors of the
/// first back end that refuses the file.
fn errors(path: &Path) -> Failure {
    let found = match Compiler::new().check(path) {
        Ok(found) => found,
        Err(failure) => return failure,
    };
    let refused = emit::rust::emit(&found).err();
    let refused = refused.or_else(|| emit::c::emit(&found, "x").err());
    let diagnostics = refused.or_else(|| emit::java::emit(&found, "x", None).err());
    Failure { diagnostics: diagnostics.unwrap_or_default(), sources: found.sources }
}

#[test]
fn each_message_has_a_place_a_code_and_a_mend() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wrong");
    let entries = std::fs::read_dir(&folder).expect("the folder is there");
    let files = entries.map(|entry| entry.expect("readable").path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "idl")).collect();
    files.sort();
    assert!(files.len() >= 60, "{}", files.len());
    let (mut text, mut bare) = (String::new(), Vec::new());
    for path in &files {
        let failure = errors(path);
        let name = path.file_name().expect("a file").to_string_lossy();
        if failure.diagnostics.is_empty() {
            bare.push(format!("{name}: nothing is wrong"));
        }
        let is_bare = |found: &Diagnostic| found.span.is_none() || found.code.is_empty() || found.help.is_none();
        bare.extend(
            failure.diagnostics.iter().filter(|found| is_bare(found)).map(|found| format!("{name}: {found:?}")),
        );
        let shown = failure.to_string().replace(&format!("{}/", folder.display()), "");
        let _ = writeln!(text, "==== {name}\n\n{}\n", shown.trim_end());
    }
    assert!(bare.is_empty(), "{}", bare.join("\n"));
    let golden = folder.join("messages.txt");
    if std::env::var_os("OBVIA_BLESS").is_some() {
        std::fs::write(&golden, &text).expect("the repository can be written to");
    }
    let expected = std::fs::read_to_string(&golden).unwrap_or_default();
    let same = text.lines().zip(expected.lines()).take_while(|(new, old)| new == old).count();
    let [new, old] = [&text, &expected].map(|text| text.lines().nth(same).unwrap_or("(the end of the file)"));
    assert!(text == expected, "{}:{}:\n  expected: {old}\n  written:  {new}", golden.display(), same + 1);
}
