//! Tests a program with two different interfaces that have the same IID: see `programs/meaning.cc`.

use crate::program::build;
use std::process::Command;

#[test]
fn programs_with_two_interfaces_of_one_iid_end_at_load() {
    let program = build("meaning", &["meaning.idl", "meaning_later.idl"], &["meaning.cc"]);
    let output = Command::new(program).output().expect("it was just built");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && output.stdout.is_empty(), "{said}");
    let names = ["meaning.idl::IMeaning", "meaning_later.idl::IMeaningLater", "have the same IID"];
    assert!(names.iter().all(|name| said.contains(name)), "{said}");
}
