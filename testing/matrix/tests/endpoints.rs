//! Tests of endpoints: clients find running servers by the attribute of their interface, or through
//! the endpoint mapper. No server can fill the mapper up, or change other servers' entries.

use ground::{Folder, LATEST, SilentPort, until};
use obvia_rpc::co::{DirectCalls, DirectError};
use obvia_rpc::epm::{self, ANY_HOST, Change, Entry, MapError, REGISTERED_MAX, Tower, Way};
use obvia_rpc::status::Status;
use obvia_rpc::uuid::{NDR, SyntaxId, Uuid};
use obvia_via::Deadline;
use obvia_via::provider::shm::Directory;
use obvia_via::stream::Stream;
use std::process::{Command, Stdio};
use std::sync::Arc;

const SOON: Deadline = Deadline::Within(LATEST);
const UNAVAILABLE: &str = "0x800706ba";
const NOT_REGISTERED: &str = "0x800706d9";
const DUPLICATE: &str = "0x800706cc";

/// A simulated host. Processes on the host see only each other's names.
struct Host(Folder);

impl Host {
    fn new() -> Self {
        Self(Folder::new("matrix"))
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_clock"));
        command.args(words).env("OBVIA_RUNTIME_DIR", self.0.path());
        command
    }

    fn start(&self, words: &[&str]) -> Process {
        let mut process = ground::Process::start(&mut self.command(words));
        let first = process.line();
        Process { process, first }
    }

    /// Starts a mapper. Returns its process, and the option for bindings that use this mapper.
    fn mapper(&self) -> (Process, String) {
        let mapper = self.start(&["mapper", "ncacn_ip_tcp:127.0.0.1[0]", "ncalrpc:[epmapper]"]);
        let port = port(&mapper.first).to_string();
        (mapper, format!("[,mapper={port}]"))
    }

