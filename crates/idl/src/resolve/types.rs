//! Types: the combination of specifiers, pointers, dimensions and attributes.

use super::automation::is_automation;
use super::values::Variable;
use super::{Named, Resolver, find, has, taken_by_member};
use crate::model::{Arith, Base, Direction, Extent, Object, Pointer, PointerClass, Type, Varying};
use crate::syntax::ast::{Attribute, Declarator, Dimension, Expr, Ident, TypeKind, TypeSpec};
use crate::text::diagnostic::Diagnostic;
use crate::text::source::Span;

/// The maximum number of elements of an array of fixed size.
const FIXED_MAX: i64 = 1 << 24;

/// The kind of declaration that a type belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Const,
    Typedef,
    Member,
    Param,
}

/// The sizes and lengths that attributes give, one for each dimension and star. `None` where an
/// attribute omits the value.
struct Sizes<'a> {
    size: Vec<Option<(&'a Expr, bool)>>,
    length: Vec<Option<&'a Expr>>,
}

/// A pointer that a typedef names.
struct NamedPointer {
    to: Type,
    extent: Extent,
    class: Option<PointerClass>,
}

/// Attributes that give the class of a pointer.
pub(super) const CLASSES: [&str; 3] = ["ref", "unique", "ptr"];

/// The variables that expressions of a declaration may use, and the name of their owner for
/// messages.
pub(super) struct Context<'a> {
    pub(super) variables: &'a [Variable],
    pub(super) of: &'a str,
    /// Whether the declaration is a parameter of a `[local]` interface. Such a parameter may point
    /// to void.
    pub(super) local: bool,
}

