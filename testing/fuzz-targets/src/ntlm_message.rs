//! Fuzzes the parsers of NTLM messages, and both sides of an exchange: accepted messages survive a
//! round trip, and no client authenticates without the password.

use obvia_rpc::security::NtHash;
use obvia_rpc::security::credentials::{AccountTable, Credential};
use obvia_rpc::security::ntlm::{
    Acceptor, Authenticate, Challenge, Flags, Fresh, Initiator, Negotiate, ServerNames, TargetInfo,
};

fn fresh() -> Fresh {
    Fresh { time: 0, challenge: [1, 2, 3, 4, 5, 6, 7, 8], key: [9; 16].into() }
}

fn read_again(bytes: &[u8]) {
    if let Ok(message) = Negotiate::from_wire(bytes) {
        assert_eq!(Negotiate::from_wire(&message.to_wire()), Ok(message));
    }
    if let Ok(message) = Challenge::from_wire(bytes) {
        assert_eq!(Challenge::from_wire(&message.to_wire()).as_ref(), Ok(&message));
        if let Ok(info) = TargetInfo::from_wire(message.target_info) {
            assert_eq!(TargetInfo::from_wire(&info.to_wire()).as_ref(), Ok(&info));
        }
    }
    if let Ok(message) = Authenticate::from_wire(bytes) {
        // The message integrity code is computed on output.
        let message = Authenticate { mic: message.mic.map(|_| [0; 16]), ..message };
        assert_eq!(Authenticate::from_wire(&message.to_wire()).as_ref(), Ok(&message));
    }
}

pub fn run(bytes: &[u8]) {
    read_again(bytes);
    let names = ServerNames::of_host("server");
    let initiator = Initiator::new(Credential::user("domain", "user", "password"), "", Flags::SIGN, fresh());
    let _ = Acceptor::new(bytes, &names, &fresh());
    if let Ok(acceptor) = Acceptor::new(initiator.negotiate(), &names, &fresh()) {
        // No password of this test has this hash.
        let accounts = AccountTable::default().with("user", NtHash::from_bytes([0xa5; 16]));
        assert!(acceptor.finish(bytes, &accounts).is_err());
    }
    let _ = initiator.answer(bytes);
}
