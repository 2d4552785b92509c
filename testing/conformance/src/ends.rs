//! Two connected VIs with memory, and the common operations of tests on them.

use crate::{Run, Side, soon};
use obvia_via::{
    Access, Completion, CompletionQueue, Deadline, Descriptor, Ended, Error, MemoryRegion, Nic, ProtectionTag,
    Reliability, RemoteAddress, State, Status, Vi, ViAttributes, Waiting, WorkQueue,
};
use std::time::{Duration, Instant};

/// The default size of an end's memory, in bytes.
pub const AREA: usize = 512 * 1024;

/// The properties of the two ends of a connection.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The VIs' reliability level.
    pub level: Reliability,
    /// The VIs' maximum transfer size, in bytes; 0 for the provider's maximum.
    pub max_transfer: u32,
    /// The wait policy of the VIs' owners: the threads that wait for completions.
    pub waiting: Waiting,
    /// The size of each end's memory, in bytes.
    pub area: usize,
}

impl Plan {
    /// Returns the default properties, with this reliability level.
    pub fn of(level: Reliability) -> Self {
        Self { level, max_transfer: 0, waiting: Waiting::Adaptive, area: AREA }
    }
}

/// A VI, with all the objects that it needs.
#[derive(Debug)]
pub struct End {
    /// The VI.
    pub vi: Vi,
    /// The VI's memory, which peers may access by the kinds of RDMA that the provider supports.
    pub area: MemoryRegion,
    /// The VI's protection tag.
    pub tag: ProtectionTag,
    /// The VI's NIC.
    pub nic: Nic,
}

/// Two ends, `a` and `b`. The end `a` requests the connection.
#[derive(Debug)]
pub struct Pair {
    /// The requesting end.
    pub a: End,
    /// The listening end.
    pub b: End,
}

impl Run {
    /// Makes an unconnected end, with a new NIC.
    pub fn end(&self, side: Side, plan: &Plan) -> End {
        self.end_of(&self.fixture.nic(side), plan, None, None)
    }

    /// Makes an unconnected end with an existing NIC.
    pub fn end_of(
        &self,
        nic: &Nic,
        plan: &Plan,
        send: Option<&CompletionQueue>,
        receive: Option<&CompletionQueue>,
    ) -> End {
        let tag = nic.protection_tag();
        let attributes =
            ViAttributes { reliability: plan.level, max_transfer: plan.max_transfer, waiting: plan.waiting };
        let vi = nic.vi(attributes, &tag, send, receive).expect("the VI is made");
        let area = region(nic, &tag, plan.area, self.access());
        End { vi, area, tag, nic: nic.clone() }
    }

    /// Makes two connected ends.
    pub fn pair(&self, level: Reliability) -> Pair {
        self.pair_by(&Plan::of(level))
    }

    /// Makes two connected ends with these properties.
    pub fn pair_by(&self, plan: &Plan) -> Pair {
        let mut pair = Pair { a: self.end(Side::Client, plan), b: self.end(Side::Server, plan) };
        self.connect(&mut pair);
        pair
    }

    /// Connects two ends. The connection must succeed.
    pub fn connect(&self, pair: &mut Pair) {
        let (asked, accepted) = self.try_connect(&mut pair.a.vi, &pair.b.nic, &mut pair.b.vi);
        assert_eq!(asked.expect("the request is accepted"), b"welcome");
        accepted.expect("the peer can be accepted");
        assert_eq!((pair.a.vi.state(), pair.b.vi.state()), (State::Connected, State::Connected));
    }

    /// Connects two VIs. Returns the results of the requesting and of the listening side.
    pub fn try_connect(&self, a: &mut Vi, listening: &Nic, b: &mut Vi) -> (Result<Vec<u8>, Error>, Result<(), Error>) {
        let mut listener = listening.listen(&self.fixture.discriminator()).expect("the discriminator is free");
        let address = self.fixture.address(&listener);
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| a.request(&address, b"hello", soon()));
            let accepted = listener.wait(soon()).and_then(|request| {
                assert_eq!(request.private(), b"hello");
                assert!(!request.peer().is_empty(), "logs want to know who asks");
                request.accept(b, b"welcome", soon())
            });
            (asking.join().expect("asking does not panic"), accepted)
        })
    }
}

/// Registers fresh memory.
pub fn region(nic: &Nic, tag: &ProtectionTag, length: usize, access: Access) -> MemoryRegion {
    let memory = nic.memory(length).expect("there is memory");
    assert!(memory.len() >= length);
    nic.register(memory, tag, access).expect("memory can be registered")
}

