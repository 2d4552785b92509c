//! Constants and declared types as JSON.

use super::types::{constant, expression, ty, varying};
use obvia_idl::model::{About, Arm, Base, Field, Model, Struct, Union};
use serde_json::{Value, json};

pub(super) fn constants(model: &Model) -> Value {
    let of = |found: &obvia_idl::model::Const| {
        json!({
            "name": found.name,
            "imported": found.imported,
            "type": found.base.map(Base::idl),
            "value": constant(&found.value, found.base == Some(Base::U64)),
        })
    };
    model.consts.iter().map(of).collect()
}

pub(super) fn typedefs(model: &Model) -> Value {
    let of = |found: &obvia_idl::model::Typedef| {
        json!({
            "name": found.name,
            "imported": found.imported,
            "type": ty(model, &found.ty, &[]),
            "is_interface": found.is_interface,
            "public": found.public,
            "about": about(&found.about),
        })
    };
    model.typedefs.iter().map(of).collect()
}

pub(super) fn enums(model: &Model) -> Value {
    let of = |found: &obvia_idl::model::Enum| {
        let values = found.values.iter().map(|(name, value)| json!({ "name": name, "value": value }));
        json!({
            "name": found.name,
            "imported": found.imported,
            "v1_enum": found.v1,
            "open": found.open,
            "values": values.collect::<Vec<_>>(),
            "about": about(&found.about),
        })
    };
    model.enums.iter().map(of).collect()
}

pub(super) fn structs(model: &Model) -> Value {
    model.structs.iter().map(|found| structure(model, found)).collect()
}

fn structure(model: &Model, found: &Struct) -> Value {
    let names: Vec<&str> = found.fields.iter().map(|field| field.name.as_str()).collect();
    let (offsets, size, align) = model.offsets(found);
    let mut fields: Vec<Value> = found.fields.iter().map(|field| self::field(model, field, &names)).collect();
    for (field, offset) in fields.iter_mut().zip(&offsets) {
        field["offset"] = (*offset).into();
    }
    // If the last member is an array without a bound, the last offset is the array's.
    if let (Some((element, size, length)), Some(last)) = (&found.conformant, fields.last_mut()) {
        last["type"] = json!({
            "kind": "open_array",
            "of": ty(model, element, &names),
            "size_is": expression(size, &names),
            "length_is": length.as_ref().map(|length| expression(length, &names)),
        });
        last["offset"] = offsets.last().copied().into();
    }
    json!({
        "name": found.name,
        "imported": found.imported,
        "size": size,
        "align": align,
        "fields": fields,
        "about": about(&found.about),
    })
}

pub(super) fn unions(model: &Model) -> Value {
    model.unions.iter().map(|found| union(model, found)).collect()
}

fn union(model: &Model, found: &Union) -> Value {
    let arm = |arm: &Arm| {
        let field = arm.field.as_ref().map(|field| self::field(model, field, &[]));
        let cases = arm.cases.iter().zip(&arm.labels);
        let cases: Vec<Value> = cases.map(|(value, name)| json!({ "value": value, "name": name })).collect();
        json!({ "cases": cases, "field": field })
    };
    let default = found.default.as_ref().map(|field| {
        let field = field.as_ref().map(|field| self::field(model, field, &[]));
        json!({ "field": field })
    });
    let names = found.encapsulated.as_ref();
    json!({
        "name": found.name,
        "imported": found.imported,
        "size": found.measure.size,
        "align": found.measure.align,
        "switch_type": ty(model, &found.tag, &[]),
        "encapsulated": names.map(|(tag, union)| json!({ "switch": tag, "union": union })),
        "arms": found.arms.iter().map(arm).collect::<Vec<_>>(),
        "default": default,
        "about": about(&found.about),
    })
}

fn field(model: &Model, field: &Field, names: &[&str]) -> Value {
    let bits = field
        .bits
        .iter()
        .map(|part| json!({ "name": part.name, "type": ty(model, &part.ty, &[]), "width": part.width }));
    json!({
        "name": field.name,
        "type": ty(model, &field.ty, names),
        "typedef": field.named.map(|at| &model.typedefs[at].name),
        "range": field.range.map(|(least, most)| [least, most]),
        "offset": null,
        "switch_is": field.switch.as_ref().map(|switch| expression(switch, names)),
        "bit_fields": bits.collect::<Vec<_>>(),
        "varying": varying(field.varying.as_ref(), names),
    })
}

/// Returns the properties that type libraries record.
pub(super) fn about(about: &About) -> Value {
    json!({
        "uuid": about.uuid.map(uuid),
        "version": [about.version.0, about.version.1],
        "flags": about.flags,
        "helpstring": about.help.text,
        "helpcontext": about.help.context,
    })
}

/// Returns a UUID in its usual form.
pub(super) fn uuid(value: u128) -> String {
    obvia::dynamic::guid::to_text(&obvia::GUID::from_u128(value))
}
