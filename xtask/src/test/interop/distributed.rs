//! Tests independent DCOM clients with objects of this project, in Rust and in Java. The clients
//! are impacket at each level of authentication, scapy, and Samba's tests of the resolver. tshark
//! checks all traffic.

use super::traces::{finds, nothing_is_malformed};
use super::{USER, built, has_usual_port, ping_options, python, succeeds};
use crate::outcome::{Outcome, Problem};
use crate::program::Program;
use crate::server::Server;
use crate::temporary::Folder;
use crate::tools;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// The only binding at which the clients look for the server.
const BINDING: &str = "ncacn_ip_tcp:127.0.0.1[135]";

/// The tests of one run of impacket's script.
struct Tests {
    /// The part of the file names that distinguishes the runs.
    name: &'static str,
    options: &'static [&'static str],
    /// The server's ping period in milliseconds. Without one, the default of two minutes applies,
    /// so that a call which a busy machine delays still finds its object.
    period: Option<&'static str>,
}

const CALLS: Tests = Tests { name: "calls", options: &["--except", "pings"], period: None };
/// The tests for the server in Java, which lacks the class that `class_factories` needs. In Java an
/// access rule holds a reference to its object, so that objects without access, as in
/// `who_may_not`, are never freed.
const CALLS_IN_JAVA: Tests =
    Tests { options: &["--except", "pings", "--except", "who_may_not", "--except", "class_factories"], ..CALLS };
/// The script's constant `SILENCE` follows from this period.
const PINGS: Tests = Tests { name: "pings", options: &["--only", "pings"], period: Some("500") };

/// The classes of the server.
const CLASSES: [&str; 4] = [
    "5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2b01",
    "5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2b02",
    "5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2b03",
    "5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2b04",
];
/// The NT hash of the user's password.
const HASH: &str = "01610ca63fc6868f0391c63f9abb3e02";

/// The filters that must match packets of unprotected traffic, and their meanings.
const SAID: [(&str, &str); 4] = [
    ("dcom.objref.flags == 1 && isystemactivator", "reference of the standard form in the answer to an activation"),
    ("isystemactivator.properties.scmresp.oxid", "process that has the object, in the answer to an activation"),
    ("dcom.objref.flags == 1 && remact", "reference in the answer to an older activation"),
    ("remunk && dcom.hresult == 0", "answer about further interfaces or references"),
];

pub(super) fn run() -> Outcome {
    if !has_usual_port("DCOM") {
        return Ok(());
    }
    let folder = Folder::new()?;
    for level in ["none", "connect", "integrity", "privacy"] {
        let capture = impacket(folder.path(), level, &CALLS)?;
        if level == "none" {
            SAID.iter().try_for_each(|(filter, what)| finds(&capture, filter, what))?;
        }
        started(folder.path(), level, &CALLS)?;
    }
    let capture = impacket(folder.path(), "none", &PINGS)?;
    finds(&capture, "oxid.opnum == 2 && dcerpc.pkt_type == 2", "answer to a ping")?;
    // In this run, the service has to authenticate the pings, and passes them on to the server.
    started(folder.path(), "privacy", &PINGS)?;
    in_java(folder.path())?;
    let (capture, server) = serve(folder.path())?;
    python("dcom_scapy.py", &["127.0.0.1"]).run()?;
    let tests = ["ServerAlive", "ServerAlive2"];
    let names = tests.map(|test| format!("rpc.oxidresolve.oxidresolver.{test}"));
    let resolver = Program::new("smbtorture", &["ncacn_ip_tcp:127.0.0.1", "-U", "%"]);
    succeeds(&resolver.with(&names.each_ref().map(String::as_str)), "oxidresolver", &tests)?;
    drop(server);
    nothing_is_malformed(&capture)
}

