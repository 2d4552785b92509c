//! Macros: their definitions, their uses, and the substitution of their arguments.

use crate::text::diagnostic::Diagnostic;
use crate::text::lexer::{Token, TokenKind, lex};
use crate::text::source::Sources;
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
    /// The names of the parameters. `None` for a macro without a list of parameters.
    pub(crate) params: Option<Vec<String>>,
    /// The replacement.
    pub(crate) body: Vec<Token>,
}

/// The defined macros, by name.
pub(crate) type Macros = HashMap<String, Rc<Macro>>;

/// A use of a macro with parameters, whose arguments are being read.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) name: Token,
    pub(crate) of: Rc<Macro>,
    /// The depth of nested replacements at the macro's name.
    pub(crate) depth: usize,
    /// The number of open parentheses.
    open: usize,
    arguments: Vec<Vec<Token>>,
}

/// The state of a macro's use after a further token.
pub(crate) enum Step {
    /// The arguments continue.
    Open,
    /// The token ends the arguments.
    Complete,
    /// No arguments follow: the macro's name is a name, and the token is not part of the use.
    Name,
}

impl Call {
    pub(crate) fn new(name: Token, of: Rc<Macro>, depth: usize) -> Self {
        Self { name, of, depth, open: 0, arguments: Vec::new() }
    }

    /// Whether the arguments have begun.
    pub(crate) fn is_open(&self) -> bool {
        self.open > 0
    }

    pub(crate) fn add(&mut self, text: &str, token: Token) -> Step {
        match (self.open, text) {
            (0, "(") => self.arguments.push(Vec::new()),
            (0, _) => return Step::Name,
            (1, ")") => return Step::Complete,
            (1, ",") => {
                self.arguments.push(Vec::new());
                return Step::Open;
            }
            _ => self.arguments.last_mut().into_iter().for_each(|argument| argument.push(token)),
        }
        match text {
            "(" => self.open += 1,
            ")" => self.open -= 1,
            _ => {}
        }
        Step::Open
    }
}

/// Splits the words of a definition after its name into the names of the parameters and the
/// replacement. `None` if the list of parameters is faulty.
pub(crate) fn parameters<'w>(sources: &Sources, words: &'w [Token]) -> Option<(Vec<String>, &'w [Token])> {
    let end = words.iter().position(|word| sources.text(word.span) == ")")?;
    let inner = words.get(1..end)?;
    let is_fine = |(at, word): (usize, &Token)| match at % 2 {
        0 => word.kind == TokenKind::Ident,
        _ => sources.text(word.span) == ",",
    };
    if !inner.iter().enumerate().all(is_fine) || !inner.is_empty() && inner.len() % 2 == 0 {
        return None;
    }
    let names = inner.iter().step_by(2).map(|word| sources.text(word.span).to_owned());
    Some((names.collect(), &words[end + 1..]))
}

/// Returns the replacement of a macro's use. Reports an error and returns `None` if the number of
/// arguments is wrong.
pub(crate) fn substitute(files: &mut Files<'_>, call: &Call) -> Option<Vec<Token>> {
    let params = call.of.params.as_deref().unwrap_or_default();
    let is_empty = params.is_empty() && call.arguments.iter().all(Vec::is_empty) && call.arguments.len() == 1;
    if params.len() != call.arguments.len() && !is_empty {
        let (wanted, given) = (params.len(), call.arguments.len());
        let text = format!("this macro has {wanted} parameters, and {given} arguments are given");
        let error = Diagnostic::error("macro-arguments", call.name.span, text);
        files.diagnostics.push(error.help("separate the arguments by commas; an argument may be empty"));
        return None;
    }
    let mut out: Vec<Token> = Vec::new();
    let mut words = call.of.body.iter().copied().peekable();
    let mut is_joined = false;
    while let Some(word) = words.next() {
        let text = files.sources.text(word.span);
        let argument = |text: &str| params.iter().position(|name| name == text).map(|at| &call.arguments[at]);
        if text == "##" {
            is_joined = true;
            continue;
        }
        let quoted =
            if text == "#" { words.peek().and_then(|next| argument(files.sources.text(next.span))) } else { None };
        let mut part = match (quoted, argument(text)) {
            (Some(quoted), _) => {
                words.next();
                let words: Vec<&str> = quoted.iter().map(|word| files.sources.text(word.span)).collect();
                let escaped = words.join(" ").replace('\\', "\\\\").replace('"', "\\\"");
                made(files, &format!("\"{escaped}\""))
            }
            (None, Some(argument)) => argument.clone(),
            (None, None) => vec![word],
        };
        if std::mem::take(&mut is_joined)
            && !part.is_empty()
            && let Some(left) = out.pop()
        {
            let right = part.remove(0);
            let joined = format!("{}{}", files.sources.text(left.span), files.sources.text(right.span));
            out.extend(made(files, &joined));
        }
        out.append(&mut part);
    }
    Some(out)
}

/// Returns the tokens of a text that stands in no file.
fn made(files: &mut Files<'_>, text: &str) -> Vec<Token> {
    let Some(place) = files.sources.made(text) else { return Vec::new() };
    let mut tokens = lex(text, place.file, &mut Vec::new());
    for token in &mut tokens {
        token.span.start += place.start;
        token.span.end += place.start;
    }
    tokens.retain(|token| !token.is_trivia());
    tokens
}
