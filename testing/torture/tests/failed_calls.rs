//! Tests of objects in failed calls: the client takes the references back unless the server has
//! unmarshaled them.

use obvia_via::layout::SLOT_COUNT;
use std::fs;
use torture::process::{Directory, LATEST, Process};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
/// A transport between client and server.
struct Transport {
    /// The options of the binding; `None` for shared memory.
    options: Option<&'static str>,
    /// Whether the two processes share a directory of names. Processes that share a directory also
    /// reach each other by shared memory, so the server's link to the client may have another
    /// transport than the client's link to the server.
    shares_names: bool,
}

/// Shared memory, and TCP in both transfer syntaxes.
const TRANSPORTS: [Transport; 5] = [
    Transport { options: None, shares_names: true },
    Transport { options: Some(""), shares_names: false },
    Transport { options: Some(",transfer=ndr"), shares_names: false },
    Transport { options: Some(""), shares_names: true },
    Transport { options: Some(",transfer=ndr"), shares_names: true },
];

/// Runs a test on each transport.
fn over_each(test: impl Fn(&mut Process, &mut Process)) {
    for Transport { options, shares_names } in &TRANSPORTS {
        println!("{options:?}, names shared: {shares_names}");
        let directories = [Directory::new(), Directory::new()];
        let mut server = directories[0].start(PROGRAM, &[]);
        server.good("export there");
        let place = options.map_or_else(
            || "there".to_owned(),
            |options| server.good(&format!("listen ncacn_ip_tcp:127.0.0.1[{options}]")).replace(']', ",name=there]"),
        );
        let mut client = directories[usize::from(!shares_names)].start(PROGRAM, &[]);
        client.good(&format!("connect {place}"));
        test(&mut server, &mut client);
        // No reference to the client's objects is left.
        client.say("keep-none");
        client.line();
        client.becomes(LATEST, "exported", 0);
    }
}

#[test]
fn references_in_unsent_calls_are_taken_back() {
    over_each(|_, client| {
        for (what, why) in [("one-without-its-interface", "E_NOINTERFACE"), ("too-much", "bytes")] {
            let told = client.bad(&format!("give {what}"));
            assert!(told.contains(why), "{told}");
            assert_eq!(client.number("exported"), 0, "{what}: {told}");
        }
        // The connection still works.
        client.good("give all");
    });
}

#[test]
fn references_in_refused_calls_are_taken_back() {
    over_each(|server, client| {
        client.good("give all");
        client.becomes(LATEST, "exported", 0);
        server.good("access exported nobody");
        let told = client.bad("give all");
        assert!(told.contains("E_ACCESSDENIED"), "{told}");
        assert_eq!(client.number("exported"), 0);
        server.good("access exported everybody");
    });
}

/// The server refuses a string that does not end before it marshals the object beside the string.
#[test]
fn objects_beside_refused_strings_are_released() {
    over_each(|server, client| {
        for room in [0, 1, 100] {
            let told = client.good(&format!("label {room} without-end"));
            match room {
                0 => assert_eq!(told, "done done 6"),
                _ => assert!(told.matches("E_INVALIDARG").count() == 2 && told.ends_with(" 5"), "{told}"),
            }
            let told = client.good(&format!("label {room} failed"));
            assert!(told.matches("there are no labels left").count() == 2 && told.ends_with(" 5"), "{told}");
            assert_eq!(client.good(&format!("label {room} ended")), "done done 6");
        }
        server.becomes(LATEST, "live", 0);
    });
}

#[test]
fn references_in_read_calls_belong_to_the_server() {
    over_each(|server, client| {
        // The server holds references from an earlier call, which the failed call must not release.
        client.good("keep-own");
        let kept = client.number("exported");
        for _ in 0..20 {
            let told = client.bad("give to-fail");
            assert!(told.contains("E_UNEXPECTED"), "{told}");
        }
        for _ in 0..20 {
            client.bad("give one-without-its-interface");
            server.good("access exported nobody");
            client.bad("give all");
            server.good("access exported everybody");
        }
        assert_eq!(client.number("exported"), kept);
        assert_eq!(client.number("add-to-kept 4"), 4);
    });
}

#[test]
fn references_in_refused_oneway_calls_are_released() {
    over_each(|server, client| {
        // The server holds a reference to the client's object, and must keep this reference. The
        // server therefore has a link to the client.
        client.good("keep-own");
        let kept = client.number("exported");
        for _ in 0..20 {
            client.good("give oneway");
            client.good("give all");
            server.good("access exported nobody");
            client.good("give oneway");
            client.good("give oneway");
            // The server performs the calls of a thread in their order.
            let told = client.bad("give all");
            assert!(told.contains("E_ACCESSDENIED"), "{told}");
            server.good("access exported everybody");
        }
        assert_eq!(client.number("exported"), kept);
        assert_eq!(client.number("add-to-kept 4"), 4);
    });
}

