//! What types lead to: members, arms, elements, and what pointers point to.

use super::measure::all_arms;
use super::{Model, StructId, Type, UnionId};
use crate::emit::c::Names as CNames;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::OnceLock;

/// Why structures and unions cannot be written in a language. Others can.
pub(crate) type Refusals = HashMap<Type, &'static str>;

/// What back ends have found out of all types, each at once: types may be many, and lead to as many others.
#[derive(Debug, Default)]
pub struct Known {
    pub(crate) rust: OnceLock<Refusals>,
    pub(crate) c: OnceLock<Refusals>,
    pub(crate) java: OnceLock<Refusals>,
    /// What names mean in C.
    pub(crate) c_names: OnceLock<CNames>,
}

/// A type and all that it leads to, each structure and each union once, before what stands in it.
pub(crate) struct Reached<'m> {
    model: &'m Model,
    /// What is still to come, the next one last: types may lead to one another in chains that are as long as a file.
    next: Vec<&'m Type>,
    structs: HashSet<StructId>,
    unions: HashSet<UnionId>,
}

impl Model {
    /// A type and all that it leads to.
    pub(crate) fn reached<'m>(&'m self, ty: &'m Type) -> Reached<'m> {
        self.reached_from([ty])
    }

    /// These types and all that they lead to.
    pub(crate) fn reached_from<'m>(&'m self, types: impl IntoIterator<Item = &'m Type>) -> Reached<'m> {
        let next = types.into_iter().collect();
        Reached { model: self, next, structs: HashSet::new(), unions: HashSet::new() }
    }

    /// The structure or the union that a type is of, through arrays and pointers; or what else it is of.
    pub(crate) fn innermost<'m>(&'m self, mut ty: &'m Type) -> &'m Type {
        loop {
            ty = match ty {
                Type::Fixed(element, _) => element,
                Type::Pointer(pointer) => &pointer.to,
                ty => return ty,
            };
        }
    }

    /// Structures and unions that are refused by themselves, and those that lead to such.
    pub(crate) fn refusals<W: Copy>(&self, refuse: impl Fn(&Type) -> Option<W>) -> HashMap<Type, W> {
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
                entry.insert(why);
                next.extend(led_from.get(ty).into_iter().flatten().map(|from| (*from, why)));
            }
        }
        refused
    }

    /// What a type leads to itself, in the order of the source.
    pub(crate) fn inner<'m>(&'m self, ty: &'m Type) -> Vec<&'m Type> {
        match ty {
            Type::Base(_) | Type::Enum(_) | Type::Interface(_) | Type::Void => Vec::new(),
            Type::Fixed(element, _) => vec![element],
            Type::Pointer(pointer) => vec![&pointer.to],
            Type::Struct(id) => {
                let found = &self.structs[id.0];
                let open = found.conformant.iter().map(|(element, ..)| element);
                found.fields.iter().map(|field| &field.ty).chain(open).collect()
            }
            Type::Union(id) => {
                let found = &self.unions[id.0];
                std::iter::once(&found.tag).chain(all_arms(found).map(|field| &field.ty)).collect()
            }
        }
    }
}

impl<'m> Iterator for Reached<'m> {
    type Item = &'m Type;

    fn next(&mut self) -> Option<&'m Type> {
        loop {
            let ty = self.next.pop()?;
            let is_new = match ty {
                Type::Struct(id) => self.structs.insert(*id),
                Type::Union(id) => self.unions.insert(*id),
                _ => true,
            };
            if is_new {
                self.next.extend(self.model.inner(ty).into_iter().rev());
                return Some(ty);
            }
        }
    }
}
