//! The check of a value in a frame as straight-line code. [`crate::plan::shapes`] gives the parts
//! that need checks.

use super::Context;
use super::arithmetic::{arith, is_one_of, is_wide, literal, loaded, loaded_tag, widened};
use super::members::{graph_type, object_info, pointer_class};
use super::values::plus;
use crate::model::{Base, InterfaceId, Object, PointerClass, Type};
use crate::plan::shapes::{Count, Element, ElementType, Expr, Iid, Shape, What};
use crate::text::writer::Writer;

/// The message for a discriminant without an arm.
const NO_ARM: &str = "the union has no arm for its discriminant";

/// The arms of a union, each with its cases.
type Arms<'a> = &'a [(Vec<i64>, Shape)];

/// The context in which a check is written.
pub(super) struct Check<'a> {
    pub(super) context: &'a Context<'a>,
    /// The types of the objects in the interface's frames. The index in
    /// [`Element::Own`](crate::plan::shapes::Element) refers to this list.
    pub(super) kinds: &'a [Type],
    /// The name of the reader.
    pub(super) reader: &'a str,
    /// Returns the Java expression and the type of a value outside the structure, given the value's
    /// number in the shape.
    pub(super) outer: &'a dyn Fn(usize) -> (String, Base),
}

impl Check<'_> {
    /// Writes the checks of a shape that begins at the offset `base`, a Java expression.
    pub(super) fn shape(&self, out: &mut Writer, shape: &Shape, base: &str, depth: usize) {
        for (at, what) in &shape.parts {
            self.part(out, (*at, what), base, depth);
        }
    }

    /// Writes the checks of an element that begins at the offset `base`, and of its conformant
    /// array.
    pub(super) fn element(&self, out: &mut Writer, found: &ElementType, base: &str, tail: Option<&Type>) {
        self.shape(out, &found.shape, base, 0);
        if let (Some(array), Some(element)) = (&found.tail, tail) {
            let (place, ty) = (plus(base, array.at), graph_type(self.context, element));
            let counts: Vec<String> =
                array.length.iter().chain([&array.count]).map(|count| self.number(count, base)).collect();
            out.line(format!("{}.checkTail({base}, {place}, {ty}, {});", self.reader, counts.join(", ")));
        }
    }

    fn part(&self, out: &mut Writer, (at, what): (u32, &What), base: &str, depth: usize) {
        let (reader, place) = (self.reader, plus(base, at));
        match what {
            // The check of the pointer refuses every string that is not in UTF-8, with and without
            // [utf8].
            What::Utf8 => {}
            // An array in the caller's room is no part of a reply with structures.
            What::Ended => {}
            What::Boolean => out.line(format!("{reader}.checkBoolean({place});")),
            What::Enum(values) => {
                let values: Vec<String> = values.iter().map(i32::to_string).collect();
                out.line(format!("switch ({reader}.getInt({place})) {{"));
                out.line(format!("case {} -> {{}}", values.join(", ")));
                out.line(format!("default -> throw {reader}.badEnum({place});"));
                out.line("}");
            }
            What::Range(ty, least, most) => {
                let value = self.number(&Expr::Member(at, *ty), base);
                out.line(format!("{reader}.checkRange({place}, {value}, {least}L, {most}L);"));
            }
            What::Pointer(class, to, count) => self.pointer(out, &place, (*class, *to, count), base),
            What::Inner(1, _, inner) => self.shape(out, inner, &place, depth),
            What::Inner(count, stride, inner) => {
                if inner.parts.is_empty() {
                    return;
                }
                // The names of the variables differ from the names of parameters, which have no
                // underscore before a digit.
                let (i, one) = (format!("i_{depth}"), format!("at_{depth}"));
                out.line(format!("for (int {i} = 0; {i} < {count}; {i}++) {{"));
                out.line(format!("int {one} = {place} + {i} * {stride};"));
                self.shape(out, inner, &one, depth + 1);
                out.line("}");
            }
            What::Union(..) => self.union(out, what, (&place, base), depth),
            What::Object(iid) => out.line(format!("{reader}.checkReference({place}, {});", self.info(*iid, base))),
        }
    }

    /// Returns the expression for the description of an object's interface, or for the interface's
    /// IID.
    fn info(&self, iid: Iid, base: &str) -> String {
        match iid {
            Iid::Known(uuid) => {
                let known = self.context.model.interfaces.iter().position(|found| found.uuid == uuid);
                let object = known.map_or(Object::Unknown, |at| Object::Known(InterfaceId(at)));
                object_info(self.context, &object, |_| String::new())
            }
            Iid::Member(at) => format!("{}.getGuid({})", self.reader, plus(base, at)),
            Iid::Outer(number) => (self.outer)(number).0,
        }
    }

    fn union(&self, out: &mut Writer, what: &What, (place, base): (&str, &str), depth: usize) {
        let What::Union(of, tag, arms, default) = what else { return };
        if is_wide(&Type::Base(*of)) {
            return self.wide_union(out, (tag, arms, default.as_ref()), (place, base), depth);
        }
        let base_of = match tag {
            Expr::Member(_, ty) => Some(*ty),
            Expr::Outer(number) => Some((self.outer)(*number).1),
            _ => None,
        };
        let tag = match tag {
            _ if matches!(base_of, None | Some(Base::I64 | Base::U64)) => {
                let (least, most) = of.range().unwrap_or_default();
                format!("{}.which({place}, {}, {least}L, {most}L)", self.reader, self.number(tag, base))
            }
            Expr::Member(at, ty) => loaded_tag(&Type::Base(*ty), self.reader, &plus(base, *at)),
            Expr::Outer(number) => match (self.outer)(*number).0 {
                text if text.contains("toUnsignedLong") => format!("(int) {text}"),
                text => text,
            },
            other => self.number(other, base),
        };
        let arm = |out: &mut Writer, labels: String, shape: &Shape| {
            if shape.parts.is_empty() {
                return out.line(format!("{labels} -> {{}}"));
            }
            out.line(format!("{labels} -> {{"));
            self.shape(out, shape, place, depth);
            out.line("}");
        };
        out.line(format!("switch ({tag}) {{"));
        for (cases, shape) in arms {
            let cases: Vec<String> = cases.iter().map(|case| (*case as i32).to_string()).collect();
            arm(out, format!("case {}", cases.join(", ")), shape);
        }
        match default {
            Some(shape) => arm(out, "default".to_owned(), shape),
            None => {
                out.line(format!("default -> throw {}.bad({place}, \"{NO_ARM}\");", self.reader));
            }
        }
        out.line("}");
    }

    /// Writes the check of a union whose discriminant is a `long`.
    fn wide_union(
        &self,
        out: &mut Writer,
        (tag, arms, default): (&Expr, Arms<'_>, Option<&Shape>),
        (place, base): (&str, &str),
        depth: usize,
    ) {
        // Each union gets a variable of its own, even within another union's arm.
        let at: u32 = place.split(" + ").filter_map(|part| part.parse::<u32>().ok()).sum();
        let which = format!("which_{at}{}", "_".repeat(depth));
        out.line(format!("long {which} = {};", self.number(tag, base)));
        let is_looked_at = |shape: &Shape| !shape.parts.is_empty();
        let others_pass = default.is_some_and(|shape| !is_looked_at(shape));
        let arms: Vec<_> = arms.iter().filter(|(_, shape)| !others_pass || is_looked_at(shape)).collect();
        for (at, (cases, shape)) in arms.iter().enumerate() {
            let otherwise = if at == 0 { "" } else { "} else " };
            out.line(format!("{otherwise}if ({}) {{", is_one_of(&which, cases, true)));
            if !is_looked_at(shape) {
                out.line("// There is nothing to check.");
            }
            self.shape(out, shape, place, depth + 1);
        }
        if !others_pass {
            out.line(if arms.is_empty() { "{" } else { "} else {" });
            match default {
                Some(shape) => self.shape(out, shape, place, depth + 1),
                None => out.line(format!("throw {}.bad({place}, \"{NO_ARM}\");", self.reader)),
            }
        }
        if !others_pass || !arms.is_empty() {
            out.line("}");
        }
    }

    fn pointer(&self, out: &mut Writer, place: &str, (class, to, count): (PointerClass, Element, &Count), base: &str) {
        let reader = self.reader;
        let class = pointer_class(class);
        let ty = match to {
            Element::Char => return out.line(format!("{reader}.checkText8({place}, {class});")),
            Element::Wide => return out.line(format!("{reader}.checkText16({place}, {class});")),
            Element::Own(number) => graph_type(self.context, &self.kinds[number]),
        };
        out.line(match count {
            Count::Counted(size, None) => {
                format!("{reader}.checkMany({place}, {ty}, {class}, {});", self.number(size, base))
            }
            Count::Counted(size, Some(length)) => {
                let (length, size) = (self.number(length, base), self.number(size, base));
                format!("{reader}.checkMany({place}, {ty}, {class}, {length}, {size});")
            }
            _ => format!("{reader}.checkOne({place}, {ty}, {class});"),
        });
    }

    /// Returns the Java expression that evaluates an expression of the shape.
    fn number(&self, value: &Expr, base: &str) -> String {
        let leaf = |leaf: &Expr| match leaf {
            Expr::Member(at, ty) => widened(*ty, &loaded(self.reader, *ty, &plus(base, *at))),
            Expr::Outer(number) => (self.outer)(*number).0,
            _ => String::new(),
        };
        match value {
            Expr::Const(value) => literal(*value),
            Expr::Member(_, Base::U64) => {
                format!("{}.value({}, () -> {})", self.reader, plus(base, 0), leaf(value))
            }
            Expr::Member(..) | Expr::Outer(_) => leaf(value),
            other => {
                let value = arith(other, &leaf, &|number| (self.outer)(number).1);
                format!("{}.value({}, () -> {value})", self.reader, plus(base, 0))
            }
        }
    }
}
