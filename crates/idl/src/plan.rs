//! The marshal plan: the passing of each parameter of a method, and its place in the frames.
//!
//! The plan is the same for every language. A request's block holds the `[in]` parameters in the
//! order of the source, then the `[in, out]` ones. A reply's block holds the `[in, out]`
//! parameters, then the `[out]` ones. Each parameter has its natural alignment. Data outside the
//! block follows it, in the order of its slots.

pub use obvia_ndr::flat::{KIND_FIRST, KIND_INTERFACE, KIND_TEXT8, KIND_TEXT16};

mod blocks;
mod types;

pub use types::{is_any_bits, is_in_block, is_plain, is_scalar, may_be_objects};

use crate::model::{
    Arith, Base, Direction, Extent, Memory, Method, Model, Object, Operand, Param, PointerClass, Transfer, Type, round,
};
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

/// The opnum of the first method after IUnknown's.
pub const FIRST_OPNUM: usize = 3;

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

/// Returns the type number of a string with these characters.
pub const fn text_kind(base: Base) -> u32 {
    if base.size() == 2 { KIND_TEXT16 } else { KIND_TEXT8 }
}

/// Returns the type number of an array with these elements. `kinds` are the types of its interface.
pub fn kind_of(kinds: &[Type], element: &Type) -> u32 {
    let at = kinds.iter().position(|kind| kind == element).unwrap_or(kinds.len());
    KIND_FIRST + at as u32
}

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
    Place(Type),
    /// Behind the block: elements in memory of the caller.
    Array {
        /// The element type.
        element: Type,
        /// The number of elements that there is room for.
        size: Arith,
        /// The number of elements that travel, if not all.
        length: Option<Arith>,
    },
    /// Behind the block: a value, or null.
    Optional(Type),
    /// Behind the block: characters up to a zero.
    Text {
        /// The character type.
        base: Base,
        /// Whether the pointer may be null.
        optional: bool,
    },
    /// Behind the block: characters that the method allocates.
    OutText(Base),
    /// Behind the block: elements that the method allocates, with their number.
    OutArray {
        /// The element type.
        element: Type,
        /// The number of elements.
        size: Arith,
    },
    /// Behind the block: an object reference.
    Object(Object),
    /// Behind the block: an object reference that the method returns.
    OutObject(Object),
    /// Last behind the block: elements that the caller reads in place until its next call. They
    /// have neither a slot nor a header.
    Lent {
        /// The element type.
        element: Type,
        /// The number of elements.
        size: Arith,
        /// The number of elements that the reply has room for. Elements that the method has
        /// elsewhere are copied there.
        room: u32,
    },
    /// In the block: a reference to elements in shared memory.
    Reference {
        /// The element type.
        element: Type,
        /// The number of elements that there is room for.
        size: Arith,
        /// The number of elements that are valid after the call, if not all.
        length: Option<Arith>,
        /// Whether the method writes them.
        is_written: bool,
        /// The array's index among the method's read arrays, or among its written arrays.
        hand: usize,
    },
    /// Structures with pointers: checked and unmarshaled as a whole.
    Graph,
    /// Like [`Self::Graph`], for a parameter that is one of Automation's types in memory.
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
    /// length omit it.
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
    /// Returns the parameters with a place in the request's or the reply's block, in the order of
    /// their places.
    pub fn ordered(&self, request: bool) -> Vec<&ParamPlan<'a>> {
        let order = if request { [Direction::In, Direction::InOut] } else { [Direction::InOut, Direction::Out] };
        let has_place = move |param: &&ParamPlan<'a>| !matches!(param.passing, Passing::Lent { .. });
        let of = |direction| self.params.iter().filter(move |param| param.travels == direction).filter(has_place);
        order.into_iter().flat_map(of).collect()
    }

    /// Returns the parameter whose array the method lends.
    pub fn lent(&self) -> Option<&ParamPlan<'a>> {
        self.params.iter().find(|param| matches!(param.passing, Passing::Lent { .. }))
    }

    /// Returns the parameters that the vtable has.
    pub fn in_vtable(&self) -> &[ParamPlan<'a>] {
        let results = usize::from(self.method.native_result().is_some());
        &self.params[..self.params.len() - results]
    }

    /// Whether the plan passes arrays by reference.
    pub fn refers(&self) -> bool {
        self.references().next().is_some()
    }

    /// Returns the arrays that are passed by reference. Each comes with its index among the read or
    /// among the written arrays, and with whether the method writes it.
    pub fn references(&self) -> impl Iterator<Item = (&ParamPlan<'a>, usize, bool)> {
        self.params.iter().filter_map(|param| match param.passing {
            Passing::Reference { is_written, hand, .. } => Some((param, hand, is_written)),
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

    /// Whether all operands of the expressions about a parameter are in a block, and so always
    /// available.
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
        matches!(self, Self::Value(_) | Self::Place(_) | Self::Reference { .. })
    }
}

/// Returns the type that the block holds for a parameter. A pointer that is never null is replaced
/// by its target.
pub fn in_place<'a>(model: &Model, param: &'a Param) -> &'a Type {
    match &param.ty {
        Type::Pointer(pointer) if pointer.class == PointerClass::Ref && pointer.extent == Extent::One => {
            let open = matches!(&pointer.to, Type::Struct(id) if model.structs[id.0].conformant.is_some());
            if open || pointer.to == Type::Void { &param.ty } else { &pointer.to }
        }
        ty => ty,
    }
}

