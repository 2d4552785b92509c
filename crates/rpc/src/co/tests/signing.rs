//! Tests of protected associations, with a mechanism for tests: its signatures only show which
//! bytes are protected.

use super::*;
use crate::co::contexts::{CONTEXTS_MAX, UNPROVED_MAX};
use crate::co::pdu::{Bind, TrailerHead};
use crate::security::{
    Acceptor, AuthType, CODE_LENGTH, Level, Principal, Security, SecurityContext, SecurityError, Step,
};
use std::ops::Range;
use std::sync::Arc;

/// A mechanism with three tokens, which signs by a checksum and a counter.
#[derive(Debug)]
struct Toy {
    sent: u8,
    received: u8,
    principal: Principal,
    /// Whether this side rejects the peer's last token.
    is_refused: bool,
}

const LEGS: u8 = 3;

impl Toy {
    fn new() -> Self {
        let principal = Principal { domain: "TOYS".to_owned(), user: "bear".to_owned() };
        Self { sent: 0, received: 0, principal, is_refused: false }
    }

    fn signature(pdu: &[u8], count: u8) -> Vec<u8> {
        let sum = pdu.iter().fold(count, |sum, byte| sum.wrapping_mul(31).wrapping_add(*byte));
        vec![sum; 16]
    }

    fn scramble(bytes: &mut [u8]) {
        bytes.iter_mut().for_each(|byte| *byte ^= 0x55);
    }
}

impl SecurityContext for Toy {
    fn step(&mut self, token: &[u8]) -> Result<Step, SecurityError> {
        // The bytes of a token are its number. The client's first token has number 0.
        let own = token.first().map_or(0, |theirs| theirs + 1);
        if self.is_refused && own >= LEGS {
            return Err(SecurityError::Denied);
        }
        let token = if own < LEGS { vec![own; 5] } else { vec![] };
        Ok(Step { token, is_done: own + 1 >= LEGS })
    }

    fn signature_length(&self) -> usize {
        16
    }

    fn protect(
        &mut self,
        level: Level,
        pdu: &mut [u8],
        sealed: Range<usize>,
        signature: &mut Vec<u8>,
    ) -> Result<(), SecurityError> {
        signature.extend(Self::signature(pdu, self.sent));
        self.sent += 1;
        if level == Level::Privacy {
            Self::scramble(&mut pdu[sealed]);
        }
        Ok(())
    }

    fn unprotect(
        &mut self,
        level: Level,
        pdu: &mut [u8],
        sealed: Range<usize>,
        signature: &[u8],
    ) -> Result<(), SecurityError> {
        if level == Level::Privacy {
            Self::scramble(&mut pdu[sealed]);
        }
        let expected = Self::signature(pdu, self.received);
        self.received += 1;
        if expected == signature { Ok(()) } else { Err(SecurityError::Signature) }
    }

    fn code(&self, _: &[&[u8]]) -> Result<[u8; CODE_LENGTH], SecurityError> {
        Err(SecurityError::NotReady)
    }

    fn check_code(&self, _: &[&[u8]], _: &[u8]) -> Result<(), SecurityError> {
        Err(SecurityError::NotReady)
    }

    fn principal(&self) -> Option<&Principal> {
        Some(&self.principal)
    }
}

#[derive(Debug)]
struct ToyAcceptor;

impl Acceptor for ToyAcceptor {
    fn accept(&self, kind: AuthType, _level: Level) -> Result<Box<dyn SecurityContext>, SecurityError> {
        if kind != AuthType::NTLM {
            return Err(SecurityError::UnknownType(kind));
        }
        Ok(Box::new(Toy::new()))
    }
}

/// An acceptor that rejects the last token of each client.
#[derive(Debug)]
struct RefusingAcceptor;

impl Acceptor for RefusingAcceptor {
    fn accept(&self, _: AuthType, _: Level) -> Result<Box<dyn SecurityContext>, SecurityError> {
        Ok(Box::new(Toy { is_refused: true, ..Toy::new() }))
    }
}

