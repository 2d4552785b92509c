//! The table of the measured systems.

use crate::client;
use crate::system::{self, Place, Ready, System};
use obvia_bench::calls::Caller;
use obvia_bench::{Error, Wait};

/// A system in the table of all systems.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// The waiting policies with which the system is measured.
    pub(crate) waits: &'static [Wait],
    pub(crate) serve: fn(&Place, Ready<'_>) -> Result<(), Error>,
    /// Starts a thread that connects as a client.
    pub(crate) start: fn(&Place, u32) -> Result<Caller, Error>,
}

impl Entry {
    const fn of<S: System>(name: &'static str, waits: &'static [Wait]) -> Self {
        Self { name, waits, serve: S::serve, start: client::start::<S> }
    }

    /// Returns the system with the given name.
    pub(crate) fn named(name: &str) -> Result<&'static Self, Error> {
        ENTRIES.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let names: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
            Error::Usage { message: format!("there is no system `{name}`, only {}", names.join(", ")) }
        })
    }
}

/// The name of the system with which the other systems are compared.
pub(crate) const OBVIA: &str = "obvia";

/// All systems, in the order of the reports.
pub(crate) const ENTRIES: &[Entry] = &[
    Entry::of::<system::obvia::Obvia>(OBVIA, &[Wait::Adaptive, Wait::Poll, Wait::Block]),
    Entry::of::<system::unix::Unix>("unix", &[Wait::Block]),
    Entry::of::<system::capnp::CapnProto>("capnp", &[Wait::Block]),
    Entry::of::<system::grpc::Grpc>("grpc", &[Wait::Block]),
    Entry::of::<system::tarpc::Tarpc>("tarpc", &[Wait::Block]),
    Entry::of::<system::zbus::Zbus>("zbus", &[Wait::Block]),
    Entry::of::<system::iceoryx2::Iceoryx2>("iceoryx2", &[Wait::Poll, Wait::Block]),
];
