//! Tests of single steps of the protocol, unit by unit, and of misbehaving peers.

use super::network::Random;
use crate::dg::pdu::{Cancel, CancelAck, Fack, Header, PduType, flags, flags2, read_status, write_status};
use crate::dg::{
    Activity, CallKey, FIRST_FRAGMENT, Failure, Limits, Outcome, OutgoingCall, Semantics, Server, ServerEvent,
    ServerOptions,
};
use crate::octets::ByteOrder;
use crate::status::Status;
use crate::uuid::{SyntaxId, Uuid};
use obvia_via::datagram::Place;
use std::time::{Duration, Instant};

pub(super) const INTERFACE: SyntaxId = SyntaxId { uuid: Uuid(0x1234), version: 1 };
pub(super) const BOOT: u32 = 77;

fn place(port: u16) -> Place {
    format!("10.0.0.2:{port}").parse().unwrap()
}

pub(super) fn server_with(limits: Limits) -> Server {
    Server::new(ServerOptions { limits, boot: BOOT, secret: [3; 16] })
}

/// A client and a server between which the test transfers datagrams without loss.
struct Pair {
    now: Instant,
    server: Server,
    client: Activity,
    /// The types of all units sent so far, in order.
    said: Vec<PduType>,
}

impl Pair {
    fn new() -> Self {
        let client = Activity::new(Uuid(0x0ac7), Uuid(0x0ca5), Limits::default(), false);
        Self { now: Instant::now(), server: server_with(Limits::default()), client, said: Vec::new() }
    }

    fn call(&mut self, semantics: Semantics, stub: &[u8]) {
        let call = OutgoingCall { interface: INTERFACE, opnum: 0, object: None, semantics, stub };
        self.client.call(self.now, &call).unwrap();
    }

    /// Transfers datagrams in both directions until neither side has output.
    fn carry(&mut self) {
        self.said.extend(carry_between(&mut self.server, &mut self.client, self.now));
    }

    /// Returns the key of the call to be executed.
    fn key(&mut self) -> Option<CallKey> {
        match self.server.next_event()? {
            ServerEvent::Call(call) => Some(call.key),
            other => panic!("{other:?}"),
        }
    }

    fn after(&mut self, span: Duration) {
        self.now += span;
        self.client.tick(self.now);
        self.server.tick(self.now);
    }
}

/// Transfers datagrams in both directions until neither side has output. Returns the types of the
/// units, in order.
fn carry_between(server: &mut Server, client: &mut Activity, now: Instant) -> Vec<PduType> {
    let mut said = Vec::new();
    loop {
        let sent: Vec<Vec<u8>> = client.output().iter().map(|((), bytes)| bytes.to_vec()).collect();
        client.output().clear();
        let back: Vec<Vec<u8>> = server.output().iter().map(|(_, bytes)| bytes.to_vec()).collect();
        server.output().clear();
        if sent.is_empty() && back.is_empty() {
            return said;
        }
        for bytes in sent {
            said.push(PduType(bytes[1]));
            server.receive(now, place(1), &bytes);
        }
        for bytes in back {
            said.push(PduType(bytes[1]));
            client.receive(now, &bytes);
        }
    }
}

fn ended(outcome: Option<Outcome>) -> Result<Vec<u8>, Status> {
    outcome.expect("the call has ended").map(|(_, stub)| stub).map_err(|failure| failure.status)
}

#[test]
fn a_datagram_call_takes_two_pdus_after_the_client_is_identified() {
    let mut pair = Pair::new();
    // The request, the callback, the client's answer, and the nocall that asks for the request
    // again.
    let identified = [PduType::REQUEST, PduType::REQUEST, PduType::RESPONSE, PduType::NOCALL];
    let call = [PduType::REQUEST, PduType::RESPONSE];
    for (number, expected) in [(1, [&identified[..], &call].concat()), (2, call.to_vec())] {
        pair.said.clear();
        pair.call(Semantics::AtMostOnce, &[number; 9]);
        pair.carry();
        let key = pair.key().unwrap();
        pair.server.respond(pair.now, key, vec![number]);
        pair.carry();
        assert_eq!(ended(pair.client.take_outcome()), Ok(vec![number]));
        assert_eq!(pair.said, expected);
    }
    // The server keeps the response until the client's periodic work acknowledges it.
    assert_eq!(pair.server.held(), 1);
    pair.now += Duration::from_secs(1);
    pair.client.keep(pair.now);
    pair.carry();
    assert_eq!((pair.said.last(), pair.server.held()), (Some(&PduType::ACK), 0));
}

