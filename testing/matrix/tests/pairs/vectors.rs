//! Tests that send the vectors of frames to objects in Rust and C++, and slightly changed frames to
//! objects in C++.

use super::places::{Place, at_each, everywhere};
use matrix::IShapes;
use obvia::dynamic::{Identity, Object};
use obvia::{HRESULT, Interface as _, Remote, Result};
use obvia_idl::Compiler;
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

/// The error for frames that violate their interface: RPC_X_BAD_STUB_DATA.
const BAD_STUB_DATA: HRESULT = HRESULT(0x8007_06f7_u32.cast_signed());

/// The methods whose work does not grow with a number in the frame.
const BOUNDED: [&str; 6] = ["Sum", "Shared", "Average", "Describe", "Choose", "Put"];

/// A frame of a vector.
pub(crate) struct Frame {
    pub(crate) name: String,
    pub(crate) method: String,
    opnum: u16,
    pub(crate) frame: Vec<u8>,
    /// The numbers of the request that a reply's sizes depend on.
    pub(crate) outer: Vec<i64>,
}

/// Returns the vectors of one kind, `valid` or `invalid`, for requests or replies.
pub(crate) fn frames(what: &str, part: &str) -> Vec<Frame> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(here.join("../vectors/flat/graphs.json")).unwrap();
    let vectors: Value = serde_json::from_str(&text).unwrap();
    let compilation = Compiler::new().check(&here.join("idl/shapes.idl")).unwrap();
    let shapes = compilation.model.interfaces.iter().find(|interface| interface.name == "IShapes").unwrap();
    let opnums: HashMap<&str, u16> = shapes.methods.iter().map(|method| (method.name.as_str(), method.opnum)).collect();
    let text = |vector: &Value, key: &str| vector[key].as_str().unwrap().to_owned();
    let frame = |vector: &Value| {
        let digits: Vec<u8> = text(vector, "bytes").bytes().filter(u8::is_ascii_hexdigit).collect();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        let method = text(vector, "method");
        let opnum = opnums[method.as_str()];
        let outer = vector["outer"].as_array().into_iter().flatten().filter_map(Value::as_i64).collect();
        Frame { name: text(vector, "name"), method, opnum, frame: digits.chunks(2).map(byte).collect(), outer }
    };
    let all = vectors[what].as_array().unwrap().iter();
    // A message's frame has a multiple of eight bytes. Vectors of other lengths are left out.
    let frames = all.filter(|vector| vector["part"] == part).map(frame).filter(|frame| frame.frame.len() % 8 == 0);
    let frames: Vec<Frame> = frames.collect();
    assert!(!frames.is_empty());
    frames
}

pub(crate) fn connect(address: &str) -> Object {
    let identity = Identity { iid: IShapes::IID, fingerprint: <IShapes as Remote>::INFO.fingerprint };
    Object::connect(address, identity).unwrap()
}

/// Whether the frame was refused before the method ran.
fn is_refused(answer: &Result<(HRESULT, Vec<u8>)>) -> bool {
    matches!(answer, Err(error) if error.code() == BAD_STUB_DATA)
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn all_languages_accept_and_refuse_the_same_vectors() {
    let vectors = [("valid", false), ("invalid", true)].map(|(what, refused)| (what, refused, frames(what, "request")));
    at_each(everywhere().filter(Place::takes_frames), |server| {
        let object = connect(&server.address("shapes"));
        for (what, refused, requests) in &vectors {
            for request in requests {
                let answer = object.call(request.opnum, &request.frame);
                assert_eq!(is_refused(&answer), *refused, "{}, {what}: {answer:?}", request.name);
            }
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn slightly_changed_frames_do_no_harm() {
    // The server runs under sanitizers.
    let server = super::server::Server::start_native();
    let object = connect(&server.address("shapes"));
    let (mut refused, mut taken) = (0, 0);
    for request in frames("valid", "request").iter().filter(|request| BOUNDED.contains(&request.method.as_str())) {
        for at in 0..request.frame.len() {
            for bits in [0x01, 0xff] {
                let mut frame = request.frame.clone();
                frame[at] ^= bits;
                let answer = object.call(request.opnum, &frame);
                let fine = is_refused(&answer) || answer.is_ok();
                assert!(fine, "{}: byte {at} with {bits:#x}: {answer:?}", request.name);
                if answer.is_ok() { taken += 1 } else { refused += 1 }
            }
        }
        assert!(object.call(request.opnum, &request.frame).is_ok(), "and the connection goes on");
    }
    assert!(refused > 100 && taken > 50, "{refused} were refused, {taken} taken");
}
