//! Tests with the vectors of `testing/vectors`, which are values and their bytes. The tests of all
//! languages use these vectors.

use super::made::Objects;
use super::{Argument, Json, NoObjects, Outcome};
use obvia_idl::Compiler;
use obvia_idl::frames::{Frames, Layout};
use obvia_idl::model::InterfaceId;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testing/vectors/flat")
}

/// A receiver of object references, which shows their bytes and creates no objects.
struct Shown;

impl Objects for Shown {
    fn object(&mut self, reference: &[u8]) -> Option<Outcome> {
        Some(Outcome::Value(json!(hex(reference))))
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
    with_method(file, vector, |frames, request| {
        let outer = outer(frames, request, vector);
        let mut json = Json { model: frames.model(), objects: Shown };
        let reading = frames.read(request, bytes, &outer, &mut json);
        let mut reading = reading.map_err(|flaw| json!({ "at": flaw.at, "what": flaw.what }))?;
        let mut values = Map::new();
        for (index, param) in frames.plan().params.iter().enumerate() {
            if (if request { param.request } else { param.reply }).is_some() {
                let value = reading.value(index).expect("what was checked can be read");
                values.insert(param.param.name.clone(), value.into_json());
            }
        }
        Ok(Value::Object(values))
    })
}

fn write(file: &Value, vector: &Value) -> Vec<u8> {
    with_method(file, vector, |frames, request| {
        let value = |param: &obvia_idl::plan::ParamPlan<'_>| vector["value"].get(&param.param.name).map(Argument);
        let values: Vec<_> = frames.plan().params.iter().map(value).collect();
        let outer = outer(frames, request, vector);
        frames.write(request, &values, &mut NoObjects, &outer).expect("it is a value")
    })
}

/// Returns a vector's values of the parameters that are not in the vector's frame.
fn outer(frames: &Frames<'_>, request: bool, vector: &Value) -> impl Fn(usize) -> Option<i64> + use<> {
    let numbers: Vec<i64> = vector["outer"].as_array().into_iter().flatten().filter_map(Value::as_i64).collect();
    let asked = frames.outer(request).to_vec();
    move |index| numbers.get(asked.iter().position(|asked| *asked == index)?).copied()
}

fn with_method<R>(file: &Value, vector: &Value, work: impl FnOnce(&Frames<'_>, bool) -> R) -> R {
    let path = folder().join(file["idl"].as_str().unwrap());
    let model = Compiler::new().check(&path).unwrap_or_else(|failure| panic!("{failure}")).model;
    let id = model.interfaces.iter().position(|found| file["interface"] == json!(found.name)).unwrap();
    let methods = model.all_methods(InterfaceId(id));
    let method = methods.iter().find(|method| vector["method"] == json!(method.name)).expect("there is the method");
    work(&Frames::new(Layout::new(&model, &methods), method), vector["part"] == json!("request"))
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
            with_method(&file, vector, |frames, request| {
                let outer = outer(frames, request, vector);
                for length in 0..bytes.len() {
                    assert!(frames.check(request, &bytes[..length], &outer).is_err(), "{}", vector["name"]);
                }
                for at in 0..bytes.len() {
                    for change in [1, 0x80, 0xff] {
                        let mut bytes = bytes.clone();
                        bytes[at] ^= change;
                        let mut json = Json { model: frames.model(), objects: Shown };
                        if let Ok(mut reading) = frames.read(request, &bytes, &outer, &mut json) {
                            (0..frames.plan().params.len()).for_each(|index| drop(reading.value(index)));
                        }
                    }
                }
            });
        }
    }
}
