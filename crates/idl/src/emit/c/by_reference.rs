//! Arrays that are passed by reference: the proxy converts addresses to references, and the stub
//! converts references to addresses.

use super::context::{Context, fail, leave};
use super::expression::{Side, count};
use super::names::{binding, local, pointer_to};
use super::stub_state::Stub;
use super::suffix::{OTHER_REGIONS, PROXY, SELECT_REGIONS};
use super::values::refuse;
use crate::model::Transfer;
use crate::plan::{MethodPlan, ParamPlan, Passing};
use crate::text::writer::Writer;

/// Returns the arrays that are passed by reference. Each array comes with the index of its region
/// cache in generated code. The cache holds the region that was used last, which is tried first.
pub(super) fn references<'p, 'a>(plan: &'p MethodPlan<'a>) -> impl Iterator<Item = (&'p ParamPlan<'a>, String)> {
    plan.references().map(|(param, array, is_written)| {
        (param, if is_written { format!("OBVIA_REGION_CACHES + {array}") } else { array.to_string() })
    })
}

/// Writes the code that converts the addresses of arrays into references.
pub(super) fn convert_addresses(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>, given: &str) {
    for (param, region) in references(plan) {
        let reference = local(plan, param, "reference");
        out.line(format!("uint64_t {reference};"));
        let test = format!("!obvia_refer(&calls->regions[{region}], {}, &{reference})", binding(&param.param.code));
        refuse(out, &test, &leave(&format!("{}(self{given})", context.made(plan, OTHER_REGIONS))));
    }
}

/// Writes the proxy's function for calls with an array that is in no region, or in a region that no
/// region cache holds.
pub(super) fn write_other_regions(
    out: &mut Writer,
    context: &Context<'_>,
    plan: &MethodPlan<'_>,
    params: &str,
    given: &str,
) {
    out.line(format!("static HRESULT {}({params})", context.made(plan, OTHER_REGIONS)));
    out.line("{");
    out.line("HRESULT selected = 0;");
    for (param, region) in references(plan) {
        let name = binding(&param.param.code);
        out.line(format!("selected = obvia_select_also(selected, obvia_calls_at_hand, {region}, {name});"));
    }
    out.line("if (selected != 0) {");
    out.line(format!("return selected < 0 ? selected : {}(self{given});", context.proxy(plan)));
    out.line("}");
    if plan.params.iter().any(|param| param.param.transfer == Transfer::Map) {
        out.line("if (obvia_shares_memory(obvia_calls_at_hand)) {");
        out.line("return obvia_not_shared();");
        out.line("}");
    }
    out.line(format!("return {}_{}{PROXY}(self{given});", context.name, plan.method.name));
    out.line("}");
    out.line("");
}

/// Writes the calculation of the sizes of those arrays that the method may use in part. The written
/// code runs before the call, because other processes can write the memory of an operand during the
/// call.
pub(super) fn rooms(out: &mut Writer, plan: &MethodPlan<'_>) {
    for param in &plan.params {
        let Passing::Reference { size, length: Some(_), .. } = &param.passing else { continue };
        count(out, plan, &local(plan, param, "count"), size, Side::BeforeCall);
    }
}

/// Writes the proxy's check of the results that give numbers of used elements: the number must not
/// exceed the array's size.
pub(super) fn check_used(out: &mut Writer, plan: &MethodPlan<'_>) {
    for param in &plan.params {
        let Passing::Reference { length: Some(length), .. } = &param.passing else { continue };
        let (used, room) = (local(plan, param, "used"), local(plan, param, "count"));
        count(out, plan, &used, length, Side::AfterCall);
        refuse(out, &format!("{used} > {room}"), &fail("RPC_E_INVALID_DATA"));
    }
}

/// Writes the stub's function for calls with an array in a region of the caller that no region
/// cache holds.
pub(super) fn write_region_selection(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    let block = context.block(plan, true);
    out.line(format!("static obvia_answer {}(void *object, obvia_call *call)", context.made(plan, SELECT_REGIONS)));
    out.line("{");
    out.line(format!("const {block} *request = (const {block} *)call->frame;"));
    out.line("int selected = 0;");
    for (param, region) in references(plan) {
        let reference = format!("OBVIA_LOAD(uint64_t, &request->{})", binding(&param.param.code));
        out.line(format!("selected |= obvia_select_call_region(call, {region}, {reference});"));
    }
    out.line(format!("return selected ? {}(object, call) : OBVIA_BAD_STUB_DATA;", context.stub(plan)));
    out.line("}");
    out.line("");
}

/// Whether a parameter counts the elements of arrays that are passed by reference.
pub(super) fn counts_references(plan: &MethodPlan<'_>, param: &ParamPlan<'_>) -> bool {
    let mut counts = false;
    for other in &plan.params {
        if let Passing::Reference { size, .. } = &other.passing {
            size.operands(&mut |operand| counts |= std::ptr::eq(&plan.params[operand.index], param));
        }
    }
    counts
}

impl Stub<'_> {
    /// Writes the code that converts the reference to an array into the array's address.
    pub(super) fn resolve(&self, out: &mut Writer, param: &ParamPlan<'_>, region: &str) {
        let Passing::Reference { element, size, is_written, .. } = &param.passing else { return };
        let (model, name) = (self.context.model, binding(&param.param.code));
        let counted = local(self.plan, param, "count");
        count(out, self.plan, &counted, size, Side::Stub);
        let constant = if *is_written { "" } else { "const " };
        let (array, pointer) = (pointer_to(model, element, &name), pointer_to(model, element, ""));
        let (size, align) = model.layout(element);
        let reference = local(self.plan, param, "reference");
        out.line(format!("const uint64_t {reference} = OBVIA_LOAD(uint64_t, &request->{name});"));
        let test = format!("!obvia_is_in(&call->regions[{region}], {reference}, {counted}, {size}, {align})");
        refuse(out, &test, &self.leave(&format!("{}(object, call)", self.context.made(self.plan, SELECT_REGIONS))));
        out.line(format!(
            "{constant}{array} = ({constant}{pointer})obvia_resolve(&call->regions[{region}], {reference});"
        ));
    }

    /// Writes the check of the numbers of used elements that the method returned. `side` says where
    /// the results are.
    pub(super) fn check_used(&self, out: &mut Writer, side: Side, leave: impl Fn(&str) -> Vec<String>) {
        for param in &self.plan.params {
            let Passing::Reference { length: Some(length), .. } = &param.passing else { continue };
            let used = local(self.plan, param, "used");
            if side == Side::AfterMethod {
                refuse(out, "result < 0", &leave("obvia_results(result, 0)"));
            }
            count(out, self.plan, &used, length, side);
            refuse(out, &format!("{used} > {}", local(self.plan, param, "count")), &leave("OBVIA_BAD_STUB_DATA"));
        }
    }
}
