//! Tests structures that are larger than a thread's stack: see `programs/large.cc`.

use crate::program::build;
use torture::process::Directory;

#[test]
fn structures_larger_than_a_stack_are_passed() {
    let program = build("large", &["large.idl"], &["large.cc"]);
    let program = program.to_str().expect("the path is text");
    let directory = Directory::new();
    let mut server = directory.start(program, &["serve"]);
    assert_eq!(server.line(), "ready");
    let mut client = directory.start(program, &["call"]);
    assert_eq!(client.line(), "ok");
    client.finish();
    server.finish();
}
