//! The Rust back end: interfaces in the manner of windows-rs, with proxies and stubs for `obvia`.

mod component;
mod conversions;
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
use crate::compile::Compilation;
use crate::model::InterfaceId;

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
    types::constants(&mut out, model);
    types::enumerations(&mut out, model);
    types::structures(&mut out, model);
    structures::structures(&mut out, model);
    let mut refused = Vec::new();
    for id in 0..model.interfaces.len() {
        refused.extend(interface::interface(&mut out, model, InterfaceId(id)));
    }
    let all: Vec<String> = model
        .interfaces
        .iter()
        .filter(|interface| !interface.local)
        .map(|interface| format!("&{}_INFO", interface.name))
        .collect();
    out.line("/// Every interface of this file and of those that it imports.");
    out.line(format!("pub static INTERFACES: &[&obvia::rt::InterfaceInfo] = &[{}];", all.join(", ")));
    if refused.is_empty() { Ok(out.finish()) } else { Err(refused) }
}
