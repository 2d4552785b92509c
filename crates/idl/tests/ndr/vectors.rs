//! The test vectors: values as frames, and their bytes in NDR.

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
fn frame_vectors_round_trip_through_ndr() {
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
fn stub_data_agrees_with_other_implementations() {
    for name in ["rpcecho", "accounts", "objects"] {
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

/// Arrays of fixed size of which only a part travels, and reference pointers within other pointers.
#[test]
fn fixed_size_arrays_can_be_passed_in_part() {
    let interface = super::interface(
        "typedef struct Named {
            [string] char name[4];
            [string] wchar_t wide[3];
            byte used;
            [length_is(used)] short parts[3];
        } Named;
        [object, uuid(3d7a1f60-5b0e-4c0a-8f2d-9e1100000042), pointer_default(ref)] interface IGiven : IUnknown {
            HRESULT Name([in] const Named *named, [in, string] char name[2]);
            HRESULT Get([out] long **number);
        }",
    );
    // The structure has "abc", "x", and 2 of 3 elements. The other parameter is "y". The request's
    // block consists of the structure, which has 18 bytes, and two characters.
    let frame = [b"abc\0x\0\0\0\0\0\x02\0\x07\0\x08\0\0\0".as_slice(), b"y\0\0\0\0\0"].concat();
    let stub = [
        b"\0\0\0\0\x04\0\0\0abc\0".as_slice(),
        b"\0\0\0\0\x02\0\0\0x\0\0\0",
        b"\x02\0\0\0\0\0\0\0\x02\0\0\0\x07\0\x08\0",
        b"\0\0\0\0\x02\0\0\0y\0",
    ];
    let (none, stub) = (Numbers::default(), stub.concat());
    let written = interface.encode("Name", Part::Request, FORMATS[0], &none, &frame).unwrap();
    assert_eq!(written, stub, "{written:02x?}");
    for format in FORMATS {
        let stub = interface.encode("Name", Part::Request, format, &none, &frame).unwrap();
        assert_eq!(interface.decode("Name", Part::Request, format, &none, &stub).unwrap(), frame, "{format:?}");
    }
    // The outer parameter pointer has no referent identifier. Its target is a pointer that has a
    // referent identifier.
    let frame = b"\x10\0\0\0\0\0\0\0\x10\0\0\0\x01\0\0\0\x07\0\0\0\0\0\0\0";
    let stub = interface.encode("Get", Part::Reply, FORMATS[0], &none, frame).unwrap();
    assert_eq!(stub, b"\0\0\x02\0\x07\0\0\0\0\0\0\0");
    assert_eq!(interface.decode("Get", Part::Reply, FORMATS[0], &none, &stub).unwrap(), frame);
}