    /// Returns the process ID of the server at a binding, or the error's code.
    fn ask(&self, binding: &str) -> String {
        let output = self.command(&["ask", binding]).stdin(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Waits until `ask` returns this answer.
    fn wait_for(&self, binding: &str, answer: &str) {
        until(&format!("{binding} leads to {answer}"), || self.ask(binding) == answer);
    }

    fn directory(&self) -> Directory {
        Directory::at(self.0.path()).unwrap()
    }
}

/// A process on a host, killed on drop.
struct Process {
    process: ground::Process,
    // The first line of its output.
    first: String,
}

impl Process {
    fn id(&self) -> String {
        self.process.id().to_string()
    }

    /// Sends the process a line, and returns its answer.
    fn push(&mut self) -> String {
        self.process.say("");
        self.process.line()
    }

    /// Kills the process.
    fn kill(self) {}
}

/// Returns the port of the first binding by `ncacn_ip_tcp` in a text.
fn port(text: &str) -> u16 {
    let (_, rest) = text.split_once("ncacn_ip_tcp:").unwrap();
    rest.split(['[', ']']).nth(1).unwrap().parse().unwrap()
}

#[test]
fn servers_are_found_through_the_mapper_while_they_live() {
    let host = Host::new();
    let (_mapper, option) = host.mapper();
    let binding = format!("ncacn_ip_tcp:127.0.0.1{option}");
    assert_eq!(host.ask(&binding), NOT_REGISTERED);
    let first = host.start(&["server", "ncacn_ip_tcp:127.0.0.1[0]"]);
    assert!(first.first.ends_with(" registered"), "{}", first.first);
    assert_eq!(host.ask(&binding), first.id());
    let datagrams = format!("ncadg_ip_udp:127.0.0.1{option}");
    assert_eq!(host.ask(&datagrams), NOT_REGISTERED);
    let mut second =
        host.start(&["server", "ncacn_ip_tcp:127.0.0.1[0]", "ncadg_ip_udp:127.0.0.1[0]", "ncalrpc:[second]"]);
    assert_eq!(host.ask(&datagrams), second.id());
    assert_eq!(host.ask(&binding), first.id(), "the second is beside the first, not in its place");
    first.kill();
    host.wait_for(&binding, &second.id());
    // The server ends its registration before it answers, and goes on listening.
    let direct = format!("ncacn_ip_tcp:127.0.0.1[{}]", port(&second.first));
    assert_eq!(second.push(), "alone");
    assert_eq!([host.ask(&binding), host.ask(&direct)], [NOT_REGISTERED.to_owned(), second.id()]);
}

#[test]
fn interfaces_have_well_known_endpoints() {
    let host = Host::new();
    assert_eq!(host.ask("ncalrpc:"), UNAVAILABLE);
    let server = host.start(&["server"]);
    // The server cannot register, because no mapper runs. It skips one endpoint, whose protocol
    // sequence is not supported.
    assert!(server.first.starts_with("ncalrpc:[clock] ncacn_ip_tcp:"), "{}", server.first);
    assert!(server.first.ends_with(UNAVAILABLE), "{}", server.first);
    assert_eq!(host.ask("ncalrpc:"), server.id());
    assert_eq!(host.ask(&format!("ncacn_ip_tcp:127.0.0.1[{}]", port(&server.first))), server.id());
    // The interface's attribute names no TCP endpoint, so the client asks the mapper. Nothing
    // listens at the mapper's port in this test.
    let silent = SilentPort::new();
    assert_eq!(host.ask(&format!("ncacn_ip_tcp:127.0.0.1[,mapper={}]", silent.number())), UNAVAILABLE);
}

#[test]
fn registrations_outlive_their_mapper() {
    let host = Host::new();
    let (mapper, _) = host.mapper();
    let server = host.start(&["server", "ncacn_ip_tcp:127.0.0.1[0]"]);
    mapper.kill();
    let (_mapper, option) = host.mapper();
    host.wait_for(&format!("ncacn_ip_tcp:127.0.0.1{option}"), &server.id());
}

#[test]
fn registering_without_endpoints_is_refused() {
    let codes = |error: obvia::Error| format!("{:#010x}", error.code().0);
    assert_eq!(obvia::register_endpoints(None, "").map(drop).map_err(codes), Err("0x800706b6".to_owned()));
    let elsewhere = obvia::register_endpoints(Some("ncacn_ip_tcp:127.0.0.1[135]"), "");
    assert_eq!(elsewhere.map(drop).map_err(codes), Err("0x80070057".to_owned()));
    let mapper = obvia::serve_endpoint_mapper(&["ncacn_ip_tcp:127.0.0.1[0]"]).unwrap();
    assert_eq!(obvia::serve_endpoint_mapper(&[]).map(drop).map_err(codes), Err(DUPLICATE.to_owned()));
    // The process listens now, but serves no interface.
    assert_eq!(obvia::register_endpoints(None, "").map(drop).map_err(codes), Err("0x80070057".to_owned()));
    let known = || obvia::performed_at(&format!("ncacn_ip_tcp:127.0.0.1[,mapper={}]", port(&mapper.bindings()[0])));
    let found = known().unwrap();
    assert_eq!((found.len(), found[0].annotation.as_str()), (1, "endpoint mapper"));
    let binding = mapper.bindings()[0].clone();
    assert_eq!(
        obvia::performed_at(&binding).unwrap(),
        [],
        "what it has itself is no interface that a program performs"
    );
    drop(mapper);
    let binding = binding.replace(&format!("[{}]", port(&binding)), &format!("[,mapper={}]", port(&binding)));
    assert_eq!(obvia::performed_at(&binding).map_err(codes), Err("0x800706b5".to_owned()));
}

const ANY: SyntaxId = SyntaxId { uuid: Uuid(0x3d7a_1f60_5b0e_4c0a_8f2d_9e11_0000_0014), version: 1 };

fn entries(ports: std::ops::Range<u16>) -> Vec<Entry> {
    let entry = |port| Entry {
        object: Uuid(u128::from(port)),
        tower: Tower { interface: ANY, transfer: NDR, way: Way::Tcp(ANY_HOST, port) },
        annotation: "a stranger".to_owned(),
    };
    ports.map(entry).collect()
}

fn change(calls: &mut DirectCalls, change: Change, entries: &[Entry]) -> Result<(), MapError> {
    let (order, results) = calls.call(epm::change_request(change, entries), SOON).unwrap();
    epm::changed(order, &results)
}

#[test]
fn mapper_registrations_are_limited_and_protected_from_others() {
    let host = Host::new();
    let (mapper, _) = host.mapper();
    let port = port(&mapper.first);
    let local = || {
        let stream = Stream::connect_local(&host.directory(), "epmapper", SOON).unwrap();
        DirectCalls::bind(Arc::new(stream), epm::INTERFACE, SOON).unwrap()
    };
    let mut far =
        DirectCalls::bind(Arc::new(Stream::connect("127.0.0.1", port, SOON).unwrap()), epm::INTERFACE, SOON).unwrap();
    let refused = Err(MapError::Status(epm::CANNOT_PERFORM));
    let most = REGISTERED_MAX as u16;
    assert_eq!(change(&mut far, Change::Insert, &entries(1..2)), refused, "over a network");
    // Invalid calls: more entries than bytes, a null tower, and an unknown method. The failure of
    // one call does not affect the other calls.
    let pointless = [&[1, 0, 0, 0, 1, 0, 0, 0][..], &[0; 28]].concat();
    for (opnum, stub, status) in [
        (0, vec![0xff; 64], Status::BAD_STUB_DATA),
        (0, pointless, Status::BAD_STUB_DATA),
        (2, vec![0xff; 64], Status::BAD_STUB_DATA),
        (3, vec![0xff; 64], Status::BAD_STUB_DATA),
        (99, Vec::new(), Status::OP_RNG_ERROR),
    ] {
        let outcome = far.call((opnum, stub), SOON);
        assert!(matches!(outcome, Err(DirectError::Fault(found)) if found == status), "{opnum}: {outcome:?}");
    }
    let (mut one, mut other) = (local(), local());
    assert_eq!(change(&mut one, Change::Insert, &entries(1..most + 2)), refused);
    assert_eq!(change(&mut one, Change::Insert, &entries(1..most + 1)), Ok(()));
    assert_eq!(change(&mut one, Change::Insert, &entries(most + 1..most + 2)), refused);
    assert_eq!(change(&mut other, Change::Insert, &entries(most + 1..most + 2)), Ok(()));
    let unknown = Err(MapError::Status(epm::NOT_REGISTERED));
    assert_eq!(change(&mut other, Change::Delete, &entries(1..2)), unknown);
    assert_eq!(change(&mut far, Change::Delete, &entries(1..2)), refused);
    let mut map = |port: u16| {
        let wanted = Tower { interface: ANY, transfer: NDR, way: Way::Tcp(ANY_HOST, 0) };
        let (order, results) = far.call(epm::map_request(&wanted, Some(Uuid(port.into()))), SOON).unwrap();
        epm::mapped(order, &results)
    };
    assert_eq!(map(1), Ok(vec![Way::Tcp([127, 0, 0, 1], 1)]));
    drop(one);
    until("entries go with their connection", || map(1) == Err(MapError::Status(epm::NOT_REGISTERED)));
    assert_eq!(map(most + 1), Ok(vec![Way::Tcp([127, 0, 0, 1], most + 1)]));
}
