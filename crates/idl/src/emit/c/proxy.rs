//! Proxies: the functions in the vtable of interface proxies.

use super::context::{Array, Context, Named, arrays, block_end, block_type, fail, leave, place, position};
use super::expression::{Side, count};
use super::names::{binding, declare, local, named_signature, of_dispatch, parameters, pointer_to, quoted, type_name};
use super::values::{
    check, check_count, check_elements, exceeds_stack, is_checked, is_loaded, is_padded, limits, range, refuse, store,
    store_elements, utf8,
};
use super::{by_reference, lent, suffix};
use crate::model::Type;
use crate::plan::{INLINE_MAX, MethodPlan, ParamPlan, Passing};
use crate::text::writer::Writer;

/// Writes the function in the vtables of proxies for a method that other processes cannot call. The
/// function does not write to the results.
pub(super) fn refusal(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    let object = format!("{} *self", context.name);
    out.line(format!("static {}", named_signature(context.model, plan, &context.proxy(plan), &object, binding)));
    out.line("{");
    out.line("(void)self;");
    let names: Vec<String> = match of_dispatch(context.model, plan.method) {
        Some(known) => known.iter().map(|(_, name)| (*name).to_owned()).collect(),
        None => plan.in_vtable().iter().map(|param| binding(&param.param.code)).collect(),
    };
    names.iter().for_each(|name| out.line(format!("(void){name};")));
    let refuse = format!("obvia_refuse_local({});", quoted(&format!("{}.{}", context.name, plan.method.name)));
    if !plan.method.returns_directly() {
        out.line(format!("return {refuse}"));
    } else {
        // A result without room for a failure is zero.
        out.line(refuse);
        if let Some(ty) = plan.method.direct_result() {
            out.line(format!("static {};", declare(context.model, ty, "nothing")));
            out.line("return nothing;");
        }
    }
    out.line("}");
    out.line("");
}

pub(super) fn proxy(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    let params = format!("{} *self{}", context.name, parameters(context.model, plan, binding));
    let given: String = plan.params.iter().map(|param| format!(", {}", binding(&param.param.code))).collect();
    let (name, prepare) = (context.proxy(plan), context.made(plan, suffix::PREPARE));
    out.line(format!("static OBVIA_COLD HRESULT {prepare}({params});"));
    if plan.refers() {
        out.line(format!("static OBVIA_COLD HRESULT {}({params});", context.made(plan, suffix::OTHER_REGIONS)));
    }
    out.line("");
    out.line(format!("static HRESULT {name}({params})"));
    out.line("{");
    out.line("const obvia_proxy *proxy = (const obvia_proxy *)self;");
    // COM requires null results after any failure.
    for array in arrays(plan, false).iter().filter(|array| array.text_kind().is_some()) {
        out.line(format!("*{} = NULL;", binding(&array.param.param.code)));
    }
    out.line(format!("OBVIA_BEGIN(proxy, calls, {prepare}(self{given}))"));
    by_reference::convert_addresses(out, context, plan, &given);
    let length = request(out, context, plan);
    let opnum = plan.opnum;
    if plan.method.oneway {
        out.line(format!("obvia_send(calls, OBVIA_REQUEST({opnum}, {length}), proxy->target);"));
        out.line("return S_OK;");
    } else {
        out.line(format!(
            "const obvia_reply reply = obvia_exchange(calls, OBVIA_REQUEST({opnum}, {length}), proxy->target);"
        ));
        results(out, context, plan);
        out.line("return obvia_result(reply);");
    }
    out.line("}");
    out.line("");
    out.line(format!("static HRESULT {prepare}({params})"));
    out.line("{");
    out.line("const HRESULT prepared = obvia_prepare((const obvia_proxy *)self, &obvia_calls_at_hand);");
    out.line(format!("return prepared < 0 ? prepared : {name}(self{given});"));
    out.line("}");
    out.line("");
    if plan.refers() {
        by_reference::write_other_regions(out, context, plan, &params, &given);
    }
}

