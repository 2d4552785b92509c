//! Libraries: what type libraries are made of.

use super::{EnumId, Help, InterfaceId, Member, Param, StructId, UnionId};
use crate::source::Span;

/// What type libraries say of something beside its declaration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Its UUID; an interface has its own.
    pub uuid: Option<u128>,
    /// Its version, major and minor.
    pub version: (u16, u16),
    /// The bits that its attributes stand for: see [`flags`](crate::typelib::flags).
    pub flags: u32,
    /// What is said to people.
    pub help: Help,
}

/// A library.
#[derive(Clone, Debug)]
pub struct Library {
    /// Its name.
    pub name: String,
    /// What is said of it.
    pub about: About,
    /// The language of its texts, where it has one.
    pub lcid: u32,
    /// The file with more help.
    pub help_file: Option<String>,
    /// The libraries that it imports.
    pub imports: Vec<ImportLib>,
    /// What stands in it, in the order of the source.
    pub declared: Vec<Declared>,
    /// Whether it stands in a file that this one imports.
    pub imported: bool,
    /// Where it is declared.
    pub span: Span,
}

/// `importlib`.
#[derive(Clone, Debug)]
pub struct ImportLib {
    /// The name of the file.
    pub file: String,
    /// Where it stands.
    pub span: Span,
}

/// What a library declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Declared {
    /// A structure.
    Struct(StructId),
    /// A union.
    Union(UnionId),
    /// An enumeration.
    Enum(EnumId),
    /// An interface; one that is only named in the library, too.
    Interface(InterfaceId),
    /// A further name for a type, by its place in [`Model::typedefs`](super::Model::typedefs).
    Alias(usize),
    /// An interface that is called by name only, by its place in [`Model::dispinterfaces`](super::Model::dispinterfaces).
    Dispinterface(usize),
    /// A class, by its place in [`Model::coclasses`](super::Model::coclasses).
    Coclass(usize),
}

/// A class of objects.
#[derive(Clone, Debug)]
pub struct Coclass {
    /// Its name.
    pub name: String,
    /// What is said of it.
    pub about: About,
    /// The interfaces that its objects have, or call as `source` says, each with the bits of its attributes.
    pub interfaces: Vec<(Offered, u32)>,
    /// Where it is declared.
    pub span: Span,
}

/// An interface of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// IUnknown.
    Unknown,
    /// One with a vtable.
    Interface(InterfaceId),
    /// One that is called by name only, by its place in [`Model::dispinterfaces`](super::Model::dispinterfaces).
    Dispinterface(usize),
}

/// An interface that is called by name only.
#[derive(Clone, Debug)]
pub struct Dispinterface {
    /// Its name.
    pub name: String,
    /// What is said of it.
    pub about: About,
    /// What it has; `None` while it is only announced.
    pub members: Option<DispMembers>,
    /// Where it is declared.
    pub span: Span,
}

/// What an interface that is called by name has.
#[derive(Clone, Debug)]
pub enum DispMembers {
    /// Properties without methods, and methods.
    Own(Vec<DispMember>, Vec<DispMember>),
    /// Those of an interface.
    Of(InterfaceId),
}

/// A property without methods, or a method.
#[derive(Clone, Debug)]
pub struct DispMember {
    /// What calls by name know of it.
    pub member: Member,
    /// Its parameters.
    pub params: Vec<Param>,
    /// What it returns, or the property's value, as if it were a parameter; `None` for nothing.
    pub returns: Option<Param>,
}