impl Resolver<'_> {
    /// Returns the type of a declaration whose attributes use no other declaration. `None` after an
    /// error.
    pub(super) fn declared_type(
        &mut self,
        spec: &TypeSpec,
        declarator: &Declarator,
        attributes: &[Attribute],
        place: Place,
    ) -> Option<Type> {
        self.full_type(
            spec,
            declarator,
            attributes,
            place,
            &Context { variables: &[], of: "this declaration", local: false },
        )
    }

    /// Returns the type of a declaration. `None` after an error.
    pub(super) fn full_type(
        &mut self,
        spec: &TypeSpec,
        declarator: &Declarator,
        attributes: &[Attribute],
        place: Place,
        context: &Context<'_>,
    ) -> Option<Type> {
        let (mut ty, mut stars) = match place {
            // As in C, a parameter with a function type is a pointer to the function.
            Place::Param if declarator.is_function => (Type::Void, declarator.pointers.max(1)),
            _ if declarator.is_function => (Type::Void, declarator.pointers),
            Place::Param | Place::Member if is_automation(spec) => (self.wire_type(spec)?, declarator.pointers),
            _ => self.innermost(spec, declarator, attributes, context)?,
        };
        let sizes = sizes(attributes);
        // A BSTR is a text already: [string] adds nothing.
        let mut text = has(attributes, "string") && !is_automation(spec);
        // A typedef's pointer counts as a written star: the declaration's attributes apply to it.
        let mut named_class = None;
        if let Some(pointer) = self.named_pointer(spec, &ty) {
            stars = stars.saturating_add(1);
            text |= pointer.extent == Extent::Text;
            named_class = pointer.class;
            ty = pointer.to;
        }
        // Levels are counted from the outside: dimensions first, then stars.
        let dimensions = declarator.dimensions.len();
        let levels = dimensions + usize::from(stars);
        // A type that is not a single value may have a further level, which the declarator does not
        // show. For example, a typedef of an array has the array's dimensions, and an interface
        // pointer has a star of its own.
        let is_one_value = matches!(ty, Type::Base(_) | Type::Enum(_) | Type::Struct(_) | Type::Union(_));
        let sizes_max = if is_one_value && !is_automation(spec) { levels } else { levels.max(1) };
        self.check_classes(attributes);
        if sizes.size.len().max(sizes.length.len()) > sizes_max {
            let error = Diagnostic::error(
                "too-many-sizes",
                declarator.span,
                "more sizes are given than the type has pointers and dimensions",
            );
            self.report(error.help("give one size for each `*` and `[]`, the outermost first"));
        }
        let mut level = levels;
        while stars > 0 {
            stars -= 1;
            level -= 1;
            let extent = self.extent(&sizes, level, text && level + 1 == levels, &ty, context)?;
            let usual = self.class(attributes, level == 0, place);
            let is_said = level == 0 && CLASSES.iter().any(|class| has(attributes, class));
            let class = named_class.take().filter(|_| !is_said).unwrap_or(usual);
            ty = Type::Pointer(Box::new(Pointer { class, to: ty, extent }));
        }
        for dimension in declarator.dimensions.iter().rev() {
            level -= 1;
            ty = self.dimension(dimension, ty, &sizes, level, text && level + 1 == levels, place, context)?;
        }
        self.check_text(text, &ty, declarator);
        self.check_type_limits(&ty, declarator.span).then_some(ty)
    }

    /// Reports an error if two attributes give different classes to one pointer.
    fn check_classes(&mut self, attributes: &[Attribute]) {
        let mut classes = attributes.iter().filter(|one| CLASSES.contains(&one.name.name.as_str()));
        let (Some(first), Some(second)) = (classes.next(), classes.next()) else { return };
        if first.name.name != second.name.name {
            let text = format!("this pointer is [{}] and [{}]", first.name.name, second.name.name);
            let error = Diagnostic::error("two-classes", second.name.span, text);
            self.report(error.help("a pointer has one class: [ref] is never null, [unique] and [ptr] may be null"));
        }
    }

    /// Returns the pointer that a type's name denotes, with its class if the typedef gives the
    /// class. `None` if the name does not denote a pointer.
    fn named_pointer(&self, spec: &TypeSpec, ty: &Type) -> Option<NamedPointer> {
        let has_class = match &spec.kind {
            TypeKind::Named(name) => self.classed.contains(name),
            TypeKind::Base("LPSTR" | "LPWSTR") => false,
            _ => return None,
        };
        let Type::Pointer(pointer) = ty else { return None };
        let class = has_class.then_some(pointer.class);
        Some(NamedPointer { to: pointer.to.clone(), extent: pointer.extent.clone(), class })
    }

    /// Returns a declaration's type without its stars and dimensions, and the number of remaining
    /// stars. An interface pointer takes one of the stars. `None` after an error.
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
            let stars = stars + u8::from(self.is_object_pointer(spec));
            let is_object = matches!(&spec.kind, TypeKind::Base("void") | TypeKind::Named(_))
                && matches!(self.spec_type(spec, None)?, Type::Void | Type::Interface(_) | Type::Pointer(_));
            if !is_object || stars == 0 {
                let error = Diagnostic::error("bad-iid-is", declarator.span, "[iid_is] is not on an interface pointer");
                self.report(error.help("declare it as `IUnknown *` or `void *`, with one more `*` for [out]"));
                return None;
            }
            return Some((Type::Interface(Object::IidIs(operand)), stars - 1));
        }
        if has(attributes, "context_handle") {
            return self.context_handle(spec, declarator);
        }
        let ty = self.spec_type(spec, Some(&declarator.name))?;
        match ty {
            Type::Interface(_) if self.is_object_pointer(spec) => Some((ty, stars)),
            Type::Interface(_) if stars == 0 => {
                let error =
                    Diagnostic::error("interface-by-value", declarator.span, "an interface needs a pointer here");
                self.report(error.help("write `*` before the name"));
                None
            }
            Type::Interface(object) => Some((Type::Interface(object), stars - 1)),
            Type::Void if !declarator.dimensions.is_empty() && stars == 0 => {
                let error = Diagnostic::error("void-pointer", declarator.span, "an array has no elements of type void");
                self.report(error.help("use `byte` with [size_is]"));
                None
            }
            ty => Some((ty, stars)),
        }
    }

    /// Whether a type's name denotes a pointer to an object, or a pointer to void that may lead to
    /// an object. No star follows such a name.
    fn is_object_pointer(&self, spec: &TypeSpec) -> bool {
        let TypeKind::Named(name) = &spec.kind else { return false };
        self.object_pointers.contains(name) || self.is_void_pointer(name)
    }

    fn iid_operand(&mut self, expr: &Expr, context: &Context<'_>) -> Option<crate::model::Operand> {
        let name = match &expr.kind {
            crate::syntax::ast::ExprKind::Name(name) => name,
            crate::syntax::ast::ExprKind::Unary("*", inner) => match &inner.kind {
                crate::syntax::ast::ExprKind::Name(name) => name,
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
            self.report(error.help("[iid_is] names a parameter or member of type REFIID, IID or GUID"));
        }
        guid
    }

    /// Returns the elements of an array of fixed size that travel in NDR. `None` if all elements
    /// travel.
    pub(super) fn varying(&mut self, attributes: &[Attribute], ty: &Type, context: &Context<'_>) -> Option<Varying> {
        let Type::Fixed(element, _) = ty else { return None };
        if has(attributes, "string") && is_character(element) {
            return Some(Varying::Text);
        }
        let length = *sizes(attributes).length.first()?;
        self.arith(length?, context.variables, context.of).map(Varying::Length)
    }

    /// Returns a parameter's type, and which of its elements NDR transmits: `None` means all.
    pub(super) fn type_and_varying(
        &mut self,
        attributes: &[Attribute],
        direction: Direction,
        ty: Type,
        context: &Context<'_>,
    ) -> (Type, Option<Varying>) {
        if let Some(filled) = self.filled_text(attributes, direction, &ty, context) {
            return (filled, Some(Varying::Text));
        }
        let varying = self.varying(attributes, &ty, context);
        (ty, varying)
    }

    /// Returns the type of an array in the caller's memory that the method fills with a string:
    /// `[out, string, size_is(n)] wchar_t *text`. `None` for other parameters, and if the size is
    /// unknown.
    fn filled_text(
        &mut self,
        attributes: &[Attribute],
        direction: Direction,
        ty: &Type,
        context: &Context<'_>,
    ) -> Option<Type> {
        let Type::Pointer(pointer) = ty else { return None };
        let sizes = sizes(attributes);
        let is_filled = direction == Direction::Out
            && pointer.extent == Extent::Text
            && pointer.class == PointerClass::Ref
            && sizes.size.first().is_some_and(Option::is_some)
            && sizes.length.is_empty();
        if !is_filled {
            return None;
        }
        let reported = self.diagnostics.len();
        let Some(extent) = self.extent(&sizes, 0, false, &pointer.to, context) else {
            // Files for other compilers use macros of headers as sizes. Only methods that travel to
            // other processes need the size, and --permissive makes this method [local].
            if context.local || self.permissive {
                self.diagnostics[reported..].iter_mut().for_each(Diagnostic::soften);
            }
            return None;
        };
        Some(Type::Pointer(Box::new(Pointer { extent, ..(**pointer).clone() })))
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
                    self.report(error.help(format!("the number of elements is at least 1 and at most {FIXED_MAX}")));
                    return None;
                }
                // As in C, an array's element type must already have a size.
                self.check_complete(&element, expr.span).then(|| Type::Fixed(Box::new(element), count as u32))
            }
            Dimension::Open(span) => {
                let mut extent = self.extent(sizes, level, text, &element, context)?;
                if extent == Extent::One && place == Place::Member {
                    self.member_reasons.0 = Some("which ends in an array without a number of elements");
                    extent = Extent::Counted { size: Arith::Const(0), length: None };
                }
                if extent == Extent::One && !context.local && place != Place::Typedef {
                    let error = Diagnostic::error("no-size", *span, "this array has no number of elements");
                    self.report(
                        error.help("add [size_is(n)], where n is a parameter or member beside it, or write the number"),
                    );
                    return None;
                }
                // A conformant array is a pointer to its elements, except at the end of a
                // structure, which contains the elements themselves.
                let class = if place == Place::Param { PointerClass::Ref } else { self.pointer_default };
                Some(Type::Pointer(Box::new(Pointer { class, to: element, extent })))
            }
        }
    }

    fn check_text(&mut self, text: bool, ty: &Type, declarator: &Declarator) {
        if text && !has_text(ty) {
            let error = Diagnostic::error("bad-string", declarator.span, "[string] is not on a pointer to characters");
            self.report(error.help("use `char *` or `wchar_t *`; for other elements use [size_is]"));
        }
    }

    /// Resolves a type specifier and declares the type that it defines. `name` is for types without
    /// a tag. `None` after an error.
    pub(super) fn spec_type(&mut self, spec: &TypeSpec, name: Option<&Ident>) -> Option<Type> {
        match &spec.kind {
            TypeKind::Base("handle_t") => self.stray_handle(spec.span),
            TypeKind::Named(name) if self.memories.contains_key(name) => {
                let (spec, _) = self.memories[name].clone();
                self.stray_automation(&spec)
            }
            TypeKind::Base(word) => Some(base_type(word)),
            TypeKind::Named(name) => self.named_type(name, spec.span),
            TypeKind::Struct(decl) => self.struct_type(decl, name, spec.span),
            TypeKind::Union(decl) => self.union_type(decl, name, spec.span),
            TypeKind::Enum(decl) => self.enum_type(decl, name, spec.span),
            TypeKind::Automation(_) | TypeKind::SafeArray(..) => self.stray_automation(spec),
        }
    }

    pub(super) fn named_type(&mut self, name: &str, span: Span) -> Option<Type> {
        self.declare_prelude(name);
        match self.types.get(name).map(|known| known.what.clone()) {
            Some(Named::Type(ty) | Named::Opened(ty)) => Some(ty),
            Some(Named::Interface(id)) => Some(Type::Interface(Object::Known(id))),
            Some(Named::IUnknown) => Some(Type::Interface(Object::Unknown)),
            Some(Named::Handle) => self.stray_handle(span),
            None => {
                self.unknown_type(name, span);
                None
            }
        }
    }

    /// Returns the name of a type that no typedef declares. The name is the tag, or else is made of
    /// the names of the surrounding declaration and of the declarator. The name does not depend on
    /// other files or on their order.
    pub(super) fn fresh_name(&mut self, tag: Option<&Ident>, name: Option<&Ident>, kind: &str, span: Span) -> String {
        if let Some(tag) = tag {
            return tag.name.clone();
        }
        let made = match (self.owners.last(), name) {
            (Some(owner), Some(name)) => format!("{owner}_{}", name.name),
            (Some(owner), None) => format!("{owner}_{kind}"),
            (None, Some(name)) => format!("{}_{kind}", name.name),
            (None, None) => {
                let text = format!("this {kind} has no name, so no declaration can use it");
                let error = Diagnostic::error("nameless-type", span, text);
                self.report(error.help(format!("write a tag after `{kind}`, or remove it")));
                return String::new();
            }
        };
        let span = name.map_or(span, |name| name.span);
        let declared = self.types.get(&made).map(|known| known.span);
        if let Some(other) = declared.or_else(|| self.made_up.get(&made).map(|span| Some(*span))) {
            self.report(taken_by_member(&made, span, other));
        }
        self.made_up.insert(made.clone(), span);
        made
    }

    /// Returns the type of a typedef's declarator, from the typedef's type.
    /// `is_pointer` tells whether that type includes the star of an interface pointer.
    pub(super) fn stars_on(
        &mut self,
        ty: &Type,
        declarator: &Declarator,
        attributes: &[Attribute],
        is_pointer: bool,
    ) -> Option<Type> {
        let mut full = ty.clone();
        if declarator.is_function {
            full = Type::Void;
        }
        let text = has(attributes, "string");
        let mut stars = declarator.pointers;
        if matches!(full, Type::Interface(_)) && !is_pointer {
            stars = stars.saturating_sub(1);
        }
        for star in 0..stars {
            let extent = if text && star == 0 && is_character(&full) { Extent::Text } else { Extent::One };
            let class = self.class(attributes, star + 1 == stars, Place::Typedef);
            full = Type::Pointer(Box::new(Pointer { class, to: full, extent }));
        }
        for dimension in declarator.dimensions.iter().rev() {
            let none = Sizes { size: Vec::new(), length: Vec::new() };
            let context = Context { variables: &[], of: "a typedef", local: false };
            full = self.dimension(dimension, full, &none, 0, text, Place::Typedef, &context)?;
        }
        self.check_type_limits(&full, declarator.span).then_some(full)
    }
}

