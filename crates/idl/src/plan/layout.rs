//! The layout of the frames: the places of a method's parameters in the request and in the reply.

use super::method::{FIRST_OPNUM, MethodPlan, ParamPlan, Passing};
use super::passing::{local, passing};
use super::types::{element_counts, in_place, is_scalar};
use crate::model::{Arith, Direction, Method, Model, Param, Transfer, Type, round_up};

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
    let mut arrays = [0, 0];
    let mut by_reference = |param: &Param| match (passing(model, param), param.transfer) {
        (Passing::Array { element, size, length }, Transfer::ZeroCopy | Transfer::Map) => {
            let is_written = param.direction.is_out();
            let array = arrays[usize::from(is_written)];
            arrays[usize::from(is_written)] += 1;
            (Passing::Reference { element, size, length, is_written, array }, Direction::In)
        }
        (other, _) => (other, param.direction),
    };
    let passings = method.params.iter().map(&mut by_reference).collect();
    (arrays != [0, 0]).then(|| with_passings(model, method, opnum, passings))
}

/// Returns the usual plans of an interface's methods, and the plans that pass arrays by reference.
/// The opnums of the plans by reference follow the opnums of the usual plans.
pub fn plans<'a>(model: &Model, methods: &[&'a Method]) -> (Vec<MethodPlan<'a>>, Vec<MethodPlan<'a>>) {
    let usual: Vec<MethodPlan<'a>> = methods.iter().map(|method| plan(model, method)).collect();
    let mut referring = Vec::new();
    for method in methods.iter().filter(|method| !method.local) {
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
            at = round_up(at, align);
            set(plan, at);
            at = at.saturating_add(size);
            most = most.max(align);
        }
    }
    at
}

/// Whether parameter `at` is a number that only counts the elements of some array. A `boolean` or
/// an enumeration that counts elements stays a separate parameter, because its type cannot
/// represent most lengths.
fn only_counts(params: &[ParamPlan<'_>], at: usize) -> bool {
    let candidate = &params[at];
    let inwards = matches!(candidate.passing, Passing::Value(Type::Base(base)) if base.is_number());
    let outwards = candidate.param.direction == Direction::Out
        && matches!(candidate.passing, Passing::RefPointer(Type::Base(base)) if base.is_number());
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
                None if plan.param.direction == Direction::InOut && !plan.param.is_optional_in_out() => return false,
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

/// Whether the reply can be laid out before the method runs: the sizes of all data after the block
/// are known then, except that the last array may get shorter.
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
