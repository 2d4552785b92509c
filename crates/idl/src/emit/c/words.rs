//! Tables as words, in C: see `obvia_table.h`, and `obvia_ndr::flat::words`, which reads them.

use super::names::{integer, type_name};
use super::suffix::WORDS;
use crate::model::{Base, Direction, Model, PointerClass, Type};
use crate::plan::shapes::{Count, Element, ElementType, Expr, Iid, Shape, Shapes, Tail, What};
use crate::plan::{MethodPlan, ParamPlan, in_place};
use crate::text::writer::Writer;
use obvia_ndr::flat::KIND_FIRST;

/// Returns the word for an integer type.
fn int(base: Base) -> &'static str {
    match base {
        Base::Boolean | Base::Byte | Base::Char | Base::U8 => "OBVIA_U8",
        Base::I8 => "OBVIA_I8",
        Base::I16 => "OBVIA_I16",
        Base::WChar | Base::U16 => "OBVIA_U16",
        Base::U32 => "OBVIA_U32",
        Base::I64 => "OBVIA_I64",
        Base::U64 => "OBVIA_U64",
        _ => "OBVIA_I32",
    }
}

/// Returns the word for a binary operator.
fn binary(operator: &str) -> &'static str {
    match operator {
        "+" => "OBVIA_ADD",
        "-" => "OBVIA_SUBTRACT",
        "*" => "OBVIA_MULTIPLY",
        "/" => "OBVIA_DIVIDE",
        "%" => "OBVIA_REMAINDER",
        "<<" => "OBVIA_SHIFT_LEFT",
        ">>" => "OBVIA_SHIFT_RIGHT",
        "&&" => "OBVIA_AND",
        "||" => "OBVIA_OR",
        "&" => "OBVIA_BIT_AND",
        "|" => "OBVIA_BIT_OR",
        "^" => "OBVIA_BIT_XOR",
        "==" => "OBVIA_EQUAL",
        "!=" => "OBVIA_UNEQUAL",
        "<" => "OBVIA_LESS",
        "<=" => "OBVIA_LESS_OR_EQUAL",
        ">" => "OBVIA_GREATER",
        _ => "OBVIA_GREATER_OR_EQUAL",
    }
}

fn expr(value: &Expr) -> String {
    match value {
        Expr::Const(value) => format!("OBVIA_CONST, {}", integer(*value)),
        Expr::Member(at, base) => format!("OBVIA_MEMBER, {at}, {}", int(*base)),
        Expr::Outer(number) => format!("OBVIA_OUTER, {number}"),
        Expr::Unary(operator, inner) => {
            let name = match *operator {
                "-" => "OBVIA_MINUS",
                "~" => "OBVIA_COMPLEMENT",
                _ => "OBVIA_NOT",
            };
            format!("OBVIA_UNARY, {name}, {}", expr(inner))
        }
        Expr::Binary(operator, left, right) => {
            format!("OBVIA_BINARY, {}, {}, {}", binary(operator), expr(left), expr(right))
        }
        Expr::Choose(parts) => {
            let [condition, yes, no] = parts.each_ref().map(expr);
            format!("OBVIA_CHOOSE, {condition}, {yes}, {no}")
        }
    }
}

fn optional(text: Option<String>) -> String {
    text.map_or_else(|| "OBVIA_NONE".to_owned(), |text| format!("OBVIA_SOME, {text}"))
}

/// Returns the words of a list: the number of entries, then the entries.
fn list(numbers: &[i64]) -> String {
    let texts: Vec<String> =
        std::iter::once(numbers.len().to_string()).chain(numbers.iter().map(|number| integer(*number))).collect();
    texts.join(", ")
}

fn extent(count: &Count) -> String {
    match count {
        Count::One => "OBVIA_ONE".to_owned(),
        Count::Text => "OBVIA_TEXT".to_owned(),
        Count::Counted(size, length) => {
            format!("OBVIA_COUNTED, {}, {}", expr(size), optional(length.as_ref().map(expr)))
        }
    }
}

