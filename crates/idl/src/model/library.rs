//! Libraries: the declarations that type libraries are made of.

use super::declarations::Param;
use super::dispatch::{About, Member};
use super::types::{EnumId, InterfaceId, StructId, UnionId};
use crate::text::source::Span;

/// A library.
#[derive(Clone, Debug)]
pub struct Library {
    /// The library's name.
    pub name: String,
    /// The UUID, version, flags and help text for type libraries.
    pub about: About,
    /// The locale of the library's texts. 0 if there is none.
    pub lcid: u32,
    /// The help file.
    pub help_file: Option<String>,
    /// The libraries that this library imports.
    pub imports: Vec<ImportLib>,
    /// The library's declarations, in the order of the source.
    pub declared: Vec<Declared>,
    /// Whether an imported file declares the library.
    pub imported: bool,
    /// The library's place in the source.
    pub span: Span,
}

/// `importlib`.
#[derive(Clone, Debug)]
pub struct ImportLib {
    /// The name of the file.
    pub file: String,
    /// The import's place in the source.
    pub span: Span,
}

/// A declaration in a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Declared {
    /// A structure.
    Struct(StructId),
    /// A union.
    Union(UnionId),
    /// An enumeration.
    Enum(EnumId),
    /// An interface that the library declares or refers to.
    Interface(InterfaceId),
    /// A typedef, by its index in [`Model::typedefs`](super::Model::typedefs).
    Alias(usize),
    /// A dispinterface, by its index in [`Model::dispinterfaces`](super::Model::dispinterfaces).
    Dispinterface(usize),
    /// A class, by its index in [`Model::coclasses`](super::Model::coclasses).
    Coclass(usize),
}

/// A class of objects.
#[derive(Clone, Debug)]
pub struct Coclass {
    /// The class's name.
    pub name: String,
    /// The UUID, version, flags and help text for type libraries.
    pub about: About,
    /// The interfaces that the class's objects implement, and the interfaces with the flag
    /// `SOURCE`, which the objects call. Each comes with the flags of its attributes.
    pub interfaces: Vec<(Offered, u32)>,
    /// Whether an imported file declares the class.
    pub imported: bool,
    /// The class's place in the source.
    pub span: Span,
}

/// An interface of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// IUnknown.
    Unknown,
    /// An interface with a vtable.
    Interface(InterfaceId),
    /// A dispinterface, by its index in [`Model::dispinterfaces`](super::Model::dispinterfaces).
    Dispinterface(usize),
}

/// A dispinterface: an interface that is called by name only.
#[derive(Clone, Debug)]
pub struct Dispinterface {
    /// The dispinterface's name.
    pub name: String,
    /// The UUID, version, flags and help text for type libraries.
    pub about: About,
    /// The dispinterface's members. `None` after a forward declaration.
    pub members: Option<DispMembers>,
    /// Whether an imported file declares the dispinterface.
    pub imported: bool,
    /// The dispinterface's place in the source.
    pub span: Span,
}

/// The members of a dispinterface.
#[derive(Clone, Debug)]
pub enum DispMembers {
    /// The dispinterface's own properties, for which no accessor methods are declared, and its own
    /// methods.
    Own(Vec<DispMember>, Vec<DispMember>),
    /// The dispinterface has the members of this interface.
    Of(InterfaceId),
}

/// A method, or a property that is declared without accessor methods.
#[derive(Clone, Debug)]
pub struct DispMember {
    /// The properties for calls by name.
    pub member: Member,
    /// The member's parameters.
    pub params: Vec<Param>,
    /// The result, or the property's value, in the form of a parameter. `None` for no value.
    pub returns: Option<Param>,
    /// The member's place in the source.
    pub span: Span,
}
