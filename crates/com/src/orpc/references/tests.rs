//! Random simulations of honest and malicious clients: no object is lost to an honest client, and
//! no entry is left at the end.

use super::merged::MERGED_MAX;
use super::{
    Client, ClientNumber, Dropped, Limits, PingAnswer, Pinging, References, Refs, SourceCounts, SourcedClient,
};
use crate::orpc::object_exporter::ComplexPing;
use crate::orpc::{INVALID_OID, INVALID_SET, OUT_OF_RESOURCES, Ping, PingPlan};
use obvia_rpc::status::Status;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};
use windows_core::GUID;

const ALICE: Client = Client::Peer(1);
const BOB: Client = Client::Peer(2);
/// An obvia process, whose end is reported.
const CAROL: Client = process(1);
const OK: Status = Status(0);

const fn process(number: u64) -> Client {
    Client::Process(ClientNumber::new(number))
}

/// Returns a client whose user or host is not counted.
fn alone(client: Client) -> SourcedClient {
    SourcedClient { client, source: None }
}

fn ipid(number: u64) -> GUID {
    GUID::from_u128(number.into())
}

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

impl References {
    /// Verifies the consistency of the tables.
    fn check(&self) {
        let mut receivers = SourceCounts::default();
        self.shares.values().filter_map(|share| share.giver).for_each(|giver| receivers.add(giver));
        assert_eq!(receivers, self.receivers);
        for (oid, object) in &self.objects {
            assert!(!object.ipids.is_empty(), "an object without interface pointers");
            object.ipids.iter().for_each(|ipid| assert_eq!(self.pointers[ipid].oid, *oid));
            object.sets.iter().for_each(|set| assert!(self.sets[set].oids.contains(oid)));
            let holders = object.ipids.iter().flat_map(|ipid| self.pointers[ipid].holders.keys());
            assert_eq!(object.peers, holders.filter(|holder| matches!(holder, Client::Peer(_))).count());
            assert_eq!(self.waiting.contains(&(object.used, *oid)), object.waits());
        }
        let mut shares: HashMap<Client, (HashSet<GUID>, HashSet<u64>, usize)> = HashMap::new();
        for (ipid, pointer) in &self.pointers {
            assert!(self.objects[&pointer.oid].ipids.contains(ipid) && !pointer.holders.is_empty());
            for (client, refs) in &pointer.holders {
                assert!(!refs.is_none());
                shares.entry(*client).or_default().0.insert(*ipid);
            }
        }
        let mut makers = SourceCounts::default();
        self.sets.values().for_each(|set| makers.add(set.maker));
        assert_eq!(makers, self.set_makers);
        for (id, set) in &self.sets {
            set.oids.iter().for_each(|oid| assert!(self.objects[oid].sets.contains(id)));
            assert!(self.quiet.contains(&(set.pinged, *id)));
            let share = shares.entry(set.maker.client).or_default();
            share.1.insert(*id);
            share.2 += set.oids.len();
        }
        assert_eq!(self.shares.len(), shares.len());
        for (client, (ipids, sets, pinged)) in shares {
            let share = &self.shares[&client];
            assert_eq!((&share.ipids, &share.sets, share.pinged), (&ipids, &sets, pinged));
        }
        let waiting = self.objects.values().filter(|object| object.waits());
        assert_eq!((self.waiting.len(), self.quiet.len()), (waiting.count(), self.sets.len()));
    }
}

fn tables() -> (References, Instant) {
    (References::new(Pinging::default(), Limits::default()), Instant::now())
}

