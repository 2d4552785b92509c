//! The shapes of structures with pointers, as data. The back ends for Rust and C turn shapes into
//! the tables of `obvia_ndr::flat::shape`, and the back end for Java turns them into checks.
//!
//! A structure consists of runs of bytes that are valid as they are, and of parts that need checks.
//! Offsets are the same as in C on a 64-bit machine and in FLAT.

pub mod flat;

use crate::model::{
    Arith, Base, Enum, Extent, Field, Model, Object, Operand, Param, Pointer, PointerClass, Type, UnionId, Varying,
    round_up,
};
use crate::plan::Numbers;

/// An expression of a table, with resolved operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A number.
    Const(i64),
    /// The member with this type at an offset.
    Member(u32, Base),
    /// A value outside the structure, by its number.
    Outer(usize),
    /// `-`, `~`, `!`.
    Unary(&'static str, Box<Self>),
    /// C's binary operators.
    Binary(String, Box<Self>, Box<Self>),
    /// `a ? b : c`.
    Choose(Box<[Self; 3]>),
}

/// The element type of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// A character of 8 bits.
    Char,
    /// A character of 16 bits.
    Wide,
    /// One of the interface's types, by its index.
    Own(usize),
}

/// The number of elements that a pointer points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Count {
    /// One element.
    One,
    /// The number of elements that the first expression gives. The second expression gives the
    /// number of valid elements, if not all are valid.
    Counted(Expr, Option<Expr>),
    /// All elements up to the first zero.
    Text,
}

/// The IID of an interface pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Iid {
    /// A fixed IID.
    Known(u128),
    /// The IID at this offset.
    Member(u32),
    /// An IID outside the structure, by the number of its first half.
    Outer(usize),
}

/// A part of a structure that needs checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A boolean: 0 or 1.
    Boolean,
    /// An enumeration with these values, in ascending order.
    Enum(Vec<i32>),
    /// An integer within limits.
    Range(Base, i64, i64),
    /// A pointer.
    Pointer(PointerClass, Element, Count),
    /// The string of 8-bit characters is in UTF-8. This part follows the part of the string's
    /// pointer, at the same offset.
    Utf8,
    /// One of the array's elements is zero, because the array holds a string. This part follows the
    /// part of the array's pointer, at the same offset.
    Ended,
    /// An interface pointer.
    Object(Iid),
    /// Structures: their number, the distance in bytes between their starts, and their shape.
    Inner(u32, u32, Shape),
    /// A union: the discriminant's type, the discriminant, the arms, and the shape for all other
    /// discriminants.
    Union(Base, Expr, Vec<(Vec<i64>, Shape)>, Option<Shape>),
}

/// The layout of a structure for checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// The runs of bytes that are valid as they are: offset and length.
    pub runs: Vec<(u32, u32)>,
    /// The parts that need checks, each with its offset.
    pub parts: Vec<(u32, What)>,
}

/// The conformant array at the end of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tail {
    /// The array's offset.
    pub at: u32,
    /// The size of an element in bytes.
    pub size: u32,
    /// The shape of an element.
    pub shape: Shape,
    /// The number of elements.
    pub count: Expr,
    /// The number of valid elements.
    pub length: Option<Expr>,
}

/// The type of an object's elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementType {
    /// The size of an element in bytes.
    pub size: u32,
    /// The shape of an element.
    pub shape: Shape,
    /// The conformant array at the element's end.
    pub tail: Option<Tail>,
}

/// The properties of a member, except for its type.
#[derive(Clone, Copy, Debug, Default)]
pub struct About<'a> {
    /// The least and greatest value, if limited.
    pub range: Option<(i64, i64)>,
    /// Whether a string has to be in UTF-8.
    pub utf8: bool,
    /// The expression that selects a union's arm.
    pub switch: Option<&'a Arith>,
    /// The elements of an array that travel in NDR, if not all.
    pub varying: Option<&'a Varying>,
}

/// A source of shapes for a model's types.
#[derive(Clone, Copy)]
pub struct Shapes<'a> {
    /// The model.
    pub model: &'a Model,
    /// The types of the objects in an interface's frames, in the order of their type numbers.
    pub kinds: &'a [Type],
}

/// A walk over types that makes their shapes, with the type numbers of objects.
struct Walk<'a> {
    model: &'a Model,
    numbers: Numbers<'a>,
}

/// A function that translates the operands of expressions in a structure or a block.
pub(crate) type Operands<'a> = &'a dyn Fn(&Operand) -> Expr;

