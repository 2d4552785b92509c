//! Type libraries: what a `library` declares, as the tools and scripts of Automation read it.
//!
//! [`TypeLibrary`] is what one says, without its format. [`write()`] and [`read`] know the format, which is called MSFT by its first bytes;
//! Microsoft has published none, and others have written down what they saw. [`idl`] writes one as a person would.

mod layout;
mod reader;
mod text;
mod values;
mod writer;

pub use reader::{BadLibrary, read};
pub use text::idl;
pub use values::Value;
pub use writer::{Unwritable, write};

/// A type library.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeLibrary {
    /// Its name.
    pub name: String,
    /// Its UUID.
    pub uuid: u128,
    /// Its version, major and minor.
    pub version: (u16, u16),
    /// The language of its texts, where it has one.
    pub lcid: u32,
    /// Its LIBFLAGS.
    pub flags: u32,
    /// What it says of itself.
    pub help: Help,
    /// The file with more help.
    pub help_file: Option<String>,
    /// The libraries whose types it uses.
    pub imports: Vec<Import>,
    /// The types that it uses of those.
    pub foreign: Vec<Foreign>,
    /// Its types, which name one another by their places here.
    pub types: Vec<TypeInfo>,
}

/// What is said of something to people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Help {
    /// A few words: `helpstring`.
    pub text: Option<String>,
    /// Where in the help file there is more: `helpcontext`.
    pub context: u32,
}

/// Another library whose types are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The name of its file.
    pub file: String,
    /// Its UUID.
    pub uuid: u128,
    /// Its version, major and minor.
    pub version: (u16, u16),
    /// Its language.
    pub lcid: u32,
}

/// A type of another library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// The library, by its place among [`TypeLibrary::imports`].
    pub library: usize,
    /// What kind of type it is.
    pub kind: Kind,
    /// Which one it is.
    pub what: ForeignId,
}

/// What a library calls a type of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignId {
    /// The one with this UUID.
    Uuid(u128),
    /// The one at this place.
    At(u32),
}

/// What kind of type it is: TYPEKIND.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An enumeration.
    Enum,
    /// A structure.
    Record,
    /// Functions and constants of a shared library.
    Module,
    /// An interface with a vtable.
    Interface,
    /// An interface that is called by name; with [`flags::DUAL`] it has a vtable, too.
    Dispatch,
    /// A class of objects.
    Coclass,
    /// A further name for a type.
    Alias,
    /// A union.
    Union,
}

impl Kind {
    const ALL: [Self; 8] = [
        Self::Enum,
        Self::Record,
        Self::Module,
        Self::Interface,
        Self::Dispatch,
        Self::Coclass,
        Self::Alias,
        Self::Union,
    ];
}

/// A type that a library names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeRef {
    /// One of its own, by its place among [`TypeLibrary::types`].
    Own(usize),
    /// One of another library, by its place among [`TypeLibrary::foreign`].
    Foreign(usize),
}

/// What something's type is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeDesc {
    /// One without parts, by its VARTYPE.
    Simple(u16),
    /// A pointer.
    Pointer(Box<Self>),
    /// A SAFEARRAY, and what its elements are.
    SafeArray(Box<Self>),
    /// An array of fixed size: its elements, and of each dimension how many there are, and the first one's number.
    Array(Box<Self>, Vec<(u32, i32)>),
    /// One that has a name.
    Named(TypeRef),
}

/// A type that a library declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeInfo {
    /// Its name.
    pub name: String,
    /// What kind of type it is.
    pub kind: Kind,
    /// Its UUID.
    pub uuid: Option<u128>,
    /// Its version, major and minor.
    pub version: (u16, u16),
    /// Its TYPEFLAGS.
    pub flags: u32,
    /// The UUID, version, flags and help text for type libraries.
    pub help: Help,
    /// Its bytes in memory.
    pub size: u32,
    /// Its alignment in memory.
    pub align: u8,
    /// The methods that it inherits, and how many interfaces those come from.
    pub inherited: (u16, u16),
    /// Its own methods, or a module's functions.
    pub functions: Vec<Function>,
    /// Its members, values, properties or constants.
    pub variables: Vec<Variable>,
    /// The interface that it extends, or those that a class has; each with its IMPLTYPEFLAGS.
    pub interfaces: Vec<(TypeRef, u32)>,
    /// What it is a further name for.
    pub alias: Option<TypeDesc>,
}

