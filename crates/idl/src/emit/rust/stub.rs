//! Stubs: check the request, call the method, and answer.

use super::context::{Context, declared_in};
use super::expression::{Side, claim_text, size_text};
use super::names::{base as base_name, binding, ident, value};
use super::proxy::interface_text;
use crate::model::Arith;
use crate::plan::{INLINE_MAX, KIND_INTERFACE, MethodPlan, ParamPlan, Passing, is_scalar, text_kind};
use crate::text::writer::Writer;

pub(super) fn stub(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    begin(out, context, plan);
    request(out, context, plan);
    if plan.early_reply && !plan.reply_is_block() {
        early_reply(out, context, plan);
    }
    check_end(out, plan);
    results(out, context, plan);
    let arguments: String = plan.params.iter().map(|param| format!(", {}", argument(plan, param))).collect();
    invoke(out, context, plan, &arguments);
    check_texts(out, plan);
    used(out, plan);
    if plan.method.oneway {
        out.line("Ok(obvia::rt::no_results(result))");
    } else if let Some(lent) = plan.lent() {
        lent_reply(out, plan, lent);
    } else if plan.reply_is_block() {
        block_reply(out, plan);
    } else if plan.early_reply {
        finish_early(out, context, plan);
    } else {
        late_reply(out, context, plan);
    }
    end(out);
}

/// Writes checks of the strings that the method has written to the caller's arrays. They come
/// before references are marshaled, because nobody would release the references in a refused reply.
fn check_texts(out: &mut Writer, plan: &MethodPlan<'_>) {
    for param in plan.params.iter().filter(|param| param.param.is_filled_text()) {
        let raw = &param.param.code;
        let pointer = argument(plan, param);
        out.line("// SAFETY: the array has this number of elements.");
        out.line(format!("let result = unsafe {{ obvia::rt::text_result(result, {pointer}, {raw}_count) }};"));
    }
}

/// Writes checks of the numbers of used elements that the method returned for arrays by reference.
fn used(out: &mut Writer, plan: &MethodPlan<'_>) {
    for param in &plan.params {
        let Passing::Reference { length: Some(length), .. } = &param.passing else { continue };
        let raw = &param.param.code;
        let used = claim_text(plan, length, Side::Local);
        out.line(format!("if result.0 >= 0 && {used} > {raw}_count {{"));
        out.line("return Err(obvia::rt::Status::BAD_STUB_DATA);");
        out.line("}");
    }
}

/// Writes the check for the lent array's room. The stub checks the room first, because the whole
/// stub runs again if room had to be made.
fn lent_room(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    let Some(lent) = plan.lent() else { return };
    let Passing::Lent { element, room, .. } = &lent.passing else { return };
    let (raw, name, ty) = (&lent.param.code, binding(&lent.param.code), value(context.model, element));
    let measures = format!("::<{ty}>(call, {}, {room}", plan.reply_block);
    out.line(format!("let Some({raw}_room) = obvia::rt::lend{measures}) else {{"));
    out.line("// SAFETY: these are the arguments of this function.");
    out.line(format!("return unsafe {{ obvia::rt::lend_again{measures}, object, {}_stub) }};", context.stem(plan)));
    out.line("};");
    out.line(format!("let mut {name} = {raw}_room;"));
}

/// Writes a reply in which the lent elements follow the block.
fn lent_reply(out: &mut Writer, plan: &MethodPlan<'_>, lent: &ParamPlan<'_>) {
    let Passing::Lent { size, room, .. } = &lent.passing else { return };
    let (raw, name) = (&lent.param.code, binding(&lent.param.code));
    out.line("if result.0 < 0 {");
    out.line("return Ok(obvia::rt::no_results(result));");
    out.line("}");
    let count = size_text(plan, size, Side::Local);
    out.line("// SAFETY: by COM's rules, the method's results are readable.");
    out.line(format!(
        "let (frame, length) = unsafe {{ call.lent({}, ({raw}_room, {room}), {name}, {count}) }}?;",
        plan.reply_block
    ));
    stores(out, plan, "frame");
    out.line("Ok(obvia::rt::results_unpadded(result, length))");
}

