//! The table of the measured systems.

use crate::caller::Caller;
use crate::peer::{self, Peer, Place, Ready};
use obvia_bench::{Error, Wait};

/// A system in the table of all systems.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// The waiting policies with which the system is measured.
    pub(crate) waits: &'static [Wait],
    pub(crate) serve: fn(&Place, Ready<'_>) -> Result<(), Error>,
    pub(crate) call: fn(&Place, u32) -> Result<Caller, Error>,
}

impl Entry {
    const fn of<P: Peer + 'static>(name: &'static str, waits: &'static [Wait]) -> Self {
        Self { name, waits, serve: P::serve, call: Caller::start::<P> }
    }

    /// Returns the system with the given name.
    pub(crate) fn named(name: &str) -> Result<&'static Self, Error> {
        ENTRIES.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let names: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
            Error::Usage { message: format!("there is no peer `{name}`, only {}", names.join(", ")) }
        })
    }
}

/// The name of the system that the others are compared with.
pub(crate) const OBVIA: &str = "obvia";

/// All systems, in the order of the reports.
pub(crate) const ENTRIES: &[Entry] = &[
    Entry::of::<peer::obvia::Obvia>(OBVIA, &[Wait::Adaptive, Wait::Poll, Wait::Block]),
    Entry::of::<peer::unix::Unix>("unix", &[Wait::Block]),
    Entry::of::<peer::capnp::CapnProto>("capnp", &[Wait::Block]),
    Entry::of::<peer::grpc::Grpc>("grpc", &[Wait::Block]),
    Entry::of::<peer::tarpc::Tarpc>("tarpc", &[Wait::Block]),
    Entry::of::<peer::zbus::Zbus>("zbus", &[Wait::Block]),
    Entry::of::<peer::iceoryx2::Iceoryx2>("iceoryx2", &[Wait::Poll, Wait::Block]),
];
