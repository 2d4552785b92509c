//! The IDL compiler: MIDL's language in, proxies and stubs out.
//!
//! Text goes through [`lexer`], [`parser`] and resolution into a checked [`model`]; [`canonical`] gives each interface its
//! fingerprint; [`plan`] decides how each method travels; a back end in [`emit`] writes the code.
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
pub mod lexer;
pub mod model;
mod parser;
mod preprocess;
mod resolve;
pub mod source;

pub use compile::{Compilation, Compiler};
pub use diagnostic::{Diagnostic, Failure, Severity};
