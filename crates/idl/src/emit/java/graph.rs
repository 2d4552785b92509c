//! Requests and replies with structures that contain pointers: the code of proxies and stubs for
//! them.

use super::arithmetic::{
    chosen, is_narrow, loaded, loaded_tag, tag_number, which as which_of, widened as widened_number,
};
use super::check::Check;
use super::expression::{count, widened};
use super::members::{self, NO_IID, Seen, is_optional, seen};
use super::method::{Method, Side, give};
use super::refusal::in_room;
use super::values::{Target, block, flat, in_name, is_number, java, load, narrowed, nullable, store};
use crate::model::{Arith, Base, Operand, Type};
use crate::plan::shapes::{Expr, expr};
use crate::plan::{ParamPlan, Passing, in_place};
use crate::text::writer::Writer;

/// Whether a request or a reply has structures with pointers.
pub(super) fn has(method: &Method<'_>, request: bool) -> bool {
    method.plan.ordered(request).iter().any(|param| matches!(param.passing, Passing::Graph))
}

/// Writes the statements that make the reader of a frame and check the frame.
fn open(out: &mut Writer, method: &Method<'_>, request: bool) -> &'static str {
    let (plan, context) = (method.plan, method.context);
    let (name, size) = if request { ("arguments", plan.request_block) } else { ("results", plan.reply_block) };
    out.line(format!("GraphReader {name} = GraphReader.of(call, {}, KINDS);", block(size)));
    out.line("try {");
    let (shape, outer) = plan.block(context.model, method.kinds, request, |_| true);
    let outer = |number: usize| {
        let base = match in_place(context.model, plan.params[outer[number]].param) {
            Type::Base(base) => *base,
            _ => Base::I32,
        };
        (widened(method, &Operand { index: outer[number], deref: false, base }, Side::BeforeCall), base)
    };
    Check { context, kinds: method.kinds, reader: name, outer: &outer }.shape(out, &shape, "", 0);
    out.line(format!("{name}.verify();"));
    // The check precedes `resolve`, so that references in a wrong reply are not unmarshaled.
    for at in optional_in_out(method).filter(|_| !request) {
        let place = plan.params[at].reply.unwrap_or(0);
        out.line(format!("{name}.checkPresent({place}, {} != null);", method.given[at]));
    }
    let types = plan.ordered(request).into_iter().map(|param| in_place(context.model, param.param));
    if members::has_objects(context.model, types) {
        out.line(format!("{name}.resolve({});", if request { "call" } else { "this" }));
    }
    name
}

/// Writes the statements that build a frame of the values that `value` returns.
fn write(out: &mut Writer, method: &Method<'_>, request: bool, name: &str, value: &dyn Fn(&ParamPlan<'_>) -> String) {
    let (plan, context) = (method.plan, method.context);
    let size = if request { plan.request_block } else { plan.reply_block };
    out.line(format!("GraphWriter {name} = GraphWriter.of(KINDS, {});", block(size)));
    for param in plan.ordered(request) {
        let at = if request { param.request } else { param.reply }.unwrap_or(0);
        let (value, place) = (value(param), at.to_string());
        match &param.passing {
            Passing::Value(ty) | Passing::RefPointer(ty) if matches!(ty, Type::Fixed(..) | Type::Struct(_)) => {
                let memory = format!("{name}.memory()");
                store(out, context, ty, &value, Target { memory: &memory, at: "" }, at);
            }
            Passing::Value(ty) | Passing::RefPointer(ty) => {
                members::write(out, context, ty, (name, &place), &value, NO_IID)
            }
            Passing::Array { element, .. } | Passing::OutArray { element, .. } => {
                let ty = members::graph_type(context, element);
                out.line(if is_number(element) {
                    format!("{name}.array({place}, {ty}, {}s.of({value}));", in_name(element))
                } else {
                    format!("{name}.list({place}, {ty}, List.of({value}));")
                });
            }
            Passing::Optional(ty) => {
                out.line(format!("{name}.one({place}, {}, {value});", members::graph_type(context, ty)));
            }
            Passing::Text { base, .. } | Passing::OutText(base) => {
                out.line(format!("{name}.text{}({place}, {value});", 8 * base.size()));
            }
            _ => {
                let iid = |operand: &Operand| method.given[operand.index].clone();
                members::write(out, context, in_place(context.model, param.param), (name, &place), &value, &iid);
            }
        }
    }
}