/// Writes the beginning of a stub.
pub(super) fn begin(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    out.line(format!(
        "unsafe extern \"C-unwind\" fn {}_stub(object: *mut obvia::rt::c_void, call: &mut obvia::rt::ServerCall<'_>) -> obvia::rt::Answer {{",
        context.stem(plan)
    ));
    lent_room(out, context, plan);
    out.line("obvia::rt::serve(call, |call| {");
}

/// Writes the end of a stub.
pub(super) fn end(out: &mut Writer) {
    out.line("})");
    out.line("}");
    out.line("");
}

/// Writes the call of the method. The arguments are expressions, each after a comma.
pub(super) fn invoke(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>, argument: &str) {
    out.line("// SAFETY: the object has this interface, and the pointers lead to data that was checked above.");
    out.line(format!(
        "let result = unsafe {{ (obvia::rt::vtable::<{}_Vtbl>(object).{})(object{argument}) }};",
        declared_in(context, plan),
        ident(&plan.method.name)
    ));
}

fn request(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    let all = plan.ordered(true);
    let block = plan.request_is_block();
    let read = all.iter().any(|param| param.request.is_some());
    let function = if block { "block" } else { "frame" };
    out.line(format!("{}call.{function}({})?;", if read { "let frame = " } else { "" }, plan.request_block));
    for param in all.iter().filter(|param| param.passing.in_block()) {
        if let Passing::Value(ty) | Passing::RefPointer(ty) = &param.passing {
            let mutable = if matches!(param.passing, Passing::RefPointer(_)) && param.param.direction.is_out() {
                "mut "
            } else {
                ""
            };
            let name = binding(&param.param.code);
            let at = param.request.unwrap_or(0);
            out.line(format!("let {mutable}{name}: {} = obvia::rt::argument(frame, {at})?;", value(context.model, ty)));
            if let Some((least, most)) = param.param.range {
                out.line(format!("obvia::rt::argument_in_range({name} as i64, {least}, {most})?;"));
            }
        }
    }
    for (param, array, is_written) in plan.references() {
        let Passing::Reference { element, size, .. } = &param.passing else { continue };
        let (raw, ty, count) = (&param.param.code, value(context.model, element), claim_text(plan, size, Side::Local));
        out.line(format!("let {raw}_count = {count};"));
        let at = param.request.unwrap_or(0);
        out.line(format!(
            "let Some({raw}_data) = call.by_reference::<{ty}>({array}, {is_written}, {at}, {raw}_count) else {{"
        ));
        out.line("// SAFETY: these are the arguments of the stub.");
        let stub = format!("{}_stub", context.stem(plan));
        out.line(format!("return Ok(unsafe {{ call.refer_again({array}, {is_written}, {at}, object, {stub}) }});"));
        out.line("};");
    }
    if block {
        return;
    }
    out.line(format!("let mut request = obvia::rt::Arrays::after({});", plan.request_block));
    for param in all.iter().filter(|param| !param.passing.in_block()) {
        fetch(out, context, plan, param);
    }
}

fn count(out: &mut Writer, plan: &MethodPlan<'_>, param: &ParamPlan<'_>, size: &Arith) {
    let raw = &param.param.code;
    out.line(format!(
        "let {raw}_count = {}.ok_or(obvia::rt::Status::BAD_STUB_DATA)?;",
        size_text(plan, size, Side::Local)
    ));
}

