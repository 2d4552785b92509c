//! Types in their written form.

use super::{Parsed, Parser};
use crate::syntax::SyntaxKind;
use crate::syntax::ast::{Arm, Attribute, Declarator, EnumDecl, Member, StructDecl, TypeKind, TypeSpec, UnionDecl};
use crate::text::diagnostic::Diagnostic;
use crate::text::lexer::TokenKind;

/// Base types with one-word names.
const WORDS: [(&str, &str); 25] = [
    ("void", "void"),
    ("boolean", "boolean"),
    ("BOOLEAN", "boolean"),
    ("byte", "byte"),
    ("BYTE", "byte"),
    ("wchar_t", "wchar_t"),
    ("WCHAR", "wchar_t"),
    ("float", "float"),
    ("FLOAT", "float"),
    ("double", "double"),
    ("DOUBLE", "double"),
    ("hyper", "hyper"),
    ("HRESULT", "HRESULT"),
    ("SCODE", "HRESULT"),
    ("error_status_t", "unsigned long"),
    ("handle_t", "handle_t"),
    ("GUID", "GUID"),
    ("IID", "GUID"),
    ("CLSID", "GUID"),
    ("UUID", "GUID"),
    ("REFIID", "REFIID"),
    ("REFGUID", "REFIID"),
    ("REFCLSID", "REFIID"),
    ("LPSTR", "LPSTR"),
    ("LPWSTR", "LPWSTR"),
];

/// Further one-word names, from headers that IDL files rely on.
const WINDOWS: [(&str, &str); 16] = [
    ("CHAR", "char"),
    ("UCHAR", "unsigned char"),
    ("SHORT", "short"),
    ("USHORT", "unsigned short"),
    ("WORD", "unsigned short"),
    ("INT", "long"),
    ("UINT", "unsigned long"),
    ("LONG", "long"),
    ("ULONG", "unsigned long"),
    ("DWORD", "unsigned long"),
    ("BOOL", "long"),
    ("LONGLONG", "hyper"),
    ("ULONGLONG", "unsigned hyper"),
    ("INT64", "hyper"),
    ("UINT64", "unsigned hyper"),
    ("DWORDLONG", "unsigned hyper"),
];

/// Automation's types and their normal names.
const AUTOMATION: [(&str, &str); 3] = [("BSTR", "BSTR"), ("VARIANT", "VARIANT"), ("VARIANTARG", "VARIANT")];

/// Types that are not supported.
const UNSUPPORTED: [&str; 2] = ["pipe", "__int3264"];

