//! The packets of a client whose address may have changed on the way, as address translators (NAT)
//! change it.
//!
//! A client that hears nothing says that it may have moved. If its address is still the same, the
//! packet arrives at the connection, which ignores it. Otherwise it arrives at the listener, which
//! sends a token to the new address. Once the client has returned the token, the listener has the
//! connection send there.

use super::packet::{self, Body, Header, MOVED_LENGTH, RETRY_LENGTH, TOKEN, Token};

/// Returns the packet by which a client says that it may have moved. `ids` are the connection's:
/// the client's and the peer's.
pub(crate) fn claim(ids: [u64; 2]) -> Option<[u8; MOVED_LENGTH]> {
    claim_with([0; TOKEN], ids)
}

/// Returns the answer of a client to a datagram that gives it a token.
pub(crate) fn answer(ids: [u64; 2], datagram: &[u8]) -> Option<[u8; MOVED_LENGTH]> {
    if datagram.len() != RETRY_LENGTH {
        return None;
    }
    match packet::parse(datagram) {
        Ok((header, Body::Retry { token })) if header.to == ids[0] => claim_with(token, ids),
        _ => None,
    }
}

fn claim_with(token: Token, [from, to]: [u64; 2]) -> Option<[u8; MOVED_LENGTH]> {
    let header = Header { to, number: 0, ack: 0, sack: 0, window: 0 };
    let mut claim = [0; MOVED_LENGTH];
    packet::write(&mut claim, &header, &Body::Moved { from, token }).ok()?;
    Some(claim)
}
