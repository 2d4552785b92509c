//! VARTYPE: the types of VARIANTs, of elements of SAFEARRAYs and of parameters.

use crate::types::error::{Error, code};
pub use obvia_ndr::vartype::*;

/// The size of a VARIANT in bytes.
pub(super) const VARIANT_SIZE: usize = 24;

/// Returns the size of a value in memory, in bytes. `None` for an invalid type, and for EMPTY and
/// NULL, which have no value.
pub(crate) fn size(vt: u16) -> Option<usize> {
    if vt & (ARRAY | BYREF) != 0 {
        return Some(8).filter(|_| is_known(vt));
    }
    Some(match vt {
        I1 | UI1 => 1,
        I2 | UI2 | BOOL => 2,
        I4 | UI4 | INT | UINT | R4 | ERROR => 4,
        I8 | UI8 | R8 | CY | DATE | BSTR | UNKNOWN | DISPATCH => 8,
        DECIMAL => 16,
        VARIANT => VARIANT_SIZE,
        _ => return None,
    })
}

/// Whether a VARIANT can have this type.
pub(crate) fn is_known(vt: u16) -> bool {
    let base = vt & !(ARRAY | BYREF);
    match base {
        _ if base & 0xf000 != 0 => false,
        EMPTY | NULL => vt == base,
        // A VARIANT cannot contain another VARIANT directly, but it can refer to one, or contain an
        // array of them.
        VARIANT => vt != base,
        _ => size(base).is_some(),
    }
}

/// Returns the error for an invalid type.
pub(crate) fn unknown(vt: u16) -> Error {
    Error::new(code::DISP_E_BADVARTYPE, format!("type {vt:#x} is not a type of VARIANT values"))
}

/// Whether values of a type own resources.
pub(crate) fn owns(vt: u16) -> bool {
    vt & BYREF == 0 && (vt & ARRAY != 0 || matches!(vt, VARIANT | BSTR | UNKNOWN | DISPATCH))
}
