//! Constants, enumerations, and structures without pointers.

use super::Context;
use super::doc::{Doc, of_value};
use super::names::{constant, members, unique};
use super::values::{Target, flat, is_number, is_object, java, load, pad, plus, store};
use crate::model::{Base, Const, Enum, EnumId, StructId, Type, Value};
use crate::text::writer::Writer;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

/// Writes constants as members of a class that uses the `taken` names in its code.
pub(super) fn constants(out: &mut Writer, consts: &[Const], mut taken: BTreeSet<String>) {
    for found in consts {
        let (ty, text) = match (&found.value, found.base) {
            (Value::Text(text), _) => ("String", string(text)),
            // Java refuses a literal that its type would round to zero, so the value is rounded
            // first.
            (Value::Float(value), Some(Base::F32)) => ("float", format!("{:?}f", *value as f32)),
            (Value::Float(value), _) => ("double", format!("{value:?}")),
            (Value::Int(value), Some(Base::F32)) => ("float", format!("{value}.0f")),
            (Value::Int(value), Some(Base::F64)) => ("double", format!("{value}.0")),
            (Value::Int(value), Some(Base::Boolean)) => ("boolean", (*value != 0).to_string()),
            (Value::Int(value), Some(base)) => integer(*value, base),
            (Value::Int(value), None) => ("long", format!("{value}L")),
        };
        out.line(format!("/** {{@code {}}} */", found.name));
        let name = unique(&mut taken, constant(&found.name));
        out.line(format!("public static final {ty} {name} = {text};"));
        out.line("");
    }
}

/// Returns an integer literal with its type. Unsigned numbers above the signed range are negative
/// in Java.
fn integer(value: i64, base: Base) -> (&'static str, String) {
    match super::values::base(base) {
        "byte" => ("byte", (value as i8).to_string()),
        "short" => ("short", (value as i16).to_string()),
        "char" => ("char", (value as u16).to_string()),
        "long" => ("long", format!("{value}L")),
        _ => ("int", (value as i32).to_string()),
    }
}

/// The maximum size of a literal, in bytes of a class file's encoding. A class file permits one
/// byte more, but javac refuses a literal of that size.
const LITERAL_MAX: usize = 65_534;

/// Returns the size of a UTF-16 unit in a class file.
const fn encoded_size(unit: u16) -> usize {
    match unit {
        0x01..=0x7f => 1,
        0 | 0x80..=0x7ff => 2,
        _ => 3,
    }
}

/// Whether a text is short enough for a literal.
pub(super) fn is_literal(text: &str) -> bool {
    text.encode_utf16().map(encoded_size).sum::<usize>() <= LITERAL_MAX
}

/// Returns the expression for a text: a string literal. If the text is too long for one literal,
/// several literals are joined at run time.
pub(super) fn string(text: &str) -> String {
    let (mut literals, mut quoted, mut size) = (Vec::new(), String::new(), 0);
    for unit in text.encode_utf16() {
        if size + encoded_size(unit) > LITERAL_MAX {
            literals.push(format!("\"{quoted}\""));
            quoted.clear();
            size = 0;
        }
        size += encoded_size(unit);
        match u8::try_from(unit) {
            Ok(quote @ (b'"' | b'\\')) => quoted.extend(['\\', quote as char]),
            Ok(plain @ 0x20..=0x7e) => quoted.push(plain as char),
            // Java replaces \u escapes before it looks for the end of a string. An escape of three
            // octal digits cannot run into the next character.
            Ok(other) => quoted.push_str(&format!("\\{other:03o}")),
            _ => quoted.push_str(&format!("\\u{unit:04x}")),
        }
    }
    let last = format!("\"{quoted}\"");
    if literals.is_empty() { last } else { format!("String.join(\"\", {}, {last})", literals.join(", ")) }
}

/// The field with the number of an enumeration's value.
const NUMBER: &str = "value";

