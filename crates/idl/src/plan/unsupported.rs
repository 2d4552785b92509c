//! Declarations that no back end can pass to other processes yet.

use crate::model::{InterfaceId, Method, Model, Object, Type};
use crate::text::diagnostic::Diagnostic;
use crate::text::source::Span;

/// The reason why a structure or a union with members of Automation types is not supported: the
/// model has the form that travels, and not the form in memory.
pub(crate) const AUTOMATION_MEMBER: &str = "a structure or union with one of Automation's types";

/// Returns errors for the parts of an interface that no back end supports yet. `language` is the
/// name of the back end's language in messages. Methods of `[local]` interfaces do not travel, but
/// may have values whose form in memory the model does not have.
pub(crate) fn unsupported(model: &Model, id: InterfaceId, language: &str) -> Vec<Diagnostic> {
    let is_local = model.interfaces[id.0].local;
    let methods = model.all_methods(id).into_iter();
    let reasons = methods.filter_map(|method| {
        Some((method, if is_local { local_reason(model, method) } else { reason(model, method) }?))
    });
    reasons
        .map(|(method, (span, what))| {
            let text = format!("method `{}` {what}, which the {language} back end does not support yet", method.name);
            let error = Diagnostic::error("not-yet", span, text);
            error.help(
                "if no other process calls the interface, declare it [local]; else declare one without this method",
            )
        })
        .collect()
}

/// Returns the reason why a method cannot be called even within one process, with the parameter's
/// place. `None` if the method can be called.
fn local_reason(model: &Model, method: &Method) -> Option<(Span, String)> {
    method.params.iter().find_map(|param| {
        let shape = param.unsupported.clone().filter(|_| param.memory.is_some());
        let leads = || model.unsupported.get(model.innermost(&param.ty)).filter(|why| **why == AUTOMATION_MEMBER);
        let why = shape.or_else(|| Some(format!("leads to {}", leads()?)))?;
        Some((param.span, format!("has a parameter `{}` that {why}", param.name)))
    })
}

fn reason(model: &Model, method: &Method) -> Option<(Span, String)> {
    if let Some(remote) = &method.travels_as {
        return Some((method.span, format!("travels as `{}`", remote.name)));
    }
    if method.local {
        return Some((method.span, "is [local] in an interface that other processes call".to_owned()));
    }
    method.params.iter().find_map(|param| {
        let leads = || match model.innermost(&param.ty) {
            Type::Interface(Object::Known(id)) if model.interfaces[id.0].is_bare => Some(format!(
                "is an object of the interface `{}`, which lacks a declaration, a UUID or a base",
                model.interfaces[id.0].name
            )),
            ty => model.unsupported.get(ty).map(|why| format!("leads to {why}")).or_else(|| opaque_reason(model, ty)),
        };
        let why = param.unsupported.clone().or_else(leads)?;
        Some((param.span, format!("has a parameter `{}` that {why}", param.name)))
    })
}

/// Returns the reason why no call can carry a type, such as `leads to "U", a union without cases`.
/// `None` if a call can.
fn opaque_reason(model: &Model, ty: &Type) -> Option<String> {
    let found = model.opaque.get(ty)?;
    let name = match &found.of {
        Type::Union(id) => &model.unions[id.0].name,
        Type::Struct(id) => &model.structs[id.0].name,
        _ => return None,
    };
    Some(format!("leads to `{name}`, {}", found.why))
}
