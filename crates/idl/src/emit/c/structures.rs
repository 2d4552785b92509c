//! Functions that free and copy structures with everything that they lead to.

use super::names::type_ident;
use super::suffix::{CLEAR, COPY, FREE};
use super::types::is_opaque;
use super::{limits, words};
use crate::model::{Field, Model, StructId, Type, UnionId, Unsupported};
use crate::plan::{Kinds, Numbers};
use crate::text::source::Span;
use crate::text::writer::Writer;
use obvia_ndr::flat::KIND_FIRST;

/// The name of the table of the types of a file's structures.
const TABLE: &str = "obvia_structures";

/// A structure of the file that leads to other memory or to objects.
struct Structure {
    name: String,
    ty: Type,
    /// Whether the structure ends in a conformant array, so that it cannot be an element of an
    /// array.
    is_open: bool,
}

/// Whether values of a type contain pointers.
fn has_pointers(model: &Model, ty: &Type) -> bool {
    let any = |fields: Vec<&Field>| fields.iter().any(|field| has_pointers(model, &field.ty));
    match ty {
        Type::Pointer(_) | Type::Interface(_) => true,
        Type::Fixed(element, _) => has_pointers(model, element),
        Type::Struct(StructId(id)) => {
            let found = &model.structs[*id];
            any(found.fields.iter().collect())
                || found.conformant.iter().any(|(element, ..)| has_pointers(model, element))
        }
        Type::Union(UnionId(id)) => {
            let found = &model.unions[*id];
            let arms = found.arms.iter().filter_map(|arm| arm.field.as_ref());
            any(arms.chain(found.default.iter().flatten()).collect())
        }
        Type::Base(_) | Type::Enum(_) | Type::Void => false,
    }
}

fn structures(model: &Model) -> Vec<Structure> {
    let mut found = Vec::new();
    for (at, one) in model.structs.iter().enumerate().filter(|(_, one)| !one.imported) {
        let (name, is_open) = (type_ident(&one.name), one.conformant.is_some());
        found.push(Structure { name, ty: Type::Struct(StructId(at)), is_open });
    }
    let has_tag = |union: &crate::model::Union| !union.imported && union.encapsulated.is_some();
    for (at, one) in model.unions.iter().enumerate().filter(|(_, one)| has_tag(one)) {
        found.push(Structure { name: type_ident(&one.name), ty: Type::Union(UnionId(at)), is_open: false });
    }
    found.retain(|one| is_owned(model, &one.ty));
    found
}

/// Whether generated code has functions that free and copy values of a structure or an encapsulated
/// union. There are such functions if the type contains pointers and tables can describe the type.
pub(super) fn is_owned(model: &Model, ty: &Type) -> bool {
    has_pointers(model, ty)
        && limits::is_possible(model, ty)
        && !is_opaque(model, ty)
        && model.unsupported.get(ty) != Some(&Unsupported::AUTOMATION)
}

/// Returns all functions that free and copy structures: for each function its name, the name and
/// the place of its structure, and whether an imported file declares the structure.
pub(super) fn made<'m>(model: &'m Model) -> Vec<(String, &'m str, Span, bool)> {
    let structs = model.structs.iter().enumerate().skip(model.bundled.structs);
    let structs = structs.map(|(at, one)| (Type::Struct(StructId(at)), &one.name, one.span, one.imported));
    let unions = model.unions.iter().enumerate().skip(model.bundled.unions);
    let unions = unions.filter(|(_, one)| one.encapsulated.is_some());
    let unions = unions.map(|(at, one)| (Type::Union(UnionId(at)), &one.name, one.span, one.imported));
    let owned = structs.chain(unions).filter(|(ty, ..)| is_owned(model, ty));
    let of = |(ty, name, span, imported): (Type, &'m String, Span, bool)| {
        let is_open = matches!(ty, Type::Struct(StructId(id)) if model.structs[id].conformant.is_some());
        let endings = if is_open { &[FREE, COPY][..] } else { &[FREE, CLEAR, COPY] };
        endings.iter().map(move |ending| (format!("{}{ending}", type_ident(name)), name.as_str(), span, imported))
    };
    owned.flat_map(of).collect()
}

