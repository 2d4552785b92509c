//! Constants, enumerations, structures and unions.

use super::interface::LITERAL_MAX;
use super::names::{
    base, declare, has_automation_name, ident, integer, quoted, type_ident, union_keyword, value as value_name,
};
use crate::model::{Base, Const, Enum, Field, Model, StructId, Type, Typedef, UnionId, Unsupported, Value, all_arms};
use crate::plan::is_automation_wire;
use crate::resolve::prelude;
use crate::text::source::Span;
use crate::text::writer::Writer;
use std::collections::BTreeSet;

/// Writes the constants, which are not macros: a macro would change every header that is included
/// later.
///
/// In C++ constants have their declared types, and internal linkage, so that a linker does not
/// mistake a constant for a function of the C library. In C, integer constants are enumerators,
/// because C accepts no objects as sizes of arrays or as cases of a `switch`.
pub(super) fn constants(out: &mut Writer, model: &Model) {
    let is_own = |constant: &&Const| is_written(model, constant.imported, constant.span);
    let own: Vec<&Const> = model.consts.iter().filter(is_own).collect();
    if own.is_empty() {
        return;
    }
    let write = |out: &mut Writer, define: &dyn Fn(&Const) -> String| {
        for constant in &own {
            once(out, model, &constant.name, constant.span, |out| out.line(define(constant)));
        }
    };
    out.unindented("#ifdef __cplusplus");
    write(out, &|constant| object(model, constant, "constexpr"));
    out.unindented("#else");
    write(out, &|constant| in_c(model, constant));
    out.unindented("#endif");
    out.line("");
}

fn is_struct_written(model: &Model, id: StructId) -> bool {
    // Methods with base types that contain Automation types are refused, unless the compiler is
    // permissive.
    let is_automation = || model.unsupported.get(&Type::Struct(id)) == Some(&Unsupported::AUTOMATION);
    if model.is_prelude(model.structs[id.0].span)
        && (if model.permissive { has_automation_name(model, id) } else { is_automation() })
    {
        return false;
    }
    is_written(model, model.structs[id.0].imported, model.structs[id.0].span)
}

fn is_union_written(model: &Model, id: UnionId) -> bool {
    is_written(model, model.unions[id.0].imported, model.unions[id.0].span)
}

/// Whether the header declares a type or a constant. The header has the declarations of the file,
/// and the base types that are built into the compiler.
fn is_written(model: &Model, imported: bool, span: Span) -> bool {
    !imported || model.is_prelude(span)
}

/// Writes a declaration. The declaration of a base type gets a preprocessor condition, so that only
/// the first of several headers in a program declares the type.
pub(super) fn once(out: &mut Writer, model: &Model, name: &str, span: Span, write: impl FnOnce(&mut Writer)) {
    guarded(out, name, model.is_prelude(span), write);
}

/// Writes a declaration, with the condition of [`once`] if `is_shared` is true.
pub(super) fn guarded(out: &mut Writer, name: &str, is_shared: bool, write: impl FnOnce(&mut Writer)) {
    if is_shared {
        out.unindented(&format!("#ifndef OBVIA_IDL_BASE_{name}"));
        out.unindented(&format!("#define OBVIA_IDL_BASE_{name}"));
    }
    write(out);
    if is_shared {
        out.unindented("#endif");
    }
}

/// Whether a file's own type has the name of a base type. Another header may have defined the base
/// type, so the definition needs the condition of [`once`].
fn is_beside_base(model: &Model, name: &str, span: Span) -> bool {
    !model.is_prelude(span) && prelude::declares(name)
}

