//! Types: what specs, pointers, dimensions and attributes make together.

use super::values::Variable;
use super::{Named, Resolver, enum_type, find, has, struct_type, union_type};
use crate::ast::{
    Arm as ArmSyntax, Attribute, Declarator, Dimension, EnumDecl, Expr, Ident, Member, StructDecl, TypeKind, TypeSpec,
    UnionDecl,
};
use crate::diagnostic::Diagnostic;
use crate::model::{Arith, Arm, Base, Enum, Extent, Field, Object, Pointer, PointerClass, Struct, Type, Union, Value};
use crate::source::Span;

/// Elements that a fixed array may have.
const FIXED_MAX: i64 = 1 << 24;

/// Attributes of members.
const ON_MEMBERS: [&str; 11] =
    ["size_is", "length_is", "max_is", "string", "ref", "unique", "ptr", "iid_is", "range", "switch_is", "switch_type"];

/// Where a type stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Const,
    Typedef,
    Member,
    Param,
}

/// What a size or a length is: an expression, or nothing known yet.
struct Sizes<'a> {
    size: Vec<Option<(&'a Expr, bool)>>,
    length: Vec<Option<&'a Expr>>,
}

/// The discriminant's values and the union that they choose from.
pub(super) struct Context<'a> {
    pub(super) variables: &'a [Variable],
    pub(super) of: &'a str,
}

