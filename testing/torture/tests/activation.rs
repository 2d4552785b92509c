//! Tests of activation in other processes and in the client's own process: clients behave the same
//! on every transport.

use torture::process::{Directory, LATEST};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
/// The bindings of the servers: shared memory, the standard's protocol sequences in each transfer
/// syntax, and a virtual interface over the network.
const BINDINGS: [&str; 7] = [
    "ncacn_vi_shm:[there]",
    "ncalrpc:[there]",
    "ncacn_ip_tcp:127.0.0.1",
    "ncacn_ip_tcp:127.0.0.1[,transfer=ndr]",
    "ncacn_ip_tcp:127.0.0.1[,transfer=ndr64]",
    "ncadg_ip_udp:127.0.0.1[,rundown=9]",
    "ncacn_vi_udp:127.0.0.1",
];

#[test]
fn activated_objects_behave_the_same_everywhere() {
    let directory = Directory::new();
    let mut alone = directory.start(PROGRAM, &[]);
    alone.good("register");
    assert_eq!(alone.good("activate"), "in process");
    alone.good("make 3");
    assert_eq!(alone.number("add 7"), 7);
    assert_eq!(alone.number("callback 5"), 16);
    alone.good("leave");
    for listening in BINDINGS {
        let directory = Directory::new();
        let mut server = directory.start(PROGRAM, &[]);
        server.good("register");
        let binding = server.good(&format!("listen {listening}"));
        let mut client = directory.start(PROGRAM, &[]);
        let way = client.good(&format!("activate {binding}"));
        println!("{binding}: {way}");
        let protocol = |text: &str| text.split(':').next().map(str::to_owned);
        assert_eq!(protocol(&way), protocol(listening), "{way}");
        client.passes_objects();
        client.good("leave");
        server.becomes(LATEST, "live", 0);
    }
}

#[test]
fn unregistered_classes_are_refused() {
    let directory = Directory::new();
    let mut server = directory.start(PROGRAM, &[]);
    // The server knows the interfaces, but has no class.
    server.good("export other");
    let binding = server.good("listen ncacn_vi_shm:[there]");
    let mut client = directory.start(PROGRAM, &[]);
    for order in [format!("activate {binding}"), "activate".to_owned()] {
        let why = client.bad(&order);
        assert!(why.contains("REGDB_E_CLASSNOTREG"), "{why}");
    }
    server.good("register");
    client.good(&format!("activate {binding}"));
    // Existing objects stay after the class is revoked.
    server.good("leave");
    let why = client.bad(&format!("activate {binding}"));
    assert!(why.contains("REGDB_E_CLASSNOTREG"), "{why}");
    client.good("make 1");
    assert_eq!(client.number("add 7"), 7);
}

#[test]
fn thousands_of_activated_objects_leak_nothing() {
    for listening in ["ncacn_vi_shm:[there]", "ncacn_ip_tcp:127.0.0.1[,transfer=ndr]"] {
        let directory = Directory::new();
        let mut server = directory.start(PROGRAM, &[]);
        server.good("register");
        let binding = server.good(&format!("listen {listening}"));
        let mut client = directory.start(PROGRAM, &[]);
        client.good(&format!("activate {binding}"));
        // There are more objects than one Release message can name.
        client.good("make 2500");
        assert_eq!(server.number("live"), 2500);
        assert!(server.number("exported") >= 2500);
        client.good("leave");
        server.becomes(LATEST, "live", 0);
        server.becomes(LATEST, "exported", 0);
    }
}
