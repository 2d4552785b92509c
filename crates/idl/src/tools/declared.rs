//! The structures, unions and enumerations of a model, and the types that its methods use.

use crate::model::{About, DispMembers, EnumId, Method, Model, Param, StructId, Type, UnionId};
use crate::text::source::Span;
use std::collections::HashSet;

/// A structure, a union or an enumeration.
pub(super) struct DeclaredType<'m> {
    pub(super) ty: Type,
    pub(super) name: &'m str,
    pub(super) about: &'m About,
    pub(super) imported: bool,
    pub(super) span: Span,
}

/// Returns all structures, unions and enumerations of a model.
pub(super) fn declared_types(model: &Model) -> impl Iterator<Item = DeclaredType<'_>> {
    let structs = model.structs.iter().enumerate().map(|(at, found)| {
        let (ty, imported, span) = (Type::Struct(StructId(at)), found.imported, found.span);
        DeclaredType { ty, name: &found.name, about: &found.about, imported, span }
    });
    let unions = model.unions.iter().enumerate().map(|(at, found)| {
        let (ty, imported, span) = (Type::Union(UnionId(at)), found.imported, found.span);
        DeclaredType { ty, name: &found.name, about: &found.about, imported, span }
    });
    let enums = model.enums.iter().enumerate().map(|(at, found)| {
        let (ty, imported, span) = (Type::Enum(EnumId(at)), found.imported, found.span);
        DeclaredType { ty, name: &found.name, about: &found.about, imported, span }
    });
    structs.chain(unions).chain(enums)
}

/// Returns the parameters of all methods and properties, results included.
pub(super) fn all_params(model: &Model) -> impl Iterator<Item = &Param> {
    let methods = model.interfaces.iter().flat_map(|interface| &interface.methods);
    let methods = methods.flat_map(|method: &Method| std::iter::once(method).chain(method.travels_as.as_deref()));
    let members = model.dispinterfaces.iter().filter_map(|found| match &found.members {
        Some(DispMembers::Own(properties, methods)) => Some(properties.iter().chain(methods)),
        _ => None,
    });
    let members = members.flatten().flat_map(|member| member.params.iter().chain(&member.returns));
    methods.flat_map(|method| &method.params).chain(members)
}

/// Returns the types to which the methods and properties of a model lead.
pub(super) fn used_types(model: &Model) -> HashSet<&Type> {
    model.reachable_from(all_params(model).map(|param| &param.ty)).collect()
}
