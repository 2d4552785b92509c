//! The Rust back end: interfaces in the style of windows-rs, with proxies and stubs for `obvia`.

mod automation;
mod component;
mod context;
mod conversions;
mod dual;
mod expression;
mod form;
mod graph;
mod implementers;
mod interface;
mod members;
mod names;
mod open;
mod parameters;
mod proxy;
mod random_calls;
mod structures;
mod stub;
mod tables;
mod types;
mod unions;

pub use component::component;
pub use names::is_name;
pub use random_calls::random_calls;

use crate::compile::Compilation;
use crate::model::canonical;
use crate::model::{InterfaceId, Model, Object, Type, all_arms};
use crate::text::writer::Writer;
use std::collections::BTreeMap;

/// Returns the Rust source of vtables, proxies and stubs with parameters as they travel, for the
/// runtime's own interfaces.
pub fn wire(compilation: &Compilation) -> String {
    let mut out = Writer::default();
    for id in 0..compilation.model.interfaces.len() {
        interface::wire(&mut out, &compilation.model, InterfaceId(id));
    }
    public(&out.finish())
}

/// Returns the Rust source for a file's declarations, for the runtime's own interfaces. All items
/// are public, for files that import them.
///
/// # Errors
///
/// The errors of [`emit`].
pub fn runtime(compilation: &Compilation) -> Result<String, Vec<crate::Diagnostic>> {
    emit(compilation).map(|text| public(&text))
}

/// Makes all items of a text public, except those that every file contains.
fn public(text: &str) -> String {
    let is_every_files = |line: &str| ["static TYPES__", "static DECLARED__"].iter().any(|own| line.starts_with(own));
    let is_item =
        |line: &str| line.starts_with("unsafe extern") || line.starts_with("static ") && !is_every_files(line);
    text.lines().map(|line| format!("{}{line}\n", if is_item(line) { "pub " } else { "" })).collect()
}

/// Returns the Rust source for a file's declarations.
///
/// # Errors
///
/// The methods that this back end does not support, each with the reason.
pub fn emit(compilation: &Compilation) -> Result<String, Vec<crate::Diagnostic>> {
    let model = &compilation.model;
    let mut out = Writer::default();
    out.line(format!(
        "// Made by obvia-idl {} from {}. Change the IDL, not this.",
        env!("CARGO_PKG_VERSION"),
        compilation.name
    ));
    out.line("");
    if model.brought != model.built_in {
        out.line("pub use obvia::events::idl::*;");
        out.line("");
    }
    types::constants(&mut out, model);
    types::enumerations(&mut out, model);
    types::structures(&mut out, model);
    structures::structures(&mut out, model);
    let left_out = left_out(model)?;
    for (id, why) in &left_out {
        out.line(format!("// `{}` is not here: {why}.", model.interfaces[id.0].name));
    }
    let is_here = |id: &InterfaceId| !left_out.contains_key(id);
    (model.brought.interfaces..model.interfaces.len()).map(InterfaceId).filter(is_here).for_each(|id| {
        interface::interface(&mut out, model, id);
    });
    let own = (model.built_in.interfaces..model.interfaces.len()).map(InterfaceId);
    let own = own.filter(is_here).map(|id| &model.interfaces[id.0]).filter(|interface| !interface.local);
    let built_in = model.interfaces[..model.built_in.interfaces].iter();
    let all: Vec<String> = own
        .map(|interface| format!("&{}_INFO", names::item_name(&interface.name)))
        .chain(built_in.map(|interface| format!("&obvia::rt::{}_INFO", interface.name)))
        .collect();
    out.line("/// Every interface of this file and of those that it imports.");
    out.line(format!("pub static INTERFACES: &[&obvia::rt::InterfaceInfo] = &[{}];", all.join(", ")));
    declared(&mut out, model, &left_out);
    Ok(out.finish())
}

/// Returns the imported interfaces that this back end does not support, with the reasons.
///
/// # Errors
///
/// Unsupported parts of the file's own interfaces, and uses of an imported interface that is not
/// supported.
fn left_out(model: &Model) -> Result<BTreeMap<InterfaceId, String>, Vec<crate::Diagnostic>> {
    let (mut left_out, mut refused) = (BTreeMap::new(), Vec::new());
    for id in (model.brought.interfaces..model.interfaces.len()).map(InterfaceId) {
        let found = interface::refusals(model, id);
        if !model.interfaces[id.0].imported {
            refused.extend(found);
        } else if let Some(first) = found.into_iter().next() {
            left_out.insert(id, first.message);
        }
    }
    let structs = model.structs.iter().flat_map(|found| &found.fields).map(|field| (&field.ty, field.span));
    let arms = model.unions.iter().flat_map(all_arms).map(|field| (&field.ty, field.span));
    let here = model.interfaces.iter().enumerate().filter(|(at, _)| !left_out.contains_key(&InterfaceId(*at)));
    let params = here.flat_map(|(_, found)| &found.methods).flat_map(|method| &method.params);
    for (ty, span) in structs.chain(arms).chain(params.map(|param| (&param.ty, param.span))) {
        if let Type::Interface(Object::Known(id)) = model.innermost(ty)
            && let Some(why) = left_out.get(id)
        {
            let text = format!("interface `{}` cannot be done: {why}", model.interfaces[id.0].name);
            let error = crate::Diagnostic::error("not-yet", span, text);
            refused.push(error.related(model.interfaces[id.0].span, "this one"));
        }
    }
    if refused.is_empty() { Ok(left_out) } else { Err(refused) }
}

/// Registers the linked interfaces when the program is loaded, so that two interfaces with the same
/// IID are noticed.
fn declared(out: &mut Writer, model: &Model, left_out: &BTreeMap<InterfaceId, String>) {
    let own = (model.brought.interfaces..model.interfaces.len()).map(InterfaceId);
    let own = own.filter(|id| !left_out.contains_key(id));
    let meaning = |id: InterfaceId| {
        let (found, fingerprint) = (&model.interfaces[id.0], canonical::fingerprint(model, id));
        let (name, iid) = (&found.name, found.uuid);
        format!("obvia::rt::Meaning::new({name:?}, {iid:#034x}, {fingerprint:#034x})")
    };
    let meanings: Vec<String> = own.map(meaning).collect();
    if meanings.is_empty() {
        return;
    }
    out.line("static DECLARED__: obvia::rt::Declared =");
    out.line(format!("obvia::rt::Declared::new(module_path!(), &[{}]);", meanings.join(", ")));
    out.line("#[cfg(not(miri))]");
    out.line("const _: () = {");
    out.line("extern \"C\" fn declare() {");
    out.line("obvia::rt::declare(&DECLARED__);");
    out.line("}");
    out.line("// SAFETY: what stands there are functions that are called when the program is loaded.");
    out.line("#[used]");
    out.line("#[unsafe(link_section = \".init_array\")]");
    out.line("static DECLARE: extern \"C\" fn() = declare;");
    out.line("};");
}
