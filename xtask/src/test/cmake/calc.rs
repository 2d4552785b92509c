//! The calculator in C++, written with values, and the one in Rust: each client with each server.

use super::{GCC, NINJA, Outside, copy};
use crate::Outcome;
use crate::program::{Program, target};
use crate::repo::root;
use crate::test::examples::{Names, Server};

pub(super) fn check(outside: &Outside) -> Outcome {
    Program::cargo(&["build", "--quiet", "--package", "calc", "--bins"]).run()?;
    let project = outside.folder.path().join("calculator");
    copy(&root().join("examples/calc"), &project)?;
    let in_cpp = outside.cmake("calculator", &project, NINJA, GCC, &[])?;
    let in_rust = target().join("debug").display().to_string();
    // Those in Rust are a pair of their own, among the examples.
    for (server, client) in [(&in_rust, &in_cpp), (&in_cpp, &in_rust), (&in_cpp, &in_cpp)] {
        let names = Names::new()?;
        let _server = Server::start(&names.see(Program::new(&format!("{server}/calc-server"), &[])))?;
        names.see(Program::new(&format!("{client}/calc-client"), &[])).read()?;
    }
    Ok(())
}