/// Whether the file has structures with functions that free and copy them.
pub(super) fn has_structures(model: &Model) -> bool {
    !structures(model).is_empty()
}

/// Declares the functions that free and copy structures.
pub(super) fn declare(out: &mut Writer, model: &Model) {
    let all = structures(model);
    if all.is_empty() {
        return;
    }
    out.line("/* Functions for structures that contain pointers, with all data that they lead to: _free() frees structures that a method");
    out.line(" * returned, which are one allocation; _clear() frees the data of structures whose own memory is elsewhere, and");
    out.line(" * zeroes them; _copy() allocates a copy, as a method returns it. NULL stands for no structure. */");
    for one in &all {
        for (head, _) in functions(one) {
            out.line(format!("{head};"));
        }
    }
    out.unindented("#ifdef __cplusplus");
    out.line("extern \"C++\" {");
    for one in &all {
        specialisation(out, one);
    }
    out.line("}");
    out.unindented("#endif");
    out.line("");
}

/// Writes the template specialization by which C++ code finds the functions.
fn specialisation(out: &mut Writer, one: &Structure) {
    let name = &one.name;
    let (count, given) = if one.is_open { ("", "") } else { (" count", ", count") };
    out.line(format!("template <> struct obvia_structure_of<{name}> {{"));
    // If the type has the same name as one of these functions, the function hides the type here.
    let ty = format!("::{name}");
    out.line(format!("static void free({ty} *first, size_t{count}) noexcept {{ {name}{FREE}(first{given}); }}"));
    if !one.is_open {
        out.line(format!("static void clear({ty} *first, size_t count) noexcept {{ {name}{CLEAR}(first, count); }}"));
    }
    out.line(format!("static HRESULT copy(const {ty} *first, size_t{count}, {ty} **copy) noexcept"));
    out.line("{");
    out.line(format!("return {name}{COPY}(first{given}, copy);"));
    out.line("}");
    out.line("};");
}

/// Returns the functions of a structure. Each has a head, and a body with a single statement, which
/// calls the library. The statement is split into the parts before and after the arguments that
/// name the structure's type.
fn functions(one: &Structure) -> Vec<(String, [&'static str; 2])> {
    let name = &one.name;
    if one.is_open {
        return vec![
            (format!("void {name}{FREE}({name} *one)"), ["obvia_free_elements(", "one, 1)"]),
            (
                format!("HRESULT {name}{COPY}(const {name} *one, {name} **copy)"),
                ["return obvia_copy_elements(", "one, 1, (void **)copy)"],
            ),
        ];
    }
    vec![
        (format!("void {name}{FREE}({name} *first, size_t count)"), ["obvia_free_elements(", "first, count)"]),
        (
            format!("void {name}{CLEAR}({name} *first, size_t count)"),
            ["obvia_clear_elements(", "first, count, count * sizeof *first)"],
        ),
        (
            format!("HRESULT {name}{COPY}(const {name} *first, size_t count, {name} **copy)"),
            ["return obvia_copy_elements(", "first, count, (void **)copy)"],
        ),
    ]
}

/// Writes the functions that free and copy structures.
pub(super) fn define(out: &mut Writer, model: &Model) {
    let all = structures(model);
    if all.is_empty() {
        return;
    }
    let mut kinds = Kinds::default();
    for one in &all {
        kinds.push(one.ty.clone());
        kinds.add(model, &one.ty);
    }
    words::types(out, model, &kinds.list, TABLE);
    let numbers = Numbers::of(&kinds.list);
    for one in &all {
        let kind = KIND_FIRST as usize + numbers.at(&one.ty);
        for (head, [call, rest]) in functions(one) {
            out.line(head);
            out.line("{");
            out.line(format!("{call}&{TABLE}, {kind}, {rest};"));
            out.line("}");
            out.line("");
        }
    }
}
