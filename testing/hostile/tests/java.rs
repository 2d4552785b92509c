//! Tests of every form of parameter between Rust and Java, with well-behaved peers.

use ground::{Folder, poll};
use native_programs::java::Classes;
use native_programs::{CHECKED, Workshop, folder};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::LazyLock;

/// A program in a test's runtime directory, killed on drop.
struct Program {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Program {
    /// Starts a program, and waits until it prints that it is ready.
    #[track_caller]
    fn ready(command: &mut Command, names: &Path) -> Self {
        let (program, said) = Self::listening(command, names);
        assert_eq!(said, "", "{command:?}");
        program
    }

    /// Starts a program, waits until it is ready, and returns its binding.
    #[track_caller]
    fn listening(command: &mut Command, names: &Path) -> (Self, String) {
        let mut program = Self::start(command, names);
        let mut line = String::new();
        program.output.read_line(&mut line).unwrap();
        let said = line.trim_end().strip_prefix("ready").unwrap_or_else(|| panic!("{command:?}: {line}"));
        (program, said.trim().to_owned())
    }

    fn start(command: &mut Command, names: &Path) -> Self {
        command.env("OBVIA_RUNTIME_DIR", names).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}"));
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// Waits until the program prints a line, runs `work`, and sends the program a newline.
    #[track_caller]
    fn when(&mut self, said: &str, work: impl FnOnce()) {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        assert_eq!(line.trim_end(), said);
        work();
        writeln!(self.child.stdin.as_mut().unwrap()).unwrap();
    }

