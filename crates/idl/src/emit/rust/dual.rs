//! Interfaces that extend IDispatch: the descriptions of their methods for calls by name, and the
//! functions that make such calls.

use super::context::{Context, declared_in};
use super::names::ident;
use super::parameters::abi;
use crate::model::automation::{Kind, Memory};
use crate::model::{Direction, Model, Object, Param, PointerClass, Type, Value};
use crate::plan::{MethodPlan, ParamPlan, Passing};
use crate::text::writer::Writer;

/// Writes the table of an interface's members, and the functions that it refers to.
pub(super) fn table(out: &mut Writer, context: &Context<'_>, plans: &[MethodPlan<'_>]) {
    let name = &context.name;
    let own: Vec<&MethodPlan<'_>> =
        plans.iter().filter(|plan| context.built_in(plan).is_none() && !plan.method.local).collect();
    out.line(format!("impl obvia::rt::Dual for {name} {{"));
    out.line(format!("const TABLE: &'static obvia::rt::Table = &{name}_TABLE;"));
    out.line("}");
    out.line(format!("static {name}_TABLE: obvia::rt::Table = obvia::rt::Table {{"));
    out.line(format!("name: {name:?},"));
    out.line("members: &[");
    for plan in &own {
        member(out, context, plan);
    }
    out.line("],");
    out.line("};");
    own.iter().for_each(|plan| invoke(out, context, plan));
}

fn member(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    let member = &plan.method.member;
    let kind = match member.kind {
        Kind::Method => "METHOD",
        Kind::Get => "PROPERTYGET",
        Kind::Put => "PROPERTYPUT",
        Kind::PutRef => "PROPERTYPUTREF",
    };
    out.line("obvia::rt::Member {");
    out.line(format!("name: {:?},", member.name));
    out.line(format!("id: {},", member.id.unwrap_or_default()));
    out.line(format!("kind: obvia::automation::DISPATCH_{kind},"));
    out.line(format!("restricted: {},", member.restricted));
    let params: Vec<String> = plan.params.iter().map(|one| param(context.model, one.param)).collect();
    out.line(format!("params: &[{}],", params.join(", ")));
    out.line(format!("invoke: {}_invoke,", context.stem(plan)));
    out.line("},");
}

fn param(model: &Model, param: &Param) -> String {
    let (vt, optional, default) =
        param.variant.as_ref().map_or((0, false, None), |known| (known.vt, known.optional, known.default.as_ref()));
    let absent = match default {
        None if optional => "Zero".to_owned(),
        None => "Refused".to_owned(),
        Some(Value::Int(value)) => format!("Int({value})"),
        Some(Value::Float(value)) => format!("Float({value:?})"),
        Some(Value::Text(text)) => format!("Text({text:?})"),
    };
    let is_result = param.retval && param.direction == Direction::Out;
    let inner = target(&param.ty);
    let iid = match inner {
        Type::Interface(Object::Known(id)) => {
            format!("Some(obvia::GUID::from_u128({:#034x}))", model.interfaces[id.0].uuid)
        }
        _ => "None".to_owned(),
    };
    let values: Vec<i32> = match inner {
        Type::Enum(id) if !model.enums[id.0].open => model.enums[id.0].values.iter().map(|(_, value)| *value).collect(),
        _ => Vec::new(),
    };
    format!(
        "obvia::rt::MemberParam {{ name: {:?}, vt: {vt:#x}, is_in: {}, is_out: {}, is_result: {is_result}, absent: obvia::rt::Absent::{absent}, iid: {iid}, range: {:?}, values: &{values:?} }}",
        param.name,
        param.direction.is_in(),
        param.direction.is_out(),
        param.range
    )
}

/// Returns the type of a parameter, without a reference pointer.
fn target(ty: &Type) -> &Type {
    match ty {
        Type::Pointer(pointer) if pointer.class == PointerClass::Ref => &pointer.to,
        ty => ty,
    }
}

/// Whether a method takes a parameter's value instead of the value's address.
fn is_by_value(param: &ParamPlan<'_>) -> bool {
    match param.passing {
        Passing::Automation(memory) => {
            param.param.direction == Direction::In && Memory::is_by_value(memory, param.param)
        }
        Passing::Value(_) | Passing::Object(_) => true,
        _ => false,
    }
}

/// Writes the function that calls a method with the addresses of its arguments.
fn invoke(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    let stem = context.stem(plan);
    out.line(format!("unsafe extern \"C-unwind\" fn {stem}_invoke(object: *mut obvia::rt::c_void, arguments: *mut *mut obvia::rt::c_void) -> obvia::HRESULT {{"));
    out.line("// SAFETY: there is an address for each parameter.");
    out.line(format!("let arguments = unsafe {{ obvia::rt::slice(arguments.cast_const(), {}) }};", plan.params.len()));
    let given: Vec<String> = (0..)
        .zip(&plan.params)
        .map(|(at, param)| match &param.passing {
            Passing::Automation(_) if is_by_value(param) => format!("obvia::rt::look(arguments[{at}])"),
            _ if is_by_value(param) => format!("arguments[{at}].cast::<{}>().read()", abi(context.model, param)),
            _ => format!("arguments[{at}].cast()"),
        })
        .collect();
    out.line("// SAFETY: each address leads to a value of the parameter's type.");
    out.line(format!(
        "unsafe {{ (obvia::rt::vtable::<{}_Vtbl>(object).{})(object, {}) }}",
        declared_in(context, plan),
        ident(&plan.method.name),
        given.join(", ")
    ));
    out.line("}");
    out.line("");
}
