//! An interface: its pointer type, its vtable, what callers call and what implementers implement.

use super::expression::{Side, size_text};
use super::names::{abi, argument, binding, ident, result, tuple};
use super::{conversions, form, graph, proxy, stub};
use crate::canonical;
use crate::diagnostic::Diagnostic;
use crate::emit::writer::Writer;
use crate::model::{Arith, Direction, InterfaceId, Method, Model, Type};
use crate::plan::{MethodPlan, ParamPlan, Passing, kind_of, kinds, plan, stub_table_length};

/// What the parts of an interface's code share.
pub(super) struct Context<'a> {
    pub(super) model: &'a Model,
    /// The interface's name.
    pub(super) name: String,
    /// The element types of its arrays, by type number: see [`kind_of`].
    pub(super) kinds: Vec<Type>,
}

impl Context<'_> {
    /// The type number of an array of these elements.
    pub(super) fn kind(&self, element: &Type) -> u32 {
        kind_of(&self.kinds, element)
    }
}

/// Writes an interface, and returns what of it cannot be done.
pub(super) fn interface(out: &mut Writer, model: &Model, id: InterfaceId) -> Vec<Diagnostic> {
    let found = &model.interfaces[id.0];
    let plans: Vec<MethodPlan<'_>> = model.all_methods(id).into_iter().map(|method| plan(model, method)).collect();
    let refused: Vec<Diagnostic> = plans.iter().flat_map(|plan| refuse(model, plan)).collect();
    if !refused.is_empty() {
        return if found.imported { Vec::new() } else { refused };
    }
    let context = Context { model, name: ident(&found.name), kinds: kinds(model, &model.all_methods(id)) };
    let first_own = plans.len() - found.methods.len();
    definition(out, &context, id);
    vtable(out, &context, id, &plans[first_own..]);
    callers(out, &context, &plans[first_own..]);
    implementers(out, &context, id, &plans[first_own..]);
    if !found.local {
        information(out, &context, id, &plans);
        if plans.iter().any(MethodPlan::has_graph) {
            graph::types(out, &context);
        }
        for plan in &plans {
            if plan.has_graph() {
                graph::method(out, &context, plan);
            } else {
                proxy::proxy(out, &context, plan);
                stub::stub(out, &context, plan);
            }
        }
    }
    Vec::new()
}

fn refuse(model: &Model, plan: &MethodPlan<'_>) -> Vec<Diagnostic> {
    let graphs = plan.params.iter().filter(|param| param.passing == Passing::Graph);
    let refusal = |param: &ParamPlan<'_>| {
        let why = form::form(model, param.param).err().or_else(|| graph::refuse(model, plan, param))?;
        let text =
            format!("parameter `{}` is passed as {why}: the Rust back end does not do that yet", param.param.name);
        let help = "what it does is in docs/idl.md; often a structure around it helps";
        Some(Diagnostic::error("not-yet", param.param.span, text).help(help))
    };
    graphs.filter_map(refusal).collect()
}

fn definition(out: &mut Writer, context: &Context<'_>, id: InterfaceId) {
    let Context { model, name, .. } = context;
    let found = &model.interfaces[id.0];
    out.doc(&found.doc);
    out.line(format!("/// `interface {name}`"));
    out.line("#[repr(transparent)]");
    out.line("#[derive(Clone, Debug, PartialEq, Eq)]");
    out.line(format!("pub struct {name}(obvia::IUnknown);"));
    out.line("// SAFETY: a transparent wrapper of an interface pointer whose vtable is the one below.");
    out.line(format!("unsafe impl obvia::Interface for {name} {{"));
    out.line(format!("type Vtable = {name}_Vtbl;"));
    out.line(format!("const IID: obvia::GUID = obvia::GUID::from_u128({:#034x});", found.uuid));
    out.line("}");
    let mut ancestors: Vec<String> =
        model.lineage(id).iter().rev().skip(1).map(|id| ident(&model.interfaces[id.0].name)).collect();
    ancestors.push("obvia::IUnknown".to_owned());
    out.line(format!("obvia::rt::windows_core::imp::interface_hierarchy!({name}, {});", ancestors.join(", ")));
    // What is inherited is called as if it were the interface's own.
    out.line(format!("impl std::ops::Deref for {name} {{"));
    out.line(format!("type Target = {};", ancestors[0]));
    out.line("fn deref(&self) -> &Self::Target {");
    out.line("self.into()");
    out.line("}");
    out.line("}");
    out.line("");
}

