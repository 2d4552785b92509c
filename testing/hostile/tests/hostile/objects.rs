//! Tests of wrong bytes in calls: targets, opnums, frames, references, and the runtime's own calls.

use crate::hostile_server::{HostileServer, endpoint_of};
use crate::peer::{Message, Peer};
use crate::scene::{PATIENCE, Scene, Server, against_every_server, await_that};
use crate::wire::{self, BAD_DATA, BAD_PROTOCOL, Frame, NOT_FOUND, OP_RANGE, Reference, SYSTEM, mark};
use std::os::unix::net::UnixListener;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};

against_every_server! {
    unknown_targets_are_not_found,
    unknown_opnums_are_refused,
    frames_of_a_wrong_size_are_refused,
    counts_that_differ_from_their_array_are_refused,
    slots_that_point_outside_the_frame_are_refused,
    booleans_enumerations_and_ranges_are_checked,
    strings_without_a_final_zero_are_refused,
    requests_for_overlong_results_are_refused,
    malformed_references_are_refused,
    references_to_unreachable_endpoints_are_refused,
    references_to_the_servers_own_objects_are_resolved_and_checked,
    releases_over_the_held_count_release_only_held_references,
    references_of_other_clients_cannot_be_released,
    reference_lists_in_refused_calls_do_no_harm,
    references_handed_to_unknown_or_dead_processes_do_no_harm,
    references_handed_to_many_strangers_are_refused,
    the_runtimes_own_calls_check_their_arguments,
    the_runtimes_own_calls_need_a_bind,
    malformed_binds_end_the_connection,
    clients_cannot_change_their_identity,
    references_of_a_disconnected_client_are_dropped,
    binds_with_the_identity_of_another_process_do_it_no_harm;
    but_java:
    unclaimed_reference_lists_are_limited,
    lists_of_references_outlive_the_link_of_their_call,
}

/// The opnum of the runtime's own call that lists the references of the preceding call.
const LISTED: u16 = 26;
/// The opnum of the runtime's own call that releases references.
pub(crate) const RELEASE: u16 = 4;

/// The opnum of the runtime's own call that passes references on to a process.
pub(crate) const TRANSFER: u16 = 5;

const SUM: u16 = 4;
const REVERSE: u16 = 5;
const FILL: u16 = 6;
const FLIP: u16 = 7;
const MIX: u16 = 8;
const SHOUT: u16 = 9;
const MEASURE: u16 = 10;
const DIGIT: u16 = 11;
const WEIGH: u16 = 12;
const MAYBE: u16 = 13;
const VISIT: u16 = 14;
const MAKE: u16 = 15;
const GRID: u16 = 16;
const MARKS: u16 = 17;

/// The HRESULT E_OUTOFMEMORY.
const OUT_OF_MEMORY: u32 = 0x8007_000e;

/// The HRESULTs E_NOINTERFACE, RPC_E_INVALID_OBJREF, and CO_E_OBJNOTCONNECTED, for passed
/// references.
const NO_INTERFACE: u32 = 0x8000_4002;
const INVALID_OBJREF: u32 = 0x8001_011d;
const NOT_CONNECTED: u32 = 0x8004_01fd;
/// The HRESULT REGDB_E_CLASSNOTREG, for a custom reference whose class is not registered.
const NO_CLASS: u32 = 0x8004_0154;

fn sum(count: u32, values: &[u32]) -> Frame {
    Frame::block(16).u32(0, count).object(
        8,
        16,
        values.len(),
        &values.iter().map(|v| v.to_le_bytes()).collect::<Vec<_>>().concat(),
    )
}

/// Runs calls on a connection, which must still work afterwards.
fn on_a_connection(server: Server, act: impl FnOnce(&mut Peer, wire::Target)) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    act(&mut peer, object);
    peer.assert_good(object);
    drop(peer);
    scene.assert_unharmed();
}

fn unknown_targets_are_not_found(server: Server) {
    on_a_connection(server, |peer, object| {
        let add = Frame::block(8).bytes;
        peer.refused((object.0, object.1 ^ 1), 3, &add, NOT_FOUND);
        for index in [object.0, object.0 + 1, 1000, u32::MAX] {
            // The generations of other clients' objects are random, and almost never have one of
            // these values.
            for generation in [0, 1 << 30, u32::MAX] {
                if (index, generation) != SYSTEM {
                    peer.refused((index, generation), 3, &add, NOT_FOUND);
                }
            }
        }
    });
}

