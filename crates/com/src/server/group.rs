//! What the associations of a group have in common: their client process, where it has said nothing of itself.

use crate::runtime;
use obvia_rpc::co::{Group, Groups};
use obvia_rpc::security::Principal;
use obvia_rpc::status::Status;
use obvia_via::window::Peer;
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum number of users with names for whom the associations of one group make calls at a time.
const USERS_MAX: usize = 64;

/// The client process of a group, known by its host, or by its number on this host. It makes calls for users, each of whom is a client of its own: a user
/// who knows the number of a group cannot use what is kept for another user.
#[derive(Debug)]
pub(crate) struct Fellowship {
    peer: Peer,
    users: Mutex<Vec<(Option<Arc<Principal>>, u64)>>,
}

impl Fellowship {
    /// The group that a client asks for, or a new group for 0. `None` where there is no such group, or it is another client's.
    pub(super) fn join(groups: &Groups<Self>, wanted: u32, peer: &Peer) -> Option<Arc<Group<Self>>> {
        if wanted == 0 {
            // The number is no secret, but need not be guessed easily.
            let first = runtime::draw().ok()? as u32;
            return Some(groups.found(Some(first), Self { peer: peer.clone(), users: Mutex::default() }));
        }
        groups.find(wanted).filter(|group| group.shared().peer == *peer)
    }

    /// The client that makes calls for a user, or for nobody in particular: a number that this process makes up.
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
