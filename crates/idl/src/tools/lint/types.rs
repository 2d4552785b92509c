//! Rules for structures, unions and enumerations.

use super::Findings;
use super::rules::Rule;
use crate::compile::Compilation;
use crate::model::{Declared, Direction, EnumId, Model, Struct, Type, round_up};
use crate::syntax::{SyntaxKind, parse};
use crate::text::source::Role;
use crate::tools::declared::{all_params, declared_types, used_types};
use std::collections::{HashMap, HashSet};

/// Checks all types that the file itself declares.
pub(super) fn check(compilation: &Compilation, findings: &mut Findings) {
    let model = &compilation.model;
    for found in model.structs.iter().filter(|found| !found.imported) {
        holes(model, found, findings);
    }
    let results = all_params(model).filter(|param| param.direction == Direction::Out).map(|param| &param.ty);
    let results: HashSet<&Type> = model.reachable_from(results).collect();
    for (at, found) in model.enums.iter().enumerate().filter(|(_, found)| !found.imported && !found.open) {
        if results.contains(&Type::Enum(EnumId(at))) && found.values.iter().all(|(_, value)| *value != 0) {
            findings.add(Rule::EnumWithoutZero, found.span, format!("`{}` has no value with the number 0", found.name));
        }
    }
    if model.interfaces.iter().any(|found| !found.imported) {
        unused(compilation, findings);
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

/// Reports types that no interface of the file leads to, and that no type library lists.
fn unused(compilation: &Compilation, findings: &mut Findings) {
    let model = &compilation.model;
    let (used, words) = (used_types(model), words(compilation));
    let listed = model.libraries.iter().flat_map(|library| &library.declared);
    let listed: HashSet<Type> = listed.filter_map(|declared| listed_type(*declared)).collect();
    // The values of an enumeration are constants, which expressions and attributes use.
    let has_used_value = |ty: &Type| match ty {
        Type::Enum(id) => {
            let mut values = model.enums[id.0].values.iter();
            values.any(|(name, _)| words.get(name.as_str()).is_some_and(|count| *count > 1))
        }
        _ => false,
    };
    for found in declared_types(model).filter(|found| !found.imported && found.about.uuid.is_none()) {
        if !used.contains(&found.ty) && !listed.contains(&found.ty) && !has_used_value(&found.ty) {
            findings.add(Rule::UnusedType, found.span, format!("no interface uses `{}`", found.name));
        }
    }
}

fn listed_type(declared: Declared) -> Option<Type> {
    match declared {
        Declared::Struct(id) => Some(Type::Struct(id)),
        Declared::Union(id) => Some(Type::Union(id)),
        Declared::Enum(id) => Some(Type::Enum(id)),
        _ => None,
    }
}

/// Returns the number of times that each identifier stands in files that are not built in.
fn words(compilation: &Compilation) -> HashMap<String, usize> {
    let mut words = HashMap::new();
    for file in compilation.sources.files().iter().filter(|file| file.role != Role::BuiltIn) {
        let (tree, _) = parse(&file.text);
        for token in tree.tokens().filter(|token| token.kind() == SyntaxKind::Ident) {
            *words.entry(token.text().to_owned()).or_default() += 1;
        }
    }
    words
}
