//! Proxies: check the arguments, write them, make the call, and read the results.
//!
//! All steps that can fail precede the acquisition of a channel, so that no channel is lost.
//! Results are read while the channel is held. Received references are unmarshaled only after the
//! channel has been released, because unmarshaling may need calls.

use super::arithmetic::range_check;
use super::expression::{count, widened};
use super::graph;
use super::members::{self, is_optional};
use super::method::{Method, Side, can_refer, give};
use super::refusal::in_room;
use super::values::{
    self, Target, block, flat, in_name, is_number, is_object, java, layout, load, load_first, narrowed, pad, plus,
    store,
};
use crate::model::{Base, Transfer, Type};
use crate::plan::{ParamPlan, Passing, in_place};
use crate::text::writer::Writer;

const CALL: Target<'_> = Target { memory: "call.memory", at: "call.at" };

/// Writes the proxy of a method. `by_reference` is the same method with the plan that passes its
/// arrays by reference.
pub(super) fn proxy(out: &mut Writer, method: &Method<'_>, by_reference: Option<&Method<'_>>) {
    out.line("@Override");
    out.line(format!("public {} {{", method.declaration(&method.given)));
    checks(out, method);
    if let Some(by_reference) = by_reference {
        refer(out, by_reference);
    }
    let length = if graph::has(method, true) {
        graph::request(out, method);
        open(out, "arguments");
        "call.length".to_owned()
    } else {
        let length = measure(out, method);
        request(out, method, &length);
        length
    };
    let (plan, opnum) = (method.plan, method.plan.opnum);
    if plan.method.oneway {
        out.line(format!("oneway(call, {opnum}, {length});"));
    } else {
        out.line(format!("call(call, {opnum}, {length});"));
        reply(out, method);
    }
    close(out);
    out.line("}");
    out.line("");
}

/// Writes the acquisition of a channel. The code that is written from here up to [`close`] can
/// access the channel's memory.
fn open(out: &mut Writer, room: &str) {
    out.line(format!("Channel call = begin({room});"));
    out.line("try {");
}

/// Writes the handler for failed accesses to the channel's memory. The handler throws the channel's
/// error instead of the exception of the access.
fn close(out: &mut Writer) {
    out.line("} catch (InternalError | IllegalStateException e) {");
    out.line("throw call.failed(e);");
    out.line("}");
}

/// Writes the call with arrays by reference. The call is made only if all arrays are in memory that
/// the peer accepts.
fn refer(out: &mut Writer, method: &Method<'_>) {
    let plan = method.plan;
    let shared = |(param, _, is_written)| format!("isShared({}, {is_written})", method.given(param));
    let all: Vec<String> = plan.references().map(shared).collect();
    out.line(format!("if ({}) {{", all.join(" && ")));
    let length = measure(out, method);
    open(out, &length);
    let mut known = Vec::new();
    for (param, _, is_written) in plan.references() {
        let (name, stem) = (method.given(param), method.stem(param));
        out.line(format!("long {stem}Reference = call.refer({name}, {is_written}, {length});"));
        known.push(format!("{stem}Reference != 0"));
    }
    out.line(format!("if ({}) {{", known.join(" && ")));
    frame(out, method);
    out.line(format!("call(call, {}, {length});", plan.opnum));
    reply(out, method);
    if method.results().is_empty() {
        out.line("return;");
    }
    out.line("}");
    out.line("call.end();");
    close(out);
    out.line("}");
    if plan.params.iter().any(|param| param.param.transfer == Transfer::Map) {
        out.line("checkCopied();");
    }
}