#[test]
fn released_references_are_dropped_at_once() {
    let (mut tables, now) = tables();
    tables.hand_out(7, ipid(70), ALICE, Refs::public(5), now).unwrap();
    tables.hand_out(7, ipid(71), BOB, Refs { public: 1, private: 2 }, now).unwrap();
    assert_eq!(tables.add(&ipid(70), ALICE, Refs::public(2), now), Some(Ok(())));
    assert_eq!(tables.add(&ipid(72), ALICE, Refs::public(2), now), None);
    assert_eq!(tables.hand_out(8, ipid(70), BOB, Refs::public(1), now), Err(INVALID_OID));
    // Bob has no references to the first interface pointer, and releases some nevertheless.
    assert_eq!(tables.release(&ipid(70), BOB, Refs::public(100)), None);
    assert_eq!(tables.release(&ipid(70), ALICE, Refs::public(6)), None);
    assert_eq!(tables.held(&ipid(70), ALICE), Refs::public(1));
    let dropped = tables.release(&ipid(70), ALICE, Refs::public(100));
    assert_eq!(dropped, Some(Dropped { oid: 7, ipids: vec![ipid(70)], is_last: false }));
    // A private reference does not count as a public one.
    assert_eq!(tables.release(&ipid(71), BOB, Refs::public(100)), None);
    let dropped = tables.release(&ipid(71), BOB, Refs { public: 0, private: 2 });
    assert_eq!(dropped, Some(Dropped { oid: 7, ipids: vec![ipid(71)], is_last: true }));
    assert!(tables.is_empty() && tables.due().is_none());
}

#[test]
fn references_without_pings_expire() {
    let (mut tables, now) = tables();
    tables.hand_out(7, ipid(70), ALICE, Refs::public(5), now).unwrap();
    tables.hand_out(8, ipid(80), CAROL, Refs::public(5), now).unwrap();
    // References of peers expire. References of processes do not.
    tables.hand_out(8, ipid(80), ALICE, Refs::public(5), now).unwrap();
    tables.hand_out(8, ipid(81), ALICE, Refs::public(5), now).unwrap();
    assert_eq!(tables.due(), Some(now + seconds(360)));
    assert!(tables.collect(now + seconds(359)).is_empty());
    tables.note_call(&ipid(70), now + seconds(100));
    let dropped = tables.collect(now + seconds(360));
    assert_eq!(dropped, [Dropped { oid: 8, ipids: vec![ipid(81)], is_last: false }]);
    assert!(tables.collect(now + seconds(459)).is_empty());
    assert_eq!(tables.collect(now + seconds(460)), [Dropped { oid: 7, ipids: vec![ipid(70)], is_last: true }]);
    tables.check();
    assert_eq!((tables.due(), tables.oid(&ipid(80)), tables.held(&ipid(80), ALICE)), (None, Some(8), Refs::default()));
    assert_eq!(tables.drop_client(CAROL, now), [Dropped { oid: 8, ipids: vec![ipid(80)], is_last: true }]);
    assert!(tables.is_empty());
}

#[test]
fn ping_sets_keep_their_objects_while_pinged() {
    let (mut tables, now) = tables();
    for oid in [7, 8] {
        tables.hand_out(oid, ipid(oid * 10), ALICE, Refs::public(5), now).unwrap();
    }
    // A new set ignores unknown OIDs.
    let made = ComplexPing { set: 0, sequence: 1, added: vec![7, 8, 9], removed: vec![] };
    assert_eq!(tables.complex_ping(&made, alone(ALICE), 99, now + seconds(300)), PingAnswer { set: 99, status: OK });
    assert_eq!(tables.simple_ping(98, now), INVALID_SET);
    assert_eq!(tables.simple_ping(99, now + seconds(600)), OK);
    assert!(tables.collect(now + seconds(900)).is_empty());
    let change = |sequence, added, removed| ComplexPing { set: 99, sequence, added, removed };
    let at = now + seconds(900);
    assert_eq!(tables.complex_ping(&change(5, vec![9], vec![8]), alone(ALICE), 0, at).status, INVALID_OID);
    // A change with an older sequence number has no effect.
    assert_eq!(tables.complex_ping(&change(4, vec![8], vec![7]), alone(ALICE), 0, at + seconds(300)).status, OK);
    tables.check();
    assert_eq!(tables.collect(now + seconds(1259)), []);
    let dropped: HashSet<u64> = tables.collect(now + seconds(1260)).iter().map(|dropped| dropped.oid).collect();
    assert_eq!(dropped, HashSet::from([7, 8]));
    assert!(tables.is_empty());
    assert_eq!(tables.simple_ping(99, at), INVALID_SET);
}

