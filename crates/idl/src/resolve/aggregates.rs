//! Structures and enumerations, and the attributes of members.

use super::automation::is_automation;
use super::limits::MEMBERS_MAX;
use super::typedefs::POINTER_SIZED;
use super::types::{Context, Place, base_type, is_sized_text, objects_by_iid};
use super::values::{Variable, sizes_dereference, sizes_test_for_null};
use super::{Named, Resolver, attributes, enum_type, find, has, struct_type};
use crate::model::typelib::flags;
use crate::model::{
    About, Arith, Base, Enum, Extent, Field, Measure, Pointer, PointerClass, Struct, StructId, Type, Unsupported, Value,
};
use crate::syntax::ast::{
    Attribute, Declarator, Dimension, EnumDecl, ExprKind, Ident, Member, StructDecl, TypeKind, TypeSpec,
};
use crate::text::diagnostic::Diagnostic;
use crate::text::source::Span;
use std::collections::HashMap;

/// The tag of the GUID structure in C headers. A typedef of a pointer may use the tag before the
/// structure is declared.
const GUID_TAG: &str = "_GUID";

/// The reason why a structure is not supported if one of its members is a structure with a
/// conformant array.
pub(super) const OPEN_MEMBER: &str = "a structure with a member that ends in an open array";

impl Resolver<'_> {
    pub(super) fn struct_type(&mut self, decl: &StructDecl, name: Option<&Ident>, span: Span) -> Option<Type> {
        let declared = self.declaring.take();
        if let Some(ty) = self.given_type(decl.tag.as_ref()) {
            return Some(ty);
        }
        self.check_attributes(&decl.attributes, &attributes::STRUCTURE);
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
        let outer = std::mem::take(&mut self.member_reasons);
        let (fields, conformant) = self.members(members, span);
        self.note_reasons(&ty, outer);
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

    /// Notes the reasons why calls cannot carry a member. The member may lead to void and not
    /// travel in another form, or may have attributes that no back end supports. `is_checked` says
    /// whether back ends check the member's [range].
    pub(super) fn note_member(&mut self, attributes: &[Attribute], spec: &TypeSpec, ty: &Type, is_checked: bool) {
        if *ty != Type::Void && *self.model.innermost(ty) == Type::Void && self.transformation_of(spec).is_none() {
            self.member_reasons.0 = Some("which has a pointer to void");
        }
        if is_sized_text(attributes, ty) {
            self.not_yet("a structure or union with a string that has a size or a length of its own");
        }
        if objects_by_iid(ty).is_some() {
            self.not_yet("a structure with an array of objects, or a pointer to one, whose IID is a member");
        }
        if !is_checked && self.has_range(attributes, spec) {
            self.not_yet("a structure or union with [range] on an arm, or on a member that is no integer");
        }
    }

    /// Notes the reason why no back end can pass the current structure or union yet, unless a
    /// reason has been noted already.
    pub(super) fn not_yet(&mut self, why: &'static str) {
        self.member_reasons.1.get_or_insert(Unsupported::Form(why));
    }

    /// Returns the type that a built-in file declares with this tag, if there is one.
    pub(super) fn given_type(&self, tag: Option<&Ident>) -> Option<Type> {
        match self.types.get(&tag.filter(|tag| self.given.contains(&tag.name))?.name)?.what.clone() {
            Named::Type(ty) => Some(ty),
            _ => None,
        }
    }

    /// Records the reasons why calls cannot carry the structure or union whose members have been
    /// resolved. Restores `outer`, the reasons found so far for the surrounding type.
    pub(super) fn note_reasons(&mut self, ty: &Type, outer: (Option<&'static str>, Option<Unsupported>)) {
        let (here_only, unsupported) = std::mem::replace(&mut self.member_reasons, outer);
        self.here_only.extend(here_only.map(|why| (ty.clone(), why)));
        self.unsupported.extend(unsupported.map(|why| (ty.clone(), why)));
    }

    /// Returns a member in which a typedef of an Automation type is replaced by that type. Notes
    /// why a structure with such a member is not supported.
    pub(super) fn member_of(&mut self, spec: &TypeSpec, declarator: &Declarator) -> (TypeSpec, Declarator) {
        let (spec, declarator) = self.of_memory(spec, declarator);
        if is_automation(&spec) {
            self.member_reasons.1 = Some(Unsupported::AUTOMATION);
        } else if self.transformation_of(&spec).is_some() {
            self.not_yet("a structure with a member that travels in another form");
        }
        (spec, declarator)
    }

    /// Returns the reason why values of a type cannot be passed to other processes yet. `None` if
    /// they can.
    pub(super) fn transformation_of(&self, spec: &TypeSpec) -> Option<String> {
        match &spec.kind {
            TypeKind::Named(name) => self.transformed.get(name).cloned(),
            TypeKind::Base(word) if word.ends_with("__int3264") => Some(POINTER_SIZED.to_owned()),
            _ => None,
        }
    }

    /// Returns a declaration in which a typedef of an Automation type is replaced by that type.
    pub(super) fn of_memory(&mut self, spec: &TypeSpec, declarator: &Declarator) -> (TypeSpec, Declarator) {
        if let TypeKind::Named(name) = &spec.kind {
            self.declare_prelude(name);
        }
        let (mut spec, mut declarator) = (spec.clone(), declarator.clone());
        if let TypeKind::Named(name) = &spec.kind
            && let Some((of, stars)) = self.memories.get(name)
        {
            declarator.pointers = declarator.pointers.saturating_add(*stars);
            spec = TypeSpec { kind: of.kind.clone(), ..spec };
        }
        // SAFEARRAY without parentheses is the name of the structure. An array is a pointer to this
        // structure.
        if matches!(spec.kind, TypeKind::Automation("SAFEARRAY")) {
            declarator.pointers = declarator.pointers.saturating_sub(1);
        }
        (spec, declarator)
    }

    #[expect(clippy::type_complexity, reason = "the two halves of a structure")]
    pub(super) fn members(
        &mut self,
        members: &[Member],
        span: Span,
    ) -> (Vec<Field>, Option<(Type, Arith, Option<Arith>)>) {
        // Sizes may refer to later members, so the integer members are collected first.
        let declarators = members.iter().filter_map(|member| member.declarator.as_ref());
        if !self.check_names(declarators.filter(|declarator| !declarator.name.name.is_empty()), "members") {
            return (Vec::new(), None);
        }
        let (was_empty, errors) = (members.is_empty(), self.diagnostics.len());
        let mut units = self.units(members);
        let mut parts = units.as_mut().map(|units| std::mem::take(&mut units.parts)).unwrap_or_default();
        let members = units.as_ref().map_or(members, |units| &units.members);
        // Bit fields without width are not members.
        let is_empty = was_empty || members.is_empty() && self.diagnostics.len() == errors;
        let variable = |member: &Member| {
            let declarator = member.declarator.as_ref()?;
            Some(Variable { name: declarator.name.name.clone(), ty: self.scalar_type(&member.spec, declarator) })
        };
        let mut variables: Vec<Variable> = members.iter().filter_map(variable).collect();
        let (mut fields, mut conformant) = (Vec::new(), None);
        for (at, member) in members.iter().enumerate() {
            let Some(declarator) = &member.declarator else { continue };
            self.check_attributes(&member.attributes, &attributes::MEMBER);
            let mut own = self.member_of(&member.spec, declarator);
            set_switch_type(&mut own.0, member, members);
            let (spec, declarator) = &own;
            let context = Context { variables: &variables, of: "the structure", local: false };
            let ty = self.full_type(spec, declarator, &member.attributes, Place::Member, &context);
            let Some(ty) = ty else { continue };
            let is_open = matches!(declarator.dimensions.first(), Some(Dimension::Open(_)));
            self.note_member(&member.attributes, spec, &ty, !is_open && matches!(ty, Type::Base(_)));
            if !self.check_by_value(&ty, declarator.span, Some(OPEN_MEMBER)) {
                continue;
            }
            if sizes_test_for_null(&member.attributes, &variables) || sizes_dereference(&member.attributes) {
                self.not_yet("a size or a discriminant that depends on a pointer");
            }
            if is_open {
                if at + 1 != members.len() {
                    self.report(open_array_inside(declarator.span));
                } else if matches!(&ty, Type::Pointer(pointer) if pointer.extent == Extent::Text) {
                    self.not_yet("a structure that ends in a string");
                } else if let Type::Pointer(pointer) = ty
                    && let Extent::Counted { size, length } = pointer.extent
                    && self.check_complete(&pointer.to, declarator.span)
                {
                    conformant = Some((pointer.to, size, length));
                    // The array's name is kept as a field of type void, which takes no space.
                    variables.truncate(at);
                    let named = self.named_by(&member.spec);
                    fields.push(Field::new(declarator.name.name.clone(), Type::Void, named, declarator.span));
                }
                continue;
            }
            let range = self.member_range(&member.attributes, spec, &ty);
            let switch = self.switch(&member.attributes, &ty, declarator, &variables, "the structure", false);
            let varying = self.varying(&member.attributes, &ty, &context);
            let bits = parts.remove(&declarator.name.name).unwrap_or_default();
            let named = self.named_by(&member.spec);
            let field = Field::new(declarator.name.name.clone(), ty, named, declarator.span);
            fields.push(Field { range, switch, varying, bits, ..field });
        }
        if is_empty {
            let error = Diagnostic::error("empty-struct", span, "this structure has no members");
            self.report(error.help("declare a member, or remove the structure"));
        }
        (fields, conformant)
    }

    /// Checks that members have distinct names and are not too many. If not, the type's members are
    /// not resolved.
    pub(super) fn check_names<'d>(&mut self, names: impl Iterator<Item = &'d Declarator>, what: &str) -> bool {
        let mut known = HashMap::new();
        for (at, declarator) in names.enumerate() {
            if at == MEMBERS_MAX {
                let text = format!("there are more than {MEMBERS_MAX} {what}");
                let error = Diagnostic::error("too-large", declarator.span, text);
                self.report(error.help("put some of them into a structure of their own"));
                return false;
            }
            if let Some(first) = known.insert(declarator.name.name.as_str(), declarator.name.span) {
                let text = format!("there are two {what} called `{}`", declarator.name.name);
                let error = Diagnostic::error("duplicate-name", declarator.name.span, text);
                self.report(error.related(first, "the first one").help("give one of them another name"));
            }
        }
        true
    }

    /// Returns the type of a variable for the expressions that may use it, without reporting
    /// errors. Types that expressions cannot use become void. `None` for an unknown name.
    pub(super) fn scalar_type(&mut self, spec: &TypeSpec, declarator: &Declarator) -> Option<Type> {
        if !declarator.dimensions.is_empty() {
            return Some(Type::Void);
        }
        if let TypeKind::Named(name) = &spec.kind {
            self.declare_prelude(name);
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

    /// Whether a type has a size. A structure or a union, also as the element of an array, has a
    /// size once its members are known. Reports an error if the type has no size.
    pub(super) fn check_complete(&mut self, ty: &Type, span: Span) -> bool {
        let inner = array_of(ty);
        let check_complete = !matches!(inner, Type::Struct(_) | Type::Union(_)) || self.defined.contains(inner);
        if !check_complete {
            let error = Diagnostic::error("incomplete-type", span, "this type is not complete here, so it has no size");
            self.report(
                error.help("a structure cannot contain itself; use a pointer, or declare the other type before"),
            );
        }
        check_complete
    }

    /// Whether a member may have this type. A structure that ends in a conformant array is
    /// permitted only if `open` is `Some`. `open` is then the reason why the surrounding type is
    /// not supported.
    pub(super) fn check_by_value(&mut self, ty: &Type, span: Span, open: Option<&'static str>) -> bool {
        let inner = array_of(ty);
        if !self.check_complete(ty, span) {
            return false;
        }
        let ends_open = |id: &StructId| self.model.structs[id.0].conformant.is_some();
        if let (Some(why), true) = (open, matches!(ty, Type::Struct(id) if ends_open(id))) {
            self.not_yet(why);
        } else if matches!(inner, Type::Struct(id) if ends_open(id)) {
            let error = Diagnostic::error(
                "open-array-inside",
                span,
                "a structure that ends in an open array cannot be part of another type",
            );
            self.report(error.help("use a pointer to it"));
            return false;
        }
        if matches!(inner, Type::Void) {
            let error = Diagnostic::error("void-member", span, "a member or an element cannot be of type void");
            self.report(error);
            return false;
        }
        true
    }

    pub(super) fn enum_type(&mut self, decl: &EnumDecl, name: Option<&Ident>, span: Span) -> Option<Type> {
        let declared = self.declaring.take();
        if let Some(ty) = self.given_type(decl.tag.as_ref()) {
            return Some(ty);
        }
        self.check_attributes(&decl.attributes, &attributes::ENUMERATION);
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
            // As in MIDL, a negative value may be written as an unsigned number of 32 bits.
            let Ok(small) = i32::try_from(next).or_else(|_| u32::try_from(next).map(u32::cast_signed)) else {
                let error = Diagnostic::error("overflow", ident.span, "the values of an enum have 32 bits");
                self.report(error.help("use a smaller value, or declare constants of type hyper"));
                return None;
            };
            self.declare_value(ident, Value::Int(next));
            made.push((ident.name.clone(), small));
            next += 1;
        }
        if made.is_empty() {
            let error = Diagnostic::error("empty-enum", span, "this enum has no values");
            self.report(error);
            return None;
        }
        let name = name.or_else(|| values.first().map(|(first, _)| first));
        let name = declared.unwrap_or_else(|| self.fresh_name(decl.tag.as_ref(), name, "enum", span));
        let v1 = has(&decl.attributes, "v1_enum");
        let is_wide = |value: i32| !v1 && i16::try_from(value).is_err() && !self.model.is_prelude(span);
        if let Some((value, _)) = made.iter().find(|(_, value)| is_wide(*value)) {
            let text = format!("`{value}` does not fit the 16 bits that `{name}` has in NDR");
            self.report(
                Diagnostic::warning("wide-enum", span, text)
                    .help("write [v1_enum] before `enum`, which gives it 32 bits"),
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
}

/// Sets the discriminant's type of a union that a member declares. As in MIDL, the discriminant's
/// type is the type in the member's attribute, or else the type of the member that selects the arm.
fn set_switch_type(spec: &mut TypeSpec, member: &Member, members: &[Member]) {
    let TypeKind::Union(decl) = &mut spec.kind else { return };
    if decl.switch.is_some() || has(&decl.attributes, "switch_type") {
        return;
    }
    if let Some(attribute) = find(&member.attributes, "switch_type") {
        return decl.attributes.push(attribute.clone());
    }
    let Some(attribute) = find(&member.attributes, "switch_is") else { return };
    let Some(Some(selecting)) = attribute.arguments.first() else { return };
    let (selecting, pointers) = match &selecting.kind {
        ExprKind::Unary("*", pointer) => (&pointer.kind, 1),
        kind => (kind, 0),
    };
    let ExprKind::Name(name) = selecting else { return };
    let is_it = |other: &&Member| {
        other.declarator.as_ref().is_some_and(|one| one.name.name == *name && one.pointers == pointers)
    };
    let Some(other) = members.iter().find(is_it) else { return };
    let mut ty = other.spec.clone();
    if let TypeKind::Enum(decl) = &mut ty.kind {
        // The member declares the enumeration, and the union names it.
        decl.values = None;
        if decl.tag.is_none() {
            return;
        }
    }
    let name = Ident { name: "switch_type".to_owned(), span: attribute.span };
    let ty = Some(Box::new(ty));
    decl.attributes.push(Attribute { name, arguments: Vec::new(), raw: String::new(), ty, span: attribute.span });
}

fn open_array_inside(span: Span) -> Diagnostic {
    let error = Diagnostic::error("open-array-inside", span, "this open array is not the last member");
    error.help("move it to the end, or declare it as a pointer with [size_is]")
}

/// Returns the innermost element type of an array. Other types are returned unchanged.
fn array_of(mut ty: &Type) -> &Type {
    while let Type::Fixed(element, _) = ty {
        ty = element;
    }
    ty
}
