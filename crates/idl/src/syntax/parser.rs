//! The parser: turns tokens into syntax by recursive descent. After an error the parser continues
//! at the next declaration.

mod acf;
mod attributes;
mod expr;
mod library;
mod texts;
mod types;

pub(crate) use types::{base_of_word, is_base_word};

use crate::syntax::ast::{Declarator, Dimension, Ident, InterfaceDecl, Item, Method, Param, TypeKind, TypeSpec};
use crate::syntax::{Noted, SyntaxKind};
use crate::text::diagnostic::{Diagnostic, Severity};
use crate::text::lexer::{Token, TokenKind};
use crate::text::source::{Sources, Span};

/// The maximum depth of nested types, parentheses and interfaces in a file.
const DEPTH_MAX: usize = 64;

/// The maximum number of dimensions, and of stars, in a declaration.
const LEVELS_MAX: usize = 16;

/// The outcome of a parser that could not continue. An error has been reported.
pub(crate) struct Stop;

pub(crate) type Parsed<T> = Result<T, Stop>;

/// Parses the tokens of a file.
pub(crate) struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
    /// The number of binary operators in the current expression.
    operators: usize,
    sources: &'a Sources,
    diagnostics: &'a mut Vec<Diagnostic>,
    end: Span,
    // Invariant: the nodes are nested or disjoint, and inner nodes come before outer ones.
    noted: Vec<Noted>,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(
        tokens: &'a [Token],
        end: Span,
        sources: &'a Sources,
        diagnostics: &'a mut Vec<Diagnostic>,
    ) -> Self {
        Self { tokens, at: 0, depth: 0, operators: 0, sources, diagnostics, end, noted: Vec::new() }
    }

    /// Parses a whole file.
    pub(crate) fn file(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        let (mut is_wrong, mut looked_at) = (false, 0);
        while self.at < self.tokens.len() {
            let before = self.at;
            // Lone semicolons after declarations mean nothing. After an error a closing brace may
            // be left over.
            if self.eat(";") {
                continue;
            }
            is_wrong |= self.diagnostics[looked_at..].iter().any(|found| found.severity == Severity::Error);
            looked_at = self.diagnostics.len();
            if is_wrong && self.eat("}") {
                self.note(SyntaxKind::Error, before);
                continue;
            }
            self.item_into(&mut items, false);
        }
        items
    }

    /// Returns the nodes of the syntax tree. Called after the file has been parsed.
    pub(crate) fn into_noted(self) -> Vec<Noted> {
        self.noted
    }

    fn item_into(&mut self, items: &mut Vec<Item>, in_interface: bool) {
        let before = self.at;
        let found = self.diagnostics.len();
        match self.item(in_interface) {
            Ok(item) => {
                self.note(SyntaxKind::of_item(&item), before);
                // A type with an error is dropped. Interfaces and libraries have already dropped
                // their faulty parts.
                if self.diagnostics.len() == found || matches!(item, Item::Interface(_) | Item::Library(_)) {
                    items.push(item);
                }
            }
            Err(Stop) => self.recover(before),
        }
    }

    /// Parses the contents of braces up to the closing brace. After an error the parser continues
    /// after the next semicolon.
    pub(crate) fn body(&mut self, mut part: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        while !self.eat("}") {
            let before = self.at;
            if part(self).is_err() {
                self.recover(before);
                if self.peek().is_none() {
                    return Err(Stop);
                }
            }
        }
        Ok(())
    }

    /// Skips the rest of a faulty declaration.
    fn recover(&mut self, before: usize) {
        // Braces that were opened before the error are closed after it.
        let passed = self.tokens[before..self.at].iter().map(|token| self.sources.text(token.span));
        let mut braces = passed.fold(0_usize, |open, text| match text {
            "{" => open + 1,
            "}" => open.saturating_sub(1),
            _ => open,
        });
        while let Some(text) = self.peek_text() {
            match text {
                "{" => braces += 1,
                // The brace closes the surrounding declaration, or is left over. The callers handle
                // either case.
                "}" if braces == 0 => break,
                "}" => braces -= 1,
                _ => {}
            }
            self.at += 1;
            if text == ";" && braces == 0 {
                break;
            }
        }
        self.note(SyntaxKind::Error, before);
    }

    // --- nodes --------------------------------------------------------------------------------------------------

    /// Adds a node of the syntax tree for the tokens since `start`.
    pub(crate) fn note(&mut self, kind: SyntaxKind, start: usize) {
        if start < self.at {
            self.noted.push(Noted { kind, tokens: (start, self.at) });
        }
    }

    /// Adds a node of the syntax tree for the tokens that `inner` parses.
    pub(crate) fn node<T>(&mut self, kind: SyntaxKind, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let start = self.at;
        let outcome = inner(self)?;
        self.note(kind, start);
        Ok(outcome)
    }

    // --- tokens -------------------------------------------------------------------------------------------------

    pub(crate) fn peek(&self) -> Option<Token> {
        self.tokens.get(self.at).copied()
    }

    pub(crate) fn peek_text(&self) -> Option<&'a str> {
        self.text_at(0)
    }

    pub(crate) fn text_at(&self, ahead: usize) -> Option<&'a str> {
        self.tokens.get(self.at + ahead).map(|token| self.sources.text(token.span))
    }

    pub(crate) fn bump(&mut self) -> Option<Token> {
        let token = self.peek();
        self.at += usize::from(token.is_some());
        token
    }

    /// Returns the parser's position, for diagnostics: the next token, or the end of the file.
    pub(crate) fn here(&self) -> Span {
        self.peek().map_or(self.end, |token| token.span)
    }

    /// Returns the place of the token that was parsed last.
    pub(crate) fn behind(&self) -> Span {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(self.end, |token| token.span)
    }

    pub(crate) fn eat(&mut self, text: &str) -> bool {
        let found = self.peek_text() == Some(text) && self.peek().is_some_and(|token| token.kind != TokenKind::Text);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn expect(&mut self, text: &str, after: &str) -> Parsed<Span> {
        if self.eat(text) {
            return Ok(self.behind());
        }
        let found = self.peek_text().map_or_else(|| "the end of the file".to_owned(), |found| format!("`{found}`"));
        let error = Diagnostic::error("syntax", self.here(), format!("expected `{text}` {after}, found {found}"));
        self.fail(error.label(format!("`{text}` is missing here")).help(format!("write `{text}` {after}")))
    }

    pub(crate) fn fail<T>(&mut self, diagnostic: Diagnostic) -> Parsed<T> {
        self.diagnostics.push(diagnostic);
        Err(Stop)
    }

    pub(crate) fn ident(&mut self, what: &str) -> Parsed<Ident> {
        match self.peek() {
            Some(token) if token.kind == TokenKind::Ident => {
                self.at += 1;
                Ok(Ident { name: self.sources.text(token.span).to_owned(), span: token.span })
            }
            _ => {
                let found =
                    self.peek_text().map_or_else(|| "the end of the file".to_owned(), |text| format!("`{text}`"));
                let error = Diagnostic::error("syntax", self.here(), format!("expected {what}, found {found}"));
                self.fail(error)
            }
        }
    }

    pub(crate) fn nest<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEPTH_MAX {
            let error = Diagnostic::error("too-deep", self.here(), "this is nested too deeply");
            return self.fail(error.help(format!("at most {DEPTH_MAX} levels are nested")));
        }
        self.depth += 1;
        let outcome = inner(self);
        self.depth -= 1;
        outcome
    }

    // --- declarations -------------------------------------------------------------------------------------------

    fn item(&mut self, in_interface: bool) -> Parsed<Item> {
        let start = self.here();
        match self.peek_text().unwrap_or("") {
            "import" => self.import(),
            "cpp_quote" => self.cpp_quote(),
            "const" if !self.is_method() => self.constant(),
            "static" if self.text_at(1) == Some("const") => self.constant(),
            "typedef" => self.typedef(),
            "importlib" => self.import_lib(),
            "midl_pragma" => self.midl_pragma(),
            "extern" => self.external(),
            _ => {
                let attributes = self.attributes()?;
                match self.peek_text().unwrap_or("") {
                    "interface" if !in_interface || self.text_at(2) == Some(";") => self.interface(attributes, start),
                    "typedef" => self.typedef_with(attributes),
                    // The attributes are dropped: they can only be help texts for type libraries,
                    // which do not contain a file's constants yet.
                    "const" if !self.is_method() => self.constant(),
                    "static" if self.text_at(1) == Some("const") => self.constant(),
                    "library" if !in_interface => self.nest(|this| this.library(attributes)),
                    "coclass" if !in_interface => self.coclass(attributes),
                    "dispinterface" if !in_interface => self.dispinterface(attributes),
                    "module" if !in_interface => self.nest(|this| this.module(attributes)),
                    what @ ("runtimeclass" | "namespace" | "apicontract" | "delegate" | "declare")
                        if self.is_winrt() =>
                    {
                        let text = format!("`{what}` belongs to WinRT's MIDL 3, which is not supported");
                        let error = Diagnostic::error("unsupported", self.here(), text);
                        self.fail(error.help("declare interfaces and types at the top level of the file"))
                    }
                    _ => self.method_or_type(attributes, in_interface, start),
                }
            }
        }
    }

    fn import(&mut self) -> Parsed<Item> {
        self.bump();
        let mut files = vec![self.quoted("the file to import")?];
        while self.eat(",") {
            files.push(self.quoted("the file to import")?);
        }
        self.expect(";", "after the file name")?;
        Ok(Item::Import(files))
    }

    /// Whether the next word begins a declaration of WinRT. If not, the word is the name of a type.
    fn is_winrt(&self) -> bool {
        self.text_at(1).is_some_and(|next| next == "{" || next.starts_with(|c: char| c.is_ascii_alphabetic()))
    }

    /// Parses `extern const IID IID_X;`, which announces a variable of C.
    fn external(&mut self) -> Parsed<Item> {
        self.bump();
        self.type_spec()?;
        self.declarator("the variable's name")?;
        self.expect(";", "after the variable")?;
        Ok(Item::Foreign)
    }

    /// Parses `midl_pragma warning(disable: 2400)`, which has no meaning here.
    fn midl_pragma(&mut self) -> Parsed<Item> {
        self.bump();
        self.ident("what the pragma is about")?;
        self.expect("(", "after the pragma's name")?;
        let open = self.behind();
        self.skip_to_closing(open)?;
        self.eat(";");
        Ok(Item::Foreign)
    }

    fn cpp_quote(&mut self) -> Parsed<Item> {
        self.bump();
        self.expect("(", "after cpp_quote")?;
        let (text, _) = self.quoted("the text for C")?;
        self.expect(")", "after the text")?;
        self.eat(";");
        Ok(Item::CppQuote(text))
    }

    /// Whether the declaration is a method, as in `const char *Name();`: a parenthesis follows its
    /// name.
    fn is_method(&self) -> bool {
        let mut texts = (0..).map_while(|ahead| self.text_at(ahead));
        texts.find(|text| matches!(*text, "(" | "=" | ";" | "{" | "}")) == Some("(")
    }

    fn constant(&mut self) -> Parsed<Item> {
        // Headers that C shares with IDL files have `static const`.
        self.eat("static");
        let spec = self.type_spec()?;
        let declarator = self.declarator("the constant's name")?;
        self.expect("=", "after the constant's name")?;
        let value = self.expr()?;
        self.expect(";", "after the constant's value")?;
        Ok(Item::Const(spec, declarator, value))
    }

    fn typedef(&mut self) -> Parsed<Item> {
        self.typedef_with(Vec::new())
    }

    fn typedef_with(&mut self, mut attributes: Vec<crate::syntax::ast::Attribute>) -> Parsed<Item> {
        self.bump();
        attributes.extend(self.attributes()?);
        let spec = self.type_spec()?;
        let mut declarators = vec![self.declarator("the new type's name")?];
        while self.eat(",") {
            declarators.push(self.declarator("the new type's name")?);
        }
        self.expect(";", "after the typedef")?;
        Ok(Item::Typedef(attributes, spec, declarators))
    }

    fn interface(&mut self, attributes: Vec<crate::syntax::ast::Attribute>, start: Span) -> Parsed<Item> {
        let doc = self.doc_before(start);
        self.bump();
        let name = self.ident("the interface's name")?;
        if self.eat(";") {
            return Ok(Item::Interface(InterfaceDecl { attributes, name, base: None, items: None, doc }));
        }
        let base = if self.eat(":") { Some(self.ident("the interface that this one extends")?) } else { None };
        if self.peek_text() == Some(",") {
            let error = Diagnostic::error("many-bases", self.here(), "an interface extends one interface only");
            return self.fail(error.help("let the object implement both interfaces"));
        }
        self.expect("{", "after the interface's name")?;
        let mut items = Vec::new();
        while self.at < self.tokens.len() && self.peek_text() != Some("}") {
            self.item_into(&mut items, true);
        }
        // The brace is missing only at the end of the file. The contents are kept.
        let _ = self.expect("}", "at the end of the interface");
        self.eat(";");
        Ok(Item::Interface(InterfaceDecl { attributes, name, base, items: Some(items), doc }))
    }

    pub(crate) fn method_or_type(
        &mut self,
        attributes: Vec<crate::syntax::ast::Attribute>,
        in_interface: bool,
        start: Span,
    ) -> Parsed<Item> {
        let spec = self.type_spec_with(&attributes)?;
        if self.eat(";") {
            return Ok(Item::Type(spec));
        }
        let mut pointers = 0;
        while self.eat("*") {
            pointers = self.level(usize::from(pointers))?;
        }
        self.calling_convention();
        let name = self.ident("a name")?;
        let is_local = attributes.iter().any(|attribute| attribute.name.name == "local");
        if !in_interface && !is_local || self.peek_text() != Some("(") {
            let error = Diagnostic::error(
                "stray-declaration",
                name.span,
                format!("`{}` is declared outside an interface", name.name),
            );
            return self.fail(
                error.help("declare methods in an interface, and types by `typedef`, `struct`, `union` or `enum`"),
            );
        }
        let params = self.node(SyntaxKind::Params, Self::params)?;
        // In C++, `= 0` marks a pure virtual method. Every method of an interface is pure virtual.
        if self.peek_text() == Some("=") && self.text_at(1) == Some("0") {
            self.at += 2;
        }
        self.expect(";", "after the method")?;
        let doc = self.doc_before(start);
        Ok(Item::Method(Method { attributes, returns: (spec, pointers), name, params, doc }))
    }

    fn params(&mut self) -> Parsed<Vec<Param>> {
        self.bump();
        let mut params = Vec::new();
        if self.eat(")") {
            return Ok(params);
        }
        if self.peek_text() == Some("void") && self.text_at(1) == Some(")") {
            self.at += 2;
            return Ok(params);
        }
        loop {
            params.push(self.node(SyntaxKind::Param, |this| {
                let attributes = this.attributes()?;
                let spec = this.type_spec()?;
                let mut declarator = this.declarator_or(|this| matches!(this.peek_text(), Some("," | ")" | "[")))?;
                if declarator.name.name.is_empty() {
                    declarator.name.name = format!("arg{}", params.len() + 1);
                }
                Ok(Param { attributes, spec, declarator })
            })?);
            if self.eat(")") {
                return Ok(params);
            }
            self.expect(",", "between parameters")?;
        }
    }

    /// Skips the words for calling conventions, which do not matter on the wire.
    fn calling_convention(&mut self) {
        let words = ["STDMETHODCALLTYPE", "__stdcall", "_stdcall", "__cdecl", "CALLBACK", "WINAPI"];
        while words.iter().any(|word| self.eat(word)) {}
    }

    /// Parses a name with its pointers and dimensions.
    pub(crate) fn declarator(&mut self, what: &str) -> Parsed<Declarator> {
        self.node(SyntaxKind::Declarator, |this| this.declarator_inner(what, |_| false))
    }

    /// Parses a parameter's name with its pointers and dimensions. If `is_nameless` returns true
    /// after the pointers have been parsed, the name is empty.
    fn declarator_or(&mut self, is_nameless: impl Fn(&Self) -> bool) -> Parsed<Declarator> {
        self.node(SyntaxKind::Declarator, |this| this.declarator_inner("the parameter's name", is_nameless))
    }

    fn declarator_inner(&mut self, what: &str, is_nameless: impl Fn(&Self) -> bool) -> Parsed<Declarator> {
        let this = self;
        let start = this.here();
        let mut pointers = 0_u8;
        loop {
            if this.eat("*") {
                pointers = this.level(pointers.into())?;
            } else if !this.qualifiers() {
                break;
            }
        }
        this.calling_convention();
        if this.eat("(") {
            return this.function_pointer(start);
        }
        let name = match is_nameless(this) {
            true => Ident { name: String::new(), span: this.here() },
            false => this.ident(what)?,
        };
        let mut dimensions = Vec::new();
        while this.peek_text() == Some("[") {
            this.level(dimensions.len())?;
            dimensions.push(this.node(SyntaxKind::Dimension, Self::dimension)?);
        }
        let span = start.to(this.behind());
        Ok(Declarator { pointers, name, dimensions, is_function: false, span })
    }

    /// Parses the declarator `(*name)(parameters)` after its first parenthesis. The type of the
    /// function is not recorded.
    fn function_pointer(&mut self, start: Span) -> Parsed<Declarator> {
        self.calling_convention();
        // Without the star, the name denotes the function's type.
        let pointers = u8::from(self.eat("*"));
        self.calling_convention();
        let name = self.ident("the name of a function's type")?;
        self.expect(")", "after the name of a function's type")?;
        if self.peek_text() != Some("(") {
            self.expect("(", "before the parameters")?;
        }
        self.nest(|this| this.node(SyntaxKind::Params, Self::params))?;
        let span = start.to(self.behind());
        Ok(Declarator { pointers, name, dimensions: Vec::new(), is_function: true, span })
    }

    /// Counts one more star or dimension, up to the limit.
    pub(crate) fn level(&mut self, before: usize) -> Parsed<u8> {
        match u8::try_from(before + 1) {
            Ok(level) if before < LEVELS_MAX => Ok(level),
            _ => {
                let error = Diagnostic::error("too-deep", self.here(), "this type has too many levels");
                self.fail(error.help(format!("a declaration has at most {LEVELS_MAX} stars, and as many dimensions")))
            }
        }
    }

    fn dimension(&mut self) -> Parsed<Dimension> {
        let open = self.here();
        self.bump();
        if self.peek_text() == Some("*") && self.text_at(1) == Some("]") {
            self.bump();
        }
        if self.eat("]") {
            return Ok(Dimension::Open(open.to(self.behind())));
        }
        let length = self.expr()?;
        self.expect("]", "after the dimension")?;
        Ok(Dimension::Fixed(length))
    }

    /// Whether a type is `void` without pointers.
    pub(crate) fn is_void(spec: &TypeSpec) -> bool {
        matches!(spec.kind, TypeKind::Base("void"))
    }
}