#[test]
fn repeated_requests_are_answered_without_a_second_execution() {
    for semantics in [Semantics::AtMostOnce, Semantics::Idempotent] {
        let mut pair = Pair::new();
        pair.call(semantics, &[1]);
        let request: Vec<u8> = pair.client.output().iter().next().unwrap().1.to_vec();
        pair.carry();
        let key = pair.key().unwrap();
        // The duplicate arrives during the execution.
        pair.server.receive(pair.now, place(1), &request);
        assert_eq!(pair.server.output().iter().next().unwrap().1[1], PduType::WORKING.0);
        assert!(pair.server.next_event().is_none());
        pair.server.output().clear();
        pair.server.respond(pair.now, key, vec![5]);
        pair.server.output().clear();
        // The duplicate arrives after the response was lost.
        pair.server.receive(pair.now, place(1), &request);
        if semantics == Semantics::Idempotent {
            let key = pair.key().expect("it may be performed again");
            pair.server.respond(pair.now, key, vec![5]);
        }
        assert!(pair.server.next_event().is_none());
        pair.carry();
        assert_eq!(ended(pair.client.take_outcome()), Ok(vec![5]));
        // The duplicate arrives after the client has the response.
        pair.client.end();
        pair.carry();
        if semantics == Semantics::AtMostOnce {
            pair.server.receive(pair.now, place(1), &request);
            assert!(pair.server.next_event().is_none() && pair.server.output().is_empty());
        }
    }
}

#[test]
fn a_response_without_an_acknowledgement_is_sent_again_five_times() {
    let mut pair = Pair::new();
    pair.call(Semantics::AtMostOnce, &[1]);
    pair.carry();
    let key = pair.key().unwrap();
    pair.server.respond(pair.now, key, vec![5]);
    let (mut responses, begun) = (0, pair.now);
    while pair.server.held() > 0 {
        assert!(pair.now < begun + Duration::from_mins(1), "the response is kept");
        responses += pair.server.output().iter().filter(|(_, bytes)| bytes[1] == PduType::RESPONSE.0).count();
        pair.server.output().clear();
        pair.now += Duration::from_millis(100);
        pair.server.tick(pair.now);
    }
    assert_eq!((responses, pair.server.output().is_empty()), (1 + 5, true));
    // The timeouts are 0.25, 0.5, 1, 2, 4 and 4 seconds.
    assert!(pair.now - begun >= Duration::from_millis(11_750), "the fifth response had no time to arrive");
}

#[test]
fn old_requests_of_forgotten_activities_are_not_performed() {
    let mut pair = Pair::new();
    pair.call(Semantics::AtMostOnce, &[1]);
    let request: Vec<u8> = pair.client.output().iter().next().unwrap().1.to_vec();
    pair.carry();
    let key = pair.key().unwrap();
    pair.server.respond(pair.now, key, vec![5]);
    pair.carry();
    assert_eq!(ended(pair.client.take_outcome()), Ok(vec![5]));
    for _ in 0..50 {
        pair.after(Duration::from_secs(10));
        pair.server.output().clear();
    }
    assert_eq!(pair.server.activities(), 0);
    pair.server.receive(pair.now, place(1), &request);
    pair.carry();
    // By its answer to the callback, the client has not confirmed the call, which is not its
    // current call.
    assert!(pair.server.next_event().is_none() && pair.server.activities() == 0);
    // The client makes its next call, and confirms it when the server asks because of a duplicate
    // of the old request.
    pair.call(Semantics::AtMostOnce, &[2]);
    pair.client.output().clear();
    pair.server.receive(pair.now, place(1), &request);
    pair.carry();
    assert_eq!(pair.key().unwrap().sequence, key.sequence + 1);
    pair.server.receive(pair.now, place(1), &request);
    assert!(pair.server.next_event().is_none());
}

