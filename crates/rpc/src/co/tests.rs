//! Tests of associations: a client and a server whose bytes the test transfers, and misbehaving
//! peers.

mod signing;

use super::pdu::{
    ACCEPTED, Bind, BindAck, BindNak, Context, Fault, FragmentSizes, Header, NEGOTIATED, NO_TRANSFER_SYNTAX, Outcome,
    PduError, PduType, REFUSED, Request, Unit, flags,
};
use super::*;
use crate::octets::ByteOrder;
use crate::status::Status;
use crate::uuid::{FLAT, NDR, NDR64};
use std::sync::Arc;

pub(super) const INTERFACE: SyntaxId = SyntaxId { uuid: Uuid(0x1234), version: 1 };

pub(super) fn context(id: u16, transfers: &[SyntaxId]) -> Context {
    Context { id, interface: INTERFACE, transfers: transfers.to_vec() }
}

fn judge(context: &Context) -> Outcome {
    Outcome::choose(context, &[FLAT, NDR])
}

/// A client and a server with short fragments.
pub(super) struct Pair {
    pub(super) client: ClientAssociation,
    pub(super) server: ServerAssociation,
}

impl Pair {
    pub(super) fn new(client: ClientOptions, server: ServerOptions) -> Self {
        Self { client: ClientAssociation::new(client), server: ServerAssociation::new(server) }
    }

    pub(super) fn bound() -> Self {
        Self::bound_with(None)
    }

    fn bound_with(budget: Option<Arc<dyn Budget>>) -> Self {
        let least = FragmentSizes { sent: FragmentSizes::LEAST, received: FragmentSizes::LEAST };
        let limits = Limits { sizes: least, message_max: 100_000, calls_max: 3, ..Limits::default() };
        let mut pair = Self::new(
            ClientOptions { limits: limits.clone() },
            ServerOptions { limits, secondary_address: "5000".to_owned(), budget, ..ServerOptions::default() },
        );
        pair.client.bind(vec![context(0, &[NDR])], None).unwrap();
        pair.ask_server().unwrap();
        pair.tell_client();
        assert!(matches!(pair.client.poll(), Ok(Some(ClientEvent::Bound(..)))));
        pair
    }

    /// Transfers the client's output to the server, and polls the server.
    pub(super) fn ask_server(&mut self) -> Result<Option<ServerEvent<'_>>, AssociationError> {
        self.server.input.push(&std::mem::take(self.client.output()));
        self.server.poll(&mut judge)
    }

    pub(super) fn tell_client(&mut self) {
        self.client.input.push(&std::mem::take(self.server.output()));
    }

    /// Makes a call whose results are the arguments in reverse order.
    fn echo(&mut self, stub: &[u8], object: Option<Uuid>) {
        let call = OutgoingCall { context_id: 0, opnum: 9, object, is_maybe: false, security: None, stub };
        let id = self.client.call(&call).unwrap();
        let Ok(Some(ServerEvent::Call(came))) = self.ask_server() else { panic!("no call") };
        assert_eq!((came.id, came.opnum, came.object, came.stub), (id, 9, object, stub));
        assert_eq!((came.presentation.interface, came.presentation.transfer), (INTERFACE, NDR));
        let answer: Vec<u8> = stub.iter().rev().copied().collect();
        self.server.respond(id, &answer).unwrap();
        self.tell_client();
        let Ok(Some(ClientEvent::Response(response))) = self.client.poll() else { panic!("no response") };
        assert_eq!((response.id, response.order, response.stub), (id, ByteOrder::Little, &answer[..]));
    }
}

pub(super) fn call(stub: &[u8]) -> OutgoingCall<'_> {
    OutgoingCall { context_id: 0, opnum: 1, object: None, is_maybe: false, security: None, stub }
}

/// Splits bytes into units.
fn units(mut bytes: &[u8]) -> Vec<Unit<'_>> {
    let mut units = Vec::new();
    while !bytes.is_empty() {
        let unit = Unit::open(bytes).unwrap();
        bytes = &bytes[unit.header.length.into()..];
        units.push(unit);
    }
    units
}

