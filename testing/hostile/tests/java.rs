//! Tests of every form of parameter between Rust and Java, with well-behaved peers.

use ground::{Folder, Process};
use native_programs::java::Classes;
use native_programs::{CHECKED, Workshop, folder};
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

/// Starts a program in a test's runtime directory.
#[track_caller]
fn start(command: &mut Command, names: &Folder) -> Process {
    Process::start(command.env("OBVIA_RUNTIME_DIR", names.path()))
}

/// Starts a program, waits until it is ready, and returns its binding.
#[track_caller]
fn listening(command: &mut Command, names: &Folder) -> (Process, String) {
    let mut program = start(command, names);
    let line = program.line();
    let said = line.strip_prefix("ready").unwrap_or_else(|| panic!("{command:?}: {line}"));
    (program, said.trim().to_owned())
}

/// Starts a program, and waits until it prints that it is ready.
#[track_caller]
fn ready(command: &mut Command, names: &Folder) -> Process {
    let (program, said) = listening(command, names);
    assert_eq!(said, "", "{command:?}");
    program
}

/// Runs a program, which must succeed, and returns its output.
#[track_caller]
fn run(command: &mut Command, names: &Folder) -> Vec<String> {
    start(command, names).finish()
}

/// Returns the compiled classes, and a runtime directory; `None` without a JDK.
fn scene(name: &str) -> Option<(&'static Classes, Folder)> {
    static CLASSES: LazyLock<Option<Classes>> = LazyLock::new(|| {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("java-calls");
        let home = folder("testing/hostile");
        Classes::build(&place, &["victim.idl", "contexts.idl"].map(|file| home.join(file)), Some(&home.join("java")))
    });
    let classes = CLASSES.as_ref()?;
    // The directory's name is short, because a socket's path must be short.
    Some((classes, Folder::new(name)))
}

fn rust(role: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_obvia-hostile"));
    command.arg(role);
    command
}

/// The output of the client in Java against a server with full error information.
const GOOD: [&str; 2] = ["there is nothing to visit (victim, victim.chm 7)", "good"];

/// Checks the error information that a client in Rust gets from the server in Java.
#[track_caller]
fn check_failures(binding: &str, names: &Folder) {
    let said = run(rust("failure-reporter").arg(binding), names);
    let visited = r#"there is nothing to visit (E_POINTER) Some("victim") Some(("victim.chm", 7))"#;
    // Over a network, the text for an exception is the name of its class alone.
    let message = if binding.starts_with("ncacn_") { "" } else { ": a thing has a number from 0 on" };
    let threw = format!("the method threw java.lang.IllegalArgumentException{message}");
    assert_eq!(said, [visited.to_owned(), format!("{threw} (RPC_E_SERVERFAULT) None None")], "{binding}");
}

#[test]
fn java_calls_rust() {
    let Some((classes, names)) = scene("java-calls") else { return };
    let mut server = ready(&mut rust("server"), &names);
    let said = run(classes.program("peer.Client").arg("victim"), &names);
    assert_eq!(said, GOOD);
    server.finish();
}

#[test]
fn java_calls_cpp() {
    let Some((classes, names)) = scene("java-calls-cpp") else { return };
    let here = folder("testing/hostile");
    let server =
        WORKSHOP.build("hostile-native", CHECKED, &[here.join("victim.idl")], &[here.join("native/victim.cc")]);
    let mut server = ready(Command::new(server).arg("server"), &names);
    let said = run(classes.program("peer.Client").arg("victim"), &names);
    assert_eq!(said, ["there is nothing to visit (null, null 0)", "good"]);
    server.finish();
}

#[test]
fn rust_calls_java() {
    let Some((classes, names)) = scene("java-serves") else { return };
    let mut server = ready(classes.program("peer.Server").arg("victim"), &names);
    let mut witness = ready(&mut rust("witness"), &names);
    let said = run(rust("client").args(["victim", "good"]), &names);
    // The called object lacks the interface IPair.
    let failed: Vec<&String> = said.iter().filter(|line| !line.contains(" ok ")).collect();
    assert_eq!(failed, ["Pair 0x80004002", "good"], "{said:#?}");
    for answer in
        ["Reverse ok [4, 3, 2, 1]", "Mix ok 1", "Measure ok 4", "Weigh ok 80", "Maybe ok 40", "Visit ok 9", "All ok 4"]
    {
        assert!(said.iter().any(|line| line == answer), "{answer} is not in {said:#?}");
    }
    assert_eq!(run(classes.program("peer.Client").arg("victim"), &names), GOOD);
    check_failures("victim", &names);
    witness.finish();
    server.finish();
}

static WORKSHOP: Workshop = Workshop::new(env!("CARGO_TARGET_TMPDIR"));

