//! Data in frames with structures that contain pointers: members of structures and parameters in
//! blocks, which are treated alike.

use super::Context;
use super::names::camel;
use super::values::{flat, in_name, is_number, java, nullable, object_class, plus};
use crate::model::{Arith, Base, Extent, Model, Object, Operand, PointerClass, Type, UnionId};
use crate::plan::is_plain;
use crate::text::writer::Writer;

/// The form in which programs see a member.
pub(super) enum Seen<'a> {
    /// A value without pointers.
    Plain,
    /// The target of a pointer: a value or `null`.
    One(&'a Type),
    /// A string.
    Text { wide: bool },
    /// An array whose length other members give.
    Array { element: &'a Type, size: &'a Arith, length: Option<&'a Arith> },
    /// An array of fixed size whose elements have pointers.
    Elements { element: &'a Type, count: u32 },
    /// A union whose discriminant is outside the union.
    Union(UnionId),
    /// A structure with pointers, or an encapsulated union.
    Inner,
    /// An interface pointer.
    Object(&'a Object),
}

/// Returns the form of a member.
///
/// # Errors
///
/// The reason why the member is not supported.
pub(super) fn seen<'a>(model: &Model, ty: &'a Type) -> Result<Seen<'a>, &'static str> {
    Ok(match ty {
        ty if is_plain(model, ty) => Seen::Plain,
        Type::Pointer(pointer) => match (&pointer.extent, &pointer.to) {
            (Extent::Text, Type::Base(base)) => Seen::Text { wide: base.size() == 2 },
            (Extent::Counted { size, length }, element) => {
                refuse_element(model, element)?;
                Seen::Array { element, size, length: length.as_ref() }
            }
            (_, Type::Fixed(..)) => return Err("a pointer to an array of fixed size"),
            (_, Type::Pointer(_) | Type::Interface(_)) => return Err("a pointer to a pointer"),
            (_, to @ Type::Union(_)) if !has_members(model, to) => {
                return Err("a pointer to a union without a discriminant of its own");
            }
            (_, to) => Seen::One(to),
        },
        Type::Struct(_) => Seen::Inner,
        Type::Interface(object) => Seen::Object(object),
        Type::Union(_) if has_members(model, ty) => Seen::Inner,
        Type::Union(id) => Seen::Union(*id),
        _ => {
            let (element, count) = flat(ty);
            refuse_element(model, element)?;
            Seen::Elements { element, count }
        }
    })
}

/// Whether the type is a structure or an encapsulated union.
fn has_members(model: &Model, ty: &Type) -> bool {
    match ty {
        Type::Union(id) => model.unions[id.0].encapsulated.is_some(),
        ty => matches!(ty, Type::Struct(_)),
    }
}

/// Refuses unsupported element types of arrays.
fn refuse_element(model: &Model, element: &Type) -> Result<(), &'static str> {
    match element {
        element if is_plain(model, element) || has_members(model, element) => Ok(()),
        Type::Pointer(pointer) => match (&pointer.extent, &pointer.to) {
            (Extent::Text, _) => Ok(()),
            // An object of a changeable class can be made first and filled later, so that it exists
            // when the array is built.
            (Extent::One, to @ Type::Struct(_)) if !is_full(element) || is_shared(model, to) => Ok(()),
            (Extent::One, Type::Struct(_)) => Err("an array of [ptr] pointers to structures without [ptr] members"),
            (Extent::One, to) if is_plain(model, to) && !matches!(to, Type::Fixed(..)) && !is_full(element) => Ok(()),
            _ => Err("an array of pointers to pointers or arrays"),
        },
        Type::Interface(Object::IidIs(_)) => Err("an array of interface pointers with [iid_is]"),
        Type::Interface(_) => Ok(()),
        _ => Err("an array of unions without discriminants of their own"),
    }
}

/// Writes the check that an array's length equals its size. If the array has a separate number of
/// used elements, the length must equal that number, and must not exceed the size.
pub(super) fn check_lengths(out: &mut Writer, (name, optional): (&str, bool), size: &str, length: Option<String>) {
    if optional {
        out.line(format!("if ({name} != null) {{"));
    }
    match length {
        Some(length) => {
            out.line(format!("Frames.checkLength({name}.size(), Frames.count({length}));"));
            out.line(format!("Frames.checkRange({name}.size(), 0, Frames.count({size}));"));
        }
        None => out.line(format!("Frames.checkLength({name}.size(), Frames.count({size}));")),
    }
    if optional {
        out.line("}");
    }
}

/// Returns the class of an array with elements of this type.
fn array(context: &Context<'_>, element: &Type) -> String {
    if is_number(element) { format!("{}s", in_name(element)) } else { format!("List<{}>", nullable(context, element)) }
}

/// Returns the Java type of a member.
pub(super) fn shown(context: &Context<'_>, ty: &Type) -> String {
    match seen(context.model, ty) {
        Ok(Seen::Plain) if matches!(ty, Type::Fixed(..)) => array(context, flat(ty).0),
        Ok(Seen::One(to)) => nullable(context, to),
        Ok(Seen::Text { .. }) => "String".to_owned(),
        Ok(Seen::Array { element, .. } | Seen::Elements { element, .. }) => array(context, element),
        _ => java(context, ty),
    }
}

/// Whether elements of an array may be `null`.
pub(super) fn has_optional(model: &Model, ty: &Type) -> bool {
    match seen(model, ty) {
        Ok(Seen::Array { element, .. } | Seen::Elements { element, .. }) => is_optional(model, element),
        _ => false,
    }
}

/// Whether a member may be `null`.
pub(super) fn is_optional(model: &Model, ty: &Type) -> bool {
    match ty {
        Type::Pointer(pointer) => pointer.class != PointerClass::Ref && !is_plain(model, ty),
        ty => matches!(ty, Type::Interface(_)),
    }
}

/// Whether a type is a full pointer, whose target other pointers may share.
pub(super) fn is_full(ty: &Type) -> bool {
    matches!(ty, Type::Pointer(pointer) if pointer.class == PointerClass::Full)
}

/// Whether a structure has pointers whose targets may be shared, even in cycles. Its class is
/// changeable, so that the pointers can be set when all targets exist.
pub(super) fn is_shared(model: &Model, ty: &Type) -> bool {
    let is_link = |ty: &Type| is_full(ty) && matches!(seen(model, ty), Ok(Seen::One(_)));
    matches!(ty, Type::Struct(id) if model.structs[id.0].fields.iter().any(|field| is_link(&field.ty)))
}

/// Whether object references may travel in values of these types.
pub(super) fn has_objects<'m>(model: &'m Model, types: impl Iterator<Item = &'m Type>) -> bool {
    model.reachable_from(types).any(|ty| matches!(ty, Type::Interface(_)))
}

