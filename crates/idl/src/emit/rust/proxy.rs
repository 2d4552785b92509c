//! Proxies: the functions in the vtable of interface proxies.

use super::context::Context;
use super::expression::{Side, size_text};
use super::names::{base as base_name, binding, interface, value};
use super::parameters::{abi, signature};
use crate::model::{Object, Transfer};
use crate::plan::{INLINE_MAX, KIND_INTERFACE, MethodPlan, ParamPlan, Passing, is_scalar, text_kind};
use crate::text::writer::Writer;

/// Writes the layout of the frames as a comment.
pub(super) fn layout_table(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    let how = if plan.refers() { ", arrays by reference" } else { "" };
    out.line(format!("// {}{how}: opnum {}", plan.method.name, plan.opnum));
    for (what, length, at) in [
        ("request", plan.request_block, (|param: &ParamPlan<'_>| param.request) as fn(&ParamPlan<'_>) -> Option<u32>),
        ("reply", plan.reply_block, |param| param.reply),
    ] {
        let places: Vec<String> = plan
            .ordered(what == "request")
            .iter()
            .filter_map(|param| Some(format!("{} {}", at(param)?, describe(context, param))))
            .collect();
        let places = if places.is_empty() { "nothing".to_owned() } else { places.join(", ") };
        out.line(format!("//   {what:7} {length:3} bytes: {places}"));
    }
}

fn describe(context: &Context<'_>, param: &ParamPlan<'_>) -> String {
    let name = &param.param.code;
    match &param.passing {
        Passing::Value(ty) | Passing::RefPointer(ty) => format!("{name} {}", value(context.model, ty)),
        _ => format!("{name} ->"),
    }
}

/// Writes the beginning of a proxy's function, up to the beginning of the closure that receives the
/// call.
pub(super) fn begin(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    out.line(head(context, plan, "proxy"));
    out.line(
        "// SAFETY: this function is in the vtables of proxies only, so `this` is a proxy, and the caller holds it.",
    );
    out.line("let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };");
    if has_objects(plan) {
        out.line("obvia::rt::ProxyCall::make(proxy, |call| {");
        return;
    }
    out.line("// SAFETY: the call is made immediately.");
    out.line("let Some(call) = (unsafe { obvia::rt::PlainCall::begin(proxy) }) else {");
    out.line("// SAFETY: these are the arguments of this function.");
    out.line(format!("return unsafe {{ {}_prepare(this{}) }};", context.stem(plan), arguments(plan)));
    out.line("};");
    for (param, array, is_written) in plan.references() {
        let (raw, name) = (&param.param.code, binding(&param.param.code));
        out.line(format!("let Some({raw}_reference) = call.refer({array}, {is_written}, {name}.addr()) else {{"));
        out.line("// SAFETY: these are the arguments of this function.");
        out.line(format!("return unsafe {{ {}_other_regions(this{}) }};", context.stem(plan), arguments(plan)));
        out.line("};");
    }
    out.line("call.make(|call| {");
}

/// Whether the call may pass object references, so that marshaling may run code of these objects.
fn has_objects(plan: &MethodPlan<'_>) -> bool {
    plan.params.iter().any(|param| param.passing.may_be_objects())
}

/// Returns a method's parameters, each after a comma.
fn arguments(plan: &MethodPlan<'_>) -> String {
    plan.params.iter().map(|param| format!(", {}", binding(&param.param.code))).collect()
}

/// Writes the end of a proxy's function. Calls that need preparation go through a separate
/// function, so that the usual function keeps no data for the preparation.
pub(super) fn end(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    out.line("})");
    if !has_objects(plan) {
        out.line("}");
        out.line("");
        out.line("#[cold]");
        out.line(head(context, plan, "prepare"));
        out.line(format!("// SAFETY: as in `{}_proxy`.", context.stem(plan)));
        out.line("let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };");
        out.line("if let Some(failed) = proxy.prepare() {");
        out.line("return failed;");
        out.line("}");
        out.line("// SAFETY: these are the arguments of this function.");
        out.line(format!("unsafe {{ {}_proxy(this{}) }}", context.stem(plan), arguments(plan)));
    }
    out.line("}");
    out.line("");
    if plan.refers() {
        other_regions(out, context, plan);
    }
}

