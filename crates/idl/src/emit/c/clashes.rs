//! Declarations whose names would be one name in C, and which are refused.
//!
//! C has one scope for a file's declarations and for what is made of them: methods become macros
//! and functions called `INTERFACE_METHOD`, and structures come with functions. Constants are
//! macros, so those of an imported file apply to every name of the importing file.

use super::names::{ident, interface as interface_name, method as method_name, type_ident, value};
use super::structures;
use crate::Diagnostic;
use crate::model::{Field, InterfaceId, Method, Model, all_arms};
use crate::text::source::Span;
use std::collections::HashMap;

/// Suffixes of the names that belong to an interface.
const OF_INTERFACES: [&str; 7] = ["Vtbl", "_INFO", "_proxies", "_stubs", "_ndr", "_endpoints", "_types"];
/// Suffixes of the names of templates that belong to an interface. In C++ methods have no macros.
const IN_CPP: [&str; 3] = ["_calls", "_methods", "_adapter"];
/// Suffixes of the names that belong to a method, behind those of the interface and the method.
const OF_METHODS: [&str; 8] = ["_proxy", "_stub", "_request", "_reply", "_table", "_invoke", "_turn", "_refill"];
/// The methods of IUnknown, for which macros are made, too.
const OF_UNKNOWN: [&str; 3] = ["QueryInterface", "AddRef", "Release"];

/// The declaration that a name in C belongs to.
#[derive(Clone, PartialEq)]
struct Owner<'m> {
    kind: &'static str,
    name: &'m str,
    /// The interface of a method.
    of: Option<&'m str>,
    span: Span,
    imported: bool,
}

/// The names in C with their owners.
#[derive(Default)]
struct Names<'m> {
    owners: HashMap<String, Owner<'m>>,
    found: Vec<Diagnostic>,
}

/// Returns errors for the file's declarations whose names are taken.
pub(super) fn clashes(model: &Model) -> Vec<Diagnostic> {
    let mut names = Names::default();
    types(model, &mut names);
    values(model, &mut names);
    for (at, found) in model.interfaces.iter().enumerate().skip(model.brought.interfaces) {
        interface(model, &mut names, InterfaceId(at), found.imported);
    }
    members(model, &mut names);
    names.found
}

impl<'m> Names<'m> {
    /// Adds a name, and an error if it belongs to another declaration already.
    fn add(&mut self, name: String, owner: &Owner<'m>) {
        match self.owners.get(&name) {
            None => _ = self.owners.insert(name, owner.clone()),
            Some(first) if first == owner || first.imported && owner.imported => {}
            Some(first) => {
                let (first, second) = if owner.imported { (owner, first) } else { (first, owner) };
                self.found.push(error(&name, first, second));
            }
        }
    }

    /// Adds an error if a name of C++ alone belongs to a declaration.
    fn add_in_cpp(&mut self, name: &str, owner: &Owner<'m>) {
        let first = self.owners.get(name).filter(|first| first.of.is_none() && !(first.imported && owner.imported));
        if let Some(first) = first {
            let (first, second) = if owner.imported { (owner, first) } else { (first, owner) };
            self.found.push(error(name, first, second));
        }
    }
}

fn error(name: &str, first: &Owner<'_>, second: &Owner<'_>) -> Diagnostic {
    let text = format!("{} and {} are both `{name}` in C", second.said(), first.said());
    Diagnostic::error("taken-name", second.span, text)
        .related(first.span, "the other one")
        .help("give one of them another name; other languages keep them apart")
}

impl Owner<'_> {
    fn said(&self) -> String {
        let of = self.of.map_or_else(String::new, |of| format!(" of `{of}`"));
        format!("{} `{}`{of}", self.kind, self.name)
    }
}

/// Adds the names of types. The same name of two types is not an error here: a typedef may repeat
/// the name of its type.
fn types<'m>(model: &'m Model, names: &mut Names<'m>) {
    let brought = model.brought;
    let structs = model.structs.iter().skip(brought.structs).map(|found| (&found.name, found.span, found.imported));
    let unions = model.unions.iter().skip(brought.unions).map(|found| (&found.name, found.span, found.imported));
    let enums = model.enums.iter().skip(brought.enums).map(|found| (&found.name, found.span, found.imported));
    let typedefs = model.typedefs.iter().skip(brought.typedefs).map(|found| (&found.name, found.span, found.imported));
    let interfaces = model.interfaces.iter().skip(brought.interfaces);
    let interfaces = interfaces.map(|found| (&found.name, found.span, found.imported));
    for (name, span, imported) in structs.chain(unions).chain(enums).chain(typedefs).chain(interfaces) {
        let owner = Owner { kind: "type", name, of: None, span, imported };
        names.owners.entry(type_ident(name)).or_insert(owner);
    }
    for (name, of, span, imported) in structures::made(model) {
        names.add(name, &Owner { kind: "type", name: of, of: None, span, imported });
    }
    let checked = model.structs.iter().map(|found| (&found.name, found.span, found.imported));
    let checked = checked.chain(model.enums.iter().map(|found| (&found.name, found.span, found.imported)));
    for (name, span, imported) in checked.filter(|(.., imported)| !imported) {
        for ending in ["_is_valid", "_store"] {
            names.add(format!("{name}{ending}"), &Owner { kind: "type", name, of: None, span, imported });
        }
    }
}