#[test]
fn a_restarted_datagram_server_is_detected_by_its_boot_time() {
    let mut pair = Pair::new();
    pair.call(Semantics::AtMostOnce, &[1]);
    pair.carry();
    pair.key().unwrap();
    let limits = Limits::default();
    pair.server = Server::new(ServerOptions { limits, boot: BOOT + 1, secret: [4; 16] });
    // The client knows the boot time of the previous instance from that instance's callback, so the
    // new server rejects the call.
    pair.after(Duration::from_secs(1));
    pair.carry();
    assert!(pair.server.next_event().is_none());
    assert_eq!(ended(pair.client.take_outcome()), Err(Status::WRONG_BOOT_TIME));
    pair.call(Semantics::AtMostOnce, &[2]);
    pair.carry();
    let key = pair.key().expect("the next call is the new server's");
    pair.server.fault(pair.now, key, Status::BAD_STUB_DATA, true);
    pair.carry();
    assert_eq!(ended(pair.client.take_outcome()), Err(Status::BAD_STUB_DATA));
}

#[test]
fn requests_from_forged_addresses_are_not_performed() {
    let mut server = server_with(Limits::default());
    let now = Instant::now();
    let mut request = Vec::new();
    Header { interface: INTERFACE, ..Header::new(PduType::REQUEST, Uuid(5), 1) }.write(&mut request, &[1; 100]);
    server.receive(now, place(1), &request);
    let (to, question) = server.output().iter().map(|(to, bytes)| (to, bytes.to_vec())).next().unwrap();
    assert!(to == place(1) && question.len() < request.len() + 1, "nobody is sent more than what was said in its name");
    // The process at the forged address gets the callback, and does not know the call.
    let mut stranger = Activity::new(Uuid(6), Uuid(7), Limits::default(), false);
    stranger.receive(now, &question);
    let answer = stranger.output().iter().next().unwrap().1.to_vec();
    server.receive(now, place(1), &answer);
    assert!(server.next_event().is_none() && server.activities() == 0);
    // An answer from another address is ignored.
    server.receive(now, place(1), &request);
    let mut own = Activity::new(Uuid(5), Uuid(7), Limits::default(), false);
    let call =
        OutgoingCall { interface: INTERFACE, opnum: 0, object: None, semantics: Semantics::AtMostOnce, stub: &[] };
    own.call(now, &call).unwrap();
    own.output().clear();
    let question = server.output().iter().last().unwrap().1.to_vec();
    own.receive(now, &question);
    let answer = own.output().iter().next().unwrap().1.to_vec();
    server.receive(now, place(2), &answer);
    server.receive(now, place(1), &request);
    assert!(server.next_event().is_none() && server.activities() == 0);
    server.receive(now, place(1), &answer);
    server.receive(now, place(1), &request);
    assert!(matches!(server.next_event(), Some(ServerEvent::Call(call)) if call.client == Some(Uuid(7))));
}

#[test]
fn silent_clients_abandon_their_call_and_cancels_reach_the_server() {
    let mut pair = Pair::new();
    pair.call(Semantics::AtMostOnce, &[1]);
    pair.carry();
    let key = pair.key().unwrap();
    pair.client.cancel(3);
    pair.carry();
    assert_eq!(pair.said.last(), Some(&PduType::CANCEL_ACK));
    assert!(matches!(pair.server.next_event(), Some(ServerEvent::Cancelled(it)) if it == key));
    pair.server.fault(pair.now, key, Status::CANCELLED, true);
    let fault = pair.server.output().iter().next().unwrap().1.to_vec();
    assert_eq!(Header::read(&fault).unwrap().0.flags2, flags2::CANCEL_PENDING);
    pair.carry();
    assert_eq!(ended(pair.client.take_outcome()), Err(Status::CANCELLED));
    pair.call(Semantics::AtMostOnce, &[2]);
    pair.carry();
    let key = pair.key().unwrap();
    // The client's process ends.
    for _ in 0..4 {
        pair.now += Duration::from_secs(10);
        pair.server.tick(pair.now);
    }
    assert!(matches!(pair.server.next_event(), Some(ServerEvent::Cancelled(it)) if it == key));
    // The server's process ends, so the client gets no answer.
    let mut said = 0;
    while pair.client.take_outcome().is_none() {
        pair.now = pair.client.due().unwrap();
        pair.client.tick(pair.now);
        said += pair.client.output().iter().count();
        pair.client.output().clear();
        assert!(said < 40, "it asks less and less often");
    }
}

