//! Methods with structures with pointers: their parameters are laid out as a structure, and tables say what it is.

use super::form::{self, Form, form};
use super::interface::{Context, Side, counted_by, counted_by_elided, size_text, stub_name};
use super::names::{abi, base as base_name, binding, ident, value};
use super::proxy::{layout_table, ordered};
use super::stub::declared_in;
use super::tables;
use crate::emit::writer::Writer;
use crate::model::{Arith, Direction, Model, Operand, Param, Type};
use crate::plan::{MethodPlan, ParamPlan, Passing, element_counts, in_place, is_plain};
use crate::shapes::Shapes;

/// The table of an interface's types.
pub(super) fn types(out: &mut Writer, context: &Context<'_>) {
    let shapes = Shapes { model: context.model, kinds: &context.kinds };
    tables::types(out, &types_name(context), &shapes.element_types());
    out.line("");
}

fn types_name(context: &Context<'_>) -> String {
    format!("{}_TYPES", context.name)
}

/// The proxy's and the stub's function of a method, and the tables of its blocks.
pub(super) fn method(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    layout_table(out, context, plan);
    block(out, context, plan, "REQUEST", |_| true);
    let outer = block(out, context, plan, "REPLY", |_| true);
    if changes(context.model, plan) {
        // What the method must not free, and what it may have freed.
        block(out, context, plan, "KEPT", |param| param.param.direction == Direction::In);
        let given =
            |param: &ParamPlan<'_>| param.param.direction == Direction::InOut && is_place(context.model, param.param);
        block(out, context, plan, "GIVEN", given);
    }
    proxy(out, context, plan, &outer);
    stub(out, context, plan, &outer);
}

/// Whether the method may free and replace some of what it gets.
fn changes(model: &Model, plan: &MethodPlan<'_>) -> bool {
    let changed = |param: &&ParamPlan<'_>| {
        param.param.direction == Direction::InOut && !is_plain(model, in_place(model, param.param))
    };
    plan.params.iter().any(|param| changed(&param))
}

/// Whether the parameter's pointer is left out of the block.
fn is_place(model: &Model, param: &Param) -> bool {
    !std::ptr::eq(in_place(model, param), &raw const param.ty)
}

/// An operand as a number that is known beside a frame.
fn number(plan: &MethodPlan<'_>, index: usize, side: Side) -> String {
    let param = &plan.params[index];
    let name = binding(&param.param.name);
    let name = if side == Side::Abi && matches!(param.passing, Passing::Place(_)) {
        format!("(unsafe {{ *{name} }})")
    } else {
        name
    };
    let is_enum = matches!(&param.passing, Passing::Value(Type::Enum(_)) | Passing::Place(Type::Enum(_)));
    let name = if is_enum { format!("{name}.0") } else { name };
    format!("i64::try_from({name}).unwrap_or(i64::MAX)")
}

fn outer_text(plan: &MethodPlan<'_>, outer: &[usize], side: Side) -> String {
    let numbers: Vec<String> = outer.iter().map(|index| number(plan, *index, side)).collect();
    format!("&[{}]", numbers.join(", "))
}

/// A block's table. Returns the parameters that its expressions read and that are not in it.
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

fn proxy(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>, outer: &[usize]) {
    let model = context.model;
    let params: String =
        plan.params.iter().map(|param| format!(", {}: {}", binding(&param.param.name), abi(model, param))).collect();
    out.line(format!(
        "unsafe extern \"system\" fn {}_{}_proxy(this: *mut obvia::rt::c_void{params}) -> obvia::HRESULT {{",
        context.name, plan.method.name
    ));
    out.line("// SAFETY: in the vtable of proxies only, so `this` is one, and its holder calls.");
    out.line("let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };");
    out.line("proxy.call(|call| {");
    let request = layout(context, plan, "REQUEST");
    out.line(format!("let mut image = obvia::rt::Image::new({request});"));
    for param in ordered(plan, true) {
        let (name, at) = (binding(&param.param.name), param.request.unwrap_or(0));
        if is_place(model, param.param) || matches!(param.param.ty, Type::Fixed(..)) {
            let size = model.layout(in_place(model, param.param)).0;
            out.line("// SAFETY: by COM's rules the caller's pointer is readable.");
            out.line(format!("unsafe {{ image.put_from({at}, {name}, {size}) }}?;"));
        } else {
            out.line(format!("image.put({at}, {name});"));
        }
    }
    out.line("// SAFETY: by COM's rules parameters are what the interface says.");
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
    out.line("})");
    out.line("}");
    out.line("");
}

