//! The limits of integers: [range] and [max_value].

use super::{Resolver, find, has};
use crate::model::{Base, Direction, Extent, PointerClass, Type};
use crate::syntax::ast::{Attribute, TypeKind, TypeSpec};
use crate::text::diagnostic::Diagnostic;

impl Resolver<'_> {
    /// Whether a declaration, or the typedef that it names, has the attribute [range].
    pub(super) fn has_range(&self, attributes: &[Attribute], spec: &TypeSpec) -> bool {
        has(attributes, "range") || matches!(&spec.kind, TypeKind::Named(name) if self.ranges.contains_key(name))
    }

    /// Returns the limits that [range] sets for the values of a declaration, or for the values to
    /// which the declaration leads. The limits are those of the attribute, or else those of the
    /// typedef that the declaration names. `None` without limits, and after an error.
    pub(super) fn range_of(&mut self, attributes: &[Attribute], spec: &TypeSpec, ty: &Type) -> Option<(i64, i64)> {
        if let Some(attribute) = find(attributes, "range") {
            return self.limits_of(attribute, ty);
        }
        let TypeKind::Named(name) = &spec.kind else { return None };
        // A pointer to a function, which the model represents as a pointer to void, leads to no
        // values.
        self.ranges.get(name).copied().filter(|_| *self.model.innermost(ty) != Type::Void)
    }

    /// Returns the limits that [range] gives to a member. `None` without this attribute, for other
    /// members than integers, and after an error.
    pub(super) fn member_range(&mut self, attributes: &[Attribute], spec: &TypeSpec, ty: &Type) -> Option<(i64, i64)> {
        self.range_of(attributes, spec, ty).filter(|_| matches!(ty, Type::Base(_)))
    }

    /// Returns the limits that [range] sets for the values of a type, or for the values to which
    /// the type leads. The limits are within those of the integer type. `None` after an error.
    fn limits_of(&mut self, attribute: &Attribute, ty: &Type) -> Option<(i64, i64)> {
        let [Some(least), Some(most)] = attribute.arguments.as_slice() else {
            let error =
                Diagnostic::error("bad-range", attribute.span, "[range] needs the least and the greatest value");
            self.report(error.help("write [range(0, 100)]"));
            return None;
        };
        let (least, most) = (self.evaluate_int(least)?, self.evaluate_int(most)?);
        let own = match self.model.innermost(ty) {
            Type::Enum(_) => Base::I32.range(),
            Type::Base(base) if base.is_number() => base.range(),
            _ => None,
        };
        let text = match own {
            None => "[range] is not on an integer",
            Some(_) if least > most => "the least value is greater than the greatest",
            Some((own_least, own_most)) => {
                let within = |value: i64| i128::from(value).clamp(own_least, own_most) as i64;
                if i128::from(most) >= own_least && i128::from(least) <= own_most {
                    return Some((within(least), within(most)));
                }
                "the type has no value within these limits"
            }
        };
        let error = Diagnostic::error("bad-range", attribute.span, text);
        self.report(error.help("write [range(least, greatest)] on an integer"));
        None
    }

    /// Returns the least and greatest value that a parameter's attributes allow. `None` without
    /// limits, and after an error. For a count of elements, `[max_value(n)]` means `[range(0, n)]`.
    pub(super) fn limits(
        &mut self,
        attributes: &[Attribute],
        spec: &TypeSpec,
        direction: Direction,
        ty: &Type,
    ) -> Option<(i64, i64)> {
        let range = self.range_of(attributes, spec, ty).filter(|_| unchecked_range(ty).is_none());
        let Some(attribute) = find(attributes, "max_value") else {
            return range;
        };
        let own_most = match ty {
            Type::Base(base) if base.is_number() && direction == Direction::In => base.range().map(|(_, most)| most),
            _ => None,
        };
        let is_limited = self.has_range(attributes, spec);
        let most = match (attribute.arguments.as_slice(), own_most) {
            ([Some(most)], Some(own_most)) if !is_limited => {
                self.evaluate_int(most).map(|most| i128::from(most).min(own_most) as i64)?
            }
            _ if is_limited => {
                let error = Diagnostic::error("bad-max-value", attribute.span, "[range] limits this parameter already");
                self.report(error.help("remove one of them"));
                return range;
            }
            _ => -1,
        };
        if most < 0 {
            let text = "[max_value] needs the greatest value of an [in] integer";
            let error = Diagnostic::error("bad-max-value", attribute.span, text);
            self.report(error.help("write [max_value(1024)] on the parameter that counts elements"));
            return None;
        }
        Some((0, most))
    }
}

/// Returns words for a parameter for which back ends do not check [range], such as `an array`.
/// `None` for parameters whose [range] is checked: an integer, and a pointer to one integer that is
/// never null.
pub(super) fn unchecked_range(ty: &Type) -> Option<&'static str> {
    match ty {
        Type::Base(_) => None,
        Type::Enum(_) => Some("an enumeration"),
        Type::Pointer(pointer) if pointer.extent == Extent::Text => Some("a string"),
        Type::Pointer(pointer) if matches!(pointer.extent, Extent::Counted { .. }) => Some("an array"),
        Type::Pointer(pointer) if pointer.class != PointerClass::Ref => Some("a pointer that may be null"),
        Type::Pointer(pointer) if matches!(pointer.to, Type::Pointer(_)) => Some("a pointer to a pointer"),
        Type::Pointer(pointer) => unchecked_range(&pointer.to),
        Type::Fixed(..) => Some("an array"),
        _ => Some("a value"),
    }
}
