//! Tests of the number of lanes. The lanes have no threads, except where a test waits for a lane.

use super::super::tests::{Nothing, Shared};
use super::super::{CLIENTS_MAX, Endpoint};
use super::{Client, FURTHER_MAX, LANES_MAX, LANES_OWN, Lane};
use crate::dg::{CallKey, IncomingCall};
use crate::octets::ByteOrder;
use crate::status::Status;
use crate::uuid::{SyntaxId, Uuid};
use obvia_via::datagram::{DatagramSocket, Host};
use std::net::IpAddr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// The limit of a wait.
const LATEST: Duration = Duration::from_secs(60);

fn endpoint() -> Endpoint {
    Arc::new(Nothing::default()).endpoint(DatagramSocket::bind("127.0.0.1", 0).unwrap())
}

/// Makes a client at a host.
fn client(endpoint: &Endpoint, host: &str) -> Arc<Client> {
    let host = Host::from(host.parse::<IpAddr>().unwrap());
    Arc::new(Client::new(Arc::clone(&endpoint.shared), host, Arc::new(Shared(Arc::default()))))
}

const fn key(sequence: u32) -> CallKey {
    CallKey { activity: Uuid(1), sequence }
}

fn call(sequence: u32) -> IncomingCall {
    IncomingCall {
        key: key(sequence),
        from: "10.0.0.1:1".parse().unwrap(),
        client: Some(Uuid(1)),
        interface: SyntaxId { uuid: Uuid(9), version: 1 },
        object: None,
        opnum: 0,
        is_maybe: false,
        order: ByteOrder::Little,
        stub: Vec::new(),
        memory: None,
    }
}

/// Queues a call, which requires another lane. Returns this lane, after it has taken the call.
fn busy_lane(client: &Arc<Client>, sequence: u32) -> Lane {
    assert_eq!(client.enqueue(call(sequence)), Ok(true));
    let lane = Lane::new(client);
    assert_eq!(lane.next(Duration::ZERO, LATEST).unwrap().unwrap().key, key(sequence));
    lane
}

