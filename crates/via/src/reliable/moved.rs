//! The packets of a client whose address may have changed on the way, as address translators (NAT)
//! change it.
//!
//! A client that hears nothing says that it may have moved. If its address is still the same, the
//! packet arrives at the connection, which ignores it. Otherwise it arrives at the listener, which
//! sends a token to the new address. Once the client has returned the token, the listener has the
//! connection send there.
//!
//! The packet also arrives at a listener that does not know the connection, because its process was
//! restarted on the port. This listener answers by a rejection. The rejection may be forged, so it
//! is a hint, as a host's report of a closed port is.

use super::packet::{self, Body, Header, MOVED_LENGTH, REJECTION_LENGTH, RETRY_LENGTH, TOKEN, Token};

/// How a listener knows the connection of a client that may have moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claimed {
    /// No connection has the listener's id.
    Unknown,
    /// The connection is another client's, or must not move to the client's address.
    Forbidden,
    /// The connection may move.
    Allowed,
}

/// The answer of a listener, as a client has to react to it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The client has to send this packet, which returns the listener's token.
    Return([u8; MOVED_LENGTH]),
    /// The listener does not know the connection.
    Unknown,
}

/// Returns the packet by which a client says that it may have moved. `ids` are the connection's:
/// the client's and the peer's.
pub(crate) fn claim(ids: [u64; 2]) -> Option<[u8; MOVED_LENGTH]> {
    claim_with([0; TOKEN], ids)
}

/// Returns the answer of a listener to a client, if the datagram is one.
pub(crate) fn answer(ids: [u64; 2], datagram: &[u8]) -> Option<Answer> {
    if datagram.len() != RETRY_LENGTH && !packet::may_be_rejection(datagram) {
        return None;
    }
    let (header, body) = packet::parse(datagram).ok()?;
    match body {
        _ if header.to != ids[0] => None,
        Body::Retry { token } => claim_with(token, ids).map(Answer::Return),
        Body::Reject { .. } => Some(Answer::Unknown),
        _ => None,
    }
}

/// Returns the packet by which a listener says to a client with this id that it does not know the
/// connection.
pub(crate) fn unknown(client: u64) -> Option<[u8; REJECTION_LENGTH]> {
    let header = Header { to: client, number: 0, ack: 0, sack: 0, window: 0 };
    let mut rejection = [0; REJECTION_LENGTH];
    packet::write(&mut rejection, &header, &Body::Reject { why: "" }).ok()?;
    Some(rejection)
}

fn claim_with(token: Token, [from, to]: [u64; 2]) -> Option<[u8; MOVED_LENGTH]> {
    let header = Header { to, number: 0, ack: 0, sack: 0, window: 0 };
    let mut claim = [0; MOVED_LENGTH];
    packet::write(&mut claim, &header, &Body::Moved { from, token }).ok()?;
    Some(claim)
}
