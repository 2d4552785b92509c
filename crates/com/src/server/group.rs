//! The state that the associations of a group share: the identity of their client process, for
//! clients that have not introduced themselves.

use crate::types::identity;
use obvia_rpc::co::{Group, Groups};
use obvia_rpc::security::Principal;
use obvia_rpc::status::Status;
use obvia_via::window::Peer;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The client process of a group, identified by its host, or by its process id on this host. Each
/// principal for whom the process makes calls counts as a separate client. Thus a principal that
/// knows the number of a group cannot use the state of another principal.
#[derive(Debug)]
pub(crate) struct GroupClient {
    peer: Peer,
    /// The OXID that was made up for each user. An entry is removed when its client is gone. The
    /// number of entries is limited, since each client has an association of the group, and an
    /// association has a limited number of users.
    users: Mutex<HashMap<Option<Arc<Principal>>, u64>>,
}

impl GroupClient {
    fn users(&self) -> MutexGuard<'_, HashMap<Option<Arc<Principal>>, u64>> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the group with the number `wanted`, or a new group if `wanted` is 0. `None` if the
    /// group does not exist or belongs to another client process.
    pub(super) fn join(groups: &Groups<Self>, wanted: u32, peer: &Peer) -> Option<Arc<Group<Self>>> {
        if wanted == 0 {
            // The number of a group is no secret, but it should be hard to guess.
            let first = identity::draw().ok()? as u32;
            return Some(groups.found(Some(first), Self { peer: peer.clone(), users: Mutex::default() }));
        }
        groups.find(wanted).filter(|group| group.shared().peer == *peer)
    }

    /// Returns the OXID for the calls of a principal, or for anonymous calls if `user` is `None`.
    /// The OXID is made up at the first use.
    pub(crate) fn oxid_for(&self, user: Option<&Arc<Principal>>) -> Result<u64, Status> {
        match self.users().entry(user.cloned()) {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(new) => Ok(*new.insert(identity::draw().map_err(|_| Status::REMOTE_NO_MEMORY)?)),
        }
    }

    /// Removes the user whose client, with this OXID, is gone.
    pub(super) fn forget(&self, oxid: u64) {
        self.users().retain(|_, known| *known != oxid);
    }
}
