//! The code of an interface: its pointer type, its vtable, and the methods for callers and
//! implementers.

use super::clashes;
use super::context::{Context, arguments, counted_by, counted_by_elided, results};
use super::expression::{Side, operand_text, size_text};
use super::lengths::{self, Length};
use super::names::{self, binding, ident, is_unsafe, item_name, of_interface, tuple};
use super::parameters::{argument, result, signature};
use super::{automation, conversions, dual, form, graph, implementers, proxy, stub};
use crate::model::canonical;
use crate::model::{Arith, InterfaceId, Method, Model, Type};
use crate::plan::ndr;
use crate::plan::{MethodPlan, ParamPlan, Passing, kinds, plan, plans, stub_table_length, unsupported};
use crate::text::diagnostic::Diagnostic;
use crate::text::writer::Writer;

/// Returns errors for the parts of an interface that the back end does not support.
pub(super) fn refusals(model: &Model, id: InterfaceId) -> Vec<Diagnostic> {
    let mut refused = unsupported(model, id, "Rust", true);
    if !refused.is_empty() {
        return refused;
    }
    let methods = model.declared_lineage(id).into_iter().flat_map(|id| &model.interfaces[id.0].methods);
    refused.extend(methods.flat_map(|method| refuse(model, &plan(model, method))));
    refused
}

/// Writes the code of an interface.
pub(super) fn interface(out: &mut Writer, model: &Model, id: InterfaceId) {
    let found = &model.interfaces[id.0];
    let (plans, referring) = plans(model, &model.all_methods(id));
    let kinds = kinds(model, &model.all_methods(id));
    let context = Context { model, name: item_name(&found.name), kinds, is_local: found.local };
    let first_own = plans.len() - found.methods.len();
    let place = (found.span, found.imported);
    clashes::begin(out, format!("type `{}`", found.name), place);
    definition(out, &context, id);
    vtable(out, &context, id, &plans[first_own..]);
    callers(out, &context, &plans[first_own..]);
    implementers::implementers(out, &context, id, &plans[first_own..]);
    if found.dual {
        dual::table(out, &context, &plans);
    }
    if !found.local {
        information(out, &context, id, &plans, &referring);
        if plans.iter().any(|plan| plan.has_graph() && !plan.method.local) {
            graph::types(out, &context);
        }
        for plan in plans.iter().chain(&referring).filter(|plan| context.built_in(plan).is_none()) {
            // The code of an inherited method is written again for this interface.
            let is_own = found.methods.iter().any(|own| std::ptr::eq(own, plan.method));
            let place = if is_own { (plan.method.span, found.imported) } else { place };
            clashes::begin(out, format!("method `{}` of `{}`", plan.method.name, found.name), place);
            if plan.method.local {
                proxy::refusal(out, &context, plan);
            } else if plan.has_graph() {
                graph::method(out, &context, plan);
            } else {
                proxy::proxy(out, &context, plan);
                stub::stub(out, &context, plan);
            }
        }
    }
}

/// Writes the vtable, the proxies and the stubs of an interface, with parameters in the form in
/// which frames hold them. The runtime itself converts these parameters.
pub(super) fn wire(out: &mut Writer, model: &Model, id: InterfaceId) {
    let found = &model.interfaces[id.0];
    let (plans, _) = plans(model, &model.all_methods(id));
    let context =
        Context { model, name: item_name(&found.name), kinds: kinds(model, &model.all_methods(id)), is_local: false };
    vtable(out, &context, id, &plans);
    graph::types(out, &context);
    for plan in &plans {
        if plan.has_graph() {
            graph::method(out, &context, plan);
        } else {
            proxy::proxy(out, &context, plan);
            stub::stub(out, &context, plan);
        }
    }
    out.line(format!("pub const IDL: &str = {:?};", canonical::text(model, id)));
    out.line(format!("pub const FINGERPRINT: u128 = {:#034x};", canonical::fingerprint(model, id)));
    out.line(format!("pub static NDR: &[i64] = &{:?};", ndr::words(model, id)));
}

/// Returns the first error for a method that this back end does not support. `None` if the method
/// is supported.
pub(super) fn refusal(model: &Model, method: &Method) -> Option<Diagnostic> {
    refuse(model, &plan(model, method)).into_iter().next()
}

