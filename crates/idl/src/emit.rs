//! The back ends: from the model to source text.

pub mod c;
pub mod component;
pub mod java;
pub mod python;
mod random_calls;
pub mod rust;
mod sample;
pub mod tlb;

use crate::text::diagnostic::Diagnostic;
use crate::text::writer::Origin;
use std::collections::HashSet;
use std::sync::LazyLock;

/// A list of words that must not be names in generated code.
type Words = LazyLock<HashSet<&'static str>>;

/// Returns the error for two declarations that have the same name in a language.
fn taken_name(language: &str, name: &str, first: &Origin, second: &Origin) -> Diagnostic {
    // The error is about the declaration that comes later.
    let is_earlier = !first.imported && second.span.start < first.span.start;
    let (first, second) = if second.imported || is_earlier { (second, first) } else { (first, second) };
    let text = format!("{} and {} are both `{name}` in {language}", second.what, first.what);
    Diagnostic::error("taken-name", second.span, text)
        .related(first.span, "the other one")
        .help("give one of them another name; other languages keep them apart")
}