#[test]
fn references_passed_on_by_a_dead_client_live_by_pings() {
    let (mut tables, now) = tables();
    for oid in [7, 8] {
        tables.hand_out(oid, ipid(oid * 10), ALICE, Refs::public(5), now).unwrap();
    }
    let made = ComplexPing { set: 0, sequence: 1, added: vec![7], removed: vec![] };
    assert_eq!(tables.complex_ping(&made, alone(BOB), 99, now).status, OK);
    let dropped = tables.drop_client(ALICE, now);
    assert_eq!(dropped, [Dropped { oid: 8, ipids: vec![ipid(80)], is_last: true }]);
    tables.check();
    assert_eq!(tables.release(&ipid(70), BOB, Refs::public(5)), None);
    assert_eq!(tables.collect(now + seconds(359)), []);
    assert_eq!(tables.collect(now + seconds(360)).len(), 1);
    assert!(tables.is_empty());
}

#[test]
fn references_and_ping_sets_are_limited_per_client() {
    let limits = Limits {
        objects: 9,
        clients: 3,
        interfaces_per_client: 4,
        sets_per_client: 2,
        pinged_per_client: 6,
        ..Limits::default()
    };
    let (mut tables, now) = (References::new(Pinging::default(), limits), Instant::now());
    let mut hand = |oid: u64, client| tables.hand_out(oid, ipid(oid), client, Refs::public(1), now);
    assert!((1..5).all(|oid| hand(oid, ALICE).is_ok()));
    assert_eq!(hand(5, ALICE), Err(OUT_OF_RESOURCES));
    assert!((5..9).all(|oid| hand(oid, BOB).is_ok()));
    assert!(hand(9, Client::Peer(3)).is_ok());
    assert_eq!((hand(10, Client::Peer(3)), hand(9, Client::Peer(4))), (Err(OUT_OF_RESOURCES), Err(OUT_OF_RESOURCES)));
    let make = ComplexPing { set: 0, sequence: 0, added: vec![1, 2, 3, 4], removed: vec![] };
    assert_eq!(tables.complex_ping(&make, alone(ALICE), 90, now).status, OK);
    assert_eq!(tables.complex_ping(&make, alone(ALICE), 90, now).status, OUT_OF_RESOURCES);
    assert_eq!(tables.complex_ping(&make, alone(ALICE), 91, now).status, OUT_OF_RESOURCES);
    assert_eq!(tables.complex_ping(&make, alone(ALICE), 92, now).status, OUT_OF_RESOURCES);
    assert_eq!((tables.sets[&91].oids.len(), tables.sets.len()), (2, 2));
    tables.check();
    tables.collect(now + seconds(360));
    assert!(tables.is_empty());
}

#[test]
fn ping_sets_of_one_host_leave_room_for_the_sets_and_references_of_others() {
    let limits = Limits { clients: 2, sets: 6, sets_per_source: 3, ..Limits::default() };
    let (mut tables, now) = (References::new(Pinging::default(), limits), Instant::now());
    let hand = |tables: &mut References, client| tables.hand_out(1, ipid(1), client, Refs::public(1), now);
    assert_eq!(hand(&mut tables, ALICE), Ok(()));
    let empty = ComplexPing { set: 0, sequence: 0, added: vec![], removed: vec![] };
    // One host appears as many clients, because it has many addresses.
    let make = |tables: &mut References, number, source| {
        tables.complex_ping(&empty, SourcedClient { client: Client::Peer(number), source }, number, now).status
    };
    let of_host: Vec<_> = (10..14).map(|number| make(&mut tables, number, Some(1))).collect();
    assert_eq!(of_host, [OK, OK, OK, OUT_OF_RESOURCES]);
    assert_eq!(make(&mut tables, 20, Some(2)), OK);
    assert_eq!(hand(&mut tables, BOB), Ok(()));
    let others: Vec<_> = (30..33).map(|number| make(&mut tables, number, None)).collect();
    assert_eq!(others, [OK, OK, OUT_OF_RESOURCES]);
    tables.check();
    tables.collect(now + seconds(360));
    assert!(tables.set_makers.is_empty());
    assert_eq!(make(&mut tables, 10, Some(1)), OK);
}