impl Resolver<'_> {
    /// The type of a declaration whose attributes use no other declaration.
    pub(super) fn declared_type(
        &mut self,
        spec: &TypeSpec,
        declarator: &Declarator,
        attributes: &[Attribute],
        place: Place,
    ) -> Option<Type> {
        self.full_type(spec, declarator, attributes, place, &Context { variables: &[], of: "this declaration" })
    }

    /// The type of a declaration.
    pub(super) fn full_type(
        &mut self,
        spec: &TypeSpec,
        declarator: &Declarator,
        attributes: &[Attribute],
        place: Place,
        context: &Context<'_>,
    ) -> Option<Type> {
        let (mut ty, mut stars) = self.innermost(spec, declarator, attributes, context)?;
        let sizes = sizes(attributes);
        let text = has(attributes, "string");
        // Levels are counted from the outside: dimensions first, then stars.
        let dimensions = declarator.dimensions.len();
        let levels = dimensions + usize::from(stars);
        if sizes.size.len().max(sizes.length.len()) > levels.max(1) {
            let error = Diagnostic::error(
                "too-many-sizes",
                declarator.span,
                "there are more sizes than pointers and dimensions",
            );
            self.say(error.help("give one size for each `*` and `[]`, the outermost first"));
        }
        let mut level = levels;
        while stars > 0 {
            stars -= 1;
            level -= 1;
            let extent = self.extent(&sizes, level, text && level + 1 == levels, &ty, context)?;
            let class = self.class(attributes, level == 0, place);
            ty = Type::Pointer(Box::new(Pointer { class, to: ty, extent }));
        }
        for dimension in declarator.dimensions.iter().rev() {
            level -= 1;
            ty = self.dimension(dimension, ty, &sizes, level, text && level + 1 == levels, place, context)?;
        }
        self.check_text(text, &ty, declarator);
        Some(ty)
    }

    /// The type that the stars and dimensions are about, and how many stars are left: one belongs to an interface.
    fn innermost(
        &mut self,
        spec: &TypeSpec,
        declarator: &Declarator,
        attributes: &[Attribute],
        context: &Context<'_>,
    ) -> Option<(Type, u8)> {
        let stars = declarator.pointers;
        let iid_is = find(attributes, "iid_is").and_then(|attribute| attribute.arguments.first().cloned().flatten());
        if let Some(iid) = iid_is {
            let operand = self.iid_operand(&iid, context)?;
            let is_object = matches!(&spec.kind, TypeKind::Base("void"))
                || matches!(&spec.kind, TypeKind::Named(name) if matches!(self.types.get(name).map(|known| &known.what), Some(Named::IUnknown | Named::Interface(_))));
            if !is_object || stars == 0 {
                let error = Diagnostic::error("bad-iid-is", declarator.span, "[iid_is] is for interface pointers");
                self.say(error.help("declare it as `IUnknown *` or `void *`, with one more `*` for [out]"));
                return None;
            }
            return Some((Type::Interface(Object::IidIs(operand)), stars - 1));
        }
        let ty = self.spec_type(spec, Some(&declarator.name))?;
        match ty {
            Type::Interface(_) if stars == 0 => {
                let error =
                    Diagnostic::error("interface-by-value", declarator.span, "an interface is used through a pointer");
                self.say(error.help("write `*` before the name"));
                None
            }
            Type::Interface(object) => Some((Type::Interface(object), stars - 1)),
            Type::Void if stars > 0 || !declarator.dimensions.is_empty() => {
                let error =
                    Diagnostic::error("void-pointer", declarator.span, "nobody knows how many bytes this points to");
                self.say(error.help("use `byte *` with [size_is], or an interface pointer with [iid_is]"));
                None
            }
            ty => Some((ty, stars)),
        }
    }

    fn iid_operand(&mut self, expr: &Expr, context: &Context<'_>) -> Option<crate::model::Operand> {
        let name = match &expr.kind {
            crate::ast::ExprKind::Name(name) => name,
            crate::ast::ExprKind::Unary("*", inner) => match &inner.kind {
                crate::ast::ExprKind::Name(name) => name,
                _ => return None,
            },
            _ => return None,
        };
        let found = context.variables.iter().position(|variable| variable.name == *name);
        let guid = found.and_then(|index| {
            let deref = match context.variables[index].ty.as_ref()? {
                Type::Base(Base::Guid) => false,
                Type::Pointer(pointer) if pointer.to == Type::Base(Base::Guid) => true,
                _ => return None,
            };
            Some(crate::model::Operand { index, deref, base: Base::Guid })
        });
        if guid.is_none() {
            let text = format!("{} has no IID called `{name}`", context.of);
            let error = Diagnostic::error("bad-iid-is", expr.span, text);
            self.say(error.help("[iid_is] names a parameter or member of type REFIID, IID or GUID"));
        }
        guid
    }

    fn class(&self, attributes: &[Attribute], outermost: bool, place: Place) -> PointerClass {
        if outermost {
            if has(attributes, "ref") {
                return PointerClass::Ref;
            }
            if has(attributes, "unique") {
                return PointerClass::Unique;
            }
            if has(attributes, "ptr") {
                return PointerClass::Full;
            }
            if place == Place::Param {
                return PointerClass::Ref;
            }
        }
        self.pointer_default
    }

    fn extent(
        &mut self,
        sizes: &Sizes<'_>,
        level: usize,
        text: bool,
        element: &Type,
        context: &Context<'_>,
    ) -> Option<Extent> {
        let is_char = matches!(element, Type::Base(Base::Char | Base::WChar | Base::Byte | Base::U8 | Base::U16));
        if text && is_char {
            return Some(Extent::Text);
        }
        let size = sizes.size.get(level).copied().flatten();
        let length = sizes.length.get(level).copied().flatten();
        let Some((size, plus_one)) = size else {
            return match length {
                None => Some(Extent::One),
                Some(length) => {
                    let size = self.arith(length, context.variables, context.of)?;
                    Some(Extent::Counted { size, length: None })
                }
            };
        };
        let mut size = self.arith(size, context.variables, context.of)?;
        if plus_one {
            size = Arith::Binary("+".to_owned(), Box::new(size), Box::new(Arith::Const(1)));
        }
        let length = match length {
            Some(length) => Some(self.arith(length, context.variables, context.of)?),
            None => None,
        };
        Some(Extent::Counted { size, length })
    }

    #[expect(clippy::too_many_arguments, reason = "a dimension depends on all of its declaration")]
    fn dimension(
        &mut self,
        dimension: &Dimension,
        element: Type,
        sizes: &Sizes<'_>,
        level: usize,
        text: bool,
        place: Place,
        context: &Context<'_>,
    ) -> Option<Type> {
        match dimension {
            Dimension::Fixed(expr) => {
                let count = self.evaluate_int(expr)?;
                if !(1..=FIXED_MAX).contains(&count) {
                    let error =
                        Diagnostic::error("bad-dimension", expr.span, format!("an array cannot have {count} elements"));
                    self.say(error.help(format!("the number of elements is at least 1 and at most {FIXED_MAX}")));
                    return None;
                }
                Some(Type::Fixed(Box::new(element), count as u32))
            }
            Dimension::Open(span) => {
                let extent = self.extent(sizes, level, text, &element, context)?;
                if extent == Extent::One {
                    let error = Diagnostic::error("no-size", *span, "nothing says how many elements this array has");
                    self.say(
                        error.help("add [size_is(n)], where n is a parameter or member beside it, or write the number"),
                    );
                    return None;
                }
                // An open array is a pointer to its elements; at the end of a structure it is the elements.
                let class = if place == Place::Param { PointerClass::Ref } else { self.pointer_default };
                Some(Type::Pointer(Box::new(Pointer { class, to: element, extent })))
            }
        }
    }

    fn check_text(&mut self, text: bool, ty: &Type, declarator: &Declarator) {
        fn has_text(ty: &Type) -> bool {
            match ty {
                Type::Pointer(pointer) => pointer.extent == Extent::Text || has_text(&pointer.to),
                Type::Fixed(element, _) => {
                    matches!(**element, Type::Base(Base::Char | Base::WChar)) || has_text(element)
                }
                _ => false,
            }
        }
        if text && !has_text(ty) {
            let error = Diagnostic::error("bad-string", declarator.span, "[string] is for pointers to characters");
            self.say(error.help("use `char *` or `wchar_t *`; for other elements use [size_is]"));
        }
    }

    /// The type of a spec, declaring what it declares. `name` serves types that have no name of their own.
    pub(super) fn spec_type(&mut self, spec: &TypeSpec, name: Option<&Ident>) -> Option<Type> {
        match &spec.kind {
            TypeKind::Base(word) => Some(base_type(word)),
            TypeKind::Named(name) => self.named_type(name, spec.span),
            TypeKind::Struct(decl) => self.struct_type(decl, name, spec.span),
            TypeKind::Union(decl) => self.union_type(decl, name, spec.span),
            TypeKind::Enum(decl) => self.enum_type(decl, name, spec.span),
            TypeKind::Unsupported(what) => {
                let error = Diagnostic::error("unsupported", spec.span, format!("`{what}` is not supported"));
                self.say(error);
                None
            }
        }
    }

    fn named_type(&mut self, name: &str, span: Span) -> Option<Type> {
        match self.types.get(name).map(|known| known.what.clone()) {
            Some(Named::Type(ty) | Named::Opened(ty)) => Some(ty),
            Some(Named::Interface(id)) => Some(Type::Interface(Object::Known(id))),
            Some(Named::IUnknown) => Some(Type::Interface(Object::Unknown)),
            None => {
                self.unknown_type(name, span);
                None
            }
        }
    }

    fn fresh_name(&mut self, tag: Option<&Ident>, name: Option<&Ident>, kind: &str) -> String {
        if let Some(ident) = tag.or(name) {
            return ident.name.clone();
        }
        self.anonymous += 1;
        format!("Anonymous_{kind}_{}", self.anonymous)
    }

    fn struct_type(&mut self, decl: &StructDecl, name: Option<&Ident>, span: Span) -> Option<Type> {
        self.check_attributes(&decl.attributes, &[], "a structure");
        let known = decl.tag.as_ref().and_then(|tag| self.types.get(&tag.name).map(|known| known.what.clone()));
        let ty = match known {
            Some(Named::Opened(ty @ Type::Struct(_))) => ty,
            Some(Named::Type(ty @ Type::Struct(_))) if decl.members.is_none() => ty,
            _ => {
                let name = self.fresh_name(decl.tag.as_ref(), name, "struct");
                let imported = self.imported;
                self.model.structs.push(Struct { name, fields: Vec::new(), conformant: None, imported, span });
                let ty = struct_type(self.model.structs.len() - 1);
                if let Some(tag) = &decl.tag {
                    self.declare_type(tag, Named::Opened(ty.clone()));
                }
                ty
            }
        };
        let Some(members) = &decl.members else {
            return Some(ty);
        };
        let (fields, conformant) = self.members(members, span);
        if let Type::Struct(id) = ty {
            let made = &mut self.model.structs[id.0];
            made.fields = fields;
            made.conformant = conformant;
        }
        self.defined.push(ty.clone());
        if let Some(tag) = &decl.tag {
            self.declare_type(tag, Named::Type(ty.clone()));
        }
        Some(ty)
    }

    #[expect(clippy::type_complexity, reason = "the two halves of a structure")]
    fn members(&mut self, members: &[Member], span: Span) -> (Vec<Field>, Option<(Type, Arith, Option<Arith>)>) {
        // Sizes may name members that come later, so the integers are found first.
        let names: Vec<&Declarator> = members.iter().filter_map(|member| member.declarator.as_ref()).collect();
        for (at, declarator) in names.iter().enumerate() {
            if let Some(first) = names[..at].iter().find(|first| first.name.name == declarator.name.name) {
                let text = format!("there are two members called `{}`", declarator.name.name);
                let error = Diagnostic::error("duplicate-name", declarator.name.span, text);
                self.say(error.related(first.name.span, "the first one").help("give one of them another name"));
            }
        }
        let mut variables: Vec<Variable> = names
            .iter()
            .zip(members)
            .map(|(declarator, member)| Variable {
                name: declarator.name.name.clone(),
                ty: self.scalar_type(&member.spec, declarator),
            })
            .collect();
        let (mut fields, mut conformant) = (Vec::new(), None);
        for (at, member) in members.iter().enumerate() {
            let Some(declarator) = &member.declarator else {
                continue;
            };
            self.check_attributes(&member.attributes, &ON_MEMBERS, "a member");
            let context = Context { variables: &variables, of: "the structure" };
            let ty = self.full_type(&member.spec, declarator, &member.attributes, Place::Member, &context);
            let Some(ty) = ty else { continue };
            if !self.by_value(&ty, declarator.span) {
                continue;
            }
            let open = matches!(declarator.dimensions.first(), Some(Dimension::Open(_)));
            if open {
                if at + 1 != members.len() {
                    let error =
                        Diagnostic::error("open-array-inside", declarator.span, "an open array is the last member");
                    self.say(error.help("move it to the end, or declare it as a pointer with [size_is]"));
                } else if let Type::Pointer(pointer) = ty
                    && let Extent::Counted { size, length } = pointer.extent
                {
                    conformant = Some((pointer.to, size, length));
                    // Its name is kept as a field without a place of its own.
                    variables.truncate(at);
                    fields.push(Field {
                        name: declarator.name.name.clone(),
                        ty: Type::Void,
                        range: None,
                        switch: None,
                        span: declarator.span,
                    });
                }
                continue;
            }
            let range = self.range(&member.attributes, &ty);
            let switch = self.switch(&member.attributes, &ty, declarator, &variables, "the structure");
            fields.push(Field { name: declarator.name.name.clone(), ty, range, switch, span: declarator.span });
        }
        if members.is_empty() {
            let error = Diagnostic::error("empty-struct", span, "a structure has at least one member");
            self.say(error);
        }
        (fields, conformant)
    }

    /// The type of what an expression could use: resolved early, without complaint.
    pub(super) fn scalar_type(&mut self, spec: &TypeSpec, declarator: &Declarator) -> Option<Type> {
        if !declarator.dimensions.is_empty() {
            return Some(Type::Void);
        }
        let mut ty = match &spec.kind {
            TypeKind::Base(word) => base_type(word),
            TypeKind::Named(name) => match &self.types.get(name)?.what {
                Named::Type(ty) | Named::Opened(ty) => ty.clone(),
                _ => Type::Void,
            },
            TypeKind::Enum(_) => Type::Base(Base::I32),
            _ => Type::Void,
        };
        for _ in 0..declarator.pointers {
            ty = Type::Pointer(Box::new(Pointer { class: PointerClass::Ref, to: ty, extent: Extent::One }));
        }
        Some(ty)
    }

    /// Refuses a structure or union whose content is not known yet: it has no size.
    fn by_value(&mut self, ty: &Type, span: Span) -> bool {
        let inner = match ty {
            Type::Fixed(element, _) => element,
            ty => ty,
        };
        if matches!(inner, Type::Struct(_) | Type::Union(_)) && !self.defined.contains(inner) {
            let error = Diagnostic::error("incomplete-type", span, "this type is not complete here, so it has no size");
            self.say(error.help("a structure cannot contain itself; use a pointer, or declare the other type before"));
            return false;
        }
        if let Type::Struct(id) = inner
            && self.model.structs[id.0].conformant.is_some()
        {
            let error = Diagnostic::error(
                "open-array-inside",
                span,
                "a structure that ends in an open array cannot be contained in another",
            );
            self.say(error.help("use a pointer to it"));
            return false;
        }
        if matches!(inner, Type::Void) {
            let error = Diagnostic::error("void-member", span, "void has no values");
            self.say(error);
            return false;
        }
        true
    }

    /// The limits of a [range].
    pub(super) fn range(&mut self, attributes: &[Attribute], ty: &Type) -> Option<(i64, i64)> {
        let attribute = find(attributes, "range")?;
        let [Some(least), Some(most)] = attribute.arguments.as_slice() else {
            let error =
                Diagnostic::error("bad-range", attribute.span, "[range] needs the least and the greatest value");
            self.say(error.help("write [range(0, 100)]"));
            return None;
        };
        let (least, most) = (self.evaluate_int(least)?, self.evaluate_int(most)?);
        let inner = match ty {
            Type::Pointer(pointer) => &pointer.to,
            ty => ty,
        };
        let integer = matches!(inner, Type::Base(base) if base.is_integer());
        if least > most || !integer {
            let text = if integer { "the least value is greater than the greatest" } else { "[range] is for integers" };
            let error = Diagnostic::error("bad-range", attribute.span, text);
            self.say(error.help("write [range(least, greatest)] on an integer"));
            return None;
        }
        Some((least, most))
    }

    /// What chooses the arm of a union that has no discriminant of its own.
    pub(super) fn switch(
        &mut self,
        attributes: &[Attribute],
        ty: &Type,
        declarator: &Declarator,
        variables: &[Variable],
        of: &str,
    ) -> Option<Arith> {
        let inner = match ty {
            Type::Pointer(pointer) => &pointer.to,
            ty => ty,
        };
        let needs = matches!(inner, Type::Union(id) if self.model.unions[id.0].encapsulated.is_none());
        let attribute = find(attributes, "switch_is");
        match (needs, attribute) {
            (false, None) => None,
            (true, Some(attribute)) => {
                let expr = attribute.arguments.first()?.as_ref()?;
                self.arith(expr, variables, of)
            }
            (true, None) => {
                let error =
                    Diagnostic::error("no-switch", declarator.span, "nothing says which arm of the union is meant");
                self.say(error.help("add [switch_is(n)], where n is the discriminant beside it"));
                None
            }
            (false, Some(attribute)) => {
                let error = Diagnostic::error(
                    "bad-switch",
                    attribute.span,
                    "[switch_is] is for unions without a discriminant of their own",
                );
                self.say(error.help("remove it"));
                None
            }
        }
    }

    fn union_type(&mut self, decl: &UnionDecl, name: Option<&Ident>, span: Span) -> Option<Type> {
        self.check_attributes(
            &decl.attributes,
            &["switch_type", "ms_union", "switch_is", "in", "out", "ref", "unique", "ptr"],
            "a union",
        );
        let known = decl.tag.as_ref().and_then(|tag| self.types.get(&tag.name).map(|known| known.what.clone()));
        if decl.arms.is_none() {
            return match known {
                Some(Named::Type(ty) | Named::Opened(ty)) => Some(ty),
                _ => {
                    self.unknown_type(decl.tag.as_ref().map_or("", |tag| tag.name.as_str()), span);
                    None
                }
            };
        }
        let tag_type = self.tag_type(decl, span)?;
        let encapsulated = decl.switch.as_ref().map(|(_, tag, inner)| {
            (tag.name.clone(), inner.as_ref().map_or_else(|| "tagged_union".to_owned(), |inner| inner.name.clone()))
        });
        let name = self.fresh_name(decl.tag.as_ref(), name, "union");
        let imported = self.imported;
        let made = Union { name, tag: tag_type, encapsulated, arms: Vec::new(), default: None, imported, span };
        self.model.unions.push(made);
        let id = self.model.unions.len() - 1;
        let ty = union_type(id);
        if let Some(tag) = &decl.tag {
            self.declare_type(tag, Named::Opened(ty.clone()));
        }
        for arm in decl.arms.iter().flatten() {
            self.arm(arm, id);
        }
        self.defined.push(ty.clone());
        if let Some(tag) = &decl.tag {
            self.declare_type(tag, Named::Type(ty.clone()));
        }
        Some(ty)
    }

    fn tag_type(&mut self, decl: &UnionDecl, span: Span) -> Option<Type> {
        let ty = if let Some((spec, ..)) = &decl.switch {
            self.spec_type(spec, None)?
        } else if let Some(attribute) = find(&decl.attributes, "switch_type") {
            let words: Vec<&str> = attribute.raw.split_whitespace().collect();
            match words.as_slice() {
                [word] if self.types.contains_key(*word) => self.named_type(word, attribute.span)?,
                words => base_type(match *words {
                    ["unsigned", "short"] => "unsigned short",
                    ["unsigned", "hyper"] => "unsigned hyper",
                    ["unsigned", ..] | ["ULONG" | "DWORD" | "UINT"] => "unsigned long",
                    ["short"] => "short",
                    ["hyper"] => "hyper",
                    ["boolean"] => "boolean",
                    ["char"] => "char",
                    ["small"] => "small",
                    _ => "long",
                }),
            }
        } else {
            Type::Base(Base::I32)
        };
        if matches!(&ty, Type::Base(base) if base.is_integer()) || matches!(ty, Type::Enum(_)) {
            return Some(ty);
        }
        let error = Diagnostic::error("bad-switch", span, "the discriminant is neither an integer nor an enumeration");
        self.say(error.help("use an integer type or an enum"));
        None
    }

    fn arm(&mut self, arm: &ArmSyntax, id: usize) {
        let field = match &arm.member {
            None => None,
            Some(member) => {
                let Some(declarator) = &member.declarator else {
                    return;
                };
                self.check_attributes(&member.attributes, &["string", "ref", "unique", "ptr"], "an arm");
                let Some(ty) = self.declared_type(&member.spec, declarator, &member.attributes, Place::Member) else {
                    return;
                };
                if !self.by_value(&ty, declarator.span) {
                    return;
                }
                Some(Field { name: declarator.name.name.clone(), ty, range: None, switch: None, span: declarator.span })
            }
        };
        let (mut cases, mut labels) = (Vec::new(), Vec::new());
        for case in &arm.cases {
            let Some(value) = self.evaluate_int(case) else {
                continue;
            };
            let taken =
                self.model.unions[id].arms.iter().any(|arm| arm.cases.contains(&value)) || cases.contains(&value);
            if taken {
                let error = Diagnostic::error("duplicate-case", case.span, format!("two arms are for {value}"));
                self.say(error.help("each value chooses one arm"));
                continue;
            }
            cases.push(value);
            labels.push(match &case.kind {
                crate::ast::ExprKind::Name(name) => Some(name.clone()),
                _ => None,
            });
        }
        let union = &mut self.model.unions[id];
        if arm.default {
            if union.default.is_some() {
                let error = Diagnostic::error("duplicate-case", arm.span, "there are two default arms");
                return self.say(error.help("remove one"));
            }
            union.default = Some(field.clone());
        }
        if !cases.is_empty() {
            self.model.unions[id].arms.push(Arm { cases, labels, field });
        }
    }

    fn enum_type(&mut self, decl: &EnumDecl, name: Option<&Ident>, span: Span) -> Option<Type> {
        self.check_attributes(&decl.attributes, &["v1_enum"], "an enum");
        let Some(values) = &decl.values else {
            let tag = decl.tag.as_ref().map_or("", |tag| tag.name.as_str());
            return self.named_type(tag, span);
        };
        let mut next = 0_i64;
        let mut made = Vec::new();
        for (ident, value) in values {
            if let Some(expr) = value {
                next = self.evaluate_int(expr)?;
            }
            let Ok(small) = i32::try_from(next) else {
                let error = Diagnostic::error("overflow", ident.span, "the values of an enum have 32 bits");
                self.say(error);
                return None;
            };
            self.declare_value(ident, Value::Int(next));
            made.push((ident.name.clone(), small));
            next += 1;
        }
        if made.is_empty() {
            let error = Diagnostic::error("empty-enum", span, "an enum has at least one value");
            self.say(error);
            return None;
        }
        let name = self.fresh_name(decl.tag.as_ref(), name, "enum");
        let imported = self.imported;
        self.model.enums.push(Enum { name, values: made, imported, span });
        let ty = enum_type(self.model.enums.len() - 1);
        if let Some(tag) = &decl.tag {
            self.declare_type(tag, Named::Type(ty.clone()));
        }
        Some(ty)
    }

    /// `typedef`: new names for a type, and the name of one that had only a tag.
    pub(super) fn typedef(&mut self, attributes: &[Attribute], spec: &TypeSpec, declarators: &[Declarator]) {
        let allowed = [
            "string",
            "unique",
            "ref",
            "ptr",
            "v1_enum",
            "switch_type",
            "public",
            "uuid",
            "ms_union",
            "range",
            "helpstring",
            "version",
        ];
        self.check_attributes(attributes, &allowed, "a typedef");
        let own = declarators.iter().find(|declarator| declarator.pointers == 0 && declarator.dimensions.is_empty());
        let mut spec = spec.clone();
        if let TypeKind::Union(decl) = &mut spec.kind {
            decl.attributes.extend(attributes.iter().filter(|attribute| attribute.name.name == "switch_type").cloned());
        }
        let Some(ty) = self.spec_type(&spec, own.map(|declarator| &declarator.name)) else {
            return;
        };
        if let Some(own) = own
            && is_definition(&spec.kind)
        {
            // The name that users write wins over the tag.
            let name = own.name.name.clone();
            match &ty {
                Type::Struct(id) => self.model.structs[id.0].name = name,
                Type::Union(id) => self.model.unions[id.0].name = name,
                Type::Enum(id) => self.model.enums[id.0].name = name,
                _ => {}
            }
        }
        for declarator in declarators {
            let plain = declarator.pointers == 0 && declarator.dimensions.is_empty();
            let full = if plain { Some(ty.clone()) } else { self.stars_on(&ty, declarator, attributes) };
            let Some(full) = full else { continue };
            let open = matches!(full, Type::Struct(_)) && !self.defined.contains(&full);
            self.declare_type(&declarator.name, if open { Named::Opened(full) } else { Named::Type(full) });
        }
    }

    /// A declarator of a typedef, whose type is there already.
    fn stars_on(&mut self, ty: &Type, declarator: &Declarator, attributes: &[Attribute]) -> Option<Type> {
        let mut full = ty.clone();
        let text = has(attributes, "string");
        let mut stars = declarator.pointers;
        if matches!(full, Type::Interface(_)) {
            stars = stars.saturating_sub(1);
        }
        for star in 0..stars {
            let is_char = matches!(full, Type::Base(Base::Char | Base::WChar));
            let extent = if text && star == 0 && is_char { Extent::Text } else { Extent::One };
            let class = self.class(attributes, star + 1 == stars, Place::Typedef);
            full = Type::Pointer(Box::new(Pointer { class, to: full, extent }));
        }
        for dimension in declarator.dimensions.iter().rev() {
            let none = Sizes { size: Vec::new(), length: Vec::new() };
            let context = Context { variables: &[], of: "a typedef" };
            full = self.dimension(dimension, full, &none, 0, text, Place::Typedef, &context)?;
        }
        Some(full)
    }
}

