//! Tests events of objects in C++: see `programs/events.cc`.

use crate::program::build;
use torture::process::Directory;

#[test]
fn cpp_sinks_are_called_within_and_across_processes() {
    let program = build("events", &["events.idl"], &["events.cc"]);
    let program = program.to_str().expect("the path is text");
    let directory = Directory::new();
    let mut server = directory.start(program, &["serve"]);
    assert_eq!(server.line(), "serving");
    let mut client = directory.start(program, &["hear"]);
    assert_eq!(client.line(), "ok");
    client.finish();
    server.finish();
}
