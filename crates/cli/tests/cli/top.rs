//! Tests of `obvia top` as users run it.

use crate::exits::listening;
use crate::running::{Directory, Server, calc_server};
use ground::Process;
use rustix::process::Signal;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn top_shows_the_connections_of_a_server_by_client() {
    let server = Server::calc();
    let mut command = Command::new(env!("CARGO_BIN_EXE_obvia"));
    command.args(["call", "calc", "Wait", "60000", "--timeout", "120"]).stderr(Stdio::null());
    let client = Process::start(command.env("OBVIA_RUNTIME_DIR", server.directory.path()));
    let until = Instant::now() + Duration::from_secs(60);
    // The client connects some time after its start.
    let found = loop {
        let report = server.obvia(&["top", "--once", "--json", "--interval", "0.1"]).json();
        let [only] = report.as_array().unwrap().as_slice() else { panic!("{report}") };
        assert_eq!((&only["pid"], &only["error"]), (&Value::from(server.pid()), &Value::Null), "{report}");
        assert_eq!(only["names"][0], "calc", "{report}");
        let clients = only["clients"].as_array().unwrap();
        if let Some(found) = clients.iter().find(|one| one["pid"] == client.id() && one["connections"] != 1) {
            // The command's own connections do not count.
            assert_eq!(clients.len(), 1, "{report}");
            break found.clone();
        }
        assert!(Instant::now() < until, "{report}");
    };
    assert!(found["connections"].as_u64().unwrap() >= 2, "one for references, one for calls: {found}");
    let table = server.obvia(&["top", "--once", "--interval", "0.1"]).good();
    assert!(table.starts_with("SERVER") && table.contains(&format!("process {}", client.id())), "{table}");
}

#[test]
fn top_shows_the_rate_of_calls() {
    let directory = Directory::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_obvia"));
    let calls = "bench call_lat --cases null --wait block --paths ncacn_vi_shm --rounds 1000000 --batch 200";
    command.args(calls.split(' ')).stderr(Stdio::null());
    let caller = Process::start(command.env("OBVIA_RUNTIME_DIR", directory.path()));
    let until = Instant::now() + Duration::from_secs(120);
    let is_fast = |report: &Value| report[0]["calls_per_second"].as_f64().is_some_and(|rate| rate > 100.0);
    let client = loop {
        let report = directory.obvia(&["top", "--once", "--json"]).json();
        if is_fast(&report) {
            break report[0]["clients"][0].clone();
        }
        assert!(Instant::now() < until, "{report}");
    };
    assert_eq!(client["pid"], caller.id(), "{client}");
    assert!(client["calls_per_second"].as_f64().unwrap() > 100.0, "{client}");
}

#[test]
fn connections_are_not_listed_for_clients_of_networks() {
    let mut server = Server::start(listening());
    for _ in 0..2 {
        let refused = obvia::connections(&server.line()).unwrap_err();
        assert_eq!(refused.code(), obvia::code::E_ACCESSDENIED, "{refused}");
    }
}

#[test]
fn top_ends_with_the_reader_of_its_output() {
    let server = Server::calc();
    let mut command = Command::new(env!("CARGO_BIN_EXE_obvia"));
    command.args(["top", "--interval", "0.05"]).env("OBVIA_RUNTIME_DIR", server.directory.path());
    let mut top = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(top.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.starts_with("SERVER"), "{first}");
    ground::until("the command ends", || top.try_wait().unwrap().is_some());
    assert_eq!(top.wait().unwrap().code(), Some(0));
}

#[test]
fn a_stopped_server_does_not_delay_the_others() {
    let server = Server::calc();
    let mut command = Command::new(calc_server());
    command.arg("other").env("OBVIA_RUNTIME_DIR", server.directory.path());
    let mut other = Process::start(&mut command);
    while !other.line().starts_with("serving") {}
    other.signal(Signal::STOP);
    // `obvia top` queries each server twice, and waits at most a second for each answer.
    ground::takes_less(Duration::from_secs(9), || {
        let report = server.obvia(&["top", "--once", "--json", "--interval", "0.1"]).json();
        let of = |pid: u32| report.as_array().unwrap().iter().find(|one| one["pid"] == pid).unwrap();
        assert!(of(server.pid())["error"].is_null() && of(other.id())["error"].is_string(), "{report}");
    });
}

#[test]
fn top_without_servers_shows_nothing() {
    let directory = Directory::new();
    let ran = directory.obvia(&["top", "--once", "--interval", "0.05"]);
    assert!(ran.code == 0 && ran.out.is_empty() && ran.err.contains("no name is exported"), "{ran:?}");
    assert_eq!(directory.obvia(&["top", "--once", "--json", "--interval", "0.05"]).json(), Value::Array(Vec::new()));
    directory.obvia(&["top", "--json"]).bad_with(2);
    directory.obvia(&["top", "--interval", "0"]).bad_with(2);
}
