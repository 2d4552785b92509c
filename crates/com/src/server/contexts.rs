//! The states that a server keeps for its clients, by client and name.

use crate::orpc::ClientNumber;
use crate::types::threads::lock;
use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// A state that a server keeps for a client. The last user of the state drops it.
pub(crate) type State = Arc<dyn Any + Send + Sync>;

/// The states, by client. The states of calls within this process have no client.
#[derive(Default)]
pub(crate) struct Contexts(Mutex<HashMap<Option<ClientNumber>, HashMap<u128, State>>>);

impl Contexts {
    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<Option<ClientNumber>, HashMap<u128, State>>> {
        lock(&self.0)
    }

    /// Returns the number of states that are kept for a client.
    pub(crate) fn kept_for(&self, client: ClientNumber) -> usize {
        self.lock().get(&Some(client)).map_or(0, HashMap::len)
    }

    /// Removes the states of a client that is gone. The result must be dropped while no lock is
    /// held, since its drop runs programs' code.
    pub(crate) fn end_client(&self, client: ClientNumber) -> impl Sized + use<> {
        self.lock().remove(&Some(client))
    }
}