fn security(level: Level) -> Security {
    Security { kind: AuthType::NTLM, level, context: Box::new(Toy::new()) }
}

fn authenticated(level: Level) -> Pair {
    let server = ServerOptions { acceptor: Some(Arc::new(ToyAcceptor)), ..ServerOptions::default() };
    let mut pair = Pair::new(ClientOptions::default(), server);
    pair.client.bind(vec![context(0, &[NDR])], Some(security(level))).unwrap();
    settle(&mut pair);
    pair
}

fn settle(pair: &mut Pair) {
    assert_eq!(pair.ask_server(), Ok(None));
    pair.tell_client();
    assert!(matches!(pair.client.poll(), Ok(Some(ClientEvent::Bound(..)))));
    // The third token has no answer.
    assert_eq!(units(pair.client.output()).last().map(|unit| unit.header.kind), Some(PduType::AUTH3));
    assert_eq!(pair.ask_server(), Ok(None));
}

fn echo(pair: &mut Pair, stub: &[u8], number: u32, level: Level) {
    let id = pair.client.call(&OutgoingCall { security: Some(number), ..call(stub) }).unwrap();
    let shows = stub.len() > 8 && pair.client.output().windows(8).any(|window| window == &stub[..8]);
    assert_eq!(shows, stub.len() > 8 && level < Level::Privacy);
    let Ok(Some(ServerEvent::Call(came))) = pair.ask_server() else { panic!("no call") };
    let security = CallSecurity { context_id: number, level };
    assert_eq!(came.security, Some(security));
    // The verification trailer was removed; at most the padding before it is left.
    let padding = came.stub.strip_prefix(stub).unwrap();
    assert!(padding.len() < 4 && padding.iter().all(|byte| *byte == 0), "{padding:?}");
    assert_eq!(came.maker.map(|maker| (maker.principal.user.as_str(), maker.level)), Some(("bear", level)));
    pair.server.respond(id, stub).unwrap();
    pair.tell_client();
    assert!(matches!(pair.client.poll(), Ok(Some(ClientEvent::Response(response))) if response.stub == stub));
}

#[test]
fn protected_calls_are_answered_at_every_level() {
    for level in [Level::Connect, Level::Integrity, Level::Privacy] {
        let mut pair = authenticated(level);
        for length in [0, 1, 15, 16, 17, 70_000, 200_000] {
            let stub: Vec<u8> = (0..length).map(|at: u32| at.wrapping_mul(7) as u8).collect();
            echo(&mut pair, &stub, 0, level);
        }
    }
}

/// An attacker between client and server changes the interface in the bind, which is not protected.
#[test]
fn a_signed_call_performs_no_method_of_another_interface_than_the_client_bound() {
    for level in [Level::Integrity, Level::Privacy] {
        for transfer_is_changed in [false, true] {
            let server = ServerOptions { acceptor: Some(Arc::new(ToyAcceptor)), ..ServerOptions::default() };
            let mut pair = Pair::new(ClientOptions::default(), server);
            pair.client.bind(vec![context(0, &[NDR])], Some(security(level))).unwrap();
            let (known, other) = if transfer_is_changed { (NDR, FLAT) } else { (INTERFACE, FLAT) };
            replace(pair.client.output(), known, other);
            assert_eq!(pair.ask_server(), Ok(None));
            replace(pair.server.output(), FLAT, NDR);
            pair.tell_client();
            assert!(matches!(pair.client.poll(), Ok(Some(ClientEvent::Bound(..)))));
            assert_eq!(pair.ask_server(), Ok(None));
            let id = pair.client.call(&OutgoingCall { security: Some(0), ..call(b"delete") }).unwrap();
            assert_eq!(pair.ask_server(), Ok(None));
            pair.tell_client();
            let Ok(Some(ClientEvent::Fault(fault))) = pair.client.poll() else { panic!("no fault") };
            assert_eq!((fault.id, fault.status), (id, Status::ACCESS_DENIED));
        }
    }
}