/// Hands the reply's results to the caller.
fn results(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>, outer: &[usize]) {
    let model = context.model;
    let outer = outer_text(plan, outer, Side::Abi);
    out.line(format!("let mut results = reply.graph({}, {outer})?;", layout(context, plan, "REPLY")));
    if changes(model, plan) {
        out.line("// SAFETY: by COM's rules what is passed [in, out] is the method's to free.");
        out.line(format!("unsafe {{ image.free({}, &[]) }};", layout(context, plan, "GIVEN")));
    }
    for param in ordered(plan, false) {
        let (name, at) = (binding(&param.param.name), param.reply.unwrap_or(0));
        out.line("// SAFETY: by COM's rules the caller's pointer is writable.");
        if is_place(model, param.param) || matches!(param.param.ty, Type::Fixed(..)) {
            let size = model.layout(in_place(model, param.param)).0;
            out.line(format!("unsafe {{ results.give({at}, {name}, {size}) }}?;"));
        } else if let (Type::Pointer(pointer), Some((size, _))) = (&param.param.ty, element_counts(param.param)) {
            let bytes = model.layout(&pointer.to).0;
            let count = size_text(plan, size, Side::Abi);
            out.line(format!("unsafe {{ results.fill::<[u8; {bytes}]>({at}, {name}.cast(), {count}.unwrap_or(0)) }};"));
        }
    }
    out.line("results.keep();");
}

fn stub(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>, outer: &[usize]) {
    let model = context.model;
    out.line(format!(
        "unsafe fn {}(object: *mut obvia::rt::c_void, call: &mut obvia::rt::StubCall<'_, '_>) -> Result<(), obvia::rt::Status> {{",
        stub_name(context, plan.method)
    ));
    let request = layout(context, plan, "REQUEST");
    if changes(model, plan) {
        let kept = layout(context, plan, "KEPT");
        out.line(format!("let mut arguments = call.arguments_to_change({request}, {kept})?;"));
    } else {
        out.line(format!("let mut arguments = call.arguments({request})?;"));
    }
    let reply = layout(context, plan, "REPLY");
    if !plan.method.oneway {
        out.line(format!("let mut image = obvia::rt::Image::new({reply});"));
    }
    for param in &plan.params {
        prepare(out, model, plan, param);
    }
    let given: String = plan.params.iter().map(|param| format!(", {}", given(model, param))).collect();
    out.line("// SAFETY: the object has this interface; pointers are to what was checked above.");
    out.line(format!(
        "let result = unsafe {{ (obvia::rt::vtable::<{}_Vtbl>(object).{})(object{given}) }};",
        declared_in(context, plan),
        ident(&plan.method.name)
    ));
    if plan.method.oneway {
        out.line("let _ = result;");
        out.line("Ok(())");
    } else {
        let outer = outer_text(plan, outer, Side::Local);
        out.line("// SAFETY: by COM's rules results are what the interface says, and the caller's.");
        out.line(format!("unsafe {{ call.respond_graph(result, &image, {reply}, {outer}) }}"));
    }
    out.line("}");
    out.line("");
}

