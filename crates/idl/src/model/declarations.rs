//! Declarations: constants, types, interfaces and their methods.

use super::base::Base;
use super::dispatch::{About, Member, Memory, Variant};
use super::measure::Measure;
use super::types::{Arith, InterfaceId, PointerClass, Type, Value};
use crate::text::source::Span;

/// A typedef. Types do not refer to typedefs: every use is replaced by the type that the typedef
/// names.
#[derive(Clone, Debug)]
pub struct Typedef {
    /// The name.
    pub name: String,
    /// The type that the typedef names. For a further name of an interface, a pointer to an object.
    pub ty: Type,
    /// Whether the typedef names an interface, and not a pointer to an object.
    pub is_interface: bool,
    /// Whether type libraries list the typedef as a type of its own, because of `[public]` or a
    /// UUID.
    pub public: bool,
    /// The UUID, version, flags and help text for type libraries.
    pub about: About,
    /// The typedef's place in the source.
    pub span: Span,
    /// Whether an imported file declares the typedef.
    pub imported: bool,
}

/// A constant.
#[derive(Clone, Debug)]
pub struct Const {
    /// The constant's name.
    pub name: String,
    /// The constant's type. For text, the type of its characters.
    pub base: Option<Base>,
    /// The constant's value.
    pub value: Value,
    /// The constant's place in the source.
    pub span: Span,
    /// Whether an imported file declares the constant.
    pub imported: bool,
}

/// A member of a structure, or the content of a union's arm.
#[derive(Clone, Debug)]
pub struct Field {
    /// The field's name.
    pub name: String,
    /// The field's type.
    pub ty: Type,
    /// The field's typedef, by its index in [`Model::typedefs`](super::Model::typedefs).
    pub named: Option<usize>,
    /// The least and greatest value, if `[range]` limits the field.
    pub range: Option<(i64, i64)>,
    /// The expression that selects the arm, if the field is a non-encapsulated union.
    pub switch: Option<Arith>,
    /// The elements that travel in NDR. `None` unless the field is an array of fixed size that
    /// travels only in part.
    pub varying: Option<Varying>,
    /// The bit fields of which the field consists, the lowest bits first.
    pub bits: Vec<BitField>,
    /// The field's place in the source.
    pub span: Span,
}

impl Field {
    /// Returns a field without attributes and bit fields. `named` is the index of its typedef.
    pub fn new(name: String, ty: Type, named: Option<usize>, span: Span) -> Self {
        Self { name, ty, named, range: None, switch: None, varying: None, bits: Vec::new(), span }
    }

    /// Whether two fields have the same name and hold the same values.
    pub(crate) fn means_same(&self, other: &Self) -> bool {
        self.name == other.name
            && self.ty == other.ty
            && self.range == other.range
            && self.switch == other.switch
            && self.varying == other.varying
            && self.bits == other.bits
    }
}

/// A bit field, which is a part of an integer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitField {
    /// The bit field's name. Empty for bits without a name.
    pub name: String,
    /// The type: an integer or an enumeration. It has the size of the integer that contains the bit
    /// field.
    pub ty: Type,
    /// The number of bits.
    pub width: u32,
}

/// The elements that NDR transmits of an array of fixed size, or of an array that the method fills
/// with a string. In memory and in FLAT the array is complete.
#[derive(Clone, Debug, PartialEq)]
pub enum Varying {
    /// The elements up to the first zero: `[string]`.
    Text,
    /// The leading elements, as many as the expression gives: `[length_is]`.
    Length(Arith),
}

/// A structure.
#[derive(Clone, Debug)]
pub struct Struct {
    /// The structure's name.
    pub name: String,
    /// The structure's members.
    pub fields: Vec<Field>,
    /// The last member, if it is a conformant array: its element type, size and length.
    pub conformant: Option<(Type, Arith, Option<Arith>)>,
    /// The structure's size and other measures. Default values until the members are known.
    pub measure: Measure,
    /// The UUID, version, flags and help text for type libraries.
    pub about: About,
    /// Whether an imported file declares the structure.
    pub imported: bool,
    /// The structure's place in the source.
    pub span: Span,
}

/// An arm of a union.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The discriminants that select the arm. Empty for the default arm.
    pub cases: Vec<i64>,
    /// The names of the cases, for cases that are written as names.
    pub labels: Vec<Option<String>>,
    /// The arm's content.
    pub field: Option<Field>,
}

/// A union.
#[derive(Clone, Debug)]
pub struct Union {
    /// The union's name.
    pub name: String,
    /// The discriminant's type.
    pub tag: Type,
    /// For an encapsulated union, the names of the members that hold the discriminant and the arms.
    pub encapsulated: Option<(String, String)>,
    /// The arms.
    pub arms: Vec<Arm>,
    /// The arm for all other discriminants. `Some(None)` is an empty arm.
    pub default: Option<Option<Field>>,
    /// The union's size and other measures. Default values until the arms are known.
    pub measure: Measure,
    /// The UUID, version, flags and help text for type libraries.
    pub about: About,
    /// Whether an imported file declares the union.
    pub imported: bool,
    /// The union's place in the source.
    pub span: Span,
}