fn fetch(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>, param: &ParamPlan<'_>) {
    let raw = &param.param.code;
    let at = param.request.unwrap_or(0);
    match &param.passing {
        Passing::Array { element, size, .. } => {
            count(out, plan, param, size);
            let kind = context.kind(element);
            if param.param.direction.is_out() && plan.early_reply {
                // The array is copied from the request directly into the reply: see `early_reply`.
            } else if is_scalar(element) {
                let mutable = if param.param.direction.is_out() { "_mut" } else { "" };
                out.line(format!(
                    "let {raw}_data = call.copy_in{mutable}::<{}>(&mut request, {at}, {kind}, {raw}_count)?;",
                    value(context.model, element)
                ));
            } else {
                let mutable = if param.param.direction.is_out() { "mut " } else { "" };
                out.line(format!(
                    "let {mutable}{raw}_data: Vec<{}> = call.values_in(&mut request, {at}, {kind}, {raw}_count)?;",
                    value(context.model, element)
                ));
            }
        }
        Passing::Optional(ty) => out.line(format!(
            "let {raw}_data: Option<{}> = call.optional_in(&mut request, {at}, {})?;",
            value(context.model, ty),
            context.kind(ty)
        )),
        Passing::Text { base, optional } => {
            out.line(format!(
                "let {raw}_data = call.text_in::<{}>(&mut request, {at}, {})?;",
                base_name(*base),
                text_kind(*base)
            ));
            if !optional {
                out.line(format!("if {raw}_data.is_null() {{"));
                out.line("return Err(obvia::rt::Status::BAD_STUB_DATA);");
                out.line("}");
            }
        }
        Passing::Object(object) => out.line(format!(
            "let {raw}_data = call.object_in(&mut request, {at}, {KIND_INTERFACE}, {})?;",
            interface_text(context, plan, object, false)
        )),
        _ => {}
    }
}

fn check_end(out: &mut Writer, plan: &MethodPlan<'_>) {
    if !plan.request_is_block() {
        out.line("call.end(request)?;");
    }
}

/// Writes the code that lays out the reply before the method runs.
fn early_reply(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    let behind: Vec<_> = plan.ordered(false).into_iter().filter(|param| !param.passing.in_block()).collect();
    for param in &behind {
        if let Passing::Array { size, .. } = &param.passing
            && !param.param.direction.is_in()
        {
            count(out, plan, param, size);
        }
    }
    out.line(format!("let measure = obvia::rt::Measure::block({})", plan.reply_block));
    for param in &behind {
        if let Passing::Array { element, .. } = &param.passing {
            let size = context.model.layout(element).0;
            out.line(format!(
                ".array({}_count, {size}).map_err(|_| obvia::rt::Status::REMOTE_NO_MEMORY)?",
                param.param.code
            ));
        }
    }
    out.line(";");
    out.line("let length = measure.length();");
    out.line("// SAFETY: the frame is not used after this stub has answered.");
    out.line("let mut reply = unsafe { call.reply(measure) }?;");
    out.line(format!("let mut arrays = obvia::rt::Arrays::after({});", plan.reply_block));
    for param in &behind {
        let Passing::Array { element, .. } = &param.passing else {
            continue;
        };
        let (raw, at, kind) = (&param.param.code, param.reply.unwrap_or(0), context.kind(element));
        let element = value(context.model, element);
        if param.param.direction.is_in() {
            out.line(format!(
                "let {raw}_data = reply.array_through::<{element}>(&mut arrays, {at}, {kind}, {raw}_count, (frame, &mut request, {}))?;",
                param.request.unwrap_or(0)
            ));
        } else {
            out.line(format!("let {raw}_data = reply.array::<{element}>(&mut arrays, {at}, {kind}, {raw}_count);"));
            if param.param.is_filled_text() {
                out.line(format!("if {raw}_count > 0 {{"));
                out.line("// SAFETY: the array has this number of elements. The string in it is empty until the method writes one.");
                out.line(format!("unsafe {{ {raw}_data.write(0) }};"));
                out.line("}");
            }
        }
    }
}

/// Declares variables for the results that are not in the reply.
fn results(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    for param in plan.ordered(false) {
        if param.param.direction.is_in() {
            continue;
        }
        let name = binding(&param.param.code);
        match &param.passing {
            Passing::RefPointer(ty) => {
                out.line(format!("let mut {name}: {} = obvia::rt::zero();", value(context.model, ty)))
            }
            Passing::OutText(_) | Passing::OutArray { .. } | Passing::OutObject(_) => {
                out.line(format!("let mut {name} = std::ptr::null_mut();"));
            }
            Passing::Array { element, size, .. } if !plan.early_reply => {
                count(out, plan, param, size);
                let raw = &param.param.code;
                out.line(format!(
                    "let mut {raw}_data: Vec<{}> = call.room({raw}_count)?;",
                    value(context.model, element)
                ));
            }
            _ => {}
        }
    }
}

