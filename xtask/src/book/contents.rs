//! The chapters of the book. docs/README.md links to the pages in their order, under headings.

use crate::markdown::{destination, folder, links};
use crate::repo::{File, Repo};

/// The page that lists all other pages.
const INDEX: &str = "docs/README.md";
/// The first page of the book, before the index.
const FIRST: &str = "README.md";

/// The chapters below one heading.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    heading: String,
    chapters: Vec<Chapter>,
}

#[derive(Debug, PartialEq, Eq)]
struct Chapter {
    path: String,
    title: String,
    /// Whether the page is a subchapter of the last page before it that is not nested.
    is_nested: bool,
}

/// All chapters, in their order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contents {
    parts: Vec<Part>,
}

/// Returns the contents, or says which page is missing in the index.
pub(super) fn read(repo: &Repo) -> Result<Contents, String> {
    let index = repo.file(INDEX).ok_or_else(|| format!("{INDEX} is missing"))?;
    let mut contents = Contents { parts: vec![Part { heading: "obvia".to_owned(), chapters: Vec::new() }] };
    contents.add(repo, FIRST);
    contents.add(repo, INDEX);
    let links = links(&index.text);
    for (number, line) in (1..).zip(index.text.lines()) {
        if let Some(heading) = line.strip_prefix("## ") {
            contents.parts.push(Part { heading: heading.to_owned(), chapters: Vec::new() });
        }
        for link in links.iter().filter(|link| link.line == number) {
            if let Some((path, _)) = destination(INDEX, &index.text[link.target.clone()]) {
                contents.add(repo, &path);
            }
        }
    }
    let docs = repo.files.iter().filter(|file| file.path.starts_with("docs/") && file.path.ends_with(".md"));
    match docs.into_iter().find(|file| !contents.has(&file.path)) {
        Some(file) => Err(format!("{INDEX} has no link to {}", file.path)),
        None => Ok(contents),
    }
}

impl Contents {
    /// Whether a page is a chapter.
    pub(super) fn has(&self, path: &str) -> bool {
        self.paths().any(|known| known == path)
    }

    /// Returns the paths of all chapters.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().flat_map(|part| &part.chapters).map(|chapter| chapter.path.as_str())
    }

    /// Adds the page at a path, if there is one and it is not a chapter yet. The other pages of a
    /// folder below `docs` follow the folder's README.
    fn add(&mut self, repo: &Repo, path: &str) {
        let Some(file) = repo.file(path).filter(|file| file.path.ends_with(".md") && !self.has(&file.path)) else {
            return;
        };
        self.push(file, false);
        let below = folder(path);
        if file.name() == "README.md" && below.starts_with("docs/") {
            let pages = repo.files.iter().filter(|other| other.path.ends_with(".md") && other.path != path);
            for other in pages.filter(|other| folder(&other.path) == below) {
                self.push(other, true);
            }
        }
    }

    fn push(&mut self, file: &File, is_nested: bool) {
        let title = file.text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(&file.path).to_owned();
        if let Some(part) = self.parts.last_mut() {
            part.chapters.push(Chapter { path: file.path.clone(), title, is_nested });
        }
    }

    /// Returns the text of mdBook's SUMMARY.md.
    pub(super) fn summary(&self) -> String {
        let mut text = "# Summary\n".to_owned();
        for part in &self.parts {
            text.push_str(&format!("\n# {}\n\n", part.heading));
            for Chapter { path, title, is_nested } in &part.chapters {
                let indent = if *is_nested { "    " } else { "" };
                text.push_str(&format!("{indent}- [{title}]({path})\n"));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::repo::{Repo, load};

    #[test]
    fn chapters_follow_the_order_of_the_index() {
        let index =
            "# Documentation\n[r](../README.md)\n## Start\n- [b](b.md#x), [x](../x)\n## More\n[d](d/README.md)\n";
        let files = [
            ("README.md", "# obvia\n"),
            ("docs/README.md", index),
            ("docs/b.md", "# The letter B\n"),
            ("docs/d/README.md", "# Decisions\n"),
            ("docs/d/0001.md", "# One\n"),
            ("x/a.rs", ""),
        ];
        let contents = read(&Repo::of(&files)).unwrap();
        let expected = "# Summary\n\n# obvia\n\n- [obvia](README.md)\n- [Documentation](docs/README.md)\n\n# Start\n\n\
            - [The letter B](docs/b.md)\n\n# More\n\n- [Decisions](docs/d/README.md)\n    - [One](docs/d/0001.md)\n";
        assert_eq!(contents.summary(), expected);
    }

    #[test]
    fn each_page_of_the_documentation_has_a_place_in_the_index() {
        read(&load().unwrap()).unwrap();
    }

    #[test]
    fn pages_without_a_place_in_the_index_are_reported() {
        let files = [("docs/README.md", "[a](a.md)"), ("docs/a.md", ""), ("docs/b.md", "")];
        assert_eq!(read(&Repo::of(&files)).unwrap_err(), "docs/README.md has no link to docs/b.md");
    }
}
