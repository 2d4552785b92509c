//! The marshal plan: how each parameter of a method travels, and where it lies in the frames.
//!
//! The same for every language. A request's block holds the `[in]` parameters in the order of the source, then the `[in, out]` ones;
//! a reply's block the `[in, out]` ones, then the `[out]` ones; each at its natural alignment. What does not lie in the block
//! follows it, in the order of its slots.

pub use obvia_ndr::flat::{KIND_FIRST, KIND_INTERFACE, KIND_TEXT8, KIND_TEXT16};

mod blocks;
mod types;

pub use types::{is_any_bits, is_in_block, is_plain, is_scalar, may_be_objects};

use crate::model::{
    Arith, Base, Direction, Extent, Memory, Method, Model, Object, Operand, Param, PointerClass, Transfer, Type, round,
};
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

/// The number of an interface's first method that is not IUnknown's.
pub const FIRST_OPNUM: usize = 3;

/// Bytes of frame that fit a slot of the transport.
pub const INLINE_MAX: u32 = 112;

/// The type number of a string of these characters.
pub const fn text_kind(base: Base) -> u32 {
    if base.size() == 2 { KIND_TEXT16 } else { KIND_TEXT8 }
}

/// The type number of an array of these elements; `kinds` are those of its interface.
pub fn kind_of(kinds: &[Type], element: &Type) -> u32 {
    let at = kinds.iter().position(|kind| kind == element).unwrap_or(kinds.len());
    KIND_FIRST + at as u32
}

/// How many entries the table of an interface's stubs has: IUnknown's methods have the first opnums, and a mask keeps every opnum
/// within the table.
pub const fn stub_table_length(methods: usize) -> usize {
    if methods == 0 { 1 } else { (methods + FIRST_OPNUM).next_power_of_two() }
}

/// How a parameter travels.
#[derive(Clone, Debug, PartialEq)]
pub enum Passing {
    /// In the block: a value, given by value.
    Value(Type),
    /// In the block: a value, given by a pointer that is never null.
    Place(Type),
    /// Behind the block: elements in room that the caller provides.
    Array {
        /// What the elements are.
        element: Type,
        /// How many there is room for.
        size: Arith,
        /// How many travel, if not all.
        length: Option<Arith>,
    },
    /// Behind the block: a value, or nothing.
    Optional(Type),
    /// Behind the block: characters up to a zero.
    Text {
        /// The characters.
        base: Base,
        /// Whether there may be none.
        optional: bool,
    },
    /// Behind the block: characters that the method allocates.
    OutText(Base),
    /// Behind the block: elements that the method allocates, and how many.
    OutArray {
        /// What the elements are.
        element: Type,
        /// How many.
        size: Arith,
    },
    /// Behind the block: a reference to an object.
    Object(Object),
    /// Behind the block: a reference to an object that the method returns.
    OutObject(Object),
    /// Behind the block, and nothing behind it: elements that the caller reads where they lie until its next call. They have neither a
    /// slot nor a header.
    Lent {
        /// What the elements are.
        element: Type,
        /// How many.
        size: Arith,
        /// How many the method has room for in the reply; what it has elsewhere is copied there.
        room: u32,
    },
    /// In the block: a reference to elements in memory that both sides share.
    Reference {
        /// What the elements are.
        element: Type,
        /// How many there is room for.
        size: Arith,
        /// How many of them hold something afterwards, if not all.
        length: Option<Arith>,
        /// Whether the method writes them.
        is_written: bool,
        /// Which of the method's arrays that are read it is, or which of those that are written.
        hand: usize,
    },
    /// Structures with pointers: checked and made real as a whole.
    Graph,
    /// The same, for what is one of Automation's types in memory.
    Automation(Memory),
    /// Nowhere: a pointer in a `[local]` interface, to as many of these as only the two sides know.
    Raw(Type),
}

/// One parameter's plan.
#[derive(Clone, Debug)]
pub struct ParamPlan<'a> {
    /// The parameter.
    pub param: &'a Param,
    /// How it travels.
    pub passing: Passing,
    /// Which way.
    pub travels: Direction,
    /// Its offset in the request's block.
    pub request: Option<u32>,
    /// Its offset in the reply's block.
    pub reply: Option<u32>,
    /// Whether it only counts the elements of arrays, so that languages whose arrays know their length leave it out.
    pub counts: bool,
}

