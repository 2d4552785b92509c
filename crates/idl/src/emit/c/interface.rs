//! The stub code of an interface: its methods' blocks, its proxies and stubs, and its description.

use super::context::{Context, block_type, layout_table};
use super::names::{binding, declare, guid, integer, interface as name_of, quoted, type_ident};
use super::suffix::{ENDPOINTS, INFORMATION, NDR, PROXIES, STUBS, VTABLE};
use super::{Imports, proxy, stub, table};
use crate::compile::Compilation;
use crate::model::canonical;
use crate::model::{Base, Interface, InterfaceId, Model, Type, round_up};
use crate::plan::ndr;
use crate::plan::{FIRST_OPNUM, MethodPlan, in_place, kinds, plans, stub_table_length};
use crate::text::writer::Writer;

/// The maximum length in bytes of a string literal that C guarantees to support.
pub(super) const LITERAL_MAX: usize = 4095;
/// The number of words of an NDR plan in each line of the generated code.
const WORDS_IN_LINE: usize = 24;

/// Writes the table of the interfaces that this file and the included headers describe.
pub(super) fn module(out: &mut Writer, model: &Model, imports: &Imports<'_>) {
    let all = (model.built_in.interfaces..model.interfaces.len()).map(InterfaceId);
    out.line("static const obvia_interface *const obvia_module[] = {");
    for id in all.filter(|id| imports.is_described(model, *id)) {
        out.line(format!("&{}{INFORMATION},", type_ident(&model.interfaces[id.0].name)));
    }
    out.line("NULL");
    out.line("};");
    out.line("");
}

/// Declares an object as a weak symbol if it belongs to a built-in interface. Several files of a
/// program may then define the object.
pub(super) fn weaken(out: &mut Writer, model: &Model, found: &Interface, object: &str) {
    if model.is_prelude(found.span) {
        out.line(format!("extern {object} __attribute__((weak));"));
    }
}

/// Writes the code that tells the library, when the program is loaded, which interface each IID of
/// the file identifies.
pub(super) fn declaration(out: &mut Writer, compilation: &Compilation, own: &[InterfaceId]) {
    if own.is_empty() {
        return;
    }
    out.line("static const obvia_declared_interface obvia_declared[] = {");
    for id in own {
        let found = &compilation.model.interfaces[id.0];
        let fingerprint = bytes(canonical::fingerprint(&compilation.model, *id));
        let vtable = bytes(canonical::vtable_fingerprint(&compilation.model, *id));
        out.line(format!("{{{}, {}, {fingerprint}, {vtable}}},", quoted(&found.name), guid(found.uuid)));
    }
    out.line("};");
    out.line("");
    out.line("static __attribute__((constructor(101))) void obvia_declare_file(void)");
    out.line("{");
    let file = quoted(&compilation.name);
    out.line(format!(
        "obvia_declare_interfaces({file}, obvia_declared, sizeof obvia_declared / sizeof *obvia_declared);"
    ));
    out.line("}");
}

/// Returns a fingerprint as its bytes in memory.
fn bytes(fingerprint: u128) -> String {
    let bytes: Vec<String> = fingerprint.to_le_bytes().iter().map(|byte| format!("{byte:#04x}")).collect();
    format!("{{{}}}", bytes.join(", "))
}

pub(super) fn interface(out: &mut Writer, model: &Model, id: InterfaceId) {
    let (usual, referring) = plans(model, &model.all_methods(id));
    let methods = model.all_methods(id);
    let mut params = model.remote_methods(id).into_iter().flat_map(|method| &method.params);
    let has_contexts = params.any(|param| *in_place(model, param) == Type::Base(Base::Context));
    let context = Context { model, name: name_of(model, id), kinds: kinds(model, &methods), has_contexts };
    if table::has_tables(&usual) {
        table::types(out, &context);
    }
    for plan in usual.iter().flat_map(|plan| [plan].into_iter().chain(by_reference(&referring, plan))) {
        if plan.method.local {
            proxy::refusal(out, &context, plan);
            continue;
        }
        if table::is_by_table(plan) {
            table::method(out, &context, plan);
            continue;
        }
        layout_table(out, &context, plan);
        block(out, &context, plan, true);
        block(out, &context, plan, false);
        proxy::proxy(out, &context, plan);
        stub::stub(out, &context, plan);
    }
    tables(out, &context, &usual, &referring);
    plan_words(out, &context, id);
    information(out, &context, id, usual.len() + referring.len());
}

/// Returns the plan that passes the arrays of a method by reference, given the method's usual plan.
/// `None` if the method has no such plan.
pub(super) fn by_reference<'p, 'a>(
    referring: &'p [MethodPlan<'a>],
    usual: &MethodPlan<'a>,
) -> Option<&'p MethodPlan<'a>> {
    referring.iter().find(|plan| std::ptr::eq(plan.method, usual.method))
}

