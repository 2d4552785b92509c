//! Macros: their definitions, and the words that replace their uses.

use crate::text::diagnostic::Diagnostic;
use crate::text::lexer::{Token, TokenKind, lex};
use crate::text::source::{Sources, Span};
use std::collections::HashMap;
use std::rc::Rc;

/// The sources of the tokens' text, and the list of findings.
pub(crate) struct Files<'a> {
    pub(crate) sources: &'a mut Sources,
    pub(crate) diagnostics: &'a mut Vec<Diagnostic>,
}

/// A macro.
#[derive(Debug)]
pub(crate) struct Macro {
    /// The number of parameters. `None` for a macro without a list of parameters.
    pub(crate) params: Option<usize>,
    /// Whether the last parameter, `__VA_ARGS__`, takes all further arguments with their commas.
    pub(crate) is_variadic: bool,
    /// The replacement.
    pub(crate) body: Vec<Part>,
}

/// A part of a macro's replacement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) token: Token,
    /// Whether white space stands before the part.
    pub(crate) is_spaced: bool,
    pub(crate) role: Role,
    /// Whether `##` stands before the part.
    pub(crate) is_joined: bool,
    /// Whether `##` stands after the part.
    pub(crate) is_joined_to_next: bool,
}

/// The role of a part of a macro's replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The token itself, which is copied to the replacement.
    Itself,
    /// The argument for the parameter of this index.
    Argument(usize),
    /// The text of the argument for the parameter of this index, as a string.
    Quoted(usize),
}

/// The name by which a replacement refers to the arguments that `...` takes.
const VARIABLE: &str = "__VA_ARGS__";

/// The defined macros, by name.
pub(crate) type Macros = HashMap<String, Rc<Macro>>;

/// Returns the macro that a definition makes from the words after its name.
///
/// # Errors
///
/// The reason why the definition is faulty.
pub(crate) fn macro_of(sources: &Sources, words: &[Token], has_params: bool) -> Result<Macro, &'static str> {
    let (params, body) = if has_params { parameters(sources, words)? } else { (HashMap::new(), words) };
    let is_variadic = params.contains_key(VARIABLE);
    let mut parts: Vec<Part> = Vec::new();
    let mut is_joined = false;
    let mut words = body.iter().copied().peekable();
    let mut before = words.peek().map_or(0, |first| first.span.start);
    while let Some(word) = words.next() {
        let is_spaced = word.span.start != before;
        before = word.span.end;
        let param = |word: &Token| params.get(sources.text(word.span)).copied();
        let role = match sources.text(word.span) {
            "##" => {
                let last = parts.last_mut().ok_or("`##` stands between two words")?;
                last.is_joined_to_next = true;
                is_joined = true;
                continue;
            }
            "#" => match words.peek().and_then(param) {
                Some(at) => {
                    before = words.next().map_or(before, |word| word.span.end);
                    Role::Quoted(at)
                }
                None => Role::Itself,
            },
            _ => param(&word).map_or(Role::Itself, Role::Argument),
        };
        let is_joined = std::mem::take(&mut is_joined);
        parts.push(Part { token: word, is_spaced, role, is_joined, is_joined_to_next: false });
    }
    if is_joined {
        return Err("`##` stands between two words");
    }
    Ok(Macro { params: has_params.then_some(params.len()), is_variadic, body: parts })
}

