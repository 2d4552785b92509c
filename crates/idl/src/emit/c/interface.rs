//! The stub code of an interface: its methods' blocks, its proxies and stubs, and its description.

use super::names::{binding, declare, guid, integer, interface as name_of, quoted, type_ident, type_name};
use super::suffix::{self, ENDPOINTS, INFORMATION, NDR, PROXIES, STUBS, VTABLE};
use super::{proxy, stub, table};
use crate::canonical;
use crate::compile::Compilation;
use crate::emit::writer::Writer;
use crate::model::{Arith, Base, InterfaceId, Model, Type, round};
use crate::ndr;
use crate::plan::{
    FIRST_OPNUM, MethodPlan, ParamPlan, Passing, in_place, kind_of, kinds, plans, stub_table_length, text_kind,
};

/// The maximum length in bytes of a string literal that C guarantees to support.
const LITERAL_MAX: usize = 4095;
/// The number of words of a plan in a line.
const WORDS_IN_LINE: usize = 24;

/// The data that all parts of an interface's code share.
pub(super) struct Context<'a> {
    pub(super) model: &'a Model,
    /// The interface's name.
    pub(super) name: String,
    /// The element types of the interface's arrays, by type number: see [`kind_of`].
    pub(super) kinds: Vec<Type>,
    /// Whether a method passes a handle of a state that its server keeps. Any method may then use
    /// such a state, which lives until it returns.
    pub(super) has_contexts: bool,
}

impl Context<'_> {
    /// Returns the type number of an array with these elements.
    pub(super) fn kind(&self, element: &Type) -> u32 {
        kind_of(&self.kinds, element)
    }

    /// Returns the name of a function or a structure of a method, in one of the method's forms.
    pub(super) fn made(&self, plan: &MethodPlan<'_>, suffix: &str) -> String {
        made(&self.name, plan, suffix)
    }

    /// Returns the structure at the beginning of a method's request or reply.
    pub(super) fn block(&self, plan: &MethodPlan<'_>, request: bool) -> String {
        format!("struct {}", self.made(plan, if request { suffix::REQUEST } else { suffix::REPLY }))
    }

    pub(super) fn proxy(&self, plan: &MethodPlan<'_>) -> String {
        self.made(plan, suffix::PROXY)
    }

    pub(super) fn stub(&self, plan: &MethodPlan<'_>) -> String {
        self.made(plan, suffix::STUB)
    }
}

/// Returns the name of a function or a structure of an interface's method.
pub(super) fn made(interface: &str, plan: &MethodPlan<'_>, suffix: &str) -> String {
    let form = if plan.refers() { suffix::BY_REFERENCE } else { "" };
    format!("{interface}_{}{form}{suffix}", plan.method.name)
}

/// An array or a string behind a block.
pub(super) struct Array<'p, 'a> {
    pub(super) param: &'p ParamPlan<'a>,
    pub(super) element: &'p Type,
    /// The number of elements that there is room for. `None` for strings, which end at their zero.
    pub(super) size: Option<&'p Arith>,
    pub(super) length: Option<&'p Arith>,
    /// Whether the array may be null.
    pub(super) is_optional: bool,
}

impl Array<'_, '_> {
    /// Returns the type number of a string.
    pub(super) fn text_kind(&self) -> Option<u32> {
        match self.element {
            Type::Base(base) if self.size.is_none() => Some(text_kind(*base)),
            _ => None,
        }
    }
}

/// Returns the arrays behind a request's or a reply's block, in order.
pub(super) fn arrays<'p, 'a>(plan: &'p MethodPlan<'a>, request: bool) -> Vec<Array<'p, 'a>> {
    let of = |param: &'p ParamPlan<'a>| match (&param.passing, &param.param.ty) {
        (Passing::Array { element, size, length }, _) => {
            Some(Array { param, element, size: Some(size), length: length.as_ref(), is_optional: false })
        }
        (Passing::Text { optional, .. }, Type::Pointer(pointer)) => {
            Some(Array { param, element: &pointer.to, size: None, length: None, is_optional: *optional })
        }
        (Passing::OutText(_), Type::Pointer(outer)) => match &outer.to {
            Type::Pointer(inner) => {
                Some(Array { param, element: &inner.to, size: None, length: None, is_optional: true })
            }
            _ => None,
        },
        _ => None,
    };
    plan.ordered(request).into_iter().filter_map(of).collect()
}

/// Returns the type of the value that a block holds for a parameter.
pub(super) fn placed<'p>(param: &'p ParamPlan<'_>) -> Option<&'p Type> {
    match &param.passing {
        Passing::Value(ty) | Passing::Place(ty) => Some(ty),
        _ => None,
    }
}

/// The variables for an array's position and count, and its element type.
pub(super) type Named<'p> = (String, String, &'p Type);

/// Declares the positions of the arrays behind a block, and returns the end of the last one.
pub(super) fn positions(out: &mut Writer, context: &Context<'_>, block: &str, arrays: &[Named<'_>]) -> String {
    arrays.iter().fold(block_end(block), |end, one| position(out, context, &end, one, false))
}

/// Returns the position of the first array's header.
pub(super) fn block_end(block: &str) -> String {
    format!("OBVIA_ALIGN(sizeof({block}))")
}

/// Declares the position of an array behind `end`, and returns the array's end.
pub(super) fn position(
    out: &mut Writer,
    context: &Context<'_>,
    end: &str,
    (at, count, element): &Named<'_>,
    is_text: bool,
) -> String {
    out.line(format!("const uint64_t {at} = {end} + 8;"));
    let bytes = format!("{count} * sizeof({})", type_name(context.model, element));
    if is_text { format!("obvia_text_end({at}, {bytes})") } else { format!("{at} + OBVIA_ALIGN({bytes})") }
}

