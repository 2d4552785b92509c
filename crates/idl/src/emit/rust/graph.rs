//! Methods that pass structures with pointers: their parameters form a structure, which tables
//! describe.

use super::automation;
use super::context::Context;
use super::expression::{Side, operand_text, size_text};
use super::form;
use super::names::{binding, value};
use super::proxy::{self, layout_table};
use super::stub;
use super::tables;
use crate::model::{Base, Direction, Memory, Model, Param, Type};
use crate::plan::shapes::Shapes;
use crate::plan::{MethodPlan, ParamPlan, Passing, element_counts, in_place, is_plain};
use crate::text::writer::Writer;

/// Writes the table of an interface's types.
pub(super) fn types(out: &mut Writer, context: &Context<'_>) {
    let shapes = Shapes { model: context.model, kinds: &context.kinds };
    tables::types(out, &types_name(context), &shapes.element_types());
    out.line("");
}

fn types_name(context: &Context<'_>) -> String {
    format!("{}_TYPES", context.name)
}

/// Writes a method's proxy, its stub, and the tables of its blocks.
pub(super) fn method(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    layout_table(out, context, plan);
    block(out, context, plan, "REQUEST", |_| true);
    let outer = block(out, context, plan, "REPLY", |_| true);
    if changes(context.model, plan) {
        // Tables of the arguments that the method must not free, and of the arguments that it may
        // have freed.
        let kept =
            |param: &ParamPlan<'_>| param.param.direction == Direction::In || automation::memory(param).is_some();
        block(out, context, plan, "KEPT", kept);
        let argument = |param: &ParamPlan<'_>| {
            !kept(param) && param.param.direction.is_in() && is_place(context.model, param.param)
        };
        block(out, context, plan, "GIVEN", argument);
    }
    graph_proxy(out, context, plan, &outer);
    graph_stub(out, context, plan, &outer);
}

/// Whether the method may free and replace parts of its arguments.
fn changes(model: &Model, plan: &MethodPlan<'_>) -> bool {
    let changed = |param: &&ParamPlan<'_>| {
        param.param.direction == Direction::InOut
            && automation::memory(param).is_none()
            && !is_plain(model, in_place(model, param.param))
    };
    plan.params.iter().any(|param| changed(&param))
}

/// Whether the block holds the target of the parameter's pointer instead of the pointer.
fn is_place(model: &Model, param: &Param) -> bool {
    !std::ptr::eq(in_place(model, param), &raw const param.ty)
}

/// Whether a parameter is an unsigned integer of 64 bits that determines the number of elements of
/// an array.
fn is_large_count(plan: &MethodPlan<'_>, index: usize) -> bool {
    let counted = plan.params.iter().filter_map(|param| element_counts(param.param));
    let mut reads = false;
    for value in counted.flat_map(|(size, length)| std::iter::once(size).chain(length)) {
        value.operands(&mut |operand| reads |= operand.index == index && operand.base == Base::U64);
    }
    reads
}

/// Returns the expression for a slice of the values outside a frame that the frame's expressions
/// read. A GUID's upper half comes before its lower half. A number above `i64::MAX` becomes
/// `i64::MAX`. A count of elements of this size has been refused before, and a discriminant of this
/// size selects the default arm.
fn outer_text(plan: &MethodPlan<'_>, outer: &[usize], side: Side) -> String {
    let number = |(at, index): (usize, &usize)| {
        let text = operand_text(plan, *index, side);
        match &plan.params[*index].passing {
            Passing::Value(Type::Base(Base::Guid)) | Passing::RefPointer(Type::Base(Base::Guid)) => {
                let is_lower = outer[..at].contains(index);
                if is_lower { format!("{text}.to_u128() as i64") } else { format!("({text}.to_u128() >> 64) as i64") }
            }
            _ => format!("i64::try_from({text}).unwrap_or(i64::MAX)"),
        }
    };
    format!("&[{}]", outer.iter().enumerate().map(number).collect::<Vec<_>>().join(", "))
}