/// The string bindings of calls: in FLAT over virtual interfaces, and in NDR over TCP, as in DCOM.
const NETWORKS: [&str; 2] = ["ncacn_vi_udp:127.0.0.1", "ncacn_ip_tcp:127.0.0.1[,transfer=ndr]"];

/// Lists the runtime directory. Each server has two files for its endpoint, and two for its name.
fn files(names: &Folder) -> Vec<String> {
    let files = std::fs::read_dir(names.path()).unwrap();
    let mut files: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    files
}

/// Checks that a server of another name and language removes the files of a killed server.
#[track_caller]
fn clears_up(killed: &mut Command, next: &mut Command, names: &Folder) {
    drop(ready(killed, names));
    let left = files(names);
    assert_eq!(left.len(), 4, "{left:?}");
    let mut next = ready(next, names);
    let found = files(names);
    assert!(found.len() == 4 && !found.iter().any(|file| left.contains(file)), "{left:?} became {found:?}");
    next.finish();
}

#[test]
fn files_of_killed_servers_are_removed_across_languages() {
    let Some((classes, names)) = scene("java-leavings") else { return };
    let java = |name| {
        let mut command = classes.program("peer.Server");
        command.arg(name);
        command
    };
    clears_up(&mut java("killed"), &mut rust("server"), &names);
    clears_up(&mut rust("server"), &mut java("next"), &names);
    clears_up(&mut java("killed"), &mut java("next"), &names);
}

#[test]
fn java_and_rust_call_each_other_over_networks() {
    let Some((classes, names)) = scene("java-networks") else { return };
    let library = WORKSHOP.java_library();
    for network in NETWORKS {
        let java = |class, binding: &str| {
            let mut command = classes.networked(&library, class);
            command.args(["victim", binding]);
            command
        };
        let (mut server, binding) = listening(rust("server").arg(network), &names);
        assert_eq!(run(&mut java("peer.Client", &binding), &names), GOOD, "{network}");
        server.finish();
        let (mut server, binding) = listening(&mut java("peer.Server", network), &names);
        assert_eq!(run(&mut java("peer.Client", &binding), &names), GOOD, "{network}");
        let binding = binding.replacen(']', ",name=victim]", 1);
        let said = run(rust("client").args([&binding, "good"]), &names);
        let failed: Vec<&String> = said.iter().filter(|line| !line.contains(" ok ")).collect();
        assert_eq!(failed, ["Pair 0x80004002", "good"], "{said:#?}");
        check_failures(&binding, &names);
        server.finish();
    }
}

#[test]
fn java_network_calls_fail_in_time() {
    let Some((classes, names)) = scene("java-failures") else { return };
    let library = WORKSHOP.java_library();
    for network in NETWORKS {
        let (server, binding) = listening(rust("server").arg(network), &names);
        let mut client = start(classes.networked(&library, "peer.Networked").args(["victim", &binding]), &names);
        assert_eq!(client.line(), "kill");
        drop(server);
        client.say("");
        assert_eq!(client.finish(), ["good"], "{network}");
    }
}

/// Makes clients in Rust and Java call one server. This server calls the other server, and has to
/// pass on deadlines, traces and cancels.
#[track_caller]
fn check_contexts(java: &mut Command, in_java: &str, in_rust: &str, names: &Folder) {
    let said = run(rust("context-client").args([in_java, in_rust]), names);
    assert_eq!(said, ["good"], "{in_java}");
    assert_eq!(run(java.args([in_java, in_rust]), names), ["good"], "{in_java}");
    let said = run(rust("context-client").args([in_rust, in_java]), names);
    assert_eq!(said, ["good"], "{in_java}");
}

#[test]
fn methods_read_their_callers_deadlines_and_traces() {
    let Some((classes, names)) = scene("java-hears") else { return };
    let mut first = ready(classes.program("peer.ContextServer").arg("context-server"), &names);
    let mut last = ready(&mut rust("context-server"), &names);
    check_contexts(&mut classes.program("peer.ContextClient"), "context-server", "victim", &names);
    first.finish();
    last.finish();
}

#[test]
fn methods_see_the_deadline_and_trace_of_their_caller_over_networks() {
    let Some((classes, names)) = scene("java-hears-networks") else { return };
    let library = WORKSHOP.java_library();
    for network in NETWORKS.iter().chain(&["ncacn_ip_tcp:127.0.0.1"]) {
        let java = |class| classes.networked(&library, class);
        let (mut first, in_java) = listening(java("peer.ContextServer").args(["context-server", network]), &names);
        let (mut last, in_rust) = listening(rust("context-server").arg(network), &names);
        let named = |binding: &str, name: &str| binding.replacen(']', &format!(",name={name}]"), 1);
        let (in_java, in_rust) = (named(&in_java, "context-server"), named(&in_rust, "victim"));
        check_contexts(&mut java("peer.ContextClient"), &in_java, &in_rust, &names);
        first.finish();
        last.finish();
    }
}
