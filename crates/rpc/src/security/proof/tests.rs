//! Tests of proofs: accepted, refused, replayed, mixed up and relayed.

use super::*;
use crate::security::NtHash;
use crate::security::context::{NtlmAcceptor, initiate};
use crate::security::credentials::{AccountTable, Credential};
use crate::security::ntlm::ServerNames;
use obvia_via::reliable::{Cipher, Nonce};

const PLACE: &str = "10.0.0.1";
const KINDS: [AuthType; 2] = [AuthType::NTLM, AuthType::SPNEGO];

fn verifier(place: &str) -> Verifier {
    let accounts = AccountTable::default().with("anna", NtHash::of_password("secret"));
    Verifier::new(
        Arc::new(NtlmAcceptor::new(ServerNames::of_host("server"), Arc::new(accounts))),
        Level::Connect,
        place,
    )
}

fn prover(kind: AuthType, password: &str, place: &str) -> Prover {
    let credential = Credential::user("D", "anna", password);
    Prover::new(initiate(kind, CONTEXT_LEVEL, "host/server", &credential).unwrap(), Level::Integrity, place)
}

/// All legs, the identity of the client that the server has verified, and the client's guard.
type Exchanged = (Vec<Vec<u8>>, Option<Authenticated>, Option<Guard>);

/// Transfers legs and answers until the client is done or one side refuses.
fn exchange(prover: &mut Prover, verifier: &mut Verifier) -> Result<Exchanged, SecurityError> {
    let mut all = vec![prover.begin()?];
    for _ in 0..5 {
        let Verdict { answer, proved, .. } = verifier.answer(all.last().unwrap())?;
        let next = prover.answer(&answer)?;
        all.push(answer);
        match next {
            Next::Leg(next) => all.push(next),
            Next::Proved(guard) => return Ok((all, proved, guard)),
        }
        assert_eq!(proved, None);
    }
    panic!("the proof does not end");
}

#[test]
fn authentication_is_mutual() {
    for kind in KINDS {
        let (legs, proved, _) = exchange(&mut prover(kind, "secret", PLACE), &mut verifier(PLACE)).unwrap();
        let proved = proved.unwrap();
        assert_eq!((proved.principal.user.as_str(), proved.level, proved.kind), ("anna", Level::Integrity, kind));
        assert_eq!(legs.len(), 6);
    }
}

impl Next {
    fn leg(self) -> Vec<u8> {
        match self {
            Self::Leg(leg) => leg,
            Self::Proved(_) => panic!("there is no further leg"),
        }
    }
}

/// Tests that the server enforces its minimum level, and that both sides derive the same keys.
#[test]
fn the_proof_enforces_the_least_level_of_both_sides() {
    let security = || initiate(AuthType::NTLM, CONTEXT_LEVEL, "", &Credential::user("", "anna", "secret")).unwrap();
    for (level, least, is_taken) in [
        (Level::Connect, Level::Connect, true),
        (Level::Integrity, Level::Connect, true),
        (Level::Privacy, Level::Integrity, true),
        (Level::Integrity, Level::Privacy, false),
        (Level::Connect, Level::Integrity, false),
    ] {
        let (mut client, mut server) = (Prover::new(security(), level, PLACE), verifier(PLACE));
        server.least = least;
        let mut leg = client.begin().unwrap();
        let outcome = loop {
            let verdict = match server.answer(&leg) {
                Ok(verdict) => verdict,
                Err(error) => break Err(error),
            };
            match client.answer(&verdict.answer).unwrap() {
                Next::Leg(next) => leg = next,
                Next::Proved(guard) => break Ok((guard, verdict.guard, verdict.proved.unwrap().level)),
            }
        };
        if !is_taken {
            assert_eq!(outcome.unwrap_err(), SecurityError::Level(level as u8));
            continue;
        }
        let (clients, servers, agreed) = outcome.unwrap();
        assert_eq!(
            (agreed, clients.is_some(), servers.is_some()),
            (level, level > Level::Connect, level > Level::Connect)
        );
        let (Some(mut clients), Some(mut servers)) = (clients, servers) else { continue };
        assert!(clients.peer_has_keys && !servers.peer_has_keys);
        assert_eq!(clients.moves.seal(1, b"claim"), servers.moves.seal(1, b"claim"));
        let number = Nonce { base: 1, sequence: 2 };
        for is_clients in [true, false] {
            let (from, to) = if is_clients { (&mut clients, &mut servers) } else { (&mut servers, &mut clients) };
            let mut datagram = *b"datagram";
            let tag = from.cipher.seal(number, &mut datagram);
            assert!(to.cipher.open(number, &mut datagram, &tag) && datagram == *b"datagram");
            assert!(!from.cipher.open(number, &mut datagram, &tag));
        }
    }
}

