//! The output of the back ends equals the golden files byte for byte: `golden/NAME.rs` for
//! `golden/NAME.idl`; `golden/c/NAME.h`, `NAME_stubs.c` and `NAME_values.hpp` for
//! `c/basis.idl`, `golden/c/graphs.idl`, `golden/functions.idl` and `golden/texts.idl`;
//! `golden/java/NAME/CLASS.java` for `golden/java/NAME.idl` and for `golden/post.idl`;
//! `golden/python/NAME.pyi`; the headers of connection points, which are installed with libobvia;
//! and the fingerprints of methods that pass built-in types.
//!
//! After an intended change of the output, run the test with `OBVIA_BLESS=1` to write the files
//! anew, and review the differences.

use obvia_idl::model::InterfaceId;
use obvia_idl::{Compilation, Compiler, automation, canonical, emit, events};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn check(idl: &Path) -> Compilation {
    Compiler::new().check(idl).unwrap_or_else(|failure| panic!("{failure}"))
}

/// Returns a description of the first difference between a golden file and the code, if there is
/// one.
fn difference(golden: &Path, code: &str) -> Option<String> {
    if std::env::var_os("OBVIA_BLESS").is_some() {
        std::fs::write(golden, code).expect("the repository can be written to");
        return None;
    }
    let expected = std::fs::read_to_string(golden).unwrap_or_default();
    if code == expected {
        return None;
    }
    let same = code.lines().zip(expected.lines()).take_while(|(new, old)| new == old).count();
    let [new, old] = [code, &expected].map(|text| text.lines().nth(same).unwrap_or("(the end of the file)").to_owned());
    Some(format!("{}:{}:\n  expected: {old}\n  written:  {new}", golden.display(), same + 1))
}

fn all_are_the_same(differences: &[String]) {
    let advice =
        "if this is meant, run `OBVIA_BLESS=1 cargo test -p obvia-idl golden` and look at what git says has changed";
    assert!(differences.is_empty(), "the generated code has changed\n{}\n{advice}", differences.join("\n"));
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the IDL files of a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let files = entries.map(|entry| entry.expect("readable").path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|found| found == "idl")).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

#[test]
fn the_rust_output_equals_the_golden_files() {
    let difference = |idl: &PathBuf| {
        let code = emit::rust::emit(&check(idl)).unwrap_or_else(|refused| panic!("{}: {refused:?}", idl.display()));
        let stem = idl.file_stem().expect("it has a name");
        difference(&folder().join(stem).with_extension("rs"), &code)
    };
    all_are_the_same(&sources(&folder()).iter().filter_map(difference).collect::<Vec<_>>());
}

#[test]
fn the_c_output_equals_the_golden_files() {
    let folder = folder().join("c");
    let mut differences = Vec::new();
    for idl in ["../../c/basis.idl", "graphs.idl", "../functions.idl", "../texts.idl"].map(|idl| folder.join(idl)) {
        let stem = idl.file_stem().expect("it has a name").to_string_lossy();
        let code = emit::c::emit(&check(&idl), &stem).unwrap_or_else(|refused| panic!("{stem}: {refused:?}"));
        differences.extend(difference(&folder.join(format!("{stem}.h")), &code.header));
        differences.extend(difference(&folder.join(format!("{stem}_stubs.c")), &code.stubs));
        differences.extend(difference(&folder.join(format!("{stem}_values.hpp")), &code.projection));
    }
    all_are_the_same(&differences);
}

#[test]
fn the_shipped_connection_point_headers_equal_the_compiler_output() {
    let made =
        Compiler::new().check_text(Path::new(events::FILE), events::TEXT).unwrap_or_else(|failure| panic!("{failure}"));
    let code = emit::c::emit(&made, "ocidl").unwrap_or_else(|refused| panic!("{refused:?}"));
    let shipped =
        [("crates/capi/include/ocidl.h", code.header), ("bindings/cpp/include/ocidl_values.hpp", code.projection)];
    all_are_the_same(
        &shipped.iter().filter_map(|(path, code)| difference(&root().join(path), code)).collect::<Vec<_>>(),
    );
}