/// Writes the function for calls with an array that is in no region, or in a region that no region
/// cache holds.
fn other_regions(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    out.line("#[cold]");
    out.line(head(context, plan, "other_regions"));
    out.line(format!("// SAFETY: as in `{}_proxy`.", context.stem(plan)));
    out.line("let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };");
    let arrays: Vec<String> = plan
        .references()
        .map(|(param, array, is_written)| format!("({array}, {is_written}, {}.addr())", binding(&param.param.code)))
        .collect();
    out.line("// SAFETY: the proxy has begun a call, and has not made it.");
    out.line(format!("match unsafe {{ proxy.select_regions(&[{}]) }} {{", arrays.join(", ")));
    out.line("Err(failed) => return failed,");
    out.line("// SAFETY: these are the arguments of this function.");
    out.line(format!("Ok(true) => return unsafe {{ {}_proxy(this{}) }},", context.stem(plan), arguments(plan)));
    out.line("Ok(false) => {}");
    out.line("}");
    if plan.params.iter().any(|param| param.param.transfer == Transfer::Map) {
        out.line("if proxy.shares_memory() {");
        out.line("return obvia::rt::not_shared();");
        out.line("}");
    }
    out.line("// SAFETY: these are the arguments of this function.");
    out.line(format!("unsafe {{ {}_{}_proxy(this{}) }}", context.name, plan.method.name, arguments(plan)));
    out.line("}");
    out.line("");
}

/// Returns the head of a function with the method's parameters.
fn head(context: &Context<'_>, plan: &MethodPlan<'_>, what: &str) -> String {
    let params: String = plan
        .params
        .iter()
        .map(|param| format!(", {}: {}", binding(&param.param.code), abi(context.model, param)))
        .collect();
    format!(
        "unsafe extern \"system\" fn {}_{what}(this: *mut obvia::rt::c_void{params}) -> obvia::HRESULT {{",
        context.stem(plan)
    )
}

/// Writes the function in the vtables of proxies for a method that other processes cannot call. The
/// function does not write to the results.
pub(super) fn refusal(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    let params: String = plan.in_vtable().iter().map(|param| format!(", _: {}", abi(context.model, param))).collect();
    let (stem, (_, result)) = (context.stem(plan), signature(context.model, plan));
    out.line(format!("unsafe extern \"system\" fn {stem}_proxy(_: *mut obvia::rt::c_void{params}) -> {result} {{"));
    let refuse = format!("obvia::rt::refuse_local(\"{}.{}\")", context.name, plan.method.name);
    // A result without room for a failure is zero.
    out.line(match plan.method.returns_directly() {
        true => format!("let _ = {refuse};"),
        false => refuse,
    });
    if plan.method.returns_directly() && result != "()" {
        out.line(
            "// SAFETY: every type that a method returns directly is a number, a pointer, or a structure of these.",
        );
        out.line("unsafe { std::mem::zeroed() }");
    }
    out.line("}");
    out.line("");
}

pub(super) fn proxy(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    layout_table(out, context, plan);
    begin(out, context, plan);
    request(out, context, plan);
    let length = if plan.request_is_block() { plan.request_block.to_string() } else { "length".to_owned() };
    if plan.method.oneway {
        out.line(format!("call.send_oneway({}, {length});", plan.opnum));
        out.line("Ok(obvia::rt::code::S_OK)");
    } else {
        out.line(format!("let reply = call.send({}, {length})?;", plan.opnum));
        reply(out, context, plan);
        out.line("Ok(reply.result())");
    }
    end(out, context, plan);
}

