//! The declarations that this back end omits, and the declarations that it does not support.

use super::fields::fields;
use super::limits;
use super::members::{Seen, is_full, is_shared, seen};
use super::method::plan;
use crate::Diagnostic;
use crate::model::{Arith, Extent, Field, InterfaceId, Method, Model, Object, Type, UnionId, all_arms};
use crate::plan::{MethodPlan, ParamPlan, Passing, has_context, in_place, is_automation_wire, unsupported};

const AUTOMATION: &str = "one of Automation's types";

/// Returns a warning with the reason why an interface is omitted. `None` if the interface is not
/// omitted.
pub(super) fn left_out(model: &Model, id: InterfaceId) -> Option<Diagnostic> {
    let found = &model.interfaces[id.0];
    let why = if found.local {
        "is [local]: there are no proxies of it"
    } else if found.plain {
        "has functions and no objects"
    } else {
        return None;
    };
    let text = format!("interface `{}` {why}: nothing is written for it in Java", found.name);
    Some(Diagnostic::warning("left-out", found.span, text))
}

/// Returns errors for the unsupported parts of an interface.
pub(super) fn refuse(model: &Model, id: InterfaceId) -> Vec<Diagnostic> {
    let found = &model.interfaces[id.0];
    if found.dual || model.lineage(id).iter().any(|id| model.is_built_in(*id)) {
        let text =
            format!("interface `{}` extends IDispatch, which the Java back end does not support yet", found.name);
        return vec![Diagnostic::error("not-yet", found.span, text)];
    }
    let unsupported = unsupported(model, id, "Java", false);
    if !unsupported.is_empty() {
        return unsupported;
    }
    model.remote_methods(id).into_iter().flat_map(|method| refuse_method(model, method)).collect()
}

/// Returns the first error for a method that this back end does not support. `None` if the method
/// is supported.
pub(super) fn refuse_first(model: &Model, method: &Method) -> Option<Diagnostic> {
    if method.local { None } else { refuse_method(model, method).into_iter().next() }
}

fn refuse_method(model: &Model, method: &Method) -> Vec<Diagnostic> {
    let plan = plan(model, method);
    let refusal = |param: &ParamPlan<'_>| {
        let what = refuse_parameter(model, &plan, param)?;
        let text = format!(
            "method `{}` has a parameter `{}` that is {what}, which the Java back end does not support yet",
            method.name, param.param.name
        );
        let help = "docs/idl.md lists what this back end refuses";
        Some(Diagnostic::error("not-yet", param.param.span, text).help(help))
    };
    plan.params.iter().filter_map(refusal).chain(limits::method(&plan)).collect()
}

fn refuse_parameter(model: &Model, plan: &MethodPlan<'_>, param: &ParamPlan<'_>) -> Option<&'static str> {
    if param.param.memory.is_some() {
        return Some(AUTOMATION);
    }
    if plan.has_graph() && matches!(param.passing, Passing::Array { .. }) && param.param.direction.is_out() {
        return Some(
            "an [out] array in the caller's room beside structures with pointers or [in, out, unique] pointers",
        );
    }
    match &param.passing {
        Passing::Value(ty) | Passing::RefPointer(ty) => has_context(model, ty).then_some("a context handle"),
        Passing::Optional(Type::Fixed(..)) => Some("an array of fixed size that may be missing"),
        Passing::Optional(ty) => has_context(model, ty).then_some("a context handle"),
        Passing::Array { element, .. } | Passing::OutArray { element, .. } => element_refused(model, element),
        Passing::Object(object) | Passing::OutObject(object) => refuse_object(model, object),
        Passing::Lent { .. } => Some("an array that the method lends"),
        Passing::Raw(_) => Some("a pointer without a declared number of elements"),
        Passing::Graph => refuse_graph(model, plan, param),
        Passing::Text { .. } | Passing::OutText(_) | Passing::Reference { .. } | Passing::Automation(_) => None,
    }
}

/// Returns the reason why a parameter with pointers is not supported. `None` for a supported
/// parameter.
fn refuse_graph(model: &Model, plan: &MethodPlan<'_>, param: &ParamPlan<'_>) -> Option<&'static str> {
    let ty = in_place(model, param.param);
    let found = match seen(model, ty) {
        Err(why) => return Some(why),
        Ok(found) => found,
    };
    match found {
        Seen::Array { element, .. } if is_shared(model, element) || is_full(ty) => {
            Some("an array of structures with [ptr] pointers")
        }
        Seen::Array { element, .. } => pointed_to(model, element),
        Seen::One(to) if is_full(ty) && !matches!(to, Type::Struct(_)) => Some("a [ptr] pointer to a number"),
        Seen::One(to) => pointed_to(model, to),
        Seen::Inner if is_shared(model, ty) => Some("a structure with [ptr] pointers that is no object of its own"),
        Seen::Inner => pointed_to(model, ty),
        Seen::Elements { .. } => Some("an array of fixed size whose elements have pointers, unions or ranges"),
        Seen::Union(id) => {
            let of = |at: usize| Some(in_place(model, plan.params.get(at)?.param));
            refuse_switch(model, id, param.param.switch.as_ref(), of).or_else(|| members(model, ty))
        }
        Seen::Object(object) => refuse_object(model, object),
        Seen::Text { .. } | Seen::Plain => None,
    }
}