/// Returns the definition of a constant in C.
fn in_c(model: &Model, constant: &Const) -> String {
    match (&constant.value, constant.base) {
        (Value::Int(value), base) if !matches!(base, Some(Base::F32 | Base::F64)) => {
            let name = value_name(model, &constant.name, false);
            // Unsigned 64-bit values are stored as signed numbers with the same bits.
            let is_int = i32::try_from(*value).is_ok_and(|value| value >= 0 || base != Some(Base::U64));
            if base == Some(Base::Char) {
                // The cast makes values above 127 equal to members of type `char`, which may be
                // signed.
                format!("enum {{ {name} = (char){value} }};")
            } else if is_int {
                format!("enum {{ {name} = {} }};", int(*value))
            } else {
                // Enumerators larger than an `int` are a part of C23, and before that an extension.
                format!("__extension__ enum {{ {name} = {} }};", literal(constant))
            }
        }
        _ => object(model, constant, "static const"),
    }
}

/// Returns the definition of a constant as an object.
fn object(model: &Model, constant: &Const, specifiers: &str) -> String {
    let name = value_name(model, &constant.name, false);
    let (ty, array) = match (&constant.value, constant.base) {
        (Value::Text(_), Some(Base::WChar | Base::U16)) => ("obvia_wchar", "[]"),
        (Value::Text(_), _) => ("char", "[]"),
        (Value::Float(_), None) => ("double", ""),
        (Value::Int(_), None) => ("int64_t", ""),
        (_, Some(one)) => (base(one), ""),
    };
    // C guarantees support only for literals of at most `LITERAL_MAX` bytes. `__extension__`
    // suppresses the warning about longer literals.
    let extension = match &constant.value {
        Value::Text(text) if text.len() > LITERAL_MAX => "__extension__ ",
        _ => "",
    };
    format!("{extension}{specifiers} {ty} {name}{array} __attribute__((unused)) = {};", literal(constant))
}

/// Returns the literal for the value of a constant.
fn literal(constant: &Const) -> String {
    match (&constant.value, constant.base) {
        (Value::Text(text), Some(Base::WChar | Base::U16)) => format!("u{}", quoted_wide(text)),
        (Value::Text(text), _) => quoted(text),
        (Value::Float(value), _) => format!("{value:?}"),
        (Value::Int(value), Some(Base::F32 | Base::F64)) => format!("{value}.0"),
        (Value::Int(value), Some(Base::Char)) if *value > 127 => format!("char({value})"),
        (Value::Int(value), Some(Base::U64)) => format!("UINT64_C({})", value.cast_unsigned()),
        (Value::Int(value), Some(Base::U32)) => format!("{value}u"),
        (Value::Int(value), _) => int(*value),
    }
}