fn refuse(model: &Model, plan: &MethodPlan<'_>) -> Vec<Diagnostic> {
    let refusal = |param: &ParamPlan<'_>| {
        let why = match &param.passing {
            Passing::Graph => form::form(model, param.param).err().or_else(|| graph::refuse(model, plan, param))?,
            Passing::Lent { size, .. } if !is_number(plan, size) => {
                "a lent array whose length is a boolean or an enumeration"
            }
            _ => return None,
        };
        let text = format!(
            "parameter `{}` is passed as {why}, which the Rust back end does not support yet",
            param.param.name
        );
        let help = "docs/idl.md lists what this back end refuses; often a structure around the parameter helps";
        Some(Diagnostic::error("not-yet", param.param.span, text).help(help))
    };
    plan.params.iter().filter_map(refusal).collect()
}

/// Whether a size is a parameter that holds a number.
fn is_number(plan: &MethodPlan<'_>, size: &Arith) -> bool {
    let count = size.plain().and_then(|operand| plan.params.get(operand.index));
    count.is_some_and(|count| matches!(count.passing, Passing::RefPointer(Type::Base(base)) if base.is_number()))
}

fn definition(out: &mut Writer, context: &Context<'_>, id: InterfaceId) {
    let Context { model, name, .. } = context;
    let found = &model.interfaces[id.0];
    out.doc(&found.doc);
    out.line(format!("/// `interface {name}`"));
    out.line("#[repr(transparent)]");
    out.line("#[derive(Clone, Debug, PartialEq, Eq)]");
    out.line(format!("pub struct {name}(obvia::IUnknown);"));
    out.line("// SAFETY: the type is a transparent wrapper of an interface pointer, whose vtable is the one below.");
    out.line(format!("unsafe impl obvia::Interface for {name} {{"));
    out.line(format!("type Vtable = {name}_Vtbl;"));
    out.line(format!("const IID: obvia::GUID = obvia::GUID::from_u128({:#034x});", found.uuid));
    out.line("}");
    let mut ancestors: Vec<String> =
        model.lineage(id).iter().rev().skip(1).map(|id| names::interface(model, *id)).collect();
    ancestors.push("obvia::IUnknown".to_owned());
    out.line("// SAFETY: the vtable begins with the vtables of all interfaces that the interface extends.");
    out.line(format!("obvia::rt::hierarchy!(unsafe {name}: {});", ancestors.join(", ")));
    // Inherited methods can be called on the interface itself.
    out.line(format!("impl std::ops::Deref for {name} {{"));
    out.line(format!("type Target = {};", ancestors[0]));
    out.line("#[inline]");
    out.line("fn deref(&self) -> &Self::Target {");
    out.line("std::convert::Into::into(self)");
    out.line("}");
    out.line("}");
    out.line("");
}

fn vtable(out: &mut Writer, context: &Context<'_>, id: InterfaceId, own: &[MethodPlan<'_>]) {
    let Context { model, name, .. } = context;
    let base = model.interfaces[id.0]
        .base
        .map_or_else(|| "obvia::rt::IUnknown_Vtbl".to_owned(), |base| of_interface(model, base, "_Vtbl"));
    out.line("#[repr(C)]");
    out.line("#[doc(hidden)]");
    out.line(format!("pub struct {name}_Vtbl {{"));
    out.line(format!("pub base__: {base},"));
    for plan in own {
        let (params, result) = signature(model, plan);
        let method = ident(&plan.method.name);
        out.line(format!(
            "pub {method}: unsafe extern \"system\" fn(this: *mut obvia::rt::c_void{params}) -> {result},"
        ));
    }
    out.line("}");
    out.line("");
}

