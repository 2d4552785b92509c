//! Tests the authentication of processes in C++: see `programs/security.cc`.

use crate::program::build;
use torture::process::Directory;

#[test]
fn cpp_clients_authenticate_to_the_server() {
    let program = build("security", &["security.idl"], &["security.cc"]);
    let program = program.to_str().expect("the path is text");
    let (there, here) = (Directory::new(), Directory::new());
    let mut server = there.start(program, &["serve"]);
    let binding = server.line();
    let mut client = here.start(program, &["call", &binding]);
    assert_eq!(client.line(), "ok");
    client.finish();
    server.finish();
}
