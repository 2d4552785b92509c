//! The entries of one client in the tables of references.

use super::super::OUT_OF_RESOURCES;
use super::{Client, SourcedClient};
use obvia_rpc::status::Status;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use windows_core::GUID;

/// The interface pointers to which one client has references, and the client's ping sets.
#[derive(Debug, Default)]
pub(super) struct Share {
    pub(super) ipids: HashSet<GUID>,
    pub(super) sets: HashSet<u64>,
    /// The number of objects in the client's ping sets. An object counts once for each set that
    /// contains it.
    pub(super) pinged: usize,
    /// The client that passed the first references on to this client, until this client is
    /// connected.
    pub(super) giver: Option<SourcedClient>,
}

/// Returns the entries of a client. Makes empty entries for a new client, if fewer than `most`
/// clients have entries.
pub(super) fn share(shares: &mut HashMap<Client, Share>, most: usize, client: Client) -> Result<&mut Share, Status> {
    let count = shares.len();
    match shares.entry(client) {
        Entry::Occupied(entry) => Ok(entry.into_mut()),
        Entry::Vacant(_) if count >= most => Err(OUT_OF_RESOURCES),
        Entry::Vacant(entry) => Ok(entry.insert(Share::default())),
    }
}