    /// Closes the program's input, waits for its successful end, and returns the rest of its
    /// output.
    #[track_caller]
    fn finish(mut self) -> String {
        drop(self.child.stdin.take());
        let status = poll("it ends", || self.child.try_wait().unwrap());
        let mut said = String::new();
        self.output.read_to_string(&mut said).unwrap();
        assert!(status.success(), "{status}: {said}");
        said
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the compiled classes, and a runtime directory; `None` without a JDK.
fn scene(name: &str) -> Option<(&'static Classes, Folder)> {
    static CLASSES: LazyLock<Option<Classes>> = LazyLock::new(|| {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("java-calls");
        let home = folder("testing/hostile");
        Classes::build(&place, &["victim.idl", "contexts.idl"].map(|file| home.join(file)), Some(&home.join("java")))
    });
    let classes = CLASSES.as_ref()?;
    // The directory's name is short, because a socket's path must be.
    Some((classes, Folder::new(name)))
}

fn rust(role: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_obvia-hostile"));
    command.arg(role);
    command
}

/// The output of the client in Java against a server with full error information.
const GOOD: &str = "there is nothing to visit (victim, victim.chm 7)\ngood\n";

/// Checks the error information that a client in Rust gets from the server in Java.
#[track_caller]
fn check_failures(binding: &str, names: &Folder) {
    let said = Program::start(rust("failure-reporter").arg(binding), names.path()).finish();
    let visited = r#"there is nothing to visit (E_POINTER) Some("victim") Some(("victim.chm", 7))"#;
    // Over a network, the text for an exception is the name of its class alone.
    let message = if binding.starts_with("ncacn_") { "" } else { ": a thing has a number from 0 on" };
    let threw = format!("the method threw java.lang.IllegalArgumentException{message}");
    assert_eq!(said, format!("{visited}\n{threw} (RPC_E_SERVERFAULT) None None\n"), "{binding}");
}

#[test]
fn java_calls_rust() {
    let Some((classes, names)) = scene("java-calls") else { return };
    let server = Program::ready(&mut rust("server"), names.path());
    let said = Program::start(classes.program("peer.Client").arg("victim"), names.path()).finish();
    assert_eq!(said, GOOD);
    server.finish();
}

#[test]
fn java_calls_cpp() {
    let Some((classes, names)) = scene("java-calls-cpp") else { return };
    let here = folder("testing/hostile");
    let server =
        WORKSHOP.build("hostile-native", CHECKED, &[here.join("victim.idl")], &[here.join("native/victim.cc")]);
    let server = Program::ready(Command::new(server).arg("server"), names.path());
    let said = Program::start(classes.program("peer.Client").arg("victim"), names.path()).finish();
    assert_eq!(said, "there is nothing to visit (null, null 0)\ngood\n");
    server.finish();
}

#[test]
fn rust_calls_java() {
    let Some((classes, names)) = scene("java-serves") else { return };
    let server = Program::ready(classes.program("peer.Server").arg("victim"), names.path());
    let witness = Program::ready(&mut rust("witness"), names.path());
    let said = Program::start(rust("client").args(["victim", "first"]), names.path()).finish();
    // The called object lacks the interface IPair.
    let failed: Vec<&str> = said.lines().filter(|line| !line.contains(" ok ")).collect();
    assert_eq!(failed, ["Pair 0x80004002", "good"], "{said}");
    for answer in
        ["Reverse ok [4, 3, 2, 1]", "Mix ok 1", "Measure ok 4", "Weigh ok 80", "Maybe ok 40", "Visit ok 9", "All ok 4"]
    {
        assert!(said.lines().any(|line| line == answer), "{answer} is not in\n{said}");
    }
    assert_eq!(Program::start(classes.program("peer.Client").arg("victim"), names.path()).finish(), GOOD);
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
    drop(Program::ready(killed, names.path()));
    let left = files(names);
    assert_eq!(left.len(), 4, "{left:?}");
    let next = Program::ready(next, names.path());
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
        let (server, binding) = Program::listening(rust("server").arg(network), names.path());
        assert_eq!(Program::start(&mut java("peer.Client", &binding), names.path()).finish(), GOOD, "{network}");
        server.finish();
        let (server, binding) = Program::listening(&mut java("peer.Server", network), names.path());
        assert_eq!(Program::start(&mut java("peer.Client", &binding), names.path()).finish(), GOOD, "{network}");
        let binding = binding.replacen(']', ",name=victim]", 1);
        let said = Program::start(rust("client").args([&binding, "first"]), names.path()).finish();
        let failed: Vec<&str> = said.lines().filter(|line| !line.contains(" ok ")).collect();
        assert_eq!(failed, ["Pair 0x80004002", "good"], "{said}");
        check_failures(&binding, &names);
        server.finish();
    }
}

#[test]
fn java_network_calls_fail_in_time() {
    let Some((classes, names)) = scene("java-failures") else { return };
    let library = WORKSHOP.java_library();
    for network in NETWORKS {
        let (server, binding) = Program::listening(rust("server").arg(network), names.path());
        let mut client =
            Program::start(classes.networked(&library, "peer.Networked").args(["victim", &binding]), names.path());
        client.when("kill", || drop(server));
        assert_eq!(client.finish(), "good\n", "{network}");
    }
}

/// Makes clients in Rust and Java call one server, which calls the other one and has to pass on
/// deadlines, traces and cancels.
#[track_caller]
fn check_contexts(java: &mut Command, in_java: &str, in_rust: &str, names: &Folder) {
    let said = Program::start(rust("context-client").args([in_java, in_rust]), names.path()).finish();
    assert_eq!(said, "good\n", "{in_java}");
    assert_eq!(Program::start(java.args([in_java, in_rust]), names.path()).finish(), "good\n", "{in_java}");
    let said = Program::start(rust("context-client").args([in_rust, in_java]), names.path()).finish();
    assert_eq!(said, "good\n", "{in_java}");
}

#[test]
fn methods_read_their_callers_deadlines_and_traces() {
    let Some((classes, names)) = scene("java-hears") else { return };
    let first = Program::ready(classes.program("peer.ContextServer").arg("context-server"), names.path());
    let last = Program::ready(&mut rust("context-server"), names.path());
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
        let (first, in_java) =
            Program::listening(java("peer.ContextServer").args(["context-server", network]), names.path());
        let (last, in_rust) = Program::listening(rust("context-server").arg(network), names.path());
        let named = |binding: &str, name: &str| binding.replacen(']', &format!(",name={name}]"), 1);
        let (in_java, in_rust) = (named(&in_java, "context-server"), named(&in_rust, "victim"));
        check_contexts(&mut java("peer.ContextClient"), &in_java, &in_rust, &names);
        first.finish();
        last.finish();
    }
}
