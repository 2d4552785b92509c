//! The requirements on every provider of virtual interfaces: fifty statements. Each statement is a
//! test that runs with any provider.
//!
//! A [`Fixture`] opens NICs of a provider; [`conformance!`] makes a test of every statement for it.
//! A fixture declares the features that its provider lacks ([`MissingFeature`]). A statement about
//! a missing feature checks that the provider refuses the feature with the documented error: no
//! statement is skipped. [`reference`] is a minimal provider that fulfils all statements. Its
//! variants with a flaw violate some statements, to test the suite.

pub mod ends;
pub mod process;
pub mod reference;
pub mod statements;
pub mod tasks;
pub mod watchdog;

use obvia_via::{Access, Deadline, Listener, Nic, Reliability};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The maximum time that a test waits for an expected event, in seconds.
static PATIENCE: AtomicU64 = AtomicU64::new(100);

/// Returns the number in an environment variable. Thorough runs set the variable to ask for more
/// work.
fn wanted<N: std::str::FromStr>(variable: &str) -> Option<N> {
    std::env::var(variable).ok().and_then(|number| number.parse().ok())
}

/// Returns a deadline for an expected event. The deadline's time starts to run when the wait
/// begins.
pub fn soon() -> Deadline {
    Deadline::after_secs(patience())
}

/// Returns the maximum time that a test waits for an expected event, in seconds.
pub(crate) fn patience() -> u64 {
    PATIENCE.load(Ordering::Relaxed)
}

/// Sets the maximum time that a test waits for an expected event, in seconds. The tests of the
/// suite itself set a short time, because they wait for many events that never happen. A process
/// that a test starts sets the same time as the test, but at least `process::PATIENCE_MIN`.
pub fn set_patience(seconds: u64) {
    PATIENCE.store(seconds, Ordering::Relaxed);
}

/// One of the two NICs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The NIC that requests connections.
    Client,
    /// The NIC that listens.
    Server,
}

/// A feature that a provider lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingFeature {
    /// RDMA write.
    RdmaWrite,
    /// RDMA read.
    RdmaRead,
    /// A reliability level.
    Level(Reliability),
    /// The report to both ends why an RDMA was refused. Without this feature, both ends see only
    /// that the connection is lost.
    Reasons,
}

/// The faults of a wire, in thousandths of the datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Datagrams lost.
    pub lost: u32,
    /// Datagrams delivered twice.
    pub doubled: u32,
    /// Datagrams delivered after later ones.
    pub delayed: u32,
    /// Datagrams delivered with a bit changed.
    pub corrupted: u32,
}

/// The wire between a fixture's NICs, where a test can control it.
pub trait Wire {
    /// Sets the faults of the wire from now on.
    fn disturb(&self, faults: Faults);

    /// Cuts the wire for good, in both directions, without telling either end.
    fn cut(&self);
}

/// The environment of a test: opens the NICs of a provider, and says which features the provider
/// lacks.
pub trait Fixture: Sized + Send + Sync + 'static {
    /// The features that the provider lacks. The NICs' attributes must report the same.
    const MISSING: &'static [MissingFeature];
    /// The maximum time in which an end notices that its peer is gone, with the fixture's
    /// configuration of its NICs.
    const SILENCE: Duration;
    /// Whether a NIC of another process reaches this process's listeners, if the other process made
    /// its fixture by [`Self::at`].
    const CROSSES_PROCESSES: bool;
    /// Whether an undisturbed wire treats all connections alike in the long run. On a wire that
    /// loses datagrams at random, some connections fall behind for long.
    const IS_STEADY: bool = true;

    /// Makes the fixture of one test. Other tests run at the same time.
    fn new() -> Self;

    /// Returns the description of this fixture. Another process makes a fixture from the
    /// description. The NICs of that fixture reach the NICs of this fixture.
    fn place(&self) -> String {
        String::new()
    }

    /// Makes a fixture in another process, from the description that [`Self::place`] returned.
    fn at(place: &str) -> Self {
        let _ = place;
        Self::new()
    }

    /// Opens a new NIC. The NICs of one side reach the NICs of the other side.
    fn nic(&self, side: Side) -> Nic;

    /// Returns a new discriminator for a listener.
    fn discriminator(&self) -> String;

    /// Returns the address by which the requesting side reaches a listener.
    fn address(&self, listener: &Listener) -> String {
        listener.address()
    }

    /// Returns the wire, if tests can control it.
    fn wire(&self) -> Option<&dyn Wire> {
        None
    }
}