fn pointer(class: PointerClass, to: Element, count: &Count) -> String {
    let class = match class {
        PointerClass::Ref => "OBVIA_REF",
        PointerClass::Unique => "OBVIA_UNIQUE",
        PointerClass::Full => "OBVIA_FULL",
    };
    let to = match to {
        Element::Char => "OBVIA_CHAR".to_owned(),
        Element::Wide => "OBVIA_WIDE".to_owned(),
        Element::Own(number) => (KIND_FIRST as usize + number).to_string(),
    };
    format!("OBVIA_POINTER, {class}, {to}, {}", extent(count))
}

fn iid(iid: Iid) -> String {
    match iid {
        Iid::Known(iid) => {
            let half = |bits: u128| format!("(int64_t){:#018x}", bits as u64);
            format!("OBVIA_IID, {}, {}", half(iid >> 64), half(iid))
        }
        Iid::Member(at) => format!("OBVIA_IID_MEMBER, {at}"),
        Iid::Outer(number) => format!("OBVIA_IID_OUTER, {number}"),
    }
}

/// A writer for words that indents nested parts.
struct Words<'a> {
    out: &'a mut Writer,
    depth: usize,
}

impl Words<'_> {
    fn line(&mut self, text: &str) {
        self.out.line(format!("{}{text},", "    ".repeat(self.depth)));
    }

    fn within(&mut self, write: impl FnOnce(&mut Self)) {
        self.depth += 1;
        write(self);
        self.depth -= 1;
    }

    fn shape(&mut self, shape: &Shape) {
        let runs: String = shape.runs.iter().map(|(at, length)| format!(", {at}, {length}")).collect();
        self.line(&format!("/* values */ {}{runs}, /* parts */ {}", shape.runs.len(), shape.parts.len()));
        for (at, what) in &shape.parts {
            self.part(*at, what);
        }
    }

    fn part(&mut self, at: u32, what: &What) {
        match what {
            What::Boolean => self.line(&format!("{at}, OBVIA_BOOLEAN")),
            What::Enum(values) => {
                let values: Vec<i64> = values.iter().copied().map(i64::from).collect();
                self.line(&format!("{at}, OBVIA_ENUMERATION, {}", list(&values)));
            }
            What::Utf8 => self.line(&format!("{at}, OBVIA_UTF8")),
            What::Ended => self.line(&format!("{at}, OBVIA_ENDED")),
            What::Range(base, least, most) => {
                self.line(&format!("{at}, OBVIA_RANGE, {}, {}, {}", int(*base), integer(*least), integer(*most)));
            }
            What::Pointer(class, to, count) => self.line(&format!("{at}, {}", pointer(*class, *to, count))),
            What::Object(wanted) => self.line(&format!("{at}, OBVIA_OBJECT, {}", iid(*wanted))),
            What::Inner(count, stride, inner) => {
                self.line(&format!("{at}, OBVIA_INNER, {count}, {stride}"));
                self.within(|words| words.shape(inner));
            }
            What::Union(_, tag, arms, default) => {
                self.line(&format!("{at}, OBVIA_UNION, {}, {}", expr(tag), arms.len()));
                self.within(|words| {
                    for (cases, arm) in arms {
                        words.line(&list(cases));
                        words.within(|words| words.shape(arm));
                    }
                    words.line(if default.is_some() { "OBVIA_SOME" } else { "OBVIA_NONE" });
                    if let Some(default) = default {
                        words.within(|words| words.shape(default));
                    }
                });
            }
        }
    }

    fn tail(&mut self, tail: &Tail) {
        self.line(&format!("/* tail */ OBVIA_SOME, {}, {}", tail.at, tail.size));
        self.within(|words| words.shape(&tail.shape));
        self.line(&expr(&tail.count));
        self.line(&optional(tail.length.as_ref().map(expr)));
    }

    fn element_type(&mut self, found: &ElementType) {
        self.shape(&found.shape);
        match &found.tail {
            Some(tail) => self.tail(tail),
            None => self.line("OBVIA_NONE"),
        }
    }
}

