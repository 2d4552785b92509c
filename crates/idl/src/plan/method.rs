//! The plan of a method: the way in which each parameter travels, and its place in the frames.

use super::types::{element_counts, in_place};
use crate::model::{Arith, Base, Direction, Memory, Method, Model, Object, Operand, Param, Type};

/// The opnum of the first method after IUnknown's.
pub const FIRST_OPNUM: usize = 3;

/// The suffixes of statics in generated code. The name of a static consists of the interface's
/// name, the method's name if the static belongs to a method, and the suffix.
pub(crate) const STATICS: [&str; 8] = ["_INFO", "_PROXY", "_TYPES", "_TABLE", "_REQUEST", "_REPLY", "_KEPT", "_GIVEN"];

/// The statics that generated code has for a file.
pub(crate) const STATICS_OF_FILES: [&str; 3] = ["INTERFACES", "TYPES__", "DECLARED__"];

/// The suffixes of variables that generated code has for a parameter, such as `values_count`.
pub(crate) const ENDINGS: [&str; 24] = [
    "_asked",
    "_at",
    "_borrowing",
    "_count",
    "_data",
    "_ended",
    "_final",
    "_from",
    "_given",
    "_length",
    "_lent",
    "_made",
    "_memory",
    "_own",
    "_owned",
    "_raw",
    "_reference",
    "_room",
    "_small",
    "_taken",
    "_to",
    "_used",
    "_value",
    "_wire",
];

/// The maximum number of bytes of a frame that fit into a slot of the transport.
pub const INLINE_MAX: u32 = 112;

/// Returns the number of entries in an interface's stub table. IUnknown's methods have the first
/// opnums. The number is a power of two, so that a mask keeps every opnum within the table.
pub const fn stub_table_length(methods: usize) -> usize {
    if methods == 0 { 1 } else { (methods + FIRST_OPNUM).next_power_of_two() }
}

/// The way in which a parameter travels.
#[derive(Clone, Debug, PartialEq)]
pub enum Passing {
    /// In the block: a value that is passed by value.
    Value(Type),
    /// In the block: a value that is passed by a pointer that is never null.
    RefPointer(Type),
    /// After the block: elements in memory that the caller provides.
    Array {
        /// The element type.
        element: Type,
        /// The number of elements for which there is room.
        size: Arith,
        /// The number of elements that travel, if not all.
        length: Option<Arith>,
    },
    /// After the block: a value, or null.
    Optional(Type),
    /// After the block: characters up to a zero.
    Text {
        /// The character type.
        base: Base,
        /// Whether the pointer may be null.
        optional: bool,
    },
    /// After the block: characters that the method allocates.
    OutText(Base),
    /// After the block: elements that the method allocates, with their number.
    OutArray {
        /// The element type.
        element: Type,
        /// The number of elements.
        size: Arith,
    },
    /// After the block: an object reference.
    Object(Object),
    /// After the block: an object reference that the method returns.
    OutObject(Object),
    /// At the end of the frame: elements that the caller reads in place until its next call. The
    /// block has no place for the elements, and the elements have no header.
    Lent {
        /// The element type.
        element: Type,
        /// The number of elements.
        size: Arith,
        /// The number of elements that the reply has room for. If the method has its elements in
        /// other memory, they are copied into the reply.
        room: u32,
    },
    /// In the block: a reference to elements in shared memory.
    Reference {
        /// The element type.
        element: Type,
        /// The number of elements for which there is room.
        size: Arith,
        /// The number of elements that are valid after the call, if not all.
        length: Option<Arith>,
        /// Whether the method writes the elements.
        is_written: bool,
        /// The array's index among the method's read arrays, or among its written arrays.
        array: usize,
    },
    /// Structures with pointers, and data that the method changes through a pointer that may be
    /// null: checked and unmarshaled as a whole.
    Graph,
    /// Like [`Self::Graph`], for a parameter that has an Automation type in memory.
    Automation(Memory),
    /// Does not travel: a pointer in a `[local]` interface whose extent only the caller and the
    /// callee know.
    Raw(Type),
}

/// The plan of a parameter.
#[derive(Clone, Debug)]
pub struct ParamPlan<'a> {
    /// The parameter.
    pub param: &'a Param,
    /// The way in which the parameter travels.
    pub passing: Passing,
    /// The direction in which the parameter travels.
    pub travels: Direction,
    /// The parameter's offset in the request's block.
    pub request: Option<u32>,
    /// The parameter's offset in the reply's block.
    pub reply: Option<u32>,
    /// Whether the parameter only counts the elements of arrays. Languages whose arrays know their
    /// length omit the parameter.
    pub counts: bool,
}

