//! The limits of the tables: types that they cannot describe.

use crate::model::{Field, Model, Param, Type, all_arms};
use crate::plan::in_place;

/// Checks that tables can describe a parameter's type.
///
/// # Errors
///
/// The part of the type that tables cannot describe.
pub(super) fn parameter(model: &Model, param: &Param) -> Result<(), &'static str> {
    match in_place(model, param) {
        // The parameter's attributes give the discriminant.
        ty @ Type::Union(_) => check_reachable(model, ty),
        ty => check_without_discriminant(model, ty).and_then(|()| check_reachable(model, ty)),
    }
}

/// Whether tables can describe a structure and all types that it leads to.
pub(super) fn is_possible(model: &Model, ty: &Type) -> bool {
    check_without_discriminant(model, ty).and_then(|()| check_reachable(model, ty)).is_ok()
}

/// Checks that tables can describe all types that a type leads to.
fn check_reachable(model: &Model, ty: &Type) -> Result<(), &'static str> {
    let refused = model.known.c.get_or_init(|| model.refusals(|ty| check_members(model, ty).err()));
    refused.get(model.innermost(ty)).map_or(Ok(()), |why| Err(*why))
}

/// Checks that tables can describe a structure or a union itself, without the types that it leads
/// to.
fn check_members(model: &Model, ty: &Type) -> Result<(), &'static str> {
    match ty {
        Type::Struct(_) | Type::Union(_) if model.opaque.contains_key(ty) => Err("a type that no call can carry"),
        Type::Struct(id) => {
            let found = &model.structs[id.0];
            let open = found.conformant.as_ref().map(|(element, ..)| element);
            // The list of members contains the conformant array a second time, as a member of type
            // void, which needs no check.
            let mut members = found.fields.iter().filter(|field| open.is_none() || field.ty != Type::Void);
            open.map_or(Ok(()), |element| check_without_discriminant(model, element))?;
            members.try_for_each(|field| member(model, field))
        }
        Type::Union(id) => all_arms(&model.unions[id.0]).try_for_each(|field| member(model, field)),
        _ => Ok(()),
    }
}

fn member(model: &Model, field: &Field) -> Result<(), &'static str> {
    if matches!(field.ty, Type::Union(_)) { Ok(()) } else { check_without_discriminant(model, &field.ty) }
}

/// Checks that tables can describe a type in a place that gives no discriminant for a union.
fn check_without_discriminant(model: &Model, ty: &Type) -> Result<(), &'static str> {
    match ty {
        Type::Union(id) if model.unions[id.0].encapsulated.is_none() => {
            Err("a union behind a pointer or in an array, without a discriminant of its own")
        }
        Type::Fixed(element, _) => check_without_discriminant(model, element),
        Type::Pointer(pointer) if pointer.to == Type::Void => Err("a pointer to void"),
        Type::Pointer(pointer) => check_without_discriminant(model, &pointer.to),
        Type::Void => Err("a pointer to void"),
        Type::Union(_) | Type::Struct(_) | Type::Base(_) | Type::Enum(_) | Type::Interface(_) => Ok(()),
    }
}
