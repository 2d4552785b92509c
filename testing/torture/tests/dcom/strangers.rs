//! Tests of the guarantees to DCOM clients of other implementations.

use super::stranger::{PATIENCE, Stranger, bound};
use obvia::orpc::activator::RemoteActivationResults;
use obvia::orpc::object_exporter::{Request, Response};
use obvia::orpc::rem_unknown::{self, QueryResult};
use obvia::orpc::{Body, Calls, Decoder, Encoder, ObjRef, OrpcThat, OrpcThis, StdObjRef};
use obvia::{GUID, IUnknown, Interface, code};
use obvia_rpc::ByteOrder;
use obvia_rpc::co::{DirectCalls, DirectError};
use obvia_rpc::status::Status;
use obvia_rpc::string_binding::StringBinding;
use obvia_rpc::uuid::Uuid;
use std::time::{Duration, Instant};
use torture::IFactory;
use torture::process::{Directory, LATEST, Process};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
/// The opnum of IFactory::Live.
const LIVE: u16 = 4;

/// A server of the class, with its binding.
struct Server {
    process: Process,
    binding: String,
    directory: Directory,
}

impl Server {
    fn start(options: &str) -> Self {
        let directory = Directory::new();
        let mut process = directory.start(PROGRAM, &[]);
        process.good("accounts anna one-secret");
        process.good("register");
        let binding = process.good(&format!("listen ncacn_ip_tcp:127.0.0.1[{options}]"));
        Self { process, binding, directory }
    }

    fn place(&self) -> StringBinding {
        let binding: StringBinding = self.binding.parse().unwrap();
        StringBinding { options: Vec::new(), ..binding }
    }

    fn stranger(&self) -> Stranger {
        Stranger::new(&self.place().to_string())
    }
}

fn reference(made: &RemoteActivationResults, at: usize) -> ObjRef {
    ObjRef::from_bytes(made.interfaces[at].1.as_ref().unwrap()).unwrap()
}

