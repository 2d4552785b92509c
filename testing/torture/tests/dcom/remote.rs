//! Tests of activation by the service that starts the server, for clients on other hosts: foreign
//! DCOM clients, and clients of obvia. Client, server and service may end at any time.

use super::stranger::{Made, Stranger};
use obvia::code;
use obvia::orpc::{INVALID_OID, INVALID_OXID, INVALID_SET};
use obvia::scm::Remote;
use obvia::security::ACCOUNTS_VARIABLE;
use obvia_rpc::status::Status;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};
use torture::CLASS;
use torture::process::{Directory, LATEST, Process, ends, kill, same, within};
use torture::registered::Host;

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");
/// The period at which foreign clients have to ping.
const PERIOD: Duration = Duration::from_millis(1500);
/// The ping timeout, long enough for a machine that stops a thread for some seconds.
const PATIENCE: Duration = Duration::from_millis(4500);

const DONE: Status = Status(0);

fn host(remote: &[Remote]) -> Host {
    Host::with_remote(PROGRAM, remote, PERIOD)
}

/// Starts the service, and returns its binding.
fn service(host: &Host) -> (Process, String) {
    let mut service = host.service();
    let binding = service.good("listen ncacn_ip_tcp:127.0.0.1");
    (service, binding)
}

/// Pings a set for longer than the ping timeout.
fn keep(client: &mut Stranger, set: u64) {
    let until = Instant::now() + PATIENCE + 2 * PERIOD;
    while Instant::now() < until {
        assert_eq!(client.ping(set), DONE);
        std::thread::sleep(PERIOD / 2);
    }
}

#[test]
fn concurrent_remote_activations_start_one_server_that_ends_without_pings() {
    let host = host(&[Remote::Everybody]);
    let (_service, binding) = service(&host);
    let made: Vec<Made> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| Stranger::new(&binding).activate().unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let [server] = host.starts()[..] else { panic!("{:?}", host.starts()) };
    let oxid = made[0].std.oxid;
    assert!(made.iter().all(|other| other.std.oxid == oxid && other.ways == made[0].ways), "{made:?}");
    // The server is reached at the service's address, but at a port of its own.
    let [way] = &made[0].ways[..] else { panic!("{:?}", made[0].ways) };
    assert!(way.address == "127.0.0.1" && !binding.contains(&way.endpoint), "{way}");
    let mut client = Stranger::new(&binding);
    let resolved = client.resolve(oxid).unwrap();
    assert_eq!(resolved.bindings.string_bindings().collect::<Vec<_>>(), made[0].ways);
    assert_eq!(client.resolve(oxid ^ 1), Err(INVALID_OXID));
    let oids: Vec<u64> = made.iter().map(|made| made.std.oid).collect();
    let (set, status) = client.change(0, 1, &oids, &[]);
    assert_eq!(status, DONE);
    // A single pinged object keeps the server running.
    assert_eq!(client.change(set, 2, &[], &oids[1..]), (set, DONE));
    keep(&mut client, set);
    assert_eq!(client.resolve(oxid).map(|_| ()), Ok(()));
    assert_eq!(host.starts(), [server]);
    // Without pings, the objects are released, and the server ends.
    drop(client);
    ends(server);
}

#[test]
fn a_killed_server_is_started_again() {
    let host = host(&[Remote::Everybody]);
    let (mut service, binding) = service(&host);
    let mut client = Stranger::new(&binding);
    let first = client.activate().unwrap();
    let (set, _) = client.change(0, 1, &[first.std.oid], &[]);
    kill(host.starts()[0]);
    ends(host.starts()[0]);
    // The ping set still exists, but its objects do not.
    assert_eq!(client.ping(set), DONE);
    assert_eq!(client.change(set, 2, &[first.std.oid], &[]), (set, INVALID_OID));
    assert_eq!(client.resolve(first.std.oxid), Err(INVALID_OXID));
    let second = client.activate().unwrap();
    assert_eq!(host.starts().len(), 2);
    assert_ne!(first.std.oxid, second.std.oxid);
    assert_eq!(client.change(set, 3, &[second.std.oid], &[first.std.oid]), (set, DONE));
    keep(&mut client, set);
    assert_eq!(client.resolve(second.std.oxid).map(|_| ()), Ok(()));
    // A killed client does not ping.
    drop(client);
    ends(host.starts()[1]);
    let mut last = Stranger::new(&binding);
    let (files, threads) = (service.open_files(), service.threads());
    for _ in 0..3 {
        let made = last.activate().unwrap();
        assert_eq!(last.resolve(made.std.oxid).map(|_| ()), Ok(()));
        kill(*host.starts().last().unwrap());
        within(LATEST, || same(last.resolve(made.std.oxid).map(|_| ()), Err(INVALID_OXID)));
    }
    within(LATEST, || {
        let left = (service.open_files(), service.threads());
        if left.0 <= files + 4 && left.1 <= threads + 1 {
            Ok(())
        } else {
            Err(format!("{left:?}: {:?}", (files, threads)))
        }
    });
    service.finish();
}

