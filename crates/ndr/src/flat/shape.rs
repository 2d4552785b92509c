//! The compiler's descriptions of frames, for methods with pointers in their parameters.
//!
//! The descriptions are tables, not code: one table for each interface with the types of its
//! objects, and a block for each request and response. A structure has the same layout in a frame
//! as in memory, so the tables describe both. [`super::check`] uses the tables to read frames. The
//! code that marshals between memory and frames uses them to walk memory.

/// The type of an integer member that an expression reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Int {
    /// 8 bits, signed.
    I8,
    /// 8 bits, unsigned.
    U8,
    /// 16 bits, signed.
    I16,
    /// 16 bits, unsigned.
    U16,
    /// 32 bits, signed.
    I32,
    /// 32 bits, unsigned.
    U32,
    /// 64 bits, signed.
    I64,
    /// 64 bits, unsigned.
    U64,
}

impl Int {
    /// Returns the size in bytes.
    pub const fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 => 4,
            Self::I64 | Self::U64 => 8,
        }
    }

    /// Extends the value in the lowest bits of `bits` to 64 bits. Returns `None` for a `u64` beyond
    /// `i64::MAX`.
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

/// C's unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-`
    Minus,
    /// `~`
    Complement,
    /// `!`
    Not,
}

/// C's binary operators.
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

/// An expression over the members of a structure.
#[derive(Clone, Copy, Debug)]
pub enum Expr {
    /// A constant.
    Const(i64),
    /// The member at this offset from the structure's start.
    Member(u32, Int),
    /// A value from outside of the structure, by its number.
    Outer(u32),
    /// An operator and its operand.
    Unary(Unary, &'static Self),
    /// An operator and its operands.
    Binary(Binary, &'static Self, &'static Self),
    /// `a ? b : c`
    Choose(&'static Self, &'static Self, &'static Self),
}

impl Expr {
    /// Whether the expression reads the value [`Self::Outer`] with this number.
    fn reads(&self, number: u32) -> bool {
        match self {
            Self::Const(_) | Self::Member(..) => false,
            Self::Outer(found) => *found == number,
            Self::Unary(_, operand) => operand.reads(number),
            Self::Binary(_, left, right) => left.reads(number) || right.reads(number),
            Self::Choose(condition, yes, no) => [condition, yes, no].iter().any(|part| part.reads(number)),
        }
    }

    /// Evaluates the expression in 64-bit arithmetic, with members read by `load`. Returns `None`
    /// if a member is unavailable, if the arithmetic overflows, and for a division by zero.
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
            Self::Binary(operator, left, right) => {
                let left = of(left)?;
                match (operator, left != 0) {
                    // As in C, the right operand is not evaluated, so it need not have a value.
                    (Binary::And, false) => Some(0),
                    (Binary::Or, true) => Some(1),
                    _ => operator.apply(left, of(right)?),
                }
            }
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

/// The classes of pointers: C706 14.3.10.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A reference pointer: not null, without aliases.
    Ref,
    /// A unique pointer: may be null, without aliases.
    Unique,
    /// A full pointer: may be null and have aliases, and may be part of a cycle.
    Full,
}

/// The number of elements that a pointer refers to.
#[derive(Clone, Copy, Debug)]
pub enum Extent {
    /// A single element.
    One,
    /// As many elements as the expression `size` says. If there is a `length`, only the first
    /// `length` of them are valid.
    Counted {
        /// The number of elements.
        size: Expr,
        /// The number of valid elements.
        length: Option<Expr>,
    },
    /// All elements up to and including the first zero.
    Text,
}

/// The type of an object's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// A character of 8 bits.
    Char,
    /// A character of 16 bits.
    Wide,
    /// One of the interface's own types, by its place in the table of types.
    Own(u16),
}

/// The IID of an interface pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Iid {
    /// A constant IID.
    Known(u128),
    /// The IID at this offset from the structure's start.
    Member(u32),
    /// The IID in two values from outside of the structure: the upper half is the value with this
    /// number, the lower half the value with the next number.
    Outer(u32),
}

impl Iid {
    /// Returns the IID whose upper half is the value of `outer` with this number, and whose lower
    /// half is the next value. Returns `None` if one of the values does not exist.
    pub fn outer(outer: &[i64], number: u32) -> Option<u128> {
        let half = |at: usize| outer.get(at).map(|half| u128::from(half.cast_unsigned()));
        Some(half(number as usize)? << 64 | half(number as usize + 1)?)
    }
}

/// A part of a structure that needs checks or translation.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The offset from the structure's start, in bytes.
    pub at: u32,
    /// The kind of the part.
    pub what: What,
}

