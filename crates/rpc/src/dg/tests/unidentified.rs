//! Tests of datagrams from addresses without an identified client: the units that the server sends,
//! the state that it keeps, and the calls that it executes.

use super::single::{BOOT, INTERFACE, server_with};
use crate::dg::conversation::{CONV, CONVC};
use crate::dg::pdu::{Cancel, CancelAck, Fack, Header, PduType, flags, write_status};
use crate::dg::{Activity, IncomingCall, Limits, OutgoingCall, Semantics, Server, ServerEvent};
use crate::octets::ByteOrder;
use crate::status::Status;
use crate::uuid::Uuid;
use obvia_via::datagram::Place;
use std::collections::VecDeque;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

fn place(text: &str) -> Place {
    text.parse().unwrap()
}

fn client_place() -> Place {
    place("10.9.9.9:999")
}

/// Returns a request for the first call of an activity.
fn request(activity: u128, flags: u8, stub: &[u8]) -> Vec<u8> {
    unit(&Header { flags, interface: INTERFACE, ..Header::new(PduType::REQUEST, Uuid(activity), 1) }, stub)
}

fn unit(header: &Header, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    header.write(&mut bytes, body);
    bytes
}

/// Removes and returns the units that a server sends.
fn sent(server: &mut Server) -> Vec<(Place, Vec<u8>)> {
    let sent = server.output().iter().map(|(to, bytes)| (to, bytes.to_vec())).collect();
    server.output().clear();
    sent
}

/// Returns the next call to be executed.
fn call(server: &mut Server) -> Option<IncomingCall> {
    match server.next_event()? {
        ServerEvent::Call(call) => Some(call),
        other => panic!("{other:?}"),
    }
}

/// Returns a client's answer to a server's callback.
fn answer(question: &[u8], sequence: u32) -> Vec<u8> {
    let header = Header::read(question).unwrap().0;
    assert_eq!((header.kind, header.interface), (PduType::REQUEST, CONV));
    let stub = [&sequence.to_le_bytes()[..], &[7; 16], &[0; 4]].concat();
    unit(&Header { kind: PduType::RESPONSE, flags: 0, ..header }, &stub)
}

/// Makes an activity's client confirm its first call. Returns the client's answer to the server's
/// question, and the type of the unit by which the server accepts or refuses the activity.
fn confirm(server: &mut Server, now: Instant, from: Place, activity: u128) -> (Vec<u8>, PduType) {
    confirm_call(server, now, from, activity, 1)
}

/// As [`confirm`], for the call with this sequence number.
fn confirm_call(server: &mut Server, now: Instant, from: Place, id: u128, sequence: u32) -> (Vec<u8>, PduType) {
    let head = Header { interface: INTERFACE, ..Header::new(PduType::REQUEST, Uuid(id), sequence) };
    server.receive(now, from, &unit(&head, &[]));
    let question = sent(server).pop().unwrap().1;
    let answer = answer(&question, sequence);
    server.receive(now, from, &answer);
    (answer, PduType(sent(server).pop().unwrap().1[1]))
}

/// As [`confirm`], and answers the call. Returns the client's answer.
fn identify(server: &mut Server, now: Instant, from: Place, activity: u128) -> Vec<u8> {
    let (answer, _) = confirm(server, now, from, activity);
    server.receive(now, from, &request(activity, 0, &[]));
    let key = call(server).unwrap().key;
    server.respond(now, key, vec![1]);
    let ack = Header::new(PduType::ACK, Uuid(activity), 1);
    server.receive(now, from, &unit(&ack, &[]));
    sent(server);
    answer
}

