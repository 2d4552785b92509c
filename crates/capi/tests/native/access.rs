//! Tests the access rules of a server in C++: see `programs/access.cc`.

use crate::program::build;
use std::os::unix::fs::MetadataExt;
use torture::process::Directory;

#[test]
fn callers_without_permission_are_refused_and_logged() {
    let program = build("access", &["access.idl"], &["access.cc"]);
    let program = program.to_str().expect("the path is text");
    let directory = Directory::new();
    let mut server = directory.start(program, &["serve"]);
    assert_eq!(server.line(), "serving");
    let mut client = directory.start(program, &["call"]);
    assert_eq!(client.line(), "called");
    server.say("c");
    assert_eq!(server.line(), "closed");
    client.say("");
    assert_eq!(client.line(), "ok");
    let own = std::fs::metadata("/proc/self").expect("there is this process").uid();
    let from = format!("to process {} of user {own}", client.id());
    for what in ["method 3 of ICounted", "method 3 of ICounted", "the object front", "the object back"] {
        assert_eq!(server.line(), format!("refused {what} {from}"));
    }
    server.say("n");
    // Three calls have run: one within the server, and two of the client, before access was denied.
    assert_eq!(server.line(), "3", "no method ran that was refused");
    client.finish();
    server.finish();
}
