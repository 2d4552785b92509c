//! Tests classes in C++: their registration, and their activation in the same process and in
//! another. See `programs/classes.cc`.

use crate::program::build;
use torture::process::Directory;

#[test]
fn cpp_class_objects_are_created_locally_and_in_other_processes() {
    let program = build("classes", &["specialised.idl"], &["classes.cc"]);
    let program = program.to_str().expect("the path is text");
    let (there, here) = (Directory::new(), Directory::new());
    for (bindings, place, made) in [(None, &there, 3), (Some("ncacn_ip_tcp:127.0.0.1[0]"), &here, 2)] {
        let mut options = vec!["serve"];
        options.extend(bindings);
        let mut server = there.start(program, &options);
        let binding = server.line();
        let mut options = vec!["make"];
        options.extend(bindings.map(|_| binding.as_str()));
        let mut client = place.start(program, &options);
        assert_eq!(client.line(), "ok");
        client.finish();
        // The empty line makes the server release its `server_lock`. The server is then idle, and
        // ends.
        server.say("");
        assert_eq!(server.line(), format!("{made} made"));
        assert!(server.await_end().success());
    }
}
