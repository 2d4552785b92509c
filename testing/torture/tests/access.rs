//! Tests of access control, on every transport: calls without permission are refused and logged
//! before a method runs, and other clients go on.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;
use torture::process::{Directory, LATEST, Process};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
const DENIED: &str = "E_ACCESSDENIED";
/// The bindings of the servers.
const BINDINGS: [&str; 10] = [
    "ncacn_vi_shm:[there]",
    "ncalrpc:[there]",
    "ncalrpc:[there,transfer=ndr]",
    "ncacn_ip_tcp:127.0.0.1",
    "ncacn_ip_tcp:127.0.0.1[,transfer=ndr]",
    "ncacn_ip_tcp:127.0.0.1[,transfer=ndr64]",
    "ncacn_vi_udp:127.0.0.1",
    "ncadg_ip_udp:127.0.0.1",
    "ncacn_ip_tcp:127.0.0.1[,security=privacy]",
    "ncacn_vi_udp:127.0.0.1[,security=connect]",
];

/// Starts a server that records refusals, and returns it with the binding of its export.
fn serve(directory: &Directory, listening: &str) -> (Process, String) {
    let mut server = directory.start(PROGRAM, &[]);
    server.good("audit");
    server.good("accounts anna one-secret otto another-secret");
    server.good("export thing");
    let binding = server.good(&format!("listen {listening}"));
    (server, binding.replace(']', ",name=thing]"))
}

fn client(directory: &Directory, user: &str) -> Process {
    let mut client = directory.start(PROGRAM, &[]);
    let password = if user == "anna" { "one-secret" } else { "another-secret" };
    client.good(&format!("credentials {user} {password}"));
    client
}

#[track_caller]
fn denied(process: &mut Process, order: &str) {
    let answer = process.bad(order);
    assert!(answer.contains(DENIED), "{order}: {answer}");
}

#[test]
fn access_rules_apply_from_the_next_call_on_every_transport() {
    for listening in BINDINGS {
        let directory = Directory::new();
        let (mut server, binding) = serve(&directory, listening);
        println!("{binding}");
        let mut client = client(&directory, "anna");
        client.good(&format!("connect {binding}"));
        client.good("make 2");
        assert_eq!(client.number("add 5"), 5);
        // No object has an access rule of its own.
        server.good("access all nobody");
        for order in ["add 1", "make 1", "callback 5", "echo 100000", "add 1"] {
            denied(&mut client, order);
        }
        let refusals = server.good("refusals");
        for (method, interface) in [(5, "ICounter"), (11, "ICounter"), (7, "ICounter"), (3, "IFactory")] {
            assert!(refusals.contains(&format!("refused method {method} of {interface} to ")), "{refusals}");
        }
        assert_eq!(refusals.matches("refused").count(), 5, "{refusals}");
        // An object's own rule replaces the default rule.
        server.good("access exported everybody");
        client.good("make 1");
        denied(&mut client, "add 1");
        server.good("access exported nobody");
        server.good("access all everybody");
        denied(&mut client, "make 1");
        assert_eq!(client.number("add 0"), 5, "no method ran that was refused");
        server.good("access exported");
        client.good("make 1");
        assert_eq!(server.number("live"), 4);
        // References can still be released without the permission to call.
        server.good("access all nobody");
        client.good("leave");
        server.becomes(LATEST, "live", 0);
    }
}

#[test]
fn names_of_forbidden_objects_are_refused() {
    for listening in BINDINGS {
        let directory = Directory::new();
        let (mut server, binding) = serve(&directory, listening);
        let mut client = client(&directory, "anna");
        server.good("access exported nobody");
        denied(&mut client, &format!("connect {binding}"));
        let refusals = server.good("refusals");
        assert!(refusals.starts_with("refused the object thing to "), "{refusals}");
        server.good("access exported everybody");
        client.good(&format!("connect {binding}"));
        client.passes_objects();
    }
}

