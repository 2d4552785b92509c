//! The pages of libraries, classes and dispinterfaces.

use super::code::{Context, bracketed, flag_names};
use super::html::Html;
use super::items::{Item, Kind, place_of_declared, place_of_offered};
use super::method::{by_name, params};
use super::names::member_anchors;
use super::page::{about, begin_item, describe, describe_with, end, source};
use super::prose::Prose;
use super::uses::Uses;
use crate::model::typelib::flags;
use crate::model::{About, DispMember, DispMembers};

/// Returns the page of a library.
pub(super) fn library(context: Context<'_>, item: &Item, uses: &Uses) -> String {
    let found = &context.model.libraries[item.place.1];
    let mut html = Html::default();
    begin_item(&mut html, context, item);
    describe(&mut html, &item.comment, found.about.help.text.as_deref());
    html.markup("<table class=\"properties\"><tbody>\n");
    about(&mut html, &found.about, "UUID");
    let attributes = flag_names(found.about.flags, &flags::ON_LIBRARIES);
    if !attributes.is_empty() {
        html.property("Attributes", |html| _ = html.text(&attributes.join(", ")));
    }
    if found.lcid != 0 {
        html.property("Locale", |html| _ = html.text(&format!("{:#06x}", found.lcid)));
    }
    if let Some(file) = &found.help_file {
        html.property("Help file", |html| _ = html.text(file));
    }
    for import in &found.imports {
        html.property("Imports", |html| _ = html.text(&import.file));
    }
    source(&mut html, context, item);
    html.markup("</tbody></table>\n<h2>Declarations</h2>\n<ul>\n");
    for declared in &found.declared {
        let (word, name) = context.model.declared_name(*declared);
        html.markup("<li>").markup(word).markup(" ");
        context.name(&mut html, Some(place_of_declared(*declared)), name);
        html.markup("</li>\n");
    }
    html.markup("</ul>\n");
    uses.write(&mut html, context, item);
    end(&mut html);
    html.finish()
}

/// Returns the page of a class.
pub(super) fn coclass(context: Context<'_>, item: &Item, uses: &Uses) -> String {
    let found = &context.model.coclasses[item.place.1];
    let mut html = Html::default();
    begin_item(&mut html, context, item);
    let mut attributes = flag_names(found.about.flags, &flags::ON_TYPES);
    attributes.extend((found.about.flags & flags::CAN_CREATE == 0).then(|| "noncreatable".to_owned()));
    html.markup("<pre class=\"declaration\">").text(&bracketed(&attributes)).markup("coclass <b>");
    html.text(&found.name).markup("</b> {\n");
    for (offered, of) in &found.interfaces {
        let (word, name) = context.model.offered_name(*offered);
        html.markup("    ").text(&bracketed(&flag_names(*of, &flags::ON_INTERFACES))).markup(word).markup(" ");
        context.name(&mut html, place_of_offered(*offered), name);
        html.markup(";\n");
    }
    html.markup("};</pre>\n");
    describe(&mut html, &item.comment, found.about.help.text.as_deref());
    properties(&mut html, context, item, &found.about, "CLSID");
    uses.write(&mut html, context, item);
    end(&mut html);
    html.finish()
}

fn properties(html: &mut Html, context: Context<'_>, item: &Item, of: &About, uuid: &'static str) {
    html.markup("<table class=\"properties\"><tbody>\n");
    about(html, of, uuid);
    source(html, context, item);
    html.markup("</tbody></table>\n");
}

/// Returns the page of a dispinterface.
pub(super) fn dispinterface(context: Context<'_>, item: &Item, uses: &Uses) -> String {
    let found = &context.model.dispinterfaces[item.place.1];
    let mut html = Html::default();
    begin_item(&mut html, context, item);
    html.markup("<pre class=\"declaration\">").text(&bracketed(&flag_names(found.about.flags, &flags::ON_TYPES)));
    html.markup("dispinterface <b>").text(&found.name).markup("</b></pre>\n");
    describe(&mut html, &item.comment, found.about.help.text.as_deref());
    properties(&mut html, context, item, &found.about, "IID");
    match &found.members {
        None => _ = html.markup("<p>This dispinterface is only declared; its members are unknown.</p>\n"),
        Some(DispMembers::Of(id)) => {
            html.markup("<p>Its members are those of ");
            let name = &context.model.interfaces[id.0].name;
            context.name(&mut html, Some((Kind::Interface, id.0)), name);
            html.markup(".</p>\n");
        }
        Some(DispMembers::Own(properties, methods)) => {
            for (heading, list, is_property) in
                [("<h2>Properties</h2>\n", properties, true), ("<h2>Methods</h2>\n", methods, false)]
            {
                html.markup(if list.is_empty() { "" } else { heading });
                for (one, anchor) in list.iter().zip(member_anchors(list, is_property)) {
                    member(&mut html, context, one, &anchor, is_property);
                }
            }
        }
    }
    uses.write(&mut html, context, item);
    end(&mut html);
    html.finish()
}

/// Adds the section of a dispinterface's member.
fn member(html: &mut Html, context: Context<'_>, of: &DispMember, anchor: &str, is_property: bool) {
    html.anchored("<section", anchor);
    html.markup("<h3>").link(&format!("#{anchor}"), &of.member.name).markup("</h3>\n<pre class=\"declaration\">");
    let table = if is_property { flags::ON_VARIABLES } else { flags::ON_FUNCTIONS };
    let mut attributes: Vec<String> = of.member.id.iter().map(|id| format!("id({id})")).collect();
    attributes.extend(flag_names(of.member.flags, &table));
    html.text(&bracketed(&attributes));
    match &of.returns {
        Some(returns) => context.param(html, returns, ""),
        None => _ = html.markup("void"),
    }
    html.markup(" ").within("<b>", &of.member.name, "</b>");
    if !is_property {
        html.markup("(");
        for (at, param) in of.params.iter().enumerate() {
            html.markup(if at > 0 { ", " } else { "" });
            context.param(html, param, &param.name);
        }
        html.markup(")");
    }
    html.markup("</pre>\n");
    let comment = context.comment(of.span);
    let prose = Prose::of(&comment);
    describe_with(html, &prose, &comment, of.member.help.text.as_deref(), &of.params);
    by_name(html, &of.member, if is_property { "property " } else { "method " });
    params(html, context, &of.params, &prose);
    html.markup("</section>\n");
}
