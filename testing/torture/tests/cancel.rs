//! Tests of cancelled calls: the server notices the cancel, and other calls are not disturbed.

use obvia::scm::Remote;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with};
use std::fs;
use std::io::{self, Read};
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;
use std::time::Duration;
use torture::process::{Directory, LATEST, Process, same, within};
use torture::registered::Host;

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
const CANCELED: &str = "RPC_E_CALL_CANCELED";
const NO_INTERFACE: &str = "E_NOINTERFACE";
/// A time within which a cancellation ends a call that would otherwise end by its own limit.
const SOON: Duration = obvia::DEFAULT_TIMEOUT.checked_div(2).unwrap();

/// Starts a server, and a client with this waiting policy and a counter.
fn pair(directory: &Directory, way: &str) -> (Process, Process) {
    let mut server = directory.start(PROGRAM, &[]);
    server.good("export name");
    let mut client = directory.start(PROGRAM, &[way]);
    client.good("connect name");
    client.good("make 1");
    assert_eq!(client.good("add 1"), "1");
    (server, client)
}

#[test]
fn a_cancelled_call_ends_at_once_on_both_sides() {
    for way in ["adaptive", "block", "poll"] {
        let directory = Directory::new();
        let (mut server, mut client) = pair(&directory, way);
        for round in 1..=3 {
            client.good("cancellable");
            server.becomes(LATEST, "sleeping", 1);
            assert_eq!(server.number("noticed"), round - 1);
            client.say("cancel");
            // The answer to the order may come before, between or after the other lines.
            let mut lines: Vec<String> = (0..4).map(|_| client.line_within(LATEST)).collect();
            lines.retain(|line| !line.starts_with("ok"));
            let [ended, later, after] = lines.try_into().unwrap();
            assert!(ended.starts_with("ended error") && ended.contains(CANCELED), "{way}: {ended}");
            server.becomes(LATEST, "noticed", round);
            server.becomes(LATEST, "sleeping", 0);
            // Later calls with the cancelled canceller fail. Calls without a canceller succeed.
            assert!(later.starts_with("later error") && later.contains(CANCELED), "{way}: {later}");
            assert_eq!(after, format!("after ok {}", 2 * round));
            assert_eq!(client.good("add 1"), (2 * round + 1).to_string());
        }
    }
}

#[test]
fn cancellers_of_all_nested_scopes_end_calls() {
    let directory = Directory::new();
    let (mut server, mut client) = pair(&directory, "adaptive");
    client.good(LATE);
    for (round, order) in (1..).zip(["cancellable-sleep inside", "cancellable-sleep behind"]) {
        client.good(order);
        server.becomes(LATEST, "sleeping", 1);
        cancel(&mut client, order);
        server.becomes(LATEST, "noticed", round);
        server.becomes(LATEST, "sleeping", 0);
        assert_eq!(client.number("add 1"), round + 1);
    }
}

/// A canceller ends the call that passes an object, even if the object made calls of its own while
/// it was marshaled.
#[test]
fn calls_can_be_cancelled_after_calls_of_their_argument() {
    let directory = Directory::new();
    let (mut server, mut client) = pair(&directory, "adaptive");
    client.good(LATE);
    client.say("cancellable-callback");
    let mut lines = [client.line(), client.line()];
    lines.sort();
    assert_eq!(lines, ["heard", "ok "]);
    cancel(&mut client, "a listener that keeps its caller waiting");
    assert_eq!((client.number("add 1"), server.number("live")), (2, 1));
}

#[test]
fn a_call_that_times_out_is_cancelled_in_the_server() {
    for way in ["adaptive", "poll"] {
        let directory = Directory::new();
        let (mut server, mut client) = pair(&directory, way);
        for round in 1..=3 {
            client.times_out(&mut server);
            if round == 2 {
                assert_eq!(client.good("add 1"), "2");
            }
        }
    }
}

/// A method's own calls end at its caller's deadline, even with a longer timeout.
#[test]
fn nested_calls_inherit_the_deadline() {
    let directory = Directory::new();
    let mut last = directory.start(PROGRAM, &[]);
    last.good("export last");
    let mut middle = directory.start(PROGRAM, &[]);
    middle.good("export middle");
    let listening = ["ncacn_ip_tcp:127.0.0.1", "ncacn_ip_tcp:127.0.0.1[,transfer=ndr]"];
    let over = listening.map(|binding| middle.good(&format!("listen {binding}")).replace(']', ",name=middle]"));
    for binding in ["middle", &over[0], &over[1]] {
        let mut client = directory.start(PROGRAM, &[]);
        client.good("connect last");
        client.good("make 1");
        client.good(&format!("connect {binding}"));
        client.good("keep");
        let before = last.number("begun");
        let mut timeout = Duration::from_millis(200);
        while last.number("begun") == before {
            assert!(timeout < LATEST, "{binding}: no call is begun");
            client.good(&format!("timeout {}", timeout.as_millis()));
            let error = client.bad("kept-sleeps 600000");
            assert!(error.contains("RPC_E_TIMEOUT"), "{binding}: {error}");
            timeout *= 2;
        }
        last.becomes(LATEST, "sleeping", 0);
        let begun = last.number("begun");
        last.becomes(LATEST, "noticed", begun);
    }
}

