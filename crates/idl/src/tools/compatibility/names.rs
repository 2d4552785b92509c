//! The declarations of a model by name.

use crate::model::{Coclass, Const, Declared, Dispinterface, Interface, InterfaceId, Library, Model, Type, Typedef};
use crate::tools::declared::declared_types;
use std::collections::HashMap;

/// The declarations of a model, by name and uuid.
pub(super) struct Names<'m> {
    pub(super) consts: HashMap<&'m str, &'m Const>,
    pub(super) typedefs: HashMap<&'m str, &'m Typedef>,
    pub(super) coclasses: HashMap<&'m str, &'m Coclass>,
    pub(super) dispinterfaces: HashMap<&'m str, &'m Dispinterface>,
    pub(super) libraries: HashMap<&'m str, &'m Library>,
    /// The structures, unions and enumerations.
    pub(super) types: HashMap<&'m str, Type>,
    /// The values of enumerations.
    pub(super) values: HashMap<&'m str, i32>,
    interfaces: HashMap<&'m str, usize>,
    uuids: HashMap<u128, usize>,
}

impl<'m> Names<'m> {
    pub(super) fn of(model: &'m Model) -> Self {
        let uuids = model.interfaces.iter().enumerate().filter(|(_, found)| found.uuid != 0);
        let interfaces = model.interfaces.iter().enumerate();
        let values = model.enums.iter().flat_map(|found| &found.values);
        Self {
            consts: by_name(&model.consts, |found| &found.name),
            typedefs: by_name(&model.typedefs, |found| &found.name),
            coclasses: by_name(&model.coclasses, |found| &found.name),
            dispinterfaces: by_name(&model.dispinterfaces, |found| &found.name),
            libraries: by_name(&model.libraries, |found| &found.name),
            types: declared_types(model).map(|found| (found.name, found.ty)).collect(),
            values: values.map(|(name, value)| (name.as_str(), *value)).collect(),
            interfaces: interfaces.map(|(at, found)| (found.name.as_str(), at)).collect(),
            uuids: uuids.map(|(at, found)| (found.uuid, at)).collect(),
        }
    }

    /// Returns the interface that corresponds to an interface of the other model: by uuid, else by
    /// name. `None` if no interface corresponds.
    pub(super) fn counterpart(&self, of: &Interface) -> Option<InterfaceId> {
        self.uuids.get(&of.uuid).or_else(|| self.interfaces.get(of.name.as_str())).copied().map(InterfaceId)
    }

    /// Whether the model has a declaration of the same kind and name as a declaration of the other
    /// model.
    pub(super) fn has(&self, declared: Declared, name: &str) -> bool {
        match declared {
            Declared::Struct(_) | Declared::Union(_) | Declared::Enum(_) => self.types.contains_key(name),
            Declared::Interface(_) => self.interfaces.contains_key(name),
            Declared::Alias(_) => self.typedefs.contains_key(name),
            Declared::Dispinterface(_) => self.dispinterfaces.contains_key(name),
            Declared::Coclass(_) => self.coclasses.contains_key(name),
        }
    }
}

fn by_name<T>(list: &[T], name: impl Fn(&T) -> &String) -> HashMap<&str, &T> {
    list.iter().map(|found| (name(found).as_str(), found)).collect()
}
