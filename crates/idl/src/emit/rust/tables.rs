//! Tables for structures with pointers, as Rust code: see `obvia_ndr::flat::shape`.

use crate::model::{Base, PointerClass};
use crate::plan::shapes::{Count, Element, ElementType, Expr, Iid, Shape, Tail, What};
use crate::text::writer::Writer;

/// Returns the name that tables have for an integer type.
fn int(base: Base) -> &'static str {
    match base {
        Base::Boolean | Base::Byte | Base::Char | Base::U8 => "U8",
        Base::I8 => "I8",
        Base::I16 => "I16",
        Base::WChar | Base::U16 => "U16",
        Base::U32 => "U32",
        Base::I64 => "I64",
        Base::U64 => "U64",
        _ => "I32",
    }
}

/// Returns the name that tables have for a binary operator.
fn binary(operator: &str) -> &'static str {
    match operator {
        "+" => "Add",
        "-" => "Subtract",
        "*" => "Multiply",
        "/" => "Divide",
        "%" => "Remainder",
        "<<" => "ShiftLeft",
        ">>" => "ShiftRight",
        "&&" => "And",
        "||" => "Or",
        "&" => "BitAnd",
        "|" => "BitOr",
        "^" => "BitXor",
        "==" => "Equal",
        "!=" => "Unequal",
        "<" => "Less",
        "<=" => "LessOrEqual",
        ">" => "Greater",
        _ => "GreaterOrEqual",
    }
}

fn expr(value: &Expr) -> String {
    match value {
        Expr::Const(value) => format!("Expr::Const({value})"),
        Expr::Member(at, base) => format!("Expr::Member({at}, Int::{})", int(*base)),
        Expr::Outer(number) => format!("Expr::Outer({number})"),
        Expr::Unary(operator, inner) => {
            let name = match *operator {
                "-" => "Minus",
                "~" => "Complement",
                _ => "Not",
            };
            format!("Expr::Unary(Unary::{name}, &{})", expr(inner))
        }
        Expr::Binary(operator, left, right) => {
            format!("Expr::Binary(Binary::{}, &{}, &{})", binary(operator), expr(left), expr(right))
        }
        Expr::Choose(parts) => {
            let [condition, yes, no] = parts.each_ref().map(expr);
            format!("Expr::Choose(&{condition}, &{yes}, &{no})")
        }
    }
}

fn optional(text: Option<String>) -> String {
    text.map_or_else(|| "None".to_owned(), |text| format!("Some({text})"))
}

fn what(what: &What) -> String {
    match what {
        What::Boolean => "Boolean".to_owned(),
        What::Enum(values) => format!("Enum(&{values:?})"),
        What::Utf8 => "Utf8".to_owned(),
        What::Ended => "Ended".to_owned(),
        What::Range(base, least, most) => format!("Range(Int::{}, {least}, {most})", int(*base)),
        What::Pointer(class, to, count) => {
            let class = match class {
                PointerClass::Ref => "Ref",
                PointerClass::Unique => "Unique",
                PointerClass::Full => "Full",
            };
            let to = match to {
                Element::Char => "Char".to_owned(),
                Element::Wide => "Wide".to_owned(),
                Element::Own(number) => format!("Own({number})"),
            };
            let extent = match count {
                Count::One => "One".to_owned(),
                Count::Text => "Text".to_owned(),
                Count::Counted(size, length) => {
                    format!("Counted {{ size: {}, length: {} }}", expr(size), optional(length.as_ref().map(expr)))
                }
            };
            format!("Pointer {{ class: Class::{class}, to: Element::{to}, extent: Extent::{extent} }}")
        }
        What::Object(Iid::Known(iid)) => format!("Object(Iid::Known({iid:#034x}))"),
        What::Object(Iid::Member(at)) => format!("Object(Iid::Member({at}))"),
        What::Object(Iid::Outer(number)) => format!("Object(Iid::Outer({number}))"),
        What::Inner(count, stride, inner) => {
            format!("Inner {{ count: {count}, stride: {stride}, shape: {} }}", shape(inner))
        }
        What::Union(_, tag, arms, default) => {
            let arms: Vec<String> = arms.iter().map(|(cases, arm)| format!("(&{cases:?}, {})", shape(arm))).collect();
            let default = optional(default.as_ref().map(shape));
            format!("Union {{ tag: {}, arms: &[{}], default: {default} }}", expr(tag), arms.join(", "))
        }
    }
}

fn shape(found: &Shape) -> String {
    let part = |(at, found): &(u32, What)| format!("Part {{ at: {at}, what: What::{} }}", what(found));
    let parts: Vec<String> = found.parts.iter().map(part).collect();
    format!("Shape {{ runs: &{:?}, parts: &[{}] }}", found.runs, parts.join(", "))
}

fn tail(found: &Tail) -> String {
    format!(
        "Tail {{ at: {}, size: {}, shape: {}, count: {}, length: {} }}",
        found.at,
        found.size,
        shape(&found.shape),
        expr(&found.count),
        optional(found.length.as_ref().map(expr))
    )
}

/// Writes a table of types.
pub(super) fn types(out: &mut Writer, name: &str, types: &[ElementType]) {
    if types.is_empty() {
        return out.line(format!("static {name}: [obvia::rt::shape::ElementType; 0] = [];"));
    }
    out.line(format!("static {name}: [obvia::rt::shape::ElementType; {}] = {{", types.len()));
    out.line("use obvia::rt::shape::*;");
    out.line("[");
    for ty in types {
        let tail = optional(ty.tail.as_ref().map(tail));
        out.line(format!("ElementType {{ size: {}, shape: {}, tail: {tail} }},", ty.size, shape(&ty.shape)));
    }
    out.line("]");
    out.line("};");
}

/// Writes the table of a block.
pub(super) fn block(out: &mut Writer, name: &str, size: u32, found: &Shape) {
    out.line(format!("static {name}: obvia::rt::shape::Block = {{"));
    out.line("use obvia::rt::shape::*;");
    out.line(format!("Block {{ size: {size}, shape: {} }}", shape(found)));
    out.line("};");
}
