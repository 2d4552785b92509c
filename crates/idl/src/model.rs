//! The checked model: what a file declares, with every name resolved and every constant evaluated.
//!
//! Back ends read this and nothing else. Types live in tables and are named by their index.

mod base;
mod library;
mod measure;
mod reach;

pub use crate::automation::{Kind, Member, Memory, Variant};
pub use crate::typelib::Help;
pub use base::Base;
pub use library::{About, Coclass, Declared, DispMember, DispMembers, Dispinterface, ImportLib, Library, Offered};
pub(crate) use measure::all_arms;
pub use measure::{Measure, round};
pub use reach::Known;

use crate::source::Span;
use std::collections::HashMap;

/// A structure, by its place in [`Model::structs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StructId(pub usize);
/// A union, by its place in [`Model::unions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnionId(pub usize);
/// An enumeration, by its place in [`Model::enums`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EnumId(pub usize);
/// An interface, by its place in [`Model::interfaces`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InterfaceId(pub usize);

/// Everything that one compilation knows.
#[derive(Debug, Default)]
pub struct Model {
    /// Constants, in the order of the source.
    pub consts: Vec<Const>,
    /// Structures; one that contains another by value comes after it.
    pub structs: Vec<Struct>,
    /// Unions.
    pub unions: Vec<Union>,
    /// Enumerations.
    pub enums: Vec<Enum>,
    /// Interfaces; a base comes before those that extend it.
    pub interfaces: Vec<Interface>,
    /// Names that typedefs give, in the order of the source.
    pub typedefs: Vec<Typedef>,
    /// Classes of objects.
    pub coclasses: Vec<Coclass>,
    /// Interfaces that are called by name only: no code is made of them.
    pub dispinterfaces: Vec<Dispinterface>,
    /// Libraries, of which type libraries are made.
    pub libraries: Vec<Library>,
    /// How many of each, the first ones, are of Automation's file: see [`automation`](crate::automation).
    pub built_in: Brought,
    /// How many of each, those included, are of files that the compiler brings along, and that the runtime has code for.
    pub brought: Brought,
    /// Structures of which no members are declared, and what leads to such: which one that is. Only `[local]` methods have them.
    pub opaque: HashMap<Type, StructId>,
    /// What back ends have found out of the types.
    pub known: Known,
}

/// How many types come from files that the compiler brings along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Brought {
    /// Constants.
    pub consts: usize,
    /// Structures.
    pub structs: usize,
    /// Unions.
    pub unions: usize,
    /// Enumerations.
    pub enums: usize,
    /// Interfaces.
    pub interfaces: usize,
    /// Names.
    pub typedefs: usize,
}

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
    /// Nothing.
    Void,
}

/// What kind of object an interface pointer is to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Object {
    /// One of this interface.
    Known(InterfaceId),
    /// Any object.
    Unknown,
    /// One of the interface whose IID another member or parameter holds.
    IidIs(Operand),
}

/// What a pointer may be and who else may point there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PointerClass {
    /// Never null.
    Ref,
    /// May be null; nobody else points there.
    Unique,
    /// May be null; others may point there, in circles too.
    Full,
}

/// A pointer, and what it points to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pointer {
    /// Its class.
    pub class: PointerClass,
    /// What it points to: one value, or the elements of an array or a string.
    pub to: Type,
    /// How many.
    pub extent: Extent,
}

/// How many values a pointer points to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// One.
    One,
    /// As many as an expression says; of these, as many are passed as another says.
    Counted {
        /// How many there is room for.
        size: Arith,
        /// How many are passed, where these are not all.
        length: Option<Arith>,
    },
    /// Up to the first zero.
    Text,
}

/// A member or a parameter that an expression reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    /// Its place among the members or parameters.
    pub index: usize,
    /// Whether it is a pointer whose value is meant, as in `*n`.
    pub deref: bool,
    /// The integer it holds.
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

    /// The same expression over other operands.
    #[must_use]
    pub fn over(&self, f: &impl Fn(&Operand) -> Operand) -> Self {
        let of = |value: &Self| Box::new(value.over(f));
        match self {
            Self::Const(value) => Self::Const(*value),
            Self::Operand(operand) => Self::Operand(f(operand)),
            Self::Unary(operator, a) => Self::Unary(operator, of(a)),
            Self::Binary(operator, a, b) => Self::Binary(operator.clone(), of(a), of(b)),
            Self::Ternary(a, b, c) => Self::Ternary(of(a), of(b), of(c)),
        }
    }

    /// The parameter or member, if it is nothing else.
    pub fn plain(&self) -> Option<&Operand> {
        match self {
            Self::Operand(operand) => Some(operand),
            _ => None,
        }
    }
}

