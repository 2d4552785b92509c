//! Plans: descriptions of an interface's messages in memory and in NDR.
//!
//! A plan has three lists: the types of an interface, where a type follows its parts; the types of
//! the interface's FLAT objects, by type number; and the methods. The compiler writes the plan as
//! words, which [`super::words`] reads.

use crate::flat::shape::{Class, Expr, Int};
use crate::flat::{KIND_FIRST, KIND_INTERFACE, KIND_TEXT8, KIND_TEXT16};

/// A type's index in the plan.
pub(super) type TypeId = u32;

/// The description of an interface's calls.
#[derive(Debug)]
pub struct Plan {
    // Invariant: the types that a type contains by value precede the type, and are nested at most
    // `DEPTH_MAX` deep. Type and kind indexes are within their tables.
    pub(super) types: Vec<Type>,
    /// The types of FLAT's objects, by type number minus `KIND_FIRST`.
    pub(super) kinds: Vec<TypeId>,
    // Invariant: sorted by opnum.
    pub(super) methods: Vec<Method>,
}

/// The messages of a method.
#[derive(Debug)]
pub struct Method {
    /// The method's vtable slot.
    pub(super) opnum: u16,
    /// Whether responses end with an HRESULT.
    pub(super) has_status: bool,
    /// Whether failures of FACILITY_DISPATCH have results, too. In frames, failures have no
    /// results. A frame therefore represents such a failure as the success of the same facility
    /// and code.
    pub(super) fails_with_results: bool,
    pub(super) is_idempotent: bool,
    pub(super) request: Message,
    pub(super) response: Message,
    /// The offsets and types of the values in the request's block that the response's expressions
    /// read.
    pub(super) outer: Vec<(u32, Int)>,
}

/// The parameters of a request or a response.
#[derive(Debug)]
pub(super) struct Message {
    /// The size of the block, in bytes.
    pub(super) block: u32,
    /// The parameters in the order of the source, which is NDR's order.
    pub(super) params: Vec<Param>,
}

/// A parameter.
#[derive(Debug)]
pub(super) struct Param {
    /// The offset in the block.
    pub(super) at: u32,
    pub(super) what: Passing,
}

/// The layout of a parameter in a frame and in NDR.
#[derive(Debug)]
pub(super) enum Passing {
    /// A value in the block.
    Value(TypeId),
    /// A reference pointer: a slot in the block, but no pointer in NDR.
    Direct(Target),
    /// A unique pointer in NDR. In the frame, the elements follow the block, and have neither a
    /// slot nor a header.
    Lent {
        /// The elements' type number.
        kind: u32,
        /// The number of elements.
        size: Expr,
    },
}

/// The referent of a pointer.
#[derive(Debug)]
pub(super) enum Target {
    /// A single value; a structure may end in an array.
    One(u32),
    /// The elements of an array.
    Counted {
        /// The elements' type number.
        kind: u32,
        /// The number of elements.
        size: Expr,
        /// The number of valid elements, if the array is varying.
        length: Option<Expr>,
    },
    /// The elements of an array that holds a string: numbers of 8 or 16 bits, one of which is zero.
    /// NDR transmits the elements up to the first zero. An array may also have no elements at all.
    Filled {
        /// The elements' type number.
        kind: u32,
        /// The number of elements.
        size: Expr,
    },
    /// A string of 8-bit characters up to a zero.
    Text8,
    /// A string of 16-bit characters up to a zero.
    Text16,
    /// An OBJREF: in NDR an `MInterfacePointer` (MS-DCOM 2.2.14).
    Interface,
}

impl Target {
    /// Returns the type number of the referent's object.
    pub(super) const fn kind(&self) -> u32 {
        match self {
            Self::One(kind) | Self::Counted { kind, .. } | Self::Filled { kind, .. } => *kind,
            Self::Text8 => KIND_TEXT8,
            Self::Text16 => KIND_TEXT16,
            Self::Interface => KIND_INTERFACE,
        }
    }
}

/// A type.
#[derive(Debug)]
pub(super) struct Type {
    /// The size in memory and the distance between an array's elements, in bytes.
    pub(super) size: u32,
    pub(super) what: What,
    /// The forms in NDR and in NDR64.
    pub(super) wire: [Wire; 2],
}

impl Type {
    pub(super) const fn wire(&self, is_wide: bool) -> &Wire {
        &self.wire[is_wide as usize]
    }
}