#[test]
fn two_servers_do_not_answer_each_other() {
    let places = [place("10.0.0.1:1"), place("10.0.0.2:2")];
    for flags in [0, flags::IDEMPOTENT, flags::BROADCAST, flags::MAYBE, flags::FRAGMENT] {
        for (interface, boot) in [(INTERFACE, 0), (INTERFACE, 1), (CONV, 0)] {
            let mut now = Instant::now();
            let mut servers = [server_with(Limits::default()), server_with(Limits::default())];
            let head = Header { flags, interface, boot, ..Header::new(PduType::REQUEST, Uuid(5), 1) };
            // The datagram to the first server has the second server's address as its source.
            let mut flying = VecDeque::from([(0, unit(&head, &[1; 40]))]);
            let mut count = 0;
            for _ in 0..600 {
                while let Some((to, bytes)) = flying.pop_front() {
                    count += 1;
                    assert!(count <= 3, "flags {flags:#x}, {interface:?}: the servers answer each other");
                    servers[to].receive(now, places[1 - to], &bytes);
                    flying.extend(sent(&mut servers[to]).into_iter().map(|(_, bytes)| (1 - to, bytes)));
                }
                now += Duration::from_millis(100);
                for (to, server) in servers.iter_mut().enumerate() {
                    server.tick(now);
                    flying.extend(sent(server).into_iter().map(|(_, bytes)| (1 - to, bytes)));
                }
            }
        }
    }
}

/// Returns units that can be the first unit of an unknown activity: every type, with all flags,
/// bodies and numbers that servers distinguish.
fn first_units() -> Vec<Vec<u8>> {
    let mut units = vec![vec![], vec![4], vec![0xff; 79], vec![0xff; 80], vec![4; 1400]];
    let all_flags = [
        0,
        flags::IDEMPOTENT,
        flags::BROADCAST,
        flags::MAYBE,
        flags::MAYBE | flags::FRAGMENT,
        flags::FRAGMENT,
        flags::FRAGMENT | flags::NO_FACK,
        flags::FRAGMENT | flags::LAST,
    ];
    for kind in 0..=11 {
        for flags in all_flags {
            for (interface, fragment, auth, boot) in [
                (INTERFACE, 0, 0, 0),
                (INTERFACE, 1, 0, BOOT),
                (INTERFACE, 0, 10, 0),
                (CONV, 0, 0, 1),
                (CONVC, 0, 0, 0),
            ] {
                let header = Header {
                    flags,
                    interface,
                    fragment,
                    auth,
                    boot,
                    ..Header::new(PduType(kind), Uuid(u128::from(kind) + 100), 1)
                };
                let mut add = |write: &dyn Fn(&mut Vec<u8>)| {
                    let mut bytes = Vec::new();
                    write(&mut bytes);
                    bytes[1] = kind;
                    units.push(bytes);
                };
                add(&|bytes| header.write(bytes, &[]));
                add(&|bytes| header.write(bytes, &[9; 1384]));
                add(&|bytes| header.write(bytes, &write_status(Status::OP_RNG_ERROR)));
                add(&|bytes| Fack::new(64, 1464, 1).write(bytes, &header));
                add(&|bytes| Cancel { id: 1 }.write(bytes, &header));
                add(&|bytes| CancelAck { id: 1, is_accepted: true }.write(bytes, &header));
            }
        }
    }
    units
}

#[test]
fn unidentified_addresses_get_at_most_three_times_their_bytes_and_leave_no_state() {
    for bytes in first_units() {
        let (mut server, mut now) = (server_with(Limits::default()), Instant::now());
        let (mut received, mut answered) = (0, 0);
        for repetition in 1..=3 {
            server.receive(now, client_place(), &bytes);
            received += bytes.len();
            for round in 0..60 {
                let units = sent(&mut server);
                assert!(units.is_empty() || round == 0, "a timer sends {units:02x?} after {bytes:02x?}");
                assert!(units.len() <= 1, "one unit is answered by several: {bytes:02x?}");
                answered += units.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
                assert!(answered <= 3 * received, "{answered} bytes answer {received}: {bytes:02x?}");
                now += Duration::from_millis(500);
                server.tick(now);
            }
            assert_eq!((server.activities(), server.held()), (0, 0), "repetition {repetition} of {bytes:02x?}");
        }
        while let Some(event) = server.next_event() {
            let is_unidentified = |call: &IncomingCall| call.is_maybe && call.client.is_none();
            assert!(!matches!(&event, ServerEvent::Call(call) if !is_unidentified(call)), "{event:?}");
        }
    }
}