#[test]
fn a_ping_set_keeps_objects_of_several_servers() {
    let host = host(&[Remote::Everybody]);
    let (_service, binding) = service(&host);
    let mut client = Stranger::new(&binding);
    let activate = |client: &mut Stranger| {
        // A server without its name file is not found, so that another one starts.
        for file in host.directory().files().iter().filter(|file| file.starts_with("class-")) {
            fs::remove_file(host.directory().path().join(file)).unwrap();
        }
        client.activate().unwrap().std
    };
    let (first, second) = (activate(&mut client), activate(&mut client));
    let nobodys = 0x1234_5678_0000_0001;
    let (set, status) = client.change(0, 1, &[first.oid, second.oid, nobodys], &[]);
    assert_eq!(status, DONE);
    assert_eq!(client.change(set, 2, &[nobodys], &[]), (set, INVALID_OID));
    let third = activate(&mut client);
    assert_eq!(client.change(set, 3, &[third.oid], &[]), (set, DONE));
    // A change with an old sequence number has no effect.
    assert_eq!(client.change(set, 1, &[], &[second.oid]), (set, DONE));
    let [one, others @ ..] = &host.starts()[..] else { panic!("{:?}", host.starts()) };
    kill(*one);
    ends(*one);
    keep(&mut client, set);
    for made in [second, third] {
        assert_eq!(client.resolve(made.oxid).map(|_| ()), Ok(()));
    }
    drop(client);
    others.iter().copied().for_each(ends);
    assert_eq!(host.starts().len(), 3);
}

#[test]
fn ping_sets_are_recreated_at_a_restarted_service() {
    let host = host(&[Remote::Everybody]);
    let (mut first, binding) = service(&host);
    let mut client = Stranger::new(&binding);
    let made = client.activate().unwrap();
    let (set, _) = client.change(0, 1, &[made.std.oid], &[]);
    first.kill();
    drop(client);
    let mut service = host.service();
    service.good(&format!("listen {binding}"));
    let mut client = Stranger::new(&binding);
    assert_eq!(client.ping(set), INVALID_SET);
    assert_eq!(client.change(set, 2, &[], &[]).1, INVALID_SET);
    // Without pings, the references stay valid for the ping timeout.
    let (set, status) = client.change(0, 1, &[made.std.oid], &[]);
    assert_eq!(status, DONE);
    keep(&mut client, set);
    let resolved = client.resolve(made.std.oxid).unwrap();
    assert_eq!(resolved.bindings.string_bindings().collect::<Vec<_>>(), made.ways);
    assert_eq!(client.activate().unwrap().std.oxid, made.std.oxid);
    assert_eq!(host.starts().len(), 1);
    drop(client);
    ends(host.starts()[0]);
}

#[test]
fn remote_callers_without_permission_start_no_server() {
    for remote in [&[][..], &[Remote::Authenticated], &[Remote::Account("anna".to_owned())]] {
        let host = host(remote);
        let mut service = host.process();
        service.good("audit");
        service.good("scm");
        let binding = service.good("listen ncacn_ip_tcp:127.0.0.1");
        let mut client = Stranger::new(&binding);
        assert_eq!(client.activate().unwrap_err(), code::E_ACCESSDENIED);
        let logged = service.good("refusals");
        assert!(logged.contains("objects of the class") && logged.contains("127.0.0.1"), "{logged}");
        // A client of the same user on this host is not affected.
        let mut local = host.process();
        local.good("activate");
        assert_eq!(host.starts().len(), 1);
        assert_eq!(client.activate().unwrap_err(), code::E_ACCESSDENIED);
        let (_, status) = client.change(0, 1, &[], &[]);
        assert_eq!(status, DONE);
        local.passes_objects();
    }
}

#[test]
fn remote_activation_reports_that_no_server_started() {
    let host = Host::new(PROGRAM, &["refuse"]);
    let text = format!(
        "class = {:?}\nprogram = {PROGRAM}\nargument = serve\nargument = refuse\nremote = everybody\n",
        torture::CLASS
    );
    host.register(&text);
    let (_service, binding) = service(&host);
    let mut client = Stranger::new(&binding);
    assert_eq!(client.activate().unwrap_err(), code::CO_E_SERVER_EXEC_FAILURE);
    host.register(&format!("class = {:?}\nhost = elsewhere\n", CLASS));
    assert_eq!(client.activate().unwrap_err(), code::REGDB_E_CLASSNOTREG);
    fs::remove_dir_all(host.directory().classes()).unwrap();
    assert_eq!(client.activate().unwrap_err(), code::REGDB_E_CLASSNOTREG);
}

