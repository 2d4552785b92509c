//! Tests of hostile frames with structures that share targets. A structure with two owners would be
//! freed twice.

use crate::hostile_server::{HOSTILE, HostileServer, respond};
use crate::peer::Peer;
use crate::scene::{Directory, Process};
use crate::wire::{self, BAD_DATA, Frame, NO_MEMORY, Reference, Target};

/// The opnums of the methods.
const BESIDE: u16 = 3;
const TWO: u16 = 4;
const SWAP: u16 = 5;
const TURN: u16 = 6;
const TELL: u16 = 7;
const ROOMS: u16 = 8;

/// The types of objects in frames.
const NODE: u32 = 16;
const TEXT: u32 = 17;

/// Returns a node with a number and a full pointer; its unique pointer is null.
fn node(number: u32, next: u64) -> Vec<u8> {
    Frame::block(24).u32(0, number).u64(8, next).bytes
}

/// Returns the wire form of a malformed string: its length is five bytes, but it has no words to
/// contain them.
fn malformed_text() -> Vec<u8> {
    Frame::block(8).u32(0, 5).u32(4, 0).bytes
}

/// Starts a server, and connects to it.
fn served(directory: &Directory) -> (Process, Peer, Target) {
    let mut server = Process::start(directory, &["graph-server"]);
    server.await_ready();
    let mut peer = Peer::connect(&directory.socket("victim"));
    peer.introduce();
    let object = peer.resolve("victim", wire::IGRAPHS);
    (server, peer, object)
}

/// Two arguments lead to the same node. One argument stays the caller's, and the method may free
/// the other.
#[test]
fn arguments_with_different_owners_may_share_a_target() {
    let directory = Directory::new();
    let (mut server, mut peer, object) = served(&directory);
    for _ in 0..50 {
        for number in [0, 1] {
            let kept = Frame::block(32).put(0, &node(number, 72));
            let frame = kept.object(24, NODE, 1, &node(2, 72)).object(8, NODE, 1, &node(3, 0)).bytes;
            let results = peer.good(object, BESIDE, &frame);
            let expected = match number {
                0 => Frame::block(8).object(0, NODE, 1, &node(2, 48)).object(24, NODE, 1, &node(3, 0)).bytes,
                _ => Frame::block(8).bytes,
            };
            assert_eq!(results, expected, "the first number is {number}");
        }
    }
    server.assert_alive();
    server.finish();
}

/// The server refuses a request after it has copied the arguments that the method may free.
#[test]
fn refused_requests_leave_no_memory() {
    const REQUESTS: u64 = 500;
    let directory = Directory::new();
    let (mut server, mut peer, object) = served(&directory);
    // The request has a list and a malformed text.
    let mut list = Frame::block(16);
    for number in 0..1000 {
        let slot = if number == 0 { 8 } else { list.bytes.len() - 16 };
        list = list.object(slot, NODE, 1, &node(number, 0));
    }
    let told = list.object(0, TEXT, 0, &malformed_text()).bytes;
    // The first array fits a reply, and the second one does not.
    let rooms = Frame::block(16).u32(0, 100 << 20).bytes;
    let refuse_all = |peer: &mut Peer, requests: u64| {
        for _ in 0..requests {
            peer.refused(object, TELL, &told, BAD_DATA);
            peer.refused(object, ROOMS, &rooms, NO_MEMORY);
        }
    };
    refuse_all(&mut peer, 10);
    let before = data_of(&server);
    refuse_all(&mut peer, REQUESTS);
    // If each request with 1000 nodes left them allocated, the server would exceed this limit.
    let most = before + REQUESTS * 1000 * 24 / 2;
    assert!(data_of(&server) < most, "the server has {} bytes, and had {before}", data_of(&server));
    server.assert_alive();
    server.finish();
}

/// Returns the number of bytes that a process has for its data.
fn data_of(process: &Process) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let size = status.lines().find_map(|line| line.strip_prefix("VmData:")).unwrap();
    size.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// Two results share a node, and other results are malformed.
#[test]
fn results_with_different_owners_may_share_a_target() {
    let directory = Directory::new();
    let server = HostileServer::start(&directory, |peer, message| {
        if message.kind != wire::REQUEST {
            return false;
        }
        let frame = match (message.first, message.opnum) {
            (0, 6) => {
                let endpoint = format!("oxid-{:016x}", peer.oxid);
                Reference { iid: wire::IGRAPHS, refs: 5, oxid: peer.oxid, oid: 1, target: (7, 1), endpoint }.to_wire()
            }
            (7, TWO) => {
                let both = Frame::block(16).object(0, NODE, 1, &node(9, 88)).object(8, NODE, 1, &node(9, 0));
                both.u64(64, 88).object(32, NODE, 1, &node(10, 88)).bytes
            }
            (7, SWAP) => Frame::block(16).object(8, TEXT, 0, &malformed_text()).bytes,
            (7, TURN) => Frame::block(32).put(0, &node(8, 0)).object(24, TEXT, 0, &malformed_text()).bytes,
            _ => return false,
        };
        respond(peer, message, &frame)
    });
    let lines = Process::start(&directory, &["graph-client", HOSTILE]).finish();
    drop(server);
    let refused = "Some(HRESULT(0x8001000F))";
    let round = format!("Two [9, 10] [9, 10]\nSwap {refused} Some(5)\nTurn {refused} 6 Some(6)\n");
    assert!(lines.join("\n") == round.repeat(20) + "good", "{lines:#?}");
}
