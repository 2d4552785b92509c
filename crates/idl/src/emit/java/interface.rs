//! The code of an interface: the Java interface for callers and implementers, and the class with
//! its description, proxy and stub.

use super::doc::{Doc, escaped, of_value};
use super::members::{graph_type, is_optional};
use super::method::{Method, can_refer, plan, say_room};
use super::types::{call, is_literal, string};
use super::{Context, proxy, stub};
use crate::model::canonical;
use crate::model::{InterfaceId, Model, Type, stem};
use crate::plan::{MethodPlan, Passing, in_place, kinds};
use crate::text::writer::Writer;

/// Writes the Java interface.
pub(super) fn interface(out: &mut Writer, context: &Context<'_>, id: InterfaceId) {
    let (model, name) = (context.model, context.types.interface(id));
    let found = &model.interfaces[id.0];
    let base = found.base.map_or("Remote", |base| context.types.interface(base));
    let text = if found.doc.is_empty() { format!("{{@code interface {}}}", found.name) } else { escaped(&found.doc) };
    let local = found.methods.iter().filter(|method| method.local).map(|method| method.name.as_str());
    let local = local.collect::<Vec<_>>().join(", ");
    let text = if local.is_empty() {
        text
    } else {
        format!("{text}\n\n<p>[local] methods, which are left out here: {local}.")
    };
    Doc::new(&text).write(out);
    out.line(format!("public interface {name} extends {base} {{"));
    let (names, records) = context.types.methods(model, id);
    let inherited = names.len() - found.remote_methods().count();
    let names = names.iter().zip(&records).skip(inherited);
    for (method, (method_name, record_name)) in found.remote_methods().zip(names) {
        let plan = plan(model, method);
        let method = Method::new(context, &plan, &[], (name, method_name, record_name), true);
        doc(&method).write(out);
        out.line(format!("{};", method.declaration(&method.shown)));
        out.line("");
        if method.results().len() > 1 {
            record(out, &method);
        }
    }
    out.line("}");
}

fn doc(method: &Method<'_>) -> Doc {
    let idl = &method.plan.method;
    let mut doc = Doc::new(&if idl.doc.is_empty() { format!("{{@code {}}}", idl.name) } else { escaped(&idl.doc) });
    for param in method.plan.params.iter().filter(|param| method.argument(param).is_some()) {
        let said = said_of(method.context.model, param);
        if !said.is_empty() {
            doc.parameter(&method.shown[method.index(param)], &said);
        }
    }
    if let [one] = method.results().as_slice() {
        let said = said_of(method.context.model, &method.plan.params[one.at]);
        if !said.is_empty() {
            doc.returns(&said);
        }
    }
    doc
}

/// Returns the documentation of a parameter or a result.
fn said_of(model: &Model, param: &crate::plan::ParamPlan<'_>) -> String {
    let mut said = match &param.passing {
        Passing::Value(ty) | Passing::RefPointer(ty) | Passing::Optional(ty) => of_value(ty),
        Passing::Array { element, .. } if can_refer(param) => {
            Some(format!("elements of {} each", size_of(model.layout(element).0)))
        }
        Passing::Array { element, .. } | Passing::OutArray { element, .. } => {
            of_value(element).map(|text| format!("of {} each", text.trim_start_matches("an ")))
        }
        _ => None,
    };
    let mut add =
        |text: String| said = Some(said.take().map_or_else(|| text.clone(), |said| format!("{said}; {text}")));
    if let Some((least, most)) = param.param.range {
        add(format!("from {least} to {most}"));
    }
    match &param.passing {
        Passing::Array { .. } if param.param.is_filled_text() => {
            add("the method writes a string with its zero".to_owned());
        }
        Passing::Array { .. } if param.param.direction.is_out() => add("changed in place".to_owned()),
        Passing::Optional(_)
        | Passing::Text { optional: true, .. }
        | Passing::OutText(_)
        | Passing::Object(_)
        | Passing::OutObject(_) => add("may be {@code null}".to_owned()),
        Passing::Graph if param.param.is_optional_in_out() => {
            add("may be {@code null}; the result is {@code null} exactly if the argument is".to_owned());
        }
        Passing::Graph if is_optional(model, in_place(model, param.param)) => add("may be {@code null}".to_owned()),
        _ => {}
    }
    said.unwrap_or_default()
}

fn size_of(bytes: u32) -> String {
    if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") }
}

/// Writes the record of several results.
fn record(out: &mut Writer, method: &Method<'_>) {
    let mut doc = Doc::new(&format!("The results of {{@link #{}}}.", method.name));
    let mut members = Vec::new();
    for one in method.results() {
        let param = &method.plan.params[one.at];
        let said = said_of(method.context.model, param);
        if !said.is_empty() {
            doc.parameter(&method.shown[one.at], &said);
        }
        members.push(format!("{} {}", one.ty, method.shown[one.at]));
    }
    doc.write(out);
    out.line(format!("record {}({}) {{}}", method.record, members.join(", ")));
    out.line("");
}

/// Whether some methods pass structures with pointers.
pub(super) fn has_graphs(model: &Model, id: InterfaceId) -> bool {
    model.remote_methods(id).into_iter().any(|method| plan(model, method).has_graph())
}

