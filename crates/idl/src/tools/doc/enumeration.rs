//! The pages of enumerations.

use super::code::Context;
use super::html::Html;
use super::items::Item;
use super::names::value_anchors;
use super::page::{about, as_cell, begin_item, describe, end, source};
use super::prose::inline;
use super::uses::Uses;

/// Returns the page of an enumeration.
pub(super) fn page(context: Context<'_>, item: &Item, uses: &Uses) -> String {
    let found = &context.model.enums[item.place.1];
    let mut html = Html::default();
    begin_item(&mut html, context, item);
    let attributes = match (found.v1, found.open) {
        (false, false) => "",
        (true, false) => "[v1_enum] ",
        (false, true) => "[open] ",
        (true, true) => "[v1_enum, open] ",
    };
    html.markup("<pre class=\"declaration\">").text(attributes).markup("enum <b>").text(&found.name);
    html.markup("</b></pre>\n");
    describe(&mut html, &item.comment, found.about.help.text.as_deref());
    html.markup("<table class=\"properties\"><tbody>\n");
    html.property("Size", |html| {
        html.markup("4 bytes in memory and in FLAT, ").markup(if found.v1 { "4" } else { "2" }).markup(" in NDR");
    });
    let others = match (found.open, found.v1) {
        (false, _) => "invalid",
        (true, true) => "valid",
        (true, false) => "valid from 0 to 32767",
    };
    html.property("Other values", |html| _ = html.markup(others));
    about(&mut html, &found.about, "UUID");
    source(&mut html, context, item);
    html.markup("</tbody></table>\n<h2>Values</h2>\n");
    let comments = context.items.comments[context.compilation].of_values(item.span);
    html.table(&["Name", "Decimal", "Hexadecimal", "Description"]);
    for ((name, value), anchor) in found.values.iter().zip(value_anchors(found)) {
        html.anchored("<tr", &anchor).markup("<td>").code(name).markup("</td><td class=\"number\">").number(*value);
        html.markup("</td><td class=\"number\">").text(&format!("{value:#x}")).markup("</td><td>");
        inline(&mut html, &comments.get(name).map_or_else(String::new, |comment| as_cell(comment)));
        html.markup("</td></tr>\n");
    }
    html.table_end();
    uses.write(&mut html, context, item);
    end(&mut html);
    html.finish()
}
