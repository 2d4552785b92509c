//! Structures with pointers: an interface, the record that programs make, and the view of data in a
//! frame.

use super::arithmetic::which;
use super::check::Check;
use super::doc::{Doc, of_value};
use super::fields::{Members, value_checks};
use super::members::{self, NO_IID, Seen, is_full, is_optional, is_shared, place, seen, shown};
use super::types::call;
use super::values::java;
use super::{Context, lists, unions};
use crate::model::{Arith, Base, Field, Operand, StructId, Type};
use crate::plan::Kinds;
use crate::plan::shapes::Shapes;
use crate::text::writer::Writer;

/// Writes the interface of a structure with pointers.
pub(super) fn structure(out: &mut Writer, context: &Context<'_>, id: StructId) {
    let members = Members::new(context, id);
    let name = members.name;
    Doc::new(&format!(
        "{{@code struct {}}}: a {{@link Rec}} that a program makes, or a {{@link View}} of a call's data.",
        members.found.name
    ))
    .write(out);
    out.line(format!("public sealed interface {name} permits {name}.Rec, {name}.View {{"));
    for (_, field, member) in members.seen() {
        Doc::new(&said(context, field)).write(out);
        out.line(format!("{} {member}();", shown(context, &field.ty)));
        out.line("");
    }
    let given: Vec<String> =
        members.seen().map(|(_, field, name)| format!("{} {name}", shown(context, &field.ty))).collect();
    out.line("/** Makes a value with these members. */");
    out.line(format!("static Rec of({}) {{", given.join(", ")));
    call(out, "return new Rec", &members.seen().map(|(_, _, name)| name.to_owned()).collect::<Vec<_>>());
    out.line("}");
    out.line("");
    out.line(
        "/** Returns a copy of this value and of all that it points to. The copy stays readable after the call. */",
    );
    out.line(format!("default {name} copy() {{"));
    out.line(format!("return Graphs.copy({name}Type.TYPE, this);"));
    out.line("}");
    out.line("");
    out.line("/** Keeps this value readable and unchanged after the call, until the result is closed. */");
    out.line(format!("default Retained<{name}> retain() {{"));
    out.line("return Graphs.retain(this);");
    out.line("}");
    out.line("");
    if is_shared(context.model, &Type::Struct(id)) {
        class(out, &members, &given);
    } else {
        record(out, &members, &given);
    }
    view(out, &members);
    out.line("}");
}

fn said(context: &Context<'_>, field: &Field) -> String {
    let mut said = format!("{{@code {}}}", field.name);
    let more = match seen(context.model, &field.ty) {
        Ok(Seen::Plain) => of_value(&field.ty),
        _ if is_optional(context.model, &field.ty) => Some("may be {@code null}".to_owned()),
        _ => None,
    };
    if let Some(more) = more {
        said += &format!(": {more}");
    }
    if let Some((least, most)) = field.range {
        said += &format!(": from {least} to {most}");
    }
    said
}

/// Writes the record that programs make.
fn record(out: &mut Writer, members: &Members<'_>, given: &[String]) {
    let name = members.name;
    Doc::new(&format!("A {{@link {name}}} that a program makes.")).write(out);
    out.line(format!("record Rec({}) implements {name} {{", given.join(", ")));
    let mut checks = Writer::default();
    constructor(&mut checks, members);
    let checks = checks.finish();
    if !checks.is_empty() {
        out.line("/** Makes a value with these members. */");
        out.line("public Rec {");
        checks.lines().for_each(|line| out.line(line.trim_start()));
        out.line("}");
    }
    out.line("}");
    out.line("");
}

/// Writes the class of a changeable structure. The structure's shared pointers are set when their
/// targets exist.
fn class(out: &mut Writer, members: &Members<'_>, given: &[String]) {
    let (name, context) = (members.name, members.context);
    Doc::new(&format!("A {{@link {name}}} that a program makes. Several structures may point to it, also in cycles."))
        .write(out);
    out.line(format!("final class Rec implements {name} {{"));
    for (_, field, member) in members.seen() {
        out.line(format!("{} {member};", shown(context, &field.ty)));
    }
    out.line("");
    out.line("/** Makes a value whose members are set later. */");
    out.line("Rec() {}");
    out.line("");
    out.line("/** Makes a value with these members. */");
    out.line(format!("public Rec({}) {{", given.join(", ")));
    constructor(out, members);
    for (_, _, member) in members.seen() {
        out.line(format!("this.{member} = {member};"));
    }
    out.line("}");
    out.line("");
    for (_, field, member) in members.seen() {
        let shown = shown(context, &field.ty);
        out.line("@Override");
        out.line(format!("public {shown} {member}() {{"));
        out.line(format!("return {member};"));
        out.line("}");
        out.line("");
        if is_full(&field.ty) {
            out.line(format!("/** Sets {{@link #{member}}}. */"));
            out.line(format!(
                "public void set{}{}({shown} {member}) {{",
                member[..1].to_ascii_uppercase(),
                &member[1..]
            ));
            out.line(format!("this.{member} = {member};"));
            out.line("}");
            out.line("");
        }
    }
    out.line("}");
    out.line("");
}