/// Writes the checks of the arguments' limits, which the server would check, too.
fn checks(out: &mut Writer, method: &Method<'_>) {
    for (at, param) in method.plan.params.iter().enumerate() {
        let (name, stem) = (&method.given[at], method.stem(param));
        let value = match &param.passing {
            Passing::Value(ty) | Passing::RefPointer(ty) if param.param.direction.is_in() && !param.counts => {
                match ty {
                    Type::Fixed(..) => {
                        out.line(format!("Frames.checkLength({name}.length, {});", flat(ty).1));
                        if is_object(flat(ty).0) {
                            out.line(format!(
                                "{0}[] {stem}Copy = Frames.copy({name});",
                                java(method.context, flat(ty).0)
                            ));
                        }
                    }
                    ty if is_object(ty) => out.line(format!("Objects.requireNonNull({name}, \"{name}\");")),
                    _ => {}
                }
                operand(method, at, ty)
            }
            Passing::Value(Type::Base(base)) if param.counts => {
                counted(out, method, at, *base);
                operand(method, at, &Type::Base(*base))
            }
            Passing::Array { size, .. } => {
                if can_refer(param) {
                    let is_written = param.param.direction.is_out();
                    out.line(format!("Frames.check({name}, {is_written}, {});", method.element_size(param)));
                } else if !param.param.direction.is_in() {
                    out.line(format!("Objects.requireNonNull({name}, \"{name}\");"));
                }
                if size.plain().is_none_or(|operand| method.implied(operand.index).is_none()) {
                    let meant = count(method, size, Side::BeforeCall);
                    let length = method.length(at, name);
                    out.line(format!("Frames.checkLength({length}, Frames.count({meant}));"));
                }
                continue;
            }
            Passing::Text { optional: false, .. } => {
                out.line(format!("Objects.requireNonNull({name}, \"{name}\");"));
                continue;
            }
            Passing::Graph if param.param.direction.is_in() => {
                if graph::is_needed(method, param) {
                    out.line(format!("Objects.requireNonNull({name}, \"{name}\");"));
                }
                if let Some((size, length)) = method.graph_counts(param)
                    && (length.is_some() || size.plain().is_none_or(|operand| method.implied(operand.index).is_none()))
                {
                    let length = length.map(|length| count(method, length, Side::BeforeCall));
                    let optional = is_optional(method.context.model, in_place(method.context.model, param.param));
                    members::check_lengths(out, (name, optional), &count(method, size, Side::BeforeCall), length);
                }
                continue;
            }
            Passing::Graph if in_room(param) => {
                if let Some((size, _)) = method.graph_counts(param) {
                    out.line(format!("Frames.count({});", count(method, size, Side::BeforeCall)));
                }
                continue;
            }
            _ => continue,
        };
        if let (Some(range), true) = (param.param.range, param.param.direction.is_in()) {
            let plain = if param.counts { &value } else { name };
            out.line(range_check("Frames", base_of(param), plain, || value.clone(), range));
        }
    }
}

fn base_of(param: &ParamPlan<'_>) -> Base {
    match &param.passing {
        Passing::Value(Type::Base(base)) | Passing::RefPointer(Type::Base(base)) => *base,
        _ => Base::I32,
    }
}

/// Returns the expression for a parameter as a number.
fn operand(method: &Method<'_>, at: usize, ty: &Type) -> String {
    let Type::Base(base) = ty else { return method.given[at].clone() };
    widened(method, &crate::model::Operand { index: at, deref: false, base: *base }, Side::BeforeCall)
}

/// Writes checks that arrays have the same length, and that the count's type can represent this
/// length. Missing arrays match any length.
fn counted(out: &mut Writer, method: &Method<'_>, at: usize, base: Base) {
    let arrays = method.arrays_counted_by(at);
    let (Some((first, others)), Some(length)) = (arrays.split_first(), method.implied(at)) else { return };
    let can_refer = arrays.iter().any(|array| can_refer(&method.plan.params[*array]));
    let longest = if can_refer { i128::from(i64::MAX) } else { i128::from(i32::MAX) };
    let most = base.range().map_or(longest, |(_, most)| most.min(longest));
    if !others.is_empty() && method.may_be_missing(*first) {
        return out.line(format!("Frames.checkLengths({most}, {});", method.listed(&arrays)));
    }
    for other in others {
        let name = &method.given[*other];
        let check = format!("Frames.checkLength({}, {length});", method.length(*other, name));
        if method.may_be_missing(*other) {
            out.line(format!("if ({name} != null) {{"));
            out.line(check);
            out.line("}");
        } else {
            out.line(check);
        }
    }
    if most < longest {
        let long = if can_refer { "L" } else { "" };
        out.line(format!("Frames.checkRange({length}, 0, {most}{long});"));
    }
}

