//! The entrance of streams from networks. Strangers share a limited number of places, so that they
//! leave descriptors and threads to other clients.
//!
//! A client moves up from stage to stage: it connects, binds, and calls. If no place is free, a
//! newcomer takes that of the client that has been at the lowest stage for the longest time. A
//! client that has called keeps its place.

use crate::types::threads::lock;
use obvia_via::stream::Stream;
use obvia_via::window::Peer;
use rustix::process::{Resource, getrlimit};
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The descriptors of a stream: its socket, and the bell that ends waits for it.
const DESCRIPTORS: u64 = 2;
/// The greatest number of places. A stream has a thread, too.
const PLACES_MAX: u64 = 1 << 14;

/// The greatest number of bytes of incomplete messages, for all clients and for one origin.
const HELD_MAX: usize = 1 << 30;
const HELD_BY_ORIGIN_MAX: usize = HELD_MAX / 2;

/// The stage of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Connected,
    Bound,
    Called,
}

/// The network that counts as one client's: an address of IPv4, or a prefix of 64 bits of IPv6,
/// whose addresses one host may choose (RFC 4291 2.5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Origin {
    V4([u8; 4]),
    V6([u8; 8]),
}

impl Origin {
    /// Returns the origin of a peer; `None` for a process of this host.
    fn of(peer: &Peer) -> Option<Self> {
        let Peer::Host(host) = peer else { return None };
        Some(match host.parse() {
            Ok(IpAddr::V4(address)) => Self::V4(address.octets()),
            Ok(IpAddr::V6(address)) => Self::V6(address.octets().first_chunk().copied().unwrap_or_default()),
            // The peer has disconnected already.
            Err(_) => Self::V6([0; 8]),
        })
    }
}

/// The streams from networks.
#[derive(Default)]
pub(super) struct Entrance {
    places: Mutex<Places>,
    /// The bytes of all incomplete messages.
    held: AtomicUsize,
}

#[derive(Default)]
struct Places {
    next: u64,
    /// The taken places, the oldest first.
    taken: BTreeMap<u64, Taken>,
    by_origin: HashMap<Origin, Share>,
}

/// The places and the memory of the clients of one origin.
#[derive(Default)]
struct Share {
    places: u64,
    /// The bytes of their incomplete messages.
    held: Arc<AtomicUsize>,
}

struct Taken {
    origin: Origin,
    stage: Stage,
    stream: Arc<Stream>,
}

impl Entrance {
    /// Gives a place to a stream from a network. A process of this host needs none.
    ///
    /// # Errors
    ///
    /// If all places are taken by clients that have called.
    pub(super) fn enter(&'static self, stream: &Arc<Stream>) -> Result<Option<Place>, Full> {
        let Some(origin) = Origin::of(stream.peer()) else { return Ok(None) };
        let (number, held) = lock(&self.places).enter(origin, stream, places_max())?;
        Ok(Some(Place { entrance: self, number, held }))
    }
}

/// All places are taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

/// Returns the greatest number of places: they take three quarters of the descriptors at most.
fn places_max() -> u64 {
    let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    (descriptors / 4 * 3 / DESCRIPTORS).min(PLACES_MAX)
}

impl Places {
    fn enter(&mut self, origin: Origin, stream: &Arc<Stream>, most: u64) -> Result<(u64, Arc<AtomicUsize>), Full> {
        // An origin has half of the places at most.
        let is_origin_full = self.by_origin.get(&origin).is_some_and(|share| share.places >= most.div_ceil(2));
        if is_origin_full || self.taken.len() as u64 >= most {
            self.evict(is_origin_full.then_some(origin))?;
        }
        let number = self.next;
        self.next += 1;
        let stream = Arc::clone(stream);
        self.taken.insert(number, Taken { origin, stage: Stage::Connected, stream });
        let share = self.by_origin.entry(origin).or_default();
        share.places += 1;
        Ok((number, Arc::clone(&share.held)))
    }

    /// Ends the stream of the client, of this origin if there is one, that has been at the lowest
    /// stage for the longest time. Of several origins, the one with the most places loses one.
    fn evict(&mut self, origin: Option<Origin>) -> Result<(), Full> {
        let may_go = |taken: &&Taken| taken.stage < Stage::Called && origin.is_none_or(|only| only == taken.origin);
        let of_origin = |taken: &Taken| self.by_origin.get(&taken.origin).map_or(0, |share| share.places);
        let most = self.taken.values().filter(may_go).map(of_origin).max().ok_or(Full)?;
        let candidates = self.taken.iter().filter(|(_, taken)| may_go(taken) && of_origin(taken) == most);
        let (number, _) = candidates.min_by_key(|(number, taken)| (taken.stage, **number)).ok_or(Full)?;
        if let Some(evicted) = self.leave(*number) {
            evicted.stream.close();
        }
        Ok(())
    }

    fn leave(&mut self, number: u64) -> Option<Taken> {
        let taken = self.taken.remove(&number)?;
        if let Some(share) = self.by_origin.get_mut(&taken.origin) {
            share.places -= 1;
            if share.places == 0 {
                self.by_origin.remove(&taken.origin);
            }
        }
        Some(taken)
    }
}