fn unknown_opnums_are_refused(server: Server) {
    on_a_connection(server, |peer, object| {
        // The server's table of methods has 32 entries. The index of a larger opnum is the opnum
        // modulo 32.
        for opnum in [0, 1, 2, 32, 33, 34, 64, 0x8000, 0xffe0] {
            peer.refused(object, opnum, &[], OP_RANGE);
        }
        let refused = if server == Server::Java { OP_RANGE } else { BAD_DATA };
        for opnum in [255, 0xffff] {
            peer.refused(object, opnum, &[], refused);
        }
        for opnum in [0, 1, 2, 0x100, 0xffff] {
            peer.refused(SYSTEM, opnum, &[], OP_RANGE);
        }
    });
}

fn frames_of_a_wrong_size_are_refused(server: Server) {
    on_a_connection(server, |peer, object| {
        for length in [0, 1, 4, 7, 9, 16, 24, 112, 113, 4096, 100_000] {
            peer.refused(object, 3, &vec![0; length], BAD_DATA);
        }
        for opnum in [SUM, REVERSE, SHOUT, MEASURE, WEIGH, GRID] {
            for length in [0, 1, 7, 8, 12, 15] {
                peer.refused(object, opnum, &vec![0; length], BAD_DATA);
            }
        }
        let right = sum(3, &[1, 2, 3]).bytes;
        for length in 0..right.len() {
            peer.refused(object, SUM, &right[..length], BAD_DATA);
        }
        for more in [1, 8, 100] {
            peer.refused(object, SUM, &[right.clone(), vec![0; more]].concat(), BAD_DATA);
        }
        assert_eq!(peer.good(object, SUM, &right), 6_u64.to_le_bytes());
    });
}

fn counts_that_differ_from_their_array_are_refused(server: Server) {
    // For an array that is also a result, the server allocates the reply first. If the wrong count
    // makes the reply too long, the fault is NO_MEMORY.
    let is_refused = |peer: &mut Peer, object, frame: &Frame| {
        let answer = peer.call(object, REVERSE, &frame.bytes);
        assert!(answer.kind == wire::FAULT && [BAD_DATA, wire::NO_MEMORY].contains(&answer.first), "{answer:x?}");
    };
    on_a_connection(server, |peer, object| {
        // A count of four would fit, because of the padding.
        for count in [0, 2, 5, 6, 1000, 0x4000_0000, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
            peer.refused(object, SUM, &sum(count, &[1, 2, 3]).bytes, BAD_DATA);
            is_refused(peer, object, &sum(count, &[1, 2, 3]));
            // The array's own header has the same wrong count.
            peer.refused(object, SUM, &sum(count, &[1, 2, 3]).u32(20, count).bytes, BAD_DATA);
            is_refused(peer, object, &sum(count, &[1, 2, 3]).u32(20, count));
        }
        // The products overflow, or are negative.
        for (width, height) in
            [(i32::MAX, i32::MAX), (-1, 3), (3, -1), (-1, -3), (i32::MIN, i32::MIN), (1 << 16, 1 << 16), (i32::MIN, -1)]
        {
            let frame = Frame::block(16).u32(0, width as u32).u32(4, height as u32).object(8, 18, 3, &[0; 6]);
            let answer = peer.call(object, GRID, &frame.bytes);
            // The product of -1 and -3 is three, which is the array's length.
            let wanted = if (width, height) == (-1, -3) { (wire::RESPONSE, 0) } else { (wire::FAULT, BAD_DATA) };
            assert_eq!((answer.kind, answer.first), wanted, "{width} times {height}");
        }
    });
}

fn slots_that_point_outside_the_frame_are_refused(server: Server) {
    on_a_connection(server, |peer, object| {
        let elsewhere = [0, 1, 8, 16, 23, 25, 32, 40, 1 << 31, 1 << 32 | 24, 24 << 32, u64::MAX, u64::MAX - 7, 1 << 63];
        for slot in elsewhere {
            peer.refused(object, SUM, &sum(3, &[1, 2, 3]).u64(8, slot).bytes, BAD_DATA);
            peer.refused(object, REVERSE, &sum(3, &[1, 2, 3]).u64(8, slot).bytes, BAD_DATA);
        }
        for kind in [0, 1, 2, 3, 15, 17, 18, 19, 0x1_0010, u32::MAX] {
            peer.refused(object, SUM, &sum(3, &[1, 2, 3]).u32(16, kind).bytes, BAD_DATA);
        }
    });
}