fn is_definition(kind: &TypeKind) -> bool {
    match kind {
        TypeKind::Struct(decl) => decl.members.is_some(),
        TypeKind::Union(decl) => decl.arms.is_some(),
        TypeKind::Enum(decl) => decl.values.is_some(),
        _ => false,
    }
}

fn sizes(attributes: &[Attribute]) -> Sizes<'_> {
    let list = |name: &str| find(attributes, name).map(|attribute| attribute.arguments.as_slice()).unwrap_or(&[]);
    let mut size: Vec<_> = list("size_is").iter().map(|expr| expr.as_ref().map(|expr| (expr, false))).collect();
    if size.is_empty() {
        size = list("max_is").iter().map(|expr| expr.as_ref().map(|expr| (expr, true))).collect();
    }
    Sizes { size, length: list("length_is").iter().map(Option::as_ref).collect() }
}

/// The type of a base type's name.
fn base_type(word: &str) -> Type {
    let text = |base| {
        Type::Pointer(Box::new(Pointer { class: PointerClass::Unique, to: Type::Base(base), extent: Extent::Text }))
    };
    Type::Base(match word {
        "void" => return Type::Void,
        "LPSTR" => return text(Base::Char),
        "LPWSTR" => return text(Base::WChar),
        "REFIID" => {
            let to = Type::Base(Base::Guid);
            return Type::Pointer(Box::new(Pointer { class: PointerClass::Ref, to, extent: Extent::One }));
        }
        "boolean" => Base::Boolean,
        "byte" => Base::Byte,
        "char" | "unsigned char" => Base::Char,
        "wchar_t" => Base::WChar,
        "small" => Base::I8,
        "unsigned small" => Base::U8,
        "short" => Base::I16,
        "unsigned short" => Base::U16,
        "unsigned long" => Base::U32,
        "hyper" => Base::I64,
        "unsigned hyper" => Base::U64,
        "float" => Base::F32,
        "double" => Base::F64,
        "HRESULT" => Base::Hresult,
        "GUID" => Base::Guid,
        _ => Base::I32,
    })
}
