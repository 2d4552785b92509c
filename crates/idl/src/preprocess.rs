//! The subset of the C preprocessor that IDL files use: conditions and named constants.
//!
//! `#define` of an object-like macro, `#undef`, `#if` with `defined`, integers and the usual operators, `#ifdef`, `#ifndef`, `#elif`, `#else`, `#endif`.
//! `#include` and `#import` read a file as `import` does, once. `#pragma` and `#line` are passed over.

use crate::diagnostic::Diagnostic;
use crate::lexer::{Token, TokenKind, lex};
use crate::source::{Sources, Span};
use std::collections::HashMap;

/// What comes out: the tokens that count, and the files that directives ask for.
#[derive(Debug, Default)]
pub(crate) struct Output {
    /// Tokens without trivia, directives and what conditions exclude.
    pub(crate) tokens: Vec<Token>,
    /// For each of these, which token of the file it is or replaces.
    pub(crate) origins: Vec<usize>,
    /// Tokens of the file that conditions exclude.
    pub(crate) skipped: Vec<usize>,
    /// Files named by `#include`.
    pub(crate) includes: Vec<(String, Span)>,
}

/// The macros that are defined, by name.
pub(crate) type Macros = HashMap<String, Vec<Token>>;

/// Replacements of one name that may follow from one another.
const DEPTH_MAX: usize = 16;
/// Tokens that the macros used in a file may stand for, all together.
const REPLACED_MAX: usize = 100_000;

struct Condition {
    taken: bool,
    active: bool,
    parent_active: bool,
    span: Span,
}

struct Preprocessor<'a> {
    sources: &'a Sources,
    macros: &'a mut Macros,
    diagnostics: &'a mut Vec<Diagnostic>,
    conditions: Vec<Condition>,
    /// Tokens that came from macros, with those that became others.
    replaced: usize,
    output: Output,
}

/// Runs over the tokens of a file.
pub(crate) fn preprocess(
    tokens: &[Token],
    sources: &Sources,
    macros: &mut Macros,
    diagnostics: &mut Vec<Diagnostic>,
) -> Output {
    let mut this =
        Preprocessor { sources, macros, diagnostics, conditions: Vec::new(), replaced: 0, output: Output::default() };
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Directive => this.directive(*token),
            _ if !this.is_active() => this.output.skipped.push(at),
            _ if token.is_trivia() => {}
            _ => this.expand(*token, 0),
        }
        this.output.origins.resize(this.output.tokens.len(), at);
    }
    if let Some(open) = this.conditions.last() {
        let error = Diagnostic::error("open-condition", open.span, "this condition does not end");
        this.diagnostics.push(error.help("add an #endif"));
    }
    this.output
}

