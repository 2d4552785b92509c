//! The lexer: splits text into tokens without loss.
//!
//! White space, comments and preprocessor lines are tokens too. So the texts of a file's tokens,
//! joined together, are the text of the file.

use crate::text::diagnostic::Diagnostic;
use crate::text::source::{FileId, Span};

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name or a keyword. IDL's keywords are names that have a special meaning in some places.
    Ident,
    /// A number, with its suffixes.
    Number,
    /// A text in double quotes.
    Text,
    /// A character in single quotes.
    Char,
    /// One to three characters of punctuation.
    Punct,
    /// Blanks and line ends.
    Space,
    /// A block comment or a line comment.
    Comment,
    /// A preprocessor line, with its continuations.
    Directive,
    /// Any other character.
    Unknown,
}

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// The token's kind.
    pub kind: TokenKind,
    /// The token's place in the source.
    pub span: Span,
}

impl Token {
    /// Whether the parser skips the token.
    pub fn is_trivia(&self) -> bool {
        matches!(self.kind, TokenKind::Space | TokenKind::Comment)
    }
}

/// The maximum length of a name, in characters.
const NAME_MAX: usize = 1024;

/// Punctuation of more than one character, longest first.
const LONG_PUNCT: [&str; 12] = ["...", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "::", "->", "##"];

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    file: FileId,
    line_start: bool,
    /// Whether the file has turned out to be binary, which is reported once.
    is_binary: bool,
    diagnostics: &'a mut Vec<Diagnostic>,
}

/// Splits a file into tokens.
pub fn lex(text: &str, file: FileId, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
    let mut lexer = Lexer { text, at: 0, file, line_start: true, is_binary: false, diagnostics };
    let mut tokens = Vec::new();
    while lexer.at < text.len() {
        tokens.push(lexer.token());
    }
    tokens
}

/// Whether a text is a valid name in IDL, Rust and C.
pub fn is_name(text: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.starts_with(|c: char| is_inner(c) && !c.is_ascii_digit()) && text.chars().all(is_inner)
}

impl Lexer<'_> {
    fn token(&mut self) -> Token {
        let start = self.at;
        let rest = &self.text[start..];
        let first = rest.chars().next().unwrap_or(' ');
        let kind = if first.is_whitespace() {
            self.at += rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
            TokenKind::Space
        } else if rest.starts_with("\\\n") || rest.starts_with("\\\r\n") {
            // As in C, the line continues on the next line.
            self.at += 1;
            TokenKind::Space
        } else if rest.starts_with("//") {
            self.at += rest.find('\n').unwrap_or(rest.len());
            TokenKind::Comment
        } else if rest.starts_with("/*") {
            self.block_comment(rest)
        } else if first == '#' && self.line_start {
            self.directive(rest)
        } else if first.is_ascii_alphabetic() || first == '_' {
            self.at += rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
            TokenKind::Ident
        } else if first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
            self.at += number_length(rest);
            TokenKind::Number
        } else if first == '"' || first == '\'' {
            self.quoted(rest, first)
        } else {
            self.punct(rest, first)
        };
        let span = Span { file: self.file, start: start as u32, end: self.at as u32 };
        let text = &self.text[start..self.at];
        self.line_start = match kind {
            TokenKind::Space => self.line_start || text.contains('\n'),
            TokenKind::Comment => self.line_start,
            TokenKind::Directive => true,
            _ => false,
        };
        if kind == TokenKind::Unknown && !self.is_binary {
            let character = text.chars().next().unwrap_or(' ');
            self.is_binary = character.is_control();
            let error = Diagnostic::error("unknown-character", span, format!("{character:?} means nothing in IDL"));
            self.diagnostics.push(error.help(if self.is_binary {
                "the file is not text in UTF-8, or in UTF-16 with a byte order mark"
            } else {
                "remove it, or put it into a comment or a string"
            }));
        }
        if kind == TokenKind::Ident && text.len() > NAME_MAX {
            let error = Diagnostic::error("too-long", span, "this name is too long");
            self.diagnostics.push(error.help(format!("a name has at most {NAME_MAX} characters")));
        }
        Token { kind, span }
    }

    fn here(&self, length: usize) -> Span {
        Span { file: self.file, start: self.at as u32, end: (self.at + length) as u32 }
    }

    fn block_comment(&mut self, rest: &str) -> TokenKind {
        match rest.find("*/") {
            Some(end) => self.at += end + 2,
            None => {
                let error = Diagnostic::error("open-comment", self.here(2), "this comment does not end");
                self.diagnostics.push(error.help("close it with */"));
                self.at += rest.len();
            }
        }
        TokenKind::Comment
    }

    fn directive(&mut self, rest: &str) -> TokenKind {
        let mut length = 0;
        for line in rest.split_inclusive('\n') {
            length += line.len();
            if !line.trim_end().ends_with('\\') {
                break;
            }
        }
        self.at += length;
        TokenKind::Directive
    }

    fn quoted(&mut self, rest: &str, quote: char) -> TokenKind {
        let mut escaped = false;
        for (at, c) in rest.char_indices().skip(1) {
            if c == '\n' {
                break;
            }
            if c == quote && !escaped {
                self.at += at + 1;
                return if quote == '"' { TokenKind::Text } else { TokenKind::Char };
            }
            escaped = c == '\\' && !escaped;
        }
        let length = rest.find('\n').unwrap_or(rest.len());
        let error = Diagnostic::error("open-quote", self.here(length), "this quotation does not end on its line");
        self.diagnostics.push(error.help(format!("close it with {quote}")));
        self.at += length;
        if quote == '"' { TokenKind::Text } else { TokenKind::Char }
    }

    fn punct(&mut self, rest: &str, first: char) -> TokenKind {
        if let Some(long) = LONG_PUNCT.iter().find(|long| rest.starts_with(**long)) {
            self.at += long.len();
            return TokenKind::Punct;
        }
        if is_punct(first) {
            self.at += 1;
            return TokenKind::Punct;
        }
        let is_known = |c: char| is_punct(c) || c.is_ascii_alphanumeric() || c.is_whitespace();
        self.at += rest.find(is_known).unwrap_or(rest.len());
        TokenKind::Unknown
    }
}

