//! Values without pointers: their types in Java, and the code that stores and loads them.

use super::Context;
use crate::model::{Base, Extent, Object, Type};
use crate::text::writer::Writer;

/// Returns the Java type of a base type. Unsigned types become signed ones of the same size.
pub(super) fn base(base: Base) -> &'static str {
    match base {
        Base::Boolean => "boolean",
        Base::Byte | Base::Char | Base::I8 | Base::U8 => "byte",
        Base::WChar => "char",
        Base::I16 | Base::U16 => "short",
        Base::I32 | Base::U32 | Base::Hresult => "int",
        Base::I64 | Base::U64 => "long",
        Base::F32 => "float",
        Base::F64 => "double",
        Base::Guid => "Guid",
        Base::Context => "void",
    }
}

/// Returns the class of a value that may be `null`.
fn boxed(base: Base) -> &'static str {
    match self::base(base) {
        "boolean" => "Boolean",
        "byte" => "Byte",
        "char" => "Character",
        "short" => "Short",
        "int" => "Integer",
        "long" => "Long",
        "float" => "Float",
        "double" => "Double",
        other => other,
    }
}

/// Returns the Java type of a value without pointers. An array of fixed size becomes
/// one-dimensional, with its elements in order.
pub(super) fn java(context: &Context<'_>, ty: &Type) -> String {
    match ty {
        Type::Base(one) => base(*one).to_owned(),
        Type::Fixed(..) => format!("{}[]", java(context, flat(ty).0)),
        Type::Pointer(pointer) if pointer.extent == Extent::Text => "String".to_owned(),
        Type::Pointer(pointer) => nullable(context, &pointer.to),
        Type::Interface(object) => object_class(context, object).to_owned(),
        ty => context.types.class(ty).to_owned(),
    }
}

/// Returns the type of an object.
pub(super) fn object_class<'a>(context: &'a Context<'_>, object: &Object) -> &'a str {
    match object {
        Object::Known(id) => context.types.interface(*id),
        Object::Unknown | Object::IidIs(_) => "Remote",
    }
}

/// Returns the Java type of a value that may be `null`.
pub(super) fn nullable(context: &Context<'_>, ty: &Type) -> String {
    if let Type::Base(one) = ty { boxed(*one).to_owned() } else { java(context, ty) }
}

/// Returns the innermost element type of an array, with the total number of elements in all
/// dimensions.
pub(super) fn flat(ty: &Type) -> (&Type, u32) {
    match ty {
        Type::Fixed(element, count) => {
            let (inner, inner_count) = flat(element);
            (inner, inner_count.saturating_mul(*count))
        }
        other => (other, 1),
    }
}

/// Whether Java has a primitive type whose values have the same bytes as the values of a type in a
/// frame.
pub(super) fn is_number(ty: &Type) -> bool {
    matches!(ty, Type::Base(base) if !matches!(base, Base::Boolean | Base::Guid | Base::Context))
}

/// Whether a value is an object in Java, which could be `null`.
pub(super) fn is_object(ty: &Type) -> bool {
    matches!(ty, Type::Enum(_) | Type::Struct(_) | Type::Fixed(..) | Type::Base(Base::Guid))
}

/// Returns the name of the constant of the Java class `Flat` that has the layout of a number, such
/// as `INT`.
pub(super) fn layout(ty: &Type) -> String {
    if let Type::Base(one) = ty { base(*one).to_ascii_uppercase() } else { "INT".to_owned() }
}

/// Returns a primitive type as a part of a method's name: `Int`.
pub(super) fn in_name(ty: &Type) -> String {
    let name = if let Type::Base(one) = ty { base(*one) } else { "int" };
    format!("{}{}", name[..1].to_ascii_uppercase(), &name[1..])
}

/// Returns an offset from a place: `at + 4`.
pub(super) fn plus(at: &str, offset: u32) -> String {
    match (at, offset) {
        ("", offset) => offset.to_string(),
        (at, 0) => at.to_owned(),
        ("0", offset) => offset.to_string(),
        (at, offset) => match at.rsplit_once(" + ").map(|(base, last)| (base, last.parse::<u32>())) {
            Some((base, Ok(last))) => format!("{base} + {}", last + offset),
            _ => format!("{at} + {offset}"),
        },
    }
}

/// Returns the place of a loop's current element.
fn element_at(place: &str, size: u32) -> String {
    let distance = if size == 1 { "i".to_owned() } else { format!("i * {size}") };
    if place == "0" { distance } else { format!("{place} + {distance}") }
}

/// The memory that is written: the segment, and the start of the frame or the structure in it.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) memory: &'a str,
    pub(super) at: &'a str,
}