/// An attacker between client and server sends an alter_context, which is not protected.
#[test]
fn no_alter_context_replaces_the_security_of_a_running_call() {
    for level in [Level::Connect, Level::Integrity, Level::Privacy] {
        let mut pair = authenticated(Level::Privacy);
        let id = pair.client.call(&OutgoingCall { security: Some(0), ..call(b"read") }).unwrap();
        assert!(matches!(pair.ask_server(), Ok(Some(ServerEvent::Call(_)))));
        pair.server.input.push(&proposal(0, level));
        let outcome = pair.server.poll(&mut judge);
        assert!(matches!(outcome, Err(AssociationError::Security(SecurityError::Token(_)))), "{level:?}: {outcome:?}");
        let answers = std::mem::take(pair.server.output());
        assert_eq!(units(&answers).iter().map(|unit| unit.header.kind).collect::<Vec<_>>(), [PduType::FAULT]);
        // The method may return before the connection ends.
        pair.server.respond(id, b"the secret").unwrap();
        assert!(!pair.server.output().windows(10).any(|window| window == b"the secret"));
        pair.tell_client();
        let Ok(Some(ClientEvent::Response(response))) = pair.client.poll() else { panic!("no response") };
        assert_eq!(response.stub, b"the secret");
    }
}

/// If an alter_context could replace the context, an attacker with an account could complete a call
/// whose first fragments the client has sent.
#[test]
fn no_alter_context_replaces_the_security_of_an_incomplete_call() {
    let mut pair = authenticated(Level::Privacy);
    pair.client.call(&OutgoingCall { security: Some(0), ..call(&[7; 200_000]) }).unwrap();
    let sent = std::mem::take(pair.client.output());
    let first = usize::from(units(&sent)[0].header.length);
    pair.server.input.push(&sent[..first]);
    assert!(matches!(pair.server.poll(&mut judge), Ok(None)));
    pair.server.input.push(&proposal(0, Level::Privacy));
    let outcome = pair.server.poll(&mut judge);
    assert!(matches!(outcome, Err(AssociationError::Security(SecurityError::Token(_)))), "{outcome:?}");
}

/// Replaces a syntax identifier in units.
fn replace(bytes: &mut [u8], known: SyntaxId, other: SyntaxId) {
    let wire = |syntax: SyntaxId| [&syntax.uuid.to_wire()[..], &syntax.version.to_le_bytes()].concat();
    let (known, other) = (wire(known), wire(other));
    while let Some(at) = bytes.windows(known.len()).position(|window| window == known) {
        bytes[at..at + known.len()].copy_from_slice(&other);
    }
}

#[test]
fn an_association_can_have_several_security_contexts() {
    let mut pair = authenticated(Level::Integrity);
    pair.client.bind(vec![context(1, &[NDR])], Some(security(Level::Privacy))).unwrap();
    settle(&mut pair);
    echo(&mut pair, b"a call that is sealed", 1, Level::Privacy);
    echo(&mut pair, b"a call that is signed", 0, Level::Integrity);
    // A call without protection.
    pair.client.call(&call(b"plain")).unwrap();
    assert!(matches!(pair.ask_server(), Ok(Some(ServerEvent::Call(came))) if came.security.is_none()));
}

/// Returns an alter_context that proposes a security context and contains only its first token. The
/// client of [`Pair`] would not send such a unit.
fn proposal(number: u32, level: Level) -> Vec<u8> {
    let contexts = vec![context(0, &[NDR])];
    let sizes = FragmentSizes { sent: 4280, received: 4280 };
    let bind = Bind { alters: true, flags: 0, call_id: 70_000 + number, sizes, group: 1, contexts };
    let head = TrailerHead { kind: AuthType::NTLM.0, level: level as u8, padding: 0, context_id: number };
    let mut bytes = Vec::new();
    bind.write(&mut bytes, Some((head, &[0])));
    bytes
}

