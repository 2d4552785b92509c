//! Writing and reading the frames of any method, by the model of its interface and without
//! generated code.
//!
//! The caller decides which Rust type represents values: frames are written from values of a type
//! with [`Given`], and an implementation of [`Make`] makes values from frames. A block and a
//! structure have the same form: members at offsets. The target of a pointer is an object that
//! follows the members in the frame. Members that another member implies may be left out: an array
//! implies its count, a union its discriminant.

mod expression;
mod plain;
mod read;
#[cfg(test)]
mod tests;
mod write;
mod wrong;

pub use plain::{Given, Label, Named};
pub use read::{Make, Reading};
pub use write::References;
pub use wrong::Wrong;

use crate::model::{Arith, Base, Extent, Method, Model, Object, Param, StructId, Type};
use crate::plan::{KIND_FIRST, MethodPlan, ParamPlan, in_place, is_plain, plan};
use crate::shapes::{Shapes, flat};
use obvia_ndr::flat::check::check;
use obvia_ndr::flat::shape;
use std::sync::{Arc, OnceLock};
use write::Writer;

pub use obvia_ndr::flat::check::{Checked, Flaw};

/// The greatest depth of structures, unions and arrays in a value that is written. In a build
/// without optimisation, reading a value of this depth takes half of a thread's stack of 2 MiB.
pub const DEPTH_MAX: usize = 500;

/// The input for the layout of frames of an interface's methods.
pub struct Layout<'a> {
    /// The model with the types.
    pub model: &'a Model,
    /// The interface's types, in the order of their type numbers.
    kinds: Vec<Type>,
    /// The same types, in the form that the check of frames reads.
    types: &'static [shape::ElementType],
    /// The members of the structures that have been used.
    structs: Vec<OnceLock<Vec<Member<'a>>>>,
}

/// A member of a structure or of a block.
pub(crate) struct Member<'a> {
    name: &'a str,
    ty: &'a Type,
    /// The member's offset. `None` for a parameter that is not in this block.
    at: Option<usize>,
    size: usize,
    /// Whether the type has no pointers.
    is_plain: bool,
    switch: Option<&'a Arith>,
    /// The conformant array at a structure's end. `None` if there is none.
    tail: Option<Counted<'a>>,
    /// Whether the size of the array depends on the values in the request alone, because the array
    /// is in the caller's memory.
    is_sized_by_request: bool,
}

/// A counted array: the type of its elements, its size, and its length if the length differs from
/// the size.
type Counted<'a> = (&'a Type, &'a Arith, Option<&'a Arith>);

impl<'a> Layout<'a> {
    /// Returns the layout for the interface with these methods, inherited ones included.
    ///
    /// The tables of the check are never freed: make only one layout for each interface.
    pub fn new(model: &'a Model, methods: &[&'a Method]) -> Arc<Self> {
        let kinds = crate::plan::kinds(model, methods);
        let types = flat::types(Shapes { model, kinds: &kinds });
        let structs = model.structs.iter().map(|_| OnceLock::new()).collect();
        Arc::new(Self { model, kinds, types, structs })
    }

    fn size(&self, ty: &Type) -> usize {
        self.model.layout(ty).0 as usize
    }

    fn kind(&self, ty: &Type) -> u32 {
        let at = self.kinds.iter().position(|kind| kind == ty).unwrap_or(self.kinds.len());
        KIND_FIRST + at as u32
    }

    fn member(&self, name: &'a str, ty: &'a Type, at: Option<u32>, switch: Option<&'a Arith>) -> Member<'a> {
        let (size, is_plain) = (self.size(ty), is_plain(self.model, ty) && *ty != Type::Void);
        Member {
            name,
            ty,
            at: at.map(|at| at as usize),
            size,
            is_plain,
            switch,
            tail: None,
            is_sized_by_request: false,
        }
    }

    fn members(&self, id: StructId) -> &[Member<'a>] {
        self.structs[id.0].get_or_init(|| {
            let model = self.model;
            let found = &model.structs[id.0];
            let (offsets, ..) = model.offsets(found);
            let tail = found.conformant.as_ref().map(|(element, size, length)| (element, size, length.as_ref()));
            let member = |(field, at): (&'a crate::model::Field, &u32)| Member {
                tail: tail.filter(|_| field.ty == Type::Void),
                ..self.member(&field.name, &field.ty, Some(*at), field.switch.as_ref())
            };
            found.fields.iter().zip(&offsets).map(member).collect()
        })
    }
}