fn vtable(out: &mut Writer, context: &Context<'_>, id: InterfaceId, own: &[MethodPlan<'_>]) {
    let Context { model, name, .. } = context;
    let base = model.interfaces[id.0].base.map_or_else(
        || "obvia::rt::IUnknown_Vtbl".to_owned(),
        |base| format!("{}_Vtbl", ident(&model.interfaces[base.0].name)),
    );
    out.line("#[repr(C)]");
    out.line("#[doc(hidden)]");
    out.line(format!("pub struct {name}_Vtbl {{"));
    out.line(format!("pub base__: {base},"));
    for plan in own {
        let params: String = plan
            .params
            .iter()
            .map(|param| format!(", {}: {}", binding(&param.param.name), abi(model, param)))
            .collect();
        let method = ident(&plan.method.name);
        out.line(format!(
            "pub {method}: unsafe extern \"system\" fn(this: *mut obvia::rt::c_void{params}) -> obvia::HRESULT,"
        ));
    }
    out.line("}");
    out.line("");
}

/// The parameters as users give them: `name: Type`.
fn arguments(model: &Model, plan: &MethodPlan<'_>) -> String {
    let given = plan
        .params
        .iter()
        .filter_map(|param| Some(format!(", {}: {}", binding(&param.param.name), argument(model, param)?)));
    given.collect()
}

fn results(model: &Model, plan: &MethodPlan<'_>) -> String {
    let types: Vec<String> = plan.params.iter().filter_map(|param| result(model, param)).collect();
    tuple(&types)
}

fn callers(out: &mut Writer, context: &Context<'_>, own: &[MethodPlan<'_>]) {
    let Context { model, name, .. } = context;
    out.line(format!("impl {name} {{"));
    for plan in own {
        out.doc(&plan.method.doc);
        let method = ident(&plan.method.name);
        out.line(format!(
            "pub fn {method}(&self{}) -> obvia::Result<{}> {{",
            arguments(model, plan),
            results(model, plan)
        ));
        caller_body(out, context, plan);
        out.line("}");
    }
    out.line("}");
    out.line("");
}

fn caller_body(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    let model = context.model;
    for (at, param) in plan.params.iter().enumerate() {
        let name = binding(&param.param.name);
        if param.counts && param.param.direction.is_in() {
            count_of(out, model, plan, at, &name);
        } else if !param.param.direction.is_in() {
            match &param.passing {
                Passing::Place(_) => out.line(format!("let mut {name} = obvia::rt::zero();")),
                Passing::OutText(_) | Passing::OutArray { .. } | Passing::OutObject(_) => {
                    out.line(format!("let mut {name} = std::ptr::null_mut();"));
                }
                _ => {}
            }
        }
    }
    for param in plan.params.iter().filter(|param| param.passing == Passing::Graph) {
        conversions::before_call(out, model, plan, param);
    }
    for param in &plan.params {
        if let Passing::Array { size, .. } = &param.passing
            && !counted_by_elided(plan, size)
        {
            let name = binding(&param.param.name);
            out.line(format!("obvia::rt::check_length({name}.len(), {})?;", size_text(plan, size, Side::Caller)));
        }
    }
    let arguments: Vec<String> = plan.params.iter().map(|param| to_abi(model, param)).collect();
    let method = ident(&plan.method.name);
    let arguments: String = arguments.iter().map(|argument| format!(", {argument}")).collect();
    out.line(
        "// SAFETY: an interface pointer's vtable is its interface's; what is passed lives until the call returns.",
    );
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
        out.line("// SAFETY: the method succeeded, so by COM's rules what it returned is the caller's.");
    }
    out.line(format!("Ok({})", tuple(&values)));
}

/// A count that the arrays tell: the first array's length; others must have the same.
fn count_of(out: &mut Writer, model: &Model, plan: &MethodPlan<'_>, at: usize, name: &str) {
    let mut arrays = plan.params.iter().filter_map(|param| match &param.passing {
        Passing::Array { size, .. } => counted_by(size, at).then(|| format!("{}.len()", binding(&param.param.name))),
        Passing::Graph => conversions::length(model, param.param, at),
        _ => None,
    });
    let Some(first) = arrays.next() else { return };
    out.line(format!("let {name} = obvia::rt::count({first})?;"));
    for other in arrays {
        out.line(format!("obvia::rt::check_length({other}, Some({first}))?;"));
    }
}