/// A method, one of a property's, or a module's function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name, which those of a property share.
    pub name: String,
    /// Its MEMBERID: for calls by name the DISPID.
    pub id: i32,
    /// Its FUNCKIND: [`flags::VIRTUAL`] and the like.
    pub kind: u8,
    /// Its INVOKEKIND: [`flags::CALL`] and the like.
    pub invoke: u8,
    /// Its CALLCONV.
    pub convention: u8,
    /// Its FUNCFLAGS.
    pub flags: u32,
    /// Where in the vtable it is, in bytes.
    pub slot: u16,
    /// What it returns.
    pub returns: TypeDesc,
    /// Its parameters.
    pub params: Vec<Parameter>,
    /// How many of the last parameters may be left out without a default; -1 where the last takes all that follows.
    pub optional: i16,
    /// The UUID, version, flags and help text for type libraries.
    pub help: Help,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name; the new value of a property has none.
    pub name: Option<String>,
    /// Its type.
    pub ty: TypeDesc,
    /// Its PARAMFLAGS.
    pub flags: u16,
    /// What it is where it is left out.
    pub default: Option<Value>,
}

/// A member, an enumeration's value, a property or a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its MEMBERID.
    pub id: i32,
    /// Its VARFLAGS.
    pub flags: u32,
    /// Its type.
    pub ty: TypeDesc,
    /// What there is of it.
    pub place: Place,
    /// The UUID, version, flags and help text for type libraries.
    pub help: Help,
}

/// What there is of a variable: VARKIND.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// It lies in each structure, so many bytes behind its start.
    Member(u32),
    /// There is one of it.
    Static(u32),
    /// It is always this.
    Const(Value),
    /// It is a property, got and set by name.
    Property,
}

/// Bits that a library says of its things.
pub mod flags {
    /// LIBFLAG_FRESTRICTED.
    pub const LIBRARY_RESTRICTED: u32 = 1;
    /// LIBFLAG_FCONTROL.
    pub const LIBRARY_CONTROL: u32 = 2;
    /// LIBFLAG_FHIDDEN.
    pub const LIBRARY_HIDDEN: u32 = 4;

    /// TYPEFLAG_FAPPOBJECT.
    pub const APPOBJECT: u32 = 0x01;
    /// TYPEFLAG_FCANCREATE.
    pub const CAN_CREATE: u32 = 0x02;
    /// TYPEFLAG_FLICENSED.
    pub const LICENSED: u32 = 0x04;
    /// TYPEFLAG_FPREDECLID.
    pub const PREDECLID: u32 = 0x08;
    /// TYPEFLAG_FHIDDEN.
    pub const HIDDEN: u32 = 0x10;
    /// TYPEFLAG_FCONTROL.
    pub const CONTROL: u32 = 0x20;
    /// TYPEFLAG_FDUAL.
    pub const DUAL: u32 = 0x40;
    /// TYPEFLAG_FNONEXTENSIBLE.
    pub const NONEXTENSIBLE: u32 = 0x80;
    /// TYPEFLAG_FOLEAUTOMATION.
    pub const OLEAUTOMATION: u32 = 0x100;
    /// TYPEFLAG_FRESTRICTED.
    pub const RESTRICTED: u32 = 0x200;
    /// TYPEFLAG_FAGGREGATABLE.
    pub const AGGREGATABLE: u32 = 0x400;
    /// TYPEFLAG_FREPLACEABLE.
    pub const REPLACEABLE: u32 = 0x800;
    /// TYPEFLAG_FDISPATCHABLE.
    pub const DISPATCHABLE: u32 = 0x1000;
    /// TYPEFLAG_FPROXY.
    pub const PROXY: u32 = 0x4000;

    /// FUNC_PUREVIRTUAL: a place in a vtable.
    pub const VIRTUAL: u8 = 1;
    /// FUNC_STATIC: a function of a module.
    pub const STATIC: u8 = 3;
    /// FUNC_DISPATCH: called by name only.
    pub const BY_NAME: u8 = 4;

    /// INVOKE_FUNC.
    pub const CALL: u8 = 1;
    /// INVOKE_PROPERTYGET.
    pub const GET: u8 = 2;
    /// INVOKE_PROPERTYPUT.
    pub const PUT: u8 = 4;
    /// INVOKE_PROPERTYPUTREF.
    pub const PUT_REF: u8 = 8;

