//! Tests of hostile servers. A call to a hostile server fails or returns wrong values, and the
//! client's other calls succeed.

use crate::hostile_server::{HOSTILE, HostileServer, endpoint_of, respond};
use crate::peer::{AREA, AREA_LENGTH, CONSUMED, Message, Peer, await_end, first_word, send};
use crate::races::flip;
use crate::scene::{Client, Process, Scene, by_every_client};
use crate::segment::{SEALS, Segment, memory_file};
use crate::wire::{self, Frame, Reference, mark};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::collections::BTreeSet;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

by_every_client! {
    a_hostile_server_can_answer_correctly,
    server_greetings_are_checked,
    calls_to_silent_servers_end_at_their_deadline,
    servers_that_disconnect_during_a_call_end_it,
    responses_to_other_calls_are_refused,
    malformed_error_information_is_ignored,
    responses_outside_the_area_are_refused,
    responses_of_a_wrong_size_are_refused,
    invalid_result_values_are_refused,
    a_known_target_cannot_change_its_interface,
    references_returned_by_servers_are_checked,
    bind_responses_are_checked,
    false_credit_ends_one_way_calls,
    a_server_cannot_claim_the_identity_of_another,
    changing_results_stay_inside_the_frame,
    changing_returned_strings_are_not_read_beyond_their_length,
    an_object_that_is_sent_to_a_process_outlives_the_connections_of_that_process,
}

/// Runs the client against a hostile server, and returns its output.
#[track_caller]
fn visit(scene: &Scene, handle: impl Fn(&mut Peer, &Message) -> bool + Send + Sync + 'static) -> Vec<String> {
    let server = HostileServer::start(&scene.directory, handle);
    let said = scene.visit(&[HOSTILE]);
    drop(server);
    said
}

/// Returns the client's output about a call.
#[track_caller]
fn said<'a>(said: &'a [String], call: &str) -> &'a str {
    let line = said.iter().find_map(|line| line.strip_prefix(call)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("nothing about {call} in {said:#?}"))
}

#[track_caller]
fn assert_failed(lines: &[String], calls: &[&str]) {
    for call in calls {
        assert!(said(lines, call).starts_with("0x8"), "{call} in {lines:#?}");
    }
}

fn is_call(message: &Message) -> bool {
    message.kind == wire::REQUEST && (message.first, message.second) != wire::SYSTEM
}

const CALLS: [&str; 15] = [
    "Add",
    "Sum",
    "Reverse",
    "Fill",
    "Flip",
    "Mix",
    "Shout",
    "Measure",
    "Weigh",
    "Maybe",
    "Visit",
    "Make",
    "MakeAgain",
    "Marks",
    "All",
];

/// The control for the tests below: with correct answers, the calls succeed.
fn a_hostile_server_can_answer_correctly(client: Client) {
    let scene = Scene::with(client);
    let lines = visit(&scene, |_, _| false);
    assert_eq!(
        lines,
        [
            "Add ok 3",
            "Sum ok 6",
            "Reverse ok [4, 3, 2, 1]",
            "Fill ok 64",
            "Flip ok 0",
            "Mix ok 1",
            "Shout ok 1",
            "Measure ok 4",
            "Weigh ok 80",
            "Maybe ok 40",
            "Visit ok 9",
            "Make ok 33",
            "MakeAgain ok 33",
            "Marks ok (2, 8)",
            "All ok 3",
            "Pair ok 5",
            "good"
        ]
    );
    scene.assert_unharmed();
}

