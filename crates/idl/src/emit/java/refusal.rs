//! What this back end leaves out, and what it cannot do yet.

use super::values::flat;
use crate::Diagnostic;
use crate::model::{Base, InterfaceId, Method, Model, Object, Type};
use crate::plan::{MethodPlan, ParamPlan, Passing, plan};

/// Why nothing is made of an interface, where nothing is.
pub(super) fn left_out(model: &Model, id: InterfaceId) -> Option<Diagnostic> {
    let found = &model.interfaces[id.0];
    let why = if found.local {
        "is [local]: there are no proxies of it"
    } else if found.plain {
        "is no object's, but one of functions"
    } else {
        return None;
    };
    let text = format!("interface `{}` {why}: nothing is written for it in Java", found.name);
    Some(Diagnostic::warning("left-out", found.span, text))
}

/// What of an interface cannot be done.
pub(super) fn refuse(model: &Model, id: InterfaceId) -> Vec<Diagnostic> {
    let found = &model.interfaces[id.0];
    if found.dual || model.lineage(id).iter().any(|id| model.is_built_in(*id)) {
        let text = format!("interface `{}` extends IDispatch: the Java back end does not do that yet", found.name);
        return vec![Diagnostic::error("not-yet", found.span, text)];
    }
    model.all_methods(id).into_iter().flat_map(|method| refuse_method(model, method)).collect()
}

fn refuse_method(model: &Model, method: &Method) -> Vec<Diagnostic> {
    let plan = plan(model, method);
    let refusal = |param: &ParamPlan<'_>| {
        let what = refuse_parameter(model, &plan, param)?;
        let text = format!(
            "method `{}` has a parameter `{}` that is {what}: the Java back end does not do that yet",
            method.name, param.param.name
        );
        let help = "what it does is in docs/idl.md";
        Some(Diagnostic::error("not-yet", param.param.span, text).help(help))
    };
    plan.params.iter().filter_map(refusal).collect()
}

fn refuse_parameter(model: &Model, plan: &MethodPlan<'_>, param: &ParamPlan<'_>) -> Option<&'static str> {
    if param.param.memory.is_some() {
        return Some("one of Automation's types");
    }
    match &param.passing {
        Passing::Value(ty) | Passing::Place(ty) => has_handle(model, ty).then_some("a context handle"),
        Passing::Optional(Type::Fixed(..)) => Some("an array of fixed size that may be missing"),
        Passing::Optional(ty) => has_handle(model, ty).then_some("a context handle"),
        Passing::Array { size, element, .. } => {
            let mut is_result = false;
            size.operands(&mut |operand| is_result |= !plan.params[operand.index].param.direction.is_in());
            if is_result { Some("an array whose room only the results tell") } else { element_refused(model, element) }
        }
        Passing::OutArray { element, .. } => element_refused(model, element),
        Passing::Object(object) | Passing::OutObject(object) => match object {
            Object::Known(id) if left_out(model, *id).is_some() => Some("an object of an interface that is left out"),
            Object::Known(id) if model.is_built_in(*id) || model.interfaces[id.0].dual => {
                Some("an object whose interface extends IDispatch")
            }
            _ => None,
        },
        Passing::Lent { .. } => Some("an array that the method lends"),
        Passing::Graph => Some("a structure with pointers, or a union"),
        Passing::Text { .. } | Passing::OutText(_) | Passing::Reference { .. } | Passing::Automation(_) => None,
    }
}

fn element_refused(model: &Model, element: &Type) -> Option<&'static str> {
    match element {
        Type::Fixed(..) => Some("an array of arrays"),
        element => has_handle(model, element).then_some("an array of context handles"),
    }
}

/// Whether a value has a context handle in it.
fn has_handle(model: &Model, ty: &Type) -> bool {
    match flat(ty).0 {
        Type::Base(base) => *base == Base::Context,
        Type::Struct(id) => model.structs[id.0].fields.iter().any(|field| has_handle(model, &field.ty)),
        _ => false,
    }
}
