//! The vectors: values as frames, and their bytes.

use super::{FORMATS, Interface, Part, file};
use obvia_ndr::ndr::Numbers;
use serde_json::Value;

fn json(path: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(file(path)).unwrap()).unwrap()
}

fn bytes(text: &Value) -> Vec<u8> {
    let digits: Vec<u8> = text.as_str().unwrap().bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn numbers(vector: &Value) -> Numbers {
    vector["outer"].as_array().into_iter().flatten().filter_map(Value::as_i64).collect()
}

fn part(vector: &Value) -> Part {
    if vector["part"] == "request" { Part::Request } else { Part::Reply }
}

#[test]
fn frames_come_back_as_they_were_written() {
    let all = json("testing/vectors/flat/graphs.json");
    let interface = Interface::of("testing/matrix/idl/shapes.idl", all["interface"].as_str().unwrap());
    for vector in all["valid"].as_array().unwrap() {
        let (name, method) = (vector["name"].as_str().unwrap(), vector["method"].as_str().unwrap());
        let (frame, numbers, part) = (bytes(&vector["bytes"]), numbers(vector), part(vector));
        for format in FORMATS {
            let stub = interface.encode(method, part, format, &numbers, &frame);
            let stub = stub.unwrap_or_else(|error| panic!("{name}: {format:?}: {error}"));
            let back = interface.decode(method, part, format, &numbers, &stub);
            let back = back.unwrap_or_else(|error| panic!("{name}: {format:?}: {stub:02x?}: {error}"));
            assert_eq!(back == frame, vector["written"] != false, "{name}: {format:?}: {stub:02x?}: {back:02x?}");
        }
    }
}

#[test]
fn stub_data_is_what_others_write_and_read() {
    for name in ["rpcecho", "accounts"] {
        let all = json(&format!("testing/vectors/ndr/{name}.json"));
        let interface = Interface::of(all["idl"].as_str().unwrap(), all["interface"].as_str().unwrap());
        for vector in all["vectors"].as_array().unwrap() {
            let (name, method) = (vector["name"].as_str().unwrap(), vector["method"].as_str().unwrap());
            let (frame, numbers, part) = (bytes(&vector["frame"]), numbers(vector), part(vector));
            for (format, key) in FORMATS.into_iter().zip(["ndr", "ndr big", "ndr64", "ndr64 big"]) {
                let stub = bytes(&vector[key]);
                let written = interface.encode(method, part, format, &numbers, &frame);
                let written = written.unwrap_or_else(|error| panic!("{name}, {key}: {error}"));
                assert_eq!(written, stub, "{name}, {key}: {written:02x?}");
                let read = interface.decode(method, part, format, &numbers, &stub);
                let read = read.unwrap_or_else(|error| panic!("{name}, {key}: {error}"));
                assert_eq!(read, frame, "{name}, {key}");
            }
        }
    }
}
