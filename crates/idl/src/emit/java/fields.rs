//! The members of a structure with pointers: their names and places, and the code that reads,
//! writes and checks a member.

use super::Context;
use super::arithmetic::{NO_OUTER, arith, chosen, is_narrow, literal, loaded, loaded_tag, range_check, widened};
use super::members::{self, Seen, has_optional, is_full, is_optional, place, seen, shown};
use super::names::members_of;
use super::values::{flat, is_object, narrowed};
use crate::model::{Arith, Base, Extent, Field, Pointer, PointerClass, Struct, StructId, Type};
use crate::plan::Uses;
use crate::plan::shapes::{Expr, expr};
use crate::text::writer::Writer;
use std::borrow::Cow;

/// A structure with the names of its members.
pub(super) struct Members<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) id: StructId,
    pub(super) found: &'a Struct,
    /// The members, including a conformant array.
    pub(super) fields: Cow<'a, [Field]>,
    pub(super) name: &'a str,
    pub(super) names: Vec<String>,
    pub(super) offsets: Vec<u32>,
}

impl<'a> Members<'a> {
    pub(super) fn new(context: &'a Context<'a>, id: StructId) -> Self {
        let found = &context.model.structs[id.0];
        let names = members_of(found.fields.iter().map(|field| field.name.as_str()));
        let (mut offsets, ..) = context.model.offsets(found);
        if found.conformant.is_some() {
            // The last offset belongs to the conformant array. The offset before it belongs to the
            // void field with the array's name, and is removed.
            offsets.remove(found.fields.len() - 1);
        }
        let name = context.types.class(&Type::Struct(id));
        Self { context, id, found, fields: fields(found), name, names, offsets }
    }

    /// Whether the member is the structure's conformant array, which follows the structure without
    /// a pointer.
    pub(super) fn is_tail(&self, at: usize) -> bool {
        self.found.conformant.is_some() && at + 1 == self.fields.len()
    }

    /// Returns the members that users see, without the members that only give the lengths of
    /// arrays.
    pub(super) fn seen(&self) -> impl Iterator<Item = (usize, &Field, &str)> {
        let fields = self.fields.iter().enumerate().filter(|(at, _)| !self.is_elided(*at));
        fields.map(|(at, field)| (at, field, self.names[at].as_str()))
    }

    /// Returns the arrays whose length a member gives.
    pub(super) fn counted_by(&self, at: usize) -> impl Iterator<Item = (usize, &Field)> {
        let counts = move |field: &Field| match seen(self.context.model, &field.ty) {
            Ok(Seen::Array { size, length: None, .. }) => size.plain().is_some_and(|operand| operand.index == at),
            _ => false,
        };
        self.fields.iter().enumerate().filter(move |(_, field)| counts(field))
    }

    /// Whether a member is a number that only gives the lengths of arrays. A `boolean` stays a
    /// member, because a `boolean` cannot represent most lengths.
    pub(super) fn is_elided(&self, at: usize) -> bool {
        let field = &self.fields[at];
        if !matches!(field.ty, Type::Base(base) if base.is_number()) || field.range.is_some() {
            return false;
        }
        let mut uses = Uses::of(at);
        for field in self.fields.iter() {
            if let Ok(Seen::Array { size, length, .. }) = seen(self.context.model, &field.ty) {
                // If an array has a separate length, its Java list has that many elements. The
                // array's size then does not follow from the list.
                uses.note(size, length.is_none());
                length.into_iter().for_each(|length| uses.note(length, false));
            }
            field.switch.iter().for_each(|switch| uses.note(switch, false));
        }
        uses.are_implied()
    }

    /// Returns the expression that reads a member from a checked frame, in place or as a copy. The
    /// structure is at `base`.
    pub(super) fn read(&self, index: usize, reader: &str, base: &str) -> String {
        let (field, at) = (&self.fields[index], &place(base, self.offsets[index]));
        if self.is_tail(index) {
            return members::tail(self.context, &field.ty, reader, base, at);
        }
        if let (Ok(Seen::Union(id)), Some(switch)) = (seen(self.context.model, &field.ty), &field.switch) {
            let which = self.which(&self.context.model.unions[id.0].tag, switch, reader, base);
            return members::union(self.context, &field.ty, reader, at, &which);
        }
        if reader == "frame" {
            members::view(self.context, &field.ty, at)
        } else {
            members::built(self.context, &field.ty, reader, at)
        }
    }

