//! Comparison of dispinterfaces: their members as callers by name see them.

use super::changes::Kind;
use super::comparison::Comparison;
use super::interfaces::use_of;
use super::params::{memory_text, vartype_text};
use super::types::{Change, Scope};
use crate::model::automation::Kind as MemberKind;
use crate::model::typelib::flags::{READONLY, VARIABLE_RESTRICTED};
use crate::model::{DispMember, DispMembers, Dispinterface, InterfaceId, Member, Memory, Method, Model, Param, Type};
use crate::text::source::Span;
use crate::tools::notation::{id_text, type_text};
use std::collections::HashMap;

/// A member of a dispinterface, or a method of the interface whose members the dispinterface has.
struct Callable<'m> {
    member: &'m Member,
    /// The member's use in words. The use distinguishes a property from a method, and the accessors
    /// of a property from one another.
    what: &'static str,
    params: &'m [Param],
    /// The type, the type in memory, and the VARTYPE of the result or of the property.
    result: Option<(&'m Type, Option<Memory>, Option<u16>)>,
    restricted: bool,
    readonly: bool,
}

impl<'m> Comparison<'m> {
    pub(super) fn dispinterfaces(&mut self) {
        for old in &self.old.dispinterfaces {
            let name = &old.name;
            match self.new_names.dispinterfaces.get(name.as_str()).copied() {
                Some(new) => self.dispinterface(old, new),
                None if old.imported => {}
                None => {
                    self.report(Kind::DispinterfaceRemoved, None, format!("the dispinterface `{name}` is gone"));
                }
            }
        }
    }

    fn dispinterface(&mut self, old: &'m Dispinterface, new: &'m Dispinterface) {
        let (name, span) = (&new.name, new.span);
        if old.about.uuid != new.about.uuid {
            self.report(Kind::DispinterfaceUuid, Some(span), format!("the dispinterface `{name}` has another uuid"));
        }
        // Corresponding interfaces are compared as a pair of their own.
        if let (Some(DispMembers::Of(a)), Some(DispMembers::Of(b))) = (&old.members, &new.members)
            && self.is_same_interface(*a, *b)
        {
            return;
        }
        let now: HashMap<(&str, &str), Callable<'m>> = callables(self.new, new)
            .into_iter()
            .map(|found| ((found.member.name.as_str(), found.what), found))
            .collect();
        for before in callables(self.old, old) {
            match now.get(&(before.member.name.as_str(), before.what)) {
                Some(now) => self.callable(&format!("`{name}.{}`", before.member.name), span, &before, now),
                None => {
                    let message = format!("`{name}` has no {} `{}` any more", before.what, before.member.name);
                    self.report(Kind::DispMemberRemoved, Some(span), message);
                }
            }
        }
    }

    fn callable(&mut self, name: &str, span: Span, old: &Callable<'m>, new: &Callable<'m>) {
        if old.member.id != new.member.id {
            let (a, b) = (id_text(old.member.id), id_text(new.member.id));
            self.report(Kind::MemberId, Some(span), format!("the DISPID of {name}: {a} before, {b} now"));
        }
        if old.restricted != new.restricted {
            let verb = if new.restricted { "now" } else { "no longer" };
            self.report(Kind::MemberRestricted, Some(span), format!("{name} is {verb} [restricted]"));
        }
        if !old.readonly && new.readonly {
            self.report(Kind::DispMemberReadonly, Some(span), format!("{name} is [readonly] now"));
        }
        for (before, now) in self.results(old, new) {
            let message = format!("the value of {name}: `{before}` before, `{now}` now");
            self.report(Kind::DispMemberType, Some(span), message);
        }
        self.params(name, span, (old.params, new.params), true);
    }

    /// Returns the differences between two results, as texts.
    fn results(&mut self, old: &Callable<'m>, new: &Callable<'m>) -> Vec<(String, String)> {
        let text = |model: &Model, of: &Callable<'m>| match of.result {
            None => "void".to_owned(),
            Some((_, Some(memory), _)) => memory_text(memory),
            Some((ty, None, _)) => type_text(model, ty),
        };
        let (before, now) = (text(self.old, old), text(self.new, new));
        let (Some(a), Some(b)) = (old.result, new.result) else {
            return if before == now { Vec::new() } else { vec![(before, now)] };
        };
        if a.1 != b.1 {
            return vec![(before, now)];
        }
        let changes: Vec<Change> = if a.1.is_some() { Vec::new() } else { self.types(a.0, b.0, &Scope::default()) };
        if changes.is_empty() && a.2 != b.2 {
            return vec![(vartype_text(a.2), vartype_text(b.2))];
        }
        changes.into_iter().map(|(_, before, now)| (before, now)).collect()
    }
}

fn callables<'m>(model: &'m Model, of: &'m Dispinterface) -> Vec<Callable<'m>> {
    match &of.members {
        None => Vec::new(),
        Some(DispMembers::Of(id)) => methods(model, *id).map(of_method).collect(),
        Some(DispMembers::Own(properties, methods)) => {
            let property = |found: &'m DispMember| Callable {
                what: "property",
                restricted: found.member.flags & VARIABLE_RESTRICTED != 0,
                readonly: found.member.flags & READONLY != 0,
                ..of_own(found)
            };
            properties.iter().map(property).chain(methods.iter().map(of_own)).collect()
        }
    }
}

/// Returns the methods of an interface and its bases, without the methods of IDispatch.
fn methods(model: &Model, id: InterfaceId) -> impl Iterator<Item = &Method> {
    model.declared_lineage(id).into_iter().flat_map(|id| &model.interfaces[id.0].methods)
}

fn of_own(found: &DispMember) -> Callable<'_> {
    let result = found.returns.as_ref();
    Callable {
        member: &found.member,
        what: word(found.member.kind),
        params: &found.params,
        result: result.map(|value| (&value.ty, value.memory, value.variant.as_ref().map(|variant| variant.vt))),
        restricted: found.member.restricted,
        readonly: false,
    }
}

/// Returns a method with its `[retval]` as its result.
fn of_method(method: &Method) -> Callable<'_> {
    let (params, result) = match method.params.split_last() {
        Some((last, rest)) if last.retval => (rest, Some(last)),
        _ => (method.params.as_slice(), None),
    };
    let result = result.map(|value| {
        let ty = match &value.ty {
            Type::Pointer(pointer) => &pointer.to,
            ty => ty,
        };
        (ty, value.memory, value.variant.as_ref().map(|variant| variant.vt))
    });
    let member = &method.member;
    Callable { member, what: word(member.kind), params, result, restricted: member.restricted, readonly: false }
}

const fn word(kind: MemberKind) -> &'static str {
    match kind {
        MemberKind::Method => "method",
        accessor => use_of(accessor),
    }
}
