//! Checks the links of the built book.

use crate::markdown::destination;
use crate::outcome::{Outcome, Problem, entries};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Checks that each link of each page leads to a file of the book, and to a place in that file if
/// the link names a place.
pub(super) fn check(book: &Path) -> Outcome {
    let mut files = BTreeMap::new();
    read(book, "", &mut files)?;
    let broken = broken(&files);
    if broken.is_empty() { Ok(()) } else { Err(Problem::Failed(broken.join("\n"))) }
}

/// Adds the files below a folder to `files`: pages with their texts, and other files with an empty
/// text.
fn read(folder: &Path, name: &str, files: &mut BTreeMap<String, String>) -> Outcome {
    for path in entries(folder)? {
        let last = path.file_name().unwrap_or_default().to_string_lossy();
        let name = if name.is_empty() { last.into_owned() } else { format!("{name}/{last}") };
        if path.is_dir() {
            read(&path, &name, files)?;
            continue;
        }
        let text = if name.ends_with(".html") { fs::read_to_string(&path) } else { Ok(String::new()) };
        files.insert(name, text.map_err(|error| Problem::at(&path, &error))?);
    }
    Ok(())
}

/// Returns a line for each link that leads nowhere.
fn broken(files: &BTreeMap<String, String>) -> Vec<String> {
    let mut broken = Vec::new();
    for (name, text) in files {
        for link in targets(text) {
            let Some((to, place)) = destination(name, link) else {
                continue;
            };
            let has_place = |text: &String| place.is_empty() || text.contains(&format!(" id=\"{place}\""));
            let leads = files.get(&to).is_some_and(has_place);
            if !leads {
                broken.push(format!("{name}: the link to {link} leads nowhere"));
            }
        }
    }
    broken
}

/// Returns the targets of all links, pictures and scripts.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    let after = |attribute: &'static str| text.split(attribute).skip(1).filter_map(|rest| rest.split('"').next());
    after(" href=\"").chain(after(" src=\""))
}

#[cfg(test)]
mod tests {
    use super::broken;

    #[test]
    fn broken_links_are_found() {
        let a = "<a href=\"b.html#x\"> <a href=\"b.html#y\"> <a href=\"../c.html\"> <img src=\"d.svg\">".to_owned();
        let files = [("e/a.html", a), ("e/b.html", "<h2 id=\"x\">".to_owned()), ("c.html", String::new())];
        let files = files.into_iter().map(|(name, text)| (name.to_owned(), text)).collect();
        let expected = ["b.html#y", "d.svg"].map(|link| format!("e/a.html: the link to {link} leads nowhere"));
        assert_eq!(broken(&files), expected);
    }
}
