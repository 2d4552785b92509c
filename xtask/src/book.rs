//! `book`: builds the documentation as a book with mdBook, in the order of docs/README.md, and
//! checks that each link of the book leads to a page, and to a place in that page if the link names
//! a place.

mod contents;
mod html;
mod pages;

use crate::outcome::{Outcome, Problem};
use crate::program::{Program, target};
use crate::repo::load;
use crate::tools::{self, Tool};
use std::fs;
use std::path::Path;

/// The settings of mdBook. Without preprocessors README.md becomes README.html, not index.html. The
/// page for printing is off, because this page would repeat the anchors of all other pages.
const SETTINGS: &str = "\
[book]
title = \"obvia\"
language = \"en\"

[build]
use-default-preprocessors = false

[output.html]
input-404 = \"\"
no-section-label = true

[output.html.print]
enable = false
";

pub(crate) fn main(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err(Problem::failed("usage: cargo xtask book"));
    }
    build()?;
    println!("{}", target().join("book/book/index.html").display());
    Ok(())
}

/// Builds the book into `target/book/book`.
pub(crate) fn build() -> Outcome {
    tools::ensure(&[Tool::Mdbook])?;
    let repo = load()?;
    let contents = contents::read(&repo).map_err(Problem::Failed)?;
    let folder = target().join("book");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| Problem::at(&folder, &error))?;
    }
    write(&folder.join("book.toml"), SETTINGS)?;
    write(&folder.join("src/SUMMARY.md"), &contents.summary())?;
    for (path, text) in pages::of(&repo, &contents) {
        write(&folder.join("src").join(path), &text)?;
    }
    let mdbook = Program::new(&tools::mdbook(), &["build"]).argument(folder.display().to_string());
    let said = mdbook.variable("MDBOOK_LOG", "warn").read_errors()?;
    if !said.trim().is_empty() {
        return Err(Problem::Failed(said));
    }
    html::check(&folder.join("book"))
}

fn write(path: &Path, text: &str) -> Outcome {
    let at = |error| Problem::at(path, &error);
    fs::create_dir_all(path.parent().unwrap_or(path)).map_err(at)?;
    fs::write(path, text).map_err(at)
}