fn server_greetings_are_checked(client: Client) {
    let scene = Scene::with(client);
    // A write error is ignored, because the client may have hung up.
    fn say(socket: &UnixStream, bytes: &[u8], fds: &[BorrowedFd<'_>]) {
        let _ = send(socket, bytes, fds);
    }
    let greeting = || wire::greeting(AREA_LENGTH as u64);
    let good = || Segment::create(AREA + AREA_LENGTH).1;
    let acts: [fn(&UnixStream, Vec<u8>, OwnedFd); 8] = [
        |socket, _, _| drop(socket.shutdown(std::net::Shutdown::Both)),
        |socket, greeting, fd| say(socket, &greeting[..11], &[fd.as_fd()]),
        |socket, greeting, _| say(socket, &greeting, &[]),
        |socket, greeting, fd| say(socket, &greeting, &[fd.as_fd(), fd.as_fd()]),
        |socket, _, fd| say(socket, &[0; 24], &[fd.as_fd()]),
        |socket, greeting, _| say(socket, &greeting, &[memory_file(1 << 20).as_fd()]),
        |socket, _, fd| say(socket, &wire::greeting(256 << 20), &[fd.as_fd()]),
        |socket, greeting, _| {
            let short = memory_file(4096);
            rustix::fs::fcntl_add_seals(&short, SEALS).unwrap();
            say(socket, &greeting, &[short.as_fd()]);
        },
    ];
    for act in acts {
        let server = HostileServer::greeting(&scene.directory, move |socket| {
            Peer::greeting_of_peer(socket);
            act(socket, greeting(), good());
        });
        assert_failed(&scene.visit(&[HOSTILE]), &["connect"]);
        drop(server);
    }
    scene.assert_unharmed();
}

fn calls_to_silent_servers_end_at_their_deadline(client: Client) {
    let scene = Scene::with(client);
    let server = HostileServer::greeting(&scene.directory, |_| ());
    assert_failed(&scene.visit(&[HOSTILE]), &["connect"]);
    drop(server);
    assert_failed(&visit(&scene, |_, message| message.kind == wire::PDU), &["connect"]);
    assert_failed(&visit(&scene, |_, message| message.kind == wire::REQUEST), &["connect"]);
    let lines = visit(&scene, |_, message| is_call(message) && message.opnum <= 5);
    assert_failed(&lines, &["Add", "Sum", "Reverse"]);
    assert_eq!(said(&lines, "Fill"), "ok 64");
    scene.assert_unharmed();
}

fn servers_that_disconnect_during_a_call_end_it(client: Client) {
    let scene = Scene::with(client);
    let lines = visit(&scene, |peer, message| {
        if is_call(message) {
            peer.socket.shutdown(std::net::Shutdown::Both).unwrap();
        }
        is_call(message)
    });
    assert_failed(&lines, &CALLS);
    scene.assert_unharmed();
}

fn responses_to_other_calls_are_refused(client: Client) {
    let scene = Scene::with(client);
    let wrong: [(u8, u32); 9] = [
        (0, 0),
        (1, 0),
        (4, 0),
        (5, 0),
        (6, 0),
        (7, 0),
        (wire::RESPONSE, 1),
        (wire::RESPONSE, u32::MAX),
        (wire::FAULT, 5),
    ];
    for (kind, off) in wrong {
        let lines = visit(&scene, move |peer, message| {
            if is_call(message) {
                peer.post(kind, message.opnum, (0, message.sequence.wrapping_add(off)), &[0; 8]);
            }
            is_call(message)
        });
        assert_failed(&lines, &CALLS);
    }
    scene.assert_unharmed();
}

/// Returns a fault's frame with error information: the lengths of the description, the source and
/// the help file, and the texts.
fn words(lengths: [u32; 3], texts: &[u8]) -> Vec<u8> {
    let lengths = lengths.iter().flat_map(|length| length.to_le_bytes());
    [7, 0, 0, 0].into_iter().chain(lengths).chain(texts.iter().copied()).collect()
}

/// Error information is only shown: with any contents, the call fails by its HRESULT, and the
/// connection goes on.
fn malformed_error_information_is_ignored(client: Client) {
    let scene = Scene::with(client);
    for frame in [
        words([4, 2, 2], b"whyiscal"),
        words([4, 2, 2], b"\xff\xfe\x80\xc3iscal"),
        words([u32::MAX, 2, 2], b"whyiscal"),
        words([4, u32::MAX - 3, 2], b"whyiscal"),
        words([4, 2, 3], b"whyiscal"),
        words([0x4001, 0, 0], &[b'x'; 0x4008]),
        words([0x4000; 3], &[b'x'; 3 * 0x4000]),
        words([0, 0, 0], b"whyiscal"),
        words([0, 0, 0], &vec![0; 60_000]),
        vec![7; 8],
    ] {
        let connections = Arc::new(Mutex::new(BTreeSet::new()));
        let called = Arc::clone(&connections);
        let lines = visit(&scene, move |peer, message| {
            if is_call(message) {
                called.lock().unwrap().insert(peer.socket.as_raw_fd());
                peer.post(wire::FAULT, message.opnum, (0x8000_4005, message.sequence), &frame);
            }
            is_call(message)
        });
        assert!(CALLS.iter().all(|call| said(&lines, call) == "0x80004005"), "{lines:#?}");
        assert_eq!(connections.lock().unwrap().len(), 1);
    }
    scene.assert_unharmed();
}

fn responses_outside_the_area_are_refused(client: Client) {
    let scene = Scene::with(client);
    let end = AREA_LENGTH as u32;
    let places =
        [[0, end, 8], [0, 0, end + 1], [0, u32::MAX - 7, 8], [0, 4, 8], [0, 0, u32::MAX], [1, 0, 8], [u32::MAX, 0, 0]];
    for place in places {
        let lines = visit(&scene, move |peer, message| {
            if is_call(message) {
                let second = u64::from(message.sequence) << 32;
                peer.post_area(peer.next, message.opnum, wire::RESPONSE, second, place);
            }
            is_call(message)
        });
        assert_failed(&lines, &CALLS);
    }
    let lines = visit(&scene, |peer, message| {
        if is_call(message) {
            let first = first_word(peer.next, message.opnum, wire::RESPONSE, 113 + message.sequence as u8);
            peer.raw(peer.next, first, u64::from(message.sequence) << 32, &[0; 112]);
        }
        is_call(message)
    });
    assert_failed(&lines, &CALLS);
    scene.assert_unharmed();
}

fn responses_of_a_wrong_size_are_refused(client: Client) {
    let scene = Scene::with(client);
    for length in [0, 1, 7, 9, 12, 24, 4096] {
        let lines = visit(&scene, move |peer, message| is_call(message) && respond(peer, message, &vec![0; length]));
        assert_failed(&lines, &["Add", "Sum", "Flip", "Mix", "Measure", "Weigh", "Maybe", "Visit", "Reverse", "Fill"]);
        assert_failed(&lines, &["Make", "Marks", "Shout"]);
    }
    scene.assert_unharmed();
}

fn invalid_result_values_are_refused(client: Client) {
    let scene = Scene::with(client);
    let replies: [(u16, &str, Vec<Frame>); 9] = [
        (7, "Flip", [2, 255].iter().map(|&value| Frame::block(1).put(0, &[value])).collect()),
        (8, "Mix", [0, 3].map(|value| Frame::block(4).u32(0, value)).to_vec()),
        (5, "Reverse", arrays(0, 8, 16, 4, &[0; 16])),
        (6, "Fill", arrays(0, 8, 16, 64, &[0; 256])),
        (
            9,
            "Shout",
            [
                arrays(0, 8, 2, 4, b"abc\0"),
                vec![Frame::block(8).object(0, 2, 8, b"abcdefgh"), Frame::block(8).object(0, 2, 0, &[])],
            ]
            .concat(),
        ),
        (9, "Shout", if client == Client::Java { vec![] } else { vec![Frame::block(8).object(0, 2, 4, b"a\0c\0")] }),
        (17, "Marks", marks(12, 0, 8)),
        (18, "All", marks(16, 8, 0)),
        (15, "Make", arrays(0, 8, 1, 80, &[0; 80])),
    ];
    for (opnum, call, frames) in replies {
        for frame in frames {
            let bytes = frame.bytes.clone();
            let lines = visit(&scene, move |peer, message| {
                is_call(message) && message.opnum == opnum && message.first == 7 && respond(peer, message, &bytes)
            });
            assert!(said(&lines, call).starts_with("0x8"), "{call} with {:02x?}: {lines:#?}", frame.bytes);
        }
    }
    scene.assert_unharmed();
}

/// Returns an array's frame in variants with one wrong part each.
fn arrays(slot: usize, block: usize, kind: u32, count: usize, body: &[u8]) -> Vec<Frame> {
    let right = Frame::block(block).object(slot, kind, count, body);
    let mut wrong = vec![];
    for at in [8, 1 << 31, u64::MAX] {
        wrong.push(right.clone().u64(slot, at));
    }
    for other in [0, kind + 3] {
        wrong.push(right.clone().u32(block, other));
    }
    for other in [1, count as u32 + 100, u32::MAX] {
        wrong.push(right.clone().u32(block + 4, other));
    }
    wrong
}

/// Returns frames with an invalid `Mark`, or with a count that differs from the number of marks.
fn marks(block: usize, slot: usize, count: usize) -> Vec<Frame> {
    let of = |said: u32, marks: &[Vec<u8>]| {
        Frame::block(block).u32(count, said).object(slot, 17, marks.len(), &marks.concat())
    };
    let good = mark(1, 1, 1);
    vec![
        of(1, &[mark(2, 1, 1)]),
        of(1, &[mark(1, 3, 1)]),
        of(3, &[good.clone(), good.clone()]),
        of(1, &[good.clone(), good.clone()]),
        of(9, &vec![good.clone(); 9]).u32(count, u32::MAX),
        of(0x8000_0000, &[good]),
    ]
}

/// Returns a reference to an object of the hostile server.
fn reference(oxid: u64) -> Reference {
    let endpoint = format!("oxid-{oxid:016x}");
    Reference { iid: wire::ITHING, refs: 5, oxid, oid: 2, target: (9, 1), endpoint }
}

fn visit_with_reference(scene: &Scene, change: impl Fn(Reference) -> Reference + Send + Sync + 'static) -> Vec<String> {
    visit(scene, move |peer, message| {
        let bytes = change(reference(peer.oxid)).to_wire();
        let is_make = is_call(message) && message.opnum == 15 && message.first == 7;
        is_make && respond(peer, message, &Frame::block(8).object(0, 1, bytes.len(), &bytes).bytes)
    })
}

/// A server can give any target for an interface. Whatever the target is, the proxy has the methods
/// of that interface.
fn a_known_target_cannot_change_its_interface(client: Client) {
    let scene = Scene::with(client);
    // The references have the victim's own target, and then the target of a proxy's identity, each
    // with the victim's OID and with another one.
    for (oid, target) in [(1, (7, 1)), (2, (7, 1)), (1, (u32::MAX, 0)), (2, (u32::MAX, 0))] {
        visit_with_reference(&scene, move |reference| Reference { oid, target, ..reference });
        visit(&scene, move |peer, message| {
            let is_query = message.kind == wire::REQUEST && message.opnum == 3 && message.frame.len() == 24;
            let target = u64::from(target.0) | u64::from(target.1) << 32;
            is_query && (message.first, message.second) == wire::SYSTEM && respond(peer, message, &target.to_le_bytes())
        });
    }
    scene.assert_unharmed();
}

fn references_returned_by_servers_are_checked(client: Client) {
    let scene = Scene::with(client);
    let bad: [fn(Reference) -> Reference; 5] = [
        |reference| Reference { iid: 0x77, ..reference },
        |reference| Reference { oxid: 1, ..reference },
        |reference| Reference { oxid: 1, endpoint: "nobody".to_owned(), ..reference },
        |reference| Reference { endpoint: "../x".to_owned(), oxid: 2, ..reference },
        |reference| Reference { endpoint: String::new(), oxid: 2, ..reference },
    ];
    for change in bad {
        assert_failed(&visit_with_reference(&scene, change), &["Make", "MakeAgain"]);
    }
    // The references' counts overflow when they are added up.
    let lines = visit_with_reference(&scene, |reference| Reference { refs: u32::MAX, ..reference });
    // A Java virtual machine has signed counts, and refuses this count as too large.
    let expected = if client == Client::Java { "0x8001011d" } else { "ok 33" };
    assert_eq!(said(&lines, "MakeAgain"), expected);
    scene.assert_unharmed();
}

fn bind_responses_are_checked(client: Client) {
    let scene = Scene::with(client);
    let process = wire::process(7);
    let answers = [
        vec![],
        vec![0; 112],
        vec![0xff; 4000],
        wire::ack(12, 1, process, &[]),
        wire::ack(12, 1, process, &[0]),
        wire::ack(12, 1, process, &[0, 0]),
        wire::ack(12, 1, process, &[2, 3]),
        wire::ack(12, 1, process, &[0, 3, 0]),
        wire::ack(12, 2, process, &[0, 3]),
        wire::ack(15, 1, process, &[0, 3]),
        wire::ack(12, 1, 0, &[0, 3]),
        wire::ack(12, 1, process ^ 1 << 64, &[0, 3]),
        wire::ack(12, 1, u128::MAX, &[0, 3]),
        wire::bind(7),
    ];
    for answer in answers {
        let lines = visit(&scene, move |peer, message| {
            let is_bind = message.kind == wire::PDU;
            is_bind && peer.post(wire::PDU, 0, (0, 0), &answer) > 0
        });
        assert_failed(&lines, &["connect"]);
    }
    scene.assert_unharmed();
}

fn false_credit_ends_one_way_calls(client: Client) {
    let scene = Scene::with(client);
    for consumed in [0, 5000, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
        visit(&scene, move |peer, message| {
            peer.own.u32(CONSUMED).store(consumed, Ordering::SeqCst);
            message.kind == wire::ONEWAY
        });
    }
    scene.assert_unharmed();
}

/// A hostile server that claims the good server's identity must not get the calls for the good
/// server.
fn a_server_cannot_claim_the_identity_of_another(client: Client) {
    let scene = Scene::with(client);
    let good = scene.oxid_of("victim");
    let server = HostileServer::start(&scene.directory, move |peer, message| {
        let is_bind = message.kind == wire::PDU && message.frame[2] == 11;
        is_bind && peer.post(wire::PDU, 0, (0, 0), &wire::ack(12, 1, wire::process(good), &[0, 3])) > 0
    });
    assert_failed(&scene.visit(&[HOSTILE]), &["connect"]);
    scene.forget_visits();
    assert_failed(&scene.visit(&[HOSTILE, "first"]), &["connect"]);
    drop(server);
    scene.assert_unharmed();
}

/// Answers calls from the area, with a frame that changes all the time.
fn answers_on_moving_ground(client: Client, opnum: u16, frame: &Frame, words: &[(usize, &[u32])]) {
    let scene = Scene::with(client);
    let frame = frame.bytes.clone();
    let words: Vec<_> = words.iter().map(|(at, values)| (AREA + at, values.to_vec())).collect();
    let server = HostileServer::start(&scene.directory, move |peer: &mut Peer, message: &Message| {
        if message.kind != wire::REQUEST || message.first != 7 {
            return false;
        }
        if message.opnum != opnum {
            return respond(peer, message, &[]);
        }
        peer.own.write(AREA, &frame);
        let flipping = flip(peer.own, words.clone());
        let second = u64::from(message.sequence) << 32;
        peer.post_area(peer.next, opnum, wire::RESPONSE, second, [0, 0, frame.len() as u32]);
        peer.next += 1;
        std::thread::sleep(Duration::from_millis(2));
        drop(flipping);
        true
    });
    for _ in 0..3 {
        scene.visit(&[HOSTILE, "again", &opnum.to_string()]);
    }
    drop(server);
    scene.assert_unharmed();
}

fn changing_results_stay_inside_the_frame(client: Client) {
    let marks = [mark(1, 4, 1), mark(0, 2, 2), mark(1, 1, 3)].concat();
    let counts: &[u32] = &[3, 0, 2, 4, 8, 4000, 0x1000_0000, u32::MAX];
    let frame = Frame::block(16).u32(0, 3).object(8, 17, 3, &marks);
    let colors: &[u32] = &[4, 0, 3, u32::MAX];
    answers_on_moving_ground(client, 18, &frame, &[(0, counts), (8, &[24, 16, 0]), (20, counts), (28, colors)]);
}

fn changing_returned_strings_are_not_read_beyond_their_length(client: Client) {
    let text = [vec![b'x'; 63], vec![0]].concat();
    let counts: &[u32] = &[64, 63, 0, 4000, u32::MAX];
    let last = u32::from_le_bytes(*b"xxx\0");
    let frame = Frame::block(8).object(0, 2, 64, &text);
    answers_on_moving_ground(client, 9, &frame, &[(12, counts), (16 + 60, &[last, u32::MAX])]);
}

/// A process that receives an object may close its last connection to the object's process at any
/// time. The object's process may notice the close only after it has sent the object.
fn an_object_that_is_sent_to_a_process_outlives_the_connections_of_that_process(client: Client) {
    const VISIT: u16 = 14;
    const NUMBER: u16 = 3;
    const CONNECTIONS: usize = 8;
    let scene = Scene::with(client);
    let folder = scene.directory.path().to_owned();
    let lines = visit(&scene, move |peer, message| {
        if !is_call(message) || message.opnum != VISIT {
            return false;
        }
        let at = message.frame.windows(4).position(|bytes| bytes == b"MEOW").unwrap();
        let (thing, oxid) = Reference::target_of(&message.frame[at..]);
        // The call is answered only after all these connections have ended, so the object is in
        // transit until then.
        for _ in 0..CONNECTIONS {
            let mut caller = Peer::connect(&folder.join(format!("{}.sock", endpoint_of(oxid))));
            caller.exchange(&wire::bind(peer.oxid));
            let answer = caller.call(thing, NUMBER, &[]);
            if (answer.kind, answer.first) != (wire::RESPONSE, 0) {
                return respond(peer, message, &Frame::block(4).u32(0, 0).bytes);
            }
            // The client hangs up when it notices the close.
            caller.socket.shutdown(std::net::Shutdown::Write).unwrap();
            await_end(&caller.socket);
        }
        false
    });
    assert_eq!(said(&lines, "Visit"), "ok 9");
    scene.assert_unharmed();
}

/// If the server does not take a region, the call fails. The arrays of `[map]` parameters are not
/// copied instead.
#[test]
fn calls_whose_regions_are_not_taken_fail() {
    const REGIONS: u16 = 11;
    const BLEND: u16 = 3;
    const SILENT: &str = "0x8001011f";
    type Answer = fn(&mut Peer, &Message) -> bool;
    let answers: [(Answer, &str); 5] = [
        // The server hangs up.
        (|peer, _| peer.socket.shutdown(std::net::Shutdown::Both).is_ok(), "0x80010108"),
        // The server does not answer.
        (|_, _| true, SILENT),
        // The server answers another call.
        (|peer, message| peer.post(wire::RESPONSE, REGIONS, (0, message.sequence + 1), &[]) > 0, "0x8001000f"),
        // The server does not perform the call, so that the region's file stays in the socket.
        (|peer, message| peer.post(wire::FAULT, REGIONS, (wire::NO_MEMORY, message.sequence), &[]) > 0, "0x8007000e"),
        // The server cannot map the region. A `[map]` array is not copied then, either.
        (|peer, message| peer.post(wire::RESPONSE, REGIONS, (0x8007_000e, message.sequence), &[]) > 0, "0x80070057"),
    ];
    let scene = Scene::with(Client::Cpp);
    // Only calls to the silent server have a short limit, because a busy machine may need longer
    // for a connection.
    let how = |expected| if expected == SILENT { "silent" } else { "" };
    let visits: [fn(&Scene, &str) -> Vec<String>; 2] = [
        |scene, how| Process::start(&scene.directory, &["mapper", HOSTILE, how]).finish(),
        |scene, how| scene.visit(&[HOSTILE, "map", how]),
    ];
    let all = answers.into_iter().enumerate();
    for ((at, (answer, expected)), visit) in all.flat_map(|answer| visits.map(|visit| (answer, visit))) {
        let passed = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&passed);
        let server = HostileServer::start(&scene.directory, move |peer, message| {
            let is_system = (message.first, message.second) == wire::SYSTEM;
            if message.kind != wire::REQUEST {
                return false;
            }
            match message.opnum {
                6 if is_system => {
                    let name = reference(peer.oxid);
                    respond(peer, message, &Reference { iid: wire::IMAPPED, target: (7, 1), ..name }.to_wire())
                }
                REGIONS if is_system => {
                    count.fetch_add(1, Ordering::SeqCst);
                    answer(peer, message)
                }
                _ if is_system => false,
                // The other methods copy arrays.
                opnum => {
                    assert!(opnum > BLEND, "no array of a [map] parameter is copied");
                    respond(peer, message, &Frame::block(8).object(0, 16, 8, &[7; 8]).bytes)
                }
            }
        });
        let lines = visit(&scene, how(expected));
        drop(server);
        let is_refused = at == answers.len() - 1;
        let mix = if is_refused { "Mix ok ()".to_owned() } else { format!("Mix {expected}") };
        let outcomes = [format!("Blend {expected}"), mix];
        assert_eq!(lines, [&outcomes[..], &outcomes[..], &["good".to_owned()]].concat());
        // Each call passes only its first region, because the call then fails. If the server
        // answers that it cannot map a region, the client passes each region only once.
        let passed = passed.load(Ordering::SeqCst);
        assert!(passed == 4 || expected == SILENT && (1..4).contains(&passed), "{expected}: {passed}");
    }
    scene.assert_unharmed();
}