#[test]
fn references_that_are_passed_on_to_strangers_are_limited_per_giver() {
    let limits = Limits { receivers: 5, receivers_per_client: 3, ..Limits::default() };
    let (mut tables, now) = (References::new(Pinging::default(), limits), Instant::now());
    tables.hand_out(7, ipid(70), ALICE, Refs::public(1), now).unwrap();
    let pass_on = |tables: &mut References, client, to| {
        let giver = SourcedClient { client, source: Some(1) };
        tables.pass_on(&ipid(70), (giver, process(to)), Refs::public(1), now).unwrap()
    };
    assert!((100..103).all(|to| pass_on(&mut tables, ALICE, to).is_ok()));
    assert_eq!(pass_on(&mut tables, ALICE, 103), Err(OUT_OF_RESOURCES));
    // Further references to the same client are allowed, and other givers have their own limit.
    assert!(pass_on(&mut tables, ALICE, 100).is_ok());
    assert!((110..112).all(|to| pass_on(&mut tables, BOB, to).is_ok()));
    // All givers together have a limit, too. This limit does not apply to connected clients.
    assert_eq!(pass_on(&mut tables, BOB, 112), Err(OUT_OF_RESOURCES));
    tables.hand_out(7, ipid(70), process(120), Refs::public(1), now).unwrap();
    // Receivers that connect, and those that are dropped, no longer count.
    tables.connected(process(100));
    tables.drop_client(process(101), now);
    assert!((103..105).all(|to| pass_on(&mut tables, ALICE, to).is_ok()));
    assert_eq!(tables.held(&ipid(70), process(100)), Refs::public(2));
    tables.check();
    tables.disconnect(7);
    assert!(tables.is_empty());
}

#[test]
fn clients_of_one_user_or_host_leave_room_for_the_receivers_of_others() {
    let limits = Limits { receivers: 16, receivers_per_client: 4, receivers_per_source: 8, ..Limits::default() };
    let (mut tables, now) = (References::new(Pinging::default(), limits), Instant::now());
    tables.hand_out(7, ipid(70), ALICE, Refs::public(1), now).unwrap();
    let mut last = 100;
    // Lets a client pass references on until a receiver is refused. Returns the number of the
    // client's receivers.
    let mut pass_on_all = |tables: &mut References, client: u64, source| {
        let giver = SourcedClient { client: Client::Peer(client), source };
        let mut pass_on = || {
            last += 1;
            tables.pass_on(&ipid(70), (giver, process(last)), Refs::public(1), now).unwrap()
        };
        let passed = (0..9).take_while(|_| pass_on().is_ok()).count();
        assert_eq!(pass_on(), Err(OUT_OF_RESOURCES));
        passed
    };
    assert_eq!([3, 4, 5, 6].map(|client| pass_on_all(&mut tables, client, Some(1))), [4, 4, 0, 0]);
    // For clients whose user or host is not counted, only two limits hold: that of one client and
    // that of all receivers.
    assert_eq!([7, 8, 9].map(|client| pass_on_all(&mut tables, client, None)), [4, 4, 0]);
    // A client that connects gets references, although the limit on receivers is reached.
    tables.hand_out(7, ipid(70), process(50), Refs::public(1), now).unwrap();
    tables.check();
    // Receivers still count for a source when the client that passed references to them is gone.
    tables.drop_client(Client::Peer(3), now);
    assert_eq!(pass_on_all(&mut tables, 9, Some(1)), 0);
    tables.connected(process(101));
    tables.drop_client(process(102), now);
    assert_eq!(pass_on_all(&mut tables, 9, Some(1)), 2);
    tables.check();
    tables.disconnect(7);
    assert!(tables.is_empty());
}

#[test]
fn the_references_of_a_client_move_to_the_client_that_is_the_same_process() {
    let (mut tables, now) = (References::new(Pinging::default(), Limits::default()), Instant::now());
    for (number, client, count) in [(70, process(1), 2), (70, process(2), 3), (71, process(2), 5)] {
        tables.hand_out(7, ipid(number), client, Refs::public(count), now).unwrap();
    }
    assert!(tables.merge(process(2), process(1), now) && tables.merge(process(1), process(1), now));
    assert_eq!([70, 71].map(|number| tables.held(&ipid(number), process(1)).public), [5, 5]);
    assert!(tables.drop_client(process(2), now).is_empty());
    tables.check();
    assert_eq!(tables.drop_client(process(1), now).len(), 1);
    assert!(tables.is_empty());
}

