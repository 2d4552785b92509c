//! Typedefs, also those that declare the type GUID.

use super::attributes::{self, ON_TYPES};
use super::limits::{LEVELS_MAX, too_deep};
use super::types::{CLASSES, base_type};
use super::{Named, Resolver, find, has};
use crate::model::typelib::flags;
use crate::model::{Base, Field, Type, Typedef};
use crate::syntax::ast::{Attribute, Declarator, Ident, StructDecl, TypeKind, TypeSpec};
use crate::syntax::parser::{base_of_word, is_base_word};
use crate::text::diagnostic::Diagnostic;

/// Names of GUID types, which files for other compilers declare themselves.
const GUIDS: [&str; 4] = ["GUID", "IID", "CLSID", "UUID"];

impl Resolver<'_> {
    /// Resolves a `typedef`: the names that it gives to a type, and the type itself if the typedef
    /// defines it.
    pub(super) fn typedef(&mut self, attributes: &[Attribute], spec: &TypeSpec, declarators: &[Declarator]) {
        self.check_attributes(attributes, &attributes::TYPEDEF);
        self.check_words(attributes, spec, declarators);
        let own = declarators.iter().find(|declarator| declarator.pointers == 0 && declarator.dimensions.is_empty());
        if self.memory_typedef(spec, declarators) || self.handle_typedef(spec, declarators) {
            return;
        }
        let mut spec = self.known_spec(spec, own);
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
        let Some(mut ty) = ty else { return };
        if let (true, Some(own)) = (is_definition, own) {
            ty = self.without_repetition(&own.name.name, ty);
        }
        let is_pointer = matches!(&spec.kind, TypeKind::Named(name) if self.object_pointers.contains(name));
        let reason = self.transformation(attributes, &spec);
        for declarator in declarators {
            if let Some(reason) = &reason {
                let name = &declarator.name.name;
                self.transformed.insert(name.clone(), reason.replace("{name}", name));
            }
            let plain = declarator.pointers == 0 && declarator.dimensions.is_empty();
            if CLASSES.iter().any(|class| has(attributes, class)) {
                self.classed.insert(declarator.name.name.clone());
            }
            let full = if plain { Some(ty.clone()) } else { self.stars_on(&ty, declarator, attributes, is_pointer) };
            let Some(full) = full else { continue };
            self.check_base_word(&declarator.name, &full);
            if is_automation_word(&declarator.name.name) {
                continue;
            }
            if self.is_declared_again(&declarator.name, &full) {
                continue;
            }
            self.note_range(&declarator.name, attributes, &spec, &full);
            // The declared type has already received the attributes.
            let attributes = if is_definition && own.is_some() { &[] } else { attributes };
            let is_interface = plain && matches!(full, Type::Interface(_)) && !is_pointer;
            if matches!(full, Type::Interface(_)) && !is_interface {
                self.object_pointers.insert(declarator.name.name.clone());
            }
            if !self.given.contains(&declarator.name.name) && !self.is_same_typedef(&declarator.name, &full) {
                self.push_typedef(&declarator.name, full.clone(), is_interface, attributes);
            }
            let open = matches!(full, Type::Struct(_)) && !self.defined.contains(&full);
            self.declare_type(&declarator.name, if open { Named::Opened(full) } else { Named::Type(full) });
        }
    }

    /// Returns the specifier of a typedef. If the typedef defines a type that a built-in file
    /// declares, the specifier names the built-in type.
    fn known_spec(&mut self, spec: &TypeSpec, own: Option<&Declarator>) -> TypeSpec {
        let known = own.filter(|own| is_definition(&spec.kind) && self.given.contains(&own.name.name));
        let Some(own) = known else { return spec.clone() };
        let tag = match &spec.kind {
            TypeKind::Struct(decl) => &decl.tag,
            TypeKind::Union(decl) => &decl.tag,
            TypeKind::Enum(decl) => &decl.tag,
            _ => &None,
        };
        if let (Some(tag), Some(Named::Type(ty))) =
            (tag, self.types.get(&own.name.name).map(|known| known.what.clone()))
        {
            self.declare_type(tag, Named::Type(ty));
        }
        TypeSpec { kind: TypeKind::Named(own.name.name.clone()), ..spec.clone() }
    }

    /// Records a further name for an Automation type. Returns whether the typedef gives such a
    /// name.
    fn memory_typedef(&mut self, spec: &TypeSpec, declarators: &[Declarator]) -> bool {
        if let TypeKind::Named(name) = &spec.kind {
            self.declare_prelude(name);
        }
        let (of, stars) = match &spec.kind {
            TypeKind::Automation(_) | TypeKind::SafeArray(..) => (spec.clone(), 0),
            TypeKind::Named(name) if self.memories.contains_key(name) => self.memories[name].clone(),
            _ => return false,
        };
        for declarator in declarators.iter().filter(|one| !is_automation_word(&one.name.name)) {
            if base_of_word(&declarator.name.name).is_some() {
                self.report(redefined(&declarator.name));
            }
            let stars = stars.saturating_add(declarator.pointers);
            if usize::from(stars) > LEVELS_MAX {
                self.report(too_deep(declarator.span));
                continue;
            }
            self.memories.insert(declarator.name.name.clone(), (of.clone(), stars));
        }
        true
    }

    /// Records the limits of a typedef, if there are any.
    fn note_range(&mut self, name: &Ident, attributes: &[Attribute], spec: &TypeSpec, ty: &Type) {
        if let Some(range) = self.range_of(attributes, spec, ty) {
            self.ranges.insert(name.name.clone(), range);
        }
    }

    /// Reports a typedef whose name is a keyword of integer types, and a handle whose name is the
    /// name of a base type.
    fn check_words(&mut self, attributes: &[Attribute], spec: &TypeSpec, declarators: &[Declarator]) {
        let is_handle = has(attributes, "context_handle") || matches!(spec.kind, TypeKind::Base("handle_t"));
        for Declarator { name, .. } in declarators.iter().filter(|one| is_base_word(&one.name.name)) {
            if name.name != "handle_t" && (is_handle || base_of_word(&name.name).is_none()) {
                self.report(redefined(name));
            }
        }
    }

    /// Reports a typedef that gives another meaning to the name of a base type. Windows' files
    /// declare some of these names, with the same meaning or as an integer of the same size.
    fn check_base_word(&mut self, name: &Ident, ty: &Type) {
        let is_integer = |base: &Base| base.is_integer() || *base == Base::Hresult;
        let is_void_pointer = || matches!(ty, Type::Pointer(pointer) if pointer.to == Type::Void);
        let is_same = match (name.name.as_str(), base_of_word(&name.name).map(base_type)) {
            ("handle_t", _) => is_void_pointer(),
            ("BSTR", _) => {
                matches!(ty, Type::Pointer(pointer) if matches!(pointer.to, Type::Base(Base::WChar | Base::U16)))
            }
            (word, _) if is_automation_word(word) => matches!(ty, Type::Struct(_)),
            (_, None) => true,
            (_, Some(Type::Pointer(known))) => {
                let is_wide = |ty: &Type| matches!(ty, Type::Base(Base::WChar | Base::U16));
                matches!(ty, Type::Pointer(pointer)
                    if pointer.to == known.to || is_wide(&pointer.to) && is_wide(&known.to))
            }
            (_, Some(known)) => {
                known == *ty
                    || matches!((&known, ty), (Type::Base(known), Type::Base(base))
                        if is_integer(known) && is_integer(base) && known.size() == base.size())
            }
        };
        if !is_same {
            let is_automation = name.name == "BSTR" || is_automation_word(&name.name);
            // Type libraries can give the names of Automation's types any meaning, so a permissive
            // compiler only warns.
            if is_automation { self.report_leniently(redefined(name)) } else { self.report(redefined(name)) }
        }
    }

    /// Returns the reason why no back end can pass values of the typedef to other processes yet,
    /// with `{name}` for the type's name. `None` if back ends can.
    fn transformation(&self, attributes: &[Attribute], spec: &TypeSpec) -> Option<String> {
        let attribute = ["wire_marshal", "transmit_as", "represent_as"].iter().find_map(|name| find(attributes, name));
        match (attribute, &spec.kind) {
            (Some(found), _) => {
                Some(format!("is a `{{name}}`, which travels as `{}` ([{}])", found.raw, found.name.name))
            }
            (None, TypeKind::Named(name)) => self.transformed.get(name).cloned(),
            (None, TypeKind::Base(word)) if word.ends_with("__int3264") => Some(POINTER_SIZED.to_owned()),
            _ => None,
        }
    }

    /// Whether a typedef declares a handle of another file again, but in another form. One of the
    /// forms is a pointer to void, and the other is an integer of a pointer's size. Such a typedef
    /// has no effect, and causes a warning.
    fn is_declared_again(&mut self, name: &Ident, ty: &Type) -> bool {
        let Some(known) = self.types.get(&name.name) else { return false };
        let (Named::Type(first), Some(span)) = (&known.what, known.span) else { return false };
        let is_void = |ty: &Type| matches!(ty, Type::Pointer(pointer) if pointer.to == Type::Void);
        let is_integer = |ty: &Type| matches!(ty, Type::Base(Base::I64 | Base::U64));
        let is_again = (is_void(first) && is_integer(ty) || is_integer(first) && is_void(ty))
            && span.file != name.span.file
            && !self.model.is_prelude(span)
            && !self.model.is_prelude(name.span);
        if is_again {
            let text = format!("`{}` is declared again, as another form of a handle", name.name);
            let warning = Diagnostic::warning("declared-again", name.span, text);
            self.report(warning.related(span, "this declaration counts").help("declare the type in one file"));
        }
        is_again
    }

    /// Whether a typedef repeats an earlier typedef.
    fn is_same_typedef(&self, name: &Ident, ty: &Type) -> bool {
        self.typedefs.get(&name.name).is_some_and(|at| self.model.typedefs[*at].ty == *ty)
    }

    /// Resolves a GUID typedef, which declares the standard type instead of a structure of the
    /// file's own. `None` after an error.
    fn guid_type(&mut self, spec: &TypeSpec, own: &Declarator) -> Option<Type> {
        let guid = Type::Base(Base::Guid);
        let members = match &spec.kind {
            TypeKind::Struct(StructDecl { tag, members: Some(members), attributes, .. }) => {
                self.check_attributes(attributes, &attributes::STRUCTURE);
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
            self.report(error.help(help));
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

/// The reason why integers of a pointer's size are not supported.
pub(super) const POINTER_SIZED: &str = "is an integer of a pointer's size, which has 32 bits in NDR and 64 in NDR64";

/// Returns the error for a typedef that gives another meaning to the name of a base type.
fn redefined(name: &Ident) -> Diagnostic {
    let text = format!("`{}` is a base type, and this typedef makes it another type", name.name);
    Diagnostic::error("reserved-name", name.span, text).help("give the type another name")
}

/// Whether a name is a keyword for an Automation type. Windows' files declare these types.
fn is_automation_word(name: &str) -> bool {
    matches!(name, "BSTR" | "VARIANT" | "VARIANTARG" | "SAFEARRAY")
}

/// Whether members form a GUID: integers of 4, 2 and 2 bytes, and 8 bytes, under any names.
fn is_guid(members: &[Field]) -> bool {
    let size = |ty: &Type| match ty {
        Type::Base(base) if base.is_number() => base.size(),
        _ => 0,
    };
    let sizes = members.iter().flat_map(|field| match &field.ty {
        Type::Fixed(element, count) => std::iter::repeat_n(size(element), (*count).min(9) as usize),
        ty => std::iter::repeat_n(size(ty), 1),
    });
    sizes.take(12).eq([4, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1])
}

pub(super) fn is_definition(kind: &TypeKind) -> bool {
    match kind {
        TypeKind::Struct(decl) => decl.members.is_some(),
        TypeKind::Union(decl) => decl.arms.is_some(),
        TypeKind::Enum(decl) => decl.values.is_some(),
        _ => false,
    }
}
