//! Tests the compiler's random-call programs for an interface, in C++ and in Rust, against each
//! other.

use crate::program::WORKSHOP;
use native_programs::{CHECKED, folder};
use obvia_idl::Compiler;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use torture::process::Directory;

/// The number of calls of each method.
const CALLS: &str = "250";

/// Returns the same program in C++ and in Rust, for an interface and its imports.
fn programs(interfaces: &Path, name: &str, imports: &[&str]) -> [PathBuf; 2] {
    let (tested, plain) = (Compiler::new().test(true), Compiler::new());
    let mut files = vec![(&tested, interfaces.join(name).with_extension("idl"))];
    files.extend(imports.iter().map(|import| (&plain, interfaces.join(import))));
    let in_cpp = WORKSHOP.build_with(&format!("random_{name}"), CHECKED, &files, &[]);
    [in_cpp, WORKSHOP.in_rust("matrix", &format!("random-{name}"))]
}

/// Returns the programs for an interface with structures and an import.
fn plain() -> [PathBuf; 2] {
    programs(&folder("crates/idl/tests/c"), "plain", &["basis.idl"])
}

fn all_call_all(programs: &[PathBuf; 2]) {
    for (server, seed) in programs.iter().zip(["1", "2"]) {
        for client in programs {
            let directory = Directory::new();
            let mut serving = directory.start(server.to_str().expect("the path is text"), &["serve", "test", seed]);
            assert_eq!(serving.line(), "ready");
            let mut calling =
                directory.start(client.to_str().expect("the path is text"), &["call", "test", seed, CALLS]);
            assert_eq!(calling.line(), "ok", "{} calls {}", client.display(), server.display());
            calling.finish();
            serving.finish();
        }
    }
}

#[test]
fn random_calls_agree_between_languages() {
    all_call_all(&plain());
}

#[test]
fn random_calls_with_allocations_and_nulls_agree_between_languages() {
    all_call_all(&programs(&folder("testing/matrix/idl"), "values", &[]));
}

#[test]
fn random_calls_of_functions_agree_between_languages() {
    all_call_all(&programs(&folder("testing/matrix/idl"), "functions", &[]));
}

#[test]
fn random_call_differences_are_shown_with_their_seed() {
    let programs = plain();
    for server in &programs {
        for client in &programs {
            let directory = Directory::new();
            let start = |program: &PathBuf, arguments: &[&str]| {
                let mut command = Command::new(program);
                command.args(arguments).env("OBVIA_RUNTIME_DIR", directory.path());
                command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
                command.spawn().expect("it was just built")
            };
            let mut serving = start(server, &["serve", "plain", "7"]);
            let mut ready = [0; 6];
            std::io::Read::read_exact(serving.stdout.as_mut().expect("it is piped"), &mut ready).expect("it starts");
            let calling = start(client, &["call", "plain", "8", "1"]).wait_with_output().expect("it ends");
            let serving = serving.wait_with_output().expect("it ends");
            for (ended, seed) in [(&serving, 7), (&calling, 8)] {
                let said = String::from_utf8_lossy(&ended.stderr);
                assert!(!ended.status.success(), "{said}");
                assert!(said.starts_with(&format!("IPlain::Sum, call 0, seed {seed}: ")), "{said}");
            }
            let said = String::from_utf8_lossy(&serving.stderr);
            assert!(said.trim_end().ends_with("the argument `pair` differs"), "{said}");
        }
    }
}