/// Writes a block's table. Returns the parameters outside the block that its expressions read.
fn block(
    out: &mut Writer,
    context: &Context<'_>,
    plan: &MethodPlan<'_>,
    what: &str,
    included: impl Fn(&ParamPlan<'_>) -> bool,
) -> Vec<usize> {
    let (shape, outer) = plan.block(context.model, &context.kinds, what != "REPLY", included);
    let size = if what == "REPLY" { plan.reply_block } else { plan.request_block };
    tables::block(out, &block_name(context, plan, what), size, &shape);
    outer
}

fn block_name(context: &Context<'_>, plan: &MethodPlan<'_>, what: &str) -> String {
    format!("{}_{}_{what}", context.name, plan.method.name)
}

fn layout(context: &Context<'_>, plan: &MethodPlan<'_>, what: &str) -> String {
    format!("obvia::rt::Layout {{ block: &{}, types: &{} }}", block_name(context, plan, what), types_name(context))
}

fn graph_proxy(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>, outer: &[usize]) {
    let model = context.model;
    proxy::begin(out, context, plan);
    proxy::limits(out, plan);
    for (at, index) in outer.iter().enumerate() {
        if is_large_count(plan, *index) && !outer[..at].contains(index) {
            let number = operand_text(plan, *index, Side::Abi);
            out.line(format!("i64::try_from({number}).map_err(|_| obvia::code::E_INVALIDARG)?;"));
        }
    }
    automation::clear(out, &plan.params);
    let request = layout(context, plan, "REQUEST");
    if plan.params.iter().any(|param| automation::memory(param).is_some() && param.request.is_some()) {
        out.line("let mut wires = obvia::rt::Wires::lent();");
    }
    out.line(format!("let mut image = obvia::rt::Image::new({request});"));
    for param in plan.ordered(true) {
        let (name, at) = (binding(&param.param.code), param.request.unwrap_or(0));
        if let Some(memory) = automation::memory(param) {
            automation::put(out, param, memory);
        } else if is_place(model, param.param) || matches!(param.param.ty, Type::Fixed(..)) {
            let size = model.layout(in_place(model, param.param)).0;
            out.line("// SAFETY: by COM's rules, the caller's pointer is readable.");
            out.line(format!("unsafe {{ image.put_from({at}, {name}, {size}) }}?;"));
        } else {
            out.line(format!("image.put({at}, {name});"));
        }
    }
    out.line("// SAFETY: by COM's rules, parameters are as the interface describes them.");
    let opnum = plan.method.opnum;
    if plan.method.oneway {
        out.line(format!("unsafe {{ call.send_graph_oneway({opnum}, &image, {request}) }}?;"));
        out.line("Ok(obvia::rt::code::S_OK)");
    } else {
        out.line(format!("let reply = unsafe {{ call.send_graph({opnum}, &image, {request}) }}?;"));
        out.line("if reply.failed() {");
        out.line("return Ok(reply.result());");
        out.line("}");
        results(out, context, plan, outer);
        out.line("Ok(reply.result())");
    }
    proxy::end(out, context, plan);
}

/// Writes the statements that give the reply's results to the caller.
fn results(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>, outer: &[usize]) {
    let model = context.model;
    let outer = outer_text(plan, outer, Side::Abi);
    out.line(format!("let mut results = reply.graph({}, {outer})?;", layout(context, plan, "REPLY")));
    // The elements that the method writes to the caller's memory: their size, and their number.
    let elements = |param: &ParamPlan<'_>| match &param.param.ty {
        Type::Pointer(pointer) if !is_place(model, param.param) => {
            let counted = |(size, _)| format!("{}.unwrap_or(0)", size_text(plan, size, Side::Abi));
            let count = element_counts(param.param).map_or_else(|| "1".to_owned(), counted);
            Some((model.layout(&pointer.to).0, count))
        }
        _ => None,
    };
    let converted = || plan.ordered(false).into_iter().filter(|param| automation::memory(param).is_some());
    for param in converted() {
        automation::take(out, param, automation::memory(param).unwrap_or(Memory::Variant));
    }
    if changes(model, plan) {
        // The caller's values are freed only after all steps that can fail.
        for param in plan.ordered(false) {
            let name = binding(&param.param.code);
            if param.param.direction == Direction::Out && elements(param).is_none() {
                out.line(format!("results.verify({name})?;"));
            } else if param.param.is_optional_in_out() {
                out.line(format!("results.verify_presence({}, {name})?;", param.reply.unwrap_or(0)));
            }
        }
        out.line("// SAFETY: by COM's rules, the method may free what [in, out] parameters hold.");
        out.line(format!("unsafe {{ image.free({}, &[]) }};", layout(context, plan, "GIVEN")));
    }
    // Arrays come first, because the value of another result may overwrite the number of requested
    // elements.
    for param in plan.ordered(false) {
        if let Some((bytes, count)) = elements(param) {
            let (name, at) = (binding(&param.param.code), param.reply.unwrap_or(0));
            out.line("// SAFETY: by COM's rules, the caller's pointer is writable.");
            out.line(format!("unsafe {{ results.fill::<[u8; {bytes}]>({at}, {name}.cast(), {count}) }};"));
        }
    }
    let is_value = |param: &&ParamPlan<'_>| elements(param).is_none() && automation::memory(param).is_none();
    for param in plan.ordered(false).into_iter().filter(is_value) {
        let (name, at) = (binding(&param.param.code), param.reply.unwrap_or(0));
        let size = model.layout(in_place(model, param.param)).0;
        out.line("// SAFETY: by COM's rules, the caller's pointer is writable.");
        out.line(format!("unsafe {{ results.give({at}, {name}, {size}) }}?;"));
    }
    converted().for_each(|param| automation::give(out, param));
    out.line("results.keep();");
    converted().for_each(|param| automation::free(out, context, &types_name(context), param));
}

