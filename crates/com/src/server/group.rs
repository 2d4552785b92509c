//! The state that the associations of a group share: the identity of their client process, for
//! clients that have not introduced themselves.

use crate::runtime;
use obvia_rpc::co::{Group, Groups};
use obvia_rpc::security::Principal;
use obvia_rpc::status::Status;
use obvia_via::window::Peer;
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum number of users with names for whom the associations of one group make calls at a
/// time.
const USERS_MAX: usize = 64;

/// The client process of a group, identified by its host, or by its process id on this host. Each
/// principal for whom it makes calls counts as a separate client. Thus a principal that knows the
/// number of a group cannot use the state of another principal.
#[derive(Debug)]
pub(crate) struct Fellowship {
    peer: Peer,
    users: Mutex<Vec<(Option<Arc<Principal>>, u64)>>,
}

impl Fellowship {
    /// Returns the group that a client asks for, or a new group where `wanted` is 0. `None` where
    /// the group does not exist or belongs to another client.
    pub(super) fn join(groups: &Groups<Self>, wanted: u32, peer: &Peer) -> Option<Arc<Group<Self>>> {
        if wanted == 0 {
            // The number is no secret, but it should be hard to guess.
            let first = runtime::draw().ok()? as u32;
            return Some(groups.found(Some(first), Self { peer: peer.clone(), users: Mutex::default() }));
        }
        groups.find(wanted).filter(|group| group.shared().peer == *peer)
    }

    /// Returns the client number for a principal, or for anonymous calls without one. This process
    /// makes the number up.
    pub(crate) fn client(&self, user: Option<&Arc<Principal>>) -> Result<u64, Status> {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = users.iter().find(|(known, _)| known.as_ref() == user) {
            return Ok(*client);
        }
        if users.len() == USERS_MAX {
            return Err(Status::REMOTE_NO_MEMORY);
        }
        let client = runtime::draw().map_err(|_| Status::REMOTE_NO_MEMORY)?;
        users.push((user.cloned(), client));
        Ok(client)
    }

    /// Removes the user of a client that is gone.
    pub(super) fn forget(&self, client: u64) {
        self.users.lock().unwrap_or_else(PoisonError::into_inner).retain(|(_, known)| *known != client);
    }
}
