//! The state of a stub that is being written: the memory to free at its exits.

use super::context::Context;
use crate::plan::MethodPlan;

/// The stub that is being written.
pub(super) struct Stub<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) plan: &'a MethodPlan<'a>,
    /// The private memory to free at every exit of the stub: the variable, and the statement that
    /// frees it.
    pub(super) allocated: Vec<(String, String)>,
}

impl Stub<'_> {
    /// Returns the statements that free the private memory and return a value.
    pub(super) fn leave(&self, value: &str) -> Vec<String> {
        let free = self.allocated.iter().map(|(_, free)| free.clone());
        free.chain([format!("return {value};")]).collect()
    }

    pub(super) fn bad(&self) -> Vec<String> {
        self.leave("OBVIA_BAD_STUB_DATA")
    }
}
