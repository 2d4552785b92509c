//! Fuzzes the parsers of SPNEGO tokens, and both sides of a negotiation: an accepted token survives
//! a round trip.

use obvia_rpc::security::credentials::{AccountTable, Credential};
use obvia_rpc::security::ntlm::{self, Flags, Fresh, ServerNames};
use obvia_rpc::security::spnego::{Acceptor, Initiator, NegTokenInit, NegTokenResp, Progress};

fn fresh() -> Fresh {
    Fresh { time: 0, challenge: [1, 2, 3, 4, 5, 6, 7, 8], key: [9; 16].into() }
}

pub fn run(bytes: &[u8]) {
    if let Ok(token) = NegTokenInit::from_wire(bytes) {
        assert_eq!(NegTokenInit::from_wire(&token.to_wire()).as_ref(), Ok(&token));
    }
    if let Ok(token) = NegTokenResp::from_wire(bytes) {
        assert_eq!(NegTokenResp::from_wire(&token.to_wire()).as_ref(), Ok(&token));
    }
    let (names, accounts) = (ServerNames::of_host("server"), AccountTable::default());
    let exchange = ntlm::Initiator::new(Credential::user("", "user", "password"), "", Flags::SIGN, fresh());
    let client = Initiator::new(exchange);
    let _ = Acceptor::new(bytes, &names, &fresh());
    if let Ok((_, server)) = Acceptor::new(&client.token(), &names, &fresh()) {
        let progress = server.step(bytes, &names, &fresh(), &accounts);
        assert!(!matches!(progress, Ok((_, Progress::Made(_)))), "there are no accounts");
    }
    if let Ok((_, confirmation)) = client.answer(bytes) {
        let _ = confirmation.finish(bytes);
    }
}
