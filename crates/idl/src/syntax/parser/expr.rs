//! C's expressions, by precedence climbing.

use super::{Parsed, Parser};
use crate::syntax::SyntaxKind;
use crate::syntax::ast::{Expr, ExprKind};
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
            TokenKind::Char => match self.unquoted(token).chars().next() {
                Some(c) => ExprKind::Char(c),
                None => {
                    let error = Diagnostic::error("syntax", token.span, "a character is missing between the quotes");
                    return self.fail(error);
                }
            },
            TokenKind::Text => ExprKind::Text(self.unquoted(token)),
            TokenKind::Ident
                if text == "L"
                    && self.peek().is_some_and(|next| is_quoted(next) && next.span.start == token.span.end) =>
            {
                return self.primary();
            }
            TokenKind::Ident => match text {
                "TRUE" | "true" => ExprKind::Int(1),
                "FALSE" | "false" | "NULL" => ExprKind::Int(0),
                "sizeof" => {
                    let error = Diagnostic::error("unsupported", token.span, "sizeof is not supported");
                    return self.fail(error.help("write the number"));
                }
                name => ExprKind::Name(name.to_owned()),
            },
            _ => {
                let error = Diagnostic::error("syntax", token.span, format!("expected a value, found `{text}`"));
                return self.fail(error);
            }
        };
        Ok(Expr { kind, span: token.span })
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
            // Values above the signed range keep their 64 bits.
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
