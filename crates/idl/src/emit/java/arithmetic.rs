//! Numbers in Java: expressions in checked 64-bit arithmetic, and the discriminants of unions.

use super::values::in_name;
use crate::model::{Arith, Base, Model, Type, UnionId};
use crate::plan::shapes::Expr;

/// Returns the literal for a number: an `int`, or a `long` if the number needs one.
pub(super) fn literal(value: i64) -> String {
    if i32::try_from(value).is_ok() { value.to_string() } else { format!("{value}L") }
}

/// Returns the expression that reads a number from a frame.
pub(super) fn loaded(reader: &str, ty: Base, place: &str) -> String {
    let name = in_name(&Type::Base(ty));
    format!("{reader}.get{name}({place})")
}

/// Returns the expression that widens a number so that unsigned types keep their value.
pub(super) fn widened(ty: Base, text: &str) -> String {
    match ty {
        Base::Boolean => format!("({text} ? 1L : 0L)"),
        Base::Byte | Base::Char | Base::U8 => format!("Byte.toUnsignedLong({text})"),
        Base::U16 => format!("Short.toUnsignedLong({text})"),
        Base::U32 => format!("Integer.toUnsignedLong({text})"),
        Base::U64 => format!("Frames.unsigned({text})"),
        _ => text.to_owned(),
    }
}

/// Returns the statement that checks a value against its range. `plain` is the value in its Java
/// type. An `unsigned hyper`, which may exceed a `long`, is checked in this form. Values of other
/// types are checked as the number that `widened` returns.
pub(super) fn range_check(
    checker: &str,
    ty: Base,
    plain: &str,
    widened: impl FnOnce() -> String,
    (least, most): (i64, i64),
) -> String {
    match ty {
        Base::U64 => format!("{checker}.checkUnsignedRange({plain}, {least}L, {most}L);"),
        _ => format!("{checker}.checkRange({}, {least}L, {most}L);", widened()),
    }
}

/// Returns the type of an expression that is a member or a value outside the structure. For other
/// expressions, returns the signed type of 32 bits.
fn of_type(value: &Expr, outer: &dyn Fn(usize) -> Base) -> Base {
    match value {
        Expr::Member(_, ty) => *ty,
        Expr::Outer(number) => outer(*number),
        _ => Base::I32,
    }
}

/// The `outer` argument for expressions without outside values.
pub(super) const NO_OUTER: &dyn Fn(usize) -> Base = &|_| Base::I32;

/// Returns an expression in checked 64-bit arithmetic. `leaf` returns the text of members and
/// outside values, and `outer` the types of outside values.
pub(super) fn arith(value: &Expr, leaf: &dyn Fn(&Expr) -> String, outer: &dyn Fn(usize) -> Base) -> String {
    let of = |value: &Expr| arith(value, leaf, outer);
    match value {
        Expr::Const(value) => format!("{value}L"),
        Expr::Member(..) | Expr::Outer(_) => {
            let (text, ty) = (leaf(value), of_type(value, outer));
            let of_long = ["toUnsignedLong", "unsigned(", "? 1L : 0L"];
            let is_long = ty == Base::I64 || of_long.iter().any(|known| text.contains(*known));
            if is_long { text } else { format!("(long) {text}") }
        }
        Expr::Unary("-", inner) => format!("Math.negateExact({})", of(inner)),
        Expr::Unary("~", inner) => format!("~({})", of(inner)),
        Expr::Unary(_, inner) => format!("(({}) == 0 ? 1L : 0L)", of(inner)),
        Expr::Choose(parts) => format!("(({}) != 0 ? {} : {})", of(&parts[0]), of(&parts[1]), of(&parts[2])),
        Expr::Binary(operator, left, right) => {
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

/// Whether a discriminant is a `long`, for which Java has no `switch`.
pub(super) const fn is_wide(tag: &Type) -> bool {
    matches!(tag, Type::Base(Base::I64 | Base::U64))
}

/// Returns the condition that a `long` is one of a union's cases. If `is` is false, returns the
/// condition that it is none of the cases.
pub(super) fn is_one_of(which: &str, cases: &[i64], is: bool) -> String {
    let (operator, joint) = if is { ("==", " || ") } else { ("!=", " && ") };
    let compared = |case: &i64| format!("{which} {operator} {case}L");
    cases.iter().map(compared).collect::<Vec<_>>().join(joint)
}

/// Returns the expression for the checked value that selects an arm. The function is for
/// discriminants that [`is_narrow`] refuses: expressions, and members or parameters of 64 bits.
pub(super) fn chosen(tag: &Type, switch: &Expr, leaf: &dyn Fn(&Expr) -> String) -> String {
    let value = if matches!(switch, Expr::Member(..)) { leaf(switch) } else { arith(switch, leaf, NO_OUTER) };
    match tag {
        tag if is_wide(tag) => value,
        _ => format!("(int) {value}"),
    }
}

/// Whether Java's `switch` accepts a union's discriminant: a member or a parameter of at most 32
/// bits.
pub(super) fn is_narrow(tag: &Type, switch: &Arith) -> bool {
    !is_wide(tag) && switch.plain().is_some_and(|operand| !matches!(operand.base, Base::I64 | Base::U64))
}

/// Returns the expression for a discriminant as a number that a `switch` compares with its labels.
pub(super) fn tag_number(tag: &Type, text: &str) -> String {
    match tag {
        Type::Enum(_) => format!("{text}.value()"),
        Type::Base(Base::Boolean) => format!("({text} ? 1 : 0)"),
        Type::Base(Base::Byte | Base::Char | Base::U8) => format!("Byte.toUnsignedInt({text})"),
        Type::Base(Base::U16) => format!("Short.toUnsignedInt({text})"),
        _ => text.to_owned(),
    }
}

/// Returns the expression for the discriminant of a value, widened so that unsigned types keep
/// their value.
pub(super) fn which(model: &Model, id: UnionId, value: &str) -> String {
    match &model.unions[id.0].tag {
        Type::Base(base) => widened(*base, &format!("{value}.which()")),
        _ => format!("{value}.which().value()"),
    }
}

/// Returns the expression for the number of a discriminant in a checked frame.
pub(super) fn loaded_tag(tag: &Type, reader: &str, place: &str) -> String {
    match tag {
        Type::Base(Base::Boolean) => format!("{reader}.getByte({place})"),
        Type::Base(_) => tag_number(tag, &format!("{reader}.get{}({place})", in_name(tag))),
        _ => format!("{reader}.getInt({place})"),
    }
}