/// Writes the constructor's checks of a record's components. So every record that exists can be
/// written to a frame.
fn constructor(out: &mut Writer, members: &Members<'_>) {
    let model = members.context.model;
    for (_, field, name) in members.seen() {
        value_checks(out, members.context, field, name);
        match (seen(model, &field.ty), &field.switch) {
            (Ok(Seen::Array { size, length, .. }), _) => {
                length_checks(out, members, (name, is_optional(model, &field.ty)), (size, length));
            }
            (Ok(Seen::Union(id)), Some(switch)) => {
                let which = which(model, id, name);
                out.line(format!("Frames.checkCase({which}, {});", members.number(switch)));
            }
            _ => {}
        }
    }
    for (at, field) in members.fields.iter().enumerate().filter(|(at, _)| members.is_elided(*at)) {
        let Type::Base(base) = field.ty else { continue };
        let most = base.range().map_or(i128::MAX, |(_, most)| most).min(i128::from(i32::MAX));
        let sizes: Vec<String> = members.counted_by(at).map(|(array, _)| members.names[array].clone()).collect();
        out.line(format!("Frames.checkLengths({most}, {});", sizes.join(", ")));
    }
}

fn length_checks(
    out: &mut Writer,
    members: &Members<'_>,
    (name, optional): (&str, bool),
    (size, length): (&Arith, Option<&Arith>),
) {
    let is_counted = size.plain().is_some_and(|operand| members.is_elided(operand.index));
    if is_counted && length.is_none() {
        return;
    }
    let length = length.map(|length| members.number(length));
    members::check_lengths(out, (name, optional), &members.number(size), length);
}

/// Writes the view of a structure in a frame.
fn view(out: &mut Writer, members: &Members<'_>) {
    let (name, context) = (members.name, members.context);
    Doc::new(&format!("A {{@link {name}}} in a frame, readable until its call returns.")).write(out);
    out.line(format!("final class View extends GraphView implements {name} {{"));
    out.line("View(Frame frame, int at) {");
    out.line("super(frame, at);");
    out.line("}");
    out.line("");
    for (index, field, member) in members.seen() {
        let at = place("at", members.offsets[index]);
        out.line("@Override");
        out.line(format!("public {} {member}() {{", shown(context, &field.ty)));
        match seen(context.model, &field.ty) {
            Ok(Seen::One(to @ Type::Struct(_))) if context.has_pointers(to) => {
                out.line(format!("int place = frame.place({at});"));
                out.line(format!("return place == 0 ? null : new {}.View(frame, place);", java(context, to)));
            }
            _ => out.line(format!("return {};", members.read(index, "frame", "at"))),
        }
        out.line("}");
        out.line("");
    }
    out.line("@Override");
    out.line("protected GraphType graphType() {");
    out.line(format!("return {name}Type.TYPE;"));
    out.line("}");
    out.line("}");
}

