//! Tests of a caller in C++ with an object that sends hostile answers, under sanitizers.

use super::native;
use super::vectors::{Frame, frames};
use matrix::{IShapes, shapes::Shapes};
use obvia::rt::{Answer, Description, InterfaceInfo, ServerCall, StubFn, Stubs};
use obvia::{HRESULT, Interface as _, Remote, code};
use std::collections::VecDeque;
use std::process::Command;
use std::sync::Mutex;

/// The answers to the next calls.
static ANSWERS: Mutex<VecDeque<Vec<u8>>> = Mutex::new(VecDeque::new());

static LIES: [StubFn; 32] = [lie; 32];

/// Sends the next answer, without a call of the object.
unsafe extern "C-unwind" fn lie(_: *mut std::ffi::c_void, call: &mut ServerCall<'_>) -> Answer {
    let answer = ANSWERS.lock().unwrap().pop_front().unwrap_or_default();
    if let Ok(frame) = call.reply(answer.len(), answer.len()) {
        frame[..answer.len()].copy_from_slice(&answer);
    }
    Answer::results(0, answer.len())
}

/// Runs a program in C++ that calls a method once for each answer, and returns the results of its
/// calls.
fn answered(name: &str, call: &[&str], answers: Vec<Vec<u8>>) -> Vec<HRESULT> {
    let count = answers.len();
    *ANSWERS.lock().unwrap() = answers.into();
    let mut caller = Command::new(native::program());
    let output = caller.args(["lied", name, &count.to_string()]).args(call).output().unwrap();
    assert!(output.status.success(), "{call:?}: {}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    let results: Vec<HRESULT> = lines.lines().map(|line| HRESULT(line.parse().unwrap())).collect();
    assert_eq!(results.len(), count);
    results
}

/// Returns variants of a frame with one changed byte each.
fn nearly(frame: &[u8]) -> Vec<Vec<u8>> {
    let places = (0..frame.len()).flat_map(|at| [0x01, 0xff].map(|bits| (at, bits)));
    let changed = |(at, bits): (usize, u8)| {
        let mut changed = frame.to_vec();
        changed[at] ^= bits;
        changed
    };
    places.map(changed).collect()
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn malformed_responses_are_errors_and_leak_nothing() {
    // A process has one description of an interface, and another test may already have registered
    // the true description in this process.
    let itself = std::env::current_exe().unwrap();
    let mut alone = Command::new(itself);
    alone
        .args(["--exact", "--ignored", "pairs::malformed_responses::malformed_responses_in_an_own_process"])
        .env(native::BUILT, native::program());
    let output = alone.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "for the test above"]
fn malformed_responses_in_an_own_process() {
    let lying = Description { stubs: Stubs::new(&LIES), ..**<IShapes as Remote>::INFO };
    // SAFETY: the vtable is that of the interface, and the stubs call no method.
    let info = Box::leak(Box::new(unsafe { InterfaceInfo::new(lying) }));
    let object: IShapes = Shapes::default().into();
    let name = ground::fresh_name("matrix-malformed");
    let _export = obvia::abi::export(&name, &object.cast().unwrap(), info).unwrap();
    for (what, expected) in [("valid", code::S_OK), ("invalid", code::RPC_E_INVALID_DATA)] {
        for Frame { name: vector, method, frame, outer, .. } in frames(what, "reply") {
            let room = outer.first().map_or_else(String::new, ToString::to_string);
            let results = answered(&name, &[&method, &room], vec![frame]);
            assert_eq!(results, [expected], "{vector}");
        }
    }
    // The next answers are recorded from a real object. The last answer is unchanged, and the
    // others have a changed byte each.
    let server = super::server::Server::start();
    let truth = super::vectors::connect(&server.address("shapes"));
    for (method, opnum, request) in [
        ("Range", 4, [1, 0, 0, 0, 3, 0, 0, 0]),
        ("Ring", 8, [3, 0, 0, 0, 0, 0, 0, 0]),
        ("Sampled", 12, [3, 0, 0, 0, 0, 0, 0, 0]),
    ] {
        let (result, frame) = truth.call(opnum, &request).unwrap();
        assert!(result.is_ok() && frame.len() > 60, "{method}");
        let mut answers = nearly(&frame);
        answers.push(frame);
        let results = answered(&name, &[method, "3"], answers);
        let wrong = results.iter().filter(|result| **result == code::RPC_E_INVALID_DATA).count();
        let right = results.iter().filter(|result| result.is_ok()).count();
        assert_eq!((wrong + right, results.last()), (results.len(), Some(&code::S_OK)), "{method}: {results:?}");
        assert!(wrong > 50 && right > 10, "{method}: {wrong} wrong, {right} right");
    }
}