/// Proposes a security context. Returns the kind of the server's answer, and its status if it is a
/// fault.
fn propose(pair: &mut Pair, number: u32) -> (PduType, Option<Status>) {
    pair.server.input.push(&proposal(number, Level::Privacy));
    assert_eq!(pair.server.poll(&mut judge), Ok(None));
    let answers = std::mem::take(pair.server.output());
    let answer = &units(&answers)[0];
    assert_eq!(answer.header.call_id, 70_000 + number);
    (answer.header.kind, Fault::read(answer).ok().map(|fault| fault.status))
}

#[test]
fn security_contexts_over_the_limit_are_refused() {
    let mut pair = authenticated(Level::Integrity);
    let last = CONTEXTS_MAX as u32 - 1;
    for _ in 0..last {
        pair.client.bind(vec![context(0, &[NDR])], Some(security(Level::Integrity))).unwrap();
        settle(&mut pair);
    }
    let bound = pair.client.bind(vec![context(0, &[NDR])], Some(security(Level::Integrity)));
    assert_eq!(bound, Err(SecurityError::TooManyContexts.into()));
    assert_eq!(propose(&mut pair, last + 1), (PduType::FAULT, Some(Status::PROTOCOL_ERROR)));
    for number in [0, last / 2, last] {
        echo(&mut pair, b"a call that is signed", number, Level::Integrity);
    }
}

#[test]
fn unauthenticated_clients_have_fewer_security_contexts() {
    let mut pair = authenticated(Level::Integrity);
    for number in 0..UNPROVED_MAX as u32 {
        assert_eq!(propose(&mut pair, 100 + number), (PduType::ALTER_CONTEXT_RESP, None));
    }
    assert_eq!(propose(&mut pair, 1000), (PduType::FAULT, Some(Status::PROTOCOL_ERROR)));
    echo(&mut pair, b"a call that is signed", 0, Level::Integrity);
    // The client is told of the refusal, and cannot use the refused context.
    pair.client.bind(vec![context(0, &[NDR])], Some(security(Level::Privacy))).unwrap();
    assert_eq!(pair.ask_server(), Ok(None));
    pair.tell_client();
    assert!(
        matches!(pair.client.poll(), Ok(Some(ClientEvent::Fault(fault))) if fault.status == Status::PROTOCOL_ERROR)
    );
    assert!(matches!(
        pair.client.call(&OutgoingCall { security: Some(1), ..call(b"sealed") }),
        Err(AssociationError::Misuse(_))
    ));
    echo(&mut pair, b"a call that is signed", 0, Level::Integrity);
}

#[test]
fn a_tampered_fragment_ends_the_association() {
    let mut pair = authenticated(Level::Integrity);
    pair.client.call(&OutgoingCall { security: Some(0), ..call(b"transfer 10") }).unwrap();
    pair.client.output()[30] ^= 1;
    assert_eq!(pair.ask_server(), Err(SecurityError::Signature.into()));
    assert_eq!(Fault::read(&units(pair.server.output())[0]).unwrap().status, Status::SEC_PKG_ERROR);
}

#[test]
fn unsigned_responses_to_signed_calls_are_refused() {
    let mut pair = authenticated(Level::Integrity);
    let id = pair.client.call(&OutgoingCall { security: Some(0), ..call(b"balance") }).unwrap();
    let mut forged = Vec::new();
    super::super::pdu::Response { alloc_hint: 0, context_id: 0, cancels: 0, stub: b"nothing" }
        .write(&mut forged, &Header::new(PduType::RESPONSE, flags::WHOLE, id));
    pair.client.input.push(&forged);
    assert_eq!(pair.client.poll(), Err(AssociationError::Answer));
}

#[test]
fn unsupported_security_mechanisms_are_refused() {
    for (acceptor, kind) in
        [(None, AuthType::NTLM), (Some(Arc::new(ToyAcceptor) as Arc<dyn Acceptor>), AuthType::SPNEGO)]
    {
        let mut pair = Pair::new(ClientOptions::default(), ServerOptions { acceptor, ..ServerOptions::default() });
        let security = Security { kind, ..security(Level::Connect) };
        pair.client.bind(vec![context(0, &[NDR])], Some(security)).unwrap();
        assert_eq!(pair.ask_server(), Err(SecurityError::UnknownType(kind).into()));
        pair.tell_client();
        assert_eq!(pair.client.poll(), Err(AssociationError::Refused { reason: BindNak::AUTH_TYPE }));
    }
}