/// Writes the code that lays out the request, and returns the expression for the request's length.
fn request(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) -> String {
    let behind = arrays(plan, true);
    limits(out, plan);
    by_reference::rooms(out, plan);
    let is_only_out = |array: &&Array<'_, '_>| !array.param.param.direction.is_in() && array.size.is_some();
    for array in behind.iter().chain(arrays(plan, false).iter().filter(is_only_out)) {
        let name = local(plan, array.param, "count");
        let too_many = fail(&format!("obvia_too_many({name})"));
        if let Some(size) = array.size {
            count(out, plan, &name, size, Side::BeforeCall);
            check_count(out, context.model, array.element, size, &name, &too_many);
        } else {
            text_count(out, context, array, &name, &too_many);
        }
    }
    if plan.ordered(true).is_empty() {
        return "0".to_owned();
    }
    let block = context.block(plan, true);
    let length = if behind.is_empty() {
        let length = format!("OBVIA_ALIGN(sizeof({block}))");
        if plan.request_block <= INLINE_MAX {
            out.line(format!("{block} *request = ({block} *)calls->slot;"));
        } else {
            out.line(format!("{block} *request = ({block} *)obvia_request(calls, {length}, {length} + 8);"));
            refuse(out, "request == NULL", &leave("obvia_no_request()"));
        }
        length
    } else {
        let named: Vec<_> = behind.iter().map(|array| at_and_count(plan, array, "at", "count")).collect();
        let mut end = block_end(&block);
        for (array, one) in behind.iter().zip(&named) {
            end = position(out, context, &end, one, array.size.is_none());
        }
        out.line(format!("const uint64_t length = {end};"));
        refuse(out, "length > OBVIA_FRAME_MAX", &fail("E_OUTOFMEMORY"));
        let bulk = &named[0].0;
        out.line(format!("{block} *request = ({block} *)obvia_request_place(calls, length, {bulk});"));
        refuse(out, "request == NULL", &leave("obvia_no_request()"));
        "length".to_owned()
    };
    for param in plan.ordered(true) {
        if let Some(ty) = block_type(param) {
            let name = binding(&param.param.code);
            let by_pointer = matches!(param.passing, Passing::RefPointer(_)) && !matches!(ty, Type::Fixed(..));
            let from = if by_pointer { format!("*{name}") } else { name.clone() };
            if is_loaded(ty) {
                out.line(format!("OBVIA_STORE({}, &request->{name}, {from});", type_name(context.model, ty)));
            } else {
                store(out, context.model, ty, &format!("request->{name}"), &from);
            }
        }
    }
    for (param, _) in by_reference::references(plan) {
        let (name, reference) = (binding(&param.param.code), local(plan, param, "reference"));
        out.line(format!("OBVIA_STORE(uint64_t, &request->{name}, {reference});"));
    }
    for array in &behind {
        put_array(out, context, plan, array);
    }
    length
}

/// Writes the code that counts a string's characters with the final zero. A null string has the
/// count 0.
fn text_count(out: &mut Writer, context: &Context<'_>, array: &Array<'_, '_>, name: &str, too_many: &[String]) {
    let text = binding(&array.param.param.code);
    let bits = 8 * context.model.layout(array.element).0;
    out.line(format!("const uint64_t {name} = obvia_text{bits}({text});"));
    if !array.is_optional {
        refuse(out, &format!("{name} == 0"), &fail("E_POINTER"));
    }
    let size = type_name(context.model, array.element);
    refuse(out, &format!("{name} > OBVIA_FRAME_MAX / sizeof({size})"), too_many);
}

fn at_and_count<'p>(plan: &MethodPlan<'_>, array: &Array<'p, '_>, at: &str, count: &str) -> (String, String, &'p Type) {
    (local(plan, array.param, at), local(plan, array.param, count), array.element)
}

fn put_array(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>, array: &Array<'_, '_>) {
    let (at, count, element) = at_and_count(plan, array, "at", "count");
    let name = binding(&array.param.param.code);
    let bytes = format!("{count} * sizeof({})", type_name(context.model, element));
    if let Some(kind) = array.text_kind() {
        return out.line(format!("obvia_put_text(request, &request->{name}, {at}, {kind}, {name}, {count}, {bytes});"));
    }
    let kind = context.kind(element);
    out.line(format!("obvia_put_array(request, &request->{name}, {at}, {kind}, {count}, {bytes});"));
    if is_padded(context.model, element) {
        let to = place(context, element, false, "request", &at);
        store_elements(out, context.model, element, &to, &name, &count);
    } else {
        out.line(format!("obvia_copy({}, {name}, {bytes});", place(context, element, false, "request", &at)));
    }
}

