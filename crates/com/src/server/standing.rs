//! The count to which a connection belongs: a place at the entrance, a local setup, or nothing.

use super::entrance::Place;
use super::local_setups::LocalSetup;
use crate::types::threads::lock;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The count to which a connection belongs.
pub(crate) enum Standing {
    /// A connection from a network has a place as long as it lasts.
    Remote(Place),
    /// A connection of another user's process is counted until its client has introduced itself or
    /// bound.
    Setup(Setup),
    /// No count: the process has the server's own user or is the superuser's, or the connection is
    /// part of an association, whose standing counts.
    Uncounted,
}

/// A local connection in setup, or after it.
pub(crate) struct Setup {
    counted: Mutex<Option<LocalSetup>>,
    /// Whether the connection yielded to another one before its setup was over.
    has_yielded: AtomicBool,
}

impl Standing {
    /// Returns the standing of a local connection.
    pub(super) fn local(setup: Option<LocalSetup>) -> Self {
        setup.map_or(Self::Uncounted, |setup| {
            Self::Setup(Setup { counted: Mutex::new(Some(setup)), has_yielded: AtomicBool::new(false) })
        })
    }

    /// Returns the place of a connection from a network.
    pub(super) fn place(&self) -> Option<&Place> {
        match self {
            Self::Remote(place) => Some(place),
            Self::Setup(_) | Self::Uncounted => None,
        }
    }

    /// Notes that the client has bound, introduced itself or authenticated.
    pub(super) fn is_bound(&self) {
        match self {
            Self::Remote(place) => place.is_bound(),
            Self::Setup(setup) => {
                let counted = lock(&setup.counted).take();
                if counted.is_some_and(|counted| !counted.leave()) {
                    setup.has_yielded.store(true, Ordering::Relaxed);
                }
            }
            Self::Uncounted => {}
        }
    }

    /// Notes that the client makes a permitted call. Returns false if the connection has yielded to
    /// another one: the call must not run, since the connection is about to end. Takes no lock
    /// after the first call.
    pub(super) fn has_called(&self) -> bool {
        match self {
            Self::Remote(place) => place.has_called(),
            Self::Setup(setup) => !setup.has_yielded.load(Ordering::Relaxed),
            Self::Uncounted => true,
        }
    }
}
