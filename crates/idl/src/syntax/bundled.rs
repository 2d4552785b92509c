//! The files that are a part of the compiler.

use super::ast::Item;
use super::parser::Parser;
use crate::text::diagnostic::Diagnostic;
use crate::text::lexer::lex;
use crate::text::macros::Macros;
use crate::text::preprocess::preprocess;
use crate::text::source::{FileId, Sources, Span};

/// Parses a built-in file, to which no other file's macros apply.
pub(crate) fn parse_bundled(file: FileId, sources: &mut Sources, diagnostics: &mut Vec<Diagnostic>) -> Vec<Item> {
    let text = &sources.file(file).text;
    let end = Span { file, start: text.len() as u32, end: text.len() as u32 };
    let tokens = lex(text, file, diagnostics);
    let output = preprocess(&tokens, sources, &mut Macros::new(), diagnostics);
    Parser::new(&output.tokens, end, sources, diagnostics).file()
}
