//! Types in the notation of C, for messages.

use crate::model::canonical::type_name;
use crate::model::{Model, Type};
use std::fmt::Write;

/// Returns a type in C's notation, without attributes: `long *[4]`.
pub(super) fn type_text(model: &Model, ty: &Type) -> String {
    let (mut inner, mut stars, mut bounds) = (ty, String::new(), String::new());
    loop {
        inner = match inner {
            Type::Fixed(element, count) => {
                let _ = write!(bounds, "[{count}]");
                element
            }
            Type::Pointer(pointer) => {
                stars.push('*');
                &pointer.to
            }
            _ => break,
        };
    }
    if matches!(inner, Type::Interface(_)) {
        stars.push('*');
    }
    let space = if stars.is_empty() && bounds.is_empty() { "" } else { " " };
    format!("{}{space}{stars}{bounds}", type_name(model, inner))
}
