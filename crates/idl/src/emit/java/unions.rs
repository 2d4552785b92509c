//! Unions: a sealed interface with a record for each arm. Views of a union are such records too.

use super::Context;
use super::arithmetic::{is_one_of, is_wide, loaded_tag, tag_number};
use super::doc::{Doc, of_value};
use super::fields::value_checks;
use super::members::{self, NO_IID, is_optional, shown};
use super::names::{members_of, pascal};
use super::types::call;
use super::values::java;
use crate::model::{Base, Field, Model, Type, Union, UnionId, round_up};
use crate::text::writer::Writer;

/// An arm of a union.
struct Arm<'a> {
    /// The discriminants that select the arm. Empty for the default arm.
    cases: &'a [i64],
    field: Option<&'a Field>,
    /// The record's name, qualified by the union's name.
    name: String,
    /// Whether the record holds the discriminant. The record of an arm with exactly one
    /// discriminant does not.
    has_which: bool,
    member: String,
}

impl Arm<'_> {
    /// Returns the labels of a `switch`.
    fn labels(&self, union: &Union) -> String {
        if self.cases.is_empty() { "default".to_owned() } else { format!("case {}", numbers(union, self.cases)) }
    }

    fn record(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }
}

/// A function that returns the arguments for an arm's record.
type Made<'a> = &'a dyn Fn(&Arm<'_>) -> Vec<String>;

/// Returns the offset of the union's arms, which follow the discriminant.
fn body(model: &Model, union: &Union) -> u32 {
    round_up(model.layout(&union.tag).0, model.union_body(union).1)
}

fn numbers(union: &Union, cases: &[i64]) -> String {
    let is_unsigned = matches!(union.tag, Type::Base(Base::U32));
    let text = |case: &i64| if is_unsigned { (*case as u32 as i32).to_string() } else { case.to_string() };
    cases.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn arms<'a>(context: &Context<'a>, id: UnionId, class: &str) -> Vec<Arm<'a>> {
    let union = &context.model.unions[id.0];
    let mut all: Vec<(&[i64], Option<&Field>, String)> = Vec::new();
    for arm in &union.arms {
        let label = || match &arm.labels[..] {
            [Some(label), ..] => pascal(label),
            _ => format!("Case{}", arm.cases[0]).replace('-', "Minus"),
        };
        let name = arm.field.as_ref().map_or_else(label, |field| pascal(&field.name));
        all.push((&arm.cases, arm.field.as_ref(), name));
    }
    if let Some(field) = &union.default {
        let name = field.as_ref().map_or_else(|| "Default".to_owned(), |field| pascal(&field.name));
        all.push((&[], field.as_ref(), name));
    }
    let names = context.types.within_union(id, all.iter().map(|(.., name)| name.clone()));
    let arm = |((cases, field, _), name): ((&'a [i64], Option<&'a Field>, String), String)| {
        let member = field.map_or("", |field| field.name.as_str());
        let member = members_of(["which", member].into_iter()).remove(1);
        Arm { cases, field, name: format!("{class}.{name}"), has_which: cases.len() != 1, member }
    };
    all.into_iter().zip(names).map(arm).collect()
}

/// Returns the names of the records of a union's arms, qualified by the union's name.
pub(super) fn records(context: &Context<'_>, id: UnionId) -> Vec<String> {
    let class = context.types.class(&Type::Union(id));
    arms(context, id, class).into_iter().map(|arm| arm.name).collect()
}

/// Returns the expression that converts a number to the Java type of a discriminant.
fn discriminant(context: &Context<'_>, tag: &Type, text: &str) -> String {
    match (tag, java(context, tag).as_str()) {
        (Type::Enum(_), class) => format!("{class}.of({text})"),
        (_, "boolean") => format!("{text} != 0"),
        (_, "long") if text.parse::<i64>().is_ok() => format!("{text}L"),
        (_, class @ ("byte" | "short" | "char")) => format!("({class}) {text}"),
        _ => text.to_owned(),
    }
}

