//! Side files: attributes in a file of their own beside the IDL file, as in C706 6.3.

use super::{Parsed, Parser};
use crate::syntax::ast::{Attribute, Ident, SideInterface, SideMethod};
use crate::text::diagnostic::Diagnostic;

impl Parser<'_> {
    /// Parses a whole side file.
    pub(crate) fn side_file(&mut self) -> Vec<SideInterface> {
        let mut interfaces = Vec::new();
        while self.at < self.tokens.len() {
            let before = self.at;
            if self.eat(";") || (!self.diagnostics.is_empty() && self.eat("}")) {
                continue;
            }
            match self.side_interface() {
                Ok(interface) => interfaces.push(interface),
                Err(_) => self.recover(before),
            }
        }
        interfaces
    }

    fn side_interface(&mut self) -> Parsed<SideInterface> {
        self.refuse_other_parts()?;
        let attributes = self.attributes()?;
        self.expect("interface", "in a side file")?;
        let name = self.ident("the interface's name")?;
        self.expect("{", "after the interface's name")?;
        let mut methods = Vec::new();
        self.body(|this| {
            if this.peek().is_none() {
                return this.expect("}", "at the end of the interface").map(|_| ());
            }
            this.side_methods(&mut methods)
        })?;
        self.eat(";");
        Ok(SideInterface { attributes, name, methods })
    }

    /// Parses methods with the same attributes, up to their semicolon.
    fn side_methods(&mut self, methods: &mut Vec<SideMethod>) -> Parsed<()> {
        if self.eat(";") {
            return Ok(());
        }
        self.refuse_other_parts()?;
        let attributes = self.attributes()?;
        loop {
            let name = self.ident("a method's name")?;
            self.expect("(", "after the method's name")?;
            let params = self.side_params()?;
            methods.push(SideMethod { attributes: attributes.clone(), name, params });
            if !self.eat(",") {
                return self.expect(";", "after the method").map(|_| ());
            }
        }
    }

    fn side_params(&mut self) -> Parsed<Vec<(Vec<Attribute>, Ident)>> {
        let mut params = Vec::new();
        if self.eat(")") {
            return Ok(params);
        }
        loop {
            params.push((self.attributes()?, self.ident("a parameter's name")?));
            if self.eat(")") {
                return Ok(params);
            }
            self.expect(",", "between parameters")?;
        }
    }

    /// Refuses the parts of C706's side files that this dialect lacks: attributes are only for
    /// interfaces, methods and parameters.
    fn refuse_other_parts(&mut self) -> Parsed<()> {
        let here = self.here();
        match self.peek_text() {
            Some("include") if self.text_at(1) != Some("(") => {
                let error = Diagnostic::error("unsupported", here, "`include` is not supported in a side file");
                self.fail(error.help("remove it; what generated code includes follows from the IDL file's imports"))
            }
            Some("typedef") => {
                let error = Diagnostic::error("unsupported", here, "`typedef` is not supported in a side file");
                self.fail(error.help("remove it; a side file has no attributes for types"))
            }
            _ => Ok(()),
        }
    }
}