/// Splits the words after a macro's name into the parameters, each with its index, and the
/// replacement.
fn parameters<'s, 'w>(
    sources: &'s Sources,
    words: &'w [Token],
) -> Result<(HashMap<&'s str, usize>, &'w [Token]), &'static str> {
    let end = words.iter().position(|word| sources.text(word.span) == ")");
    let end = end.ok_or("the parameters of this macro do not end")?;
    let inner = words.get(1..end).unwrap_or_default();
    let is_variable = |word: &Token| sources.text(word.span) == "...";
    let is_fine = |(at, word): (usize, &Token)| match at % 2 {
        0 => word.kind == TokenKind::Ident || is_variable(word) && at + 1 == inner.len(),
        _ => sources.text(word.span) == ",",
    };
    if !inner.iter().enumerate().all(is_fine) || !inner.is_empty() && inner.len() % 2 == 0 {
        return Err("the parameters of a macro are names, separated by commas, and `...` may be the last one");
    }
    let names = inner.iter().step_by(2).enumerate();
    let name = |word: &Token| if is_variable(word) { VARIABLE } else { sources.text(word.span) };
    let params: HashMap<&str, usize> = names.map(|(at, word)| (name(word), at)).collect();
    if params.len() != inner.len().div_ceil(2) {
        return Err("two parameters of this macro have one name");
    }
    Ok((params, &words[end + 1..]))
}

/// The macros from whose replacements a word comes. As in C, these macros do not replace the word
/// again.
pub(crate) type Hidden = Option<Rc<Hide>>;

/// An entry of a list of hidden macros: a macro, and the rest of the list.
#[derive(Debug)]
pub(crate) struct Hide {
    of: Rc<Macro>,
    others: Hidden,
    /// The number of macros in the list from this entry on.
    pub(crate) count: usize,
}

/// Adds a macro to the hidden macros.
pub(crate) fn hide(of: &Rc<Macro>, others: &Hidden) -> Hidden {
    let count = 1 + others.as_ref().map_or(0, |others| others.count);
    Some(Rc::new(Hide { of: Rc::clone(of), others: others.clone(), count }))
}

/// Whether a macro is in a list of hidden macros.
pub(crate) fn is_hidden(hidden: &Hidden, of: &Rc<Macro>) -> bool {
    each(hidden).any(|one| Rc::ptr_eq(one, of))
}

fn each(hidden: &Hidden) -> impl Iterator<Item = &Rc<Macro>> {
    std::iter::successors(hidden.as_ref(), |one| one.others.as_ref()).map(|one| &one.of)
}

fn is_same(one: &Hidden, other: &Hidden) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Rc::ptr_eq(one, other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// Returns the macros that are hidden from both words.
pub(crate) fn hidden_from_both(one: &Hidden, other: &Hidden) -> Hidden {
    if is_same(one, other) {
        return one.clone();
    }
    each(one).filter(|of| is_hidden(other, of)).fold(None, |found, of| hide(of, &found))
}

/// Returns the macros that are hidden from at least one of the words.
fn all(one: &Hidden, other: &Hidden) -> Hidden {
    if one.is_none() || is_same(one, other) {
        return other.clone();
    }
    each(other).filter(|of| !is_hidden(one, of)).fold(one.clone(), |found, of| hide(of, &found))
}

/// A token, as the replacement of macros sees it.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    pub(crate) token: Token,
    /// Whether white space stands before the token.
    pub(crate) is_spaced: bool,
    pub(crate) hidden: Hidden,
}

/// A use of a macro with parameters, whose arguments are being read.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) name: Word,
    pub(crate) of: Rc<Macro>,
    /// The number of open parentheses.
    open: usize,
    pub(crate) arguments: Vec<Vec<Word>>,
}

/// The state of a macro's use after a further word.
pub(crate) enum Step {
    /// The arguments continue.
    Open,
    /// The word, a parenthesis, ends the arguments.
    Complete(Word),
    /// No arguments follow: the macro's name is not replaced, and the word is not part of the use.
    Name(Word),
}

impl Call {
    pub(crate) fn new(name: Word, of: Rc<Macro>) -> Self {
        Self { name, of, open: 0, arguments: Vec::new() }
    }

    /// Whether the arguments have begun.
    pub(crate) fn is_open(&self) -> bool {
        self.open > 0
    }

