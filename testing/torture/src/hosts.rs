//! Simulated hosts: network namespaces with a pair of virtual Ethernet interfaces between them.

use std::io::Write;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Two hosts with a link between them only. The namespaces are deleted on drop.
pub struct Hosts {
    names: [String; 2],
    addresses: [String; 2],
}

/// The network interface of each host.
pub const INTERFACE: &str = "wire";

/// Prints that a test was skipped, and why. The line bypasses the capture of output, because the
/// captured output of passed tests is not shown.
pub fn passed_over(why: &str) {
    // A write error cannot be reported anywhere.
    let _ = writeln!(std::io::stderr(), "passed over, {why}");
}

/// Runs a program to its end, and returns its output.
fn run(program: &str, arguments: &[&str]) -> Result<String, String> {
    let line = format!("{program} {}", arguments.join(" "));
    let output = Command::new(program).args(arguments).output().map_err(|error| format!("{line}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{line}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    run("ip", arguments).map(drop)
}

impl Hosts {
    /// Creates the hosts. Without the privileges, prints the reason and returns `None`, or panics
    /// if `CI` is set.
    pub fn new() -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let own = std::process::id();
        let hosts = Self {
            names: ["a", "b"].map(|host| format!("obvia-{own}-{number}-{host}")),
            // The pairs of hosts are isolated from each other, so that all pairs can use the same
            // addresses.
            addresses: ["10.77.0.1", "10.77.0.2"].map(str::to_owned),
        };
        match hosts.connect() {
            Ok(()) => Some(hosts),
            Err(why) if ground::is_ci() => panic!("no network namespaces: {why}"),
            Err(why) => {
                passed_over(&format!("for want of network namespaces (CAP_NET_ADMIN and CAP_SYS_ADMIN): {why}"));
                None
            }
        }
    }

    fn connect(&self) -> Result<(), String> {
        let [a, b] = &self.names;
        ip(&["netns", "add", a])?;
        ip(&["netns", "add", b])?;
        ip(&["-n", a, "link", "add", INTERFACE, "type", "veth", "peer", "name", INTERFACE, "netns", b])?;
        for (name, address) in self.names.iter().zip(&self.addresses) {
            ip(&["-n", name, "address", "add", &format!("{address}/24"), "dev", INTERFACE])?;
            ip(&["-n", name, "link", "set", "lo", "up"])?;
            ip(&["-n", name, "link", "set", INTERFACE, "up"])?;
        }
        Ok(())
    }

    /// Returns the name of a host's namespace.
    pub fn name(&self, host: usize) -> &str {
        &self.names[host]
    }

    /// Returns a host's address.
    pub fn address(&self, host: usize) -> &str {
        &self.addresses[host]
    }

    /// Takes the link up or down.
    pub fn set_wire(&self, up: bool) {
        let state = if up { "up" } else { "down" };
        ip(&["-n", &self.names[0], "link", "set", INTERFACE, state]).unwrap();
    }

    /// Makes the link lose one packet in twenty in both directions, and reorder, duplicate and
    /// corrupt packets, if the kernel has netem.
    ///
    /// # Errors
    ///
    /// Fails if the kernel has neither netem nor nftables. The error contains the messages of the
    /// tools.
    pub fn spoil_wire(&self) -> Result<(), String> {
        let conditions = ["loss", "5%", "delay", "1ms", "reorder", "5%", "duplicate", "2%", "corrupt", "1%"];
        self.names.iter().try_for_each(|name| {
            let qdisc = ["-n", name, "qdisc", "add", "dev", INTERFACE, "root", "netem"];
            let netem = run("tc", &[&qdisc[..], &conditions].concat()).map(drop);
            netem.or_else(|why| lose_packets(name).map_err(|further| format!("{why}; {further}")))
        })
    }

    /// Returns the number of lost packets; `None` with netem, which does not count them.
    pub fn lost(&self) -> Option<u64> {
        let count = |name: &String| {
            let rules = run("ip", &["netns", "exec", name, "nft", "list", "table", "ip", WIRE]).ok()?;
            let counted = rules.split("counter packets ").nth(1)?;
            counted.split_whitespace().next()?.parse::<u64>().ok()
        };
        self.names.iter().map(count).sum()
    }

    /// Returns the mode of the XDP program on a host's interface, as ip(8) shows it: `xdp` for the
    /// driver; empty without a program.
    pub fn xdp(&self, host: usize) -> String {
        let shown = run("ip", &["-n", &self.names[host], "link", "show", INTERFACE]).unwrap();
        let word = shown.split_whitespace().find(|word| word.starts_with("xdp"));
        word.unwrap_or_default().to_owned()
    }

    /// Returns the number of a host's TCP connections.
    pub fn connections(&self, host: usize) -> usize {
        /// The state `TCP_ESTABLISHED` in the fourth column of /proc/net/tcp.
        const ESTABLISHED: &str = "01";
        let table = run("ip", &["netns", "exec", &self.names[host], "cat", "/proc/net/tcp"]).unwrap();
        table.lines().filter(|line| line.split_whitespace().nth(3) == Some(ESTABLISHED)).count()
    }
}

/// The table of the rules that drop packets.
const WIRE: &str = "wire";

/// Makes a host drop one packet in twenty on input.
fn lose_packets(name: &str) -> Result<(), String> {
    let nft = |arguments: &[&str]| run("ip", &[&["netns", "exec", name, "nft", "add"], arguments].concat()).map(drop);
    nft(&["table", "ip", WIRE])?;
    nft(&["chain", "ip", WIRE, "arriving", "{ type filter hook input priority 0 ; }"])?;
    let one_in_twenty = ["numgen", "random", "mod", "100", "<", "5", "counter", "drop"];
    nft(&[&["rule", "ip", WIRE, "arriving"], &one_in_twenty[..]].concat())
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in &self.names {
            // The namespace may not exist.
            let _ = ip(&["netns", "delete", name]);
        }
    }
}
