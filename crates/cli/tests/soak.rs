//! Tests that a server releases all resources of many clients.

use rustix::process::{Resource, getrlimit};
use std::process::Command;

/// The length of the shortest run with ten thousand clients, in seconds.
const LONG: u64 = 60;
/// The open files of a server with ten thousand clients.
const OPEN_FILES: u64 = 10_200;

#[test]
#[ignore = "takes a minute where OBVIA_SOAK_SECONDS says so"]
fn ten_thousand_clients_come_call_and_go() {
    let seconds = std::env::var("OBVIA_SOAK_SECONDS").map_or(10, |seconds| seconds.parse().unwrap());
    let connections = if seconds >= LONG { "1000" } else { "20" };
    let most = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    if seconds >= LONG && most < OPEN_FILES {
        return eprintln!("skipped: ten thousand clients take {OPEN_FILES} open files, and the hard limit is {most}");
    }
    let arguments = ["bench", "clients", "--processes", "10", "--rounds", "2", "--connections", connections];
    let output = Command::new(env!("CARGO_BIN_EXE_obvia")).args(arguments).output().unwrap();
    let [out, error] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(output.status.success(), "{out}{error}");
    println!("{out}");
}
