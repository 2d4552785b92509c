//! Stubs: check the request, call the method, and answer.

use super::context::{Array, Context, Named, arrays, block_end, block_type, place, position, positions};
use super::expression::{Side, count};
use super::names::{binding, local, method as method_name, pointer_to, type_name};
use super::stub_state::Stub;
use super::values::{
    check, check_count, check_elements, is_checked, is_loaded, is_padded, range, refuse, store, store_elements, utf8,
};
use super::{by_reference, lent, suffix};
use crate::model::{Direction, Type, round_up};
use crate::plan::{INLINE_MAX, MethodPlan, ParamPlan, Passing};
use crate::text::writer::Writer;

/// The place of a parameter's value during the call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Storage {
    /// A local variable.
    Local,
    /// The block of the request, which the caller may change during the call.
    Request,
    /// The block of the reply.
    Reply,
}

pub(super) fn stub(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    let mut stub = Stub { context, plan, allocated: Vec::new() };
    let name = &context.name;
    for (is_there, what) in [(plan.refers(), suffix::SELECT_REGIONS), (plan.lent().is_some(), suffix::REFILL)] {
        if is_there {
            let name = context.made(plan, what);
            out.line(format!("static OBVIA_COLD obvia_answer {name}(void *object, obvia_call *call);"));
            out.line("");
        }
    }
    out.line(format!("static obvia_answer {}(void *object, obvia_call *call)", context.stub(plan)));
    out.line("{");
    out.line(format!("{name} *self = ({name} *)object;"));
    stub.request(out);
    if stub.is_late() {
        stub.begin_late(out);
    } else {
        stub.reply(out);
    }
    stub.private_arrays(out);
    let arguments: String = plan.params.iter().map(|param| format!(", {}", stub.argument(param))).collect();
    let call = format!("(self->lpVtbl->{})(self{arguments});", method_name(&plan.method.code));
    // The result becomes a failure if a string does not end.
    let constant = if plan.params.iter().any(|param| param.param.is_filled_text()) { "" } else { "const " };
    out.line(format!("{constant}HRESULT result = {call}"));
    // Any method may look up the state of a context handle, even a method without a context handle
    // as a parameter. The object may have kept the handle from an earlier call of the same client.
    if context.has_contexts {
        out.line("obvia_context_used();");
    }
    stub.answer(out);
    out.line("}");
    out.line("");
    if plan.refers() {
        by_reference::write_region_selection(out, context, plan);
    }
    if let Some(lent) = plan.lent() {
        lent::refill(out, &stub, lent);
    }
}