#[test]
fn access_rules_distinguish_accounts_and_protection_levels() {
    for (listening, is_local) in
        [("ncacn_ip_tcp:127.0.0.1", false), ("ncacn_ip_tcp:127.0.0.1[,transfer=ndr]", false), ("ncalrpc:[there]", true)]
    {
        let directory = Directory::new();
        let (mut server, binding) = serve(&directory, listening);
        server.good("access all integrity=anna");
        println!("{binding}");
        let with = |option: &str| format!("connect {}", binding.replace(']', &format!(",{option}]")));
        let (mut anna, mut otto) = (client(&directory, "anna"), client(&directory, "otto"));
        // On the same host, clients call returned objects over shared memory, which protects no
        // calls and authenticates no accounts.
        for level in ["security=integrity", "security=privacy"] {
            anna.good(&with(level));
            anna.good("make 1");
            denied(&mut otto, &with(level));
        }
        assert_eq!(server.number("live"), 2);
        let refusals = server.good("refusals");
        let from = if is_local { format!("process {} of user 0", otto.id()) } else { "host 127.0.0.1".to_owned() };
        for level in ["integrity", "privacy"] {
            let line = format!("refused the object thing to {from}, \\otto by {level}");
            assert!(refusals.contains(&line), "{refusals}");
        }
        for level in ["security=none", "security=connect"] {
            denied(&mut client(&directory, "anna"), &with(level));
        }
        // On existing connections, one client goes on, and the other client is refused.
        server.good("access all integrity=anna integrity=otto");
        for process in [&mut anna, &mut otto] {
            process.good(&with("security=integrity"));
            process.good("make 1");
        }
        server.good("access all integrity=otto");
        denied(&mut anna, "make 1");
        otto.good("make 1");
        assert_eq!(server.number("live"), 5);
        server.good("access all everybody");
        anna.good("make 1");
    }
}

#[test]
fn access_rules_distinguish_accounts_over_virtual_interfaces() {
    let directory = Directory::new();
    let (mut server, binding) = serve(&directory, "ncacn_vi_udp:127.0.0.1[,security=connect]");
    server.good("access all connect=anna");
    let (mut anna, mut otto) = (client(&directory, "anna"), client(&directory, "otto"));
    anna.good(&format!("connect {binding}"));
    anna.good("make 1");
    denied(&mut otto, &format!("connect {binding}"));
    assert_eq!(server.good("refusals"), "refused the object thing to host 127.0.0.1, \\otto by connect");
    server.good("access all connect=anna connect=otto");
    otto.good(&format!("connect {binding}"));
    otto.good("make 1");
    // The rule changes for existing connections.
    server.good("access all connect=otto");
    denied(&mut anna, "make 1");
    otto.good("make 1");
    // The level connect authenticates the client, but does not protect calls.
    server.good("access all integrity=otto");
    denied(&mut otto, "make 1");
    server.good("refusals");
    server.good("access all everybody");
    anna.good("make 1");
    let mut wrong = client(&directory, "anna");
    wrong.good("credentials anna wrong");
    denied(&mut wrong, &format!("connect {binding}"));
    denied(&mut wrong, &format!("connect {}", binding.replace(",security=connect", "")));
    let refusals = server.good("refusals");
    let line = "refused a connection without proof of identity to host 127.0.0.1";
    assert_eq!(refusals, format!("{line}; {line}"));
}

#[test]
fn access_rules_apply_to_functions() {
    for listening in BINDINGS {
        let directory = Directory::new();
        let (mut server, binding) = serve(&directory, listening);
        let binding = binding.replace(",name=thing", "");
        println!("{binding}");
        server.good("serve-tally everybody");
        let mut client = client(&directory, "anna");
        client.good(&format!("bind-tally {binding}"));
        assert_eq!(client.number("tally 2"), 2);
        server.good("set-tally-access nobody");
        denied(&mut client, "tally 3");
        let refusals = server.good("refusals");
        let is_one = ["refused method 3 of Tally to ", "refused method 0 of Tally to "]
            .iter()
            .any(|line| refusals.starts_with(line));
        assert!(is_one && refusals.matches("refused").count() == 1, "{refusals}");
        server.good("set-tally-access everybody");
        assert_eq!(client.number("tally 1"), 3, "no function ran that was refused");
    }
}