/// Makes ready what the method gets for a parameter.
fn prepare(out: &mut Writer, model: &Model, plan: &MethodPlan<'_>, param: &ParamPlan<'_>) {
    let (name, raw) = (binding(&param.param.name), &param.param.name);
    let ty = in_place(model, param.param);
    let (request, reply) = (param.request.unwrap_or(0), param.reply.unwrap_or(0));
    match (param.param.direction, is_place(model, param.param) || matches!(param.param.ty, Type::Fixed(..))) {
        (Direction::In, _) => {
            if param.passing.in_block() {
                out.line("// SAFETY: checked: of this type.");
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
                out.line("// SAFETY: checked: of this type.");
                out.line(format!("let {name}: {} = unsafe {{ arguments.get({request}) }};", value(model, ty)));
            }
        }
        (Direction::InOut, false) => {
            out.line("// SAFETY: a pointer by now.");
            out.line(format!("let {raw}_room: *mut u8 = unsafe {{ arguments.get({request}) }};"));
            out.line(format!("image.put({reply}, {raw}_room);"));
        }
        (Direction::Out, true) => {}
        (Direction::Out, false) => {
            if let (Type::Pointer(pointer), Some((size, _))) = (&param.param.ty, element_counts(param.param)) {
                let bytes = model.layout(&pointer.to).0;
                let count = size_text(plan, size, Side::Local);
                out.line(format!("let {raw}_count = {count}.ok_or(obvia::rt::Status::BAD_STUB_DATA)?;"));
                out.line(format!("let {raw}_room = image.room::<[u8; {bytes}]>({reply}, {raw}_count)?;"));
            }
        }
    }
}

/// What the method gets for a parameter.
fn given(model: &Model, param: &ParamPlan<'_>) -> String {
    let (name, raw) = (binding(&param.param.name), &param.param.name);
    let place = is_place(model, param.param) || matches!(param.param.ty, Type::Fixed(..));
    match (param.param.direction, place) {
        (Direction::In, false) if param.passing.in_block() => name,
        (Direction::In, true) => format!("arguments.place({})", param.request.unwrap_or(0)),
        (Direction::In, false) => format!("arguments.get({})", param.request.unwrap_or(0)),
        (_, true) => format!("image.place({})", param.reply.unwrap_or(0)),
        (_, false) => format!("{raw}_room.cast()"),
    }
}

fn form_of(model: &Model, param: &Param) -> Option<Form> {
    form(model, param).ok()
}

/// What a caller makes ready for a parameter.
pub(super) fn before_call(out: &mut Writer, model: &Model, plan: &MethodPlan<'_>, param: &ParamPlan<'_>) {
    let (name, raw, one) = (binding(&param.param.name), &param.param.name, param.param);
    let inout = one.direction == Direction::InOut;
    match form_of(model, one) {
        Some(Form::Union { id, optional, .. }) => {
            let union = &model.unions[id.0];
            let convert = if union.encapsulated.is_some() {
                format!("{}Memory::from", ident(&union.name))
            } else {
                let tag = one.switch.as_ref().and_then(Arith::plain).map(|operand| operand.index);
                if let Some(tag) = tag.filter(|_| !optional) {
                    let tag = &plan.params[tag];
                    let star = if matches!(tag.passing, Passing::Place(_)) { "*" } else { "" };
                    out.line(format!("if {name}.tag() != {star}{} {{", binding(&tag.param.name)));
                    out.line("return Err(obvia::Error::new(obvia::code::E_INVALIDARG, \"the union has another arm than its discriminant says\"));");
                    out.line("}");
                }
                format!("{}::raw", ident(&union.name))
            };
            let text = if optional { format!("{name}.map({convert})") } else { format!("{convert}({name})") };
            out.line(format!("let {raw}_memory = {text};"));
        }
        Some(Form::Slice { size, optional, .. }) if !counted_by_elided(plan, &size) => {
            let wanted = size_text(plan, &size, Side::Caller);
            if optional {
                out.line(format!("if let Some(items) = {name} {{ obvia::rt::check_length(items.len(), {wanted})?; }}"));
            } else {
                out.line(format!("obvia::rt::check_length({name}.len(), {wanted})?;"));
            }
        }
        Some(Form::Owned(text)) if !inout => out.line(format!("let {name} = obvia::rt::place_for::<{text}>()?;")),
        Some(Form::Returned { .. } | Form::ReturnedSlice { .. }) if !inout => {
            out.line(format!("let mut {name}: *mut u8 = std::ptr::null_mut();"));
        }
        Some(Form::Returned { .. }) => {
            out.line(format!(
                "let mut {raw}_raw = {name}.take().map_or(std::ptr::null_mut(), obvia::Owned::into_raw);"
            ));
        }
        Some(Form::Filled { text, size }) => {
            let count = size_text(plan, &size, Side::Caller);
            out.line(format!("let {raw}_count = {count}.ok_or(obvia::rt::code::E_INVALIDARG)?;"));
            out.line(format!("let {name} = obvia::rt::places_for::<{text}>({raw}_count)?;"));
        }
        _ => {}
    }
}

