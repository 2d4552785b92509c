//! The check for declarations that would have the same name in C.
//!
//! C has one scope for a file's declarations and for the code that is generated for them. For
//! example, each method gets a macro and functions with names that begin with `INTERFACE_METHOD`,
//! and some structures get functions.

use super::context::made;
use super::interface::by_reference;
use super::names::{interface as interface_name, method as method_name, type_ident, value};
use super::suffix::{self, PROXY, STUB, TABLE};
use super::values::Functions;
use super::{projection, structures, table};
use crate::Diagnostic;
use crate::emit::taken_name;
use crate::model::{InterfaceId, Method, Model};
use crate::plan::{MethodPlan, plan, plans};
use crate::text::source::Span;
use crate::text::writer::{Origin, Writer};
use std::collections::HashMap;

/// The methods of IUnknown, for which macros are made, too.
const OF_UNKNOWN: [&str; 3] = ["QueryInterface", "AddRef", "Release"];

/// The declaration for which a name is declared in C.
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
    /// The macros of methods, which the headers define only for C. A macro does not replace the
    /// name of an object or of a structure, because no parenthesis follows such a name.
    macros: HashMap<String, Owner<'m>>,
    found: Vec<Diagnostic>,
}

/// Returns errors for the file's declarations whose names are taken.
pub(super) fn clashes(model: &Model) -> Vec<Diagnostic> {
    let mut names = Names::default();
    let all = || model.interfaces.iter().enumerate().skip(model.bundled.interfaces).map(|(at, _)| InterfaceId(at));
    let is_remote = |id: &InterfaceId| !model.interfaces[id.0].imported && !model.interfaces[id.0].local;
    types(model, &mut names);
    values(model, &mut names);
    all().for_each(|id| macros(model, &mut names, id));
    for id in all().filter(is_remote) {
        of_stubs(model, &mut names, id);
    }
    of_values(model, &mut names, &all().filter(is_remote).collect::<Vec<_>>());
    all().for_each(|id| of_headers(model, &mut names, id));
    names.found
}

impl<'m> Names<'m> {
    /// Adds the name of a declaration or of a function, and an error if the name already belongs to
    /// another declaration.
    fn add(&mut self, name: String, owner: &Owner<'m>) {
        let first = self.macros.get(&name).cloned();
        self.add_object(name.clone(), owner);
        first.into_iter().for_each(|first| self.compare(&name, &first, owner));
    }

    /// Adds the name of a method's macro.
    fn add_macro(&mut self, name: String, owner: &Owner<'m>) {
        let first = self.macros.get(&name).or_else(|| self.owners.get(&name)).cloned();
        match first {
            None => _ = self.macros.insert(name, owner.clone()),
            Some(first) => self.compare(&name, &first, owner),
        }
    }

    /// Adds the name of an object or of a structure.
    fn add_object(&mut self, name: String, owner: &Owner<'m>) {
        match self.owners.get(&name).cloned() {
            None => _ = self.owners.insert(name, owner.clone()),
            Some(first) => self.compare(&name, &first, owner),
        }
    }

    /// Adds an error for a name that belongs to two declarations, unless both are imported.
    fn compare(&mut self, name: &str, first: &Owner<'m>, second: &Owner<'m>) {
        if first == second || first.imported && second.imported {
            return;
        }
        self.found.push(taken_name("C", name, &first.origin(), &second.origin()));
    }
}

impl Owner<'_> {
    fn origin(&self) -> Origin {
        let of = self.of.map_or_else(String::new, |of| format!(" of `{of}`"));
        Origin { what: format!("{} `{}`{of}", self.kind, self.name), span: self.span, imported: self.imported }
    }
}

/// Adds the names of types. The same name of two types is not an error here: a typedef may repeat
/// the name of its type.
fn types<'m>(model: &'m Model, names: &mut Names<'m>) {
    let bundled = model.bundled;
    let structs = model.structs.iter().skip(bundled.structs).map(|found| (&found.name, found.span, found.imported));
    let unions = model.unions.iter().skip(bundled.unions).map(|found| (&found.name, found.span, found.imported));
    let enums = model.enums.iter().skip(bundled.enums).map(|found| (&found.name, found.span, found.imported));
    let typedefs = model.typedefs.iter().skip(bundled.typedefs).map(|found| (&found.name, found.span, found.imported));
    let interfaces = model.interfaces.iter().skip(bundled.interfaces);
    let interfaces = interfaces.map(|found| (&found.name, found.span, found.imported));
    for (name, span, imported) in structs.chain(unions).chain(enums).chain(typedefs).chain(interfaces) {
        let owner = Owner { kind: "type", name, of: None, span, imported };
        names.owners.entry(type_ident(name)).or_insert(owner);
    }
    for (name, of, span, imported) in structures::made(model) {
        names.add(name, &Owner { kind: "type", name: of, of: None, span, imported });
    }
}

