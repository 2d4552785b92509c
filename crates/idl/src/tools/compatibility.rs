//! Comparison of an interface file with an older version: finds the changes that break programs
//! made from the old version.
//!
//! Two interfaces correspond if they have the same uuid, or else the same name. If the fingerprint
//! of an interface differs from the fingerprint in the old file, there is always a finding. Peers
//! that were compiled from the old file refuse an interface with another fingerprint. Further
//! findings concern source code, scripts and type libraries, which no fingerprint protects.
//!
//! Declarations of imported files are compared as well, since the generated code has them. The loss
//! of such a declaration matters only where the file uses it.

mod aggregates;
mod alignment;
mod changes;
mod comparison;
mod declarations;
mod dispinterfaces;
mod interfaces;
mod libraries;
mod names;
mod params;
mod types;

pub use changes::Kind;
pub use comparison::Finding;

use crate::compile::Compilation;
use crate::model::{InterfaceId, canonical};
use comparison::{Comparison, Pair};

/// Returns the changes of `new` that break programs made from `old`. No finding means that the two
/// versions are compatible.
pub fn breaking_changes(old: &Compilation, new: &Compilation) -> Vec<Finding> {
    let (old, new) = (&old.model, &new.model);
    let mut comparison = Comparison::new(old, new);
    let mut interfaces = Vec::new();
    for (at, found) in old.interfaces.iter().enumerate() {
        match comparison.new_names.counterpart(found) {
            Some(id) => {
                comparison.pair(Pair::Interface(InterfaceId(at), id));
                interfaces.push((InterfaceId(at), id));
            }
            None if found.imported => {}
            None => {
                let message = format!("the interface `{}` is gone", found.name);
                comparison.report(Kind::InterfaceRemoved, None, message);
            }
        }
    }
    comparison.types_by_name();
    comparison.constants();
    comparison.typedefs();
    comparison.dispinterfaces();
    while let Some(pair) = comparison.next_pair() {
        match pair {
            Pair::Struct(a, b) => comparison.structures(a, b),
            Pair::Union(a, b) => comparison.unions(a, b),
            Pair::Enum(a, b) => comparison.enumerations(a, b),
            Pair::Interface(a, b) => comparison.interfaces(a, b),
        }
    }
    comparison.removed_types();
    comparison.libraries();
    comparison.classes();
    for (a, b) in interfaces.into_iter().filter(|(a, _)| !old.is_built_in(*a)) {
        if !comparison.has_finding(Pair::Interface(a, b))
            && canonical::fingerprint(old, a) != canonical::fingerprint(new, b)
        {
            let found = &new.interfaces[b.0];
            let message = format!("the canonical text of `{}` differs: see `obvia idl --text`", found.name);
            comparison.report(Kind::InterfaceChanged, Some(found.span), message);
        }
    }
    let mut findings = comparison.findings;
    findings.sort_by_key(|finding| finding.span.map(|span| (span.file, span.start)));
    findings
}