/// Returns the capture file and the command that traces a server of objects.
fn command(folder: &Path, name: &str, server: &str, period: Option<&str>) -> (String, Vec<String>) {
    let capture = folder.join(format!("{name}.pcap")).display().to_string();
    let [user, password] = USER;
    let server = built(server);
    let words = ["trace", "--pcap", &capture, "--", &server, "--user", user, password];
    let words = [&words[..], &ping_options(period), &[BINDING]].concat().into_iter().map(str::to_owned).collect();
    (capture, words)
}

/// Tests with impacket's script. The script starts the server itself, because it reads the number
/// of objects from the server's standard output. Returns the capture file.
fn impacket(folder: &Path, level: &str, tests: &Tests) -> Outcome<String> {
    let (capture, client) = traced(folder, level, "interop-objects", tests);
    client.run()?;
    nothing_is_malformed(&capture)?;
    Ok(capture)
}

/// Returns the capture file and the command line of impacket's script, which starts the server.
fn traced(folder: &Path, level: &str, server: &str, tests: &Tests) -> (String, Program) {
    let (capture, words) = command(folder, &format!("{server}-{level}-{}", tests.name), server, tests.period);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    (capture, client(level, tests).with(&[&built("obvia")]).with(&words))
}

/// Returns the command line of impacket's script, up to the words of the server.
fn client(level: &str, tests: &Tests) -> Program {
    let [user, password] = USER;
    python("dcom_impacket.py", &["127.0.0.1", user, password, level]).with(tests.options)
}

/// Tests the same objects in Java.
fn in_java(folder: &Path) -> Outcome {
    let home = tools::jdk()?;
    for (level, tests) in [("none", &CALLS_IN_JAVA), ("privacy", &CALLS_IN_JAVA), ("none", &PINGS)] {
        let (capture, client) = traced(folder, level, "interop-java", tests);
        client.variable("JAVA_HOME", home.display().to_string()).run()?;
        nothing_is_malformed(&capture)?;
    }
    Ok(())
}

/// Tests with impacket and a server that the host's service starts on demand, at each level.
/// Clients that authenticate with an account can start the server.
fn started(folder: &Path, level: &str, tests: &Tests) -> Outcome {
    let place = folder.join(format!("started-{level}-{}", tests.name));
    let [names, classes] = ["names", "classes"].map(|name| place.join(name));
    for folder in [&place, &names, &classes] {
        std::fs::DirBuilder::new().mode(0o700).create(folder).map_err(|error| Problem::Failed(error.to_string()))?;
    }
    let [count, accounts, capture] = ["count", "accounts", "said.pcap"].map(|name| place.join(name));
    let who = if level == "none" { "everybody".to_owned() } else { format!("account {}", USER[0]) };
    let pinging: String = ping_options(tests.period).iter().map(|option| format!("argument = {option}\n")).collect();
    let server = format!("program = {}\n{pinging}", built("interop-objects"));
    for class in CLASSES {
        let text =
            format!("class = {class}\n{server}argument = --count\nargument = {}\nremote = {who}\n", count.display());
        write(&classes.join(format!("{class}.class")), &text)?;
    }
    write(&accounts, &format!("{} = {HASH}\n", USER[0]))?;
    let [names, classes, count, accounts, capture] =
        [names, classes, count, accounts, capture].map(|path| path.display().to_string());
    let program = built("obvia");
    let service = [&program, "trace", "--pcap", &capture, "--", &program, "scm", "--listen", BINDING];
    let client = client(level, tests).with(&["--started", &count]).with(&service);
    let client = client.variable("OBVIA_RUNTIME_DIR", names).variable("OBVIA_CLASSES", classes);
    client.variable("OBVIA_ACCOUNTS", accounts).run()?;
    nothing_is_malformed(&capture)
}

/// Writes a file that only its owner can access.
fn write(path: &Path, text: &str) -> Outcome {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| Problem::Failed(format!("{}: {error}", path.display())))
}

/// Starts a traced server for the other clients. Returns the capture file and the server.
fn serve(folder: &Path) -> Outcome<(String, Server)> {
    let (capture, words) = command(folder, "others", "interop-objects", None);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Ok((capture, Server::start(&Program::new(&built("obvia"), &words))?))
}