#[test]
fn a_datagram_call_fails_after_three_refusals_of_the_network() {
    let mut pair = Pair::new();
    pair.call(Semantics::Idempotent, &[1]);
    for _ in 0..2 {
        pair.client.refused(pair.now);
        assert_eq!(pair.client.take_outcome(), None);
    }
    pair.client.refused(pair.now);
    assert_eq!(ended(pair.client.take_outcome()), Err(Status::SERVER_UNAVAILABLE));
}

#[test]
fn datagram_servers_read_both_byte_orders() {
    let (mut server, now) = (server_with(Limits::default()), Instant::now());
    let big = Header { order: ByteOrder::Big, interface: INTERFACE, ..Header::new(PduType::REQUEST, Uuid(5), 1) };
    let mut bytes = Vec::new();
    big.write(&mut bytes, &[0, 0, 0, 1]);
    server.receive(now, place(1), &bytes);
    let question = Header::read(server.output().iter().next().unwrap().1).unwrap().0;
    // Sequence number 1, the address space, status 0.
    let answer = [&[0, 0, 0, 1][..], &[7; 16], &[0; 4]].concat();
    bytes.clear();
    Header { kind: PduType::RESPONSE, order: ByteOrder::Big, ..question }.write(&mut bytes, &answer);
    server.receive(now, place(1), &bytes);
    bytes.clear();
    big.write(&mut bytes, &[0, 0, 0, 1]);
    server.receive(now, place(1), &bytes);
    let Some(ServerEvent::Call(call)) = server.next_event() else { panic!("it is not performed") };
    assert_eq!((call.order, call.stub.as_slice()), (ByteOrder::Big, [0, 0, 0, 1].as_slice()));
}

#[test]
fn signed_datagram_calls_are_refused() {
    let (mut server, now) = (server_with(Limits::default()), Instant::now());
    let mut bytes = Vec::new();
    Header { auth: 10, interface: INTERFACE, ..Header::new(PduType::REQUEST, Uuid(5), 1) }.write(&mut bytes, &[]);
    server.receive(now, place(1), &bytes);
    let (header, body) = Header::read(server.output().iter().next().unwrap().1).unwrap();
    assert_eq!((header.kind, read_status(&header, body)), (PduType::REJECT, Ok(Status::UNSUPPORTED_AUTHENTICATION)));
    assert_eq!(server.activities(), 0);
}

/// Returns units of every type with random contents, or random bytes.
fn nonsense(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    let header = Header {
        flags: random.next() as u8,
        order: if random.below(2) == 0 { ByteOrder::Little } else { ByteOrder::Big },
        serial: random.next() as u16,
        interface: INTERFACE,
        boot: [0, BOOT, 1][random.below(3) as usize],
        opnum: random.below(4) as u16,
        fragment: [0, 1, 2, 3, random.next() as u16][random.below(5) as usize],
        ..Header::new(PduType(random.below(11) as u8), Uuid(random.below(200).into()), random.below(4) as u32)
    };
    match random.below(5) {
        0 => Fack::new(random.next() as u16, random.next() as u32, random.next() as u16).write(&mut bytes, &header),
        1 => Cancel { id: 1 }.write(&mut bytes, &header),
        2 => CancelAck { id: 1, is_accepted: true }.write(&mut bytes, &header),
        3 => header.write(&mut bytes, &write_status(Status(random.below(9) as u32))),
        _ => header.write(&mut bytes, &vec![7; random.below(1400) as usize]),
    }
    for _ in 0..random.below(3) {
        let at = random.below(bytes.len() as u64) as usize;
        bytes[at] = random.next() as u8;
    }
    bytes.truncate(bytes.len() - random.below(2) as usize * random.below(40) as usize % bytes.len());
    bytes
}

