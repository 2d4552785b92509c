//! Interfaces with the UUIDs that the runtime or COM uses for itself.

use super::{Resolver, find};
use crate::syntax::ast::InterfaceDecl;
use crate::text::diagnostic::Diagnostic;
use obvia_ndr::reserved::owner_of;

impl Resolver<'_> {
    /// Reports an interface with a reserved UUID.
    pub(super) fn check_reserved(&mut self, decl: &InterfaceDecl, uuid: u128) {
        let owner = owner_of(uuid);
        // Windows' files declare COM's interfaces under COM's names, which is permitted.
        if owner.is_some_and(|owner| owner.strip_prefix("COM's ") == Some(&decl.name.name)) {
            return;
        }
        let (Some(owner), Some(attribute)) = (owner, find(&decl.attributes, "uuid")) else { return };
        let text = format!("the uuid of interface `{}` belongs to {owner}", decl.name.name);
        let error = Diagnostic::error("reserved-uuid", attribute.span, text);
        self.report(error.help("each interface has a uuid of its own, from `uuidgen`"));
    }
}