fn booleans_enumerations_and_ranges_are_checked(server: Server) {
    on_a_connection(server, |peer, object| {
        for value in 2..=255 {
            peer.refused(object, FLIP, &Frame::block(1).put(0, &[value]).bytes, BAD_DATA);
        }
        for value in [0, 3, 5, 8, 0x100, 0x8000_0000, u32::MAX] {
            peer.refused(object, MIX, &Frame::block(4).u32(0, value).bytes, BAD_DATA);
        }
        for value in [10, 11, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
            peer.refused(object, DIGIT, &Frame::block(4).u32(0, value).bytes, BAD_DATA);
        }
        assert_eq!(peer.good(object, DIGIT, &Frame::block(4).u32(0, 9).bytes)[..4], 9_u32.to_le_bytes());
        // The next calls pass the same values inside of structures, in an array and alone.
        let marks = |second: &[u8]| [mark(1, 4, 10), second.to_vec()].concat();
        let weigh = |marks: &[u8]| Frame::block(16).u32(0, 2).object(8, 17, 2, marks).bytes;
        assert_eq!(peer.good(object, WEIGH, &weigh(&marks(&mark(1, 1, 2)))), 42_u64.to_le_bytes());
        for (set, color) in [(2, 1), (255, 1), (1, 0), (1, 3), (1, u32::MAX)] {
            peer.refused(object, WEIGH, &weigh(&marks(&mark(set, color, 1))), BAD_DATA);
            peer.refused(object, MAYBE, &Frame::block(8).object(0, 17, 1, &mark(set, color, 1)).bytes, BAD_DATA);
        }
        for count in [0, 2, u32::MAX as usize] {
            peer.refused(object, MAYBE, &Frame::block(8).object(0, 17, count, &mark(1, 1, 1)).bytes, BAD_DATA);
        }
    });
}

fn strings_without_a_final_zero_are_refused(server: Server) {
    on_a_connection(server, |peer, object| {
        let narrow = |count: usize, text: &[u8]| Frame::block(8).object(0, 2, count, text).bytes;
        let wide = |count: usize, text: &[u16]| {
            Frame::block(8).object(0, 3, count, &text.iter().flat_map(|c| c.to_le_bytes()).collect::<Vec<_>>()).bytes
        };
        peer.refused(object, SHOUT, &narrow(3, b"abc"), BAD_DATA);
        peer.refused(object, SHOUT, &narrow(8, b"abcdefgh"), BAD_DATA);
        peer.refused(object, SHOUT, &narrow(0, b""), BAD_DATA);
        peer.refused(object, SHOUT, &narrow(9, b"abc\0"), BAD_DATA);
        peer.refused(object, SHOUT, &narrow(1 << 30, b"abc\0"), BAD_DATA);
        peer.refused(object, SHOUT, &narrow(u32::MAX as usize, b"abc\0"), BAD_DATA);
        peer.refused(object, SHOUT, &wide(2, &[65, 0]), BAD_DATA);
        peer.refused(object, MEASURE, &wide(2, &[65, 66]), BAD_DATA);
        peer.refused(object, MEASURE, &wide(0, &[]), BAD_DATA);
        peer.refused(object, MEASURE, &wide(5, &[65, 0]), BAD_DATA);
        peer.refused(object, MEASURE, &wide(u32::MAX as usize, &[65, 0]), BAD_DATA);
        peer.refused(object, MEASURE, &narrow(2, b"a\0"), BAD_DATA);
        // A string with a second zero would have another length in other languages.
        peer.refused(object, SHOUT, &narrow(4, b"a\0c\0"), BAD_DATA);
        peer.refused(object, MEASURE, &wide(6, &[0xd800, 0xdfff, 0xdc00, 0, 0xd800, 0]), BAD_DATA);
        // The string must not be null.
        peer.refused(object, MEASURE, &Frame::block(8).bytes, BAD_DATA);
        peer.refused(object, SHOUT, &Frame::block(8).bytes, BAD_DATA);
        if server == Server::Java {
            peer.refused(object, SHOUT, &narrow(7, b"a\xff\xc0\x80\xfeb\0"), BAD_DATA);
            return;
        }
        // FLAT does not interpret characters: invalid text is passed unchanged.
        let loud = peer.good(object, SHOUT, &narrow(7, b"a\xff\xc0\x80\xfeb\0"));
        assert_eq!(loud[16..23], *b"A\xff\xc0\x80\xfeB\0");
        let length = peer.good(object, MEASURE, &wide(4, &[0xd800, 0xdfff, 0xdc00, 0]));
        assert_eq!(length[..4], 3_u32.to_le_bytes());
    });
}

