//! Tests of error information: of failed methods, and of methods that set some and succeeded.

use torture::process::{Directory, Process};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");

fn server(directory: &Directory) -> Process {
    let mut server = directory.start(PROGRAM, &[]);
    server.good("export-careless careless");
    server
}

#[test]
fn words_are_those_of_their_call_alone() {
    let directory = Directory::new();
    let _server = server(&directory);
    directory.start(PROGRAM, &[]).good("check-careless careless");
}

#[test]
fn words_are_those_of_their_call_alone_over_networks() {
    let directories = [Directory::new(), Directory::new()];
    let mut server = server(&directories[0]);
    for options in ["", ",transfer=ndr"] {
        let place = server.good(&format!("listen ncacn_ip_tcp:127.0.0.1[{options}]")).replace(']', ",name=careless]");
        directories[1].start(PROGRAM, &[]).good(&format!("check-careless {place}"));
    }
}