/// The function for types whose expressions have no operand.
pub(crate) const NOWHERE: Operands<'_> = &|_| Expr::Const(0);

impl Shape {
    fn run(&mut self, at: u32, length: u32) {
        match self.runs.last_mut() {
            Some((start, before)) if *start + *before == at => *before += length,
            _ => self.runs.push((at, length)),
        }
    }
}

pub(crate) fn expr(value: &Arith, operands: Operands<'_>) -> Expr {
    let of = |value: &Arith| expr(value, operands);
    match value {
        Arith::Const(value) => Expr::Const(*value),
        Arith::Operand(operand) => operands(operand),
        Arith::Unary(operator, inner) => Expr::Unary(operator, Box::new(of(inner))),
        Arith::Binary(operator, left, right) => Expr::Binary(operator.clone(), Box::new(of(left)), Box::new(of(right))),
        Arith::Ternary(condition, yes, no) => Expr::Choose(Box::new([of(condition), of(yes), of(no)])),
    }
}

impl<'a> Shapes<'a> {
    /// Returns the shape of a structure with these members at these offsets.
    pub fn block(&self, fields: &[(u32, &Type, About<'_>)], operands: Operands<'_>) -> Shape {
        self.walk().block(fields, operands)
    }

    /// Returns the element types of all objects, in the order of their type numbers.
    pub fn element_types(&self) -> Vec<ElementType> {
        let walk = self.walk();
        self.kinds.iter().map(|ty| walk.element_type(ty)).collect()
    }

    /// Returns the description of the elements of an object. `ty` is the elements' type.
    pub fn element_type(&self, ty: &Type) -> ElementType {
        self.walk().element_type(ty)
    }

    fn walk(&self) -> Walk<'a> {
        Walk { model: self.model, numbers: Numbers::of(self.kinds) }
    }
}

impl Walk<'_> {
    fn block(&self, fields: &[(u32, &Type, About<'_>)], operands: Operands<'_>) -> Shape {
        let mut shape = Shape::default();
        for (at, ty, about) in fields {
            self.add(&mut shape, *at, ty, *about, operands);
        }
        shape
    }

    fn add(&self, shape: &mut Shape, at: u32, ty: &Type, about: About<'_>, operands: Operands<'_>) {
        let (size, _) = self.model.layout(ty);
        match ty {
            Type::Base(base) => {
                shape.run(at, size);
                // A `bool` of Rust must be 0 or 1, so this check is needed even if there is a
                // [range].
                shape.parts.extend((*base == Base::Boolean).then_some((at, What::Boolean)));
                shape.parts.extend(about.range.map(|(least, most)| (at, What::Range(*base, least, most))));
            }
            Type::Enum(id) => {
                shape.run(at, size);
                let found = &self.model.enums[id.0];
                if found.open && !found.v1 {
                    shape.parts.push((at, What::Range(Base::I32, 0, Enum::NARROW_MAX.into())));
                } else if !found.open {
                    let mut values: Vec<i32> = found.values.iter().map(|(_, value)| *value).collect();
                    values.sort_unstable();
                    values.dedup();
                    shape.parts.push((at, What::Enum(values)));
                }
            }
            Type::Pointer(pointer) => {
                shape.parts.push((at, self.pointer(pointer, operands)));
                shape.parts.extend(about.utf8.then_some((at, What::Utf8)));
                let is_filled = matches!(pointer.extent, Extent::Counted { .. });
                let is_text = is_filled && about.varying == Some(&Varying::Text);
                shape.parts.extend(is_text.then_some((at, What::Ended)));
            }
            Type::Interface(object) => shape.parts.push((at, What::Object(self.iid(object, operands)))),
            Type::Struct(_) => self.inner(shape, at, 1, ty),
            Type::Fixed(element, count) => self.inner(shape, at, *count, element),
            Type::Union(id) if self.model.unions[id.0].encapsulated.is_some() => self.inner(shape, at, 1, ty),
            Type::Union(id) => {
                let tag = about.switch.map_or(Expr::Const(0), |switch| expr(switch, operands));
                shape.parts.push((at, self.union(*id, tag)));
            }
            Type::Void => {}
        }
    }

    /// Adds structures or elements of an array. If they need no checks, they become a run of bytes,
    /// which is copied and skipped as a whole.
    fn inner(&self, shape: &mut Shape, at: u32, count: u32, ty: &Type) {
        let inner = self.shape(ty);
        let (size, _) = self.model.layout(ty);
        if inner.parts.is_empty() && inner.runs == [(0, size)] {
            return shape.run(at, size * count);
        }
        shape.parts.push((at, What::Inner(count, size, inner)));
    }

    fn pointer(&self, pointer: &Pointer, operands: Operands<'_>) -> What {
        let element = match (&pointer.extent, &pointer.to) {
            (Extent::Text, Type::Base(base)) if base.size() == 2 => Element::Wide,
            (Extent::Text, _) => Element::Char,
            (_, to) => Element::Own(self.numbers.at(to)),
        };
        let count = match &pointer.extent {
            Extent::One => Count::One,
            Extent::Text => Count::Text,
            Extent::Counted { size, length } => {
                Count::Counted(expr(size, operands), length.as_ref().map(|length| expr(length, operands)))
            }
        };
        What::Pointer(pointer.class, element, count)
    }

    fn iid(&self, object: &Object, operands: Operands<'_>) -> Iid {
        match object {
            Object::Known(id) => Iid::Known(self.model.interfaces[id.0].uuid),
            Object::Unknown => Iid::Known(0x0000_0000_0000_0000_c000_0000_0000_0046),
            Object::IidIs(operand) => match operands(operand) {
                Expr::Member(at, _) => Iid::Member(at),
                Expr::Outer(number) => Iid::Outer(number),
                _ => Iid::Known(0),
            },
        }
    }

    fn union(&self, id: UnionId, tag: Expr) -> What {
        let union = &self.model.unions[id.0];
        let arm = |field: Option<&Field>| {
            field.map_or_else(Shape::default, |field| self.block(&[(0, &field.ty, About::of(field))], NOWHERE))
        };
        let arms = union.arms.iter().map(|found| (found.cases.clone(), arm(found.field.as_ref()))).collect();
        let of = if let Type::Base(base) = union.tag { base } else { Base::I32 };
        What::Union(of, tag, arms, union.default.as_ref().map(|field| arm(field.as_ref())))
    }

    /// Returns the shape of a type, from offset 0 on.
    fn shape(&self, ty: &Type) -> Shape {
        match ty {
            Type::Struct(id) => {
                let found = &self.model.structs[id.0];
                let (offsets, ..) = self.model.offsets(found);
                let fields: Vec<_> =
                    found.fields.iter().zip(&offsets).map(|(field, at)| (*at, &field.ty, About::of(field))).collect();
                self.block(&fields, &|operand| Expr::Member(offsets[operand.index], operand.base))
            }
            Type::Union(id) if self.model.unions[id.0].encapsulated.is_some() => {
                let union = &self.model.unions[id.0];
                let (tag, _) = self.model.layout(&union.tag);
                let (_, align) = self.model.union_body(union);
                let base = if let Type::Base(base) = union.tag { base } else { Base::I32 };
                let mut shape = Shape::default();
                self.add(&mut shape, 0, &union.tag, About::default(), NOWHERE);
                shape.parts.push((round_up(tag, align), self.union(*id, Expr::Member(0, base))));
                shape
            }
            other => self.block(&[(0, other, About::default())], NOWHERE),
        }
    }

    fn element_type(&self, ty: &Type) -> ElementType {
        let (size, _) = self.model.layout(ty);
        let tail = match ty {
            Type::Struct(id) => self.tail(&self.model.structs[id.0]),
            _ => None,
        };
        ElementType { size, shape: self.shape(ty), tail }
    }

    fn tail(&self, found: &crate::model::Struct) -> Option<Tail> {
        let (element, count, length) = found.conformant.as_ref()?;
        let (offsets, ..) = self.model.offsets(found);
        let operands = |operand: &Operand| Expr::Member(offsets[operand.index], operand.base);
        Some(Tail {
            at: offsets.last().copied().unwrap_or(0),
            size: self.model.layout(element).0,
            shape: self.shape(element),
            count: expr(count, &operands),
            length: length.as_ref().map(|length| expr(length, &operands)),
        })
    }
}

impl<'a> About<'a> {
    pub(crate) fn of(field: &'a Field) -> Self {
        Self { range: field.range, utf8: false, switch: field.switch.as_ref(), varying: field.varying.as_ref() }
    }

    /// Returns the properties of a parameter.
    pub(crate) fn of_param(param: &'a Param) -> Self {
        let Param { range, utf8, switch, varying, .. } = param;
        Self { range: *range, utf8: *utf8, switch: switch.as_ref(), varying: varying.as_ref() }
    }
}
