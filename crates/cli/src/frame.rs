//! Frames of any method, by the model of its interface: written from JSON, and read as JSON.
//!
//! A block and a structure have the same form here: members at offsets. The target of a pointer is
//! an object after them in the frame. Members that another member implies may be left out: an array
//! implies its count, a union its discriminant. If several pointers lead to the same structure, the
//! structure has a member `"$id": "name"`, and the other pointers are `{"$ref": "name"}`. A union
//! is an object with its arm: `{"number": 5}`, and `"case"` beside it if the arm alone does not
//! imply the discriminant.

mod expression;
mod read;
#[cfg(test)]
mod vectors;
mod write;

pub(crate) use read::{Objects, Reader};
pub(crate) use write::Writer;

use crate::value::Wrong;
use obvia::dynamic::{Flaw, check};
use obvia_idl::model::{Arith, Base, Extent, Model, StructId, Type};
use obvia_idl::plan::{KIND_FIRST, MethodPlan, in_place};
use obvia_idl::shapes::{Shapes, flat};
use serde_json::Value;

/// The input for the layout of frames of an interface's methods.
#[derive(Clone, Copy)]
pub(crate) struct Layout<'a> {
    /// The model with the types.
    pub(crate) model: &'a Model,
    /// The interface's types, in the order of their type numbers.
    pub(crate) kinds: &'a [Type],
}

/// A member of a structure or of a block.
pub(crate) struct Member<'a> {
    pub(crate) name: &'a str,
    pub(crate) ty: &'a Type,
    /// The member's offset; none for a parameter that is not in this block.
    pub(crate) at: Option<usize>,
    pub(crate) switch: Option<&'a Arith>,
    /// The conformant array at a structure's end: the element's type, size and length.
    pub(crate) tail: Option<(&'a Type, &'a Arith, Option<&'a Arith>)>,
}

/// Returns the members of a request's or a reply's block.
pub(crate) fn block<'a>(model: &Model, plan: &'a MethodPlan<'a>, request: bool) -> Vec<Member<'a>> {
    let member = |param: &'a obvia_idl::plan::ParamPlan<'a>| Member {
        name: &param.param.name,
        ty: in_place(model, param.param),
        at: if request { param.request } else { param.reply }.map(|at| at as usize),
        switch: param.param.switch.as_ref(),
        tail: None,
    };
    plan.params.iter().map(member).collect()
}

impl<'a> Layout<'a> {
    fn size(&self, ty: &Type) -> usize {
        self.model.layout(ty).0 as usize
    }

    fn kind(&self, ty: &Type) -> u32 {
        let at = self.kinds.iter().position(|kind| kind == ty).unwrap_or(self.kinds.len());
        KIND_FIRST + at as u32
    }

    fn members(&self, id: StructId) -> Vec<Member<'a>> {
        let model = self.model;
        let found = &model.structs[id.0];
        let (offsets, ..) = model.offsets(found);
        let tail = found.conformant.as_ref().map(|(element, size, length)| (element, size, length.as_ref()));
        let member = |(field, at): (&'a obvia_idl::model::Field, &u32)| Member {
            name: &field.name,
            ty: &field.ty,
            at: Some(*at as usize),
            switch: field.switch.as_ref(),
            tail: tail.filter(|_| field.ty == Type::Void),
        };
        found.fields.iter().zip(&offsets).map(member).collect()
    }

    /// Checks a frame as servers and clients do.
    pub(crate) fn check(
        &self,
        plan: &MethodPlan<'_>,
        request: bool,
        frame: &[u8],
        outer: &[i64],
    ) -> Result<obvia::dynamic::Checked, Flaw> {
        let (shape, _) = plan.block(self.model, self.kinds, request, |_| true);
        let size = if request { plan.request_block } else { plan.reply_block };
        let types = flat::types(Shapes { model: self.model, kinds: self.kinds });
        check(frame, flat::block(size, &shape), types, outer)
    }
}

/// Evaluates an expression over members, whose integers `load` returns.
fn evaluate(value: &Arith, load: &dyn Fn(usize, Base) -> Option<i64>) -> Option<i64> {
    expression::value(value, load)
}

/// Returns the element's type, size and length if the type is a pointer to a counted array.
fn counted(ty: &Type) -> Option<(&Type, &Arith, Option<&Arith>)> {
    match ty {
        Type::Pointer(pointer) => match &pointer.extent {
            Extent::Counted { size, length } => Some((&pointer.to, size, length.as_ref())),
            _ => None,
        },
        _ => None,
    }
}

/// Reads the little-endian integer at an offset.
fn integer(frame: &[u8], at: usize, base: Base) -> Option<i64> {
    let mut eight = [0; 8];
    let size = base.size() as usize;
    eight.get_mut(..size)?.copy_from_slice(frame.get(at..at.checked_add(size)?)?);
    let bits = u64::from_le_bytes(eight);
    let (least, _) = base.range()?;
    let unused = 64 - 8 * base.size();
    if least < 0 { Some((bits << unused).cast_signed() >> unused) } else { i64::try_from(bits).ok() }
}

/// Reads the value of an integer parameter from a request's frame.
pub(crate) fn number(layout: Layout<'_>, plan: &MethodPlan<'_>, request: &[u8], index: usize) -> Option<i64> {
    let param = &plan.params[index];
    let base = match in_place(layout.model, param.param) {
        Type::Base(base) => *base,
        Type::Enum(_) => Base::I32,
        _ => return None,
    };
    integer(request, param.request? as usize, base)
}

fn expected(what: &str, found: &Value) -> Wrong {
    Wrong::new(format!("expected {what}, found {}", crate::json::kind(found)))
}
