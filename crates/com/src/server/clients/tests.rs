//! Tests of lost clients, some of which come back, with made-up times instead of waiting.

use super::{Arrival, Clients, End, Entered, KEPT_BY_HOST_MAX, LOST_BY_HOST_MAX, LOST_MAX, LinkEnd, TO_RETURN_MAX};
use obvia_rpc::status::Status;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_rpc::vi_call::TargetId;
use obvia_via::window::Peer;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(360);

fn host(name: &str) -> Peer {
    Peer::Host(name.to_owned())
}

fn process(pid: u32) -> Peer {
    Peer::Process { pid, uid: 0, serial: pid.into() }
}

fn enter_at(clients: &Clients, oxid: u64, peer: &Peer, local: Option<&str>) -> Entered {
    clients.enter(|| Ok(oxid), &Arrival { peer, local, group: None, confirm: &|_| None }).unwrap()
}

/// Enters a connection, and returns the number of its client.
fn number(clients: &Clients, oxid: u64, peer: &Peer) -> u64 {
    enter_at(clients, oxid, peer, None).number
}

/// Enters a connection, and returns whether it belongs to the first client of the OXID.
fn enter(clients: &Clients, oxid: u64, peer: &Peer) -> bool {
    number(clients, oxid, peer) == oxid
}

/// Enters a connection with a proof that is valid for a mark.
fn enter_with(clients: &Clients, oxid: u64, peer: &Peer, mark: u64) -> Entered {
    let confirm = |known| (known == mark).then_some(77);
    clients.enter(|| Ok(oxid), &Arrival { peer, local: None, group: None, confirm: &confirm }).unwrap()
}

/// Ends a connection of a client for which `kept` references and states are kept. Returns the
/// clients that are gone then.
fn leave(clients: &Clients, oxid: u64, end: End, kept: usize) -> Vec<u64> {
    clients.leave(oxid, end, |_| kept, |oxid| oxid)
}

#[test]
fn a_client_ends_when_its_last_connection_closes_normally() {
    let (clients, begun) = (Clients::default(), Instant::now());
    let far = host("far");
    assert!(enter(&clients, 1, &far) && enter(&clients, 1, &far));
    assert_eq!(leave(&clients, 1, End::Lost(begun), 9), []);
    assert_eq!(leave(&clients, 1, End::InOrder, 9), [1]);
    assert!(!clients.has(1) && clients.due(PATIENCE).is_none());
}

#[test]
fn a_lost_client_is_given_up_at_its_deadline() {
    let (clients, begun) = (Clients::default(), Instant::now());
    let far = host("far");
    let later = begun + Duration::from_secs(100);
    for (oxid, at) in [(1, begun), (2, later)] {
        assert!(enter(&clients, oxid, &far));
        assert_eq!(leave(&clients, oxid, End::Lost(at), 1), []);
    }
    let give_up = |now| clients.give_up(now, PATIENCE, |oxid| oxid);
    assert_eq!(clients.due(PATIENCE), Some(begun + PATIENCE));
    assert_eq!(give_up(begun + PATIENCE - Duration::from_nanos(1)), []);
    // A client at another host cannot take the lost client's place.
    assert!(!enter(&clients, 1, &host("elsewhere")));
    assert!(enter(&clients, 1, &far));
    assert_eq!((clients.due(PATIENCE), give_up(begun + PATIENCE)), (Some(later + PATIENCE), vec![]));
    assert_eq!((give_up(later + PATIENCE), clients.has(1), clients.has(2)), (vec![2], true, false));
    // The client is lost once more, and its time begins anew.
    assert_eq!(leave(&clients, 1, End::Lost(later + PATIENCE), 1), []);
    assert_eq!((give_up(later + PATIENCE), give_up(later + 2 * PATIENCE)), (vec![], vec![1]));
}

