//! Tests of clients that enter, are lost, connect again or are expected. The times are made up, so
//! that the tests need not wait.

use super::known::FURTHER_MAX;
use super::register::{
    KEPT_BY_GROUP_MAX, LOST_BY_GROUP_MAX, LOST_MAX, SAME_HOST_MAX, SAME_OXID_MAX, STRANGERS_PATIENCE,
};
use super::{Arrival, Clients, End, Ending, FoundClient, MarkNumber, Place, TO_RETURN_MAX};
use crate::orpc::ClientNumber;
use crate::protocol::place::Origin;
use crate::types::error::code;
use obvia_rpc::security::code_of;
use obvia_rpc::status::Status;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_rpc::vi_call::TargetId;
use obvia_via::window::Peer;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

mod processes;

const PATIENCE: Duration = Duration::from_secs(360);

fn host(name: &str) -> Peer {
    Peer::Host(name.to_owned())
}

fn process(pid: u32) -> Peer {
    Peer::Process { pid, uid: 0, serial: pid.into() }
}

/// Returns the place of a peer that reaches this process at `local`.
fn place_at(peer: &Peer, local: Option<&str>) -> Place {
    Place::of([(&Origin::of(peer), local)])
}

/// Returns the place to which a link to a peer leads. The place has only the address of the peer.
fn place(peer: &Peer) -> Place {
    place_at(peer, None)
}

/// Returns this place with further addresses.
fn reached_by(place: Place, hosts: &[&str]) -> Place {
    place.reached_by(hosts.iter().map(|host| StringBinding::new(ProtocolSequence::IpTcp, *host, "1")))
}

fn expect(clients: &Clients, oxid: u64, place: &Place) -> ClientNumber {
    clients.expect(oxid, &FoundClient::default(), || place.clone())
}

fn number_behind(clients: &Clients, oxid: u64, place: &Place) -> Option<ClientNumber> {
    clients.number_behind(oxid, &FoundClient::default(), || place.clone())
}

fn unmerged(from: ClientNumber, to: ClientNumber) -> bool {
    panic!("{from:?} is {to:?}");
}

fn mark_of(clients: &Clients, number: ClientNumber) -> Option<MarkNumber> {
    clients.mark_of(number).ok()
}

/// Enters an admitted connection of an expected process. Checks that its client gets the references
/// of the expected processes with the numbers `expected`.
fn enter_expected(clients: &Clients, oxid: u64, peer: &Peer, expected: &[ClientNumber]) -> ClientNumber {
    let merged = RefCell::new(Vec::new());
    let merge = |from, to| {
        merged.borrow_mut().push((from, to));
        true
    };
    let number = enter_admitted(clients, oxid, &Arrival { peer, local: None, group: None, proved: None }, &merge);
    let all: Vec<_> = expected.iter().map(|expected| (*expected, number)).collect();
    assert_eq!(merged.into_inner(), all);
    assert!(expected.iter().all(|expected| clients.oxid_of(*expected).is_none()));
    number
}

fn enter_at(clients: &Clients, oxid: u64, peer: &Peer, local: Option<&str>) -> ClientNumber {
    enter_admitted(clients, oxid, &Arrival { peer, local, group: None, proved: None }, &unmerged)
}

/// Enters a connection, and admits it.
fn enter_admitted(
    clients: &Clients,
    oxid: u64,
    arrival: &Arrival<'_>,
    merge: &dyn Fn(ClientNumber, ClientNumber) -> bool,
) -> ClientNumber {
    clients.enter(|| Ok(oxid), arrival, Some(merge)).unwrap().number
}

/// Enters a connection that is not admitted.
fn enter_silently(clients: &Clients, oxid: u64, peer: &Peer, proved: Option<ClientNumber>) -> ClientNumber {
    let proved = proved.and_then(|number| mark_of(clients, number));
    clients.enter(|| Ok(oxid), &Arrival { peer, local: Some("near"), group: None, proved }, None).unwrap().number
}

/// Enters a connection, and returns the number of its client.
fn enter(clients: &Clients, oxid: u64, peer: &Peer) -> ClientNumber {
    enter_at(clients, oxid, peer, None)
}

/// Enters a connection that has proved the mark of a client.
fn enter_as(clients: &Clients, oxid: u64, peer: &Peer, proved: ClientNumber) -> ClientNumber {
    enter_by(clients, oxid, peer, mark_of(clients, proved))
}

fn enter_by(clients: &Clients, oxid: u64, peer: &Peer, proved: Option<MarkNumber>) -> ClientNumber {
    enter_admitted(clients, oxid, &Arrival { peer, local: None, group: None, proved }, &unmerged)
}

thread_local! {
    /// The numbers of references and states that are kept for the clients of the running test.
    static KEPT: RefCell<HashMap<ClientNumber, usize>> = RefCell::default();
}

fn keep(number: ClientNumber, kept: usize) {
    KEPT.with_borrow_mut(|all| all.insert(number, kept));
}

fn kept(number: ClientNumber) -> usize {
    KEPT.with_borrow(|all| all[&number])
}

