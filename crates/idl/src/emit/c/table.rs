//! Methods that tables describe. The proxy gives the library the addresses of its arguments. In the
//! server, the library gives the addresses of the received arguments to a function of the stub,
//! which calls the method.

use super::context::{Context, layout_table};
use super::names::{binding, method as method_name, parameter, parameters};
use super::words::{self, is_place};
use super::{limits, suffix};
use crate::model::{Extent, Model, Type};
use crate::plan::{MethodPlan, ParamPlan, Passing};
use crate::text::writer::Writer;

/// The maximum number of strings and arrays of a method whose stub is generated code instead of a
/// table. Each error path of such a stub frees all strings and arrays, so the size of the code
/// grows with the square of their number.
const IN_CODE_MAX: usize = 32;

/// Whether a method uses tables. These methods do:
///
/// - methods with more than [`IN_CODE_MAX`] strings and arrays, unless they lend an array or pass
///   arrays by reference;
/// - methods that fill an array and allocate a string;
/// - methods with parameters other than values, strings, lent arrays, arrays in the caller's
///   memory, and arrays by reference.
pub(super) fn is_by_table(plan: &MethodPlan<'_>) -> bool {
    let is_behind =
        |passing: &Passing| matches!(passing, Passing::Text { .. } | Passing::OutText(_) | Passing::Array { .. });
    let has_many = plan.params.iter().filter(|param| is_behind(&param.passing)).count() > IN_CODE_MAX;
    if has_many && !plan.refers() && plan.lent().is_none() {
        return true;
    }
    let allocates = plan.params.iter().any(|param| matches!(param.passing, Passing::OutText(_)));
    plan.params.iter().any(|param| match &param.passing {
        Passing::Value(_)
        | Passing::RefPointer(_)
        | Passing::Text { .. }
        | Passing::OutText(_)
        | Passing::Lent { .. }
        | Passing::Reference { .. } => false,
        Passing::Array { .. } => param.param.direction.is_out() && allocates,
        _ => true,
    })
}

/// Whether the proxies and stubs of these methods have tables. `[local]` methods have none.
pub(super) fn has_tables(plans: &[MethodPlan<'_>]) -> bool {
    plans.iter().any(|plan| !plan.method.local && is_by_table(plan))
}

/// Returns the reason why a parameter is not supported. `None` for a supported parameter.
pub(super) fn refuse(model: &Model, param: &ParamPlan<'_>) -> Option<&'static str> {
    let is_text = matches!(&param.param.ty, Type::Pointer(pointer) if pointer.extent == Extent::Text);
    if is_text && param.param.direction.is_out() && !is_place(model, param) {
        return Some("a string that the method changes in place");
    }
    limits::parameter(model, param.param).err()
}

fn table(context: &Context<'_>, plan: &MethodPlan<'_>) -> String {
    context.made(plan, suffix::TABLE)
}

fn types_name(context: &Context<'_>) -> String {
    format!("{}{}", context.name, suffix::TYPES)
}

/// Writes the table of an interface's types.
pub(super) fn types(out: &mut Writer, context: &Context<'_>) {
    words::types(out, context.model, &context.kinds, &types_name(context));
}

/// Writes a method's table, its proxy and its stub.
pub(super) fn method(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    layout_table(out, context, plan);
    words::method(out, context.model, &context.kinds, plan, &types_name(context), &table(context, plan));
    proxy(out, context, plan);
    stub(out, context, plan);
}

fn proxy(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    let params = parameters(context.model, plan, binding);
    let mut arguments = "arguments".to_owned();
    while plan.params.iter().any(|param| binding(&param.param.code) == arguments) {
        arguments.push('_');
    }
    let given = |param: &ParamPlan<'_>| {
        let name = binding(&param.param.code);
        if is_place(context.model, param) { name } else { format!("&{name}") }
    };
    let given: Vec<String> = plan.params.iter().map(given).collect();
    out.line(format!("static HRESULT {}({} *self{params})", context.proxy(plan), context.name));
    out.line("{");
    super::values::limits(out, plan);
    out.line(format!("const void *const {arguments}[] = {{{}}};", given.join(", ")));
    out.line(format!("return obvia_call_by_table(self, &{}, {arguments});", table(context, plan)));
    out.line("}");
    out.line("");
}

fn stub(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    let name = &context.name;
    let invoke = context.made(plan, suffix::INVOKE);
    let given: String = plan.params.iter().enumerate().map(|(at, param)| argument(context.model, at, param)).collect();
    out.line(format!("static HRESULT {invoke}(void *object, void **arguments)"));
    out.line("{");
    out.line(format!("{name} *self = ({name} *)object;"));
    let call = format!("(self->lpVtbl->{})(self{given});", method_name(&plan.method.code));
    // As in stubs, any method may look up the state of a context handle.
    if context.has_contexts {
        out.line(format!("const HRESULT result = {call}"));
        out.line("obvia_context_used();");
        out.line("return result;");
    } else {
        out.line(format!("return {call}"));
    }
    out.line("}");
    out.line("");
    out.line(format!("static obvia_answer {}(void *object, obvia_call *call)", context.stub(plan)));
    out.line("{");
    out.line(format!("return obvia_serve_by_table(object, call, &{}, {invoke});", table(context, plan)));
    out.line("}");
    out.line("");
}

/// Returns the expression for an argument of the method, from its address.
fn argument(model: &Model, at: usize, param: &ParamPlan<'_>) -> String {
    match &param.param.ty {
        // An array is passed as a pointer to its first element.
        Type::Fixed(element, _) => format!(", ({})arguments[{at}]", super::names::pointer_to(model, element, "")),
        _ if is_place(model, param) => format!(", ({})arguments[{at}]", parameter(model, param, "")),
        _ => format!(", *({})arguments[{at}]", parameter(model, param, "*")),
    }
}
