//! The data that all parts of an interface's code share, and the parameters of its functions.

use super::names::{binding, item_name, tuple};
use crate::model::{Arith, Model, Type};
use crate::plan::{MethodPlan, ParamPlan, kind_of};

/// The data that all parts of an interface's code share.
pub(super) struct Context<'a> {
    pub(super) model: &'a Model,
    /// The interface's name.
    pub(super) name: String,
    /// The element types of the interface's arrays, by type number: see [`kind_of`].
    pub(super) kinds: Vec<Type>,
    /// Whether the interface has no proxies.
    pub(super) is_local: bool,
}

impl Context<'_> {
    /// Returns the prefix for the names of the functions that are generated for a method's plan.
    /// The prefix for a plan with arrays by reference has a suffix of its own.
    pub(super) fn stem(&self, plan: &MethodPlan<'_>) -> String {
        format!("{}_{}{}", self.name, plan.method.name, if plan.refers() { "_by_reference" } else { "" })
    }

    /// Returns the built-in interface that declares a method. `None` for other methods.
    pub(super) fn built_in(&self, plan: &MethodPlan<'_>) -> Option<&str> {
        let mut built_in = self.model.interfaces[..self.model.built_in.interfaces].iter();
        let found = built_in.find(|found| found.methods.iter().any(|method| std::ptr::eq(method, plan.method)))?;
        Some(&found.name)
    }

    /// Returns the type number of an array with these elements.
    pub(super) fn kind(&self, element: &Type) -> u32 {
        kind_of(&self.kinds, element)
    }
}

/// A function that maps a parameter to its type in the signature of a generated function, such as a
/// function of the vtable. `None` if the generated function does not have the parameter.
pub(super) type TypeOf = fn(&Model, &ParamPlan<'_>) -> Option<String>;

/// Returns the parameters of a function as `name: Type`, each after a comma.
pub(super) fn arguments(model: &Model, plan: &MethodPlan<'_>, argument: TypeOf) -> String {
    let given = plan
        .params
        .iter()
        .filter_map(|param| Some(format!(", {}: {}", binding(&param.param.code), argument(model, param)?)));
    given.collect()
}

/// Returns the type of a function's results.
pub(super) fn results(model: &Model, plan: &MethodPlan<'_>, result: TypeOf) -> String {
    let types: Vec<String> = plan.params.iter().filter_map(|param| result(model, param)).collect();
    tuple(&types)
}

/// Whether a size is just the parameter at this index, without any operator.
pub(super) fn counted_by(size: &Arith, at: usize) -> bool {
    size.plain().is_some_and(|operand| operand.index == at)
}

pub(super) fn counted_by_elided(plan: &MethodPlan<'_>, size: &Arith) -> bool {
    size.plain().is_some_and(|operand| plan.params[operand.index].counts)
}

/// Returns the name of the interface whose vtable contains the method: the interface itself or one
/// of its base interfaces.
pub(super) fn declared_in(context: &Context<'_>, plan: &MethodPlan<'_>) -> String {
    let model = context.model;
    let found = model
        .interfaces
        .iter()
        .find(|interface| interface.methods.iter().any(|method| std::ptr::eq(method, plan.method)));
    found.map_or_else(|| context.name.clone(), |interface| item_name(&interface.name))
}