/// Whether a size is nothing but this parameter.
pub(super) fn counted_by(size: &Arith, at: usize) -> bool {
    size.plain().is_some_and(|operand| operand.index == at)
}

pub(super) fn counted_by_elided(plan: &MethodPlan<'_>, size: &Arith) -> bool {
    size.plain().is_some_and(|operand| plan.params[operand.index].counts)
}

/// A user's argument as the vtable takes it.
fn to_abi(model: &Model, param: &ParamPlan<'_>) -> String {
    let name = binding(&param.param.name);
    let inwards = param.param.direction.is_in();
    match &param.passing {
        Passing::Value(_) => name,
        Passing::Place(_) if inwards => name,
        Passing::Place(_) | Passing::OutText(_) | Passing::OutArray { .. } | Passing::OutObject(_) => {
            format!("&mut {name}")
        }
        Passing::Array { .. } if param.param.direction.is_out() => format!("{name}.as_mut_ptr()"),
        Passing::Array { .. } => format!("{name}.as_ptr()"),
        Passing::Optional(_) => format!("{name}.map_or(std::ptr::null(), std::ptr::from_ref)"),
        Passing::Text { optional: false, .. } => format!("{name}.as_ptr().cast()"),
        Passing::Text { .. } => {
            format!("{name}.map_or(std::ptr::null(), |text| text.as_ptr().cast())")
        }
        Passing::Object(_) => {
            format!("{name}.map_or(std::ptr::null_mut(), obvia::Interface::as_raw)")
        }
        Passing::Graph => conversions::to_abi(model, param.param),
    }
}

/// A result as users get it.
fn owned(model: &Model, plan: &MethodPlan<'_>, param: &ParamPlan<'_>) -> String {
    let name = binding(&param.param.name);
    match &param.passing {
        Passing::OutText(base) => {
            let wide = super::names::text(*base).contains("U16");
            format!("unsafe {{ obvia::rt::{}({name}) }}", if wide { "take_wide" } else { "take_text" })
        }
        Passing::OutArray { size, .. } => {
            let count =
                size.plain().map_or_else(|| "0".to_owned(), |operand| binding(&plan.params[operand.index].param.name));
            format!("unsafe {{ obvia::rt::take_array({name}, {count}) }}?")
        }
        Passing::OutObject(_) => format!("unsafe {{ obvia::rt::take_object({name}) }}?"),
        Passing::Graph => conversions::owned(model, plan, param.param),
        _ => name,
    }
}

fn implementers(out: &mut Writer, context: &Context<'_>, id: InterfaceId, own: &[MethodPlan<'_>]) {
    let Context { model, name, .. } = context;
    let base = model.interfaces[id.0].base.map(|base| ident(&model.interfaces[base.0].name));
    let bound = base.as_ref().map_or_else(|| "obvia::rt::IUnknownImpl".to_owned(), |base| format!("{base}_Impl"));
    out.line(format!("/// What an object that has [`{name}`] implements."));
    out.line(format!("pub trait {name}_Impl: {bound} {{"));
    for plan in own {
        out.doc(&plan.method.doc);
        let method = ident(&plan.method.name);
        out.line(format!("fn {method}(&self{}) -> obvia::Result<{}>;", arguments(model, plan), results(model, plan)));
    }
    out.line("}");
    out.line("");
    out.line(format!("impl {name}_Vtbl {{"));
    out.line("/// The vtable of an implementation.");
    out.line(format!("pub const fn new<Identity: {name}_Impl, const OFFSET: isize>() -> Self {{"));
    for plan in own {
        shim(out, context, plan);
    }
    let base_new = base.map_or_else(|| "obvia::rt::IUnknown_Vtbl".to_owned(), |base| format!("{base}_Vtbl"));
    out.line("Self {");
    out.line(format!("base__: {base_new}::new::<Identity, OFFSET>(),"));
    for plan in own {
        let method = ident(&plan.method.name);
        out.line(format!("{method}: {method}::<Identity, OFFSET>,"));
    }
    out.line("}");
    out.line("}");
    out.line("/// Whether a query for this IID is for this vtable.");
    out.line("pub fn matches(iid: &obvia::GUID) -> bool {");
    let lineage: Vec<String> = model
        .lineage(id)
        .iter()
        .map(|id| format!("<{} as obvia::Interface>::IID", ident(&model.interfaces[id.0].name)))
        .collect();
    out.line(lineage.iter().map(|iid| format!("*iid == {iid}")).collect::<Vec<_>>().join(" || "));
    out.line("}");
    out.line("}");
    out.line(format!("impl obvia::rt::windows_core::RuntimeName for {name} {{}}"));
    out.line("");
}

