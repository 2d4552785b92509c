//! Tests arrays by reference and lent arrays, from C++ to C++: see `programs/regions.cc`.

use crate::program::build;
use torture::process::Directory;

#[test]
fn cpp_arrays_are_passed_by_reference() {
    let program = build("regions", &["regions.idl"], &["regions.cc"]);
    let program = program.to_str().expect("the path is text");
    let directory = Directory::new();
    let mut server = directory.start(program, &["serve"]);
    assert_eq!(server.line(), "ready");
    let mut client = directory.start(program, &["call"]);
    assert_eq!(client.line(), "ok");
    client.finish();
    server.finish();
}
