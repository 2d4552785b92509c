//! Tests of conversions from JSON to values, and of refused JSON.

use super::made::Objects;
use super::{Argument, Json, NoObjects, Outcome};
use obvia_idl::Compiler;
use obvia_idl::frames::{Frames, Layout, References, Wrong};
use obvia_idl::model::InterfaceId;
use serde_json::{Value, json};
use std::path::Path;

/// Runs `work` with the frames of a method that takes a value of the type `ty`.
fn with<R>(ty: &str, work: impl FnOnce(&Frames<'_>) -> R) -> R {
    let text = format!(
        "import \"unknwn.idl\";
        enum Colour {{ RED = 1, GREEN }};
        struct Point {{ short x; double y; enum Colour colour; byte raw[3]; boolean on; }};
        struct Pair {{ IUnknown *left; IUnknown *right; }};
        struct Tree {{ long count; [ptr, size_is(count)] struct Tree *children; }};
        struct Twins {{ long count; [unique, size_is(count)] short *one; [unique, size_is(count)] short *other; }};
        struct Line {{ struct Point ends[2]; hyper id; GUID key; float width; }};
        [object, uuid(5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7a30)]
        interface ITest : IUnknown {{ HRESULT Take([in] {ty} value); }}"
    );
    let model = Compiler::new().check_text(Path::new("test.idl"), &text).unwrap().model;
    let id = model.interfaces.iter().position(|found| found.name == "ITest").unwrap();
    let methods = model.all_methods(InterfaceId(id));
    work(&Frames::new(Layout::new(&model, &methods), methods[0]))
}

/// Writes a request, whose length is a multiple of 8.
fn bytes(ty: &str, value: &Value) -> Result<Vec<u8>, String> {
    let written = with(ty, |frames| frames.write(true, &[Some(Argument(value))], &mut NoObjects, &|_| None));
    written.map_err(|wrong| wrong.to_string().trim_start_matches("value.").trim_start_matches("value: ").to_owned())
}

struct Nothing;

impl Objects for Nothing {
    fn object(&mut self, _: &[u8]) -> Option<Outcome> {
        None
    }
}

fn read(ty: &str, bytes: &[u8]) -> Option<Value> {
    with(ty, |frames| {
        let mut json = Json { model: frames.model(), objects: Nothing };
        Some(frames.read(true, bytes, &|_| None, &mut json).ok()?.value(0)?.into_json())
    })
}

fn point() -> Value {
    json!({ "x": -2, "y": 0.5, "colour": "GREEN", "raw": [1, 2, 255], "on": true })
}

#[test]
fn a_structure_has_the_layout_of_c() {
    let mut expected = vec![0xfe, 0xff, 0, 0, 0, 0, 0, 0];
    expected.extend(0.5_f64.to_le_bytes());
    expected.extend([2, 0, 0, 0, 1, 2, 255, 1]);
    assert_eq!(bytes("struct Point", &point()), Ok(expected));
}

#[test]
fn values_written_from_json_are_read_back() {
    let line = json!({
        "ends": [point(), { "x": 7, "y": "inf", "colour": "RED", "raw": [0, 0, 0], "on": false }],
        "id": i64::MIN,
        "key": "5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7a10",
        "width": 0.1,
    });
    let written = bytes("struct Line", &line).unwrap();
    assert_eq!(read("struct Line", &written), Some(line));
    assert_eq!(read("struct Line", &written[..written.len() - 8]), None);
}

#[test]
fn json_errors_name_the_invalid_member() {
    let wrong = |change: fn(&mut Value)| {
        let mut value = point();
        change(&mut value);
        bytes("struct Point", &value).unwrap_err()
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
    let written = |ty, value: Value| bytes(ty, &value).ok();
    let padded = |bytes: &[u8]| Some([bytes, &vec![0; 8 - bytes.len()]].concat());
    assert_eq!(written("byte", json!(255)), padded(&[255]));
    assert_eq!(written("byte", json!(256)), None);
    assert_eq!(written("unsigned hyper", json!(u64::MAX)), padded(&[255; 8]));
    assert_eq!(written("unsigned long", json!("0x10")), padded(&[16, 0, 0, 0]));
    assert_eq!(written("HRESULT", json!("0x80004005")), padded(&[5, 0x40, 0, 0x80]));
    assert_eq!(written("wchar_t", json!("é")), padded(&[0xe9, 0]));
    assert_eq!(written("char", json!("é")), None);
    assert_eq!(written("long", json!(1.5)), None);
    assert_eq!(written("boolean", json!(2)), None);
}

#[test]
fn the_other_array_implies_the_count_of_a_null_array() {
    let count = |one: Value, other: Value| {
        let written = bytes("struct Twins", &json!({ "one": one, "other": other }));
        written.map(|written| written[..4].to_vec())
    };
    assert_eq!(count(json!(null), json!([1, 2])), Ok(vec![2, 0, 0, 0]));
    assert_eq!(count(json!([1, 2]), json!(null)), Ok(vec![2, 0, 0, 0]));
    assert_eq!(count(json!(null), json!(null)), Ok(vec![0; 4]));
    assert!(count(json!([1]), json!([1, 2])).is_err());
}

/// Returns a frame with `depth` arrays of two nodes. The children of both nodes of an array are the
/// next array. The children of the last array's nodes are the array with the index `end`, if given.
fn shared_trees(depth: usize, end: Option<usize>) -> Vec<u8> {
    let leaf = json!({ "count": 1, "children": [{ "count": 0, "children": null }] });
    let header: [u8; 4] = *bytes("struct Tree", &leaf).unwrap()[16..].first_chunk().unwrap();
    let body = |at: usize| 16 + at * 40 + 8;
    let node = |children: Option<usize>| -> Vec<u8> {
        let (count, place) = children.map_or((0, 0), |at| (2, body(at) as u64));
        [u64::to_le_bytes(count), place.to_le_bytes()].concat()
    };
    let mut frame = node(Some(0));
    for at in 0..depth {
        let children = if at + 1 < depth { Some(at + 1) } else { end };
        frame.extend([header, 2_u32.to_le_bytes()].concat());
        frame.extend([node(children), node(children)].concat());
    }
    frame
}

#[test]
fn arrays_of_structures_are_read_to_a_depth() {
    let leaf = json!({ "count": 0, "children": null });
    let nested = (0..200).fold(leaf, |inner, _| json!({ "count": 1, "children": [inner] }));
    let shown = read("struct Tree", &bytes("struct Tree", &nested).unwrap()).unwrap();
    let (mut left, mut depth) = (&shown, 0);
    while let Some(children) = left.get("children") {
        left = &children[0];
        depth += 1;
    }
    assert_eq!((depth, left), (60, &json!("...")));
    assert_eq!(serde_json::from_str::<Value>(&shown.to_string()).unwrap(), shown);
}

#[test]
fn arrays_that_contain_themselves_are_read_to_an_end() {
    assert_eq!(read("struct Tree", &shared_trees(3, Some(0))), None);
}

#[test]
fn arrays_with_several_pointers_take_limited_time() {
    let few = read("struct Tree", &shared_trees(3, None)).unwrap();
    assert_eq!(few["children"][1]["children"][0]["children"][1]["count"], 0);
    assert_eq!(read("struct Tree", &shared_trees(60, None)), None);
}

/// References to objects; the bytes of each reference are its number.
struct Numbered(u8);

impl<V> References<V> for Numbered {
    fn reference(&mut self, _: &V, _: u128) -> Result<Vec<u8>, Wrong> {
        self.0 += 1;
        Ok(vec![self.0; 4])
    }
}

#[test]
fn references_behind_a_refused_value_remain() {
    with("struct Pair", |frames| {
        let given = json!({ "left": 1, "right": 2 });
        let frame = frames.write(true, &[Some(Argument(&given))], &mut Numbered(0), &|_| None).unwrap();
        let mut json = Json { model: frames.model(), objects: Nothing };
        let mut reading = frames.read(true, &frame, &|_| None, &mut json).unwrap();
        assert_eq!(reading.remaining().count(), 2);
        assert!(reading.value(0).is_none());
        assert_eq!(reading.remaining().collect::<Vec<_>>(), [[2; 4]]);
    });
}
