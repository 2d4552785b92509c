//! Tests of `obvia trace`: the environment and the exit code of the traced program. The contents of
//! traces are checked by other programs: `cargo xtask test interop`.

use crate::running::{Directory, Server};
use std::os::unix::fs::MetadataExt;

/// The size of a capture without packets, in bytes: its header.
const EMPTY: u64 = 24;

#[test]
fn traced_programs_get_the_trace_file_and_keep_their_exit_code() {
    let directory = Directory::new();
    let file = directory.path().join("trace.pcap");
    let script = "echo $OBVIA_TRACE $OBVIA_TRACE_LIMIT $1; exit 7";
    let path = file.to_str().unwrap();
    let ran = directory.obvia(&["trace", "--pcap", path, "--limit", "64M", "--", "sh", "-c", script, "sh", "--pcap"]);
    assert_eq!((ran.code, ran.out, ran.err.as_str()), (7, format!("{path} 67108864 --pcap\n"), ""));
    let found = std::fs::metadata(&file).unwrap();
    assert_eq!((found.mode() & 0o777, found.len()), (0o600, EMPTY));
}

#[test]
fn trace_files_are_not_overwritten_nor_left_by_a_failed_start() {
    let directory = Directory::new();
    let file = directory.path().join("trace.pcap");
    let path = file.to_str().unwrap();
    let said = directory.obvia(&["trace", "--pcap", path, "--", "/no/such/program"]).bad();
    assert!(said.contains("starting /no/such/program: No such file"), "{said}");
    assert!(!file.exists());
    std::fs::write(&file, "mine").unwrap();
    let said = directory.obvia(&["trace", "--pcap", path, "--", "true"]).bad();
    assert!(said.contains(path) && said.contains("File exists"), "{said}");
    assert_eq!(std::fs::read(&file).unwrap(), b"mine");
}

#[test]
fn traced_programs_report_errors_of_the_trace_file() {
    let directory = Directory::new();
    let file = directory.path().join("trace.pcap");
    let path = file.to_str().unwrap();
    let call = [env!("CARGO_BIN_EXE_obvia"), "ls", "ncacn_ip_tcp:127.0.0.1[1]"];
    // The trace is opened before the connection, so that its error comes first.
    let local = [env!("CARGO_BIN_EXE_obvia"), "ls", "ncalrpc:[nobody]"];
    let gone = ["trace", "--pcap", path, "--", "sh", "-c", "rm $OBVIA_TRACE; exec \"$@\"", "sh"];
    let said = directory.obvia(&[&gone[..], &local].concat()).bad();
    assert!(said.contains("opening the capture that OBVIA_TRACE names: No such file"), "{said}");
    let limit = ["trace", "--pcap", path, "--", "env", "OBVIA_TRACE_LIMIT=much"];
    let said = directory.obvia(&[&limit[..], &local].concat()).bad();
    assert!(said.contains("reading OBVIA_TRACE_LIMIT: \"much\" is not a number of bytes"), "{said}");
    std::fs::remove_file(&file).unwrap();
    let said = directory.obvia(&[&["trace", "--pcap", path, "--"], &call[..]].concat()).bad();
    assert!(said.contains("127.0.0.1:1"), "{said}");
}

#[test]
fn trace_reports_calls_that_it_does_not_record() {
    let server = Server::calc();
    let file = server.directory.path().join("trace.pcap");
    let path = file.to_str().unwrap();
    let call = [env!("CARGO_BIN_EXE_obvia"), "call", "calc", "Add", "2", "3"];
    let ran = server.obvia(&[&["trace", "--pcap", path, "--"], &call[..]].concat());
    assert_eq!((ran.code, ran.out.as_str()), (0, "sum = 5\n"));
    let told = format!("calls through shared memory are not in the trace {path}\n");
    assert!(ran.err.ends_with(&told) && ran.err.lines().count() == 1, "{ran:?}");
    assert_eq!(std::fs::metadata(&file).unwrap().len(), EMPTY);
}
