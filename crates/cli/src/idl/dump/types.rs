//! Types and expressions as JSON.

use obvia_idl::automation::Memory;
use obvia_idl::model::{
    Arith, Extent, Model, Object, Operand, Pointer, PointerClass, Type, Value as Constant, Varying,
};
use serde_json::{Value, json};

/// Returns a type as JSON. `names` are the members or parameters that the type's expressions read.
pub(super) fn ty(model: &Model, of: &Type, names: &[&str]) -> Value {
    match of {
        Type::Base(base) => json!({ "kind": "base", "name": base.idl() }),
        Type::Enum(id) => json!({ "kind": "enum", "name": model.enums[id.0].name }),
        Type::Struct(id) => json!({ "kind": "struct", "name": model.structs[id.0].name }),
        Type::Union(id) => json!({ "kind": "union", "name": model.unions[id.0].name }),
        Type::Fixed(element, count) => json!({ "kind": "array", "count": count, "of": ty(model, element, names) }),
        Type::Pointer(pointer) => self::pointer(model, pointer, names),
        Type::Interface(Object::Known(id)) => {
            json!({ "kind": "interface", "name": model.interfaces[id.0].name, "iid_is": null })
        }
        Type::Interface(Object::Unknown) => json!({ "kind": "interface", "name": "IUnknown", "iid_is": null }),
        Type::Interface(Object::IidIs(operand)) => {
            json!({ "kind": "interface", "name": "IUnknown", "iid_is": self::operand(operand, names) })
        }
        Type::Void => json!({ "kind": "void" }),
    }
}

fn pointer(model: &Model, pointer: &Pointer, names: &[&str]) -> Value {
    let class = match pointer.class {
        PointerClass::Ref => "ref",
        PointerClass::Unique => "unique",
        PointerClass::Full => "ptr",
    };
    let (size, length) = match &pointer.extent {
        Extent::Counted { size, length } => (Some(size), length.as_ref()),
        Extent::One | Extent::Text => (None, None),
    };
    json!({
        "kind": "pointer",
        "class": class,
        "to": ty(model, &pointer.to, names),
        "string": pointer.extent == Extent::Text,
        "size_is": size.map(|size| expression(size, names)),
        "length_is": length.map(|length| expression(length, names)),
    })
}

/// Returns an expression over the members or parameters `names` as JSON.
pub(super) fn expression(of: &Arith, names: &[&str]) -> Value {
    match of {
        Arith::Const(value) => json!({ "value": value }),
        Arith::Operand(operand) => self::operand(operand, names),
        Arith::Unary(operator, inner) => json!({ "operator": operator, "operands": [expression(inner, names)] }),
        Arith::Binary(operator, left, right) => {
            json!({ "operator": operator, "operands": [expression(left, names), expression(right, names)] })
        }
        Arith::Ternary(condition, yes, no) => {
            let operands = [condition, yes, no].map(|operand| expression(operand, names));
            json!({ "operator": "?:", "operands": operands })
        }
    }
}

fn operand(of: &Operand, names: &[&str]) -> Value {
    let name = names.get(of.index).copied().unwrap_or_default();
    json!({ "operand": name, "index": of.index, "is_target": of.deref, "type": of.base.idl() })
}

/// Returns which elements of an array travel in NDR; null if all elements travel.
pub(super) fn varying(of: Option<&Varying>, names: &[&str]) -> Value {
    match of {
        None => Value::Null,
        Some(Varying::Text) => "string".into(),
        Some(Varying::Length(length)) => expression(length, names),
    }
}

/// Returns a value as JSON. `is_u64` says whether the value's type is `unsigned hyper`, whose
/// values the model holds as signed integers.
pub(super) fn constant(of: &Constant, is_u64: bool) -> Value {
    match of {
        Constant::Int(value) if is_u64 => value.cast_unsigned().into(),
        Constant::Int(value) => (*value).into(),
        Constant::Float(value) => (*value).into(),
        Constant::Text(text) => text.as_str().into(),
    }
}

/// Returns the name of an Automation type, an object with the element type for a SAFEARRAY, or null
/// for other types.
pub(super) fn automation(of: Option<Memory>) -> Value {
    match of {
        None => Value::Null,
        Some(Memory::Bstr) => "BSTR".into(),
        Some(Memory::Variant) => "VARIANT".into(),
        Some(Memory::SafeArray(element)) => json!({ "safearray": element }),
    }
}
