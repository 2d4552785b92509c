//! Type numbers: the types of the objects in an interface's frames.

use super::types::in_place;
use crate::model::{Base, Extent, Method, Model, Type};
use obvia_ndr::flat::{KIND_FIRST, KIND_TEXT8, KIND_TEXT16};
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

/// Returns the type number of a string with these characters.
pub const fn text_kind(base: Base) -> u32 {
    if base.size() == 2 { KIND_TEXT16 } else { KIND_TEXT8 }
}

/// Returns the type number of an array with these elements. `kinds` lists the types of the
/// interface's objects.
pub fn kind_of(kinds: &[Type], element: &Type) -> u32 {
    let at = kinds.iter().position(|kind| kind == element).unwrap_or(kinds.len());
    KIND_FIRST + at as u32
}

/// Returns the types of the objects in an interface's frames, in the order of their type numbers.
///
/// The types to which pointers lead are numbered in the order of the source: methods, their
/// parameters, members of structures. The targets of pointers within a structure come before the
/// targets of pointers that follow the structure. Strings and object references have fixed type
/// numbers. `[local]` methods have no frames.
pub fn kinds<'m>(model: &'m Model, methods: &[&'m Method]) -> Vec<Type> {
    let mut kinds = Kinds::default();
    for param in methods.iter().filter(|method| method.is_seen_elsewhere()).flat_map(|method| &method.params) {
        kinds.add(model, in_place(model, param));
    }
    kinds.list
}

/// A list of distinct types, in the order of their discovery.
#[derive(Debug, Default)]
pub struct Kinds {
    /// The types.
    pub list: Vec<Type>,
    known: HashSet<Type>,
    /// Visited structures and unions. The list contains the types that they lead to.
    seen: HashSet<Type>,
}

impl Kinds {
    /// Returns a list of these types.
    pub fn of(types: impl IntoIterator<Item = Type>) -> Self {
        let mut kinds = Self::default();
        types.into_iter().for_each(|ty| kinds.push(ty));
        kinds
    }

    /// Returns a list that contains the type itself, and the targets of the pointers that lie in a
    /// value of the type. The targets of pointers within those targets are not in the list.
    pub(crate) fn direct(model: &Model, ty: &Type) -> Self {
        let mut kinds = Self::of([ty.clone()]);
        let mut next = vec![ty];
        while let Some(ty) = next.pop() {
            match ty {
                Type::Pointer(pointer) => kinds.push(pointer.to.clone()),
                ty => next.extend(model.inner(ty).into_iter().rev()),
            }
        }
        kinds
    }

    /// Adds a type.
    pub fn push(&mut self, ty: Type) {
        if self.known.insert(ty.clone()) {
            self.list.push(ty);
        }
    }

    /// Adds the types that a value of this type leads to.
    pub fn add(&mut self, model: &Model, ty: &Type) {
        let mut next = vec![ty];
        while let Some(ty) = next.pop() {
            match ty {
                Type::Pointer(pointer) if pointer.extent == Extent::Text || self.known.contains(&pointer.to) => {}
                Type::Pointer(pointer) => {
                    self.push(pointer.to.clone());
                    next.push(&pointer.to);
                }
                Type::Struct(_) | Type::Union(_) if !self.seen.insert(ty.clone()) => {}
                ty => next.extend(model.inner(ty).into_iter().rev()),
            }
        }
    }
}

/// The indices of types in a list.
pub(crate) struct Numbers<'a> {
    types: &'a [Type],
    places: OnceCell<HashMap<&'a Type, usize>>,
}

impl<'a> Numbers<'a> {
    pub(crate) const fn of(types: &'a [Type]) -> Self {
        Self { types, places: OnceCell::new() }
    }

    /// Returns the index of a type, or the list's length for a type that is not in the list.
    pub(crate) fn at(&self, ty: &Type) -> usize {
        let places = self.places.get_or_init(|| self.types.iter().enumerate().map(|(at, ty)| (ty, at)).collect());
        places.get(ty).copied().unwrap_or(self.types.len())
    }
}