fn callers(out: &mut Writer, context: &Context<'_>, own: &[MethodPlan<'_>]) {
    let Context { model, name, .. } = context;
    out.line(format!("impl {name} {{"));
    for plan in own {
        out.doc(&plan.method.doc);
        if plan.method.local && !context.is_local {
            if !plan.method.doc.is_empty() {
                out.line("///");
            }
            out.line("/// `[local]`: fails with E_NOTIMPL if the object is in another process.");
        }
        let method = ident(&plan.method.name);
        let keyword = if is_unsafe(plan) { "unsafe fn" } else { "fn" };
        if is_unsafe(plan) {
            out.line("/// # Safety");
            out.line("///");
            out.line("/// Each pointer must lead to as much data as the method reads and writes there.");
        }
        if plan.method.returns_directly() {
            direct_call(out, model, plan);
            continue;
        }
        out.line("#[inline]");
        out.line(format!(
            "pub {keyword} {method}(&self{}) -> obvia::Result<{}> {{",
            arguments(model, plan, argument),
            results(model, plan, result)
        ));
        caller_body(out, context, plan);
        out.line("}");
    }
    out.line("}");
    out.line("");
}

/// Writes the function by which callers call a method that returns its result directly. The
/// function has the parameters and the result of the method's entry in the vtable.
fn direct_call(out: &mut Writer, model: &Model, plan: &MethodPlan<'_>) {
    let ((params, result), method) = (signature(model, plan), ident(&plan.method.name));
    out.line("#[inline]");
    out.line(format!("pub unsafe fn {method}(&self{params}) -> {result} {{"));
    let given = plan.in_vtable().iter().map(|param| format!(", {}", binding(&param.param.code)));
    let given = given.collect::<String>();
    out.line("// SAFETY: an interface pointer's vtable is its interface's; the caller vouches for the pointers.");
    out.line(format!("unsafe {{ (obvia::Interface::vtable(self).{method})(obvia::Interface::as_raw(self){given}) }}"));
    out.line("}");
}

fn caller_body(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    let model = context.model;
    for (at, param) in plan.params.iter().enumerate() {
        let name = binding(&param.param.code);
        if param.counts && param.param.direction.is_in() {
            count_of(out, model, plan, at, &name);
        } else if let (Passing::Text { optional, .. }, true) = (&param.passing, param.param.utf8) {
            terminate(out, param, *optional);
        } else if !param.param.direction.is_in() {
            match &param.passing {
                Passing::RefPointer(_) => out.line(format!("let mut {name} = obvia::rt::zero();")),
                Passing::OutText(_) | Passing::OutArray { .. } | Passing::OutObject(_) => {
                    out.line(format!("let mut {name} = std::ptr::null_mut();"));
                }
                Passing::Lent { room, .. } => {
                    let is_proxy =
                        format!("std::ptr::eq(obvia::Interface::vtable(self), &raw const {}_PROXY)", context.name);
                    out.line(format!(
                        "let ({}_borrowing, mut {name}) = obvia::rt::borrowing({is_proxy}, {room});",
                        param.param.code
                    ));
                }
                Passing::Automation(_) => out.line(format!("let mut {name} = Default::default();")),
                _ => {}
            }
        }
    }
    for param in &plan.params {
        if let Passing::Array { size, .. } = &param.passing
            && !counted_by_elided(plan, size)
        {
            let name = binding(&param.param.code);
            out.line(format!("obvia::rt::check_length({name}.len(), {})?;", size_text(plan, size, Side::Caller)));
        }
    }
    conversions::before_call(out, model, plan);
    let arguments: Vec<String> = plan.params.iter().map(|param| to_abi(model, param)).collect();
    let method = ident(&plan.method.name);
    let arguments: String = arguments.iter().map(|argument| format!(", {argument}")).collect();
    out.line("// SAFETY: an interface pointer has its interface's vtable; the arguments live until the call returns.");
    out.line(format!(
        "let result = unsafe {{ (obvia::Interface::vtable(self).{method})(obvia::Interface::as_raw(self){arguments}) }};"
    ));
    for param in plan.params.iter().filter(|param| param.passing == Passing::Graph) {
        conversions::after_call(out, model, plan, param.param);
    }
    let values: Vec<String> = plan
        .params
        .iter()
        .filter(|param| result(model, param).is_some())
        .map(|param| owned(model, plan, param))
        .collect();
    if values.is_empty() {
        out.line("obvia::rt::check(result)");
        return;
    }
    out.line("obvia::rt::check(result)?;");
    if values.iter().any(|value| value.starts_with("unsafe")) {
        out.line("// SAFETY: the method succeeded, so by COM's rules the caller owns its results.");
    }
    let values = taken(out, model, plan, values);
    out.line(format!("Ok({})", tuple(&values)));
}

