//! Tests of the entrance: the clients that keep their places, and those that lose them.

use super::*;
use obvia_via::Deadline;
use obvia_via::provider::udp;
use obvia_via::window::{self, Options, Window};

const LIMIT: Deadline = Deadline::Within(ground::LATEST);

/// A connection that records whether it was abandoned.
#[derive(Default)]
struct Connection(AtomicBool);

impl Abandon for Connection {
    fn abandon(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Gives places to connections of made-up hosts.
struct Door {
    connections: Vec<Arc<Connection>>,
    places: Places,
    now: Instant,
}

impl Door {
    fn new() -> Self {
        Self { connections: Vec::new(), places: Places::default(), now: Instant::now() }
    }

    /// Gives a place to a connection with one descriptor.
    fn enter(&mut self, last: u8, most: u64) -> Result<u64, Full> {
        self.enter_with(&format!("10.0.0.{last}"), 1, most)
    }

    fn enter_with(&mut self, host: &str, descriptors: u64, most: u64) -> Result<u64, Full> {
        let connection = Arc::<Connection>::default();
        self.connections.push(Arc::clone(&connection));
        let host = hosts::counted(host);
        let (number, abandoned) = self.places.enter(Newcomer { host, descriptors, connection }, most, self.now)?;
        abandoned.iter().for_each(|connection| connection.abandon());
        Ok(number)
    }

    /// Gives places to `N` clients with one descriptor each. Each of the clients then calls.
    fn enter_and_call<const N: usize>(&mut self, last: u8, most: u64) -> [u64; N] {
        [(); N].map(|()| {
            let number = self.enter(last, most).unwrap();
            self.move_up(number, Stage::Called);
            number
        })
    }

    fn has_ended(&self, at: usize) -> bool {
        self.connections[at].0.load(Ordering::Relaxed)
    }

    fn move_up(&mut self, number: u64, stage: Stage) {
        assert!(self.places.move_up(number, stage));
    }

    fn has(&self, number: u64) -> bool {
        self.places.taken.get(&number).is_some_and(|taken| !taken.is_abandoned)
    }

    /// Closes the abandoned connections, and checks the counts.
    fn check(&mut self) {
        let abandoned = self.places.taken.iter().filter(|(_, taken)| taken.is_abandoned);
        let (numbers, descriptors): (Vec<u64>, Vec<u64>) =
            abandoned.map(|(number, taken)| (*number, taken.descriptors)).unzip();
        assert_eq!(self.places.abandoned, descriptors.iter().sum());
        numbers.iter().for_each(|number| drop(self.places.leave(*number)));
        let waiting = self.places.taken.values().filter(|taken| taken.is_waiting()).count() as u64;
        assert_eq!(self.places.by_host.values().map(|places| places.waiting).sum::<u64>(), waiting);
        let descriptors = self.places.taken.values().map(|taken| taken.descriptors).sum();
        assert_eq!(self.places.by_host.values().map(|places| places.descriptors).sum::<u64>(), descriptors);
        assert_eq!((self.places.descriptors, self.places.abandoned), (descriptors, 0));
    }
}

#[test]
fn a_newcomer_takes_the_place_of_the_oldest_client_that_has_not_bound() {
    let mut door = Door::new();
    let entered: Vec<_> = (0..4).map(|_| door.enter(1, 8).unwrap()).collect();
    door.move_up(entered[0], Stage::Bound);
    door.move_up(entered[1], Stage::Called);
    door.enter(1, 8).unwrap();
    assert!(door.has(entered[0]) && !door.has(entered[2]) && door.has(entered[3]));
    assert!(door.has_ended(2) && !door.has_ended(3));
    door.check();
}

#[test]
fn a_client_that_has_just_connected_keeps_its_place_before_older_ones() {
    let mut door = Door::new();
    let old: Vec<_> = (0..3).map(|_| door.enter(1, 8).unwrap()).collect();
    old.iter().for_each(|number| door.move_up(*number, Stage::Bound));
    door.now += MOMENT;
    let new = door.enter(1, 8).unwrap();
    door.enter(1, 8).unwrap();
    assert!(door.has(new) && !door.has(old[0]) && door.has(old[1]));
    door.check();
}

#[test]
fn connections_that_are_about_to_end_are_limited() {
    let mut door = Door::new();
    for _ in 0..4 {
        door.enter(1, 8).unwrap();
    }
    assert!(door.enter(1, 8).is_ok());
    assert_eq!(door.enter(1, 8).unwrap_err(), ENDING);
    door.check();
    assert!(door.enter(1, 8).is_ok());
}

#[test]
fn clients_that_have_called_keep_their_places() {
    let mut door = Door::new();
    let entered = door.enter_and_call::<4>(1, 8);
    assert_eq!(door.enter(1, 8).unwrap_err(), OF_HOST);
    assert!(entered.iter().all(|number| door.has(*number)));
    // Other hosts have the other half of the places.
    door.enter_and_call::<4>(2, 8);
    assert_eq!(door.enter(3, 8).unwrap_err(), OF_ALL);
    door.places.leave(entered[0]);
    assert!(door.enter(1, 8).is_ok());
}

#[test]
fn the_host_with_the_most_places_loses_one_first() {
    let mut door = Door::new();
    let first = door.enter(1, 4).unwrap();
    let many = [door.enter(2, 4).unwrap(), door.enter(2, 4).unwrap()];
    door.enter(3, 4).unwrap();
    door.enter(4, 4).unwrap();
    assert!(door.has(first) && !door.has(many[0]) && door.has(many[1]));
    door.check();
}

#[test]
fn clients_that_have_called_do_not_count_against_their_host() {
    let mut door = Door::new();
    door.enter_and_call::<3>(1, 8);
    let new = door.enter(1, 8).unwrap();
    let others = [(); 4].map(|()| door.enter(2, 8).unwrap());
    door.enter(3, 8).unwrap();
    assert!(door.has(new) && !door.has(others[0]));
    door.check();
}

#[test]
fn a_connection_takes_as_many_places_as_it_has_descriptors() {
    let mut door = Door::new();
    let called = door.enter_with("10.0.0.1", 2, 12).unwrap();
    door.move_up(called, Stage::Called);
    let small = [(); 3].map(|()| door.enter(1, 12).unwrap());
    let large = door.enter_with("10.0.0.1", 2, 12).unwrap();
    assert_eq!(small.map(|number| door.has(number)), [false, true, true]);
    assert!(door.has(called) && door.has(large));
    door.check();
    // Two small connections make room for a large one.
    door.places.leave(large);
    door.enter_with("10.0.0.1", 4, 12).unwrap();
    assert_eq!(small.map(|number| door.has(number)), [false; 3]);
    door.check();
}

#[test]
fn a_newcomer_for_which_there_is_no_room_ends_no_connection() {
    let mut door = Door::new();
    door.enter_and_call::<3>(1, 12);
    let small = [(); 3].map(|()| door.enter(1, 12).unwrap());
    // The host may have six descriptors. A connection with four descriptors would need those of a
    // client that has called.
    assert_eq!(door.enter_with("10.0.0.1", 4, 12).unwrap_err(), OF_HOST);
    assert!(small.iter().all(|number| door.has(*number)));
    door.enter_and_call::<5>(2, 12);
    assert_eq!(door.enter_with("10.0.0.3", 5, 12).unwrap_err(), OF_ALL);
    assert!(small.iter().all(|number| door.has(*number)));
    // The connection needs no more descriptors than other connections can give up.
    assert!(door.enter_with("10.0.0.3", 4, 12).is_ok());
    assert!(small.iter().all(|number| !door.has(*number)));
    door.check();
}

#[test]
fn refusals_name_the_limit_of_open_files_only_where_it_helps() {
    let full = |most| {
        let mut door = Door::new();
        let number = door.enter_with("10.0.0.1", most / 2, most).unwrap();
        door.move_up(number, Stage::Called);
        door.enter(1, most).unwrap_err()
    };
    assert_eq!(full(DESCRIPTORS_MAX - 2), OF_HOST);
    assert_eq!(full(DESCRIPTORS_MAX), OF_HOST_AT_CAP);
}

#[test]
fn a_client_that_has_lost_its_place_is_told_before_its_call() {
    let entrance: &'static Entrance = Box::leak(Box::default());
    let [lost, kept] = [(); 2].map(|()| entrance.give_place("", 1, Arc::<Connection>::default()).unwrap());
    assert!(lock(&entrance.places).evict(None, Instant::now()).is_some());
    assert!(!lost.has_called() && !lost.has_called() && kept.has_called());
    // A client that has called keeps its place.
    assert!(lock(&entrance.places).evict(None, Instant::now()).is_none() && kept.has_called());
}

#[test]
fn the_memory_of_a_host_counts_until_its_abandoned_connections_have_ended() {
    let entrance: &'static Entrance = Box::leak(Box::default());
    let enter = || entrance.give_place("10.0.0.1", 1, Arc::<Connection>::default()).unwrap();
    let abandoned = enter();
    assert!(lock(&entrance.places).evict(None, Instant::now()).is_some());
    assert!(Arc::ptr_eq(&enter().held, &abandoned.held));
}

#[test]
fn peers_without_an_ip_address_share_all_places() {
    let mut door = Door::new();
    let unknown: Vec<_> = (0..8).map(|_| door.enter_with("", 1, 8).unwrap()).collect();
    assert!(unknown.iter().all(|number| door.has(*number)));
    door.enter(1, 8).unwrap();
    assert!(!door.has(unknown[0]));
    door.check();
}

/// Returns the two ends of a connection.
fn pair() -> (Window, Window) {
    let nic = udp::open(&udp::Options::default()).unwrap();
    let mut listener = nic.listen("127.0.0.1:0").unwrap();
    let address = listener.address();
    std::thread::scope(|scope| {
        let client = scope.spawn(|| window::connect(&nic, &address, &Options::default(), LIMIT).unwrap());
        let server = window::accept(&nic, listener.wait(LIMIT).unwrap(), &Options::default(), LIMIT).unwrap();
        (server, client.join().unwrap())
    })
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_connection_in_setup_that_loses_its_place_ends_when_it_is_complete() {
    let window = NetworkWindow::default();
    window.abandon();
    let (ended, _client) = pair();
    window.is_complete(ended.alarm());
    assert!(ended.is_closed());
    let (other, _client) = pair();
    let window = NetworkWindow::default();
    window.is_complete(other.alarm());
    assert!(!other.is_closed());
    window.abandon();
    assert!(other.is_closed());
}
