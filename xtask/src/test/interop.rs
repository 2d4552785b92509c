//! Peers that others wrote judge the standard path: Samba, impacket, scapy, j-interop, and tshark of what they said. testing/interop/README.md has
//! the list.

mod distributed;
mod jinterop;
mod libraries;
mod traces;
mod wine;

use super::examples::{Names, Server};
use crate::program::{Program, at_once, target};
use crate::repo::root;
use crate::temporary::Folder;
use crate::tools::Tool;
use crate::{Outcome, Problem, tools, workspace};
use std::net::TcpListener;

/// Who has an account at the test servers.
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
/// Where endpoint mappers are found.
const MAPPER_PORT: u16 = 135;

/// What `interop-calls` leaves out, as it takes its time.
const ASLEEP: &str = "TestSleep";

/// All of them but the last, which takes its time.
const QUICK: [&str; 2] = ["rpc.echo", "--option=torture:quick=yes"];

pub(super) fn run() -> Outcome {
    tools::ensure(&[Tool::Judges, Tool::JavaJudges, Tool::Widl])?;
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

/// What takes minutes.
pub(super) fn run_long() -> Outcome {
    tools::ensure(&[Tool::JavaJudges])?;
    workspace::build()?;
    jinterop::run_long()
}

/// Wine beside them: `cargo xtask interop-wine`.
pub(crate) fn run_wine(_: &[String]) -> Outcome {
    wine::run()
}

/// Whether a server can listen where everybody looks for mappers and resolvers.
fn has_usual_port(who: &str) -> bool {
    match TcpListener::bind(("127.0.0.1", MAPPER_PORT)) {
        Ok(_) => true,
        Err(error) => {
            println!("    {who} on port {MAPPER_PORT} is left out, as that cannot be had: {error}");
            false
        }
    }
}

/// The port that a server says in a binding.
fn port_of(server: &Server) -> &str {
    let endpoint = server.place().rsplit('[').next().unwrap_or_default();
    endpoint.split([',', ']']).next().unwrap_or_default()
}

/// A program of the build.
fn built(name: &str) -> String {
    target().join("debug").join(name).display().to_string()
}

fn script(name: &str) -> String {
    root().join("testing/interop").join(name).display().to_string()
}

/// The Python of the judges from PyPI.
fn python(name: &str, arguments: &[&str]) -> Program {
    Program::new(&tools::judges_python(), &[&script(name)]).with(arguments)
}

/// smbtorture's test of a server at a port; `options` are parts of its binding, each behind a comma.
fn smbtorture(port: &str, options: &str, credentials: &str, arguments: &[&str]) -> Program {
    let binding = format!("ncacn_ip_tcp:127.0.0.1[{port}{options}]");
    Program::new("smbtorture", &[&binding, "-U", credentials]).with(arguments)
}

/// Runs tests of smbtorture, all of which have to succeed by name.
fn succeeds(program: &Program, suite: &str, tests: &[&str]) -> Outcome {
    println!("    $ {}", program.line());
    // It ends with an error where one failed; what it printed says which.
    let said = program.read_all()?;
    let missed = |test: &&&str| !said.lines().any(|line| line == format!("success: {suite}.{test}"));
    match tests.iter().find(missed) {
        None => Ok(()),
        Some(test) => Err(Problem::Failed(format!("{}: {suite}.{test} did not succeed\n{said}", program.line()))),
    }
}

/// DCOM's formats and calls, and Automation's: what the tests of `obvia::orpc` and `obvia::automation` take for impacket's and scapy's is
/// theirs.
fn objects() -> Outcome {
    for (script, vectors) in [("dcom_vectors.py", "orpc/dcom.txt"), ("oaut_vectors.py", "automation/invoke.txt")] {
        let vectors = root().join("testing/vectors").join(vectors).display().to_string();
        python(script, &[&vectors]).run()?;
    }
    Ok(())
}

/// NDR as the compiler's plans have it: Samba's tests of `rpcecho`, whose server was made from IDL.
fn marshaling() -> Outcome {
    let server = Server::start(&Program::new(&built("interop-echo"), &["ncacn_ip_tcp:127.0.0.1[0]"]))?;
    let port = port_of(&server);
    succeeds(&smbtorture(port, "", "%", &["rpc.echo"]), "echo", &ECHO)?;
    succeeds(&smbtorture(port, ",bigendian", "%", &QUICK), "echo", &ECHO[..9])
}

/// The endpoint mapper as the command has it, the management interface of servers made from IDL, and finding those by their interface alone.
fn endpoints() -> Outcome {
    // Whoever names no endpoint looks for mappers there and nowhere else.
    let is_usual = has_usual_port("who looks for the mapper");
    let names = Names::new()?;
    let wanted = if is_usual { MAPPER_PORT.to_string() } else { "0".to_owned() };
    let mapper = Program::new(&built("obvia"), &["epmapper", "--host", "127.0.0.1", "--port", &wanted]);
    let mapper = Server::start(&names.see(mapper))?;
    let port = port_of(&mapper);
    // With the mapper's own they are ten: `smbtorture` wants to see a lookup whose last answer is full.
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
    // It looks for every interface that Samba knows, and asks those that it finds.
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

/// Protocol data units, the endpoint mapper and the management interface, with tshark as the witness.
fn units() -> Outcome {
    let server = Server::start(&Program::new(&built("examples/raw_server"), &["127.0.0.1:0"]))?;
    let port = server.place();
    for options in ["", ",bigendian"] {
        let tests = smbtorture(port, options, "%", &["rpc.epmapper"]);
        succeeds(&tests, "epmapper", &["Map_full", "Map_simple", "Lookup_simple", "Lookup_terminate_search"])?;
    }
    Program::new("/usr/bin/python3", &[&script("raw_samba.py"), "127.0.0.1", port]).run()?;
    // To the command it is a server that knows nothing of obvia: its management interface says what it has, and so does its mapper.
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

/// This project's client with a server that others wrote.
fn client() -> Outcome {
    let server = Server::start(&python("raw_scapy.py", &["0"]))?;
    let place = format!("127.0.0.1:{}", server.place());
    Program::new(&built("examples/raw_client"), &[&place, "one-at-a-time"]).run()
}

/// NTLM and SPNEGO at each level, on both sides.
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
    // The last test of all sleeps for the most part.
    let levels = ["sign", "seal", "connect"];
    let combined = levels.iter().flat_map(|level| ["ntlm", "spnego"].map(|kind| format!(",{level},{kind}")));
    at_once(combined.map(|options| move || all(options)))?;
    for level in levels {
        quick(format!(",{level}"))?;
        quick(format!(",{level},spnego,bigendian"))?;
    }
    private(&echo)
}

/// smbtorture as the user who has an account.
fn torture(port: &str, options: &str, tests: &[&str]) -> Program {
    let [user, password] = USER;
    smbtorture(port, options, &format!("DOMAIN/{user}%{password}"), tests)
}

/// A server that takes calls at the level of privacy alone, with tshark as the witness of what is said to it by a client of this project's, by
/// impacket, and by Samba.
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