/// The level is checked before any rule applies.
#[test]
fn refused_protection_levels_are_logged() {
    let directory = Directory::new();
    let (mut server, binding) = serve(&directory, "ncacn_ip_tcp:127.0.0.1[,security=integrity]");
    let mut client = client(&directory, "anna");
    denied(&mut client, &format!("connect {}", binding.replace("=integrity", "=connect")));
    let refusals = server.good("refusals");
    assert!(refusals.contains(" to host 127.0.0.1, \\anna by connect"), "{refusals}");
    denied(&mut client, &format!("connect {}", binding.replace("=integrity", "=none")));
    let refusals = server.good("refusals");
    assert!(refusals.starts_with("refused method ") && refusals.ends_with(" to host 127.0.0.1"), "{refusals}");
    client.good("credentials anna wrong");
    denied(&mut client, &format!("connect {binding}"));
    let refusals = server.good("refusals");
    assert!(refusals.contains("refused a connection without proof of identity to host 127.0.0.1"), "{refusals}");
    client.good("credentials anna one-secret");
    client.good(&format!("connect {binding}"));
    assert_eq!(server.good("refusals"), "");
}

#[test]
fn callers_without_permission_cannot_activate() {
    for listening in BINDINGS {
        let directory = Directory::new();
        let (mut server, binding) = serve(&directory, listening);
        // Clients without permission do not learn whether the class exists.
        server.good("access class nobody");
        let mut client = client(&directory, "anna");
        denied(&mut client, &format!("activate {binding}"));
        server.good("register");
        denied(&mut client, &format!("activate {binding}"));
        let refusals = server.good("refusals");
        let line = "refused objects of the class {3F0D52C1-77A4-4C1E-9A0B-0B512F6E9D40} to ";
        assert_eq!(refusals.matches(line).count(), 2, "{refusals}");
        // The class object is created at the registration.
        assert_eq!(server.number("made"), 1, "nothing was made for those who were refused");
        // Two rules do not apply to a class with a rule of its own: the rule for all classes, and
        // the rule for calls.
        server.good("access classes everybody");
        denied(&mut client, &format!("activate {binding}"));
        server.good("access class everybody");
        client.good(&format!("activate {binding}"));
        client.passes_objects();
        assert_eq!(server.number("made"), 2);
        server.good("access class host=nowhere");
        denied(&mut client, &format!("activate {binding}"));
        // Existing objects stay callable.
        assert_eq!(client.number("add 0"), 7);
    }
}

#[test]
fn call_rules_apply_to_activation_by_default() {
    let directory = Directory::new();
    let (mut server, binding) = serve(&directory, "ncacn_vi_shm:[there]");
    server.good("register");
    server.good("access all nobody");
    let mut client = client(&directory, "anna");
    denied(&mut client, &format!("activate {binding}"));
    assert_eq!(server.number("made"), 1);
    server.good("access classes own");
    // The object is created, but the client has no permission to call it.
    denied(&mut client, &format!("activate {binding}"));
    let refusals = server.good("refusals");
    assert!(refusals.contains("refused method 4 of IFactory"), "{refusals}");
    server.good("access all own");
    client.good(&format!("activate {binding}"));
}

/// Calls a method that panics, and checks that the error hides the panic's text.
#[track_caller]
fn is_told_nothing_of_a_panic(client: &mut Process) {
    let why = client.bad("fail 0");
    assert!(why.contains("E_UNEXPECTED") && !why.contains("panic"), "{why}");
}

#[test]
fn panic_texts_reach_local_callers_only_if_the_server_permits() {
    for binding in ["ncacn_vi_shm:[there]", "ncalrpc:[there]", "ncalrpc:[there,transfer=ndr]", "ncacn_ip_tcp:127.0.0.1"]
    {
        let directory = Directory::new();
        let mut server = directory.start(PROGRAM, &[]);
        server.good("export thing");
        let binding = server.good(&format!("listen {binding}")).replace(']', ",name=thing]");
        let mut client = directory.start(PROGRAM, &[]);
        client.good(&format!("connect {binding}"));
        client.good("make 1");
        server.good("panic-texts on");
        if binding.starts_with("ncacn_ip_tcp") {
            is_told_nothing_of_a_panic(&mut client);
        } else {
            let why = client.bad("fail 0");
            assert!(why.contains("the counter was told to panic"), "{binding}: {why}");
        }
        server.good("panic-texts off");
        is_told_nothing_of_a_panic(&mut client);
        client.good("add 1");
    }
}

/// Whether the tests run as the superuser, who alone can start processes of other users.
fn is_superuser() -> bool {
    rustix::process::getuid().is_root()
}

