//! The packets of a client whose address may have changed on the way, as address translators (NAT)
//! change it.
//!
//! A client that receives nothing sends a packet that says that the client may have moved: a
//! *claim*. If the client's address is still the same, the packet arrives at the connection, which
//! does not move. Otherwise the packet arrives at the listener, which sends a token to the new
//! address. Once the client has returned the token, the listener has the connection send to the new
//! address.
//!
//! If a key protects the connection, the client seals each claim with a number. Once the client has
//! shown its key, a claim moves the connection only with a seal that was not used before. So
//! neither a stranger nor a copy of a claim turns the connection away from its client. If the
//! connection has read the original of a claim, a copy that arrives from another address is refused
//! as well, because the client has not moved.
//!
//! The packet also arrives at a listener that does not know the connection, for example after a
//! restart of the server's process. This listener answers by a rejection. The rejection may be
//! forged, so it only counts as a hint, like a host's report of a closed port.

use super::move_key::{CODE, MoveKey};
use super::packet::{self, Body, Header, MoveSeal, REJECTION_LENGTH, RETRY_LENGTH, SEALED_MOVED_LENGTH, TOKEN, Token};

/// The maximum number of tokens that a client with a key returns for each claim.
const RETURNS_MAX: u32 = 4;

/// The claims of a client.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    key: Option<MoveKey>,
    // The number of the next sealed claim.
    next: u64,
    // The number of tokens that may still be returned for the last claim.
    returns: u32,
}

impl Claims {
    /// Seals claims from now on.
    pub(crate) fn seal_with(&mut self, key: MoveKey) {
        self.key = Some(key);
    }

    /// Returns a claim of the client to have moved. `ids` are the connection's ids: the client's
    /// and the peer's.
    pub(crate) fn claim(&mut self, ids: [u64; 2]) -> Option<Vec<u8>> {
        self.returns = RETURNS_MAX;
        self.claim_with([0; TOKEN], ids)
    }

    /// Returns the packet that returns the token of the listener's answer to a claim. If the client
    /// has a key, `None` after [`RETURNS_MAX`] tokens for the last claim, so that strangers cannot
    /// make the client seal packets without limit. The client returns more than one token for a
    /// claim. Otherwise, a single forged answer could keep the client from returning the genuine
    /// token.
    pub(crate) fn return_token(&mut self, token: Token, ids: [u64; 2]) -> Option<Vec<u8>> {
        if self.key.is_some() {
            self.returns = self.returns.checked_sub(1)?;
        }
        self.claim_with(token, ids)
    }

    fn claim_with(&mut self, token: Token, [from, to]: [u64; 2]) -> Option<Vec<u8>> {
        let mut claim = vec![0; SEALED_MOVED_LENGTH];
        let mut seal = None;
        if let Some(key) = &self.key {
            let number = self.next;
            self.next = number.checked_add(1)?;
            let unsealed = Body::Moved { from, token, seal: Some(MoveSeal { number, code: [0; CODE] }) };
            packet::write(&mut claim, &header(to), &unsealed).ok()?;
            seal = Some(MoveSeal { number, code: key.seal(number, packet::sealed_part(&claim)?) });
        }
        let length = packet::write(&mut claim, &header(to), &Body::Moved { from, token, seal }).ok()?;
        claim.truncate(length);
        Some(claim)
    }
}

/// The seals of the claims that one end has received about a connection with a key.
#[derive(Debug)]
pub(crate) struct ReceivedSeals {
    key: MoveKey,
    // The lowest number of a claim whose seal does not count as used.
    next: u64,
}

impl ReceivedSeals {
    pub(crate) fn new(key: MoveKey) -> Self {
        Self { key, next: 0 }
    }

    /// Whether the client has sealed this claim, and the seal was not used before. If so, this seal
    /// and all earlier seals count as used from now on.
    pub(crate) fn take(&mut self, seal: Option<MoveSeal>, claim: &[u8]) -> bool {
        let Some(seal) = seal.filter(|seal| seal.number >= self.next) else { return false };
        let is_sealed =
            packet::sealed_part(claim).is_some_and(|part| self.key.has_sealed(seal.number, part, &seal.code));
        if is_sealed {
            self.next = seal.number.saturating_add(1);
        }
        is_sealed
    }
}

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

/// The answers of a listener to which a client has to react.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ClaimAnswer {
    /// The client has to return this token.
    Token(Token),
    /// The listener does not know the connection.
    Unknown,
}