/// Returns the expression from which a parameter is written.
fn source(method: &Method<'_>, param: &ParamPlan<'_>) -> String {
    let name = method.given(param);
    let copied = match &param.passing {
        Passing::Array { element, .. } => is_object(element) && !can_refer(param),
        Passing::Value(ty) | Passing::RefPointer(ty) => matches!(ty, Type::Fixed(..)) && is_object(flat(ty).0),
        _ => false,
    };
    if copied { format!("{}Copy", method.stem(param)) } else { name.to_owned() }
}

/// Writes the computation of the request's length. Object references are marshaled last: if a step
/// after the marshaling fails before `begin`, the marshaled references are not released. The only
/// such step is the addition of the references' lengths, which fails if the frame would be longer
/// than 2 GiB.
fn measure(out: &mut Writer, method: &Method<'_>) -> String {
    let mut length = block(method.plan.request_block).to_string();
    let mut declared = "int length";
    let mut outside: Vec<_> = method.plan.ordered(true).into_iter().filter(|param| !param.passing.in_block()).collect();
    outside.sort_by_key(|param| matches!(param.passing, Passing::Object(_)));
    for param in outside {
        let (name, stem) = (method.given(param), method.stem(param));
        let more = match &param.passing {
            Passing::Array { .. } if can_refer(param) => format!("Frames.plus({length}, {name})"),
            Passing::Array { element, .. } => {
                if is_object(element) {
                    out.line(format!("{}[] {stem}Copy = Frames.copy({name});", java(method.context, element)));
                }
                format!("Frames.plus({length}, {name}.length, {})", method.context.model.layout(element).0)
            }
            Passing::Optional(ty) => {
                let size = method.context.model.layout(ty).0;
                format!("{name} == null ? {length} : Frames.plus({length}, 1, {size})")
            }
            Passing::Text { base, .. } if base.size() == 2 => {
                out.line(format!("char[] {stem}Characters = Frames.utf16({name});"));
                format!("Frames.plus({length}, {stem}Characters)")
            }
            Passing::Text { .. } => {
                out.line(format!("byte[] {stem}Bytes = Frames.utf8({name});"));
                format!("Frames.plus({length}, {stem}Bytes)")
            }
            Passing::Object(object) => {
                let wanted = method.wanted(object, Side::BeforeCall);
                out.line(format!("byte[] {stem}Reference = Marshal.reference(this, {name}, {wanted});"));
                format!("Frames.plus({length}, {stem}Reference)")
            }
            _ => continue,
        };
        out.line(format!("{declared} = {more};"));
        "length".clone_into(&mut length);
        declared = "length";
    }
    length
}

fn request(out: &mut Writer, method: &Method<'_>, length: &str) {
    open(out, length);
    frame(out, method);
}

/// Writes the request's frame.
fn frame(out: &mut Writer, method: &Method<'_>) {
    let plan = method.plan;
    let mut end = 0;
    let ordered = plan.ordered(true);
    for param in &ordered {
        let at = param.request.unwrap_or(0);
        pad(out, CALL, end, at);
        end = at + 8;
        if let Passing::Value(ty) | Passing::RefPointer(ty) = &param.passing {
            end = at + method.context.model.layout(ty).0;
            let value = match method.implied(method.index(param)) {
                Some(length) => narrowed(ty, &length),
                None => source(method, param),
            };
            store(out, method.context, ty, &value, CALL, at);
        }
        if let Passing::Reference { .. } = &param.passing {
            out.line(format!("call.memory.set(Flat.LONG, {}, {}Reference);", plus(CALL.at, at), method.stem(param)));
        }
    }
    pad(out, CALL, end, block(plan.request_block));
    if plan.request_is_block() {
        return;
    }
    out.line(format!("FrameWriter arguments = new FrameWriter(call, {});", block(plan.request_block)));
    for param in ordered.iter().filter(|param| !param.passing.in_block()) {
        place(out, method, param);
    }
}

