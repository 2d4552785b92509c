//! The declarations of a model by name.

use crate::model::{Interface, Model};
use std::collections::HashMap;

/// The indices of a model's declarations, by name and uuid.
pub(super) struct Names<'m> {
    pub(super) structs: HashMap<&'m str, usize>,
    pub(super) unions: HashMap<&'m str, usize>,
    pub(super) enums: HashMap<&'m str, usize>,
    pub(super) consts: HashMap<&'m str, usize>,
    pub(super) typedefs: HashMap<&'m str, usize>,
    interfaces: HashMap<&'m str, usize>,
    uuids: HashMap<u128, usize>,
}

impl<'m> Names<'m> {
    pub(super) fn of(model: &'m Model) -> Self {
        let uuids = model.interfaces.iter().enumerate().filter(|(_, found)| found.uuid != 0);
        Self {
            structs: index(model.structs.iter().map(|found| &found.name)),
            unions: index(model.unions.iter().map(|found| &found.name)),
            enums: index(model.enums.iter().map(|found| &found.name)),
            consts: index(model.consts.iter().map(|found| &found.name)),
            typedefs: index(model.typedefs.iter().map(|found| &found.name)),
            interfaces: index(model.interfaces.iter().map(|found| &found.name)),
            uuids: uuids.map(|(at, found)| (found.uuid, at)).collect(),
        }
    }

    /// Whether a structure, a union or an enumeration has the name.
    pub(super) fn has_type(&self, name: &str) -> bool {
        self.structs.contains_key(name) || self.unions.contains_key(name) || self.enums.contains_key(name)
    }

    /// Returns the interface that corresponds to one of the other model: by uuid, else by name.
    pub(super) fn counterpart(&self, of: &Interface) -> Option<usize> {
        self.uuids.get(&of.uuid).or_else(|| self.interfaces.get(of.name.as_str())).copied()
    }
}

fn index<'m>(names: impl Iterator<Item = &'m String>) -> HashMap<&'m str, usize> {
    names.enumerate().map(|(at, name)| (name.as_str(), at)).collect()
}
