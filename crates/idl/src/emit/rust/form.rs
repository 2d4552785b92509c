//! The Rust forms of parameters with pointers.

use super::names::{base, item_name, object, type_name, value};
use crate::model::{
    Arith, Base, Direction, Extent, Field, Model, Param, PointerClass, StructId, Type, Union, UnionId, all_arms,
};
use crate::plan::{is_automation_wire, is_plain};

/// The type of a parameter for users.
pub(super) enum Form {
    /// `&T`. With `by_value` the vtable takes the value itself.
    Borrowed { text: String, by_value: bool },
    /// `Option<&T>`, or `Option<&mut T>` for a value that the method changes.
    Optional { text: String, changed: bool },
    /// A union. Another parameter may hold its discriminant.
    Union { id: UnionId, optional: bool, by_value: bool },
    /// `Union<'static>`, for a union without pointers in the caller's memory.
    PlacedUnion(UnionId),
    /// `&[T]` or `Option<&[T]>`, or `Option<&mut [T]>` for elements that the method changes.
    Slice { text: String, size: Arith, optional: bool, changed: bool },
    /// `Option<&CStr>`.
    Text(Base),
    /// `Owned<T>`, in the caller's memory.
    Owned(String),
    /// `Owned<T>`, or with `optional` `Option<Owned<T>>`.
    Returned { text: String, optional: bool },
    /// `OwnedSlice<T>`, allocated by the method.
    ReturnedSlice { text: String, size: Arith },
    /// `OwnedSlice<T>`, in the caller's memory.
    Filled { text: String, size: Arith },
}

/// The reason why a type is not supported in Rust.
pub(super) type Refusal = &'static str;

const MANY: Refusal = "a pointer to pointers to several values";
const AUTOMATION: Refusal = "one of Automation's types";
const OPEN: Refusal = "a structure that ends in an open array";
const OPAQUE: Refusal = "a type whose members are not declared, or which no call can carry";
const OUT_UNION: Refusal = "a union with pointers as a result; inside a structure it is supported";
const VOID: Refusal = "a pointer to void";
const FIXED: Refusal = "an array of fixed size that the method allocates";
const FIXED_CHANGED: Refusal = "an array of fixed size with pointers, as a result; inside a structure it is supported";
const FULL_UNION: Refusal = "a union whose arms lead to [ptr] pointers";
const FIXED_OBJECTS: Refusal = "an array of fixed size with interface pointers";
const OUT_UNIONS: Refusal = "an array of unions as a result";
const OUT_POINTERS: Refusal = "an array of pointers, or a pointer to a pointer, as a result";
const OUT_SIZE: Refusal = "an array that the method allocates, with length_is or a size that is not simply a result";
const TEXT_IN_PLACE: Refusal =
    "a string that the method writes in its caller's memory; inside a structure it is supported";
const TEXT_CHANGED: Refusal = "an [in, out] string; inside a structure it is supported";
const ARRAY_REPLACED: Refusal = "an [in, out] array that the method may replace";
const ARRAY_CHANGED: Refusal =
    "an [in, out] array with length_is, or with elements that have pointers, unions or ranges";
const SWITCH: Refusal = "a union whose discriminant is not simply another member";

