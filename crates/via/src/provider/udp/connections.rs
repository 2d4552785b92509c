//! The connections of a listener, whose clients may move.

use crate::reliable::moved::{self, ReceivedSeals};
use crate::reliable::packet::MoveSeal;
use crate::reliable::{Claimed, MoveKey};
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
    // The minimum time of a token that moves the connection. An older token has no effect.
    next_token: u64,
    // The seals of the client's claims; `None` if the connection has no key.
    seals: Option<ReceivedSeals>,
    // Whether the connection moves only by sealed claims.
    requires_seals: bool,
}

impl Connections {
    /// Adds a connection by the ids of this end and of the client, whose address is `client`.
    pub(super) fn add(&self, [own, client_id]: [u64; 2], fd: &Arc<OwnedFd>, client: &Arc<Mutex<SocketAddr>>) {
        let (fd, client) = (Arc::clone(fd), Arc::clone(client));
        let connection = Connection { client_id, fd, client, next_token: 0, seals: None, requires_seals: false };
        lock(&self.0).insert(own, connection);
    }

    pub(super) fn remove(&self, own: u64) {
        // The file is closed after the lock is released.
        let removed = lock(&self.0).remove(&own);
        drop(removed);
    }

    /// Verifies the seals of a connection's claims with this key from now on.
    pub(super) fn seal_moves(&self, own: u64, key: &MoveKey) {
        if let Some(connection) = lock(&self.0).get_mut(&own) {
            connection.seals = Some(ReceivedSeals::new(key.clone()));
        }
    }

    /// Lets a connection move only by sealed claims from now on.
    pub(super) fn require_seals(&self, own: u64) {
        if let Some(connection) = lock(&self.0).get_mut(&own) {
            connection.requires_seals = true;
        }
    }

    /// Takes a datagram that the connection with these ids has received. A sealed claim shows that
    /// the client is still at its address. The claim's seal is used up here, so copies that arrive
    /// later from another address have no effect. Datagrams that are no sealed claims are dropped
    /// without the lock: their source may be forged, and the other connections need the lock.
    pub(super) fn note_claim(&self, ids: [u64; 2], datagram: &[u8]) {
        let Some(seal) = moved::seal_of(ids, datagram) else { return };
        if let Some(Connection { seals: Some(seals), requires_seals, .. }) = lock(&self.0).get_mut(&ids[0]) {
            *requires_seals |= seals.take(Some(seal), datagram);
        }
    }

    /// Judges a claim, given as seal and packet: the client of the connection with these ids claims
    /// to be at `to` now. The connection may move only to another port of its client's host,
    /// because access rules know the client by its host. A claim from the address to which the
    /// connection has already moved moves nothing, but its seal is used up.
    pub(super) fn judge(
        &self,
        [own, client_id]: [u64; 2],
        to: SocketAddr,
        (seal, claim): (Option<MoveSeal>, &[u8]),
    ) -> Claimed {
        let mut connections = lock(&self.0);
        let Some(connection) = connections.get_mut(&own) else { return Claimed::Unknown };
        let known = *lock(&connection.client);
        let may_be_clients = connection.client_id == client_id && host(known) == host(to);
        let is_sealed = |seals: &mut ReceivedSeals| seals.take(seal, claim);
        // The seal is used up even if the connection does not require one.
        let is_sealed = may_be_clients && connection.seals.as_mut().is_some_and(is_sealed);
        // The seal shows that the client has the key, so its later claims must be sealed.
        connection.requires_seals |= is_sealed;
        let is_clients = may_be_clients && (is_sealed || !connection.requires_seals);
        if is_clients && known != to { Claimed::Allowed } else { Claimed::Forbidden }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reliable::moved::{Claims, seal_of};
    use std::net::UdpSocket;

    /// The ids of the server's end and of the client.
    const IDS: [u64; 2] = [9, 5];

    /// Judges a claim that the client of the connection is at this port now.
    fn judged(connections: &Connections, claim: &[u8], port: u16) -> Claimed {
        connections.judge(IDS, SocketAddr::from(([127, 0, 0, 1], port)), (seal_of(IDS, claim), claim))
    }

    /// Makes a connection whose client is at port 1000.
    fn connections() -> Connections {
        let connections = Connections::default();
        let fd = Arc::new(UdpSocket::bind("127.0.0.1:0").unwrap().into());
        connections.add(IDS, &fd, &Arc::new(Mutex::new(SocketAddr::from(([127, 0, 0, 1], 1000)))));
        connections
    }

    #[test]
    #[cfg_attr(miri, ignore = "makes sockets")]
    fn copies_of_claims_that_the_connection_has_received_move_nothing() {
        let (connections, mut claims, key) = (connections(), Claims::default(), MoveKey::new(&[7; 32]));
        let unsealed = claims.claim([5, 9]).unwrap();
        assert_eq!(judged(&connections, &unsealed, 1001), Claimed::Allowed);
        connections.seal_moves(9, &key);
        connections.require_seals(9);
        claims.seal_with(key);
        let [first, second, third] = [0; 3].map(|_| claims.claim([5, 9]).unwrap());
        assert_eq!(judged(&connections, &unsealed, 1001), Claimed::Forbidden);
        // Datagrams that are no claims about this connection leave the seals as they were.
        let of_others = [[5, 8], [6, 9]].map(|ids| claims.claim(ids).unwrap());
        for datagram in [&unsealed[..], &[0; 96], &of_others[0], &of_others[1]] {
            connections.note_claim(IDS, datagram);
        }
        connections.note_claim(IDS, &second);
        for (claim, verdict) in
            [(&first, Claimed::Forbidden), (&second, Claimed::Forbidden), (&third, Claimed::Allowed)]
        {
            assert_eq!(judged(&connections, claim, 1001), verdict);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "makes sockets")]
    fn until_the_client_has_shown_its_key_claims_move_without_a_seal_and_use_their_seal() {
        let (connections, mut claims, key) = (connections(), Claims::default(), MoveKey::new(&[7; 32]));
        let unsealed = claims.claim([5, 9]).unwrap();
        connections.seal_moves(9, &key);
        assert_eq!(judged(&connections, &unsealed, 1001), Claimed::Allowed);
        claims.seal_with(key);
        let [first, second] = [0; 2].map(|_| claims.claim([5, 9]).unwrap());
        assert_eq!(judged(&connections, &first, 1001), Claimed::Allowed);
        for (claim, verdict) in
            [(&unsealed, Claimed::Forbidden), (&first, Claimed::Forbidden), (&second, Claimed::Allowed)]
        {
            assert_eq!(judged(&connections, claim, 1001), verdict);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "makes sockets")]
    fn copies_of_claims_that_the_listener_reads_after_the_move_move_nothing() {
        let (connections, mut claims, key) = (connections(), Claims::default(), MoveKey::new(&[7; 32]));
        connections.seal_moves(9, &key);
        connections.require_seals(9);
        claims.seal_with(key);
        let [mover, behind] = [0; 2].map(|_| claims.claim([5, 9]).unwrap());
        assert_eq!(judged(&connections, &mover, 1001), Claimed::Allowed);
        connections.move_to(9, SocketAddr::from(([127, 0, 0, 1], 1001)), 0);
        assert_eq!(judged(&connections, &behind, 1001), Claimed::Forbidden);
        assert_eq!(judged(&connections, &behind, 1002), Claimed::Forbidden, "a copy");
        let next = claims.claim([5, 9]).unwrap();
        assert_eq!(judged(&connections, &next, 1002), Claimed::Allowed);
    }
}
