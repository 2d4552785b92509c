//! Shapes in the form that the check of frames reads, for tools without generated code.
//!
//! The shapes are leaked: they live as long as the process, like the shapes in generated code.

use super::{self as shapes, Count, Shapes};
use crate::model::{Base, PointerClass};
use obvia_ndr::flat::shape::{
    Binary, Block, Class, Element, ElementType, Expr, Extent, Iid, Int, Part, Shape, Tail, Unary, What,
};

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn leak_all<T>(values: Vec<T>) -> &'static [T] {
    Vec::leak(values)
}

/// Returns a block of `size` bytes.
pub fn block(size: u32, found: &shapes::Shape) -> &'static Block {
    leak(Block { size, shape: shape(found) })
}

/// Returns the element types of all objects, in the order of their type numbers.
pub fn types(shapes: Shapes<'_>) -> &'static [ElementType] {
    leak_all(shapes.element_types().iter().map(element_type).collect())
}

fn element_type(found: &shapes::ElementType) -> ElementType {
    let tail = found.tail.as_ref().map(|tail| Tail {
        at: tail.at,
        size: tail.size,
        shape: shape(&tail.shape),
        count: expr(&tail.count),
        length: tail.length.as_ref().map(expr),
    });
    ElementType { size: found.size, shape: shape(&found.shape), tail }
}

fn shape(found: &shapes::Shape) -> Shape {
    let part = |(at, found): &(u32, shapes::What)| Part { at: *at, what: what(found) };
    Shape { runs: leak_all(found.runs.clone()), parts: leak_all(found.parts.iter().map(part).collect()) }
}

fn what(found: &shapes::What) -> What {
    match found {
        shapes::What::Boolean => What::Boolean,
        shapes::What::Enum(values) => What::Enum(leak_all(values.clone())),
        shapes::What::Utf8 => What::Utf8,
        shapes::What::Ended => What::Ended,
        shapes::What::Range(base, least, most) => What::Range(int(*base), *least, *most),
        shapes::What::Pointer(class, to, count) => What::Pointer {
            class: match class {
                PointerClass::Ref => Class::Ref,
                PointerClass::Unique => Class::Unique,
                PointerClass::Full => Class::Full,
            },
            to: match to {
                shapes::Element::Char => Element::Char,
                shapes::Element::Wide => Element::Wide,
                // The compiler refuses interfaces that lead to more types than there are 16-bit
                // numbers.
                shapes::Element::Own(number) => Element::Own(u16::try_from(*number).unwrap_or(u16::MAX)),
            },
            extent: match count {
                Count::One => Extent::One,
                Count::Text => Extent::Text,
                Count::Counted(size, length) => Extent::Counted { size: expr(size), length: length.as_ref().map(expr) },
            },
        },
        shapes::What::Object(shapes::Iid::Known(iid)) => What::Object(Iid::Known(*iid)),
        shapes::What::Object(shapes::Iid::Member(at)) => What::Object(Iid::Member(*at)),
        shapes::What::Object(shapes::Iid::Outer(number)) => {
            What::Object(Iid::Outer(u32::try_from(*number).unwrap_or(u32::MAX)))
        }
        shapes::What::Inner(count, stride, inner) => {
            What::Inner { count: *count, stride: *stride, shape: shape(inner) }
        }
        shapes::What::Union(_, tag, arms, default) => What::Union {
            tag: expr(tag),
            arms: leak_all(arms.iter().map(|(cases, arm)| (leak_all(cases.clone()), shape(arm))).collect()),
            default: default.as_ref().map(shape),
        },
    }
}

pub(crate) fn int(base: Base) -> Int {
    match base {
        Base::Boolean | Base::Byte | Base::Char | Base::U8 => Int::U8,
        Base::I8 => Int::I8,
        Base::I16 => Int::I16,
        Base::WChar | Base::U16 => Int::U16,
        Base::U32 => Int::U32,
        Base::I64 => Int::I64,
        Base::U64 => Int::U64,
        _ => Int::I32,
    }
}

fn expr(found: &shapes::Expr) -> Expr {
    let of = |inner: &shapes::Expr| leak(expr(inner));
    match found {
        shapes::Expr::Const(value) => Expr::Const(*value),
        shapes::Expr::Member(at, base) => Expr::Member(*at, int(*base)),
        shapes::Expr::Outer(number) => Expr::Outer(u32::try_from(*number).unwrap_or(u32::MAX)),
        shapes::Expr::Unary(operator, inner) => Expr::Unary(unary(operator), of(inner)),
        shapes::Expr::Binary(operator, left, right) => Expr::Binary(binary(operator), of(left), of(right)),
        shapes::Expr::Choose(parts) => Expr::Choose(of(&parts[0]), of(&parts[1]), of(&parts[2])),
    }
}

pub(crate) fn unary(operator: &str) -> Unary {
    match operator {
        "-" => Unary::Minus,
        "~" => Unary::Complement,
        _ => Unary::Not,
    }
}

pub(crate) fn binary(operator: &str) -> Binary {
    match operator {
        "+" => Binary::Add,
        "-" => Binary::Subtract,
        "*" => Binary::Multiply,
        "/" => Binary::Divide,
        "%" => Binary::Remainder,
        "<<" => Binary::ShiftLeft,
        ">>" => Binary::ShiftRight,
        "&&" => Binary::And,
        "||" => Binary::Or,
        "&" => Binary::BitAnd,
        "|" => Binary::BitOr,
        "^" => Binary::BitXor,
        "==" => Binary::Equal,
        "!=" => Binary::Unequal,
        "<" => Binary::Less,
        "<=" => Binary::LessOrEqual,
        ">" => Binary::Greater,
        _ => Binary::GreaterOrEqual,
    }
}
