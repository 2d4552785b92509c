//! Bit fields: each run of bit fields is an integer of the model.

use super::{Resolver, attributes};
use crate::model::{BitField, EnumId, Type};
use crate::syntax::ast::{Declarator, Expr, Member, TypeKind, TypeSpec};
use crate::text::diagnostic::Diagnostic;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Members with integers in the places of their bit fields.
#[derive(Default)]
pub(super) struct Units {
    pub(super) members: Vec<Member>,
    /// The bit fields of each integer, by the integer's name.
    pub(super) parts: HashMap<String, Vec<BitField>>,
}

impl Resolver<'_> {
    /// Returns the members with integers called `bits`, `bits2` and so on in the places of bit
    /// fields. The integers hold the bit fields in the layout of Windows' compilers. Consecutive
    /// bit fields whose types have the same size share an integer of this size as long as they fit.
    /// The first of these bit fields is in the lowest bits. `None` if there are no bit fields.
    pub(super) fn units(&mut self, members: &[Member]) -> Option<Units> {
        if members.iter().all(|member| member.bits.is_none()) {
            return None;
        }
        let names = members.iter().filter_map(|member| Some(member.declarator.as_ref()?.name.name.clone()));
        let mut taken: HashSet<String> = names.collect();
        let mut units = Units::default();
        // The size of the last integer's type and the number of its bits that are not used.
        let (mut size, mut room) = (0, 0);
        for member in members {
            let (Some(width), Some(declarator)) = (&member.bits, &member.declarator) else {
                (size, room) = (0, 0);
                units.members.push(member.clone());
                continue;
            };
            self.check_attributes(&member.attributes, &attributes::MEMBER);
            let Some((ty, own, width)) = self.width(member, declarator, width) else { continue };
            if self.has_range(&member.attributes, &member.spec) {
                // `range_of` is called only to report wrong limits.
                self.range_of(&member.attributes, &member.spec, &ty);
                self.not_yet("a structure with a bit field that [range] limits");
            }
            if width == 0 {
                (size, room) = (0, 0);
                continue;
            }
            if own != size || width > room {
                (size, room) = (own, own * 8);
                let mut numbered = std::iter::once("bits".to_owned()).chain((2..).map(|at| format!("bits{at}")));
                let name = numbered.find(|name| taken.insert(name.clone())).unwrap_or_default();
                // All bits travel, whatever the types of the bit fields.
                let kind = TypeKind::Base(match own {
                    1 => "unsigned small",
                    2 => "unsigned short",
                    4 => "unsigned long",
                    _ => "unsigned hyper",
                });
                let spec = TypeSpec { kind, ..member.spec.clone() };
                let mut unit = Member { attributes: Rc::default(), bits: None, spec, ..member.clone() };
                unit.declarator.iter_mut().for_each(|one| one.name.name.clone_from(&name));
                units.members.push(unit);
            }
            room -= width;
            if let Some(unit) = units.members.last().and_then(|unit| unit.declarator.as_ref()) {
                let part = BitField { name: declarator.name.name.clone(), ty, width };
                units.parts.entry(unit.name.name.clone()).or_default().push(part);
            }
        }
        Some(units)
    }

    /// Returns a bit field's type, the size of the type in bytes, and the number of bits. `None`
    /// after an error.
    fn width(&mut self, member: &Member, declarator: &Declarator, width: &Expr) -> Option<(Type, u32, u32)> {
        // `spec_type` reports a type that is not known.
        let written = self.spec_type(&member.spec, None)?;
        let scalar = self.scalar_type(&member.spec, declarator);
        let ty = match (written, scalar) {
            (written @ Type::Enum(_), Some(Type::Base(_))) => written,
            (written, scalar) => scalar.unwrap_or(written),
        };
        let size = match &ty {
            Type::Base(base) if base.is_integer() => base.size(),
            Type::Enum(_) => 4,
            _ => 0,
        };
        let bits = self.evaluate_int(width)?;
        let least = i64::from(!declarator.name.name.is_empty());
        if (least..=i64::from(size * 8)).contains(&bits) && size > 0 {
            if let (Type::Enum(id), false) = (&ty, declarator.name.name.is_empty()) {
                self.check_values(*id, bits as u32, width);
            }
            return Some((ty, size, bits as u32));
        }
        let error = Diagnostic::error(
            "bad-bit-field",
            width.span,
            "a bit field has an integer or enumeration type, and at most as many bits as the type",
        );
        self.report(
            error.help("write an integer type or an enumeration, and a number of bits from 1 to that of the type"),
        );
        None
    }

    /// Warns if a bit field of this width is too narrow for some values of its enumeration, which
    /// would then be read as other values.
    fn check_values(&mut self, id: EnumId, bits: u32, width: &Expr) {
        let found = &self.model.enums[id.0];
        let is_signed = found.is_signed();
        let needed = |value: i32| match is_signed {
            true => 33 - (value ^ (value >> 31)).leading_zeros(),
            false => 32 - value.leading_zeros(),
        };
        let widest = found.values.iter().map(|(name, value)| (needed(*value), name, value)).max_by_key(|one| one.0);
        let Some((most, name, value)) = widest.filter(|(most, ..)| *most > bits) else { return };
        let why = if is_signed { " because the enumeration has negative values" } else { "" };
        let text = format!("`{name} = {value}` of `{}` needs {most} bits{why}; this bit field has {bits}", found.name);
        let warning = Diagnostic::warning("narrow-bit-field", width.span, text);
        self.report(warning.help(format!("give the bit field {most} bits, or an integer type")));
    }
}
