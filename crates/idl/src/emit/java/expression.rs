//! Expressions over parameters, in checked 64-bit arithmetic.

use super::method::Method;
use crate::model::{Arith, Base, Operand, Type};
use crate::plan::Passing;

/// Where an expression is evaluated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Before the method runs: by what was given.
    Given,
    /// Afterwards: by what came back, where something did.
    Came,
}

/// How many elements an expression says, as an argument of the runtime's `count` and `used`: a number, or a function where it may
/// have none.
pub(super) fn count(method: &Method<'_>, size: &Arith, side: Side) -> String {
    match size {
        Arith::Const(value) => value.to_string(),
        // Of the upper half or negative: too many either way.
        Arith::Operand(one) if one.base == Base::U64 => method.operand(one, side),
        Arith::Operand(one) => widened(method, one, side),
        other => format!("() -> {}", arith(method, other, side)),
    }
}

/// An operand as a number that is not less than it: what is unsigned is so in Java, too.
pub(super) fn widened(method: &Method<'_>, operand: &Operand, side: Side) -> String {
    let param = &method.plan.params[operand.index];
    let text = method.operand(operand, side);
    if method.elided_by(operand.index).is_some() && method.is_proxy {
        return text;
    }
    match &param.passing {
        Passing::Value(Type::Enum(_)) | Passing::Place(Type::Enum(_)) => format!("{text}.value()"),
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
    let of = |value: &Arith| arith(method, value, side);
    match value {
        Arith::Const(value) => format!("{value}L"),
        Arith::Operand(one) => {
            let text = widened(method, one, side);
            if text.contains("toUnsignedLong") || text.contains("unsigned(") { text } else { format!("(long) {text}") }
        }
        Arith::Unary("-", inner) => format!("Math.negateExact({})", of(inner)),
        Arith::Unary("~", inner) => format!("~({})", of(inner)),
        Arith::Unary(_, inner) => format!("(({}) == 0 ? 1L : 0L)", of(inner)),
        Arith::Ternary(condition, yes, no) => format!("(({}) != 0 ? {} : {})", of(condition), of(yes), of(no)),
        Arith::Binary(operator, left, right) => {
            let (left, right) = (of(left), of(right));
            let function = match operator.as_str() {
                "+" => "Math.addExact",
                "-" => "Math.subtractExact",
                "*" => "Math.multiplyExact",
                "/" => "Math.divideExact",
                "%" => "Frames.remainder",
                "<<" => "Frames.shiftLeft",
                ">>" => "Frames.shiftRight",
                "&&" | "||" => return format!("(({left}) != 0 {operator} ({right}) != 0 ? 1L : 0L)"),
                "&" | "|" | "^" => return format!("(({left}) {operator} ({right}))"),
                comparison => return format!("(({left}) {comparison} ({right}) ? 1L : 0L)"),
            };
            format!("{function}({left}, {right})")
        }
    }
}