/// A method's plan.
#[derive(Clone, Debug)]
pub struct MethodPlan<'a> {
    /// The method.
    pub method: &'a Method,
    /// Its number on the wire.
    pub opnum: u16,
    /// Its parameters, in the order of the source.
    pub params: Vec<ParamPlan<'a>>,
    /// Bytes of the request's block.
    pub request_block: u32,
    /// Bytes of the reply's block.
    pub reply_block: u32,
    /// Whether the reply can be laid out before the method runs, so that it writes its arrays in place.
    pub early_reply: bool,
}

impl<'a> MethodPlan<'a> {
    /// The parameters that have a place in the request's block, or in the reply's, in the order of their places.
    pub fn ordered(&self, request: bool) -> Vec<&ParamPlan<'a>> {
        let order = if request { [Direction::In, Direction::InOut] } else { [Direction::InOut, Direction::Out] };
        let has_place = move |param: &&ParamPlan<'a>| !matches!(param.passing, Passing::Lent { .. });
        let of = |direction| self.params.iter().filter(move |param| param.travels == direction).filter(has_place);
        order.into_iter().flat_map(of).collect()
    }

    /// The array that the method lends.
    pub fn lent(&self) -> Option<&ParamPlan<'a>> {
        self.params.iter().find(|param| matches!(param.passing, Passing::Lent { .. }))
    }

    /// Whether arrays are passed by reference.
    pub fn refers(&self) -> bool {
        self.references().next().is_some()
    }

    /// The arrays that are passed by reference, which of those that are read or of those that are written each is, and whether it is
    /// written.
    pub fn references(&self) -> impl Iterator<Item = (&ParamPlan<'a>, usize, bool)> {
        self.params.iter().filter_map(|param| match param.passing {
            Passing::Reference { is_written, hand, .. } => Some((param, hand, is_written)),
            _ => None,
        })
    }

    /// Whether the request is nothing but its block.
    pub fn request_is_block(&self) -> bool {
        self.params.iter().all(|param| param.request.is_none() || param.passing.in_block())
    }

    /// Whether the reply is nothing but its block.
    pub fn reply_is_block(&self) -> bool {
        self.params.iter().all(|param| param.reply.is_none() || param.passing.in_block())
    }

    /// Whether what expressions about a parameter read lies in a block, so that it is there whatever else is.
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

    /// Whether a parameter has structures with pointers in it.
    pub fn has_graph(&self) -> bool {
        self.params.iter().any(|param| matches!(param.passing, Passing::Graph | Passing::Automation(_)))
    }
}

impl Passing {
    /// Whether references to objects may travel in it, so that marshaling runs their code.
    pub const fn may_be_objects(&self) -> bool {
        matches!(self, Self::Object(_) | Self::OutObject(_) | Self::Graph | Self::Automation(_))
    }

    /// Whether it lies in the block, whole.
    pub const fn in_block(&self) -> bool {
        matches!(self, Self::Value(_) | Self::Place(_) | Self::Reference { .. })
    }
}

/// What lies in the block for a parameter: a pointer that is never null is left out there, and what it points to takes its place.
pub fn in_place<'a>(model: &Model, param: &'a Param) -> &'a Type {
    match &param.ty {
        Type::Pointer(pointer) if pointer.class == PointerClass::Ref && pointer.extent == Extent::One => {
            let open = matches!(&pointer.to, Type::Struct(id) if model.structs[id.0].conformant.is_some());
            if open || pointer.to == Type::Void { &param.ty } else { &pointer.to }
        }
        ty => ty,
    }
}

/// The types that the objects of an interface's frames have, in the order of their type numbers.
///
/// A number goes to what a pointer points to when the methods, their parameters and the members of structures are gone
/// through in the order of the source, and what a structure points to before what comes after it. Strings and references to objects
/// have numbers of their own.
pub fn kinds<'m>(model: &'m Model, methods: &[&'m Method]) -> Vec<Type> {
    let mut kinds = Kinds::default();
    for param in methods.iter().flat_map(|method| &method.params) {
        kinds.add(model, in_place(model, param));
    }
    kinds.list
}