/// Returns the runtime's name of a base type.
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

/// Returns the runtime's constant for the class of a pointer.
pub(super) fn pointer_class(class: PointerClass) -> &'static str {
    match class {
        PointerClass::Ref => "GraphReader.REF",
        PointerClass::Unique => "GraphReader.UNIQUE",
        PointerClass::Full => "GraphReader.FULL",
    }
}

/// Returns the runtime's description of a type that pointers lead to.
pub(super) fn graph_type(context: &Context<'_>, ty: &Type) -> String {
    match ty {
        Type::Base(base) => format!("GraphType.{}", named(*base)),
        Type::Pointer(pointer) => {
            let to = match (&pointer.extent, &pointer.to) {
                (Extent::Text, Type::Base(base)) => format!("GraphType.TEXT{}", 8 * base.size()),
                (_, to) => graph_type(context, to),
            };
            format!("{to}.pointer({})", pointer_class(pointer.class))
        }
        Type::Interface(object) => format!("GraphType.object({}.class)", object_class(context, object)),
        ty => format!("{}Type.TYPE", context.types.class(ty)),
    }
}

/// Returns the expression for the description of an object's interface. `iid` returns the
/// expression for an IID that another member holds.
pub(super) fn object_info(context: &Context<'_>, object: &Object, iid: impl Fn(&Operand) -> String) -> String {
    match object {
        Object::Known(id) => format!("{}Info.INFO", context.types.interface(*id)),
        Object::Unknown => "InterfaceInfo.of(Remote.class)".to_owned(),
        Object::IidIs(operand) => iid(operand),
    }
}

