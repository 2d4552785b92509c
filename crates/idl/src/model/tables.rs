//! The tables of the model. Types and declarations refer to each other by their indices in these
//! tables.

use super::declarations::{Const, Enum, Interface, Method, Struct, Typedef, Union};
use super::known::Known;
use super::library::{Coclass, Declared, Dispinterface, Library, Offered};
use super::types::{InterfaceId, Object, Type};
use crate::text::source::{FileId, Span};
use std::collections::HashMap;

/// The result of one compilation.
#[derive(Debug, Default)]
pub struct Model {
    /// Constants, in the order of the source.
    pub consts: Vec<Const>,
    /// Structures. A structure comes after the structures that it contains by value.
    pub structs: Vec<Struct>,
    /// Unions.
    pub unions: Vec<Union>,
    /// Enumerations.
    pub enums: Vec<Enum>,
    /// Interfaces, in the order of their first declarations, including forward declarations. A base
    /// interface can come after the interfaces that extend it.
    pub interfaces: Vec<Interface>,
    /// Typedefs, in the order of the source.
    pub typedefs: Vec<Typedef>,
    /// Classes of objects.
    pub coclasses: Vec<Coclass>,
    /// Interfaces that are called by name only, for which no code is generated.
    pub dispinterfaces: Vec<Dispinterface>,
    /// Libraries, from which type libraries are made.
    pub libraries: Vec<Library>,
    /// The number of leading entries of each table that Automation's file declares: see
    /// [`automation`](super::automation).
    pub built_in: DeclarationCounts,
    /// The number of leading entries of each table that built-in files declare, including the
    /// entries of `built_in`. The runtime has the code for these declarations.
    pub bundled: DeclarationCounts,
    /// Types that no call can carry, and the types that lead to such a type. Only `[local]` methods
    /// may use these types.
    pub opaque: HashMap<Type, Opaque>,
    /// Structures and unions that no back end can pass to other processes yet, and the types that
    /// lead to such a type, each with the reason.
    pub unsupported: HashMap<Type, Unsupported>,
    /// The built-in file of base types. The used declarations of this file are in the same tables
    /// as the declarations of imported files. `None` if no file needs the built-in file.
    pub prelude: Option<FileId>,
    /// Whether back ends leave out what they do not support, instead of refusing the file.
    pub permissive: bool,
    /// Facts that back ends have computed about the types.
    pub known: Known,
}

/// The reason why no call can carry the values of a type.
#[derive(Clone, Debug)]
pub struct Opaque {
    /// The structure or union that is the reason: the type itself, or a type to which it leads.
    pub of: Type,
    /// The reason, as a part of a sentence that begins with that type's name.
    pub why: &'static str,
}

impl Opaque {
    /// The reason for a structure that has only a forward declaration.
    pub const UNDECLARED: &'static str = "whose members are not declared";
}

/// The reason why no back end can pass a structure or a union to other processes yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// The form of the type, or of a type to which it leads, as a noun phrase.
    Form(&'static str),
    /// A pointer to an object of a bare interface: see [`Interface::bare`](super::Interface::bare).
    Bare {
        /// The structure or union with the pointer: the type itself, or a type to which it leads.
        of: Type,
        /// The interface.
        interface: InterfaceId,
    },
}

impl Unsupported {
    /// The reason for a type with members of Automation types: the model has the form that travels,
    /// and not the form in memory.
    pub const AUTOMATION: Self = Self::Form("a structure or union with one of Automation's types");
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
    /// Whether a declaration is one of the built-in base types.
    pub fn is_prelude(&self, span: Span) -> bool {
        self.prelude == Some(span.file)
    }

    /// Whether the interface is declared in Automation's built-in file.
    pub fn is_built_in(&self, id: InterfaceId) -> bool {
        id.0 < self.built_in.interfaces
    }

    /// Returns the name and the place of an interface, a structure or a union. `None` for other
    /// types.
    pub(crate) fn named(&self, ty: &Type) -> Option<(&str, Span)> {
        Some(match ty {
            Type::Interface(Object::Known(id)) => (&self.interfaces[id.0].name, self.interfaces[id.0].span),
            Type::Struct(id) => (&self.structs[id.0].name, self.structs[id.0].span),
            Type::Union(id) => (&self.unions[id.0].name, self.unions[id.0].span),
            _ => return None,
        })
    }

    /// Returns the kind and the name of a library's declaration.
    pub fn declared_name(&self, declared: Declared) -> (&'static str, &str) {
        match declared {
            Declared::Struct(id) => ("struct", &self.structs[id.0].name),
            Declared::Union(id) => ("union", &self.unions[id.0].name),
            Declared::Enum(id) => ("enum", &self.enums[id.0].name),
            Declared::Interface(id) => ("interface", &self.interfaces[id.0].name),
            Declared::Alias(at) => ("typedef", &self.typedefs[at].name),
            Declared::Dispinterface(at) => ("dispinterface", &self.dispinterfaces[at].name),
            Declared::Coclass(at) => ("coclass", &self.coclasses[at].name),
        }
    }

    /// Returns the kind and the name of a class's interface.
    pub fn offered_name(&self, offered: Offered) -> (&'static str, &str) {
        match offered {
            Offered::Unknown => ("interface", "IUnknown"),
            Offered::Interface(id) => ("interface", &self.interfaces[id.0].name),
            Offered::Dispinterface(at) => ("dispinterface", &self.dispinterfaces[at].name),
        }
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

    /// Returns the interface and its base interfaces without the built-in ones, which the runtime
    /// implements, from the farthest ancestor on.
    pub fn declared_lineage(&self, id: InterfaceId) -> Vec<InterfaceId> {
        self.lineage(id).into_iter().filter(|id| !self.is_built_in(*id)).collect()
    }

    /// Returns all methods of an interface in the order of their opnums, inherited ones first.
    pub fn all_methods(&self, id: InterfaceId) -> Vec<&Method> {
        self.lineage(id).into_iter().flat_map(|id| &self.interfaces[id.0].methods).collect()
    }

    /// Returns the methods of an interface that other processes call, inherited ones first.
    pub fn remote_methods(&self, id: InterfaceId) -> Vec<&Method> {
        self.lineage(id).into_iter().flat_map(|id| self.interfaces[id.0].remote_methods()).collect()
    }
}
