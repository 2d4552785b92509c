//! What lies in frames with structures that point to others: members of structures, and parameters in blocks. Both are the same.

use super::Context;
use super::names::camel;
use super::values::{flat, in_name, is_number, java, nullable, plus};
use crate::emit::writer::Writer;
use crate::model::{Arith, Base, Extent, Model, PointerClass, Type};
use crate::plan::is_plain;

/// A member, as users see it.
pub(super) enum Seen<'a> {
    /// Just a value.
    Plain,
    /// A value, or `null`.
    One(&'a Type),
    /// A string.
    Text { wide: bool },
    /// An array whose length other members say.
    Array { element: &'a Type, size: &'a Arith, length: Option<&'a Arith> },
    /// A structure with pointers of its own.
    Inner,
}

/// What a member is; or what it is that cannot be done.
pub(super) fn seen<'a>(model: &Model, ty: &'a Type) -> Result<Seen<'a>, &'static str> {
    Ok(match ty {
        ty if is_plain(model, ty) => Seen::Plain,
        Type::Pointer(pointer) => match (&pointer.extent, &pointer.to) {
            (Extent::Text, Type::Base(base)) => Seen::Text { wide: base.size() == 2 },
            (_, to) if !is_plain(model, to) && !matches!(to, Type::Struct(_)) => {
                return Err("a pointer to pointers or unions");
            }
            (Extent::Counted { size, length }, element) => Seen::Array { element, size, length: length.as_ref() },
            (_, Type::Fixed(..)) => return Err("a pointer to an array of fixed size"),
            (_, to) => Seen::One(to),
        },
        Type::Struct(_) => Seen::Inner,
        Type::Interface(_) => return Err("an interface pointer in a structure"),
        Type::Union(_) => return Err("a union"),
        _ => return Err("an array of structures with pointers"),
    })
}

/// The class of an array of elements.
fn array(context: &Context<'_>, element: &Type) -> String {
    if is_number(element) { format!("{}s", in_name(element)) } else { format!("List<{}>", nullable(context, element)) }
}

/// The Java type of a member.
pub(super) fn shown(context: &Context<'_>, ty: &Type) -> String {
    match seen(context.model, ty) {
        Ok(Seen::Plain) if matches!(ty, Type::Fixed(..)) => array(context, flat(ty).0),
        Ok(Seen::One(to)) => nullable(context, to),
        Ok(Seen::Text { .. }) => "String".to_owned(),
        Ok(Seen::Array { element, .. }) => array(context, element),
        _ => java(context, ty),
    }
}

/// Whether a member may be `null`.
pub(super) fn is_optional(model: &Model, ty: &Type) -> bool {
    matches!(ty, Type::Pointer(pointer) if pointer.class != PointerClass::Ref) && !is_plain(model, ty)
}

/// Whether others may lead to what a pointer leads to.
pub(super) fn is_full(ty: &Type) -> bool {
    matches!(ty, Type::Pointer(pointer) if pointer.class == PointerClass::Full)
}

/// Whether a structure has pointers that others may share, in circles too: then it can be changed when all of them are there.
pub(super) fn is_shared(model: &Model, ty: &Type) -> bool {
    let is_link = |ty: &Type| is_full(ty) && matches!(seen(model, ty), Ok(Seen::One(_)));
    matches!(ty, Type::Struct(id) if model.structs[id.0].fields.iter().any(|field| is_link(&field.ty)))
}

/// The name of a base type among the runtime's.
fn named(base: Base) -> &'static str {
    match base {
        Base::Boolean => "BOOLEAN",
        Base::Byte => "BYTE",
        Base::Char => "CHAR",
        Base::I8 => "SMALL",
        Base::U8 => "USMALL",
        Base::WChar => "WCHAR",
        Base::I16 => "SHORT",
        Base::U16 => "USHORT",
        Base::I32 => "LONG",
        Base::U32 => "ULONG",
        Base::I64 => "HYPER",
        Base::U64 => "UHYPER",
        Base::F32 => "FLOAT",
        Base::F64 => "DOUBLE",
        Base::Hresult => "HRESULT",
        Base::Guid => "GUID",
        Base::Context => "CONTEXT",
    }
}

/// A type that pointers lead to, as the runtime knows it.
pub(super) fn graph_type(context: &Context<'_>, ty: &Type) -> String {
    match ty {
        Type::Base(base) => format!("GraphType.{}", named(*base)),
        ty => format!("{}Type.TYPE", context.types.class(ty)),
    }
}