/// Returns the types of the objects in an interface's frames, in the order of their type numbers.
///
/// A target of a pointer gets the next number on a walk through the methods, their parameters and
/// the members of structures, in the order of the source. The targets within a structure come
/// before those that follow the structure. Strings and object references have fixed numbers of
/// their own.
pub fn kinds<'m>(model: &'m Model, methods: &[&'m Method]) -> Vec<Type> {
    let mut kinds = Kinds::default();
    for param in methods.iter().flat_map(|method| &method.params) {
        kinds.add(model, in_place(model, param));
    }
    kinds.list
}

/// A list of distinct types, in the order of their discovery.
#[derive(Debug, Default)]
pub struct Kinds {
    /// The types.
    pub list: Vec<Type>,
    known: HashSet<Type>,
    /// Visited structures and unions. The list contains the types that they lead to.
    seen: HashSet<Type>,
}

impl Kinds {
    /// Returns a list of these types.
    pub fn of(types: impl IntoIterator<Item = Type>) -> Self {
        let mut kinds = Self::default();
        types.into_iter().for_each(|ty| kinds.push(ty));
        kinds
    }

    /// Returns the list of a type and the targets of its own pointers.
    pub(crate) fn direct(model: &Model, ty: &Type) -> Self {
        let mut kinds = Self::of([ty.clone()]);
        let mut next = vec![ty];
        while let Some(ty) = next.pop() {
            match ty {
                Type::Pointer(pointer) => kinds.push(pointer.to.clone()),
                ty => next.extend(model.inner(ty).into_iter().rev()),
            }
        }
        kinds
    }

    /// Adds a type.
    pub fn push(&mut self, ty: Type) {
        if self.known.insert(ty.clone()) {
            self.list.push(ty);
        }
    }

    /// Adds the types that a value of this type leads to.
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

/// The indices of types in a list.
pub(crate) struct Numbers<'a> {
    types: &'a [Type],
    places: OnceCell<HashMap<&'a Type, usize>>,
}

impl<'a> Numbers<'a> {
    pub(crate) const fn of(types: &'a [Type]) -> Self {
        Self { types, places: OnceCell::new() }
    }

    /// Returns the index of a type, or the list's length for other types.
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

/// Returns the plan for a pointer of a `[local]` interface that gives no extent. `None` if the
/// usual plan applies.
///
/// A result is one value, and so is an object whose IID another parameter holds. A returned object,
/// a GUID and a structure that is read are one value only if no parameter could be their count.
fn local(model: &Model, method: &Method, param: &Param) -> Option<Passing> {
    let Type::Pointer(pointer) = &param.ty else { return None };
    let raw = Passing::Raw(pointer.to.clone());
    if method.native_result().is_some_and(|result| std::ptr::eq(result, &raw const pointer.to)) {
        return Some(raw);
    }
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

/// Returns the plan of a method.
pub fn plan<'a>(model: &Model, method: &'a Method) -> MethodPlan<'a> {
    let of = |param: &Param| {
        let raw = if method.local { local(model, method, param) } else { None };
        raw.unwrap_or_else(|| passing(model, param))
    };
    let passings = method.params.iter().map(|param| (of(param), param.direction)).collect();
    with_passings(model, method, method.opnum, passings)
}

/// Returns the plan of a method with its arrays passed by reference, under `opnum`. `None` if the
/// method has no such arrays.
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

/// Returns the plans of an interface's methods: the usual ones, and those that pass arrays by
/// reference, whose opnums follow.
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

/// Whether parameter `at` only gives the number of elements of some array.
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

/// Returns the size and the length of a parameter's array. For an `[out]` parameter this is the
/// array that the method allocates.
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

/// Whether the reply can be laid out early: the sizes of all data behind its block are known before
/// the call, except that the last array may get shorter.
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