/// Writes the table of the types `kinds`. The name of the table's array is `name` with [`WORDS`].
pub(super) fn types(out: &mut Writer, model: &Model, kinds: &[Type], name: &str) {
    out.line(format!("static const int64_t {name}{WORDS}[] = {{"));
    let mut words = Words { out, depth: 0 };
    words.line(&kinds.len().to_string());
    let found = Shapes { model, kinds }.element_types();
    for (at, (ty, found)) in kinds.iter().zip(&found).enumerate() {
        words.line(&format!("/* {}: {} */ {}", KIND_FIRST as usize + at, type_name(model, ty), found.size));
        words.within(|words| words.element_type(found));
    }
    out.line("};");
    out.line(format!("static obvia_types {name} = {{OBVIA_TABLE({name}{WORDS})}};"));
    out.line("");
}

/// Writes the table of a method. `types` is the table of its objects' types.
pub(super) fn method(out: &mut Writer, model: &Model, kinds: &[Type], plan: &MethodPlan<'_>, types: &str, name: &str) {
    out.line(format!("static const int64_t {name}{WORDS}[] = {{"));
    let mut words = Words { out, depth: 0 };
    words.line(&format!("{}, {}", plan.method.opnum, if plan.method.oneway { 1 } else { 0 }));
    let (request, _) = plan.block(model, kinds, true, |_| true);
    words.line(&format!("/* request */ {}", plan.request_block));
    words.within(|words| words.shape(&request));
    let (reply, outer) = plan.block(model, kinds, false, |_| true);
    words.line(&format!("/* reply */ {}", plan.reply_block));
    words.within(|words| words.shape(&reply));
    words.line(&format!("/* outer */ {}", outer.len()));
    words.within(|words| outers(words, model, plan, &outer));
    words.line(&format!("/* parameters */ {}", plan.params.len()));
    words.within(|words| plan.params.iter().for_each(|param| words.line(&parameter(model, param))));
    out.line("};");
    out.line(format!("static obvia_method {name} = {{&{types}, OBVIA_TABLE({name}{WORDS})}};"));
    out.line("");
}

/// Writes the list of the request's values that the reply's expressions read. A GUID is listed
/// twice, once for each half.
fn outers(words: &mut Words<'_>, model: &Model, plan: &MethodPlan<'_>, outer: &[usize]) {
    for (at, index) in outer.iter().enumerate() {
        let what = match in_place(model, plan.params[*index].param) {
            Type::Base(Base::Guid) if outer[..at].contains(index) => "OBVIA_LOWER",
            Type::Base(Base::Guid) => "OBVIA_UPPER",
            Type::Base(base) => int(*base),
            _ => "OBVIA_I32",
        };
        words.line(&format!("{index}, {what}"));
    }
}

/// Whether the block holds the target of the parameter's pointer instead of the pointer.
pub(super) fn is_place(model: &Model, param: &ParamPlan<'_>) -> bool {
    matches!(param.param.ty, Type::Fixed(..)) || !std::ptr::eq(in_place(model, param.param), &raw const param.param.ty)
}

fn parameter(model: &Model, param: &ParamPlan<'_>) -> String {
    let offset = |at: Option<u32>| optional(at.map(|at| at.to_string()));
    let what = if is_place(model, param) { "OBVIA_PLACE" } else { "OBVIA_SLOT" };
    let (size, _) = model.layout(in_place(model, param.param));
    let direction = match param.param.direction {
        Direction::In => "[in]",
        Direction::Out => "[out]",
        Direction::InOut => "[in, out]",
    };
    let (request, reply) = (offset(param.request), offset(param.reply));
    format!("/* {direction} {} */ {what}, {size}, {request}, {reply}", param.param.name)
}