/// An enumeration.
#[derive(Clone, Debug)]
pub struct Enum {
    /// The enumeration's name.
    pub name: String,
    /// The enumeration's values.
    pub values: Vec<(String, i32)>,
    /// Whether the enumeration has 32 bits in NDR (`[v1_enum]`) instead of 16. In memory and in
    /// FLAT each enumeration has 32 bits.
    pub v1: bool,
    /// Whether values that are not listed are valid (`[open]`), since newer peers may know more
    /// values. Without `v1` the valid values are limited to NDR's 16 bits: from 0 to
    /// [`Enum::NARROW_MAX`].
    pub open: bool,
    /// The UUID, version, flags and help text for type libraries.
    pub about: About,
    /// Whether an imported file declares the enumeration.
    pub imported: bool,
    /// The enumeration's place in the source.
    pub span: Span,
}

impl Enum {
    /// The largest value of an enumeration of 16 bits in NDR. MIDL's stubs refuse larger values.
    pub const NARROW_MAX: i32 = 0x7fff;

    /// Whether a bit field of the enumeration has a sign: whether one of its values is negative.
    pub fn is_signed(&self) -> bool {
        self.values.iter().any(|(_, value)| *value < 0)
    }

    /// Whether every 32-bit value is valid.
    pub const fn is_any(&self) -> bool {
        self.open && self.v1
    }
}

/// The direction of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the object.
    In,
    /// From the object.
    Out,
    /// In both directions.
    InOut,
}

impl Direction {
    /// Whether the parameter is part of the request.
    pub const fn is_in(self) -> bool {
        !matches!(self, Self::Out)
    }

    /// Whether the parameter is part of the reply.
    pub const fn is_out(self) -> bool {
        !matches!(self, Self::In)
    }
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// The parameter's name.
    pub name: String,
    /// The parameter's name in generated code. Differs from `name` if a type or a constant of the
    /// same name would clash.
    pub code: String,
    /// The parameter's direction.
    pub direction: Direction,
    /// Whether the parameter is the result in languages that have results.
    pub retval: bool,
    /// The parameter's type as declared: an `[out]` parameter is a pointer.
    pub ty: Type,
    /// The parameter's typedef, by its index in [`Model::typedefs`](super::Model::typedefs).
    pub named: Option<usize>,
    /// Whether the model adds a reference pointer to the declared type. An `[out]` or `[in, out]`
    /// structure that ends in a conformant array gets such a pointer, so that the method can
    /// replace the structure with a longer one. The added pointer does not travel.
    pub boxed: bool,
    /// The least and greatest value, if `[range]` limits the parameter.
    pub range: Option<(i64, i64)>,
    /// Whether `[utf8]` limits the parameter, a string of `char`, to UTF-8.
    pub utf8: bool,
    /// The expression that selects the arm, if the parameter is a non-encapsulated union.
    pub switch: Option<Arith>,
    /// The elements that travel in NDR, if not all. Only an array of fixed size, and an array in
    /// the caller's memory that the method fills with a string, travels in part.
    pub varying: Option<Varying>,
    /// The way in which the array's elements reach the peer.
    pub transfer: Transfer,
    /// The parameter's type in memory, if it differs from `ty`, the type that travels.
    pub memory: Option<Memory>,
    /// The parameter's type for calls by name. `None` if the parameter cannot be passed by name.
    pub variant: Option<Variant>,
    /// The reason why no back end can pass the parameter to another process yet, as the end of a
    /// sentence that begins with the parameter.
    pub unsupported: Option<String>,
    /// The parameter's place in the source.
    pub span: Span,
}

impl Param {
    /// Returns the type that the parameter is declared with: its type without the pointer that the
    /// model adds (see [`Self::boxed`]).
    pub fn declared(&self) -> &Type {
        match &self.ty {
            Type::Pointer(outer) if self.boxed => &outer.to,
            ty => ty,
        }
    }

    /// Whether the method writes a string to an array in the caller's memory:
    /// `[out, string, size_is(n)]`.
    pub fn is_filled_text(&self) -> bool {
        matches!(self.ty, Type::Pointer(_)) && self.varying.is_some()
    }

    /// Whether the method changes data through a pointer that may be null: `[in, out, unique]`. The
    /// method cannot change the pointer itself.
    pub fn is_optional_in_out(&self) -> bool {
        self.direction == Direction::InOut
            && matches!(self.declared(), Type::Pointer(pointer) if pointer.class != PointerClass::Ref)
    }
}

impl Memory {
    /// Whether a parameter is passed by value, and not by reference pointer.
    pub fn is_by_value(self, param: &Param) -> bool {
        !matches!(&param.ty, Type::Pointer(pointer) if pointer.class == PointerClass::Ref)
    }
}

/// The way in which an array's elements reach the peer, as the interface's attributes say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transfer {
    /// In the frame.
    #[default]
    Frame,
    /// As a reference if the elements are in shared memory, in the frame otherwise.
    ZeroCopy,
    /// As a reference. The call fails if references are possible but the elements are not in shared
    /// memory.
    Map,
    /// In the reply's frame, which has room for this number of elements. The caller may read the
    /// elements in the frame until its next call.
    Lend(u32),
}

