//! Text: sources, their tokens, the preprocessor, messages about them, and the writer of generated
//! source.

pub(crate) mod condition;
pub(crate) mod diagnostic;
pub mod lexer;
pub(crate) mod macros;
pub(crate) mod preprocess;
pub mod source;
pub(crate) mod writer;
