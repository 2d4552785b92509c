//! Unions: an enumeration for users, and the form in memory.

use super::expression::discriminant;
use super::form::{self, memory_for, tag as tag_type};
use super::names::{ident, object, text as text_type, type_name, value};
use crate::model::{Extent, Field, Model, PointerClass, Type, Union, UnionId};
use crate::plan::is_plain;
use crate::text::writer::Writer;
use std::collections::HashSet;

/// An arm, as programs see it.
struct Variant<'a> {
    name: String,
    /// The discriminants. Empty for the default arm.
    cases: &'a [i64],
    field: Option<&'a Field>,
}

impl Variant<'_> {
    /// Whether the variant alone determines the discriminant.
    fn is_one_case(&self) -> bool {
        self.cases.len() == 1
    }
}

/// Converts `snake_case` to a variant's name.
fn camel(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    let camel: String = words.map(|word| word[..1].to_uppercase() + &word[1..]).collect();
    match camel.as_str() {
        "Self" => "Self_".to_owned(),
        text if text.starts_with(|first: char| first.is_ascii_alphabetic()) => camel,
        _ => format!("Arm{camel}"),
    }
}

fn variants(union: &Union) -> Vec<Variant<'_>> {
    let mut variants: Vec<Variant<'_>> = Vec::new();
    let mut names = HashSet::new();
    for arm in &union.arms {
        let name = match (&arm.field, arm.labels.first()) {
            (Some(field), _) => camel(&field.name),
            (None, Some(Some(label))) => camel(&label.to_lowercase()),
            (None, _) => format!("Nothing{}", arm.cases[0]).replace('-', "Minus"),
        };
        variants.push(Variant { name: unused(&mut names, name), cases: &arm.cases, field: arm.field.as_ref() });
    }
    if let Some(default) = &union.default {
        let name = default.as_ref().map_or_else(|| "Other".to_owned(), |field| camel(&field.name));
        variants.push(Variant { name: unused(&mut names, name), cases: &[], field: default.as_ref() });
    }
    variants
}

/// Returns a name that no other arm has. Otherwise, arms that are called `a_b` and `aB` would get
/// the same name.
fn unused(names: &mut HashSet<String>, mut name: String) -> String {
    while !names.insert(name.clone()) {
        name.push('_');
    }
    name
}

/// Returns the type of an arm in memory.
fn stored(model: &Model, field: &Field) -> String {
    memory_for(model, &field.ty, "'a").unwrap_or_default()
}

/// Returns the type of an arm, in the form that users pass and receive.
fn shown(model: &Model, field: &Field) -> String {
    match &field.ty {
        ty if is_plain(model, ty) => value(model, ty),
        Type::Pointer(pointer) if pointer.extent == Extent::Text => {
            let Type::Base(base) = pointer.to else { return stored(model, field) };
            let text = format!("&'a {}", text_type(base));
            if pointer.class == PointerClass::Ref { text } else { format!("Option<{text}>") }
        }
        Type::Interface(what) => format!("Option<&'a {}>", object(model, what)),
        Type::Pointer(_) => stored(model, field),
        _ => format!("&'a {}", stored(model, field)),
    }
}

pub(super) fn union(out: &mut Writer, model: &Model, id: UnionId) {
    let found = &model.unions[id.0];
    let name = type_name(&found.name);
    let variants = variants(found);
    out.line(format!("/// `union {}`", found.name));
    out.line("#[derive(Clone, Copy, Debug)]");
    out.line(format!("pub enum {name}<'a> {{"));
    let tag = tag_type(model, &found.tag);
    for variant in &variants {
        let mut parts = Vec::new();
        if !variant.is_one_case() {
            out.line("/// The first value is the discriminant.");
            parts.push(tag.clone());
        }
        parts.extend(variant.field.map(|field| shown(model, field)));
        let parts = if parts.is_empty() { String::new() } else { format!("({})", parts.join(", ")) };
        out.line(format!("{}{parts},", variant.name));
    }
    out.line("#[doc(hidden)]");
    out.line("Borrowed__(std::convert::Infallible, std::marker::PhantomData<&'a ()>),");
    out.line("}");
    raw(out, model, found, &variants);
    methods(out, model, found, &variants);
    if found.encapsulated.is_some() {
        with_tag(out, model, found);
    }
    out.line("");
}