/// Tests forward secrecy. An attacker has recorded the legs, and knows all keys that follow from
/// the password.
#[test]
fn the_password_and_recorded_legs_do_not_lead_to_the_keys_of_packets() {
    let (mut client, mut server) = (prover(AuthType::NTLM, "secret", PLACE), verifier(PLACE));
    let (legs, _, guard) = exchange(&mut client, &mut server).unwrap();
    let number = Nonce { base: 0, sequence: 0 };
    let mut guard = guard.unwrap();
    let tag = guard.cipher.seal(number, &mut b"datagram".to_owned());
    let keys = [0, 3].map(|leg| Leg::from_wire(&legs[leg]).unwrap().key.unwrap());
    for key in keys {
        let guessed = Ephemeral::draw().unwrap().agree(key).unwrap();
        let known = &client.transcript.legs;
        let (mut attacker, moves) =
            Packets::new(&*client.context, &guessed, known, Side::Server, Level::Integrity).unwrap();
        assert!(!attacker.open(number, &mut b"datagram".to_owned(), &tag));
        assert_ne!(moves.seal(0, b"claim"), guard.moves.seal(0, b"claim"));
    }
}

#[test]
fn keys_of_low_order_end_the_proof_at_both_ends() {
    let (mut client, mut server) = (prover(AuthType::NTLM, "secret", PLACE), verifier(PLACE));
    let weaken = |leg: &mut Vec<u8>| leg[HEADER..][..PUBLIC_KEY].fill(0);
    let mut begin = client.begin().unwrap();
    let challenge = server.answer(&begin).unwrap().answer;
    let proof = client.answer(&challenge).unwrap().leg();
    let mut made = server.answer(&proof).unwrap().answer;
    weaken(&mut made);
    assert!(matches!(client.answer(&made), Err(SecurityError::Token(_))));
    let (mut other, mut server) = (prover(AuthType::NTLM, "secret", PLACE), verifier(PLACE));
    begin = other.begin().unwrap();
    weaken(&mut begin);
    let challenge = server.answer(&begin).unwrap().answer;
    let proof = other.answer(&challenge).unwrap().leg();
    assert!(matches!(server.answer(&proof), Err(SecurityError::Token(_))));
}

#[test]
fn provers_with_a_wrong_password_are_denied() {
    for kind in KINDS {
        let outcome = exchange(&mut prover(kind, "Secret", PLACE), &mut verifier(PLACE));
        assert_eq!(outcome.unwrap_err(), SecurityError::Denied);
    }
}

/// Tests a relay attack: a server to which the client authenticates forwards the exchange to a
/// server at another place.
#[test]
fn relayed_proofs_are_refused() {
    for kind in KINDS {
        let (mut client, mut server) = (prover(kind, "secret", "10.0.0.66"), verifier(PLACE));
        assert_eq!(exchange(&mut client, &mut server).unwrap_err(), SecurityError::Signature);
        // The relay cannot continue without a valid seal.
        let other = Leg::new(LegKind::Seal, &[0; CODE_LENGTH]).to_wire();
        assert!(server.answer(&other).is_err());
    }
}

#[test]
fn clients_refuse_servers_without_a_valid_seal() {
    for kind in KINDS {
        let (mut client, mut server) = (prover(kind, "secret", PLACE), verifier(PLACE));
        let first = client.begin().unwrap();
        let second = client.answer(&server.answer(&first).unwrap().answer).unwrap().leg();
        let seal = client.answer(&server.answer(&second).unwrap().answer).unwrap().leg();
        let Leg { leg_kind, token, .. } = Leg::from_wire(&seal).unwrap();
        assert_eq!((leg_kind, token.len()), (LegKind::Seal, CODE_LENGTH));
        // The client gets its own seal in place of the server's seal.
        assert_eq!(client.answer(&seal).unwrap_err(), SecurityError::Signature);
        assert!(server.answer(&seal).unwrap().proved.is_some());
    }
}

