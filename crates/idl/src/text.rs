//! Text: source files, their tokens, the preprocessor, diagnostics, and the writer of generated
//! source.

pub(crate) mod condition;
pub(crate) mod diagnostic;
pub(crate) mod expansion;
pub mod lexer;
pub(crate) mod macros;
pub(crate) mod preprocess;
pub mod source;
pub(crate) mod writer;
