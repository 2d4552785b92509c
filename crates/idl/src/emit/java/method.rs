//! A method in Java: the names and types of its parameters and results.

use super::Context;
use super::members::{Seen, is_optional, object_info, seen, shown};
use super::names::{members, parameters};
use super::types::call;
use super::values::{java, nullable, object_class};
use crate::model::{self as idl, Arith, Direction, Model, Object, Operand, Transfer, Type};
use crate::plan::{MethodPlan, ParamPlan, Passing, in_place, kind_of};
use crate::text::writer::Writer;
use std::collections::HashSet;

/// A method whose proxy or stub is being written.
pub(super) struct Method<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) plan: &'a MethodPlan<'a>,
    /// The types of the objects in the interface's frames.
    pub(super) kinds: &'a [Type],
    pub(super) name: &'a str,
    /// The name of the record of the results.
    pub(super) record: &'a str,
    pub(super) interface: &'a str,
    /// The names of the parameters and of the result record's components, as users see them.
    pub(super) shown: Vec<String>,
    /// The names of the parameters in code, which differ from the code's own variables.
    pub(super) given: Vec<String>,
    /// The names of the variables for the results of [in, out] parameters.
    came: Vec<String>,
    /// The prefixes for the names of further variables of the parameters.
    stems: Vec<String>,
    pub(super) is_proxy: bool,
}

/// Returns the plan of a method.
pub(super) fn plan<'a>(model: &Model, method: &'a idl::Method) -> MethodPlan<'a> {
    let mut plan = crate::plan::plan(model, method);
    say_room(model, &mut plan);
    plan
}

/// Makes callers pass the size of lists with a separate length as a parameter. Such a list contains
/// only the used elements, so the size does not follow from the list.
pub(super) fn say_room(model: &Model, plan: &mut MethodPlan<'_>) {
    let mut said = Vec::new();
    for param in plan.params.iter().filter(|param| matches!(param.passing, Passing::Graph)) {
        if let Ok(Seen::Array { size, length: Some(_), .. }) = seen(model, in_place(model, param.param)) {
            size.operands(&mut |operand| said.push(operand.index));
        }
    }
    said.into_iter().for_each(|at| plan.params[at].counts = false);
}

/// The suffixes of further variables of a parameter.
const ENDINGS: [&str; 9] = ["At", "Body", "Bytes", "Characters", "Copy", "Count", "Reference", "Used", "Value"];

/// Whether a parameter is an array that may be passed by reference.
pub(super) const fn can_refer(param: &ParamPlan<'_>) -> bool {
    matches!(param.passing, Passing::Array { .. } | Passing::Reference { .. })
        && matches!(param.param.transfer, Transfer::ZeroCopy | Transfer::Map)
}

/// A result: the index of its parameter, and its type.
pub(super) struct Returned {
    pub(super) at: usize,
    pub(super) ty: String,
}