#[test]
fn maybe_calls_of_unidentified_clients_fit_one_unit_and_have_no_identity() {
    let (mut server, now) = (server_with(Limits::default()), Instant::now());
    let maybe = flags::MAYBE | flags::IDEMPOTENT;
    server.receive(now, client_place(), &request(5, maybe, &[3; 1384]));
    let made = call(&mut server).unwrap();
    assert!(made.is_maybe && made.client.is_none() && made.stub == [3; 1384]);
    server.fault(now, made.key, Status::ACCESS_DENIED, false);
    // The server keeps nothing of a call without response that needs several fragments.
    for number in 0..3 {
        let last = if number == 2 { flags::LAST } else { 0 };
        let flags = maybe | flags::FRAGMENT | flags::NO_FACK | last;
        let head =
            Header { flags, fragment: number, interface: INTERFACE, ..Header::new(PduType::REQUEST, Uuid(6), 1) };
        server.receive(now, client_place(), &unit(&head, &[3; 1384]));
    }
    assert!(server.next_event().is_none());
    assert_eq!((server.activities(), server.held()), (0, 0));
    // A request without response from another address names the activity of an identified client.
    // The server does not attribute the call to this client, and does not end the client's call.
    identify(&mut server, now, client_place(), 7);
    server.receive(now, client_place(), &unit(&numbered(7, 2, 0), &[]));
    assert_eq!(call(&mut server).unwrap().client, Some(Uuid(u128::from_le_bytes([7; 16]))));
    server.receive(now, place("10.6.6.6:6"), &unit(&numbered(7, 3, maybe), &[]));
    assert_eq!(call(&mut server).unwrap().client, None);
    assert!(server.next_event().is_none());
    assert!(sent(&mut server).is_empty());
}

fn numbered(activity: u128, sequence: u32, flags: u8) -> Header {
    Header { flags, interface: INTERFACE, ..Header::new(PduType::REQUEST, Uuid(activity), sequence) }
}

#[test]
fn answers_to_callbacks_are_accepted_from_their_address_for_seconds() {
    let (mut server, now) = (server_with(Limits::default()), Instant::now());
    server.receive(now, client_place(), &request(5, 0, &[]));
    let question = sent(&mut server).pop().unwrap().1;
    let right = answer(&question, 1);
    let header = Header::read(&right).unwrap().0;
    let body = &right[Header::SIZE..];
    let later = now + Duration::from_millis(4001);
    let changed = |change: &dyn Fn(&mut Header)| {
        let mut header = header;
        change(&mut header);
        unit(&header, body)
    };
    for (at, from, bytes) in [
        (now, place("10.9.9.9:998"), right.clone()),
        (now, place("10.9.9.8:999"), right.clone()),
        (now, client_place(), changed(&|header| header.sequence ^= 1 << 31)),
        (now, client_place(), changed(&|header| header.activity.0 ^= 1)),
        (later, client_place(), right.clone()),
    ] {
        server.receive(at, from, &bytes);
        assert!(server.activities() == 0 && sent(&mut server).is_empty());
    }
    let (mut server, now) = (server_with(Limits::default()), Instant::now());
    server.receive(now, client_place(), &request(5, 0, &[]));
    let question = sent(&mut server).pop().unwrap().1;
    server.receive(now + Duration::from_millis(3999), client_place(), &answer(&question, 1));
    assert_eq!(server.activities(), 1);
}

