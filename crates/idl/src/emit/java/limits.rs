//! The limits of Java's classes and of their files: declarations that are too large for them.

use super::fields::Members;
use super::names::may_have_record;
use super::{Context, own_unions, unions};
use crate::Diagnostic;
use crate::model::{Base, EnumId, InterfaceId, StructId, Type};
use crate::plan::{MethodPlan, ParamPlan, Passing, is_plain};
use crate::text::source::Span;

/// The maximum number of slots that the parameters of a method or a constructor take. Java's limit
/// is 255 slots, and the object itself takes one of them.
const SLOTS_MAX: usize = 254;
/// The maximum number of values of an enumeration. The method that makes all values can have at
/// most 65535 bytes of code, and needs up to 19 bytes for each value.
const VALUES_MAX: usize = 3000;
/// The maximum length of a class's name. The name of the class's file has at most 255 bytes.
const NAME_MAX: usize = 255 - ".class".len();

/// The advice in the errors about slots.
const SLOTS: &str = "a hyper or a double takes two slots, and any other type one; put some of them into a structure";

/// Returns the number of slots for a value.
const fn slots(ty: &Type) -> usize {
    if matches!(ty, Type::Base(Base::I64 | Base::U64 | Base::F64)) { 2 } else { 1 }
}

/// Returns the error for a method with too many parameters or results.
pub(super) fn method(plan: &MethodPlan<'_>) -> Option<Diagnostic> {
    let in_place = |param: &ParamPlan<'_>| matches!(param.passing, Passing::Array { .. });
    let parameters = plan.params.iter().filter(|param| param.param.direction.is_in() || in_place(param));
    let results = plan.params.iter().filter(|param| param.param.direction.is_out() && !in_place(param));
    let of = |param: &ParamPlan<'_>| match &param.passing {
        _ if param.counts => 0,
        Passing::Value(ty) | Passing::RefPointer(ty) => slots(ty),
        _ => 1,
    };
    let taken: [(&str, usize); 2] = [("parameters", parameters.map(of).sum()), ("results", results.map(of).sum())];
    let (what, taken) = taken.into_iter().find(|(_, taken)| *taken > SLOTS_MAX)?;
    let name = &plan.method.name;
    let text = format!("the {what} of method `{name}` take {taken} slots in Java, which has at most {SLOTS_MAX}");
    Some(Diagnostic::error("too-large", plan.method.span, text).help(SLOTS))
}

/// Returns the errors for the types and the names of a file.
pub(super) fn errors(context: &Context<'_>, remote: &[InterfaceId]) -> Vec<Diagnostic> {
    let model = context.model;
    let class = |ty: Type| context.types.class(&ty);
    let mut errors = Vec::new();
    for id in (model.built_in.enums..model.enums.len()).map(EnumId) {
        let found = &model.enums[id.0];
        errors.extend(values(&found.name, found.values.len(), found.span));
        errors.extend(name("enumeration", &found.name, found.span, &format!("{}Type", class(Type::Enum(id)))));
    }
    for id in (model.built_in.structs..model.structs.len()).map(StructId) {
        let (found, ty) = (&model.structs[id.0], Type::Struct(id));
        if is_plain(model, &ty) || context.has_class(&ty) {
            errors.extend(members(context, id));
            errors.extend(name("structure", &found.name, found.span, &format!("{}$View", class(ty))));
        }
    }
    for id in own_unions(context) {
        let found = &model.unions[id.0];
        let longest = unions::records(context, id).into_iter().max_by_key(String::len).unwrap_or_default();
        errors.extend(name("union", &found.name, found.span, &longest));
    }
    for id in remote {
        let (found, class) = (&model.interfaces[id.0], context.types.interface(*id));
        errors.extend(name("interface", &found.name, found.span, &format!("{class}Info${class}Proxy")));
        let records = context.types.methods(model, *id).1;
        let inherited = records.len() - found.remote_methods().count();
        let methods = found.remote_methods().zip(&records[inherited..]);
        for (method, record) in methods.filter(|(method, _)| may_have_record(method)) {
            errors.extend(name("method", &method.name, method.span, &format!("{class}${record}")));
        }
    }
    errors
}

/// Returns the error for an enumeration with too many values.
fn values(name: &str, count: usize, span: Span) -> Option<Diagnostic> {
    let text = format!("enumeration `{name}` has {count} values, and a Java enumeration has at most {VALUES_MAX}");
    let error = || Diagnostic::error("too-large", span, text).help("use an integer, and constants for its values");
    (count > VALUES_MAX).then(error)
}

/// Returns the error for a structure with too many members.
fn members(context: &Context<'_>, id: StructId) -> Option<Diagnostic> {
    let found = &context.model.structs[id.0];
    // A member takes two slots at most.
    if found.fields.len() <= SLOTS_MAX / 2 {
        return None;
    }
    let taken: usize = if is_plain(context.model, &Type::Struct(id)) {
        found.fields.iter().map(|field| slots(&field.ty)).sum()
    } else {
        Members::new(context, id).seen().map(|(_, field, _)| slots(&field.ty)).sum()
    };
    let name = &found.name;
    let text = format!("the members of structure `{name}` take {taken} slots in Java, which has at most {SLOTS_MAX}");
    (taken > SLOTS_MAX).then(|| Diagnostic::error("too-large", found.span, text).help(SLOTS))
}

/// Returns the error for a declaration whose name is too long. `class` is the longest name of a
/// class that is generated for the declaration.
fn name(what: &str, name: &str, span: Span, class: &str) -> Option<Diagnostic> {
    let error = || {
        let text = format!("{what} `{name}` has a name that is too long for the file of a Java class");
        let help = format!("a class's name has at most {NAME_MAX} characters, and here it has {}", class.len());
        Diagnostic::error("too-long", span, text).help(help)
    };
    (class.len() > NAME_MAX).then(error)
}
