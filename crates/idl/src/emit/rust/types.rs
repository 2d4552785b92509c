//! Constants, enumerations and structures.

use super::clashes;
use super::names::{associated, base, ident, item_name, type_name, value};
use crate::model::{Base, Enum, Model, StructId, Type, Value};
use crate::plan::is_plain;
use crate::text::writer::Writer;
use std::collections::BTreeSet;

pub(super) fn constants(out: &mut Writer, model: &Model) {
    for constant in &model.consts {
        clashes::begin(out, format!("constant `{}`", constant.name), (constant.span, constant.imported));
        let name = item_name(&constant.name);
        let (ty, text) = match (&constant.value, constant.base) {
            (Value::Text(text), _) => ("&str".to_owned(), format!("{text:?}")),
            (Value::Float(value), Some(one)) => (base(one).to_owned(), format!("{value:?}")),
            (Value::Float(value), None) => ("f64".to_owned(), format!("{value:?}")),
            (Value::Int(value), Some(one @ (Base::F32 | Base::F64))) => (base(one).to_owned(), format!("{value}.0")),
            (Value::Int(value), Some(Base::Boolean)) => ("bool".to_owned(), (*value != 0).to_string()),
            (Value::Int(value), Some(Base::Hresult)) => {
                ("obvia::HRESULT".to_owned(), format!("obvia::HRESULT({value})"))
            }
            (Value::Int(value), Some(one)) => (base(one).to_owned(), integer(*value, one)),
            (Value::Int(value), None) => ("i64".to_owned(), value.to_string()),
        };
        out.line(format!("pub const {name}: {ty} = {text};"));
    }
    out.line("");
}

/// Returns an integer of the type `one` as a literal. Unsigned 64-bit values are stored as signed
/// numbers with the same bits.
fn integer(value: i64, one: Base) -> String {
    match one {
        Base::U64 => value.cast_unsigned().to_string(),
        _ => value.to_string(),
    }
}

pub(super) fn enumerations(out: &mut Writer, model: &Model) {
    for found in &model.enums {
        clashes::begin(out, format!("type `{}`", found.name), (found.span, found.imported));
        let name = item_name(&found.name);
        out.line("#[repr(transparent)]");
        out.line("#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]");
        out.line(format!("pub struct {name}(pub i32);"));
        out.line(format!("impl {name} {{"));
        for (value, number) in &found.values {
            out.line(format!("pub const {}: Self = Self({number});", associated(value)));
        }
        out.line("}");
        let numbers: BTreeSet<i32> = found.values.iter().map(|(_, number)| *number).collect();
        out.line("// SAFETY: zero is a valid value, and the type is a transparent wrapper of an i32.");
        out.line(format!("unsafe impl obvia::rt::Value for {name} {{"));
        out.line("const SIZE: usize = 4;");
        out.line("#[inline]");
        out.line("fn store(&self, frame: &mut [u8], at: usize) {");
        out.line("obvia::rt::Value::store(&self.0, frame, at);");
        out.line("}");
        out.line("#[inline]");
        out.line("fn load(frame: obvia::rt::RegionView<'_>, at: usize) -> Option<Self> {");
        let numbers: Vec<String> = numbers.iter().map(i32::to_string).collect();
        let values = if found.open { format!("0..={}", Enum::NARROW_MAX) } else { numbers.join(" | ") };
        let checked = format!(".filter(|value| matches!(value, {values}))");
        let checked = if found.is_any() { "" } else { &checked };
        out.line(format!("<i32 as obvia::rt::Value>::load(frame, at){checked}.map(Self)"));
        out.line("}");
        out.line("}");
        out.line("");
    }
}

pub(super) fn structures(out: &mut Writer, model: &Model) {
    for (at, found) in model.structs.iter().enumerate() {
        let ty = Type::Struct(StructId(at));
        if !is_plain(model, &ty) {
            continue;
        }
        clashes::begin(out, format!("type `{}`", found.name), (found.span, found.imported));
        let name = type_name(&found.name);
        let (offsets, size, _) = model.offsets(found);
        out.line("#[repr(C)]");
        out.line("#[derive(Clone, Copy, Debug, PartialEq)]");
        out.line(format!("pub struct {name} {{"));
        for field in &found.fields {
            out.line(format!("pub {}: {},", ident(&field.name), value(model, &field.ty)));
        }
        out.line("}");
        out.line(format!("const _: () = assert!(size_of::<{name}>() == {size});"));
        out.line(format!("impl Default for {name} {{"));
        out.line("fn default() -> Self {");
        out.line("obvia::rt::zero()");
        out.line("}");
        out.line("}");
        out.line("// SAFETY: zero is a valid value of each member's type.");
        out.line(format!("unsafe impl obvia::rt::Value for {name} {{"));
        out.line(format!("const SIZE: usize = {size};"));
        out.line("#[inline]");
        out.line("fn store(&self, frame: &mut [u8], at: usize) {");
        out.line(format!("frame[at..at + {size}].fill(0);"));
        for (field, offset) in found.fields.iter().zip(&offsets) {
            out.line(format!("obvia::rt::Value::store(&self.{}, frame, at + {offset});", ident(&field.name)));
        }
        out.line("}");
        out.line("#[inline]");
        out.line("fn load(frame: obvia::rt::RegionView<'_>, at: usize) -> Option<Self> {");
        out.line("Some(Self {");
        for (field, offset) in found.fields.iter().zip(&offsets) {
            out.line(format!("{}: obvia::rt::Value::load(frame, at + {offset})?,", ident(&field.name)));
        }
        out.line("})");
        out.line("}");
        out.line("}");
        out.line("");
    }
}
