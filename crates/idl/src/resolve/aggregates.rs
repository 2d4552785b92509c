//! Structures, unions and enumerations, and their typedefs.

use super::library::ON_TYPES;
use super::limits::MEMBERS_MAX;
use super::types::{CLASSES, Context, Place, base_type};
use super::values::Variable;
use super::{Named, Resolver, enum_type, find, has, struct_type, union_type};
use crate::model::typelib::flags;
use crate::model::{
    About, Arith, Arm, Base, Direction, Enum, Extent, Field, Measure, Pointer, PointerClass, Struct, Type, Typedef,
    Union, UnionId, Value,
};
use crate::syntax::ast::{
    Arm as ArmSyntax, Attribute, Declarator, Dimension, EnumDecl, Ident, Member, StructDecl, TypeKind, TypeSpec,
    UnionDecl,
};
use crate::text::diagnostic::Diagnostic;
use crate::text::source::Span;
use std::collections::{HashMap, HashSet};

/// Names of GUID types, which files for other compilers declare themselves.
const GUIDS: [&str; 4] = ["GUID", "IID", "CLSID", "UUID"];

/// The tag of the GUID structure in C headers. A typedef of a pointer may use it before the
/// structure.
const GUID_TAG: &str = "_GUID";

/// Attributes of members.
const ON_MEMBERS: [&str; 11] =
    ["size_is", "length_is", "max_is", "string", "ref", "unique", "ptr", "iid_is", "range", "switch_is", "switch_type"];

