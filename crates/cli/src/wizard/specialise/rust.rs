//! Classes of objects in Rust: structures with `#[obvia::object(...)]`.

use super::Class;
use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};
use std::str::FromStr;

/// Finds the classes of objects in a file.
pub(super) fn classes(text: &str) -> Result<Vec<Class>, String> {
    let tokens = TokenStream::from_str(text).map_err(|error| {
        let at = error.span().start();
        format!("line {}, column {}: the text is not valid Rust", at.line, at.column + 1)
    })?;
    let mut found = Vec::new();
    collect(tokens, &mut found);
    Ok(found)
}

/// The attribute with an object's interfaces.
struct Implement {
    interfaces: Vec<String>,
    /// The offset after the first interface.
    place: usize,
}

fn collect(tokens: TokenStream, found: &mut Vec<Class>) {
    let mut tokens = tokens.into_iter().peekable();
    let mut implement = None;
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                if let Some(TokenTree::Group(attribute)) = tokens.peek()
                    && attribute.delimiter() == Delimiter::Bracket
                {
                    implement = read(&attribute.stream()).or(implement);
                    tokens.next();
                }
            }
            TokenTree::Ident(word) if word == "struct" => {
                let (Some(implement), Some(TokenTree::Ident(name))) = (implement.take(), tokens.next()) else {
                    continue;
                };
                let is_generic = matches!(tokens.peek(), Some(TokenTree::Punct(mark)) if mark.as_char() == '<');
                let is_end = |token: &TokenTree| match token {
                    TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                    TokenTree::Punct(mark) => mark.as_char() == ';',
                    _ => false,
                };
                let Some(end) = tokens.by_ref().find(is_end) else { return };
                found.push(class(name.to_string(), implement, end.span().byte_range().end, is_generic));
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => collect(group.stream(), found),
            _ => {}
        }
    }
}

fn class(name: String, Implement { interfaces, place }: Implement, end: usize, is_generic: bool) -> Class {
    let insertions = if interfaces.iter().any(|interface| interface == "IMarshal") {
        Err(format!("`{name}` already has a marshaler"))
    } else if is_generic {
        Err(format!(
            "`{name}` has type parameters: add IMarshal to its interfaces, and `impl Specialised` for it, by \
            hand"
        ))
    } else {
        let marshaler = format!(
            "\n\n// Objects are called over virtual interfaces, on every transport of their server.\nimpl \
                obvia::marshaling::Specialised for {name}_Impl {{}}"
        );
        Ok(vec![(end, marshaler), (place, ", obvia::marshaling::IMarshal".to_owned())])
    };
    Class { name, interfaces, insertions }
}

/// Parses an attribute `object(...)`, or windows-core's `implement(...)`, whose path may have
/// modules; `None` for other attributes.
fn read(attribute: &TokenStream) -> Option<Implement> {
    let tokens: Vec<TokenTree> = attribute.clone().into_iter().collect();
    let (TokenTree::Group(list), before) = tokens.split_last()? else { return None };
    let is_it = matches!(before.last(), Some(TokenTree::Ident(word)) if word == "object" || word == "implement");
    (is_it && list.delimiter() == Delimiter::Parenthesis).then(|| interfaces(list)).flatten()
}

/// Returns the interfaces of a list, by the last segments of their paths; `None` for an empty list.
fn interfaces(list: &Group) -> Option<Implement> {
    let (mut interfaces, mut place, mut last, mut depth) = (Vec::new(), None, None, 0_usize);
    let mut end = list.span_open().byte_range().end;
    for token in list.stream() {
        match &token {
            TokenTree::Punct(mark) if mark.as_char() == ',' && depth == 0 => {
                interfaces.extend(last.take());
                place = place.or(Some(end));
            }
            TokenTree::Punct(mark) if mark.as_char() == '<' => depth += 1,
            TokenTree::Punct(mark) if mark.as_char() == '>' && mark.spacing() == Spacing::Alone => {
                depth = depth.saturating_sub(1);
            }
            TokenTree::Ident(word) if depth == 0 => last = Some(word.to_string()),
            _ => {}
        }
        end = token.span().byte_range().end;
    }
    interfaces.extend(last);
    (!interfaces.is_empty()).then_some(Implement { interfaces, place: place.unwrap_or(end) })
}

#[cfg(test)]
mod tests {
    use super::super::component;
    use super::classes;
    use crate::wizard::Language;

    fn specialised(text: &str, name: &str) -> Result<String, String> {
        component(text, name, Language::Rust)
    }

    #[test]
    fn rust_specialisation_only_adds_the_marshaler() {
        let text = "//! \u{e4}\nmod m {\n    #[obvia::object(\n        a::ICalc, // #[obvia::object(INo)] struct No;\n        IOther,\n    )]\n    \
                    #[derive(Default)]\n    /// #[obvia::object(INo)]\n    pub(crate) struct Calc {\n        x: u8,\n    }\n}\nstruct Plain;\n";
        let expected = text.replace("a::ICalc,", "a::ICalc, obvia::marshaling::IMarshal,").replace(
            "        x: u8,\n    }",
            "        x: u8,\n    }\n\n// Objects are called over virtual interfaces, on every transport of their server.\n\
             impl obvia::marshaling::Specialised for Calc_Impl {}",
        );
        assert_eq!(specialised(text, "Calc").unwrap(), expected);
        let names: Vec<_> = classes(text).unwrap().into_iter().map(|class| (class.name, class.interfaces)).collect();
        assert_eq!(names, [("Calc".to_owned(), vec!["ICalc".to_owned(), "IOther".to_owned()])]);
    }

    #[test]
    fn specialised_tuple_structures_keep_their_semicolon() {
        let made = specialised("#[obvia::object(IA)]\nstruct A(u8);\n", "A").unwrap();
        assert!(
            made.starts_with("#[obvia::object(IA, obvia::marshaling::IMarshal)]\nstruct A(u8);\n\n// Objects are"),
            "{made}"
        );
    }

    #[test]
    fn rust_structures_that_cannot_be_specialised_are_refused_with_the_reason() {
        let why = |text: &str| specialised(text, "A").unwrap_err();
        assert_eq!(why("#[obvia::object(IA, IMarshal)] struct A;"), "`A` already has a marshaler");
        assert!(why("#[obvia::object(IA)] struct A<T>(T);").starts_with("`A` has type parameters"));
        assert_eq!(why("struct A;"), "the component has no class `A`");
        assert_eq!(why("#[obvia::object()] struct A;"), "the component has no class `A`");
        assert!(why("fn a() {\n  }\n )").ends_with("the text is not valid Rust"));
        let twice = specialised("#[obvia::object(IA)] struct A;", "A").unwrap();
        assert_eq!(why(&twice), "`A` already has a marshaler");
    }
}
