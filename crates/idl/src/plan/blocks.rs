//! The contents of the blocks of a method's frames.

use super::{MethodPlan, ParamPlan, in_place};
use crate::model::{Base, Direction, Extent, Model, Operand, Pointer, Type};
use crate::plan::shapes::{About, Expr, Shape, Shapes};
use std::borrow::Cow;
use std::cell::RefCell;

impl<'a> MethodPlan<'a> {
    /// Returns the shape of the request's or the reply's block, restricted to the parameters that
    /// `wanted` selects.
    ///
    /// The second value lists the parameters outside the block that the shape's expressions read,
    /// in the order of the numbers in [`Expr::Outer`]. A GUID has two entries, one for each half.
    pub fn block(
        &self,
        model: &Model,
        kinds: &[Type],
        request: bool,
        wanted: impl Fn(&ParamPlan<'_>) -> bool,
    ) -> (Shape, Vec<usize>) {
        let at = |param: &ParamPlan<'_>| if request { param.request } else { param.reply };
        let outer = RefCell::new(Vec::new());
        let operand = |operand: &Operand| self.operand(request, &outer, operand);
        let wanted = self.params.iter().filter(|param| wanted(param));
        let types: Vec<_> =
            wanted.filter_map(|param| Some((at(param)?, self.in_block(model, param, request), param))).collect();
        let mut fields: Vec<(u32, &Type, About<'_>)> =
            types.iter().map(|(at, ty, param)| (*at, &**ty, About::of_param(param.param))).collect();
        fields.sort_by_key(|(at, ..)| *at);
        let shape = Shapes { model, kinds }.block(&fields, &operand);
        (shape, outer.into_inner())
    }

    /// Returns the expression for an operand. An operand that is not in the block gets a number in
    /// `outer`.
    pub(crate) fn operand(&self, request: bool, outer: &RefCell<Vec<usize>>, operand: &Operand) -> Expr {
        let index = operand.index % self.params.len();
        let param = &self.params[index];
        let at = if request { param.request } else { param.reply };
        if let Some(offset) = at.filter(|_| index == operand.index) {
            return Expr::Member(offset, operand.base);
        }
        let mut outer = outer.borrow_mut();
        let known = outer.iter().position(|known| *known == index);
        Expr::Outer(known.unwrap_or_else(|| {
            let halves = if operand.base == Base::Guid { 2 } else { 1 };
            outer.extend(std::iter::repeat_n(index, halves));
            outer.len() - halves
        }))
    }

    /// Returns the type that a block holds for a parameter.
    ///
    /// In the reply, an array in the caller's memory has as many elements as the caller requested,
    /// even if the method changes the parameter with that number. The returned type therefore
    /// refers to that parameter's value in the request: the operand's index is the parameter's
    /// index plus the number of parameters.
    pub(crate) fn in_block(&self, model: &Model, param: &ParamPlan<'a>, request: bool) -> Cow<'a, Type> {
        let ty = in_place(model, param.param);
        let (Type::Pointer(pointer), false) = (ty, request) else { return Cow::Borrowed(ty) };
        let (Extent::Counted { size, length }, true) = (&pointer.extent, std::ptr::eq(ty, &raw const param.param.ty))
        else {
            return Cow::Borrowed(ty);
        };
        let asked = |operand: &Operand| {
            let is_changed = self.params[operand.index].param.direction == Direction::InOut;
            Operand { index: operand.index + if is_changed { self.params.len() } else { 0 }, ..operand.clone() }
        };
        let extent = Extent::Counted { size: size.map_operands(&asked), length: length.clone() };
        Cow::Owned(Type::Pointer(Box::new(Pointer { class: pointer.class, to: pointer.to.clone(), extent })))
    }
}
