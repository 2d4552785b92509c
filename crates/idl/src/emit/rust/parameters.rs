//! The types of parameters and results in Rust: in vtables, and for users.

use super::names::{base, binding, object, text, value};
use super::{automation, form};
use crate::model::{Base, Model, Transfer, Type};
use crate::plan::{MethodPlan, ParamPlan, Passing, is_plain};

/// Returns the type of a parameter in the vtable.
pub(super) fn abi(model: &Model, plan: &ParamPlan<'_>) -> String {
    let constant = if plan.param.direction.is_out() { "*mut" } else { "*const" };
    match &plan.passing {
        Passing::Value(ty) => value(model, ty),
        Passing::RefPointer(ty)
        | Passing::Array { element: ty, .. }
        | Passing::Reference { element: ty, .. }
        | Passing::Optional(ty) => {
            format!("{constant} {}", value(model, ty))
        }
        Passing::Text { base: one, .. } => format!("*const {}", base(*one)),
        Passing::OutText(one) => format!("*mut *mut {}", base(*one)),
        Passing::OutArray { element, .. } | Passing::Lent { element, .. } => {
            format!("*mut *mut {}", value(model, element))
        }
        Passing::Object(_) => "*mut obvia::rt::c_void".to_owned(),
        Passing::OutObject(_) => "*mut *mut obvia::rt::c_void".to_owned(),
        Passing::Graph => form::abi(model, plan.param),
        Passing::Automation(memory) => automation::abi(*memory, plan),
        Passing::Raw(ty) => format!("{constant} {}", raw(model, ty)),
    }
}

/// Returns the target type of a pointer that is only passed on.
pub(super) fn raw(model: &Model, ty: &Type) -> String {
    match ty {
        ty if is_plain(model, ty) => value(model, ty),
        Type::Pointer(pointer) => format!("*mut {}", raw(model, &pointer.to)),
        Type::Interface(_) => "*mut obvia::rt::c_void".to_owned(),
        _ => "obvia::rt::c_void".to_owned(),
    }
}

/// Returns the parameters of a method in the vtable, each as `name: Type` with a comma before it,
/// and the type of the result.
pub(super) fn signature(model: &Model, plan: &MethodPlan<'_>) -> (String, String) {
    let param = |param: &ParamPlan<'_>| format!(", {}: {}", binding(&param.param.code), abi(model, param));
    let result = match plan.method.direct_result() {
        Some(ty) => {
            let text = raw(model, ty);
            match text.rsplit_once("*mut").filter(|_| plan.method.leads_to_const) {
                Some((outer, target)) => format!("{outer}*const{target}"),
                None => text,
            }
        }
        None if plan.method.returns_directly() => "()".to_owned(),
        None => "obvia::HRESULT".to_owned(),
    };
    (plan.in_vtable().iter().map(param).collect(), result)
}

/// Returns the type of a parameter as users pass it. `None` for a parameter that is not passed.
pub(super) fn argument(model: &Model, plan: &ParamPlan<'_>) -> Option<String> {
    if plan.counts {
        return None;
    }
    let outwards = plan.param.direction.is_out();
    let inwards = plan.param.direction.is_in();
    Some(match &plan.passing {
        Passing::Value(ty) => value(model, ty),
        Passing::RefPointer(_) if !inwards => return None,
        Passing::RefPointer(ty) if outwards => format!("&mut {}", value(model, ty)),
        Passing::RefPointer(ty) => format!("&{}", value(model, ty)),
        Passing::Array { element, .. } if plan.param.transfer != Transfer::Frame => {
            format!("obvia::{}<'_, {}>", if outwards { "ElementsMut" } else { "Elements" }, value(model, element))
        }
        Passing::Array { element, .. } | Passing::Reference { element, .. } if outwards => {
            format!("&mut [{}]", value(model, element))
        }
        Passing::Array { element, .. } | Passing::Reference { element, .. } => format!("&[{}]", value(model, element)),
        Passing::Optional(ty) => format!("Option<&{}>", value(model, ty)),
        Passing::Text { base, optional } => {
            let text = if plan.param.utf8 { "str" } else { text(*base) };
            if *optional { format!("Option<&{text}>") } else { format!("&{text}") }
        }
        Passing::Object(what) => format!("Option<&{}>", object(model, what)),
        Passing::OutText(_) | Passing::OutArray { .. } | Passing::Lent { .. } | Passing::OutObject(_) => return None,
        Passing::Graph => return form::argument(model, plan.param),
        Passing::Automation(memory) => return automation::argument(*memory, plan),
        Passing::Raw(_) => abi(model, plan),
    })
}

/// Returns the type of a result. `None` for other parameters.
pub(super) fn result(model: &Model, plan: &ParamPlan<'_>) -> Option<String> {
    if plan.counts || plan.param.direction.is_in() {
        return None;
    }
    Some(match &plan.passing {
        Passing::RefPointer(ty) => value(model, ty),
        Passing::OutText(_) if plan.param.utf8 => "String".to_owned(),
        Passing::OutText(Base::WChar | Base::U16) => "obvia::U16CString".to_owned(),
        Passing::OutText(_) => "std::ffi::CString".to_owned(),
        Passing::OutArray { element, .. } => format!("Vec<{}>", value(model, element)),
        Passing::Lent { element, .. } => format!("obvia::Lent<{}>", value(model, element)),
        Passing::OutObject(what) => object(model, what),
        Passing::Graph => return form::result(model, plan.param),
        Passing::Automation(memory) => return automation::result(*memory, plan),
        _ => return None,
    })
}
