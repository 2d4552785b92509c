//! The traits that objects implement, and the vtables of their implementations.

use super::automation;
use super::context::{Context, results};
use super::conversions::{self, Elements};
use super::expression::{Side, arith_text, operand_text, size_text};
use super::names::{binding, ident, interface, is_unsafe, item_name, of_interface, tuple, value};
use super::parameters::{argument, result, signature};
use crate::model::{Arith, Direction, InterfaceId, Model, Operand, Transfer, Type, distinct};
use crate::plan::{MethodPlan, ParamPlan, Passing, element_counts};
use crate::text::writer::Writer;
use std::collections::BTreeMap;

/// The bounds on an object's type: any thread may call it and drop it.
const SHARED: &str = "Send + Sync + 'static";

/// Returns the type of a parameter in the trait's method. A lent array is an argument of the
/// method, and not a result. `None` for parameters that the method does not have.
fn method_argument(model: &Model, param: &ParamPlan<'_>) -> Option<String> {
    match &param.passing {
        Passing::Lent { element, .. } => Some(format!("&mut obvia::Lending<'_, {}>", value(model, element))),
        _ => argument(model, param),
    }
}

fn method_result(model: &Model, param: &ParamPlan<'_>) -> Option<String> {
    if matches!(param.passing, Passing::Lent { .. }) { None } else { result(model, param) }
}

/// Returns the trait's declaration of a method.
pub(super) fn declaration(model: &Model, plan: &MethodPlan<'_>) -> String {
    let method = ident(&plan.method.name);
    if plan.method.returns_directly() {
        let (params, result) = signature(model, plan);
        return format!("unsafe fn {method}(&self{params}) -> {result}");
    }
    let given = plan.params.iter().filter_map(|param| Some((ident(&param.param.code), method_argument(model, param)?)));
    let arguments: String = given.map(|(name, ty)| format!(", {name}: {ty}")).collect();
    let results = results(model, plan, method_result);
    let keyword = if is_unsafe(plan) { "unsafe fn" } else { "fn" };
    format!("{keyword} {method}(&self{arguments}) -> obvia::Result<{results}>")
}

/// Returns the names of the parameters in the trait's declaration.
pub(super) fn parameters(model: &Model, plan: &MethodPlan<'_>) -> Vec<String> {
    let given = plan.params.iter().filter(|param| method_argument(model, param).is_some());
    given.map(|param| ident(&param.param.code)).collect()
}

