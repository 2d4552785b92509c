//! Unions: their arms, their discriminants, and the expressions that select an arm.

use super::aggregates::OPEN_MEMBER;
use super::attributes;
use super::limits::MEMBERS_MAX;
use super::types::{Context, Place};
use super::values::Variable;
use super::{Named, Resolver, find, union_type};
use crate::model::typelib::flags;
use crate::model::{Arith, Arm, Base, Field, Measure, Type, Union, UnionId};
use crate::syntax::ast::{Arm as ArmSyntax, Attribute, Declarator, Expr, ExprKind, Ident, UnionDecl};
use crate::text::diagnostic::{Diagnostic, Severity};
use crate::text::source::Span;
use std::collections::HashSet;

/// Returns the name of the member that holds the arms of an encapsulated union.
fn name_of_body(inner: Option<&Ident>) -> &str {
    inner.map_or("tagged_union", |inner| inner.name.as_str())
}

impl Resolver<'_> {
    /// Returns the expression that selects the arm of a non-encapsulated union. `None` for other
    /// types, for a parameter of a `[local]` method without the attribute, and after an error.
    pub(super) fn switch(
        &mut self,
        attributes: &[Attribute],
        ty: &Type,
        declarator: &Declarator,
        variables: &[Variable],
        of: &str,
        local: bool,
    ) -> Option<Arith> {
        let inner = match ty {
            Type::Pointer(pointer) => &pointer.to,
            ty => ty,
        };
        let has_cases = |id: UnionId| self.model.unions[id.0].tag != Type::Void;
        let needs =
            matches!(inner, Type::Union(id) if self.model.unions[id.0].encapsulated.is_none() && has_cases(*id));
        let attribute = find(attributes, "switch_is");
        match (needs, attribute) {
            (false, None) => None,
            (true, Some(attribute)) => {
                let expr = attribute.arguments.first()?.as_ref()?;
                self.arith(expr, variables, of)
            }
            // In one process a parameter needs no discriminant.
            (true, None) if local => None,
            (true, None) => {
                let error = Diagnostic::error("no-switch", declarator.span, "nothing selects the arm of this union");
                self.report(error.help("add [switch_is(n)], where n is the discriminant beside it"));
                None
            }
            (false, Some(attribute)) if is_union_behind(inner) => {
                let text = "a union without a discriminant of its own cannot be behind two pointers";
                let error = Diagnostic::error("unsupported", attribute.span, text);
                self.report(error.help("put it and its discriminant into a structure, and point to that"));
                None
            }
            (false, Some(attribute)) => {
                let error = Diagnostic::error(
                    "bad-switch",
                    attribute.span,
                    "[switch_is] is for unions without a discriminant of their own",
                );
                self.report(error.help("remove it"));
                None
            }
        }
    }

    pub(super) fn union_type(&mut self, decl: &UnionDecl, name: Option<&Ident>, span: Span) -> Option<Type> {
        let declared = self.declaring.take();
        if let Some(ty) = self.given_type(decl.tag.as_ref()) {
            return Some(ty);
        }
        self.check_attributes(&decl.attributes, &attributes::UNION);
        let about = self.about(&decl.attributes, &flags::ON_TYPES);
        let known = decl.tag.as_ref().and_then(|tag| self.types.get(&tag.name).map(|known| known.what.clone()));
        if decl.arms.is_none() {
            return match known {
                Some(Named::Type(ty) | Named::Opened(ty)) => Some(ty),
                _ => {
                    self.unknown_type(decl.tag.as_ref().map_or("", |tag| tag.name.as_str()), span);
                    None
                }
            };
        }
        let name = declared.unwrap_or_else(|| self.fresh_name(decl.tag.as_ref(), name, "union", span));
        self.owners.push(name.clone());
        let has_cases = decl.switch.is_some()
            || decl.arms.iter().flatten().any(|arm| !arm.cases.is_empty() || arm.default)
            || find(&decl.attributes, "switch_type").is_some();
        let tag_type = if has_cases { self.tag_type(decl, span) } else { Some(Type::Void) };
        self.owners.pop();
        let tag_type = tag_type?;
        let outer = std::mem::take(&mut self.member_reasons);
        if !has_cases {
            self.member_reasons.0 = Some("a union without cases");
        }
        self.check_arms(decl, span);
        if decl.switch.as_ref().is_some_and(|(spec, ..)| self.has_range(&[], spec)) {
            self.not_yet("a union whose discriminant [range] limits");
        }
        let encapsulated =
            decl.switch.as_ref().map(|(_, tag, inner)| (tag.name.clone(), name_of_body(inner.as_ref()).to_owned()));
        let imported = self.imported;
        let (arms, default, measure) = (Vec::new(), None, Measure::default());
        let made = Union { name, tag: tag_type, encapsulated, arms, default, measure, about, imported, span };
        self.model.unions.push(made);
        let id = self.model.unions.len() - 1;
        let ty = union_type(id);
        if let Some(tag) = &decl.tag {
            self.declare_type(tag, Named::Opened(ty.clone()));
        }
        let mut taken = HashSet::new();
        self.owners.push(self.model.unions[id].name.clone());
        let names = decl.arms.iter().flatten().filter_map(|arm| arm.member.as_ref()?.declarator.as_ref());
        let has_few_names = self.check_names(names, "arms");
        if has_few_names && decl.arms.as_ref().is_some_and(|arms| arms.len() > MEMBERS_MAX) {
            // The error is at the union, because arms without members have no place of their own.
            let error = Diagnostic::error("too-large", span, format!("there are more than {MEMBERS_MAX} arms"));
            self.report(error.help("put some of them into a union of their own"));
        } else if has_few_names {
            decl.arms.iter().flatten().for_each(|arm| self.arm(arm, id, &mut taken));
        }
        self.owners.pop();
        self.note_reasons(&ty, outer);
        let measure = self.measured(self.model.measure_union(UnionId(id)), span);
        self.model.unions[id].measure = measure;
        self.defined.insert(ty.clone());
        if let Some(tag) = &decl.tag {
            self.declare_type(tag, Named::Type(ty.clone()));
        }
        Some(ty)
    }

    /// Reports three errors: a union without arms, a non-encapsulated union whose arms have no
    /// values, and an encapsulated union in which the members for the discriminant and for the arms
    /// have the same name.
    fn check_arms(&mut self, decl: &UnionDecl, span: Span) {
        let mut arms = decl.arms.iter().flatten();
        let text = match decl.switch {
            Some(_) => "this union has no arms",
            None => "no arm of this union without a discriminant of its own has a value",
        };
        if !arms.any(|arm| decl.switch.is_some() || arm.member.is_some()) {
            let error = Diagnostic::error("empty-union", span, text);
            self.report(error.help("declare an arm with a value, or remove the union"));
        }
        let Some((_, tag, inner)) = &decl.switch else { return };
        let name = name_of_body(inner.as_ref());
        if tag.name == name {
            let text = format!("the discriminant and the union are both called `{name}`");
            self.report(Diagnostic::error("duplicate-name", tag.span, text).help("give one of them another name"));
        }
    }

    fn tag_type(&mut self, decl: &UnionDecl, span: Span) -> Option<Type> {
        let ty = if let Some((spec, tag, _)) = &decl.switch {
            self.spec_type(spec, Some(tag))?
        } else if let Some(attribute) = find(&decl.attributes, "switch_type") {
            let spec = attribute.ty.as_deref()?;
            // `set_switch_type` can have made the attribute from the type of a member, with one
            // span for the attribute and its name. Such an attribute needs no error, because the
            // member's own limits are checked.
            let is_written = attribute.span != attribute.name.span;
            if is_written && self.has_range(&[], spec) {
                let text = "[switch_type] names a type with [range], which does not limit the discriminant";
                let error = Diagnostic::error("bad-range", attribute.span, text);
                self.report(
                    error.help("name the integer type; the member or parameter in [switch_is] keeps its limits"),
                );
            }
            self.spec_type(spec, None)?
        } else {
            Type::Base(Base::I32)
        };
        if matches!(&ty, Type::Base(base) if base.is_integer()) || matches!(ty, Type::Enum(_)) {
            return Some(ty);
        }
        let error = Diagnostic::error("bad-switch", span, "the discriminant is neither an integer nor an enumeration");
        self.report(error.help("use an integer type or an enum"));
        None
    }

    fn arm(&mut self, arm: &ArmSyntax, id: usize, taken: &mut HashSet<i64>) {
        let has_cases = self.model.unions[id].tag != Type::Void;
        if has_cases && arm.cases.is_empty() && !arm.default {
            let error = Diagnostic::error("arm-without-case", arm.span, "this arm needs its values");
            return self.report(error.label("no case").help("write `case 1:` or `[case(1)]` before it"));
        }
        let field = match &arm.member {
            None => None,
            Some(member) => {
                let Some(declarator) = &member.declarator else {
                    return;
                };
                self.check_attributes(&member.attributes, &attributes::ARM);
                let (spec, declarator) = &self.member_of(&member.spec, declarator);
                let Some(ty) = self.declared_type(spec, declarator, &member.attributes, Place::Member) else {
                    return;
                };
                self.note_member(&member.attributes, spec, &ty, false);
                if !self.check_by_value(&ty, declarator.span, (!has_cases).then_some(OPEN_MEMBER)) {
                    return;
                }
                let varying = self.varying(
                    &member.attributes,
                    &ty,
                    &Context { variables: &[], of: "this declaration", local: false },
                );
                let name = declarator.name.name.clone();
                let named = self.named_by(&member.spec);
                Some(Field { varying, ..Field::new(name, ty, named, declarator.span) })
            }
        };
        let (mut cases, mut labels) = (Vec::new(), Vec::new());
        for case in &arm.cases {
            let Some(mut value) = self.evaluate_int(case) else {
                continue;
            };
            match tag_value(&self.model.unions[id].tag, value) {
                Some(tag) => value = tag,
                None => {
                    let error = no_such_tag(&self.model.unions[id].tag, value, case.span);
                    self.report(error);
                    continue;
                }
            }
            self.check_listed(id, value, case);
            if !taken.insert(value) {
                let error = Diagnostic::error("duplicate-case", case.span, format!("two arms have the value {value}"));
                self.report(error.help("each value selects one arm"));
                continue;
            }
            cases.push(value);
            labels.push(match &case.kind {
                ExprKind::Name(name) => Some(name.clone()),
                _ => None,
            });
        }
        let union = &mut self.model.unions[id];
        if arm.default {
            if union.default.is_some() {
                let error = Diagnostic::error("duplicate-case", arm.span, "there are two default arms");
                return self.report(error.help("remove one"));
            }
            union.default = Some(field.clone());
        }
        // An arm with `default` needs no cases.
        if !arm.default && !cases.is_empty() || !has_cases {
            self.model.unions[id].arms.push(Arm { cases, labels, field });
        }
    }

    /// Warns about a case that the discriminant's enumeration does not list. In an encapsulated
    /// union, the receiver refuses the value of such a case. The discriminant of a non-encapsulated
    /// union is in another member or parameter, which may have another type than the enumeration.
    fn check_listed(&mut self, id: usize, value: i64, case: &Expr) {
        let Type::Enum(tag) = self.model.unions[id].tag else { return };
        let listed = &self.model.enums[tag.0];
        let values = || listed.values.iter().map(|(_, one)| i64::from(*one)).collect();
        if listed.open || self.listed.entry(tag.0).or_insert_with(values).contains(&value) {
            return;
        }
        let text = format!("`{}` has no value {value}, so none of its values selects this arm", listed.name);
        let help = format!("add the value to `{}`, or declare the enumeration [open]", listed.name);
        let mut warning = Diagnostic::error("bad-switch", case.span, text).related(listed.span, "the enumeration");
        warning.severity = Severity::Warning;
        self.report(warning.help(help));
    }
}

