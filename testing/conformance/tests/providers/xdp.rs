//! VIs over AF_XDP fulfil all statements of the conformance suite. Each test lays a cable between
//! two network namespaces of its own, and so needs root.

#[path = "../../../../crates/via/tests/providers/xdp/rig.rs"]
#[expect(dead_code, reason = "other programs use more of it")]
mod rig;

use obvia_conformance::{Fixture, MissingFeature, Side, for_each_statement, statements, tasks, watchdog};
use obvia_via::provider::xdp::{Options, Xdp};
use obvia_via::spi::{Incoming, Listening, Offer, Port, Provider};
use obvia_via::{Attributes, Deadline, Error, Nic};
use rig::{Cable, End, INTERFACE};
use std::io::Write;
use std::sync::{Arc, Mutex, Once, Weak};
use std::time::Duration;

/// A cable between two network namespaces, and the XDP program at each end of the cable. The first
/// NIC at an end loads the program.
#[derive(Debug)]
struct Wired {
    cable: Cable,
    // The programs are kept only while NICs use them. A process whose NICs are closed thus frees
    // the network interface for another process.
    opened: [Mutex<Weak<Xdp>>; 2],
}

impl Fixture for Wired {
    const MISSING: &'static [MissingFeature] = &[];
    // A live peer must not count as dead, so the time is longer than any wait of a thread on a busy
    // machine.
    const SILENCE: Duration = Duration::from_secs(10);
    const CROSSES_PROCESSES: bool = true;

    fn new() -> Self {
        Self { cable: Cable::lay().expect("a cable"), opened: Default::default() }
    }

    fn place(&self) -> String {
        self.cable.places().join(" ")
    }

    fn at(place: &str) -> Self {
        let (left, right) = place.split_once(' ').expect("two places");
        Self { cable: Cable::at([left, right]).expect("a cable"), opened: Default::default() }
    }

    fn nic(&self, side: Side) -> Nic {
        let (end, opened) = match side {
            Side::Client => (&self.cable.left, &self.opened[0]),
            Side::Server => (&self.cable.right, &self.opened[1]),
        };
        let options = Options { silence: Self::SILENCE - Duration::from_secs(1), ..Options::new(INTERFACE) };
        let mut opened = opened.lock().expect("nobody failed here");
        let xdp =
            opened.upgrade().unwrap_or_else(|| Arc::new(end.on_thread(|| Xdp::open(&options).expect("an interface"))));
        *opened = Arc::downgrade(&xdp);
        let inner: Box<dyn Provider> = Box::new(xdp.provider());
        Nic::open(Box::new(There { end: end.clone(), _open: xdp, inner }))
    }

    fn discriminator(&self) -> String {
        "0".to_owned()
    }
}

/// A provider that opens its sockets in the namespace of its network interface, whatever the
/// caller's namespace is.
#[derive(Debug)]
struct There<T: ?Sized> {
    end: End,
    _open: Arc<Xdp>,
    inner: Box<T>,
}

impl Provider for There<dyn Provider> {
    fn attributes(&self) -> &Attributes {
        self.inner.attributes()
    }

    fn listen(&self, discriminator: &str) -> Result<Box<dyn Listening>, Error> {
        let inner = self.end.visit(|| self.inner.listen(discriminator))?;
        Ok(Box::new(There { end: self.end.clone(), _open: Arc::clone(&self._open), inner }))
    }

    fn connect(&self, address: &str, own: &Offer, deadline: Deadline) -> Result<(Box<dyn Port>, Offer), Error> {
        self.end.visit(|| self.inner.connect(address, own, deadline))
    }
}

impl Listening for There<dyn Listening> {
    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Incoming>, Error> {
        Ok(Box::new(There {
            end: self.end.clone(),
            _open: Arc::clone(&self._open),
            inner: self.inner.accept(deadline)?,
        }))
    }

    fn address(&self) -> String {
        self.inner.address()
    }
}

impl Incoming for There<dyn Incoming> {
    fn offer(&self) -> &Offer {
        self.inner.offer()
    }

    fn peer(&self) -> String {
        self.inner.peer()
    }

    fn accept(self: Box<Self>, own: &Offer, deadline: Deadline) -> Result<Box<dyn Port>, Error> {
        let Self { end, inner, .. } = *self;
        end.visit(|| inner.accept(own, deadline))
    }

    fn reject(self: Box<Self>, why: &str) {
        self.inner.reject(why);
    }
}

/// Whether a cable can be laid. On CI, a failure to lay one is an error.
fn is_possible(statement: &str) -> bool {
    match Cable::lay() {
        Ok(_) => true,
        Err(why) if !ground::is_ci() => {
            static SAID: Once = Once::new();
            // The output of a passing test is not shown, so this message bypasses the capture of
            // output. One message is enough for all tests.
            SAID.call_once(|| {
                let _ =
                    writeln!(std::io::stderr(), "skipped all, from {statement} on: no namespaces with a cable: {why}");
            });
            false
        }
        Err(why) => panic!("{statement}: no network namespaces with a cable here: {why}"),
    }
}

macro_rules! if_possible {
    ($name:ident, $fixture:ty) => {
        #[test]
        fn $name() {
            if is_possible(stringify!($name)) {
                watchdog::run::<$fixture>(module_path!(), statements::$name).unwrap();
            }
        }
    };
}

for_each_statement!(if_possible, Wired);

/// Carries out the task of a process that a test has started. In a usual test run there is no task,
/// and the test has no effect.
#[test]
fn task_of_another_process() {
    tasks::main::<Wired>();
}