/// A fixture of any type. Statements use this trait, so that they are compiled once for all
/// providers.
trait Opens: Send + Sync {
    fn place(&self) -> String;
    fn nic(&self, side: Side) -> Nic;
    fn discriminator(&self) -> String;
    fn address(&self, listener: &Listener) -> String;
    fn wire(&self) -> Option<&dyn Wire>;
}

impl<F: Fixture> Opens for F {
    fn place(&self) -> String {
        Fixture::place(self)
    }

    fn nic(&self, side: Side) -> Nic {
        Fixture::nic(self, side)
    }

    fn discriminator(&self) -> String {
        Fixture::discriminator(self)
    }

    fn address(&self, listener: &Listener) -> String {
        Fixture::address(self, listener)
    }

    fn wire(&self) -> Option<&dyn Wire> {
        Fixture::wire(self)
    }
}

/// One test of one statement.
pub struct Run {
    /// The fixture, made for this test.
    fixture: Box<dyn Opens>,
    /// The path of the module with this provider's tests, which another process needs to start the
    /// same tests.
    module: &'static str,
    /// The features that the provider lacks. This field and the next three are the constants of
    /// [`Fixture`].
    lacks: &'static [MissingFeature],
    silence: Duration,
    crosses_processes: bool,
    is_steady: bool,
}

impl Run {
    /// Makes the run of one test with this fixture. `module` is the path of the module with the
    /// tests.
    fn new<F: Fixture>(fixture: F, module: &'static str) -> Self {
        Self {
            fixture: Box::new(fixture),
            module,
            lacks: F::MISSING,
            silence: F::SILENCE,
            crosses_processes: F::CROSSES_PROCESSES,
            is_steady: F::IS_STEADY,
        }
    }

    /// Whether the provider lacks a feature.
    pub fn lacks(&self, lack: MissingFeature) -> bool {
        self.lacks.contains(&lack)
    }

    /// Returns the reliable levels that the provider supports.
    pub fn reliable_levels(&self) -> Vec<Reliability> {
        let levels = [Reliability::ReliableDelivery, Reliability::ReliableReception];
        let levels: Vec<_> = levels.into_iter().filter(|level| !self.lacks(MissingFeature::Level(*level))).collect();
        assert!(!levels.is_empty(), "a provider without any reliability carries nothing that could be checked");
        levels
    }

    /// Returns all rights that regions of this provider can give.
    pub fn access(&self) -> Access {
        Access { write: !self.lacks(MissingFeature::RdmaWrite), read: !self.lacks(MissingFeature::RdmaRead) }
    }
}

/// Makes a module with a test of every statement for a fixture: `conformance!(udp, Udp)`.
#[macro_export]
macro_rules! conformance {
    ($module:ident, $fixture:ty) => {
        mod $module {
            #[allow(unused_imports)]
            use super::*;
            $crate::for_each_statement!($crate::one_test, $fixture);

            /// Carries out the task of a process that a test has started. In a usual test run there
            /// is no task, and the test has no effect.
            #[test]
            fn task_of_another_process() {
                $crate::tasks::main::<$fixture>();
            }

            $crate::in_full!($fixture);
        }
    };
}

/// Makes the full test of statement 49, which `cargo xtask conformance --full` runs.
#[macro_export]
macro_rules! in_full {
    ($fixture:ty) => {
        /// Statement 49 in full.
        #[test]
        #[ignore = "takes minutes"]
        fn s49_ten_gigabytes() {
            let long = std::time::Duration::from_secs(3600);
            $crate::watchdog::run_within::<$fixture>(long, module_path!(), |run| {
                let began = std::time::Instant::now();
                $crate::statements::load::volume(run, $crate::statements::load::full_volume());
                let took = began.elapsed();
                println!("{}: {}", module_path!(), $crate::statements::load::rate(took));
            })
            .unwrap();
        }
    };
}

/// A test of one statement.
#[doc(hidden)]
#[macro_export]
macro_rules! one_test {
    ($name:ident, $fixture:ty) => {
        #[test]
        fn $name() {
            $crate::watchdog::run::<$fixture>(module_path!(), $crate::statements::$name).unwrap();
        }
    };
}