#[test]
fn access_rules_distinguish_local_users() {
    if !is_superuser() {
        eprintln!("skipped: only the superuser can have processes of other users");
        return;
    }
    for listening in ["ncacn_vi_shm:[there]", "ncalrpc:[there]", "ncalrpc:[there,transfer=ndr]"] {
        let directory = Directory::new();
        directory.open();
        let mut server = directory.start(PROGRAM, &[]);
        server.good("audit");
        let answer = server.bad("access users");
        assert!(answer.contains("E_INVALIDARG"), "{answer}");
        server.good("access all user=1000");
        server.good("access users");
        server.good("export thing");
        let answer = server.bad("access users");
        assert!(answer.contains("before anything is exported"), "{answer}");
        let binding = server.good(&format!("listen {listening}")).replace(']', ",name=thing]");
        let mut users = [1000, 1001, 0].map(|uid| directory.start_as(uid, PROGRAM, &[]));
        let [one, another, root] = &mut users;
        one.good(&format!("connect {binding}"));
        one.good("make 1");
        server.good("panic-texts on");
        is_told_nothing_of_a_panic(one);
        for (process, uid) in [(another, 1001), (root, 0)] {
            denied(process, &format!("connect {binding}"));
            let line = format!("refused the object thing to process {} of user {uid}", process.id());
            assert_eq!(server.good("refusals"), line);
        }
        let [one, another, _] = &mut users;
        server.good("access all user=1000 user=1001");
        another.good(&format!("connect {binding}"));
        another.good("make 1");
        another.good("echo 100000");
        server.good("access all user=1001");
        for order in ["add 1", "make 1"] {
            denied(one, order);
        }
        let refusals = server.good("refusals");
        let line = |method: &str| format!("refused {method} to process {} of user 1000", one.id());
        assert_eq!(refusals, format!("{}; {}", line("method 5 of ICounter"), line("method 3 of IFactory")));
        assert_eq!(another.number("add 1"), 1);
        assert_eq!(server.number("live"), 2);
        server.good("access all user=1000");
        assert_eq!(one.number("add 0"), 0);
    }
}

/// The time that the test waits, longer than the time after which silent connections yield to other
/// connections of their user.
const YIELDS_AFTER: Duration = Duration::from_secs(1);

/// Connects to a socket as another user, `count` times.
fn connect_as(user: u32, socket: &Path, count: usize) -> Vec<UnixStream> {
    let connect = || {
        let user = rustix::process::Uid::from_raw(user);
        // Other threads keep their user.
        rustix::thread::set_thread_res_uid(user, user, user).unwrap();
        (0..count).map(|_| UnixStream::connect(socket).unwrap()).collect()
    };
    std::thread::scope(|scope| scope.spawn(connect).join().unwrap())
}

#[test]
fn silent_connections_of_another_user_take_a_limited_number_of_threads() {
    if !is_superuser() {
        eprintln!("skipped: only the superuser can have processes of other users");
        return;
    }
    for (listening, socket) in [("ncacn_vi_shm:[there]", "there.sock"), ("ncalrpc:[there]", "there.lrpc-sock")] {
        let directory = Directory::new();
        directory.open();
        let mut server = directory.start_with_descriptors(PROGRAM, 1024);
        server.good("access all user=1000 user=1001 own");
        server.good("access users");
        server.good("export thing");
        let binding = server.good(&format!("listen {listening}")).replace(']', ",name=thing]");
        let mut first = directory.start_as(1000, PROGRAM, &[]);
        first.good(&format!("connect {binding}"));
        first.good("make 1");
        let (threads, files) = (server.threads(), server.open_files());
        let silent = connect_as(1000, &directory.path().join(socket), 900);
        // The server accepts a client of its own user after the silent connections.
        for user in [0, 1001] {
            let mut client = directory.start_as(user, PROGRAM, &[]);
            client.good(&format!("connect {binding}"));
            client.good("make 1");
        }
        let (threads_now, files_now) = (server.threads(), server.open_files());
        // A silent connection has one thread. It has one descriptor, or two if it is a stream. The
        // clients have threads and descriptors, too.
        assert!(threads_now < threads + 256 + 20, "{listening}: {threads} threads became {threads_now}");
        assert!(files_now < files + 2 * 256 + 100, "{listening}: {files} descriptors became {files_now}");
        // The silent connections of the user yield to other connections of the same user.
        let mut second = directory.start_as(1000, PROGRAM, &[]);
        let more = connect_as(1000, &directory.path().join(socket), 256);
        std::thread::sleep(YIELDS_AFTER);
        second.good(&format!("connect {binding}"));
        drop(more);
        first.good("add 1");
        drop(silent);
    }
}