/// Writes the interface of a union, with its records.
pub(super) fn union(out: &mut Writer, context: &Context<'_>, id: UnionId) {
    let union = &context.model.unions[id.0];
    let class = context.types.class(&Type::Union(id));
    let tag = java(context, &union.tag);
    Doc::new(&format!("{{@code union {}}}: a value of one of its arms.", union.name)).write(out);
    out.line(format!("public sealed interface {class} {{"));
    out.line("/** Returns the discriminant, which selects the arm. */");
    out.line(format!("{tag} which();"));
    out.line("");
    let arms = arms(context, id, class);
    for arm in &arms {
        record(out, context, (union, class), (arm, &arms), &tag);
    }
    out.line("}");
}

fn record(
    out: &mut Writer,
    context: &Context<'_>,
    (union, class): (&Union, &str),
    (arm, arms): (&Arm<'_>, &[Arm<'_>]),
    tag: &str,
) {
    let name = arm.record();
    let what = if arm.cases.is_empty() { "every other discriminant".to_owned() } else { numbers(union, arm.cases) };
    let mut doc = Doc::new(&format!("The arm for {what}."));
    let mut given = Vec::new();
    if arm.has_which {
        doc.parameter("which", "the discriminant");
        given.push(format!("{tag} which"));
    }
    if let Some(field) = arm.field {
        let more = if is_optional(context.model, &field.ty) {
            Some("may be {@code null}".to_owned())
        } else {
            of_value(&field.ty)
        };
        if let Some(more) = more {
            doc.parameter(&arm.member, &more);
        }
        given.push(format!("{} {}", shown(context, &field.ty), arm.member));
    }
    doc.write(out);
    out.line(format!("record {name}({}) implements {class} {{", given.join(", ")));
    let mut checks = Writer::default();
    if let Some(field) = arm.field {
        value_checks(&mut checks, context, field, &arm.member);
    }
    if arm.has_which {
        which_check(&mut checks, union, arm, arms);
    }
    let checks = checks.finish();
    if !checks.is_empty() {
        out.line("/** Makes a value with these members. */");
        out.line(format!("public {name} {{"));
        checks.lines().for_each(|line| out.line(line.trim_start()));
        out.line("}");
        out.line("");
    }
    if let ([one], false) = (arm.cases, arm.has_which) {
        out.line("@Override");
        out.line(format!("public {tag} which() {{"));
        let value = discriminant(context, &union.tag, &numbers(union, &[*one]));
        out.line(format!("return {value};"));
        out.line("}");
    }
    out.line("}");
    out.line("");
}

/// Writes the check that the discriminant in an arm's record selects this arm.
fn which_check(out: &mut Writer, union: &Union, arm: &Arm<'_>, arms: &[Arm<'_>]) {
    let others: Vec<i64> = arms.iter().flat_map(|arm| arm.cases).copied().collect();
    if is_wide(&union.tag) {
        let is_default = arm.cases.is_empty();
        let mut bad = is_one_of("which", if is_default { &others } else { arm.cases }, is_default);
        if is_default && matches!(union.tag, Type::Base(Base::U64)) {
            bad = ["which < 0", &bad].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" || ");
        }
        if !bad.is_empty() {
            out.line(format!("if ({bad}) {{"));
            out.line("throw Frames.badCase(which);");
            out.line("}");
        }
        return;
    }
    let which = tag_number(&union.tag, "which");
    if arm.cases.is_empty() && !others.is_empty() {
        out.line(format!("switch ({which}) {{"));
        out.line(format!("case {} -> throw Frames.badCase({which});", numbers(union, &others)));
        out.line("default -> {}");
        out.line("}");
    } else if !arm.cases.is_empty() {
        out.line(format!("switch ({which}) {{"));
        out.line(format!("case {} -> {{}}", numbers(union, arm.cases)));
        out.line(format!("default -> throw Frames.badCase({which});"));
        out.line("}");
    }
}

