//! Tests of `obvia epmapper`, and of `ls`, `describe` and `call` with servers of functions, by
//! bindings or the mapper.

use crate::running::{Directory, Ran, echo_server};
use ground::Process;
use rustix::process::Signal;
use serde_json::json;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

const ECHO: &str = "60a15ec5-4de8-11d7-a637-005056a20182";
const IDL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testing/interop/idl/rpcecho.idl");

/// A process that prints its string bindings.
struct Server {
    process: Process,
    bindings: Vec<String>,
}

impl Server {
    /// Starts the process, and waits for `lines` lines that end in a binding.
    fn start(mut command: Command, directory: &Directory, lines: usize) -> Self {
        let mut process = Process::start(command.env("OBVIA_RUNTIME_DIR", directory.path()));
        let bindings = (0..lines).map(|_| process.line().split(' ').next_back().unwrap().to_owned()).collect();
        Self { process, bindings }
    }

    fn mapper(directory: &Directory) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_obvia"));
        command.args(["epmapper", "--host", "127.0.0.1", "--port", "0"]);
        Self::start(command, directory, 2)
    }

    fn echo(directory: &Directory, arguments: &[&str]) -> Self {
        let mut command = Command::new(echo_server());
        command.args(arguments);
        let lines = arguments.iter().filter(|word| !word.starts_with("--")).count();
        Self::start(command, directory, lines)
    }

    fn port(&self) -> &str {
        self.bindings[0].split(['[', ']']).nth(1).unwrap()
    }
}

#[test]
fn functions_are_listed_described_and_called_over_any_protocol_sequence() {
    let directory = Directory::new();
    let bindings = ["ncacn_ip_tcp:127.0.0.1", "ncalrpc:", "ncacn_vi_udp:127.0.0.1", "ncacn_vi_shm:[echo]"];
    let server = Server::echo(&directory, &bindings);
    for binding in &server.bindings {
        let listed = directory.obvia(&["ls", "--json", binding]).json();
        let expected = json!([{
            "interface": "rpcecho", "iid": ECHO, "version": "1.0", "object": null, "annotation": "", "bindings": [binding],
        }]);
        assert_eq!(listed, expected);
        assert_eq!(directory.obvia(&["call", binding, "AddOne", "41"]).good(), "out_data = 42\n", "{binding}");
        let text = directory.obvia(&["describe", binding, "rpcecho"]).good();
        assert!(text.contains("\ninterface rpcecho {\n    void AddOne("), "{text}");
    }
    let table = directory.obvia(&["ls", "-v", &server.bindings[0]]).good();
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["FUNCTIONS", "VERSION", "UUID", "BINDING", "OBJECT", "ANNOTATION"]);
    assert_eq!(rows[1], ["rpcecho", "1.0", ECHO, &server.bindings[0], "-"]);
    let ndr = server.bindings[0].replace(']', ",transfer=ndr]");
    let json = directory.obvia(&["call", "--json", &ndr, "rpcecho.TestCall2", "7"]).json();
    assert_eq!(json, json!({ "info": { "info7": { "v1": 80, "info4": { "v": 90 } } }, "returned": 0 }));
    let wrong = directory.obvia(&["call", &ndr, "rpcecho.AddTwo", "7"]).bad();
    assert!(wrong.contains("rpcecho has no method `AddTwo`"), "{wrong}");
}

#[test]
fn functions_are_called_through_the_endpoint_mapper() {
    let directory = Directory::new();
    let mapper = Server::mapper(&directory);
    let host = format!("ncacn_ip_tcp:127.0.0.1[,mapper={}]", mapper.port());
    let call = |binding: &str, words: &[&str]| directory.obvia(&[&["call", "--idl", IDL, binding], words].concat());
    let missing = call(&host, &["AddOne", "41"]).bad();
    assert!(
        missing.contains("the endpoint mapper has no endpoint of the interface (EPT_S_NOT_REGISTERED)"),
        "{missing}"
    );
    let server = Server::echo(&directory, &["--register", "ncacn_ip_tcp:127.0.0.1", "ncalrpc:"]);
    assert_eq!(call(&host, &["AddOne", "41"]).good(), "out_data = 42\n");
    assert_eq!(call("ncalrpc:", &["rpcecho.AddOne", "1"]).good(), "out_data = 2\n");
    let ndr64 = host.replace(']', ",transfer=ndr64]");
    assert_eq!(call(&ndr64, &["TestCall", "hello"]).good(), "s2 = \"hello\"\n");
    let listed = directory.obvia(&["ls", "--json", &host]).json();
    let found: Vec<_> = listed.as_array().unwrap().iter().map(|it| (&it["annotation"], &it["bindings"][0])).collect();
    let [own, echo] = ["endpoint mapper", "rpcecho"].map(|text| json!(text));
    let bindings: Vec<_> = mapper.bindings.iter().chain(&server.bindings).map(|binding| json!(binding)).collect();
    assert_eq!(found, [(&own, &bindings[0]), (&own, &bindings[1]), (&echo, &bindings[2]), (&echo, &bindings[3])]);
    // A binding without an endpoint leads to the mapper, and not to a server that could describe
    // its interfaces. The command therefore needs an IDL file.
    let without = directory.obvia(&["call", &host, "rpcecho.AddOne", "41"]).bad();
    assert!(without.contains("--idl FILE"), "{without}");
}

#[test]
fn a_signalled_endpoint_mapper_exits_successfully() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let directory = Directory::new();
        let mut mapper = Server::mapper(&directory);
        mapper.process.signal(signal);
        let status = mapper.process.await_end();
        assert_eq!((status.code(), status.signal()), (Some(0), None), "{signal:?}");
        let host = format!("ncacn_ip_tcp:127.0.0.1[,mapper={}]", mapper.port());
        let gone = directory.obvia(&["ls", &host]).bad();
        assert!(gone.contains("the endpoint mapper at") && gone.contains("cannot be queried"), "{gone}");
        let again = Server::mapper(&directory);
        drop(again);
    }
}

#[test]
fn errors_about_ports_in_use_name_the_binding() {
    let directory = Directory::new();
    let mapper = Server::mapper(&directory);
    let words = ["epmapper", "--host", "127.0.0.1", "--name", "other", "--port", mapper.port()];
    let Ran { code, err, .. } = directory.obvia(&words);
    assert!(code == 1 && err.contains(&format!("ncacn_ip_tcp:127.0.0.1[{}]", mapper.port())), "{err}");
    let taken = directory.obvia(&["epmapper", "--host", "127.0.0.1", "--port", "0"]).bad();
    assert!(taken.contains("(RPC_S_DUPLICATE_ENDPOINT)"), "{taken}");
}