/// A name of a type, which nothing else refers to: what it stands for is known wherever it is used.
#[derive(Clone, Debug)]
pub struct Typedef {
    /// The name.
    pub name: String,
    /// What it stands for; for an interface's further name, a pointer to an object.
    pub ty: Type,
    /// Whether it names an interface, and not a pointer to an object.
    pub is_interface: bool,
    /// Whether type libraries have it as a type of its own, as `[public]` or a UUID says.
    pub public: bool,
    /// What is said of it.
    pub about: About,
    /// Where it is declared.
    pub span: Span,
    /// Whether it is declared in a file that this one imports.
    pub imported: bool,
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

/// A constant.
#[derive(Clone, Debug)]
pub struct Const {
    /// Its name.
    pub name: String,
    /// Its type; a text's characters.
    pub base: Option<Base>,
    /// Its value.
    pub value: Value,
    /// Whether it is declared in a file that this one imports.
    pub imported: bool,
}

/// A member of a structure, or the content of an arm.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// The name that its type has in the file, by its place in [`Model::typedefs`].
    pub named: Option<usize>,
    /// The values it may have, where it is limited.
    pub range: Option<(i64, i64)>,
    /// For a union without a discriminant of its own: what chooses the arm.
    pub switch: Option<Arith>,
    /// For an array of fixed size: which of its elements travel in NDR, if not all.
    pub varying: Option<Varying>,
    /// Where it is declared.
    pub span: Span,
}

/// Which elements of an array of fixed size travel in NDR. In memory and in FLAT all are there.
#[derive(Clone, Debug, PartialEq)]
pub enum Varying {
    /// Those up to the first zero: `[string]`.
    Text,
    /// The first, as many as this says: `[length_is]`.
    Length(Arith),
}

/// A structure.
#[derive(Clone, Debug)]
pub struct Struct {
    /// Its name.
    pub name: String,
    /// Its members.
    pub fields: Vec<Field>,
    /// The last member, where it is an array whose length another member holds: element type, size, length.
    pub conformant: Option<(Type, Arith, Option<Arith>)>,
    /// What its members make of it; nothing, until they are known.
    pub measure: Measure,
    /// What is said of it.
    pub about: About,
    /// Whether it is declared in a file that this one imports.
    pub imported: bool,
    /// Where it is declared.
    pub span: Span,
}

/// An arm of a union.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The discriminants that choose it; none for the default arm.
    pub cases: Vec<i64>,
    /// The names of the cases, where they are names.
    pub labels: Vec<Option<String>>,
    /// What it holds.
    pub field: Option<Field>,
}

/// A union.
#[derive(Clone, Debug)]
pub struct Union {
    /// Its name.
    pub name: String,
    /// The discriminant's type.
    pub tag: Type,
    /// The discriminant's and the union's member names, where the union has a discriminant of its own.
    pub encapsulated: Option<(String, String)>,
    /// The arms.
    pub arms: Vec<Arm>,
    /// The arm for every other discriminant: `Some(None)` is an empty one.
    pub default: Option<Option<Field>>,
    /// What its arms make of it; nothing, until they are known.
    pub measure: Measure,
    /// What is said of it.
    pub about: About,
    /// Whether it is declared in a file that this one imports.
    pub imported: bool,
    /// Where it is declared.
    pub span: Span,
}

/// An enumeration.
#[derive(Clone, Debug)]
pub struct Enum {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: Vec<(String, i32)>,
    /// Whether it has 32 bits in NDR, as `[v1_enum]` says, and not 16. In memory and in FLAT each has 32.
    pub v1: bool,
    /// Whether values may come that it does not list, as `[open]` says: newer peers have more of them. Without `v1` they are those that
    /// NDR's 16 bits have, from 0 to [`Enum::NARROW_MAX`].
    pub open: bool,
    /// What is said of it.
    pub about: About,
    /// Whether it is declared in a file that this one imports.
    pub imported: bool,
    /// Where it is declared.
    pub span: Span,
}

impl Enum {
    /// The largest value that 16 bits in NDR have: MIDL's stubs refuse larger ones.
    pub const NARROW_MAX: i32 = 0x7fff;

    /// Whether every value of 32 bits is one of its own.
    pub const fn is_any(&self) -> bool {
        self.open && self.v1
    }
}

/// Which way a parameter goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the object.
    In,
    /// From the object.
    Out,
    /// Both ways.
    InOut,
}

impl Direction {
    /// Whether it is part of the request.
    pub const fn is_in(self) -> bool {
        !matches!(self, Self::Out)
    }

