//! Automation's types: what they are in memory, what travels for them, and what calls by name know of methods.
//!
//! What travels is declared in `oaidl.idl`, as MS-OAUT has it; so the transfer syntaxes need to know nothing of it. Between that and
//! memory the runtime converts.

use crate::model::{Base, Extent, Model, Object, Param, PointerClass, Type};
use obvia_ndr::vartype as vt;

/// The name of the file that the compiler brings along.
pub const FILE: &str = "oaidl.idl";
/// Its text.
pub const TEXT: &str = include_str!("oaidl.idl");

/// What a parameter is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// `BSTR`.
    Bstr,
    /// `VARIANT`.
    Variant,
    /// `SAFEARRAY`, of elements of this VARTYPE.
    SafeArray(u16),
}

impl Memory {
    /// The name of the type that travels for it.
    pub const fn wire(self) -> &'static str {
        match self {
            Self::Bstr => "wireBSTR",
            Self::Variant => "wireVARIANT",
            Self::SafeArray(_) => "wirePSAFEARRAY",
        }
    }

    /// Whether a parameter is one by value, and not a pointer to one.
    pub fn is_by_value(self, param: &Param) -> bool {
        !matches!(&param.ty, Type::Pointer(pointer) if pointer.class == PointerClass::Ref)
    }

    /// Its VARTYPE.
    pub const fn vt(self) -> u16 {
        match self {
            Self::Bstr => vt::BSTR,
            Self::Variant => vt::VARIANT,
            Self::SafeArray(element) => vt::ARRAY | element,
        }
    }
}

/// How a member is used by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// It is called.
    #[default]
    Method,
    /// A property is read.
    Get,
    /// A property is set.
    Put,
    /// A property is set to an object.
    PutRef,
}

/// What calls by name know of a method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// Its name: a property's methods share one.
    pub name: String,
    /// Its DISPID, where the file says it.
    pub id: Option<i32>,
    /// How it is used.
    pub kind: Kind,
    /// Whether those who call by name are not to see it.
    pub restricted: bool,
    /// The bits that its attributes stand for in type libraries.
    pub flags: u32,
    /// What type libraries say of it to people.
    pub help: crate::typelib::Help,
}

/// What calls by name have for a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Its VARTYPE; of a pointer, what it leads to.
    pub vt: u16,
    /// Whether it may be left out.
    pub optional: bool,
    /// What it is then.
    pub default: Option<crate::model::Value>,
}

/// The VARTYPE of what lies in memory by itself, or behind one pointer. `named` is how the file calls it.
pub(crate) fn vartype(model: &Model, ty: &Type, named: Option<&str>) -> Option<u16> {
    Some(match (ty, named) {
        (Type::Pointer(pointer), _) if pointer.class == PointerClass::Ref && pointer.extent == Extent::One => {
            return vartype(model, &pointer.to, named);
        }
        (Type::Struct(id), _) if id.0 < model.built_in.structs => match model.structs[id.0].name.as_str() {
            "CURRENCY" => vt::CY,
            "DECIMAL" => vt::DECIMAL,
            _ => return None,
        },
        (Type::Enum(_), _) => vt::I4,
        (Type::Interface(Object::Known(id)), _) if model.is_dispatch(*id) => vt::DISPATCH,
        (Type::Interface(_), _) => vt::UNKNOWN,
        (Type::Base(Base::I16), Some("VARIANT_BOOL")) => vt::BOOL,
        (Type::Base(Base::F64), Some("DATE")) => vt::DATE,
        (Type::Base(base), _) => match base {
            Base::Byte | Base::Char | Base::U8 => vt::UI1,
            Base::I8 => vt::I1,
            Base::I16 => vt::I2,
            Base::WChar | Base::U16 => vt::UI2,
            Base::I32 => vt::I4,
            Base::U32 => vt::UI4,
            Base::I64 => vt::I8,
            Base::U64 => vt::UI8,
            Base::F32 => vt::R4,
            Base::F64 => vt::R8,
            Base::Hresult => vt::ERROR,
            Base::Boolean | Base::Guid | Base::Context => return None,
        },
        _ => return None,
    })
}

/// The DISPID of a method that has none in the file, by its place among an interface's own; `depth` counts the interface's ancestors.
pub(crate) fn usual_id(depth: usize, at: usize) -> i32 {
    ((0x6000 | depth as u32) << 16 | at as u32).cast_signed()
}

/// How IDL writes the type of an array's elements.
pub(crate) const fn element_name(vartype: u16) -> &'static str {
    match vartype {
        vt::I1 => "small",
        vt::I2 => "short",
        vt::I4 => "long",
        vt::I8 => "hyper",
        vt::UI1 => "byte",
        vt::UI2 => "unsigned short",
        vt::UI4 => "unsigned long",
        vt::UI8 => "unsigned hyper",
        vt::R4 => "float",
        vt::R8 => "double",
        vt::CY => "CURRENCY",
        vt::DATE => "DATE",
        vt::BSTR => "BSTR",
        vt::DISPATCH => "IDispatch *",
        vt::ERROR => "HRESULT",
        vt::BOOL => "VARIANT_BOOL",
        vt::UNKNOWN => "IUnknown *",
        vt::DECIMAL => "DECIMAL",
        _ => "VARIANT",
    }
}

/// The IID of IDispatch.
const IDISPATCH: u128 = 0x00020400_0000_0000_c000_000000000046;

impl Model {
    /// The same as [`Self::is_dispatch`], in Automation's own file, too.
    pub fn extends_dispatch(&self, id: crate::model::InterfaceId) -> bool {
        self.lineage(id).first().is_some_and(|first| self.interfaces[first.0].uuid == IDISPATCH)
    }

    /// Whether an interface is IDispatch, or extends it.
    pub fn is_dispatch(&self, id: crate::model::InterfaceId) -> bool {
        self.lineage(id).first().is_some_and(|first| self.is_built_in(*first))
    }
}
