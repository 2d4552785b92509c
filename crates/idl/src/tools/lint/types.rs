//! Rules for structures, unions and enumerations.

use super::Findings;
use super::rules::Rule;
use crate::model::{DispMembers, EnumId, Model, Param, Struct, StructId, Type, UnionId, round_up};
use std::collections::HashSet;

/// Checks all types that the file itself declares.
pub(super) fn check(model: &Model, findings: &mut Findings) {
    for found in model.structs.iter().filter(|found| !found.imported) {
        holes(model, found, findings);
    }
    for found in model.enums.iter().filter(|found| !found.imported && !found.open) {
        if found.values.iter().all(|(_, value)| *value != 0) {
            findings.add(Rule::EnumWithoutZero, found.span, format!("`{}` has no value with the number 0", found.name));
        }
    }
    if model.interfaces.iter().any(|found| !found.imported) {
        unused(model, findings);
    }
}

/// Reports a structure that is smaller with its members in another order.
fn holes(model: &Model, found: &Struct, findings: &mut Findings) {
    // The last member cannot be moved if it is an array without a bound.
    if found.conformant.is_some() {
        return;
    }
    let mut order: Vec<(&str, u32, u32)> = Vec::new();
    for field in &found.fields {
        let (size, align) = model.layout(&field.ty);
        order.push((&field.name, size, align));
    }
    order.sort_by_key(|(_, _, align)| std::cmp::Reverse(*align));
    let (_, size, align) = model.offsets(found);
    let least = order.iter().fold(0, |at, (_, size, align)| round_up(at, *align).saturating_add(*size));
    let least = round_up(least, align);
    if least < size {
        let names: Vec<&str> = order.iter().map(|(name, ..)| *name).collect();
        let text = format!("`{}` has {size} bytes, and {least} in the order {}", found.name, names.join(", "));
        findings.add(Rule::LayoutHole, found.span, text);
    }
}

/// Reports types that no interface of the file leads to.
fn unused(model: &Model, findings: &mut Findings) {
    let methods = model.interfaces.iter().flat_map(|interface| &interface.methods).flat_map(|method| &method.params);
    let members = model.dispinterfaces.iter().filter_map(|found| match &found.members {
        Some(DispMembers::Own(properties, methods)) => Some(properties.iter().chain(methods)),
        _ => None,
    });
    let members = members.flatten().flat_map(|member| member.params.iter().chain(&member.returns));
    let types = methods.chain(members).map(|param: &Param| &param.ty);
    let used: HashSet<&Type> = model.reachable_from(types).collect();
    let mut report = |ty: &Type, name: &str, imported: bool, span| {
        if !imported && !used.contains(ty) {
            findings.add(Rule::UnusedType, span, format!("no interface uses `{name}`"));
        }
    };
    for (at, found) in model.structs.iter().enumerate() {
        report(&Type::Struct(StructId(at)), &found.name, found.imported, found.span);
    }
    for (at, found) in model.unions.iter().enumerate() {
        report(&Type::Union(UnionId(at)), &found.name, found.imported, found.span);
    }
    for (at, found) in model.enums.iter().enumerate() {
        report(&Type::Enum(EnumId(at)), &found.name, found.imported, found.span);
    }
}
