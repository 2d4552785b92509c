//! Tests of authenticated and protected calls at each level and by each mechanism, of passed
//! objects, and of the refusal of calls without the required account or protection.

use torture::process::{Directory, LATEST, Process};

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
const LEVELS: [&str; 3] = ["connect", "integrity", "privacy"];
/// The bindings of the servers, with a placeholder for the level.
const BINDINGS: [&str; 5] = [
    "ncacn_ip_tcp:127.0.0.1[,security=LEVEL]",
    "ncacn_ip_tcp:127.0.0.1[,transfer=ndr,security=LEVEL]",
    "ncacn_ip_tcp:127.0.0.1[,transfer=ndr64,security=LEVEL]",
    "ncalrpc:[guarded,security=LEVEL]",
    VI,
];
/// A virtual interface over a network, whose packets are protected.
const VI: &str = "ncacn_vi_udp:127.0.0.1[,security=LEVEL]";
const DENIED: &str = "E_ACCESSDENIED";

/// A process with its own runtime directory, which other processes reach only over networks.
struct Host {
    process: Process,
    directory: Directory,
}

impl Host {
    fn start() -> Self {
        let directory = Directory::new();
        Self { process: directory.start(PROGRAM, &[]), directory }
    }

    /// Starts a server with the accounts of the tests, and returns the binding of its export.
    fn serve(listening: &str) -> (Self, String) {
        let mut host = Self::start();
        host.process.good("accounts anna one-secret otto another-secret");
        host.process.good("export there");
        let binding = host.process.good(&format!("listen {listening}"));
        (host, with(&binding, "name=there"))
    }

    /// Starts a client with a user's credentials, and with the accounts for callbacks to its
    /// objects.
    fn client(user: &str, password: &str) -> Self {
        let mut host = Self::start();
        host.process.good("accounts anna one-secret otto another-secret");
        host.process.good(&format!("credentials {user} {password}"));
        host
    }
}

/// Returns a binding with one more option.
fn with(binding: &str, option: &str) -> String {
    binding.replace(']', &format!(",{option}]"))
}

#[test]
fn objects_are_passed_in_both_directions_at_each_level_by_each_mechanism() {
    let all = LEVELS.into_iter().flat_map(|level| BINDINGS.map(|binding| (level, binding)));
    for (level, listening) in all {
        let (mut server, binding) = Host::serve(&listening.replace("LEVEL", level));
        assert!(binding.contains(&format!("security={level}")), "{binding}");
        // The server needs credentials for callbacks.
        server.process.good("credentials otto another-secret");
        for mechanism in ["ntlm", "spnego"] {
            let binding = with(&binding, &format!("auth={mechanism}"));
            println!("{binding}");
            // An ncalrpc client needs the runtime directory of the server.
            let is_local = binding.starts_with("ncalrpc");
            let mut client = Host::client("anna", "one-secret");
            if is_local {
                client.process = server.directory.start(PROGRAM, &[]);
                client.process.good("credentials anna one-secret");
            }
            let Host { process: client, .. } = &mut client;
            client.good(&format!("connect {binding}"));
            let from = if is_local { format!("process {}", client.id()) } else { "127.0.0.1".to_owned() };
            assert_eq!(client.good("who"), format!("{from} anna {level}"));
            client.passes_objects();
            // The messages have many fragments, and several associations are used at a time. An
            // unoptimized cipher is slow, so that large messages could time out.
            client.good(if listening == VI { "echo 30000" } else { "echo 100000" });
            client.good("adds 4 20");
            client.good("leave");
            server.process.becomes(LATEST, "live", 0);
        }
    }
}

