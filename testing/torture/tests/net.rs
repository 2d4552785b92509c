//! Calls between hosts: over a wire that is good, bad, cut, and that leads to a process which was restarted.

use std::time::{Duration, Instant};
use torture::hosts::Hosts;
use torture::process::{Directory, LATEST, Process, within};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
/// By when a peer that does not answer any more is taken for gone.
const GONE: Duration = Duration::from_secs(20);
/// The protocol sequences that this program was built with.
const PROTOCOLS: [&str; 1] = ["ncacn_vi_udp"];
const DISCONNECTED: &str = "RPC_E_DISCONNECTED";

/// A server on the first host and a client on the second, which share no directory for names.
struct Pair {
    hosts: Hosts,
    directories: [Directory; 2],
    server: Process,
    client: Process,
    binding: String,
}

impl Pair {
    /// Connected, by a binding with these options of the wire, if hosts can be had.
    fn connect(protocol: &str, options: &str) -> Option<Self> {
        let hosts = Hosts::new()?;
        let directories = [Directory::new(), Directory::new()];
        let [server, client] = [0, 1].map(|host| directories[host].start_on(hosts.name(host), PROGRAM, &[]));
        let mut pair = Self { hosts, directories, server, client, binding: String::new() };
        pair.binding = pair.serve(&format!("{protocol}:{}[0{options}]", pair.hosts.address(0)));
        pair.client.good(&format!("connect {}", pair.binding));
        Some(pair)
    }

    /// Has the server listen. Returns what to connect to.
    fn serve(&mut self, binding: &str) -> String {
        self.server.good("export there");
        self.server.good(&format!("listen {binding}")).replace(']', ",name=there]")
    }

    /// Has the client add for some time, while `meanwhile` happens. No call may be lost or done twice.
    fn adds_are_exact(&mut self, meanwhile: impl FnOnce(&Hosts)) {
        self.client.good("make 1");
        let before = self.client.number("add 0");
        self.client.order("adds 4 3000");
        meanwhile(&self.hosts);
        let made: i64 = self.client.line().strip_prefix("ok ").unwrap().parse().unwrap();
        assert!(made > 0, "no call was made");
        assert_eq!(self.client.number("add 0") - before, made, "calls were lost, or done twice");
    }
}

/// Runs a test for each protocol.
fn over_each(test: impl Fn(&str)) {
    for protocol in PROTOCOLS {
        println!("{protocol}");
        test(protocol);
    }
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test net"]
fn objects_go_both_ways() {
    over_each(|protocol| {
        let Some(mut pair) = Pair::connect(protocol, "") else { return };
        let client = &mut pair.client;
        client.good("make 3");
        assert_eq!(client.number("add 7"), 7);
        // The server calls back.
        assert_eq!(client.number("callback 5"), 16);
        // The server's object comes home as itself; the client's own is not the server's.
        assert_eq!(client.good("pass"), "true true");
        assert_eq!(client.good("pass-own"), "true false");
        client.good("keep-own");
        assert_eq!(client.number("add-to-kept 4"), 4);
        client.good("keep-none");
        client.good("leave");
        pair.server.becomes(GONE, "live", 0);
        // A message of many packets, both ways.
        client.good(&format!("connect {}", pair.binding));
        client.good("make 1");
        client.good("echo 1000000");
    });
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test net"]
fn a_bad_wire_loses_and_doubles_no_call() {
    let fault = r",fault=loss=5%\,reorder=5%\,dup=2%\,corrupt=1%\,seed=7";
    let Some(mut pair) = Pair::connect("ncacn_vi_udp", fault) else { return };
    pair.adds_are_exact(|_| {});
    pair.client.good("echo 300000");
    assert_eq!(pair.client.number("callback 5"), 16);
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test net"]
fn a_cut_wire_delays_calls_and_loses_none() {
    over_each(|protocol| {
        let Some(mut pair) = Pair::connect(protocol, "") else { return };
        pair.adds_are_exact(|hosts| {
            for _ in 0..3 {
                std::thread::sleep(Duration::from_millis(300));
                hosts.set_wire(false);
                std::thread::sleep(Duration::from_millis(400));
                hosts.set_wire(true);
            }
        });
    });
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test net"]
fn a_wire_that_stays_cut_ends_calls() {
    over_each(|protocol| {
        let Some(mut pair) = Pair::connect(protocol, "") else { return };
        pair.client.good("make 1");
        pair.client.order("sleep 600000");
        pair.hosts.set_wire(false);
        let began = Instant::now();
        let line = pair.client.line_within(GONE);
        assert!(line.contains(DISCONNECTED), "after {:?}: {line}", began.elapsed());
        // The server drops what the client held.
        pair.server.becomes(GONE, "live", 0);
    });
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test net"]
fn a_server_that_is_killed_is_missed_and_its_successor_found() {
    over_each(|protocol| {
        let Some(mut pair) = Pair::connect(protocol, "") else { return };
        pair.client.good("make 1");
        pair.client.order("sleep 600000");
        std::thread::sleep(Duration::from_millis(200));
        pair.server.kill();
        let line = pair.client.line_within(GONE);
        assert!(line.contains(DISCONNECTED), "{line}");
        pair.client.good("leave");
        pair.server = pair.directories[0].start_on(pair.hosts.name(0), PROGRAM, &[]);
        let binding = pair.binding.replace(",name=there", "");
        pair.serve(&binding);
        pair.client.good(&format!("connect {}", pair.binding));
        pair.client.good("make 1");
        assert_eq!(pair.client.number("add 3"), 3);
    });
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test net"]
fn a_client_that_is_killed_holds_nothing() {
    over_each(|protocol| {
        let Some(mut pair) = Pair::connect(protocol, "") else { return };
        pair.client.good("make 100");
        assert_eq!(pair.server.number("live"), 100);
        pair.client.kill();
        within(GONE.max(LATEST), || {
            let live = pair.server.number("live");
            if live == 0 { Ok(()) } else { Err(format!("{live} objects are held for a dead client")) }
        });
    });
}
