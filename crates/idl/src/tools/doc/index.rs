//! The index, the pages of files, and the index of the search.

use super::code::Context;
use super::html::{Html, script_text};
use super::items::{Item, Items, Kind, SourceFile};
use super::names::{member_anchors, method_anchors, value_anchors};
use super::page::{INDEX, as_cell, begin, describe, end, summary};
use super::prose::inline;
use super::uses::Uses;
use crate::model::{About, Base, DispMembers, Value};
use crate::tools::notation::value_text;

/// Returns the index of all declarations, by file and in alphabetical order.
pub(super) fn index(items: &Items<'_>) -> String {
    let mut html = Html::default();
    begin(&mut html, "IDL reference", &[(INDEX, "Index")]);
    html.markup("<h1>IDL reference</h1>\n<h2>Files</h2>\n");
    for is_named in [true, false] {
        let files = items.files.iter().filter(|file| file.is_named == is_named && file.is_listed());
        let mut files = files.peekable();
        if files.peek().is_some() {
            html.markup(if is_named { "<ul>\n" } else { "<h3>Imported</h3>\n<ul>\n" });
            files.for_each(|file| _ = html.markup("<li>").link(&file.page, &file.path).markup("</li>\n"));
            html.markup("</ul>\n");
        }
    }
    let mut sorted: Vec<&Item> = items.all.iter().collect();
    sorted.sort_by_cached_key(|item| (item.name.to_lowercase(), item.name.clone(), item.place.0, item.file));
    let letter = |item: &Item| item.name.chars().next().map(|one| one.to_ascii_uppercase());
    for group in sorted.chunk_by(|a, b| letter(a) == letter(b)) {
        let first = letter(group[0]).map(String::from).unwrap_or_default();
        html.within("<h2>", &first, "</h2>\n<ul class=\"index\">\n");
        for item in group {
            html.markup("<li><small>").markup(item.place.0.word()).markup("</small> ");
            html.link(&item.href, &item.name).markup("</li>\n");
        }
        html.markup("</ul>\n");
    }
    end(&mut html);
    html.finish()
}

/// Returns the page of a file.
pub(super) fn file(items: &Items<'_>, of: &SourceFile, uses: &Uses) -> String {
    let mut html = Html::default();
    begin(&mut html, &of.path, &[(INDEX, "Index")]);
    html.within("<h1><small>file</small> ", &of.path, "</h1>\n");
    for kind in Kind::ALL {
        let found: Vec<&Item> = of.items.iter().map(|at| &items.all[*at]).filter(|item| item.place.0 == kind).collect();
        if found.is_empty() {
            continue;
        }
        html.within("<h2>", kind.heading(), "</h2>\n");
        match kind {
            Kind::Const => constants(&mut html, items, &found),
            Kind::Typedef => typedefs(&mut html, items, &found, uses),
            _ => list(&mut html, items, &found),
        }
    }
    end(&mut html);
    html.finish()
}

fn list(html: &mut Html, items: &Items<'_>, found: &[&Item]) {
    html.table(&["Name", "Description"]);
    for item in found {
        html.markup("<tr><td>").link(&item.href, &item.name).markup("</td><td>");
        let (comment, about) = documentation(items, item);
        inline(html, &summary(comment, about.and_then(|about| about.help.text.as_deref())));
        html.markup("</td></tr>\n");
    }
    html.table_end();
}

/// Returns the comment of a declaration, and the properties that type libraries record.
fn documentation<'i>(items: &'i Items<'_>, item: &'i Item) -> (&'i str, Option<&'i About>) {
    let (model, at) = (&items.compilation(item).model, item.place.1);
    match item.place.0 {
        Kind::Library => (&item.comment, Some(&model.libraries[at].about)),
        Kind::Coclass => (&item.comment, Some(&model.coclasses[at].about)),
        Kind::Interface => (&item.comment, Some(&model.interfaces[at].about)),
        Kind::Dispinterface => (&item.comment, Some(&model.dispinterfaces[at].about)),
        Kind::Struct => (&item.comment, Some(&model.structs[at].about)),
        Kind::Union => (&item.comment, Some(&model.unions[at].about)),
        Kind::Enum => (&item.comment, Some(&model.enums[at].about)),
        Kind::Typedef => (&item.comment, Some(&model.typedefs[at].about)),
        Kind::Const => (&item.comment, None),
    }
}

