//! What the compiler makes to test an interface by random calls, in C++ and in Rust, and one against the other.

use crate::program::WORKSHOP;
use native_programs::{CHECKED, compile, folder};
use obvia_idl::Compiler;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use torture::process::Directory;

/// Calls of each method.
const CALLS: &str = "250";

/// The same program in C++ and in Rust.
static PROGRAMS: LazyLock<[PathBuf; 2]> = LazyLock::new(|| {
    let (place, interfaces) = (WORKSHOP.place("random_calls"), folder("crates/idl/tests/golden/c"));
    let mut files = compile(&Compiler::new(), &interfaces.join("basis.idl"), &place);
    files.extend(compile(&Compiler::new().test(true), &interfaces.join("plain.idl"), &place));
    // The program is long, and optimizing it takes longer than running it.
    let watch = [CHECKED, &["-O0"]].concat();
    [WORKSHOP.link(&place, &watch, &files), WORKSHOP.in_rust("matrix", "random-plain")]
});

#[test]
fn each_language_finds_what_the_other_sends() {
    for (server, seed) in PROGRAMS.iter().zip(["1", "2"]) {
        for client in &*PROGRAMS {
            let directory = Directory::new();
            let mut serving = directory.start(server.to_str().expect("the path is text"), &["serve", "plain", seed]);
            assert_eq!(serving.line(), "ready");
            let mut calling =
                directory.start(client.to_str().expect("the path is text"), &["call", "plain", seed, CALLS]);
            assert_eq!(calling.line(), "ok", "{} calls {}", client.display(), server.display());
            calling.end();
            serving.end();
        }
    }
}

#[test]
fn a_difference_is_shown_with_what_repeats_it() {
    for server in &*PROGRAMS {
        for client in &*PROGRAMS {
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