/// Returns the argument for a parameter of the method.
fn argument(plan: &MethodPlan<'_>, param: &ParamPlan<'_>) -> String {
    let name = binding(&param.param.code);
    let raw = &param.param.code;
    let outwards = param.param.direction.is_out();
    match &param.passing {
        Passing::Value(_) => name,
        Passing::RefPointer(_) if outwards => format!("&mut {name}"),
        Passing::RefPointer(_) => format!("&{name}"),
        Passing::Array { .. } if outwards && plan.early_reply => format!("{raw}_data"),
        Passing::Array { element, .. } if outwards => {
            let scalar_in = is_scalar(element) && param.param.direction.is_in();
            if scalar_in { format!("{raw}_data") } else { format!("{raw}_data.as_mut_ptr()") }
        }
        Passing::Array { element, .. } if is_scalar(element) => format!("{raw}_data"),
        Passing::Array { .. } => format!("{raw}_data.as_ptr()"),
        Passing::Optional(_) => {
            format!("{raw}_data.as_ref().map_or(std::ptr::null(), std::ptr::from_ref)")
        }
        Passing::Text { .. } => format!("{raw}_data"),
        Passing::Object(_) => format!("{raw}_data.as_raw()"),
        Passing::OutText(_) | Passing::OutArray { .. } | Passing::Lent { .. } | Passing::OutObject(_) => {
            format!("&mut {name}")
        }
        Passing::Reference { .. } => format!("{raw}_data"),
        Passing::Graph | Passing::Automation(_) | Passing::Raw(_) => "()".to_owned(),
    }
}

fn stores(out: &mut Writer, plan: &MethodPlan<'_>, frame: &str) {
    for param in plan.ordered(false).iter().filter(|param| param.passing.in_block()) {
        let (name, at) = (binding(&param.param.code), param.reply.unwrap_or(0));
        out.line(format!("obvia::rt::Value::store(&{name}, {frame}, {at});"));
    }
}

/// Writes a reply that consists only of its block.
fn block_reply(out: &mut Writer, plan: &MethodPlan<'_>) {
    if plan.reply_block == 0 {
        out.line("Ok(obvia::rt::no_results(result))");
        return;
    }
    if plan.reply_block <= INLINE_MAX {
        out.line("let frame = call.inline_reply();");
    } else {
        out.line("// SAFETY: the frame is not used after this stub has answered.");
        let measure = format!("obvia::rt::Measure::block({})", plan.reply_block);
        out.line(format!("let mut reply = unsafe {{ call.reply({measure}) }}?;"));
        out.line("let frame = reply.bytes();");
    }
    stores(out, plan, "frame");
    out.line(format!("Ok(obvia::rt::results(result, {}))", plan.reply_block));
}

fn finish_early(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    out.line("let frame = reply.bytes();");
    stores(out, plan, "frame");
    let last = plan.ordered(false).into_iter().rfind(|param| !param.passing.in_block());
    if let Some(param) = last
        && let Passing::Array { element, length: Some(length), .. } = &param.passing
    {
        let raw = &param.param.code;
        let size = context.model.layout(element).0;
        out.line(format!(
            "let used = obvia::rt::at_most({}, {raw}_count).map_err(|_| obvia::rt::Status::BAD_STUB_DATA);",
            size_text(plan, length, Side::Local)
        ));
        out.line("let length = if result.0 < 0 {");
        out.line("0");
        out.line("} else {");
        out.line(format!("reply.shorten({raw}_data.cast(), used?, {size})"));
        out.line("};");
    }
    out.line("Ok(obvia::rt::results(result, length))");
}

/// Writes a reply whose length depends on the method's results.
fn late_reply(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    let behind: Vec<_> = plan.ordered(false).into_iter().filter(|param| !param.passing.in_block()).collect();
    // From here on, values of owner types free the results at every exit of the stub.
    for param in &behind {
        own(out, context, plan, param);
    }
    out.line("if result.0 < 0 {");
    out.line("return Ok(obvia::rt::no_results(result));");
    out.line("}");
    out.line(format!("let measure = obvia::rt::Measure::block({})", plan.reply_block));
    for param in &behind {
        out.line(format!("{}.map_err(|_| obvia::rt::Status::REMOTE_NO_MEMORY)?", measured(context, param)));
    }
    out.line(";");
    out.line("let length = measure.length();");
    out.line("// SAFETY: the frame is not used after this stub has answered.");
    out.line("let mut reply = unsafe { call.reply(measure) }?;");
    out.line("let frame = reply.bytes();");
    stores(out, plan, "frame");
    out.line(format!("let mut arrays = obvia::rt::Arrays::after({});", plan.reply_block));
    for param in &behind {
        place(out, context, param);
    }
    out.line("Ok(obvia::rt::results(result, length))");
}

