//! Tests the cancellation of calls from another thread in C++: see `programs/cancel.cc`.

use crate::program::build;
use torture::process::Directory;

#[test]
fn a_thread_can_cancel_the_calls_of_another_thread() {
    let program = build("cancel", &["sleeper.idl"], &["cancel.cc"]);
    let program = program.to_str().expect("the path is text");
    for way in ["poll", "block", "adaptive"] {
        let directory = Directory::new();
        let mut server = directory.start(program, &["serve", way]);
        assert_eq!(server.line(), "ready");
        let mut client = directory.start(program, &["call", way]);
        assert_eq!(client.line(), "ok");
        client.finish();
        server.finish();
    }
}
