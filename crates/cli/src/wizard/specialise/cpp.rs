//! Classes of objects in C++: those with a base `obvia::implements` or `obvia::implementation`.

use super::Class;

/// The base classes of objects, in the namespace `obvia`.
const BASES: [&str; 2] = ["implements", "implementation"];
/// The base class with the marshaler for virtual interfaces.
const OVER_VI: &str = "over_vi";

/// A word or a punctuation mark, with its offset.
struct Token<'a> {
    at: usize,
    text: &'a str,
}

/// Finds the classes of objects in a file.
pub(super) fn classes(text: &str) -> Vec<Class> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        // The `class` of an `enum class` or of a template's parameter declares no class.
        let is_other = at > 0 && ["enum", "<", ","].contains(&tokens[at - 1].text);
        if ["class", "struct"].contains(&token.text) && !is_other {
            found.extend(class(&tokens[at + 1..]));
        }
    }
    found
}

/// Parses a class's head, after `class` or `struct`; `None` if it is not an object's class.
fn class(head: &[Token<'_>]) -> Option<Class> {
    let colon = head.iter().position(|token| [":", "{", ";", "(", "="].contains(&token.text))?;
    if head[colon].text != ":" {
        return None;
    }
    let name = head[..colon].iter().rev().find(|token| is_word(token.text) && token.text != "final")?.text.to_owned();
    let bases = &head[colon + 1..];
    let bases = &bases[..bases.iter().position(|token| ["{", ";"].contains(&token.text))?];
    let base = bases.iter().position(|token| BASES.contains(&token.text))?;
    let (last, interfaces) = (bases.last()?, bases[base + 1..].iter());
    // The first argument of `implements` is the class itself.
    let interfaces = interfaces.take_while(|token| token.text != ">").map(|token| token.text);
    let interfaces = interfaces.filter(|text| is_word(text) && *text != name).map(str::to_owned).collect();
    let insertions = if bases.iter().any(|token| token.text == OVER_VI) {
        Err(format!("`{name}` already has a marshaler"))
    } else {
        Ok(vec![(last.at + last.text.len(), format!(", public obvia::{OVER_VI}"))])
    };
    Some(Class { name, interfaces, insertions })
}

fn is_word(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
}

/// Splits a file into words and marks, without comments, literals and preprocessor directives.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let (mut found, mut at, mut begins_line) = (Vec::new(), 0, true);
    while let Some(letter) = text[at..].chars().next() {
        let rest = &text[at..];
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let word = rest.len() - rest.trim_start_matches(is_part).len();
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if letter == '#' && begins_line {
            directive(rest)
        } else if letter == '"' || letter == '\'' {
            quoted(rest, letter)
        } else if word > 0 {
            let is_raw = rest[..word].ends_with('R') && rest[word..].starts_with('"');
            if is_raw {
                word + raw(&rest[word..])
            } else if letter.is_ascii_digit() {
                // A number may have quotes among its digits.
                rest.len() - rest.trim_start_matches(|letter: char| is_part(letter) || "'.".contains(letter)).len()
            } else {
                found.push(Token { at, text: &rest[..word] });
                word
            }
        } else if letter.is_whitespace() {
            letter.len_utf8()
        } else {
            let length = if rest.starts_with("::") { 2 } else { letter.len_utf8() };
            found.push(Token { at, text: &rest[..length] });
            length
        };
        begins_line = letter == '\n' || begins_line && letter.is_whitespace();
        at += length;
    }
    found
}

/// Returns the length of a directive, with its continuation lines.
fn directive(text: &str) -> usize {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        length += line.len();
        if !line.trim_end().ends_with('\\') {
            // The final newline is not part of the directive.
            return length - usize::from(line.ends_with('\n'));
        }
    }
    length
}

/// Returns the length of a quoted literal.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = true;
    for (at, letter) in text.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' => return at,
            _ if letter == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the length of a raw literal: `"mark( ... )mark"`.
fn raw(text: &str) -> usize {
    let Some((mark, _)) = text[1..].split_once('(') else { return text.len() };
    let end = format!("){mark}\"");
    text.find(&end).map_or(text.len(), |at| at + end.len())
}

#[cfg(test)]
mod tests {
    use super::super::component;
    use super::classes;
    use crate::wizard::Language;

    #[test]
    fn cpp_specialisation_only_adds_the_base_class() {
        let text = "#define X class No : obvia::implements<No, INo> \\\n  {};\n// class No : obvia::implements<No, INo> {};\nconst char *a = \"\\\"class\";\n\
                    auto r = R\"x(class No : public obvia::implements<No, INo> {})\" )x\"; int n = 1'000;\ntemplate <class T> struct S : T {};\n\
                    enum class E : int { a };\nclass First;\nclass [[nodiscard]] Calc final : public obvia::implements<Calc, m::ICalc, IOther> // {\n{\n};\n\
                    struct Other : obvia::implementation<IOther>, private Base {};\n";
        let made = component(text, "Calc", Language::Cpp).unwrap();
        let base = "public obvia::implements<Calc, m::ICalc, IOther>";
        assert_eq!(made, text.replace(base, &format!("{base}, public obvia::over_vi")));
        let made = component(text, "Other", Language::Cpp).unwrap();
        assert_eq!(made, text.replace("private Base", "private Base, public obvia::over_vi"));
        let found: Vec<_> = classes(text).into_iter().map(|class| (class.name, class.interfaces)).collect();
        let [calc, other] = &found[..] else { panic!("{found:?}") };
        assert_eq!((calc.0.as_str(), calc.1.join(" ")), ("Calc", "m ICalc IOther".to_owned()));
        assert_eq!((other.0.as_str(), other.1.join(" ")), ("Other", "IOther".to_owned()));
    }

    #[test]
    fn cpp_classes_that_cannot_be_specialised_are_refused_with_the_reason() {
        let text = "class A : public obvia::implements<A, IA>, public obvia::over_vi {};";
        assert_eq!(component(text, "A", Language::Cpp).unwrap_err(), "`A` already has a marshaler");
        assert_eq!(component("class A {};", "A", Language::Cpp).unwrap_err(), "the component has no class `A`");
        for unfinished in ["class A : obvia::implements<", "class", "\"", "R\"x(", "/*", "'", "#\\"] {
            assert!(classes(unfinished).is_empty(), "{unfinished}");
        }
    }
}
