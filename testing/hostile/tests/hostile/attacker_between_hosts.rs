//! Tests of an attacker between two hosts. Calls with integrity or privacy succeed, whatever
//! packets the attacker adds, and packets that the attacker records and sends later have no effect.

use crate::relay::Relay;
use crate::scene::{Directory, Process, await_that};
use std::net::UdpSocket;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// The server's accounts. The hash is that of `password`.
const ACCOUNTS: &str = "anna = 8846f7eaee8fb117ad06bdd830b7586c\n";
/// The number of forged datagrams that a test waits for.
const FORGED: usize = 6000;

struct Hosts {
    server: Process,
    port: u16,
    // The server's runtime directory; the client has another one.
    directory: Directory,
}

impl Hosts {
    fn new(options: &str) -> Self {
        let directory = Directory::new();
        let binding = format!("ncacn_vi_udp:127.0.0.1[0{options}]");
        let (server, said) = Process::with_accounts(&directory, &accounts(&directory), &["server", &binding]);
        let port = said.strip_prefix("ready ncacn_vi_udp:127.0.0.1[").and_then(|rest| rest.split([',', ']']).next());
        let port = port.and_then(|port| port.parse().ok()).unwrap_or_else(|| panic!("it said {said}"));
        Self { server, port, directory }
    }

    fn relay(&self) -> Relay {
        Relay::new(([127, 0, 0, 1], self.port).into())
    }

    /// Starts a client, and waits until its first calls have succeeded.
    fn witness(port: u16, options: &str) -> (Process, Directory) {
        let directory = Directory::new();
        let binding = format!("ncacn_vi_udp:127.0.0.1[{port}{options},name=victim]");
        let mut witness = Process::start(&directory, &["witness", &binding, "anna", "password"]);
        witness.await_ready();
        (witness, directory)
    }
}

fn accounts(directory: &Directory) -> PathBuf {
    let path = directory.path().join("accounts");
    let mut file = std::fs::File::options().write(true).create_new(true).mode(0o600).open(&path).unwrap();
    std::io::Write::write_all(&mut file, ACCOUNTS.as_bytes()).unwrap();
    path
}

fn under_a_key(level: &str) {
    let options = format!(",security={level}");
    let mut hosts = Hosts::new(&options);
    let relay = hosts.relay();
    let (mut witness, _place) = Hosts::witness(relay.port(), &options);
    relay.begin_attack();
    await_that("the relay has forged many datagrams", || {
        witness.assert_alive();
        relay.forged() > FORGED
    });
    // The exit code of the witness says whether all of its calls succeeded.
    witness.finish();
    let received = relay.received();
    drop(relay);
    // The recorded datagrams, sent again from another socket, make no call and authenticate no
    // client.
    let again = UdpSocket::bind("127.0.0.1:0").unwrap();
    for datagram in &received {
        let _ = again.send_to(datagram, ("127.0.0.1", hosts.port));
    }
    let (mut other, _place) = Hosts::witness(hosts.port, &options);
    other.finish();
    hosts.server.finish();
    drop(hosts.directory);
}

#[test]
fn attackers_between_hosts_cannot_change_signed_calls() {
    under_a_key("integrity");
}

#[test]
fn attackers_between_hosts_cannot_change_encrypted_calls() {
    under_a_key("privacy");
}

/// The control for the tests above: without protection, forged datagrams are accepted.
#[test]
fn forged_datagrams_are_accepted_without_protection() {
    let hosts = Hosts::new("");
    let relay = hosts.relay();
    let (mut witness, _place) = Hosts::witness(relay.port(), "");
    relay.begin_attack();
    let status = witness.await_end();
    assert!(!status.success() && relay.forged() > 0, "{status}");
}