/// Writes the class that marshals values of a type that pointers lead to.
pub(super) fn type_class(out: &mut Writer, context: &Context<'_>, ty: &Type) {
    let model = context.model;
    let (name, (size, _)) = (context.types.class(ty), model.layout(ty));
    if let Type::Union(id) = ty
        && model.unions[id.0].encapsulated.is_none()
    {
        Doc::new(&format!("Marshaling of {{@link {name}}}.")).write(out);
        out.line(format!("final class {name}Type {{"));
        out.line(format!("private {name}Type() {{}}"));
        out.line("");
        unions::in_frames(out, context, *id);
        return out.line("}");
    }
    Doc::new(&format!("Marshaling of {{@link {name}}}.")).write(out);
    out.line(format!("final class {name}Type extends GraphType {{"));
    out.line(format!("static final {name}Type TYPE = new {name}Type();"));
    out.line("");
    out.line(format!("private {name}Type() {{"));
    let found = if let Type::Struct(id) = ty { Some(&model.structs[id.0]) } else { None };
    let tail = found.and_then(|found| Some((&found.conformant.as_ref()?.0, *model.offsets(found).0.last()?)));
    out.line(match tail {
        Some((element, at)) => format!("super({size}, {at}, {});", members::graph_type(context, element)),
        None => format!("super({size});"),
    });
    let tail = tail.map(|(element, _)| element);
    out.line("}");
    out.line("");
    verify(out, context, ty, tail);
    if let Type::Union(id) = ty {
        unions::methods(out, context, *id);
        unions::in_frames(out, context, *id);
        return out.line("}");
    }
    out.line("@Override");
    out.line("protected void write(GraphWriter out, Object value, int at) {");
    let has_members = context.has_pointers(ty);
    match ty {
        Type::Struct(id) if has_members => writes(out, &Members::new(context, *id)),
        _ => members::write(out, context, ty, ("out", "at"), &format!("(({name}) value)"), NO_IID),
    }
    out.line("}");
    out.line("");
    out.line("@Override");
    out.line(format!("protected {name} view(Frame frame, int at) {{"));
    out.line(format!("return {};", members::view(context, ty, "at")));
    out.line("}");
    if let (Type::Struct(id), true) = (ty, has_members) {
        let members = Members::new(context, *id);
        if tail.is_some() {
            counts(out, &members);
        }
        out.line("");
        builds(out, &members);
    }
    out.line("}");
}

/// Writes the method that returns the length of the structure's conformant array.
fn counts(out: &mut Writer, members: &Members<'_>) {
    let array = members.names.last().map_or("", String::as_str);
    out.line("");
    out.line("@Override");
    out.line("protected int count(Object value) {");
    out.line(format!("return (({}) value).{array}().size();", members.name));
    out.line("}");
}

fn verify(out: &mut Writer, context: &Context<'_>, ty: &Type, tail: Option<&Type>) {
    let kinds = Kinds::direct(context.model, ty).list;
    let found = Shapes { model: context.model, kinds: &kinds }.element_type(ty);
    if found.shape.parts.is_empty() && tail.is_none() {
        return;
    }
    out.line("@Override");
    out.line("protected void verify(GraphReader in, int at) {");
    Check { context, kinds: &kinds, reader: "in", outer: &|_| (String::new(), Base::I32) }
        .element(out, &found, "at", tail);
    out.line("}");
    out.line("");
}

fn writes(out: &mut Writer, members: &Members<'_>) {
    let context = members.context;
    let (name, fields) = (members.name, &members.fields);
    out.line(format!("{name} of = ({name}) value;"));
    // A linked list is written by a loop. The writer's queue of objects is not needed, because the
    // list's elements follow one another in the frame.
    let list = fields.iter().position(|field| members.is_list(&field.ty));
    if list.is_some_and(|at| at + 1 == fields.len()) {
        return lists::writes(out, members);
    }
    for (at, field) in fields.iter().enumerate() {
        let (place, value) = (place("at", members.offsets[at]), members.written(at));
        if members.is_tail(at) {
            members::write_tail(out, context, &field.ty, &place, &value);
        } else {
            let iid = |operand: &Operand| format!("of.{}()", members.names[operand.index]);
            members::write(out, context, &field.ty, ("out", &place), &value, &iid);
        }
    }
}

fn builds(out: &mut Writer, members: &Members<'_>) {
    let context = members.context;
    if members
        .fields
        .iter()
        .any(|field| is_full(&field.ty) && matches!(seen(context.model, &field.ty), Ok(Seen::One(_))))
    {
        return fills(out, members);
    }
    out.line("@Override");
    out.line(format!("protected {}.Rec build(GraphReader in, int at) {{", members.name));
    let values: Vec<String> = members.seen().map(|(at, ..)| members.read(at, "in", "at")).collect();
    call(out, &format!("return new {}.Rec", members.name), &values);
    out.line("}");
}

/// Writes the methods that build a changeable structure: it is made first and filled later.
fn fills(out: &mut Writer, members: &Members<'_>) {
    let name = members.name;
    out.line("@Override");
    out.line("protected boolean isShared() {");
    out.line("return true;");
    out.line("}");
    out.line("");
    out.line("@Override");
    out.line(format!("protected {name}.Rec make() {{"));
    out.line(format!("return new {name}.Rec();"));
    out.line("}");
    out.line("");
    out.line("@Override");
    out.line("protected void fill(GraphReader in, int at, Object value) {");
    out.line(format!("{name}.Rec of = ({name}.Rec) value;"));
    for (at, _, member) in members.seen() {
        out.line(format!("of.{member} = {};", members.read(at, "in", "at")));
    }
    out.line("}");
}