/// The properties of a type's form on the wire.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wire {
    /// The alignment that the type imposes on a structure that contains it.
    pub(super) align: u32,
    /// The least size in bytes, without gaps.
    pub(super) least: u32,
    /// Whether the little-endian form has the same bytes as the form in memory, and neither has
    /// gaps.
    pub(super) is_copied: bool,
}

/// The kind of a type.
#[derive(Debug)]
pub(super) enum What {
    /// A number of 1, 2, 4 or 8 bytes.
    Number,
    /// A boolean: 0 or 1 in a byte.
    Boolean,
    /// An enumeration: four bytes in memory and in NDR64, two in NDR.
    Enum,
    /// A GUID.
    Guid,
    /// An array of fixed size.
    Array {
        /// The number of elements.
        count: u32,
        /// The elements' type.
        element: TypeId,
    },
    /// An array of fixed size of which only the first elements are sent.
    Varying {
        /// The number of elements.
        count: u32,
        /// The elements' type.
        element: TypeId,
        /// The number of valid elements; `None` for a string, which ends with the first zero.
        length: Option<Expr>,
    },
    /// A structure.
    Struct {
        /// The members' offsets and types.
        members: Vec<(u32, TypeId)>,
        /// The array at the end of the structure.
        tail: Option<Tail>,
    },
    /// A union.
    Union(Union),
    /// A pointer.
    Pointer(Class, Target),
}

/// The array at the end of a structure.
#[derive(Debug)]
pub(super) struct Tail {
    /// The array's offset in the structure.
    pub(super) at: u32,
    /// The elements' type.
    pub(super) element: TypeId,
    /// The number of elements.
    pub(super) size: Expr,
    /// The number of valid elements, if the array is varying.
    pub(super) length: Option<Expr>,
}

/// A union.
#[derive(Debug)]
pub(super) struct Union {
    /// The discriminant's type: a number, a boolean or an enumeration.
    pub(super) tag: TypeId,
    /// The integer type of the discriminant in memory.
    pub(super) int: Int,
    /// The discriminant, if it is not at the union's start.
    pub(super) switch: Option<Expr>,
    /// The arms' offset in the union.
    pub(super) body: u32,
    /// The arms with their discriminants; `None` for an empty arm.
    pub(super) arms: Vec<(Vec<i64>, Option<TypeId>)>,
    /// The arm for other discriminants: `None` if they are invalid, `Some(None)` for an empty arm.
    pub(super) default: Option<Option<TypeId>>,
}

impl Union {
    /// Returns the arm for a discriminant: `None` if the discriminant is invalid, `Some(None)` for
    /// an empty arm.
    pub(super) fn arm(&self, tag: i64) -> Option<Option<TypeId>> {
        let found = self.arms.iter().find(|(cases, _)| cases.contains(&tag)).map(|(_, arm)| *arm);
        found.or(self.default)
    }

    /// Whether two discriminants have the same form on the wire and select the same arm. The two
    /// values may differ, because the expression for a discriminant can be wider than the
    /// discriminant, or can have another signedness.
    pub(super) fn is_same(&self, one: i64, other: i64) -> bool {
        let unseen = 64 - 8 * self.int.size();
        one << unseen == other << unseen && self.arm(one) == self.arm(other)
    }

    pub(super) fn all_arms(&self) -> impl Iterator<Item = Option<TypeId>> {
        self.arms.iter().map(|(_, arm)| *arm).chain(self.default)
    }
}

impl Method {
    /// Whether the interface declares the method `[idempotent]`.
    pub fn is_idempotent(&self) -> bool {
        self.is_idempotent
    }
}

impl Plan {
    /// Returns the method in a vtable slot, if there is one. IUnknown's methods have slots 0 to 2,
    /// so the first other method has slot 3.
    pub fn method(&self, opnum: u16) -> Option<&Method> {
        let found = self.methods.binary_search_by_key(&opnum, |method| method.opnum).ok()?;
        Some(&self.methods[found])
    }

    pub(super) fn ty(&self, id: TypeId) -> &Type {
        &self.types[id as usize]
    }

    /// Returns the type of the objects with the type number `kind`, which must be a number of the
    /// interface's own types.
    pub(super) fn kind(&self, kind: u32) -> TypeId {
        self.kinds[(kind - KIND_FIRST) as usize]
    }
}