fn leave_as(clients: &Clients, number: ClientNumber, is_admitted: bool, end: End) -> Vec<ClientNumber> {
    let ended = clients.leave(number, is_admitted, (end, PATIENCE), kept, |number, what| (number, what));
    ended.into_iter().filter(|(_, what)| *what == Ending::All).map(|(number, _)| number).collect()
}

/// Ends an admitted connection of a client for which `kept` references and states are kept. Returns
/// the clients that are gone after this.
fn leave(clients: &Clients, number: ClientNumber, end: End, kept: usize) -> Vec<ClientNumber> {
    keep(number, kept);
    leave_as(clients, number, true, end)
}

/// Ends a connection that is not admitted, as [`leave`] does.
fn leave_silently(clients: &Clients, number: ClientNumber, kept: usize) -> Vec<ClientNumber> {
    keep(number, kept);
    leave_as(clients, number, false, End::InOrder)
}

#[test]
fn a_client_ends_when_its_last_connection_closes_normally() {
    let (clients, begun) = (Clients::default(), Instant::now());
    let far = host("far");
    let number = enter(&clients, 1, &far);
    assert_eq!(enter(&clients, 1, &far), number);
    assert_eq!(leave(&clients, number, End::Lost(begun), 9), []);
    assert_eq!(leave(&clients, number, End::InOrder, 9), [number]);
    assert!(!clients.has(number) && clients.due(PATIENCE).is_none());
    assert_ne!(enter(&clients, 1, &far), number, "no number is given again");
}

#[test]
fn a_lost_client_is_given_up_at_its_deadline() {
    let (clients, begun) = (Clients::default(), Instant::now());
    let far = host("far");
    let later = begun + Duration::from_secs(100);
    let [first, second] = [(1, begun), (2, later)].map(|(oxid, at)| {
        let number = enter(&clients, oxid, &far);
        assert_eq!(leave(&clients, number, End::Lost(at), 1), []);
        number
    });
    let give_up = |now| clients.give_up(now, PATIENCE, kept, |number| number);
    assert_eq!(clients.due(PATIENCE), Some(begun + PATIENCE));
    assert_eq!(give_up(begun + PATIENCE - Duration::from_nanos(1)), []);
    // A client at another host cannot take the lost client's place.
    assert_ne!(enter(&clients, 1, &host("elsewhere")), first);
    assert_eq!(enter(&clients, 1, &far), first);
    assert_eq!((clients.due(PATIENCE), give_up(begun + PATIENCE)), (Some(later + PATIENCE), vec![]));
    assert_eq!((give_up(later + PATIENCE), clients.has(first), clients.has(second)), (vec![second], true, false));
    // The client is lost once more, and its time begins anew.
    assert_eq!(leave(&clients, first, End::Lost(later + PATIENCE), 1), []);
    assert_eq!((give_up(later + PATIENCE), give_up(later + 2 * PATIENCE)), (vec![], vec![first]));
}

#[test]
fn connections_that_are_not_admitted_do_not_keep_a_client() {
    let (clients, begun) = (Clients::default(), Instant::now());
    let far = host("far");
    let number = enter(&clients, 1, &far);
    let early = enter_silently(&clients, 1, &far, None);
    assert_eq!(leave(&clients, number, End::Lost(begun), 1), []);
    assert_eq!(enter_silently(&clients, 1, &far, None), number);
    assert_eq!((early, clients.due(PATIENCE)), (number, Some(begun + PATIENCE)));
    assert_eq!(leave_silently(&clients, number, 1), []);
    assert_eq!((clients.due(PATIENCE), clients.is_lost(number)), (Some(begun + PATIENCE), true));
    // The client's state ends. The connection that is not admitted stays under the client's number.
    assert_eq!(clients.give_up(begun + PATIENCE, PATIENCE, kept, |number| number), [number]);
    assert!(clients.has(number) && clients.due(PATIENCE).is_none());
    assert_eq!((leave_silently(&clients, number, 0), clients.has(number)), (vec![number], false));
    // The connection that is not admitted may be the client's next one, so the client is lost until
    // that connection is admitted.
    let number = enter(&clients, 1, &far);
    assert_eq!(enter_silently(&clients, 1, &far, None), number);
    assert_eq!((leave(&clients, number, End::InOrder, 1), clients.is_lost(number)), (vec![], true));
    let arrival = Arrival { peer: &far, local: None, group: None, proved: None };
    assert!(clients.prove(number, None, &arrival, &AtomicBool::new(false), &unmerged));
    assert!(!clients.is_lost(number) && clients.due(PATIENCE).is_none());
    assert_eq!(leave(&clients, number, End::InOrder, 1), [number]);
}

#[test]
fn connections_that_are_not_admitted_get_another_mark_when_their_client_is_given_up() {
    let (clients, begun) = (Clients::default(), Instant::now());
    let far = host("far");
    let number = enter(&clients, 1, &far);
    let former = mark_of(&clients, number);
    assert_eq!(enter_silently(&clients, 1, &far, None), number);
    assert_eq!(leave(&clients, number, End::Lost(begun), 1), []);
    assert_eq!(
        (clients.give_up(begun + PATIENCE, PATIENCE, kept, |number| number), clients.has(number)),
        (vec![number], true)
    );
    // Another principal may own the process now. The former owner must not know the new mark.
    let mark = mark_of(&clients, number);
    assert!(mark.is_some() && mark != former);
    assert_ne!(enter_by(&clients, 1, &host("elsewhere"), former), number);
    assert_eq!(enter_by(&clients, 1, &host("other"), mark), number);
    let other = enter(&clients, 2, &far);
    assert_ne!(mark_of(&clients, other), mark);
}

