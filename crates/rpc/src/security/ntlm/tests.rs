//! Tests of NTLM: the standard's examples (MS-NLMP 4.2), both sides with each other, and malformed
//! messages.

use super::*;
use crate::security::credentials::{AccountTable, Accounts, Credential};
use crate::security::secret::{NtHash, hmac_value, utf16};

/// The parameters of the standard's examples (MS-NLMP 4.2.1).
const CHALLENGE: [u8; 8] = [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef];
const CLIENT_CHALLENGE: [u8; 8] = [0xaa; 8];
const FLAGS: Flags = Flags(0xe28a_8233);
const CHALLENGE_MESSAGE: &str = "4e544c4d53535000020000000c000c003800000033828ae20123456789abcdef\
    00000000000000002400240044000000060070170000000f530065007200760065007200\
    02000c0044006f006d00610069006e0001000c0053006500720076006500720000000000";

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().map(|digit| char::from(digit).to_digit(16).unwrap() as u8).collect();
    digits.chunks(2).map(|two| two[0] << 4 | two[1]).collect()
}

fn key(text: &str) -> Key {
    Key::new(hex(text).try_into().unwrap())
}

fn fresh() -> Fresh {
    Fresh { time: 0x01dc_5b3c_0000_0000, challenge: CLIENT_CHALLENGE, key: [0x55; 16].into() }
}

fn server_fresh() -> Fresh {
    Fresh { challenge: CHALLENGE, ..fresh() }
}

/// Returns the server's attributes in the examples.
fn target_info() -> TargetInfo {
    let mut info = TargetInfo::default();
    info.set(TargetInfo::DOMAIN, utf16("Domain"));
    info.set(TargetInfo::COMPUTER, utf16("Server"));
    info
}

/// Expected values: MS-NLMP 4.2.4.1.1, 4.2.4.2.2, 4.2.4.1.2, 4.2.4.2.3.
#[test]
fn ntlm_responses_and_keys_equal_the_standards_examples() {
    let hash = NtHash::of_password("Password");
    assert_eq!(hash.bytes()[..], hex("a4f49c406510bdcab6824ee7c30fd852"));
    let response_key = keys::response_key(&hash, "Domain", "User");
    assert_eq!(response_key, key("0c868a403bfd7a93a3001ef22ef02e3f"));
    let blob = initiator::blob(0, &CLIENT_CHALLENGE, &target_info().to_wire());
    let proof = hmac_value(&response_key, &[&CHALLENGE, &blob]);
    assert_eq!(proof, key("68cd0ab851e51c96aabc927bebef6a1c"));
    let base_key = keys::base_key(&response_key, &proof);
    assert_eq!(base_key, key("8de40ccadbc14a82f15cb0ad0de95ca3"));
    assert_eq!(keys::exchange(&base_key, &[0x55; 16]), key("c5dad2544fc9799094ce1ce90bc9d03e"));
}

/// Expected values: MS-NLMP 4.2.4.3.
#[test]
fn the_standards_ntlm_challenge_is_parsed() {
    let bytes = hex(CHALLENGE_MESSAGE);
    let challenge = message::Challenge::from_wire(&bytes).unwrap();
    assert_eq!((challenge.flags, challenge.challenge), (FLAGS, CHALLENGE));
    assert_eq!(message::name(challenge.target).unwrap(), "Server");
    assert_eq!(TargetInfo::from_wire(challenge.target_info), Ok(target_info()));
}

/// Expected values: MS-NLMP 4.2.4.4.
#[test]
fn ntlm_message_protection_equals_the_standards_example() {
    let exported = Key::new([0x55; 16]);
    assert_eq!(keys::signing(&exported, Side::Client), key("4788dc861b4782f35d43fd98fe1a2d39"));
    let mut outgoing = Outgoing::new(FLAGS, &exported, Side::Client);
    let mut message = utf16("Plaintext");
    let signature = outgoing.protect(&mut message, Some(0..18)).unwrap();
    assert_eq!(message, hex("54e50165bf1936dc996020c1811b0f06fb5f"));
    assert_eq!(signature[..], hex("010000007fb38ec5c55d497600000000"));
    Incoming::new(FLAGS, &exported, Side::Client).unprotect(&mut message, Some(0..18), &signature).unwrap();
    assert_eq!(message, utf16("Plaintext"));
}

fn accounts() -> AccountTable {
    AccountTable::default().with("User", NtHash::of_password("Password"))
}

