//! Tests server loops that pass connections to other threads: see `programs/loop.cc`.

use crate::program::build;
use std::os::unix::process::ExitStatusExt;
use torture::process::Directory;

/// The signal of `abort`.
const SIGABRT: i32 = 6;

#[test]
fn threads_that_enter_a_connection_have_its_caller_and_others_end_the_server() {
    let program = build("loop", &["loop.idl"], &["loop.cc"]);
    let program = program.to_str().expect("the path is text");
    let directory = Directory::new();
    let mut server = directory.start(program, &["serve"]);
    assert_eq!(server.line(), "ready");
    let mut clients = [(); 2].map(|()| directory.start(program, &["call"]));
    // The server's worker thread alternately performs calls of the two clients.
    for client in &mut clients {
        assert_eq!(client.line(), "ok");
    }
    for _ in 0..3 {
        for client in &mut clients {
            client.good("again");
        }
    }
    for mut client in clients {
        client.finish();
    }
    server.finish();
    let mut careless = directory.start(program, &["careless"]);
    assert_eq!(careless.line(), "ready");
    let _client = directory.start(program, &["call"]);
    assert_eq!(careless.await_end().signal(), Some(SIGABRT));
}
