//! Stubs: check the arguments, call the method, and write the results.

use super::arithmetic::range_check;
use super::expression::count;
use super::graph;
use super::method::{Method, Side, can_refer};
use super::proxy::{is_simple, put_array};
use super::values::{
    Target, block, flat, in_name, is_number, is_object, java, layout, load, load_elements, narrowed, pad, plus, store,
};
use crate::model::{Direction, Operand, Type};
use crate::plan::{ParamPlan, Passing};
use crate::text::writer::Writer;

const REPLY: Target<'_> = Target { memory: "call.replyMemory", at: "call.replyAt" };

/// Writes the stub of a method. With arrays by reference, `name` differs from the method's name.
pub(super) fn stub(out: &mut Writer, method: &Method<'_>, name: &str) {
    out.line(format!("private static void {name}({} object, InCall call) {{", method.interface));
    let has_graphs = graph::has(method, true);
    if has_graphs {
        graph::arguments(out, method);
    } else {
        request(out, method);
    }
    let given: Vec<&str> = method
        .plan
        .params
        .iter()
        .filter(|param| method.argument(param).is_some())
        .map(|param| method.given(param))
        .collect();
    let invoked = format!("object.{}({})", method.name, given.join(", "));
    match method.results().as_slice() {
        [] => out.line(format!("{invoked};")),
        [one] => out.line(format!("{} {} = {invoked};", one.ty, method.came(one.at))),
        _ => out.line(format!("{}.{} outcome = {invoked};", method.interface, method.record)),
    }
    if !method.plan.method.oneway {
        if graph::has(method, false) {
            graph::answer(out, method);
        } else {
            reply(out, method);
        }
    }
    if has_graphs {
        out.line("} finally {");
        out.line("arguments.close();");
        out.line("}");
    }
    out.line("}");
    out.line("");
}

fn request(out: &mut Writer, method: &Method<'_>) {
    let plan = method.plan;
    let ordered = plan.ordered(true);
    if is_simple(method, true) && plan.params.iter().all(|param| !is_filled(param)) {
        out.line(format!("call.expect({});", block(plan.request_block)));
        for param in &ordered {
            let (Passing::Value(ty) | Passing::RefPointer(ty)) = &param.passing else { continue };
            let place = plus("call.at", param.request.unwrap_or(0));
            let (class, name) = (java(method.context, ty), method.given(param));
            out.line(format!("{class} {name} = call.memory.get(Flat.{}, {place});", layout(ty)));
        }
        return;
    }
    out.line(format!("FrameReader arguments = new FrameReader(call, {});", block(plan.request_block)));
    for param in &ordered {
        let (Passing::Value(ty) | Passing::RefPointer(ty)) = &param.passing else { continue };
        let (name, stem, place) = (method.given(param), method.stem(param), param.request.unwrap_or(0).to_string());
        let text = load(out, method.context, ty, "arguments", &place, &format!("{stem}Value"));
        out.line(format!("{} {name} = {text};", java(method.context, ty)));
        if let (Some(range), Type::Base(base)) = (param.param.range, ty) {
            let operand = Operand { index: method.index(param), deref: false, base: *base };
            let number = || super::expression::widened(method, &operand, Side::BeforeCall);
            out.line(range_check("arguments", *base, name, number, range));
        }
    }
    for param in &ordered {
        fetch(out, method, param);
    }
    out.line("arguments.end();");
    for (at, param) in ordered.iter().enumerate() {
        if let Passing::Object(object) = &param.passing {
            let (name, class) = (method.given(param), method.argument(param).unwrap_or_default());
            let rest = ordered[at + 1..].iter().filter(|other| matches!(other.passing, Passing::Object(_)));
            let text = method.unmarshaled("call", param, object, rest.copied());
            out.line(format!("{class} {name} = {text};"));
        }
    }
    for param in plan.params.iter().filter(|param| is_filled(param)) {
        room(out, method, param);
    }
}

/// Whether the parameter is an array that the method fills.
fn is_filled(param: &ParamPlan<'_>) -> bool {
    matches!(param.passing, Passing::Array { .. }) && param.param.direction == Direction::Out
}

/// The largest size of a reference in a Java virtual machine, in bytes.
const REFERENCE: u32 = 8;

fn room(out: &mut Writer, method: &Method<'_>, param: &ParamPlan<'_>) {
    let Passing::Array { element, size, .. } = &param.passing else { return };
    let (name, class, bytes) =
        (method.given(param), java(method.context, element), method.context.model.layout(element).0);
    let size = count(method, size, Side::BeforeCall);
    if can_refer(param) {
        let room = format!("Frames.room(arguments.room(arguments.count({size}), {bytes}), {bytes})");
        return out.line(format!("MemorySegment {name} = {room};"));
    }
    // An array of objects takes a reference for each element.
    let bytes = if is_object(element) { bytes.max(REFERENCE) } else { bytes };
    out.line(format!("{class}[] {name} = new {class}[arguments.room(arguments.count({size}), {bytes})];"));
}