/// The function in the vtable of an implementation: from pointers to what the trait takes.
fn shim(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    let Context { model, name, .. } = context;
    let method = ident(&plan.method.name);
    let params: String =
        plan.params.iter().map(|param| format!(", {}: {}", binding(&param.param.name), abi(model, param))).collect();
    out.line(format!(
        "unsafe extern \"system\" fn {method}<Identity: {name}_Impl, const OFFSET: isize>(this: *mut obvia::rt::c_void{params}) -> obvia::HRESULT {{"
    ));
    out.line("// SAFETY: the vtable is an Identity's, OFFSET pointers from its start, and its holder calls.");
    out.line("let this = unsafe { obvia::rt::identity::<Identity, OFFSET>(this) };");
    out.line("obvia::rt::guard(|| {");
    for param in plan.params.iter().filter(|param| param.passing == Passing::Graph) {
        conversions::room(out, model, plan, param.param);
    }
    for param in &plan.params {
        if let Some(text) = from_abi(model, plan, param) {
            out.line("// SAFETY: by COM's rules pointer parameters are as the interface says.");
            let mutable = if is_changed(param) { "mut " } else { "" };
            out.line(format!("let {mutable}{} = unsafe {{ {text} }};", local(param)));
        }
    }
    let given = plan.params.iter().filter(|param| argument(model, param).is_some());
    let given: Vec<String> =
        given.map(|param| if is_changed(param) { format!("&mut {}", local(param)) } else { local(param) }).collect();
    let values: Vec<&ParamPlan<'_>> = plan.params.iter().filter(|param| result(model, param).is_some()).collect();
    let changed: Vec<&ParamPlan<'_>> = plan.params.iter().filter(|param| is_changed(param)).collect();
    let keep = if changed.is_empty() { "" } else { "let result = " };
    out.line(format!("{keep}match this.{method}({}) {{", given.join(", ")));
    let pattern: Vec<String> = values.iter().map(|param| format!("{}_value", param.param.name)).collect();
    out.line(format!("Ok({}) => {{", tuple(&pattern)));
    for (param, value) in values.iter().zip(&pattern) {
        if param.passing == Passing::Graph {
            conversions::give(out, model, plan, param.param, value);
        } else {
            give(out, plan, param, value);
        }
    }

    out.line("obvia::rt::code::S_OK");
    out.line("}");
    out.line("Err(error) => obvia::rt::fail(error),");
    if changed.is_empty() {
        out.line("}");
    } else {
        out.line("};");
        for param in changed {
            conversions::give_back(out, model, param.param);
        }
        out.line("result");
    }
    out.line("})");
    out.line("}");
}

/// Whether the method may put something else in a structure's place.
fn is_changed(param: &ParamPlan<'_>) -> bool {
    param.passing == Passing::Graph && param.param.direction == Direction::InOut
}

fn local(param: &ParamPlan<'_>) -> String {
    match &param.passing {
        Passing::Value(_) => binding(&param.param.name),
        _ => format!("{}_given", param.param.name),
    }
}

/// A vtable's argument as the trait's method takes it.
fn from_abi(model: &Model, plan: &MethodPlan<'_>, param: &ParamPlan<'_>) -> Option<String> {
    let name = binding(&param.param.name);
    let (inwards, outwards) = (param.param.direction.is_in(), param.param.direction.is_out());
    Some(match &param.passing {
        Passing::Place(_) if inwards && outwards => format!("&mut *{name}"),
        Passing::Place(_) if inwards => format!("&*{name}"),
        Passing::Array { size, .. } => {
            let count = format!("{}.unwrap_or(0)", size_text(plan, size, Side::Abi));
            let function = if outwards { "slice_mut" } else { "slice" };
            format!("obvia::rt::{function}({name}, {count})")
        }
        Passing::Optional(_) => format!("{name}.as_ref()"),
        Passing::Text { base, optional } => {
            let wide = super::names::text(*base).contains("U16");
            let function = if wide { "wide" } else { "text" };
            let text = format!("obvia::rt::{function}({name})");
            if *optional { text } else { format!("{text}.unwrap_or_default()") }
        }
        Passing::Object(_) => format!("obvia::Interface::from_raw_borrowed(&{name})"),
        Passing::Graph => return conversions::from_abi(model, plan, param.param),
        _ => return None,
    })
}

