//! C's expressions, by precedence climbing.

use super::types::is_base_word;
use super::{Parsed, Parser};
use crate::syntax::SyntaxKind;
use crate::syntax::ast::{Expr, ExprKind, TypeSpec};
use crate::text::condition::precedence;
use crate::text::diagnostic::Diagnostic;
use crate::text::lexer::{Token, TokenKind};

/// The maximum number of binary operators in an expression. Each one is a level of the AST.
const OPERATORS_MAX: usize = 500;

impl Parser<'_> {
    /// Parses a whole expression.
    pub(crate) fn expr(&mut self) -> Parsed<Expr> {
        self.operators = 0;
        self.inner_expr()
    }

    fn inner_expr(&mut self) -> Parsed<Expr> {
        self.node(SyntaxKind::Expr, Self::choice)
    }

    fn choice(&mut self) -> Parsed<Expr> {
        self.nest(|this| {
            let condition = this.binary(0)?;
            if !this.eat("?") {
                return Ok(condition);
            }
            let yes = this.inner_expr()?;
            this.expect(":", "between the two values")?;
            let no = this.inner_expr()?;
            let span = condition.span.to(no.span);
            Ok(Expr { kind: ExprKind::Ternary(Box::new(condition), Box::new(yes), Box::new(no)), span })
        })
    }

    fn binary(&mut self, least: u8) -> Parsed<Expr> {
        let start = self.at;
        let mut left = self.unary()?;
        while let Some(operator) = self.peek_text() {
            let Some(precedence) = precedence(operator).filter(|&found| found >= least) else {
                break;
            };
            self.operators += 1;
            if self.operators > OPERATORS_MAX {
                let error = Diagnostic::error("too-deep", self.here(), "this expression is too long");
                return self.fail(error.help(format!("an expression has at most {OPERATORS_MAX} operators")));
            }
            self.bump();
            let right = self.nest(|this| this.binary(precedence + 1))?;
            self.note(SyntaxKind::Binary, start);
            let span = left.span.to(right.span);
            left = Expr { kind: ExprKind::Binary(operator.to_owned(), Box::new(left), Box::new(right)), span };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let (first, start) = (self.at, self.here());
        for operator in ["-", "+", "~", "!", "*"] {
            if self.eat(operator) {
                let operand = self.nest(Self::unary)?;
                self.note(SyntaxKind::Unary, first);
                let span = start.to(operand.span);
                return Ok(Expr { kind: ExprKind::Unary(operator, Box::new(operand)), span });
            }
        }
        self.primary()
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.at;
        if self.is_cast() {
            return self.cast(start);
        }
        if self.eat("(") {
            let inner = self.inner_expr()?;
            self.expect(")", "after the expression")?;
            self.note(SyntaxKind::Paren, start);
            return Ok(inner);
        }
        let Some(token) = self.bump() else {
            let error = Diagnostic::error("syntax", self.here(), "expected a value, found the end of the file");
            return self.fail(error);
        };
        let text = self.sources.text(token.span);
        let kind = match token.kind {
            TokenKind::Number => self.number(text, token)?,
            TokenKind::Char => ExprKind::Char(self.character(token)?),
            TokenKind::Text => ExprKind::Text(self.joined(token)),
            TokenKind::Ident
                if text == "L"
                    && self.peek().is_some_and(|next| is_quoted(next) && next.span.start == token.span.end) =>
            {
                return self.primary();
            }
            TokenKind::Ident => match text {
                "TRUE" | "true" => ExprKind::Int(1),
                "FALSE" | "false" | "NULL" => ExprKind::Int(0),
                "sizeof" => return self.size_of(start, token),
                name => ExprKind::Name(name.to_owned()),
            },
            _ => {
                let error = Diagnostic::error("syntax", token.span, format!("expected a value, found `{text}`"))
                    .help("write a number, the name of a constant, or an expression of these");
                return self.fail(error);
            }
        };
        Ok(Expr { kind, span: token.span })
    }

    /// Returns the character of a quoted token.
    fn character(&mut self, token: Token) -> Parsed<char> {
        let text = self.unquoted(token);
        let is_escape = self.sources.text(token.span).contains('\\');
        // The lexer also returns this character for half of a surrogate pair.
        let is_replacement =
            self.sources.text(token.span).to_ascii_lowercase().trim_end_matches('\'').ends_with("\\xfffd");
        let mut characters = text.chars();
        let what = match (characters.next(), characters.next()) {
            (Some(char::REPLACEMENT_CHARACTER), None) if is_escape && !is_replacement => {
                "this number is half of a surrogate pair"
            }
            (Some(only), None) => return Ok(only),
            (None, _) => "a character is missing between the quotes",
            (Some(_), Some(_)) => "there is more than one character between the quotes",
        };
        self.fail(Diagnostic::error("syntax", token.span, what))
    }

    /// Whether a cast follows. A name in parentheses counts as a type if a star follows the name,
    /// or if the next token after the parentheses can only begin an operand.
    fn is_cast(&self) -> bool {
        if self.peek_text() != Some("(") {
            return false;
        }
        let mut at = 1;
        let is_base = self.text_at(at).is_some_and(is_base_word);
        if !is_base && self.tokens.get(self.at + at).is_none_or(|token| token.kind != TokenKind::Ident) {
            return false;
        }
        while self.tokens.get(self.at + at).is_some_and(|token| token.kind == TokenKind::Ident) {
            at += 1;
        }
        let words = at - 1;
        while self.text_at(at) == Some("*") {
            at += 1;
        }
        let is_pointer = at > words + 1;
        if self.text_at(at) != Some(")") {
            return false;
        }
        let next = self.tokens.get(self.at + at + 1);
        is_base
            || is_pointer
            || next.is_some_and(|next| {
                matches!(next.kind, TokenKind::Ident | TokenKind::Number | TokenKind::Text | TokenKind::Char)
                    || matches!(self.sources.text(next.span), "(" | "~" | "!")
            })
    }

    fn cast(&mut self, first: usize) -> Parsed<Expr> {
        let start = self.here();
        let (spec, stars) = self.type_in_parentheses()?;
        let value = self.nest(Self::unary)?;
        self.note(SyntaxKind::Cast, first);
        let span = start.to(value.span);
        Ok(Expr { kind: ExprKind::Cast(Box::new(spec), stars, Box::new(value)), span })
    }

    fn size_of(&mut self, first: usize, token: Token) -> Parsed<Expr> {
        let (spec, stars) = self.type_in_parentheses()?;
        self.note(SyntaxKind::SizeOf, first);
        Ok(Expr { kind: ExprKind::SizeOf(Box::new(spec), stars), span: token.span.to(self.behind()) })
    }

    fn type_in_parentheses(&mut self) -> Parsed<(TypeSpec, u8)> {
        self.expect("(", "before the type")?;
        let spec = self.type_spec()?;
        let mut stars = 0;
        while self.eat("*") {
            stars = self.level(stars.into())?;
        }
        self.expect(")", "after the type")?;
        Ok((spec, stars))
    }

    fn number(&mut self, text: &str, token: Token) -> Parsed<ExprKind> {
        let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let suffixes: &[char] = &['u', 'U', 'l', 'L'];
        let value = match hex {
            Some(digits) => u64::from_str_radix(digits.trim_end_matches(suffixes), 16).ok(),
            None if text.contains(['.', 'e', 'E']) => {
                return match text.trim_end_matches(['f', 'F', 'l', 'L']).parse() {
                    Ok(value) => Ok(ExprKind::Float(value)),
                    Err(_) => self.bad_number(text, token),
                };
            }
            None => {
                let digits = text.trim_end_matches(suffixes);
                match digits.strip_prefix('0').filter(|rest| !rest.is_empty()) {
                    Some(octal) => u64::from_str_radix(octal, 8).ok(),
                    None => digits.parse().ok(),
                }
            }
        };
        match value {
            // Values above the signed range become negative, with the same 64 bits.
            Some(value) => Ok(ExprKind::Int(value.cast_signed())),
            None => self.bad_number(text, token),
        }
    }

    fn bad_number<T>(&mut self, text: &str, token: Token) -> Parsed<T> {
        let error = Diagnostic::error("bad-number", token.span, format!("`{text}` is not a number of at most 64 bits"));
        self.fail(error.help("write it in decimal, as 0x for hexadecimal, or with a leading 0 for octal"))
    }
}

fn is_quoted(token: Token) -> bool {
    matches!(token.kind, TokenKind::Text | TokenKind::Char)
}
