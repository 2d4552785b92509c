//! A reference of IDL files in HTML: a page for each interface, class, library and type, and an
//! index with a search that needs no network.

mod aggregates;
mod code;
mod comments;
mod enumeration;
mod folder;
mod html;
mod index;
mod interface;
mod items;
mod layout;
mod library;
mod method;
mod names;
mod notes;
mod page;
mod prose;
mod uses;

pub use folder::{WriteError, write};
pub use page::Page;

use crate::compile::Compilation;
use code::Context;
use items::{Items, Kind};
use page::{INDEX, SEARCH, SEARCHED, STYLE};
use uses::Uses;

/// Returns the pages about the declarations of compiled files and of the files on disk that they
/// import. The same files give the same pages.
///
/// Texts of the files are escaped, and names of pages consist of letters, digits, `_`, `-`, `.` and
/// `~` of ASCII.
pub fn pages(compilations: &[Compilation]) -> Vec<Page> {
    let items = Items::of(compilations);
    let uses = Uses::of(&items);
    let mut pages = vec![
        page(INDEX, index::index(&items)),
        page(STYLE, include_str!("doc/style.css").to_owned()),
        page(SEARCH, include_str!("doc/search.js").to_owned()),
        page(SEARCHED, index::searched(&items)),
    ];
    let files = items.files.iter().filter(|file| file.is_listed());
    pages.extend(files.map(|file| page(&file.page, index::file(&items, file, &uses))));
    for item in items.all.iter().filter(|item| item.place.0.has_page()) {
        let context = Context::of(&items, item.compilation);
        let text = match item.place.0 {
            Kind::Library => library::library(context, item, &uses),
            Kind::Coclass => library::coclass(context, item, &uses),
            Kind::Interface => interface::page(context, item, &uses),
            Kind::Dispinterface => library::dispinterface(context, item, &uses),
            Kind::Struct => aggregates::structure(context, item, &uses),
            Kind::Union => aggregates::union(context, item, &uses),
            Kind::Enum => enumeration::page(context, item, &uses),
            // Typedefs and constants stand on the pages of their files.
            Kind::Typedef | Kind::Const => continue,
        };
        pages.push(page(&item.href, text));
    }
    pages
}

fn page(name: &str, text: String) -> Page {
    Page { name: name.to_owned(), text }
}