/// Returns the value of a discriminant of this type that selects an arm. A negative value may be
/// written as the unsigned number with the same bits. `None` if the type has no such value.
fn tag_value(tag: &Type, value: i64) -> Option<i64> {
    let (least, most) = match tag {
        Type::Base(Base::I64) => return Some(value),
        // Discriminants are compared as signed numbers of 64 bits. All discriminants that are too
        // large are replaced by the greatest signed number, so no case can have this value.
        Type::Base(Base::U64) => return (0..i64::MAX).contains(&value).then_some(value),
        Type::Base(base) => base.range()?,
        Type::Enum(_) => Base::I32.range()?,
        _ => return Some(value),
    };
    let (number, count) = (i128::from(value), most - least + 1);
    let is_upper = least < 0 && number > most && number < count;
    let number = if is_upper { number - count } else { number };
    (least..=most).contains(&number).then_some(number as i64)
}

/// Returns the error for a value that no discriminant of this type has.
fn no_such_tag(tag: &Type, value: i64, span: Span) -> Diagnostic {
    let is_unsigned = *tag == Type::Base(Base::U64);
    let number = if is_unsigned { i128::from(value.cast_unsigned()) } else { value.into() };
    let error = Diagnostic::error("bad-switch", span, format!("no discriminant has the value {number}"));
    let help = if is_unsigned {
        "a case of an `unsigned hyper` must be less than 2^63 - 1"
    } else {
        "the discriminant's type is too small for this value"
    };
    error.help(help)
}

/// Whether a type is a union, or a chain of pointers to a union.
fn is_union_behind(ty: &Type) -> bool {
    matches!(ty, Type::Union(_)) || matches!(ty, Type::Pointer(pointer) if is_union_behind(&pointer.to))
}