/// Makes a call that the server must not deliver, and returns the fault.
fn refused(pair: &mut Pair, security: Option<u32>) -> (Status, bool) {
    let id = pair.client.call(&OutgoingCall { security, ..call(b"let me in") }).unwrap();
    assert_eq!(pair.ask_server(), Ok(None));
    pair.tell_client();
    let Ok(Some(ClientEvent::Fault(fault))) = pair.client.poll() else { panic!("no fault") };
    assert_eq!(fault.id, id);
    (fault.status, fault.began)
}

#[test]
fn calls_below_the_least_level_are_refused_and_others_taken() {
    let least = Some(Level::Integrity);
    let server = ServerOptions { acceptor: Some(Arc::new(ToyAcceptor)), least, ..ServerOptions::default() };
    let mut pair = Pair::new(ClientOptions::default(), server);
    pair.client.bind(vec![context(0, &[NDR])], None).unwrap();
    assert_eq!(pair.ask_server(), Ok(None));
    pair.tell_client();
    assert!(matches!(pair.client.poll(), Ok(Some(ClientEvent::Bound(..)))));
    assert_eq!(refused(&mut pair, None), (Status::ACCESS_DENIED, false));
    for (number, level) in [Level::Connect, Level::Integrity, Level::Privacy].into_iter().enumerate() {
        pair.client.bind(vec![context(0, &[NDR])], Some(security(level))).unwrap();
        settle(&mut pair);
        if level == Level::Connect {
            assert_eq!(refused(&mut pair, Some(0)), (Status::ACCESS_DENIED, false));
        } else {
            echo(&mut pair, b"is it I, and nobody else?", number as u32, level);
        }
    }
    // The server keeps no fragments of a call that it will refuse.
    pair.client.call(&call(&[7; 100_000])).unwrap();
    assert_eq!(pair.ask_server(), Err(SecurityError::Denied.into()));
    let units = units(pair.server.output());
    assert_eq!(units.len(), 1);
    assert_eq!(Fault::read(&units[0]).unwrap().status, Status::ACCESS_DENIED);
}

/// Makes a call. Returns the name of the caller that the server has authenticated, or the status of
/// the refusal.
fn attempt(pair: &mut Pair, opnum: u16, security: Option<u32>) -> Result<Option<String>, Status> {
    let id = pair.client.call(&OutgoingCall { security, opnum, ..call(b"ping") }).unwrap();
    let maker = match pair.ask_server() {
        Ok(Some(ServerEvent::Call(came))) => Some(came.maker.map(|maker| maker.principal.user.clone())),
        Ok(None) | Err(_) => None,
        Ok(Some(other)) => panic!("{other:?}"),
    };
    if maker.is_some() {
        pair.server.respond(id, &[]).unwrap();
    }
    pair.tell_client();
    match (pair.client.poll(), maker) {
        (Ok(Some(ClientEvent::Response(_))), Some(maker)) => Ok(maker),
        (Ok(Some(ClientEvent::Fault(fault))), None) => Err(fault.status),
        (other, maker) => panic!("{other:?}, {maker:?}"),
    }
}

