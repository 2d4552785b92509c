//! Tests of calls between hosts: over a good, a bad and a cut link, and to a restarted process.

use std::time::{Duration, Instant};
use torture::hosts::{Hosts, passed_over};
use torture::process::{Directory, LATEST, Process, within};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
/// The time limit until a peer that does not answer counts as gone.
const GONE: Duration = Duration::from_secs(60);
/// The protocol sequences of this build, the best first, with the options of both ends.
const PROTOCOLS: &[(&str, &str)] = &[
    #[cfg(feature = "fabric")]
    (FABRIC, ",provider=tcp"),
    #[cfg(feature = "xdp")]
    (XDP, ",interface=wire,mode=native"),
    (UDP, ""),
    (TCP, ""),
    (DATAGRAMS, ",rundown=9"),
];
const TCP: &str = "ncacn_ip_tcp";
const DATAGRAMS: &str = "ncadg_ip_udp";
const UDP: &str = "ncacn_vi_udp";
const XDP: &str = "ncacn_vi_xdp";
const FABRIC: &str = "ncacn_vi_fabric";
/// The order by which a server keeps lost clients for only three seconds.
const BRIEF: &str = "pinging 1000";
const DISCONNECTED: &str = "RPC_E_DISCONNECTED";

/// A server on the first host and a client on the second one, with separate runtime directories.
struct Pair {
    hosts: Hosts,
    directories: [Directory; 2],
    server: Process,
    client: Process,
    // The options of both ends' bindings.
    options: String,
    // The binding of the server's export.
    binding: String,
}

impl Pair {
    /// Starts a connected pair, with these options at both ends; `None` without network namespaces.
    fn connect(protocol: &str, options: &str) -> Option<Self> {
        Some(Self::on(Hosts::new()?, protocol, options))
    }

    fn on(hosts: Hosts, protocol: &str, options: &str) -> Self {
        let mut pair = Self::apart(hosts, protocol, options);
        pair.client.good(&format!("connect {}", pair.binding));
        pair
    }

    /// Starts a pair that is not connected yet.
    fn apart(hosts: Hosts, protocol: &str, options: &str) -> Self {
        let directories = [Directory::new(), Directory::new()];
        let [server, client] = [0, 1].map(|host| directories[host].start_on(hosts.name(host), PROGRAM, &[]));
        let options = options.to_owned();
        let mut pair = Self { hosts, directories, server, client, options, binding: String::new() };
        pair.server.good("export there");
        pair.binding = pair.serve(&format!("{protocol}:{}[0]", pair.hosts.address(0)));
        pair
    }

    /// Makes the server listen, and returns the binding of its export.
    fn serve(&mut self, binding: &str) -> String {
        let with = |binding: &str, more: &str| binding.replace(']', &format!("{more}]"));
        let listening = self.server.good(&format!("listen {}", with(binding, &self.options)));
        // The printed binding has no options that concern one process only, and no options with
        // their default values.
        for option in ["fault", "interface", "mode", "provider=tcp"] {
            assert!(!listening.contains(option), "{listening}");
        }
        // An option must not be given twice.
        let untold = self.options.split(',').filter(|option| !option.is_empty() && !listening.contains(option));
        let untold: String = untold.map(|option| format!(",{option}")).collect();
        with(&listening, &format!("{untold},name=there"))
    }

    /// Makes the client add for some time, while `meanwhile` runs. Each call must run exactly once.
    fn adds_are_exact(&mut self, milliseconds: u32, meanwhile: impl FnOnce(&Hosts)) {
        self.client.good("make 1");
        let before = self.client.number("add 0");
        self.client.say(&format!("adds 4 {milliseconds}"));
        meanwhile(&self.hosts);
        let made: i64 = self.client.line().strip_prefix("ok ").unwrap().parse().unwrap();
        assert!(made > 0, "no call was made");
        assert_eq!(self.client.number("add 0") - before, made, "calls were lost, or done twice");
    }
}

