//! The types that a type leads to: members, arms, elements and targets of pointers.

use super::declarations::Field;
use super::sizes::all_arms;
use super::tables::Model;
use super::types::{InterfaceId, Object, PointerClass, StructId, Type, UnionId};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

/// An iterator over a type and all types that it leads to. The iterator returns each structure and
/// each union once, before its contents.
pub(crate) struct ReachableTypes<'m> {
    model: &'m Model,
    /// The types still to visit, the next one last. A stack on the heap: chains of types may be as
    /// long as a file.
    next: Vec<&'m Type>,
    /// Whether each structure and each union has been visited.
    structs: Vec<bool>,
    unions: Vec<bool>,
}

impl Model {
    /// Returns an iterator over a type and all types that it leads to.
    pub(crate) fn reachable<'m>(&'m self, ty: &'m Type) -> ReachableTypes<'m> {
        self.reachable_from([ty])
    }

    /// Returns the interface, its base interfaces, and all interfaces to which the methods of any
    /// of them lead, except the interfaces of Automation's built-in file.
    pub fn interfaces_from(&self, id: InterfaceId) -> Vec<InterfaceId> {
        let mut found = vec![id];
        let mut at = 0;
        while let Some(&id) = found.get(at) {
            let types = self.all_methods(id).into_iter().flat_map(|method| &method.params).map(|param| &param.ty);
            let named = self.reachable_from(types).filter_map(|ty| match ty {
                Type::Interface(Object::Known(named)) => Some(*named),
                _ => None,
            });
            for next in self.lineage(id).into_iter().chain(named) {
                if !found.contains(&next) && !self.is_built_in(next) {
                    found.push(next);
                }
            }
            at += 1;
        }
        found
    }

    /// Returns an iterator over the given types and all types that they lead to.
    pub(crate) fn reachable_from<'m>(&'m self, types: impl IntoIterator<Item = &'m Type>) -> ReachableTypes<'m> {
        let next = types.into_iter().collect();
        let (structs, unions) = (vec![false; self.structs.len()], vec![false; self.unions.len()]);
        ReachableTypes { model: self, next, structs, unions }
    }

    /// Returns the type that remains when all arrays of fixed size and all pointers around it are
    /// removed.
    pub(crate) fn innermost<'m>(&'m self, mut ty: &'m Type) -> &'m Type {
        loop {
            ty = match ty {
                Type::Fixed(element, _) => element,
                Type::Pointer(pointer) => &pointer.to,
                ty => return ty,
            };
        }
    }

    /// Returns the structures and unions that `refuse` refuses, and those that lead to a refused
    /// type, each with the reason.
    pub(crate) fn refusals<W: Clone>(&self, refuse: impl Fn(&Type) -> Option<W>) -> HashMap<Type, W> {
        let structs = (0..self.structs.len()).map(|at| Type::Struct(StructId(at)));
        let all: Vec<Type> = structs.chain((0..self.unions.len()).map(|at| Type::Union(UnionId(at)))).collect();
        let mut led_from: HashMap<&Type, Vec<&Type>> = HashMap::new();
        for ty in &all {
            for inner in self.inner(ty) {
                led_from.entry(self.innermost(inner)).or_default().push(ty);
            }
        }
        let mut next: VecDeque<(&Type, W)> = all.iter().filter_map(|ty| Some((ty, refuse(ty)?))).collect();
        let mut refused = HashMap::new();
        while let Some((ty, why)) = next.pop_front() {
            if let Entry::Vacant(entry) = refused.entry(ty.clone()) {
                next.extend(led_from.get(ty).into_iter().flatten().map(|from| (*from, why.clone())));
                entry.insert(why);
            }
        }
        refused
    }

    /// Whether a structure or a union contains or leads to a full pointer.
    pub(crate) fn has_full_pointers(&self, ty: &Type) -> bool {
        let full = self.known.full.get_or_init(|| {
            self.refusals(|ty| self.inner(ty).into_iter().any(|inner| self.is_full(inner)).then_some(()))
        });
        full.contains_key(ty)
    }

    /// Whether a type has a full pointer outside of its structures and unions.
    fn is_full(&self, ty: &Type) -> bool {
        match ty {
            Type::Pointer(pointer) => pointer.class == PointerClass::Full || self.is_full(&pointer.to),
            Type::Fixed(element, _) => self.is_full(element),
            _ => false,
        }
    }

    /// Returns the types that a type directly leads to, in the order of the source.
    pub(crate) fn inner<'m>(&'m self, ty: &'m Type) -> Vec<&'m Type> {
        let mut found = Vec::new();
        self.add_inner(ty, &mut found);
        found
    }

    /// Appends the types that a type directly leads to, in the order of the source.
    fn add_inner<'m>(&'m self, ty: &'m Type, to: &mut Vec<&'m Type>) {
        match ty {
            Type::Base(_) | Type::Enum(_) | Type::Interface(_) | Type::Void => {}
            Type::Fixed(element, _) => to.push(element),
            Type::Pointer(pointer) => to.push(&pointer.to),
            Type::Struct(id) => {
                let found = &self.structs[id.0];
                let open = found.conformant.iter().map(|(element, ..)| element);
                let types = |field: &'m Field| std::iter::once(&field.ty).chain(field.bits.iter().map(|part| &part.ty));
                to.extend(found.fields.iter().flat_map(types).chain(open));
            }
            Type::Union(id) => {
                let found = &self.unions[id.0];
                to.extend(std::iter::once(&found.tag).chain(all_arms(found).map(|field| &field.ty)));
            }
        }
    }
}

impl<'m> Iterator for ReachableTypes<'m> {
    type Item = &'m Type;

    fn next(&mut self) -> Option<&'m Type> {
        loop {
            let ty = self.next.pop()?;
            let is_new = match ty {
                Type::Struct(id) => !std::mem::replace(&mut self.structs[id.0], true),
                Type::Union(id) => !std::mem::replace(&mut self.unions[id.0], true),
                _ => true,
            };
            if is_new {
                let begin = self.next.len();
                self.model.add_inner(ty, &mut self.next);
                self.next[begin..].reverse();
                return Some(ty);
            }
        }
    }
}