#[test]
fn a_connection_that_is_not_admitted_is_not_the_expected_process() {
    let (clients, far) = (Clients::default(), host("far"));
    let expected = expect(&clients, 1, &place(&far));
    let number = enter_silently(&clients, 1, &far, None);
    // Further references are still counted for the expected process, and not for the client of the
    // connection that is not admitted.
    assert_eq!(
        (expect(&clients, 1, &place(&far)), number_behind(&clients, 1, &place(&far))),
        (expected, Some(expected))
    );
    let is_connected = clients.pass_on(1, &place(&far), |_, is_connected| Ok(is_connected));
    assert_eq!((is_connected.unwrap(), number == expected), (false, false));
    assert_eq!(leave_silently(&clients, number, 0), [number]);
    assert_eq!((clients.oxid_of(expected), clients.has(expected)), (Some(1), false));
    enter_expected(&clients, 1, &far, &[expected]);
}

#[test]
fn a_connection_that_is_not_admitted_does_not_delay_the_end_of_a_process_of_this_host() {
    let clients = Clients::default();
    for first in [process(7), host("near")] {
        let number = enter(&clients, 1, &first);
        assert_eq!(enter_as(&clients, 1, &process(7), number), number);
        assert_eq!(enter_silently(&clients, 1, &host("near"), Some(number)), number);
        assert_eq!(leave(&clients, number, End::InOrder, 9), []);
        assert_eq!(leave(&clients, number, End::InOrder, 9), [number], "{first:?}");
        // The connection that remains has come from "near" and is not admitted. It may belong to
        // another process of that host.
        let again = enter(&clients, 1, &process(7));
        assert_eq!(again == number, first == process(7), "{first:?}");
        assert_eq!(leave(&clients, again, End::InOrder, 9), [again]);
        assert!(!clients.is_lost(number));
        assert_eq!(leave_silently(&clients, number, 0), [number]);
    }
}

#[test]
fn a_connection_that_is_not_admitted_does_not_change_its_client() {
    let clients = Clients::default();
    let (far, after) = (host("far"), host("after"));
    let number = enter_at(&clients, 1, &far, Some("own"));
    let waiting = expect(&clients, 1, &place(&after));
    enter_silently(&clients, 1, &far, None);
    assert_eq!(enter_silently(&clients, 1, &after, Some(number)), number);
    assert_eq!((clients.way_of(waiting), clients.way_of(number)), (Some((1, None)), Some((1, Some("own".to_owned())))));
    assert_eq!(clients.whereabouts(number), Some((1, place(&far))));
}

#[test]
fn each_origin_of_a_client_has_its_own_address_of_this_process() {
    let clients = Clients::default();
    let number = enter_at(&clients, 1, &host("far"), Some("near"));
    let proved = mark_of(&clients, number);
    let arrival = Arrival { peer: &host("other"), local: Some("far"), group: None, proved };
    assert_eq!(enter_admitted(&clients, 1, &arrival, &unmerged), number);
    // The client's first connection came from "far", which is not this host, although the second
    // connection has reached this process at that name.
    let whereabouts = clients.whereabouts(number).unwrap().1;
    assert!(!whereabouts.is_here());
    assert_eq!(clients.way_of(number), Some((1, Some("far".to_owned()))));
}

#[test]
fn lost_clients_without_references_or_of_this_host_end_at_once() {
    let (clients, begun) = (Clients::default(), Instant::now());
    let number = enter(&clients, 1, &host("far"));
    assert_eq!(leave(&clients, number, End::Lost(begun), 0), [number]);
    let local = process(7);
    let number = enter(&clients, 2, &local);
    assert_eq!(leave(&clients, number, End::Lost(begun), 9), [number]);
    // A local client is also gone if its last connection came over a network.
    let number = enter(&clients, 3, &local);
    assert_eq!(enter_as(&clients, 3, &host("near"), number), number);
    assert_eq!(leave(&clients, number, End::InOrder, 9), []);
    assert_eq!(leave(&clients, number, End::Lost(begun), 9), [number]);
}

/// Enters clients of a host and loses them, one after the other. Returns the numbers of the clients
/// that were dropped because of the limits.
fn lose(clients: &Clients, peer: &Peer, oxids: impl Iterator<Item = u64>, kept: usize, begun: Instant) -> Vec<u64> {
    let lose = |oxid| {
        let number = enter(clients, oxid, peer);
        leave(clients, number, End::Lost(begun + Duration::from_micros(oxid)), kept)
    };
    // The n-th client has number n.
    let place = |number| (1..=2 * LOST_MAX as u64).find(|place| ClientNumber::new(*place) == number).unwrap();
    oxids.flat_map(lose).map(place).collect()
}

