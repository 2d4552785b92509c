//! Templates: texts with names between `@` that are replaced by other texts.

use std::fmt::Write;

/// Fills a template. Unknown names stay as they are; a test makes sure that there are none.
pub(super) fn fill(template: &str, texts: &[(&str, String)]) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('@') {
        filled.push_str(before);
        let found = texts.iter().find_map(|(name, text)| Some((text, behind.strip_prefix(name)?.strip_prefix('@')?)));
        match found {
            Some((text, behind)) => {
                filled.push_str(text);
                rest = behind;
            }
            None => {
                filled.push('@');
                rest = behind;
            }
        }
    }
    filled + rest
}

/// Indents lines by `depth` levels.
pub(super) fn indented<'a>(lines: impl IntoIterator<Item = &'a str>, depth: usize) -> String {
    lines.into_iter().fold(String::new(), |mut text, line| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", format!("{}{line}", "    ".repeat(depth)).trim_end());
        text
    })
}

/// Returns a list of quoted texts, which are names and bindings and so need no escapes.
pub(super) fn quoted(texts: &[String]) -> String {
    texts.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(", ")
}

/// Returns a declaration; if it is longer than `width`, with each parameter on a line of its own.
pub(super) fn wrapped(declaration: &str, width: usize) -> String {
    let whole = || declaration.to_owned();
    let Some(open) = declaration.find('(').filter(|_| declaration.chars().count() > width) else { return whole() };
    let Some((parameters, close)) = parameters(&declaration[open + 1..]) else { return whole() };
    let lines: Vec<String> = parameters.iter().map(|parameter| format!("    {}", parameter.trim())).collect();
    format!("{}(\n{}\n){}", &declaration[..open], lines.join(",\n"), &declaration[open + 1 + close + 1..])
}

/// Returns the parameters up to the closing parenthesis, and the offset of the parenthesis; `None`
/// if there is no such parenthesis.
fn parameters(text: &str) -> Option<(Vec<&str>, usize)> {
    let (mut depth, mut start, mut found) = (0_usize, 0, Vec::new());
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '[' | '<' => depth += 1,
            ')' if depth == 0 => {
                found.push(&text[start..at]);
                return Some((found, at));
            }
            ')' | ']' | '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{fill, indented, wrapped};

    #[test]
    fn template_names_are_replaced_once() {
        let texts = [("a", "1@b@"), ("b", "2"), ("ab", "3")].map(|(name, text)| (name, text.to_owned()));
        assert_eq!(fill("@a@-@b@@ab@ @c@ a@b", &texts), "1@b@-23 @c@ a@b");
        assert_eq!(fill("", &texts), "");
    }

    #[test]
    fn empty_lines_have_no_blanks() {
        assert_eq!(indented(["a", "", "b"], 1), "    a\n\n    b\n");
    }

    #[test]
    fn long_declarations_are_wrapped_at_parameters() {
        let text = "fn F(&self, a: (i32, i64), b: &[u8]) -> R<(A, B)>";
        assert_eq!(wrapped(text, 100), text);
        assert_eq!(wrapped(text, 20), "fn F(\n    &self,\n    a: (i32, i64),\n    b: &[u8]\n) -> R<(A, B)>");
        let text = "int32_t F(obvia::span<const int32_t> a, const uint8_t (&b)[16])";
        assert_eq!(wrapped(text, 20), "int32_t F(\n    obvia::span<const int32_t> a,\n    const uint8_t (&b)[16]\n)");
    }
}