fn names() -> ServerNames {
    ServerNames::of_host("server.example")
}

/// The results of an exchange for protection at every level.
struct Exchanged {
    client: Established,
    acceptor: Acceptor,
    authenticate: Vec<u8>,
}

fn exchange(credential: Credential) -> Exchanged {
    let initiator = Initiator::new(credential, "host/server", Flags::SIGN | Flags::SEAL, fresh());
    let acceptor = Acceptor::new(initiator.negotiate(), &names(), &server_fresh()).unwrap();
    let (authenticate, client) = initiator.answer(acceptor.challenge()).unwrap();
    Exchanged { client, acceptor, authenticate }
}

fn user() -> Credential {
    Credential::user("Domain", "User", "Password")
}

fn finish(exchanged: Exchanged) -> Result<(Established, Established), NtlmError> {
    let server = exchanged.acceptor.finish(&exchanged.authenticate, &accounts())?;
    Ok((exchanged.client, server))
}

#[test]
fn ntlm_messages_are_protected_in_both_directions() {
    let (mut client, mut server) = finish(exchange(user())).unwrap();
    assert_eq!(server.principal, Principal { domain: String::new(), user: "User".to_owned() });
    for round in 0..3_u8 {
        for (from, to) in [(&mut client.outgoing, &mut server.incoming), (&mut server.outgoing, &mut client.incoming)] {
            let plain: Vec<u8> = (0..100).map(|byte| byte ^ round).collect();
            let mut message = plain.clone();
            let signature = from.protect(&mut message, Some(24..90)).unwrap();
            assert_eq!((&message[..24], &message[90..]), (&plain[..24], &plain[90..]));
            assert_ne!(message[24..90], plain[24..90]);
            to.unprotect(&mut message, Some(24..90), &signature).unwrap();
            assert_eq!(message, plain);
            let signature = from.protect(&mut message, None).unwrap();
            assert_eq!(message, plain);
            to.unprotect(&mut message, None, &signature).unwrap();
        }
    }
}

#[test]
fn user_names_ignore_case_and_passwords_do_not() {
    assert!(finish(exchange(Credential::user("Domain", "uSER", "Password"))).is_ok());
    for wrong in [("User", "password"), ("User", ""), ("Other", "Password"), ("", "Password")] {
        let denied = finish(exchange(Credential::user("Domain", wrong.0, wrong.1)));
        assert_eq!(denied.unwrap_err(), NtlmError::Denied, "{wrong:?}");
    }
}

#[test]
fn anonymous_callers_are_refused_unless_the_server_permits_them() {
    assert_eq!(finish(exchange(Credential::Anonymous)).unwrap_err(), NtlmError::Denied);
    let exchanged = exchange(Credential::Anonymous);
    let open = accounts().with_anonymous();
    let server = exchanged.acceptor.finish(&exchanged.authenticate, &open).unwrap();
    assert_eq!(server.principal, Principal::default());
}

#[test]
fn a_tampered_ntlm_message_ends_its_security_context() {
    for change in 0..4 {
        let (mut client, mut server) = finish(exchange(user())).unwrap();
        let mut message = vec![7; 40];
        let first = client.outgoing.protect(&mut message, Some(8..40)).unwrap();
        let mut again = vec![7; 40];
        let second = client.outgoing.protect(&mut again, Some(8..40)).unwrap();
        let mut signature = first;
        match change {
            0 => message[0] ^= 1,
            1 => message[20] ^= 1,
            2 => signature[5] ^= 1,
            // The message is omitted.
            _ => (message, signature) = (again.clone(), second),
        }
        let refused = server.incoming.unprotect(&mut message, Some(8..40), &signature);
        assert_eq!(refused, Err(NtlmError::Signature), "{change}");
        let dead = server.incoming.unprotect(&mut again, Some(8..40), &second);
        assert_eq!(dead, Err(NtlmError::Signature), "{change}");
    }
}

#[test]
fn replayed_ntlm_messages_are_refused() {
    let (mut client, mut server) = finish(exchange(user())).unwrap();
    let mut message = vec![7; 40];
    let signature = client.outgoing.protect(&mut message, None).unwrap();
    server.incoming.unprotect(&mut message, None, &signature).unwrap();
    assert_eq!(server.incoming.unprotect(&mut message, None, &signature), Err(NtlmError::Signature));
}

