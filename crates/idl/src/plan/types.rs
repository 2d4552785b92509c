//! What types are, as far as their way to the other side depends on it.

use super::passing;
use crate::model::{Base, Model, Param, Type};

/// Whether a type has no pointers in it, so that its bytes are its value.
pub fn is_plain(model: &Model, ty: &Type) -> bool {
    model.measure(ty).is_some_and(|measure| measure.is_plain)
}

/// Whether all bytes of its size are a value of a type: such may be used where somebody else can change them.
pub fn is_any_bits(model: &Model, ty: &Type) -> bool {
    model.measure(ty).is_some_and(|measure| measure.is_any_bits)
}

/// Whether references to objects may travel in a parameter, or structures with pointers.
pub fn may_be_objects(model: &Model, param: &Param) -> bool {
    passing(model, param).may_be_objects()
}

/// Whether a parameter lies in the block, whole.
pub fn is_in_block(model: &Model, param: &Param) -> bool {
    passing(model, param).in_block()
}

/// Whether a type is a number whose every bit pattern is a value.
pub fn is_scalar(ty: &Type) -> bool {
    matches!(ty, Type::Base(base) if !matches!(base, Base::Boolean | Base::Guid | Base::Context | Base::Hresult))
}