/// Returns a literal of 16-bit characters. Characters outside ASCII are escaped. Compilers warn of
/// characters that change the direction of the text, and may read the file in another encoding.
fn quoted_wide(text: &str) -> String {
    let escaped = |one: char| match u32::from(one) {
        0..=0x7f => {
            let quoted = quoted(&one.to_string());
            quoted[1..quoted.len() - 1].to_owned()
        }
        // Universal character names begin at U+00A0.
        number @ 0x80..=0x9f => format!("\\{number:03o}"),
        number @ 0xa0..=0xffff => format!("\\u{number:04x}"),
        number => format!("\\U{number:08x}"),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

/// Returns an integer literal of type `int` or larger.
fn int(value: i64) -> String {
    if value == i64::from(i32::MIN) { "(-2147483647 - 1)".to_owned() } else { integer(value) }
}

pub(super) fn enumerations(out: &mut Writer, model: &Model) {
    for found in model.enums.iter().filter(|found| is_written(model, found.imported, found.span)) {
        once(out, model, &found.name, found.span, |out| enumeration(out, model, found));
    }
}

fn enumeration(out: &mut Writer, model: &Model, found: &Enum) {
    let name = type_ident(&found.name);
    out.line(format!("enum {name} OBVIA_ENUM {{"));
    for (at, (value, number)) in found.values.iter().enumerate() {
        let comma = if at + 1 == found.values.len() { "" } else { "," };
        out.line(format!("{} = {}{comma}", value_name(model, value, false), int(i64::from(*number))));
    }
    out.line("};");
    out.line(format!("typedef enum {name} {name};"));
    out.line(format!("OBVIA_HAS_SIZE({name}, 4);"));
    out.line("");
}

/// Writes structures and unions, each after the types that it contains by value.
pub(super) fn aggregates(out: &mut Writer, model: &Model) {
    let structs = (0..model.structs.len()).map(StructId).filter(|id| is_struct_written(model, *id));
    let unions = (0..model.unions.len()).map(UnionId).filter(|id| is_union_written(model, *id));
    let all: Vec<Type> = structs.map(Type::Struct).chain(unions.map(Type::Union)).collect();
    for ty in &all {
        let (keyword, name) = match ty {
            Type::Union(id) => (union_keyword(&model.unions[id.0]), &model.unions[id.0].name),
            Type::Struct(id) => ("struct", &model.structs[id.0].name),
            _ => continue,
        };
        out.line(format!("typedef {keyword} {0} {0};", type_ident(name)));
    }
    if !all.is_empty() {
        out.line("");
    }
    let mut done = Done::default();
    for ty in &all {
        aggregate(out, model, ty, &mut done);
    }
}

/// Writes the typedefs, except typedefs that repeat a type's own name, as `Point Point` or
/// `struct Point Point`.
pub(super) fn typedefs(out: &mut Writer, model: &Model) {
    let declare = |one: &Typedef| {
        let text = declare(model, &one.ty, &type_ident(&one.name));
        if one.is_interface { text.replace('*', "") } else { text }
    };
    let repeats = |text: &String| {
        let mut words = text.rsplit(' ');
        words.next() == words.next()
    };
    let own = model.typedefs.iter().filter(|one| is_written(model, one.imported, one.span));
    let own = own.filter(|one| !super::is_automation(model, &one.ty)).map(declare);
    let others: Vec<String> = own.filter(|text| !repeats(text)).collect();
    for text in &others {
        out.line(format!("typedef {text};"));
    }
    if !others.is_empty() {
        out.line("");
    }
}

/// The structures and unions that have been declared.
#[derive(Default)]
struct Done {
    structs: BTreeSet<StructId>,
    unions: BTreeSet<UnionId>,
}

fn aggregate(out: &mut Writer, model: &Model, ty: &Type, done: &mut Done) {
    match ty {
        Type::Fixed(element, _) => aggregate(out, model, element, done),
        Type::Struct(id) if is_struct_written(model, *id) && done.structs.insert(*id) => {
            let found = &model.structs[id.0];
            for field in &found.fields {
                aggregate(out, model, &field.ty, done);
            }
            if let Some((element, ..)) = &found.conformant {
                aggregate(out, model, element, done);
            }
            once(out, model, &found.name, found.span, |out| structure(out, model, *id));
        }
        Type::Union(id) if is_union_written(model, *id) && done.unions.insert(*id) => {
            let found = &model.unions[id.0];
            let arms = found.arms.iter().filter_map(|arm| arm.field.as_ref());
            for field in arms.chain(found.default.iter().flatten()) {
                aggregate(out, model, &field.ty, done);
            }
            once(out, model, &found.name, found.span, |out| union(out, model, *id));
        }
        _ => {}
    }
}

fn structure(out: &mut Writer, model: &Model, id: StructId) {
    let found = &model.structs[id.0];
    let name = type_ident(&found.name);
    // The members of an opaque structure are not declared.
    if found.fields.is_empty() {
        return;
    }
    // The members have another form in memory than the model describes.
    if is_opaque(model, &Type::Struct(id)) {
        return;
    }
    let (offsets, size, _) = model.offsets(found);
    guarded(out, &found.name, is_beside_base(model, &found.name, found.span), |out| {
        out.line(format!("struct {name} {{"));
        for field in &found.fields {
            match (&field.ty, &found.conformant) {
                // A conformant array gets one element, because C++ has no arrays without a size.
                (Type::Void, Some((element, ..))) => {
                    out.line(format!("{};", declare(model, element, &format!("{}[1]", ident(&field.name)))));
                }
                _ if !field.bits.is_empty() => bit_fields(out, model, field),
                (ty, _) => out.line(format!("{};", declare(model, ty, &ident(&field.name)))),
            }
        }
        out.line("};");
    });
    let is_open = found.conformant.is_some();
    if !is_open {
        out.line(format!("OBVIA_HAS_SIZE({name}, {size});"));
    }
    for (at, field) in found.fields.iter().enumerate() {
        // The last offset belongs to the conformant array's elements.
        let is_array = is_open && at + 1 == found.fields.len();
        let offset = if is_array { offsets.last() } else { offsets.get(at) };
        out.line(format!("OBVIA_LIES_AT({name}, {}, {});", ident(&field.name), offset.copied().unwrap_or(0)));
    }
    out.line("");
}

/// Writes an integer of a structure, and its bit fields, as two views of the same bytes.
fn bit_fields(out: &mut Writer, model: &Model, field: &Field) {
    out.line("__extension__ union {");
    out.line(format!("{};", declare(model, &field.ty, &ident(&field.name))));
    out.line("__extension__ struct {");
    for part in &field.bits {
        let name = if part.name.is_empty() { String::new() } else { ident(&part.name) };
        // C leaves open whether enumerations have a sign.
        let ty = match &part.ty {
            Type::Enum(id) if model.enums[id.0].is_signed() => &Type::Base(Base::I32),
            Type::Enum(_) => &Type::Base(Base::U32),
            ty => ty,
        };
        out.line(format!("{};", declare(model, ty, &format!("{name} : {}", part.width))));
    }
    out.line("};");
    out.line("};");
}

/// Whether the header declares only the name of a structure or a union, because it contains a value
/// of an Automation type that has another form in memory than the model describes.
pub(super) fn is_opaque(model: &Model, ty: &Type) -> bool {
    if is_automation_wire(model, ty) {
        return true;
    }
    // In the model, a member of type VARIANT or BSTR is a pointer to the type that travels.
    let is_value = |ty: &Type| matches!(ty, Type::Pointer(pointer) if is_automation_wire(model, &pointer.to));
    let is_unknown = |ty: &Type| is_opaque(model, ty) || is_value(ty);
    match ty {
        Type::Fixed(element, _) => is_unknown(element),
        Type::Struct(StructId(id)) => {
            let found = &model.structs[*id];
            found.fields.iter().any(|field| is_unknown(&field.ty))
                || found.conformant.as_ref().is_some_and(|(element, ..)| is_unknown(element))
        }
        Type::Union(UnionId(id)) => all_arms(&model.unions[*id]).any(|field| is_unknown(&field.ty)),
        _ => false,
    }
}

fn union(out: &mut Writer, model: &Model, id: UnionId) {
    let found = &model.unions[id.0];
    let name = type_ident(&found.name);
    if is_opaque(model, &Type::Union(id)) {
        return;
    }
    let arms = found.arms.iter().filter_map(|arm| arm.field.as_ref());
    let arms: Vec<&Field> = arms.chain(found.default.iter().flatten()).collect();
    let members = |out: &mut Writer| {
        for field in &arms {
            out.line(format!("{};", declare(model, &field.ty, &ident(&field.name))));
        }
    };
    guarded(out, &found.name, is_beside_base(model, &found.name, found.span), |out| match &found.encapsulated {
        Some((tag, inner)) => {
            out.line(format!("struct {name} {{"));
            out.line(format!("{};", declare(model, &found.tag, &ident(tag))));
            if !arms.is_empty() {
                out.line("union {");
                members(out);
                out.line(format!("}} {};", ident(inner)));
            }
            out.line("};");
        }
        None => {
            out.line(format!("union {name} {{"));
            members(out);
            if arms.is_empty() {
                out.line("char nothing;");
            }
            out.line("};");
        }
    });
    if !arms.is_empty() {
        out.line(format!("OBVIA_HAS_SIZE({name}, {});", model.layout(&Type::Union(id)).0));
    }
    out.line("");
}