fn requests_for_overlong_results_are_refused(server: Server) {
    on_a_connection(server, |peer, object| {
        for count in [0x0400_0001, 0x1000_0000, 0x1fff_ffff, 0x2000_0000, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
            // Arrays in Java cannot have so many elements.
            let is_none = server == Server::Java && count > i32::MAX as u32;
            for opnum in [FILL, MARKS] {
                let refused = if is_none { BAD_DATA } else { wire::NO_MEMORY };
                peer.refused(object, opnum, &Frame::block(4).u32(0, count).bytes, refused);
            }
        }
        let filled = peer.good(object, FILL, &Frame::block(4).u32(0, 50_000).bytes);
        assert_eq!(filled.len(), 16 + 200_000);
    });
}

/// Returns a reference to an object of a process that does not exist.
fn reference() -> Reference {
    let endpoint = "oxid-0000000000000001".to_owned();
    Reference { iid: wire::ITHING, refs: 5, oxid: 1, oid: 1, target: (0, 1), endpoint }
}

fn visit(reference: &[u8]) -> Vec<u8> {
    Frame::block(8).object(0, 1, reference.len(), reference).bytes
}

fn malformed_references_are_refused(server: Server) {
    on_a_connection(server, |peer, object| {
        let right = reference().to_wire();
        for length in [0, 1, 4, 24, 63, 64, 67, 68, 70, right.len() - 4] {
            peer.refused(object, VISIT, &visit(&right[..length]), INVALID_OBJREF);
        }
        let wrong: [(usize, &[u8]); 7] = [
            (0, b"MEOX"),
            (4, &[2]),
            (56, &[9]),
            (64, &[0xff, 0xff]),
            (64, &[0, 0]),
            // The tower ID is unknown.
            (68, &[0x77, 0]),
            // The string has half of a surrogate pair of UTF-16.
            (70, &[0, 0xd8]),
        ];
        for (at, bytes) in wrong {
            let mut reference = right.clone();
            reference[at..at + bytes.len()].copy_from_slice(bytes);
            peer.refused(object, VISIT, &visit(&reference), INVALID_OBJREF);
        }
        // The custom reference names a class that is not registered.
        let custom = [&right[..4], &[4], &right[5..]].concat();
        peer.refused(object, VISIT, &visit(&custom), NO_CLASS);
        peer.refused(object, VISIT, &visit(&vec![0; 5000]), INVALID_OBJREF);
        peer.refused(object, VISIT, &visit(&right)[..16], BAD_DATA);
        let huge = Frame::block(8).object(0, 1, u32::MAX as usize, &right).bytes;
        peer.refused(object, VISIT, &huge, BAD_DATA);
        // A null reference reaches the method as a null pointer, and the method returns E_POINTER.
        assert_eq!(peer.call(object, VISIT, &Frame::block(8).bytes).first, 0x8000_4003);
    });
}

fn references_to_unreachable_endpoints_are_refused(server: Server) {
    on_a_connection(server, |peer, object| {
        let names =
            ["oxid-0000000000000001", "nobody", "", ".", "..", "../victim", "/etc/passwd", "a b", "a\nb", "victim"];
        let long = "x".repeat(1900);
        for endpoint in names.into_iter().chain([long.as_str()]) {
            let reference = Reference { endpoint: endpoint.to_owned(), ..reference() };
            let answer = peer.call(object, VISIT, &visit(&reference.to_wire()));
            assert!(answer.kind == wire::FAULT && answer.first >= 0x8000_0000, "{endpoint}: {answer:x?}");
        }
    });
}

