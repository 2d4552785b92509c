//! Conversion of values of IDL types between JSON and their bytes in a frame.

use crate::describe::nearest::did_you_mean;
use crate::json::kind;
use obvia::dynamic::guid;
use obvia_idl::model::{Base, EnumId, Model, StructId, Type};
use serde_json::{Map, Number, Value, json};
use std::fmt;

/// The reason why a JSON value does not fit a type.
#[derive(Debug)]
pub(crate) struct Wrong {
    /// The path of the wrong part of the value, as `.left` or `[2]`; empty for the whole.
    path: String,
    message: String,
}

impl Wrong {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { path: String::new(), message: message.into() }
    }

    /// Returns the error with the first part of its path named as an argument.
    pub(crate) fn of_argument(self) -> Self {
        let path = self.path.trim_start_matches('.');
        let end = path.find(['.', '[']).unwrap_or(path.len());
        let (name, rest) = path.split_at(end);
        let inner = Self { path: rest.to_owned(), message: self.message.clone() };
        if name.is_empty() { inner } else { Self::new(format!("argument `{name}`: {inner}")) }
    }

    /// Returns the error with `part` before its path.
    pub(crate) fn within(self, part: &str) -> Self {
        Self { path: format!("{part}{}", self.path), ..self }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.trim_start_matches('.') {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

type Result<T> = std::result::Result<T, Wrong>;

fn expected(what: &str, found: &Value) -> Wrong {
    let shown = match found {
        Value::Array(_) | Value::Object(_) => kind(found).to_owned(),
        simple => simple.to_string(),
    };
    Wrong::new(format!("expected {what}, found {shown}"))
}

/// Writes a value to `out`, which has the length of the type and is zeroed.
pub(crate) fn write(model: &Model, ty: &Type, value: &Value, out: &mut [u8]) -> Result<()> {
    match ty {
        Type::Base(base) => write_base(*base, value, out),
        Type::Enum(id) => {
            put(out, &enum_number(model, *id, value)?.to_le_bytes());
            Ok(())
        }
        Type::Fixed(element, count) => write_fixed(model, element, *count, value, out),
        Type::Struct(id) => write_struct(model, *id, value, out),
        _ => Err(Wrong::new("values of this type cannot be passed here yet")),
    }
}

fn put(out: &mut [u8], bytes: &[u8]) {
    for (place, byte) in out.iter_mut().zip(bytes) {
        *place = *byte;
    }
}

/// Reads an integer from a JSON number, or from a string in decimal or hexadecimal.
fn integer(value: &Value) -> Option<i128> {
    match value {
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

fn write_base(base: Base, value: &Value, out: &mut [u8]) -> Result<()> {
    match base {
        Base::Boolean => match (value, integer(value)) {
            (Value::Bool(_), _) | (_, Some(0 | 1)) => {
                put(out, &[u8::from(*value == Value::Bool(true) || integer(value) == Some(1))]);
                Ok(())
            }
            _ => Err(expected("true or false", value)),
        },
        Base::F32 | Base::F64 => {
            let number = match value {
                Value::Number(number) => number.as_f64(),
                Value::String(text) => text.parse().ok(),
                _ => None,
            };
            let number: f64 = number.ok_or_else(|| expected("a number", value))?;
            if base == Base::F32 {
                put(out, &(number as f32).to_le_bytes());
            } else {
                put(out, &number.to_le_bytes());
            }
            Ok(())
        }
        Base::Guid => {
            let found = value.as_str().and_then(guid::parse);
            let found = found.ok_or_else(|| expected("a GUID as 01234567-89ab-cdef-0123-456789abcdef", value))?;
            put(out, &guid::to_wire(&found));
            Ok(())
        }
        Base::Context => {
            let found = value.as_str().and_then(context);
            put(out, &found.ok_or_else(|| expected("a context handle from a reply, 40 hexadecimal digits", value))?);
            Ok(())
        }
        _ => write_integer(base, value, out),
    }
}

fn write_integer(base: Base, value: &Value, out: &mut [u8]) -> Result<()> {
    let letter = || {
        let mut units = value.as_str()?.encode_utf16();
        let one = units.next().filter(|_| units.next().is_none())?;
        (matches!(base, Base::WChar) || matches!(base, Base::Char) && one < 0x80).then_some(i128::from(one))
    };
    let what = match base {
        Base::Char | Base::WChar => "a character or its number",
        _ => "an integer",
    };
    let number = letter().or_else(|| integer(value)).ok_or_else(|| expected(what, value))?;
    let (least, most) = base.range().unwrap_or((0, 0));
    // An HRESULT may be given unsigned, because failures have the highest bit set in hexadecimal.
    let wraps = base == Base::Hresult && (0..=i128::from(u32::MAX)).contains(&number);
    if !(wraps || (least..=most).contains(&number)) {
        return Err(Wrong::new(format!("{number} is outside of the range of {}, {least} to {most}", base.idl())));
    }
    put(out, &number.to_le_bytes());
    Ok(())
}

/// Returns the number of an enumeration's value, given by name or by number.
pub(crate) fn enum_number(model: &Model, id: EnumId, value: &Value) -> Result<i32> {
    let found = &model.enums[id.0];
    let by_name = value.as_str().and_then(|name| found.values.iter().find(|(known, _)| known == name));
    if let Some((_, number)) = by_name {
        return Ok(*number);
    }
    let number = integer(value).and_then(|number| i32::try_from(number).ok());
    number.ok_or_else(|| {
        let names: Vec<&str> = found.values.iter().map(|(name, _)| name.as_str()).collect();
        let meant = value.as_str().map_or_else(String::new, |word| did_you_mean(word, names.iter().copied()));
        let wrong = expected(&format!("one of {} or a number", names.join(", ")), value);
        Wrong::new(format!("{}{meant}", wrong.message))
    })
}

fn write_fixed(model: &Model, element: &Type, count: u32, value: &Value, out: &mut [u8]) -> Result<()> {
    let values = value.as_array().ok_or_else(|| expected(&format!("an array of {count}"), value))?;
    if values.len() != count as usize {
        return Err(Wrong::new(format!("expected {count} elements, found {}", values.len())));
    }
    write_elements(model, element, values, out)
}

/// Writes consecutive elements.
pub(crate) fn write_elements(model: &Model, element: &Type, values: &[Value], out: &mut [u8]) -> Result<()> {
    let size = (model.layout(element).0 as usize).max(1);
    for (at, (value, place)) in values.iter().zip(out.chunks_exact_mut(size)).enumerate() {
        write(model, element, value, place).map_err(|wrong| wrong.within(&format!("[{at}]")))?;
    }
    Ok(())
}

fn write_struct(model: &Model, id: StructId, value: &Value, out: &mut [u8]) -> Result<()> {
    let found = &model.structs[id.0];
    let names: Vec<&str> = found.fields.iter().map(|field| field.name.as_str()).collect();
    let given = value.as_object().ok_or_else(|| {
        let form: Vec<String> = names.iter().map(|name| format!("\"{name}\": ...")).collect();
        expected(&format!("an object {{{}}}", form.join(", ")), value)
    })?;
    if let Some(other) = given.keys().find(|key| !names.contains(&key.as_str())) {
        let meant = did_you_mean(other, names.iter().copied());
        return Err(Wrong::new(format!("{} has no member `{other}`{meant}; it has {}", found.name, names.join(", "))));
    }
    let (offsets, ..) = model.offsets(found);
    for (field, offset) in found.fields.iter().zip(offsets) {
        let Some(member) = given.get(&field.name) else {
            return Err(Wrong::new(format!("member `{}` of {} is missing", field.name, found.name)));
        };
        let (start, size) = (offset as usize, model.layout(&field.ty).0 as usize);
        let place = out.get_mut(start..start + size).ok_or_else(|| Wrong::new("the structure is too long"))?;
        write(model, &field.ty, member, place).map_err(|wrong| wrong.within(&format!(".{}", field.name)))?;
    }
    Ok(())
}

/// Reads a value; `None` if the bytes are too few, or are no value of the type.
pub(crate) fn read(model: &Model, ty: &Type, bytes: &[u8]) -> Option<Value> {
    match ty {
        Type::Base(base) => read_base(*base, bytes),
        Type::Enum(id) => {
            let number = i32::from_le_bytes(*bytes.first_chunk()?);
            let named = model.enums[id.0].values.iter().find(|(_, value)| *value == number);
            Some(named.map_or_else(|| json!(number), |(name, _)| json!(name)))
        }
        Type::Fixed(element, count) => read_elements(model, element, *count as usize, bytes),
        Type::Struct(id) => {
            let found = &model.structs[id.0];
            let (offsets, ..) = model.offsets(found);
            let mut members = Map::new();
            for (field, offset) in found.fields.iter().zip(offsets) {
                members.insert(field.name.clone(), read(model, &field.ty, bytes.get(offset as usize..)?)?);
            }
            Some(Value::Object(members))
        }
        _ => None,
    }
}

/// Reads consecutive elements.
pub(crate) fn read_elements(model: &Model, element: &Type, count: usize, bytes: &[u8]) -> Option<Value> {
    let size = (model.layout(element).0 as usize).max(1);
    let bytes = bytes.get(..count.checked_mul(size)?)?;
    bytes.chunks_exact(size).map(|part| read(model, element, part)).collect::<Option<Vec<_>>>().map(Value::Array)
}

fn read_base(base: Base, bytes: &[u8]) -> Option<Value> {
    Some(match base {
        Base::Boolean => match bytes.first()? {
            0 => json!(false),
            1 => json!(true),
            _ => return None,
        },
        Base::Byte | Base::Char | Base::U8 => json!(bytes.first()?),
        Base::I8 => json!(bytes.first()?.cast_signed()),
        Base::WChar | Base::U16 => json!(u16::from_le_bytes(*bytes.first_chunk()?)),
        Base::I16 => json!(i16::from_le_bytes(*bytes.first_chunk()?)),
        Base::I32 => json!(i32::from_le_bytes(*bytes.first_chunk()?)),
        Base::U32 => json!(u32::from_le_bytes(*bytes.first_chunk()?)),
        Base::I64 => json!(i64::from_le_bytes(*bytes.first_chunk()?)),
        Base::U64 => json!(u64::from_le_bytes(*bytes.first_chunk()?)),
        // The shortest decimal form of a float is parsed as a double, because a converted float has
        // more digits.
        Base::F32 => float(f32::from_le_bytes(*bytes.first_chunk()?).to_string().parse().ok()?),
        Base::F64 => float(f64::from_le_bytes(*bytes.first_chunk()?)),
        Base::Hresult => json!(format!("{:#010x}", u32::from_le_bytes(*bytes.first_chunk()?))),
        Base::Guid => json!(guid::to_text(&guid::from_wire(*bytes.first_chunk()?))),
        Base::Context => json!(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
    })
}

/// Converts a number to JSON; numbers that are not finite become strings.
fn float(number: f64) -> Value {
    Number::from_f64(number).map_or_else(|| json!(number.to_string()), Value::Number)
}

/// Parses the 20 bytes of a context handle, which is opaque to all but its server.
fn context(digits: &str) -> Option<[u8; 20]> {
    let mut bytes = [0; 20];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    (digits.len() == 40).then_some(bytes)
}

#[cfg(test)]
mod tests;