#[test]
fn insufficiently_authenticated_callers_are_refused() {
    let (_server, binding) = Host::serve("ncacn_ip_tcp:127.0.0.1[,security=integrity]");
    let refused = |user: &str, password: &str, level: &str, auth: &str| {
        let binding = with(&binding.replace("security=integrity", level), auth);
        let answer = Host::client(user, password).process.bad(&format!("connect {binding}"));
        assert!(answer.contains(DENIED), "{user} {password} {binding}: {answer}");
    };
    for auth in ["auth=ntlm", "auth=spnego"] {
        for level in ["security=integrity", "security=privacy"] {
            refused("anna", "another-secret", level, auth);
            refused("nobody", "one-secret", level, auth);
        }
        refused("anna", "one-secret", "security=connect", auth);
        refused("anna", "one-secret", "security=none", auth);
    }
    let mut stranger = Host::start().process;
    let answer = stranger.bad(&format!("connect {binding}"));
    assert!(answer.contains("no credentials") && answer.contains(DENIED), "{answer}");
    // A client is accepted once it has credentials. It may use a higher level than required.
    stranger.good("credentials ANNA one-secret");
    stranger.good(&format!("connect {}", binding.replace("integrity", "privacy")));
    assert_eq!(stranger.good("who"), "127.0.0.1 anna privacy");
}

#[test]
fn clients_can_authenticate_to_an_open_server() {
    let (_server, binding) = Host::serve("ncacn_ip_tcp:127.0.0.1");
    let mut client = Host::client("otto", "another-secret").process;
    client.good(&format!("connect {}", with(&binding, "security=privacy")));
    assert_eq!(client.good("who"), "127.0.0.1 otto privacy");
    // A process that has authenticated is not accepted without authentication, on any transport.
    let answer = client.bad(&format!("connect {binding}"));
    assert!(answer.contains(DENIED), "{answer}");
    let mut other = Host::start().process;
    other.good(&format!("connect {binding}"));
    assert_eq!(other.good("who"), "127.0.0.1");
    // The levels ascend, and each connection has the requested level.
    other.good("credentials anna one-secret");
    for level in LEVELS {
        other.good(&format!("connect {}", with(&binding, &format!("security={level}"))));
        assert_eq!(other.good("who"), format!("127.0.0.1 anna {level}"));
    }
    other.good("credentials otto wrong");
    let answer = other.bad(&format!("connect {}", with(&binding, "security=privacy")));
    assert!(answer.contains(DENIED), "{answer}");
}

#[test]
fn impossible_security_settings_are_refused_at_once() {
    let mut process = Host::start().process;
    process.good("export there");
    let answer = process.bad("listen ncacn_ip_tcp:127.0.0.1[,security=privacy]");
    assert!(answer.contains("no accounts") && answer.contains("E_INVALIDARG"), "{answer}");
    let open = with(&process.good("listen ncacn_ip_tcp:127.0.0.1"), "name=there");
    process.good("accounts anna one-secret");
    for (listening, why) in [
        ("ncacn_ip_tcp:127.0.0.1[,security=secret]", "security=secret is unknown"),
        ("ncacn_ip_tcp:127.0.0.1[,security=privacy,auth=ntlm]", "`auth` is for clients"),
        ("ncacn_vi_udp:127.0.0.1[,security=secret]", "security=secret is unknown"),
        #[cfg(feature = "fabric")]
        ("ncacn_vi_fabric:127.0.0.1[,security=privacy]", "does not support security=privacy"),
        ("ncacn_vi_udp:127.0.0.1[,security=connect,spn=x]", "`spn` is for clients"),
        ("ncadg_ip_udp:127.0.0.1[,security=connect]", "no option `security`"),
    ] {
        let answer = process.bad(&format!("listen {listening}"));
        assert!(answer.contains(why), "{answer}");
    }
    let mut client = Host::client("anna", "one-secret").process;
    for (option, why) in [
        ("security=secret", "security=secret is unknown"),
        ("security=connect,auth=kerberos", "auth=kerberos is unknown"),
    ] {
        let answer = client.bad(&format!("connect {}", with(&open, option)));
        assert!(answer.contains(why), "{answer}");
    }
    // A server without accounts cannot authenticate clients.
    for listening in ["ncacn_ip_tcp:127.0.0.1", "ncacn_vi_udp:127.0.0.1"] {
        let mut without = Host::start().process;
        without.good("export there");
        let binding = without.good(&format!("listen {listening}"));
        let answer = client.bad(&format!("connect {}", with(&binding, "security=connect,name=there")));
        assert!(answer.contains("RPC_S_UNKNOWN_AUTHN_SERVICE"), "{answer}");
    }
}

