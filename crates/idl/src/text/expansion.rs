//! The replacement of macros by their definitions, in the order of C (ISO/IEC 9899:2011, 6.10.3):
//! arguments first, then the replacement together with the words that follow the macro's use. A
//! macro's name that comes from its own replacement is not replaced again.

use crate::text::diagnostic::Diagnostic;
use crate::text::lexer::{Token, TokenKind};
use crate::text::macros::{
    Call, Files, Hidden, Macro, Macros, Replacement, Role, Step, Word, hidden_from_both, hide, is_hidden, quoted,
    quoted_length,
};
use crate::text::source::{FileId, Span};
use std::rc::Rc;

/// The maximum depth of nested replacements, and of nested arguments.
const DEPTH_MAX: usize = 64;
/// The total number of words that the macros of any file may produce.
const REPLACED_LEAST: usize = 500_000;
/// The number of further words that each byte of a file's words permits. One word for each byte is
/// not enough for Wine's `mshtml.idl`.
const REPLACED_PER_BYTE: usize = 3;
/// A divisor: `w` words, from each of which `n` macros are hidden, count as `w * n / HIDDEN_COUNT`
/// further words towards the limit of words.
const HIDDEN_COUNT: usize = 8;
/// A divisor: words with `n` bytes together count as `n / WORD_LENGTH` further words towards the
/// limit of words.
const WORD_LENGTH: usize = 32;

/// The state of the replacement of a file's macros.
#[derive(Debug)]
pub(crate) struct Expansion<'a> {
    pub(crate) macros: &'a mut Macros,
    /// The number of words that macros produced, intermediate ones included.
    replaced: usize,
    /// The number of words that macros may produce.
    replaced_max: usize,
    /// The depth of nested arguments.
    nesting: usize,
    /// Whether the next word inherits white space from a macro that was replaced by no words.
    is_spaced: bool,
    /// Whether a limit was exceeded. No macro is replaced from then on.
    is_over: bool,
    /// The use of a macro with parameters whose arguments are not complete.
    call: Option<Call>,
    /// The token of the file that is being replaced, at which errors are reported.
    place: Span,
}

impl<'a> Expansion<'a> {
    pub(crate) fn new(macros: &'a mut Macros) -> Self {
        let place = Span { file: FileId(0), start: 0, end: 0 };
        Self {
            macros,
            replaced: 0,
            replaced_max: REPLACED_LEAST,
            nesting: 0,
            is_spaced: false,
            is_over: false,
            call: None,
            place,
        }
    }

    /// Permits macros to produce more words, because the file has more bytes.
    pub(crate) fn permit(&mut self, bytes: u32) {
        let words = (bytes as usize).saturating_mul(REPLACED_PER_BYTE);
        self.replaced_max = self.replaced_max.saturating_add(words);
    }

    /// Whether the macros of the file exceeded a limit, which has been reported.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Adds a token of the file. If the token names a macro or completes a macro's use, the macro's
    /// replacement is added instead.
    pub(crate) fn add(&mut self, files: &mut Files<'_>, token: Token, is_spaced: bool, out: &mut Vec<Token>) {
        let is_plain = token.kind != TokenKind::Ident || !self.macros.contains_key(files.sources.text(token.span));
        if is_plain && self.call.is_none() {
            return out.push(token);
        }
        if self.call.is_none() {
            self.place = token.span;
        }
        let (mut call, mut words) = (self.call.take(), Vec::new());
        let is_spaced = is_spaced | std::mem::take(&mut self.is_spaced);
        self.replace(files, Word { token, is_spaced, hidden: None }, &mut call, &mut words);
        self.call = call;
        out.extend(words.into_iter().map(|word| word.token));
    }

    /// Ends a macro's use that is not complete: without arguments, the name of a macro with
    /// parameters is not replaced.
    pub(crate) fn end_call(&mut self, files: &mut Files<'_>, out: &mut Vec<Token>) {
        let call = self.call.take();
        out.extend(self.name_of(files, call).map(|word| word.token));
    }

    /// Returns the name of a macro with parameters if no argument list follows it, since the name
    /// is then not replaced. Reports an argument list that does not end.
    fn name_of(&self, files: &mut Files<'_>, call: Option<Call>) -> Option<Word> {
        let call = call.filter(|_| !self.is_over)?;
        if call.is_open() {
            let error = Diagnostic::error("syntax", self.place, "the arguments of this macro do not end");
            files.diagnostics.push(error.help("add `)`"));
            return None;
        }
        Some(call.name)
    }

    /// Adds a word, with its macros replaced.
    fn replace(&mut self, files: &mut Files<'_>, word: Word, call: &mut Option<Call>, out: &mut Vec<Word>) {
        let mut pending = vec![word];
        while let Some(mut word) = pending.pop().filter(|_| !self.is_over) {
            if let Some(mut open) = call.take() {
                word = match open.add(files.sources.text(word.token.span), word) {
                    Step::Open => {
                        *call = Some(open);
                        continue;
                    }
                    Step::Complete(last) => {
                        let hidden = hidden_from_both(&open.name.hidden, &last.hidden);
                        let made = self.replacement(files, &open.of, &open.name, open.arguments, &hidden);
                        self.push(&mut pending, made);
                        continue;
                    }
                    Step::Name(word) => {
                        out.push(open.name);
                        word
                    }
                };
            }
            match self.named(files, &word) {
                None => out.push(word),
                Some(of) if of.params.is_some() => *call = Some(Call::new(word, of)),
                Some(of) => {
                    let made = self.replacement(files, &of, &word, Vec::new(), &word.hidden);
                    self.push(&mut pending, made);
                }
            }
        }
    }

