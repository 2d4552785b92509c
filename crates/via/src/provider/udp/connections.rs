//! The connections of a listener, whose clients may move.

use crate::sync::lock;
use rustix::fd::OwnedFd;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

/// The open connections, by the ids of this end.
#[derive(Debug, Default)]
pub(super) struct Connections(Mutex<HashMap<u64, Connection>>);

#[derive(Debug)]
struct Connection {
    client_id: u64,
    fd: Arc<OwnedFd>,
    client: Arc<Mutex<SocketAddr>>,
}

impl Connections {
    /// Adds a connection by its ids: that of this end, and that of the client at `client`.
    pub(super) fn add(&self, [own, client_id]: [u64; 2], fd: &Arc<OwnedFd>, client: &Arc<Mutex<SocketAddr>>) {
        let connection = Connection { client_id, fd: Arc::clone(fd), client: Arc::clone(client) };
        lock(&self.0).insert(own, connection);
    }

    pub(super) fn remove(&self, own: u64) {
        // The file is closed without the lock.
        let removed = lock(&self.0).remove(&own);
        drop(removed);
    }

    /// Returns the client's id of a connection whose client may move to `to`, which is another port
    /// of its host. Access rules know the client by its host.
    pub(super) fn client_at(&self, own: u64, to: SocketAddr) -> Option<u64> {
        let connections = lock(&self.0);
        let connection = connections.get(&own)?;
        let known = *lock(&connection.client);
        (known.ip().to_canonical() == to.ip().to_canonical() && known != to).then_some(connection.client_id)
    }

    /// Has a connection send to `to`, and receive from there.
    pub(super) fn move_to(&self, own: u64, to: SocketAddr) {
        let connections = lock(&self.0);
        let Some(connection) = connections.get(&own) else { return };
        if rustix::net::connect(&connection.fd, &to).is_ok() {
            *lock(&connection.client) = to;
        }
    }
}
