//! Tests of the number of lanes. No lane has a thread, except those that a test waits for.

use super::super::tests::{Nothing, Shared};
use super::super::{CLIENTS_MAX, Endpoint};
use super::{Client, FURTHER_MAX, LANES_MAX, Lane};
use crate::dg::{CallKey, IncomingCall};
use crate::octets::ByteOrder;
use crate::uuid::{SyntaxId, Uuid};
use obvia_via::datagram::{DatagramSocket, Host};
use std::net::IpAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

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

/// Queues a call. Returns whether the client gets another lane for it.
fn enqueue(client: &Client) -> bool {
    let call = IncomingCall {
        key: CallKey { activity: Uuid(1), sequence: 1 },
        from: "10.0.0.1:1".parse().unwrap(),
        client: Some(Uuid(1)),
        interface: SyntaxId { uuid: Uuid(9), version: 1 },
        object: None,
        opnum: 0,
        is_maybe: false,
        order: ByteOrder::Little,
        stub: Vec::new(),
    };
    client.enqueue(call).unwrap()
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn the_lanes_of_a_host_and_of_all_are_limited_and_each_client_has_one() {
    let endpoint = endpoint();
    let lanes = |client: &Client| (0..2 * LANES_MAX).filter(|_| enqueue(client)).count();
    let many = |host: &str| (0..CLIENTS_MAX / 2).map(|_| client(&endpoint, host)).collect::<Vec<_>>();
    let first = many("2001:db8::1");
    assert_eq!(first.iter().map(|client| lanes(client)).sum::<usize>(), first.len() + FURTHER_MAX / 2);
    // A newcomer of the same network is served, and a client elsewhere has all of its lanes.
    assert_eq!(lanes(&client(&endpoint, "2001:db8::2")), 1);
    let other = client(&endpoint, "10.0.0.1");
    assert_eq!(lanes(&other), LANES_MAX);
    let second = many("10.0.0.2");
    let sum = second.iter().map(|client| lanes(client)).sum::<usize>();
    assert_eq!(sum, second.len() + FURTHER_MAX - FURTHER_MAX / 2 - (LANES_MAX - 1));
    let last = client(&endpoint, "10.0.0.3");
    assert_eq!(lanes(&last), 1);
    // The place of a lane that ends is free for another client.
    assert!(!last.lacks_lanes());
    drop(Lane::new(&other));
    assert!(last.lacks_lanes() && !last.lacks_lanes());
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn an_idle_lane_beside_another_one_ends() {
    const REST: Duration = Duration::from_millis(1);
    let endpoint = endpoint();
    let client = client(&endpoint, "10.0.0.1");
    assert!((0..2).all(|_| enqueue(&client)));
    let [stays, ends] = [(); 2].map(|()| Lane::new(&client));
    assert!([&stays, &ends].iter().all(|lane| lane.next(Duration::ZERO, REST).unwrap().is_some()));
    thread::scope(|scope| {
        let waiting = scope.spawn(|| stays.next(LATEST, LATEST));
        while client.calls().idle == 0 {
            thread::yield_now();
        }
        assert!(ends.next(LATEST, REST).is_err());
        drop(ends);
        assert!(!enqueue(&client));
        assert!(waiting.join().unwrap().unwrap().is_some());
    });
    assert_eq!((client.calls().lanes, endpoint.shared.further_lanes.by_host().len()), (1, 0));
    // The only lane stays.
    assert!(stays.next(2 * REST, REST).unwrap().is_none());
}