    pub(crate) fn add(&mut self, text: &str, word: Word) -> Step {
        let is_last = self.of.is_variadic && Some(self.arguments.len()) == self.of.params;
        match (self.open, text) {
            (0, "(") => self.arguments.push(Vec::new()),
            (0, _) => return Step::Name(word),
            (1, ")") => return Step::Complete(word),
            (1, ",") if !is_last => {
                self.arguments.push(Vec::new());
                return Step::Open;
            }
            _ => self.arguments.last_mut().into_iter().for_each(|argument| argument.push(word.clone())),
        }
        match text {
            "(" => self.open += 1,
            ")" => self.open -= 1,
            _ => {}
        }
        Step::Open
    }
}

/// A macro's replacement under construction: the words of its parts, joined where `##` stands.
#[derive(Debug)]
pub(crate) struct Replacement {
    pub(crate) words: Vec<Word>,
    /// Whether white space stands after the words.
    pub(crate) is_spaced: bool,
    /// The index of the first word of the last operand of `##`, which may have no words.
    operand: usize,
}

impl Replacement {
    /// Returns a replacement without words. `is_spaced` says whether white space stands before it.
    pub(crate) fn new(is_spaced: bool) -> Self {
        Self { words: Vec::new(), is_spaced, operand: 0 }
    }

    /// Adds the words of a part.
    pub(crate) fn add(&mut self, files: &mut Files<'_>, part: &Part, mut words: Vec<Word>, place: Span) {
        // White space beside `##` does not count.
        self.is_spaced |= part.is_spaced && !part.is_joined;
        if let Some(first) = words.first_mut() {
            first.is_spaced = std::mem::take(&mut self.is_spaced);
        }
        if !part.is_joined {
            self.operand = self.words.len();
        } else if self.words.len() > self.operand
            && !words.is_empty()
            && let Some(left) = self.words.pop()
        {
            let right = words.remove(0);
            let text = [left.token, right.token].map(|token| files.sources.text(token.span)).concat();
            let hidden = hidden_from_both(&left.hidden, &right.hidden);
            let tokens = made(files, &text, place).into_iter();
            self.words.extend(tokens.enumerate().map(|(at, token)| Word {
                token,
                is_spaced: at == 0 && left.is_spaced,
                hidden: hidden.clone(),
            }));
        }
        self.words.append(&mut words);
    }

    /// Removes the comma before arguments that are empty.
    pub(crate) fn remove_comma(&mut self, files: &Files<'_>) {
        self.words.pop_if(|last| files.sources.text(last.token.span) == ",");
    }

    /// Hides macros from the words.
    pub(crate) fn hide(&mut self, hidden: &Hidden) {
        for word in &mut self.words {
            word.hidden = all(&word.hidden, hidden);
        }
    }
}

/// Returns the length of the text of an argument, in bytes.
pub(crate) fn quoted_length(argument: &[Word]) -> usize {
    argument.iter().map(|word| 1 + (word.token.span.end - word.token.span.start) as usize).sum()
}

/// Returns the text of an argument as a string literal, as `#` demands.
pub(crate) fn quoted(files: &mut Files<'_>, argument: &[Word], place: Span) -> Vec<Word> {
    let mut text = String::new();
    for (at, word) in argument.iter().enumerate() {
        if at > 0 && word.is_spaced {
            text.push(' ');
        }
        text.push_str(files.sources.text(word.token.span));
    }
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    let tokens = made(files, &format!("\"{escaped}\""), place);
    tokens.into_iter().map(|token| Word { token, is_spaced: false, hidden: None }).collect()
}

/// Returns the tokens of a text that no file contains. Errors about the tokens are reported at
/// `place`.
fn made(files: &mut Files<'_>, text: &str, place: Span) -> Vec<Token> {
    let Some(made) = files.sources.made(text, place) else { return Vec::new() };
    let mut tokens = lex(text, made.file, &mut Vec::new());
    for token in &mut tokens {
        token.span.start += made.start;
        token.span.end += made.start;
    }
    tokens.retain(|token| !token.is_trivia());
    tokens
}
