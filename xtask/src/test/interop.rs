//! Peers that others wrote judge the standard path: Samba, impacket, scapy, and tshark of what they said. testing/interop/README.md has
//! the list.

use super::examples::Server;
use crate::program::{Program, target};
use crate::repo::root;
use crate::temporary::Folder;
use crate::{Outcome, Problem, tools};

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

/// All of them but the last, which takes its time.
const QUICK: [&str; 2] = ["rpc.echo", "--option=torture:quick=yes"];

pub(super) fn run() -> Outcome {
    tools::judges()?;
    Program::cargo(&["build", "--quiet", "--package", "interop"]).run()?;
    Program::cargo(&["build", "--quiet", "--package", "obvia-rpc", "--examples"]).run()?;
    marshaling()?;
    units()?;
    client()?;
    security()
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

/// NDR as the compiler's plans have it: Samba's tests of `rpcecho`, whose server was made from IDL.
fn marshaling() -> Outcome {
    let server = Server::start(&Program::new(&built("interop-echo"), &["ncacn_ip_tcp:127.0.0.1[0]"]))?;
    let port = port_of(&server);
    succeeds(&smbtorture(port, "", "%", &["rpc.echo"]), "echo", &ECHO)?;
    succeeds(&smbtorture(port, ",bigendian", "%", &QUICK), "echo", &ECHO[..9])
}

/// The port that a server says in a binding.
fn port_of(server: &Server) -> &str {
    let endpoint = server.place().rsplit('[').next().unwrap_or_default();
    endpoint.split([',', ']']).next().unwrap_or_default()
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
    let folder = Folder::new()?;
    let capture = folder.path().join("said.pcap").display().to_string();
    {
        let between = Server::start(&python("capture.py", &["0", "127.0.0.1", port, &capture]))?;
        python("raw_impacket.py", &["127.0.0.1", between.place(), port]).run()?;
    }
    is_sound(&capture)
}

/// Has tshark look for what is malformed in what was said.
fn is_sound(capture: &str) -> Outcome {
    let wrong = Program::new("tshark", &["-r", capture, "-Y", "_ws.malformed || _ws.expert.severity==error"]).read()?;
    if wrong.trim().is_empty() { Ok(()) } else { Err(Problem::Failed(format!("tshark finds wrong:\n{wrong}"))) }
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
    python("auth_server.py", &[&built("interop-echo")]).run()?;
    let echo = |arguments: &[&str]| Program::new(&built("interop-echo"), &["--user", user, password]).with(arguments);
    let open = Server::start(&echo(&["ncacn_ip_tcp:127.0.0.1[0]"]))?;
    python("auth_calls.py", &["127.0.0.1", port_of(&open), user, password, "none"]).run()?;
    let guarded = Server::start(&echo(&["ncacn_ip_tcp:127.0.0.1[0,security=connect]"]))?;
    for level in ["sign", "seal", "connect"] {
        for options in ["", ",ntlm", ",spnego", ",spnego,bigendian"] {
            let test = |tests| torture(port_of(&guarded), &format!(",{level}{options}"), tests);
            // It sleeps once.
            match (level, options) {
                ("seal", ",spnego") => succeeds(&test(&["rpc.echo"]), "echo", &ECHO)?,
                _ => succeeds(&test(&QUICK), "echo", &ECHO[..9])?,
            }
        }
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
            echo(&["--call", &format!("ncacn_ip_tcp:127.0.0.1[{port},security=privacy,{options}]")]).run()?;
        }
        python("auth_calls.py", &["127.0.0.1", port, user, password, "privacy"]).run()?;
        succeeds(&torture(port, ",seal", &QUICK), "echo", &ECHO[..9])?;
    }
    is_sound(&capture)
}