impl Stub<'_> {
    /// Whether the reply's length depends on memory that the method allocates. If so, all results
    /// are local variables until the method has returned.
    fn is_late(&self) -> bool {
        self.plan.params.iter().any(|param| matches!(param.passing, Passing::OutText(_)))
    }

    /// Declares the results of a method that allocates results.
    fn begin_late(&mut self, out: &mut Writer) {
        for param in self.plan.ordered(false) {
            self.begin_result(out, param);
        }
        for array in arrays(self.plan, false) {
            let own = local(self.plan, array.param, "own");
            out.line(format!("{} = NULL;", pointer_to(self.context.model, array.element, &own)));
        }
    }

    /// Whether the method works on a copy of the array in private memory. Strings and checked
    /// elements of a request must not change after the check. Elements with padding are copied to
    /// the reply one by one, so that the padding is sent as zeros.
    fn is_private(&self, array: &Array<'_, '_>) -> bool {
        let model = self.context.model;
        match array.param.param.direction {
            Direction::In => array.size.is_none() || is_checked(model, array.element),
            Direction::InOut | Direction::Out => is_padded(model, array.element),
        }
    }

    fn storage(&self, param: &ParamPlan<'_>, ty: &Type) -> Storage {
        let model = self.context.model;
        let is_array = matches!(ty, Type::Fixed(..));
        match param.param.direction {
            Direction::In if is_array && !is_checked(model, ty) => Storage::Request,
            Direction::In => Storage::Local,
            _ if is_padded(model, ty) || self.is_late() => Storage::Local,
            _ => Storage::Reply,
        }
    }

    /// Returns the variables for an array's position and count, and its element type.
    fn named<'p>(&self, array: &Array<'p, '_>, at: &str, count: &str) -> (String, String, &'p Type) {
        (local(self.plan, array.param, at), local(self.plan, array.param, count), array.element)
    }

    /// Writes the code that checks the request and loads the arguments.
    fn request(&mut self, out: &mut Writer) {
        let plan = self.plan;
        if plan.ordered(true).is_empty() {
            refuse(out, "call->length != 0", &self.bad());
            return plan.lent().into_iter().for_each(|lent| self.room(out, lent));
        }
        let block = self.context.block(plan, true);
        let behind = arrays(plan, true);
        out.line(format!("const {block} *request = (const {block} *)call->frame;"));
        let comparison = if behind.is_empty() { "!=" } else { "<" };
        refuse(out, &format!("call->length {comparison} OBVIA_ALIGN(sizeof *request)"), &self.bad());
        // The checks that decide whether the call can be performed come first. The values that they
        // need then occupy no registers while the other arguments are loaded.
        let counts = |param: &&ParamPlan<'_>| plan.refers() && by_reference::counts_references(plan, param);
        for param in plan.ordered(true).into_iter().filter(counts) {
            self.load(out, param);
        }
        for (param, region) in by_reference::references(plan) {
            self.resolve(out, param, &region);
        }
        if let Some(lent) = plan.lent() {
            self.room(out, lent);
        }
        for param in plan.ordered(true).into_iter().filter(|param| !counts(param)) {
            self.load(out, param);
        }
        if behind.is_empty() {
            return;
        }
        for array in &behind {
            let (_, name, element) = self.named(array, "at", "count");
            if let Some(size) = array.size {
                count(out, plan, &name, size, Side::Stub);
                check_count(out, self.context.model, element, size, &name, &self.bad());
            }
        }
        let named: Vec<_> = behind.iter().map(|array| self.named(array, "at", "count")).collect();
        let mut end = block_end(&block);
        for (array, one) in behind.iter().zip(&named) {
            end = position(out, self.context, &end, one, array.size.is_none());
            self.count_text(out, array, one);
        }
        refuse(out, &format!("call->length != {end}"), &self.bad());
        for (array, (at, count, element)) in behind.iter().zip(&named).filter(|(array, _)| array.size.is_some()) {
            let name = binding(&array.param.param.code);
            let kind = self.context.kind(element);
            refuse(out, &format!("!obvia_is_array(request, &request->{name}, {at}, {kind}, {count})"), &self.bad());
        }
    }

    /// Writes the code that reads the length of a string from the string's header, because no
    /// parameter contains this length.
    fn count_text(&self, out: &mut Writer, array: &Array<'_, '_>, (at, count, element): &Named<'_>) {
        let Some(kind) = array.text_kind() else { return };
        let name = binding(&array.param.param.code);
        let size = type_name(self.context.model, element);
        out.line(format!(
            "const uint64_t {count} = obvia_text_count(request, call->length, &request->{name}, {at}, {kind}, sizeof({size}));"
        ));
        let none = if array.is_optional { String::new() } else { format!("{count} == 0 || ") };
        refuse(out, &format!("{none}{count} == UINT64_MAX"), &self.bad());
    }

    /// Writes the code that loads an argument once, and checks the loaded value.
    fn load(&mut self, out: &mut Writer, param: &ParamPlan<'_>) {
        let Some(ty) = block_type(param) else { return };
        let model = self.context.model;
        let (name, value) = (binding(&param.param.code), self.variable(param));
        let is_array = matches!(ty, Type::Fixed(..));
        if is_loaded(ty) {
            let text = type_name(model, ty);
            let constant = if self.is_late() && param.param.direction.is_out() { "" } else { "const " };
            out.line(format!("{constant}{text} {name} = OBVIA_LOAD({text}, &request->{name});"));
        } else if self.storage(param, ty) == Storage::Local {
            let address = if is_array { "" } else { "&" };
            self.declare(out, param, ty);
            out.line(format!("obvia_copy({address}{value}, {address}request->{name}, sizeof {value});"));
        } else {
            // The value is not copied here. Either the value stays in the request, or
            // [`Self::reply`] copies it to the reply and checks the copy.
            return;
        }
        check(out, model, ty, &value, &self.bad());
        range(out, param, ty, &value, &self.bad());
    }

    /// Writes the code that allocates the reply, and copies the values that the method changes in
    /// place into the reply.
    fn reply(&mut self, out: &mut Writer) {
        let plan = self.plan;
        if plan.ordered(false).is_empty() {
            return;
        }
        let block = self.context.block(plan, false);
        let behind = arrays(plan, false);
        if plan.lent().is_some() {
            out.line(format!("{block} *results = ({block} *)call->area->next;"));
        } else if behind.is_empty() && plan.reply_block <= INLINE_MAX {
            out.line(format!("{block} *results = ({block} *)call->slot;"));
        } else {
            for array in behind.iter().filter(|array| !array.param.param.direction.is_in()) {
                let (_, name, element) = self.named(array, "to", "count");
                let Some(size) = array.size else { continue };
                count(out, plan, &name, size, Side::Stub);
                let too_many = self.leave(&format!("obvia_too_large({name})"));
                check_count(out, self.context.model, element, size, &name, &too_many);
            }
            let named: Vec<_> = behind.iter().map(|array| self.named(array, "to", "count")).collect();
            let end = positions(out, self.context, &block, &named);
            out.line(format!("const uint64_t length = {end};"));
            let bulk = named.first().map_or_else(|| "length + 8".to_owned(), |first| first.0.clone());
            out.line(format!("{block} *results = ({block} *)obvia_reply_place(call, length, {bulk});"));
            refuse(out, "results == NULL", &self.leave("OBVIA_NO_MEMORY"));
        }
        if self.is_zeroed() {
            out.line("memset(results, 0, OBVIA_ALIGN(sizeof *results));");
        }
        if let Some(lent) = plan.lent() {
            self.show_room(out, lent);
        }
        for param in plan.ordered(false) {
            self.begin_result(out, param);
        }
        let mut may_move = false;
        for array in &behind {
            may_move |= array.length.is_some();
            if !self.is_private(array) {
                self.begin_array(out, array, may_move);
            }
        }
    }

    /// Whether the stub clears the reply's block, because the block contains padding, or results
    /// that the method can leave unwritten.
    fn is_zeroed(&self) -> bool {
        let model = self.context.model;
        let params = self.plan.ordered(false);
        if arrays(self.plan, false).is_empty() && self.plan.lent().is_none() && self.plan.reply_block <= 8 {
            // The slot's first 8 bytes are zero already.
            return false;
        }
        let size = |param: &ParamPlan<'_>| block_type(param).map_or(8, |ty| model.layout(ty).0);
        params.iter().map(|param| size(param)).sum::<u32>() != round_up(self.plan.reply_block, 8)
            || params.iter().any(|param| !param.param.direction.is_in() && param.passing.in_block())
    }

    fn begin_result(&mut self, out: &mut Writer, param: &ParamPlan<'_>) {
        let Some(ty) = block_type(param) else { return };
        let model = self.context.model;
        let name = binding(&param.param.code);
        let address = if matches!(ty, Type::Fixed(..)) { "" } else { "&" };
        match (self.storage(param, ty), param.param.direction.is_in()) {
            (Storage::Reply, true) if is_loaded(ty) => out.line(format!("results->{name} = {name};")),
            (Storage::Reply, true) => {
                out.line(format!(
                    "obvia_copy({address}results->{name}, {address}request->{name}, sizeof results->{name});"
                ));
                check(out, model, ty, &format!("results->{name}"), &self.bad());
            }
            (Storage::Local, false) => {
                let is_cleared = self.declare(out, param, ty);
                if !is_cleared {
                    out.line(format!("memset({address}{name}, 0, sizeof {name});"));
                }
            }
            _ => {}
        }
    }

    /// Writes the code that puts an array's header into the reply, unless the array may move after
    /// the method has returned. An array from the request is also copied to the reply, where only
    /// this process can write.
    fn begin_array(&self, out: &mut Writer, array: &Array<'_, '_>, may_move: bool) {
        let (to, count, element) = self.named(array, "to", "count");
        let model = self.context.model;
        let name = binding(&array.param.param.code);
        let kind = self.context.kind(element);
        let bytes = format!("{count} * sizeof({})", type_name(model, element));
        if !may_move {
            out.line(format!("obvia_put_array(results, &results->{name}, {to}, {kind}, {count}, {bytes});"));
        }
        if array.param.param.direction.is_in() {
            let at = local(self.plan, array.param, "at");
            let here = place(self.context, element, false, "results", &to);
            let there = place(self.context, element, true, "request", &at);
            out.line(format!("obvia_copy({here}, {there}, {bytes});"));
            check_elements(out, model, element, &here, &count, &self.bad());
        } else if array.param.param.is_filled_text() {
            // The string is empty until the method writes one.
            out.line(format!("if ({count} != 0) {{"));
            out.line(format!("*{} = 0;", place(self.context, element, false, "results", &to)));
            out.line("}");
        }
    }

    /// Writes the code that copies arrays to private memory, or allocates room for them there.
    fn private_arrays(&mut self, out: &mut Writer) {
        let plan = self.plan;
        let model = self.context.model;
        let argument = |array: &&Array<'_, '_>| array.size.is_some() || array.param.param.direction.is_in();
        for array in arrays(plan, true).iter().chain(&arrays(plan, false)).filter(argument) {
            let (at, count, element) = self.named(array, "at", "count");
            let own = local(plan, array.param, "own");
            if !self.is_private(array) || self.allocated.iter().any(|(name, _)| *name == own) {
                continue;
            }
            if array.size.is_none() {
                self.take_text(out, array, (at, count, element), own);
                continue;
            }
            let bytes = format!("{count} * sizeof({})", type_name(model, element));
            let pointer = pointer_to(model, element, "");
            out.line(format!("{} = ({pointer})obvia_room({bytes});", pointer_to(model, element, &own)));
            refuse(out, &format!("{own} == NULL"), &self.leave("OBVIA_NO_MEMORY"));
            self.allocated.push((own.clone(), format!("free({own});")));
            if array.param.param.direction.is_in() {
                let there = place(self.context, element, true, "request", &at);
                out.line(format!("obvia_copy({own}, {there}, {bytes});"));
                check_elements(out, model, element, &own, &count, &self.bad());
            }
        }
    }

    /// Writes the code that copies a string to private memory, so that the caller cannot change its
    /// length during the call. Short strings are copied to the stack.
    fn take_text(&mut self, out: &mut Writer, array: &Array<'_, '_>, (at, count, element): Named<'_>, own: String) {
        let model = self.context.model;
        let small = local(self.plan, array.param, "small");
        let (constant, size) = (pointer_to(model, element, &own), type_name(model, element));
        out.line(format!("uint64_t {small}[OBVIA_INLINE_MAX / 8];"));
        out.line(format!(
            "const {constant} = (const {size} *)obvia_take_text({small}, request, {at}, {count} * sizeof({size}));"
        ));
        refuse(out, &format!("{count} != 0 && {own} == NULL"), &self.leave("OBVIA_NO_MEMORY"));
        self.allocated.push((own.clone(), format!("obvia_drop_text({own}, {small});")));
        let bits = 8 * model.layout(element).0;
        refuse(out, &format!("!obvia_is_text{bits}({own}, {count})"), &self.bad());
        utf8(out, array.param, &own, &self.bad());
    }

    /// Returns the argument for a parameter of the method.
    fn argument(&self, param: &ParamPlan<'_>) -> String {
        let name = binding(&param.param.code);
        if let Some(array) = arrays(self.plan, true)
            .into_iter()
            .chain(arrays(self.plan, false))
            .find(|array| std::ptr::eq(array.param, param))
        {
            return match array.param.param.direction {
                Direction::Out if array.size.is_none() => format!("&{}", local(self.plan, param, "own")),
                _ if self.is_private(&array) => local(self.plan, param, "own"),
                Direction::In => {
                    let is_constant = !matches!(array.element, Type::Fixed(..));
                    place(self.context, array.element, is_constant, "request", &local(self.plan, param, "at"))
                }
                _ => place(self.context, array.element, false, "results", &local(self.plan, param, "to")),
            };
        }
        if matches!(param.passing, Passing::Lent { .. }) {
            return format!("&{name}.array");
        }
        let Some(ty) = block_type(param) else { return name };
        let is_array = matches!(ty, Type::Fixed(..));
        let place = match (self.storage(param, ty), ty) {
            (Storage::Local, _) => self.variable(param),
            // C does not convert an array of arrays to an array of const arrays.
            (Storage::Request, Type::Fixed(element, _)) if matches!(**element, Type::Fixed(..)) => {
                format!("({})request->{name}", pointer_to(self.context.model, element, ""))
            }
            (Storage::Request, _) => format!("request->{name}"),
            (Storage::Reply, _) => format!("results->{name}"),
        };
        if is_array || matches!(param.passing, Passing::Value(_)) { place } else { format!("&{place}") }
    }

    /// Writes the code that stores the results that are not in the reply yet, and answers.
    fn answer(&self, out: &mut Writer) {
        let behind = arrays(self.plan, false);
        for array in behind.iter().filter(|array| array.param.param.is_filled_text()) {
            let (_, count, element) = self.named(array, "to", "count");
            let (text, bits) = (self.argument(array.param), 8 * self.context.model.layout(element).0);
            out.line(format!("if (result >= 0 && !obvia_is_ended{bits}({text}, {count})) {{"));
            out.line("result = obvia_fail(E_INVALIDARG, \"the string does not end within its array\");");
            out.line("}");
        }
        if let Some(lent) = self.plan.lent() {
            self.store_results(out);
            return self.lent_answer(out, lent);
        }
        if self.is_late() {
            return self.allocated_answer(out, &behind);
        }
        self.check_used(out, Side::AfterMethod, |value| self.leave(value));
        if behind.iter().any(|array| array.length.is_some() || self.is_private(array)) {
            return self.late_answer(out, &behind);
        }
        self.store_results(out);
        let length = if self.plan.ordered(false).is_empty() {
            "0"
        } else if behind.is_empty() {
            "sizeof *results"
        } else {
            "length"
        };
        self.leave(&format!("obvia_results(result, {length})")).iter().for_each(|line| out.line(line));
    }

    fn store_results(&self, out: &mut Writer) {
        for param in self.plan.ordered(false) {
            let name = binding(&param.param.code);
            if let Some(ty) = block_type(param).filter(|ty| self.storage(param, ty) == Storage::Local) {
                store(out, self.context.model, ty, &format!("results->{name}"), &self.variable(param));
            }
        }
    }

    /// Writes the code that runs after the method has returned. Only then is the reply's length
    /// known. The code allocates the reply, and moves the data that the method allocated into the
    /// reply.
    fn allocated_answer(&self, out: &mut Writer, behind: &[Array<'_, '_>]) {
        let model = self.context.model;
        let free = behind.iter().map(|array| format!("free({});", local(self.plan, array.param, "own")));
        let free: Vec<String> = free.collect();
        let leave = |value: &str| [free.clone(), self.leave(value)].concat();
        refuse(out, "result < 0", &leave("obvia_results(result, 0)"));
        self.check_used(out, Side::AfterLateMethod, leave);
        let block = self.context.block(self.plan, false);
        let named: Vec<_> = behind.iter().map(|array| self.named(array, "to", "count")).collect();
        for (array, (_, count, element)) in behind.iter().zip(&named) {
            let bits = 8 * model.layout(element).0;
            out.line(format!("const uint64_t {count} = obvia_text{bits}({});", local(self.plan, array.param, "own")));
            let too_many = format!("{count} > OBVIA_FRAME_MAX / sizeof({})", type_name(model, element));
            refuse(out, &too_many, &leave("OBVIA_NO_MEMORY"));
        }
        let end = named.iter().fold(block_end(&block), |end, one| position(out, self.context, &end, one, true));
        out.line(format!("const uint64_t length = {end};"));
        let bulk = &named[0].0;
        out.line(format!("{block} *results = ({block} *)obvia_reply_place(call, length, {bulk});"));
        refuse(out, "results == NULL", &leave("OBVIA_NO_MEMORY"));
        out.line("memset(results, 0, OBVIA_ALIGN(sizeof *results));");
        self.store_results(out);
        for (array, (to, count, element)) in behind.iter().zip(&named) {
            let (name, own) = (binding(&array.param.param.code), local(self.plan, array.param, "own"));
            let kind = array.text_kind().unwrap_or_default();
            let bytes = format!("{count} * sizeof({})", type_name(model, element));
            out.line(format!("obvia_put_text(results, &results->{name}, {to}, {kind}, {own}, {count}, {bytes});"));
        }
        leave("obvia_results(result, length)").iter().for_each(|line| out.line(line));
    }

    /// Writes the answer after the method has returned. If the method does not use all of an
    /// array's room, the arrays after that array move up. Arrays in private memory are copied into
    /// the reply.
    fn late_answer(&self, out: &mut Writer, behind: &[Array<'_, '_>]) {
        refuse(out, "result < 0", &self.leave("obvia_results(result, 0)"));
        self.store_results(out);
        let mut named = Vec::new();
        for array in behind {
            let (_, mut name, element) = self.named(array, "to", "count");
            if let Some(length) = array.length {
                let room = std::mem::replace(&mut name, local(self.plan, array.param, "used"));
                count(out, self.plan, &name, length, Side::AfterMethod);
                refuse(out, &format!("{name} > {room}"), &self.bad());
            }
            named.push((local(self.plan, array.param, "final"), name, element));
        }
        let end = positions(out, self.context, &self.context.block(self.plan, false), &named);
        let mut may_move = false;
        for (array, (at, count, element)) in behind.iter().zip(&named) {
            let name = binding(&array.param.param.code);
            let kind = self.context.kind(element);
            let bytes = format!("{count} * sizeof({})", type_name(self.context.model, element));
            may_move |= array.length.is_some();
            if self.is_private(array) {
                let own = local(self.plan, array.param, "own");
                out.line(format!("obvia_put_array(results, &results->{name}, {at}, {kind}, {count}, {bytes});"));
                let here = place(self.context, element, false, "results", at);
                store_elements(out, self.context.model, element, &here, &own, count);
            } else if may_move {
                let from = local(self.plan, array.param, "to");
                out.line(format!(
                    "obvia_move_array(results, &results->{name}, {from}, {at}, {kind}, {count}, {bytes});"
                ));
            }
        }
        self.leave(&format!("obvia_results(result, {end})")).iter().for_each(|line| out.line(line));
    }
}
