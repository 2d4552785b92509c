//! The remains of a killed process, and the messages for a process without privileges.

use super::rig::{Cable, INTERFACE};
use super::{Child, cable};
use obvia_via::provider::xdp::{Options, Xdp};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(20);

/// Runs `role` of this file in a process of its own at the left end, and waits until it is ready.
fn start(cable: &Cable, role: &str) -> Child {
    let mut child = cable.left.on_thread(|| {
        let program = std::env::current_exe().expect("this program");
        let mut command = Command::new(program);
        command.args(["--exact", role, "--ignored", "--nocapture"]).stdout(Stdio::piped());
        Child(command.spawn().expect("a process"))
    });
    let mut lines = BufReader::new(child.0.stdout.take().expect("its output")).lines();
    let is_ready = lines.any(|line| line.expect("a line").contains("is ready"));
    assert!(is_ready, "the process ended before it was ready");
    child
}

#[test]
fn a_killed_process_leaves_no_xdp_program() {
    let Some(cable) = cable("a_killed_process_leaves_no_xdp_program") else { return };
    let mut child = start(&cable, "xdp::ends::open_an_xdp_socket_and_wait");
    assert!(cable.left.has_program(), "the process has put its program on the interface");
    child.0.kill().expect("killing it");
    child.0.wait().expect("its end");
    let end = Instant::now() + LIMIT;
    while cable.left.has_program() {
        assert!(Instant::now() < end, "the program is still on the interface");
        std::thread::sleep(Duration::from_millis(10));
    }
    // Once the program is gone, another process can open the interface.
    cable
        .left
        .on_thread(|| Xdp::open(&Options::new(INTERFACE)).expect("opening after it").socket(4791).expect("its port"));
}

#[test]
#[ignore = "is run by a_killed_process_leaves_no_xdp_program, in a process of its own"]
fn open_an_xdp_socket_and_wait() {
    let xdp = Xdp::open(&Options::new(INTERFACE)).expect("opening");
    let _socket = xdp.socket(4791).expect("a port");
    println!("it is ready");
    std::thread::sleep(LIMIT);
}

#[test]
fn a_killed_process_leaves_no_namespace() {
    if cable("a_killed_process_leaves_no_namespace").is_none() {
        return;
    }
    // The process prints the namespaces that it made. No other process is in these namespaces or
    // holds a file of them, and no mount keeps them, so they end with the process. The namespaces'
    // numbers are compared while the process lives, because the kernel can later give the same
    // numbers to namespaces of other tests.
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.args(["--exact", "xdp::ends::lay_a_cable_and_wait", "--ignored", "--nocapture"]).stdout(Stdio::piped());
    let mut child = Child(command.spawn().expect("a process"));
    let lines = BufReader::new(child.0.stdout.take().expect("its output")).lines();
    let line = lines.map(|line| line.expect("a line")).find(|line| line.contains("is ready")).expect("a cable");
    let spaces: Vec<_> = line.split_whitespace().filter(|word| word.starts_with("net:")).map(str::to_owned).collect();
    assert_eq!(spaces.len(), 2, "{line}");
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("what is mounted");
    for space in spaces {
        assert!(!mounts.contains(&space), "{space} is mounted");
        assert_eq!(holders(&space), [child.0.id()], "the processes that are in {space}, or hold it");
    }
    child.0.kill().expect("killing it");
    child.0.wait().expect("its end");
}

#[test]
#[ignore = "is run by a_killed_process_leaves_no_namespace, in a process of its own"]
fn lay_a_cable_and_wait() {
    let cable = Cable::lay().expect("a cable");
    let space = |end: &super::rig::End| {
        end.on_thread(|| std::fs::read_link("/proc/thread-self/ns/net").expect("a namespace").display().to_string())
    };
    println!("it is ready: {} {}", space(&cable.left), space(&cable.right));
    std::thread::sleep(LIMIT);
}

/// Returns the processes that are in a namespace, or have a file open that holds it.
fn holders(space: &str) -> Vec<u32> {
    let entries = |path: std::path::PathBuf| std::fs::read_dir(path).into_iter().flatten().flatten();
    let is_holder = |process: &std::path::Path| {
        let threads = entries(process.join("task")).map(|thread| thread.path().join("ns/net"));
        let mut links = entries(process.join("fd")).map(|entry| entry.path()).chain(threads);
        links.any(|link| std::fs::read_link(link).is_ok_and(|target| target.as_os_str() == space))
    };
    let processes = entries("/proc".into()).filter(|process| is_holder(&process.path()));
    processes.filter_map(|process| process.file_name().to_str()?.parse().ok()).collect()
}

/// Opens the interface on a thread without the capabilities `missing`. Returns the message of the
/// error.
fn refused_without(cable: &Cable, missing: CapabilitySet) -> String {
    cable.left.on_thread(|| {
        let has = capabilities(None).expect("this thread's capabilities");
        let fewer = CapabilitySets { effective: has.effective.difference(missing), ..has };
        set_capabilities(None, fewer).expect("fewer capabilities");
        Xdp::open(&Options::new(INTERFACE)).expect_err("must not open").to_string()
    })
}

#[test]
fn errors_about_missing_privileges_name_the_capability() {
    let Some(cable) = cable("errors_about_missing_privileges_name_the_capability") else { return };
    let bpf = CapabilitySet::BPF | CapabilitySet::SYS_ADMIN;
    for (missing, name) in [
        (bpf, "CAP_BPF"),
        (CapabilitySet::NET_ADMIN | CapabilitySet::SYS_ADMIN, "CAP_NET_ADMIN"),
        (CapabilitySet::NET_RAW, "CAP_NET_RAW"),
    ] {
        let words = refused_without(&cable, missing);
        assert!(words.contains(name), "without {name}: {words}");
        assert!(!cable.left.has_program());
    }
}
