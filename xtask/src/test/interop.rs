//! Tests the standard's protocols with independent implementations: Samba, impacket, scapy and
//! j-interop are peers, and tshark checks the recorded traffic. testing/interop/README.md has the
//! list of tests.

mod distributed;
mod jinterop;
mod libraries;
mod traces;
mod wine;

use crate::outcome::{Outcome, Problem};
use crate::program::{Program, at_once, target};
use crate::repo::root;
use crate::server::{Names, Server};
use crate::temporary::Folder;
use crate::tools::Tool;
use crate::{tools, workspace};
use std::net::TcpListener;

/// The user that has an account on the test servers, and the user's password.
const USER: [&str; 2] = ["user", "a secret"];
/// The tests of smbtorture's `rpc.echo`.
const ECHO: [&str; 10] = [
    "addone",
    "sinkdata",
    "echodata",
    "sourcedata",
    "testcall",
    "testcall2",
    "enum",
    "surrounding",
    "doublepointer",
    "sleep",
];

/// The interface of `raw_server`.
const RAW: &str = "0b71a000-5e1f-4c0d-9a11-72617763616c";
/// The well-known port of endpoint mappers.
const MAPPER_PORT: u16 = 135;

/// The slow test of `rpc.echo`, which `interop-calls` leaves out.
const ASLEEP: &str = "TestSleep";

/// The arguments that run all tests of `rpc.echo` except the last, which is slow.
const QUICK: [&str; 2] = ["rpc.echo", "--option=torture:quick=yes"];

pub(super) fn run() -> Outcome {
    tools::ensure(&[Tool::InteropTools, Tool::JInterop, Tool::Widl])?;
    workspace::build()?;
    libraries::run()?;
    objects()?;
    distributed::run()?;
    jinterop::run()?;
    marshaling()?;
    traces::run()?;
    endpoints()?;
    units()?;
    client()?;
    security()
}

/// Runs the tests that take minutes.
pub(super) fn run_long() -> Outcome {
    tools::ensure(&[Tool::JInterop])?;
    workspace::build()?;
    jinterop::run_long()
}

/// Runs the tests with Wine: `cargo xtask interop-wine`.
pub(crate) fn run_wine(_: &[String]) -> Outcome {
    wine::run()
}

/// Whether a server can listen on the well-known port of endpoint mappers and resolvers.
fn has_usual_port(what: &str) -> bool {
    match TcpListener::bind(("127.0.0.1", MAPPER_PORT)) {
        Ok(_) => true,
        Err(error) => {
            println!("    {what} on port {MAPPER_PORT} is left out, because the port is not available: {error}");
            false
        }
    }
}

/// Returns the port in the binding that a server has printed.
fn port_of(server: &Server) -> &str {
    let endpoint = server.place().rsplit('[').next().unwrap_or_default();
    endpoint.split([',', ']']).next().unwrap_or_default()
}

/// Returns the path of a program of the build.
fn built(name: &str) -> String {
    target().join("debug").join(name).display().to_string()
}

/// Returns the options that set a server's ping period, none for the default.
fn ping_options(period: Option<&str>) -> Vec<&str> {
    period.map_or_else(Vec::new, |period| vec!["--pinging", period])
}

fn script(name: &str) -> String {
    root().join("testing/interop").join(name).display().to_string()
}

/// Returns a script that runs with the Python installation that has the packages from PyPI.
fn python(name: &str, arguments: &[&str]) -> Program {
    Program::new(&tools::interop_python(), &[&script(name)]).with(arguments)
}

/// Returns smbtorture for a server at a port. `options` are appended to the server's binding. Each
/// option begins with a comma.
fn smbtorture(port: &str, options: &str, credentials: &str, arguments: &[&str]) -> Program {
    let binding = format!("ncacn_ip_tcp:127.0.0.1[{port}{options}]");
    Program::new("smbtorture", &[&binding, "-U", credentials]).with(arguments)
}

/// Runs tests of smbtorture, and checks the success of each by its name.
fn succeeds(program: &Program, suite: &str, tests: &[&str]) -> Outcome {
    println!("    $ {}", program.line());
    // smbtorture fails if any test fails. Its output names the tests that have succeeded.
    let said = program.read_all()?;
    let missed = |test: &&&str| !said.lines().any(|line| line == format!("success: {suite}.{test}"));
    match tests.iter().find(missed) {
        None => Ok(()),
        Some(test) => Err(Problem::Failed(format!("{}: {suite}.{test} did not succeed\n{said}", program.line()))),
    }
}