/// Writes the checks of the arguments' limits, which the server would check, too.
pub(super) fn limits(out: &mut Writer, plan: &MethodPlan<'_>) {
    for param in plan.ordered(true) {
        let Some((least, most)) = param.param.range else { continue };
        let name = binding(&param.param.code);
        let value = match &param.passing {
            Passing::Value(_) => name,
            Passing::RefPointer(_) => {
                out.line("// SAFETY: by COM's rules, the caller's pointer is readable.");
                out.line(format!("let {}_given = unsafe {{ *{name} }};", param.param.code));
                format!("{}_given", param.param.code)
            }
            _ => continue,
        };
        out.line(format!("obvia::rt::given_in_range({value} as i64, {least}, {most})?;"));
    }
}

fn request(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    limits(out, plan);
    let behind: Vec<&ParamPlan<'_>> =
        plan.ordered(true).into_iter().filter(|param| !param.passing.in_block()).collect();
    if behind.is_empty() && plan.request_block <= INLINE_MAX {
        let frame = if plan.request_block == 0 { "" } else { "let frame = " };
        out.line(format!("{frame}call.inline_request()?;"));
    } else {
        for param in &behind {
            measure(out, context, plan, param);
        }
        out.line(format!("let measure = obvia::rt::Measure::block({})", plan.request_block));
        for param in &behind {
            out.line(format!("{}?", measured(context, param)));
        }
        out.line(";");
        out.line("let length = measure.length();");
        out.line("let frame = call.request(measure)?;");
    }
    for param in plan.ordered(true).into_iter().filter(|param| param.passing.in_block()) {
        let name = binding(&param.param.code);
        let at = param.request.unwrap_or(0);
        match &param.passing {
            Passing::Value(_) => out.line(format!("obvia::rt::Value::store(&{name}, frame, {at});")),
            Passing::Reference { .. } => {
                out.line(format!("obvia::rt::Value::store(&{}_reference, frame, {at});", param.param.code));
            }
            _ => {
                out.line("// SAFETY: by COM's rules, the caller's pointer is readable.");
                out.line(format!("obvia::rt::Value::store(unsafe {{ &*{name} }}, frame, {at});"));
            }
        }
    }
    if !behind.is_empty() {
        out.line(format!("let mut arrays = obvia::rt::Arrays::after({});", plan.request_block));
        for param in behind {
            place(out, context, param);
        }
    }
}

/// Writes the code that computes the counts and lengths on which the frame's length depends.
fn measure(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>, param: &ParamPlan<'_>) {
    let name = binding(&param.param.code);
    let raw = &param.param.code;
    match &param.passing {
        Passing::Array { size, .. } => {
            out.line(format!(
                "let {raw}_count = {}.ok_or(obvia::rt::code::E_INVALIDARG)?;",
                size_text(plan, size, Side::Abi)
            ));
        }
        Passing::Text { optional, .. } => {
            out.line("// SAFETY: by COM's rules, a string is null or ends in a zero.");
            out.line(format!("let {raw}_count = unsafe {{ obvia::rt::text_count({name}, {optional}) }}?;"));
        }
        Passing::Object(object) => {
            out.line("// SAFETY: by COM's rules, an interface pointer is null, or its object is alive.");
            out.line(format!(
                "let {raw}_reference = unsafe {{ obvia::rt::reference_for_peer({name}, {}, call) }}?;",
                interface_text(context, plan, object, true)
            ));
        }
        _ => {}
    }
}

