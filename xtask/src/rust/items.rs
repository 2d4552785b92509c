//! Finds functions and tests in tokens.

use super::{Kind, Token};
use std::ops::RangeInclusive;

/// A function with a body, and its lines, from `fn` to the closing brace.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function<'a> {
    pub(crate) name: &'a str,
    pub(crate) lines: RangeInclusive<usize>,
}

/// Returns the functions with a body, also those inside of other functions.
pub(crate) fn functions<'a>(tokens: &[Token<'a>]) -> Vec<Function<'a>> {
    let mut functions = Vec::new();
    for (at, pair) in tokens.windows(2).enumerate() {
        let [keyword, name] = pair else { continue };
        if !keyword.is("fn") || name.kind != Kind::Ident {
            continue;
        }
        if let Some(end) = end_of_item(&tokens[at..]).filter(|end| tokens[at + end].is("}")) {
            functions.push(Function { name: name.text, lines: keyword.line..=tokens[at + end].line });
        }
    }
    functions
}

/// Returns the lines of items that are only built for tests: `#[cfg(test)]` and `#[test]`.
pub(crate) fn tests(tokens: &[Token<'_>]) -> Vec<RangeInclusive<usize>> {
    let mut regions: Vec<RangeInclusive<usize>> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if !token.is("#") || is_in(&regions, token.line) {
            continue;
        }
        let Some((inside, behind)) = attribute(&tokens[at..]) else {
            continue;
        };
        if !is_for_tests(inside) {
            continue;
        }
        let item = at + behind;
        let last = end_of_item(&tokens[item..]).map_or(tokens.len() - 1, |end| item + end);
        regions.push(token.line..=tokens[last].line);
    }
    regions
}

/// Whether a line lies in one of the regions.
pub(crate) fn is_in(regions: &[RangeInclusive<usize>], line: usize) -> bool {
    regions.iter().any(|region| region.contains(&line))
}

fn is_for_tests(attribute: &[Token<'_>]) -> bool {
    let is_test = attribute.iter().any(|token| token.is("test"));
    let is_not = attribute.windows(3).any(|three| three[0].is("not") && three[1].is("(") && three[2].is("test"));
    is_test && !is_not
}

/// Returns the tokens between an outer attribute's brackets, and the index after the attribute.
fn attribute<'t, 'a>(tokens: &'t [Token<'a>]) -> Option<(&'t [Token<'a>], usize)> {
    if !tokens.get(1)?.is("[") {
        return None;
    }
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(1) {
        if token.is("[") {
            depth += 1;
        } else if token.is("]") {
            depth -= 1;
            if depth == 0 {
                return Some((&tokens[2..at], at + 1));
            }
        }
    }
    None
}

/// Returns the index of the item's last token: its closing brace or its semicolon.
fn end_of_item(tokens: &[Token<'_>]) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        if token.kind != Kind::Punct {
            continue;
        }
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" => depth = depth.checked_sub(1)?,
            "}" => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            ";" if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::tokens;
    use super::{functions, tests};

    #[test]
    fn functions_are_found_in_tokens() {
        let text = "trait T { fn a(x: [u8; 2]); }\nfn b() -> u8 {\n  fn c() {}\n  \"}\";\n  2\n}\nlet f: fn(u8);";
        let tokens = tokens(text);
        let found: Vec<_> = functions(&tokens).iter().map(|function| (function.name, function.lines.clone())).collect();
        assert_eq!(found, [("b", 2..=6), ("c", 3..=3)]);
    }

    #[test]
    fn tests_are_found_in_tokens() {
        let text = "#[cfg(not(test))]\nfn a() {}\n#[cfg(test)]\nmod tests;\n#[derive(Debug)]\nstruct S;\n\
                    #[cfg(all(test, not(loom)))]\n#[allow(dead_code)]\nmod more {\n    #[test]\n    fn b() {}\n}\nfn c() {}";
        assert_eq!(tests(&tokens(text)), [3..=4, 7..=12]);
    }
}