/// Writes the class of an enumeration. An enumeration with `[open]` becomes a record with one
/// number.
pub(super) fn enumeration(out: &mut Writer, context: &Context<'_>, id: EnumId) {
    let found = &context.model.enums[id.0];
    let name = context.types.class(&Type::Enum(id));
    if found.open {
        return open_enumeration(out, found, name);
    }
    let mut firsts: Vec<(String, i32)> = Vec::new();
    let (mut known, mut others): (HashMap<i32, usize>, _) = (HashMap::new(), Vec::new());
    let mut taken = BTreeSet::from([NUMBER.to_owned()]);
    for (value, number) in &found.values {
        let value = unique(&mut taken, constant(value));
        match known.entry(*number) {
            Entry::Occupied(first) => others.push((value, firsts[*first.get()].0.clone())),
            Entry::Vacant(place) => {
                place.insert(firsts.len());
                firsts.push((value, *number));
            }
        }
    }
    out.line(format!("/** {{@code enum {}}} */", found.name));
    out.line(format!("public enum {name} {{"));
    for (at, (value, number)) in firsts.iter().enumerate() {
        let end = if at + 1 == firsts.len() { ';' } else { ',' };
        out.line(format!("/** {number} */"));
        out.line(format!("{value}({number}){end}"));
    }
    out.line("");
    for (other, first) in others {
        out.line(format!("/** The same as {{@link #{first}}}. */"));
        out.line(format!("public static final {name} {other} = {first};"));
        out.line("");
    }
    out.line("private final int value;");
    out.line("");
    out.line(format!("{name}(int value) {{"));
    out.line("this.value = value;");
    out.line("}");
    out.line("");
    out.line("/** Returns the value's number. */");
    out.line("public int value() {");
    out.line("return value;");
    out.line("}");
    out.line("");
    of_number(out, name);
    out.line(format!("private static {name} find(int value) {{"));
    out.line("return switch (value) {");
    for (value, number) in &firsts {
        out.line(format!("case {number} -> {value};"));
    }
    out.line("default -> null;");
    out.line("};");
    out.line("}");
    out.line("}");
}

/// Writes `of` and `read`. Both use a function `find` that returns `null` for an invalid number.
fn of_number(out: &mut Writer, name: &str) {
    out.line("/**");
    out.line(" * Returns the value with this number.");
    out.line(" *");
    out.line(" * @throws IllegalArgumentException if there is none");
    out.line(" */");
    out.line(format!("public static {name} of(int value) {{"));
    out.line(format!("{name} found = find(value);"));
    out.line("if (found == null) {");
    out.line(format!("throw new IllegalArgumentException(value + \" is not a value of {name}\");"));
    out.line("}");
    out.line("return found;");
    out.line("}");
    out.line("");
    out.line(format!("static {name} read(FrameReader frame, int at) {{"));
    out.line("int value = frame.getInt(at);");
    out.line(format!("{name} found = find(value);"));
    out.line("if (found == null) {");
    out.line(format!("throw frame.bad(value + \" is not a value of {name}\");"));
    out.line("}");
    out.line("return found;");
    out.line("}");
    out.line("");
}

fn open_enumeration(out: &mut Writer, found: &Enum, name: &str) {
    out.line("/**");
    out.line(format!(" * {{@code [open] enum {}}}: peers may know more values than are listed here.", found.name));
    out.line(" *");
    out.line(" * @param value its number");
    out.line(" */");
    out.line(format!("public record {name}(int value) {{"));
    let mut taken = BTreeSet::from([NUMBER.to_owned()]);
    for (value, number) in &found.values {
        out.line(format!("/** {number} */"));
        out.line(format!("public static final {name} {} = new {name}({number});", unique(&mut taken, constant(value))));
        out.line("");
    }
    if !found.is_any() {
        out.line("/** Makes the value with this number, from 0 to 32767. */");
        out.line(format!("public {name} {{"));
        out.line(format!("if (value < 0 || value > {}) {{", Enum::NARROW_MAX));
        out.line(format!("throw new IllegalArgumentException(value + \" is not a value of {name}\");"));
        out.line("}");
        out.line("}");
        out.line("");
    }
    out.line("/** Returns the value with this number. */");
    out.line(format!("public static {name} of(int value) {{"));
    out.line(format!("return new {name}(value);"));
    out.line("}");
    out.line("");
    out.line(format!("static {name} read(FrameReader frame, int at) {{"));
    out.line("int value = frame.getInt(at);");
    if !found.is_any() {
        out.line(format!("frame.checkRange(value, 0, {});", Enum::NARROW_MAX));
    }
    out.line(format!("return new {name}(value);"));
    out.line("}");
    out.line("}");
}

