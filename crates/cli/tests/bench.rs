//! Tests of `obvia bench` within one host: the measurements run, regardless of their results.

use std::process::Command;

/// Runs a very short measurement, and returns case, bytes and path of each row of its table.
fn bench(arguments: &str) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_obvia"));
    let arguments = arguments.split(' ').chain(["--wait", "block", "--rounds", "2", "--batch", "20"]);
    let output = command.arg("bench").args(arguments).output().unwrap();
    let [out, error] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(output.status.success(), "{out}{error}");
    let rows = out.lines().skip_while(|line| !line.starts_with("case ")).skip(1).take_while(|line| !line.is_empty());
    rows.map(|row| row.split_whitespace().take(3).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn the_file_benchmark_measures_every_transfer() {
    let rows = bench("pfs_reread --sizes 4K,128K");
    let expected = [
        "pfs_read 4096 pread",
        "pfs_read 4096 ncacn_vi_shm",
        "pfs_read_shared 4096 ncacn_vi_shm",
        "pfs_read_lent 4096 ncacn_vi_shm",
        "pfs_read 4096 unix",
        "pfs_read 131072 pread",
        "pfs_read 131072 ncacn_vi_shm",
        "pfs_read_shared 131072 ncacn_vi_shm",
        "pfs_read 131072 unix",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn the_array_benchmark_measures_copies_and_references() {
    let rows = bench("call_lat --cases MoveData,MoveShared --sizes 8K --paths ncacn_vi_shm,raw_futex");
    let expected =
        ["null 0 raw_futex", "MoveData 8192 raw_futex", "MoveData 8192 ncacn_vi_shm", "MoveShared 8192 ncacn_vi_shm"];
    assert_eq!(rows, expected);
}

#[test]
fn many_clients_are_measured_at_each_stage_and_leave_nothing() {
    let arguments = "clients --processes 6 --connections 2 --rounds 2 --idle 0 --json /dev/stdout";
    let directory = ground::Folder::new("bench-clients");
    let mut command = Command::new(env!("CARGO_BIN_EXE_obvia"));
    command.arg("bench").args(arguments.split(' ')).env("OBVIA_RUNTIME_DIR", directory.path());
    let output = command.output().unwrap();
    let [out, error] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(output.status.success(), "{out}{error}");
    let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
    let rows = out.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" |")).map(|(clients, _)| clients);
    assert_eq!(rows.collect::<Vec<_>>(), ["clients", "0", "10", "12"], "{out}");
    let json: serde_json::Value = serde_json::from_str(&out[out.find("\n{").unwrap()..]).unwrap();
    for stage in json["stages"].as_array().unwrap() {
        // A client has a connection, and its process has another connection.
        let descriptors = stage["descriptors"].as_f64().unwrap();
        assert!((1.0..=3.0).contains(&descriptors), "{stage}");
        assert!(stage["connect_us"].as_f64().unwrap() > 0.0 && stage["in_turn"]["p50_ns"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn more_clients_than_the_system_allows_are_refused_before_any_starts() {
    let arguments = "bench clients --processes 100000 --connections 10000";
    let output = Command::new(env!("CARGO_BIN_EXE_obvia")).args(arguments.split(' ')).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && error.contains("1000000000 clients take some ") && error.contains("run `"),
        "{error}"
    );
}