/// Writes the frame of a proxy's request.
pub(super) fn request(out: &mut Writer, method: &Method<'_>) {
    check_unions(out, method, true);
    write(out, method, true, "arguments", &|param| {
        let at = method.index(param);
        match (method.implied(at), &param.passing) {
            (Some(length), Passing::Value(ty) | Passing::RefPointer(ty)) => narrowed(ty, &length),
            _ => method.given[at].clone(),
        }
    });
}

/// Writes a stub's reply.
pub(super) fn answer(out: &mut Writer, method: &Method<'_>) {
    for param in method.plan.ordered(false).into_iter().filter(|param| is_needed(method, param)) {
        let at = method.index(param);
        out.line(format!("Objects.requireNonNull({}, \"{}\");", method.result(at), method.given[at]));
    }
    for at in optional_in_out(method) {
        let (given, result, shown) = (&method.given[at], method.result(at), &method.shown[at]);
        out.line(format!("Frames.checkPresent({given}, {result}, \"{shown}\");"));
    }
    check_lengths(out, method);
    check_unions(out, method, false);
    write(out, method, false, "results", &|param| {
        let value = method.result(method.index(param));
        match &param.passing {
            Passing::RefPointer(ty) if param.counts => narrowed(ty, &value),
            _ => value,
        }
    });
    out.line("call.reply(results);");
}

/// Returns the indices of the [in, out] parameters whose pointer may be null. Such a result is
/// `null` exactly if the argument is.
fn optional_in_out<'m>(method: &'m Method<'_>) -> impl Iterator<Item = usize> + 'm {
    (0..method.plan.params.len()).filter(|at| method.plan.params[*at].param.is_optional_in_out())
}

/// Writes checks that the lengths of result arrays match the counts.
fn check_lengths(out: &mut Writer, method: &Method<'_>) {
    let model = method.context.model;
    for param in method.plan.ordered(false) {
        let (at, ty) = (method.index(param), in_place(model, param.param));
        let (Passing::Graph, Ok(Seen::Array { size, length, .. })) = (&param.passing, seen(model, ty)) else {
            continue;
        };
        let is_counted = |operand: &Operand| method.plan.params[operand.index].counts;
        if !in_room(param) && size.plain().is_some_and(is_counted) {
            continue;
        }
        let size = count(method, size, if in_room(param) { Side::BeforeCall } else { Side::AfterCall });
        let length = length.map(|length| count(method, length, Side::AfterCall));
        members::check_lengths(out, (&method.result(at), is_optional(model, ty)), &size, length);
    }
}

/// Whether a parameter or a result must not be `null` although its Java type permits `null`.
pub(super) fn is_needed(method: &Method<'_>, param: &ParamPlan<'_>) -> bool {
    match &param.passing {
        Passing::Value(ty) | Passing::RefPointer(ty) => !param.counts && super::values::is_object(ty),
        Passing::Graph => !is_optional(method.context.model, in_place(method.context.model, param.param)),
        _ => false,
    }
}

/// Writes the check of a stub's request, and declares the arguments.
pub(super) fn arguments(out: &mut Writer, method: &Method<'_>) {
    let context = method.context;
    let reader = open(out, method, true);
    out.line("Frame frame = arguments.frame();");
    for param in method.plan.ordered(true) {
        let (name, place) = (method.given(param), param.request.unwrap_or(0).to_string());
        let ty = in_place(context.model, param.param);
        if let (Passing::Graph, Type::Pointer(pointer)) = (&param.passing, ty)
            && let Ok(Seen::One(to @ Type::Struct(_))) = seen(context.model, ty)
            && context.has_pointers(&pointer.to)
        {
            let class = java(context, to);
            let view = format!("new {class}.View(frame, frame.place({place}))");
            let view = if is_optional(context.model, ty) {
                format!("frame.place({place}) == 0 ? null : {view}")
            } else {
                view
            };
            out.line(format!("{class} {name} = {view};"));
            continue;
        }
        let Some((class, text)) = value(out, method, param, (reader, &place), true) else { continue };
        out.line(format!("{class} {name} = {text};"));
    }
}

