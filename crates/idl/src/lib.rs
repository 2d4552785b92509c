//! The IDL compiler: translates MIDL's language into proxies and stubs.
//!
//! The folders are floors. Each folder uses only folders that come earlier in this list:
//!
//! - `text` has sources, tokens and messages, and the writer of generated source;
//! - [`syntax`] has the parser, and the whole source as a tree for tools that read or change it;
//! - [`model`] has the declarations with every name resolved, and [`canonical`] gives each
//!   interface its fingerprint;
//! - [`plan`] decides how each method's parameters travel;
//! - `resolve` turns syntax into a model, and checks every rule of the language;
//! - [`frames`] has values in frames, for callers without generated code;
//! - a back end in [`emit`] writes the code, and [`tools`] compare, format, document and lint
//!   files.
//!
//! A build script needs one line:
//!
//! ```no_run
//! obvia_idl::build("calc.idl");
//! ```

#![forbid(unsafe_code)]

mod compile;
pub mod description;
pub mod emit;
pub mod frames;
pub mod model;
pub mod plan;
mod resolve;
pub mod syntax;
mod text;
pub mod tools;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub use compile::{Compilation, Compiler};
pub use model::{automation, canonical, events, typelib};
pub use plan::{ndr, shapes};
pub use syntax::ast;
use text::diagnostic::first_of;
pub use text::diagnostic::{Diagnostic, Failure, Severity, most_like};
pub use text::{lexer, source};

/// Compiles an IDL file in a build script and writes a Rust file of the same name to `OUT_DIR`.
///
/// The crate includes the file with `mod calc { include!(concat!(env!("OUT_DIR"), "/calc.rs")); }`,
/// or, shorter, with the macro [`include_idl`](https://docs.rs/obvia):
/// `obvia::include_idl!("calc");`.
///
/// The build script runs again when one of the files that were read changes, and when a side file
/// (`calc.acf`) appears beside one of these files. To notice new side files, cargo watches the
/// folder. A folder that contains cargo's output or `.git` is not watched. In such a folder, a new
/// side file is noticed only when its IDL file changes too.
///
/// If the file has errors, they go to the build's output and the process exits with status 1.
pub fn build(file: impl AsRef<Path>) {
    build_with(&Compiler::new(), file);
}

/// Compiles an IDL file in a build script, as [`build`] does, with the options of `compiler`.
pub fn build_with(compiler: &Compiler, file: impl AsRef<Path>) {
    let file = file.as_ref();
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    match compile_into(compiler, Language::Rust, file, &out) {
        Ok(Compiled { compilation, .. }) => {
            for path in watched(&compilation, &out) {
                println!("cargo::rerun-if-changed={}", path.display());
            }
            for warning in &compilation.warnings {
                println!("cargo::warning={}", warning.message);
            }
        }
        Err(failure) => {
            println!("cargo::rerun-if-changed={}", file.display());
            eprintln!("{failure}");
            std::process::exit(1);
        }
    }
}

/// Compiles the built-in IDL files, for the runtime's build script.
#[doc(hidden)]
pub fn build_bundled() {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    let check = |name, text| Compiler::new().check_text(Path::new(name), text);
    let write = |name, text| std::fs::write(out.join(name), text).map_err(|error| error.to_string());
    let wire = |name, text, to| {
        let made = check(name, text).map_err(|failure| failure.to_string())?;
        write(to, emit::rust::wire(&made))
    };
    let written = wire(automation::FILE, automation::TEXT, "oaidl.rs")
        .and_then(|()| wire("class_factory.idl", include_str!("class_factory.idl"), "class_factory.rs"))
        .and_then(|()| check(events::FILE, events::TEXT).map_err(|failure| failure.to_string()))
        .and_then(|made| emit::rust::runtime(&made).map_err(|refused| format!("{refused:?}")))
        .and_then(|text| write("ocidl.rs", text));
    if let Err(error) = written {
        eprintln!("{error}");
        std::process::exit(1);
    }
    println!("cargo::rerun-if-changed=build.rs");
}

/// Returns the paths that cargo has to watch. They are the files that were read, and the folders in
/// which a side file may appear.
fn watched(compilation: &Compilation, out: &Path) -> BTreeSet<PathBuf> {
    let mut watched = BTreeSet::new();
    // Built-in files are not on disk: cargo would find them missing at every build.
    for file in compilation.sources.files().iter().filter(|file| file.role.is_on_disk()) {
        watched.insert(file.path.clone());
        let folder = match file.path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        // Cargo runs the build script at every build if a watched path does not exist, and also if
        // every build or git writes to a watched folder.
        let is_written =
            folder.canonicalize().is_ok_and(|folder| out.starts_with(&folder) || folder.join(".git").exists());
        if !is_written && !file.path.with_extension("acf").exists() {
            watched.insert(folder.to_owned());
        }
    }
    watched
}

/// A target language of the compiler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// `NAME.rs`, for the crate `obvia`.
    #[default]
    Rust,
    /// `NAME.h`, `NAME_stubs.c` and `NAME_values.hpp`, for libobvia: for C and C++.
    C,
    /// A file for each interface, structure and enumeration, in their package's folder, for
    /// obvia-runtime.
    Java,
    /// `NAME.pyi`, the types of the declarations, for editors and type checkers. The package
    /// `obvia` for Python needs no generated code.
    Python,
    /// `NAME.tlb`, a type library for calls by name, made of the declarations in the file's
    /// `library`.
    TypeLibrary,
}

