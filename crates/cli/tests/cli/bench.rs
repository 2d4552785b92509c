//! Tests of `obvia bench` as users run it: all measurements and baselines, and killed processes.

use crate::running::Directory;
use ground::{Folder, poll};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};

fn bench(arguments: &[&str]) -> Command {
    measurement("call_lat", arguments)
}

fn measurement(name: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_obvia"));
    command.args(["bench", name]).args(arguments);
    command
}

/// Runs a measurement and checks its output. Returns each row: case, bytes, path and policy as a
/// text, and the row itself.
fn rows(name: &str, arguments: &[&str]) -> Vec<(String, Value)> {
    let directory = Directory::new();
    let (json, plot) = (directory.path().join("out.json"), directory.path().join("out.svg"));
    let output = measurement(name, arguments)
        .args(["--rounds", "2", "--batch", "64", "--json"])
        .arg(&json)
        .arg("--plot")
        .arg(&plot)
        .env("OBVIA_RUNTIME_DIR", directory.path())
        .output()
        .unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{table}{}", String::from_utf8_lossy(&output.stderr));
    assert!(std::fs::read_to_string(&plot).unwrap().ends_with("</svg>\n"));
    let document: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    assert!(["cpu", "kernel", "cores", "placement"].iter().all(|key| !document["machine"][key].is_null()));
    let rows = document["rows"].as_array().unwrap().iter();
    rows.map(|row| {
        for number in ["p50_ns", "p99_ns", "raw_p50_ns", "ratio_p50"] {
            assert!(row[number].as_f64().unwrap() > 0.0, "{number} of {row}");
        }
        let ratio = row["p50_ns"].as_f64().unwrap() / row["raw_p50_ns"].as_f64().unwrap();
        // Each time is rounded to a tenth of a nanosecond.
        assert!((row["ratio_p50"].as_f64().unwrap() / ratio - 1.0).abs() < 0.1, "{row}");
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        assert!(table.contains(&text("path")), "{table}");
        (format!("{} {} {} {}", text("case"), row["bytes"], text("path"), text("wait")), row.clone())
    })
    .collect()
}

fn names(rows: &[(String, Value)]) -> Vec<&str> {
    rows.iter().map(|(name, _)| name.as_str()).collect()
}

fn has_two_cpus() -> bool {
    std::thread::available_parallelism().unwrap().get() > 1
}

/// Waits until a running measurement has started `count` server processes, and returns them.
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
    let folder = Folder::new("cli-bench");
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
    let expected: &[&str] = if has_two_cpus() {
        &["raw_copy", "raw_futex", "raw_line", "udp", "unix"]
    } else {
        &["raw_futex", "udp", "unix"]
    };
    assert_eq!(found.into_iter().collect::<Vec<_>>(), expected, "{table}");
    for row in rows {
        assert!(row["p50_ns"].as_f64().unwrap() > 0.0 && row["ratio_p50"].as_f64().unwrap() > 0.0, "{row}");
        assert!(table.contains(row["path"].as_str().unwrap()), "{table}");
    }
    assert!(std::fs::read_to_string(&plot).unwrap().ends_with("</svg>\n"));
}

#[test]
fn one_cpu_measurements_are_compared_with_the_unix_socket() {
    let output = bench(&["--cpus", "0,0", "--rounds", "2", "--batch", "20", "--cases", "null"]).output().unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{table}");
    assert!(table.contains("CPU 0,0") && !table.contains("raw_line"), "{table}");
    let unix = table.lines().find(|line| line.contains(" unix ")).unwrap();
    assert!(unix.ends_with("1.00"), "{table}");
}