#[test]
fn clients_with_the_older_callback_alone_are_identified() {
    let (mut server, now) = (server_with(Limits::default()), Instant::now());
    server.receive(now, client_place(), &request(5, 0, &[]));
    let question = Header::read(&sent(&mut server).pop().unwrap().1).unwrap().0;
    let refusal = unit(&Header { kind: PduType::REJECT, ..question }, &write_status(Status::OP_RNG_ERROR));
    server.receive(now, client_place(), &refusal);
    let question = Header::read(&sent(&mut server).pop().unwrap().1).unwrap().0;
    assert_eq!(question.opnum, 0);
    let stub = [1_u32.to_le_bytes(), [0; 4]].concat();
    server.receive(now, client_place(), &unit(&Header { kind: PduType::RESPONSE, ..question }, &stub));
    server.receive(now, client_place(), &request(5, 0, &[]));
    assert_eq!(call(&mut server).unwrap().client, Some(Uuid(5)));
}

#[test]
fn an_activity_moves_to_an_address_that_confirms_its_next_call() {
    let (mut server, now) = (server_with(Limits::default()), Instant::now());
    let elsewhere = place("10.8.8.8:8");
    identify(&mut server, now, client_place(), 5);
    let next = unit(&Header { order: ByteOrder::Little, ..numbered(5, 2, 0) }, &[]);
    server.receive(now, elsewhere, &next);
    let question = sent(&mut server).pop().unwrap().1;
    // If a callback gets lost, the client sends a ping, the server answers with a nocall, and the
    // client sends the request again, which leads to another callback.
    server.receive(now, elsewhere, &unit(&Header { kind: PduType::PING, ..numbered(5, 2, 0) }, &[]));
    assert_eq!(sent(&mut server).pop().unwrap().1[1], PduType::NOCALL.0);
    // The answer about the call that was made at the old address is a duplicate.
    server.receive(now, elsewhere, &answer(&question, 1));
    assert!(sent(&mut server).is_empty());
    server.receive(now, elsewhere, &answer(&question, 2));
    server.receive(now, elsewhere, &next);
    assert_eq!(call(&mut server).unwrap().from, elsewhere);
    assert_eq!(server.activities(), 1);
}

#[test]
fn a_duplicate_of_an_answer_does_not_have_a_call_executed_again() {
    let mut server = server_with(Limits { activities_max: 2, ..Limits::default() });
    let mut now = Instant::now();
    let confirmation = identify(&mut server, now, client_place(), 5);
    // The limit is two activities, and one for each host. The host has one already.
    let neighbour = place("10.9.9.9:1");
    let told = |server: &mut Server, now| confirm(server, now, neighbour, 6).1;
    for _ in 0..4 {
        // While the answer to the callback is valid, the first activity does not yield to another
        // activity.
        assert_eq!(told(&mut server, now), PduType::REJECT);
        server.receive(now, client_place(), &confirmation);
        server.receive(now, client_place(), &request(5, 0, &[]));
        assert!(server.next_event().is_none(), "the call is executed once");
        sent(&mut server);
        now += Duration::from_secs(1);
    }
    now += Duration::from_secs(5);
    assert_eq!((told(&mut server, now), server.activities()), (PduType::NOCALL, 1));
    server.receive(now, client_place(), &confirmation);
    server.receive(now, client_place(), &request(5, 0, &[]));
    assert!(server.next_event().is_none());
}

/// No acknowledgement and no response arrives for a while, but the client still waits.
#[test]
fn a_call_whose_response_got_lost_is_not_executed_again_for_a_client_that_waits() {
    let mut server = server_with(Limits { activities_max: 2, ..Limits::default() });
    let mut now = Instant::now();
    identify(&mut server, now, client_place(), 5);
    server.receive(now, client_place(), &unit(&numbered(5, 2, 0), &[]));
    let key = call(&mut server).unwrap().key;
    server.respond(now, key, vec![1]);
    let ping = unit(&Header { kind: PduType::PING, ..numbered(5, 2, 0) }, &[]);
    let neighbour = place("10.9.9.9:1");
    let told = |server: &mut Server, now| confirm(server, now, neighbour, 6).1;
    for _ in 0..5 {
        server.receive(now, client_place(), &ping);
        for _ in 0..80 {
            now += Duration::from_millis(100);
            server.tick(now);
        }
        assert_eq!((told(&mut server, now), server.activities()), (PduType::REJECT, 1));
    }
    // The client is gone.
    now += Limits::default().silence_max + Duration::from_secs(1);
    assert_eq!((told(&mut server, now), server.activities()), (PduType::NOCALL, 1));
}

