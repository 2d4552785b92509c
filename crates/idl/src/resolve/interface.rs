//! Interfaces, methods and parameters.

use super::automation::is_automation;
use super::limits::{BASES_MAX, PARAMETERS_MAX};
use super::plain::{is_plain, leads_to_const, returned_param};
use super::types::{Context, Place};
use super::values::Variable;
use super::{Entry, Named, Resolver, attributes, find, has, interface_key};
use crate::model::typelib::flags;
use crate::model::{About, Direction, Extent, Interface, InterfaceId, Method, Param, Pointer, PointerClass, Type};
use crate::plan::FIRST_OPNUM;
use crate::syntax::ast::{Attribute, InterfaceDecl, Item, Method as MethodSyntax, Param as ParamSyntax};
use crate::text::diagnostic::Diagnostic;
use crate::text::source::Span;
use std::collections::HashSet;

/// The maximum number of methods of an interface, inherited ones included.
const METHODS_MAX: usize = 1024;

impl Resolver<'_> {
    pub(super) fn interface(&mut self, decl: &InterfaceDecl) {
        // IUnknown is built in.
        if decl.name.name == "IUnknown" {
            return;
        }
        let id = self.interface_id(decl);
        let Some(items) = &decl.items else { return };
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
        let plain = is_plain(decl);
        let endpoints = self.endpoints(decl);
        let (flags, help) = self.flags_and_help(&decl.attributes, &flags::ON_TYPES);
        let about = About { flags, help, ..About::default() };
        let outer_default = self.pointer_default;
        if let Some(attribute) = find(&decl.attributes, "pointer_default") {
            self.pointer_default = match attribute.raw.as_str() {
                "ref" => PointerClass::Ref,
                "ptr" => PointerClass::Full,
                _ => PointerClass::Unique,
            };
        }
        let base = if plain { None } else { self.base(decl) };
        let uuid = self.uuid(decl);
        let version = self.version(decl);
        let made = &mut self.model.interfaces[id.0];
        made.base = base;
        made.uuid = uuid.unwrap_or(0);
        made.version = version;
        made.local = has(&decl.attributes, "local");
        made.plain = plain;
        made.endpoints = endpoints;
        made.about = about;
        made.doc.clone_from(&decl.doc);
        made.span = decl.name.span;
        self.defined.insert(interface_key(id));
        self.check_uuid_once(id);
        let inherited = base.map(|base| self.model.all_methods(base)).unwrap_or_default();
        let first = FIRST_OPNUM + inherited.len();
        let mut names: HashSet<String> = inherited.into_iter().map(|method| method.name.clone()).collect();
        if !self.model.interfaces[id.0].plain {
            names.extend(["QueryInterface", "AddRef", "Release"].map(str::to_owned));
        }
        for item in items {
            match item {
                Item::Method(method) => {
                    self.owners.push(format!("{}_{}", self.model.interfaces[id.0].name, method.name.name));
                    self.method(method, id, first, &mut names);
                    self.owners.pop();
                }
                other => self.item(other),
            }
        }
        self.dual(decl, id);
        self.pointer_default = outer_default;
    }

    fn interface_id(&mut self, decl: &InterfaceDecl) -> InterfaceId {
        if let Some(Entry { what: Named::Interface(id), .. }) = self.types.get(&decl.name.name) {
            return *id;
        }
        let id = InterfaceId(self.model.interfaces.len());
        self.model.interfaces.push(Interface {
            name: decl.name.name.clone(),
            uuid: 0,
            version: (0, 0),
            base: None,
            methods: Vec::new(),
            local: false,
            dual: false,
            plain: false,
            endpoints: Vec::new(),
            about: About::default(),
            doc: String::new(),
            imported: self.imported,
            span: decl.name.span,
        });
        self.declare_type(&decl.name, Named::Interface(id));
        id
    }

    fn base(&mut self, decl: &InterfaceDecl) -> Option<InterfaceId> {
        let Some(base) = &decl.base else {
            let text = format!("interface `{}` extends no other", decl.name.name);
            let error = Diagnostic::error("no-base", decl.name.span, text);
            let help = "an object's interface extends IUnknown: write `: IUnknown` behind its name, or remove [object]";
            self.report(error.help(help));
            return None;
        };
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
            Some(Named::Interface(id)) if !has(&decl.attributes, "local") && self.has_local_methods(id) => {
                let text = format!("the methods of interface `{}` exist in one process only", base.name);
                let error = Diagnostic::error("local-base", base.span, text);
                let help = "declare this interface [local], too, or extend one that other processes call";
                self.report(
                    error
                        .help(help)
                        .related(self.model.interfaces[id.0].span, "it is a [local] interface, or extends one"),
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

    /// Whether an interface or one of its base interfaces has `[local]` methods, whose passing is
    /// undefined.
    fn has_local_methods(&self, id: InterfaceId) -> bool {
        let lineage = self.model.lineage(id);
        lineage
            .into_iter()
            .any(|id| self.model.interfaces[id.0].local && !self.model.interfaces[id.0].methods.is_empty())
    }

    fn uuid(&mut self, decl: &InterfaceDecl) -> Option<u128> {
        let Some(attribute) = find(&decl.attributes, "uuid") else {
            let error =
                Diagnostic::error("no-uuid", decl.name.span, format!("interface `{}` has no uuid", decl.name.name));
            let object = if is_plain(decl) { "" } else { "object, " };
            self.report(
                error.help(format!("put [{object}uuid(...)] before it, with a uuid of its own from `uuidgen`")),
            );
            return None;
        };
        let uuid = self.uuid_of(attribute)?;
        self.check_reserved(decl, uuid);
        Some(uuid)
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

    fn check_uuid_once(&mut self, id: InterfaceId) {
        let own = &self.model.interfaces[id.0];
        if own.uuid == 0 {
            return;
        }
        if let Some(twin) = self.uuids.insert(own.uuid, id) {
            let twin = &self.model.interfaces[twin.0];
            let text = format!("interfaces `{}` and `{}` have the same uuid", twin.name, own.name);
            let error = Diagnostic::error("duplicate-uuid", own.span, text).related(twin.span, "the other one");
            self.report(error.help("each interface has a uuid of its own, from `uuidgen`"));
        }
    }

    fn version(&mut self, decl: &InterfaceDecl) -> (u16, u16) {
        find(&decl.attributes, "version").map_or((0, 0), |attribute| self.version_of(attribute))
    }

    pub(super) fn version_of(&mut self, attribute: &Attribute) -> (u16, u16) {
        let (major, minor) = attribute.raw.split_once('.').unwrap_or((&attribute.raw, "0"));
        match (major.trim().parse(), minor.trim().parse()) {
            (Ok(major), Ok(minor)) => (major, minor),
            _ => {
                let error = Diagnostic::error("bad-version", attribute.span, "a version is two numbers");
                self.report(error.help("write [version(1.0)]"));
                (0, 0)
            }
        }
    }

    fn method(&mut self, method: &MethodSyntax, id: InterfaceId, first: usize, names: &mut HashSet<String>) {
        self.check_attributes(&method.attributes, &attributes::METHOD);
        let local = self.model.interfaces[id.0].local;
        if let Some(attribute) = find(&method.attributes, "local").filter(|_| !local) {
            let text =
                format!("nothing says how `{}` travels, and other processes call this interface", method.name.name);
            let error = Diagnostic::error("local-method", attribute.span, text);
            self.push_attribute_error(error.help("remove [local] here, or put it on the interface"));
        }
        let name = method_name(method);
        if !names.insert(name.clone()) {
            let error = Diagnostic::error(
                "duplicate-name",
                method.name.span,
                format!("interface `{}` has a method `{name}` already", self.model.interfaces[id.0].name),
            );
            return self.report(error.help("methods have different names, inherited ones too"));
        }
        let Some((returns, returned)) = self.returned(method, self.model.interfaces[id.0].plain, local) else { return };
        let opnum = first + self.model.interfaces[id.0].methods.len();
        if opnum >= METHODS_MAX {
            let error = Diagnostic::error(
                "too-many-methods",
                method.name.span,
                format!("an interface has at most {METHODS_MAX} methods"),
            );
            return self.report(error.help("split it into several"));
        }
        if let Some(param) = method.params.get(PARAMETERS_MAX) {
            let text = format!("a method has at most {PARAMETERS_MAX} parameters");
            let error = Diagnostic::error("too-large", param.declarator.span, text);
            return self.report(error.help("put some of them into a structure"));
        }
        let leads_to_const = leads_to_const(method, returned.as_ref());
        let mut params = self.params(&self.without_handles(&method.params, id), local);
        let has_result = returned.is_some();
        params.extend(returned.map(|ty| returned_param(&params, method, ty)));
        let oneway = find(&method.attributes, "oneway").or_else(|| find(&method.attributes, "maybe"));
        if let Some(oneway) = oneway {
            self.refuse_results(oneway, method, has_result, &params);
        }
        let (oneway, idempotent) = (oneway.is_some(), has(&method.attributes, "idempotent"));
        let member = self.member(method);
        let (opnum, doc, span) = (opnum as u16, method.doc.clone(), method.name.span);
        let made = Method {
            name,
            code: String::new(),
            opnum,
            returns,
            leads_to_const,
            oneway,
            idempotent,
            member,
            local,
            params,
            doc,
            span,
        };
        self.model.interfaces[id.0].methods.push(made);
    }

    pub(super) fn params(&mut self, params: &[&ParamSyntax], local: bool) -> Vec<Param> {
        let variables: Vec<Variable> = params
            .iter()
            .map(|param| Variable {
                name: param.declarator.name.name.clone(),
                ty: self.scalar_type(&param.spec, &param.declarator),
            })
            .collect();
        let mut made: Vec<Param> = Vec::new();
        for param in params {
            let name = &param.declarator.name;
            self.check_attributes(&param.attributes, &attributes::PARAMETER);
            if let Some(first) = made.iter().find(|other| other.name == name.name) {
                let error = Diagnostic::error(
                    "duplicate-name",
                    name.span,
                    format!("there are two parameters called `{}`", name.name),
                )
                .related(first.span, "the first one");
                self.report(error.help("give one of them another name"));
            }
            let Some(direction) = self.direction(param, local) else {
                continue;
            };
            let context = Context { variables: &variables, of: "the method", local };
            let ty = self.full_type(&param.spec, &param.declarator, &param.attributes, Place::Param, &context);
            let Some(ty) = ty else { continue };
            self.check_out(param, direction, &ty);
            let range = self.limits(&param.attributes, direction, &ty);
            let switch = self.switch(&param.attributes, &ty, &param.declarator, &variables, "the method");
            let varying = self.varying(&param.attributes, &ty, &context);
            let retval = has(&param.attributes, "retval");
            let transfer = self.transfer(param, direction, &ty);
            let name = name.name.clone();
            let span = param.declarator.name.span;
            let memory = if is_automation(&param.spec) { self.memory(&param.spec) } else { None };
            if memory.is_some() {
                self.check_automation(param);
            }
            let variant = self.variant(param, &ty, memory);
            made.push(Param {
                name,
                code: String::new(),
                direction,
                retval,
                ty,
                named: self.named_by(&param.spec),
                boxed: false,
                range,
                switch,
                varying,
                transfer,
                memory,
                variant,
                span,
            });
        }
        self.check_transfers(&made);
        made
    }

    /// Adds a reference pointer to the types of parameters that need one: see [`Param::boxed`].
    /// Requires that all structures are known.
    pub(super) fn box_open_structures(&mut self) {
        let structs = &self.model.structs;
        let is_open = |pointer: &Pointer| {
            pointer.extent == Extent::One
                && matches!(&pointer.to, Type::Struct(id) if structs[id.0].conformant.is_some())
        };
        let methods = self.model.interfaces.iter_mut().flat_map(|interface| &mut interface.methods);
        for param in methods.flat_map(|method| &mut method.params).filter(|param| param.direction.is_out()) {
            if matches!(&param.ty, Type::Pointer(pointer) if is_open(pointer)) {
                let outer = Pointer { class: PointerClass::Ref, to: param.ty.clone(), extent: Extent::One };
                param.ty = Type::Pointer(Box::new(outer));
                param.boxed = true;
            }
        }
    }

    fn direction(&mut self, param: &ParamSyntax, local: bool) -> Option<Direction> {
        match (has(&param.attributes, "in"), has(&param.attributes, "out") || has(&param.attributes, "retval")) {
            (true, true) => Some(Direction::InOut),
            (true, false) => Some(Direction::In),
            (false, true) => Some(Direction::Out),
            (false, false) if local => Some(Direction::In),
            (false, false) => {
                let name = &param.declarator.name;
                let error = Diagnostic::error("no-direction", name.span, format!("`{}` has no direction", name.name));
                self.report(error.help("put [in], [out] or [in, out] before it"));
                None
            }
        }
    }

    fn check_out(&mut self, param: &ParamSyntax, direction: Direction, ty: &Type) {
        if !direction.is_out() {
            return;
        }
        let span: Span = param.declarator.span;
        let name = &param.declarator.name.name;
        match ty {
            Type::Pointer(pointer) if pointer.class != PointerClass::Ref => {
                let error =
                    Diagnostic::error("out-not-ref", span, format!("[out] parameter `{name}` must not be null"));
                self.report(error.help("remove [unique] or [ptr] from it; what it points to may be such a pointer"));
            }
            Type::Pointer(_) | Type::Fixed(..) => {}
            _ => {
                let error =
                    Diagnostic::error("out-not-pointer", span, format!("[out] parameter `{name}` is not a pointer"));
                self.report(error.label("a value cannot come back through it").help("write `*` before the name"));
            }
        }
    }
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
