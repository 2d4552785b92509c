//! Tables for structures with pointers: see `obvia_ndr::flat::shape`.

use crate::emit::writer::Writer;
use crate::model::{Arith, Base, Extent, Field, Model, Object, Operand, Pointer, PointerClass, Type, round};

/// What expressions name, in a structure or in a block.
pub(super) struct Scope<'a> {
    /// What an operand is in a table's expression.
    pub(super) operand: &'a dyn Fn(&Operand) -> String,
    /// Where an operand's member lies; for IIDs.
    pub(super) offset: &'a dyn Fn(&Operand) -> u32,
}

/// What is said of a member beside its type.
#[derive(Clone, Copy, Default)]
pub(super) struct About<'a> {
    range: Option<(i64, i64)>,
    switch: Option<&'a Arith>,
}

impl<'a> About<'a> {
    pub(super) fn new(range: Option<(i64, i64)>, switch: Option<&'a Arith>) -> Self {
        Self { range, switch }
    }

    fn field(field: &'a Field) -> Self {
        Self::new(field.range, field.switch.as_ref())
    }
}

/// Where no expression names anything.
const NOWHERE: Scope<'_> = Scope { operand: &|_| String::new(), offset: &|_| 0 };

/// Writes tables in which types have these numbers.
pub(super) struct Tables<'a> {
    pub(super) model: &'a Model,
    pub(super) kinds: &'a [Type],
}

/// A structure's contents, as they are found out.
#[derive(Default)]
struct Contents {
    runs: Vec<(u32, u32)>,
    parts: Vec<String>,
}

impl Contents {
    fn run(&mut self, at: u32, length: u32) {
        match self.runs.last_mut() {
            Some((start, before)) if *start + *before == at => *before += length,
            _ => self.runs.push((at, length)),
        }
    }

    fn part(&mut self, at: u32, what: &str) {
        self.parts.push(format!("Part {{ at: {at}, what: What::{what} }}"));
    }

    fn text(&self) -> String {
        format!("Shape {{ runs: &{:?}, parts: &[{}] }}", self.runs, self.parts.join(", "))
    }
}

/// The integer of a base type, as tables name it.
pub(super) fn int(base: Base) -> &'static str {
    match base {
        Base::Boolean | Base::Byte | Base::Char | Base::U8 => "Int::U8",
        Base::I8 => "Int::I8",
        Base::I16 => "Int::I16",
        Base::WChar | Base::U16 => "Int::U16",
        Base::U32 => "Int::U32",
        Base::I64 => "Int::I64",
        Base::U64 => "Int::U64",
        _ => "Int::I32",
    }
}

/// An expression of a table.
pub(super) fn expr(value: &Arith, operand: &dyn Fn(&Operand) -> String) -> String {
    match value {
        Arith::Const(value) => format!("Expr::Const({value})"),
        Arith::Operand(one) => operand(one),
        Arith::Unary(operator, inner) => {
            let name = match *operator {
                "-" => "Minus",
                "~" => "Complement",
                _ => "Not",
            };
            format!("Expr::Unary(Unary::{name}, &{})", expr(inner, operand))
        }
        Arith::Binary(operator, left, right) => {
            let name = match operator.as_str() {
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
            };
            format!("Expr::Binary(Binary::{name}, &{}, &{})", expr(left, operand), expr(right, operand))
        }
        Arith::Ternary(condition, yes, no) => {
            let (condition, yes, no) = (expr(condition, operand), expr(yes, operand), expr(no, operand));
            format!("Expr::Choose(&{condition}, &{yes}, &{no})")
        }
    }
}

