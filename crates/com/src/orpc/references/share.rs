//! The entries of one client in the tables of references.

use super::super::OUT_OF_RESOURCES;
use super::{Client, SourcedClient};
use obvia_rpc::status::Status;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use windows_core::GUID;

/// The entries of one client.
#[derive(Debug, Default)]
pub(super) struct Share {
    pub(super) ipids: HashSet<GUID>,
    pub(super) sets: HashSet<u64>,
    /// The number of objects in the client's sets. An object counts once in each set.
    pub(super) pinged: usize,
    /// The client that passed the first references on to this client, until this client is
    /// connected.
    pub(super) giver: Option<SourcedClient>,
}

/// Returns the entries of a client, which are made if the client is new. At most `most` clients can
/// have entries.
pub(super) fn share(shares: &mut HashMap<Client, Share>, most: usize, client: Client) -> Result<&mut Share, Status> {
    let count = shares.len();
    match shares.entry(client) {
        Entry::Occupied(entry) => Ok(entry.into_mut()),
        Entry::Vacant(_) if count >= most => Err(OUT_OF_RESOURCES),
        Entry::Vacant(entry) => Ok(entry.insert(Share::default())),
    }
}
