//! Lent arrays: a method writes the elements into its reply's frame, where the caller reads them.

use super::context::{Context, block_end, fail, place};
use super::expression::{Side, count};
use super::names::{binding, local, pointer_to, type_name};
use super::stub_state::Stub;
use super::suffix::REFILL;
use super::values::refuse;
use crate::plan::{MethodPlan, ParamPlan, Passing};
use crate::text::writer::Writer;

/// Writes the check that the reply has as many elements as the results say.
pub(super) fn check(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    let Some(lent) = plan.lent() else { return };
    let Passing::Lent { element, size, .. } = &lent.passing else { return };
    let used = local(plan, lent, "used");
    count(out, plan, &used, size, Side::AfterCall);
    let invalid = fail("RPC_E_INVALID_DATA");
    let (end, element) = (block_end(&context.block(plan, false)), type_name(context.model, element));
    // With a count of at most 32 bits the length cannot overflow.
    if size.plain().is_none_or(|operand| operand.base.size() > 4) {
        refuse(out, &format!("{used} > OBVIA_FRAME_MAX / sizeof({element})"), &invalid);
    }
    refuse(out, &format!("obvia_length(reply) != {end} + {used} * sizeof({element})"), &invalid);
}

/// Writes the statement that gives the lent elements to the caller.
pub(super) fn take(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>, lent: &ParamPlan<'_>) {
    let Passing::Lent { element, .. } = &lent.passing else { return };
    let from = place(context, element, false, "results", &block_end(&context.block(plan, false)));
    out.line(format!("*{} = {from};", binding(&lent.param.code)));
}

/// Writes the function that makes room for the lent elements in the reply and then calls the stub
/// again.
pub(super) fn refill(out: &mut Writer, stub: &Stub<'_>, lent: &ParamPlan<'_>) {
    out.line(format!("static obvia_answer {}(void *object, obvia_call *call)", stub.context.made(stub.plan, REFILL)));
    out.line("{");
    out.line(format!("if (!obvia_make_room(call, {})) {{", stub.lent_length(lent)));
    out.line("return OBVIA_NO_MEMORY;");
    out.line("}");
    out.line(format!("return {}(object, call);", stub.context.stub(stub.plan)));
    out.line("}");
    out.line("");
}

impl Stub<'_> {
    /// Writes the check that the reply has room for the lent elements.
    pub(super) fn room(&self, out: &mut Writer, lent: &ParamPlan<'_>) {
        let length = self.lent_length(lent);
        refuse(
            out,
            &format!("!obvia_has_room(call, {length})"),
            &self.leave(&format!("{}(object, call)", self.context.made(self.plan, REFILL))),
        );
        out.line("call->in_area = 1;");
    }

    fn lent_length(&self, lent: &ParamPlan<'_>) -> String {
        let Passing::Lent { element, room, .. } = &lent.passing else { return String::new() };
        let end = block_end(&self.context.block(self.plan, false));
        format!("{end} + {room} * sizeof({})", type_name(self.context.model, element))
    }

    /// Declares the method's pointer to the room for the lent elements. One structure contains this
    /// pointer and the pointer to the call. So the pointer to the call, which is rarely needed,
    /// occupies no register.
    pub(super) fn show_room(&self, out: &mut Writer, lent: &ParamPlan<'_>) {
        let Passing::Lent { element, .. } = &lent.passing else { return };
        let array = pointer_to(self.context.model, element, "array");
        let end = block_end(&self.context.block(self.plan, false));
        let here = place(self.context, element, false, "results", &end);
        let name = binding(&lent.param.code);
        out.line(format!("struct {{ {array}; obvia_call *call; }} {name} = {{{here}, call}};"));
    }

    /// Writes the answer with the lent elements. Elements outside of the reply are copied into the
    /// reply.
    pub(super) fn lent_answer(&self, out: &mut Writer, lent: &ParamPlan<'_>) {
        let Passing::Lent { element, size, room } = &lent.passing else { return };
        let (name, used) = (binding(&lent.param.code), local(self.plan, lent, "used"));
        count(out, self.plan, &used, size, Side::AfterMethod);
        let (end, bytes) = (block_end(&self.context.block(self.plan, false)), type_name(self.context.model, element));
        let here = place(self.context, element, false, "results", &end);
        let elsewhere =
            format!("obvia_lend({name}.call, result, results, {end}, {name}.array, {used}, sizeof({bytes}))");
        let mut lines = self.leave(&elsewhere);
        if lines.len() > 1 {
            // The array may lie in an argument, so the arguments are freed after the copy.
            let answer = local(self.plan, lent, "answer");
            lines = self.leave(&answer);
            lines.insert(0, format!("const obvia_answer {answer} = {elsewhere};"));
        }
        refuse(out, &format!("{name}.array != {here} || {used} > {room}"), &lines);
        let answer = format!("obvia_lent(result, {end} + {used} * sizeof({bytes}))");
        self.leave(&answer).iter().for_each(|line| out.line(line));
    }
}