#[test]
fn unauthenticated_callers_are_refused_over_virtual_interfaces() {
    let (mut server, binding) = Host::serve("ncacn_vi_udp:127.0.0.1[,security=connect]");
    let refused = |user: &str, password: &str, options: &str| {
        let binding = binding.replace("security=connect", options);
        let answer = Host::client(user, password).process.bad(&format!("connect {binding}"));
        assert!(answer.contains(DENIED), "{user} {password} {binding}: {answer}");
    };
    for auth in ["security=connect,auth=ntlm", "security=connect,auth=spnego"] {
        refused("anna", "another-secret", auth);
        refused("nobody", "one-secret", auth);
    }
    refused("anna", "one-secret", "security=none");
    let mut stranger = Host::start().process;
    let answer = stranger.bad(&format!("connect {binding}"));
    assert!(answer.contains("no credentials") && answer.contains(DENIED), "{answer}");
    // The list of exported names is refused as well.
    let listing = binding.replace(",security=connect", "").replace(",name=there", "");
    let answer = stranger.bad(&format!("list-at {listing}"));
    assert!(answer.contains("may require authentication") && answer.contains(DENIED), "{answer}");
    stranger.good("credentials ANNA one-secret");
    let listed = stranger.good(&format!("list-at {}", with(&listing, "security=connect")));
    assert!(listed.contains("security=connect"), "{listed}");
    stranger.good(&format!("connect {binding}"));
    assert_eq!(stranger.good("who"), "127.0.0.1 anna connect");
    // Each thread has its own connection.
    stranger.good("make 1");
    stranger.good("adds 8 200");
    stranger.good("leave");
    server.process.becomes(LATEST, "live", 0);
}

/// A client may protect packets at a higher level than required, but not at a lower one.
#[test]
fn packets_are_protected_at_least_at_the_level_of_the_server() {
    let (_server, binding) = Host::serve("ncacn_vi_udp:127.0.0.1[,security=integrity]");
    let mut client = Host::client("anna", "one-secret").process;
    for level in ["none", "connect"] {
        let answer = client.bad(&format!("connect {}", binding.replace("integrity", level)));
        assert!(answer.contains(DENIED), "{level}: {answer}");
    }
    for level in ["integrity", "privacy"] {
        client.good(&format!("connect {}", binding.replace("integrity", level)));
        assert_eq!(client.good("who"), format!("127.0.0.1 anna {level}"));
    }
}

/// Protected connections handle lost, duplicated, reordered and corrupted packets as unprotected
/// connections do.
#[test]
fn protected_packets_get_through_bad_networks() {
    let fault = r"fault=loss=3%\,reorder=5%\,dup=3%\,corrupt=2%\,seed=7";
    for level in ["integrity", "privacy"] {
        let (_server, binding) = Host::serve(&format!("ncacn_vi_udp:127.0.0.1[,security={level},{fault}]"));
        let mut client = Host::client("anna", "one-secret").process;
        client.good(&format!("connect {}", with(&binding, fault)));
        client.good("make 1");
        let made = client.number("adds 4 1500");
        assert!(made > 0);
        assert_eq!(client.number("add 0"), made, "calls were lost, or done twice");
        client.good("echo 30000");
    }
}

/// Objects that are passed over a virtual interface keep its security level. They cannot be reached
/// without this level.
#[test]
fn objects_passed_on_over_virtual_interfaces_keep_their_protection() {
    let (_home, home) = Host::serve("ncacn_vi_udp:127.0.0.1[,security=connect]");
    let (mut third, third_place) = Host::serve("ncacn_vi_udp:127.0.0.1");
    let mut giver = Host::client("anna", "one-secret").process;
    giver.good(&format!("connect {home}"));
    giver.good("make 1");
    giver.good(&format!("connect {third_place}"));
    let answer = giver.bad("keep");
    assert!(answer.contains(DENIED), "{answer}");
    third.process.good("credentials otto another-secret");
    giver.good("keep");
    assert_eq!(giver.number("add-to-kept 5"), 5);
    assert_eq!(giver.number("add 1"), 6);
    // A server that listens on both transports offers a binding for each, with the level of that
    // transport.
    let (mut both, _) = Host::serve("ncacn_vi_udp:127.0.0.1[,security=connect]");
    let stream = both.process.good("listen ncacn_ip_tcp:127.0.0.1[,security=privacy]");
    giver.good("drop");
    giver.good(&format!("connect {}", with(&stream, "name=there")));
    giver.good("make 1");
    giver.good(&format!("connect {third_place}"));
    giver.good("keep");
    assert_eq!(giver.number("add-to-kept 5"), 5);
}

