//! Properties of types that decide how they travel.

use super::passing;
use crate::model::{Base, Model, Param, Type};

/// Whether a type has no pointers, so that its bytes are its value.
pub fn is_plain(model: &Model, ty: &Type) -> bool {
    model.measure(ty).is_some_and(|measure| measure.is_plain)
}

/// Whether every bit pattern of a type is a valid value. Only such values may be used in memory
/// that the peer can change.
pub fn is_any_bits(model: &Model, ty: &Type) -> bool {
    model.measure(ty).is_some_and(|measure| measure.is_any_bits)
}

/// Whether object references or structures with pointers may travel in a parameter.
pub fn may_be_objects(model: &Model, param: &Param) -> bool {
    passing(model, param).may_be_objects()
}

/// Whether the whole parameter is in the block.
pub fn is_in_block(model: &Model, param: &Param) -> bool {
    passing(model, param).in_block()
}

/// Whether a type is a number of which every bit pattern is a value.
pub fn is_scalar(ty: &Type) -> bool {
    matches!(ty, Type::Base(base) if !matches!(base, Base::Boolean | Base::Guid | Base::Context | Base::Hresult))
}
