//! The values in frames as JSON.

use obvia::dynamic::{Object, guid};
use obvia_idl::frames::Make;
use obvia_idl::model::{Base, EnumId, Model, StructId, Type, UnionId};
use serde_json::{Map, Number, Value, json};

/// One result of a call.
pub(crate) enum Outcome {
    /// A value.
    Value(Value),
    /// An object. The drop of the result releases the object.
    Object(Object),
}

impl Outcome {
    /// Returns the value as JSON. An object is released, and its description is the value.
    pub(super) fn into_json(self) -> Value {
        match self {
            Self::Value(value) => value,
            Self::Object(object) => json!({ "iid": guid::to_text(&object.iid()), "released": true }),
        }
    }
}

/// The receiver of the object references in a frame.
pub(crate) trait Objects {
    /// Takes ownership of the reference in these bytes. Returns the result for the reference, or
    /// `None` if the reference is invalid.
    fn object(&mut self, reference: &[u8]) -> Option<Outcome>;
}

/// References become objects of the process to which this object belongs.
impl Objects for &Object {
    fn object(&mut self, reference: &[u8]) -> Option<Outcome> {
        self.adopt(reference).ok().map(Outcome::Object)
    }
}

/// The maker of JSON from the values in a frame.
pub(crate) struct Json<'a, O> {
    pub(crate) model: &'a Model,
    pub(crate) objects: O,
}

impl<O: Objects> Make for Json<'_, O> {
    type Value = Outcome;
    type Structure = Map<String, Value>;
    // Readers of JSON refuse texts that are nested more deeply.
    const DEPTH_MAX: usize = 120;

    fn null(&mut self) -> Option<Outcome> {
        Some(Outcome::Value(Value::Null))
    }

    fn base(&mut self, base: Base, bytes: &[u8]) -> Option<Outcome> {
        base_value(base, bytes).map(Outcome::Value)
    }

    fn enumeration(&mut self, id: EnumId, number: i32) -> Option<Outcome> {
        Some(Outcome::Value(enumeration(self.model, id, number)))
    }

    fn text(&mut self, text: String) -> Option<Outcome> {
        Some(Outcome::Value(Value::String(text)))
    }

    fn list(&mut self, elements: Vec<Outcome>) -> Option<Outcome> {
        Some(Outcome::Value(elements.into_iter().map(Outcome::into_json).collect()))
    }

    fn bytes(&mut self, _: Base, _: &[u8]) -> Option<Outcome> {
        None
    }

    fn structure(&mut self, _: StructId, label: Option<usize>) -> Option<Self::Structure> {
        Some(label.map(|label| ("$id".to_owned(), json!(label.to_string()))).into_iter().collect())
    }

    fn member(&mut self, structure: &mut Self::Structure, name: &str, value: Outcome) -> Option<()> {
        structure.insert(name.to_owned(), value.into_json());
        Some(())
    }

    fn finish(&mut self, structure: Self::Structure) -> Option<Outcome> {
        Some(Outcome::Value(Value::Object(structure)))
    }

    fn again(&mut self, label: usize) -> Option<Outcome> {
        Some(Outcome::Value(json!({ "$ref": label.to_string() })))
    }

    fn too_deep(&mut self) -> Option<Outcome> {
        Some(Outcome::Value(json!("...")))
    }

    fn union(&mut self, id: UnionId, tag: i64, is_clear: bool, arm: Option<(&str, Outcome)>) -> Option<Outcome> {
        let mut shown = Map::new();
        if !is_clear {
            let case = match self.model.unions[id.0].tag {
                Type::Enum(id) => enumeration(self.model, id, i32::try_from(tag).ok()?),
                _ => json!(tag),
            };
            shown.insert("case".to_owned(), case);
        }
        if let Some((name, value)) = arm {
            shown.insert(name.to_owned(), value.into_json());
        }
        Some(Outcome::Value(Value::Object(shown)))
    }

    fn object(&mut self, reference: &[u8]) -> Option<Outcome> {
        self.objects.object(reference)
    }
}

/// Returns the name of an enumeration's value, or the number of a value without a name.
fn enumeration(model: &Model, id: EnumId, number: i32) -> Value {
    let named = model.enums[id.0].values.iter().find(|(_, value)| *value == number);
    named.map_or_else(|| json!(number), |(name, _)| json!(name))
}

fn base_value(base: Base, bytes: &[u8]) -> Option<Value> {
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
        Base::Context => {
            json!(bytes.get(..20)?.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
        }
    })
}

/// Converts a number to JSON; numbers that are not finite become strings.
fn float(number: f64) -> Value {
    Number::from_f64(number).map_or_else(|| json!(number.to_string()), Value::Number)
}
