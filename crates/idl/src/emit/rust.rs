//! The Rust back end: interfaces in the manner of windows-rs, with proxies and stubs for `obvia`.

mod automation;
mod component;
mod conversions;
mod dual;
mod expression;
mod form;
mod graph;
mod implementers;
mod interface;
mod names;
mod open;
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

use super::writer::Writer;
use crate::canonical;
use crate::compile::Compilation;
use crate::model::{InterfaceId, Model};

/// The Rust source of vtables, proxies and stubs alone, with parameters as they travel: for the runtime's own interfaces.
pub fn wire(compilation: &Compilation) -> String {
    let mut out = Writer::default();
    for id in 0..compilation.model.interfaces.len() {
        interface::wire(&mut out, &compilation.model, InterfaceId(id));
    }
    public(&out.finish())
}

/// The Rust source for what a file declares, for the runtime's own interfaces: all of it is there for files that import it.
///
/// # Errors
///
/// As for [`emit`].
pub fn runtime(compilation: &Compilation) -> Result<String, Vec<crate::Diagnostic>> {
    emit(compilation).map(|text| public(&text))
}

/// The same text with all of its items public.
fn public(text: &str) -> String {
    let is_item = |line: &str| line.starts_with("unsafe extern") || line.starts_with("static ");
    text.lines().map(|line| format!("{}{line}\n", if is_item(line) { "pub " } else { "" })).collect()
}

/// The Rust source for what a file declares.
///
/// # Errors
///
/// Names the methods that this back end cannot do yet, and why.
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
    let mut refused = Vec::new();
    for id in model.brought.interfaces..model.interfaces.len() {
        refused.extend(interface::interface(&mut out, model, InterfaceId(id)));
    }
    let built_in = model.interfaces[..model.built_in.interfaces].iter();
    let own = model.interfaces[model.built_in.interfaces..].iter().filter(|interface| !interface.local);
    let all: Vec<String> = own
        .map(|interface| format!("&{}_INFO", interface.name))
        .chain(built_in.map(|interface| format!("&obvia::rt::{}_INFO", interface.name)))
        .collect();
    out.line("/// Every interface of this file and of those that it imports.");
    out.line(format!("pub static INTERFACES: &[&obvia::rt::InterfaceInfo] = &[{}];", all.join(", ")));
    declared(&mut out, model);
    if refused.is_empty() { Ok(out.finish()) } else { Err(refused) }
}

/// Has the program know, before anything of it runs, which interfaces are linked into it: an IID must not mean two.
fn declared(out: &mut Writer, model: &Model) {
    let own = (model.brought.interfaces..model.interfaces.len()).map(InterfaceId);
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