/// Waits until this many lanes of a client are idle.
fn await_idle(client: &Client, count: usize) {
    let until = Instant::now() + LATEST;
    while client.calls().idle.len() != count {
        assert!(Instant::now() < until, "no {count} idle lanes");
        thread::yield_now();
    }
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn the_lanes_of_a_host_and_of_all_are_limited_and_each_client_has_two() {
    let endpoint = endpoint();
    let lanes = |client: &Client| (0..2 * LANES_MAX).filter(|_| client.enqueue(call(1)) == Ok(true)).count();
    let many = |host: &str| (0..CLIENTS_MAX / 2).map(|_| client(&endpoint, host)).collect::<Vec<_>>();
    let first = many("2001:db8::1");
    let sum = first.iter().map(|client| lanes(client)).sum::<usize>();
    assert_eq!(sum, first.len() * LANES_OWN + FURTHER_MAX / 2);
    // A new client of the same network still gets its own lanes, and a client of another network
    // gets the maximum number of lanes.
    assert_eq!(lanes(&client(&endpoint, "2001:db8::2")), LANES_OWN);
    let other = client(&endpoint, "10.0.0.1");
    assert_eq!(lanes(&other), LANES_MAX);
    let second = many("10.0.0.2");
    let sum = second.iter().map(|client| lanes(client)).sum::<usize>();
    assert_eq!(sum, second.len() * LANES_OWN + FURTHER_MAX - FURTHER_MAX / 2 - (LANES_MAX - LANES_OWN));
    let last = client(&endpoint, "10.0.0.3");
    assert_eq!(lanes(&last), 2);
    // When a lane ends, another client may have a lane instead.
    assert!(!last.lacks_lanes());
    drop(Lane::new(&other));
    assert!(last.lacks_lanes() && !last.lacks_lanes());
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_call_that_would_wait_because_of_other_clients_is_refused() {
    let endpoint = endpoint();
    let host = |text: &str| Host::from(text.parse::<IpAddr>().unwrap());
    let further = &endpoint.shared.further_lanes;
    for other in ["10.0.0.1", "10.0.0.2"] {
        assert!((0..FURTHER_MAX / 2).all(|_| further.enter(host(other))));
    }
    let client = client(&endpoint, "10.0.0.3");
    // In this scenario, the method of the first call calls the client back, and the client's object
    // makes the second call.
    let [_outer, inner] = [1, 2].map(|sequence| busy_lane(&client, sequence));
    assert_eq!(client.enqueue(call(3)), Err(Status::SERVER_TOO_BUSY));
    further.leave(host("10.0.0.1"));
    let third = busy_lane(&client, 3);
    assert_eq!(client.enqueue(call(4)), Err(Status::SERVER_TOO_BUSY));
    // A lane whose call is over takes another call.
    inner.is_done(key(2));
    assert_eq!(client.enqueue(call(4)), Ok(false));
    assert_eq!(client.enqueue(call(5)), Err(Status::SERVER_TOO_BUSY));
    // No other call depends on a call without response.
    assert_eq!(client.enqueue(IncomingCall { is_maybe: true, ..call(5) }), Ok(false));
    drop(third);
    assert!(further.enter(host("10.0.0.1")));
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_client_with_all_of_its_lanes_has_calls_that_wait() {
    let endpoint = endpoint();
    let client = client(&endpoint, "10.0.0.1");
    let _lanes: Vec<_> = (0..LANES_MAX as u32).map(|sequence| busy_lane(&client, sequence)).collect();
    assert_eq!(client.enqueue(call(99)), Ok(false));
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn the_lane_that_went_idle_last_takes_the_next_call() {
    let endpoint = endpoint();
    let client = client(&endpoint, "10.0.0.1");
    let [first, second] = [1, 2].map(|sequence| busy_lane(&client, sequence));
    (1..3).for_each(|sequence| first.is_done(key(sequence)));
    let (first, second) = (&first, &second);
    thread::scope(|scope| {
        let takes = |lane: &Lane| lane.next(LATEST, LATEST).unwrap().map(|call| call.key);
        let bottom = scope.spawn(move || takes(first));
        await_idle(&client, 1);
        for sequence in 3..6 {
            let top = scope.spawn(move || takes(second));
            await_idle(&client, 2);
            assert_eq!(client.enqueue(call(sequence)), Ok(false));
            assert_eq!(top.join().unwrap(), Some(key(sequence)));
            second.is_done(key(sequence));
        }
        // Two calls wake both lanes.
        let top = scope.spawn(move || takes(second));
        await_idle(&client, 2);
        assert!((6..8).all(|sequence| client.enqueue(call(sequence)) == Ok(false)));
        let mut taken = [bottom, top].map(|lane| lane.join().unwrap());
        taken.sort_unstable_by_key(|key| key.map(|key| key.sequence));
        assert_eq!(taken, [6, 7].map(|sequence| Some(key(sequence))));
    });
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn an_idle_lane_beside_another_one_ends() {
    const REST: Duration = Duration::from_millis(1);
    let endpoint = endpoint();
    let client = client(&endpoint, "10.0.0.1");
    let [stays, ends] = [1, 2].map(|sequence| busy_lane(&client, sequence));
    // The lane ends, because another lane performs a call.
    ends.is_done(key(2));
    assert!(ends.next(LATEST, REST).is_err());
    drop(ends);
    // The lane ends, because another lane is idle.
    let ends = busy_lane(&client, 3);
    stays.is_done(key(1));
    ends.is_done(key(3));
    thread::scope(|scope| {
        let waiting = scope.spawn(|| stays.next(LATEST, LATEST));
        await_idle(&client, 1);
        assert!(ends.next(LATEST, REST).is_err());
        drop(ends);
        assert_eq!(client.enqueue(call(4)), Ok(false));
        assert!(waiting.join().unwrap().unwrap().is_some());
    });
    assert_eq!(client.calls().lanes, 1);
    // The only lane stays.
    stays.is_done(key(4));
    assert!(stays.next(2 * REST, REST).unwrap().is_none());
}