/// Returns the expression for the description of an object's interface. The interface is fixed, or
/// is found by the IID in another parameter.
pub(super) fn interface_text(context: &Context<'_>, plan: &MethodPlan<'_>, object: &Object, abi: bool) -> String {
    match object {
        Object::Known(id) => {
            let name = interface(context.model, *id);
            // A local interface has no description, but its IID may be known to the peer.
            if context.model.interfaces[id.0].local {
                return format!("obvia::rt::Wanted::Iid(<{name} as obvia::Interface>::IID)");
            }
            format!("obvia::rt::Wanted::Known(<{name} as obvia::Remote>::INFO)")
        }
        Object::Unknown => "obvia::rt::Wanted::Unknown".to_owned(),
        Object::IidIs(operand) => {
            let name = binding(&plan.params[operand.index].param.code);
            if abi && operand.deref {
                format!("obvia::rt::Wanted::Iid(unsafe {{ *{name} }})")
            } else {
                format!("obvia::rt::Wanted::Iid({name})")
            }
        }
    }
}

fn measured(context: &Context<'_>, param: &ParamPlan<'_>) -> String {
    let raw = &param.param.code;
    match &param.passing {
        Passing::Array { element, .. } => {
            format!(".array({raw}_count, {})", context.model.layout(element).0)
        }
        Passing::Optional(ty) => {
            let name = binding(raw);
            format!(".optional(!{name}.is_null(), {})", context.model.layout(ty).0)
        }
        Passing::Text { base, .. } => {
            format!(".optional({raw}_count != 0, {raw}_count * {})", base.size())
        }
        _ => format!(".optional(!{raw}_reference.is_empty(), {raw}_reference.len())"),
    }
}

/// Writes the statements that put a parameter's data after the block.
fn place(out: &mut Writer, context: &Context<'_>, param: &ParamPlan<'_>) {
    let name = binding(&param.param.code);
    let raw = &param.param.code;
    let at = param.request.unwrap_or(0);
    let safety = "// SAFETY: by COM's rules, the caller's array has the given number of elements.";
    match &param.passing {
        Passing::Array { element, .. } => {
            let kind = context.kind(element);
            let function = if is_scalar(element) { "put_array" } else { "put_values" };
            out.line(safety);
            out.line(format!(
                "unsafe {{ obvia::rt::{function}(frame, &mut arrays, {at}, {kind}, {raw}_count, {name}) }};"
            ));
        }
        Passing::Optional(ty) => {
            out.line(safety);
            out.line(format!(
                "unsafe {{ obvia::rt::put_optional(frame, &mut arrays, {at}, {}, {name}) }};",
                context.kind(ty)
            ));
        }
        Passing::Text { base, .. } => {
            out.line(safety);
            out.line(format!(
                "unsafe {{ obvia::rt::put_text(frame, &mut arrays, {at}, {}, {raw}_count, {name}) }};",
                text_kind(*base)
            ));
        }
        _ => {
            out.line(format!("obvia::rt::put_reference(frame, &mut arrays, {at}, {KIND_INTERFACE}, &{raw}_reference);"))
        }
    }
}

fn reply(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    let all = plan.ordered(false);
    let block = plan.reply_is_block() && plan.lent().is_none();
    if all.is_empty() {
        out.line("reply.block(0)?;");
        return;
    }
    out.line(format!("let frame = reply.{}({})?;", if block { "block" } else { "frame" }, plan.reply_block));
    for param in all.iter().filter(|param| param.passing.in_block()) {
        if let Passing::RefPointer(ty) | Passing::Value(ty) = &param.passing {
            out.line(format!(
                "let {}_value: {} = obvia::rt::value(frame, {})?;",
                param.param.code,
                value(context.model, ty),
                param.reply.unwrap_or(0)
            ));
            if let Some((least, most)) = param.param.range {
                out.line(format!("obvia::rt::in_range({}_value as i64, {least}, {most})?;", param.param.code));
            }
        }
    }
    let behind: Vec<_> = all.iter().filter(|param| !param.passing.in_block()).collect();
    if !behind.is_empty() {
        out.line(format!("let mut arrays = obvia::rt::Arrays::after({});", plan.reply_block));
        for param in &behind {
            fetch(out, context, plan, param);
        }
        out.line("reply.end(arrays)?;");
    }
    for param in &plan.params {
        used(out, context, plan, param);
    }
    for param in &all {
        let name = binding(&param.param.code);
        let text = match &param.passing {
            Passing::RefPointer(_) | Passing::Value(_) => format!("{}_value", param.param.code),
            Passing::OutText(_) | Passing::OutArray { .. } | Passing::OutObject(_) => {
                format!("{}_value.into_raw()", param.param.code)
            }
            _ => continue,
        };
        out.line("// SAFETY: by COM's rules, the caller's pointer is writable.");
        out.line(format!("unsafe {{ {name}.write({text}) }};"));
    }
}