#[test]
fn a_cancellation_affects_no_other_call() {
    let directory = Directory::new();
    let (mut server, mut client) = pair(&directory, "adaptive");
    let mut busy = Vec::new();
    for way in ["adaptive", "block"] {
        let mut other = directory.start(PROGRAM, &[way]);
        other.good("connect name");
        other.good("calls 1");
        assert_eq!(other.line(), "calling");
        busy.push(other);
    }
    for _ in 0..4 {
        client.good("cancel-race 100");
        std::thread::sleep(Duration::from_millis(1));
    }
    for mut other in busy {
        other.kill();
    }
    assert_eq!(client.good("add 1"), "2");
    server.becomes(LATEST, "live", 1);
}

#[test]
fn a_used_canceller_does_not_affect_other_threads() {
    let directory = Directory::new();
    let (_server, mut client) = pair(&directory, "adaptive");
    let outcome = client.good("cancel-late 200");
    assert_eq!(outcome, "");
}

/// A deadline that is later than the time limit of the test.
const LATE: &str = "timeout 600000000";

#[test]
fn a_query_to_a_silent_server_can_be_cancelled() {
    let directory = Directory::new();
    for way in ["name", "ncacn_ip_tcp:"] {
        let mut server = directory.start(PROGRAM, &[]);
        server.good("export name");
        let place = match way {
            "name" => way.to_owned(),
            way => server.good(&format!("listen {way}127.0.0.1")).replace(']', ",name=name]"),
        };
        let mut client = directory.start(PROGRAM, &[]);
        client.good(&format!("connect {place}"));
        client.good("make 1");
        assert!(client.bad("cast").contains(NO_INTERFACE));
        server.stop();
        client.good(LATE);
        client.good("cancellable-cast");
        cancel(&mut client, &place);
        // A thread can wait for another thread's query. A canceller and a deadline end this wait,
        // too.
        client.good("cancellable-cast");
        client.good("timeout 100");
        assert!(client.bad("cast").contains("RPC_E_TIMEOUT"));
        client.good(LATE);
        client.good("cancellable-cast");
        cancel(&mut client, &place);
        server.go_on();
        let line = client.line();
        assert!(line.starts_with("ended error") && line.contains(NO_INTERFACE), "{line}");
        assert!(client.bad("cast").contains(NO_INTERFACE));
        assert_eq!((client.number("add 1"), server.number("live")), (1, 1));
        client.finish();
        server.becomes(LATEST, "live", 0);
        server.finish();
    }
}

#[test]
fn an_activation_can_be_cancelled_during_object_creation() {
    let directory = Directory::new();
    let mut server = directory.start(PROGRAM, &[]);
    server.good("register-slow");
    let listening = ["ncacn_vi_shm:[there]", "ncacn_ip_tcp:127.0.0.1", "ncacn_ip_tcp:127.0.0.1[,transfer=ndr]"];
    for (round, binding) in (1..).zip(listening) {
        let place = server.good(&format!("listen {binding}"));
        let mut client = directory.start(PROGRAM, &[]);
        client.good(LATE);
        client.good(&format!("cancellable-create {place}"));
        server.becomes(LATEST, "sleeping", 1);
        cancel(&mut client, &place);
        server.becomes(LATEST, "noticed", round);
        server.becomes(LATEST, "sleeping", 0);
    }
}

/// The service forwards the cancellation to the server, and logs no error. If the server makes the
/// object all the same, the object is dropped.
#[test]
fn an_activation_cancelled_at_the_service_leaves_no_object() {
    for (kind, noticed) in [("", 1), (" deaf", 0)] {
        let host = Host::with_remote(PROGRAM, &[Remote::Everybody], LATEST);
        let (mut service, log) = host.logged_service();
        let place = service.good("listen ncacn_ip_tcp:127.0.0.1");
        let mut server = host.process();
        server.good("export name");
        server.good(&format!("register-slow{kind}"));
        let mut client = host.process();
        // Another object of the server keeps the client in contact with the server.
        client.good("connect name");
        client.good("make 1");
        client.good(LATE);
        client.good(&format!("cancellable-create {place}"));
        server.becomes(LATEST, "sleeping", 1);
        assert_eq!(server.number("live"), 2);
        let busy = service.threads_called("obvia-serve");
        cancel(&mut client, &place);
        within(SOON, || same(service.threads_called("obvia-serve") < busy, true));
        if noticed == 0 {
            server.good("wake");
        }
        server.becomes(LATEST, "live", 1);
        assert_eq!((client.number("add 1"), server.number("noticed")), (1, noticed));
        let log = fs::read_to_string(log).unwrap();
        assert!(!log.contains("cannot create"), "{log}");
    }
}