/// Returns the form of a parameter that is passed as
/// [`Passing::Graph`](crate::plan::Passing::Graph).
pub(super) fn form(model: &Model, param: &Param) -> Result<Form, Refusal> {
    if is_automation_wire(model, model.innermost(&param.ty)) {
        return Err(AUTOMATION);
    }
    let Type::Pointer(pointer) = &param.ty else {
        return match &param.ty {
            Type::Union(id) => {
                union(model, *id)?;
                switch(param)?;
                Ok(Form::Union { id: *id, optional: false, by_value: true })
            }
            Type::Fixed(..) if param.direction != Direction::In => Err(FIXED_CHANGED),
            ty => Ok(Form::Borrowed { text: memory(model, ty)?, by_value: !matches!(ty, Type::Fixed(..)) }),
        };
    };
    let reference = pointer.class == PointerClass::Ref;
    let inwards = param.direction == Direction::In;
    // [ptr] pointers may share a target, which two exclusive references must not.
    let is_changed = param.is_optional_in_out()
        && pointer.class == PointerClass::Unique
        && !matches!(pointer.extent, Extent::Counted { length: Some(_), .. })
        && is_plain(model, &pointer.to);
    match (&pointer.extent, &pointer.to, param.direction) {
        (Extent::Text, Type::Base(base), Direction::In) => Ok(Form::Text(*base)),
        (Extent::One, Type::Union(id), Direction::In) => {
            union(model, *id)?;
            switch(param)?;
            Ok(Form::Union { id: *id, optional: !reference, by_value: false })
        }
        (Extent::One, Type::Union(id), _) if reference && is_plain_union(model, &model.unions[id.0]) => {
            union(model, *id)?;
            switch(param)?;
            Ok(Form::PlacedUnion(*id))
        }
        (Extent::One, Type::Union(_), _) => Err(OUT_UNION),
        (Extent::One, Type::Struct(id), Direction::In) if reference && is_open(model, *id) => {
            Ok(Form::Borrowed { text: type_name(&model.structs[id.0].name), by_value: false })
        }
        (Extent::One, to, Direction::In) if reference => {
            Ok(Form::Borrowed { text: memory(model, to)?, by_value: false })
        }
        (Extent::One, to, _) if !reference && (inwards || is_changed) => {
            Ok(Form::Optional { text: memory(model, to)?, changed: is_changed })
        }
        (Extent::Counted { size, .. }, to, _) if inwards || is_changed => {
            Ok(Form::Slice { text: memory(model, to)?, size: size.clone(), optional: !reference, changed: is_changed })
        }
        (Extent::Counted { size, .. }, to, Direction::Out) if reference => {
            Ok(Form::Filled { text: ownable(model, to)?, size: size.clone() })
        }
        (Extent::One, Type::Pointer(inner), direction) if reference => match (&inner.extent, &inner.to) {
            (Extent::One, Type::Union(_)) => Err(OUT_UNION),
            (Extent::One, to) => {
                Ok(Form::Returned { text: ownable(model, to)?, optional: inner.class != PointerClass::Ref })
            }
            (Extent::Text, _) => Err(TEXT_CHANGED),
            (Extent::Counted { .. }, _) if direction == Direction::InOut => Err(ARRAY_REPLACED),
            (Extent::Counted { size, length: None }, to) if size.plain().is_some_and(|size| size.deref) => {
                Ok(Form::ReturnedSlice { text: ownable(model, to)?, size: size.clone() })
            }
            (Extent::Counted { .. }, _) => Err(OUT_SIZE),
        },
        (Extent::One, to, _) => Ok(Form::Owned(ownable(model, to)?)),
        (Extent::Text, ..) => Err(TEXT_IN_PLACE),
        (Extent::Counted { .. }, ..) => Err(ARRAY_CHANGED),
    }
}

fn switch(param: &Param) -> Result<(), Refusal> {
    if param.switch.as_ref().is_some_and(|switch| switch.plain().is_none()) { Err(SWITCH) } else { Ok(()) }
}

/// Returns the Rust type of data in memory that is borrowed for `'_`.
pub(super) fn memory(model: &Model, ty: &Type) -> Result<String, Refusal> {
    memory_for(model, ty, "'_")
}

/// Returns the Rust type of data that can be owned.
fn ownable(model: &Model, ty: &Type) -> Result<String, Refusal> {
    match ty {
        Type::Struct(_) if is_plain(model, ty) => Ok(value(model, ty)),
        Type::Struct(id) if is_open(model, *id) => Ok(value(model, ty)),
        Type::Struct(_) | Type::Interface(_) => memory_for(model, ty, "'static"),
        Type::Pointer(pointer) if pointer.extent == Extent::Text => memory_for(model, ty, "'static"),
        Type::Fixed(..) => Err(FIXED),
        Type::Union(_) => Err(OUT_UNIONS),
        Type::Pointer(_) => Err(OUT_POINTERS),
        Type::Void => Err(VOID),
        Type::Base(_) | Type::Enum(_) => Ok(value(model, ty)),
    }
}