#[test]
fn presentation_contexts_are_negotiated_one_by_one() {
    let mut pair = Pair::new(ClientOptions::default(), ServerOptions::default());
    let contexts = vec![context(0, &[NDR64]), context(1, &[NDR, FLAT]), context(2, &[NDR64, NDR])];
    let id = pair.client.bind(contexts, None).unwrap();
    assert_eq!(pair.ask_server(), Ok(None));
    pair.tell_client();
    let Ok(Some(ClientEvent::Bound(number, outcomes))) = pair.client.poll() else { panic!("not bound") };
    let results: Vec<_> = outcomes.iter().map(|outcome| (outcome.result, outcome.reason, outcome.transfer)).collect();
    let none = SyntaxId { uuid: Uuid(0), version: 0 };
    assert_eq!(results, [(REFUSED, NO_TRANSFER_SYNTAX, none), (ACCEPTED, 0, FLAT), (ACCEPTED, 0, NDR)]);
    assert_eq!((number, pair.client.is_multiplexed(), pair.client.keeps_on_orphan()), (id, true, true));
    assert_eq!(pair.client.presentation(1).map(|known| known.transfer), Some(FLAT));
    assert_eq!(pair.client.presentation(0), None);

    let other = Context { interface: FLAT, ..context(1, &[NDR]) };
    assert!(matches!(pair.client.bind(vec![other], None), Err(AssociationError::Misuse(_))));
    assert!(matches!(pair.client.bind(vec![], None), Err(AssociationError::Misuse(_))));
    pair.client.bind(vec![context(3, &[NDR])], None).unwrap();
    assert_eq!(pair.ask_server(), Ok(None));
    pair.tell_client();
    assert!(matches!(pair.client.poll(), Ok(Some(ClientEvent::Bound(2, _)))));
    assert_eq!(pair.server.presentation(3).map(|known| known.transfer), Some(NDR));
}

#[test]
fn calls_of_every_length_come_through() {
    let mut pair = Pair::bound();
    for length in [0, 1, 1407, 1408, 1409, 2816, 2817, 99_999] {
        let stub: Vec<u8> = (0..length).map(|at| at as u8).collect();
        pair.echo(&stub, None);
        pair.echo(&stub, Some(Uuid(77)));
    }
    assert_eq!(pair.server.pending(), 0);
}

/// A budget, with the number of bytes that are left.
#[derive(Debug)]
struct Bytes(std::sync::Mutex<usize>);

impl Budget for Bytes {
    fn take(&self, bytes: usize) -> bool {
        let mut left = self.0.lock().unwrap();
        let rest = left.checked_sub(bytes);
        *left = rest.unwrap_or(*left);
        rest.is_some()
    }

    fn give_back(&self, bytes: usize) {
        *self.0.lock().unwrap() += bytes;
    }
}

#[test]
fn incomplete_messages_take_no_more_than_their_budget() {
    let budget = Arc::new(Bytes(std::sync::Mutex::new(10_000)));
    let mut pair = Pair::bound_with(Some(Arc::clone(&budget) as Arc<_>));
    let left = || *budget.0.lock().unwrap();
    pair.echo(&[1; 9000], None);
    // The next poll ends the reservation of the arguments, unless `take_memory` has returned it.
    assert_eq!((left(), pair.ask_server()), (1000, Ok(None)));
    assert_eq!(left(), 10_000);
    pair.echo(&[1; 9000], None);
    let memory = pair.server.take_memory();
    assert_eq!(pair.ask_server(), Ok(None));
    assert!(memory.is_some() && left() == 1000);
    drop(memory);
    assert_eq!(left(), 10_000);
    pair.client.call(&call(&[1; 5000])).unwrap();
    pair.client.output().truncate(FragmentSizes::LEAST.into());
    assert_eq!(pair.ask_server(), Ok(None));
    assert!(left() < 10_000);
    drop(pair);
    assert_eq!(left(), 10_000);
}