/// Writes the union in C's layout.
fn raw(out: &mut Writer, model: &Model, found: &Union, variants: &[Variant<'_>]) {
    let name = type_name(&found.name);
    out.line("#[doc(hidden)]");
    out.line("#[repr(C)]");
    out.line(format!("pub union {name}Raw<'a> {{"));
    for variant in variants {
        if let Some(field) = variant.field {
            out.line(format!("{}: std::mem::ManuallyDrop<{}>,", ident(&field.name), copied(model, field)));
        }
    }
    out.line("nothing__: std::marker::PhantomData<&'a ()>,");
    out.line("}");
    let (size, _) = model.union_body(found);
    out.line(format!("const _: () = assert!(size_of::<{name}Raw<'static>>() == {size});"));
    out.line(format!("impl Clone for {name}Raw<'_> {{"));
    out.line("fn clone(&self) -> Self {");
    out.line("// SAFETY: no member owns anything, so a copy of the bytes is a valid value.");
    out.line("unsafe { std::ptr::read(self) }");
    out.line("}");
    out.line("}");
}

/// Returns the type of an arm in memory, in a form that can be copied.
fn copied(model: &Model, field: &Field) -> String {
    match &field.ty {
        Type::Interface(_) => "*mut obvia::rt::c_void".to_owned(),
        _ => stored(model, field),
    }
}

fn methods(out: &mut Writer, model: &Model, found: &Union, variants: &[Variant<'_>]) {
    let (name, tag) = (type_name(&found.name), tag_type(model, &found.tag));
    let is_enum = matches!(found.tag, Type::Enum(_));
    let number = |case: i64| {
        if is_enum {
            format!("{tag}({case})")
        } else if tag == "bool" {
            (case != 0).to_string()
        } else {
            format!("{case}")
        }
    };
    out.line(format!("impl<'a> {name}<'a> {{"));
    out.line("/// The discriminant.");
    out.line(format!("pub fn tag(&self) -> {tag} {{"));
    out.line("match self {");
    for variant in variants {
        let pattern = pattern(variant, "tag", "_");
        let text = if variant.is_one_case() { number(variant.cases[0]) } else { "*tag".to_owned() };
        out.line(format!("Self::{pattern} => {text},"));
    }
    out.line("Self::Borrowed__(never, _) => match *never {},");
    out.line("}");
    out.line("}");
    fits(out, found, variants);
    out.line(format!("fn raw(self) -> {name}Raw<'a> {{"));
    out.line("match self {");
    for variant in variants {
        let pattern = pattern(variant, "_", "value");
        let text = variant.field.map_or_else(
            || format!("{name}Raw {{ nothing__: std::marker::PhantomData }}"),
            |field| {
                format!(
                    "{name}Raw {{ {}: std::mem::ManuallyDrop::new({}) }}",
                    ident(&field.name),
                    to_stored(model, field)
                )
            },
        );
        out.line(format!("Self::{pattern} => {text},"));
    }
    out.line("Self::Borrowed__(never, _) => match never {},");
    out.line("}");
    out.line("}");
    out.line("}");
    reader(out, model, found, variants);
}

/// Whether a value of the enumeration may hold a discriminant that does not match its arm.
pub(super) fn has_ambiguous_discriminant(union: &Union) -> bool {
    union.default.is_some() || union.arms.iter().any(|arm| arm.cases.len() != 1)
}

/// Writes the method that tells whether a discriminant selects a value's arm.
fn fits(out: &mut Writer, found: &Union, variants: &[Variant<'_>]) {
    let known: Vec<String> = variants.iter().flat_map(|variant| variant.cases).map(i64::to_string).collect();
    let own = discriminant(&found.tag, "(*own)");
    out.line("/// Whether the discriminant selects this arm, and the arm's own discriminant is the same.");
    out.line("fn fits(&self, tag: i64) -> bool {");
    out.line("match self {");
    for variant in variants {
        let pattern = pattern(variant, "own", "_");
        let cases: Vec<String> = variant.cases.iter().map(i64::to_string).collect();
        let text = match (&cases[..], variant.is_one_case()) {
            ([one], true) => format!("tag == {one}"),
            ([], _) if known.is_empty() => format!("{own} == tag"),
            ([], _) => format!("{own} == tag && !matches!(tag, {})", known.join(" | ")),
            (cases, _) => format!("{own} == tag && matches!(tag, {})", cases.join(" | ")),
        };
        out.line(format!("Self::{pattern} => {text},"));
    }
    out.line("Self::Borrowed__(never, _) => match *never {},");
    out.line("}");
    out.line("}");
}

/// Returns the reference by which the C union is read. The value of a union without pointers does
/// not borrow the union.
fn borrow(model: &Model, found: &Union) -> &'static str {
    if form::is_plain_union(model, found) { "&" } else { "&'s " }
}

/// Writes the conversion of the C union to the enumeration.
fn reader(out: &mut Writer, model: &Model, found: &Union, variants: &[Variant<'_>]) {
    let (name, tag) = (type_name(&found.name), tag_type(model, &found.tag));
    out.line(format!("impl<'a> {name}Raw<'a> {{"));
    out.line("/// # Safety");
    out.line("///");
    out.line("/// The discriminant must select the arm, and the data that the arm points to must live for `'a`.");
    let borrow = borrow(model, found);
    out.line(format!("unsafe fn get<'s>({borrow}self, tag: i64) -> {name}<'s> {{"));
    out.line("match tag {");
    for variant in variants {
        let cases: Vec<String> = variant.cases.iter().map(i64::to_string).collect();
        let cases = if cases.is_empty() { "_".to_owned() } else { cases.join(" | ") };
        let mut parts = Vec::new();
        if !variant.is_one_case() {
            parts.push(match tag.as_str() {
                "bool" => "tag != 0".to_owned(),
                _ if matches!(found.tag, Type::Enum(_)) => format!("{tag}(tag as i32)"),
                _ => format!("tag as {tag}"),
            });
        }
        let value = variant.field.map(|field| from_stored(model, field));
        // Parentheses around a whole argument are redundant.
        parts.extend(value.map(|value| match value.strip_prefix('(').and_then(|value| value.strip_suffix(')')) {
            Some(inner) if !value.contains(").") => inner.to_owned(),
            _ => value,
        }));
        let parts = if parts.is_empty() { String::new() } else { format!("({})", parts.join(", ")) };
        out.line(format!("{cases} => {name}::{}{parts},", variant.name));
    }
    if !variants.iter().any(|variant| variant.cases.is_empty()) {
        out.line("_ => unreachable!(\"the discriminant was checked\"),");
    }
    out.line("}");
    out.line("}");
    out.line("}");
}

fn pattern(variant: &Variant<'_>, tag: &str, value: &str) -> String {
    let mut parts = Vec::new();
    if !variant.is_one_case() {
        parts.push(tag);
    }
    if variant.field.is_some() {
        parts.push(value);
    }
    if parts.is_empty() { variant.name.clone() } else { format!("{}({})", variant.name, parts.join(", ")) }
}

/// Returns the expression that converts a user's value to its form in memory.
fn to_stored(model: &Model, field: &Field) -> String {
    match &field.ty {
        ty if is_plain(model, ty) => "value".to_owned(),
        Type::Pointer(pointer) if pointer.extent == Extent::Text => "value.into()".to_owned(),
        Type::Interface(_) => "obvia::rt::object_of(value)".to_owned(),
        Type::Pointer(_) => "value".to_owned(),
        // `value.clone()` would call the getter of a member that is called `clone`.
        _ => "Clone::clone(value)".to_owned(),
    }
}

/// Returns the expression that converts the form in memory to the user's value.
fn from_stored(model: &Model, field: &Field) -> String {
    let name = ident(&field.name);
    let read = format!("(&**unsafe {{ &self.{name} }})");
    match &field.ty {
        ty if is_plain(model, ty) => format!("*{read}"),
        Type::Pointer(pointer) if pointer.extent == Extent::Text => {
            let rest = if pointer.class == PointerClass::Ref { ".unwrap_or_default()" } else { "" };
            format!("{read}.get(){rest}")
        }
        Type::Interface(what) => {
            format!("unsafe {{ obvia::rt::object_at::<{}>({read}) }}", object(model, what))
        }
        Type::Pointer(_) => format!("*{read}"),
        _ => read,
    }
}

/// Writes an encapsulated union: a structure of the discriminant and the union.
fn with_tag(out: &mut Writer, model: &Model, found: &Union) {
    let (name, tag) = (type_name(&found.name), tag_type(model, &found.tag));
    let stored_tag = if tag == "bool" { "u8".to_owned() } else { tag.clone() };
    out.line(format!("/// The layout of a [`{name}`] in memory."));
    out.line("#[repr(C)]");
    out.line("#[derive(Clone)]");
    out.line(format!("pub struct {name}Memory<'a> {{"));
    out.line(format!("tag: {stored_tag},"));
    out.line(format!("body: {name}Raw<'a>,"));
    out.line("}");
    out.line(format!("impl<'a> {name}Memory<'a> {{"));
    out.line(format!("/// Returns the [`{name}`]."));
    out.line(format!("pub fn get<'s>({}self) -> {name}<'s> {{", borrow(model, found)));
    out.line("// SAFETY: the discriminant selects the arm: the conversion and the check of frames ensure it.");
    out.line(format!("unsafe {{ self.body.get({}) }}", discriminant(&found.tag, "self.tag")));
    out.line("}");
    out.line("}");
    let write = if tag == "bool" { "u8::from(tag)" } else { "tag" };
    let make = format!("Self {{ tag: {write}, body: union.raw() }}");
    if has_ambiguous_discriminant(found) {
        out.line(format!("impl<'a> TryFrom<{name}<'a>> for {name}Memory<'a> {{"));
        out.line("type Error = obvia::Error;");
        out.line("/// Fails with E_INVALIDARG if the discriminant selects another arm.");
        out.line(format!("fn try_from(union: {name}<'a>) -> obvia::Result<Self> {{"));
        out.line("let tag = union.tag();");
        out.line(format!(
            "if union.fits({}) {{ Ok({make}) }} else {{ Err(obvia::rt::wrong_arm()) }}",
            discriminant(&found.tag, "tag")
        ));
    } else {
        out.line(format!("impl<'a> From<{name}<'a>> for {name}Memory<'a> {{"));
        out.line(format!("fn from(union: {name}<'a>) -> Self {{"));
        out.line("let tag = union.tag();");
        out.line(make);
    }
    out.line("}");
    out.line("}");
    out.line(format!("impl std::fmt::Debug for {name}Memory<'_> {{"));
    out.line("fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {");
    out.line("obvia::rt::nested(f, |f| self.get().fmt(f))");
    out.line("}");
    out.line("}");
}
