//! What tables cannot say.

use crate::model::{Field, Model, Param, StructId, Type, UnionId};
use crate::plan::in_place;
use std::collections::BTreeSet;

/// Whether a parameter's type can be said.
///
/// # Errors
///
/// What in it cannot.
pub(super) fn parameter(model: &Model, param: &Param) -> Result<(), &'static str> {
    let mut search = Search { model, structs: BTreeSet::new(), unions: BTreeSet::new() };
    match in_place(model, param) {
        // The parameter says what its discriminant is.
        Type::Union(id) => search.union(*id),
        ty => search.ty(ty),
    }
}

/// Whether a structure and everything that it leads to can be said.
pub(super) fn is_possible(model: &Model, ty: &Type) -> bool {
    Search { model, structs: BTreeSet::new(), unions: BTreeSet::new() }.ty(ty).is_ok()
}

/// Looks through a type for what tables cannot say.
struct Search<'a> {
    model: &'a Model,
    structs: BTreeSet<StructId>,
    unions: BTreeSet<UnionId>,
}

impl Search<'_> {
    fn field(&mut self, field: &Field) -> Result<(), &'static str> {
        match &field.ty {
            Type::Union(id) => self.union(*id),
            ty => self.ty(ty),
        }
    }

    fn ty(&mut self, ty: &Type) -> Result<(), &'static str> {
        match ty {
            Type::Struct(id) if self.structs.insert(*id) => {
                let found = &self.model.structs[id.0];
                let open = found.conformant.as_ref().map(|(element, ..)| element);
                open.map_or(Ok(()), |element| self.ty(element))?;
                let fields = found.fields.iter().filter(|field| open.is_none() || field.ty != Type::Void);
                fields.into_iter().try_for_each(|field| self.field(field))
            }
            Type::Union(id) if self.model.unions[id.0].encapsulated.is_none() => {
                Err("a union behind a pointer or in an array, without a discriminant of its own")
            }
            Type::Union(id) => self.union(*id),
            Type::Fixed(element, _) => self.ty(element),
            Type::Pointer(pointer) if pointer.to == Type::Void => Err("a pointer to void"),
            Type::Pointer(pointer) => self.ty(&pointer.to),
            Type::Void => Err("a pointer to void"),
            Type::Struct(_) | Type::Base(_) | Type::Enum(_) | Type::Interface(_) => Ok(()),
        }
    }

    fn union(&mut self, id: UnionId) -> Result<(), &'static str> {
        if !self.unions.insert(id) {
            return Ok(());
        }
        let found = &self.model.unions[id.0];
        let mut fields = found.arms.iter().filter_map(|arm| arm.field.as_ref()).chain(found.default.iter().flatten());
        fields.try_for_each(|field| self.field(field))
    }
}
