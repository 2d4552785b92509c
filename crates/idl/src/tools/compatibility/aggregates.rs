//! Comparison of structures, unions and enumerations.

use super::changes::Kind;
use super::comparison::{Comparison, Pair};
use super::types::{Change, Place, Scope, extents, names};
use crate::model::canonical::bit_field;
use crate::model::{Arm, BitField, EnumId, Field, Model, StructId, Type, UnionId};
use crate::text::source::Span;
use crate::tools::notation::type_text;

impl<'m> Comparison<'m> {
    /// Reports a type that has another name.
    fn renamed(&mut self, pair: Pair, span: Span) {
        let (old, new) = names(self.old, self.new, pair);
        if old != new {
            let message = format!("the type `{old}` is called `{new}` now");
            self.report(Kind::TypeRenamed, Some(span), message);
        }
    }

    pub(super) fn structures(&mut self, old: StructId, new: StructId) {
        let (before, now) = (&self.old.structs[old.0], &self.new.structs[new.0]);
        self.renamed(Pair::Struct(old, new), now.span);
        let names = |fields: &'m [Field]| fields.iter().map(|field| field.name.as_str()).collect::<Vec<&str>>();
        let (old_names, new_names) = (names(&before.fields), names(&now.fields));
        let (old_model, new_model) = (self.old, self.new);
        let is_same =
            |a: usize, b: usize| type_text(old_model, &before.fields[a].ty) == type_text(new_model, &now.fields[b].ty);
        let scope = Scope::of(old_names, new_names, is_same);
        let kinds = [Kind::MemberRemoved, Kind::MemberAdded, Kind::MemberMoved];
        self.parts((&format!("`{}`", now.name), now.span), ("member", kinds), &scope, |at| now.fields[at].span);
        for &(a, b) in &scope.alignment.pairs {
            let (a, b) = (&before.fields[a], &now.fields[b]);
            if a.name != b.name {
                let message = format!("the member `{}` of `{}` is called `{}` now", a.name, now.name, b.name);
                self.report(Kind::MemberRenamed, Some(b.span), message);
            }
            // An array without a bound is compared below.
            if a.ty != Type::Void && b.ty != Type::Void {
                let mut changes = self.places(&Place::of(a), &Place::of(b), &scope);
                changes.extend(self.bit_fields(&a.bits, &b.bits));
                self.report_all(changes, b.span, &format!("the member `{}` of `{}`", b.name, now.name));
            }
        }
        let subject = format!("the open array of `{}`", now.name);
        match (&before.conformant, &now.conformant) {
            (Some((a, size, length)), Some((b, new_size, new_length))) => {
                let mut changes = self.types(a, b, &scope);
                extents(Some(size), Some(new_size), &scope, Kind::ArraySize, &mut changes);
                extents(length.as_ref(), new_length.as_ref(), &scope, Kind::ArrayLength, &mut changes);
                self.report_all(changes, now.span, &subject);
            }
            (None, None) => {}
            (before, _) => {
                let message = if before.is_some() { "is no longer there" } else { "is new" };
                self.report(Kind::OpenArray, Some(now.span), format!("{subject} {message}"));
            }
        }
    }

    /// Compares the bit fields of an integer, and adds their enumerations to the pairs to compare.
    /// `None` if nothing has changed.
    fn bit_fields(&mut self, old: &[BitField], new: &[BitField]) -> Option<Change> {
        let scope = Scope::default();
        let types = old.iter().zip(new).all(|(a, b)| self.types(&a.ty, &b.ty, &scope).is_empty());
        let is_same = |(a, b): (&BitField, &BitField)| a.name == b.name && a.width == b.width;
        let is_unchanged = types && old.len() == new.len() && old.iter().zip(new).all(is_same);
        (!is_unchanged).then(|| (Kind::BitFields, bits_text(self.old, old), bits_text(self.new, new)))
    }

    pub(super) fn unions(&mut self, old: UnionId, new: UnionId) {
        let (before, now) = (&self.old.unions[old.0], &self.new.unions[new.0]);
        self.renamed(Pair::Union(old, new), now.span);
        let span = Some(now.span);
        if !self.types(&before.tag, &now.tag, &Scope::default()).is_empty() {
            let (a, b) = (type_text(self.old, &before.tag), type_text(self.new, &now.tag));
            let message = format!("the discriminant of `{}`: `{a}` before, `{b}` now", now.name);
            self.report(Kind::UnionTag, span, message);
        }
        match (&before.encapsulated, &now.encapsulated) {
            (Some(a), Some(b)) if a != b => {
                let message = format!(
                    "`{}`: its discriminant and union were called `{}` and `{}`, and are called `{}` and `{}`",
                    now.name, a.0, a.1, b.0, b.1
                );
                self.report(Kind::UnionNames, span, message);
            }
            (Some(_), Some(_)) | (None, None) => {}
            (a, _) => {
                let message = if a.is_some() { "no longer has" } else { "now has" };
                self.report(Kind::UnionForm, span, format!("`{}` {message} a discriminant of its own", now.name));
            }
        }
        self.arms(old, new);
        let subject = format!("the default arm of `{}`", now.name);
        match (&before.default, &now.default) {
            (None, None) | (Some(None), Some(None)) => {}
            (Some(Some(a)), Some(Some(b))) => self.arm(a, b, &subject),
            (a, b) => {
                let text = |arm: &Option<Option<Field>>| match arm {
                    None => "none",
                    Some(None) => "an empty one",
                    Some(Some(_)) => "one with a member",
                };
                self.report(Kind::DefaultArm, span, format!("{subject}: {} before, {} now", text(a), text(b)));
            }
        }
    }

