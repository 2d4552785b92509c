//! The IDL compiler: MIDL's language in, proxies and stubs out.
//!
//! Text goes through [`lexer`], [`parser`] and resolution into a checked [`model`]; [`canonical`] gives each interface its
//! fingerprint; [`plan`] decides how each method travels; a back end in [`emit`] writes the code. For tools that change or
//! look at source, [`syntax`] has all of it as a tree.
//!
//! In a build script one line does all:
//!
//! ```no_run
//! obvia_idl::build("calc.idl");
//! ```

#![forbid(unsafe_code)]

pub mod ast;
pub mod canonical;
mod compile;
mod diagnostic;
pub mod emit;
pub mod lexer;
pub mod model;
mod parser;
pub mod plan;
mod preprocess;
mod resolve;
pub mod shapes;
pub mod source;
pub mod syntax;

use std::path::{Path, PathBuf};

pub use compile::{Compilation, Compiler};
pub use diagnostic::{Diagnostic, Failure, Severity, most_like};

/// Compiles an IDL file in a build script: `OUT_DIR` gets a Rust file of the same name.
///
/// In the crate: `mod calc { include!(concat!(env!("OUT_DIR"), "/calc.rs")); }`, or [`include`](https://docs.rs/obvia)'s shorter
/// form `obvia::include_idl!("calc");`.
///
/// When the file is wrong, what is wrong goes to the build's output, and the build ends there.
pub fn build(file: impl AsRef<Path>) {
    let file = file.as_ref();
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    match compile_into(&Compiler::new(), file, &out) {
        Ok(compilation) => {
            for source in compilation.sources.files() {
                println!("cargo::rerun-if-changed={}", source.path.display());
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

/// Compiles an IDL file to a Rust file of the same name in a directory.
///
/// # Errors
///
/// What is wrong with the file.
pub fn compile_into(compiler: &Compiler, file: &Path, directory: &Path) -> Result<Compilation, Failure> {
    let compilation = compiler.check(file)?;
    let text = match emit::rust::emit(&compilation) {
        Ok(text) => text,
        Err(diagnostics) => {
            return Err(Failure { diagnostics, sources: compilation.sources });
        }
    };
    let target = directory.join(file.file_stem().unwrap_or_default()).with_extension("rs");
    if let Err(error) = std::fs::write(&target, text) {
        let diagnostic = Diagnostic::nowhere("unwritable", format!("{} cannot be written: {error}", target.display()));
        return Err(Failure { diagnostics: vec![diagnostic], sources: compilation.sources });
    }
    Ok(compilation)
}