/// Whether a type has a string, or an array of characters of fixed size.
pub(super) fn has_text(ty: &Type) -> bool {
    match ty {
        Type::Pointer(pointer) => pointer.extent == Extent::Text || has_text(&pointer.to),
        Type::Fixed(element, _) => is_character(element) || has_text(element),
        _ => false,
    }
}

/// Returns the warning for a pointer to void in a method that other processes call.
pub(super) fn void_pointer(span: Span) -> Diagnostic {
    let warning = Diagnostic::warning("void-pointer", span, "the number of bytes behind this pointer is unknown");
    warning.help("use `byte *` with [size_is], or an interface pointer with [iid_is]")
}

fn sizes(attributes: &[Attribute]) -> Sizes<'_> {
    let list = |name: &str| find(attributes, name).map(|attribute| attribute.arguments.as_slice()).unwrap_or(&[]);
    let mut size: Vec<_> = list("size_is").iter().map(|expr| expr.as_ref().map(|expr| (expr, false))).collect();
    if size.is_empty() {
        size = list("max_is").iter().map(|expr| expr.as_ref().map(|expr| (expr, true))).collect();
    }
    Sizes { size, length: list("length_is").iter().map(Option::as_ref).collect() }
}

/// Whether a type leads to a string for which the declaration also gives the size of the memory, or
/// the length.
pub(super) fn is_sized_text(attributes: &[Attribute], ty: &Type) -> bool {
    let Sizes { size, length } = sizes(attributes);
    let (mut ty, mut level) = (ty, 0);
    loop {
        let (is_text, element) = match ty {
            Type::Pointer(pointer) => (pointer.extent == Extent::Text, &pointer.to),
            Type::Fixed(element, _) => (has(attributes, "string") && is_character(element), &**element),
            _ => return false,
        };
        if is_text {
            return size.get(level).is_some_and(Option::is_some) || length.get(level).is_some_and(Option::is_some);
        }
        (ty, level) = (element, level + 1);
    }
}

