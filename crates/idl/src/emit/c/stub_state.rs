//! The state of a stub that is being written: the memory to free at its exits.

use super::context::{Context, block_type};
use super::names::{binding, local, pointer_to, type_name};
use super::values::{exceeds_stack, refuse};
use crate::model::Type;
use crate::plan::{MethodPlan, ParamPlan};
use crate::text::writer::Writer;

/// The stub that is being written.
pub(super) struct Stub<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) plan: &'a MethodPlan<'a>,
    /// The private memory to free at every exit of the stub: the variable, and the statement that
    /// frees it.
    pub(super) allocated: Vec<(String, String)>,
}

impl Stub<'_> {
    /// Whether a value that needs private memory gets it from the heap instead of the stack.
    fn is_on_heap(&self, param: &ParamPlan<'_>) -> bool {
        block_type(param).is_some_and(|ty| exceeds_stack(self.context.model, self.plan, param, ty))
    }

    /// Returns the private variable of a parameter's value.
    pub(super) fn variable(&self, param: &ParamPlan<'_>) -> String {
        if self.is_on_heap(param) {
            format!("(*{})", local(self.plan, param, "own"))
        } else {
            binding(&param.param.code)
        }
    }

    /// Declares the private variable of a parameter's value. Returns whether the variable is
    /// cleared.
    pub(super) fn declare(&mut self, out: &mut Writer, param: &ParamPlan<'_>, ty: &Type) -> bool {
        let model = self.context.model;
        if !self.is_on_heap(param) {
            out.line(format!("{};", super::names::declare(model, ty, &binding(&param.param.code))));
            return false;
        }
        let own = local(self.plan, param, "own");
        let pointer = pointer_to(model, ty, "");
        out.line(format!("{} = ({pointer})obvia_room(sizeof({}));", pointer_to(model, ty, &own), type_name(model, ty)));
        refuse(out, &format!("{own} == NULL"), &self.leave("OBVIA_NO_MEMORY"));
        self.allocated.push((own.clone(), format!("free({own});")));
        true
    }

    /// Returns the statements that free the private memory and return a value.
    pub(super) fn leave(&self, value: &str) -> Vec<String> {
        let free = self.allocated.iter().map(|(_, free)| free.clone());
        free.chain([format!("return {value};")]).collect()
    }

    pub(super) fn bad(&self) -> Vec<String> {
        self.leave("OBVIA_BAD_STUB_DATA")
    }
}