/// The object belongs to a third process, with which the client is in contact.
#[test]
fn an_activation_that_is_cancelled_at_the_service_leaves_no_reference_to_a_third_process() {
    let host = Host::with_remote(PROGRAM, &[Remote::Everybody], LATEST);
    let mut service = host.service();
    let place = service.good("listen ncacn_ip_tcp:127.0.0.1");
    let mut third = host.process();
    third.good("export third");
    let mut server = host.process();
    server.good("connect third");
    server.good("register-borrowed");
    let mut client = host.process();
    client.good("connect third");
    client.good("make 1");
    client.good("drop-factory");
    third.becomes(LATEST, "exported", 2);
    client.good(LATE);
    client.good(&format!("cancellable-create {place}"));
    server.becomes(LATEST, "sleeping", 1);
    let busy = service.threads_called("obvia-serve");
    cancel(&mut client, &place);
    within(SOON, || same(service.threads_called("obvia-serve") < busy, true));
    server.good("wake");
    server.becomes(LATEST, "sleeping", 0);
    server.good("leave");
    // Of the exports of the third process, only the client's counter is left.
    third.becomes(LATEST, "exported", 1);
}

#[test]
fn an_activation_can_be_cancelled_during_server_start() {
    let host = Host::new(PROGRAM, &["wait"]);
    let service = host.service();
    let mut client = host.process();
    client.good(LATE);
    client.good("cancellable-create");
    within(LATEST, || same(host.starts().len(), 1));
    cancel(&mut client, "a starting server");
    client.finish();
    within(LATEST, || same(service.threads_called("obvia-serve"), 0));
    // The service continues to start the server, which then serves a later activation.
    let mut client = host.process();
    client.say("activate");
    host.go();
    assert!(client.line().starts_with("ok ncacn_vi_shm:"));
    assert_eq!(host.starts().len(), 1);
}

/// Cancels an order to connect to a server that accepts the connection and never answers the first
/// message.
fn cancel_connect<S: Read + AsFd>(directory: &Directory, order: &str, accept: impl Fn() -> io::Result<S>) {
    let mut client = directory.start(PROGRAM, &[]);
    client.good(LATE);
    client.good(order);
    let mut accepted = ground::poll("the client connects", || accept().ok());
    rustix::io::ioctl_fionbio(&accepted, true).unwrap();
    // The client waits for the answer once it has sent the message.
    ground::until("the client sends a message", || accepted.read(&mut [0]).is_ok_and(|length| length == 1));
    cancel(&mut client, order);
}

/// Cancels a client's wait.
fn cancel(client: &mut Process, place: &str) {
    client.say("cancel");
    let mut lines = [client.line_within(LATEST), client.line_within(LATEST)];
    lines.sort();
    assert!(lines[0].starts_with("ended error") && lines[0].contains(CANCELED), "{place}: {lines:?}");
}

#[test]
fn connecting_to_a_silent_server_can_be_cancelled() {
    let directory = Directory::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    for round in ["first", "second"] {
        let order = format!("cancellable-connect ncacn_ip_tcp:127.0.0.1[{port},name={round}]");
        cancel_connect(&directory, &order, || Ok(listener.accept()?.0));
    }
    let order = format!("cancellable-lookup ncacn_ip_tcp:127.0.0.1[,mapper={port}]");
    cancel_connect(&directory, &order, || Ok(listener.accept()?.0));
    for (ending, order) in
        [(".sock", "cancellable-connect silent"), (".lrpc-sock", "cancellable-connect ncalrpc:[silent,name=first]")]
    {
        let listener = UnixListener::bind(directory.path().join(format!("silent{ending}"))).unwrap();
        listener.set_nonblocking(true).unwrap();
        cancel_connect(&directory, order, || Ok(listener.accept()?.0));
    }
}

#[test]
fn connecting_to_a_full_server_can_be_cancelled() {
    let directory = Directory::new();
    for (ending, order) in [
        (".sock", "cancellable-connect full"),
        (".lrpc-sock", "cancellable-connect ncalrpc:[full,name=first]"),
        (".lrpc-sock", "cancellable-lookup ncalrpc:[,mapper=full]"),
    ] {
        let address = SocketAddrUnix::new(directory.path().join(format!("full{ending}"))).unwrap();
        let socket = || {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap()
        };
        let listener = socket();
        bind(&listener, &address).unwrap();
        listen(&listener, 0).unwrap();
        let queue = std::iter::repeat_with(socket).map_while(|client| connect(&client, &address).ok().map(|()| client));
        let queue: Vec<_> = queue.collect();
        assert!(!queue.is_empty());
        let mut client = directory.start(PROGRAM, &[]);
        client.good(LATE);
        client.good(order);
        cancel(&mut client, order);
        std::fs::remove_file(directory.path().join(format!("full{ending}"))).unwrap();
    }
}
