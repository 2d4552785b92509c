//! The beginning and the end of each page, and the parts that pages of several kinds have.

use super::code::Context;
use super::html::Html;
use super::items::Item;
use super::prose::{Prose, inline};
use crate::model::canonical::uuid_text;
use crate::model::{About, Param};

/// The names of the files that every reference has in addition to the files of its declarations.
pub(super) const INDEX: &str = "index.html";
pub(super) const STYLE: &str = "style.css";
pub(super) const SEARCH: &str = "search.js";
pub(super) const SEARCHED: &str = "search-index.js";

/// A page: the name of its file, and its text.
#[derive(Clone, Debug)]
pub struct Page {
    /// The name of the file, without folders.
    pub name: String,
    /// The content of the file.
    pub text: String,
}

/// Adds the beginning of a page, up to its heading. `trail` lists the parent pages, each
/// with its file name and title.
pub(super) fn begin(html: &mut Html, title: &str, trail: &[(&str, &str)]) {
    html.markup("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.markup("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.within("<title>", title, "</title>\n");
    html.markup("<link rel=\"stylesheet\" href=\"").markup(STYLE).markup("\">\n");
    html.markup("<script src=\"").markup(SEARCHED).markup("\" defer></script>\n");
    html.markup("<script src=\"").markup(SEARCH).markup("\" defer></script>\n");
    html.markup("</head>\n<body>\n<header>\n<nav>");
    for (at, (href, title)) in trail.iter().enumerate() {
        html.markup(if at > 0 { " / " } else { "" }).link(href, title);
    }
    html.markup("</nav>\n<div id=\"search\" hidden><input type=\"search\" aria-label=\"Search\" placeholder=\"Search: press /\" autocomplete=\"off\"><ol></ol></div>\n");
    html.markup("</header>\n<main>\n");
}

/// Adds the end of a page.
pub(super) fn end(html: &mut Html) {
    html.markup("</main>\n</body>\n</html>\n");
}

/// Adds the beginning of a declaration's page.
pub(super) fn begin_item(html: &mut Html, context: Context<'_>, item: &Item) {
    let file = &context.items.files[item.file];
    let title = format!("{} {}", item.place.0.word(), item.name);
    begin(html, &title, &[(INDEX, "Index"), (&file.page, &file.path)]);
    html.within("<h1><small>", item.place.0.word(), "</small> ").text(&item.name).markup("</h1>\n");
}

/// Adds the comment of a declaration, and the help text if the help text differs from the comment.
pub(super) fn describe(html: &mut Html, comment: &str, help: Option<&str>) {
    describe_with(html, &Prose::of(comment), comment, help, &[]);
}

/// Adds the comment of a declaration, and the help text if the help text differs from the comment.
/// `prose` has the parts of the comment. The texts about the parameters `params` are left out,
/// since the table of parameters shows them.
pub(super) fn describe_with(html: &mut Html, prose: &Prose<'_>, comment: &str, help: Option<&str>, params: &[Param]) {
    prose.write(html, |name| params.iter().any(|param| param.name == name));
    if let Some(help) = help.filter(|help| !help.is_empty() && *help != comment) {
        html.within("<p>", help, "</p>\n");
    }
}

/// Returns the first sentence of a declaration's comment, or else its help text.
pub(super) fn summary(comment: &str, help: Option<&str>) -> String {
    let summary = Prose::of(comment).summary();
    if summary.is_empty() { help.unwrap_or_default().to_owned() } else { summary }
}

/// Adds the declaration's place in the source to a table of properties.
pub(super) fn source(html: &mut Html, context: Context<'_>, item: &Item) {
    let file = &context.items.files[item.file];
    html.property("Source", |html| {
        html.link(&file.page, &file.path).markup(", line ").number(item.line as u64);
    });
}

/// Adds the properties of a declaration that type libraries record, without the help text, to a
/// table.
pub(super) fn about(html: &mut Html, about: &About, uuid_name: &'static str) {
    if let Some(uuid) = about.uuid {
        html.property(uuid_name, |html| _ = html.code(&uuid_text(uuid)));
    }
    let (major, minor) = about.version;
    if (major, minor) != (0, 0) {
        html.property("Version", |html| _ = html.text(&format!("{major}.{minor}")));
    }
    if about.help.context != 0 {
        html.property("Topic in the help file", |html| _ = html.number(about.help.context));
    }
}

/// Adds a cell with a comment, and with properties in words.
pub(super) fn cell(html: &mut Html, comment: &str, notes: &[String]) {
    html.markup("<td>");
    inline(html, comment);
    let is_apart = !comment.is_empty() && !notes.is_empty();
    html.markup(if is_apart { " <small>(" } else { "" });
    for (at, note) in notes.iter().enumerate() {
        html.markup(if at > 0 { "; " } else { "" });
        inline(html, note);
    }
    html.markup(if is_apart { ")</small></td>" } else { "</td>" });
}

/// Returns a comment as the text of a cell.
pub(super) fn as_cell(comment: &str) -> String {
    Prose::of(comment).cell()
}