#[test]
fn bench_reports_a_killed_server_and_continues_the_other_cases() {
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
fn bench_reports_a_killed_vi_end_and_continues_the_other_cases() {
    for (provider, path, baselines) in [("shm", "vi_shm", 1), ("udp", "vi_udp", 2)] {
        let directory = Directory::new();
        let client = measurement("send_lat", &["--provider", provider, "--sizes", "4K", "--wait", "block,adaptive"])
            .args(["--rounds", "100", "--batch", "100", "--cpus", "0,0"])
            .env("OBVIA_RUNTIME_DIR", directory.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // The servers are the baselines' servers, the server to kill, and the next server, whose
        // start means that the server to kill is ready.
        let servers = servers(&client, baselines + 2);
        kill_process(servers[baselines], Signal::KILL).unwrap();
        let output = client.wait_with_output().unwrap();
        let table = String::from_utf8(output.stdout).unwrap();
        assert!(!output.status.success());
        assert!(
            table.contains(&format!("FAILED: send of 4096 bytes over {path} (block): the other process ended")),
            "{table}"
        );
        assert!(table.lines().any(|line| line.contains(" adaptive ") && line.contains(path)), "{table}");
    }
}

#[test]
fn benchmark_servers_end_with_a_killed_client() {
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

#[test]
fn messages_by_descriptors_are_measured_beside_shared_memory() {
    if !has_two_cpus() {
        return;
    }
    let rows = rows("send_lat", &["--sizes", "32,8K", "--wait", "poll,adaptive,block"]);
    let expected = [
        "null 0 raw_line poll",
        "null 0 raw_line poll_pause",
        "null 0 raw_futex block",
        "send 32 raw_copy poll",
        "send 32 raw_copy poll_pause",
        "send 32 raw_futex block",
        "send 8192 raw_copy poll",
        "send 8192 raw_copy poll_pause",
        "send 8192 raw_futex block",
        "send 32 vi_shm poll",
        "send 8192 vi_shm poll",
        "send 32 vi_shm adaptive",
        "send 8192 vi_shm adaptive",
        "send 32 vi_shm block",
        "send 8192 vi_shm block",
    ];
    assert_eq!(names(&rows), expected);
}

#[test]
fn messages_by_descriptors_are_measured_on_one_cpu() {
    let rows = rows("send_lat", &["--sizes", "64", "--wait", "poll,block", "--cpus", "0,0"]);
    assert_eq!(names(&rows), ["send 64 unix block", "send 64 vi_shm block"], "nobody spins on a single processor");
}

#[test]
fn messages_over_udp_are_measured_beside_datagrams_and_tcp() {
    let rows = rows("send_lat", &["--provider", "udp", "--sizes", "64,128K", "--wait", "block"]);
    let blocking: Vec<_> = names(&rows).into_iter().filter(|name| name.ends_with(" block")).collect();
    let expected = [
        "send 64 udp block",
        "send 64 tcp block",
        "send 131072 tcp block",
        "send 64 vi_udp block",
        "send 131072 vi_udp block",
    ];
    assert_eq!(blocking, expected);
}

#[test]
fn bandwidth_is_measured_either_way_beside_a_copy() {
    for (name, case) in [("write_bw", "write"), ("read_bw", "read")] {
        let rows = rows(name, &["--sizes", "64,8K", "--wait", "block", "--depth", "5"]);
        let of = |rest: &str| format!("{case} {rest}");
        let expected = [of("64 memcpy poll"), of("8192 memcpy poll"), of("64 vi_shm block"), of("8192 vi_shm block")];
        assert_eq!(names(&rows), expected);
        for (_, row) in &rows {
            let (rate, bytes) = (row["bytes_per_s"].as_f64().unwrap(), row["bytes"].as_f64().unwrap());
            let wanted = bytes * 1e9 / row["p50_ns"].as_f64().unwrap();
            assert!((rate / wanted - 1.0).abs() < 0.1, "{row}");
        }
        assert_eq!((rows[0].1.get("depth"), rows[3].1.get("depth")), (None, Some(&5.into())));
    }
}

#[test]
fn udp_read_and_write_bandwidth_is_measured_beside_a_stream() {
    for (name, case) in [("write_bw", "write"), ("read_bw", "read")] {
        let rows = rows(name, &["--provider", "udp", "--sizes", "4K", "--wait", "block"]);
        let blocking: Vec<_> = names(&rows).into_iter().filter(|name| name.ends_with(" block")).collect();
        assert_eq!(blocking, [format!("{case} 4096 tcp_stream block"), format!("{case} 4096 vi_udp block")]);
    }
}

#[test]
fn calls_of_several_threads_are_measured_beside_those_of_one() {
    for path in ["ncacn_vi_shm", "ncacn_vi_udp"] {
        let rows = rows("call_rate", &["--path", path, "--threads", "3", "--wait", "block"]);
        assert_eq!(names(&rows), [format!("null 0 {path} block"), format!("null 0 {path} block")]);
        let threads: Vec<_> = rows.iter().map(|(_, row)| row["threads"].as_u64().unwrap()).collect();
        assert_eq!(threads, [1, 3]);
        assert_eq!(rows[0].1["ratio_p50"], 1.0);
        assert!(rows.iter().all(|(_, row)| row["calls_per_s"].as_f64().unwrap() > 0.0));
    }
}

#[test]
fn impossible_measurements_are_refused_with_the_reason() {
    for (name, arguments, complaint) in [
        ("send_lat", ["--provider", "pigeon"], "there is no provider `pigeon`: there is shm, udp, fabric, xdp"),
        #[cfg(not(feature = "fabric"))]
        ("send_lat", ["--provider", "fabric"], "built with --features fabric"),
        #[cfg(not(feature = "xdp"))]
        ("write_bw", ["--provider", "xdp"], "built with --features xdp"),
        ("call_rate", ["--path", "unix"], "expected one of ncacn_vi_shm, ncacn_vi_udp"),
        ("write_bw", ["--depth", "0"], "0 is not in 1..=4096"),
    ] {
        let output = measurement(name, &arguments).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(complaint), "{error}");
    }
}