#[test]
fn ntlm_signatures_of_wrong_length_are_refused() {
    for length in (0..SIGNATURE_LENGTH).chain([SIGNATURE_LENGTH + 1]) {
        let (mut client, mut server) = finish(exchange(user())).unwrap();
        let mut signature = client.outgoing.protect(&mut [7; 40], None).unwrap().to_vec();
        signature.resize(length, 0);
        assert_eq!(server.incoming.unprotect(&mut [7; 40], None, &signature), Err(NtlmError::Signature));
    }
}

#[test]
fn a_replayed_ntlm_authentication_is_denied() {
    let overheard = exchange(user());
    let other = Fresh { challenge: [9; 8], ..fresh() };
    let initiator = Initiator::new(user(), "", Flags::SIGN, fresh());
    let acceptor = Acceptor::new(initiator.negotiate(), &names(), &other).unwrap();
    assert_eq!(acceptor.finish(&overheard.authenticate, &accounts()).unwrap_err(), NtlmError::Denied);
}

/// Tests that the integrity code reveals an attacker's changes of the negotiated flags.
#[test]
fn tampered_ntlm_negotiation_is_refused() {
    let initiator = Initiator::new(user(), "", Flags::SIGN, fresh());
    let mut negotiate = initiator.negotiate().to_vec();
    negotiate[15] ^= 0x80;
    let acceptor = Acceptor::new(&negotiate, &names(), &server_fresh()).unwrap();
    let (authenticate, _) = initiator.answer(acceptor.challenge()).unwrap();
    assert_eq!(acceptor.finish(&authenticate, &accounts()).unwrap_err(), NtlmError::Integrity);

    let mut exchanged = exchange(user());
    exchanged.authenticate[72] ^= 1;
    assert_eq!(finish(exchanged).unwrap_err(), NtlmError::Integrity);

    // A message without an integrity code: its first field begins where the code would be.
    let exchanged = exchange(user());
    let whole = message::Authenticate::from_wire(&exchanged.authenticate).unwrap();
    let without = message::Authenticate { mic: None, ..whole }.to_wire();
    assert_eq!(exchanged.acceptor.finish(&without, &accounts()).unwrap_err(), NtlmError::Integrity);
}

#[test]
fn weaker_ntlm_responses_are_refused() {
    for (response, error) in [
        (vec![1; 24], NtlmError::OldResponse { length: 24 }),
        (vec![], NtlmError::OldResponse { length: 0 }),
        (vec![1; 30], NtlmError::Short { length: 30 }),
        (vec![2; 64], NtlmError::ResponseVersion { version: 2 }),
    ] {
        let exchanged = exchange(user());
        let whole = message::Authenticate::from_wire(&exchanged.authenticate).unwrap();
        let weaker = message::Authenticate { nt_response: &response, ..whole }.to_wire();
        assert_eq!(exchanged.acceptor.finish(&weaker, &accounts()).unwrap_err(), error);
    }
}

#[test]
fn missing_ntlm_flags_of_peers_are_named() {
    for missing in [Flags::UNICODE, Flags::NTLM, Flags::EXTENDED, Flags::BITS_128] {
        let negotiate = message::Negotiate { flags: Flags(!missing.0) }.to_wire();
        let refused = Acceptor::new(&negotiate, &names(), &server_fresh());
        assert_eq!(refused.unwrap_err(), NtlmError::Flags { missing });
        let info = target_info().to_wire();
        let flags = Flags(!missing.0);
        let challenge = message::Challenge { flags, challenge: CHALLENGE, target: &[], target_info: &info }.to_wire();
        let refused = Initiator::new(user(), "", Flags::SIGN, fresh()).answer(&challenge);
        assert_eq!(refused.unwrap_err(), NtlmError::Flags { missing });
    }
}

#[test]
fn encryption_without_negotiation_is_refused() {
    let initiator = Initiator::new(user(), "", Flags::SIGN, fresh());
    let acceptor = Acceptor::new(initiator.negotiate(), &names(), &server_fresh()).unwrap();
    let (_, mut client) = initiator.answer(acceptor.challenge()).unwrap();
    let refused = client.outgoing.protect(&mut [0; 8], Some(0..8));
    assert_eq!(refused, Err(NtlmError::Flags { missing: Flags::SEAL }));
}

