//! Comparison of interfaces, their methods and the methods' parameters.

use super::changes::Kind;
use super::comparison::{Comparison, Pair};
use super::params::signature;
use super::types::Scope;
use crate::model::automation::Kind as MemberKind;
use crate::model::typelib::flags::{DUAL, OLEAUTOMATION};
use crate::model::{Interface, InterfaceId, Method, Model, Param, Returns};
use crate::tools::notation::id_text;

impl<'m> Comparison<'m> {
    pub(super) fn interfaces(&mut self, old: InterfaceId, new: InterfaceId) {
        if self.old.is_built_in(old) && self.new.is_built_in(new) {
            return;
        }
        let (before, now) = (&self.old.interfaces[old.0], &self.new.interfaces[new.0]);
        let is_described = self.is_described(old, new);
        self.heads(before, now);
        if is_described {
            self.flags(before, now);
        }
        match (before.base, now.base) {
            (Some(a), Some(b)) if self.is_same_interface(a, b) => {
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
        self.methods(before, now, is_described);
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
            (Kind::InterfaceKind, old.plain, new.plain, ["is now", "is no longer"], "an interface of functions"),
            (Kind::InterfaceLocal, old.local, new.local, ["is now", "is no longer"], "[local]"),
            (Kind::InterfaceDual, old.dual, new.dual, ["now extends", "no longer extends"], "IDispatch"),
        ];
        for (kind, was, is, [now, no_longer], what) in flags {
            if was != is {
                let verb = if is { now } else { no_longer };
                self.report(kind, span, format!("`{name}` {verb} {what}"));
            }
        }
        for endpoint in old.endpoints.iter().filter(|endpoint| !new.endpoints.contains(endpoint)) {
            let message = format!("`{name}` no longer has the endpoint `{endpoint}`");
            self.report(Kind::EndpointRemoved, span, message);
        }
    }

    /// Reports `[dual]` and `[oleautomation]` if the old interface has the attribute and the new
    /// one lacks it. A `[dual]` interface is treated as `[oleautomation]`, too.
    fn flags(&mut self, old: &Interface, new: &Interface) {
        let lost = old.about.flags & !new.about.flags;
        let is_automation = new.about.flags & (DUAL | OLEAUTOMATION) != 0;
        for (is_lost, attribute) in
            [(lost & DUAL != 0, "dual"), (lost & OLEAUTOMATION != 0 && !is_automation, "oleautomation")]
        {
            if is_lost {
                let message = format!("`{}` no longer has [{attribute}]", new.name);
                self.report(Kind::InterfaceAutomation, Some(new.span), message);
            }
        }
    }

    fn methods(&mut self, old: &'m Interface, new: &'m Interface, is_described: bool) {
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
            let (before, now) = (&old.methods[a], &new.methods[b]);
            let travels_alike = before.travels_as.is_some() == now.travels_as.is_some();
            if before.local != now.local && old.local == new.local && travels_alike {
                let verb = if now.local { "now" } else { "no longer" };
                let message = format!("`{}.{}` is {verb} [local]", new.name, now.name);
                self.report(Kind::MethodLocal, Some(now.span), message);
            }
            self.method(new, before, now, is_described);
        }
    }

    /// Compares two methods of an interface. `is_described` says whether clients can know the
    /// methods by name, because the interface is `[dual]` or in a type library.
    fn method(&mut self, owner: &Interface, old: &'m Method, new: &'m Method, is_described: bool) {
        let (name, span) = (format!("`{}.{}`", owner.name, new.name), Some(new.span));
        if old.name != new.name {
            let message = format!("the method `{}.{}` is called `{}` now", owner.name, old.name, new.name);
            self.report(Kind::MethodRenamed, span, message);
        }
        match (&old.travels_as, &new.travels_as) {
            (Some(old), Some(new)) => self.method(owner, old, new, is_described),
            (None, None) => {}
            (_, now) => {
                let verb = if now.is_some() { "now travels" } else { "no longer travels" };
                self.report(Kind::MethodCallAs, span, format!("{name} {verb} as another method"));
            }
        }
        if is_described {
            self.member(&name, old, new);
        }
        let from = self.findings.len();
        self.form(&name, old, new, is_described);
        // Peers do not call a [local] method, so one finding replaces the findings about its form.
        if old.local && new.local && !owner.local && self.findings.len() > from {
            self.findings.truncate(from);
            self.report(Kind::MethodInProcess, span, format!("{name}, which is [local], has another form"));
        }
    }

    /// Compares the results, the parameters and the attributes of two methods.
    fn form(&mut self, name: &str, old: &'m Method, new: &'m Method, is_described: bool) {
        let span = Some(new.span);
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
        let ((before, a), (after, b)) = (parts_of(old), parts_of(new));
        self.params(name, new.span, (before, after), is_described);
        if let (Some(a), Some(b)) = (a, b) {
            self.param(&format!("the result of {name}"), (a, b), &Scope::default(), is_described);
        }
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
}

/// Returns the parameters of a method, and the result that the model holds as the last parameter,
/// if there is such a result.
fn parts_of(method: &Method) -> (&[Param], Option<&Param>) {
    match method.params.split_last() {
        Some((last, rest)) if method.returns == Returns::Value => (rest, Some(last)),
        _ => (&method.params, None),
    }
}

/// Returns the words for the way in which callers by name use a member.
pub(super) const fn use_of(kind: MemberKind) -> &'static str {
    match kind {
        MemberKind::Method => "a method",
        MemberKind::Get => "[propget]",
        MemberKind::Put => "[propput]",
        MemberKind::PutRef => "[propputref]",
    }
}
