//! Requests with and without tokens.

use super::{MTU, offer};
use crate::attributes::Reliability::ReliableDelivery;
use crate::reliable::packet::{self, Body, HEADER, Header, TOKEN};
use crate::reliable::{Answer, Engine, Judged, Requesting, Settings, TOKEN_LIFETIME, Tokens};
use crate::spi::Offer;
use std::collections::BTreeMap;
use std::net::SocketAddr;

const SECOND: u64 = 1_000_000_000;

fn peer(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn requesting(id: u64) -> Requesting {
    Requesting::new(&Settings::default(), id, "here", &offer(ReliableDelivery)).unwrap()
}

/// Returns the next request, at the time at which the request is due.
fn request(requesting: &mut Requesting) -> Vec<u8> {
    let due = requesting.due();
    requesting.transmit(due).unwrap().to_vec()
}

/// Returns the answer to a request that is not proved.
fn retry(judged: Option<Judged>) -> Vec<u8> {
    match judged {
        Some(Judged::Unproved(retry)) => retry.to_vec(),
        other => panic!("{other:?}"),
    }
}

/// Returns a request with a token that was made at the time `now`, and the requesting side.
fn with_token(tokens: &mut Tokens, now: u64, from: SocketAddr, id: u64) -> (Vec<u8>, Requesting) {
    let mut requesting = requesting(id);
    let answer = retry(tokens.judge(now, from, &request(&mut requesting)));
    assert!(requesting.handle(now, &answer, MTU).is_none());
    (request(&mut requesting), requesting)
}

fn is_proved(judged: Option<Judged>) -> bool {
    matches!(judged, Some(Judged::Proved(_)))
}

#[test]
fn a_request_with_a_token_is_accepted_as_it_was_made() {
    let (mut tokens, from) = (Tokens::new([7; 32]), peer("10.0.0.1:7"));
    let (bytes, mut requesting) = with_token(&mut tokens, 0, from, 5);
    let Some(Judged::Proved(answering)) = tokens.judge(SECOND, from, &bytes) else { panic!("it is not proved") };
    assert_eq!((answering.id(), answering.discriminator()), (5, "here"));
    assert_eq!(answering.offer(), &offer(ReliableDelivery));
    let mut engine = answering.accept(&Settings::default(), 0, 9, &offer(ReliableDelivery), MTU).unwrap();
    let mut accept = [0; MTU];
    let length = engine.transmit(0, &mut super::Queues::new(), &mut accept).unwrap();
    assert!(matches!(requesting.handle(SECOND, &accept[..length], MTU), Some(Answer::Accepted(..))));
    // Duplicates of the request are recognized by their id.
    assert!(is_proved(tokens.judge(SECOND, from, &bytes)));
}

#[test]
fn a_token_holds_for_its_source_and_connection_alone() {
    let (mut tokens, from) = (Tokens::new([7; 32]), peer("10.0.0.1:7"));
    let (bytes, _) = with_token(&mut tokens, 0, from, 5);
    for other in ["10.0.0.1:8", "10.0.0.2:7", "[::1]:7", "[::a00:1]:7"] {
        retry(tokens.judge(0, peer(other), &bytes));
    }
    // An IPv6 socket reports the same host and port in this form.
    assert!(is_proved(tokens.judge(0, peer("[::ffff:10.0.0.1]:7"), &bytes)));
    let mut of_another = request(&mut requesting(6));
    of_another[HEADER + 12..][..TOKEN].copy_from_slice(&bytes[HEADER + 12..][..TOKEN]);
    packet::seal(&mut of_another);
    retry(tokens.judge(0, from, &of_another));
}

#[test]
fn every_bit_of_a_token_counts() {
    let (mut tokens, from) = (Tokens::new([7; 32]), peer("10.0.0.1:7"));
    let (bytes, _) = with_token(&mut tokens, 0, from, 5);
    for bit in 0..8 * TOKEN {
        let mut forged = bytes.clone();
        forged[HEADER + 12 + bit / 8] ^= 1 << (bit % 8);
        packet::seal(&mut forged);
        retry(tokens.judge(0, from, &forged));
    }
    retry(Tokens::new([8; 32]).judge(0, from, &bytes));
}

#[test]
fn tokens_expire_after_one_or_two_periods() {
    let lifetime = u64::try_from(TOKEN_LIFETIME.as_nanos()).unwrap();
    let from = peer("10.0.0.1:7");
    for made in [0, lifetime / 2 - 1, 1_000_000 * SECOND] {
        let mut tokens = Tokens::new([7; 32]);
        let (bytes, _) = with_token(&mut tokens, made, from, 5);
        assert!(is_proved(tokens.judge(made + lifetime / 2, from, &bytes)), "made at {made}");
        retry(tokens.judge(made + lifetime, from, &bytes));
        // A token is also invalid after a long silence, in which no key was made.
        let mut tokens = Tokens::new([7; 32]);
        let (bytes, _) = with_token(&mut tokens, made, from, 5);
        retry(tokens.judge(made + 1000 * lifetime, from, &bytes));
    }
}

#[test]
fn no_two_tokens_and_no_two_keys_are_the_same() {
    let from = peer("10.0.0.1:7");
    let mut seen = std::collections::HashSet::new();
    for key in [7, 8] {
        let mut tokens = Tokens::new([key; 32]);
        for now in 0..200 {
            let (bytes, _) = with_token(&mut tokens, now * SECOND, from, 5);
            assert!(seen.insert(bytes[HEADER + 12 + 12..][..16].to_vec()), "key {key} at {now}");
        }
    }
}

#[test]
fn a_first_token_is_returned_at_once_and_later_ones_do_not_hurry() {
    let mut requesting = requesting(5);
    let retry = |token: u8| {
        let mut bytes = [0; MTU];
        let header = Header { to: 5, number: 0, ack: 0, sack: 0, window: 0 };
        let length = packet::write(&mut bytes, &header, &Body::Retry { token: [token; TOKEN] }).unwrap();
        bytes[..length].to_vec()
    };
    let token = |request: &[u8]| request[HEADER + 12];
    let now = 500_000_000;
    for _ in 0..4 {
        assert_eq!(token(&request(&mut requesting)), 0);
    }
    assert!(requesting.handle(now, &retry(1), MTU).is_none());
    assert_eq!(requesting.due(), now);
    assert_eq!(requesting.transmit(now).map(token), Some(1));
    // The first token arrived after 500 ms, so the answer to the next request may take as long.
    assert_eq!(requesting.due(), now + 1_000_000_000);
    for number in 2..100 {
        assert!(requesting.handle(now + 1, &retry(number), MTU).is_none());
        assert!(requesting.transmit(now + 1).is_none());
    }
    assert_eq!(requesting.transmit(now + 1_000_000_000).map(token), Some(99));
    assert!(requesting.transmit(now + 1_000_000_001).is_none());
}

/// The course of a handshake with a token.
#[derive(Debug, PartialEq, Eq)]
struct Course {
    /// The number of requests with a token that were sent.
    requests: usize,
    /// The number of acceptances that were sent.
    acceptances: usize,
    /// The round trips that the two ends know afterwards, in milliseconds.
    known: [u64; 2],
}

/// Performs a handshake over a line with a round trip of `round_trip` milliseconds. `loses` says
/// whether the first request with a token gets lost.
fn handshake(round_trip: u64, loses: bool) -> Course {
    let (from, delay) = (peer("10.0.0.1:7"), round_trip * 1_000_000 / 2);
    let (mut tokens, mut client, mut ends) = (Tokens::new([7; 32]), requesting(5), [const { None::<Engine> }; 2]);
    // The datagrams on their way, by the time of their arrival: the receiving end and the bytes.
    let mut way = BTreeMap::<(u64, usize), (usize, Vec<u8>)>::new();
    let (mut serial, mut sink, mut bytes) = (0, super::Queues::new(), [0; MTU]);
    let mut course = Course { requests: 0, acceptances: 0, known: [0; 2] };
    let mut now = 0;
    while ends[1].as_ref().is_none_or(|end| !end.is_open()) {
        let mut send = |to: usize, datagram: &[u8]| {
            serial += 1;
            way.insert((now + delay, serial), (to, datagram.to_vec()));
        };
        if ends[0].is_none()
            && let Some(request) = client.transmit(now)
        {
            let has_token = request[HEADER + 12..][..TOKEN] != [0; TOKEN];
            course.requests += usize::from(has_token);
            if !has_token || !loses || course.requests > 1 {
                send(1, request);
            }
        }
        for (at, end) in ends.iter_mut().enumerate() {
            while let Some(length) = end.as_mut().and_then(|end| end.transmit(now, &mut sink, &mut bytes)) {
                let is_acceptance = matches!(packet::parse(&bytes[..length]), Ok((_, Body::Accept { .. })));
                course.acceptances += usize::from(is_acceptance);
                send(1 - at, &bytes[..length]);
            }
        }
        let due =
            ends.iter().flatten().filter_map(Engine::due).chain([client.due()].into_iter().filter(|due| *due > now));
        now = due.chain(way.keys().next().map(|(time, _)| *time)).min().unwrap();
        while let Some(entry) = way.first_entry().filter(|entry| entry.key().0 <= now) {
            let (to, datagram) = entry.remove();
            if let Some(end) = &mut ends[to] {
                let _ = end.handle(now, &datagram, &mut sink);
            } else if to == 0 {
                let answer = client.handle(now, &datagram, MTU);
                ends[0] = answer.map(|answer| match answer {
                    Answer::Accepted(engine, _) => *engine,
                    Answer::Rejected(why) => panic!("{why}"),
                });
            } else {
                match tokens.judge(now, from, &datagram) {
                    Some(Judged::Proved(answering)) => {
                        let offer = offer(ReliableDelivery);
                        ends[1] = answering.accept(&Settings::default(), now, 9, &offer, MTU).ok();
                    }
                    Some(Judged::Unproved(retry)) => {
                        serial += 1;
                        way.insert((now + delay, serial), (0, retry.to_vec()));
                    }
                    None => panic!("a datagram is no request"),
                }
            }
        }
    }
    course.known = ends.map(|end| end.unwrap().statistics().round_trip_ns / 1_000_000);
    course
}

#[test]
fn a_handshake_with_a_token_sends_each_packet_once_and_tells_the_round_trip() {
    for round_trip in [2, 20, 26, 50, 100, 250, 400, 900] {
        let known = [round_trip; 2];
        assert_eq!(handshake(round_trip, false), Course { requests: 1, acceptances: 1, known }, "{round_trip} ms");
    }
}

#[test]
fn a_lost_request_with_a_token_is_repeated_and_tells_no_round_trip() {
    for round_trip in [2, 100, 250] {
        let course = handshake(round_trip, true);
        assert_eq!((course.requests, course.acceptances, course.known[0]), (2, 1, 0), "{round_trip} ms: {course:?}");
    }
}

#[test]
fn a_restarted_listener_gives_a_new_token_for_each_request() {
    let from = peer("10.0.0.1:7");
    let (_, mut requesting) = with_token(&mut Tokens::new([7; 32]), 0, from, 5);
    let mut restarted = Tokens::new([8; 32]);
    let answer = retry(restarted.judge(0, from, &request(&mut requesting)));
    assert!(requesting.handle(0, &answer, MTU).is_none());
    assert!(is_proved(restarted.judge(0, from, &request(&mut requesting))));
}

#[test]
fn only_requests_are_answered_and_by_no_more_bytes() {
    let (mut tokens, from) = (Tokens::new([7; 32]), peer("10.0.0.1:7"));
    for (discriminator, private) in [("", 0), (&*"x".repeat(256), Offer::PRIVATE_MAX)] {
        let offer = Offer { private: vec![1; private], ..offer(ReliableDelivery) };
        let mut requesting = Requesting::new(&Settings::default(), 5, discriminator, &offer).unwrap();
        let bytes = request(&mut requesting);
        assert!(retry(tokens.judge(0, from, &bytes)).len() <= bytes.len());
        for length in 0..bytes.len() {
            let mut shorter = bytes[..length].to_vec();
            assert!(tokens.judge(0, from, &shorter).is_none());
            if length >= HEADER {
                packet::seal(&mut shorter);
                assert!(tokens.judge(0, from, &shorter).is_none(), "{length} bytes of a request are one");
            }
        }
    }
    let token = retry(tokens.judge(0, from, &request(&mut requesting(5))));
    assert!(tokens.judge(0, from, &token).is_none(), "two listeners would answer each other");
}
