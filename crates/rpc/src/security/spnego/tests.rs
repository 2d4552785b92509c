//! Tests of negotiations: of both sides with each other, with other clients' first tokens, and with
//! malformed tokens.

use super::*;
use crate::security::credentials::{AccountTable, Credential};
use crate::security::ntlm::{self, Flags, Fresh, NtlmError, ServerNames};
use crate::security::secret::NtHash;

/// Kerberos, 1.2.840.113554.1.2.2: the most preferred mechanism of most clients.
const KERBEROS: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 1, 2, 2];

fn names() -> ServerNames {
    ServerNames::of_host("server")
}

fn accounts() -> AccountTable {
    AccountTable::default().with("user", NtHash::of_password("secret"))
}

fn exchange(wanted: Flags) -> ntlm::Initiator {
    ntlm::Initiator::new(Credential::user("", "user", "secret"), "", wanted, Fresh::new().unwrap())
}

fn step(acceptor: Acceptor, token: &[u8]) -> Result<(Vec<u8>, Progress), SpnegoError> {
    acceptor.step(token, &names(), &Fresh::new().unwrap(), &accounts())
}

/// Establishes both sides' contexts for a client that begins with NTLM.
fn negotiate(wanted: Flags) -> (Established, Established) {
    let client = Initiator::new(exchange(wanted));
    let (token, server) = Acceptor::new(&client.token(), &names(), &Fresh::new().unwrap()).unwrap();
    let (token, client) = client.answer(&token).unwrap();
    let (token, progress) = step(server, &token).unwrap();
    let Progress::Made(server) = progress else { panic!("{progress:?}") };
    (client.finish(&token).unwrap(), server)
}

fn check_both_ways(mut client: Established, mut server: Established) {
    for (from, to) in [(&mut client.outgoing, &mut server.incoming), (&mut server.outgoing, &mut client.incoming)] {
        let mut message = vec![7; 40];
        let signature = from.protect(&mut message, None).unwrap();
        // The signature of the list was the first message.
        assert_eq!(signature[12..], [1, 0, 0, 0]);
        to.unprotect(&mut message, None, &signature).unwrap();
    }
}

#[test]
fn spnego_negotiates_ntlm() {
    for wanted in [Flags::default(), Flags::SIGN | Flags::SEAL] {
        let (client, server) = negotiate(wanted);
        assert_eq!(server.principal.user, "user");
        check_both_ways(client, server);
    }
}

#[test]
fn spnego_tokens_have_the_standards_layout() {
    let token = NegTokenInit { list: &token::list(&[NTLM]), token: Some(b"NTLM") }.to_wire();
    let expected = [
        &[0x60, 0x24, 0x06, 6, 0x2b, 6, 1, 5, 5, 2, 0xa0, 0x1a, 0x30, 0x18][..],
        &[0xa0, 14, 0x30, 12, 0x06, 10, 0x2b, 6, 1, 4, 1, 0x82, 0x37, 2, 2, 10],
        &[0xa2, 6, 0x04, 4, b'N', b'T', b'L', b'M'],
    ];
    assert_eq!(token, expected.concat());
    let state = Some(NegState::Completed);
    let token = NegTokenResp { state, list_mic: Some(&[5; 2]), ..NegTokenResp::default() }.to_wire();
    assert_eq!(token, [0xa1, 13, 0x30, 11, 0xa0, 3, 0x0a, 1, 0, 0xa3, 4, 0x04, 2, 5, 5]);
    let long = vec![1; 300];
    let token = NegTokenResp { token: Some(&long), ..NegTokenResp::default() };
    let bytes = token.to_wire();
    assert_eq!(bytes[..10], [0xa1, 0x82, 1, 0x38, 0x30, 0x82, 1, 0x34, 0xa2, 0x82]);
    assert_eq!(NegTokenResp::from_wire(&bytes), Ok(token));
}

/// Negotiates with a client that prefers Kerberos. The client begins NTLM one message later than a
/// client that prefers NTLM.
fn second_choice(signs: bool) -> Result<(Established, Established), SpnegoError> {
    let list = token::list(&[KERBEROS, NTLM]);
    let first = NegTokenInit { list: &list, token: Some(b"a ticket") }.to_wire();
    let (answer, server) = Acceptor::new(&first, &names(), &Fresh::new().unwrap())?;
    let answer = NegTokenResp::from_wire(&answer)?;
    assert_eq!((answer.state, answer.mechanism), (Some(NegState::RequestMic), Some(NTLM)));
    assert_eq!(answer.token, None);
    let client = exchange(Flags::SIGN);
    let token = NegTokenResp { token: Some(client.negotiate()), ..NegTokenResp::default() }.to_wire();
    let (answer, progress) = step(server, &token)?;
    let Progress::Incomplete(server) = progress else { panic!("{progress:?}") };
    let (message, mut client) = client.answer(NegTokenResp::from_wire(&answer)?.token.unwrap())?;
    let mic = if signs { Some(sign(&mut client, &list)?) } else { None };
    let token = NegTokenResp { token: Some(&message), list_mic: mic.as_deref(), ..NegTokenResp::default() };
    let (answer, progress) = step(server, &token.to_wire())?;
    check(&mut client, &list, NegTokenResp::from_wire(&answer)?.list_mic.unwrap())?;
    let Progress::Made(server) = progress else { panic!("{progress:?}") };
    Ok((client, server))
}

