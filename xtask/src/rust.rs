//! A tokenizer for Rust source that suffices for the checks. The tokenizer knows neither types nor
//! grammar.

mod items;
pub(crate) mod modules;

pub(crate) use items::{functions, is_in, tests};

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A `//` or `/*` comment that is not documentation.
    Comment,
    /// A `///` or `//!` comment, or one of their block forms.
    Doc,
    /// An identifier or a keyword.
    Ident,
    Lifetime,
    /// A number, a character or a string.
    Literal,
    /// One character of punctuation.
    Punct,
}

/// A token. The number of its first line counts from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    pub(crate) line: usize,
}

impl Token<'_> {
    /// Whether the token is the given identifier, keyword or punctuation mark.
    pub(crate) fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Ident | Kind::Punct) && self.text == text
    }

    /// Whether the token is a comment or documentation.
    pub(crate) fn is_comment(&self) -> bool {
        matches!(self.kind, Kind::Comment | Kind::Doc)
    }
}

/// Splits source text into tokens.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut line = 1;
    loop {
        let blank = rest.len() - rest.trim_start().len();
        line += newlines(&rest[..blank]);
        rest = &rest[blank..];
        if rest.is_empty() {
            return tokens;
        }
        let (kind, length) = first(rest);
        let (text, behind) = rest.split_at(length);
        tokens.push(Token { kind, text, line });
        line += newlines(text);
        rest = behind;
    }
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|&byte| byte == b'\n').count()
}

/// Returns the kind and length of the text's first token.
fn first(text: &str) -> (Kind, usize) {
    if text.starts_with("//") {
        let is_doc = text.starts_with("//!") || (text.starts_with("///") && !text.starts_with("////"));
        let kind = if is_doc { Kind::Doc } else { Kind::Comment };
        return (kind, text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        let is_doc = text.starts_with("/*!") || text.starts_with("/**");
        let kind = if is_doc { Kind::Doc } else { Kind::Comment };
        return (kind, block_comment(text));
    }
    if let Some(length) = string(text) {
        return (Kind::Literal, length);
    }
    let start = text.chars().next().unwrap_or(' ');
    if start == '\'' {
        return quote(text);
    }
    if start.is_ascii_digit() {
        return (Kind::Literal, number(text));
    }
    if start.is_alphabetic() || start == '_' {
        let prefix = if text.starts_with("r#") { 2 } else { 0 };
        return (Kind::Ident, prefix + word(&text[prefix..]));
    }
    (Kind::Punct, start.len_utf8())
}

fn word(text: &str) -> usize {
    text.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(text.len())
}

fn number(text: &str) -> usize {
    let whole = word(text);
    // `1.5` is one number, but `1..5` and `1.max(2)` are several tokens.
    let fraction =
        text[whole..].strip_prefix('.').filter(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit()));
    fraction.map_or(whole, |digits| whole + 1 + word(digits))
}

fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// Returns the length of a string literal of any kind at the start of the text, if there is one.
fn string(text: &str) -> Option<usize> {
    // Most tokens begin with another character, and are quickly ruled out here.
    if !text.starts_with(['"', 'b', 'c', 'r']) {
        return None;
    }
    let prefix = ["br", "cr", "b", "c", "r", ""]
        .into_iter()
        .find(|&prefix| text.strip_prefix(prefix).is_some_and(|rest| rest.trim_start_matches('#').starts_with('"')))?;
    let behind = &text[prefix.len()..];
    let hashes = behind.len() - behind.trim_start_matches('#').len();
    if prefix.ends_with('r') {
        let end = format!("\"{}", "#".repeat(hashes));
        let body = prefix.len() + hashes + 1;
        let length = text[body..].find(&end).map(|at| body + at + end.len());
        return Some(length.unwrap_or(text.len()));
    }
    // Only raw strings have hashes. In other text, `#"` is punctuation before a string.
    (hashes == 0).then(|| prefix.len() + 1 + escaped(&behind[1..], b'"'))
}

/// Returns the length of the rest of a literal, including its closing mark. A backslash escapes the
/// next character.
fn escaped(text: &str, end: u8) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == end => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// Returns the kind and length of a character literal or a lifetime.
fn quote(text: &str) -> (Kind, usize) {
    let mut letters = text[1..].chars();
    match (letters.next(), letters.next()) {
        (Some('\\'), _) => (Kind::Literal, 1 + escaped(&text[1..], b'\'')),
        (Some(letter), Some('\'')) => (Kind::Literal, 2 + letter.len_utf8()),
        _ => (Kind::Lifetime, 1 + word(&text[1..])),
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, tokens};

    #[test]
    fn rust_source_is_split_into_tokens() {
        let text =
            "let r#type = b'x'; // why\nf::<'a>(\"a \\\" // b\", r#\"x\"y\"#, 1.5, 0..9, '\\'', '{')/* a /* b */ c */;";
        let found: Vec<_> = tokens(text).iter().map(|token| (token.kind, token.text)).collect();
        let texts: Vec<_> = found.iter().map(|&(_, text)| text).collect();
        assert_eq!(
            texts.join(" "),
            "let r#type = b 'x' ; // why f : : < 'a > ( \"a \\\" // b\" , r#\"x\"y\"# , 1.5 , 0 . . 9 , '\\'' , '{' ) \
             /* a /* b */ c */ ;"
        );
        assert!(found.contains(&(Kind::Lifetime, "'a")));
        assert!(found.contains(&(Kind::Literal, "'{'")));
        assert!(found.contains(&(Kind::Comment, "// why")));
    }

    #[test]
    fn documentation_is_distinguished_from_comments() {
        let text = "//! a\n/// b\n//// c\n// d\n/** e */";
        let kinds: Vec<_> = tokens(text).iter().map(|token| token.kind).collect();
        assert_eq!(kinds, [Kind::Doc, Kind::Doc, Kind::Comment, Kind::Comment, Kind::Doc]);
    }

    #[test]
    fn lines_are_counted_through_strings_and_comments() {
        let text = "a\n\"x\ny\" b /*\n\n*/ c\n\nd";
        let lines: Vec<_> = tokens(text).iter().map(|token| token.line).collect();
        assert_eq!(lines, [1, 2, 3, 3, 5, 7]);
    }
}
