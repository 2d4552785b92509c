//! Interfaces, methods and parameters.

use super::limits::{BASES_MAX, PARAMETERS_MAX};
use super::plain::{is_plain, leads_to_const, returned_param};
use super::reserved::reserved;
use super::{Entry, Named, Resolver, attributes, find, has, interface_key};
use crate::model::typelib::flags;
use crate::model::{About, Interface, InterfaceId, Method, PointerClass};
use crate::plan::FIRST_OPNUM;
use crate::syntax::ast::{
    Attribute, Expr, ExprKind, Ident, InterfaceDecl, Item, Method as MethodSyntax, TypeKind, TypeSpec,
};
use crate::text::diagnostic::{Diagnostic, Severity};
use crate::text::source::Span;
use std::collections::HashSet;

/// The maximum number of methods of an interface, inherited ones included.
const METHODS_MAX: usize = 1024;

/// Returns the class of pointers in an interface's declaration. `outer` is the class of pointers in
/// the file.
pub(super) fn pointer_class(decl: &InterfaceDecl, outer: PointerClass) -> PointerClass {
    match find(&decl.attributes, "pointer_default").map(|attribute| attribute.raw.as_str()) {
        None => outer,
        Some("ref") => PointerClass::Ref,
        Some("ptr") => PointerClass::Full,
        Some(_) => PointerClass::Unique,
    }
}

/// The codes of errors that methods of `[local]` interfaces may have, and that other compilers
/// permit.
const HERE_ONLY: [&str; 2] = ["not-hresult", "out-not-pointer"];

