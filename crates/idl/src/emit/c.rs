//! The C back end: a header for C and C++ in the style of MIDL's, proxies and stubs for libobvia,
//! and a header for C++ alone.

mod by_reference;
mod clashes;
mod component;
mod context;
mod expression;
mod header;
mod interface;
mod lent;
mod library;
mod limits;
mod names;
mod projection;
mod proxy;
mod random_calls;
mod structures;
mod stub;
mod stub_state;
mod suffix;
mod table;
mod types;
mod values;
mod words;

pub use component::component;
pub use names::is_name;
pub use random_calls::random_calls;

use crate::Diagnostic;
use crate::compile::Compilation;
use crate::model::{InterfaceId, Model, Object, Type, all_arms};
use crate::plan::{MethodPlan, ParamPlan, Passing, plan};
use crate::text::source::Span;
use crate::text::writer::Writer;

/// The C source for a file's declarations.
#[derive(Clone, Debug)]
pub struct Source {
    /// `NAME.h`: the header that programs include.
    pub header: String,
    /// `NAME_stubs.c`: the code that programs link.
    pub stubs: String,
    /// `NAME_values.hpp`: the header for C++ programs that prefer values to HRESULTs.
    pub projection: String,
}

/// Returns the C source for a file's declarations. `stem` is the file's name without its extension.
///
/// # Errors
///
/// The methods that this back end does not support, each with the reason.
pub fn emit(compilation: &Compilation, stem: &str) -> Result<Source, Vec<Diagnostic>> {
    let model = &compilation.model;
    let all = (0..model.interfaces.len()).map(InterfaceId);
    let own: Vec<InterfaceId> = all.filter(|id| !model.interfaces[id.0].imported).collect();
    let mut refused: Vec<Diagnostic> = own.iter().flat_map(|id| refuse(model, *id)).collect();
    refused.extend(automation(model));
    refused.extend(clashes::clashes(model));
    if !refused.is_empty() {
        return Err(refused);
    }
    Ok(Source {
        header: header::header(compilation, stem, &own),
        stubs: stubs(compilation, stem, &own),
        projection: projection::header(compilation, stem, &own),
    })
}

/// Writes the comment that names the IDL file.
fn made_from(out: &mut Writer, compilation: &Compilation) {
    let version = env!("CARGO_PKG_VERSION");
    out.line(format!("/* Made by obvia-idl {version} from {}. Change the IDL, not this. */", compilation.name));
}

/// Whether a type is, or leads to, one of Automation's types, which libobvia's headers do not have.
fn is_automation(model: &Model, ty: &Type) -> bool {
    match model.innermost(ty) {
        Type::Struct(id) => id.0 < model.built_in.structs,
        Type::Union(id) => id.0 < model.built_in.unions,
        Type::Enum(id) => id.0 < model.built_in.enums,
        Type::Interface(Object::Known(id)) => model.is_built_in(*id),
        _ => false,
    }
}

/// Returns errors for the members and typedefs that are of Automation's types.
fn automation(model: &Model) -> Vec<Diagnostic> {
    let structs = model.structs.iter().filter(|found| !found.imported).map(|found| (&found.name, &found.fields));
    let members = structs.flat_map(|(of, fields)| fields.iter().map(move |field| (of, field)));
    let unions = model.unions.iter().filter(|found| !found.imported);
    let members = members.chain(unions.flat_map(|found| all_arms(found).map(move |field| (&found.name, field))));
    let members = members.map(|(of, field)| (format!("member `{}` of `{of}`", field.name), &field.ty, field.span));
    let typedefs = model.typedefs.iter().filter(|found| !found.imported);
    let typedefs = typedefs.map(|found| (format!("type `{}`", found.name), &found.ty, found.span));
    let is_refused = |ty: &Type| is_automation(model, ty);
    let refusal = |(what, _, span): (String, &Type, Span)| {
        let text = format!("{what} is one of Automation's types, which the C back end does not support yet");
        Diagnostic::error("not-yet", span, text).help("declare it in a file for Rust alone, or give it another type")
    };
    members.chain(typedefs).filter(|(_, ty, _)| is_refused(ty)).map(refusal).collect()
}