#[test]
fn references_that_have_moved_are_released_for_the_client_for_which_they_were_counted() {
    let (mut tables, now) = (References::new(Pinging::default(), Limits::default()), Instant::now());
    tables.hand_out(7, ipid(70), process(1), Refs::public(2), now).unwrap();
    tables.hand_out(7, ipid(70), process(2), Refs::public(3), now).unwrap();
    assert!(tables.merge(process(2), process(1), now));
    assert_eq!([1, 2, 3].map(|client| tables.is_holder(&ipid(70), process(client))), [true, true, false]);
    assert_eq!(tables.release(&ipid(70), process(2), Refs::public(3)), None);
    assert_eq!(tables.held(&ipid(70), process(1)), Refs::public(2));
    assert!(tables.release(&ipid(70), process(2), Refs::public(2)).is_some() && tables.is_empty());
    // When a client is dropped, the tables also forget the clients whose references have moved to
    // it.
    assert!(tables.drop_client(process(1), now).is_empty() && tables.merged.heir(process(2)).is_none());
}

#[test]
fn the_moved_clients_of_one_client_leave_those_of_others_alone() {
    let (mut tables, now) = (References::new(Pinging::default(), Limits::default()), Instant::now());
    assert!(tables.merge(process(2), process(1), now));
    let last = 100 + 20 * MERGED_MAX as u64;
    assert!((100..last).all(|number| tables.merge(process(number), process(3), now)));
    let heir = |number| tables.merged.heir(process(number));
    let oldest = last - MERGED_MAX as u64;
    assert_eq!([2, oldest - 1, oldest].map(heir), [Some(process(1)), None, Some(process(3))]);
}

#[test]
fn the_limit_of_a_client_holds_when_references_move_to_it() {
    let limits = Limits { interfaces_per_client: 3, ..Limits::default() };
    let (mut tables, now) = (References::new(Pinging::default(), limits), Instant::now());
    let mut give = |number, client| tables.hand_out(7, ipid(number), process(client), Refs::public(1), now).unwrap();
    [(70, 1), (71, 2), (72, 2), (73, 3), (74, 3)].into_iter().for_each(|(number, client)| give(number, client));
    assert!(tables.merge(process(2), process(1), now));
    assert!(!tables.merge(process(3), process(1), now));
    assert_eq!([1, 2, 3].map(|client| tables.held_by(process(client))), [3, 0, 2]);
    tables.check();
}

#[test]
fn ping_sequence_numbers_wrap() {
    assert!(!super::is_older(0, 0) && !super::is_older(1, 0) && super::is_older(0, 1) && !super::is_older(40000, 0));
    assert!(!super::is_older(0, u16::MAX) && super::is_older(u16::MAX - 1, u16::MAX));
}

/// The number of simulations. Under Miri, which is slow, one simulation must suffice.
const SEEDS: u64 = if cfg!(miri) { 1 } else { 40 };

/// A generator of pseudorandom numbers: SplitMix64.
struct Random(u64);

impl Random {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.number() % end
    }
}

/// An honest client.
struct HonestClient {
    client: Client,
    plan: PingPlan,
    /// The references that the client really has, by IPID: the OID and the count. The server may
    /// count these references for another client, which has passed them on.
    owned: HashMap<GUID, (u64, u64)>,
    is_alive: bool,
    /// The time at which the client last passed a reference on.
    handed_on: Option<Instant>,
    /// The number of consecutive lost pings.
    lost: u32,
}

impl HonestClient {
    fn take(&mut self, ipid: GUID, oid: u64, count: u64, now: Instant) {
        self.owned.entry(ipid).or_insert_with(|| {
            self.plan.join(oid, now);
            (oid, 0)
        });
        self.owned.get_mut(&ipid).unwrap().1 += count;
    }