/// Returns the Rust type of data in memory that is borrowed for a lifetime.
pub(super) fn memory_for(model: &Model, ty: &Type, lifetime: &str) -> Result<String, Refusal> {
    Ok(match ty {
        ty if is_plain(model, ty) => value(model, ty),
        Type::Struct(id) => {
            structure(model, *id)?;
            format!("{}<{lifetime}>", type_name(&model.structs[id.0].name))
        }
        Type::Union(id) if model.unions[id.0].encapsulated.is_some() => {
            union(model, *id)?;
            format!("{}Memory<{lifetime}>", type_name(&model.unions[id.0].name))
        }
        Type::Union(_) => return Err(SWITCH),
        Type::Fixed(element, _) if matches!(**element, Type::Interface(_)) => return Err(FIXED_OBJECTS),
        Type::Fixed(element, count) => format!("[{}; {count}]", memory_for(model, element, lifetime)?),
        Type::Interface(what) => format!("Option<{}>", object(model, what)),
        Type::Void => return Err(VOID),
        Type::Base(_) | Type::Enum(_) => value(model, ty),
        Type::Pointer(pointer) => match (&pointer.extent, &pointer.to, pointer.class) {
            (Extent::Text, Type::Base(base), _) if base.size() == 2 => format!("obvia::Wide<{lifetime}>"),
            (Extent::Text, ..) => format!("obvia::Text<{lifetime}>"),
            (Extent::Counted { .. }, ..) => return Err(MANY),
            (Extent::One, to, PointerClass::Ref) => format!("&{lifetime} {}", memory_for(model, to, lifetime)?),
            (Extent::One, to, _) => format!("Option<&{lifetime} {}>", memory_for(model, to, lifetime)?),
        },
    })
}

/// Checks that Rust supports a structure and everything that it leads to.
pub(super) fn structure(model: &Model, id: StructId) -> Result<(), Refusal> {
    check_reachable(model, &Type::Struct(id))
}

/// Whether a structure ends in a conformant array, and has neither pointers nor values that depend
/// on one another.
pub(super) fn is_open(model: &Model, id: StructId) -> bool {
    let found = &model.structs[id.0];
    let Some((element, _, None)) = &found.conformant else { return false };
    let mut members = found.fields.iter().filter(|field| field.ty != Type::Void);
    is_plain(model, element)
        && members.all(|field| field.range.is_none() && field.switch.is_none() && is_plain(model, &field.ty))
}

/// Whether the elements that a parameter leads to contain reference pointers, so that the elements
/// must not be zero.
pub(super) fn is_never_null(model: &Model, param: &Param) -> bool {
    fn of(model: &Model, ty: &Type) -> bool {
        let any = |fields: &[Field]| fields.iter().any(|field| of(model, &field.ty));
        match ty {
            Type::Pointer(pointer) => pointer.class == PointerClass::Ref && pointer.extent == Extent::One,
            Type::Fixed(element, _) => of(model, element),
            Type::Struct(id) => any(&model.structs[id.0].fields),
            Type::Union(id) => all_arms(&model.unions[id.0]).any(|field| of(model, &field.ty)),
            Type::Base(_) | Type::Enum(_) | Type::Interface(_) | Type::Void => false,
        }
    }
    matches!(&param.ty, Type::Pointer(pointer) if of(model, &pointer.to))
}

/// Whether a union has no pointers.
pub(super) fn is_plain_union(model: &Model, union: &Union) -> bool {
    all_arms(union).all(|field| is_plain(model, &field.ty))
}

/// Checks that Rust supports a union and everything that it leads to.
pub(super) fn union(model: &Model, id: UnionId) -> Result<(), Refusal> {
    check_reachable(model, &Type::Union(id))
}

/// Checks that Rust supports a structure or a union and everything that it leads to.
fn check_reachable(model: &Model, ty: &Type) -> Result<(), Refusal> {
    let refused = model.known.rust.get_or_init(|| model.refusals(|ty| check_members(model, ty).err()));
    refused.get(ty).map_or(Ok(()), |why| Err(*why))
}

/// Checks that Rust supports a structure or a union itself, without the types that it leads to.
fn check_members(model: &Model, ty: &Type) -> Result<(), Refusal> {
    match ty {
        ty if model.opaque.get(ty).is_some_and(|found| found.of == *ty) => Err(OPAQUE),
        ty if is_automation_wire(model, ty) => Err(AUTOMATION),
        Type::Struct(id) if model.structs[id.0].conformant.is_some() => Err(OPEN),
        Type::Struct(id) => model.structs[id.0].fields.iter().try_for_each(|field| member(model, field)),
        Type::Union(id) => {
            // Full pointers can be set, so the lifetime of a type that contains full pointers is
            // invariant.
            if model.has_full_pointers(ty) {
                return Err(FULL_UNION);
            }
            all_arms(&model.unions[id.0]).try_for_each(|field| contained(model, &field.ty))
        }
        _ => Ok(()),
    }
}

