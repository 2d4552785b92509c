//! What the back end writes is what was written down for it: `golden/NAME.rs` for `golden/NAME.idl`, byte for byte.
//!
//! After a change that is meant to change it, run the test with `OBVIA_BLESS=1`: it writes the files anew, for you to read
//! what has become different.

use obvia_idl::{Compiler, emit};
use std::path::{Path, PathBuf};

/// What is wrong with one file's code, if anything is.
fn difference(idl: &Path, is_blessed: bool) -> Option<String> {
    let compilation = Compiler::new().check(idl).unwrap_or_else(|failure| panic!("{failure}"));
    let code = emit::rust::emit(&compilation).unwrap_or_else(|refused| panic!("{}: {refused:?}", idl.display()));
    let golden = idl.with_extension("rs");
    if is_blessed {
        std::fs::write(&golden, code).expect("the repository can be written to");
        return None;
    }
    let expected = std::fs::read_to_string(&golden).unwrap_or_default();
    if code == expected {
        return None;
    }
    let same = code.lines().zip(expected.lines()).take_while(|(new, old)| new == old).count();
    let [new, old] =
        [&code, &expected].map(|text| text.lines().nth(same).unwrap_or("(the end of the file)").to_owned());
    Some(format!("{}:{}:\n  expected: {old}\n  written:  {new}", golden.display(), same + 1))
}

#[test]
fn the_code_is_what_was_written_down() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let files = entries.map(|entry| entry.expect("readable").path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|found| found == "idl")).collect();
    files.sort();
    assert!(!files.is_empty());
    let is_blessed = std::env::var_os("OBVIA_BLESS").is_some();
    let differences: Vec<String> = files.iter().filter_map(|idl| difference(idl, is_blessed)).collect();
    let advice = "if this is meant, run `OBVIA_BLESS=1 cargo test -p obvia-idl --test golden` and look at what git says has changed";
    assert!(differences.is_empty(), "the generated code has changed\n{}\n{advice}", differences.join("\n"));
}
