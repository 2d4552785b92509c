//! The C preprocessor: conditions, included files, and macros.
//!
//! Supported are `#define` with and without parameters, `#undef`, `#if` with `defined`, integers
//! and C's operators, `#ifdef`, `#ifndef`, `#elif`, `#else` and `#endif`. `#include` and `#import`
//! insert a file's text. A file with `#pragma once` is inserted once. Other pragmas and `#line` are
//! skipped. `#error` and `#warning` report their text.

use crate::text::condition::evaluate;
use crate::text::diagnostic::Diagnostic;
use crate::text::expansion::Expansion;
use crate::text::lexer::{Token, TokenKind, lex};
use crate::text::macros::{Files, Macros, macro_of};
use crate::text::source::{Sources, Span};
use std::rc::Rc;

/// The result of preprocessing a single file.
#[derive(Debug, Default)]
pub(crate) struct Output {
    /// The significant tokens: without trivia, directives and conditionally excluded tokens.
    pub(crate) tokens: Vec<Token>,
    /// For each token, the index of the file's token from which it comes. If a macro has produced
    /// the token, this is the index of the macro's name where the macro is used.
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

/// The macros that are defined before a file is read. Conditions test the versions of MIDL and of
/// widl, and whether the type GUID, which is built in, has been declared.
pub(crate) const PREDEFINED: [(&str, i64); 3] = [("__midl", 801), ("__WIDL__", 0x800), ("GUID_DEFINED", 1)];

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
    expansion: Expansion<'a>,
    conditions: Vec<Condition>,
    /// The number of open conditions in the including files.
    outer: usize,
    /// Whether white space stands before the next token.
    is_spaced: bool,
    /// The significant tokens: without trivia, directives and conditionally excluded tokens.
    pub(crate) tokens: Vec<Token>,
}