/// The plan of a method.
#[derive(Clone, Debug)]
pub struct MethodPlan<'a> {
    /// The method.
    pub method: &'a Method,
    /// The method's opnum.
    pub opnum: u16,
    /// The parameters' plans, in the order of the source.
    pub params: Vec<ParamPlan<'a>>,
    /// The size of the request's block in bytes.
    pub request_block: u32,
    /// The size of the reply's block in bytes.
    pub reply_block: u32,
    /// Whether the reply can be laid out before the method runs, so that the method writes its
    /// arrays in place.
    pub early_reply: bool,
}

impl<'a> MethodPlan<'a> {
    /// Returns the indices of the parameters that a caller passes: the parameters of the request
    /// without the counts of arrays.
    pub fn arguments(&self) -> Vec<usize> {
        let params = &self.params;
        let is_given = |at: usize| params[at].param.direction.is_in() && !self.is_implied(at);
        (0..params.len()).filter(|at| is_given(*at)).collect()
    }

    /// Returns the indices of the parameters that a method returns: the parameters of the reply
    /// without the counts of arrays.
    pub fn results(&self) -> Vec<usize> {
        let params = &self.params;
        (0..params.len()).filter(|at| params[*at].param.direction.is_out() && !params[*at].counts).collect()
    }

    /// Whether the parameter only counts the elements of an array in the request, so that the
    /// array's length gives the count.
    fn is_implied(&self, count: usize) -> bool {
        let counts = |param: &ParamPlan<'_>| {
            let size = element_counts(param.param).map(|(size, _)| size);
            param.param.direction.is_in()
                && size.and_then(|size| size.plain()).is_some_and(|operand| operand.index == count)
        };
        self.params[count].counts && self.params.iter().any(counts)
    }

    /// Returns the parameters with a place in the request's or the reply's block, in the order of
    /// their places.
    pub fn ordered(&self, request: bool) -> Vec<&ParamPlan<'a>> {
        let order = if request { [Direction::In, Direction::InOut] } else { [Direction::InOut, Direction::Out] };
        let has_place = move |param: &&ParamPlan<'a>| !matches!(param.passing, Passing::Lent { .. });
        let of = |direction| self.params.iter().filter(move |param| param.travels == direction).filter(has_place);
        order.into_iter().flat_map(of).collect()
    }

    /// Returns the parameter whose array the method lends, if there is one.
    pub fn lent(&self) -> Option<&ParamPlan<'a>> {
        self.params.iter().find(|param| matches!(param.passing, Passing::Lent { .. }))
    }

    /// Returns the parameters of the method's function in the vtable. A result that this function
    /// returns directly is not one of them.
    pub fn in_vtable(&self) -> &[ParamPlan<'a>] {
        let results = usize::from(self.method.direct_result().is_some());
        &self.params[..self.params.len() - results]
    }

    /// Whether the plan passes arrays by reference.
    pub fn refers(&self) -> bool {
        self.references().next().is_some()
    }

    /// Returns the arrays that are passed by reference. Each has its parameter, its index among the
    /// read or the written arrays, and a flag that tells whether the method writes it.
    pub fn references(&self) -> impl Iterator<Item = (&ParamPlan<'a>, usize, bool)> {
        self.params.iter().filter_map(|param| match param.passing {
            Passing::Reference { is_written, array, .. } => Some((param, array, is_written)),
            _ => None,
        })
    }

    /// Whether the request consists only of its block.
    pub fn request_is_block(&self) -> bool {
        self.params.iter().all(|param| param.request.is_none() || param.passing.in_block())
    }

    /// Whether the reply consists only of its block.
    pub fn reply_is_block(&self) -> bool {
        self.params.iter().all(|param| param.reply.is_none() || param.passing.in_block())
    }

    /// Whether all operands of the expressions about a parameter are in a block, so that they are
    /// always available.
    pub fn reads_blocks_alone(&self, model: &Model, param: &ParamPlan<'_>) -> bool {
        let mut fine = true;
        let mut note = |operand: &Operand| fine &= self.params[operand.index].passing.in_block();
        if let Some((size, length)) = element_counts(param.param) {
            size.operands(&mut note);
            length.into_iter().for_each(|length| length.operands(&mut note));
        }
        param.param.switch.iter().for_each(|switch| switch.operands(&mut note));
        if let Type::Interface(Object::IidIs(operand)) = in_place(model, param.param) {
            note(operand);
        }
        fine
    }

    /// Whether some parameter has structures with pointers.
    pub fn has_graph(&self) -> bool {
        self.params.iter().any(|param| matches!(param.passing, Passing::Graph | Passing::Automation(_)))
    }
}

impl Passing {
    /// Whether object references may travel in the parameter, so that marshaling runs the objects'
    /// code.
    pub const fn may_be_objects(&self) -> bool {
        matches!(self, Self::Object(_) | Self::OutObject(_) | Self::Graph | Self::Automation(_))
    }

    /// Whether the whole parameter is in the block.
    pub const fn in_block(&self) -> bool {
        matches!(self, Self::Value(_) | Self::RefPointer(_) | Self::Reference { .. })
    }
}
