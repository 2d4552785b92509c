//! The simplest arguments that an interface permits: zeros, empty arrays and empty strings where
//! possible.

use crate::model::{Arith, Base, Enum, Field, Model, PointerClass, Type};
use crate::plan::MethodPlan;
use crate::text::condition::apply;

/// The maximum number of elements that a sample spells out for an array that must not be empty.
const ELEMENTS_MAX: i64 = 64;

/// The reason why an argument has no sample.
pub(super) type Reason = &'static str;

pub(super) const COUNT: Reason = "an array that may not be empty";
pub(super) const HANDLE: Reason = "a context handle, which another method returns";
pub(super) const POINTERS: Reason = "a structure with pointers, or a union, that may not be left out";
pub(super) const SHARED: Reason = "an array in shared memory";
pub(super) const ELEMENTS: Reason = "made of values that may not be 0";

/// Returns the permitted number nearest to 0.
pub(super) fn integer(base: Base, range: Option<(i64, i64)>) -> i64 {
    let (low, high) = range.unwrap_or((0, 0));
    if low <= 0 && (high >= 0 || base == Base::U64) {
        0
    } else if low > 0 {
        low
    } else {
        high
    }
}

/// Returns the enumeration's value that is 0, or else its first value. `None` without values.
pub(super) fn enumerator(found: &Enum) -> Option<&(String, i32)> {
    found.values.iter().find(|(_, number)| *number == 0).or_else(|| found.values.first())
}

/// Returns the number of elements that an array has if every argument is the sample of its type.
pub(super) fn count(plan: &MethodPlan<'_>, size: &Arith) -> Result<i64, Reason> {
    value(plan, size).filter(|count| (0..=ELEMENTS_MAX).contains(count)).ok_or(COUNT)
}

fn value(plan: &MethodPlan<'_>, size: &Arith) -> Option<i64> {
    let of = |operand: &Arith| value(plan, operand);
    Some(match size {
        Arith::Const(number) => *number,
        Arith::Operand(operand) => {
            let param = &plan.params[operand.index];
            param.param.direction.is_in().then(|| integer(operand.base, param.param.range))?
        }
        Arith::Unary("-", a) => of(a)?.checked_neg()?,
        Arith::Unary("~", a) => !of(a)?,
        Arith::Unary(_, a) => i64::from(of(a)? == 0),
        Arith::Binary(operator, a, b) => apply(operator, of(a)?, of(b)?)?,
        Arith::Ternary(which, a, b) => of(if of(which)? != 0 { a } else { b })?,
    })
}

/// Whether a type permits the value whose bytes are all zero.
pub(super) fn may_be_zero(model: &Model, ty: &Type, range: Option<(i64, i64)>) -> bool {
    let field = |field: &Field| field.switch.is_none() && may_be_zero(model, &field.ty, field.range);
    match ty {
        Type::Base(base) => integer(*base, range) == 0,
        Type::Enum(id) => {
            let found = &model.enums[id.0];
            found.open || found.values.iter().any(|(_, number)| *number == 0)
        }
        Type::Struct(id) => {
            let found = &model.structs[id.0];
            found.conformant.is_none() && found.fields.iter().all(field)
        }
        Type::Fixed(element, _) => may_be_zero(model, element, range),
        Type::Pointer(pointer) => pointer.class != PointerClass::Ref,
        Type::Interface(_) => true,
        Type::Union(_) | Type::Void => false,
    }
}
