//! What the compiler tells about the frames of methods whose parameters have pointers in them.
//!
//! Tables, not code: one for each interface, with the types of its objects, and a block for each request and reply. A
//! structure lies in a frame as it lies in memory, so the same tables serve both: [`super::check`] reads frames by them,
//! and whoever makes frames of memory, or memory of frames, walks memory by them.

/// An integer member that an expression reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Int {
    /// 8 bits, signed.
    I8,
    /// 8 bits.
    U8,
    /// 16 bits, signed.
    I16,
    /// 16 bits.
    U16,
    /// 32 bits, signed.
    I32,
    /// 32 bits.
    U32,
    /// 64 bits, signed.
    I64,
    /// 64 bits.
    U64,
}

impl Int {
    /// Bytes.
    pub const fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 => 4,
            Self::I64 | Self::U64 => 8,
        }
    }

    /// The value of little-endian bytes, zero-extended. `None` where 64 bits without sign do not fit.
    pub const fn extend(self, bits: u64) -> Option<i64> {
        Some(match self {
            Self::I8 => bits as u8 as i8 as i64,
            Self::U8 => bits as u8 as i64,
            Self::I16 => bits as u16 as i16 as i64,
            Self::U16 => bits as u16 as i64,
            Self::I32 => bits as u32 as i32 as i64,
            Self::U32 => bits as u32 as i64,
            Self::I64 => bits.cast_signed(),
            Self::U64 if bits > i64::MAX.cast_unsigned() => return None,
            Self::U64 => bits.cast_signed(),
        })
    }
}

/// C's operators on one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-`
    Minus,
    /// `~`
    Complement,
    /// `!`
    Not,
}

/// C's operators on two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the operator of its name")]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    And,
    Or,
    BitAnd,
    BitOr,
    BitXor,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// An expression over the members beside the one that it is about.
#[derive(Clone, Copy, Debug)]
pub enum Expr {
    /// A number.
    Const(i64),
    /// The member at this offset from where the structure begins.
    Member(u32, Int),
    /// A value that is known beside the structure, by its number.
    Outer(u32),
    /// An operator and its operand.
    Unary(Unary, &'static Self),
    /// An operator and its operands.
    Binary(Binary, &'static Self, &'static Self),
    /// `a ? b : c`
    Choose(&'static Self, &'static Self, &'static Self),
}

impl Expr {
    /// Its value in 64-bit arithmetic, with the members that `load` gives. `None` where a member cannot be had, and where
    /// the arithmetic overflows or divides by zero.
    pub fn evaluate(&self, load: &impl Fn(u32, Int) -> Option<i64>, outer: &[i64]) -> Option<i64> {
        let of = |expr: &Self| expr.evaluate(load, outer);
        match self {
            Self::Const(value) => Some(*value),
            Self::Member(at, int) => load(*at, *int),
            Self::Outer(number) => outer.get(*number as usize).copied(),
            Self::Unary(operator, operand) => {
                let value = of(operand)?;
                match operator {
                    Unary::Minus => value.checked_neg(),
                    Unary::Complement => Some(!value),
                    Unary::Not => Some(i64::from(value == 0)),
                }
            }
            Self::Binary(operator, left, right) => operator.apply(of(left)?, of(right)?),
            Self::Choose(condition, yes, no) => {
                if of(condition)? != 0 {
                    of(yes)
                } else {
                    of(no)
                }
            }
        }
    }
}

impl Binary {
    fn apply(self, left: i64, right: i64) -> Option<i64> {
        let bits = || u32::try_from(right).ok();
        let truth = |value: bool| Some(i64::from(value));
        match self {
            Self::Add => left.checked_add(right),
            Self::Subtract => left.checked_sub(right),
            Self::Multiply => left.checked_mul(right),
            Self::Divide => left.checked_div(right),
            Self::Remainder => left.checked_rem(right),
            Self::ShiftLeft => left.checked_shl(bits()?),
            Self::ShiftRight => left.checked_shr(bits()?),
            Self::And => truth(left != 0 && right != 0),
            Self::Or => truth(left != 0 || right != 0),
            Self::BitAnd => Some(left & right),
            Self::BitOr => Some(left | right),
            Self::BitXor => Some(left ^ right),
            Self::Equal => truth(left == right),
            Self::Unequal => truth(left != right),
            Self::Less => truth(left < right),
            Self::LessOrEqual => truth(left <= right),
            Self::Greater => truth(left > right),
            Self::GreaterOrEqual => truth(left >= right),
        }
    }
}

/// Which pointers there are: C706 14.3.10.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Never null, and nobody else points there.
    Ref,
    /// May be null; nobody else points there.
    Unique,
    /// May be null; others may point there, in circles too.
    Full,
}

/// How many elements a pointer points to.
#[derive(Clone, Copy, Debug)]
pub enum Extent {
    /// One.
    One,
    /// As many as the expression says; only the first `length` of them hold anything, where that is given.
    Counted {
        /// How many there are.
        size: Expr,
        /// How many hold something.
        length: Option<Expr>,
    },
    /// Up to the first zero, which is the last.
    Text,
}

/// What an element of an object is, by its place in the table of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// A character of 8 bits.
    Char,
    /// A character of 16 bits.
    Wide,
    /// One of the interface's own types.
    Own(u16),
}

