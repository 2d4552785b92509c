//! Two hosts: network namespaces with a pair of virtual Ethernet interfaces between them.

use std::io::Write;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Two hosts that only reach each other. They are gone with this value.
pub struct Hosts {
    names: [String; 2],
    addresses: [String; 2],
}

/// The interface of each host.
pub const INTERFACE: &str = "wire";

/// Says that something was passed over, and why, also where the test succeeds: what tests print is kept back then.
pub fn passed_over(why: &str) {
    // Where nobody hears it there is nothing to be done.
    let _ = writeln!(std::io::stderr(), "passed over, {why}");
}

/// Runs a program to its end. Returns what it prints.
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
    /// Makes them. `None`, and a line that says why, where this user may not; in a run that counts (`CI`) that is a failure.
    pub fn new() -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let own = std::process::id();
        let hosts = Self {
            names: ["a", "b"].map(|host| format!("obvia-{own}-{number}-{host}")),
            // Each pair is a world of its own, so all may have the same addresses.
            addresses: ["10.77.0.1", "10.77.0.2"].map(str::to_owned),
        };
        match hosts.connect() {
            Ok(()) => Some(hosts),
            Err(why) if std::env::var_os("CI").is_some() => panic!("no network namespaces: {why}"),
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

    /// The name of a host.
    pub fn name(&self, host: usize) -> &str {
        &self.names[host]
    }

    /// Its address.
    pub fn address(&self, host: usize) -> &str {
        &self.addresses[host]
    }

    /// Cuts the wire between them, or mends it.
    pub fn set_wire(&self, up: bool) {
        let state = if up { "up" } else { "down" };
        ip(&["-n", &self.names[0], "link", "set", INTERFACE, state]).unwrap();
    }

    /// Has the wire lose packets in both directions, one in twenty; and mix them up, where the kernel has netem for that.
    ///
    /// # Errors
    ///
    /// Where this kernel can do neither, with what it says.
    pub fn spoil_wire(&self) -> Result<(), String> {
        let conditions = ["loss", "5%", "delay", "1ms", "reorder", "5%", "duplicate", "2%", "corrupt", "1%"];
        self.names.iter().try_for_each(|name| {
            let qdisc = ["-n", name, "qdisc", "add", "dev", INTERFACE, "root", "netem"];
            let netem = run("tc", &[&qdisc[..], &conditions].concat()).map(drop);
            netem.or_else(|why| lose_packets(name).map_err(|further| format!("{why}; {further}")))
        })
    }

    /// How many packets a spoilt wire has lost; `None` where that is netem's, which does not say.
    pub fn lost(&self) -> Option<u64> {
        let count = |name: &String| {
            let rules = run("ip", &["netns", "exec", name, "nft", "list", "table", "ip", WIRE]).ok()?;
            let counted = rules.split("counter packets ").nth(1)?;
            counted.split_whitespace().next()?.parse::<u64>().ok()
        };
        self.names.iter().map(count).sum()
    }

    /// Where a host's interface runs an XDP program, in the words of ip(8): `xdp` is its driver; empty where it runs none.
    pub fn xdp(&self, host: usize) -> String {
        let shown = run("ip", &["-n", &self.names[host], "link", "show", INTERFACE]).unwrap();
        let word = shown.split_whitespace().find(|word| word.starts_with("xdp"));
        word.unwrap_or_default().to_owned()
    }

    /// How many TCP connections a host has.
    pub fn connections(&self, host: usize) -> usize {
        /// `TCP_ESTABLISHED`, as proc(5) has it in the fourth column.
        const ESTABLISHED: &str = "01";
        let table = run("ip", &["netns", "exec", &self.names[host], "cat", "/proc/net/tcp"]).unwrap();
        table.lines().filter(|line| line.split_whitespace().nth(3) == Some(ESTABLISHED)).count()
    }
}

/// The table of rules that lose packets.
const WIRE: &str = "wire";

/// Has a host lose one packet in twenty of those that come.
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
            // Where it was not made there is nothing to remove.
            let _ = ip(&["netns", "delete", name]);
        }
    }
}
