//! Tests a program with two interfaces of the same IID: see `programs/meaning.cc`.

use crate::program::build;
use std::process::Command;

#[test]
fn a_program_whose_iid_means_two_interfaces_ends_when_it_is_loaded() {
    let program = build("meaning", &["meaning.idl", "meaning_later.idl"], &["meaning.cc"]);
    let output = Command::new(program).output().expect("it was just built");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && output.stdout.is_empty(), "{said}");
    let names = ["meaning.idl::IMeaning", "meaning_later.idl::IMeaningLater", "have the same IID"];
    assert!(names.iter().all(|name| said.contains(name)), "{said}");
}