/// Writes variables for the results of a method that returns a string in UTF-8 beside other
/// results. The variables own all results before the first string is checked. So no result leaks if
/// a string that is not in UTF-8 ends the function. Returns the expressions for the results.
fn taken(out: &mut Writer, model: &Model, plan: &MethodPlan<'_>, values: Vec<String>) -> Vec<String> {
    let is_utf8 = |param: &ParamPlan<'_>| matches!(param.passing, Passing::OutText(_)) && param.param.utf8;
    if values.len() < 2 || !plan.params.iter().any(is_utf8) {
        return values;
    }
    let params = plan.params.iter().filter(|param| result(model, param).is_some());
    let mut taken = Vec::new();
    for (param, value) in params.zip(&values) {
        let name = format!("{}_taken", param.param.code);
        let (value, failure) = value.strip_suffix('?').map_or((value.as_str(), ""), |value| (value, "?"));
        out.line(format!("let {name} = {value};"));
        taken.push(name + failure);
    }
    taken
}

/// Writes the code that copies a `&str` to a string that ends in a zero.
fn terminate(out: &mut Writer, param: &ParamPlan<'_>, is_optional: bool) {
    let (raw, name) = (&param.param.code, binding(&param.param.code));
    out.line(format!("let mut {raw}_room = obvia::rt::Utf8Room::new();"));
    let put = |text: &str| format!("{raw}_room.put({text}, {:?})?", param.param.name);
    if is_optional {
        let put = put("text");
        out.line(format!("let {raw}_given = match {name} {{ Some(text) => {put}, None => std::ptr::null() }};"));
    } else {
        out.line(format!("let {raw}_given = {};", put(&name)));
    }
}

/// Writes a count that arrays imply.
fn count_of(out: &mut Writer, model: &Model, plan: &MethodPlan<'_>, at: usize, name: &str) {
    let arrays = plan.params.iter().filter_map(|param| match &param.passing {
        Passing::Array { size, .. } => counted_by(size, at).then(|| Length::of(&binding(&param.param.code), false)),
        Passing::Graph => conversions::length(model, param.param, at),
        _ => None,
    });
    lengths::count(out, name, arrays.collect());
}

/// Returns the expression that converts an argument from the user's form to the vtable's form.
fn to_abi(model: &Model, param: &ParamPlan<'_>) -> String {
    let name = binding(&param.param.code);
    let inwards = param.param.direction.is_in();
    match &param.passing {
        Passing::Value(_) | Passing::Raw(_) => name,
        Passing::RefPointer(_) if inwards => name,
        Passing::RefPointer(_)
        | Passing::OutText(_)
        | Passing::OutArray { .. }
        | Passing::Lent { .. }
        | Passing::OutObject(_) => format!("&mut {name}"),
        Passing::Array { .. } | Passing::Reference { .. } if param.param.direction.is_out() => {
            format!("{name}.as_mut_ptr()")
        }
        Passing::Array { .. } | Passing::Reference { .. } => format!("{name}.as_ptr()"),
        Passing::Optional(_) => format!("{name}.map_or(std::ptr::null(), std::ptr::from_ref)"),
        Passing::Text { .. } if param.param.utf8 => format!("{}_given", param.param.code),
        Passing::Text { optional: false, .. } => format!("{name}.as_ptr().cast()"),
        Passing::Text { .. } => {
            format!("{name}.map_or(std::ptr::null(), |text| text.as_ptr().cast())")
        }
        Passing::Object(_) => {
            format!("{name}.map_or(std::ptr::null_mut(), obvia::Interface::as_raw)")
        }
        Passing::Graph => conversions::to_abi(model, param.param),
        Passing::Automation(memory) => automation::to_abi(*memory, param),
    }
}

