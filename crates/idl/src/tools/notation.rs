//! Types and values in the notation of IDL, for messages.

use crate::model::canonical::type_name;
use crate::model::{Base, Model, Type, Value};
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

/// Returns a value in the notation of IDL. `base` is the value's type.
pub(super) fn value_text(value: &Value, base: Option<Base>) -> String {
    match value {
        Value::Int(value) if base == Some(Base::U64) => value.cast_unsigned().to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => format!("{value:?}"),
        Value::Text(text) => format!("{text:?}"),
    }
}

/// Returns the DISPID of a member in words.
pub(super) fn id_text(id: Option<i32>) -> String {
    id.map_or_else(|| "none".to_owned(), |id| id.to_string())
}