/// Writes the code that checks the results, and then stores them for the caller.
fn results(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    let params = plan.ordered(false);
    let refusal = leave("obvia_refusal(reply)");
    if params.is_empty() {
        refuse(out, "obvia_length(reply) != 0", &refusal);
        return by_reference::check_used(out, plan);
    }
    let block = context.block(plan, false);
    let behind = arrays(plan, false);
    out.line(format!("const {block} *results = (const {block} *)reply.frame;"));
    // The length of the reply is known before any result is read, unless results determine the
    // length.
    let is_known = behind.iter().all(|array| array.length.is_none() && array.size.is_some());
    let comparison = if behind.is_empty() && plan.lent().is_none() { "!=" } else { "<" };
    if behind.is_empty() || !is_known {
        // The caller of a failed method does not free results, so a peer must not send such results
        // together with a failure.
        let allocates = behind.iter().any(|array| array.text_kind().is_some());
        let failed = if allocates { "obvia_result(reply) < 0 || " } else { "" };
        refuse(out, &format!("{failed}obvia_length(reply) {comparison} OBVIA_ALIGN(sizeof *results)"), &refusal);
    }
    let known = is_known.then(|| find_arrays(out, context, plan, &behind));
    for param in &params {
        load(out, context, plan, param);
    }
    let found = known.unwrap_or_else(|| find_arrays(out, context, plan, &behind));
    by_reference::check_used(out, plan);
    lent::check(out, context, plan);
    copy_arrays(out, context, plan, &behind, &found);
    if let Some(lent) = plan.lent() {
        lent::take(out, context, plan, lent);
    }
    for param in &params {
        let name = binding(&param.param.code);
        let value = local(plan, param, "value");
        if matches!(param.passing, Passing::OutText(_)) {
            out.line(format!("*{name} = {value};"));
        }
        let Some(ty) = block_type(param) else { continue };
        let is_array = matches!(ty, Type::Fixed(..));
        if is_checked(context.model, ty) && exceeds_stack(context.model, plan, param, ty) {
            // `load` has copied the value to the caller's memory already.
        } else if is_array && is_checked(context.model, ty) {
            out.line(format!("memcpy({name}, {value}, sizeof {value});"));
        } else if is_loaded(ty) || is_checked(context.model, ty) {
            out.line(format!("*{name} = {value};"));
        } else {
            let address = if is_array { "" } else { "&" };
            out.line(format!("obvia_copy({name}, {address}results->{name}, sizeof results->{name});"));
        }
    }
}

/// Writes the code that copies a result that has to be checked, and checks the copy. A result that
/// is too large for the stack is copied to the caller's memory and checked there.
fn load(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>, param: &ParamPlan<'_>) {
    let Some(ty) = block_type(param) else { return };
    let model = context.model;
    let name = binding(&param.param.code);
    let mut value = local(plan, param, "value");
    let invalid = fail("RPC_E_INVALID_DATA");
    if is_checked(model, ty) && exceeds_stack(model, plan, param, ty) {
        // The value is copied only once, to the caller's memory, like the arrays of a reply.
        let is_array = matches!(ty, Type::Fixed(..));
        let address = if is_array { "" } else { "&" };
        value = if is_array { name.clone() } else { format!("(*{name})") };
        out.line(format!("obvia_copy({name}, {address}results->{name}, sizeof results->{name});"));
    } else if is_loaded(ty) {
        let text = type_name(model, ty);
        out.line(format!("const {text} {value} = OBVIA_LOAD({text}, &results->{name});"));
    } else if is_checked(model, ty) {
        let address = if matches!(ty, Type::Fixed(..)) { "" } else { "&" };
        out.line(format!("{};", super::names::declare(model, ty, &value)));
        out.line(format!("obvia_copy({address}{value}, {address}results->{name}, sizeof {value});"));
    } else {
        return;
    }
    check(out, model, ty, &value, &invalid);
    range(out, param, ty, &value, &invalid);
}

