//! Values without pointers: their encoding, from given values of any kind.

use super::wrong::Wrong;
use super::{Layout, Member};
use crate::model::{Base, EnumId, Model, StructId, Type};
use crate::most_like;
use std::borrow::Cow;

type Result<T> = std::result::Result<T, Wrong>;

/// A value that a frame is written from.
pub trait Given: Clone {
    /// Whether the value is null.
    fn is_null(&self) -> bool;
    /// Returns the integer, if the value is one.
    fn integer(&self) -> Option<i128>;
    /// Returns the number, if the value is one.
    fn float(&self) -> Option<f64>;
    /// Returns the truth value, if the value is one.
    fn boolean(&self) -> Option<bool>;
    /// Returns the text, if the value is one.
    fn text(&self) -> Option<Cow<'_, str>>;
    /// Returns the GUID, if the value is one.
    fn guid(&self) -> Option<u128>;
    /// Returns the context handle, if the value is one.
    fn context(&self) -> Option<[u8; 20]>;
    /// Returns the elements, if the value is an array.
    fn elements(&self) -> Option<Vec<Self>>;
    /// Returns the number of elements, if the value is an array.
    fn length(&self) -> Option<usize>;
    /// Returns the elements of an array as bytes, if their type is `element` and the value stores
    /// the elements as frames do.
    fn bytes(&self, element: Base) -> Option<Cow<'_, [u8]>>;
    /// Whether the value has members.
    fn is_structure(&self) -> bool;
    /// Returns the member with a name, if there is one.
    fn member(&self, name: &str) -> Option<Self>;
    /// Returns the name of a member that is not among `names`, if there is one.
    fn other_member(&self, names: &[&str]) -> Option<String>;
    /// Returns the arm and the discriminant, if the value represents a union and has at least one
    /// of the two.
    fn arm(&self) -> Option<Named<Self>>;
    /// Returns the label by which other pointers can refer to this value.
    fn label(&self) -> Label;
    /// Returns the value in words, for errors.
    fn shown(&self) -> String;
    /// Returns the description of a value with these members, for errors.
    fn form(&self, members: &[&str]) -> String;
}

/// A union's value: the arm, the discriminant, or both.
#[derive(Debug)]
pub struct Named<V> {
    /// The arm's name and value, if given.
    pub arm: Option<(String, V)>,
    /// The discriminant, if given.
    pub case: Option<V>,
}

/// The identity of a value to which several pointers may lead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Label {
    /// The value has no label.
    None,
    /// The value has this label.
    Of(String),
    /// The value is a reference to the value with this label.
    To(String),
}

/// Returns a question to append to an error, or an empty text if no known word is similar.
pub(super) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    most_like(word, known).map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"))
}

pub(super) fn expected(what: &str, found: &impl Given) -> Wrong {
    Wrong::new(format!("expected {what}, found {}", found.shown()))
}

/// Writes a value to `out`, which has the length of the type and is zeroed.
pub(super) fn write(layout: &Layout<'_>, ty: &Type, value: &impl Given, out: &mut [u8]) -> Result<()> {
    match ty {
        Type::Base(base) => write_base(*base, value, out),
        Type::Enum(id) => {
            put(out, &enum_number(layout.model, *id, value)?.to_le_bytes());
            Ok(())
        }
        Type::Fixed(element, count) => {
            let items = Items::of(element, value).ok_or_else(|| expected(&format!("an array of {count}"), value))?;
            if items.len(layout.size(element)) != *count as usize {
                let found = items.len(layout.size(element));
                return Err(Wrong::new(format!("expected {count} elements, found {found}")));
            }
            items.write(layout, element, out)
        }
        Type::Struct(id) => {
            let members = layout.members(*id);
            for (member, given) in members.iter().zip(fields(layout, *id, members, value)?) {
                let found = &layout.model.structs[id.0].name;
                let given =
                    given.ok_or_else(|| Wrong::new(format!("member `{}` of {found} is missing", member.name)))?;
                let start = member.at.unwrap_or(0);
                let place = out.get_mut(start..start + member.size);
                let place = place.ok_or_else(|| Wrong::new("the structure is too long"))?;
                write(layout, member.ty, &given, place).map_err(|wrong| wrong.within(&format!(".{}", member.name)))?;
            }
            Ok(())
        }
        _ => Err(Wrong::new("values of this type cannot be passed here yet")),
    }
}

