//! Tests that no files are left in the runtime directory when servers end.

use crate::running::{Directory, Server, calc_server};
use ground::Process;
use rustix::process::Signal;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_signalled_server_leaves_no_files() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut server = Server::calc();
        assert_eq!(files(server.directory.path()).len(), 4);
        assert_eq!(server.end_by(signal), Some(0));
        assert_eq!(files(server.directory.path()), Vec::<String>::new(), "{signal:?}");
    }
}

#[test]
fn the_activation_service_leaves_no_files() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_obvia"));
    command.arg("scm");
    let mut server = Server::start(command);
    assert!(files(server.directory.path()).len() >= 4);
    assert_eq!(server.end_by(Signal::TERM), Some(0));
    assert_eq!(files(server.directory.path()), Vec::<String>::new());
}

#[test]
fn a_measurement_leaves_nothing_behind() {
    let directory = Directory::new();
    let bench = |rounds: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_obvia"));
        command.args([
            "bench",
            "call_lat",
            "--quick",
            "--cases",
            "null",
            "--paths",
            "ncacn_vi_shm",
            "--rounds",
            rounds,
        ]);
        command.env("OBVIA_RUNTIME_DIR", directory.path()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    assert!(bench("1").status().unwrap().success());
    assert_eq!(files(directory.path()), Vec::<String>::new());
    let mut endless = Process::start(&mut bench("4000000000"));
    ground::until("a server has a name", || files(directory.path()).iter().any(|file| !file.starts_with("oxid-")));
    endless.signal(Signal::TERM);
    assert_eq!(endless.await_end().code(), Some(130));
    assert_eq!(files(directory.path()), Vec::<String>::new());
}

#[test]
fn a_listing_removes_the_files_of_killed_servers() {
    let mut server = Server::start({
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", "--nocapture", "objects::serve_a_printer_over_networks"]);
        command
    });
    let left = files(server.directory.path());
    assert!(left.iter().any(|file| file.ends_with(".lrpc-sock")), "{left:?}");
    assert!(left.iter().any(|file| file.starts_with("oxid-")), "{left:?}");
    server.end_by(Signal::KILL);
    server.obvia(&["ls"]);
    assert_eq!(files(server.directory.path()), Vec::<String>::new());
}

#[test]
fn a_listing_removes_no_files_of_other_programs() {
    let directory = Directory::new();
    fs::write(directory.path().join("Cargo.lock"), "version = 4\n").unwrap();
    fs::write(directory.path().join("yarn.lock"), "").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_obvia"));
    command.arg("ls").current_dir(directory.path()).env("OBVIA_RUNTIME_DIR", ".");
    assert!(command.output().unwrap().status.success());
    assert_eq!(files(directory.path()), ["Cargo.lock", "yarn.lock"]);
    assert_eq!(fs::read_to_string(directory.path().join("Cargo.lock")).unwrap(), "version = 4\n");
}

#[test]
fn processes_in_other_pid_namespaces_call_each_other() {
    let server = Server::calc();
    let apart = |options: &[&str], arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(options).args(["--fork", "--pid"]).arg(env!("CARGO_BIN_EXE_obvia")).args(arguments);
        server.directory.run(command)
    };
    for options in [&["--mount-proc"][..], &[]] {
        let added = apart(options, &["call", "calc", "Add", "2", "3"]);
        if added.err.starts_with("unshare:") && !ground::is_ci() {
            eprintln!("skipped: {added:?}");
            return;
        }
        assert_eq!(added.good(), "sum = 5\n", "{options:?}");
        let listed = apart(options, &["ls"]).good();
        assert!(listed.contains("ICalc2"), "{listed}");
    }
    // The reverse case: the server, not the client, is in other namespaces.
    let mut command = Command::new("unshare");
    command.args(["--fork", "--pid", "--kill-child", "--mount-proc"]).arg(calc_server());
    let server = Server::start(command);
    assert_eq!(server.call(&["Add", "2", "3"]).good(), "sum = 5\n");
}