/// Preprocesses the tokens of a file without inserting included files.
pub(crate) fn preprocess(
    tokens: &[Token],
    sources: &mut Sources,
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
        let expansion = Expansion::new(macros);
        Self { expansion, conditions: Vec::new(), outer: 0, is_spaced: false, tokens: Vec::new() }
    }

    /// Whether the macros exceeded a limit, which has been reported. The tokens are incomplete
    /// then.
    pub(crate) fn is_over(&self) -> bool {
        self.expansion.is_over()
    }

    /// Processes a token. Returns the directive that the file reader has to execute, if the token
    /// is such a directive.
    pub(crate) fn token(&mut self, files: &mut Files<'_>, token: Token) -> Option<FileDirective> {
        self.expansion.permit(token.span.end - token.span.start);
        match token.kind {
            TokenKind::Directive => {
                // A directive ends the use of a macro, so that conditions expand their own macros.
                self.expansion.end_call(files, &mut self.tokens);
                self.is_spaced = true;
                return self.directive(files, token);
            }
            _ if token.is_trivia() => self.is_spaced = true,
            _ if !self.is_active() => {}
            _ => {
                let is_spaced = std::mem::take(&mut self.is_spaced);
                self.expansion.add(files, token, is_spaced, &mut self.tokens);
            }
        }
        None
    }

    /// Begins an included file. The returned value is to be passed to [`Self::end_file`].
    pub(crate) fn begin_file(&mut self) -> usize {
        std::mem::replace(&mut self.outer, self.conditions.len())
    }

    /// Ends a file. Its conditions must be closed. The conditions of the including file continue.
    pub(crate) fn end_file(&mut self, files: &mut Files<'_>, outer: usize) {
        self.expansion.end_call(files, &mut self.tokens);
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

    fn directive(&mut self, files: &mut Files<'_>, token: Token) -> Option<FileDirective> {
        let text = files.sources.text(token.span).trim_end().to_owned();
        let token = Token { span: Span { end: token.span.start + text.len() as u32, ..token.span }, ..token };
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
        let what = files.sources.text(name.span).to_owned();
        match what.as_str() {
            "if" => {
                let value = self.is_active() && self.condition(files, &words, token.span);
                self.open(value, token.span);
            }
            "ifdef" => self.open_if_defined(files.sources, &words, true, token.span),
            "ifndef" => self.open_if_defined(files.sources, &words, false, token.span),
            "elif" => self.next_branch(files, Some(&words), token.span),
            "else" => self.next_branch(files, None, token.span),
            "endif" if self.own().is_empty() => stray(files, token.span, "#endif"),
            "endif" => _ = self.conditions.pop(),
            _ if !self.is_active() => {}
            "define" => self.define(files, &words, token.span),
            "undef" => {
                if let Some(word) = words.first() {
                    self.expansion.macros.remove(files.sources.text(word.span));
                }
            }
            "include" | "import" => return include(files, &text, token.span),
            "pragma" if words.first().is_some_and(|word| files.sources.text(word.span) == "once") => {
                return Some(FileDirective::Once);
            }
            "pragma" | "line" => {}
            "error" | "warning" => {
                let said = text.split_once(what.as_str()).map_or("", |(_, said)| said.trim());
                let text = format!("the file says: {said}");
                let found = match what.as_str() {
                    "error" => Diagnostic::error("said-by-file", token.span, text),
                    _ => Diagnostic::warning("said-by-file", token.span, text),
                };
                files
                    .diagnostics
                    .push(found.help("if a condition led here, change its macro: -D NAME=TEXT defines one"));
            }
            other => {
                let error = Diagnostic::error("unknown-directive", name.span, format!("#{other} is not supported"));
                files.diagnostics.push(error.help(
                    "IDL files may use #define, #undef, #if, #ifdef, #ifndef, #elif, #else, #endif, #error, #warning, #pragma, #line and #include",
                ));
            }
        }
        None
    }

    fn is_defined(&self, name: &str) -> bool {
        self.expansion.macros.contains_key(name) || PREDEFINED.iter().any(|(known, _)| *known == name)
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
        let key = files.sources.text(name.span).to_owned();
        // `#define OBVIA(x)` hides attributes from other tools, but this compiler reads the
        // attributes. Some C headers define `interface`, which is a keyword of IDL.
        if function_like && key == "OBVIA" || key == "interface" {
            return;
        }
        match macro_of(files.sources, &words[1..], function_like) {
            Ok(made) => _ = self.expansion.macros.insert(key, Rc::new(made)),
            Err(why) => {
                let error = Diagnostic::error("bad-define", span, why);
                files.diagnostics.push(error.help("write #define NAME text or #define NAME(a, b) text"));
            }
        }
    }

    /// Evaluates a condition: integers, `defined`, C's operators, and names. A name is replaced by
    /// its macro, or else by its value in [`PREDEFINED`], or by 0.
    fn condition(&mut self, files: &mut Files<'_>, words: &[Token], span: Span) -> bool {
        let mut resolved = Vec::new();
        let (mut at, before) = (0, self.tokens.len());
        while let Some(word) = words.get(at) {
            at += 1;
            if files.sources.text(word.span) == "defined" {
                let parenthesis = words.get(at).is_some_and(|next| files.sources.text(next.span) == "(");
                let name = words.get(at + usize::from(parenthesis)).map_or("", |name| files.sources.text(name.span));
                let value = i64::from(self.is_defined(name)).to_string();
                self.words_since(files, before, &mut resolved);
                resolved.push(value);
                at += if parenthesis { 3 } else { 1 };
                continue;
            }
            self.expansion.add(files, *word, true, &mut self.tokens);
        }
        self.words_since(files, before, &mut resolved);
        let text: Vec<&str> = resolved.iter().map(String::as_str).collect();
        match evaluate(&text) {
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

    /// Moves the tokens since `before` to the words of a condition. A name without a macro has its
    /// value in [`PREDEFINED`], or 0.
    fn words_since(&mut self, files: &mut Files<'_>, before: usize, words: &mut Vec<String>) {
        self.expansion.end_call(files, &mut self.tokens);
        words.extend(self.tokens.drain(before..).map(|part| match files.sources.text(part.span) {
            name if part.kind == TokenKind::Ident => {
                PREDEFINED.iter().find(|(known, _)| *known == name).map_or(0, |(_, value)| *value).to_string()
            }
            text => text.to_owned(),
        }));
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