/// Adds the names of constants and of the values of enumerations.
fn values<'m>(model: &'m Model, names: &mut Names<'m>) {
    for found in model.consts.iter().skip(model.bundled.consts) {
        let (name, span, imported) = (found.name.as_str(), found.span, found.imported);
        names.add(value(model, name, imported), &Owner { kind: "constant", name, of: None, span, imported });
    }
    for found in model.enums.iter().skip(model.bundled.enums) {
        for (name, _) in &found.values {
            let owner = Owner { kind: "value", name, of: None, span: found.span, imported: found.imported };
            names.add(value(model, name, found.imported), &owner);
        }
    }
}

fn owner(model: &Model, id: InterfaceId) -> Owner<'_> {
    let found = &model.interfaces[id.0];
    Owner { kind: "type", name: &found.name, of: None, span: found.span, imported: found.imported }
}

/// Returns the owner of the names that are generated for a method. The names for an inherited
/// method are generated again for this interface. Errors about such names therefore point to the
/// interface.
fn owner_of<'m>(model: &'m Model, id: InterfaceId, method: &'m Method) -> Owner<'m> {
    let found = &model.interfaces[id.0];
    let is_own = found.methods.iter().any(|own| std::ptr::eq(own, method));
    let span = if is_own { method.span } else { found.span };
    Owner { kind: "method", name: &method.name, of: Some(&found.name), span, imported: found.imported }
}

/// Adds the macros of an interface's methods.
fn macros<'m>(model: &'m Model, names: &mut Names<'m>, id: InterfaceId) {
    let (name, of) = (interface_name(model, id), owner(model, id));
    for method in OF_UNKNOWN {
        names.add_macro(
            format!("{name}_{method}"),
            &Owner { kind: "method", name: method, of: Some(of.name), ..of.clone() },
        );
    }
    for method in model.all_methods(id) {
        names.add_macro(format!("{name}_{}", method_name(&method.code)), &owner_of(model, id, method));
    }
}

/// Adds the names in an interface's proxies and stubs.
fn of_stubs<'m>(model: &'m Model, names: &mut Names<'m>, id: InterfaceId) {
    let (name, of) = (interface_name(model, id), owner(model, id));
    let (usual, referring) = plans(model, &model.all_methods(id));
    for plan in usual.iter().flat_map(|plan| [plan].into_iter().chain(by_reference(&referring, plan))) {
        of_method(names, &name, plan, &owner_of(model, id, plan.method));
    }
    let has_tables = table::has_tables(&usual);
    let of_types = format!("{}{}", suffix::TYPES, suffix::WORDS);
    let endings = [
        (suffix::PROXIES, true),
        (suffix::STUBS, true),
        (suffix::NDR, true),
        (suffix::ENDPOINTS, !model.interfaces[id.0].endpoints.is_empty()),
        (suffix::TYPES, has_tables),
        (&of_types, has_tables),
    ];
    for (ending, _) in endings.into_iter().filter(|(_, is_written)| *is_written) {
        names.add_object(format!("{name}{ending}"), &of);
    }
}

/// Adds the names in the proxy and the stub of a method.
fn of_method<'m>(names: &mut Names<'m>, interface: &str, plan: &MethodPlan<'_>, owner: &Owner<'m>) {
    let mut function = |ending: &str| names.add(made(interface, plan, ending), owner);
    function(PROXY);
    if plan.method.local {
        return;
    }
    function(STUB);
    if table::is_by_table(plan) {
        function(suffix::INVOKE);
        names.add_object(made(interface, plan, TABLE), owner);
        return names.add_object(made(interface, plan, TABLE) + suffix::WORDS, owner);
    }
    function(suffix::PREPARE);
    if plan.refers() {
        function(suffix::OTHER_REGIONS);
        function(suffix::SELECT_REGIONS);
    }
    if plan.lent().is_some() {
        function(suffix::REFILL);
    }
    for (ending, request) in [(suffix::REQUEST, true), (suffix::REPLY, false)] {
        if !plan.ordered(request).is_empty() {
            names.add_object(made(interface, plan, ending), owner);
        }
    }
}

/// Adds the functions that check and store the values that interfaces pass. The generated file also
/// contains these functions for imported types.
fn of_values<'m>(model: &'m Model, names: &mut Names<'m>, remote: &[InterfaceId]) {
    let plans = remote.iter().flat_map(|id| model.remote_methods(*id)).map(|method| plan(model, method));
    let plans = plans.filter(|plan| !table::is_by_table(plan));
    let written = Functions::of_plans(&mut Writer::default(), model, plans);
    for (name, of, span, imported) in written.names(model) {
        let first = names.owners.get(&name).or_else(|| names.macros.get(&name));
        let imported = imported && first.is_some_and(|first| !first.imported);
        names.add(name, &Owner { kind: "type", name: of, of: None, span, imported });
    }
}

/// Adds the names of the objects that the headers declare for an interface, and of the classes that
/// the headers declare only in C++.
fn of_headers<'m>(model: &'m Model, names: &mut Names<'m>, id: InterfaceId) {
    let (name, of) = (interface_name(model, id), owner(model, id));
    names.add_object(format!("IID_{name}"), &of);
    names.add_object(format!("{name}{}", suffix::VTABLE), &of);
    if !model.interfaces[id.0].local {
        names.add_object(format!("{name}{}", suffix::INFORMATION), &of);
    }
    projection::made(model, id).into_iter().for_each(|made| names.add_object(made, &of));
}
