//! Tests calls of objects in C++ over virtual interfaces: see `programs/specialised.cc`.

use crate::program::build;
use torture::process::Directory;

#[test]
fn objects_are_called_over_virtual_interfaces() {
    let program = build("specialised", &["specialised.idl"], &["specialised.cc"]);
    let program = program.to_str().expect("the path is text");
    let (there, here) = (Directory::new(), Directory::new());
    let mut server = there.start(program, &["serve"]);
    let binding = server.line();
    for (place, ways) in [(&there, "ncacn_vi_shm ncacn_vi_shm"), (&here, "ncacn_vi_udp ncacn_vi_udp")] {
        let mut client = place.start(program, &["call", &binding]);
        assert_eq!(client.line(), ways);
        client.finish();
    }
    server.finish();
}
