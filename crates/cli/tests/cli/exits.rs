//! Tests of the command's exit codes and error messages.

use crate::running::{Directory, Server};
use ground::SilentPort;
use std::os::unix::net::UnixListener;

#[test]
fn a_file_without_interfaces_is_said_to_have_none() {
    let directory = Directory::new();
    let file = directory.path().join("none.idl");
    std::fs::write(&file, "typedef struct Point { long x; long y; } Point;\n").unwrap();
    let file = file.to_str().unwrap();
    let why = directory.obvia(&["call", "--idl", file, "nowhere", "Add"]).bad();
    assert!(why.trim_end().ends_with("none.idl declares no interface"), "{why}");
    let why = directory.obvia(&["call", "--idl", file, "nowhere", "ICalc.Add"]).bad();
    assert!(why.trim_end().ends_with("none.idl has no interface `ICalc`"), "{why}");
}

#[test]
fn methods_that_no_language_supports_are_refused_before_the_call() {
    let server = Server::calc();
    let directory = Directory::new();
    let file = directory.path().join("sized.idl");
    let text = "import \"unknwn.idl\";\n[object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20)]\ninterface ISized : IUnknown {\n    \
                HRESULT Say([in] long n, [in, string, size_is(n)] char *text);\n}\n";
    std::fs::write(&file, text).unwrap();
    let why = server.obvia(&["call", "--idl", file.to_str().unwrap(), "calc", "Say", "2", "x"]).bad_with(1);
    assert!(
        why.contains("a string that has a size") && why.contains("which `obvia call` does not support yet"),
        "{why}"
    );
    assert!(why.contains("sized.idl:4:"), "{why}");
}

#[test]
fn exit_codes_distinguish_failures() {
    let server = Server::calc();
    server.obvia(&["call", "calc", "Add", "1", "2"]).good();
    // Failures that the method itself returns.
    assert!(server.obvia(&["call", "calc", "Add", "2147483647", "1"]).bad_with(1).contains("E_INVALIDARG"));
    assert!(server.obvia(&["call", "calc", "Crash"]).bad_with(1).contains("E_UNEXPECTED"));
    let failed = server.obvia(&["call", "calc", "Add", "2147483647", "1", "--json"]);
    assert_eq!(failed.code, 1, "{failed:?}");
    // Wrong usage.
    let wrong: [&[&str]; 8] = [
        &["call"],
        &["call", "calc", "Add", "1"],
        &["call", "calc", "Add", "1", "x"],
        &["call", "calc", "Nosuch"],
        &["call", "calc", "Tape/ICalc.Add", "1", "2"],
        &["describe", "calc", "INosuch"],
        &["ls", "calc"],
        &["call", "calc", "Add", "1", "2", "--timeout", "0"],
    ];
    for arguments in wrong {
        server.obvia(arguments).bad_with(2);
    }
    // No server.
    let nobody: [&[&str]; 3] =
        [&["call", "clac", "Add", "1", "2"], &["describe", "clac"], &["call", "clac", "IDispatch.Add"]];
    for arguments in nobody {
        server.obvia(arguments).bad_with(3);
    }
    let port = SilentPort::new();
    for sequence in ["ncacn_vi_udp", "ncacn_ip_tcp"] {
        let binding = format!("{sequence}:127.0.0.1[{}]", port.number());
        let arguments = ["call", &binding, "Add", "1", "2", "--timeout", "3"];
        let ran = server.obvia(&arguments);
        assert!([3, 4].contains(&ran.code), "{ran:?}");
    }
    // Timeouts.
    assert!(
        server.obvia(&["call", "calc", "Wait", "600000", "--timeout", "0.1"]).bad_with(4).contains("RPC_E_TIMEOUT")
    );
    let help = server.obvia(&["--help"]).good();
    assert!(help.contains("Exit codes:") && help.contains("no server: "), "{help}");
}

#[test]
fn silent_servers_are_contacted_once() {
    let directory = Directory::new();
    let silent = UnixListener::bind(directory.path().join("calc.sock")).unwrap();
    std::fs::write(directory.path().join("calc.lock"), "1\n").unwrap();
    let said = directory.obvia(&["call", "calc", "Add", "1", "2", "--timeout", "1"]).bad_with(4);
    assert!(said.contains("calc"), "{said}");
    silent.set_nonblocking(true).unwrap();
    let mut asked = 0;
    while let Ok((peer, _)) = silent.accept() {
        // The command also makes connections that only test whether a server listens, and send
        // nothing. Such connections do not count here.
        let mut greeting = [0];
        peer.set_nonblocking(true).unwrap();
        asked += usize::from(std::io::Read::read(&mut &peer, &mut greeting).is_ok_and(|length| length > 0));
    }
    assert_eq!(asked, 1);
}