/// Writes the record of a structure without pointers.
pub(super) fn structure(out: &mut Writer, context: &Context<'_>, id: StructId) {
    let found = &context.model.structs[id.0];
    let name = context.types.class(&Type::Struct(id));
    let fields = members(found.fields.iter().map(|field| field.name.as_str()));
    let (offsets, size, _) = context.model.offsets(found);
    let mut doc = Doc::new(&format!("{{@code struct {}}}", found.name));
    for (field, own) in fields.iter().zip(&found.fields) {
        if let Some(said) = of_value(&own.ty) {
            doc.parameter(field, &said);
        }
    }
    doc.write(out);
    let typed = fields.iter().zip(&found.fields).map(|(field, own)| format!("{} {field}", java(context, &own.ty)));
    out.line(format!("public record {name}({}) {{", typed.collect::<Vec<_>>().join(", ")));
    checks(out, name, &fields, found.fields.iter().map(|field| &field.ty));
    for (field, own) in fields.iter().zip(&found.fields).filter(|(_, own)| holds_objects(&own.ty)) {
        out.line("@Override");
        out.line(format!("public {} {field}() {{", java(context, &own.ty)));
        out.line(format!("return {field}.clone();"));
        out.line("}");
        out.line("");
    }
    out.line("/** Writes this value to memory. */");
    out.line("void write(MemorySegment memory, long at) {");
    let target = Target { memory: "memory", at: "at" };
    let mut end = 0;
    for ((field, own), offset) in fields.iter().zip(&found.fields).zip(&offsets) {
        pad(out, target, end, *offset);
        store(out, context, &own.ty, field, target, *offset);
        end = offset + context.model.layout(&own.ty).0;
    }
    pad(out, target, end, size);
    out.line("}");
    out.line("");
    out.line("/** Reads and checks a value. */");
    out.line(format!("static {name} read(FrameReader frame, int at) {{"));
    let mut values = Vec::new();
    for ((field, own), offset) in fields.iter().zip(&found.fields).zip(&offsets) {
        values.push(load(out, context, &own.ty, "frame", &plus("at", *offset), field));
    }
    call(out, &format!("return new {name}"), &values);
    out.line("}");
    out.line("}");
}

/// Writes a call with these arguments, on one line if they fit.
pub(super) fn call(out: &mut Writer, what: &str, arguments: &[String]) {
    let line = format!("{what}({});", arguments.join(", "));
    if line.len() <= 108 {
        return out.line(line);
    }
    out.line(format!("{what}("));
    out.arguments(arguments, ");");
}

/// Whether the type is an array of objects. Such an array must not be shared, because an element
/// could be set to `null`.
fn holds_objects(ty: &Type) -> bool {
    matches!(ty, Type::Fixed(..)) && is_object(flat(ty).0)
}

/// Writes the constructor's checks of a record's components. So every record that exists can be
/// written to a frame.
fn checks<'a>(out: &mut Writer, name: &str, fields: &[String], types: impl Iterator<Item = &'a Type>) {
    let checked: Vec<(&String, &Type)> = fields.iter().zip(types).filter(|(_, ty)| is_object(ty)).collect();
    if checked.is_empty() {
        return;
    }
    out.line("/** Makes a value with these members. */");
    out.line(format!("public {name} {{"));
    for (field, ty) in checked {
        match flat(ty) {
            (element, count) if matches!(ty, Type::Fixed(..)) => {
                out.line(format!("Frames.checkLength({field}.length, {count});"));
                if !is_number(element) && is_object(element) {
                    out.line(format!("{field} = Frames.copy({field});"));
                }
            }
            _ => out.line(format!("Objects.requireNonNull({field}, \"{field}\");")),
        }
    }
    out.line("}");
    out.line("");
}
