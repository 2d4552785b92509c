//! Tests of classes, accounts and marshaled references between Rust and Java. Each language is
//! tested as client and as server.

use ground::{Folder, Process, until};
use native_programs::java::Classes;
use native_programs::{Workshop, folder};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

const USER: [&str; 3] = ["--user", "user", "a secret"];
/// The bindings, with and without protection, and the caller that the server in Java reports for
/// each.
const NETWORKS: [(&str, &str); 5] = [
    ("ncacn_ip_tcp:127.0.0.1", "null/null NONE"),
    ("ncacn_ip_tcp:127.0.0.1[,security=privacy]", "/user PRIVACY"),
    ("ncacn_vi_udp:127.0.0.1[,security=integrity]", "/user INTEGRITY"),
    ("ncacn_ip_tcp:127.0.0.1[,transfer=ndr,security=integrity]", "/user INTEGRITY"),
    ("ncacn_vi_udp:127.0.0.1[,security=connect]", "/user CONNECT"),
];
/// The program that starts servers in Java.
const SETPRIV: &str = "/usr/bin/setpriv";
const CLASS: &str = "5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2b01";

static WORKSHOP: Workshop = Workshop::new(env!("CARGO_TARGET_TMPDIR"));
static CLASSES: LazyLock<Option<Classes>> = LazyLock::new(|| {
    let here = folder("testing/interop");
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("interop-java");
    Classes::build(&place, &[here.join("idl/objects.idl")], Some(&here.join("java")))
});

fn rust(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_interop-objects"));
    command.args(words);
    command
}

/// Returns the program in Java without native code; `None` without a JDK.
fn java(words: &[&str]) -> Option<Command> {
    let mut command = CLASSES.as_ref()?.program("interop.Objects");
    command.args(words);
    Some(command)
}

fn networked(words: &[&str]) -> Option<Command> {
    static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| WORKSHOP.java_library());
    let mut command = CLASSES.as_ref()?.networked(&LIBRARY, "interop.Objects");
    command.args(words);
    Some(command)
}

/// The folders of a test's programs: the runtime directory, and the registrations.
struct Scene {
    place: Folder,
}

impl Scene {
    fn new(name: &str) -> Self {
        let place = Folder::new(name);
        for folder in [place.join("names"), place.join("classes")] {
            DirBuilder::new().mode(0o700).create(folder).unwrap();
        }
        Self { place }
    }

    fn see(&self, mut command: Command) -> Command {
        command.env("OBVIA_RUNTIME_DIR", self.place.join("names")).env("OBVIA_CLASSES", self.place.join("classes"));
        command
    }

    #[track_caller]
    fn start(&self, command: Command) -> Process {
        Process::start(&mut self.see(command))
    }

    /// Runs a client, which must succeed, and returns its output.
    #[track_caller]
    fn call(&self, command: Command) -> Vec<String> {
        self.start(command).finish()
    }
}

/// Waits until the class object is a server's only object. The server must be ready.
#[track_caller]
fn becomes_empty(server: &mut Process) {
    until("there are no objects", || {
        server.say("");
        server.line() == "1"
    });
}

#[test]
fn java_and_rust_classes_are_found_on_their_host() {
    let scene = Scene::new("java-classes");
    let Some(command) = java(&[]) else { return };
    let mut server = scene.start(command);
    becomes_empty(&mut server);
    assert_eq!(scene.call(rust(&["--client"])), ["a counter", "a counter"]);
    assert_eq!(scene.call(java(&["--client"]).unwrap()), ["a counter", "a counter"]);
    becomes_empty(&mut server);
    drop(server);
    let mut server = scene.start(rust(&[]));
    becomes_empty(&mut server);
    assert_eq!(scene.call(java(&["--client"]).unwrap()), ["a counter", "a counter"]);
}