fn references_to_the_servers_own_objects_are_resolved_and_checked(server: Server) {
    on_a_connection(server, |peer, object| {
        let oxid = peer.oxid_of("victim");
        let own = |target| Reference { oxid, target, endpoint: format!("oxid-{oxid:016x}"), ..reference() };
        // The targets are an object without the interface of the parameter, the runtime's own
        // target, and two targets that do not exist.
        peer.refused(object, VISIT, &visit(&own(object).to_wire()), NO_INTERFACE);
        for target in [(0, 0), (1000, 1), (u32::MAX, u32::MAX)] {
            peer.refused(object, VISIT, &visit(&own(target).to_wire()), NOT_CONNECTED);
        }
        let made = peer.good(object, MAKE, &Frame::block(4).u32(0, 33).bytes);
        let (thing, _) = Reference::target_of(&made[16..]);
        let number = peer.good(object, VISIT, &visit(&own(thing).to_wire()));
        assert_eq!(number[..4], 33_u32.to_le_bytes());
    });
}

/// Returns the frame of a Release call, with a reference count for each target.
pub(crate) fn release(targets: &[(wire::Target, u64)]) -> Vec<u8> {
    targets
        .iter()
        .flat_map(|((a, b), refs)| [a.to_le_bytes(), b.to_le_bytes()].concat().into_iter().chain(refs.to_le_bytes()))
        .collect()
}

pub(crate) fn make(peer: &mut Peer, object: wire::Target, number: u32) -> wire::Target {
    Reference::target_of(&peer.good(object, MAKE, &Frame::block(4).u32(0, number).bytes)[16..]).0
}

fn releases_over_the_held_count_release_only_held_references(server: Server) {
    on_a_connection(server, |peer, object| {
        let thing = make(peer, object, 5);
        peer.good(SYSTEM, 4, &release(&[(thing, u64::MAX), (thing, 3), ((900, 1), 1), ((0, 0), 1)]));
        peer.refused(thing, 3, &[], NOT_FOUND);
        peer.good(SYSTEM, 4, &release(&[(thing, u64::MAX); 500]));
        // The index belongs to a new object, which the old generation does not reach.
        let next = make(peer, object, 6);
        peer.refused(thing, 3, &[], NOT_FOUND);
        peer.good(SYSTEM, 4, &release(&[(thing, 1)]));
        assert_eq!(peer.good(next, 3, &[])[..4], 6_u32.to_le_bytes());
    });
}

fn references_of_other_clients_cannot_be_released(server: Server) {
    on_a_connection(server, |peer, object| {
        // The witness holds references to the object too; the witness's objects are the first
        // entries of the table.
        for index in 0..64 {
            for generation in 1..20 {
                peer.good(SYSTEM, 4, &release(&[((index, generation), u64::MAX)]));
            }
        }
        // The client's references are released. The object still exists, because the witness holds
        // it.
        peer.assert_good(object);
    });
}

fn reference_lists_in_refused_calls_do_no_harm(server: Server) {
    on_a_connection(server, |peer, object| {
        let list = |count| release(&vec![((9, 9), u64::MAX); count]);
        // The first list follows no refused call.
        peer.post(wire::ONEWAY, LISTED, SYSTEM, &list(3));
        peer.good(SYSTEM, LISTED, &list(3));
        let missing = (1000, 1);
        for frame in [list(1), list(1024), list(1025), vec![0xff; 8], vec![0xff; 24], Vec::new()] {
            peer.post(wire::ONEWAY, 3, missing, &[]);
            peer.post(wire::ONEWAY, LISTED, SYSTEM, &frame);
            peer.post(wire::ONEWAY, LISTED, SYSTEM, &frame);
            peer.assert_good(object);
        }
        peer.refused(missing, 3, &[], NOT_FOUND);
        peer.refused(SYSTEM, LISTED, &list(1025), BAD_DATA);
        for _ in 0..200 {
            peer.post(wire::ONEWAY, 3, missing, &[]);
            peer.post(wire::ONEWAY, LISTED, SYSTEM, &list(1024));
            peer.assert_good(object);
        }
    });
}

