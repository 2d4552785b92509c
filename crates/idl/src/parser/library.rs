//! Libraries, and the classes in them.

use super::{Parsed, Parser};
use crate::ast::{Attribute, CoclassDecl, Item, LibraryDecl};

impl Parser<'_> {
    /// `library L { ... }`, behind its attributes.
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
        // Only the end of the file comes without a brace; what was declared is declared even so.
        let _ = self.expect("}", "at the end of the library");
        self.eat(";");
        Ok(Item::Library(LibraryDecl { attributes, name, items }))
    }

    /// `importlib("a.tlb");`
    pub(crate) fn import_lib(&mut self) -> Parsed<Item> {
        self.bump();
        self.expect("(", "after importlib")?;
        let (name, span) = self.quoted("the library to import")?;
        self.expect(")", "after the library")?;
        self.expect(";", "after importlib")?;
        Ok(Item::ImportLib(name, span))
    }

    /// `coclass C { [default] interface I; };`, behind its attributes.
    pub(crate) fn coclass(&mut self, attributes: Vec<Attribute>) -> Parsed<Item> {
        self.bump();
        let name = self.ident("the class's name")?;
        self.expect("{", "after the class's name")?;
        let mut interfaces = Vec::new();
        self.body(|this| {
            let attributes = this.attributes()?;
            this.expect("interface", "before the name of one that objects of the class have")?;
            interfaces.push((attributes, this.ident("the interface's name")?));
            this.expect(";", "after the interface's name")?;
            Ok(())
        })?;
        self.eat(";");
        Ok(Item::Coclass(CoclassDecl { attributes, name, interfaces }))
    }
}
