//! Members of structures: their names in constructors, and the sizes of arrays that depend on
//! members.

use super::expression::arith_text;
use super::names::{ident, is_item};
use crate::model::{Arith, Model, Operand, Struct, Type};

/// The names by which an expression refers to members.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// The constructor's parameters.
    Local,
    /// The structure's members.
    Member,
}

pub(super) fn size_of_array(found: &Struct, size: &Arith, named: Named) -> String {
    let operand = |operand: &Operand| {
        let field = &found.fields[operand.index];
        let name = if named == Named::Member { format!("self.{}", ident(&field.name)) } else { ident(&field.name) };
        if matches!(field.ty, Type::Enum(_)) { format!("{name}.0") } else { name }
    };
    format!("obvia::rt::elements_of((|| Some({}))())", arith_text(size, &operand))
}

/// Returns the structure with its members named as the constructor's parameters. Parameters are
/// patterns, in which the names of constants, enumerations and interfaces have another meaning.
pub(super) fn with_local_names(model: &Model, found: &Struct) -> Struct {
    let is_used = |name: &str| found.fields.iter().any(|other| other.name == name);
    let mut local = found.clone();
    for field in &mut local.fields {
        while is_item(model, &ident(&field.name)) {
            field.name.push_str("_value");
            while is_used(&field.name) {
                field.name.push('_');
            }
        }
    }
    local
}
