//! Properties of types that decide how their values travel.

use crate::model::{Arith, Base, Direction, Extent, Model, Param, PointerClass, Type};

/// Whether a type has no pointers, so that its bytes are its value.
pub fn is_plain(model: &Model, ty: &Type) -> bool {
    model.measure(ty).is_some_and(|measure| measure.is_plain)
}

/// Whether Automation's built-in file declares a type that exists only on the wire: a union, or a
/// structure with pointers. The back ends write no code for such types.
pub(crate) fn is_automation_wire(model: &Model, ty: &Type) -> bool {
    match ty {
        Type::Struct(id) => id.0 < model.built_in.structs && !is_plain(model, ty),
        Type::Union(id) => id.0 < model.built_in.unions,
        _ => false,
    }
}

/// Whether every bit pattern of a type is a valid value. Only such values may be used in memory
/// that the peer can change.
pub fn is_any_bits(model: &Model, ty: &Type) -> bool {
    model.measure(ty).is_some_and(|measure| measure.is_any_bits)
}

/// Whether a type is a number of which every bit pattern is a value.
pub fn is_scalar(ty: &Type) -> bool {
    matches!(ty, Type::Base(base) if !matches!(base, Base::Boolean | Base::Guid | Base::Context | Base::Hresult))
}

/// Whether a value contains a context handle.
pub(crate) fn has_context(model: &Model, ty: &Type) -> bool {
    match ty {
        Type::Base(base) => *base == Base::Context,
        Type::Fixed(element, _) => has_context(model, element),
        Type::Struct(id) => model.structs[id.0].fields.iter().any(|field| has_context(model, &field.ty)),
        _ => false,
    }
}

/// Returns the type that the block holds for a parameter. A pointer that is never null is replaced
/// by its target.
pub fn in_place<'a>(model: &Model, param: &'a Param) -> &'a Type {
    match &param.ty {
        Type::Pointer(pointer) if pointer.class == PointerClass::Ref && pointer.extent == Extent::One => {
            let open = matches!(&pointer.to, Type::Struct(id) if model.structs[id.0].conformant.is_some());
            if open || pointer.to == Type::Void { &param.ty } else { &pointer.to }
        }
        ty => ty,
    }
}

/// Returns the size and the length of a parameter's array. The array of an `[out]` parameter is the
/// array that the method allocates. `None` for other parameters.
pub fn element_counts(param: &Param) -> Option<(&Arith, Option<&Arith>)> {
    let Type::Pointer(outer) = &param.ty else { return None };
    counts(match (&outer.to, &outer.extent) {
        (inner @ Type::Pointer(_), Extent::One) if param.direction == Direction::Out => inner,
        _ => &param.ty,
    })
}

/// Returns the size and the length of the array to which a pointer leads. `None` for other types.
pub(super) fn counts(ty: &Type) -> Option<(&Arith, Option<&Arith>)> {
    let Type::Pointer(pointer) = ty else { return None };
    match &pointer.extent {
        Extent::Counted { size, length } => Some((size, length.as_ref())),
        Extent::One | Extent::Text => None,
    }
}