/// Checks the vectors of the tests of `obvia::orpc` and `obvia::automation` with impacket and
/// scapy: the vectors of DCOM's formats and calls, and those of Automation.
fn objects() -> Outcome {
    for (script, vectors) in [("dcom_vectors.py", "orpc/dcom.txt"), ("oaut_vectors.py", "automation/invoke.txt")] {
        let vectors = root().join("testing/vectors").join(vectors).display().to_string();
        python(script, &[&vectors]).run()?;
    }
    Ok(())
}

/// Tests the NDR of the compiler's plans, by Samba's tests of `rpcecho` with a server that is made
/// from IDL.
fn marshaling() -> Outcome {
    let server = Server::start(&Program::new(&built("interop-echo"), &["ncacn_ip_tcp:127.0.0.1[0]"]))?;
    let port = port_of(&server);
    succeeds(&smbtorture(port, "", "%", &["rpc.echo"]), "echo", &ECHO)?;
    succeeds(&smbtorture(port, ",bigendian", "%", &QUICK), "echo", &ECHO[..9])
}

/// Tests the endpoint mapper of the command `obvia`, the management interface of servers that are
/// made from IDL, and how clients find these servers by their interface alone.
fn endpoints() -> Outcome {
    // Clients that know no endpoint look for mappers only at the well-known port.
    let is_usual = has_usual_port("the search for the mapper");
    let names = Names::new()?;
    let wanted = if is_usual { MAPPER_PORT.to_string() } else { "0".to_owned() };
    let mapper = Program::new(&built("obvia"), &["epmapper", "--host", "127.0.0.1", "--port", &wanted]);
    let mapper = Server::start(&names.see(mapper))?;
    let port = port_of(&mapper);
    // There are ten entries, the mapper's own ones included, because `smbtorture` expects a lookup
    // whose last response is full.
    let bindings = [["ncacn_ip_tcp:127.0.0.1[0]"; 7].as_slice(), &["ncalrpc:"]].concat();
    let echo = Program::new(&built("interop-echo"), &["--register"]).with(&bindings);
    let echo = Server::start(&names.see(echo))?;
    python("mapped_impacket.py", &["127.0.0.1", port, port_of(&echo)]).run()?;
    for options in ["", ",bigendian"] {
        let tests = smbtorture(port, options, "%", &["rpc.epmapper"]);
        succeeds(&tests, "epmapper", &["Map_simple", "Lookup_simple", "Lookup_terminate_search"])?;
    }
    if !is_usual {
        return Ok(());
    }
    let found = |tests: &[&str]| Program::new("smbtorture", &["ncacn_ip_tcp:127.0.0.1", "-U", "%"]).with(tests);
    // The test looks for every interface that Samba knows, and queries the interfaces that it
    // finds.
    let managed = found(&["rpc.mgmt"]).read_errors()?;
    let identity = "60a15ec5-4de8-11d7-a637-005056a20182  version 0x00000001  'rpcecho'";
    if !managed.contains(identity) {
        return Err(Problem::Failed(format!("rpc.mgmt does not say `{identity}`:\n{managed}")));
    }
    succeeds(&found(&QUICK), "echo", &ECHO[..9])?;
    let commands = "echoaddone 41; echodata 1000; sinkdata 1000; sourcedata 1000";
    let said = Program::new("rpcclient", &["ncacn_ip_tcp:127.0.0.1", "-U", "%", "-c", commands]).read()?;
    if !said.contains("41 + 1 = 42") {
        return Err(Problem::Failed(format!("rpcclient says\n{said}")));
    }
    Program::new("/usr/bin/python3", &[&script("mapped_samba.py"), "127.0.0.1"]).run()
}

