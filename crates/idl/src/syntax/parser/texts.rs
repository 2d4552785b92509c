//! Quoted texts, and the comments that document declarations.

use super::{Parsed, Parser};
use crate::text::diagnostic::Diagnostic;
use crate::text::lexer::{Token, TokenKind, unescaped};
use crate::text::source::Span;

impl Parser<'_> {
    /// Returns the text of a quoted token with its escapes resolved.
    pub(crate) fn unquoted(&self, token: Token) -> String {
        unescaped(self.sources.text(token.span))
    }

    /// Returns the text of a quoted token, joined with the texts of the quoted tokens that directly
    /// follow.
    pub(super) fn joined(&mut self, token: Token) -> String {
        let mut text = self.unquoted(token);
        while let Some(next) = self.peek().filter(|next| next.kind == TokenKind::Text) {
            self.at += 1;
            text += &self.unquoted(next);
        }
        text
    }

    pub(super) fn quoted(&mut self, what: &str) -> Parsed<(String, Span)> {
        match self.peek() {
            Some(token) if token.kind == TokenKind::Text => {
                self.at += 1;
                Ok((self.joined(token), token.span))
            }
            _ => {
                let error = Diagnostic::error("syntax", self.here(), format!("expected {what} in quotes"));
                self.fail(error.help("write it between two `\"`"))
            }
        }
    }

    /// Returns the comment immediately before a place.
    pub(super) fn doc_before(&self, span: Span) -> String {
        let text = &self.sources.file(span.file).text;
        let mut before = text.get(..span.start as usize).unwrap_or("").trim_end();
        let mut lines = Vec::new();
        if let Some(block) = block_before(before) {
            let block = block.trim_matches('*').lines().map(|line| line.trim().trim_start_matches('*').trim());
            return printable(block.collect::<Vec<_>>().join("\n").trim());
        }
        loop {
            let line_start = before.rfind('\n').map_or(0, |at| at + 1);
            let Some(comment) = before[line_start..].trim_start().strip_prefix("//") else {
                break;
            };
            lines.push(comment.trim_start_matches('/').trim());
            before = before[..line_start].trim_end_matches([' ', '\t', '\r']);
            // A blank line ends the comment.
            let Some(shorter) = before.strip_suffix('\n') else {
                break;
            };
            before = shorter;
        }
        lines.reverse();
        printable(&lines.join("\n"))
    }
}

/// Returns a comment with spaces in place of the characters that compilers do not accept in
/// comments. These are control characters, among them a carriage return within a line, and
/// characters that change the direction of the text.
fn printable(comment: &str) -> String {
    let is_direction = |one: char| matches!(one, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_printable = |one: char| matches!(one, '\n' | '\t') || !one.is_control() && !is_direction(one);
    comment.chars().map(|one| if is_printable(one) { one } else { ' ' }).collect()
}

/// Returns the content of the block comment at the end of a text. `None` if the text does not end
/// in a block comment. A line comment that ends in `*/` is not a block comment.
fn block_before(text: &str) -> Option<&str> {
    let block = text.strip_suffix("*/")?;
    let is_mark = |two: &[u8]| two == b"/*" || two == b"*/";
    let start = block.as_bytes().windows(2).rposition(is_mark).filter(|at| block[*at..].starts_with("/*"))?;
    let line_start = block[..start].rfind('\n').map_or(0, |at| at + 1);
    (!block[line_start..start].contains("//")).then(|| &block[start + 2..])
}