/// Returns the expression for a result, in the form that users receive.
fn owned(model: &Model, plan: &MethodPlan<'_>, param: &ParamPlan<'_>) -> String {
    let name = binding(&param.param.code);
    match &param.passing {
        Passing::OutText(_) if param.param.utf8 => format!("unsafe {{ obvia::rt::take_utf8({name}) }}?"),
        Passing::OutText(base) => {
            let wide = super::names::text(*base).contains("U16");
            format!("unsafe {{ obvia::rt::{}({name}) }}", if wide { "take_wide" } else { "take_text" })
        }
        Passing::OutArray { size, .. } => {
            let count =
                size.plain().map_or_else(|| "0".to_owned(), |operand| operand_text(plan, operand.index, Side::Caller));
            format!("unsafe {{ obvia::rt::take_array({name}, {count}) }}?")
        }
        Passing::OutObject(_) => format!("unsafe {{ obvia::rt::take_object({name}) }}?"),
        Passing::Lent { size, .. } => {
            let count = size_text(plan, size, Side::Caller);
            format!("unsafe {{ obvia::rt::lent({}_borrowing, {name}, {count}) }}?", param.param.code)
        }
        Passing::Graph => conversions::owned(model, plan, param.param),
        _ => name,
    }
}

fn information(
    out: &mut Writer,
    context: &Context<'_>,
    id: InterfaceId,
    plans: &[MethodPlan<'_>],
    referring: &[MethodPlan<'_>],
) {
    let Context { model, name, .. } = context;
    let found = &model.interfaces[id.0];
    out.line("// SAFETY: the vtable and the stubs below were generated for this interface.");
    out.line(format!("unsafe impl obvia::Remote for {name} {{"));
    out.line(format!("const INFO: &'static obvia::rt::InterfaceInfo = &{name}_INFO;"));
    out.line("}");
    out.line("// SAFETY: the vtable and the stubs below were generated for this interface.");
    out.line(format!("static {name}_INFO: obvia::rt::InterfaceInfo = unsafe {{"));
    out.line("obvia::rt::InterfaceInfo::new(obvia::rt::Description {");
    out.line(format!("name: {:?},", found.name));
    out.line(format!("iid: <{name} as obvia::Interface>::IID,"));
    out.line(format!("version: ({}, {}),", found.version.0, found.version.1));
    out.line(format!("fingerprint: {:#034x},", canonical::fingerprint(model, id)));
    out.line(format!("plain: {},", found.plain));
    out.line(format!("endpoints: &{:?},", found.endpoints));
    let base =
        found.base.map_or_else(|| "None".to_owned(), |base| format!("Some(&{})", of_interface(model, base, "_INFO")));
    out.line(format!("base: {base},"));
    out.line(format!("proxy: obvia::rt::VtablePointer((&raw const {name}_PROXY).cast()),"));
    let stub = |plan: &MethodPlan<'_>| match context.built_in(plan) {
        _ if plan.method.local => "obvia::rt::refuse".to_owned(),
        Some(base) => format!("obvia::rt::{base}_{}_stub", plan.method.name),
        None => format!("{}_stub", context.stem(plan)),
    };
    let stubs: Vec<String> = plans.iter().chain(referring).map(stub).collect();
    if stubs.is_empty() {
        out.line("stubs: obvia::rt::Stubs::NONE,");
    } else {
        let padded = stub_table_length(stubs.len());
        out.line(format!("stubs: obvia::rt::Stubs::new(&obvia::rt::pad::<{padded}>(&[{}])),", stubs.join(", ")));
    }
    out.line(format!("idl: {:?},", canonical::text(model, id)));
    out.line(format!("ndr: &{:?},", ndr::words(model, id)));
    out.line("module: INTERFACES,");
    out.line("})");
    out.line("};");
    out.line(format!("static {name}_PROXY: {name}_Vtbl = {};", proxy_vtable(context, id, referring)));
    out.line("");
}

fn proxy_vtable(context: &Context<'_>, id: InterfaceId, referring: &[MethodPlan<'_>]) -> String {
    let Context { model, name, .. } = context;
    let mut text = "obvia::rt::UNKNOWN".to_owned();
    for id in model.lineage(id) {
        let found = &model.interfaces[id.0];
        if model.is_built_in(id) {
            text = of_interface(model, id, "_PROXY");
            continue;
        }
        let methods: String = found
            .methods
            .iter()
            .map(|method| {
                let by_reference = referring.iter().find(|plan| std::ptr::eq(plan.method, method));
                let stem = by_reference.map_or_else(|| format!("{name}_{}", method.name), |plan| context.stem(plan));
                format!(", {}: {stem}_proxy", ident(&method.name))
            })
            .collect();
        text = format!("{}_Vtbl {{ base__: {text}{methods} }}", item_name(&found.name));
    }
    text
}
