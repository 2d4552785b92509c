//! Tests of activation by registrations in files. Client, server and service may end at any time.

use native_programs::{Workshop, folder};
use obvia::code;
use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::time::Duration;
use torture::CLASS;
use torture::process::{Directory, LATEST, Process, ends, kill, same, within};
use torture::registered::Host;

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");

#[test]
fn concurrent_activations_start_one_server_that_ends_when_unused() {
    let host = Host::new(PROGRAM, &[]);
    let mut service = host.service();
    let mut clients: Vec<_> = (0..4).map(|_| host.process()).collect();
    for client in &mut clients {
        client.say("activate-in-threads 4");
    }
    for client in &mut clients {
        assert_eq!(client.line(), "ok 1");
    }
    let [server] = host.starts()[..] else { panic!("{:?}", host.starts()) };
    assert_eq!(clients[0].number("running"), i64::from(server));
    // The client calls the server directly, without the service.
    assert!(clients[1].good("activate").starts_with("ncacn_vi_shm:oxid-"));
    clients[1].passes_objects();
    service.kill();
    clients[2].passes_objects();
    // A killed client holds no references.
    clients[0].kill();
    for client in &mut clients[1..] {
        client.good("leave");
    }
    ends(server);
    assert_eq!(clients[1].number("running"), 0);
}

#[test]
fn a_killed_server_is_started_again() {
    let host = Host::new(PROGRAM, &[]);
    let mut service = host.service();
    let mut client = host.process();
    for turn in 1..=5 {
        client.good("activate");
        client.good("make 1");
        assert_eq!(host.starts().len(), turn);
        kill(*host.starts().last().unwrap());
        let why = client.bad("add 7");
        assert!(why.contains("RPC_E_DISCONNECTED"), "{why}");
        client.good("drop");
    }
    client.good("activate");
    client.passes_objects();
    let (files, threads) = (service.open_files(), service.threads());
    kill(*host.starts().last().unwrap());
    client.good("activate");
    // Earlier servers have left no file descriptors and threads in the service.
    within(LATEST, || {
        let now = (service.open_files(), service.threads());
        if now.0 <= files && now.1 <= threads { Ok(()) } else { Err(format!("{now:?}, before {:?}", (files, threads))) }
    });
    service.finish();
}

#[test]
fn a_process_that_removes_stale_files_is_not_taken_for_a_server() {
    let host = Host::new(PROGRAM, &["wait"]);
    let _service = host.service();
    let mut client = host.process();
    client.say("activate");
    within(LATEST, || same(host.starts().len(), 1));
    let path = host.directory().path().join(format!("class-{:032x}.lock", CLASS.to_u128()));
    for _ in 0..20 {
        // No event shows that the service has checked, so the test sleeps briefly to give it time
        // for a check.
        let look = || std::thread::sleep(Duration::from_millis(5));
        let file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&path).unwrap();
        file.lock().unwrap();
        look();
        // A process that takes the name may have removed the file.
        let _ = fs::remove_file(&path);
        drop(file);
        look();
    }
    host.go();
    assert!(client.line().starts_with("ok ncacn_vi_shm:"));
    assert_eq!(host.starts().len(), 1);
}

#[test]
fn a_restarted_activation_service_finds_running_servers() {
    let host = Host::new(PROGRAM, &[]);
    let mut service = host.service();
    let mut client = host.process();
    client.good("activate");
    service.kill();
    client.good("activate");
    let mut other = host.process();
    other.good("activate");
    assert_eq!(host.starts().len(), 1);
    // Without the service, no server is started.
    kill(host.starts()[0]);
    let why = other.bad("activate");
    assert!(why.contains("obvia scm") && why.contains("REGDB_E_CLASSNOTREG"), "{why}");
    let mut service = host.service();
    other.good("activate");
    other.passes_objects();
    assert_eq!(host.starts().len(), 2);
    let taken = host.process().bad("scm");
    assert!(taken.contains("RPC_S_DUPLICATE_ENDPOINT"), "{taken}");
    service.finish();
}

#[test]
fn activation_errors_explain_why_no_server_started() {
    let host = Host::new(PROGRAM, &["refuse"]);
    let _refusing = host.service();
    let mut client = host.process();
    let why = client.bad("activate");
    let said = "; its last line of output: the store is locked (CO_E_SERVER_EXEC_FAILURE)";
    assert!(why.starts_with(PROGRAM) && why.contains("exit status: 7") && why.ends_with(said), "{why}");
    let hanging = Host::new(PROGRAM, &["hang"]);
    let mut service = hanging.service();
    let mut client = hanging.process();
    let why = client.bad("activate");
    let said = "; its last line of output: looking for the store (CO_E_SERVER_EXEC_FAILURE)";
    assert!(why.contains("within 5 seconds, and was killed") && why.ends_with(said), "{why}");
    ends(hanging.starts()[0]);
    // A client's timeout ends the client's wait. A started server that has not registered its class
    // ends with the service.
    client.good("timeout 2000");
    let why = client.bad("activate");
    assert!(why.contains("RPC_E_TIMEOUT"), "{why}");
    within(LATEST, || same(hanging.starts().len(), 2));
    service.kill();
    ends(hanging.starts()[1]);
}

