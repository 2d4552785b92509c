//! The pages of structures and unions.

use super::code::Context;
use super::html::Html;
use super::items::{Item, Kind};
use super::layout::{self, Row};
use super::names::anchors;
use super::notes;
use super::page::{about, as_cell, begin_item, cell, describe, end, source};
use super::uses::Uses;
use crate::model::canonical::{arith, bit_field};
use crate::model::{About, Arm, Field, Model, Opaque, Struct, StructId, Type, Union, UnionId, Unsupported};

/// Returns the page of a structure.
pub(super) fn structure(context: Context<'_>, item: &Item, uses: &Uses) -> String {
    let found = &context.model.structs[item.place.1];
    let mut html = Html::default();
    begin_item(&mut html, context, item);
    html.markup("<pre class=\"declaration\">struct <b>").text(&found.name);
    let ty = Type::Struct(StructId(item.place.1));
    // A structure that is only declared has no members.
    if found.fields.is_empty() {
        html.markup("</b>;</pre>\n");
        describe(&mut html, &item.comment, found.about.help.text.as_deref());
        properties(&mut html, context, item, &ty, &found.about, None);
        uses.write(&mut html, context, item);
        end(&mut html);
        return html.finish();
    }
    html.markup("</b> {\n");
    let names: Vec<&str> = found.fields.iter().map(|field| field.name.as_str()).collect();
    for field in &found.fields {
        structure_member(&mut html, context, found, field, &names);
    }
    html.markup("};</pre>\n");
    describe(&mut html, &item.comment, found.about.help.text.as_deref());
    let (_, size, align) = context.model.offsets(found);
    properties(&mut html, context, item, &ty, &found.about, Some((size, align)));
    layout_heading(&mut html, context, &ty);
    let rows = layout::of_struct(context.model, found);
    table(&mut html, context, &rows, &names);
    uses.write(&mut html, context, item);
    end(&mut html);
    html.finish()
}

fn structure_member(html: &mut Html, context: Context<'_>, of: &Struct, field: &Field, names: &[&str]) {
    if !field.bits.is_empty() {
        for part in &field.bits {
            html.markup("    ");
            context.declaration(html, &part.ty, None, &part.name);
            html.markup(" : ").number(part.width).markup(";\n");
        }
        return;
    }
    html.markup("    ");
    match (&field.ty, &of.conformant) {
        (Type::Void, Some((element, size, length))) => {
            let length =
                length.as_ref().map_or_else(String::new, |length| format!(", length_is({})", arith(length, names)));
            html.text(&format!("[size_is({}){length}] ", arith(size, names)));
            context.declaration(html, element, field.named, &format!("{}[]", field.name));
        }
        _ => context.field(html, field, names),
    }
    html.markup(";\n");
}

/// Returns the page of a union.
pub(super) fn union(context: Context<'_>, item: &Item, uses: &Uses) -> String {
    let found = &context.model.unions[item.place.1];
    let mut html = Html::default();
    begin_item(&mut html, context, item);
    html.markup("<pre class=\"declaration\">");
    match &found.encapsulated {
        Some((tag, inner)) => {
            html.markup("union <b>").text(&found.name).markup("</b> switch (");
            context.declaration(&mut html, &found.tag, None, tag);
            html.markup(") ").text(inner).markup(" {\n");
        }
        None if is_of_c(found) => {
            html.markup("union <b>").text(&found.name).markup("</b> {\n");
        }
        None => {
            html.markup("[switch_type(");
            context.declaration(&mut html, &found.tag, None, "");
            html.markup(")] union <b>").text(&found.name).markup("</b> {\n");
        }
    }
    for arm in &found.arms {
        let cases = cases(arm);
        html.markup("   ").markup(if cases.is_empty() { "" } else { " " }).text(&cases.join(" "));
        arm_content(&mut html, context, arm.field.as_ref());
    }
    if let Some(field) = &found.default {
        html.markup("    default:");
        arm_content(&mut html, context, field.as_ref());
    }
    html.markup("};</pre>\n");
    describe(&mut html, &item.comment, found.about.help.text.as_deref());
    let ty = Type::Union(UnionId(item.place.1));
    let size = (found.measure.size, found.measure.align);
    properties(&mut html, context, item, &ty, &found.about, Some(size));
    if !is_of_c(found) {
        arms(&mut html, context, found);
    }
    layout_heading(&mut html, context, &ty);
    table(&mut html, context, &layout::of_union(context.model, found), &[]);
    uses.write(&mut html, context, item);
    end(&mut html);
    html.finish()
}

/// Whether a union has no discriminant, as in C.
fn is_of_c(union: &Union) -> bool {
    union.tag == Type::Void
}

/// Returns the cases of an arm.
fn cases(arm: &Arm) -> Vec<String> {
    let cases = arm.cases.iter().zip(arm.labels.iter().map(Option::as_deref).chain(std::iter::repeat(None)));
    cases.map(|(value, name)| name.map_or_else(|| format!("case {value}:"), |name| format!("case {name}:"))).collect()
}

fn arm_content(html: &mut Html, context: Context<'_>, field: Option<&Field>) {
    if let Some(field) = field {
        html.markup(" ");
        context.field(html, field, &[]);
    }
    html.markup(";\n");
}