/// Writes the list of the types that the interface's pointers lead to.
fn types(out: &mut Writer, context: &Context<'_>, kinds: &[Type]) {
    let types: Vec<String> = kinds.iter().map(|ty| graph_type(context, ty)).collect();
    call(out, "private static final GraphKinds KINDS = GraphKinds.of", &types);
    out.line("");
}

/// Writes the description of the interface for the runtime.
fn description(out: &mut Writer, context: &Context<'_>, id: InterfaceId) {
    let (model, name) = (context.model, context.types.interface(id));
    let found = &model.interfaces[id.0];
    let idl = canonical::text(model, id);
    if is_literal(&idl) {
        out.line("private static final String IDL =");
        out.verbatim("        \"\"\"");
        for line in idl.lines() {
            let line = line.replace('\\', "\\\\").replace("\"\"\"", "\\\"\"\"");
            out.verbatim(format!("        {line}").trim_end());
        }
        out.verbatim("        \"\"\";");
    } else {
        out.line(format!("private static final String IDL = {};", string(&idl)));
    }
    out.line("");
    out.line("/** The description of the interface. */");
    out.line(format!("public static final InterfaceInfo<{name}> INFO = new InterfaceInfo<>("));
    let print = canonical::fingerprint(model, id);
    let base =
        found.base.map_or_else(|| "null".to_owned(), |base| format!("{}Info.INFO", context.types.interface(base)));
    out.arguments(
        &[
            format!("{name}.class"),
            format!("\"{}\"", found.name),
            format!("Guid.of(\"{}\")", canonical::uuid_text(found.uuid)),
            version(found.version),
            format!("{:#018x}L", (print >> 64) as u64),
            format!("{:#018x}L", print as u64),
            base,
            format!("{name}Proxy::new"),
            format!("{name}Info::perform"),
            "IDL".to_owned(),
            format!("{}::interfaces", context.types.rest),
        ],
        ");",
    );
    out.line("");
}

/// Writes the class that describes the interface.
pub(super) fn information(out: &mut Writer, context: &Context<'_>, id: InterfaceId) {
    let (model, name) = (context.model, context.types.interface(id));
    let methods_of = model.remote_methods(id);
    let plans: Vec<MethodPlan<'_>> = methods_of.iter().map(|method| plan(model, method)).collect();
    let (_, mut referring) = crate::plan::plans(model, &model.all_methods(id));
    referring.iter_mut().for_each(|plan| say_room(model, plan));
    let kinds: Vec<Type> = kinds(model, &methods_of);
    let (names, records) = context.types.methods(model, id);
    out.line(format!("/** The description, the proxy and the stub of {{@link {name}}}. */"));
    out.line(format!("public final class {name}Info {{"));
    description(out, context, id);
    if has_graphs(model, id) {
        types(out, context, &kinds);
    }
    out.line(format!("private {name}Info() {{}}"));
    out.line("");
    out.line("/** Calls the method that a request names. */");
    out.line(format!("static void perform({name} object, InCall call) {{"));
    out.line("switch (call.opnum) {");
    for (plan, method) in plans.iter().zip(&names) {
        out.line(format!("case {} -> {method}(object, call);", plan.opnum));
    }
    let referring = named(&plans, &referring, &names);
    for (plan, _, stub) in &referring {
        out.line(format!("case {} -> {stub}(object, call);", plan.opnum));
    }
    out.line("default -> throw call.noMethod();");
    out.line("}");
    out.line("}");
    out.line("");
    let of = |plan, at: usize, is_proxy| Method::new(context, plan, &kinds, (name, &names[at], &records[at]), is_proxy);
    for (at, plan) in plans.iter().enumerate() {
        stub::stub(out, &of(plan, at, false), &names[at]);
    }
    for (plan, at, stub) in &referring {
        stub::stub(out, &of(plan, *at, false), stub);
    }
    out.line("/** A proxy of an object in another process. */");
    out.line(format!("static final class {name}Proxy extends Proxy implements {name} {{"));
    out.line(format!("{name}Proxy(Reference reference) {{"));
    out.line("super(reference);");
    out.line("}");
    out.line("");
    for (at, plan) in plans.iter().enumerate() {
        let by_reference = referring.iter().find(|(_, usual, _)| *usual == at);
        proxy::proxy(out, &of(plan, at, true), by_reference.map(|(plan, ..)| of(plan, at, true)).as_ref());
    }
    out.line("}");
    out.line("}");
}

/// Returns the plans of methods with arrays by reference, each with the index of its method and the
/// name of its stub.
fn named<'p, 'a>(
    plans: &[MethodPlan<'a>],
    referring: &'p [MethodPlan<'a>],
    names: &[String],
) -> Vec<(&'p MethodPlan<'a>, usize, String)> {
    let of = |plan: &'p MethodPlan<'a>| {
        let at = plans.iter().position(|usual| std::ptr::eq(usual.method, plan.method)).unwrap_or(0);
        let mut stub = format!("{}ByReference", stem(&names[at]));
        while names.contains(&stub) {
            stub.push('_');
        }
        (plan, at, stub)
    };
    referring.iter().map(of).collect()
}

fn version((major, minor): (u16, u16)) -> String {
    if minor == 0 { major.to_string() } else { format!("{major} | {minor} << 16") }
}