fn own(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>, param: &ParamPlan<'_>) {
    let (name, raw) = (binding(&param.param.code), &param.param.code);
    match &param.passing {
        Passing::Array { length: Some(length), .. } => out.line(format!(
            "let {raw}_used = if result.0 < 0 {{ 0 }} else {{ obvia::rt::at_most({}, {raw}_count).map_err(|_| obvia::rt::Status::BAD_STUB_DATA)? }};",
            size_text(plan, length, Side::Local)
        )),
        Passing::OutText(base) => {
            out.line("// SAFETY: by COM's rules, the method returned null or a string that it allocated.");
            out.line(format!("let {raw}_data = unsafe {{ obvia::rt::OwnedText::<{}>::adopt({name}) }};", base_name(*base)));
        }
        Passing::OutArray { element, size } => {
            out.line("// SAFETY: by COM's rules, the method returned an array that it allocated, and the number of its elements.");
            out.line(format!(
                "let {raw}_data = unsafe {{ obvia::rt::OwnedArray::<{}>::adopt({name}, {}.unwrap_or(0)) }};",
                value(context.model, element),
                size_text(plan, size, Side::Local)
            ));
        }
        Passing::OutObject(object) => {
            out.line("// SAFETY: by COM's rules, the method returned null or an interface pointer that the caller owns.");
            out.line(format!(
                "let {raw}_reference = unsafe {{ obvia::rt::reference_for_caller({name}, {}, result) }}?;",
                interface_text(context, plan, object, false)
            ));
        }
        _ => {}
    }
}

fn measured(context: &Context<'_>, param: &ParamPlan<'_>) -> String {
    let raw = &param.param.code;
    match &param.passing {
        Passing::Array { element, length, .. } => {
            let count = if length.is_some() { "used" } else { "count" };
            format!(".array({raw}_{count}, {})", context.model.layout(element).0)
        }
        Passing::OutText(base) => format!(".optional(!{raw}_data.is_null(), {raw}_data.count() * {})", base.size()),
        Passing::OutArray { element, .. } => {
            format!(".optional(!{raw}_data.is_null(), {raw}_data.count() * {})", context.model.layout(element).0)
        }
        _ => format!(".optional(!{raw}_reference.is_empty(), {raw}_reference.len())"),
    }
}

fn place(out: &mut Writer, context: &Context<'_>, param: &ParamPlan<'_>) {
    let (raw, at) = (&param.param.code, param.reply.unwrap_or(0));
    match &param.passing {
        Passing::Array { element, length, .. } => {
            let count = if length.is_some() { "used" } else { "count" };
            let scalar_in = is_scalar(element) && param.param.direction.is_in();
            let pointer = if scalar_in { format!("{raw}_data") } else { format!("{raw}_data.as_ptr()") };
            let function = if is_scalar(element) { "put_array" } else { "put_values" };
            out.line("// SAFETY: the method had room for that many elements.");
            out.line(format!(
                "unsafe {{ obvia::rt::{function}(frame, &mut arrays, {at}, {}, {raw}_{count}, {pointer}) }};",
                context.kind(element)
            ));
        }
        Passing::OutText(base) => {
            out.line(format!("{raw}_data.place(frame, &mut arrays, {at}, {});", text_kind(*base)))
        }
        Passing::OutArray { element, .. } => {
            out.line(format!("{raw}_data.place(frame, &mut arrays, {at}, {});", context.kind(element)));
        }
        _ => {
            out.line(format!("obvia::rt::put_reference(frame, &mut arrays, {at}, {KIND_INTERFACE}, &{raw}_reference);"))
        }
    }
}
