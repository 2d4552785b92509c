//! The records of a type's functions and variables.

use super::{Use, Writer, Written, decoded, pair, put, short};
use crate::model::typelib::layout::{self, NONE};
use crate::model::typelib::{Function, Help, Kind, Place, TypeInfo, Variable, flags};

impl Writer {
    pub(super) fn decoded_members(&self, ty: &TypeInfo) -> u32 {
        if ty.functions.is_empty() && ty.variables.is_empty() {
            return NONE;
        }
        let of_function = |function: &Function| {
            let params = function.params.len() as u32;
            let defaults = function.params.iter().any(|param| param.default.is_some());
            0x38 + params * if defaults { 0x14 } else { 0x10 }
        };
        ty.functions.iter().map(of_function).sum::<u32>() + ty.variables.len() as u32 * 0x2c
    }

    /// Writes the records of a type's functions and variables one after the other, then the
    /// numbers, names and places of these records.
    pub(super) fn members_of(&mut self, here: u32, ty: &TypeInfo) -> Written {
        let (mut records, mut numbers, mut names, mut places) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let value = if ty.kind == Kind::Enum { Use::Value } else { Use::Variable };
        let used = |variable: &Variable| if variable.place == Place::Property { Use::Function } else { value };
        for function in &ty.functions {
            names.push(self.name(&function.name, Use::Function, here)?);
        }
        for variable in &ty.variables {
            names.push(self.name(&variable.name, used(variable), here)?);
        }
        for (at, function) in ty.functions.iter().enumerate() {
            places.push(records.len() as u32);
            numbers.push(function.id.cast_unsigned());
            self.function(&ty.functions, at, &mut records)?;
        }
        for (at, variable) in ty.variables.iter().enumerate() {
            places.push(records.len() as u32);
            numbers.push(variable.id.cast_unsigned());
            let index = ty.functions.len() * usize::from(ty.kind == Kind::Dispatch) + at;
            self.variable(variable, short(index, "members", &ty.name)?, &mut records)?;
        }
        put(&mut self.members, &[records.len() as u32]);
        self.members.extend(records);
        for list in [numbers, names, places] {
            put(&mut self.members, &list);
        }
        Ok(())
    }

    fn function(&mut self, all: &[Function], at: usize, to: &mut Vec<u8>) -> Written {
        let function = &all[at];
        let returns = self.description(&function.returns)?;
        let extra = self.help(&function.help)?;
        let has_defaults = function.params.iter().any(|param| param.default.is_some());
        let (mut defaults, mut params) = (Vec::new(), Vec::new());
        let mut room = 52 + decoded(&function.returns);
        for param in &function.params {
            let name = param.name.as_ref().map_or(Ok(NONE), |name| self.name(name, Use::Other, NONE))?;
            params.extend([self.description(&param.ty)?, name, param.flags.into()]);
            room += 16 + decoded(&param.ty) + if param.default.is_some() { 24 } else { 0 };
            if has_defaults {
                defaults.push(param.default.as_ref().map_or(Ok(NONE), |value| self.value(value))?);
            }
        }
        let special = function.params.iter().filter(|param| param.flags & (flags::RETVAL | flags::LCID) != 0).count();
        let bits = if has_defaults { layout::HAS_DEFAULTS } else { 0 }
            | [0, layout::HAS_RESULT, layout::HAS_BOTH][special.min(2)];
        // The methods with the same MEMBERID, which are the accessors of a property, form a ring.
        let same: Vec<usize> = (0..all.len()).filter(|&other| all[other].id == function.id).collect();
        let own = same.iter().position(|&other| other == at).unwrap_or(0);
        let next = short(same[(own + 1) % same.len()], "methods", &function.name)?;
        let kinds = u32::from(function.kind & 7)
            | u32::from(function.invoke & 15) << 3
            | u32::from(function.convention & 15) << 8
            | bits;
        let size = layout::FUNCTION + 4 * (extra.len() + defaults.len() + params.len());
        let (size, index) = (short(size, "parameters", &function.name)?, short(at, "methods", &function.name)?);
        let room = short(room, "parameters", &function.name)?;
        let count = short(function.params.len(), "parameters", &function.name)?;
        let words = [
            pair(size, index),
            returns,
            function.flags,
            pair(function.slot, room),
            kinds | pair(0, next),
            pair(count, function.optional.cast_unsigned()),
        ];
        [&words[..], &extra, &defaults, &params].into_iter().for_each(|part| put(to, part));
        Ok(())
    }

    /// Returns the optional parts at the end of a record, without trailing missing ones.
    pub(super) fn help(&mut self, help: &Help) -> Written<Vec<u32>> {
        let text = self.text(help.text.as_deref())?;
        let mut words = vec![help.context, text];
        words.truncate(if text != NONE { 2 } else { usize::from(help.context != 0) });
        Ok(words)
    }

    fn variable(&mut self, variable: &Variable, index: u16, to: &mut Vec<u8>) -> Written {
        let ty = self.description(&variable.ty)?;
        let extra = self.help(&variable.help)?;
        let (kind, at, more) = match &variable.place {
            Place::Member(offset) => (0, *offset, 0),
            Place::Static(offset) => (1, *offset, 0),
            Place::Const(value) => (2, self.value(value)?, 16),
            Place::Property => (3, 0, 0),
        };
        let size = (layout::VARIABLE + 4 * extra.len()) as u16;
        let room = short(36 + decoded(&variable.ty) + more, "dimensions", &variable.name)?;
        put(to, &[pair(size, index), ty, variable.flags, pair(kind, room), at]);
        put(to, &extra);
        Ok(())
    }
}
