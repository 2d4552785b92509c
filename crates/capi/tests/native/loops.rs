//! Tests server loops that pass connections to other threads: see `programs/loop.cc`.

use crate::program::build;
use torture::process::Directory;

#[test]
fn methods_on_another_thread_have_the_caller_of_their_connection() {
    let program = build("loop", &["loop.idl"], &["loop.cc"]);
    let program = program.to_str().expect("the path is text");
    let directory = Directory::new();
    let mut server = directory.start(program, &["serve"]);
    assert_eq!(server.line(), "ready");
    let mut clients = [(); 2].map(|()| directory.start(program, &["call"]));
    // The worker performs the calls of both clients by turns.
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
}