/// Writes the store of a value.
pub(super) fn store(out: &mut Writer, context: &Context<'_>, ty: &Type, value: &str, target: Target<'_>, offset: u32) {
    let (memory, place) = (target.memory, plus(target.at, offset));
    match ty {
        Type::Base(Base::Boolean) => out.line(format!("{memory}.set(Flat.BYTE, {place}, (byte) ({value} ? 1 : 0));")),
        Type::Base(Base::Guid) => out.line(format!("FrameWriter.put({value}, {memory}, {place});")),
        Type::Base(_) => out.line(format!("{memory}.set(Flat.{}, {place}, {value});", layout(ty))),
        Type::Enum(_) => out.line(format!("{memory}.set(Flat.INT, {place}, {value}.value());")),
        Type::Fixed(..) if is_number(flat(ty).0) => {
            let (element, count) = flat(ty);
            out.line(format!("MemorySegment.copy({value}, 0, {memory}, Flat.{}, {place}, {count});", layout(element)));
        }
        Type::Fixed(..) => {
            let (element, count) = flat(ty);
            out.line(format!("for (int i = 0; i < {count}; i++) {{"));
            let at = element_at(&place, context.model.layout(element).0);
            store(out, context, element, &format!("{value}[i]"), Target { memory, at: &at }, 0);
            out.line("}");
        }
        _ => out.line(format!("{value}.write({memory}, {place});")),
    }
}

/// Writes the stores of `count` elements at the target.
pub(super) fn store_elements(
    out: &mut Writer,
    context: &Context<'_>,
    element: &Type,
    value: &str,
    count: &str,
    target: Target<'_>,
) {
    out.line(format!("for (int i = 0; i < {count}; i++) {{"));
    let at = element_at(target.at, context.model.layout(element).0);
    store(out, context, element, &format!("{value}[i]"), Target { at: &at, ..target }, 0);
    out.line("}");
}

/// Writes zeros into a gap.
pub(super) fn pad(out: &mut Writer, target: Target<'_>, mut from: u32, to: u32) {
    while from < to {
        let (size, layout, zero) = match (from % 8, to - from) {
            (0, 8..) => (8, "LONG", "0L"),
            (0 | 4, 4..) => (4, "INT", "0"),
            (0 | 2 | 4 | 6, 2..) => (2, "SHORT", "(short) 0"),
            _ => (1, "BYTE", "(byte) 0"),
        };
        out.line(format!("{}.set(Flat.{layout}, {}, {zero});", target.memory, plus(target.at, from)));
        from += size;
    }
}

/// Returns the expression that loads a value with a reader. For some arrays of fixed size, also
/// writes statements that must precede the expression.
pub(super) fn load(
    out: &mut Writer,
    context: &Context<'_>,
    ty: &Type,
    reader: &str,
    place: &str,
    local: &str,
) -> String {
    match ty {
        Type::Fixed(..) if is_number(flat(ty).0) => {
            let (element, count) = flat(ty);
            format!("{reader}.copy{}s({place}, {count})", in_name(element))
        }
        Type::Fixed(..) => {
            let (element, count) = flat(ty);
            let class = java(context, element);
            out.line(format!("{class}[] {local} = new {class}[{count}];"));
            load_elements(out, context, element, reader, place, local);
            local.to_owned()
        }
        Type::Base(Base::Guid) => format!("{reader}.getGuid({place})"),
        Type::Base(_) => format!("{reader}.get{}({place})", in_name(ty)),
        _ => format!("{}.read({reader}, {place})", context.types.class(ty)),
    }
}

/// Writes the loads of all elements of an existing array.
pub(super) fn load_elements(
    out: &mut Writer,
    context: &Context<'_>,
    element: &Type,
    reader: &str,
    place: &str,
    local: &str,
) {
    load_first(out, context, element, (reader, place), local, &format!("{local}.length"));
}

/// Writes the loads of the first elements of an existing array.
pub(super) fn load_first(
    out: &mut Writer,
    context: &Context<'_>,
    element: &Type,
    (reader, place): (&str, &str),
    local: &str,
    count: &str,
) {
    out.line(format!("for (int i = 0; i < {count}; i++) {{"));
    let place = element_at(place, context.model.layout(element).0);
    let text = load(out, context, element, reader, &place, "");
    out.line(format!("{local}[i] = {text};"));
    out.line("}");
}

/// Returns the length of a block in bytes, rounded up to a multiple of 8.
pub(super) fn block(bytes: u32) -> u32 {
    bytes.next_multiple_of(8)
}

/// Returns the expression that converts a length to the count's type.
pub(super) fn narrowed(ty: &Type, length: &str) -> String {
    match ty {
        // An array that may be passed by reference is a segment, whose length is a `long`.
        Type::Base(one) if length.contains(".byteSize()") => match base(*one) {
            "long" => length.to_owned(),
            name => format!("({name}) ({length})"),
        },
        Type::Base(one) if !matches!(base(*one), "int" | "long") => {
            format!("({}) {length}", base(*one))
        }
        _ => length.to_owned(),
    }
}