#[test]
fn a_call_for_which_there_is_no_memory_does_not_end_other_calls() {
    let budget = Arc::new(Bytes(std::sync::Mutex::new(10_000)));
    let mut pair = Pair::bound_with(Some(Arc::clone(&budget) as Arc<_>));
    let left = || *budget.0.lock().unwrap();
    let running = pair.client.call(&call(&[1; 9000])).unwrap();
    assert!(matches!(pair.ask_server(), Ok(Some(ServerEvent::Call(call))) if call.id == running));
    let memory = pair.server.take_memory();
    let refused = pair.client.call(&call(&[2; 50_000])).unwrap();
    pair.client.call(&OutgoingCall { is_maybe: true, ..call(&[2; 50_000]) }).unwrap();
    let short = pair.client.call(&call(&[3; 10])).unwrap();
    assert!(matches!(pair.ask_server(), Ok(Some(ServerEvent::Call(call))) if call.id == short));
    assert_eq!((left(), pair.server.pending()), (1000, 2));
    for id in [short, running] {
        pair.server.respond(id, &[4]).unwrap();
    }
    pair.tell_client();
    let Ok(Some(ClientEvent::Fault(fault))) = pair.client.poll() else { panic!("no fault") };
    assert_eq!((fault.id, fault.status, fault.began), (refused, Status::REMOTE_NO_MEMORY, false));
    for id in [short, running] {
        assert!(matches!(pair.client.poll(), Ok(Some(ClientEvent::Response(response))) if response.id == id));
    }
    assert_eq!(pair.client.poll(), Ok(None));
    // The client orphans a call that the server has refused.
    let refused = pair.client.call(&call(&[2; 50_000])).unwrap();
    pair.client.output().truncate(4 * usize::from(FragmentSizes::LEAST));
    assert_eq!(pair.ask_server(), Ok(None));
    pair.client.orphan(refused);
    assert_eq!(pair.ask_server(), Ok(Some(ServerEvent::Orphaned(refused))));
    drop(memory);
    pair.server.output().clear();
    pair.echo(&[1; 9000], None);
}

#[test]
fn fragments_have_the_negotiated_length() {
    let mut pair = Pair::bound();
    pair.client.call(&call(&[1; 3000])).unwrap();
    let sent = units(pair.client.output()).into_iter().map(|unit| {
        let request = Request::read(&unit).unwrap();
        (unit.header.flags, unit.header.length, request.alloc_hint, request.stub.len())
    });
    let expected = [(flags::FIRST, 1432, 3000, 1408), (0, 1432, 1592, 1408), (flags::LAST, 208, 184, 184)];
    assert_eq!(sent.collect::<Vec<_>>(), expected);
}

#[test]
fn concurrent_calls_are_answered_in_any_order() {
    let mut pair = Pair::bound();
    let first = pair.client.call(&call(&[1; 2000])).unwrap();
    let second = pair.client.call(&call(&[2; 2000])).unwrap();
    // The fragments of both calls alternate.
    let sent = std::mem::take(pair.client.output());
    let pieces = [0..1432, 2048..3480, 1432..2048, 3480..4096].map(|range| sent[range].to_vec());
    pair.server.input.push(&pieces.concat());
    for (id, byte) in [(first, 1), (second, 2)] {
        let Ok(Some(ServerEvent::Call(came))) = pair.server.poll(&mut judge) else { panic!("no call") };
        assert_eq!((came.id, came.stub), (id, &[byte; 2000][..]));
    }
    pair.server.respond(second, &[4; 3000]).unwrap();
    pair.server.respond(first, &[3]).unwrap();
    pair.tell_client();
    for (id, length) in [(second, 3000), (first, 1)] {
        let Ok(Some(ClientEvent::Response(response))) = pair.client.poll() else { panic!("no response") };
        assert_eq!((response.id, response.stub.len()), (id, length));
    }
    assert!(pair.server.respond(first, &[]).is_err());
}

#[test]
fn pdus_can_arrive_byte_by_byte() {
    let mut pair = Pair::bound();
    let id = pair.client.call(&call(&[5; 1500])).unwrap();
    let sent = std::mem::take(pair.client.output());
    for byte in &sent[..sent.len() - 1] {
        pair.server.input.push(&[*byte]);
        assert_eq!(pair.server.poll(&mut judge), Ok(None));
    }
    pair.server.input.push(&sent[sent.len() - 1..]);
    assert!(matches!(pair.server.poll(&mut judge), Ok(Some(ServerEvent::Call(came))) if came.id == id));
}