/// The frames of a method.
pub struct Frames<'a> {
    layout: Arc<Layout<'a>>,
    plan: MethodPlan<'a>,
    request: Block<'a>,
    reply: Block<'a>,
}

/// A request's or a reply's block.
struct Block<'a> {
    /// A member for each parameter of the method.
    members: Vec<Member<'a>>,
    shape: &'static shape::Block,
    /// The parameters outside of the block that the check of the block reads.
    outer: Vec<usize>,
}

impl<'a> Frames<'a> {
    /// Returns the frames of a method of the layout's interface.
    ///
    /// The tables of the check are never freed: make only one value of this type for each method.
    pub fn new(layout: Arc<Layout<'a>>, method: &'a Method) -> Self {
        let plan = plan(layout.model, method);
        let block = |request: bool| {
            let (shape, outer) = plan.block(layout.model, &layout.kinds, request, |_| true);
            let size = if request { plan.request_block } else { plan.reply_block };
            let member = |param: &ParamPlan<'a>| {
                let (known, at): (&'a Param, _) = (param.param, if request { param.request } else { param.reply });
                let ty = in_place(layout.model, known);
                let is_sized_by_request = !request && std::ptr::eq(ty, &raw const known.ty);
                Member { is_sized_by_request, ..layout.member(&known.name, ty, at, known.switch.as_ref()) }
            };
            Block { members: plan.params.iter().map(member).collect(), shape: flat::block(size, &shape), outer }
        };
        let (request, reply) = (block(true), block(false));
        Self { layout, plan, request, reply }
    }

    /// Returns the plan of the method.
    pub fn plan(&self) -> &MethodPlan<'a> {
        &self.plan
    }

    /// Returns the model with the types.
    pub fn model(&self) -> &'a Model {
        self.layout.model
    }

    fn block(&self, request: bool) -> &Block<'a> {
        if request { &self.request } else { &self.reply }
    }

    /// Lays out the frame of a request or of a reply. `values` has an entry for each parameter of
    /// the method. `outer` returns the values of parameters that are not in this frame, by their
    /// indices.
    ///
    /// # Errors
    ///
    /// The first value that does not fit its type, or that contradicts another value.
    pub fn write<V: Given>(
        &self,
        request: bool,
        values: &[Option<V>],
        references: &mut dyn References<V>,
        outer: &dyn Fn(usize) -> Option<i64>,
    ) -> Result<Vec<u8>, Wrong> {
        let block = self.block(request);
        for (param, value) in self.plan.params.iter().zip(values) {
            if let (Some((least, most)), Some(number)) = (param.param.range, value.as_ref().and_then(Given::integer))
                && !(i128::from(least)..=i128::from(most)).contains(&number)
            {
                let wrong = Wrong::new(format!("{number} is not between {least} and {most}"));
                return Err(wrong.within(&format!(".{}", param.param.name)));
            }
        }
        let size = block.shape.size as usize;
        let frame = Writer::frame(&self.layout, size, &block.members, values, references, outer)?;
        match self.check(request, &frame, outer) {
            Ok(_) => Ok(frame),
            Err(flaw) => Err(Wrong::new(format!("the arguments contradict each other: {flaw}"))),
        }
    }

    /// Returns the indices of the parameters outside of a frame that the frame's check reads.
    pub fn outer(&self, request: bool) -> &[usize] {
        &self.block(request).outer
    }

    /// Checks a frame as servers and clients do.
    ///
    /// # Errors
    ///
    /// The first flaw of the frame.
    pub fn check(&self, request: bool, frame: &[u8], outer: &dyn Fn(usize) -> Option<i64>) -> Result<Checked, Flaw> {
        let block = self.block(request);
        let number = |(at, index): (usize, &usize)| match outer(*index) {
            Some(number) => Ok(number),
            None if block.shape.counts_by(at as u32) => {
                Err(Flaw { at: 0, what: "a number that counts elements exceeds the signed 64-bit integers" })
            }
            // A discriminant that is too large is replaced by the greatest number. No case has this
            // number, so it selects the default arm.
            None => Ok(i64::MAX),
        };
        let numbers = block.outer.iter().enumerate().map(number).collect::<Result<Vec<i64>, Flaw>>()?;
        check(frame, block.shape, self.layout.types, &numbers)
    }

    /// Checks a frame of a request or of a reply, and begins to read its parameters.
    ///
    /// # Errors
    ///
    /// The first flaw of the frame.
    pub fn read<'f, M: Make>(
        &'f self,
        request: bool,
        frame: &'f [u8],
        outer: &'f dyn Fn(usize) -> Option<i64>,
        make: &'f mut M,
    ) -> Result<Reading<'f, 'a, M>, Flaw> {
        let checked = self.check(request, frame, outer)?;
        Ok(Reading::new(&self.layout, &self.block(request).members, frame, &checked, outer, make))
    }

    /// Returns the name of the first `[in, out, unique]` parameter that is null in the request, but
    /// not in the reply, or the reverse. `None` if the two agree. `is_null_in_reply` says whether
    /// the parameter with an index is null in the reply.
    pub fn one_sided_null(&self, request: &[u8], is_null_in_reply: impl Fn(usize) -> bool) -> Option<&'a str> {
        let params = self.plan.params.iter().enumerate();
        let mut optional = params.filter(|(_, param)| param.param.is_optional_in_out());
        let differs = |index, at| is_null(request, at) != is_null_in_reply(index);
        let (_, found) = optional.find(|(index, param)| differs(*index, param.request))?;
        let param: &'a Param = found.param;
        Some(&param.name)
    }

    /// Whether the pointer of a parameter is null in a reply.
    pub fn is_null(&self, reply: &[u8], index: usize) -> bool {
        is_null(reply, self.plan.params.get(index).and_then(|param| param.reply))
    }

    /// Reads the value of an integer parameter from a request's frame. `None` for other parameters,
    /// and for a frame that is too short.
    pub fn number(&self, request: &[u8], index: usize) -> Option<i64> {
        let member = self.request.members.get(index)?;
        let base = match member.ty {
            Type::Base(base) => *base,
            Type::Enum(_) => Base::I32,
            _ => return None,
        };
        integer(request, member.at?, base)
    }
}