/// Writes the statements that read a proxy's results and return them.
pub(super) fn results(out: &mut Writer, method: &Method<'_>) {
    let reader = open(out, method, false);
    out.line("results.build();");
    for param in method.plan.ordered(false) {
        let (at, place) = (method.index(param), param.reply.unwrap_or(0).to_string());
        if param.counts {
            continue;
        }
        let Some((class, text)) = value(out, method, param, (reader, &place), false) else { continue };
        out.line(format!("{class} {} = {text};", method.came(at)));
    }
    give(out, method, |at| method.came(at).to_owned());
    out.line("} finally {");
    out.line("call.end();");
    out.line("results.close();");
    out.line("}");
}

/// Returns the type and the value of a parameter in a checked frame. `None` for a parameter that is
/// not read.
fn value(
    out: &mut Writer,
    method: &Method<'_>,
    param: &ParamPlan<'_>,
    (reader, place): (&str, &str),
    viewed: bool,
) -> Option<(String, String)> {
    let (context, stem) = (method.context, method.stem(param));
    Some(match &param.passing {
        Passing::Value(ty) | Passing::RefPointer(ty) => {
            let text = if let Type::Fixed(..) = ty {
                load(out, context, ty, &format!("{reader}.frame().values()"), place, &format!("{stem}Value"))
            } else {
                members::built(context, ty, reader, place)
            };
            (java(context, ty), text)
        }
        Passing::Array { element, .. } | Passing::OutArray { element, .. } => {
            let class = java(context, flat(element).0);
            let text = if is_number(element) {
                format!("Frames.array({reader}.frame().{}s({place}))", in_name(element).to_ascii_lowercase())
            } else {
                let ty = members::graph_type(context, element);
                format!("{reader}.frame().list({place}, {ty}).toArray(new {class}[0])")
            };
            (format!("{class}[]"), text)
        }
        Passing::Optional(ty) => {
            let class = nullable(context, ty);
            let text = format!("({class}) {reader}.frame().one({place}, {})", members::graph_type(context, ty));
            (class, text)
        }
        Passing::Text { base, .. } | Passing::OutText(base) => {
            ("String".to_owned(), format!("{reader}.text{}({place})", 8 * base.size()))
        }
        Passing::Graph | Passing::Object(_) | Passing::OutObject(_) => {
            let ty = in_place(context.model, param.param);
            let text = if let (Ok(Seen::Union(id)), Some(switch)) = (seen(context.model, ty), &param.param.switch) {
                let which = which(method, (&context.model.unions[id.0].tag, switch), reader, viewed);
                members::union(context, ty, if viewed { "frame" } else { reader }, place, &which)
            } else if viewed {
                members::view(context, ty, place)
            } else {
                members::built(context, ty, reader, place)
            };
            (members::shown(context, ty), text)
        }
        _ => return None,
    })
}

/// Returns the expression for the discriminant of a parameter that is a union. The discriminant is
/// read from the frame if the frame contains it, and otherwise from the parameter that holds it.
fn which(method: &Method<'_>, (tag, switch): (&Type, &Arith), reader: &str, request: bool) -> String {
    let place = |index: usize| {
        let param = &method.plan.params[index];
        if request { param.request } else { param.reply }
    };
    if let (Some(operand), true) = (switch.plain(), is_narrow(tag, switch)) {
        let ty = in_place(method.context.model, method.plan.params[operand.index].param);
        return match place(operand.index) {
            Some(at) => loaded_tag(ty, reader, &at.to_string()),
            None => tag_number(ty, &method.operand(operand, Side::BeforeCall)),
        };
    }
    let known = expr(switch, &|operand| Expr::Member(operand.index as u32, operand.base));
    chosen(tag, &known, &|leaf| {
        let Expr::Member(index, base) = leaf else { return String::new() };
        let index = *index as usize;
        match place(index) {
            Some(at) => widened_number(*base, &loaded(reader, *base, &at.to_string())),
            None => widened(method, &Operand { index, deref: false, base: *base }, Side::BeforeCall),
        }
    })
}

/// Writes checks that the arms of unions match the discriminants in other parameters.
fn check_unions(out: &mut Writer, method: &Method<'_>, request: bool) {
    let model = method.context.model;
    for param in method.plan.ordered(request) {
        let ty = in_place(model, param.param);
        if let (Ok(Seen::Union(id)), Some(switch)) = (seen(model, ty), &param.param.switch) {
            let (value, side) = if request {
                (method.given(param).to_owned(), Side::BeforeCall)
            } else {
                (method.result(method.index(param)), Side::AfterCall)
            };
            let which = which_of(model, id, &value);
            out.line(format!("Frames.checkCase({which}, {});", count(method, switch, side)));
        }
    }
}
