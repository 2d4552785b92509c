//! Plans: what the messages of an interface are made of, in memory and in NDR.
//!
//! A plan has the types of an interface, each before those that contain it, the types that its objects have in FLAT, by
//! type number, and its methods. The compiler writes it as words, which [`super::words`] reads.

use crate::flat::shape::{Class, Expr, Int};
use crate::flat::{KIND_FIRST, KIND_INTERFACE, KIND_TEXT8, KIND_TEXT16};

/// A type, by its place in the plan.
pub(super) type TypeId = u32;

/// What calls of an interface look like.
#[derive(Debug)]
pub struct Plan {
    // Invariant: what a type contains by value is before it, and at most `DEPTH_MAX` deep. Places of types and of kinds are
    // within their tables.
    pub(super) types: Vec<Type>,
    /// The types of FLAT's objects, by their number less `KIND_FIRST`.
    pub(super) kinds: Vec<TypeId>,
    // Invariant: ordered by opnum.
    pub(super) methods: Vec<Method>,
}

/// A method's messages.
#[derive(Debug)]
pub struct Method {
    /// Its number in the vtable.
    pub(super) opnum: u16,
    /// Whether responses end with an HRESULT.
    pub(super) has_status: bool,
    /// Whether results come with its failures of FACILITY_DISPATCH, too. In frames, where a failure has none, such a failure is the success of
    /// the same facility and code.
    pub(super) fails_with_results: bool,
    pub(super) is_idempotent: bool,
    pub(super) request: Message,
    pub(super) response: Message,
    /// What a response's expressions read of the request, as places in its block.
    pub(super) outer: Vec<(u32, Int)>,
}

/// A request's or a response's parameters.
#[derive(Debug)]
pub(super) struct Message {
    /// Bytes of the block.
    pub(super) block: u32,
    /// In the order of the source, which is NDR's.
    pub(super) params: Vec<Param>,
}

/// A parameter.
#[derive(Debug)]
pub(super) struct Param {
    /// Its offset in the block.
    pub(super) at: u32,
    pub(super) what: Passing,
}

/// How a parameter lies in the two forms.
#[derive(Debug)]
pub(super) enum Passing {
    /// A value in the block.
    Value(TypeId),
    /// A slot in the block, and no pointer in NDR: a parameter that is a reference pointer.
    Direct(Target),
    /// Elements behind the block, without slot and header; a unique pointer in NDR.
    Lent {
        /// The elements' type number.
        kind: u32,
        /// How many there are.
        size: Expr,
    },
}

/// What a pointer leads to.
#[derive(Debug)]
pub(super) enum Target {
    /// One value; a structure may end in an array.
    One(u32),
    /// The elements of an array.
    Counted {
        /// Their type number.
        kind: u32,
        /// How many there are.
        size: Expr,
        /// How many travel, where these are not all.
        length: Option<Expr>,
    },
    /// Characters of 8 bits up to a zero.
    Text8,
    /// Characters of 16 bits up to a zero.
    Text16,
    /// An OBJREF: in NDR an `MInterfacePointer` (MS-DCOM 2.2.14).
    Interface,
}

impl Target {
    /// The type number of the object that is there.
    pub(super) const fn kind(&self) -> u32 {
        match self {
            Self::One(kind) | Self::Counted { kind, .. } => *kind,
            Self::Text8 => KIND_TEXT8,
            Self::Text16 => KIND_TEXT16,
            Self::Interface => KIND_INTERFACE,
        }
    }
}

/// A type.
#[derive(Debug)]
pub(super) struct Type {
    /// Bytes in memory, and from one element of an array to the next.
    pub(super) size: u32,
    pub(super) what: What,
    /// Its form in NDR and in NDR64.
    pub(super) wire: [Wire; 2],
}

impl Type {
    pub(super) const fn wire(&self, is_wide: bool) -> &Wire {
        &self.wire[is_wide as usize]
    }
}

/// What is known of a type's form on the wire.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wire {
    /// The alignment of a structure that contains it.
    pub(super) align: u32,
    /// The fewest bytes that it can have, without gaps.
    pub(super) least: u32,
    /// Whether its bytes are those in memory, in little-endian order, all of them values.
    pub(super) is_copied: bool,
}

/// What a type is.
#[derive(Debug)]
pub(super) enum What {
    /// A number of 1, 2, 4 or 8 bytes.
    Number,
    /// 0 or 1 in a byte.
    Boolean,
    /// Four bytes in memory and in NDR64, two in NDR.
    Enum,
    /// A GUID.
    Guid,
    /// An array of fixed size.
    Array {
        /// How many elements.
        count: u32,
        /// What they are.
        element: TypeId,
    },
    /// An array of fixed size, of whose elements only the first travel.
    Varying {
        /// How many elements there are.
        count: u32,
        /// What they are.
        element: TypeId,
        /// How many travel; `None` for a string, of which all up to the first zero do.
        length: Option<Expr>,
    },
    /// A structure.
    Struct {
        /// Offsets and types.
        members: Vec<(u32, TypeId)>,
        /// The array at its end.
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
    /// Where it begins.
    pub(super) at: u32,
    /// What its elements are.
    pub(super) element: TypeId,
    /// How many there are.
    pub(super) size: Expr,
    /// How many travel, where these are not all.
    pub(super) length: Option<Expr>,
}

/// A union.
#[derive(Debug)]
pub(super) struct Union {
    /// The discriminant's type: a number, a boolean or an enumeration.
    pub(super) tag: TypeId,
    /// How the discriminant's bytes in memory are read.
    pub(super) int: Int,
    /// Where the discriminant is, if not at the union's start.
    pub(super) switch: Option<Expr>,
    /// Where the arms begin.
    pub(super) body: u32,
    /// The arms, by the discriminants that choose them. `None` for an empty one.
    pub(super) arms: Vec<(Vec<i64>, Option<TypeId>)>,
    /// The arm for any other discriminant.
    pub(super) default: Option<Option<TypeId>>,
}

impl Union {
    /// The arm of a discriminant. `None` where it has none.
    pub(super) fn arm(&self, tag: i64) -> Option<Option<TypeId>> {
        let found = self.arms.iter().find(|(cases, _)| cases.contains(&tag)).map(|(_, arm)| *arm);
        found.or(self.default)
    }

    /// Whether two discriminants are one on the wire, and choose the same arm: what says the discriminant elsewhere may be wider, or have
    /// a sign where the union's has none.
    pub(super) fn is_same(&self, one: i64, other: i64) -> bool {
        let unseen = 64 - 8 * self.int.size();
        one << unseen == other << unseen && self.arm(one) == self.arm(other)
    }

    pub(super) fn all_arms(&self) -> impl Iterator<Item = Option<TypeId>> {
        self.arms.iter().map(|(_, arm)| *arm).chain(self.default)
    }
}

impl Method {
    /// Whether the interface says that performing it twice does no harm: `[idempotent]`.
    pub fn is_idempotent(&self) -> bool {
        self.is_idempotent
    }
}

impl Plan {
    /// The method of a number, as in the vtable: the first after IUnknown's is 3.
    pub fn method(&self, opnum: u16) -> Option<&Method> {
        let found = self.methods.binary_search_by_key(&opnum, |method| method.opnum).ok()?;
        Some(&self.methods[found])
    }

    pub(super) fn ty(&self, id: TypeId) -> &Type {
        &self.types[id as usize]
    }

    /// The type of objects with a number of the interface's own.
    pub(super) fn kind(&self, kind: u32) -> TypeId {
        self.kinds[(kind - KIND_FIRST) as usize]
    }
}