    fn give(&mut self, ipid: GUID, count: u64) {
        let owned = self.owned.get_mut(&ipid).unwrap();
        owned.1 -= count;
        if owned.1 == 0 {
            self.plan.leave(owned.0);
            self.owned.remove(&ipid);
        }
    }

    /// Returns one of the client's interface pointers, if any, with the OID and a number of
    /// references: some or all of the client's references to the pointer.
    fn some(&self, random: &mut Random) -> Option<(GUID, u64, u64)> {
        let mut all: Vec<_> = self.owned.iter().collect();
        all.sort_by_key(|(ipid, _)| ipid.to_u128());
        let (ipid, (oid, count)) = all.get(random.number() as usize % all.len().max(1))?;
        Some((**ipid, *oid, if random.below(2) == 0 { *count } else { 1 + random.below(*count) }))
    }
}

/// A server, its clients and the network between them.
struct Simulation {
    tables: References,
    people: Vec<HonestClient>,
    /// The objects of the server: their OID while they are exported, and their interface pointers.
    objects: Vec<(Option<u64>, [Option<GUID>; 2])>,
    numbers: u64,
    now: Instant,
    random: Random,
}

impl Simulation {
    fn new(seed: u64) -> Self {
        let now = Instant::now();
        let person = |number| HonestClient {
            // The clients with the numbers 1 and 2 are processes, which do not ping.
            client: if number < 3 { process(number) } else { Client::Peer(number) },
            plan: PingPlan::new(Pinging::default()),
            owned: HashMap::new(),
            is_alive: true,
            handed_on: None,
            lost: 0,
        };
        Self {
            tables: References::new(Pinging::default(), Limits::default()),
            people: (1..6).map(person).collect(),
            objects: vec![(None, [None; 2]); 6],
            numbers: 0,
            now,
            random: Random(seed),
        }
    }

