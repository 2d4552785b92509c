//! The sections of methods.

use super::code::Context;
use super::html::Html;
use super::notes;
use super::page::{as_cell, cell, describe_with};
use super::prose::Prose;
use crate::model::{Direction, Kind, Member, Method, Param, Returns};

/// Adds the section of a method, without its heading.
pub(super) fn section(html: &mut Html, context: Context<'_>, method: &Method) {
    signature(html, context, method);
    let comment = context.comment(method.span);
    let prose = Prose::of(&comment);
    describe_with(html, &prose, &comment, method.member.help.text.as_deref(), arguments(method));
    kinds(html, method);
    params(html, context, arguments(method), &prose);
    if let Some(other) = &method.travels_as {
        html.markup("<p>This method, which obvia does not call yet, is for calls from other processes:</p>\n");
        signature(html, context, other);
        params(html, context, arguments(other), &Prose::of(&context.comment(other.span)));
    }
}

/// Returns the parameters of a method without the parameter that holds the method's result.
fn arguments(method: &Method) -> &[Param] {
    match (method.returns, method.params.split_last()) {
        (Returns::Value, Some((_, others))) => others,
        _ => &method.params,
    }
}

fn signature(html: &mut Html, context: Context<'_>, method: &Method) {
    html.markup("<pre class=\"declaration\">");
    context.method(html, method);
    html.markup("</pre>\n");
}

/// Adds a list of the properties of a method's calls, such as `oneway`.
fn kinds(html: &mut Html, method: &Method) {
    let mut kinds = Vec::new();
    let mut add = |is_there: bool, text: &'static str| kinds.extend(is_there.then_some(text));
    add(method.local, "is called within one process only");
    add(method.oneway, "oneway: the caller does not wait for the call's completion");
    add(method.idempotent, "idempotent: a repeated call does no harm");
    add(method.returns == Returns::Nothing && !method.local, "returns nothing; the call itself may fail");
    if !kinds.is_empty() {
        html.markup("<ul>");
        for kind in kinds {
            html.within("<li>", kind, "</li>");
        }
        html.markup("</ul>\n");
    }
    if method.member.id.is_some() {
        let access = match method.member.kind {
            Kind::Method => "method ",
            Kind::Get => "reads the property ",
            Kind::Put => "sets the property ",
            Kind::PutRef => "sets the property to an object: ",
        };
        by_name(html, &method.member, access);
    }
}

/// Adds the way in which callers by name use a member.
pub(super) fn by_name(html: &mut Html, member: &Member, access: &'static str) {
    html.markup("<p>By name: ").markup(access);
    html.code(&member.name);
    if let Some(id) = member.id {
        html.markup(", DISPID ").number(id);
    }
    html.markup(if member.restricted { ", hidden from callers by name" } else { "" }).markup("</p>\n");
}

/// Adds the table of a method's parameters.
pub(super) fn params(html: &mut Html, context: Context<'_>, params: &[Param], prose: &Prose<'_>) {
    if params.is_empty() {
        return;
    }
    let names: Vec<&str> = params.iter().map(|param| param.name.as_str()).collect();
    let comments = &context.items.comments[context.compilation];
    html.table(&["Parameter", "Direction", "Type", "Description"]);
    for param in params {
        html.markup("<tr><td>").code(&param.name).markup("</td><td>").markup(match param.direction {
            Direction::In => "in",
            Direction::Out => "out",
            Direction::InOut => "in, out",
        });
        html.markup("</td><td><code>");
        context.param(html, param, "");
        html.markup("</code></td>");
        let mut described = prose.param(&param.name);
        if described.is_empty() {
            described = as_cell(&comments.inside(param.span));
        }
        cell(html, &described, &notes::of_param(param, &names));
        html.markup("</tr>\n");
    }
    html.table_end();
}