pub(super) fn implementers(out: &mut Writer, context: &Context<'_>, id: InterfaceId, own: &[MethodPlan<'_>]) {
    let Context { model, name, .. } = context;
    let (found, is_dual) = (&model.interfaces[id.0], model.interfaces[id.0].dual);
    // The runtime implements IDispatch for every implementation.
    let own_base = found.base.filter(|base| !model.is_built_in(*base));
    let base = own_base.map(|base| item_name(&model.interfaces[base.0].name));
    let bound =
        base.as_ref().map_or_else(|| format!("obvia::rt::IUnknownImpl<Impl: {SHARED}>"), |base| format!("{base}_Impl"));
    out.line(format!("/// Implemented by objects that have the interface [`{name}`]."));
    out.line("///");
    out.line("/// Several threads may call the methods at once, and any thread may drop the object.");
    out.line(format!("pub trait {name}_Impl: {bound} {{"));
    for plan in own {
        out.doc(&plan.method.doc);
        if is_unsafe(plan) {
            out.line("/// # Safety");
            out.line("///");
            out.line("/// Each pointer must lead to as much data as the method reads and writes there.");
        }
        out.line(format!("{};", declaration(model, plan)));
    }
    out.line("}");
    out.line("");
    out.line(format!("impl {name}_Vtbl {{"));
    out.line("/// The vtable of an implementation.");
    if is_dual {
        out.line(format!("pub const fn new<Identity: {name}_Impl + {SHARED}, const OFFSET: isize>() -> Self {{"));
        out.line(format!("Self::dual::<Identity, OFFSET, {name}>()"));
        out.line("}");
        out.line("/// The vtable of an implementation, for an interface that extends this one.");
        out.line(format!(
            "pub const fn dual<Identity: {name}_Impl + {SHARED}, const OFFSET: isize, Extending: obvia::rt::Dual>() -> Self {{"
        ));
    } else {
        out.line(format!("pub const fn new<Identity: {name}_Impl + {SHARED}, const OFFSET: isize>() -> Self {{"));
    }
    for plan in own {
        shim(out, context, plan);
    }
    let base_vtable =
        found.base.map_or_else(|| "obvia::rt::IUnknown_Vtbl".to_owned(), |base| of_interface(model, base, "_Vtbl"));
    let base_new = if is_dual { "dual::<Identity, OFFSET, Extending>" } else { "new::<Identity, OFFSET>" };
    out.line("Self {");
    out.line(format!("base__: {base_vtable}::{base_new}(),"));
    for plan in own {
        let (method, shim) = (ident(&plan.method.name), shim_name(plan));
        out.line(format!("{method}: {shim}::<Identity, OFFSET>,"));
    }
    out.line("}");
    out.line("}");
    out.line("/// Whether this vtable is the result of a query for the IID.");
    out.line("pub fn matches(iid: &obvia::GUID) -> bool {");
    let lineage: Vec<String> =
        model.lineage(id).iter().map(|id| format!("<{} as obvia::Interface>::IID", interface(model, *id))).collect();
    let all = lineage.iter().map(String::as_str).chain(["obvia::rt::IID_CHECKED"]);
    out.line(all.map(|iid| format!("*iid == {iid}")).collect::<Vec<_>>().join(" || "));
    out.line("}");
    out.line("}");
    out.line(format!("impl obvia::rt::windows_core::RuntimeName for {name} {{}}"));
    out.line("");
}

/// Returns the name of a method's function in the vtable of an implementation. The name differs
/// from the name of the functions' constant parameter, `OFFSET`.
fn shim_name(plan: &MethodPlan<'_>) -> String {
    distinct(&ident(&plan.method.name), |stem| stem == "OFFSET")
}

/// Writes the function in the vtable of an implementation. The function converts pointers to the
/// arguments of the trait's method.
fn shim(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    let Context { model, name, .. } = context;
    let ((params, result), method) = (signature(model, plan), ident(&plan.method.name));
    out.line(format!(
        "unsafe extern \"system\" fn {}<Identity: {name}_Impl, const OFFSET: isize>(this: *mut obvia::rt::c_void{params}) -> {result} {{",
        shim_name(plan)
    ));
    out.line("// SAFETY: `this` is OFFSET pointers from the start of an Identity that the caller holds.");
    out.line("let this = unsafe { obvia::rt::identity::<Identity, OFFSET>(this) };");
    if plan.method.returns_directly() {
        return direct_body(out, plan);
    }
    out.line("obvia::rt::guard(|| {");
    for param in plan.params.iter().filter(|param| param.passing == Passing::Graph) {
        conversions::room(out, model, plan, param.param);
    }
    convert(out, model, plan);
    let given = plan.params.iter().filter(|param| method_argument(model, param).is_some());
    let given: Vec<String> = given
        .map(|param| if is_passed_by_mut(model, param) { format!("&mut {}", local(param)) } else { local(param) })
        .collect();
    let values: Vec<&ParamPlan<'_>> =
        plan.params.iter().filter(|param| method_result(model, param).is_some()).collect();
    let mut changed: Vec<&ParamPlan<'_>> =
        plan.params.iter().filter(|param| is_passed_by_mut(model, param) && param.passing == Passing::Graph).collect();
    // Unions come last: a wrong arm ends the function, so all other values must have been written
    // back before a union.
    changed.sort_by_key(|param| conversions::is_placed_union(model, param));
    let keep = if changed.is_empty() { "" } else { "let result = " };
    let call = format!("this.{method}({})", given.join(", "));
    if is_unsafe(plan) {
        out.line("// SAFETY: the caller vouches for pointers without a number of elements.");
        out.line(format!("{keep}match unsafe {{ {call} }} {{"));
    } else {
        out.line(format!("{keep}match {call} {{"));
    }
    let pattern: Vec<String> = values.iter().map(|param| format!("{}_value", param.param.code)).collect();
    // The results are given to the caller in a closure. A refused result ends only the closure, so
    // that the changed values are still written back.
    let may_refuse = !values.is_empty() || plan.lent().is_some();
    let (start, end) = if may_refuse && !changed.is_empty() { ("(|| {", "})(),") } else { ("{", "}") };
    out.line(format!("Ok({}) => {start}", tuple(&pattern)));
    give_all(out, model, plan, &values, &pattern);
    out.line("obvia::rt::code::S_OK");
    out.line(end);
    out.line("Err(error) => obvia::rt::fail(error),");
    if changed.is_empty() {
        out.line("}");
    } else {
        out.line("};");
        for param in changed {
            conversions::give_back(out, model, plan, param.param);
        }
        out.line("result");
    }
    out.line("})");
    out.line("}");
}