    /// Whether it is part of the reply.
    pub const fn is_out(self) -> bool {
        !matches!(self, Self::In)
    }
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its name in code, where a type or a constant of the same name would not be found for it, or be found instead of it.
    pub code: String,
    /// Which way it goes.
    pub direction: Direction,
    /// Whether languages with results show it as the result.
    pub retval: bool,
    /// Its type, as declared: an `[out]` parameter is a pointer.
    pub ty: Type,
    /// The name that its type has in the file, by its place in [`Model::typedefs`].
    pub named: Option<usize>,
    /// Whether the model has one pointer more than the declaration, a reference pointer that nothing travels for: to a structure that ends
    /// in an open array and comes back, so that the method may put a longer one in its place.
    pub boxed: bool,
    /// The values it may have, where it is limited.
    pub range: Option<(i64, i64)>,
    /// For a union without a discriminant of its own: what chooses the arm.
    pub switch: Option<Arith>,
    /// For an array of fixed size: which of its elements travel in NDR, if not all.
    pub varying: Option<Varying>,
    /// How its elements get to the other side.
    pub transfer: Transfer,
    /// What it is in memory, where that is not what travels: `ty` is what travels then.
    pub memory: Option<Memory>,
    /// What calls by name have for it; `None` where they have nothing.
    pub variant: Option<Variant>,
    /// Where it is declared.
    pub span: Span,
}

/// How the elements of an array get to the other side, where the interface says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transfer {
    /// In the frame.
    #[default]
    Frame,
    /// As a reference, where they lie in shared memory; in the frame otherwise.
    ZeroCopy,
    /// As a reference, and not at all where a reference could be made but they do not lie in shared memory.
    Map,
    /// In the frame, where the caller reads them until its next call; the method has room for so many there.
    Lend(u32),
}

/// What a method returns, in the language of the IDL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// An HRESULT, as every method of an object does: in NDR it is the last of the response.
    Hresult,
    /// Nothing: whether the call came about is all that its HRESULT says, which does not travel in NDR.
    Nothing,
    /// A value, which the model has as the last parameter, `[out, retval]`; its HRESULT as for [`Self::Nothing`].
    Value,
}

/// A method.
#[derive(Clone, Debug)]
pub struct Method {
    /// Its name.
    pub name: String,
    /// Its name in languages in which nothing in an interface has the name of the interface.
    pub code: String,
    /// Its number in the vtable: the first after IUnknown's is 3. In NDR that is the operation's number too, but for those of plain
    /// interfaces, which begin with 0.
    pub opnum: u16,
    /// What it returns.
    pub returns: Returns,
    /// Whether nobody waits for its end.
    pub oneway: bool,
    /// Whether performing it twice does no harm.
    pub idempotent: bool,
    /// What calls by name know of it.
    pub member: Member,
    /// Whether its interface exists in one process only.
    pub local: bool,
    /// Its parameters.
    pub params: Vec<Param>,
    /// The comment before it.
    pub doc: String,
    /// Where it is declared.
    pub span: Span,
}

/// An interface.
#[derive(Clone, Debug)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its IID.
    pub uuid: u128,
    /// Its version, major and minor.
    pub version: (u16, u16),
    /// The interface that it extends; none for those that extend IUnknown.
    pub base: Option<InterfaceId>,
    /// Its own methods.
    pub methods: Vec<Method>,
    /// Whether it exists in one process only: no proxies are made.
    pub local: bool,
    /// Whether it extends IDispatch, so that its methods are called by name as well.
    pub dual: bool,
    /// Whether it is no object's interface, but one of the functions that a server has: an interface of C706 without `[object]`. Here
    /// it extends IUnknown, and its methods return an HRESULT beside what they return: see [`Returns`].
    pub plain: bool,
    /// Where servers of it are found, as its `[endpoint]` says: `ncacn_ip_tcp:[135]`.
    pub endpoints: Vec<String>,
    /// What else is said of it.
    pub about: About,
    /// The comment before it.
    pub doc: String,
    /// Whether it is declared in a file that this one imports.
    pub imported: bool,
    /// Where it is declared.
    pub span: Span,
}

impl Model {
    /// Whether the compiler declares an interface itself.
    pub fn is_built_in(&self, id: InterfaceId) -> bool {
        id.0 < self.built_in.interfaces
    }

    /// The interface and those that it extends, the farthest ancestor first.
    pub fn lineage(&self, id: InterfaceId) -> Vec<InterfaceId> {
        let mut lineage = vec![id];
        let mut next = self.interfaces[id.0].base;
        while let Some(base) = next {
            lineage.push(base);
            next = self.interfaces[base.0].base;
        }
        lineage.reverse();
        lineage
    }

    /// Every method of an interface, inherited ones first, in the order of their opnums.
    pub fn all_methods(&self, id: InterfaceId) -> Vec<&Method> {
        self.lineage(id).into_iter().flat_map(|id| &self.interfaces[id.0].methods).collect()
    }
}