/// Returns the anchor of a declaration in the page of its file.
fn anchor(item: &Item) -> &str {
    item.href.split_once('#').map_or("", |(_, anchor)| anchor)
}

fn constants(html: &mut Html, items: &Items<'_>, found: &[&Item]) {
    html.table(&["Name", "Type", "Value", "Hexadecimal", "Description"]);
    for item in found {
        let constant = &items.compilation(item).model.consts[item.place.1];
        html.anchored("<tr", anchor(item)).markup("<td>").code(&item.name).markup("</td><td>");
        let pointer = if matches!(constant.value, Value::Text(_)) { " *" } else { "" };
        html.text(constant.base.map_or("", Base::idl)).markup(pointer).markup("</td>");
        match &constant.value {
            Value::Int(value) => {
                let text = value_text(&constant.value, constant.base);
                html.within("<td class=\"number\">", &text, "</td><td class=\"number\">");
                html.text(&hexadecimal(*value, constant.base.map_or(8, Base::size)));
            }
            value => {
                html.markup("<td>").code(&value_text(value, constant.base)).markup("</td><td>");
            }
        }
        html.markup("</td><td>");
        inline(html, &as_cell(&item.comment));
        html.markup("</td></tr>\n");
    }
    html.table_end();
}

/// Returns an integer as a hexadecimal number. A negative integer is shown as the machine stores
/// it, in `size` bytes.
fn hexadecimal(value: i64, size: u32) -> String {
    let bits = size.clamp(1, 8) * 8;
    let mask = u64::MAX >> (64 - bits);
    format!("{:#x}", value.cast_unsigned() & mask)
}

fn typedefs(html: &mut Html, items: &Items<'_>, found: &[&Item], uses: &Uses) {
    for item in found {
        let context = Context::of(items, item.compilation);
        let typedef = &context.model.typedefs[item.place.1];
        html.anchored("<section", anchor(item)).markup("<h3>").link(&item.href, &item.name);
        html.markup("</h3>\n<pre class=\"declaration\">typedef ");
        context.typedef(html, typedef);
        html.markup("</pre>\n");
        describe(html, &item.comment, typedef.about.help.text.as_deref());
        uses.write_within(html, context, item);
        html.markup("</section>\n");
    }
}

/// Returns the script that contains the search index: for each declaration its name, its kind, its
/// page, and the declaration around it.
pub(super) fn searched(items: &Items<'_>) -> String {
    let mut script = "var searchIndex = [\n".to_owned();
    let mut add = |name: &str, kind: &str, href: &str, of: &str| {
        let row = [name, kind, href, of].map(script_text).join(",");
        script.push_str(&format!("[{row}],\n"));
    };
    for item in &items.all {
        let model = &items.compilation(item).model;
        add(&item.name, item.place.0.word(), &item.href, "");
        match item.place {
            (Kind::Interface, at) => {
                let found = &model.interfaces[at];
                for (method, anchor) in found.methods.iter().zip(method_anchors(found)) {
                    add(&method.name, "method", &format!("{}#{anchor}", item.href), &item.name);
                }
            }
            (Kind::Enum, at) => {
                let found = &model.enums[at];
                for ((name, _), anchor) in found.values.iter().zip(value_anchors(found)) {
                    add(name, "value", &format!("{}#{anchor}", item.href), &item.name);
                }
            }
            (Kind::Dispinterface, at) => {
                let Some(DispMembers::Own(properties, methods)) = &model.dispinterfaces[at].members else { continue };
                for (list, kind) in [(properties, "property"), (methods, "method")] {
                    for (one, anchor) in list.iter().zip(member_anchors(list, kind == "property")) {
                        add(&one.member.name, kind, &format!("{}#{anchor}", item.href), &item.name);
                    }
                }
            }
            _ => {}
        }
    }
    script + "];\n"
}