/// Writes the table of the interfaces that this file and its imports describe.
pub(super) fn module(out: &mut Writer, model: &Model) {
    let remote = model.interfaces[model.built_in.interfaces..].iter().filter(|interface| !interface.local);
    out.line("static const obvia_interface *const obvia_module[] = {");
    for found in remote {
        out.line(format!("&{}{INFORMATION},", type_ident(&found.name)));
    }
    out.line("NULL");
    out.line("};");
    out.line("");
}

/// Registers the meaning of a file's IIDs when the program is loaded.
pub(super) fn declaration(out: &mut Writer, compilation: &Compilation, own: &[InterfaceId]) {
    if own.is_empty() {
        return;
    }
    out.line("static const obvia_meaning obvia_meanings[] = {");
    for id in own {
        let found = &compilation.model.interfaces[id.0];
        let fingerprint = fingerprint(&compilation.model, *id);
        out.line(format!("{{{}, {}, {fingerprint}}},", quoted(&found.name), guid(found.uuid)));
    }
    out.line("};");
    out.line("");
    out.line("static __attribute__((constructor(101))) void obvia_declare_file(void)");
    out.line("{");
    let file = quoted(&compilation.name);
    out.line(format!("obvia_declare({file}, obvia_meanings, sizeof obvia_meanings / sizeof *obvia_meanings);"));
    out.line("}");
}

/// Returns an interface's fingerprint as its bytes in memory.
fn fingerprint(model: &Model, id: InterfaceId) -> String {
    let bytes: Vec<String> =
        canonical::fingerprint(model, id).to_le_bytes().iter().map(|byte| format!("{byte:#04x}")).collect();
    format!("{{{}}}", bytes.join(", "))
}

pub(super) fn interface(out: &mut Writer, model: &Model, id: InterfaceId) {
    let (usual, referring) = plans(model, &model.all_methods(id));
    let methods = model.all_methods(id);
    let mut params = methods.iter().flat_map(|method| &method.params);
    let has_contexts = params.any(|param| *in_place(model, param) == Type::Base(Base::Context));
    let context = Context { model, name: name_of(model, id), kinds: kinds(model, &methods), has_contexts };
    if usual.iter().any(table::is_by_table) {
        table::types(out, &context);
    }
    for plan in usual.iter().flat_map(|plan| [plan].into_iter().chain(by_reference(&referring, plan))) {
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

/// Returns the plan of the same method with arrays by reference, if there is one.
pub(super) fn by_reference<'p, 'a>(
    referring: &'p [MethodPlan<'a>],
    usual: &MethodPlan<'a>,
) -> Option<&'p MethodPlan<'a>> {
    referring.iter().find(|plan| std::ptr::eq(plan.method, usual.method))
}

/// Writes the layout of the frames as a comment.
pub(super) fn layout_table(out: &mut Writer, context: &Context<'_>, plan: &MethodPlan<'_>) {
    let how = if plan.refers() { ", arrays by reference" } else { "" };
    out.line(format!("/* {}{how}: opnum {}", plan.method.name, plan.opnum));
    for (what, length) in [("request", plan.request_block), ("reply", plan.reply_block)] {
        let request = what == "request";
        let place = |param: &ParamPlan<'_>| {
            let at = if request { param.request } else { param.reply }?;
            let ty = placed(param).map_or_else(|| "->".to_owned(), |ty| type_name(context.model, ty));
            Some(format!("{at} {} {ty}", param.param.name))
        };
        let places: Vec<String> = plan.ordered(request).into_iter().filter_map(place).collect();
        let places = if places.is_empty() { "nothing".to_owned() } else { places.join(", ") };
        out.line(format!(" *   {what:7} {length:3} bytes: {places}"));
    }
    out.line(" */");
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
        let text = placed(param).map_or_else(|| format!("uint64_t {field}"), |ty| declare(model, ty, &field));
        out.line(format!("{text};"));
    }
    out.line("};");
    let length = if request { plan.request_block } else { plan.reply_block };
    out.line(format!("OBVIA_HAS_SIZE({name}, {});", round(length, align)));
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
    stubs.extend(plans.iter().chain(referring).map(|plan| context.stub(plan)));
    stubs.resize(stub_table_length(all), "obvia_refuse".to_owned());
    for (at, stub) in stubs.iter().enumerate() {
        out.line(format!("{stub}{}", if at + 1 == stubs.len() { "" } else { "," }));
    }
    out.line("};");
    out.line("");
}

/// Writes the plan of the messages in NDR.
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
    let base = found.base.map_or_else(|| "NULL".to_owned(), |base| format!("&{}{INFORMATION}", name_of(model, base)));
    if !found.endpoints.is_empty() {
        let texts: String = found.endpoints.iter().map(|text| format!("{}, ", quoted(text))).collect();
        out.line(format!("static const char *const {name}{ENDPOINTS}[] = {{{texts}NULL}};"));
    }
    out.line(format!("const obvia_interface {name}{INFORMATION} = {{"));
    out.line("sizeof(obvia_interface),");
    out.line(format!("{},", quoted(&found.name)));
    out.line(format!("{},", guid(found.uuid)));
    out.line(format!("{},", found.version.0));
    out.line(format!("{},", found.version.1));
    out.line(format!("{},", fingerprint(model, id)));
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
