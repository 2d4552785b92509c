//! Expressions over parameters and members, in checked 64-bit arithmetic.

use super::names::binding;
use crate::model::{Arith, Operand, Param, Type};
use crate::plan::{MethodPlan, Passing};

/// The code that evaluates an expression. The operands' form depends on this code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The caller's code, where `[in, out]` parameters are references.
    Caller,
    /// The vtable's function, where pointer parameters are pointers.
    Abi,
    /// The stub, where all parameters are local values.
    Local,
}

/// Returns a number of elements as an expression of type `Option<usize>`.
pub(super) fn size_text(plan: &MethodPlan<'_>, size: &Arith, side: Side) -> String {
    match size {
        Arith::Operand(operand) => {
            format!("obvia::rt::elements({})", operand_text(plan, operand.index, side))
        }
        Arith::Const(value) => format!("obvia::rt::elements({value}_i64)"),
        other => format!(
            "obvia::rt::elements_of((|| Some({}))())",
            arith_text(other, &|operand| operand_text(plan, operand.index, side))
        ),
    }
}

/// Returns a number of elements as an expression of type `usize`, for checks of an upper bound. An
/// invalid number becomes larger than any array.
pub(super) fn claim_text(plan: &MethodPlan<'_>, size: &Arith, side: Side) -> String {
    size_text(plan, size, side).replacen("obvia::rt::elements", "obvia::rt::claimed", 1)
}

/// Returns the expression for a parameter as an integer. `index` is the parameter's index.
pub(super) fn operand_text(plan: &MethodPlan<'_>, index: usize, side: Side) -> String {
    let param = &plan.params[index];
    let name = binding(&param.param.code);
    let name = match (side, &param.passing) {
        (Side::Abi, Passing::RefPointer(_)) => format!("(unsafe {{ *{name} }})"),
        (Side::Caller, Passing::RefPointer(_)) if param.param.direction.is_in() => format!("(*{name})"),
        _ => name,
    };
    let is_enum = matches!(&param.passing, Passing::Value(Type::Enum(_)) | Passing::RefPointer(Type::Enum(_)));
    if is_enum { format!("{name}.0") } else { name }
}

/// Returns the expression that converts a value of the discriminant's type to the common type of
/// discriminants.
pub(super) fn discriminant(ty: &Type, value: &str) -> String {
    let number = if matches!(ty, Type::Enum(_)) { ".0" } else { "" };
    format!("obvia::rt::discriminant({value}{number})")
}

/// Returns the expression for the discriminant of a parameter that is a union, if another parameter
/// holds it.
pub(super) fn switch_text(plan: &MethodPlan<'_>, param: &Param, side: Side) -> Option<String> {
    let operand = param.switch.as_ref()?.plain()?;
    Some(format!("obvia::rt::discriminant({})", operand_text(plan, operand.index, side)))
}

/// Returns an expression in checked 64-bit arithmetic, to be used in a closure that returns an
/// `Option`.
pub(super) fn arith_text(value: &Arith, operand: &dyn Fn(&Operand) -> String) -> String {
    let of = |value: &Arith| arith_text(value, operand);
    match value {
        Arith::Const(value) => format!("{value}_i64"),
        Arith::Operand(one) => format!("i64::try_from({}).ok()?", operand(one)),
        Arith::Unary("-", inner) => format!("({}).checked_neg()?", of(inner)),
        Arith::Unary("~", inner) => format!("!({})", of(inner)),
        Arith::Unary(_, inner) => format!("i64::from(({}) == 0)", of(inner)),
        Arith::Ternary(condition, yes, no) => {
            format!("(if ({}) != 0 {{ {} }} else {{ {} }})", of(condition), of(yes), of(no))
        }
        Arith::Binary(operator, left, right) => {
            let (left, right) = (of(left), of(right));
            match operator.as_str() {
                "+" => format!("({left}).checked_add({right})?"),
                "-" => format!("({left}).checked_sub({right})?"),
                "*" => format!("({left}).checked_mul({right})?"),
                "/" => format!("({left}).checked_div({right})?"),
                "%" => format!("({left}).checked_rem({right})?"),
                "<<" => format!("({left}).checked_shl(u32::try_from({right}).ok()?)?"),
                ">>" => format!("({left}).checked_shr(u32::try_from({right}).ok()?)?"),
                "&&" => format!("i64::from(({left}) != 0 && ({right}) != 0)"),
                "||" => format!("i64::from(({left}) != 0 || ({right}) != 0)"),
                "&" | "|" | "^" => format!("(({left}) {operator} ({right}))"),
                comparison => format!("i64::from(({left}) {comparison} ({right}))"),
            }
        }
    }
}