    /// Adds the words of a replacement to the pending words, so that they are expanded first. The
    /// last element of `pending` is the next word to expand.
    fn push(&mut self, pending: &mut Vec<Word>, made: Option<Replacement>) {
        let Some(made) = made else { return };
        match pending.last_mut() {
            Some(next) => next.is_spaced |= made.is_spaced,
            None => self.is_spaced |= made.is_spaced,
        }
        pending.extend(made.words.into_iter().rev());
    }

    /// Returns the macro that a word names, unless the macro is hidden from the word.
    fn named(&self, files: &Files<'_>, word: &Word) -> Option<Rc<Macro>> {
        let name = (word.token.kind == TokenKind::Ident).then(|| files.sources.text(word.token.span))?;
        self.macros.get(name).filter(|of| !is_hidden(&word.hidden, of)).cloned()
    }

    /// Returns the words that replace a macro's use. The macro and `others` are hidden from these
    /// words. Reports an error and returns `None` if the use is faulty or exceeds a limit.
    fn replacement(
        &mut self,
        files: &mut Files<'_>,
        of: &Rc<Macro>,
        name: &Word,
        mut arguments: Vec<Vec<Word>>,
        others: &Hidden,
    ) -> Option<Replacement> {
        let place = self.place;
        if others.as_ref().is_some_and(|others| others.count >= DEPTH_MAX) {
            self.too_deep(files);
            return None;
        }
        if of.params == Some(0) && arguments.iter().all(Vec::is_empty) {
            arguments.truncate(0);
        }
        let wanted = of.params.unwrap_or(0);
        let is_empty = wanted == 1 && arguments.iter().all(Vec::is_empty);
        let is_rest_left_out = of.is_variadic && (arguments.len() + 1 == wanted || is_empty);
        if is_rest_left_out {
            arguments.resize(wanted, Vec::new());
        }
        if wanted != arguments.len() {
            let given = arguments.len();
            let text = format!("this macro has {wanted} parameters, and {given} arguments are given");
            let error = Diagnostic::error("macro-arguments", place, text);
            files.diagnostics.push(error.help("separate the arguments by commas; an argument may be empty"));
            return None;
        }
        let mut made = Replacement::new(name.is_spaced);
        let mut expanded: Vec<Option<Vec<Word>>> = vec![None; wanted];
        for part in &of.body {
            let words = match part.role {
                Role::Itself => vec![Word { token: part.token, is_spaced: part.is_spaced, hidden: None }],
                Role::Quoted(at) => {
                    self.count(files, quoted_length(&arguments[at]) / WORD_LENGTH)?;
                    quoted(files, &arguments[at], place)
                }
                Role::Argument(at) if part.is_joined || part.is_joined_to_next => arguments[at].clone(),
                Role::Argument(at) => {
                    if expanded[at].is_none() {
                        expanded[at] = Some(self.argument(files, &arguments[at])?);
                    }
                    expanded[at].clone().unwrap_or_default()
                }
            };
            let length: u32 = words.iter().map(|word| word.token.span.end - word.token.span.start).sum();
            self.count(files, 1 + words.len() + length as usize / WORD_LENGTH)?;
            // As in other compilers, `, ## __VA_ARGS__` leaves no comma if there are no arguments.
            if is_rest_left_out && part.role == Role::Argument(wanted - 1) && part.is_joined {
                made.remove_comma(files);
            }
            made.add(files, part, words, place);
        }
        // The comparisons of each word with all hidden macros count towards the limit of words.
        let hidden = hide(of, others);
        self.count(files, made.words.len() * hidden.as_ref().map_or(0, |hidden| hidden.count) / HIDDEN_COUNT)?;
        made.hide(&hidden);
        Some(made)
    }

    /// Returns an argument with its macros replaced. `None` if a limit is exceeded.
    fn argument(&mut self, files: &mut Files<'_>, argument: &[Word]) -> Option<Vec<Word>> {
        if self.nesting >= DEPTH_MAX {
            self.too_deep(files);
            return None;
        }
        self.nesting += 1;
        let (mut call, mut out) = (None, Vec::new());
        let outer = std::mem::take(&mut self.is_spaced);
        for word in argument {
            let is_spaced = word.is_spaced | std::mem::take(&mut self.is_spaced);
            self.replace(files, Word { is_spaced, ..word.clone() }, &mut call, &mut out);
        }
        out.extend(self.name_of(files, call));
        self.is_spaced = outer;
        self.nesting -= 1;
        (!self.is_over).then_some(out)
    }

    /// Counts words of a replacement. `None` if the macros of the file may not produce so many
    /// words.
    fn count(&mut self, files: &mut Files<'_>, words: usize) -> Option<()> {
        self.replaced = self.replaced.saturating_add(words);
        if self.replaced > self.replaced_max && !self.is_over {
            self.is_over = true;
            let error = Diagnostic::error("too-long", self.place, "the macros of this file expand to too much text");
            files.diagnostics.push(error.help(format!("macros expand to at most {} words", self.replaced_max)));
        }
        (!self.is_over).then_some(())
    }

    fn too_deep(&mut self, files: &mut Files<'_>) {
        if !std::mem::replace(&mut self.is_over, true) {
            let error = Diagnostic::error("too-deep", self.place, "the macros here are nested too deeply");
            files.diagnostics.push(error.help(format!("macros and their arguments nest at most {DEPTH_MAX} deep")));
        }
    }
}