/// Whose interface pointer it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Iid {
    /// This interface's.
    Known(u128),
    /// That whose IID lies at this offset from where the structure begins.
    Member(u32),
    /// That whose IID is known beside the structure: the upper half is the value of this number, the lower half the next one.
    Outer(u32),
}

impl Iid {
    /// The IID of two values that are known beside a structure.
    pub fn outer(outer: &[i64], number: u32) -> Option<u128> {
        let half = |at: usize| outer.get(at).map(|half| u128::from(half.cast_unsigned()));
        Some(half(number as usize)? << 64 | half(number as usize + 1)?)
    }
}

/// What has to be looked at, at an offset from where the structure begins.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The offset, in bytes.
    pub at: u32,
    /// What is there.
    pub what: What,
}

/// What is not just bytes.
#[derive(Clone, Copy, Debug)]
pub enum What {
    /// 0 or 1.
    Boolean,
    /// One of these values, in ascending order.
    Enum(&'static [i32]),
    /// An integer within limits.
    Range(Int, i64, i64),
    /// An offset in a frame, an address in memory: eight bytes.
    Pointer {
        /// What it may be.
        class: Class,
        /// What it points to.
        to: Element,
        /// How many of them.
        extent: Extent,
    },
    /// An interface pointer in memory; in a frame, the offset of an OBJREF's bytes.
    Object(Iid),
    /// A structure, or the elements of an array of fixed size.
    Inner {
        /// How many.
        count: u32,
        /// The distance from one to the next.
        stride: u32,
        /// What each of them is.
        shape: Shape,
    },
    /// A union: what is there depends on a member beside it.
    Union {
        /// The discriminant.
        tag: Expr,
        /// The arms, by the discriminants that choose them.
        arms: &'static [(&'static [i64], Shape)],
        /// What is there for any other discriminant; `None` where there must be no other.
        default: Option<Shape>,
    },
}

/// What a structure is made of.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Where bytes lie that are a value, as offset and length; what is between them is padding, or one of the parts.
    pub runs: &'static [(u32, u32)],
    /// What has to be looked at.
    pub parts: &'static [Part],
}

/// The type of an object's elements.
#[derive(Debug)]
pub struct ElementType {
    /// Bytes of an element; of a structure with an array at its end, up to the array.
    pub size: u32,
    /// What it is made of.
    pub shape: Shape,
    /// The array at the end of a structure: an object has one such structure, and counts the array's elements.
    pub tail: Option<Tail>,
}

/// The array at the end of a structure.
#[derive(Debug)]
pub struct Tail {
    /// Where it begins.
    pub at: u32,
    /// Bytes of an element.
    pub size: u32,
    /// What an element is made of.
    pub shape: Shape,
    /// How many there are.
    pub count: Expr,
    /// How many hold something.
    pub length: Option<Expr>,
}

impl ElementType {
    /// Bytes of an object with this count. `None` where they are more than a frame can have.
    pub const fn bytes(&self, count: usize) -> Option<usize> {
        let (fixed, size) = match &self.tail {
            None => (0, self.size),
            // At least as long as C says: the array may begin within the structure's last padding.
            Some(tail) => (tail.at as usize, tail.size),
        };
        let Some(bytes) = count.checked_mul(size as usize) else { return None };
        let Some(bytes) = bytes.checked_add(fixed) else { return None };
        let bytes = if self.tail.is_some() && bytes < self.size as usize { self.size as usize } else { bytes };
        if bytes > super::FRAME_MAX { None } else { Some(bytes) }
    }
}

/// The parameters of a request or a reply: a structure at the start of the frame.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Bytes.
    pub size: u32,
    /// What it is made of.
    pub shape: Shape,
}
