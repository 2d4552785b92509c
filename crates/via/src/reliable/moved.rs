//! The packets of a client whose address may have changed on the way, as address translators (NAT)
//! change it.
//!
//! A client that receives nothing says that it may have moved. If its address is still the same,
//! the packet arrives at the connection, which ignores it. Otherwise the packet arrives at the
//! listener, which sends a token to the new address. Once the client has returned the token, the
//! listener has the connection send to the new address.
//!
//! The packet also arrives at a listener that does not know the connection, for example after a
//! restart of the server's process. This listener answers by a rejection. The rejection may be
//! forged, so it only counts as a hint, like a host's report of a closed port.

use super::packet::{self, Body, Header, MOVED_LENGTH, REJECTION_LENGTH, RETRY_LENGTH, TOKEN, Token};

/// A listener's judgement of a client's claim that it may have moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claimed {
    /// No connection of the listener has the id.
    Unknown,
    /// The connection is another client's, or must not move to the client's address.
    Forbidden,
    /// The connection may move.
    Allowed,
}

/// The answer of a listener, as a client has to react to it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ClaimAnswer {
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
pub(crate) fn answer(ids: [u64; 2], datagram: &[u8]) -> Option<ClaimAnswer> {
    if datagram.len() != RETRY_LENGTH && !packet::may_be_rejection(datagram) {
        return None;
    }
    let (header, body) = packet::parse(datagram).ok()?;
    match body {
        _ if header.to != ids[0] => None,
        Body::Retry { token } => claim_with(token, ids).map(ClaimAnswer::Return),
        Body::Reject { .. } => Some(ClaimAnswer::Unknown),
        _ => None,
    }
}

/// Returns the packet by which a listener says to a client with this id that it does not know the
/// connection.
pub(crate) fn rejection(client: u64) -> Option<[u8; REJECTION_LENGTH]> {
    let mut rejection = [0; REJECTION_LENGTH];
    packet::write(&mut rejection, &header(client), &Body::Reject { why: "" }).ok()?;
    Some(rejection)
}

fn claim_with(token: Token, [from, to]: [u64; 2]) -> Option<[u8; MOVED_LENGTH]> {
    let mut claim = [0; MOVED_LENGTH];
    packet::write(&mut claim, &header(to), &Body::Moved { from, token }).ok()?;
    Some(claim)
}

fn header(to: u64) -> Header {
    Header { to, number: 0, ack: 0, sack: 0, window: 0 }
}

#[cfg(test)]
mod tests {
    use super::{ClaimAnswer, answer, claim, header, rejection};
    use crate::reliable::packet::{self, Body};

    const IDS: [u64; 2] = [5, 9];

    #[test]
    fn only_an_intact_rejection_with_the_clients_id_and_no_text_says_that_a_connection_is_unknown() {
        let right = rejection(IDS[0]).unwrap();
        assert_eq!(answer(IDS, &right), Some(ClaimAnswer::Unknown));
        for other in [rejection(IDS[1]).unwrap(), { right.map(|byte| byte ^ 1) }] {
            assert_eq!(answer(IDS, &other), None);
        }
        let mut with_text = [0; 64];
        let length = packet::write(&mut with_text, &header(IDS[0]), &Body::Reject { why: "no" }).unwrap();
        assert_eq!(answer(IDS, &with_text[..length]), None);
        assert_eq!(answer(IDS, &claim(IDS).unwrap()), None);
    }
}