    fn arms(&mut self, old: UnionId, new: UnionId) {
        let (before, now) = (&self.old.unions[old.0], &self.new.unions[new.0]);
        let names = |arms: &[Arm]| -> Vec<String> {
            let name = |arm: &Arm| arm.field.as_ref().map(|field| field.name.clone());
            arms.iter().map(|arm| name(arm).unwrap_or_else(|| format!("case {}", numbers(&arm.cases)))).collect()
        };
        let (old_names, new_names) = (names(&before.arms), names(&now.arms));
        // The order of the cases matters only in fingerprints.
        let is_used = self.is_used(&Type::Union(old));
        let cases = |arm: &Arm| {
            let mut cases = arm.cases.clone();
            if !is_used {
                cases.sort_unstable();
            }
            cases
        };
        let is_same = |a: usize, b: usize| cases(&before.arms[a]) == cases(&now.arms[b]);
        let scope = Scope::of(strs(&old_names), strs(&new_names), is_same);
        let kinds = [Kind::ArmRemoved, Kind::ArmAdded, Kind::ArmMoved];
        self.parts((&format!("`{}`", now.name), now.span), ("arm", kinds), &scope, |_| now.span);
        for &(i, j) in &scope.alignment.pairs {
            let (left, right) = (&before.arms[i], &now.arms[j]);
            if cases(left) != cases(right) {
                let (a, b) = (numbers(&left.cases), numbers(&right.cases));
                let message = format!("the arm `{}` of `{}`: cases {a} before, {b} now", scope.new[j], now.name);
                self.report(Kind::ArmCases, Some(now.span), message);
            }
            match (&left.field, &right.field) {
                (Some(left), Some(right)) => {
                    self.arm(left, right, &format!("the arm `{}` of `{}`", scope.new[j], now.name));
                }
                (None, None) => {}
                _ => {
                    let message = format!("the arm `{}` of `{}` is `{}` now", scope.old[i], now.name, scope.new[j]);
                    self.report(Kind::ArmRenamed, Some(now.span), message);
                }
            }
        }
    }

    fn arm(&mut self, old: &Field, new: &Field, subject: &str) {
        if old.name != new.name {
            let message = format!("{subject} was called `{}`", old.name);
            self.report(Kind::ArmRenamed, Some(new.span), message);
        }
        let changes = self.places(&Place::of(old), &Place::of(new), &Scope::default());
        self.report_all(changes, new.span, subject);
    }

    pub(super) fn enumerations(&mut self, old: EnumId, new: EnumId) {
        let (before, now) = (&self.old.enums[old.0], &self.new.enums[new.0]);
        self.renamed(Pair::Enum(old, new), now.span);
        let span = Some(now.span);
        let names = |values: &'m [(String, i32)]| values.iter().map(|(name, _)| name.as_str()).collect::<Vec<&str>>();
        let is_same = |a: usize, b: usize| before.values[a].1 == now.values[b].1;
        let mut scope = Scope::of(names(&before.values), names(&now.values), is_same);
        if !self.is_used(&Type::Enum(old)) {
            // The values of an enumeration that no method passes are only constants, so new values
            // and another order break nothing.
            scope.alignment.added.clear();
            scope.alignment.is_reordered = false;
        }
        let kinds = [Kind::EnumRemoved, Kind::EnumAdded, Kind::EnumMoved];
        self.parts((&format!("`{}`", now.name), now.span), ("value", kinds), &scope, |_| now.span);
        for &(i, j) in &scope.alignment.pairs {
            let ((old_name, old_value), (name, value)) = (&before.values[i], &now.values[j]);
            if old_name != name {
                let message = format!("the value `{old_name}` of `{}` is called `{name}` now", now.name);
                self.report(Kind::EnumRenamed, span, message);
            }
            if old_value != value {
                let message = format!("`{name}` of `{}`: {old_value} before, {value} now", now.name);
                self.report(Kind::EnumChanged, span, message);
            }
        }
        for (kind, attribute, was, is) in
            [(Kind::EnumWidth, "v1_enum", before.v1, now.v1), (Kind::EnumOpen, "open", before.open, now.open)]
        {
            if was != is {
                let verb = if is { "now has" } else { "no longer has" };
                self.report(kind, span, format!("`{}` {verb} [{attribute}]", now.name));
            }
        }
    }
}

/// Returns the declarations of bit fields in the notation of IDL.
fn bits_text(model: &Model, bits: &[BitField]) -> String {
    let texts: Vec<String> = bits.iter().map(|part| bit_field(model, part)).collect();
    if texts.is_empty() { "no bit fields".to_owned() } else { texts.join("; ") }
}

/// Returns numbers as a list.
fn numbers(list: &[i64]) -> String {
    list.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}

fn strs(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}
