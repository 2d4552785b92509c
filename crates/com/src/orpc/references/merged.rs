//! The clients whose references have moved to other clients.

use super::Client;
use std::collections::VecDeque;

/// The greatest number of moved clients that are remembered. The oldest leaves first.
pub(super) const MERGED_MAX: usize = 1024;

/// Clients whose references have moved, each with the client that has them now. References
/// that were counted for the former client may still be released for it.
#[derive(Debug, Default)]
pub(super) struct Merged(VecDeque<(Client, Client)>);

impl Merged {
    /// Returns the client that has the references of a moved client.
    pub(super) fn heir(&self, client: Client) -> Option<Client> {
        self.0.iter().find(|(from, _)| *from == client).map(|(_, to)| *to)
    }

    /// Records that the references of a client have moved.
    pub(super) fn add(&mut self, from: Client, to: Client) {
        if self.0.len() >= MERGED_MAX {
            self.0.pop_front();
        }
        self.0.push_back((from, to));
    }

    /// Forgets the clients whose references have moved to a client that is gone.
    pub(super) fn forget(&mut self, to: Client) {
        self.0.retain(|(_, heir)| *heir != to);
    }
}
