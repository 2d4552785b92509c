//! Libraries and their classes.

use super::{Parsed, Parser};
use crate::syntax::SyntaxKind;
use crate::syntax::ast::{
    Attribute, CoclassDecl, DispinterfaceDecl, DispinterfaceMembers, Item, LibraryDecl, ModuleDecl, OfferedDecl,
};
use crate::text::diagnostic::Diagnostic;

impl Parser<'_> {
    /// Parses `library L { ... }`, after its attributes.
    pub(crate) fn library(&mut self, attributes: Vec<Attribute>) -> Parsed<Item> {
        self.bump();
        let name = self.ident("the library's name")?;
        self.expect("{", "after the library's name")?;
        let mut items = Vec::new();
        while self.peek().is_some() && self.peek_text() != Some("}") {
            if !self.eat(";") {
                self.item_into(&mut items, false);
            }
        }
        // The brace is missing only at the end of the file. The contents are kept.
        let _ = self.expect("}", "at the end of the library");
        self.eat(";");
        Ok(Item::Library(LibraryDecl { attributes, name, items }))
    }

    /// Parses `module M { ... }`, after its attributes.
    pub(crate) fn module(&mut self, attributes: Vec<Attribute>) -> Parsed<Item> {
        self.bump();
        let name = self.ident("the module's name")?;
        self.expect("{", "after the module's name")?;
        let mut items = Vec::new();
        while self.peek().is_some() && self.peek_text() != Some("}") {
            if !self.eat(";") {
                self.item_into(&mut items, true);
            }
        }
        let _ = self.expect("}", "at the end of the module");
        self.eat(";");
        Ok(Item::Module(ModuleDecl { attributes, name, items }))
    }

    /// Parses `importlib("a.tlb");`.
    pub(crate) fn import_lib(&mut self) -> Parsed<Item> {
        self.bump();
        self.expect("(", "after importlib")?;
        let (name, span) = self.quoted("the library to import")?;
        self.expect(")", "after the library")?;
        self.expect(";", "after importlib")?;
        Ok(Item::ImportLib(name, span))
    }

    /// Parses `coclass C { [default] interface I; };`, after its attributes.
    pub(crate) fn coclass(&mut self, attributes: Vec<Attribute>) -> Parsed<Item> {
        self.bump();
        let name = self.ident("the class's name")?;
        if self.eat(";") {
            return Ok(Item::Coclass(CoclassDecl { attributes, name, interfaces: None }));
        }
        self.expect("{", "after the class's name")?;
        let mut interfaces = Vec::new();
        self.body(|this| {
            if this.eat(";") {
                return Ok(());
            }
            let attributes = this.attributes()?;
            let is_dispinterface = this.eat("dispinterface");
            if !is_dispinterface {
                this.expect("interface", "before the name of one that objects of the class have")?;
            }
            let name = this.ident("the interface's name")?;
            interfaces.push(OfferedDecl { attributes, is_dispinterface, name });
            this.expect(";", "after the interface's name")?;
            Ok(())
        })?;
        self.eat(";");
        Ok(Item::Coclass(CoclassDecl { attributes, name, interfaces: Some(interfaces) }))
    }
    /// Parses `dispinterface D { properties: ... methods: ... };` or `dispinterface D { interface
    /// I; };`, after its attributes.
    pub(crate) fn dispinterface(&mut self, attributes: Vec<Attribute>) -> Parsed<Item> {
        self.bump();
        let name = self.ident("the interface's name")?;
        if self.eat(";") {
            return Ok(Item::Dispinterface(DispinterfaceDecl { attributes, name, members: None }));
        }
        self.expect("{", "after the interface's name")?;
        let members = if self.eat("interface") {
            let of = self.ident("the interface whose members it has")?;
            self.expect(";", "after the interface's name")?;
            self.expect("}", "at the end of the interface")?;
            DispinterfaceMembers::Of(of)
        } else {
            let (mut properties, mut methods, mut is_property) = (Vec::new(), Vec::new(), None);
            self.body(|this| {
                if let Some(part @ ("properties" | "methods")) = this.peek_text() {
                    this.bump();
                    is_property = Some(part == "properties");
                    this.expect(":", "after the name of the part")?;
                    return Ok(());
                }
                if this.eat(";") {
                    return Ok(());
                }
                match is_property {
                    Some(true) => this.node(SyntaxKind::Member, |this| this.members(&mut properties)),
                    Some(false) => this.node(SyntaxKind::Method, |this| {
                        let start = this.here();
                        let attributes = this.attributes()?;
                        if let Item::Method(method) = this.method_or_type(attributes, true, start)? {
                            methods.push(method);
                        }
                        Ok(())
                    }),
                    None => {
                        let text = "this member stands under neither `properties:` nor `methods:`";
                        let error = Diagnostic::error("syntax", this.here(), text);
                        this.fail(error.help("write `properties:` or `methods:` before it"))
                    }
                }
            })?;
            DispinterfaceMembers::Own(properties, methods)
        };
        self.eat(";");
        Ok(Item::Dispinterface(DispinterfaceDecl { attributes, name, members: Some(members) }))
    }
}