/// Returns the answer of a listener to a client, if the datagram is one.
pub(crate) fn answer(ids: [u64; 2], datagram: &[u8]) -> Option<ClaimAnswer> {
    if datagram.len() != RETRY_LENGTH && !packet::may_be_rejection(datagram) {
        return None;
    }
    let (header, body) = packet::parse(datagram).ok()?;
    match body {
        _ if header.to != ids[0] => None,
        Body::Retry { token } => Some(ClaimAnswer::Token(token)),
        Body::Reject { .. } => Some(ClaimAnswer::Unknown),
        _ => None,
    }
}

/// Returns the packet by which a listener tells the client with this id that the listener does not
/// know the connection.
pub(crate) fn rejection(client: u64) -> Option<[u8; REJECTION_LENGTH]> {
    let mut rejection = [0; REJECTION_LENGTH];
    packet::write(&mut rejection, &header(client), &Body::Reject { why: "" }).ok()?;
    Some(rejection)
}

/// Returns the seal of a client's claim, if the datagram is a sealed claim about the connection
/// with these ids: of this end and of the client.
pub(crate) fn seal_of([own, client]: [u64; 2], datagram: &[u8]) -> Option<MoveSeal> {
    if !packet::may_be_sealed_claim(datagram) {
        return None;
    }
    match packet::parse(datagram).ok()? {
        (header, Body::Moved { from, seal, .. }) if [header.to, from] == [own, client] => seal,
        _ => None,
    }
}

fn header(to: u64) -> Header {
    Header { to, number: 0, ack: 0, sack: 0, window: 0 }
}

#[cfg(test)]
mod tests {
    use super::{ClaimAnswer, Claims, MoveKey, ReceivedSeals, answer, header, rejection, seal_of};
    use crate::reliable::packet::{self, Body, MOVED_LENGTH, MoveSeal, SEALED_MOVED_LENGTH, TOKEN};

    /// The ids of the connection. In `IDS`, the client's id is first; in `OWN`, the server's.
    const IDS: [u64; 2] = [5, 9];
    const OWN: [u64; 2] = [9, 5];

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
        assert_eq!(answer(IDS, &Claims::default().claim(IDS).unwrap()), None);
    }

    fn sealed() -> (Claims, ReceivedSeals) {
        let (mut claims, key) = (Claims::default(), MoveKey::new(&[7; 32]));
        claims.seal_with(key.clone());
        (claims, ReceivedSeals::new(key))
    }

    #[test]
    fn each_bit_of_a_claim_is_sealed_and_each_seal_is_used_once() {
        let (mut claims, mut seals) = sealed();
        let [first, second] = [0, 1].map(|_| claims.claim(IDS).unwrap());
        assert_eq!(first.len(), SEALED_MOVED_LENGTH);
        for bit in 8 * 4..8 * first.len() {
            let mut changed = first.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            packet::seal(&mut changed);
            assert!(!seals.take(seal_of(OWN, &changed), &changed), "bit {bit}");
        }
        let mut other = ReceivedSeals::new(MoveKey::new(&[8; 32]));
        assert!(!other.take(seal_of(OWN, &first), &first));
        for (claim, is_new) in [(&first, true), (&first, false), (&second, true), (&first, false), (&second, false)] {
            assert_eq!(seals.take(seal_of(OWN, claim), claim), is_new);
        }
        let unsealed = Claims::default().claim(IDS).unwrap();
        assert_eq!((unsealed.len(), seal_of(OWN, &unsealed)), (MOVED_LENGTH, None));
        assert!(!seals.take(None, &unsealed));
    }

    #[test]
    fn a_client_with_a_key_returns_a_few_tokens_for_each_claim() {
        let (mut claims, mut seals) = sealed();
        assert_eq!(claims.return_token([1; TOKEN], IDS), None);
        for _ in 0..2 {
            let first = claims.claim(IDS).unwrap();
            let before = seal_of(OWN, &first).unwrap().number;
            for at in 1..=4 {
                let returned = claims.return_token([at; TOKEN], IDS).unwrap();
                assert!(seals.take(seal_of(OWN, &returned), &returned));
                let (head, body) = packet::parse(&returned).unwrap();
                assert_eq!(head, header(IDS[1]));
                let Body::Moved { from: 5, token, seal: Some(MoveSeal { number, .. }) } = body else {
                    panic!("{body:?}")
                };
                assert_eq!((token, number), ([at; TOKEN], before + u64::from(at)));
            }
            assert_eq!(claims.return_token([9; TOKEN], IDS), None);
        }
    }

    #[test]
    fn a_client_without_a_key_returns_each_token() {
        let mut claims = Claims::default();
        claims.claim(IDS).unwrap();
        for at in 1..100 {
            let returned = claims.return_token([at; TOKEN], IDS).unwrap();
            let body = packet::parse(&returned).unwrap().1;
            assert_eq!(body, Body::Moved { from: 5, token: [at; TOKEN], seal: None });
        }
    }
}