/// A member as it lies in a frame that was checked.
pub(super) fn view(context: &Context<'_>, ty: &Type, place: &str) -> String {
    let model = context.model;
    match seen(model, ty) {
        Ok(Seen::Plain) => match ty {
            Type::Base(Base::Boolean | Base::Guid) => format!("frame.get{}({place})", in_name(ty)),
            Type::Base(_) => format!("frame.get{}({place})", in_name(ty)),
            Type::Enum(_) => format!("{}.of(frame.getInt({place}))", java(context, ty)),
            Type::Fixed(..) => match flat(ty) {
                (element, count) if is_number(element) => {
                    format!("frame.{}({place}, {count})", camel(&array(context, element)))
                }
                (element, count) => format!("frame.list({place}, {count}, {})", graph_type(context, element)),
            },
            _ => format!("{}.read(frame.values(), {place})", java(context, ty)),
        },
        Ok(Seen::One(to)) => format!("({}) frame.one({place}, {})", nullable(context, to), graph_type(context, to)),
        Ok(Seen::Text { wide, .. }) => format!("frame.{}({place})", text(wide)),
        Ok(Seen::Array { element, .. }) if is_number(element) => {
            format!("frame.{}({place})", camel(&array(context, element)))
        }
        Ok(Seen::Array { element, .. }) => format!("frame.list({place}, {})", graph_type(context, element)),
        _ => format!("new {}.View(frame, {place})", java(context, ty)),
    }
}

/// A member of a frame that was checked, apart from the frame.
pub(super) fn built(context: &Context<'_>, ty: &Type, reader: &str, place: &str) -> String {
    match seen(context.model, ty) {
        Ok(Seen::Plain) => match ty {
            Type::Base(Base::Guid) | Type::Fixed(..) | Type::Struct(_) => {
                let text = view(context, ty, place).replace("frame.", &format!("{reader}.frame()."));
                match ty {
                    Type::Fixed(..) if is_number(flat(ty).0) => format!("{text}.copy()"),
                    Type::Fixed(..) => format!("List.copyOf({text})"),
                    _ => text,
                }
            }
            _ => view(context, ty, place).replace("frame.", &format!("{reader}.")),
        },
        Ok(Seen::One(to)) if is_number(to) => {
            format!("({}) {reader}.number({place}, {})", nullable(context, to), graph_type(context, to))
        }
        Ok(Seen::One(to)) => format!("({}) {reader}.one({place})", nullable(context, to)),
        Ok(Seen::Text { wide, .. }) => format!("{reader}.{}({place})", text(wide)),
        Ok(Seen::Array { element, .. }) if is_number(element) => {
            format!("{reader}.{}({place})", camel(&array(context, element)))
        }
        Ok(Seen::Array { .. }) => format!("{reader}.list({place})"),
        _ => format!("{}.build({reader}, {place})", graph_type(context, ty)),
    }
}

fn text(wide: bool) -> &'static str {
    if wide { "text16" } else { "text8" }
}

/// Writes a member.
pub(super) fn write(out: &mut Writer, context: &Context<'_>, ty: &Type, writer: &str, place: &str, value: &str) {
    let text = match seen(context.model, ty) {
        Ok(Seen::Plain) => match ty {
            Type::Base(_) => format!("{writer}.put{}({place}, {value});", in_name(ty)),
            Type::Enum(_) => format!("{writer}.putInt({place}, {value}.value());"),
            Type::Fixed(..) if is_number(flat(ty).0) => format!("{writer}.putArray({place}, {value}.segment());"),
            Type::Fixed(..) => format!("{writer}.putList({place}, {}, {value});", graph_type(context, flat(ty).0)),
            _ => format!("{value}.write({writer}.memory(), {place});"),
        },
        Ok(Seen::One(to)) => {
            let function = if is_full(ty) { "shared" } else { "one" };
            format!("{writer}.{function}({place}, {}, {value});", graph_type(context, to))
        }
        Ok(Seen::Text { wide, .. }) => format!("{writer}.{}({place}, {value});", self::text(wide)),
        Ok(Seen::Array { element, .. }) => {
            let function = if is_number(element) { "array" } else { "list" };
            format!("{writer}.{function}({place}, {}, {value});", graph_type(context, element))
        }
        _ => format!("{writer}.inner({place}, {}, {value});", graph_type(context, ty)),
    };
    out.line(text);
}

/// Members' places.
pub(super) fn place(base: &str, offset: u32) -> String {
    plus(base, offset)
}