/// Returns the expression that reads a member in place from a checked frame.
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
        Ok(Seen::Elements { element, count }) => {
            format!("frame.list({place}, {count}, {})", graph_type(context, element))
        }
        Ok(Seen::Object(_)) => format!("frame.object({place})"),
        Ok(Seen::Inner) if matches!(ty, Type::Union(_)) => format!("{}.view(frame, {place})", graph_type(context, ty)),
        _ => format!("new {}.View(frame, {place})", java(context, ty)),
    }
}

/// Returns the expression that reads a member from a checked frame as a copy.
pub(super) fn built(context: &Context<'_>, ty: &Type, reader: &str, place: &str) -> String {
    match seen(context.model, ty) {
        Ok(Seen::Plain) => match ty {
            Type::Fixed(..) | Type::Struct(_) => {
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
        Ok(Seen::Elements { element, count }) => {
            format!("{reader}.list({place}, {count}, {})", graph_type(context, element))
        }
        Ok(Seen::Object(_)) => format!("{reader}.object({place})"),
        _ => format!("{}.build({reader}, {place})", graph_type(context, ty)),
    }
}

fn text(wide: bool) -> &'static str {
    if wide { "text16" } else { "text8" }
}

/// Returns the expression that reads the conformant array at a structure's end. The array is at
/// `place` and the structure at `base`.
pub(super) fn tail(context: &Context<'_>, ty: &Type, reader: &str, base: &str, place: &str) -> String {
    let Type::Pointer(pointer) = ty else { return String::new() };
    let element = &pointer.to;
    match (reader, is_number(element)) {
        ("frame", true) => format!("frame.{}({place}, frame.count({base}))", camel(&array(context, element))),
        (_, true) => format!(
            "{reader}.frame().{}({place}, {reader}.frame().count({base})).copy()",
            camel(&array(context, element))
        ),
        ("frame", false) => format!("frame.list({place}, frame.count({base}), {})", graph_type(context, element)),
        _ => format!("{reader}.list({place}, {reader}.frame().count({base}), {})", graph_type(context, element)),
    }
}

/// Writes the conformant array at a structure's end.
pub(super) fn write_tail(out: &mut Writer, context: &Context<'_>, ty: &Type, place: &str, value: &str) {
    let Type::Pointer(pointer) = ty else { return };
    out.line(if is_number(&pointer.to) {
        format!("out.putArray({place}, {value}.uncopied());")
    } else {
        format!("out.putList({place}, {}, {value});", graph_type(context, &pointer.to))
    });
}

/// The `iid` argument for types in which no other member holds an IID.
pub(super) const NO_IID: &dyn Fn(&Operand) -> String = &|_| String::new();

/// Writes a member. `iid` returns the IID of an object, if another member holds it.
pub(super) fn write(
    out: &mut Writer,
    context: &Context<'_>,
    ty: &Type,
    (writer, place): (&str, &str),
    value: &str,
    iid: &dyn Fn(&Operand) -> String,
) {
    let text = match seen(context.model, ty) {
        Ok(Seen::Plain) => match ty {
            Type::Base(_) => format!("{writer}.put{}({place}, {value});", in_name(ty)),
            Type::Enum(_) => format!("{writer}.putInt({place}, {value}.value());"),
            Type::Fixed(..) if is_number(flat(ty).0) => format!("{writer}.putArray({place}, {value}.uncopied());"),
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
        Ok(Seen::Elements { element, .. }) => {
            format!("{writer}.putList({place}, {}, {value});", graph_type(context, element))
        }
        Ok(Seen::Union(_)) => format!("{}Type.put({writer}, {value}, {place});", java(context, ty)),
        Ok(Seen::Object(object)) => {
            format!("{writer}.reference({place}, {value}, {});", object_info(context, object, iid))
        }
        _ => format!("{writer}.inner({place}, {}, {value});", graph_type(context, ty)),
    };
    out.line(text);
}

/// Returns the expression that reads a union from a checked frame, in place or as a copy. `which`
/// is the union's discriminant.
pub(super) fn union(context: &Context<'_>, ty: &Type, reader: &str, place: &str, which: &str) -> String {
    let function = if reader == "frame" { "view" } else { "build" };
    format!("{}Type.{function}({reader}, {place}, {which})", java(context, ty))
}

/// Returns the expression for the place of a member.
pub(super) fn place(base: &str, offset: u32) -> String {
    plus(base, offset)
}
