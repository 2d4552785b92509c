//! Links and headings of Markdown text.

use std::ops::Range;

/// A link outside of code blocks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The number of the line, from 1 on.
    pub(crate) line: usize,
    /// The bytes of the target, without its parentheses.
    pub(crate) target: Range<usize>,
}

/// Returns all links of a text.
pub(crate) fn links(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    let (mut in_code, mut begin) = (false, 0);
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        in_code ^= line.trim_start().starts_with("```");
        for (at, _) in line.match_indices("](").filter(|_| !in_code) {
            let start = begin + at + 2;
            let length = text[start..].find(')').unwrap_or_default();
            links.push(Link { line: number, target: start..start + length });
        }
        begin += line.len();
    }
    links
}

/// Converts a path relative to a folder to a path relative to the root.
pub(crate) fn resolve(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns the folder of a path relative to the root.
pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::{Link, links};

    #[test]
    fn links_outside_of_code_are_found() {
        let text = "[a](b.md#c)\n```\n[j](k.md)\n```\n![l](m.svg)\n";
        assert_eq!(links(text), [Link { line: 1, target: 4..10 }, Link { line: 5, target: 35..40 }]);
    }
}
