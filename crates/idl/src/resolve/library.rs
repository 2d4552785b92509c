//! Libraries and classes, and the properties of declarations that type libraries record.

use super::{Named, Resolver, attributes, find};
use crate::model::typelib::flags;
use crate::model::{About, Coclass, Declared, EnumId, Help, ImportLib, Library, Offered, StructId, UnionId, Value};
use crate::syntax::ast::{Attribute, CoclassDecl, Item, LibraryDecl, ModuleDecl, OfferedDecl, TypeKind, TypeSpec};
use crate::text::diagnostic::Diagnostic;

impl Resolver<'_> {
    pub(super) fn library(&mut self, decl: &LibraryDecl) {
        self.check_attributes(&decl.attributes, &attributes::LIBRARY);
        let first = self.model.libraries.iter().find(|library| library.imported == self.imported);
        if let (false, Some(first)) = (self.imported, first) {
            let error = Diagnostic::error("second-library", decl.name.span, "this is the second library of the file");
            let help = "put the other one into a file of its own: one type library is made from a file";
            self.report_leniently(error.related(first.span, "the first one").help(help));
        }
        let about = self.about(&decl.attributes, &flags::ON_LIBRARIES);
        let lcid = self.number(&decl.attributes, "lcid");
        let help_file = self.text_attribute(&decl.attributes, "helpfile");
        let (mut declared, mut announced, mut imports) = (Vec::new(), Vec::new(), Vec::new());
        for item in &decl.items {
            if let Item::ImportLib(file, span) = item {
                imports.push(ImportLib { file: file.clone(), span: *span });
            }
            let is_announced = match item {
                Item::Interface(interface) => interface.items.is_none(),
                Item::Dispinterface(interface) => interface.members.is_none(),
                _ => false,
            };
            if is_announced { &mut announced } else { &mut declared }.extend(self.declared_by(item));
        }
        // The library also lists the interfaces for which it has only a forward declaration.
        for one in announced {
            if !declared.contains(&one) {
                declared.push(one);
            }
        }
        let (name, span, imported) = (decl.name.name.clone(), decl.name.span, self.imported);
        self.model.libraries.push(Library { name, about, lcid, help_file, imports, declared, imported, span });
    }

    /// Resolves an item of a library, and returns the types that it declares.
    fn declared_by(&mut self, item: &Item) -> Vec<Declared> {
        let model = &self.model;
        let (structs, unions, enums) = (model.structs.len(), model.unions.len(), model.enums.len());
        let (typedefs, coclasses) = (model.typedefs.len(), model.coclasses.len());
        self.item(item);
        let model = &self.model;
        let mut declared: Vec<Declared> = (enums..model.enums.len()).map(|at| Declared::Enum(EnumId(at))).collect();
        declared.extend((structs..model.structs.len()).map(|at| Declared::Struct(StructId(at))));
        declared.extend((unions..model.unions.len()).map(|at| Declared::Union(UnionId(at))));
        let aliases = (typedefs..model.typedefs.len()).filter(|at| model.typedefs[*at].public);
        declared.extend(aliases.map(Declared::Alias));
        declared.extend((coclasses..model.coclasses.len()).map(Declared::Coclass));
        if let Item::Interface(decl) = item
            && let Some(Named::Interface(id)) = self.types.get(&decl.name.name).map(|known| &known.what)
        {
            declared.push(Declared::Interface(*id));
        }
        if let Item::Dispinterface(decl) = item {
            declared.extend(self.dispinterfaces.get(&decl.name.name).copied().map(Declared::Dispinterface));
        }
        declared
    }

    /// Resolves a module: its constants and types. Its functions belong to a shared library, and
    /// are not called over obvia.
    pub(super) fn module(&mut self, decl: &ModuleDecl) {
        let mut functions = 0;
        for item in &decl.items {
            match item {
                Item::Method(_) => functions += 1,
                item => self.item(item),
            }
        }
        if functions > 0 {
            let text = format!("nothing is generated for the functions of module `{}`", decl.name.name);
            let warning = Diagnostic::warning("module-functions", decl.name.span, text);
            self.report(warning.help("they belong to a shared library; its constants and types count"));
        }
    }

    /// Resolves a class. No code is generated for it.
    pub(super) fn coclass(&mut self, decl: &CoclassDecl) {
        // A forward declaration has no effect, because only interfaces can be types of parameters.
        let Some(offered) = &decl.interfaces else { return };
        self.check_attributes(&decl.attributes, &attributes::CLASS);
        let about = self.about(&decl.attributes, &flags::ON_TYPES);
        let creatable = if find(&decl.attributes, "noncreatable").is_some() { 0 } else { flags::CAN_CREATE };
        let about = About { flags: about.flags | creatable, ..about };
        let mut interfaces = Vec::new();
        for one in offered {
            self.check_attributes(&one.attributes, &attributes::CLASS_INTERFACE);
            let bits = bits(&one.attributes, &flags::ON_INTERFACES);
            interfaces.extend(self.offered(one).map(|offered| (offered, bits)));
        }
        let (name, imported, span) = (decl.name.name.clone(), self.imported, decl.name.span);
        self.model.coclasses.push(Coclass { name, about, interfaces, imported, span });
    }

    /// Returns an interface of a class. Warns about an interface that no file declares, and adds it
    /// as if there were a forward declaration.
    fn offered(&mut self, decl: &OfferedDecl) -> Option<Offered> {
        let name = &decl.name;
        self.declare_prelude(&name.name);
        if self.has_dispinterface(&name.name) {
            return self.dispinterface_at(name).map(Offered::Dispinterface);
        }
        if let Some(at) = self.dispinterfaces.get(&name.name) {
            return Some(Offered::Dispinterface(*at));
        }
        match self.types.get(&name.name).map(|known| &known.what) {
            Some(Named::Interface(id)) => return Some(Offered::Interface(*id)),
            Some(Named::IUnknown) => return Some(Offered::Unknown),
            Some(_) => {
                let error = Diagnostic::error("unknown-type", name.span, format!("`{}` is no interface", name.name));
                self.report(error.help("a class lists the interfaces of its objects"));
                return None;
            }
            None if self.is_declared_below(&name.name) => return Some(Offered::Interface(self.interface_id(name))),
            None => {}
        }
        let text = format!("no file declares interface `{}`", name.name);
        let warning = Diagnostic::warning("announced", name.span, text);
        self.report(warning.help("import the file that declares it, or write a forward declaration before the class"));
        match decl.is_dispinterface {
            true => self.dispinterface_at(name).map(Offered::Dispinterface),
            false => Some(Offered::Interface(self.interface_id(name))),
        }
    }

    /// Returns the properties of a type that type libraries record, from its attributes.
    pub(super) fn about(&mut self, attributes: &[Attribute], names: &[(&str, u32)]) -> About {
        let uuid = find(attributes, "uuid").and_then(|attribute| self.uuid_of(attribute));
        let version = find(attributes, "version").map_or((0, 0), |attribute| self.version_of(attribute));
        let (flags, help) = self.flags_and_help(attributes, names);
        About { uuid, version, flags, help }
    }

    /// Returns the flags and the help text of a declaration, from its attributes.
    pub(super) fn flags_and_help(&mut self, attributes: &[Attribute], names: &[(&str, u32)]) -> (u32, Help) {
        let text = self.text_attribute(attributes, "helpstring");
        (bits(attributes, names), Help { text, context: self.number(attributes, "helpcontext") })
    }

    /// Returns the text of an attribute. `None` without the attribute, and after an error.
    fn text_attribute(&mut self, attributes: &[Attribute], name: &str) -> Option<String> {
        let attribute = find(attributes, name)?;
        let value = attribute.arguments.first().and_then(Option::as_ref).and_then(|value| self.evaluate(value));
        if let Some(Value::Text(text)) = value {
            return Some(text);
        }
        let error = Diagnostic::error("not-a-text", attribute.span, format!("[{name}] needs a text"));
        self.report(error.help(format!("write [{name}(\"...\")]")));
        None
    }

    /// Returns the number of an attribute. 0 if there is none.
    fn number(&mut self, attributes: &[Attribute], name: &str) -> u32 {
        let Some(attribute) = find(attributes, name) else { return 0 };
        let value = attribute.arguments.first().and_then(Option::as_ref).and_then(|value| self.evaluate_int(value));
        value.and_then(|value| u32::try_from(value).ok()).unwrap_or_else(|| {
            let error = Diagnostic::error("bad-number", attribute.span, format!("[{name}] needs a number of 32 bits"));
            self.report(error.help(format!("write [{name}(1)]")));
            0
        })
    }

    /// Returns the index of a type's typedef, if a typedef names the type.
    pub(super) fn named_by(&self, spec: &TypeSpec) -> Option<usize> {
        match &spec.kind {
            TypeKind::Named(name) => self.typedefs.get(name).copied(),
            _ => None,
        }
    }
}

fn bits(attributes: &[Attribute], names: &[(&str, u32)]) -> u32 {
    names.iter().filter(|(name, _)| find(attributes, name).is_some()).fold(0, |all, (_, bit)| all | bit)
}
