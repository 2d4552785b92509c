//! Types in their written form.

use super::{Parsed, Parser};
use crate::syntax::SyntaxKind;
use crate::syntax::ast::{
    Arm, Attribute, Declarator, EnumDecl, Ident, Member, StructDecl, TypeKind, TypeSpec, UnionDecl,
};
use crate::text::diagnostic::Diagnostic;
use crate::text::lexer::TokenKind;
use crate::text::source::Span;
use std::collections::HashSet;
use std::rc::Rc;

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

/// Automation types and their normal names.
const AUTOMATION: [(&str, &str); 3] = [("BSTR", "BSTR"), ("VARIANT", "VARIANT"), ("VARIANTARG", "VARIANT")];

/// Words of which integer types are made.
const INTEGERS: [&str; 12] = [
    "signed",
    "unsigned",
    "char",
    "small",
    "short",
    "long",
    "int",
    "__int64",
    "__int32",
    "__int16",
    "__int8",
    "__int3264",
];

/// Whether a word begins the name of a base type.
pub(crate) fn is_base_word(word: &str) -> bool {
    INTEGERS.contains(&word) || base_of_word(word).is_some()
}

/// Returns the base type that a word names. `None` for other words, and for words of which the
/// names of integer types are made.
pub(crate) fn base_of_word(word: &str) -> Option<&'static str> {
    WORDS.iter().chain(&WINDOWS).find(|(name, _)| *name == word).map(|(_, base)| *base)
}

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
        let mut constant = self.qualifiers();
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
            word if INTEGERS.contains(&word) => TypeKind::Base(self.integer()),
            word => self.named(word)?,
        };
        constant |= self.qualifiers();
        Ok(TypeSpec { kind, constant, span: start.to(self.behind()) })
    }

    /// Whether a later token is a name or a keyword.
    fn is_name(&self, ahead: usize) -> bool {
        self.tokens.get(self.at + ahead).is_some_and(|token| token.kind == TokenKind::Ident)
    }

    /// Skips the qualifiers of a type. Returns whether `const` is among them.
    pub(super) fn qualifiers(&mut self) -> bool {
        let mut constant = false;
        loop {
            if self.eat("const") {
                constant = true;
            } else if matches!(self.peek_text(), Some("volatile" | "__unaligned")) && self.is_name(1) {
                self.bump();
            } else {
                return constant;
            }
        }
    }

    fn named(&mut self, word: &str) -> Parsed<TypeKind> {
        if word == "pipe" {
            let error = Diagnostic::error("unsupported", self.here(), "`pipe` is not supported yet");
            return self.fail(error.help("strings, structures and arrays with size_is carry the same data"));
        }
        if let Some(base) = base_of_word(word) {
            self.bump();
            return Ok(TypeKind::Base(if base == "hyper" { self.hyper() } else { base }));
        }
        if let Some(&(_, automation)) = AUTOMATION.iter().find(|(name, _)| *name == word) {
            self.bump();
            return Ok(TypeKind::Automation(automation));
        }
        if word == "SAFEARRAY" {
            if self.text_at(1) != Some("(") {
                self.bump();
                return Ok(TypeKind::Automation("SAFEARRAY"));
            }
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
                "__int3264" => size = "__int3264",
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
            ("__int3264", true, _) => "unsigned __int3264",
            ("__int3264", ..) => "__int3264",
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
        self.body(|this| match this.eat(";") {
            true => Ok(()),
            false => this.node(SyntaxKind::Member, |this| this.members(&mut members)),
        })?;
        name_members(members.iter_mut());
        Ok(StructDecl { tag, members: Some(members), attributes })
    }

    /// Parses one line of members: `long a, *b;`.
    pub(crate) fn members(&mut self, members: &mut Vec<Member>) -> Parsed<()> {
        let attributes: Rc<[Attribute]> = self.attributes()?.into();
        let mut spec = self.type_spec()?;
        if is_nameless(&spec) && self.eat(";") {
            members.push(Member { attributes, declarator: Some(nameless(spec.span)), spec, bits: None });
            return Ok(());
        }
        loop {
            let declarator = match self.peek_text() {
                Some(":") => nameless(self.here()),
                _ => self.declarator("the member's name")?,
            };
            let bits = if self.eat(":") { Some(self.expr()?) } else { None };
            let (attributes, declarator) = (Rc::clone(&attributes), Some(declarator));
            members.push(Member { attributes, spec: spec.clone(), declarator, bits });
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
            if !this.eat(";") {
                this.node(SyntaxKind::Arm, |this| this.arm(&mut arms))?;
            }
            Ok(())
        })?;
        name_members(arms.iter_mut().filter_map(|arm| arm.member.as_mut()));
        Ok(UnionDecl { tag, switch, arms: Some(arms), attributes })
    }

    /// Parses `case 1: case 2: long a;` or `[case(1, 2)] long a;` or `default: ;`, or the members
    /// of a C union, `long a, *b;`.
    fn arm(&mut self, arms: &mut Vec<Arm>) -> Parsed<()> {
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
        let has_cases = !cases.is_empty() || default;
        if has_cases && self.eat(";") {
            arms.push(Arm { cases, default, member: None, span: start.to(self.behind()) });
            return Ok(());
        }
        let spec = self.type_spec()?;
        let arm = |cases, default, member, span| Arm { cases, default, member, span };
        let mut declarators = Vec::new();
        if self.peek_text() == Some(";") && (is_nameless(&spec) || has_cases && Self::is_void(&spec)) {
            declarators.extend(is_nameless(&spec).then(|| nameless(spec.span)));
        } else {
            declarators.push(self.declarator("the arm's name")?);
            while !has_cases && self.eat(",") {
                declarators.push(self.declarator("the arm's name")?);
            }
        }
        self.expect(";", "after the arm")?;
        let span = start.to(self.behind());
        if declarators.is_empty() {
            arms.push(arm(cases, default, None, span));
            return Ok(());
        }
        let (attributes, mut spec): (Rc<[Attribute]>, _) = (attributes.into(), Some(spec));
        for declarator in declarators {
            let Some(own) = spec.take() else {
                let error = Diagnostic::error("no-tag", span, "the type of these members has no name");
                return self.fail(error.help("write a tag before its `{`"));
            };
            // Only the first member declares the type.
            spec = reference_to(&own);
            let (attributes, declarator) = (Rc::clone(&attributes), Some(declarator));
            let member = Member { attributes, spec: own, declarator, bits: None };
            arms.push(arm(cases.clone(), default, Some(member), span));
        }
        Ok(())
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
                // The attributes are dropped: they can only be help texts for type libraries, which
                // do not record the help texts of values yet.
                this.attributes()?;
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

/// Whether a member of this type needs no name: the member declares the contents of its type, a
/// structure or a union.
fn is_nameless(spec: &TypeSpec) -> bool {
    match &spec.kind {
        TypeKind::Struct(decl) => decl.members.is_some(),
        TypeKind::Union(decl) => decl.arms.is_some(),
        _ => false,
    }
}

/// Returns the declarator of a member without a name.
fn nameless(span: Span) -> Declarator {
    let name = Ident { name: String::new(), span };
    Declarator { pointers: 0, name, dimensions: Vec::new(), is_function: false, span }
}

/// Names the members without a name as Windows' headers do: `u`, `u2` and so on for unions, and
/// `s`, `s2` for structures.
fn name_members<'m>(members: impl Iterator<Item = &'m mut Member>) {
    let mut members: Vec<&mut Member> = members.collect();
    let names = members.iter().filter_map(|member| Some(member.declarator.as_ref()?.name.name.clone()));
    let mut taken: HashSet<String> = names.collect();
    let numbered =
        |letter: &'static str| std::iter::once(letter.to_owned()).chain((2..).map(move |at| format!("{letter}{at}")));
    let (mut of_unions, mut of_structures) = (numbered("u"), numbered("s"));
    for member in &mut members {
        let is_union = matches!(member.spec.kind, TypeKind::Union(_));
        let Some(declarator) = member.declarator.as_mut().filter(|one| one.name.name.is_empty()) else { continue };
        if member.bits.is_some() {
            continue;
        }
        let numbered = if is_union { &mut of_unions } else { &mut of_structures };
        declarator.name.name = numbered.find(|name| taken.insert(name.clone())).unwrap_or_default();
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
