//! Tests of conversions from JSON to values, and of refused JSON.

use super::{read, write};
use obvia_idl::model::{Base, Model, StructId, Type};
use obvia_idl::{Compilation, Compiler};
use serde_json::{Value, json};
use std::path::Path;

fn compiled() -> Compilation {
    let text = "enum Colour { RED = 1, GREEN };
        struct Point { short x; double y; enum Colour colour; byte raw[3]; boolean on; };
        struct Line { struct Point ends[2]; hyper id; GUID key; float width; };";
    Compiler::new().check_text(Path::new("test.idl"), text).unwrap()
}

fn named(model: &Model, name: &str) -> Type {
    Type::Struct(StructId(model.structs.iter().position(|found| found.name == name).unwrap()))
}

fn bytes(model: &Model, ty: &Type, value: &Value) -> Result<Vec<u8>, String> {
    let mut out = vec![0; model.layout(ty).0 as usize];
    write(model, ty, value, &mut out).map_err(|wrong| wrong.to_string())?;
    Ok(out)
}

fn point() -> Value {
    json!({ "x": -2, "y": 0.5, "colour": "GREEN", "raw": [1, 2, 255], "on": true })
}

#[test]
fn a_structure_has_the_layout_of_c() {
    let model = compiled().model;
    let mut expected = vec![0xfe, 0xff, 0, 0, 0, 0, 0, 0];
    expected.extend(0.5_f64.to_le_bytes());
    expected.extend([2, 0, 0, 0, 1, 2, 255, 1]);
    assert_eq!(bytes(&model, &named(&model, "Point"), &point()), Ok(expected));
}

#[test]
fn values_written_from_json_are_read_back() {
    let model = compiled().model;
    let line = json!({
        "ends": [point(), { "x": 7, "y": "inf", "colour": 9, "raw": [0, 0, 0], "on": false }],
        "id": i64::MIN,
        "key": "5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7a10",
        "width": 0.1,
    });
    let ty = named(&model, "Line");
    let written = bytes(&model, &ty, &line).unwrap();
    assert_eq!(read(&model, &ty, &written), Some(line));
    assert_eq!(read(&model, &ty, &written[..written.len() - 8]), None);
}

#[test]
fn json_errors_name_the_invalid_member() {
    let model = compiled().model;
    let wrong = |change: fn(&mut Value)| {
        let mut value = point();
        change(&mut value);
        bytes(&model, &named(&model, "Point"), &value).unwrap_err()
    };
    assert_eq!(wrong(|value| value["x"] = json!(40000)), "x: 40000 is outside of the range of short, -32768 to 32767");
    assert_eq!(wrong(|value| value["y"] = json!([])), "y: expected a number, found an array");
    assert_eq!(wrong(|value| value["raw"][1] = json!("a")), "raw[1]: expected an integer, found \"a\"");
    assert_eq!(wrong(|value| value["raw"] = json!([1])), "raw: expected 3 elements, found 1");
    let colour = wrong(|value| value["colour"] = json!("GREN"));
    assert_eq!(colour, "colour: expected one of RED, GREEN or a number, found \"GREN\"; did you mean `GREEN`?");
    let unknown = wrong(|value| value["onn"] = json!(1));
    assert_eq!(unknown, "Point has no member `onn`; did you mean `on`?; it has x, y, colour, raw, on");
    let missing = wrong(|value| {
        value.as_object_mut().unwrap().remove("on");
    });
    assert_eq!(missing, "member `on` of Point is missing");
}

#[test]
fn json_numbers_outside_their_base_type_are_refused() {
    let model = Model::default();
    let written = |base, value: Value| bytes(&model, &Type::Base(base), &value).ok();
    assert_eq!(written(Base::U8, json!(255)), Some(vec![255]));
    assert_eq!(written(Base::U8, json!(256)), None);
    assert_eq!(written(Base::U64, json!(u64::MAX)), Some(vec![255; 8]));
    assert_eq!(written(Base::U32, json!("0x10")), Some(vec![16, 0, 0, 0]));
    assert_eq!(written(Base::Hresult, json!("0x80004005")), Some(vec![5, 0x40, 0, 0x80]));
    assert_eq!(written(Base::WChar, json!("é")), Some(vec![0xe9, 0]));
    assert_eq!(written(Base::Char, json!("é")), None);
    assert_eq!(written(Base::I32, json!(1.5)), None);
    assert_eq!(written(Base::Boolean, json!(2)), None);
}