#[test]
fn lost_clients_over_the_limit_of_a_host_replace_its_oldest() {
    let (clients, begun) = (Clients::default(), Instant::now());
    assert_eq!(lose(&clients, &host("10.0.0.1"), 0..1, 1, begun), []);
    let many = 10..10 + LOST_BY_GROUP_MAX as u64;
    assert_eq!(lose(&clients, &host("10.0.0.2"), many, 1, begun), []);
    assert_eq!(lose(&clients, &host("10.0.0.2"), 1000..1003, 1, begun), [2, 3, 4]);
    assert!(clients.has(ClientNumber::new(1)), "the host with few has its one");
}

#[test]
fn lost_clients_and_their_references_are_limited() {
    let (clients, begun) = (Clients::default(), Instant::now());
    let all = LOST_MAX as u64;
    let gone = (0..all + 2)
        .flat_map(|oxid| lose(&clients, &host(&format!("10.1.0.{}", oxid % 100)), oxid..oxid + 1, 1, begun));
    assert_eq!(gone.collect::<Vec<_>>(), [1, 2]);
    let (clients, most) = (Clients::default(), KEPT_BY_GROUP_MAX);
    assert_eq!(lose(&clients, &host("10.0.0.1"), 0..1, 2, begun), []);
    let gone = lose(&clients, &host("10.0.0.2"), 1..5, most - 1, begun);
    assert_eq!(gone, [2, 3, 4], "a host with many references makes room for its own");
    assert_eq!(lose(&clients, &host("10.0.0.1"), 5..6, most - 2, begun), []);
    assert_eq!(lose(&clients, &host("10.0.0.8"), 6..7, 2, begun), [1]);
    assert_eq!(lose(&clients, &host("10.0.0.8"), 7..8, most + 1, begun), [7, 8]);
    assert!(clients.has(ClientNumber::new(5)) && clients.has(ClientNumber::new(6)));
}

fn refs(count: u32) -> Vec<(TargetId, u32)> {
    (0..count).map(|index| (TargetId { index, generation: 1 }, 5)).collect()
}

/// Takes the references that are to be given back over a link. The peer of the link reaches this
/// process at `local`, and this process has reached the peer at `hosts`. Returns the number of
/// references.
fn take_references_to_return(clients: &Clients, oxid: u64, peer: &Peer, local: Option<&str>, hosts: &[&str]) -> usize {
    let place = reached_by(place_at(peer, local), hosts);
    clients.take_references_to_return(oxid, &place).map_or(0, |(_, refs)| refs.len())
}

#[test]
fn owed_references_are_released_only_to_the_sending_process() {
    let clients = Clients::default();
    let take = |oxid, peer: &Peer| take_references_to_return(&clients, oxid, peer, None, &[]);
    // The references are dropped, since no client has this number yet.
    clients.add_references_to_return(ClientNumber::new(1), refs(3));
    let (first, second) = (enter(&clients, 1, &process(7)), enter(&clients, 2, &host("far")));
    clients.add_references_to_return(first, refs(3));
    clients.add_references_to_return(second, refs(2));
    for other in [process(8), host("far")] {
        assert_eq!(take(1, &other), 0);
    }
    assert_eq!((take(1, &process(7)), take(1, &process(7))), (3, 0));
    assert_eq!((take(2, &process(7)), take(2, &host("near")), take(2, &host("far"))), (0, 0, 2));
    for _ in 0..3 {
        clients.add_references_to_return(second, refs(1000));
    }
    assert_eq!(take(2, &host("far")), TO_RETURN_MAX);
    // When the client is gone, the references that were to be given back to it are dropped.
    clients.add_references_to_return(second, refs(1));
    assert_eq!(leave(&clients, second, End::InOrder, 0), [second]);
    enter(&clients, 2, &host("far"));
    assert_eq!(take(2, &host("far")), 0);
}

#[test]
fn owed_references_are_released_over_other_links_of_the_process() {
    let clients = Clients::default();
    let take =
        |oxid, peer: &Peer, local, others: &[&str]| take_references_to_return(&clients, oxid, peer, local, others);
    // If a client's address is also the address at which it reaches this process, the client runs
    // on this host.
    let first = enter_at(&clients, 1, &host("127.0.0.1"), Some("127.0.0.1"));
    let second = enter_at(&clients, 2, &host("far"), Some("near"));
    for number in [first, second, enter(&clients, 3, &process(7))] {
        clients.add_references_to_return(number, refs(1));
    }
    assert_eq!((take(2, &process(7), None, &[]), take(1, &process(7), None, &[])), (0, 1));
    assert_eq!((take(2, &host("farther"), None, &["near"]), take(2, &host("farther"), None, &["far"])), (0, 1));
    assert_eq!(take(3, &host("near"), Some("other"), &[]), 0);
    assert_eq!(take(3, &host("near"), Some("near"), &[]), 1);
}

