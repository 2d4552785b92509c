//! Automation types: their form in memory, the types that travel in their place, and the properties
//! of methods that are called by name.
//!
//! `oaidl.idl` declares the types that travel, as MS-OAUT defines them, so that the transfer
//! syntaxes need not know Automation. The runtime converts between these types and the form in
//! memory.

use crate::model::{Base, Extent, Model, Object, PointerClass, Type};
pub use crate::model::{Kind, Member, Memory, Variant};
use obvia_ndr::vartype as vt;

/// The name of the built-in file.
pub const FILE: &str = "oaidl.idl";
/// The text of the built-in file.
pub const TEXT: &str = include_str!("../oaidl.idl");

/// Returns the VARTYPE of a value of type `ty`, or of the value's target if `ty` is a reference
/// pointer. `named` is the name of the value's type in the file. `None` for a type without a
/// VARTYPE.
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

/// Returns the DISPID of a method for which the file gives none. `at` is the method's index among
/// the interface's own methods, and `depth` the number of the interface's ancestors.
pub(crate) fn usual_id(depth: usize, at: usize) -> i32 {
    ((0x6000 | depth as u32) << 16 | at as u32).cast_signed()
}

/// Returns the name that IDL has for the element type of an array.
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
    /// Whether an interface is IDispatch or extends it. Unlike [`Self::is_dispatch`], the function
    /// also works when Automation's own file is the compiled file.
    pub fn extends_dispatch(&self, id: crate::model::InterfaceId) -> bool {
        self.lineage(id).first().is_some_and(|first| self.interfaces[first.0].uuid == IDISPATCH)
    }

    /// Whether an interface is IDispatch or extends it.
    pub fn is_dispatch(&self, id: crate::model::InterfaceId) -> bool {
        self.lineage(id).first().is_some_and(|first| self.is_built_in(*first))
    }
}