/// On all transports, a process belongs to the user who first authenticated for it.
#[test]
fn a_process_belongs_to_one_user_on_all_transports() {
    let (mut server, vi) = Host::serve("ncacn_vi_udp:127.0.0.1");
    let stream = with(&server.process.good("listen ncacn_ip_tcp:127.0.0.1"), "name=there");
    let mut client = Host::client("anna", "one-secret").process;
    client.good(&format!("connect {}", with(&vi, "security=connect")));
    client.good("make 1");
    for other in [&vi, &stream] {
        let answer = client.bad(&format!("connect {other}"));
        assert!(answer.contains(DENIED), "{answer}");
    }
    client.good("credentials otto another-secret");
    for other in [with(&vi, "security=connect"), with(&stream, "security=privacy")] {
        let answer = client.bad(&format!("connect {other}"));
        assert!(answer.contains(DENIED), "{answer}");
    }
    assert_eq!(client.number("add 1"), 1, "what there is goes on");
}

/// A recipient of an object protects its calls at the giver's level, even if the server does not
/// require that.
#[test]
fn objects_passed_on_stay_protected() {
    for listening in ["ncacn_ip_tcp:127.0.0.1", "ncacn_ip_tcp:127.0.0.1[,security=connect]"] {
        let (_home, home) = Host::serve(listening);
        let home = with(&home.replace(",security=connect", ""), "security=privacy");
        let (mut third, third_place) = Host::serve("ncacn_ip_tcp:127.0.0.1");
        let mut giver = Host::client("anna", "one-secret").process;
        giver.good(&format!("connect {home}"));
        giver.good("make 1");
        giver.good(&format!("connect {third_place}"));
        // Without credentials, the third process cannot reach the object that is passed to it.
        let answer = giver.bad("keep");
        assert!(answer.contains(DENIED), "{answer}");
        third.process.good("credentials otto another-secret");
        giver.good("keep");
        assert_eq!(giver.number("add-to-kept 5"), 5);
        assert_eq!(giver.number("add 1"), 6);
    }
}

/// A process without accounts accepts no callbacks over a network, because it could not
/// authenticate them.
#[test]
fn clients_without_accounts_refuse_network_callbacks() {
    let (_server, binding) = Host::serve("ncacn_ip_tcp:127.0.0.1[,security=privacy]");
    let mut client = Host::start().process;
    client.good("credentials anna one-secret");
    client.good(&format!("connect {binding}"));
    client.good("make 1");
    assert_eq!(client.number("add 7"), 7);
    client.bad("callback 5");
    client.good("accounts anna one-secret");
    let answer = client.bad("callback 5");
    assert!(answer.contains(DENIED), "the server has no credentials: {answer}");
}

/// Bindings that the runtime opens by itself are protected like the bindings that the program
/// requests.
#[test]
fn implicit_bindings_of_a_guarded_process_are_protected() {
    let (mut guarded, _) = Host::serve("ncacn_ip_tcp:127.0.0.2[,security=integrity]");
    let (mut open, binding) = Host::serve("ncacn_ip_tcp:127.0.0.1");
    guarded.process.good(&format!("connect {binding}"));
    let answer = guarded.process.bad("keep-own");
    assert!(answer.contains(DENIED), "{answer}");
    open.process.good("credentials anna one-secret");
    guarded.process.good("keep-own");
    assert_eq!(guarded.process.number("add-to-kept 4"), 4);
}