#[test]
fn activation_errors_name_the_program_that_failed_to_start() {
    let host = Host::new(PROGRAM, &["die"]);
    let _service = host.service();
    let mut client = host.process();
    let why = client.bad("activate");
    assert!(why.contains("signal: 6"), "{why}");
    host.register(&format!("class = {CLASS:?}\nprogram = /nowhere/server\n"));
    let why = client.bad("activate");
    assert!(why.contains("/nowhere/server: cannot be started: No such file"), "{why}");
    host.register("class = nothing\n");
    let why = client.bad("activate");
    assert!(why.contains(".class: line 1: `class = nothing` is not a CLSID"), "{why}");
    fs::remove_dir_all(host.directory().classes()).unwrap();
    let why = client.bad("activate");
    assert!(why.contains("is not registered on this host") && why.contains("REGDB_E_CLASSNOTREG"), "{why}");
    assert_eq!(code::REGDB_E_CLASSNOTREG.0, 0x8004_0154_u32.cast_signed());
}

#[test]
fn registrations_can_name_another_host() {
    let there = Directory::new();
    let mut server = there.start(PROGRAM, &[]);
    server.good("register");
    let binding = server.good("listen ncacn_ip_tcp:127.0.0.1");
    let here = Host::new(PROGRAM, &[]);
    here.register(&format!("class = {CLASS:?}\nhost = {binding}\n"));
    let mut client = here.process();
    assert!(client.good("activate").starts_with("ncacn_ip_tcp:127.0.0.1["));
    client.passes_objects();
    let why = client.bad("activate-in host");
    assert!(why.contains("REGDB_E_CLASSNOTREG"), "{why}");
    // A server that runs on this host is preferred to the registered host.
    let mut near = here.process();
    near.good("register");
    assert!(client.good("activate").starts_with("ncacn_vi_shm:oxid-"));
    assert!(client.good("activate-in network").starts_with("ncacn_ip_tcp:"));
}

#[test]
fn only_the_activation_service_starts_servers() {
    let host = Host::new(PROGRAM, &[]);
    let mut client = host.process();
    let mut service = host.service();
    service.good("no-scm");
    let why = client.bad("activate");
    assert!(why.contains("obvia scm"), "{why}");
    assert_eq!(host.starts().len(), 0);
    service.good("scm");
    client.good("activate");
}

#[test]
fn unused_cpp_libraries_are_unloaded() {
    static WORKSHOP: Workshop = Workshop::new(env!("CARGO_TARGET_TMPDIR"));
    let flags = ["-fPIC", "-shared", "-fvisibility=hidden"];
    let interfaces = [folder("testing/torture/torture.idl")];
    let library = WORKSHOP.build("torture-library", &flags, &interfaces, &[folder("testing/torture/cpp/library.cc")]);
    let library = library.canonicalize().unwrap();
    let host = Host::new(PROGRAM, &[]);
    host.register(&format!("class = {CLASS:?}\nlibrary = {}\n", library.display()));
    let mut client = host.process();
    let is_loaded = |client: &Process| {
        let maps = fs::read_to_string(format!("/proc/{}/maps", client.id())).unwrap();
        maps.contains(library.to_str().unwrap())
    };
    for _ in 0..3 {
        assert!(!is_loaded(&client));
        assert_eq!(client.good("activate-in process"), "in process");
        assert_eq!((client.number("add-to-kept 7"), client.number("add-to-kept 7")), (5007, 5014));
        // An object keeps the library loaded.
        client.good("free-libraries");
        assert!(is_loaded(&client));
        assert_eq!(client.number("add-to-kept 7"), 5021);
        client.good("leave");
        assert!(is_loaded(&client));
        client.good("free-libraries");
    }
    assert!(!is_loaded(&client));
}

/// Builds the library of factories with the test's profile, and returns its path.
fn library() -> PathBuf {
    let folder = native_programs::cargo::build(&["--package", "torture", "--example", "torture-library"]);
    folder.join("examples/libtorture_library.so")
}

#[test]
fn class_libraries_create_objects_in_the_process_of_the_caller() {
    let host = Host::new(PROGRAM, &[]);
    let text = format!(
        "class = {CLASS:?}\nlibrary = {}\nprogram = {PROGRAM}\nargument = serve\nidle-timeout = 1\n",
        library().display()
    );
    host.register(&text);
    let _service = host.service();
    let mut client = host.process();
    assert_eq!(client.good("activate-in process"), "in process");
    client.good("make 3");
    assert_eq!(client.number("add 7"), 7);
    // The library's objects can be passed to other processes, like all objects.
    let mut other = host.process();
    client.good("free-libraries");
    client.good("make 1");
    assert!(other.good("activate-in host").starts_with("ncacn_vi_shm:oxid-"));
    other.passes_objects();
    let why = other.bad("activate-in network");
    assert!(why.contains("for these contexts") && why.contains("REGDB_E_CLASSNOTREG"), "{why}");
    for (library, expected) in
        [("/nowhere.so", "CO_E_DLLNOTFOUND"), ("/lib/x86_64-linux-gnu/libc.so.6", "CO_E_ERRORINDLL")]
    {
        host.register(&format!("class = {CLASS:?}\nlibrary = {library}\n"));
        let why = client.bad("activate-in process");
        assert!(why.contains(library) && why.contains(expected), "{why}");
    }
}
