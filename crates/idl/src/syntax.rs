//! Syntax: declarations as the parser finds them, and the tree of a file with every byte of it.

pub mod ast;
pub(crate) mod bundled;
mod kind;
pub(crate) mod parser;
mod tree;

pub(crate) use kind::Noted;
pub use kind::SyntaxKind;
pub use tree::{Children, Element, Node, Token, Tree, parse};