    /// Returns the expression for a member's value in a structure that is written.
    pub(super) fn written(&self, at: usize) -> String {
        if !self.is_elided(at) {
            return format!("of.{}()", self.names[at]);
        }
        let arrays: Vec<String> = self.counted_by(at).map(|(array, _)| format!("of.{}()", self.names[array])).collect();
        narrowed(&self.fields[at].ty, &format!("Frames.length({})", arrays.join(", ")))
    }

    /// Returns the expression for the discriminant of a union in a checked frame.
    pub(super) fn which(&self, tag: &Type, switch: &Arith, reader: &str, base: &str) -> String {
        if let (Some(operand), true) = (switch.plain(), is_narrow(tag, switch)) {
            let place = place(base, self.offsets[operand.index]);
            return loaded_tag(&self.fields[operand.index].ty, reader, &place);
        }
        let known = expr(switch, &|operand| Expr::Member(self.offsets[operand.index], operand.base));
        chosen(tag, &known, &|leaf| match leaf {
            Expr::Member(at, ty) => widened(*ty, &loaded(reader, *ty, &place(base, *at))),
            _ => String::new(),
        })
    }

    /// Whether a member is a pointer to the next structure of a linked list. A structure whose
    /// pointers may share their targets is not treated as a list.
    pub(super) fn is_list(&self, ty: &Type) -> bool {
        !is_full(ty)
            && !members::is_shared(self.context.model, &Type::Struct(self.id))
            && matches!(seen(self.context.model, ty), Ok(Seen::One(Type::Struct(to))) if *to == self.id)
    }

    /// Returns the Java text of an expression over the members, for the constructor. The text is a
    /// number, or a function if the expression may have no value.
    pub(super) fn number(&self, value: &Arith) -> String {
        let known = expr(value, &|operand| Expr::Member(operand.index as u32, operand.base));
        let leaf = |leaf: &Expr| {
            let Expr::Member(index, base) = leaf else { return String::new() };
            let (field, name) = (&self.fields[*index as usize], &self.names[*index as usize]);
            if matches!(field.ty, Type::Enum(_)) { format!("{name}.value()") } else { widened(*base, name) }
        };
        match &known {
            Expr::Const(value) => literal(*value),
            Expr::Member(_, Base::U64) | Expr::Unary(..) | Expr::Binary(..) | Expr::Choose(_) => {
                format!("() -> {}", arith(&known, &leaf, NO_OUTER))
            }
            known => leaf(known),
        }
    }
}

/// Returns the members of a structure. The type of a conformant array becomes a pointer to its
/// elements.
pub(super) fn fields(found: &Struct) -> Cow<'_, [Field]> {
    let Some((element, size, length)) = found.conformant.clone() else { return (&found.fields).into() };
    let mut fields = found.fields.clone();
    if let Some(array) = fields.last_mut() {
        let extent = Extent::Counted { size, length };
        array.ty = Type::Pointer(Box::new(Pointer { class: PointerClass::Ref, to: element, extent }));
    }
    fields.into()
}

/// Writes the checks of a single member's value.
pub(super) fn value_checks(out: &mut Writer, context: &Context<'_>, field: &Field, name: &str) {
    let model = context.model;
    let is_reference = match seen(model, &field.ty) {
        Ok(Seen::Plain) => is_object(&field.ty),
        _ => !is_optional(model, &field.ty),
    };
    if is_reference {
        out.line(format!("Objects.requireNonNull({name}, \"{name}\");"));
    }
    if shown(context, &field.ty).starts_with("List<") {
        let function = if has_optional(model, &field.ty) { "copyOfOptional" } else { "copy" };
        out.line(format!("{name} = Frames.{function}({name});"));
    }
    if let Type::Fixed(..) = field.ty {
        out.line(format!("Frames.checkLength({name}.size(), {});", flat(&field.ty).1));
    }
    if let (Some(range), Type::Base(base)) = (field.range, &field.ty) {
        out.line(range_check("Frames", *base, name, || widened(*base, name), range));
    }
}