/// Returns bytes that differ by seed and by position.
pub fn pattern(seed: u64, length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length + 8);
    let mut word = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    while bytes.len() < length {
        // Marsaglia's xorshift.
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        bytes.extend(word.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// Returns bytes of a region.
pub fn read(region: &MemoryRegion, offset: usize, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    region.memory().read(offset as u64, &mut bytes).expect("the test stays inside");
    bytes
}

/// Sets bytes of a region.
pub fn write(region: &MemoryRegion, offset: usize, bytes: &[u8]) {
    region.memory().write(offset as u64, bytes).expect("the test stays inside");
}

/// Returns the remote address by which a peer reaches this offset of a region.
pub fn place(region: &MemoryRegion, offset: usize) -> RemoteAddress {
    RemoteAddress { handle: region.handle(), offset: offset as u64 }
}

/// Asserts that a descriptor completed successfully.
#[track_caller]
pub fn well(descriptor: Box<Descriptor>) -> Box<Descriptor> {
    assert_eq!(descriptor.status(), Status::Done, "{descriptor:?}");
    descriptor
}

/// Waits until the condition holds. Sleeps between the checks, and calls no VI meanwhile, so that
/// only the NICs' own threads make progress.
#[track_caller]
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = soon().start();
    while !is_so() {
        assert!(!deadline.is_over(), "never: {what}");
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Waits long enough for all effects of earlier steps to happen: if no thread calls a VI, the
/// thread of the VI's NIC serves the VI within 64 ms. Only checks that an event does not happen
/// need this wait.
pub fn settle() {
    std::thread::sleep(Duration::from_millis(120));
}

/// Returns the next completion of a queue. The completion must come soon.
#[track_caller]
pub fn next(queue: &mut WorkQueue) -> Box<Descriptor> {
    queue.wait(soon()).expect("the descriptor completes")
}

/// Takes the completions that are in the queue already, without a wait.
pub fn drain(queue: &mut WorkQueue) -> Vec<Box<Descriptor>> {
    std::iter::from_fn(|| queue.done()).collect()
}

/// Returns the next entry of a completion queue. The entry must come soon.
#[track_caller]
pub fn entry(queue: &mut CompletionQueue) -> Completion {
    queue.wait(soon()).expect("a completion is entered")
}

impl End {
    /// Posts a send of bytes of the area.
    #[track_caller]
    pub fn send(&mut self, offset: usize, length: usize) {
        self.send_as(Descriptor::send(), offset, length);
    }

    /// Posts an operation of the send queue with one segment of the area.
    #[track_caller]
    pub fn send_as(&mut self, descriptor: Box<Descriptor>, offset: usize, length: usize) {
        let descriptor = descriptor.with_segment(&self.area, offset as u64, length as u32);
        self.vi.send.post(descriptor).expect("it can be posted");
    }

    /// Posts a receive into the area.
    #[track_caller]
    pub fn receive(&mut self, offset: usize, length: usize) {
        let descriptor = Descriptor::receive().with_segment(&self.area, offset as u64, length as u32);
        self.vi.receive.post(descriptor).expect("it can be posted");
    }

    /// Returns the next completion of the send queue. The completion must be successful.
    #[track_caller]
    pub fn sent(&mut self) -> Box<Descriptor> {
        let descriptor = next(&mut self.vi.send);
        self.well(descriptor)
    }

    /// Returns the next completion of the receive queue. The completion must be successful.
    #[track_caller]
    pub fn received(&mut self) -> Box<Descriptor> {
        let descriptor = next(&mut self.vi.receive);
        self.well(descriptor)
    }

    /// Asserts that a descriptor of this end completed successfully. The message of a failure
    /// contains the VI's state, which says more than the descriptor.
    #[track_caller]
    fn well(&self, descriptor: Box<Descriptor>) -> Box<Descriptor> {
        let status = descriptor.status();
        assert_eq!(status, Status::Done, "the VI is {:?}; {descriptor:?}", self.vi.state());
        descriptor
    }

    /// Returns bytes of the area.
    pub fn bytes(&self, offset: usize, length: usize) -> Vec<u8> {
        read(&self.area, offset, length)
    }

    /// Sets bytes of the area.
    pub fn set(&self, offset: usize, bytes: &[u8]) {
        write(&self.area, offset, bytes);
    }

    /// Waits until the end's connection is over, and returns the reason.
    #[track_caller]
    pub fn ended(&self) -> Ended {
        let deadline = soon().start();
        loop {
            match self.vi.state() {
                State::Broken(why) => return why,
                state => assert!(!deadline.is_over(), "the connection never ends: it is {state:?}"),
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

impl Pair {
    /// Sends some bytes from `a` to `b` and compares them, to check that the connection works.
    #[track_caller]
    pub fn check(&mut self, seed: u64) {
        exchange(&mut self.a, &mut self.b, seed);
    }

    /// Checks the connection as [`Self::check`] does, in both directions.
    #[track_caller]
    pub fn check_both(&mut self, seed: u64) {
        exchange(&mut self.a, &mut self.b, seed);
        exchange(&mut self.b, &mut self.a, seed + 1);
    }
}

#[track_caller]
fn exchange(from: &mut End, to: &mut End, seed: u64) {
    let bytes = pattern(seed, 1000);
    let at = AREA.min(from.area.memory().len()) - 1000;
    from.set(at, &bytes);
    to.set(at, &[0; 1000]);
    to.receive(at, 1000);
    from.send(at, 1000);
    let received = to.received();
    assert_eq!((received.length(), received.immediate()), (1000, None));
    assert_eq!(to.bytes(at, 1000), bytes);
    from.sent();
}

/// The time after which a test fails because a wait has not ended by itself.
pub const LATE: Duration = Duration::from_secs(60);

/// Returns the result of an action, and the time that the action took.
pub fn timed<T>(act: impl FnOnce() -> T) -> (T, Duration) {
    let began = Instant::now();
    (act(), began.elapsed())
}

/// Returns a deadline of this many milliseconds.
pub fn within_ms(milliseconds: u64) -> Deadline {
    Deadline::Within(Duration::from_millis(milliseconds))
}