/// The length of the array that a parameter is, where another parameter is to say it.
pub(super) fn length(model: &Model, param: &Param, at: usize) -> Option<String> {
    let name = binding(&param.name);
    match form_of(model, param)? {
        Form::Slice { size, optional, .. } if counted_by(&size, at) => {
            Some(if optional { format!("{name}.map_or(0, |items| items.len())") } else { format!("{name}.len()") })
        }
        _ => None,
    }
}

/// A user's argument as the vtable takes it.
pub(super) fn to_abi(model: &Model, param: &Param) -> String {
    let (name, raw) = (binding(&param.name), &param.name);
    let inout = param.direction == Direction::InOut;
    let pointer = |text: &str| format!("{name}.map_or(std::ptr::null(), |item| {text})");
    match form_of(model, param) {
        Some(Form::Borrowed { by_value: true, .. }) => format!("std::ptr::from_ref({name}).cast().read()"),
        Some(Form::Borrowed { .. }) => format!("std::ptr::from_ref({name}).cast()"),
        Some(Form::Optional(_)) => pointer("std::ptr::from_ref(item).cast()"),
        Some(Form::Union { by_value: true, .. }) => format!("(&raw const {raw}_memory).cast().read()"),
        Some(Form::Union { optional: true, .. }) => {
            format!("{raw}_memory.as_ref().map_or(std::ptr::null(), |item| std::ptr::from_ref(item).cast())")
        }
        Some(Form::Union { .. }) => format!("(&raw const {raw}_memory).cast()"),
        Some(Form::Slice { optional: true, .. } | Form::Text(_)) => pointer("item.as_ptr().cast()"),
        Some(Form::Slice { .. }) => format!("{name}.as_ptr().cast()"),
        Some(Form::Owned(_)) if inout => format!("{name}.as_ptr().cast()"),
        Some(Form::Owned(_) | Form::Filled { .. }) => format!("{name}.cast()"),
        Some(Form::Returned { .. }) if inout => format!("(&raw mut {raw}_raw).cast()"),
        Some(Form::Returned { .. } | Form::ReturnedSlice { .. }) => format!("(&raw mut {name}).cast()"),
        None => String::new(),
    }
}

/// Takes over what a method returned, also where it failed.
pub(super) fn after_call(out: &mut Writer, model: &Model, plan: &MethodPlan<'_>, param: &Param) {
    let (name, raw) = (binding(&param.name), &param.name);
    let inout = param.direction == Direction::InOut;
    match form_of(model, param) {
        Some(Form::Owned(text)) if !inout => {
            out.line("// SAFETY: the place was made above, and by COM's rules what it leads to is the caller's.");
            out.line(format!("let {raw}_owned = unsafe {{ obvia::rt::take_place::<{text}>({name}, result) }};"));
        }
        Some(Form::Filled { text, .. }) => {
            let count = match element_counts(param) {
                Some((_, Some(length))) => {
                    format!("{}.unwrap_or(0).min({raw}_count)", size_text(plan, length, Side::Caller))
                }
                _ => format!("{raw}_count"),
            };
            out.line("// SAFETY: as above.");
            out.line(format!(
                "let {raw}_owned = unsafe {{ obvia::rt::take_places::<{text}>({name}, {count}, result) }};"
            ));
        }
        Some(Form::Returned { .. }) if inout => {
            out.line("// SAFETY: by COM's rules what the method left there is the caller's.");
            out.line(format!("*{name} = unsafe {{ obvia::Owned::adopt({raw}_raw) }};"));
        }
        _ => {}
    }
}