fn is_punct(c: char) -> bool {
    c.is_ascii_punctuation() && !matches!(c, '@' | '`' | '$' | '\\')
}

/// Returns the length of a preprocessing number as in C: digits, letters, dots, and signs after an
/// exponent.
fn number_length(rest: &str) -> usize {
    let mut before = ' ';
    let hex = rest.starts_with("0x") || rest.starts_with("0X");
    rest.find(|c: char| {
        let sign = !hex && matches!(c, '+' | '-') && matches!(before, 'e' | 'E');
        before = c;
        !(c.is_ascii_alphanumeric() || c == '.' || sign)
    })
    .unwrap_or(rest.len())
}

/// Returns the text of a quoted token with its escapes resolved.
pub(crate) fn unescaped(text: &str) -> String {
    let inner = text.get(1..text.len().max(2) - 1).unwrap_or("");
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('a') => out.push('\u{7}'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('v') => out.push('\u{b}'),
            Some('x') => out.push(numbered(&mut chars, 16, 4, 0)),
            Some(digit @ '0'..='7') => out.push(numbered(&mut chars, 8, 2, digit.to_digit(8).unwrap_or(0))),
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

/// Returns the character of a numeric escape with the digit `first` and at most `digits` more.
fn numbered(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, radix: u32, digits: usize, first: u32) -> char {
    let mut number = first;
    for _ in 0..digits {
        let Some(digit) = chars.peek().and_then(|next| next.to_digit(radix)) else { break };
        number = number * radix + digit;
        chars.next();
    }
    char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<(TokenKind, &str)> {
        let mut diagnostics = Vec::new();
        let tokens = lex(text, FileId(0), &mut diagnostics);
        tokens.iter().map(|token| (token.kind, &text[token.span.start as usize..token.span.end as usize])).collect()
    }

    #[test]
    fn tokens_reproduce_the_text() {
        for text in ["", "a /* b */ c // d\n#define X \\\n 1\n0x1F 1.5e-3f 'a' \"b\\\"c\" <<=\u{e9}@", "\"open\nnext"] {
            let joined: String = pieces(text).iter().map(|piece| piece.1).collect();
            assert_eq!(joined, text);
        }
    }

    #[test]
    fn tokens_have_their_kinds() {
        use TokenKind::*;
        let found: Vec<_> = pieces("long x2[0x10];\n#if 1\n's' \"t\"").into_iter().filter(|p| p.0 != Space).collect();
        let kinds: Vec<_> = found.iter().map(|piece| piece.0).collect();
        assert_eq!(kinds, [Ident, Ident, Punct, Number, Punct, Punct, Directive, Char, Text]);
    }
}
