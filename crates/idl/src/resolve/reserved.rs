//! Interfaces with the UUIDs that the runtime or COM uses for itself.

use crate::syntax::ast::{Attribute, InterfaceDecl};
use crate::text::diagnostic::Diagnostic;
use obvia_ndr::reserved::owner_of;

/// Returns the error that an interface has a reserved UUID. `None` if the UUID is free.
pub(super) fn reserved(decl: &InterfaceDecl, attribute: &Attribute, uuid: u128) -> Option<Diagnostic> {
    let owner = owner_of(uuid)?;
    // Windows' files declare COM's interfaces under COM's names, which is permitted.
    if owner.strip_prefix("COM's ") == Some(&decl.name.name) {
        return None;
    }
    let text = format!("the uuid of interface `{}` belongs to {owner}", decl.name.name);
    Some(Diagnostic::error("reserved-uuid", attribute.span, text))
}