#[test]
fn a_peer_of_another_origin_with_the_oxid_of_a_client_is_another_client() {
    let hidden = |serial| Peer::Process { pid: 0, uid: 0, serial };
    let origins = [
        (process(7), vec![process(8), host("near")]),
        (host("far"), vec![process(8), host("near")]),
        // A process of another PID namespace has the process id 0 here.
        (hidden(5), vec![hidden(6)]),
    ];
    for (own, others) in origins {
        let clients = Clients::default();
        let number = enter(&clients, 1, &own);
        for other in &others {
            let further = enter(&clients, 1, other);
            assert_ne!(further, number, "{other:?} is {own:?}");
            assert_eq!((enter(&clients, 1, other), clients.oxid_of(further)), (further, Some(1)));
            assert_ne!(mark_of(&clients, further), mark_of(&clients, number));
            assert_eq!(leave(&clients, further, End::InOrder, 9), []);
            assert_eq!(leave(&clients, further, End::InOrder, 9), [further]);
        }
        assert!(clients.has(number) && enter(&clients, 1, &own) == number);
    }
}

#[test]
fn a_valid_proof_makes_connections_of_several_origins_one_client() {
    let clients = Clients::default();
    let (first, near) = (enter(&clients, 1, &process(7)), host("near"));
    let mark = mark_of(&clients, first);
    assert_eq!(clients.marks(1), Vec::from_iter(mark));
    assert_eq!(enter_as(&clients, 1, &near, first), first);
    // The next connection of that host has to prove the mark again.
    assert_ne!(enter(&clients, 1, &near), first);
    // A mark is valid for one OXID only, and only until its client is gone.
    assert_ne!(enter_as(&clients, 2, &near, first), first);
    assert_eq!([leave(&clients, first, End::InOrder, 0), leave(&clients, first, End::InOrder, 0)].concat(), [first]);
    assert_ne!(enter_by(&clients, 1, &host("far"), mark), first);
}

#[test]
fn marks_and_their_keys_follow_from_a_random_secret_and_not_from_each_other() {
    let number = MarkNumber(1);
    let drawn = || {
        let clients = Clients::default();
        let [mark, again] = [(); 2].map(|()| u128::from(clients.mark(number).unwrap()));
        assert_eq!(mark, again);
        // The clear mark is sent without encryption, so the other values must not follow from it.
        let clear = u128::from(clients.clear_mark(number).unwrap());
        [mark, clear, clients.mark_key(number).unwrap(), clients.mark_key(MarkNumber(2)).unwrap()]
    };
    let values = [drawn(), drawn()].concat();
    assert_eq!(values.iter().collect::<std::collections::HashSet<_>>().len(), values.len());
    // The key follows from the secret, and not from the random state of a hash table.
    let clients = Clients { secret: [7; 16].into(), ..Clients::default() };
    let key = code_of(&[7; 16], &[b"key", &[1, 0, 0, 0, 0, 0, 0, 0]]);
    assert_eq!(clients.mark_key(number).unwrap(), key);
}

#[test]
fn the_clients_with_one_oxid_are_limited_for_each_user_and_for_all_hosts() {
    let clients = Clients::default();
    let of_user = |uid, serial| Peer::Process { pid: 9, uid, serial };
    let enter = |peer: &Peer| try_to_enter(&clients, peer);
    let max = SAME_OXID_MAX as u64;
    for number in 0..max {
        assert_eq!((enter(&of_user(0, number)), enter(&host(&format!("10.1.0.{number}")))), (Ok(()), Ok(())));
    }
    let refused = Err(Status::SERVER_TOO_BUSY);
    assert_eq!((enter(&of_user(0, max)), enter(&host("10.0.0.3"))), (refused, refused));
    // At the limit, known clients can still connect again, and a process of another user can still
    // connect.
    assert_eq!([of_user(0, 0), host("10.1.0.0"), of_user(1, max)].map(|peer| enter(&peer)), [Ok(()); 3]);
    // A process can also still connect if a peer has named the process and its place.
    clients.expect_named(1, &place(&host("10.0.0.3"))).unwrap();
    assert_eq!((enter(&host("10.0.0.3")), enter(&host("10.0.0.4"))), (Ok(()), refused));
    // If a peer has named a process of this host without its number, there is room for just one
    // more process of this host.
    let named = clients.expect_named(1, &Place::read(&[]).unwrap()).unwrap();
    assert_eq!([max + 1, max + 2, max + 3].map(|serial| enter(&of_user(0, serial))), [Ok(()), refused, refused]);
    // A process that only peers have named cannot connect any more. A process to which a link of
    // this process leads still can.
    enter_expected(&clients, 1, &of_user(0, 0), &[named]);
    clients.expect_named(1, &place(&host("10.0.0.5"))).unwrap();
    clients.expect_named(1, &place(&of_user(0, max + 2))).unwrap();
    assert_eq!([host("10.0.0.5"), of_user(0, max + 2)].map(|peer| enter(&peer)), [refused; 2]);
    for peer in [host("10.0.0.5"), of_user(0, max + 2)] {
        expect(&clients, 1, &place(&peer));
        assert_eq!((enter(&peer), enter(&host("10.0.0.4")), enter(&of_user(0, max + 3))), (Ok(()), refused, refused));
    }
}