/// Types, each once, in the order in which they were found.
#[derive(Debug, Default)]
pub struct Kinds {
    /// The types.
    pub list: Vec<Type>,
    known: HashSet<Type>,
    /// Structures and unions that were gone through: what they lead to is in the list.
    seen: HashSet<Type>,
}

impl Kinds {
    /// These types.
    pub fn of(types: impl IntoIterator<Item = Type>) -> Self {
        let mut kinds = Self::default();
        types.into_iter().for_each(|ty| kinds.push(ty));
        kinds
    }

    /// Adds a type.
    pub fn push(&mut self, ty: Type) {
        if self.known.insert(ty.clone()) {
            self.list.push(ty);
        }
    }

    /// Adds the types of what can be reached from a value of this type.
    pub fn add(&mut self, model: &Model, ty: &Type) {
        let mut next = vec![ty];
        while let Some(ty) = next.pop() {
            match ty {
                Type::Pointer(pointer) if pointer.extent == Extent::Text || self.known.contains(&pointer.to) => {}
                Type::Pointer(pointer) => {
                    self.push(pointer.to.clone());
                    next.push(&pointer.to);
                }
                Type::Struct(_) | Type::Union(_) if !self.seen.insert(ty.clone()) => {}
                ty => next.extend(model.inner(ty).into_iter().rev()),
            }
        }
    }
}

/// The places of types in a list of them.
pub(crate) struct Numbers<'a> {
    types: &'a [Type],
    places: OnceCell<HashMap<&'a Type, usize>>,
}

impl<'a> Numbers<'a> {
    pub(crate) const fn of(types: &'a [Type]) -> Self {
        Self { types, places: OnceCell::new() }
    }

    /// The place of a type, or the end of the list.
    pub(crate) fn at(&self, ty: &Type) -> usize {
        let places = self.places.get_or_init(|| self.types.iter().enumerate().map(|(at, ty)| (ty, at)).collect());
        places.get(ty).copied().unwrap_or(self.types.len())
    }
}

fn passing(model: &Model, param: &Param) -> Passing {
    use PointerClass::{Ref, Unique};
    if let Some(memory) = param.memory {
        return Passing::Automation(memory);
    }
    let Type::Pointer(pointer) = &param.ty else {
        return match &param.ty {
            Type::Interface(object) if param.direction == Direction::In => Passing::Object(object.clone()),
            Type::Fixed(..) if is_plain(model, &param.ty) => Passing::Place(param.ty.clone()),
            ty if is_plain(model, ty) => Passing::Value(ty.clone()),
            _ => Passing::Graph,
        };
    };
    match (&pointer.extent, &pointer.to, param.direction) {
        (Extent::Text, Type::Base(base), Direction::In) if pointer.class != PointerClass::Full => {
            Passing::Text { base: *base, optional: pointer.class != Ref }
        }
        (Extent::Counted { size, length }, element, direction)
            if pointer.class == Ref
                && is_plain(model, element)
                && (length.is_none() || direction == Direction::Out)
                && !(direction == Direction::InOut && length.is_some()) =>
        {
            Passing::Array { element: element.clone(), size: size.clone(), length: length.clone() }
        }
        (Extent::One, Type::Pointer(inner), Direction::Out) if pointer.class == Ref => {
            match (&inner.extent, &inner.to) {
                (Extent::Text, Type::Base(base)) => Passing::OutText(*base),
                (Extent::Counted { size, length: None }, element) if let Transfer::Lend(room) = param.transfer => {
                    Passing::Lent { element: element.clone(), size: size.clone(), room }
                }
                (Extent::Counted { size, length: None }, element)
                    if is_plain(model, element) && size.plain().is_some_and(|size| size.deref) =>
                {
                    Passing::OutArray { element: element.clone(), size: size.clone() }
                }
                _ => Passing::Graph,
            }
        }
        (Extent::One, Type::Interface(object), Direction::Out) if pointer.class == Ref => {
            Passing::OutObject(object.clone())
        }
        (Extent::One, ty, _) if pointer.class == Ref && is_plain(model, ty) => Passing::Place(ty.clone()),
        (Extent::One, ty, Direction::In) if pointer.class == Unique && is_plain(model, ty) => {
            Passing::Optional(ty.clone())
        }
        _ => Passing::Graph,
    }
}