/// The declared result of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// An HRESULT, as for every method of an object. In NDR it is the last value of the response.
    Hresult,
    /// No value. The method's HRESULT reports only whether the call succeeded, and does not travel
    /// in NDR.
    Nothing,
    /// A value, which the model holds as the last parameter, `[out, retval]`. The HRESULT is as for
    /// [`Self::Nothing`].
    Value,
}

impl Interface {
    /// Returns the methods that other processes call, without inherited ones.
    pub fn remote_methods(&self) -> impl Iterator<Item = &Method> {
        self.methods.iter().filter(|method| !method.local)
    }
}

/// The reason why a permissive compiler treats a method as `[local]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unpassed {
    /// The compiler cannot pass the method's parameters in any language. To other processes, the
    /// method is a `[local]` method.
    Anywhere,
    /// The back end cannot pass the method's parameters, but other back ends may. So fingerprints
    /// and type numbers are those of the method that other languages pass.
    Here,
    /// The method is declared `[local]`, and only raw pointers can express its parameters.
    Declared,
}

impl Method {
    /// Whether the method returns its declared result instead of an HRESULT. Only methods that are
    /// declared `[local]` do.
    pub fn returns_directly(&self) -> bool {
        let is_declared_local = self.local && matches!(self.unpassed, None | Some(Unpassed::Declared));
        is_declared_local && self.returns != Returns::Hresult
    }

    /// Whether the method's parameters are part of the interface that other processes see. They
    /// are, if a program in another language can pass them.
    pub(crate) fn is_seen_elsewhere(&self) -> bool {
        !self.local || self.unpassed == Some(Unpassed::Here)
    }

    /// Returns the type of the value that the method returns directly. `None` for no value.
    pub fn direct_result(&self) -> Option<&Type> {
        match (self.params.last().map(|param| &param.ty), self.returns) {
            (Some(Type::Pointer(pointer)), Returns::Value) if self.returns_directly() => Some(&pointer.to),
            _ => None,
        }
    }
}

/// A method.
#[derive(Clone, Debug)]
pub struct Method {
    /// The method's name.
    pub name: String,
    /// The method's name in languages in which a member must not have the name of its interface.
    pub code: String,
    /// The method's index in the vtable: the first method after IUnknown's methods has index 3. In
    /// NDR it is also the opnum, except for plain interfaces, whose opnums begin with 0.
    pub opnum: u16,
    /// The method's declared result.
    pub returns: Returns,
    /// Whether the method directly returns a pointer to a `const` target.
    pub(crate) leads_to_const: bool,
    /// Whether the caller does not wait for the call's completion.
    pub oneway: bool,
    /// Whether a repeated call does no harm.
    pub idempotent: bool,
    /// The method's properties for calls by name.
    pub member: Member,
    /// Whether the method is called within one process only.
    pub local: bool,
    /// The reason why a permissive compiler treats the method as `[local]`. Its pointers are raw
    /// pointers then. `None` for all other methods.
    pub unpassed: Option<Unpassed>,
    /// The method that other processes call in place of this method: `[call_as]`.
    pub travels_as: Option<Box<Self>>,
    /// The method's parameters.
    pub params: Vec<Param>,
    /// The documentation comment before the method.
    pub doc: String,
    /// The method's place in the source.
    pub span: Span,
}

/// An interface.
#[derive(Clone, Debug)]
pub struct Interface {
    /// The interface's name.
    pub name: String,
    /// The interface's IID.
    pub uuid: u128,
    /// The interface's version, major and minor.
    pub version: (u16, u16),
    /// The base interface. `None` for an interface that extends IUnknown directly.
    pub base: Option<InterfaceId>,
    /// The interface's methods without inherited ones.
    pub methods: Vec<Method>,
    /// The reason why nothing is generated for the interface. Either the interface has only a
    /// forward declaration, or it has no UUID, or it is a `[local]` interface of objects that does
    /// not extend IUnknown. The text is a part of a sentence that begins with the interface's name.
    /// `None` for other interfaces.
    pub bare: Option<&'static str>,
    /// Whether the interface is used within one process only, so that it has no proxies.
    pub local: bool,
    /// Whether the interface extends IDispatch, so that its methods can be called by name too.
    pub dual: bool,
    /// Whether the interface is a set of server functions instead of an object's interface: an
    /// interface of C706 without `[object]`. In the model, such an interface extends IUnknown, and
    /// its methods return an HRESULT in addition to the declared result: see [`Returns`].
    pub plain: bool,
    /// The endpoints of the interface's servers, as `[endpoint]` lists them: `ncacn_ip_tcp:[135]`.
    pub endpoints: Vec<String>,
    /// The UUID, version, flags and help text for type libraries.
    pub about: About,
    /// The documentation comment before the interface.
    pub doc: String,
    /// Whether an imported file declares the interface.
    pub imported: bool,
    /// The interface's place in the source.
    pub span: Span,
}
