//! Sizes of types, and offsets of members.

use super::base::Base;
use super::declarations::{Field, Struct, Union};
use super::measure::{Measure, NOTHING, round_up};
use super::tables::Model;
use super::types::{StructId, Type, UnionId};

impl Model {
    /// Returns the size and alignment of a type in memory and in FLAT. Both are the same as in C on
    /// a 64-bit machine.
    pub fn layout(&self, ty: &Type) -> (u32, u32) {
        // Resolution refuses types whose size overflows.
        let measure = self.measure(ty).unwrap_or_default();
        (measure.size, measure.align.max(1))
    }

    /// Returns the measure of a type. `None` if the type's size overflows.
    pub fn measure(&self, ty: &Type) -> Option<Measure> {
        Some(match ty {
            Type::Base(base) => {
                Measure { is_any_bits: *base != Base::Boolean, ..Measure::value(base.size(), base.align()) }
            }
            // The weight of an enumeration grows with its values, because the check compares a
            // value with all of them.
            Type::Enum(id) => {
                let weight = 1 + self.enums[id.0].values.len() as u32 / 8;
                Measure { is_any_bits: false, weight, ..Measure::value(4, 4) }
            }
            Type::Pointer(_) | Type::Interface(_) => {
                Measure { is_plain: false, is_any_bits: false, ..Measure::value(8, 8) }
            }
            Type::Void => Measure { is_plain: false, is_any_bits: false, ..Measure::value(0, 1) },
            Type::Fixed(element, count) => {
                let element = self.measure(element)?;
                Measure { size: element.size.checked_mul(*count)?, ..element }
            }
            Type::Struct(id) => self.structs[id.0].measure,
            Type::Union(id) => self.unions[id.0].measure,
        })
    }

    /// Returns the size and alignment of a member. As a member, a structure that ends in a
    /// conformant array has one element in this array.
    pub(crate) fn layout_inside(&self, ty: &Type) -> (u32, u32) {
        let measure = self.measure_inside(ty).unwrap_or_default();
        (measure.size, measure.align.max(1))
    }

    /// Returns the measure of a member. As a member, a structure that ends in a conformant array
    /// has one element in this array, as in C's headers. `None` if the size overflows.
    fn measure_inside(&self, ty: &Type) -> Option<Measure> {
        let own = self.measure(ty)?;
        let Type::Struct(id) = ty else { return Some(own) };
        let found = &self.structs[id.0];
        let Some((element, ..)) = &found.conformant else { return Some(own) };
        let last = self.offsets(found).0.last().copied().unwrap_or_default();
        let end = last.checked_add(self.measure(element)?.size)?;
        Some(Measure { size: end.checked_next_multiple_of(own.align.max(1))?, ..own })
    }

    /// Computes the measure of a structure from its members. `None` on overflow.
    pub(crate) fn measure_struct(&self, id: StructId) -> Option<Measure> {
        let found = &self.structs[id.0];
        let bound = |field: &Field| field.range.is_some() || field.switch.is_some();
        let mut whole = NOTHING;
        for field in &found.fields {
            let own = self.measure_inside(&field.ty)?;
            whole = whole.followed_by(Measure { is_plain: own.is_plain && !bound(field), ..own })?;
        }
        if let Some((element, ..)) = &found.conformant {
            let element = self.measure(element)?;
            whole = whole.followed_by(Measure { size: 0, is_plain: false, ..element })?;
        }
        let whole = whole.closed()?;
        Some(Measure { is_any_bits: whole.is_any_bits && whole.is_plain, ..whole })
    }

    /// Computes the measure of a union from its arms. `None` on overflow.
    pub(crate) fn measure_union(&self, id: UnionId) -> Option<Measure> {
        let found = &self.unions[id.0];
        let mut arms = NOTHING;
        for field in all_arms(found) {
            arms = arms.beside(self.measure_inside(&field.ty)?)?;
        }
        let mut whole = Measure { is_plain: false, is_any_bits: false, ..arms.closed()? };
        if found.encapsulated.is_some() {
            let tag = self.measure(&found.tag)?;
            whole = tag.followed_by(whole)?;
            whole.size = whole.size.checked_next_multiple_of(whole.align)?;
        }
        Some(whole)
    }

    /// Returns the size and alignment of a union's arms, without a discriminant.
    pub fn union_body(&self, union: &Union) -> (u32, u32) {
        let (size, align) = all_arms(union).fold((0, 1), |(size, align), field| {
            let (own, own_align) = self.layout_inside(&field.ty);
            (size.max(own), align.max(own_align))
        });
        (round_up(size, align), align)
    }

    /// Returns the members' offsets, and the size and alignment of a structure. If there is a
    /// conformant array, the last offset is the array's.
    pub fn offsets(&self, of: &Struct) -> (Vec<u32>, u32, u32) {
        let (mut offsets, mut at, mut most) = (Vec::new(), 0_u32, 1);
        let conformant = of.conformant.iter().map(|(element, ..)| (0, self.layout(element).1));
        for (size, align) in of.fields.iter().map(|field| self.layout_inside(&field.ty)).chain(conformant) {
            at = round_up(at, align);
            offsets.push(at);
            at = at.saturating_add(size);
            most = most.max(align);
        }
        (offsets, round_up(at, most), most)
    }
}

/// Returns the contents of a union's arms, the default arm's content last.
pub(crate) fn all_arms(union: &Union) -> impl Iterator<Item = &Field> {
    union.arms.iter().filter_map(|arm| arm.field.as_ref()).chain(union.default.iter().flatten())
}