    fn fresh(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn note_dropped(&mut self, dropped: impl IntoIterator<Item = Dropped>) {
        for dropped in dropped {
            let object =
                self.objects.iter_mut().find(|(oid, _)| *oid == Some(dropped.oid)).expect("an exported object");
            object.1.iter_mut().for_each(|ipid| *ipid = ipid.filter(|ipid| !dropped.ipids.contains(ipid)));
            assert_eq!(dropped.is_last, object.1 == [None; 2]);
            if dropped.is_last {
                object.0 = None;
            }
        }
    }

    /// Lets the server pass references to a client. The object is exported if necessary.
    fn hand_out(&mut self, to: usize) {
        let (at, interface, count) =
            (self.random.below(6) as usize, self.random.below(2) as usize, 1 + self.random.below(5));
        let numbers = (self.fresh(), self.fresh());
        let object = &mut self.objects[at];
        let oid = *object.0.get_or_insert(numbers.0);
        let ipid = *object.1[interface].get_or_insert_with(|| ipid(numbers.1));
        let client = self.people[to].client;
        self.tables.hand_out(oid, ipid, client, Refs::public(count), self.now).unwrap();
        self.people[to].take(ipid, oid, count, self.now);
    }

    fn act(&mut self) {
        let (who, other) = (self.random.below(5) as usize, self.random.below(5) as usize);
        if !self.people[who].is_alive {
            return self.lie();
        }
        let (client, now) = (self.people[who].client, self.now);
        match self.random.below(12) {
            0..4 => self.hand_out(who),
            4 => {
                if let Some((ipid, oid, count)) = self.people[who].some(&mut self.random) {
                    assert_eq!(self.tables.add(&ipid, client, Refs::public(count), now), Some(Ok(())));
                    self.people[who].take(ipid, oid, count, now);
                }
            }
            5..8 => {
                if let Some((ipid, _, count)) = self.people[who].some(&mut self.random) {
                    self.people[who].give(ipid, count);
                    let dropped = self.tables.release(&ipid, client, Refs::public(count));
                    self.note_dropped(dropped);
                }
            }
            8 | 9 if other != who && self.people[other].is_alive => {
                if let Some((ipid, oid, count)) = self.people[who].some(&mut self.random) {
                    self.hand_on(who, other, ipid, oid, count);
                }
            }
            // A client that has passed a reference on does not end before the receiver has pinged
            // the object.
            10 if self.people[who].handed_on.is_none_or(|at| at + seconds(300) < now) && self.random.below(8) == 0 => {
                self.people[who].is_alive = false;
                let is_noticed = matches!(client, Client::Process(_));
                if is_noticed || self.people[who].handed_on.is_none() && self.random.below(2) == 0 {
                    let dropped = self.tables.drop_client(client, now);
                    self.note_dropped(dropped);
                }
            }
            _ => self.lie(),
        }
    }

    /// Passes references from one client to another. If one of the clients is an obvia process, the
    /// server learns of this at once. Otherwise the server does not learn of it.
    fn hand_on(&mut self, from: usize, to: usize, ipid: GUID, oid: u64, count: u64) {
        let (giver, taker, refs) = (self.people[from].client, self.people[to].client, Refs::public(count));
        let (is_silent, now) = (matches!((giver, taker), (Client::Peer(_), Client::Peer(_))), self.now);
        if !is_silent {
            assert_eq!(self.tables.add(&ipid, taker, refs, now), Some(Ok(())));
        }
        if let Client::Process(_) = giver {
            assert_eq!(self.tables.release(&ipid, giver, refs), None);
        } else {
            self.people[from].handed_on = Some(now);
        }
        self.people[from].give(ipid, count);
        self.people[to].take(ipid, oid, count, now);
    }

    /// Makes arbitrary calls as a malicious client, which has no references.
    fn lie(&mut self) {
        let liar = Client::Peer(100 + self.random.below(2));
        let number = 1 + self.random.below(self.numbers + 1);
        let dropped = self.tables.release(&ipid(number), liar, Refs { public: self.random.number(), private: 9 });
        assert_eq!(dropped, None);
        let oids = [number, number + 1, self.random.number()];
        let ping = ComplexPing {
            set: self.random.number() >> (1 + self.random.below(63)),
            sequence: self.random.number() as u16,
            added: oids.to_vec(),
            removed: oids[1..].to_vec(),
        };
        // Identifiers of sets cannot be guessed. A set of the malicious client's own could only
        // keep objects alive.
        if ping.set != 0 && ping.set < 1 << 32 {
            assert_eq!(self.tables.complex_ping(&ping, alone(liar), 0, self.now).status, INVALID_SET);
        }
    }

    /// Sends the pings that are due. Some pings or answers are lost.
    fn ping(&mut self) {
        for at in 0..self.people.len() {
            let fresh = 1 << 32 | self.fresh();
            let (person, now) = (&mut self.people[at], self.now);
            while person.is_alive
                && let Some(ping) = person.plan.next(now)
            {
                let fate = if person.lost < 2 { self.random.below(5) } else { 2 };
                person.lost = if fate < 2 { person.lost + 1 } else { 0 };
                if fate == 0 {
                    person.plan.answered(None, now);
                    break;
                }
                let (set, status) = match ping {
                    Ping::Simple { set } => (set, self.tables.simple_ping(set, now)),
                    Ping::Complex(ping) => {
                        let answer = self.tables.complex_ping(&ping, alone(person.client), fresh, now);
                        (answer.set, answer.status)
                    }
                };
                let answer = if status == OK { Ok((set, 0)) } else { Err(status) };
                person.plan.answered((fate != 1).then_some(answer), now);
            }
        }
    }

    fn step(&mut self) {
        self.now += Duration::from_millis(self.random.below(20_000));
        self.ping();
        let dropped = self.tables.collect(self.now);
        self.note_dropped(dropped);
        self.tables.check();
        for person in self.people.iter().filter(|person| person.is_alive) {
            for (ipid, (oid, _)) in &person.owned {
                assert_eq!(self.tables.oid(ipid), Some(*oid), "an object is lost to {:?}", person.client);
            }
        }
    }
}

#[test]
fn random_clients_neither_lose_nor_leak_references() {
    for seed in 0..SEEDS {
        println!("seed {seed}");
        let mut simulation = Simulation::new(seed);
        for _ in 0..300 {
            simulation.act();
            simulation.step();
        }
        // At the end some clients release their references. Other clients end without releasing
        // them.
        for at in 0..simulation.people.len() {
            while simulation.people[at].is_alive
                && simulation.random.below(50) != 0
                && let Some((ipid, _, count)) = simulation.people[at].some(&mut simulation.random)
            {
                let client = simulation.people[at].client;
                simulation.people[at].give(ipid, count);
                let dropped = simulation.tables.release(&ipid, client, Refs::public(count));
                simulation.note_dropped(dropped);
            }
            let (client, now) = (simulation.people[at].client, simulation.now);
            simulation.people[at].is_alive &= simulation.people[at].owned.is_empty();
            if matches!(client, Client::Process(_)) {
                let dropped = simulation.tables.drop_client(client, now);
                simulation.note_dropped(dropped);
            }
        }
        // A set that its last ping has emptied expires when its client has been silent for the time
        // `patience`.
        for _ in 0..200 {
            simulation.step();
        }
        assert!(simulation.tables.is_empty() && simulation.tables.due().is_none());
        assert!(simulation.objects.iter().all(|object| *object == (None, [None; 2])));
    }
}

#[test]
fn ping_plans_contain_the_changes_since_the_last_ping() {
    let now = Instant::now();
    let mut plan = PingPlan::new(Pinging::default());
    assert_eq!(plan.due(), None);
    plan.join(7, now);
    plan.join(7, now);
    plan.join(8, now);
    plan.leave(8);
    assert_eq!((plan.due(), plan.next(now + seconds(29))), (Some(now + seconds(30)), None));
    let complex = |set, sequence, added: &[u64], removed: &[u64]| {
        Some(Ping::Complex(ComplexPing { set, sequence, added: added.to_vec(), removed: removed.to_vec() }))
    };
    let at = now + seconds(30);
    assert_eq!(plan.next(at), complex(0, 1, &[7], &[]));
    assert_eq!((plan.next(at), plan.due()), (None, None));
    // If no answer arrives, the ping is repeated with another sequence number.
    plan.answered(None, at);
    let at = at + seconds(30);
    assert_eq!(plan.next(at), complex(0, 2, &[7], &[]));
    plan.answered(Some(Ok((99, 0))), at);
    assert_eq!(plan.due(), Some(at + seconds(120)));
    let at = at + seconds(120);
    assert_eq!(plan.next(at), Some(Ping::Simple { set: 99 }));
    plan.answered(Some(Ok((99, 0))), at);
    plan.leave(7);
    plan.leave(7);
    plan.join(9, at);
    let at = at + seconds(30);
    assert_eq!(plan.next(at), complex(99, 3, &[9], &[7]));
    // The resolver has forgotten the set, so a new one is made.
    plan.answered(Some(Err(INVALID_SET)), at);
    let at = at + seconds(30);
    assert_eq!(plan.next(at), complex(0, 1, &[9], &[]));
    plan.answered(Some(Ok((98, 0))), at);
    plan.leave(9);
    let at = at + seconds(120);
    assert_eq!(plan.next(at), complex(98, 2, &[], &[9]));
    plan.answered(Some(Ok((98, 0))), at);
    assert_eq!(plan.due(), None);
}

#[test]
fn ping_plans_detect_a_lost_resolver_and_never_reuse_sequence_numbers() {
    let mut now = Instant::now();
    let mut plan = PingPlan::new(Pinging::default());
    plan.join(7, now);
    for count in 0..13 {
        assert!(!plan.is_lost(), "after {count} pings");
        now = plan.due().unwrap();
        assert!(plan.next(now).is_some());
        plan.answered(None, now);
    }
    assert!(plan.is_lost());
    let mut last = 0;
    for oid in 0..70_000 {
        plan.join(100 + oid, now);
        now = plan.due().unwrap();
        let Some(Ping::Complex(ping)) = plan.next(now) else { panic!("nothing changed") };
        assert!(ping.sequence > last || ping.set == 0, "{} after {last}", ping.sequence);
        last = ping.sequence;
        plan.answered(Some(Ok((5, 0))), now);
        plan.leave(100 + oid);
    }
    assert!(!plan.is_lost());
}
