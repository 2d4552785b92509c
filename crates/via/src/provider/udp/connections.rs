//! The connections of a listener, whose clients may move.

use crate::reliable::Claimed;
use crate::sync::lock;
use rustix::fd::OwnedFd;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

/// The open connections, by the ids of this end.
#[derive(Debug, Default)]
pub(super) struct Connections(Mutex<HashMap<u64, Connection>>);

#[derive(Debug)]
struct Connection {
    client_id: u64,
    fd: Arc<OwnedFd>,
    client: Arc<Mutex<SocketAddr>>,
    // The time of the earliest token that moves the connection.
    next_token: u64,
}

impl Connections {
    /// Adds a connection by the ids of this end and of the client, whose address is `client`.
    pub(super) fn add(&self, [own, client_id]: [u64; 2], fd: &Arc<OwnedFd>, client: &Arc<Mutex<SocketAddr>>) {
        let connection = Connection { client_id, fd: Arc::clone(fd), client: Arc::clone(client), next_token: 0 };
        lock(&self.0).insert(own, connection);
    }

    pub(super) fn remove(&self, own: u64) {
        // The file is closed without the lock.
        let removed = lock(&self.0).remove(&own);
        drop(removed);
    }

    /// Judges a claim that the client of the connection with these ids is at `to` now. The
    /// connection may move only to another port of its client's host: access rules know the client
    /// by its host.
    pub(super) fn judge(&self, [own, client_id]: [u64; 2], to: SocketAddr) -> Claimed {
        let connections = lock(&self.0);
        let Some(connection) = connections.get(&own) else { return Claimed::Unknown };
        let known = *lock(&connection.client);
        if connection.client_id == client_id && host(known) == host(to) && known != to {
            Claimed::Allowed
        } else {
            Claimed::Forbidden
        }
    }

    /// Has a connection send to `to`, and receive from there. `time` is the time of the
    /// client's token: a token no newer than the last one has no effect.
    pub(super) fn move_to(&self, own: u64, to: SocketAddr, time: u64) {
        let mut connections = lock(&self.0);
        let Some(connection) = connections.get_mut(&own).filter(|connection| time >= connection.next_token) else {
            return;
        };
        if rustix::net::connect(&connection.fd, &to).is_ok() {
            *lock(&connection.client) = to;
            connection.next_token = time.saturating_add(1);
        }
    }
}

/// Returns the host of an address, with its zone.
fn host(address: SocketAddr) -> (IpAddr, u32) {
    let zone = if let SocketAddr::V6(address) = address { address.scope_id() } else { 0 };
    (address.ip().to_canonical(), zone)
}