    /// CC_STDCALL.
    pub const STDCALL: u8 = 4;

    /// FUNCFLAG_FRESTRICTED.
    pub const FUNCTION_RESTRICTED: u32 = 0x001;
    /// FUNCFLAG_FHIDDEN, which VARFLAG_FHIDDEN is, too.
    pub const FUNCTION_HIDDEN: u32 = 0x040;
    /// VARFLAG_FREADONLY.
    pub const READONLY: u32 = 0x001;
    /// VARFLAG_FRESTRICTED.
    pub const VARIABLE_RESTRICTED: u32 = 0x080;

    /// PARAMFLAG_FIN.
    pub const IN: u16 = 0x01;
    /// PARAMFLAG_FOUT.
    pub const OUT: u16 = 0x02;
    /// PARAMFLAG_FLCID.
    pub const LCID: u16 = 0x04;
    /// PARAMFLAG_FRETVAL.
    pub const RETVAL: u16 = 0x08;
    /// PARAMFLAG_FOPT.
    pub const OPTIONAL: u16 = 0x10;
    /// PARAMFLAG_FHASDEFAULT.
    pub const HAS_DEFAULT: u16 = 0x20;

    /// IMPLTYPEFLAG_FDEFAULT.
    pub const DEFAULT: u32 = 1;
    /// IMPLTYPEFLAG_FSOURCE.
    pub const SOURCE: u32 = 2;
    /// IMPLTYPEFLAG_FRESTRICTED.
    pub const INTERFACE_RESTRICTED: u32 = 4;
    /// IMPLTYPEFLAG_FDEFAULTVTABLE.
    pub const DEFAULT_VTABLE: u32 = 8;

    /// What is said of a library, by its attributes.
    pub const ON_LIBRARIES: [(&str, u32); 3] =
        [("restricted", LIBRARY_RESTRICTED), ("control", LIBRARY_CONTROL), ("hidden", LIBRARY_HIDDEN)];
    /// What is said of a type, by its attributes. CAN_CREATE is what classes are that are not `noncreatable`, and DISPATCHABLE is no
    /// attribute.
    pub const ON_TYPES: [(&str, u32); 10] = [
        ("appobject", APPOBJECT),
        ("licensed", LICENSED),
        ("hidden", HIDDEN),
        ("control", CONTROL),
        ("dual", DUAL),
        ("nonextensible", NONEXTENSIBLE),
        ("oleautomation", OLEAUTOMATION),
        ("restricted", RESTRICTED),
        ("aggregatable", AGGREGATABLE),
        ("proxy", PROXY),
    ];
    /// What is said of a method, by its attributes.
    pub const ON_FUNCTIONS: [(&str, u32); 13] = [
        ("restricted", FUNCTION_RESTRICTED),
        ("source", 0x002),
        ("bindable", 0x004),
        ("requestedit", 0x008),
        ("displaybind", 0x010),
        ("defaultbind", 0x020),
        ("hidden", FUNCTION_HIDDEN),
        ("usesgetlasterror", 0x080),
        ("defaultcollelem", 0x100),
        ("uidefault", 0x200),
        ("nonbrowsable", 0x400),
        ("replaceable", 0x800),
        ("immediatebind", 0x1000),
    ];
    /// What is said of a property without methods, by its attributes.
    pub const ON_VARIABLES: [(&str, u32); 13] = [
        ("readonly", READONLY),
        ("source", 0x002),
        ("bindable", 0x004),
        ("requestedit", 0x008),
        ("displaybind", 0x010),
        ("defaultbind", 0x020),
        ("hidden", FUNCTION_HIDDEN),
        ("restricted", VARIABLE_RESTRICTED),
        ("defaultcollelem", 0x100),
        ("uidefault", 0x200),
        ("nonbrowsable", 0x400),
        ("replaceable", 0x800),
        ("immediatebind", 0x1000),
    ];
    /// What a class says of an interface, by the attributes of its name.
    pub const ON_INTERFACES: [(&str, u32); 4] = [
        ("default", DEFAULT),
        ("source", SOURCE),
        ("restricted", INTERFACE_RESTRICTED),
        ("defaultvtable", DEFAULT_VTABLE),
    ];
}
