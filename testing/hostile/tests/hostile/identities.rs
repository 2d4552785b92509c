//! Tests of peers that claim the identity of a client. The identity is the client's OXID. Every
//! process with a reference to one of the client's objects knows this OXID.

use crate::objects::{RELEASE, TRANSFER, make, release, transfer};
use crate::peer::{Peer, fresh_oxid};
use crate::scene::{Directory, PATIENCE, Process, await_that};
use crate::wire::{self, NOT_FOUND, SYSTEM, Target};
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::process::{Command, Stdio};

/// The opnum of the call that returns the server's mark for the caller.
const MARK: u16 = 17;
/// The opnum of the method by which a made object returns its number.
const NUMBER: u16 = 3;

/// A peer that calls the runtime's own target over TCP.
struct Stranger {
    stream: TcpStream,
    /// The number of the peer's calls so far.
    calls: u32,
}

impl Stranger {
    /// Connects to the endpoint of a binding, and claims an OXID.
    fn claiming(oxid: u64, binding: &str) -> Self {
        Self::claiming_from(Ipv4Addr::LOCALHOST, oxid, binding).0
    }

    /// Connects from an address of this host to the endpoint of a binding, and claims an OXID.
    /// Returns the result and the reason code of the claim, too.
    fn claiming_from(host: Ipv4Addr, oxid: u64, binding: &str) -> (Self, [u16; 2]) {
        let port = binding.split(['[', ']', ',']).nth(1).unwrap().parse().unwrap();
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&socket, &SocketAddrV4::new(host, 0)).unwrap();
        connect(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)).unwrap();
        let stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut stranger = Self { stream, calls: 0 };
        let answer = stranger.exchange(&wire::bind(oxid));
        assert_eq!(answer[2], 12, "a bind_ack");
        // The answer ends with the outcome of the last context: result, reason, and a transfer
        // syntax of 20 bytes.
        let [result, result_high, reason, reason_high, ..] = answer[answer.len() - 24..] else { panic!("no outcome") };
        (stranger, [u16::from_le_bytes([result, result_high]), u16::from_le_bytes([reason, reason_high])])
    }

    /// Sends a PDU, and returns the answer.
    fn exchange(&mut self, unit: &[u8]) -> Vec<u8> {
        self.stream.write_all(unit).unwrap();
        let mut answer = vec![0; 16];
        self.stream.read_exact(&mut answer).unwrap();
        answer.resize(usize::from(u16::from_le_bytes([answer[8], answer[9]])), 0);
        self.stream.read_exact(&mut answer[16..]).unwrap();
        answer
    }

    /// Makes a call, which must succeed. Returns the response.
    #[track_caller]
    fn good(&mut self, opnum: u16, frame: &[u8]) -> Vec<u8> {
        self.calls += 1;
        let answer = self.exchange(&wire::request(1 + self.calls, opnum, frame));
        assert_eq!(answer[2], 2, "a response: {answer:02x?}");
        answer
    }

    /// Releases more references to a target than there are.
    #[track_caller]
    fn releases(&mut self, target: Target) {
        let _ = self.good(RELEASE, &release(&[(target, u64::MAX)]));
    }
}

#[track_caller]
fn is_alive(peer: &mut Peer, thing: Target, number: u32) {
    assert_eq!(peer.good(thing, NUMBER, &[])[..4], number.to_le_bytes());
}

#[test]
fn a_network_peer_with_the_oxid_of_a_local_client_cannot_act_for_it() {
    let directory = Directory::new();
    let mut server = Process::start(&directory, &["server", "ncacn_ip_tcp:127.0.0.1"]);
    let binding = server.line();
    let client = || {
        let mut peer = Peer::connect(&directory.socket("victim"));
        peer.introduce();
        let object = peer.resolve("victim", wire::IVICTIM);
        (peer, object)
    };
    let ((mut owner, object), (mut giver, _)) = (client(), client());
    let own = make(&mut owner, object, 8);
    let mut stranger = Stranger::claiming(owner.oxid, &binding);
    stranger.releases(own);
    is_alive(&mut owner, own, 8);
    // The stranger cannot release a reference that was passed to the client either.
    let passed = make(&mut giver, object, 9);
    giver.good(SYSTEM, TRANSFER, &transfer(passed, owner.oxid, 1));
    giver.good(SYSTEM, RELEASE, &release(&[(passed, u64::MAX)]));
    stranger.releases(passed);
    is_alive(&mut owner, passed, 9);
    // When the stranger's connection ends, the client does not count as ended.
    drop(stranger);
    Stranger::claiming(giver.oxid, &binding).releases(own);
    is_alive(&mut owner, own, 8);
    owner.good(SYSTEM, RELEASE, &release(&[(passed, 1)]));
    owner.refused(passed, NUMBER, &[], NOT_FOUND);
    is_alive(&mut owner, own, 8);
    drop((owner, giver));
    server.finish();
}

