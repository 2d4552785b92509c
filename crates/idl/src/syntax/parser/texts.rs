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
        if let Some(block) = before.strip_suffix("*/") {
            let start = block.rfind("/*").map_or(0, |start| start + 2);
            let inner = block[start..].trim_matches('*');
            return inner
                .lines()
                .map(|line| line.trim().trim_start_matches('*').trim())
                .collect::<Vec<_>>()
                .join("\n")
                .trim()
                .to_owned();
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
        lines.join("\n")
    }
}
