//! Structures with pointers: laid out as in C, made by `new`, and read by methods.

use super::clashes;
use super::context::counted_by;
use super::expression::discriminant;
use super::form::{self, memory_for};
use super::lengths::{self, Length};
use super::members::{Named, size_of_array, with_local_names};
use super::names::{getter as getter_name, ident, object, text as text_type, type_name, value};
use super::{open, tables};
use crate::model::{Arith, EnumId, Extent, Field, Model, Object, PointerClass, Struct, StructId, Type, UnionId};
use crate::plan::shapes::Shapes;
use crate::plan::{Kinds, LeftOut, Uses, is_plain};
use crate::text::writer::Writer;

/// The name of the table of the file's types, by which owned data is freed.
const TYPES: &str = "TYPES__";

/// The form in which programs see a member.
enum Seen<'a> {
    /// A value without pointers.
    Plain,
    /// `&T` or `Option<&T>`. A full pointer can be set later.
    Pointer { to: String, class: PointerClass },
    /// A string.
    Text { wide: bool, class: PointerClass },
    /// An array whose length other members give.
    Array { element: String, size: &'a Arith, length: Option<&'a Arith>, class: PointerClass },
    /// An object.
    Object(&'a Object),
    /// A union. `tag` is the member that holds its discriminant, unless the union is encapsulated.
    Union { id: UnionId, tag: Option<usize> },
    /// A structure, or an array of fixed size.
    Inner(String),
}

fn seen<'a>(model: &Model, field: &'a Field) -> Seen<'a> {
    let to = |ty: &Type| memory_for(model, ty, "'a").unwrap_or_default();
    match &field.ty {
        ty if is_plain(model, ty) => Seen::Plain,
        Type::Pointer(pointer) => match (&pointer.extent, &pointer.to) {
            (Extent::Text, Type::Base(base)) => Seen::Text { wide: base.size() == 2, class: pointer.class },
            (Extent::Counted { size, length }, element) => {
                Seen::Array { element: to(element), size, length: length.as_ref(), class: pointer.class }
            }
            (_, target) => Seen::Pointer { to: to(target), class: pointer.class },
        },
        Type::Interface(what) => Seen::Object(what),
        Type::Union(id) => {
            Seen::Union { id: *id, tag: field.switch.as_ref().and_then(Arith::plain).map(|operand| operand.index) }
        }
        ty => Seen::Inner(to(ty)),
    }
}

/// Writes every structure and union with pointers, and the implementations for owned types.
pub(super) fn structures(out: &mut Writer, model: &Model, left_out: &LeftOut) {
    let is_here = |(at, _): &(usize, &Struct)| !left_out.has_type(&Type::Struct(StructId(*at)));
    for (at, found) in model.structs.iter().enumerate().skip(model.bundled.structs).filter(is_here) {
        clashes::begin(out, format!("type `{}`", found.name), (found.span, found.imported));
        if form::is_open(model, StructId(at)) {
            open::structure(out, model, found);
        }
        let ty = Type::Struct(StructId(at));
        if !is_plain(model, &ty) && form::structure(model, StructId(at)).is_ok() {
            structure(out, model, found);
        }
    }
    for id in (model.bundled.unions..model.unions.len()).map(UnionId) {
        if !left_out.has_type(&Type::Union(id)) && form::union(model, id).is_ok() {
            let found = &model.unions[id.0];
            clashes::begin(out, format!("type `{}`", found.name), (found.span, found.imported));
            super::unions::union(out, model, id);
        }
    }
    ownership(out, model, left_out);
}

/// Writes the implementations for owned types: structures and enumerations.
fn ownership(out: &mut Writer, model: &Model, left_out: &LeftOut) {
    let is_here = |id: &StructId| !left_out.has_type(&Type::Struct(*id));
    let is_ownable = |id: &StructId| form::structure(model, *id).is_ok() || form::is_open(model, *id);
    let is_there = |id: &StructId| {
        id.0 >= model.bundled.structs || id.0 < model.built_in.structs && is_plain(model, &Type::Struct(*id))
    };
    let structs = (0..model.structs.len()).map(StructId).filter(is_there).filter(is_here).filter(is_ownable);
    let types: Vec<Type> =
        structs.map(Type::Struct).chain((0..model.enums.len()).map(|at| Type::Enum(EnumId(at)))).collect();
    if types.is_empty() {
        return;
    }
    let mut kinds = Kinds::of(types.iter().cloned());
    for ty in &types {
        kinds.add(model, ty);
    }
    out.set_origin(None);
    tables::types(out, TYPES, &Shapes { model, kinds: &kinds.list }.element_types());
    for (number, ty) in types.iter().enumerate() {
        let name = value(model, ty);
        let borrows_nothing = is_plain(model, ty) || matches!(ty, Type::Struct(id) if form::is_open(model, *id));
        let (implementer, item) =
            if borrows_nothing { (name, "Self".to_owned()) } else { (format!("{name}<'_>"), format!("{name}<'a>")) };
        out.line("// SAFETY: the table was generated for this type.");
        out.line(format!("unsafe impl obvia::Graph for {implementer} {{"));
        out.line(format!("type Item<'a> = {item};"));
        out.line(format!("const TYPES: &'static [obvia::rt::shape::ElementType] = &{TYPES};"));
        out.line(format!("const ELEMENT: obvia::rt::shape::Element = obvia::rt::shape::Element::Own({number});"));
        out.line(format!("const CAN_CHANGE: bool = {};", model.has_full_pointers(ty)));
        out.line("}");
    }
    out.line("");
}