impl Parser<'_> {
    /// Parses a type.
    pub(crate) fn type_spec(&mut self) -> Parsed<TypeSpec> {
        self.type_spec_with(&[])
    }

    /// Parses a type after the attributes `before`.
    pub(crate) fn type_spec_with(&mut self, before: &[Attribute]) -> Parsed<TypeSpec> {
        self.node(SyntaxKind::TypeSpec, |this| this.type_spec_inner(before))
    }

    fn type_spec_inner(&mut self, before: &[Attribute]) -> Parsed<TypeSpec> {
        let start = self.here();
        let mut constant = self.eat("const");
        let mut attributes = before.to_vec();
        attributes.extend(self.attributes()?);
        let kind = match self.peek_text().unwrap_or("") {
            "struct" => {
                TypeKind::Struct(self.node(SyntaxKind::Struct, |this| this.nest(|this| this.struct_decl(attributes)))?)
            }
            "union" => {
                TypeKind::Union(self.node(SyntaxKind::Union, |this| this.nest(|this| this.union_decl(attributes)))?)
            }
            "enum" => TypeKind::Enum(self.node(SyntaxKind::Enum, |this| this.enum_decl(attributes))?),
            "interface" => {
                self.bump();
                TypeKind::Named(self.ident("the interface's name")?.name)
            }
            "signed" | "unsigned" | "char" | "small" | "short" | "long" | "int" | "__int64" | "__int32" | "__int16"
            | "__int8" => TypeKind::Base(self.integer()),
            word => self.named(word)?,
        };
        constant |= self.eat("const");
        Ok(TypeSpec { kind, constant, span: start.to(self.behind()) })
    }

    fn named(&mut self, word: &str) -> Parsed<TypeKind> {
        if UNSUPPORTED.contains(&word) {
            let error = Diagnostic::error("unsupported", self.here(), format!("`{word}` is not supported yet"));
            return self.fail(error.help("strings, structures and arrays with size_is carry the same data"));
        }
        if let Some(&(_, base)) = WORDS.iter().chain(&WINDOWS).find(|(name, _)| *name == word) {
            self.bump();
            return Ok(TypeKind::Base(if base == "hyper" { self.hyper() } else { base }));
        }
        if let Some(&(_, automation)) = AUTOMATION.iter().find(|(name, _)| *name == word) {
            self.bump();
            return Ok(TypeKind::Automation(automation));
        }
        if word == "SAFEARRAY" {
            return self.nest(Self::safe_array);
        }
        Ok(TypeKind::Named(self.ident("a type")?.name))
    }

    fn safe_array(&mut self) -> Parsed<TypeKind> {
        self.bump();
        self.expect("(", "after SAFEARRAY")?;
        let element = self.type_spec()?;
        let is_pointer = self.eat("*");
        self.expect(")", "after the elements' type")?;
        Ok(TypeKind::SafeArray(Box::new(element), is_pointer))
    }

    fn hyper(&mut self) -> &'static str {
        self.eat("int");
        "hyper"
    }

    /// Parses an integer type of several words, in any order as in C.
    fn integer(&mut self) -> &'static str {
        let (mut signed, mut unsigned, mut size, mut longs) = (false, false, "", 0);
        while let Some(word) = self.peek_text() {
            match word {
                "signed" => signed = true,
                "unsigned" => unsigned = true,
                "char" | "small" | "short" | "hyper" => size = word_of(word),
                "long" => longs += 1,
                "__int64" => size = "hyper",
                "__int32" => size = "long",
                "__int16" => size = "short",
                "__int8" => size = "small",
                "int" => {}
                _ => break,
            }
            self.bump();
        }
        let size = match (size, longs) {
            ("", 2) => "hyper",
            ("", _) => "long",
            (size, _) => size,
        };
        match (size, unsigned, signed) {
            ("char", true, _) => "unsigned char",
            ("char", _, true) => "small",
            ("char", ..) => "char",
            ("small", true, _) => "unsigned small",
            ("small", ..) => "small",
            ("short", true, _) => "unsigned short",
            ("short", ..) => "short",
            ("hyper", true, _) => "unsigned hyper",
            ("hyper", ..) => "hyper",
            (_, true, _) => "unsigned long",
            _ => "long",
        }
    }

    fn tag(&mut self) -> Option<crate::syntax::ast::Ident> {
        self.peek().filter(|token| token.kind == TokenKind::Ident && self.peek_text() != Some("switch"))?;
        self.ident("a tag").ok()
    }

    fn struct_decl(&mut self, attributes: Vec<Attribute>) -> Parsed<StructDecl> {
        self.bump();
        let tag = self.tag();
        if !self.eat("{") {
            return Ok(StructDecl { tag, members: None, attributes });
        }
        let mut members = Vec::new();
        self.body(|this| this.node(SyntaxKind::Member, |this| this.members(&mut members)))?;
        Ok(StructDecl { tag, members: Some(members), attributes })
    }

    /// Parses one line of members: `long a, *b;`.
    pub(crate) fn members(&mut self, members: &mut Vec<Member>) -> Parsed<()> {
        let attributes = self.attributes()?;
        let mut spec = self.type_spec()?;
        loop {
            let declarator = self.declarator("the member's name")?;
            members.push(Member { attributes: attributes.clone(), spec: spec.clone(), declarator: Some(declarator) });
            if !self.eat(",") {
                break;
            }
            // Only the first member declares the type.
            let Some(reference_to) = reference_to(&spec) else {
                let error = Diagnostic::error("no-tag", spec.span, "the type of these members has no name");
                return self.fail(error.help("write a tag before its `{`"));
            };
            spec = reference_to;
        }
        self.expect(";", "after the member")?;
        Ok(())
    }

    fn union_decl(&mut self, attributes: Vec<Attribute>) -> Parsed<UnionDecl> {
        self.bump();
        let tag = self.tag();
        let mut switch = None;
        if self.eat("switch") {
            self.expect("(", "after switch")?;
            let spec = self.type_spec()?;
            let name = self.ident("the discriminant's name")?;
            self.expect(")", "after the discriminant")?;
            let inner = self.tag();
            switch = Some((Box::new(spec), name, inner));
        }
        if !self.eat("{") {
            return Ok(UnionDecl { tag, switch, arms: None, attributes });
        }
        let mut arms = Vec::new();
        self.body(|this| {
            arms.push(this.node(SyntaxKind::Arm, Self::arm)?);
            Ok(())
        })?;
        Ok(UnionDecl { tag, switch, arms: Some(arms), attributes })
    }

    /// Parses `case 1: case 2: long a;` or `[case(1, 2)] long a;` or `default: ;`.
    fn arm(&mut self) -> Parsed<Arm> {
        let start = self.here();
        let (mut cases, mut default) = (Vec::new(), false);
        loop {
            if self.eat("case") {
                cases.push(self.expr()?);
                self.expect(":", "after the case")?;
            } else if self.eat("default") {
                default = true;
                self.expect(":", "after default")?;
            } else {
                break;
            }
        }
        let mut attributes = self.attributes()?;
        attributes.retain(|attribute| match attribute.name.name.as_str() {
            "case" => {
                cases.extend(attribute.arguments.iter().flatten().cloned());
                false
            }
            "default" => {
                default = true;
                false
            }
            _ => true,
        });
        if cases.is_empty() && !default {
            let error = Diagnostic::error("arm-without-case", self.here(), "this arm needs its values");
            return self.fail(error.label("no case before it").help("write `case 1:` or `[case(1)]` before it"));
        }
        if self.eat(";") {
            return Ok(Arm { cases, default, member: None, span: start.to(self.behind()) });
        }
        let spec = self.type_spec()?;
        let declarator: Option<Declarator> = if Self::is_void(&spec) && self.peek_text() == Some(";") {
            None
        } else {
            Some(self.declarator("the arm's name")?)
        };
        self.expect(";", "after the arm")?;
        let member = declarator.map(|declarator| Member { attributes, spec, declarator: Some(declarator) });
        Ok(Arm { cases, default, member, span: start.to(self.behind()) })
    }

    fn enum_decl(&mut self, attributes: Vec<Attribute>) -> Parsed<EnumDecl> {
        self.bump();
        let tag = self.tag();
        if !self.eat("{") {
            return Ok(EnumDecl { tag, values: None, attributes });
        }
        let mut values = Vec::new();
        while !self.eat("}") {
            values.push(self.node(SyntaxKind::Enumerator, |this| {
                let name = this.ident("the value's name")?;
                let value = if this.eat("=") { Some(this.expr()?) } else { None };
                Ok((name, value))
            })?);
            if !self.eat(",") && self.peek_text() != Some("}") {
                self.expect("}", "at the end of the enum")?;
            }
        }
        Ok(EnumDecl { tag, values: Some(values), attributes })
    }
}

/// Returns a type in the form that refers to an earlier declaration. `None` if the type has no tag.
fn reference_to(spec: &TypeSpec) -> Option<TypeSpec> {
    let attributes = Vec::new();
    let kind = match &spec.kind {
        TypeKind::Struct(StructDecl { tag, members: Some(_), .. }) => {
            TypeKind::Struct(StructDecl { tag: Some(tag.clone()?), members: None, attributes })
        }
        TypeKind::Union(UnionDecl { tag, arms: Some(_), .. }) => {
            TypeKind::Union(UnionDecl { tag: Some(tag.clone()?), switch: None, arms: None, attributes })
        }
        TypeKind::Enum(EnumDecl { tag, values: Some(_), .. }) => {
            TypeKind::Enum(EnumDecl { tag: Some(tag.clone()?), values: None, attributes })
        }
        other => other.clone(),
    };
    Some(TypeSpec { kind, constant: spec.constant, span: spec.span })
}

fn word_of(word: &str) -> &'static str {
    match word {
        "char" => "char",
        "small" => "small",
        "short" => "short",
        _ => "hyper",
    }
}