/// Writes the check of the number of elements of an array that is lent or passed by reference.
fn used(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>, param: &ParamPlan<'_>) {
    match &param.passing {
        Passing::Reference { size, length: Some(length), .. } => {
            let room = size_text(plan, size, Side::Abi);
            let room = format!("{room}.ok_or(obvia::rt::code::E_INVALIDARG)?");
            out.line(format!("obvia::rt::at_most({}, {room})?;", received_count(plan, length)));
        }
        Passing::Lent { element, size, .. } => {
            let (name, element) = (binding(&param.param.code), value(context.model, element));
            let first = format!("reply.lent::<{element}>({}, {})?", plan.reply_block, received_count(plan, size));
            out.line(format!("let {}_value = {first};", param.param.code));
            out.line("// SAFETY: by COM's rules, the caller's pointer is writable.");
            out.line(format!("unsafe {{ {name}.write({}_value) }};", param.param.code));
        }
        _ => {}
    }
}

/// Returns the expression for the received number of elements. The operands are the received
/// results, and the arguments of parameters without a result.
fn received_count(plan: &MethodPlan<'_>, expression: &crate::model::Arith) -> String {
    let text = size_text(plan, expression, Side::Abi);
    let mut text = text;
    expression.operands(&mut |operand| {
        let param = &plan.params[operand.index];
        if param.param.direction.is_out() {
            let name = binding(&param.param.code);
            text = text.replace(&format!("(unsafe {{ *{name} }})"), &format!("{}_value", param.param.code));
        }
    });
    text
}

fn fetch(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>, param: &ParamPlan<'_>) {
    let name = binding(&param.param.code);
    let raw = &param.param.code;
    let at = param.reply.unwrap_or(0);
    match &param.passing {
        Passing::Array { element, size, length } => {
            if !param.param.direction.is_in() {
                out.line(format!(
                    "let {raw}_count = {}.ok_or(obvia::rt::code::E_INVALIDARG)?;",
                    size_text(plan, size, Side::Abi)
                ));
            }
            let used = match length {
                None => format!("{raw}_count"),
                Some(length) => format!("obvia::rt::at_most({}, {raw}_count)?", received_count(plan, length)),
            };
            let function = if is_scalar(element) { "copy_out" } else { "copy_values" };
            out.line("// SAFETY: by COM's rules, the caller's array has room for the given number of elements.");
            out.line(format!(
                "unsafe {{ reply.{function}(&mut arrays, {at}, {}, {used}, {name}) }}?;",
                context.kind(element)
            ));
            if param.param.is_filled_text() {
                out.line("// SAFETY: as above.");
                out.line(format!("unsafe {{ obvia::rt::check_ended({name}, {used}) }}?;"));
            }
        }
        Passing::OutText(base) => out.line(format!(
            "let {raw}_value = reply.take_text::<{}>(&mut arrays, {at}, {})?;",
            base_name(*base),
            text_kind(*base)
        )),
        Passing::OutArray { element, size } => {
            let count = received_count(plan, size);
            out.line(format!(
                "let {raw}_value = reply.take_array::<{}>(&mut arrays, {at}, {}, {count})?;",
                value(context.model, element),
                context.kind(element)
            ));
        }
        Passing::OutObject(object) => out.line(format!(
            "let {raw}_value = reply.take_object(&mut arrays, {at}, {KIND_INTERFACE}, {})?;",
            interface_text(context, plan, object, true)
        )),
        _ => {}
    }
}