/// Writes the checks of a method's results, and the statements that give them to the caller.
fn give_all(out: &mut Writer, model: &Model, plan: &MethodPlan<'_>, values: &[&ParamPlan<'_>], pattern: &[String]) {
    for param in values.iter().filter(|param| is_utf8_result(param)) {
        refuse_unless(out, &format!("obvia::rt::refuse_zero(&{}_value, {:?})", param.param.code, param.param.name));
    }
    lengths(out, model, plan, values);
    let given: Vec<_> = values.iter().zip(pattern).collect();
    let is_late = |param: &ParamPlan<'_>| conversions::is_placed_union(model, param);
    let (late, early): (Vec<_>, Vec<_>) = given.into_iter().partition(|(param, _)| is_late(param));
    for (param, value) in early.into_iter().chain(late) {
        if param.passing == Passing::Graph {
            conversions::give(out, model, plan, param.param, value);
        } else {
            give(out, param, value);
        }
    }
    if let Some(lent) = plan.lent() {
        give_lent(out, plan, lent);
    }
}

/// Writes variables for the arguments in the form of the trait's method.
fn convert(out: &mut Writer, model: &Model, plan: &MethodPlan<'_>) {
    // A union comes before the parameter that holds its discriminant, and an array before the
    // parameter that holds the number of its elements. The discriminant and the number are read
    // through raw pointers, so they are read before a `&mut` to them exists. Values that are moved
    // out of the caller's memory come last. A refused argument ends the function, so values that
    // were moved before it would be lost.
    let rank = |param: &&ParamPlan<'_>| match param.passing {
        Passing::Graph if conversions::is_placed_union(model, param) => 0,
        Passing::Graph if conversions::is_taken(model, param.param) => 3,
        _ if element_counts(param.param).is_some() => 1,
        _ => 2,
    };
    let mut ordered: Vec<&ParamPlan<'_>> = plan.params.iter().collect();
    ordered.sort_by_key(rank);
    for param in ordered {
        if let Some(text) = from_abi(model, plan, param) {
            out.line("// SAFETY: by COM's rules, pointer parameters are as the interface describes them.");
            let mutable = if is_passed_by_mut(model, param) { "mut " } else { "" };
            out.line(format!("let {mutable}{} = unsafe {{ {text} }};", local(param)));
        }
    }
}

/// Writes the vtable function's body for a method that returns its result directly.
fn direct_body(out: &mut Writer, plan: &MethodPlan<'_>) {
    let given: Vec<String> = plan.in_vtable().iter().map(|param| binding(&param.param.code)).collect();
    out.line("// SAFETY: the caller vouches for the pointers.");
    out.line(format!("unsafe {{ this.{}({}) }}", ident(&plan.method.name), given.join(", ")));
    out.line("}");
}