#[test]
fn lost_clients_without_references_or_of_this_host_end_at_once() {
    let (clients, begun) = (Clients::default(), Instant::now());
    assert!(enter(&clients, 1, &host("far")));
    assert_eq!(leave(&clients, 1, End::Lost(begun), 0), [1]);
    let local = process(7);
    assert!(enter(&clients, 2, &local));
    assert_eq!(leave(&clients, 2, End::Lost(begun), 9), [2]);
    // A local client is gone as well where its last connection came over a network.
    assert!(enter(&clients, 3, &local));
    assert_eq!(enter_with(&clients, 3, &host("near"), clients.mark_for(3)).number, 3);
    assert_eq!(leave(&clients, 3, End::InOrder, 9), []);
    assert_eq!(leave(&clients, 3, End::Lost(begun), 9), [3]);
}

/// Loses clients of a host one after the other. Returns the clients that are gone then.
fn lose(clients: &Clients, peer: &Peer, oxids: impl Iterator<Item = u64>, kept: usize, begun: Instant) -> Vec<u64> {
    let lose = |oxid| {
        assert!(enter(clients, oxid, peer));
        leave(clients, oxid, End::Lost(begun + Duration::from_micros(oxid)), kept)
    };
    oxids.flat_map(lose).collect()
}

#[test]
fn lost_clients_over_the_limit_of_a_host_replace_its_oldest() {
    let (clients, begun) = (Clients::default(), Instant::now());
    assert_eq!(lose(&clients, &host("one"), 0..1, 1, begun), []);
    let many = 10..10 + LOST_BY_HOST_MAX as u64;
    assert_eq!(lose(&clients, &host("other"), many, 1, begun), []);
    assert_eq!(lose(&clients, &host("other"), 1000..1003, 1, begun), [10, 11, 12]);
    assert!(clients.has(0), "the host with few has its one");
}

#[test]
fn lost_clients_and_their_references_are_limited() {
    let (clients, begun) = (Clients::default(), Instant::now());
    let all = LOST_MAX as u64;
    let gone =
        (0..all + 2).flat_map(|oxid| lose(&clients, &host(&format!("{}", oxid % 100)), oxid..oxid + 1, 1, begun));
    assert_eq!(gone.collect::<Vec<_>>(), [0, 1]);
    let (clients, most) = (Clients::default(), KEPT_BY_HOST_MAX);
    assert_eq!(lose(&clients, &host("one"), 0..1, 2, begun), []);
    assert_eq!(lose(&clients, &host("other"), 1..5, most - 1, begun), [1, 2, 3], "who has much makes room for itself");
    assert_eq!(lose(&clients, &host("one"), 5..6, most - 2, begun), []);
    assert_eq!(lose(&clients, &host("third"), 6..7, 2, begun), [0]);
    assert_eq!(lose(&clients, &host("third"), 7..8, most + 1, begun), [6, 7]);
    assert!(clients.has(4) && clients.has(5));
}

fn refs(count: u32) -> Vec<(TargetId, u32)> {
    (0..count).map(|index| (TargetId { index, generation: 1 }, 5)).collect()
}

/// Takes the references for a client over a link to `peer`, which reaches this process at `local`
/// and was reached at `hosts`. Returns the number of references.
fn take_references_to_return(clients: &Clients, oxid: u64, peer: &Peer, local: Option<&str>, hosts: &[&str]) -> usize {
    let ways = || hosts.iter().map(|host| StringBinding::new(ProtocolSequence::IpTcp, *host, "1")).collect();
    clients.take_references_to_return(oxid, &LinkEnd { peer, local, ways: &ways }).map_or(0, |(_, refs)| refs.len())
}

#[test]
fn owed_references_are_released_only_to_the_sending_process() {
    let clients = Clients::default();
    let take = |oxid, peer: &Peer| take_references_to_return(&clients, oxid, peer, None, &[]);
    // No client is there yet.
    clients.add_references_to_return(1, refs(3));
    assert!(enter(&clients, 1, &process(7)) && enter(&clients, 2, &host("far")));
    clients.add_references_to_return(1, refs(3));
    clients.add_references_to_return(2, refs(2));
    for other in [process(8), host("far")] {
        assert_eq!(take(1, &other), 0);
    }
    assert_eq!((take(1, &process(7)), take(1, &process(7))), (3, 0));
    assert_eq!((take(2, &process(7)), take(2, &host("near")), take(2, &host("far"))), (0, 0, 2));
    for _ in 0..3 {
        clients.add_references_to_return(2, refs(1000));
    }
    assert_eq!(take(2, &host("far")), TO_RETURN_MAX);
    // When a client is gone, its references are dropped.
    clients.add_references_to_return(2, refs(1));
    assert_eq!(leave(&clients, 2, End::InOrder, 0), [2]);
    assert!(enter(&clients, 2, &host("far")));
    assert_eq!(take(2, &host("far")), 0);
}