/// Starts a client on a simulated host of its own. The client reaches the service only over the
/// network.
fn elsewhere() -> (Directory, Process) {
    let there = Directory::new();
    let client = there.start(PROGRAM, &[]);
    (there, client)
}

#[test]
fn obvia_clients_activate_remotely_through_the_service() {
    let host = host(&[Remote::Everybody]);
    let (mut service, binding) = service(&host);
    let (_there, mut client) = elsewhere();
    let way = client.good(&format!("activate {binding}"));
    assert!(way.starts_with("ncacn_ip_tcp:127.0.0.1[") && way != binding, "{way}");
    client.passes_objects();
    // A registration with a host leads to the same server.
    let (there, mut other) = elsewhere();
    fs::create_dir_all(there.classes()).unwrap();
    let text = format!("class = {CLASS:?}\nhost = {binding}\n");
    fs::write(there.classes().join(format!("{CLASS:?}.class").to_lowercase()), text).unwrap();
    assert_eq!(other.good("activate"), way);
    service.kill();
    // Processes of obvia do not ping; their connections keep the objects alive.
    std::thread::sleep(PATIENCE + 2 * PERIOD);
    assert_eq!(client.number("add 7"), 14);
    other.passes_objects();
    assert_eq!(host.starts().len(), 1);
    client.good("leave");
    other.kill();
    ends(host.starts()[0]);
}

#[test]
fn obvia_clients_without_permission_cannot_activate_remotely() {
    let host = host(&[]);
    let (_service, binding) = service(&host);
    let (_there, mut client) = elsewhere();
    let why = client.bad(&format!("activate {binding}"));
    assert!(why.contains("E_ACCESSDENIED"), "{why}");
    fs::remove_dir_all(host.directory().classes()).unwrap();
    let why = client.bad(&format!("activate {binding}"));
    assert!(why.contains("REGDB_E_CLASSNOTREG"), "{why}");
    assert_eq!(host.starts().len(), 0);
}

/// Starts a service that authenticates its clients as anna or otto, and returns its binding. The
/// servers that it starts inherit the environment, and with it the accounts.
fn guarded(host: &Host) -> (Process, String) {
    let accounts = host.directory().path().join("accounts");
    // The NT hash of `secret`.
    let hash = "878d8014606cda29677a44efa1353fc7";
    fs::write(&accounts, format!("anna = {hash}\notto = {hash}\n")).unwrap();
    fs::set_permissions(&accounts, fs::Permissions::from_mode(0o600)).unwrap();
    let mut service = host.directory().start_with(PROGRAM, &[(ACCOUNTS_VARIABLE, accounts.to_str().unwrap())]);
    service.good("scm");
    let binding = service.good("listen ncacn_ip_tcp:127.0.0.1[,security=integrity]");
    (service, binding)
}

#[test]
fn servers_without_accounts_are_not_opened_by_a_guarded_service() {
    let host = host(&[Remote::Authenticated]);
    let text = format!(
        "class = {CLASS:?}\nprogram = {PROGRAM}\nargument = serve\nidle-timeout = 1\nremote = authenticated\n\
         environment = {ACCOUNTS_VARIABLE}=/nowhere\n"
    );
    host.register(&text);
    let (_service, binding) = guarded(&host);
    let (_there, mut anna) = elsewhere();
    anna.good("credentials anna secret");
    let why = anna.bad(&format!("activate {binding}"));
    assert!(why.contains("E_INVALIDARG"), "{why}");
    // The server serves its own user.
    host.process().good("activate");
}

#[test]
fn clients_with_an_account_activate_and_call_protected() {
    let host = host(&[Remote::Account("anna".to_owned())]);
    let (_service, open) = guarded(&host);
    let (_there, mut anna) = elsewhere();
    let why = anna.bad(&format!("activate {open}"));
    assert!(why.contains("E_ACCESSDENIED") && why.contains("no credentials"), "{why}");
    anna.good("credentials anna secret");
    let way = anna.good(&format!("activate {open}"));
    assert!(way.contains("security=integrity") && way != open, "{way}");
    let who = anna.good("who");
    assert!(who.contains("anna") && who.contains("integrity"), "{who}");
    anna.good("make 1");
    assert_eq!(anna.number("add 7"), 7);
    for (user, password) in [("otto", "secret"), ("anna", "secrets")] {
        let (_there, mut other) = elsewhere();
        other.good(&format!("credentials {user} {password}"));
        let why = other.bad(&format!("activate {open}"));
        assert!(why.contains("E_ACCESSDENIED"), "{user}: {why}");
    }
    assert_eq!(host.starts().len(), 1);
}
