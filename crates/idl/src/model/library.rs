//! Libraries: what type libraries are made of.

use super::{EnumId, Help, InterfaceId, StructId, UnionId};
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
    /// The interfaces that its objects have, or call as `source` says, each with the bits of its attributes. None is IUnknown.
    pub interfaces: Vec<(Option<InterfaceId>, u32)>,
    /// Where it is declared.
    pub span: Span,
}
