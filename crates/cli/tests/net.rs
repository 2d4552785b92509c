//! Tests of `obvia bench` over networks, with every provider of this build. They run between two
//! hosts made of network namespaces, which takes root privileges.

use std::process::{Command, Output};

/// The providers of virtual interfaces, and the protocol sequences over them.
const PROVIDERS: &[(&str, &str)] = &[
    ("udp", "ncacn_vi_udp"),
    #[cfg(feature = "fabric")]
    ("fabric", "ncacn_vi_fabric"),
    #[cfg(feature = "xdp")]
    ("xdp", "ncacn_vi_xdp"),
];

fn bench(arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_obvia"));
    command.arg("bench").args(arguments.split(' ')).output().unwrap()
}

/// Returns the output of a measurement between two hosts. Without the necessary privileges, returns
/// `None`, or panics if `CI` is set.
fn measured(arguments: &str) -> Option<String> {
    let output = bench(&format!("{arguments} --cable --rounds 2 --batch 20 --wait block"));
    let [out, error] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    if error.contains("simulating hosts takes") && !ground::is_ci() {
        eprintln!("skipped {arguments}: {error}");
        return None;
    }
    assert!(output.status.success(), "{arguments}: {out}{error}");
    Some(out)
}

/// Counts the rows of a path that have a ratio.
fn rows(table: &str, path: &str) -> usize {
    let is_of = |line: &&str| line.contains(&format!(" {path} ")) && !line.ends_with('-');
    table.lines().filter(is_of).count()
}

#[test]
fn messages_between_hosts_are_measured_over_every_provider() {
    for (provider, _) in PROVIDERS {
        let Some(table) = measured(&format!("send_lat --provider {provider} --sizes 64,8K,128K")) else { return };
        assert_eq!(rows(&table, &format!("vi_{provider}")), 3, "{table}");
        let is_beside = *provider == "fabric" && Command::new("fi_pingpong").arg("-h").output().is_ok();
        assert_eq!(rows(&table, "fi_pingpong"), if is_beside { 3 } else { 0 }, "{table}");
    }
}

#[test]
fn rdma_between_hosts_is_measured_in_both_directions() {
    for (provider, _) in PROVIDERS {
        for name in ["write_bw", "read_bw"] {
            let Some(table) = measured(&format!("{name} --provider {provider} --sizes 4K,1M")) else { return };
            assert_eq!(rows(&table, &format!("vi_{provider}")), 2, "{table}");
            assert_eq!(rows(&table, "tcp_stream"), 4, "polling and blocking: {table}");
        }
    }
}

#[test]
fn calls_between_hosts_are_measured_over_every_provider() {
    for (_, sequence) in PROVIDERS {
        let arguments = format!("call_lat --paths {sequence},udp --cases null,MoveData --sizes 4K");
        let Some(table) = measured(&arguments) else { return };
        assert_eq!(rows(&table, sequence), 2, "{table}");
    }
}

#[cfg(feature = "xdp")]
#[test]
fn errors_about_provider_xdp_mention_the_cable_option() {
    let output = bench("send_lat --provider xdp --sizes 64");
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("--cable"), "{error}");
}