/// Whether the method gets a `&mut` to the argument's variable, because it may replace the
/// argument's structure, or fills the argument.
fn is_passed_by_mut(model: &Model, param: &ParamPlan<'_>) -> bool {
    match param.passing {
        Passing::Graph => {
            param.param.direction == Direction::InOut && !conversions::is_changed_in_place(model, param.param)
        }
        Passing::Lent { .. } => true,
        _ => false,
    }
}

fn local(param: &ParamPlan<'_>) -> String {
    match &param.passing {
        Passing::Value(_) | Passing::Raw(_) => binding(&param.param.code),
        Passing::Automation(memory) if param.param.direction == Direction::In && memory.is_by_value(param.param) => {
            format!("&{}", binding(&param.param.code))
        }
        _ => format!("{}_given", param.param.code),
    }
}

/// Returns the expression that converts an argument from the vtable's form to the form of the
/// trait's method. `None` for results, and if there is nothing to convert.
fn from_abi(model: &Model, plan: &MethodPlan<'_>, param: &ParamPlan<'_>) -> Option<String> {
    let name = binding(&param.param.code);
    let (inwards, outwards) = (param.param.direction.is_in(), param.param.direction.is_out());
    Some(match &param.passing {
        Passing::RefPointer(_) if inwards && outwards => format!("&mut *{name}"),
        Passing::RefPointer(_) if inwards => format!("&*{name}"),
        Passing::Array { size, .. } if param.param.transfer != Transfer::Frame => {
            let count = format!("{}.unwrap_or(0)", size_text(plan, size, Side::Abi));
            let what = if outwards { "ElementsMut" } else { "Elements" };
            format!("obvia::{what}::from_raw({name}, {count})")
        }
        Passing::Lent { room, .. } => format!("obvia::rt::lending({name}, {room})"),
        Passing::Array { size, .. } => {
            let count = format!("{}.unwrap_or(0)", size_text(plan, size, Side::Abi));
            let function = if outwards { "slice_mut" } else { "slice" };
            format!("obvia::rt::{function}({name}, {count})")
        }
        Passing::Optional(_) => format!("{name}.as_ref()"),
        Passing::Text { optional, .. } if param.param.utf8 => {
            let text = if *optional { "text" } else { "text.unwrap_or_default()" };
            let call = format!("obvia::rt::utf8_argument({name}, {:?})", param.param.name);
            format!("match {call} {{ Ok(text) => {text}, Err(error) => return obvia::rt::fail(error) }}")
        }
        Passing::Text { base, optional } => {
            let wide = super::names::text(*base).contains("U16");
            let function = if wide { "wide" } else { "text" };
            let text = format!("obvia::rt::{function}({name})");
            if *optional { text } else { format!("{text}.unwrap_or_default()") }
        }
        Passing::Object(_) => format!("obvia::Interface::from_raw_borrowed(&{name})"),
        Passing::Graph => return conversions::from_abi(model, plan, param.param),
        Passing::Automation(_) => return automation::from_abi(param),
        _ => return None,
    })
}

/// Writes checks of the returned arrays' lengths, against one another and against the lengths that
/// the method returns. The checks run before any result is given to the caller. After the checks,
/// writes the counts that the arrays imply.
fn lengths(out: &mut Writer, model: &Model, plan: &MethodPlan<'_>, values: &[&ParamPlan<'_>]) {
    let mut counted: BTreeMap<usize, String> = BTreeMap::new();
    for param in values {
        let elements = match &param.passing {
            Passing::OutArray { size, .. } => Some(Elements::Counted(size.clone())),
            Passing::Graph => conversions::elements_of_result(model, param.param),
            _ => None,
        };
        let length = format!("{}_value.len()", param.param.code);
        match elements {
            None | Some(Elements::AtMostRoom) => {}
            Some(Elements::Room) => {
                let room = format!("std::option::Option::Some({}_room)", param.param.code);
                refuse_unless(out, &format!("obvia::rt::check_length({length}, {room})"));
            }
            Some(Elements::Counted(size)) => match size.plain().filter(|operand| plan.params[operand.index].counts) {
                None => {
                    let wanted = result_size(plan, &size, values);
                    refuse_unless(out, &format!("obvia::rt::check_length({length}, {wanted})"));
                }
                Some(counter) => match counted.get(&counter.index) {
                    Some(first) => refuse_unless(
                        out,
                        &format!("obvia::rt::check_length({length}, std::option::Option::Some({first}))"),
                    ),
                    None => drop(counted.insert(counter.index, length)),
                },
            },
        }
    }
    for (at, length) in counted {
        let param = plan.params[at].param;
        let (name, raw) = (binding(&param.code), &param.code);
        out.line(format!("let {raw}_value = match obvia::rt::count({length}) {{"));
        out.line("Ok(count) => count,");
        out.line("Err(error) => return obvia::rt::fail(error),");
        out.line("};");
        out.line("// SAFETY: by COM's rules, the caller's pointer is writable.");
        out.line(format!("unsafe {{ {name}.write({raw}_value) }};"));
    }
}

