//! The subset of the C preprocessor that IDL files use: conditions and named constants.
//!
//! Supported are `#define` of an object-like macro, `#undef`, `#if` with `defined`, integers and
//! C's operators, `#ifdef`, `#ifndef`, `#elif`, `#else` and `#endif`. `#include` and
//! `#import` insert a file's text. A file with `#pragma once` is inserted once. Other pragmas and
//! `#line` are skipped.

use crate::text::diagnostic::Diagnostic;
use crate::text::lexer::{Token, TokenKind, lex};
use crate::text::source::{Sources, Span};
use std::collections::HashMap;

/// The result of preprocessing a single file.
#[derive(Debug, Default)]
pub(crate) struct Output {
    /// The significant tokens: without trivia, directives and conditionally excluded tokens.
    pub(crate) tokens: Vec<Token>,
    /// For each token, the index of the file's token that it is or replaces.
    pub(crate) origins: Vec<usize>,
    /// The indices of the conditionally excluded tokens.
    pub(crate) skipped: Vec<usize>,
    /// The files that `#include` names.
    pub(crate) includes: Vec<(String, Span)>,
}

/// A directive that the file reader has to execute.
pub(crate) enum FileDirective {
    /// Insert the text of a file here.
    Include(String, Span),
    /// Do not insert this file again.
    Once,
}

/// The defined macros, by name.
pub(crate) type Macros = HashMap<String, Vec<Token>>;

/// The macros that are defined before a file is read. Conditions test MIDL's version.
pub(crate) const PREDEFINED: [(&str, i64); 1] = [("__midl", 801)];

/// The maximum depth of nested macro replacements.
const DEPTH_MAX: usize = 16;
/// The maximum number of tokens that the macros of a file may produce in all.
const REPLACED_MAX: usize = 100_000;
/// The number of bytes of a token that count as one token more.
const WORD_LENGTH: usize = 32;

struct Condition {
    taken: bool,
    active: bool,
    parent_active: bool,
    /// Whether the condition's `#else` has been reached.
    is_last: bool,
    span: Span,
}

/// The preprocessor over the tokens of a file and of the files that it includes.
pub(crate) struct Preprocessor<'a> {
    macros: &'a mut Macros,
    conditions: Vec<Condition>,
    /// The number of open conditions in the including files.
    outer: usize,
    /// The number of tokens that macros produced, intermediate ones included.
    replaced: usize,
    /// The significant tokens: without trivia, directives and conditionally excluded tokens.
    pub(crate) tokens: Vec<Token>,
}

/// The sources of the tokens' text, and the list of findings.
pub(crate) struct Files<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) diagnostics: &'a mut Vec<Diagnostic>,
}

/// Preprocesses the tokens of a file without inserting included files.
pub(crate) fn preprocess(
    tokens: &[Token],
    sources: &Sources,
    macros: &mut Macros,
    diagnostics: &mut Vec<Diagnostic>,
) -> Output {
    let mut files = Files { sources, diagnostics };
    let mut this = Preprocessor::new(macros);
    let mut output = Output::default();
    for (at, token) in tokens.iter().enumerate() {
        if token.kind != TokenKind::Directive && !this.is_active() {
            output.skipped.push(at);
        }
        if let Some(FileDirective::Include(name, span)) = this.token(&mut files, *token) {
            output.includes.push((name, span));
        }
        output.origins.resize(this.tokens.len(), at);
    }
    this.end_file(&mut files, 0);
    output.tokens = this.tokens;
    output
}

impl<'a> Preprocessor<'a> {
    /// Returns a preprocessor that uses these macros and adds to them.
    pub(crate) fn new(macros: &'a mut Macros) -> Self {
        Self { macros, conditions: Vec::new(), outer: 0, replaced: 0, tokens: Vec::new() }
    }

    /// Processes a token.
    pub(crate) fn token(&mut self, files: &mut Files<'_>, token: Token) -> Option<FileDirective> {
        match token.kind {
            TokenKind::Directive => return self.directive(files, token),
            _ if !self.is_active() || token.is_trivia() => {}
            _ => self.expand(files, token, 0),
        }
        None
    }

    /// Begins an included file. The returned value is to be passed to [`Self::end_file`].
    pub(crate) fn begin_file(&mut self) -> usize {
        std::mem::replace(&mut self.outer, self.conditions.len())
    }

    /// Ends a file. Its conditions must be closed, and those of the including file continue.
    pub(crate) fn end_file(&mut self, files: &mut Files<'_>, outer: usize) {
        if let Some(open) = self.own().last() {
            let error = Diagnostic::error("open-condition", open.span, "this condition does not end in its file");
            files.diagnostics.push(error.help("add an #endif"));
        }
        self.conditions.truncate(self.outer);
        self.outer = outer;
    }

    /// Returns the conditions that were opened in the current file.
    fn own(&self) -> &[Condition] {
        &self.conditions[self.outer..]
    }

    fn is_active(&self) -> bool {
        self.conditions.last().is_none_or(|condition| condition.active)
    }

