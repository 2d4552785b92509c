//! The texts of the book's pages. Links to sources become text, because the book has no sources.

use super::contents::Contents;
use crate::markdown::{destination, links};
use crate::repo::Repo;

/// The folder of the pictures that pages show by links.
const PICTURES: &str = "docs/figures/";

/// Returns the paths and texts of all pages, and of the pictures.
pub(super) fn of(repo: &Repo, contents: &Contents) -> Vec<(String, String)> {
    let pages = contents.paths().filter_map(|path| repo.file(path));
    let pages = pages.map(|page| (page.path.clone(), page_of(&page.path, &page.text, contents)));
    let pictures = repo.files.iter().filter(|file| file.path.starts_with(PICTURES));
    pages.chain(pictures.map(|picture| (picture.path.clone(), picture.text.clone()))).collect()
}

fn page_of(path: &str, text: &str, contents: &Contents) -> String {
    let mut made = text.to_owned();
    // The links are replaced from the last one on, so that the places of earlier links stay valid.
    for link in links(text).into_iter().rev() {
        let Some((to, _)) = destination(path, &text[link.target.clone()]) else {
            continue;
        };
        if contents.has(&to) || to.starts_with(PICTURES) {
            continue;
        }
        let Some(begin) = beginning(&text[..link.target.start - 2]) else {
            continue;
        };
        let shown = &text[begin + 1..link.target.start - 2];
        let is_path = shown.trim_matches('`').trim_end_matches('/') == to;
        let words = if is_path { shown.to_owned() } else { format!("{shown} (`{to}`)") };
        made.replace_range(begin..=link.target.end, &words);
    }
    made
}

/// Returns the position of the bracket that opens a link's text. The text `text` ends with the
/// link's text.
fn beginning(text: &str) -> Option<usize> {
    let mut depth = 1;
    text.char_indices().rev().find_map(|(at, letter)| {
        match letter {
            ']' => depth += 1,
            '[' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::super::contents::read;
    use super::of;
    use crate::repo::Repo;

    #[test]
    fn links_to_sources_become_text() {
        let text = "[b](b.md#x) [the\nexample](../examples/calc) [`x.rs`](../x.rs) [h](https://example.org) [p](#p)\n";
        let index = "[a](a.md) [b](b.md)";
        let files = [("docs/README.md", index), ("docs/a.md", text), ("docs/b.md", ""), ("x.rs", "")];
        let repo = Repo::of(&files);
        let pages = of(&repo, &read(&repo).unwrap());
        let made = "[b](b.md#x) the\nexample (`examples/calc`) `x.rs` [h](https://example.org) [p](#p)\n";
        assert_eq!(pages[1], ("docs/a.md".to_owned(), made.to_owned()));
    }
}
