//! Interfaces as Rust programs see them.

use super::form::{Form, form};
use super::implementers::{declaration, parameters};
use super::names::{associated, ident, item_name, text, type_name};
use super::parameters::argument;
use crate::emit::component::{Call, Component, Interface, Method};
use crate::emit::sample::{self, COUNT, HANDLE, POINTERS, Reason, SHARED, enumerator, may_be_zero};
use crate::model::{Base, Direction, InterfaceId, Model, Transfer, Type};
use crate::plan::{MethodPlan, ParamPlan, Passing, plan};

/// Returns an interface's methods: their declarations for an object in Rust, and calls of them.
/// [`emit`](super::emit()) must support the interface. The methods of IDispatch are left out, since
/// the runtime implements them.
pub fn component(model: &Model, id: InterfaceId) -> Component {
    let interfaces = model.declared_lineage(id).into_iter().map(|id| {
        let found = &model.interfaces[id.0];
        let methods = found.methods.iter().map(|method| self::method(model, &plan(model, method))).collect();
        Interface { name: item_name(&found.name), methods }
    });
    Component { name: item_name(&model.interfaces[id.0].name), interfaces: interfaces.collect() }
}

fn method(model: &Model, plan: &MethodPlan<'_>) -> Method {
    Method {
        name: plan.method.name.clone(),
        doc: plan.method.doc.clone(),
        declaration: declaration(model, plan),
        parameters: parameters(model, plan),
        returns_hresult: false,
        oneway: plan.method.oneway,
        call: call(model, plan),
    }
}

fn call(model: &Model, plan: &MethodPlan<'_>) -> Result<Call, String> {
    if plan.method.local {
        return Err("it is [local]".to_owned());
    }
    let given = plan.params.iter().filter(|param| argument(model, param).is_some());
    let arguments: Result<Vec<String>, String> = given
        .map(|param| sample(model, plan, param).map_err(|why| format!("`{}` is {why}", param.param.name)))
        .collect();
    Ok(Call { before: Vec::new(), text: format!("{}({})", ident(&plan.method.name), arguments?.join(", ")) })
}

/// Returns the simplest argument that a parameter permits.
fn sample(model: &Model, plan: &MethodPlan<'_>, param: &ParamPlan<'_>) -> Result<String, Reason> {
    let range = param.param.range;
    let reference = if param.param.direction.is_out() { "&mut " } else { "&" };
    match &param.passing {
        Passing::Value(Type::Base(Base::Context)) => Err(HANDLE),
        Passing::RefPointer(Type::Base(Base::Context)) if param.param.direction == Direction::In => Err(HANDLE),
        Passing::Value(ty) => value(model, ty, range),
        Passing::RefPointer(ty) => Ok(format!("{reference}{}", value(model, ty, range)?)),
        Passing::Array { .. } if param.param.transfer == Transfer::Map => Err(SHARED),
        Passing::Array { element, size, .. } => {
            let count = sample::count(plan, size)?;
            let elements =
                if count == 0 { String::new() } else { format!("{}; {count}", value(model, element, range)?) };
            let array = format!("{reference}[{elements}]");
            // An array literal is turned into a slice before the conversion, which could not infer
            // the element type of an empty array.
            let is_slice = param.param.transfer == Transfer::Frame;
            Ok(if is_slice { array } else { format!("({array}[..]).into()") })
        }
        Passing::Optional(_) | Passing::Text { optional: true, .. } | Passing::Object(_) => Ok("None".to_owned()),
        Passing::Text { base, .. } if text(*base).contains("U16") => Ok("obvia::u16cstr!(\"\")".to_owned()),
        Passing::Text { .. } if param.param.utf8 => Ok("\"\"".to_owned()),
        Passing::Text { .. } => Ok("c\"\"".to_owned()),
        Passing::Graph => graph(model, plan, param),
        _ => Err(POINTERS),
    }
}

/// Returns the simplest argument that a parameter with pointers permits.
fn graph(model: &Model, plan: &MethodPlan<'_>, param: &ParamPlan<'_>) -> Result<String, Reason> {
    let is_changed = param.param.direction.is_out();
    match form(model, param.param)? {
        Form::Optional { .. }
        | Form::Text(_)
        | Form::Slice { optional: true, .. }
        | Form::Union { optional: true, .. } => Ok("None".to_owned()),
        Form::Slice { size, .. } if sample::count(plan, &size)? == 0 => Ok("&[]".to_owned()),
        Form::Slice { .. } => Err(COUNT),
        Form::Returned { optional: true, .. } if is_changed => Ok("&mut None".to_owned()),
        _ => Err(POINTERS),
    }
}

/// Returns the simplest value of a type without pointers.
fn value(model: &Model, ty: &Type, range: Option<(i64, i64)>) -> Result<String, Reason> {
    Ok(match ty {
        Type::Base(Base::Boolean) => "false".to_owned(),
        Type::Base(Base::F32 | Base::F64) => "0.0".to_owned(),
        Type::Base(Base::Guid) => "obvia::GUID::zeroed()".to_owned(),
        Type::Base(Base::Hresult) => "obvia::code::S_OK".to_owned(),
        Type::Base(Base::Context) => "obvia::ContextHandle::default()".to_owned(),
        Type::Base(base) => sample::integer(*base, range).to_string(),
        Type::Enum(id) => {
            let found = &model.enums[id.0];
            let (name, _) = enumerator(found).ok_or(POINTERS)?;
            format!("{}::{}", item_name(&found.name), associated(name))
        }
        Type::Struct(id) => {
            let found = &model.structs[id.0];
            let mut members = Vec::new();
            for field in found.fields.iter().filter(|field| !may_be_zero(model, &field.ty, field.range)) {
                members.push(format!("{}: {}", ident(&field.name), value(model, &field.ty, field.range)?));
            }
            let name = type_name(&found.name);
            match members.len() {
                0 => format!("{name}::default()"),
                some if some == found.fields.len() => format!("{name} {{ {} }}", members.join(", ")),
                _ => format!("{name} {{ {}, ..{name}::default() }}", members.join(", ")),
            }
        }
        Type::Fixed(element, count) => format!("[{}; {count}]", value(model, element, range)?),
        Type::Union(_) | Type::Pointer(_) | Type::Interface(_) | Type::Void => return Err(POINTERS),
    })
}