/// Whether arrays of a type may be texts of fixed size.
fn is_character(ty: &Type) -> bool {
    matches!(ty, Type::Base(Base::Char | Base::WChar))
}

/// Returns the form of the objects with [iid_is] to which a pointer or an array leads. `None` for
/// other types. `None` also for an object itself, because back ends find the IID of a parameter or
/// a member that is an object.
pub(super) fn objects_by_iid(ty: &Type) -> Option<&'static str> {
    let (element, own) = match ty {
        Type::Pointer(pointer) if pointer.extent == Extent::One => (&pointer.to, "a pointer to an object"),
        Type::Pointer(pointer) => (&pointer.to, "an array of objects"),
        Type::Fixed(element, _) => (&**element, "an array of objects"),
        _ => return None,
    };
    if matches!(element, Type::Interface(Object::IidIs(_))) { Some(own) } else { objects_by_iid(element) }
}

/// Returns the type for the name of a base type.
pub(super) fn base_type(word: &str) -> Type {
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
        // Only programs of 32 bits have smaller pointers.
        "__int3264" => Base::I64,
        "unsigned __int3264" => Base::U64,
        "unsigned hyper" => Base::U64,
        "float" => Base::F32,
        "double" => Base::F64,
        "HRESULT" => Base::Hresult,
        "GUID" => Base::Guid,
        _ => Base::I32,
    })
}