/// Tests a replay of a recorded proof. It fails because the server draws new challenges each time.
#[test]
fn replayed_proof_legs_are_refused() {
    for kind in KINDS {
        let (legs, ..) = exchange(&mut prover(kind, "secret", PLACE), &mut verifier(PLACE)).unwrap();
        let mut server = verifier(PLACE);
        server.answer(&legs[0]).unwrap();
        assert!(server.answer(&legs[2]).is_err());
        assert!(server.answer(&legs[4]).is_err());
    }
}

#[test]
fn a_proof_leg_out_of_order_ends_the_proof() {
    for kind in KINDS {
        let (legs, ..) = exchange(&mut prover(kind, "secret", PLACE), &mut verifier(PLACE)).unwrap();
        for first in [&legs[1], &legs[2], &legs[3], &legs[4], &legs[5]] {
            let mut server = verifier(PLACE);
            assert!(server.answer(first).is_err());
            assert!(server.answer(&legs[0]).is_err(), "a proof is begun once");
        }
        let (mut client, mut server) = (prover(kind, "secret", PLACE), verifier(PLACE));
        let first = client.begin().unwrap();
        let challenge = server.answer(&first).unwrap().answer;
        assert!(server.answer(&first).is_err(), "the first leg again");
        let proof = client.answer(&challenge).unwrap().leg();
        assert!(client.answer(&challenge).is_err(), "the challenge again");
        assert!(server.answer(&proof).is_err(), "a proof that is over goes on");
    }
}

#[test]
fn each_changed_bit_of_a_proof_leg_is_detected() {
    for kind in KINDS {
        for leg in 0..6 {
            for bit in (0..).step_by(7) {
                let (mut client, mut server) = (prover(kind, "secret", PLACE), verifier(PLACE));
                let Some(proved) = meddled(&mut client, &mut server, leg, bit) else { break };
                assert!(!proved, "{kind:?}: bit {bit} of leg {leg}");
            }
        }
    }
}

/// Whether both sides accept a proof in which one bit of a leg was changed in transit. Returns
/// `None` if the leg has no such bit.
fn meddled(client: &mut Prover, server: &mut Verifier, leg: usize, bit: usize) -> Option<bool> {
    let mut bytes = client.begin().unwrap();
    let mut is_proved = false;
    for number in 0.. {
        if number == leg {
            *bytes.get_mut(bit / 8)? ^= 1 << (bit % 8);
        }
        let next = if number % 2 == 0 {
            server.answer(&bytes).map(|verdict| {
                is_proved = verdict.proved.is_some();
                Some(verdict.answer)
            })
        } else {
            client.answer(&bytes).map(|next| match next {
                Next::Leg(leg) => Some(leg),
                Next::Proved(_) => None,
            })
        };
        match next {
            Ok(Some(next)) => bytes = next,
            Ok(None) => return Some(is_proved),
            Err(_) => return Some(false),
        }
    }
    None
}

#[test]
fn proof_legs_round_trip_and_malformed_legs_are_refused() {
    let (leg_kind, level, key) = (LegKind::Begin, Some(Level::Privacy), Some([7; PUBLIC_KEY]));
    let leg = Leg { leg_kind, kind: AuthType::NTLM, level, key, token: &[1, 2, 3] };
    let bytes = leg.to_wire();
    assert_eq!(bytes[..8], [2, 1, 10, 6, 3, 0, 0, 0]);
    assert_eq!(bytes[8..40], [7; PUBLIC_KEY]);
    assert_eq!(bytes[40..], [1, 2, 3, 0, 0, 0, 0, 0]);
    assert_eq!(Leg::from_wire(&bytes), Ok(leg));
    for length in 0..bytes.len() {
        assert!(Leg::from_wire(&bytes[..length]).is_err(), "{length} bytes");
    }
    for (at, value) in [(0, 1), (0, 3), (1, 0), (1, 5), (1, 2), (2, 0), (3, 0), (3, 1), (3, 3), (4, 9), (7, 1), (47, 1)]
    {
        let mut bytes = bytes.clone();
        bytes[at] = value;
        assert!(Leg::from_wire(&bytes).is_err(), "{value} at {at}");
    }
    assert!(Leg::from_wire(&[&bytes[..], &[0; 8]].concat()).is_err());
}
