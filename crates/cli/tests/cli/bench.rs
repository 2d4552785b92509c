//! `obvia bench` as a user runs it: every baseline once, and what happens when a process is killed.

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn bench(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_obvia"));
    command.args(["bench", "call_lat"]).args(arguments);
    command
}

fn poll<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(10), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The server processes that a running measurement has started, once there are `count`.
fn servers(client: &Child, count: usize) -> Vec<Pid> {
    let children = format!("/proc/{0}/task/{0}/children", client.id());
    poll("servers start", || {
        let text = std::fs::read_to_string(&children).ok()?;
        let pids: Vec<_> = text.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect();
        (pids.len() == count).then_some(pids)
    })
}

#[test]
fn every_baseline_is_measured_and_reported() {
    let folder = std::env::temp_dir().join(format!("obvia-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (json, plot) = (folder.join("out.json"), folder.join("out.svg"));
    let paths = "raw_line,raw_copy,raw_futex,unix,udp";
    let output = bench(&["--rounds", "2", "--batch", "20", "--sizes", "64,8K", "--paths", paths, "--json"])
        .arg(&json)
        .arg("--plot")
        .arg(&plot)
        .output()
        .unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{table}{}", String::from_utf8_lossy(&output.stderr));

    let document: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    let rows = document["rows"].as_array().unwrap();
    let found: BTreeSet<_> = rows.iter().map(|row| row["path"].as_str().unwrap()).collect();
    let two_cpus = std::thread::available_parallelism().unwrap().get() > 1;
    let expected: &[&str] =
        if two_cpus { &["raw_copy", "raw_futex", "raw_line", "udp", "unix"] } else { &["raw_futex", "udp", "unix"] };
    assert_eq!(found.into_iter().collect::<Vec<_>>(), expected, "{table}");
    for row in rows {
        assert!(row["p50_ns"].as_f64().unwrap() > 0.0 && row["ratio_p50"].as_f64().unwrap() > 0.0, "{row}");
        assert!(table.contains(row["path"].as_str().unwrap()), "{table}");
    }
    assert!(std::fs::read_to_string(&plot).unwrap().ends_with("</svg>\n"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn on_one_cpu_everything_is_compared_with_the_unix_socket() {
    let output = bench(&["--cpus", "0,0", "--rounds", "2", "--batch", "20", "--cases", "null"]).output().unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{table}");
    assert!(table.contains("CPU 0,0") && !table.contains("raw_line"), "{table}");
    let unix = table.lines().find(|line| line.contains(" unix ")).unwrap();
    assert!(unix.ends_with("1.00"), "{table}");
}

#[test]
fn a_killed_server_is_reported_and_the_others_go_on() {
    let client = bench(&["--rounds", "400", "--batch", "200", "--cases", "null", "--paths", "raw_futex,unix"])
        .args(["--cpus", "0,0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let servers = servers(&client, 2);
    kill_process(servers[0], Signal::KILL).unwrap();
    let output = client.wait_with_output().unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(!output.status.success());
    assert!(table.contains("FAILED: null of 0 bytes over raw_futex (block): the other process ended"), "{table}");
    assert!(table.lines().any(|line| line.contains(" unix ")), "{table}");
}

#[test]
fn servers_do_not_outlive_a_killed_client() {
    let mut client = bench(&["--rounds", "100000", "--cases", "null", "--paths", "raw_futex,unix"])
        .args(["--cpus", "0,0"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let servers = servers(&client, 2);
    client.kill().unwrap();
    client.wait().unwrap();
    poll("servers end", || servers.iter().all(|server| test_kill_process(*server).is_err()).then_some(()));
}