impl Preprocessor<'_> {
    fn is_active(&self) -> bool {
        self.conditions.last().is_none_or(|condition| condition.active)
    }

    fn expand(&mut self, token: Token, depth: usize) {
        if depth > 0 {
            self.replaced += 1;
            if self.replaced == REPLACED_MAX {
                let error =
                    Diagnostic::error("too-long", token.span, "the macros of this file stand for too much text");
                self.diagnostics.push(error.help(format!("more than {REPLACED_MAX} words are not understood")));
            }
            if self.replaced >= REPLACED_MAX {
                return;
            }
        }
        let replacement = (token.kind == TokenKind::Ident && depth < DEPTH_MAX)
            .then(|| self.macros.get(self.sources.text(token.span)).cloned())
            .flatten();
        let Some(replacement) = replacement else {
            self.output.tokens.push(token);
            return;
        };
        let name = self.sources.text(token.span);
        // A macro that names itself stands for itself, as in C.
        let itself = replacement.iter().any(|part| self.sources.text(part.span) == name);
        for part in replacement {
            self.expand(part, if itself { DEPTH_MAX } else { depth + 1 });
        }
    }

    fn directive(&mut self, token: Token) {
        let sources = self.sources;
        let text = sources.text(token.span);
        let mut ignored = Vec::new();
        let body = lex(text.trim_start_matches('#'), token.span.file, &mut ignored);
        let shift = token.span.start + (text.len() - text.trim_start_matches('#').len()) as u32;
        let mut words: Vec<Token> = body
            .into_iter()
            .filter(|word| !word.is_trivia() && word.kind != TokenKind::Unknown)
            .map(|mut word| {
                word.span.start += shift;
                word.span.end += shift;
                word
            })
            .collect();
        if words.is_empty() {
            return;
        }
        let name = words.remove(0);
        match sources.text(name.span) {
            "if" => {
                let value = self.is_active() && self.condition(&words, token.span);
                self.open(value, token.span);
            }
            "ifdef" => self.open_if_defined(&words, true, token.span),
            "ifndef" => self.open_if_defined(&words, false, token.span),
            "elif" => self.next_branch(Some(&words), token.span),
            "else" => self.next_branch(None, token.span),
            "endif" => {
                if self.conditions.pop().is_none() {
                    self.stray(token.span, "#endif");
                }
            }
            _ if !self.is_active() => {}
            "define" => self.define(&words, token.span),
            "undef" => {
                if let Some(word) = words.first() {
                    self.macros.remove(sources.text(word.span));
                }
            }
            "include" | "import" => self.include(text, token.span),
            "pragma" | "line" => {}
            other => {
                let error = Diagnostic::error("unknown-directive", name.span, format!("#{other} is not understood"));
                self.diagnostics.push(error.help("IDL files know #define, #undef, #if and its kin, and #include"));
            }
        }
    }

    fn open_if_defined(&mut self, words: &[Token], wanted: bool, span: Span) {
        let defined = words.first().is_some_and(|word| self.macros.contains_key(self.sources.text(word.span)));
        self.open(defined == wanted, span);
    }

    fn open(&mut self, value: bool, span: Span) {
        let parent_active = self.is_active();
        let active = parent_active && value;
        self.conditions.push(Condition { taken: active, active, parent_active, span });
    }

    fn next_branch(&mut self, words: Option<&[Token]>, span: Span) {
        let Some(last) = self.conditions.last() else {
            return self.stray(span, if words.is_some() { "#elif" } else { "#else" });
        };
        let open = last.parent_active && !last.taken;
        let value = open && words.is_none_or(|words| self.condition(words, span));
        if let Some(last) = self.conditions.last_mut() {
            last.active = value;
            last.taken |= value;
        }
    }

    fn stray(&mut self, span: Span, what: &str) {
        let error = Diagnostic::error("stray-directive", span, format!("{what} without an #if before it"));
        self.diagnostics.push(error.help("remove it, or add the #if"));
    }

    fn define(&mut self, words: &[Token], span: Span) {
        let Some(name) = words.first().filter(|word| word.kind == TokenKind::Ident) else {
            let error = Diagnostic::error("bad-define", span, "#define needs a name");
            return self.diagnostics.push(error.help("write #define NAME value"));
        };
        let function_like =
            words.get(1).is_some_and(|next| self.sources.text(next.span) == "(" && next.span.start == name.span.end);
        let key = self.sources.text(name.span);
        if function_like {
            // `#define OBVIA(x)` makes old tools pass over our attributes; to us they mean something.
            if key != "OBVIA" {
                let error =
                    Diagnostic::error("macro-with-arguments", name.span, "macros with arguments are not understood");
                self.diagnostics.push(error.help("write the text out where it is used"));
            }
            return;
        }
        self.macros.insert(key.to_owned(), words[1..].to_vec());
    }

    fn include(&mut self, text: &str, span: Span) {
        let quoted = text.find(['"', '<']).and_then(|start| {
            let end = text[start + 1..].find(['"', '>'])?;
            Some(text[start + 1..start + 1 + end].to_owned())
        });
        match quoted {
            Some(name) => self.output.includes.push((name, span)),
            None => {
                let error = Diagnostic::error("bad-include", span, "#include needs a file name in quotes");
                self.diagnostics.push(error);
            }
        }
    }

    /// The value of a condition: integers, names (0 where not defined as a number), `defined`, and C's operators.
    fn condition(&mut self, words: &[Token], span: Span) -> bool {
        let mut resolved = Vec::new();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            let text = self.sources.text(word.span);
            if text == "defined" {
                let parenthesis = words.get(at).is_some_and(|next| self.sources.text(next.span) == "(");
                let name = words.get(at + usize::from(parenthesis)).map_or("", |name| self.sources.text(name.span));
                resolved.push(i64::from(self.macros.contains_key(name)).to_string());
                at += if parenthesis { 3 } else { 1 };
            } else if word.kind == TokenKind::Ident {
                let value = self.macros.get(text).and_then(|tokens| tokens.first());
                let value = value.map_or("0", |token| self.sources.text(token.span));
                resolved.push(if value.starts_with(|c: char| c.is_ascii_digit()) { value } else { "0" }.to_owned());
            } else {
                resolved.push(text.to_owned());
            }
        }
        let text: Vec<&str> = resolved.iter().map(String::as_str).collect();
        match (Arithmetic { words: &text, at: 0, depth: 0 }).whole() {
            Some(value) => value != 0,
            None => {
                let error = Diagnostic::error("bad-condition", span, "this condition cannot be evaluated");
                self.diagnostics
                    .push(error.help("conditions are made of integers, names, defined(NAME) and C's operators"));
                false
            }
        }
    }
}

