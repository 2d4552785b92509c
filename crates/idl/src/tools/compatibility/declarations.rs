//! Comparison of declarations that matter to source code, but not to calls: constants, typedefs,
//! and the names of types.

use super::changes::Kind;
use super::comparison::{Comparison, Pair};
use super::types::Scope;
use crate::model::{Base, Enum, Type, Value};
use crate::tools::declared::{DeclaredType, declared_types};
use crate::tools::notation::value_text;
use std::collections::{HashMap, HashSet};

impl<'m> Comparison<'m> {
    pub(super) fn constants(&mut self) {
        for old in &self.old.consts {
            let name = &old.name;
            let Some(&new) = self.new_names.consts.get(name.as_str()) else {
                if !old.imported {
                    self.report(Kind::ConstRemoved, None, format!("the constant `{name}` is gone"));
                }
                continue;
            };
            if !is_same(&old.value, &new.value) {
                let (a, b) = (value_text(&old.value, old.base), value_text(&new.value, new.base));
                let message = format!("the value of `{name}`: {a} before, {b} now");
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
        for old in &self.old.typedefs {
            let name = &old.name;
            let (changes, span) = match self.new_names.typedefs.get(name.as_str()).copied() {
                Some(new) => {
                    let mut changes = self.types(&old.ty, &new.ty, &Scope::default());
                    if old.is_interface != new.is_interface {
                        let text = |is_interface| if is_interface { "an interface" } else { "a pointer" }.to_owned();
                        changes.push((Kind::TypedefTarget, text(old.is_interface), text(new.is_interface)));
                    }
                    (changes, Some(new.span))
                }
                // The name may now belong to the type itself.
                None => match self.new_names.types.get(name.as_str()).cloned() {
                    Some(ty) => (self.types(&old.ty, &ty, &Scope::default()), None),
                    None if old.imported => continue,
                    None => {
                        self.report(Kind::TypedefRemoved, None, format!("the typedef `{name}` is gone"));
                        continue;
                    }
                },
            };
            for (_, before, now) in changes {
                let message = format!("the typedef `{name}`: `{before}` before, `{now}` now");
                self.report(Kind::TypedefTarget, span, message);
            }
        }
    }

    /// Adds the pairs of declared types of one name, and compares their uuids.
    pub(super) fn types_by_name(&mut self) {
        let new: HashMap<&str, DeclaredType<'m>> = declared_types(self.new).map(|new| (new.name, new)).collect();
        for old in declared_types(self.old) {
            let Some(new) = new.get(old.name) else { continue };
            Pair::of(&old.ty, &new.ty).into_iter().for_each(|pair| self.pair(pair));
            if old.about.uuid.is_some() && old.about.uuid != new.about.uuid {
                self.report(Kind::TypeUuid, Some(new.span), format!("the type `{}` has another uuid", old.name));
            }
        }
    }

    /// Reports the types of the old file that are gone, unless they have been found renamed.
    pub(super) fn removed_types(&mut self) {
        let compared: HashSet<Type> = self.pairs().filter_map(|pair| pair.old_type()).collect();
        for old in declared_types(self.old).filter(|old| !old.imported && !compared.contains(&old.ty)) {
            match &old.ty {
                Type::Enum(id) if is_anonymous(&self.old.enums[id.0]) => self.values(&self.old.enums[id.0]),
                _ => {
                    let message = format!("the type `{}` is gone, or is of another kind", old.name);
                    self.report(Kind::TypeRemoved, None, message);
                }
            }
        }
    }

    /// Compares the values of an enumeration without a name, which are constants.
    fn values(&mut self, old: &'m Enum) {
        for (name, before) in &old.values {
            let constant = || match self.new_names.consts.get(name.as_str())?.value {
                Value::Int(value) => Some(value),
                _ => None,
            };
            let now = self.new_names.values.get(name.as_str()).copied().map(i64::from).or_else(constant);
            match now {
                None => self.report(Kind::ConstRemoved, None, format!("the constant `{name}` is gone")),
                Some(now) if now != i64::from(*before) => {
                    let message = format!("the value of `{name}`: {before} before, {now} now");
                    self.report(Kind::ConstValue, None, message);
                }
                Some(_) => {}
            }
        }
    }
}

/// Whether two values are the same number or text. A floating-point constant may be written as an
/// integer.
fn is_same(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Int(whole), Value::Float(number)) | (Value::Float(number), Value::Int(whole)) => {
            *whole as f64 == *number
        }
        (old, new) => old == new,
    }
}

/// Whether the file has no name for an enumeration, so that the compiler made a name from the first
/// value's name.
fn is_anonymous(found: &Enum) -> bool {
    let rest = found.values.first().and_then(|(first, _)| found.name.strip_prefix(first.as_str()));
    rest.is_some_and(|rest| rest.starts_with("_enum"))
}