impl Tables<'_> {
    /// The number of what a pointer points to.
    fn element(&self, pointer: &Pointer) -> String {
        match (&pointer.extent, &pointer.to) {
            (Extent::Text, Type::Base(base)) if base.size() == 2 => "Element::Wide".to_owned(),
            (Extent::Text, _) => "Element::Char".to_owned(),
            (_, to) => format!("Element::Own({})", self.number(to)),
        }
    }

    /// The place of a type in the table.
    pub(super) fn number(&self, ty: &Type) -> usize {
        self.kinds.iter().position(|kind| kind == ty).unwrap_or(self.kinds.len())
    }

    /// A value of this type at this offset.
    fn add(&self, contents: &mut Contents, at: u32, ty: &Type, about: About<'_>, scope: &Scope<'_>) {
        let (size, _) = self.model.layout(ty);
        match ty {
            Type::Base(base) => {
                contents.run(at, size);
                match about.range {
                    Some((least, most)) => contents.part(at, &format!("Range({}, {least}, {most})", int(*base))),
                    None if *base == Base::Boolean => contents.part(at, "Boolean"),
                    None => {}
                }
            }
            Type::Enum(id) => {
                contents.run(at, size);
                let mut values: Vec<i32> = self.model.enums[id.0].values.iter().map(|(_, value)| *value).collect();
                values.sort_unstable();
                values.dedup();
                contents.part(at, &format!("Enum(&{values:?})"));
            }
            Type::Pointer(pointer) => contents.part(at, &self.pointer(pointer, scope)),
            Type::Interface(object) => contents.part(at, &self.object(object, scope)),
            Type::Struct(_) => self.inner(contents, at, 1, ty),
            Type::Fixed(element, count) => self.inner(contents, at, *count, element),
            Type::Union(id) if self.model.unions[id.0].encapsulated.is_some() => self.inner(contents, at, 1, ty),
            Type::Union(id) => {
                let switch = about.switch.map(|switch| expr(switch, scope.operand)).unwrap_or_default();
                contents.part(at, &self.union(*id, &switch));
            }
            Type::Void => {}
        }
    }

    /// Structures or elements of an array: bytes where they are nothing else, so that they are copied and passed over whole.
    fn inner(&self, contents: &mut Contents, at: u32, count: u32, ty: &Type) {
        let inner = self.contents(ty);
        let (size, _) = self.model.layout(ty);
        if inner.parts.is_empty() && inner.runs == [(0, size)] {
            return contents.run(at, size * count);
        }
        contents.part(at, &format!("Inner {{ count: {count}, stride: {size}, shape: {} }}", inner.text()));
    }

    fn pointer(&self, pointer: &Pointer, scope: &Scope<'_>) -> String {
        let class = match pointer.class {
            PointerClass::Ref => "Ref",
            PointerClass::Unique => "Unique",
            PointerClass::Full => "Full",
        };
        let extent = match &pointer.extent {
            Extent::One => "Extent::One".to_owned(),
            Extent::Text => "Extent::Text".to_owned(),
            Extent::Counted { size, length } => {
                let size = expr(size, scope.operand);
                let length = length.as_ref().map(|length| expr(length, scope.operand));
                format!("Extent::Counted {{ size: {size}, length: {} }}", optional(length))
            }
        };
        format!("Pointer {{ class: Class::{class}, to: {}, extent: {extent} }}", self.element(pointer))
    }

    fn object(&self, object: &Object, scope: &Scope<'_>) -> String {
        match object {
            Object::Known(id) => format!("Object(Iid::Known({:#034x}))", self.model.interfaces[id.0].uuid),
            Object::Unknown => format!("Object(Iid::Known({:#034x}))", 0x0000_0000_0000_0000_c000_0000_0000_0046_u128),
            Object::IidIs(operand) => format!("Object(Iid::Member({}))", (scope.offset)(operand)),
        }
    }

    fn union(&self, id: crate::model::UnionId, tag: &str) -> String {
        let union = &self.model.unions[id.0];
        let shape = |field: Option<&Field>| {
            let mut contents = Contents::default();
            if let Some(field) = field {
                self.add(&mut contents, 0, &field.ty, About::field(field), &NOWHERE);
            }
            contents.text()
        };
        let arms: Vec<String> =
            union.arms.iter().map(|arm| format!("(&{:?}, {})", arm.cases, shape(arm.field.as_ref()))).collect();
        let default = optional(union.default.as_ref().map(|field| shape(field.as_ref())));
        format!("Union {{ tag: {tag}, arms: &[{}], default: {default} }}", arms.join(", "))
    }

    /// What a type is made of, from its own start.
    fn contents(&self, ty: &Type) -> Contents {
        let mut contents = Contents::default();
        match ty {
            Type::Struct(id) => {
                let found = &self.model.structs[id.0];
                let (offsets, ..) = self.model.offsets(found);
                let scope = Scope {
                    operand: &|operand| format!("Expr::Member({}, {})", offsets[operand.index], int(operand.base)),
                    offset: &|operand| offsets[operand.index],
                };
                for (field, at) in found.fields.iter().zip(&offsets) {
                    self.add(&mut contents, *at, &field.ty, About::field(field), &scope);
                }
            }
            Type::Union(id) if self.model.unions[id.0].encapsulated.is_some() => {
                let union = &self.model.unions[id.0];
                let (tag, _) = self.model.layout(&union.tag);
                let (_, align) = self.model.union_body(union);
                contents.run(0, tag);
                if union.tag == Type::Base(Base::Boolean) {
                    contents.part(0, "Boolean");
                }
                let base = if let Type::Base(base) = union.tag { base } else { Base::I32 };
                let tag_text = format!("Expr::Member(0, {})", int(base));
                contents.part(round(tag, align), &self.union(*id, &tag_text));
            }
            other => self.add(&mut contents, 0, other, About::default(), &NOWHERE),
        }
        contents
    }

    /// A table of all types.
    pub(super) fn types(&self, out: &mut Writer, name: &str) {
        out.line(format!("static {name}: [obvia::rt::shape::ElementType; {}] = {{", self.kinds.len()));
        out.line("use obvia::rt::shape::*;");
        out.line("[");
        for ty in self.kinds {
            out.line(format!("{},", self.element_type(ty)));
        }
        out.line("]");
        out.line("};");
    }

    fn element_type(&self, ty: &Type) -> String {
        let (size, _) = self.model.layout(ty);
        let mut tail = None;
        if let Type::Struct(id) = ty
            && let Some((element, count, length)) = &self.model.structs[id.0].conformant
        {
            let (offsets, ..) = self.model.offsets(&self.model.structs[id.0]);
            let operand = |one: &Operand| format!("Expr::Member({}, {})", offsets[one.index], int(one.base));
            tail = Some(format!(
                "Tail {{ at: {}, size: {}, shape: {}, count: {}, length: {} }}",
                offsets.last().copied().unwrap_or(0),
                self.model.layout(element).0,
                self.contents(element).text(),
                expr(count, &operand),
                optional(length.as_ref().map(|length| expr(length, &operand)))
            ));
        }
        format!("ElementType {{ size: {size}, shape: {}, tail: {} }}", self.contents(ty).text(), optional(tail))
    }

    /// A block: fields at offsets.
    pub(super) fn block(
        &self,
        out: &mut Writer,
        name: &str,
        size: u32,
        fields: &[(u32, &Type, About<'_>)],
        scope: &Scope<'_>,
    ) {
        let mut contents = Contents::default();
        for (at, ty, about) in fields {
            self.add(&mut contents, *at, ty, *about, scope);
        }
        out.line(format!("static {name}: obvia::rt::shape::Block = {{"));
        out.line("use obvia::rt::shape::*;");
        out.line(format!("Block {{ size: {size}, shape: {} }}", contents.text()));
        out.line("};");
    }
}

fn optional(text: Option<String>) -> String {
    text.map_or_else(|| "None".to_owned(), |text| format!("Some({text})"))
}
