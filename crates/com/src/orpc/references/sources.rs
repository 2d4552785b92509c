//! The numbers of receivers. A receiver is a process that is not connected, and to which clients
//! have passed references.

use super::{Client, Limits};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

/// A client that passes references on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Giver {
    /// The client.
    pub client: Client,
    /// A number for the user or host behind the client. One user or host can appear as many
    /// clients. `None` for a client of a user without a limit of its own.
    pub source: Option<u64>,
}

/// The numbers of receivers, for each giver and for each source of givers.
// Invariant: no number in the maps is 0.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Receivers {
    by_client: HashMap<Client, usize>,
    by_source: HashMap<u64, usize>,
    all: usize,
}

impl Receivers {
    pub(super) fn is_empty(&self) -> bool {
        self.by_client.is_empty() && self.by_source.is_empty() && self.all == 0
    }

    /// Whether a giver may have another receiver.
    pub(super) fn has_room(&self, Giver { client, source }: Giver, limits: &Limits) -> bool {
        let of_client = self.by_client.get(&client).copied().unwrap_or_default();
        let of_source = source.and_then(|source| self.by_source.get(&source)).copied().unwrap_or_default();
        of_client < limits.receivers_per_client
            && of_source < limits.receivers_per_source
            && self.all < limits.receivers
    }

    /// Counts a receiver of a giver.
    pub(super) fn add(&mut self, Giver { client, source }: Giver) {
        *self.by_client.entry(client).or_default() += 1;
        source.into_iter().for_each(|source| *self.by_source.entry(source).or_default() += 1);
        self.all += 1;
    }

    /// Forgets a receiver of a giver, which was counted.
    pub(super) fn remove(&mut self, Giver { client, source }: Giver) {
        subtract(&mut self.by_client, client);
        source.into_iter().for_each(|source| subtract(&mut self.by_source, source));
        self.all -= 1;
    }
}

/// Subtracts 1 from a number. Removes the number if it becomes 0.
pub(super) fn subtract<K: Eq + Hash>(counts: &mut HashMap<K, usize>, key: K) {
    let Entry::Occupied(mut count) = counts.entry(key) else { return };
    *count.get_mut() -= 1;
    if *count.get() == 0 {
        count.remove();
    }
}
