//! Calls over each protocol sequence: a server process is started, called, and ended.

use super::finding::{Finding, State};
use super::host::Host;
use obvia_bench::{Path, calls};
use std::time::{Duration, Instant};

/// The number of calls whose median time is reported.
const CALLS: u32 = 100;
/// The length in bytes of the array that one call sends there and back.
const BYTES: usize = 64 << 10;
/// The time limit of all calls over one protocol sequence.
const LIMIT: Duration = Duration::from_secs(10);

/// A protocol sequence, the consequence of its failure, and the remedy.
type Sequence = (Path, &'static str, &'static str);

const LOOPBACK: &str = "`ip address show lo` says whether the loopback interface is up and has 127.0.0.1.";

/// The protocol sequences of every build. Shared memory is the first.
const SEQUENCES: [Sequence; 5] = [
    (
        Path::NcacnViShm,
        "Processes of this host cannot call each other through shared memory.",
        "`obvia bench call_lat --quick --cases null --paths ncacn_vi_shm` repeats the calls.",
    ),
    (
        Path::Ncalrpc,
        "Clients of this host cannot make calls by DCE/RPC.",
        "`obvia bench call_lat --quick --cases null --paths ncalrpc` repeats the calls.",
    ),
    (Path::NcacnViUdp, "Other hosts cannot be called over virtual interfaces.", LOOPBACK),
    (Path::NcacnIpTcp, "Other hosts cannot be called by DCE/RPC over TCP.", LOOPBACK),
    (Path::NcadgIpUdp, "Other hosts cannot be called by connectionless DCE/RPC.", LOOPBACK),
];

/// The findings about calls.
pub(super) struct Calls {
    pub(super) findings: Vec<Finding>,
    /// Whether calls through shared memory work.
    pub(super) is_working: bool,
}

/// Makes calls over every protocol sequence of this build, if the directory of names can be used.
pub(super) fn examine(host: &Host) -> Calls {
    let names = names();
    let has_names = names.state != State::Missing;
    let mut findings = vec![names];
    let mut is_working = false;
    if has_names {
        for (path, cost, hint) in SEQUENCES {
            let finding = tried(path, cost);
            is_working |= finding.state == State::Ok && path == Path::NcacnViShm;
            findings.push(finding.hint(hint));
        }
    }
    findings.extend([fabric(has_names), xdp(host)]);
    Calls { findings, is_working }
}

/// Examines the directory of names, without which there are no calls.
fn names() -> Finding {
    let subject = "directory of names";
    let elsewhere = "install -d -m 700 ~/.obvia && export OBVIA_RUNTIME_DIR=~/.obvia";
    let path = match obvia::directory_of_names() {
        Ok(path) => path,
        Err(error) => {
            let cost = "No process can serve a name or find one.";
            return Finding::missing(subject, error.to_string(), cost).remedy(elsewhere);
        }
    };
    let cost = "In a directory for everybody, another user may make it first, and cleaners may remove it. \
                Servers and clients need the same directory.";
    Finding::ok_if(!path.starts_with("/tmp"), subject, path.display().to_string(), cost).remedy(elsewhere)
}

/// Makes calls over a protocol sequence.
fn tried(path: Path, cost: &str) -> Finding {
    let name = path.name();
    match obvia::with_deadline(Instant::now() + LIMIT, || calls::attempt(path, CALLS, BYTES)) {
        Ok(time) => {
            let us = time.as_secs_f64() * 1e6;
            Finding::ok(name, format!("{us:.1} us for a call; 64 KiB came back unchanged"))
        }
        Err(error) => Finding::missing(name, error.to_string(), cost),
    }
}

/// The hint for a remedy that builds this command anew: the folder in which the remedy's command
/// runs.
const CHECKOUT: &str = "In the folder of the checkout:";

pub(super) fn fabric(has_names: bool) -> Finding {
    let cost = "Calls over InfiniBand and other adapters of libfabric are not possible.";
    let path = Path::NcacnViFabric;
    if !cfg!(feature = "fabric") {
        let remedy = "sudo apt install gcc libfabric-dev && cargo install --locked --path crates/cli --features fabric";
        return Finding::missing(path.name(), "this command was built without it", cost).remedy(remedy).hint(CHECKOUT);
    }
    if has_names {
        return tried(path, cost).remedy("sudo apt install libfabric1");
    }
    Finding::missing(path.name(), "not tried without a directory of names", cost)
        .hint("First provide the directory of names.")
}

/// The capabilities for AF_XDP, by their numbers.
const XDP_CAPABILITIES: [(&str, u32); 3] = [("CAP_NET_RAW", 13), ("CAP_BPF", 39), ("CAP_NET_ADMIN", 12)];

/// Examines AF_XDP without a call, because a call would need a network interface of its own.
pub(super) fn xdp(host: &Host) -> Finding {
    let name = Path::NcacnViXdp.name();
    let cost = "Calls over AF_XDP, past the kernel's network stack, are not possible.";
    if !cfg!(feature = "xdp") {
        let remedy = "cargo install --locked --path crates/cli --features xdp";
        return Finding::missing(name, "this command was built without it", cost).remedy(remedy).hint(CHECKOUT);
    }
    let has_sockets = host.text("proc/net/protocols").lines().any(|line| line.starts_with("XDP "));
    if !has_sockets || host.kernel().is_none_or(|version| version < (5, 9)) {
        let found = "the kernel has no AF_XDP, or is older than 5.9";
        return Finding::missing(name, found, cost).hint("It takes a newer kernel, with CONFIG_XDP_SOCKETS.");
    }
    let lacking: Vec<&str> =
        XDP_CAPABILITIES.into_iter().filter(|(_, number)| !host.is_capable(*number)).map(|(name, _)| name).collect();
    if !lacking.is_empty() {
        let found = format!("this process lacks {}", lacking.join(", "));
        return Finding::missing(name, found, cost).hint("The superuser has these capabilities.");
    }
    let try_it = "`obvia bench call_lat --quick --cases null --wait block --cable --paths ncacn_vi_xdp` makes calls.";
    Finding::limited(name, "kernel and privileges suffice", "No call was made: a call needs its own interface.")
        .hint(try_it)
}
