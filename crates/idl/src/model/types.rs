//! Types, and expressions over members and parameters.

use super::base::Base;

/// A structure, by its index in [`Model::structs`](super::Model::structs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StructId(pub usize);

/// A union, by its index in [`Model::unions`](super::Model::unions).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnionId(pub usize);

/// An enumeration, by its index in [`Model::enums`](super::Model::enums).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EnumId(pub usize);

/// An interface, by its index in [`Model::interfaces`](super::Model::interfaces).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InterfaceId(pub usize);

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A base type.
    Base(Base),
    /// An enumeration.
    Enum(EnumId),
    /// A structure.
    Struct(StructId),
    /// A union.
    Union(UnionId),
    /// An array whose size is part of the type.
    Fixed(Box<Self>, u32),
    /// A pointer.
    Pointer(Box<Pointer>),
    /// A pointer to an object.
    Interface(Object),
    /// No value.
    Void,
}

/// The kind of object that an interface pointer refers to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Object {
    /// An object with this interface.
    Known(InterfaceId),
    /// Any object.
    Unknown,
    /// An object with the interface whose IID another member or parameter holds.
    IidIs(Operand),
}

/// The class of a pointer: whether it may be null, and whether other pointers may refer to its
/// target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PointerClass {
    /// Never null.
    Ref,
    /// May be null. No other pointer refers to the target.
    Unique,
    /// May be null. Other pointers may refer to the target, in cycles too.
    Full,
}

/// A pointer with its target.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pointer {
    /// The pointer's class.
    pub class: PointerClass,
    /// The type of the target's value, or of the elements of an array or a string.
    pub to: Type,
    /// The number of values at the target.
    pub extent: Extent,
}

/// The number of values that a pointer points to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// One value.
    One,
    /// The number of elements that an expression gives, of which `length` elements are passed.
    Counted {
        /// The number of elements for which there is room.
        size: Arith,
        /// The number of elements that are passed, if not all.
        length: Option<Arith>,
    },
    /// All elements up to the first zero.
    Text,
}

/// A member or a parameter that an expression reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    /// The operand's index among the members or parameters.
    pub index: usize,
    /// Whether the operand is a pointer whose target is read, as in `*n`.
    pub deref: bool,
    /// The type of the integer that is read.
    pub base: Base,
}

/// An expression over members or parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Arith {
    /// A number.
    Const(i64),
    /// A member or a parameter.
    Operand(Operand),
    /// `-`, `~`, `!`.
    Unary(&'static str, Box<Self>),
    /// C's binary operators.
    Binary(String, Box<Self>, Box<Self>),
    /// `a ? b : c`.
    Ternary(Box<Self>, Box<Self>, Box<Self>),
}

impl Arith {
    /// Calls `f` with every operand.
    pub fn operands(&self, f: &mut impl FnMut(&Operand)) {
        match self {
            Self::Const(_) => {}
            Self::Operand(operand) => f(operand),
            Self::Unary(_, a) => a.operands(f),
            Self::Binary(_, a, b) => {
                a.operands(f);
                b.operands(f);
            }
            Self::Ternary(a, b, c) => {
                a.operands(f);
                b.operands(f);
                c.operands(f);
            }
        }
    }

    /// Returns the same expression with each operand replaced by `f`.
    #[must_use]
    pub fn map_operands(&self, f: &impl Fn(&Operand) -> Operand) -> Self {
        let of = |value: &Self| Box::new(value.map_operands(f));
        match self {
            Self::Const(value) => Self::Const(*value),
            Self::Operand(operand) => Self::Operand(f(operand)),
            Self::Unary(operator, a) => Self::Unary(operator, of(a)),
            Self::Binary(operator, a, b) => Self::Binary(operator.clone(), of(a), of(b)),
            Self::Ternary(a, b, c) => Self::Ternary(of(a), of(b), of(c)),
        }
    }

    /// Returns the operand, if the expression is a single parameter or member.
    pub fn plain(&self) -> Option<&Operand> {
        match self {
            Self::Operand(operand) => Some(operand),
            _ => None,
        }
    }
}

/// The value of a constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An integer.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// A text.
    Text(String),
}