/// Integer arithmetic of conditions, by precedence climbing.
struct Arithmetic<'a> {
    words: &'a [&'a str],
    at: usize,
    depth: usize,
}

impl Arithmetic<'_> {
    fn whole(mut self) -> Option<i64> {
        let value = self.binary(0)?;
        (self.at == self.words.len()).then_some(value)
    }

    fn next(&mut self) -> Option<&str> {
        let word = self.words.get(self.at).copied();
        self.at += 1;
        word
    }

    fn binary(&mut self, least: u8) -> Option<i64> {
        let mut left = self.unary()?;
        while let Some(&operator) = self.words.get(self.at) {
            let Some(precedence) = precedence(operator).filter(|&precedence| precedence >= least) else {
                break;
            };
            self.at += 1;
            let right = self.binary(precedence + 1)?;
            left = apply(operator, left, right)?;
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > 64 {
            return None;
        }
        let word = self.next()?;
        let value = match word {
            "!" => i64::from(self.unary()? == 0),
            "-" => self.unary()?.checked_neg()?,
            "+" => self.unary()?,
            "~" => !self.unary()?,
            "(" => {
                let value = self.binary(0)?;
                (self.next()? == ")").then_some(value)?
            }
            number => parse_number(number)?,
        };
        self.depth -= 1;
        Some(value)
    }
}

fn parse_number(text: &str) -> Option<i64> {
    let text = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => i64::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    }
}

/// How tightly C's binary operators bind; more binds tighter.
pub(crate) fn precedence(operator: &str) -> Option<u8> {
    Some(match operator {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
}

/// A binary operator on 64-bit integers. `None` on overflow and division by zero.
pub(crate) fn apply(operator: &str, left: i64, right: i64) -> Option<i64> {
    Some(match operator {
        "||" => i64::from(left != 0 || right != 0),
        "&&" => i64::from(left != 0 && right != 0),
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => i64::from(left == right),
        "!=" => i64::from(left != right),
        "<" => i64::from(left < right),
        ">" => i64::from(left > right),
        "<=" => i64::from(left <= right),
        ">=" => i64::from(left >= right),
        "<<" => left.checked_mul(1_i64.checked_shl(u32::try_from(right).ok().filter(|&by| by < 63)?)?)?,
        ">>" => left.checked_shr(u32::try_from(right).ok()?)?,
        "+" => left.checked_add(right)?,
        "-" => left.checked_sub(right)?,
        "*" => left.checked_mul(right)?,
        "/" => left.checked_div(right)?,
        "%" => left.checked_rem(right)?,
        _ => return None,
    })
}