#[test]
fn the_python_output_equals_the_golden_files() {
    let folder_of_idl = folder().join("python");
    let difference = |idl: &PathBuf| {
        let stem = idl.file_stem().expect("it has a name");
        difference(&folder_of_idl.join(stem).with_extension("pyi"), &emit::python::emit(&check(idl)))
    };
    all_are_the_same(&sources(&folder_of_idl).iter().filter_map(difference).collect::<Vec<_>>());
}

/// The tests of the Java runtime, which use the code for `golden/java/trees.idl`.
const JAVA_TESTS: &str = "java/obvia-runtime/src/test/java";

#[test]
fn the_java_output_equals_the_golden_files() {
    let folder_of_idl = folder().join("java");
    let mut differences = Vec::new();
    for idl in sources(&folder_of_idl).into_iter().chain([folder().join("post.idl")]) {
        let stem = idl.file_stem().expect("it has a name").to_string_lossy();
        let java = if stem == "trees" { root().join(JAVA_TESTS) } else { folder_of_idl.clone() };
        let made = emit::java::emit(&check(&idl), &stem, None).unwrap_or_else(|refused| panic!("{stem}: {refused:?}"));
        std::fs::create_dir_all(java.join(&*stem)).expect("the repository can be written to");
        differences.extend(made.files.iter().filter_map(|(name, code)| difference(&java.join(name), code)));
        let entries = std::fs::read_dir(java.join(&*stem)).expect("it is there");
        let written: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
        let stale = written.iter().filter(|path| !made.files.iter().any(|(name, _)| java.join(name) == **path));
        differences.extend(stale.map(|path| format!("{} is not made any more", path.display())));
    }
    all_are_the_same(&differences);
}

/// Returns the words of a file's lines that are not indented, including the names of its
/// declarations.
fn words(text: &str) -> BTreeSet<&str> {
    let lines = text.lines().filter(|line| !line.starts_with([' ', '/', '[']));
    let words = lines.flat_map(|line| line.split(|one: char| !one.is_alphanumeric() && one != '_'));
    words.filter(|word| word.starts_with(|first: char| !first.is_ascii_digit())).collect()
}

/// Returns interfaces with one method each, which passes a value of a type or a pointer to such a
/// value. Interfaces that the compiler refuses are left out.
fn passing(names: &BTreeSet<&str>) -> Compilation {
    let methods = names.iter().flat_map(|name| [(*name, "Value", ""), (*name, "Pointer", "*")]);
    // The uuid is made from the name, so that further types do not change it.
    let digits = |name: &str| name.bytes().fold(0_u64, |sum, byte| (sum * 31 + u64::from(byte)) % (1 << 47));
    let interface = |(name, form, star): (&str, &str, &str)| {
        let at = digits(&format!("{form}_{name}"));
        let method = format!("HRESULT M([in] {name} {star}p);");
        format!("[object, uuid(5d1c0a8e-61f2-4f0c-9b56-{at:012x})] interface {form}_{name} : IUnknown {{ {method} }}")
    };
    let mut lines = vec!["import \"oaidl.idl\", \"ocidl.idl\", \"objidl.idl\";".to_owned()];
    lines.extend(methods.map(interface));
    loop {
        let failure = match Compiler::new().check_text(Path::new("x.idl"), &lines.join("\n")) {
            Ok(made) => return made,
            Err(failure) => failure,
        };
        // The note that further errors are left out has no place.
        let places = failure.diagnostics.iter().filter_map(|error| error.span);
        let wrong: BTreeSet<usize> = places.map(|span| failure.sources.line(span)).collect();
        assert!(wrong.first().is_some_and(|line| *line > 1), "{failure}");
        wrong.into_iter().rev().for_each(|line| drop(lines.remove(line - 1)));
    }
}

#[test]
fn methods_that_pass_built_in_types_keep_their_fingerprints() {
    let prelude = std::fs::read_to_string(folder().join("../../src/prelude.idl")).expect("the file is there");
    let names: BTreeSet<&str> = [&prelude, automation::TEXT, events::TEXT].into_iter().flat_map(words).collect();
    let made = passing(&names);
    let mut text = String::new();
    for (at, found) in made.model.interfaces.iter().enumerate().filter(|(_, found)| !found.imported) {
        let _ = writeln!(text, "{} {:032x}", found.name, canonical::fingerprint(&made.model, InterfaceId(at)));
    }
    all_are_the_same(&difference(&folder().join("fingerprints.txt"), &text).into_iter().collect::<Vec<_>>());
}