impl<'a> Method<'a> {
    pub(super) fn new(
        context: &'a Context<'a>,
        plan: &'a MethodPlan<'a>,
        kinds: &'a [Type],
        (interface, name, record): (&'a str, &'a str, &'a str),
        is_proxy: bool,
    ) -> Self {
        let names = || plan.params.iter().map(|param| param.param.name.as_str());
        let (shown, (given, came)) = (members(names()), parameters(names()));
        let taken = |name: &String| {
            ENDINGS.iter().filter_map(|ending| name.strip_suffix(ending)).map(str::to_owned).collect::<Vec<_>>()
        };
        let taken: HashSet<String> = given.iter().chain(&came).flat_map(taken).collect();
        let stem = |name: &String| if taken.contains(name) { format!("{name}_") } else { name.clone() };
        let stems = given.iter().map(stem).collect();
        Self { context, plan, kinds, name, record, interface, shown, given, came, stems, is_proxy }
    }

    /// Returns the type number of an object with these elements.
    pub(super) fn kind(&self, element: &Type) -> u32 {
        kind_of(self.kinds, element)
    }

    /// Returns the index of a parameter.
    pub(super) fn index(&self, param: &ParamPlan<'_>) -> usize {
        self.plan.params.iter().position(|other| std::ptr::eq(other.param, param.param)).unwrap_or(0)
    }

    /// Returns the name of a parameter in code.
    pub(super) fn given(&self, param: &ParamPlan<'_>) -> &str {
        &self.given[self.index(param)]
    }

    /// Returns the prefix for the names of a parameter's further variables.
    pub(super) fn stem(&self, param: &ParamPlan<'_>) -> &str {
        &self.stems[self.index(param)]
    }

    /// Returns the type of a parameter. `None` for a parameter that is not passed.
    pub(super) fn argument(&self, param: &ParamPlan<'_>) -> Option<String> {
        if param.counts {
            return None;
        }
        let context = self.context;
        Some(match &param.passing {
            Passing::Value(ty) => java(context, ty),
            Passing::RefPointer(ty) if param.param.direction.is_in() => java(context, ty),
            _ if can_refer(param) => "MemorySegment".to_owned(),
            Passing::Array { element, .. } => format!("{}[]", java(context, element)),
            Passing::Optional(ty) => nullable(context, ty),
            Passing::Text { .. } => "String".to_owned(),
            Passing::Object(object) => object_class(context, object).to_owned(),
            Passing::Graph if param.param.direction.is_in() => shown(context, in_place(context.model, param.param)),
            _ => return None,
        })
    }

    /// Returns the expression for the length of an array. `array` is the index of its parameter,
    /// and `name` its variable.
    pub(super) fn length(&self, array: usize, name: &str) -> String {
        let param = &self.plan.params[array];
        if matches!(param.passing, Passing::Graph) {
            format!("Frames.length({name})")
        } else if can_refer(param) {
            match self.element_size(param) {
                1 => format!("{name}.byteSize()"),
                size => format!("{name}.byteSize() / {size}"),
            }
        } else {
            format!("{name}.length")
        }
    }

    /// Returns the size of an array's element in bytes.
    pub(super) fn element_size(&self, param: &ParamPlan<'_>) -> u32 {
        match &param.passing {
            Passing::Array { element, .. } | Passing::Reference { element, .. } => self.context.model.layout(element).0,
            _ => 1,
        }
    }

    /// Returns the expression for the description of an object's interface, or for the argument or
    /// result that contains the interface's IID.
    pub(super) fn wanted(&self, object: &Object, side: Side) -> String {
        object_info(self.context, object, |operand| self.operand(operand, side))
    }

    /// Returns the expression that unmarshals a reference. If unmarshaling fails, the expression
    /// gives back the references that would have been unmarshaled after it.
    pub(super) fn unmarshaled<'b>(
        &self,
        through: &str,
        param: &ParamPlan<'_>,
        object: &Object,
        rest: impl Iterator<Item = &'b ParamPlan<'b>>,
    ) -> String {
        let rest: String = rest.map(|other| format!(", {}Reference", self.stem(other))).collect();
        // A proxy unmarshals results, and a stub unmarshals arguments.
        let side = if self.is_proxy { Side::AfterCall } else { Side::BeforeCall };
        format!("Marshal.object({through}, {}Reference, {}{rest})", self.stem(param), self.wanted(object, side))
    }

    /// Returns the results, in the order of the source.
    pub(super) fn results(&self) -> Vec<Returned> {
        let context = self.context;
        let result = |(at, param): (usize, &ParamPlan<'_>)| {
            if param.counts || param.param.direction == Direction::In {
                return None;
            }
            let ty = match &param.passing {
                Passing::RefPointer(ty) => java(context, ty),
                Passing::OutText(_) => "String".to_owned(),
                Passing::OutArray { element, .. } => format!("{}[]", java(context, element)),
                Passing::OutObject(object) => object_class(context, object).to_owned(),
                Passing::Graph => shown(context, in_place(context.model, param.param)),
                _ => return None,
            };
            Some(Returned { at, ty })
        };
        self.plan.params.iter().enumerate().filter_map(result).collect()
    }

    /// Returns the result type of the method.
    pub(super) fn returns(&self) -> String {
        match self.results().as_slice() {
            [] => "void".to_owned(),
            [one] => one.ty.clone(),
            _ => self.record.to_owned(),
        }
    }

    /// Returns the head of the method's declaration, with parameters of these names.
    pub(super) fn declaration(&self, names: &[String]) -> String {
        let params: Vec<String> = self
            .plan
            .params
            .iter()
            .zip(names)
            .filter_map(|(param, name)| Some(format!("{} {name}", self.argument(param)?)))
            .collect();
        format!("{} {}({})", self.returns(), self.name, params.join(", "))
    }

    /// Returns the variable of a result. For an [in, out] parameter, this variable differs from the
    /// argument's variable.
    pub(super) fn came(&self, at: usize) -> &str {
        if self.plan.params[at].param.direction == Direction::InOut { &self.came[at] } else { &self.given[at] }
    }