fn structure(out: &mut Writer, model: &Model, found: &Struct) {
    let name = type_name(&found.name);
    let (_, size, _) = model.offsets(found);
    out.line(format!("/// `struct {}`, which contains pointers.", found.name));
    out.line("#[repr(C)]");
    out.line("#[derive(Clone)]");
    out.line(format!("pub struct {name}<'a> {{"));
    for field in &found.fields {
        out.line(format!("{}: {},", ident(&field.name), stored(model, field)));
    }
    out.line("borrowed__: std::marker::PhantomData<&'a ()>,");
    out.line("}");
    out.line(format!("const _: () = assert!(size_of::<{name}<'static>>() == {size});"));
    out.line(format!("impl<'a> {name}<'a> {{"));
    let local = with_local_names(model, found);
    constructor(out, model, found, &local);
    for (at, (field, local)) in found.fields.iter().zip(&local.fields).enumerate() {
        getter(out, model, found, at);
        if let Seen::Pointer { class: PointerClass::Full, .. } = seen(model, field) {
            setter(out, model, field, local);
        }
    }
    out.line("}");
    debug(out, model, found);
    out.line("");
}

fn stored(model: &Model, field: &Field) -> String {
    match seen(model, field) {
        Seen::Plain => value(model, &field.ty),
        Seen::Pointer { to, class: PointerClass::Ref } => format!("&'a {to}"),
        Seen::Pointer { to, class: PointerClass::Unique } => format!("Option<&'a {to}>"),
        Seen::Pointer { to, class: PointerClass::Full } => format!("std::cell::Cell<Option<&'a {to}>>"),
        Seen::Text { wide, .. } => format!("obvia::{}<'a>", if wide { "Wide" } else { "Text" }),
        Seen::Array { element, .. } => format!("obvia::rt::Array<'a, {element}>"),
        Seen::Object(_) => "*mut obvia::rt::c_void".to_owned(),
        Seen::Union { id, tag } => {
            format!("{}{}<'a>", type_name(&model.unions[id.0].name), if tag.is_some() { "Raw" } else { "Memory" })
        }
        Seen::Inner(text) => text,
    }
}

/// Returns the type of a member, in the form that users pass and receive.
fn shown(model: &Model, field: &Field) -> String {
    let optional = |class: PointerClass, text: String| {
        if class == PointerClass::Ref { text } else { format!("Option<{text}>") }
    };
    match seen(model, field) {
        Seen::Plain => value(model, &field.ty),
        Seen::Pointer { to, class } => optional(class, format!("&'a {to}")),
        Seen::Text { wide, class } => {
            let base = if wide { crate::model::Base::WChar } else { crate::model::Base::Char };
            optional(class, format!("&'a {}", text_type(base)))
        }
        Seen::Array { element, class, .. } => optional(class, format!("&'a [{element}]")),
        Seen::Object(what) => format!("Option<&'a {}>", object(model, what)),
        Seen::Union { id, .. } => format!("{}<'a>", type_name(&model.unions[id.0].name)),
        Seen::Inner(text) => text,
    }
}

/// Whether a member only gives the lengths of arrays or the arm of a union, so that users do not
/// pass it.
fn elided(model: &Model, found: &Struct, at: usize) -> bool {
    if !matches!(&found.fields[at].ty, Type::Base(_) | Type::Enum(_)) || found.fields[at].range.is_some() {
        return false;
    }
    let is_number = matches!(&found.fields[at].ty, Type::Base(base) if base.is_number());
    let mut uses = Uses::of(at);
    for field in &found.fields {
        match seen(model, field) {
            Seen::Array { size, length, .. } => {
                uses.note(size, is_number);
                length.into_iter().for_each(|length| uses.note(length, false));
            }
            // A union whose discriminants have another type than the member does not give the
            // member's value.
            Seen::Union { id, tag: Some(tag) } if tag == at && model.unions[id.0].tag != found.fields[at].ty => {
                return false;
            }
            Seen::Union { tag: Some(tag), .. } if tag == at => uses.note_implied(),
            _ => {}
        }
    }
    uses.are_implied()
}