#[test]
fn a_stranger_at_one_address_of_a_process_does_not_keep_it_out_at_another_one() {
    let clients = Clients::default();
    for number in 0..SAME_OXID_MAX {
        assert_eq!(try_to_enter(&clients, &host(&format!("10.1.0.{number}"))), Ok(()));
    }
    let expected = expect(&clients, 1, &reached_by(place(&host("10.0.0.6")), &["10.0.0.7"]));
    assert_eq!(
        ["10.0.0.6", "10.0.0.7", "10.0.0.8"].map(|name| try_to_enter(&clients, &host(name)).is_ok()),
        [true, true, false]
    );
    enter_expected(&clients, 1, &host("10.0.0.7"), &[expected]);
}

fn try_to_enter(clients: &Clients, peer: &Peer) -> Result<(), Status> {
    let arrival = Arrival { peer, local: None, group: None, proved: None };
    clients.enter(|| Ok(1), &arrival, None).map(drop)
}

#[test]
fn the_addresses_of_one_host_do_not_keep_other_hosts_out() {
    let clients = Clients::default();
    let address = |number: usize| host(&format!("2001:db8:0:1::{number:x}"));
    for number in 0..SAME_HOST_MAX {
        assert_eq!(try_to_enter(&clients, &address(number)), Ok(()));
    }
    for number in SAME_HOST_MAX..2 * SAME_OXID_MAX {
        assert_eq!(try_to_enter(&clients, &address(number)), Err(Status::SERVER_TOO_BUSY));
    }
    for other in 1..SAME_OXID_MAX {
        assert_eq!(try_to_enter(&clients, &host(&format!("2001:db8:1:{other:x}::1"))), Ok(()));
    }
    assert_eq!(try_to_enter(&clients, &host("10.0.0.1")), Err(Status::SERVER_TOO_BUSY));
}

#[test]
fn expected_processes_enter_from_their_place() {
    for (own, stranger) in [(process(7), process(8)), (process(7), host("far")), (host("far"), host("farther"))] {
        let clients = Clients::default();
        let number = expect(&clients, 1, &place(&own));
        assert_eq!(
            (expect(&clients, 1, &place(&own)), number_behind(&clients, 1, &place(&own))),
            (number, Some(number))
        );
        assert_eq!(number_behind(&clients, 1, &place(&stranger)), None);
        // A client that connects from another place, or with another OXID, is not the expected
        // process.
        let other = enter(&clients, 1, &stranger);
        assert!(other != number && enter(&clients, 2, &own) != number && !clients.has(number));
        let entered = enter_expected(&clients, 1, &own, &[number]);
        assert_eq!((expect(&clients, 1, &place(&own)), expect(&clients, 1, &place(&stranger))), (entered, other));
    }
}

#[test]
fn references_for_a_process_go_to_the_client_that_fits_its_place_best() {
    let clients = Clients::default();
    // Both clients run on this host.
    let far = enter_at(&clients, 1, &host("near"), Some("near"));
    assert_eq!(number_behind(&clients, 1, &place(&process(7))), Some(far));
    let local = enter(&clients, 1, &process(7));
    assert_eq!(number_behind(&clients, 1, &place(&process(7))), Some(local));
    let over_network = place_at(&host("near"), Some("near"));
    assert_eq!(number_behind(&clients, 1, &over_network), Some(far));
    assert_eq!(leave(&clients, far, End::InOrder, 0), [far]);
    assert_eq!(number_behind(&clients, 1, &over_network), Some(local));
}

#[test]
fn later_claimants_of_an_oxid_do_not_fit_a_place_of_this_host_better() {
    let over_network = place_at(&host("near"), Some("near"));
    let peers = [host("near"), process(7)];
    for [first, later] in [[&peers[0], &peers[1]], [&peers[1], &peers[0]]] {
        let clients = Clients::default();
        let [owner, stranger] = [first, later].map(|peer| enter_at(&clients, 1, peer, Some("near")));
        assert_eq!(number_behind(&clients, 1, &over_network), Some(owner), "{first:?}");
        // A connected client is more likely to be the process at the place than a lost client.
        if matches!(first, Peer::Host(_)) {
            leave(&clients, owner, End::Lost(Instant::now()), 1);
            assert_eq!(number_behind(&clients, 1, &over_network), Some(stranger));
        }
    }
}

#[test]
fn a_process_that_has_proved_a_mark_need_not_prove_it_again() {
    let clients = Clients::default();
    let number = enter(&clients, 1, &host("near"));
    assert_eq!(enter_as(&clients, 1, &process(7), number), number);
    assert_eq!(enter(&clients, 1, &process(7)), number);
    assert_eq!(number_behind(&clients, 1, &place(&process(7))), Some(number));
    let other = enter(&clients, 1, &process(8));
    assert!(other != number && enter(&clients, 2, &process(7)) != number);
}