    fn expand(&mut self, files: &mut Files<'_>, token: Token, depth: usize) {
        if depth > 0 && self.replaced < REPLACED_MAX {
            self.replaced += 1 + (token.span.end - token.span.start) as usize / WORD_LENGTH;
            if self.replaced >= REPLACED_MAX {
                let error =
                    Diagnostic::error("too-long", token.span, "the macros of this file expand to too much text");
                files.diagnostics.push(error.help(format!("macros expand to at most {REPLACED_MAX} words")));
            }
        }
        if depth > 0 && self.replaced >= REPLACED_MAX {
            return;
        }
        let replacement = (token.kind == TokenKind::Ident && depth < DEPTH_MAX)
            .then(|| self.macros.get(files.sources.text(token.span)).cloned())
            .flatten();
        let Some(replacement) = replacement else {
            self.tokens.push(token);
            return;
        };
        let name = files.sources.text(token.span);
        // A macro whose replacement names the macro is not expanded again, as in C.
        let itself = replacement.iter().any(|part| files.sources.text(part.span) == name);
        for part in replacement {
            self.expand(files, part, if itself { DEPTH_MAX } else { depth + 1 });
        }
    }

    fn directive(&mut self, files: &mut Files<'_>, token: Token) -> Option<FileDirective> {
        let sources = files.sources;
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
            return None;
        }
        let name = words.remove(0);
        match sources.text(name.span) {
            "if" => {
                let value = self.is_active() && self.condition(files, &words, token.span);
                self.open(value, token.span);
            }
            "ifdef" => self.open_if_defined(sources, &words, true, token.span),
            "ifndef" => self.open_if_defined(sources, &words, false, token.span),
            "elif" => self.next_branch(files, Some(&words), token.span),
            "else" => self.next_branch(files, None, token.span),
            "endif" if self.own().is_empty() => stray(files, token.span, "#endif"),
            "endif" => _ = self.conditions.pop(),
            _ if !self.is_active() => {}
            "define" => self.define(files, &words, token.span),
            "undef" => {
                if let Some(word) = words.first() {
                    self.macros.remove(sources.text(word.span));
                }
            }
            "include" | "import" => return include(files, text, token.span),
            "pragma" if words.first().is_some_and(|word| sources.text(word.span) == "once") => {
                return Some(FileDirective::Once);
            }
            "pragma" | "line" => {}
            other => {
                let error = Diagnostic::error("unknown-directive", name.span, format!("#{other} is not supported"));
                files.diagnostics.push(error.help(
                    "IDL files may use #define, #undef, #if, #ifdef, #ifndef, #elif, #else, #endif and #include",
                ));
            }
        }
        None
    }

    fn is_defined(&self, name: &str) -> bool {
        self.macros.contains_key(name) || PREDEFINED.iter().any(|(known, _)| *known == name)
    }

    fn open_if_defined(&mut self, sources: &Sources, words: &[Token], wanted: bool, span: Span) {
        let defined = words.first().is_some_and(|word| self.is_defined(sources.text(word.span)));
        self.open(defined == wanted, span);
    }

    fn open(&mut self, value: bool, span: Span) {
        let parent_active = self.is_active();
        let active = parent_active && value;
        self.conditions.push(Condition { taken: active, active, parent_active, is_last: false, span });
    }

    fn next_branch(&mut self, files: &mut Files<'_>, words: Option<&[Token]>, span: Span) {
        let Some(last) = self.own().last().filter(|last| !last.is_last) else {
            return stray(files, span, if words.is_some() { "#elif" } else { "#else" });
        };
        let open = last.parent_active && !last.taken;
        let value = open && words.is_none_or(|words| self.condition(files, words, span));
        if let Some(last) = self.conditions.last_mut() {
            last.active = value;
            last.taken |= value;
            last.is_last = words.is_none();
        }
    }

    fn define(&mut self, files: &mut Files<'_>, words: &[Token], span: Span) {
        let Some(name) = words.first().filter(|word| word.kind == TokenKind::Ident) else {
            let error = Diagnostic::error("bad-define", span, "#define needs a name");
            return files.diagnostics.push(error.help("write #define NAME value"));
        };
        let function_like =
            words.get(1).is_some_and(|next| files.sources.text(next.span) == "(" && next.span.start == name.span.end);
        let key = files.sources.text(name.span);
        if function_like {
            // `#define OBVIA(x)` hides attributes from other tools. Here the attributes count.
            if key != "OBVIA" {
                let error =
                    Diagnostic::error("macro-with-arguments", name.span, "macros with arguments are not supported");
                files.diagnostics.push(error.help("write the text itself where the macro is used"));
            }
            return;
        }
        self.macros.insert(key.to_owned(), words[1..].to_vec());
    }

    /// Evaluates a condition: integers, `defined`, C's operators, and names. A name is replaced by
    /// its macro, or by 0 if there is none.
    fn condition(&mut self, files: &mut Files<'_>, words: &[Token], span: Span) -> bool {
        let mut resolved = Vec::new();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            if files.sources.text(word.span) == "defined" {
                let parenthesis = words.get(at).is_some_and(|next| files.sources.text(next.span) == "(");
                let name = words.get(at + usize::from(parenthesis)).map_or("", |name| files.sources.text(name.span));
                resolved.push(i64::from(self.is_defined(name)).to_string());
                at += if parenthesis { 3 } else { 1 };
                continue;
            }
            let before = self.tokens.len();
            self.expand(files, *word, 0);
            resolved.extend(self.tokens.drain(before..).map(|part| match files.sources.text(part.span) {
                name if part.kind == TokenKind::Ident => {
                    PREDEFINED.iter().find(|(known, _)| *known == name).map_or(0, |(_, value)| *value).to_string()
                }
                text => text.to_owned(),
            }));
        }
        let text: Vec<&str> = resolved.iter().map(String::as_str).collect();
        match (Arithmetic { words: &text, at: 0, depth: 0 }).evaluate() {
            Some(value) => value != 0,
            None => {
                let error = Diagnostic::error("bad-condition", span, "this condition cannot be evaluated");
                files
                    .diagnostics
                    .push(error.help("conditions are made of integers, names, defined(NAME) and C's operators"));
                false
            }
        }
    }
}

