//! Programs that the compiler must refuse: each is a file of `refused/`, with what rustc says beside it.

use std::process::Command;

/// The programs are compiled by rustc itself, whatever compiles this one: clippy's driver writes the names of types in another way.
#[test]
fn what_threads_would_share_wrongly_does_not_compile() {
    let mut itself = Command::new(std::env::current_exe().unwrap());
    itself.args(["--ignored", "--exact", "--nocapture", "the_programs_are_refused"]);
    for variable in ["RUSTC_WORKSPACE_WRAPPER", "RUSTC_WRAPPER", "CLIPPY_ARGS"] {
        itself.env_remove(variable);
    }
    assert!(itself.status().unwrap().success());
}

#[test]
#[ignore = "the test above runs it, in an environment of its own"]
fn the_programs_are_refused() {
    trybuild::TestCases::new().compile_fail("tests/refused/*.rs");
}