#[test]
fn faults_state_whether_the_method_was_called() {
    let mut pair = Pair::bound();
    for began in [true, false] {
        let id = pair.client.call(&call(&[])).unwrap();
        assert!(matches!(pair.ask_server(), Ok(Some(ServerEvent::Call(_)))));
        pair.server.fault(id, Status::OP_RNG_ERROR, began).unwrap();
        pair.tell_client();
        let fault = IncomingFault { id, status: Status::OP_RNG_ERROR, began };
        assert_eq!(pair.client.poll(), Ok(Some(ClientEvent::Fault(fault))));
    }
}

#[test]
fn calls_in_unknown_presentation_contexts_are_refused() {
    let mut pair = Pair::bound();
    assert!(matches!(pair.client.call(&OutgoingCall { context_id: 5, ..call(&[]) }), Err(AssociationError::Misuse(_))));
    let mut bytes = Vec::new();
    let request = Request { alloc_hint: 0, context_id: 5, opnum: 0, object: None, stub: &[] };
    request.write(&mut bytes, &Header::new(PduType::REQUEST, flags::WHOLE, 3));
    pair.server.input.push(&bytes);
    assert_eq!(pair.server.poll(&mut judge), Ok(None));
    let answer = units(pair.server.output())[0];
    assert_eq!(Fault::read(&answer).unwrap().status, Status::UNK_IF);
    assert!(answer.header.has(flags::DID_NOT_EXECUTE));
}

#[test]
fn cancelled_calls_are_answered_and_orphaned_ones_are_not() {
    let mut pair = Pair::bound();
    let id = pair.client.call(&call(&[])).unwrap();
    assert!(matches!(pair.ask_server(), Ok(Some(ServerEvent::Call(_)))));
    pair.client.cancel(id);
    assert_eq!(pair.ask_server(), Ok(Some(ServerEvent::Cancelled(id))));
    pair.client.orphan(id);
    assert_eq!(pair.ask_server(), Ok(Some(ServerEvent::Orphaned(id))));
    pair.server.respond(id, &[1]).unwrap();
    assert!(pair.server.output().is_empty());
    pair.echo(b"next", None);
    // The server had already answered the call when the client orphaned it.
    let id = pair.client.call(&call(&[])).unwrap();
    assert!(matches!(pair.ask_server(), Ok(Some(ServerEvent::Call(_)))));
    pair.server.respond(id, &[1; 5000]).unwrap();
    pair.client.orphan(id);
    pair.tell_client();
    assert_eq!(pair.client.poll(), Ok(None));
    // The server still reports that the call was orphaned.
    assert_eq!(pair.ask_server(), Ok(Some(ServerEvent::Orphaned(id))));
    pair.echo(b"next", None);
}

#[test]
fn maybe_calls_get_no_response() {
    let mut pair = Pair::bound();
    pair.client.call(&OutgoingCall { is_maybe: true, ..call(&[]) }).unwrap();
    assert!(matches!(pair.ask_server(), Ok(Some(ServerEvent::Call(came))) if came.is_maybe));
    assert_eq!(pair.server.pending(), 0);
}

#[test]
fn requests_over_the_limits_are_refused() {
    let mut pair = Pair::bound();
    for _ in 0..3 {
        pair.client.call(&call(&[])).unwrap();
        assert!(matches!(pair.ask_server(), Ok(Some(ServerEvent::Call(_)))));
    }
    assert_eq!(pair.client.call(&call(&[])), Err(AssociationError::Busy));

    let mut pair = Pair::bound();
    pair.client.call(&call(&[0; 100_001])).unwrap();
    assert_eq!(pair.ask_server(), Err(AssociationError::TooLong { limit: 100_000 }));

    let mut pair = Pair::bound();
    pair.server.input.push(&[5, 0, 0, 3, 0x10, 0, 0, 0, 0, 9, 0, 0, 1, 0, 0, 0]);
    assert_eq!(pair.server.poll(&mut judge), Err(PduError::Length(0x900).into()));
}

