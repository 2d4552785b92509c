//! Fuzzes the parser of an authentication's legs, and both sides with one replaced leg: no replaced
//! leg authenticates a side.
//!
//! The first byte chooses the leg, the others are its replacement.

use obvia_rpc::security::context::{NtlmAcceptor, initiate};
use obvia_rpc::security::credentials::{AccountTable, Credential};
use obvia_rpc::security::ntlm::ServerNames;
use obvia_rpc::security::proof::{CONTEXT_LEVEL, Leg, Next, Prover, Verifier};
use obvia_rpc::security::{AuthType, Level, NtHash};
use std::sync::{Arc, LazyLock};

static HASH: LazyLock<NtHash> = LazyLock::new(|| NtHash::of_password("password"));

fn sides(kind: AuthType) -> Option<(Prover, Verifier)> {
    let accounts = AccountTable::default().with("user", HASH.clone());
    let acceptor = Arc::new(NtlmAcceptor::new(ServerNames::of_host("server"), Arc::new(accounts)));
    let credential = Credential::user("", "user", "password");
    let security = initiate(kind, CONTEXT_LEVEL, "", &credential).ok()?;
    Some((Prover::new(security, Level::Integrity, "host"), Verifier::new(acceptor, Level::Connect, "host")))
}

/// Whether the receiver of the replaced leg accepts its peer in the end.
fn is_proved(replaced: u8, bytes: &[u8], (mut client, mut server): (Prover, Verifier)) -> bool {
    let Ok(mut leg) = client.begin() else { return false };
    for number in 0..=5 {
        if number == replaced {
            if leg == bytes {
                return false;
            }
            leg = bytes.to_vec();
        }
        let next = if number % 2 == 0 {
            match server.answer(&leg) {
                Ok(verdict) if verdict.proved.is_some() && replaced.is_multiple_of(2) => return true,
                Ok(verdict) => verdict.answer,
                Err(_) => return false,
            }
        } else {
            match client.answer(&leg) {
                Ok(Next::Leg(next)) => next,
                outcome => return outcome.is_ok(),
            }
        };
        leg = next;
    }
    false
}

pub fn run(bytes: &[u8]) {
    let Some((&first, rest)) = bytes.split_first() else { return };
    if let Ok(leg) = Leg::from_wire(rest) {
        assert_eq!(leg.to_wire(), rest);
    }
    for kind in [AuthType::NTLM, AuthType::SPNEGO] {
        if let Some(sides) = sides(kind) {
            assert!(!is_proved(first % 6, rest, sides));
        }
    }
}
