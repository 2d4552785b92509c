//! Tests of associations protected by NTLM and SPNEGO. The tests transfer the bytes between client
//! and server, and change some of them.

use super::context::{NtlmAcceptor, initiate};
use super::credentials::{AccountTable, Credential};
use super::ntlm::ServerNames;
use super::*;
use crate::co::pdu::{Context, Outcome};
use crate::co::{
    AssociationError, CallSecurity, ClientAssociation, ClientEvent, ClientOptions, OutgoingCall, ServerAssociation,
    ServerEvent, ServerOptions,
};
use crate::uuid::{NDR, SyntaxId, Uuid};
use std::mem;
use std::sync::Arc;

const INTERFACE: SyntaxId = SyntaxId { uuid: Uuid(0x1234), version: 1 };

struct Pair {
    client: ClientAssociation,
    server: ServerAssociation,
}

impl Pair {
    fn new() -> Self {
        let accounts = AccountTable::default().with("user", NtHash::of_password("secret"));
        let acceptor = NtlmAcceptor::new(ServerNames::of_host("server"), Arc::new(accounts));
        let options = ServerOptions { acceptor: Some(Arc::new(acceptor)), ..ServerOptions::default() };
        Self { client: ClientAssociation::new(ClientOptions::default()), server: ServerAssociation::new(options) }
    }

    fn ask(&mut self) -> Result<Option<ServerEvent<'_>>, AssociationError> {
        self.server.input.push(&mem::take(self.client.output()));
        self.server.poll(&mut |context| Outcome::choose(context, &[NDR]))
    }

    fn hear(&mut self) -> Result<Option<ClientEvent<'_>>, AssociationError> {
        self.client.input.push(&mem::take(self.server.output()));
        self.client.poll()
    }

    /// Authenticates the client by bind or alter_context, with a presentation context of its own.
    fn authenticate(
        &mut self,
        kind: AuthType,
        level: Level,
        number: u16,
        password: &str,
    ) -> Result<(), AssociationError> {
        let security = initiate(kind, level, "", &Credential::user("", "user", password)).unwrap();
        let context = Context { id: number, interface: INTERFACE, transfers: vec![NDR] };
        self.client.bind(vec![context], Some(security))?;
        for _ in 0..3 {
            assert_eq!(self.ask()?, None);
            if let Some(event) = self.hear()? {
                assert!(matches!(event, ClientEvent::Bound(..)), "{event:?}");
                // NTLM's last token has no answer.
                self.ask()?;
                return Ok(());
            }
        }
        panic!("the client is never bound");
    }

    fn bound(kind: AuthType, level: Level) -> Self {
        let mut pair = Self::new();
        pair.authenticate(kind, level, 0, "secret").unwrap();
        pair
    }

    fn call(&mut self, security: u32, stub: &[u8]) -> u32 {
        let call = OutgoingCall {
            context_id: security as u16,
            opnum: 1,
            object: None,
            is_maybe: false,
            security: Some(security),
            stub,
        };
        self.client.call(&call).unwrap()
    }

    fn echo(&mut self, number: u32, level: Level, stub: &[u8]) {
        let id = self.call(number, stub);
        let security = CallSecurity { context_id: number, level };
        let Ok(Some(ServerEvent::Call(came))) = self.ask() else { panic!("no call") };
        assert_eq!(came.security, Some(security));
        // The verification trailer was removed; at most the padding before it is left.
        assert!(came.stub.strip_prefix(stub).unwrap().len() < 4);
        assert_eq!(came.maker.map(|maker| (maker.principal.user.as_str(), maker.level)), Some(("user", level)));
        self.server.respond(id, stub).unwrap();
        assert!(matches!(self.hear(), Ok(Some(ClientEvent::Response(response))) if response.stub == stub));
    }
}

const KINDS: [AuthType; 2] = [AuthType::NTLM, AuthType::SPNEGO];

#[test]
fn each_mechanism_protects_calls_at_each_level() {
    for kind in KINDS {
        for level in [Level::Connect, Level::Integrity, Level::Privacy] {
            let mut pair = Pair::bound(kind, level);
            for length in [0, 1, 16, 20_000, 3] {
                let stub: Vec<u8> = (0..length).map(|at: u32| at.wrapping_mul(7) as u8).collect();
                pair.echo(0, level, &stub);
            }
        }
    }
}

#[test]
fn security_contexts_of_an_association_are_used_in_any_order() {
    let mut pair = Pair::bound(AuthType::NTLM, Level::Integrity);
    pair.authenticate(AuthType::SPNEGO, Level::Privacy, 1, "secret").unwrap();
    pair.authenticate(AuthType::NTLM, Level::Privacy, 2, "secret").unwrap();
    for number in [1, 0, 2, 2, 1, 0] {
        pair.echo(number, if number == 0 { Level::Integrity } else { Level::Privacy }, b"whose turn is it?");
    }
}

#[test]
fn associations_with_a_wrong_password_are_refused() {
    let mut pair = Pair::new();
    let refused = pair.authenticate(AuthType::SPNEGO, Level::Privacy, 0, "Secret");
    assert_eq!(refused, Err(SecurityError::Denied.into()));
}

#[test]
fn every_bit_of_a_protected_request_is_authenticated() {
    for level in [Level::Integrity, Level::Privacy] {
        let length = {
            let mut pair = Pair::bound(AuthType::NTLM, level);
            pair.call(0, b"pay ten to whom it may concern");
            pair.client.output().len()
        };
        for at in 0..length {
            let mut pair = Pair::bound(AuthType::NTLM, level);
            pair.call(0, b"pay ten to whom it may concern");
            pair.client.output()[at] ^= 1 << (at % 8);
            // If a length was changed, the server may wait for more bytes.
            assert!(matches!(pair.ask(), Err(_) | Ok(None)), "byte {at} at level {level:?}");
        }
    }
}

#[test]
fn replayed_requests_are_refused() {
    for kind in KINDS {
        let mut pair = Pair::bound(kind, Level::Integrity);
        let id = pair.call(0, b"pay ten");
        let request = pair.client.output().clone();
        assert!(matches!(pair.ask(), Ok(Some(ServerEvent::Call(_)))));
        pair.server.respond(id, b"paid").unwrap();
        pair.server.input.push(&request);
        assert_eq!(pair.ask(), Err(SecurityError::Signature.into()));
    }
}

#[test]
fn requests_of_another_association_are_refused() {
    let mut overheard = Pair::bound(AuthType::NTLM, Level::Integrity);
    overheard.call(0, b"pay ten");
    let mut pair = Pair::bound(AuthType::NTLM, Level::Integrity);
    pair.server.input.push(overheard.client.output());
    assert_eq!(pair.ask(), Err(SecurityError::Signature.into()));
}
