//! Expressions for the numbers of array elements, by the values of other parameters.

use crate::model::{Arith, Base};

/// Evaluates an expression; `None` with an unknown operand, a division by zero, or an overflow.
pub(super) fn value(expression: &Arith, load: &dyn Fn(usize, Base) -> Option<i64>) -> Option<i64> {
    let of = |inner: &Arith| value(inner, load);
    match expression {
        Arith::Const(number) => Some(*number),
        Arith::Operand(operand) => load(operand.index, operand.base),
        Arith::Unary("-", inner) => of(inner)?.checked_neg(),
        Arith::Unary("~", inner) => Some(!of(inner)?),
        Arith::Unary(_, inner) => Some(i64::from(of(inner)? == 0)),
        Arith::Ternary(condition, yes, no) => of(if of(condition)? != 0 { yes } else { no }),
        Arith::Binary(operator, left, right) => binary(operator, of(left)?, of(right)?),
    }
}

fn binary(operator: &str, left: i64, right: i64) -> Option<i64> {
    let shift = || u32::try_from(right).ok();
    match operator {
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" => left.checked_div(right),
        "%" => left.checked_rem(right),
        "<<" => left.checked_shl(shift()?),
        ">>" => left.checked_shr(shift()?),
        "&" => Some(left & right),
        "|" => Some(left | right),
        "^" => Some(left ^ right),
        "&&" => Some(i64::from(left != 0 && right != 0)),
        "||" => Some(i64::from(left != 0 || right != 0)),
        "==" => Some(i64::from(left == right)),
        "!=" => Some(i64::from(left != right)),
        "<" => Some(i64::from(left < right)),
        "<=" => Some(i64::from(left <= right)),
        ">" => Some(i64::from(left > right)),
        ">=" => Some(i64::from(left >= right)),
        _ => None,
    }
}