impl Resolver<'_> {
    pub(super) fn struct_type(&mut self, decl: &StructDecl, name: Option<&Ident>, span: Span) -> Option<Type> {
        let declared = self.declaring.take();
        self.check_attributes(&decl.attributes, &ON_TYPES, "a structure");
        let about = self.about(&decl.attributes, &flags::ON_TYPES);
        let known = decl.tag.as_ref().and_then(|tag| self.types.get(&tag.name).map(|known| known.what.clone()));
        let ty = match known {
            Some(Named::Opened(Type::Struct(id))) => {
                if let Some(name) = declared {
                    self.model.structs[id.0].name = name;
                }
                Type::Struct(id)
            }
            Some(Named::Type(ty @ (Type::Struct(_) | Type::Base(Base::Guid)))) if decl.members.is_none() => ty,
            None if decl.members.is_none() && decl.tag.as_ref().is_some_and(|tag| tag.name == GUID_TAG) => {
                Type::Base(Base::Guid)
            }
            _ => {
                let name = declared.unwrap_or_else(|| self.fresh_name(decl.tag.as_ref(), name, "struct", span));
                let imported = self.imported;
                let (about, measure) = (About::default(), Measure::default());
                let made = Struct { name, fields: Vec::new(), conformant: None, measure, about, imported, span };
                self.model.structs.push(made);
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
        if let Type::Struct(id) = ty {
            self.owners.push(self.model.structs[id.0].name.clone());
        }
        let (fields, conformant) = self.members(members, span);
        self.owners.pop();
        if let Type::Struct(id) = ty {
            let made = &mut self.model.structs[id.0];
            made.fields = fields;
            made.conformant = conformant;
            made.about = about;
            let measure = self.measured(self.model.measure_struct(id), span);
            self.model.structs[id.0].measure = measure;
        }
        self.defined.insert(ty.clone());
        if let Some(tag) = &decl.tag {
            self.declare_type(tag, Named::Type(ty.clone()));
        }
        Some(ty)
    }

    #[expect(clippy::type_complexity, reason = "the two halves of a structure")]
    fn members(&mut self, members: &[Member], span: Span) -> (Vec<Field>, Option<(Type, Arith, Option<Arith>)>) {
        // Sizes may refer to later members, so the integer members are collected first.
        if !self.check_names(members.iter().filter_map(|member| member.declarator.as_ref()), "members") {
            return (Vec::new(), None);
        }
        let variable = |member: &Member| {
            let declarator = member.declarator.as_ref()?;
            Some(Variable { name: declarator.name.name.clone(), ty: self.scalar_type(&member.spec, declarator) })
        };
        let mut variables: Vec<Variable> = members.iter().filter_map(variable).collect();
        let (mut fields, mut conformant) = (Vec::new(), None);
        for (at, member) in members.iter().enumerate() {
            let Some(declarator) = &member.declarator else {
                continue;
            };
            self.check_attributes(&member.attributes, &ON_MEMBERS, "a member");
            let context = Context { variables: &variables, of: "the structure", local: false };
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
                    && self.is_complete(&pointer.to, declarator.span)
                {
                    conformant = Some((pointer.to, size, length));
                    // The array's name is kept as a field of type void, which takes no space.
                    variables.truncate(at);
                    fields.push(Field {
                        name: declarator.name.name.clone(),
                        ty: Type::Void,
                        named: self.named_by(&member.spec),
                        range: None,
                        switch: None,
                        varying: None,
                        span: declarator.span,
                    });
                }
                continue;
            }
            let range = self.range(&member.attributes, &ty);
            let switch = self.switch(&member.attributes, &ty, declarator, &variables, "the structure");
            let varying = self.varying(&member.attributes, &ty, &context);
            fields.push(Field {
                name: declarator.name.name.clone(),
                ty,
                named: self.named_by(&member.spec),
                range,
                switch,
                varying,
                span: declarator.span,
            });
        }
        if members.is_empty() {
            let error = Diagnostic::error("empty-struct", span, "a structure has at least one member");
            self.say(error);
        }
        (fields, conformant)
    }

    /// Checks that members have distinct names and are not too many. If not, the type's members are
    /// not resolved.
    fn check_names<'d>(&mut self, names: impl Iterator<Item = &'d Declarator>, what: &str) -> bool {
        let mut known = HashMap::new();
        for (at, declarator) in names.enumerate() {
            if at == MEMBERS_MAX {
                let text = format!("there are more than {MEMBERS_MAX} {what}");
                let error = Diagnostic::error("too-large", declarator.span, text);
                self.say(error.help("put some of them into a structure of their own"));
                return false;
            }
            if let Some(first) = known.insert(declarator.name.name.as_str(), declarator.name.span) {
                let text = format!("there are two {what} called `{}`", declarator.name.name);
                let error = Diagnostic::error("duplicate-name", declarator.name.span, text);
                self.say(error.related(first, "the first one").help("give one of them another name"));
            }
        }
        true
    }

    /// Returns the type of a variable that expressions may use, without reporting errors. Other
    /// types become void.
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

    /// Reports a structure, a union or an array of these whose contents are not known yet, and
    /// which therefore has no size.
    pub(super) fn is_complete(&mut self, ty: &Type, span: Span) -> bool {
        let inner = array_of(ty);
        let is_complete = !matches!(inner, Type::Struct(_) | Type::Union(_)) || self.defined.contains(inner);
        if !is_complete {
            let error = Diagnostic::error("incomplete-type", span, "this type is not complete here, so it has no size");
            self.say(error.help("a structure cannot contain itself; use a pointer, or declare the other type before"));
        }
        is_complete
    }

    /// Whether a type may be that of a member.
    fn by_value(&mut self, ty: &Type, span: Span) -> bool {
        let inner = array_of(ty);
        if !self.is_complete(ty, span) {
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

    /// Returns the limits that [range] gives.
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

    /// Returns the least and greatest value that a parameter's attributes allow. For a count of
    /// elements, `[max_value(n)]` means `[range(0, n)]`.
    pub(super) fn limits(&mut self, attributes: &[Attribute], direction: Direction, ty: &Type) -> Option<(i64, i64)> {
        let range = self.range(attributes, ty);
        let Some(attribute) = find(attributes, "max_value") else {
            return range;
        };
        let integer = matches!(ty, Type::Base(base) if base.is_integer()) && direction == Direction::In;
        let most = match attribute.arguments.as_slice() {
            [Some(most)] if integer && !has(attributes, "range") => self.evaluate_int(most)?,
            _ if has(attributes, "range") => {
                let error = Diagnostic::error("bad-max-value", attribute.span, "[range] limits this parameter already");
                self.say(error.help("remove one of them"));
                return range;
            }
            _ => -1,
        };
        if most < 0 {
            let text = "[max_value] needs the greatest value of an integer that goes [in]";
            let error = Diagnostic::error("bad-max-value", attribute.span, text);
            self.say(error.help("write [max_value(1024)] on the parameter that counts elements"));
            return None;
        }
        Some((0, most))
    }

    /// Returns the expression that selects the arm of a union without a discriminant of its own.
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
            (false, Some(attribute)) if is_union_behind(inner) => {
                let text = "a union without a discriminant of its own cannot be behind two pointers";
                let error = Diagnostic::error("unsupported", attribute.span, text);
                self.say(error.help("put it and its discriminant into a structure, and point to that"));
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

    pub(super) fn union_type(&mut self, decl: &UnionDecl, name: Option<&Ident>, span: Span) -> Option<Type> {
        let declared = self.declaring.take();
        let more = ["switch_type", "ms_union", "switch_is", "in", "out", "ref", "unique", "ptr"];
        self.check_attributes(&decl.attributes, &[&ON_TYPES[..], &more].concat(), "a union");
        let about = self.about(&decl.attributes, &flags::ON_TYPES);
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
        let name = declared.unwrap_or_else(|| self.fresh_name(decl.tag.as_ref(), name, "union", span));
        self.owners.push(name.clone());
        let tag_type = self.tag_type(decl, span);
        self.owners.pop();
        let tag_type = tag_type?;
        let encapsulated = decl.switch.as_ref().map(|(_, tag, inner)| {
            (tag.name.clone(), inner.as_ref().map_or_else(|| "tagged_union".to_owned(), |inner| inner.name.clone()))
        });
        let imported = self.imported;
        let (arms, default, measure) = (Vec::new(), None, Measure::default());
        let made = Union { name, tag: tag_type, encapsulated, arms, default, measure, about, imported, span };
        self.model.unions.push(made);
        let id = self.model.unions.len() - 1;
        let ty = union_type(id);
        if let Some(tag) = &decl.tag {
            self.declare_type(tag, Named::Opened(ty.clone()));
        }
        let mut taken = HashSet::new();
        self.owners.push(self.model.unions[id].name.clone());
        let names = decl.arms.iter().flatten().filter_map(|arm| arm.member.as_ref()?.declarator.as_ref());
        let has_few_names = self.check_names(names, "arms");
        if has_few_names && decl.arms.as_ref().is_some_and(|arms| arms.len() > MEMBERS_MAX) {
            // Arms without members have no place of their own.
            let error = Diagnostic::error("too-large", span, format!("there are more than {MEMBERS_MAX} arms"));
            self.say(error.help("put some of them into a union of their own"));
        } else if has_few_names {
            decl.arms.iter().flatten().for_each(|arm| self.arm(arm, id, &mut taken));
        }
        self.owners.pop();
        let measure = self.measured(self.model.measure_union(UnionId(id)), span);
        self.model.unions[id].measure = measure;
        self.defined.insert(ty.clone());
        if let Some(tag) = &decl.tag {
            self.declare_type(tag, Named::Type(ty.clone()));
        }
        Some(ty)
    }

    fn tag_type(&mut self, decl: &UnionDecl, span: Span) -> Option<Type> {
        let ty = if let Some((spec, tag, _)) = &decl.switch {
            self.spec_type(spec, Some(tag))?
        } else if let Some(attribute) = find(&decl.attributes, "switch_type") {
            let words: Vec<&str> = attribute.raw.split_whitespace().collect();
            match words.as_slice() {
                [word] if self.types.contains_key(*word) => self.named_type(word, attribute.span)?,
                words => base_type(match *words {
                    ["unsigned", "char"] | ["UCHAR"] => "unsigned char",
                    ["unsigned", "small"] => "unsigned small",
                    ["unsigned", "short"] | ["USHORT" | "WORD"] => "unsigned short",
                    ["unsigned", "hyper"] => "unsigned hyper",
                    ["unsigned", ..] | ["ULONG" | "DWORD" | "UINT"] => "unsigned long",
                    ["short"] => "short",
                    ["hyper"] => "hyper",
                    ["boolean"] => "boolean",
                    ["byte"] => "byte",
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

    fn arm(&mut self, arm: &ArmSyntax, id: usize, taken: &mut HashSet<i64>) {
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
                let varying = self.varying(
                    &member.attributes,
                    &ty,
                    &Context { variables: &[], of: "this declaration", local: false },
                );
                let name = declarator.name.name.clone();
                let named = self.named_by(&member.spec);
                Some(Field { name, ty, named, range: None, switch: None, varying, span: declarator.span })
            }
        };
        let (mut cases, mut labels) = (Vec::new(), Vec::new());
        for case in &arm.cases {
            let Some(value) = self.evaluate_int(case) else {
                continue;
            };
            if !taken.insert(value) {
                let error = Diagnostic::error("duplicate-case", case.span, format!("two arms are for {value}"));
                self.say(error.help("each value chooses one arm"));
                continue;
            }
            cases.push(value);
            labels.push(match &case.kind {
                crate::syntax::ast::ExprKind::Name(name) => Some(name.clone()),
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

    pub(super) fn enum_type(&mut self, decl: &EnumDecl, name: Option<&Ident>, span: Span) -> Option<Type> {
        let declared = self.declaring.take();
        self.check_attributes(&decl.attributes, &[&ON_TYPES[..], &["v1_enum", "open"]].concat(), "an enum");
        let about = self.about(&decl.attributes, &flags::ON_TYPES);
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
        let name = name.or_else(|| values.first().map(|(first, _)| first));
        let name = declared.unwrap_or_else(|| self.fresh_name(decl.tag.as_ref(), name, "enum", span));
        let v1 = has(&decl.attributes, "v1_enum");
        if let Some((value, _)) = made.iter().find(|(_, value)| !v1 && i16::try_from(*value).is_err()) {
            let text = format!("`{value}` does not fit the 16 bits that `{name}` has in NDR");
            self.say(
                Diagnostic::warning("wide-enum", span, text).help("write [v1_enum] before `enum`: it has 32 then"),
            );
        }
        let (open, imported) = (has(&decl.attributes, "open"), self.imported);
        self.model.enums.push(Enum { name, values: made, v1, open, about, imported, span });
        let ty = enum_type(self.model.enums.len() - 1);
        if let Some(tag) = &decl.tag {
            self.declare_type(tag, Named::Type(ty.clone()));
        }
        Some(ty)
    }

    /// Resolves a `typedef`: new names for a type, and the name of a type that has only a tag.
    pub(super) fn typedef(&mut self, attributes: &[Attribute], spec: &TypeSpec, declarators: &[Declarator]) {
        let allowed = [
            "string",
            "unique",
            "ref",
            "ptr",
            "v1_enum",
            "open",
            "switch_type",
            "public",
            "ms_union",
            "range",
            "context_handle",
        ];
        self.check_attributes(attributes, &[&ON_TYPES[..], &allowed].concat(), "a typedef");
        let own = declarators.iter().find(|declarator| declarator.pointers == 0 && declarator.dimensions.is_empty());
        let mut spec = spec.clone();
        // Some of the typedef's attributes belong to the type that it declares.
        let is_definition = is_definition(&spec.kind);
        let (on_type, to): (&[&str], _) = match &mut spec.kind {
            TypeKind::Struct(decl) => (&[], Some(&mut decl.attributes)),
            TypeKind::Union(decl) => (&["switch_type"], Some(&mut decl.attributes)),
            TypeKind::Enum(decl) => (&["v1_enum", "open"], Some(&mut decl.attributes)),
            _ => (&[], None),
        };
        let is_on_type = |one: &&Attribute| {
            let name = one.name.name.as_str();
            on_type.contains(&name) || is_definition && own.is_some() && ON_TYPES.contains(&name)
        };
        to.into_iter().for_each(|to| to.extend(attributes.iter().filter(is_on_type).cloned()));
        if has(attributes, "context_handle") {
            return self.context_types(&spec, declarators);
        }
        // A typedef's name takes precedence over the tag.
        let guid = own.filter(|own| is_definition && GUIDS.contains(&own.name.name.as_str()));
        self.declaring = own.filter(|_| is_definition && guid.is_none()).map(|own| own.name.name.clone());
        let name = own.or_else(|| declarators.first()).map(|declarator| &declarator.name);
        let ty = match guid {
            Some(own) => self.guid_type(&spec, own),
            None => self.spec_type(&spec, name),
        };
        let Some(ty) = ty else { return };
        for declarator in declarators {
            let plain = declarator.pointers == 0 && declarator.dimensions.is_empty();
            if CLASSES.iter().any(|class| has(attributes, class)) {
                self.classed.insert(declarator.name.name.clone());
            }
            let full = if plain { Some(ty.clone()) } else { self.stars_on(&ty, declarator, attributes) };
            let Some(full) = full else { continue };
            // The declared type has already received the attributes.
            let attributes = if is_definition && own.is_some() { &[] } else { attributes };
            let is_interface = plain && matches!(full, Type::Interface(_));
            self.push_typedef(&declarator.name, full.clone(), is_interface, attributes);
            let open = matches!(full, Type::Struct(_)) && !self.defined.contains(&full);
            self.declare_type(&declarator.name, if open { Named::Opened(full) } else { Named::Type(full) });
        }
    }
}

impl Resolver<'_> {
    /// Resolves a GUID typedef, which declares the standard type instead of a structure of the
    /// file's own.
    fn guid_type(&mut self, spec: &TypeSpec, own: &Declarator) -> Option<Type> {
        let guid = Type::Base(Base::Guid);
        let members = match &spec.kind {
            TypeKind::Struct(StructDecl { tag, members: Some(members), attributes, .. }) => {
                self.check_attributes(attributes, &ON_TYPES, "a structure");
                if let Some(tag) = tag {
                    self.declare_type(tag, Named::Type(guid.clone()));
                }
                self.members(members, spec.span)
            }
            _ => (Vec::new(), None),
        };
        let is_one = members.1.is_none() && is_guid(&members.0);
        if !is_one {
            let text = format!("`{}` has other members than a GUID", own.name.name);
            let error = Diagnostic::error("reserved-name", own.name.span, text);
            let help =
                "these are an unsigned long, two unsigned shorts and eight bytes; or give this type another name";
            self.say(error.help(help));
        }
        Some(guid)
    }

    pub(super) fn push_typedef(&mut self, ident: &Ident, ty: Type, is_interface: bool, attributes: &[Attribute]) {
        let about = self.about(attributes, &flags::ON_TYPES);
        let public = has(attributes, "public") || about.uuid.is_some();
        let (name, imported, span) = (ident.name.clone(), self.imported, ident.span);
        self.typedefs.entry(name.clone()).or_insert(self.model.typedefs.len());
        self.model.typedefs.push(Typedef { name, ty, is_interface, public, about, imported, span });
    }
}

/// Whether members form a GUID: integers of 4, 2 and 2 bytes, and 8 bytes, under any names.
fn is_guid(members: &[Field]) -> bool {
    let size = |ty: &Type| match ty {
        Type::Base(base) if base.is_integer() && *base != Base::Boolean => base.size(),
        _ => 0,
    };
    let sizes = members.iter().flat_map(|field| match &field.ty {
        Type::Fixed(element, count) => std::iter::repeat_n(size(element), (*count).min(9) as usize),
        ty => std::iter::repeat_n(size(ty), 1),
    });
    sizes.take(12).eq([4, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1])
}

/// Whether a type is a union, or a pointer chain to one.
fn is_union_behind(ty: &Type) -> bool {
    matches!(ty, Type::Union(_)) || matches!(ty, Type::Pointer(pointer) if is_union_behind(&pointer.to))
}

/// Returns the element type of an array, through all its dimensions.
fn array_of(mut ty: &Type) -> &Type {
    while let Type::Fixed(element, _) = ty {
        ty = element;
    }
    ty
}

fn is_definition(kind: &TypeKind) -> bool {
    match kind {
        TypeKind::Struct(decl) => decl.members.is_some(),
        TypeKind::Union(decl) => decl.arms.is_some(),
        TypeKind::Enum(decl) => decl.values.is_some(),
        _ => false,
    }
}