/// Writes the statements that read the data that follow the block.
fn fetch(out: &mut Writer, method: &Method<'_>, param: &ParamPlan<'_>) {
    let (name, stem, slot) = (method.given(param), method.stem(param), param.request.unwrap_or(0));
    match &param.passing {
        Passing::Array { element, size, .. } => {
            let (class, kind) = (java(method.context, element), method.kind(element));
            if can_refer(param) {
                let (size, bytes) = (count(method, size, Side::BeforeCall), method.element_size(param));
                let end = if param.param.direction.is_out() { "" } else { ".asReadOnly()" };
                let copy = format!("arguments.segment({slot}, {kind}, arguments.count({size}), {bytes}){end}");
                return out.line(format!("MemorySegment {name} = {copy};"));
            }
            out.line(format!("int {stem}Count = arguments.count({});", count(method, size, Side::BeforeCall)));
            if is_number(element) {
                let function = format!("{}s", in_name(element).to_ascii_lowercase());
                return out.line(format!("{class}[] {name} = arguments.{function}({slot}, {kind}, {stem}Count);"));
            }
            let bytes = method.context.model.layout(element).0;
            out.line(format!("int {stem}Body = arguments.find({slot}, {kind}, {stem}Count, {bytes});"));
            out.line(format!("{class}[] {name} = new {class}[{stem}Count];"));
            load_elements(out, method.context, element, "arguments", &format!("{stem}Body"), name);
        }
        Passing::Reference { element, size, is_written, .. } => {
            let (bytes, align) = method.context.model.layout(element);
            let count = count(method, size, Side::BeforeCall);
            let count = if count.starts_with('(') { format!("arguments.count({count})") } else { count };
            let found = format!("call.shared(arguments.getLong({slot}), {is_written}, {count}, {bytes}, {align})");
            out.line(format!("MemorySegment {name} = {found};"));
        }
        Passing::Optional(ty) => {
            let (class, kind) = (super::values::nullable(method.context, ty), method.kind(ty));
            let bytes = method.context.model.layout(ty).0;
            out.line(format!("int {stem}Body = arguments.optional({slot}, {kind}, {bytes});"));
            let text = load(out, method.context, ty, "arguments", &format!("{stem}Body"), "");
            out.line(format!("{class} {name} = {stem}Body < 0 ? null : {text};"));
        }
        Passing::Text { base, optional } => {
            let function = if base.size() == 2 { "wide" } else { "text" };
            let text = format!("arguments.{function}({slot})");
            let text = if *optional { text } else { format!("arguments.notNull({text})") };
            out.line(format!("String {name} = {text};"));
        }
        Passing::Object(_) => out.line(format!("byte[] {stem}Reference = arguments.reference({slot});")),
        _ => {}
    }
}

fn reply(out: &mut Writer, method: &Method<'_>) {
    let plan = method.plan;
    let ordered = plan.ordered(false);
    for (param, ..) in plan.references() {
        if let Some(used) = used(method, param) {
            out.line(format!("{used};"));
        }
    }
    if ordered.is_empty() {
        return;
    }
    // The checks come before references are marshaled, because nobody would release the references
    // in a refused reply.
    for param in ordered.iter().filter(|param| param.param.is_filled_text()) {
        let at = method.index(param);
        out.line(format!("Frames.checkEnded(Frames.isEnded({}), \"{}\");", method.given[at], method.shown[at]));
    }
    let mut length = block(plan.reply_block).to_string();
    let mut declared = "int length";
    for param in &ordered {
        if let Some(more) = measure(out, method, param, &length) {
            out.line(format!("{declared} = {more};"));
            "length".clone_into(&mut length);
            declared = "length";
        }
    }
    out.line(format!("call.reply({length});"));
    let mut end = 0;
    for param in &ordered {
        let at = param.reply.unwrap_or(0);
        pad(out, REPLY, end, at);
        end = at + 8;
        if let Passing::RefPointer(ty) = &param.passing {
            end = at + method.context.model.layout(ty).0;
            let value = method.result(method.index(param));
            let value = if param.counts { narrowed(ty, &value) } else { value };
            store(out, method.context, ty, &value, REPLY, at);
        }
    }
    pad(out, REPLY, end, block(plan.reply_block));
    if plan.reply_is_block() {
        return;
    }
    out.line(format!("FrameWriter results = new FrameWriter(call, {});", block(plan.reply_block)));
    for param in &ordered {
        place(out, method, param);
    }
}