/// Adds the names of constants and of the values of enumerations.
fn values<'m>(model: &'m Model, names: &mut Names<'m>) {
    for found in model.consts.iter().skip(model.brought.consts) {
        let (name, span, imported) = (found.name.as_str(), found.span, found.imported);
        names.add(value(model, name, imported, true), &Owner { kind: "constant", name, of: None, span, imported });
    }
    for found in model.enums.iter().skip(model.brought.enums) {
        for (name, _) in &found.values {
            let owner = Owner { kind: "value", name, of: None, span: found.span, imported: found.imported };
            names.add(value(model, name, found.imported, false), &owner);
        }
    }
}

fn interface<'m>(model: &'m Model, names: &mut Names<'m>, id: InterfaceId, imported: bool) {
    let found = &model.interfaces[id.0];
    let name = interface_name(model, id);
    let owner = Owner { kind: "type", name: &found.name, of: None, span: found.span, imported };
    names.add(format!("IID_{name}"), &owner);
    OF_INTERFACES.iter().for_each(|ending| names.add(format!("{name}{ending}"), &owner));
    IN_CPP.iter().for_each(|ending| names.add_in_cpp(&format!("{name}{ending}"), &owner));
    for of in OF_UNKNOWN {
        names.add(format!("{name}_{of}"), &Owner { kind: "method", name: of, of: Some(&found.name), ..owner.clone() });
    }
    for method in model.all_methods(id) {
        // An inherited method is a part of this interface here.
        let is_own = found.methods.iter().any(|own| std::ptr::eq(own, method));
        let span = if is_own { method.span } else { found.span };
        let owner = Owner { kind: "method", name: &method.name, of: Some(&found.name), span, imported };
        of_method(names, &name, method, &owner);
    }
}

fn of_method<'m>(names: &mut Names<'m>, interface: &str, method: &Method, owner: &Owner<'m>) {
    names.add(format!("{interface}_{}", method_name(&method.code)), owner);
    // Code for each method is a part of the file that declares the interface.
    if owner.imported {
        return;
    }
    for ending in OF_METHODS {
        names.add(format!("{interface}_{}{ending}", method.name), owner);
    }
}

/// Adds an error for each member and method that has the name of an imported constant. Constants of
/// the file itself get other names.
fn members<'m>(model: &'m Model, names: &mut Names<'m>) {
    let constants = model.consts.iter().skip(model.brought.consts).filter(|found| found.imported);
    let constants: HashMap<String, Owner<'m>> = constants
        .map(|found| {
            let owner = Owner { kind: "constant", name: &found.name, of: None, span: found.span, imported: true };
            (value(model, &found.name, true, true), owner)
        })
        .collect();
    if constants.is_empty() {
        return;
    }
    let mut add = |kind: &'static str, code: String, name: &'m str, of: &'m str, span: Span| {
        if let Some(constant) = constants.get(&code) {
            names.found.push(error(&code, constant, &Owner { kind, name, of: Some(of), span, imported: false }));
        }
    };
    let mut member = |field: &'m Field, of: &'m str| add("member", ident(&field.name), &field.name, of, field.span);
    for found in model.structs.iter().filter(|found| !found.imported) {
        found.fields.iter().for_each(|field| member(field, &found.name));
    }
    for found in model.unions.iter().filter(|found| !found.imported) {
        all_arms(found).for_each(|field| member(field, &found.name));
    }
    for found in model.unions.iter().filter(|found| !found.imported) {
        for name in found.encapsulated.iter().flat_map(|(tag, inner)| [tag, inner]) {
            add("member", ident(name), name, &found.name, found.span);
        }
    }
    for found in model.interfaces.iter().filter(|found| !found.imported) {
        for method in &found.methods {
            add("method", method_name(&method.code), &method.name, &found.name, method.span);
        }
    }
}