#[test]
fn a_stranger_gets_no_references_that_are_passed_to_a_process_before_it_connects() {
    let directory = Directory::new();
    let mut server = Process::start(&directory, &["server", "ncacn_ip_tcp:127.0.0.1"]);
    let binding = server.line();
    let mut giver = Peer::connect(&directory.socket("victim"));
    giver.introduce();
    let object = giver.resolve("victim", wire::IVICTIM);
    let receiver = fresh_oxid();
    let mut pass_on = |number| {
        let passed = make(&mut giver, object, number);
        giver.good(SYSTEM, TRANSFER, &transfer(passed, receiver, 1));
        giver.good(SYSTEM, RELEASE, &release(&[(passed, u64::MAX)]));
        passed
    };
    // The stranger claims the OXID when the first reference has been passed on, but not yet the
    // second one.
    let first = pass_on(8);
    let mut stranger = Stranger::claiming(receiver, &binding);
    let second = pass_on(9);
    for passed in [first, second] {
        stranger.releases(passed);
    }
    drop(stranger);
    for (passed, number) in [(first, 8), (second, 9)] {
        is_alive(&mut giver, passed, number);
    }
    // The receiver connects, and has both references.
    let mut owner = Peer::connect(&directory.socket("victim"));
    owner.exchange(&wire::bind(receiver));
    owner.good(SYSTEM, RELEASE, &release(&[(first, 1), (second, 1)]));
    for passed in [first, second] {
        giver.refused(passed, NUMBER, &[], NOT_FOUND);
    }
    drop((giver, owner));
    server.finish();
}

/// In this test, different addresses of this host count as different hosts.
#[test]
fn too_many_hosts_that_claim_one_identity_are_refused_with_the_reason() {
    const HOSTS_MAX: u8 = 16;
    const NEGOTIATED: [u16; 2] = [3, 0];
    const LIMIT_EXCEEDED: [u16; 2] = [2, 3];
    let directory = Directory::new();
    let mut server = Process::start(&directory, &["server", "ncacn_ip_tcp:127.0.0.1"]);
    let (binding, oxid) = (server.line(), fresh_oxid());
    let claim = |host| Stranger::claiming_from(Ipv4Addr::new(127, 0, 0, host), oxid, &binding);
    let (all, outcomes): (Vec<_>, Vec<_>) = (1..=HOSTS_MAX).map(claim).unzip();
    assert_eq!(outcomes, [NEGOTIATED; HOSTS_MAX as usize]);
    assert_eq!([claim(HOSTS_MAX + 1).1, claim(1).1], [LIMIT_EXCEEDED, NEGOTIATED]);
    drop(all);
    await_that("another host can claim the identity", || claim(HOSTS_MAX + 1).1 == NEGOTIATED);
    server.finish();
}

/// In this test, different addresses of this host count as different hosts.
#[test]
fn the_key_of_a_mark_is_not_sent_over_an_unencrypted_network() {
    const KEY_LENGTH: usize = 16;
    let directory = Directory::new();
    let mut server = Process::start(&directory, &["server", "ncacn_ip_tcp:127.0.0.1"]);
    let binding = server.line();
    let answer = |host| {
        let (mut peer, _) = Stranger::claiming_from(Ipv4Addr::new(127, 0, 0, host), fresh_oxid(), &binding);
        peer.good(MARK, &[]).len()
    };
    assert_eq!(answer(1), answer(2) + KEY_LENGTH);
    server.finish();
}

/// The server sees neither the process id of the client nor that of the attacker.
#[test]
fn clients_in_other_pid_namespaces_are_told_apart() {
    let apart = ["--pid", "--fork", "--kill-child"];
    let possible = Command::new("unshare").args(apart).arg("true").stderr(Stdio::null()).status();
    if !possible.is_ok_and(|status| status.success()) {
        return;
    }
    let directory = Directory::new();
    let mut command = Command::new("unshare");
    let mut server =
        Process::spawn(&directory, command.args(apart).args([env!("CARGO_BIN_EXE_obvia-hostile"), "server"]));
    server.await_ready();
    let greeted = || Peer::connect(&directory.socket("victim"));
    let (mut owner, object) = {
        let mut peer = greeted();
        peer.introduce();
        let object = peer.resolve("victim", wire::IVICTIM);
        (peer, object)
    };
    let server_oxid = owner.oxid_of("victim");
    let mut witness = Process::start(&directory, &["witness"]);
    witness.await_ready();
    let others = directory.endpoints().into_iter().find(|oxid| *oxid != server_oxid);
    let other = others.expect("the witness has an endpoint");
    // The attacker claims the OXID of the witness. The server counts the attacker as another
    // client, which has none of the witness's references.
    let mut attacker = greeted();
    attacker.exchange(&wire::bind(other));
    for index in 0..64 {
        attacker.good(SYSTEM, RELEASE, &release(&[((index, 1), u64::MAX), ((index, 2), u64::MAX)]));
    }
    // A further connection of the owner's process belongs to the same client.
    let thing = make(&mut owner, object, 8);
    let mut second = greeted();
    second.exchange(&wire::bind(owner.oxid));
    second.good(SYSTEM, RELEASE, &release(&[(thing, u64::MAX)]));
    owner.refused(thing, NUMBER, &[], NOT_FOUND);
    drop((owner, second, attacker));
    witness.finish();
    server.finish();
}