#[test]
fn fragments_without_a_first_fragment_are_refused() {
    let fragment = |flags, id, stub| {
        let mut bytes = Vec::new();
        let request = Request { alloc_hint: 0, context_id: 0, opnum: 0, object: None, stub };
        request.write(&mut bytes, &Header::new(PduType::REQUEST, flags, id));
        bytes
    };
    for pieces in [
        vec![fragment(0, 9, b"a")],
        vec![fragment(flags::LAST, 9, b"a")],
        vec![fragment(flags::FIRST, 9, b"a"), fragment(flags::FIRST, 9, b"a")],
        vec![fragment(flags::FIRST, 9, b"a"), fragment(flags::WHOLE, 9, b"a")],
    ] {
        let mut pair = Pair::bound();
        pair.server.input.push(&pieces.concat());
        assert_eq!(pair.server.poll(&mut judge), Err(AssociationError::Fragment { call_id: 9 }));
    }
}

#[test]
fn pdus_out_of_order_end_the_association() {
    let mut server = ServerAssociation::new(ServerOptions::default());
    let mut bytes = Vec::new();
    Request { alloc_hint: 0, context_id: 0, opnum: 0, object: None, stub: &[] }
        .write(&mut bytes, &Header::new(PduType::REQUEST, flags::WHOLE, 3));
    server.input.push(&bytes);
    assert_eq!(server.poll(&mut judge), Err(AssociationError::OutOfTurn(PduType::REQUEST)));
    assert_eq!(Fault::read(&units(server.output())[0]).unwrap().status, Status::PROTOCOL_ERROR);

    let mut pair = Pair::bound();
    let ack = BindAck {
        alters: false,
        flags: 0,
        call_id: 1,
        sizes: FragmentSizes::GREATEST,
        group: 0,
        secondary_address: String::new(),
        outcomes: Vec::new(),
    };
    pair.client.input.push(&ack.to_wire());
    assert_eq!(pair.client.poll(), Err(AssociationError::Answer));
}

#[test]
fn a_bind_of_another_version_is_refused_with_the_supported_versions() {
    let mut server = ServerAssociation::new(ServerOptions::default());
    let mut bind = Pair::new(ClientOptions::default(), ServerOptions::default());
    bind.client.bind(vec![context(0, &[NDR])], None).unwrap();
    bind.client.output()[0] = 4;
    server.input.push(bind.client.output());
    assert_eq!(server.poll(&mut judge), Err(PduError::Version(4, 0).into()));
    assert_eq!(BindNak::read(&units(server.output())[0]), Ok(BindNak::new(1, BindNak::VERSION)));
    bind.client.input.push(server.output());
    assert_eq!(bind.client.poll(), Err(AssociationError::Refused { reason: BindNak::VERSION }));
}

#[test]
fn only_known_bind_time_features_are_granted() {
    let mut server = ServerAssociation::new(ServerOptions::default());
    let all = SyntaxId { uuid: Uuid(0x6cb7_1c2c_9812_4540_ff00_0000_0000_0000), version: 1 };
    let contexts = vec![context(0, &[NDR]), context(1, &[all])];
    let bind = Bind { alters: false, flags: 0, call_id: 1, sizes: FragmentSizes::GREATEST, group: 3, contexts };
    server.input.push(&bind.to_wire());
    assert_eq!(server.poll(&mut judge), Ok(None));
    let ack = BindAck::from_wire(server.output()).unwrap();
    assert_eq!((ack.outcomes[1].result, ack.outcomes[1].reason, ack.group), (NEGOTIATED, 3, 3));
    assert!(!server.is_multiplexed());
}

/// Sends a big-endian request. The server converts the header, the numbers and the object UUID from
/// this byte order, and passes the stub data on unchanged.
#[test]
fn requests_are_delivered_with_the_byte_order_of_the_sender() {
    let mut pair = Pair::bound();
    let big = [
        5, 0, 0, 0x83, 0, 0, 0, 0, 0, 42, 0, 0, 0, 0, 0, 9, 0, 0, 0, 2, 0, 0, 0, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
        11, 12, 13, 14, 15, 0xab, 0xcd,
    ];
    pair.server.input.push(&big);
    let Ok(Some(ServerEvent::Call(came))) = pair.server.poll(&mut judge) else { panic!("no call") };
    assert_eq!((came.id, came.opnum, came.order, came.stub), (9, 1, ByteOrder::Big, &[0xab, 0xcd][..]));
    assert_eq!(came.object, Some(Uuid(0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f)));
}