/// Returns the expression for the used part of an array that may be passed by reference. `None`
/// unless the method gives the length of this part.
fn used(method: &Method<'_>, param: &ParamPlan<'_>) -> Option<String> {
    let (Passing::Array { length, .. } | Passing::Reference { length, .. }) = &param.passing else { return None };
    let said = count(method, length.as_ref()?, Side::AfterCall);
    Some(format!("Frames.used({said}, {}, {})", method.given(param), method.element_size(param)))
}

/// Writes the check of a result. Returns the reply's length with this result, if the result's data
/// follow the block.
fn measure(out: &mut Writer, method: &Method<'_>, param: &ParamPlan<'_>, length: &str) -> Option<String> {
    let at = method.index(param);
    let (name, stem, value) = (&method.given[at], method.stem(param), method.result(at));
    match &param.passing {
        Passing::RefPointer(ty) => {
            if let Type::Fixed(..) = ty {
                out.line(format!("Frames.checkLength({value}.length, {});", flat(ty).1));
            } else if is_object(ty) {
                out.line(format!("Objects.requireNonNull({value}, \"{name}\");"));
            }
            None
        }
        Passing::Array { .. } if can_refer(param) => match used(method, param) {
            Some(used) => {
                out.line(format!("MemorySegment {stem}Used = {used};"));
                Some(format!("Frames.plus({length}, {stem}Used)"))
            }
            None => Some(format!("Frames.plus({length}, {name})")),
        },
        Passing::Array { element, length: used, .. } => {
            let (mut count, size) = (format!("{name}.length"), method.context.model.layout(element).0);
            if let Some(used) = used {
                let said = super::expression::count(method, used, Side::AfterCall);
                out.line(format!("int {stem}Used = Frames.used({said}, {name}.length);"));
                count = format!("{stem}Used");
            }
            if is_object(element) {
                out.line(format!("{}[] {stem}Copy = Frames.copy({name}, {count});", java(method.context, element)));
            }
            Some(format!("Frames.plus({length}, {count}, {size})"))
        }
        Passing::OutText(base) if base.size() == 2 => {
            out.line(format!("char[] {stem}Characters = Frames.utf16({value});"));
            Some(format!("Frames.plus({length}, {stem}Characters)"))
        }
        Passing::OutText(_) => {
            out.line(format!("byte[] {stem}Bytes = Frames.utf8({value});"));
            Some(format!("Frames.plus({length}, {stem}Bytes)"))
        }
        Passing::OutArray { element, size } => {
            let bytes = method.context.model.layout(element).0;
            if size.plain().is_none_or(|operand| !method.plan.params[operand.index].counts) {
                let said = count(method, size, Side::AfterCall);
                out.line(format!("Frames.checkLength({value}.length, Frames.count({said}));"));
            }
            if is_object(element) {
                out.line(format!("{}[] {stem}Copy = Frames.copy({value});", java(method.context, element)));
            }
            Some(format!("Frames.plus({length}, {value}.length, {bytes})"))
        }
        Passing::OutObject(object) => {
            let wanted = method.wanted(object, Side::AfterCall);
            out.line(format!("byte[] {stem}Reference = Marshal.reference(call, {value}, {wanted});"));
            Some(format!("Frames.plus({length}, {stem}Reference)"))
        }
        _ => None,
    }
}

/// Writes the statements that put a result's data after the block.
fn place(out: &mut Writer, method: &Method<'_>, param: &ParamPlan<'_>) {
    let at = method.index(param);
    let (name, stem, value, slot) =
        (&method.given[at], method.stem(param), method.result(at), param.reply.unwrap_or(0));
    let writer = ("results", REPLY.memory);
    match &param.passing {
        Passing::Array { element, length, .. } if can_refer(param) => {
            let array = if length.is_some() { format!("{stem}Used") } else { name.clone() };
            let (kind, size) = (method.kind(element), method.element_size(param));
            out.line(format!("results.put({array}, {slot}, {kind}, {size});"));
        }
        Passing::Array { element, length, .. } => {
            let count = if length.is_some() { format!("{stem}Used") } else { format!("{name}.length") };
            let source = if is_object(element) { format!("{stem}Copy") } else { name.clone() };
            put_array(out, method, writer, (&source, stem), (slot, element), &count);
        }
        Passing::OutArray { element, .. } => {
            let source = if is_object(element) { format!("{stem}Copy") } else { value };
            put_array(out, method, writer, (&source, stem), (slot, element), &format!("{source}.length"));
        }
        Passing::OutText(base) if base.size() == 2 => out.line(format!("results.wide({slot}, {stem}Characters);")),
        Passing::OutText(_) => out.line(format!("results.text({slot}, {stem}Bytes);")),
        Passing::OutObject(_) => out.line(format!("results.reference({slot}, {stem}Reference);")),
        _ => {}
    }
}
