//! Peers that others wrote judge the standard path: Samba, impacket, scapy, and tshark of what they said. testing/interop/README.md has
//! the list.

use super::examples::Server;
use crate::program::{Program, target};
use crate::repo::root;
use crate::temporary::Folder;
use crate::{Outcome, Problem, tools};

/// Who the accounts of the test servers have.
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
    objects()?;
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

/// DCOM's formats and calls: what the tests of `obvia::orpc` take for impacket's and scapy's is theirs.
fn objects() -> Outcome {
    let vectors = root().join("testing/vectors/orpc/dcom.txt").display().to_string();
    python("dcom_vectors.py", &[&vectors]).run()
}

/// NDR as the compiler's plans have it: Samba's tests of `rpcecho`, whose server was made from IDL.
fn marshaling() -> Outcome {
    let server = Server::start(&Program::new(&built("interop-echo"), &["ncacn_ip_tcp:127.0.0.1[0]"]))?;
    let port = server.place().trim_end_matches(']').rsplit('[').next().unwrap_or_default();
    succeeds(&smbtorture(port, "", "%", &["rpc.echo"]), "echo", &ECHO)?;
    succeeds(&smbtorture(port, ",bigendian", "%", &QUICK), "echo", &ECHO[..9])
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
    let wrong =
        Program::new("tshark", &["-r", &capture, "-Y", "_ws.malformed || _ws.expert.severity==error"]).read()?;
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
    python("auth_server.py", &[&built("examples/echo_client")]).run()?;
    let server = Server::start(&Program::new(&built("examples/echo_server"), &["0", user, password]))?;
    let port = server.place();
    python("auth_calls.py", &["127.0.0.1", port, user, password]).run()?;
    for level in ["sign", "seal", "connect"] {
        for kind in ["", ",ntlm", ",spnego"] {
            let options = format!(",{level}{kind}");
            let tests = smbtorture(port, &options, &format!("DOMAIN/{user}%{password}"), &QUICK);
            // The server has no more methods.
            succeeds(&tests, "echo", &ECHO[..4])?;
        }
    }
    Ok(())
}