    /// Returns the expression for a result. In a stub, the expression is used after the method has
    /// run. In a proxy, it is used after the results have been read.
    pub(super) fn result(&self, at: usize) -> String {
        if let (false, Some(array)) = (self.is_proxy, self.allocated(at)) {
            return self.length(array, &self.result(array));
        }
        if self.is_proxy || self.results().len() == 1 {
            return self.came(at).to_owned();
        }
        format!("outcome.{}()", self.shown[at])
    }

    /// Returns the allocated array whose elements this result counts, if the result has no other
    /// use.
    fn allocated(&self, at: usize) -> Option<usize> {
        let counts = |size: &crate::model::Arith| size.plain().is_some_and(|operand| operand.index == at);
        let mut arrays = self.plan.params.iter();
        self.plan.params[at].counts.then(|| {
            arrays.position(|param| match &param.passing {
                Passing::OutArray { size, .. } => counts(size),
                Passing::Graph => param.param.direction == Direction::Out && self.graph_size(param).is_some_and(counts),
                _ => false,
            })
        })?
    }

    /// Returns the expression for a count that is not passed, because arrays imply it: their
    /// length. `None` for other parameters.
    pub(super) fn implied(&self, at: usize) -> Option<String> {
        let arrays = self.arrays_counted_by(at);
        let first = *arrays.first()?;
        if arrays.len() > 1 && self.may_be_missing(first) {
            return Some(format!("Frames.length({})", self.listed(&arrays)));
        }
        Some(self.length(first, &self.given[first]))
    }

    /// Returns the arrays whose length a count gives, if the count has no other use. The arrays
    /// that may be missing come last.
    pub(super) fn arrays_counted_by(&self, at: usize) -> Vec<usize> {
        if !self.plan.params[at].counts {
            return Vec::new();
        }
        let counts = |size: &Arith| size.plain().is_some_and(|operand| operand.index == at);
        let is_counted = |param: &ParamPlan<'_>| match &param.passing {
            Passing::Array { size, .. } | Passing::Reference { size, .. } => counts(size),
            Passing::Graph => param.param.direction.is_in() && self.graph_size(param).is_some_and(counts),
            _ => false,
        };
        let params = self.plan.params.iter().enumerate();
        let mut arrays: Vec<usize> = params.filter(|(_, param)| is_counted(param)).map(|(array, _)| array).collect();
        arrays.sort_by_key(|array| self.may_be_missing(*array));
        arrays
    }

    /// Whether an array may be `null`, whatever its count is.
    pub(super) fn may_be_missing(&self, array: usize) -> bool {
        let (model, param) = (self.context.model, &self.plan.params[array]);
        matches!(param.passing, Passing::Graph) && is_optional(model, in_place(model, param.param))
    }

    /// Returns the variables of parameters as the arguments of a call.
    pub(super) fn listed(&self, params: &[usize]) -> String {
        params.iter().map(|at| self.given[*at].as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Returns the size of a counted array. `None` for other parameters.
    fn graph_size<'p>(&self, param: &ParamPlan<'p>) -> Option<&'p Arith> {
        self.graph_counts(param).map(|(size, _)| size)
    }

    /// Returns the size of a counted array, and its length if the length differs. `None` for other
    /// parameters.
    pub(super) fn graph_counts<'p>(&self, param: &ParamPlan<'p>) -> Option<(&'p Arith, Option<&'p Arith>)> {
        match seen(self.context.model, in_place(self.context.model, param.param)) {
            Ok(Seen::Array { size, length, .. }) => Some((size, length)),
            _ => None,
        }
    }

    /// Returns the expression for an operand.
    pub(super) fn operand(&self, operand: &Operand, side: Side) -> String {
        let param = &self.plan.params[operand.index];
        if self.is_proxy
            && let Some(length) = self.implied(operand.index)
        {
            return length;
        }
        if side == Side::AfterCall && param.param.direction.is_out() {
            return self.result(operand.index);
        }
        self.given[operand.index].clone()
    }
}

/// The time at which an expression is evaluated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Before the method runs. An expression then reads the arguments.
    BeforeCall,
    /// After the method has run. An expression then reads the results. A parameter without a result
    /// still has its argument.
    AfterCall,
}

/// Writes the return of the results.
pub(super) fn give(out: &mut Writer, method: &Method<'_>, value: impl Fn(usize) -> String) {
    let values: Vec<String> = method.results().iter().map(|one| value(one.at)).collect();
    match values.as_slice() {
        [] => {}
        [one] => out.line(format!("return {one};")),
        many => call(out, &format!("return new {}", method.record), many),
    }
}
