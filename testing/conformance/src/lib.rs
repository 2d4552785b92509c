//! What every provider of virtual interfaces must do: fifty statements, each a test that any provider can be put to.
//!
//! A [`Fixture`] opens NICs of a provider; [`conformance!`] makes a test of every statement for it. What a provider cannot do,
//! its fixture says ([`Lack`]), and the statement then checks that it is refused with the documented error: nothing is skipped.
//! [`reference`] is a provider of the simplest kind that keeps all of them, and, on request, one that breaks some: the suite is
//! tested with it.

pub mod ends;
pub mod process;
pub mod reference;
pub mod statements;
pub mod watchdog;

use obvia_via::{Access, Deadline, Listener, Nic, Reliability};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Seconds that anything may take that is expected to happen.
static PATIENCE: AtomicU64 = AtomicU64::new(100);

/// A deadline for what is expected to happen, from the moment somebody waits for it.
pub fn soon() -> Deadline {
    Deadline::after_secs(patience())
}

/// How many seconds anything may take.
pub(crate) fn patience() -> u64 {
    PATIENCE.load(Ordering::Relaxed)
}

/// Says how many seconds anything may take. For tests of the suite itself, where much is waited for that never happens.
pub fn set_patience(seconds: u64) {
    PATIENCE.store(seconds, Ordering::Relaxed);
}

/// Which of the two NICs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The one that asks for connections.
    Asks,
    /// The one that listens.
    Listens,
}

/// Something that a provider does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// RDMA write.
    RdmaWrite,
    /// RDMA read.
    RdmaRead,
    /// A reliability level.
    Level(Reliability),
    /// Why an RDMA was refused: the connection is lost, without a word.
    Reasons,
}

/// What a wire does to datagrams, in thousandths of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Lost.
    pub lost: u32,
    /// Delivered twice.
    pub doubled: u32,
    /// Delivered after later ones.
    pub delayed: u32,
    /// Delivered with a bit changed.
    pub corrupted: u32,
}

/// The wire between a fixture's NICs, where a test can reach it.
pub trait Wire {
    /// Makes it bad, from now on.
    fn disturb(&self, faults: Faults);

    /// Cuts it, for good and in both directions, so that neither end is told.
    fn cut(&self);
}

/// How to open NICs of a provider.
pub trait Fixture: Sized + Send + Sync + 'static {
    /// What the provider does not have. NICs must say the same.
    const LACKS: &'static [Lack];
    /// Within what time an end learns that its peer is gone, at the latest, as the fixture configures its NICs.
    const SILENCE: Duration;
    /// Whether processes can reach each other: by [`Self::place`] and the address of a listener.
    const CROSSES_PROCESSES: bool;
    /// Whether the wire treats all connections alike as long as nobody disturbs it. On one that loses at random some fall behind.
    const IS_STEADY: bool = true;

    /// Makes what a test needs. Tests run at the same time, and each has its own.
    fn new() -> Self;

    /// What another process makes its fixture from, to reach this one's NICs.
    fn place(&self) -> String {
        String::new()
    }

    /// The fixture of a process that was started by one with that place.
    fn at(place: &str) -> Self {
        let _ = place;
        Self::new()
    }

    /// Opens a NIC, another one each time. The two sides reach each other.
    fn nic(&self, side: Side) -> Nic;

    /// What to listen on: another each time.
    fn discriminator(&self) -> String;

    /// The address by which the asking side reaches a listener.
    fn address(&self, listener: &Listener) -> String {
        listener.address()
    }

    /// The wire, if it can be made bad.
    fn wire(&self) -> Option<&dyn Wire> {
        None
    }
}

/// A fixture of any type, so that statements are compiled once for all providers.
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
    /// The fixture, made for it.
    fixture: Box<dyn Opens>,
    /// Where the tests of this provider are, as their program names them.
    module: &'static str,
    /// The constants of [`Fixture`].
    lacks: &'static [Lack],
    silence: Duration,
    crosses_processes: bool,
    is_steady: bool,
}

impl Run {
    /// A test with a fixture, in this module of its program.
    fn new<F: Fixture>(fixture: F, module: &'static str) -> Self {
        Self {
            fixture: Box::new(fixture),
            module,
            lacks: F::LACKS,
            silence: F::SILENCE,
            crosses_processes: F::CROSSES_PROCESSES,
            is_steady: F::IS_STEADY,
        }
    }

    /// Whether the provider has no such thing.
    pub fn lacks(&self, lack: Lack) -> bool {
        self.lacks.contains(&lack)
    }

    /// The reliability levels that it has, of those that lose nothing.
    pub fn reliable_levels(&self) -> Vec<Reliability> {
        let levels = [Reliability::ReliableDelivery, Reliability::ReliableReception];
        let levels: Vec<_> = levels.into_iter().filter(|level| !self.lacks(Lack::Level(*level))).collect();
        assert!(!levels.is_empty(), "a provider without any reliability carries nothing that could be checked");
        levels
    }

    /// All rights that regions of this provider can give.
    pub fn access(&self) -> Access {
        Access { write: !self.lacks(Lack::RdmaWrite), read: !self.lacks(Lack::RdmaRead) }
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

            /// What a test starts in another process; nothing otherwise.
            #[test]
            fn in_another_process() {
                $crate::process::main::<$fixture>();
            }

            $crate::in_full!($fixture);
        }
    };
}

/// Makes the test of statement 49 in full: `cargo xtask conformance --full` runs it.
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
