//! Attributes: the bracketed lists before a declaration.

use super::{Parsed, Parser};
use crate::syntax::SyntaxKind;
use crate::syntax::ast::Attribute;
use crate::text::diagnostic::Diagnostic;
use crate::text::source::Span;

/// Attributes whose arguments are not expressions.
const RAW: [&str; 10] = [
    "uuid",
    "version",
    "endpoint",
    "pointer_default",
    "async_uuid",
    "implicit_handle",
    "custom",
    "wire_marshal",
    "transmit_as",
    "represent_as",
];

impl Parser<'_> {
    /// Parses all attribute lists before a declaration. `OBVIA(name)` outside brackets counts as a
    /// list. For other compilers, `OBVIA` is an empty macro.
    pub(crate) fn attributes(&mut self) -> Parsed<Vec<Attribute>> {
        let mut attributes = Vec::new();
        loop {
            let start = self.at;
            if self.peek_text() == Some("OBVIA") {
                self.macro_of_attributes(&mut attributes)?;
            } else if self.eat("[") {
                while !self.eat("]") {
                    // No comma separates `OBVIA(name)` from its neighbours, because the macro is
                    // empty for other compilers.
                    if self.peek_text() == Some("OBVIA") {
                        self.macro_of_attributes(&mut attributes)?;
                        self.eat(",");
                        continue;
                    }
                    // As in MIDL, an attribute may be missing between two commas.
                    if self.eat(",") {
                        continue;
                    }
                    attributes.push(self.node(SyntaxKind::Attribute, Self::attribute)?);
                    if !self.eat(",") && !matches!(self.peek_text(), Some("]" | "OBVIA")) {
                        self.expect("]", "at the end of the attributes")?;
                    }
                }
            } else {
                return Ok(attributes);
            }
            self.note(SyntaxKind::Attributes, start);
        }
    }

    fn macro_of_attributes(&mut self, attributes: &mut Vec<Attribute>) -> Parsed<()> {
        self.bump();
        self.expect("(", "after OBVIA")?;
        attributes.push(self.node(SyntaxKind::Attribute, Self::attribute)?);
        self.expect(")", "after the attribute")?;
        Ok(())
    }

    fn attribute(&mut self) -> Parsed<Attribute> {
        let name = self.ident("an attribute")?;
        let start = name.span;
        let mut attribute = Attribute { name, arguments: Vec::new(), raw: String::new(), ty: None, span: start };
        if !self.eat("(") {
            return Ok(attribute);
        }
        let open = self.behind();
        if RAW.contains(&attribute.name.name.as_str()) {
            let first = self.at;
            let close = self.skip_to_closing(open)?;
            attribute.raw = self.text_of(first, self.at - 1);
            attribute.span = start.to(close);
            return Ok(attribute);
        }
        if attribute.name.name == "switch_type" {
            attribute.ty = Some(Box::new(self.type_spec()?));
            self.expect(")", "after the type")?;
            attribute.span = start.to(self.behind());
            return Ok(attribute);
        }
        loop {
            match self.peek_text() {
                Some("," | ")") => attribute.arguments.push(None),
                _ => attribute.arguments.push(Some(self.expr()?)),
            }
            if self.eat(")") {
                break;
            }
            self.expect(",", "between the attribute's arguments")?;
        }
        attribute.span = start.to(self.behind());
        Ok(attribute)
    }

    /// Returns the text of tokens, which may come from macros, with a blank where white space
    /// separates two tokens.
    fn text_of(&self, first: usize, end: usize) -> String {
        let (mut text, mut before) = (String::new(), None::<Span>);
        for token in &self.tokens[first..end] {
            let is_apart =
                before.is_some_and(|before| before.file != token.span.file || before.end != token.span.start);
            text += if is_apart { " " } else { "" };
            text += self.sources.text(token.span);
            before = Some(token.span);
        }
        text
    }

    pub(super) fn skip_to_closing(&mut self, open: Span) -> Parsed<Span> {
        let mut depth = 1;
        while let Some(token) = self.bump() {
            match self.sources.text(token.span) {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Ok(token.span);
            }
        }
        let error = Diagnostic::error("syntax", open, "this parenthesis does not close");
        self.fail(error.help("add `)`"))
    }
}
