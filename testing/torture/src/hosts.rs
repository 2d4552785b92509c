//! Two hosts: network namespaces with a pair of virtual Ethernet interfaces between them.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Two hosts that only reach each other. They are gone with this value.
pub struct Hosts {
    names: [String; 2],
    addresses: [String; 2],
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    let line = format!("ip {}", arguments.join(" "));
    let output = Command::new("ip").args(arguments).output().map_err(|error| format!("{line}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{line}: {}", String::from_utf8_lossy(&output.stderr).trim()))
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
                println!("passed over, for want of network namespaces (CAP_NET_ADMIN and CAP_SYS_ADMIN): {why}");
                None
            }
        }
    }

    fn connect(&self) -> Result<(), String> {
        let [a, b] = &self.names;
        ip(&["netns", "add", a])?;
        ip(&["netns", "add", b])?;
        ip(&["-n", a, "link", "add", "wire", "type", "veth", "peer", "name", "wire", "netns", b])?;
        for (name, address) in self.names.iter().zip(&self.addresses) {
            ip(&["-n", name, "address", "add", &format!("{address}/24"), "dev", "wire"])?;
            ip(&["-n", name, "link", "set", "lo", "up"])?;
            ip(&["-n", name, "link", "set", "wire", "up"])?;
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
        ip(&["-n", &self.names[0], "link", "set", "wire", state]).unwrap();
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in &self.names {
            // Where it was not made there is nothing to remove.
            let _ = ip(&["netns", "delete", name]);
        }
    }
}