/// Runs a test with each protocol sequence.
fn over_each(test: impl Fn(&str, &str)) {
    for (protocol, options) in PROTOCOLS {
        println!("{protocol}");
        test(protocol, options);
    }
}

/// Whether the kernel sends the packets, so that only the kernel can lose them.
fn is_of_the_kernel(protocol: &str) -> bool {
    [FABRIC, TCP, DATAGRAMS].contains(&protocol)
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test net"]
fn objects_are_passed_in_both_directions() {
    over_each(|protocol, options| {
        let Some(mut pair) = Pair::connect(protocol, options) else { return };
        // With the protocol sequence over XDP, each host runs an XDP program in the interface's
        // driver. With the other protocol sequences, the hosts run no XDP program.
        let xdp = if protocol == XDP { "xdp" } else { "" };
        assert_eq!([0, 1].map(|host| pair.hosts.xdp(host)), [xdp; 2], "{protocol}");
        let client = &mut pair.client;
        client.passes_objects();
        client.good("leave");
        pair.server.becomes(GONE, "live", 0);
        // An activated object is called by the same protocol sequence.
        pair.server.good("register");
        let way = client.good(&format!("activate {}", pair.binding));
        println!("{protocol}: {way}");
        assert!(way.starts_with(protocol), "{way}");
        client.passes_objects();
        client.good("leave");
        pair.server.becomes(GONE, "live", 0);
        // The message takes many packets in both directions.
        client.good(&format!("connect {}", pair.binding));
        client.good("make 1");
        client.good("echo 1000000");
    });
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test net"]
fn objects_are_passed_in_both_directions_with_authentication() {
    over_each(|protocol, options| {
        let levels: &[&str] = match protocol {
            DATAGRAMS => &[],
            FABRIC => &["connect"],
            _ => &["connect", "integrity", "privacy"],
        };
        for level in levels {
            let Some(hosts) = Hosts::new() else { return };
            let mut pair = Pair::apart(hosts, protocol, options);
            for process in [&mut pair.server, &mut pair.client] {
                process.good("accounts anna one-secret");
                process.good("credentials anna one-secret");
            }
            let address = pair.hosts.address(0).to_owned();
            pair.binding = pair.serve(&format!("{protocol}:{address}[0,security={level}]"));
            pair.client.good(&format!("connect {}", pair.binding));
            assert_eq!(pair.client.good("who"), format!("{} anna {level}", pair.hosts.address(1)));
            pair.client.passes_objects();
            pair.client.good("echo 30000");
            pair.adds_are_exact(200, |_| {});
            pair.client.good("leave");
            pair.server.becomes(GONE, "live", 0);
            // Calls without authentication are refused.
            let open = pair.binding.replace(&format!(",security={level}"), "");
            let answer = pair.client.bad(&format!("connect {open}"));
            assert!(answer.contains("E_ACCESSDENIED"), "{protocol} {level}: {answer}");
        }
    });
}

#[test]
#[cfg(feature = "fabric")]
#[ignore = "needs network namespaces: cargo xtask test net"]
fn the_chosen_fabric_provider_is_passed_to_peers() {
    let Some(mut pair) = Pair::connect(FABRIC, ",provider=shm") else { return };
    pair.client.good("make 1");
    // The server's callbacks use the same provider, which the server knows from the reference
    // alone.
    assert_eq!(pair.client.number("callback 5"), 16);
    let why = pair.client.bad("list-at ncacn_vi_fabric:10.0.0.1[7,provider=none]");
    assert!(why.contains("libfabric has no provider `none` here"), "{why}");
    // libfabric leaves segments of a process that ends with open connections: docs/fabric.md.
    let segments = [&pair.client, &pair.server].map(Process::shared_memory).concat();
    assert!(!segments.is_empty(), "libfabric has no files in /dev/shm any longer");
    drop(pair);
    for file in segments {
        let _ = std::fs::remove_file(file);
    }
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test net"]
fn network_conditions_apply_only_to_the_process_that_sets_them() {
    over_each(|protocol, options| {
        if is_of_the_kernel(protocol) {
            return;
        }
        let Some(hosts) = Hosts::new() else { return };
        let mut pair = Pair::apart(hosts, protocol, options);
        let place = pair.binding.replace(",name=there", "");
        pair.client.good("timeout 2000");
        let why = pair.client.bad(&format!("list-at {}", place.replace(']', ",fault=loss=100%]")));
        assert!(why.contains("RPC_E_TIMEOUT"), "{protocol}: {why}");
        let mut other = pair.directories[1].start_on(pair.hosts.name(1), PROGRAM, &[]);
        // An interface can have only one XDP program.
        pair.client.kill();
        other.good(&format!("list-at {place}"));
    });
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test net"]
fn calls_over_a_bad_wire_are_performed_exactly_once() {
    let fault = r",fault=loss=5%\,reorder=5%\,dup=2%\,corrupt=1%\,seed=7";
    over_each(|protocol, options| {
        let Some(hosts) = Hosts::new() else { return };
        let mut options = options.to_owned();
        if !is_of_the_kernel(protocol) {
            options.push_str(fault);
        } else if let Err(why) = hosts.spoil_wire() {
            passed_over(&format!("for want of netem and nft: a bad wire under {protocol}: {why}"));
            return;
        }
        let mut pair = Pair::on(hosts, protocol, &options);
        pair.adds_are_exact(3000, |_| {});
        pair.client.good("echo 300000");
        assert_eq!(pair.client.number("callback 5"), 16);
        if is_of_the_kernel(protocol) {
            assert_ne!(pair.hosts.lost(), Some(0), "no packet was lost");
        }
    });
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test net"]
fn a_short_wire_cut_loses_no_calls() {
    over_each(|protocol, options| {
        let Some(mut pair) = Pair::connect(protocol, options) else { return };
        pair.adds_are_exact(3000, |hosts| {
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
fn a_permanent_wire_cut_ends_calls() {
    over_each(|protocol, options| {
        // Over datagrams, minutes pass before a cut wire has these effects. The tests in
        // crates/rpc/src/dg/tests check them with a simulated clock.
        if protocol == DATAGRAMS {
            return;
        }
        let Some(mut pair) = Pair::connect(protocol, options) else { return };
        pair.client.good("make 1");
        pair.client.say("sleep 600000");
        pair.hosts.set_wire(false);
        let began = Instant::now();
        let line = pair.client.line_within(GONE);
        assert!(line.contains(DISCONNECTED), "after {:?}: {line}", began.elapsed());
        // The server runs the client down, because the client does not return.
        pair.server.good(BRIEF);
        pair.server.becomes(GONE, "live", 0);
    });
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test net"]
fn a_killed_server_is_detected_and_its_successor_is_found() {
    over_each(|protocol, options| {
        let Some(mut pair) = Pair::connect(protocol, options) else { return };
        pair.client.good("make 1");
        pair.client.say("sleep 600000");
        pair.server.becomes(LATEST, "sleeping", 1);
        pair.server.kill();
        let line = pair.client.line_within(GONE);
        assert!(line.contains(DISCONNECTED), "{line}");
        pair.client.good("leave");
        pair.server = pair.directories[0].start_on(pair.hosts.name(0), PROGRAM, &[]);
        pair.server.good("export there");
        let own = format!("{},name=there", pair.options);
        let binding = pair.binding.replace(&own, "");
        assert_eq!(pair.serve(&binding), pair.binding);
        pair.client.good(&format!("connect {}", pair.binding));
        pair.client.good("make 1");
        assert_eq!(pair.client.number("add 3"), 3);
    });
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test net"]
fn killed_clients_hold_no_references() {
    over_each(|protocol, options| {
        let Some(mut pair) = Pair::connect(protocol, options) else { return };
        pair.client.good("make 100");
        assert_eq!(pair.server.number("live"), 100);
        // If the network does not report the client's end, the server keeps the client for this
        // time, within which the client might return.
        pair.server.good(BRIEF);
        pair.client.kill();
        within(GONE.max(LATEST), || {
            let live = pair.server.number("live");
            if live == 0 { Ok(()) } else { Err(format!("{live} objects are held for a dead client")) }
        });
    });
}

/// Starts a server that listens on the protocol sequence `worst` and on all better ones, beginning
/// with `worst`. Also starts a client with an object of the server over `worst`.
fn by_the_worst(worst: &str) -> Option<Pair> {
    let mut pair = Pair::connect(worst, "")?;
    let better = PROTOCOLS.iter().rev().skip_while(|(protocol, _)| *protocol != worst).skip(1);
    for (protocol, options) in better {
        pair.server.good(&format!("listen {protocol}:{}[0{options}]", pair.hosts.address(0)));
    }
    // The look-up of a name returns the offered bindings.
    pair.client.good(&format!("connect {}", pair.binding));
    pair.client.good("make 1");
    Some(pair)
}

impl Pair {
    /// Makes the client pass its object to a new process of the client's host. That process then
    /// calls the object.
    fn hand_on(&mut self, name: &str) -> Process {
        let mut third = self.directories[1].start_on(self.hosts.name(1), PROGRAM, &[]);
        third.good(&format!("export {name}"));
        self.client.good(&format!("connect {name}"));
        self.client.good("keep");
        let before = self.client.number("add 0");
        assert_eq!(self.client.number("add-to-kept 4"), before + 4);
        third
    }
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test net"]
fn bindings_of_a_server_are_offered_best_first() {
    let Some(mut pair) = by_the_worst(DATAGRAMS) else { return };
    let listed = pair.client.good(&format!("list-at {}", pair.binding.replace(",name=there", "")));
    let mut words = listed.split(' ');
    // The first word is the protocol sequence of the query.
    assert_eq!(words.next(), Some(DATAGRAMS), "{listed}");
    let offered: Vec<_> = words.filter_map(|binding| binding.split(':').next()).collect();
    let built = PROTOCOLS.iter().map(|(protocol, _)| *protocol);
    assert_eq!(offered, ["ncacn_vi_shm"].into_iter().chain(built).collect::<Vec<_>>(), "{listed}");
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test net"]
fn an_object_passed_on_is_called_by_its_best_binding() {
    let Some(mut pair) = by_the_worst(UDP) else { return };
    assert_eq!((pair.hosts.connections(1), pair.hosts.xdp(1)), (0, String::new()));
    let _third = pair.hand_on("third");
    let found = (pair.hosts.connections(1) > 0, pair.hosts.xdp(1).starts_with("xdp"));
    let best = PROTOCOLS[0].0;
    assert_eq!(found, (best == FABRIC, best == XDP), "{best}");
}

#[test]
#[cfg(feature = "xdp")]
#[ignore = "needs network namespaces: cargo xtask test net"]
fn an_unreachable_binding_is_replaced_by_the_next() {
    let Some(mut pair) = Pair::connect(UDP, "") else { return };
    pair.server.good(&format!("listen {XDP}:0.0.0.0[0,interface=wire]"));
    pair.client.good(&format!("connect {}", pair.binding));
    pair.client.good("make 1");
    let _first = pair.hand_on("first");
    assert!(pair.hosts.xdp(1).starts_with("xdp"), "the first one took the better way");
    // An interface can have only one XDP program.
    let mut second = pair.hand_on("second");
    let why = second.bad(&format!("listen {XDP}:0.0.0.0[0]"));
    assert!(why.contains("the interface already has one"), "{why}");
}
