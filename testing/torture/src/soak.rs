//! Calls of every kind from many threads, with a check of each result.

use crate::answer::Answer;
use crate::state::State;
use crate::{Counter, ICounter, IFactory, IListener, Listener};
use obvia::{Agile, HRESULT};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::time::{Duration, Instant};

const THREADS: usize = 4;
/// The number of objects that each thread holds.
const OBJECTS: usize = 1_000;
/// The maximum size of the array of an echo call, in numbers: 200 KiB.
const ECHO_MAX: u64 = 50 << 10;
/// The range of the random number that chooses the kind of a call.
const KINDS: u64 = 32;

/// A generator of pseudorandom numbers: xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 16) % limit
    }

    fn number(&mut self) -> i32 {
        (self.next() >> 20) as i32
    }
}

/// A counter to which all threads add. Its total lies between the sum of the completed additions
/// and the sum of the begun additions.
struct Shared {
    counter: Agile<ICounter>,
    begun: AtomicI64,
    done: AtomicI64,
}

impl Shared {
    fn new(factory: &IFactory) -> Arc<Self> {
        let counter = Agile::new(&factory.Make().unwrap()).unwrap();
        Arc::new(Self { counter, begun: AtomicI64::new(0), done: AtomicI64::new(0) })
    }

    fn add(&self, factory: &IFactory, by: i32) {
        let least = self.done.load(Ordering::SeqCst) + i64::from(by);
        self.begun.fetch_add(by.into(), Ordering::SeqCst);
        let total = factory.AddTo(Some(self.counter.get()), by).unwrap();
        self.done.fetch_add(by.into(), Ordering::SeqCst);
        let most = self.begun.load(Ordering::SeqCst);
        assert!((least..=most).contains(&total), "{total} is not between {least} and {most}");
    }

    /// Drops a reference. The thread that drops the last reference checks that the total is exact.
    fn let_go(shared: Arc<Self>) {
        if let Some(last) = Arc::into_inner(shared) {
            assert_eq!(last.counter.get().Get().unwrap(), last.done.into_inner());
        }
    }
}

type Table = Vec<Mutex<Arc<Shared>>>;

struct Worker {
    number: usize,
    factory: Agile<IFactory>,
    table: Arc<Table>,
    random: Random,
    objects: Vec<(ICounter, i64)>,
    own: (ICounter, i64),
    calls: u64,
}

impl Worker {
    fn new(number: usize, factory: Agile<IFactory>, table: Arc<Table>, seed: u64) -> Self {
        let objects = (0..OBJECTS).map(|_| (factory.get().Make().unwrap(), 0)).collect();
        let random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        Self { number, factory, table, random, objects, own: (Counter::new(), 0), calls: 0 }
    }

    fn turn(&mut self) {
        let at = self.random.below(OBJECTS as u64) as usize;
        let value = self.random.number();
        let kind = self.random.below(KINDS);
        let factory = self.factory.get();
        let (counter, total) = &mut self.objects[at];
        self.calls += 1;
        match kind {
            0..6 => counter.Nothing().unwrap(),
            6..11 => assert_eq!(counter.Sum4(value, 1, 2, 3).unwrap(), value.wrapping_add(6)),
            11..17 => {
                *total += i64::from(value);
                assert_eq!(counter.Add(value).unwrap(), *total);
            }
            17..20 => assert_eq!(counter.Get().unwrap(), *total),
            20..22 => {
                // Half of the arrays are small.
                let most = if value & 1 == 0 { 64 } else { ECHO_MAX };
                let values = vec![value; self.random.below(most + 1) as usize];
                assert_eq!(counter.Echo(&values).unwrap(), values);
            }
            22..24 => {
                let code = HRESULT(value | i32::MIN);
                assert_eq!(counter.Fail(code.0).unwrap_err().code(), code);
            }
            24..26 => {
                let listener = IListener::from(Listener(value | 1));
                let answer = counter.Callback(Some(&listener), 1_000).unwrap();
                assert_eq!(answer, (value | 1).wrapping_mul(1_000).wrapping_add(1));
            }
            26 => assert_eq!(factory.Pass(Some(counter)).unwrap(), (counter.clone(), true)),
            27 => assert_eq!(factory.Pass(Some(&self.own.0)).unwrap(), (self.own.0.clone(), false)),
            28 => {
                self.own.1 += i64::from(value);
                assert_eq!(factory.AddTo(Some(&self.own.0), value).unwrap(), self.own.1);
            }
            29 => {
                let shared = Arc::clone(&self.table[at % THREADS].lock().unwrap());
                shared.add(factory, value & 0xff);
                Shared::let_go(shared);
            }
            30 => self.objects[at] = (factory.Make().unwrap(), 0),
            _ => self.renew(value),
        }
    }

    /// Replaces the thread's own object, or its shared counter in the table.
    fn renew(&mut self, value: i32) {
        if value & 1 == 0 {
            self.own = (Counter::new(), 0);
            return;
        }
        let fresh = Shared::new(self.factory.get());
        let before = std::mem::replace(&mut *self.table[self.number].lock().unwrap(), fresh);
        Shared::let_go(before);
    }

    /// Checks and releases all objects. Returns the number of this thread's calls.
    fn finish(self) -> u64 {
        for (counter, total) in &self.objects {
            assert_eq!(counter.Get().unwrap(), *total);
        }
        self.calls + self.objects.len() as u64
    }
}

/// Makes calls for some seconds, and returns their number. Prints "ready" when all objects exist.
pub(crate) fn run(state: &mut State, seed: u64, seconds: u64) -> Answer {
    let factory = Agile::new(state.factory()?)?;
    let table: Arc<Table> = Arc::new((0..THREADS).map(|_| Mutex::new(Shared::new(factory.get()))).collect());
    let ready = Arc::new(Barrier::new(THREADS + 1));
    let start = |number: usize| {
        let (factory, table, ready) = (factory.clone(), Arc::clone(&table), Arc::clone(&ready));
        std::thread::spawn(move || {
            let mut worker = Worker::new(number, factory, table, seed * 100 + number as u64 + 1);
            ready.wait();
            let end = Instant::now() + Duration::from_secs(seconds);
            while Instant::now() < end {
                worker.turn();
            }
            worker.finish()
        })
    };
    let threads: Vec<_> = (0..THREADS).map(start).collect();
    ready.wait();
    println!("ready");
    // A thread with a wrong result has panicked with a message, and `join` returns this panic.
    let calls: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    for shared in Arc::into_inner(table).unwrap() {
        Shared::let_go(shared.into_inner().unwrap());
    }
    state.factory = None;
    Ok(calls.to_string())
}