/// Tests PDUs, the endpoint mapper and the management interface, and checks the traffic with
/// tshark.
fn units() -> Outcome {
    let server = Server::start(&Program::new(&built("examples/raw_server"), &["127.0.0.1:0"]))?;
    let port = server.place();
    for options in ["", ",bigendian"] {
        let tests = smbtorture(port, options, "%", &["rpc.epmapper"]);
        succeeds(&tests, "epmapper", &["Map_full", "Map_simple", "Lookup_simple", "Lookup_terminate_search"])?;
    }
    Program::new("/usr/bin/python3", &[&script("raw_samba.py"), "127.0.0.1", port]).run()?;
    // The server does not use obvia's export directory, so the command has to ask the server's
    // management interface and mapper.
    for (place, expected) in [(format!("[{port}]"), RAW), (format!("[,mapper={port}]"), "raw calls")] {
        let listed = Program::new(&built("obvia"), &["ls", "-v", &format!("ncacn_ip_tcp:127.0.0.1{place}")]).read()?;
        if !listed.contains(expected) {
            return Err(Problem::Failed(format!("`obvia ls` of {place} does not say {expected}:\n{listed}")));
        }
    }
    let folder = Folder::new()?;
    let capture = folder.path().join("said.pcap").display().to_string();
    {
        let between = Server::start(&python("capture.py", &["0", "127.0.0.1", port, &capture]))?;
        python("raw_impacket.py", &["127.0.0.1", between.place(), port]).run()?;
    }
    traces::nothing_is_malformed(&capture)
}

/// Tests this project's client with an independent server.
fn client() -> Outcome {
    let server = Server::start(&python("raw_scapy.py", &["0"]))?;
    let place = format!("127.0.0.1:{}", server.place());
    Program::new(&built("examples/raw_client"), &[&place, "one-at-a-time"]).run()
}

/// Tests NTLM and SPNEGO at each protection level, on both sides.
fn security() -> Outcome {
    let [user, password] = USER;
    python("auth_tokens.py", &[&built("examples/tokens")]).run()?;
    python("auth_server.py", &[&built("interop-calls")]).run()?;
    let echo = |arguments: &[&str]| Program::new(&built("interop-echo"), &["--user", user, password]).with(arguments);
    let open = Server::start(&echo(&["ncacn_ip_tcp:127.0.0.1[0]"]))?;
    python("auth_calls.py", &["127.0.0.1", port_of(&open), user, password, "none"]).run()?;
    let guarded = Server::start(&echo(&["ncacn_ip_tcp:127.0.0.1[0,security=connect]"]))?;
    let port = port_of(&guarded);
    let all = |options: String| succeeds(&torture(port, &options, &["rpc.echo"]), "echo", &ECHO);
    let quick = |options: String| succeeds(&torture(port, &options, &QUICK), "echo", &ECHO[..9]);
    // The last test of `ECHO` mostly sleeps, so the combinations run concurrently.
    let levels = ["sign", "seal", "connect"];
    let combined = levels.iter().flat_map(|level| ["ntlm", "spnego"].map(|kind| format!(",{level},{kind}")));
    at_once(combined.map(|options| move || all(options)))?;
    for level in levels {
        quick(format!(",{level}"))?;
        quick(format!(",{level},spnego,bigendian"))?;
    }
    private(&echo)
}

/// Returns smbtorture with the user's credentials.
fn torture(port: &str, options: &str, tests: &[&str]) -> Program {
    let [user, password] = USER;
    smbtorture(port, options, &format!("DOMAIN/{user}%{password}"), tests)
}

/// Tests a server that accepts calls only at the privacy level. The clients are this project's,
/// impacket and Samba. tshark checks the traffic.
fn private(echo: &impl Fn(&[&str]) -> Program) -> Outcome {
    let [user, password] = USER;
    let server = Server::start(&echo(&["ncacn_ip_tcp:127.0.0.1[0,security=privacy]"]))?;
    let folder = Folder::new()?;
    let capture = folder.path().join("said.pcap").display().to_string();
    {
        let between = Server::start(&python("capture.py", &["0", "127.0.0.1", port_of(&server), &capture]))?;
        let port = between.place();
        for options in ["auth=ntlm", "transfer=ndr", "transfer=ndr64"] {
            let binding = format!("ncacn_ip_tcp:127.0.0.1[{port},security=privacy,{options}]");
            Program::new(&built("interop-calls"), &["--user", user, password, &binding, "1", ASLEEP]).run()?;
        }
        python("auth_calls.py", &["127.0.0.1", port, user, password, "privacy"]).run()?;
        succeeds(&torture(port, ",seal", &QUICK), "echo", &ECHO[..9])?;
    }
    traces::nothing_is_malformed(&capture)
}