/// The place of a stream. It is free again once this value is dropped.
pub(crate) struct Place {
    entrance: &'static Entrance,
    number: u64,
    /// The bytes of the incomplete messages of the client's origin.
    held: Arc<AtomicUsize>,
}

impl Place {
    /// Notes that the client has bound.
    pub(super) fn is_bound(&self) {
        self.move_up(Stage::Bound);
    }

    /// Notes that the client has made a call that it may make.
    pub(super) fn has_called(&self) {
        self.move_up(Stage::Called);
    }

    fn move_up(&self, stage: Stage) {
        if let Some(taken) = lock(&self.entrance.places).taken.get_mut(&self.number) {
            taken.stage = taken.stage.max(stage);
        }
    }

    /// Takes bytes for an incomplete message. Returns false if there are not so many.
    pub(super) fn hold(&self, bytes: usize) -> bool {
        let limits = [(&self.entrance.held, HELD_MAX), (&*self.held, HELD_BY_ORIGIN_MAX)];
        for (at, (held, most)) in limits.iter().enumerate() {
            if held.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) > *most {
                for (held, _) in &limits[..=at] {
                    held.fetch_sub(bytes, Ordering::Relaxed);
                }
                return false;
            }
        }
        true
    }

    /// Gives bytes of an incomplete message back.
    pub(super) fn let_go(&self, bytes: usize) {
        self.entrance.held.fetch_sub(bytes, Ordering::Relaxed);
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // The stream is dropped without the lock.
        let taken = lock(&self.entrance.places).leave(self.number);
        drop(taken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use obvia_via::Deadline;
    use obvia_via::stream::StreamListener;

    const LIMIT: Deadline = Deadline::Within(ground::LATEST);

    /// Accepts streams, which are all from this host, and gives them places for other origins.
    struct Door {
        listener: StreamListener,
        clients: Vec<Stream>,
        places: Places,
    }

    impl Door {
        fn new() -> Self {
            let listener = StreamListener::bind("127.0.0.1", 0).unwrap();
            Self { listener, clients: Vec::new(), places: Places::default() }
        }

        fn enter(&mut self, last: u8, most: u64) -> Result<(u64, Arc<Stream>), Full> {
            let port = self.listener.endpoint().parse().unwrap();
            self.clients.push(Stream::connect("127.0.0.1", port, LIMIT).unwrap());
            let stream = Arc::new(self.listener.accept(LIMIT).unwrap());
            Ok((self.places.enter(Origin::V4([10, 0, 0, last]), &stream, most)?.0, stream))
        }

        fn move_up(&mut self, number: u64, stage: Stage) {
            self.places.taken.get_mut(&number).unwrap().stage = stage;
        }

        fn has(&self, number: u64) -> bool {
            self.places.taken.contains_key(&number)
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
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn clients_that_have_called_keep_their_places() {
        let mut door = Door::new();
        let entered: Vec<_> = (0..4).map(|_| door.enter(1, 8).unwrap().0).collect();
        entered.iter().for_each(|number| door.move_up(*number, Stage::Called));
        assert_eq!(door.enter(1, 8).unwrap_err(), Full);
        assert!(entered.iter().all(|number| door.has(*number)));
        // Other origins have the other half of the places.
        assert!(door.enter(2, 8).is_ok());
        door.places.leave(entered[0]);
        assert!(door.enter(1, 8).is_ok());
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn the_origin_with_the_most_places_loses_one_first() {
        let mut door = Door::new();
        let first = door.enter(1, 4).unwrap().0;
        let many = [door.enter(2, 4).unwrap().0, door.enter(2, 4).unwrap().0];
        door.enter(3, 4).unwrap();
        door.enter(4, 4).unwrap();
        assert!(door.has(first) && !door.has(many[0]) && door.has(many[1]));
    }

    #[test]
    fn incomplete_messages_are_limited_for_an_origin_and_for_all() {
        let entrance: &'static Entrance = Box::leak(Box::default());
        let place = |held: &Arc<AtomicUsize>| Place { entrance, number: 0, held: Arc::clone(held) };
        let [one, two, three] = [(); 3].map(|()| Arc::default());
        let (first, second) = (place(&one), place(&one));
        assert!(first.hold(HELD_BY_ORIGIN_MAX - 10) && second.hold(10) && !first.hold(1));
        assert!(place(&two).hold(HELD_BY_ORIGIN_MAX) && !place(&three).hold(1));
        second.let_go(10);
        assert!(place(&three).hold(10) && !first.hold(1));
        assert_eq!(entrance.held.load(Ordering::Relaxed), HELD_MAX);
    }

    #[test]
    fn addresses_of_one_prefix_are_one_origin() {
        let origin = |host: &str| Origin::of(&Peer::Host(host.to_owned()));
        assert_eq!(origin("2001:db8::1"), origin("2001:db8::ffff:2"));
        assert_ne!(origin("2001:db8::1"), origin("2001:db8:0:1::1"));
        assert_ne!(origin("10.0.0.1"), origin("10.0.0.2"));
        assert_eq!(Origin::of(&Peer::Process { pid: 1, uid: 1 }), None);
    }
}