fn unclaimed_reference_lists_are_limited(server: Server) {
    /// The greatest number of references that the server keeps for a client.
    const OWED_MAX: usize = 1024;
    const ROUNDS: usize = 12;
    /// A reference by which the last list is recognised.
    const LAST: wire::Target = (77, 7);

    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    let (oxid, missing) = (peer.oxid, (1000, 1));
    let endpoint = endpoint_of(oxid);
    let is_release = |message: &Message| (message.first, message.second, message.opnum) == (0, 0, RELEASE);
    let refuse = |peer: &mut Peer, list: &[u8]| {
        peer.post(wire::ONEWAY, 3, missing, &[]);
        peer.post(wire::ONEWAY, LISTED, SYSTEM, list);
        peer.assert_good(object);
    };
    // The server connects to the client's endpoint, and the first release there is not answered.
    let (tell, told) = channel();
    let silent = HostileServer::start_as(&scene.directory, oxid, std::slice::from_ref(&endpoint), move |_, message| {
        message.kind == wire::REQUEST && is_release(message) && {
            let _ = tell.send(());
            true
        }
    });
    let own = Reference { oxid, target: (9, 1), endpoint: endpoint.clone(), ..reference() };
    peer.good(object, VISIT, &visit(&own.to_wire()));
    refuse(&mut peer, &release(&[((9, 9), 1)]));
    told.recv_timeout(PATIENCE).unwrap();
    // The release times out, but the connection stays. The endpoint accepts no other connection.
    let socket = scene.directory.socket(&endpoint);
    std::fs::remove_file(&socket).unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    listener.set_nonblocking(true).unwrap();
    for _ in 0..ROUNDS {
        refuse(&mut peer, &release(&[((9, 9), 1); OWED_MAX]));
        await_that("the server connects again", || listener.accept().is_ok());
    }
    std::fs::remove_file(&socket).unwrap();
    drop(listener);
    // The endpoint accepts connections again, and counts the lists of references that arrive.
    let (tell, told) = channel();
    let taking = HostileServer::start_as(&scene.directory, oxid, &[endpoint], move |_, message| {
        if message.kind == wire::REQUEST && is_release(message) {
            let _ = tell.send(message.frame.clone());
        }
        false
    });
    let last = release(&[(LAST, 1)]);
    let mut count = 0;
    await_that("the last list comes", || {
        refuse(&mut peer, &last);
        let came: Vec<u8> = told.try_iter().flatten().collect();
        count += came.len() / last.len();
        came.chunks(last.len()).any(|entry| entry == last)
    });
    assert!(count <= 4 * OWED_MAX, "{count} references came");
    drop((taking, silent, peer));
    scene.assert_unharmed();
}

fn lists_of_references_outlive_the_link_of_their_call(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    let endpoint = endpoint_of(peer.oxid);
    let own =
        visit(&Reference { oxid: peer.oxid, target: (9, 1), endpoint: endpoint.clone(), ..reference() }.to_wire());
    let is_release = |message: &Message| (message.kind, message.first, message.opnum) == (wire::REQUEST, 0, RELEASE);
    // The server waits at the client's endpoint for the answer to its release of the visitor.
    let (tell, told) = channel();
    let (end, ended) = channel::<()>();
    let ended = Mutex::new(ended);
    let first =
        HostileServer::start_as(&scene.directory, peer.oxid, std::slice::from_ref(&endpoint), move |_, message| {
            is_release(message) && {
                let _ = tell.send(());
                ended.lock().unwrap().recv_timeout(PATIENCE) == Err(RecvTimeoutError::Disconnected)
            }
        });
    peer.good(object, VISIT, &own);
    told.recv_timeout(PATIENCE).unwrap();
    // If the release times out, the server cannot connect to the endpoint again, and sends no list.
    std::fs::remove_file(scene.directory.socket(&endpoint)).unwrap();
    let list = release(&[((77, 7), 1)]);
    peer.post(wire::ONEWAY, 3, (1000, 1), &[]);
    peer.post(wire::ONEWAY, LISTED, SYSTEM, &list);
    peer.assert_good(object);
    // The server's link to the client ends, and the client's connection to the server stays.
    drop(first);
    drop(end);
    // Without a link, the server cannot unmarshal the visitor.
    await_that("the link ends", || {
        let answer = peer.call(object, VISIT, &own);
        (answer.kind, answer.first) != (wire::RESPONSE, 0)
    });
    let (tell, told) = channel();
    let second = HostileServer::start_as(&scene.directory, peer.oxid, &[endpoint], move |_, message| {
        if is_release(message) {
            let _ = tell.send(message.frame.clone());
        }
        false
    });
    await_that("the list comes over the next link", || {
        peer.good(object, VISIT, &own);
        told.try_iter().any(|frame| frame == list)
    });
    drop((second, peer));
    scene.assert_unharmed();
}

