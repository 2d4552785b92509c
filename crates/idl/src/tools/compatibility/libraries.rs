//! Comparison of libraries and classes, which scripts and tools use.

use super::changes::Kind;
use super::comparison::Comparison;
use crate::model::typelib::flags::{CAN_CREATE, DEFAULT, SOURCE};
use crate::model::{Coclass, Declared, Library, Model, Offered};
use std::collections::HashSet;

impl<'m> Comparison<'m> {
    pub(super) fn libraries(&mut self) {
        for old in self.old.libraries.iter().filter(|old| !old.imported) {
            let name = &old.name;
            let Some(&new) = self.new_names.libraries.get(name.as_str()) else {
                self.report(Kind::LibraryRemoved, None, format!("the library `{name}` is gone"));
                continue;
            };
            if old.about.uuid != new.about.uuid {
                self.report(Kind::LibraryUuid, Some(new.span), format!("the library `{name}` has another uuid"));
            }
            let (a, b) = (old.about.version, new.about.version);
            if a.0 != b.0 || a.1 > b.1 {
                let message = format!("the library `{name}`: version {}.{} before, {}.{} now", a.0, a.1, b.0, b.1);
                self.report(Kind::LibraryVersion, Some(new.span), message);
            }
            self.contents(old, new);
        }
    }

    /// Reports the declarations that a library no longer has, although the file still has them.
    fn contents(&mut self, old: &'m Library, new: &Library) {
        let listed: HashSet<(&str, &str)> =
            new.declared.iter().map(|declared| self.new.declared_name(*declared)).collect();
        for declared in &old.declared {
            let (kind, mut name) = self.old.declared_name(*declared);
            if let Declared::Interface(id) = declared
                && let Some(new) = self.new_names.counterpart(&self.old.interfaces[id.0])
            {
                name = &self.new.interfaces[new.0].name;
            }
            if !listed.contains(&(kind, name)) && self.new_names.has(*declared, name) {
                let message = format!("the library `{}` no longer has the {kind} `{name}`", old.name);
                self.report(Kind::LibraryMember, Some(new.span), message);
            }
        }
    }

    pub(super) fn classes(&mut self) {
        for old in &self.old.coclasses {
            match self.new_names.coclasses.get(old.name.as_str()).copied() {
                Some(new) => self.class(old, new),
                None if old.imported => {}
                None => self.report(Kind::CoclassRemoved, None, format!("the class `{}` is gone", old.name)),
            }
        }
    }

    fn class(&mut self, old: &'m Coclass, new: &'m Coclass) {
        let (name, span) = (&new.name, Some(new.span));
        if old.about.uuid != new.about.uuid {
            self.report(Kind::CoclassUuid, span, format!("the class `{name}` has another uuid"));
        }
        if old.about.flags & !new.about.flags & CAN_CREATE != 0 {
            self.report(Kind::CoclassNoncreatable, span, format!("the class `{name}` is [noncreatable] now"));
        }
        let offers: HashSet<(&str, u32)> =
            new.interfaces.iter().map(|(offered, bits)| (self.new.offered_name(*offered).1, bits & SOURCE)).collect();
        for (offered, bits) in &old.interfaces {
            let (wanted, source) = (self.name_now(*offered), bits & SOURCE);
            if !offers.contains(&(wanted, source)) {
                let what = if source == 0 { "interface" } else { "[source] interface" };
                let message = format!("the class `{name}` no longer has the {what} `{wanted}`");
                self.report(Kind::CoclassInterface, span, message);
            }
        }
        for (source, what) in [(0, "default interface"), (SOURCE, "default [source] interface")] {
            let before = default_of(old, source).map(|offered| self.name_now(offered));
            let now = default_of(new, source).map(|offered| self.new.offered_name(offered).1);
            // A class without interfaces has no default, and a lost interface has been reported
            // above.
            if let (Some(before), Some(now)) = (before, now)
                && before != now
                && offers.contains(&(before, source))
            {
                let message = format!("the {what} of the class `{name}`: `{before}` before, `{now}` now");
                self.report(Kind::CoclassDefault, span, message);
            }
        }
    }

    /// Returns the name that an interface of the old model has in the new model.
    fn name_now(&self, offered: Offered) -> &'m str {
        let (old, new): (&'m Model, &'m Model) = (self.old, self.new);
        match offered {
            Offered::Interface(id) => {
                let found = &old.interfaces[id.0];
                self.new_names.counterpart(found).map_or(&found.name, |id| &new.interfaces[id.0].name)
            }
            other => old.offered_name(other).1,
        }
    }
}

/// Returns the default interface of a class: the interface with `[default]`, or else the first
/// interface. `source` is the flag `SOURCE` for the default among the sources, and 0 for the
/// default among the implemented interfaces.
fn default_of(class: &Coclass, source: u32) -> Option<Offered> {
    let all = || class.interfaces.iter().filter(|(_, bits)| bits & SOURCE == source);
    let found = all().find(|(_, bits)| bits & DEFAULT != 0).or_else(|| all().next());
    found.map(|(offered, _)| *offered)
}