#[test]
fn a_client_gets_the_references_that_wait_at_the_address_where_it_proves_its_mark() {
    let clients = Clients::default();
    let (before, after) = (host("before"), host("after"));
    let number = enter(&clients, 1, &before);
    let waiting = expect(&clients, 1, &place(&after));
    let other = expect(&clients, 1, &place(&host("other")));
    let merged = RefCell::new(Vec::new());
    let merge = |from, to| {
        merged.borrow_mut().push((from, to));
        true
    };
    let arrival = Arrival { peer: &after, local: None, group: None, proved: mark_of(&clients, number) };
    assert_eq!(enter_admitted(&clients, 1, &arrival, &merge), number);
    assert_eq!(merged.into_inner(), [(waiting, number)]);
    assert_eq!((clients.oxid_of(waiting), clients.oxid_of(other)), (None, Some(1)));
    // References for the process at "after" are now counted for the client. The client's place,
    // which is sent to other processes, now has this address, too.
    assert_eq!(expect(&clients, 1, &place(&after)), number);
    let (oxid, whereabouts) = clients.whereabouts(number).unwrap();
    assert_eq!((oxid, whereabouts), (1, reached_by(place(&before), &["after"])));
    // The number of addresses with a proof is limited. The address of the first connection stays.
    for index in 0..FURTHER_MAX {
        enter_as(&clients, 1, &host(&format!("{index}")), number);
    }
    let is_behind = |peer| number_behind(&clients, 1, &place(peer)) == Some(number);
    let last = host(&format!("{}", FURTHER_MAX - 1));
    assert!(is_behind(&before) && !is_behind(&after) && [host("0"), last].iter().all(is_behind));
    for _ in 0..FURTHER_MAX + 1 {
        assert_eq!(leave(&clients, number, End::InOrder, 0), []);
    }
    assert_eq!(leave(&clients, number, End::InOrder, 0), [number]);
}

#[test]
fn references_that_are_too_many_for_a_client_stay_those_of_the_expected_process() {
    let clients = Clients::default();
    let places = [place(&host("far")), reached_by(place(&host("farther")), &["far"])];
    let [first, second] = places.map(|place| expect(&clients, 1, &place));
    let arrival = Arrival { peer: &host("far"), local: None, group: None, proved: None };
    let number = enter_admitted(&clients, 1, &arrival, &|from, _| from == first);
    assert_eq!([first, second].map(|expected| clients.oxid_of(expected)), [None, Some(1)]);
    // The client has released some references. A later connection therefore moves the other
    // references.
    assert_eq!(enter_expected(&clients, 1, &host("far"), &[second]), number);
}

#[test]
fn the_client_behind_a_link_is_searched_once() {
    let (clients, found) = (Clients::default(), FoundClient::default());
    let unsearched = || panic!("the place is made again");
    let far = place(&host("far"));
    let number = clients.expect(1, &found, || far.clone());
    assert_eq!(clients.expect(1, &found, unsearched), number);
    assert_eq!(clients.number_behind(1, &found, unsearched), Some(number));
    // If the register has changed so that the result can be another one, the client is looked up
    // again.
    let number = enter_expected(&clients, 1, &host("far"), &[number]);
    assert_eq!(clients.expect(1, &found, || far.clone()), number);
    enter(&clients, 1, &host("far"));
    assert_eq!(clients.expect(1, &found, unsearched), number);
    for _ in 0..2 {
        leave(&clients, number, End::InOrder, 0);
    }
    assert_ne!(clients.expect(1, &found, || far.clone()), number);
}

#[test]
fn a_process_that_is_expected_at_several_places_gets_all_references() {
    let clients = Clients::default();
    let places = [place(&host("far")), reached_by(place(&host("farther")), &["far"]), place(&host("near"))];
    let [first, second, other] = places.map(|place| expect(&clients, 1, &place));
    enter_expected(&clients, 1, &host("far"), &[first, second]);
    assert_eq!(clients.oxid_of(other), Some(1));
}

#[test]
fn references_that_are_passed_to_a_lost_client_wait_for_it() {
    let (clients, begun) = (Clients::default(), Instant::now());
    let (far, other) = (host("far"), host("other"));
    let number = enter(&clients, 1, &far);
    assert_eq!(enter_as(&clients, 1, &other, number), number);
    let lose = || {
        let connections = clients.register().known[&number].count;
        (0..connections).for_each(|_| assert_eq!(leave(&clients, number, End::Lost(begun), 1), []));
        let passed = clients.pass_on(1, &place(&other), |to, is_connected| Ok((to, is_connected))).unwrap();
        assert!(clients.is_lost(number) && passed.0 != number && !passed.1);
        passed.0
    };
    let passed = lose();
    // A stranger at the place of the lost client does not get the references.
    let stranger = enter(&clients, 1, &other);
    assert_ne!(stranger, number);
    assert_eq!(leave(&clients, stranger, End::InOrder, 0), [stranger]);
    assert_eq!(enter_expected(&clients, 1, &far, &[passed]), number);
    // The references outlive the lost client. Any client at the place then gets the references. The
    // lost client's number stays with a connection that may belong to another principal. This
    // connection does not get the references.
    let passed = lose();
    assert_eq!(enter_silently(&clients, 1, &far, None), number);
    assert_eq!(clients.give_up(begun + PATIENCE, PATIENCE, kept, |number| number), [number]);
    let arrival = Arrival { peer: &far, local: None, group: None, proved: None };
    assert!(clients.has(number) && clients.prove(number, None, &arrival, &AtomicBool::new(false), &unmerged));
    assert_eq!((leave(&clients, number, End::Lost(begun), 1), clients.is_lost(number)), (vec![], true));
    enter_expected(&clients, 1, &other, &[passed]);
}

