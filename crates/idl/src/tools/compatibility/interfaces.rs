//! Comparison of interfaces, their methods and the methods' parameters.

use super::changes::Kind;
use super::comparison::{Comparison, Pair};
use super::types::{Place, Scope};
use crate::model::automation::Kind as MemberKind;
use crate::model::automation::element_name;
use crate::model::{Direction, Interface, InterfaceId, Memory, Method, Model, Param, Returns, Transfer, Variant};
use crate::tools::notation::{id_text, type_text, value_text};

impl<'m> Comparison<'m> {
    pub(super) fn interfaces(&mut self, old: InterfaceId, new: InterfaceId) {
        if self.old.is_built_in(old) && self.new.is_built_in(new) {
            return;
        }
        let (before, now) = (&self.old.interfaces[old.0], &self.new.interfaces[new.0]);
        self.heads(before, now);
        match (before.base, now.base) {
            (Some(a), Some(b)) if is_same(&self.old.interfaces[a.0], &self.new.interfaces[b.0]) => {
                self.pair(Pair::Interface(a, b));
            }
            (None, None) => {}
            (a, b) => {
                let name = |model: &'m Model, base: Option<InterfaceId>| {
                    base.map_or("IUnknown", |base| model.interfaces[base.0].name.as_str())
                };
                let (a, b) = (name(self.old, a), name(self.new, b));
                let message = format!("the base of `{}`: `{a}` before, `{b}` now", now.name);
                self.report(Kind::InterfaceBase, Some(now.span), message);
            }
        }
        self.methods(before, now);
    }

    /// Compares the attributes of two interfaces.
    fn heads(&mut self, old: &Interface, new: &Interface) {
        let (name, span) = (&new.name, Some(new.span));
        if old.name != new.name {
            let message = format!("the interface `{}` is called `{name}` now", old.name);
            self.report(Kind::InterfaceRenamed, span, message);
        }
        if old.uuid != new.uuid {
            self.report(Kind::InterfaceUuid, span, format!("`{name}` has another uuid"));
        }
        if old.version != new.version {
            let (a, b) = (old.version, new.version);
            let message = format!("the version of `{name}`: {}.{} before, {}.{} now", a.0, a.1, b.0, b.1);
            self.report(Kind::InterfaceVersion, span, message);
        }
        let flags = [
            (Kind::InterfaceKind, old.plain, new.plain, "an interface of functions"),
            (Kind::InterfaceLocal, old.local, new.local, "[local]"),
            (Kind::InterfaceDual, old.dual, new.dual, "an interface for calls by name"),
        ];
        for (kind, was, is, what) in flags {
            if was != is {
                let verb = if is { "is now" } else { "is no longer" };
                self.report(kind, span, format!("`{name}` {verb} {what}"));
            }
        }
        for endpoint in old.endpoints.iter().filter(|endpoint| !new.endpoints.contains(endpoint)) {
            let message = format!("`{name}` no longer has the endpoint `{endpoint}`");
            self.report(Kind::EndpointRemoved, span, message);
        }
    }

    fn methods(&mut self, old: &Interface, new: &Interface) {
        let before: Vec<&str> = old.methods.iter().map(|method| method.name.as_str()).collect();
        let now: Vec<&str> = new.methods.iter().map(|method| method.name.as_str()).collect();
        let (old_model, new_model) = (self.old, self.new);
        let is_same = |a: usize, b: usize| {
            signature(old_model, &old.methods[a].params) == signature(new_model, &new.methods[b].params)
        };
        let scope = Scope::of(before, now, is_same);
        let kinds = [Kind::MethodRemoved, Kind::MethodAdded, Kind::MethodMoved];
        self.parts((&format!("`{}`", new.name), new.span), ("method", kinds), &scope, |at| new.methods[at].span);
        for &(a, b) in &scope.alignment.pairs {
            self.method(&new.name, &old.methods[a], &new.methods[b]);
        }
    }

    fn method(&mut self, owner: &str, old: &Method, new: &Method) {
        let (name, span) = (format!("`{owner}.{}`", new.name), Some(new.span));
        if old.name != new.name {
            let message = format!("the method `{owner}.{}` is called `{}` now", old.name, new.name);
            self.report(Kind::MethodRenamed, span, message);
        }
        if old.returns != new.returns {
            let text = |returns: Returns| match returns {
                Returns::Hresult => "HRESULT",
                Returns::Nothing => "void",
                Returns::Value => "a value",
            };
            let (a, b) = (text(old.returns), text(new.returns));
            self.report(Kind::MethodResult, span, format!("the result of {name}: {a} before, {b} now"));
        }
        if old.oneway != new.oneway {
            let verb = if new.oneway { "now" } else { "no longer" };
            self.report(Kind::MethodOneway, span, format!("{name} is {verb} [oneway]"));
        }
        if old.idempotent && !new.idempotent {
            self.report(Kind::IdempotentRemoved, span, format!("{name} is no longer [idempotent]"));
        }
        match (&old.travels_as, &new.travels_as) {
            (Some(old), Some(new)) => self.method(owner, old, new),
            (None, None) => {}
            (_, now) => {
                let verb = if now.is_some() { "now travels" } else { "no longer travels" };
                self.report(Kind::MethodCallAs, span, format!("{name} {verb} as another method"));
            }
        }
        self.member(&name, old, new);
        self.params(&name, old, new);
    }

    /// Compares the properties of two methods for calls by name.
    fn member(&mut self, name: &str, old: &Method, new: &Method) {
        let (span, before, now) = (Some(new.span), &old.member, &new.member);
        if before.id != now.id {
            let (a, b) = (id_text(before.id), id_text(now.id));
            self.report(Kind::MemberId, span, format!("the DISPID of {name}: {a} before, {b} now"));
        }
        if before.kind != now.kind {
            let message = format!("{name}: {} before, {} now", use_of(before.kind), use_of(now.kind));
            self.report(Kind::MemberKind, span, message);
        }
        if before.restricted != now.restricted {
            let verb = if now.restricted { "now" } else { "no longer" };
            self.report(Kind::MemberRestricted, span, format!("{name} is {verb} [restricted]"));
        }
    }

    fn params(&mut self, method: &str, old: &Method, new: &Method) {
        let before: Vec<&str> = old.params.iter().map(|param| param.name.as_str()).collect();
        let now: Vec<&str> = new.params.iter().map(|param| param.name.as_str()).collect();
        let (old_model, new_model) = (self.old, self.new);
        let is_same =
            |a: usize, b: usize| signature(old_model, &old.params[a..=a]) == signature(new_model, &new.params[b..=b]);
        let scope = Scope::of(before, now, is_same);
        let kinds = [Kind::ParamRemoved, Kind::ParamAdded, Kind::ParamMoved];
        self.parts((method, new.span), ("parameter", kinds), &scope, |at| new.params[at].span);
        for &(a, b) in &scope.alignment.pairs {
            self.param(method, &old.params[a], &new.params[b], &scope);
        }
    }

    fn param(&mut self, method: &str, old: &Param, new: &Param, scope: &Scope<'_>) {
        let subject = format!("the parameter `{}` of {method}", new.name);
        let mut changes = Vec::new();
        let mut compare = |kind: Kind, before: String, now: String| {
            if before != now {
                changes.push((kind, before, now));
            }
        };
        compare(Kind::ParamRenamed, old.name.clone(), new.name.clone());
        compare(Kind::ParamDirection, direction(old.direction).to_owned(), direction(new.direction).to_owned());
        let retval = |param: &Param| if param.retval { "[retval]" } else { "no [retval]" }.to_owned();
        compare(Kind::ParamRetval, retval(old), retval(new));
        compare(Kind::ParamTransfer, transfer(old.transfer).to_owned(), transfer(new.transfer).to_owned());
        compare(Kind::ParamAutomation, memory(old.memory), memory(new.memory));
        compare(Kind::ParamOptional, optional(old.variant.as_ref()), optional(new.variant.as_ref()));
        // Types of Automation travel as types of the built-in file, whose change is reported above.
        if old.memory == new.memory {
            changes.extend(self.places(&place(old), &place(new), scope));
        }
        self.report_all(changes, new.span, &subject);
    }
}