#[test]
fn java_servers_are_started_on_demand_and_end_when_idle() {
    let scene = Scene::new("java-started");
    let Some(command) = java(&["--idle", "10000"]) else { return };
    // The program setpriv clears the server's death signal, so that the server survives the
    // service.
    let words = ["--pdeathsig", "clear", command.get_program().to_str().unwrap()].map(str::to_owned);
    let words = words.into_iter().chain(command.get_args().map(|word| word.to_str().unwrap().to_owned()));
    let lines = words.map(|word| format!("argument = {word}\n")).collect::<String>();
    let text = format!("class = {CLASS}\nprogram = {SETPRIV}\n{lines}");
    std::fs::write(scene.place.join("classes").join(format!("{CLASS}.class")), text).unwrap();
    // Without a service, activation fails.
    let mut alone = scene.see(java(&["--client"]).unwrap());
    let said = String::from_utf8(alone.output().unwrap().stderr).unwrap();
    assert!(said.contains("the SCM that could start one does not run"), "{said}");
    let mut service = scene.start(rust(&["--service"]));
    assert_eq!(service.line(), "serving");
    assert_eq!(scene.call(rust(&["--client"])), ["a counter"]);
    assert_eq!(scene.call(java(&["--client"]).unwrap()), ["a counter"]);
    drop(service);
    assert_eq!(scene.call(rust(&["--client"])), ["a counter"], "the server needs no service");
    // The server's end removes the class's name.
    let is_there = || {
        let mut names = std::fs::read_dir(scene.place.join("names")).unwrap().map(|entry| entry.unwrap().file_name());
        names.any(|name| name.to_string_lossy().starts_with("class-"))
    };
    until("it ends when nobody uses it", || !is_there());
}

#[test]
fn callers_over_a_network_are_identified() {
    let (scene, elsewhere) = (Scene::new("java-callers"), Scene::new("java-callers-elsewhere"));
    let listened = NETWORKS.map(|(binding, _)| binding);
    let Some(command) = networked(&[&USER[..], &["--tell"], &listened].concat()) else { return };
    let mut in_java = scene.start(command);
    let mut in_rust = scene.start(rust(&[&USER[..], &listened].concat()));
    let told = NETWORKS.map(|(_, caller)| (in_java.line(), caller));
    for (there, caller) in &told {
        assert_eq!(elsewhere.call(rust(&[&["--client"], &USER[..], &[there]].concat())), [*caller; 2], "{there}");
    }
    let others = NETWORKS.map(|_| in_rust.line());
    let places: Vec<&str> = told.iter().map(|(there, _)| there).chain(&others).map(String::as_str).collect();
    let said = elsewhere.call(networked(&[&["--client"], &USER[..], &places].concat()).unwrap());
    let meant = told.iter().map(|(_, caller)| *caller).chain(others.iter().map(|_| "a counter"));
    assert_eq!(said, meant.flat_map(|name| [name; 2]).collect::<Vec<_>>());
}

#[test]
fn marshaled_references_are_unmarshaled_across_languages() {
    let (scene, elsewhere) = (Scene::new("java-bytes"), Scene::new("java-bytes-elsewhere"));
    let words = ["--marshal", "ncacn_ip_tcp:127.0.0.1", "ncacn_vi_udp:127.0.0.1"];
    let Some(command) = networked(&words) else { return };
    let (mut in_java, mut in_rust) = (scene.start(command), scene.start(rust(&words)));
    let [one, other, of_rust] = [in_java.line(), in_java.line(), in_rust.line()];
    assert_eq!(elsewhere.call(rust(&["--unmarshal", &one])), ["a counter"]);
    assert_eq!(elsewhere.call(networked(&["--unmarshal", &other, &of_rust]).unwrap()), ["a counter"; 2]);
}

#[test]
fn unbuilt_networks_of_the_java_library_are_reported() {
    if native_programs::cargo::HAS_FABRIC {
        println!("the library has every network here: cargo xtask test --thorough plain has one without");
        return;
    }
    let Some(mut command) = networked(&["ncacn_vi_fabric:127.0.0.1"]) else { return };
    let said = String::from_utf8(command.stdin(Stdio::null()).output().unwrap().stderr).unwrap();
    assert!(said.contains("built without ncacn_vi_fabric: build it with the feature `fabric`"), "{said}");
}