/// Whether the parameter is an array in memory of the caller.
pub(super) fn in_room(param: &ParamPlan<'_>) -> bool {
    matches!(&param.param.ty, Type::Pointer(pointer) if matches!(pointer.extent, Extent::Counted { .. }))
}

fn refuse_object(model: &Model, object: &Object) -> Option<&'static str> {
    match object {
        Object::Known(id) if left_out(model, *id).is_some() => Some("an object of an interface that is left out"),
        Object::Known(id) if model.is_built_in(*id) || model.interfaces[id.0].dual => {
            Some("an object whose interface is or extends IDispatch")
        }
        _ => None,
    }
}

fn pointed_to(model: &Model, ty: &Type) -> Option<&'static str> {
    match ty {
        Type::Struct(_) | Type::Union(_) => members(model, ty),
        Type::Pointer(pointer) => pointed_to(model, &pointer.to),
        ty => element_refused(model, ty),
    }
}

/// Returns the reason why a structure or a union, or a type that it leads to, is not supported.
/// `None` for a supported type.
pub(super) fn members(model: &Model, ty: &Type) -> Option<&'static str> {
    let refused = model.known.java.get_or_init(|| model.refusals(|ty| refusal_of_members(model, ty)));
    refused.get(model.innermost(ty)).copied()
}

/// Returns the reason why a structure or a union itself is not supported, apart from the types that
/// it leads to. `None` for a supported type.
fn refusal_of_members(model: &Model, ty: &Type) -> Option<&'static str> {
    if model.opaque.contains_key(ty) || model.unsupported.contains_key(ty) {
        return Some("a type that no call can carry");
    }
    if is_automation_wire(model, ty) {
        return Some(AUTOMATION);
    }
    let objects = model.inner(ty).into_iter().find_map(|inner| match model.innermost(inner) {
        Type::Interface(object) => refuse_object(model, object),
        _ => None,
    });
    let of_members = match ty {
        Type::Struct(id) => {
            let all = fields(&model.structs[id.0]);
            all.iter().find_map(|field| member(model, &all, field))
        }
        Type::Union(id) => {
            let leads = |field: &Field| match seen(model, &field.ty) {
                Ok(Seen::One(to)) => is_full(&field.ty) && !is_shared(model, to),
                _ => false,
            };
            let arms = || all_arms(&model.unions[id.0]);
            if arms().any(leads) {
                return Some("a union with a [ptr] pointer to a structure without [ptr] members");
            }
            arms().find_map(|field| member(model, &[], field))
        }
        _ => None,
    };
    objects.or(of_members)
}

/// Returns the reason why an expression cannot select a union's arm. `None` if the expression can.
/// `of` returns the types of operands.
fn refuse_switch<'t>(
    model: &Model,
    id: UnionId,
    switch: Option<&Arith>,
    of: impl Fn(usize) -> Option<&'t Type>,
) -> Option<&'static str> {
    let tag = &model.unions[id.0].tag;
    match switch {
        None => Some("a union without a discriminant"),
        // An operand of another type than the enumeration can have values that Java's enumeration
        // cannot represent.
        Some(switch)
            if matches!(tag, Type::Enum(_)) && switch.plain().is_none_or(|operand| of(operand.index) != Some(tag)) =>
        {
            Some("a union whose discriminant is an enumeration that a value of another type selects")
        }
        Some(_) => None,
    }
}

fn member(model: &Model, fields: &[Field], field: &Field) -> Option<&'static str> {
    let found = match seen(model, &field.ty) {
        Err(why) => return Some(why),
        Ok(found) => found,
    };
    match found {
        Seen::Plain => has_context(model, &field.ty).then_some("a context handle"),
        Seen::Array { element: Type::Fixed(..), .. } => Some("an array of arrays"),
        Seen::Array { .. } if is_full(&field.ty) => Some("a [ptr] pointer to an array"),
        Seen::One(to) if is_full(&field.ty) && !matches!(to, Type::Struct(_)) => Some("a [ptr] pointer to a number"),
        Seen::Array { element, .. } | Seen::Elements { element, .. } if is_shared(model, element) => {
            Some("an array of structures with [ptr] pointers")
        }
        Seen::Inner if is_shared(model, &field.ty) => Some("a structure with [ptr] pointers within another"),
        Seen::Union(id) => refuse_switch(model, id, field.switch.as_ref(), |at| Some(&fields.get(at)?.ty)),
        Seen::Object(object) => refuse_object(model, object),
        _ => None,
    }
}

fn element_refused(model: &Model, element: &Type) -> Option<&'static str> {
    match element {
        Type::Fixed(..) => Some("an array of arrays"),
        Type::Interface(object) => refuse_object(model, object),
        element => has_context(model, element).then_some("an array of context handles"),
    }
}