/// Returns the expression for the number of elements after the method has returned, in terms of
/// results, changed parameters and arguments.
fn result_size(plan: &MethodPlan<'_>, size: &Arith, values: &[&ParamPlan<'_>]) -> String {
    let operand = |operand: &Operand| {
        let param = &plan.params[operand.index];
        let number = if matches!(&param.passing, Passing::Value(Type::Enum(_)) | Passing::RefPointer(Type::Enum(_))) {
            ".0"
        } else {
            ""
        };
        let is_result = values.iter().any(|value| std::ptr::eq(value.param, param.param));
        if is_result {
            format!("{}_value{number}", param.param.code)
        } else {
            operand_text(plan, operand.index, Side::Abi)
        }
    };
    format!("obvia::rt::elements_of((|| std::option::Option::Some({}))())", arith_text(size, &operand))
}

fn refuse_unless(out: &mut Writer, check: &str) {
    out.line(format!("if let Err(error) = {check} {{"));
    out.line("return obvia::rt::fail(error);");
    out.line("}");
}

/// Writes the statements that give the lent array to the caller.
fn give_lent(out: &mut Writer, plan: &MethodPlan<'_>, lent: &ParamPlan<'_>) {
    let Passing::Lent { size, .. } = &lent.passing else { return };
    let safety = "// SAFETY: by COM's rules, the caller's pointer is writable.";
    let (name, given) = (binding(&lent.param.code), local(lent));
    if let Some(operand) = size.plain() {
        let param = plan.params[operand.index].param;
        let (count, raw) = (binding(&param.code), &param.code);
        out.line(format!("let {raw}_lent = match obvia::rt::count({given}.len()) {{"));
        out.line("Ok(count) => count,");
        out.line("Err(error) => return obvia::rt::fail(error),");
        out.line("};");
        out.line(safety);
        out.line(format!("unsafe {{ {count}.write({raw}_lent) }};"));
    }
    out.line(safety);
    out.line(format!("unsafe {{ {name}.write(obvia::rt::finish_lending({given})) }};"));
}

fn is_utf8_result(param: &ParamPlan<'_>) -> bool {
    matches!(param.passing, Passing::OutText(_)) && param.param.utf8
}

/// Writes the statement that gives a result to the caller.
fn give(out: &mut Writer, param: &ParamPlan<'_>, value: &str) {
    let name = binding(&param.param.code);
    let text = match &param.passing {
        Passing::OutText(_) if param.param.utf8 => format!("obvia::rt::give_utf8({value})"),
        Passing::OutText(base) => {
            let wide = super::names::text(*base).contains("U16");
            format!("obvia::rt::{}({value})", if wide { "give_wide" } else { "give_text" })
        }
        Passing::OutArray { .. } => format!("obvia::rt::give_array(&{value})"),
        Passing::OutObject(_) => format!("obvia::Interface::into_raw({value})"),
        _ => value.to_owned(),
    };
    out.line("// SAFETY: by COM's rules, the caller's pointer is writable.");
    out.line(format!("unsafe {{ {name}.write({text}) }};"));
}
