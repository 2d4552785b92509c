//! The clients whose references have moved to other clients.

use super::Client;
use std::collections::{HashMap, VecDeque};

/// The greatest number of former clients that are remembered for the client to which their
/// references have moved. The oldest is forgotten first.
pub(super) const MERGED_MAX: usize = 64;

/// The clients whose references have moved, each with the client that has the references now. Calls
/// that release references can still name the former client.
#[derive(Debug, Default)]
pub(super) struct Merged {
    heirs: HashMap<Client, Client>,
    /// For each client to which references have moved, the former clients of these references, the
    /// oldest first.
    // Invariant: the lists contain exactly the entries of `heirs`.
    moved: HashMap<Client, VecDeque<Client>>,
}

impl Merged {
    /// Returns the client to which the references of `client` have moved; `None` if they have not
    /// moved.
    pub(super) fn heir(&self, client: Client) -> Option<Client> {
        self.heirs.get(&client).copied()
    }

    /// Records that the references of the client `from` have moved to the client `to`.
    pub(super) fn add(&mut self, from: Client, to: Client) {
        if let Some(former) = self.heirs.insert(from, to) {
            self.moved.entry(former).or_default().retain(|moved| *moved != from);
        }
        let moved = self.moved.entry(to).or_default();
        if moved.len() >= MERGED_MAX
            && let Some(oldest) = moved.pop_front()
        {
            self.heirs.remove(&oldest);
        }
        moved.push_back(from);
    }

    /// Forgets the clients whose references have moved to a client that is gone.
    pub(super) fn forget(&mut self, to: Client) {
        for moved in self.moved.remove(&to).into_iter().flatten() {
            self.heirs.remove(&moved);
        }
    }
}