fn arms(html: &mut Html, context: Context<'_>, found: &Union) {
    let comments = &context.items.comments[context.compilation];
    html.markup("<h2>Arms</h2>\n");
    if found.encapsulated.is_none() {
        html.markup("<p>The discriminant is outside the union, in a parameter or a member.</p>\n");
    }
    if found.default.is_none() {
        html.markup("<p>Other discriminants are invalid.</p>\n");
    }
    html.table(&["Discriminant", "Arm", "Type", "Description"]);
    let default = found.default.iter().map(|field| ("default".to_owned(), field.as_ref()));
    let listed = found.arms.iter().map(|arm| {
        let numbered = arm.cases.iter().zip(arm.labels.iter().map(Option::as_deref).chain(std::iter::repeat(None)));
        let cases =
            numbered.map(|(value, name)| name.map_or_else(|| value.to_string(), |name| format!("{name} = {value}")));
        (cases.collect::<Vec<_>>().join(", "), arm.field.as_ref())
    });
    for (cases, field) in listed.chain(default) {
        html.markup("<tr><td>").text(&cases).markup("</td>");
        match field {
            None => _ = html.markup("<td colspan=\"3\">empty</td>"),
            Some(field) => {
                html.markup("<td>").code(&field.name).markup("</td><td><code>");
                context.declaration(html, &field.ty, field.named, "");
                html.markup("</code></td>");
                cell(html, &as_cell(&comments.inside(field.span)), &notes::of_field(field, &[]));
            }
        }
        html.markup("</tr>\n");
    }
    html.table_end();
}

/// Begins the section of a layout. Types that no call can carry have no form in FLAT.
fn layout_heading(html: &mut Html, context: Context<'_>, ty: &Type) {
    let model = context.model;
    let is_refused = model.opaque.contains_key(ty) || model.unsupported.contains_key(ty);
    html.markup("<h2>Layout</h2>\n<p>In memory on 64-bit machines, as C compilers lay ");
    html.markup(if matches!(ty, Type::Union(_)) { "unions" } else { "structures" });
    html.markup(if is_refused { " out.</p>\n" } else { " out, and in FLAT.</p>\n" });
}

/// Adds the table of a layout.
fn table(html: &mut Html, context: Context<'_>, rows: &[Row<'_>], names: &[&str]) {
    let comments = &context.items.comments[context.compilation];
    let of_rows = anchors("member.", rows.iter().map(|row| row.name));
    html.table(&["Offset", "Member", "Type", "Size", "Alignment", "Description"]);
    for (row, anchor) in rows.iter().zip(&of_rows) {
        if row.is_padding {
            html.markup("<tr class=\"padding\"><td class=\"number\">").number(row.offset);
            html.markup("</td><td colspan=\"2\">padding</td><td class=\"number\">").number(row.size);
            html.markup("</td><td></td><td></td></tr>\n");
            continue;
        }
        html.anchored("<tr", anchor).markup("<td class=\"number\">").number(row.offset).markup("</td><td>");
        html.code(row.name).markup("</td><td><code>");
        context.declaration(html, row.ty, row.named, if row.open.is_some() { "[]" } else { "" });
        html.markup("</code></td><td class=\"number\">").number(row.size).markup("</td><td class=\"number\">");
        html.number(row.align).markup("</td>");
        let mut noted = Vec::new();
        if let Some(field) = row.field {
            noted.extend(notes::of_field(field, names));
            noted.extend(bits(context.model, field));
        }
        noted.extend(row.open.map(|(size, length)| notes::elements(size, length, names)));
        // The integer has the span of its first bit field, whose comment does not describe the
        // others.
        let documented = row.field.filter(|field| field.bits.is_empty());
        let comment = documented.map(|field| as_cell(&comments.inside(field.span))).unwrap_or_default();
        cell(html, &comment, &noted);
        html.markup("</tr>\n");
    }
    html.table_end();
}

/// Returns the bit fields of an integer with their places, the lowest bits first.
fn bits(model: &Model, field: &Field) -> Vec<String> {
    let mut first = 0;
    let of = |part: &crate::model::BitField| {
        let last = first + part.width.saturating_sub(1);
        let place = if part.width == 1 { format!("bit {first}") } else { format!("bits {first}–{last}") };
        first += part.width;
        format!("{place}: `{}`", bit_field(model, part))
    };
    field.bits.iter().map(of).collect()
}

fn properties(html: &mut Html, context: Context<'_>, item: &Item, ty: &Type, of: &About, size: Option<(u32, u32)>) {
    html.markup("<table class=\"properties\"><tbody>\n");
    if let Some((size, align)) = size {
        let unit = |count: u32| if count == 1 { " byte" } else { " bytes" };
        html.property("Size", |html| _ = html.number(size).markup(unit(size)));
        html.property("Alignment", |html| _ = html.number(align).markup(unit(align)));
    }
    if let Some(opaque) = context.model.opaque.get(ty) {
        html.property("Calls", |html| match opaque.of == *ty {
            true => _ = html.markup("impossible because of this type, ").text(opaque.why),
            false => refused(html, context, opaque),
        });
    } else if let Some(why) = context.model.unsupported.get(ty) {
        html.property("Calls", |html| {
            html.markup("not supported yet: the type contains ");
            match why {
                Unsupported::Form(form) => _ = html.text(form),
                Unsupported::Bare { interface, .. } => {
                    let found = &context.model.interfaces[interface.0];
                    html.markup("a pointer to ");
                    context.name(html, Some((Kind::Interface, interface.0)), &found.name);
                    html.markup(", which ").text(found.bare.unwrap_or_default());
                }
            }
        });
    }
    about(html, of, "UUID");
    source(html, context, item);
    html.markup("</tbody></table>\n");
}

/// Adds the reason why no call can carry a type.
fn refused(html: &mut Html, context: Context<'_>, opaque: &Opaque) {
    html.markup("impossible: the type contains ");
    context.declaration(html, &opaque.of, None, "");
    html.markup(", ").text(opaque.why);
}