/// The kind of a part.
#[derive(Clone, Copy, Debug)]
pub enum What {
    /// A boolean, 0 or 1.
    Boolean,
    /// An enumeration with these values, in ascending order.
    Enum(&'static [i32]),
    /// An integer within inclusive limits.
    Range(Int, i64, i64),
    /// A pointer of eight bytes: an offset in a frame, an address in memory.
    Pointer {
        /// The pointer's class.
        class: Class,
        /// The type of the referent's elements.
        to: Element,
        /// The number of elements.
        extent: Extent,
    },
    /// An interface pointer in memory; in a frame, the offset of an OBJREF.
    Object(Iid),
    /// A structure, or the elements of an array of fixed size.
    Inner {
        /// The number of elements.
        count: u32,
        /// The distance between elements, in bytes.
        stride: u32,
        /// The contents of each element.
        shape: Shape,
    },
    /// A union whose contents depend on its discriminant.
    Union {
        /// The discriminant.
        tag: Expr,
        /// The arms with their discriminants.
        arms: &'static [(&'static [i64], Shape)],
        /// The arm for other discriminants; `None` if they are invalid.
        default: Option<Shape>,
    },
    /// The string of 8-bit characters is in UTF-8. This part follows the part of the string's
    /// pointer, at the same offset.
    Utf8,
    /// One of the array's elements is zero, because the array holds a string. An array without
    /// elements is accepted, too. This part follows the part of the array's pointer, at the same
    /// offset.
    Ended,
}

/// The contents of a structure.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The stretches of bytes that are copied unchanged, each with its offset and its length in
    /// bytes. The bytes between the stretches are padding or belong to parts.
    pub runs: &'static [(u32, u32)],
    /// The parts that need checks or translation.
    pub parts: &'static [Part],
}

/// The description of a type of objects: the size, the contents and the trailing array of an
/// element.
#[derive(Debug)]
pub struct ElementType {
    /// The size of an element in bytes, without the array at the end of a structure.
    pub size: u32,
    /// The contents of an element.
    pub shape: Shape,
    /// The array at the end of a structure. An object contains one such structure, and the object's
    /// count is the array's count.
    pub tail: Option<Tail>,
}

/// The array at the end of a structure.
#[derive(Debug)]
pub struct Tail {
    /// The array's offset in the structure.
    pub at: u32,
    /// The size of an element, in bytes.
    pub size: u32,
    /// The contents of an element.
    pub shape: Shape,
    /// The number of elements.
    pub count: Expr,
    /// The number of valid elements.
    pub length: Option<Expr>,
}

impl ElementType {
    /// Returns the size in bytes of an object with this count, or `None` if the size exceeds the
    /// maximum of a frame.
    pub const fn bytes(&self, count: usize) -> Option<usize> {
        let (fixed, size) = match &self.tail {
            None => (0, self.size),
            // The array may begin within the structure's trailing padding, but the object is at
            // least as long as C's structure.
            Some(tail) => (tail.at as usize, tail.size),
        };
        let Some(bytes) = count.checked_mul(size as usize) else { return None };
        let Some(bytes) = bytes.checked_add(fixed) else { return None };
        let bytes = if self.tail.is_some() && bytes < self.size as usize { self.size as usize } else { bytes };
        if bytes > super::FRAME_MAX { None } else { Some(bytes) }
    }
}

impl ElementType {
    /// Returns the size of the memory for an object of `bytes` bytes. C declares the array at the
    /// end of a structure with one element. If the array is empty, the structure's type in C is
    /// larger than the object.
    pub const fn memory(&self, bytes: usize) -> usize {
        let Some(tail) = &self.tail else { return bytes };
        let least = (tail.at as usize + tail.size as usize).next_multiple_of(super::OBJECT_ALIGN);
        if bytes < least { least } else { bytes }
    }
}

/// The parameters of a request or a response: a structure at the start of the frame.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// The size in bytes.
    pub size: u32,
    /// The contents of the parameters.
    pub shape: Shape,
}

impl Block {
    /// Whether the size or the length of an array depends on the value [`Expr::Outer`] with this
    /// number. An outer value on which no array depends is a discriminant or a part of an IID.
    pub fn counts_by(&self, number: u32) -> bool {
        self.shape.parts.iter().any(|part| match &part.what {
            What::Pointer { extent: Extent::Counted { size, length }, .. } => {
                size.reads(number) || length.as_ref().is_some_and(|length| length.reads(number))
            }
            _ => false,
        })
    }
}
