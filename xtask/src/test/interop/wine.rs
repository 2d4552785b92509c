//! `cargo xtask interop-wine`: tests a client and a server that have stubs by widl and run under
//! Wine, a second implementation of Windows' RPC runtime. Also lets Wine load a type library. The
//! command is not a part of `cargo xtask test`, because it installs a gigabyte.

use super::{built, script, traces};
use crate::outcome::{Outcome, Problem};
use crate::program::{Program, target};
use crate::server::{Names, Server};
use crate::temporary::Folder;
use crate::tools::Tool;
use crate::{tools, workspace};
use std::net::TcpListener;
use std::path::Path;

/// The number of rounds of each client.
const ROUNDS: &str = "5";
/// The time after which Wine counts as hung, in seconds.
const PATIENCE: &str = "120";
/// The tests that fail with widl 7.0 and Wine 8.0. testing/interop/wine/client.c explains why.
const LEFT_OUT: [&str; 3] = ["TestCall", "TestEnum", super::ASLEEP];

pub(super) fn run() -> Outcome {
    tools::ensure(&[Tool::InteropTools, Tool::Wine])?;
    workspace::build()?;
    let folder = Folder::new()?;
    let made = ["client", "server"].map(|name| folder.path().join(format!("{name}.exe")).display().to_string());
    build(folder.path(), &made)?;
    let [client, server] = made;
    wine(&["wineboot", "-i"]).run()?;
    let outcome = library(folder.path())
        .and_then(|()| calls_by_wine(folder.path(), &client))
        .and_then(|()| calls_of_wine(folder.path(), &server));
    // The wineserver serves only the prefix of these tests, so it is ended after the tests.
    let ended = in_prefix(Program::new("wineserver", &["-k"])).run();
    outcome.and(ended)
}

/// Compiles the two programs with widl and a C compiler.
fn build(folder: &Path, made: &[String; 2]) -> Outcome {
    let source = |name: &str| script(&format!("wine/{name}"));
    let widl = ["--win64", "-Oif", "-h", "-c", "-s", &source("echo.idl")];
    Program::new(tools::WIDL, &widl).folder(folder).run()?;
    for (name, made) in ["client", "server"].iter().zip(made) {
        let stubs = format!("echo_{}.c", &name[..1]);
        let words = ["-O1", "-Wall", "-I.", "-o", made, &source(&format!("{name}.c")), &stubs, "-lrpcrt4"];
        Program::new("x86_64-w64-mingw32-gcc", &words).folder(folder).run()?;
    }
    Ok(())
}

/// Tests that Wine loads a type library of this project.
fn library(folder: &Path) -> Outcome {
    let program = folder.join("libraries.exe").display().to_string();
    let words =
        ["-O1", "-Wall", "-municode", "-o", &program, &script("wine/libraries.c"), "-loleaut32", "-lole32", "-luuid"];
    Program::new("x86_64-w64-mingw32-gcc", &words).folder(folder).run()?;
    let out = folder.display().to_string();
    let words = ["idl", "--language", "tlb", "--out", &out, &super::libraries::source("tones.idl")];
    Program::new(&built("obvia"), &words).run()?;
    wine(&[&program, "tones.tlb"]).folder(folder).run()
}

/// Returns a Windows program that runs without a display and without the components that need one.
fn wine(arguments: &[&str]) -> Program {
    in_prefix(Program::new("timeout", &[PATIENCE, "wine"]).with(arguments))
}

fn in_prefix(program: Program) -> Program {
    program
        .variable("WINEPREFIX", target().join("tools/wine").display().to_string())
        .variable("WINEDEBUG", "-all")
        .variable("WINEDLLOVERRIDES", "mscoree,mshtml=;winedbg.exe=d")
        .variable("DISPLAY", "")
}

/// Tests Wine's client with this project's server.
fn calls_by_wine(folder: &Path, client: &str) -> Outcome {
    let (capture, server) = traces::traced(folder, "by-wine", "ncacn_ip_tcp:127.0.0.1[0]", &Names::new()?)?;
    wine(&[client, "127.0.0.1", super::port_of(&server), ROUNDS]).run()?;
    drop(server);
    traces::nothing_is_malformed(&capture)
}

/// Tests this project's client with Wine's server.
fn calls_of_wine(folder: &Path, server: &str) -> Outcome {
    let server = Server::start(&wine(&[server, &free_port()?]))?;
    let between = Program::new("/usr/bin/python3", &[&script("wine/call_ids.py"), "0", "127.0.0.1", server.place()]);
    let between = Server::start(&between)?;
    let capture = folder.join("of-wine.pcap").display().to_string();
    let binding = format!("ncacn_ip_tcp:127.0.0.1[{}]", between.place());
    let words = ["trace", "--pcap", &capture, "--", &built("interop-calls"), &binding, ROUNDS];
    Names::new()?.see(Program::new(&built("obvia"), &words).with(&LEFT_OUT)).run()?;
    traces::nothing_is_malformed(&capture)
}

/// Returns a port that is free now. Wine's servers cannot choose a port, because they would not
/// report it.
fn free_port() -> Outcome<String> {
    let listener = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let address = listener.map_err(|error| Problem::Failed(format!("looking for a free port: {error}")))?;
    Ok(address.port().to_string())
}