/// Hands a result to the caller.
fn give(out: &mut Writer, plan: &MethodPlan<'_>, param: &ParamPlan<'_>, value: &str) {
    let name = binding(&param.param.name);
    let text = match &param.passing {
        Passing::OutText(base) => {
            let wide = super::names::text(*base).contains("U16");
            format!("obvia::rt::{}({value})", if wide { "give_wide" } else { "give_text" })
        }
        Passing::OutArray { size, .. } => {
            if let Some(operand) = size.plain() {
                let count = binding(&plan.params[operand.index].param.name);
                out.line("// SAFETY: by COM's rules the caller's pointer is writable.");
                out.line(format!("unsafe {{ {count}.write({value}.len() as _) }};"));
            }
            format!("obvia::rt::give_array(&{value})")
        }
        Passing::OutObject(_) => format!("obvia::Interface::into_raw({value})"),
        _ => value.to_owned(),
    };
    out.line("// SAFETY: by COM's rules the caller's pointer is writable.");
    out.line(format!("unsafe {{ {name}.write({text}) }};"));
}

fn information(out: &mut Writer, context: &Context<'_>, id: InterfaceId, plans: &[MethodPlan<'_>]) {
    let Context { model, name, .. } = context;
    let found = &model.interfaces[id.0];
    out.line("// SAFETY: vtable and stubs below were made for this interface.");
    out.line(format!("unsafe impl obvia::Remote for {name} {{"));
    out.line(format!("const INFO: &'static obvia::rt::InterfaceInfo = &{name}_INFO;"));
    out.line("}");
    out.line(format!("static {name}_INFO: obvia::rt::InterfaceInfo = obvia::rt::InterfaceInfo {{"));
    out.line(format!("name: {:?},", found.name));
    out.line(format!("iid: <{name} as obvia::Interface>::IID,"));
    out.line(format!("version: ({}, {}),", found.version.0, found.version.1));
    out.line(format!("fingerprint: {:#034x},", canonical::fingerprint(model, id)));
    let base = found
        .base
        .map_or_else(|| "None".to_owned(), |base| format!("Some(&{}_INFO)", ident(&model.interfaces[base.0].name)));
    out.line(format!("base: {base},"));
    out.line(format!("proxy: obvia::rt::VtablePointer((&raw const {name}_PROXY).cast()),"));
    let stubs: Vec<String> = plans.iter().map(|plan| stub_name(context, plan.method)).collect();
    if stubs.is_empty() {
        out.line("stubs: obvia::rt::Stubs::NONE,");
    } else {
        let padded = stub_table_length(stubs.len());
        out.line(format!("stubs: obvia::rt::Stubs::new(&obvia::rt::pad::<{padded}>(&[{}])),", stubs.join(", ")));
    }
    out.line(format!("idl: {:?},", canonical::text(model, id)));
    out.line("module: INTERFACES,");
    out.line("};");
    out.line(format!("static {name}_PROXY: {name}_Vtbl = {};", proxy_vtable(context, id)));
    out.line("");
}

fn proxy_vtable(context: &Context<'_>, id: InterfaceId) -> String {
    let Context { model, name, .. } = context;
    let mut text = "obvia::rt::UNKNOWN".to_owned();
    for id in model.lineage(id) {
        let found = &model.interfaces[id.0];
        let methods: String = found
            .methods
            .iter()
            .map(|method| format!(", {}: {name}_{}_proxy", ident(&method.name), method.name))
            .collect();
        text = format!("{}_Vtbl {{ base__: {text}{methods} }}", ident(&found.name));
    }
    text
}

pub(super) fn stub_name(context: &Context<'_>, method: &Method) -> String {
    format!("{}_{}_stub", context.name, method.name)
}