/// A compilation and the files that were written for it.
#[derive(Debug)]
pub struct Compiled {
    /// The compilation's result: the model, the sources and the warnings.
    pub compilation: Compilation,
    /// The written files, in the order of writing.
    pub files: Vec<PathBuf>,
}

/// Compiles an IDL file to source of the same name in a directory.
///
/// # Errors
///
/// The errors in the file, the constructs that the language's back end does not support, and files
/// that cannot be written.
pub fn compile_into(
    compiler: &Compiler,
    language: Language,
    file: &Path,
    directory: &Path,
) -> Result<Compiled, Failure> {
    let mut compilation = compiler.check(file)?;
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let mut contents = match contents(compiler, language, &mut compilation, &stem) {
        Ok(contents) => contents,
        Err(diagnostics) => return Err(Failure::new(diagnostics, compilation.sources)),
    };
    if compiler.writes_test() {
        let test = match language {
            Language::Rust => Some(("rs", emit::rust::random_calls(&compilation, &stem))),
            Language::C => Some(("cc", emit::c::random_calls(&compilation, &stem))),
            Language::Java | Language::Python | Language::TypeLibrary => None,
        };
        contents.extend(test.map(|(ending, text)| (format!("{stem}_test.{ending}").into(), text.into())));
    }
    let mut files = Vec::new();
    for (name, content) in contents {
        let target = directory.join(name);
        // If the folder cannot be created, writing the file reports the error.
        let _ = target.parent().map(std::fs::create_dir_all);
        if let Err(error) = std::fs::write(&target, content) {
            let diagnostic =
                Diagnostic::without_place("unwritable", format!("{} cannot be written: {error}", target.display()));
            return Err(Failure { diagnostics: vec![diagnostic], sources: compilation.sources });
        }
        files.push(target);
    }
    Ok(Compiled { compilation, files })
}

/// Returns the error for a language without test programs.
fn no_test_program(language: &str) -> Diagnostic {
    let text = format!("there is no test program for {language} yet; the languages rust and c have one");
    Diagnostic::without_place("not-yet", text)
}

/// Returns the paths and contents of the files to write for a language.
fn contents(
    compiler: &Compiler,
    language: Language,
    compilation: &mut Compilation,
    stem: &str,
) -> Result<Vec<(PathBuf, Vec<u8>)>, Vec<Diagnostic>> {
    if compilation.model.permissive {
        let warnings = match language {
            Language::Rust => emit::rust::permit(compilation),
            Language::C => emit::c::permit(compilation),
            Language::Java => emit::java::permit(compilation),
            Language::Python | Language::TypeLibrary => Vec::new(),
        };
        compilation.warnings.extend(warnings);
        compilation.warnings = first_of(std::mem::take(&mut compilation.warnings), "warnings");
    }
    match language {
        Language::Rust => Ok(vec![(format!("{stem}.rs").into(), emit::rust::emit(compilation)?.into())]),
        Language::C => {
            let made = emit::c::emit(compilation, stem)?;
            let files = [(".h", made.header), ("_stubs.c", made.stubs), ("_values.hpp", made.projection)];
            Ok(files.map(|(ending, text)| (format!("{stem}{ending}").into(), text.into())).into())
        }
        Language::Java if compiler.writes_test() => Err(vec![no_test_program("Java")]),
        Language::Python if compiler.writes_test() => Err(vec![no_test_program("Python")]),
        Language::TypeLibrary if compiler.writes_test() => Err(vec![no_test_program("a type library")]),
        Language::Java => {
            if let Some(name) = compiler.package().filter(|name| !emit::java::is_package(name)) {
                let text = format!("`{name}` is not a valid name of a Java package");
                let help = "write names separated by dots, of which none is a keyword";
                return Err(vec![Diagnostic::without_place("no-name", text).help(help)]);
            }
            let made = emit::java::emit(compilation, stem, compiler.package())?;
            compilation.warnings.extend(made.left_out);
            compilation.warnings = first_of(std::mem::take(&mut compilation.warnings), "warnings");
            Ok(made.files.into_iter().map(|(path, text)| (path, text.into())).collect())
        }
        Language::Python => Ok(vec![(format!("{stem}.pyi").into(), emit::python::emit(compilation).into())]),
        Language::TypeLibrary => {
            let (bytes, warnings) = emit::tlb::emit(compilation)?;
            compilation.warnings.extend(warnings);
            Ok(vec![(format!("{stem}.tlb").into(), bytes)])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_watches_side_files_and_the_places_where_they_can_appear() {
        let folder = ground::Folder::new("idl-watched");
        std::fs::create_dir_all(folder.join("out")).unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let [idl, acf] = ["a.idl", "a.acf"].map(|name| folder.join(name));
        let paths = |out: &Path| -> Vec<PathBuf> {
            let compilation = Compiler::new().check(&idl).unwrap();
            watched(&compilation, out).into_iter().collect()
        };
        std::fs::write(&idl, "const long A = 1;").unwrap();
        let elsewhere = std::env::temp_dir().join("elsewhere");
        assert_eq!(paths(&elsewhere), [folder.clone(), idl.clone()]);
        assert_eq!(paths(&folder.join("out")), std::slice::from_ref(&idl), "every build writes there");
        std::fs::write(&acf, "").unwrap();
        assert_eq!(paths(&elsewhere), [acf, idl.clone()]);
    }
}