/// A pointer of a `[local]` interface that says nothing of how many it leads to, or of how much.
///
/// By its nature it is one for a result, and for an object whose IID another parameter holds. It is one for an object that comes back, for a
/// GUID and for a structure that is read, too, but not beside a number: that may count them.
fn local(model: &Model, method: &Method, param: &Param) -> Option<Passing> {
    let Type::Pointer(pointer) = &param.ty else { return None };
    let raw = Passing::Raw(pointer.to.clone());
    if model.opaque.contains_key(model.innermost(&pointer.to)) {
        return Some(raw);
    }
    let is_number = |ty: &Type| matches!(ty, Type::Base(base) if base.is_integer() && *base != Base::Boolean);
    let is_count = |param: &Param| param.direction.is_in() && is_number(in_place(model, param));
    let is_one = match (&pointer.to, param.direction) {
        _ if param.retval => true,
        (Type::Interface(Object::IidIs(_)), Direction::Out) => true,
        (Type::Interface(_), Direction::Out) | (Type::Struct(_) | Type::Base(Base::Guid), Direction::In) => {
            !method.params.iter().any(is_count) || is_iid(method, param)
        }
        _ => false,
    };
    (pointer.extent == Extent::One && param.memory.is_none() && !is_one).then_some(raw)
}

/// Whether a parameter holds the IID of an object.
fn is_iid(method: &Method, param: &Param) -> bool {
    let holds = |ty: &Type| match ty {
        Type::Interface(Object::IidIs(iid)) => method.params.get(iid.index).is_some_and(|one| one.name == param.name),
        _ => false,
    };
    method.params.iter().any(|other| match &other.ty {
        Type::Pointer(pointer) => holds(&pointer.to),
        ty => holds(ty),
    })
}

/// Makes the plan of a method.
pub fn plan<'a>(model: &Model, method: &'a Method) -> MethodPlan<'a> {
    let of = |param: &Param| {
        let raw = if method.local { local(model, method, param) } else { None };
        raw.unwrap_or_else(|| passing(model, param))
    };
    let passings = method.params.iter().map(|param| (of(param), param.direction)).collect();
    with_passings(model, method, method.opnum, passings)
}

/// Makes the plan of a method whose arrays are passed by reference, where it has such; it has this number then.
pub fn plan_by_reference<'a>(model: &Model, method: &'a Method, opnum: u16) -> Option<MethodPlan<'a>> {
    let mut hands = [0, 0];
    let mut by_reference = |param: &Param| match (passing(model, param), param.transfer) {
        (Passing::Array { element, size, length }, Transfer::ZeroCopy | Transfer::Map) => {
            let is_written = param.direction.is_out();
            let hand = hands[usize::from(is_written)];
            hands[usize::from(is_written)] += 1;
            (Passing::Reference { element, size, length, is_written, hand }, Direction::In)
        }
        (other, _) => (other, param.direction),
    };
    let passings = method.params.iter().map(&mut by_reference).collect();
    (hands != [0, 0]).then(|| with_passings(model, method, opnum, passings))
}

/// The plans of an interface's methods: by their own numbers, and then, by the numbers that follow, those with arrays by reference.
pub fn plans<'a>(model: &Model, methods: &[&'a Method]) -> (Vec<MethodPlan<'a>>, Vec<MethodPlan<'a>>) {
    let usual: Vec<MethodPlan<'a>> = methods.iter().map(|method| plan(model, method)).collect();
    let mut referring = Vec::new();
    for method in methods {
        let opnum = usual.len() + referring.len() + FIRST_OPNUM;
        referring.extend(plan_by_reference(model, method, opnum as u16));
    }
    (usual, referring)
}