fn graph_stub(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>, outer: &[usize]) {
    let model = context.model;
    stub::begin(out, context, plan);
    let request = layout(context, plan, "REQUEST");
    if changes(model, plan) {
        let kept = layout(context, plan, "KEPT");
        out.line("// SAFETY: the layouts are those of this method's request.");
        out.line(format!("let mut arguments = unsafe {{ call.arguments_to_change({request}, {kept}) }}?;"));
    } else {
        out.line("// SAFETY: the layout is that of this method's request.");
        out.line(format!("let mut arguments = unsafe {{ call.arguments({request}) }}?;"));
    }
    let reply = layout(context, plan, "REPLY");
    if !plan.method.oneway {
        out.line(format!("let mut image = obvia::rt::Image::new({reply});"));
    }
    // The numbers of elements come before the arrays.
    let (values, others): (Vec<_>, Vec<_>) = plan.params.iter().partition(|param| param.passing.in_block());
    for param in values.into_iter().chain(others) {
        prepare(out, model, plan, param);
    }
    if changes(model, plan) {
        out.line("arguments.release();");
    }
    let arguments: String = plan.params.iter().map(|param| format!(", {}", argument(model, param))).collect();
    stub::invoke(out, context, plan, &arguments);
    if plan.method.oneway {
        out.line("Ok(obvia::rt::no_results(result))");
    } else {
        let outer = outer_text(plan, outer, Side::Local);
        for param in plan.ordered(false).into_iter().filter(|param| automation::memory(param).is_some()) {
            automation::respond(out, param, &format!("{reply}, {outer}"));
        }
        out.line("// SAFETY: by COM's rules, results are as the interface describes them, and the caller owns them.");
        out.line(format!("unsafe {{ call.respond_graph(result, &image, {reply}, {outer}) }}"));
    }
    stub::end(out);
}

/// Writes the preparations for a parameter of the method.
fn prepare(out: &mut Writer, model: &Model, plan: &MethodPlan<'_>, param: &ParamPlan<'_>) {
    let (name, raw) = (binding(&param.param.code), &param.param.code);
    if let Some(memory) = automation::memory(param) {
        return automation::prepare(out, param, memory);
    }
    let ty = in_place(model, param.param);
    let (request, reply) = (param.request.unwrap_or(0), param.reply.unwrap_or(0));
    match (param.param.direction, is_place(model, param.param) || matches!(param.param.ty, Type::Fixed(..))) {
        (Direction::In, _) => {
            if param.passing.in_block() {
                out.line("// SAFETY: the check found a value of this type.");
                out.line(format!("let {name}: {} = unsafe {{ arguments.get({request}) }};", value(model, ty)));
            }
        }
        (Direction::InOut, true) => {
            let size = model.layout(ty).0;
            out.line("// SAFETY: the block was checked.");
            out.line(format!(
                "unsafe {{ image.put_from({reply}, arguments.place::<u8>({request}), {size}) }}.map_err(|_| obvia::rt::Status::BAD_STUB_DATA)?;"
            ));
            if param.passing.in_block() {
                out.line("// SAFETY: the check found a value of this type.");
                out.line(format!("let {name}: {} = unsafe {{ arguments.get({request}) }};", value(model, ty)));
            }
        }
        (Direction::InOut, false) => {
            out.line("// SAFETY: the check replaced the offset by a pointer.");
            out.line(format!("let {raw}_room: *mut u8 = unsafe {{ arguments.get({request}) }};"));
            out.line(format!("image.put({reply}, {raw}_room);"));
        }
        (Direction::Out, true) => {}
        (Direction::Out, false) => {
            if let (Type::Pointer(pointer), Some((size, _))) = (&param.param.ty, element_counts(param.param)) {
                let bytes = model.layout(&pointer.to).0;
                let count = size_text(plan, size, Side::Local);
                out.line(format!("let {raw}_count = {count}.ok_or(obvia::rt::Status::BAD_STUB_DATA)?;"));
                out.line(format!(
                    "let {raw}_room = image.room::<[u8; {bytes}]>({reply}, {raw}_count, call.reply_max())?;"
                ));
            }
        }
    }
}

/// Returns the argument for a parameter of the method.
fn argument(model: &Model, param: &ParamPlan<'_>) -> String {
    if let Some(memory) = automation::memory(param) {
        return automation::method_argument(param, memory);
    }
    let (name, raw) = (binding(&param.param.code), &param.param.code);
    let place = is_place(model, param.param) || matches!(param.param.ty, Type::Fixed(..));
    match (param.param.direction, place) {
        (Direction::In, false) if param.passing.in_block() => name,
        (Direction::In, true) => format!("arguments.place({})", param.request.unwrap_or(0)),
        (Direction::In, false) => format!("arguments.get({})", param.request.unwrap_or(0)),
        (_, true) => format!("image.place({})", param.reply.unwrap_or(0)),
        (_, false) => format!("{raw}_room.cast()"),
    }
}

/// Returns the reason why a parameter that is supported by itself cannot be a member of the
/// structure of the method's parameters. `None` if the parameter can be a member. There is a reason
/// only in `[local]` methods, because `plan::unsupported` refuses the parameter in other methods.
pub(super) fn refuse(model: &Model, plan: &MethodPlan<'_>, param: &ParamPlan<'_>) -> Option<form::Refusal> {
    let is_behind = !plan.reads_blocks_alone(model, param);
    is_behind.then_some("an array or union whose size or discriminant is behind a pointer that may be null")
}