#[test]
fn exempt_calls_have_a_minimum_level_of_their_own() {
    let (denied, bear) = (Err(Status::ACCESS_DENIED), Ok(Some("bear".to_owned())));
    for (least, plain, signed) in [
        (None, Ok(None), bear.clone()),
        (Some(Level::Connect), denied.clone(), bear),
        (Some(Level::Privacy), denied.clone(), denied.clone()),
    ] {
        for (is_signed, expected) in [(false, plain), (true, signed)] {
            let exemptions = vec![Exemption { interface: INTERFACE, opnums: &[1], least }];
            let (acceptor, general) = (Some(Arc::new(ToyAcceptor) as Arc<dyn Acceptor>), Some(Level::Integrity));
            let server = ServerOptions { acceptor, least: general, exemptions, ..ServerOptions::default() };
            let mut pair = Pair::new(ClientOptions::default(), server);
            pair.client.bind(vec![context(0, &[NDR])], is_signed.then(|| security(Level::Connect))).unwrap();
            if is_signed {
                settle(&mut pair);
            } else {
                assert_eq!(pair.ask_server(), Ok(None));
                pair.tell_client();
                assert!(matches!(pair.client.poll(), Ok(Some(ClientEvent::Bound(..)))));
            }
            let number = is_signed.then_some(0);
            assert_eq!(attempt(&mut pair, 1, number), expected, "{least:?}");
            assert_eq!(attempt(&mut pair, 2, number), denied, "another method, {least:?}");
        }
    }
}

/// Binds a client whose authentication fails.
fn denied(level: Level, exemption: Exemption) -> Pair {
    let acceptor = Some(Arc::new(RefusingAcceptor) as Arc<dyn Acceptor>);
    let server = ServerOptions { acceptor, exemptions: vec![exemption], ..ServerOptions::default() };
    let mut pair = Pair::new(ClientOptions::default(), server);
    pair.client.bind(vec![context(0, &[NDR])], Some(security(level))).unwrap();
    settle(&mut pair);
    pair
}

/// Exempt calls are, for example, a client's pings to an object exporter.
#[test]
fn a_client_whose_authentication_failed_makes_exempt_calls_as_an_anonymous_client() {
    let exemption = Exemption { interface: INTERFACE, opnums: &[1], least: None };
    let mut pair = denied(Level::Connect, exemption);
    assert_eq!(attempt(&mut pair, 1, Some(0)), Ok(None));
    assert_eq!(attempt(&mut pair, 1, None), Ok(None));
    assert_eq!(attempt(&mut pair, 2, None), Err(Status::ACCESS_DENIED));
    // The server cannot decrypt an encrypted call without an established context, so it refuses the
    // call.
    assert_eq!(attempt(&mut denied(Level::Privacy, exemption), 1, Some(0)), Err(Status::ACCESS_DENIED));
    let exemption = Exemption { least: Some(Level::Connect), ..exemption };
    assert_eq!(attempt(&mut denied(Level::Connect, exemption), 1, Some(0)), Err(Status::ACCESS_DENIED));
}

/// An observer that counts successful and failed proofs.
#[derive(Debug, Default)]
struct Proofs(std::sync::Mutex<[usize; 2]>);

impl crate::co::DenialObserver for Proofs {
    fn proved(&self) {
        self.0.lock().unwrap()[0] += 1;
    }

    fn denied(&self, _: crate::co::Denial<'_>) {
        self.0.lock().unwrap()[1] += 1;
    }
}

#[test]
fn a_client_has_proved_itself_with_its_last_token_and_not_with_its_bind() {
    let acceptors: [Arc<dyn Acceptor>; 2] = [Arc::new(ToyAcceptor), Arc::new(RefusingAcceptor)];
    for (acceptor, expected) in acceptors.into_iter().zip([[1, 0], [0, 1]]) {
        let proofs = Arc::<Proofs>::default();
        let denial_observer = Some(Arc::clone(&proofs) as Arc<_>);
        let server = ServerOptions { acceptor: Some(acceptor), denial_observer, ..ServerOptions::default() };
        let mut pair = Pair::new(ClientOptions::default(), server);
        pair.client.bind(vec![context(0, &[NDR])], Some(security(Level::Privacy))).unwrap();
        assert_eq!(pair.ask_server(), Ok(None));
        assert_eq!(*proofs.0.lock().unwrap(), [0, 0]);
        pair.tell_client();
        assert!(matches!(pair.client.poll(), Ok(Some(ClientEvent::Bound(..)))));
        assert_eq!(pair.ask_server(), Ok(None));
        assert_eq!(*proofs.0.lock().unwrap(), expected);
    }
}
