//! The standing of a connection at the limits for clients that have not called.

use super::entrance::Place;
use super::local_setups::LocalSetup;
use crate::types::threads::lock;
use std::sync::Mutex;

/// The standing of a connection.
pub(crate) enum Standing {
    /// A connection from a network has a place as long as it lasts.
    Remote(Place),
    /// A connection of another user's process is counted until its client has introduced itself or
    /// bound. Other local connections are not counted.
    Local(Mutex<Option<LocalSetup>>),
}

impl Standing {
    /// Returns the standing of a local connection.
    pub(super) fn local(setup: Option<LocalSetup>) -> Self {
        Self::Local(Mutex::new(setup))
    }

    /// Returns the place of a connection from a network.
    pub(super) fn place(&self) -> Option<&Place> {
        match self {
            Self::Remote(place) => Some(place),
            Self::Local(_) => None,
        }
    }

    /// Notes that the client has bound, introduced itself or authenticated.
    pub(super) fn is_bound(&self) {
        match self {
            Self::Remote(place) => place.is_bound(),
            Self::Local(setup) => {
                let setup = lock(setup).take();
                drop(setup);
            }
        }
    }

    /// Notes that the client has made a permitted call. Takes no lock after the first one.
    pub(super) fn has_called(&self) {
        if let Self::Remote(place) = self {
            place.has_called();
        }
    }
}
