//! Tests of processes of this host that leave after they were given references. The processes are
//! real, because descriptors of the processes report their ends.

use super::*;
use crate::types::processes::watch;
use obvia_via::provider::shm::serial_behind;
use std::cell::Cell;
use std::process::{Child, Command, Stdio};

/// A process that runs until it is killed.
struct Running(Child);

impl Running {
    fn start() -> Self {
        Self(Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap())
    }

    fn end(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns the peer of a connection from a process.
fn peer_of(pid: u32, uid: u32) -> Peer {
    Peer::Process { pid, uid, serial: serial_behind(&watch(pid).unwrap().unwrap(), pid) }
}

fn own_process() -> Peer {
    peer_of(std::process::id(), 0)
}

/// Records that references are given to a process, as a call of this process to it does.
fn give(clients: &Clients, oxid: u64, peer: &Peer) -> ClientNumber {
    expect(clients, oxid, &place(peer))
}

/// Enters a connection of a process, gives references to the process, and ends the connection.
/// Returns the number of the client, and the clients that are gone after this.
fn give_and_leave(clients: &Clients, oxid: u64, peer: &Peer, kept: usize) -> (ClientNumber, Vec<ClientNumber>) {
    let number = enter(clients, oxid, peer);
    assert_eq!(give(clients, oxid, peer), number);
    (number, leave(clients, number, End::InOrder, kept))
}

fn give_up(clients: &Clients, now: Instant) -> Vec<ClientNumber> {
    clients.give_up(now, PATIENCE, kept, |number| number)
}

#[test]
#[cfg_attr(miri, ignore = "opens descriptors of processes")]
fn references_given_to_a_living_process_survive_the_end_of_its_last_connection() {
    let (clients, peer, before) = (Clients::default(), own_process(), Instant::now());
    let (number, gone) = give_and_leave(&clients, 1, &peer, 5);
    let after = Instant::now();
    assert_eq!((gone, clients.has(number), clients.is_lost(number)), (vec![], true, true));
    // When the process calls back over a new connection, it is the same client, and so has the
    // references.
    assert_eq!((enter(&clients, 1, &peer), clients.is_lost(number)), (number, false));
    assert_eq!((clients.due(PATIENCE), clients.awaits_processes()), (None, false));
    // The time for which the lost client is kept counts from the time at which the references were
    // given.
    assert_eq!((leave(&clients, number, End::InOrder, 5), clients.is_lost(number)), (vec![], true));
    let due = clients.due(PATIENCE).unwrap();
    assert!(due >= before + PATIENCE && due <= after + PATIENCE);
    assert_eq!((give_up(&clients, before), give_up(&clients, due)), (vec![], vec![number]));
    assert!(!clients.has(number) && clients.due(PATIENCE).is_none());
    assert_ne!(enter(&clients, 1, &peer), number);
}

#[test]
#[cfg_attr(miri, ignore = "opens descriptors of processes")]
fn references_given_to_a_process_before_it_connects_survive_as_well() {
    let (clients, peer) = (Clients::default(), own_process());
    let expected = give(&clients, 1, &peer);
    let used = clients.register().expected[&expected].used;
    let number = enter_expected(&clients, 1, &peer, &[expected]);
    assert_eq!((leave(&clients, number, End::InOrder, 5), clients.is_lost(number)), (vec![], true));
    assert_eq!(clients.due(PATIENCE), Some(used + PATIENCE));
    assert_eq!(enter(&clients, 1, &peer), number);
}

#[test]
#[cfg_attr(miri, ignore = "opens descriptors of processes")]
fn a_living_process_that_was_not_given_references_lately_is_gone() {
    let (clients, peer) = (Clients::default(), own_process());
    let number = enter(&clients, 1, &peer);
    assert_eq!(leave(&clients, number, End::InOrder, 5), [number]);
    let number = enter(&clients, 1, &peer);
    give(&clients, 1, &peer);
    let failed: crate::types::error::Result<()> = Err(code::RPC_E_DISCONNECTED.into());
    let given = Instant::now().checked_sub(PATIENCE);
    clients.register().known.get_mut(&number).unwrap().given = given;
    assert!(clients.pass_on(1, &place(&peer), |_, _| failed).is_err());
    assert_eq!(leave(&clients, number, End::InOrder, 5), [number]);
    // A process that has given all references back is not kept as a lost client.
    let (number, gone) = give_and_leave(&clients, 1, &peer, 0);
    assert_eq!((gone, clients.has(number)), (vec![number], false));
}

#[test]
#[cfg_attr(miri, ignore = "opens descriptors of processes")]
fn the_states_of_a_process_end_with_its_last_connection() {
    let (clients, peer, state) = (Clients::default(), own_process(), Cell::new(1));
    let leave = |number, references: usize| {
        let end_client = |number, what| {
            state.set(0);
            (number, what)
        };
        clients.leave(number, true, (End::InOrder, PATIENCE), |_| references + state.get(), end_client)
    };
    let number = enter(&clients, 1, &peer);
    give(&clients, 1, &peer);
    assert_eq!((leave(number, 1), clients.is_lost(number)), (vec![(number, Ending::States)], true));
    // A process that has no references is not kept for its states.
    assert_eq!(enter(&clients, 1, &peer), number);
    state.set(1);
    assert_eq!(leave(number, 0), [(number, Ending::States), (number, Ending::All)]);
    assert!(!clients.has(number));
}

#[test]
#[cfg_attr(miri, ignore = "starts a process")]
fn a_process_that_has_ended_loses_its_references() {
    let (clients, mut running) = (Clients::default(), Running::start());
    let peer = peer_of(running.0.id(), 0);
    let (number, gone) = give_and_leave(&clients, 1, &peer, 5);
    // Other processes have passed references to the lost process. These references end with the
    // process, too.
    let passed = clients.expect_named(1, &place(&peer)).unwrap();
    let other = clients.expect_named(1, &place(&process(7))).unwrap();
    assert_eq!((gone, give_up(&clients, Instant::now()), clients.awaits_processes()), (vec![], vec![], true));
    running.end();
    assert_eq!((give_up(&clients, Instant::now()), clients.awaits_processes()), (vec![number, passed], false));
    assert_eq!([passed, other].map(|expected| clients.oxid_of(expected)), [None, Some(1)]);
    // Now the process ends before its connection does.
    let (number, gone) = give_and_leave(&clients, 1, &peer, 5);
    assert_eq!(gone, [number]);
}

#[test]
#[cfg_attr(miri, ignore = "opens descriptors of processes")]
fn a_later_process_with_the_same_id_keeps_no_references() {
    let clients = Clients::default();
    let Peer::Process { pid, uid, serial } = own_process() else { panic!("a process is a process") };
    let former = Peer::Process { pid, uid, serial: serial ^ 1 };
    // A process of another PID namespace has no process id here, so this process cannot watch for
    // its end.
    let hidden = Peer::Process { pid: 0, uid, serial };
    for peer in [former, hidden] {
        let (number, gone) = give_and_leave(&clients, 1, &peer, 5);
        assert_eq!(gone, [number], "{peer:?}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "opens descriptors of processes")]
fn further_references_renew_the_patience_with_a_lost_process() {
    let (clients, peer) = (Clients::default(), own_process());
    let (number, gone) = give_and_leave(&clients, 1, &peer, 5);
    let first = clients.due(PATIENCE).unwrap();
    let again = Instant::now();
    assert_eq!((gone, give(&clients, 1, &peer)), (vec![], number));
    assert!(clients.due(PATIENCE).unwrap() >= again + PATIENCE);
    assert_eq!((give_up(&clients, first), clients.has(number)), (vec![], true));
    let due = clients.due(PATIENCE).unwrap();
    // Any peer can pass references to the process. Such references must not keep the process's
    // other references for ever.
    let pass_on = || clients.pass_on(1, &place(&peer), |to, is_connected| Ok((to, is_connected))).unwrap();
    let (passed, is_connected) = pass_on();
    assert!(passed != number && !is_connected);
    assert_eq!((pass_on(), clients.expect_named(1, &place(&peer))), ((passed, false), Some(passed)));
    assert_eq!(clients.due(PATIENCE), Some(due));
    assert_eq!((give_up(&clients, due), clients.due(PATIENCE)), (vec![number], None));
    let number = enter_expected(&clients, 1, &peer, &[passed]);
    assert_eq!(pass_on(), (number, true));
    assert_eq!((leave(&clients, number, End::InOrder, 5), clients.is_lost(number)), (vec![], true));
}

#[test]
#[cfg_attr(miri, ignore = "opens descriptors of processes")]
fn a_process_whose_last_connection_came_over_a_network_keeps_references() {
    let (clients, peer) = (Clients::default(), own_process());
    for end in [End::InOrder, End::Lost(Instant::now())] {
        let number = enter(&clients, 1, &peer);
        assert_eq!(enter_as(&clients, 1, &host("near"), number), number);
        assert_eq!((give(&clients, 1, &peer), leave(&clients, number, End::InOrder, 5)), (number, vec![]));
        assert!(!clients.is_lost(number));
        assert_eq!((leave(&clients, number, end, 5), clients.is_lost(number)), (vec![], true), "{end:?}");
        let due = clients.due(PATIENCE).unwrap();
        assert_eq!(give_up(&clients, due), [number]);
    }
}

#[test]
#[cfg_attr(miri, ignore = "opens descriptors of processes")]
fn lost_processes_of_a_user_and_their_references_are_limited() {
    let clients = Clients::default();
    let other = peer_of(std::process::id(), 1);
    let (of_other, gone) = give_and_leave(&clients, 1, &other, 1);
    assert_eq!(gone, []);
    // One process claims many OXIDs.
    let own = own_process();
    let max = LOST_BY_GROUP_MAX as u64;
    let lose = |oxid| give_and_leave(&clients, oxid, &own, 1);
    let numbers: Vec<_> = (0..max).map(|index| lose(100 + index)).collect();
    assert!(numbers.iter().all(|(_, gone)| gone.is_empty()));
    assert_eq!([lose(100 + max).1, lose(101 + max).1], [[numbers[0].0], [numbers[1].0]]);
    assert_eq!(clients.register().lost.len(), LOST_BY_GROUP_MAX + 1);
    // The limit on references is reached: all other lost clients of this user are removed, in
    // favour of the client that was lost last. The client of another user stays.
    let (last, gone) = give_and_leave(&clients, 3, &own, KEPT_BY_GROUP_MAX);
    assert_eq!((gone.len(), clients.is_lost(last), clients.is_lost(of_other)), (LOST_BY_GROUP_MAX, true, true));
    let (number, gone) = give_and_leave(&clients, 4, &own, KEPT_BY_GROUP_MAX + 1);
    assert_eq!((gone, clients.is_lost(of_other)), (vec![last, number], true));
    // The limit also holds if a lost client is given further references.
    let ((first, _), (second, _)) = (lose(200), lose(201));
    assert_eq!(give_up(&clients, Instant::now()), []);
    keep(second, KEPT_BY_GROUP_MAX);
    assert_eq!(give_up(&clients, Instant::now()), [first]);
    assert_eq!([second, of_other].map(|number| clients.is_lost(number)), [true; 2]);
}

#[test]
fn a_connection_that_needs_no_admission_is_admitted_under_the_lock_under_which_it_enters() {
    let (clients, peer) = (Clients::default(), process(7));
    let expected = expect(&clients, 1, &place(&peer));
    let is_locked = || clients.register.try_lock().is_err();
    let oxid = || {
        assert!(is_locked());
        Ok(1)
    };
    let merge = |from, _| {
        assert!(is_locked(), "another connection may leave between");
        from == expected
    };
    let arrival = Arrival { peer: &peer, local: None, group: None, proved: None };
    let number = clients.enter(oxid, &arrival, Some(&merge)).unwrap().number;
    assert_eq!(clients.oxid_of(expected), None);
    // A new connection enters before the earlier connection leaves, so the client is not lost.
    assert_eq!(enter(&clients, 1, &peer), number);
    assert_eq!((leave(&clients, number, End::InOrder, 9), clients.is_lost(number)), (vec![], false));
    assert_eq!(leave(&clients, number, End::InOrder, 9), [number]);
}
