//! Whoever is between two hosts: under a key the calls go well whatever is said beside them, and nothing that was heard is any good later.

use crate::relay::Relay;
use crate::scene::{Directory, Process, await_that};
use std::net::UdpSocket;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// The accounts of the server. The hash is of `password`.
const ACCOUNTS: &str = "anna = 8846f7eaee8fb117ad06bdd830b7586c\n";
/// Datagrams that are said beside those of the ends.
const FORGED: usize = 6000;

struct Hosts {
    server: Process,
    port: u16,
    // Where the server has its names; the client has none.
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

    /// A client, once its first calls went well.
    fn witness(port: u16, options: &str) -> (Process, Directory) {
        let directory = Directory::new();
        let binding = format!("ncacn_vi_udp:127.0.0.1[{port}{options},name=victim]");
        let witness = Process::start(&directory, &["witness", &binding, "anna", "password"]);
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
    relay.turn_evil();
    await_that("much is said that nobody is to believe", || {
        witness.assert_alive();
        relay.forged() > FORGED
    });
    // It ends well if each of its calls went well.
    witness.end();
    let heard = relay.heard();
    drop(relay);
    // Said again by somebody else, it is no call, and no proof of who that is.
    let again = UdpSocket::bind("127.0.0.1:0").unwrap();
    for datagram in &heard {
        let _ = again.send_to(datagram, ("127.0.0.1", hosts.port));
    }
    let (mut other, _place) = Hosts::witness(hosts.port, &options);
    other.end();
    hosts.server.end();
    drop(hosts.directory);
}

#[test]
fn who_is_between_two_hosts_changes_no_call_that_is_signed() {
    under_a_key("integrity");
}

#[test]
fn who_is_between_two_hosts_changes_no_call_that_is_encrypted() {
    under_a_key("privacy");
}

/// Without this, that calls under a key go well would say nothing.
#[test]
fn without_a_key_the_same_words_are_believed() {
    let hosts = Hosts::new("");
    let relay = hosts.relay();
    let (mut witness, _place) = Hosts::witness(relay.port(), "");
    relay.turn_evil();
    let status = witness.await_end();
    assert!(!status.success() && relay.forged() > 0, "{status}");
}