/// Returns the member that counts an array's elements, if users do not pass it.
fn counter(model: &Model, found: &Struct, size: &Arith) -> Option<usize> {
    size.plain().map(|operand| operand.index).filter(|at| elided(model, found, *at))
}

/// Writes the constructor. `found` has the names of the parameters.
fn constructor(out: &mut Writer, model: &Model, own: &Struct, found: &Struct) {
    let fields: Vec<(usize, &Field)> = found.fields.iter().enumerate().collect();
    let given = fields.iter().filter(|(at, _)| !elided(model, found, *at));
    let params: Vec<String> =
        given.map(|(_, field)| format!("{}: {}", ident(&field.name), shown(model, field))).collect();
    let fails = may_fail(model, found);
    let result = if fails { "obvia::Result<Self>" } else { "Self" };
    if fails {
        out.line("/// Fails if an array's number of elements does not fit the member that counts them, or is not the one that the");
        out.line("/// members imply; and if a discriminant selects another arm than the union has.");
    }
    out.line("#[allow(clippy::new_ret_no_self)]");
    out.line(format!("pub fn new({}) -> {result} {{", params.join(", ")));
    for (at, _) in fields.iter().filter(|(at, _)| elided(model, found, *at)) {
        implied(out, model, found, *at);
    }
    for (_, field) in &fields {
        if let Seen::Union { tag: Some(tag), .. } = seen(model, field)
            && !elided(model, found, tag)
        {
            check_arm(out, &ident(&field.name), &found.fields[tag]);
        }
        if let Seen::Array { size, class, .. } = seen(model, field)
            && counter(model, found, size).is_none()
        {
            let wanted = size_of_array(found, size, Named::Local);
            Length::of(&ident(&field.name), class != PointerClass::Ref).check(out, &wanted);
        }
        if let Seen::Array { length: Some(length), size, .. } = seen(model, field) {
            let (used, room) = (size_of_array(found, length, Named::Local), size_of_array(found, size, Named::Local));
            out.line(format!("obvia::rt::check_used({used}, {room})?;"));
        }
    }
    out.line(if fails { "Ok(Self {" } else { "Self {" });
    for (at, field) in &fields {
        let name = ident(&field.name);
        let text = if elided(model, found, *at) { name.clone() } else { from_shown(model, field) };
        let member = ident(&own.fields[*at].name);
        out.line(if text == member { format!("{member},") } else { format!("{member}: {text},") });
    }
    out.line("borrowed__: std::marker::PhantomData,");
    out.line(if fails { "})" } else { "}" });
    out.line("}");
}

/// Whether the constructor can fail. The reasons are arrays, unions whose arm may contradict the
/// discriminant, and discriminants that several members share.
fn may_fail(model: &Model, found: &Struct) -> bool {
    let mut tags = Vec::new();
    found.fields.iter().any(|field| match seen(model, field) {
        Seen::Array { .. } => true,
        Seen::Union { id, tag } => {
            let is_discriminant_repeated = tag.is_some_and(|tag| tags.contains(&tag) || !elided(model, found, tag));
            tags.extend(tag);
            is_discriminant_repeated || super::unions::has_ambiguous_discriminant(&model.unions[id.0])
        }
        _ => false,
    })
}

/// Writes a check that a union's arm matches the given discriminant.
fn check_arm(out: &mut Writer, union: &str, tag: &Field) {
    out.line(format!("if !{union}.fits({}) {{", discriminant(&tag.ty, &ident(&tag.name))));
    out.line("return Err(obvia::rt::wrong_arm());");
    out.line("}");
}

/// Writes a count or a discriminant that other members imply. The value comes from a union, or from
/// an array if no union implies it. Further unions and arrays are checked against the value.
fn implied(out: &mut Writer, model: &Model, found: &Struct, at: usize) {
    let own = &found.fields[at];
    let name = ident(&own.name);
    let (mut is_said, mut lengths) = (false, Vec::new());
    for field in &found.fields {
        let other = ident(&field.name);
        match seen(model, field) {
            Seen::Union { id, tag: Some(tag) } if tag == at => {
                if !is_said {
                    out.line(format!("let {name} = {other}.tag();"));
                }
                if is_said || super::unions::has_ambiguous_discriminant(&model.unions[id.0]) {
                    check_arm(out, &other, own);
                }
                is_said = true;
            }
            Seen::Array { size, class, .. } if counted_by(size, at) => {
                lengths.push(Length::of(&other, class != PointerClass::Ref));
            }
            _ => {}
        }
    }
    if is_said {
        lengths.iter().for_each(|length| length.check(out, &format!("obvia::rt::elements({name})")));
    } else {
        lengths::count(out, &format!("{name}: {}", value(model, &own.ty)), lengths);
    }
}

