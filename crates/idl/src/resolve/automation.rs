//! Automation: types whose form in memory differs from the form on the wire, and interfaces whose
//! methods are called by name.

use super::{Named, Resolver, find, has};
use crate::model::automation::{FILE, Kind, Member, Memory, Variant, usual_id, vartype};
use crate::model::typelib::flags;
use crate::model::{InterfaceId, Param, Type};
use crate::syntax::ast::{Attribute, InterfaceDecl, Method as MethodSyntax, Param as ParamSyntax, TypeKind, TypeSpec};
use crate::text::diagnostic::Diagnostic;
use obvia_ndr::vartype as vt;

/// Whether a type is an Automation type.
pub(super) const fn is_automation(spec: &TypeSpec) -> bool {
    matches!(spec.kind, TypeKind::Automation(_) | TypeKind::SafeArray(..))
}

impl Resolver<'_> {
    /// Returns a parameter's type in memory, if it differs from the type that travels.
    pub(super) fn memory(&mut self, spec: &TypeSpec) -> Option<Memory> {
        match &spec.kind {
            TypeKind::Automation("BSTR") => Some(Memory::Bstr),
            // The declaration does not tell the elements' type.
            TypeKind::Automation("SAFEARRAY") => Some(Memory::SafeArray(vt::EMPTY)),
            TypeKind::Automation(_) => Some(Memory::Variant),
            TypeKind::SafeArray(element, is_pointer) => self.element(element, *is_pointer).map(Memory::SafeArray),
            _ => None,
        }
    }

    fn element(&mut self, spec: &TypeSpec, is_pointer: bool) -> Option<u16> {
        let found = match &spec.kind {
            TypeKind::Automation("BSTR") => Some(vt::BSTR),
            TypeKind::Automation(_) => Some(vt::VARIANT),
            TypeKind::SafeArray(..) => None,
            kind => {
                let named = if let TypeKind::Named(name) = kind { Some(name.as_str()) } else { None };
                let ty = self.spec_type(spec, None)?;
                vartype(&self.model, &ty, named).filter(|_| matches!(ty, Type::Interface(_)) || !is_pointer)
            }
        };
        if found.is_none() {
            let error = Diagnostic::error("bad-element", spec.span, "a SAFEARRAY cannot have elements of this type");
            self.report(error.help("elements are numbers, BSTR, VARIANT, CURRENCY, DECIMAL or pointers to objects"));
        }
        found
    }

    /// Returns the type that travels for a parameter's type. `None` after an error.
    pub(super) fn wire_type(&mut self, spec: &TypeSpec) -> Option<Type> {
        let memory = self.memory(spec)?;
        if let Some(Named::Type(ty)) = self.types.get(memory.wire()).map(|known| known.what.clone()) {
            return Some(ty);
        }
        let error = Diagnostic::error("unknown-type", spec.span, "Automation's types are not declared here");
        self.report(error.help(format!("write `import \"{FILE}\";` at the beginning of the file")));
        None
    }

    /// Reports an Automation type that is used outside of a parameter. Returns `None`.
    pub(super) fn stray_automation(&mut self, spec: &TypeSpec) -> Option<Type> {
        let error = Diagnostic::error("unsupported", spec.span, "Automation's types are for parameters only");
        self.report(error.help("strings, structures and arrays with size_is carry the same data"));
        None
    }

    /// Returns the reason why a parameter of an Automation type cannot be passed to another process
    /// yet. `None` if the parameter is a value or a reference pointer to a value.
    pub(super) fn automation_reason(&self, param: &ParamSyntax) -> Option<String> {
        if matches!(param.spec.kind, TypeKind::Automation("SAFEARRAY")) {
            return Some("is a SAFEARRAY of unknown elements: write SAFEARRAY(T) to pass it".to_owned());
        }
        let more = ["size_is", "length_is", "max_is", "string", "unique", "ptr", "range"];
        let is_more = param.declarator.pointers > 1
            || !param.declarator.dimensions.is_empty()
            || more.iter().any(|attribute| has(&param.attributes, attribute));
        let why = "is neither a value of one of Automation's types nor a pointer to one that is never null: \
                   a SAFEARRAY(VARIANT) passes several values";
        is_more.then(|| why.to_owned())
    }

    /// Returns the type of a parameter for calls by name. `None` if the parameter cannot be passed
    /// by name.
    pub(super) fn variant(&mut self, param: &ParamSyntax, ty: &Type, memory: Option<Memory>) -> Option<Variant> {
        let named = if let TypeKind::Named(name) = &param.spec.kind { Some(name.as_str()) } else { None };
        let vt = memory.map(Memory::vt).or_else(|| vartype(&self.model, ty, named))?;
        // CURRENCY and DECIMAL are supported as elements of arrays only: by themselves they are
        // structures.
        if matches!(vt, vt::CY | vt::DECIMAL) {
            return None;
        }
        let default =
            find(&param.attributes, "defaultvalue").and_then(|attribute| attribute.arguments.first().cloned());
        let default = default.flatten().and_then(|value| self.evaluate(&value));
        let optional = default.is_some() || has(&param.attributes, "optional");
        Some(Variant { vt, optional, default })
    }

    /// Returns the properties of a method for calls by name.
    pub(super) fn member(&mut self, method: &MethodSyntax) -> Member {
        let of = |name: &str| has(&method.attributes, name);
        let kind = match () {
            () if of("propget") => Kind::Get,
            () if of("propput") => Kind::Put,
            () if of("propputref") => Kind::PutRef,
            () => Kind::Method,
        };
        let id = find(&method.attributes, "id").and_then(|attribute| self.id(attribute));
        let (flags, help) = self.flags_and_help(&method.attributes, &flags::ON_FUNCTIONS);
        Member { name: method.name.name.clone(), id, kind, restricted: of("restricted"), flags, help }
    }

    pub(super) fn id(&mut self, attribute: &Attribute) -> Option<i32> {
        let value = self.evaluate_int(attribute.arguments.first()?.as_ref()?)?;
        // DISPID_NEWENUM is written as -4 or as an unsigned number.
        let id = i32::try_from(value).ok().or_else(|| u32::try_from(value).ok().map(u32::cast_signed));
        if id.is_none() {
            let error = Diagnostic::error("bad-id", attribute.span, "this DISPID does not fit 32 bits");
            self.report(error.help("write [id(1)]"));
        }
        id
    }

    /// Finishes an interface that is called by name, once its methods are known: gives the methods
    /// their DISPIDs.
    pub(super) fn dual(&mut self, decl: &InterfaceDecl, id: InterfaceId) {
        let base = self.model.interfaces[id.0].base;
        let is_dual = base.is_some_and(|base| self.model.is_dispatch(base));
        if let (false, Some(attribute)) = (is_dual, find(&decl.attributes, "dual")) {
            let error =
                Diagnostic::error("dual-base", attribute.span, "this [dual] interface does not extend IDispatch");
            self.report_leniently(error.help(format!("write `: IDispatch`, and `import \"{FILE}\";`")));
        }
        self.model.interfaces[id.0].dual = is_dual;
        if !is_dual {
            return;
        }
        let inherited = self.model.lineage(id);
        let depth = inherited.len();
        let mut known: Vec<Member> = inherited[1..inherited.len() - 1]
            .iter()
            .flat_map(|base| self.model.interfaces[base.0].methods.iter().map(|method| method.member.clone()))
            .collect();
        for at in 0..self.model.interfaces[id.0].methods.len() {
            let method = &self.model.interfaces[id.0].methods[at];
            let (mut member, span) = (method.member.clone(), method.span);
            let is_strange = |param: &Param| param.variant.is_none() && param.unsupported.is_none();
            let stranger = method.params.iter().position(is_strange);
            if method.returns_directly() {
                let text = format!("`{}` returns no HRESULT, by which calls by name report failures", method.name);
                let help = "return HRESULT, and the value through an [out, retval] parameter, or extend IUnknown";
                self.report(Diagnostic::error("not-automation", span, text).help(help));
            } else if let Some(at_param) = stranger {
                let param = &mut self.model.interfaces[id.0].methods[at].params[at_param];
                param.unsupported = Some("is of a type that calls by name cannot pass".to_owned());
                let text = format!("parameter `{}` is of a type that calls by name cannot pass", param.name);
                let warning = Diagnostic::warning("not-automation", param.span, text);
                self.report(
                    warning.help(
                        "use numbers, BSTR, VARIANT, SAFEARRAY and objects, or an interface that extends IUnknown",
                    ),
                );
            }
            let same = |other: &&Member| other.name.eq_ignore_ascii_case(&member.name);
            let shared = known.iter().find(same).and_then(|other| other.id);
            let own = member.id.or(shared).unwrap_or_else(|| usual_id(depth, at));
            member.id = Some(own);
            let clash = known.iter().find(|other| {
                let is_same = same(other);
                is_same != (other.id == member.id) || is_same && other.kind == member.kind
            });
            if let Some(other) = clash {
                let text = format!("calls by name cannot tell `{}` from `{}`", member.name, other.name);
                let error = Diagnostic::error("duplicate-id", span, text);
                self.report(
                    error.help("each member has its own name and DISPID; only the accessors of a property share them"),
                );
            }
            known.push(member.clone());
            self.model.interfaces[id.0].methods[at].member = member;
        }
    }
}
