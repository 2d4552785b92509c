//! The properties of values in words.

use crate::model::canonical::{arith, operand_text};
use crate::model::{Arith, Extent, Field, Object, Param, Pointer, PointerClass, Transfer, Type, Value, Varying};

/// Returns the properties of a parameter that its type alone does not show. Names are in backticks.
pub(super) fn of_param(param: &Param, names: &[&str]) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(param.retval.then(|| "the result".to_owned()));
    if param.memory.is_none() {
        of_type(param.declared(), names, PointerClass::Ref, &mut notes);
    }
    of_value(param.range, param.switch.as_ref(), param.varying.as_ref(), names, &mut notes);
    notes.extend(param.utf8.then(|| "in UTF-8".to_owned()));
    notes.extend(match param.transfer {
        Transfer::Frame => None,
        Transfer::ZeroCopy => Some("by reference if the elements are in shared memory".to_owned()),
        Transfer::Map => Some("always by reference".to_owned()),
        Transfer::Lend(room) => Some(format!("lent: readable until the next call; at most {room} elements")),
    });
    if let Some(variant) = param.variant.as_ref().filter(|variant| variant.optional) {
        notes.push(match &variant.default {
            None => "optional".to_owned(),
            Some(Value::Int(value)) => format!("optional, `{value}` if omitted"),
            Some(Value::Float(value)) => format!("optional, `{value:?}` if omitted"),
            // A backtick of the text would end the code.
            Some(Value::Text(text)) => format!("optional, `{}` if omitted", format!("{text:?}").replace('`', "\\x60")),
        });
    }
    notes
}

/// Returns the properties of a member that its type alone does not show.
pub(super) fn of_field(field: &Field, names: &[&str]) -> Vec<String> {
    let mut notes = Vec::new();
    of_type(&field.ty, names, PointerClass::Unique, &mut notes);
    of_value(field.range, field.switch.as_ref(), field.varying.as_ref(), names, &mut notes);
    notes
}

/// Returns the number of elements in words.
pub(super) fn elements(size: &Arith, length: Option<&Arith>, names: &[&str]) -> String {
    let size = arith(size, names);
    match length {
        None => format!("`{size}` elements"),
        Some(length) => format!("`{size}` elements; only the first `{}` are transmitted", arith(length, names)),
    }
}

fn of_value(
    range: Option<(i64, i64)>,
    switch: Option<&Arith>,
    varying: Option<&Varying>,
    names: &[&str],
    notes: &mut Vec<String>,
) {
    notes.extend(range.map(|(least, most)| format!("from {least} to {most}")));
    notes.extend(switch.map(|switch| format!("the arm is selected by `{}`", arith(switch, names))));
    notes.extend(varying.map(|varying| match varying {
        Varying::Text => "text up to the first zero".to_owned(),
        Varying::Length(length) => format!("only the first `{}` elements are transmitted", arith(length, names)),
    }));
}

/// Adds the properties of a type's pointers, from the outermost on.
fn of_type(ty: &Type, names: &[&str], usual: PointerClass, notes: &mut Vec<String>) {
    let (mut inner, mut usual, mut depth) = (ty, usual, 0);
    loop {
        inner = match inner {
            Type::Fixed(element, _) => element,
            Type::Pointer(pointer) => {
                let found = of_pointer(pointer, usual, names);
                depth += 1;
                if !found.is_empty() {
                    let prefix = match depth {
                        1 => String::new(),
                        2 => "second pointer: ".to_owned(),
                        depth => format!("pointer {depth}: "),
                    };
                    notes.push(prefix + &found.join(", "));
                }
                usual = PointerClass::Unique;
                &pointer.to
            }
            Type::Interface(Object::IidIs(operand)) => {
                notes.push(format!("the interface is the one that `{}` names", operand_text(operand, names)));
                return;
            }
            _ => return,
        };
    }
}

fn of_pointer(pointer: &Pointer, usual: PointerClass, names: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    if pointer.class != usual || pointer.extent != Extent::One {
        found.push(
            match pointer.class {
                PointerClass::Ref => "never null",
                PointerClass::Unique => "may be null",
                PointerClass::Full => "may be null, and other pointers may have the same target",
            }
            .to_owned(),
        );
    }
    found.extend(match &pointer.extent {
        Extent::One => None,
        Extent::Text => Some("text up to the first zero".to_owned()),
        Extent::Counted { size, length } => Some(elements(size, length.as_ref(), names)),
    });
    found
}