#[test]
fn errors_about_unknown_network_names_list_the_exported_names() {
    let mut server = Server::start(listening());
    for _ in 0..2 {
        let binding = server.line();
        let named = binding.replace(']', ",name=prnter]");
        let said = server.obvia(&["call", &named, "ITapeEvents.Hint", "7"]).bad_with(3);
        assert!(
            said.contains("nothing is exported as `prnter` at ") && said.contains("the exported names are: printer"),
            "{said}"
        );
    }
}

/// Returns the command of a server that listens at two bindings, and prints them.
pub(crate) fn listening() -> std::process::Command {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "--nocapture", "objects::serve_a_printer_over_networks"]);
    command
}

#[test]
fn string_bindings_are_refused_as_export_names() {
    let refused = crate::objects::export_as("ncacn_vi_udp:127.0.0.1[1]");
    assert_eq!(refused.code(), obvia::code::E_INVALIDARG);
    let said = refused.to_string();
    assert!(
        said.contains("`ncacn_vi_udp:127.0.0.1[1]` is a string binding") && said.contains("obvia::listen"),
        "{said}"
    );
}

#[test]
fn listening_errors_name_the_binding() {
    let directory = Directory::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let binding = format!("ncacn_ip_tcp:127.0.0.1[{}]", taken.local_addr().unwrap().port());
    let said = directory.obvia(&["scm", "--listen", &binding]).bad();
    assert!(said.contains(&binding) && said.contains("in use"), "{said}");
}

#[test]
fn arguments_are_read_from_files_and_standard_input() {
    let server = Server::calc();
    let file = server.directory.path().join("numbers.json");
    std::fs::write(&file, "[1, 2, 3]\n").unwrap();
    let file = format!("@{}", file.display());
    assert_eq!(server.call(&["Sum", &file]).good(), "sum = 6\n");
    assert_eq!(server.directory.obvia_reading("[4, 5]", &["call", "calc", "Sum", "@-"]).good(), "sum = 9\n");
    assert_eq!(server.call(&["Shout", "@@home"]).good(), "loud = \"@HOME\"\nletters = 5\n");
    assert!(server.call(&["Sum", "@/no/such"]).bad_with(2).contains("@/no/such: No such file"));
}

#[test]
fn nonfinite_numbers_are_valid_arguments() {
    let server = Server::calc();
    assert_eq!(server.call(&["Compute", "ADD", "NaN", "1"]).good(), "result = NaN\n");
    assert_eq!(server.call(&["Compute", "ADD", "--", "-Infinity", "1"]).good(), "result = -inf\n");
    assert_eq!(server.call(&["Scale", "2", "[1, Infinity]", "--json"]).json()["values"][1], "inf");
    assert_eq!(server.call(&["Shout", "NaN"]).good(), "loud = \"NAN\"\nletters = 3\n");
}

#[test]
fn subcommands_accept_only_their_own_options() {
    let directory = Directory::new();
    directory.obvia(&["idl", "--user", "anna", "x.idl"]).bad_with(2);
    let help = directory.obvia(&["tlb", "--help"]).good();
    assert!(!help.contains("--user"), "{help}");
    for command in ["call", "describe", "ls", "idl", "register", "trace", "wizard"] {
        let help = directory.obvia(&[command, "--help"]).good();
        assert!(help.contains("Example"), "{help}");
    }
    assert!(directory.obvia(&["completions", "bash"]).good().contains("wizard"));
}

#[test]
fn each_subcommand_has_a_manual_page() {
    let directory = Directory::new();
    let pages = directory.path().join("share/man1");
    directory.obvia(&["manual", pages.to_str().unwrap()]).good();
    let page = std::fs::read_to_string(pages.join("obvia-call.1")).unwrap();
    assert!(page.starts_with(".ie") || page.contains(".TH"), "{page}");
    assert!(
        page.contains("Call a method of an exported object") && page.contains("Give up after this many seconds"),
        "{page}"
    );
    assert!(std::fs::read_to_string(pages.join("obvia.1")).unwrap().contains("wizard"));
    let file = pages.join("obvia.1");
    let error = directory.obvia(&["manual", file.to_str().unwrap()]).bad_with(1);
    assert!(error.contains("obvia.1"), "{error}");
}
