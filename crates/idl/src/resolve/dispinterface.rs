//! Dispinterfaces: interfaces that are called by name only. Type libraries list them. No code is
//! generated for them.

use super::{Named, Resolver, attributes, find, interface_key};
use crate::model::automation::{FILE, Member};
use crate::model::typelib::flags;
use crate::model::{About, DispMember, DispMembers, Dispinterface, InterfaceId, Param};
use crate::syntax::ast::{
    Attribute, DispinterfaceDecl, DispinterfaceMembers, Ident, Member as Property, Method, Param as ParamSyntax,
};
use crate::syntax::ast::{Declarator, TypeKind, TypeSpec};
use crate::text::diagnostic::Diagnostic;
use crate::text::source::Span;

impl Resolver<'_> {
    pub(super) fn dispinterface(&mut self, decl: &DispinterfaceDecl) {
        let Some(at) = self.dispinterface_at(&decl.name) else { return };
        let Some(members) = &decl.members else { return };
        if self.model.dispinterfaces[at].members.is_some() {
            let text = format!("`{}` is declared twice", decl.name.name);
            let error = Diagnostic::error("duplicate-name", decl.name.span, text);
            return self.report(error.help("give one of them another name"));
        }
        self.check_attributes(&decl.attributes, &attributes::DISPINTERFACE);
        let about = self.about(&decl.attributes, &flags::ON_TYPES);
        if find(&decl.attributes, "uuid").is_none() {
            let text = format!("interface `{}` has no uuid", decl.name.name);
            let error = Diagnostic::error("no-uuid", decl.name.span, text);
            self.report(error.help("put [uuid(...)] before it, with a uuid of its own from `uuidgen`"));
        }
        let members = match members {
            DispinterfaceMembers::Of(name) => match self.types.get(&name.name).map(|known| &known.what) {
                Some(Named::Interface(id)) if !self.model.interfaces[id.0].plain => DispMembers::Of(*id),
                Some(_) => {
                    let text = format!("`{}` has no members that are called by name", name.name);
                    let error = Diagnostic::error("not-automation", name.span, text);
                    return self.report(error.help("name an interface that extends IUnknown"));
                }
                None if self.is_declared_below(&name.name) => DispMembers::Of(self.interface_id(name)),
                None => return self.unknown_type(&name.name, name.span),
            },
            DispinterfaceMembers::Own(properties, methods) => {
                self.owners.push(self.model.dispinterfaces[at].name.clone());
                let properties = properties.iter().filter_map(|property| self.property(property)).collect();
                let methods: Vec<_> = methods.iter().map(|method| self.method_by_name(method)).collect();
                self.owners.pop();
                DispMembers::Own(properties, methods)
            }
        };
        let made = &mut self.model.dispinterfaces[at];
        made.about = about;
        made.members = Some(members);
    }

    /// Returns a dispinterface's index in the model, and adds the dispinterface if it is new.
    /// Parameters of this type are IDispatch pointers.
    pub(super) fn dispinterface_at(&mut self, name: &Ident) -> Option<usize> {
        if let Some(known) = self.dispinterfaces.get(&name.name) {
            return Some(*known);
        }
        if self.model.built_in.interfaces == 0 {
            let error = Diagnostic::error("unknown-type", name.span, "Automation's types are not declared here");
            self.report(error.help(format!("write `import \"{FILE}\";` at the beginning of the file")));
            return None;
        }
        // A forward declaration may call the dispinterface an interface.
        if let Some(Named::Interface(id)) = self.types.get(&name.name).map(|known| &known.what)
            && !self.defined.contains(&interface_key(*id))
        {
            self.types.remove(&name.name);
        }
        // The only interface of Automation's built-in file is IDispatch.
        self.declare_type(name, Named::Interface(InterfaceId(0)));
        let at = self.model.dispinterfaces.len();
        let (about, imported, span) = (About::default(), self.imported, name.span);
        self.model.dispinterfaces.push(Dispinterface { name: name.name.clone(), about, members: None, imported, span });
        self.dispinterfaces.insert(name.name.clone(), at);
        Some(at)
    }

    fn property(&mut self, property: &Property) -> Option<DispMember> {
        let declarator = property.declarator.as_ref()?;
        self.check_attributes(&property.attributes, &attributes::PROPERTY);
        let (flags, help) = self.flags_and_help(&property.attributes, &flags::ON_VARIABLES);
        let id = self.dispid(&property.attributes, declarator.name.span);
        let member = Member { name: declarator.name.name.clone(), id, flags, help, ..Member::default() };
        let returns = self.value_of(&property.spec, declarator);
        Some(DispMember { member, params: Vec::new(), returns, span: declarator.name.span })
    }

    fn method_by_name(&mut self, method: &Method) -> DispMember {
        self.check_attributes(&method.attributes, &attributes::METHOD);
        self.dispid(&method.attributes, method.name.span);
        let member = self.member(method);
        let params: Vec<&ParamSyntax> = method.params.iter().collect();
        let params = self.params(&params, false);
        self.check_utf8(&params, None);
        params.iter().for_each(|param| self.check_by_name(param));
        let (spec, pointers) = &method.returns;
        let returns = if *pointers == 0 && matches!(spec.kind, TypeKind::Base("void")) {
            None
        } else {
            let (name, span) = (method.name.clone(), method.name.span);
            self.value_of(
                spec,
                &Declarator { pointers: *pointers, name, dimensions: Vec::new(), is_function: false, span },
            )
        };
        DispMember { member, params, returns, span: method.name.span }
    }

    /// Returns the type of a property or of a method's result, in the form of a parameter. `None`
    /// after an error.
    fn value_of(&mut self, spec: &TypeSpec, declarator: &Declarator) -> Option<Param> {
        let param = ParamSyntax { attributes: Vec::new(), spec: spec.clone(), declarator: declarator.clone() };
        let made = self.params(&[&param], true).pop()?;
        self.check_by_name(&made);
        Some(made)
    }

    fn check_by_name(&mut self, param: &Param) {
        if param.variant.is_none() {
            let text = format!("`{}` is of a type that calls by name cannot pass", param.name);
            let error = Diagnostic::error("not-automation", param.span, text);
            self.report(error.help("use numbers, BSTR, VARIANT, SAFEARRAY and objects"));
        }
    }

    fn dispid(&mut self, attributes: &[Attribute], span: Span) -> Option<i32> {
        let Some(attribute) = find(attributes, "id") else {
            let error = Diagnostic::error("no-id", span, "a member that is called by name needs a DISPID");
            self.report(error.help("put [id(1)] before it"));
            return None;
        };
        self.id(attribute)
    }
}