/// A result as users get it.
pub(super) fn owned(model: &Model, plan: &MethodPlan<'_>, param: &Param) -> String {
    let (name, raw) = (binding(&param.name), &param.name);
    let there = "ok_or(obvia::rt::code::E_POINTER)?";
    match form_of(model, param) {
        Some(Form::Returned { optional: true, .. }) => format!("unsafe {{ obvia::Owned::adopt({name}) }}"),
        Some(Form::Returned { .. }) => format!("unsafe {{ obvia::Owned::adopt({name}) }}.{there}"),
        Some(Form::ReturnedSlice { size, .. }) => {
            let count = size_text(plan, &size, Side::Caller);
            format!("unsafe {{ obvia::OwnedSlice::adopt({name}, {count}.unwrap_or(0)) }}")
        }
        _ => format!("{raw}_owned.{there}"),
    }
}

/// A vtable's argument as the trait's method takes it.
pub(super) fn from_abi(model: &Model, plan: &MethodPlan<'_>, param: &Param) -> Option<String> {
    let name = binding(&param.name);
    let inout = param.direction == Direction::InOut;
    Some(match form_of(model, param)? {
        Form::Borrowed { by_value: true, .. } => format!("&{name}"),
        Form::Borrowed { text, .. } => format!("&*{name}.cast::<{text}>()"),
        Form::Optional(text) => format!("{name}.cast::<{text}>().as_ref()"),
        Form::Union { id, optional, by_value } => union_from_abi(model, plan, param, (id, optional, by_value)),
        Form::Slice { text, size, optional } => {
            let count = format!("{}.unwrap_or(0)", size_text(plan, &size, Side::Abi));
            let slice = format!("obvia::rt::slice({name}.cast::<{text}>(), {count})");
            if optional { format!("(!{name}.is_null()).then(|| {slice})") } else { slice }
        }
        Form::Text(base) => {
            let function = if base.size() == 2 { "wide" } else { "text" };
            format!("obvia::rt::{function}({name}.cast::<{}>())", base_name(base))
        }
        Form::Owned(text) if inout => format!(
            "match obvia::rt::lift::<{text}>({name}.cast()) {{ Ok(item) => item, Err(error) => return obvia::rt::fail(error) }}"
        ),
        Form::Returned { text, .. } if inout => {
            format!("obvia::Owned::<{text}>::adopt({name}.cast::<*mut u8>().replace(std::ptr::null_mut()))")
        }
        _ => return None,
    })
}

fn union_from_abi(
    model: &Model,
    plan: &MethodPlan<'_>,
    param: &Param,
    (id, optional, by_value): (crate::model::UnionId, bool, bool),
) -> String {
    let union = &model.unions[id.0];
    let name = binding(&param.name);
    let (memory, tag) = if union.encapsulated.is_some() {
        ("Memory", String::new())
    } else {
        let index = param.switch.as_ref().and_then(Arith::plain).map_or(0, |operand| operand.index);
        let star = if matches!(plan.params[index].passing, Passing::Place(_)) { "*" } else { "" };
        ("Raw", format!("{star}{}", binding(&plan.params[index].param.name)))
    };
    let ty = format!("{}{memory}<'_>", ident(&union.name));
    if by_value {
        format!("{name}.get({tag})")
    } else if optional {
        format!("{name}.cast::<{ty}>().as_ref().map(|item| item.get({tag}))")
    } else {
        format!("(&*{name}.cast::<{ty}>()).get({tag})")
    }
}