impl Resolver<'_> {
    pub(super) fn interface(&mut self, decl: &InterfaceDecl) {
        // The built-in files have declared the interface, so its methods are skipped. The other
        // declarations in the interface are resolved.
        if self.given.contains(&decl.name.name) || decl.name.name == "IUnknown" {
            let items = decl.items.iter().flatten();
            return items.filter(|item| !matches!(item, Item::Method(_))).for_each(|item| self.item(item));
        }
        if decl.items.is_none() && !self.is_declared_below(&decl.name.name) {
            self.declare_prelude(&decl.name.name);
        }
        let id = self.interface_id(&decl.name);
        let Some(items) = &decl.items else { return };
        self.replace_prelude(id, decl.name.span);
        if self.defined.contains(&interface_key(id)) {
            let error = Diagnostic::error(
                "duplicate-name",
                decl.name.span,
                format!("interface `{}` is declared twice", decl.name.name),
            );
            return self.report(
                error
                    .related(self.model.interfaces[id.0].span, "first declared here")
                    .help("give one of them another name"),
            );
        }
        self.check_attributes(&decl.attributes, &attributes::INTERFACE);
        self.check_async(decl);
        let plain = is_plain(decl);
        let endpoints = self.endpoints(decl);
        let (flags, help) = self.flags_and_help(&decl.attributes, &flags::ON_TYPES);
        let about = About { flags, help, ..About::default() };
        let outer_default = self.begin_interface(decl);
        let local = has(&decl.attributes, "local") || is_for_libraries(decl, items);
        // A `[local]` interface without a base is a C++ class without the methods of IUnknown.
        let is_class = local && decl.base.is_none();
        let base = if plain || is_class { None } else { self.base(decl) };
        let local = local || self.extends_local(decl, base);
        let is_object = !plain || items.iter().any(|item| matches!(item, Item::Method(_)));
        let needs_uuid = !local && is_object;
        let uuid = if needs_uuid || has(&decl.attributes, "uuid") { self.uuid(decl, id) } else { None };
        let bare = match uuid {
            None => Some("has no UUID of its own"),
            Some(_) => (is_class && !plain).then_some("extends no interface"),
        };
        let version = self.version(decl);
        let made = &mut self.model.interfaces[id.0];
        made.base = base;
        made.uuid = uuid.unwrap_or(0);
        made.version = version;
        made.local = local || bare.is_some();
        made.bare = bare;
        made.plain = plain;
        made.endpoints = endpoints;
        made.about = about;
        made.doc.clone_from(&decl.doc);
        made.span = decl.name.span;
        self.defined.insert(interface_key(id));
        self.contents(&items.iter().collect::<Vec<_>>(), id);
        self.dual(decl, id);
        self.pointer_default = outer_default;
    }

    /// Sets the class of pointers that an interface's declaration gives. Returns the previous
    /// class.
    pub(super) fn begin_interface(&mut self, decl: &InterfaceDecl) -> PointerClass {
        let outer = self.pointer_default;
        self.pointer_default = pointer_class(decl, outer);
        outer
    }

    /// Removes the methods that the prelude has declared for an interface, if a file declares the
    /// interface itself.
    fn replace_prelude(&mut self, id: InterfaceId, span: Span) {
        if self.model.is_prelude(self.model.interfaces[id.0].span) && !self.model.is_prelude(span) {
            self.defined.remove(&interface_key(id));
            let made = &mut self.model.interfaces[id.0];
            made.methods.clear();
            made.imported = self.imported;
        }
    }

    /// Warns that an interface's asynchronous form is left out.
    fn check_async(&mut self, decl: &InterfaceDecl) {
        if let Some(attribute) = find(&decl.attributes, "async_uuid") {
            let text = format!("nothing is generated for the asynchronous form of interface `{}`", decl.name.name);
            let warning = Diagnostic::warning("left-out", attribute.span, text);
            self.report(warning.help("calls of the interface itself wait; make them in threads of their own"));
        }
    }

    /// Resolves the contents of an interface: its methods, and other declarations such as types.
    fn contents(&mut self, items: &[&Item], id: InterfaceId) {
        let base = self.model.interfaces[id.0].base;
        let inherited = base.map(|base| self.model.all_methods(base)).unwrap_or_default();
        let first = FIRST_OPNUM + inherited.len();
        let mut names: HashSet<String> = inherited.into_iter().map(|method| method.name.clone()).collect();
        let Interface { plain, local, .. } = self.model.interfaces[id.0];
        if !plain {
            names.extend(["QueryInterface", "AddRef", "Release"].map(str::to_owned));
        }
        let written: HashSet<String> = items
            .iter()
            .filter_map(|item| match item {
                Item::Method(method) => Some(method_name(method)),
                _ => None,
            })
            .collect();
        let before = self.diagnostics.len();
        let mut remote = Vec::new();
        for item in items {
            match item {
                Item::Method(method) => {
                    self.owners.push(format!("{}_{}", self.model.interfaces[id.0].name, method.name.name));
                    match (self.method(method, id, first, &mut names, &written), find(&method.attributes, "call_as")) {
                        (Some(made), Some(attribute)) => remote.push((made, attribute)),
                        (Some(made), None) => self.model.interfaces[id.0].methods.push(made),
                        (None, _) => {}
                    }
                    self.owners.pop();
                }
                other => self.item(other),
            }
        }
        remote.into_iter().for_each(|(made, attribute)| self.call_as(id, made, attribute));
        if self.permissive && !plain && !local {
            self.make_local(items, id, before);
        }
    }

    /// Makes an interface `[local]`, and resolves its methods again, if all of its errors are in
    /// [`HERE_ONLY`]. The errors in [`HERE_ONLY`] become warnings even if there are other errors.
    /// `before` is the number of findings before those of the interface.
    fn make_local(&mut self, items: &[&Item], id: InterfaceId, before: usize) {
        let is_permitted = |one: &Diagnostic| one.is_error() && HERE_ONLY.contains(&one.code);
        let found = &self.diagnostics[before..];
        if !found.iter().any(is_permitted) {
            return;
        }
        let mut first = Vec::new();
        if found.iter().all(|one| !one.is_error() || is_permitted(one)) {
            let methods: Vec<&Item> = items.iter().copied().filter(|item| matches!(item, Item::Method(_))).collect();
            first = self.diagnostics.split_off(before);
            self.model.interfaces[id.0].methods.clear();
            self.model.interfaces[id.0].local = true;
            self.contents(&methods, id);
        }
        first.retain(|one| !self.diagnostics[before..].contains(one));
        self.diagnostics.extend(first);
        for finding in self.diagnostics[before..].iter_mut().filter(|one| is_permitted(one)) {
            finding.severity = Severity::Warning;
            "so calls of this interface stay within their process".clone_into(&mut finding.label);
        }
    }

    /// Whether a permissive compiler makes an interface `[local]`, because it extends a `[local]`
    /// interface. If so, reports a warning.
    fn extends_local(&mut self, decl: &InterfaceDecl, base: Option<InterfaceId>) -> bool {
        let Some(base) = base.filter(|base| self.permissive && self.model.interfaces[base.0].local) else {
            return false;
        };
        let base = &self.model.interfaces[base.0].name;
        let text =
            format!("interface `{}` extends `{base}`, so its calls stay within their process, too", decl.name.name);
        let warning = Diagnostic::warning("left-out", decl.name.span, text);
        self.report(warning.help("extend another interface, or declare this one [local], too"));
        true
    }

    /// Returns the interface with this name. If the interface is new, adds it as if there were a
    /// forward declaration.
    pub(super) fn interface_id(&mut self, name: &Ident) -> InterfaceId {
        if let Some(Entry { what: Named::Interface(id), .. }) = self.types.get(&name.name) {
            return *id;
        }
        let id = InterfaceId(self.model.interfaces.len());
        self.model.interfaces.push(Interface {
            name: name.name.clone(),
            uuid: 0,
            version: (0, 0),
            base: None,
            methods: Vec::new(),
            bare: Some("has only a forward declaration"),
            local: false,
            dual: false,
            plain: false,
            endpoints: Vec::new(),
            about: About::default(),
            doc: String::new(),
            imported: self.imported,
            span: name.span,
        });
        self.declare_type(name, Named::Interface(id));
        id
    }

    /// Attaches a method with `[call_as]` to the `[local]` method that it replaces in calls between
    /// processes.
    fn call_as(&mut self, id: InterfaceId, made: Method, attribute: &Attribute) {
        let name = match attribute.arguments.first() {
            Some(Some(Expr { kind: ExprKind::Name(name), .. })) => name.as_str(),
            _ => "",
        };
        let methods = &mut self.model.interfaces[id.0].methods;
        match methods.iter_mut().find(|method| method.member.name == name && method.local) {
            Some(local) if local.travels_as.is_none() => {
                local.travels_as = Some(Box::new(Method { opnum: local.opnum, ..made }));
            }
            found => {
                let text = match found.and_then(|local| local.travels_as.as_ref()) {
                    Some(other) => format!("method `{}` has [call_as({name})] already", other.name),
                    None => format!("no [local] method of this interface is called `{name}`"),
                };
                let error = Diagnostic::error("bad-call-as", attribute.span, text);
                self.report(error.help("write [call_as(M)], where M is a method with [local] that programs call"));
            }
        }
    }

    /// Marks interfaces that have only a forward declaration as local, since pointers to their
    /// objects cannot be passed to other processes.
    pub(super) fn check_announced(&mut self) {
        for id in 0..self.model.interfaces.len() {
            if !self.defined.contains(&interface_key(InterfaceId(id))) {
                self.model.interfaces[id].local = true;
            }
        }
    }

    fn base(&mut self, decl: &InterfaceDecl) -> Option<InterfaceId> {
        let Some(base) = &decl.base else {
            let text = format!("interface `{}` extends no other", decl.name.name);
            let error = Diagnostic::error("no-base", decl.name.span, text);
            let help = "an object's interface extends IUnknown: write `: IUnknown` behind its name, or remove [object]";
            self.report(error.help(help));
            return None;
        };
        self.declare_prelude(&base.name);
        match self.types.get(&base.name).map(|known| known.what.clone()) {
            Some(Named::IUnknown) => None,
            Some(Named::Interface(id)) if self.model.interfaces[id.0].plain => {
                let text = format!("interface `{}` has functions and no objects", base.name);
                let error = Diagnostic::error("plain-base", base.span, text);
                self.report(
                    error.help(
                        "only interfaces of objects can be extended: declare both interfaces [object], or repeat the methods",
                    ),
                );
                None
            }
            Some(Named::Interface(id)) if self.model.lineage(id).len() >= BASES_MAX => {
                let text = format!("interface `{}` extends too many others", decl.name.name);
                let error = Diagnostic::error("too-deep", base.span, text);
                self.report(error.help(format!("at most {BASES_MAX} interfaces extend one another")));
                None
            }
            Some(Named::Interface(id)) if self.defined.contains(&interface_key(id)) => Some(id),
            Some(Named::Interface(_)) => {
                let error = Diagnostic::error(
                    "undeclared-interface",
                    base.span,
                    format!("interface `{}` has a forward declaration, but is not declared yet", base.name),
                );
                self.report(error.help("declare it before the interfaces that extend it"));
                None
            }
            _ => {
                self.unknown_type(&base.name, base.span);
                None
            }
        }
    }

    /// Returns the interface's own UUID. `None` after an error or a warning: no object can be asked
    /// for an interface without a UUID of its own.
    fn uuid(&mut self, decl: &InterfaceDecl, id: InterfaceId) -> Option<u128> {
        let Some(attribute) = find(&decl.attributes, "uuid") else {
            let error =
                Diagnostic::error("no-uuid", decl.name.span, format!("interface `{}` has no uuid", decl.name.name));
            let object = if is_plain(decl) { "" } else { "object, " };
            self.report_uuid(
                error.help(format!("put [{object}uuid(...)] before it, with a uuid of its own from `uuidgen`")),
            );
            return None;
        };
        let uuid = self.uuid_of(attribute)?;
        let Some(error) = reserved(decl, attribute, uuid).or_else(|| self.second_use(decl, uuid, id)) else {
            return Some(uuid);
        };
        self.report_uuid(error.help("each interface has a uuid of its own, from `uuidgen`"));
        (!self.permissive).then_some(uuid)
    }

    /// Reports an error in a UUID. If the error becomes a warning, the message adds that no code is
    /// generated for the interface.
    fn report_uuid(&mut self, error: Diagnostic) {
        let error = if self.permissive { error.label("so no code is generated for it") } else { error };
        self.report_leniently(error);
    }

    pub(super) fn uuid_of(&mut self, attribute: &Attribute) -> Option<u128> {
        let text = attribute.raw.trim_matches(['"', '{', '}']);
        let digits: String = text.chars().filter(|&c| c != '-').collect();
        let dashes: Vec<usize> = text.char_indices().filter(|&(_, c)| c == '-').map(|(at, _)| at).collect();
        let value = u128::from_str_radix(&digits, 16).ok();
        if digits.len() != 32 || dashes != [8, 13, 18, 23] || value.is_none() {
            let error = Diagnostic::error("bad-uuid", attribute.span, format!("`{text}` is not a uuid"));
            self.report(error.help("a uuid is 8-4-4-4-12 hexadecimal digits, as `uuidgen` prints it"));
            return None;
        }
        value
    }

    /// Returns the error that another interface has the UUID. `None` if the UUID is unique.
    fn second_use(&mut self, decl: &InterfaceDecl, uuid: u128, id: InterfaceId) -> Option<Diagnostic> {
        let twin = *self.uuids.entry(uuid).or_insert(id);
        let (twin, own) = (&self.model.interfaces[twin.0], &self.model.interfaces[id.0]);
        let text = format!("interfaces `{}` and `{}` have the same uuid", twin.name, own.name);
        let error = Diagnostic::error("duplicate-uuid", decl.name.span, text).related(twin.span, "the other one");
        (twin.name != own.name).then_some(error)
    }

    fn version(&mut self, decl: &InterfaceDecl) -> (u16, u16) {
        find(&decl.attributes, "version").map_or((0, 0), |attribute| self.version_of(attribute))
    }

    pub(super) fn version_of(&mut self, attribute: &Attribute) -> (u16, u16) {
        let (major, minor) = attribute.raw.split_once('.').unwrap_or((&attribute.raw, "0"));
        match (major.trim().parse(), minor.trim().parse()) {
            (Ok(major), Ok(minor)) => (major, minor),
            _ => {
                let error = Diagnostic::error("bad-version", attribute.span, "this version is not two numbers");
                self.report(error.help("write [version(1.0)]"));
                (0, 0)
            }
        }
    }

    /// Resolves a method. `None` after an error.
    fn method(
        &mut self,
        method: &MethodSyntax,
        id: InterfaceId,
        first: usize,
        names: &mut HashSet<String>,
        written: &HashSet<String>,
    ) -> Option<Method> {
        self.check_attributes(&method.attributes, &attributes::METHOD);
        let local = self.model.interfaces[id.0].local || has(&method.attributes, "local");
        let mut name = method_name(method);
        if self.model.interfaces[id.0].local && names.contains(&name) {
            // An overloaded method of a C++ class gets a name that no method of the interface has.
            let mut numbered = (2..).map(|at| format!("{name}_{at}"));
            name = numbered.find(|name| !names.contains(name) && !written.contains(name)).unwrap_or_default();
        }
        if !names.insert(name.clone()) {
            let error = Diagnostic::error(
                "duplicate-name",
                method.name.span,
                format!("interface `{}` has a method `{name}` already", self.model.interfaces[id.0].name),
            );
            self.report(error.help("methods have different names, inherited ones too"));
            return None;
        }
        let (returns, returned) = self.returned(method, self.model.interfaces[id.0].plain, local)?;
        let opnum = first + self.model.interfaces[id.0].methods.len();
        if opnum >= METHODS_MAX {
            let error = Diagnostic::error(
                "too-many-methods",
                method.name.span,
                format!("an interface has at most {METHODS_MAX} methods"),
            );
            self.report(error.help("split it into several"));
            return None;
        }
        if let Some(param) = method.params.get(PARAMETERS_MAX) {
            let text = format!("a method has at most {PARAMETERS_MAX} parameters");
            let error = Diagnostic::error("too-large", param.declarator.span, text);
            self.report(error.help("put some of them into a structure"));
            return None;
        }
        let leads_to_const = leads_to_const(method, returned.as_ref());
        let mut params = self.params(&self.without_handles(&method.params, id), local);
        self.check_utf8(&params, local.then_some(returns));
        let has_result = returned.is_some();
        params.extend(returned.map(|ty| returned_param(&params, method, ty)));
        let oneway = find(&method.attributes, "oneway").or_else(|| find(&method.attributes, "maybe"));
        if let Some(oneway) = oneway {
            self.refuse_results(oneway, method, has_result, &params);
        }
        let (oneway, idempotent) = (oneway.is_some(), has(&method.attributes, "idempotent"));
        let (opnum, member, doc, span) = (opnum as u16, self.member(method), method.doc.clone(), method.name.span);
        Some(Method {
            name,
            code: String::new(),
            opnum,
            returns,
            leads_to_const,
            oneway,
            idempotent,
            member,
            local,
            unpassed: None,
            travels_as: None,
            params,
            doc,
            span,
        })
    }
}

/// Whether an interface is declared for type libraries only, and one of its methods does not return
/// an HRESULT. Calls of such an interface stay within their process.
fn is_for_libraries(decl: &InterfaceDecl, items: &[Item]) -> bool {
    let is_hresult =
        |method: &MethodSyntax| matches!(method.returns, (TypeSpec { kind: TypeKind::Base("HRESULT"), .. }, 0));
    has(&decl.attributes, "odl")
        && !has(&decl.attributes, "object")
        && items.iter().any(|item| matches!(item, Item::Method(method) if !is_hresult(method)))
}

/// Returns the name of a method in the vtable.
pub(crate) fn method_name(method: &MethodSyntax) -> String {
    let prefix = ["propget", "propput", "propputref"].into_iter().find(|name| has(&method.attributes, name));
    match prefix {
        Some("propget") => format!("get_{}", method.name.name),
        Some("propput") => format!("put_{}", method.name.name),
        Some(_) => format!("putref_{}", method.name.name),
        None => method.name.name.clone(),
    }
}