/// Writes the statements that put a parameter's data after the block.
fn place(out: &mut Writer, method: &Method<'_>, param: &ParamPlan<'_>) {
    let (name, stem, at) = (method.given(param), method.stem(param), param.request.unwrap_or(0));
    match &param.passing {
        Passing::Array { element, .. } if can_refer(param) => {
            let (kind, size) = (method.kind(element), method.element_size(param));
            out.line(format!("arguments.put({name}, {at}, {kind}, {size});"));
        }
        Passing::Array { element, .. } => {
            put_array(
                out,
                method,
                ("arguments", CALL.memory),
                (&source(method, param), stem),
                (at, element),
                &format!("{name}.length"),
            );
        }
        Passing::Optional(ty) => {
            let size = method.context.model.layout(ty).0;
            out.line(format!("if ({name} == null) {{"));
            out.line(format!("arguments.none({at});"));
            out.line("} else {");
            let body = format!("arguments.object({at}, {}, 1, {size})", method.kind(ty));
            store(out, method.context, ty, name, Target { at: &body, ..CALL }, 0);
            out.line("}");
        }
        Passing::Text { base, .. } if base.size() == 2 => out.line(format!("arguments.wide({at}, {stem}Characters);")),
        Passing::Text { .. } => out.line(format!("arguments.text({at}, {stem}Bytes);")),
        _ => out.line(format!("arguments.reference({at}, {stem}Reference);")),
    }
}

/// Writes the statements that put the first elements of an array after the block.
pub(super) fn put_array(
    out: &mut Writer,
    method: &Method<'_>,
    (writer, memory): (&str, &str),
    (source, stem): (&str, &str),
    (slot, element): (u32, &Type),
    count: &str,
) {
    let kind = method.kind(element);
    if is_number(element) {
        return out.line(format!("{writer}.put({source}, {slot}, {kind}, {count});"));
    }
    let size = method.context.model.layout(element).0;
    out.line(format!("long {stem}At = {writer}.object({slot}, {kind}, {count}, {size});"));
    values::store_elements(out, method.context, element, source, count, Target { memory, at: &format!("{stem}At") });
}

/// Whether a block contains only numbers without a [range], so that the block is read in place.
pub(super) fn is_simple(method: &Method<'_>, request: bool) -> bool {
    let plain = |param: &&ParamPlan<'_>| match &param.passing {
        Passing::Value(ty) | Passing::RefPointer(ty) => is_number(ty) && param.param.range.is_none(),
        _ => false,
    };
    method.plan.ordered(request).iter().all(plain)
}

fn reply(out: &mut Writer, method: &Method<'_>) {
    let plan = method.plan;
    if graph::has(method, false) {
        return graph::results(out, method);
    }
    let results = method.results();
    let says_used = |param: &ParamPlan<'_>| matches!(&param.passing, Passing::Reference { length: Some(_), .. });
    if is_simple(method, false) && !plan.params.iter().any(says_used) {
        out.line(format!("call.expect({});", block(plan.reply_block)));
        for param in plan.ordered(false) {
            let Passing::RefPointer(ty) = &param.passing else { continue };
            let (name, place) = (method.came(method.index(param)), plus("call.replyAt", param.reply.unwrap_or(0)));
            out.line(format!(
                "{} {name} = call.replyMemory.get(Flat.{}, {place});",
                java(method.context, ty),
                layout(ty)
            ));
        }
        out.line("call.end();");
        return give(out, method, |at| given(method, at));
    }
    let has_objects = results.iter().any(|one| is_reference(&plan.params[one.at]));
    if has_objects {
        for one in &results {
            if is_reference(&plan.params[one.at]) {
                out.line(format!("byte[] {}Reference;", method.stem(&plan.params[one.at])));
            } else {
                out.line(format!("{} {};", one.ty, method.came(one.at)));
            }
        }
    }
    out.line("try {");
    out.line(format!("FrameReader results = new FrameReader(call, {});", block(plan.reply_block)));
    for param in plan.ordered(false) {
        fetch_value(out, method, param, has_objects);
    }
    for param in plan.ordered(false) {
        fetch(out, method, param, has_objects);
    }
    for (param, ..) in plan.references() {
        if let Some(used) = used(method, param) {
            out.line(format!("{used};"));
        }
    }
    out.line("results.end();");
    if !has_objects {
        give(out, method, |at| given(method, at));
    }
    out.line("} finally {");
    out.line("call.end();");
    out.line("}");
    if has_objects {
        give(out, method, |at| given(method, at));
    }
}

fn is_reference(param: &ParamPlan<'_>) -> bool {
    matches!(param.passing, Passing::OutObject(_))
}