/// Writes the structure of a block, if the block is not empty.
fn block(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>, request: bool) {
    let model = context.model;
    let params = plan.ordered(request);
    if params.is_empty() {
        return;
    }
    let name = context.block(plan, request);
    out.line(format!("{name} {{"));
    let mut align = 1;
    for param in &params {
        let field = binding(&param.param.code);
        align = align.max(model.layout(in_place(model, param.param)).1);
        let text = block_type(param).map_or_else(|| format!("uint64_t {field}"), |ty| declare(model, ty, &field));
        out.line(format!("{text};"));
    }
    out.line("};");
    let length = if request { plan.request_block } else { plan.reply_block };
    out.line(format!("OBVIA_HAS_SIZE({name}, {});", round_up(length, align)));
    for param in params {
        let at = if request { param.request } else { param.reply };
        out.line(format!("OBVIA_LIES_AT({name}, {}, {});", binding(&param.param.code), at.unwrap_or(0)));
    }
    out.line("");
}

/// Writes the vtable of proxies and the table of stubs.
fn tables(out: &mut Writer, context: &Context<'_>, plans: &[MethodPlan<'_>], referring: &[MethodPlan<'_>]) {
    let name = &context.name;
    let all = plans.len() + referring.len();
    out.line(format!("static const {name}{VTABLE} {name}{PROXIES} = {{"));
    out.line(format!("(HRESULT (*)({name} *, const IID *, void **))obvia_proxy_query_interface,"));
    out.line(format!("(uint32_t (*)({name} *))obvia_proxy_add_ref,"));
    out.line(format!("(uint32_t (*)({name} *))obvia_proxy_release{}", if plans.is_empty() { "" } else { "," }));
    for (at, plan) in plans.iter().enumerate() {
        let proxy = context.proxy(by_reference(referring, plan).unwrap_or(plan));
        out.line(format!("{proxy}{}", if at + 1 == plans.len() { "" } else { "," }));
    }
    out.line("};");
    out.line("");
    out.line(format!("static obvia_stub *const {name}{STUBS}[{}] = {{", stub_table_length(all)));
    let mut stubs = if plans.is_empty() { Vec::new() } else { vec!["obvia_refuse".to_owned(); FIRST_OPNUM] };
    let stub = |plan: &MethodPlan<'_>| if plan.method.local { "obvia_refuse".to_owned() } else { context.stub(plan) };
    stubs.extend(plans.iter().chain(referring).map(stub));
    stubs.resize(stub_table_length(all), "obvia_refuse".to_owned());
    for (at, stub) in stubs.iter().enumerate() {
        out.line(format!("{stub}{}", if at + 1 == stubs.len() { "" } else { "," }));
    }
    out.line("};");
    out.line("");
}

/// Writes the interface's NDR plan.
fn plan_words(out: &mut Writer, context: &Context<'_>, id: InterfaceId) {
    out.line(format!("static const int64_t {}{NDR}[] = {{", context.name));
    for line in ndr::words(context.model, id).chunks(WORDS_IN_LINE) {
        let words: Vec<String> = line.iter().copied().map(integer).collect();
        out.line(format!("{},", words.join(", ")));
    }
    out.line("};");
    out.line("");
}

fn information(out: &mut Writer, context: &Context<'_>, id: InterfaceId, methods: usize) {
    let Context { model, name, .. } = context;
    let found = &model.interfaces[id.0];
    let base = found.base.filter(|base| !model.is_built_in(*base));
    let base = base.map_or_else(|| "NULL".to_owned(), |base| format!("&{}{INFORMATION}", name_of(model, base)));
    if !found.endpoints.is_empty() {
        let texts: String = found.endpoints.iter().map(|text| format!("{}, ", quoted(text))).collect();
        out.line(format!("static const char *const {name}{ENDPOINTS}[] = {{{texts}NULL}};"));
    }
    let object = format!("const obvia_interface {name}{INFORMATION}");
    weaken(out, model, found, &object);
    out.line(format!("{object} = {{"));
    out.line("sizeof(obvia_interface),");
    out.line(format!("{},", quoted(&found.name)));
    out.line(format!("{},", guid(found.uuid)));
    out.line(format!("{},", found.version.0));
    out.line(format!("{},", found.version.1));
    out.line(format!("{},", bytes(canonical::fingerprint(model, id))));
    out.line(format!("{base},"));
    out.line(format!("&{name}{PROXIES},"));
    out.line(format!("{name}{STUBS},"));
    out.line(format!("{},", stub_table_length(methods)));
    let text = canonical::text(model, id);
    if text.len() > LITERAL_MAX {
        out.line("__extension__");
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for (at, line) in lines.iter().enumerate() {
        out.line(format!("{}{}", quoted(line), if at + 1 == lines.len() { "," } else { "" }));
    }
    out.line(format!("{name}{NDR},"));
    out.line(format!("sizeof({name}{NDR}) / sizeof *{name}{NDR},"));
    out.line("obvia_module,");
    out.line(if found.plain { "1," } else { "0," });
    out.line(if found.endpoints.is_empty() { "NULL".to_owned() } else { format!("{name}{ENDPOINTS}") });
    out.line("};");
    out.line("");
}