/// Returns errors for the parts of an interface that the back end does not support.
fn refuse(model: &Model, id: InterfaceId) -> Vec<Diagnostic> {
    let found = &model.interfaces[id.0];
    if found.dual {
        let text = format!("interface `{}` extends IDispatch, which the C back end does not support yet", found.name);
        let help = "write its clients and servers in Rust, or declare an interface for C that extends IUnknown";
        return vec![Diagnostic::error("not-yet", found.span, text).help(help)];
    }
    let plans = model.all_methods(id).into_iter().map(|method| plan(model, method));
    plans
        .flat_map(|plan| {
            // Without proxies every type can be declared, except for Automation's.
            let is_unknown =
                |param: &ParamPlan<'_>| param.param.memory.is_some() || is_automation(model, &param.param.ty);
            let params = plan.params.iter().filter(|param| !found.local || is_unknown(param));
            params.filter_map(|param| refuse_parameter(model, &plan, param)).collect::<Vec<_>>()
        })
        .collect()
}

fn refuse_parameter(model: &Model, plan: &MethodPlan<'_>, param: &ParamPlan<'_>) -> Option<Diagnostic> {
    let what = if param.param.memory.is_some() || is_automation(model, &param.param.ty) {
        "one of Automation's types"
    } else if table::is_by_table(plan) {
        table::refuse(model, plan, param)?
    } else {
        let Passing::Array { size, .. } = &param.passing else { return None };
        let mut is_result = false;
        size.operands(&mut |operand| is_result |= !plan.params[operand.index].param.direction.is_in());
        is_result.then_some("an array whose room only the results tell")?
    };
    let is_result = plan.in_vtable().iter().all(|other| !std::ptr::eq(other, param));
    let subject = if is_result { "the result".to_owned() } else { format!("parameter `{}`", param.param.name) };
    let of = &plan.method.name;
    let text = format!("{subject} of method `{of}` is {what}, which the C back end does not support yet");
    let change = "change its type to one that docs/idl.md lists for C";
    let local = if plan.method.local { "" } else { ", or declare the interface [local] if no other process calls it" };
    Some(Diagnostic::error("not-yet", param.param.span, text).help(format!("{change}{local}")))
}

fn stubs(compilation: &Compilation, stem: &str, own: &[InterfaceId]) -> String {
    let model = &compilation.model;
    let mut out = Writer::default();
    made_from(&mut out, compilation);
    out.line("/* The vtables of objects are called as C has them, also where this is compiled as C++. */");
    out.unindented("#ifndef CINTERFACE");
    out.unindented("#define CINTERFACE");
    out.unindented("#endif");
    let remote: Vec<InterfaceId> = own.iter().copied().filter(|id| !model.interfaces[id.0].local).collect();
    let methods = || remote.iter().flat_map(|id| model.all_methods(*id)).map(|method| plan(model, method));
    let has_tables = structures::are_there(model) || methods().any(|plan| table::is_by_table(&plan));
    let runtime = if has_tables { "obvia_table.h" } else { "obvia_stub.h" };
    out.line(format!("#include \"{runtime}\""));
    out.line("");
    out.line("#include <string.h>");
    out.line("");
    out.line(format!("#include \"{stem}.h\""));
    out.line("");
    for id in own {
        let found = &model.interfaces[id.0];
        out.line(format!("const IID IID_{} = {};", names::type_ident(&found.name), names::guid(found.uuid)));
    }
    out.line("");
    structures::define(&mut out, model);
    values::Functions::of_plans(&mut out, model, methods().filter(|plan| !table::is_by_table(plan)));
    if !remote.is_empty() {
        interface::module(&mut out, model);
    }
    for id in remote {
        interface::interface(&mut out, model, id);
    }
    interface::declaration(&mut out, compilation, own);
    out.finish()
}
