//! The pages of interfaces.

use super::code::{Context, bracketed, flag_names};
use super::html::Html;
use super::items::{Item, Kind, is_empty};
use super::method;
use super::names::method_anchors;
use super::page::{about, begin_item, describe, end, source, summary};
use super::prose::inline;
use super::uses::Uses;
use crate::model::canonical::{fingerprint, uuid_text};
use crate::model::typelib::flags;
use crate::model::{Interface, InterfaceId, Method, Model};

/// The index in the vtable of the first method after the methods of IUnknown.
const FIRST: u16 = 3;

/// Returns the page of an interface.
pub(super) fn page(context: Context<'_>, item: &Item, uses: &Uses) -> String {
    let (model, id) = (context.model, InterfaceId(item.place.1));
    let found = &model.interfaces[id.0];
    let mut html = Html::default();
    begin_item(&mut html, context, item);
    declaration(&mut html, context, found);
    describe(&mut html, &item.comment, found.about.help.text.as_deref());
    properties(&mut html, context, item, id);
    let anchors = method_anchors(found);
    methods(&mut html, context, id, &anchors);
    for (method, anchor) in found.methods.iter().zip(&anchors) {
        html.anchored("<section", anchor);
        html.markup("<h3>").link(&format!("#{anchor}"), &method.name).markup("</h3>\n");
        method::section(&mut html, context, method);
        html.markup("</section>\n");
    }
    uses.write(&mut html, context, item);
    end(&mut html);
    html.finish()
}

/// Whether an interface has only a forward declaration.
fn is_forward(context: Context<'_>, found: &Interface) -> bool {
    is_empty(found) && !context.items.comments[context.compilation].has_block(found.span)
}

fn declaration(html: &mut Html, context: Context<'_>, found: &Interface) {
    if is_forward(context, found) {
        html.within("<pre class=\"declaration\">interface <b>", &found.name, "</b>;</pre>\n");
        return;
    }
    let mut attributes = Vec::new();
    attributes.extend((!found.plain).then(|| "object".to_owned()));
    attributes.extend((found.uuid != 0).then(|| format!("uuid({})", uuid_text(found.uuid))));
    let (major, minor) = found.version;
    attributes.extend((found.version != (0, 0)).then(|| format!("version({major}.{minor})")));
    // In the model, an interface without content is local, even if the source does not say so.
    attributes.extend((found.local && !is_empty(found)).then(|| "local".to_owned()));
    attributes.extend(found.dual.then(|| "dual".to_owned()));
    let recorded = flag_names(found.about.flags, &flags::ON_TYPES);
    attributes.extend(recorded.into_iter().filter(|name| name != "dual"));
    if !found.endpoints.is_empty() {
        let endpoints: Vec<String> = found.endpoints.iter().map(|one| format!("{one:?}")).collect();
        attributes.push(format!("endpoint({})", endpoints.join(", ")));
    }
    html.markup("<pre class=\"declaration\">").text(bracketed(&attributes).trim_end()).markup("\ninterface ");
    html.within("<b>", &found.name, "</b>");
    match found.base {
        Some(base) => {
            html.markup(" : ");
            context.name(html, Some((Kind::Interface, base.0)), &context.model.interfaces[base.0].name);
        }
        None if found.plain => {}
        None => _ = html.markup(" : IUnknown"),
    }
    html.markup("</pre>\n");
}

