//! Tests of the entrance: the clients that keep their places, and those that lose them.

use super::*;
use obvia_via::Deadline;
use obvia_via::stream::StreamListener;

const LIMIT: Deadline = Deadline::Within(ground::LATEST);

/// Accepts streams, which are all from this host, and gives them places for other hosts.
struct Door {
    listener: StreamListener,
    clients: Vec<Stream>,
    places: Places,
    now: Instant,
}

impl Door {
    fn new() -> Self {
        let listener = StreamListener::bind("127.0.0.1", 0).unwrap();
        Self { listener, clients: Vec::new(), places: Places::default(), now: Instant::now() }
    }

    fn enter(&mut self, last: u8, most: u64) -> Result<(u64, Arc<Stream>), Full> {
        let port = self.listener.endpoint().parse().unwrap();
        self.clients.push(Stream::connect("127.0.0.1", port, LIMIT).unwrap());
        let stream = Arc::new(self.listener.accept(LIMIT).unwrap());
        Ok((self.places.enter(counted(&format!("10.0.0.{last}")), &stream, most, self.now)?.0, stream))
    }

    fn move_up(&mut self, number: u64, stage: Stage) {
        self.places.move_up(number, stage);
    }

    fn has(&self, number: u64) -> bool {
        self.places.taken.get(&number).is_some_and(|taken| !taken.is_evicted)
    }

    /// Closes the evicted streams, and checks the counts.
    fn check(&mut self) {
        let evicted = self.places.taken.iter().filter(|(_, taken)| taken.is_evicted);
        let evicted: Vec<u64> = evicted.map(|(number, _)| *number).collect();
        assert_eq!(self.places.evicted, evicted.len() as u64);
        evicted.iter().for_each(|number| drop(self.places.leave(*number)));
        let waiting = self.places.taken.values().filter(|taken| taken.is_waiting()).count() as u64;
        assert_eq!(self.places.by_host.values().map(|share| share.waiting).sum::<u64>(), waiting);
        assert_eq!(self.places.by_host.values().map(|share| share.places).sum::<u64>(), self.places.taken.len() as u64);
        assert_eq!(self.places.evicted, 0);
    }
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_newcomer_takes_the_place_of_the_oldest_client_that_has_not_bound() {
    let mut door = Door::new();
    let entered: Vec<_> = (0..4).map(|_| door.enter(1, 8).unwrap()).collect();
    door.move_up(entered[0].0, Stage::Bound);
    door.move_up(entered[1].0, Stage::Called);
    door.enter(1, 8).unwrap();
    assert!(door.has(entered[0].0) && !door.has(entered[2].0) && door.has(entered[3].0));
    // The evicted client's stream has ended.
    assert!(door.clients[2].has_ended() && !door.clients[3].has_ended());
    door.check();
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_client_that_has_just_connected_keeps_its_place_before_older_ones() {
    let mut door = Door::new();
    let old: Vec<_> = (0..3).map(|_| door.enter(1, 8).unwrap().0).collect();
    old.iter().for_each(|number| door.move_up(*number, Stage::Bound));
    door.now += MOMENT;
    let new = door.enter(1, 8).unwrap().0;
    door.enter(1, 8).unwrap();
    assert!(door.has(new) && !door.has(old[0]) && door.has(old[1]));
    door.check();
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn streams_that_are_about_to_end_are_limited() {
    let mut door = Door::new();
    (0..4).for_each(|_| drop(door.enter(1, 8).unwrap()));
    assert!(door.enter(1, 8).is_ok());
    assert_eq!(door.enter(1, 8).unwrap_err(), Full);
    door.check();
    assert!(door.enter(1, 8).is_ok());
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn clients_that_have_called_keep_their_places() {
    let mut door = Door::new();
    let entered: Vec<_> = (0..4).map(|_| door.enter(1, 8).unwrap().0).collect();
    entered.iter().for_each(|number| door.move_up(*number, Stage::Called));
    assert_eq!(door.enter(1, 8).unwrap_err(), Full);
    assert!(entered.iter().all(|number| door.has(*number)));
    // Other hosts have the other half of the places.
    assert!(door.enter(2, 8).is_ok());
    door.places.leave(entered[0]);
    assert!(door.enter(1, 8).is_ok());
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn the_host_with_the_most_places_loses_one_first() {
    let mut door = Door::new();
    let first = door.enter(1, 4).unwrap().0;
    let many = [door.enter(2, 4).unwrap().0, door.enter(2, 4).unwrap().0];
    door.enter(3, 4).unwrap();
    door.enter(4, 4).unwrap();
    assert!(door.has(first) && !door.has(many[0]) && door.has(many[1]));
    door.check();
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn clients_that_have_called_do_not_count_against_their_host() {
    let mut door = Door::new();
    let called = [(); 3].map(|()| door.enter(1, 8).unwrap().0);
    called.iter().for_each(|number| door.move_up(*number, Stage::Called));
    let new = door.enter(1, 8).unwrap().0;
    let others = [(); 4].map(|()| door.enter(2, 8).unwrap().0);
    door.enter(3, 8).unwrap();
    assert!(door.has(new) && !door.has(others[0]));
    door.check();
}

#[test]
fn incomplete_messages_are_limited_for_a_host_and_for_all() {
    let entrance: &'static Entrance = Box::leak(Box::default());
    let place = |held: &Arc<AtomicUsize>| Place { entrance, number: 0, held: Arc::clone(held) };
    let [one, two, three] = [(); 3].map(|()| Arc::default());
    let (first, second) = (place(&one), place(&one));
    assert!(first.hold(HELD_BY_HOST_MAX - 10) && second.hold(10) && !first.hold(1));
    assert!(place(&two).hold(HELD_BY_HOST_MAX) && !place(&three).hold(1));
    second.let_go(10);
    assert!(place(&three).hold(10) && !first.hold(1));
    assert_eq!(entrance.held.load(Ordering::Relaxed), HELD_MAX);
}
