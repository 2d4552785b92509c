//! Tests j-interop, a Java client of DCOM and Automation, with objects of this project that are
//! called by name. Subjects of the tests are arguments and results, the caller's identity, and the
//! objects' lifetimes. tshark checks the traffic.

use super::traces::{finds, nothing};
use super::{USER, built, has_usual_port, ping_options};
use crate::outcome::Outcome;
use crate::program::{Program, target};
use crate::repo::root;
use crate::temporary::Folder;
use crate::tools;
use std::path::{Path, PathBuf};

/// The ping period in milliseconds. An object is collected after three periods without a ping. The
/// period is so long that a busy machine does not stop the client for three periods.
const PERIOD: &str = "2000";

/// The filter that must not match. It leaves out VT_NULL, VT_CY and arrays of VARIANTs, because
/// tshark 4.0 misinterprets them from any sender.
const WRONG: &str = "(_ws.malformed || _ws.expert.severity == error) && \
    !(dcom.variant_type == 1 || dcom.variant_type == 6 || dcom.sa.vartype == 12)";

/// The runs: the level, the server's bindings, the checks, and the ping period.
///
/// The library authenticates at the connect level whenever it activates objects. It can seal calls
/// on request, but only if the objects listen at another address than their activator: the library
/// has one connection, with one level, for each address. A property of the library's connections
/// reduces the level to signing. The library's pings authenticate by NTLM 1, which fails, so pings
/// only have an effect where no authentication is required.
const RUNS: [(&str, &[&str], &str, Option<&str>); 7] = [
    ("none", &["ncacn_ip_tcp:127.0.0.1[135]"], "values", None),
    ("connect", &["ncacn_ip_tcp:127.0.0.1[135,security=connect]"], "values", None),
    (
        "integrity",
        &["ncacn_ip_tcp:127.0.0.1[0,security=integrity]", "ncacn_ip_tcp:127.0.0.1[135,security=connect]"],
        "values",
        None,
    ),
    (
        "privacy",
        &["ncacn_ip_tcp:127.0.0.1[0,security=privacy]", "ncacn_ip_tcp:127.0.0.1[135,security=connect]"],
        "values",
        None,
    ),
    ("none", &["ncacn_ip_tcp:127.0.0.1[135]"], "held", Some(PERIOD)),
    ("privacy", &["ncacn_ip_tcp:127.0.0.1[0,security=privacy]", "ncacn_ip_tcp:127.0.0.1[135]"], "held", Some(PERIOD)),
    ("connect", &["ncacn_ip_tcp:127.0.0.1[135,security=connect]"], "called", Some(PERIOD)),
];

/// The filters by which tshark recognizes the protection of calls by name at a level.
const PROTECTED: [(&str, &str); 2] = [
    ("integrity", "dcerpc.auth_level == 5 && dcerpc.pkt_type == 0 && dcerpc.opnum == 6"),
    ("privacy", "dcerpc.auth_level == 6 && dcerpc.pkt_type == 0 && dcerpc.opnum == 6"),
];

pub(super) fn run() -> Outcome {
    if !has_usual_port("j-interop") {
        return Ok(());
    }
    let folder = Folder::new()?;
    let classes = compile(folder.path())?;
    for (level, bindings, checks, period) in RUNS {
        let capture = folder.path().join(format!("{level}-{checks}.pcap")).display().to_string();
        let tracer = [&built("obvia"), "trace", "--pcap", &capture, "--"].map(str::to_owned);
        let traced = [&tracer, &server(level, bindings, period)[..]].concat();
        suite(&classes, level, checks, &traced)?.run()?;
        nothing(&capture, WRONG)?;
        if let Some((_, filter)) = PROTECTED.iter().find(|(protected, _)| *protected == level) {
            finds(&capture, filter, &format!("call at the level {level}"))?;
        }
    }
    Ok(())
}

/// Runs the tests of the default ping period, without a capture. At the connect level the library's
/// pings fail, so that only its calls show that the client is alive.
pub(super) fn run_long() -> Outcome {
    if !has_usual_port("j-interop") {
        return Ok(());
    }
    let folder = Folder::new()?;
    let classes = compile(folder.path())?;
    for (level, binding, checks) in [
        ("none", "ncacn_ip_tcp:127.0.0.1[135]", "long"),
        ("connect", "ncacn_ip_tcp:127.0.0.1[135,security=connect]", "long-called"),
    ] {
        suite(&classes, level, checks, &server(level, &[binding], None))?.run()?;
    }
    Ok(())
}

/// Returns the command of a server. With `period`, the server has this ping period.
fn server(level: &str, bindings: &[&str], period: Option<&str>) -> Vec<String> {
    let [user, password] = USER;
    let program = built("interop-script");
    let sealed: &[&str] = if level == "privacy" { &["--sealed"] } else { &[] };
    let words = [&[program.as_str(), "--user", user, password], sealed, &ping_options(period), bindings].concat();
    words.into_iter().map(str::to_owned).collect()
}

/// Compiles the Java test program. Returns the folder of its classes.
fn compile(folder: &Path) -> Outcome<PathBuf> {
    let classes = folder.join("classes");
    let sources = root().join("testing/interop/java-dcom");
    let files = ["Client", "Held", "Suite", "Server", "Values"].map(|name| sources.join(format!("{name}.java")));
    let javac = java("javac")?.with(&["-d", &classes.display().to_string(), "-Xlint:all", "-Werror"]);
    let javac = javac.with(&["--class-path", &class_path(&[])]);
    files.iter().fold(javac, |javac, file| javac.argument(file.display().to_string())).run()?;
    Ok(classes)
}

/// Returns the Java test program. The program starts the server itself, and reads from it the
/// number of objects.
fn suite(classes: &Path, level: &str, checks: &str, server: &[String]) -> Outcome<Program> {
    let [user, password] = USER;
    // The working folder is `target`, because the library opens only its own files and resolves
    // only the host's name.
    let java = java("java")?.with(&["-XX:TieredStopAtLevel=1", "--class-path", &class_path(&[classes])]);
    let java = java.with(&["Suite", "127.0.0.1", user, password, level, checks]);
    Ok(server.iter().fold(java, Program::argument).folder(target()))
}

fn class_path(more: &[&Path]) -> String {
    let jars = tools::jinterop_jars();
    let paths = jars.iter().map(PathBuf::as_path).chain(more.iter().copied());
    paths.map(|path| path.display().to_string()).collect::<Vec<_>>().join(":")
}

/// Returns a program of the JDK.
fn java(name: &str) -> Outcome<Program> {
    Ok(Program::new(&tools::jdk()?.join("bin").join(name).display().to_string(), &[]))
}
