//! The tables of the model. Types and declarations refer to each other by their indices here.

use super::declarations::{Const, Enum, Interface, Method, Struct, Typedef, Union};
use super::known::Known;
use super::library::{Coclass, Dispinterface, Library};
use super::types::{InterfaceId, StructId, Type};
use std::collections::HashMap;

/// The result of one compilation.
#[derive(Debug, Default)]
pub struct Model {
    /// Constants, in the order of the source.
    pub consts: Vec<Const>,
    /// Structures. A structure comes after those that it contains by value.
    pub structs: Vec<Struct>,
    /// Unions.
    pub unions: Vec<Union>,
    /// Enumerations.
    pub enums: Vec<Enum>,
    /// Interfaces. A base interface comes before the interfaces that extend it.
    pub interfaces: Vec<Interface>,
    /// Typedefs, in the order of the source.
    pub typedefs: Vec<Typedef>,
    /// Classes of objects.
    pub coclasses: Vec<Coclass>,
    /// Interfaces that are called by name only. No code is generated for them.
    pub dispinterfaces: Vec<Dispinterface>,
    /// Libraries, from which type libraries are made.
    pub libraries: Vec<Library>,
    /// The number of leading entries of each table that Automation's file declares: see
    /// [`automation`](super::automation).
    pub built_in: DeclarationCounts,
    /// The number of leading entries of each table that built-in files declare, those of
    /// `built_in` included. The runtime has the code for them.
    pub bundled: DeclarationCounts,
    /// Structures whose members are not declared, and the types that lead to one. The value is that
    /// structure. Only `[local]` methods may use these types.
    pub opaque: HashMap<Type, StructId>,
    /// Facts about the types that back ends have computed.
    pub known: Known,
}

/// The number of entries of each kind that built-in files declare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeclarationCounts {
    /// Constants.
    pub consts: usize,
    /// Structures.
    pub structs: usize,
    /// Unions.
    pub unions: usize,
    /// Enumerations.
    pub enums: usize,
    /// Interfaces.
    pub interfaces: usize,
    /// Typedefs.
    pub typedefs: usize,
}

impl Model {
    /// Whether the interface is declared in Automation's built-in file.
    pub fn is_built_in(&self, id: InterfaceId) -> bool {
        id.0 < self.built_in.interfaces
    }

    /// Returns the interface and its base interfaces, from the farthest ancestor on.
    pub fn lineage(&self, id: InterfaceId) -> Vec<InterfaceId> {
        let mut lineage = vec![id];
        let mut next = self.interfaces[id.0].base;
        while let Some(base) = next {
            lineage.push(base);
            next = self.interfaces[base.0].base;
        }
        lineage.reverse();
        lineage
    }

    /// Returns all methods of an interface in the order of their opnums, inherited ones first.
    pub fn all_methods(&self, id: InterfaceId) -> Vec<&Method> {
        self.lineage(id).into_iter().flat_map(|id| &self.interfaces[id.0].methods).collect()
    }
}