#[test]
fn quotas_count_the_hosts_of_an_ipv6_network_together() {
    let mut server = server_with(Limits { activities_max: 8, ..Limits::default() });
    let now = Instant::now();
    let mut accepted = |network: u128, host: u128| {
        let from = Place::from(SocketAddr::new(Ipv6Addr::from(network << 64 | host).into(), 7));
        confirm(&mut server, now, from, network << 64 | host).1 == PduType::NOCALL
    };
    let first = 0x2001_0db8_0000_0001;
    let counts = [first, first + 1].map(|network| (1..=8).filter(|host| accepted(network, *host)).count());
    assert_eq!(counts, [4, 4]);
}

#[test]
fn activities_without_a_call_yield_within_a_second() {
    let mut server = server_with(Limits { activities_max: 8, ..Limits::default() });
    let now = Instant::now();
    let place_of = |host: u8| place(&format!("10.0.0.{host}:7"));
    let accepted =
        |server: &mut Server, now, host, activity| confirm(server, now, place_of(host), activity).1 == PduType::NOCALL;
    // Half of the activities of each host make a call.
    let called = [(1, 1), (1, 2), (2, 3), (2, 4)];
    for (host, activity) in called {
        identify(&mut server, now, place_of(host), activity);
    }
    let unused = [(1, 5), (1, 6), (2, 7), (2, 8)];
    for (host, activity) in unused {
        assert!(accepted(&mut server, now, host, activity));
        // A call of which only a part has arrived does not count as executed.
        server.receive(now, place_of(host), &request(activity, flags::FRAGMENT, &[1; 8]));
    }
    assert!(!accepted(&mut server, now + Duration::from_millis(700), 3, 9));
    let later = now + Duration::from_secs(1);
    assert!((9..13).all(|activity| accepted(&mut server, later, 3, activity)));
    assert!(!accepted(&mut server, later, 4, 13), "an activity with a recent call is forgotten");
    // The activities with a call are still known: a copy of the request is not executed.
    for (host, activity) in called {
        server.receive(later, place_of(host), &request(activity, 0, &[]));
    }
    assert_eq!((sent(&mut server).len(), call(&mut server).is_none()), (0, true));
}

/// A client moves from one host to another. Both hosts already have the maximum number of
/// activities.
#[test]
fn an_activity_with_a_call_is_not_forgotten_if_it_moves_to_a_full_host() {
    let mut server = server_with(Limits { activities_max: 4, ..Limits::default() });
    let now = Instant::now();
    let [before, after, third] = ["10.0.0.1:7", "10.0.0.2:7", "10.0.0.3:7"].map(place);
    for (from, activity) in [(before, 1), (before, 2), (after, 3), (after, 4)] {
        identify(&mut server, now, from, activity);
    }
    let later = now + Duration::from_secs(1);
    assert_eq!(confirm_call(&mut server, later, after, 1, 2).1, PduType::REJECT);
    server.receive(later, before, &request(1, 0, &[]));
    assert_eq!((sent(&mut server).len(), call(&mut server).is_none()), (0, true), "the activity is still known");
    // The server has its maximum number of activities. A known activity may still move to a third
    // host.
    assert_eq!(confirm_call(&mut server, later, third, 1, 2).1, PduType::NOCALL);
    // An activity that has moved counts as an activity with a call, although the new call has not
    // arrived.
    let [soon, late] = [1, 5].map(|seconds| later + Duration::from_secs(seconds));
    assert_eq!(confirm(&mut server, soon, third, 9).1, PduType::REJECT);
    assert_eq!(confirm(&mut server, late, third, 9).1, PduType::NOCALL);
}