#[test]
fn random_datagrams_cause_no_panic_and_bounded_memory() {
    let limits = Limits { message_max: 20_000, held_max: 100_000, activities_max: 50, ..Limits::default() };
    let mut server = server_with(limits.clone());
    let mut client = Activity::new(Uuid(3), Uuid(4), limits, false);
    let (mut random, mut now) = (Random(5), Instant::now());
    let rounds = if cfg!(miri) { 300 } else { 60_000 };
    for round in 0..rounds {
        now += Duration::from_millis(random.below(20));
        let bytes = nonsense(&mut random);
        // The test answers callbacks as well, so that the server executes calls.
        let asked: Vec<Vec<u8>> = server.output().iter().map(|(_, bytes)| bytes.to_vec()).collect();
        server.output().clear();
        for question in asked {
            let (header, body) = Header::read(&question).unwrap();
            if header.kind == PduType::REQUEST && random.below(2) == 0 {
                let sequence = random.below(4) as u32;
                let answer = [&sequence.to_le_bytes()[..], &body[..16], &[0; 4]].concat();
                let mut bytes = Vec::new();
                Header { kind: PduType::RESPONSE, ..header }.write(&mut bytes, &answer);
                server.receive(now, place(1), &bytes);
            }
        }
        server.receive(now, place(random.below(3) as u16), &bytes);
        client.receive(now, &bytes);
        while let Some(event) = server.next_event() {
            if let ServerEvent::Call(call) = event {
                assert!(call.stub.len() <= 20_000);
                server.respond(now, call.key, vec![1; random.below(30_000) as usize]);
            }
        }
        if round % 50 == 0 {
            let stub = vec![0; random.below(20_000) as usize];
            let semantics = [Semantics::AtMostOnce, Semantics::Idempotent][random.below(2) as usize];
            let call = OutgoingCall { interface: INTERFACE, opnum: 0, object: None, semantics, stub: &stub };
            client.call(now, &call).unwrap();
        }
        server.tick(now);
        client.tick(now);
        let outcome = client.take_outcome();
        assert!(!matches!(outcome, Some(Ok((_, stub))) if stub.len() > 20_000));
        client.output().clear();
        // One host gets half of the resources, however many addresses it uses. Messages that fit
        // one short unit do not need room in this share.
        let most = 50_000 + 25 * FIRST_FRAGMENT;
        assert!(server.held() <= most && server.activities() <= 25, "{} {}", server.held(), server.activities());
    }
}

#[test]
fn messages_over_the_limit_are_refused() {
    let limits = Limits { message_max: 5_000, ..Limits::default() };
    let mut pair = Pair::new();
    pair.server = server_with(limits.clone());
    pair.call(Semantics::AtMostOnce, &[1; 6_000]);
    pair.carry();
    assert_eq!(pair.client.take_outcome(), Some(Err(Failure { status: Status::REMOTE_NO_MEMORY, began: false })));
    assert!(pair.server.next_event().is_none());
    let mut client = Activity::new(Uuid(3), Uuid(4), limits, false);
    let long = [1; 6_000];
    let call =
        OutgoingCall { interface: INTERFACE, opnum: 0, object: None, semantics: Semantics::AtMostOnce, stub: &long };
    assert_eq!(client.call(pair.now, &call), Err(Status::PROTOCOL_ERROR));
    assert!(client.output().is_empty());
}

#[test]
fn maybe_datagram_calls_are_sent_without_acknowledgement() {
    let mut pair = Pair::new();
    pair.call(Semantics::Idempotent, &[1]);
    pair.carry();
    let key = pair.key().unwrap();
    pair.server.respond(pair.now, key, vec![1]);
    pair.carry();
    assert_eq!(ended(pair.client.take_outcome()), Ok(vec![1]));
    pair.said.clear();
    pair.call(Semantics::Maybe, &[3; 4000]);
    let sent: Vec<Header> = pair.client.output().iter().map(|(_, bytes)| Header::read(bytes).unwrap().0).collect();
    assert_eq!(sent.len(), 3);
    assert!(sent.iter().all(|header| header.has(flags::MAYBE | flags::NO_FACK | flags::FRAGMENT)));
    pair.carry();
    assert_eq!(pair.said, [PduType::REQUEST; 3]);
    let Some(ServerEvent::Call(call)) = pair.server.next_event() else { panic!("it is not performed") };
    assert!(call.is_maybe && call.client == Some(Uuid(0x0ca5)) && call.stub == [3; 4000]);
    pair.server.respond(pair.now, call.key, vec![1]);
    assert!(pair.server.output().is_empty() && pair.server.held() == 0);
}

