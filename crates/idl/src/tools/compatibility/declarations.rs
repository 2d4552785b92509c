//! Comparison of declarations that no call depends on, but source code, scripts or tools do:
//! constants, typedefs, and the contents of libraries.

use super::changes::Kind;
use super::comparison::{Comparison, Pair};
use super::interfaces::memory_text;
use super::types::Scope;
use crate::model::typelib::flags::{DEFAULT, SOURCE};
use crate::model::{Base, Coclass, DispMember, DispMembers, Dispinterface, EnumId, Model, Offered, StructId, UnionId};
use crate::tools::notation::{id_text, type_text, value_text};
use std::collections::HashSet;

impl Comparison<'_> {
    pub(super) fn constants(&mut self) {
        for old in self.old.consts.iter().filter(|old| !old.imported) {
            let name = &old.name;
            let Some(&at) = self.new_names.consts.get(name.as_str()) else {
                self.report(Kind::ConstRemoved, None, format!("the constant `{name}` is gone"));
                continue;
            };
            let new = &self.new.consts[at];
            if old.value != new.value {
                let message =
                    format!("the value of `{name}`: {} before, {} now", value_text(&old.value), value_text(&new.value));
                self.report(Kind::ConstValue, Some(new.span), message);
            }
            if old.base != new.base {
                let text = |base: Option<Base>| base.map_or("no type", Base::idl);
                let message = format!("the type of `{name}`: {} before, {} now", text(old.base), text(new.base));
                self.report(Kind::ConstType, Some(new.span), message);
            }
        }
    }

    pub(super) fn typedefs(&mut self) {
        for old in self.old.typedefs.iter().filter(|old| !old.imported) {
            let name = &old.name;
            match self.new_names.typedefs.get(name.as_str()).map(|at| &self.new.typedefs[*at]) {
                Some(new) => {
                    let changes = self.types(&old.ty, &new.ty, &Scope::default());
                    if !changes.is_empty() || old.is_interface != new.is_interface {
                        let (a, b) = (type_text(self.old, &old.ty), type_text(self.new, &new.ty));
                        let message = format!("the typedef `{name}`: `{a}` before, `{b}` now");
                        self.report(Kind::TypedefTarget, Some(new.span), message);
                    }
                }
                None if self.new_names.has_type(name) => {}
                None => self.report(Kind::TypedefRemoved, None, format!("the typedef `{name}` is gone")),
            }
        }
    }

    /// Adds the pairs of declared types of one name.
    pub(super) fn types_by_name(&mut self) {
        let old = self.old;
        for (at, found) in old.structs.iter().enumerate().filter(|(_, found)| !found.imported) {
            let other = self.new_names.structs.get(found.name.as_str()).copied();
            other.into_iter().for_each(|other| self.pair(Pair::Struct(StructId(at), StructId(other))));
        }
        for (at, found) in old.unions.iter().enumerate().filter(|(_, found)| !found.imported) {
            let other = self.new_names.unions.get(found.name.as_str()).copied();
            other.into_iter().for_each(|other| self.pair(Pair::Union(UnionId(at), UnionId(other))));
        }
        for (at, found) in old.enums.iter().enumerate().filter(|(_, found)| !found.imported) {
            let other = self.new_names.enums.get(found.name.as_str()).copied();
            other.into_iter().for_each(|other| self.pair(Pair::Enum(EnumId(at), EnumId(other))));
        }
    }

    /// Reports the types of the old file that are gone, unless they have been found renamed.
    pub(super) fn removed_types(&mut self) {
        let structs = self.old.structs.iter().filter(|old| !old.imported).map(|old| &old.name);
        let unions = self.old.unions.iter().filter(|old| !old.imported).map(|old| &old.name);
        let enums = self.old.enums.iter().filter(|old| !old.imported).map(|old| &old.name);
        let old = self.old;
        let compared = self.pairs().map(|pair| match pair {
            Pair::Struct(id, _) => &old.structs[id.0].name,
            Pair::Union(id, _) => &old.unions[id.0].name,
            Pair::Enum(id, _) => &old.enums[id.0].name,
            Pair::Interface(id, _) => &old.interfaces[id.0].name,
        });
        let compared: HashSet<&String> = compared.collect();
        for name in structs.chain(unions).chain(enums).filter(|name| !compared.contains(name)) {
            self.report(Kind::TypeRemoved, None, format!("the type `{name}` is gone, or is of another kind"));
        }
    }

    pub(super) fn libraries(&mut self) {
        for old in self.old.libraries.iter().filter(|old| !old.imported) {
            let name = &old.name;
            let Some(new) = self.new.libraries.iter().find(|new| new.name == *name) else {
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
        }
        for old in &self.old.coclasses {
            match self.new.coclasses.iter().find(|new| new.name == old.name) {
                Some(new) => self.classes(old, new),
                None => self.report(Kind::CoclassRemoved, None, format!("the class `{}` is gone", old.name)),
            }
        }
        for old in &self.old.dispinterfaces {
            let name = &old.name;
            match self.new.dispinterfaces.iter().find(|new| new.name == *name) {
                Some(new) => self.dispinterfaces(old, new),
                None => {
                    self.report(Kind::DispinterfaceRemoved, None, format!("the dispinterface `{name}` is gone"));
                }
            }
        }
    }

    fn classes(&mut self, old: &Coclass, new: &Coclass) {
        let (name, span) = (&new.name, Some(new.span));
        if old.about.uuid != new.about.uuid {
            self.report(Kind::CoclassUuid, span, format!("the class `{name}` has another uuid"));
        }
        for (offered, bits) in &old.interfaces {
            let wanted = offered_name(self.old, *offered);
            let found = new.interfaces.iter().find(|(offered, _)| offered_name(self.new, *offered) == wanted);
            match found {
                None => {
                    let message = format!("the class `{name}` no longer has the interface `{wanted}`");
                    self.report(Kind::CoclassInterface, span, message);
                }
                Some((_, now)) if (bits ^ now) & (DEFAULT | SOURCE) != 0 => {
                    let message = format!("[default] or [source] of `{wanted}` in the class `{name}` has changed");
                    self.report(Kind::CoclassDefault, span, message);
                }
                Some(_) => {}
            }
        }
    }

    fn dispinterfaces(&mut self, old: &Dispinterface, new: &Dispinterface) {
        let (name, span) = (&new.name, Some(new.span));
        if old.about.uuid != new.about.uuid {
            self.report(Kind::DispinterfaceUuid, span, format!("the dispinterface `{name}` has another uuid"));
        }
        let (before, now) = (members(self.old, old), members(self.new, new));
        for (member, id, kind, types) in before {
            let found = now.iter().find(|(known, _, known_kind, _)| *known == member && *known_kind == kind);
            let Some((_, now_id, _, now_types)) = found else {
                let message = format!("the dispinterface `{name}` has no `{member}` any more");
                self.report(Kind::DispMemberRemoved, span, message);
                continue;
            };
            if id != *now_id {
                let message =
                    format!("the DISPID of `{name}.{member}`: {} before, {} now", id_text(id), id_text(*now_id));
                self.report(Kind::MemberId, span, message);
            }
            if types != *now_types {
                let message = format!("`{name}.{member}`: ({types}) before, ({now_types}) now");
                self.report(Kind::DispMemberType, span, message);
            }
        }
    }
}

fn offered_name(model: &Model, offered: Offered) -> &str {
    match offered {
        Offered::Unknown => "IUnknown",
        Offered::Interface(id) => &model.interfaces[id.0].name,
        Offered::Dispinterface(at) => &model.dispinterfaces[at].name,
    }
}

/// Returns the name, the DISPID, the kind and the types of each member of a dispinterface. The
/// members of an interface are compared with the interface.
fn members<'m>(model: &Model, of: &'m Dispinterface) -> Vec<(&'m str, Option<i32>, &'static str, String)> {
    let Some(DispMembers::Own(properties, methods)) = &of.members else { return Vec::new() };
    let text = |member: &DispMember| {
        let values = member.params.iter().chain(&member.returns);
        let types = values.map(|value| match value.memory {
            Some(memory) => memory_text(memory),
            None => type_text(model, &value.ty),
        });
        types.collect::<Vec<_>>().join(", ")
    };
    let list = |members: &'m [DispMember], kind: &'static str| {
        let of = |member: &'m DispMember| (member.member.name.as_str(), member.member.id, kind, text(member));
        members.iter().map(of).collect::<Vec<_>>()
    };
    [list(properties, "property"), list(methods, "method")].concat()
}