/// A client that calls a server, and the time that datagrams take between them.
struct Caller {
    activity: Activity,
    flying: VecDeque<(Instant, bool, Vec<u8>)>,
}

impl Caller {
    const DELAY: Duration = Duration::from_millis(50);

    fn new() -> Self {
        let activity = Activity::new(Uuid(0x0ac7), Uuid(0x0ca5), Limits::default(), false);
        Self { activity, flying: VecDeque::new() }
    }

    fn call(&mut self, now: Instant) {
        let semantics = Semantics::AtMostOnce;
        let call = OutgoingCall { interface: INTERFACE, opnum: 0, object: None, semantics, stub: &[1; 8] };
        self.activity.call(now, &call).unwrap();
    }

    /// Delivers the datagrams that are due, and answers the calls that arrive.
    fn carry(&mut self, now: Instant, server: &mut Server) {
        self.activity.tick(now);
        while let Some((_, to_server, bytes)) = self.flying.pop_front_if(|(at, ..)| *at <= now) {
            if to_server {
                server.receive(now, client_place(), &bytes);
            } else {
                self.activity.receive(now, &bytes);
            }
        }
        while let Some(event) = server.next_event() {
            if let ServerEvent::Call(call) = event {
                server.respond(now, call.key, vec![2]);
            }
        }
        let at = now + Self::DELAY;
        let to_client = sent(server).into_iter().filter(|(to, _)| *to == client_place());
        self.flying.extend(to_client.map(|(_, bytes)| (at, false, bytes)));
        self.flying.extend(self.activity.output().iter().map(|((), bytes)| (at, true, bytes.to_vec())));
        self.activity.output().clear();
    }
}

#[test]
fn floods_from_made_up_addresses_keep_no_client_out() {
    let (mut server, mut now) = (server_with(Limits::default()), Instant::now());
    identify(&mut server, now, place("10.7.7.7:7"), 0x7777);
    let mut caller = Caller::new();
    let mut answered_after = None;
    let rounds: u32 = if cfg!(miri) { 500 } else { 100_000 };
    for round in 0..rounds {
        // 100,000 units a second.
        now += Duration::from_micros(10) * (100_000 / rounds);
        let host = 0x0b00_0000 + round % 50_000;
        let address = if round % 2 == 0 {
            Ipv4Addr::from(host).into()
        } else {
            Ipv6Addr::from(0x2001_0db8_u128 << 96 | u128::from(host) << 64 | 1).into()
        };
        let flags = [0, flags::IDEMPOTENT, flags::MAYBE | flags::IDEMPOTENT, flags::FRAGMENT][(round / 2 % 4) as usize];
        server.receive(
            now,
            SocketAddr::new(address, 7).into(),
            &request((1 << 64) + u128::from(round), flags, &[1; 1000]),
        );
        if round == rounds / 10 {
            caller.call(now);
        }
        caller.carry(now, &mut server);
        server.tick(now);
        if caller.activity.take_outcome().is_some_and(|outcome| outcome.is_ok()) {
            answered_after.get_or_insert(round - rounds / 10);
        }
        assert!(server.activities() <= 2 && server.held() <= 1, "the flood leaves state");
    }
    // The call needs six datagrams, each of which takes 50 ms.
    let took = answered_after.expect("the client is kept out");
    assert!(took <= rounds * 4 / 10, "the call took {took} rounds of {rounds}");
    // The activity that was known before the flood is still known.
    server.receive(now, place("10.7.7.7:7"), &unit(&numbered(0x7777, 2, 0), &[]));
    assert!(call(&mut server).is_some());
}