/// Whether two interfaces are the same one: by uuid, or by name if they have none.
fn is_same(old: &Interface, new: &Interface) -> bool {
    if old.uuid == new.uuid && old.uuid != 0 { true } else { old.name == new.name }
}

fn place(param: &Param) -> Place<'_> {
    let Param { ty, range, switch, varying, .. } = param;
    Place { ty, range: *range, switch: switch.as_ref(), varying: varying.as_ref() }
}

/// Returns the types of parameters, by which renamed declarations are recognised.
fn signature(model: &Model, params: &[Param]) -> Vec<(String, bool, bool)> {
    let types = params.iter().map(|param| (param, memory(param.memory), type_text(model, &param.ty)));
    types.map(|(param, kind, ty)| (kind + &ty, param.direction.is_in(), param.direction.is_out())).collect()
}

fn memory(memory: Option<Memory>) -> String {
    memory.map_or_else(|| "no type of Automation".to_owned(), memory_text)
}

/// Returns the name of a type of Automation.
pub(super) fn memory_text(memory: Memory) -> String {
    match memory {
        Memory::Bstr => "BSTR".to_owned(),
        Memory::Variant => "VARIANT".to_owned(),
        Memory::SafeArray(element) => format!("SAFEARRAY({})", element_name(element)),
    }
}

fn optional(variant: Option<&Variant>) -> String {
    match variant {
        Some(Variant { optional: true, default: Some(value), .. }) => format!("defaultvalue({})", value_text(value)),
        Some(Variant { optional: true, default: None, .. }) => "[optional]".to_owned(),
        _ => "not optional".to_owned(),
    }
}

const fn transfer(transfer: Transfer) -> &'static str {
    match transfer {
        Transfer::Frame => "in the frame",
        Transfer::ZeroCopy => "[zero_copy]",
        Transfer::Map => "[map]",
        // The room that the server keeps does not concern clients.
        Transfer::Lend(_) => "[lend]",
    }
}

const fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::In => "[in]",
        Direction::Out => "[out]",
        Direction::InOut => "[in, out]",
    }
}

const fn use_of(kind: MemberKind) -> &'static str {
    match kind {
        MemberKind::Method => "a method",
        MemberKind::Get => "[propget]",
        MemberKind::Put => "[propput]",
        MemberKind::PutRef => "[propputref]",
    }
}