pub(crate) fn transfer(target: wire::Target, to: u64, refs: u64) -> Vec<u8> {
    Frame::block(24).u32(0, target.0).u32(4, target.1).u64(8, to).u64(16, refs).bytes
}

fn references_handed_to_unknown_or_dead_processes_do_no_harm(server: Server) {
    on_a_connection(server, |peer, object| {
        let own = peer.oxid;
        for refs in [0, 1, u64::MAX] {
            peer.good(SYSTEM, TRANSFER, &transfer(object, own, refs));
            peer.good(SYSTEM, TRANSFER, &transfer(object, 0, refs));
        }
        let answer = peer.call(SYSTEM, TRANSFER, &transfer((77, 77), own, 1));
        assert_eq!(answer.failure(), Some(NOT_FOUND));
    });
}

/// The receivers do not connect, so the server would keep their references for minutes.
fn references_handed_to_many_strangers_are_refused(server: Server) {
    const RECEIVERS_MAX: u64 = 1024;
    on_a_connection(server, |peer, object| {
        let failures = (0..RECEIVERS_MAX + 2).map(|at| {
            let to = 0x5eed_0000 + at;
            peer.call(SYSTEM, TRANSFER, &transfer(object, to, 1)).failure().unwrap_or_default()
        });
        let failures: Vec<u32> = failures.collect();
        let first = failures.iter().position(|failure| *failure != 0).unwrap();
        // A server in Java counts the receivers that all clients of one process have named: this
        // process may have named some before.
        assert!((RECEIVERS_MAX - 16..=RECEIVERS_MAX).contains(&(first as u64)), "{first} receivers");
        assert!(failures[first..].iter().all(|failure| *failure == OUT_OF_MEMORY));
    });
}

fn the_runtimes_own_calls_check_their_arguments(server: Server) {
    on_a_connection(server, |peer, object| {
        for opnum in [3, 5, 6, 8] {
            for length in [0, 1, 8, 15, 17, 23] {
                peer.refused(SYSTEM, opnum, &vec![0xff; length], BAD_DATA);
            }
        }
        // The place of a receiver is truncated, too long, or no UTF-8. A server in Java, which no
        // other host reaches, does not read the place.
        for (bits, hosts) in [(9, vec![b'a'; 8]), (1032, vec![b'a'; 1032]), (u64::MAX, vec![]), (1, vec![0xff; 8])] {
            let words = [0_u64, bits].into_iter().flat_map(u64::to_le_bytes);
            let frame: Vec<u8> = transfer(object, 5, 1).into_iter().chain(words).chain(hosts).collect();
            if server != Server::Java {
                peer.refused(SYSTEM, TRANSFER, &frame[..32], BAD_DATA);
                peer.refused(SYSTEM, TRANSFER, &frame, BAD_DATA);
            }
        }
        peer.refused(SYSTEM, 4, &[0; 8], BAD_DATA);
        peer.refused(SYSTEM, 4, &[0; 24], BAD_DATA);
        // Releases block other clients, so the number of targets in one call is limited.
        peer.good(SYSTEM, 4, &release(&[((9, 9), 1); 1024]));
        peer.refused(SYSTEM, 4, &release(&[((9, 9), 1); 1025]), BAD_DATA);
        let query = |target: wire::Target, iid| {
            Frame::block(24).u32(0, target.0).u32(4, target.1).put(8, &wire::uuid(iid)).bytes
        };
        for (target, iid, status) in [
            (object, 0x77, NO_INTERFACE),
            (object, wire::IPAIR, NO_INTERFACE),
            (SYSTEM, wire::IUNKNOWN, NOT_FOUND),
            ((9, 9), wire::IUNKNOWN, NOT_FOUND),
            // The interface by which the runtime recognizes its own proxies.
            (object, 0x5f3c_1e86_40d7_4b0b_9a2e_c05d_77ab_13f4, NO_INTERFACE),
        ] {
            let answer = peer.call(SYSTEM, 3, &query(target, iid));
            assert_eq!(answer.failure(), Some(status), "{iid:x}");
        }
        // The names are too long, go beyond the frame's end, or are no UTF-8.
        for length in [9, 256, u64::from(u32::MAX), u64::MAX] {
            peer.refused(SYSTEM, 6, &Frame::block(32).u64(16, length).bytes, BAD_DATA);
        }
        peer.refused(SYSTEM, 6, &Frame::block(32).u64(16, 4).put(24, b"\xff\xfe\x80\xc0").bytes, BAD_DATA);
        for name in ["", "nobody", "\0\0", "../victim"] {
            let answer = peer.call(SYSTEM, 6, &wire::resolve(name, wire::IVICTIM));
            assert_eq!(answer.failure(), Some(NOT_FOUND));
        }
        let answer = peer.call(SYSTEM, 6, &wire::resolve("victim", wire::IPAIR));
        assert_eq!(answer.failure(), Some(NO_INTERFACE));
    });
}