#[test]
fn the_arguments_of_a_long_call_count_until_no_copy_of_them_is_left() {
    const LENGTH: usize = 40_000;
    for semantics in [Semantics::AtMostOnce, Semantics::Maybe] {
        let mut pair = Pair::new();
        // By this call, the server identifies the client.
        pair.call(Semantics::Idempotent, &[1]);
        pair.carry();
        let key = pair.key().unwrap();
        pair.server.respond(pair.now, key, Vec::new());
        pair.carry();
        assert!(pair.client.take_outcome().is_some() && pair.server.held() == 0);
        pair.call(semantics, &[3; LENGTH]);
        pair.carry();
        let Some(ServerEvent::Call(call)) = pair.server.next_event() else { panic!("it is not performed") };
        assert_eq!((call.stub.len(), pair.server.held()), (LENGTH, LENGTH));
        if semantics == Semantics::AtMostOnce {
            pair.server.fault(pair.now, call.key, Status::OP_RNG_ERROR, true);
            pair.carry();
            assert!(ended(pair.client.take_outcome()).is_err());
        }
        assert!(pair.server.held() >= LENGTH);
        drop(call);
        assert!(pair.server.held() < 10);
    }
}

/// Calls a server, and returns the call to be executed. If the server refuses the call instead,
/// returns the status.
fn begun(
    server: &mut Server,
    client: &mut Activity,
    now: Instant,
    stub: &[u8],
) -> Result<crate::dg::IncomingCall, Status> {
    let semantics = Semantics::AtMostOnce;
    client.call(now, &OutgoingCall { interface: INTERFACE, opnum: 0, object: None, semantics, stub }).unwrap();
    carry_between(server, client, now);
    match server.next_event() {
        Some(ServerEvent::Call(call)) => Ok(call),
        _ => Err(ended(client.take_outcome()).unwrap_err()),
    }
}

#[test]
fn a_host_whose_share_runs_in_a_call_gets_short_calls_and_all_results() {
    const SHARE: usize = 200_000;
    let limits = Limits { message_max: SHARE, held_max: 2 * SHARE, ..Limits::default() };
    let (mut server, now) = (server_with(limits.clone()), Instant::now());
    let [mut slow, mut other, mut third] =
        [1, 2, 3].map(|number| Activity::new(Uuid(number), Uuid(0x0ca5), limits.clone(), false));
    let first = begun(&mut server, &mut other, now, &[2; 100]).unwrap();
    let running = begun(&mut server, &mut slow, now, &[1; SHARE]).unwrap();
    assert_eq!((running.stub.len(), server.held()), (SHARE, SHARE));
    // The results belong to a call that began before the host's share was used up.
    let results = vec![7; SHARE];
    server.respond(now, first.key, results.clone());
    carry_between(&mut server, &mut other, now);
    assert!(ended(other.take_outcome()) == Ok(results));
    // Now the host has no room for results either.
    for length in [0, 8, FIRST_FRAGMENT - 100] {
        let call = begun(&mut server, &mut third, now, &vec![3; length]).unwrap();
        server.respond(now, call.key, call.stub.clone());
        carry_between(&mut server, &mut third, now);
        assert_eq!(ended(third.take_outcome()), Ok(vec![3; length]));
    }
    assert_eq!(begun(&mut server, &mut third, now, &[3; 2 * FIRST_FRAGMENT]).err(), Some(Status::REMOTE_NO_MEMORY));
    drop(running);
    assert!(begun(&mut server, &mut third, now, &[3; 2 * FIRST_FRAGMENT]).is_ok());
}