#[test]
fn ntlm_fields_outside_the_message_or_overlapping_are_refused() {
    let exchanged = exchange(user());
    let read = |at: usize, length: u16, offset: u32| {
        let mut bytes = exchanged.authenticate.clone();
        bytes[at..at + 2].copy_from_slice(&length.to_le_bytes());
        bytes[at + 4..at + 8].copy_from_slice(&offset.to_le_bytes());
        message::Authenticate::from_wire(&bytes).map(drop)
    };
    let end = exchanged.authenticate.len() as u32;
    for at in [12, 20, 28, 36, 44, 52] {
        for (length, offset) in [(2, end - 1), (2, u32::MAX), (u16::MAX, 88), (2, 0), (2, 62)] {
            assert_eq!(read(at, length, offset), Err(NtlmError::Field { at, offset, length }));
        }
        // The name at 44 is empty, and the payload begins at 88 with the domain.
        if at != 28 {
            assert!(matches!(read(at, 4, 88), Err(NtlmError::Overlap { .. })), "{at}");
        }
        assert!(read(at, 0, u32::MAX).is_ok());
    }
    assert_eq!(read(28, 3, 88), Err(NtlmError::Name { at: 28 }));
}

#[test]
fn messages_over_their_limit_are_refused() {
    // A server keeps the first message until the client has proved itself.
    let mut first = Initiator::new(user(), "", Flags::SIGN, fresh()).negotiate().to_vec();
    first.resize(1024, 0);
    assert!(message::Negotiate::from_wire(&first).is_ok());
    first.push(0);
    assert_eq!(message::Negotiate::from_wire(&first), Err(NtlmError::Long { length: 1025, limit: 1024 }));
    let long = exchange(user()).authenticate;
    let long = [&long[..], &vec![0; 16_385 - long.len()]].concat();
    assert_eq!(message::Authenticate::from_wire(&long).unwrap_err(), NtlmError::Long { length: 16_385, limit: 16_384 });
}

#[test]
fn every_shorter_message_is_refused() {
    let exchanged = exchange(user());
    let initiator = Initiator::new(user(), "", Flags::SIGN, fresh());
    for bytes in [initiator.negotiate(), exchanged.acceptor.challenge(), &exchanged.authenticate] {
        for length in 0..bytes.len() {
            let short = &bytes[..length];
            assert!(message::Negotiate::from_wire(short).is_err() || length >= 32);
            assert!(message::Challenge::from_wire(short).is_err());
            assert!(message::Authenticate::from_wire(short).is_err());
        }
    }
    let wrong = message::Challenge::from_wire(&exchanged.authenticate);
    assert_eq!(wrong.unwrap_err(), NtlmError::Type { found: 3, expected: 2 });
}

#[test]
fn malformed_ntlm_target_information_is_refused() {
    assert_eq!(TargetInfo::from_wire(&[]), Err(NtlmError::TargetInfoShort));
    assert_eq!(TargetInfo::from_wire(&[1, 0, 2, 0, 0]), Err(NtlmError::TargetInfoShort));
    assert_eq!(TargetInfo::from_wire(&[1, 0, 0, 0]), Err(NtlmError::TargetInfoShort));
    assert_eq!(TargetInfo::from_wire(&[1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]), Err(NtlmError::TargetInfoTwice { id: 1 }));
    let many: Vec<u8> = (1..100).flat_map(|id| [id, 0, 0, 0]).chain([0; 4]).collect();
    assert_eq!(TargetInfo::from_wire(&many), Err(NtlmError::TargetInfoMany));
    let flags = TargetInfo::from_wire(&[6, 0, 1, 0, 2, 0, 0, 0, 0]).unwrap().flags();
    assert_eq!(flags, Err(NtlmError::TargetInfoLength { id: 6, length: 1 }));
}

#[test]
fn debug_output_hides_secrets() {
    let exchanged = exchange(user());
    let hash = NtHash::from_bytes([0xab; 16]);
    let table = AccountTable::default().with("User", hash.clone());
    let shown = format!("{:?} {:?} {hash:?} {table:?} {:?}", user(), exchanged.client, fresh());
    let hidden = "User(Domain\\User) Established { principal: Principal { domain: \"\", user: \"\" }, flags: Flags(";
    assert!(shown.starts_with(hidden), "{shown}");
    for secret in ["Password", "171", "0xab", "abab", "85, 85", "170, 170"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
}

#[test]
fn table_accounts_are_found_in_any_domain() {
    for domain in ["", "Domain", "OTHER"] {
        assert!(accounts().hash(domain, "USER").is_some());
    }
    assert!(accounts().hash("", "Us").is_none());
}
