//! Expressions over parameters, in checked 64-bit arithmetic.

use super::names::{beside_parameters, binding, local};
use crate::model::{Arith, Base, Operand, Type};
use crate::plan::{MethodPlan, Passing};
use crate::text::writer::Writer;

/// The function that evaluates an expression, and the time at which it does so.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The proxy before the call.
    BeforeCall,
    /// The proxy after it received the reply.
    AfterCall,
    /// The stub before the method, where the arguments are local values.
    Stub,
    /// The stub after the method, which may have changed `[in, out]` parameters.
    AfterMethod,
    /// The stub after a method that allocates results: all results are local values.
    AfterLateMethod,
}

/// Declares a count, a `uint64_t`. A negative or undefined count becomes a number that is too large
/// for any array.
pub(super) fn count(out: &mut Writer, plan: &MethodPlan<'_>, name: &str, size: &Arith, side: Side) {
    match size {
        Arith::Const(_) | Arith::Operand(_) => {
            let text = match size {
                Arith::Operand(one) => value(plan, one, side),
                other => arith(plan, other, side, ""),
            };
            out.line(format!("const uint64_t {name} = (uint64_t){text};"));
        }
        expression => {
            let wrong = beside_parameters(plan, format!("{name}_wrong"));
            out.line(format!("int {wrong} = 0;"));
            let text = arith(plan, expression, side, &wrong);
            out.line(format!("const uint64_t {name} = obvia_count({text}, &{wrong});"));
        }
    }
}

/// Returns the expression for an operand, an integer of the operand's own type.
pub(super) fn value(plan: &MethodPlan<'_>, operand: &Operand, side: Side) -> String {
    let param = &plan.params[operand.index];
    let name = binding(&param.param.code);
    let is_pointer = matches!(param.passing, Passing::RefPointer(_));
    let text = match side {
        Side::BeforeCall if is_pointer => format!("*{name}"),
        Side::AfterCall if is_pointer && param.param.direction.is_out() => local(plan, param, "value"),
        Side::AfterCall if is_pointer => format!("*{name}"),
        Side::Stub if !param.param.direction.is_in() => format!("results->{name}"),
        Side::AfterMethod if param.param.direction.is_out() => format!("results->{name}"),
        _ => name,
    };
    match &param.passing {
        // IDL's characters are unsigned.
        Passing::Value(Type::Base(Base::Char)) | Passing::RefPointer(Type::Base(Base::Char)) => {
            format!("(uint8_t){text}")
        }
        // The C type of an enumeration may be unsigned.
        Passing::Value(Type::Enum(_)) | Passing::RefPointer(Type::Enum(_)) => format!("(int32_t){text}"),
        _ => text,
    }
}

fn arith(plan: &MethodPlan<'_>, value_of: &Arith, side: Side, wrong: &str) -> String {
    let of = |value: &Arith| arith(plan, value, side, wrong);
    match value_of {
        // In C, a minus sign is not part of a literal, and the digits of the least value are too
        // large for a literal.
        Arith::Const(i64::MIN) => "INT64_MIN".to_owned(),
        Arith::Const(value) => format!("INT64_C({value})"),
        Arith::Operand(one) if one.base == Base::U64 => format!("obvia_signed({}, &{wrong})", value(plan, one, side)),
        Arith::Operand(one) => format!("(int64_t){}", value(plan, one, side)),
        Arith::Unary("-", inner) => format!("obvia_subtract(0, {}, &{wrong})", of(inner)),
        Arith::Unary(operator, inner) => format!("(int64_t){operator}({})", of(inner)),
        Arith::Ternary(condition, yes, no) => format!("({} != 0 ? {} : {})", of(condition), of(yes), of(no)),
        Arith::Binary(operator, left, right) => {
            let (left, right) = (of(left), of(right));
            let function = match operator.as_str() {
                "+" => "obvia_add",
                "-" => "obvia_subtract",
                "*" => "obvia_multiply",
                "/" => "obvia_divide",
                "%" => "obvia_remainder",
                "<<" => "obvia_shift_left",
                ">>" => "obvia_shift_right",
                // The remaining operators have a value for all operands, so they need no checking
                // function.
                operator => return format!("(int64_t)({left} {operator} {right})"),
            };
            format!("{function}({left}, {right}, &{wrong})")
        }
    }
}