#[test]
fn nonsensical_bind_proposals_are_refused() {
    let propose = |contexts: Vec<Context>, group| {
        let mut server = ServerAssociation::new(ServerOptions {
            groups: Some(Arc::new(Groups::default())),
            ..ServerOptions::default()
        });
        let bind = Bind { alters: false, flags: 0, call_id: 4, sizes: FragmentSizes::GREATEST, group, contexts };
        server.input.push(&bind.to_wire());
        let outcome = server.poll(&mut judge).map(drop);
        (outcome, BindNak::read(&units(server.output())[0]))
    };
    let features = SyntaxId { uuid: Uuid(0x6cb7_1c2c_9812_4540_0100_0000_0000_0000), version: 1 };
    for (contexts, group) in [
        (vec![], 0),
        (vec![context(0, &[])], 0),
        (vec![context(0, &[features]), context(1, &[features])], 0),
        (vec![context(0, &[NDR])], 5),
    ] {
        let nak = BindNak::new(4, BindNak::NOT_SPECIFIED);
        assert_eq!(propose(contexts, group), (Err(AssociationError::Proposal), Ok(nak)));
    }
    // Another interface is proposed for an accepted context.
    let mut pair = Pair::bound();
    let other = Context { interface: FLAT, ..context(0, &[NDR]) };
    let bind =
        Bind { alters: true, flags: 0, call_id: 9, sizes: FragmentSizes::GREATEST, group: 0, contexts: vec![other] };
    pair.server.input.push(&bind.to_wire());
    assert_eq!(pair.server.poll(&mut judge), Err(AssociationError::Proposal));
    assert_eq!(Fault::read(&units(pair.server.output())[0]).unwrap().status, Status::PROTOCOL_ERROR);
}

#[test]
fn both_sides_use_the_same_fragment_length() {
    let sizes = |sent, received| FragmentSizes { sent, received };
    let own = sizes(5840, 5840);
    let agreed = [(0, 0), (1000, 6000), (1432, 4280), (3199, 5840), (0xffff, 0xffff)]
        .map(|(sent, received)| own.agreed(sizes(sent, received)));
    assert_eq!(agreed, [2048, 2048, 1432, 3192, 5840]);
    // A server never announces more than it receives itself.
    let least = sizes(FragmentSizes::LEAST, 5840);
    assert_eq!([(0, 0), (5840, 5840)].map(|(sent, received)| least.agreed(sizes(sent, received))), [1432; 2]);
}

#[test]
fn no_bytes_make_an_association_panic() {
    // The units of both sides, with some bytes changed.
    let mut pair = Pair::bound();
    let bind = Bind {
        alters: false,
        flags: flags::MULTIPLEX,
        call_id: 1,
        sizes: FragmentSizes::GREATEST,
        group: 0,
        contexts: vec![context(0, &[NDR])],
    };
    for length in [3, 3000] {
        pair.client.call(&call(&vec![1; length])).unwrap();
    }
    let said = [bind.to_wire(), pair.client.output().clone()].concat();
    let waiting = |_| pair.ask_server().map(drop);
    assert!([0, 1].map(waiting).iter().all(Result::is_ok));
    for id in [2, 3] {
        pair.server.respond(id, &[2; 2000]).unwrap();
    }
    let answered = std::mem::take(pair.server.output());
    let mut state = 0x9e37_79b9_u32;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    for round in 0..if cfg!(miri) { 20 } else { 5_000 } {
        let mut bytes = if round % 2 == 0 { said.clone() } else { answered.clone() };
        for _ in 0..=random() % 4 {
            let at = random() as usize % bytes.len().min(if random() % 2 == 0 { 120 } else { usize::MAX });
            bytes[at] = random() as u8;
        }
        if round % 2 == 0 {
            let mut server = ServerAssociation::new(ServerOptions::default());
            server.input.push(&bytes);
            while let Ok(Some(_)) = server.poll(&mut judge) {}
        } else {
            let mut pair = Pair::bound();
            pair.client.call(&call(&[])).unwrap();
            pair.client.call(&call(&[])).unwrap();
            pair.client.input.push(&bytes);
            while let Ok(Some(_)) = pair.client.poll() {}
        }
    }
}
