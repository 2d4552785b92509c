//! The contents of declarations in files that several compilations include. Macros may make these
//! contents differ.

use super::{Found, Kind};
use crate::compile::Compilation;
use crate::model::canonical::{bit_field, fingerprint, type_name};
use crate::model::{Field, InterfaceId, Model, Type, all_arms};
use crate::text::source::Role;
use crate::tools::notation::value_text;
use std::collections::HashMap;

/// Sets the contents of those declarations of included files that several compilations have.
pub(super) fn mark(compilations: &[Compilation], found: &mut [Found]) {
    let mut counts: HashMap<(usize, Kind, String), usize> = HashMap::new();
    let key = |one: &Found| (one.file, one.place.0, one.name.clone());
    let is_included = |one: &Found| compilations[one.compilation].sources.file(one.span.file).role == Role::Included;
    for one in found.iter().filter(|one| is_included(one)) {
        *counts.entry(key(one)).or_default() += 1;
    }
    for one in found.iter_mut().filter(|one| is_included(one)) {
        if counts.get(&key(one)).is_some_and(|count| *count > 1) {
            one.variant = content(&compilations[one.compilation].model, one);
        }
    }
}

/// Returns a text that differs between declarations of different contents.
fn content(model: &Model, of: &Found) -> String {
    let (kind, at) = of.place;
    match kind {
        Kind::Interface if model.interfaces[at].bare.is_some() => String::new(),
        Kind::Interface => format!("{:x}", fingerprint(model, InterfaceId(at))),
        Kind::Struct => {
            let found = &model.structs[at];
            let (offsets, size, align) = model.offsets(found);
            let fields: String = found.fields.iter().map(|one| field(model, one)).collect();
            let element = found.conformant.as_ref().map(|(element, ..)| type_name(model, element));
            format!("{size} {align} {offsets:?} {fields}{element:?}")
        }
        Kind::Union => {
            let found = &model.unions[at];
            let cases: Vec<&Vec<i64>> = found.arms.iter().map(|arm| &arm.cases).collect();
            let arms: String = all_arms(found).map(|one| field(model, one)).collect();
            format!("{} {} {cases:?} {arms}", found.measure.size, found.measure.align)
        }
        Kind::Enum => format!("{:?}", model.enums[at].values),
        Kind::Const => {
            let found = &model.consts[at];
            format!("{:?} {}", found.base, value_text(&found.value, found.base))
        }
        Kind::Typedef => ty(model, &model.typedefs[at].ty),
        Kind::Library | Kind::Coclass | Kind::Dispinterface => String::new(),
    }
}

fn field(model: &Model, of: &Field) -> String {
    let bits: Vec<String> = of.bits.iter().map(|part| bit_field(model, part)).collect();
    format!("{} {} {bits:?};", of.name, ty(model, &of.ty))
}

/// Returns a type with its pointers and dimensions.
fn ty(model: &Model, of: &Type) -> String {
    let (mut inner, mut text) = (of, String::new());
    loop {
        inner = match inner {
            Type::Fixed(element, count) => {
                text += &format!("[{count}]");
                element
            }
            Type::Pointer(pointer) => {
                text += "*";
                &pointer.to
            }
            _ => return type_name(model, inner) + &text,
        };
    }
}