/// Checks that Rust supports a member of a structure, apart from the types that it leads to.
fn member(model: &Model, field: &Field) -> Result<(), Refusal> {
    match (&field.ty, &field.switch) {
        (Type::Union(_), Some(switch)) => switch.plain().map(|_| ()).ok_or(SWITCH),
        // Another member gives the number of elements.
        (Type::Pointer(pointer), _) if matches!(pointer.extent, Extent::Counted { .. }) => {
            contained(model, &pointer.to)
        }
        (ty, _) => contained(model, ty),
    }
}

/// Checks that a type is supported in a place where no attribute gives a union's discriminant or a
/// pointer's number of elements.
fn contained(model: &Model, ty: &Type) -> Result<(), Refusal> {
    match ty {
        Type::Union(id) if model.unions[id.0].encapsulated.is_none() => Err(SWITCH),
        Type::Fixed(element, _) if matches!(**element, Type::Interface(_)) => Err(FIXED_OBJECTS),
        Type::Fixed(element, _) => contained(model, element),
        Type::Pointer(pointer) if matches!(pointer.extent, Extent::Counted { .. }) => Err(MANY),
        Type::Pointer(pointer) if pointer.extent == Extent::One => contained(model, &pointer.to),
        Type::Void => Err(VOID),
        Type::Struct(_) | Type::Union(_) | Type::Interface(_) | Type::Pointer(_) | Type::Base(_) | Type::Enum(_) => {
            Ok(())
        }
    }
}

/// Returns the type of a parameter in the vtable.
pub(super) fn abi(model: &Model, param: &Param) -> String {
    match &param.ty {
        Type::Pointer(_) | Type::Fixed(..) if param.direction == Direction::In => "*const obvia::rt::c_void".to_owned(),
        Type::Pointer(_) | Type::Fixed(..) => "*mut obvia::rt::c_void".to_owned(),
        Type::Union(id) if model.unions[id.0].encapsulated.is_none() => {
            format!("{}Raw<'static>", type_name(&model.unions[id.0].name))
        }
        ty => memory_for(model, ty, "'static").unwrap_or_default(),
    }
}

/// Returns the type of a parameter as users pass it. `None` for results.
pub(super) fn argument(model: &Model, param: &Param) -> Option<String> {
    let form = form(model, param).ok()?;
    let inout = param.direction == Direction::InOut;
    Some(match form {
        Form::Borrowed { text, .. } => format!("&{text}"),
        Form::PlacedUnion(id) if inout => format!("&mut {}<'static>", type_name(&model.unions[id.0].name)),
        Form::Optional { text, changed } => format!("Option<&{}{text}>", mutable(changed)),
        Form::Union { id, optional, .. } => {
            let name = type_name(&model.unions[id.0].name);
            if optional { format!("Option<{name}<'_>>") } else { format!("{name}<'_>") }
        }
        Form::Slice { text, optional: true, changed, .. } => format!("Option<&{}[{text}]>", mutable(changed)),
        Form::Slice { text, .. } => format!("&[{text}]"),
        Form::Text(base) => format!("Option<&{}>", super::names::text(base)),
        Form::Owned(text) if inout => format!("&mut obvia::Owned<{text}>"),
        Form::Returned { text, optional: true } if inout => format!("&mut Option<obvia::Owned<{text}>>"),
        Form::Returned { text, .. } if inout => format!("&mut obvia::Owned<{text}>"),
        _ => return None,
    })
}

const fn mutable(changed: bool) -> &'static str {
    if changed { "mut " } else { "" }
}

/// Returns the type of a result. `None` for other parameters.
pub(super) fn result(model: &Model, param: &Param) -> Option<String> {
    if param.direction != Direction::Out {
        return None;
    }
    Some(match form(model, param).ok()? {
        Form::Owned(text) | Form::Returned { text, optional: false } => format!("obvia::Owned<{text}>"),
        Form::Returned { text, .. } => format!("Option<obvia::Owned<{text}>>"),
        Form::PlacedUnion(id) => format!("{}<'static>", type_name(&model.unions[id.0].name)),
        Form::ReturnedSlice { text, .. } | Form::Filled { text, .. } => format!("obvia::OwnedSlice<{text}>"),
        _ => return None,
    })
}

/// Returns the Rust type of a discriminant.
pub(super) fn tag(model: &Model, ty: &Type) -> String {
    match ty {
        Type::Enum(id) => item_name(&model.enums[id.0].name),
        Type::Base(one) => base(*one).to_owned(),
        _ => "i32".to_owned(),
    }
}