/// Writes the methods that write the union's arms to frames, and that read the arms from frames.
/// They belong to the class that marshals the union.
pub(super) fn in_frames(out: &mut Writer, context: &Context<'_>, id: UnionId) {
    let union = &context.model.unions[id.0];
    let class = context.types.class(&Type::Union(id));
    let arms = arms(context, id, class);
    out.line("/** Writes the arm. */");
    out.line(format!("static void put(GraphWriter out, {class} value, int at) {{"));
    out.line("switch (value) {");
    for arm in &arms {
        match arm.field {
            Some(field) => {
                out.line(format!("case {} of -> {{", arm.name));
                let value = format!("of.{}()", arm.member);
                members::write(out, context, &field.ty, ("out", "at"), &value, NO_IID);
                out.line("}");
            }
            None => out.line(format!("case {} none -> {{}}", arm.name)),
        }
    }
    out.line("}");
    out.line("}");
    out.line("");
    type Read = fn(&Context<'_>, &Type, &str) -> String;
    let reads: [(&str, &str, &str, Read); 2] = [
        (
            "Returns the arm in a frame that was checked, readable until its call returns.",
            "view",
            "Frame frame",
            |context, ty, at| members::view(context, ty, at),
        ),
        (
            "Returns a copy of the arm, which is independent of the frame.",
            "build",
            "GraphReader in",
            |context, ty, at| members::built(context, ty, "in", at),
        ),
    ];
    for (doc, name, from, read) in reads {
        out.line(format!("/** {doc} */"));
        let is_long = is_wide(&union.tag);
        let which = if is_long { "long" } else { "int" };
        out.line(format!("static {class} {name}({from}, int at, {which} which) {{"));
        let made = |arm: &Arm<'_>| {
            let which = arm.has_which.then(|| discriminant(context, &union.tag, "which"));
            let value = arm.field.map(|field| read(context, &field.ty, "at"));
            which.into_iter().chain(value).collect()
        };
        if is_long {
            wide_reads(out, &arms, &made)
        } else {
            narrow_reads(out, union, &arms, &made)
        }
        out.line("}");
        out.line("");
    }
}

/// Writes the creation of the arm that the discriminant selects.
fn narrow_reads(out: &mut Writer, union: &Union, arms: &[Arm<'_>], made: Made<'_>) {
    out.line("return switch (which) {");
    for arm in arms {
        call(out, &format!("{} -> new {}", arm.labels(union), arm.name), &made(arm));
    }
    if union.default.is_none() {
        out.line("default -> throw Frames.badCase(which);");
    }
    out.line("};");
}

/// Writes the creation of the arm that a `long` selects.
fn wide_reads(out: &mut Writer, arms: &[Arm<'_>], made: Made<'_>) {
    for arm in arms.iter().filter(|arm| !arm.cases.is_empty()) {
        out.line(format!("if ({}) {{", is_one_of("which", arm.cases, true)));
        call(out, &format!("return new {}", arm.name), &made(arm));
        out.line("}");
    }
    match arms.iter().find(|arm| arm.cases.is_empty()) {
        Some(arm) => call(out, &format!("return new {}", arm.name), &made(arm)),
        None => out.line("throw Frames.badCase(which);"),
    }
}

/// Writes the methods that the runtime needs of an encapsulated union.
pub(super) fn methods(out: &mut Writer, context: &Context<'_>, id: UnionId) {
    let (model, union) = (context.model, &context.model.unions[id.0]);
    let class = context.types.class(&Type::Union(id));
    let at = members::place("at", body(model, union));
    out.line("@Override");
    out.line("protected void write(GraphWriter out, Object value, int at) {");
    out.line(format!("{class} of = ({class}) value;"));
    members::write(out, context, &union.tag, ("out", "at"), "of.which()", NO_IID);
    out.line(format!("put(out, of, {at});"));
    out.line("}");
    out.line("");
    for (name, from, reader) in [("view", "Frame frame", "frame"), ("build", "GraphReader in", "in")] {
        out.line("@Override");
        out.line(format!("protected {class} {name}({from}, int at) {{"));
        let which = loaded_tag(&union.tag, reader, "at");
        out.line(format!("return {name}({reader}, {at}, {which});"));
        out.line("}");
        out.line("");
    }
}