/// Calls a method of an object, and returns the stub data that follows ORPCTHAT.
fn call(calls: &mut DirectCalls, ipid: GUID, opnum: u16, write: impl Fn(&mut Encoder<'_>)) -> (ByteOrder, Vec<u8>) {
    let stub = Encoder::encode(ByteOrder::Little, |to| {
        OrpcThis::new(GUID::from_u128(7)).write(to);
        write(to);
    });
    let (order, stub) = calls.call_object(Uuid(ipid.to_u128()), (opnum, stub.unwrap()), PATIENCE).unwrap();
    let from = &mut Decoder::new(&stub, order);
    OrpcThat::read(from).unwrap();
    let at = from.at();
    (order, stub[at..].to_vec())
}

fn query(calls: &mut DirectCalls, made: &RemoteActivationResults, ipid: GUID, iid: GUID) -> Vec<QueryResult> {
    let request = rem_unknown::Request::QueryInterface { ipid, refs: 1, iids: vec![iid] };
    let (order, stub) = call(calls, made.rem_unknown, request.opnum(), |to| request.write(to));
    match rem_unknown::Response::read(request.opnum(), 1, &mut Decoder::new(&stub, order)).unwrap() {
        rem_unknown::Response::QueryInterface(results, _) => results,
        other => panic!("{other:?}"),
    }
}

/// MS-DCOM 3.1.2.5.1.6 and 3.2.4.1.1.1: ServerAlive needs no authentication, and its results have
/// no endpoints.
#[test]
fn server_alive_needs_no_authentication() {
    for options in ["", ",security=integrity", ",security=privacy"] {
        let server = Server::start(options);
        let mut stranger = server.stranger();
        assert!(matches!(stranger.ask(&Request::ServerAlive), Ok(Response::ServerAlive(Status(0)))));
        let Ok(Response::ServerAlive2(Ok((_, ways)))) = stranger.ask(&Request::ServerAlive2) else { panic!() };
        assert!(!ways.strings.is_empty() && ways.strings.iter().all(|way| !way.address.contains('[')), "{ways:?}");
        assert!(!ways.securities.is_empty(), "{ways:?}");
        // Other calls need authentication.
        let resolved = stranger.ask(&Request::SimplePing { set: 7 });
        match resolved {
            Ok(_) => assert_eq!(options, ""),
            Err(DirectError::Fault(status)) => assert!(status == Status::ACCESS_DENIED && !options.is_empty()),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn activation_has_its_own_least_level() {
    let by = |options: &str| Server::start(options).stranger().activate_as(&[IFactory::IID]).map(|made| made.result);
    assert!(matches!(by(",security=privacy"), Err(DirectError::Fault(Status::ACCESS_DENIED))));
    assert!(matches!(by(",security=privacy,activation=connect"), Err(DirectError::Fault(Status::ACCESS_DENIED))));
    assert!(matches!(by(",security=privacy,activation=none"), Ok(code::S_OK)));
    let directory = Directory::new();
    let mut server = directory.start(PROGRAM, &[]);
    server.good("accounts anna one-secret");
    let why = server.bad("listen ncacn_ip_tcp:127.0.0.1[,security=connect,activation=privacy]");
    assert!(why.contains("activation=privacy"), "{why}");
}

#[test]
fn objects_can_be_queried_for_iunknown_after_activation() {
    let server = Server::start("");
    let mut stranger = server.stranger();
    let made = stranger.activate_as(&[IUnknown::IID, IFactory::IID]).unwrap();
    let results: Vec<_> = made.interfaces.iter().map(|(result, _)| *result).collect();
    assert_eq!(results, [code::S_OK; 2]);
    let [unknown, factory] = [0, 1].map(|at| *reference(&made, at).standard().unwrap().0);
    assert_eq!(unknown.oid, factory.oid);
    let mut calls = bound(&server.place(), rem_unknown::INTERFACE.id);
    let found = query(&mut calls, &made, factory.ipid, IUnknown::IID);
    assert!(found[0].result == code::S_OK && found[0].std.ipid == unknown.ipid, "{found:?}");
    let none = query(&mut calls, &made, GUID::from_u128(5), IUnknown::IID);
    assert!(none.iter().all(|none| none.result == code::RPC_E_INVALID_OBJECT), "{none:?}");
}

#[test]
fn resolver_references_have_security_bindings_and_no_endpoints() {
    let server = Server::start("");
    let made = server.stranger().activate_as(&[IFactory::IID]).unwrap();
    let first = reference(&made, 0);
    let (_, resolver) = first.standard().unwrap();
    assert_eq!(resolver.securities, made.bindings.as_ref().unwrap().securities);
    assert!(!resolver.securities.is_empty());
    assert!(resolver.strings.iter().filter(|way| way.tower == 7).all(|way| way.address == "127.0.0.1"), "{resolver:?}");
}

/// MS-DCOM 3.1.1.6.2: calls of an object count as pings.
#[test]
fn calls_count_as_pings() {
    let mut server = Server::start("");
    let period = Duration::from_millis(700);
    server.process.good(&format!("pinging {}", period.as_millis()));
    let made = server.stranger().activate_as(&[IFactory::IID]).unwrap();
    let StdObjRef { ipid, .. } = *reference(&made, 0).standard().unwrap().0;
    let mut calls = bound(&server.place(), IFactory::IID);
    let until = Instant::now() + 8 * period;
    while Instant::now() < until {
        call(&mut calls, ipid, LIVE, |_| {});
        std::thread::sleep(period / 4);
    }
    assert_ne!(server.process.number("exported"), 0);
    server.process.becomes(LATEST, "exported", 0);
}

#[test]
fn a_server_without_an_address_listens_on_ipv6_and_ipv4() {
    let directory = Directory::new();
    let mut server = directory.start(PROGRAM, &[]);
    server.good("export there");
    let binding: StringBinding = server.good("listen ncacn_ip_tcp:").parse().unwrap();
    let hosts: &[&str] = if binding.address == "::" { &["127.0.0.1", "::1"] } else { &["127.0.0.1"] };
    for host in hosts {
        let directory = Directory::new();
        let mut client = directory.start(PROGRAM, &[]);
        client.good(&format!("connect ncacn_ip_tcp:{host}[{},name=there]", binding.endpoint));
        client.passes_objects();
    }
}

/// A client that names a server gets an object of this server, even if the client itself has
/// registered the class.
#[test]
fn activation_at_a_named_server_ignores_local_classes() {
    let mut server = Server::start("");
    let mut client = server.directory.start(PROGRAM, &[]);
    client.good("register");
    let before = server.process.number("made");
    client.good(&format!("activate {}", server.binding));
    assert_eq!(server.process.number("made"), before + 1);
}