fn properties(html: &mut Html, context: Context<'_>, item: &Item, id: InterfaceId) {
    let (model, found) = (context.model, &context.model.interfaces[id.0]);
    html.markup("<table class=\"properties\"><tbody>\n");
    let is_forward = is_forward(context, found);
    html.property("Kind", |html| _ = html.markup(kind(found, is_forward)));
    if found.uuid != 0 {
        html.property(if found.plain { "UUID" } else { "IID" }, |html| _ = html.code(&uuid_text(found.uuid)));
    }
    if found.version != (0, 0) {
        html.property("Version", |html| _ = html.text(&format!("{}.{}", found.version.0, found.version.1)));
    }
    if !found.plain && !is_forward {
        html.property("Bases", |html| {
            html.markup("IUnknown");
            for base in model.lineage(id).into_iter().filter(|base| *base != id) {
                html.markup(" ← ");
                context.name(html, Some((Kind::Interface, base.0)), &model.interfaces[base.0].name);
            }
        });
    }
    for endpoint in &found.endpoints {
        html.property("Endpoint", |html| _ = html.code(endpoint));
    }
    if found.bare.is_none() {
        let number = fingerprint(model, id);
        html.property("Fingerprint", |html| _ = html.code(&format!("{number:032x}")));
    }
    // The table already has a row for the interface's version.
    about(html, &crate::model::About { version: (0, 0), ..found.about.clone() }, "UUID");
    source(html, context, item);
    html.markup("</tbody></table>\n");
}

fn kind(found: &Interface, is_forward: bool) -> &'static str {
    match (found.bare.is_some(), found.local, found.plain, found.dual) {
        (true, ..) if is_forward => "forward declaration",
        (true, ..) if !is_empty(found) => {
            "local interface of objects: calls stay within one process; the compiler generates nothing for it"
        }
        (true, ..) => "no methods and no UUID; the compiler generates nothing for it",
        (_, true, ..) => "local interface of objects: calls stay within one process",
        (_, _, true, _) => "functions of a server, which are called without an object",
        (_, _, _, true) => "dual interface of objects: callable through the vtable and by name",
        _ => "interface of objects",
    }
}

/// Adds the table of all methods, inherited ones first.
fn methods(html: &mut Html, context: Context<'_>, id: InterfaceId, anchors: &[String]) {
    let (model, found) = (context.model, &context.model.interfaces[id.0]);
    if found.methods.is_empty() && found.base.is_none() {
        return;
    }
    html.markup("<h2>Methods</h2>\n");
    let place = if found.plain { "Opnum" } else { "Vtable place and opnum" };
    html.table(&[place, "Method", "Description"]);
    if !found.plain {
        html.markup("<tr class=\"inherited\"><td class=\"number\">0–2</td><td colspan=\"2\">QueryInterface, AddRef, Release of IUnknown</td></tr>\n");
    }
    for base in model.lineage(id).into_iter().filter(|base| *base != id) {
        inherited(html, context, model, base);
    }
    for (method, anchor) in found.methods.iter().zip(anchors) {
        html.markup("<tr><td class=\"number\">").number(opnum(found, method)).markup("</td><td>");
        html.link(&format!("#{anchor}"), &method.name).markup("</td><td>");
        inline(html, &summary(&context.comment(method.span), method.member.help.text.as_deref()));
        html.markup("</td></tr>\n");
    }
    html.table_end();
}

/// Returns the number of a method in the table of methods.
fn opnum(of: &Interface, method: &Method) -> u16 {
    if of.plain { method.opnum.saturating_sub(FIRST) } else { method.opnum }
}

/// Adds a row for the methods of a base interface.
fn inherited(html: &mut Html, context: Context<'_>, model: &Model, base: InterfaceId) {
    let found = &model.interfaces[base.0];
    let (Some(first), Some(last)) = (found.methods.first(), found.methods.last()) else { return };
    html.markup("<tr class=\"inherited\"><td class=\"number\">").number(first.opnum);
    if last.opnum != first.opnum {
        html.markup("–").number(last.opnum);
    }
    html.markup("</td><td colspan=\"2\">");
    let href = context.items.href(context.compilation, (Kind::Interface, base.0));
    let anchors = method_anchors(found);
    for (at, (method, anchor)) in found.methods.iter().zip(&anchors).enumerate() {
        html.markup(if at > 0 { ", " } else { "" });
        match href {
            Some(href) => html.link(&format!("{href}#{anchor}"), &method.name),
            None => html.text(&method.name),
        };
    }
    html.markup(" of ");
    context.name(html, Some((Kind::Interface, base.0)), &found.name);
    html.markup("</td></tr>\n");
}
