//! Expressions over parameters, in checked 64-bit arithmetic.

use super::arithmetic::{NO_OUTER, arith as arith_text, literal};
use super::method::{Method, Side};
use crate::model::{Arith, Base, Operand, Type};
use crate::plan::Passing;
use crate::plan::shapes::{Expr, expr};

/// Returns a number of elements as an argument of the runtime's `count` and `used`. The argument is
/// a number, or a function if the expression may have no value.
pub(super) fn count(method: &Method<'_>, size: &Arith, side: Side) -> String {
    match size {
        Arith::Const(value) => literal(*value),
        // A value above the signed range is negative in Java, and the runtime refuses negative
        // counts.
        Arith::Operand(one) if one.base == Base::U64 => method.operand(one, side),
        Arith::Operand(one) => widened(method, one, side),
        other => format!("() -> {}", arith(method, other, side)),
    }
}

/// Returns the expression for an operand as a number, widened so that unsigned types keep their
/// value.
pub(super) fn widened(method: &Method<'_>, operand: &Operand, side: Side) -> String {
    let param = &method.plan.params[operand.index];
    let text = method.operand(operand, side);
    if method.is_proxy && method.implied(operand.index).is_some() {
        return text;
    }
    match &param.passing {
        Passing::Value(Type::Enum(_)) | Passing::RefPointer(Type::Enum(_)) => format!("{text}.value()"),
        _ => match operand.base {
            Base::Boolean => format!("({text} ? 1 : 0)"),
            Base::Byte | Base::Char | Base::U8 => format!("Byte.toUnsignedLong({text})"),
            Base::U16 => format!("Short.toUnsignedLong({text})"),
            Base::U32 => format!("Integer.toUnsignedLong({text})"),
            Base::U64 => format!("Frames.unsigned({text})"),
            _ => text,
        },
    }
}

fn arith(method: &Method<'_>, value: &Arith, side: Side) -> String {
    let known = expr(value, &|operand| {
        // The length of an array has 32 bits in Java.
        let is_length = method.is_proxy && method.implied(operand.index).is_some();
        Expr::Member(operand.index as u32, if is_length { Base::I32 } else { operand.base })
    });
    let leaf = |leaf: &Expr| match leaf {
        Expr::Member(index, base) => {
            widened(method, &Operand { index: *index as usize, deref: false, base: *base }, side)
        }
        _ => String::new(),
    };
    arith_text(&known, &leaf, NO_OUTER)
}
