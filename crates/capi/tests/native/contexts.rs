//! Tests that a server in C++ keeps a context's state while a call uses it, even if another call
//! destroys the context: see `programs/contexts.cc`.

use crate::program::build;
use torture::process::Directory;

#[test]
fn destroyed_contexts_live_until_the_calls_that_use_them_end() {
    let program = build("contexts", &["contexts.idl"], &["contexts.cc"]);
    let program = program.to_str().expect("the path is text");
    let directory = Directory::new();
    let mut server = directory.start(program, &["serve"]);
    assert_eq!(server.line(), "ready");
    let mut client = directory.start(program, &["call"]);
    assert_eq!(client.line(), "ok");
    client.finish();
    server.finish();
}