fn stray(files: &mut Files<'_>, span: Span, what: &str) {
    let error = Diagnostic::error("stray-directive", span, format!("{what} has no #if before it in this file"));
    files.diagnostics.push(error.help("remove it, or add the #if; an #else is the last branch of its #if"));
}

fn include(files: &mut Files<'_>, text: &str, span: Span) -> Option<FileDirective> {
    let quoted = text.find(['"', '<']).and_then(|start| {
        let end = text[start + 1..].find(['"', '>'])?;
        Some(text[start + 1..start + 1 + end].to_owned())
    });
    if quoted.is_none() {
        files.diagnostics.push(Diagnostic::error("bad-include", span, "#include needs a file name in quotes"));
    }
    quoted.map(|name| FileDirective::Include(name, span))
}

/// The maximum depth of nested operations in a condition.
const OPERATIONS_MAX: usize = 64;

/// The value of an expression. `None` for a division by zero and for an overflow, which are errors
/// only if the condition depends on the value.
type ConditionValue = Option<i64>;

/// The integer arithmetic of conditions, by precedence climbing. The functions return `None` for
/// words that are no expression.
struct Arithmetic<'a> {
    words: &'a [&'a str],
    at: usize,
    depth: usize,
}

impl<'a> Arithmetic<'a> {
    /// Returns the value of all words.
    fn evaluate(mut self) -> ConditionValue {
        let value = self.choice()?;
        if self.at == self.words.len() { value } else { None }
    }

    fn next(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.at).copied();
        self.at += 1;
        word
    }

    fn expect(&mut self, wanted: &str) -> Option<()> {
        (self.next()? == wanted).then_some(())
    }

    /// Parses `a ? b : c` or a binary expression.
    fn choice(&mut self) -> Option<ConditionValue> {
        self.nested(|this| {
            let condition = this.binary(0)?;
            if this.words.get(this.at) != Some(&"?") {
                return Some(condition);
            }
            this.at += 1;
            let yes = this.choice()?;
            this.expect(":")?;
            let no = this.choice()?;
            Some(condition.and_then(|value| if value == 0 { no } else { yes }))
        })
    }

    fn binary(&mut self, least: u8) -> Option<ConditionValue> {
        let mut left = self.unary()?;
        while let Some(&operator) = self.words.get(self.at) {
            let Some(precedence) = precedence(operator).filter(|&precedence| precedence >= least) else {
                break;
            };
            self.at += 1;
            let right = self.binary(precedence + 1)?;
            left = left.and_then(|left| decided(operator, left).or_else(|| apply(operator, left, right?)));
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<ConditionValue> {
        self.nested(|this| {
            Some(match this.next()? {
                "!" => this.unary()?.map(|value| i64::from(value == 0)),
                "-" => this.unary()?.and_then(i64::checked_neg),
                "+" => this.unary()?,
                "~" => this.unary()?.map(|value| !value),
                "(" => {
                    let value = this.choice()?;
                    this.expect(")")?;
                    value
                }
                number => Some(parse_number(number)?),
            })
        })
    }

    fn nested(&mut self, parse: impl FnOnce(&mut Self) -> Option<ConditionValue>) -> Option<ConditionValue> {
        self.depth += 1;
        if self.depth > OPERATIONS_MAX {
            return None;
        }
        let value = parse(self)?;
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

/// Returns the precedence of a binary operator of C. A larger number binds tighter.
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

/// Returns the value of `left && right` or `left || right` if `left` alone decides it. `None` if
/// not.
pub(crate) fn decided(operator: &str, left: i64) -> Option<i64> {
    match operator {
        "&&" if left == 0 => Some(0),
        "||" if left != 0 => Some(1),
        _ => None,
    }
}

/// Applies a binary operator to 64-bit integers. `None` on overflow and on division by zero.
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