#[test]
fn ntlm_as_second_choice_needs_a_signed_mechanism_list() {
    let (client, server) = second_choice(true).unwrap();
    check_both_ways(client, server);
    assert_eq!(second_choice(false).unwrap_err(), SpnegoError::List);
}

#[test]
fn tampered_mechanism_lists_are_refused() {
    let client = Initiator::new(exchange(Flags::SIGN));
    let list = token::list(&[NTLM, KERBEROS]);
    let first = client.token();
    let changed = NegTokenInit { list: &list, ..NegTokenInit::from_wire(&first).unwrap() }.to_wire();
    let (token, server) = Acceptor::new(&changed, &names(), &Fresh::new().unwrap()).unwrap();
    let (token, _client) = client.answer(&token).unwrap();
    assert_eq!(step(server, &token).unwrap_err(), SpnegoError::List);
}

#[test]
fn spnego_peers_without_ntlm_are_refused() {
    let token = NegTokenInit { list: &token::list(&[KERBEROS]), token: None }.to_wire();
    let refused = Acceptor::new(&token, &names(), &Fresh::new().unwrap());
    assert_eq!(refused.unwrap_err(), SpnegoError::NoMechanism);
    let answer = |resp: NegTokenResp<'_>| Initiator::new(exchange(Flags::SIGN)).answer(&resp.to_wire()).unwrap_err();
    let kerberos = NegTokenResp { mechanism: Some(KERBEROS), ..NegTokenResp::default() };
    assert_eq!(answer(kerberos), SpnegoError::NoMechanism);
    let rejected = NegTokenResp { state: Some(NegState::Rejected), ..NegTokenResp::default() };
    assert_eq!(answer(rejected), SpnegoError::Rejected);
    assert_eq!(answer(NegTokenResp::default()), SpnegoError::NoToken);
}

#[test]
fn spnego_denies_a_wrong_password() {
    let wrong = Credential::user("", "user", "Secret");
    let exchange = ntlm::Initiator::new(wrong, "", Flags::SIGN, Fresh::new().unwrap());
    let client = Initiator::new(exchange);
    let (token, server) = Acceptor::new(&client.token(), &names(), &Fresh::new().unwrap()).unwrap();
    let (token, _) = client.answer(&token).unwrap();
    assert_eq!(step(server, &token).unwrap_err(), SpnegoError::Ntlm(NtlmError::Denied));
}

#[test]
fn every_shorter_or_longer_token_is_refused() {
    let client = Initiator::new(exchange(Flags::SIGN));
    let first = client.token();
    let (second, _) = Acceptor::new(&first, &names(), &Fresh::new().unwrap()).unwrap();
    for length in 0..first.len() {
        assert!(NegTokenInit::from_wire(&first[..length]).is_err(), "{length}");
    }
    for length in 0..second.len() {
        assert!(NegTokenResp::from_wire(&second[..length]).is_err(), "{length}");
    }
    let longer = [&second[..], &[0]].concat();
    assert_eq!(NegTokenResp::from_wire(&longer), Err(SpnegoError::Trailing { length: 1 }));
    assert_eq!(NegTokenResp::from_wire(&first), Err(SpnegoError::Element { found: 0x60, expected: 0xa1 }));
    let endless = [0xa1, 0x80, 0x30, 0x80, 0, 0, 0, 0];
    assert_eq!(NegTokenResp::from_wire(&endless), Err(SpnegoError::Length));
    let huge = [0xa1, 0x83, 0xff, 0xff, 0xff];
    assert_eq!(NegTokenResp::from_wire(&huge), Err(SpnegoError::Short));
    let many = vec![NTLM; 33];
    let init = NegTokenInit { list: &token::list(&many), token: None };
    assert_eq!(init.mechanisms(), Err(SpnegoError::TooMany));
}

#[test]
fn lists_of_mechanisms_over_their_limit_are_refused() {
    // A server keeps the list until the client has proved itself.
    for (length, expected) in [(1024, Ok(2)), (1025, Err(SpnegoError::TooMany))] {
        let list = token::list(&[&vec![1; length - 20], NTLM]);
        assert_eq!(list.len(), length);
        let init = NegTokenInit { list: &list, token: None };
        assert_eq!(init.mechanisms().map(|mechanisms| mechanisms.len()), expected);
    }
}
