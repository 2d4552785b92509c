//! A network that is simulated from a seed, in simulated time. The network loses, duplicates and
//! delays the datagrams between a server and its clients.

use crate::dg::{
    Activity, CallKey, IncomingCall, Limits, Outcome, OutgoingCall, Semantics, Server, ServerEvent, ServerOptions,
};
use crate::status::Status;
use crate::uuid::{SyntaxId, Uuid};
use obvia_via::datagram::Place;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::time::{Duration, Instant};

/// splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
#[derive(Clone)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn is_one_of(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn millis(&mut self, limit: u64) -> Duration {
        Duration::from_micros(self.below(limit * 1000 + 1))
    }

    fn uuid(&mut self) -> Uuid {
        Uuid(u128::from(self.next()) << 64 | u128::from(self.next()))
    }
}

/// The properties of the network and the processes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conditions {
    pub(super) loss: u64,
    pub(super) doubling: u64,
    /// The maximum delay of most datagrams, in milliseconds; some take up to a hundred times as
    /// long.
    pub(super) delay: u64,
    /// Whether the server restarts from time to time.
    pub(super) restarts: bool,
    /// The maximum execution time of a method, in milliseconds.
    pub(super) work: u64,
}

/// A call with its expected results.
struct Made {
    semantics: Semantics,
    /// The call's number among all calls. The arguments contain this number.
    number: u32,
    request: Vec<u8>,
    reply: usize,
}

struct Client {
    place: Place,
    activity: Activity,
    left: u32,
    made: Option<Made>,
}

enum Event {
    Arrival { from: Place, to: Place, bytes: Vec<u8> },
    Done { key: CallKey, stub: Vec<u8>, incarnation: u32 },
    Restart,
    Keep,
}

/// The simulation.
pub(super) struct Simulation {
    pub(super) conditions: Conditions,
    random: Random,
    now: Instant,
    events: BinaryHeap<Reverse<(Instant, u64)>>,
    what: HashMap<u64, Event>,
    count: u64,
    server: Server,
    incarnation: u32,
    clients: Vec<Client>,
    /// The number of executions of each call.
    performed: BTreeMap<u32, u32>,
    calls: u32,
    pub(super) answered: u32,
    pub(super) failed: Vec<Status>,
}

const SERVER: &str = "10.0.0.1:1000";
const INTERFACE: SyntaxId = SyntaxId { uuid: Uuid(0x1234), version: 1 };

fn limits() -> Limits {
    Limits { message_max: 1 << 20, held_max: 8 << 20, activities_max: 64, ..Limits::default() }
}

fn server(random: &mut Random, incarnation: u32) -> Server {
    let secret = random.uuid().0.to_le_bytes();
    Server::new(ServerOptions { limits: limits(), boot: 1000 + incarnation, secret })
}

/// Returns the results for the arguments.
fn reply(request: &[u8], length: usize) -> Vec<u8> {
    let seed = request.iter().fold(7_u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(*byte));
    (0..length).map(|at| seed.wrapping_add((at * 13) as u8)).collect()
}

impl Simulation {
    pub(super) fn new(seed: u64, clients: u32, calls: u32, conditions: Conditions) -> Self {
        let mut random = Random(seed);
        let server = server(&mut random, 0);
        let clients = (0..clients).map(|number| {
            let place = format!("10.0.1.{}:{}", number % 3, 2000 + number).parse().unwrap();
            let activity = Activity::new(random.uuid(), Uuid(u128::from(number / 2)), limits(), false);
            Client { place, activity, left: calls, made: None }
        });
        let clients = clients.collect();
        let mut simulation = Self {
            conditions,
            random,
            now: Instant::now(),
            events: BinaryHeap::new(),
            what: HashMap::new(),
            count: 0,
            server,
            incarnation: 0,
            clients,
            performed: BTreeMap::new(),
            calls: 0,
            answered: 0,
            failed: Vec::new(),
        };
        simulation.happen(Duration::ZERO, Event::Keep);
        if conditions.restarts {
            simulation.happen(Duration::from_secs(3), Event::Restart);
        }
        simulation
    }

    fn happen(&mut self, after: Duration, what: Event) {
        self.count += 1;
        self.events.push(Reverse((self.now + after, self.count)));
        self.what.insert(self.count, what);
    }

    /// Hands a datagram to the network.
    fn carry(&mut self, from: Place, to: Place, bytes: &[u8]) {
        let copies = 1 + u64::from(self.random.is_one_of(self.conditions.doubling));
        for _ in 0..copies {
            if self.random.is_one_of(self.conditions.loss) {
                continue;
            }
            let mut delay = self.random.millis(self.conditions.delay);
            // Some datagrams arrive very late.
            if self.random.is_one_of(3) {
                delay = self.random.millis(self.conditions.delay * 100);
            }
            self.happen(delay, Event::Arrival { from, to, bytes: bytes.to_vec() });
        }
    }

    /// Runs until all calls have ended.
    pub(super) fn run(&mut self) {
        let end = self.now + Duration::from_secs(7200);
        loop {
            self.begin_calls();
            self.flush();
            if self.clients.iter().all(|client| client.left == 0 && client.made.is_none()) {
                return;
            }
            assert!(self.now < end, "calls do not end: {} answered, {} failed", self.answered, self.failed.len());
            self.step();
        }
    }

