//! What this back end leaves out, and what it cannot do yet.

use super::members::{Seen, is_full, is_shared, seen};
use super::values::flat;
use crate::Diagnostic;
use crate::model::{Base, Direction, InterfaceId, Method, Model, Object, StructId, Type};
use crate::plan::{MethodPlan, ParamPlan, Passing, add_kinds, in_place, plan};

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
    if plan.has_graph() && matches!(param.passing, Passing::Array { .. }) && param.param.direction.is_out() {
        return Some("an [out] array in the caller's room beside structures with pointers");
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
        Passing::Graph => refuse_graph(model, &plan.params, param),
        Passing::Text { .. } | Passing::OutText(_) | Passing::Reference { .. } | Passing::Automation(_) => None,
    }
}

/// What of a parameter with structures with pointers cannot be done.
fn refuse_graph(model: &Model, params: &[ParamPlan<'_>], param: &ParamPlan<'_>) -> Option<&'static str> {
    let ty = in_place(model, param.param);
    let found = match seen(model, ty) {
        Err(why) => return Some(why),
        Ok(found) => found,
    };
    match found {
        Seen::Array { element, size, length, .. } => {
            if !param.param.direction.is_in() && std::ptr::eq(ty, &raw const param.param.ty) || length.is_some() {
                return Some("an array of structures in the caller's room");
            }
            if param.param.direction == Direction::InOut {
                return Some("an [in, out] array of structures");
            }
            if is_shared(model, element) || is_full(ty) {
                return Some("an array of structures with [ptr] pointers");
            }
            let mut is_fine = true;
            size.operands(&mut |operand| is_fine &= params[operand.index].param.direction == param.param.direction);
            if is_fine {
                pointed_to(model, element)
            } else {
                Some("an array whose length a parameter of another way says")
            }
        }
        Seen::One(to) if is_full(ty) && !matches!(to, Type::Struct(_)) => Some("a [ptr] pointer to a number"),
        Seen::One(to) => pointed_to(model, to),
        Seen::Inner if is_shared(model, ty) => Some("a structure with [ptr] pointers that is no object of its own"),
        Seen::Inner => pointed_to(model, ty),
        Seen::Text { .. } | Seen::Plain => None,
    }
}

fn pointed_to(model: &Model, ty: &Type) -> Option<&'static str> {
    match ty {
        Type::Struct(id) => structure(model, *id),
        ty => element_refused(model, ty),
    }
}

/// What of a structure with pointers cannot be done.
pub(super) fn structure(model: &Model, id: StructId) -> Option<&'static str> {
    let mut known = vec![Type::Struct(id)];
    add_kinds(model, &Type::Struct(id), &mut known);
    let mut next = 0;
    while let Some(ty) = known.get(next).cloned() {
        next += 1;
        let Type::Struct(id) = ty else { continue };
        let found = &model.structs[id.0];
        if found.conformant.is_some() {
            return Some("a structure that ends in an open array");
        }
        for field in &found.fields {
            match seen(model, &field.ty) {
                Err(why) => return Some(why),
                Ok(Seen::Plain) if has_handle(model, &field.ty) => return Some("a context handle"),
                Ok(Seen::Array { element: Type::Fixed(..), .. }) => return Some("an array of arrays"),
                Ok(Seen::Array { .. }) if is_full(&field.ty) => return Some("a [ptr] pointer to an array"),
                Ok(Seen::One(to)) if is_full(&field.ty) && !matches!(to, Type::Struct(_)) => {
                    return Some("a [ptr] pointer to a number");
                }
                Ok(Seen::Array { element: ty, .. }) if is_shared(model, ty) => {
                    return Some("an array of structures with [ptr] pointers");
                }
                Ok(Seen::Inner) if is_shared(model, &field.ty) => {
                    return Some("a structure with [ptr] pointers within another");
                }
                Ok(_) => {}
            }
            let inner = flat(&field.ty).0;
            if matches!(inner, Type::Struct(_)) && !known.contains(inner) {
                known.push(inner.clone());
            }
        }
    }
    None
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