/// Whether the slot at an offset of a frame is null.
fn is_null(frame: &[u8], at: Option<u32>) -> bool {
    let slot = at.and_then(|at| frame.get(at as usize..)?.first_chunk::<8>());
    slot.is_none_or(|slot| *slot == [0; 8])
}

/// Evaluates an expression over members, whose integers `load` returns. `None` if the expression
/// has no value.
fn evaluate(value: &Arith, load: &dyn Fn(usize, Base) -> Option<i64>) -> Option<i64> {
    expression::value(value, load)
}

/// Returns the counted array to which a type points. `None` for other types.
fn counted(ty: &Type) -> Option<Counted<'_>> {
    match ty {
        Type::Pointer(pointer) => match &pointer.extent {
            Extent::Counted { size, length } => Some((&pointer.to, size, length.as_ref())),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the IID of the interface that an interface pointer needs. `None` if the frame does not
/// contain this IID. `members` are the members of the structure or block that contains the pointer.
/// The structure or block begins at `base` in the frame.
fn iid(model: &Model, object: &Object, frame: &[u8], base: usize, members: &[Member<'_>]) -> Option<u128> {
    match object {
        Object::Known(id) => Some(model.interfaces[id.0].uuid),
        Object::Unknown => Some(IUNKNOWN),
        Object::IidIs(operand) => {
            let at = base + members.get(operand.index)?.at?;
            Some(plain::guid_from_wire(*frame.get(at..)?.first_chunk()?))
        }
    }
}

/// The IID of IUnknown.
const IUNKNOWN: u128 = 0x0000_0000_0000_0000_c000_0000_0000_0046;

/// Reads the little-endian integer at an offset. `None` beyond the frame's end.
fn integer(frame: &[u8], at: usize, base: Base) -> Option<i64> {
    let mut eight = [0; 8];
    let size = base.size() as usize;
    eight.get_mut(..size)?.copy_from_slice(frame.get(at..at.checked_add(size)?)?);
    let bits = u64::from_le_bytes(eight);
    let (least, _) = base.range()?;
    let unused = 64 - 8 * base.size();
    if least < 0 { Some((bits << unused).cast_signed() >> unused) } else { i64::try_from(bits).ok() }
}