#[test]
fn owed_references_are_released_over_other_links_of_the_process() {
    let clients = Clients::default();
    let take =
        |oxid, peer: &Peer, local, others: &[&str]| take_references_to_return(&clients, oxid, peer, local, others);
    // A client whose own address equals the one at which it reaches this process runs on this host.
    enter_at(&clients, 1, &host("127.0.0.1"), Some("127.0.0.1"));
    enter_at(&clients, 2, &host("far"), Some("near"));
    assert!(enter(&clients, 3, &process(7)));
    for oxid in 1..=3 {
        clients.add_references_to_return(oxid, refs(1));
    }
    assert_eq!((take(2, &process(7), None, &[]), take(1, &process(7), None, &[])), (0, 1));
    assert_eq!((take(2, &host("farther"), None, &["near"]), take(2, &host("farther"), None, &["far"])), (0, 1));
    assert_eq!(take(3, &host("near"), Some("other"), &[]), 0);
    assert_eq!(take(3, &host("near"), Some("near"), &[]), 1);
}

#[test]
fn a_peer_of_another_origin_with_the_oxid_of_a_client_is_another_client() {
    for (own, others) in [(process(7), vec![host("near")]), (host("far"), vec![process(8), host("near")])] {
        let clients = Clients::default();
        assert!(enter(&clients, 1, &own));
        for other in &others {
            let drawn = number(&clients, 1, other);
            assert_ne!(drawn, 1, "{other:?} is {own:?}");
            assert_eq!((number(&clients, 1, other), clients.oxid_of(drawn)), (drawn, 1));
            assert_ne!(clients.mark_for(drawn), clients.mark_for(1));
            assert_eq!(leave(&clients, drawn, End::InOrder, 9), []);
            assert_eq!(leave(&clients, drawn, End::InOrder, 9), [drawn]);
        }
        assert!(clients.has(1) && enter(&clients, 1, &own));
    }
}

#[test]
fn processes_without_an_id_here_are_told_apart() {
    let clients = Clients::default();
    let hidden = |serial| Peer::Process { pid: 0, uid: 0, serial };
    assert!(enter(&clients, 1, &hidden(5)) && enter(&clients, 1, &hidden(5)));
    let arrival = Arrival { peer: &hidden(6), local: None, group: None, confirm: &|_| None };
    assert_eq!(clients.enter(|| Ok(1), &arrival), Err(Status::ACCESS_DENIED));
}

#[test]
fn a_valid_proof_makes_connections_of_several_origins_one_client() {
    let clients = Clients::default();
    assert!(enter(&clients, 1, &process(7)));
    let (near, mark) = (host("near"), clients.mark_for(1));
    assert_eq!(enter_with(&clients, 1, &near, mark), Entered { oxid: 1, number: 1, confirmation: Some(77) });
    // The next connection of that host has to prove it again.
    let other = enter_with(&clients, 1, &near, mark.wrapping_add(1));
    assert!(other.number != 1 && other.confirmation.is_none());
    // A mark is valid for one OXID.
    assert!(enter(&clients, 2, &process(7)));
    assert_eq!(enter_with(&clients, 2, &near, mark).confirmation, None);
}

#[test]
fn references_for_a_process_go_to_the_client_that_the_kernel_has_identified() {
    let clients = Clients::default();
    assert_eq!(clients.number_of(1), None);
    let far = number(&clients, 1, &host("far"));
    assert_eq!(clients.number_of(1), Some(far));
    let local = number(&clients, 1, &process(7));
    assert_eq!(clients.number_of(1), Some(local));
    assert_eq!((leave(&clients, far, End::InOrder, 0), clients.number_of(1)), (vec![far], Some(local)));
}
