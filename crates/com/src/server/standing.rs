//! The way in which a connection is counted: by a place at the entrance, as a local setup, or not
//! at all.

use super::entrance::Place;
use super::held::Held;
use super::local_setups::LocalSetup;
use obvia_rpc::status::Status;

/// The way in which a connection is counted.
pub(crate) enum Standing {
    /// A connection from a network. It has a place at the entrance as long as it exists.
    Remote(Place),
    /// A connection of another user's process. It is counted as a local setup until its client has
    /// introduced itself or bound.
    Local(LocalSetup),
    /// The connection is not counted: the client runs as the server's own user or as the superuser,
    /// or the connection is part of an association, which itself has a standing.
    Uncounted,
}

impl Standing {
    /// Returns the standing of a local connection.
    pub(super) fn local(setup: Option<LocalSetup>) -> Self {
        setup.map_or(Self::Uncounted, Self::Local)
    }

    /// Returns the share of memory that the clients of the client's host or user use together, if
    /// there is a limit.
    pub(super) fn held(&self) -> Option<&Held> {
        match self {
            Self::Remote(place) => Some(&place.held),
            Self::Local(setup) => Some(&setup.held),
            Self::Uncounted => None,
        }
    }

    /// Records that the client has bound, introduced itself or authenticated.
    pub(super) fn is_bound(&self) {
        match self {
            Self::Remote(place) => place.is_bound(),
            Self::Local(setup) => drop(setup.leave()),
            Self::Uncounted => {}
        }
    }

    /// Records that the client makes a permitted call. Takes no lock after the first call.
    ///
    /// # Errors
    ///
    /// [`Status::SERVER_TOO_BUSY`] if the connection has yielded its place to another connection.
    /// The call must not run then, since the connection is about to end.
    pub(super) fn note_call(&self) -> Result<(), Status> {
        let has_place = match self {
            Self::Remote(place) => place.has_called(),
            Self::Local(setup) => setup.leave(),
            Self::Uncounted => true,
        };
        if has_place { Ok(()) } else { Err(Status::SERVER_TOO_BUSY) }
    }
}
