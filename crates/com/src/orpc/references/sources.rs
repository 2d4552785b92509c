//! Clients with their users or hosts, and counts for each client and each user or host.

use super::{Client, SourceLimits};
use obvia_rpc::counts::Counts;

/// A client and its source: the client's user or host. All clients of one source share limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourcedClient {
    /// The client.
    pub client: Client,
    /// A number for the client's user or host, since one user or host can appear as many clients.
    /// `None` if the clients of this user share no limit.
    pub source: Option<u64>,
}

/// The number of entries of one kind, such as sets, that clients have made: counted for each
/// client, and for each source of clients.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SourceCounts {
    by_client: Counts<Client>,
    by_source: Counts<u64>,
}

impl SourceCounts {
    /// Whether no entry is counted.
    pub fn is_empty(&self) -> bool {
        self.by_client.all() == 0
    }

    /// Whether a client may make one more entry.
    pub fn has_room(&self, SourcedClient { client, source }: SourcedClient, limits: SourceLimits) -> bool {
        let SourceLimits { per_client, per_source, all } = limits;
        let has_source_room = source.is_none_or(|source| self.by_source.of(&source) < per_source);
        has_source_room && self.by_client.room(&client, per_client, all) > 0
    }

    /// Counts one more entry of a client.
    pub fn add(&mut self, SourcedClient { client, source }: SourcedClient) {
        self.by_client.add(client, 1);
        source.into_iter().for_each(|source| self.by_source.add(source, 1));
    }

    /// Counts one entry less of a client. The entry must have been counted.
    pub fn remove(&mut self, SourcedClient { client, source }: SourcedClient) {
        self.by_client.subtract(client, 1);
        source.into_iter().for_each(|source| self.by_source.subtract(source, 1));
    }
}
