//! The way in which each parameter of a method travels.

use super::method::Passing;
use super::types::{in_place, is_plain};
use crate::model::{Base, Direction, Extent, Method, Model, Object, Operand, Param, PointerClass, Transfer, Type};

/// Returns the way in which a parameter travels.
pub(crate) fn passing(model: &Model, param: &Param) -> Passing {
    use PointerClass::{Ref, Unique};
    if let Some(memory) = param.memory {
        return Passing::Automation(memory);
    }
    let Type::Pointer(pointer) = &param.ty else {
        return match &param.ty {
            Type::Interface(object) if param.direction == Direction::In => Passing::Object(object.clone()),
            Type::Fixed(..) if is_plain(model, &param.ty) => Passing::RefPointer(param.ty.clone()),
            ty if is_plain(model, ty) => Passing::Value(ty.clone()),
            _ => Passing::Graph,
        };
    };
    match (&pointer.extent, &pointer.to, param.direction) {
        (Extent::Text, Type::Base(base), Direction::In) if pointer.class != PointerClass::Full => {
            Passing::Text { base: *base, optional: pointer.class != Ref }
        }
        (Extent::Counted { size, length }, element, direction)
            if pointer.class == Ref
                && is_plain(model, element)
                && (length.is_none() || direction == Direction::Out)
                && !(direction == Direction::InOut && length.is_some()) =>
        {
            Passing::Array { element: element.clone(), size: size.clone(), length: length.clone() }
        }
        (Extent::One, Type::Pointer(inner), Direction::Out) if pointer.class == Ref => {
            match (&inner.extent, &inner.to) {
                (Extent::Text, Type::Base(base)) => Passing::OutText(*base),
                (Extent::Counted { size, length: None }, element) if let Transfer::Lend(room) = param.transfer => {
                    Passing::Lent { element: element.clone(), size: size.clone(), room }
                }
                (Extent::Counted { size, length: None }, element)
                    if is_plain(model, element) && size.plain().is_some_and(|size| size.deref) =>
                {
                    Passing::OutArray { element: element.clone(), size: size.clone() }
                }
                _ => Passing::Graph,
            }
        }
        (Extent::One, Type::Interface(object), Direction::Out) if pointer.class == Ref => {
            Passing::OutObject(object.clone())
        }
        (Extent::One, ty, _) if pointer.class == Ref && is_plain(model, ty) => Passing::RefPointer(ty.clone()),
        (Extent::One, ty, Direction::In) if pointer.class == Unique && is_plain(model, ty) => {
            Passing::Optional(ty.clone())
        }
        _ => Passing::Graph,
    }
}

/// Returns the plan for a pointer parameter of a `[local]` method if only the caller and the callee
/// know the pointer's extent. `None` if the usual plan applies.
///
/// A `[retval]` parameter points to one value, and so does an `[out]` object whose IID another
/// parameter holds. Other `[out]` objects, and `[in]` structures and GUIDs, are one value if no
/// parameter could be their count. A GUID that is the IID of an object is always one value.
///
/// An array is a raw pointer if its size or length is read through a pointer, as in `size_is(*n)`.
///
/// If a permissive compiler treats the method as `[local]`, every pointer is a raw pointer.
pub(super) fn local(model: &Model, method: &Method, param: &Param) -> Option<Passing> {
    if method.unpassed.is_some() && param.memory.is_some() {
        // A type that the model does not describe is a pointer. All others keep their form.
        return param.unsupported.is_some().then_some(Passing::Raw(Type::Void));
    }
    let pointer = match &param.ty {
        Type::Pointer(pointer) => pointer,
        Type::Interface(_) if method.unpassed.is_some() => return Some(Passing::Raw(Type::Void)),
        _ => return None,
    };
    let raw = Passing::Raw(pointer.to.clone());
    if method.unpassed.is_some() {
        return Some(raw);
    }
    if method.direct_result().is_some_and(|result| std::ptr::eq(result, &raw const pointer.to)) {
        return Some(raw);
    }
    let innermost = model.innermost(&pointer.to);
    if *innermost == Type::Void || model.opaque.contains_key(innermost) {
        return Some(raw);
    }
    // A pointer that leads to the number of elements may be a raw pointer, too. Generated code must
    // not read through a raw pointer.
    let (mut is_behind, mut level) = (false, Some(pointer));
    while let Some(pointer) = level {
        if let Extent::Counted { size, length } = &pointer.extent {
            let mut note = |operand: &Operand| is_behind |= operand.deref;
            size.operands(&mut note);
            length.iter().for_each(|length| length.operands(&mut note));
        }
        level = if let Type::Pointer(inner) = &pointer.to { Some(inner) } else { None };
    }
    if is_behind {
        return Some(raw);
    }
    let is_number = |ty: &Type| matches!(ty, Type::Base(base) if base.is_number());
    let is_count = |param: &Param| param.direction.is_in() && is_number(in_place(model, param));
    let is_one = match (&pointer.to, param.direction) {
        _ if param.retval => true,
        (Type::Interface(Object::IidIs(_)), Direction::Out) => true,
        (Type::Interface(_), Direction::Out) | (Type::Struct(_) | Type::Base(Base::Guid), Direction::In) => {
            !method.params.iter().any(is_count) || is_iid(method, param)
        }
        _ => false,
    };
    (pointer.extent == Extent::One && param.memory.is_none() && !is_one).then_some(raw)
}

/// Whether a parameter holds the IID of an object.
pub(super) fn is_iid(method: &Method, param: &Param) -> bool {
    let holds = |ty: &Type| match ty {
        Type::Interface(Object::IidIs(iid)) => method.params.get(iid.index).is_some_and(|one| one.name == param.name),
        _ => false,
    };
    method.params.iter().any(|other| match &other.ty {
        Type::Pointer(pointer) => holds(&pointer.to),
        ty => holds(ty),
    })
}

/// Whether object references or structures with pointers may travel in a parameter.
pub fn may_be_objects(model: &Model, param: &Param) -> bool {
    passing(model, param).may_be_objects()
}

/// Whether the whole parameter is in the block.
pub fn is_in_block(model: &Model, param: &Param) -> bool {
    passing(model, param).in_block()
}