/// Hands a result to the caller.
pub(super) fn give(out: &mut Writer, model: &Model, plan: &MethodPlan<'_>, param: &Param, value: &str) {
    let name = binding(&param.name);
    let text = match form_of(model, param) {
        Some(Form::Owned(_)) => format!("obvia::rt::lower({value}, {name}.cast())"),
        Some(Form::Returned { optional: true, .. }) => {
            format!("{name}.cast::<*mut u8>().write({value}.map_or(std::ptr::null_mut(), obvia::Owned::into_raw))")
        }
        Some(Form::Returned { .. }) => format!("{name}.cast::<*mut u8>().write({value}.into_raw())"),
        Some(Form::ReturnedSlice { size, .. }) => {
            if let Some(operand) = size.plain().filter(|operand| plan.params[operand.index].counts) {
                let count = binding(&plan.params[operand.index].param.name);
                out.line("// SAFETY: by COM's rules the caller's pointer is writable.");
                out.line(format!("unsafe {{ {count}.write({value}.len() as _) }};"));
            }
            format!("{name}.cast::<*mut u8>().write({value}.into_raw())")
        }
        Some(Form::Filled { size, .. }) => {
            let count = format!("{}.unwrap_or(0)", size_text(plan, &size, Side::Abi));
            out.line("// SAFETY: by COM's rules the caller has room for as many elements.");
            out.line(format!(
                "if let Err(error) = unsafe {{ obvia::rt::lower_slice({value}, {name}.cast(), {count}) }} {{"
            ));
            out.line("return obvia::rt::fail(error);");
            out.line("}");
            return;
        }
        _ => return,
    };
    out.line("// SAFETY: by COM's rules the caller's pointer is writable.");
    out.line(format!("unsafe {{ {text} }};"));
}

/// Puts an [in, out] parameter back to where the caller finds it, also where the method failed.
pub(super) fn give_back(out: &mut Writer, model: &Model, param: &Param) {
    let (name, raw) = (binding(&param.name), &param.name);
    if param.direction != Direction::InOut {
        return;
    }
    let text = match form_of(model, param) {
        Some(Form::Owned(_)) => format!("obvia::rt::lower({raw}_given, {name}.cast())"),
        Some(Form::Returned { .. }) => {
            format!("{name}.cast::<*mut u8>().write({raw}_given.map_or(std::ptr::null_mut(), obvia::Owned::into_raw))")
        }
        _ => return,
    };
    out.line("// SAFETY: by COM's rules the caller's pointer is writable.");
    out.line(format!("unsafe {{ {text} }};"));
}

/// Why a method's parameters cannot be laid out, though each of them can.
pub(super) fn refuse(model: &Model, plan: &MethodPlan<'_>, param: &ParamPlan<'_>) -> Option<form::Refusal> {
    let readable = |operand: &Operand| plan.params[operand.index].passing.in_block();
    let mut fine = true;
    let mut note = |value: &Arith| value.operands(&mut |operand| fine &= readable(operand));
    if let Some((size, length)) = element_counts(param.param) {
        note(size);
        length.into_iter().for_each(&mut note);
    }
    param.param.switch.iter().for_each(note);
    if !fine {
        return Some("an array or union whose size or discriminant is behind a pointer that may be null");
    }
    let object = match in_place(model, param.param) {
        Type::Interface(crate::model::Object::IidIs(operand)) => Some(operand),
        _ => None,
    };
    let elsewhere = |operand: &&Operand| {
        param.param.direction == Direction::Out && plan.params[operand.index].param.direction == Direction::In
    };
    object.filter(elsewhere).map(|_| "an object whose IID is an [in] parameter, beside structures with pointers")
}