/// A method that failed has no results. Results that arrive beside a failed HRESULT would leak,
/// since no caller frees them.
#[test]
fn results_of_failed_methods_are_refused() {
    const E_FAIL: u32 = 0x8000_4005;
    for client in [Client::Rust, Client::Cpp] {
        let text = Frame::block(8).object(0, 2, 6, b"QUIET\0").bytes;
        let marks = Frame::block(16).u32(0, 2).object(8, 17, 2, &mark(1, 1, 1).repeat(2)).bytes;
        let scene = Scene::with(client);
        let lines = visit(&scene, move |peer, message| {
            let thing = reference(peer.oxid).to_wire();
            let frame = match message.opnum {
                9 => &text,
                15 => &Frame::block(8).object(0, 1, thing.len(), &thing).bytes,
                18 => &marks,
                _ => return false,
            };
            let is_victim = is_call(message) && message.first == 7;
            is_victim && peer.post(wire::RESPONSE, message.opnum, (E_FAIL, message.sequence), frame) > 0
        });
        for call in ["Shout", "Make", "MakeAgain", "All"] {
            // In C++, the library performs these methods except `Shout`, and does not look at the
            // results.
            let is_by_table = client == Client::Cpp && call != "Shout";
            let expected = if is_by_table { "0x80004005" } else { "0x8001000f" };
            assert_eq!(said(&lines, call), expected, "{client:?}: {call}");
        }
        scene.forget_visits();
        scene.assert_unharmed();
    }
}