/// Writes the statement that reads a value in the block.
fn fetch_value(out: &mut Writer, method: &Method<'_>, param: &ParamPlan<'_>, declared: bool) {
    let Passing::RefPointer(ty) = &param.passing else { return };
    let at = method.index(param);
    let (name, stem) = (method.came(at), method.stem(param));
    let text = load(out, method.context, ty, "results", &param.reply.unwrap_or(0).to_string(), &format!("{stem}Value"));
    let class = if declared && !param.counts { String::new() } else { format!("{} ", java(method.context, ty)) };
    out.line(format!("{class}{name} = {text};"));
    if let (Some(range), Type::Base(base)) = (param.param.range, ty) {
        let operand = crate::model::Operand { index: at, deref: false, base: *base };
        out.line(range_check("results", *base, name, || widened(method, &operand, Side::AfterCall), range));
    }
}

/// Returns the expression for the used part of an array that may be passed by reference. `None`
/// unless the results give the length of this part.
fn used(method: &Method<'_>, param: &ParamPlan<'_>) -> Option<String> {
    let (Passing::Array { length, .. } | Passing::Reference { length, .. }) = &param.passing else { return None };
    let said = count(method, length.as_ref()?, Side::AfterCall);
    Some(format!("results.used({said}, {}, {})", method.given(param), method.element_size(param)))
}

/// Writes the statements that read the data that follow the block.
fn fetch(out: &mut Writer, method: &Method<'_>, param: &ParamPlan<'_>, declared: bool) {
    let at = method.index(param);
    let (name, stem, slot) = (method.came(at), method.stem(param), param.reply.unwrap_or(0));
    let class = |ty: &str| if declared { String::new() } else { format!("{ty} ") };
    match &param.passing {
        Passing::Array { element, .. } if can_refer(param) => {
            let array = used(method, param).unwrap_or_else(|| method.given[at].clone());
            let (kind, size) = (method.kind(element), method.element_size(param));
            out.line(format!("results.into({array}, {slot}, {kind}, {size});"));
        }
        Passing::Array { element, length, .. } => {
            let name = &method.given[at];
            let used = length.as_ref().map(|length| count(method, length, Side::AfterCall));
            let count = match used {
                Some(used) => {
                    out.line(format!("int {stem}Used = results.used({used}, {name}.length);"));
                    format!("{stem}Used")
                }
                None => format!("{name}.length"),
            };
            let kind = method.kind(element);
            if is_number(element) {
                out.line(format!("results.into({name}, {slot}, {kind}, {count});"));
                if param.param.is_filled_text() {
                    out.line(format!("results.checkEnded(Frames.isEnded({name}));"));
                }
                return;
            }
            let size = method.context.model.layout(element).0;
            out.line(format!("int {stem}Body = results.find({slot}, {kind}, {count}, {size});"));
            load_first(out, method.context, element, ("results", &format!("{stem}Body")), name, &count);
        }
        Passing::OutText(base) => {
            let function = if base.size() == 2 { "wide" } else { "text" };
            out.line(format!("{}{name} = results.{function}({slot});", class("String")));
        }
        Passing::OutArray { element, size } => {
            let count = count(method, size, Side::AfterCall);
            let java = java(method.context, element);
            let class = class(&format!("{java}[]"));
            out.line(format!("int {stem}Count = results.count({count});"));
            let (kind, bytes) = (method.kind(element), method.context.model.layout(element).0);
            out.line(format!("int {stem}Body = results.allocated({slot}, {kind}, {bytes}, {stem}Count);"));
            if is_number(element) {
                out.line(format!("{class}{name} = results.copy{}s({stem}Body, {stem}Count);", in_name(element)));
            } else {
                out.line(format!("{class}{name} = new {java}[{stem}Count];"));
                let place = format!("{stem}Body");
                load_first(out, method.context, element, ("results", &place), name, &format!("{stem}Count"));
            }
        }
        Passing::OutObject(_) => {
            out.line(format!("{}{stem}Reference = results.reference({slot});", class("byte[]")));
        }
        _ => {}
    }
}

/// Returns the expression for a result after the results have been read.
fn given(method: &Method<'_>, at: usize) -> String {
    let (param, rest) = (&method.plan.params[at], &method.plan.params[at + 1..]);
    match &param.passing {
        Passing::OutObject(object) => {
            let rest = rest.iter().filter(|other| matches!(other.passing, Passing::OutObject(_)));
            method.unmarshaled("this", param, object, rest)
        }
        _ => method.came(at).to_owned(),
    }
}
