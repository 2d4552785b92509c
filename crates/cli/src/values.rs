//! JSON as values of frames.
//!
//! If several pointers lead to the same structure, the structure has a member `"$id": "name"`, and
//! the other pointers are `{"$ref": "name"}`. A union is an object with its arm, as in
//! `{"number": 5}`. If the arm alone does not imply the discriminant, the object has `"case"`, too.

mod made;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;

pub(crate) use made::{Json, Outcome};

use crate::json::kind;
use obvia::dynamic::guid;
use obvia_idl::frames::{Given, Label, Named, References, Wrong};
use obvia_idl::model::Base;
use serde_json::Value;
use std::borrow::Cow;

/// An argument in JSON.
#[derive(Clone, Copy)]
pub(crate) struct Argument<'v>(pub(crate) &'v Value);

impl Given for Argument<'_> {
    fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Reads an integer from a JSON number, or from a string in decimal or hexadecimal; `None` for
    /// other values.
    fn integer(&self) -> Option<i128> {
        match self.0 {
            Value::Number(number) => number
                .as_i128()
                .or_else(|| number.as_f64().filter(|n| n.fract() == 0.0 && n.abs() < 9.0e15).map(|n| n as i128)),
            Value::String(text) => match text.strip_prefix("0x") {
                Some(digits) => i128::from_str_radix(digits, 16).ok(),
                None => text.parse().ok(),
            },
            _ => None,
        }
    }

    fn float(&self) -> Option<f64> {
        match self.0 {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        }
    }

    fn boolean(&self) -> Option<bool> {
        self.0.as_bool()
    }

    fn text(&self) -> Option<Cow<'_, str>> {
        self.0.as_str().map(Cow::Borrowed)
    }

    fn guid(&self) -> Option<u128> {
        self.0.as_str().and_then(guid::parse).map(|guid| guid.to_u128())
    }

    /// Parses the 20 bytes of a context handle from 40 hexadecimal digits; `None` for other values.
    /// Only the server that issued the handle can interpret the bytes.
    fn context(&self) -> Option<[u8; 20]> {
        let digits = self.0.as_str()?;
        let mut bytes = [0; 20];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
        }
        (digits.len() == 40).then_some(bytes)
    }

    fn elements(&self) -> Option<Vec<Self>> {
        Some(self.0.as_array()?.iter().map(Argument).collect())
    }

    fn length(&self) -> Option<usize> {
        self.0.as_array().map(Vec::len)
    }

    fn bytes(&self, _: Base) -> Option<Cow<'_, [u8]>> {
        None
    }

    fn is_structure(&self) -> bool {
        self.0.is_object()
    }

    fn member(&self, name: &str) -> Option<Self> {
        self.0.get(name).map(Argument)
    }

    fn other_member(&self, names: &[&str]) -> Option<String> {
        self.0.as_object()?.keys().find(|key| *key != "$id" && !names.contains(&key.as_str())).cloned()
    }

    fn arm(&self) -> Option<Named<Self>> {
        let members = self.0.as_object()?;
        let arm = members.iter().find(|(name, _)| *name != "case");
        let arm = arm.map(|(name, value)| (name.clone(), Argument(value)));
        Some(Named { arm, case: members.get("case").map(Argument) })
    }

    fn label(&self) -> Label {
        let named = |key| self.0.get(key).and_then(Value::as_str).map(str::to_owned);
        named("$ref").map(Label::To).or_else(|| named("$id").map(Label::Of)).unwrap_or(Label::None)
    }

    fn shown(&self) -> String {
        match self.0 {
            Value::Array(_) | Value::Object(_) => kind(self.0).to_owned(),
            simple => simple.to_string(),
        }
    }

    fn form(&self, members: &[&str]) -> String {
        let form: Vec<String> = members.iter().map(|name| format!("\"{name}\": ...")).collect();
        format!("an object {{{}}}", form.join(", "))
    }
}

/// The references of JSON arguments. JSON cannot describe an interface pointer, so only null can be
/// passed.
pub(crate) struct NoObjects;

impl<V> References<V> for NoObjects {
    fn reference(&mut self, _: &V, _: u128) -> Result<Vec<u8>, Wrong> {
        Err(Wrong::new("an object cannot be passed here, only null"))
    }
}