/// Writes the check that the arrays of the reply are in their places, and that nothing follows
/// them.
fn find_arrays<'p>(
    out: &mut Writer,
    context: &Context<'_>,
    plan: &MethodPlan<'_>,
    behind: &[Array<'p, '_>],
) -> Vec<Named<'p>> {
    let invalid = fail("RPC_E_INVALID_DATA");
    let mut found = Vec::new();
    for array in behind {
        let room = local(plan, array.param, "count");
        let mut used_count = room.clone();
        if let Some(length) = array.length {
            used_count = local(plan, array.param, "used");
            count(out, plan, &used_count, length, Side::AfterCall);
            refuse(out, &format!("{used_count} > {room}"), &invalid);
        }
        found.push((local(plan, array.param, "from"), used_count, array.element));
    }
    if behind.is_empty() {
        return found;
    }
    let mut end = block_end(&context.block(plan, false));
    for (array, one) in behind.iter().zip(&found) {
        end = position(out, context, &end, one, array.size.is_none());
        if let Some(kind) = array.text_kind() {
            let ((at, count, element), name) = (one, binding(&array.param.param.code));
            let size = type_name(context.model, element);
            out.line(format!(
                "const uint64_t {count} = obvia_text_count(results, obvia_length(reply), &results->{name}, {at}, {kind}, sizeof({size}));"
            ));
            refuse(out, &format!("{count} == UINT64_MAX"), &invalid);
        }
    }
    refuse(out, &format!("obvia_length(reply) != {end}"), &leave("obvia_refusal(reply)"));
    for (array, (from, count, element)) in behind.iter().zip(&found).filter(|(array, _)| array.size.is_some()) {
        let name = binding(&array.param.param.code);
        let kind = context.kind(element);
        refuse(out, &format!("!obvia_is_array(results, &results->{name}, {from}, {kind}, {count})"), &invalid);
    }
    found
}

/// Writes the code that copies the arrays of the reply to the caller's arrays, and checks them
/// there. Strings are copied to memory that the caller frees.
fn copy_arrays(
    out: &mut Writer,
    context: &Context<'_>,
    plan: &MethodPlan<'_>,
    behind: &[Array<'_, '_>],
    found: &[Named<'_>],
) {
    let model = context.model;
    let mut allocated: Vec<String> = Vec::new();
    for (array, (from, count, element)) in behind.iter().zip(found) {
        let (name, size) = (binding(&array.param.param.code), type_name(model, element));
        let leaving = |allocated: &[String], value: &str| -> Vec<String> {
            let free = allocated.iter().map(|name| format!("free({name});"));
            free.chain(fail(value)).collect()
        };
        if array.size.is_some() {
            let place = place(context, element, true, "results", from);
            out.line(format!("obvia_copy({name}, {place}, {count} * sizeof({size}));"));
            let invalid = leaving(&allocated, "RPC_E_INVALID_DATA");
            check_elements(out, model, element, &name, count, &invalid);
            if array.param.param.is_filled_text() {
                let bits = 8 * model.layout(element).0;
                refuse(out, &format!("!obvia_is_ended{bits}({name}, {count})"), &invalid);
            }
            continue;
        }
        let (value, bits) = (local(plan, array.param, "value"), 8 * model.layout(element).0);
        out.line(format!(
            "{} = ({size} *)obvia_receive_text(results, {from}, {count} * sizeof({size}));",
            pointer_to(model, element, &value)
        ));
        let no_memory = leaving(&allocated, "E_OUTOFMEMORY");
        refuse(out, &format!("{count} != 0 && {value} == NULL"), &no_memory);
        allocated.push(value.clone());
        let invalid = leaving(&allocated, "RPC_E_INVALID_DATA");
        refuse(out, &format!("!obvia_is_text{bits}({value}, {count})"), &invalid);
        utf8(out, array.param, &value, &invalid);
    }
}