fn with_passings<'a>(
    model: &Model,
    method: &'a Method,
    opnum: u16,
    passings: Vec<(Passing, Direction)>,
) -> MethodPlan<'a> {
    let of =
        |(param, (passing, travels))| ParamPlan { param, passing, travels, request: None, reply: None, counts: false };
    let mut params: Vec<ParamPlan<'a>> = method.params.iter().zip(passings).map(of).collect();
    let request_block =
        lay_out(model, &mut params, [Direction::In, Direction::InOut], |plan, at| plan.request = Some(at));
    let reply_block = lay_out(model, &mut params, [Direction::InOut, Direction::Out], |plan, at| plan.reply = Some(at));
    for at in 0..params.len() {
        params[at].counts = only_counts(&params, at);
    }
    let early_reply = early_reply(&params);
    MethodPlan { method, opnum, params, request_block, reply_block, early_reply }
}

fn lay_out<'a>(
    model: &Model,
    params: &mut [ParamPlan<'a>],
    order: [Direction; 2],
    set: impl Fn(&mut ParamPlan<'a>, u32),
) -> u32 {
    let (mut at, mut most) = (0, 1);
    for direction in order {
        let has_place =
            |plan: &&mut ParamPlan<'a>| plan.travels == direction && !matches!(plan.passing, Passing::Lent { .. });
        for plan in params.iter_mut().filter(has_place) {
            let (size, align) = model.layout(in_place(model, plan.param));
            at = round(at, align);
            set(plan, at);
            at = at.saturating_add(size);
            most = most.max(align);
        }
    }
    at
}

/// Whether parameter `at` says how many elements some array has, and nothing else.
fn only_counts(params: &[ParamPlan<'_>], at: usize) -> bool {
    let candidate = &params[at];
    let inwards = matches!(candidate.passing, Passing::Value(Type::Base(base)) if base.is_integer());
    let outwards =
        candidate.param.direction == Direction::Out && matches!(candidate.passing, Passing::Place(Type::Base(_)));
    if !(inwards || outwards) {
        return false;
    }
    let mut counted = false;
    for plan in params {
        let mut other_use = false;
        let mut note = |value: &Arith, plain: bool| {
            value.operands(&mut |operand| {
                if operand.index == at {
                    counted |= plain;
                    other_use |= !plain;
                }
            });
        };
        match &plan.passing {
            Passing::Array { size, length, .. } | Passing::Reference { size, length, .. } => {
                note(size, inwards && size.plain().is_some());
                if let Some(length) = length {
                    note(length, false);
                }
            }
            Passing::OutArray { size, .. } | Passing::Lent { size, .. } => note(size, outwards),
            Passing::Graph => match element_counts(plan.param) {
                Some((size, length)) => {
                    let outward = plan.param.direction == Direction::Out;
                    note(size, size.plain().is_some_and(|size| size.deref == outward && outward == outwards));
                    if let Some(length) = length {
                        note(length, false);
                    }
                }
                None if plan.param.direction == Direction::InOut => return false,
                None => {}
            },
            _ => {}
        }
        if let Some(switch) = &plan.param.switch {
            note(switch, false);
        }
        if other_use {
            return false;
        }
    }
    counted
}

/// The size and the length of the array that a parameter is; for an `[out]` parameter, of the one that the method allocates.
pub fn element_counts(param: &Param) -> Option<(&Arith, Option<&Arith>)> {
    let Type::Pointer(outer) = &param.ty else { return None };
    let pointer = match (&outer.to, &outer.extent) {
        (Type::Pointer(inner), Extent::One) if param.direction == Direction::Out => inner,
        _ => outer,
    };
    match &pointer.extent {
        Extent::Counted { size, length } => Some((size, length.as_ref())),
        _ => None,
    }
}

/// Sizes of everything behind the reply's block must be known, but for the last array, which may be shortened.
fn early_reply(params: &[ParamPlan<'_>]) -> bool {
    let behind: Vec<&ParamPlan<'_>> = [Direction::InOut, Direction::Out]
        .into_iter()
        .flat_map(|direction| params.iter().filter(move |plan| plan.travels == direction))
        .filter(|plan| !plan.passing.in_block())
        .collect();
    behind.iter().enumerate().all(|(at, plan)| match &plan.passing {
        Passing::Array { length, size, element } => {
            let mut from_results = false;
            size.operands(&mut |operand| from_results |= !params[operand.index].param.direction.is_in());
            !from_results && is_scalar(element) && (length.is_none() || at + 1 == behind.len())
        }
        _ => false,
    })
}
