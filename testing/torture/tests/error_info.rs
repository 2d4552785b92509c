//! Tests of error information: of failed methods, and of methods that set error information and
//! succeed.

use torture::process::{Directory, Process};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");

fn server(directory: &Directory) -> Process {
    let mut server = directory.start(PROGRAM, &[]);
    server.good("export-error-setter error-setter");
    server
}

#[test]
fn error_information_is_that_of_its_call() {
    let directory = Directory::new();
    let _server = server(&directory);
    directory.start(PROGRAM, &[]).good("check-error-info error-setter");
}

#[test]
fn error_information_is_that_of_its_call_over_networks() {
    let directories = [Directory::new(), Directory::new()];
    let mut server = server(&directories[0]);
    for options in ["", ",transfer=ndr"] {
        let place =
            server.good(&format!("listen ncacn_ip_tcp:127.0.0.1[{options}]")).replace(']', ",name=error-setter]");
        directories[1].start(PROGRAM, &[]).good(&format!("check-error-info {place}"));
    }
}
