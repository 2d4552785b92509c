//! Tests of `obvia doctor` as users run it.

use crate::running::Directory;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

/// The width of a terminal that the report fits, in columns.
const WIDTH: usize = 80;

#[test]
fn the_doctor_makes_calls_over_each_transport() {
    let directory = Directory::new();
    let ran = directory.obvia(&["doctor", "--json"]);
    let report = ran.json();
    assert_eq!((ran.code, &report["works"], ran.err.as_str()), (0, &Value::Bool(true), ""), "{report}");
    let findings = report["findings"].as_array().unwrap();
    let state = |subject: &str| findings.iter().find(|finding| finding["subject"] == subject).map(|f| &f["state"]);
    for sequence in ["ncacn_vi_shm", "ncalrpc", "ncacn_vi_udp", "ncacn_ip_tcp", "ncadg_ip_udp"] {
        assert_eq!(state(sequence), Some(&Value::from("ok")), "{report}");
    }
    for finding in findings {
        let is_ok = finding["state"] == "ok";
        let has_no_way = finding["remedy"].is_null() && finding["hint"].is_null();
        assert_eq!((finding["cost"].is_null(), has_no_way), (is_ok, is_ok), "{finding}");
    }
    // The servers of the calls have removed their names.
    assert_eq!(directory.obvia(&["ls", "--json"]).json(), Value::Array(Vec::new()));
}

#[test]
fn the_doctors_report_fits_a_terminal() {
    let directory = Directory::new();
    for arguments in [&["doctor"][..], &["doctor", "--all"]] {
        let said = directory.obvia(arguments).good();
        assert!(said.starts_with("calls\n") && said.ends_with("Calls through shared memory work.\n"), "{said}");
        // Lines with a command are never broken, and lines with a path cannot be broken.
        let is_text = |line: &&str| !line.trim_start().starts_with("->") && !line.contains('/');
        let wide: Vec<&str> = said.lines().filter(is_text).filter(|line| line.chars().count() > WIDTH).collect();
        assert!(wide.is_empty(), "{wide:?}");
    }
}

#[test]
fn the_doctor_fails_where_no_name_can_be_served() {
    let directory = Directory::new();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let ran = directory.obvia(&["doctor"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("missing  directory of names") && ran.out.contains("other users may write"), "{ran:?}");
    assert!(ran.out.contains("-> install -d -m 700 ~/.obvia && export OBVIA_RUNTIME_DIR=~/.obvia\n"), "{ran:?}");
    assert!(ran.out.ends_with("Calls through shared memory do not work: see the first lines.\n"), "{ran:?}");
    assert_eq!(directory.obvia(&["doctor", "--json"]).json()["works"], Value::Bool(false));
}