    /// Lets time pass until all activities are forgotten.
    pub(super) fn forget(&mut self) {
        let end = self.now + Duration::from_secs(1000);
        self.conditions.restarts = false;
        while self.now < end {
            self.flush();
            self.step();
        }
        assert_eq!((self.server.held(), self.server.activities()), (0, 0), "nothing is kept for ever");
    }

    fn step(&mut self) {
        let due = self.clients.iter().filter_map(|client| client.activity.due()).chain(self.server.due()).min();
        let next = self.events.peek().map(|Reverse((at, _))| *at);
        self.now = due.into_iter().chain(next).min().unwrap().max(self.now);
        self.clients.iter_mut().for_each(|client| client.activity.tick(self.now));
        self.server.tick(self.now);
        while let Some(Reverse((at, number))) = self.events.peek().copied() {
            if at > self.now {
                break;
            }
            self.events.pop();
            let what = self.what.remove(&number).unwrap();
            self.handle(what);
        }
        while let Some(event) = self.server.next_event() {
            if let ServerEvent::Call(call) = event {
                self.perform(call);
            }
        }
        for at in 0..self.clients.len() {
            if let Some(outcome) = self.clients[at].activity.take_outcome() {
                let made = self.clients[at].made.take().unwrap();
                self.check(&made, outcome);
            }
        }
    }

    fn handle(&mut self, what: Event) {
        match what {
            Event::Arrival { from, to, bytes } if to == SERVER.parse().unwrap() => {
                self.server.receive(self.now, from, &bytes);
            }
            Event::Arrival { to, bytes, .. } => {
                let client = self.clients.iter_mut().find(|client| client.place == to).unwrap();
                client.activity.receive(self.now, &bytes);
            }
            Event::Done { key, stub, incarnation } => {
                if incarnation == self.incarnation {
                    self.server.respond(self.now, key, stub);
                }
            }
            Event::Restart => {
                if self.conditions.restarts {
                    self.incarnation += 1;
                    self.server = server(&mut self.random, self.incarnation);
                    let after = self.random.millis(5000);
                    self.happen(after, Event::Restart);
                }
            }
            Event::Keep => {
                for client in &mut self.clients {
                    client.activity.keep(self.now);
                }
                self.happen(Duration::from_millis(500), Event::Keep);
            }
        }
    }

    fn flush(&mut self) {
        let here = SERVER.parse().unwrap();
        let mut sent: Vec<(Place, Place, Vec<u8>)> = Vec::new();
        sent.extend(self.server.output().iter().map(|(to, bytes)| (here, to, bytes.to_vec())));
        self.server.output().clear();
        for client in &mut self.clients {
            let output = client.activity.output();
            sent.extend(output.iter().map(|((), bytes)| (client.place, here, bytes.to_vec())));
            output.clear();
        }
        for (from, to, bytes) in sent {
            self.carry(from, to, &bytes);
        }
    }

    fn begin_calls(&mut self) {
        for at in 0..self.clients.len() {
            if self.clients[at].made.is_some() || self.clients[at].left == 0 {
                continue;
            }
            let semantics = match self.random.below(10) {
                0 => Semantics::Maybe,
                1..=4 => Semantics::Idempotent,
                _ => Semantics::AtMostOnce,
            };
            let longest = if self.random.is_one_of(20) && semantics != Semantics::Maybe { 60_000 } else { 2_000 };
            let (length, reply) = (8 + self.random.below(longest) as usize, self.random.below(longest) as usize);
            let number = self.calls;
            self.calls += 1;
            let mut request = vec![0; length];
            request[..4].copy_from_slice(&number.to_le_bytes());
            request[4..8].copy_from_slice(&(reply as u32).to_le_bytes());
            (8..length).for_each(|at| request[at] = (at * 5) as u8);
            let client = &mut self.clients[at];
            client.left -= 1;
            let call = OutgoingCall { interface: INTERFACE, opnum: 3, object: None, semantics, stub: &request };
            client.activity.call(self.now, &call).unwrap();
            client.made = (semantics != Semantics::Maybe).then_some(Made { semantics, number, request, reply });
        }
    }

    fn perform(&mut self, call: IncomingCall) {
        assert_eq!((call.interface, call.opnum, call.object), (INTERFACE, 3, None));
        let word = |at: usize| u32::from_le_bytes(*call.stub[at..].first_chunk().unwrap());
        assert!(
            call.stub[8..].iter().zip(8_usize..).all(|(byte, at)| *byte == (at * 5) as u8),
            "arguments arrive whole"
        );
        *self.performed.entry(word(0)).or_default() += 1;
        if call.is_maybe {
            return;
        }
        let stub = reply(&call.stub, word(4) as usize);
        let after = self.random.millis(self.conditions.work);
        self.happen(after, Event::Done { key: call.key, stub, incarnation: self.incarnation });
    }

    fn check(&mut self, made: &Made, outcome: Outcome) {
        let times = self.performed.get(&made.number).copied().unwrap_or(0);
        match outcome {
            Ok((_, stub)) => {
                assert!(times >= 1 && stub == reply(&made.request, made.reply), "call {}", made.number);
                self.answered += 1;
            }
            Err(failure) => self.failed.push(failure.status),
        }
        assert!(
            made.semantics == Semantics::Idempotent || times <= 1,
            "call {} was performed {times} times",
            made.number
        );
    }
}