fn the_runtimes_own_calls_need_a_bind(server: Server) {
    let scene = Scene::of(server);
    let mut peer = scene.greeted();
    for opnum in 0..12 {
        peer.refused(SYSTEM, opnum, &[0; 24], BAD_PROTOCOL);
    }
    drop(peer);
    scene.assert_unharmed();
}

fn malformed_binds_end_the_connection(server: Server) {
    let scene = Scene::of(server);
    let right = wire::bind(5);
    let mut units: Vec<Vec<u8>> =
        vec![vec![], vec![0; 4], vec![0xff; 112], vec![5; 200_000], right[..right.len() - 1].to_vec()];
    for (at, value) in [
        (0, 4),
        (2, 12),
        (2, 0),
        (3, 0),
        (4, 0),
        (8, 0),
        (8, 0xff),
        (9, 0xff),
        (10, 1),
        (24, 65),
        (24, 255),
        (30, 0xff),
    ] {
        let mut unit = right.clone();
        unit[at] = value;
        units.push(unit);
    }
    // The binds name no process.
    units.push(wire::unit(11, 1, &wire::contexts(&[(wire::ITHING, 0)])));
    units.push(wire::unit(11, 1, &wire::contexts(&[])));
    for unit in units {
        let mut peer = scene.greeted();
        peer.post(wire::PDU, 0, (0, 0), &unit);
        peer.assert_cut_off();
        // After a bind, the same units end the connection too, except for a bind, which may be
        // repeated.
        let (mut peer, _) = scene.bound();
        peer.post(wire::PDU, 0, (0, 0), &unit);
        if peer.message_within(crate::scene::PATIENCE).is_none() {
            peer.assert_cut_off();
        }
    }
    scene.assert_unharmed();
}

fn clients_cannot_change_their_identity(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, _) = scene.bound();
    let own = wire::bind(peer.oxid);
    assert_eq!(peer.exchange(&own)[2], 12);
    peer.post(wire::PDU, 0, (0, 0), &wire::bind(peer.oxid + 1));
    peer.assert_cut_off();
    scene.assert_unharmed();
}

fn references_of_a_disconnected_client_are_dropped(server: Server) {
    let scene = Scene::of(server);
    let (mut peer, object) = scene.bound();
    let thing = make(&mut peer, object, 8);
    let (mut other, _) = scene.bound();
    assert_eq!(other.good(thing, 3, &[])[..4], 8_u32.to_le_bytes());
    peer.post(9, 0, (0, 0), &[]);
    peer.assert_cut_off();
    await_that("the object is gone", || other.call(thing, 3, &[]).first == NOT_FOUND);
    drop((peer, other));
    scene.assert_unharmed();
}

/// The witness exports objects, so that other processes can learn its OXID. Another process that
/// claims this OXID counts as another client, or is refused.
fn binds_with_the_identity_of_another_process_do_it_no_harm(server: Server) {
    let scene = Scene::of(server);
    let server = scene.oxid_of("victim");
    let oxids: Vec<_> = scene.directory.endpoints().into_iter().filter(|&oxid| oxid != server).collect();
    assert_eq!(oxids.len(), 1, "the witness has an endpoint");
    for _ in 0..5 {
        let mut peer = scene.greeted();
        peer.post(wire::PDU, 0, (0, 0), &wire::bind(oxids[0]));
        if peer.message_within(crate::scene::PATIENCE).is_some() {
            // If the server took the peer for the witness, these calls would release the references
            // of the witness.
            for index in 0..64 {
                peer.good(SYSTEM, 4, &release(&[((index, 1), u64::MAX), ((index, 2), u64::MAX)]));
            }
        } else {
            peer.assert_cut_off();
        }
    }
    scene.assert_unharmed();
}
