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
            let length = line[at + 2..].find(')').unwrap_or_default();
            links.push(Link { line: number, target: start..start + length });
        }
        begin += line.len();
    }
    links
}

/// Returns the path, relative to the root, to which a page's link leads, and the place in that
/// page, which may be empty. `None` for links to other sites.
pub(crate) fn destination<'a>(page: &str, target: &'a str) -> Option<(String, &'a str)> {
    if target.contains(':') {
        return None;
    }
    let (path, place) = target.split_once('#').unwrap_or((target, ""));
    Some((if path.is_empty() { page.to_owned() } else { resolve(folder(page), path) }, place))
}

/// Converts a path relative to a folder to a path relative to the root.
fn resolve(folder: &str, path: &str) -> String {
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
    use super::{Link, destination, links};

    #[test]
    fn links_outside_of_code_are_found() {
        let text = "[a](b.md#c)\n```\n[j](k.md)\n```\n![l](m.svg)\n";
        assert_eq!(links(text), [Link { line: 1, target: 4..10 }, Link { line: 5, target: 35..40 }]);
    }

    #[test]
    fn destinations_are_relative_to_the_page() {
        assert_eq!(destination("a/b.md", "../c/./d.md#e"), Some(("c/d.md".to_owned(), "e")));
        assert_eq!(destination("a/b.md", "#e"), Some(("a/b.md".to_owned(), "e")));
        assert_eq!(destination("a/b.md", "https://example.org/"), None);
    }
}
