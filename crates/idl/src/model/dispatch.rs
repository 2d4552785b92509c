//! Automation's part of the model: types of parameters in memory, and the properties of
//! declarations that calls by name and type libraries need.

use super::types::Value;
use obvia_ndr::vartype as vt;

/// The type of a parameter in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// `BSTR`.
    Bstr,
    /// `VARIANT`.
    Variant,
    /// `SAFEARRAY` with elements of this VARTYPE.
    SafeArray(u16),
}

impl Memory {
    /// Returns the name of the type that travels in place of this type.
    pub const fn wire(self) -> &'static str {
        match self {
            Self::Bstr => "wireBSTR",
            Self::Variant => "wireVARIANT",
            Self::SafeArray(_) => "wirePSAFEARRAY",
        }
    }

    /// Returns the type's VARTYPE.
    pub const fn vt(self) -> u16 {
        match self {
            Self::Bstr => vt::BSTR,
            Self::Variant => vt::VARIANT,
            Self::SafeArray(element) => vt::ARRAY | element,
        }
    }
}

/// The way in which a call by name uses a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A method call.
    #[default]
    Method,
    /// Reads a property.
    Get,
    /// Sets a property.
    Put,
    /// Sets a property to an object.
    PutRef,
}

/// The properties of a method for calls by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// The member's name. The methods of a property share one name.
    pub name: String,
    /// The member's DISPID, if the file gives one.
    pub id: Option<i32>,
    /// The way in which the member is used.
    pub kind: Kind,
    /// Whether the member is hidden from callers by name.
    pub restricted: bool,
    /// The flags of the member's attributes in type libraries.
    pub flags: u32,
    /// The help text in type libraries.
    pub help: Help,
}

/// The type of a parameter for calls by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The VARTYPE. For a pointer, the VARTYPE of its target.
    pub vt: u16,
    /// Whether callers may omit the parameter.
    pub optional: bool,
    /// The value of an omitted parameter.
    pub default: Option<Value>,
}

/// The documentation of a declaration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Help {
    /// A short text: `helpstring`.
    pub text: Option<String>,
    /// The topic in the help file: `helpcontext`.
    pub context: u32,
}

/// The properties of a declaration that only type libraries record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// The declaration's UUID. `None` for interfaces, which have a field for their IID.
    pub uuid: Option<u128>,
    /// The declaration's version, major and minor.
    pub version: (u16, u16),
    /// The flags of the declaration's attributes: see [`flags`](super::typelib::flags).
    pub flags: u32,
    /// The help text.
    pub help: Help,
}