/// Returns the expression that converts a user's value to its stored form.
fn from_shown(model: &Model, field: &Field) -> String {
    let name = ident(&field.name);
    match seen(model, field) {
        Seen::Pointer { class: PointerClass::Full, .. } => format!("std::cell::Cell::new({name})"),
        Seen::Text { .. } => format!("{name}.into()"),
        Seen::Array { class: PointerClass::Ref, .. } => format!("obvia::rt::Array::new({name})"),
        Seen::Array { .. } => format!("obvia::rt::Array::optional({name})"),
        Seen::Object(_) => format!("obvia::rt::object_of({name})"),
        Seen::Union { tag: Some(_), .. } => format!("{name}.raw()"),
        Seen::Union { id, .. } if super::unions::has_ambiguous_discriminant(&model.unions[id.0]) => {
            format!("{name}.try_into()?")
        }
        Seen::Union { .. } => format!("{name}.into()"),
        _ => name,
    }
}

fn getter(out: &mut Writer, model: &Model, found: &Struct, at: usize) {
    let field = &found.fields[at];
    let name = ident(&field.name);
    let shown = shown(model, field);
    let seen = seen(model, field);
    let result = match &seen {
        Seen::Inner(text) => format!("&{text}"),
        // An object or a union is a part of the structure, so the borrow ends with the structure.
        Seen::Object(_) | Seen::Union { .. } => shown.replace("'a", "'_"),
        _ => shown,
    };
    if elided(model, found, at) && matches!(seen, Seen::Plain) {
        out.line("/// Follows from other members.");
    }
    out.line(format!("pub fn {}(&self) -> {result} {{", getter_name(&field.name)));
    match &seen {
        Seen::Plain => out.line(format!("self.{name}")),
        Seen::Pointer { class: PointerClass::Full, .. } => out.line(format!("self.{name}.get()")),
        Seen::Pointer { .. } => out.line(format!("self.{name}")),
        Seen::Text { class: PointerClass::Ref, .. } => out.line(format!("self.{name}.get().unwrap_or_default()")),
        Seen::Text { .. } => out.line(format!("self.{name}.get()")),
        Seen::Array { size, length, class, .. } => {
            let count = size_of_array(found, length.unwrap_or(size), Named::Member);
            out.line(format!("let count = {count}.unwrap_or(0);"));
            out.line(
                "// SAFETY: the other members give the number of elements: `new` and the check of frames ensure it.",
            );
            let rest = if *class == PointerClass::Ref { ".unwrap_or_default()" } else { "" };
            out.line(format!("unsafe {{ self.{name}.get(count) }}{rest}"));
        }
        Seen::Object(what) => {
            out.line(
                "// SAFETY: the pointer is null, or its object is alive: `new` and the check of frames ensure it.",
            );
            out.line(format!("unsafe {{ obvia::rt::object_at::<{}>(&self.{name}) }}", object(model, what)));
        }
        Seen::Union { tag: Some(tag), .. } => {
            let tag = &found.fields[*tag];
            let tag = discriminant(&tag.ty, &format!("self.{}", ident(&tag.name)));
            out.line("// SAFETY: the discriminant selects the arm: `new` and the check of frames ensure it.");
            out.line(format!("unsafe {{ self.{name}.get({tag}) }}"));
        }
        Seen::Union { .. } => out.line(format!("self.{name}.get()")),
        Seen::Inner(_) => out.line(format!("&self.{name}")),
    }
    out.line("}");
}

/// Writes the setter of a full pointer. `local` has the name of the parameter.
fn setter(out: &mut Writer, model: &Model, own: &Field, local: &Field) {
    let (member, given) = (ident(&own.name), ident(&local.name));
    out.line("/// Sets the pointer. Cycles are made in this way.");
    out.line(format!("pub fn set_{}(&self, {given}: {}) {{", own.name, shown(model, own)));
    out.line(format!("self.{member}.set({given});"));
    out.line("}");
}

/// Writes the `Debug` implementation. Full pointers are shown as addresses, because they may form
/// cycles.
fn debug(out: &mut Writer, model: &Model, found: &Struct) {
    let name = type_name(&found.name);
    out.line(format!("impl std::fmt::Debug for {name}<'_> {{"));
    out.line("fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {");
    let fields: String = found
        .fields
        .iter()
        .map(|field| {
            let getter = getter_name(&field.name);
            let shown = match seen(model, field) {
                Seen::Pointer { class: PointerClass::Full, .. } => format!("self.{getter}().map(std::ptr::from_ref)"),
                _ => format!("self.{getter}()"),
            };
            format!(".field({:?}, &{shown})", field.name)
        })
        .collect();
    out.line(format!("obvia::rt::nested(f, |f| f.debug_struct({:?}){fields}.finish())", found.name));
    out.line("}");
    out.line("}");
}
