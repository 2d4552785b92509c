//! Tests with the shared vectors of `testing/vectors`, values and their bytes, which all languages
//! run.

use super::{Layout, Objects, Reader, Writer, block};
use obvia_idl::Compiler;
use obvia_idl::model::Type;
use obvia_idl::plan::{kinds, plan};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testing/vectors/flat")
}

/// A sink that shows the bytes of object references, and creates no objects.
struct Shown;

impl Objects for Shown {
    fn object(&mut self, reference: &[u8]) -> Option<Value> {
        Some(json!(hex(reference)))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Decodes the bytes of a vector: hexadecimal digits, blanks allowed.
fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// Decodes the bytes as a message of the vector's method: the values, or the flaw and its offset.
fn read(file: &Value, vector: &Value, bytes: &[u8]) -> Result<Value, Value> {
    with_method(file, vector, |layout, plan, request| {
        let outer: Vec<i64> = vector["outer"].as_array().into_iter().flatten().filter_map(Value::as_i64).collect();
        let (_, asked) = plan.block(layout.model, layout.kinds, request, |_| true);
        let checked = layout.check(plan, request, bytes, &outer);
        let checked = checked.map_err(|flaw| json!({ "at": flaw.at, "what": flaw.what }))?;
        let number = |index: usize| outer.get(asked.iter().position(|asked| *asked == index)?).copied();
        let mut shown = Shown;
        let members = block(layout.model, plan, request);
        let mut reader = Reader::new(layout, bytes, &checked, &mut shown, &number);
        let mut values = Map::new();
        for member in members.iter().filter(|member| member.at.is_some()) {
            let value = reader.member(0, &members, member).expect("what was checked can be read");
            values.insert(member.name.to_owned(), value);
        }
        Ok(Value::Object(values))
    })
}

fn write(file: &Value, vector: &Value) -> Vec<u8> {
    with_method(file, vector, |layout, plan, request| {
        let size = if request { plan.request_block } else { plan.reply_block };
        let members = block(layout.model, plan, request);
        Writer::frame(layout, size as usize, &members, vector["value"].as_object().unwrap()).expect("it is a value")
    })
}

fn with_method<R>(
    file: &Value,
    vector: &Value,
    work: impl FnOnce(Layout<'_>, &obvia_idl::plan::MethodPlan<'_>, bool) -> R,
) -> R {
    let path = folder().join(file["idl"].as_str().unwrap());
    let model = Compiler::new().check(&path).unwrap_or_else(|failure| panic!("{failure}")).model;
    let id = model.interfaces.iter().position(|found| file["interface"] == json!(found.name)).unwrap();
    let methods = model.all_methods(obvia_idl::model::InterfaceId(id));
    let kinds: Vec<Type> = kinds(&model, &methods);
    let method = methods.iter().find(|method| vector["method"] == json!(method.name)).expect("there is the method");
    let layout = Layout { model: &model, kinds: &kinds };
    work(layout, &plan(&model, method), vector["part"] == json!("request"))
}

fn files() -> Vec<(PathBuf, Value)> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    paths.sort();
    assert!(!paths.is_empty(), "there are vectors");
    let load = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let file = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, file)
    };
    paths.into_iter().map(load).collect()
}

#[test]
fn valid_vectors_are_read_and_written() {
    for (path, file) in files() {
        for vector in file["valid"].as_array().unwrap() {
            let name = format!("{}: {}", path.display(), vector["name"]);
            let bytes = unhex(vector["bytes"].as_str().unwrap());
            assert_eq!(read(&file, vector, &bytes), Ok(vector["value"].clone()), "{name}");
            if vector["written"] != json!(false) {
                assert_eq!(hex(&write(&file, vector)), hex(&bytes), "{name}");
            }
        }
    }
}

/// The table in docs/flat.md has the bytes of the vector with the document's example.
#[test]
fn the_document_shows_a_vector() {
    let document = std::fs::read_to_string(folder().join("../../../docs/flat.md")).unwrap();
    let row = |line: &str| {
        let (offset, rest) = line.strip_prefix("| ")?.split_once(" | `")?;
        let bytes = rest.split_once('`')?.0.to_owned();
        (offset.len() == 2).then_some((usize::from_str_radix(offset, 16).ok()?, bytes))
    };
    let mut bytes = Vec::new();
    for (offset, row) in document.lines().filter_map(row) {
        assert_eq!(offset, bytes.len(), "{row}");
        bytes.extend(unhex(&row));
    }
    let files = files();
    let named = |vector: &&Value| vector["name"] == json!("the document's example");
    let vector = files.iter().flat_map(|(_, file)| file["valid"].as_array().unwrap()).find(named).unwrap();
    assert_eq!(hex(&bytes), hex(&unhex(vector["bytes"].as_str().unwrap())));
}

#[test]
fn invalid_vectors_are_refused_for_their_reason() {
    for (path, file) in files() {
        for vector in file["invalid"].as_array().unwrap() {
            let bytes = unhex(vector["bytes"].as_str().unwrap());
            let refused = read(&file, vector, &bytes).expect_err(&format!("{}: {}", path.display(), vector["name"]));
            assert_eq!(refused, vector["flaw"], "{}: {}", path.display(), vector["name"]);
        }
    }
}

/// Truncated frames are refused at any length, and no changed byte makes the check or the reader
/// panic.
#[test]
fn changed_vectors_are_refused_or_read_without_panic() {
    for (_, file) in files() {
        for vector in file["valid"].as_array().unwrap() {
            let bytes = unhex(vector["bytes"].as_str().unwrap());
            with_method(&file, vector, |layout, plan, request| {
                let outer: Vec<i64> =
                    vector["outer"].as_array().into_iter().flatten().filter_map(Value::as_i64).collect();
                for length in 0..bytes.len() {
                    assert!(layout.check(plan, request, &bytes[..length], &outer).is_err(), "{}", vector["name"]);
                }
                for at in 0..bytes.len() {
                    for change in [1, 0x80, 0xff] {
                        let mut bytes = bytes.clone();
                        bytes[at] ^= change;
                        let _ = layout.check(plan, request, &bytes, &outer);
                    }
                }
            });
        }
    }
}