#[test]
fn references_that_are_passed_to_places_of_a_lost_client_wait_there_after_its_end() {
    let (clients, begun) = (Clients::default(), Instant::now());
    let places = [host("first"), host("second")];
    let [first, second] = &places;
    let number = enter(&clients, 1, first);
    let lose = || {
        enter_as(&clients, 1, second, number);
        (0..2).for_each(|_| assert_eq!(leave(&clients, number, End::Lost(begun), 1), []));
        [first, second, first].map(|peer| clients.expect_named(1, &place(peer)).unwrap())
    };
    let passed = lose();
    assert!(passed[0] != passed[1] && passed[0] == passed[2] && !passed.contains(&number));
    assert_eq!(enter_expected(&clients, 1, first, &passed[..2]), number);
    let passed = lose();
    assert_eq!(clients.give_up(begun + PATIENCE, PATIENCE, kept, |number| number), [number]);
    enter_expected(&clients, 1, second, &passed[1..2]);
    enter_expected(&clients, 1, first, &passed[..1]);
}

#[test]
fn references_of_expected_processes_are_kept_while_a_client_may_be_the_process() {
    let clients = Clients::default();
    let number = expect(&clients, 1, &place(&host("far")));
    let forget = |unused| clients.forget_expected(Instant::now() + PATIENCE, PATIENCE, |_| unused);
    let (now, late) = (Instant::now(), Instant::now() + STRANGERS_PATIENCE);
    let is_kept = |number, now| clients.register().keeps(number, now, PATIENCE);
    assert!(is_kept(number, now) && !is_kept(number, now + PATIENCE));
    let other = enter(&clients, 1, &host("farther"));
    assert!(is_kept(number, now + PATIENCE) && is_kept(other, now + PATIENCE));
    // A stranger that claims the OXID does not keep the references for ever.
    assert!(!is_kept(number, late) && is_kept(other, late));
    leave(&clients, other, End::InOrder, 0);
    assert!(!is_kept(number, now + PATIENCE));
    forget(false);
    clients.forget_expected(Instant::now(), PATIENCE, |_| true);
    assert_eq!(clients.oxid_of(number), Some(1));
    forget(true);
    assert_eq!(clients.oxid_of(number), None);
}

#[test]
fn references_expire_a_patience_after_the_last_was_given_and_under_the_lock() {
    let clients = Clients::default();
    let [first, second] = [1, 2].map(|oxid| expect(&clients, oxid, &place(&host("far"))));
    let begun = Instant::now();
    let end = |number| {
        assert!(clients.register.try_lock().is_err(), "a connection may enter meanwhile");
        number
    };
    let expire = |now| clients.expire_expected(&[first, second], now, PATIENCE, end);
    // The second process was last given references one second later, so it does not expire yet.
    clients.register().expected.get_mut(&second).unwrap().used = begun + Duration::from_secs(1);
    assert_eq!(expire(begun + PATIENCE), [first]);
    assert_eq!(expect(&clients, 2, &place(&host("far"))), second);
    assert_eq!((clients.oxid_of(first), clients.oxid_of(second)), (None, Some(2)));
    clients.register().expected.get_mut(&second).unwrap().used = begun;
    let entered = enter_expected(&clients, 2, &host("far"), &[second]);
    let none: Vec<ClientNumber> = clients.expire_expected(&[entered], begun + PATIENCE, PATIENCE, end);
    assert_eq!(none, []);
}

#[test]
fn the_places_of_a_receiver_are_limited() {
    let clients = Clients::default();
    let pass_on = |name: &str, outcome| {
        clients.pass_on(1, &place(&host(name)), |number, is_connected| {
            assert!(!is_connected);
            Result::and(outcome, Ok(number))
        })
    };
    let failed: crate::types::error::Result<()> = Err(code::RPC_E_DISCONNECTED.into());
    // A transfer that fails leaves no expected process in the register.
    for number in 0..2 * SAME_OXID_MAX {
        assert!(pass_on(&format!("{number}"), failed.clone()).is_err());
    }
    let all: Vec<_> = (0..SAME_OXID_MAX).map(|number| pass_on(&format!("{number}"), Ok(())).unwrap()).collect();
    assert_eq!(pass_on("0", Ok(())).unwrap(), all[0]);
    assert_eq!(pass_on("far", Ok(())).unwrap_err().code(), code::E_OUTOFMEMORY);
    // For places to which links of this process lead, there is no such limit.
    let far = expect(&clients, 1, &place(&host("far")));
    assert_eq!(pass_on("far", Ok(())).unwrap(), far);
    // Peers that name many places leave room for one place of each lost client.
    let number = enter(&clients, 1, &host("lost"));
    assert_eq!(enter_as(&clients, 1, &host("further"), number), number);
    (0..2).for_each(|_| assert_eq!(leave(&clients, number, End::Lost(Instant::now()), 1), []));
    let passed = pass_on("lost", Ok(())).unwrap();
    assert_eq!(pass_on("lost", Ok(())).unwrap(), passed);
    assert_eq!(pass_on("further", Ok(())).unwrap_err().code(), code::E_OUTOFMEMORY);
}
