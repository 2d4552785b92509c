//! Expressions for the numbers of array elements, by the values of other parameters.

use crate::model::{Arith, Base};
use crate::text::condition::{apply, decided};

/// Evaluates an expression. `None` if an operand is unknown, and for a division by zero and an
/// overflow.
pub(super) fn value(expression: &Arith, load: &dyn Fn(usize, Base) -> Option<i64>) -> Option<i64> {
    let of = |inner: &Arith| value(inner, load);
    match expression {
        Arith::Const(number) => Some(*number),
        Arith::Operand(operand) => load(operand.index, operand.base),
        Arith::Unary("-", inner) => of(inner)?.checked_neg(),
        Arith::Unary("~", inner) => Some(!of(inner)?),
        Arith::Unary(_, inner) => Some(i64::from(of(inner)? == 0)),
        Arith::Ternary(condition, yes, no) => of(if of(condition)? != 0 { yes } else { no }),
        Arith::Binary(operator, left, right) => binary(operator, of(left)?, || of(right)),
    }
}

fn binary(operator: &str, left: i64, right: impl FnOnce() -> Option<i64>) -> Option<i64> {
    decided(operator, left).or_else(|| match operator {
        // As in generated code, a shift may drop the highest bits.
        "<<" => left.checked_shl(u32::try_from(right()?).ok()?),
        operator => apply(operator, left, right()?),
    })
}