/// Returns the values of a structure's members, in their order.
pub(super) fn fields<V: Given>(
    layout: &Layout<'_>,
    id: StructId,
    members: &[Member<'_>],
    value: &V,
) -> Result<Vec<Option<V>>> {
    let names = || members.iter().map(|member| member.name).collect::<Vec<_>>();
    if !value.is_structure() {
        return Err(expected(&value.form(&names()), value));
    }
    let given: Vec<Option<V>> = members.iter().map(|member| value.member(member.name)).collect();
    if let Some(other) = value.other_member(&names()) {
        let (meant, found) = (did_you_mean(&other, names()), &layout.model.structs[id.0].name);
        let names = names().join(", ");
        return Err(Wrong::new(format!("{found} has no member `{other}`{meant}; it has {names}")));
    }
    Ok(given)
}

/// The elements of an array.
pub(super) enum Items<'v, V> {
    /// The bytes of all elements, as a frame holds them.
    Bytes(Cow<'v, [u8]>),
    /// A value for each element.
    Values(Vec<V>),
}

impl<'v, V: Given> Items<'v, V> {
    /// Returns the elements of a value, if the value is an array.
    pub(super) fn of(element: &Type, value: &'v V) -> Option<Self> {
        if let Type::Base(base) = element
            && let Some(bytes) = value.bytes(*base)
        {
            return Some(Self::Bytes(bytes));
        }
        value.elements().map(Self::Values)
    }

    /// Returns the number of elements. `size` is the number of bytes of an element in a frame.
    pub(super) fn len(&self, size: usize) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len() / size.max(1),
            Self::Values(values) => values.len(),
        }
    }

    /// Writes consecutive elements without pointers.
    pub(super) fn write(&self, layout: &Layout<'_>, element: &Type, out: &mut [u8]) -> Result<()> {
        let values = match self {
            Self::Bytes(bytes) if *element != Type::Base(Base::Boolean) => {
                put(out, bytes);
                return Ok(());
            }
            Self::Bytes(_) => return Err(Wrong::new("expected an array of booleans, found bytes")),
            Self::Values(values) => values,
        };
        let size = layout.size(element).max(1);
        for (at, (value, place)) in values.iter().zip(out.chunks_exact_mut(size)).enumerate() {
            write(layout, element, value, place).map_err(|wrong| wrong.within(&format!("[{at}]")))?;
        }
        Ok(())
    }
}

fn put(out: &mut [u8], bytes: &[u8]) {
    let count = out.len().min(bytes.len());
    out[..count].copy_from_slice(&bytes[..count]);
}

fn write_base(base: Base, value: &impl Given, out: &mut [u8]) -> Result<()> {
    match base {
        Base::Boolean => match (value.boolean(), value.integer()) {
            (Some(truth), _) => {
                put(out, &[u8::from(truth)]);
                Ok(())
            }
            (None, Some(number @ 0..=1)) => {
                put(out, &[number as u8]);
                Ok(())
            }
            _ => Err(expected("true or false", value)),
        },
        Base::F32 | Base::F64 => {
            let number = value.float().ok_or_else(|| expected("a number", value))?;
            if base == Base::F32 {
                let narrow = number as f32;
                if number.is_finite() && !narrow.is_finite() {
                    return Err(Wrong::new(format!("{number:e} is outside of the range of float")));
                }
                put(out, &narrow.to_le_bytes());
            } else {
                put(out, &number.to_le_bytes());
            }
            Ok(())
        }
        Base::Guid => {
            let found = value.guid();
            let found = found.ok_or_else(|| expected("a GUID as 01234567-89ab-cdef-0123-456789abcdef", value))?;
            put(out, &guid_to_wire(found));
            Ok(())
        }
        Base::Context => {
            let wanted = "a context handle from a reply, 40 hexadecimal digits";
            put(out, &value.context().ok_or_else(|| expected(wanted, value))?);
            Ok(())
        }
        _ => write_integer(base, value, out),
    }
}

/// Returns the little-endian wire form of a GUID.
fn guid_to_wire(guid: u128) -> [u8; 16] {
    let mut bytes = guid.to_be_bytes();
    bytes[0..4].reverse();
    bytes[4..6].reverse();
    bytes[6..8].reverse();
    bytes
}

/// Returns the GUID of a little-endian wire form.
pub(super) fn guid_from_wire(mut bytes: [u8; 16]) -> u128 {
    bytes[0..4].reverse();
    bytes[4..6].reverse();
    bytes[6..8].reverse();
    u128::from_be_bytes(bytes)
}

fn write_integer(base: Base, value: &impl Given, out: &mut [u8]) -> Result<()> {
    let is_character = matches!(base, Base::Char | Base::WChar);
    let letter = || {
        let text = value.text().filter(|_| is_character)?;
        let mut units = text.encode_utf16();
        let one = units.next().filter(|_| units.next().is_none())?;
        (base == Base::WChar || one < 0x80).then_some(i128::from(one))
    };
    let what = if is_character { "a character or its number" } else { "an integer" };
    let number = letter().or_else(|| value.integer()).ok_or_else(|| expected(what, value))?;
    let (least, most) = base.range().unwrap_or((0, 0));
    // An HRESULT may be given as an unsigned number, because failures are usually written in
    // hexadecimal, with the highest bit set.
    let wraps = base == Base::Hresult && (0..=i128::from(u32::MAX)).contains(&number);
    if !(wraps || (least..=most).contains(&number)) {
        return Err(Wrong::new(format!("{number} is outside of the range of {}, {least} to {most}", base.idl())));
    }
    put(out, &number.to_le_bytes());
    Ok(())
}

/// Returns the number of an enumeration's value, given by name or by number.
pub(super) fn enum_number(model: &Model, id: EnumId, value: &impl Given) -> Result<i32> {
    let number = || value.integer().and_then(|number| i32::try_from(number).ok());
    let found = &model.enums[id.0];
    let name = value.text();
    let named = name.as_ref().and_then(|name| found.values.iter().find(|(known, _)| known == name));
    if let Some((_, number)) = named {
        return Ok(*number);
    }
    number().ok_or_else(|| {
        let names: Vec<&str> = found.values.iter().map(|(name, _)| name.as_str()).collect();
        let meant = name.as_ref().map_or_else(String::new, |word| did_you_mean(word, names.iter().copied()));
        let wrong = expected(&format!("one of {} or a number", names.join(", ")), value);
        Wrong::new(format!("{wrong}{meant}"))
    })
}