#[test]
fn references_in_refused_calls_are_released_over_an_existing_link() {
    let directory = Directory::new();
    let mut client = directory.start(PROGRAM, &[]);
    client.good("export here");
    let here = client.good("listen ncacn_ip_tcp:127.0.0.1").replace(']', ",name=here]");
    let mut server = directory.start(PROGRAM, &[]);
    server.good("export there");
    // The server calls the client's objects over this TCP link. The client calls the server over
    // shared memory.
    server.good(&format!("connect {here}"));
    client.good("connect there");
    client.good("keep-own");
    let kept = client.number("exported");
    server.good("access exported nobody");
    client.good("give oneway");
    client.bad("give all");
    server.good("access exported everybody");
    client.good("keep-none");
    client.becomes(LATEST, "exported", kept - 1);
}

#[test]
fn references_in_oneway_calls_to_removed_objects_are_released() {
    over_each(|server, client| {
        client.good("keep-own");
        client.good("give all");
        server.good("disconnect");
        for _ in 0..20 {
            client.good("give oneway");
        }
        let told = client.bad("give all");
        assert!(told.contains("RPC_E_DISCONNECTED"), "{told}");
        assert_eq!(client.number("exported"), 1);
        // When the server no longer exports its factory, it frees the factory, and with it the
        // reference that the factory holds.
        server.good("hide");
    });
}

#[test]
fn references_refused_by_a_server_without_link_end_with_the_server() {
    let directory = Directory::new();
    let mut server = directory.start(PROGRAM, &[]);
    server.good("export there");
    let mut client = directory.start(PROGRAM, &[]);
    client.good("connect there");
    server.good("access exported nobody");
    client.good("give oneway");
    client.bad("give all");
    assert_eq!(client.number("exported"), 1);
    server.kill();
    client.becomes(LATEST, "exported", 0);
}

#[test]
fn a_lost_network_connection_is_not_taken_for_the_end_of_the_process() {
    let directories = [Directory::new(), Directory::new()];
    let mut server = directories[0].start(PROGRAM, &[]);
    server.good("export there");
    let there = server.good("listen ncacn_ip_tcp:127.0.0.1").replace(']', ",name=there]");
    let mut client = directories[1].start(PROGRAM, &[]);
    client.good(&format!("connect {there}"));
    // The server refuses the objects, and so opens no link to the client. The end of such a link
    // would tell the client that a process with references has ended.
    server.good("access exported nobody");
    client.bad("give all");
    server.stop();
    client.good("give oneway");
    client.say("make 1");
    server.kill();
    let told = client.line();
    assert!(told.contains("RPC_E_DISCONNECTED"), "{told}");
    // Each pass of the janitor sends the releases and checks every link, in either order. When the
    // third release has arrived, two passes are complete, so the janitor has checked the link to
    // the killed server.
    let mut other = directories[1].start(PROGRAM, &[]);
    other.good("export other");
    client.good("connect other");
    client.good("make 3");
    for left in [2, 1, 0] {
        client.good("drop-last 1");
        other.becomes(LATEST, "live", left);
    }
    assert_ne!(client.number("exported"), 0);
}

/// For a while, the client cannot reach the process of an object that it has received.
#[test]
fn references_to_an_unreachable_process_are_given_back_over_the_next_link() {
    let directory = Directory::new();
    let mut home = directory.start(PROGRAM, &[]);
    home.good("export home");
    let endpoint = directory.files().into_iter().find(|file| file.starts_with("oxid-") && file.ends_with(".sock"));
    let endpoint = directory.path().join(endpoint.unwrap());
    let mut holder = directory.start(PROGRAM, &[]);
    holder.good("export holder");
    let mut giver = directory.start(PROGRAM, &[]);
    giver.good("connect home");
    giver.good("make 1");
    giver.good("connect holder");
    giver.good("keep");
    giver.finish();
    let mut client = directory.start(PROGRAM, &[]);
    client.good("connect holder");
    let hidden = directory.path().join("hidden");
    fs::rename(&endpoint, &hidden).unwrap();
    let told = client.bad("kept");
    assert!(told.contains("RPC_S_SERVER_UNAVAILABLE"), "{told}");
    client.good("keep-none");
    assert_eq!(home.number("live"), 1);
    fs::rename(&hidden, &endpoint).unwrap();
    client.good("connect home");
    home.becomes(LATEST, "live", 0);
}

#[test]
fn oneway_calls_do_not_wait_for_a_stopped_server() {
    let directory = Directory::new();
    let mut server = directory.start(PROGRAM, &[]);
    server.good("export there");
    let mut client = directory.start(PROGRAM, &[]);
    client.good("connect there");
    client.good(&format!("give-to-stopped {} {SLOT_COUNT}", server.id()));
    client.good("give all");
    client.becomes(LATEST, "exported", 0);
}
