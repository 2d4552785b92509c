//! Type libraries: the declarations of a `library`, in the form that Automation's tools and scripts
//! read.
//!
//! [`TypeLibrary`] holds the contents of a type library, independent of the format. [`write()`] and
//! [`read`] implement the format, which is named MSFT after its first bytes. Microsoft has not
//! published it: the layout is known from observation. [`idl`] converts a library to IDL source.

mod layout;
mod reader;
mod text;
mod values;
mod writer;

pub use crate::model::Help;
pub use reader::{BadLibrary, read};
pub use text::idl;
pub use values::Value;
pub use writer::{Unwritable, write};

/// A type library.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeLibrary {
    /// The library's name.
    pub name: String,
    /// The library's UUID.
    pub uuid: u128,
    /// The library's version, major and minor.
    pub version: (u16, u16),
    /// The locale of the library's texts. 0 if there is none.
    pub lcid: u32,
    /// The library's LIBFLAGS.
    pub flags: u32,
    /// The library's help text.
    pub help: Help,
    /// The help file.
    pub help_file: Option<String>,
    /// The libraries whose types this library uses.
    pub imports: Vec<Import>,
    /// The types that this library uses from other libraries.
    pub foreign: Vec<Foreign>,
    /// The library's types. They refer to one another by index.
    pub types: Vec<TypeInfo>,
}

/// Another library whose types are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The library's file name.
    pub file: String,
    /// The library's UUID.
    pub uuid: u128,
    /// The library's version, major and minor.
    pub version: (u16, u16),
    /// The library's locale.
    pub lcid: u32,
}

/// A type of another library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// The library, by its index in [`TypeLibrary::imports`].
    pub library: usize,
    /// The type's kind.
    pub kind: Kind,
    /// The type's identifier.
    pub what: ForeignId,
}

/// The identifier of a type in another library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignId {
    /// The type's UUID.
    Uuid(u128),
    /// The type's index in that library.
    At(u32),
}

/// The kind of a type: TYPEKIND.
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
    /// An interface that is called by name. With [`flags::DUAL`] it has a vtable too.
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

/// A reference to a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeRef {
    /// A type of this library, by its index in [`TypeLibrary::types`].
    Own(usize),
    /// A type of another library, by its index in [`TypeLibrary::foreign`].
    Foreign(usize),
}

/// The type of a declaration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeDesc {
    /// A type without parts, by its VARTYPE.
    Simple(u16),
    /// A pointer.
    Pointer(Box<Self>),
    /// A SAFEARRAY with its element type.
    SafeArray(Box<Self>),
    /// An array of fixed size: its element type, and the number of elements and the lower bound of
    /// each dimension.
    Array(Box<Self>, Vec<(u32, i32)>),
    /// A named type.
    Named(TypeRef),
}

/// A type that a library declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeInfo {
    /// The type's name.
    pub name: String,
    /// The type's kind.
    pub kind: Kind,
    /// The type's UUID.
    pub uuid: Option<u128>,
    /// The type's version, major and minor.
    pub version: (u16, u16),
    /// The type's TYPEFLAGS.
    pub flags: u32,
    /// The type's help text.
    pub help: Help,
    /// The size in memory, in bytes.
    pub size: u32,
    /// The alignment in memory.
    pub align: u8,
    /// The number of inherited methods, and the number of the interfaces from which they come.
    pub inherited: (u16, u16),
    /// The type's own methods, or a module's functions.
    pub functions: Vec<Function>,
    /// The type's members, values, properties or constants.
    pub variables: Vec<Variable>,
    /// The base interface, or a class's interfaces, each with its IMPLTYPEFLAGS.
    pub interfaces: Vec<(TypeRef, u32)>,
    /// The type that a typedef names.
    pub alias: Option<TypeDesc>,
}

/// A method, an accessor of a property, or a function of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The function's name. The accessors of a property share one name.
    pub name: String,
    /// The function's MEMBERID, which is the DISPID for calls by name.
    pub id: i32,
    /// The function's FUNCKIND, such as [`flags::VIRTUAL`].
    pub kind: u8,
    /// The function's INVOKEKIND, such as [`flags::CALL`].
    pub invoke: u8,
    /// The function's CALLCONV.
    pub convention: u8,
    /// The function's FUNCFLAGS.
    pub flags: u32,
    /// The function's offset in the vtable, in bytes.
    pub slot: u16,
    /// The type of the result.
    pub returns: TypeDesc,
    /// The function's parameters.
    pub params: Vec<Parameter>,
    /// The number of trailing parameters that may be omitted and have no default. -1 if the last
    /// parameter takes all further arguments.
    pub optional: i16,
    /// The function's help text.
    pub help: Help,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The parameter's name. The new value of a property has no name.
    pub name: Option<String>,
    /// The parameter's type.
    pub ty: TypeDesc,
    /// The parameter's PARAMFLAGS.
    pub flags: u16,
    /// The value of an omitted parameter.
    pub default: Option<Value>,
}

/// A member, an enumeration's value, a property or a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The variable's name.
    pub name: String,
    /// The variable's MEMBERID.
    pub id: i32,
    /// The variable's VARFLAGS.
    pub flags: u32,
    /// The variable's type.
    pub ty: TypeDesc,
    /// The variable's kind and place.
    pub place: Place,
    /// The variable's help text.
    pub help: Help,
}

/// The kind and the place of a variable: VARKIND.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A member of a structure, at this offset in bytes.
    Member(u32),
    /// A single static variable.
    Static(u32),
    /// A constant with this value.
    Const(Value),
    /// A property that is read and set by name.
    Property,
}

/// Flags of libraries and their declarations.
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
    /// FUNCFLAG_FHIDDEN, which equals VARFLAG_FHIDDEN.
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

    /// The flags of a library, by attribute.
    pub const ON_LIBRARIES: [(&str, u32); 3] =
        [("restricted", LIBRARY_RESTRICTED), ("control", LIBRARY_CONTROL), ("hidden", LIBRARY_HIDDEN)];
    /// The flags of a type, by attribute. CAN_CREATE is set for classes without `noncreatable`, and
    /// DISPATCHABLE has no attribute.
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
    /// The flags of a method, by attribute.
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
    /// The flags of a property without methods, by attribute.
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
    /// The flags of a class's interface, by attribute.
    pub const ON_INTERFACES: [(&str, u32); 4] = [
        ("default", DEFAULT),
        ("source", SOURCE),
        ("restricted", INTERFACE_RESTRICTED),
        ("defaultvtable", DEFAULT_VTABLE),
    ];
}
